//! A set-associative array of lines with real bytes and byte masks.

use crate::contract::LineView;
use crate::divisor::Divisor;
use crate::homes::Homes;
use crate::levels::{Indexing, KindLevel};
use crate::line::{ByteMask, LINE_BYTES_MAX, LineAddr, LineData, copy_masked};
use crate::node::{Rank, SetIndex, Way};
use crate::symbols::Symbol;
use crate::table::Table;
use core::fmt::Debug;
use core::hash::Hash;

/// The tag of an empty way. The tag is zero, so that a new array can consist of zeroed memory,
/// which costs nothing before its first use.
const EMPTY: u64 = 0;

/// The tag that stands for a line in the array.
#[inline]
fn tag_of(line: LineAddr) -> u64 {
    line.0.wrapping_add(1)
}

/// The line that a tag stands for, or `None` for the tag of an empty way.
#[inline]
fn line_of(tag: u64) -> Option<LineAddr> {
    tag.checked_sub(1).map(LineAddr)
}

/// The fingerprint of a tag, one byte: zero for an empty way, an odd number for a line.
#[inline]
fn print_of(tag: u64) -> u8 {
    if tag == EMPTY { 0 } else { (tag.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8 | 1 }
}

/// The fingerprint of the padding behind the last way of a set. No tag has this fingerprint.
const NO_PRINT: u8 = 2;

/// The number of fingerprints that a lookup compares at once. The first fingerprint of each set is
/// at a multiple of this number.
const PRINTS_AT_ONCE: usize = 8;

/// A line, the set that it belongs to, and the way that holds it if the line is present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The address of the line.
    pub line: LineAddr,
    /// The set of the line.
    pub set: SetIndex,
    /// The way of the line, or `None` if the line is absent.
    pub way: Option<Way>,
}

/// A set-associative array of lines. A lookup reads one byte (the fingerprint) for each way of the
/// set, and the full entry only for a way with a matching fingerprint. The type suits arrays from
/// two lines to megabytes.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct CacheArray<S> {
    /// The fingerprints of the tags, one byte for each way.
    prints: Vec<u8>,
    entries: Vec<Entry>,
    states: Vec<S>,
    /// The number of occupied ways of each set.
    taken: Vec<u32>,
    bytes: Vec<u8>,
    ways: Divisor,
    sets: Divisor,
    indexing: Indexing,
    /// The logarithm to base 2 of the number of successive lines that share a tag. The ways of a set
    /// form groups of as many ways. The lines in the ways of one group have the same tag, and are in
    /// the order of their addresses.
    tag_bits: u32,
    /// The number of fingerprints stored for each set, including padding.
    prints_per_set: u32,
    /// The number of lines that a set may hold; see [`CacheArray::limit_ways`].
    limit: u32,
    line_bytes: u32,
}

crate::clone_in_place! {
    [S: Clone] CacheArray<S> {
        prints, entries, states, taken, bytes, ways, sets, indexing, tag_bits, prints_per_set, limit,
        line_bytes
    }
}

/// The tag, the valid mask and the dirty mask of a way. The type is an array and not a structure,
/// because a vector of zeroed arrays can be allocated without writing memory.
type Entry = [u128; 3];

const TAG: usize = 0;
const VALID: usize = 1;
const DIRTY: usize = 2;

/// The tag in an entry, which has the tag and the masks of one way.
#[inline]
fn tag_in(entry: &Entry) -> u64 {
    entry[TAG] as u64
}

impl<S: Copy + Eq + Hash + Debug> CacheArray<S> {
    /// An empty array. `absent` is the state of an absent line.
    #[must_use]
    pub fn new(level: &KindLevel, absent: S) -> Self {
        let (shape, line_bytes) = (&level.array, level.line_bytes);
        let lines = (shape.sets * shape.ways) as usize;
        let ways = shape.ways as usize;
        let prints_per_set = ways.next_multiple_of(PRINTS_AT_ONCE);
        let mut prints = vec![0; prints_per_set * shape.sets as usize];
        if ways < prints_per_set {
            prints.chunks_exact_mut(prints_per_set).for_each(|set| set[ways..].fill(NO_PRINT));
        }
        CacheArray {
            prints,
            entries: vec![[0; 3]; lines],
            states: vec![absent; lines],
            taken: vec![0; shape.sets as usize],
            bytes: vec![0; lines * usize::from(line_bytes)],
            ways: Divisor::new(shape.ways),
            sets: Divisor::new(shape.sets),
            indexing: level.indexing(),
            tag_bits: level.lines_per_tag.trailing_zeros(),
            prints_per_set: prints_per_set as u32,
            limit: shape.ways,
            line_bytes: u32::from(line_bytes),
        }
    }

