//! The scopes of the task queues.

use proto::Level;

use crate::settings::{Setting, Settings};

/// The scope of the synchronization on each kind of queue (section 7.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scopes {
    /// The scope of the queue of a wavefront.
    pub wave: Level,
    /// The scope of the queue of a work-group.
    pub group: Level,
    /// The scope of the queue of the device.
    pub device: Level,
}

impl Scopes {
    /// Device scope everywhere, because any wavefront may run a task. This has
    /// no races under HRF-direct.
    pub const DIRECT: Scopes = Scopes { wave: Level::Device, group: Level::Device, device: Level::Device };

    /// Each queue at the scope of the wavefronts that access it. A donation
    /// acquires at the scope of its source queue and releases at the scope of its
    /// target queue. This has no races under HRF-indirect, which orders
    /// transitively over scopes.
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
