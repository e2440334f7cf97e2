//! What can be said to a machine that is led, and what it answers.

use proto::{LineAddr, TimerClass, Way};

use crate::queue::Cycle;
use crate::reports::error::RunError;
use crate::reports::outcome::Outcome;

/// Who issues an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Issues {
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

/// What happens next. Stations are numbered in the order of their protocol's
/// kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// A wavefront or the host issues its next operation; or it goes on behind a
    /// barrier, with what the barrier acquires.
    Issue(Issues),
    /// The oldest message between two stations arrives.
    Deliver {
        /// Who sent it.
        from: u32,
        /// Who gets it.
        to: u32,
    },
    /// Memory performs the oldest operation of a station on a line.
    Serve {
        /// The station.
        station: u32,
        /// The line.
        line: LineAddr,
        /// Does the answer come at once?
        answers: bool,
    },
    /// Memory's oldest answer about a line comes to a station.
    Answer {
        /// The station.
        station: u32,
        /// The line.
        line: LineAddr,
    },
    /// A timer runs out.
    Timer {
        /// The station.
        station: u32,
        /// Which one.
        class: TimerClass,
    },
    /// A way is given up, by its number when the ways are sorted by their lines.
    Evict {
        /// The station.
        station: u32,
        /// The way.
        way: Way,
    },
    /// A tick passes.
    Tick {
        /// For this station alone, or for all of them.
        station: Option<u32>,
    },
    /// A request that a core has kept back reaches a station that is not the one of
    /// the core's plain loads, or the answer comes back from there.
    Cross {
        /// The station that it leaves; the core belongs to that of its plain loads.
        from: u32,
        /// The station that it comes to.
        to: u32,
        /// Whose it is. That of a work-group which changes its compute unit is its
        /// first wavefront's.
        issues: Issues,
        /// Which of those on the way, by the age of their operations.
        nth: u32,
    },
    /// An agent makes its request at the boundary of a kernel.
    Boundary {
        /// A compute unit, or 0 for the command processor.
        agent: u32,
    },
    /// The next step of the program begins: a boundary, or what runs behind it.
    Next,
    /// A work-group is to leave its compute unit, which releases first.
    Preempt {
        /// Its number in the grid.
        work_group: u32,
    },
    /// A work-group that has left comes to another compute unit, which acquires
    /// first.
    Resume {
        /// Its number in the grid.
        work_group: u32,
        /// The compute unit.
        cu: u32,
    },
}

/// A kernel whose boundaries moves name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedKernel {
    /// May the host have written since the kernel before?
    pub host_has_written: bool,
    /// Is it released to the host when the host is next to look?
    pub is_released: bool,
    /// Does something follow in the program, so that moves name its end?
    pub is_followed: bool,
}

/// What happens, in which order.
#[derive(Clone, Copy, Debug)]
pub struct Script<'a> {
    /// The pages of some lines lie on these chiplets from the start, in that order,
    /// where the first touch decides.
    pub pages: &'a [(LineAddr, u16)],
    /// Kernels whose boundaries moves name, by their launches; later kernels are
    /// behind the moves. Without them, beginnings and ends take place by themselves.
    pub kernels: Option<&'a [LedKernel]>,
    /// The moves.
    pub moves: &'a [Move],
}

/// A move that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// When.
    pub cycle: Cycle,
    /// The message's name, or what memory does: `reads`, `writes`, `updates`.
    pub what: &'static str,
}

/// How it stands behind the last move.
#[derive(Debug)]
pub enum End {
    /// Every thread had come to its end, and nothing was under way; so the kernel
    /// ended, and the program after it.
    Over(Box<Outcome>),
    /// Every thread had come to its end, and something was not at rest.
    Unquiet(String),
    /// Nothing can move, and some thread has not come to its end.
    Stuck,
    /// Something can move still: this.
    Goes(Vec<Move>),
    /// The protocol came to what its tables call impossible.
    Impossible(String),
}

/// A run that was told its order.
#[derive(Debug)]
pub struct Followed {
    /// The names of the stations, by their numbers.
    pub stations: Vec<String>,
    /// The moves that were made.
    pub steps: Vec<Step>,
    /// How it ended.
    pub end: End,
}

/// Why a machine cannot do as it is told.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// The run has no result in any order.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The machine cannot make a move.
    #[error("move {} is not open", .at + 1)]
    NotOpen {
        /// Which one, from zero.
        at: usize,
        /// What could happen in its place.
        open: Vec<Move>,
    },
}
