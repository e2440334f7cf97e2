//! A state of a program between two steps of a sequentially consistent execution. A state includes
//! the past accesses and the vector clocks, which decide whether later accesses race with past
//! accesses.

mod local;

use super::clock::Clocks;
use super::footprint::Footprint;
use super::plan::{Plan, RaceKind, Stage, physical};
use super::scoping::Role;
use super::{CheckError, InstrPlace};
use crate::program::{Access, Barrier, Cas, Expr, Instr, Term, ThreadId, Value, value_address};

/// The maximum number of accesses of a thread in one execution.
pub(crate) const ACCESSES_MAX: usize = 1000;

/// The progress of a thread at its current instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The thread is ready for the instruction at its position.
    Ready,
    /// The thread waits at a barrier.
    Arrived,
    /// The thread may leave a barrier, because enough threads have arrived.
    Released,
    /// The thread has ended.
    Done,
    /// The thread was stopped because it reached the limit on backward jumps or on accesses.
    Cut,
    /// The thread loops for ever without an access.
    Stuck,
}

/// A past access of a thread. The search keeps it to find races with later accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoggedAccess {
    pub(crate) access: u16,
    pub(crate) loc: u16,
    pub(crate) wrote: bool,
    pub(crate) failed: bool,
}

/// The current iteration of a loop of a thread. The state keeps the iteration only as long as all
/// its accesses are reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Iteration {
    pub(crate) head: u16,
    pub(crate) registers: Vec<Value>,
    pub(crate) reads: Vec<(u16, Value)>,
}

/// The state of a thread without its registers. [`State`] has the registers of all threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ThreadState {
    pub(crate) pc: u16,
    pub(crate) phase: Phase,
    pub(crate) log: Vec<LoggedAccess>,
    /// For each position in the code, the number of times that the thread has taken the backward
    /// jump at this position.
    pub(crate) jumps: Vec<u16>,
    pub(crate) iteration: Option<Iteration>,
    /// The words that a loop iteration without an effect has read, with the values that it has
    /// read. The thread waits until one of these words has another value, because until then a
    /// further iteration has no effect.
    pub(crate) spins_on: Vec<(u16, Value)>,
}

/// A meeting of threads at a barrier, while some of these threads have not yet arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meeting {
    /// The barrier: the scope instance whose threads meet, the number of the barrier in the test,
    /// and the number of its barrier resource.
    pub(crate) which: (u16, Value, Value),
    pub(crate) arrived: u64,
    /// The threads that have arrived and wait, as a bit set.
    pub(crate) waiting: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) threads: Vec<ThreadState>,
    pub(crate) registers: Vec<Value>,
    pub(crate) memory: Vec<Value>,
    pub(crate) meetings: Vec<Meeting>,
    pub(crate) clocks: Clocks,
}

/// The choice of the next step of an execution: the thread that takes the step, and the result of a
/// weak compare-and-swap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Choice {
    /// The thread that takes the step.
    pub thread: u8,
    /// Whether the step is a weak compare-and-swap that fails spuriously.
    pub fails: bool,
}

/// The effects of a step of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StepResult {
    pub(crate) thread: u8,
    pub(crate) pc: u16,
    pub(crate) stage: Stage,
    pub(crate) loc: Option<u16>,
    pub(crate) read: Option<Value>,
    pub(crate) written: Option<Value>,
    pub(crate) role: Role,
}

/// Two conflicting accesses. The step that is executed now makes the second access. A past step has
/// made the first access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    pub(crate) first: (u8, LoggedAccess),
    pub(crate) second: LoggedAccess,
    pub(crate) kind: RaceKind,
    pub(crate) ordered: bool,
}

impl Clone for State {
    fn clone(&self) -> State {
        State {
            threads: self.threads.clone(),
            registers: self.registers.clone(),
            memory: self.memory.clone(),
            meetings: self.meetings.clone(),
            clocks: self.clocks.clone(),
        }
    }

    // The search copies a state at each step. This copy reuses the memory of `self`.
    fn clone_from(&mut self, from: &State) {
        for (to, from) in self.threads.iter_mut().zip(&from.threads) {
            to.pc = from.pc;
            to.phase = from.phase;
            to.log.clone_from(&from.log);
            to.jumps.clone_from(&from.jumps);
            to.iteration.clone_from(&from.iteration);
            to.spins_on.clone_from(&from.spins_on);
        }
        self.registers.clone_from(&from.registers);
        self.memory.clone_from(&from.memory);
        self.meetings.clone_from(&from.meetings);
        self.clocks.copy_from(&from.clocks);
    }
}

