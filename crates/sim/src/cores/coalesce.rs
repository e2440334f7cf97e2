//! Coalescing: splits one vector memory instruction into line requests.
//!
//! A load or store becomes one request for each line, in the order in which the lanes first touch
//! the lines. A read-modify-write request updates each word at most once. If several lanes address
//! one word, each of these lanes gets its update in a different request, in the order of the lanes.
//!
//! Most instructions access consecutive addresses. A faster path, which does not look at each lane
//! separately, handles them.
//!
//! On a machine whose lines have sectors, a request is for one sector, which takes the place of the
//! line. The requests for sectors of one line follow each other.

use proto::{ByteMask, LineAddr, Width};

/// The maximum number of lanes of a wavefront.
pub const LANES_MAX: usize = 64;

/// The part of a memory instruction that concerns one line: one line request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinePart {
    /// The number of the line.
    pub line: LineAddr,
    /// The bytes of the line that the instruction accesses, as a mask.
    pub mask: ByteMask,
    /// The lanes that access bytes of the line, as a bit mask.
    pub lanes: u64,
    /// If the addresses of the lanes are known to be consecutive: the offset of the lowest lane's
    /// address within the line, in bytes. Otherwise `None`.
    pub run: Option<u8>,
}

/// Splits memory instructions into line requests. Its hash table is kept, so that it is allocated
/// only once.
#[derive(Clone, Debug)]
pub struct Coalescer {
    line_shift: u32,
    /// The logarithm of the number of sectors of a line to base 2. If it is above zero, the lines
    /// of this coalescer are sectors.
    sector_bits: u32,
    /// A hash table that maps a line to the position of its part in the output. Positions count
    /// from 1; 0 is an empty entry.
    table: [u8; TABLE],
}

const TABLE: usize = 256;

impl Coalescer {
    /// A coalescer for lines of `line_bytes`, a power of two.
    #[must_use]
    pub fn new(line_bytes: usize) -> Coalescer {
        debug_assert!(line_bytes.is_power_of_two() && line_bytes >= 8);
        Coalescer { line_shift: line_bytes.trailing_zeros(), sector_bits: 0, table: [0; TABLE] }
    }

    /// A coalescer for lines of `line_bytes` that consist of sectors of `sector_bytes`, both powers
    /// of two. Each request is for one sector.
    #[must_use]
    pub fn with_sectors(line_bytes: usize, sector_bytes: usize) -> Coalescer {
        let sector_bits = (line_bytes / sector_bytes).trailing_zeros();
        Coalescer { sector_bits, ..Coalescer::new(sector_bytes) }
    }

    /// Brings the requests for sectors of one line together. Requests for one sector keep their
    /// order.
    #[inline]
    fn gather_sectors(&self, parts: &mut [LinePart]) {
        if self.sector_bits == 0 {
            return;
        }
        let line = |part: &LinePart| part.line.0 >> self.sector_bits;
        let mut start = 0;
        while start < parts.len() {
            let of = line(&parts[start]);
            let mut end = start + 1;
            for at in start + 1..parts.len() {
                if line(&parts[at]) == of {
                    parts[end..=at].rotate_right(1);
                    end += 1;
                }
            }
            start = end;
        }
    }

    /// Splits an access whose lanes have consecutive addresses, and appends the parts to `out`.
    /// `base` is the address of lane 0, even if lane 0 is inactive. The mask `lanes` of the active
    /// lanes must be contiguous.
    #[inline]
    pub fn unit_stride(&self, base: u64, lanes: u64, width: Width, out: &mut Vec<LinePart>) {
        if lanes == 0 {
            return;
        }
        let bytes = width.bytes() as u64;
        let line_bytes = 1u64 << self.line_shift;
        let mut lane = u64::from(lanes.trailing_zeros());
        let end = lane + u64::from(lanes.count_ones());
        while lane < end {
            let address = base.wrapping_add(lane * bytes);
            let offset = address & (line_bytes - 1);
            let count = ((line_bytes - offset) / bytes).min(end - lane);
            out.push(LinePart {
                line: LineAddr(address >> self.line_shift),
                mask: ByteMask::range(offset as usize, (count * bytes) as usize),
                lanes: (u64::MAX >> (64 - count)) << lane,
                run: Some(offset as u8),
            });
            lane += count;
        }
    }

