//! Analyses a program before the search. The analysis computes the role and the footprint of every
//! instruction, the footprint of all operations that may follow each position in a thread's code,
//! and the accesses that may still race. A footprint is the set of resources that operations use.

use super::footprint::Footprint;
use super::role::{self, Roles};
use super::scoping::{Role, Scoping};
use super::{CheckError, Options};
use crate::program::{Access, Expr, Instr, LocId, Program, Term, ThreadId};

/// One instruction, with the results of the analysis of its program before the search.
#[derive(Clone, Debug)]
pub(crate) struct Op {
    pub(crate) roles: Roles,
    pub(crate) footprint: Footprint,
    /// The number of the instruction's access among the accesses of the program. `None` if the
    /// instruction has no access.
    pub(crate) access: Option<u16>,
    /// Whether the instruction has no effect that another thread can observe.
    pub(crate) local: bool,
}

/// One thread, with the results of the analysis of its program before the search. Positions in its
/// code run from 0 to `code.len()`, the position after the last instruction.
#[derive(Clone, Debug)]
pub(crate) struct ThreadPlan {
    pub(crate) ops: Vec<Op>,
    /// For each position in the code, the union of the footprints (used resources) of all
    /// operations that may follow.
    pub(crate) future: Vec<Footprint>,
    /// For each position in the code, the live registers as a bit set. A register is live if its
    /// value may still be read.
    pub(crate) live: Vec<u64>,
    /// For each position in the code, whether a backward jump goes to this position.
    pub(crate) heads: Vec<bool>,
    pub(crate) has_loops: bool,
    /// The index of the thread's first register in the list of the registers of all threads.
    pub(crate) registers_base: usize,
    /// The index of the thread's first position in the list of the positions of all threads.
    positions_base: usize,
}

/// A program with the results of its analysis under one reading (interpretation of a model).
#[derive(Clone, Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) program: &'a Program,
    pub(crate) options: Options,
    pub(crate) scoping: Scoping,
    pub(crate) threads: Vec<ThreadPlan>,
    pub(crate) registers: usize,
    /// The registers and locations (terms) whose values form a final state.
    pub(crate) terms: Vec<Term>,
    /// The locations whose final values are reported, as a bit set.
    pub(crate) observed_locations: u64,
    /// For each access of the program, its thread and its position in the code of the thread.
    pub(crate) accesses: Vec<(u8, u16)>,
    positions: usize,
    relevant: Vec<bool>,
}

/// The maximum number of instructions of a program.
const INSTRUCTIONS_MAX: usize = 2048;
/// The maximum number of entries that all vector clocks of a state have together (see
/// [`Scoping::clocks`]).
const CLOCKS_MAX: usize = 1 << 18;

fn check_size(what: &'static str, found: usize, max: usize) -> Result<(), CheckError> {
    if found > max { Err(CheckError::TooLarge { what, found, max }) } else { Ok(()) }
}

const fn bit(number: usize) -> u64 {
    1 << (number % 64)
}

/// The number of the word that a location names. Several locations may be names of one word.
pub(crate) fn physical(program: &Program, loc: LocId) -> usize {
    usize::from(program.loc(loc).physical.0)
}

