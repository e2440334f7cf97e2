//! Lanes that each have some number of things to do, laid out one after the
//! other over full wavefronts.

use kernel::prelude::*;

/// What the lanes of a wavefront have to do, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Spread {
    /// How many things the lanes up to and with this one have.
    ends: Lanes<u64>,
    counts: Lanes<u32>,
    total: u64,
}

impl Spread {
    /// Adds up what the active lanes have, in as many steps as the number of
    /// lanes has bits.
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

    /// How many things there are.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// For the things from `first` on, one a lane of `w`: which lane has it,
    /// and the how-manieth of that lane it is.
    pub(super) fn at(&self, w: &Wave, first: u64) -> (Lanes<u32>, Lanes<u32>) {
        let thing = w.lane_id().to_u64() + first;
        let mut lane = Lanes::splat(0u32);
        let mut step = w.lanes() / 2;
        // How many lanes end before it: at most one less than there are.
        while step > 0 {
            let further = lane + step;
            let end = w.shuffle(&self.ends, &(further - 1));
            lane = Lanes::select(end.le(thing), further, lane);
            step /= 2;
        }
        let (end, count) = (w.shuffle(&self.ends, &lane), w.shuffle(&self.counts, &lane));
        let start = end - count.to_u64();
        (lane, (thing - start).to_u32())
    }
}