    /// The set that a line belongs to.
    #[inline]
    #[must_use]
    pub fn set(&self, line: LineAddr, homes: &Homes) -> SetIndex {
        let tag = match self.indexing {
            Indexing::Line => line.0,
            Indexing::Divided(by) => by.divide(line.0).0,
            Indexing::Home(by) => by.divide(homes.local(line).1).0,
        };
        let (_, set) = self.sets.divide(tag);
        SetIndex(set as u32)
    }

    fn range(&self, set: SetIndex) -> core::ops::Range<usize> {
        let first = (set.0 * self.ways.number()) as usize;
        first..first + self.ways.number() as usize
    }

    /// The first way of `set` that holds `tag`.
    #[inline]
    fn way_of(&self, set: SetIndex, tag: u64) -> Option<Way> {
        const ONES: u64 = 0x0101_0101_0101_0101;
        let set = set.0 as usize;
        let first = set * self.ways.number() as usize;
        let per_set = self.prints_per_set as usize;
        let pattern = u64::from(print_of(tag)) * ONES;
        let prints = &self.prints[set * per_set..][..per_set];
        for (chunk, eight) in prints.chunks_exact(PRINTS_AT_ONCE).enumerate() {
            let differs = u64::from_le_bytes(eight.try_into().unwrap_or_default()) ^ pattern;
            // Sets the highest bit of each byte of `same` for which the byte of `differs` is zero.
            // A byte above a zero byte may be a false match, so the loop compares the full tag.
            let mut same = differs.wrapping_sub(ONES) & !differs & (ONES << 7);
            while same != 0 {
                let way = first + chunk * PRINTS_AT_ONCE + same.trailing_zeros() as usize / 8;
                if self.entries.get(way).is_some_and(|entry| tag_in(entry) == tag) {
                    return Some(Way(way as u32));
                }
                same &= same - 1;
            }
        }
        None
    }

    /// The way that holds a line, or `None` if the line is not present.
    #[inline]
    #[must_use]
    pub fn find(&self, line: LineAddr, homes: &Homes) -> Option<Way> {
        self.way_of(self.set(line, homes), tag_of(line))
    }

    /// The place of a line: its set, and its way if the line is present.
    #[inline]
    #[must_use]
    pub fn place(&self, line: LineAddr, homes: &Homes) -> Place {
        let set = self.set(line, homes);
        Place { line, set, way: self.way_of(set, tag_of(line)) }
    }

    /// Limits the number of lines that each set may hold to `ways`. A set that already holds more
    /// lines keeps them, but has no free way until fewer than `ways` of its ways are occupied. A
    /// limit above the number of ways is the same as no limit.
    pub fn limit_ways(&mut self, ways: u32) {
        self.limit = ways.min(self.ways.number());
    }

    /// A free way for an absent line. `None` if the set holds as many lines as it may hold, or if all
    /// ways that the line may take are occupied.
    #[inline]
    #[must_use]
    pub fn free_way(&self, place: Place) -> Option<Way> {
        if self.taken[place.set.0 as usize] >= self.limit {
            return None;
        }
        match self.tag_bits {
            0 => self.way_of(place.set, EMPTY),
            _ => self.way_in_group(place),
        }
    }

    /// The way of an absent line in the group of its tag. If no line of the tag is present, the tag
    /// gets a group without lines, so that the set holds no more tags than its limit allows. `None`
    /// if there is no such group.
    #[inline(never)]
    fn way_in_group(&self, place: Place) -> Option<Way> {
        let bits = self.tag_bits;
        let (tag, each) = (place.line.0 >> bits, 1u64 << bits);
        let siblings = (0..each).map(|i| LineAddr((tag << bits) + i));
        let mut present = siblings.filter_map(|line| self.way_of(place.set, tag_of(line)));
        let first = self.range(place.set).start as u64;
        let group = match present.next() {
            Some(way) => (u64::from(way.0) - first) >> bits,
            None => {
                let prints = &self.prints[place.set.0 as usize * self.prints_per_set as usize..];
                let mut groups = prints[..self.limit as usize].chunks_exact(each as usize);
                groups.position(|group| group.iter().all(|&print| print == 0))? as u64
            }
        };
        Some(Way((first + (group << bits) + (place.line.0 - (tag << bits))) as u32))
    }

