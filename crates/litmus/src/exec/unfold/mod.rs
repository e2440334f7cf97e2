//! Unfolds threads into traces. A trace is one path through the code of a thread, with symbolic
//! values for reads.

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

/// The maximum number of instructions on one path through a thread.
const STEPS_MAX: usize = 20_000;
/// The maximum number of paths through one thread.
const TRACES_MAX: usize = 10_000;
/// The maximum number of instructions on all paths together, including paths that are dropped.
const ALL_STEPS_MAX: usize = 1_000_000;
/// The maximum nesting depth of a symbolic value.
const VALUE_DEPTH_MAX: usize = 200;

/// One path through a thread.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    pub(crate) events: Vec<Event>,
    /// For each event, the value that it writes. For a read, the symbol of the value that it reads.
    pub(crate) values: Vec<Sym>,
    /// For each event, the earlier reads on which its address depends. The field `data` holds the
    /// reads on which its value depends, and `ctrl` the reads on which its execution depends.
    pub(crate) addr: Vec<EventSet>,
    pub(crate) data: Vec<EventSet>,
    pub(crate) ctrl: Vec<EventSet>,
    /// The conditions under which the thread takes the path.
    pub(crate) guards: Vec<Sym>,
    /// The values of the registers at the end of the path.
    pub(crate) registers: Vec<Sym>,
    /// The undefined behaviour on the path: its reason and its source line. `None` if the path has
    /// no undefined behaviour.
    pub(crate) fault: Option<(&'static str, u32)>,
    /// The point where the thread waits at the end of the path. `None` if the thread does not wait.
    pub(crate) waits_at: Option<WaitPoint>,
    /// Whether the path has a loop iteration that has no effect.
    pub(crate) idle: bool,
    /// Whether the path gives a final state of the thread.
    pub(crate) whole: bool,
}

impl WaitPoint {
    /// Whether the thread waits at a barrier with a count, which completes when a given number of
    /// threads has arrived. Other threads may complete that barrier without this thread, so the
    /// thread may wait there for ever.
    pub(crate) fn is_counted(&self) -> bool {
        matches!(self, WaitPoint::Barrier(meeting) if meeting.quorum.is_some())
    }
}

/// A point where a thread waits, perhaps for ever.
#[derive(Clone, Debug)]
pub(crate) enum WaitPoint {
    /// The thread waits at an `await` until the comparison holds for the word.
    Await(LocId, BinaryOp, Sym),
    /// The thread waits at a barrier.
    Barrier(Meeting),
    /// The thread repeats a loop iteration that has no effect. The field is the number of the first
    /// event of this iteration.
    Loop(usize),
}

/// All paths through one thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unfolding {
    /// The paths that reach the end and have no loop iteration without an effect. Also the paths
    /// that wait at a barrier with a count (a given number of threads).
    pub(crate) traces: Vec<Trace>,
    /// The paths on which the thread waits or has a loop iteration without an effect, if the caller
    /// requests them. These paths add no final state, but their accesses may race.
    pub(crate) partial: Vec<Trace>,
    /// Whether some of the paths in `partial` are missing, because there were too many.
    pub(crate) partial_overflow: bool,
    /// Whether a path was cut because it took the same backward jump too often.
    pub(crate) cut: bool,
    /// Whether a path was cut because it had too many events or instructions, or
    /// because there were too many paths.
    pub(crate) overflow: bool,
}

#[derive(Clone)]
struct Register {
    value: Sym,
    /// The reads that the value was computed from, including reads that no longer occur in `value`.
    from: EventSet,
}

/// The state of a thread on a path.
#[derive(Clone)]
struct State {
    pc: usize,
    steps: usize,
    registers: Vec<Register>,
    trace: Trace,
    /// The branches on which the execution of the next instruction depends. An entry has the reads
    /// on which the branch condition depends, and the position in the code where the two sides of
    /// the branch join. The entry is removed when the path reaches that position.
    deciding: Vec<(EventSet, Option<usize>)>,
    /// The position of each backward jump that the path took, and the number of times that it took
    /// the jump.
    backward: Vec<(usize, usize)>,
    /// For each loop head (target of a backward jump) that the path passed: its position in the
    /// code, and two facts about the time when the path last passed the loop head: the number of
    /// events on the path, and the contents of the registers.
    heads: Vec<(usize, usize, Vec<Register>)>,
    /// For each barrier (its instance number and its resource number), the number of times that the
    /// path passed it.
    rounds: Vec<(Value, Value, u16)>,
    /// The reads whose values the conditions of the path restrict, each with the values that are
    /// still possible.
    left: Vec<(u16, Vec<Value>)>,
}

/// Unfolds a thread. A backward jump is taken at most `bound` times. `partial` requests also the
/// paths on which the thread waits or has a loop iteration without an effect.
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
            waits_at: None,
            idle: false,
            whole: true,
        },
        deciding: Vec::new(),
        backward: Vec::new(),
        heads: Vec::new(),
        rounds: Vec::new(),
        left: Vec::new(),
    };
    let mut run = Unfolder {
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

/// Every number in the program. A barrier number that depends on reads, and a value that depends on
/// itself, can only be one of these numbers.
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

struct Unfolder<'p> {
    program: &'p Program,
    thread: &'p Thread,
    id: ThreadId,
    bound: usize,
    /// Whether the caller requests also the paths on which the thread waits or has a loop iteration
    /// without an effect.
    partial: bool,
    /// For each position in the code, whether each register is live (may still be read).
    live: Vec<Vec<bool>>,
    /// The positions that are targets of backward jumps.
    heads: Vec<usize>,
    numbers: Vec<Value>,
    /// For each word, the values that the word may hold. `None` if they are not known.
    held: Vec<Option<Vec<Value>>>,
    pending: Vec<State>,
    /// The number of instructions executed so far on all paths.
    steps: usize,
    out: Unfolding,
}

/// Says whether the unfolding goes on with the current path or stops it.
enum Next {
    Go,
    Stop,
}

impl Unfolder<'_> {
    /// Follows one path to its end. Adds further paths to `pending` where the path splits.
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

    /// Adds a finished path to the results, unless its guards (the conditions under which it is
    /// taken) make it impossible.
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

    /// Adds a copy of the path to the results. The copy ends because the thread waits at `at`.
    fn wait_at(&mut self, state: &State, at: WaitPoint) {
        // In the models of OpenCL, a waiting thread has no final state.
        let whole = at.is_counted() && !state.trace.idle && self.program.dialect != Dialect::OpenCl;
        if self.partial || whole {
            let mut trace = state.trace.clone();
            trace.whole = whole;
            trace.registers = state.registers.iter().map(|r| r.value.clone()).collect();
            trace.waits_at = Some(at);
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
        // An iteration has no effect if it has no writes and leaves the live registers unchanged.
        // The path without the iteration has the same final states, but the reads of the iteration
        // may race.
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
                self.wait_at(state, WaitPoint::Loop(since));
                // A path goes on after only one iteration without an effect. This loses no race:
                // for each such iteration there is a path on which it is the only one.
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

/// Appends an event to the path, with the reads on which its address, its value and its execution
/// depend.
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
