//! Unbalanced Tree Search as tasks. A task visits a node and makes a task for each child of the
//! node.
//!
//! The words of a task are the message whose SHA-1 is the state of its node. The task computes the
//! state itself, so all lanes of a wavefront compute a digest. The message of the root is one word
//! shorter than those of other nodes. The task of the root already has the padding word that
//! follows its message.

use std::rc::Rc;

use kernel::prelude::*;

use super::run::{Plan, SETTINGS as RUN, TALLIES_MAX, TaskProgram, check_work};
use super::sha1;
use super::tree::{CHILDREN_MAX, Limits, TooLarge, Tree, TreeKind, TreeShape, TreeSummary, fingerprint};
use super::worker::Worker;
use crate::instance::{Instance, NamedInput, Purpose, Room, Sizes, Workload};
use crate::settings::{BadSetting, Setting, Settings};

const TREE: Setting = Setting::policy(
    "tree",
    &[
        ("geometric", "the number of children is geometric, with a mean that depends on the height"),
        ("binomial", "many children at the root, then a fixed number or none"),
        ("hybrid", "geometric near the root, binomial below"),
    ],
    "the distribution of the number of children",
);

const SHAPE: Setting = Setting::policy(
    "shape",
    &[
        ("fixed", "the mean number of children is constant at heights below the setting `depth`, then 0"),
        ("linear", "the mean number of children falls linearly with the height"),
        ("exponential", "the mean number of children falls exponentially with the height"),
        ("cyclic", "the mean number of children rises and falls periodically with the height"),
    ],
    "the mean number of children of a geometric tree, as a function of the height",
);

/// The input `T1-small`: the tree T1 of the HRF paper, scaled down to about 125 thousand nodes.
const PAPER: &[(&str, &str)] = &[("depth", "8"), ("tree-seed", "21")];

pub(crate) static UTS: Workload = Workload {
    name: "uts",
    summary: "unbalanced tree search: tasks visit nodes and create tasks for their children",
    origin: "UTS benchmark (LCPC 2006), HRF paper (ASPLOS 2014), section 7",
    room: Room::Tasks,
    purpose: Purpose::Benchmark,
    sizes: Sizes { tiny: &[("work-groups", "2"), ("waves", "2")], small: &[], paper: PAPER },
    settings: &[
        TREE,
        SHAPE,
        Setting::count("depth", 5, 1, 1 << 20, "the depth parameter of the shape of the tree"),
        Setting::decimal("branching", "4", (0, 1 << 20), "mean number of children of the root"),
        Setting::decimal(
            "probability",
            "0",
            (0, 1),
            "the probability that a node of a binomial tree has children",
        ),
        Setting::count(
            "fan-out",
            0,
            0,
            CHILDREN_MAX as u64,
            "the number of children of a node of a binomial tree that has children",
        ),
        Setting::decimal(
            "shift",
            "0.5",
            (0, 1),
            "the fraction of the depth in which a hybrid tree is geometric",
        ),
        Setting::count("tree-seed", 19, 0, u32::MAX as u64, "the seed of the tree"),
        Setting::count("nodes-max", 1 << 24, 1, 1 << 32, "maximum number of nodes; a larger tree is refused"),
        RUN[0],
        RUN[1],
        RUN[2],
        RUN[3],
        RUN[4],
        RUN[5],
        RUN[6],
        RUN[7],
        RUN[8],
        RUN[9],
    ],
    make: |settings, _| uts(settings),
};

