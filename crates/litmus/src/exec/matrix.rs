//! Relations on at most 64 events as bit matrices: one word a row.
//!
//! Row `i` holds the events that `i` is related to. Functions take slices of
//! rows, so that many relations can lie in one arena.

/// The most events an execution may have.
pub const EVENTS_MAX: usize = 64;

/// The set of the first `count` events.
#[inline]
#[must_use]
pub const fn all(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

/// The members of a set.
#[inline]
pub fn members(mut set: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        if set == 0 {
            return None;
        }
        let first = set.trailing_zeros() as usize;
        set &= set - 1;
        Some(first)
    })
}

/// `out = a ; b`.
#[inline]
pub fn seq(out: &mut [u64], a: &[u64], b: &[u64]) {
    for (out, &row) in out.iter_mut().zip(a) {
        let (mut left, mut to) = (row, 0);
        while left != 0 {
            to |= b[left.trailing_zeros() as usize];
            left &= left - 1;
        }
        *out = to;
    }
}

/// `out = a^-1`.
#[inline]
pub fn inverse(out: &mut [u64], a: &[u64]) {
    out.fill(0);
    for (from, &row) in a.iter().enumerate() {
        let mut left = row;
        while left != 0 {
            out[left.trailing_zeros() as usize] |= 1 << from;
            left &= left - 1;
        }
    }
}

/// Closes `a` transitively, in place.
#[inline]
pub fn close(a: &mut [u64]) {
    for via in 0..a.len() {
        let row = a[via];
        if row != 0 {
            for other in a.iter_mut() {
                // All ones if `other` reaches `via`, else zero.
                let reaches = (*other >> via & 1).wrapping_neg();
                *other |= row & reaches;
            }
        }
    }
}

/// Has `a` no cycle?
#[inline]
#[must_use]
pub fn is_acyclic(a: &[u64]) -> bool {
    let mut left = all(a.len());
    loop {
        let mut stay = left;
        let mut scan = left;
        while scan != 0 {
            let event = scan.trailing_zeros() as usize;
            scan &= scan - 1;
            // An event without successors among the rest is on no cycle.
            if a[event] & stay == 0 {
                stay &= !(1 << event);
            }
        }
        if stay == 0 {
            return true;
        }
        if stay == left {
            return false;
        }
        left = stay;
    }
}

/// Is no event related to itself?
#[inline]
#[must_use]
pub fn is_irreflexive(a: &[u64]) -> bool {
    a.iter().enumerate().all(|(event, row)| row >> event & 1 == 0)
}

/// Is nothing related?
#[inline]
#[must_use]
pub fn is_empty(a: &[u64]) -> bool {
    a.iter().all(|&row| row == 0)
}

/// The events that are related to something.
#[inline]
#[must_use]
pub fn domain(a: &[u64]) -> u64 {
    a.iter().enumerate().fold(0, |set, (event, &row)| set | u64::from(row != 0) << event)
}

/// The events that something is related to.
#[inline]
#[must_use]
pub fn range(a: &[u64]) -> u64 {
    a.iter().fold(0, |set, &row| set | row)
}

/// A shortest cycle of `a`, if there is any: its events in order.
#[must_use]
pub fn shortest_cycle(a: &[u64]) -> Option<Vec<usize>> {
    let mut best: Option<Vec<usize>> = None;
    for start in 0..a.len() {
        let mut came_from = vec![usize::MAX; a.len()];
        let mut seen = 0u64;
        let mut front = vec![start];
        'search: while !front.is_empty() {
            let mut next = Vec::new();
            for &at in &front {
                if a[at] >> start & 1 == 1 {
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
                    seen |= 1 << to;
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

    /// A small pseudo-random relation on `n` events.
    fn some(n: usize, seed: u64) -> Vec<u64> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        (0..n)
            .map(|_| {
                let mut row = 0;
                for bit in 0..n {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    if state >> 60 == 0 {
                        row |= 1 << bit;
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
                let mut next = vec![0; 20];
                seq(&mut next, &power, &a);
                power = next;
                union.iter_mut().zip(&power).for_each(|(u, p)| *u |= p);
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
                assert_eq!(a[event] >> next & 1, 1, "seed {seed}");
            }
        }
    }

    #[test]
    fn the_inverse_of_a_sequence_is_the_sequence_of_inverses_in_reverse() {
        for seed in 0..50 {
            let (a, b) = (some(17, seed), some(17, seed + 1000));
            let (mut ab, mut left) = (vec![0; 17], vec![0; 17]);
            seq(&mut ab, &a, &b);
            inverse(&mut left, &ab);
            let (mut ia, mut ib, mut right) = (vec![0; 17], vec![0; 17], vec![0; 17]);
            inverse(&mut ia, &a);
            inverse(&mut ib, &b);
            seq(&mut right, &ib, &ia);
            assert_eq!(left, right);
        }
    }
}
