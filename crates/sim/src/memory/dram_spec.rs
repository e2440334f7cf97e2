//! The settings of main memory.

use core::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::config::number;

/// The rule by which a memory channel selects the next access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DramScheduler {
    /// Select the access that arrived first. Accesses wait in one queue without a limit.
    #[default]
    OldestFirst,
    /// Select the oldest access to the open row of a bank, or the bank's oldest access if none is to
    /// the open row. Among the banks that are ready, serve the oldest access (FR-FCFS).
    OpenRowFirst,
}

impl DramScheduler {
    fn is_oldest_first(&self) -> bool {
        *self == DramScheduler::OldestFirst
    }
}

/// The rule that spreads the bytes of a chiplet over its memory channels, `interleave_bytes` at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChannelSpread {
    /// Each channel has the same share.
    #[default]
    Even,
    /// The shares of the next power of two are folded: the channel is the number of the share modulo
    /// the number of channels. If the number of channels is no power of two, the first channels have
    /// twice the share of the others.
    Folded,
}

impl ChannelSpread {
    fn is_even(&self) -> bool {
        *self == ChannelSpread::Even
    }
}

/// The number of accesses among which a channel selects, if the description does not give it.
const QUEUE_ENTRIES: NonZeroU32 = NonZeroU32::new(64).unwrap();
/// The longest time for which a channel prefers other accesses, if the description does not give it.
const QUEUE_WAIT_MAX_CYCLES: u32 = 10_000;

/// Settings of the memory of a machine. Times are in cycles of the GPU clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DramSpec {
    /// The number of independent memory channels.
    pub channels: NonZeroU32,
    /// The number of banks of each channel.
    pub banks_per_channel: NonZeroU32,
    /// The size of a row of a bank, in bytes.
    pub row_bytes: NonZeroU32,
    /// The number of consecutive bytes that lie on one channel before the next channel follows.
    pub interleave_bytes: NonZeroU32,
    /// The rule that spreads bytes over channels.
    #[serde(default, skip_serializing_if = "ChannelSpread::is_even")]
    pub channel_spread: ChannelSpread,
    /// The number of bytes that a channel's data bus carries in one cycle.
    pub channel_bytes_per_cycle: NonZeroU32,
    /// Cycles of the round trip through the memory controller and wires, without the time in the
    /// bank (`row_hit_cycles` or `row_miss_cycles`).
    pub base_latency_cycles: u32,
    /// Cycles from the command to the data, if the row of the access is open.
    pub row_hit_cycles: u32,
    /// Cycles from the command to the data, if the bank must first close another row and open the
    /// row of the access.
    pub row_miss_cycles: u32,
    /// The rule by which a channel selects the next access. The keys of queues below have an effect
    /// only with `open-row-first`, and the keys after them are allowed only with this rule.
    #[serde(default, skip_serializing_if = "DramScheduler::is_oldest_first")]
    pub scheduler: DramScheduler,
    /// The number of accesses among which a channel selects. Later accesses wait in order of
    /// arrival. If absent, 64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_entries: Option<NonZeroU32>,
    /// The number of entries of a channel's second queue, which holds the writes. If absent, reads
    /// and writes share one queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_entries: Option<NonZeroU32>,
    /// The number of queued writes at which a channel begins to prefer writes to reads. Needed with
    /// `write_entries`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_high_entries: Option<NonZeroU32>,
    /// A channel that prefers writes prefers reads again when fewer writes than this number are
    /// queued. Needed with `write_entries`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_low_entries: Option<NonZeroU32>,
    /// The longest time for which a channel prefers other accesses to a queued one. After it, the
    /// channel serves the oldest access first. If absent, 10,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_wait_max_cycles: Option<u32>,
    /// The minimum cycles between two openings of rows in one bank (tRC). Zero if there is no minimum.
    #[serde(default, skip_serializing_if = "number::is_zero", deserialize_with = "number::whole_u32")]
    pub row_cycle_cycles: u32,
    /// The minimum cycles between two openings of rows in one channel (tRRD). Zero if there is no
    /// minimum.
    #[serde(default, skip_serializing_if = "number::is_zero", deserialize_with = "number::whole_u32")]
    pub row_to_row_cycles: u32,
    /// The number of groups into which the banks of a channel are divided: bank `n` is in group
    /// `n % bank_groups`. Zero if banks have no groups.
    #[serde(default, skip_serializing_if = "number::is_zero", deserialize_with = "number::whole_u32")]
    pub bank_groups: u32,
    /// The number of bytes that the banks of one group together move in one cycle: the size of a
    /// burst, divided by the minimum time between two accesses to a group (tCCD_L). Needed with
    /// `bank_groups`. Banks of different groups together move `channel_bytes_per_cycle` (tCCD_S).
    #[serde(default, skip_serializing_if = "number::is_zero", deserialize_with = "number::whole_u32")]
    pub group_bytes_per_cycle: u32,
    /// The cycles for which the data bus of a channel is idle between a read and the next access, if
    /// that is a write.
    #[serde(default, skip_serializing_if = "number::is_zero", deserialize_with = "number::whole_u32")]
    pub read_to_write_cycles: u32,
    /// The cycles for which the data bus of a channel is idle between a write and the next access, if
    /// that is a read.
    #[serde(default, skip_serializing_if = "number::is_zero", deserialize_with = "number::whole_u32")]
    pub write_to_read_cycles: u32,
}

impl DramSpec {
    /// This memory, but it serves accesses in order of arrival, without the minimum times that need
    /// another order.
    #[must_use]
    pub fn oldest_first(self) -> DramSpec {
        DramSpec {
            scheduler: DramScheduler::OldestFirst,
            row_cycle_cycles: 0,
            row_to_row_cycles: 0,
            bank_groups: 0,
            group_bytes_per_cycle: 0,
            read_to_write_cycles: 0,
            write_to_read_cycles: 0,
            ..self
        }
    }

    /// The keys that are allowed only with `open-row-first`, and their values.
    pub(crate) fn spacing(&self) -> [(&'static str, u32); 6] {
        [
            ("row_cycle_cycles", self.row_cycle_cycles),
            ("row_to_row_cycles", self.row_to_row_cycles),
            ("bank_groups", self.bank_groups),
            ("group_bytes_per_cycle", self.group_bytes_per_cycle),
            ("read_to_write_cycles", self.read_to_write_cycles),
            ("write_to_read_cycles", self.write_to_read_cycles),
        ]
    }

    /// The number of accesses among which a channel with the rule `open-row-first` selects.
    #[must_use]
    pub(crate) fn queue_entries(&self) -> usize {
        self.queue_entries.unwrap_or(QUEUE_ENTRIES).get() as usize
    }

    /// The longest time for which a channel prefers other accesses to a queued one.
    #[must_use]
    pub(crate) fn queue_wait_max_cycles(&self) -> u32 {
        match self.scheduler {
            DramScheduler::OldestFirst => 0,
            DramScheduler::OpenRowFirst => self.queue_wait_max_cycles.unwrap_or(QUEUE_WAIT_MAX_CYCLES),
        }
    }
}
