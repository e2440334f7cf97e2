//! Judges tests under one model, with the engine that belongs to the model.

use crate::cat::Model;
use crate::check;
use crate::hrf::{self, CheckError, Reading};
use crate::parse::{Place, TextError};
use crate::program::{Dialect, Program};
use crate::progress::{self, Scheduler};

use super::answer::{Answer, Finding};

/// A method to judge tests: a model, with the engine that judges tests under this model.
#[derive(Clone, Debug)]
pub enum Method {
    /// The engine explores all sequentially consistent executions and looks for races.
    Explored(Reading),
    /// The engine judges candidate executions by the checks of a cat model.
    Clauses(Box<Model>),
    /// The engine looks for executions that a cat model allows and that do not terminate.
    Liveness(Box<Model>, Scheduler),
}

/// Judges tests under one model.
#[derive(Clone, Debug)]
pub struct Judge {
    /// The model, with the engine that judges tests under this model.
    pub method: Method,
    /// The maximum number of times that a thread takes the same backward jump. `None` selects the
    /// default of the engine.
    pub unroll: Option<u16>,
}

impl Judge {
    /// The model's name.
    #[must_use]
    pub fn name(&self) -> &str {
        match &self.method {
            Method::Explored(reading) => reading.model.name(),
            Method::Clauses(model) | Method::Liveness(model, _) => &model.name,
        }
    }

    /// Whether the judge looks for executions that do not terminate.
    #[must_use]
    pub fn checks_liveness(&self) -> bool {
        matches!(self.method, Method::Liveness(..))
    }

    /// Whether the model says which programs have a race.
    #[must_use]
    pub fn defines_races(&self) -> bool {
        match &self.method {
            Method::Explored(_) => true,
            Method::Clauses(model) => model.defines_races(),
            Method::Liveness(..) => false,
        }
    }

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

    /// The options of the engine that explores sequentially consistent executions, for the given
    /// reading (interpretation) of the model.
    pub(super) fn bounds(&self, reading: Reading) -> hrf::Options {
        let bounds = hrf::Options::new(reading);
        hrf::Options { unroll: self.unroll.unwrap_or(bounds.unroll), ..bounds }
    }

    /// The options of the engines that use a cat model.
    pub(super) fn options<'o>(&self, stop: &'o mut dyn FnMut() -> bool) -> check::Options<'o> {
        let own = check::Options::default().unroll;
        check::Options { unroll: self.unroll.map_or(own, usize::from), stop: Box::new(stop) }
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
