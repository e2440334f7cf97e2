//! The schedule by which a probe (an observer of the run) gets samples of the counters.

use core::num::NonZeroU64;

use crate::queue::Cycle;
use crate::reports::probe::Probe;
use crate::reports::sample::Sample;

/// The interval of samples, and the cycle of the next sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Samples {
    every: Option<NonZeroU64>,
    next: Cycle,
}

impl Samples {
    pub(crate) fn every(every: Option<NonZeroU64>) -> Samples {
        Samples { every, next: every.map_or(Cycle::MAX, NonZeroU64::get) }
    }

    /// The last cycle that is earlier than the next sample.
    pub(crate) fn before_next(self) -> Cycle {
        self.next - 1
    }

    /// Gives the probe (the observer of the run) the samples that are due at or before cycle `now`.
    /// The samples' values do not include the events of cycle `now`.
    pub(crate) fn take(&mut self, now: Cycle, probe: &mut impl Probe, sample: impl FnOnce() -> Sample) {
        let Some(every) = self.every.filter(|_| self.next <= now) else { return };
        let mut sample = sample();
        while self.next <= now {
            sample.cycle = self.next;
            probe.sample(&sample);
            self.next = self.next.saturating_add(every.get());
        }
    }

    /// Gives the probe the samples up to the last event, and one sample after the last event.
    pub(crate) fn take_last(
        &mut self,
        last: Cycle,
        probe: &mut impl Probe,
        mut sample: impl FnMut() -> Sample,
    ) {
        let Some(every) = self.every else { return };
        let end = last + 1;
        self.take(end, probe, &mut sample);
        if self.next - every.get() != end {
            probe.sample(&Sample { cycle: end, ..sample() });
        }
    }
}
