//! A run that does not get to its end: who waits for what.

use core::fmt;

use proto::words::{counted, plural};

/// A run that does not get to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// How it shows.
    pub cause: Cause,
    /// When it was given up.
    pub cycle: u64,
    /// The seed of the run.
    pub seed: u64,
    /// Who waits: the host first, then wavefronts by compute unit and slot.
    pub waits: Vec<Wait>,
    /// Kernels and work-groups that wait, in words.
    pub kernels: Vec<String>,
    /// What is parked at the stations, in words.
    pub parked: Vec<String>,
    /// The last messages about the lines that are waited for.
    pub lines: Vec<LineHistory>,
}

/// How it shows that a run does not get to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Everybody waits for something that nobody will do.
    NothingMoves,
    /// For so long no byte changed and no wavefront retired.
    NoProgress {
        /// For how long.
        idle_cycles: u64,
    },
    /// The run took more cycles than it was allowed.
    TooLong {
        /// How many.
        cycles: u64,
    },
}

/// One that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The host, or a wavefront, in words.
    pub who: String,
    /// For what.
    pub what: Awaited,
    /// Where in the program's source.
    pub site: String,
}

/// What one waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// An answer to an operation.
    Answer {
        /// The operation: `load`, `atomic`, ...
        what: &'static str,
        /// The place, by array where it is known.
        place: String,
        /// Since when.
        since: u64,
        /// Where the request stands, in words.
        at: String,
    },
    /// The other wavefronts of its work-group.
    Barrier {
        /// How many are there.
        arrived: u32,
        /// How many have ended and will never come.
        ended: u32,
        /// How many there are in all.
        waves: u32,
    },
    /// Nothing: it goes round in circles.
    Spins {
        /// The operation it does again and again.
        what: &'static str,
        /// The place, by array where it is known.
        place: String,
        /// The value it found there last.
        value: Option<u64>,
    },
    /// The end of a kernel.
    Kernel(String),
    /// Its first step, or its turn on the SIMD unit.
    Turn,
}

/// The last messages about a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineHistory {
    /// The line, in words.
    pub line: String,
    /// The messages, oldest first, in words.
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
                value.map_or(Ok(()), |value| write!(f, "; it last found {value}"))
            }
            Awaited::Kernel(name) => write!(f, "waits for the end of kernel `{name}`"),
            Awaited::Turn => f.write_str("waits for its turn"),
        }
    }
}

/// How many waits a message names before it only counts them.
const WAITS_SHOWN: usize = 12;

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stuck { cycle, seed, .. } = self;
        match self.cause {
            Cause::NothingMoves => write!(f, "the run cannot go on: nothing moves after cycle {cycle}")?,
            Cause::NoProgress { idle_cycles } => write!(
                f,
                "the run makes no progress: no wavefront retired and no byte changed for {}, up to cycle {cycle}",
                counted(idle_cycles, "cycle")
            )?,
            Cause::TooLong { cycles } => {
                write!(f, "the run was given up after {}", counted(cycles, "cycle"))?;
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
                f.write_str(" none that are remembered")?;
            }
            for message in messages {
                write!(f, "\n    {message}")?;
            }
        }
        Ok(())
    }
}
