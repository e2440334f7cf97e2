//! The order in which messages leave one station for others.

use rustc_hash::FxHashMap;

use crate::queue::Cycle;
use crate::stations::fabric::StationId;

/// When the last message left a station.
#[derive(Debug)]
pub(super) enum Departures {
    /// All that leaves the station leaves in the order in which it was set off: nothing
    /// but one latency delays it.
    Serial(Cycle),
    /// What leaves for one destination leaves in order.
    Each(Leaves),
}

impl Departures {
    pub(super) fn new(is_serial: bool) -> Departures {
        if is_serial { Departures::Serial(0) } else { Departures::Each(Leaves::default()) }
    }

    /// When the last message left, or leaves, before which none may leave for that
    /// destination; perhaps 0 if that is past.
    #[inline]
    pub(super) fn last(&mut self, to: StationId, now: Cycle) -> &mut Cycle {
        match self {
            Departures::Serial(last) => last,
            Departures::Each(leaves) => leaves.to(to, now),
        }
    }
}

/// When the last message left, or leaves, for each destination. What is past
/// delays nothing and is forgotten from time to time, so that the memory of a
/// machine does not grow with the square of its stations.
#[derive(Debug, Default)]
pub(super) struct Leaves {
    last: FxHashMap<StationId, Cycle>,
    /// With so many destinations those of the past are forgotten.
    forgets_at: usize,
}

/// So many destinations are always kept.
const KEPT: usize = 64;

impl Leaves {
    /// When the last message left for a destination; perhaps 0 if that is past.
    #[inline]
    fn to(&mut self, to: StationId, now: Cycle) -> &mut Cycle {
        if self.last.len() >= self.forgets_at {
            self.forget(now);
        }
        self.last.entry(to).or_default()
    }

    #[cold]
    fn forget(&mut self, now: Cycle) {
        self.last.retain(|_, last| *last > now);
        self.forgets_at = KEPT.max(2 * self.last.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_that_of_a_table_of_all_destinations_and_the_past_is_forgotten() {
        const STATIONS: u32 = 1000;
        let mut leaves = Leaves::default();
        let mut table = vec![0; STATIONS as usize];
        let mut most = 0;
        for i in 0..50_000u64 {
            let (now, mixed) = (i / 4, i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32);
            let (to, leave) = (mixed as u32 % STATIONS, now + mixed % 7 * 5);
            let last = leaves.to(to, now);
            *last = leave.max(*last);
            let expected: &mut Cycle = &mut table[to as usize];
            *expected = leave.max(*expected);
            assert_eq!(*last, *expected);
            most = most.max(leaves.last.len());
        }
        assert!(most <= 4 * KEPT, "{most} destinations are kept");
    }
}
