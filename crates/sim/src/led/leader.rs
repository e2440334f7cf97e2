//! What waits for a move and is no event of the queue: the requests at the
//! boundaries of kernels, what a core keeps back, and work-groups that have left.

use proto::Agent;

use crate::engine::Event;
use crate::led::moves::LedKernel;

/// What the moves are about beside events.
#[derive(Debug, Default)]
pub(crate) struct Leader {
    /// The kernels, if moves name their boundaries.
    pub(super) kernels: Option<Vec<LedKernel>>,
    /// Requests at a boundary, each with the number of its agent and the agent.
    pub(super) boundary: Vec<(u32, Agent, u32)>,
    /// Requests that cores have kept back, on their way to another station.
    pub(super) kept: Vec<u32>,
    /// Work-groups that are not at work, for they change their compute unit.
    pub(super) away: Vec<Away>,
    /// A step of the program has ended, and the next one has not been let begin.
    pub(super) turns: bool,
}

impl Leader {
    pub(crate) fn new(kernels: Option<&[LedKernel]>) -> Box<Leader> {
        Box::new(Leader { kernels: kernels.map(<[_]>::to_vec), ..Leader::default() })
    }

    /// Do moves name the boundaries of kernels?
    pub(crate) fn is_staged(&self) -> bool {
        self.kernels.is_some()
    }
}

/// A work-group that is not at work.
#[derive(Debug)]
pub(crate) struct Away {
    pub(super) group: u32,
    pub(super) stay: Stay,
    /// What its wavefronts are at, by the number of the wavefront.
    pub(super) events: Vec<(u32, Event)>,
}

/// How a work-group stands to its compute unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stay {
    /// The compute unit releases.
    Saves,
    /// The work-group may go on elsewhere.
    Off,
    /// The next compute unit acquires.
    Restores,
}
