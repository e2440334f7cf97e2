//! The errors that end a run.

use core::fmt;

use kernel::Fault;

pub use crate::reports::stuck::{Awaited, Cause, Stuck, Wait};

/// The reason why a run ended without a result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RunError {
    /// The machine cannot be built, or the protocol cannot run on it.
    #[error("{0}")]
    Machine(String),
    /// The program made an error, such as an access beyond the end of an array.
    #[error("{0}")]
    Fault(Box<Fault>),
    /// The run did not finish. The diagnosis names the waiting threads.
    #[error("{0}")]
    Stuck(Box<Stuck>),
    /// The protocol violated a rule. For example, it reached a row (a state with an event) that its
    /// tables call impossible.
    #[error("the protocol failed at cycle {cycle}: {why} (seed {seed})")]
    Violation {
        /// The rule that the protocol violated, as text. For an impossible row, the text has the
        /// name of the station (controller) and the reason that the row gives.
        why: String,
        /// The cycle at which the protocol violated the rule.
        cycle: u64,
        /// The seed of the run.
        seed: u64,
    },
    /// The counters of the run are inconsistent, which is an error of the simulator. The text names
    /// the inconsistent counters.
    #[error("the counters of the run do not add up: {0}")]
    Unreconciled(String),
    /// The message that a seeded fault was to drop was never sent.
    #[error("{}", nothing_dropped(name, *nth, *sent, names))]
    NothingDropped {
        /// The name of the message to drop.
        name: String,
        /// The number of the message to drop among the messages of that name.
        nth: u64,
        /// The number of messages of that name that the run sent.
        sent: u64,
        /// The names of all messages that the run sent.
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
