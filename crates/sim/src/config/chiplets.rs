//! What machines of several chiplets have beside the rest.

use proto::PagePolicy;
use serde::{Deserialize, Serialize};

use super::number;

/// Which chiplet a page of memory lies on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PagePlacement {
    /// Consecutive pages on consecutive chiplets.
    #[default]
    Interleaved,
    /// Each group of consecutive pages, one a chiplet, in an order that a hash of
    /// the group's number decides.
    Hash,
    /// The chiplet of the compute unit that touches the page first. A page that the
    /// host touches first is placed as if pages were interleaved; copies of whole
    /// arrays touch nothing.
    FirstTouch,
}

impl From<PagePlacement> for PagePolicy {
    fn from(placement: PagePlacement) -> PagePolicy {
        match placement {
            PagePlacement::Interleaved => PagePolicy::Interleaved,
            PagePlacement::Hash => PagePolicy::Hash,
            PagePlacement::FirstTouch => PagePolicy::FirstTouch,
        }
    }
}

/// The pages of memory, the unit in which it is placed on chiplets.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct PageSpec {
    /// Bytes of a page.
    #[serde(deserialize_with = "number::positive_u32")]
    pub bytes: u32,
    /// Which chiplet a page lies on.
    pub placement: PagePlacement,
}

impl Default for PageSpec {
    fn default() -> Self {
        PageSpec { bytes: 4096, placement: PagePlacement::default() }
    }
}

/// The links between chiplets: one in each direction between any two. Where a
/// machine file says nothing they are those of an MCM-GPU (Arunkumar et al., ISCA
/// 2017) at 1 GHz: 32 cycles, 768 GB/s, 0.54 pJ a bit.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct LinkSpec {
    /// From one chiplet's network to the other's.
    #[serde(deserialize_with = "number::whole_u32")]
    pub latency_cycles: u32,
    /// What a link carries each cycle, in one direction.
    #[serde(deserialize_with = "number::positive_u32")]
    pub bytes_per_cycle: u32,
    /// Energy of a byte that crosses.
    pub byte_pj: f64,
}

impl Default for LinkSpec {
    fn default() -> Self {
        LinkSpec { latency_cycles: 32, bytes_per_cycle: 768, byte_pj: 4.32 }
    }
}
