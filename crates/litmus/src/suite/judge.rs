//! A model, with the engine that belongs to it.

use crate::cat::Model;
use crate::check;
use crate::hrf::{self, Reading};
use crate::progress::Scheduler;

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
