//! The experiments of a paper: runs, figures and claims.
//!
//! The files in `experiments/` define the experiments. A [`Plan`] lists the runs.
//! [`evaluate`](Plan::evaluate) computes the figures and the scores of the claims from the results
//! of the runs (rows). The code contains no experiment, no metric and no published number.

pub mod claims;
pub mod expr;

pub(crate) mod built_in;
mod evaluate;
mod files;
mod labels;
mod litmus;
mod plan;
mod resolve;
mod score;
pub(crate) mod statistics;
mod verified;

pub use crate::task::{InputRequest, Task};
pub use built_in::names;
pub use plan::{Plan, Request};

use std::collections::BTreeMap;

use sim::config::{Invalidation, System};
use workloads::{NamedInput, Settings, Workload};

use crate::results::Shape;
use crate::scenario::Scenario;
use claims::Claims;
use expr::{At, Comparison, Expr};
use files::{Fold, Groups};

/// The name of the variant whose machine is the machine of the paper without changes.
pub const BASE: &str = "base";

/// The experiments of a paper. Every name in the experiment files has been looked up and exists.
#[derive(Clone, Debug)]
pub struct Paper {
    /// The name of the paper, such as `hlrc`.
    pub name: String,
    /// The claims of the paper.
    pub claims: Claims,
    /// The number of seeds, if the user gives no number.
    pub seeds: u64,
    settings: BTreeMap<String, String>,
    scenarios: Vec<NamedScenario>,
    inputs: Vec<Input>,
    variants: Vec<Variant>,
    figures: Vec<FigurePlan>,
}

#[derive(Clone, Debug)]
struct NamedScenario {
    name: String,
    scenario: Scenario,
    summary: String,
}

#[derive(Clone, Debug)]
struct Input {
    name: String,
    workload: &'static Workload,
    source: Source,
}

/// The source of a workload's input.
#[derive(Clone, Debug)]
enum Source {
    /// A graph, given by its name. The graph comes from a file, or is a stand-in (a generated
    /// graph).
    Graph(String),
    /// An input that the workload itself provides.
    Named(&'static NamedInput),
    /// An input that the workload generates from the settings in the first field. The text
    /// describes these settings.
    Generated(Settings, String),
}

#[derive(Clone, Debug)]
struct Variant {
    name: String,
    system: System,
    changes: Vec<String>,
    settings: BTreeMap<String, String>,
    policy: Option<String>,
}

impl Variant {
    /// Whether the machine ignores acquires. A wrong answer is then expected, and the measurements
    /// of a run with a wrong answer still count.
    fn is_unsound(&self) -> bool {
        self.system.l1.invalidation == Invalidation::None
    }
}

/// The plan of a figure: which runs it needs, which chart it has, and which measures of claims are
/// computed from the runs.
#[derive(Clone, Debug)]
struct FigurePlan {
    id: String,
    title: String,
    place: String,
    scenarios: Vec<String>,
    inputs: Vec<String>,
    variants: Vec<String>,
    shape: Shape,
    groups: Groups,
    unit: String,
    /// The scenarios and the variants that the chart shows, which need not be all of the figure.
    shown: Vec<String>,
    shown_variants: Vec<String>,
    parts: Vec<(String, Expr)>,
    published: Option<String>,
    /// The groups of bars with means over some of the inputs: the name and the inputs of each
    /// group.
    means: Vec<(String, Vec<String>)>,
    measures: Vec<Measure>,
    litmus: Vec<litmus::Litmus>,
    verified: Vec<verified::VerifiedClaim>,
    /// The claims that tests of the project check, each with the file of the test.
    tested: Vec<(String, String)>,
}

/// A measure of a claim: the expression or the comparisons that are evaluated for the claim, and
/// the inputs for which they are evaluated.
#[derive(Clone, Debug)]
struct Measure {
    claim: String,
    text: String,
    what: Metric,
    fold: Fold,
    inputs: Vec<String>,
}

impl Measure {
    /// Returns true if all quantities of the measure are those of one variant. `here` is the variant
    /// of quantities that name none.
    fn is_only_on(&self, variant: &str, here: &str) -> bool {
        let mut is_only = true;
        let mut visit = |_: &str, at: &At| is_only &= at.variant.as_deref().unwrap_or(here) == variant;
        match &self.what {
            Metric::Value(expr) => expr.quantities(&mut visit),
            Metric::Order(order) => order.iter().for_each(|comparison| {
                comparison.left.quantities(&mut visit);
                comparison.right.quantities(&mut visit);
            }),
            Metric::Rises(rising, with) => {
                rising.quantities(&mut visit);
                with.quantities(&mut visit);
            }
            Metric::Spread(values) => values.iter().for_each(|expr| expr.quantities(&mut visit)),
            Metric::Largest(expr) => expr.quantities(&mut visit),
        }
        is_only
    }
}

#[derive(Clone, Debug)]
enum Metric {
    Value(Expr),
    Order(Vec<Comparison>),
    /// The rank correlation of two values over the inputs. It says whether the two values rise
    /// together.
    Rises(Expr, Expr),
    /// The spread of several means. The mean of each expression over the inputs is computed. The
    /// spread is the largest mean divided by the smallest mean, minus one.
    Spread(Vec<Expr>),
    /// The comparison of the smallest value on the inputs of the measure with the largest value on
    /// all other inputs of the figure.
    Largest(Expr),
}
