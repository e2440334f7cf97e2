//! Generates programs in the shape of a critical cycle (Shasha and Snir). In such a cycle,
//! consecutive threads communicate through a location. Each thread has one access, or two accesses
//! to different locations. Every weak behaviour has the shape of a critical cycle.

use std::collections::BTreeSet;

use super::partition::{layouts, placements, trees};
use super::skeleton::{Kind, Op, ProgramSkeleton};
use super::symmetry::Symmetry;
use super::{Bound, Generated, Ordering};
use crate::program::{LocId, Prop, Reg, Term, ThreadId};

/// One access of a critical cycle (a cycle of accesses from which a litmus test is built).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CycleAccess {
    pub(super) writes: bool,
    pub(super) location: u8,
    /// For a write, its number in coherence order among the writes to the location, counted from
    /// one. For a read, the number of the write that it reads from, or 0 for the initial value.
    pub(super) sees: u8,
}

/// A critical cycle: the accesses of each thread, in the order of the cycle.
pub(super) type Cycle = Vec<Vec<CycleAccess>>;

/// Every critical cycle with this number of threads and at most `locations_max`
/// locations.
pub(super) fn shapes(threads: usize, locations_max: usize) -> Vec<Cycle> {
    let mut shapes = Vec::new();
    // The kinds of threads. The first flag says whether the cycle enters the thread at a write. The
    // second flag says whether the cycle leaves the thread at a write. The third flag says whether
    // the thread has two accesses instead of one.
    let kinds = [
        (true, true, false),
        (false, false, false),
        (true, true, true),
        (true, false, true),
        (false, true, true),
        (false, false, true),
    ];
    let mut open: Vec<Vec<(bool, bool, bool)>> = vec![Vec::new()];
    while let Some(partial) = open.pop() {
        if partial.len() < threads {
            open.extend(kinds.iter().map(|&kind| {
                let mut next = partial.clone();
                next.push(kind);
                next
            }));
            continue;
        }
        shapes.extend(close(&partial, locations_max));
    }
    shapes
}

/// Builds the cycle with threads of the given kinds. Three flags describe the kind of a thread:
/// whether the cycle enters the thread at a write, whether the cycle leaves the thread at a write,
/// and whether the thread has two accesses instead of one. `None` if the cycle is not critical.
fn close(threads: &[(bool, bool, bool)], locations_max: usize) -> Option<Cycle> {
    let count = threads.len();
    let steps = threads.iter().filter(|thread| thread.2).count();
    // The cycle must start with a thread that has two accesses. Otherwise the accesses to the first
    // location of the cycle would be partly at the start of the cycle and partly at its end.
    let first_is_double = threads.first()?.2;
    let communicates = (0..count).all(|t| threads[t].1 || threads[(t + 1) % count].0);
    if !first_is_double || steps < 2 || steps > locations_max || !communicates {
        return None;
    }
    // Two consecutive threads with one access each could be replaced by one such thread.
    let singles = (0..count).any(|t| !threads[t].2 && !threads[(t + 1) % count].2);
    if singles {
        return None;
    }
    let mut cycle: Cycle = Vec::new();
    let mut location = 0;
    let mut written = vec![0; steps];
    let mut access = |writes: bool, location: usize| {
        if writes {
            written[location] += 1;
        }
        CycleAccess { writes, location: location as u8, sees: written[location] }
    };
    for &(enters, leaves, double) in threads {
        if !double {
            cycle.push(vec![access(enters, location)]);
            continue;
        }
        let before = location;
        location = (location + 1) % steps;
        // The first access of the first thread is the last access of the cycle to location 0, so
        // its number is set after the loop.
        let entered = if cycle.is_empty() { None } else { Some(access(enters, before)) };
        let left = access(leaves, location);
        let entered = entered.unwrap_or(CycleAccess { writes: enters, location: 0, sees: 0 });
        cycle.push(vec![entered, left]);
    }
    let first = access(cycle[0][0].writes, 0);
    cycle[0][0] = first;
    Some(cycle)
}

