//! A litmus program as a kernel that does what the explorer's threads do: an
//! operation is posted as soon as it can be, and a value is awaited when it is
//! needed. What a thread has read stays beside the machine, so that no access is
//! made but those of the test.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use explore::{SILENT_MAX, Trace, rmw_kind};
use kernel::prelude::{Answer, Array, Grid, Host, Kernel, Lanes, Level, Order, RmwKind, Semantics, Wave};
use kernel::{Accepted, Loading, Program as KernelProgram};
use litmus::program::{Access, Cas, Expr, Instr, LocId, Program, Reg, ThreadId, Value, value_address};
use proto::Agent;
use sim::follow::Issues;

use super::issues;
use super::machine::Ground;
use crate::litmus::{check, semantics};

/// The most operations of one thread that are posted and not complete: more than
/// the explorer lets a thread have.
const UNDER_WAY_MAX: usize = 64;

/// Who plays the threads.
#[derive(Clone, Debug)]
pub(super) struct Cast {
    pub(super) compute_units: u32,
    /// Work-group `n` of the grid runs on compute unit `n` modulo their number.
    work_groups: u32,
    waves: u32,
    /// The wavefront of each thread, or the host.
    pub(super) roles: Vec<Issues>,
}

/// What threads have read, and what the host finds at the end.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) registers: Vec<Vec<Value>>,
    pub(super) locations: Vec<Value>,
}

impl Cast {
    pub(super) fn of(trace: &Trace) -> Result<Cast, String> {
        let (test, placement) = (trace.program(), &trace.placement);
        check(test).map_err(|error| error.to_string())?;
        let compute_units = u32::from(trace.bounds.compute_units(placement.compute_units()));
        let scope = |thread: usize| test.scopes.enclosing(ThreadId(thread as u8), Level::WorkGroup);
        // The scope, the compute unit, and how many threads it has, of each
        // work-group; and the number of those before it on its compute unit.
        let mut groups: Vec<(_, u16, u32, u32)> = Vec::new();
        let mut roles = Vec::new();
        for (thread, &agent) in placement.agents.iter().enumerate() {
            let cu = match agent {
                Agent::Cu(cu) => cu,
                Agent::Host(_) if roles.contains(&Issues::Host) => {
                    return Err(String::from("the timed host runs one thread, and here it has several"));
                }
                Agent::Host(_) => {
                    roles.push(issues(agent, 0, 0));
                    continue;
                }
                Agent::CommandProcessor => {
                    return Err(format!("P{thread} is on the command processor, which runs no program"));
                }
            };
            let of = scope(thread);
            let at = groups.iter().position(|(other, ..)| of.is_some() && *other == of);
            let at = at.unwrap_or_else(|| {
                let before = groups.iter().filter(|(_, other, ..)| *other == cu).count();
                groups.push((of, cu, 0, before as u32));
                groups.len() - 1
            });
            let (_, there, waves, before) = &mut groups[at];
            if *there != cu {
                return Err(format!("P{thread} runs on another compute unit than its work-group"));
            }
            roles.push(issues(agent, *before * compute_units + u32::from(cu), *waves));
            *waves += 1;
        }
        let work_groups = groups.iter().map(|(.., before)| (before + 1) * compute_units).max();
        let waves = groups.iter().map(|(_, _, waves, _)| *waves).max().unwrap_or(1);
        let meets =
            |thread: usize| test.threads[thread].code.iter().any(|instr| matches!(instr, Instr::Barrier(_)));
        for (of, _, members, _) in &groups {
            let has_barrier = (0..roles.len()).any(|thread| scope(thread) == *of && meets(thread));
            if has_barrier && *members != waves {
                return Err(String::from("work-groups of different sizes, and one of them has a barrier"));
            }
        }
        Ok(Cast { compute_units, work_groups: work_groups.unwrap_or(compute_units), waves, roles })
    }

    /// How many wavefronts a compute unit must have room for.
    pub(super) fn waves_per_cu(&self) -> u32 {
        self.waves * self.work_groups.div_ceil(self.compute_units)
    }
}

struct Play {
    test: Program,
    roles: Vec<Issues>,
    memory: Array<u32>,
    /// Where each word is.
    positions: Vec<u64>,
    seen: Rc<RefCell<Seen>>,
}

