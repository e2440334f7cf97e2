//! The search of all states. It is breadth-first, so that counterexamples are shortest.
//!
//! The search proceeds in rounds. In a round, workers expand states with the known parts (node
//! states); then one worker computes the unknown parts, in order; then the successors are inserted
//! into the shards of the store, each shard by one worker, in order. The numbers of parts and
//! states, and therefore all results, are the same for any number of workers.

use core::fmt;
use std::sync::Arc;

use proto::words::counted;

use crate::machine::known::{Expansion, Known, Offer, Sink};
use crate::machine::moves::Move;
use crate::search::store::{SHARDS, Shard, StateId, Store, hash, shard_of};

/// The number of states in a portion. The search divides the states of a round (a set of states
/// that are expanded together) into portions, and a worker expands one portion at a time.
const ITEM_STATES: usize = 512;
/// The maximum number of portions in a round of the search. A round is a set of states that are
/// expanded together, and a portion is a part of this set.
const ROUND_ITEMS: usize = 64;
/// The minimum number of states in a round (a set of states that are expanded together) that
/// several workers share. One worker expands a smaller round alone.
const WORKERS_FROM_STATES: usize = 1024;

/// A system to search: a machine with a program.
pub(crate) trait System {
    /// The known parts (node states) and the effects of their moves.
    fn known(&self) -> &Known;
    /// Computes everything that the expansion of a state needs.
    fn learn(&mut self, state: &[u32]);
    /// Whether the search must restart, because an assumption about the program turned out to be
    /// wrong.
    fn is_stale(&self) -> bool;
    /// Checks a state in which the program has ended.
    fn end(&mut self, state: &[u32], id: StateId) -> Result<(), Arc<str>>;
    /// Checks a state without moves in which the program has not ended.
    fn stuck(&mut self, state: &[u32]) -> Result<(), Arc<str>>;
    /// The approximate size in bytes of the known parts (node states).
    fn bytes(&self) -> usize;
}

/// The limits of a search.
pub struct Limits<'a> {
    /// The maximum size of the search in bytes.
    pub memory_bytes: u64,
    /// The maximum number of states.
    pub states_max: u64,
    /// The number of host threads that search.
    pub workers: usize,
    /// A function that the search calls now and then; if it returns true, the search ends early.
    pub stop: Box<dyn FnMut() -> bool + 'a>,
}

impl Default for Limits<'_> {
    fn default() -> Self {
        Limits { memory_bytes: u64::MAX, states_max: u64::MAX, workers: 1, stop: Box::new(|| false) }
    }
}

impl fmt::Debug for Limits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limits").field("memory_bytes", &self.memory_bytes).finish_non_exhaustive()
    }
}

/// The reason why a search is incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incomplete {
    /// The search exceeds this memory limit, in bytes.
    Memory(u64),
    /// The search exceeds this number of states.
    States(u64),
    /// The caller stopped the search.
    Stopped,
}

impl fmt::Display for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Incomplete::Memory(bytes) => {
                write!(f, "the search needs more than {} of memory", counted(*bytes, "byte"))
            }
            Incomplete::States(states) => write!(f, "the search has more than {}", counted(*states, "state")),
            Incomplete::Stopped => f.write_str("stopped before the end"),
        }
    }
}

/// A fault, with the state in which it occurs.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) state: StateId,
    /// The faulty move, or `None` if the state itself is at fault.
    pub(crate) mv: Option<Move>,
    pub(crate) why: Arc<str>,
    pub(crate) is_stuck: bool,
}

/// The result of a search.
#[derive(Debug)]
pub(crate) struct Searched {
    pub(crate) store: Store,
    pub(crate) transitions: u64,
    /// The largest distance of a state from the first state, in moves.
    pub(crate) depth: u32,
    pub(crate) problem: Option<Problem>,
    pub(crate) incomplete: Option<Incomplete>,
    /// Whether some path may lead back to one of its own states.
    pub(crate) may_cycle: bool,
    /// Whether a core had to wait because a queue was full.
    pub(crate) throttled: bool,
    pub(crate) is_stale: bool,
}

/// A portion of the states that are expanded together, and the successors of these states. Each
/// portion is expanded by one worker.
#[derive(Debug, Default)]
struct Portion {
    states: Vec<StateId>,
    /// The successors, each followed by the number of its parent.
    records: Vec<u32>,
    hashes: Vec<u64>,
    unknown: Vec<StateId>,
    ends: Vec<StateId>,
    stuck: Vec<StateId>,
    problem: Option<(StateId, Move, u32)>,
    throttled: bool,
    next: Vec<u32>,
}

struct Records<'a> {
    records: &'a mut Vec<u32>,
    hashes: &'a mut Vec<u64>,
    throttled: &'a mut bool,
    parent: u32,
}

