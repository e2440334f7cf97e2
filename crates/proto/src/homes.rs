//! The homes of lines: the chiplet of a page, the bank of a line, and the line's index within that
//! bank.
//!
//! A page is on one chiplet. Each chiplet numbers its pages from 0 without gaps, as an operating
//! system numbers page frames, and numbers its lines in the same way. Consecutive lines of a
//! chiplet go to its banks in turn: the line's number on the chiplet, divided by the number of
//! banks, gives the index within the bank as quotient and the bank as remainder. A cache selects
//! the set by that index, so every set of every bank is used under every page policy. If several
//! lines share a tag, consecutive tags go to the banks in turn, and the lines of a tag stay
//! together.

use crate::divisor::Divisor;
use crate::line::LineAddr;
use crate::topology::Topology;
use std::collections::BTreeMap;

crate::symbols! {
    /// The rule that selects the chiplet of a page.
    pub enum PagePolicy {
        /// Consecutive pages are on consecutive chiplets.
        Interleaved,
        /// Consecutive pages form groups with one page for each chiplet. A hash of the group's
        /// number decides at which chiplet the group starts.
        Hash,
        /// A page is on the chiplet that the driver (such as the simulator) names when the page is
        /// first touched.
        FirstTouch,
    }
}

/// The home of a line: the chiplet and the bank that serve the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Home {
    /// The chiplet of the line's page.
    pub chiplet: u16,
    /// The number of the bank, counted over all chiplets.
    pub bank: u16,
    /// The number of the line among the lines of its bank, counted from 0 without gaps.
    pub index: u64,
}

/// The place of a page: the page's chiplet, and the page's number on that chiplet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame {
    chiplet: u16,
    /// The number of the page among the pages of its chiplet.
    number: u64,
}

/// The homes of all lines. The driver (such as the simulator) places pages. Protocols only look
/// homes up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Homes {
    chiplets: Divisor,
    banks_per_chiplet: Divisor,
    lines_per_page: Divisor,
    lines_per_tag: Divisor,
    policy: PagePolicy,
    /// The places of the touched pages. The key is the number of the page. Used only under
    /// [`PagePolicy::FirstTouch`].
    pages: BTreeMap<u64, Frame>,
    /// The number of touched pages on each chiplet.
    frames: Vec<u64>,
}

impl Homes {
    /// The homes of lines on a machine. Consecutive tags of a chiplet go to its banks in turn, and
    /// consecutive pages of `lines_per_page` lines go to the chiplets in turn. A page consists of
    /// whole tags.
    #[must_use]
    pub fn new(topology: &Topology, lines_per_page: u32) -> Self {
        let chiplets = topology.chiplets.max(1);
        Homes {
            chiplets: Divisor::new(u32::from(chiplets)),
            banks_per_chiplet: Divisor::new((topology.banks() / u32::from(chiplets)).max(1)),
            lines_per_page: Divisor::new(lines_per_page.max(1)),
            lines_per_tag: Divisor::new(u32::from(topology.lines_per_tag)),
            policy: PagePolicy::Interleaved,
            pages: BTreeMap::new(),
            frames: vec![0; usize::from(chiplets)],
        }
    }

    /// These homes, but with another page policy.
    #[must_use]
    pub fn with_policy(self, policy: PagePolicy) -> Self {
        Homes { policy, ..self }
    }

    /// Whether the chiplet of a page is decided by the page's first touch.
    #[inline]
    #[must_use]
    pub fn uses_first_touch(&self) -> bool {
        self.policy == PagePolicy::FirstTouch && self.chiplets.number() > 1
    }

    /// Places the page of `line` on a chiplet, unless the page has been touched before. Call this
    /// function only if [`Homes::uses_first_touch`] returns true.
    pub fn touch(&mut self, line: LineAddr, chiplet: u16) {
        let (page, _) = self.lines_per_page.divide(line.0);
        let Some(next) = self.frames.get_mut(usize::from(chiplet)) else { return };
        self.pages.entry(page).or_insert_with(|| {
            let number = *next;
            *next += 1;
            Frame { chiplet, number }
        });
    }

    /// The chiplet of a line's page under the policy `Interleaved`. Under `FirstTouch`, a page that
    /// has not been touched yet is on this chiplet, too.
    #[must_use]
    pub fn interleaved_chiplet(&self, line: LineAddr) -> u16 {
        let (page, _) = self.lines_per_page.divide(line.0);
        self.chiplets.divide(page).1 as u16
    }