/// The program, and where it leaves what it has seen.
pub(super) fn of(
    test: &Program,
    cast: &Cast,
    ground: &Ground,
) -> Result<(KernelProgram, Rc<RefCell<Seen>>), String> {
    for (thread, code) in test.threads.iter().map(|thread| &thread.code).enumerate() {
        let is_blind =
            |instr: &Instr| matches!(instr, Instr::Cas(cas) if cas.dst.is_none() && cas.success.is_none());
        if code.iter().any(is_blind) {
            return Err(format!("P{thread} swaps and never looks whether it did, which no kernel does"));
        }
    }
    let seen = Rc::new(RefCell::new(Seen::default()));
    seen.borrow_mut().registers = vec![Vec::new(); test.threads.len()];
    let (test, roles, left) = (test.clone(), cast.roles.clone(), seen.clone());
    let positions: Vec<u64> = (0..test.locations.len()).map(|loc| ground.position(loc)).collect();
    let (grid, len) = (Grid::new(cast.work_groups, cast.waves), ground.len());
    let program = KernelProgram::new(test.name.clone(), move |host| async move {
        let memory = host.alloc::<u32>("memory", len);
        let mut values = vec![0; len as usize];
        for (location, &at) in test.locations.iter().zip(&positions) {
            values[at as usize] = test.loc(location.physical).init as u32;
        }
        host.write(memory, &values).await;
        let play = Rc::new(Play { test, roles, memory, positions, seen: left });
        let body = play.clone();
        let kernel = Kernel::new("litmus", move |w| wavefront(w, body.clone())).uses([memory.read_write()]);
        let launched = host.launch(kernel, grid);
        if let Some(thread) = play.roles.iter().position(|role| *role == Issues::Host) {
            play.thread(Core::Host(host.clone()), thread).await;
        }
        launched.await;
        let mut locations = Vec::new();
        for &at in &play.positions {
            locations.push(value_of(host.load(memory, at).await));
        }
        play.seen.borrow_mut().locations = locations;
        Answer::new()
    });
    Ok((program, seen))
}

async fn wavefront(w: Wave, play: Rc<Play>) {
    let own = Issues::Wave { work_group: w.work_group(), wave: w.index() };
    if let Some(thread) = play.roles.iter().position(|role| *role == own) {
        play.thread(Core::Wave(w), thread).await;
    }
    // What comes behind all moves: see `sim::follow`.
    let _idle = Lanes::splat(0u32) + 1;
}

/// The value of a word.
fn value_of(bits: u32) -> Value {
    bits.cast_signed().into()
}

/// Who issues the operations of a thread.
enum Core {
    Wave(Wave),
    Host(Host),
}

impl Core {
    fn load(&self, from: Array<u32>, at: u64, how: Semantics) -> Loading<u64, u32> {
        match self {
            Core::Wave(w) => w.atomic_load(from, at, how),
            Core::Host(host) => host.atomic_load(from, at, how.order),
        }
    }

    fn store(&self, to: Array<u32>, at: u64, value: u32, how: Semantics) -> Accepted {
        match self {
            Core::Wave(w) => w.atomic_store(to, at, value, how),
            Core::Host(host) => host.atomic_store(to, at, value, how.order),
        }
    }

    fn rmw(
        &self,
        word: Array<u32>,
        at: u64,
        kind: RmwKind,
        operand: u32,
        how: Semantics,
    ) -> Loading<u64, u32> {
        match self {
            Core::Wave(w) => w.rmw(word, at, kind, operand, how),
            Core::Host(host) => host.rmw(word, at, kind, operand, how.order),
        }
    }

    /// The same of a wavefront that does not look at the old value.
    fn update(
        &self,
        word: Array<u32>,
        at: u64,
        kind: RmwKind,
        operand: u32,
        how: Semantics,
    ) -> Option<Accepted> {
        match self {
            Core::Wave(w) => Some(w.update(word, at, kind, operand, how)),
            Core::Host(_) => None,
        }
    }

    fn swap(&self, word: Array<u32>, at: u64, expected: u32, new: u32, how: Semantics) -> Loading<u64, u32> {
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
            Core::Host(host) => host.fail("a barrier on the host"),
        }
    }

    fn fail(&self, why: String) -> Accepted {
        match self {
            Core::Wave(w) => w.fail(why),
            Core::Host(host) => host.fail(why),
        }
    }
}

/// A value that is under way.
struct Coming {
    dst: Option<Reg>,
    /// Takes whether it is the expected one.
    success: Option<(Reg, u32)>,
    loading: Loading<u64, u32>,
}

/// The registers of a thread.
struct Registers {
    values: Vec<Value>,
    coming: Vec<Coming>,
    /// Operations without a value, oldest first.
    unseen: VecDeque<Accepted>,
}

impl Registers {
    fn await_later(&mut self, dst: Option<Reg>, success: Option<(Reg, u32)>, loading: Loading<u64, u32>) {
        self.coming.push(Coming { dst, success, loading });
    }

