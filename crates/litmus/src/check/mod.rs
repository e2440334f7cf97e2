//! Checks a test against a model: finds the outcomes that the model allows, and the flags of the
//! model that hold.
//!
//! ```
//! let test = "C SB {} P0(atomic_int* x, atomic_int* y) { \
//!     atomic_store_explicit(x, 1, memory_order_relaxed); \
//!     int r0 = atomic_load_explicit(y, memory_order_relaxed); } \
//! P1(atomic_int* x, atomic_int* y) { \
//!     atomic_store_explicit(y, 1, memory_order_relaxed); \
//!     int r0 = atomic_load_explicit(x, memory_order_relaxed); } \
//! exists (0:r0=0 /\\ 1:r0=0)";
//! let test = test.replacen("SB ", "SB\n", 1);
//! let program = litmus::parse::parse(&test)?;
//! let model = litmus::cat::shipped("sc").expect("sc is shipped")?;
//! let report = litmus::check::check(&program, &model, &mut Default::default())?;
//! assert!(!report.verdict, "sequential consistency forbids store buffering");
//! # Ok::<(), litmus::parse::TextError>(())
//! ```

mod dot;
#[cfg(test)]
mod effort;
pub mod execution;
mod explain;
mod json;
mod linear;
#[cfg(test)]
mod oracle;
mod outcome;
mod report;
mod search;
mod spins;

pub use dot::dot;
pub(crate) use dot::{quoted, thread_label};
pub use execution::Execution;
pub(crate) use explain::flag_text;
pub use explain::{Refusal, cycle_text, explain, narrate, refusals};
pub(crate) use report::condition_text;
pub use report::{Flag, Report, State};
pub(crate) use spins::spinning;

use std::collections::BTreeSet;

use crate::cat::Model;
use crate::cat::stage;
use crate::exec::set::{EventSet, members};
use crate::exec::skeleton::{Rows, Skeleton, SkeletonError};
use crate::exec::unfold::{Trace, Unfolding, numbers_of, unfold};
use crate::parse::TextError;
use crate::program::{Order, Program, ThreadId};

use outcome::{OutcomeVisitor, Outcomes};
use search::{Halt, SearchOptions};

/// The options of a check.
pub struct Options<'a> {
    /// The maximum number of times that a path through a thread takes the same backward jump.
    pub unroll: usize,
    /// A function that the check calls at intervals. If the function returns true, the check ends
    /// with the results so far.
    pub stop: Box<dyn FnMut() -> bool + 'a>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options { unroll: 2, stop: Box::new(|| false) }
    }
}

impl core::fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Options").field("unroll", &self.unroll).finish_non_exhaustive()
    }
}

/// The reasons why the results of a check are incomplete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Gaps {
    pub(crate) loops: bool,
    pub(crate) size: bool,
    pub(crate) states: bool,
    pub(crate) time: bool,
    /// Whether the check left out executions in which a thread waits. The omission loses no
    /// final state.
    pub(crate) waiting: bool,
}

