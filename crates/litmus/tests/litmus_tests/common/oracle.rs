//! The definitions of the HRF paper, applied to every linearisation (total order of all steps) of a
//! program. This oracle is slow and shares no code with the engine under test.

use std::collections::{BTreeMap, BTreeSet};

use litmus::hrf::{Model, Reading, RelaxedAs, SyncOrder};
use litmus::program::{Instr, Order, Program, ScopeId, Term, ThreadId, Value};

/// An instruction of a program, given by its thread and its position in the code.
pub type Site = (u8, u16);

/// A special position of a thread that is stopped, because it has repeated a loop too often.
const CUT: usize = usize::MAX;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct OracleResult {
    pub finals: BTreeSet<Vec<Value>>,
    pub races: BTreeSet<(Site, Site)>,
    pub ordered: BTreeSet<(Site, Site)>,
    pub linearisations: u64,
}

#[derive(Clone, Debug)]
struct Event {
    site: Site,
    loc: Option<u16>,
    writes: bool,
    sync: bool,
    releases: bool,
    acquires: bool,
    scope: Option<ScopeId>,
}

#[derive(Clone)]
struct Machine {
    pcs: Vec<usize>,
    /// For each thread, its state at a barrier. 0: the thread is not at a barrier. 1: it waits. 2:
    /// it may leave.
    meets: Vec<u8>,
    registers: Vec<Vec<Value>>,
    memory: Vec<Value>,
    events: Vec<Event>,
    spins: BTreeMap<Site, u32>,
}

struct Oracle<'a> {
    program: &'a Program,
    reading: Reading,
    result: OracleResult,
    budget: u64,
}

/// Every outcome, race and ordered pair of accesses of the program. `None` if the program has more
/// than `budget` linearisations.
pub fn oracle_result(program: &Program, reading: Reading, budget: u64) -> Option<OracleResult> {
    let machine = Machine {
        pcs: vec![0; program.threads.len()],
        meets: vec![0; program.threads.len()],
        registers: program.threads.iter().map(|t| t.registers.iter().map(|r| r.init).collect()).collect(),
        memory: program.locations.iter().map(|l| l.init).collect(),
        events: Vec::new(),
        spins: BTreeMap::new(),
    };
    let mut oracle = Oracle { program, reading, result: OracleResult::default(), budget };
    oracle.explore(machine).then_some(oracle.result)
}

