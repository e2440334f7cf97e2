//! What goes wrong in an episode.

use super::order::Program;
use super::wave::Wave;

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wrong {
    /// A sentence.
    pub(super) what: String,
    /// The wavefront and the step in its program, if it is about one.
    pub(super) at: Option<(usize, usize)>,
}

/// Something that is about no wavefront.
pub(super) fn wrong(what: String) -> Wrong {
    Wrong { what, at: None }
}

/// Not all wavefronts are done, and nothing goes on.
pub(super) fn unfinished(waves: &[Wave], program: &Program, why: &str) -> Wrong {
    let left = waves.iter().zip(&program.threads).position(|(wave, steps)| !wave.is_done(steps));
    let at = left.map(|wave| (wave, waves[wave].at.min(program.threads[wave].len().saturating_sub(1))));
    Wrong { what: format!("{why}, and not all wavefronts are done"), at }
}
