//! Code that the programs for connected components share: a kernel on a forest of parents, and the
//! components by union and find on the host.

use kernel::prelude::*;

use crate::graph::Csr;

/// Makes the root of each vertex's tree its parent. Wavefronts follow parents while other
/// wavefronts replace them. This is safe, because a parent is only ever replaced by a vertex nearer
/// to the root.
pub(super) async fn flatten(w: Wave, parents: Array<u32>) {
    let base = w.first_item();
    let w = w.below(base, parents.len());
    let first = w.atomic_load(parents, Unit(base), relaxed(Level::Device)).await;
    let (mut parent, mut todo) = (first, w.clone());
    while todo.any() {
        let next = todo.atomic_load(parents, parent, relaxed(Level::Device)).await;
        todo = todo.when(next.ne(parent));
        parent.assign(todo.mask(), next);
    }
    w.when(parent.ne(first)).atomic_store(parents, Unit(base), parent, relaxed(Level::Device)).await;
}

/// For each vertex, the smallest vertex of its component. Union and find over the arcs computes it.
pub(super) fn reference(graph: &Csr) -> Vec<u32> {
    let mut parents: Vec<u32> = (0..graph.vertices()).collect();
    fn root(parents: &mut [u32], mut vertex: u32) -> u32 {
        while parents[vertex as usize] != vertex {
            let grandparent = parents[parents[vertex as usize] as usize];
            parents[vertex as usize] = grandparent;
            vertex = grandparent;
        }
        vertex
    }
    for (source, target, _) in graph.arcs() {
        let (one, other) = (root(&mut parents, source), root(&mut parents, target));
        parents[one.max(other) as usize] = one.min(other);
    }
    (0..graph.vertices()).map(|vertex| root(&mut parents, vertex)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_component_has_the_number_of_its_least_vertex() {
        let graph = Csr::from_edges(8, vec![(7, 3), (3, 5), (1, 2), (6, 2), (4, 4)]);
        assert_eq!(reference(&graph), [0, 1, 1, 3, 4, 3, 1, 3]);
    }
}
