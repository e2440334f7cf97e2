//! Settings for machines with several chiplets.

use proto::PagePolicy;
use serde::{Deserialize, Serialize};

use super::number;

/// Which chiplet a page of memory lies on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PagePlacement {
    /// Consecutive pages lie on consecutive chiplets.
    #[default]
    Interleaved,
    /// Consecutive pages form groups of one page for each chiplet. A hash of the
    /// group's number decides the order within the group.
    Hash,
    /// The chiplet of the compute unit that touches the page first. A page that the
    /// host touches first is placed as with `interleaved`. Copies of whole arrays
    /// place no page.
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

/// Pages of memory, the unit of placement on chiplets.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct PageSpec {
    /// The size of a page.
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
