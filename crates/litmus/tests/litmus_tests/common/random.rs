//! Small random programs, generated from a seed.

use litmus::program::{
    Access, Barrier, BinaryOp, Builder, Cas, Dialect, Expr, Fence, Instr, Level, LocId, Order, Program, Prop,
    Reg, RmwOp, ScopeId, Scopes, Term, ThreadId, ThreadSet,
};

/// A pseudo-random generator (SplitMix64). Equal seeds give equal numbers.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }
}

/// The size of a random program, and the constructs that it may have besides loads, stores and
/// awaits.
#[derive(Clone, Copy)]
pub struct Features {
    pub threads: usize,
    pub ops: usize,
    pub locations: usize,
    pub fences: bool,
    pub barriers: bool,
    pub spins: bool,
    pub named: bool,
    pub relaxed: bool,
}

fn scopes(rng: &mut Rng, features: Features) -> Scopes {
    let threads = features.threads;
    let mut scopes = Scopes::flat(threads);
    let mut groups = vec![ThreadSet::NONE; threads];
    let count = 1 + rng.below(threads);
    for t in 0..threads {
        let g = rng.below(count);
        groups[g] = groups[g].union(ThreadSet::only(ThreadId(t as u8)));
    }
    for (g, members) in groups.iter().filter(|m| m.count() > 0).enumerate() {
        scopes.add(Level::WorkGroup, "work_group", g as u32, *members);
    }
    scopes.add(Level::Device, "device", 0, ThreadSet::first(threads));
    if features.named {
        for i in 0..2 {
            let members = ThreadSet(1 + rng.next() % ((1 << threads) - 1));
            scopes.add(Level::Named, if i == 0 { "SA" } else { "SB" }, 0, members);
        }
    }
    scopes
}

struct Maker<'a> {
    rng: &'a mut Rng,
    features: Features,
    builder: Builder,
    scopes: Scopes,
    locations: Vec<LocId>,
}

impl Maker<'_> {
    fn scope(&mut self, thread: ThreadId) -> ScopeId {
        let all = self.scopes.of_thread(thread);
        // Scopes of one thread synchronize with no other thread, so they are rare.
        loop {
            let scope = all[self.rng.below(all.len())];
            if self.scopes.get(scope).members.count() > 1 || self.rng.chance(10) {
                return scope;
            }
        }
    }

    fn location(&mut self) -> LocId {
        self.locations[self.rng.below(self.locations.len())]
    }

    fn atomic(&mut self, thread: ThreadId, loc: LocId, orders: &[Order]) -> Access {
        let mut order = orders[self.rng.below(orders.len())];
        if self.features.relaxed && self.rng.chance(20) {
            order = Order::Relaxed;
        }
        let scope = self.scope(thread);
        Access::atomic(Expr::Addr(loc), order, scope)
    }

    fn op(&mut self, thread: ThreadId, n: usize) {
        let dst = self.builder.register(thread, &format!("r{n}"));
        let loc = self.location();
        let value = Expr::Const(1 + self.rng.below(2) as i64);
        let reads = [Order::Acquire, Order::SeqCst];
        let writes = [Order::Release, Order::SeqCst];
        let both = [Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst];
        let instr = match self.rng.below(20) {
            0..=1 => Instr::Load { dst, access: Access::plain(Expr::Addr(loc)) },
            2..=3 => Instr::Store { access: Access::plain(Expr::Addr(loc)), value },
            4..=6 => Instr::Load { dst, access: self.atomic(thread, loc, &reads) },
            7..=9 => Instr::Store { access: self.atomic(thread, loc, &writes), value },
            10 => Instr::Rmw {
                dst: Some(dst),
                access: self.atomic(thread, loc, &both),
                op: RmwOp::Add,
                operand: value,
            },
            11 => {
                let access = self.atomic(thread, loc, &both);
                Instr::Cas(Box::new(Cas {
                    dst: Some(dst),
                    success: None,
                    access,
                    expected: Expr::Const(self.rng.below(2) as i64),
                    desired: value,
                    order_failure: Order::Acquire,
                    weak: self.rng.chance(30),
                }))
            }
            12..=14 => {
                Instr::Await { dst: None, access: self.atomic(thread, loc, &reads), cmp: BinaryOp::Eq, value }
            }
            15 if self.features.fences => {
                let order = both[self.rng.below(4)];
                let scope = Some(self.scope(thread));
                Instr::Fence(Fence {
                    order,
                    scope,
                    global: true,
                    local: true,
                    proxy: None,
                    remote: false,
                    tags: Vec::new(),
                    section: None,
                })
            }
            16 if self.features.barriers => {
                let group = self.scopes.enclosing(thread, Level::WorkGroup).expect("all are in one");
                let scope = if self.rng.chance(50) { group } else { self.scope(thread) };
                Instr::Barrier(Barrier {
                    group,
                    scope,
                    order: Order::AcqRel,
                    instance: 0,
                    id: Expr::Const(0),
                    arrive: false,
                    quorum: self.rng.chance(10).then_some(Expr::Const(2)),
                    global: true,
                    local: true,
                    tags: Vec::new(),
                })
            }
            17 if self.features.spins => return self.spin(thread, dst, loc, value),
            _ => return self.guarded(thread, dst, loc, value),
        };
        self.builder.push(thread, instr);
    }

    /// Adds a loop that waits for a value: `do r = load; while (r != value)`.
    fn spin(&mut self, thread: ThreadId, dst: Reg, loc: LocId, value: Expr) {
        let access = self.atomic(thread, loc, &[Order::Acquire]);
        let head = self.builder.push(thread, Instr::Load { dst, access });
        let cond = Expr::binary(BinaryOp::Ne, Expr::Reg(dst), value);
        self.builder.push(thread, Instr::Branch { cond, target: head, join: None });
    }

    /// Adds a store that is executed only after a load has returned a certain value:
    /// `r = load; if (r == value) store`.
    fn guarded(&mut self, thread: ThreadId, dst: Reg, loc: LocId, value: Expr) {
        let access = self.atomic(thread, loc, &[Order::Acquire]);
        let at = self.builder.push(thread, Instr::Load { dst, access });
        let cond = Expr::binary(BinaryOp::Ne, Expr::Reg(dst), value.clone());
        self.builder.push(thread, Instr::Branch { cond, target: at + 3, join: None });
        let access = Access::plain(Expr::Addr(self.location()));
        self.builder.push(thread, Instr::Store { access, value });
    }
}

/// A random program. It depends only on the generator `rng` and on `features`.
pub fn program(rng: &mut Rng, features: Features) -> Program {
    let scopes = scopes(rng, features);
    let mut builder = Builder::new("random", Dialect::OpenCl, scopes.clone(), features.threads);
    let locations = (0..features.locations).map(|i| builder.location(&format!("x{i}"), 0)).collect();
    let mut maker = Maker { rng, features, builder, scopes, locations };
    let mut observed = Vec::new();
    for t in 0..features.threads {
        let thread = ThreadId(t as u8);
        let ops = 1 + maker.rng.below(features.ops);
        for n in 0..ops {
            maker.op(thread, n);
        }
        // Some registers are not observed, so the search may forget them.
        observed.extend((0..ops.min(2)).map(|r| Term::Reg(thread, Reg(r as u16))));
    }
    observed.extend(maker.locations.iter().map(|&loc| Term::Loc(loc)));
    let mut program = maker.builder.exists(Prop::True);
    program.observed = observed;
    program
}
