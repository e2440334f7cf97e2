//! Executions of the model at whose end some thread spins: the last round of its
//! loop only read, and what it read is what memory holds at the end.

use std::ops::ControlFlow;

use crate::cat::{Model, stage};
use crate::exec::set::{EventSet, Word, members};
use crate::exec::skeleton::Skeleton;
use crate::exec::unfold::{Stand, Trace, Unfolding, numbers_of, unfold};
use crate::parse::TextError;
use crate::program::{BinaryOp, LocId, Program, ThreadId};
use crate::progress::Scheduler;

use super::execution::Execution;
use super::search::{self, Found, Halt, Setting, Visitor};
use super::{Options, fence_orders, for_each_meeting};
use crate::exec::sym::Sym;

/// After so many combinations of ways it is asked whether to go on.
const COMBINATIONS_UNSEEN: usize = 256;

/// What was found.
pub(crate) struct Spins {
    /// An execution, and the threads that spin at its end.
    pub(crate) found: Option<(Execution, Vec<usize>)>,
    /// What was not covered, in words.
    pub(crate) gap: Option<String>,
}

/// One way through a thread, and how it ends.
struct Way {
    trace: Trace,
    end: End,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// The thread ends.
    Done,
    /// It goes round a loop or waits for a word.
    Spins,
    /// It waits at a barrier.
    Waits,
    /// The scheduler lets it go no further.
    Left,
}

/// Looks for such an execution.
///
/// # Errors
/// If the model does not fit the test.
pub(crate) fn spinning(
    program: &Program,
    model: &Model,
    scheduler: Scheduler,
    options: &mut Options<'_>,
) -> Result<Spins, TextError> {
    model.check_annotations(program)?;
    let threads = (0..program.threads.len()).map(|t| ThreadId(t as u8));
    let unfoldings: Vec<Unfolding> =
        threads.map(|thread| unfold(program, thread, options.unroll, true)).collect();
    let ways: Vec<Vec<Way>> = unfoldings.iter().map(|u| ways(u, scheduler)).collect();
    let numbers = numbers_of(program);
    let setting = Setting {
        file: &model.file,
        partial_coherence: model.partial_coherence,
        numbers: &numbers,
        unchecked: false,
        wide: false,
    };
    let mut into = Looking { found: None, stopped: false, stop: &mut *options.stop };
    let too_many = combine(program, model, scheduler, &ways, &setting, &mut into)?;
    let mut gaps = Vec::new();
    if into.stopped {
        gaps.push("the time was up");
    }
    if too_many || unfoldings.iter().any(|u| u.overflow || u.partial_overflow) {
        gaps.push("ways with too many events, or too many ways, were left out");
    }
    let gap = (!gaps.is_empty()).then(|| gaps.join("; "));
    Ok(Spins { found: into.found, gap })
}

/// The ways through a thread. A thread that the scheduler may leave aside has also
/// those that end early: before the first event, and behind each write and barrier,
/// for what follows them has no effect on others.
fn ways(unfolding: &Unfolding, scheduler: Scheduler) -> Vec<Way> {
    let mut ways: Vec<Way> = Vec::new();
    let ended = unfolding.traces.iter().chain(unfolding.partial.iter().filter(|t| t.stands.is_some()));
    for trace in ended.clone() {
        let end = match trace.stands {
            None => End::Done,
            Some(Stand::Barrier(_)) => End::Waits,
            Some(_) => End::Spins,
        };
        ways.push(Way { trace: trace.clone(), end });
    }
    if scheduler == Scheduler::Fair {
        return ways;
    }
    let whole = ways.len();
    for trace in ended {
        let events = trace.events.iter().enumerate();
        let stops = events.filter(|(_, e)| e.writes() || e.meeting.is_some()).map(|(at, _)| at + 1);
        // Only HSA leaves a thread aside that has taken a step.
        for stop in core::iter::once(0).chain(stops.filter(|_| scheduler == Scheduler::Hsa)) {
            let cut = cut(trace, stop);
            let known = ways[whole..].iter().any(|way| same(&way.trace, &cut));
            if !known {
                ways.push(Way { trace: cut, end: End::Left });
            }
        }
    }
    ways
}

/// The first `events` events of a way, and what must be true for them.
fn cut(trace: &Trace, events: usize) -> Trace {
    let mut cut = trace.clone();
    cut.events.truncate(events);
    cut.values.truncate(events);
    cut.addr.truncate(events);
    cut.data.truncate(events);
    cut.ctrl.truncate(events);
    let before = EventSet::below(events);
    cut.guards.retain(|guard| guard.reads().is_within(before));
    (cut.stands, cut.fault, cut.idle) = (None, None, false);
    cut.registers.iter_mut().for_each(|register| *register = Sym::Const(0));
    cut
}

fn same(a: &Trace, b: &Trace) -> bool {
    a.events == b.events && a.values == b.values && a.guards == b.guards
}

