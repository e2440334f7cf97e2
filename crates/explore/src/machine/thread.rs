//! A thread of a program: its next operation, and its progress after an answer.

use litmus::program::{BinaryOp, Expr, Instr, Level, LocId, Program, Reg, Value};
use proto::issue::{Issue, IssueId, IssueOp, IssueRule, Verdict};
use proto::{Agent, ByteMask, Issuer, LINE_BYTES_MAX, LineData, Op, Request, Rmw, RmwKind};
use smallvec::SmallVec;

use crate::machine::live;
use crate::machine::placement::{self, Placement, Unsupported, Word, value};

/// The maximum number of operations that one thread has under way.
pub(crate) const PENDING_MAX: u32 = 8;
/// The maximum number of silent instructions (without an access to memory) between two accesses.
pub const SILENT_MAX: u32 = 10_000;

/// The data of a program and its placement that do not change during a run.
#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) program: Program,
    pub(crate) placement: Placement,
    /// The line and offset of each location.
    pub(crate) words: Vec<Word>,
    pub(crate) line_bytes: u16,
    core: IssueRule,
    pub(crate) issuers: Vec<Issuer>,
    /// The live registers of each thread at each position of its code, as masks. A register is live
    /// if it may be read later.
    live: Vec<Vec<u64>>,
    has_barriers: bool,
}

/// The state of a thread between two steps.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ThreadState {
    pub(crate) pc: u16,
    /// The progress of a barrier: 0 before the release is complete, 1 while the thread waits for
    /// the other threads, 2 before the acquire is complete.
    pub(crate) phase: u8,
    pub(crate) registers: SmallVec<[Value; 4]>,
    pub(crate) pending: SmallVec<[Pending; 2]>,
    pub(crate) residency: Residency,
    issue: Issue,
}

/// The compute unit or host of a thread, the thread's wavefront there, and the state of its
/// work-group with regard to preemption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Residency {
    pub(crate) agent: Agent,
    /// The number of the thread's wavefront among the wavefronts of its agent (compute unit or
    /// host).
    pub(crate) wavefront: u32,
    /// The number of preemptions of the thread's work-group so far.
    pub(crate) preempted: u8,
    pub(crate) state: ResidencyState,
}

/// The state of a work-group with regard to its compute unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ResidencyState {
    /// The work-group runs on its compute unit.
    Runs,
    /// The work-group is about to leave its compute unit, which makes a release.
    Saves,
    /// The work-group has left, and waits for another compute unit.
    Off,
    /// The work-group has arrived at a compute unit, which makes an acquire.
    Restores,
}

/// An operation of a thread that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pending {
    pub(crate) id: u8,
    /// The position of the operation's first instruction.
    pub(crate) pc: u16,
    /// The number of instructions that the operation combines.
    pub(crate) lanes: u8,
    pub(crate) request: u32,
    /// The bytes of its line that the operation accesses.
    pub(crate) mask: ByteMask,
    /// The value that a store writes, for forwarding to younger loads.
    pub(crate) value: i32,
}

/// The next operation of a thread.
#[derive(Debug)]
pub(crate) enum Offer {
    /// The thread has no operation, for now or for ever.
    Nothing,
    /// The thread makes a step that does not involve the memory system. It then has this state.
    Silent(ThreadState),
    /// The thread sends a request under this id. It then has the state `next`.
    Send { id: u8, request: Request, next: ThreadState },
    /// The core keeps the request back, and sends it later. The thread then has the state `next`.
    Keep { id: u8, request: Request, next: ThreadState },
}

/// The result of a completed operation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Completed {
    /// The locations that the operation read, each with its value.
    pub(crate) reads: SmallVec<[(LocId, Value); 1]>,
    /// The ids of operations that were kept back until now and must be sent.
    pub(crate) sends: SmallVec<[u8; 1]>,
}

/// The reason why a thread cannot continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ThreadError {
    /// The memory system has violated its interface, in the described way.
    Protocol(String),
    /// The program needs the described feature, which no machine here has.
    Unsupported(String),
    /// The program cannot continue with the values that the thread has read.
    BadValue(String),
}