impl Oracle<'_> {
    fn explore(&mut self, machine: Machine) -> bool {
        let mut moved = false;
        for t in 0..machine.pcs.len() {
            for way in 0..2 {
                let mut next = machine.clone();
                if self.step(&mut next, t, way) {
                    moved = true;
                    self.settle(&mut next, t);
                    if !self.explore(next) {
                        return false;
                    }
                }
            }
        }
        if !moved {
            self.result.linearisations += 1;
            if self.result.linearisations > self.budget {
                return false;
            }
            self.judge(&machine);
        }
        true
    }

    /// Takes a step of thread `t`. Returns false if the thread cannot take a step. If `way` is 1,
    /// the step is the spurious failure of a weak compare-and-swap.
    fn step(&self, m: &mut Machine, t: usize, way: u8) -> bool {
        let code = &self.program.threads[t].code;
        if m.pcs[t] == CUT {
            return false;
        }
        let Some(instr) = code.get(m.pcs[t]) else {
            return false;
        };
        let weak_may_fail = matches!(instr, Instr::Cas(cas) if cas.weak);
        if way == 1 && !weak_may_fail {
            return false;
        }
        if let Instr::Barrier(barrier) = instr {
            return self.barrier(m, t, barrier);
        }
        let site = (t as u8, m.pcs[t] as u16);
        if let Instr::Fence(fence) = instr {
            let (releases, acquires) = (fence.order.releases(), fence.order.acquires());
            let sync = releases || acquires;
            m.events.push(Event {
                site,
                loc: None,
                writes: false,
                sync,
                releases,
                acquires,
                scope: fence.scope,
            });
            m.pcs[t] += 1;
            return true;
        }
        let Some(access) = instr.access() else { panic!("unexpected {instr:?}") };
        let loc = access.address.as_location().unwrap().0;
        let old = m.memory[usize::from(loc)];
        let (mut order, mut new, mut reads) = (access.order, None, true);
        let eval = |e: &litmus::program::Expr| e.eval(&m.registers[t]).unwrap();
        let mut dst = None;
        match instr {
            Instr::Load { dst: d, .. } => dst = Some(*d),
            Instr::Store { value, .. } => {
                reads = false;
                new = Some(eval(value));
            }
            Instr::Rmw { dst: d, op, operand, .. } => {
                dst = *d;
                new = Some(op.apply(old, eval(operand)));
            }
            Instr::Cas(cas) => {
                dst = cas.dst;
                if way == 0 && old == eval(&cas.expected) {
                    new = Some(eval(&cas.desired));
                } else if way == 1 && old != eval(&cas.expected) {
                    return false;
                } else {
                    order = cas.order_failure;
                }
            }
            Instr::Await { cmp, value, .. } => {
                if cmp.apply(old, eval(value)).unwrap() == 0 {
                    return false;
                }
            }
            _ => panic!("unexpected {instr:?}"),
        }
        if let Some(dst) = dst {
            m.registers[t][usize::from(dst.0)] = old;
        }
        if let Some(new) = new {
            m.memory[usize::from(loc)] = new;
        }
        let writes = new.is_some();
        let (mut sync, mut releases, mut acquires) =
            (order != Order::Plain, writes && order.releases(), reads && order.acquires());
        if sync && !releases && !acquires {
            match self.reading.relaxed_as {
                Some(RelaxedAs::Data) => sync = false,
                Some(RelaxedAs::AcqRel) => (releases, acquires) = (writes, reads),
                _ => {}
            }
        }
        let scope = access.scope.filter(|_| sync);
        m.events.push(Event { site, loc: Some(loc), writes, sync, releases, acquires, scope });
        m.pcs[t] += 1;
        true
    }

    /// Runs thread `t` up to its next instruction that is not a branch. Stops the thread if it
    /// repeats a loop too often.
    fn settle(&self, m: &mut Machine, t: usize) {
        let code = &self.program.threads[t].code;
        while let Some(Instr::Branch { cond, target, .. }) = code.get(m.pcs[t]) {
            let taken = cond.eval(&m.registers[t]).unwrap() != 0;
            if taken && *target <= m.pcs[t] {
                // One iteration is enough to find the races of a failed read.
                let spins = m.spins.entry((t as u8, m.pcs[t] as u16)).or_default();
                *spins += 1;
                if *spins > 2 {
                    m.pcs[t] = CUT;
                    return;
                }
            }
            m.pcs[t] = if taken { *target } else { m.pcs[t] + 1 };
        }
    }

    fn barrier(&self, m: &mut Machine, t: usize, barrier: &litmus::program::Barrier) -> bool {
        let site = (t as u8, m.pcs[t] as u16);
        let event = |releases| Event {
            site,
            loc: None,
            writes: false,
            sync: true,
            releases,
            acquires: !releases,
            scope: Some(barrier.scope),
        };
        match m.meets[t] {
            0 => {
                m.events.push(event(true));
                m.meets[t] = 1;
                let members = self.program.scopes.get(barrier.group).members;
                let waiting: Vec<usize> =
                    members.iter().map(|u| usize::from(u.0)).filter(|&u| m.meets[u] == 1).collect();
                let quorum = match &barrier.quorum {
                    Some(q) => q.eval(&m.registers[t]).unwrap() as usize,
                    None => members.iter().filter(|u| has_barrier(self.program, *u, barrier)).count(),
                };
                if waiting.len() >= quorum {
                    waiting.iter().for_each(|&u| m.meets[u] = 2);
                }
                true
            }
            2 => {
                m.events.push(event(false));
                m.meets[t] = 0;
                m.pcs[t] += 1;
                true
            }
            _ => false,
        }
    }

    fn contained(&self, inner: ScopeId, outer: ScopeId) -> bool {
        self.program.scopes.includes(outer, inner)
    }

    /// The scope at which the release `r` and the acquire `a` synchronize. `None` if they do not
    /// synchronize.
    fn so(&self, r: &Event, a: &Event) -> Option<ScopeId> {
        if !r.releases || !a.acquires {
            return None;
        }
        if self.reading.so == SyncOrder::SameLocation
            && let (Some(x), Some(y)) = (r.loc, a.loc)
            && x != y
        {
            return None;
        }
        let (s1, s2) = (r.scope.unwrap(), a.scope.unwrap());
        if self.reading.model == Model::Drf {
            return Some(ScopeId(0));
        }
        if s1 == s2 {
            return Some(s1);
        }
        self.included(r, a)
    }

    fn included(&self, a: &Event, b: &Event) -> Option<ScopeId> {
        let (s1, s2) = (a.scope.unwrap(), b.scope.unwrap());
        if !self.reading.inclusion {
            return None;
        }
        let level =
            |s: ScopeId| (self.program.scopes.get(s).members.count(), self.program.scopes.get(s).level, s);
        let (inner, outer) = if level(s1) < level(s2) { (s1, s2) } else { (s2, s1) };
        let holds = |s: ScopeId, e: &Event| self.program.scopes.get(s).members.contains(ThreadId(e.site.0));
        let all = [inner, outer].iter().all(|&s| holds(s, a) && holds(s, b));
        (self.contained(inner, outer) && all).then_some(inner)
    }

    fn judge(&mut self, m: &Machine) {
        let ended = (0..m.pcs.len()).all(|t| m.pcs[t] == self.program.threads[t].code.len());
        if ended {
            let terms = self.program.state_terms();
            let values = terms.iter().map(|term| match *term {
                Term::Reg(t, r) => m.registers[usize::from(t.0)][usize::from(r.0)],
                Term::Loc(l) => m.memory[usize::from(l.0)],
                Term::Const(c) => c,
            });
            self.result.finals.insert(values.collect());
        }
        let n = m.events.len();
        let mut closures: BTreeMap<ScopeId, Vec<Vec<bool>>> = BTreeMap::new();
        let po = |i: usize, j: usize| i < j && m.events[i].site.0 == m.events[j].site.0;
        let base: Vec<Vec<bool>> = (0..n).map(|i| (0..n).map(|j| po(i, j)).collect()).collect();
        closures.insert(ScopeId(u16::MAX), base.clone());
        for i in 0..n {
            for j in i + 1..n {
                if let Some(scope) = self.so(&m.events[i], &m.events[j]) {
                    let key = match self.reading.model {
                        Model::HrfDirect => scope,
                        _ => ScopeId(0),
                    };
                    closures.entry(key).or_insert_with(|| base.clone())[i][j] = true;
                }
            }
        }
        for closure in closures.values_mut() {
            for k in 0..n {
                for i in 0..n {
                    for j in 0..n {
                        closure[i][j] |= closure[i][k] && closure[k][j];
                    }
                }
            }
        }
        for i in 0..n {
            for j in i + 1..n {
                let (a, b) = (&m.events[i], &m.events[j]);
                if a.site.0 == b.site.0 || a.loc.is_none() || a.loc != b.loc || !(a.writes || b.writes) {
                    continue;
                }
                let conflict = !(a.sync && b.sync)
                    || self.reading.model != Model::Drf
                        && a.scope != b.scope
                        && self.included(a, b).is_none();
                if !conflict {
                    continue;
                }
                let pair = (a.site.min(b.site), a.site.max(b.site));
                if closures.values().any(|closure| closure[i][j]) {
                    self.result.ordered.insert(pair);
                } else {
                    self.result.races.insert(pair);
                }
            }
        }
    }
}

/// Whether the thread's code has this barrier.
fn has_barrier(program: &Program, thread: ThreadId, barrier: &litmus::program::Barrier) -> bool {
    program.threads[usize::from(thread.0)].code.iter().any(|instr| match instr {
        Instr::Barrier(own) => (own.group, own.instance) == (barrier.group, barrier.instance),
        _ => false,
    })
}
