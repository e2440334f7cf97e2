//! Executes the threads of a litmus program on the timed machine. The threads behave as in the
//! explorer: a thread posts each operation as early as possible, and waits for a value only when
//! the next instruction needs the value. The values that a thread has read are kept outside the
//! simulated machine, so the machine makes only the accesses of the test.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use explore::{SILENT_MAX, rmw_kind};
use kernel::prelude::{Array, Host, Order, RmwKind, Semantics, Wave};
use kernel::{Accepted, Loading};
use litmus::program::{Access, Cas, Expr, Instr, LocId, Program, Reg, Value, value_address};

use super::roles::ThreadRoles;
use crate::litmus::semantics;

/// The maximum number of operations that one thread may have posted and that are not complete. The
/// limit of the explorer is lower.
const UNDER_WAY_MAX: usize = 64;

/// The values that the threads have read (`registers`), and the values of memory that the host
/// reads at the end (`locations`).
#[derive(Clone, Debug, Default)]
pub(super) struct Observations {
    pub(super) registers: Vec<Vec<Value>>,
    pub(super) locations: Vec<Value>,
    /// The lowest number of a compute unit that read a stale value after the program. After the
    /// program, the host overwrites every word, and a further kernel reads all words on every
    /// compute unit. `None` if no compute unit read a stale value.
    pub(super) stale: Option<u32>,
}

/// A word of memory: an array, and an index in it.
pub(super) type WordRef = (Array<u32>, u64);

/// A litmus test that runs on the timed machine: its program, the roles of its threads, its words
/// in memory, and the values read so far.
pub(super) struct RunningTest {
    pub(super) test: Program,
    pub(super) roles: ThreadRoles,
    /// For each location of the program, its array and its index in this array.
    pub(super) words: Vec<WordRef>,
    pub(super) seen: Rc<RefCell<Observations>>,
}

/// Converts the bits of a word to the value of a register or location.
pub(super) fn value_of(bits: u32) -> Value {
    bits.cast_signed().into()
}

/// The wavefront or the host that issues the operations of a thread.
pub(super) enum Core {
    Wave(Wave),
    Host(Host),
}

impl Core {
    fn load(&self, (from, at): WordRef, how: Semantics) -> Loading<u64, u32> {
        match self {
            Core::Wave(w) => w.atomic_load(from, at, how),
            Core::Host(host) => host.atomic_load(from, at, how.order),
        }
    }

    fn store(&self, (to, at): WordRef, value: u32, how: Semantics) -> Accepted {
        match self {
            Core::Wave(w) => w.atomic_store(to, at, value, how),
            Core::Host(host) => host.atomic_store(to, at, value, how.order),
        }
    }

    fn rmw(&self, (word, at): WordRef, kind: RmwKind, operand: u32, how: Semantics) -> Loading<u64, u32> {
        match self {
            Core::Wave(w) => w.rmw(word, at, kind, operand, how),
            Core::Host(host) => host.rmw(word, at, kind, operand, how.order),
        }
    }

    /// Posts a read-modify-write whose old value is ignored. If the thread runs on the host, posts
    /// nothing and returns `None`, because each read-modify-write of the host returns the old
    /// value.
    fn update(&self, (word, at): WordRef, kind: RmwKind, operand: u32, how: Semantics) -> Option<Accepted> {
        match self {
            Core::Wave(w) => Some(w.update(word, at, kind, operand, how)),
            Core::Host(_) => None,
        }
    }

    fn swap(&self, (word, at): WordRef, expected: u32, new: u32, how: Semantics) -> Loading<u64, u32> {
        let kind = RmwKind::CompareExchange { expected: expected.into() };
        match self {
            Core::Wave(w) => w.compare_exchange(word, at, expected, new, how),
            Core::Host(host) => host.rmw(word, at, kind, new, how.order),
        }
    }

    fn fence(&self, how: Semantics) -> Accepted {
        match self {
            Core::Wave(w) => w.fence(how),
            Core::Host(host) => host.fence(how.order),
        }
    }

