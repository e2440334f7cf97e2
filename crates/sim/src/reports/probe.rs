//! Probes: observers of a run.
//!
//! A [`Probe`] is told of every event of the machine when it happens. Every method
//! has an empty default, and a run is compiled for its probe, so an event without
//! an observer costs nothing. A probe does not affect the run.

use core::num::NonZeroU64;

use kernel::{ArrayInfo, Posted};
use proto::{KernelId, LineAddr};

use crate::memory::dram::DramUse;
use crate::network::noc::{LinkEnds, LinkUse};
use crate::queue::Cycle;
use crate::reports::sample::Sample;

/// The place of a wavefront.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WaveAt {
    /// The compute unit.
    pub cu: u32,
    /// Its slot on the compute unit.
    pub slot: u32,
    /// Its kernel.
    pub kernel: KernelId,
    /// Its work-group in the grid.
    pub work_group: u32,
    /// The wavefront in its work-group.
    pub wave: u32,
}

/// A message that enters the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageSeen {
    /// Its name in the protocol.
    pub name: &'static str,
    /// The number of the sending station.
    pub from: u32,
    /// The number of the receiving station.
    pub to: u32,
    /// The line it concerns, if any.
    pub line: Option<LineAddr>,
    /// Its bytes, including the header.
    pub bytes: u32,
    /// The cycle at which it enters the network.
    pub sent: Cycle,
    /// The cycle at which it arrives.
    pub arrives: Cycle,
}

/// The components of a machine.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// The stations of the protocol, for example `L2[3]`, by number.
    pub stations: Vec<String>,
    /// The links of the network, by number.
    pub links: Vec<LinkEnds>,
    /// The number of compute units.
    pub compute_units: u32,
    /// The number of chiplets.
    pub chiplets: u32,
    /// The clock of the machine; zero if it is unknown.
    pub clock_mhz: u32,
    /// The number of memory channels.
    pub dram_channels: u32,
}

/// An observer of a run.
#[allow(unused_variables, reason = "the defaults ignore their arguments")]
pub trait Probe {
    /// The run begins.
    #[inline]
    fn begin(&mut self, layout: &Layout) {}
    /// The host launches a kernel, which runs after those launched before it.
    #[inline]
    fn launch(&mut self, now: Cycle, kernel: KernelId, name: &str) {}
    /// A kernel has run. The times include its launch and its end.
    #[inline]
    fn kernel(&mut self, name: &str, from: Cycle, until: Cycle) {}
    /// A wavefront starts.
    #[inline]
    fn wave_start(&mut self, now: Cycle, at: WaveAt) {}
    /// A wavefront retires.
    #[inline]
    fn wave_end(&mut self, now: Cycle, at: WaveAt) {}
    /// A wavefront does arithmetic on its SIMD unit.
    #[inline]
    fn arithmetic(&mut self, at: WaveAt, from: Cycle, until: Cycle) {}
    /// A wavefront issues an operation.
    #[inline]
    fn issue(&mut self, now: Cycle, at: WaveAt, op: &Posted) {}
    /// An operation of a wavefront is complete.
    #[inline]
    fn complete(&mut self, at: WaveAt, op: &Posted, issued: Cycle, until: Cycle) {}
    /// The host issues an operation. A copy of an array is complete at once.
    #[inline]
    fn host_issue(&mut self, now: Cycle, op: &Posted) {}
    /// An operation of the host is complete.
    #[inline]
    fn host_complete(&mut self, now: Cycle, op: &Posted) {}
    /// A wavefront continues after a barrier.
    #[inline]
    fn barrier(&mut self, now: Cycle, at: WaveAt) {}
    /// A station serves an input.
    #[inline]
    fn serve(&mut self, station: u32, what: &'static str, line: Option<LineAddr>, from: Cycle, until: Cycle) {
    }
    /// A message enters the network.
    #[inline]
    fn message(&mut self, message: &MessageSeen) {}
    /// A link is occupied.
    #[inline]
    fn link(&mut self, link: LinkUse) {}
    /// Memory serves an access.
    #[inline]
    fn dram(&mut self, access: &DramUse) {}
    /// The number of cycles between two samples, or `None` for no samples.
    fn sample_every(&self) -> Option<NonZeroU64> {
        None
    }
    /// The counters so far, after each interval and at the end of a successful run.
    fn sample(&mut self, sample: &Sample) {}
    /// The arrays of the program, at the end of any run.
    #[inline]
    fn arrays(&mut self, arrays: &[ArrayInfo]) {}
    /// The run ended successfully.
    #[inline]
    fn end(&mut self, now: Cycle) {}
}

/// The probe that ignores everything.
impl Probe for () {}
