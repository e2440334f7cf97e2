//! The run of a task program: its queues in memory, a launch of wavefronts that run until no task
//! is left, and the counts of these wavefronts.

use core::future::Future;

use kernel::Use;
use kernel::prelude::*;
use proto::words::counted;

use super::front::{FRONTS_MAX, FUNCTIONS_MAX, Fronts};
use super::policy::{PartialFronts, Scopes};
use super::ring::Rings;
use super::worker::{COUNTS, Queues, TaskCounts, Worker};
use crate::group::store_words;
use crate::settings::{BadSetting, Setting, Settings};

/// A program of tasks. A task consists of `WORDS` words and calls one of the program's functions. A
/// task may make further tasks.
pub trait TaskProgram<const WORDS: usize>: Copy + 'static {
    /// The name of the kernel that runs the tasks.
    const NAME: &'static str;
    /// The names of the functions that a task may call.
    const FUNCTIONS: &'static [&'static str];

    /// The declared uses of the arrays that tasks access, in addition to their own words.
    fn uses(&self) -> Vec<Use> {
        Vec::new()
    }

    /// Runs one task in each active lane of `w`. All these tasks call the function whose index in
    /// `FUNCTIONS` is `function`.
    fn run(
        &self,
        w: &Wave,
        function: usize,
        tasks: [Lanes<u32>; WORDS],
        worker: &mut Worker<WORDS>,
    ) -> impl Future<Output = ()>;
}

/// The queues and wavefronts of a run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The scopes of the synchronization on the queues.
    pub scopes: Scopes,
    /// The time at which a wavefront runs a task-front (a group of tasks) that is not full.
    pub partial: PartialFronts,
    /// The number of work-groups. The number 0 means one for each compute unit.
    pub groups: u32,
    /// The number of wavefronts in a work-group.
    pub waves: u32,
    /// The number of task-fronts (groups of tasks) in memory.
    pub fronts: u32,
    /// The capacity of a wavefront's queue, in task-fronts (groups of tasks).
    pub wave_queue: u32,
    /// The capacity of a work-group's queue, in task-fronts (groups of tasks).
    pub group_queue: u32,
    /// The capacity of the device's queue, in task-fronts (groups of tasks).
    pub device_queue: u32,
    /// If a work-group's queue has fewer task-fronts (groups of tasks) than this number, workers
    /// move more of them to it. The number 0 means one task-front for each wavefront of the
    /// work-group.
    pub group_low: u32,
    /// If the device's queue has fewer task-fronts (groups of tasks) than this number, workers move
    /// more of them to it. The number 0 means one task-front for each work-group.
    pub device_low: u32,
}

const WAVES: u32 = 4;
const FRONTS: u32 = 1 << 14;
const WAVE_QUEUE: u32 = 1 << 10;
const GROUP_QUEUE: u32 = 1 << 8;
const DEVICE_QUEUE: u32 = 1 << 12;
/// The maximum number of wavefronts, each of which has its own tallies (counters of the program).
/// The next constant, `SLOTS_MOST`, is the maximum number of slots in all queues of one kind. With
/// these limits, the arrays fit into the memory of most machines.
const WAVES_MOST: u64 = 1 << 14;
const SLOTS_MOST: u64 = 1 << 26;

/// The settings that a workload declares for [`Plan::of`].
pub const SETTINGS: [Setting; 10] = [
    super::policy::SCOPES,
    super::policy::PARTIAL,
    Setting::count(
        "work-groups",
        0,
        0,
        1 << 16,
        "number of persistent work-groups; 0 makes one per compute unit",
    ),
    Setting::count("waves", WAVES as u64, 1, 64, "number of wavefronts of a work-group"),
    Setting::count(
        "fronts",
        FRONTS as u64,
        1,
        FRONTS_MAX,
        "number of task-fronts (groups of tasks, one for each lane) in memory",
    ),
    Setting::count(
        "wave-queue",
        WAVE_QUEUE as u64,
        1,
        FRONTS_MAX,
        "capacity of the queue of a wavefront, in task-fronts (groups of tasks, one for each lane)",
    ),
    Setting::count(
        "group-queue",
        GROUP_QUEUE as u64,
        1,
        FRONTS_MAX,
        "capacity of the queue of a work-group, in task-fronts (groups of tasks, one for each lane)",
    ),
    Setting::count(
        "device-queue",
        DEVICE_QUEUE as u64,
        1,
        FRONTS_MAX,
        "capacity of the queue of the device, in task-fronts (groups of tasks, one for each lane)",
    ),
    Setting::count(
        "group-low",
        0,
        0,
        FRONTS_MAX,
        "a work-group's queue is refilled when it has fewer task-fronts (groups of tasks, one for each \
         lane) than this number; 0 means one task-front for each wavefront",
    ),
    Setting::count(
        "device-low",
        0,
        0,
        FRONTS_MAX,
        "the device's queue is refilled when it has fewer task-fronts (groups of tasks, one for each \
         lane) than this number; 0 means one task-front for each work-group",
    ),
];

