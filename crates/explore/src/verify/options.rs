//! How a protocol is verified.

use core::fmt;

use crate::machine::bounds::Bounds;

/// How a protocol is verified.
pub struct Options<'a> {
    /// The machines.
    pub bounds: Vec<Bounds>,
    /// How many tests are explored at once.
    pub jobs: usize,
    /// The bytes that all of them together may take.
    pub memory_bytes: u64,
    /// Are faults seeded afterwards?
    pub mutants: bool,
    /// Asked now and then, by all jobs; true ends everything.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// Told now and then how many tests, and then how many mutants, are done.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

impl Options<'_> {
    /// On these machines: one test at a time, a gigabyte, to the end, in silence, and
    /// without faults.
    #[must_use]
    pub fn new(bounds: Vec<Bounds>) -> Options<'static> {
        Options { bounds, jobs: 1, memory_bytes: 1 << 30, mutants: false, stop: &|| false, progress: &|_| {} }
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

/// How far a verification has come.
#[derive(Clone, Copy, Debug)]
pub enum Progress {
    /// So many tests of so many that there are so far.
    Tests(usize, usize),
    /// So many mutants of so many.
    Mutants(usize, usize),
}
