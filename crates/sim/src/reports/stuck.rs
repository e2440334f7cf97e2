//! The diagnosis of a run that does not finish: its threads, and the event that each of them waits
//! for.

use core::fmt;

use proto::words::{counted, plural};

/// The diagnosis of a run that does not finish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// The symptom by which the run was found to be stuck.
    pub cause: Cause,
    /// The cycle at which the run was stopped.
    pub cycle: u64,
    /// The seed of the run.
    pub seed: u64,
    /// The waits of all threads: first of the host, then of wavefronts by compute unit and slot.
    pub waits: Vec<Wait>,
    /// The kernels that have not ended and the number of their work-groups that are not dispatched,
    /// as text.
    pub kernels: Vec<String>,
    /// The parked inputs of the stations (controllers of the protocol), as text.
    pub parked: Vec<String>,
    /// For each line that threads wait for, the last messages about it.
    pub lines: Vec<LineHistory>,
}

/// The observation by which the simulator decides that a run does not finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Every thread waits, and no event is pending.
    NothingMoves,
    /// No byte changed and no wavefront retired for longer than the patience (the allowed number of
    /// cycles without progress).
    NoProgress {
        /// The number of cycles since the last progress.
        idle_cycles: u64,
    },
    /// The run exceeded its limit of cycles.
    TooLong {
        /// The number of cycles that the run has taken.
        cycles: u64,
    },
}

/// A thread that waits, and the event that it waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The host or a wavefront, as text.
    pub who: String,
    /// The event that the thread waits for.
    pub what: Awaited,
    /// The place in the program's source where the thread waits.
    pub site: String,
}

/// The event that a thread waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// The thread waits for the answer to an operation.
    Answer {
        /// The name of the operation: `load`, `atomic`, ...
        what: &'static str,
        /// The array and the element that are accessed, as text, or the address if the array is not
        /// known.
        place: String,
        /// The cycle at which the operation was issued.
        since: u64,
        /// The place where the unanswered request of the operation is now, as text.
        at: String,
    },
    /// The thread waits at a barrier until the other wavefronts of its work-group arrive.
    Barrier {
        /// The number of wavefronts that wait at the barrier.
        arrived: u32,
        /// The number of wavefronts that have ended and will not arrive.
        ended: u32,
        /// The number of wavefronts in the work-group.
        waves: u32,
    },
    /// The thread spins: it waits for a change of a value, which it reads in a loop.
    Spins {
        /// The name of the operation that the thread repeats.
        what: &'static str,
        /// The array and the element that are accessed, as text, or the address if the array is not
        /// known.
        place: String,
        /// The value that the thread read last. `None` if it is not known.
        value: Option<u64>,
    },
    /// The thread (the host) waits for the end of the kernel with this name.
    Kernel(String),
    /// The thread waits until it can issue its next operation. For example, a wavefront waits for
    /// its start or for its turn on the SIMD unit.
    Turn,
}

/// The last messages about a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineHistory {
    /// The line as text.
    pub line: String,
    /// The last messages about the line as text, oldest first.
    pub messages: Vec<String>,
}

impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Awaited::Answer { what, place, since, at } => {
                write!(f, "waits since cycle {since} for the answer to its {what}{place}: {at}")
            }
            Awaited::Barrier { arrived, ended, waves } => write!(
                f,
                "waits at a barrier: of {}, {arrived} arrived and {ended} ended without arriving",
                counted(u64::from(*waves), "wavefront")
            ),
            Awaited::Spins { what, place, value } => {
                write!(f, "repeats its {what}{place} without progress")?;
                value.map_or(Ok(()), |value| write!(f, "; the last value read is {value}"))
            }
            Awaited::Kernel(name) => write!(f, "waits for the end of kernel `{name}`"),
            Awaited::Turn => f.write_str("waits until it can issue its next operation"),
        }
    }
}

/// The number of waits that the error message lists. For further waits, it gives only their number.
const WAITS_SHOWN: usize = 12;

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stuck { cycle, seed, .. } = self;
        match self.cause {
            Cause::NothingMoves => write!(f, "the run is stuck: no event is pending after cycle {cycle}")?,
            Cause::NoProgress { idle_cycles } => write!(
                f,
                "the run makes no progress: no wavefront retired and no byte changed for {}, up to cycle {cycle}",
                counted(idle_cycles, "cycle")
            )?,
            Cause::TooLong { cycles } => {
                write!(f, "the run was stopped after {}", counted(cycles, "cycle"))?;
            }
        }
        write!(f, " (seed {seed})")?;
        for Wait { who, what, site } in self.waits.iter().take(WAITS_SHOWN) {
            write!(f, "\n  {who} {what}, at {site}")?;
        }
        if self.waits.len() > WAITS_SHOWN {
            write!(f, "\n  and {} more", self.waits.len() - WAITS_SHOWN)?;
        }
        for kernel in &self.kernels {
            write!(f, "\n  {kernel}")?;
        }
        for parked in self.parked.iter().take(WAITS_SHOWN) {
            write!(f, "\n  {parked}")?;
        }
        if self.parked.len() > WAITS_SHOWN {
            let rest = (self.parked.len() - WAITS_SHOWN) as u64;
            write!(f, "\n  and {rest} more parked {}", plural(rest, "input"))?;
        }
        for LineHistory { line, messages } in &self.lines {
            write!(f, "\n  last messages about {line}:")?;
            if messages.is_empty() {
                f.write_str(" none recorded")?;
            }
            for message in messages {
                write!(f, "\n    {message}")?;
            }
        }
        Ok(())
    }
}
