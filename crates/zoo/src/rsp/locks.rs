//! The locks that remote operations (which synchronize with narrower scopes on other compute units)
//! put on the read-modify-writes of an L1.

use proto::parts::SmallMap;
use proto::{NodeId, Slot};

/// The locks on the read-modify-writes of one L1, one for each remote operation under
/// way. Several remote operations may be under way at once.
///
/// The read-modify-writes that meet locks form a group. The group waits for the locks that are held
/// when its first member arrives. It does not wait for later locks, because an endless sequence of
/// remote operations would starve it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Locks {
    awaited: SmallMap<(NodeId, Slot)>,
    others: SmallMap<(NodeId, Slot)>,
}

impl Locks {
    /// Whether any lock is held.
    #[inline]
    #[must_use]
    pub fn any(&self) -> bool {
        !self.others.is_empty() || !self.awaited.is_empty()
    }

    /// Adds the lock of a remote operation, which synchronizes with narrower scopes on other
    /// compute units. The request `slot` of `node` makes this remote operation.
    pub fn lock(&mut self, node: NodeId, slot: Slot) {
        self.others.insert((node, slot), ());
    }

    /// Removes the lock of a remote operation (which synchronizes with narrower scopes on other
    /// compute units). Returns true if this lock was the last one for which a read-modify-write
    /// waits.
    #[must_use]
    pub fn unlock(&mut self, node: NodeId, slot: Slot) -> bool {
        let ended = (node, slot);
        self.others.remove(ended);
        self.awaited.remove(ended).is_some() && self.awaited.is_empty()
    }

    /// Notes that a read-modify-write waits for locks. If no other read-modify-write waits, it
    /// waits for all locks that are held now. Otherwise it waits for the same locks as the others.
    pub fn wait(&mut self) {
        if self.awaited.is_empty() {
            std::mem::swap(&mut self.awaited, &mut self.others);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_modify_write_does_not_wait_for_later_locks() {
        let of = |index| NodeId { kind: 0, index };
        let mut locks = Locks::default();
        locks.lock(of(1), Slot(0));
        locks.lock(of(2), Slot(0));
        locks.wait();
        locks.lock(of(3), Slot(0));
        locks.wait();
        assert!(!locks.unlock(of(3), Slot(0)), "the lock is not awaited");
        locks.lock(of(1), Slot(1));
        assert!(!locks.unlock(of(1), Slot(0)));
        assert!(locks.unlock(of(2), Slot(0)));
        assert!(locks.any(), "the later lock is still held");
        assert!(!locks.unlock(of(1), Slot(1)));
        assert_eq!(locks, Locks::default());
    }
}
