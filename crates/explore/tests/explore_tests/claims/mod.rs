//! The claims of whole protocols, on their programs and on faulty protocols.

mod batches;
mod bounded;
mod census;
mod chiplets;
mod cutoff;
mod dimensions;
mod faults;
pub(crate) mod flush;
mod inclusion;
mod mutants;
mod preemption;
mod runtime;
mod survivors;
mod symmetry;
mod targeted;

/// The maximum number of threads of a program for the protocols with epochs or leases.
const TIMED_THREADS_MAX: usize = 2;

/// Whether a protocol has epochs (periods of time) or leases. Such a protocol has many states: an
/// epoch may change, or a tick may pass, between any two moves, or lines and copies have logical
/// times.
pub(crate) fn is_timed(protocol: &str) -> bool {
    ["stc-", "tc-", "rcc", "g-tsc"].iter().any(|name| protocol.starts_with(name))
}
