//! Scripts for a machine, and their results.

use proto::{LineAddr, TimerClass, Way};

use crate::queue::Cycle;
use crate::reports::error::RunError;
use crate::reports::outcome::Outcome;

/// An issuer of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveIssuer {
    /// A wavefront.
    Wave {
        /// Its work-group in the grid.
        work_group: u32,
        /// The wavefront in its work-group.
        wave: u32,
    },
    /// The host.
    Host,
}

/// One step of a schedule. Stations are numbered in the order of their protocol's
/// kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// A wavefront or the host issues its next operation, or a wavefront makes the
    /// acquire after a barrier.
    Issue(MoveIssuer),
    /// The oldest message between two stations arrives.
    Deliver {
        /// The sender.
        from: u32,
        /// The receiver.
        to: u32,
    },
    /// Memory performs the oldest operation of a station on a line.
    Serve {
        /// The station.
        station: u32,
        /// The line.
        line: LineAddr,
        /// Whether the answer arrives in the same move.
        answers: bool,
    },
    /// Memory's oldest answer about a line arrives at a station.
    Answer {
        /// The station.
        station: u32,
        /// The line.
        line: LineAddr,
    },
    /// A timer expires.
    Timer {
        /// The station.
        station: u32,
        /// The class of the timer.
        class: TimerClass,
    },
    /// A way is evicted. Ways are numbered in the order of their lines.
    Evict {
        /// The station.
        station: u32,
        /// The way.
        way: Way,
    },
    /// A clock tick passes.
    Tick {
        /// A single station, or all of them.
        station: Option<u32>,
    },
    /// A request that its core holds reaches a station other than that of the
    /// core's plain loads, or the answer returns from there.
    Cross {
        /// The station that it leaves. A core counts as the station of its plain
        /// loads.
        from: u32,
        /// The station that it reaches.
        to: u32,
        /// The issuer. A work-group that migrates counts as its first wavefront.
        issues: MoveIssuer,
        /// The index of this crossing among those on the same path, sorted by the age
        /// of their operations.
        nth: u32,
    },
    /// An agent makes its request at a kernel boundary.
    Boundary {
        /// A compute unit, or 0 for the command processor.
        agent: u32,
    },
    /// The next step of the program begins: a boundary, or the code after it.
    Next,
    /// A work-group leaves its compute unit, which releases first.
    Preempt {
        /// Its number in the grid.
        work_group: u32,
    },
    /// A preempted work-group resumes on another compute unit, which acquires
    /// first.
    Resume {
        /// Its number in the grid.
        work_group: u32,
        /// The compute unit.
        cu: u32,
    },
}

/// A kernel whose boundaries the moves order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptKernel {
    /// Whether the host may have written since the previous kernel.
    pub host_has_written: bool,
    /// Whether the kernel is released to the host when the host next accesses
    /// memory.
    pub is_released: bool,
    /// Whether the program continues after it, so that a move ends it.
    pub is_followed: bool,
}

/// The schedule of a run.
#[derive(Clone, Copy, Debug)]
pub struct Script<'a> {
    /// Lines whose pages lie on these chiplets from the start, in this order, for
    /// placement by first touch.
    pub pages: &'a [(LineAddr, u16)],
    /// The kernels whose boundaries moves order, in launch order. Later kernels run
    /// after the moves. If `None`, boundaries happen by themselves.
    pub kernels: Option<&'a [ScriptKernel]>,
    /// The moves.
    pub moves: &'a [Move],
}

/// A move that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MadeMove {
    /// The cycle of the move.
    pub cycle: Cycle,
    /// The message's name, or what memory does: `reads`, `writes`, `updates`.
    pub what: &'static str,
}

/// The state after the last move.
#[derive(Debug)]
pub enum End {
    /// Every thread has ended, and nothing is under way. The kernel and the program
    /// have then ended as well.
    Over(Box<Outcome>),
    /// Every thread has ended, but part of the machine is not at rest, for this
    /// reason.
    NotAtRest(String),
    /// No move is possible, and some thread has not ended.
    Stuck,
    /// The script is over, but the run is not: these moves are possible.
    Unfinished(Vec<Move>),
    /// The protocol reached a row that its tables call impossible.
    Impossible(String),
}

/// The result of a scripted run.
#[derive(Debug)]
pub struct ScriptOutcome {
    /// The names of the stations, by their numbers.
    pub stations: Vec<String>,
    /// The moves that were made.
    pub steps: Vec<MadeMove>,
    /// How it ended.
    pub end: End,
}

/// The reason why a machine cannot follow a script.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// The run fails regardless of the order.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A move of the script is not possible when its turn comes.
    #[error("move {} is not possible at this point", .at + 1)]
    NotOpen {
        /// The index of the move.
        at: usize,
        /// The moves that are possible at that point.
        open: Vec<Move>,
    },
}