    /// Waits for the first value that is wanted.
    async fn arrive(&mut self, is_wanted: impl Fn(&Coming) -> bool) -> bool {
        let Some(at) = self.coming.iter().position(is_wanted) else { return false };
        let Coming { dst, success, loading } = self.coming.remove(at);
        let found = loading.await;
        if let Some(dst) = dst {
            self.values[usize::from(dst.0)] = value_of(found);
        }
        if let Some((success, expected)) = success {
            self.values[usize::from(success.0)] = Value::from(found == expected);
        }
        true
    }

    /// Waits until so many operations or fewer are under way.
    async fn keep_at_most(&mut self, most: usize) {
        while self.coming.len() + self.unseen.len() > most {
            match self.unseen.pop_front() {
                Some(unseen) => unseen.await,
                None => _ = self.arrive(|_| true).await,
            }
        }
    }
}

impl Play {
    async fn thread(&self, core: Core, thread: usize) {
        let Program { threads, .. } = &self.test;
        let values = threads[thread].registers.iter().map(|register| register.init).collect();
        let mut registers = Registers { values, coming: Vec::new(), unseen: VecDeque::new() };
        let (mut pc, mut silent) = (0, 0);
        while let Some(instr) = threads[thread].code.get(pc) {
            pc += 1;
            silent = if instr.access().is_some() { 0 } else { silent + 1 };
            if silent > SILENT_MAX {
                core.fail(format!("P{thread} runs without end and reaches no memory")).await;
            }
            let needed = registers_of(instr);
            let is_needed = |coming: &Coming| {
                let is = |reg: Reg| needed.contains(&reg);
                coming.dst.is_some_and(is) || coming.success.is_some_and(|(reg, _)| is(reg))
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
        let memory = self.memory;
        match instr {
            Instr::Assign { dst, value } => registers.values[usize::from(dst.0)] = eval(value)?,
            Instr::Jump { target } => *pc = *target,
            Instr::Branch { cond, target, .. } => {
                if eval(cond)? != 0 {
                    *pc = *target;
                }
            }
            Instr::Fence(fence) => {
                if fence.is_felt() {
                    let how = semantics(&self.test, fence.order, fence.scope, fence.remote);
                    registers.unseen.push_back(core.fence(how));
                }
            }
            Instr::Barrier(barrier) => {
                let how = semantics(&self.test, barrier.order, Some(barrier.scope), false);
                core.barrier(how).await;
            }
            Instr::Load { dst, access } => {
                let loading = core.load(memory, place(access)?, self.how(access));
                registers.await_later(Some(*dst), None, loading);
            }
            Instr::Await { dst, access, cmp, value } => {
                let (at, wanted) = (place(access)?, eval(value)?);
                let found = loop {
                    let found = value_of(core.load(memory, at, self.how(access)).await);
                    if cmp.apply(found, wanted).is_ok_and(|holds| holds != 0) {
                        break found;
                    }
                };
                if let Some(dst) = dst {
                    registers.values[usize::from(dst.0)] = found;
                }
            }
            Instr::Store { access, value } => {
                registers.unseen.push_back(core.store(
                    memory,
                    place(access)?,
                    word(value)?,
                    self.how(access),
                ));
            }
            Instr::Rmw { dst, access, op, operand } => {
                let kind = rmw_kind(*op).ok_or_else(|| format!("no cache performs {op:?}"))?;
                let (at, operand, how) = (place(access)?, word(operand)?, self.how(access));
                let unseen = match dst {
                    Some(_) => None,
                    None => core.update(memory, at, kind, operand, how),
                };
                match unseen {
                    Some(unseen) => registers.unseen.push_back(unseen),
                    None => registers.await_later(*dst, None, core.rmw(memory, at, kind, operand, how)),
                }
            }
            Instr::Cas(cas) => {
                let Cas { dst, success, access, .. } = &**cas;
                let (expected, new) = (word(&cas.expected)?, word(&cas.desired)?);
                let loading = core.swap(memory, place(access)?, expected, new, self.how(access));
                registers.await_later(*dst, success.map(|reg| (reg, expected)), loading);
            }
        }
        Ok(())
    }

    fn place(&self, address: Value) -> Result<u64, String> {
        let loc = value_address(address).filter(|&LocId(loc)| usize::from(loc) < self.positions.len());
        let loc = loc.ok_or_else(|| format!("{address} is the address of nothing"))?;
        Ok(self.positions[usize::from(self.test.loc(loc).physical.0)])
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
