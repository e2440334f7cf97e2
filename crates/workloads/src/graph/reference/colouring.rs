//! Colourings of graphs on the host, and their check.

use core::fmt;

use proto::words::counted;

use super::super::Csr;

/// The number that stands for the colour of an uncoloured vertex.
pub const UNCOLOURED: u32 = u32::MAX;

/// The way in which a list of colours is not a proper colouring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColouringError {
    /// The list of colours, which should have one colour for each vertex, has too few or too many.
    Count {
        /// The length of the list of colours, which has one entry for each vertex.
        colours: usize,
        /// The number of vertices of the graph.
        vertices: u32,
    },
    /// A vertex has no colour.
    Uncoloured {
        /// The vertex without a valid colour.
        vertex: u32,
    },
    /// Two neighbours have the same colour.
    Same {
        /// One of two neighbours with the same colour.
        vertex: u32,
        /// The other neighbour of the same colour.
        neighbour: u32,
        /// The colour of both vertices.
        colour: u32,
    },
}

impl fmt::Display for ColouringError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ColouringError::Count { colours, vertices } => {
                write!(f, "found {}, expected {vertices}", counted(*colours as u64, "colour"))
            }
            ColouringError::Uncoloured { vertex } => write!(f, "vertex {vertex} has no colour, expected one"),
            ColouringError::Same { vertex, neighbour, colour } => write!(
                f,
                "vertex {vertex} and its neighbour {neighbour} both have colour {colour}, expected different ones"
            ),
        }
    }
}

impl core::error::Error for ColouringError {}

/// Checks that a colouring is proper: no two neighbours have the same colour. Returns its number of
/// colours. Self loops are ignored.
///
/// # Errors
/// If a vertex has no colour, or has the colour of a neighbour. The error names the first such
/// vertex.
pub fn check_colouring(graph: &Csr, colours: &[u32]) -> Result<u64, ColouringError> {
    if colours.len() != graph.vertices() as usize {
        return Err(ColouringError::Count { colours: colours.len(), vertices: graph.vertices() });
    }
    for vertex in 0..graph.vertices() {
        let colour = colours[vertex as usize];
        if colour == UNCOLOURED {
            return Err(ColouringError::Uncoloured { vertex });
        }
        let same = |&&neighbour: &&u32| neighbour != vertex && colours[neighbour as usize] == colour;
        if let Some(&neighbour) = graph.neighbours(vertex).iter().find(same) {
            return Err(ColouringError::Same { vertex, neighbour, colour });
        }
    }
    let mut used = colours.to_vec();
    used.sort_unstable();
    used.dedup();
    Ok(used.len() as u64)
}

/// A greedy colouring of the undirected graph: each vertex in turn takes the smallest colour that
/// none of its neighbours has.
#[must_use]
pub fn greedy_colouring(graph: &Csr) -> Vec<u32> {
    let graph = graph.undirected();
    let mut colours = vec![UNCOLOURED; graph.vertices() as usize];
    let mut taken = Vec::new();
    for vertex in 0..graph.vertices() {
        taken.clear();
        let coloured = graph.neighbours(vertex).iter().map(|&u| colours[u as usize]);
        taken.extend(coloured.filter(|&colour| colour != UNCOLOURED));
        taken.sort_unstable();
        taken.dedup();
        let gap = (0..).zip(&taken).find(|&(colour, &taken)| colour != taken);
        colours[vertex as usize] = gap.map_or(taken.len() as u32, |(colour, _)| colour);
    }
    colours
}

/// The colour of each vertex after a number of sweeps. In sweep N, counted from 0, an uncoloured
/// vertex takes colour N if its priority is higher than those of all its uncoloured neighbours. If
/// two priorities are equal, the larger vertex number wins. The graph must have each arc in both
/// directions.
///
/// # Panics
/// If there are fewer priorities than vertices.
#[must_use]
pub fn colouring_sweeps(graph: &Csr, priorities: &[u32], sweeps: u32) -> Vec<u32> {
    let mut colours = vec![UNCOLOURED; graph.vertices() as usize];
    for sweep in 0..sweeps {
        let highest = |&vertex: &u32| {
            let rank = |v: u32| (priorities[v as usize], v);
            let below = |&u: &u32| u == vertex || colours[u as usize] != UNCOLOURED || rank(u) < rank(vertex);
            colours[vertex as usize] == UNCOLOURED && graph.neighbours(vertex).iter().all(below)
        };
        let chosen: Vec<u32> = (0..graph.vertices()).filter(highest).collect();
        if chosen.is_empty() {
            break;
        }
        for vertex in chosen {
            colours[vertex as usize] = sweep;
        }
    }
    colours
}

