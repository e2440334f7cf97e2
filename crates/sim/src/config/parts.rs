//! The network, main memory, energies and timers.

use serde::{Deserialize, Serialize};

use super::number;

/// How the nodes of the network are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Topology {
    /// A grid, XY-routed.
    Mesh,
    /// A grid whose rows and columns are rings, XY-routed the short way.
    Torus,
    /// One switch that joins all nodes.
    Crossbar,
}

/// The network.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct NocSpec {
    /// How the nodes are joined.
    pub topology: Topology,
    /// Nodes in a row.
    #[serde(deserialize_with = "number::positive_u32")]
    pub columns: u32,
    /// Rows.
    #[serde(deserialize_with = "number::positive_u32")]
    pub rows: u32,
    /// From one node to the next, switch and wire, without waiting.
    #[serde(deserialize_with = "number::positive_u32")]
    pub hop_cycles: u32,
    /// What one link carries in a cycle, one way.
    #[serde(deserialize_with = "number::positive_u32")]
    pub link_bytes_per_cycle: u32,
    /// Bytes of a message beside its data.
    #[serde(deserialize_with = "number::positive_u32")]
    pub header_bytes: u32,
}

/// Main memory.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DramSpec {
    /// Channels; consecutive lines go to consecutive channels.
    #[serde(deserialize_with = "number::positive_u32")]
    pub channels: u32,
    /// Banks of each channel.
    #[serde(deserialize_with = "number::positive_u32")]
    pub banks_per_channel: u32,
    /// Bytes of an open row.
    #[serde(deserialize_with = "number::positive_u32")]
    pub row_bytes: u32,
    /// An access to the open row.
    #[serde(deserialize_with = "number::positive_u32")]
    pub row_hit_cycles: u32,
    /// An access that must close a row and open another.
    #[serde(deserialize_with = "number::positive_u32")]
    pub row_miss_cycles: u32,
    /// What one channel carries in a cycle.
    #[serde(deserialize_with = "number::positive_u32")]
    pub bytes_per_cycle: u32,
}

/// How long the timers of protocols run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TimerSpec {
    /// Between two ticks of an epoch manager.
    #[serde(deserialize_with = "number::positive_u32")]
    pub epoch_cycles: u32,
    /// One unit of a lease or a logical clock.
    #[serde(deserialize_with = "number::positive_u32")]
    pub tick_cycles: u32,
}

impl Default for TimerSpec {
    fn default() -> Self {
        TimerSpec { epoch_cycles: 100, tick_cycles: 1 }
    }
}

/// What each access costs.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct EnergySpec {
    /// A vector operation of one wavefront.
    #[serde(deserialize_with = "number::amount")]
    pub vector_op_pj: f64,
    /// An LDS access of one wavefront.
    #[serde(deserialize_with = "number::amount")]
    pub lds_pj: f64,
    /// Reading a line of an L1.
    #[serde(deserialize_with = "number::amount")]
    pub l1_read_pj: f64,
    /// Writing a line of an L1.
    #[serde(deserialize_with = "number::amount")]
    pub l1_write_pj: f64,
    /// Reading a line of the L2.
    #[serde(deserialize_with = "number::amount")]
    pub l2_read_pj: f64,
    /// Writing a line of the L2.
    #[serde(deserialize_with = "number::amount")]
    pub l2_write_pj: f64,
    /// A message through the network.
    #[serde(deserialize_with = "number::amount")]
    pub noc_message_pj: f64,
    /// An access of main memory.
    #[serde(deserialize_with = "number::amount")]
    pub dram_access_pj: f64,
}
