//! Sorting, scans, searches, alignments.

mod radix_sort;
mod scan;

pub(crate) use radix_sort::RADIX_SORT;
pub(crate) use scan::SCAN;
