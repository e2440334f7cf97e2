//! Program skeletons: compact representations of generated programs.

use super::{Bound, Generated, Ordering};
use crate::program::{
    Access, Barrier, BinaryOp, Builder, Dialect, Expr, Fence, Instr, Level, LocId, Order, Prop, RmwOp,
    ScopeId, Scopes, Term, ThreadId, ThreadSet, Value,
};

/// The kind of an operation of a generated program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A load of data.
    Load,
    /// A store of data.
    Store,
    /// A load that is an acquire.
    SyncLoad,
    /// A store that is a release.
    SyncStore,
    /// A load that is an acquire and that waits until it reads a certain value.
    Await,
    /// A load that is an acquire. The thread continues only if the load reads a certain value.
    ConditionalLoad,
    /// An atomic exchange.
    Exchange,
    /// An atomic exchange. The thread continues only if the exchange reads a certain value.
    Take,
    /// A fence.
    Fence,
    /// A barrier of the work-group.
    Barrier,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 10] = [
        Kind::Load,
        Kind::Store,
        Kind::SyncLoad,
        Kind::SyncStore,
        Kind::Await,
        Kind::ConditionalLoad,
        Kind::Exchange,
        Kind::Take,
        Kind::Fence,
        Kind::Barrier,
    ];

    /// Whether an operation of this kind accesses a location.
    #[must_use]
    pub const fn accesses(self) -> bool {
        !matches!(self, Kind::Fence | Kind::Barrier)
    }

    /// Whether an operation of this kind writes its location.
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Kind::Store | Kind::SyncStore | Kind::Exchange | Kind::Take)
    }

    /// Whether an operation of this kind reads its location.
    #[must_use]
    pub const fn reads(self) -> bool {
        matches!(
            self,
            Kind::Load | Kind::SyncLoad | Kind::Await | Kind::ConditionalLoad | Kind::Exchange | Kind::Take
        )
    }

    /// Whether an operation of this kind synchronizes. Other operations are data accesses.
    #[must_use]
    pub const fn synchronizes(self) -> bool {
        !matches!(self, Kind::Load | Kind::Store)
    }

    /// Whether an operation of this kind expects a certain value: it waits for the value, or the
    /// thread continues only if the operation reads the value.
    #[must_use]
    pub const fn expects(self) -> bool {
        matches!(self, Kind::Await | Kind::ConditionalLoad | Kind::Take)
    }

    /// Whether the thread continues only if an operation of this kind reads a certain value.
    #[must_use]
    pub const fn is_conditional(self) -> bool {
        matches!(self, Kind::ConditionalLoad | Kind::Take)
    }
}

/// One operation of a generated program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Op {
    /// The kind of the operation.
    pub kind: Kind,
    /// The number of the location that the operation accesses. Unused for a fence and a barrier.
    pub location: u8,
    /// The index of a level of the scope tree. The scope of the operation is the instance of this
    /// level that contains the thread.
    pub level: u8,
    /// The value that an await or a conditional operation expects, given by a number: n stands for
    /// the value of the n-th write to the location, in the order of threads and operations, counted
    /// from one.
    pub value: u8,
    /// The memory order of the operation, if it synchronizes.
    pub ordering: Ordering,
}

/// A compact form of a generated program, from which the program is built.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProgramSkeleton {
    /// The operations of each thread.
    pub threads: Vec<Vec<Op>>,
    /// The levels of the scope tree, innermost first.
    pub levels: Vec<Level>,
    /// For each level of the scope tree, the number of the instance that contains each thread.
    pub tree: Vec<Vec<u8>>,
    /// The cache line of each location.
    pub lines: Vec<u8>,
    /// The compute unit of each thread.
    pub compute_units: Vec<u8>,
}

impl ProgramSkeleton {
    /// The number of locations that the operations access.
    #[must_use]
    pub fn locations(&self) -> usize {
        let accesses = self.threads.iter().flatten().filter(|op| op.kind.accesses());
        accesses.map(|op| usize::from(op.location) + 1).max().unwrap_or(0)
    }

    /// Whether the program can test anything. This requires that
    ///
    /// * each location is written, and is accessed by at least two threads (unless the program has
    ///   only one thread),
    /// * each expected value is written by another thread,
    /// * some operation follows each conditional operation (after which the thread continues only if
    ///   the operation has read a certain value),
    /// * all threads of a work-group arrive at its barriers.
    #[must_use]
    pub fn is_meaningful(&self) -> bool {
        let locations = self.locations();
        let shared = (0..locations).all(|loc| {
            let touches = |thread: &Vec<Op>| {
                thread.iter().any(|op| op.kind.accesses() && usize::from(op.location) == loc)
            };
            let sharers = self.threads.iter().filter(|thread| touches(thread)).count();
            sharers >= self.threads.len().min(2) && self.writes(loc).next().is_some()
        });
        let ops = || self.threads.iter().enumerate().flat_map(|(t, ops)| ops.iter().map(move |op| (t, op)));
        let written = ops().filter(|(_, op)| op.kind.expects()).all(|(t, op)| {
            let mut writes = self.writes(usize::from(op.location));
            writes.nth(usize::from(op.value) - 1).is_some_and(|writer| writer != t)
        });
        let continued = self.threads.iter().all(|ops| ops.last().is_none_or(|op| !op.kind.is_conditional()));
        locations > 0 && shared && written && continued && self.barriers_meet()
    }

