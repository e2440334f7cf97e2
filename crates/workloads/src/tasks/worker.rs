//! The worker: a wavefront that takes, runs and makes tasks.
//!
//! * **Making.** New tasks fill an open front (a task-front, which is a group of tasks) for their
//!   function. A full front enters the private queue of the wavefront. Then, while the queue of the
//!   device or of the work-group holds too few fronts, the worker gives it the oldest front. The
//!   device gets the oldest front of the work-group's queue or, if that is empty, of the private
//!   queue. The work-group gets the oldest front of the private queue.
//! * **Taking.** A worker takes the newest front of the private queue. If that is empty, it takes
//!   the oldest front of the work-group's queue or, if that is empty too, of the device's queue. If
//!   none of these queues has a front, the worker waits. While it waits, it takes an open front that
//!   is not full if no wavefront of the device runs tasks ([`PartialFronts::Late`]), or at once
//!   ([`PartialFronts::Early`]).
//! * **Running.** The queue of the device counts the wavefronts that run tasks. A wavefront counts
//!   itself when it takes a front, and leaves the count when it waits.
//! * **Ending.** The queue of a work-group counts its fronts and those of its wavefronts that have
//!   work. The queue of the device counts its fronts and those work-groups whose count is not zero.
//!   Work is counted before it can be taken. If the count of the device is zero, there is therefore
//!   no work, and no wavefront can make more.
//!
//! Only its own wavefront accesses a private queue, so the head and the tail of this queue are in
//! registers. But the lanes of a wavefront pass tasks to each other, and a task may later move to
//! another wavefront. Entering and leaving the private queue therefore synchronizes.

use kernel::prelude::*;
use proto::words::counted;

use super::front::{Entry, Fronts, SpareFronts};
use super::policy::{PartialFronts, Scopes};
use super::ring::{Ring, Rings};
use super::spread::Spread;

/// The queues of a run. Kernels may copy this value: all copies share the same arrays in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queues<const WORDS: usize> {
    pub(super) fronts: Fronts<WORDS>,
    /// The private queues of all wavefronts, in one array.
    pub(super) private: Array<u32>,
    pub(super) private_capacity: u32,
    pub(super) groups: Rings,
    pub(super) device: Ring,
    pub(super) scopes: Scopes,
    pub(super) partial: PartialFronts,
    /// If a work-group's queue has fewer task-fronts (groups of tasks) than this number, workers
    /// move more of them to it.
    pub(super) group_low: u32,
    /// If the device's queue has fewer task-fronts (groups of tasks) than this number, workers move
    /// more of them to it.
    pub(super) device_low: u32,
}

/// The counts that a wavefront makes of tasks and of task-fronts (groups of tasks).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskCounts {
    /// The number of tasks that were run.
    pub tasks: u32,
    /// The number of task-fronts (groups of tasks) that were run.
    pub fronts: u32,
    /// The number of task-fronts (groups of tasks) that were run although they were not full.
    pub partial: u32,
    /// The number of task-fronts (groups of tasks) given to the queue of a work-group.
    pub to_group: u32,
    /// The number of task-fronts (groups of tasks) given to the queue of the device.
    pub to_device: u32,
    /// The number of task-fronts (groups of tasks) taken from the queue of a work-group.
    pub from_group: u32,
    /// The number of task-fronts (groups of tasks) taken from the queue of the device.
    pub from_device: u32,
}

/// The number of fields of [`TaskCounts`].
pub(super) const COUNTS: usize = 7;

impl TaskCounts {
    pub(super) fn words(&self) -> [u32; COUNTS] {
        let TaskCounts { tasks, fronts, partial, to_group, to_device, from_group, from_device } = *self;
        [tasks, fronts, partial, to_group, to_device, from_group, from_device]
    }

    pub(super) fn of(words: &[u32]) -> TaskCounts {
        let of = |at: usize| words.get(at).copied().unwrap_or(0);
        TaskCounts {
            tasks: of(0),
            fronts: of(1),
            partial: of(2),
            to_group: of(3),
            to_device: of(4),
            from_group: of(5),
            from_device: of(6),
        }
    }
}