/// Checks `program` against `model`.
///
/// # Errors
/// If the model does not fit the test: the model uses a name that the format of the test does not
/// define, or a recursive definition of the model does not converge.
pub fn check(program: &Program, model: &Model, options: &mut Options<'_>) -> Result<Report, TextError> {
    model.check_annotations(program)?;
    let has_flags = model.has_flags();
    let threads = (0..program.threads.len()).map(|t| ThreadId(t as u8));
    let unfoldings: Vec<Unfolding> =
        threads.map(|thread| unfold(program, thread, options.unroll, has_flags)).collect();
    let mut gaps = Gaps {
        loops: unfoldings.iter().any(|u| u.cut),
        size: unfoldings.iter().any(|u| u.overflow),
        waiting: unfoldings.iter().any(|u| u.partial_overflow),
        ..Gaps::default()
    };
    let numbers = numbers_of(program);
    let search_options = SearchOptions {
        file: &model.file,
        partial_coherence: model.partial_coherence,
        numbers: &numbers,
        unchecked: false,
        wide: false,
    };
    let mut outcomes = Outcomes::new(program, &mut options.stop);
    let non_terminating = |u: &Unfolding| u.traces.is_empty() && !u.cut && !u.overflow;
    outcomes.non_terminating =
        (0..unfoldings.len()).filter(|&thread| non_terminating(&unfoldings[thread])).collect();
    let mut checks: Vec<report::CheckName> = Vec::new();
    for paths in [Paths::Whole, Paths::Waiting] {
        for_each_skeleton(program, &unfoldings, paths, &mut gaps, &mut |skeleton| {
            let Some(skeleton) = skeleton else { return Ok(!outcomes.is_stopped()) };
            let mut visitor = OutcomeVisitor::new(&skeleton, &mut outcomes, paths == Paths::Waiting);
            if search::Visitor::stop(&mut visitor) {
                return Ok(false);
            }
            let staged = stage::stage(model, &skeleton)?;
            if checks.is_empty() {
                let name = |c: &stage::StagedCheck| report::CheckName {
                    name: c.name.clone(),
                    flag: c.flag,
                    undefined: c.undefined,
                };
                checks = staged.checks.iter().map(name).collect();
            }
            let open = |(number, check): (usize, &report::CheckName)| {
                check.flag && search::Visitor::wants_flag(&visitor, number)
            };
            if paths == Paths::Waiting && !checks.iter().enumerate().any(open) {
                return Ok(false);
            }
            let syncs = if staged.uses_sync_fence {
                fence_orders(&skeleton)
            } else {
                vec![vec![EventSet::EMPTY; skeleton.len()]]
            };
            match search::search(&skeleton, staged, &search_options, &syncs, &mut visitor) {
                Ok(_) => Ok(true),
                Err(Halt::Stopped) => Ok(false),
                Err(Halt::Model(error)) => Err(error),
            }
        })?;
        if outcomes.stopped || outcomes.too_many_states {
            let gap = if paths == Paths::Whole { &mut gaps.time } else { &mut gaps.waiting };
            *gap |= outcomes.stopped;
            break;
        }
    }
    gaps.states = outcomes.too_many_states;
    Ok(report::report(program, model, options.unroll, outcomes, &checks, gaps))
}

/// Selects the combinations of paths (one path for each thread) to examine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Paths {
    /// The combinations of paths in which all threads end.
    Whole,
    /// The combinations of paths in which some thread waits, or has a loop iteration without an
    /// effect.
    Waiting,
}

/// The number of path combinations between two calls of the function `stop`, which says whether the
/// check must end. Combinations that are impossible are counted too.
const STOP_INTERVAL: usize = 256;

/// Combines the paths of the threads in every way, and calls `visit` with the skeleton of each
/// combination. `visit` returns false to end the enumeration. At intervals the function calls
/// `visit` with `None`, only to ask whether to continue.
fn for_each_skeleton<'p>(
    program: &'p Program,
    unfoldings: &[Unfolding],
    paths: Paths,
    gaps: &mut Gaps,
    visit: &mut dyn FnMut(Option<Skeleton<'p>>) -> Result<bool, TextError>,
) -> Result<(), TextError> {
    let of_threads: Vec<Vec<&Trace>> = unfoldings
        .iter()
        .map(|u| match paths {
            Paths::Whole => u.traces.iter().collect(),
            Paths::Waiting => u.traces.iter().chain(&u.partial).collect(),
        })
        .collect();
    let none_waits = unfoldings.iter().all(|u| u.partial.is_empty());
    if of_threads.iter().any(Vec::is_empty) || paths == Paths::Waiting && none_waits {
        return Ok(());
    }
    let mut choice = vec![0usize; of_threads.len()];
    let mut combinations = 0usize;
    loop {
        combinations += 1;
        if combinations.is_multiple_of(STOP_INTERVAL) && !visit(None)? {
            return Ok(());
        }
        let traces: Vec<&Trace> = of_threads.iter().zip(&choice).map(|(of, &c)| of[c]).collect();
        if paths == Paths::Whole || is_waiting(program, &traces) {
            match Skeleton::new(program, &traces) {
                Ok(skeleton) => {
                    let shows = skeleton.is_plausible() && !skeleton.can_proceed(&traces);
                    gaps.size |= shows && skeleton.meetings_overflow;
                    if shows && !for_each_meeting(skeleton, visit)? {
                        return Ok(());
                    }
                }
                Err(SkeletonError::TooManyEvents) if paths == Paths::Whole => gaps.size = true,
                Err(SkeletonError::TooManyEvents) => gaps.waiting = true,
            }
        }
        // Advances to the next combination. The path of the last thread changes fastest.
        let mut thread = choice.len();
        loop {
            if thread == 0 {
                return Ok(());
            }
            thread -= 1;
            choice[thread] += 1;
            if choice[thread] < of_threads[thread].len() {
                break;
            }
            choice[thread] = 0;
        }
    }
}

