//! The immutable shape of a machine: a full one to time, or a small one to
//! explore.

use crate::line::LINE_BYTES_MAX;
use crate::words::counted;

crate::symbols! {
    /// What a cache does with a write.
    pub enum WritePolicy {
        /// Keep the dirty bytes until something asks for them.
        Combining,
        /// Pass them on as soon as possible, and keep a copy.
        Through,
        /// Pass them on as soon as possible, and keep nothing.
        ThroughInvalidate,
    }
}

impl WritePolicy {
    /// One of three things, by what the cache does with a write.
    #[inline]
    #[must_use]
    pub fn pick<T>(self, combining: T, through: T, through_invalidate: T) -> T {
        match self {
            WritePolicy::Combining => combining,
            WritePolicy::Through => through,
            WritePolicy::ThroughInvalidate => through_invalidate,
        }
    }
}

/// The most lines that a cache may have.
const LINES_MAX: u64 = 1 << 26;

/// The shape of one cache, or of one bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CacheShape {
    /// How many sets.
    pub sets: u32,
    /// How many ways a set.
    pub ways: u32,
    /// What happens to writes.
    pub policy: WritePolicy,
    /// How many lines its store buffer can hold.
    pub store_buffer_entries: u32,
    /// How many lines may be under way at once.
    pub miss_registers: u32,
}

/// The shape of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Compute units.
    pub cus: u16,
    /// Chiplets that the compute units are spread over.
    pub chiplets: u16,
    /// Banks of the shared cache, over all chiplets.
    pub banks: u16,
    /// Bytes of a line: a multiple of 8, at most [`LINE_BYTES_MAX`].
    pub line_bytes: u16,
    /// The private caches.
    pub l1: CacheShape,
    /// Each bank of the shared cache.
    pub l2: CacheShape,
}

impl Shape {
    /// The smallest machine that still has every kind of trouble: two CUs, two
    /// banks, lines of two words, two lines a cache.
    #[must_use]
    pub fn bounded(l1: WritePolicy, l2: WritePolicy) -> Shape {
        let cache =
            |policy| CacheShape { sets: 1, ways: 2, policy, store_buffer_entries: 2, miss_registers: 2 };
        Shape { cus: 2, chiplets: 1, banks: 2, line_bytes: 8, l1: cache(l1), l2: cache(l2) }
    }

    /// Says what is wrong with the shape, if anything.
    ///
    /// # Errors
    /// A sentence that names the number, its value and what was expected.
    pub fn check(&self) -> Result<(), String> {
        let positive = [
            ("compute units", u32::from(self.cus)),
            ("chiplets", u32::from(self.chiplets)),
            ("L2 banks", u32::from(self.banks)),
            ("L1 sets", self.l1.sets),
            ("L1 ways", self.l1.ways),
            ("L1 store buffer entries", self.l1.store_buffer_entries),
            ("L1 miss registers", self.l1.miss_registers),
            ("L2 sets", self.l2.sets),
            ("L2 ways", self.l2.ways),
            ("L2 miss registers", self.l2.miss_registers),
        ];
        if let Some((what, _)) = positive.iter().find(|(_, n)| *n == 0) {
            return Err(format!("the number of {what} is 0, but at least 1 is needed"));
        }
        for (what, cache) in [("L1", &self.l1), ("an L2 bank", &self.l2)] {
            if u64::from(cache.sets) * u64::from(cache.ways) > LINES_MAX {
                return Err(format!(
                    "{what} has {} of {}, but at most {LINES_MAX} lines are possible",
                    counted(u64::from(cache.sets), "set"),
                    counted(u64::from(cache.ways), "way")
                ));
            }
        }
        let line = usize::from(self.line_bytes);
        if line == 0 || line % 8 != 0 || line > LINE_BYTES_MAX {
            return Err(format!(
                "a line has {}, but it must be a multiple of 8 up to {LINE_BYTES_MAX}",
                counted(line as u64, "byte")
            ));
        }
        if !self.cus.is_multiple_of(self.chiplets) || !self.banks.is_multiple_of(self.chiplets) {
            return Err(format!(
                "{} and {} cannot be spread evenly over {}",
                counted(u64::from(self.cus), "compute unit"),
                counted(u64::from(self.banks), "bank"),
                counted(u64::from(self.chiplets), "chiplet")
            ));
        }
        Ok(())
    }
}

/// The shape itself may be all that a protocol knows of its machine.
impl AsRef<Shape> for Shape {
    #[inline]
    fn as_ref(&self) -> &Shape {
        self
    }
}
