//! A forecast of the number of nodes in a tree, from a small part of the tree.
//!
//! Subtrees whose roots have the same height are independent and identically distributed. The mean
//! and the variance of their sizes therefore follow from the mean and the variance of the number of
//! children at each height. A tree is too large if the limit of its number of nodes is far below
//! the mean of this number.

use std::collections::VecDeque;

use super::sha1;
use super::tree::{CHILDREN_MAX, Limits, Tree};

/// The forecast stops visiting nodes when this number of nodes is known.
const NODES_SEEN: usize = 1 << 16;

/// The maximum number of heights, below the visited part of the tree, for which the sizes of
/// subtrees are computed.
const HEIGHTS_MAX: u32 = 1 << 14;

/// The forecast calls a tree too large only if the limit of its number of nodes is at least this
/// number of standard deviations below the mean of the number of nodes.
const DEVIATIONS: f64 = 10.0;

/// The distribution of the size of a subtree: its mean, and the square of the ratio of its standard
/// deviation to its mean.
#[derive(Clone, Copy, Debug)]
struct Size {
    mean: f64,
    spread: f64,
}

impl Tree {
    /// The approximate number of nodes of the tree, if this number almost certainly exceeds the
    /// limit in `limits`. Otherwise `None`.
    pub(super) fn forecast(&self, limits: Limits) -> Option<f64> {
        let (visited, waiting) = self.begin();
        // The nodes that are known but not visited have at most two heights, one after the other.
        let (first, last) = (*waiting.front()?, *waiting.back()?);
        let sizes = self.sizes(first, limits.depth);
        let mut total = visited as f64;
        let mut is_certain = false;
        for (height, size) in (first..=last).zip(&sizes) {
            let count = waiting.iter().filter(|other| **other == height).count() as f64;
            let mean = count * size.mean;
            let low = mean * (1.0 - DEVIATIONS * (size.spread / count).sqrt());
            is_certain |= low > limits.nodes as f64;
            total += mean;
        }
        is_certain.then_some(total)
    }

    /// Visits a part of the tree in breadth-first order. Returns the number of visited nodes, and
    /// the heights of those nodes that are known but not visited.
    fn begin(&self) -> (usize, VecDeque<u32>) {
        let root = self.root();
        let behind = |state: [u32; 5], height: u32| {
            (0..self.children(&state, height)).map(move |number| (state, number, height + 1))
        };
        let mut waiting: VecDeque<_> = behind(root, 0).collect();
        let mut visited = 1;
        while visited + waiting.len() < NODES_SEEN
            && let Some(([a, b, c, d, e], number, height)) = waiting.pop_front()
        {
            visited += 1;
            let state = sha1::digest(&sha1::block(&[a, b, c, d, e, number]));
            waiting.extend(behind(state, height));
        }
        (visited, waiting.into_iter().map(|(.., height)| height).collect())
    }

    /// For each height from `first` to `deepest`, the distribution of the size of a subtree whose
    /// root has this height. The size is a lower bound, because nodes below `deepest` are not
    /// counted.
    fn sizes(&self, first: u32, deepest: u64) -> Vec<Size> {
        let mut below = Size { mean: 0.0, spread: 0.0 };
        let mut sizes = Vec::new();
        let farthest = first.saturating_add(HEIGHTS_MAX);
        for height in (first..=u32::try_from(deepest).unwrap_or(u32::MAX).min(farthest)).rev() {
            let (children, variance) = self.moments(height);
            let mean = if children > 0.0 { 1.0 + children * below.mean } else { 1.0 };
            // The mean may overflow, but the ratio of two means does not.
            let ratio = if mean.is_finite() { below.mean / mean } else { 1.0 / children };
            below = Size { mean, spread: (children * below.spread + variance) * ratio * ratio };
            sizes.push(below);
        }
        sizes.reverse();
        sizes
    }

    /// The mean and the variance of the number of children of a node below the root.
    fn moments(&self, height: u32) -> (f64, f64) {
        if !self.is_geometric(height) {
            let (p, fan_out) = (self.probability, f64::from(self.fan_out.min(CHILDREN_MAX)));
            return (p * fan_out, p * (1.0 - p) * fan_out * fan_out);
        }
        // The bounds are those of `Tree::children`: beyond them, a node has no children.
        let more = 1.0 - 1.0 / (1.0 + self.mean(height));
        if !(more > 0.0 && more < 1.0) {
            return (0.0, 0.0);
        }
        let (mut mean, mut square, mut at_least) = (0.0, 0.0, 1.0);
        for count in 1..=CHILDREN_MAX {
            at_least *= more;
            mean += at_least;
            square += f64::from(2 * count - 1) * at_least;
        }
        (mean, square - mean * mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::tree::{TooLarge, TreeKind, TreeShape};
    use crate::tasks::uts::{INPUTS, UTS};

    const TREE: Tree = Tree {
        kind: TreeKind::Geometric,
        shape: TreeShape::Fixed,
        depth: 3,
        branching: 60.0,
        probability: 0.0,
        fan_out: 0,
        shift: 0.5,
        seed: 19,
    };

    fn limits(nodes: u64) -> Limits {
        Limits { nodes, depth: 4093 }
    }

    #[test]
    fn a_broad_tree_is_refused_from_a_small_part_of_it() {
        // With a hundred children for each node, the tree exceeds every possible limit.
        let broad = Tree { depth: 40, branching: 1e6, ..TREE };
        let Err(TooLarge::Nodes { about }) = broad.traverse(limits(1 << 20)) else {
            panic!("it is too large")
        };
        assert!(about.is_some_and(|about| about > 1e70), "{about:?}");
        let binomial = Tree { kind: TreeKind::Binomial, probability: 0.5, fan_out: 100, ..TREE };
        assert!(binomial.forecast(limits(1 << 32)).is_some());
    }

    #[test]
    fn a_forecast_is_near_the_count_of_a_traversal() {
        for shape in [TreeShape::Fixed, TreeShape::Linear, TreeShape::Exponential, TreeShape::Cyclic] {
            for seed in 0..4 {
                let depth = if shape == TreeShape::Linear { 9 } else { 5 };
                let tree = Tree { shape, seed, depth, branching: 12.0, ..TREE };
                let Ok(all) = tree.traverse(limits(1 << 21)) else { continue };
                if let Some(about) = tree.forecast(limits(all.nodes / 4)) {
                    let ratio = about / all.nodes as f64;
                    assert!((0.8..1.25).contains(&ratio), "{tree:?}: {about} for {}", all.nodes);
                }
            }
        }
    }

    #[test]
    fn no_tree_within_its_limit_is_refused() {
        for input in &INPUTS {
            let mut settings = UTS.defaults();
            for (name, value) in input.settings {
                settings.set(name, value).expect("a setting");
            }
            let tree = Tree::of(&settings);
            let nodes = tree.traverse(limits(1 << 24)).expect("it is small enough").nodes;
            assert_eq!(tree.forecast(limits(nodes)), None, "{}", input.name);
        }
        // These trees are small, although the mean size is far larger.
        let is_small =
            |seed: &u32| Tree { seed: *seed, depth: 9, branching: 2.0, ..TREE }.traverse(limits(50)).is_ok();
        assert!((0..64).filter(is_small).count() > 10);
    }
}
