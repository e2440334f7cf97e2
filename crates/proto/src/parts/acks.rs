//! Counting acknowledgements.

use super::few::Few;
use crate::contract::{Cx, Disposition, Protocol, Wrap};
use crate::node::{Key, NodeId, Slot};

/// Outstanding writes, counted in two classes so that a flush can wait for
/// those before it without waiting for those after it. A write carries its
/// parity, and its acknowledgement echoes it: bounded, and free of starvation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AckParity {
    counts: [u32; 2],
    parity: bool,
}

impl AckParity {
    /// Counts a write; the parity travels with it.
    #[inline]
    pub fn sent(&mut self) -> bool {
        self.counts[usize::from(self.parity)] += 1;
        self.parity
    }

    /// Counts an acknowledgement; `false` if there was nothing to acknowledge.
    #[inline]
    #[must_use]
    pub fn acked(&mut self, parity: bool) -> bool {
        let count = &mut self.counts[usize::from(parity)];
        let Some(rest) = count.checked_sub(1) else { return false };
        *count = rest;
        true
    }

    /// Are writes before the last turn still outstanding?
    #[inline]
    #[must_use]
    pub fn is_closing(&self) -> bool {
        self.counts[usize::from(!self.parity)] > 0
    }

    /// From now on, count in the other class. Only when nothing is closing.
    pub fn turn(&mut self) {
        debug_assert!(!self.is_closing(), "a turn while the last one is open");
        self.parity = !self.parity;
    }

    /// Is no write outstanding?
    #[inline]
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.counts == [0, 0]
    }

    /// An idle counter has one form.
    pub fn canonicalize(&mut self) {
        if self.is_idle() {
            self.parity = false;
        }
    }
}

/// The other controllers of this one's kind, of which there are `count`.
pub fn peers(me: NodeId, count: u16) -> impl Iterator<Item = NodeId> {
    (0..count).filter(move |&index| index != me.index).map(move |index| NodeId { kind: me.kind, index })
}

/// Acknowledgements that a request still needs, by its slot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AckCounts {
    left: Few<Slot, u32>,
}

impl AckCounts {
    /// `slot` needs `count` acknowledgements.
    pub fn expect(&mut self, slot: Slot, count: u32) {
        if count > 0 {
            self.left.insert(slot, count);
        }
    }

    /// One has come: `Some(true)` if it was the last one, `None` if none was due.
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

    /// Sends a word for a request to every one of these nodes. The request goes
    /// on with the next step of its plan when all have answered; `None` if there
    /// is nobody to tell.
    pub fn tell<P: Protocol<Msg: Wrap<M>>, M>(
        &mut self,
        slot: Slot,
        nodes: impl Iterator<Item = NodeId>,
        word: impl Fn(Slot) -> M,
        cx: &mut Cx<'_, P>,
    ) -> Option<Disposition> {
        let before = cx.fx.sends.len();
        nodes.for_each(|node| cx.fx.send(node, word(slot)));
        let told = cx.fx.sends.len() - before;
        if told == 0 {
            return None;
        }
        self.expect(slot, told as u32);
        cx.stage += 1;
        Some(Disposition::Stall(Key::Slot(slot)))
    }

    /// A node that was told has answered. `false` if nothing was due.
    pub fn answered<P: Protocol>(&mut self, slot: Slot, cx: &mut Cx<'_, P>) -> bool {
        let last = self.acked(slot);
        if last == Some(true) {
            cx.fx.resume(slot);
        }
        last.is_some()
    }

    /// Is nothing due?
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
        assert!(!acks.acked(late), "an acknowledgement too many is noticed");
    }

    #[test]
    fn the_last_of_several_acknowledgements_is_told() {
        let mut acks = AckCounts::default();
        acks.expect(Slot(3), 2);
        assert_eq!(acks.acked(Slot(3)), Some(false));
        assert_eq!(acks.acked(Slot(4)), None);
        assert_eq!(acks.acked(Slot(3)), Some(true));
        assert!(acks.is_idle());
    }

    #[test]
    fn the_peers_of_a_node_are_all_of_its_kind_but_itself() {
        let of = |index, count| peers(NodeId { kind: 1, index }, count).map(|n| n.index).collect::<Vec<_>>();
        assert_eq!(of(1, 4), [0, 2, 3]);
        assert_eq!(of(0, 1), [0; 0]);
        assert_eq!(peers(NodeId { kind: 1, index: 7 }, 128).count(), 127);
    }
}
