//! Runs litmus tests on a simulated machine. The crate `litmus` decides which outcomes a memory
//! model allows for a test. This module turns the same test into a kernel for the simulator.
//!
//! Each thread of the test is one lane of its own wavefront, in the work-group that the test names.
//! Each location of the test has its own cache line.

use core::fmt;
use std::rc::Rc;

use explore::{SILENT_MAX, rmw_kind};
use kernel::Program as KernelProgram;
use kernel::prelude::{Answer, Array, Grid, Kernel, Lanes, Lds, Level, Order, RmwKind, Semantics, Wave};
use kernel::rng::Rng;
use litmus::program::{
    Access, Dialect, Expr, Instr, Program, Region, ScopeId, ThreadId, Value, value_address,
};

/// An error: a litmus test has a feature that a kernel on the simulated machine cannot have. The
/// text names the feature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported(String);

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cannot be run on a machine", self.0)
    }
}

impl core::error::Error for Unsupported {}

/// The key under which the answer of a run has the final values of the test's locations.
pub const LOCATIONS: &str = "locations";
/// The beginning of the key under which the answer of a run has the registers of a thread. The
/// number of the thread follows this text.
pub const REGISTERS: &str = "registers of ";

/// The distance between two locations in memory, in words of 64 bits. With this distance, each
/// location has its own cache line. A word has 64 bits so that it can hold an address.
const LINE_WORDS: u64 = 32;

/// The wavefront that executes a thread of the test, and its work-group.
#[derive(Debug)]
struct Role {
    thread: usize,
    work_group: u32,
    wave: u32,
}

/// Returns a kernel program that runs the test once. Before each operation a thread executes at
/// most `delay` arithmetic operations. `seed` determines the number of these arithmetic operations,
/// so that runs with different seeds interleave the threads differently.
///
/// # Errors
/// If the test has a feature that a kernel cannot have: a barrier that only some threads of a
/// work-group execute, a scope other than work-group, device and system, a PTX proxy, or an atomic
/// with unsupported arithmetic.
pub fn program(test: &Program, delay: u32, seed: u64) -> Result<KernelProgram, Unsupported> {
    check(test)?;
    let (roles, groups, waves) = roles(test);
    let is_local = test.locations.iter().any(|l| l.region == Region::Local);
    let lds_bytes = if is_local { 8 * test.locations.len() as u32 } else { 0 };
    let test = Rc::new(test.clone());
    Ok(KernelProgram::new(test.name.clone(), move |host| async move {
        let count = test.locations.len() as u64;
        let memory = host.alloc::<u64>("memory", count * LINE_WORDS);
        let registers = test.threads.iter().map(|thread| thread.registers.len()).max().unwrap_or(0);
        let file = registers.max(1) as u64 * LINE_WORDS;
        let results = host.alloc::<u64>("registers", test.threads.len() as u64 * file);
        let mut values = vec![0; (count * LINE_WORDS) as usize];
        for (at, location) in test.locations.iter().enumerate() {
            values[at * LINE_WORDS as usize] = location.init as u64;
        }
        host.write(memory, &values).await;
        let running = Rc::new(Running { test: test.clone(), roles, memory, results, file, delay, seed });
        let body = running.clone();
        let kernel =
            Kernel::new("litmus", move |w| run(w, body.clone())).uses([memory.read_write(), results.write()]);
        let grid = Grid::new(groups, waves).lds_bytes(lds_bytes);
        host.launch(kernel, grid).await;
        let memory = host.read(memory).await;
        let locations: Vec<u64> = memory.iter().step_by(LINE_WORDS as usize).copied().collect();
        let mut answer = Answer::new().with(LOCATIONS, &locations);
        let results = host.read(results).await;
        for (n, thread) in test.threads.iter().enumerate() {
            let first = n * file as usize;
            answer = answer.with(format!("{REGISTERS}{n}"), &results[first..first + thread.registers.len()]);
        }
        answer
    }))
}

struct Running {
    test: Rc<Program>,
    roles: Vec<Role>,
    memory: Array<u64>,
    results: Array<u64>,
    /// The number of words that the array `results` reserves for the registers of one thread of the
    /// litmus test.
    file: u64,
    delay: u32,
    seed: u64,
}