impl State {
    /// The state before the first step.
    pub(crate) fn start(plan: &Plan<'_>) -> Result<State, CheckError> {
        let program = plan.program;
        let threads = program.threads.iter().zip(&plan.threads);
        let mut state = State {
            threads: threads
                .map(|(thread, planned)| ThreadState {
                    pc: 0,
                    phase: Phase::Ready,
                    log: Vec::new(),
                    jumps: vec![0; if planned.has_loops { thread.code.len() } else { 0 }],
                    iteration: None,
                    spins_on: Vec::new(),
                })
                .collect(),
            registers: program.threads.iter().flat_map(|t| t.registers.iter().map(|r| r.init)).collect(),
            memory: program.locations.iter().map(|l| l.init).collect(),
            meetings: Vec::new(),
            clocks: Clocks::new(program.threads.len(), plan.scoping.closures, plan.scoping.channels),
        };
        for t in 0..state.threads.len() {
            state.settle(plan, t)?;
        }
        Ok(state)
    }

    /// Whether thread `t` may take a step, now or later.
    pub(crate) fn is_live(&self, t: usize) -> bool {
        matches!(self.threads[t].phase, Phase::Ready | Phase::Arrived | Phase::Released)
    }

    /// Whether every thread has ended.
    pub(crate) fn is_final(&self) -> bool {
        self.threads.iter().all(|t| t.phase == Phase::Done)
    }

