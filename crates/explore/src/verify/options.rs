//! The options of a verification.

use core::fmt;

use crate::machine::bounds::Bounds;

/// The options of a verification.
pub struct Options<'a> {
    /// The bounds of each machine on which the protocol is verified.
    pub bounds: Vec<Bounds>,
    /// The number of tests explored at once.
    pub jobs: usize,
    /// The memory limit of all explorations together, in bytes.
    pub memory_bytes: u64,
    /// The maximum number of states of one exploration.
    pub states_max: u64,
    /// If it is given, the verification also seeds faults at its end, to see if the tests detect them:
    /// all faults whose name contains this text.
    pub mutants: Option<&'a str>,
    /// A function that all jobs call now and then; if it returns true, the verification ends.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// A function that is called now and then. It gets the number of finished tests, and later,
    /// during the trials of mutants, the number of finished mutants.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

impl Options<'_> {
    /// The options for these bounds: one job, one GiB, any number of states, no stop, no progress
    /// report, and no seeded faults.
    #[must_use]
    pub fn new(bounds: Vec<Bounds>) -> Options<'static> {
        Options {
            bounds,
            jobs: 1,
            memory_bytes: 1 << 30,
            states_max: u64::MAX,
            mutants: None,
            stop: &|| false,
            progress: &|_| {},
        }
    }
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("bounds", &self.bounds)
            .field("jobs", &self.jobs)
            .finish_non_exhaustive()
    }
}

/// The progress of a verification.
#[derive(Clone, Copy, Debug)]
pub enum Progress {
    /// The number of finished tests, and the number of tests generated so far.
    Tests(usize, usize),
    /// The number of finished mutants, and the number of all mutants.
    Mutants(usize, usize),
}
