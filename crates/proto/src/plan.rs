//! Plans as data: the sequence of steps of an operation.
//!
//! A plan is composed of the release, the access, the acquire, and the answer, in this order. Each
//! of the four is a `const fn` of the [`PlanKey`]. [`crate::plans`] evaluates all plans at compile
//! time, so a run only looks up a slice.

use crate::request::{Hints, Level, Op, Order, Request};
use crate::symbols::Symbol;
use crate::table::{TableId, described};

crate::symbols! {
    /// The kinds of operation that plans distinguish.
    pub enum OpClass {
        /// A load.
        Load,
        /// A store.
        Store,
        /// A read-modify-write whose old value is used.
        Rmw,
        /// A read-modify-write whose old value is not used.
        Update,
        /// A fence.
        Fence,
        /// The beginning of a kernel.
        KernelBegin,
        /// The end of a kernel.
        KernelEnd,
    }
}

/// The part of the machine (caches, compute units, host) that a release or an acquire reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reach {
    /// Only the work-items of one compute unit.
    Group,
    /// The whole GPU.
    Device,
    /// The whole GPU and the host.
    System,
}

/// The properties of a request that select its plan (the sequence of steps that performs the
/// request).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlanKey {
    /// The kind of the operation.
    pub op: OpClass,
    /// The memory order of the operation.
    pub order: Order,
    /// The level of the operation's scope.
    pub level: Level,
    /// Whether the operation is a remote operation, which also synchronizes with operations of
    /// other threads at narrower scopes.
    pub remote: bool,
    /// Whether the operation is a commutative update, which may be reordered with other commutative
    /// updates of the same word.
    pub commutative: bool,
}

/// The number of combinations of the two hints `remote` and `commutative`.
const HINTS: usize = 4;

impl PlanKey {
    /// The number of different plan keys (combinations of operation, order, scope level and hints).
    pub const COUNT: usize = OpClass::ALL.len() * Order::ALL.len() * Level::ALL.len() * HINTS;

    /// The key that selects the plan of a request (the sequence of steps that performs it).
    #[inline]
    #[must_use]
    pub fn of(req: &Request) -> Self {
        PlanKey::new(req.op, req.order, req.scope.level, req.hints)
    }

    /// The key of an operation with this order, scope level and hints.
    #[inline]
    #[must_use]
    pub const fn new(op: Op, order: Order, level: Level, hints: Hints) -> Self {
        let op = match op {
            Op::Load => OpClass::Load,
            Op::Store => OpClass::Store,
            Op::Rmw(rmw) if rmw.uses_value => OpClass::Rmw,
            Op::Rmw(_) => OpClass::Update,
            Op::Fence => OpClass::Fence,
            Op::KernelBegin(_) => OpClass::KernelBegin,
            Op::KernelEnd(_) => OpClass::KernelEnd,
        };
        let Hints { remote, commutative } = hints;
        PlanKey { op, order, level, remote, commutative }
    }

    /// The key of an ordinary (not atomic) load.
    pub const PLAIN_LOAD: PlanKey = PlanKey {
        op: OpClass::Load,
        order: Order::Plain,
        level: Level::WorkItem,
        remote: false,
        commutative: false,
    };

    /// The hints of the key's operation: `remote` and `commutative`.
    #[must_use]
    pub const fn hints(self) -> Hints {
        Hints { remote: self.remote, commutative: self.commutative }
    }

    /// The plan key with this number, which must be below [`PlanKey::COUNT`].
    #[must_use]
    pub const fn nth(number: usize) -> Self {
        let (rest, hints) = (number / HINTS, number % HINTS);
        let (rest, level) = (rest / Level::ALL.len(), rest % Level::ALL.len());
        let (op, order) = (rest / Order::ALL.len(), rest % Order::ALL.len());
        let (op, order, level) = (OpClass::ALL[op], Order::ALL[order], Level::ALL[level]);
        PlanKey { op, order, level, remote: hints & 1 != 0, commutative: hints & 2 != 0 }
    }

