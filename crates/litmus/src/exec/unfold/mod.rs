//! Threads as traces: every way through the code, with values left open.

mod access;
mod barrier;
mod guard;

use crate::exec::set::{EVENTS_MAX, EventSet};
use crate::program::{
    BinaryOp, Dialect, Expr, Instr, LocId, Order, Program, Proxy, RmwOp, Thread, ThreadId, UnaryOp, Value,
    address_value,
};

use super::event::{Event, EventKind, Meeting};
use super::live::live_registers;
use super::sym::Sym;

/// The most instructions of one way through a thread.
const STEPS_MAX: usize = 20_000;
/// The most ways through one thread.
const TRACES_MAX: usize = 10_000;
/// The most steps of all ways together, whether the ways are kept or not.
const ALL_STEPS_MAX: usize = 1_000_000;
/// How deeply a value may be nested.
const VALUE_DEPTH_MAX: usize = 200;

/// One way through a thread.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    pub(crate) events: Vec<Event>,
    /// What each event writes; for reads, themselves.
    pub(crate) values: Vec<Sym>,
    /// For each event the earlier reads that its address, its value and its
    /// being executed depend on.
    pub(crate) addr: Vec<EventSet>,
    pub(crate) data: Vec<EventSet>,
    pub(crate) ctrl: Vec<EventSet>,
    /// What must be true for this way to be taken.
    pub(crate) guards: Vec<Sym>,
    /// The registers at the end.
    pub(crate) registers: Vec<Sym>,
    /// This way leaves the defined behaviour: why, and in which line.
    pub(crate) fault: Option<(&'static str, u32)>,
    /// The thread goes no further: where it stands.
    pub(crate) stands: Option<Stand>,
    /// Holds a round of a loop that changed nothing.
    pub(crate) idle: bool,
    /// Does it show a final state of the thread?
    pub(crate) whole: bool,
}

impl Stand {
    /// Is it in front of a barrier with a count? Others may complete that
    /// barrier without this thread, so it may stand there for ever.
    pub(crate) fn is_counted(&self) -> bool {
        matches!(self, Stand::Barrier(meeting) if meeting.quorum.is_some())
    }
}

/// Where a thread stands still, perhaps for ever.
#[derive(Clone, Debug)]
pub(crate) enum Stand {
    /// In front of an `await`, until the word compares so.
    Await(LocId, BinaryOp, Sym),
    /// In front of a barrier.
    Barrier(Meeting),
    /// Behind a round of a loop that changed nothing, and began with this event.
    Loop(usize),
}

/// All ways through one thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unfolding {
    /// Those to the end, without rounds that change nothing, and those that
    /// stop at a barrier with a count, which may never complete again.
    pub(crate) traces: Vec<Trace>,
    /// The others, if they were asked for. They add no final state, but what
    /// the thread does there may race.
    pub(crate) partial: Vec<Trace>,
    /// Were there too many of these?
    pub(crate) partial_overflow: bool,
    /// Was a way cut because a loop went on beyond the bound?
    pub(crate) cut: bool,
    /// Was a way cut because it had too many events or steps, or because
    /// there were too many ways?
    pub(crate) overflow: bool,
}

#[derive(Clone)]
struct Register {
    value: Sym,
    /// The reads that the value depends on, even if it cancels them out.
    from: EventSet,
}

/// A thread on its way.
#[derive(Clone)]
struct State {
    pc: usize,
    steps: usize,
    registers: Vec<Register>,
    trace: Trace,
    /// Reads that decided branches whose ways have not met again, and where
    /// they will.
    deciding: Vec<(EventSet, Option<usize>)>,
    /// How often each backward jump was taken.
    backward: Vec<(usize, usize)>,
    /// For each loop head passed: how many events there were, and the
    /// registers.
    heads: Vec<(usize, usize, Vec<Register>)>,
    /// How often each barrier was passed.
    rounds: Vec<(Value, Value, u16)>,
    /// For each read that guards narrow down the values that are left.
    left: Vec<(u16, Vec<Value>)>,
}

