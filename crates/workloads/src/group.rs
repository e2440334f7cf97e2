//! Work-groups with a fixed number of work-items, in one or two dimensions.

use kernel::prelude::*;

/// A grid of `groups` work-groups, each with at least `items` work-items. A kernel calls
/// [`members`] to turn off the lanes of the further work-items.
pub(crate) fn grid_of(shape: &Shape, groups: u64, items: u32) -> Grid {
    Grid::new(groups as u32, items.div_ceil(shape.lanes.max(1)))
}

/// The number of the work-item in lane 0, counted within its work-group.
pub(crate) fn first_local(w: &Wave) -> u64 {
    u64::from(w.index() * w.lanes())
}

/// The number of each lane's work-item, counted within its work-group.
pub(crate) fn local_item(w: &Wave) -> Lanes<u32> {
    w.lane_id() + w.index() * w.lanes()
}

/// The same wavefront with fewer active lanes: an active lane stays active only if its work-item is
/// among the first `items` of the work-group.
pub(crate) fn members(w: &Wave, items: u32) -> Wave {
    w.below(first_local(w), u64::from(items))
}

/// Stores `words`, which are the same for the whole wavefront, to consecutive elements of the array
/// `to`, beginning with element `first`. Each lane of a store writes one of the words.
#[track_caller]
pub(crate) fn store_words<T: Word>(w: &Wave, to: Array<T>, first: u64, words: &[T]) {
    let count = words.len() as u64;
    for base in (0..count).step_by(w.lanes() as usize) {
        let values = Lanes::from_fn(|lane| words.get(base as usize + lane).copied().unwrap_or_default());
        w.below(base, count).store(to, Unit(first + base), values);
    }
}

/// The column and the row of each lane's work-item in a work-group of two dimensions.
#[derive(Clone, Copy)]
pub(crate) struct InTile {
    /// The column of each lane's work-item. Consecutive work-items have consecutive columns.
    pub(crate) x: Lanes<u32>,
    /// The row of each lane's work-item.
    pub(crate) y: Lanes<u32>,
}

/// The column and the row of each lane's work-item in a work-group with `width` work-items in a
/// row. `width` is a power of two.
pub(crate) fn in_tile(w: &Wave, width: u32) -> InTile {
    let item = local_item(w);
    InTile { x: item & (width - 1), y: item >> width.trailing_zeros() }
}

/// The column and the row of the wavefront's work-group in a grid that has `columns` work-groups in
/// a row.
pub(crate) fn group_at(w: &Wave, columns: u32) -> (u32, u32) {
    (w.work_group() % columns, w.work_group() / columns)
}
