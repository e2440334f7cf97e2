//! Livelock: runs that never end although every move gets its turn.
//!
//! The search works on the strongly connected components of the graph of all states. An infinite
//! run stays in one component from some point on. The run is fair if each move that is always
//! offered is eventually made. A fair infinite run therefore exists if a component has no exit, or
//! if every move that all of its states offer is made within it. A fair run may omit optional
//! evictions for ever. Time and periodic timers may go on after all threads have ended.

use rustc_hash::FxHashMap;

use crate::machine::known::{Expansion, Known, Offer, Sink};
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
const NONE: u32 = u32::MAX;

struct Edges<'a> {
    store: &'a Store,
    firsts: &'a [u32; SHARDS],
    to: &'a mut Vec<u32>,
}

impl Sink for Edges<'_> {
    fn go(&mut self, _: Offer, next: &[u32]) {
        if let Some(id) = self.store.find(next) {
            self.to.push(self.firsts[id.shard()] + id.place() as u32);
        }
    }
    fn wait(&mut self, _mv: Move) {}
}

/// The identity of a move for fairness; see [`Offer::identity`].
type Identity = (Move, Option<u32>);

/// The edges from one state to its successors, each with the move that leads to the successor.
#[derive(Default)]
struct Labelled {
    offered: Vec<(Identity, bool, Option<Vec<u32>>)>,
}

impl Sink for Labelled {
    fn go(&mut self, offer: Offer, next: &[u32]) {
        self.offered.push((offer.identity(), offer.is_optional, Some(next.to_vec())));
    }
    fn wait(&mut self, mv: Move) {
        self.offered.push(((mv, None), false, None));
    }
}

/// The graph of the states of a finished search. The states have new numbers without gaps.
struct Graph<'a> {
    known: &'a Known,
    store: &'a Store,
    /// The number of the first state of each shard (part of the store of states).
    firsts: [u32; SHARDS],
    next: Vec<u32>,
    component: Vec<u32>,
}

/// Searches for an infinite run. The outer `None` means that the caller stopped the search, the
/// inner `None` that no infinite run exists.
pub(crate) fn endless(
    known: &Known,
    store: &Store,
    stop: &mut dyn FnMut() -> bool,
) -> Option<Option<Endless>> {
    let mut firsts = [0u32; SHARDS];
    let mut count = 0u32;
    for (first, shard) in firsts.iter_mut().zip(&store.shards) {
        *first = count;
        count += shard.len() as u32;
    }
    let component = vec![NONE; count as usize];
    let mut graph = Graph { known, store, firsts, next: Vec::new(), component };
    graph.search(stop)
}

impl Graph<'_> {
    fn id(&self, number: u32) -> StateId {
        let shard = self.firsts.partition_point(|&first| first <= number) - 1;
        StateId::new(shard, (number - self.firsts[shard]) as usize)
    }

    fn number(&self, id: StateId) -> u32 {
        self.firsts[id.shard()] + id.place() as u32
    }

    /// Appends the successors of the state `number` to `to`.
    fn edges(&mut self, number: u32, to: &mut Vec<u32>) -> Expansion {
        let state = self.store.state(self.id(number));
        let mut sink = Edges { store: self.store, firsts: &self.firsts, to };
        self.known.expand(state, &mut self.next, &mut sink)
    }

    /// Tarjan's algorithm for strongly connected components. Each component is checked for a fair
    /// infinite run as soon as the component is complete.
    fn search(&mut self, stop: &mut dyn FnMut() -> bool) -> Option<Option<Endless>> {
        let count = self.component.len();
        let (mut order, mut low) = (vec![NONE; count], vec![NONE; count]);
        let mut open: Vec<u32> = Vec::new();
        // States on the path, each with the beginning of its edges and its next edge.
        let mut path: Vec<(u32, usize, usize)> = Vec::new();
        let mut to: Vec<u32> = Vec::new();
        let (mut visited, mut components) = (0u32, 0u32);
        for root in 0..count as u32 {
            if order[root as usize] != NONE {
                continue;
            }
            path.push((root, to.len(), to.len()));
            while let Some(&(state, first, next)) = path.last() {
                let at = state as usize;
                if order[at] == NONE {
                    (order[at], low[at]) = (visited, visited);
                    visited += 1;
                    if visited.is_multiple_of(1 << 16) && stop() {
                        return None;
                    }
                    open.push(state);
                    self.edges(state, &mut to);
                }
                if next < to.len() {
                    if let Some(top) = path.last_mut() {
                        top.2 += 1;
                    }
                    let target = to[next];
                    if order[target as usize] == NONE {
                        path.push((target, to.len(), to.len()));
                    } else if self.component[target as usize] == NONE {
                        low[at] = low[at].min(order[target as usize]);
                    }
                    continue;
                }
                let edges = &to[first..];
                let only_leads_on = !edges.is_empty() && !edges.contains(&state);
                to.truncate(first);
                path.pop();
                if let Some(&(parent, ..)) = path.last() {
                    low[parent as usize] = low[parent as usize].min(low[at]);
                }
                if low[at] == order[at] {
                    // No run stays in a single state that only leads to others. Most components
                    // are of this kind.
                    if only_leads_on && open.last() == Some(&state) {
                        open.pop();
                        self.component[at] = components;
                    } else {
                        let from = open.iter().rposition(|&s| s == state).unwrap_or(0);
                        let part = open.split_off(from);
                        part.iter().for_each(|&s| self.component[s as usize] = components);
                        if let Some(endless) = self.judge(&part, components) {
                            return Some(Some(endless));
                        }
                    }
                    components += 1;
                }
            }
        }
        Some(None)
    }

    /// Whether all threads have ended in `part` (a strongly connected component of the states), so
    /// that only time or periodic timers keep the machine from rest.
    fn only_turns(&self, part: &[u32], offered: &FxHashMap<Identity, (usize, bool)>) -> bool {
        offered.keys().any(|(mv, _)| mv.is_periodic() || mv.is_tick())
            && part.iter().all(|&state| self.known.is_done(self.store.state(self.id(state))))
    }

    /// Judges whether `part` (a strongly connected component of the states) has a fair infinite
    /// run. All components that it leads to have been judged before.
    fn judge(&mut self, part: &[u32], component: u32) -> Option<Endless> {
        if let [alone] = *part
            && self.edges(alone, &mut Vec::new()) == Expansion::End
        {
            return None;
        }
        let mut offered: FxHashMap<Identity, (usize, bool)> = FxHashMap::default();
        let mut leaves = false;
        for &state in part {
            let mut labelled = Labelled::default();
            self.known.expand(self.store.state(self.id(state)), &mut self.next, &mut labelled);
            for (identity, is_optional, next) in labelled.offered {
                let to = next.and_then(|next| self.store.find(&next)).map(|id| self.number(id));
                let is_inside = to.is_some_and(|to| self.component[to as usize] == component);
                leaves |= to.is_some() && !is_inside;
                if !is_optional {
                    let entry = offered.entry(identity).or_default();
                    entry.0 += 1;
                    entry.1 |= is_inside;
                }
            }
        }
        let is_fair = offered.values().all(|&(count, is_made)| is_made || count < part.len());
        let why = match (leaves, is_fair) {
            (false, _) => NO_WAY_OUT,
            (true, true) if self.only_turns(part, &offered) => return None,
            (true, true) => STARVES,
            (true, false) => return None,
        };
        let nearest = part.iter().copied().min_by_key(|&s| (self.store.path(self.id(s)).len(), s))?;
        Some(Endless { state: self.id(nearest), why, states: part.len() })
    }
}
