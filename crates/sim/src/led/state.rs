//! The state of a scripted run: the things that wait for a move of the script and are not events.
//! They are requests at kernel boundaries, requests that cores hold, and preempted work-groups.

use proto::Agent;

use crate::engine::Event;
use crate::led::moves::ScriptKernel;

/// The state of a scripted run. The events that wait for moves are stored elsewhere.
#[derive(Debug, Default)]
pub(crate) struct ScriptState {
    /// The kernels that the script lists, if its moves order the requests at their beginning and
    /// end. `None` if these requests need no move.
    pub(super) kernels: Option<Vec<ScriptKernel>>,
    /// The acquire or release requests at a kernel's beginning or end that wait for a move of the
    /// script. Each has the number by which the script names its agent (a compute unit or the
    /// command processor), the agent, and the number of its instruction.
    pub(super) boundary: Vec<(u32, Agent, u32)>,
    /// The instructions whose requests are held at their cores until a move of the script names
    /// them. Each of these requests goes to a station (controller) that does not receive the core's
    /// plain loads.
    pub(super) held_requests: Vec<u32>,
    /// The work-groups that a move of the script has taken off their compute unit and that have not
    /// continued.
    pub(super) preempted: Vec<Preempted>,
    /// True if a step of the program (the requests at a kernel boundary, or the code after them)
    /// has ended and the next step has not begun.
    pub(super) is_between_steps: bool,
}

impl ScriptState {
    pub(crate) fn new(kernels: Option<&[ScriptKernel]>) -> Box<ScriptState> {
        Box::new(ScriptState { kernels: kernels.map(<[_]>::to_vec), ..ScriptState::default() })
    }

    /// Whether the moves of the script decide the order of the requests at the beginning and end of
    /// kernels.
    pub(crate) fn orders_boundaries(&self) -> bool {
        self.kernels.is_some()
    }
}

/// A work-group that a move of the script has taken off its compute unit.
#[derive(Debug)]
pub(crate) struct Preempted {
    pub(super) group: u32,
    pub(super) stage: PreemptStage,
    /// The events of the work-group's wavefronts that wait for moves of the script. Each has the
    /// slot of its wavefront.
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