impl Sink for Records<'_> {
    #[inline]
    fn go(&mut self, _: Offer, next: &[u32]) {
        self.records.extend_from_slice(next);
        self.records.push(self.parent);
        self.hashes.push(hash(next));
    }
    fn wait(&mut self, _mv: Move) {
        *self.throttled = true;
    }
}

impl Portion {
    fn clear(&mut self) {
        self.states.clear();
        self.records.clear();
        self.hashes.clear();
        self.unknown.clear();
        self.ends.clear();
        self.stuck.clear();
        self.problem = None;
    }

    fn expand_all(&mut self, known: &Known, store: &Store) {
        for at in 0..self.states.len() {
            let id = self.states[at];
            if !self.expand(known, store.state(id), id) {
                self.unknown.push(id);
            }
        }
    }

    /// Expands a state. Returns false if the effect of a move is not known yet.
    #[inline]
    fn expand(&mut self, known: &Known, state: &[u32], id: StateId) -> bool {
        let (records, hashes) = (self.records.len(), self.hashes.len());
        let mut sink = Records {
            records: &mut self.records,
            hashes: &mut self.hashes,
            throttled: &mut self.throttled,
            parent: id.0,
        };
        match known.expand(state, &mut self.next, &mut sink) {
            Expansion::Goes => return true,
            Expansion::End => self.ends.push(id),
            Expansion::Stuck => self.stuck.push(id),
            Expansion::Fault(mv, fault) => _ = self.problem.get_or_insert((id, mv, fault)),
            Expansion::Unknown => {
                self.records.truncate(records);
                self.hashes.truncate(hashes);
                return false;
            }
        }
        true
    }
}

/// Searches all states reachable from `start`.
pub(crate) fn search(system: &mut dyn System, start: &[u32], limits: &mut Limits<'_>) -> Searched {
    let mut searched = Searched {
        store: Store::new(start.len()),
        transitions: 0,
        depth: 0,
        problem: None,
        incomplete: None,
        may_cycle: false,
        throttled: false,
        is_stale: false,
    };
    let first: Vec<u32> = start.iter().copied().chain([StateId::NONE.0]).collect();
    let hash = hash(start);
    searched.store.shards[shard_of(hash)].insert(hash, &first);
    let mut expanded = [0usize; SHARDS];
    let mut portions: Vec<Portion> = Vec::new();
    loop {
        let ends: Vec<usize> = searched.store.shards.iter().map(Shard::len).collect();
        if ends.iter().zip(&expanded).all(|(end, done)| end == done) {
            return searched;
        }
        while ends.iter().zip(&expanded).any(|(end, done)| done < end) {
            let count = take_round(&mut portions, &mut expanded, &ends);
            round(system, &mut searched, &mut portions[..count], &ends, limits.workers);
            if searched.problem.is_some() || searched.is_stale {
                return searched;
            }
            searched.incomplete = limit(&searched, system, limits);
            if searched.incomplete.is_some() {
                return searched;
            }
        }
        searched.depth += 1;
    }
}

fn limit(searched: &Searched, system: &dyn System, limits: &mut Limits<'_>) -> Option<Incomplete> {
    let bytes = (searched.store.bytes() + system.bytes()) as u64;
    if bytes > limits.memory_bytes {
        return Some(Incomplete::Memory(limits.memory_bytes));
    }
    let states = searched.store.len() as u64;
    if states > limits.states_max || searched.store.shards.iter().any(Shard::is_full) {
        return Some(Incomplete::States(limits.states_max.min(states)));
    }
    (limits.stop)().then_some(Incomplete::Stopped)
}

/// Divides the next states at the current distance from the first state into portions (sets of
/// states that one worker expands). Returns the number of portions.
fn take_round(portions: &mut Vec<Portion>, expanded: &mut [usize; SHARDS], ends: &[usize]) -> usize {
    let mut count = 0;
    for (shard, done) in expanded.iter_mut().enumerate() {
        while *done < ends[shard] && count < ROUND_ITEMS {
            if portions.len() == count {
                portions.push(Portion::default());
            }
            let portion = &mut portions[count];
            portion.clear();
            let to = ends[shard].min(*done + ITEM_STATES);
            portion.states.extend((*done..to).map(|place| StateId::new(shard, place)));
            *done = to;
            count += 1;
        }
    }
    count
}

