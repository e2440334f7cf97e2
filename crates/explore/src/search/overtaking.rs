//! The messages under way during a replay, in the order in which they were sent.

use crate::machine::moves::Move;
use crate::machine::{Machine, Sent};

/// Remembers the order in which messages were sent. A machine with unordered channels does not keep
/// this order.
#[derive(Debug, Default)]
pub(super) struct SendOrder {
    under_way: Vec<Sent>,
}

impl SendOrder {
    /// The message that a move delivers, and the oldest message of the same channel. `None` if the
    /// delivered message is the oldest.
    pub(super) fn overtaken(&self, machine: &Machine, state: &[u32], mv: Move) -> Option<(u32, u32)> {
        let Move::Deliver { from, to, nth } = mv else { return None };
        let part = machine.part(*state[..machine.known.nodes].get(usize::from(from))?);
        let msg = *machine.messages(part, to).get(usize::from(nth))?;
        let oldest = self.under_way.iter().find(|sent| (sent.0, sent.1) == (from, to))?.2;
        (oldest != msg).then_some((msg, oldest))
    }

    /// Updates the recorded order of messages, so that it contains the messages that are under way
    /// in `state`. `sends` are the messages that the last move sent, in the order of sending.
    pub(super) fn update(&mut self, machine: &Machine, state: &[u32], sends: &[Sent]) {
        let sent = |&part: &u32| {
            let part = machine.part(part);
            part.out.iter().map(|&(to, msg)| (part.node, to, msg))
        };
        let mut all: Vec<Sent> = state[..machine.known.nodes].iter().flat_map(sent).collect();
        self.under_way.retain(|old| {
            let at = all.iter().position(|message| message == old);
            at.map(|at| all.remove(at)).is_some()
        });
        all.sort_by_key(|message| sends.iter().position(|sent| sent == message));
        self.under_way.append(&mut all);
    }
}
