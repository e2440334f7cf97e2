//! Checks a paper's claims about litmus tests: whether a test has a data race, and whether its
//! condition holds.

use ::litmus::hrf::{Model, Reading};
use ::litmus::suite::{Judge, Method};

/// Expands to a list of litmus tests. Each entry has the name of a test and the text of its file.
/// The tests come from figures of papers.
macro_rules! tests {
    ($($name:literal),+ $(,)?) => {
        [$(($name, include_str!(concat!("../../../../litmus/", $name, ".litmus")))),+]
    };
}

pub(super) const TESTS: [(&str, &str); 5] =
    tests!["hrf/fig2", "hrf/fig5-same-wg", "hrf/fig5-other-wg", "hrf/fig6", "hrf/fig7"];

/// A litmus test, and the claim of a paper about the test.
#[derive(Clone, Debug)]
pub(super) struct Litmus {
    pub(super) claim: String,
    /// The name of the litmus test, and the text of its file.
    pub(super) test: (&'static str, &'static str),
    /// The memory models that the claim is about.
    pub(super) models: Vec<Model>,
    /// Whether the claim assumes the rule of inclusion: operations of two different scopes
    /// synchronize if one scope contains the other scope.
    pub(super) inclusion: bool,
    /// Whether the claim says that the test has a data race.
    pub(super) races: bool,
    /// Whether the claim says that the condition of the test holds. `None` if the claim says
    /// nothing about the condition.
    pub(super) verdict: Option<bool>,
}

/// The result of a litmus test under one memory model.
pub(super) struct ModelResult {
    /// The result in words.
    pub(super) words: String,
    /// Whether the result agrees with the claim of the paper.
    pub(super) holds: bool,
}

impl Litmus {
    /// The claim about the litmus test in words.
    pub(super) fn text(&self) -> String {
        let models: Vec<&str> = self.models.iter().map(|model| model.name()).collect();
        let inclusion = if self.inclusion { " with inclusion" } else { "" };
        let condition = match self.verdict {
            None => "",
            Some(true) => ", its condition holds",
            Some(false) => ", its condition does not hold",
        };
        let races = if self.races { "races" } else { "is race-free" };
        format!("{} {races} under {}{inclusion}{condition}", self.test.0, models.join(", "))
    }

    /// Checks the litmus test under each memory model of the claim.
    ///
    /// # Errors
    /// If the test cannot be parsed, or if the check was stopped before it covered all executions.
    pub(super) fn check(&self) -> Result<Vec<ModelResult>, String> {
        let (name, text) = self.test;
        let program = ::litmus::parse::parse(text).map_err(|error| error.in_file(name).to_string())?;
        let found = |model: &Model| {
            let reading = Reading { inclusion: self.inclusion, ..Reading::of(*model) };
            let judge = Judge { method: Method::Explored(reading), unroll: None };
            let answer = judge.judge(&program, text, &mut || false).map_err(|error| error.to_string())?;
            if let Some(bound) = answer.bound() {
                return Err(format!("{name} under {}: the check is incomplete: {bound}", model.name()));
            }
            let (races, verdict) = (answer.has_race(), answer.verdict());
            let race = if races { "a race" } else { "race-free" };
            let condition = if verdict { "holds" } else { "does not hold" };
            let inclusion = if self.inclusion { " with inclusion" } else { "" };
            let words = match self.verdict {
                None => format!("{name}, {}{inclusion}: {race}", model.name()),
                Some(_) => format!("{name}, {}{inclusion}: {race}, condition {condition}", model.name()),
            };
            let holds = races == self.races && self.verdict.is_none_or(|claimed| claimed == verdict);
            Ok(ModelResult { words, holds })
        };
        self.models.iter().map(found).collect()
    }
}