fn round(
    system: &mut dyn System,
    searched: &mut Searched,
    portions: &mut [Portion],
    ends: &[usize],
    workers: usize,
) {
    let states: usize = portions.iter().map(|p| p.states.len()).sum();
    let workers = if states < WORKERS_FROM_STATES { 1 } else { workers.max(1) };
    expand(system.known(), &searched.store, portions, workers);
    for portion in portions.iter_mut() {
        for id in core::mem::take(&mut portion.unknown) {
            let state = searched.store.state(id);
            system.learn(state);
            if !portion.expand(system.known(), state, id) {
                let why = Arc::from("an error of the explorer: the effect of a move stays unknown");
                searched.problem = Some(Problem { state: id, mv: None, why, is_stuck: false });
                return;
            }
        }
        if system.is_stale() {
            searched.is_stale = true;
            return;
        }
        searched.throttled |= portion.throttled;
        searched.transitions += portion.hashes.len() as u64;
    }
    let problem = portions.iter().find_map(|p| p.problem);
    if let Some((state, mv, fault)) = problem {
        let why = system.known().faults[fault as usize].clone();
        searched.problem = Some(Problem { state, mv: Some(mv), why, is_stuck: false });
        return;
    }
    for &id in portions.iter().flat_map(|p| &p.stuck) {
        if let Err(why) = system.stuck(searched.store.state(id)) {
            searched.problem = Some(Problem { state: id, mv: None, why, is_stuck: true });
            return;
        }
    }
    for &id in portions.iter().flat_map(|p| &p.ends) {
        if let Err(why) = system.end(searched.store.state(id), id) {
            searched.problem = Some(Problem { state: id, mv: None, why, is_stuck: false });
            return;
        }
    }
    searched.may_cycle |= insert(&mut searched.store, portions, ends, workers);
}

fn expand(known: &Known, store: &Store, portions: &mut [Portion], workers: usize) {
    if workers == 1 {
        portions.iter_mut().for_each(|portion| portion.expand_all(known, store));
        return;
    }
    std::thread::scope(|scope| {
        let mut shares: Vec<Vec<&mut Portion>> = (0..workers).map(|_| Vec::new()).collect();
        portions.iter_mut().enumerate().for_each(|(at, portion)| shares[at % workers].push(portion));
        for share in shares {
            scope.spawn(move || share.into_iter().for_each(|portion| portion.expand_all(known, store)));
        }
    });
}

/// A worker starts the accesses to the store of states for this number of successors together.
const TOGETHER: usize = 16;

/// The shards (parts of the store of states) that one worker fills, by shard number. `None` for the
/// shards of other workers.
type Share<'a> = Vec<Option<&'a mut Shard>>;

/// Inserts the successors into the store. Returns true if some successor was known already and is
/// not further from the first state than its new parent, so that a cycle is possible.
fn insert(store: &mut Store, portions: &[Portion], ends: &[usize], workers: usize) -> bool {
    let stride = store.stride();
    let mut shares: Vec<Share<'_>> = (0..workers).map(|_| Vec::new()).collect();
    for (at, shard) in store.shards.iter_mut().enumerate() {
        shares.iter_mut().for_each(|share| share.push(None));
        shares[at % workers][at] = Some(shard);
    }
    let work = |mut share: Share<'_>| {
        portions.iter().fold(false, |is_back, portion| is_back | put_in(&mut share, portion, stride, ends))
    };
    if let [_] = *shares {
        return shares.into_iter().any(work);
    }
    std::thread::scope(|scope| {
        let handles: Vec<_> = shares.into_iter().map(|share| scope.spawn(move || work(share))).collect();
        // A worker panics only if an invariant is broken. The panic is then passed on.
        handles.into_iter().map(|handle| handle.join().expect("no worker panics")).fold(false, |a, b| a | b)
    })
}

/// Inserts into the store those successors of a portion (a set of expanded states) that belong to
/// the shards (parts of the store) of this worker. Returns true if a cycle is possible.
fn put_in(share: &mut Share<'_>, portion: &Portion, stride: usize, ends: &[usize]) -> bool {
    let mut is_back = false;
    let hashes = portion.hashes.chunks(TOGETHER);
    for (hashes, records) in hashes.zip(portion.records.chunks(TOGETHER * stride)) {
        // Almost every access to a table or a state misses the caches of the host. All accesses
        // are started first, so that the misses overlap.
        let mut touched = 0;
        for &hash in hashes {
            if let Some(shard) = &share[shard_of(hash)] {
                touched ^= shard.touch_slot(hash);
            }
        }
        for &hash in hashes {
            if let Some(shard) = &share[shard_of(hash)] {
                touched ^= shard.touch_state(stride, hash);
            }
        }
        core::hint::black_box(touched);
        for (&hash, record) in hashes.iter().zip(records.chunks_exact(stride)) {
            let at = shard_of(hash);
            if let Some(shard) = &mut share[at] {
                let known = shard.insert(hash, record);
                is_back |= known.is_some_and(|place| place < ends[at]);
            }
        }
    }
    is_back
}
