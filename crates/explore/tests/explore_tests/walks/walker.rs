//! The notation of the walks (small programs with expected outcomes), and their translation to
//! litmus programs.

use explore::{Bounds, Explorer, Incomplete, Limits, Placement, Requirements, Subject};
use litmus::program::{
    Access, BinaryOp, Builder, Cas, Dialect, Expr, Fence, Instr, LocId, Prop, RmwOp, ScopeId, Scopes, Term,
    ThreadId, ThreadSet,
};
use proto::{Agent, Level, Protocol, SeededFault};
use std::collections::BTreeSet;

/// The memory order and the scope level of an operation.
pub(crate) type Sync = (proto::Order, Level);

/// One operation of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Do {
    /// Write this value to a word.
    Store(u64, u32, Sync),
    /// Read a word into the next register.
    Load(u64, Sync),
    /// Read a word until it has this value.
    Await(u64, u32, Sync),
    /// Read a word. If it does not have the given value (the second field), go back by the number
    /// of operations in the last field.
    Until(u64, u32, Sync, u32),
    /// Add a value to a word, and read the old value into the next register.
    Add(u64, u32, Sync),
    /// Add a value to a word, without use of the old value.
    Update(u64, u32, Sync),
    /// Try to change a word from zero to one, until a try succeeds.
    Take(u64, Sync),
    /// Execute a fence.
    Fence(Sync),
    /// Perform the operation in the field, as a remote operation.
    Remote(&'static Do),
}

impl Do {
    /// The operation without `Remote`, and whether it is a remote operation.
    pub(crate) fn reach(self) -> (Do, bool) {
        match self {
            Do::Remote(op) => (*op, true),
            op => (op, false),
        }
    }
}

/// A thread: its compute unit (`None` is the host), and its operations.
#[derive(Clone, Debug)]
pub(crate) struct Thread {
    pub(crate) cu: Option<u16>,
    pub(crate) ops: Vec<Do>,
}

/// The registers of every thread, followed by the requested words of memory.
pub(crate) type Outcome = Vec<Vec<u32>>;

/// A program in the notation of the walks (small programs with expected outcomes).
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) threads: Vec<Thread>,
    /// The words of memory that are not zero at the beginning, with their values.
    pub(crate) initial: Vec<(u64, u32)>,
    /// The words whose last value is part of the outcome.
    pub(crate) finals: Vec<u64>,
    /// The stage of each thread: the position of its kernel or host step in the sequence.
    pub(crate) stages: Vec<u8>,
}

/// The result of a walk (the exploration of a small program).
#[derive(Debug, Default)]
pub(crate) struct Walked {
    /// The outcomes of all runs that have ended: no further event is possible.
    pub(crate) outcomes: BTreeSet<Outcome>,
    pub(crate) states: usize,
    pub(crate) violation: Option<String>,
}

/// The number of words of the machine. Each line has two.
const WORDS: u64 = 8;

struct Translation {
    builder: Builder,
    scopes: Vec<ScopeId>,
    device: ScopeId,
    system: ScopeId,
    observed: Vec<Term>,
}

impl Translation {
    fn new(program: &Program) -> Translation {
        let count = program.threads.len();
        let mut scopes = Scopes::flat(count);
        let system = ScopeId(count as u16);
        let of = |cu: Option<u16>| {
            let there = (0..count).filter(|&t| program.threads[t].cu == cu);
            there.fold(ThreadSet::NONE, |set, t| set.union(ThreadSet::only(ThreadId(t as u8))))
        };
        let on_gpu = (0..count).filter(|&t| program.threads[t].cu.is_some());
        let gpu = on_gpu.fold(ThreadSet::NONE, |set, t| set.union(ThreadSet::only(ThreadId(t as u8))));
        let device = scopes.add(Level::Device, "device", 0, gpu);
        let groups = program.threads.iter().map(|t| {
            let instance = u32::from(t.cu.unwrap_or(99));
            scopes.add(Level::WorkGroup, "work_group", instance, of(t.cu))
        });
        let groups = groups.collect();
        let mut builder = Builder::new(program.name, Dialect::OpenCl, scopes, count);
        for word in 0..WORDS {
            let init = program.initial.iter().find(|(address, _)| *address == 4 * word);
            builder.location(&format!("w{word}"), init.map_or(0, |&(_, value)| value.into()));
        }
        Translation { builder, scopes: groups, device, system, observed: Vec::new() }
    }

    fn scope(&self, thread: usize, level: Level) -> ScopeId {
        match level {
            Level::WorkGroup => self.scopes[thread],
            Level::Device => self.device,
            _ => self.system,
        }
    }

    fn access(&self, thread: usize, address: u64, (order, level): Sync, remote: bool) -> Access {
        let address = Expr::Addr(LocId((address / 4) as u16));
        match order {
            proto::Order::Plain => Access::plain(address),
            order => Access { remote, ..Access::atomic(address, order, self.scope(thread, level)) },
        }
    }

