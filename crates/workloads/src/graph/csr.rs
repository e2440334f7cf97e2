//! A graph in compressed sparse rows.

use core::ops::Range;

/// A directed graph. The entries of `targets` with the indices from `offsets.at(v)` to
/// `offsets.at(v + 1)` (exclusive) are the targets of vertex `v`, in ascending order. An undirected
/// edge is two arcs. Parallel arcs and self loops may occur.
#[derive(Clone, Debug, PartialEq)]
pub struct Csr {
    /// The index of each vertex's first target, followed by the number of arcs.
    pub offsets: Offsets,
    /// The target vertices of all arcs, grouped by source.
    pub targets: Vec<u32>,
    /// The weight of each arc, in the order of `targets`.
    pub weights: Option<Weights>,
}

/// The indices at which rows start, in the form that kernels load: 32-bit numbers if 32 bits
/// suffice, otherwise 64-bit numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offsets {
    /// Every offset fits 32 bits.
    Narrow(Vec<u32>),
    /// Some offset needs more than 32 bits, because the graph has 2^32 arcs or more.
    Wide(Vec<u64>),
}

/// The weights of a graph, one number for each arc.
#[derive(Clone, Debug, PartialEq)]
pub enum Weights {
    /// Whole numbers from 0 to 2^32 - 1.
    Whole(Vec<u32>),
    /// Finite numbers. At least one of them is not a whole number from 0 to 2^32 - 1.
    Real(Vec<f64>),
}

impl Offsets {
    /// Stores these offsets as 32-bit numbers if 32 bits are enough, otherwise as 64-bit numbers.
    ///
    /// # Panics
    /// If `offsets` is empty, the first offset is not 0, or an offset is less than the one before
    /// it.
    #[must_use]
    pub fn new(offsets: Vec<u64>) -> Self {
        assert!(offsets.first() == Some(&0) && offsets.is_sorted(), "offsets start at 0 and ascend");
        match offsets.last() {
            Some(&last) if last > u64::from(u32::MAX) => Offsets::Wide(offsets),
            _ => Offsets::Narrow(offsets.into_iter().map(|offset| offset as u32).collect()),
        }
    }

    /// The number of offsets, which is one more than the number of vertices.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        match self {
            Offsets::Narrow(offsets) => offsets.len(),
            Offsets::Wide(offsets) => offsets.len(),
        }
    }

    /// The offset at an index.
    ///
    /// # Panics
    /// If the index is out of bounds.
    #[inline]
    #[must_use]
    pub fn at(&self, index: usize) -> u64 {
        match self {
            Offsets::Narrow(offsets) => u64::from(offsets[index]),
            Offsets::Wide(offsets) => offsets[index],
        }
    }

    /// All offsets, if they are stored as 32-bit numbers. Otherwise `None`.
    #[must_use]
    pub fn narrow(&self) -> Option<&[u32]> {
        match self {
            Offsets::Narrow(offsets) => Some(offsets),
            Offsets::Wide(_) => None,
        }
    }

    /// All offsets in order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.len()).map(|index| self.at(index))
    }
}

impl Weights {
    /// Stores these values as [`Weights::Whole`] if all of them are whole numbers from 0 to 2^32 -
    /// 1, otherwise as [`Weights::Real`].
    ///
    /// # Panics
    /// If a value is not finite.
    #[must_use]
    pub fn from_values(values: Vec<f64>) -> Self {
        assert!(values.iter().all(|value| value.is_finite()), "weights are finite");
        let whole = |value: &f64| *value >= 0.0 && *value <= f64::from(u32::MAX) && value.fract() == 0.0;
        if values.iter().all(whole) {
            Weights::Whole(values.into_iter().map(|value| value as u32).collect())
        } else {
            Weights::Real(values)
        }
    }

    /// The number of weights.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Weights::Whole(values) => values.len(),
            Weights::Real(values) => values.len(),
        }
    }

    /// Whether there are no weights.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The weight at an index.
    ///
    /// # Panics
    /// If the index is out of bounds.
    #[inline]
    #[must_use]
    pub fn at(&self, index: usize) -> f64 {
        match self {
            Weights::Whole(values) => f64::from(values[index]),
            Weights::Real(values) => values[index],
        }
    }

    /// All weights in order.
    pub fn iter(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.len()).map(|index| self.at(index))
    }

    /// The weights at the indices `order`, in the order of this list.
    pub(crate) fn select(&self, order: &[usize]) -> Weights {
        match self {
            Weights::Whole(values) => Weights::Whole(order.iter().map(|&index| values[index]).collect()),
            Weights::Real(values) => Weights::Real(order.iter().map(|&index| values[index]).collect()),
        }
    }
}

