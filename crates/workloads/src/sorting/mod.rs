//! Workloads that sort, scan, search and align.

mod btree;
mod btree_nodes;
mod nn;
mod nw;
mod radix_sort;
mod scan;

pub(crate) use btree::BTREE;
pub(crate) use nn::{NN, NN_ON_FILES};
pub(crate) use nw::NW;
pub(crate) use radix_sort::RADIX_SORT;
pub(crate) use scan::SCAN;