    /// Splits an access whose lanes have arbitrary addresses, each aligned to the width. The result
    /// has one part for each line.
    #[inline]
    pub fn gather(
        &mut self,
        addresses: &[u64; LANES_MAX],
        lanes: u64,
        width: Width,
        out: &mut Vec<LinePart>,
    ) {
        if let Some(base) = unit_stride_base(addresses, lanes, width) {
            return self.unit_stride(base, lanes, width, out);
        }
        let start = out.len();
        let line_bytes = 1u64 << self.line_shift;
        self.table.fill(0);
        let mut left = lanes;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            let address = addresses[lane];
            let line = LineAddr(address >> self.line_shift);
            let at = start + self.position(line, &out[start..]);
            if at == out.len() {
                out.push(LinePart { line, mask: ByteMask::NONE, lanes: 0, run: None });
            }
            let offset = (address & (line_bytes - 1)) as usize;
            let part = &mut out[at];
            part.mask.0 |= ByteMask::range(offset, width.bytes()).0;
            part.lanes |= 1 << lane;
        }
        self.gather_sectors(&mut out[start..]);
    }

    /// The position in `parts` of the part for `line`. If `parts` has no such part, the result is
    /// the length of `parts`, and the caller must append the part there. `parts` has at most one
    /// part for each lane, so the hash table stays at most a quarter full.
    #[inline]
    fn position(&mut self, line: LineAddr, parts: &[LinePart]) -> usize {
        let mut slot = (line.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize;
        loop {
            match self.table[slot] {
                0 => {
                    self.table[slot] = parts.len() as u8 + 1;
                    return parts.len();
                }
                found if parts[usize::from(found) - 1].line == line => return usize::from(found) - 1,
                _ => slot = (slot + 1) % TABLE,
            }
        }
    }

    /// Splits a read-modify-write of words, each aligned to the width. No part contains a word
    /// twice. The parts of a line are in the order of their lanes. Lanes with different `tags` (the
    /// expected values of a compare-exchange) never share a part.
    pub fn words(
        &mut self,
        addresses: &[u64; LANES_MAX],
        lanes: u64,
        width: Width,
        tags: Option<&[u64; LANES_MAX]>,
        out: &mut Vec<LinePart>,
    ) {
        let (mut left, start) = (lanes, out.len());
        while left != 0 {
            let first = left.trailing_zeros() as usize;
            let tag = tags.map(|tags| tags[first]);
            let round_start = out.len();
            let mut later = 0u64;
            self.table.fill(0);
            // The lanes are assigned to parts in rounds, which are passes over the remaining lanes.
            // A lane that was moved to a later round must not be overtaken by a later lane of the
            // same line.
            let mut closed = 0u64;
            while left != 0 {
                let lane = left.trailing_zeros() as usize;
                left &= left - 1;
                let address = addresses[lane];
                let line = LineAddr(address >> self.line_shift);
                let index = self.position(line, &out[round_start..]);
                let at = round_start + index;
                if at == out.len() {
                    out.push(LinePart { line, mask: ByteMask::NONE, lanes: 0, run: None });
                }
                let offset = address & ((1u64 << self.line_shift) - 1);
                let word = ByteMask::range(offset as usize, width.bytes());
                let part = &mut out[at];
                let other_tag = tag.is_some() && tags.map(|tags| tags[lane]) != tag;
                if other_tag || part.mask.overlaps(word) || tag.is_some() && closed >> index & 1 == 1 {
                    closed |= 1 << index;
                    later |= 1 << lane;
                    continue;
                }
                part.mask = part.mask.union(word);
                part.lanes |= 1 << lane;
            }
            // A part without lanes belongs to a line on which no lane has the tag of this round.
            let mut kept = round_start;
            for at in round_start..out.len() {
                if out[at].lanes != 0 {
                    out[kept] = out[at];
                    kept += 1;
                }
            }
            out.truncate(kept);
            left = later;
        }
        self.gather_sectors(&mut out[start..]);
    }
}

/// The address of lane 0, whether it is active or not. `None` if the active lanes are not
/// contiguous, or their addresses are not consecutive.
#[inline]
fn unit_stride_base(addresses: &[u64; LANES_MAX], lanes: u64, width: Width) -> Option<u64> {
    if lanes == 0 {
        return None;
    }
    let first = lanes.trailing_zeros();
    let run = lanes >> first;
    if run & run.wrapping_add(1) != 0 {
        return None;
    }
    let bytes = width.bytes() as u64;
    let base = addresses[first as usize].wrapping_sub(u64::from(first) * bytes);
    let end = (first + lanes.count_ones()) as usize;
    let follows = addresses[first as usize..end]
        .iter()
        .zip(u64::from(first)..)
        .all(|(&address, lane)| address == base.wrapping_add(lane * bytes));
    follows.then_some(base)
}

