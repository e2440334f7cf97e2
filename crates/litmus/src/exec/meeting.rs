//! Finds the threads that meet at each barrier.
//!
//! A barrier without a count completes when all threads of its group (a scope instance) whose code
//! has the barrier have arrived. A barrier with a count completes when the given number of threads
//! has arrived, and may then complete again with further threads. A generation is the set of
//! arrivals of one completion. Each division of the arrivals into generations gives a separate
//! execution.

use std::collections::BTreeSet;

use crate::program::{ThreadId, ThreadSet, Value};

use super::event::Meeting;
use super::matrix::is_acyclic;
use super::set::{EVENTS_MAX, EventSet, members};
use super::skeleton::{Rows, Skeleton};
use super::unfold::{Trace, WaitPoint};

/// The maximum number of tried divisions of arrivals into generations (sets of arrivals that
/// complete a barrier together).
const DIVISIONS_MAX: usize = 10_000;

/// The arrival of one thread at a barrier.
struct Arrival {
    /// The events of the arrival. Empty if the thread still waits at the barrier when its path
    /// ends.
    events: EventSet,
    /// Whether the thread only arrives at the barrier and does not wait there.
    arrive: bool,
}

/// A barrier with a count: it completes when a given number of threads has arrived.
struct Counted {
    of: Meeting,
    count: usize,
    /// The arrivals of each thread, in program order.
    arrivals: Vec<Vec<Arrival>>,
}

impl Skeleton<'_> {
    /// Computes the field `meets` (the pairs of events that meet) for the barriers without a count.
    /// Computes `meetings` (the possible values of `meets`) for the barriers with a count: one
    /// element for each division of their arrivals into generations (sets of arrivals that complete
    /// a barrier together).
    pub(super) fn meet(&mut self, traces: &[&Trace]) {
        let counted = self.counted_barriers(traces);
        let meetings: Vec<(usize, Meeting, ThreadId)> =
            self.events.iter().enumerate().filter_map(|(i, e)| Some((i, e.meeting?, e.thread?))).collect();
        for &(a, here, thread) in &meetings {
            if counted.iter().any(|barrier| is_same(&barrier.of, &here)) {
                continue;
            }
            let mut arrived = ThreadSet::NONE;
            for &(b, other, other_thread) in &meetings {
                if other.key() == here.key() {
                    arrived = arrived.union(ThreadSet::only(other_thread));
                    if a != b && other_thread != thread {
                        self.meets[a].insert(b);
                    }
                }
            }
            self.divergent |= !here.arrive && !self.is_met(&here, arrived);
        }
        self.meetings = vec![self.meets.clone()];
        for barrier in &counted {
            let divisions = self.divisions(barrier);
            let both = |rows: &Rows, more: &Rows| rows.iter().zip(more).map(|(&a, &b)| a | b).collect();
            let with = |rows: &Rows| divisions.iter().map(|more| both(rows, more)).collect::<Vec<Rows>>();
            self.meetings = self.meetings.iter().flat_map(with).collect();
        }
        if !counted.is_empty() {
            let arrivals: Vec<EventSet> =
                counted.iter().flat_map(|b| b.arrivals.iter().flatten().map(|a| a.events)).collect();
            let meetings = core::mem::take(&mut self.meetings);
            self.meetings = meetings.into_iter().filter(|meets| self.in_order(&arrivals, meets)).collect();
        }
    }

    /// The barriers with a count. A barrier is left out if its arrivals have different counts.
    fn counted_barriers(&self, traces: &[&Trace]) -> Vec<Counted> {
        let mut found: Vec<Counted> = Vec::new();
        let threads = traces.len();
        let came = self
            .events
            .iter()
            .enumerate()
            .filter_map(|(i, e)| Some((EventSet::only(i), e.meeting?, e.thread?)));
        let stand = traces.iter().enumerate().filter_map(|(thread, trace)| match &trace.waits_at {
            Some(WaitPoint::Barrier(meeting)) => Some((EventSet::EMPTY, *meeting, ThreadId(thread as u8))),
            _ => None,
        });
        let all: Vec<(EventSet, Meeting, ThreadId)> = came.chain(stand).collect();
        for (event, meeting, thread) in &all {
            let Some(count) = meeting.quorum else { continue };
            if all.iter().any(|(_, other, _)| is_same(other, meeting) && other.quorum != meeting.quorum) {
                continue;
            }
            let at = found.iter().position(|barrier| is_same(&barrier.of, meeting)).unwrap_or_else(|| {
                let arrivals = (0..threads).map(|_| Vec::new()).collect();
                let count = usize::try_from(count.max(1)).unwrap_or(usize::MAX);
                found.push(Counted { of: *meeting, count, arrivals });
                found.len() - 1
            });
            // The entry event and the exit event of an OpenCL barrier form one arrival.
            let of = &mut found[at].arrivals[usize::from(thread.0)];
            match of.get_mut(usize::from(meeting.round)) {
                Some(arrival) => arrival.events |= *event,
                None => of.push(Arrival { events: *event, arrive: meeting.arrive }),
            }
        }
        found
    }

    /// All divisions of the arrivals at a barrier into generations (sets of arrivals that complete
    /// the barrier together). Each division is given by the pairs of events that meet.
    fn divisions(&mut self, barrier: &Counted) -> Vec<Rows> {
        let mut found = BTreeSet::new();
        let mut left = DIVISIONS_MAX;
        let mut meets = vec![EventSet::EMPTY; self.events.len()];
        complete(barrier, &mut vec![0; barrier.arrivals.len()], &mut meets, &mut left, &mut found);
        self.meetings_overflow |= left == 0;
        found.into_iter().collect()
    }

    /// Whether some order exists in which all generations can complete, one after the other. A
    /// generation is a set of `arrivals` that `meets` relates: they complete a barrier together.
    fn in_order(&self, arrivals: &[EventSet], meets: &[EventSet]) -> bool {
        let waits = |event: usize| self.events[event].meeting.is_some_and(|m| !m.arrive);
        let generation = |arrival: EventSet| {
            let with = members(arrival).fold(arrival, |set, event| set | meets[event]);
            arrivals
                .iter()
                .enumerate()
                .filter(|(_, a)| !(**a & with).is_empty())
                .fold(EventSet::EMPTY, |set, (i, _)| set.with(i))
        };
        if arrivals.len() > EVENTS_MAX {
            return true;
        }
        let generations: Vec<EventSet> = arrivals.iter().map(|&arrival| generation(arrival)).collect();
        let mut rows = vec![EventSet::EMPTY; arrivals.len()];
        for (from, &arrival) in arrivals.iter().enumerate() {
            // A thread that waits in a generation makes its later arrivals only after this
            // generation is complete.
            for event in members(arrival).filter(|&event| waits(event)) {
                for (to, &later) in arrivals.iter().enumerate() {
                    if !(self.po[event] & later & !arrival).is_empty() {
                        members(generations[from]).for_each(|mate| rows[mate] |= generations[to]);
                    }
                }
            }
        }
        is_acyclic(&rows)
    }

    /// Whether enough threads have arrived at a barrier. A barrier with a count needs that number
    /// of threads. A barrier without a count needs all threads of its group (a scope instance)
    /// whose code has the barrier, except the threads that arrive at it with another barrier
    /// resource.
    pub(super) fn is_met(&self, meeting: &Meeting, arrived: ThreadSet) -> bool {
        if let Some(quorum) = meeting.quorum {
            return Value::from(arrived.count()) >= quorum;
        }
        self.program.threads_at(meeting.group, meeting.instance).iter().all(|thread| {
            arrived.contains(thread)
                || self.events.iter().any(|e| {
                    e.thread == Some(thread)
                        && e.meeting.is_some_and(|m| m.instance == meeting.instance && m.id != meeting.id)
                })
        })
    }
}

