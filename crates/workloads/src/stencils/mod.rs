//! Stencils and grids of two and three dimensions.

mod hotspot;
mod hotspot3d;
mod hpgmg;
mod multigrid;
mod pathfinder;
mod srad;

pub(crate) use hotspot::HOTSPOT;
pub(crate) use hotspot3d::HOTSPOT3D;
pub(crate) use hpgmg::HPGMG;
pub(crate) use pathfinder::PATHFINDER;
pub(crate) use srad::SRAD;