/// The trees of the benchmark's documentation, and small versions with about 125,000 nodes. A small
/// version has a smaller depth, and the first seed with which its number of nodes is within one
/// percent of 125,000. The tree T3 has no small version, because it has too little parallelism for
/// a GPU.
pub(crate) static INPUTS: [NamedInput; 9] = [
    NamedInput {
        name: "T1",
        summary: "geometric, fixed: 4,130,071 nodes, depth 10, 3,305,118 leaves",
        settings: &[GEOMETRIC, ("shape", "fixed"), ("depth", "10"), ("branching", "4"), ("tree-seed", "19")],
    },
    NamedInput {
        name: "T2",
        summary: "geometric, cyclic: 4,117,769 nodes, depth 81, 2,342,762 leaves",
        settings: &[
            GEOMETRIC,
            ("shape", "cyclic"),
            ("depth", "16"),
            ("branching", "6"),
            ("tree-seed", "502"),
        ],
    },
    NamedInput {
        name: "T3",
        summary: "binomial: 4,112,897 nodes, depth 1572, 3,599,034 leaves",
        settings: &[
            ("tree", "binomial"),
            ("branching", "2000"),
            ("probability", "0.124875"),
            ("fan-out", "8"),
            ("tree-seed", "42"),
        ],
    },
    NamedInput {
        name: "T4",
        summary: "hybrid, linear: 4,132,453 nodes, depth 134, 3,108,986 leaves",
        settings: &[
            HYBRID,
            LINEAR,
            ("depth", "16"),
            ("branching", "6"),
            PROBABILITY,
            FAN_OUT,
            ("tree-seed", "1"),
        ],
    },
    NamedInput {
        name: "T5",
        summary: "geometric, linear: 4,147,582 nodes, depth 20, 2,181,318 leaves",
        settings: &[GEOMETRIC, LINEAR, ("depth", "20"), ("branching", "4"), ("tree-seed", "34")],
    },
    NamedInput {
        name: "T1-small",
        summary: "geometric, fixed: 125,115 nodes, depth 8, 100,175 leaves",
        settings: &[GEOMETRIC, ("shape", "fixed"), ("depth", "8"), ("branching", "4"), ("tree-seed", "21")],
    },
    NamedInput {
        name: "T2-small",
        summary: "geometric, cyclic: 125,766 nodes, depth 61, 73,837 leaves",
        settings: &[
            GEOMETRIC,
            ("shape", "cyclic"),
            ("depth", "12"),
            ("branching", "6"),
            ("tree-seed", "584"),
        ],
    },
    NamedInput {
        name: "T4-small",
        summary: "hybrid, linear: 124,508 nodes, depth 93, 93,767 leaves",
        settings: &[
            HYBRID,
            LINEAR,
            ("depth", "12"),
            ("branching", "6"),
            PROBABILITY,
            FAN_OUT,
            ("tree-seed", "30"),
        ],
    },
    NamedInput {
        name: "T5-small",
        summary: "geometric, linear: 125,549 nodes, depth 15, 67,197 leaves",
        settings: &[GEOMETRIC, LINEAR, ("depth", "15"), ("branching", "4"), ("tree-seed", "132")],
    },
];

const GEOMETRIC: (&str, &str) = ("tree", "geometric");
const HYBRID: (&str, &str) = ("tree", "hybrid");
const LINEAR: (&str, &str) = ("shape", "linear");
const PROBABILITY: (&str, &str) = ("probability", "0.234375");
const FAN_OUT: (&str, &str) = ("fan-out", "4");

impl Tree {
    /// The tree that the settings of the workload `uts` describe.
    #[must_use]
    pub fn of(settings: &Settings) -> Tree {
        Tree {
            kind: match settings.choice(TREE.name) {
                "binomial" => TreeKind::Binomial,
                "hybrid" => TreeKind::Hybrid,
                _ => TreeKind::Geometric,
            },
            shape: match settings.choice(SHAPE.name) {
                "linear" => TreeShape::Linear,
                "exponential" => TreeShape::Exponential,
                "cyclic" => TreeShape::Cyclic,
                _ => TreeShape::Fixed,
            },
            depth: settings.count("depth") as u32,
            branching: settings.decimal("branching"),
            probability: settings.decimal("probability"),
            fan_out: settings.count("fan-out") as u32,
            shift: settings.decimal("shift"),
            seed: settings.count("tree-seed") as u32,
        }
    }
}

/// The number of words of a task: a message of six words and the height.
const WORDS: usize = 7;

#[derive(Clone, Copy, Debug)]
struct Search {
    tree: Tree,
}

/// The number of the tally (a counter of the program) that counts leaves. The next constants are
/// the number of the tally with the hashes of all nodes, and the first number of the tallies that
/// count the nodes at each height.
const LEAVES: usize = 0;
const FINGERPRINT: usize = 1;
const HEIGHTS: usize = 2;

