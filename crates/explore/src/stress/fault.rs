//! Faults of episodes.

use super::order::Program;
use super::wave::Wave;

/// A fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EpisodeFault {
    /// A sentence.
    pub(super) what: String,
    /// The wavefront and its step, if the fault concerns one.
    pub(super) at: Option<(usize, usize)>,
}

/// A fault without a wavefront.
pub(super) fn fault(what: String) -> EpisodeFault {
    EpisodeFault { what, at: None }
}

/// The fault of a run that cannot continue before all wavefronts are done.
pub(super) fn unfinished(waves: &[Wave], program: &Program, why: &str) -> EpisodeFault {
    let left = waves.iter().zip(&program.threads).position(|(wave, steps)| !wave.is_done(steps));
    let at = left.map(|wave| (wave, waves[wave].at.min(program.threads[wave].len().saturating_sub(1))));
    EpisodeFault { what: format!("{why}, but not all wavefronts are done"), at }
}