/// Whether two arrivals are at the same barrier. The numbers of earlier arrivals of their threads
/// at this barrier (the rounds) may differ.
fn is_same(a: &Meeting, b: &Meeting) -> bool {
    (a.group, a.instance, a.id) == (b.group, b.instance, b.id)
}

/// Extends a division of arrivals into generations (sets of arrivals that complete the barrier
/// together) in every possible way: adds each possible next generation, or ends the division here
/// if that is possible. Records the finished divisions in `found`.
fn complete(
    barrier: &Counted,
    next: &mut [usize],
    meets: &mut [EventSet],
    left: &mut usize,
    found: &mut BTreeSet<Rows>,
) {
    if *left == 0 {
        return;
    }
    *left -= 1;
    let ahead = |next: &[usize], thread: usize| barrier.arrivals[thread].get(next[thread]);
    let waiting: Vec<usize> = (0..next.len()).filter(|&thread| ahead(next, thread).is_some()).collect();
    let ready: Vec<usize> =
        waiting.iter().copied().filter(|&t| ahead(next, t).is_some_and(|a| !a.events.is_empty())).collect();
    // The division can end here if too few threads remain for a generation. Each remaining arrival
    // must be one that never completes, or one that does not wait.
    let rest = |&thread: &usize| &barrier.arrivals[thread][next[thread]..];
    if waiting.len() < barrier.count && waiting.iter().flat_map(rest).all(|a| a.events.is_empty() || a.arrive)
    {
        found.insert(meets.to_vec());
    }
    for_each_subset(&ready, barrier.count, &mut Vec::new(), &mut |threads| {
        let events: Vec<EventSet> = threads.iter().map(|&t| barrier.arrivals[t][next[t]].events).collect();
        let all = events.iter().fold(EventSet::EMPTY, |all, &own| all | own);
        for &own in &events {
            members(own).for_each(|event| meets[event] |= all & !own);
        }
        threads.iter().for_each(|&t| next[t] += 1);
        complete(barrier, next, meets, left, found);
        threads.iter().for_each(|&t| next[t] -= 1);
        members(all).for_each(|event| meets[event] = EventSet::EMPTY);
    });
}

/// Calls `visit` with each subset of `of` that has `count` members.
fn for_each_subset(of: &[usize], count: usize, chosen: &mut Vec<usize>, visit: &mut dyn FnMut(&[usize])) {
    if count == 0 {
        return visit(chosen);
    }
    for (at, &member) in of.iter().enumerate() {
        if of.len() - at < count {
            return;
        }
        chosen.push(member);
        for_each_subset(&of[at + 1..], count - 1, chosen, visit);
        chosen.pop();
    }
}
