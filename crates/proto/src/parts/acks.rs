//! Counting acknowledgements.

use crate::node::Slot;
use std::collections::BTreeMap;

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
        let expected = *count > 0;
        *count = count.saturating_sub(1);
        expected
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

/// Acknowledgements that a request still needs, by its slot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AckCounts {
    left: BTreeMap<Slot, u32>,
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
        let left = self.left.get_mut(&slot)?;
        *left -= 1;
        let last = *left == 0;
        if last {
            self.left.remove(&slot);
        }
        Some(last)
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
}
