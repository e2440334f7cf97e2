//! At which scope each queue is synchronized.

use proto::Level;

use crate::settings::{Setting, Settings};

/// The scope of the synchronization on each kind of queue (7.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scopes {
    /// On the queue of a wavefront.
    pub wave: Level,
    /// On the queue of a work-group.
    pub group: Level,
    /// On the queue of the device.
    pub device: Level,
}

impl Scopes {
    /// Nobody knows who will run a task, so everything is at device scope:
    /// without races under HRF-direct.
    pub const DIRECT: Scopes = Scopes { wave: Level::Device, group: Level::Device, device: Level::Device };

    /// Each queue at the scope of those who reach it. A donation acquires at
    /// the scope of the queue it takes from and releases at the scope of the
    /// one it gives to: without races under HRF-indirect, whose order is
    /// transitive over scopes.
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
        ("hrf-indirect", "the smallest scope that reaches the next holder; a donation goes on at the larger"),
    ],
    "the scope at which the task queues are synchronized",
);
