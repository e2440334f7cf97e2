//! The result of a stress test, and the description of a failure.

use core::fmt;

/// The result of a stress test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StressReport {
    /// The number of episodes (random programs) that ran.
    pub episodes: u64,
    /// The number of loaded values that were checked.
    pub checked: u64,
    /// The number of operations, including repeated loads.
    pub operations: u64,
    /// The number of evicted ways.
    pub evictions: u64,
    /// The number of kernels.
    pub kernels: u64,
    /// The number of times that a work-group moved to another compute unit.
    pub preemptions: u64,
    /// The failure with the lowest seed, if any episode (random program) failed.
    pub failure: Option<Failure>,
}

/// An episode (random program) that failed, with its shrunk form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The seed of the episode (random program) that failed. A run of one episode from this seed
    /// fails again.
    pub seed: u64,
    /// The description of the fault in the episode (random program).
    pub what: String,
    /// The description of the fault in the small program, which is the shrunk episode.
    pub small_what: String,
    /// The small program (the shrunk episode): the name of each wavefront, with its operations. If
    /// the program has several kernels, each kernel has its own list.
    pub program: Vec<(String, Vec<String>)>,
    /// The width and the place in memory of each data word of the small program (the shrunk
    /// episode).
    pub words: Vec<String>,
    /// The description of the machine on which the episode (random program) failed.
    pub machine: String,
}

impl StressReport {
    /// Adds the counts of another report.
    pub(super) fn add(&mut self, other: &StressReport) {
        self.episodes += other.episodes;
        self.checked += other.checked;
        self.operations += other.operations;
        self.evictions += other.evictions;
        self.kernels += other.kernels;
        self.preemptions += other.preemptions;
    }
}

impl Failure {
    /// The number of operations of the small program (the shrunk episode).
    #[must_use]
    pub fn operations(&self) -> usize {
        self.program.iter().map(|(_, steps)| steps.len()).sum()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}: {}", self.seed, self.what)?;
        writeln!(f, "on a machine with {}", self.machine)?;
        writeln!(f, "the shrunk program fails: {}", self.small_what)?;
        if !self.words.is_empty() {
            writeln!(f, "  {}", self.words.join(", "))?;
        }
        for (wave, steps) in &self.program {
            writeln!(f, "  {wave}")?;
            for step in steps {
                writeln!(f, "    {step}")?;
            }
        }
        Ok(())
    }
}
