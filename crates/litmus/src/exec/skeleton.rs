//! Skeletons. A skeleton combines one path of each thread. It has the events of these paths, and
//! all relations between the events that do not depend on reads-from.

use crate::program::{Level, LocId, Program, ScopeId, ThreadId, ThreadSet};

use super::event::{Event, EventKind};
use super::set::{EVENTS_MAX, EventSet, members};
use super::sym::{Sym, Unknown};
use super::unfold::{Trace, WaitPoint};

/// A relation: for each event, the set of its successors.
pub type Rows = Vec<EventSet>;

/// The events of one path through each thread, and the relations between these events that do not
/// depend on reads-from.
#[derive(Clone, Debug)]
pub struct Skeleton<'p> {
    /// The program of the execution.
    pub program: &'p Program,
    /// The events: initial writes, then each thread's events in program order.
    pub events: Vec<Event>,
    /// For each event, the value that it writes, as a term over the values of reads.
    pub(crate) values: Vec<Sym>,
    /// For each thread, the number of its first event.
    pub(crate) base: Vec<usize>,
    /// For each thread, the final values of its registers, as terms over the values of reads.
    pub(crate) registers: Vec<Vec<Sym>>,
    /// The conditions (guards) under which the threads take their paths. Each guard comes with the
    /// number of the thread whose reads it uses.
    pub(crate) guards: Vec<(usize, Sym)>,
    /// The program order.
    pub po: Rows,
    /// The address dependencies: the pairs of a read and a later event whose address depends on the
    /// read's value.
    pub addr: Rows,
    /// The data dependencies: the pairs of a read and a later event whose value depends on the
    /// read's value.
    pub data: Rows,
    /// The control dependencies: the pairs of a read and a later event whose execution depends on
    /// the read's value.
    pub ctrl: Rows,
    /// The pairs of the read and the write of each read-modify-write.
    pub rmw: Rows,
    /// The pairs of events that meet at barriers.
    pub meets: Rows,
    /// The possible values of the field `meets`. The list has several values only if some barrier
    /// waits for a given number of threads.
    pub(crate) meetings: Vec<Rows>,
    /// Whether the field `meets` (the events that meet at barriers) has more possible values than
    /// the list `meetings` may hold.
    pub(crate) meetings_overflow: bool,
    /// Whether some thread waits at a barrier for ever.
    pub(crate) stuck: bool,
    /// For each read, the writes to its word.
    pub(crate) writes_of: Vec<EventSet>,
    /// The undefined behaviour on the paths that the skeleton combines: its reason and its source
    /// line. `None` if the paths have no undefined behaviour.
    pub fault: Option<(&'static str, u32)>,
    /// Whether, at some barrier, a thread waits for another thread that never arrives.
    pub divergent: bool,
}

/// The reason why traces (one path of each thread) cannot be combined into a skeleton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SkeletonError {
    /// The traces together have too many events.
    TooManyEvents,
}