    /// The chiplet of a line, and the number of the line on that chiplet, counted from 0 without
    /// gaps.
    #[inline]
    #[must_use]
    pub fn local(&self, line: LineAddr) -> (u16, u64) {
        if self.chiplets.number() == 1 {
            return (0, line.0);
        }
        let (page, offset) = self.lines_per_page.divide(line.0);
        let Frame { chiplet, number } = self.frame(page);
        (chiplet, number * u64::from(self.lines_per_page.number()) + offset)
    }

    fn frame(&self, page: u64) -> Frame {
        let (number, within) = self.chiplets.divide(page);
        let chiplet = match self.policy {
            PagePolicy::Interleaved => within,
            PagePolicy::Hash => self.chiplets.divide(within + (spread(number) >> 32)).1,
            PagePolicy::FirstTouch => match self.pages.get(&page) {
                Some(&frame) => return frame,
                None => within,
            },
        };
        Frame { chiplet: chiplet as u16, number }
    }

    /// The home of a line: its chiplet, its bank, and its index within the bank.
    #[inline]
    #[must_use]
    pub fn home(&self, line: LineAddr) -> Home {
        let (chiplet, local) = self.local(line);
        let (tag, line_of_tag) = self.lines_per_tag.divide(local);
        let (tag_index, within) = self.banks_per_chiplet.divide(tag);
        let index = tag_index * u64::from(self.lines_per_tag.number()) + line_of_tag;
        Home { chiplet, bank: chiplet * self.banks_per_chiplet.number() as u16 + within as u16, index }
    }

    /// The number of the bank that serves a line, counted over all chiplets.
    #[inline]
    #[must_use]
    pub fn bank(&self, line: LineAddr) -> u16 {
        self.home(line).bank
    }

    /// A line's index within its bank.
    #[inline]
    #[must_use]
    pub fn index(&self, line: LineAddr) -> u64 {
        self.home(line).index
    }
}