impl ThreadError {
    /// The reason why the thread cannot continue, in words.
    pub(crate) fn why(self) -> String {
        match self {
            ThreadError::Protocol(why) | ThreadError::Unsupported(why) | ThreadError::BadValue(why) => why,
        }
    }
}

impl Code {
    pub(crate) fn new(
        program: &Program,
        placement: &Placement,
        core: IssueRule,
    ) -> Result<Code, Unsupported> {
        placement::supports(program, placement)?;
        let (words, line_bytes) = placement::layout(program, placement)?;
        let mut on_agent = std::collections::BTreeMap::new();
        let issuers = placement.agents.iter().enumerate().map(|(t, &agent)| {
            let wavefront = on_agent.entry(agent).or_insert(0u32);
            *wavefront += 1;
            let thread = litmus::program::ThreadId(t as u8);
            let group = program.scopes.enclosing(thread, Level::WorkGroup);
            let work_group = group.map_or(t as u32, |group| program.scopes.get(group).instance);
            Issuer { work_item: 0, wavefront: *wavefront - 1, work_group }
        });
        Ok(Code {
            issuers: issuers.collect(),
            live: live::registers(program),
            has_barriers: program
                .threads
                .iter()
                .flat_map(|t| &t.code)
                .any(|i| matches!(i, Instr::Barrier(_))),
            program: program.clone(),
            placement: placement.clone(),
            words,
            line_bytes,
            core,
        })
    }

    /// The number of lines that memory needs for the program: the highest number of a line, plus
    /// one.
    pub(crate) fn lines(&self) -> usize {
        self.words.iter().map(|word| word.line.0 as usize + 1).max().unwrap_or(0)
    }

    pub(crate) fn word(&self, loc: LocId) -> Word {
        self.words[usize::from(self.program.loc(loc).physical.0)]
    }

    /// The bytes of a line of memory at the start of the program.
    pub(crate) fn initial(&self, line: usize) -> Result<LineData, Unsupported> {
        let mut data = LineData::default();
        for (at, location) in self.program.locations.iter().enumerate() {
            let word = self.words[at];
            if word.line.0 as usize == line && usize::from(location.physical.0) == at {
                word.write(&mut data, word.bits(location.init).map_err(Unsupported)?);
            }
        }
        Ok(data)
    }

    /// The state of a thread at the start of the program.
    pub(crate) fn start(&self, thread: usize) -> Result<ThreadState, ThreadError> {
        // A host is an in-order core.
        let rule = match self.placement.agents[thread] {
            Agent::Host(_) => IssueRule::InOrder,
            _ => self.core,
        };
        let mut state = ThreadState {
            pc: 0,
            phase: 0,
            registers: self.program.threads[thread].registers.iter().map(|r| r.init).collect(),
            pending: SmallVec::new(),
            residency: Residency {
                agent: self.placement.agents[thread],
                wavefront: self.issuers[thread].wavefront,
                preempted: 0,
                state: ResidencyState::Runs,
            },
            issue: Issue::new(rule),
        };
        self.settle(thread, &mut state)?;
        Ok(state)
    }

    /// Whether the program has a barrier.
    pub(crate) fn has_barriers(&self) -> bool {
        self.has_barriers
    }

    pub(crate) fn instr(&self, thread: usize, pc: u16) -> Option<&Instr> {
        self.program.threads[thread].code.get(usize::from(pc))
    }

    /// Whether the thread has ended, has no operation under way, and is not being preempted.
    pub(crate) fn is_done(&self, thread: usize, state: &ThreadState) -> bool {
        state.pending.is_empty()
            && self.has_ended(thread, state)
            && state.residency.state == ResidencyState::Runs
    }

    /// Whether the thread has nothing more to issue.
    pub(crate) fn has_ended(&self, thread: usize, state: &ThreadState) -> bool {
        self.instr(thread, state.pc).is_none()
    }

