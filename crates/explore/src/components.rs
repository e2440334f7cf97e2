//! The strongly connected components of a graph: the largest sets of vertices that all lead to one
//! another.

use core::ops::ControlFlow;

/// The component of a vertex that belongs to no complete component yet.
pub(crate) const NONE: u32 = u32::MAX;

/// A graph whose vertices are the numbers from 0.
pub(crate) trait Graph {
    /// The reason why the algorithm ends early.
    type Break;
    /// Appends the successors of a vertex to `to`. Called once for each vertex.
    fn edges(&mut self, vertex: u32, to: &mut Vec<u32>) -> ControlFlow<Self::Break>;
    /// Receives a component of several vertices, or of one vertex that leads to itself. `component`
    /// has the number of the component of each vertex. All components that this one leads to are
    /// complete.
    fn close(&mut self, vertices: &[u32], component: &[u32]) -> ControlFlow<Self::Break>;
}

/// Finds the component of each of `count` vertices by Tarjan's algorithm. A component is complete
/// after all components that it leads to.
pub(crate) fn components<G: Graph>(graph: &mut G, count: usize) -> ControlFlow<G::Break, Vec<u32>> {
    let mut component = vec![NONE; count];
    let (mut order, mut low) = (vec![NONE; count], vec![NONE; count]);
    let mut open: Vec<u32> = Vec::new();
    // Vertices on the path, each with the beginning of its edges and its next edge.
    let mut path: Vec<(u32, usize, usize)> = Vec::new();
    let mut to: Vec<u32> = Vec::new();
    let (mut visited, mut complete) = (0_u32, 0_u32);
    for root in 0..count as u32 {
        if order[root as usize] != NONE {
            continue;
        }
        path.push((root, to.len(), to.len()));
        while let Some(&(vertex, first, next)) = path.last() {
            let at = vertex as usize;
            if order[at] == NONE {
                (order[at], low[at]) = (visited, visited);
                visited += 1;
                open.push(vertex);
                graph.edges(vertex, &mut to)?;
            }
            if next < to.len() {
                if let Some(top) = path.last_mut() {
                    top.2 += 1;
                }
                let target = to[next];
                if order[target as usize] == NONE {
                    path.push((target, to.len(), to.len()));
                } else if component[target as usize] == NONE {
                    low[at] = low[at].min(order[target as usize]);
                }
                continue;
            }
            let leads_to_itself = to[first..].contains(&vertex);
            to.truncate(first);
            path.pop();
            if let Some(&(parent, ..)) = path.last() {
                low[parent as usize] = low[parent as usize].min(low[at]);
            }
            if low[at] == order[at] {
                if open.last() == Some(&vertex) && !leads_to_itself {
                    open.pop();
                    component[at] = complete;
                } else {
                    let from = open.iter().rposition(|&other| other == vertex).unwrap_or(0);
                    let vertices = open.split_off(from);
                    vertices.iter().for_each(|&one| component[one as usize] = complete);
                    graph.close(&vertices, &component)?;
                }
                complete += 1;
            }
        }
    }
    ControlFlow::Continue(component)
}
