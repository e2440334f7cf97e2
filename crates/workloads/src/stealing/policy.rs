//! The policies of work stealing. The scenarios of the hLRC paper (section IV.B) are such policies.

use kernel::Semantics;
use proto::{Level, Order, Sharing};

use super::order::{QueueStep, Side};
use crate::settings::{Setting, Settings};

/// The way in which a work-group takes tasks from queues of other work-groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stealing {
    /// A work-group does not steal. It runs only the tasks in its own queue.
    None,
    /// A work-group steals at device scope.
    Device,
    /// A work-group steals at device scope by remote operations, which also synchronize with owners
    /// that use a narrower scope (remote-scope promotion).
    Remote,
    /// A work-group steals at the scope of the owner. This is correct only on machines without
    /// scopes. On all other machines it is a race.
    Unscoped,
}

/// The layout of the heads and tails of the queues in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Each head and each tail has a line of its own.
    Padded,
    /// The head and the tail of a queue share a line, which no other queue uses.
    Joined,
    /// There is no padding, so several queues share a line.
    Packed,
}

/// The work that prepares the heads and tails of the queues for the next kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refill {
    /// In each kernel, the owners prepare the heads and tails for the next kernel. Two sets of heads
    /// and tails take turns, in the same lines.
    Owner,
    /// The host prepares a set of heads and tails for each kernel before the first kernel begins. So
    /// the lines of a set are in no cache when its kernel begins.
    Host,
}

/// The policy of the synchronization on the queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Policy {
    /// The scope of the owner's accesses to its queue.
    pub own: Level,
    /// The way in which work-groups steal.
    pub stealing: Stealing,
    /// The layout of the heads and tails of the queues.
    pub layout: Layout,
    /// The work that prepares the heads and tails for the next kernel.
    pub refill: Refill,
    /// Whether the memory orders are those of the code that Cederman and Tsigas published. These
    /// orders are too weak.
    pub published: bool,
    /// A wavefront stops stealing after it has found this number of empty queues in a row.
    pub attempts: u32,
}

/// A policy for programs that steal work, with its name, after the hLRC paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// The name of the scenario.
    pub name: &'static str,
    /// The choices that make up the scenario's policy, in the form that [`Settings::set_policy`]
    /// takes.
    pub policy: &'static str,
    /// The description of the scenario, in one line.
    pub summary: &'static str,
}

/// The scenarios of section IV.B of the hLRC paper that can run on any machine, and the scenario of
/// section V.C of that paper.
///
/// Two of the paper's machines have no scopes (Table 3, right). Their actions depend on the memory
/// order of an atomic, and on the cache that used its variable last. Section V.C extends hLRC by
/// scopes: an atomic at work-group scope acts like an atomic without a scope, and an atomic at
/// device scope is performed at the L2. In the scenario `hlrc-scoped`, steals are at device scope.
///
/// The scenarios at device scope have no races on any machine. The scenario `scope-only` has no
/// races on a machine with scopes. The scenario `hlrc-scoped` has no races on a machine whose
/// atomics are correct whatever their scope.
pub static SCENARIOS: [Scenario; 4] = [
    Scenario {
        name: "baseline",
        policy: "device,no-steal",
        summary: "own queue only, everything at device scope",
    },
    Scenario {
        name: "scope-only",
        policy: "work-group,no-steal",
        summary: "own queue only, at work-group scope",
    },
    Scenario {
        name: "steal-only",
        policy: "device,steal-device",
        summary: "stealing, everything at device scope",
    },
    Scenario {
        name: "hlrc-scoped",
        policy: "work-group,steal-device",
        summary: "own queue without scopes, thefts at device scope",
    },
];

/// The scenario of section IV.B of the hLRC paper for a machine. `None` for [`Sharing::Scoped`].
/// `sharing` is the machine's requirement on programs that share data. `name`, the name of the
/// machine's protocol, becomes the name of the scenario.
///
/// On a machine without scopes, the program uses work-group scope everywhere, also for steals.
/// Device scope has another meaning there: see `hlrc-scoped`.
#[must_use]
pub fn for_machine(sharing: Sharing, name: &'static str) -> Option<Scenario> {
    let (policy, summary) = match sharing {
        Sharing::Scoped => return None,
        Sharing::Remote => {
            ("work-group,steal-remote", "own queue at work-group scope, thefts by remote operations")
        }
        Sharing::Unscoped => ("work-group,steal-unscoped", "stealing, without scopes"),
    };
    Some(Scenario { name, policy, summary })
}

