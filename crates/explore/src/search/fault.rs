//! Faults of runs.

use litmus::program::{Program, Value};

use crate::machine::moves::Move;

/// The kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// An event that the protocol declares impossible.
    Impossible,
    /// No move is left, and the program has not ended.
    Deadlock,
    /// The program has ended, and something is still under way.
    Unquiet,
    /// The outcome is forbidden.
    Outcome,
    /// A fair run never ends.
    Livelock,
    /// A byte was read that was never written there.
    ThinAir,
    /// A thread read a value that has no continuation, such as an address outside the
    /// program's memory.
    Astray,
}

impl Fault {
    pub(crate) const ALL: [Fault; 7] = [
        Fault::Impossible,
        Fault::Deadlock,
        Fault::Unquiet,
        Fault::Outcome,
        Fault::Livelock,
        Fault::ThinAir,
        Fault::Astray,
    ];
}

/// A fault, with the moves that lead to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The kind.
    pub fault: Fault,
    /// The fault in words.
    pub why: String,
    /// The moves from the first state.
    pub moves: Vec<Move>,
}

/// An outcome in words: `0:r1=1; x=2;`.
#[must_use]
pub fn show(program: &Program, outcome: &[Value]) -> String {
    let terms = program.state_terms();
    let values = terms.iter().zip(outcome);
    let values = values.map(|(&term, &v)| format!("{}={};", program.term_name(term), program.value_name(v)));
    values.collect::<Vec<_>>().join(" ")
}