impl Search {
    /// The state of the node that each lane visits.
    fn states(&self, tasks: &[Lanes<u32>; WORDS]) -> [Lanes<u32>; 5] {
        let [a, b, c, d, e, last, height] = *tasks;
        let (root, zero) = (height.eq(0), Lanes::splat(0));
        let padding = Lanes::select(root, 0u32, 1 << 31);
        let bits = Lanes::select(root, 5 * 32u32, 6 * 32);
        let mut block = [zero; 16];
        block[..7].copy_from_slice(&[a, b, c, d, e, last, padding]);
        block[15] = bits;
        sha1::digests(&block)
    }

    fn mean(&self, height: &Lanes<u32>) -> Lanes<f64> {
        let (b, d) = (self.tree.branching, f64::from(self.tree.depth));
        let h = height.to_f64();
        let mean = match self.tree.shape {
            TreeShape::Linear => (Lanes::splat(1.0) - h / d) * b,
            TreeShape::Exponential => {
                let exponent = -libm::log(b) / libm::log(d);
                h.map(Class::Special, |h| libm::pow(h, exponent)) * b
            }
            TreeShape::Cyclic => {
                let angle = h * (2.0 * core::f64::consts::PI) / d;
                let sine = angle.map(Class::Special, libm::sin);
                let mean = sine.map(Class::Special, |sine| libm::pow(b, sine));
                Lanes::select(h.gt(5.0 * d), 0.0, mean)
            }
            TreeShape::Fixed => Lanes::select(height.lt(self.tree.depth), b, 0.0),
        };
        Lanes::select(height.eq(0), b, mean)
    }

    /// The number of children of the node that each lane visits.
    fn children(&self, last: Lanes<u32>, height: &Lanes<u32>) -> Lanes<u32> {
        let random = (last & 0x7fff_ffff).to_f64() * (1.0 / f64::from(1u32 << 31));
        let geometric = || {
            let p = Lanes::splat(1.0) / (self.mean(height) + 1.0);
            let top = (Lanes::splat(1.0) - random).map(Class::Special, libm::log);
            let bottom = (Lanes::splat(1.0) - p).map(Class::Special, libm::log);
            (top / bottom).to_u32().min(CHILDREN_MAX)
        };
        let fan_out = self.tree.fan_out.min(CHILDREN_MAX);
        let binomial = || Lanes::select(random.lt(self.tree.probability), fan_out, 0u32);
        match self.tree.kind {
            TreeKind::Geometric => geometric(),
            TreeKind::Binomial => Lanes::select(height.eq(0), self.tree.branching as u32, binomial()),
            TreeKind::Hybrid => {
                let shift = self.tree.shift * f64::from(self.tree.depth);
                Lanes::select(height.to_f64().lt(shift), geometric(), binomial())
            }
        }
    }
}

impl TaskProgram<WORDS> for Search {
    const NAME: &'static str = "uts";
    const FUNCTIONS: &'static [&'static str] = &["visit"];

    async fn run(&self, w: &Wave, _: usize, tasks: [Lanes<u32>; WORDS], worker: &mut Worker<WORDS>) {
        let (height, states) = (tasks[6], self.states(&tasks));
        let children = self.children(states[4], &height);
        let leaves = w.when(children.eq(0)).mask().count();
        worker.tally(LEAVES, u64::from(leaves));
        // Only the check of the answer uses these values. The work of the program does not include
        // them.
        for lane in w.mask().iter() {
            let state = states.map(|word| word.get(lane));
            worker.tally(FINGERPRINT, fingerprint(&state, height.get(lane)));
            worker.tally(HEIGHTS + height.get(lane) as usize, 1);
        }
        let make = |w: &Wave, from: &Lanes<u32>, number: &Lanes<u32>| {
            let [a, b, c, d, e] = states.map(|word| w.shuffle(&word, from));
            [a, b, c, d, e, *number, w.shuffle(&height, from) + 1]
        };
        worker.spawn_each(w, 0, &children, make).await;
    }
}

