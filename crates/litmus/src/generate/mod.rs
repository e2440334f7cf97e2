//! Scoped programs, made by the thousand: for the checker to be checked with,
//! for protocols to be explored with, and for claims to be refuted with.
//!
//! * [`programs`] yields *every* program within a [`Bound`], the smallest first.
//! * [`cycles`] yields every program within a bound that has the shape of a
//!   critical cycle (message passing, store buffering, ...).
//! * [`sample`] yields programs beyond what can be exhausted, from a seed. That
//!   is sampling: it shows the presence of something, never its absence.
//!
//! No two of the programs that one iterator yields differ only in the names of
//! threads, locations, values, lines, compute units or scope instances, unless
//! [`Bound::symmetry`] is turned off.
//!
//! A straight-line program that shares data always races: run both threads up
//! to their accesses. So the programs have awaits, and guards (`if r == v`) over
//! the rest of a thread. [`telling`] keeps those that are race-free and whose
//! data conflicts are ordered by synchronization; only they test anything.

mod cycle;
mod exhaust;
mod partition;
mod sample;
mod skeleton;
mod symmetry;
mod text;

pub use cycle::cycles;
pub use exhaust::programs;
pub use sample::sample;
pub use skeleton::{Kind, Op, Skeleton};

use crate::hrf::{self, CheckError, Options, Verdict};
use crate::program::{Level, Program};

/// A level of the scope tree, and how many instances it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelBound {
    /// The level.
    pub level: Level,
    /// The most instances in a program.
    pub instances_max: usize,
}

/// How the orders of synchronization are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ordering {
    /// Loads acquire, stores release, the others do both.
    AcquireRelease,
    /// All is sequentially consistent.
    SeqCst,
    /// All is relaxed.
    Relaxed,
}

/// Up to where programs are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The fewest threads.
    pub threads_min: usize,
    /// The most threads.
    pub threads_max: usize,
    /// The most operations of a program.
    pub operations_max: usize,
    /// The most operations of a thread.
    pub operations_of_thread_max: usize,
    /// The most locations.
    pub locations_max: usize,
    /// The levels of the scope tree, innermost first. Synchronization uses these
    /// levels only.
    pub levels: Vec<LevelBound>,
    /// May a thread synchronize at a scope that no other thread of the program is
    /// in? It then stands for one whose other members are not shown.
    pub lonely_scopes: bool,
    /// The kinds of operation.
    pub kinds: Vec<Kind>,
    /// The orders of synchronization.
    pub orderings: Vec<Ordering>,
    /// May a location be both data and synchronization?
    pub mixed_locations: bool,
    /// The most words in a cache line: locations are laid out in lines in every
    /// way; with 1, each has its own.
    pub words_of_line_max: usize,
    /// The most compute units: work-groups are placed on them in every way; with
    /// 0, each has its own.
    pub compute_units_max: usize,
    /// Does one program stand for all that differ from it only in names?
    /// [`cycles`] and [`sample`] always have it so.
    pub symmetry: bool,
}

impl Bound {
    /// Threads of work-groups on one device, loads, stores, awaits and guards of
    /// acquire and release.
    #[must_use]
    pub fn new(threads_max: usize, operations_max: usize, locations_max: usize) -> Bound {
        Bound {
            threads_min: 2,
            threads_max,
            operations_max,
            operations_of_thread_max: operations_max,
            locations_max,
            levels: vec![
                LevelBound { level: Level::WorkGroup, instances_max: threads_max },
                LevelBound { level: Level::Device, instances_max: 1 },
            ],
            lonely_scopes: false,
            kinds: vec![Kind::Load, Kind::Store, Kind::SyncLoad, Kind::SyncStore, Kind::Await, Kind::Guard],
            orderings: vec![Ordering::AcquireRelease],
            mixed_locations: true,
            words_of_line_max: 1,
            compute_units_max: 0,
            symmetry: true,
        }
    }
}

/// A program that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// The program. Its final states tell every register and every location.
    pub program: Program,
    /// The cache line of each location.
    pub lines: Vec<u8>,
    /// The compute unit of each thread.
    pub compute_units: Vec<u8>,
    /// What it was made from.
    pub skeleton: Skeleton,
}

impl Generated {
    /// The program as a test in the OpenCL dialect.
    #[must_use]
    pub fn to_text(&self) -> String {
        text::open_cl(&self.skeleton, &self.program)
    }

    /// How many operations it has.
    #[must_use]
    pub fn operations(&self) -> usize {
        self.skeleton.threads.iter().map(Vec::len).sum()
    }
}

/// The same for all skeletons that differ only in names.
#[must_use]
pub fn signature(skeleton: &Skeleton) -> Vec<u8> {
    symmetry::Symmetry::new(skeleton.threads.len()).signature(skeleton)
}

/// The verdict on a program if it tests synchronization: race-free in every
/// execution, and some data conflict is ordered in one.
///
/// # Errors
/// As [`hrf::check`].
pub fn telling(generated: &Generated, options: &Options) -> Result<Option<Verdict>, CheckError> {
    let options = Options { first_race_only: true, ..*options };
    let verdict = hrf::check(&generated.program, &options)?;
    let tells = verdict.is_race_free() && verdict.incomplete.is_none() && verdict.orders_data();
    Ok(tells.then_some(verdict))
}
