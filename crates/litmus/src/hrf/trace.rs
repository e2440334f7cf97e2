//! Replays the choices that led to an execution, and returns the steps of the execution.

use super::plan::{Plan, Stage, physical};
use super::scoping::Role;
use super::state::{Choice, Conflict, State, StepResult};
use super::{CheckError, InstrPlace};
use crate::program::{Instr, LocId, Program, ScopeId, ThreadId, Value};

/// The kind of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StepKind {
    /// The step is a load or an await.
    Load,
    /// The step is a store.
    Store,
    /// The step is a read-modify-write. A compare-and-swap that fails has the kind `FailedUpdate`
    /// instead.
    Update,
    /// The step is a compare-and-swap that fails.
    FailedUpdate,
    /// The step is a fence.
    Fence,
    /// The step is the arrival at a barrier.
    Arrive,
    /// The step is the departure from a barrier.
    Depart,
}

/// A step of an execution, with the values that it read and wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutionStep {
    /// The instruction that the step executes: its thread, its position in the code and its line.
    pub place: InstrPlace,
    /// The kind of the step.
    pub kind: StepKind,
    /// The location that the step accesses. If a word has several names, the location is the name
    /// that the instruction uses, if possible.
    pub location: Option<LocId>,
    /// The value that the step reads, if it reads one.
    pub read: Option<Value>,
    /// The value that the step writes, if it writes one.
    pub written: Option<Value>,
    /// The role of the step in synchronization: data access, release, acquire or both.
    pub role: Role,
    /// The choice that led to the step: the thread that takes it, and whether its weak
    /// compare-and-swap fails spuriously.
    pub choice: Choice,
}

/// The steps of an execution, or of its beginning, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Execution {
    /// The steps of the execution, in order.
    pub steps: Vec<ExecutionStep>,
}

/// Replays the choices of `path` from the initial state, and returns the execution.
pub(crate) fn replay(plan: &Plan<'_>, path: &[Choice]) -> Result<Execution, CheckError> {
    let mut state = State::start(plan)?;
    let mut conflicts = Vec::new();
    let mut steps = Vec::with_capacity(path.len());
    for &choice in path {
        let done = state.step(plan, usize::from(choice.thread), choice.fails, &mut conflicts)?;
        steps.push(step(plan, choice, &done));
    }
    Ok(Execution { steps })
}

/// Replays the choices of `path` on the program of `plan`. The path may come from the same program
/// with other scopes. Returns whether two accesses race.
pub(crate) fn has_race(plan: &Plan<'_>, path: &[Choice]) -> Result<bool, CheckError> {
    let mut state = State::start(plan)?;
    let mut conflicts: Vec<Conflict> = Vec::new();
    for &choice in path {
        state.step(plan, usize::from(choice.thread), choice.fails, &mut conflicts)?;
        if conflicts.iter().any(|conflict| !conflict.ordered) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The choices of `path` on which its last step depends: the other choices can be left out without
/// a change of this step. If the path ends with a race, the result includes the first access of the
/// race, because that access conflicts with the last step.
pub(crate) fn causes(plan: &Plan<'_>, path: &[Choice]) -> Result<Vec<Choice>, CheckError> {
    let mut state = State::start(plan)?;
    let mut conflicts = Vec::new();
    let mut footprints = Vec::with_capacity(path.len());
    for &choice in path {
        let t = usize::from(choice.thread);
        footprints.push(state.next_footprint(plan, t)?);
        state.step(plan, t, choice.fails, &mut conflicts)?;
    }
    let mut kept: Vec<usize> = Vec::new();
    for i in (0..path.len()).rev() {
        let needed = i + 1 == path.len()
            || kept
                .iter()
                .any(|&k| path[k].thread == path[i].thread || footprints[k].depends(&footprints[i]));
        if needed {
            kept.push(i);
        }
    }
    Ok(kept.into_iter().rev().map(|i| path[i]).collect())
}

fn step(plan: &Plan<'_>, choice: Choice, done: &StepResult) -> ExecutionStep {
    let program = plan.program;
    let pc = usize::from(done.pc);
    let instr = &program.threads[usize::from(done.thread)].code[pc];
    let kind = match (instr, done.stage) {
        (Instr::Load { .. } | Instr::Await { .. }, _) => StepKind::Load,
        (Instr::Store { .. }, _) => StepKind::Store,
        (Instr::Barrier(_), Stage::Depart) => StepKind::Depart,
        (Instr::Barrier(_), _) => StepKind::Arrive,
        (Instr::Fence(_), _) => StepKind::Fence,
        _ if done.written.is_some() => StepKind::Update,
        _ => StepKind::FailedUpdate,
    };
    // The location that the instruction names, if its address is a constant.
    let named = instr.access().and_then(|access| access.address.as_location());
    ExecutionStep {
        place: InstrPlace::new(program, ThreadId(done.thread), pc),
        kind,
        location: named.or(done.loc.map(LocId)),
        read: done.read,
        written: done.written,
        role: done.role,
        choice,
    }
}

impl ExecutionStep {
    /// Describes the step in words, such as `store-release A writes 1 at work_group 0`.
    #[must_use]
    pub fn describe(&self, program: &Program) -> String {
        let mut text = match self.kind {
            StepKind::Load => "load",
            StepKind::Store => "store",
            StepKind::Update => "update",
            StepKind::FailedUpdate => "failed update",
            StepKind::Fence => "fence",
            StepKind::Arrive => "arrive at the barrier",
            StepKind::Depart => "leave the barrier",
        }
        .to_owned();
        let barrier = matches!(self.kind, StepKind::Arrive | StepKind::Depart);
        if self.role.sync && !barrier {
            text.push_str(match (self.role.acquires, self.role.releases) {
                (true, true) => "-acquire-release",
                (true, false) => "-acquire",
                (false, true) => "-release",
                (false, false) => "-relaxed",
            });
        }
        if let Some(loc) = self.location {
            text.push(' ');
            text.push_str(&program.loc(loc).name);
        }
        if let Some(value) = self.read {
            text.push_str(&format!(" reads {}", program.value_name(value)));
        }
        if let Some(value) = self.written {
            text.push_str(&format!(" writes {}", program.value_name(value)));
        }
        if let Some(scope) = self.role.scope {
            text.push_str(&format!(" at {}", scope_name(program, scope)));
        }
        text
    }

    /// The number of the word that the step accesses. Several locations may be names of one word.
    /// `None` if the step accesses no word.
    pub(crate) fn word(&self, program: &Program) -> Option<usize> {
        self.location.map(|loc| physical(program, loc))
    }
}

/// The name of the scope instance.
pub(crate) fn scope_name(program: &Program, scope: ScopeId) -> String {
    program.scopes.name(scope)
}

impl Execution {
    /// The steps of the execution as a numbered list, one step on each line.
    #[must_use]
    pub fn describe(&self, program: &Program) -> String {
        let mut text = String::new();
        for (i, step) in self.steps.iter().enumerate() {
            text.push_str(&format!("  {:2}. {}: {}\n", i + 1, step.place, step.describe(program)));
        }
        text
    }
}