/// A task-front (a group of tasks) that is not full, to which new tasks are added.
#[derive(Clone, Copy, Debug)]
struct OpenFront {
    front: u32,
    tasks: u32,
}

/// A wavefront that takes, runs and makes tasks.
#[derive(Debug)]
pub struct Worker<const WORDS: usize> {
    queues: Queues<WORDS>,
    group: Ring,
    /// The wavefront with all its lanes active.
    w: Wave,
    /// The index of the first element of the wavefront's private queue.
    private: u64,
    /// The position of the oldest task-front (group of tasks) in the private queue.
    head: u32,
    /// The position after the newest task-front (group of tasks) in the private queue.
    tail: u32,
    /// For each function, the task-front (group of tasks) that is not full and gets new tasks.
    /// `None` if there is no such task-front.
    open: Vec<Option<OpenFront>>,
    spare: SpareFronts,
    /// Whether the work-group counts this wavefront as one that has work.
    busy: bool,
    /// Whether the device counts this wavefront as one that runs tasks.
    running: bool,
    pub(super) counts: TaskCounts,
    pub(super) tallies: Vec<u64>,
}

impl<const WORDS: usize> Worker<WORDS> {
    pub(super) fn new(w: &Wave, queues: Queues<WORDS>, functions: usize) -> Self {
        Worker {
            queues,
            group: queues.groups.ring(w.work_group()),
            w: w.clone(),
            private: w.global_index() * u64::from(queues.private_capacity),
            head: 0,
            tail: 0,
            open: vec![None; functions],
            spare: SpareFronts::NONE,
            busy: false,
            running: false,
            counts: TaskCounts::default(),
            tallies: Vec::new(),
        }
    }

    /// Adds `amount` to the tally (a counter of the program) with the number `number`. The result
    /// of a run is the sum of the tally over all wavefronts. Until the end, a tally is in a
    /// register.
    pub fn tally(&mut self, number: usize, amount: u64) {
        if self.tallies.len() <= number {
            self.tallies.resize(number + 1, 0);
        }
        self.tallies[number] = self.tallies[number].wrapping_add(amount);
    }

    /// Makes a task in each active lane of `w`. The tasks call the function with the index
    /// `function`.
    pub async fn spawn(&mut self, w: &Wave, function: usize, tasks: [Lanes<u32>; WORDS]) {
        let (count, rank) = (w.mask().count(), w.rank());
        let mut done = 0;
        while done < count {
            let OpenFront { front, tasks: first } = self.open(function).await;
            let part = (self.w.lanes() - first).min(count - done);
            let in_part = rank.ge(done) & rank.lt(done + part);
            // In lanes below this part, the subtraction wraps around. These lanes are not active.
            let slots = rank - done + first;
            self.queues.fronts.scatter(&w.when(in_part), front, &slots, &tasks);
            self.filled(function, part).await;
            done += part;
        }
    }

    /// Makes `count` tasks for each active lane of `w`. `make` computes the words of several tasks
    /// at once. It gets a wavefront with one task in each active lane and, for each task, the lane
    /// of `w` that makes it and its number among the tasks of that lane.
    pub async fn spawn_each(
        &mut self,
        w: &Wave,
        function: usize,
        count: &Lanes<u32>,
        make: impl Fn(&Wave, &Lanes<u32>, &Lanes<u32>) -> [Lanes<u32>; WORDS],
    ) {
        let spread = Spread::new(w, count);
        let mut done = 0;
        while done < spread.total() {
            let OpenFront { front, tasks: first } = self.open(function).await;
            let room = u64::from(self.w.lanes() - first);
            let part = room.min(spread.total() - done);
            let dense = self.w.below(0, part);
            let (from, number) = spread.at(&dense, done);
            let tasks = make(&dense, &from, &number);
            self.queues.fronts.write(&dense, front, first, &tasks);
            self.filled(function, part as u32).await;
            done += part;
        }
    }

