//! Episodes: random race-free programs in which every load has one correct value.
//!
//! An episode is a list of sections; in a section, one wavefront loads and stores some words. The
//! order of the list is a legal sequentially consistent execution, which defines the value of every
//! load. Conflicting sections are ordered by a release after the earlier section and an acquire
//! before the later one, at a randomly drawn scope that includes both. Any subset of an episode is
//! an episode, so failures are shrunk by removal.

use super::draws::Draws;
use proto::{Level, Order};
use smallvec::SmallVec;

/// The number of wavefronts of an episode; the last one is the host's thread.
pub(super) const WAVES: usize = 16;
pub(super) const HOST: usize = WAVES - 1;
/// The number of compute units of the machine, with one work-group each.
pub(super) const CUS: usize = 8;
/// The number of words for loads and stores.
pub(super) const DATA: usize = 24;
/// The first word that is an atomic: the data words from this one on are accessed atomically, at
/// varying scopes.
const FIRST_ATOM: usize = 20;
/// The number of flags of each wavefront: for its work-group, for the device, for the system, and
/// for remote releases.
pub(super) const FLAGS: usize = 4;
pub(super) const REMOTE_RELEASES: usize = 3;
pub(super) const FLAG_WORDS: usize = WAVES * FLAGS;
/// The number of the first counter word. There is one counter for the device and one for each
/// work-group.
pub(super) const FIRST_COUNTER: usize = DATA + FLAG_WORDS;
pub(super) const COUNTERS: usize = 1 + CUS;
/// The size of a word in bytes.
pub(super) const WORD: usize = 4;
/// The number of all words: data, flags and counters.
pub(super) const WORDS: usize = FIRST_COUNTER + COUNTERS;
/// The minimum number of checked values in an episode.
const CHECKED_MIN: usize = 64;
/// The minimum number of threads in an episode: eight wavefronts and possibly the host.
const THREADS_MIN: usize = 9;
/// The maximum number of sections of an episode. Each section contains a load.
pub(super) const SECTIONS_MAX: usize = CHECKED_MIN;

/// The compute unit of a wavefront, or `None` for the host.
pub(super) fn cu(wave: usize) -> Option<usize> {
    (wave != HOST).then_some(wave % CUS)
}

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AccessKind {
    Load,
    Store,
    /// A store by an exchange, which returns the old value.
    Swap,
    /// An addition of one to a counter.
    Count,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) kind: AccessKind,
    pub(super) word: u8,
    /// A random number that selects the scope and the order of an atomic access.
    pub(super) style: u8,
}

impl Access {
    /// Whether the access has a correct value to check.
    pub(super) fn is_checked(self) -> bool {
        self.kind != AccessKind::Store
    }

    /// Whether the accessed word is an atomic. All accesses to an atomic are atomic accesses, at
    /// random scopes.
    pub(super) fn is_atomic(self) -> bool {
        (FIRST_ATOM..DATA).contains(&usize::from(self.word))
    }

    /// The scope of an access to an atomic word. Conflicting accesses are ordered like data
    /// accesses, so any scope is correct.
    pub(super) fn level(self, wave: usize) -> Level {
        use Level::{Device, System, WorkGroup};
        match self.style % 8 {
            _ if wave == HOST => System,
            0..4 => WorkGroup,
            4..7 => Device,
            _ => System,
        }
    }

    /// The memory order of an access to an atomic word. Most are relaxed, because additional order
    /// could hide missing order elsewhere.
    pub(super) fn order(self) -> Order {
        match (self.style / 8 % 8, self.kind) {
            (6, _) => Order::SeqCst,
            (7, AccessKind::Load) => Order::Acquire,
            (7, AccessKind::Store) => Order::Release,
            (7, AccessKind::Swap | AccessKind::Count) => Order::AcqRel,
            _ => Order::Relaxed,
        }
    }
}

/// A list of accesses of one wavefront that conflict with no concurrent access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) wave: usize,
    pub(super) accesses: SmallVec<[Access; 12]>,
    /// A random number that selects the kind of synchronization.
    pub(super) style: u64,
}

/// The place in memory of each word, by the number of the word.
pub(super) type Places = [u8; WORDS];

/// The places in which words follow one another in numerical order.
pub(super) const IN_ORDER: Places = {
    let mut places = [0; WORDS];
    let mut word = 0;
    while word < WORDS {
        places[word] = word as u8;
        word += 1;
    }
    places
};

/// A random race-free program: a list of sections, and the place of each word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Episode {
    pub(super) sections: Vec<Section>,
    pub(super) places: Places,
}

/// One operation of a wavefront.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) kind: Kind,
    pub(super) word: u8,
    pub(super) value: u32,
    pub(super) order: Order,
    pub(super) level: Level,
    pub(super) remote: bool,
}