/// Puts every combination of ways together on which some thread spins and none is
/// left aside that must go on. Says whether some had too many events.
fn combine(
    program: &Program,
    model: &Model,
    scheduler: Scheduler,
    ways: &[Vec<Way>],
    setting: &Setting<'_>,
    into: &mut Looking<'_>,
) -> Result<bool, TextError> {
    let mut too_many = false;
    if ways.iter().any(Vec::is_empty) {
        return Ok(false);
    }
    let mut choice = vec![0usize; ways.len()];
    let mut combinations = 0usize;
    loop {
        combinations += 1;
        if combinations.is_multiple_of(COMBINATIONS_UNSEEN) && into.stop() {
            return Ok(too_many);
        }
        let chosen: Vec<&Way> = ways.iter().zip(&choice).map(|(of, &c)| &of[c]).collect();
        if may_last(scheduler, &chosen) {
            let traces: Vec<&Trace> = chosen.iter().map(|way| &way.trace).collect();
            match Skeleton::new(program, &traces) {
                Ok(skeleton) => {
                    let fits = skeleton.fault.is_none()
                        && !skeleton.divergent
                        && skeleton.is_plausible()
                        && !skeleton.goes_on(&traces);
                    too_many |= fits && skeleton.undivided;
                    if fits {
                        for_each_meeting(skeleton, &mut |skeleton| {
                            let Some(skeleton) = skeleton else { return Ok(true) };
                            search(&skeleton, model, &chosen, setting, into)?;
                            Ok(into.found.is_none() && !into.stopped)
                        })?;
                    }
                }
                Err(_) => too_many = true,
            }
        }
        if into.found.is_some() || into.stopped || !advance(&mut choice, ways) {
            return Ok(too_many);
        }
    }
}

/// The next combination, the last thread first.
fn advance(choice: &mut [usize], ways: &[Vec<Way>]) -> bool {
    for thread in (0..choice.len()).rev() {
        choice[thread] += 1;
        if choice[thread] < ways[thread].len() {
            return true;
        }
        choice[thread] = 0;
    }
    false
}

/// Does some thread spin, and is none left aside that must go on?
fn may_last(scheduler: Scheduler, chosen: &[&Way]) -> bool {
    let set = |wanted: &dyn Fn(&Way) -> bool| {
        chosen.iter().enumerate().fold(0u64, |set, (t, way)| set | u64::from(wanted(way)) << t)
    };
    let unfinished = set(&|way| way.end != End::Done);
    let stepped = set(&|way| way.end != End::Left || !way.trace.events.is_empty());
    let left = set(&|way| way.end == End::Left);
    let spins = set(&|way| way.end == End::Spins);
    spins != 0 && scheduler.guaranteed(unfinished, stepped) & left == 0
}

fn search(
    skeleton: &Skeleton<'_>,
    model: &Model,
    chosen: &[&Way],
    setting: &Setting<'_>,
    into: &mut Looking<'_>,
) -> Result<(), TextError> {
    let mut staged = stage::stage(model, skeleton)?;
    staged.checks.retain(|check| !check.flag);
    let syncs = if staged.uses_sync_fence {
        fence_orders(skeleton)
    } else {
        vec![vec![EventSet::EMPTY; skeleton.len()]]
    };
    let mut visitor = OnSkeleton { skeleton, chosen, into };
    match search::search(skeleton, staged, setting, &syncs, &mut visitor) {
        Ok(_) | Err(Halt::Stopped) => Ok(()),
        Err(Halt::Model(error)) => Err(error),
    }
}

struct Looking<'o> {
    found: Option<(Execution, Vec<usize>)>,
    stopped: bool,
    stop: &'o mut dyn FnMut() -> bool,
}

impl Looking<'_> {
    fn stop(&mut self) -> bool {
        self.stopped |= (self.stop)();
        self.stopped
    }
}

struct OnSkeleton<'a, 's, 'p, 'o> {
    skeleton: &'s Skeleton<'p>,
    chosen: &'s [&'s Way],
    into: &'a mut Looking<'o>,
}

impl Visitor for OnSkeleton<'_, '_, '_, '_> {
    fn execution<W: Word>(&mut self, found: &Found<'_, W>) -> ControlFlow<()> {
        let spinning = (0..self.chosen.len()).filter(|&t| self.chosen[t].end == End::Spins);
        let spinning: Vec<usize> = spinning.collect();
        if !spinning.iter().all(|&thread| self.spins(thread, found)) {
            return ControlFlow::Continue(());
        }
        self.into.found = Some((Execution::of(self.skeleton, found), spinning));
        ControlFlow::Break(())
    }

    fn stop(&mut self) -> bool {
        self.into.stop()
    }

    fn wants_flag(&self, _: usize) -> bool {
        false
    }
}

impl OnSkeleton<'_, '_, '_, '_> {
    /// Does the thread see the same for ever? Memory is fair: in the end a read sees a
    /// last write of its word.
    fn spins<W: Word>(&self, thread: usize, found: &Found<'_, W>) -> bool {
        let base = self.skeleton.base[thread];
        let trace = &self.chosen[thread].trace;
        match &trace.stands {
            Some(Stand::Loop(since)) => (base + since..base + trace.events.len())
                .filter(|&event| self.skeleton.events[event].reads())
                .all(|read| is_last(found, found.rf[read])),
            Some(Stand::Await(loc, cmp, wanted)) => self.awaits(base, *loc, *cmp, wanted, found),
            _ => true,
        }
    }

    /// Is there a last write of the word that the thread does not wait for?
    fn awaits<W: Word>(
        &self,
        base: usize,
        loc: LocId,
        cmp: BinaryOp,
        wanted: &Sym,
        found: &Found<'_, W>,
    ) -> bool {
        let word = Some(self.skeleton.program.loc(loc).physical);
        let known = |event: u16| found.values[base + usize::from(event)];
        let Ok(wanted) = wanted.eval(&known) else { return false };
        let fails = |value| Sym::binary(cmp, Sym::Const(value), Sym::Const(wanted)).constant() == Some(0);
        let writes = self.skeleton.set(|e| e.writes() && self.skeleton.word(e) == word);
        if writes.is_empty() {
            return fails(self.skeleton.program.loc(loc).init);
        }
        members(writes).any(|write| is_last(found, write) && found.values[write].is_some_and(fails))
    }
}

fn is_last<W: Word>(found: &Found<'_, W>, write: usize) -> bool {
    found.co[write].is_empty()
}