impl Csr {
    /// Makes a graph of these arcs, without weights.
    ///
    /// # Panics
    /// If an arc names a vertex that does not exist.
    #[must_use]
    pub fn from_edges(vertices: u32, mut edges: Vec<(u32, u32)>) -> Self {
        edges.sort_unstable();
        let mut offsets = vec![0u64; vertices as usize + 1];
        for &(source, target) in &edges {
            assert!(source < vertices && target < vertices, "edge {source} -> {target} leaves the graph");
            offsets[source as usize + 1] += 1;
        }
        for v in 0..vertices as usize {
            offsets[v + 1] += offsets[v];
        }
        let targets = edges.into_iter().map(|(_, target)| target).collect();
        Csr { offsets: Offsets::new(offsets), targets, weights: None }
    }

    /// The number of vertices.
    #[must_use]
    pub fn vertices(&self) -> u32 {
        self.offsets.len().saturating_sub(1) as u32
    }

    /// The number of arcs.
    #[must_use]
    pub fn edges(&self) -> u64 {
        self.targets.len() as u64
    }

    /// The number of arcs that leave a vertex.
    ///
    /// # Panics
    /// If the vertex does not exist.
    #[must_use]
    pub fn degree(&self, vertex: u32) -> u32 {
        (self.offsets.at(vertex as usize + 1) - self.offsets.at(vertex as usize)) as u32
    }

    /// The indices at which the targets and weights of a vertex are stored.
    ///
    /// # Panics
    /// If the vertex does not exist.
    #[inline]
    #[must_use]
    pub fn row(&self, vertex: u32) -> Range<usize> {
        self.offsets.at(vertex as usize) as usize..self.offsets.at(vertex as usize + 1) as usize
    }

    /// The targets of the arcs that leave a vertex.
    ///
    /// # Panics
    /// If the vertex does not exist.
    #[inline]
    #[must_use]
    pub fn neighbours(&self, vertex: u32) -> &[u32] {
        &self.targets[self.row(vertex)]
    }

    /// The source of each arc. The arcs are in the order of `targets`.
    #[must_use]
    pub fn sources(&self) -> Vec<u32> {
        let each = |v| core::iter::repeat_n(v, self.degree(v) as usize);
        (0..self.vertices()).flat_map(each).collect()
    }

