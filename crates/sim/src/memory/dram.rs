//! Main memory: channels, banks and rows.
//!
//! The lines of a chiplet are spread over its channels, and those of a channel over the rows of its
//! banks. If there are fewer channels than chiplets, adjacent chiplets share a channel. An access
//! waits for its bank, then for the channel's data bus. A bank keeps the row of its last access
//! open. If the next access is to the same row, it is a row hit.
//!
//! With [`DramScheduler::OldestFirst`], banks and buses serve accesses in order of arrival, so
//! accesses to one line complete in order. The completion of an access is known when it arrives. With
//! [`DramScheduler::OpenRowFirst`], the module `scheduler` selects the next access.

use proto::{Homes, LineAddr};

pub use crate::memory::dram_spec::{ChannelSpread, DramScheduler, DramSpec};
use crate::memory::spacing::Spacing;
use crate::queue::Cycle;

/// The traffic of memory: counts of accesses, bytes and waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DramTraffic {
    /// The number of accesses that read.
    pub reads: u64,
    /// The number of accesses that wrote.
    pub writes: u64,
    /// The number of bytes moved over the channels.
    pub bytes: u64,
    /// The number of accesses that found their row open.
    pub row_hits: u64,
    /// The number of accesses that had to open their row.
    pub row_misses: u64,
    /// The cycles that accesses waited for a busy bank or data bus, summed over all accesses.
    pub queue_cycles: u64,
}

/// A byte of memory: its address, its chiplet, and its index on that chiplet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteLocation {
    /// The address of the byte.
    pub address: u64,
    /// The chiplet on which the byte lies.
    pub chiplet: u16,
    /// The index of the byte among the bytes that lie on its chiplet.
    pub local: u64,
}

impl ByteLocation {
    /// The location of the first byte of a line.
    #[inline]
    pub(crate) fn of(line: LineAddr, homes: &Homes, line_bytes: u32) -> ByteLocation {
        let ((chiplet, local), line_bytes) = (homes.local(line), u64::from(line_bytes));
        ByteLocation { address: line.0 * line_bytes, chiplet, local: local * line_bytes }
    }
}

/// The location of an address on a machine with one chiplet.
impl From<u64> for ByteLocation {
    #[inline]
    fn from(address: u64) -> ByteLocation {
        ByteLocation { address, chiplet: 0, local: address }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Bank {
    /// The number of the open row, plus one. Zero before the first access.
    open_row: u64,
    ready_at: Cycle,
}

/// The use of main memory by one access, in the form that probes (observers of a run) see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DramUse {
    /// The memory channel of the access.
    pub channel: usize,
    /// The bank of the access, counted over all channels.
    pub bank: usize,
    /// The address of the first byte accessed.
    pub address: u64,
    /// The number of bytes accessed.
    pub bytes: u32,
    /// Whether the access writes.
    pub is_write: bool,
    /// Whether the access found its row open.
    pub is_row_hit: bool,
    /// The first cycle in which the access uses the channel's data bus.
    pub from: Cycle,
    /// The first cycle in which the data bus is free again.
    pub until: Cycle,
    /// The cycle at which the data arrive at the requester (a read) or in the memory array (a
    /// write).
    pub done: Cycle,
}

/// An access that is ready to move its data over a data bus.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    pub(super) channel: usize,
    pub(super) bank: usize,
    pub(super) address: u64,
    pub(super) bytes: u32,
    pub(super) is_write: bool,
    pub(super) is_row_hit: bool,
}

/// The timing of main memory: its banks, buses and open rows. The bytes are stored elsewhere.
#[derive(Clone, Debug)]
pub struct Dram {
    spec: DramSpec,
    /// The number of channels that one chiplet uses.
    channels_each: u64,
    /// The number of neighbouring chiplets that use the same channels.
    sharers: u64,
    banks: Vec<Bank>,
    /// The size of a burst: an access moves whole bursts, which follow each other without a gap.
    /// `None` if an access moves exactly its bytes, in whole cycles of the data bus.
    burst_bytes: Option<u32>,
    /// For each channel, the time at which its data bus is free. The unit is the time in which the
    /// bus moves one byte.
    bus_free_at: Vec<u64>,
    spacing: Spacing,
    traffic: DramTraffic,
}

