//! The order of an episode's sections, and the steps of its wavefronts.

use super::draws::Draws;
use super::episode::{
    Access, AccessKind, DATA, Episode, FIRST_COUNTER, FLAGS, IN_ORDER, Kind, Places, REMOTE_RELEASES,
    SECTIONS_MAX, Section, Step, WAVES, WORDS, cu,
};
use super::rules::Rules;
use proto::{Level, Order};

/// The program: the steps of each wavefront, the place of each word, and the final contents of
/// memory.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) threads: Vec<Vec<Step>>,
    pub(super) places: Places,
    pub(super) last: [u32; WORDS],
}

impl Default for Program {
    fn default() -> Self {
        Program { threads: vec![Vec::new(); WAVES], places: IN_ORDER, last: [0; WORDS] }
    }
}

/// For each other wavefront: the number of its last section that a wavefront is ordered after.
type Known = [u16; WAVES];

/// An order between two sections, made by a flag that the earlier section sets.
#[derive(Clone, Copy, Debug)]
struct Edge {
    from: usize,
    flag: usize,
    /// The scope of the later section's acquire (`level`), and whether it is remote (`remote`).
    level: Level,
    remote: bool,
}

/// Builds the programs of episodes. The buffers are reused from one episode to the next.
#[derive(Debug, Default)]
pub(super) struct Planner {
    edges: Vec<Edge>,
    /// For each section: the end of its range in `edges`.
    ends: Vec<usize>,
    /// For each section: the flags that it sets, one bit for each.
    behind: Vec<u8>,
    /// For each section: the sections of other wavefronts that its wavefront is ordered after at
    /// its end.
    at_end: Vec<Known>,
    program: Program,
}

impl Planner {
    /// Computes the program of an episode under these rules.
    pub(super) fn plan(&mut self, episode: &Episode, rules: Rules) -> &Program {
        self.order(&episode.sections, rules);
        let program = &mut self.program;
        program.places = episode.places;
        program.last = [0; WORDS];
        program.threads.iter_mut().for_each(Vec::clear);
        let (mut first, mut stored) = (0, 0);
        for (index, section) in episode.sections.iter().enumerate() {
            let thread = &mut program.threads[section.wave];
            for edge in &self.edges[first..self.ends[index]] {
                acquire(edge, episode.sections[edge.from].wave, section.style, rules, thread);
            }
            first = self.ends[index];
            for &access in &section.accesses {
                thread.push(step(access, section.wave, &mut program.last, &mut stored));
            }
            for flag in (0..FLAGS).filter(|flag| self.behind[index] >> flag & 1 == 1) {
                program.last[flag_of(section.wave, flag)] = index as u32 + 1;
                release(flag, index, section, rules, thread);
            }
        }
        program
    }

