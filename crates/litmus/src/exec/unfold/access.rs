//! Unfolds accesses to memory (adds their events to a path), including accesses whose addresses
//! depend on reads.

use super::{Next, Register, State, Unfolder, WaitPoint, evaluate, push};
use crate::exec::event::{Event, EventKind};
use crate::exec::set::EventSet;
use crate::exec::sym::Sym;
use crate::program::{
    Access, BinaryOp, Dialect, Expr, Instr, LocId, Order, Reg, RmwOp, Section, UnaryOp, Value, address_value,
    value_address,
};

impl Unfolder<'_> {
    /// Adds an access to the path. If its address depends on reads, the path is split: each
    /// possible location gives one path.
    pub(super) fn memory(&mut self, state: &mut State, pc: usize, access: &Access) -> Next {
        let address = evaluate(state, &access.address);
        let line = self.thread.lines.get(pc).copied().unwrap_or(0);
        if let Some(value) = address.value.constant() {
            let base = access.base_location();
            return match self.resolve(value, base) {
                Some(loc) => self.access(state, pc, access, loc, address.from),
                None => {
                    state.trace.fault = Some(("an access outside of the test's memory", line));
                    self.leave(state)
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
        self.leave(&mut outside)
    }

    /// Ends the path of `state`, because undefined behaviour ends it.
    pub(super) fn leave(&mut self, state: &mut State) -> Next {
        state.trace.registers = state.registers.iter().map(|r| r.value.clone()).collect();
        self.keep(state.trace.clone());
        Next::Stop
    }

    /// The location at the address `value`. `None` if there is no such location. If `base` is
    /// given, the location must be in the array that contains `base`.
    fn resolve(&self, value: Value, base: Option<LocId>) -> Option<LocId> {
        let loc = value_address(value)?;
        let location = self.program.locations.get(usize::from(loc.0))?;
        match base {
            Some(base) if self.program.loc(base).object != location.object => None,
            _ => Some(loc),
        }
    }

    /// The locations that a symbolic address may denote. If the address is computed from an array,
    /// these are the locations of the array. Otherwise these are all locations.
    fn candidates(&self, address: &Sym) -> Vec<LocId> {
        let base = base_of(address).and_then(value_address);
        let base = base.and_then(|loc| self.program.locations.get(usize::from(loc.0)));
        (0..self.program.locations.len() as u16)
            .map(LocId)
            .filter(|&loc| base.is_none_or(|base| base.object == self.program.loc(loc).object))
            .collect()
    }

    /// Adds a fence event for one word, such as the start or the end of an SRCU read-side critical
    /// section. If the fence takes a key (the value that the start of the section has returned),
    /// the event has a data dependency on the reads on which the key depends.
    pub(super) fn section(&self, state: &mut State, mut event: Event, section: &Section) {
        let address = evaluate(state, &section.address);
        event.loc = address.value.constant().and_then(value_address);
        let key = section.key.as_ref().map(|key| evaluate(state, key).from).unwrap_or_default();
        let at = state.trace.events.len();
        push(state, event, Sym::Const(0), address.from, key);
        if let Some(dst) = section.dst {
            state.registers[usize::from(dst.0)] = Register { value: Sym::Const(0), from: EventSet::only(at) };
        }
    }

    /// Sets the annotations of the read and the write that form a read-modify-write of the Linux
    /// kernel. If the read-modify-write is fully ordered, returns the fence to add before and after
    /// it, otherwise `None`.
    fn halves(&self, read: &mut Event, write: &mut Event) -> Option<Event> {
        if self.program.dialect != Dialect::C11 {
            return None;
        }
        let tag = read.tags.first().cloned()?;
        let (of_read, of_write) = match tag.as_str() {
            "mb" => ("once", "once"),
            "acquire" => ("acquire", "once"),
            "release" => ("once", "release"),
            "noreturn" => ("noreturn", "once"),
            "LKR" => ("LKR", "LKW"),
            _ => return None,
        };
        let fence = Event { kind: EventKind::Fence, loc: None, rmw: false, ..read.clone() };
        read.tags = vec![of_read.to_owned()];
        write.tags = vec![of_write.to_owned()];
        (tag == "mb").then_some(fence)
    }

    fn access(&mut self, state: &mut State, pc: usize, access: &Access, loc: LocId, addr: EventSet) -> Next {
        let mut event = self.event(EventKind::Read, pc);
        event.loc = Some(loc);
        event.order = access.order;
        event.scope = access.scope;
        event.proxy = access.proxy;
        event.remote = access.remote;
        event.commutative = access.commutative;
        event.tags = access.tags.clone();
        let mut write = Event { kind: EventKind::Write, rmw: true, ..event.clone() };
        let is_rmw = matches!(self.thread.code[pc], Instr::Rmw { .. } | Instr::Cas(_));
        let fence = if is_rmw { self.halves(&mut event, &mut write) } else { None };
        if let Instr::Cas(cas) = &self.thread.code[pc] {
            let expected = evaluate(state, &cas.expected);
            self.cas_failure(state, cas, event.clone(), &expected, addr);
        }
        if let Instr::Rmw { dst, op: RmwOp::AddUnless(value), .. } = &self.thread.code[pc] {
            self.add_failure(state, *dst, *value, event.clone(), addr);
        }
        event.rmw = is_rmw;
        if let Some(fence) = &fence {
            push(state, fence.clone(), Sym::Const(0), EventSet::EMPTY, EventSet::EMPTY);
        }
        let read = Sym::Read(state.trace.events.len() as u16);
        let read_register = Register { value: read.clone(), from: EventSet::only(state.trace.events.len()) };
        match &self.thread.code[pc] {
            Instr::Load { dst, .. } => {
                push(state, event, read, addr, EventSet::EMPTY);
                state.registers[usize::from(dst.0)] = read_register;
            }
            Instr::Store { value, .. } => {
                let value = evaluate(state, value);
                event.kind = EventKind::Write;
                push(state, event, value.value, addr, value.from);
            }
            Instr::Await { dst, cmp, value, .. } => {
                let wanted = evaluate(state, value);
                self.wait_at(state, WaitPoint::Await(loc, *cmp, wanted.value.clone()));
                push(state, event, read.clone(), addr, EventSet::EMPTY);
                if !self.admit(state, Sym::binary(*cmp, read, wanted.value)) {
                    return Next::Stop;
                }
                state.deciding.push((read_register.from | wanted.from, None));
                if let Some(dst) = dst {
                    state.registers[usize::from(dst.0)] = read_register;
                }
            }
            Instr::Rmw { dst, op, operand, .. } => {
                let operand = evaluate(state, operand);
                push(state, event, read.clone(), addr, EventSet::EMPTY);
                if let RmwOp::AddUnless(value) = op {
                    let differs = Sym::binary(BinaryOp::Ne, read.clone(), Sym::Const(*value));
                    if !self.admit(state, differs) {
                        return Next::Stop;
                    }
                }
                let new = Sym::rmw(*op, read, operand.value);
                let mut data = operand.from;
                if *op != RmwOp::Exchange {
                    data |= read_register.from;
                }
                push(state, write, new, addr, data);
                if matches!(op, RmwOp::AddUnless(_)) {
                    let last = state.trace.events.len() - 1;
                    state.trace.ctrl[last] |= read_register.from;
                }
                if let Some(dst) = dst {
                    state.registers[usize::from(dst.0)] = read_register;
                }
            }
            Instr::Cas(cas) => {
                let expected = evaluate(state, &cas.expected);
                let desired = evaluate(state, &cas.desired);
                push(state, event, read.clone(), addr, EventSet::EMPTY);
                if !self.admit(state, Sym::binary(BinaryOp::Eq, read, expected.value.clone())) {
                    return Next::Stop;
                }
                push(state, write, desired.value, addr, desired.from);
                let last = state.trace.events.len() - 1;
                state.trace.ctrl[last] |= read_register.from | expected.from;
                set_cas(state, cas, read_register, 1, expected.from);
            }
            _ => {}
        }
        if let Some(fence) = fence {
            push(state, fence, Sym::Const(0), EventSet::EMPTY, EventSet::EMPTY);
        }
        Next::Go
    }

    /// Adds the path on which an `AddUnless` (an addition that happens unless the word has a given
    /// value) reads the given value and does not write.
    fn add_failure(
        &mut self,
        state: &State,
        dst: Option<Reg>,
        value: Value,
        mut event: Event,
        addr: EventSet,
    ) {
        let mut state = state.clone();
        let at = state.trace.events.len();
        let read = Sym::Read(at as u16);
        event.order = Order::Relaxed;
        event.tags = vec![String::from("once")];
        push(&mut state, event, read.clone(), addr, EventSet::EMPTY);
        if self.admit(&mut state, Sym::binary(BinaryOp::Eq, read.clone(), Sym::Const(value))) {
            if let Some(dst) = dst {
                state.registers[usize::from(dst.0)] = Register { value: read, from: EventSet::only(at) };
            }
            self.pending.push(state);
        }
    }

    /// Adds the path on which a compare-and-swap fails.
    fn cas_failure(
        &mut self,
        state: &State,
        cas: &crate::program::Cas,
        mut event: Event,
        expected: &Register,
        addr: EventSet,
    ) {
        let mut state = state.clone();
        let at = state.trace.events.len();
        let read = Sym::Read(at as u16);
        event.order = cas.order_failure;
        // A failed compare-and-swap of the Linux kernel is a read without ordering, whatever its
        // annotation.
        if self.program.dialect == Dialect::C11
            && let Some(tag) = event.tags.first_mut()
        {
            *tag = String::from(if tag == "LKR" { "LF" } else { "once" });
        }
        push(&mut state, event, read.clone(), addr, EventSet::EMPTY);
        if !cas.weak {
            let same = Sym::binary(BinaryOp::Eq, read.clone(), expected.value.clone());
            if !self.admit(&mut state, Sym::unary(UnaryOp::Not, same)) {
                return;
            }
        }
        set_cas(&mut state, cas, Register { value: read, from: EventSet::only(at) }, 0, expected.from);
        self.pending.push(state);
    }
}

fn set_cas(state: &mut State, cas: &crate::program::Cas, read: Register, success: Value, from: EventSet) {
    if let Some(dst) = cas.success {
        let from = read.from | from;
        state.registers[usize::from(dst.0)] = Register { value: Sym::Const(success), from };
    }
    if let Some(dst) = cas.dst {
        state.registers[usize::from(dst.0)] = read;
    }
}

/// The address of the location from which `address` is computed by additions and subtractions.
/// `None` if there is no such location.
fn base_of(address: &Sym) -> Option<Value> {
    match address {
        Sym::Const(value) => value_address(*value).map(|_| *value),
        Sym::Binary(BinaryOp::Add, a, b) => base_of(a).or_else(|| base_of(b)),
        Sym::Binary(BinaryOp::Sub, a, _) => base_of(a),
        _ => None,
    }
}

impl Access {
    /// The location from which the address of the access is computed. `None` if there is no such
    /// location.
    fn base_location(&self) -> Option<LocId> {
        fn base(expr: &Expr) -> Option<LocId> {
            match expr {
                Expr::Addr(loc) => Some(*loc),
                Expr::Binary(BinaryOp::Add, a, b) => base(a).or_else(|| base(b)),
                Expr::Binary(BinaryOp::Sub, a, _) => base(a),
                _ => None,
            }
        }
        base(&self.address)
    }
}
