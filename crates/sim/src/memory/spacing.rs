//! The minimum times between the accesses of a memory channel: between openings of rows, between
//! accesses to banks of one group, and between reads and writes.
//!
//! A bank asks whether it can open its row now. If it cannot, it asks again later and reserves
//! nothing, so it delays no other bank.

use crate::memory::dram_spec::DramSpec;
use crate::queue::Cycle;

#[derive(Clone, Copy, Debug, Default)]
struct ChannelSpacing {
    /// The first cycle at which a bank of the channel can begin to open a row.
    can_open_at: Cycle,
    /// Whether the last access was a write. `None` before the first access.
    last_is_write: Option<bool>,
}

/// The minimum times between the accesses of all channels.
#[derive(Clone, Debug)]
pub(super) struct Spacing {
    spec: DramSpec,
    channels: Vec<ChannelSpacing>,
    /// For each bank, the first cycle at which it can begin to open another row.
    can_reopen_at: Vec<Cycle>,
    /// For each group of each channel, the time at which the group can move further data. The unit is
    /// the time in which the group moves one byte. Empty if banks have no groups.
    groups: Vec<u64>,
}

impl Spacing {
    /// The times of an idle memory.
    pub(super) fn new(spec: &DramSpec) -> Spacing {
        let (channels, banks) = (spec.channels.get() as usize, spec.banks_per_channel.get() as usize);
        Spacing {
            spec: *spec,
            channels: vec![ChannelSpacing::default(); channels],
            can_reopen_at: vec![0; channels * banks],
            groups: vec![0; channels * spec.bank_groups as usize],
        }
    }

    /// The first cycle at which a bank can begin to open a row. `bank` is counted over all channels.
    pub(super) fn can_open_at(&self, bank: usize) -> Cycle {
        let channel = bank / self.spec.banks_per_channel.get() as usize;
        self.can_reopen_at[bank].max(self.channels[channel].can_open_at)
    }

    /// Records that a bank begins to open a row at cycle `now`.
    pub(super) fn open(&mut self, now: Cycle, bank: usize) {
        let channel = bank / self.spec.banks_per_channel.get() as usize;
        self.can_reopen_at[bank] = now + u64::from(self.spec.row_cycle_cycles);
        self.channels[channel].can_open_at = now + u64::from(self.spec.row_to_row_cycles);
    }

    /// The cycles for which the data bus of a channel is idle before an access.
    #[inline]
    pub(super) fn turnaround(&self, channel: usize, is_write: bool) -> u64 {
        let cycles = match (self.channels[channel].last_is_write, is_write) {
            (Some(false), true) => self.spec.read_to_write_cycles,
            (Some(true), false) => self.spec.write_to_read_cycles,
            _ => 0,
        };
        u64::from(cycles)
    }

    /// The group of a bank, counted over all channels. `None` if banks have no groups.
    #[inline]
    fn group(&self, bank: usize) -> Option<usize> {
        let (groups, banks) = (self.spec.bank_groups as usize, self.spec.banks_per_channel.get() as usize);
        (groups > 0).then(|| bank / banks * groups + bank % banks % groups)
    }

    /// The first cycle at which the group of a bank can move data.
    #[inline]
    pub(super) fn group_ready_at(&self, bank: usize) -> Cycle {
        self.group(bank).map_or(0, |group| self.groups[group] / u64::from(self.spec.group_bytes_per_cycle))
    }

    /// Records that an access moves bytes over the data bus of a channel, from cycle `from` on.
    #[inline]
    pub(super) fn transfer(&mut self, from: Cycle, channel: usize, bank: usize, bytes: u64, is_write: bool) {
        self.channels[channel].last_is_write = Some(is_write);
        if let Some(group) = self.group(bank) {
            let first_byte = from * u64::from(self.spec.group_bytes_per_cycle);
            self.groups[group] = self.groups[group].max(first_byte) + bytes;
        }
    }
}
