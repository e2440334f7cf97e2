//! Combines several probes (observers of a simulated run), so that they observe the same run.

use core::num::NonZeroU64;

use kernel::Posted;
use proto::{Condition, LineAddr};
use sim::dram::DramUse;
use sim::noc::LinkUse;
use sim::probe::{Layout, MessageSeen, Probe, WaveAt};
use sim::sample::Sample;

use crate::run::{Pulse, Timeline};
use crate::series::Series;

/// The probes (observers of a run) that the command `fencepost run` uses: the progress, and
/// optionally a time line and counters.
#[derive(Debug)]
pub struct Watch<W: std::io::Write> {
    /// The progress of the run.
    pub pulse: Pulse,
    /// The writer of the time line. `None` if the user requests no time line.
    pub timeline: Option<Timeline<W>>,
    /// The recorder of counters over time. It samples them in the same intervals as the time line
    /// samples its counters. `None` if the user does not request it.
    pub series: Option<Series>,
}

impl<W: std::io::Write> Probe for Watch<W> {
    fn begin(&mut self, layout: &Layout) {
        self.timeline.iter_mut().for_each(|line| line.begin(layout));
    }

    fn kernel(&mut self, name: &str, from: u64, until: u64) {
        self.timeline.iter_mut().for_each(|line| line.kernel(name, from, until));
    }

    fn wave_end(&mut self, now: u64, at: WaveAt) {
        self.pulse.wave_end(now, at);
    }

    fn arithmetic(&mut self, at: WaveAt, from: u64, until: u64) {
        self.timeline.iter_mut().for_each(|line| line.arithmetic(at, from, until));
    }

    fn complete(&mut self, at: WaveAt, op: &Posted, issued: u64, until: u64) {
        self.timeline.iter_mut().for_each(|line| line.complete(at, op, issued, until));
    }

    fn serve(&mut self, station: u32, what: &'static str, line: Option<LineAddr>, from: u64, until: u64) {
        self.timeline.iter_mut().for_each(|timeline| timeline.serve(station, what, line, from, until));
    }

    fn draws(&self) -> bool {
        self.timeline.is_some()
    }

    fn conditions(&mut self, now: u64, station: u32, conditions: Vec<Condition>) {
        if let Some(timeline) = &mut self.timeline {
            timeline.conditions(now, station, conditions);
        }
    }

    fn message(&mut self, message: &MessageSeen) {
        self.timeline.iter_mut().for_each(|line| line.message(message));
    }

    fn link(&mut self, link: LinkUse) {
        self.timeline.iter_mut().for_each(|line| line.link(link));
    }

    fn dram(&mut self, access: &DramUse) {
        self.timeline.iter_mut().for_each(|line| line.dram(access));
    }

    fn end(&mut self, now: u64) {
        self.timeline.iter_mut().for_each(|line| line.end(now));
    }

    fn sample_every(&self) -> Option<NonZeroU64> {
        let of_series = self.series.as_ref().and_then(Series::sample_every);
        of_series.or_else(|| self.timeline.as_ref().and_then(Timeline::sample_every))
    }

    fn sample(&mut self, sample: &Sample) {
        self.timeline.iter_mut().for_each(|line| line.sample(sample));
        self.series.iter_mut().for_each(|series| series.sample(sample));
    }
}
