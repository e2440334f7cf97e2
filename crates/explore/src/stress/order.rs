//! The order of the sections of an episode (a random program), and the steps of its wavefronts. A
//! section is a list of accesses of one wavefront.

use super::episode::{
    Access, AccessKind, Episode, FIRST_KERNEL, SECTIONS_MAX, Section, Units, group_of, is_kernel,
};
use super::layout::{DATA, FIRST_COUNTER, FLAGS, HOST, LANES_MAX, WAVES, WORDS, bits, initial};
use super::rules::Rules;
use super::step::{Kind, NEVER, WaveStep};
use super::sync::{Edge, FOR_DEVICE, acquire, edge, flag_of, release};
use proto::{Level, Order};
use smallvec::SmallVec;

/// A stage of a program: a kernel, or the host's accesses between kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stage {
    /// The number of the stage (kernel or step of the host).
    pub(super) number: u8,
    /// For each wavefront, the number of its steps up to the end of this stage (kernel or step of
    /// the host).
    pub(super) ends: [u16; WAVES],
    /// Whether the host accesses memory in this stage (kernel or step of the host).
    has_host: bool,
    /// Whether the host may have written since the beginning of the previous kernel.
    pub(super) host_has_written: bool,
    /// Whether the machine releases to the host at the end of this kernel: the host accesses memory
    /// before the next kernel ends, or this kernel is the last one.
    pub(super) is_released: bool,
}

impl Stage {
    /// Whether a kernel runs in this stage.
    pub(super) fn is_kernel(&self) -> bool {
        is_kernel(self.number)
    }
}

/// An episode (a random program) in executable form: the steps of each wavefront, their division
/// into stages (kernels and steps of the host), and the final contents of memory.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) threads: Vec<Vec<WaveStep>>,
    pub(super) stages: SmallVec<[Stage; 1]>,
    /// The last value of each word: the value of a flag or counter, or the value that all bytes of
    /// a data word have.
    pub(super) last: [u32; WORDS],
    /// The properties of the episode (random program) with the same names; see [`Episode`].
    pub(super) layout: u8,
    pub(super) groups: u8,
    pub(super) preemptions: u8,
    pub(super) first_wavefront: u8,
    pub(super) is_sparse: bool,
}

impl Default for Program {
    fn default() -> Self {
        Program {
            threads: vec![Vec::new(); WAVES],
            stages: SmallVec::new(),
            last: FIRST,
            layout: 0,
            groups: 1,
            preemptions: 0,
            first_wavefront: 0,
            is_sparse: false,
        }
    }
}

/// The value of each word before all accesses, in the form of [`Program::last`].
const FIRST: [u32; WORDS] = {
    let mut first = [0; WORDS];
    let mut word = 0;
    while word < DATA {
        first[word] = initial(word) as u32;
        word += 1;
    }
    first
};

/// The sections (lists of accesses of one wavefront) that are ordered before the current point of
/// one wavefront. Entry `w` stands for all sections of wavefront `w` whose index in the episode is
/// smaller than the entry.
type Known = [u16; WAVES];

/// Builds the programs of episodes (random programs), which give the steps of each wavefront. The
/// buffers are reused from one episode to the next.
#[derive(Debug, Default)]
pub(super) struct Planner {
    edges: Vec<Edge>,
    /// For each section (list of accesses of one wavefront): the index in `edges` after the last
    /// edge that orders an earlier section before this section.
    ends: Vec<usize>,
    /// For each section (list of accesses of one wavefront): the flags that it sets, one bit for
    /// each.
    behind: Vec<u8>,
    /// For each section (list of accesses of one wavefront): the sections that are ordered before
    /// its end.
    at_end: Vec<Known>,
    /// The wavefronts whose flag for the device orders accesses of wavefronts on two chiplets, one
    /// bit for each wavefront.
    crossing: u16,
    program: Program,
}

