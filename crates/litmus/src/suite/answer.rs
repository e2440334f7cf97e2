//! Judges one test under a model. The answer has the same functions for the results of all
//! engines.

use core::fmt::Write as _;

use serde_json::Value;

use crate::cat;
use crate::check::{self, Flag, Report};
use crate::hrf::{self, Advice, CheckError, Verdict};
use crate::parse::{Place, TextError};
use crate::program::{Dialect, Program, Quantifier};
use crate::progress;

use super::judge::{Judge, Method};

/// The result for one test. Each variant holds the result of one of the three engines (see
/// [`Method`]).
#[derive(Clone, Debug)]
enum Finding {
    Explored(Box<Verdict>),
    Clauses(Report),
    Liveness(progress::Report),
}

/// The answer of a model on one test, with the result of the engine that judged it.
#[derive(Clone, Debug)]
pub struct Answer<'a> {
    judge: &'a Judge,
    program: &'a Program,
    finding: Finding,
}

impl Judge {
    /// Judges one test. `text` is the source of the test. Errors use the source to name a line and
    /// a column. The search calls `stop` at intervals. If `stop` returns true, the search ends with
    /// the results so far.
    ///
    /// # Errors
    /// If the model does not fit the test. The place of the error is in the test, or in the model
    /// if the error names a file.
    pub fn judge<'a>(
        &'a self,
        program: &'a Program,
        text: &str,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Answer<'a>, TextError> {
        let finding = match &self.method {
            Method::Explored(reading) => {
                let verdict = hrf::check_until(program, &self.bounds(*reading), &mut || !stop());
                Finding::Explored(Box::new(verdict.map_err(|error| in_test(&error, program, text))?))
            }
            Method::Clauses(model) => {
                Finding::Clauses(check::check(program, model, &mut self.options(stop))?)
            }
            Method::Liveness(model, scheduler) => {
                Finding::Liveness(progress::liveness(program, model, *scheduler, &mut self.options(stop))?)
            }
        };
        Ok(Answer { judge: self, program, finding })
    }
}

