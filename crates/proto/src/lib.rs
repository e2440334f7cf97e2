//! The vocabulary and the contract of Fencepost.

mod line;
mod request;
mod symbols;

pub use line::*;
pub use request::*;
pub use symbols::Symbol;