impl Planner {
    /// Computes the steps of each wavefront of an episode (a random program) under these rules, on a
    /// machine with these compute units.
    pub(super) fn plan(&mut self, episode: &Episode, units: Units, rules: Rules) -> &Program {
        self.order(episode, units, rules);
        let levels = self.levels(episode);
        let program = &mut self.program;
        (program.layout, program.groups) = (episode.layout, episode.groups);
        program.preemptions = episode.preemptions;
        (program.first_wavefront, program.is_sparse) = (episode.first_wavefront, episode.is_sparse);
        program.last = FIRST;
        program.threads.iter_mut().for_each(Vec::clear);
        program.stages.clear();
        let (mut first, mut stored) = (0, Stored(0));
        for (index, section) in episode.sections.iter().enumerate() {
            if program.stages.last().is_none_or(|stage| stage.number != section.stage) {
                program.end_stage();
                program.begin_stage(section.stage);
            }
            program.note_host(section);
            let thread = &mut program.threads[section.wave];
            for edge in &self.edges[first..self.ends[index]] {
                let wave = episode.sections[edge.from].wave;
                acquire(edge, (wave, levels[wave]), section.style, rules, thread);
            }
            first = self.ends[index];
            for &access in &section.accesses {
                thread.push(match access.kind {
                    AccessKind::Count => count(access, program.groups, rules, &mut program.last),
                    _ => step(access, section.wave, &mut program.last, &mut stored),
                });
            }
            for flag in (0..FLAGS).filter(|flag| self.behind[index] >> flag & 1 == 1) {
                let last = &mut program.last[flag_of(section.wave, flag)];
                let of = (index, section.wave, levels[section.wave]);
                release(flag, of, *last, section.style, rules, thread);
                *last = index as u32 + 1;
            }
        }
        if program.stages.is_empty() {
            program.begin_stage(FIRST_KERNEL);
        }
        program.end_stage();
        program.settle_releases();
        program
    }

    /// The scope of each wavefront's flag for the device. The scope contains every wavefront that
    /// the flag orders: it is the device, a named scope, or a chiplet.
    fn levels(&self, episode: &Episode) -> [Level; WAVES] {
        core::array::from_fn(|wave| match episode.scopes >> (2 * wave) & 3 {
            2 => Level::Named,
            3 if self.crossing >> wave & 1 == 0 => Level::Chiplet,
            _ => Level::Device,
        })
    }

    fn order(&mut self, episode: &Episode, units: Units, rules: Rules) {
        let sections = &episode.sections;
        debug_assert!(sections.len() <= SECTIONS_MAX, "one bit for each");
        self.edges.clear();
        self.ends.clear();
        self.at_end.clear();
        self.behind.clear();
        self.behind.resize(sections.len(), 0);
        // A work-group that moves may leave its chiplet.
        self.crossing = if episode.preemptions > 0 && units.chiplets > 1 { u16::MAX } else { 0 };
        let chiplet = |group: Option<usize>| group.map(|group| units.chiplet(units.cu(group)));
        let mut known: [Known; WAVES] = [[0; WAVES]; WAVES];
        // For each word: the sections that wrote it (`writer`) and those that read it (`readers`),
        // as sets. If order is transitive, a write removes the accesses before it from the sets.
        let (mut writer, mut readers) = ([0u64; DATA], [0u64; DATA]);
        let mut stage = sections.first().map_or(0, |section| section.stage);
        for (index, section) in sections.iter().enumerate() {
            if section.stage != stage {
                // The end of the stage orders all sections before it.
                stage = section.stage;
                known = [[index as u16; WAVES]; WAVES];
                (writer, readers) = ([0; DATA], [0; DATA]);
            }
            let mut earlier = 0;
            for access in &section.accesses {
                let is_write = access.kind.writes();
                for word in bits(access.words) {
                    earlier |= writer[word] | if is_write { readers[word] } else { 0 };
                }
            }
            let known = &mut known[section.wave];
            while earlier != 0 {
                let from = earlier.ilog2() as usize;
                earlier &= !(1 << from);
                let other = sections[from].wave;
                if other == section.wave || usize::from(known[other]) > from {
                    continue;
                }
                let style = section.style ^ sections[from].style;
                let at = (group_of(other, episode.groups), group_of(section.wave, episode.groups));
                let edge = edge(from, at, style, rules);
                self.edges.push(edge);
                self.behind[from] |= 1 << edge.flag;
                if edge.flag == FOR_DEVICE && chiplet(at.0) != chiplet(at.1) {
                    self.crossing |= 1 << other;
                }
                known[other] = from as u16 + 1;
                if rules.transitive {
                    known.iter_mut().zip(&self.at_end[from]).for_each(|(a, b)| *a = (*a).max(*b));
                }
            }
            known[section.wave] = index as u16 + 1;
            self.at_end.push(*known);
            self.ends.push(self.edges.len());
            for access in &section.accesses {
                let is_write = access.kind.writes();
                for word in bits(access.words) {
                    match is_write {
                        false => readers[word] |= 1 << index,
                        // An access that is ordered after this one is also ordered after the
                        // accesses before this one.
                        true if rules.transitive => (writer[word], readers[word]) = (1 << index, 0),
                        true => writer[word] |= 1 << index,
                    }
                }
            }
        }
    }
}

