//! Relations on events as bit matrices.
//!
//! Row `i` is the set of events that event `i` is related to. Functions take slices of
//! rows, so that one arena can hold many relations.

use super::set::{EventSet, Word, members};

/// Computes `out = a ; b`, the composition of the relations `a` and `b`.
#[inline]
pub fn seq<W: Word>(out: &mut [EventSet<W>], a: &[EventSet<W>], b: &[EventSet<W>]) {
    for (out, &row) in out.iter_mut().zip(a) {
        *out = members(row).fold(EventSet::EMPTY, |to, via| to | b[via]);
    }
}

/// Computes `out = a^-1`, the inverse of the relation `a`.
#[inline]
pub fn inverse<W: Word>(out: &mut [EventSet<W>], a: &[EventSet<W>]) {
    out.fill(EventSet::EMPTY);
    for (from, &row) in a.iter().enumerate() {
        members(row).for_each(|to| out[to].insert(from));
    }
}

/// Replaces `a` by its transitive closure.
#[inline]
pub fn close<W: Word>(a: &mut [EventSet<W>]) {
    for via in 0..a.len() {
        let row = a[via];
        if !row.is_empty() {
            for other in a.iter_mut() {
                *other |= row.when(other.has(via));
            }
        }
    }
}

/// Whether `a` has no cycle.
#[inline]
#[must_use]
pub fn is_acyclic<W: Word>(a: &[EventSet<W>]) -> bool {
    let mut left = EventSet::below(a.len());
    loop {
        let mut stay = left;
        for event in members(left) {
            // An event without a successor in the remaining set is on no cycle, so it is removed.
            if (a[event] & stay).is_empty() {
                stay.remove(event);
            }
        }
        if stay.is_empty() {
            return true;
        }
        if stay == left {
            return false;
        }
        left = stay;
    }
}

/// Whether no event is related to itself.
#[inline]
#[must_use]
pub fn is_irreflexive<W: Word>(a: &[EventSet<W>]) -> bool {
    a.iter().enumerate().all(|(event, row)| !row.has(event))
}

/// Whether the relation has no pair.
#[inline]
#[must_use]
pub fn is_empty<W: Word>(a: &[EventSet<W>]) -> bool {
    a.iter().all(|row| row.is_empty())
}

/// The events that have a successor in the relation `a`.
#[inline]
#[must_use]
pub fn domain<W: Word>(a: &[EventSet<W>]) -> EventSet<W> {
    a.iter().enumerate().filter(|(_, row)| !row.is_empty()).map(|(event, _)| event).collect()
}

/// The events that have a predecessor in the relation `a`.
#[inline]
#[must_use]
pub fn range<W: Word>(a: &[EventSet<W>]) -> EventSet<W> {
    a.iter().fold(EventSet::EMPTY, |set, &row| set | row)
}

