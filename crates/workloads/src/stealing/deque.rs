//! The queues of all work-groups, in two arrays.
//!
//! The algorithm is that of Cederman and Tsigas. The owner of a queue pushes and pops at the tail,
//! and needs a compare-exchange only for the last task. Thieves (other work-groups) take at the
//! head. The differences from the published code are these:
//!
//! * The memory orders are different (see [`super::order`]).
//! * A thread reads a slot only after it has won the slot.
//! * The head only grows between refills, so no tag is needed to detect that a position is used
//!   again.
//! * A thief first reads the tail. An owner that finds its queue empty sets the tail to 0, so a thief
//!   needs a single atomic to see that such a queue is empty.
//!
//! Between two refills, a queue accepts as many tasks as it has slots. A queue is refilled between
//! kernels. By default, each queue has two sets of head and tail: while a kernel uses one set, the
//! owners prepare the other set. The two heads of a queue share a line, and so do its two tails,
//! because the same threads use them in the same way. With [`Refill::Host`], each kernel has its own
//! set.

use kernel::prelude::*;
use proto::words::counted;

use super::order::QueueStep;
use super::policy::{Layout, Policy, Refill};

/// The outcome of an attempt to steal a task from a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StealOutcome {
    /// The thief has taken this task.
    Task(u32),
    /// The queue is empty.
    Empty,
    /// Another thread took the oldest task first.
    Lost,
}

/// The queues of all work-groups. Kernels may copy this value: all copies share the same arrays in
/// memory.
#[derive(Clone, Copy, Debug)]
pub struct Queues {
    variables: Array<u32>,
    slots: Array<u32>,
    queues: u32,
    capacity: u32,
    distances: Distances,
    /// The number of sets of heads and tails.
    sets: u64,
    /// The number of the set of heads and tails that the current kernel uses.
    set: u64,
    policy: Policy,
}

/// The tail of a queue that its owner has found empty, and of a queue that was never filled.
const CLOSED: u32 = 0;

/// The number of sets of heads and tails that take turns if the owners refill the queues.
const SETS: u64 = 2;

/// Distances in the array that holds the heads and tails of all queues, in elements of 4 bytes. They
/// say where a head or tail is stored, not how many tasks a queue has.
#[derive(Clone, Copy, Debug)]
struct Distances {
    /// The distance from the element with the head of a queue to the element with its tail.
    to_tail: u64,
    /// The distance from the element with the head of a queue to the element with the head of the
    /// next queue.
    to_next: u64,
    /// The distance from the element with the head of a queue in one set to the element with its
    /// head in the next set.
    to_set: u64,
}

impl Distances {
    fn new(policy: &Policy, queues: u32, line_bytes: u32) -> Self {
        let line = u64::from(line_bytes / 4);
        let (to_tail, to_next) = match policy.layout {
            Layout::Padded => (line.max(SETS), 2 * line.max(SETS)),
            Layout::Joined => (SETS, line.max(2 * SETS)),
            Layout::Packed => (SETS, 2 * SETS),
        };
        let to_set = match policy.refill {
            Refill::Owner => 1,
            Refill::Host => (u64::from(queues) * to_next).next_multiple_of(line.max(1)),
        };
        Distances { to_tail, to_next, to_set }
    }
}

/// The size in bytes of all lines that contain heads or tails of `queues` queues, in one kernel.
#[must_use]
pub fn atomic_bytes(queues: u32, policy: &Policy, line_bytes: u32) -> u64 {
    let bytes = u64::from(queues) * Distances::new(policy, queues, line_bytes).to_next * 4;
    bytes.next_multiple_of(u64::from(line_bytes.max(1)))
}

impl Queues {
    /// Allocates empty queues of `capacity` slots each, for `kernels` kernels.
    #[must_use]
    pub fn alloc(host: &Host, queues: u32, capacity: u32, policy: Policy, kernels: u32) -> Self {
        let distances = Distances::new(&policy, queues, host.shape().line_bytes);
        let (sets, elements) = match policy.refill {
            Refill::Owner => (SETS, u64::from(queues) * distances.to_next),
            Refill::Host => (u64::from(kernels.max(1)), u64::from(kernels.max(1)) * distances.to_set),
        };
        let variables = host.alloc("queue-variables", elements);
        let slots = host.alloc("queue-tasks", u64::from(queues) * u64::from(capacity));
        Queues { variables, slots, queues, capacity, distances, sets, set: 0, policy }
    }

    /// Fills the queues before any kernel runs. An owner pops the last task of
    /// its queue first.
    pub async fn fill(&self, host: &Host, tasks: &[Vec<u32>]) {
        let mut slots = vec![0; self.slots.len() as usize];
        let mut variables = vec![0; self.variables.len() as usize];
        for (queue, tasks) in (0..).zip(tasks).take(self.queues as usize) {
            if tasks.len() > self.capacity as usize {
                let (count, capacity) = (tasks.len(), self.capacity);
                host.fail(format!(
                    "queue {queue} has {}, but the workload puts {} into it at the start",
                    counted(capacity.into(), "slot"),
                    counted(count as u64, "task")
                ))
                .await;
            }
            let first = queue as usize * self.capacity as usize;
            slots[first..first + tasks.len()].copy_from_slice(tasks);
            let filled = if self.policy.refill == Refill::Host { self.sets } else { 1 };
            for set in 0..filled {
                variables[Queues { set, ..*self }.tail(queue) as usize] = tasks.len() as u32;
            }
        }
        host.write(self.slots, &slots).await;
        host.write(self.variables, &variables).await;
    }

