//! Detects programs that differ only in names.

use super::skeleton::ProgramSkeleton;

/// Every permutation of `count` elements.
pub(super) fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..count {
        all = all
            .into_iter()
            .flat_map(|order| {
                let missing: Vec<usize> = (0..count).filter(|i| !order.contains(i)).collect();
                missing.into_iter().map(move |i| {
                    let mut longer = order.clone();
                    longer.push(i);
                    longer
                })
            })
            .collect();
    }
    all
}

/// A renaming that numbers names in order of first occurrence.
#[derive(Default)]
struct Renaming(Vec<u8>);

impl Renaming {
    fn rename(&mut self, old: u8) -> u8 {
        let at = self.0.iter().position(|&o| o == old).unwrap_or_else(|| {
            self.0.push(old);
            self.0.len() - 1
        });
        at as u8
    }
}

/// Finds out which program skeletons differ only in names. Holds all permutations of the threads,
/// for each number of threads.
pub(super) struct Symmetry {
    orders: Vec<Vec<Vec<usize>>>,
}

impl Symmetry {
    pub(super) fn new(threads_max: usize) -> Symmetry {
        Symmetry { orders: (0..=threads_max).map(orders).collect() }
    }

    fn orders_of<'a>(&'a self, skeleton: &'a ProgramSkeleton) -> impl Iterator<Item = &'a Vec<usize>> {
        let len = |t: usize| skeleton.threads[t].len();
        self.orders[skeleton.threads.len()]
            .iter()
            .filter(move |order| order.windows(2).all(|pair| len(pair[0]) >= len(pair[1])))
    }

    /// Whether the encoding of the skeleton comes first among the encodings of the skeletons that
    /// differ from it only in names. The locations and scope instances of the skeleton must be
    /// numbered in order of first occurrence.
    pub(super) fn is_first(&self, skeleton: &ProgramSkeleton) -> bool {
        let own: Vec<usize> = (0..skeleton.threads.len()).collect();
        let own = code(skeleton, &own);
        self.orders_of(skeleton).all(|order| own <= code(skeleton, order))
    }

    /// A signature of a program skeleton, which identifies it up to names: skeletons that differ
    /// only in names have equal signatures.
    pub(super) fn signature(&self, skeleton: &ProgramSkeleton) -> Vec<u8> {
        self.orders_of(skeleton).map(|order| code(skeleton, order)).min().unwrap_or_default()
    }
}

/// An encoding of the skeleton as bytes. The threads come in the order `order`. All other names
/// (such as locations and scope instances) are renumbered in order of first occurrence.
fn code(skeleton: &ProgramSkeleton, order: &[usize]) -> Vec<u8> {
    let mut code = Vec::with_capacity(64);
    for row in skeleton.tree.iter().chain([&skeleton.compute_units]) {
        let mut names = Renaming::default();
        code.extend(order.iter().map(|&t| names.rename(row[t])));
    }
    let mut locations = Renaming::default();
    let values = new_values(skeleton, order);
    for &t in order {
        code.push(0xFF);
        for op in &skeleton.threads[t] {
            let location = if op.kind.accesses() { locations.rename(op.location) } else { 0 };
            let value = match op.value {
                0 => 0,
                old => values[usize::from(op.location)].iter().position(|&v| v == old).unwrap_or(0) as u8 + 1,
            };
            code.extend([op.kind as u8, location, op.level, value, op.ordering as u8]);
        }
    }
    let mut names = Renaming::default();
    code.extend(
        locations.0.iter().map(|&l| names.rename(skeleton.lines.get(usize::from(l)).copied().unwrap_or(l))),
    );
    code
}

/// For each location, the list of its writes, sorted by the threads in the order `order`. A write
/// is given by its number in the original order: its number among the writes to the location when
/// the threads are in their original order.
fn new_values(skeleton: &ProgramSkeleton, order: &[usize]) -> Vec<Vec<u8>> {
    let mut seen = vec![0u8; skeleton.locations()];
    let mut numbers: Vec<Vec<(usize, u8)>> = vec![Vec::new(); seen.len()];
    for (t, ops) in skeleton.threads.iter().enumerate() {
        for op in ops.iter().filter(|op| op.kind.writes()) {
            let location = usize::from(op.location);
            seen[location] += 1;
            numbers[location].push((t, seen[location]));
        }
    }
    let rank = |t: usize| order.iter().position(|&o| o == t);
    numbers
        .into_iter()
        .map(|mut writes| {
            writes.sort_by_key(|&(t, number)| (rank(t), number));
            writes.into_iter().map(|(_, number)| number).collect()
        })
        .collect()
}
