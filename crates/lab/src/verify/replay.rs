//! Replays counterexamples, in the explorer or on the timed simulator.

use explore::trace::{self, Obstacle, Verdict};
use explore::{Replay, Subject, Trace};
use sim::config::System;

use crate::replay::{self as timing, Timed};

/// The memory, in bytes, that one explored test may use. It applies if the user sets no total.
pub const TEST_BYTES: u64 = 2 << 30;

/// A replayed counterexample.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// The moves of the replayed run.
    pub shown: ReplayedRun,
    /// The verdict: whether the fault that the trace records occurred again.
    pub verdict: Verdict,
    /// A description of how the run ended.
    pub end: String,
    /// The reasons why the final state is forbidden, one on each line.
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
    /// The verdict as the beginning of a sentence, which the text in `end` completes.
    ///
    /// # Errors
    /// If the moves do not fit the machine. The error is the text in `end`, which is then a whole
    /// sentence.
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

/// Replays a trace. With `latencies`, the replay is on the timed simulator. Otherwise it is in the
/// explorer, with at most `memory_bytes` bytes of memory.
///
/// # Errors
/// The reason why the trace cannot be replayed.
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
            Replayed { shown: ReplayedRun::Explored(replay), verdict, end, reasons }
        }
        Some(latencies) => {
            let timed = timing::replay(trace, &subject, latencies, stop)?;
            let (verdict, end, reasons) = (timed.verdict, timed.end.clone(), timed.reasons.clone());
            Replayed { shown: ReplayedRun::Timed(timed), verdict, end, reasons }
        }
    })
}