impl Dram {
    /// The timing of an idle memory without open rows.
    #[must_use]
    pub fn new(spec: &DramSpec, chiplets: u32) -> Dram {
        let channels = spec.channels.get() as usize;
        Dram {
            spec: *spec,
            channels_each: u64::from((spec.channels.get() / chiplets).max(1)),
            sharers: u64::from((chiplets / spec.channels.get()).max(1)),
            banks: vec![Bank::default(); channels * spec.banks_per_channel.get() as usize],
            burst_bytes: None,
            bus_free_at: vec![0; channels],
            spacing: Spacing::new(spec),
            traffic: DramTraffic::default(),
        }
    }

    /// This memory, but each access moves whole bursts of `burst_bytes`. A burst may begin within a
    /// cycle, so that bursts use the whole bandwidth of the data bus.
    #[must_use]
    pub fn with_bursts(self, burst_bytes: u32) -> Dram {
        Dram { burst_bytes: Some(burst_bytes), ..self }
    }

    /// The channel, the bank (counted over all channels) and the row of a byte.
    ///
    /// The bank is a hash of the row number, so that arrays at a distance of a power of two do not
    /// collide in one bank. If the shares of channels are folded, bytes of two shares may have one
    /// place.
    #[must_use]
    pub fn place(&self, byte: impl Into<ByteLocation>) -> (usize, usize, u64) {
        let ByteLocation { chiplet, local, .. } = byte.into();
        let interleave = u64::from(self.spec.interleave_bytes.get());
        let channels = self.channels_each;
        let banks = u64::from(self.spec.banks_per_channel.get());
        let chunk = local / interleave;
        let shares = match self.spec.channel_spread {
            ChannelSpread::Even => channels,
            ChannelSpread::Folded => channels.next_power_of_two(),
        };
        let mut channel = (chunk + chunk / shares / 7) % shares % channels;
        let within = chunk / channels * interleave + local % interleave;
        let mut row = within / u64::from(self.spec.row_bytes.get());
        if chiplet > 0 || self.sharers > 1 {
            let (group, sharer) = (u64::from(chiplet) / self.sharers, u64::from(chiplet) % self.sharers);
            channel += group * channels;
            row = row * self.sharers + sharer;
        }
        let bank = (row ^ row >> 3 ^ row >> 6 ^ row >> 9 ^ row >> 15) % banks;
        (channel as usize, (channel * banks + bank) as usize, row)
    }

    /// Serves an access to `bytes` bytes that begins at `byte`, after all earlier accesses. The access
    /// arrives at cycle `now`. Returns its channel, bank and times.
    #[inline]
    pub fn access(&mut self, now: Cycle, byte: impl Into<ByteLocation>, bytes: u32, write: bool) -> DramUse {
        let byte = byte.into();
        let (channel, place, row) = self.place(byte);
        let address = byte.address;
        let bank = &mut self.banks[place];
        let hit = bank.open_row == row + 1;
        let start = now.max(bank.ready_at);
        let latency = if hit { self.spec.row_hit_cycles } else { self.spec.row_miss_cycles };
        bank.open_row = row + 1;
        let ready = start + u64::from(latency);
        let access = Transfer { channel, bank: place, address, bytes, is_write: write, is_row_hit: hit };
        let served = self.transfer(ready, access);
        self.occupy(start, &served);
        self.traffic.queue_cycles += (start - now) + (served.from - ready);
        served
    }