    async fn open(&mut self, function: usize) -> OpenFront {
        if let Some(open) = self.open[function] {
            return open;
        }
        let open = OpenFront { front: self.spare.take(&self.w, &self.queues.fronts).await, tasks: 0 };
        self.open[function] = Some(open);
        open
    }

    async fn filled(&mut self, function: usize, more: u32) {
        let Some(open) = &mut self.open[function] else { return };
        open.tasks += more;
        let OpenFront { front, tasks } = *open;
        if tasks == self.w.lanes() {
            self.open[function] = None;
            self.enter(Entry { front, function: function as u32, tasks }).await;
            self.share().await;
        }
    }

    /// Puts a task-front (a group of tasks) into the private queue of the wavefront.
    async fn enter(&mut self, entry: Entry) {
        let capacity = self.queues.private_capacity;
        if self.tail.wrapping_sub(self.head) >= capacity {
            let (wave, group) = (self.w.index(), self.w.work_group());
            let message = format!(
                "the queue of wavefront {wave} in work-group {group} overflows: \
                 it holds at most {}; raise `wave-queue`",
                counted(capacity.into(), "task-front")
            );
            self.w.fail(message).await;
        }
        self.w.store(self.queues.private, self.slot(self.tail), entry.pack());
        self.w.fence(release(self.queues.scopes.wave)).await;
        self.tail = self.tail.wrapping_add(1);
    }

    fn slot(&self, position: u32) -> u64 {
        self.private + u64::from(position % self.queues.private_capacity)
    }

    fn has_own(&self) -> bool {
        self.head != self.tail
    }

    /// Takes a task-front (a group of tasks) from the private queue: the newest one if `newest` is
    /// true, otherwise the oldest one. `None` if the queue is empty.
    async fn leave(&mut self, newest: bool) -> Option<Entry> {
        if !self.has_own() {
            return None;
        }
        let position = if newest {
            self.tail = self.tail.wrapping_sub(1);
            self.tail
        } else {
            self.head = self.head.wrapping_add(1);
            self.head.wrapping_sub(1)
        };
        let entry = self.w.load(self.queues.private, self.slot(position)).await;
        self.w.fence(acquire(self.queues.scopes.wave)).await;
        Some(Entry::unpack(entry))
    }

    /// Moves task-fronts (groups of tasks) to the shared queues that hold too few of them, the
    /// oldest ones first. The device gets them from the work-group's queue or, if that is empty,
    /// from the private queue. The work-group gets them from the private queue.
    async fn share(&mut self) {
        let (group, device) = (self.group, self.queues.device);
        while self.has_own() {
            let (in_group, in_device) = (group.look(&self.w), device.look(&self.w));
            let (in_group, in_device) = (in_group.await, in_device.await);
            if in_device.len() < self.queues.device_low {
                let of_group = group.take(&self.w, in_group).await;
                let oldest = match of_group {
                    Some(entry) => Some(entry),
                    None => self.leave(false).await,
                };
                let Some(oldest) = oldest else { return };
                device.count(&self.w, 1);
                device.give(&self.w, oldest).await;
                self.counts.to_device += 1;
                if of_group.is_some() {
                    group.count(&self.w, -1);
                    self.counts.from_group += 1;
                }
            } else if in_group.len() < self.queues.group_low {
                let Some(oldest) = self.leave(false).await else { return };
                group.count(&self.w, 1);
                group.give(&self.w, oldest).await;
                self.counts.to_group += 1;
            } else {
                return;
            }
        }
    }

    /// Takes the next task-front (group of tasks) to run. `None` if there is no work and no
    /// wavefront can make more.
    pub(super) async fn next(&mut self) -> Option<Entry> {
        let entry = match self.leave(true).await {
            Some(entry) => Some(entry),
            None if self.busy => self.take_shared().await,
            None => None,
        };
        let entry = match entry {
            Some(entry) => entry,
            None => self.wait().await?,
        };
        self.counts.tasks += entry.tasks;
        self.counts.fronts += 1;
        self.counts.partial += u32::from(entry.tasks < self.w.lanes());
        Some(entry)
    }