    #[inline]
    fn set_tag(&mut self, way: usize, tag: u64) {
        let (set, within) = self.ways.divide(way as u64);
        let set = set as usize;
        self.prints[set * self.prints_per_set as usize + within as usize] = print_of(tag);
        match (tag_in(&self.entries[way]) == EMPTY, tag == EMPTY) {
            (true, false) => self.taken[set] += 1,
            (false, true) => self.taken[set] -= 1,
            _ => {}
        }
        self.entries[way][TAG] = u128::from(tag);
    }

    /// Inserts a line into a free way, without valid bytes.
    pub fn insert(&mut self, way: Way, line: LineAddr, state: S) {
        let i = way.0 as usize;
        debug_assert_eq!(tag_in(&self.entries[i]), EMPTY, "the way is taken");
        self.set_tag(i, tag_of(line));
        self.states[i] = state;
        (self.entries[i][VALID], self.entries[i][DIRTY]) = (0, 0);
    }

    /// Removes the line of a way and its bytes. The way gets the state `absent`.
    pub fn remove(&mut self, way: Way, absent: S) {
        let i = way.0 as usize;
        self.states[i] = absent;
        self.set_tag(i, EMPTY);
        self.entries[i] = [0; 3];
    }

    /// The line in a way, or `None` if the way is empty.
    #[inline]
    #[must_use]
    pub fn line(&self, way: Way) -> Option<LineAddr> {
        self.entries.get(way.0 as usize).and_then(|entry| line_of(tag_in(entry)))
    }

    /// The state of the line in a way.
    #[inline]
    #[must_use]
    pub fn state(&self, way: Way) -> S {
        self.states[way.0 as usize]
    }

    /// Changes the state of the line in a way.
    #[inline]
    pub fn set_state(&mut self, way: Way, state: S) {
        self.states[way.0 as usize] = state;
    }

    /// The mask of the valid bytes of a way.
    #[inline]
    #[must_use]
    pub fn valid(&self, way: Way) -> ByteMask {
        ByteMask(self.entries[way.0 as usize][VALID])
    }

    /// The mask of the dirty bytes of a way.
    #[inline]
    #[must_use]
    pub fn dirty(&self, way: Way) -> ByteMask {
        ByteMask(self.entries[way.0 as usize][DIRTY])
    }

    /// Marks all bytes of a way as clean.
    #[inline]
    pub fn clean(&mut self, way: Way) {
        self.entries[way.0 as usize][DIRTY] = 0;
    }

    /// Invalidates the clean bytes of a way.
    pub fn keep_dirty(&mut self, way: Way) {
        let entry = &mut self.entries[way.0 as usize];
        entry[VALID] = entry[DIRTY];
    }

    /// The bytes of a way, as a slice.
    #[inline]
    #[must_use]
    pub fn bytes(&self, way: Way) -> &[u8] {
        let n = self.line_bytes as usize;
        &self.bytes[way.0 as usize * n..][..n]
    }

    fn bytes_mut(&mut self, way: Way) -> &mut [u8] {
        let n = self.line_bytes as usize;
        &mut self.bytes[way.0 as usize * n..][..n]
    }

    /// A copy of the bytes of a way.
    #[inline]
    #[must_use]
    pub fn read(&self, way: Way) -> LineData {
        let mut data = LineData([0; LINE_BYTES_MAX]);
        let bytes = self.bytes(way);
        data.0[..bytes.len()].copy_from_slice(bytes);
        data
    }

    /// Writes the masked bytes of a way, which become valid and dirty. Returns whether the line was
    /// clean before.
    #[inline]
    pub fn write(&mut self, way: Way, data: &LineData, mask: ByteMask) -> bool {
        copy_masked(self.bytes_mut(way), &data.0, mask);
        let entry = &mut self.entries[way.0 as usize];
        let was_clean = entry[DIRTY] == 0;
        entry[VALID] |= mask.0;
        entry[DIRTY] |= mask.0;
        was_clean
    }