    /// The number of the key: the inverse of [`PlanKey::nth`].
    #[inline]
    #[must_use]
    pub const fn number(self) -> usize {
        let op_and_order = self.op as usize * Order::ALL.len() + self.order as usize;
        let hints = self.remote as usize | (self.commutative as usize) << 1;
        (op_and_order * Level::ALL.len() + self.level as usize) * HINTS + hints
    }

    /// All plan keys, in the order of their numbers.
    #[inline]
    pub fn all() -> impl Iterator<Item = PlanKey> {
        static ALL: [PlanKey; PlanKey::COUNT] = {
            let mut all = [PlanKey::PLAIN_LOAD; PlanKey::COUNT];
            let mut number = 0;
            while number < PlanKey::COUNT {
                all[number] = PlanKey::nth(number);
                number += 1;
            }
            all
        };
        ALL.iter().copied()
    }

    /// Whether the operation is an access that is not atomic.
    #[must_use]
    pub const fn is_plain(self) -> bool {
        matches!(self.order, Order::Plain) && self.is_access()
    }

    /// Whether the operation reads or writes a line.
    #[must_use]
    pub const fn is_access(self) -> bool {
        !matches!(self.op, OpClass::Fence | OpClass::KernelBegin | OpClass::KernelEnd)
    }

    /// The reach of the operation's scope. The beginning or end of a kernel reaches at least the
    /// device.
    #[must_use]
    pub const fn reach(self) -> Reach {
        let is_kernel = matches!(self.op, OpClass::KernelBegin | OpClass::KernelEnd);
        match self.level {
            Level::System => Reach::System,
            Level::Chiplet | Level::Device | Level::Named => Reach::Device,
            Level::WorkItem | Level::SubGroup | Level::WorkGroup if is_kernel => Reach::Device,
            Level::WorkItem | Level::SubGroup | Level::WorkGroup => Reach::Group,
        }
    }

    /// Whether the operation acquires. A store never acquires, whatever its order.
    #[must_use]
    pub const fn acquires(self) -> bool {
        match self.op {
            OpClass::Load | OpClass::Rmw | OpClass::Update | OpClass::Fence => self.order.acquires(),
            OpClass::KernelBegin => true,
            OpClass::Store | OpClass::KernelEnd => false,
        }
    }

    /// Whether the operation releases. A load never releases, whatever its order.
    #[must_use]
    pub const fn releases(self) -> bool {
        match self.op {
            OpClass::Store | OpClass::Rmw | OpClass::Update | OpClass::Fence => self.order.releases(),
            OpClass::KernelEnd => true,
            OpClass::Load | OpClass::KernelBegin => false,
        }
    }

    /// The reach of the operation's acquire, or `None` if the operation does not acquire.
    #[must_use]
    pub const fn acquired(self) -> Option<Reach> {
        if self.acquires() { Some(self.reach()) } else { None }
    }

    /// The reach of the operation's release, or `None` if the operation does not release.
    #[must_use]
    pub const fn released(self) -> Option<Reach> {
        if self.releases() { Some(self.reach()) } else { None }
    }
}

/// The steps of one plan. A plan is the sequence of steps that performs an operation.
#[derive(Clone, Copy, Debug)]
pub struct Steps<S: 'static> {
    steps: [S; STEPS_MAX],
    count: u8,
}

/// The maximum number of steps of a plan. A longer plan does not compile.
const STEPS_MAX: usize = 16;

impl<S: Symbol> Steps<S> {
    /// The plan without steps.
    pub const NONE: Steps<S> = Steps { steps: [S::ALL[0]; STEPS_MAX], count: 0 };

    /// The concatenation of these lists of steps.
    #[must_use]
    pub const fn of(parts: &[&[S]]) -> Steps<S> {
        let (mut all, mut part) = (Steps::NONE, 0);
        while part < parts.len() {
            all = all.then(parts[part]);
            part += 1;
        }
        all
    }

    /// The steps of this plan, followed by `steps`.
    #[must_use]
    pub const fn then(mut self, steps: &[S]) -> Steps<S> {
        let mut at = 0;
        while at < steps.len() {
            self.steps[self.count as usize] = steps[at];
            self.count += 1;
            at += 1;
        }
        self
    }

