//! Livelock: runs that never end although every move gets its turn.
//!
//! The search works on the strongly connected components of the graph of all states. An infinite
//! run stays in one component from some point on. The run is fair if each move that is always
//! offered is eventually made. A fair infinite run therefore exists if a component has no exit, or
//! if every move that all of its states offer is made within it. A fair run may omit optional
//! evictions for ever. Time and periodic timers may go on after all threads have ended.

use core::ops::ControlFlow;

use rustc_hash::FxHashMap;

use crate::components::{Graph, components};
use crate::machine::known::{Known, Offer, Repeats, Sink};
use crate::machine::moves::Move;
use crate::search::store::{SHARDS, StateId, Store};

/// An infinite run: one of its states, and the reason why the run never ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Endless {
    pub(crate) state: StateId,
    pub(crate) why: &'static str,
    /// The number of states in the strongly connected component in which the run stays.
    pub(crate) states: usize,
}

const NO_WAY_OUT: &str = "a state has no path to an end of the program";
const STARVES: &str =
    "a thread starves: the run repeats the same states, although no possible event is delayed for ever";

/// The edges from a state that may be in a strongly connected component.
struct Edges<'a> {
    store: &'a Store,
    repeats: &'a Repeats,
    firsts: &'a [u32; SHARDS],
    to: &'a mut Vec<u32>,
}

impl Sink for Edges<'_> {
    fn go(&mut self, offer: Offer, next: &[u32]) {
        // The search for the state takes most of the time.
        if self.repeats.has(offer.at)
            && let Some(id) = self.store.find(next)
        {
            self.to.push(self.firsts[id.shard()] + id.place() as u32);
        }
    }
    fn wait(&mut self, _mv: Move) {}
}

/// The identity of a move for fairness; see [`Offer::identity`].
type Identity = (Move, Option<u32>);

/// The moves that the states of a strongly connected component offer.
struct Offered<'s, 'a> {
    states: &'s States<'a>,
    /// The component of each state, and the component in question.
    component: &'s [u32],
    here: u32,
    /// For each move that a run must make eventually: the number of states that offer it, and whether
    /// one of them makes it within the component.
    moves: FxHashMap<Identity, (usize, bool)>,
    /// Whether a move leads out of the component.
    leaves: bool,
}

impl Sink for Offered<'_, '_> {
    fn go(&mut self, offer: Offer, next: &[u32]) {
        let mut entry = (!offer.is_optional).then(|| self.moves.entry(offer.identity()).or_default());
        if let Some((count, _)) = &mut entry {
            *count += 1;
        }
        let is_made = entry.as_ref().is_none_or(|(_, is_made)| *is_made);
        if !self.states.repeats.has(offer.at) {
            self.leaves = true;
        } else if !(is_made && self.leaves)
            && let Some(id) = self.states.store.find(next)
        {
            let is_inside = self.component[self.states.number(id) as usize] == self.here;
            self.leaves |= !is_inside;
            if let Some((_, is_made)) = &mut entry {
                *is_made |= is_inside;
            }
        }
    }
    fn wait(&mut self, mv: Move) {
        self.moves.entry((mv, None)).or_default().0 += 1;
    }
}

/// The graph of the states of a finished search. The states have new numbers without gaps.
struct States<'a> {
    known: &'a Known,
    store: &'a Store,
    repeats: Repeats,
    /// The number of the first state of each shard (part of the store of states).
    firsts: [u32; SHARDS],
    next: Vec<u32>,
    visited: u32,
    stop: &'a mut dyn FnMut() -> bool,
}

/// Searches for an infinite run. The outer `None` means that the caller stopped the search, the
/// inner `None` that no infinite run exists.
pub(crate) fn endless(
    known: &Known,
    store: &Store,
    stop: &mut dyn FnMut() -> bool,
) -> Option<Option<Endless>> {
    // The search has reported every state without a move in which the program has not ended.
    let Some(repeats) = known.repeats() else { return Some(None) };
    let mut states = States::new(known, store, repeats, stop);
    match components(&mut states, store.len()) {
        ControlFlow::Continue(_) => Some(None),
        ControlFlow::Break(found) => found.map(Some),
    }
}

impl Graph for States<'_> {
    /// The infinite run, or `None` if the caller stopped the search.
    type Break = Option<Endless>;

    fn edges(&mut self, number: u32, to: &mut Vec<u32>) -> ControlFlow<Option<Endless>> {
        self.visited += 1;
        if self.visited.is_multiple_of(1 << 16) && (self.stop)() {
            return ControlFlow::Break(None);
        }
        let state = self.store.state(self.id(number));
        let mut sink = Edges { store: self.store, repeats: &self.repeats, firsts: &self.firsts, to };
        self.known.expand(state, &mut self.next, &mut sink);
        ControlFlow::Continue(())
    }

    fn close(&mut self, part: &[u32], component: &[u32]) -> ControlFlow<Option<Endless>> {
        match self.judge(part, component) {
            Some(endless) => ControlFlow::Break(Some(endless)),
            None => ControlFlow::Continue(()),
        }
    }
}

