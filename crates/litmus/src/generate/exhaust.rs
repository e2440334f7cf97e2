//! Enumerates every meaningful program within a bound.

use super::partition::{layouts, placements, shares, trees};
use super::skeleton::{Op, ProgramSkeleton, alphabet};
use super::symmetry::Symmetry;
use super::{Bound, Generated};

/// Enumerates every meaningful program within the bound (see [`ProgramSkeleton::is_meaningful`]).
/// Programs with fewer operations come first, and among these, programs with fewer threads. Equal
/// bounds give equal programs in the same order.
pub fn programs(bound: &Bound) -> impl Iterator<Item = Generated> + use<> {
    let symmetry = Symmetry::new(bound.threads_max);
    let mut number = 0;
    cases(bound).into_iter().flat_map(Enumeration::new).flat_map(layouts_of).filter_map(
        move |(skeleton, bound)| {
            (!bound.symmetry || symmetry.is_first(&skeleton)).then(|| {
                number += 1;
                let name = format!("G{}-{number}", skeleton.threads.iter().map(Vec::len).sum::<usize>());
                skeleton.build(&name)
            })
        },
    )
}

/// A group of programs. The scope tree, the compute unit of each thread and the number of
/// operations of each thread (its share) are the same in all programs of the group. [`Enumeration`]
/// chooses the operations.
#[derive(Clone, Debug)]
struct Case {
    bound: Bound,
    tree: Vec<Vec<u8>>,
    compute_units: Vec<u8>,
    shares: Vec<usize>,
}

fn cases(bound: &Bound) -> Vec<Case> {
    let mut cases = Vec::new();
    for operations in 1..=bound.operations_max {
        for threads in bound.threads_min..=bound.threads_max {
            for shares in shares(bound, operations, threads) {
                for tree in trees(bound, threads) {
                    for compute_units in placements(bound, &tree) {
                        let (bound, tree, shares) = (bound.clone(), tree.clone(), shares.clone());
                        cases.push(Case { bound, tree, compute_units, shares });
                    }
                }
            }
        }
    }
    cases
}

/// Copies of the skeleton, one for each layout of its locations in cache lines.
fn layouts_of((skeleton, bound): (ProgramSkeleton, Bound)) -> impl Iterator<Item = (ProgramSkeleton, Bound)> {
    layouts(&bound, skeleton.locations()).into_iter().map(move |lines| {
        let mut laid = skeleton.clone();
        laid.lines = lines;
        (laid, bound.clone())
    })
}

/// The use of one location by the operations that are already chosen.
#[derive(Clone, Copy, Default)]
struct Usage {
    /// The set of threads that access the location.
    threads: u64,
    writes: u8,
    /// The highest number of a write whose value some operation on the location expects (an await,
    /// or a read that lets the thread continue only with this value). Writes to the location are
    /// numbered from one.
    awaited: u8,
}

impl Usage {
    /// The minimum number of operations on the location that are still missing, in a program with
    /// `threads` threads. The location needs at least one write, a write of each expected value,
    /// and accesses by two threads (if the program has two).
    fn missing_operations(&self, threads: usize) -> usize {
        let writes = self.awaited.max(1).saturating_sub(self.writes);
        usize::from(writes).max(usize::from((self.threads.count_ones() as usize) < threads.min(2)))
    }
}

/// Enumerates the operations of a case (a group of programs that differ only in their operations).
/// The last operation changes fastest. If the operations chosen so far cannot be part of a
/// meaningful program, the enumeration skips all their continuations.
struct Enumeration {
    case: Case,
    alphabets: Vec<Vec<Op>>,
    /// For each operation, in order, the number of the thread that executes it.
    slots: Vec<usize>,
    /// For each operation chosen so far, its index in the list of its thread's possible operations.
    choices: Vec<usize>,
    started: bool,
}

impl Enumeration {
    fn new(case: Case) -> Enumeration {
        let alphabets = (0..case.shares.len()).map(|t| alphabet(&case.bound, &case.tree, t)).collect();
        let slots = case.shares.iter().enumerate().flat_map(|(t, &share)| vec![t; share]).collect();
        Enumeration { case, alphabets, slots, choices: Vec::new(), started: false }
    }

    fn op(&self, slot: usize) -> Op {
        self.alphabets[self.slots[slot]][self.choices[slot]]
    }

    /// Whether the operations chosen so far can be part of a meaningful program. Enough operations
    /// must be left to make each location shared between threads, and to write each expected value.
    /// If programs that differ only in names are to be generated once only, locations must be
    /// numbered in the order of their first occurrence.
    fn is_promising(&self) -> bool {
        let mut locations: Vec<Usage> = Vec::new();
        for slot in 0..self.choices.len() {
            let op = self.op(slot);
            if !op.kind.accesses() {
                continue;
            }
            let location = usize::from(op.location);
            if location > locations.len() && self.case.bound.symmetry {
                return false;
            }
            if location >= locations.len() {
                locations.resize(location + 1, Usage::default());
            }
            let usage = &mut locations[location];
            usage.threads |= 1 << self.slots[slot];
            usage.writes += u8::from(op.kind.writes());
            usage.awaited = usage.awaited.max(op.value);
        }
        let room = self.slots.len() - self.choices.len();
        let missing: usize =
            locations.iter().map(|usage| usage.missing_operations(self.case.shares.len())).sum();
        missing <= room
    }

