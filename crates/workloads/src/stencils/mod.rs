//! Stencils and grids of two and three dimensions.

mod hotspot;
mod hotspot3d;
mod srad;

pub(crate) use hotspot::HOTSPOT;
pub(crate) use hotspot3d::HOTSPOT3D;
pub(crate) use srad::SRAD;
