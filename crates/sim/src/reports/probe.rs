//! Probes: observers of a run.
//!
//! The machine calls a method of a [`Probe`] whenever an event happens. Every method has an empty
//! default, and a run is compiled for its probe, so an event that the probe ignores costs nothing.
//! A probe does not affect the run.

use core::num::NonZeroU64;

use kernel::{ArrayInfo, Posted};
use proto::{Condition, KernelId, LineAddr};

use crate::memory::dram::DramUse;
use crate::network::noc::{LinkEnds, LinkUse};
use crate::queue::Cycle;
use crate::reports::sample::Sample;

/// The place of a wavefront: on the machine (compute unit and slot), and in the program (kernel,
/// work-group and number).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WaveAt {
    /// The compute unit on which the wavefront runs.
    pub cu: u32,
    /// The slot of the wavefront on its compute unit.
    pub slot: u32,
    /// The number of the kernel that the wavefront runs.
    pub kernel: KernelId,
    /// The number of the wavefront's work-group in the grid.
    pub work_group: u32,
    /// The number of the wavefront in its work-group.
    pub wave: u32,
}

/// A message that enters the network, in the form that probes (observers of a run) see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageSeen {
    /// The name of the message in the protocol.
    pub name: &'static str,
    /// The number of the station (controller) that sends the message.
    pub from: u32,
    /// The number of the station (controller) that receives the message.
    pub to: u32,
    /// The line that the message concerns. `None` if it concerns no line.
    pub line: Option<LineAddr>,
    /// The size of the message in bytes, including the header.
    pub bytes: u32,
    /// The cycle at which the message enters the network.
    pub sent: Cycle,
    /// The cycle at which the message arrives.
    pub arrives: Cycle,
}

/// The components of a machine, in the form that probes (observers of a run) see.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// The names of the protocol's stations (controllers), for example `L2[3]`, in the order of the
    /// stations' numbers.
    pub stations: Vec<String>,
    /// The two ends of each link of the network, in the order of the links' numbers.
    pub links: Vec<LinkEnds>,
    /// The number of compute units.
    pub compute_units: u32,
    /// The number of chiplets.
    pub chiplets: u32,
    /// The clock frequency of the machine. Zero if it is unknown.
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
    /// The host launches a kernel. The kernel runs after the kernels launched before it.
    #[inline]
    fn launch(&mut self, now: Cycle, kernel: KernelId, name: &str) {}
    /// A kernel has ended. The time from `from` to `until` includes its launch and its release.
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
    /// A wavefront issues an operation at cycle `now`.
    #[inline]
    fn issue(&mut self, now: Cycle, at: WaveAt, op: &Posted) {}
    /// An operation of a wavefront is complete.
    #[inline]
    fn complete(&mut self, at: WaveAt, op: &Posted, issued: Cycle, until: Cycle) {}
    /// The host issues an operation at cycle `now`. A copy of an array is complete at once.
    #[inline]
    fn host_issue(&mut self, now: Cycle, op: &Posted) {}
    /// An operation of the host is complete.
    #[inline]
    fn host_complete(&mut self, now: Cycle, op: &Posted) {}
    /// A wavefront continues after a barrier.
    #[inline]
    fn barrier(&mut self, now: Cycle, at: WaveAt) {}
    /// A station (controller) of the protocol works on an input, from cycle `from` to `until`.
    #[inline]
    fn serve(&mut self, station: u32, what: &'static str, line: Option<LineAddr>, from: Cycle, until: Cycle) {
    }
    /// Whether the probe wants the conditions of stations (controllers). A condition is a state
    /// that lasts, such as a granted epoch.
    #[inline]
    fn draws(&self) -> bool {
        false
    }
    /// A station (controller) has these conditions (states that last, such as a granted epoch) from
    /// cycle `now` on. The machine calls this function after each step of a station if the probe
    /// [draws](Probe::draws) them.
    #[inline]
    fn conditions(&mut self, now: Cycle, station: u32, conditions: Vec<Condition>) {}
    /// A message enters the network.
    #[inline]
    fn message(&mut self, message: &MessageSeen) {}
    /// A message occupies a link of the network.
    #[inline]
    fn link(&mut self, link: LinkUse) {}
    /// Main memory serves an access.
    #[inline]
    fn dram(&mut self, access: &DramUse) {}
    /// The number of cycles between two samples, or `None` for no samples.
    fn sample_every(&self) -> Option<NonZeroU64> {
        None
    }
    /// Receives the values of the counters, after each interval and at the end of a successful run.
    fn sample(&mut self, sample: &Sample) {}
    /// Receives the arrays of the program, at the end of a run, whether it succeeds or fails.
    #[inline]
    fn arrays(&mut self, arrays: &[ArrayInfo]) {}
    /// The run has ended successfully.
    #[inline]
    fn end(&mut self, now: Cycle) {}
}

/// The probe that ignores all events, for runs without an observer.
impl Probe for () {}
