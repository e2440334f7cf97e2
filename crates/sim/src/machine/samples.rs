//! Counters looked at while the run goes on, for a probe that asks for it.

use core::num::NonZeroU64;

use super::Machine;
use crate::queue::Cycle;
use crate::reports::probe::Probe;
use crate::reports::sample::{LEVELS, Sample};

/// When the next sample is due.
#[derive(Clone, Copy, Debug)]
pub(super) struct Samples {
    every: Option<NonZeroU64>,
    next: Cycle,
}

impl Samples {
    pub(super) fn every(every: Option<NonZeroU64>) -> Samples {
        Samples { every, next: every.map_or(Cycle::MAX, NonZeroU64::get) }
    }

    /// The last cycle in which no sample is due.
    pub(super) fn before_next(self) -> Cycle {
        self.next - 1
    }
}

impl<Pr: Probe> Machine<'_, Pr> {
    /// Takes the samples that are due before anything happens in this cycle.
    pub(super) fn take_samples(&mut self, now: Cycle) {
        let Some(every) = self.samples.every.filter(|_| self.samples.next <= now) else { return };
        let mut sample = self.sample();
        while self.samples.next <= now {
            sample.cycle = self.samples.next;
            self.probe.sample(&sample);
            self.samples.next = self.samples.next.saturating_add(every.get());
        }
    }

    /// Takes the sample behind the last event.
    pub(super) fn take_last_sample(&mut self) {
        if self.samples.every.is_some() {
            let end = self.engine.now() + 1;
            self.take_samples(end);
            let is_taken = self.samples.every.is_some_and(|every| self.samples.next - every.get() == end);
            if !is_taken {
                let sample = Sample { cycle: end, ..self.sample() };
                self.probe.sample(&sample);
            }
        }
    }

    fn sample(&mut self) -> Sample {
        self.tally.sum_up();
        self.tally.price_lines(u64::from(self.system.l1.line_bytes));
        let (noc, counts) = (self.noc.traffic(), &self.tally.counts);
        let levels = [
            (counts.line_requests + counts.order_requests).saturating_sub(counts.answers),
            noc.messages.saturating_sub(noc.delivered_messages),
            counts.memory_ops.saturating_sub(counts.memory_answers),
        ];
        let mut counters = self.tally.entries(&noc, &self.dram.traffic());
        counters.extend(LEVELS.map(str::to_owned).into_iter().zip(levels));
        Sample { cycle: 0, counters }
    }
}
