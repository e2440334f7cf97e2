//! The machines of a stress test, the numbers of their lines, and the homes (chiplets and banks) of
//! these lines.

use super::draws::Draws;
use super::layout::BYTES_MAX;
use proto::words::counted;
use proto::{CacheShape, Homes, Kind, LineAddr, PagePolicy, Symbol as _, Topology, WritePolicy};

/// The shape of a machine.
struct Shape {
    line_bytes: u16,
    /// The number of successive lines that share a tag.
    lines_per_tag: u16,
    cus: u16,
    /// The number of banks on all chiplets.
    banks: u16,
    chiplets: u16,
    l1: Cache,
    l2: Cache,
}

/// The sets, the ways and the write policy of a cache, and its room for stores and misses.
type Cache = (u32, u32, WritePolicy, u32);

/// A machine with one chiplet, and with a tag for each line.
const fn shape(line_bytes: u16, cus: u16, banks: u16, l1: Cache, l2: Cache) -> Shape {
    Shape { line_bytes, lines_per_tag: 1, cus, banks, chiplets: 1, l1, l2 }
}

use WritePolicy::{Combining, Through, ThroughInvalidate};

/// The shapes of the machines. They have all pairs of write policies, lines of 16 to 128 bytes, three
/// to twelve compute units, one to six banks, and caches of one to five sets and one to twelve ways.
/// One machine has two chiplets. On one machine, two lines share a tag.
const SHAPES: [Shape; 15] = [
    shape(64, 8, 2, (2, 3, Combining, 4), (1, 4, Combining, 4)),
    shape(32, 4, 3, (2, 2, Combining, 3), (2, 2, Combining, 2)),
    shape(64, 4, 1, (2, 3, Through, 4), (1, 4, Through, 4)),
    shape(32, 3, 2, (3, 2, ThroughInvalidate, 3), (2, 2, ThroughInvalidate, 2)),
    shape(64, 3, 4, (2, 3, Through, 4), (1, 4, ThroughInvalidate, 4)),
    shape(32, 4, 2, (2, 2, Through, 3), (3, 2, ThroughInvalidate, 2)),
    shape(16, 4, 2, (1, 2, Combining, 1), (1, 2, Combining, 1)),
    shape(64, 3, 2, (1, 2, ThroughInvalidate, 2), (1, 2, Combining, 2)),
    shape(16, 4, 1, (1, 9, Combining, 8), (1, 12, Combining, 8)),
    shape(16, 3, 3, (5, 1, Combining, 4), (4, 1, Combining, 3)),
    shape(16, 8, 3, (1, 9, Through, 3), (3, 3, Combining, 4)),
    shape(32, 3, 3, (1, 9, Combining, 2), (1, 3, Through, 2)),
    Shape { chiplets: 2, ..shape(16, 12, 6, (2, 2, Combining, 4), (1, 3, Combining, 4)) },
    shape(128, 4, 2, (1, 2, ThroughInvalidate, 2), (1, 2, Through, 2)),
    Shape { lines_per_tag: 2, ..shape(16, 4, 2, (2, 4, Combining, 3), (1, 8, ThroughInvalidate, 4)) },
];

/// The machines of a stress test, with at least this number of chiplets. Each chiplet has at least
/// one compute unit and one bank.
pub(super) fn topologies(kinds: &[Kind], chiplets: u16, hosts: u16) -> Vec<Topology> {
    let cache = |(sets, ways, policy, room): Cache| CacheShape {
        sets,
        ways,
        policy,
        store_buffer_entries: room,
        miss_registers: room,
        ignores_acquires: false,
    };
    let machine = |shape: &Shape| {
        let chiplets = chiplets.max(shape.chiplets);
        let (cus, banks) = (shape.cus.next_multiple_of(chiplets), shape.banks.div_ceil(chiplets));
        let topology = Topology::banked(cus, banks, shape.line_bytes, cache(shape.l1), cache(shape.l2));
        let lines_per_tag = shape.lines_per_tag;
        Topology { chiplets, hosts, lines_per_tag, ..topology }.of_kinds(kinds)
    };
    SHAPES.iter().map(machine).collect()
}

