//! The iteration of an application over a graph: every sweep visits all vertices by tasks.
//!
//! A task is a number of consecutive vertices, by default one for each lane of a wavefront. A sweep
//! is one kernel. Each queue starts a sweep with an equal share of consecutive tasks. The work-item
//! of a vertex reads the values that neighbours had at the end of the previous sweep, and writes
//! the new value into another array. Only the queues therefore have atomics, and the answer does
//! not depend on which work-group runs which task.
//!
//! Every wavefront counts its tasks and adds up a hash of each task's number, without memory
//! accesses. The sums over all wavefronts show that each task ran once in each sweep. A lost or
//! repeated task changes the count, and a task in place of another task changes the sum of hashes.

use core::future::Future;

use kernel::prelude::*;
use kernel::{Target, Use};

use super::deque::Queues;
use super::policy::{Policy, Stealing};
use super::worker::{Worker, lds_bytes};
use crate::group::store_words;
use crate::settings::{Setting, Settings};

/// An iterative computation on the vertices of a graph.
pub(crate) trait Application: Copy + 'static {
    /// The name of the kernel that performs a sweep.
    const NAME: &'static str;

    /// The declared uses of the application's arrays by the kernel of this sweep.
    fn uses(&self, sweep: u32) -> Vec<Use>;

    /// Visits consecutive vertices: an active lane `i` has the vertex `first + i`. Returns the
    /// number of vertices whose value changes.
    fn visit(&self, w: &Wave, first: u64, sweep: u32) -> impl Future<Output = u32>;
}

/// The parameters of an iteration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// The number of sweeps. The number 0 means: until no value changes.
    pub(crate) sweeps: u32,
    vertices: u64,
    /// The number of vertices in a task.
    chunk: u64,
    /// The number of queues. The number 0 means one queue for each compute unit.
    queues: u32,
    waves: u32,
    seed: u64,
    pub(crate) policy: Policy,
}

/// The largest number of sweeps. A sweep is one kernel, and kernels have 16-bit numbers.
const SWEEPS_MAX: u64 = 60_000;

/// The largest number of queues if there is one for each compute unit.
const QUEUES_BY_DEFAULT_MAX: u64 = 4096;

pub(crate) const SWEEPS: Setting = Setting::count(
    "sweeps",
    20,
    0,
    SWEEPS_MAX,
    "number of sweeps over all vertices; 0 runs until nothing changes",
);
pub(crate) const CHUNK: Setting =
    Setting::count("chunk", 64, 1, 1 << 20, "number of consecutive vertices of a task");
pub(crate) const QUEUES: Setting = Setting::count(
    "queues",
    0,
    0,
    1 << 16,
    "number of queues, each with a work-group; 0 makes one per compute unit",
);
pub(crate) const WAVES: Setting = Setting::count("waves", 2, 1, 64, "number of wavefronts of a work-group");

/// The counts that a wavefront makes in a sweep. The array `counts` stores them.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    tasks: u32,
    stolen: u32,
    changed: u32,
    fingerprint: u64,
}

/// The number of words that a tally (the counts of one wavefront in one sweep) takes in memory.
const TALLY_WORDS: u64 = 8;

