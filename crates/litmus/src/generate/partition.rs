//! Enumerates partitions: the ways to divide threads into scope instances, locations into cache
//! lines, and work-groups among compute units.

use super::Bound;
use super::symmetry::orders;

/// Every partition of `count` elements into at most `blocks_max` blocks of at most
/// `size_max` elements. A partition lists the block of each element. Blocks are
/// numbered in order of first occurrence.
pub(super) fn partitions(count: usize, blocks_max: usize, size_max: usize) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let mut open = vec![Vec::new()];
    while let Some(partial) = open.pop() {
        if partial.len() == count {
            all.push(partial);
            continue;
        }
        let used = partial.iter().max().map_or(0, |&last| usize::from(last) + 1);
        for block in (0..=used.min(blocks_max.saturating_sub(1))).rev() {
            let block = block as u8;
            if partial.iter().filter(|&&b| b == block).count() < size_max {
                let mut next = partial.clone();
                next.push(block);
                open.push(next);
            }
        }
    }
    all
}

/// Returns `partitions`. If [`Bound::symmetry`] is off (programs that differ only in names are all
/// generated), the result has each partition once for every numbering of its blocks.
fn numbered(bound: &Bound, partitions: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    if bound.symmetry {
        return partitions;
    }
    let every_numbering = |partition: Vec<u8>| {
        let blocks = partition.iter().max().map_or(0, |&last| usize::from(last) + 1);
        let numberings = orders(blocks).into_iter();
        numberings.map(move |order| partition.iter().map(|&block| order[usize::from(block)] as u8).collect())
    };
    partitions.into_iter().flat_map(every_numbering).collect()
}

/// Whether every block of the partition `inner` lies in one block of the partition `outer`.
fn refines(inner: &[u8], outer: &[u8]) -> bool {
    (0..inner.len()).all(|i| (0..i).all(|j| inner[i] != inner[j] || outer[i] == outer[j]))
}

/// Every scope tree of `threads` threads within the bound. A tree lists, for each level
/// from the innermost one, the instance of each thread.
pub(super) fn trees(bound: &Bound, threads: usize) -> Vec<Vec<Vec<u8>>> {
    let mut trees: Vec<Vec<Vec<u8>>> = vec![Vec::new()];
    for level in bound.levels.iter().rev() {
        let partitions = numbered(bound, partitions(threads, level.instances_max, threads));
        trees = trees
            .into_iter()
            .flat_map(|tree| {
                let fitting = partitions
                    .iter()
                    .filter(|inner| tree.first().is_none_or(|outer| refines(inner, outer)))
                    .map(|inner| {
                        let mut larger = vec![inner.clone()];
                        larger.extend(tree.iter().cloned());
                        larger
                    });
                fitting.collect::<Vec<_>>()
            })
            .collect();
    }
    trees
}

/// Every placement of the threads of a tree on compute units. All threads of a work-group (here: an
/// instance of the innermost level) are on one compute unit. The outer levels do not restrict the
/// placement.
pub(super) fn placements(bound: &Bound, tree: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let Some(groups) = tree.first() else { return vec![Vec::new()] };
    if bound.compute_units_max == 0 {
        return vec![groups.clone()];
    }
    let units = numbered(bound, partitions(groups.len(), bound.compute_units_max, groups.len()));
    units.into_iter().filter(|units| refines(groups, units)).collect()
}

/// Every layout of locations in cache lines.
pub(super) fn layouts(bound: &Bound, locations: usize) -> Vec<Vec<u8>> {
    numbered(bound, partitions(locations, locations, bound.words_of_line_max.max(1)))
}

/// Every division of `operations` among `threads`. Each thread gets at least one operation and at
/// most `operations_of_thread_max`. If [`Bound::symmetry`] is on (only one of the programs that
/// differ only in names is generated), no thread gets more operations than an earlier thread.
pub(super) fn shares(bound: &Bound, operations: usize, threads: usize) -> Vec<Vec<usize>> {
    let most = bound.operations_of_thread_max;
    let mut all = Vec::new();
    let mut open = vec![(Vec::new(), operations)];
    while let Some((partial, left)) = open.pop() {
        if partial.len() == threads {
            if left == 0 {
                all.push(partial);
            }
            continue;
        }
        let before = partial.last().copied().filter(|_| bound.symmetry);
        let limit: usize = before.unwrap_or(most).min(left);
        for share in 1..=limit {
            let mut next: Vec<usize> = partial.clone();
            next.push(share);
            open.push((next, left - share));
        }
    }
    all
}
