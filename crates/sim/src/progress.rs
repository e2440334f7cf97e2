//! Is the run still getting anywhere?
//!
//! Progress is a wavefront that retires or a byte that changes. What changes
//! memory or local memory is seen at once; a store into a cache may write the
//! value that stood there, which nobody can tell from outside. So while there
//! was progress not long ago, nothing is examined; after that, every operation
//! is compared with what its wavefront did before. A wavefront that does
//! something new (another address, another value) still gets somewhere, if
//! only to the end of a long loop; one that repeats itself does not.

use core::hash::{Hash, Hasher};

use rustc_hash::{FxHashSet, FxHasher};

use crate::queue::Cycle;

/// Watches for progress.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    patience_cycles: u64,
    last_progress: Cycle,
    /// The last operation that was new, while operations are examined.
    last_novelty: Cycle,
    examining: bool,
    seen: FxHashSet<u64>,
}

impl Watch {
    pub(crate) fn new(patience_cycles: u64) -> Watch {
        Watch {
            patience_cycles: patience_cycles.max(1),
            last_progress: 0,
            last_novelty: 0,
            examining: false,
            seen: FxHashSet::default(),
        }
    }

    /// Something happened that cannot happen for ever.
    #[inline]
    pub(crate) fn progress(&mut self, now: Cycle) {
        self.last_progress = now;
        if self.examining {
            self.examining = false;
            self.seen.clear();
        }
    }

    /// Someone is busy for that long: no reason to lose patience.
    #[inline]
    pub(crate) fn allow(&mut self, cycles: u64) {
        self.patience_cycles = self.patience_cycles.max(cycles.saturating_mul(4));
    }

    /// Shall operations be examined?
    #[inline]
    pub(crate) fn is_examining(&self) -> bool {
        self.examining
    }

    /// When progress was last made.
    pub(crate) fn last_progress(&self) -> Cycle {
        self.last_progress
    }

    /// Examines an operation: anything that tells it from an earlier one.
    pub(crate) fn examine(&mut self, now: Cycle, operation: impl Hash) {
        let mut hasher = FxHasher::default();
        operation.hash(&mut hasher);
        if self.seen.insert(hasher.finish()) {
            self.last_novelty = now;
        }
    }

    /// Until then nothing can be lost.
    pub(crate) fn lost_after(&self) -> Cycle {
        let since = if self.examining { self.last_novelty } else { self.last_progress };
        since.saturating_add(self.patience_cycles)
    }

    /// Has nothing progressed for too long?
    pub(crate) fn is_lost(&mut self, now: Cycle) -> bool {
        if now - self.last_progress <= self.patience_cycles {
            return false;
        }
        if !self.examining {
            self.examining = true;
            self.last_novelty = now;
            return false;
        }
        now - self.last_novelty > self.patience_cycles
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeating_operations_lose_patience_and_new_ones_do_not() {
        let mut watch = Watch::new(100);
        assert!(!watch.is_lost(100));
        assert!(!watch.is_lost(101));
        assert!(watch.is_examining());
        watch.examine(150, (0, 1));
        watch.examine(190, (0, 2));
        watch.examine(195, (0, 1));
        assert_eq!(watch.lost_after(), 290);
        assert!(!watch.is_lost(290));
        assert!(watch.is_lost(291));
        watch.progress(291);
        assert_eq!(watch.lost_after(), 391);
        assert!(!watch.is_examining() && !watch.is_lost(391));
    }

    #[test]
    fn a_long_computation_is_waited_for() {
        let mut watch = Watch::new(100);
        watch.allow(1000);
        assert!(!watch.is_lost(4000));
        assert!(!watch.is_examining());
    }
}
