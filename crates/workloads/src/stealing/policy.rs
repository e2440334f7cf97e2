//! The policies of work stealing, among them the scenarios of the hLRC paper
//! (section IV.B).

use kernel::Semantics;
use proto::{Level, Order, Sharing};

use super::order::{QueueStep, Side};
use crate::settings::{Setting, Settings};

/// The kind of stealing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stealing {
    /// No stealing: each work-group runs the tasks of its own queue only.
    None,
    /// Steals at device scope.
    Device,
    /// Steals at device scope by remote operations, which synchronize with
    /// owners at a narrower scope (remote-scope promotion).
    Remote,
    /// Steals at the owner's scope. This is for machines without scopes. On all other machines such
    /// a steal is a race.
    Unscoped,
}

/// The policy of the queues' synchronization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Policy {
    /// The scope of the owner's accesses to its queue.
    pub own: Level,
    /// The kind of stealing.
    pub stealing: Stealing,
    /// Whether each head and each tail has a line of its own.
    pub padded: bool,
    /// Whether to use the memory orders of the published code, which are too weak.
    pub published: bool,
    /// The number of consecutive empty queues after which a work-group stops.
    pub attempts: u32,
}

/// A named policy of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// The choices, as [`Settings::set_policy`] takes them.
    pub policy: &'static str,
    /// Its description, in one line.
    pub summary: &'static str,
}

/// The scenarios of section IV.B that are not bound to one machine, and the scenario of section
/// V.C.
///
/// Two of the paper's machines have no scopes (Table 3, right). They act on the memory order of an
/// atomic and on the last location of its variable. Section V.C extends hLRC by scopes: an atomic
/// at work-group scope acts like an atomic without a scope, and an atomic at device scope runs at
/// the L2. The scenario `hlrc-scoped` makes thefts at device scope.
///
/// The scenarios at device scope have no races on any machine. `scope-only` has none on a machine
/// with scopes. `hlrc-scoped` has none on a machine whose atomics are correct whatever their scope.
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

/// The scenario of section IV.B for a machine, by the machine's requirement on
/// programs that share data. It has the name of the machine's protocol.
///
/// On a machine without scopes the program uses work-group scope everywhere, also
/// for thefts. Device scope means something else there: see `hlrc-scoped`.
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

/// The scenario with a name.
#[must_use]
pub fn scenario(name: &str) -> Option<Scenario> {
    SCENARIOS.iter().find(|s| s.name == name).copied()
}

pub(crate) const SCOPE: Setting = Setting::policy(
    "scope",
    &[("device", "the whole GPU"), ("work-group", "the work-group of the issuer")],
    "the scope of a work-group's accesses to its own queue",
);

pub(crate) const STEAL: Setting = Setting::policy(
    "steal",
    &[
        ("steal-device", "from any queue, at device scope"),
        ("no-steal", "never"),
        ("steal-remote", "from any queue, by remote operations at device scope"),
        ("steal-unscoped", "from any queue, at the owner's scope: for machines without scopes"),
    ],
    "the kind of stealing from the queues of other work-groups",
);

pub(crate) const PADDING: Setting = Setting::policy(
    "padding",
    &[
        ("padded", "each head and each tail has a line of its own"),
        ("packed", "heads and tails of several queues share a line"),
    ],
    "the layout of the variables of the queues",
);

pub(crate) const ORDERING: Setting = Setting::policy(
    "ordering",
    &[
        ("ordered", "as strong as necessary"),
        ("as-published", "relaxed everywhere, as in the published code: too weak"),
    ],
    "the memory orders of the queue",
);

/// The number of consecutive empty queues after which a work-group stops. The default is 4. Table 6
/// of the hLRC paper shows that, on six of nine inputs, other L1 caches serve about 5 to 13 atomics
/// for each sweep and work-group. A look at an empty queue makes two of these atomics.
pub(crate) const ATTEMPTS: Setting = Setting::count(
    "attempts",
    4,
    1,
    1 << 16,
    "consecutive empty queues after which a work-group stops stealing",
);

impl Policy {
    /// The policy of the settings.
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
            padded: settings.is("padding", "padded"),
            published: settings.is("ordering", "as-published"),
            attempts: settings.count("attempts") as u32,
        }
    }

    /// The order, scope and hints of a step under this policy.
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