impl<'p> Skeleton<'p> {
    /// Combines one path of each thread into a skeleton.
    pub(crate) fn new(program: &'p Program, traces: &[&Trace]) -> Result<Skeleton<'p>, SkeletonError> {
        let used = used_locations(program, traces);
        let count = used.len() + traces.iter().map(|t| t.events.len()).sum::<usize>();
        if count > EVENTS_MAX {
            return Err(SkeletonError::TooManyEvents);
        }
        let mut of = Skeleton {
            program,
            events: Vec::with_capacity(count),
            values: Vec::with_capacity(count),
            base: Vec::with_capacity(traces.len()),
            registers: traces.iter().map(|t| t.registers.clone()).collect(),
            guards: Vec::new(),
            po: vec![EventSet::EMPTY; count],
            addr: vec![EventSet::EMPTY; count],
            data: vec![EventSet::EMPTY; count],
            ctrl: vec![EventSet::EMPTY; count],
            rmw: vec![EventSet::EMPTY; count],
            meets: vec![EventSet::EMPTY; count],
            meetings: Vec::new(),
            meetings_overflow: false,
            stuck: traces.iter().any(|t| t.waits_at.as_ref().is_some_and(WaitPoint::is_counted)),
            writes_of: vec![EventSet::EMPTY; count],
            fault: traces.iter().find_map(|t| t.fault),
            divergent: false,
        };
        for &loc in &used {
            of.events.push(initial_write(loc));
            of.values.push(Sym::Const(program.loc(loc).init));
        }
        for (thread, trace) in traces.iter().enumerate() {
            of.add_thread(thread, trace);
        }
        for (read, event) in of.events.iter().enumerate().filter(|(_, e)| e.reads()) {
            let word = event.loc.map(|l| program.loc(l).physical);
            for (write, other) in of.events.iter().enumerate().filter(|(_, e)| e.writes()) {
                if other.loc.map(|l| program.loc(l).physical) == word {
                    of.writes_of[read].insert(write);
                }
            }
        }
        of.meet(traces);
        Ok(of)
    }

    /// Whether some waiting thread is certain to proceed. If so, the combination `traces` of paths
    /// gives no executions of its own: combinations with longer paths of that thread cover them.
    pub(crate) fn can_proceed(&self, traces: &[&Trace]) -> bool {
        traces.iter().any(|trace| match &trace.waits_at {
            None | Some(WaitPoint::Loop(_)) => false,
            Some(WaitPoint::Await(loc, cmp, wanted)) => {
                let word = Some(self.program.loc(*loc).physical);
                let written = self.set(|e| e.writes() && e.thread.is_some() && self.word(e) == word);
                let holds = |value: Sym| Sym::binary(*cmp, value, wanted.clone()).constant();
                let surely = |value| holds(value).is_some_and(|holds| holds != 0);
                if written.is_empty() {
                    surely(Sym::Const(self.program.loc(*loc).init))
                } else {
                    members(written).all(|write| surely(self.values[write].clone()))
                }
            }
            Some(stand) if stand.is_counted() => false,
            Some(WaitPoint::Barrier(meeting)) => {
                let came = self.events.iter().filter_map(|e| Some((e.thread?, e.meeting?)));
                let stand = traces.iter().enumerate().filter_map(|(thread, trace)| match &trace.waits_at {
                    Some(WaitPoint::Barrier(other)) => Some((ThreadId(thread as u8), *other)),
                    _ => None,
                });
                let arrived = came
                    .chain(stand)
                    .filter(|(_, other)| other.key() == meeting.key())
                    .fold(ThreadSet::NONE, |set, (thread, _)| set.union(ThreadSet::only(thread)));
                self.is_met(meeting, arrived)
            }
        })
    }

    fn add_thread(&mut self, thread: usize, trace: &Trace) {
        let base = self.events.len();
        let end = base + trace.events.len();
        self.base.push(base);
        for (at, event) in trace.events.iter().enumerate() {
            let here = base + at;
            self.events.push(event.clone());
            self.values.push(trace.values[at].clone());
            self.po[here] = EventSet::below(end) & !EventSet::below(here + 1);
            for (rows, sets) in
                [(&mut self.addr, &trace.addr), (&mut self.data, &trace.data), (&mut self.ctrl, &trace.ctrl)]
            {
                for (from, row) in rows.iter_mut().enumerate().take(here).skip(base) {
                    *row |= EventSet::only(here).when(sets[at].has(from - base));
                }
            }
            // The write of a read-modify-write directly follows its read.
            if event.rmw && event.writes() && at > 0 {
                self.rmw[here - 1].insert(here);
            }
        }
        self.remove_unsequenced(thread, base, end);
        self.guards.extend(trace.guards.iter().map(|guard| (thread, guard.clone())));
    }

    /// The writes from which `read` may read. A write to another word is excluded, and so is a
    /// write whose value violates a guard (a condition of the path), if the guard depends on this
    /// read alone.
    pub(crate) fn feasible(&self, read: usize) -> EventSet {
        let mut left = self.writes_of[read];
        for (thread, guard) in &self.guards {
            let base = self.base[*thread];
            if guard.reads().single().map(|event| base + event) != Some(read) {
                continue;
            }
            for write in members(left) {
                let Some(value) = self.values[write].constant() else { continue };
                let known = |_| Some(value);
                if matches!(guard.eval(&known), Ok(0) | Err(Unknown::Never)) {
                    left.remove(write);
                }
            }
        }
        left
    }

    /// Whether every read has a write from which it may read.
    pub(crate) fn is_plausible(&self) -> bool {
        (0..self.len()).all(|event| !self.events[event].reads() || !self.feasible(event).is_empty())
    }

    /// Removes the program order between events of operands of one C expression if C does not
    /// specify the order of these operands. Only affects events that belong to the same evaluation
    /// of an expression.
    fn remove_unsequenced(&mut self, thread: usize, base: usize, end: usize) {
        let pairs = &self.program.threads[thread].unsequenced;
        for &(left, middle, right) in pairs {
            for first in base..end {
                if !(left..middle).contains(&self.events[first].instr) {
                    continue;
                }
                for later in first + 1..end {
                    let at = self.events[later].instr;
                    if !(left..right).contains(&at) || at < self.events[later - 1].instr {
                        break;
                    }
                    if at >= middle {
                        self.po[first].remove(later);
                    }
                }
            }
        }
    }

    /// The number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether there are no events.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The events that `choose` accepts.
    pub fn set(&self, choose: impl Fn(&Event) -> bool) -> EventSet {
        self.events.iter().enumerate().filter(|(_, e)| choose(e)).map(|(i, _)| i).collect()
    }

    /// The pairs of events that `related` accepts.
    pub fn rows(&self, related: impl Fn(&Event, &Event) -> bool) -> Rows {
        let row = |a: &Event| self.set(|b| related(a, b));
        self.events.iter().map(row).collect()
    }

    /// The word that the event accesses.
    #[must_use]
    pub fn word(&self, event: &Event) -> Option<LocId> {
        event.loc.map(|loc| self.program.loc(loc).physical)
    }

    /// The scope instance of `level` that contains the event's thread.
    #[must_use]
    pub fn around(&self, event: &Event, level: Level) -> Option<ScopeId> {
        self.program.scopes.enclosing(event.thread?, level)
    }

    /// The pairs of events whose threads share a scope instance of this level.
    pub(crate) fn same_level(&self, level: Level) -> Rows {
        self.rows(|a, b| self.around(a, level).is_some() && self.around(a, level) == self.around(b, level))
    }
}

/// The words that the traces access, in ascending order.
fn used_locations(program: &Program, traces: &[&Trace]) -> Vec<LocId> {
    let mut used = vec![false; program.locations.len()];
    for loc in traces.iter().flat_map(|t| &t.events).filter_map(|e| e.loc) {
        used[usize::from(program.loc(loc).physical.0)] = true;
    }
    (0..program.locations.len() as u16).map(LocId).filter(|l| used[usize::from(l.0)]).collect()
}

fn initial_write(loc: LocId) -> Event {
    Event {
        thread: None,
        instr: 0,
        line: 0,
        kind: EventKind::Write,
        loc: Some(loc),
        order: crate::program::Order::Plain,
        scope: None,
        proxy: crate::program::Proxy::Generic,
        fence_proxy: None,
        remote: false,
        commutative: false,
        rmw: false,
        global: false,
        local: false,
        meeting: None,
        tags: Vec::new(),
    }
}