/// The numbers of the lines that hold the words. The lines of one tag have successive numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines {
    /// The binary logarithm of the number of lines of a tag.
    tag_bits: u32,
    /// The number of the first tag, and the difference between the numbers of successive tags.
    first: u64,
    stride: u64,
}

impl Lines {
    /// The first tag and the stride of lines whose numbers have gaps. With these numbers, successive
    /// tags often have the same fingerprint in a [`CacheArray`](proto::parts::CacheArray), and the
    /// first ones have the smallest fingerprint.
    const FIRST: u64 = 232;
    const STRIDE: u64 = 233;

    pub(super) fn of(topology: &Topology, is_sparse: bool) -> Lines {
        let (first, stride) = if is_sparse { (Lines::FIRST, Lines::STRIDE) } else { (0, 1) };
        Lines { tag_bits: topology.lines_per_tag.trailing_zeros(), first, stride }
    }

    /// The line with this index in memory.
    #[inline]
    pub(super) fn at(self, index: usize) -> LineAddr {
        let (tag, within) = (index >> self.tag_bits, index & ((1 << self.tag_bits) - 1));
        LineAddr((self.first + tag as u64 * self.stride) << self.tag_bits | within as u64)
    }

    /// The index of a line in memory: the inverse of [`Lines::at`]. `None` if the line is between
    /// the lines of memory.
    #[inline]
    pub(super) fn index(self, line: LineAddr) -> Option<usize> {
        let distance = (line.0 >> self.tag_bits).checked_sub(self.first)?;
        let index = ((distance / self.stride) as usize) << self.tag_bits
            | (line.0 as usize & ((1 << self.tag_bits) - 1));
        distance.is_multiple_of(self.stride).then_some(index)
    }

    /// The numbers as text for a report.
    pub(super) fn text(self) -> String {
        let [first, second] = [0, 1].map(|index| self.at(index).0);
        format!("the first lines have the numbers {first} and {second}")
    }
}

/// The homes of lines. A seed decides the chiplet of each tag, as the first access to its page would
/// do under a first-touch policy if each page had one tag.
pub(super) fn homes(topology: &Topology, lines: Lines, seed: u64) -> Homes {
    let mut homes = Homes::new(topology, topology.lines_per_tag.into());
    if topology.chiplets > 1 {
        let mut draws = Draws::new(!seed);
        homes = homes.with_policy(PagePolicy::FirstTouch);
        for line in 0..lines_max(topology) {
            homes.touch(lines.at(line), draws.below(usize::from(topology.chiplets)) as u16);
        }
    }
    homes
}

/// The number of lines that suffices to hold the words, whatever their layout is.
pub(super) fn lines_max(topology: &Topology) -> usize {
    BYTES_MAX.div_ceil(usize::from(topology.line_bytes))
}