impl<'a> States<'a> {
    fn new(
        known: &'a Known,
        store: &'a Store,
        repeats: Repeats,
        stop: &'a mut dyn FnMut() -> bool,
    ) -> States<'a> {
        let mut firsts = [0u32; SHARDS];
        let mut count = 0u32;
        for (first, shard) in firsts.iter_mut().zip(&store.shards) {
            *first = count;
            count += shard.len() as u32;
        }
        States { known, store, repeats, firsts, next: Vec::new(), visited: 0, stop }
    }

    fn id(&self, number: u32) -> StateId {
        let shard = self.firsts.partition_point(|&first| first <= number) - 1;
        StateId::new(shard, (number - self.firsts[shard]) as usize)
    }

    fn number(&self, id: StateId) -> u32 {
        self.firsts[id.shard()] + id.place() as u32
    }

    /// Whether all threads have ended in `part` (a strongly connected component of the states), so
    /// that only time or periodic timers keep the machine from rest.
    fn only_turns(&self, part: &[u32], moves: &FxHashMap<Identity, (usize, bool)>) -> bool {
        moves.keys().any(|(mv, _)| mv.is_periodic() || mv.is_tick())
            && part.iter().all(|&state| self.known.is_done(self.store.state(self.id(state))))
    }

    /// Judges whether `part` (a strongly connected component of the states) has a fair infinite
    /// run.
    fn judge(&self, part: &[u32], component: &[u32]) -> Option<Endless> {
        let here = component[part[0] as usize];
        let mut offered =
            Offered { states: self, component, here, moves: FxHashMap::default(), leaves: false };
        let mut next = Vec::new();
        for &state in part {
            self.known.expand(self.store.state(self.id(state)), &mut next, &mut offered);
        }
        let Offered { moves, leaves, .. } = offered;
        let is_fair = moves.values().all(|&(count, is_made)| is_made || count < part.len());
        let why = match (leaves, is_fair) {
            (false, _) => NO_WAY_OUT,
            (true, true) if self.only_turns(part, &moves) => return None,
            (true, true) => STARVES,
            (true, false) => return None,
        };
        let nearest = part.iter().copied().min_by_key(|&s| (self.store.path(self.id(s)).len(), s))?;
        Some(Endless { state: self.id(nearest), why, states: part.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Subject;
    use crate::programs::corpus::SHIPPED;
    use crate::search::engine::Limits;
    use crate::search::{Explorer, Requirements};
    use crate::verify::{Test, machines};

    /// The components of the states, in which each state leads to all others.
    struct Circles<'a> {
        states: States<'a>,
        found: Vec<Vec<u32>>,
    }

    impl Graph for Circles<'_> {
        type Break = Option<Endless>;
        fn edges(&mut self, number: u32, to: &mut Vec<u32>) -> ControlFlow<Option<Endless>> {
            self.states.edges(number, to)
        }
        fn close(&mut self, part: &[u32], _: &[u32]) -> ControlFlow<Option<Endless>> {
            let mut part = part.to_vec();
            part.sort_unstable();
            self.found.push(part);
            ControlFlow::Continue(())
        }
    }

    fn circles(known: &Known, store: &Store, repeats: Repeats) -> Vec<Vec<u32>> {
        let mut stop = || false;
        let states = States::new(known, store, repeats, &mut stop);
        let mut circles = Circles { states, found: Vec::new() };
        assert!(components(&mut circles, store.len()).is_continue());
        circles.found.sort();
        circles.found
    }

    /// Compares the circles among all moves with those among the moves that may be repeated. Returns
    /// the numbers of searches with circles, without circles, and without moves that may be repeated.
    fn compare(subject: &Subject, names: &[&str]) -> [usize; 3] {
        let mut counts = [0; 3];
        for name in names {
            let (_, text) = SHIPPED.iter().find(|(path, _)| path == name).expect("it is shipped");
            let test = Test::read(name, text).expect("it is a test");
            for bounds in machines() {
                let mut explorer = Explorer::new(subject, bounds, None);
                for placement in &test.placements {
                    let requirements = Requirements { allowed: None, may_block: true };
                    let mut limits = Limits { states_max: 30_000, ..Limits::default() };
                    let searched = explorer.search(&test.program(), placement, &requirements, &mut limits);
                    let Ok((run, searched)) = searched else { continue };
                    if searched.incomplete.is_some() || searched.problem.is_some() {
                        continue;
                    }
                    let (known, store) = (&run.machine.known, &searched.store);
                    let all = circles(known, store, Repeats::all(known));
                    let repeats = known.repeats();
                    counts[if repeats.is_none() { 2 } else { usize::from(all.is_empty()) }] += 1;
                    let found = repeats.map_or_else(Vec::new, |repeats| circles(known, store, repeats));
                    assert!(found == all, "{} {name} {bounds}: {found:?}, not {all:?}", subject.info.name);
                }
            }
        }
        counts
    }

    #[test]
    fn the_moves_that_may_be_repeated_include_all_circles() {
        let names = ["c11/MP.litmus", "c11/MP+spin.litmus", "c11/lock.litmus", "caches/late-fill.litmus"];
        let [circles, ends, none] = compare(&Subject::of::<zoo::vi::Vi>(), &names);
        assert!(circles > 0 && none > ends, "{circles} {ends} {none}");
        for subject in [
            Subject::of::<zoo::tc::TcStrong>(),
            Subject::of::<zoo::lease::RccRepaired>(),
            Subject::of::<zoo::stc::StcEs>(),
            Subject::of::<zoo::gpu_vi::GpuVi>(),
        ] {
            let [circles, ..] = compare(&subject, &names);
            assert!(circles > 0, "{}", subject.info.name);
        }
    }
}