impl<'a> Plan<'a> {
    pub(crate) fn new(program: &'a Program, options: Options) -> Result<Plan<'a>, CheckError> {
        let instructions = program.threads.iter().map(|thread| thread.code.len()).sum();
        check_size("instructions", instructions, INSTRUCTIONS_MAX)?;
        let mut roles = Vec::new();
        let mut used = Vec::new();
        for (t, thread) in program.threads.iter().enumerate() {
            let of = (0..thread.code.len())
                .map(|pc| role::roles(program, options.reading, ThreadId(t as u8), pc))
                .collect::<Result<Vec<_>, _>>()?;
            used.extend(of.iter().flat_map(|r| [r.success.scope, r.failure.scope]).flatten());
            roles.push(of);
        }
        let scoping = Scoping::new(program, options.reading, used);
        check_size("clocks", scoping.clocks(), CLOCKS_MAX)?;
        let mut plan = Plan {
            program,
            options,
            scoping,
            threads: Vec::new(),
            registers: 0,
            terms: observed_terms(program),
            observed_locations: 0,
            accesses: Vec::new(),
            positions: 0,
            relevant: Vec::new(),
        };
        let filter_terms = filter_terms(program);
        for term in plan.terms.iter().chain(&filter_terms) {
            if let Term::Loc(loc) = term {
                plan.observed_locations |= bit(physical(program, *loc));
            }
        }
        for (t, roles) in roles.into_iter().enumerate() {
            let observed = plan.terms.iter().chain(&filter_terms).fold(0, |set, term| match term {
                Term::Reg(thread, reg) if usize::from(thread.0) == t => set | bit(usize::from(reg.0)),
                _ => set,
            });
            plan.add_thread(t, roles, observed);
        }
        plan.find_relevant();
        Ok(plan)
    }

    fn add_thread(&mut self, t: usize, roles: Vec<Roles>, observed: u64) {
        let code = &self.program.threads[t].code;
        let mut ops = Vec::with_capacity(code.len());
        for (pc, (instr, roles)) in code.iter().zip(roles).enumerate() {
            let access = instr.access().map(|_| {
                self.accesses.push((t as u8, pc as u16));
                (self.accesses.len() - 1) as u16
            });
            let synchronizes = roles.success.releases || roles.success.acquires;
            let local = match instr {
                Instr::Assign { .. } | Instr::Branch { .. } | Instr::Jump { .. } => true,
                Instr::Fence(_) => !synchronizes,
                _ => false,
            };
            let footprint = self.static_footprint(t, instr, &roles);
            ops.push(Op { roles, footprint, access, local });
        }
        let mut heads = vec![false; code.len() + 1];
        for (pc, instr) in code.iter().enumerate() {
            if let Some(target) = instr.target().filter(|&target| target <= pc) {
                heads[target] = true;
            }
        }
        let future = flow(code, |pc| ops[pc].footprint, Footprint::union, Footprint::default());
        let registers = self.program.threads[t].registers.len();
        let live = live_registers(code, registers, observed);
        self.threads.push(ThreadPlan {
            future,
            live,
            has_loops: heads.contains(&true),
            heads,
            ops,
            registers_base: self.registers,
            positions_base: self.positions,
        });
        self.registers += registers;
        self.positions += code.len() + 1;
    }

    fn static_footprint(&self, t: usize, instr: &Instr, roles: &Roles) -> Footprint {
        let loc = instr.access().and_then(|a| a.address.as_location());
        let loc = loc.map(|loc| physical(self.program, loc));
        match instr {
            Instr::Barrier(_) => self.footprint(t, instr, roles, None, Stage::Arrive).union(self.footprint(
                t,
                instr,
                roles,
                None,
                Stage::Depart,
            )),
            _ => self.footprint(t, instr, roles, loc, Stage::Whole),
        }
    }

    /// The footprint of an instruction: the resources that it uses. `loc` is the location that the
    /// instruction accesses, or `None` if this location is unknown.
    pub(crate) fn footprint(
        &self,
        t: usize,
        instr: &Instr,
        roles: &Roles,
        loc: Option<usize>,
        stage: Stage,
    ) -> Footprint {
        let word = loc.map_or(u64::MAX, bit);
        let mut footprint = match instr {
            Instr::Load { .. } | Instr::Await { .. } => Footprint { reads: word, ..Footprint::default() },
            Instr::Store { .. } => Footprint { writes: word, ..Footprint::default() },
            Instr::Rmw { .. } | Instr::Cas(_) => {
                Footprint { reads: word, writes: word, ..Footprint::default() }
            }
            Instr::Barrier(barrier) => {
                let group = bit(usize::from(barrier.group.0));
                match stage {
                    Stage::Depart => Footprint { departs: group, ..Footprint::default() },
                    _ => Footprint {
                        arrives: group,
                        arrives_counted: if barrier.quorum.is_some() { group } else { 0 },
                        ..Footprint::default()
                    },
                }
            }
            _ => Footprint::default(),
        };
        let any = self.scoping.any_location() || instr.access().is_none();
        for role in [roles.success, roles.failure] {
            let Some(scope) = role.scope else { continue };
            if role.releases && stage != Stage::Depart {
                let channels = self.scoping.publish(t, scope).iter();
                let channels = channels.fold(0, |set, &c| set | self.scoping.bit(c));
                footprint.releases |= channels;
                footprint.releases_any |= if any { channels } else { 0 };
            }
            if role.acquires && stage != Stage::Arrive {
                let channels = self.scoping.collect(t, scope).iter();
                let channels = channels.fold(0, |set, &c| set | self.scoping.bit(c));
                footprint.acquires |= channels;
                footprint.acquires_any |= if any { channels } else { 0 };
            }
        }
        footprint
    }

    /// Computes, for each access and each position in the code of another thread, whether the
    /// access may race with an operation at or after that position.
    fn find_relevant(&mut self) {
        let mut relevant = vec![false; self.accesses.len() * self.positions];
        for a in 0..self.accesses.len() {
            let owner = usize::from(self.accesses[a].0);
            for (t, thread) in self.threads.iter().enumerate().filter(|&(t, _)| t != owner) {
                let code = &self.program.threads[t].code;
                let own = |pc: usize| thread.ops[pc].access.is_some_and(|b| self.may_conflict(a, b.into()));
                let row = flow(code, own, |a, b| a || b, false);
                let start = a * self.positions + thread.positions_base;
                relevant[start..start + row.len()].copy_from_slice(&row);
            }
        }
        self.relevant = relevant;
    }

    /// Whether the access may race with an operation of thread `t` at `pc` or later.
    pub(crate) fn is_relevant(&self, access: u16, t: usize, pc: usize) -> bool {
        self.relevant[usize::from(access) * self.positions + self.threads[t].positions_base + pc]
    }

    pub(crate) fn access(&self, access: usize) -> (ThreadId, &Access, &Op) {
        let (t, pc) = self.accesses[access];
        let op = &self.threads[usize::from(t)].ops[usize::from(pc)];
        let instr = &self.program.threads[usize::from(t)].code[usize::from(pc)];
        (ThreadId(t), instr.access().expect("an access is numbered only if it is one"), op)
    }

    fn may_conflict(&self, a: usize, b: usize) -> bool {
        let ((t, _, a), (u, _, b)) = (self.access(a), self.access(b));
        let (fa, fb) = (&a.footprint, &b.footprint);
        if fa.writes & (fb.reads | fb.writes) | fa.reads & fb.writes == 0 {
            return false;
        }
        let roles = |r: &Roles| [r.success, r.failure];
        roles(&a.roles)
            .into_iter()
            .any(|a| roles(&b.roles).into_iter().any(|b| self.roles_conflict((t, a), (u, b)).is_some()))
    }

    /// The kind of conflict between two operations. The caller guarantees that they access one word
    /// and that at least one of them writes it. `None` if they do not conflict, because both
    /// synchronize and their scopes pair.
    pub(crate) fn roles_conflict(&self, a: (ThreadId, Role), b: (ThreadId, Role)) -> Option<RaceKind> {
        match (a.1.scope, b.1.scope) {
            (Some(s), Some(r)) if a.1.sync && b.1.sync => {
                self.scoping.conflict(self.program, (a.0, s), (b.0, r)).then_some(RaceKind::Synchronization)
            }
            _ => Some(RaceKind::Ordinary),
        }
    }

    /// The registers of thread `t` whose values distinguish states at `pc`: the live registers.
    pub(crate) fn distinguishing_registers(&self, t: usize, pc: usize) -> u64 {
        self.threads[t].live[pc]
    }
}

/// The part of an instruction that one step executes. The two parts of a barrier are its arrival
/// and its departure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Whole,
    Arrive,
    Depart,
}

