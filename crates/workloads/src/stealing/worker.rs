//! How a work-group gets its tasks.
//!
//! The first wavefront takes tasks for all of its work-group, one for each
//! wavefront: from its own queue first, then from others. It leaves them in the
//! local data share; a barrier, and every wavefront does its own. So a queue
//! has one owner, as its algorithm needs it.
//!
//! The barrier orders local data only (it is relaxed): nothing but the number
//! of a task is handed over, and that stands in the local data share. Tasks
//! whose data other tasks of the same kernel write need more.

use kernel::prelude::*;
use kernel::rng::Rng;

use super::deque::{Queues, Theft};
use super::policy::Stealing;

/// This wavefront has nothing to do in this round.
const IDLE: u32 = u32::MAX;
/// There is nothing left for the whole work-group.
const DONE: u32 = u32::MAX - 1;
/// So many different tasks there can be: their positions are compared as signed
/// numbers.
pub(crate) const TASKS_MAX: u64 = 1 << 31;

/// What one wavefront has to do with the queues.
#[derive(Debug)]
pub struct Worker {
    queues: Queues,
    /// The wavefront with its first lane only.
    leader: Wave,
    round: u64,
    own_is_empty: bool,
    gave_up: bool,
    /// Whom it stole from last.
    victim: Option<u32>,
    draws: Rng,
    /// Tasks that it stole, for its whole work-group.
    pub stolen: u32,
    /// Attempts to steal that brought nothing.
    pub in_vain: u32,
}

/// How much local data share a work-group of so many wavefronts needs.
#[must_use]
pub const fn lds_bytes(waves: u32) -> u32 {
    2 * 4 * waves
}

impl Worker {
    /// A wavefront of the work-group that owns the queue of its number. The
    /// seed decides from whom it steals.
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
            in_vain: 0,
        }
    }

    /// Adds a task to the own queue: for the first wavefront alone.
    pub async fn push(&mut self, task: u32) {
        self.queues.push(&self.leader, self.leader.work_group(), task).await;
        self.own_is_empty = false;
        self.gave_up = false;
    }

    /// The next task of this wavefront; none when there is nothing left that
    /// the work-group finds. All wavefronts of the work-group must ask.
    pub async fn next(&mut self, w: &Wave) -> Option<u32> {
        loop {
            // Two places in turn: one is read while the other is written.
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

    /// Leaves a task for each wavefront.
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
                Theft::Task(task) => {
                    self.victim = Some(victim);
                    self.stolen += 1;
                    return Some(task);
                }
                // The head has moved: there may be more.
                Theft::Lost => self.victim = Some(victim),
                Theft::Empty => {
                    self.victim = None;
                    empty += 1;
                }
            }
            self.in_vain += 1;
        }
        self.gave_up = true;
        None
    }
}