/// Unfolds `thread`; a backward jump is taken at most `bound` times. `partial`
/// asks for the ways on which it waits, too.
pub(crate) fn unfold(program: &Program, id: ThreadId, bound: usize, partial: bool) -> Unfolding {
    let thread = program.thread(id);
    let registers: Vec<_> = thread
        .registers
        .iter()
        .map(|r| Register { value: Sym::Const(r.init), from: EventSet::EMPTY })
        .collect();
    let start = State {
        pc: 0,
        steps: 0,
        registers,
        trace: Trace {
            events: Vec::new(),
            values: Vec::new(),
            addr: Vec::new(),
            data: Vec::new(),
            ctrl: Vec::new(),
            guards: Vec::new(),
            registers: Vec::new(),
            fault: None,
            stands: None,
            idle: false,
            whole: true,
        },
        deciding: Vec::new(),
        backward: Vec::new(),
        heads: Vec::new(),
        rounds: Vec::new(),
        left: Vec::new(),
    };
    let mut run = Run {
        program,
        thread,
        id,
        bound,
        partial,
        live: live_registers(program, id),
        heads: loop_heads(thread),
        numbers: numbers_of(program),
        held: guard::held_values(program),
        pending: vec![start],
        steps: 0,
        out: Unfolding::default(),
    };
    while let Some(state) = run.pending.pop() {
        if run.out.traces.len() >= TRACES_MAX || run.steps > ALL_STEPS_MAX {
            run.out.overflow = true;
            break;
        }
        run.follow(state);
    }
    run.out
}

fn loop_heads(thread: &Thread) -> Vec<usize> {
    let targets = thread.code.iter().enumerate().filter_map(|(pc, instr)| Some((pc, instr.target()?)));
    let mut heads: Vec<_> = targets.filter(|(pc, target)| target <= pc).map(|(_, target)| target).collect();
    heads.sort_unstable();
    heads.dedup();
    heads
}