    fn order(&mut self, sections: &[Section], rules: Rules) {
        debug_assert!(sections.len() <= SECTIONS_MAX, "one bit for each");
        self.edges.clear();
        self.ends.clear();
        self.at_end.clear();
        self.behind.clear();
        self.behind.resize(sections.len(), 0);
        let mut known: [Known; WAVES] = [[0; WAVES]; WAVES];
        // The writer of each word, and the readers since then, as sets of sections.
        let (mut writer, mut readers) = ([0u64; DATA], [0u64; DATA]);
        for (index, section) in sections.iter().enumerate() {
            let mut earlier = 0;
            for access in &section.accesses {
                let word = usize::from(access.word);
                match access.kind {
                    AccessKind::Load => earlier |= writer[word],
                    AccessKind::Store | AccessKind::Swap => earlier |= writer[word] | readers[word],
                    AccessKind::Count => {}
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
                let edge = edge(from, (cu(other), cu(section.wave)), style, rules);
                self.edges.push(edge);
                self.behind[from] |= 1 << edge.flag;
                known[other] = from as u16 + 1;
                if rules.transitive {
                    known.iter_mut().zip(&self.at_end[from]).for_each(|(a, b)| *a = (*a).max(*b));
                }
            }
            known[section.wave] = index as u16 + 1;
            self.at_end.push(*known);
            self.ends.push(self.edges.len());
            for access in &section.accesses {
                let word = usize::from(access.word);
                match access.kind {
                    AccessKind::Load => readers[word] |= 1 << index,
                    // An access that is ordered after this one is also ordered after the accesses
                    // before this one.
                    AccessKind::Store | AccessKind::Swap if rules.transitive => {
                        (writer[word], readers[word]) = (1 << index, 0);
                    }
                    AccessKind::Store | AccessKind::Swap => writer[word] |= 1 << index,
                    AccessKind::Count => {}
                }
            }
        }
    }
}

fn step(access: Access, wave: usize, last: &mut [u32; WORDS], stored: &mut u32) -> Step {
    let word = usize::from(access.word);
    let (order, level) = match access.kind {
        AccessKind::Count if word == FIRST_COUNTER => (Order::Relaxed, Level::Device),
        AccessKind::Count => (Order::Relaxed, Level::WorkGroup),
        _ if access.is_atomic() => (access.order(), access.level(wave)),
        _ => (Order::Plain, Level::WorkGroup),
    };
    let old = last[word];
    let (kind, value) = match access.kind {
        AccessKind::Load => (Kind::Load, old),
        AccessKind::Count => (Kind::Count, old + 1),
        AccessKind::Store | AccessKind::Swap => {
            *stored += 1;
            (if access.kind == AccessKind::Swap { Kind::Exchange(old) } else { Kind::Store }, *stored)
        }
    };
    last[word] = value;
    Step { kind, word: access.word, value, order, level, remote: false }
}

const LEVELS: [Level; 3] = [Level::WorkGroup, Level::Device, Level::System];

fn edge(from: usize, at: (Option<usize>, Option<usize>), style: u64, rules: Rules) -> Edge {
    let draw = Draws::new(style).below(8);
    let of = |flag: usize| Edge { from, flag, level: LEVELS[flag], remote: false };
    let (is_near, is_of_host) = (at.0 == at.1, at.0.is_none() || at.1.is_none());
    match draw {
        _ if is_of_host => of(2),
        0 => of(2),
        1 | 2 => of(1),
        _ if is_near || rules.hints => of(0),
        3..6 if rules.remote => Edge { level: Level::Device, remote: true, ..of(0) },
        6.. if rules.remote => Edge { from, flag: REMOTE_RELEASES, level: Level::WorkGroup, remote: false },
        _ => of(1),
    }
}

fn flag_of(wave: usize, flag: usize) -> usize {
    DATA + wave * FLAGS + flag
}

fn acquire(edge: &Edge, wave: usize, style: u64, rules: Rules, thread: &mut Vec<Step>) {
    let &Edge { from, flag, level, remote } = edge;
    let (word, value) = (flag_of(wave, flag) as u8, from as u32 + 1);
    let step = Step { kind: Kind::Await, word, value, order: Order::Acquire, level, remote };
    let is_remote = remote || flag == REMOTE_RELEASES;
    match (style >> 8) % 8 {
        0 => thread.push(Step { order: Order::SeqCst, ..step }),
        // Other wavefronts would add to the flag in their own caches.
        1 if flag != REMOTE_RELEASES => {
            thread.push(Step { kind: Kind::AwaitAdding, order: Order::AcqRel, ..step });
        }
        2 if rules.fences && !is_remote => {
            thread.push(Step { order: Order::Relaxed, ..step });
            thread.push(Step { kind: Kind::Fence, ..step });
        }
        _ => thread.push(step),
    }
}

fn release(flag: usize, index: usize, section: &Section, rules: Rules, thread: &mut Vec<Step>) {
    let remote = flag == REMOTE_RELEASES;
    let level = if remote { Level::Device } else { LEVELS[flag] };
    let (word, value) = (flag_of(section.wave, flag) as u8, index as u32 + 1);
    let step = Step { kind: Kind::Set, word, value, order: Order::Release, level, remote };
    match (section.style >> 16) % 8 {
        0 => thread.push(Step { order: Order::SeqCst, ..step }),
        1 => thread.push(Step { kind: Kind::Swap, order: Order::AcqRel, ..step }),
        2 if rules.fences && !remote => {
            thread.push(Step { kind: Kind::Fence, ..step });
            thread.push(Step { order: Order::Relaxed, ..step });
        }
        _ => thread.push(step),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For each step, the steps that happen before it, by number: its predecessors in its thread,
    /// the release that it waits for, and the steps before that release. If order is not
    /// transitive, only those of the releasing thread count among the latter.
    fn before(steps: &[(usize, Step)], transitive: bool) -> Vec<Vec<bool>> {
        let sets = |step: &Step| matches!(step.kind, Kind::Set | Kind::Swap);
        let mut before = vec![vec![false; steps.len()]; steps.len()];
        // Sections are in a legal order, and so are steps.
        for (at, (wave, step)) in steps.iter().enumerate() {
            for earlier in (0..at).filter(|&earlier| steps[earlier].0 == *wave) {
                before[at][earlier] = true;
                let known = before[earlier].clone();
                before[at].iter_mut().zip(known).for_each(|(a, b)| *a |= b);
            }
            if !step.awaits() {
                continue;
            }
            let of_flag =
                |(_, set): &(usize, Step)| sets(set) && set.word == step.word && set.value == step.value;
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
        let mut planner = Planner::default();
        let (mut conflicts, mut across_scopes) = (0, 0);
        for seed in 0..200 {
            let episode = Episode::new(seed);
            assert!(episode.checked() >= 64 && episode.sections.len() <= SECTIONS_MAX);
            let program = planner.plan(&episode, rules).clone();
            let mut at = [0; WAVES];
            let mut steps = Vec::new();
            // Section by section: up to the last step of each, which is a release or an
            // access.
            for section in 0..episode.sections.len() {
                let wave = episode.sections[section].wave;
                let rest = episode.sections[section + 1..].iter().any(|later| later.wave == wave);
                let thread = &program.threads[wave];
                let end = if rest { end_of(&episode, section, thread, at[wave]) } else { thread.len() };
                steps.extend(thread[at[wave]..end].iter().map(|&step| (wave, step)));
                at[wave] = end;
            }
            assert_eq!(steps.len(), program.threads.iter().map(Vec::len).sum::<usize>());
            let before = before(&steps, rules.transitive);
            for (b, (wave, later)) in steps.iter().enumerate() {
                for (a, (other, earlier)) in steps[..b].iter().enumerate() {
                    let of_data = usize::from(later.word) < DATA && earlier.word == later.word;
                    let loads = |step: &Step| step.kind == Kind::Load;
                    let conflict = of_data && wave != other && !(loads(earlier) && loads(later));
                    if conflict && later.kind != Kind::Fence && earlier.kind != Kind::Fence {
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

    /// The index of the first step behind a section in its thread, after the section's accesses and
    /// releases.
    fn end_of(episode: &Episode, section: usize, thread: &[Step], from: usize) -> usize {
        let accesses = episode.sections[section].accesses.len();
        let is_access = |step: &Step| {
            usize::from(step.word) < DATA && step.kind != Kind::Fence || step.kind == Kind::Count
        };
        let places = (from..thread.len()).filter(|&at| is_access(&thread[at]));
        let last = places.take(accesses).last().map_or(from, |at| at + 1);
        let value = section as u32 + 1;
        let releases = thread[last..].iter().take_while(|step| {
            matches!(step.kind, Kind::Set | Kind::Swap | Kind::Fence) && step.value == value
        });
        last + releases.count()
    }

    #[test]
    fn conflicting_accesses_are_ordered_at_any_scope() {
        for models in [&["hrf-indirect"][..], &["hrf-direct"], &["opencl"], &["opencl-rsp"], &["drf"]] {
            let (conflicts, across_scopes) = of_models(models);
            assert!(conflicts > 2_000 && across_scopes > 100, "{models:?}: {conflicts}, {across_scopes}");
        }
    }
}
