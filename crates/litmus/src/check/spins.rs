//! Searches the executions that a model allows for an execution that ends with a spinning thread. A
//! thread spins if the last iteration of its loop only reads, and each read returns a final value
//! of memory.

use std::ops::ControlFlow;

use crate::cat::{Model, stage};
use crate::exec::set::{EventSet, Word, members};
use crate::exec::skeleton::Skeleton;
use crate::exec::unfold::{Trace, Unfolding, WaitPoint, numbers_of, unfold};
use crate::parse::TextError;
use crate::program::{BinaryOp, LocId, Program, ThreadId};
use crate::progress::Scheduler;

use super::execution::Execution;
use super::search::{self, AllowedExecution, Halt, SearchOptions, Visitor};
use super::{Options, fence_orders, for_each_meeting};
use crate::exec::sym::Sym;

/// The number of path combinations between two calls of the function `stop`, which says whether the
/// search must end.
const STOP_INTERVAL: usize = 256;

/// The result of a search for spinning threads.
pub(crate) struct Spins {
    /// An execution, and the threads that spin at its end.
    pub(crate) found: Option<(Execution, Vec<usize>)>,
    /// The reasons why the search is incomplete, in words.
    pub(crate) gap: Option<String>,
}

/// One path through the code of a thread, and the end of the path.
struct Path {
    trace: Trace,
    end: End,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// The thread ends.
    Done,
    /// The thread repeats a loop, or waits for the value of a word.
    Spins,
    /// The thread waits at a barrier.
    Waits,
    /// The scheduler does not run the thread any more.
    Descheduled,
}

/// Looks for an execution with a spinning thread.
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
    let paths: Vec<Vec<Path>> = unfoldings.iter().map(|u| paths(u, scheduler)).collect();
    let numbers = numbers_of(program);
    let search_options = SearchOptions {
        file: &model.file,
        partial_coherence: model.partial_coherence,
        numbers: &numbers,
        unchecked: false,
        wide: false,
    };
    let mut into = SpinSearch { found: None, stopped: false, stop: &mut *options.stop };
    let too_many = combine(program, model, scheduler, &paths, &search_options, &mut into)?;
    let mut gaps = Vec::new();
    if into.stopped {
        gaps.push("the time limit was reached");
    }
    if too_many || unfoldings.iter().any(|u| u.overflow || u.partial_overflow) {
        gaps.push("some paths were left out, because a path has too many events or there are too many paths");
    }
    let gap = (!gaps.is_empty()).then(|| gaps.join("; "));
    Ok(Spins { found: into.found, gap })
}

/// The paths through a thread. If the scheduler may stop the thread, they include paths that end
/// early: before the first event, and after each write and barrier. Other events have no effect on
/// other threads, so a stop after such an event is equivalent to an earlier stop.
fn paths(unfolding: &Unfolding, scheduler: Scheduler) -> Vec<Path> {
    let mut paths: Vec<Path> = Vec::new();
    let ended = unfolding.traces.iter().chain(unfolding.partial.iter().filter(|t| t.waits_at.is_some()));
    for trace in ended.clone() {
        let end = match trace.waits_at {
            None => End::Done,
            Some(WaitPoint::Barrier(_)) => End::Waits,
            Some(_) => End::Spins,
        };
        paths.push(Path { trace: trace.clone(), end });
    }
    if scheduler == Scheduler::Fair {
        return paths;
    }
    let whole = paths.len();
    for trace in ended {
        let events = trace.events.iter().enumerate();
        let stops = events.filter(|(_, e)| e.writes() || e.meeting.is_some()).map(|(at, _)| at + 1);
        // Only the HSA scheduler may stop a thread that has already taken a step.
        for stop in core::iter::once(0).chain(stops.filter(|_| scheduler == Scheduler::Hsa)) {
            let cut = cut(trace, stop);
            let known = paths[whole..].iter().any(|path| same(&path.trace, &cut));
            if !known {
                paths.push(Path { trace: cut, end: End::Descheduled });
            }
        }
    }
    paths
}

/// The beginning of the path `trace`: its first `events` events, and the guards (conditions of the
/// path) that depend on these events only.
fn cut(trace: &Trace, events: usize) -> Trace {
    let mut cut = trace.clone();
    cut.events.truncate(events);
    cut.values.truncate(events);
    cut.addr.truncate(events);
    cut.data.truncate(events);
    cut.ctrl.truncate(events);
    let before = EventSet::below(events);
    cut.guards.retain(|guard| guard.reads().is_within(before));
    (cut.waits_at, cut.fault, cut.idle) = (None, None, false);
    cut.registers.iter_mut().for_each(|register| *register = Sym::Const(0));
    cut
}

fn same(a: &Trace, b: &Trace) -> bool {
    a.events == b.events && a.values == b.values && a.guards == b.guards
}