/// The operations that a generated program can use for one access of a cycle. `data` says whether
/// the location holds data. `levels` are the levels at which the thread may synchronize.
pub(super) fn implementations(bound: &Bound, access: CycleAccess, data: bool, levels: &[u8]) -> Vec<Op> {
    let kinds: &[Kind] = match (data, access.writes, access.sees) {
        (true, true, _) => &[Kind::Store],
        (true, false, _) => &[Kind::Load],
        (false, true, _) => &[Kind::SyncStore, Kind::Exchange],
        (false, false, 0) => &[Kind::SyncLoad],
        (false, false, _) => &[Kind::SyncLoad, Kind::Await, Kind::ConditionalLoad],
    };
    let orderings: &[Ordering] = if data { &[Ordering::AcquireRelease] } else { &bound.orderings };
    let levels = if data { &[0] } else { levels };
    let mut ops = Vec::new();
    for &kind in kinds.iter().filter(|kind| bound.kinds.contains(kind)) {
        for &ordering in orderings {
            for &level in levels {
                let value = if kind.expects() { access.sees } else { 0 };
                ops.push(Op { kind, location: access.location, level, value, ordering });
            }
        }
    }
    ops
}

/// The levels of the scope tree (given by their index in the tree) at which the operations of a
/// thread may synchronize.
pub(super) fn levels_of(bound: &Bound, tree: &[Vec<u8>], thread: usize) -> Vec<u8> {
    let shared = |row: &Vec<u8>| row.iter().filter(|&&i| i == row[thread]).count() > 1;
    (0..tree.len()).filter(|&l| bound.single_thread_scopes || shared(&tree[l])).map(|l| l as u8).collect()
}

/// Renumbers the values that awaits and conditional operations expect (after a conditional
/// operation, the thread continues only if the operation has read the expected value). These values
/// are numbers of writes. The cycle numbers the writes to a location in coherence order.
/// [`Op::value`] numbers them in the order of the threads.
pub(super) fn renumber(cycle: &Cycle, threads: &mut [Vec<Op>]) {
    let numbers = numbers(cycle);
    for op in threads.iter_mut().flatten().filter(|op| op.kind.expects()) {
        op.value = number_of(&numbers, op.location, op.value);
    }
}

/// For each write of the cycle: its location, its number in coherence order (the numbers of the
/// cycle), and its number in the order of the threads.
fn numbers(cycle: &Cycle) -> Vec<(u8, u8, u8)> {
    let mut numbers: Vec<(u8, u8, u8)> = Vec::new();
    for access in cycle.iter().flatten().filter(|access| access.writes) {
        let earlier = numbers.iter().filter(|&&(location, ..)| location == access.location).count() as u8;
        numbers.push((access.location, access.sees, earlier + 1));
    }
    numbers
}

/// The number of a write in the order of the threads. The write is given by its location and by its
/// number in the cycle, `sees`. Zero stands for the initial value.
fn number_of(numbers: &[(u8, u8, u8)], location: u8, sees: u8) -> u8 {
    let found = numbers.iter().find(|&&(l, s, _)| (l, s) == (location, sees));
    found.map_or(0, |&(_, _, number)| number)
}

/// The outcome that shows the cycle: every read reads from the write that the cycle gives for it,
/// and for each location, the write that the cycle puts last is last in coherence order. No
/// sequentially consistent execution has this outcome.
fn closing(cycle: &Cycle, skeleton: &ProgramSkeleton) -> Prop {
    let numbers = numbers(cycle);
    let mut all = Vec::new();
    for (t, (accesses, ops)) in cycle.iter().zip(&skeleton.threads).enumerate() {
        let mut register = 0;
        for (access, op) in accesses.iter().zip(ops) {
            if op.kind.reads() && op.kind != Kind::Await {
                if !access.writes {
                    let value = number_of(&numbers, access.location, access.sees);
                    all.push(Prop::equals(Term::Reg(ThreadId(t as u8), Reg(register)), value.into()));
                }
                register += 1;
            }
        }
    }
    for location in 0..skeleton.locations() as u8 {
        let writes = || numbers.iter().filter(|&&(l, ..)| l == location);
        if let Some(last) = writes().max_by_key(|&&(_, sees, _)| sees).filter(|_| writes().count() > 1) {
            all.push(Prop::equals(Term::Loc(LocId(location.into())), last.2.into()));
        }
    }
    if all.is_empty() { Prop::True } else { Prop::And(all) }
}