impl Program {
    fn begin_stage(&mut self, number: u8) {
        let (ends, no) = ([0; WAVES], false);
        self.stages.push(Stage { number, ends, has_host: no, host_has_written: no, is_released: no });
    }

    /// Records that the current stage (kernel or step of the host) ends with the steps so far.
    fn end_stage(&mut self) {
        if let Some(stage) = self.stages.last_mut() {
            for (end, thread) in stage.ends.iter_mut().zip(&self.threads) {
                *end = thread.len() as u16;
            }
        }
    }

    /// Records that the host accesses memory in the current stage (kernel or step of the host), if
    /// this section (list of accesses of one wavefront) is the host's.
    fn note_host(&mut self, section: &Section) {
        if section.wave == HOST
            && let Some(stage) = self.stages.last_mut()
        {
            stage.has_host = true;
        }
    }

    /// Decides for each kernel whether the host has written before the kernel, and whether the
    /// kernel's end releases to the host. To set a flag is a write, so each stage with accesses of
    /// the host counts as a stage with writes of the host.
    fn settle_releases(&mut self) {
        let stages = &mut self.stages;
        let mut has_written = false;
        for at in 0..stages.len() {
            if stages[at].is_kernel() {
                stages[at].host_has_written = has_written;
                has_written = false;
                let next = stages[at + 1..].iter().position(Stage::is_kernel);
                let until = next.map_or(stages.len(), |next| at + 2 + next);
                let is_read = stages[at + 1..until].iter().any(|stage| stage.has_host);
                stages[at].is_released = next.is_none() || is_read;
            }
            has_written |= stages[at].has_host;
        }
    }
}

/// The source of the values that accesses to data store. Each value is one more than the previous
/// value, so the values of successive stores differ.
struct Stored(u8);

impl Stored {
    /// The largest value that a store writes. Larger values are the initial values of data words.
    const MAX: u8 = 0x7f;

    fn next(&mut self) -> u8 {
        self.0 = self.0 % Stored::MAX + 1;
        self.0
    }
}

/// The addition of one to a counter. If remote operations may order accesses, some wavefronts add to
/// the counter of another work-group by a remote operation.
fn count(access: Access, groups: u8, rules: Rules, last: &mut [u32; WORDS]) -> WaveStep {
    let (word, groups) = (usize::from(access.word), usize::from(groups));
    let is_remote = rules.remote && word > FIRST_COUNTER && access.style.is_multiple_of(2);
    let further = usize::from(access.style / 2) % (groups - 1);
    let other = (word - FIRST_COUNTER + further) % groups + FIRST_COUNTER + 1;
    let (word, order, level) = match word {
        _ if is_remote => (other, Order::AcqRel, Level::Device),
        FIRST_COUNTER => (word, Order::Relaxed, Level::Device),
        _ => (word, Order::Relaxed, Level::WorkGroup),
    };
    last[word] += 1;
    WaveStep { remote: is_remote, ..WaveStep::of_flag(Kind::Count, word, 0, order, level) }
}