/// Every number in the program: the values that an open barrier number or a
/// value out of thin air may take.
pub(crate) fn numbers_of(program: &Program) -> Vec<Value> {
    let mut numbers = vec![0, 1];
    numbers.extend(program.locations.iter().map(|l| l.init));
    let mut of_expr = |expr: &Expr| collect_numbers(expr, &mut numbers);
    for instr in program.threads.iter().flat_map(|t| &t.code) {
        match instr {
            Instr::Store { value, .. } | Instr::Assign { value, .. } | Instr::Await { value, .. } => {
                of_expr(value);
            }
            Instr::Rmw { op, operand, .. } => {
                of_expr(operand);
                if let RmwOp::AddUnless(value) = op {
                    of_expr(&Expr::Const(*value));
                }
            }
            Instr::Cas(cas) => {
                of_expr(&cas.expected);
                of_expr(&cas.desired);
            }
            Instr::Branch { cond, .. } => of_expr(cond),
            Instr::Barrier(barrier) => of_expr(&barrier.id),
            Instr::Load { .. } | Instr::Fence(_) | Instr::Jump { .. } => {}
        }
    }
    let mut terms = Vec::new();
    program.condition.prop.collect_terms(&mut terms);
    if let Some(filter) = &program.filter {
        filter.collect_terms(&mut terms);
    }
    for term in terms {
        if let crate::program::Term::Const(value) = term {
            numbers.push(value);
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

fn collect_numbers(expr: &Expr, numbers: &mut Vec<Value>) {
    match expr {
        Expr::Const(value) => numbers.push(*value),
        Expr::Reg(_) | Expr::Addr(_) => {}
        Expr::Unary(_, a) => collect_numbers(a, numbers),
        Expr::Binary(_, a, b) => {
            collect_numbers(a, numbers);
            collect_numbers(b, numbers);
        }
    }
}

struct Run<'p> {
    program: &'p Program,
    thread: &'p Thread,
    id: ThreadId,
    bound: usize,
    /// Are the ways asked for on which it waits?
    partial: bool,
    /// For each position the registers that matter there.
    live: Vec<Vec<bool>>,
    /// The targets of backward jumps.
    heads: Vec<usize>,
    numbers: Vec<Value>,
    /// For each word the values that it may hold, if they are known.
    held: Vec<Option<Vec<Value>>>,
    pending: Vec<State>,
    /// The steps of all ways so far.
    steps: usize,
    out: Unfolding,
}

/// What happens to a state next.
enum Next {
    Go,
    Stop,
}

impl Run<'_> {
    /// Follows one way to its end; other ways wait in `pending`.
    fn follow(&mut self, mut state: State) {
        loop {
            if state.pc >= self.thread.code.len() {
                state.trace.registers = state.registers.into_iter().map(|r| r.value).collect();
                self.keep(state.trace);
                return;
            }
            state.steps += 1;
            self.steps += 1;
            let deep = state.registers.iter().any(|r| r.value.depth() > VALUE_DEPTH_MAX);
            if state.steps > STEPS_MAX || state.trace.events.len() + 4 > EVENTS_MAX || deep {
                self.out.overflow = true;
                return;
            }
            let pc = state.pc;
            state.deciding.retain(|&(_, join)| join != Some(pc));
            if self.heads.contains(&pc) {
                state.heads.retain(|(head, ..)| *head != pc);
                state.heads.push((pc, state.trace.events.len(), state.registers.clone()));
            }
            if matches!(self.step(&mut state), Next::Stop) {
                return;
            }
        }
    }

    /// Keeps a way, unless it can never be taken.
    fn keep(&mut self, trace: Trace) {
        if trace.guards.iter().all(|guard| guard.constant() != Some(0)) {
            if trace.whole {
                self.out.traces.push(trace);
            } else if self.out.partial.len() < TRACES_MAX {
                self.out.partial.push(trace);
            } else {
                self.out.partial_overflow = true;
            }
        }
    }

    /// Keeps the way on which the thread goes no further.
    fn stand(&mut self, state: &State, at: Stand) {
        // The models of OpenCL count no final state where a thread waits.
        let whole = at.is_counted() && !state.trace.idle && self.program.dialect != Dialect::OpenCl;
        if self.partial || whole {
            let mut trace = state.trace.clone();
            trace.whole = whole;
            trace.registers = state.registers.iter().map(|r| r.value.clone()).collect();
            trace.stands = Some(at);
            self.keep(trace);
        }
    }

    fn step(&mut self, state: &mut State) -> Next {
        let instr = &self.thread.code[state.pc];
        let pc = state.pc;
        state.pc += 1;
        if !self.is_defined(state, pc, instr) {
            return Next::Stop;
        }
        match instr {
            Instr::Assign { dst, value } => {
                let value = evaluate(state, value);
                state.registers[usize::from(dst.0)] = value;
                Next::Go
            }
            Instr::Jump { target } => self.jump(state, pc, *target),
            Instr::Branch { cond, target, join } => self.branch(state, pc, cond, *target, *join),
            Instr::Fence(fence) => {
                let mut event = self.event(EventKind::Fence, pc);
                event.order = fence.order;
                event.scope = fence.scope;
                event.fence_proxy = fence.proxy;
                event.remote = fence.remote;
                (event.global, event.local) = (fence.global, fence.local);
                event.tags = fence.tags.clone();
                match &fence.section {
                    None => push(state, event, Sym::Const(0), EventSet::EMPTY, EventSet::EMPTY),
                    Some(section) => self.section(state, event, section),
                }
                Next::Go
            }
            Instr::Barrier(barrier) => self.barrier(state, pc, barrier),
            Instr::Load { access, .. }
            | Instr::Store { access, .. }
            | Instr::Rmw { access, .. }
            | Instr::Await { access, .. } => self.memory(state, pc, access),
            Instr::Cas(cas) => self.memory(state, pc, &cas.access),
        }
    }

    fn jump(&mut self, state: &mut State, pc: usize, target: usize) -> Next {
        state.pc = target;
        if target > pc {
            return Next::Go;
        }
        // A round that wrote nothing and left nothing behind was idle: the way
        // without it ends in the same states. What it read may race, though.
        let live = &self.live[target];
        if let Some((_, since, registers)) = state.heads.iter().rfind(|(head, ..)| *head == target) {
            let wrote = state.trace.events[*since..].iter().any(|e| e.writes() || e.meeting.is_some());
            let same = registers
                .iter()
                .zip(&state.registers)
                .zip(live)
                .all(|((old, new), live)| !live || (old.value == new.value && old.from == new.from));
            if !wrote && same {
                let read = state.trace.events.len() > *since;
                let since = *since;
                self.stand(state, Stand::Loop(since));
                // Of several such rounds any one could be the only one.
                let first = !core::mem::replace(&mut state.trace.idle, true);
                state.trace.whole = false;
                return if self.partial && read && first { Next::Go } else { Next::Stop };
            }
        }
        let taken = match state.backward.iter_mut().find(|(at, _)| *at == pc) {
            Some((_, taken)) => {
                *taken += 1;
                *taken
            }
            None => {
                state.backward.push((pc, 1));
                1
            }
        };
        if taken > self.bound {
            self.out.cut = true;
            return Next::Stop;
        }
        Next::Go
    }

    fn branch(
        &mut self,
        state: &mut State,
        pc: usize,
        cond: &Expr,
        target: usize,
        join: Option<usize>,
    ) -> Next {
        let Register { value, from } = evaluate(state, cond);
        if !from.is_empty() {
            state.deciding.push((from, join));
        }
        match value.constant() {
            Some(0) => Next::Go,
            Some(_) => self.jump(state, pc, target),
            None => {
                let mut other = state.clone();
                if self.admit(&mut other, Sym::unary(UnaryOp::Not, value.clone())) {
                    self.pending.push(other);
                }
                if self.admit(state, value) { self.jump(state, pc, target) } else { Next::Stop }
            }
        }
    }

    fn event(&self, kind: EventKind, pc: usize) -> Event {
        Event {
            thread: Some(self.id),
            instr: pc,
            line: self.thread.lines.get(pc).copied().unwrap_or(0),
            kind,
            loc: None,
            order: Order::Plain,
            scope: None,
            proxy: Proxy::Generic,
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
}

/// Appends an event with its dependencies.
fn push(state: &mut State, event: Event, value: Sym, addr: EventSet, data: EventSet) {
    let ctrl = state.deciding.iter().fold(EventSet::EMPTY, |set, (from, _)| set | *from);
    state.trace.events.push(event);
    state.trace.values.push(value);
    state.trace.addr.push(addr);
    state.trace.data.push(data);
    state.trace.ctrl.push(ctrl);
}

fn evaluate(state: &State, expr: &Expr) -> Register {
    match expr {
        Expr::Const(value) => Register { value: Sym::Const(*value), from: EventSet::EMPTY },
        Expr::Addr(loc) => Register { value: Sym::Const(address_value(*loc)), from: EventSet::EMPTY },
        Expr::Reg(reg) => state.registers[usize::from(reg.0)].clone(),
        Expr::Unary(op, a) => {
            let a = evaluate(state, a);
            Register { value: Sym::unary(*op, a.value), from: a.from }
        }
        Expr::Binary(op, a, b) => {
            let (a, b) = (evaluate(state, a), evaluate(state, b));
            Register { value: Sym::binary(*op, a.value, b.value), from: a.from | b.from }
        }
    }
}