    pub(crate) fn is_pending(&self, thread: usize, state: &ThreadState, reg: Reg) -> bool {
        let mut instrs = state.pending.iter().flat_map(|p| self.lanes(thread, p));
        instrs.any(|instr| targets(instr).contains(&Some(reg)))
    }

    /// The instructions that an operation combines.
    fn lanes(&self, thread: usize, pending: &Pending) -> impl Iterator<Item = &Instr> {
        let positions = (0..u16::from(pending.lanes)).map(move |lane| usize::from(pending.pc + lane));
        positions.filter_map(move |pc| self.program.threads[thread].code.get(pc))
    }

    fn knows(&self, thread: usize, state: &ThreadState, expr: &Expr) -> bool {
        let mut known = true;
        expr.for_each_reg(&mut |reg| known &= !self.is_pending(thread, state, reg));
        known
    }

    /// Executes the silent instructions (those without an access to memory). Stops at the first
    /// instruction that accesses memory or needs the result of an operation under way.
    fn settle(&self, thread: usize, state: &mut ThreadState) -> Result<(), ThreadError> {
        let value = |state: &ThreadState, expr: &Expr| {
            expr.eval(&state.registers).map_err(|error| ThreadError::BadValue(format!("P{thread}: {error}")))
        };
        for _ in 0..SILENT_MAX {
            match self.instr(thread, state.pc) {
                Some(Instr::Assign { dst, value: expr })
                    if self.knows(thread, state, expr) && !self.is_pending(thread, state, *dst) =>
                {
                    state.registers[usize::from(dst.0)] = value(state, expr)?;
                    state.pc += 1;
                }
                Some(Instr::Branch { cond, target, .. }) if self.knows(thread, state, cond) => {
                    state.pc = if value(state, cond)? != 0 { *target as u16 } else { state.pc + 1 };
                }
                Some(Instr::Jump { target }) => state.pc = *target as u16,
                Some(Instr::Fence(fence)) if !fence.constrains_caches() => state.pc += 1,
                _ => {
                    self.forget(thread, state);
                    return Ok(());
                }
            }
        }
        Err(ThreadError::BadValue(format!("P{thread} runs forever without an access to memory")))
    }

    /// Sets to zero all dead registers of a thread: the registers that neither a later instruction
    /// nor the condition of the test reads.
    fn forget(&self, thread: usize, state: &mut ThreadState) {
        let live = self.live[thread][usize::from(state.pc).min(self.live[thread].len() - 1)];
        if state.registers.len() <= 64 {
            for (at, value) in state.registers.iter_mut().enumerate() {
                if live >> at & 1 == 0 {
                    *value = 0;
                }
            }
        }
    }

