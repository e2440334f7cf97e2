//! A protocol under stress, and what is wrong with what came of it.

use explore::Subject;
use explore::stress::{self, Options, Stressed};
use proto::words::{grouped, plural};

/// Puts the protocol of that name under stress.
///
/// # Errors
/// A sentence: there is no such protocol, or what is asked of it cannot be made.
pub fn stress(protocol: &str, options: &Options<'_>) -> Result<Stressed, String> {
    let subject = Subject::named(protocol).ok_or_else(|| format!("{protocol}: there is no such protocol"))?;
    stress::stress(&subject, options).map_err(|why| format!("{protocol}: {why}"))
}

/// What is not as it must be: an episode fails, or not all of them ran.
#[must_use]
pub fn complaint(protocol: &str, stressed: &Stressed, wanted: u64) -> Option<String> {
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
