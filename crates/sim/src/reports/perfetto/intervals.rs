//! The values of the tracks that show counters, for each interval of a timeline.

use core::num::NonZeroU64;
use std::collections::BTreeMap;

use crate::memory::dram::DramUse;
use crate::network::noc::LinkUse;
use crate::queue::Cycle;
use crate::reports::probe::Layout;
use crate::reports::sample::{LEVELS, Sample};

/// A value of a track that shows a counter, and the cycle from which it is valid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Value {
    pub(super) name: &'static str,
    pub(super) unit: &'static str,
    pub(super) at: Cycle,
    pub(super) value: f64,
}

/// The caches whose hit rates are shown: the prefix of their counters' names, and the name of their
/// track.
const HIT_RATES: [(&str, &str); 3] = [("l1", "L1 hit rate"), ("l2", "L2 hit rate"), ("l3", "L3 hit rate")];

/// Counters that sum the waiting times in a queue, each with the name of its track. The average
/// increase of such a counter in one cycle is the average length of the queue.
const QUEUES: [(&str, &str); 4] = [
    ("l1_port_wait_cycles", "queue: L1 ports"),
    ("noc_queue_cycles", "queue: links"),
    ("bank_wait_cycles", "queue: banks"),
    ("dram_queue_cycles", "queue: DRAM"),
];

const IN_FLIGHT: [&str; 3] = ["requests in flight", "messages in flight", "memory operations in flight"];

/// The use of links and memory channels in one interval.
#[derive(Clone, Debug, Default)]
struct IntervalUse {
    links: BTreeMap<usize, f64>,
    dram_busy: f64,
    dram_bytes: f64,
}

/// Sums the use of links and memory channels in each interval. Links and channels are reserved
/// ahead of time, so later intervals may have sums before the current interval ends.
#[derive(Clone, Debug)]
pub(super) struct Intervals {
    every: NonZeroU64,
    last: Sample,
    open: BTreeMap<u64, IntervalUse>,
}

impl Intervals {
    pub(super) fn new(every: NonZeroU64) -> Intervals {
        Intervals { every, last: Sample::default(), open: BTreeMap::new() }
    }

    pub(super) fn every(&self) -> NonZeroU64 {
        self.every
    }

    pub(super) fn link(&mut self, link: LinkUse) {
        self.spread(link.from, link.until, |used, cycles| {
            *used.links.entry(link.link).or_default() += cycles
        });
    }

    pub(super) fn dram(&mut self, access: &DramUse) {
        let bytes_per_cycle = f64::from(access.bytes) / (access.until - access.from).max(1) as f64;
        self.spread(access.from, access.until, |used, cycles| {
            used.dram_busy += cycles;
            used.dram_bytes += cycles * bytes_per_cycle;
        });
    }

    /// Divides the cycles from `from` to `until` among the intervals that contain them, and calls
    /// `add` for each such interval.
    fn spread(&mut self, from: Cycle, until: Cycle, mut add: impl FnMut(&mut IntervalUse, f64)) {
        let mut at = from;
        while at < until {
            let number = at / self.every.get();
            let end = (number + 1).saturating_mul(self.every.get()).min(until);
            add(self.open.entry(number).or_default(), (end - at) as f64);
            at = end;
        }
    }

    /// The values of all tracks for the interval that ends at the time of this sample.
    pub(super) fn close(&mut self, sample: &Sample, layout: &Layout) -> Vec<Value> {
        let (from, until) = (self.last.cycle, sample.cycle);
        let cycles = until.saturating_sub(from).max(1) as f64;
        let more = |name: &str| sample.count(name).saturating_sub(self.last.count(name)) as f64;
        let mut values = Vec::new();
        let mut put = |name, unit, at, value| values.push(Value { name, unit, at, value });
        for (cache, name) in HIT_RATES {
            let accesses = more(&format!("{cache}_accesses"));
            if accesses > 0.0 {
                put(name, "%", from, 100.0 * more(&format!("{cache}_hits")) / accesses);
            }
        }
        for (counter, name) in QUEUES {
            put(name, "waiting", from, more(counter) / cycles);
        }
        for (level, name) in LEVELS.into_iter().zip(IN_FLIGHT) {
            put(name, "in flight", until, sample.count(level) as f64);
        }
        let used = self.open.remove(&(from / self.every.get())).unwrap_or_default();
        let busiest = used.links.values().copied().fold(0.0, f64::max);
        let share = |busy: f64, of: usize| 100.0 * busy / (of.max(1) as f64 * cycles);
        put("links busy", "%", from, share(used.links.values().sum(), layout.links.len()));
        put("busiest link", "%", from, share(busiest, 1));
        put("DRAM busy", "%", from, share(used.dram_busy, layout.dram_channels as usize));
        // One byte per cycle at 1000 MHz is one gigabyte per second.
        let gigahertz = f64::from(super::clock_mhz(layout)) / 1000.0;
        put("DRAM bandwidth", "GB/s", from, used.dram_bytes / cycles * gigahertz);
        self.last = sample.clone();
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::noc::{LinkEnds, NocNode};

    fn sample(cycle: Cycle, counters: &[(&str, u64)]) -> Sample {
        Sample { cycle, counters: counters.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect() }
    }

    #[test]
    fn an_interval_has_the_counts_and_uses_of_its_cycles() {
        let layout = Layout {
            links: vec![LinkEnds::Inject(NocNode(0)), LinkEnds::Eject(NocNode(0))],
            dram_channels: 2,
            clock_mhz: 500,
            ..Layout::default()
        };
        let mut intervals = Intervals::new(NonZeroU64::new(100).unwrap());
        // The link is busy for 20 cycles in the first interval and for 30 cycles in the second.
        intervals.link(LinkUse { link: 1, from: 80, until: 130 });
        let access = DramUse {
            channel: 0,
            bank: 0,
            address: 0,
            bytes: 64,
            is_write: false,
            is_row_hit: true,
            from: 96,
            until: 104,
            done: 150,
        };
        intervals.dram(&access);
        let value =
            |values: &[Value], name: &str| values.iter().find(|v| v.name == name).map(|v| (v.at, v.value));
        let counted =
            [("l1_accesses", 10), ("l1_hits", 4), ("bank_wait_cycles", 50), ("messages_in_flight", 3)];
        let first = intervals.close(&sample(100, &counted), &layout);
        assert_eq!(value(&first, "L1 hit rate"), Some((0, 40.0)));
        assert_eq!(value(&first, "L2 hit rate"), None);
        assert_eq!(value(&first, "queue: banks"), Some((0, 0.5)));
        assert_eq!(value(&first, "messages in flight"), Some((100, 3.0)));
        assert_eq!(value(&first, "links busy"), Some((0, 10.0)));
        assert_eq!(value(&first, "busiest link"), Some((0, 20.0)));
        assert_eq!(value(&first, "DRAM busy"), Some((0, 2.0)));
        // The memory moves 32 bytes in 100 cycles of 2 ns each.
        assert_eq!(value(&first, "DRAM bandwidth"), Some((0, 0.16)));
        // The last interval has 50 cycles, and the link is busy for 30 of them.
        let last = intervals.close(&sample(150, &[("l1_accesses", 20), ("l1_hits", 14)]), &layout);
        assert_eq!(value(&last, "L1 hit rate"), Some((100, 100.0)));
        assert_eq!(value(&last, "busiest link"), Some((100, 60.0)));
    }
}