    /// Takes a task-front (a group of tasks) from a shared queue. The wavefront already counts as
    /// one that has work.
    async fn take_shared(&mut self) -> Option<Entry> {
        let (group, device) = (self.group, self.queues.device);
        let (in_group, in_device) = (group.look(&self.w), device.look(&self.w));
        let (in_group, in_device) = (in_group.await, in_device.await);
        if let Some(entry) = group.take(&self.w, in_group).await {
            group.count(&self.w, -1);
            self.counts.from_group += 1;
            return Some(entry);
        }
        let entry = device.take(&self.w, in_device).await?;
        device.count(&self.w, -1);
        self.counts.from_device += 1;
        Some(entry)
    }

    /// Takes the open task-front (group of tasks) with the most tasks, although it is not full.
    async fn close(&mut self) -> Option<Entry> {
        let fullest = (0..self.open.len()).max_by_key(|&f| self.open[f].map(|open| open.tasks))?;
        let OpenFront { front, tasks } = self.open[fullest].take()?;
        // Lanes of this wavefront pass the tasks to each other.
        self.w.fence(acq_rel(self.queues.scopes.wave)).await;
        Some(Entry { front, function: fullest as u32, tasks })
    }

    /// Takes a task-front (a group of tasks) after the wavefront has found none: one from a shared
    /// queue, or an open one that is not full. Waits while another wavefront may still make tasks.
    async fn wait(&mut self) -> Option<Entry> {
        let (group, device) = (self.group, self.queues.device);
        if self.queues.partial == PartialFronts::Early
            && let Some(entry) = self.close().await
        {
            return Some(entry);
        }
        if self.running {
            self.running = false;
            device.count_running(&self.w, -1);
        }
        let has_open = self.open.iter().any(Option::is_some);
        if self.busy && !has_open {
            self.busy = false;
            if group.leave(&self.w).await {
                device.count(&self.w, -1);
            }
        }
        let entry = loop {
            let (in_group, in_device) = (group.look(&self.w), device.look(&self.w));
            let (in_group, in_device) = (in_group.await, in_device.await);
            // The wavefront counts itself before it takes a front, so that no other wavefront finds
            // neither the front nor a wavefront that runs it.
            if in_group.len() > 0 || in_device.len() > 0 {
                device.count_running(&self.w, 1);
                // The front was counted as work. If the wavefront is not counted, this count stands
                // for it from now on.
                if let Some(entry) = group.take(&self.w, in_group).await {
                    self.counts.from_group += 1;
                    if self.busy {
                        group.count(&self.w, -1);
                    }
                    break entry;
                }
                if let Some(entry) = device.take(&self.w, in_device).await {
                    self.counts.from_device += 1;
                    if self.busy || group.join(&self.w).await {
                        device.count(&self.w, -1);
                    }
                    break entry;
                }
                device.count_running(&self.w, -1);
            } else if in_device.running == 0
                && let Some(entry) = self.close().await
            {
                device.count_running(&self.w, 1);
                break entry;
            }
            if in_device.busy == 0 {
                return None;
            }
        };
        self.busy = true;
        self.running = true;
        Some(entry)
    }

    /// Loads the tasks of a task-front (a group of tasks), one into each lane, and makes the
    /// task-front available for new tasks. Returns the wavefront with as many active lanes as the
    /// task-front has tasks.
    pub(super) async fn load(&mut self, entry: Entry) -> (Wave, [Lanes<u32>; WORDS]) {
        let w = self.w.below(0, u64::from(entry.tasks));
        let tasks = self.queues.fronts.read(&w, entry.front).await;
        // Other lanes of this wavefront will write new tasks into the front.
        self.w.fence(acq_rel(Level::SubGroup)).await;
        self.spare.give(&self.w, &self.queues.fronts, entry.front);
        (w, tasks)
    }
}
