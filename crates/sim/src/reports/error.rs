//! Why a run has no result.

use core::fmt;

use kernel::Fault;

pub use crate::reports::stuck::{Awaited, Cause, Stuck, Wait};

/// Why a run has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RunError {
    /// The machine cannot be built, or the protocol cannot run on it.
    #[error("{0}")]
    Machine(String),
    /// The program did something wrong.
    #[error("{0}")]
    Fault(Box<Fault>),
    /// The run does not get to its end.
    #[error("{0}")]
    Stuck(Box<Stuck>),
    /// The protocol came to a row that its tables call impossible.
    #[error("the protocol failed at cycle {cycle}: {why} (seed {seed})")]
    Violation {
        /// Which station, and what it says.
        why: String,
        /// When.
        cycle: u64,
        /// The seed of the run.
        seed: u64,
    },
    /// What was counted does not add up: an error of the simulator.
    #[error("the counters of the run do not add up: {0}")]
    Unreconciled(String),
    /// The message that was to be lost was never sent.
    #[error("{}", nothing_dropped(name, *nth, *sent, names))]
    NothingDropped {
        /// Its name.
        name: String,
        /// Which one.
        nth: u64,
        /// How many of that name were sent.
        sent: u64,
        /// The names of the messages that were sent.
        names: Vec<&'static str>,
    },
}

fn nothing_dropped(name: &str, nth: u64, sent: u64, names: &[&str]) -> impl fmt::Display {
    let names = names.join(", ");
    match sent {
        0 => format!("no message `{name}` was sent, so none could be dropped; there were: {names}"),
        _ => format!("message {nth} of `{name}` was to be dropped, but only {sent} were sent"),
    }
}
