//! A counterexample made again, by the explorer or with the timing.

use explore::trace::{self, Obstacle, Verdict};
use explore::{Replay, Subject, Trace};
use sim::config::System;

use crate::replay::{self as timing, Timed};

/// The bytes that a test may take that is explored, if nobody says what all of them may.
pub const TEST_BYTES: u64 = 2 << 30;

/// A counterexample that was made again.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// What happened.
    pub shown: Shown,
    /// What became of the fault.
    pub verdict: Verdict,
    /// How it ends, in words.
    pub end: String,
    /// Why that must not be, a line each.
    pub reasons: Vec<String>,
}

/// How a counterexample was made again.
#[derive(Clone, Debug)]
pub enum Shown {
    /// By the explorer.
    Explored(Replay),
    /// With the timing.
    Timed(Timed),
}

impl Replayed {
    /// The verdict, as a sentence begins that ends with how it ends.
    ///
    /// # Errors
    /// The end alone, where the moves do not fit the machine.
    pub fn sentence(&self) -> Result<&'static str, &str> {
        match self.verdict {
            Verdict::Same => Ok("The same fault comes out"),
            Verdict::Another => Ok("Another fault comes out"),
            Verdict::Gone => Ok("The counterexample no longer reproduces"),
            Verdict::Misfit => Err(&self.end),
        }
    }

    /// What is not as it must be: anything comes out that must not.
    #[must_use]
    pub fn complaint(&self, trace: &Trace) -> Option<String> {
        let fails = || format!("{} fails {}: {}", trace.protocol, trace.test, self.end);
        (self.verdict != Verdict::Gone).then(fails)
    }
}

/// Makes the moves of a trace again: by the explorer, within so many bytes, or with the
/// latencies of a machine.
///
/// # Errors
/// Why that is not possible.
pub fn replay(
    trace: &Trace,
    latencies: Option<&System>,
    memory_bytes: Option<u64>,
    stop: &dyn Fn() -> bool,
) -> Result<Replayed, Obstacle> {
    let subject = Subject::named(&trace.protocol)
        .ok_or_else(|| Obstacle::Unfit(format!("there is no protocol '{}'", trace.protocol)))?;
    Ok(match latencies {
        None => {
            let replayed = trace.replay(&subject, memory_bytes.unwrap_or(TEST_BYTES), stop)?;
            let trace::Replayed { replay, verdict, end } = replayed;
            let reasons = replay.reasons.clone();
            Replayed { shown: Shown::Explored(replay), verdict, end, reasons }
        }
        Some(latencies) => {
            let timed = timing::replay(trace, &subject, latencies, stop)?;
            let (verdict, end, reasons) = (timed.verdict, timed.end.clone(), timed.reasons.clone());
            Replayed { shown: Shown::Timed(timed), verdict, end, reasons }
        }
    })
}
