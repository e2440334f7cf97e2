//! Watching a run.
//!
//! A [`Probe`] sees what the machine does, when it does it. Every method has an
//! empty default, and a run is compiled for its probe: what is not watched
//! costs nothing. A probe changes nothing of the run.

use core::num::NonZeroU64;

use kernel::{ArrayInfo, Posted};
use proto::{KernelId, LineAddr};

use crate::memory::dram::DramUse;
use crate::network::noc::{LinkEnds, LinkUse};
use crate::queue::Cycle;
use crate::reports::sample::Sample;

/// Where a wavefront runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WaveAt {
    /// The compute unit.
    pub cu: u32,
    /// The wavefront's slot there.
    pub slot: u32,
    /// Its kernel.
    pub kernel: KernelId,
    /// Its work-group in the grid.
    pub work_group: u32,
    /// The wavefront in its work-group.
    pub wave: u32,
}

/// A message, when it enters the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageSeen {
    /// Its name in the protocol.
    pub name: &'static str,
    /// The number of the sending station.
    pub from: u32,
    /// The number of the receiving station.
    pub to: u32,
    /// The line it is about, if any.
    pub line: Option<LineAddr>,
    /// Bytes, the header included.
    pub bytes: u32,
    /// When it was sent.
    pub sent: Cycle,
    /// When it arrives.
    pub arrives: Cycle,
}

/// The names of what a machine is made of.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// The stations of the protocol, for example `L2[3]`, by number.
    pub stations: Vec<String>,
    /// The links of the network, by number.
    pub links: Vec<LinkEnds>,
    /// How many compute units it has.
    pub compute_units: u32,
    /// How many chiplets they stand on.
    pub chiplets: u32,
    /// The clock that cycles count; zero if it is not known.
    pub clock_mhz: u32,
    /// How many channels memory has.
    pub dram_channels: u32,
}

/// Sees a run.
#[allow(unused_variables, reason = "the defaults look at nothing")]
pub trait Probe {
    /// The run begins.
    #[inline]
    fn begin(&mut self, layout: &Layout) {}
    /// The host launches a kernel; it runs after those launched before it.
    #[inline]
    fn launch(&mut self, now: Cycle, kernel: KernelId, name: &str) {}
    /// A kernel ran, launch and end included.
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
    /// The host issues an operation; a copy of an array is complete at once.
    #[inline]
    fn host_issue(&mut self, now: Cycle, op: &Posted) {}
    /// An operation of the host is complete.
    #[inline]
    fn host_complete(&mut self, now: Cycle, op: &Posted) {}
    /// A wavefront goes on behind a barrier.
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
    /// How many cycles lie between two samples; nothing if none are taken.
    fn sample_every(&self) -> Option<NonZeroU64> {
        None
    }
    /// What was counted so far, after each interval and at the end of a run
    /// that ends well.
    fn sample(&mut self, sample: &Sample) {}
    /// The arrays of the program, when the run ends, however it ends.
    #[inline]
    fn arrays(&mut self, arrays: &[ArrayInfo]) {}
    /// The run has ended well.
    #[inline]
    fn end(&mut self, now: Cycle) {}
}

/// Watches nothing.
impl Probe for () {}