/// The kind of an operation, with the constraint on its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A load that must return exactly the value of its step.
    Load,
    /// A store of the value of its step.
    Store,
    /// An exchange that must return this old value.
    Exchange(u32),
    /// An addition of one to a counter. No other addition to it may return the same value.
    Count,
    /// A store that sets a flag.
    Set,
    /// An exchange that sets a flag.
    Swap,
    /// A load of a flag, repeated until the flag has the value of the step or a greater one.
    Await,
    /// An addition of zero to a flag, repeated until the flag has the value of the step or a
    /// greater one.
    AwaitAdding,
    /// A fence of the step's order and scope.
    Fence,
}

impl Episode {
    /// Draws the episode of a seed.
    pub(super) fn new(seed: u64) -> Episode {
        let mut draws = Draws::new(seed);
        let mut places = IN_ORDER;
        // Some words change places with words of the same or another kind.
        for _ in 0..[0, 0, 6, 24][draws.below(4)] {
            let (a, b) = (draws.below(WORDS), draws.below(WORDS));
            places.swap(a, b);
        }
        // The required number of different threads first, then any threads.
        let mut waves: [usize; WAVES] = core::array::from_fn(|wave| wave);
        let mut sections = Vec::with_capacity(THREADS_MIN + 2);
        let mut left = CHECKED_MIN;
        while left > 0 || sections.len() < THREADS_MIN {
            let at = sections.len();
            if at < WAVES {
                waves.swap(at, at + draws.below(WAVES - at));
            }
            let wave = waves.get(at).copied().unwrap_or_else(|| draws.below(WAVES));
            sections.push(section(wave, &mut left, at + 1 >= THREADS_MIN, &mut draws));
        }
        Episode { sections, places }
    }

    /// The number of values in the episode that are checked.
    pub(super) fn checked(&self) -> usize {
        self.sections
            .iter()
            .flat_map(|section| &section.accesses)
            .filter(|access| access.is_checked())
            .count()
    }
}

/// Draws a section of several accesses. The last section has at most `left` checked accesses.
fn section(wave: usize, left: &mut usize, may_be_last: bool, draws: &mut Draws) -> Section {
    let mut accesses = SmallVec::new();
    let base = draws.below(DATA);
    for at in 0..7 + draws.below(5) {
        let draw = draws.next();
        let word = (base + (draw % 6) as usize) % DATA;
        let (style, coin) = ((draw >> 8) as u8, draw >> 16 & 1 == 0);
        let access = match draw >> 32 & 15 {
            0 if wave != HOST && at > 0 => {
                let counter = if coin { 0 } else { 1 + wave % CUS };
                Access { kind: AccessKind::Count, word: (FIRST_COUNTER + counter) as u8, style }
            }
            1..4 if at > 0 => {
                let kind = if word >= FIRST_ATOM && coin { AccessKind::Swap } else { AccessKind::Store };
                Access { kind, word: word as u8, style }
            }
            _ => Access { kind: AccessKind::Load, word: word as u8, style },
        };
        *left = left.saturating_sub(usize::from(access.is_checked()));
        accesses.push(access);
        if may_be_last && *left == 0 {
            break;
        }
    }
    Section { wave, accesses, style: draws.next() }
}

impl Step {
    /// Whether the step waits for a flag.
    pub(super) fn awaits(&self) -> bool {
        matches!(self.kind, Kind::Await | Kind::AwaitAdding)
    }

    /// Whether the step may overlap with others of its wavefront.
    pub(super) fn is_plain(&self) -> bool {
        self.order == Order::Plain
    }

    /// The number of the flag that the step accesses, among all flags.
    pub(super) fn flag(&self) -> usize {
        usize::from(self.word) - DATA
    }

    /// The step as text for a report.
    pub(super) fn text(&self) -> String {
        let name = name(usize::from(self.word));
        let Step { value, order, level, .. } = self;
        let remote = if self.remote { "remote " } else { "" };
        let how = format!("{remote}{order:?} {level:?}");
        let of_atom = if self.is_plain() { String::new() } else { format!(" ({how})") };
        match self.kind {
            Kind::Load => format!("load {name}, must be {value}{of_atom}"),
            Kind::Store => format!("store {name} = {value}{of_atom}"),
            Kind::Exchange(old) => format!("exchange {name} = {value}, must be {old} before ({how})"),
            Kind::Count => format!("add 1 to {name} ({how})"),
            Kind::Set => format!("set {name} = {value} ({how})"),
            Kind::Swap => format!("exchange {name} = {value} ({how})"),
            Kind::Await => format!("wait until {name} >= {value} ({how})"),
            Kind::AwaitAdding => format!("add 0 to {name} until {name} >= {value} ({how})"),
            Kind::Fence => format!("fence ({how})"),
        }
    }
}

/// The name of a word in a report.
pub(super) fn name(word: usize) -> String {
    match word {
        word if word < FIRST_ATOM => format!("d{word}"),
        word if word < DATA => format!("a{word}"),
        word if word < FIRST_COUNTER => {
            let flag = word - DATA;
            let of = ["wg", "dev", "sys", "rem"][flag % FLAGS];
            format!("f{}.{of}", flag / FLAGS)
        }
        FIRST_COUNTER => String::from("count.dev"),
        word => format!("count.wg{}", word - FIRST_COUNTER - 1),
    }
}
