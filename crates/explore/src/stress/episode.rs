//! Episodes: programs without data races whose every load has one right value.
//!
//! An episode is a list of sections: a wavefront loads and stores some words of
//! data. The list is the order in which a sequentially consistent machine could
//! run them, so it says what every load must find. Sections that conflict are
//! ordered by a release behind the earlier and an acquire before the later one,
//! at a scope that holds both; which, is drawn. Whatever is taken out of an
//! episode, what is left is one: that is how a failure is made small.

use super::draws::Draws;
use super::rules::Rules;
use proto::{Level, Order};
use std::collections::{BTreeMap, BTreeSet};

/// Wavefronts of an episode; the last of them is the thread of the host.
pub(super) const WAVES: usize = 16;
pub(super) const HOST: usize = WAVES - 1;
/// Compute units of the machine; a work-group stands on each.
pub(super) const CUS: usize = 8;
/// Words of data.
pub(super) const DATA: usize = 24;
/// Flags of a wavefront: for its work-group, the device, the system, and for
/// remote releases.
const FLAGS: usize = 4;
const REMOTE_RELEASES: usize = 3;
/// Words that count: one of the device, and one of each work-group.
const COUNTERS: usize = 1 + CUS;
/// All words.
pub(super) const WORDS: usize = DATA + WAVES * FLAGS + COUNTERS;
/// How many loaded values of an episode are checked, at least.
const CHECKED_MIN: usize = 64;
/// How many threads an episode has, at least: eight wavefronts, and perhaps the host.
const THREADS_MIN: usize = 9;

/// The compute unit of a wavefront, if it has one.
pub(super) fn cu(wave: usize) -> Option<usize> {
    (wave != HOST).then_some(wave % CUS)
}

/// What a wavefront does with a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Loads a word of data.
    Load(usize),
    /// Stores a word of data.
    Store(usize),
    /// Adds one to the counter of the device, or of its work-group.
    Count(Level),
}

/// Accesses of one wavefront that nobody else conflicts with meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) wave: usize,
    pub(super) accesses: Vec<Access>,
    /// Decides how it synchronizes.
    pub(super) style: u64,
}

/// A program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Episode {
    pub(super) sections: Vec<Section>,
    /// Where each word stands.
    pub(super) places: Vec<usize>,
}

/// One operation of a wavefront.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) kind: Kind,
    pub(super) word: usize,
    pub(super) value: u32,
    pub(super) order: Order,
    pub(super) level: Level,
    pub(super) remote: bool,
}

/// What an operation does, and what is known of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Loads data: this very value.
    Load,
    /// Stores data.
    Store,
    /// Adds one; nobody else gets the same value.
    Count,
    /// Sets a flag.
    Set,
    /// Sets a flag by an exchange.
    Swap,
    /// Loads a flag until it has this value or a later one.
    Await,
    /// The same, by adding nothing to it.
    AwaitAdding,
    /// Orders.
    Fence,
}

impl Episode {
    /// The episode of a seed.
    pub(super) fn new(seed: u64) -> Episode {
        let mut draws = Draws::new(seed);
        let mut places: Vec<usize> = (0..WORDS).collect();
        // Data beside data, or beside flags.
        for _ in 0..[0, 0, 6, 24][draws.below(4)] {
            let (a, b) = (draws.below(WORDS), draws.below(WORDS));
            places.swap(a, b);
        }
        // As many different threads as an episode must have, and then any.
        let mut waves: Vec<usize> = (0..WAVES).collect();
        let (mut sections, mut checked) = (Vec::new(), 0);
        while checked < CHECKED_MIN || sections.len() < THREADS_MIN {
            let others = sections.len()..WAVES;
            if let 1.. = others.len() {
                waves.swap(others.start, others.start + draws.below(others.len()));
            }
            let wave = *waves.get(sections.len()).unwrap_or(&draws.below(WAVES));
            let base = draws.below(DATA);
            let accesses: Vec<Access> = (0..8 + draws.below(5))
                .map(|_| {
                    let word = (base + draws.below(6)) % DATA;
                    match draws.below(16) {
                        0 if wave != HOST && draws.chance(128) => Access::Count(Level::Device),
                        0 if wave != HOST => Access::Count(Level::WorkGroup),
                        1..4 => Access::Store(word),
                        _ => Access::Load(word),
                    }
                })
                .collect();
            checked += accesses.iter().filter(|access| !matches!(access, Access::Store(_))).count();
            sections.push(Section { wave, accesses, style: draws.next() });
        }
        Episode { sections, places }
    }

    /// How many loaded values are checked.
    pub(super) fn checked(&self) -> usize {
        let accesses = self.sections.iter().flat_map(|section| &section.accesses);
        accesses.filter(|access| !matches!(access, Access::Store(_))).count()
    }

    /// What each wavefront does.
    pub(super) fn threads(&self, rules: Rules) -> Vec<Vec<Step>> {
        let ordered = Ordered::new(&self.sections, rules);
        let mut values = [0; DATA];
        let mut last_value = 0;
        let mut threads = vec![Vec::new(); WAVES];
        for (index, section) in self.sections.iter().enumerate() {
            let thread = &mut threads[section.wave];
            for edge in ordered.before.get(&index).into_iter().flatten() {
                acquire(edge, self.sections[edge.from].wave, section.style, rules, thread);
            }
            for &access in &section.accesses {
                thread.push(plain(access, section.wave, &mut values, &mut last_value));
            }
            for &(flag, remote) in ordered.behind.get(&index).into_iter().flatten() {
                release(flag, remote, index, section, rules, thread);
            }
        }
        threads
    }
}

