//! Episodes: random race-free programs in which every load has one correct value.
//!
//! An episode is a list of sections; in a section, one wavefront accesses some words. The order of
//! the list is a legal sequentially consistent execution, which defines the value of every load.
//! Conflicting sections are ordered by a release after the earlier section and an acquire before
//! the later one, at a randomly drawn scope that includes both wavefronts. Sections of different
//! kernels are ordered by the end of the earlier kernel. Any subset of an episode is an episode, so
//! failures are shrunk by removal.

use super::draws::Draws;
use super::functions::Function;
use super::layout::{DATA, FIRST_ATOM, FIRST_COUNTER, GROUPS_MAX, HOST, IN_ORDER, LAYOUTS, Layout, WAVES};
use proto::{Level, Order, Topology};
use smallvec::SmallVec;

/// The minimum number of checked values in an episode (a random program): loaded words, old values
/// of read-modify-writes, and values of counters.
const CHECKED_MIN: usize = 64;
/// The minimum number of threads in an episode (a random program): eight wavefronts and possibly
/// the host.
const THREADS_MIN: usize = 9;
/// The maximum number of sections (lists of accesses of one wavefront) of an episode. Each section
/// begins with an access whose value is checked, so after this number of sections enough values are
/// checked.
pub(super) const SECTIONS_MAX: usize = CHECKED_MIN;
/// The number of the first kernel's stage. The host runs alone in even stages, between kernels; a
/// kernel runs in an odd stage.
pub(super) const FIRST_KERNEL: u8 = 1;
/// The maximum number of kernels of an episode (a random program).
pub(super) const KERNELS_MAX: u8 = 3;

/// The hardware numbers that the first wavefront of a compute unit may have. The other wavefronts
/// have the next numbers, so that some numbers are equal to or greater than 16, 32 and 64.
const FIRST_WAVEFRONTS: [u8; 8] = [0, 0, 0, 0, 15, 15, 31, 63];
/// The maximum number of checked values that one access contributes to [`CHECKED_MIN`].
const CHECKED_EACH: usize = 4;

/// The work-group of a wavefront in an episode (a random program) with this number of work-groups,
/// or `None` for the host.
#[inline]
pub(super) fn group_of(wave: usize, groups: u8) -> Option<usize> {
    (wave != HOST).then_some(wave % usize::from(groups))
}

/// Whether a kernel runs in this stage (kernel or step of the host).
pub(super) fn is_kernel(stage: u8) -> bool {
    stage % 2 == FIRST_KERNEL
}

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AccessKind {
    Load,
    Store,
    /// A read-modify-write with this function, which returns the old value.
    Update(Function),
    /// A compare-and-swap that expects the old value of the first of its words, and so succeeds for
    /// this word.
    CompareSwap,
    /// A compare-and-swap that fails.
    FailedSwap,
    /// An addition of one to a counter.
    Count,
}

impl AccessKind {
    /// Whether the access changes data words.
    #[inline]
    pub(super) fn writes(self) -> bool {
        matches!(self, AccessKind::Store | AccessKind::Update(_) | AccessKind::CompareSwap)
    }

    fn is_rmw(self) -> bool {
        !matches!(self, AccessKind::Load | AccessKind::Store)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) kind: AccessKind,
    /// The number of the first data word or of the counter that is accessed.
    pub(super) word: u8,
    /// A random number that selects the scope and the order of an atomic access.
    pub(super) style: u8,
    /// The data words that are accessed, one bit for each.
    pub(super) words: u32,
}

impl Access {
    /// The number of values that the access returns and that are checked: one for each word.
    pub(super) fn checked(self) -> usize {
        match self.kind {
            AccessKind::Store => 0,
            AccessKind::Count => 1,
            _ => self.words.count_ones() as usize,
        }
    }

    /// Whether the accessed words are atomics. All accesses to an atomic are atomic accesses, at
    /// random scopes.
    pub(super) fn is_atomic(self) -> bool {
        (FIRST_ATOM..DATA).contains(&usize::from(self.word))
    }

