//! Compute units: wavefronts, and what they ask of the rest of the machine.

pub mod coalesce;
