//! The faults of an episode (a random program of the stress test).

use core::any::Any;

use super::wave::Wave;

/// A fault that a run of an episode (a random program) shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EpisodeFault {
    /// The description of the fault, as a sentence.
    pub(super) what: String,
    /// The wavefront and the index of its step, if the fault concerns one step.
    pub(super) at: Option<(usize, usize)>,
    /// Whether a controller panicked.
    pub(super) is_panic: bool,
}

/// A fault that concerns no single wavefront.
pub(super) fn fault(what: String) -> EpisodeFault {
    EpisodeFault { what, at: None, is_panic: false }
}

/// The fault of a run that a panic ended. `panic` is the value that the panic left.
pub(super) fn panicked(panic: &(dyn Any + Send)) -> EpisodeFault {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    EpisodeFault { is_panic: true, ..fault(format!("a controller panics: {}", text.unwrap_or("no message"))) }
}

/// The fault of a run that cannot continue although some wavefronts are not done.
pub(super) fn unfinished(waves: &[Wave], why: &str) -> EpisodeFault {
    let left = waves.iter().position(|wave| !wave.is_done());
    let at = left.map(|wave| (wave, usize::from(waves[wave].at.min(waves[wave].end.saturating_sub(1)))));
    EpisodeFault { at, ..fault(format!("{why}, but not all wavefronts are done")) }
}
