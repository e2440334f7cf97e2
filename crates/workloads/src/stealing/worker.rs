//! The supply of tasks to a work-group.
//!
//! While the work-group's own queue has tasks, the first wavefront of the work-group takes a task for
//! each wavefront. It stores the tasks in local memory. After a barrier, every wavefront runs its
//! own task. A queue therefore has a single owner, as its algorithm requires. When the own queue is
//! empty, every wavefront steals for itself, without barriers. So no wavefront waits for a theft of
//! another one.
//!
//! The barrier is relaxed, so it orders only accesses to local memory. This suffices, because only
//! the number of a task is passed, in local memory. Tasks that read data which other tasks of the
//! same kernel write would need stronger synchronization.

use kernel::prelude::*;
use kernel::rng::Rng;

use super::deque::{Queues, StealOutcome};
use super::policy::Stealing;

/// The bit of a task's word in local memory that says that the work-group's own queue is empty
/// after this round. In a round, the first wavefront takes a task for each wavefront.
const LAST: u32 = 1 << 31;
/// The word in local memory for a wavefront that gets no task, because the work-group's own queue
/// has too few tasks.
const NOTHING: u32 = u32::MAX;
/// The maximum number of tasks: the number of a task leaves the bit `LAST` free.
pub(crate) const TASKS_MAX: u64 = 1 << 31;

/// A wavefront's access to the queues, by which it gets its tasks.
#[derive(Debug)]
pub struct Worker {
    queues: Queues,
    /// The wavefront, in which only the lowest lane is active.
    leader: Wave,
    /// The number of rounds in which the first wavefront took tasks for all wavefronts.
    round: u64,
    /// Whether the work-group's own queue was empty after the most recent round, in which the first
    /// wavefront took a task for each wavefront. From then on, the wavefront gets tasks by itself.
    is_alone: bool,
    /// Whether the wavefront has pushed tasks since it last found the work-group's own queue empty.
    has_pushed: bool,
    /// The queue of the last attempt to steal. `None` if the attempt found an empty queue.
    victim: Option<u32>,
    draws: Rng,
    /// The number of tasks that the wavefront has stolen.
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
            is_alone: false,
            has_pushed: false,
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
        self.has_pushed = true;
    }

    /// The next task of this wavefront. `None` when the wavefront finds no more tasks. Every
    /// wavefront of the work-group must call this method until it returns `None`.
    pub async fn next(&mut self, w: &Wave) -> Option<u32> {
        if !self.is_alone {
            // Two buffers in local memory change roles: one is read while the other is written.
            let waves = u64::from(w.waves());
            let first = self.round % 2 * waves;
            self.round += 1;
            let places = w.lds::<u32>(0, 2 * w.waves());
            if w.index() == 0 {
                self.deal(places, first, waves).await;
            }
            w.barrier_with(relaxed(Level::WorkGroup)).await;
            let word = w.load(places, first + u64::from(w.index())).await;
            self.is_alone = word & LAST != 0;
            if word != NOTHING {
                return Some(word & !LAST);
            }
        }
        if self.has_pushed {
            match self.queues.pop(&self.leader, self.leader.work_group()).await {
                None => self.has_pushed = false,
                task => return task,
            }
        }
        self.steal().await
    }

    /// Takes a task of the own queue for each wavefront of the work-group, and stores it in local
    /// memory.
    async fn deal(&mut self, places: Lds<u32>, first: u64, waves: u64) {
        let mut tasks = Vec::new();
        while (tasks.len() as u64) < waves {
            match self.queues.pop(&self.leader, self.leader.work_group()).await {
                Some(task) => tasks.push(task),
                None => break,
            }
        }
        let last = if (tasks.len() as u64) < waves { LAST } else { 0 };
        self.has_pushed &= last == 0;
        for wave in 0..waves {
            let word = tasks.get(wave as usize).map_or(NOTHING, |task| task | last);
            self.leader.store(places, first + wave, word).await;
        }
    }

    /// Steals a task from another queue. `None` if the limit of empty queues in a row is reached.
    async fn steal(&mut self) -> Option<u32> {
        let (own, others) = (self.leader.work_group(), self.queues.count() - 1);
        if self.queues.policy().stealing == Stealing::None || others == 0 {
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
        None
    }
}
