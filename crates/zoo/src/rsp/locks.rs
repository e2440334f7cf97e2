//! Which remote operations keep read-modify-writes from being performed here.

use proto::parts::Few;
use proto::{NodeId, Slot};

/// The locks on the read-modify-writes of one L1: one for each remote operation
/// under way, for nothing keeps two of them apart.
///
/// Read-modify-writes that find locks wait together for those that are held
/// when the first of them comes. They do not wait for locks that come later,
/// or remote operations without end would starve them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Locks {
    waited_for: Few<(NodeId, Slot)>,
    others: Few<(NodeId, Slot)>,
}

impl Locks {
    /// Is a lock held?
    #[inline]
    #[must_use]
    pub fn any(&self) -> bool {
        !self.others.is_empty() || !self.waited_for.is_empty()
    }

    /// A remote operation begins.
    pub fn lock(&mut self, node: NodeId, slot: Slot) {
        self.others.insert((node, slot), ());
    }

    /// A remote operation has ended. `true` if that was the last one that
    /// somebody waits for.
    #[must_use]
    pub fn unlock(&mut self, node: NodeId, slot: Slot) -> bool {
        let ended = (node, slot);
        self.others.remove(ended);
        self.waited_for.remove(ended).is_some() && self.waited_for.is_empty()
    }

    /// A read-modify-write waits.
    pub fn wait(&mut self) {
        if self.waited_for.is_empty() {
            std::mem::swap(&mut self.waited_for, &mut self.others);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_does_not_wait_for_locks_that_come_later() {
        let of = |index| NodeId { kind: 0, index };
        let mut locks = Locks::default();
        locks.lock(of(1), Slot(0));
        locks.lock(of(2), Slot(0));
        locks.wait();
        locks.lock(of(3), Slot(0));
        locks.wait();
        assert!(!locks.unlock(of(3), Slot(0)), "nobody waits for it");
        locks.lock(of(1), Slot(1));
        assert!(!locks.unlock(of(1), Slot(0)));
        assert!(locks.unlock(of(2), Slot(0)));
        assert!(locks.any(), "the one that came later is still held");
        assert!(!locks.unlock(of(1), Slot(1)));
        assert_eq!(locks, Locks::default());
    }
}