    fn barrier(&self, how: Semantics) -> Accepted {
        match self {
            Core::Wave(w) => w.barrier_with(how),
            Core::Host(host) => host.fail("the host cannot execute a barrier"),
        }
    }

    fn fail(&self, why: String) -> Accepted {
        match self {
            Core::Wave(w) => w.fail(why),
            Core::Host(host) => host.fail(why),
        }
    }
}

/// A value that an operation will return, and that has not arrived yet.
struct PendingValue {
    dst: Option<Reg>,
    /// For an operation that reports whether it succeeded: the register that receives the report,
    /// and the old value that means success.
    success: Option<(Reg, u32)>,
    loading: Loading<u64, u32>,
}

/// The registers of a thread.
struct Registers {
    values: Vec<Value>,
    pending: Vec<PendingValue>,
    /// The posted operations that return no value and may be incomplete, the oldest first.
    unseen: VecDeque<Accepted>,
}

impl Registers {
    fn await_later(&mut self, dst: Option<Reg>, success: Option<(Reg, u32)>, loading: Loading<u64, u32>) {
        self.pending.push(PendingValue { dst, success, loading });
    }

    /// Waits for the oldest pending value that `is_wanted` selects, and writes the value into its
    /// register. Returns false if `is_wanted` selects no pending value.
    async fn arrive(&mut self, is_wanted: impl Fn(&PendingValue) -> bool) -> bool {
        let Some(at) = self.pending.iter().position(is_wanted) else { return false };
        let PendingValue { dst, success, loading } = self.pending.remove(at);
        let found = loading.await;
        if let Some(dst) = dst {
            self.values[usize::from(dst.0)] = value_of(found);
        }
        if let Some((success, expected)) = success {
            self.values[usize::from(success.0)] = Value::from(found == expected);
        }
        true
    }

    /// Waits until at most `most` posted operations of the thread are incomplete.
    async fn keep_at_most(&mut self, most: usize) {
        while self.pending.len() + self.unseen.len() > most {
            match self.unseen.pop_front() {
                Some(unseen) => unseen.await,
                None => _ = self.arrive(|_| true).await,
            }
        }
    }
}

impl RunningTest {
    pub(super) async fn thread(&self, core: Core, thread: usize) {
        let Program { threads, .. } = &self.test;
        let values = threads[thread].registers.iter().map(|register| register.init).collect();
        let mut registers = Registers { values, pending: Vec::new(), unseen: VecDeque::new() };
        let (mut pc, mut silent) = (0, 0);
        while let Some(instr) = threads[thread].code.get(pc) {
            pc += 1;
            silent = if instr.access().is_some() { 0 } else { silent + 1 };
            if silent > SILENT_MAX {
                core.fail(format!("P{thread} runs forever without an access to memory")).await;
            }
            let needed = registers_of(instr);
            let is_needed = |pending: &PendingValue| {
                let is = |reg: Reg| needed.contains(&reg);
                pending.dst.is_some_and(is) || pending.success.is_some_and(|(reg, _)| is(reg))
            };
            while registers.arrive(is_needed).await {}
            registers.keep_at_most(UNDER_WAY_MAX).await;
            if let Err(why) = self.step(&core, instr, &mut registers, &mut pc).await {
                core.fail(format!("P{thread}: {why}")).await;
            }
        }
        registers.keep_at_most(0).await;
        self.seen.borrow_mut().registers[thread] = registers.values;
    }

