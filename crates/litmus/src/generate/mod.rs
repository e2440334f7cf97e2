//! Generates programs with scoped operations. Callers use them to test the checker of litmus tests,
//! to explore protocols, and to refute claims.
//!
//! * [`programs`] enumerates *every* program within a [`Bound`], smallest first.
//! * [`cycles`] enumerates every program within a bound that has the shape of a
//!   critical cycle (message passing, store buffering, ...).
//! * [`sample()`] draws programs beyond an exhaustive bound from a seed. A sample can
//!   show the presence of a behaviour, never its absence.
//!
//! No two programs of one iterator differ only in the names of threads, locations,
//! values, lines, compute units or scope instances, unless [`Bound::symmetry`] is
//! turned off.
//!
//! A straight-line program that shares data always races: some interleaving runs both threads up to
//! their accesses. So the generated programs have awaits (waits for a value), and conditional loads,
//! after which the rest of the thread runs only if the load has read a certain value.
//! [`verdict_if_synchronized`] selects the programs that are race-free and have data conflicts that
//! synchronization orders. Only such programs test synchronization.

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
pub use skeleton::{Kind, Op, ProgramSkeleton};

use crate::hrf::{self, CheckError, Options, Verdict};
use crate::program::{Level, Program};

/// A level of the scope tree, with the maximum number of its instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelBound {
    /// The level of the scope tree, such as work-group.
    pub level: Level,
    /// The maximum number of instances of the level in a program.
    pub instances_max: usize,
}

/// The memory orders that the synchronization operations of a program have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ordering {
    /// Loads are acquires, stores are releases, and other operations are both.
    AcquireRelease,
    /// All operations are sequentially consistent.
    SeqCst,
    /// All operations are relaxed.
    Relaxed,
}

/// The bounds of generated programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The minimum number of threads of a program.
    pub threads_min: usize,
    /// The maximum number of threads of a program.
    pub threads_max: usize,
    /// The maximum number of operations of a program.
    pub operations_max: usize,
    /// The maximum number of operations of a thread.
    pub operations_of_thread_max: usize,
    /// The maximum number of locations of a program.
    pub locations_max: usize,
    /// The levels of the scope tree, innermost first. Synchronization operations use only scopes of
    /// these levels.
    pub levels: Vec<LevelBound>,
    /// Whether a thread may synchronize at a scope that contains no other thread of the program.
    /// Such a scope stands for a scope with further threads that the program leaves out.
    pub single_thread_scopes: bool,
    /// The kinds of operations that programs may have.
    pub kinds: Vec<Kind>,
    /// The memory orders that the synchronization operations may have.
    pub orderings: Vec<Ordering>,
    /// Whether one location may be used both by data accesses and by synchronization.
    pub mixed_locations: bool,
    /// The maximum number of words in a cache line. The generator tries every layout of the
    /// locations in lines. With 1, each location has its own line.
    pub words_of_line_max: usize,
    /// The maximum number of compute units. The generator tries every placement of the work-groups
    /// on compute units. With 0, each work-group has its own compute unit.
    pub compute_units_max: usize,
    /// Whether one program represents all programs that differ from it only in names. [`cycles`]
    /// and [`sample()`] always generate only one of these programs.
    pub symmetry: bool,
}

impl Bound {
    /// Bounds for programs with work-groups on one device. Their synchronization consists of
    /// acquire loads, release stores, awaits (loads that wait for a value) and guards (loads that
    /// let the thread continue only with a certain value).
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
            single_thread_scopes: false,
            kinds: vec![
                Kind::Load,
                Kind::Store,
                Kind::SyncLoad,
                Kind::SyncStore,
                Kind::Await,
                Kind::ConditionalLoad,
            ],
            orderings: vec![Ordering::AcquireRelease],
            mixed_locations: true,
            words_of_line_max: 1,
            compute_units_max: 0,
            symmetry: true,
        }
    }
}

/// A generated program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// The program. Its final states include every register and every location.
    pub program: Program,
    /// For each location, the number of its cache line.
    pub lines: Vec<u8>,
    /// For each thread, the number of its compute unit.
    pub compute_units: Vec<u8>,
    /// The compact representation from which the program was built.
    pub skeleton: ProgramSkeleton,
}

impl Generated {
    /// The program as a test in the OpenCL dialect.
    #[must_use]
    pub fn to_text(&self) -> String {
        text::open_cl(&self.skeleton, &self.program)
    }

    /// The number of operations of the program.
    #[must_use]
    pub fn operations(&self) -> usize {
        self.skeleton.threads.iter().map(Vec::len).sum()
    }
}

/// A signature of a program skeleton, which identifies it up to names: skeletons that differ only
/// in names (of threads, locations, values, lines, compute units or scope instances) have equal
/// signatures.
#[must_use]
pub fn signature(skeleton: &ProgramSkeleton) -> Vec<u8> {
    symmetry::Symmetry::new(skeleton.threads.len()).signature(skeleton)
}

/// The verdict on a program if the program tests synchronization: if it is race-free in every
/// execution, and synchronization orders a data conflict in some execution. `None` for other
/// programs.
///
/// # Errors
/// The errors of [`hrf::check`].
pub fn verdict_if_synchronized(
    generated: &Generated,
    options: &Options,
) -> Result<Option<Verdict>, CheckError> {
    let options = Options { first_race_only: true, ..*options };
    let verdict = hrf::check(&generated.program, &options)?;
    let synchronized = verdict.is_race_free() && verdict.incomplete.is_none() && verdict.orders_data();
    Ok(synchronized.then_some(verdict))
}
