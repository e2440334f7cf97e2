//! What is held against a run.

use litmus::program::{Program, Value};

use crate::machine::moves::Move;

/// What is held against a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Something that the protocol itself says cannot happen.
    Impossible,
    /// Nothing can move, and the program is not over.
    Deadlock,
    /// The program is over, and something is still under way.
    Unquiet,
    /// It ends as it must not.
    Outcome,
    /// It never ends, and nobody is to blame.
    Livelock,
    /// A byte was read that was never written there.
    ThinAir,
    /// The address that a thread read is outside the program's memory.
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

/// What must not be, with the moves that lead there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// What kind.
    pub fault: Fault,
    /// What is wrong, in words.
    pub why: String,
    /// How to get there.
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
