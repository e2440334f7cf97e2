//! The supply of tasks to a work-group.
//!
//! The first wavefront of a work-group takes a task for each wavefront of the work-group: from the
//! work-group's own queue first, then from other queues. It stores the tasks in local memory. After
//! a barrier, every wavefront runs its own task. A queue therefore has a single owner, as its
//! algorithm requires.
//!
//! The barrier is relaxed, so it orders only accesses to local memory. This suffices, because only
//! the number of a task is passed, in local memory. Tasks that read data which other tasks of the
//! same kernel write would need stronger synchronization.

use kernel::prelude::*;
use kernel::rng::Rng;

use super::deque::{Queues, StealOutcome};
use super::policy::Stealing;

/// The number that a wavefront gets in place of a task if it has no task in this round.
const IDLE: u32 = u32::MAX;
/// The number that a wavefront gets in place of a task if the whole work-group has no task left.
const DONE: u32 = u32::MAX - 1;
/// The maximum number of tasks. Positions in a queue are compared as signed numbers.
pub(crate) const TASKS_MAX: u64 = 1 << 31;

/// A wavefront's access to the queues, by which it gets its tasks.
#[derive(Debug)]
pub struct Worker {
    queues: Queues,
    /// The wavefront, in which only the lowest lane is active.
    leader: Wave,
    round: u64,
    own_is_empty: bool,
    gave_up: bool,
    /// The queue from which the last steal took a task.
    victim: Option<u32>,
    draws: Rng,
    /// The number of tasks stolen for the whole work-group.
    pub stolen: u32,
    /// The number of failed attempts to steal.
    pub failed_steals: u32,
}

/// The size in bytes of the local memory of a work-group with `waves` wavefronts.
#[must_use]
pub const fn lds_bytes(waves: u32) -> u32 {
    2 * 4 * waves
}

impl Worker {
    /// Makes the worker of a wavefront. The work-group owns the queue whose number is its own
    /// number. The seed determines the queues from which tasks are stolen.
    #[must_use]
    pub fn new(w: &Wave, queues: Queues, seed: u64) -> Self {
        let number = (seed ^ w.global_index()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Worker {
            queues,
            leader: w.leader(),
            round: 0,
            own_is_empty: false,
            gave_up: false,
            victim: None,
            draws: Rng::new(number),
            stolen: 0,
            failed_steals: 0,
        }
    }

    /// Adds a task to the queue that the work-group owns. Only the first wavefront may call this
    /// method.
    pub async fn push(&mut self, task: u32) {
        self.queues.push(&self.leader, self.leader.work_group(), task).await;
        self.own_is_empty = false;
        self.gave_up = false;
    }

    /// The next task of this wavefront. `None` when the work-group finds no more tasks. All
    /// wavefronts of the work-group must call this method the same number of times.
    pub async fn next(&mut self, w: &Wave) -> Option<u32> {
        loop {
            // Two buffers in local memory change roles: one is read while the other is written.
            let waves = u64::from(w.waves());
            let first = self.round % 2 * waves;
            self.round += 1;
            let places = w.lds::<u32>(0, 2 * w.waves());
            if w.index() == 0 {
                self.deal(places, first, waves).await;
            }
            w.barrier_with(relaxed(Level::WorkGroup)).await;
            match w.load(places, first + u64::from(w.index())).await {
                DONE => return None,
                IDLE => {}
                task => return Some(task),
            }
        }
    }

    /// Takes a task for each wavefront of the work-group, and stores it in local memory.
    async fn deal(&mut self, places: Lds<u32>, first: u64, waves: u64) {
        for wave in 0..waves {
            let nothing = if wave == 0 { DONE } else { IDLE };
            let task = self.take().await.unwrap_or(nothing);
            self.leader.store(places, first + wave, task).await;
            if task == DONE {
                for other in 1..waves {
                    self.leader.store(places, first + other, DONE).await;
                }
                return;
            }
        }
    }

    async fn take(&mut self) -> Option<u32> {
        let own = self.leader.work_group();
        if !self.own_is_empty {
            let task = self.queues.pop(&self.leader, own).await;
            self.own_is_empty = task.is_none();
            if task.is_some() {
                return task;
            }
        }
        let others = self.queues.count() - 1;
        if self.queues.policy().stealing == Stealing::None || others == 0 || self.gave_up {
            return None;
        }
        let mut empty = 0;
        while empty < self.queues.policy().attempts {
            let victim = self.victim.unwrap_or_else(|| {
                let draw = self.draws.below(u64::from(others)) as u32;
                draw + u32::from(draw >= own)
            });
            match self.queues.steal(&self.leader, victim).await {
                StealOutcome::Task(task) => {
                    self.victim = Some(victim);
                    self.stolen += 1;
                    return Some(task);
                }
                // Another thread has moved the head. The queue may have more tasks, so it is tried
                // again.
                StealOutcome::Lost => self.victim = Some(victim),
                StealOutcome::Empty => {
                    self.victim = None;
                    empty += 1;
                }
            }
            self.failed_steals += 1;
        }
        self.gave_up = true;
        None
    }
}
