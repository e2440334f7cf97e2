//! Draws random programs from a seed. The programs may be too large to enumerate all of them.

use std::collections::BTreeSet;

use super::cycle::{self, Cycle};
use super::partition::{layouts, placements, trees};
use super::skeleton::{Op, ProgramSkeleton, alphabet};
use super::symmetry::Symmetry;
use super::{Bound, Generated};

/// A pseudo-random generator (SplitMix64). Equal seeds give equal numbers on all machines.
#[derive(Clone, Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count.max(1) as u64) as usize
    }

    fn of<'a, T>(&mut self, things: &'a [T]) -> Option<&'a T> {
        if things.is_empty() { None } else { Some(&things[self.below(things.len())]) }
    }
}

/// The maximum number of successive draws that give no new program. After this number the sample
/// ends.
const MISSES_MAX: u32 = 100_000;

/// Draws programs within the bound: programs with the shape of a critical cycle, with additional
/// operations inserted at random. Equal seeds give equal programs. The iterator ends after many
/// successive draws without a new program.
pub fn sample(bound: &Bound, seed: u64) -> impl Iterator<Item = Generated> + use<> {
    let mut sampler = Sampler::new(bound, seed);
    core::iter::from_fn(move || sampler.next())
}

struct Sampler {
    bound: Bound,
    random: Random,
    shapes: Vec<Cycle>,
    /// The possible scope trees for each number of threads.
    trees: Vec<Vec<Vec<Vec<u8>>>>,
    symmetry: Symmetry,
    seen: BTreeSet<Vec<u8>>,
    number: u64,
}

impl Sampler {
    fn new(bound: &Bound, seed: u64) -> Sampler {
        let threads = bound.threads_min.max(2)..=bound.threads_max;
        let fits = |cycle: &Cycle| cycle.iter().map(Vec::len).sum::<usize>() <= bound.operations_max;
        Sampler {
            random: Random(seed),
            shapes: threads.flat_map(|n| cycle::shapes(n, bound.locations_max)).filter(fits).collect(),
            trees: (0..=bound.threads_max).map(|n| trees(bound, n)).collect(),
            symmetry: Symmetry::new(bound.threads_max),
            seen: BTreeSet::new(),
            number: 0,
            bound: bound.clone(),
        }
    }

    fn next(&mut self) -> Option<Generated> {
        for _ in 0..MISSES_MAX {
            let Some(skeleton) = self.skeleton() else { continue };
            let fits = skeleton.is_meaningful()
                && (self.bound.mixed_locations || skeleton.keeps_locations_apart())
                && skeleton.threads.iter().all(|ops| ops.len() <= self.bound.operations_of_thread_max);
            if fits && self.seen.insert(self.symmetry.signature(&skeleton)) {
                self.number += 1;
                let name = format!("S{}-{}", skeleton.threads.len(), self.number);
                return Some(skeleton.build(&name));
            }
        }
        None
    }

    fn skeleton(&mut self) -> Option<ProgramSkeleton> {
        let cycle = self.random.of(&self.shapes)?.clone();
        let tree = self.random.of(&self.trees[cycle.len()])?.clone();
        let data = self.random.next();
        let mut threads = Vec::new();
        for (t, accesses) in cycle.iter().enumerate() {
            let levels = cycle::levels_of(&self.bound, &tree, t);
            let mut ops: Vec<Op> = Vec::new();
            for &access in accesses {
                let is_data = data >> access.location & 1 == 1;
                let choices = cycle::implementations(&self.bound, access, is_data, &levels);
                ops.push(*self.random.of(&choices)?);
            }
            threads.push(ops);
        }
        cycle::renumber(&cycle, &mut threads);
        let operations: usize = threads.iter().map(Vec::len).sum();
        let more = self.random.below(self.bound.operations_max - operations + 1);
        for _ in 0..more {
            let t = self.random.below(threads.len());
            let letters = alphabet(&self.bound, &tree, t);
            let op = *self.random.of(&letters)?;
            let at = self.random.below(threads[t].len() + 1);
            insert(&mut threads, t, at, op);
        }
        let levels = self.bound.levels.iter().map(|l| l.level).collect();
        let compute_units = self.random.of(&placements(&self.bound, &tree))?.clone();
        let mut skeleton = ProgramSkeleton { threads, levels, tree, lines: Vec::new(), compute_units };
        skeleton.lines = self.random.of(&layouts(&self.bound, skeleton.locations()))?.clone();
        Some(skeleton)
    }
}

/// Inserts an operation into a thread. A new write changes the numbers of the later writes to its
/// location. Awaits and conditional operations expect a certain value, and give this value by the
/// number of a write. So the function changes these numbers too.
fn insert(threads: &mut [Vec<Op>], t: usize, at: usize, op: Op) {
    if op.kind.writes() {
        let writes = |op: &&Op, location| op.kind.writes() && op.location == location;
        let before = threads[..t].iter().flatten().chain(&threads[t][..at]);
        let before = before.filter(|o| writes(o, op.location)).count() as u8;
        for waiting in threads.iter_mut().flatten() {
            if waiting.kind.expects() && waiting.location == op.location && waiting.value > before {
                waiting.value += 1;
            }
        }
    }
    threads[t].insert(at, op);
}