/// Returns the role of each thread (its work-group and wavefront), the number of work-groups, and
/// the number of wavefronts in each work-group.
fn roles(test: &Program) -> (Vec<Role>, u32, u32) {
    let mut groups: Vec<(Option<ScopeId>, u32)> = Vec::new();
    let mut roles = Vec::new();
    for thread in 0..test.threads.len() {
        let group = test.scopes.enclosing(ThreadId(thread as u8), Level::WorkGroup);
        let at = groups.iter().position(|(other, _)| group.is_some() && *other == group);
        let at = at.unwrap_or_else(|| {
            groups.push((group, 0));
            groups.len() - 1
        });
        roles.push(Role { thread, work_group: at as u32, wave: groups[at].1 });
        groups[at].1 += 1;
    }
    let waves = groups.iter().map(|(_, waves)| *waves).max().unwrap_or(1);
    (roles, groups.len() as u32, waves)
}

pub(crate) fn check(test: &Program) -> Result<(), Unsupported> {
    let refuse = |what: &str| Err(Unsupported(what.to_owned()));
    if test.dialect == Dialect::Vulkan {
        return refuse("a Vulkan test, which makes writes available and visible by storage class,");
    }
    for (thread, code) in test.threads.iter().map(|t| &t.code).enumerate() {
        for instr in code {
            if let Some(scope) = instr.scope() {
                let level = test.scopes.get(scope).level;
                if level == Level::Named || level == Level::Chiplet {
                    return refuse("a scope other than work-group, device and system");
                }
            }
            if instr.access().is_some_and(|access| access.proxy != litmus::program::Proxy::Generic) {
                return refuse("an access by a PTX proxy other than the generic proxy");
            }
            match instr {
                Instr::Rmw { op, .. } if rmw_kind(*op).is_none() => {
                    return refuse("an atomic operation with unsupported arithmetic");
                }
                Instr::Cas(cas) if cas.weak => return refuse("a weak compare-and-swap"),
                Instr::Barrier(barrier) => {
                    let own = test.scopes.enclosing(ThreadId(thread as u8), Level::WorkGroup);
                    let everyone = test.threads_at(barrier.group, barrier.instance);
                    let is_whole = own == Some(barrier.group)
                        && everyone == test.scopes.get(barrier.group).members
                        && barrier.quorum.is_none()
                        && !barrier.arrive;
                    if !is_whole {
                        return refuse("a barrier that only some threads of a work-group execute");
                    }
                }
                _ => {}
            }
        }
    }
    if test.locations.iter().any(|l| l.region == Region::Unqualified) {
        return refuse("a location without a memory region");
    }
    Ok(())
}

async fn run(w: Wave, running: Rc<Running>) {
    let w = w.leader();
    let mine = running.roles.iter().find(|r| r.work_group == w.work_group() && r.wave == w.index());
    let Some(role) = mine else { return };
    let thread = &running.test.threads[role.thread];
    let mut rng = Rng::new(running.seed.wrapping_mul(64).wrapping_add(role.thread as u64));
    let mut registers: Vec<Value> = thread.registers.iter().map(|register| register.init).collect();
    let (mut pc, mut silent) = (0, 0);
    while let Some(instr) = thread.code.get(pc) {
        pc += 1;
        silent = if instr.access().is_some() { 0 } else { silent + 1 };
        if silent > SILENT_MAX {
            w.fail(format!("P{} runs forever without an access to memory", role.thread)).await;
        }
        linger(&mut rng, running.delay);
        let eval = |expr: &Expr| expr.eval(&registers).unwrap_or(0);
        match instr {
            Instr::Assign { dst, value } => registers[usize::from(dst.0)] = eval(value),
            Instr::Jump { target } => pc = *target,
            Instr::Branch { cond, target, .. } => {
                if eval(cond) != 0 {
                    pc = *target;
                }
            }
            Instr::Fence(fence) => {
                w.fence(semantics(&running.test, fence.order, fence.scope, fence.remote)).await
            }
            Instr::Barrier(barrier) => {
                w.barrier_with(semantics(&running.test, barrier.order, Some(barrier.scope), false)).await;
            }
            Instr::Load { dst, access } => {
                let value = running.load(&w, access, eval(&access.address)).await;
                registers[usize::from(dst.0)] = value;
            }
            Instr::Await { dst, access, cmp, value } => {
                let (at, wanted) = (eval(&access.address), eval(value));
                let found = loop {
                    let found = running.load(&w, access, at).await;
                    if cmp.apply(found, wanted).unwrap_or(0) != 0 {
                        break found;
                    }
                };
                if let Some(dst) = dst {
                    registers[usize::from(dst.0)] = found;
                }
            }
            Instr::Store { access, value } => {
                running.store(&w, access, eval(&access.address), eval(value)).await;
            }
            Instr::Rmw { dst, access, op, operand } => {
                let Some(kind) = rmw_kind(*op) else { return };
                let old = running.rmw(&w, access, eval(&access.address), kind, eval(operand)).await;
                if let Some(dst) = dst {
                    registers[usize::from(dst.0)] = old;
                }
            }
            Instr::Cas(cas) => {
                let (at, expected) = (eval(&cas.access.address), eval(&cas.expected));
                let old = running.cas(&w, &cas.access, at, expected, eval(&cas.desired)).await;
                if let Some(dst) = cas.dst {
                    registers[usize::from(dst.0)] = old;
                }
                if let Some(success) = cas.success {
                    registers[usize::from(success.0)] = Value::from(old == expected);
                }
            }
        }
    }
    for (n, value) in registers.iter().enumerate() {
        let place = role.thread as u64 * running.file + n as u64;
        w.store(running.results, place, *value as u64).await;
    }
}