    /// Writes the masked bytes of a way, which become valid. The dirty mask does not change.
    #[inline]
    pub fn write_clean(&mut self, way: Way, data: &LineData, mask: ByteMask) {
        copy_masked(self.bytes_mut(way), &data.0, mask);
        self.entries[way.0 as usize][VALID] |= mask.0;
    }

    /// Fills the bytes of a way that are not valid. The valid bytes stay: they were written while
    /// the fill was under way, so they are newer than the fill, even if they are clean again.
    #[inline]
    pub fn fill(&mut self, way: Way, data: &LineData) {
        let full = ByteMask::full(self.line_bytes as usize);
        let missing = full.minus(self.valid(way));
        self.write_clean(way, data, missing);
    }

    /// The occupied ways from `start` on, over all sets.
    pub fn occupied(&self, start: Way) -> impl Iterator<Item = Way> + '_ {
        core::iter::successors(self.next_occupied(start), |way| self.next_occupied(Way(way.0 + 1)))
    }

    /// The first occupied way from `start` on, over all sets.
    #[must_use]
    pub fn next_occupied(&self, start: Way) -> Option<Way> {
        let (set, within) = self.ways.divide(u64::from(start.0));
        let (mut set, mut within) = (set as usize, within as usize);
        let per_set = self.prints_per_set as usize;
        while set < self.taken.len() {
            if self.taken[set] != 0 {
                let prints = &self.prints[set * per_set..][within..self.ways.number() as usize];
                if let Some(at) = prints.iter().position(|&print| print != 0) {
                    return Some(Way(set as u32 * self.ways.number() + (within + at) as u32));
                }
            }
            (set, within) = (set + 1, 0);
        }
        None
    }

    /// The first way from `start` on, over all sets, that holds dirty bytes.
    #[must_use]
    pub fn next_dirty(&self, start: Way) -> Option<Way> {
        let start = start.0 as usize;
        let rest = &self.entries[start.min(self.entries.len())..];
        rest.iter().position(|entry| entry[DIRTY] != 0).map(|i| Way((start + i) as u32))
    }

    /// The occupied ways of a set.
    pub fn in_set(&self, set: SetIndex) -> impl Iterator<Item = Way> + '_ {
        let range = self.range(set);
        let first = range.start;
        let ways = self.entries[range].iter().enumerate();
        ways.filter(|(_, entry)| tag_in(entry) != EMPTY).map(move |(i, _)| Way((first + i) as u32))
    }

    /// The ways of a set whose state `accepts` accepts. The function must not accept the state of
    /// an absent line.
    #[inline]
    pub fn in_set_where(&self, set: SetIndex, accepts: impl Fn(S) -> bool) -> impl Iterator<Item = Way> {
        let range = self.range(set);
        let first = range.start;
        let states = self.states[range].iter().enumerate();
        states.filter(move |&(_, &state)| accepts(state)).map(move |(i, _)| Way((first + i) as u32))
    }

    /// Whether the number of occupied ways of each set is right.
    #[must_use]
    pub fn counts_ways(&self) -> bool {
        let sets = self.entries.chunks(self.ways.number() as usize);
        let occupied = sets.map(|set| set.iter().filter(|entry| tag_in(entry) != EMPTY).count());
        self.taken.iter().map(|&taken| taken as usize).eq(occupied)
    }

    /// The number of lines in the states that `accepts` accepts, over all sets.
    #[must_use]
    pub fn count_where(&self, accepts: impl Fn(S) -> bool) -> u32 {
        self.occupied(Way(0)).filter(|&way| accepts(self.state(way))).count() as u32
    }

    /// Appends the victims of a set to `out`: the ways in state `settled`, all with the same
    /// eviction rank.
    pub fn victims(&self, set: SetIndex, settled: S, out: &mut Vec<(Way, Rank)>) {
        out.extend(self.in_set_where(set, |state| state == settled).map(|way| (way, Rank(0))));
    }

    /// Appends to `out` the state and the bytes of all lines. Each state is given by its name.
    pub fn views<T: Table<State = S>>(&self, out: &mut Vec<LineView>)
    where
        S: Symbol,
    {
        for way in self.occupied(Way(0)) {
            let Some(line) = self.line(way) else { continue };
            let (valid, dirty) = (self.valid(way), self.dirty(way));
            let state = self.state(way);
            let (owns, data) = (T::OWNERS.contains(&state), self.read(way));
            out.push(LineView { line, state: state.name(), owns, valid, dirty, data });
        }
    }

    /// Zeroes the invalid bytes and sorts the ways of each set, so that arrays with equal contents
    /// are equal. Ways get new indices, so no code may hold an index from before the call. Each
    /// line must have its own tag, because the sorted ways form no groups.
    pub fn canonicalize(&mut self) {
        debug_assert_eq!(self.tag_bits, 0, "sorted ways form no groups");
        let (ways, n) = (self.ways.number() as usize, self.line_bytes as usize);
        for set in 0..self.sets.number() as usize {
            let line = |i: usize| {
                let data = self.read(Way(i as u32)).masked(self.valid(Way(i as u32)));
                (self.entries[i], self.states[i], data)
            };
            let mut lines: Vec<_> = (set * ways..(set + 1) * ways).map(line).collect();
            // Lines come first, then empty ways.
            lines.sort_by_key(|(entry, ..)| line_of(tag_in(entry)).map_or(u64::MAX, |line| line.0));
            for (i, (entry, state, data)) in (set * ways..).zip(lines) {
                self.set_tag(i, tag_in(&entry));
                self.states[i] = state;
                self.entries[i] = entry;
                self.bytes[i * n..][..n].copy_from_slice(&data.0[..n]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Topology;
    use crate::topology::{CacheShape, WritePolicy};

    fn homes() -> Homes {
        Homes::new(&Topology::bounded(WritePolicy::Combining, WritePolicy::Combining), 1)
    }

    fn array() -> CacheArray<u8> {
        let policy = WritePolicy::Combining;
        let shape = CacheShape {
            sets: 2,
            ways: 2,
            policy,
            store_buffer_entries: 1,
            miss_registers: 1,
            ..CacheShape::NONE
        };
        CacheArray::new(&KindLevel::alone(shape, 16), 0)
    }

    #[test]
    fn a_set_holds_as_many_lines_as_it_has_ways() {
        let mut a = array();
        for line in [LineAddr(0), LineAddr(2)] {
            let way = a.free_way(a.place(line, &homes())).unwrap();
            a.insert(way, line, 1);
        }
        assert_eq!(a.free_way(a.place(LineAddr(4), &homes())), None);
        assert!(a.free_way(a.place(LineAddr(1), &homes())).is_some());
        let way = a.find(LineAddr(2), &homes()).unwrap();
        a.remove(way, 0);
        assert_eq!(a.find(LineAddr(2), &homes()), None);
        assert_eq!(a.free_way(a.place(LineAddr(4), &homes())), Some(way));
    }

    #[test]
    fn the_lines_of_a_tag_share_a_group_of_ways() {
        let shape = CacheShape { sets: 2, ways: 8, ..CacheShape::NONE };
        let mut level = KindLevel::alone(shape, 8);
        level.lines_per_tag = 4;
        let mut a: CacheArray<u8> = CacheArray::new(&level, 0);
        let place = |a: &CacheArray<u8>, line| a.place(LineAddr(line), &homes());
        assert_eq!([0, 3, 4, 7, 8].map(|line| a.set(LineAddr(line), &homes()).0), [0, 0, 1, 1, 0]);
        // Lines 1 and 2 have tag 0, line 10 has tag 2, and line 17 has tag 4: all in set 0.
        for (line, way) in [(1, 1), (10, 6), (2, 2)] {
            assert_eq!(a.free_way(place(&a, line)), Some(Way(way)), "line {line}");
            a.insert(Way(way), LineAddr(line), 1);
        }
        assert_eq!(a.free_way(place(&a, 17)), None, "both groups of the set have a tag");
        assert_eq!(a.free_way(place(&a, 9)), Some(Way(5)), "the tag of line 9 has a group");
        assert_eq!(a.free_way(place(&a, 5)), Some(Way(9)), "the other set is empty");
        a.remove(Way(1), 0);
        assert_eq!(a.free_way(place(&a, 17)), None, "line 2 still holds the group");
        a.remove(Way(2), 0);
        assert_eq!(a.free_way(place(&a, 17)), Some(Way(1)));
    }

    #[test]
    fn a_limited_set_holds_fewer_tags() {
        let shape = CacheShape { sets: 1, ways: 8, ..CacheShape::NONE };
        let mut level = KindLevel::alone(shape, 8);
        level.lines_per_tag = 4;
        let mut a: CacheArray<u8> = CacheArray::new(&level, 0);
        let free = |a: &CacheArray<u8>, line| a.free_way(a.place(LineAddr(line), &homes()));
        a.limit_ways(4);
        a.insert(Way(0), LineAddr(0), 1);
        // The set has ways for three more lines, but its one tag is taken.
        assert_eq!((free(&a, 4), free(&a, 3)), (None, Some(Way(3))));
        a.limit_ways(8);
        assert_eq!(free(&a, 4), Some(Way(4)));
    }

    #[test]
    fn a_limited_set_holds_fewer_lines_than_it_has_ways() {
        let mut a = array();
        let homes = homes();
        let insert = |a: &mut CacheArray<u8>, line| {
            let way = a.free_way(a.place(LineAddr(line), &homes))?;
            a.insert(way, LineAddr(line), 1);
            Some(way)
        };
        a.limit_ways(1);
        let first = insert(&mut a, 0).unwrap();
        assert_eq!(insert(&mut a, 2), None);
        a.limit_ways(7);
        let second = insert(&mut a, 2).unwrap();
        assert_eq!(insert(&mut a, 4), None, "a limit adds no way");
        // The set keeps the lines above a new limit, and has no free way before both have left.
        a.limit_ways(1);
        assert!(a.find(LineAddr(0), &homes).is_some() && a.find(LineAddr(2), &homes).is_some());
        a.remove(first, 0);
        assert_eq!(a.free_way(a.place(LineAddr(4), &homes)), None);
        a.remove(second, 0);
        assert!(a.free_way(a.place(LineAddr(4), &homes)).is_some());
    }

    #[test]
    fn a_line_is_found_among_many_ways() {
        for ways in [1, 7, 8, 24, 64] {
            let policy = WritePolicy::Combining;
            let shape = CacheShape {
                sets: 3,
                ways,
                policy,
                store_buffer_entries: 1,
                miss_registers: 1,
                ..CacheShape::NONE
            };
            let mut a: CacheArray<u8> = CacheArray::new(&KindLevel::alone(shape, 8), 0);
            let lines: Vec<_> = (0..3 * u64::from(ways)).map(|i| LineAddr(i * 7)).collect();
            for &line in &lines {
                let way = a.free_way(a.place(line, &homes())).unwrap();
                a.insert(way, line, 1);
            }
            for &line in &lines {
                assert_eq!(a.free_way(a.place(line, &homes())), None);
                assert_eq!(a.find(line, &homes()).and_then(|way| a.line(way)), Some(line));
                assert_eq!(a.find(LineAddr(line.0 + 1_000_003), &homes()), None);
            }
            assert_eq!(a.in_set_where(SetIndex(1), |state| state == 1).count(), ways as usize);
            let way = a.find(lines[0], &homes()).unwrap();
            a.remove(way, 0);
            assert_eq!(
                (a.find(lines[0], &homes()), a.free_way(a.place(lines[0], &homes()))),
                (None, Some(way))
            );
        }
    }

    #[test]
    fn a_fill_keeps_bytes_written_meanwhile_even_if_they_are_clean() {
        let mut a = array();
        a.insert(Way(0), LineAddr(0), 1);
        assert!(a.write(Way(0), &LineData([7; LINE_BYTES_MAX]), ByteMask::range(0, 4)));
        a.clean(Way(0));
        a.fill(Way(0), &LineData([9; LINE_BYTES_MAX]));
        assert_eq!(a.read(Way(0)).0[..5], [7, 7, 7, 7, 9]);
        assert_eq!(a.valid(Way(0)), ByteMask::full(16));
    }

    #[test]
    fn arrays_with_equal_contents_in_other_ways_are_equal() {
        let (mut a, mut b) = (array(), array());
        a.insert(Way(0), LineAddr(0), 1);
        a.insert(Way(1), LineAddr(2), 1);
        b.insert(Way(0), LineAddr(4), 1);
        b.write_clean(Way(0), &LineData([3; LINE_BYTES_MAX]), ByteMask::full(16));
        b.remove(Way(0), 0);
        b.insert(Way(1), LineAddr(0), 1);
        b.insert(Way(0), LineAddr(2), 1);
        assert_ne!(a, b);
        a.canonicalize();
        b.canonicalize();
        assert_eq!(a, b);
    }
}
