//! The trees of the Unbalanced Tree Search benchmark (Olivier and others, LCPC 2006), as the
//! generator in its public source makes them.
//!
//! A node has a state of twenty bytes and a height. The state of the root is the SHA-1 of sixteen
//! zero bytes and the seed. The state of child `i` of a node is the SHA-1 of the node's state and
//! `i`. The last word of the state, without its top bit and divided by 2^31, is a random value. It
//! determines the number of children.

use super::sha1;

/// After this number of nodes, a traversal forecasts the size of the tree.
const FORECAST_AFTER: u64 = 1 << 16;

/// The maximum number of children of a node. The root of a binomial tree may have more.
pub(super) const CHILDREN_MAX: u32 = 100;

/// The distribution of the number of children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TreeKind {
    /// Every node below the root has either a fixed number of children or none. The probability
    /// that it has children is the same at every height. The root has many children.
    Binomial,
    /// The number of children follows a geometric distribution, whose mean depends on the height.
    Geometric,
    /// The tree is geometric near the root, and binomial below.
    Hybrid,
}

/// The way in which the mean number of children depends on the height.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TreeShape {
    /// The mean number of children falls linearly as the height grows.
    Linear,
    /// The mean number of children falls as a power of the height. The benchmark calls this
    /// decrease exponential.
    Exponential,
    /// The mean number of children rises and falls periodically as the height grows.
    Cyclic,
    /// The mean number of children is constant at heights below the depth of the tree, then zero.
    Fixed,
}

/// The parameters of a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tree {
    /// The distribution of the number of children.
    pub kind: TreeKind,
    /// The way in which the mean of a geometric distribution depends on the height.
    pub shape: TreeShape,
    /// The depth parameter of the shape, as a height (the distance of a node from the root). The
    /// mean number of children at each height is computed from this parameter.
    pub depth: u32,
    /// The mean number of children of the root. If the tree is binomial, the exact number.
    pub branching: f64,
    /// The probability that a node of a binomial tree has children.
    pub probability: f64,
    /// In a binomial tree, the number of children of each node that has children.
    pub fan_out: u32,
    /// A hybrid tree is geometric down to this fraction of its depth.
    pub shift: f64,
    /// The seed from which the states of all nodes follow.
    pub seed: u32,
}

/// The result of a traversal of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeSummary {
    /// The number of nodes.
    pub nodes: u64,
    /// The number of nodes without children.
    pub leaves: u64,
    /// The number of nodes at each height.
    pub at_height: Vec<u64>,
    /// The sum of the hashes of all nodes, for comparison with another traversal.
    pub fingerprint: u64,
}

impl TreeSummary {
    /// The height of the deepest node.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.at_height.len().saturating_sub(1)
    }
}

/// The limits that a tree must not exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of nodes.
    pub nodes: u64,
    /// The maximum height of a node.
    pub depth: u64,
}

/// The limit that a tree exceeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TooLarge {
    /// The tree has too many nodes.
    Nodes {
        /// The approximate number of nodes, if it is far above the limit.
        about: Option<f64>,
    },
    /// The tree has a node whose height is above the limit.
    Depth,
}

/// A hash of a node's state and height.
pub(super) fn fingerprint(state: &[u32; 5], height: u32) -> u64 {
    state.iter().chain([&height]).fold(0, |sum, word| {
        let mixed = (sum ^ u64::from(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 29)
    })
}

impl Tree {
    /// The mean number of children of a node at this height.
    pub(super) fn mean(&self, height: u32) -> f64 {
        let (b, d, h) = (self.branching, f64::from(self.depth), f64::from(height));
        if height == 0 {
            return b;
        }
        match self.shape {
            TreeShape::Linear => b * (1.0 - h / d),
            TreeShape::Exponential => b * libm::pow(h, -libm::log(b) / libm::log(d)),
            TreeShape::Cyclic if h > 5.0 * d => 0.0,
            TreeShape::Cyclic => libm::pow(b, libm::sin(2.0 * core::f64::consts::PI * h / d)),
            TreeShape::Fixed if height < self.depth => b,
            TreeShape::Fixed => 0.0,
        }
    }

    fn geometric(&self, random: f64, height: u32) -> u32 {
        let p = 1.0 / (1.0 + self.mean(height));
        let count = libm::log(1.0 - random) / libm::log(1.0 - p);
        (count as u32).min(CHILDREN_MAX)
    }

    fn binomial(&self, random: f64) -> u32 {
        if random < self.probability { self.fan_out.min(CHILDREN_MAX) } else { 0 }
    }

    /// Whether the number of children at this height follows a geometric distribution.
    pub(super) fn is_geometric(&self, height: u32) -> bool {
        match self.kind {
            TreeKind::Binomial => false,
            TreeKind::Geometric => true,
            TreeKind::Hybrid => f64::from(height) < self.shift * f64::from(self.depth),
        }
    }

    /// The number of children of the node with this state and height.
    pub(super) fn children(&self, state: &[u32; 5], height: u32) -> u32 {
        let random = f64::from(state[4] & 0x7fff_ffff) / f64::from(1u32 << 31);
        if self.is_geometric(height) {
            self.geometric(random, height)
        } else if self.kind == TreeKind::Binomial && height == 0 {
            self.branching as u32
        } else {
            self.binomial(random)
        }
    }

    pub(super) fn root(&self) -> [u32; 5] {
        sha1::digest(&sha1::block(&[0, 0, 0, 0, self.seed]))
    }

    /// Visits all nodes on the host, unless the tree exceeds a limit.
    ///
    /// # Errors
    /// If the tree exceeds a limit. The error is this limit.
    pub fn traverse(&self, limits: Limits) -> Result<TreeSummary, TooLarge> {
        let mut summary = TreeSummary::default();
        // The nodes on the path to the current node. Each has its state, its number of children,
        // and the number of the next child to visit.
        let mut path: Vec<([u32; 5], u32, u32)> = Vec::new();
        let mut visit = |state: [u32; 5], height: u32| {
            let children = self.children(&state, height);
            summary.nodes += 1;
            summary.leaves += u64::from(children == 0);
            if summary.at_height.len() <= height as usize {
                summary.at_height.push(0);
            }
            summary.at_height[height as usize] += 1;
            summary.fingerprint = summary.fingerprint.wrapping_add(fingerprint(&state, height));
            match () {
                () if u64::from(height) > limits.depth => Err(TooLarge::Depth),
                () if summary.nodes > limits.nodes => Err(TooLarge::Nodes { about: None }),
                () => Ok((state, children, 0)),
            }
        };
        path.push(visit(self.root(), 0)?);
        let mut visits = 0;
        while let Some((state, children, next)) = path.last_mut() {
            if next == children {
                path.pop();
                continue;
            }
            let [a, b, c, d, e] = *state;
            let child = sha1::digest(&sha1::block(&[a, b, c, d, e, *next]));
            *next += 1;
            let height = path.len() as u32;
            path.push(visit(child, height)?);
            visits += 1;
            if visits == FORECAST_AFTER
                && let about @ Some(_) = self.forecast(limits)
            {
                return Err(TooLarge::Nodes { about });
            }
        }
        Ok(summary)
    }
}
