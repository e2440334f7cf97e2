//! How a program that steals work synchronizes, and the scenarios of the hLRC
//! paper (section IV.B) as such policies.

use kernel::Semantics;
use proto::{Level, Order, Sharing};

use super::order::{Side, Step};
use crate::settings::{Setting, Settings};

/// Whether and how work is stolen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stealing {
    /// Each work-group does the tasks of its own queue only.
    None,
    /// At device scope.
    Device,
    /// At device scope by remote operations, which reach owners that
    /// synchronize at a narrower scope (remote-scope promotion).
    Remote,
    /// At the owners' scope for every thief: for machines on which a
    /// scope is of no meaning. On all others it is a race.
    Unscoped,
}

/// How queues are synchronized.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Policy {
    /// The scope of the owner's accesses to its queue.
    pub own: Level,
    /// Whether and how others access it.
    pub stealing: Stealing,
    /// Has each head and each tail a line of its own?
    pub padded: bool,
    /// The orders of the published code, which are too weak.
    pub published: bool,
    /// A work-group looks no further after so many empty queues in a row.
    pub attempts: u32,
}

/// A policy by the name of its scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// The scenario.
    pub name: &'static str,
    /// The choices, as [`Settings::set_policy`] takes them.
    pub policy: &'static str,
    /// What it says.
    pub summary: &'static str,
}

/// The scenarios of section IV.B that are not a machine of their own, and that
/// of V.C.
///
/// Two of the paper's machines have no scopes (Table 3, right): they look at
/// the order of an atomic, and at where its variable was last. Section V.C gives
/// hLRC scopes as an extension in which a work-group's atomics are handled as
/// those without a scope, and an atomic at device scope is performed at the L2:
/// `hlrc-scoped` uses that for thefts.
///
/// Without races are: at device scope everywhere, any machine; `scope-only`, a
/// machine with scopes; `hlrc-scoped`, only one whose atomics are correct
/// whatever their scope.
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

/// The scenario of section IV.B for a machine, by what the machine needs of
/// programs that share data. It has the name of the machine's protocol.
///
/// On a machine without scopes a program says the least, work-group everywhere,
/// on thefts too. It could not say device there: `hlrc-scoped` does.
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

/// The scenario of a name.
#[must_use]
pub fn scenario(name: &str) -> Option<Scenario> {
    SCENARIOS.iter().find(|s| s.name == name).copied()
}

pub(crate) const SCOPE: Setting = Setting::policy(
    "scope",
    &[("device", "the whole GPU"), ("work-group", "the own work-group only")],
    "the scope at which a work-group synchronizes on its own queue",
);

pub(crate) const STEAL: Setting = Setting::policy(
    "steal",
    &[
        ("steal-device", "from any queue, at device scope"),
        ("no-steal", "never"),
        ("steal-remote", "from any queue, by remote operations at device scope"),
        ("steal-unscoped", "from any queue, at the owner's scope: for machines without scopes"),
    ],
    "whether and how work-groups take tasks from the queues of others",
);

pub(crate) const PADDING: Setting = Setting::policy(
    "padding",
    &[
        ("padded", "each head and each tail has a line of its own"),
        ("packed", "heads and tails of several queues share a line"),
    ],
    "how the variables of the queues lie in memory",
);

pub(crate) const ORDERING: Setting = Setting::policy(
    "ordering",
    &[
        ("ordered", "as strong as it must be"),
        ("as-published", "relaxed everywhere, as in the published code: too weak"),
    ],
    "the memory orders of the queue",
);

/// Four: Table 6 of the hLRC paper shows some 5 to 13 accesses in a sweep for
/// each work-group that are served elsewhere on six of nine inputs, and an
/// empty queue costs two.
pub(crate) const ATTEMPTS: Setting =
    Setting::count("attempts", 4, 1, 1 << 16, "empty queues in a row until a work-group stops looking");

impl Policy {
    /// What the settings say.
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

    /// Order, scope and hints of a step under this policy.
    #[inline]
    #[must_use]
    pub fn semantics(&self, step: Step) -> Semantics {
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
