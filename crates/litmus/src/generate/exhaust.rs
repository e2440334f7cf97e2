//! Every program within a bound.

use super::partition::{layouts, placements, shares, trees};
use super::skeleton::{Op, Skeleton, alphabet};
use super::symmetry::Symmetry;
use super::{Bound, Generated};

/// Every program within the bound that could tell anything (see
/// [`Skeleton::is_meaningful`]), those of fewer operations first, then those of
/// fewer threads. The same bound yields the same programs in the same order.
pub fn programs(bound: &Bound) -> impl Iterator<Item = Generated> {
    let symmetry = Symmetry::new(bound.threads_max);
    let mut number = 0;
    cases(bound).into_iter().flat_map(move |case| Walk::new(case)).flat_map(layouts_of).filter_map(
        move |(skeleton, _)| {
            symmetry.is_first(&skeleton).then(|| {
                number += 1;
                let name = format!("G{}-{number}", skeleton.threads.iter().map(Vec::len).sum::<usize>());
                skeleton.build(&name)
            })
        },
    )
}

/// The shape of some programs: all but their operations.
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
            for shares in shares(operations, threads, bound.operations_of_thread_max) {
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

/// The skeleton in every layout of its locations.
fn layouts_of((skeleton, bound): (Skeleton, Bound)) -> impl Iterator<Item = (Skeleton, Bound)> {
    layouts(&bound, skeleton.locations()).into_iter().map(move |lines| {
        let mut laid = skeleton.clone();
        laid.lines = lines;
        (laid, bound.clone())
    })
}

/// Walks through the operations of a case, as an odometer that skips what cannot
/// become a program.
struct Walk {
    case: Case,
    alphabets: Vec<Vec<Op>>,
    /// The thread of each operation.
    slots: Vec<usize>,
    /// The letter of each operation decided so far.
    letters: Vec<usize>,
    started: bool,
}

impl Walk {
    fn new(case: Case) -> Walk {
        let alphabets = (0..case.shares.len()).map(|t| alphabet(&case.bound, &case.tree, t)).collect();
        let slots = case.shares.iter().enumerate().flat_map(|(t, &share)| vec![t; share]).collect();
        Walk { case, alphabets, slots, letters: Vec::new(), started: false }
    }

    fn op(&self, slot: usize) -> Op {
        self.alphabets[self.slots[slot]][self.letters[slot]]
    }

    /// Can what is decided become a program? Locations are numbered as they come,
    /// and there is room to share those that are not shared yet.
    fn is_promising(&self) -> bool {
        let last = self.letters.len() - 1;
        let mut locations: Vec<(u64, bool)> = Vec::new();
        for slot in 0..=last {
            let op = self.op(slot);
            if !op.kind.accesses() {
                continue;
            }
            let location = usize::from(op.location);
            if location > locations.len() {
                return false;
            }
            if location == locations.len() {
                locations.push((0, false));
            }
            locations[location].0 |= 1 << self.slots[slot];
            locations[location].1 |= op.kind.writes();
        }
        let lacks = |&&(threads, written): &&(u64, bool)| threads.count_ones() < 2 || !written;
        let room = self.slots.len() - 1 - last;
        locations.iter().filter(lacks).count() <= room
    }

    /// Goes to the next sequence of letters; false at the end.
    fn advance(&mut self) -> bool {
        let mut grow = !core::mem::replace(&mut self.started, true);
        loop {
            if grow {
                self.letters.push(0);
            } else {
                let Some(letter) = self.letters.last_mut() else { return false };
                *letter += 1;
            }
            let slot = self.letters.len() - 1;
            if self.letters[slot] >= self.alphabets[self.slots[slot]].len() {
                self.letters.pop();
                grow = false;
                continue;
            }
            grow = self.is_promising() && slot + 1 < self.slots.len();
            if self.is_promising() && slot + 1 == self.slots.len() {
                return true;
            }
        }
    }

    fn skeleton(&self) -> Skeleton {
        let mut threads = vec![Vec::new(); self.case.shares.len()];
        for slot in 0..self.slots.len() {
            threads[self.slots[slot]].push(self.op(slot));
        }
        Skeleton {
            threads,
            levels: self.case.bound.levels.iter().map(|l| l.level).collect(),
            tree: self.case.tree.clone(),
            lines: Vec::new(),
            compute_units: self.case.compute_units.clone(),
        }
    }
}

impl Iterator for Walk {
    type Item = (Skeleton, Bound);

    fn next(&mut self) -> Option<(Skeleton, Bound)> {
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