impl Default for Plan {
    /// The plan (the queues and wavefronts of a run) that the default settings select. Its scopes
    /// are those for HRF-direct.
    fn default() -> Self {
        Plan {
            scopes: Scopes::DIRECT,
            partial: PartialFronts::Late,
            groups: 0,
            waves: WAVES,
            fronts: FRONTS,
            wave_queue: WAVE_QUEUE,
            group_queue: GROUP_QUEUE,
            device_queue: DEVICE_QUEUE,
            group_low: 0,
            device_low: 0,
        }
    }
}

impl Plan {
    /// The plan (the queues and wavefronts of a run) that the settings select.
    ///
    /// # Errors
    /// If the capacity of a queue is below the number of task-fronts (groups of tasks) that the
    /// queue should have, or if a limit is exceeded.
    pub fn of(settings: &Settings) -> Result<Plan, BadSetting> {
        let count = |name: &str| settings.count(name) as u32;
        let plan = Plan {
            scopes: Scopes::of(settings),
            partial: PartialFronts::of(settings),
            groups: count("work-groups"),
            waves: count("waves"),
            fronts: count("fronts"),
            wave_queue: count("wave-queue"),
            group_queue: count("group-queue"),
            device_queue: count("device-queue"),
            group_low: count("group-low"),
            device_low: count("device-low"),
        };
        for (low, queue) in [("group-low", "group-queue"), ("device-low", "device-queue")] {
            if count(low) > count(queue) {
                let (low_is, holds) = (count(low), count(queue));
                let holds = counted(holds.into(), "task-front");
                let why = format!("`{low}` is {low_is}, but the capacity `{queue}` is {holds}");
                return Err(settings.conflict(why));
            }
        }
        let limits: [(&[&str], &str, u64); 3] = [
            (&["work-groups", "waves"], "wavefronts", WAVES_MOST),
            (&["work-groups", "waves", "wave-queue"], "slots in the queues of wavefronts", SLOTS_MOST),
            (&["work-groups", "group-queue"], "slots in the queues of work-groups", SLOTS_MOST),
        ];
        for (names, what, most) in limits {
            let total: u64 = names.iter().map(|name| settings.count(name)).product();
            if total > most {
                let value = |name: &&str| format!("`{name}`={}", settings.count(name));
                let values: Vec<_> = names.iter().map(value).collect();
                let values = values.join(" ");
                return Err(
                    settings.conflict(format!("{values} give {total} {what}, expected at most {most}"))
                );
            }
        }
        Ok(plan)
    }

    /// Runs a program to its end. `first` has the first tasks of the program, each with the index
    /// of the function that it calls.
    pub async fn run<const WORDS: usize, P: TaskProgram<WORDS>>(
        self,
        host: &Host,
        program: P,
        first: &[(usize, [u32; WORDS])],
    ) -> TaskTotals {
        assert!(P::FUNCTIONS.len() <= FUNCTIONS_MAX, "{} has too many functions", P::NAME);
        let groups = if self.groups == 0 { host.shape().compute_units } else { self.groups };
        let waves = u64::from(groups) * u64::from(self.waves);
        let or = |set: u32, otherwise: u32| if set == 0 { otherwise } else { set };
        let fronts = Fronts::alloc(host, self.fronts);
        let entries = fronts.fill(host, first).await;
        let of_group = (self.group_queue, self.scopes.group, ("the queue of a work-group", "group-queue"));
        let of_device = (self.device_queue, self.scopes.device, ("the queue of the device", "device-queue"));
        let rings = Rings::alloc(host, groups, of_group.0, of_group.1, of_group.2).await;
        let device = Rings::alloc(host, 1, of_device.0, of_device.1, of_device.2).await;
        device.ring(0).fill(host, &entries).await;
        let queues = Queues {
            fronts,
            private: host.alloc("private-queues", waves * u64::from(self.wave_queue)),
            private_capacity: self.wave_queue,
            groups: rings,
            device: device.ring(0),
            scopes: self.scopes,
            partial: self.partial,
            group_low: or(self.group_low, self.waves).min(self.group_queue),
            device_low: or(self.device_low, groups).min(self.device_queue),
        };
        let counts = host.alloc::<u32>("task-counts", waves * COUNTS as u64);
        let tallies = host.alloc::<u64>("task-tallies", waves * TALLIES_MAX);
        let kernel = Kernel::new(P::NAME, move |w| all_tasks(w, queues, program, counts, tallies))
            .uses(queues.fronts.uses())
            .uses(queues.groups.uses())
            .uses(device.uses())
            .uses([queues.private.read_write(), counts.write(), tallies.write()])
            .uses(program.uses());
        host.launch(kernel, Grid::new(groups, self.waves)).await;
        TaskTotals::of(&host.read(counts).await, &host.read(tallies).await, entries.len() as u32)
    }
}

