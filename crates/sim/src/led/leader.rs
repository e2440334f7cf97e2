//! Items that wait for a move but are not events of the queue: requests at kernel
//! boundaries, requests that cores hold, and preempted work-groups.

use proto::Agent;

use crate::engine::Event;
use crate::led::moves::LedKernel;

/// The state of a scripted run other than its events.
#[derive(Debug, Default)]
pub(crate) struct Leader {
    /// The kernels of the script, if moves order their boundaries.
    pub(super) kernels: Option<Vec<LedKernel>>,
    /// Requests at a boundary: the number of the agent, the agent and the
    /// instruction.
    pub(super) boundary: Vec<(u32, Agent, u32)>,
    /// Requests that cores hold before they cross to another station.
    pub(super) kept: Vec<u32>,
    /// Work-groups that are off their compute unit.
    pub(super) away: Vec<Away>,
    /// True if a step of the program has ended and the next one has not begun.
    pub(super) turns: bool,
}

impl Leader {
    pub(crate) fn new(kernels: Option<&[LedKernel]>) -> Box<Leader> {
        Box::new(Leader { kernels: kernels.map(<[_]>::to_vec), ..Leader::default() })
    }

    /// Whether moves order the boundaries of kernels.
    pub(crate) fn is_staged(&self) -> bool {
        self.kernels.is_some()
    }
}

/// A work-group that a move has preempted.
#[derive(Debug)]
pub(crate) struct Away {
    pub(super) group: u32,
    pub(super) stay: Stay,
    /// The held events of its wavefronts, each with the number of its wavefront.
    pub(super) events: Vec<(u32, Event)>,
}

/// The stage of a preemption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stay {
    /// The old compute unit releases.
    Saves,
    /// The work-group may resume on another compute unit.
    Off,
    /// The new compute unit acquires.
    Restores,
}