/// The kind of a conflict, and so of a race, between two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RaceKind {
    /// At least one of the two accesses is an ordinary data access.
    Ordinary,
    /// Both accesses are synchronization operations, at different scopes.
    Synchronization,
}

/// For each position in the code, the union of the values that `own` gives for this position and
/// for all positions that can be reached from it.
fn flow<T: Copy + PartialEq>(
    code: &[Instr],
    own: impl Fn(usize) -> T,
    union: impl Fn(T, T) -> T,
    nothing: T,
) -> Vec<T> {
    let mut at = vec![nothing; code.len() + 1];
    loop {
        let mut changed = false;
        for pc in (0..code.len()).rev() {
            let mut next = own(pc);
            if !matches!(code[pc], Instr::Jump { .. }) {
                next = union(next, at[pc + 1]);
            }
            if let Some(target) = code[pc].target() {
                next = union(next, at[target.min(code.len())]);
            }
            changed |= next != at[pc];
            at[pc] = next;
        }
        if !changed {
            return at;
        }
    }
}

fn observed_terms(program: &Program) -> Vec<Term> {
    program.state_terms()
}

fn filter_terms(program: &Program) -> Vec<Term> {
    let mut terms = Vec::new();
    if let Some(filter) = &program.filter {
        filter.collect_terms(&mut terms);
    }
    terms
}