    /// The next operation of the thread.
    pub(crate) fn offer(&self, thread: usize, state: &ThreadState) -> Result<Offer, ThreadError> {
        let Some(instr) = self.instr(thread, state.pc) else { return Ok(Offer::Nothing) };
        let waits = targets(instr).iter().flatten().any(|&reg| self.is_pending(thread, state, reg));
        if waits || state.pending.iter().any(|p| p.pc == state.pc && stays(instr)) {
            return Ok(Offer::Nothing);
        }
        let mut known = true;
        live::reads(instr, &mut |reg| known &= !self.is_pending(thread, state, reg));
        let id = (0..PENDING_MAX as u8).find(|id| state.pending.iter().all(|p| p.id != *id));
        let (Some(id), true) = (id, known) else { return Ok(Offer::Nothing) };
        let Some((mut request, kind)) = self.operation(thread, state, instr)? else {
            return Ok(Offer::Nothing);
        };
        let lanes = self.combine(thread, state, (&mut request, kind));
        let first = request.line.0 * LINE_BYTES_MAX as u64;
        let op = IssueOp {
            id: IssueId(u32::from(id)),
            kind,
            order: request.order,
            first: first + request.mask.first().unwrap_or(0) as u64,
            last: first + request.mask.last().unwrap_or(0) as u64,
        };
        let mut next = state.clone();
        let value = self.operand(&request) as i32;
        let pending = Pending { id, pc: state.pc, lanes, request: 0, mask: request.mask, value };
        let meets = |older: IssueId| {
            let older = state.pending.iter().find(|p| IssueId(u32::from(p.id)) == older);
            older.is_none_or(|older| older.mask.overlaps(request.mask))
        };
        match next.issue.offer(op, meets) {
            Verdict::Hold => Ok(Offer::Nothing),
            Verdict::Forward(from) => {
                let from = state.pending.iter().find(|p| IssueId(u32::from(p.id)) == from);
                let from = from.ok_or_else(|| {
                    ThreadError::Protocol(format!(
                        "the core forwards a store to P{thread} that this thread never made"
                    ))
                })?;
                let Instr::Load { dst, .. } = instr else { return Ok(Offer::Nothing) };
                next.registers[usize::from(dst.0)] = from.value.into();
                next.pc += 1;
                self.settle(thread, &mut next)?;
                Ok(Offer::Silent(next))
            }
            verdict => {
                next.pending.push(pending);
                next.pending.sort_by_key(|p| p.id);
                if !stays(instr) {
                    next.pc += u16::from(lanes);
                    self.settle(thread, &mut next)?;
                }
                Ok(match verdict {
                    Verdict::Keep => Offer::Keep { id, request, next },
                    _ => Offer::Send { id, request, next },
                })
            }
        }
    }

    /// Continues the thread after an operation completes.
    pub(crate) fn complete(
        &self,
        thread: usize,
        state: &mut ThreadState,
        id: u8,
        request: &Request,
        data: Option<&LineData>,
    ) -> Result<Completed, ThreadError> {
        let fault = |what: &str| ThreadError::Protocol(format!("P{thread} {what}"));
        let at = state.pending.iter().position(|p| p.id == id);
        let at = at.ok_or_else(|| fault("gets an answer to a request that is not outstanding"))?;
        let pending = state.pending.remove(at);
        let sends = state.issue.completed(IssueId(u32::from(id))).into_iter();
        let sends = sends.map(|id| id.0 as u8).collect();
        let mut reads = SmallVec::new();
        if request.reads() {
            let data = data.ok_or_else(|| fault("gets an answer without the data that it reads"))?;
            reads.extend(self.accesses(request).map(|loc| (loc, self.word(loc).read(data))));
        }
        let is_combined = pending.lanes > 1;
        for instr in self.lanes(thread, &pending) {
            let read = match instr.access() {
                Some(access) if is_combined => {
                    let address = access.address.eval(&state.registers);
                    let loc = address.ok().and_then(litmus::program::value_address);
                    let loc = loc.map(|loc| self.program.loc(loc).physical);
                    reads.iter().find(|(of, _)| Some(*of) == loc).map(|(_, value)| *value)
                }
                _ => reads.first().map(|(_, value)| *value),
            };
            self.finish(thread, state, instr, (request, read))?;
        }
        self.settle(thread, state)?;
        Ok(Completed { reads, sends })
    }

