//! What waits for a move and is not an event: requests at kernel boundaries, requests that cores
//! hold, and preempted work-groups.

use proto::Agent;

use crate::engine::Event;
use crate::led::moves::ScriptKernel;

/// The state of a scripted run. The events that wait for moves are stored elsewhere.
#[derive(Debug, Default)]
pub(crate) struct ScriptState {
    /// The kernels of the script, if moves order the requests at their beginning and end. `None` if
    /// no move is needed for these requests.
    pub(super) kernels: Option<Vec<ScriptKernel>>,
    /// Held acquire or release requests at a kernel's beginning or end. Each has the number of its
    /// agent in moves, the agent, and the number of its instruction.
    pub(super) boundary: Vec<(u32, Agent, u32)>,
    /// The instructions whose requests are held at their cores. Each of these requests goes to a
    /// station (controller) that does not receive the core's plain loads.
    pub(super) held_requests: Vec<u32>,
    /// The work-groups that a move has taken off their compute unit and that have not continued.
    pub(super) preempted: Vec<Preempted>,
    /// True if a step of the program (the requests at a kernel boundary, or the code after them)
    /// has ended and the next step has not begun.
    pub(super) is_between_steps: bool,
}

impl ScriptState {
    pub(crate) fn new(kernels: Option<&[ScriptKernel]>) -> Box<ScriptState> {
        Box::new(ScriptState { kernels: kernels.map(<[_]>::to_vec), ..ScriptState::default() })
    }

    /// Whether moves decide the order of the requests at the beginning and end of kernels.
    pub(crate) fn orders_boundaries(&self) -> bool {
        self.kernels.is_some()
    }
}

/// A work-group that a move has taken off its compute unit.
#[derive(Debug)]
pub(crate) struct Preempted {
    pub(super) group: u32,
    pub(super) stage: PreemptStage,
    /// The held events of the work-group's wavefronts, each with the slot of its wavefront.
    pub(super) events: Vec<(u32, Event)>,
}

/// The stage that the preemption of a work-group has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PreemptStage {
    /// The old compute unit makes a release. Its answer is outstanding.
    Saving,
    /// The release is answered. The work-group may resume on another compute unit.
    Off,
    /// The new compute unit makes an acquire. Its answer is outstanding.
    Restoring,
}
