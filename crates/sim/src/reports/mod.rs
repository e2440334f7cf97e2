//! The reports of a run: counters, attribution of cycles to causes, last messages, and errors.

pub mod attribution;
pub(crate) mod counters;
pub mod energy;
pub mod error;
pub(crate) mod history;
pub(crate) mod level_uses;
pub(crate) mod memory_side;
pub(crate) mod outcome;
pub mod perfetto;
pub mod probe;
pub(crate) mod progress;
pub mod sample;
mod samples;
pub(crate) mod spent;
pub(crate) mod stuck;
pub(crate) mod times;

use crate::memory::dram::DramTraffic;
use crate::network::noc::NocTraffic;
use crate::queue::Cycle;
use counters::Tally;
use history::History;
use probe::Probe;
use progress::Watch;
use sample::{LEVELS, Sample};
use samples::Samples;
use times::Times;

/// The records of a run, to which every part of the machine adds.
#[derive(Debug)]
pub(crate) struct Reports<'a, Pr> {
    pub(crate) probe: &'a mut Pr,
    pub(crate) tally: Tally,
    pub(crate) history: History,
    pub(crate) times: Times,
    pub(crate) watch: Watch,
    samples: Samples,
    line_bytes: u64,
}

impl<'a, Pr: Probe> Reports<'a, Pr> {
    pub(crate) fn new(
        probe: &'a mut Pr,
        tally: Tally,
        watch: Watch,
        wave_slots: usize,
        line_bytes: u32,
    ) -> Self {
        Reports {
            samples: Samples::every(probe.sample_every()),
            probe,
            tally,
            history: History::default(),
            times: Times::new(wave_slots),
            watch,
            line_bytes: u64::from(line_bytes),
        }
    }

    /// The last cycle that is earlier than the next sample.
    pub(crate) fn before_next_sample(&self) -> Cycle {
        self.samples.before_next()
    }

    /// Takes the samples that are due at or before cycle `now`. Their values do not include the
    /// events of cycle `now`.
    pub(crate) fn take_samples(&mut self, now: Cycle, noc: &NocTraffic, dram: &DramTraffic) {
        let (tally, line_bytes) = (&mut self.tally, self.line_bytes);
        self.samples.take(now, self.probe, || sample(tally, line_bytes, noc, dram));
    }

    /// Takes the samples up to the last event, and one after the last event.
    pub(crate) fn take_last_samples(&mut self, last: Cycle, noc: &NocTraffic, dram: &DramTraffic) {
        let (tally, line_bytes) = (&mut self.tally, self.line_bytes);
        self.samples.take_last(last, self.probe, || sample(tally, line_bytes, noc, dram));
    }

    /// Sums the counters and checks that they are consistent.
    ///
    /// # Errors
    /// A message that names the inconsistent counters.
    pub(crate) fn check(&mut self, noc: &NocTraffic, dram: &DramTraffic) -> Result<(), String> {
        self.tally.sum_up();
        self.tally.convert_lines(self.line_bytes);
        self.tally.check(noc, dram)
    }
}

/// A sample with the values of all counters at this moment.
fn sample(tally: &mut Tally, line_bytes: u64, noc: &NocTraffic, dram: &DramTraffic) -> Sample {
    tally.sum_up();
    tally.convert_lines(line_bytes);
    let counts = &tally.counts;
    let levels = [
        (counts.line_requests + counts.order_requests).saturating_sub(counts.answers),
        noc.messages.saturating_sub(noc.delivered_messages),
        counts.memory_ops.saturating_sub(counts.memory_answers),
    ];
    let mut counters = tally.entries(noc, dram);
    counters.extend(LEVELS.map(str::to_owned).into_iter().zip(levels));
    Sample { cycle: 0, counters }
}