    /// Continues the thread after an instruction whose access is complete. `read` is the value that
    /// the access read.
    fn finish(
        &self,
        thread: usize,
        state: &mut ThreadState,
        instr: &Instr,
        (request, read): (&Request, Option<Value>),
    ) -> Result<(), ThreadError> {
        let set = |state: &mut ThreadState, reg: Option<Reg>, value: Option<Value>| {
            if let (Some(reg), Some(value)) = (reg, value) {
                state.registers[usize::from(reg.0)] = value;
            }
        };
        match instr {
            Instr::Load { dst, .. } => set(state, Some(*dst), read),
            Instr::Rmw { dst, .. } => set(state, *dst, read),
            Instr::Cas(cas) => {
                set(state, cas.dst, read);
                let Op::Rmw(Rmw { kind: RmwKind::CompareExchange { expected }, width, .. }) = request.op
                else {
                    let what = format!(
                        "P{thread} executes a compare-and-swap, but its request is for another operation"
                    );
                    return Err(ThreadError::Protocol(what));
                };
                let expected = value(expected, width);
                set(state, cas.success, read.map(|read| Value::from(read == expected)));
            }
            Instr::Await { dst, cmp, value, .. } => {
                let value = value.eval(&state.registers);
                let value = value.map_err(|error| ThreadError::BadValue(format!("P{thread}: {error}")))?;
                if read.is_some_and(|read| holds(*cmp, read, value)) {
                    set(state, *dst, read);
                    state.pc += 1;
                }
            }
            Instr::Barrier(_) => {
                state.phase += 1;
                if state.phase == 3 {
                    (state.phase, state.pc) = (0, state.pc + 1);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The locations that a request accesses.
    pub(crate) fn accesses(&self, request: &Request) -> impl Iterator<Item = LocId> {
        let (line, mask) = (request.line, request.mask);
        let words = self.words.iter().enumerate();
        let of = words.filter(move |(at, word)| {
            let is_first = usize::from(self.program.locations[*at].physical.0) == *at;
            is_first && word.line == line && mask.overlaps(word.mask())
        });
        of.map(|(at, _)| LocId(at as u16))
    }

    /// The value of the first word in the bytes that a request carries.
    pub(crate) fn operand(&self, request: &Request) -> Value {
        self.accesses(request).next().map_or(0, |loc| self.word(loc).read(&request.data))
    }

    /// Lets the threads of a work-group pass a barrier that all of them have reached. Returns true
    /// if the state of a thread has changed.
    pub(crate) fn meet(&self, threads: &mut [(usize, ThreadState)]) -> Result<bool, ThreadError> {
        let mut changed = false;
        for (t, state) in threads.iter_mut() {
            let Some(Instr::Barrier(barrier)) = self.instr(*t, state.pc) else { continue };
            let is_first = state.phase == 0 && state.pending.is_empty();
            if is_first && !barrier.order.releases() {
                state.phase = 1;
                changed = true;
            }
            if state.phase == 2 && state.pending.is_empty() && !barrier.order.acquires() {
                (state.phase, state.pc) = (0, state.pc + 1);
                self.settle(*t, state)?;
                changed = true;
            }
        }
        for at in 0..threads.len() {
            let (t, state) = &threads[at];
            let Some(Instr::Barrier(barrier)) = self.instr(*t, state.pc) else { continue };
            let members = self.program.scopes.get(barrier.group).members;
            let is_there = |(u, other): &(usize, ThreadState)| {
                other.phase == 1
                    && matches!(self.instr(*u, other.pc), Some(Instr::Barrier(b))
                        if b.instance == barrier.instance && b.id == barrier.id)
            };
            let of_group = |u: usize| members.contains(litmus::program::ThreadId(u as u8));
            if state.phase == 1 && threads.iter().filter(|(u, _)| of_group(*u)).all(is_there) {
                for (_, other) in threads.iter_mut().filter(|(u, _)| of_group(*u)) {
                    other.phase = 2;
                }
                return self.meet(threads).map(|_| true);
            }
        }
        Ok(changed)
    }
}

fn holds(cmp: BinaryOp, read: Value, value: Value) -> bool {
    cmp.apply(read, value).is_ok_and(|v| v != 0)
}

/// Whether the thread stays at the instruction until the instruction completes.
pub(crate) fn stays(instr: &Instr) -> bool {
    matches!(instr, Instr::Await { .. } | Instr::Barrier(_))
}

/// The registers that the instruction writes when it completes.
pub(crate) fn targets(instr: &Instr) -> [Option<Reg>; 2] {
    match instr {
        Instr::Load { dst, .. } => [Some(*dst), None],
        Instr::Rmw { dst, .. } | Instr::Await { dst, .. } => [*dst, None],
        Instr::Cas(cas) => [cas.dst, cas.success],
        _ => [None, None],
    }
}