fn plain(access: Access, wave: usize, values: &mut [u32; DATA], last_value: &mut u32) -> Step {
    let step = |kind, word, value| {
        let (order, level, remote) = (Order::Plain, Level::WorkGroup, false);
        Step { kind, word, value, order, level, remote }
    };
    match access {
        Access::Load(word) => step(Kind::Load, word, values[word]),
        Access::Store(word) => {
            *last_value += 1;
            values[word] = *last_value;
            step(Kind::Store, word, *last_value)
        }
        Access::Count(level) => {
            let counter = if level == Level::Device { 0 } else { 1 + wave % CUS };
            let order = Order::Relaxed;
            Step { level, order, ..step(Kind::Count, DATA + WAVES * FLAGS + counter, 1) }
        }
    }
}

/// An order between two sections: by which flag of the earlier one.
#[derive(Clone, Copy, Debug)]
struct Edge {
    from: usize,
    flag: usize,
    /// The scope at which it is acquired, and whether remotely.
    level: Level,
    remote: bool,
}

const LEVELS: [Level; 3] = [Level::WorkGroup, Level::Device, Level::System];

/// Who must wait for whom.
struct Ordered {
    before: BTreeMap<usize, Vec<Edge>>,
    /// The flags that a section sets, and whether by remote operations.
    behind: BTreeMap<usize, BTreeSet<(usize, bool)>>,
}

impl Ordered {
    fn new(sections: &[Section], rules: Rules) -> Ordered {
        let mut ordered = Ordered { before: BTreeMap::new(), behind: BTreeMap::new() };
        // By wavefront: how far it knows of each other one.
        let mut known = [[0; WAVES]; WAVES];
        let mut at_end: Vec<[usize; WAVES]> = Vec::new();
        let mut writer: [Option<usize>; DATA] = [None; DATA];
        let mut readers: Vec<Vec<usize>> = vec![Vec::new(); DATA];
        for (index, section) in sections.iter().enumerate() {
            let mut earlier = BTreeSet::new();
            for &access in &section.accesses {
                match access {
                    Access::Load(word) => earlier.extend(writer[word]),
                    Access::Store(word) => {
                        earlier.extend(writer[word]);
                        earlier.extend(readers[word].iter().copied());
                    }
                    Access::Count(_) => {}
                }
            }
            for &from in earlier.iter().rev() {
                let other = sections[from].wave;
                if other == section.wave || known[section.wave][other] > from {
                    continue;
                }
                let style = section.style ^ sections[from].style;
                let edge = edge(from, (cu(other), cu(section.wave)), style, rules);
                ordered.before.entry(index).or_default().push(edge);
                let is_remote = edge.flag == REMOTE_RELEASES;
                ordered.behind.entry(from).or_default().insert((edge.flag, is_remote));
                known[section.wave][other] = from + 1;
                if rules.transitive {
                    let theirs = at_end[from];
                    known[section.wave].iter_mut().zip(theirs).for_each(|(a, b)| *a = (*a).max(b));
                }
            }
            known[section.wave][section.wave] = index + 1;
            at_end.push(known[section.wave]);
            for &access in &section.accesses {
                match access {
                    Access::Load(word) => readers[word].push(index),
                    Access::Store(word) => {
                        writer[word] = Some(index);
                        readers[word].clear();
                    }
                    Access::Count(_) => {}
                }
            }
        }
        ordered
    }
}

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
    let word = flag_of(wave, flag);
    let step = Step { kind: Kind::Await, word, value: from as u32 + 1, order: Order::Acquire, level, remote };
    let is_remote = remote || flag == REMOTE_RELEASES;
    match (style >> 8) % 8 {
        0 => thread.push(Step { order: Order::SeqCst, ..step }),
        // Others would add to the flag in caches of their own.
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

fn release(flag: usize, remote: bool, index: usize, section: &Section, rules: Rules, thread: &mut Vec<Step>) {
    let level = if remote { Level::Device } else { LEVELS[flag] };
    let (word, value) = (flag_of(section.wave, flag), index as u32 + 1);
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

impl Step {
    /// Does it wait for a flag?
    pub(super) fn awaits(&self) -> bool {
        matches!(self.kind, Kind::Await | Kind::AwaitAdding)
    }

    /// The flag that it sets or waits for: a number among all flags.
    pub(super) fn flag(&self) -> usize {
        self.word - DATA
    }

    /// How it reads in a report.
    pub(super) fn text(&self) -> String {
        let name = match self.word {
            word if word < DATA => format!("d{word}"),
            word if word < DATA + WAVES * FLAGS => {
                let flag = word - DATA;
                let of = ["wg", "dev", "sys", "rem"][flag % FLAGS];
                format!("f{}.{of}", flag / FLAGS)
            }
            word if word == DATA + WAVES * FLAGS => String::from("count.dev"),
            word => format!("count.wg{}", word - DATA - WAVES * FLAGS - 1),
        };
        let Step { value, order, level, .. } = self;
        let remote = if self.remote { "remote " } else { "" };
        let how = format!("{remote}{order:?} {level:?}");
        match self.kind {
            Kind::Load => format!("load {name}, must be {value}"),
            Kind::Store => format!("store {name} = {value}"),
            Kind::Count => format!("add 1 to {name} ({how})"),
            Kind::Set => format!("set {name} = {value} ({how})"),
            Kind::Swap => format!("exchange {name} = {value} ({how})"),
            Kind::Await => format!("wait until {name} >= {value} ({how})"),
            Kind::AwaitAdding => format!("add 0 to {name} until {name} >= {value} ({how})"),
            Kind::Fence => format!("fence ({how})"),
        }
    }
}
