//! The scopes of the task queues.

use proto::Level;

use crate::settings::{Setting, Settings};

/// The scopes of the synchronization on the three kinds of queues (section 7.2 of the HRF paper).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scopes {
    /// The scope of the synchronization on the queue of a wavefront.
    pub wave: Level,
    /// The scope of the synchronization on the queue of a work-group.
    pub group: Level,
    /// The scope of the synchronization on the queue of the device.
    pub device: Level,
}

impl Scopes {
    /// Device scope for all queues, because any wavefront may run a task. These scopes cause no
    /// races under HRF-direct.
    pub const DIRECT: Scopes = Scopes { wave: Level::Device, group: Level::Device, device: Level::Device };

    /// Each queue has the scope of the wavefronts that access it. If a task-front (a group of
    /// tasks) moves from one queue to another, the wavefront acquires at the scope of the first
    /// queue and releases at the scope of the second. These scopes cause no races under
    /// HRF-indirect, in which a chain of synchronization may have different scopes.
    pub const INDIRECT: Scopes =
        Scopes { wave: Level::SubGroup, group: Level::WorkGroup, device: Level::Device };

    pub(crate) fn of(settings: &Settings) -> Self {
        if settings.is(SCOPES.name, "hrf-indirect") { Scopes::INDIRECT } else { Scopes::DIRECT }
    }
}

pub(crate) const SCOPES: Setting = Setting::policy(
    "scopes",
    &[
        ("hrf-direct", "device scope on all queues"),
        ("hrf-indirect", "the smallest scope that contains all users of a queue"),
    ],
    "the scopes of the task queues",
);

/// The time at which a wavefront runs a task-front (a group of tasks) that is not full (section 7.1
/// of the HRF paper).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PartialFronts {
    /// A wavefront waits for a full task-front (group of tasks) while any wavefront of the device
    /// runs tasks. If no wavefront runs tasks and the shared queues are empty, the wavefront runs a
    /// task-front that is not full.
    Late,
    /// A wavefront runs a task-front (a group of tasks) that is not full as soon as it finds no
    /// full task-front.
    Early,
}

impl PartialFronts {
    pub(crate) fn of(settings: &Settings) -> Self {
        if settings.is(PARTIAL.name, "partial-early") { PartialFronts::Early } else { PartialFronts::Late }
    }
}

pub(crate) const PARTIAL: Setting = Setting::policy(
    "partial",
    &[
        ("partial-late", "when no wavefront of the device runs tasks"),
        ("partial-early", "as soon as the wavefront finds no full task-front"),
    ],
    "when a wavefront runs a task-front that is not full",
);