/// Tries every combination of paths, one for each thread, in which some thread spins and the
/// scheduler keeps its guarantees. Returns true if it left out combinations because they have too
/// many events or too many ways to meet at barriers.
fn combine(
    program: &Program,
    model: &Model,
    scheduler: Scheduler,
    paths: &[Vec<Path>],
    options: &SearchOptions<'_>,
    into: &mut SpinSearch<'_>,
) -> Result<bool, TextError> {
    let mut too_many = false;
    if paths.iter().any(Vec::is_empty) {
        return Ok(false);
    }
    let mut choice = vec![0usize; paths.len()];
    let mut combinations = 0usize;
    loop {
        combinations += 1;
        if combinations.is_multiple_of(STOP_INTERVAL) && into.stop() {
            return Ok(too_many);
        }
        let chosen: Vec<&Path> = paths.iter().zip(&choice).map(|(of, &c)| &of[c]).collect();
        if may_spin(scheduler, &chosen) {
            let traces: Vec<&Trace> = chosen.iter().map(|path| &path.trace).collect();
            match Skeleton::new(program, &traces) {
                Ok(skeleton) => {
                    let fits = skeleton.fault.is_none()
                        && !skeleton.divergent
                        && skeleton.is_plausible()
                        && !skeleton.can_proceed(&traces);
                    too_many |= fits && skeleton.meetings_overflow;
                    if fits {
                        for_each_meeting(skeleton, &mut |skeleton| {
                            let Some(skeleton) = skeleton else { return Ok(true) };
                            search(&skeleton, model, &chosen, options, into)?;
                            Ok(into.found.is_none() && !into.stopped)
                        })?;
                    }
                }
                Err(_) => too_many = true,
            }
        }
        if into.found.is_some() || into.stopped || !advance(&mut choice, paths) {
            return Ok(too_many);
        }
    }
}

/// Advances to the next combination of paths. The path of the last thread changes fastest. Returns
/// false after the last combination.
fn advance(choice: &mut [usize], paths: &[Vec<Path>]) -> bool {
    for thread in (0..choice.len()).rev() {
        choice[thread] += 1;
        if choice[thread] < paths[thread].len() {
            return true;
        }
        choice[thread] = 0;
    }
    false
}

/// Whether some thread spins on the paths `chosen`, and none of the paths ends because the
/// scheduler stopped a thread that it guarantees to run.
fn may_spin(scheduler: Scheduler, chosen: &[&Path]) -> bool {
    let set = |wanted: &dyn Fn(&Path) -> bool| {
        chosen.iter().enumerate().fold(0u64, |set, (t, path)| set | u64::from(wanted(path)) << t)
    };
    let unfinished = set(&|path| path.end != End::Done);
    let stepped = set(&|path| path.end != End::Descheduled || !path.trace.events.is_empty());
    let left = set(&|path| path.end == End::Descheduled);
    let spins = set(&|path| path.end == End::Spins);
    spins != 0 && scheduler.guaranteed(unfinished, stepped) & left == 0
}

fn search(
    skeleton: &Skeleton<'_>,
    model: &Model,
    chosen: &[&Path],
    options: &SearchOptions<'_>,
    into: &mut SpinSearch<'_>,
) -> Result<(), TextError> {
    let mut staged = stage::stage(model, skeleton)?;
    staged.checks.retain(|check| !check.flag);
    let syncs = if staged.uses_sync_fence {
        fence_orders(skeleton)
    } else {
        vec![vec![EventSet::EMPTY; skeleton.len()]]
    };
    let mut visitor = SpinVisitor { skeleton, chosen, into };
    match search::search(skeleton, staged, options, &syncs, &mut visitor) {
        Ok(_) | Err(Halt::Stopped) => Ok(()),
        Err(Halt::Model(error)) => Err(error),
    }
}

struct SpinSearch<'o> {
    found: Option<(Execution, Vec<usize>)>,
    stopped: bool,
    stop: &'o mut dyn FnMut() -> bool,
}

impl SpinSearch<'_> {
    fn stop(&mut self) -> bool {
        self.stopped |= (self.stop)();
        self.stopped
    }
}

struct SpinVisitor<'a, 's, 'p, 'o> {
    skeleton: &'s Skeleton<'p>,
    chosen: &'s [&'s Path],
    into: &'a mut SpinSearch<'o>,
}

impl Visitor for SpinVisitor<'_, '_, '_, '_> {
    fn execution<W: Word>(&mut self, found: &AllowedExecution<'_, W>) -> ControlFlow<()> {
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

impl SpinVisitor<'_, '_, '_, '_> {
    /// Whether the thread reads the same values for ever. This is so if each read that the loop
    /// repeats reads from a write that is last in coherence order. Memory is fair, so in the end
    /// every read reads from such a write.
    fn spins<W: Word>(&self, thread: usize, found: &AllowedExecution<'_, W>) -> bool {
        let base = self.skeleton.base[thread];
        let trace = &self.chosen[thread].trace;
        match &trace.waits_at {
            Some(WaitPoint::Loop(since)) => (base + since..base + trace.events.len())
                .filter(|&event| self.skeleton.events[event].reads())
                .all(|read| is_last(found, found.rf[read])),
            Some(WaitPoint::Await(loc, cmp, wanted)) => self.awaits(base, *loc, *cmp, wanted, found),
            _ => true,
        }
    }

    /// Whether the thread may wait for ever at an `await` of the word `loc`: whether some last
    /// value of the word fails the comparison `cmp` with `wanted`. A last value is the value of a
    /// write that is last in coherence order, or the initial value if there is no write.
    fn awaits<W: Word>(
        &self,
        base: usize,
        loc: LocId,
        cmp: BinaryOp,
        wanted: &Sym,
        found: &AllowedExecution<'_, W>,
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

fn is_last<W: Word>(found: &AllowedExecution<'_, W>, write: usize) -> bool {
    found.co[write].is_empty()
}
