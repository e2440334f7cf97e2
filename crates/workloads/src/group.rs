//! Work-groups of a fixed number of work-items, in one and two dimensions.

use kernel::prelude::*;

/// A grid of `groups` work-groups with `items` work-items each. If a wavefront has more lanes than
/// a work-group has work-items, [`members`] turns off the lanes beyond.
pub(crate) fn grid_of(shape: &Shape, groups: u64, items: u32) -> Grid {
    Grid::new(groups as u32, items.div_ceil(shape.lanes.max(1)))
}

/// The number, within the work-group, of the work-item in lane 0.
pub(crate) fn first_local(w: &Wave) -> u64 {
    u64::from(w.index() * w.lanes())
}

/// The number, within the work-group, of each lane's work-item.
pub(crate) fn local_item(w: &Wave) -> Lanes<u32> {
    w.lane_id() + w.index() * w.lanes()
}

/// The same wavefront with fewer active lanes: only those of the first `items` work-items of the
/// work-group.
pub(crate) fn members(w: &Wave, items: u32) -> Wave {
    w.below(first_local(w), u64::from(items))
}

/// Stores words that the whole wavefront knows to consecutive elements from `first`: as many at a
/// time as the wavefront has lanes.
#[track_caller]
pub(crate) fn store_words<T: Word>(w: &Wave, to: Array<T>, first: u64, words: &[T]) {
    let count = words.len() as u64;
    for base in (0..count).step_by(w.lanes() as usize) {
        let values = Lanes::from_fn(|lane| words.get(base as usize + lane).copied().unwrap_or_default());
        w.below(base, count).store(to, Unit(first + base), values);
    }
}

/// The place of each lane's work-item in a work-group of two dimensions.
#[derive(Clone, Copy)]
pub(crate) struct InTile {
    /// The column, which varies fastest.
    pub(crate) x: Lanes<u32>,
    /// The row.
    pub(crate) y: Lanes<u32>,
}

/// The place of each lane in a work-group whose rows have `width` work-items, a power of two.
pub(crate) fn in_tile(w: &Wave, width: u32) -> InTile {
    let item = local_item(w);
    InTile { x: item & (width - 1), y: item >> width.trailing_zeros() }
}

/// The column and the row of the work-group in a grid with `columns` work-groups in a row.
pub(crate) fn group_at(w: &Wave, columns: u32) -> (u32, u32) {
    (w.work_group() % columns, w.work_group() / columns)
}
