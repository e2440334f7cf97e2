//! The queues of all work-groups, in two arrays.
//!
//! The algorithm is that of Cederman and Tsigas. The owner of a queue pushes and pops at the tail,
//! and needs a compare-exchange only for the last task. Thieves (other work-groups) take at the
//! head. Three things differ from the published code. The memory orders are different (see
//! [`super::order`]). A thread reads a slot only after it has won the slot. Positions only grow
//! between refills, so no tag is needed to detect that a position is used again.
//!
//! Between two refills, a queue accepts as many tasks as it has slots. A queue is refilled between
//! kernels. Each queue has two sets of head and tail: while a kernel uses one set, the owners
//! prepare the other set. The two heads of a queue share a line, and so do its two tails, because
//! the same threads use them in the same way.

use kernel::prelude::*;
use proto::words::counted;

use super::order::QueueStep;
use super::policy::Policy;

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
    /// The distance in memory from the head of a queue to its tail, in elements. A tail and the
    /// head of the next queue have the same distance.
    stride: u64,
    /// The number of the set of heads and tails that the current kernel uses.
    set: u64,
    policy: Policy,
}

/// The number of sets of heads and tails in each queue.
const SETS: u64 = 2;

/// The distance in memory from the head of a queue to its tail, in elements.
fn stride(padded: bool, line_bytes: u32) -> u64 {
    if padded { u64::from(line_bytes / 4).max(SETS) } else { SETS }
}

/// The size in bytes of all lines that contain heads or tails of `queues` queues.
#[must_use]
pub fn atomic_bytes(queues: u32, padded: bool, line_bytes: u32) -> u64 {
    let bytes = u64::from(queues) * 2 * stride(padded, line_bytes) * 4;
    bytes.next_multiple_of(u64::from(line_bytes.max(1)))
}

impl Queues {
    /// Allocates empty queues of `capacity` slots each.
    #[must_use]
    pub fn alloc(host: &Host, queues: u32, capacity: u32, policy: Policy) -> Self {
        let stride = stride(policy.padded, host.shape().line_bytes);
        let variables = host.alloc("queue-variables", u64::from(queues) * 2 * stride);
        let slots = host.alloc("queue-tasks", u64::from(queues) * u64::from(capacity));
        Queues { variables, slots, queues, capacity, stride, set: 0, policy }
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
            variables[self.tail(queue) as usize] = tasks.len() as u32;
        }
        host.write(self.slots, &slots).await;
        host.write(self.variables, &variables).await;
    }

    /// The queues in the form in which the kernel with the number `kernel` uses them: with the set
    /// of heads and tails for this kernel.
    #[must_use]
    pub fn at(mut self, kernel: u32) -> Self {
        self.set = u64::from(kernel) % SETS;
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
        u64::from(queue) * 2 * self.stride + self.set
    }

    fn tail(&self, queue: u32) -> u64 {
        self.head(queue) + self.stride
    }

    fn slot(&self, queue: u32, position: u32) -> u64 {
        u64::from(queue) * u64::from(self.capacity) + u64::from(position)
    }

    /// Adds a task to the queue that the work-group owns. `w` has one active lane.
    pub async fn push(&self, w: &Wave, queue: u32, task: u32) {
        let (policy, tail_at) = (&self.policy, self.tail(queue));
        let tail = w.atomic_load(self.variables, tail_at, policy.semantics(QueueStep::PushTail)).await;
        if tail >= self.capacity {
            let capacity = self.capacity;
            w.fail(format!(
                "queue {queue} overflows: it holds at most {} between two refills",
                counted(capacity.into(), "task")
            ))
            .await;
        }
        w.store(self.slots, self.slot(queue, tail), task).await;
        w.atomic_store(self.variables, tail_at, tail + 1, policy.semantics(QueueStep::PushPublish)).await;
    }

    /// Takes the newest task of the queue that the work-group owns. `None` if the queue is empty.
    /// `w` has one active lane.
    pub async fn pop(&self, w: &Wave, queue: u32) -> Option<u32> {
        let policy = &self.policy;
        let (head_at, tail_at) = (self.head(queue), self.tail(queue));
        let tail = w.atomic_load(self.variables, tail_at, policy.semantics(QueueStep::PopTail)).await;
        let last = tail.wrapping_sub(1);
        w.atomic_store(self.variables, tail_at, last, policy.semantics(QueueStep::PopClaim)).await;
        let head = w.atomic_load(self.variables, head_at, policy.semantics(QueueStep::PopHead)).await;
        let others = last.wrapping_sub(head) as i32;
        if others < 0 {
            w.atomic_store(self.variables, tail_at, tail, policy.semantics(QueueStep::PopRestore)).await;
            return None;
        }
        if others == 0 {
            let semantics = policy.semantics(QueueStep::PopLast);
            let found = w.compare_exchange(self.variables, head_at, head, tail, semantics).await;
            w.atomic_store(self.variables, tail_at, tail, policy.semantics(QueueStep::PopRestore)).await;
            if found != head {
                return None;
            }
        }
        Some(w.load(self.slots, self.slot(queue, last)).await)
    }

    /// Takes the oldest task of a queue that another work-group owns. `w` has one active lane.
    pub async fn steal(&self, w: &Wave, queue: u32) -> StealOutcome {
        let policy = &self.policy;
        let head_at = self.head(queue);
        let head = w.atomic_load(self.variables, head_at, policy.semantics(QueueStep::StealHead)).await;
        let tail_semantics = policy.semantics(QueueStep::StealTail);
        let tail = w.atomic_load(self.variables, self.tail(queue), tail_semantics).await;
        if tail.wrapping_sub(head) as i32 <= 0 {
            return StealOutcome::Empty;
        }
        let semantics = policy.semantics(QueueStep::StealTake);
        let found = w.compare_exchange(self.variables, head_at, head, head.wrapping_add(1), semantics).await;
        if found != head {
            return StealOutcome::Lost;
        }
        StealOutcome::Task(w.load(self.slots, self.slot(queue, head)).await)
    }

    /// Refills the queue for the next kernel: the first `tasks` slots of the queue become its
    /// tasks. `w` has one active lane.
    pub fn refill(&self, w: &Wave, queue: u32, tasks: u32) {
        let next = Queues { set: (self.set + 1) % SETS, ..*self };
        w.atomic_store(self.variables, next.head(queue), 0, self.policy.semantics(QueueStep::RefillHead));
        w.atomic_store(self.variables, next.tail(queue), tasks, self.policy.semantics(QueueStep::RefillTail));
    }
}
