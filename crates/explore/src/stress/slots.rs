//! The slots of requests. Each node that requests enter has its own numbering, as each port of the
//! simulator has. So the same slot can stand for different requests at two nodes.

use drive::At;
use proto::Slot;

/// The sender of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sender {
    /// A wavefront, with the index of the operation among the operations that the wavefront has
    /// under way.
    Wave(u8, u8),
    /// An agent (a compute unit or the command processor) that makes a request at the beginning or
    /// the end of a kernel.
    Boundary(u8),
    /// A work-group that leaves its compute unit or arrives at another one.
    Group(u8),
    /// The host, which reads this line after the last kernel.
    Reader(u8),
}

/// The maximum number of requests under way at one node.
const SLOTS_MAX: usize = u128::BITS as usize;

/// The slots of the requests under way at each node.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    /// For each node, the slots (numbers of requests) in use, as a mask with one bit for each slot.
    busy: Vec<u128>,
    /// The sender of the request in each slot of each node.
    senders: Vec<Sender>,
}

impl Slots {
    pub(super) fn new(nodes: usize) -> Slots {
        Slots { busy: vec![0; nodes], senders: vec![Sender::Boundary(0); nodes * SLOTS_MAX] }
    }

    pub(super) fn clear(&mut self) {
        self.busy.fill(0);
    }

    /// Takes the first free slot of a node. `None` if the node has too many requests.
    #[inline]
    pub(super) fn take(&mut self, node: At, sender: Sender) -> Option<Slot> {
        let slot = self.busy[node as usize].trailing_ones();
        if slot as usize == SLOTS_MAX {
            return None;
        }
        self.busy[node as usize] |= 1 << slot;
        self.senders[node as usize * SLOTS_MAX + slot as usize] = sender;
        Some(Slot(slot))
    }

    /// Frees a slot of a node, and returns the sender of its request. `None` if no request is in the
    /// slot.
    #[inline]
    pub(super) fn free(&mut self, node: At, slot: Slot) -> Option<Sender> {
        let busy = &mut self.busy[node as usize];
        let bit = 1u128.checked_shl(slot.0).filter(|bit| *busy & bit != 0)?;
        *busy &= !bit;
        Some(self.senders[node as usize * SLOTS_MAX + slot.0 as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_numbers_its_slots_from_zero() {
        let mut slots = Slots::new(2);
        let [a, b, c] = [Sender::Wave(1, 0), Sender::Boundary(2), Sender::Group(3)];
        assert_eq!(slots.take(0, a), Some(Slot(0)));
        assert_eq!(slots.take(1, b), Some(Slot(0)));
        assert_eq!(slots.take(0, c), Some(Slot(1)));
        assert_eq!((slots.free(0, Slot(0)), slots.free(1, Slot(0))), (Some(a), Some(b)));
        assert_eq!((slots.free(0, Slot(0)), slots.free(0, Slot(500))), (None, None), "answered twice");
        assert_eq!(slots.take(0, b), Some(Slot(0)), "the freed slot");
        (2..SLOTS_MAX as u32).for_each(|slot| assert_eq!(slots.take(0, a), Some(Slot(slot))));
        assert_eq!(slots.take(0, a), None);
        slots.clear();
        assert_eq!(slots.free(0, Slot(1)), None);
    }
}