/// For each position in the code, the registers (as a bit set) that later instructions may read
/// before an instruction writes them.
fn live_registers(code: &[Instr], registers: usize, observed: u64) -> Vec<u64> {
    let mut at = vec![observed; code.len() + 1];
    loop {
        let mut changed = false;
        for pc in (0..code.len()).rev() {
            let mut out = 0;
            if !matches!(code[pc], Instr::Jump { .. }) {
                out |= at[pc + 1];
            }
            if let Some(target) = code[pc].target() {
                out |= at[target.min(code.len())];
            }
            // With more than 64 registers, several registers share one bit. Then a write makes no
            // register dead.
            let dead = if registers > 64 { 0 } else { writes(&code[pc]) };
            let live = reads(&code[pc]) | out & !dead;
            changed |= live != at[pc];
            at[pc] = live;
        }
        if !changed {
            return at;
        }
    }
}

fn reads(instr: &Instr) -> u64 {
    let mut set = 0;
    let mut add = |expr: &Expr| expr.for_each_reg(&mut |reg| set |= bit(usize::from(reg.0)));
    if let Some(access) = instr.access() {
        add(&access.address);
    }
    match instr {
        Instr::Store { value, .. } | Instr::Await { value, .. } | Instr::Assign { value, .. } => add(value),
        Instr::Rmw { operand, .. } => add(operand),
        Instr::Cas(cas) => {
            add(&cas.expected);
            add(&cas.desired);
        }
        Instr::Barrier(barrier) => {
            add(&barrier.id);
            if let Some(quorum) = &barrier.quorum {
                add(quorum);
            }
        }
        Instr::Branch { cond, .. } => add(cond),
        Instr::Load { .. } | Instr::Fence(_) | Instr::Jump { .. } => {}
    }
    set
}

fn writes(instr: &Instr) -> u64 {
    let dst = match instr {
        Instr::Load { dst, .. } | Instr::Assign { dst, .. } => Some(*dst),
        Instr::Rmw { dst, .. } | Instr::Await { dst, .. } => *dst,
        Instr::Cas(cas) => cas.dst,
        _ => None,
    };
    dst.map_or(0, |reg| bit(usize::from(reg.0)))
}