    /// The scope of an access to atomic words. Conflicting accesses to atomic words are ordered in
    /// the same way as conflicting accesses to data, so any scope is correct.
    pub(super) fn level(self, wave: usize) -> Level {
        use Level::{Chiplet, Device, Named, System, WorkGroup};
        match self.style % 8 {
            _ if wave == HOST => System,
            0..3 => WorkGroup,
            3 => Chiplet,
            4 => Named,
            5 | 6 => Device,
            _ => System,
        }
    }

    /// The memory order of an access to atomic words. Most are relaxed, because additional order
    /// could hide missing order elsewhere. An access to several words synchronizes nothing.
    pub(super) fn order(self) -> Order {
        match (self.style / 8 % 8, self.kind) {
            _ if !self.words.is_power_of_two() => Order::Relaxed,
            (6, _) => Order::SeqCst,
            (7, AccessKind::Load) => Order::Acquire,
            (7, AccessKind::Store) => Order::Release,
            (7, _) => Order::AcqRel,
            _ => Order::Relaxed,
        }
    }
}

/// A list of accesses of one wavefront that conflict with no concurrent access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) wave: usize,
    /// The number of the stage (kernel or step of the host) in which the section (list of accesses
    /// of one wavefront) runs. Stages follow one another.
    pub(super) stage: u8,
    pub(super) accesses: SmallVec<[Access; 12]>,
    /// A random number that selects the kind of synchronization.
    pub(super) style: u64,
}

/// A random race-free program: a list of sections (lists of accesses of one wavefront), and the way
/// in which the machine runs them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Episode {
    /// The sections (lists of accesses of one wavefront), ordered by the stage (kernel or step of
    /// the host) in which they run.
    pub(super) sections: Vec<Section>,
    /// The number of the layout of words.
    pub(super) layout: u8,
    /// The number of work-groups that the wavefronts are divided among.
    pub(super) groups: u8,
    /// The maximum number of times that a work-group moves to another compute unit.
    pub(super) preemptions: u8,
    /// The hardware number of the first wavefront of each compute unit.
    pub(super) first_wavefront: u8,
    /// Whether the numbers of successive lines have gaps.
    pub(super) is_sparse: bool,
    /// A random number that selects the scope of each wavefront's flag for the device.
    pub(super) scopes: u32,
}

/// The compute units of a machine, and their chiplets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Units {
    pub(super) cus: u8,
    pub(super) chiplets: u8,
}

impl Units {
    pub(super) fn of(topology: &Topology) -> Units {
        Units { cus: topology.cus as u8, chiplets: topology.chiplets as u8 }
    }

    /// The compute unit of a work-group at the start of a program.
    pub(super) fn cu(self, group: usize) -> usize {
        group % usize::from(self.cus)
    }

    /// The chiplet of a compute unit.
    pub(super) fn chiplet(self, cu: usize) -> usize {
        cu / usize::from(self.cus / self.chiplets)
    }
}

/// The properties of a machine on which an episode (a random program) depends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site<'a> {
    pub(super) layouts: &'a [Layout],
    pub(super) units: Units,
    /// The binary logarithm of the size of a line in bytes.
    pub(super) line_shift: u32,
}

/// Draws the sections of an episode: each section is a list of accesses of one wavefront.
struct Sketch<'a> {
    layout: &'a Layout,
    line_shift: u32,
    groups: u8,
    draws: Draws,
    /// The number of checked values that are still to be drawn.
    left: usize,
}

impl Episode {
    /// Draws the episode (random program) of a seed.
    pub(super) fn new(seed: u64, site: Site<'_>) -> Episode {
        let mut draws = Draws::new(seed);
        let draw = draws.next() as usize;
        let layout = if draw & 3 == 0 { IN_ORDER } else { (draw >> 8) as u8 % LAYOUTS as u8 };
        let groups_max = site.units.cus.min(GROUPS_MAX as u8);
        let groups = [groups_max, groups_max, 5, 3][draw >> 16 & 3];
        let preemptions = if draw >> 20 & 7 == 0 { 1 + (draw >> 24 & 1) as u8 } else { 0 };
        let kernels = [1, 1, 1, 1, 1, 1, 2, KERNELS_MAX][draw >> 28 & 7];
        let first_wavefront = FIRST_WAVEFRONTS[draw >> 40 & 7];
        let is_sparse = draw >> 44 & 3 == 0;
        let scopes = draws.next() as u32;
        let (layouts, line_shift) = (site.layouts, site.line_shift);
        let mut sketch =
            Sketch { layout: &layouts[usize::from(layout)], line_shift, groups, draws, left: CHECKED_MIN };
        let sections = sketch.sections(kernels, draw >> 32);
        Episode { sections, layout, groups, preemptions, first_wavefront, is_sparse, scopes }
    }

