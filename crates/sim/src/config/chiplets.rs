//! Settings for machines with several chiplets: the size and the placement of pages.

use proto::PagePolicy;
use serde::{Deserialize, Serialize};

use super::number;

/// The rule that decides on which chiplet a page of memory lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PagePlacement {
    /// Consecutive pages lie on consecutive chiplets.
    #[default]
    Interleaved,
    /// Each group of consecutive pages has one page per chiplet. A hash of the group's number
    /// decides on which chiplet the first page of the group lies. The other pages follow on the
    /// next chiplets in turn.
    Hash,
    /// Each page lies on the chiplet of the compute unit that accesses the page first. If the host
    /// accesses a page first, the page lies where `interleaved` would place it. Copies of whole
    /// arrays by the host do not place pages.
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

/// The pages of memory. A page is the unit of placement on chiplets.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct PageSpec {
    /// The size of a page in bytes.
    #[serde(deserialize_with = "number::positive_u32")]
    pub bytes: u32,
    /// The rule that decides on which chiplet a page lies.
    pub placement: PagePlacement,
}

impl Default for PageSpec {
    fn default() -> Self {
        PageSpec { bytes: 4096, placement: PagePlacement::default() }
    }
}