/// Mixes the bits of a number, as the output function of the random number generator `SplitMix64`
/// does.
fn spread(number: u64) -> u64 {
    let mixed = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::Symbol;
    use crate::topology::{MemoryLevel, Per, WritePolicy};
    use std::collections::BTreeSet;

    fn homes(chiplets: u16, banks_per_chiplet: u16, lines_per_page: u32, policy: PagePolicy) -> Homes {
        let bounded = Topology::bounded(WritePolicy::Combining, WritePolicy::Combining);
        let mut topology = Topology { cus: chiplets, chiplets, ..bounded };
        topology.levels[1].count = banks_per_chiplet;
        Homes::new(&topology, lines_per_page).with_policy(policy)
    }

    /// Touches the page of each line from 0 to `lines` - 1. The function `rule` selects the chiplet
    /// of each line's page.
    fn touched(mut homes: Homes, lines: u64, rule: fn(u64) -> u64) -> Homes {
        for line in (0..lines).map(LineAddr) {
            let (page, _) = homes.lines_per_page.divide(line.0);
            let (_, chiplet) = homes.chiplets.divide(rule(page));
            homes.touch(line, chiplet as u16);
        }
        homes
    }

    /// Shapes of machines, some with powers of two and some without: the number of chiplets, of
    /// banks in each chiplet, and of lines in each page.
    fn machines() -> impl Iterator<Item = (u16, u16, u32)> {
        let chiplets = [1, 2, 3, 4, 5, 6, 8].into_iter();
        let banks = |chiplets| [1, 2, 3, 4, 16].map(move |banks| (chiplets, banks));
        let pages = |(chiplets, banks)| [1, 7, 64].map(move |lines| (chiplets, banks, lines));
        chiplets.flat_map(banks).flat_map(pages)
    }

    #[test]
    fn a_stream_uses_every_set_of_every_bank_alike_under_every_policy() {
        for (chiplets, banks, lines_per_page) in machines() {
            for &policy in PagePolicy::ALL {
                let group = u64::from(chiplets) * u64::from(lines_per_page);
                let lines = (u64::from(chiplets * banks) * 32).next_multiple_of(group);
                let homes = homes(chiplets, banks, lines_per_page, policy);
                let homes = touched(homes, lines, |page| page + page / 8);
                let mut indices: BTreeMap<u16, BTreeSet<u64>> = BTreeMap::new();
                for line in (0..lines).map(LineAddr) {
                    let home = homes.home(line);
                    assert_eq!(home.bank / banks, home.chiplet);
                    assert_eq!((home.bank, home.index), (homes.bank(line), homes.index(line)));
                    let is_new = indices.entry(home.bank).or_default().insert(home.index);
                    assert!(is_new, "two lines have the same index in one bank");
                }
                let machine =
                    format!("{chiplets} chiplets, {banks} banks, {lines_per_page}-line pages, {policy:?}");
                assert_eq!(indices.len(), usize::from(chiplets * banks), "{machine}: a bank is unused");
                for indices in indices.values() {
                    // The indices have no gaps, so the numbers of lines in any two
                    // sets differ by at most one.
                    assert!(indices.iter().copied().eq(0..indices.len() as u64), "{machine}: {indices:?}");
                    for sets in [1, 3, 8] {
                        let used: BTreeSet<u64> = indices.iter().map(|index| index % sets).collect();
                        assert_eq!(used.len() as u64, sets, "{machine}: a set is unused");
                    }
                }
            }
        }
    }

    #[test]
    fn the_lines_of_a_tag_stay_together() {
        for policy in [PagePolicy::Interleaved, PagePolicy::Hash] {
            let bounded = Topology::bounded(WritePolicy::Combining, WritePolicy::Combining);
            let topology = Topology { cus: 2, chiplets: 2, lines_per_tag: 4, ..bounded };
            let homes = Homes::new(&topology, 8).with_policy(policy);
            let mut indices: BTreeMap<u16, BTreeSet<u64>> = BTreeMap::new();
            for line in 0..256 {
                let (home, first) = (homes.home(LineAddr(line)), homes.home(LineAddr(line / 4 * 4)));
                assert_eq!((home.bank, home.index), (first.bank, first.index + line % 4));
                indices.entry(home.bank).or_default().insert(home.index);
            }
            assert_eq!(indices.len(), 4, "each bank has lines");
            assert!(indices.values().all(|indices| indices.iter().copied().eq(0..64)), "{indices:?}");
            let banks = [0, 4].map(|line| homes.bank(LineAddr(line)));
            assert_ne!(banks[0], banks[1], "consecutive tags are in different banks");
        }
    }

    #[test]
    fn the_banks_of_the_last_shared_level_over_memory_count() {
        let mut topology = Topology::bounded(WritePolicy::Combining, WritePolicy::Combining);
        assert_eq!(topology.banks(), 2);
        let array = topology.levels[1].array;
        let last = MemoryLevel { array, ..MemoryLevel::new("l3", Per::Machine).count(4) };
        topology.levels.push(last);
        assert_eq!(topology.banks(), 4);
    }

    #[test]
    fn pages_are_spread_evenly_unless_touch_decides() {
        for policy in [PagePolicy::Interleaved, PagePolicy::Hash] {
            for chiplets in [2, 3, 4, 8] {
                let homes = homes(chiplets, 2, 4, policy);
                for stride in [1, u64::from(chiplets)] {
                    let mut pages = vec![0u32; usize::from(chiplets)];
                    for page in (0..4000).map(|page| page * stride) {
                        pages[usize::from(homes.home(LineAddr(page * 4)).chiplet)] += 1;
                    }
                    // A stride of as many pages as chiplets stays on one chiplet under
                    // interleaving.
                    let share = 4000 / u32::from(chiplets);
                    let is_even = pages.iter().all(|&n| n.abs_diff(share) < share / 5);
                    assert_eq!(is_even, stride == 1 || policy == PagePolicy::Hash, "{policy:?} {pages:?}");
                }
            }
        }
    }

    #[test]
    fn the_first_touch_of_a_page_decides_and_later_ones_change_nothing() {
        let mut homes = homes(2, 2, 4, PagePolicy::FirstTouch);
        assert!(homes.uses_first_touch());
        homes.touch(LineAddr(5), 1);
        homes.touch(LineAddr(0), 1);
        homes.touch(LineAddr(7), 0);
        homes.touch(LineAddr(8), 0);
        assert_eq!(
            homes.home(LineAddr(12)).chiplet,
            homes.interleaved_chiplet(LineAddr(12)),
            "the page is untouched"
        );
        assert_eq!(homes.interleaved_chiplet(LineAddr(12)), 1);
        let home = |line| homes.home(LineAddr(line));
        assert_eq!(home(4), Home { chiplet: 1, bank: 2, index: 0 });
        assert_eq!(home(7), Home { chiplet: 1, bank: 3, index: 1 });
        assert_eq!(home(0), Home { chiplet: 1, bank: 2, index: 2 });
        assert_eq!(home(9), Home { chiplet: 0, bank: 1, index: 0 });
    }

    #[test]
    fn one_chiplet_has_every_line_under_every_policy() {
        for &policy in PagePolicy::ALL {
            let homes = homes(1, 3, 4, policy);
            assert!(!homes.uses_first_touch());
            for line in [0, 1, 2, 3, 64, 1000] {
                let home = Home { chiplet: 0, bank: (line % 3) as u16, index: line / 3 };
                assert_eq!(homes.home(LineAddr(line)), home);
            }
        }
    }
}