/// The number of turns that the banks of local memory need for one access of a wavefront. Lanes
/// that access the same bank take turns; if `shares` is true, lanes that access the same word share
/// a turn. Banks are four bytes wide. `offsets` are in bytes.
#[must_use]
pub fn bank_turns(offsets: &[u64; LANES_MAX], lanes: u64, width: Width, banks: u32, shares: bool) -> u32 {
    let words_per_lane = width.bytes().div_ceil(4) as u64;
    let mut words = [0u64; 2 * LANES_MAX];
    let mut used = 0;
    let mut left = lanes;
    while left != 0 {
        let lane = left.trailing_zeros() as usize;
        left &= left - 1;
        for part in 0..words_per_lane {
            words[used] = offsets[lane] / 4 + part;
            used += 1;
        }
    }
    let words = &mut words[..used];
    let banks = u64::from(banks);
    words.sort_unstable_by_key(|&word| (word % banks, word));
    let mut most = 0;
    let mut turns = 0;
    let mut previous = None;
    for &word in words.iter() {
        let same_bank = previous.is_some_and(|p: u64| p % banks == word % banks);
        let shared = shares && previous == Some(word);
        turns = if same_bank { turns + u32::from(!shared) } else { 1 };
        most = most.max(turns);
        previous = Some(word);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    const WIDTHS: [Width; 4] = [Width::W1, Width::W2, Width::W4, Width::W8];

    fn bytes_of_lanes(addresses: &[u64; 64], lanes: u64, width: Width) -> BTreeSet<u64> {
        (0..64)
            .filter(|l| lanes >> l & 1 == 1)
            .flat_map(|l| addresses[l]..addresses[l] + width.bytes() as u64)
            .collect()
    }

    fn bytes_of_parts(parts: &[LinePart], line_bytes: u64) -> Vec<u64> {
        let bits = |p: &LinePart| {
            let p = *p;
            (0..128u64).filter(move |b| p.mask.0 >> b & 1 == 1).map(move |b| p.line.0 * line_bytes + b)
        };
        parts.iter().flat_map(bits).collect()
    }

    fn spread(picks: &[u64], width: Width, range: u64) -> [u64; 64] {
        core::array::from_fn(|i| picks[i] % range * width.bytes() as u64)
    }

    proptest! {
        #[test]
        fn the_parts_of_a_gather_are_the_bytes_of_the_lanes_one_part_a_line(
            picks in prop::collection::vec(any::<u64>(), 64),
            lanes in any::<u64>(),
            width in 0usize..4,
            range in 1u64..400,
            shift in 5u32..8,
        ) {
            let width = WIDTHS[width];
            let addresses = spread(&picks, width, range);
            let mut parts = Vec::new();
            Coalescer::new(1 << shift).gather(&addresses, lanes, width, &mut parts);
            let bytes = bytes_of_parts(&parts, 1 << shift);
            prop_assert_eq!(
                bytes.iter().copied().collect::<BTreeSet<_>>(),
                bytes_of_lanes(&addresses, lanes, width)
            );
            let lines: BTreeSet<_> = parts.iter().map(|p| p.line).collect();
            prop_assert_eq!(lines.len(), parts.len());
            prop_assert_eq!(parts.iter().fold(0, |all, p| { assert_eq!(all & p.lanes, 0); all | p.lanes }), lanes);
            for (lane, address) in addresses.iter().enumerate().filter(|(l, _)| lanes >> l & 1 == 1) {
                let part = parts.iter().find(|p| p.lanes >> lane & 1 == 1).unwrap();
                prop_assert_eq!(part.line.0, address >> shift);
            }
        }

        #[test]
        fn unit_stride_lanes_take_the_same_parts_with_their_runs(
            start in 0u64..1000,
            first in 0u32..64,
            count in 1u32..65,
            width in 0usize..4,
            shift in 5u32..8,
        ) {
            let width = WIDTHS[width];
            let count = count.min(64 - first);
            let lanes = (u64::MAX >> (64 - count)) << first;
            let bytes = width.bytes() as u64;
            let addresses = core::array::from_fn(|i| (start + i as u64) * bytes);
            let mut parts = Vec::new();
            Coalescer::new(1 << shift).gather(&addresses, lanes, width, &mut parts);
            let bytes_seen = bytes_of_parts(&parts, 1 << shift);
            prop_assert_eq!(bytes_seen.len() as u64, u64::from(count) * bytes);
            for part in &parts {
                let lane = part.lanes.trailing_zeros() as usize;
                let offset = addresses[lane] & ((1 << shift) - 1);
                prop_assert_eq!(part.run, Some(offset as u8));
                prop_assert_eq!(part.mask.first(), Some(offset as usize));
                prop_assert_eq!(u64::from(part.mask.count()), u64::from(part.lanes.count_ones()) * bytes);
            }
        }

        #[test]
        fn every_lane_updates_its_word_once_and_words_are_updated_in_lane_order(
            picks in prop::collection::vec(any::<u64>(), 64),
            lanes in any::<u64>(),
            wide in any::<bool>(),
            range in 1u64..100,
            tag_range in 0u64..4,
        ) {
            let width = if wide { Width::W8 } else { Width::W4 };
            let addresses = spread(&picks, width, range);
            let tags: [u64; 64] = core::array::from_fn(|i| picks[i] / 1000 % tag_range.max(1));
            let tags = (tag_range > 0).then_some(&tags);
            let mut parts = Vec::new();
            Coalescer::new(64).words(&addresses, lanes, width, tags, &mut parts);
            let mut order: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
            for part in &parts {
                prop_assert!(part.lanes != 0);
                let mut words = ByteMask::NONE;
                for lane in (0..64).filter(|l| part.lanes >> l & 1 == 1) {
                    let word = ByteMask::range(addresses[lane] as usize % 64, width.bytes());
                    prop_assert!(!words.overlaps(word), "a part contains a word twice");
                    words = words.union(word);
                    prop_assert_eq!(part.line.0, addresses[lane] / 64);
                    order.entry(addresses[lane]).or_default().push(lane);
                    if let Some(tags) = tags {
                        prop_assert_eq!(tags[lane], tags[part.lanes.trailing_zeros() as usize]);
                    }
                }
                prop_assert_eq!(words, part.mask);
            }
            let updated: u32 = parts.iter().map(|p| p.lanes.count_ones()).sum();
            prop_assert_eq!(updated, lanes.count_ones());
            for lanes_of_word in order.values() {
                prop_assert!(lanes_of_word.is_sorted(), "{lanes_of_word:?}");
            }
        }

        #[test]
        fn bank_turns_are_the_largest_number_of_lanes_in_one_bank(
            picks in prop::collection::vec(0u64..256, 64),
            lanes in any::<u64>(),
            shares in any::<bool>(),
        ) {
            let offsets = core::array::from_fn(|i| picks[i] * 4);
            let mut banks: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
            for pick in (0..64).filter(|l| lanes >> l & 1 == 1).map(|l| picks[l]) {
                let words = banks.entry(pick % 32).or_default();
                if !(shares && words.contains(&pick)) {
                    words.push(pick);
                }
            }
            let expected = banks.values().map(Vec::len).max().unwrap_or(0);
            prop_assert_eq!(bank_turns(&offsets, lanes, Width::W4, 32, shares) as usize, expected);
        }
    }

    #[test]
    fn the_sectors_of_a_line_follow_each_other_and_keep_their_order() {
        let sectors =
            |parts: &[LinePart]| parts.iter().map(|part| (part.line.0, part.lanes)).collect::<Vec<_>>();
        // The lanes alternate between line 0 and line 1, each of four sectors of 32 bytes.
        let addresses: [u64; 64] = core::array::from_fn(|i| [32, 128, 0, 224, 36, 32][i.min(5)]);
        let (mut coalescer, mut parts) = (Coalescer::with_sectors(128, 32), Vec::new());
        coalescer.gather(&addresses, 0b11111, Width::W4, &mut parts);
        assert_eq!(sectors(&parts), [(1, 0b10001), (0, 0b100), (4, 0b10), (7, 0b1000)]);
        parts.clear();
        coalescer.words(&addresses, 0b10_1111, Width::W4, None, &mut parts);
        assert_eq!(sectors(&parts), [(1, 1), (0, 0b100), (1, 0b10_0000), (4, 0b10), (7, 0b1000)]);
        parts.clear();
        coalescer.unit_stride(96, 0xffff, Width::W4, &mut parts);
        assert_eq!(sectors(&parts), [(3, 0xff), (4, 0xff00)]);
    }

    #[test]
    fn each_lane_on_one_word_takes_a_turn() {
        let mut parts = Vec::new();
        Coalescer::new(64).words(&[128; 64], 0xff, Width::W4, None, &mut parts);
        assert_eq!(parts.len(), 8);
        assert!(parts.iter().all(|p| p.lanes.count_ones() == 1 && p.line == LineAddr(2)));
    }
}
