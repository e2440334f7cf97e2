//! Threads as traces: every way through the code, with values left open.

use crate::program::{
    Access, Barrier, BinaryOp, Dialect, Expr, Instr, LocId, Order, Program, Proxy, Thread, ThreadId, UnaryOp,
    Value, address_value, value_address,
};

use super::event::{Event, EventKind, Meeting};
use super::live::live_registers;
use super::matrix::EVENTS_MAX;
use super::sym::Sym;

/// The most instructions of one way through a thread.
const STEPS_MAX: usize = 20_000;
/// The most ways through one thread.
const TRACES_MAX: usize = 10_000;
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
    pub(crate) addr: Vec<u64>,
    pub(crate) data: Vec<u64>,
    pub(crate) ctrl: Vec<u64>,
    /// What must be true for this way to be taken.
    pub(crate) guards: Vec<Sym>,
    /// The registers at the end.
    pub(crate) registers: Vec<Sym>,
    /// This way leaves the defined behaviour: why, and in which line.
    pub(crate) fault: Option<(&'static str, u32)>,
}

/// All ways through one thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unfolding {
    pub(crate) traces: Vec<Trace>,
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
    from: u64,
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
    deciding: Vec<(u64, Option<usize>)>,
    /// How often each backward jump was taken.
    backward: Vec<(usize, usize)>,
    /// For each loop head passed: how many events there were, and the
    /// registers.
    heads: Vec<(usize, usize, Vec<Register>)>,
    /// How often each barrier was passed.
    rounds: Vec<(Value, Value, u16)>,
}