/// The maximum number of tallies (counters) that a program may have.
pub const TALLIES_MAX: u64 = 1 << 12;

/// Runs tasks in one wavefront until no task is left, and stores the counts of the wavefront and
/// its tallies (counters of the program).
async fn all_tasks<const WORDS: usize, P: TaskProgram<WORDS>>(
    w: Wave,
    queues: Queues<WORDS>,
    program: P,
    counts: Array<u32>,
    tallies: Array<u64>,
) {
    let mut worker = Worker::new(&w, queues, P::FUNCTIONS.len());
    while let Some(entry) = worker.next().await {
        let (lanes, tasks) = worker.load(entry).await;
        program.run(&lanes, entry.function as usize, tasks, &mut worker).await;
    }
    store_words(&w, counts, w.global_index() * COUNTS as u64, &worker.counts.words());
    let first = w.global_index() * TALLIES_MAX;
    let used = worker.tallies.len() as u64;
    if used > TALLIES_MAX {
        w.fail(format!("the task program has {used} tallies, expected at most {TALLIES_MAX}")).await;
    }
    store_words(&w, tallies, first, &worker.tallies);
}

/// The counts of a run and its tallies (counters of the program), summed over all wavefronts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskTotals {
    /// The numbers of tasks and of task-fronts (groups of tasks).
    pub counts: TaskCounts,
    /// The tallies (counters) of the program, summed over all wavefronts.
    pub tallies: Vec<u64>,
    /// The number of task-fronts (groups of tasks) that are in the queue of the device at the
    /// start.
    pub first: u32,
}

impl TaskTotals {
    fn of(counts: &[u32], tallies: &[u64], first: u32) -> TaskTotals {
        let mut sum = [0u32; COUNTS];
        for words in counts.chunks_exact(COUNTS) {
            sum.iter_mut().zip(words).for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
        }
        let mut all = vec![0u64; TALLIES_MAX as usize];
        for words in tallies.chunks_exact(TALLIES_MAX as usize) {
            all.iter_mut().zip(words).for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
        }
        let used = all.iter().rposition(|sum| *sum != 0).map_or(0, |last| last + 1);
        all.truncate(used);
        TaskTotals { counts: TaskCounts::of(&sum), tallies: all, first }
    }

    /// Adds to an answer the number of tasks, the number of task-fronts (groups of tasks) that were
    /// given to a shared queue but not taken, and further counts.
    #[must_use]
    pub fn into_answer(self, answer: Answer) -> Answer {
        let TaskCounts { tasks, fronts, partial, to_group, to_device, from_group, from_device } = self.counts;
        let left = [to_group.wrapping_sub(from_group), (self.first + to_device).wrapping_sub(from_device)];
        answer
            .with("tasks", &[tasks])
            .with("fronts_left", &left)
            .counting("task_fronts", u64::from(fronts))
            .counting("task_fronts_partial", u64::from(partial))
            .counting("donations", u64::from(to_group) + u64::from(to_device))
            .counting("donations_to_group", u64::from(to_group))
            .counting("donations_to_device", u64::from(to_device))
    }
}

/// Checks the totals in an answer: each task must have run once, and every task-front (group of
/// tasks) given to a shared queue must have been taken.
///
/// # Errors
/// If a number differs. The error describes the first such number.
pub fn check_work(tasks: u64, answer: &Answer) -> Result<(), WrongAnswer> {
    answer.expect("tasks", &[tasks as u32])?;
    answer.expect("fronts_left", &[0u32, 0])
}
