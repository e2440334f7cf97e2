//! Litmus tests and memory models: finds the outcomes that a model allows for a test, and finds
//! whether a test has a data race.
//!
//! Use this crate to read a litmus test, to enumerate its executions and to judge them under a
//! model written in the `.cat` language. This crate knows nothing of protocols and caches: another
//! crate finds the outcomes that a *machine* with caches produces.
//!
//! * [`program`] is the one representation of a test in any format; [`parse`] reads the
//!   formats.
//! * [`cat`] reads models. [`check`] finds what they allow. [`exec`] holds the events
//!   and relations that both use.
//! * [`suite`] compares verdicts with a table of expected ones.
//! * [`generate`] enumerates and samples programs.
//! * [`progress`] looks for executions that do not terminate.
//! * [`hrf`] explores executions under the HRF models.

pub mod cat;
pub mod check;
pub mod exec;
pub mod generate;
pub mod hrf;
pub mod parse;
pub mod program;
pub mod progress;
pub mod suite;
