//! The queues of all work-groups, in two arrays.
//!
//! After Cederman and Tsigas: the owner pushes and pops at the tail and needs
//! a compare-exchange for the last task only; thieves take at the head. What
//! differs from the published code: the memory orders (see [`super::order`]);
//! a slot is read after it was won; positions only grow until the queue is
//! refilled, so no tag guards against their reuse.
//!
//! A queue holds as many tasks between two refills as it has slots. It is
//! refilled between kernels: there are two sets of heads and tails, and while
//! a kernel uses one its owners set up the other. They share their line, for
//! they belong to the same queue and the same role.

use kernel::prelude::*;
use proto::words::counted;

use super::order::Step;
use super::policy::Policy;

/// What came of an attempt to steal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theft {
    /// This task.
    Task(u32),
    /// Nothing is there.
    Empty,
    /// Somebody else was faster.
    Lost,
}

/// The queues of all work-groups. A value that kernels carry along freely.
#[derive(Clone, Copy, Debug)]
pub struct Queues {
    variables: Array<u32>,
    slots: Array<u32>,
    queues: u32,
    capacity: u32,
    /// Elements from one variable to the next.
    stride: u64,
    /// Which of the two sets of heads and tails is in use.
    set: u64,
    policy: Policy,
}

/// Sets of heads and tails.
const SETS: u64 = 2;

/// How the variables lie: elements from one variable to the next.
fn stride(padded: bool, line_bytes: u32) -> u64 {
    if padded { u64::from(line_bytes / 4).max(SETS) } else { SETS }
}

/// How many bytes the lines have that the atomics of so many queues touch.
#[must_use]
pub fn atomic_bytes(queues: u32, padded: bool, line_bytes: u32) -> u64 {
    let bytes = u64::from(queues) * 2 * stride(padded, line_bytes) * 4;
    bytes.next_multiple_of(u64::from(line_bytes.max(1)))
}

impl Queues {
    /// Empty queues of so many slots each.
    #[must_use]
    pub fn alloc(host: &Host, queues: u32, capacity: u32, policy: Policy) -> Self {
        let stride = stride(policy.padded, host.shape().line_bytes);
        let variables = host.alloc("queue-variables", u64::from(queues) * 2 * stride);
        let slots = host.alloc("queue-tasks", u64::from(queues) * u64::from(capacity));
        Queues { variables, slots, queues, capacity, stride, set: 0, policy }
    }

    /// Puts these tasks into the queues, before any kernel runs. The last of a
    /// queue is the first that its owner pops.
    pub async fn fill(&self, host: &Host, tasks: &[Vec<u32>]) {
        let mut slots = vec![0; self.slots.len() as usize];
        let mut variables = vec![0; self.variables.len() as usize];
        for (queue, tasks) in (0..).zip(tasks).take(self.queues as usize) {
            if tasks.len() > self.capacity as usize {
                let (count, capacity) = (tasks.len(), self.capacity);
                host.fail(format!(
                    "queue {queue} has {}, but is to start with {}",
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

    /// The same queues as kernel number `kernel` uses them.
    #[must_use]
    pub fn at(mut self, kernel: u32) -> Self {
        self.set = u64::from(kernel) % SETS;
        self
    }

    /// How many queues there are.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.queues
    }

    /// How they are synchronized.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// What a kernel uses of it.
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

    /// Adds a task to the owner's queue. `w` has one active lane.
    pub async fn push(&self, w: &Wave, queue: u32, task: u32) {
        let (policy, tail_at) = (&self.policy, self.tail(queue));
        let tail = w.atomic_load(self.variables, tail_at, policy.semantics(Step::PushTail)).await;
        if tail >= self.capacity {
            let capacity = self.capacity;
            w.fail(format!(
                "queue {queue} overflows: it holds {} between two refills",
                counted(capacity.into(), "task")
            ))
            .await;
        }
        w.store(self.slots, self.slot(queue, tail), task).await;
        w.atomic_store(self.variables, tail_at, tail + 1, policy.semantics(Step::PushPublish)).await;
    }

    /// Takes the task that the owner pushed last. `w` has one active lane.
    pub async fn pop(&self, w: &Wave, queue: u32) -> Option<u32> {
        let policy = &self.policy;
        let (head_at, tail_at) = (self.head(queue), self.tail(queue));
        let tail = w.atomic_load(self.variables, tail_at, policy.semantics(Step::PopTail)).await;
        let last = tail.wrapping_sub(1);
        w.atomic_store(self.variables, tail_at, last, policy.semantics(Step::PopClaim)).await;
        let head = w.atomic_load(self.variables, head_at, policy.semantics(Step::PopHead)).await;
        let others = last.wrapping_sub(head) as i32;
        if others < 0 {
            w.atomic_store(self.variables, tail_at, tail, policy.semantics(Step::PopRestore)).await;
            return None;
        }
        if others == 0 {
            let semantics = policy.semantics(Step::PopLast);
            let found = w.compare_exchange(self.variables, head_at, head, tail, semantics).await;
            w.atomic_store(self.variables, tail_at, tail, policy.semantics(Step::PopRestore)).await;
            if found != head {
                return None;
            }
        }
        Some(w.load(self.slots, self.slot(queue, last)).await)
    }

    /// Takes the oldest task of somebody else's queue. `w` has one active lane.
    pub async fn steal(&self, w: &Wave, queue: u32) -> Theft {
        let policy = &self.policy;
        let head_at = self.head(queue);
        let head = w.atomic_load(self.variables, head_at, policy.semantics(Step::StealHead)).await;
        let tail_semantics = policy.semantics(Step::StealTail);
        let tail = w.atomic_load(self.variables, self.tail(queue), tail_semantics).await;
        if tail.wrapping_sub(head) as i32 <= 0 {
            return Theft::Empty;
        }
        let semantics = policy.semantics(Step::StealTake);
        let found = w.compare_exchange(self.variables, head_at, head, head.wrapping_add(1), semantics).await;
        if found != head {
            return Theft::Lost;
        }
        Theft::Task(w.load(self.slots, self.slot(queue, head)).await)
    }

    /// Says that the queue starts with its first `tasks` slots in the next
    /// kernel. `w` has one active lane.
    pub fn refill(&self, w: &Wave, queue: u32, tasks: u32) {
        let next = Queues { set: (self.set + 1) % SETS, ..*self };
        w.atomic_store(self.variables, next.head(queue), 0, self.policy.semantics(Step::RefillHead));
        w.atomic_store(self.variables, next.tail(queue), tasks, self.policy.semantics(Step::RefillTail));
    }
}