    fn instr<'a>(&self, plan: &Plan<'a>, t: usize) -> &'a Instr {
        &plan.program.threads[t].code[usize::from(self.threads[t].pc)]
    }

    fn place(&self, plan: &Plan<'_>, t: usize) -> InstrPlace {
        InstrPlace::new(plan.program, ThreadId(t as u8), usize::from(self.threads[t].pc))
    }

    fn registers_of<'s>(&'s self, plan: &Plan<'_>, t: usize) -> &'s [Value] {
        let base = plan.threads[t].registers_base;
        &self.registers[base..base + plan.program.threads[t].registers.len()]
    }

    pub(crate) fn eval(&self, plan: &Plan<'_>, t: usize, expr: &Expr) -> Result<Value, CheckError> {
        if let Expr::Const(value) = expr {
            return Ok(*value);
        }
        expr.eval(self.registers_of(plan, t))
            .map_err(|error| CheckError::Eval { place: self.place(plan, t), error })
    }

    fn word(&self, plan: &Plan<'_>, t: usize, access: &Access) -> Result<usize, CheckError> {
        if let Some(loc) = access.address.as_location() {
            return Ok(physical(plan.program, loc));
        }
        let value = self.eval(plan, t, &access.address)?;
        match value_address(value) {
            Some(loc) if usize::from(loc.0) < plan.program.locations.len() => Ok(physical(plan.program, loc)),
            _ => Err(CheckError::NotAnAddress {
                place: self.place(plan, t),
                value: plan.program.value_name(value),
            }),
        }
    }

    /// Whether thread `t` can take its next step now.
    pub(crate) fn is_enabled(&self, plan: &Plan<'_>, t: usize) -> Result<bool, CheckError> {
        let thread = &self.threads[t];
        match thread.phase {
            Phase::Released => return Ok(true),
            Phase::Ready => {}
            _ => return Ok(false),
        }
        if let Instr::Await { access, cmp, value, .. } = self.instr(plan, t) {
            let found = self.memory[self.word(plan, t, access)?];
            let wanted = self.eval(plan, t, value)?;
            let holds = cmp.apply(found, wanted);
            let holds = holds.map_err(|error| CheckError::Eval { place: self.place(plan, t), error })?;
            if holds == 0 {
                return Ok(false);
            }
        }
        let spins = &thread.spins_on;
        Ok(spins.is_empty() || spins.iter().any(|&(loc, value)| self.memory[usize::from(loc)] != value))
    }

    /// The footprint (the resources that a step uses) of the next step of the live thread `t`.
    pub(crate) fn next_footprint(&self, plan: &Plan<'_>, t: usize) -> Result<Footprint, CheckError> {
        let thread = &self.threads[t];
        let op = &plan.threads[t].ops[usize::from(thread.pc)];
        let instr = self.instr(plan, t);
        let mut footprint = match instr {
            Instr::Barrier(_) => {
                let stage = if thread.phase == Phase::Ready { Stage::Arrive } else { Stage::Depart };
                plan.footprint(t, instr, &op.roles, None, stage)
            }
            _ => match instr.access() {
                Some(access) if access.address.as_location().is_none() => {
                    let word = self.word(plan, t, access)?;
                    plan.footprint(t, instr, &op.roles, Some(word), Stage::Whole)
                }
                _ => op.footprint,
            },
        };
        for &(loc, _) in &thread.spins_on {
            footprint.reads |= 1 << (loc % 64);
        }
        Ok(footprint)
    }

    /// Whether the next step of thread `t` has two choices. This is the case for a weak
    /// compare-and-swap that would succeed: it may also fail spuriously.
    pub(crate) fn has_choice(&self, plan: &Plan<'_>, t: usize) -> Result<bool, CheckError> {
        match self.instr(plan, t) {
            Instr::Cas(cas) if cas.weak => {
                let found = self.memory[self.word(plan, t, &cas.access)?];
                Ok(found == self.eval(plan, t, &cas.expected)?)
            }
            _ => Ok(false),
        }
    }

    /// Takes the next step of the enabled thread `t`. If `fails` is true, a weak compare-and-swap
    /// fails spuriously. Appends the conflicts of the step with earlier accesses to `conflicts`.
    pub(crate) fn step(
        &mut self,
        plan: &Plan<'_>,
        t: usize,
        fails: bool,
        conflicts: &mut Vec<Conflict>,
    ) -> Result<StepResult, CheckError> {
        self.threads[t].spins_on.clear();
        let pc = usize::from(self.threads[t].pc);
        let instr = self.instr(plan, t);
        let done = match instr {
            Instr::Fence(_) => {
                self.leave_iteration(t);
                let role = plan.threads[t].ops[pc].roles.success;
                self.acquire(plan, t, role, None);
                self.release(plan, t, role, None);
                self.done(t, Stage::Whole, role)
            }
            Instr::Barrier(barrier) => {
                self.leave_iteration(t);
                let role = plan.threads[t].ops[pc].roles.success;
                match self.threads[t].phase {
                    Phase::Ready => {
                        let role = Role { acquires: false, ..role };
                        self.release(plan, t, role, None);
                        self.arrive(plan, t, barrier)?;
                        let done = self.done(t, Stage::Arrive, role);
                        if !barrier.arrive {
                            return Ok(done);
                        }
                        done
                    }
                    _ => {
                        let role = Role { releases: false, ..role };
                        self.acquire(plan, t, role, None);
                        self.threads[t].phase = Phase::Ready;
                        self.done(t, Stage::Depart, role)
                    }
                }
            }
            _ => self.step_access(plan, t, instr, fails, conflicts)?,
        };
        self.threads[t].pc += 1;
        self.settle(plan, t)?;
        if self.threads[t].log.len() >= ACCESSES_MAX && self.threads[t].phase == Phase::Ready {
            self.threads[t].phase = Phase::Cut;
        }
        Ok(done)
    }

    fn done(&self, t: usize, stage: Stage, role: Role) -> StepResult {
        StepResult {
            thread: t as u8,
            pc: self.threads[t].pc,
            stage,
            loc: None,
            read: None,
            written: None,
            role,
        }
    }

    fn step_access(
        &mut self,
        plan: &Plan<'_>,
        t: usize,
        instr: &Instr,
        fails: bool,
        conflicts: &mut Vec<Conflict>,
    ) -> Result<StepResult, CheckError> {
        let op = &plan.threads[t].ops[usize::from(self.threads[t].pc)];
        let access = instr.access().expect("the caller has handled all else");
        let loc = self.word(plan, t, access)?;
        let old = self.memory[loc];
        let (mut role, mut failed) = (op.roles.success, false);
        let (read, written) = match instr {
            Instr::Load { dst, .. } => {
                self.set(plan, t, Some(*dst), old);
                (Some(old), None)
            }
            Instr::Await { dst, .. } => {
                self.set(plan, t, *dst, old);
                (Some(old), None)
            }
            Instr::Store { value, .. } => (None, Some(self.eval(plan, t, value)?)),
            Instr::Rmw { dst, op, operand, .. } => {
                let new = op.apply(old, self.eval(plan, t, operand)?);
                self.set(plan, t, *dst, old);
                (Some(old), Some(new))
            }
            Instr::Cas(cas) => {
                let new = self.compare_and_swap(plan, t, cas, old, fails)?;
                if new.is_none() {
                    (role, failed) = (op.roles.failure, true);
                }
                (Some(old), new)
            }
            _ => (None, None),
        };
        if let Some(new) = written {
            self.memory[loc] = new;
        }
        match (&mut self.threads[t].iteration, written, read) {
            (Some(iteration), None, Some(value)) if !fails => iteration.reads.push((loc as u16, value)),
            (iteration, _, _) => *iteration = None,
        }
        self.acquire(plan, t, role, Some(loc));
        let access = op.access.expect("an access is numbered");
        let logged = LoggedAccess { access, loc: loc as u16, wrote: written.is_some(), failed };
        self.find_conflicts(plan, t, logged, role, conflicts);
        self.threads[t].log.push(logged);
        self.clocks.set_own(t, self.threads[t].log.len());
        self.release(plan, t, role, Some(loc));
        let mut done = self.done(t, Stage::Whole, role);
        (done.loc, done.read, done.written) = (Some(loc as u16), read, written);
        Ok(done)
    }

    /// Executes a compare-and-swap. Returns the value written if it succeeds, otherwise `None`.
    fn compare_and_swap(
        &mut self,
        plan: &Plan<'_>,
        t: usize,
        cas: &Cas,
        old: Value,
        fails: bool,
    ) -> Result<Option<Value>, CheckError> {
        let succeeds = old == self.eval(plan, t, &cas.expected)? && !fails;
        let new = if succeeds { Some(self.eval(plan, t, &cas.desired)?) } else { None };
        self.set(plan, t, cas.dst, old);
        self.set(plan, t, cas.success, Value::from(succeeds));
        Ok(new)
    }

    fn set(&mut self, plan: &Plan<'_>, t: usize, dst: Option<crate::program::Reg>, value: Value) {
        if let Some(reg) = dst {
            self.registers[plan.threads[t].registers_base + usize::from(reg.0)] = value;
        }
    }

    fn acquire(&mut self, plan: &Plan<'_>, t: usize, role: Role, loc: Option<usize>) {
        if let Some(scope) = role.scope.filter(|_| role.acquires) {
            let slots = plan.scoping.acquire_slots(loc);
            for &channel in plan.scoping.collect(t, scope) {
                self.clocks.acquire(t, channel, slots);
            }
        }
    }

    fn release(&mut self, plan: &Plan<'_>, t: usize, role: Role, loc: Option<usize>) {
        if let Some(scope) = role.scope.filter(|_| role.releases) {
            let slots = plan.scoping.release_slots(loc);
            for &channel in plan.scoping.publish(t, scope) {
                self.clocks.release(t, channel, slots);
            }
        }
    }

    fn arrive(&mut self, plan: &Plan<'_>, t: usize, barrier: &Barrier) -> Result<(), CheckError> {
        let id = self.eval(plan, t, &barrier.id)?;
        let everyone = plan.program.threads_at(barrier.group, barrier.instance).count();
        let quorum = match &barrier.quorum {
            Some(quorum) => self.eval(plan, t, quorum)?,
            None => Value::from(everyone),
        };
        let which = (barrier.group.0, barrier.instance, id);
        // The n-th arrival of a thread at a barrier meets the n-th arrivals of the other threads.
        // So the thread joins the first meeting of the barrier at which it has not arrived.
        let joins = |m: &Meeting| m.which > which || m.which == which && m.arrived >> t & 1 == 0;
        let at = self.meetings.iter().position(joins).unwrap_or(self.meetings.len());
        if self.meetings.get(at).is_none_or(|m| m.which != which) {
            self.meetings.insert(at, Meeting { which, arrived: 0, waiting: 0 });
        }
        self.meetings[at].arrived |= 1 << t;
        if !barrier.arrive {
            self.threads[t].phase = Phase::Arrived;
            self.meetings[at].waiting |= 1 << t;
        }
        if Value::from(self.meetings[at].arrived.count_ones()) >= quorum {
            let met = self.meetings.remove(at).waiting;
            for (u, thread) in self.threads.iter_mut().enumerate() {
                if met >> u & 1 == 1 {
                    thread.phase = Phase::Released;
                }
            }
        }
        Ok(())
    }

    fn find_conflicts(
        &self,
        plan: &Plan<'_>,
        t: usize,
        access: LoggedAccess,
        role: Role,
        conflicts: &mut Vec<Conflict>,
    ) {
        for (u, thread) in self.threads.iter().enumerate().filter(|&(u, _)| u != t) {
            for (i, first) in thread.log.iter().enumerate() {
                if first.loc != access.loc || !(first.wrote || access.wrote) {
                    continue;
                }
                let roles = plan.access(usize::from(first.access)).2.roles;
                let first_role = if first.failed { roles.failure } else { roles.success };
                let kind = plan.roles_conflict((ThreadId(u as u8), first_role), (ThreadId(t as u8), role));
                if let Some(kind) = kind {
                    let ordered = self.clocks.knows(t, u, i);
                    conflicts.push(Conflict { first: (u as u8, *first), second: access, kind, ordered });
                }
            }
        }
    }
}

/// The value of a term (a register, a location or a constant) in a state.
pub(crate) fn term_value(plan: &Plan<'_>, state: &State, term: Term) -> Value {
    match term {
        Term::Const(value) => value,
        Term::Loc(loc) => state.memory[physical(plan.program, loc)],
        Term::Reg(thread, reg) => {
            let thread = &plan.threads[usize::from(thread.0)];
            state.registers[thread.registers_base + usize::from(reg.0)]
        }
    }
}
