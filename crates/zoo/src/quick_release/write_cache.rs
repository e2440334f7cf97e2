//! A write cache with its S-FIFO (synchronization FIFO).

use proto::{ByteMask, Issuer, LineAddr, LineData, NodeId, Slot};
use std::collections::{BTreeMap, VecDeque};

/// The size of a write cache and of its S-FIFO.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// The number of sets of the write cache.
    pub sets: u64,
    /// The number of ways in each set.
    pub ways: usize,
    /// The number of entries of the S-FIFO.
    pub entries: usize,
    /// The number of banks that share the lines. Successive lines are in different banks.
    pub banks: u64,
}

/// The dirty bytes of a line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dirty {
    /// The mask of the dirty bytes.
    pub mask: ByteMask,
    /// The values of the dirty bytes, at their offsets in the line. All other bytes are zero.
    pub data: LineData,
    /// The wavefronts that have written the bytes, if each has its own S-FIFO.
    writers: u64,
}

/// The marker of a release. It follows the writes before the release through all levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Marker {
    /// The L1 that gets an ack when memory has all writes before the marker.
    pub requester: NodeId,
    /// The slot of the request that waits for the ack. `None` if nothing waits, so that no ack is sent.
    pub slot: Option<Slot>,
}

/// An entry of an S-FIFO.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Entry {
    /// A line that may have dirty bytes in the write cache. It has none if it was evicted meanwhile.
    Line(LineAddr),
    /// The marker of a release.
    Marker(Marker),
}

/// The bytes of a request that a write cache has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cover {
    /// The write cache has no bytes of the line.
    None,
    /// The write cache has bytes of the line, but not all bytes of the request.
    Part,
    /// The write cache has all bytes of the request.
    Whole,
}

/// A write cache: the dirty lines, and the S-FIFO with their addresses and with the markers of
/// releases. The S-FIFO has the address of each line of the cache at least once, because each write
/// queues the address of its line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WriteCache {
    shape: Shape,
    /// The lines, each with its set.
    lines: BTreeMap<(u64, LineAddr), Dirty>,
    fifo: VecDeque<Entry>,
    markers: u32,
}

/// The bit of a wavefront. Wavefronts with equal numbers modulo 64 share a bit.
fn bit(issuer: Issuer) -> u64 {
    1_u64.rotate_left(issuer.wavefront)
}

impl WriteCache {
    /// An empty write cache.
    #[must_use]
    pub fn new(shape: Shape) -> WriteCache {
        WriteCache { shape, lines: BTreeMap::new(), fifo: VecDeque::new(), markers: 0 }
    }

    /// The dirty bytes of a line. `None` if the write cache does not have the line.
    #[must_use]
    pub fn get(&self, line: LineAddr) -> Option<&Dirty> {
        self.lines.get(&self.key(line))
    }

    /// How many of the bytes in `mask` the write cache has.
    #[must_use]
    pub fn cover(&self, line: LineAddr, mask: ByteMask) -> Cover {
        match self.get(line) {
            None => Cover::None,
            Some(dirty) if dirty.mask.contains(mask) => Cover::Whole,
            Some(_) => Cover::Part,
        }
    }

    /// Whether the S-FIFO has no free entry. All entries count: also markers, and addresses of lines
    /// that were evicted meanwhile.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.fifo.len() >= self.shape.entries
    }

    /// Whether the S-FIFO has no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fifo.is_empty()
    }

    /// Whether the marker of a release is in the S-FIFO.
    #[must_use]
    pub fn has_marker(&self) -> bool {
        self.markers > 0
    }

    /// The set of a line, and the line.
    fn key(&self, line: LineAddr) -> (u64, LineAddr) {
        (line.0 / self.shape.banks % self.shape.sets, line)
    }

    /// The number of occupied ways of a set.
    fn occupied(&self, set: u64) -> usize {
        self.lines.range((set, LineAddr(0))..=(set, LineAddr(u64::MAX))).count()
    }

    /// The line that must leave before bytes of `line` can be written: the oldest line of the set, in
    /// the order of the S-FIFO, if all ways of the set are occupied.
    #[must_use]
    pub fn victim(&self, line: LineAddr) -> Option<LineAddr> {
        let own @ (set, _) = self.key(line);
        if self.lines.contains_key(&own) || self.occupied(set) < self.shape.ways {
            return None;
        }
        self.fifo.iter().find_map(|entry| match *entry {
            Entry::Line(other) if self.key(other).0 == set && self.get(other).is_some() => Some(other),
            Entry::Line(_) | Entry::Marker(_) => None,
        })
    }

    /// Merges written bytes into the line, and queues its address. The caller has made room.
    pub fn write(&mut self, line: LineAddr, mask: ByteMask, data: &LineData, issuer: Issuer) {
        let dirty = self.lines.entry(self.key(line)).or_insert_with(|| Dirty {
            mask: ByteMask::NONE,
            data: LineData::default(),
            writers: 0,
        });
        dirty.mask = dirty.mask.union(mask);
        dirty.data.merge(data, mask);
        dirty.writers |= bit(issuer);
        self.queue(line);
    }

    /// Queues the address of a line.
    pub fn queue(&mut self, line: LineAddr) {
        self.fifo.push_back(Entry::Line(line));
    }

    /// Queues a marker behind all entries.
    pub fn mark(&mut self, marker: Marker) {
        self.fifo.push_back(Entry::Marker(marker));
        self.markers += 1;
    }

    /// Queues a marker behind the entries of the lines that the wavefront of `issuer` has written, and
    /// before all others, unless an earlier marker is behind them.
    pub fn mark_of(&mut self, marker: Marker, issuer: Issuer) {
        let last = self.fifo.iter().rposition(|entry| matches!(entry, Entry::Marker(_)));
        let rest = self.fifo.split_off(last.map_or(0, |at| at + 1));
        let is_own = |entry: &Entry| match entry {
            Entry::Line(line) => self.get(*line).is_some_and(|dirty| dirty.writers & bit(issuer) != 0),
            Entry::Marker(_) => false,
        };
        let (own, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(is_own);
        self.fifo.extend(own);
        self.mark(marker);
        self.fifo.extend(others);
    }

    /// Removes the oldest entry of the S-FIFO. The lines stay in the write cache.
    pub fn pop(&mut self) -> Option<Entry> {
        let entry = self.fifo.pop_front();
        self.markers -= u32::from(matches!(entry, Some(Entry::Marker(_))));
        entry
    }

    /// Removes a line, and returns its dirty bytes. Its addresses stay in the S-FIFO.
    pub fn take(&mut self, line: LineAddr) -> Option<Dirty> {
        self.lines.remove(&self.key(line))
    }

    /// Compares the write cache with its S-FIFO. Returns a sentence about the first difference.
    #[must_use]
    pub fn miscount(&self) -> Option<&'static str> {
        let is_queued = |(_, line): &(u64, LineAddr)| self.fifo.contains(&Entry::Line(*line));
        let markers = self.fifo.iter().filter(|entry| matches!(entry, Entry::Marker(_))).count();
        if !self.lines.keys().all(is_queued) {
            Some("the S-FIFO lacks a line of the write cache")
        } else if self.lines.keys().any(|&(set, _)| self.occupied(set) > self.shape.ways) {
            Some("a set of the write cache has more lines than ways")
        } else if self.fifo.len() > self.shape.entries {
            Some("the S-FIFO has more entries than it can hold")
        } else if markers != self.markers as usize {
            Some("the number of markers in the S-FIFO is wrong")
        } else {
            None
        }
    }
}