    /// All arcs in order. Each has its source, its target, and its weight if the graph has weights.
    pub fn arcs(&self) -> impl Iterator<Item = (u32, u32, Option<f64>)> + '_ {
        let row = |v| self.row(v).map(move |index| (v, index));
        (0..self.vertices()).flat_map(row).map(|(source, index)| {
            (source, self.targets[index], self.weights.as_ref().map(|weights| weights.at(index)))
        })
    }

    /// A whole length for each arc, for algorithms on whole numbers. The lengths are the weights if
    /// they are whole numbers, and 1 if there are no weights. Otherwise a weight `w` gives the
    /// length `1 + 9999 |w| / max |w|`, rounded.
    #[must_use]
    pub fn lengths(&self) -> Vec<u32> {
        match &self.weights {
            None => vec![1; self.targets.len()],
            Some(Weights::Whole(values)) => values.clone(),
            Some(Weights::Real(values)) => {
                let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
                let length = |value: &f64| 1 + (value.abs() / largest * 9999.0).round() as u32;
                values.iter().map(length).collect()
            }
        }
    }

    /// The graph with each arc reversed, so that a row has the predecessors of its vertex.
    #[must_use]
    pub fn reversed(&self) -> Csr {
        let mut offsets = vec![0u64; self.vertices() as usize + 1];
        for &target in &self.targets {
            offsets[target as usize + 1] += 1;
        }
        for v in 0..self.vertices() as usize {
            offsets[v + 1] += offsets[v];
        }
        let mut next = offsets.clone();
        let mut targets = vec![0; self.targets.len()];
        let mut order = vec![0; self.weights.as_ref().map_or(0, Weights::len)];
        for source in 0..self.vertices() {
            for index in self.row(source) {
                let slot = &mut next[self.targets[index] as usize];
                targets[*slot as usize] = source;
                if let Some(from) = order.get_mut(*slot as usize) {
                    *from = index;
                }
                *slot += 1;
            }
        }
        let weights = self.weights.as_ref().map(|weights| weights.select(&order));
        Csr { offsets: Offsets::new(offsets), targets, weights }
    }

    /// Whether each arc has a reverse arc. Weights do not matter.
    #[must_use]
    pub fn is_symmetric(&self) -> bool {
        let reversed = self.reversed();
        self.offsets == reversed.offsets && self.targets == reversed.targets
    }

    /// The undirected graph: missing reverse arcs are added, and weights, self loops and parallel
    /// arcs are removed.
    #[must_use]
    pub fn undirected(&self) -> Csr {
        self.joined_with(&self.reversed())
    }

    /// The graph with the arcs of both graphs, without weights, self loops and parallel arcs.
    pub(crate) fn joined_with(&self, reversed: &Csr) -> Csr {
        let mut offsets = vec![0];
        let mut targets = Vec::with_capacity(self.targets.len());
        let mut row = Vec::new();
        for v in 0..self.vertices() {
            row.clear();
            row.extend(self.neighbours(v).iter().chain(reversed.neighbours(v)).filter(|&&u| u != v));
            row.sort_unstable();
            row.dedup();
            targets.extend_from_slice(&row);
            offsets.push(targets.len() as u64);
        }
        Csr { offsets: Offsets::new(offsets), targets, weights: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weighted() -> Csr {
        let mut csr = Csr::from_edges(4, vec![(0, 1), (0, 3), (2, 0), (2, 2), (2, 3)]);
        csr.weights = Some(Weights::from_values(vec![1.0, 2.0, 3.0, 4.0, 5.0]));
        csr
    }

    #[test]
    fn rows_hold_the_given_arcs() {
        let csr = Csr::from_edges(4, vec![(2, 1), (0, 3), (2, 0), (0, 1)]);
        assert_eq!(csr.offsets.narrow(), Some(&[0, 2, 2, 4, 4][..]));
        assert_eq!(csr.targets, [1, 3, 0, 1]);
        assert_eq!(csr.sources(), [0, 0, 2, 2]);
        assert_eq!((csr.vertices(), csr.edges(), csr.degree(2)), (4, 4, 2));
        assert_eq!(csr.neighbours(2), [0, 1]);
        assert_eq!(csr.neighbours(1), []);
    }

    #[test]
    fn offsets_are_wide_only_if_necessary() {
        let edge = u64::from(u32::MAX);
        assert_eq!(Offsets::new(vec![0, 5, edge]), Offsets::Narrow(vec![0, 5, u32::MAX]));
        let wide = Offsets::new(vec![0, 5, edge + 1]);
        assert_eq!(wide, Offsets::Wide(vec![0, 5, edge + 1]));
        assert_eq!((wide.len(), wide.at(2), wide.narrow()), (3, edge + 1, None));
        assert_eq!(wide.iter().collect::<Vec<_>>(), [0, 5, edge + 1]);
    }

    #[test]
    fn weights_are_whole_if_all_values_are() {
        assert_eq!(Weights::from_values(vec![0.0, 4_294_967_295.0]), Weights::Whole(vec![0, u32::MAX]));
        for values in [[0.5, 1.0], [-1.0, 1.0], [1.0, 4_294_967_296.0]] {
            assert_eq!(Weights::from_values(values.to_vec()), Weights::Real(values.to_vec()));
        }
    }

    #[test]
    fn reversing_keeps_weights_and_reversing_twice_restores_the_graph() {
        let reversed = weighted().reversed();
        let want = [(0, 2, 3.0), (1, 0, 1.0), (2, 2, 4.0), (3, 0, 2.0), (3, 2, 5.0)];
        assert!(reversed.arcs().eq(want.iter().map(|&(s, t, w)| (s, t, Some(w)))));
        assert_eq!(reversed.reversed(), weighted());
    }

    #[test]
    fn neighbours_are_mutual_in_the_undirected_graph() {
        let csr = weighted();
        assert!(!csr.is_symmetric());
        let undirected = csr.undirected();
        assert!(undirected.is_symmetric());
        assert_eq!(undirected.sources(), [0, 0, 0, 1, 2, 2, 3, 3]);
        assert_eq!(undirected.targets, [1, 2, 3, 0, 0, 3, 0, 2]);
    }

    #[test]
    fn lengths_of_real_weights_are_whole_and_at_least_one() {
        assert_eq!(weighted().lengths(), [1, 2, 3, 4, 5]);
        let mut csr = Csr::from_edges(2, vec![(0, 1), (1, 0)]);
        assert_eq!(csr.lengths(), [1, 1]);
        csr.weights = Some(Weights::from_values(vec![-0.5, 0.0]));
        assert_eq!(csr.lengths(), [10_000, 1]);
    }
}
