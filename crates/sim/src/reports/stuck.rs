//! The diagnosis of a run that does not finish: which thread waits for what.

use core::fmt;

use proto::words::{counted, plural};

/// A run that does not finish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// The symptom.
    pub cause: Cause,
    /// The cycle at which the run was stopped.
    pub cycle: u64,
    /// The seed of the run.
    pub seed: u64,
    /// The waits: that of the host first, then those of wavefronts by compute unit
    /// and slot.
    pub waits: Vec<Wait>,
    /// Kernels and work-groups that wait, as text.
    pub kernels: Vec<String>,
    /// The parked inputs of the stations, as text.
    pub parked: Vec<String>,
    /// The last messages about the lines that threads wait for.
    pub lines: Vec<LineHistory>,
}

/// The symptom of a run that does not finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Everything waits, and no event is pending.
    NothingMoves,
    /// No byte changed and no wavefront retired for too long.
    NoProgress {
        /// The number of cycles without progress.
        idle_cycles: u64,
    },
    /// The run exceeded its limit of cycles.
    TooLong {
        /// The number of cycles taken.
        cycles: u64,
    },
}

/// A thread that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The host or a wavefront, as text.
    pub who: String,
    /// The thing it waits for.
    pub what: Awaited,
    /// The place in the program's source.
    pub site: String,
}

/// The thing that a thread waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// An answer to an operation.
    Answer {
        /// The operation: `load`, `atomic`, ...
        what: &'static str,
        /// The accessed place, by array if it is known.
        place: String,
        /// The cycle of the issue.
        since: u64,
        /// The location of the request, as text.
        at: String,
    },
    /// The other wavefronts of its work-group.
    Barrier {
        /// The number of wavefronts at the barrier.
        arrived: u32,
        /// The number of wavefronts that have ended and will not arrive.
        ended: u32,
        /// The number of wavefronts in all.
        waves: u32,
    },
    /// A change of a value, in a loop.
    Spins {
        /// The operation that it repeats.
        what: &'static str,
        /// The accessed place, by array if it is known.
        place: String,
        /// The last value read.
        value: Option<u64>,
    },
    /// The end of a kernel.
    Kernel(String),
    /// Its first instruction, or a turn on the SIMD unit.
    Turn,
}

/// The last messages about a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineHistory {
    /// The line, as text.
    pub line: String,
    /// The messages, oldest first, as text.
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
            Awaited::Turn => f.write_str("waits for its turn"),
        }
    }
}

/// The number of waits that a message lists. Further ones are only counted.
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