/// The description of a machine in a report.
pub(super) fn text(topology: &Topology) -> String {
    let of = |(count, noun): (u32, &str)| counted(u64::from(count), noun);
    let Topology { cus, chiplets, hosts, line_bytes, levels, .. } = topology;
    let on = if *chiplets > 1 { format!(" on {chiplets} chiplets") } else { String::new() };
    let with = if *hosts > 1 { format!(" and {hosts} hosts") } else { String::new() };
    let tags = match topology.lines_per_tag {
        1 => String::new(),
        lines => format!(" of which {lines} share a tag"),
    };
    let mut text = format!("{}{on}{with}, lines of {line_bytes} bytes{tags}", of((u32::from(*cus), "CU")));
    for level in levels {
        let Some(cache) = level.array else { continue };
        let [sets, ways] = [(cache.sets, "set"), (cache.ways, "way")].map(of);
        text += &format!(", {} {} of {sets} and {ways}", level.name.to_uppercase(), cache.policy.name());
        if topology.count(level) > 1 && level.name != "l1" {
            text += &format!(" in {}", of((topology.count(level), "bank")));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proto::{LINE_BYTES_MAX, Protocol as _};
    use std::collections::BTreeSet;

    #[test]
    fn the_seed_places_every_line_on_any_chiplet() {
        let topology = topologies(zoo::vi::Vi::KINDS, 4, 1).remove(0);
        let numbers = Lines::of(&topology, true);
        let chiplet = |seed, line| homes(&topology, numbers, seed).home(numbers.at(line)).chiplet;
        for line in 0..lines_max(&topology) {
            let chiplets: BTreeSet<u16> = (0..64).map(|seed| chiplet(seed, line)).collect();
            assert_eq!(chiplets, (0..4).collect(), "line {line}");
        }
        // Lines of one episode are on different chiplets.
        let lines = 0..lines_max(&topology);
        let of_one: BTreeSet<u16> = lines.map(|line| chiplet(1, line)).collect();
        assert!(of_one.len() > 1);
    }

    #[test]
    fn every_line_has_its_own_number() {
        for topology in topologies(zoo::vi::Vi::KINDS, 1, 1) {
            for is_sparse in [false, true] {
                let lines = Lines::of(&topology, is_sparse);
                let numbers: Vec<LineAddr> = (0..lines_max(&topology)).map(|index| lines.at(index)).collect();
                assert!(numbers.is_sorted_by(|a, b| a < b));
                let inverse = numbers.iter().map(|&line| lines.index(line));
                assert!(inverse.eq((0..numbers.len()).map(Some)));
                let tags: BTreeSet<u64> = numbers.iter().map(|line| line.0 >> lines.tag_bits).collect();
                let each = usize::from(topology.lines_per_tag);
                assert_eq!(tags.len(), numbers.len().div_ceil(each), "lines of a tag stay together");
                assert_eq!(tags.contains(&(lines.first + 1)), !is_sparse, "sparse lines have gaps");
            }
        }
    }

    #[test]
    fn machines_have_all_pairs_of_write_policies() {
        let machines = topologies(zoo::vi::Vi::KINDS, 1, 1);
        let policy = |machine: &Topology, level| {
            machine.level(level).and_then(|level| level.array).map(|array| array.policy.name())
        };
        let pairs: BTreeSet<_> =
            machines.iter().map(|machine| (policy(machine, "l1"), policy(machine, "l2"))).collect();
        assert_eq!(pairs.len(), WritePolicy::ALL.len() * WritePolicy::ALL.len());
    }

    /// A fault may concern only the ninth cache, the fifth bank, the tenth way, the second chiplet,
    /// the second line of a tag, or the second half of the longest line.
    #[test]
    fn machines_have_twelve_units_six_banks_twelve_ways_two_chiplets_and_shared_tags() {
        let machines = topologies(zoo::vi::Vi::KINDS, 1, 1);
        let has = |is_it: &dyn Fn(&Topology) -> bool| machines.iter().any(is_it);
        let l2 =
            |machine: &Topology| machine.level("l2").and_then(|level| level.array).expect("it has an L2");
        let keeps = |machine: &Topology| l2(machine).policy == Combining;
        assert!(has(&|machine| machine.cus == 12));
        assert!(has(&|machine| machine.banks() == 6 && keeps(machine)));
        assert!(has(&|machine| l2(machine).ways == 12 && machine.banks() == 1 && keeps(machine)));
        assert!(has(&|machine| machine.chiplets == 2 && keeps(machine)));
        assert!(has(&|machine| machine.chiplets == 1));
        assert!(has(&|machine| machine.lines_per_tag == 2));
        assert!(has(&|machine| usize::from(machine.line_bytes) == LINE_BYTES_MAX));
    }

    #[test]
    fn machines_have_three_units_three_banks_and_nine_ways() {
        let machines = topologies(zoo::vi::Vi::KINDS, 1, 1);
        assert!(machines.iter().all(|machine| machine.cus >= 3 && machine.check().is_ok()));
        assert!(machines.iter().any(|machine| machine.banks() >= 3));
        for level in ["l1", "l2"] {
            let arrays = || machines.iter().filter_map(|machine| machine.level(level)?.array);
            assert!(
                arrays().any(|array| array.ways >= 9) && arrays().any(|array| array.ways == 1),
                "{level}"
            );
            assert!(arrays().any(|array| array.sets >= 3), "{level}");
        }
    }
}
