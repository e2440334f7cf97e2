//! Replays counterexamples, either in the explorer or on the timed simulator.

use explore::trace::{self, Obstacle, Verdict};
use explore::{Replay, Trace};
use sim::config::System;

use crate::replay::{self as timing, Timed};

/// The memory, in bytes, that each explored test may use if the user sets no limit for all tests
/// together.
pub const TEST_BYTES: u64 = 2 << 30;

/// The result of replaying a counterexample.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// The replayed run, with its moves (steps).
    pub shown: ReplayedRun,
    /// The verdict: whether the fault that the trace records occurred again.
    pub verdict: Verdict,
    /// A description of how the run ended.
    pub end: String,
    /// The reasons why the final state is forbidden. Empty if the final state is allowed or if the
    /// run has no final state.
    pub reasons: Vec<String>,
}

/// The run of a replayed counterexample.
#[derive(Clone, Debug)]
pub enum ReplayedRun {
    /// A run that the explorer replayed.
    Explored(Replay),
    /// A run that the timed simulator replayed.
    Timed(Timed),
}

impl Replayed {
    /// The verdict as the beginning of a sentence. The text in the field `end` completes the
    /// sentence.
    ///
    /// # Errors
    /// If the machine cannot make the moves (steps) of the trace. The error is the text in the
    /// field `end`, which is then a whole sentence.
    pub fn sentence(&self) -> Result<&'static str, &str> {
        match self.verdict {
            Verdict::Same => Ok("The same fault comes out"),
            Verdict::Another => Ok("Another fault comes out"),
            Verdict::Gone => Ok("The counterexample no longer reproduces"),
            Verdict::Misfit => Err(&self.end),
        }
    }

    /// A sentence that says which fault the replay shows. `None` if the counterexample no longer
    /// reproduces.
    #[must_use]
    pub fn complaint(&self, trace: &Trace) -> Option<String> {
        let fails = || format!("{} fails {}: {}", trace.protocol, trace.test, self.end);
        (self.verdict != Verdict::Gone).then(fails)
    }
}

/// Replays a trace. If `latencies` is given, the replay runs on the timed simulator with the
/// latencies of this machine. Otherwise it runs in the explorer with at most `memory_bytes` bytes
/// of memory.
///
/// # Errors
/// If the trace cannot be replayed. The error has the reason.
pub fn replay(
    trace: &Trace,
    latencies: Option<&System>,
    memory_bytes: Option<u64>,
    stop: &dyn Fn() -> bool,
) -> Result<Replayed, Obstacle> {
    let subject = subjects::explored(&trace.protocol)
        .ok_or_else(|| Obstacle::Unfit(format!("there is no protocol '{}'", trace.protocol)))?;
    Ok(match latencies {
        None => {
            let replayed = trace.replay(&subject, memory_bytes.unwrap_or(TEST_BYTES), stop)?;
            let trace::Replayed { replay, verdict, end } = replayed;
            let reasons = replay.reasons.clone();
            Replayed { shown: ReplayedRun::Explored(replay), verdict, end, reasons }
        }
        Some(latencies) => {
            let timed = timing::replay(trace, &subject, latencies, stop)?;
            let (verdict, end, reasons) = (timed.verdict, timed.end.clone(), timed.reasons.clone());
            Replayed { shown: ReplayedRun::Timed(timed), verdict, end, reasons }
        }
    })
}