    fn thread(&mut self, t: usize, ops: &[Do]) {
        let id = ThreadId(t as u8);
        // The first instruction of each operation.
        let mut starts: Vec<usize> = Vec::new();
        let mut at = 0;
        for (i, &op) in ops.iter().enumerate() {
            starts.push(at);
            let constant = |value: u32| Expr::Const(value.cast_signed().into());
            let visible = format!("r{i}");
            let (op, remote) = op.reach();
            let instrs = match op {
                Do::Store(a, v, s) => {
                    vec![Instr::Store { access: self.access(t, a, s, remote), value: constant(v) }]
                }
                Do::Load(a, s) => {
                    let dst = self.builder.register(id, &visible);
                    self.observed.push(Term::Reg(id, dst));
                    vec![Instr::Load { dst, access: self.access(t, a, s, remote) }]
                }
                Do::Await(a, v, s) => {
                    let access = self.access(t, a, s, remote);
                    vec![Instr::Await { dst: None, access, cmp: BinaryOp::Eq, value: constant(v) }]
                }
                Do::Until(a, v, s, back) => {
                    let dst = self.builder.register(id, "again");
                    let cond = Expr::binary(BinaryOp::Ne, Expr::Reg(dst), constant(v));
                    let target = starts[i - back as usize];
                    vec![
                        Instr::Load { dst, access: self.access(t, a, s, remote) },
                        Instr::Branch { cond, target, join: None },
                    ]
                }
                Do::Add(a, v, s) => {
                    let dst = self.builder.register(id, &visible);
                    self.observed.push(Term::Reg(id, dst));
                    let access = self.access(t, a, s, remote);
                    vec![Instr::Rmw { dst: Some(dst), access, op: RmwOp::Add, operand: constant(v) }]
                }
                Do::Update(a, v, s) => {
                    let access = self.access(t, a, s, remote);
                    vec![Instr::Rmw { dst: None, access, op: RmwOp::Add, operand: constant(v) }]
                }
                Do::Take(a, s) => {
                    let success = self.builder.register(id, "taken");
                    let cas = Cas {
                        dst: None,
                        success: Some(success),
                        access: self.access(t, a, s, remote),
                        expected: constant(0),
                        desired: constant(1),
                        order_failure: proto::Order::Relaxed,
                        weak: false,
                    };
                    let cond = Expr::Reg(success).equals(0);
                    vec![Instr::Cas(Box::new(cas)), Instr::Branch { cond, target: at, join: None }]
                }
                Do::Fence((order, level)) => vec![Instr::Fence(Fence {
                    order,
                    scope: Some(self.scope(t, level)),
                    global: true,
                    local: false,
                    proxy: None,
                    remote,
                    tags: Vec::new(),
                    section: None,
                })],
                Do::Remote(_) => panic!("an operation is remote once"),
            };
            at += instrs.len();
            for instr in instrs {
                self.builder.push(id, instr);
            }
        }
    }
}

/// The maximum number of states that `walk` visits.
pub(crate) const STATES_MAX: usize = 2_000_000;

/// Explores a program over a protocol.
pub(crate) fn walk<P: Protocol>(
    program: &Program,
    bounds: Bounds,
    seeded_fault: Option<SeededFault>,
) -> Walked {
    walk_at_most::<P>(program, bounds, seeded_fault, STATES_MAX)
}

/// Explores a program as `walk` does, but visits at most `states_max` states. If the program has
/// more states, the result is incomplete.
pub(crate) fn walk_at_most<P: Protocol>(
    program: &Program,
    bounds: Bounds,
    seeded_fault: Option<SeededFault>,
    states_max: usize,
) -> Walked {
    walk_subject(&Subject::of::<P>(), program, bounds, seeded_fault, states_max)
}

/// Explores a program as `walk_at_most` does. The protocol is given as a subject.
pub(crate) fn walk_subject(
    subject: &Subject,
    program: &Program,
    bounds: Bounds,
    seeded_fault: Option<SeededFault>,
    states_max: usize,
) -> Walked {
    let mut translation = Translation::new(program);
    for (t, thread) in program.threads.iter().enumerate() {
        translation.thread(t, &thread.ops);
    }
    let registers = translation.observed.clone();
    let finals = program.finals.iter().map(|&address| Term::Loc(LocId((address / 4) as u16)));
    let mut litmus = translation.builder.exists(Prop::True);
    litmus.observed = registers.iter().copied().chain(finals).collect();
    let placement = Placement {
        agents: program.threads.iter().map(|t| t.cu.map_or(Agent::Host(0), Agent::Cu)).collect(),
        lines: (0..WORDS as u8).map(|word| word / 2).collect(),
        stages: program.stages.clone(),
        ..Placement::default()
    };
    let mut explorer = Explorer::new(subject, bounds, seeded_fault);
    let mut limits = Limits { states_max: states_max as u64, ..Limits::default() };
    let found = explorer.explore(&litmus, &placement, &Requirements::default(), &mut limits);
    let found = found.expect("the machine has all that the program needs");
    let terms = litmus.state_terms();
    let value = |outcome: &explore::Outcome, term: Term| {
        let at = terms.iter().position(|&t| t == term).expect("it is observed");
        outcome[at] as u32
    };
    let outcomes = found.outcomes.iter().map(|outcome| {
        let of_thread = |t: usize| {
            let of = registers.iter().filter(|term| matches!(term, Term::Reg(u, _) if usize::from(u.0) == t));
            of.map(|&term| value(outcome, term)).collect()
        };
        let mut all: Outcome = (0..program.threads.len()).map(of_thread).collect();
        if !program.finals.is_empty() {
            let word = |&address: &u64| value(outcome, Term::Loc(LocId((address / 4) as u16)));
            all.push(program.finals.iter().map(word).collect());
        }
        all
    });
    let outcomes = outcomes.collect();
    let states = match found.incomplete {
        None => found.states as usize,
        Some(Incomplete::States(_)) => states_max + 1,
        Some(why) => panic!("{}: {why:?}", program.name),
    };
    Walked { outcomes, states, violation: found.violation.map(|violation| violation.why) }
}
