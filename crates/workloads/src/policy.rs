//! Policies that several workloads have: the scope of the synchronization, the placement of
//! work-groups, and the memory of their tiles.

use kernel::prelude::*;
use proto::words::counted;

use crate::settings::{Setting, Settings};

/// The policy for the placement of work-groups on compute units.
pub(crate) const CUS: Setting = Setting::policy(
    "cus",
    &[
        ("different-cus", "each work-group on the next compute unit"),
        ("same-cu", "all work-groups on one compute unit"),
    ],
    "the placement of the work-groups",
);

/// The policy for the scope of the synchronization.
pub(crate) const SCOPE: Setting = Setting::policy(
    "scope",
    &[
        ("device", "the whole GPU"),
        ("work-group", "the work-group that synchronizes"),
        ("system", "GPU and host"),
    ],
    "the scope of the synchronization",
);

/// The policy for the memory of the data that the work-items of a work-group share. With `global`,
/// a program uses no local memory, as on a machine that has none.
pub(crate) const TILES: Setting = Setting::policy(
    "tiles",
    &[("local", "in local memory"), ("global", "in global memory, through the caches")],
    "where a work-group has the tiles, or other data, that its work-items share",
);

/// Whether the tiles of a work-group are in global memory.
pub(crate) fn has_global_tiles(settings: &Settings) -> bool {
    settings.is(TILES.name, "global")
}

pub(crate) fn level(settings: &Settings) -> Level {
    if settings.is("scope", "work-group") {
        Level::WorkGroup
    } else if settings.is("scope", "system") {
        Level::System
    } else {
        Level::Device
    }
}

pub(crate) fn placement(settings: &Settings) -> Placement {
    if settings.is("cus", "same-cu") { Placement::Pack } else { Placement::Spread }
}

/// Ends the run with an error if not all work-groups of the grid can run at the same time with the
/// placement (on one or all compute units) that the grid requests.
pub(crate) async fn require_room(host: &Host, grid: &Grid) {
    let (shape, groups) = (host.shape(), u64::from(grid.work_groups));
    let per_cu = u64::from(shape.resident_per_cu(grid));
    if grid.waves > shape.waves_per_cu {
        let (waves, slots) = (u64::from(grid.waves), u64::from(shape.waves_per_cu));
        let (waves, slots) = (counted(waves, "wavefront"), counted(slots, "slot"));
        host.fail(format!("one work-group of {waves} does not fit on a compute unit with {slots}")).await;
    }
    let (room, place) = match grid.placement {
        Placement::Pack => (per_cu, "one compute unit"),
        Placement::Spread => (per_cu * u64::from(shape.compute_units), "the machine"),
    };
    if groups > room {
        let message = format!(
            "the {groups} work-groups wait for each other and must run at once, but {place} has room for \
             only {room}"
        );
        host.fail(message).await;
    }
}
