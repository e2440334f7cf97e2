//! The faults of an episode (a random program of the stress test).

use super::wave::Wave;

/// A fault that a run of an episode (a random program) shows.
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
pub(super) fn unfinished(waves: &[Wave], why: &str) -> EpisodeFault {
    let left = waves.iter().position(|wave| !wave.is_done());
    let at = left.map(|wave| (wave, usize::from(waves[wave].at.min(waves[wave].end.saturating_sub(1)))));
    EpisodeFault { at, ..fault(format!("{why}, but not all wavefronts are done")) }
}