    /// The numbers of the threads that write the location: one entry for each write, in the order
    /// of threads and operations.
    fn writes(&self, location: usize) -> impl Iterator<Item = usize> {
        let all = self.threads.iter().enumerate();
        all.flat_map(|(t, ops)| ops.iter().map(move |op| (t, op)))
            .filter(move |(_, op)| op.kind.writes() && usize::from(op.location) == location)
            .map(|(t, _)| t)
    }

    fn barriers_meet(&self) -> bool {
        let count = |t: usize| self.threads[t].iter().filter(|op| op.kind == Kind::Barrier).count();
        let Some(group) = self.levels.iter().position(|&level| level == Level::WorkGroup) else {
            return (0..self.threads.len()).all(|t| count(t) == 0);
        };
        let groups = &self.tree[group];
        (0..groups.len()).all(|t| (0..t).all(|u| groups[t] != groups[u] || count(t) == count(u)))
    }

    /// Whether no location is used both by data accesses and by synchronization.
    #[must_use]
    pub fn keeps_locations_apart(&self) -> bool {
        let ops = || self.threads.iter().flatten().filter(|op| op.kind.accesses());
        ops().all(|a| {
            ops().all(|b| a.location != b.location || a.kind.synchronizes() == b.kind.synchronizes())
        })
    }

    /// Builds the program that the skeleton represents.
    #[must_use]
    pub fn build(self, name: &str) -> Generated {
        let count = self.threads.len();
        let mut scopes = Scopes::flat(count);
        for (&level, instances) in self.levels.iter().zip(&self.tree) {
            if level == Level::System {
                continue;
            }
            let last = instances.iter().max().copied().unwrap_or(0);
            for instance in 0..=last {
                let members = (0..count).filter(|&t| instances[t] == instance);
                let members =
                    members.fold(ThreadSet::NONE, |set, t| set.union(ThreadSet::only(ThreadId(t as u8))));
                scopes.add(level, level_kind(level), u32::from(instance), members);
            }
        }
        let mut builder = SkeletonBuilder {
            skeleton: &self,
            builder: Builder::new(name, Dialect::OpenCl, scopes.clone(), count),
            scopes,
            locations: Vec::new(),
            written: vec![0; self.locations()],
            observed: Vec::new(),
        };
        for l in 0..self.locations() {
            let loc = builder.builder.location(&format!("x{l}"), 0);
            builder.locations.push(loc);
        }
        for t in 0..count {
            builder.thread(t);
        }
        let mut observed = builder.observed;
        observed.extend(builder.locations.iter().map(|&loc| Term::Loc(loc)));
        let mut program = builder.builder.exists(Prop::True);
        program.observed = observed;
        let (lines, compute_units) = (self.lines.clone(), self.compute_units.clone());
        Generated { program, lines, compute_units, skeleton: self }
    }
}

/// The name of a scope level in generated programs.
pub(super) fn level_kind(level: Level) -> &'static str {
    match level {
        Level::WorkItem => "work_item",
        Level::SubGroup => "sub_group",
        Level::WorkGroup => "work_group",
        Level::Chiplet => "chiplet",
        Level::Device => "device",
        Level::System => "system",
        Level::Named => "named",
    }
}

/// The memory order of an operation of this kind, if `ordering` is its choice of memory orders.
pub(super) fn order_of(kind: Kind, ordering: Ordering) -> Order {
    match (ordering, kind) {
        (_, Kind::Load | Kind::Store) => Order::Plain,
        (Ordering::Relaxed, _) => Order::Relaxed,
        (Ordering::SeqCst, _) => Order::SeqCst,
        (Ordering::AcquireRelease, Kind::SyncLoad | Kind::Await | Kind::ConditionalLoad) => Order::Acquire,
        (Ordering::AcquireRelease, Kind::SyncStore) => Order::Release,
        (Ordering::AcquireRelease, Kind::Exchange | Kind::Take | Kind::Fence | Kind::Barrier) => {
            Order::AcqRel
        }
    }
}