/// Delays a wavefront: executes a random number of vector operations, at most `most`, whose results
/// are not used.
fn linger(rng: &mut Rng, most: u32) {
    let count = rng.below(u64::from(most) + 1);
    let _idle = (0..count).fold(Lanes::splat(0u32), |idle, _| idle + 1);
}

pub(crate) fn semantics(test: &Program, order: Order, scope: Option<ScopeId>, remote: bool) -> Semantics {
    let level = scope.map_or(Level::System, |scope| test.scopes.get(scope).level);
    let semantics = Semantics::new(order, level);
    if remote { semantics.remote() } else { semantics }
}

/// The word of memory that holds a location of the test: a word in global memory, or a word in the
/// local memory of a work-group.
enum Word {
    Global(u64),
    Local(u64),
}

impl Running {
    fn word(&self, address: Value) -> Word {
        let at = value_address(address).map_or(0, |loc| usize::from(loc.0));
        let at = at.min(self.test.locations.len() - 1);
        let physical = self.test.locations[at].physical;
        match self.test.loc(physical).region {
            Region::Local => Word::Local(u64::from(physical.0)),
            _ => Word::Global(u64::from(physical.0) * LINE_WORDS),
        }
    }

    fn how(&self, access: &Access) -> Semantics {
        let how = semantics(&self.test, access.order, access.scope, access.remote);
        if access.commutative { how.commutative() } else { how }
    }

    fn local(&self, w: &Wave) -> Lds<u64> {
        w.lds::<u64>(0, self.test.locations.len() as u32)
    }

    async fn load(&self, w: &Wave, access: &Access, address: Value) -> Value {
        let how = self.how(access);
        let is_atomic = access.order != Order::Plain;
        let value = match (self.word(address), is_atomic) {
            (Word::Global(at), true) => w.atomic_load(self.memory, at, how).await,
            (Word::Global(at), false) => w.load(self.memory, at).await,
            (Word::Local(at), true) => w.atomic_load(self.local(w), at, how).await,
            (Word::Local(at), false) => w.load(self.local(w), at).await,
        };
        value as Value
    }

    async fn store(&self, w: &Wave, access: &Access, address: Value, value: Value) {
        let (how, value) = (self.how(access), value as u64);
        let is_atomic = access.order != Order::Plain;
        match (self.word(address), is_atomic) {
            (Word::Global(at), true) => w.atomic_store(self.memory, at, value, how).await,
            (Word::Global(at), false) => w.store(self.memory, at, value).await,
            (Word::Local(at), true) => w.atomic_store(self.local(w), at, value, how).await,
            (Word::Local(at), false) => w.store(self.local(w), at, value).await,
        }
    }

    async fn rmw(&self, w: &Wave, access: &Access, address: Value, kind: RmwKind, operand: Value) -> Value {
        let (how, operand) = (self.how(access), operand as u64);
        let old = match self.word(address) {
            Word::Global(at) => w.rmw(self.memory, at, kind, operand, how).await,
            Word::Local(at) => w.rmw(self.local(w), at, kind, operand, how).await,
        };
        old as Value
    }

    async fn cas(&self, w: &Wave, access: &Access, address: Value, expected: Value, desired: Value) -> Value {
        let (how, expected, desired) = (self.how(access), expected as u64, desired as u64);
        let old = match self.word(address) {
            Word::Global(at) => w.compare_exchange(self.memory, at, expected, desired, how).await,
            Word::Local(at) => w.compare_exchange(self.local(w), at, expected, desired, how).await,
        };
        old as Value
    }
}