/// The scenario with this name. `None` if there is no such scenario.
#[must_use]
pub fn scenario(name: &str) -> Option<Scenario> {
    SCENARIOS.iter().find(|s| s.name == name).copied()
}

pub(crate) const SCOPE: Setting = Setting::policy(
    "scope",
    &[("device", "the whole GPU"), ("work-group", "the work-group that accesses its own queue")],
    "the scope of a work-group's accesses to its own queue",
);

pub(crate) const STEAL: Setting = Setting::policy(
    "steal",
    &[
        ("steal-device", "take tasks from any queue, at device scope"),
        ("no-steal", "take no tasks from other queues"),
        ("steal-remote", "take tasks from any queue, by remote operations at device scope"),
        (
            "steal-unscoped",
            "take tasks from any queue, at the scope of its owner, for machines that ignore scopes",
        ),
    ],
    "the kind of stealing from the queues of other work-groups",
);

pub(crate) const PADDING: Setting = Setting::policy(
    "padding",
    &[
        ("padded", "each head and each tail has a line of its own"),
        ("joined", "the head and the tail of a queue share a line, which no other queue uses"),
        ("packed", "heads and tails of several queues share a line"),
    ],
    "the layout of the variables of the queues",
);

pub(crate) const REFILL: Setting = Setting::policy(
    "refill",
    &[
        ("owner-refill", "each owner fills its queue for the next kernel"),
        ("host-refill", "the host fills the queues of all kernels in advance; needs `sweeps` above 0"),
    ],
    "who fills the queues before a kernel",
);

pub(crate) const ORDERING: Setting = Setting::policy(
    "ordering",
    &[
        ("ordered", "as strong as necessary"),
        ("as-published", "relaxed everywhere, as in the published code: too weak"),
    ],
    "the memory orders of the queue",
);

/// A wavefront stops stealing after it has found this number of empty queues in a row. The default
/// is 4. Table 6 of the hLRC paper shows that, on six of nine inputs, other L1 caches serve about 5
/// to 13 atomics for each sweep and work-group. A wavefront that looks at an empty queue makes one
/// of these atomics. Two wavefronts that look at four empty queues each therefore make eight.
pub(crate) const ATTEMPTS: Setting = Setting::count(
    "attempts",
    4,
    1,
    1 << 16,
    "number of consecutive empty queues after which a wavefront stops stealing",
);

impl Policy {
    /// The policy that the settings of a workload select.
    pub(crate) fn of(settings: &Settings) -> Policy {
        let stealing = if settings.is("steal", "no-steal") {
            Stealing::None
        } else if settings.is("steal", "steal-remote") {
            Stealing::Remote
        } else if settings.is("steal", "steal-unscoped") {
            Stealing::Unscoped
        } else {
            Stealing::Device
        };
        Policy {
            own: if settings.is("scope", "work-group") { Level::WorkGroup } else { Level::Device },
            stealing,
            layout: if settings.is("padding", "packed") {
                Layout::Packed
            } else if settings.is("padding", "joined") {
                Layout::Joined
            } else {
                Layout::Padded
            },
            refill: if settings.is("refill", "host-refill") { Refill::Host } else { Refill::Owner },
            published: settings.is("ordering", "as-published"),
            attempts: settings.count("attempts") as u32,
        }
    }

    /// The memory order, scope and hints of a step under this policy.
    #[inline]
    #[must_use]
    pub fn semantics(&self, step: QueueStep) -> Semantics {
        let row = step.row();
        let order = if self.published { row.published } else { row.order };
        if order == Order::Plain {
            return Semantics::PLAIN;
        }
        match (row.side, self.stealing) {
            (Side::Owner, _) | (Side::Thief, Stealing::Unscoped) => Semantics::new(order, self.own),
            (Side::Thief, Stealing::None | Stealing::Device) => Semantics::new(order, Level::Device),
            (Side::Thief, Stealing::Remote) => Semantics::new(order, Level::Device).remote(),
        }
    }
}
