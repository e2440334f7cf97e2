//! Seeded faults in the guards of protocols.
//!
//! A guard is ordinary Rust code that makes a decision: the classification of states and events, a
//! mask, a comparison, a counter, a key or a rank. This crate makes mutants: copies of the
//! protocols with one seeded fault in a guard of `zoo` or `proto`. It counts the mutants that the
//! verifier kills.
//!
//! **Use it** to see whether the programs of a verification detect faults in a part of the code.
//! [`explore::mutants`] seeds the faults of table rows, of plans (lists of steps) and of sent
//! bytes.
//!
//! The modules, in the order of a run:
//!
//! * `sites` finds the expressions and their mutations, and `edit` rewrites them in place, so that
//!   lines keep their numbers.
//! * [`schema`] numbers the mutants of all sources.
//! * [`tree`] writes a copy of the crates with all mutants in one build, in which a [`switch`]
//!   selects one of them at run time. Mutants that do not type-check are dropped.
//! * [`records`] runs every case (a program on one machine, or a few random programs) without a
//!   mutant, and keeps the mutants that each case may kill.
//! * [`trials`] runs each mutant on the cases that may kill it, in child processes (`worker`). The
//!   program of a child process is [`trial`].
//! * [`argued`] reads the arguments that a mutant is equivalent. [`report`] counts the results.
//!   [`campaign`] carries out all of these steps. [`record`] adds a report to the recorded ones.

pub mod argued;
pub mod campaign;
mod edit;
pub mod record;
pub mod records;
pub mod report;
pub mod schema;
mod sites;
pub mod switch;
pub mod tree;
pub mod trial;
pub mod trials;
mod worker;