/// A shortest cycle of `a`, given by the events of the cycle in order. `None` if there is no cycle.
#[must_use]
pub fn shortest_cycle<W: Word>(a: &[EventSet<W>]) -> Option<Vec<usize>> {
    let mut best: Option<Vec<usize>> = None;
    for start in 0..a.len() {
        let mut came_from = vec![usize::MAX; a.len()];
        let mut seen = EventSet::<W>::EMPTY;
        let mut front = vec![start];
        'search: while !front.is_empty() {
            let mut next = Vec::new();
            for &at in &front {
                if a[at].has(start) {
                    let mut path = vec![at];
                    let mut back = at;
                    while back != start {
                        back = came_from[back];
                        path.push(back);
                    }
                    path.reverse();
                    if best.as_ref().is_none_or(|known| path.len() < known.len()) {
                        best = Some(path);
                    }
                    break 'search;
                }
                for to in members(a[at] & !seen) {
                    seen.insert(to);
                    came_from[to] = at;
                    next.push(to);
                }
            }
            front = next;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pseudo-random relation on `n` events.
    fn some(n: usize, seed: u64) -> Vec<EventSet> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        (0..n)
            .map(|_| {
                let mut row = EventSet::EMPTY;
                for bit in 0..n {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    if state >> 60 == 0 {
                        row.insert(bit);
                    }
                }
                row
            })
            .collect()
    }

    #[test]
    fn a_relation_is_acyclic_iff_its_closure_is_irreflexive() {
        let mut cyclic = 0;
        for seed in 0..500 {
            let a = some(2 + seed as usize % 30, seed);
            let mut closed = a.clone();
            close(&mut closed);
            assert_eq!(is_acyclic(&a), is_irreflexive(&closed), "seed {seed}");
            assert_eq!(shortest_cycle(&a).is_none(), is_acyclic(&a), "seed {seed}");
            cyclic += u32::from(!is_acyclic(&a));
        }
        assert!((50..450).contains(&cyclic), "{cyclic} of 500 are cyclic");
    }

    #[test]
    fn the_closure_is_the_least_transitive_relation_above() {
        for seed in 0..100 {
            let a = some(20, seed);
            let mut closed = a.clone();
            close(&mut closed);
            let mut power = a.clone();
            let mut union = a.clone();
            for _ in 0..20 {
                let mut next = vec![EventSet::EMPTY; 20];
                seq(&mut next, &power, &a);
                power = next;
                union.iter_mut().zip(&power).for_each(|(u, &p)| *u |= p);
            }
            assert_eq!(closed, union, "seed {seed}");
        }
    }

    #[test]
    fn a_shortest_cycle_is_a_cycle() {
        for seed in 0..200 {
            let a = some(25, seed);
            let Some(cycle) = shortest_cycle(&a) else { continue };
            for (at, &event) in cycle.iter().enumerate() {
                let next = cycle[(at + 1) % cycle.len()];
                assert!(a[event].has(next), "seed {seed}");
            }
        }
    }

    #[test]
    fn the_inverse_of_a_sequence_is_the_sequence_of_inverses_in_reverse() {
        for seed in 0..50 {
            let (a, b) = (some(17, seed), some(17, seed + 1000));
            let (mut ab, mut left) = (vec![EventSet::EMPTY; 17], vec![EventSet::EMPTY; 17]);
            seq(&mut ab, &a, &b);
            inverse(&mut left, &ab);
            let (mut ia, mut ib, mut right) =
                (vec![EventSet::EMPTY; 17], vec![EventSet::EMPTY; 17], vec![EventSet::EMPTY; 17]);
            inverse(&mut ia, &a);
            inverse(&mut ib, &b);
            seq(&mut right, &ib, &ia);
            assert_eq!(left, right);
        }
    }

    #[test]
    fn relations_reach_over_all_events() {
        let n = super::super::set::EVENTS_MAX;
        let mut chain: Vec<EventSet> = (1..n).map(EventSet::only).collect();
        chain.push(EventSet::EMPTY);
        let mut closed = chain.clone();
        close(&mut closed);
        for (event, row) in closed.iter().enumerate() {
            assert!(members(*row).eq(event + 1..n));
        }
        assert!(is_acyclic(&chain) && shortest_cycle(&chain).is_none());
        assert!(domain(&chain) == EventSet::below(n - 1) && range(&chain) == !EventSet::only(0));
        let mut two = vec![EventSet::EMPTY; n];
        seq(&mut two, &chain, &chain);
        assert!((0..n - 2).all(|event| two[event] == EventSet::only(event + 2)));
        let mut back = vec![EventSet::EMPTY; n];
        inverse(&mut back, &chain);
        assert!((1..n).all(|event| back[event] == EventSet::only(event - 1)) && back[0].is_empty());
        chain[n - 1].insert(0);
        assert!(!is_acyclic(&chain));
        assert_eq!(shortest_cycle(&chain).map(|cycle| cycle.len()), Some(n));
    }
}