    /// Moves the data of an access, whose row is open, over the data bus. The data are at the bus at
    /// cycle `ready`.
    #[inline]
    fn transfer(&mut self, ready: Cycle, access: Transfer) -> DramUse {
        let Transfer { channel, bank, address, bytes, is_write, is_row_hit } = access;
        let width = u64::from(self.spec.channel_bytes_per_cycle.get());
        let bytes = self.burst_bytes.map_or(bytes, |burst| bytes.next_multiple_of(burst));
        let moved = match self.burst_bytes {
            Some(_) => u64::from(bytes),
            None => u64::from(bytes).next_multiple_of(width).max(width),
        };
        let ready = ready.max(self.spacing.group_ready_at(bank));
        let idle = self.spacing.turnaround(channel, is_write) * width;
        let bus = &mut self.bus_free_at[channel];
        let first_byte = (ready * width).max(*bus + idle);
        *bus = first_byte + moved;
        // A cycle in which one burst ends and the next one begins counts for the next one.
        let from = first_byte / width;
        self.spacing.transfer(from, channel, bank, moved, is_write);
        let until = (*bus / width).max(from + 1);
        let done = bus.div_ceil(width) + u64::from(self.spec.base_latency_cycles);
        let t = &mut self.traffic;
        if is_write {
            t.writes += 1;
        } else {
            t.reads += 1;
        }
        t.bytes += u64::from(bytes);
        if is_row_hit {
            t.row_hits += 1;
        } else {
            t.row_misses += 1;
        }
        DramUse { channel, bank, address, bytes, is_write, is_row_hit, from, until, done }
    }

    /// Keeps the bank of an access busy. The access began at cycle `start`. Accesses to an open row
    /// overlap: the bank is busy with each of them only as long as the bus is.
    #[inline]
    fn occupy(&mut self, start: Cycle, served: &DramUse) {
        let hit = u64::from(self.spec.row_hit_cycles);
        self.banks[served.bank].ready_at = served.until - hit.min(served.until - start - 1);
    }

    /// The first cycle at which a bank can begin another access.
    pub(super) fn bank_ready_at(&self, bank: usize) -> Cycle {
        self.banks[bank].ready_at
    }

    /// Whether a row is open or is being opened.
    pub(super) fn is_open(&self, bank: usize, row: u64) -> bool {
        self.banks[bank].open_row == row + 1
    }

    /// Begins to close the open row of a bank and to open this row, at cycle `now`. Returns the cycle
    /// at which accesses to the row can begin.
    pub(super) fn open(&mut self, now: Cycle, bank: usize, row: u64) -> Cycle {
        self.banks[bank].open_row = row + 1;
        self.spacing.open(now, bank);
        now + u64::from(self.spec.row_miss_cycles.saturating_sub(self.spec.row_hit_cycles))
    }

    /// The first cycle at which a bank can begin to open a row.
    pub(super) fn can_open_at(&self, bank: usize) -> Cycle {
        self.spacing.can_open_at(bank)
    }

    /// The first cycle at which an access to an open row of a bank can begin, so that its data find
    /// the channel's data bus and the bank's group free.
    pub(super) fn can_transfer_at(&self, channel: usize, bank: usize, is_write: bool) -> Cycle {
        let width = u64::from(self.spec.channel_bytes_per_cycle.get());
        let bus = self.bus_free_at[channel] / width + self.spacing.turnaround(channel, is_write);
        bus.max(self.spacing.group_ready_at(bank)).saturating_sub(u64::from(self.spec.row_hit_cycles))
    }

    /// Serves an access, which arrived at cycle `arrived`. It begins at cycle `now`, and its row is
    /// open.
    pub(super) fn serve_open(&mut self, now: Cycle, arrived: Cycle, access: Transfer) -> DramUse {
        let latency = if access.is_row_hit { self.spec.row_hit_cycles } else { self.spec.row_miss_cycles };
        let served = self.transfer(now + u64::from(self.spec.row_hit_cycles), access);
        self.occupy(now, &served);
        self.traffic.queue_cycles += served.from - arrived - u64::from(latency);
        served
    }

    /// The traffic of memory since the beginning of the run.
    #[must_use]
    pub fn traffic(&self) -> DramTraffic {
        self.traffic
    }
}

