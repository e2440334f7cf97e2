//! Why a run did not come to its end.

use core::fmt;

use proto::words::counted;

use crate::fault::{Fault, Who};
use crate::op::Site;

/// Why a run did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// The program did something wrong.
    Fault(Box<Fault>),
    /// The program can not, or does not, go on.
    Stuck(Box<Stuck>),
}

/// A program that does not go on, and who waits for what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// How this shows.
    pub cause: Cause,
    /// Who waits, the host first, then wavefronts in the order of dispatch.
    pub waits: Vec<Wait>,
    /// Work-groups that were never dispatched: the kernel and how many.
    pub undispatched: Vec<(String, u32)>,
}

/// How it shows that a program does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Everybody waits for something that nobody will do.
    NothingMoves,
    /// So many operations changed no byte, and no wavefront ended.
    NoProgress {
        /// How many.
        steps: u64,
    },
    /// The run took more operations than allowed.
    TooLong {
        /// How many.
        steps: u64,
    },
}

/// One agent that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Who.
    pub who: Who,
    /// For what.
    pub what: Awaited,
    /// At which place in the source.
    pub site: Site,
}

/// What an agent waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// The other wavefronts of its work-group at a barrier.
    Barrier {
        /// How many are there.
        arrived: u32,
        /// How many have ended and will never come.
        ended: u32,
        /// How many there are in all.
        waves: u32,
    },
    /// The end of a kernel.
    Kernel(String),
    /// Nothing: it runs on, and comes by here.
    Spins,
}

impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Awaited::Barrier { arrived, ended, waves } => {
                write!(
                    f,
                    "waits at a barrier (of {}, {arrived} arrived and {ended} ended)",
                    counted(u64::from(*waves), "wavefront")
                )
            }
            Awaited::Kernel(name) => write!(f, "waits for the end of kernel `{name}`"),
            Awaited::Spins => f.write_str("runs without progress"),
        }
    }
}

/// How many waits a message names before it only counts.
const WAITS_SHOWN: usize = 8;

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cause {
            Cause::NothingMoves => f.write_str("the program can not go on")?,
            Cause::NoProgress { steps } => {
                write!(f, "no byte changed and no wavefront ended during {}", counted(steps, "operation"))?;
            }
            Cause::TooLong { steps } => {
                write!(f, "the program did not end within {}", counted(steps, "operation"))?;
            }
        }
        for Wait { who, what, site } in self.waits.iter().take(WAITS_SHOWN) {
            write!(f, "\n  {who} {what}, at {site}")?;
        }
        if self.waits.len() > WAITS_SHOWN {
            write!(f, "\n  and {} more", self.waits.len() - WAITS_SHOWN)?;
        }
        for (kernel, count) in &self.undispatched {
            let groups = counted(u64::from(*count), "work-group");
            write!(f, "\n  kernel `{kernel}` waits for room on a compute unit: {groups} not dispatched")?;
        }
        Ok(())
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Fault(fault) => fault.fmt(f),
            RunError::Stuck(stuck) => stuck.fmt(f),
        }
    }
}

impl core::error::Error for RunError {}
