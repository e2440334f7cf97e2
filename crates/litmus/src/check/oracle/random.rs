//! Small random programs, generated from a seed.

use crate::program::{
    Access, Barrier, BinaryOp, Builder, Dialect, Expr, Fence, Instr, Level, LocId, Order, Program, Prop,
    RmwOp, ScopeId, Scopes, Term, ThreadId, ThreadSet, Value,
};

/// A deterministic pseudo-random generator.
struct Random(u64);

impl Random {
    fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

const ORDERS: [Order; 6] =
    [Order::Plain, Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst];

fn access(random: &mut Random, loc: LocId, not: &[Order], scopes: &[ScopeId]) -> Access {
    let order = loop {
        let order = ORDERS[random.below(6)];
        if !not.contains(&order) {
            break order;
        }
    };
    match order {
        Order::Plain => Access::plain(Expr::Addr(loc)),
        order => Access::atomic(Expr::Addr(loc), order, scopes[random.below(scopes.len())]),
    }
}

/// The relative frequencies of the kinds of instructions in a random program.
#[derive(Clone, Copy)]
pub(super) struct Mix {
    pub(super) stores: usize,
    pub(super) loads: usize,
    pub(super) rmws: usize,
    pub(super) barriers: usize,
}

const USUAL: Mix = Mix { stores: 3, loads: 3, rmws: 1, barriers: 0 };
/// A mix of mostly read-modify-writes, with some barriers that wait for two threads.
pub(super) const LOCKS: Mix = Mix { stores: 1, loads: 1, rmws: 5, barriers: 1 };

/// A random program of two or three threads on two locations.
pub(super) fn program(seed: u64, dialect: Dialect) -> Program {
    mixed(seed, dialect, USUAL)
}

pub(super) fn mixed(seed: u64, dialect: Dialect, mix: Mix) -> Program {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995);
    let threads = 2 + random.below(2);
    let mut scopes = Scopes::flat(threads);
    let group = dialect != Dialect::C11;
    if group {
        let split = 1 + random.below(threads - 1);
        let first = ThreadSet::first(split);
        let rest = ThreadSet(ThreadSet::first(threads).0 & !first.0);
        scopes.add(Level::WorkGroup, "work_group", 0, first);
        scopes.add(Level::WorkGroup, "work_group", 1, rest);
        scopes.add(Level::Device, "device", 0, ThreadSet::first(threads));
    }
    let mut b = Builder::new("random", dialect, scopes.clone(), threads);
    let locs = [b.location("x", 0), b.location("y", 0)];
    let mut terms = Vec::new();
    for number in 0..threads {
        let id = ThreadId(number as u8);
        let levels: &[Level] = if group { &[Level::WorkGroup, Level::Device] } else { &[Level::System] };
        let own: Vec<ScopeId> = levels.iter().filter_map(|&l| scopes.enclosing(id, l)).collect();
        for at in 0..1 + random.below(if threads == 2 { 4 } else { 3 }) {
            let loc = locs[random.below(2)];
            let value = Expr::Const(1 + (number * 4 + at) as Value);
            let side = random.below(mix.stores + mix.loads + mix.rmws + mix.barriers + 1);
            let (loads, rmws) = (mix.stores + mix.loads, mix.stores + mix.loads + mix.rmws);
            match side {
                side if side < mix.stores => {
                    let access = access(&mut random, loc, &[Order::Acquire, Order::AcqRel], &own);
                    b.push(id, Instr::Store { access, value });
                }
                side if side < loads => {
                    let access = access(&mut random, loc, &[Order::Release, Order::AcqRel], &own);
                    let dst = b.register(id, &format!("r{at}"));
                    b.push(id, Instr::Load { dst, access });
                    terms.push(Term::Reg(id, dst));
                }
                side if side < rmws => {
                    let access = access(&mut random, loc, &[Order::Plain], &own);
                    let dst = b.register(id, &format!("r{at}"));
                    let swaps = mix.barriers > 0 && random.below(2) == 0;
                    let op = if swaps { RmwOp::Exchange } else { RmwOp::Add };
                    b.push(id, Instr::Rmw { dst: Some(dst), access, op, operand: value });
                    terms.push(Term::Reg(id, dst));
                    // Adds a branch on the value that was read, so that some paths of the thread
                    // exist for one value only.
                    if swaps && random.below(3) == 0 {
                        let cond = Expr::binary(BinaryOp::Ne, Expr::Reg(dst), Expr::Const(0));
                        let target = usize::MAX;
                        b.push(id, Instr::Branch { cond, target, join: None });
                    }
                }
                side if side < rmws + mix.barriers => {
                    b.push(
                        id,
                        Instr::Barrier(Barrier {
                            group: own[own.len() - 1],
                            scope: own[0],
                            order: Order::AcqRel,
                            instance: 0,
                            id: Expr::Const(0),
                            arrive: random.below(4) == 0,
                            quorum: Some(Expr::Const(2)),
                            global: true,
                            local: true,
                            tags: Vec::new(),
                        }),
                    );
                }
                _ => {
                    let order = ORDERS[2 + random.below(4)];
                    let scope = own[random.below(own.len())];
                    b.push(
                        id,
                        Instr::Fence(Fence {
                            order,
                            scope: Some(scope),
                            global: true,
                            local: true,
                            proxy: None,
                            remote: false,
                            tags: Vec::new(),
                            section: None,
                        }),
                    );
                }
            }
        }
    }
    let mut program = b.exists(Prop::True);
    program.observed = terms;
    program.observed.extend(locs.map(Term::Loc));
    program
}