    /// The steps of the plan, as a slice.
    #[inline]
    #[must_use]
    pub const fn as_slice(&self) -> &[S] {
        self.steps.split_at(self.count as usize).0
    }
}

/// The plans of one kind of controller: for each operation, the sequence of steps that performs the
/// operation.
pub trait Plans: 'static {
    /// The type of the steps of which the plans consist.
    type Step: Symbol + PartialEq;
    /// The identity of the plans (sequences of steps). It must differ from the identities of the
    /// other plans and tables of the protocol.
    const ID: TableId;
    /// The name by which the protocol's page calls the plans.
    const NAME: &'static str;
    /// The steps of the operation with this key. A key consists of the operation's kind, memory
    /// order, scope level and hints.
    fn plan(key: PlanKey) -> &'static [Self::Step];
}

/// Declares plans (the sequences of steps that perform operations). Each plan is composed by a
/// `const fn(PlanKey) -> Steps<Step>`.
///
/// ```
/// use proto::{PlanKey, Plans, Reach, Steps, TableId};
///
/// proto::symbols! {
///     /// The steps of operations.
///     pub enum Step {
///         /// Write the dirty lines of this cache out and wait for the acks.
///         Flush,
///         /// Perform the access.
///         Here,
///         /// Invalidate the clean bytes of this cache.
///         Invalidate,
///     }
/// }
///
/// const fn compose(key: PlanKey) -> Steps<Step> {
///     let release: &[Step] = if key.releases() { &[Step::Flush] } else { &[] };
///     let access: &[Step] = if key.is_access() { &[Step::Here] } else { &[] };
///     let acquire: &[Step] = match key.acquired() {
///         None | Some(Reach::Group) => &[],
///         Some(Reach::Device | Reach::System) => &[Step::Invalidate],
///     };
///     Steps::of(&[release, access, acquire])
/// }
///
/// proto::plans! {
///     /// The plan of each operation at the L1.
///     pub struct L1Plans: Step = compose, TableId(1), "Operations at the L1"
/// }
///
/// let longest = PlanKey::all().map(|key| L1Plans::plan(key).len()).max();
/// assert_eq!(longest, Some(3));
/// ```
#[macro_export]
macro_rules! plans {
    ($(#[doc = $doc:literal])+ $vis:vis struct $name:ident: $step:ty = $compose:expr, $id:expr, $title:expr) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $vis struct $name;

        impl $crate::Plans for $name {
            type Step = $step;
            const ID: $crate::TableId = $id;
            const NAME: &'static str = $title;

            #[inline]
            fn plan(key: $crate::PlanKey) -> &'static [$step] {
                static PLANS: [$crate::Steps<$step>; $crate::PlanKey::COUNT] = {
                    let mut plans = [$crate::Steps::NONE; $crate::PlanKey::COUNT];
                    let mut at = 0;
                    while at < plans.len() {
                        plans[at] = $compose($crate::PlanKey::nth(at));
                        at += 1;
                    }
                    plans
                };
                PLANS[key.number()].as_slice()
            }
        }
    };
}

/// Plans in which steps are names instead of Rust types. Pages and mutants (protocols with a seeded
/// fault) use them.
#[derive(Clone, Debug)]
pub struct PlansView {
    /// The identity of the plans within the protocol.
    pub id: TableId,
    /// The name of the plans on the protocol's page.
    pub name: &'static str,
    /// The name and the description of each step.
    pub steps: Vec<(&'static str, &'static str)>,
    /// Every plan key, with the names of the steps of its plan.
    pub plans: Vec<(PlanKey, Vec<&'static str>)>,
}

impl PlansView {
    /// The plans `T` as a [`PlansView`], with one entry for every combination of operation, memory
    /// order, scope level and hints.
    #[must_use]
    pub fn of<T: Plans>() -> Self {
        let names = |key| T::plan(key).iter().map(|step| step.name()).collect();
        let plans = PlanKey::all().map(|key| (key, names(key))).collect();
        PlansView { id: T::ID, name: T::NAME, steps: described::<T::Step>(), plans }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_numbered_without_gaps() {
        for number in 0..PlanKey::COUNT {
            assert_eq!(PlanKey::nth(number).number(), number);
        }
    }
}
