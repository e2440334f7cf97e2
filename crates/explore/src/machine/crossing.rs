//! Crossings: requests and answers between a core and a controller outside the core's part (the
//! state of one node). A trace names a crossing by its index among all crossings between the two
//! nodes; a replay with timing needs the thread and the operation instead.

use crate::machine::Machine;
use crate::machine::controllers::{StationInput, Word};
use crate::machine::moves::Move;

/// The thread and the operation of a crossing: a request or an answer between a core and a
/// controller outside the core's part (the state of one node).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// The number of the thread that makes the request or gets the answer.
    pub thread: u8,
    /// The index of this crossing (a request or an answer between a core and a controller
    /// elsewhere) among the crossings of the thread that are under way between the same two nodes
    /// in the same direction. The crossing of the oldest operation has index 0.
    pub nth: u8,
}

/// Updates `ages` to match a state. `ages` is the list of operations under way, in issue order. An
/// operation is given by its thread and the id of its request.
pub(crate) fn note_ages(machine: &Machine, state: &[u32], ages: &mut Vec<(u8, u8)>) {
    let parts = state[..machine.known.nodes].iter().map(|&part| machine.part(part));
    let threads = parts.flat_map(|part| part.threads.iter());
    let pending: Vec<(u8, u8)> =
        threads.flat_map(|&(t, s)| machine.thread(s).pending.iter().map(move |p| (t, p.id))).collect();
    ages.retain(|operation| pending.contains(operation));
    let new = pending.into_iter().filter(|operation| !ages.contains(operation));
    let new: Vec<(u8, u8)> = new.collect();
    ages.extend(new);
}

/// The crossing that the move `mv` makes: the thread and operation whose request or answer the move
/// delivers. `None` if the move is no crossing.
pub(crate) fn crossing(machine: &Machine, state: &[u32], mv: Move, ages: &[(u8, u8)]) -> Option<Crossing> {
    let Move::Cross { from, to, nth } = mv else { return None };
    let part = machine.part(*state[..machine.known.nodes].get(usize::from(from))?);
    let wires = part.wires.iter().filter(|(other, _)| *other == to);
    let operations: Vec<(u8, u8)> = wires
        .filter_map(|&(_, word)| match machine.words.thing(word) {
            Word::StationInput(StationInput::Request { slot, .. }) => machine.slots.thread(to, slot.0),
            Word::Answer { entry, slot, .. } => machine.slots.thread(*entry, slot.0),
            _ => None,
        })
        .collect();
    let age = |operation: &(u8, u8)| ages.iter().position(|other| other == operation);
    let &it = operations.get(usize::from(nth))?;
    let older = operations.iter().filter(|other| other.0 == it.0 && age(other) < age(&it));
    Some(Crossing { thread: it.0, nth: older.count() as u8 })
}
