//! The order in which messages leave a station (a controller of the protocol).

use rustc_hash::FxHashMap;

use crate::queue::Cycle;
use crate::stations::fabric::StationId;

/// The times at which messages last left a station (controller). A later message must not leave
/// before them.
#[derive(Debug)]
pub(super) enum Departures {
    /// The last time at which any message left. A station (controller) with a single latency sends
    /// its messages in one order, whatever their destinations.
    Serial(Cycle),
    /// The last time at which a message left for each destination. Messages to different
    /// destinations may leave in any order.
    Each(LastDepartures),
}

impl Departures {
    pub(super) fn new(is_serial: bool) -> Departures {
        if is_serial { Departures::Serial(0) } else { Departures::Each(LastDepartures::default()) }
    }

    /// The time at which the last message for this destination left. The next message may not leave
    /// earlier. If that time is before `now`, the result may be 0 instead. The caller stores the
    /// time of the next message through the returned reference.
    #[inline]
    pub(super) fn last(&mut self, to: StationId, now: Cycle) -> &mut Cycle {
        match self {
            Departures::Serial(last) => last,
            Departures::Each(leaves) => leaves.to(to, now),
        }
    }
}

/// For each destination, the time at which the last message for it left. Times that have passed
/// delay no message; they are removed now and then, so that memory use does not grow with the
/// square of the number of stations (controllers).
#[derive(Debug, Default)]
pub(super) struct LastDepartures {
    last: FxHashMap<StationId, Cycle>,
    /// If the map `last` has this number of destinations, the times that have passed are removed
    /// from it.
    prunes_at: usize,
}

/// If fewer destinations than this number have a recorded departure time, no recorded time is
/// removed.
const KEPT: usize = 64;

impl LastDepartures {
    /// The time at which the last message for a destination left. If that time is before `now`, the
    /// result may be 0 instead. The caller stores the time of the next message through the returned
    /// reference.
    #[inline]
    fn to(&mut self, to: StationId, now: Cycle) -> &mut Cycle {
        if self.last.len() >= self.prunes_at {
            self.prune(now);
        }
        self.last.entry(to).or_default()
    }

    #[cold]
    fn prune(&mut self, now: Cycle) {
        self.last.retain(|_, last| *last > now);
        self.prunes_at = KEPT.max(2 * self.last.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn departures_match_a_full_table_and_past_ones_are_removed() {
        const STATIONS: u32 = 1000;
        let mut leaves = LastDepartures::default();
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
