//! The faults of an episode (a random program of the stress test).

use super::order::Program;
use super::wave::Wave;

/// A fault of a run of an episode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EpisodeFault {
    /// The description of the fault, as a sentence.
    pub(super) what: String,
    /// The wavefront and the index of its step, if the fault concerns one step.
    pub(super) at: Option<(usize, usize)>,
}

/// A fault that concerns no single wavefront.
pub(super) fn fault(what: String) -> EpisodeFault {
    EpisodeFault { what, at: None }
}

/// The fault of a run that cannot continue although some wavefronts are not done.
pub(super) fn unfinished(waves: &[Wave], program: &Program, why: &str) -> EpisodeFault {
    let left = waves.iter().zip(&program.threads).position(|(wave, steps)| !wave.is_done(steps));
    let at = left.map(|wave| (wave, waves[wave].at.min(program.threads[wave].len().saturating_sub(1))));
    EpisodeFault { what: format!("{why}, but not all wavefronts are done"), at }
}