/// A hash of the number of a task.
const fn fingerprint(task: u32) -> u64 {
    let x = (task as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    x ^ (x >> 32)
}

impl Tally {
    fn words(&self) -> [u32; TALLY_WORDS as usize] {
        let (low, high) = (self.fingerprint as u32, (self.fingerprint >> 32) as u32);
        [self.tasks, self.stolen, self.changed, low, high, 0, 0, 0]
    }

    /// The sum of the tallies (the counts in one sweep) of all wavefronts.
    fn sum(words: &[u32]) -> Tally {
        words.chunks_exact(TALLY_WORDS as usize).fold(Tally::default(), |sum, w| Tally {
            tasks: sum.tasks.wrapping_add(w[0]),
            stolen: sum.stolen.wrapping_add(w[1]),
            changed: sum.changed.saturating_add(w[2]),
            fingerprint: sum.fingerprint.wrapping_add(u64::from(w[3]) | u64::from(w[4]) << 32),
        })
    }
}

/// The counts of each sweep, summed over all wavefronts.
#[derive(Clone, Debug, Default)]
pub(crate) struct SweepTotals {
    tasks: Vec<u32>,
    stolen: Vec<u32>,
    fingerprints: Vec<u64>,
}

impl Plan {
    pub(crate) fn of(settings: &Settings, vertices: u32, seed: u64) -> Self {
        Plan {
            sweeps: settings.count("sweeps") as u32,
            vertices: u64::from(vertices),
            chunk: settings.count("chunk"),
            queues: settings.count("queues") as u32,
            waves: settings.count("waves") as u32,
            seed,
            policy: Policy::of(settings),
        }
    }

    /// The number of tasks in a sweep.
    pub(crate) fn tasks(&self) -> u32 {
        self.vertices.div_ceil(self.chunk) as u32
    }

    /// An upper bound of the total size of the heads and tails of the queues in bytes, with lines
    /// of 128 bytes. Each sweep has its own heads and tails.
    pub(crate) fn queue_bytes_max(&self) -> u64 {
        let queues = if self.queues == 0 { QUEUES_BY_DEFAULT_MAX } else { u64::from(self.queues) };
        u64::from(self.sweeps) * queues * 2 * 128
    }

    /// The tasks that a queue has at the start of a sweep.
    fn share(&self, queues: u32, queue: u32) -> core::ops::Range<u32> {
        let first = |queue: u32| (u64::from(self.tasks()) * u64::from(queue) / u64::from(queues)) as u32;
        first(queue)..first(queue + 1)
    }

    /// Runs all sweeps of the iteration.
    pub(crate) async fn run<A: Application>(&self, host: &Host, app: A) -> SweepTotals {
        let count = if self.queues == 0 { host.shape().compute_units } else { self.queues };
        let shares: Vec<Vec<u32>> = (0..count).map(|q| self.share(count, q).collect()).collect();
        let slots = shares.iter().map(Vec::len).max().unwrap_or(0) as u32;
        let queues = Queues::alloc(host, count, slots, self.policy, self.sweeps);
        queues.fill(host, &shares).await;
        let waves = u64::from(count) * u64::from(self.waves);
        let counts = host.alloc::<u32>("counts", waves * TALLY_WORDS);
        let grid = Grid::new(count, self.waves).lds_bytes(lds_bytes(self.waves));
        let (mut done, plan) = (SweepTotals::default(), *self);
        for sweep in 0.. {
            if self.sweeps != 0 && sweep == self.sweeps {
                break;
            }
            if u64::from(sweep) == SWEEPS_MAX {
                host.fail(format!("no convergence within {SWEEPS_MAX} sweeps: set `sweeps`")).await;
            }
            let now = queues.at(sweep);
            let kernel = Kernel::new(A::NAME, move |w| all_tasks(w, plan, now, counts, app, sweep));
            let kernel = kernel.uses(queues.uses()).uses([counts.write()]).uses(app.uses(sweep));
            host.launch(kernel, grid).await;
            let tally = Tally::sum(&host.read(counts).await);
            done.tasks.push(tally.tasks);
            done.stolen.push(tally.stolen);
            done.fingerprints.push(tally.fingerprint);
            if self.sweeps == 0 && tally.changed == 0 {
                break;
            }
        }
        done
    }
}

/// Runs all tasks that one wavefront gets in one sweep.
async fn all_tasks<A: Application>(
    w: Wave,
    plan: Plan,
    queues: Queues,
    counts: Array<u32>,
    app: A,
    sweep: u32,
) {
    let own = w.work_group();
    if w.index() == 0 {
        let share = plan.share(queues.count(), own);
        queues.refill(&w.leader(), own, share.end - share.start);
    }
    // The seed depends on the sweep, so that each sweep steals from other queues.
    let mut worker = Worker::new(&w, queues, plan.seed ^ u64::from(sweep) << 32);
    let mut tally = Tally::default();
    while let Some(task) = worker.next(&w).await {
        tally.tasks += 1;
        tally.fingerprint = tally.fingerprint.wrapping_add(fingerprint(task));
        let first = u64::from(task) * plan.chunk;
        let end = (first + plan.chunk).min(plan.vertices);
        for base in (first..end).step_by(w.lanes() as usize) {
            tally.changed += app.visit(&w.below(base, end), base, sweep).await;
        }
    }
    tally.stolen = worker.stolen;
    store_words(&w, counts, w.global_index() * TALLY_WORDS, &tally.words());
}

impl SweepTotals {
    /// The number of sweeps that were performed.
    pub(crate) fn sweeps(&self) -> usize {
        self.tasks.len()
    }

    /// Adds the counts of the sweeps to an answer.
    pub(crate) fn into_answer(self, answer: Answer) -> Answer {
        answer
            .with("sweeps", &[self.tasks.len() as u32])
            .with("tasks", &self.tasks)
            .with("fingerprints", &self.fingerprints)
            .with("stolen", &self.stolen)
    }
}

/// Checks the counts in an answer: the number of sweeps must be right, and each task must have run
/// once in each sweep.
pub(crate) fn check_work(plan: &Plan, sweeps: u32, answer: &Answer) -> Result<(), WrongAnswer> {
    let (tasks, each) = (plan.tasks(), sweeps as usize);
    let sum = (0..tasks).fold(0u64, |sum, task| sum.wrapping_add(fingerprint(task)));
    answer.expect("tasks", &vec![tasks; each])?;
    answer.expect("fingerprints", &vec![sum; each])?;
    let most = if plan.policy.stealing == Stealing::None { 0 } else { tasks };
    answer.compare("stolen", &vec![most; each], |most, stolen| stolen <= most)?;
    answer.expect("sweeps", &[sweeps])
}

/// For each lane, the indices of the first arc of its vertex and of the arc after the last one.
/// Lane 0 has the vertex `first`.
pub(crate) async fn rows(w: &Wave, offsets: impl Target<u32>, first: u64) -> (Lanes<u32>, Lanes<u32>) {
    let (start, end) = (w.load(offsets, Unit(first)), w.load(offsets, Unit(first + 1)));
    (start.await, end.await)
}

#[cfg(test)]
mod tests {
    use super::super::policy::{Layout, Refill};
    use super::*;

    #[test]
    fn each_task_is_in_one_queue_and_queues_differ_by_at_most_one_task() {
        let policy = Policy {
            own: Level::Device,
            stealing: Stealing::None,
            layout: Layout::Padded,
            refill: Refill::Owner,
            published: false,
            attempts: 1,
        };
        for (vertices, chunk, queues) in [(0, 64, 3), (1, 64, 4), (1000, 64, 128), (435_666, 64, 128)] {
            let plan = Plan { sweeps: 1, vertices, chunk, queues, waves: 2, seed: 0, policy };
            let shares: Vec<_> = (0..queues).map(|q| plan.share(queues, q)).collect();
            assert!(shares.iter().cloned().flatten().eq(0..plan.tasks()));
            let sizes: Vec<u32> = shares.iter().map(|s| s.end - s.start).collect();
            assert!(sizes.iter().max() <= sizes.iter().min().map(|min| min + 1).as_ref());
        }
    }

    #[test]
    fn a_task_in_place_of_another_changes_the_fingerprint() {
        let of = |tasks: &[u32]| tasks.iter().fold(0u64, |sum, &t| sum.wrapping_add(fingerprint(t)));
        let right = of(&[0, 1, 2, 3, 4, 5]);
        for wrong in [[0, 1, 2, 3, 4, 4], [0, 1, 1, 4, 4, 5], [1, 1, 2, 3, 3, 5], [0, 0, 3, 3, 4, 5]] {
            assert_ne!(of(&wrong), right, "{wrong:?}");
        }
    }
}