/// A colouring by largest and smallest priorities. In each round, every uncoloured vertex with a
/// higher priority than all its uncoloured neighbours takes the next colour. If `takes_minima` is
/// true, every uncoloured vertex with a lower priority than all its uncoloured neighbours takes the
/// colour after that one. A vertex that meets both conditions takes the first of these two colours.
/// The priorities must be different, and the graph must have each arc in both directions.
///
/// # Panics
/// If there are fewer priorities than vertices.
#[must_use]
pub fn colouring_by_extremes(graph: &Csr, priorities: &[u32], takes_minima: bool) -> Vec<u32> {
    let mut colours = vec![UNCOLOURED; graph.vertices() as usize];
    let mut left: Vec<u32> = (0..graph.vertices()).collect();
    let mut colour = 0;
    while !left.is_empty() {
        let (mut maxima, mut minima) = (Vec::new(), Vec::new());
        for &vertex in &left {
            let rivals = graph.neighbours(vertex).iter().filter(|&&u| colours[u as usize] == UNCOLOURED);
            let rivals: Vec<u32> = rivals.map(|&u| priorities[u as usize]).collect();
            let own = priorities[vertex as usize];
            if rivals.iter().all(|&rival| rival <= own) {
                maxima.push(vertex);
            } else if takes_minima && rivals.iter().all(|&rival| rival >= own) {
                minima.push(vertex);
            }
        }
        maxima.iter().for_each(|&vertex| colours[vertex as usize] = colour);
        minima.iter().for_each(|&vertex| colours[vertex as usize] = colour + 1);
        left.retain(|&vertex| colours[vertex as usize] == UNCOLOURED);
        colour += 1 + u32::from(takes_minima);
    }
    colours
}

#[cfg(test)]
mod tests {
    use super::super::super::power_law;
    use super::*;

    #[test]
    fn each_violation_is_named() {
        let path = Csr::from_edges(3, vec![(0, 1), (1, 2), (2, 2)]);
        assert_eq!(check_colouring(&path, &[5, 1, 5]), Ok(2));
        assert_eq!(check_colouring(&path, &[0, 1]), Err(ColouringError::Count { colours: 2, vertices: 3 }));
        assert_eq!(
            check_colouring(&path, &[0, UNCOLOURED, 0]),
            Err(ColouringError::Uncoloured { vertex: 1 })
        );
        let same = check_colouring(&path, &[0, 1, 1]);
        assert_eq!(same, Err(ColouringError::Same { vertex: 1, neighbour: 2, colour: 1 }));
    }

    #[test]
    fn greedy_is_proper_and_needs_at_most_one_colour_more_than_the_degree() {
        let graph = power_law(500, 3000, 5).undirected();
        let used = check_colouring(&graph, &greedy_colouring(&graph)).expect("a colouring");
        let degree = (0..500).map(|v| graph.degree(v)).max().unwrap_or(0);
        assert!((3..=u64::from(degree) + 1).contains(&used), "{used}");
        let path = Csr::from_edges(4, vec![(0, 1), (1, 2), (2, 3)]);
        assert_eq!(greedy_colouring(&path), [0, 1, 0, 1]);
    }

    #[test]
    fn local_extremes_give_a_proper_colouring_and_maxima_alone_that_of_sweeps() {
        let graph = power_law(300, 1500, 5).undirected();
        let priorities: Vec<u32> = (0..300).map(crate::data::mix).collect();
        let maxima = colouring_by_extremes(&graph, &priorities, false);
        assert_eq!(maxima, colouring_sweeps(&graph, &priorities, 300));
        let both = colouring_by_extremes(&graph, &priorities, true);
        assert!(check_colouring(&graph, &both).is_ok());
        assert_ne!(both, maxima);
    }

    #[test]
    fn sweeps_never_change_a_colour_and_end_in_a_proper_colouring() {
        let graph = power_law(300, 1500, 5).undirected();
        let priorities: Vec<u32> = (0..300).map(crate::data::mix).collect();
        let done = colouring_sweeps(&graph, &priorities, 300);
        assert!(check_colouring(&graph, &done).is_ok());
        let half = colouring_sweeps(&graph, &priorities, 3);
        assert!(half.contains(&UNCOLOURED));
        assert!(
            half.iter().zip(&done).all(|(&half, &done)| half == if done < 3 { done } else { UNCOLOURED })
        );
    }
}
