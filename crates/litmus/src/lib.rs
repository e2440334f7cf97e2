//! Litmus tests and memory models: which outcomes does a model allow, and
//! which programs race?
//!
//! Use this crate to read a litmus test, to enumerate its executions and to
//! judge them under a model written in the `.cat` language. It knows nothing of
//! protocols and caches: what a *machine* does is another crate's matter.
//!
//! * [`program`] is the one representation of a test, whatever format it came
//!   from; [`parse`] reads the formats.
//! * [`cat`] reads models, [`check`] finds what they allow, with [`exec`] below.
//! * [`suite`] compares verdicts with a table of expected ones.
//! * [`generate`] makes programs by the thousand.
//! * [`progress`] looks for executions that go on for ever.
//! * [`hrf`] explores executions under the models of the HRF family.

pub mod cat;
pub mod check;
pub mod exec;
pub mod generate;
pub mod hrf;
pub mod parse;
pub mod program;
pub mod progress;
pub mod suite;
