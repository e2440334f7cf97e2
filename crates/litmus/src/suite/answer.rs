//! What a model says of a test, whichever engine found it.

use core::fmt::Write as _;

use serde_json::Value;

use crate::cat;
use crate::check::{self, Flag, Report};
use crate::hrf::{self, Advice, Verdict};
use crate::parse::TextError;
use crate::program::{Program, Quantifier};
use crate::progress;

use super::judge::{Judge, Method};

/// What an engine found.
#[derive(Clone, Debug)]
pub(super) enum Finding {
    Explored(Box<Verdict>),
    Clauses(Report),
    Liveness(progress::Report),
}

/// What a model says of a test.
#[derive(Clone, Debug)]
pub struct Answer<'a> {
    pub(super) judge: &'a Judge,
    pub(super) program: &'a Program,
    pub(super) finding: Finding,
}

impl Answer<'_> {
    /// Is the test's condition met? Of a racy test under a model that is
    /// explored, this speaks of its sequentially consistent executions.
    #[must_use]
    pub fn verdict(&self) -> bool {
        match &self.finding {
            Finding::Explored(verdict) => verdict.condition_met(self.program),
            Finding::Clauses(report) => report.verdict,
            Finding::Liveness(report) => report.verdict,
        }
    }

    /// Is the question whether all executions end?
    #[must_use]
    pub fn is_liveness(&self) -> bool {
        self.judge.asks_liveness()
    }

    /// Was everything covered?
    #[must_use]
    pub fn is_complete(&self) -> bool {
        match &self.finding {
            Finding::Explored(verdict) => verdict.incomplete.is_none(),
            Finding::Clauses(report) => report.complete,
            Finding::Liveness(report) => report.bound.is_none(),
        }
    }

    /// What was not covered, in words.
    #[must_use]
    pub fn bound(&self) -> Option<String> {
        match &self.finding {
            Finding::Explored(verdict) => verdict.incomplete.map(|incomplete| incomplete.to_string()),
            Finding::Clauses(report) => report.bound.clone(),
            Finding::Liveness(report) => report.bound.clone(),
        }
    }

    /// Is the verdict certain, whatever was not covered? One state can settle
    /// each of the questions.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        match &self.finding {
            Finding::Clauses(report) => report.decided,
            Finding::Liveness(report) => report.bound.is_none(),
            Finding::Explored(verdict) => verdict.is_decided(self.program),
        }
    }

    /// Was a race found?
    #[must_use]
    pub fn has_race(&self) -> bool {
        match &self.finding {
            Finding::Explored(verdict) => !verdict.is_race_free(),
            Finding::Clauses(report) => report.has_race(),
            Finding::Liveness(_) => false,
        }
    }

    /// The block that herd prints.
    #[must_use]
    pub fn herd_block(&self) -> String {
        match &self.finding {
            Finding::Explored(verdict) => verdict.herd_block(self.program),
            Finding::Clauses(report) => report.herd_block(),
            Finding::Liveness(report) => report.block(),
        }
    }

    /// The answer as JSON; `file` is the test's file as it was given.
    #[must_use]
    pub fn json(&self, file: &str) -> Value {
        match &self.finding {
            Finding::Explored(verdict) => verdict.json(self.program, file),
            Finding::Clauses(report) => report.json(self.program, file),
            Finding::Liveness(report) => report.json(self.program, file),
        }
    }

    /// The races in a few words: the first with the execution that shows it. A
    /// model that is explored also says of a test that it is race-free.
    #[must_use]
    pub fn races(&self) -> String {
        match &self.finding {
            Finding::Explored(verdict) => verdict.describe_briefly(self.program),
            Finding::Clauses(report) => {
                let races = report.flags.iter().filter(|flag| flag.is_race());
                races.map(|flag| check::flag_text(self.program, flag)).collect()
            }
            Finding::Liveness(report) => report.describe(self.program),
        }
    }

    /// Why the outcome that the test asks for is allowed or forbidden, and every
    /// race.
    ///
    /// # Errors
    /// If the model does not fit the test.
    pub fn explanation(&self, stop: &mut dyn FnMut() -> bool) -> Result<String, TextError> {
        match (&self.finding, &self.judge.method) {
            (Finding::Clauses(report), Method::Clauses(model)) => {
                check::explain(self.program, model, report, &mut self.judge.options(stop))
            }
            (Finding::Explored(verdict), _) => {
                let mut text = verdict.describe(self.program);
                if verdict.is_race_free()
                    && let Some((state, execution)) = self.witness(stop)?
                {
                    let _ = writeln!(text, "This execution ends with {state}");
                    text.push_str(&check::narrate(self.program, &execution));
                }
                Ok(text)
            }
            (Finding::Liveness(report), _) => Ok(report.describe(self.program)),
            (Finding::Clauses(_), _) => Ok(String::new()),
        }
    }

    /// An execution as a graph for Graphviz: one with a race, or else one with the
    /// outcome that the test asks for, or else the one that would have it if a
    /// check of the model did not refuse it, or else any.
    ///
    /// # Errors
    /// If the model does not fit the test.
    pub fn dot(&self, stop: &mut dyn FnMut() -> bool) -> Result<String, TextError> {
        let title = format!("{} under {}", self.program.name, self.judge.name());
        let drawn = match (&self.finding, &self.judge.method) {
            (Finding::Explored(verdict), _) => match verdict.races.first() {
                Some(race) => Some(race.to_dot(self.program, verdict.reading)),
                None => self.witness(stop)?.map(|(state, execution)| {
                    check::dot(self.program, &execution, &format!("{title}: {state}"), &[])
                }),
            },
            (Finding::Clauses(report), Method::Clauses(model)) => {
                self.draw_report(report, model, &title, stop)?
            }
            (Finding::Liveness(report), _) => {
                report.dot(self.program, &format!("{title}: it goes on for ever"))
            }
            (Finding::Clauses(_), _) => None,
        };
        Ok(drawn.unwrap_or_else(|| {
            let title = title.replace(['"', '\\'], "_");
            format!("digraph \"{title}\" {{\n  label=\"{title}: no execution\";\n}}\n")
        }))
    }

    fn draw_report(
        &self,
        report: &Report,
        model: &cat::Model,
        title: &str,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<String>, TextError> {
        if let Some(flag) = report.flags.iter().find(|flag| flag.is_race()) {
            let edges = race_edges(flag);
            return Ok(Some(check::dot(self.program, &flag.example, &format!("{title}: race"), &edges)));
        }
        let draw = |state: &check::State| {
            let example = state.example.as_deref()?;
            Some(check::dot(self.program, example, &format!("{title}: {state}"), &[]))
        };
        if let Some(drawn) =
            report.states.iter().filter(|state| asked_for(self.program, state)).find_map(draw)
        {
            return Ok(Some(drawn));
        }
        let refusals = check::refusals(self.program, model, &mut self.judge.options(stop))?;
        if let Some(refusal) = refusals.first() {
            let cycle = &refusal.cycle;
            let next = |at: usize| cycle[(at + 1) % cycle.len()];
            let edges: Vec<(String, usize, usize)> =
                (0..cycle.len()).map(|at| (refusal.check.clone(), cycle[at], next(at))).collect();
            let title = format!("{title}: refused by {}", refusal.check);
            return Ok(Some(check::dot(self.program, &refusal.execution, &title, &edges)));
        }
        Ok(report.states.iter().find_map(draw))
    }

    /// A sequentially consistent execution for a test without races, with the
    /// outcome that the test asks for if there is one.
    fn witness(
        &self,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<(String, check::Execution)>, TextError> {
        let Some(model) = cat::shipped("sc") else { return Ok(None) };
        let report = check::check(self.program, &model?, &mut self.judge.options(stop))?;
        let asked = report.states.iter().find(|state| asked_for(self.program, state));
        let state = asked.or(report.states.first());
        Ok(state.and_then(|state| Some((state.to_string(), state.example.as_deref()?.clone()))))
    }

    /// Advice on scopes, in words and as JSON, and whether it is complete; none
    /// under a model that is not explored.
    ///
    /// # Errors
    /// None that [`Judge::judge`] has not met.
    pub fn advice(
        &self,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<(String, Value, bool)>, hrf::CheckError> {
        let Method::Explored(reading) = self.judge.method else { return Ok(None) };
        let bounds = self.judge.bounds(reading);
        let advice = hrf::advise_until(self.program, &bounds, &mut || !stop())?;
        let complete = match &advice {
            Advice::NeedsSynchronization { .. } => true,
            Advice::Widen { complete, .. } | Advice::Shrink { complete, .. } => *complete,
        };
        Ok(Some((advice.describe(self.program, &bounds), advice.json(self.program), complete)))
    }
}

/// Has the state what the test asks for: the property, or for `forall` its
/// absence?
fn asked_for(program: &Program, state: &check::State) -> bool {
    state.satisfies == (program.condition.quantifier != Quantifier::Forall)
}

/// The racing pairs, each once.
fn race_edges(flag: &Flag) -> Vec<(String, usize, usize)> {
    let mut pairs: Vec<(usize, usize)> = flag.pairs.iter().map(|&(a, b)| (a.min(b), a.max(b))).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs.into_iter().map(|(a, b)| (flag.name.clone(), a, b)).collect()
}
