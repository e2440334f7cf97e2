//! Runs the stress test of a protocol, and describes the failure of a test. The stress test runs
//! random programs on the protocol.

use explore::stress::{self, Options, StressReport};
use proto::words::{grouped, plural};

/// Runs the stress test on the protocol with this name.
///
/// # Errors
/// If no protocol has this name, or if the options are impossible. The error is a sentence.
pub fn stress(protocol: &str, options: &Options<'_>) -> Result<StressReport, String> {
    let subject =
        subjects::explored(protocol).ok_or_else(|| format!("{protocol}: there is no such protocol"))?;
    stress::stress(&subject, options).map_err(|why| format!("{protocol}: {why}"))
}

/// Describes in words why a stress test counts as failed: an episode (a random program) failed, or
/// fewer episodes ran than `wanted`. `None` if at least `wanted` episodes ran and all passed.
#[must_use]
pub fn complaint(protocol: &str, stressed: &StressReport, wanted: u64) -> Option<String> {
    match &stressed.failure {
        Some(failure) => {
            Some(format!("{protocol} fails with --seed {} --episodes 1: {}", failure.seed, failure.what))
        }
        None if stressed.episodes < wanted => Some(format!(
            "{protocol}: stopped after {} of {} {}",
            grouped(stressed.episodes),
            grouped(wanted),
            plural(wanted, "episode")
        )),
        None => None,
    }
}
