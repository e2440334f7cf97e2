//! A paper's experiments: what is run, drawn and claimed.
//!
//! Files say it (see `experiments/`), a [`Plan`] lists the runs, and
//! [`evaluate`](Plan::evaluate) makes figures and scores of their rows. No
//! experiment, no metric and no published figure is in the code.

pub mod claims;
pub mod expr;

pub(crate) mod built_in;
mod evaluate;
mod files;
mod litmus;
mod plan;
mod resolve;
mod score;
mod shown;
pub(crate) mod statistics;

pub use built_in::names;
pub use plan::{GraphAsked, Plan, Request, Task};

use std::collections::BTreeMap;

use sim::config::System;
use workloads::{NamedInput, Workload};

use crate::results::Shape;
use crate::scenario::Scenario;
use claims::Claims;
use expr::{Comparison, Expr};
use files::{Fold, Groups};

/// The variant in which nothing is changed.
pub const BASE: &str = "base";

/// A paper whose every name is known.
#[derive(Clone, Debug)]
pub struct Paper {
    /// Its name, as `hlrc`.
    pub name: String,
    /// What it claims.
    pub claims: Claims,
    /// So many seeds unless told otherwise.
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

/// Where an input is from.
#[derive(Clone, Debug)]
enum Source {
    /// A graph of this name.
    Graph(String),
    /// The workload has it itself.
    Named(&'static NamedInput),
}

#[derive(Clone, Debug)]
struct Variant {
    name: String,
    system: System,
    changes: Vec<String>,
    settings: BTreeMap<String, String>,
    policy: Option<String>,
}

/// A figure: what is run for it, how it is drawn and what is measured with it.
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
    shown: Vec<String>,
    parts: Vec<(String, Expr)>,
    published: Option<String>,
    measures: Vec<Measure>,
    litmus: Vec<litmus::Litmus>,
}

/// How a claim is measured.
#[derive(Clone, Debug)]
struct Measure {
    claim: String,
    text: String,
    what: What,
    fold: Fold,
    inputs: Vec<String>,
}

#[derive(Clone, Debug)]
enum What {
    Value(Expr),
    Order(Vec<Comparison>),
    /// Two values rise together over the inputs.
    Rises(Expr, Expr),
}