impl Answer<'_> {
    /// Whether the test's condition is met. For a racy test under an explored model
    /// ([`Method::Explored`]), the verdict covers only the sequentially consistent executions.
    #[must_use]
    pub fn verdict(&self) -> bool {
        match &self.finding {
            Finding::Explored(verdict) => verdict.condition_met(self.program),
            Finding::Clauses(report) => report.verdict,
            Finding::Liveness(report) => report.verdict,
        }
    }

    /// Whether the answer is about liveness. Such an answer says whether all executions of the test
    /// terminate.
    #[must_use]
    pub fn is_liveness(&self) -> bool {
        self.judge.checks_liveness()
    }

    /// Whether the search examined all executions.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        match &self.finding {
            Finding::Explored(verdict) => verdict.incomplete.is_none(),
            Finding::Clauses(report) => report.complete,
            Finding::Liveness(report) => report.bound.is_none(),
        }
    }

    /// The limit that made the search incomplete, in words. `None` if the search is complete.
    #[must_use]
    pub fn bound(&self) -> Option<String> {
        match &self.finding {
            Finding::Explored(verdict) => verdict.incomplete.map(|incomplete| incomplete.to_string()),
            Finding::Clauses(report) => report.bound.clone(),
            Finding::Liveness(report) => report.bound.clone(),
        }
    }

    /// Whether the verdict is certain: a complete search would give the same verdict. An incomplete
    /// search can have a certain verdict, too. For example, a single final state with the property
    /// `p` decides the condition `exists p`.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        match &self.finding {
            Finding::Clauses(report) => report.decided,
            Finding::Liveness(report) => report.bound.is_none(),
            Finding::Explored(verdict) => verdict.is_decided(self.program),
        }
    }

    /// Whether the search found a race.
    #[must_use]
    pub fn has_race(&self) -> bool {
        match &self.finding {
            Finding::Explored(verdict) => !verdict.is_race_free(),
            Finding::Clauses(report) => report.has_race(),
            Finding::Liveness(_) => false,
        }
    }

    /// The answer as text in the format of herd's output.
    #[must_use]
    pub fn herd_block(&self) -> String {
        match &self.finding {
            Finding::Explored(verdict) => verdict.herd_block(self.program),
            Finding::Clauses(report) => report.herd_block(),
            Finding::Liveness(report) => report.block(),
        }
    }

    /// The answer as JSON; `file` is the test's file as the user gave it.
    #[must_use]
    pub fn json(&self, file: &str) -> Value {
        match &self.finding {
            Finding::Explored(verdict) => verdict.json(self.program, file),
            Finding::Clauses(report) => report.json(self.program, file),
            Finding::Liveness(report) => report.json(self.program, file),
        }
    }

    /// Describes the races in a few words, with an execution that shows the first race. For a
    /// race-free test, the text says that there is no race if the method is [`Method::Explored`],
    /// and is empty if the method is [`Method::Clauses`]. If the method is [`Method::Liveness`],
    /// the text describes an execution that does not terminate.
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

    /// Explains the answer in words: every race, and the reason why the model allows or forbids the
    /// outcome in the test's condition.
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

    /// Draws one execution as a Graphviz graph. The function chooses the first of these executions
    /// that exists:
    ///
    /// 1. An execution with a race.
    /// 2. An execution with the outcome in the test's condition.
    /// 3. An execution with this outcome that a check of the model forbids.
    /// 4. Any execution.
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
                report.dot(self.program, &format!("{title}: does not terminate"))
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
            report.states.iter().filter(|state| decides_condition(self.program, state)).find_map(draw)
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

    /// An example of a sequentially consistent execution of a race-free test, with the text of its
    /// final state. If some execution has the outcome in the test's condition, the function returns
    /// such an execution.
    fn witness(
        &self,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<(String, check::Execution)>, TextError> {
        let Some(model) = cat::shipped("sc") else { return Ok(None) };
        let report = check::check(self.program, &model?, &mut self.judge.options(stop))?;
        let deciding = report.states.iter().find(|state| decides_condition(self.program, state));
        let state = deciding.or(report.states.first());
        Ok(state.and_then(|state| Some((state.to_string(), state.example.as_deref()?.clone()))))
    }

    /// Advice on the scopes of the test, in words and as JSON. The last part of the result says
    /// whether the advice is complete. `None` if the method of the judge is not
    /// [`Method::Explored`].
    ///
    /// # Errors
    /// The errors of [`Judge::judge`].
    pub fn advice(
        &self,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<(String, Value, bool)>, CheckError> {
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

/// Converts the error of a check to an error with a place in the text of the test. The place is in
/// the line of the instruction. In formats with columns, it is the beginning of the thread's column
/// in this line. In OpenCL and C11 tests, it is the first character of the line that is not blank.
fn in_test(error: &CheckError, program: &Program, text: &str) -> TextError {
    let Some(place) = error.place().filter(|place| place.line > 0) else {
        return TextError::meaning(Place { line: 1, column: 1 }, error.to_string());
    };
    let line = text.lines().nth(place.line as usize - 1).unwrap_or("");
    let part = match program.dialect {
        Dialect::OpenCl | Dialect::C11 => 0,
        Dialect::Ptx | Dialect::Lisa | Dialect::Vulkan => usize::from(place.thread.0),
    };
    let before: usize = line.split('|').take(part).map(|cell| cell.chars().count() + 1).sum();
    let blanks = line.chars().skip(before).take_while(|c| c.is_whitespace()).count();
    let column = (before + blanks) as u32 + 1;
    TextError::meaning(Place { line: place.line, column }, error.to_string())
}

/// Whether the state decides the test's condition. A condition `forall p` is decided by a state
/// without the property `p`. A condition `exists p` or `~exists p` is decided by a state with the
/// property `p`.
fn decides_condition(program: &Program, state: &check::State) -> bool {
    state.satisfies == (program.condition.quantifier != Quantifier::Forall)
}

/// The pairs of events that race according to the flag. Each pair occurs once in the result, with
/// the name of the flag.
fn race_edges(flag: &Flag) -> Vec<(String, usize, usize)> {
    let mut pairs: Vec<(usize, usize)> = flag.pairs.iter().map(|&(a, b)| (a.min(b), a.max(b))).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs.into_iter().map(|(a, b)| (flag.name.clone(), a, b)).collect()
}