/// Enumerates every program within the bound that has the shape of a critical cycle. The programs
/// cover:
///
/// * every shape of a cycle and every scope tree;
/// * every choice of data and synchronization locations;
/// * every choice of awaits (loads that wait for a value), conditional loads (after which the thread
///   continues only with a certain value), scopes and memory orders.
///
/// The condition of each program is the outcome that shows its cycle, which no sequentially
/// consistent execution has.
pub fn cycles(bound: &Bound) -> impl Iterator<Item = Generated> + use<> {
    let symmetry = Symmetry::new(bound.threads_max);
    let bound = bound.clone();
    let mut seen: BTreeSet<Vec<u8>> = BTreeSet::new();
    let mut number = 0;
    let (from, to) = (bound.threads_min.max(2), bound.threads_max);
    let shapes = (from..=to).flat_map({
        let bound = bound.clone();
        move |threads| shapes(threads, bound.locations_max)
    });
    shapes
        .filter({
            let bound = bound.clone();
            move |cycle| {
                let most = cycle.iter().map(Vec::len).max().unwrap_or(0);
                cycle.iter().map(Vec::len).sum::<usize>() <= bound.operations_max
                    && most <= bound.operations_of_thread_max
            }
        })
        .flat_map({
            let bound = bound.clone();
            move |cycle| variants_of(&bound, &cycle).into_iter().flatten()
        })
        .filter_map(move |(skeleton, condition)| {
            let fits = skeleton.is_meaningful()
                && (bound.mixed_locations || skeleton.keeps_locations_apart())
                && seen.insert(symmetry.signature(&skeleton));
            fits.then(|| {
                number += 1;
                let name = format!("C{}-{number}", skeleton.threads.len());
                let mut generated = skeleton.build(&name);
                generated.program.condition.prop = condition;
                generated
            })
        })
}

/// All programs with the shape of the cycle. Each iterator in the list gives the programs for one
/// scope tree and one choice of the locations that hold data.
fn variants_of(bound: &Bound, cycle: &Cycle) -> Vec<impl Iterator<Item = (ProgramSkeleton, Prop)> + use<>> {
    let locations = 1 + cycle.iter().flatten().map(|a| usize::from(a.location)).max().unwrap_or(0);
    let mut all = Vec::new();
    for tree in trees(bound, cycle.len()) {
        for data in 0..1u32 << locations {
            let choices: Vec<Vec<Op>> = cycle
                .iter()
                .enumerate()
                .flat_map(|(t, accesses)| {
                    let levels = levels_of(bound, &tree, t);
                    let is_data = move |a: &CycleAccess| data >> a.location & 1 == 1;
                    accesses
                        .iter()
                        .map(|a| implementations(bound, *a, is_data(a), &levels))
                        .collect::<Vec<_>>()
                })
                .collect();
            let (placed, laid) = (placements(bound, &tree), layouts(bound, locations));
            let (cycle, tree) = (cycle.clone(), tree.clone());
            let levels: Vec<_> = bound.levels.iter().map(|l| l.level).collect();
            all.push(product(choices).flat_map(move |ops| {
                let mut ops = ops.into_iter();
                let mut threads: Vec<Vec<Op>> =
                    cycle.iter().map(|accesses| ops.by_ref().take(accesses.len()).collect()).collect();
                renumber(&cycle, &mut threads);
                let mut variants = Vec::new();
                for units in &placed {
                    for lines in &laid {
                        let skeleton = ProgramSkeleton {
                            threads: threads.clone(),
                            levels: levels.clone(),
                            tree: tree.clone(),
                            lines: lines.clone(),
                            compute_units: units.clone(),
                        };
                        let condition = closing(&cycle, &skeleton);
                        variants.push((skeleton, condition));
                    }
                }
                variants
            }));
        }
    }
    all
}

/// The Cartesian product of `choices`: every list that has one element from each of these lists.
fn product(choices: Vec<Vec<Op>>) -> impl Iterator<Item = Vec<Op>> {
    let count: u64 = choices.iter().map(|c| c.len() as u64).product();
    (0..count).map(move |mut number| {
        choices
            .iter()
            .map(|choice| {
                let op = choice[(number % choice.len() as u64) as usize];
                number /= choice.len() as u64;
                op
            })
            .collect()
    })
}