struct SkeletonBuilder<'a> {
    skeleton: &'a ProgramSkeleton,
    builder: Builder,
    scopes: Scopes,
    locations: Vec<LocId>,
    /// For each location, the number of its writes that have already been built.
    written: Vec<Value>,
    observed: Vec<Term>,
}

impl SkeletonBuilder<'_> {
    fn thread(&mut self, t: usize) {
        let thread = ThreadId(t as u8);
        let ops = &self.skeleton.threads[t];
        let end = ops.iter().map(|op| 1 + usize::from(op.kind.is_conditional())).sum();
        let mut reads = 0;
        for op in ops {
            let mut dst = None;
            if op.kind.reads() && op.kind != Kind::Await {
                let reg = self.builder.register(thread, &format!("r{reads}"));
                self.observed.push(Term::Reg(thread, reg));
                reads += 1;
                dst = Some(reg);
            }
            let instr = self.instr(thread, op, dst);
            self.builder.push(thread, instr);
            if let (true, Some(reg)) = (op.kind.is_conditional(), dst) {
                let cond = Expr::binary(BinaryOp::Ne, Expr::Reg(reg), Expr::Const(op.value.into()));
                self.builder.push(thread, Instr::Branch { cond, target: end, join: None });
            }
        }
    }

    fn scope(&self, thread: ThreadId, op: &Op) -> ScopeId {
        let level = self.skeleton.levels[usize::from(op.level)];
        self.scopes.enclosing(thread, level).expect("the tree places every thread at every level")
    }

    fn instr(&mut self, thread: ThreadId, op: &Op, dst: Option<crate::program::Reg>) -> Instr {
        let order = order_of(op.kind, op.ordering);
        let access = |builder: &SkeletonBuilder<'_>| {
            let address = Expr::Addr(builder.locations[usize::from(op.location)]);
            match op.kind.synchronizes() {
                true => Access::atomic(address, order, builder.scope(thread, op)),
                false => Access::plain(address),
            }
        };
        if op.kind.writes() {
            self.written[usize::from(op.location)] += 1;
        }
        match (op.kind, dst) {
            (Kind::Load | Kind::SyncLoad | Kind::ConditionalLoad, Some(dst)) => {
                Instr::Load { dst, access: access(self) }
            }
            (Kind::Await, _) => Instr::Await {
                dst: None,
                access: access(self),
                cmp: BinaryOp::Eq,
                value: Expr::Const(op.value.into()),
            },
            (Kind::Exchange | Kind::Take, dst) => Instr::Rmw {
                dst,
                access: access(self),
                op: RmwOp::Exchange,
                operand: Expr::Const(self.written[usize::from(op.location)]),
            },
            (Kind::Fence, _) => Instr::Fence(Fence {
                order,
                scope: Some(self.scope(thread, op)),
                global: true,
                local: true,
                proxy: None,
                remote: false,
                tags: Vec::new(),
                section: None,
            }),
            (Kind::Barrier, _) => Instr::Barrier(Barrier {
                group: self
                    .scopes
                    .enclosing(thread, Level::WorkGroup)
                    .expect("only programs with work-groups have barriers"),
                scope: self.scope(thread, op),
                order,
                instance: 0,
                id: Expr::Const(0),
                quorum: None,
                arrive: false,
                global: true,
                local: true,
                tags: Vec::new(),
            }),
            _ => Instr::Store {
                access: access(self),
                value: Expr::Const(self.written[usize::from(op.location)]),
            },
        }
    }
}

/// The list of all operations that a thread may execute within the bound.
pub(super) fn alphabet(bound: &Bound, tree: &[Vec<u8>], thread: usize) -> Vec<Op> {
    let mut ops = Vec::new();
    let plain = Op { kind: Kind::Load, location: 0, level: 0, value: 0, ordering: Ordering::AcquireRelease };
    let locations = bound.locations_max as u8;
    let writes_max = bound.operations_max as u8;
    let group = bound.levels.iter().position(|l| l.level == Level::WorkGroup);
    let alone = |row: &Vec<u8>| row.iter().filter(|&&i| i == row[thread]).count() < 2;
    for &kind in &bound.kinds {
        if kind == Kind::Barrier && group.is_none_or(|group| alone(&tree[group])) {
            continue;
        }
        let locations = if kind.accesses() { 0..locations } else { 0..1 };
        for location in locations {
            if !kind.synchronizes() {
                ops.push(Op { kind, location, ..plain });
                continue;
            }
            for &ordering in &bound.orderings {
                for (level, _) in
                    tree.iter().enumerate().filter(|(_, row)| bound.single_thread_scopes || !alone(row))
                {
                    let values = if kind.expects() { 1..=writes_max } else { 0..=0 };
                    let level = level as u8;
                    ops.extend(values.map(|value| Op { kind, location, level, value, ordering }));
                }
            }
        }
    }
    ops
}