/// Unfolds `thread`; a backward jump is taken at most `bound` times.
pub(crate) fn unfold(program: &Program, id: ThreadId, bound: usize) -> Unfolding {
    let thread = program.thread(id);
    let registers: Vec<_> =
        thread.registers.iter().map(|r| Register { value: Sym::Const(r.init), from: 0 }).collect();
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
        },
        deciding: Vec::new(),
        backward: Vec::new(),
        heads: Vec::new(),
        rounds: Vec::new(),
    };
    let mut run = Run {
        program,
        thread,
        id,
        bound,
        live: live_registers(program, id),
        heads: loop_heads(thread),
        numbers: numbers_of(program),
        pending: vec![start],
        out: Unfolding::default(),
    };
    while let Some(state) = run.pending.pop() {
        if run.out.traces.len() >= TRACES_MAX {
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
            Instr::Rmw { operand, .. } => of_expr(operand),
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
    /// For each position the registers that matter there.
    live: Vec<Vec<bool>>,
    /// The targets of backward jumps.
    heads: Vec<usize>,
    numbers: Vec<Value>,
    pending: Vec<State>,
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
            let deep = state.registers.iter().any(|r| r.value.depth() > VALUE_DEPTH_MAX);
            if state.steps > STEPS_MAX || state.trace.events.len() + 2 > EVENTS_MAX || deep {
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
            self.out.traces.push(trace);
        }
    }

    fn step(&mut self, state: &mut State) -> Next {
        let instr = &self.thread.code[state.pc];
        let pc = state.pc;
        state.pc += 1;
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
                push(state, event, Sym::Const(0), 0, 0);
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
        // without it shows all that this way can show.
        let live = &self.live[target];
        if let Some((_, since, registers)) = state.heads.iter().rfind(|(head, ..)| *head == target) {
            let wrote = state.trace.events[*since..].iter().any(|e| e.writes() || e.meeting.is_some());
            let same = registers
                .iter()
                .zip(&state.registers)
                .zip(live)
                .all(|((old, new), live)| !live || (old.value == new.value && old.from == new.from));
            if !wrote && same {
                return Next::Stop;
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
        if from != 0 {
            state.deciding.push((from, join));
        }
        match value.constant() {
            Some(0) => Next::Go,
            Some(_) => self.jump(state, pc, target),
            None => {
                let mut other = state.clone();
                other.trace.guards.push(Sym::unary(UnaryOp::Not, value.clone()));
                self.pending.push(other);
                state.trace.guards.push(value);
                self.jump(state, pc, target)
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
            rmw: false,
            global: false,
            local: false,
            meeting: None,
            tags: Vec::new(),
        }
    }

    fn barrier(&mut self, state: &mut State, pc: usize, barrier: &Barrier) -> Next {
        let Register { value: id, from } = evaluate(state, &barrier.id);
        let quorum = barrier.quorum.as_ref().map(|q| evaluate(state, q));
        if from != 0 {
            state.deciding.push((from, None));
        }
        let Some(id) = id.constant() else {
            // The number is open: try each number of the program.
            for &number in &self.numbers {
                let mut other = state.clone();
                other.trace.guards.push(Sym::binary(BinaryOp::Eq, id.clone(), Sym::Const(number)));
                self.pass_barrier(&mut other, pc, barrier, number, quorum.as_ref());
                self.pending.push(other);
            }
            return Next::Stop;
        };
        self.pass_barrier(state, pc, barrier, id, quorum.as_ref());
        Next::Go
    }

    fn pass_barrier(
        &self,
        state: &mut State,
        pc: usize,
        barrier: &Barrier,
        id: Value,
        quorum: Option<&Register>,
    ) {
        let round = match state.rounds.iter_mut().find(|(i, n, _)| (*i, *n) == (barrier.instance, id)) {
            Some((_, _, round)) => {
                *round += 1;
                *round
            }
            None => {
                state.rounds.push((barrier.instance, id, 0));
                0
            }
        };
        let meeting = Meeting {
            group: barrier.group,
            instance: barrier.instance,
            id,
            round,
            quorum: quorum.and_then(|q| q.value.constant()),
            arrive: barrier.arrive,
        };
        let kinds: &[EventKind] = if self.program.dialect == Dialect::OpenCl {
            &[EventKind::BarrierEntry, EventKind::BarrierExit]
        } else {
            &[EventKind::Barrier]
        };
        for &kind in kinds {
            let mut event = self.event(kind, pc);
            event.order = match kind {
                EventKind::BarrierEntry => Order::Release,
                EventKind::BarrierExit => Order::Acquire,
                _ => barrier.order,
            };
            event.scope = Some(barrier.scope);
            (event.global, event.local) = (barrier.global, barrier.local);
            event.meeting = Some(meeting);
            event.tags = barrier.tags.clone();
            push(state, event, Sym::Const(0), 0, 0);
        }
    }

    /// An access; its address may have to be guessed first.
    fn memory(&mut self, state: &mut State, pc: usize, access: &Access) -> Next {
        let address = evaluate(state, &access.address);
        let line = self.thread.lines.get(pc).copied().unwrap_or(0);
        if let Some(value) = address.value.constant() {
            let home = access.address_home();
            return match self.resolve(value, home) {
                Some(loc) => self.access(state, pc, access, loc, address.from),
                None => {
                    state.trace.fault = Some(("an access outside of the test's memory", line));
                    self.fault(state)
                }
            };
        }
        let candidates = self.candidates(&address.value);
        let mut outside = state.clone();
        for loc in candidates {
            let same = Sym::binary(BinaryOp::Eq, address.value.clone(), Sym::Const(address_value(loc)));
            let differs = Sym::unary(UnaryOp::Not, same.clone());
            outside.trace.guards.push(differs);
            let mut here = state.clone();
            here.trace.guards.push(same);
            if matches!(self.access(&mut here, pc, access, loc, address.from), Next::Go) {
                self.pending.push(here);
            }
        }
        outside.trace.fault = Some(("an access outside of the test's memory", line));
        self.fault(&mut outside)
    }

    fn fault(&mut self, state: &mut State) -> Next {
        state.trace.registers = state.registers.iter().map(|r| r.value.clone()).collect();
        self.keep(state.trace.clone());
        Next::Stop
    }

    /// The location at an address. An address computed from an array stays in
    /// that array.
    fn resolve(&self, value: Value, home: Option<LocId>) -> Option<LocId> {
        let loc = value_address(value)?;
        let location = self.program.locations.get(usize::from(loc.0))?;
        match home {
            Some(home) if self.program.loc(home).object != location.object => None,
            _ => Some(loc),
        }
    }

    /// Where an open address may point: into the array it is computed from,
    /// or anywhere.
    fn candidates(&self, address: &Sym) -> Vec<LocId> {
        let base = base_of(address).and_then(value_address);
        let base = base.and_then(|loc| self.program.locations.get(usize::from(loc.0)));
        (0..self.program.locations.len() as u16)
            .map(LocId)
            .filter(|&loc| base.is_none_or(|base| base.object == self.program.loc(loc).object))
            .collect()
    }

    fn access(&mut self, state: &mut State, pc: usize, access: &Access, loc: LocId, addr: u64) -> Next {
        let mut event = self.event(EventKind::Read, pc);
        event.loc = Some(loc);
        event.order = access.order;
        event.scope = access.scope;
        event.proxy = access.proxy;
        event.remote = access.remote;
        event.tags = access.tags.clone();
        let read = Sym::Read(state.trace.events.len() as u16);
        let read_register = Register { value: read.clone(), from: 1 << state.trace.events.len() };
        match &self.thread.code[pc] {
            Instr::Load { dst, .. } => {
                push(state, event, read, addr, 0);
                state.registers[usize::from(dst.0)] = read_register;
            }
            Instr::Store { value, .. } => {
                let value = evaluate(state, value);
                event.kind = EventKind::Write;
                push(state, event, value.value, addr, value.from);
            }
            Instr::Await { dst, cmp, value, .. } => {
                let wanted = evaluate(state, value);
                push(state, event, read.clone(), addr, 0);
                state.trace.guards.push(Sym::binary(*cmp, read, wanted.value));
                state.deciding.push((read_register.from | wanted.from, None));
                if let Some(dst) = dst {
                    state.registers[usize::from(dst.0)] = read_register;
                }
            }
            Instr::Rmw { dst, op, operand, .. } => {
                let operand = evaluate(state, operand);
                event.rmw = true;
                let mut write = event.clone();
                write.kind = EventKind::Write;
                push(state, event, read.clone(), addr, 0);
                let new = Sym::rmw(*op, read, operand.value);
                let mut data = operand.from;
                if *op != crate::program::RmwOp::Exchange {
                    data |= read_register.from;
                }
                push(state, write, new, addr, data);
                if let Some(dst) = dst {
                    state.registers[usize::from(dst.0)] = read_register;
                }
            }
            Instr::Cas(cas) => {
                let expected = evaluate(state, &cas.expected);
                let desired = evaluate(state, &cas.desired);
                self.cas_failure(state, cas, event.clone(), &expected, addr);
                event.rmw = true;
                let mut write = event.clone();
                write.kind = EventKind::Write;
                push(state, event, read.clone(), addr, 0);
                state.trace.guards.push(Sym::binary(BinaryOp::Eq, read, expected.value.clone()));
                push(state, write, desired.value, addr, desired.from);
                let last = state.trace.events.len() - 1;
                state.trace.ctrl[last] |= read_register.from | expected.from;
                set_cas(state, cas, read_register, 1, expected.from);
            }
            _ => {}
        }
        Next::Go
    }

    /// The way on which a compare-and-swap only reads.
    fn cas_failure(
        &mut self,
        state: &State,
        cas: &crate::program::Cas,
        mut event: Event,
        expected: &Register,
        addr: u64,
    ) {
        let mut state = state.clone();
        let at = state.trace.events.len();
        let read = Sym::Read(at as u16);
        event.order = cas.order_failure;
        push(&mut state, event, read.clone(), addr, 0);
        if !cas.weak {
            let same = Sym::binary(BinaryOp::Eq, read.clone(), expected.value.clone());
            state.trace.guards.push(Sym::unary(UnaryOp::Not, same));
        }
        set_cas(&mut state, cas, Register { value: read, from: 1 << at }, 0, expected.from);
        self.pending.push(state);
    }
}

fn set_cas(state: &mut State, cas: &crate::program::Cas, read: Register, success: Value, from: u64) {
    if let Some(dst) = cas.success {
        let from = read.from | from;
        state.registers[usize::from(dst.0)] = Register { value: Sym::Const(success), from };
    }
    if let Some(dst) = cas.dst {
        state.registers[usize::from(dst.0)] = read;
    }
}

/// Appends an event with its dependencies.
fn push(state: &mut State, event: Event, value: Sym, addr: u64, data: u64) {
    let ctrl = state.deciding.iter().fold(0, |set, (from, _)| set | from);
    state.trace.events.push(event);
    state.trace.values.push(value);
    state.trace.addr.push(addr);
    state.trace.data.push(data);
    state.trace.ctrl.push(ctrl);
}

fn evaluate(state: &State, expr: &Expr) -> Register {
    match expr {
        Expr::Const(value) => Register { value: Sym::Const(*value), from: 0 },
        Expr::Addr(loc) => Register { value: Sym::Const(address_value(*loc)), from: 0 },
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

/// The constant address in a sum, if there is one.
fn base_of(address: &Sym) -> Option<Value> {
    match address {
        Sym::Const(value) => value_address(*value).map(|_| *value),
        Sym::Binary(BinaryOp::Add, a, b) => base_of(a).or_else(|| base_of(b)),
        Sym::Binary(BinaryOp::Sub, a, _) => base_of(a),
        _ => None,
    }
}

impl Access {
    /// The location from which the address is computed.
    fn address_home(&self) -> Option<LocId> {
        fn home(expr: &Expr) -> Option<LocId> {
            match expr {
                Expr::Addr(loc) => Some(*loc),
                Expr::Binary(BinaryOp::Add, a, b) => home(a).or_else(|| home(b)),
                Expr::Binary(BinaryOp::Sub, a, _) => home(a),
                _ => None,
            }
        }
        home(&self.address)
    }
}
