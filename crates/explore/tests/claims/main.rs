//! The claims of whole protocols, on their programs and on faulty protocols. The tests are in one
//! binary, so that the long tests run at the same time.

mod batches;
mod bounded;
mod census;
mod chiplets;
mod cutoff;
mod dimensions;
mod faults;
mod flush;
mod inclusion;
mod mutants;
mod preemption;
mod runtime;
mod symmetry;
mod targeted;
#[path = "../toys/mod.rs"]
mod toys;
