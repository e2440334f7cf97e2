//! The distribution of items over full wavefronts. At first, each lane has a different number of
//! items.

use kernel::prelude::*;

/// The items of all lanes of a wavefront in one sequence: those of lane 0 first, then those of lane
/// 1, and so on.
#[derive(Clone, Debug)]
pub(super) struct Spread {
    /// For each lane, the number of items that this lane and all lower lanes have.
    ends: Lanes<u64>,
    counts: Lanes<u32>,
    total: u64,
}

impl Spread {
    /// Computes the positions of all items, from the number of items that each active lane has.
    /// Prefix sums take one step for each bit of the number of lanes.
    pub(super) fn new(w: &Wave, count: &Lanes<u32>) -> Spread {
        let mut counts = Lanes::splat(0);
        counts.assign(w.mask(), *count);
        let mut ends = counts.to_u64();
        let lane = w.lane_id();
        let mut step = 1;
        while step < w.lanes() {
            let below = w.shuffle(&ends, &(lane - step));
            ends += Lanes::select(lane.ge(step), below, 0);
            step *= 2;
        }
        let total = ends.get(w.lanes() as usize - 1);
        Spread { ends, counts, total }
    }

    /// The number of items of all lanes.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Assigns consecutive items to the lanes of `w`: lane 0 gets the item `first`. For each lane,
    /// returns the lane to which its item belonged at first, and the number of the item among the
    /// items of that lane.
    pub(super) fn at(&self, w: &Wave, first: u64) -> (Lanes<u32>, Lanes<u32>) {
        let item = w.lane_id().to_u64() + first;
        let mut lane = Lanes::splat(0u32);
        let mut step = w.lanes() / 2;
        // A binary search finds the number of lanes whose items all come before the item.
        while step > 0 {
            let further = lane + step;
            let end = w.shuffle(&self.ends, &(further - 1));
            lane = Lanes::select(end.le(item), further, lane);
            step /= 2;
        }
        let (end, count) = (w.shuffle(&self.ends, &lane), w.shuffle(&self.counts, &lane));
        let start = end - count.to_u64();
        (lane, (item - start).to_u32())
    }
}
