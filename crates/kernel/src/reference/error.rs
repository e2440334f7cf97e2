//! The errors that end a run of the functional executor.

use core::fmt;

use proto::words::counted;

use crate::fault::{Fault, Issuer};
use crate::op::Site;

/// The reason why a run did not reach the end of its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// The program has an error.
    Fault(Box<Fault>),
    /// The program makes no progress.
    Stuck(Box<Stuck>),
}

/// The state of a program that makes no progress: the symptom, and the agents that wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// The symptom by which the run found that the program makes no progress.
    pub cause: StuckCause,
    /// The agents that wait: first the host, then the wavefronts in the order of dispatch.
    pub waits: Vec<Wait>,
    /// The kernels that have undispatched work-groups, each with the number of its undispatched
    /// work-groups.
    pub undispatched: Vec<(String, u32)>,
}

/// The symptom by which a run finds that its program makes no progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StuckCause {
    /// Every agent waits for an event that no agent will cause.
    Deadlock,
    /// Many operations in a row changed no byte, and no wavefront ended.
    NoProgress {
        /// The number of operations without progress.
        steps: u64,
    },
    /// The run exceeds its limit of operations.
    TooLong {
        /// The number of operations that the run performed.
        steps: u64,
    },
}

/// An agent that waits, and the event that it waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The agent that waits.
    pub issuer: Issuer,
    /// The event for which the agent waits.
    pub what: Awaited,
    /// The place in the source of the operation for which the agent waits.
    pub site: Site,
}

/// The event for which an agent waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// The agent is at a barrier and waits for the other wavefronts of its work-group.
    Barrier {
        /// The number of wavefronts that have arrived.
        arrived: u32,
        /// The number of wavefronts that have ended and therefore never arrive.
        ended: u32,
        /// The number of wavefronts in the work-group.
        waves: u32,
    },
    /// The end of the kernel with this name.
    Kernel(String),
    /// No event: the agent runs, but the program makes no progress. [`Wait::site`] is the place of
    /// the agent's last operation.
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

/// The maximum number of waits that a message lists. For the remaining waits, the message gives
/// only their number.
const WAITS_SHOWN: usize = 8;

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cause {
            StuckCause::Deadlock => f.write_str("the program is deadlocked")?,
            StuckCause::NoProgress { steps } => {
                write!(f, "no byte changed and no wavefront ended during {}", counted(steps, "operation"))?;
            }
            StuckCause::TooLong { steps } => {
                write!(f, "the program did not end within {}", counted(steps, "operation"))?;
            }
        }
        for Wait { issuer, what, site } in self.waits.iter().take(WAITS_SHOWN) {
            write!(f, "\n  {issuer} {what}, at {site}")?;
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