    /// Advances to the next sequence of chosen operations that can be part of a meaningful program.
    /// Returns false after the last one.
    fn advance(&mut self) -> bool {
        let mut grow = !core::mem::replace(&mut self.started, true);
        loop {
            if grow {
                self.choices.push(0);
            } else {
                let Some(choice) = self.choices.last_mut() else { return false };
                *choice += 1;
            }
            let slot = self.choices.len() - 1;
            if self.choices[slot] >= self.alphabets[self.slots[slot]].len() {
                self.choices.pop();
                grow = false;
                continue;
            }
            grow = self.is_promising();
            if grow && slot + 1 == self.slots.len() {
                return true;
            }
        }
    }

    fn skeleton(&self) -> ProgramSkeleton {
        let mut threads = vec![Vec::new(); self.case.shares.len()];
        for slot in 0..self.slots.len() {
            threads[self.slots[slot]].push(self.op(slot));
        }
        ProgramSkeleton {
            threads,
            levels: self.case.bound.levels.iter().map(|l| l.level).collect(),
            tree: self.case.tree.clone(),
            lines: Vec::new(),
            compute_units: self.case.compute_units.clone(),
        }
    }
}

impl Iterator for Enumeration {
    type Item = (ProgramSkeleton, Bound);

    fn next(&mut self) -> Option<(ProgramSkeleton, Bound)> {
        while self.advance() {
            let skeleton = self.skeleton();
            if skeleton.is_meaningful()
                && (self.case.bound.mixed_locations || skeleton.keeps_locations_apart())
            {
                return Some((skeleton, self.case.bound.clone()));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::generate::Kind;

    /// Every program skeleton within the bound. Of skeletons that differ only in names, all are
    /// included.
    fn raw(bound: &Bound) -> Vec<ProgramSkeleton> {
        cases(bound).into_iter().flat_map(Enumeration::new).map(|(skeleton, _)| skeleton).collect()
    }

    /// The skeleton with two threads exchanged. Locations keep their names.
    fn exchanged(skeleton: &ProgramSkeleton, a: usize, b: usize) -> ProgramSkeleton {
        let mut other = skeleton.clone();
        let number = |threads: &[Vec<Op>], t: usize, at: usize, location: u8| {
            let before = threads[..t].iter().flatten().chain(&threads[t][..=at]);
            before.filter(|op| op.kind.writes() && op.location == location).count() as u8
        };
        other.threads.swap(a, b);
        other.tree.iter_mut().for_each(|row| row.swap(a, b));
        other.compute_units.swap(a, b);
        let place = |t: usize| {
            if t == a {
                b
            } else if t == b {
                a
            } else {
                t
            }
        };
        for (t, ops) in skeleton.threads.iter().enumerate() {
            for (at, op) in ops.iter().enumerate().filter(|(_, op)| op.kind.expects()) {
                for (w, writer) in skeleton.threads.iter().enumerate() {
                    for (i, write) in writer.iter().enumerate() {
                        let same = write.kind.writes() && write.location == op.location;
                        if same && number(&skeleton.threads, w, i, op.location) == op.value {
                            let new = number(&other.threads, place(w), i, op.location);
                            other.threads[place(t)][at].value = new;
                        }
                    }
                }
            }
        }
        other
    }

    #[test]
    fn one_program_represents_all_that_differ_only_in_names() {
        let kinds = vec![Kind::Store, Kind::SyncStore, Kind::Await, Kind::ConditionalLoad, Kind::Exchange];
        let bound = Bound { kinds, ..Bound::new(3, 4, 2) };
        let symmetry = Symmetry::new(3);
        let all = raw(&bound);
        let signatures: BTreeSet<Vec<u8>> = all.iter().map(|s| symmetry.signature(s)).collect();
        let firsts = all.iter().filter(|s| symmetry.is_first(s)).count();
        assert_eq!(firsts, signatures.len());
        assert!(firsts < all.len());
    }

    #[test]
    fn without_symmetry_programs_appear_under_all_names() {
        let kinds = vec![Kind::Store, Kind::SyncStore, Kind::Await, Kind::Exchange];
        let bound = Bound { kinds, words_of_line_max: 2, compute_units_max: 2, ..Bound::new(3, 3, 2) };
        let symmetry = Symmetry::new(3);
        let all: Vec<Generated> = programs(&Bound { symmetry: false, ..bound.clone() }).collect();
        let different: BTreeSet<&ProgramSkeleton> = all.iter().map(|generated| &generated.skeleton).collect();
        assert_eq!(different.len(), all.len(), "each name once");
        let signatures: BTreeSet<Vec<u8>> =
            all.iter().map(|generated| symmetry.signature(&generated.skeleton)).collect();
        let firsts: Vec<Vec<u8>> =
            programs(&bound).map(|generated| symmetry.signature(&generated.skeleton)).collect();
        assert_eq!(firsts.len(), signatures.len());
        assert_eq!(firsts.into_iter().collect::<BTreeSet<_>>(), signatures);
        assert!(all.len() > 4 * signatures.len(), "{} of {}", signatures.len(), all.len());
    }

    #[test]
    fn exchanging_threads_leaves_the_signature() {
        let symmetry = Symmetry::new(3);
        let mut compared = 0;
        for skeleton in raw(&Bound::new(3, 4, 2)).iter().step_by(7) {
            for (a, b) in [(0, 1), (1, 2), (0, 2)] {
                if skeleton.threads.len() <= b {
                    continue;
                }
                compared += 1;
                let other = exchanged(skeleton, a, b);
                assert_eq!(
                    symmetry.signature(skeleton),
                    symmetry.signature(&other),
                    "{skeleton:?} {other:?}"
                );
            }
        }
        assert!(compared > 1000);
    }
}
