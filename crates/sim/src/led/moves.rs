//! Scripts for a machine, which are lists of moves, and the results of scripted runs.

use proto::{LineAddr, TimerClass, Way};

use crate::queue::Cycle;
use crate::reports::error::RunError;
use crate::reports::outcome::Outcome;

/// The issuer of an operation: a wavefront or the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveIssuer {
    /// A wavefront of a kernel.
    Wave {
        /// The number of the wavefront's work-group in the grid.
        work_group: u32,
        /// The number of the wavefront in its work-group.
        wave: u32,
    },
    /// The host, which is the CPU beside the GPU.
    Host,
}

/// One step of a schedule. Stations (controllers of the protocol) are numbered in the order in
/// which the protocol lists its kinds of controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// A wavefront or the host issues its next operation, or a wavefront makes the acquire after a
    /// barrier.
    Issue(MoveIssuer),
    /// The oldest message from one station (controller) to another arrives.
    Deliver {
        /// The station (controller) that sent the message.
        from: u32,
        /// The station (controller) that receives the message.
        to: u32,
    },
    /// Memory performs the oldest operation of a station (controller) on a line.
    Serve {
        /// The station (controller) that requested the operation.
        station: u32,
        /// The line that the operation accesses.
        line: LineAddr,
        /// Whether memory's answer also arrives in this move.
        answers: bool,
    },
    /// Memory's oldest answer to a station (controller) about a line arrives at this station.
    Answer {
        /// The station (controller) that receives the answer.
        station: u32,
        /// The line that the answer is about.
        line: LineAddr,
    },
    /// A timer of a station (controller) expires.
    Timer {
        /// The station (controller) that started the timer.
        station: u32,
        /// The class of the timer that expires.
        class: TimerClass,
    },
    /// A station (controller) evicts a way. After each move, the lines of each set are sorted by
    /// their numbers, and the number of a way is the position of its line in this order.
    Evict {
        /// The station (controller) that evicts the way.
        station: u32,
        /// The way to evict.
        way: Way,
    },
    /// The clock of the protocol advances by one tick.
    Tick {
        /// The station (controller) whose clock advances. `None` advances the clocks of all
        /// stations.
        station: Option<u32>,
    },
    /// A request from a core reaches a station (controller) that does not receive the core's plain
    /// loads, or the answer to such a request returns to the core. Until then, the request or
    /// answer is held.
    Cross {
        /// The station (controller) that the request or answer leaves. If a core sends the request,
        /// the station that receives the core's plain loads stands for the core.
        from: u32,
        /// The station (controller) that the request or answer reaches. If a core receives the
        /// answer, the station that receives the core's plain loads stands for the core.
        to: u32,
        /// The issuer of the operation. If the operation is the acquire or release of a work-group
        /// that goes to another compute unit, the first wavefront of the work-group counts as the
        /// issuer.
        issues: MoveIssuer,
        /// The index of this request or answer among those of the same issuer between the same two
        /// stations (controllers), sorted by the age of their operations.
        nth: u32,
    },
    /// A compute unit or the command processor makes its acquire or release request at the
    /// beginning or end of a kernel.
    Boundary {
        /// The number of the compute unit, or 0 for the command processor.
        agent: u32,
    },
    /// The next step of the program begins. A step is the requests at the beginning or end of a
    /// kernel, or the code that follows these requests.
    Next,
    /// A work-group is taken off its compute unit. The compute unit makes a release first.
    Preempt {
        /// The number of the work-group in its grid.
        work_group: u32,
    },
    /// A preempted work-group resumes on another compute unit. The new compute unit makes an
    /// acquire first.
    Resume {
        /// The number of the work-group in its grid.
        work_group: u32,
        /// The compute unit on which the work-group resumes.
        cu: u32,
    },
}

/// A kernel whose requests at its beginning and end are made in an order that the moves of the
/// script decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptKernel {
    /// Whether the host may have written since the previous kernel.
    pub host_has_written: bool,
    /// Whether the writes of the kernel are released to the host when the host next accesses
    /// memory.
    pub is_released: bool,
    /// Whether the program continues after the kernel. If it does, a move of the script ends the
    /// kernel.
    pub is_followed: bool,
}

/// The schedule of a scripted run.
#[derive(Clone, Copy, Debug)]
pub struct Script<'a> {
    /// The lines whose pages have a chiplet from the start, each with its chiplet, in the order of
    /// placement. Only for machines that place pages by first touch.
    pub pages: &'a [(LineAddr, u16)],
    /// The kernels whose requests at their beginning and end are made in the order of the moves.
    /// The kernels are in launch order. Kernels after these run when all moves are made. If `None`,
    /// such requests need no move.
    pub kernels: Option<&'a [ScriptKernel]>,
    /// The moves (steps of the schedule) in the order in which they are made.
    pub moves: &'a [Move],
}

/// A move (a step of the script) that was made, and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MadeMove {
    /// The cycle at which the move was made.
    pub cycle: Cycle,
    /// If a message arrived, its name. If memory performed an operation, the effect: `reads`,
    /// `writes` or `updates`. Empty for other moves.
    pub what: &'static str,
}

/// The state of the run after the last move of the script.
#[derive(Debug)]
pub enum End {
    /// Every thread has ended, and nothing was outstanding. The kernel and the host code have
    /// therefore ended as well.
    Over(Box<Outcome>),
    /// Every thread has ended, but part of the machine is not at rest. For example, a station
    /// (controller) still has a parked input. The text is the reason.
    NotAtRest(String),
    /// No further move is possible, but some thread has not ended.
    Stuck,
    /// No move of the script is left, but the run has not ended: these moves are possible.
    Unfinished(Vec<Move>),
    /// The protocol violated a rule: for example, it reached a row that its tables call impossible.
    /// The text is the reason.
    Impossible(String),
}

/// The result of a scripted run: the moves made, and the state after them.
#[derive(Debug)]
pub struct ScriptOutcome {
    /// The names of the stations (controllers), in the order of their numbers.
    pub stations: Vec<String>,
    /// The moves that were made, in order. Each has its cycle and its effect.
    pub steps: Vec<MadeMove>,
    /// The state of the run after the last move of the script.
    pub end: End,
}

/// The reason why a machine cannot follow a script (a list of moves).
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// The run fails for a reason that does not depend on the order of the script's moves.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A move of the script is not possible when its turn comes.
    #[error("move {} is not possible at this point", .at + 1)]
    NotOpen {
        /// The index of the impossible move in the script.
        at: usize,
        /// The moves (steps of the script) that are possible instead of the impossible one.
        open: Vec<Move>,
    },
}