    async fn step(
        &self,
        core: &Core,
        instr: &Instr,
        registers: &mut Registers,
        pc: &mut usize,
    ) -> Result<(), String> {
        let values = registers.values.clone();
        let eval = |expr: &Expr| expr.eval(&values).map_err(|error| error.to_string());
        let word = |expr: &Expr| eval(expr).map(|value| value as u32);
        let place = |access: &Access| self.place(eval(&access.address)?);
        match instr {
            Instr::Assign { dst, value } => registers.values[usize::from(dst.0)] = eval(value)?,
            Instr::Jump { target } => *pc = *target,
            Instr::Branch { cond, target, .. } => {
                if eval(cond)? != 0 {
                    *pc = *target;
                }
            }
            Instr::Fence(fence) => {
                if fence.constrains_caches() {
                    let how = semantics(&self.test, fence.order, fence.scope, fence.remote);
                    registers.unseen.push_back(core.fence(how));
                }
            }
            Instr::Barrier(barrier) => {
                let how = semantics(&self.test, barrier.order, Some(barrier.scope), false);
                core.barrier(how).await;
            }
            Instr::Load { dst, access } => {
                let loading = core.load(place(access)?, self.how(access));
                registers.await_later(Some(*dst), None, loading);
            }
            Instr::Await { dst, access, cmp, value } => {
                let (at, wanted) = (place(access)?, eval(value)?);
                let found = loop {
                    let found = value_of(core.load(at, self.how(access)).await);
                    if cmp.apply(found, wanted).is_ok_and(|holds| holds != 0) {
                        break found;
                    }
                };
                if let Some(dst) = dst {
                    registers.values[usize::from(dst.0)] = found;
                }
            }
            Instr::Store { access, value } => {
                registers.unseen.push_back(core.store(place(access)?, word(value)?, self.how(access)));
            }
            Instr::Rmw { dst, access, op, operand } => {
                let kind = rmw_kind(*op)
                    .ok_or_else(|| format!("a read-modify-write is {op:?}, which no cache performs"))?;
                let (at, operand, how) = (place(access)?, word(operand)?, self.how(access));
                let unseen = match dst {
                    Some(_) => None,
                    None => core.update(at, kind, operand, how),
                };
                match unseen {
                    Some(unseen) => registers.unseen.push_back(unseen),
                    None => registers.await_later(*dst, None, core.rmw(at, kind, operand, how)),
                }
            }
            Instr::Cas(cas) => {
                let Cas { dst, success, access, .. } = &**cas;
                let (expected, new) = (word(&cas.expected)?, word(&cas.desired)?);
                let loading = core.swap(place(access)?, expected, new, self.how(access));
                registers.await_later(*dst, success.map(|reg| (reg, expected)), loading);
            }
        }
        Ok(())
    }

    fn place(&self, address: Value) -> Result<WordRef, String> {
        let loc = value_address(address).filter(|&LocId(loc)| usize::from(loc) < self.words.len());
        let loc = loc.ok_or_else(|| format!("{address} is outside the program's memory"))?;
        Ok(self.words[usize::from(self.test.loc(loc).physical.0)])
    }

    fn how(&self, access: &Access) -> Semantics {
        match access.order {
            Order::Plain => Semantics::PLAIN,
            order => {
                let how = semantics(&self.test, order, access.scope, access.remote);
                if access.commutative { how.commutative() } else { how }
            }
        }
    }
}

/// The registers that an instruction reads or writes.
fn registers_of(instr: &Instr) -> Vec<Reg> {
    let mut all = Vec::new();
    let mut reads = |expr: &Expr| expr.for_each_reg(&mut |reg| all.push(reg));
    if let Some(access) = instr.access() {
        reads(&access.address);
    }
    match instr {
        Instr::Assign { value, .. } | Instr::Store { value, .. } | Instr::Await { value, .. } => reads(value),
        Instr::Branch { cond, .. } => reads(cond),
        Instr::Rmw { operand, .. } => reads(operand),
        Instr::Cas(cas) => {
            reads(&cas.expected);
            reads(&cas.desired);
        }
        Instr::Load { .. } | Instr::Fence(_) | Instr::Barrier(_) | Instr::Jump { .. } => {}
    }
    match instr {
        Instr::Load { dst, .. } | Instr::Assign { dst, .. } => all.push(*dst),
        Instr::Rmw { dst, .. } | Instr::Await { dst, .. } => all.extend(*dst),
        Instr::Cas(cas) => all.extend(cas.dst.into_iter().chain(cas.success)),
        _ => {}
    }
    all
}