/// The step of an access to data.
fn step(access: Access, wave: usize, last: &mut [u32; WORDS], stored: &mut Stored) -> WaveStep {
    let word = usize::from(access.word);
    let (order, level) = match access.is_atomic() {
        true => (access.order(), access.level(wave)),
        false => (Order::Plain, Level::WorkGroup),
    };
    let expected = last[word] as u8;
    let kind = match access.kind {
        AccessKind::Load => Kind::Load,
        AccessKind::Update(function) => Kind::Update(function),
        AccessKind::CompareSwap => Kind::CompareSwap(expected),
        AccessKind::FailedSwap => Kind::CompareSwap(NEVER),
        AccessKind::Store | AccessKind::Count => Kind::Store,
    };
    let (mut old, mut given) = ([0; LANES_MAX], [0; LANES_MAX]);
    for (lane, word) in bits(access.words).enumerate() {
        old[lane] = last[word] as u8;
        let new = match kind {
            Kind::Load => old[lane],
            Kind::Update(function) => {
                given[lane] = function.value(old[lane], stored.next());
                function.result(old[lane], given[lane])
            }
            _ => {
                given[lane] = stored.next();
                let fails = matches!(kind, Kind::CompareSwap(expected) if expected != old[lane]);
                if fails { old[lane] } else { given[lane] }
            }
        };
        last[word] = new.into();
    }
    let words = access.words;
    WaveStep { kind, word: access.word, level, order, remote: false, words, old, given, value: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stress::episode::Site;
    use crate::stress::layout::Layout;
    use std::collections::BTreeMap;

    const UNITS: Units = Units { cus: 4, chiplets: 2 };

    /// For each step, the steps that happen before it, by number. These are its predecessors in its
    /// thread, the release that it waits for, and the steps before that release. If order is not
    /// transitive, of the steps before the release only those of the releasing thread count. The
    /// end of a stage (kernel or step of the host) orders all steps of the stage before the steps
    /// of later stages.
    fn before(steps: &[(usize, u8, WaveStep)], transitive: bool) -> Vec<Vec<bool>> {
        let mut before = vec![vec![false; steps.len()]; steps.len()];
        // Sections are in a legal order, and so are steps.
        for (at, (wave, stage, step)) in steps.iter().enumerate() {
            for earlier in (0..at).filter(|&earlier| steps[earlier].1 < *stage) {
                before[at][earlier] = true;
            }
            for earlier in (0..at).filter(|&earlier| steps[earlier].0 == *wave) {
                before[at][earlier] = true;
                let known = before[earlier].clone();
                before[at].iter_mut().zip(known).for_each(|(a, b)| *a |= b);
            }
            if !step.awaits() {
                continue;
            }
            let of_flag = |(_, _, set): &(usize, u8, WaveStep)| {
                set.sets() && set.word == step.word && set.value == step.value
            };
            let release = steps[..at].iter().position(of_flag).expect("the flag is set before");
            before[at][release] = true;
            for earlier in 0..release {
                let passes = transitive || steps[earlier].0 == steps[release].0;
                if passes && before[release][earlier] {
                    before[at][earlier] = true;
                }
            }
        }
        before
    }

    fn of_models(models: &[&str]) -> (usize, usize) {
        let rules = Rules::of(models).expect("a known model");
        let layouts = Layout::all();
        let mut planner = Planner::default();
        let (mut conflicts, mut across_scopes) = (0, 0);
        for seed in 0..200 {
            let episode = Episode::new(seed, Site { layouts: &layouts, units: UNITS, line_shift: 6 });
            assert!(episode.checked() >= 64 && episode.sections.len() <= SECTIONS_MAX);
            let program = planner.plan(&episode, UNITS, rules).clone();
            let mut at = [0; WAVES];
            let mut steps = Vec::new();
            // Section by section: up to the last step of each, which is a release or an
            // access.
            for section in 0..episode.sections.len() {
                let wave = episode.sections[section].wave;
                let rest = episode.sections[section + 1..].iter().any(|later| later.wave == wave);
                let thread = &program.threads[wave];
                let end = if rest { end_of(&episode, section, thread, at[wave]) } else { thread.len() };
                let stage = episode.sections[section].stage;
                steps.extend(thread[at[wave]..end].iter().map(|&step| (wave, stage, step)));
                at[wave] = end;
            }
            assert_eq!(steps.len(), program.threads.iter().map(Vec::len).sum::<usize>());
            let before = before(&steps, rules.transitive);
            for (b, (wave, _, later)) in steps.iter().enumerate() {
                for (a, (other, _, earlier)) in steps[..b].iter().enumerate() {
                    let of_data = earlier.words & later.words != 0;
                    let loads = |step: &WaveStep| matches!(step.kind, Kind::Load | Kind::CompareSwap(NEVER));
                    let conflict = of_data && wave != other && !(loads(earlier) && loads(later));
                    if conflict {
                        assert!(
                            before[b][a],
                            "{models:?}, seed {seed}: {} and {}",
                            earlier.text(),
                            later.text()
                        );
                        conflicts += 1;
                        across_scopes += usize::from(earlier.level != later.level);
                    }
                }
            }
        }
        (conflicts, across_scopes)
    }

    /// The index, among the steps of a thread, of the first step after a section (list of
    /// accesses): after the section's accesses, and after the releases that follow these accesses.
    fn end_of(episode: &Episode, section: usize, thread: &[WaveStep], from: usize) -> usize {
        let accesses = episode.sections[section].accesses.len();
        let is_access = |step: &WaveStep| step.words != 0 || step.kind == Kind::Count;
        let places = (from..thread.len()).filter(|&at| is_access(&thread[at]));
        let last = places.take(accesses).last().map_or(from, |at| at + 1);
        let value = section as u32 + 1;
        let releases = thread[last..]
            .iter()
            .take_while(|step| (step.sets() || step.kind == Kind::Fence) && step.value == value);
        last + releases.count()
    }

    /// On a machine with two chiplets, a flag at chiplet scope orders only wavefronts of one chiplet.
    #[test]
    fn flags_have_every_scope_that_contains_their_wavefronts() {
        use Level::{Chiplet, Device, Named, System, WorkGroup};
        let rules = Rules::of(&["hrf-direct"]).expect("a known model");
        let (layouts, mut planner) = (Layout::all(), Planner::default());
        let mut counts = BTreeMap::new();
        for seed in 0..400 {
            let episode = Episode::new(seed, Site { layouts: &layouts, units: UNITS, line_shift: 6 });
            let chiplet = |wave| group_of(wave, episode.groups).map(|group| UNITS.chiplet(UNITS.cu(group)));
            let threads = &planner.plan(&episode, UNITS, rules).threads;
            for (wave, thread) in threads.iter().enumerate() {
                for step in thread.iter().filter(|step| step.awaits()) {
                    *counts.entry(step.level).or_insert(0) += 1;
                    let setter = step.flag() / FLAGS;
                    let sets = |set: &&WaveStep| set.sets() && set.word == step.word;
                    let level = threads[setter].iter().find(sets).map(|set| set.level);
                    assert_eq!(level, Some(step.level), "seed {seed}: the release has the same scope");
                    if step.level == Chiplet {
                        assert!(chiplet(setter) == chiplet(wave) && episode.preemptions == 0, "seed {seed}");
                    }
                }
            }
        }
        for level in [WorkGroup, Chiplet, Device, System, Named] {
            assert!(counts.get(&level).is_some_and(|&count| count > 50), "{level:?}: {counts:?}");
        }
    }

    #[test]
    fn conflicting_accesses_are_ordered_at_any_scope() {
        for models in [&["hrf-indirect"][..], &["hrf-direct"], &["opencl"], &["opencl-rsp"], &["drf"]] {
            let (conflicts, across_scopes) = of_models(models);
            assert!(conflicts > 2_000 && across_scopes > 100, "{models:?}: {conflicts}, {across_scopes}");
        }
    }
}
