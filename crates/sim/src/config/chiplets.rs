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
