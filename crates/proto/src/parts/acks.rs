//! Counters of outstanding acks.

use super::small_map::SmallMap;
use crate::contract::{Cx, Disposition, Protocol, Wrap};
use crate::node::{Key, NodeId, Slot};

/// Outstanding writes, counted in two classes, so that a flush waits for earlier writes and not for
/// later ones. Each write carries the parity (the bit that names its class), and the write's ack
/// echoes the parity. The counters are bounded, and no flush starves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AckParity {
    counts: [u32; 2],
    parity: bool,
}

impl AckParity {
    /// Counts a write. Returns the bit that names the class of the write, which is one of two. The
    /// write carries the bit to its receiver.
    #[inline]
    pub fn sent(&mut self) -> bool {
        self.counts[usize::from(self.parity)] += 1;
        self.parity
    }

    /// Counts an ack with this class bit (parity). Returns false if no write of the class was
    /// outstanding.
    #[inline]
    #[must_use]
    pub fn acked(&mut self, parity: bool) -> bool {
        let count = &mut self.counts[usize::from(parity)];
        let Some(rest) = count.checked_sub(1) else { return false };
        *count = rest;
        true
    }

    /// Whether writes of the older class are outstanding: writes from before the last call of
    /// `turn`.
    #[inline]
    #[must_use]
    pub fn is_closing(&self) -> bool {
        self.counts[usize::from(!self.parity)] > 0
    }

    /// Ends the current class: later writes are counted in the other class. Call this function only
    /// if no write of the other class is outstanding.
    pub fn turn(&mut self) {
        debug_assert!(!self.is_closing(), "writes of the older class are still outstanding");
        self.parity = !self.parity;
    }

    /// Whether both classes are without outstanding writes.
    #[inline]
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.counts == [0, 0]
    }

    /// The number of outstanding writes of both classes.
    #[must_use]
    pub fn outstanding(&self) -> u32 {
        self.counts[0] + self.counts[1]
    }

    /// Resets the parity if no write is outstanding, so that all idle counters are equal.
    pub fn canonicalize(&mut self) {
        if self.is_idle() {
            self.parity = false;
        }
    }
}

/// All controllers of the kind of `me`, except `me` itself. The kind has `count` controllers.
pub fn peers(me: NodeId, count: u16) -> impl Iterator<Item = NodeId> {
    (0..count).filter(move |&index| index != me.index).map(move |index| NodeId { kind: me.kind, index })
}

/// For each request, the number of acks that it still waits for. The key is the slot of the
/// request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AckCounts {
    left: SmallMap<Slot, u32>,
}

impl AckCounts {
    /// Makes the request of `slot` wait for `count` acks.
    pub fn expect(&mut self, slot: Slot, count: u32) {
        if count > 0 {
            self.left.insert(slot, count);
        }
    }

    /// Counts an ack for the request of `slot`. Returns whether it was the last ack that the
    /// request expected. `None` if the request expected no ack.
    #[must_use]
    pub fn acked(&mut self, slot: Slot) -> Option<bool> {
        let left = self.left.get_mut(slot)?;
        *left -= 1;
        let last = *left == 0;
        if last {
            self.left.remove(slot);
        }
        Some(last)
    }

    /// Sends a message on behalf of a request to each of these nodes. When all nodes have answered,
    /// the request goes on with the next step of its plan (sequence of steps). Returns `None` if
    /// there are no nodes.
    pub fn tell<P: Protocol<Msg: Wrap<M>>, M>(
        &mut self,
        slot: Slot,
        nodes: impl Iterator<Item = NodeId>,
        msg: impl Fn(Slot) -> M,
        cx: &mut Cx<'_, P>,
    ) -> Option<Disposition> {
        let before = cx.fx.sends.len();
        nodes.for_each(|node| cx.fx.send(node, msg(slot)));
        let sent = cx.fx.sends.len() - before;
        if sent == 0 {
            return None;
        }
        self.expect(slot, sent as u32);
        cx.stage += 1;
        Some(Disposition::Stall(Key::Slot(slot)))
    }

    /// Counts the answer of a node to the request of `slot`. Returns false if the request expected
    /// no answer.
    pub fn answered<P: Protocol>(&mut self, slot: Slot, cx: &mut Cx<'_, P>) -> bool {
        let last = self.acked(slot);
        if last == Some(true) {
            cx.fx.resume(slot);
        }
        last.is_some()
    }

    /// Whether no request waits for an ack.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.left.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flush_waits_for_earlier_writes_and_not_for_later_ones() {
        let mut acks = AckParity::default();
        let early = acks.sent();
        acks.turn();
        let late = acks.sent();
        assert!(acks.is_closing());
        assert!(acks.acked(early));
        assert!(!acks.is_closing() && !acks.is_idle());
        assert!(acks.acked(late));
        assert!(acks.is_idle());
        assert!(!acks.acked(late), "one ack too many is detected");
    }

    #[test]
    fn the_last_of_several_acks_is_reported() {
        let mut acks = AckCounts::default();
        acks.expect(Slot(3), 2);
        assert_eq!(acks.acked(Slot(3)), Some(false));
        assert_eq!(acks.acked(Slot(4)), None);
        assert_eq!(acks.acked(Slot(3)), Some(true));
        assert!(acks.is_idle());
    }

    #[test]
    fn the_peers_of_a_node_are_all_others_of_its_kind() {
        let of = |index, count| peers(NodeId { kind: 1, index }, count).map(|n| n.index).collect::<Vec<_>>();
        assert_eq!(of(1, 4), [0, 2, 3]);
        assert_eq!(of(0, 1), [0; 0]);
        assert_eq!(peers(NodeId { kind: 1, index: 7 }, 128).count(), 127);
    }
}
