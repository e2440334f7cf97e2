//! A run in a given order: the caller says what happens next, and the machine only
//! says when.
//!
//! In an ordinary run latencies decide which of two messages arrives first, and
//! the least recently used way is given up. Here a list of [`Move`]s decides: an
//! event of the machine that is a choice of the environment waits until a move
//! names it, and takes place at the cycle that the machine has come to. All else
//! (arithmetic, ports, the way across the network, the launch of kernels) goes on
//! by itself. Where the script names kernels, their beginnings and ends are led as
//! well, request by request. For controllers that look at the clock, time passes when a move says
//! so, and by cycles behind the last move.

use kernel::Program;
use proto::{LineAddr, Mutation, TimerClass, Way};

use crate::config::System;
use crate::error::RunError;
use crate::machine::{Ended, Machine, RunOptions};
use crate::outcome::Outcome;
use crate::queue::Cycle;
use crate::run::outcome;
use crate::subject::Subject;

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

/// Runs `program` on `system` under a protocol, and makes these moves in this
/// order. Each cache has one set. Without kernels in the script, every wavefront
/// stands before its first operation then. The kernels must end with arithmetic, so
/// that none has ended before the moves are over, or before a move ends it. Where
/// the host is the last to run, the program launches another kernel behind that.
///
/// # Errors
/// As [`crate::run`]; and if a move is not open when its turn comes.
pub fn follow(
    subject: &Subject,
    system: &System,
    program: Program,
    mutation: Option<Mutation>,
    script: &Script<'_>,
) -> Result<Followed, FollowError> {
    // Every step is shown.
    let options = RunOptions { mutation, steps_hits: true, ..RunOptions::default() };
    let mut stations = (subject.stations)(system, &options)?;
    script.pages.iter().for_each(|&(line, chiplet)| stations.touch(line, chiplet));
    let mut probe = ();
    let machine = Machine::new(system, program, &options, &mut probe, stations)?;
    let led = machine.follow(script)?;
    let end = match led.end {
        Ended::Over(finished) => End::Over(Box::new(outcome(system, *finished))),
        Ended::Otherwise(end) => end,
    };
    Ok(Followed { stations: led.stations, steps: led.steps, end })
}