    /// The number of values in the episode (random program) that are checked.
    pub(super) fn checked(&self) -> usize {
        self.sections.iter().flat_map(|section| &section.accesses).map(|access| access.checked()).sum()
    }
}

impl Sketch<'_> {
    /// Draws all sections (lists of accesses of one wavefront). The host runs alone before a kernel
    /// if there are several kernels and the kernel's bit of `visits` is set.
    fn sections(&mut self, kernels: u8, visits: usize) -> Vec<Section> {
        // Each of the first sections gets a different thread, until the required number of threads
        // is reached. Then threads are drawn freely.
        let mut waves: [usize; WAVES] = core::array::from_fn(|wave| wave);
        let mut sections = Vec::with_capacity(THREADS_MIN + 6);
        let is_visited = |kernel: u8| kernels > 1 && visits >> kernel & 1 == 1;
        if is_visited(0) {
            sections.push(self.section(HOST, FIRST_KERNEL - 1, false));
        }
        let (mut kernel, mut threads) = (0, 0);
        while self.left > 0 || threads < THREADS_MIN {
            if threads < WAVES {
                waves.swap(threads, threads + self.draws.below(WAVES - threads));
            }
            let wave = waves.get(threads).copied().unwrap_or_else(|| self.draws.below(WAVES));
            threads += 1;
            let stage = FIRST_KERNEL + 2 * kernel;
            sections.push(self.section(wave, stage, threads >= THREADS_MIN));
            // Kernels have about the same number of sections.
            if kernel + 1 < kernels && threads * usize::from(kernels) >= THREADS_MIN * usize::from(kernel + 1)
            {
                kernel += 1;
                if is_visited(kernel) {
                    sections.push(self.section(HOST, stage + 1, false));
                }
            }
        }
        sections
    }

    /// Draws a section: a list of several accesses of one wavefront. If `may_be_last` is set, the
    /// section ends as soon as the episode has the required number of checked values
    /// (`CHECKED_MIN`).
    fn section(&mut self, wave: usize, stage: u8, may_be_last: bool) -> Section {
        let mut accesses = SmallVec::new();
        // Each atomic is accessed less often than each other word, because there are many of them.
        let base = match self.draws.below(6) {
            0 => FIRST_ATOM + self.draws.below(DATA - FIRST_ATOM),
            _ => self.draws.below(FIRST_ATOM),
        };
        for at in 0..5 + self.draws.below(4) {
            let draw = self.draws.next();
            let access = match group_of(wave, self.groups) {
                Some(group) if at > 0 && draw >> 32 & 15 == 0 => {
                    let counter = if draw >> 16 & 1 == 0 { 0 } else { 1 + group };
                    let word = (FIRST_COUNTER + counter) as u8;
                    Access { kind: AccessKind::Count, word, style: (draw >> 8) as u8, words: 0 }
                }
                _ => self.access(base, at > 0, draw),
            };
            self.left = self.left.saturating_sub(access.checked().min(CHECKED_EACH));
            accesses.push(access);
            if may_be_last && self.left == 0 {
                break;
            }
        }
        Section { wave, stage, accesses, style: self.draws.next() }
    }

    /// The access to data that a random number selects.
    fn access(&self, base: usize, may_write: bool, draw: u64) -> Access {
        use AccessKind::{CompareSwap, FailedSwap, Load, Store, Update};
        let mut word = base + (draw % 6) as usize;
        if word >= DATA {
            word -= DATA;
        }
        let is_atom = word >= FIRST_ATOM;
        let kind = match (draw >> 32 & 15, draw >> 36 & 7) {
            (1..4, 0..3) if may_write && is_atom => Store,
            (1..4, 3) if may_write && is_atom => CompareSwap,
            (1..4, _) if may_write && is_atom => {
                let function = Function::ALL[(draw >> 52) as usize % Function::ALL.len()];
                Update(if function.suits(self.layout.widths[word]) { function } else { Function::Add })
            }
            (1..4, _) if may_write => Store,
            (_, 0 | 1) if is_atom => FailedSwap,
            _ => Load,
        };
        let mut words = 1 << word;
        if draw >> 40 & 7 < 3 {
            let wanted = match draw >> 43 & 7 {
                0 => usize::MAX,
                1 => (draw >> 46) as usize,
                _ => (draw >> 46 & 7) as usize,
            };
            words |= self.layout.beside(word, wanted, kind.is_rmw(), self.line_shift);
        }
        Access { kind, word: word as u8, style: (draw >> 8) as u8, words }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stress::layout::LANES_MAX;
    use std::collections::BTreeSet;

    /// Episodes on a machine with lines of `1 << line_shift` bytes.
    fn episodes(line_shift: u32) -> Vec<Episode> {
        let layouts = Layout::all();
        let units = Units { cus: 4, chiplets: 2 };
        (0..400).map(|seed| Episode::new(seed, Site { layouts: &layouts, units, line_shift })).collect()
    }

    #[test]
    fn episodes_contain_every_function_at_every_number_of_words() {
        let episodes = episodes(7);
        let sections = || episodes.iter().flat_map(|episode| &episode.sections);
        let accesses = || sections().flat_map(|section| &section.accesses);
        for function in Function::ALL {
            let updates = accesses().filter(|access| access.kind == AccessKind::Update(function));
            assert!(updates.count() > 20, "{function:?}");
        }
        for (is_atomic, count_max) in [(true, DATA - FIRST_ATOM), (false, LANES_MAX)] {
            for count in 1..=count_max {
                let is_it = |access: &Access| {
                    access.is_atomic() == is_atomic && access.words.count_ones() as usize == count
                };
                assert!(accesses().any(is_it), "{count} words, atomic: {is_atomic}");
            }
        }
        let is_wide = |access: &&Access| access.words.count_ones() > 8;
        assert!(accesses().filter(is_wide).any(|access| matches!(access.kind, AccessKind::Update(_))));
    }

    #[test]
    fn episodes_contain_large_wavefront_numbers_sparse_lines_and_all_scopes() {
        let episodes = episodes(5);
        for first in FIRST_WAVEFRONTS {
            assert!(episodes.iter().any(|episode| episode.first_wavefront == first), "wavefront {first}");
        }
        let sparse = episodes.iter().filter(|episode| episode.is_sparse).count();
        assert!((50..150).contains(&sparse), "{sparse} with sparse lines");
        let sections = || episodes.iter().flat_map(|episode| &episode.sections);
        let levels: BTreeSet<Level> = sections()
            .flat_map(|section| section.accesses.iter().map(|access| access.level(section.wave)))
            .collect();
        use Level::{Chiplet, Device, Named, System, WorkGroup};
        assert_eq!(levels, [WorkGroup, Chiplet, Device, System, Named].into());
    }

    #[test]
    fn episodes_contain_every_kind_of_access_and_stage() {
        let episodes = episodes(5);
        let sections = || episodes.iter().flat_map(|episode| &episode.sections);
        let accesses = || sections().flat_map(|section| &section.accesses);
        for kind in [
            AccessKind::Load,
            AccessKind::Store,
            AccessKind::Update(Function::Exchange),
            AccessKind::Update(Function::Add),
            AccessKind::CompareSwap,
            AccessKind::FailedSwap,
        ] {
            let of_kind = || accesses().filter(|access| access.kind == kind);
            assert!(of_kind().count() > 20, "{kind:?}");
            let of_several = of_kind().filter(|access| access.words.count_ones() > 1);
            assert!(of_several.count() > 5, "{kind:?} of several words");
        }
        for stage in 0..=2 * KERNELS_MAX - FIRST_KERNEL {
            assert!(sections().any(|section| section.stage == stage), "stage {stage}");
        }
        for episode in &episodes {
            assert!(episode.checked() >= CHECKED_MIN && episode.sections.len() <= SECTIONS_MAX);
            assert!(episode.sections.is_sorted_by_key(|section| section.stage));
            let is_alone = |section: &Section| !is_kernel(section.stage) && section.wave != HOST;
            assert!(!episode.sections.iter().any(is_alone), "only the host runs between kernels");
        }
    }
}
