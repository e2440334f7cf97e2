//! The trees of the Unbalanced Tree Search benchmark (Olivier and others, LCPC
//! 2006; the generator of its public source).
//!
//! A node is a state of twenty bytes and a height. The root's state is the
//! SHA-1 of sixteen zero bytes and the seed; that of child `i` the SHA-1 of its
//! parent's state and `i`. The last word of the state without its top bit, over
//! 2^31, is the random value that says how many children there are.

use super::sha1;

/// After so many nodes a traversal asks how many there will be.
const FORECAST_AFTER: u64 = 1 << 16;

/// Only the root of a binomial tree has more children.
pub(super) const CHILDREN_MAX: u32 = 100;

/// How the number of children is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Some or none, alike at every height; many at the root.
    Binomial,
    /// Geometrically distributed, around a mean that depends on the height.
    Geometric,
    /// Geometric near the root, binomial below.
    Hybrid,
}

/// How the mean number of children depends on the height.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// Falls in proportion.
    Linear,
    /// Falls exponentially.
    Exponential,
    /// Rises and falls in turn.
    Cyclic,
    /// Stays, and ends at once.
    Fixed,
}

/// A tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tree {
    /// How the number of children is drawn.
    pub kind: Kind,
    /// How its mean depends on the height, where it does.
    pub shape: Shape,
    /// The depth that shapes speak of.
    pub depth: u32,
    /// The mean number of children of the root; of a binomial root, the number.
    pub branching: f64,
    /// The probability that a node of a binomial tree has children.
    pub probability: f64,
    /// How many it has then.
    pub fan_out: u32,
    /// The part of the depth where a hybrid tree is geometric.
    pub shift: f64,
    /// The seed.
    pub seed: u32,
}

/// What a traversal found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// How many nodes.
    pub nodes: u64,
    /// How many of them without children.
    pub leaves: u64,
    /// How many at each height.
    pub at_height: Vec<u64>,
    /// A sum over all nodes that depends on each state and height.
    pub fingerprint: u64,
}

impl Summary {
    /// The height of the deepest node.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.at_height.len().saturating_sub(1)
    }
}

/// How large a tree may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Nodes in all.
    pub nodes: u64,
    /// The height of the deepest node.
    pub depth: u64,
}

/// The limit that a tree exceeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TooLarge {
    /// It has more nodes.
    Nodes {
        /// About how many, if that is far more.
        about: Option<f64>,
    },
    /// It is deeper.
    Depth,
}

/// A number that depends on all bits of a node.
pub(super) fn fingerprint(state: &[u32; 5], height: u32) -> u64 {
    state.iter().chain([&height]).fold(0, |sum, word| {
        let mixed = (sum ^ u64::from(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 29)
    })
}

impl Tree {
    /// The mean number of children at a height.
    pub(super) fn mean(&self, height: u32) -> f64 {
        let (b, d, h) = (self.branching, f64::from(self.depth), f64::from(height));
        if height == 0 {
            return b;
        }
        match self.shape {
            Shape::Linear => b * (1.0 - h / d),
            Shape::Exponential => b * libm::pow(h, -libm::log(b) / libm::log(d)),
            Shape::Cyclic if h > 5.0 * d => 0.0,
            Shape::Cyclic => libm::pow(b, libm::sin(2.0 * core::f64::consts::PI * h / d)),
            Shape::Fixed if height < self.depth => b,
            Shape::Fixed => 0.0,
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

    /// Is the number of children at this height drawn geometrically?
    pub(super) fn is_geometric(&self, height: u32) -> bool {
        match self.kind {
            Kind::Binomial => false,
            Kind::Geometric => true,
            Kind::Hybrid => f64::from(height) < self.shift * f64::from(self.depth),
        }
    }

    /// How many children a node has.
    pub(super) fn children(&self, state: &[u32; 5], height: u32) -> u32 {
        let random = f64::from(state[4] & 0x7fff_ffff) / f64::from(1u32 << 31);
        if self.is_geometric(height) {
            self.geometric(random, height)
        } else if self.kind == Kind::Binomial && height == 0 {
            self.branching as u32
        } else {
            self.binomial(random)
        }
    }

    pub(super) fn root(&self) -> [u32; 5] {
        sha1::digest(&sha1::block(&[0, 0, 0, 0, self.seed]))
    }

    /// Visits all nodes on the host, or gives up where the tree is too large.
    ///
    /// # Errors
    /// Which limit it exceeds.
    pub fn traverse(&self, limits: Limits) -> Result<Summary, TooLarge> {
        let mut summary = Summary::default();
        // The nodes on the way down: state, children, and which is next.
        let mut way: Vec<([u32; 5], u32, u32)> = Vec::new();
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
        way.push(visit(self.root(), 0)?);
        let mut visits = 0;
        while let Some((state, children, next)) = way.last_mut() {
            if next == children {
                way.pop();
                continue;
            }
            let [a, b, c, d, e] = *state;
            let child = sha1::digest(&sha1::block(&[a, b, c, d, e, *next]));
            *next += 1;
            let height = way.len() as u32;
            way.push(visit(child, height)?);
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
