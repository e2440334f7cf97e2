//! The faults that a search can find in the runs of a program.

use litmus::program::{Program, Value};

use crate::machine::moves::Move;

/// The kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// An event occurs that the protocol declares impossible.
    Impossible,
    /// No move is possible, and the program has not ended.
    Deadlock,
    /// The program has ended, and a message or operation is still under way.
    Unquiet,
    /// The outcome of the program is forbidden.
    Outcome,
    /// A fair run, in which every move gets its turn, never ends.
    Livelock,
    /// A load returned a byte that was never written to its location.
    ThinAir,
    /// A thread read a value with which it cannot continue, such as an address outside the
    /// program's memory.
    Astray,
    /// The lines of several controllers violate a rule of the protocol, such as "a line has at most
    /// one owner".
    Disagreement,
}

impl Fault {
    pub(crate) const ALL: [Fault; 8] = [
        Fault::Impossible,
        Fault::Deadlock,
        Fault::Unquiet,
        Fault::Outcome,
        Fault::Livelock,
        Fault::ThinAir,
        Fault::Astray,
        Fault::Disagreement,
    ];
}

/// A fault of a protocol, with the moves that lead to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The kind of the fault.
    pub fault: Fault,
    /// The description of the fault in words.
    pub why: String,
    /// The moves from the first state to the fault.
    pub moves: Vec<Move>,
}

/// The text of an outcome, for example `0:r1=1; x=2;`.
#[must_use]
pub fn show(program: &Program, outcome: &[Value]) -> String {
    let terms = program.state_terms();
    let values = terms.iter().zip(outcome);
    let values = values.map(|(&term, &v)| format!("{}={};", program.term_name(term), program.value_name(v)));
    values.collect::<Vec<_>>().join(" ")
}