#[cfg(test)]
pub(super) mod tests {
    use core::num::NonZeroU32;

    use super::*;
    use proptest::prelude::*;

    pub(in crate::memory) fn n(value: u32) -> NonZeroU32 {
        NonZeroU32::new(value).unwrap()
    }

    pub(in crate::memory) fn spec() -> DramSpec {
        DramSpec {
            channels: n(4),
            banks_per_channel: n(8),
            row_bytes: n(1024),
            interleave_bytes: n(256),
            channel_spread: ChannelSpread::Even,
            channel_bytes_per_cycle: n(16),
            base_latency_cycles: 50,
            row_hit_cycles: 10,
            row_miss_cycles: 30,
            scheduler: DramScheduler::OldestFirst,
            queue_entries: None,
            write_entries: None,
            write_high_entries: None,
            write_low_entries: None,
            queue_wait_max_cycles: None,
            row_cycle_cycles: 0,
            row_to_row_cycles: 0,
            bank_groups: 0,
            group_bytes_per_cycle: 0,
            read_to_write_cycles: 0,
            write_to_read_cycles: 0,
        }
    }

    #[test]
    fn the_second_access_to_a_row_hits_and_another_row_of_the_bank_misses() {
        let mut dram = Dram::new(&spec(), 1);
        let (_, bank, row) = dram.place(0u64);
        let same_row =
            (64..1u64 << 20).step_by(64).find(|&a| dram.place(a).1 == bank && dram.place(a).2 == row);
        let other_row =
            (64..1u64 << 20).step_by(64).find(|&a| dram.place(a).1 == bank && dram.place(a).2 != row);
        assert_eq!(dram.access(0, 0u64, 64, false).done, 30 + 4 + 50);
        assert_eq!(dram.access(1000, same_row.unwrap(), 64, false).done, 1000 + 10 + 4 + 50);
        assert_eq!(dram.access(2000, other_row.unwrap(), 64, true).done, 2000 + 30 + 4 + 50);
        assert_eq!(dram.access(3000, 0u64, 64, false).done, 3000 + 30 + 4 + 50);
        let t = dram.traffic();
        assert_eq!((t.row_hits, t.row_misses, t.reads, t.writes, t.bytes), (1, 3, 3, 1, 256));
        assert_eq!(t.queue_cycles, 0);
    }

    #[test]
    fn each_chiplet_has_channels_or_a_share_of_one_and_rows_of_its_own() {
        let at = |chiplet, local| ByteLocation { address: 0, chiplet, local };
        for (chiplets, of_each) in [(1, 4), (2, 2), (4, 1), (8, 1)] {
            let dram = Dram::new(&spec(), chiplets);
            let mut rows = std::collections::BTreeSet::new();
            for chiplet in 0..chiplets as u16 {
                let mut channels = std::collections::BTreeSet::new();
                for local in (0..1u64 << 16).step_by(64) {
                    let (channel, bank, row) = dram.place(at(chiplet, local));
                    channels.insert(channel);
                    rows.insert((bank, row, chiplet));
                }
                assert_eq!(channels.len(), of_each, "{chiplets} chiplets");
                let first = (usize::from(chiplet) * 4 / chiplets as usize / of_each) * of_each;
                assert_eq!(channels.first(), Some(&first), "{chiplets} chiplets");
            }
            let distinct: std::collections::BTreeSet<_> =
                rows.iter().map(|&(bank, row, _)| (bank, row)).collect();
            assert_eq!(distinct.len(), rows.len(), "{chiplets} chiplets: two of them share a row");
        }
    }

    #[test]
    fn folded_channels_have_one_or_two_of_the_shares_of_the_next_power_of_two() {
        let chunks = |channels, channel_spread| {
            let dram = Dram::new(&DramSpec { channels: n(channels), channel_spread, ..spec() }, 1);
            let mut chunks = vec![0; channels as usize];
            (0..32 * 7 * 3).for_each(|chunk: u64| chunks[dram.place(chunk * 256).0] += 1);
            chunks
        };
        assert_eq!(chunks(24, ChannelSpread::Even), [28; 24]);
        assert_eq!(chunks(24, ChannelSpread::Folded), [vec![42; 8], vec![21; 16]].concat());
        assert_eq!(chunks(16, ChannelSpread::Folded), [42; 16]);
    }