    /// The queues in the form in which the kernel with the number `kernel` uses them: with the set
    /// of heads and tails for this kernel.
    #[must_use]
    pub fn at(mut self, kernel: u32) -> Self {
        self.set = u64::from(kernel) % self.sets;
        self
    }

    /// The number of queues.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.queues
    }

    /// The policy of the synchronization on the queues.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The declared uses of the queues' arrays by a kernel.
    #[must_use]
    pub fn uses(&self) -> [kernel::Use; 2] {
        [self.variables.read_write(), self.slots.read_write()]
    }

    fn head(&self, queue: u32) -> u64 {
        u64::from(queue) * self.distances.to_next + self.set * self.distances.to_set
    }

    fn tail(&self, queue: u32) -> u64 {
        self.head(queue) + self.distances.to_tail
    }

    fn slot(&self, queue: u32, position: u32) -> u64 {
        u64::from(queue) * u64::from(self.capacity) + u64::from(position)
    }

    /// Adds a task to the queue that the work-group owns. `w` has one active lane.
    pub async fn push(&self, w: &Wave, queue: u32, task: u32) {
        let (policy, tail_at) = (&self.policy, self.tail(queue));
        let mut position =
            w.atomic_load(self.variables, tail_at, policy.semantics(QueueStep::PushTail)).await;
        if position == CLOSED {
            let semantics = policy.semantics(QueueStep::PushHead);
            position = w.atomic_load(self.variables, self.head(queue), semantics).await;
        }
        if position >= self.capacity {
            let capacity = self.capacity;
            w.fail(format!(
                "queue {queue} overflows: it holds at most {} between two refills",
                counted(capacity.into(), "task")
            ))
            .await;
        }
        w.store(self.slots, self.slot(queue, position), task).await;
        let semantics = policy.semantics(QueueStep::PushPublish);
        w.atomic_store(self.variables, tail_at, position + 1, semantics).await;
    }

    /// Takes the newest task of the queue that the work-group owns. `None` if the queue is empty.
    /// `w` has one active lane.
    pub async fn pop(&self, w: &Wave, queue: u32) -> Option<u32> {
        let policy = &self.policy;
        let (head_at, tail_at) = (self.head(queue), self.tail(queue));
        let tail = w.atomic_load(self.variables, tail_at, policy.semantics(QueueStep::PopTail)).await;
        if tail == CLOSED {
            return None;
        }
        let last = tail - 1;
        w.atomic_store(self.variables, tail_at, last, policy.semantics(QueueStep::PopClaim)).await;
        let head = w.atomic_load(self.variables, head_at, policy.semantics(QueueStep::PopHead)).await;
        if last <= head {
            let mut is_won = false;
            if last == head {
                let semantics = policy.semantics(QueueStep::PopLast);
                is_won = w.compare_exchange(self.variables, head_at, head, tail, semantics).await == head;
            }
            let semantics = policy.semantics(QueueStep::PopClose);
            w.atomic_store(self.variables, tail_at, CLOSED, semantics).await;
            if !is_won {
                return None;
            }
        }
        Some(w.load(self.slots, self.slot(queue, last)).await)
    }

    /// Takes the oldest task of a queue that another work-group owns. `w` has one active lane.
    pub async fn steal(&self, w: &Wave, queue: u32) -> StealOutcome {
        let policy = &self.policy;
        let (head_at, tail_at) = (self.head(queue), self.tail(queue));
        let look = w.atomic_load(self.variables, tail_at, policy.semantics(QueueStep::StealLook)).await;
        if look == CLOSED {
            return StealOutcome::Empty;
        }
        let head = w.atomic_load(self.variables, head_at, policy.semantics(QueueStep::StealHead)).await;
        let tail = w.atomic_load(self.variables, tail_at, policy.semantics(QueueStep::StealTail)).await;
        if tail <= head {
            return StealOutcome::Empty;
        }
        let semantics = policy.semantics(QueueStep::StealTake);
        let found = w.compare_exchange(self.variables, head_at, head, head + 1, semantics).await;
        if found != head {
            return StealOutcome::Lost;
        }
        StealOutcome::Task(w.load(self.slots, self.slot(queue, head)).await)
    }

    /// Refills a queue for the next kernel, unless the host refills the queues. The first `tasks`
    /// slots of the queue then hold its tasks. `w` has one active lane.
    pub fn refill(&self, w: &Wave, queue: u32, tasks: u32) {
        if self.policy.refill == Refill::Host {
            return;
        }
        let next = Queues { set: (self.set + 1) % self.sets, ..*self };
        w.atomic_store(self.variables, next.head(queue), 0, self.policy.semantics(QueueStep::RefillHead));
        w.atomic_store(self.variables, next.tail(queue), tasks, self.policy.semantics(QueueStep::RefillTail));
    }
}