fn uts(settings: &Settings) -> Result<Instance, BadSetting> {
    let (tree, plan) = (Tree::of(settings), Plan::of(settings)?);
    let nodes_max = settings.count("nodes-max");
    let depth_max = TALLIES_MAX - HEIGHTS as u64 - 1;
    let summary = tree.traverse(Limits { nodes: nodes_max, depth: depth_max }).map_err(|limit| {
        settings.conflict(match limit {
            TooLarge::Nodes { about: None } => {
                format!("the tree has more than {nodes_max} nodes: raise `nodes-max`")
            }
            TooLarge::Nodes { about: Some(about) } => {
                let lower = match tree.kind {
                    TreeKind::Geometric => "`branching` or `depth`",
                    TreeKind::Binomial => "`probability` or `fan-out`",
                    TreeKind::Hybrid => "`branching` or `probability`",
                };
                let about = about.min(f64::MAX);
                format!(
                    "the tree has about {about:.1e} nodes, expected at most {nodes_max}: lower {lower}, or \
                     raise `nodes-max`"
                )
            }
            TooLarge::Depth => {
                let cause = if tree.kind == TreeKind::Geometric { "depth" } else { "probability" };
                format!("the tree is deeper than the limit of {depth_max}: lower `{cause}`")
            }
        })
    })?;
    let program = Program::new("uts", move |host| async move {
        // The message of the root has four zero words and the seed. The padding word follows.
        let root = [0, 0, 0, 0, tree.seed, 1 << 31, 0];
        let done = plan.run(&host, Search { tree }, &[(0, root)]).await;
        let tally = |number: usize| done.tallies.get(number).copied().unwrap_or(0);
        let (leaves, fingerprint) = (tally(LEAVES), tally(FINGERPRINT));
        let at_height = done.tallies.get(HEIGHTS..).unwrap_or_default().to_vec();
        let answer = Answer::new()
            .with("nodes_at_height", &at_height)
            .with("leaves", &[leaves])
            .with("fingerprint", &[fingerprint]);
        done.into_answer(answer)
    });
    let summary = Rc::new(summary);
    Ok(Instance::new(program, move |answer| check(&summary, answer)))
}

fn check(summary: &TreeSummary, answer: &Answer) -> Result<(), WrongAnswer> {
    check_work(summary.nodes, answer)?;
    answer.expect("nodes_at_height", &summary.at_height)?;
    answer.expect("leaves", &[summary.leaves])?;
    answer.expect("fingerprint", &[summary.fingerprint])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_and_host_draw_the_same_number_of_children() {
        let shapes = [TreeShape::Linear, TreeShape::Exponential, TreeShape::Cyclic, TreeShape::Fixed];
        for kind in [TreeKind::Binomial, TreeKind::Geometric, TreeKind::Hybrid] {
            for shape in shapes {
                let tree = Tree {
                    kind,
                    shape,
                    depth: 9,
                    branching: 5.5,
                    probability: 0.25,
                    fan_out: 3,
                    shift: 0.5,
                    seed: 0,
                };
                for height in 0..64u32 {
                    let last = |lane: usize| (lane as u32 + height * 64).wrapping_mul(0x9e37_79b9);
                    let found = Search { tree }.children(Lanes::from_fn(last), &Lanes::splat(height));
                    for lane in 0..64 {
                        let want = tree.children(&[0, 0, 0, 0, last(lane)], height);
                        assert_eq!(found.get(lane), want, "{kind:?} {shape:?} at {height}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_task_computes_the_state_of_the_root_and_of_a_child() {
        let tree = Tree {
            kind: TreeKind::Geometric,
            shape: TreeShape::Fixed,
            depth: 3,
            branching: 4.0,
            probability: 0.0,
            fan_out: 0,
            shift: 0.5,
            seed: 19,
        };
        let state =
            |task: [u32; WORDS]| Search { tree }.states(&task.map(Lanes::splat)).map(|word| word.get(0));
        let root = tree.root();
        assert_eq!(state([0, 0, 0, 0, 19, 1 << 31, 0]), root);
        let [a, b, c, d, e] = root;
        assert_eq!(state([a, b, c, d, e, 7, 1]), sha1::digest(&sha1::block(&[a, b, c, d, e, 7])));
    }
}