/// Calls `visit` with one copy of the skeleton (the events of one path through each thread) for
/// each possible value of its field `meets` (the pairs of events that meet at barriers). Returns
/// false if `visit` ended the enumeration.
fn for_each_meeting<'p>(
    mut skeleton: Skeleton<'p>,
    visit: &mut dyn FnMut(Option<Skeleton<'p>>) -> Result<bool, TextError>,
) -> Result<bool, TextError> {
    let mut meetings = core::mem::take(&mut skeleton.meetings);
    let Some(last) = meetings.pop() else { return Ok(true) };
    for meets in meetings {
        if !visit(Some(Skeleton { meets, ..skeleton.clone() }))? {
            return Ok(false);
        }
    }
    visit(Some(Skeleton { meets: last, ..skeleton }))
}

/// Whether some thread waits, or has a loop iteration without an effect, on the paths `traces`. The
/// executions of such paths are examined for races only.
///
/// The result is false if several threads have a loop iteration without an effect. Such an
/// iteration only reads, and two reads do not race. So the combinations of paths in which only one
/// thread has such an iteration show the same races. The result is also false if a thread waits and
/// the test has a filter on final states.
fn is_waiting(program: &Program, traces: &[&Trace]) -> bool {
    if program.filter.is_some() && traces.iter().any(|t| t.waits_at.is_some()) {
        return false;
    }
    let idle = traces.iter().filter(|t| t.idle && t.waits_at.is_none()).count();
    idle <= 1 && !traces.iter().all(|t| t.whole)
}

/// The possible orders of PTX's sequentially consistent fences. Each total order of these fences
/// that agrees with program order gives one result: its pairs of fences in which the scope of each
/// fence includes the thread of the other.
fn fence_orders(skeleton: &Skeleton<'_>) -> Vec<Rows> {
    let fences = skeleton.set(|e| e.is_fence() && e.meeting.is_none() && e.order == Order::SeqCst);
    let reaches = |a: usize, b: usize| {
        let (a, b) = (&skeleton.events[a], &skeleton.events[b]);
        match (a.scope, b.thread) {
            (Some(scope), Some(thread)) => skeleton.program.scopes.get(scope).members.contains(thread),
            _ => false,
        }
    };
    let mut orders = BTreeSet::new();
    let mut rows = vec![EventSet::EMPTY; skeleton.len()];
    linearise(fences, EventSet::EMPTY, &skeleton.po, &mut rows, &mut |total| {
        let mut order = vec![EventSet::EMPTY; total.len()];
        for from in members(fences) {
            for to in members(total[from]) {
                if reaches(from, to) && reaches(to, from) {
                    order[from].insert(to);
                }
            }
        }
        orders.insert(order);
    });
    orders.into_iter().collect()
}

fn linearise(
    left: EventSet,
    before: EventSet,
    po: &[EventSet],
    rows: &mut Rows,
    visit: &mut dyn FnMut(&Rows),
) {
    if left.is_empty() {
        return visit(rows);
    }
    for event in members(left) {
        if members(left).any(|other| po[other].has(event)) {
            continue;
        }
        members(before).for_each(|earlier| rows[earlier].insert(event));
        linearise(left.without(event), before.with(event), po, rows, visit);
        members(before).for_each(|earlier| rows[earlier].remove(event));
    }
}