    #[test]
    fn hits_to_an_open_row_stream_at_the_bandwidth_of_the_bus() {
        let mut dram = Dram::new(&spec(), 1);
        let first = dram.access(0, 0u64, 64, false).done;
        let second = dram.access(0, 64u64, 64, false).done;
        let third = dram.access(0, 128u64, 64, false).done;
        assert_eq!((second - first, third - second), (4, 4));
    }

    #[test]
    fn bursts_of_an_open_row_use_the_whole_bandwidth_and_have_a_smallest_size() {
        let spec = DramSpec { channel_bytes_per_cycle: n(24), ..spec() };
        let last = |mut dram: Dram, bytes| {
            (0..6u64).map(|at| dram.access(0, at * 32, bytes, false).done).last().unwrap()
        };
        // Six accesses of 32 bytes: 192 bytes at 24 bytes a cycle, or 2 whole cycles each.
        assert_eq!(last(Dram::new(&spec, 1).with_bursts(32), 32), 30 + 8 + 50);
        assert_eq!(last(Dram::new(&spec, 1), 32), 30 + 12 + 50);
        assert_eq!(last(Dram::new(&spec, 1).with_bursts(32), 4), 30 + 8 + 50);
        assert_eq!(last(Dram::new(&spec, 1), 4), 30 + 6 + 50);
        let mut dram = Dram::new(&spec, 1).with_bursts(32);
        let uses = [0, 32, 64].map(|at: u64| dram.access(0, at, 4, true));
        assert_eq!(uses.map(|served| (served.from, served.until)), [(30, 31), (31, 32), (32, 34)]);
        assert_eq!(dram.traffic().bytes, 96);
    }

    #[test]
    fn misses_in_different_banks_of_a_channel_overlap() {
        let mut dram = Dram::new(&spec(), 1);
        let (channel, bank, _) = dram.place(0u64);
        let other = (0..1u64 << 20)
            .step_by(256)
            .find(|&a| dram.place(a).0 == channel && dram.place(a).1 != bank)
            .unwrap();
        let first = dram.access(0, 0u64, 64, false).done;
        assert_eq!(dram.access(0, other, 64, false).done, first + 4);
    }

    #[test]
    fn arrays_a_power_of_two_apart_spread_over_banks_and_channels() {
        let dram = Dram::new(&spec(), 1);
        let mut banks = std::collections::BTreeSet::new();
        for i in 0..64u64 {
            banks.insert(dram.place(i << 20).1);
        }
        assert!(banks.len() >= 16, "only {} banks used", banks.len());
    }

    proptest! {
        #[test]
        fn accesses_to_one_line_complete_in_the_order_they_came(
            accesses in prop::collection::vec((0u64..20, 0u64..64, any::<bool>()), 1..200),
        ) {
            let mut dram = Dram::new(&spec(), 1);
            let mut last = std::collections::BTreeMap::new();
            let mut now = 0;
            for (wait, line, write) in &accesses {
                now += wait;
                let done = dram.access(now, line * 64, 64, *write).done;
                prop_assert!(done > now);
                let before = last.insert(*line, done).unwrap_or(0);
                prop_assert!(done > before);
            }
            let t = dram.traffic();
            prop_assert_eq!(t.row_hits + t.row_misses, t.reads + t.writes);
            prop_assert_eq!(t.reads + t.writes, accesses.len() as u64);
        }

        #[test]
        fn bytes_of_one_row_are_contiguous_within_their_channel(address in 0u64..1 << 30) {
            let dram = Dram::new(&spec(), 1);
            let base = address / 256 * 256;
            prop_assert_eq!(dram.place(base), dram.place(base + 255));
        }
    }
}
