//! Random programs (episodes) on a machine that is too large for exploration.
//!
//! An episode is a race-free program of fifteen wavefronts on several compute units and a thread of
//! the host. It consists of sections (lists of accesses of one wavefront), which synchronize at
//! various scopes and orders and by remote operations; words of one to eight bytes share lines,
//! requests access up to sixteen words, read-modify-writes have every function, caches have a few
//! lines, and ways are evicted at any time. Some episodes have several kernels, or work-groups that
//! move to another compute unit. The seed of an episode decides the order of its events. Every load
//! has one correct value, and the loaded value is checked. The final contents of memory are checked
//! as well.
//!
//! A failure reports its seed, and is shrunk to a minimal program.

mod boundaries;
mod draws;
mod episode;
mod fault;
mod functions;
mod kernels;
mod layout;
mod machine;
mod order;
mod preempt;
mod queues;
mod report;
mod residencies;
mod rules;
mod shapes;
mod shrink;
mod slots;
pub(crate) mod stations;
mod step;
mod sync;
mod tester;
mod under_way;
mod wave;
mod waves;

pub use report::{Failure, StressReport};

use core::fmt;

use proto::{Channels, Homes, SeededFault};

use crate::parallel::in_parallel;
use crate::programs::test::Spread;
use crate::subject::Subject;
use rules::Rules;
use shapes::topologies;
use tester::Tester;

/// The options of a stress test.
pub struct Options<'a> {
    /// The seed of the first episode (random program). Each further episode has the next seed.
    pub seed: u64,
    /// The number of episodes (random programs) to run.
    pub episodes: u64,
    /// The memory model under which the episodes (random programs) are race-free. `None` means the
    /// models that the protocol claims, from the first one with programs on.
    pub model: Option<&'a str>,
    /// A seeded fault of the protocol. `None` tests the protocol as written.
    pub seeded_fault: Option<SeededFault>,
    /// The minimum number of chiplets that the compute units and the banks of each machine are
    /// divided among: 1, 2, 4 or 8. One of the machines always has several. With several chiplets,
    /// each page has the lines of one tag, and a seed decides the chiplet of each page.
    pub chiplets: u16,
    /// Whether a message may overtake earlier messages between the same two nodes, even if the
    /// protocol declares that it needs their order ([`Info::channels`](proto::Info::channels)).
    pub overtaking: bool,
    /// Whether an episode (random program) that fails is reduced to a smaller one that fails too.
    /// Otherwise the failure shows the whole episode.
    pub shrink: bool,
    /// The number of episodes (random programs) that run at once.
    pub jobs: usize,
    /// A function that the test calls now and then; if it returns true, the test ends.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// A function that is called with the number of episodes (random programs) that have run since
    /// the last call.
    pub progress: &'a (dyn Fn(u64) + Sync),
}

impl Default for Options<'_> {
    /// One episode (random program) with seed 0. The protocol has no seeded fault and is tested under
    /// the models that it claims.
    fn default() -> Self {
        Options {
            seed: 0,
            episodes: 1,
            model: None,
            seeded_fault: None,
            chiplets: 1,
            overtaking: false,
            shrink: true,
            jobs: 1,
            stop: &|| false,
            progress: &|_| {},
        }
    }
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("seed", &self.seed)
            .field("episodes", &self.episodes)
            .finish_non_exhaustive()
    }
}

/// The number of episodes (random programs) that a worker runs in one batch.
const CHUNK: u64 = 64;

/// Runs episodes (random programs) on the protocol until an episode fails or the requested number
/// of episodes has run.
///
/// # Errors
/// If no episodes exist for the protocol's claims, or a machine of the protocol cannot be
/// built.
pub fn stress(subject: &Subject, options: &Options<'_>) -> Result<StressReport, String> {
    let claimed: Vec<&str> = subject.info.claims.iter().map(|claim| claim.model).collect();
    let rules = match options.model {
        Some(model) => Rules::of(&[model]),
        None => Rules::of_claims(&claimed),
    }?;
    let channels = if options.overtaking { Channels::Unordered } else { subject.info.channels };
    let machines = topologies(subject.kinds, options.chiplets, Spread::hosts_of(&subject.info));
    for (number, machine) in machines.iter().enumerate() {
        (subject.stressed)((machine, number), Homes::new(machine, machine.lines_per_tag.into()), None)?;
    }
    let chunks = options.episodes.div_ceil(CHUNK) as usize;
    let failed = core::sync::atomic::AtomicUsize::new(usize::MAX);
    let found = in_parallel(options.jobs, chunks, || {
        let mut tester =
            Tester::new(subject, &machines, rules, (options.seeded_fault, options.shrink), channels);
        let failed = &failed;
        move |chunk| {
            let is_behind = chunk > failed.load(core::sync::atomic::Ordering::Relaxed);
            if is_behind || (options.stop)() {
                return Ok(StressReport::default());
            }
            let first = chunk as u64 * CHUNK;
            let found = tester.chunk(options.seed, first..(first + CHUNK).min(options.episodes));
            if !matches!(&found, Ok(StressReport { failure: None, .. })) {
                failed.fetch_min(chunk, core::sync::atomic::Ordering::Relaxed);
            }
            (options.progress)(found.as_ref().map_or(0, |found| found.episodes));
            found
        }
    });
    let mut sum = StressReport::default();
    for found in found {
        let found = found?;
        sum.add(&found);
        if found.failure.is_some() {
            return Ok(StressReport { failure: found.failure, ..sum });
        }
    }
    Ok(sum)
}
