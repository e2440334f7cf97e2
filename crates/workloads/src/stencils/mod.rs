//! Workloads on grids of two and three dimensions (stencils).

mod chip;
mod hotspot;
mod hotspot3d;
mod hpgmg;
mod multigrid;
mod pathfinder;
mod srad;

pub(crate) use hotspot::{HOTSPOT, HOTSPOT_ON_FILES};
pub(crate) use hotspot3d::HOTSPOT3D;
pub(crate) use hpgmg::HPGMG;
pub(crate) use pathfinder::PATHFINDER;
pub(crate) use srad::SRAD;
