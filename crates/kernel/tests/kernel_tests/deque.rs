//! A work-stealing deque with scopes, divergence and compare-exchange loops. The owner pushes and
//! pops at the tail, thieves take at the head. A compare-exchange decides which of them gets the
//! last task.

use kernel::prelude::*;
use kernel::reference::{self, Options, Schedule};

const CAPACITY: u64 = 64;

/// The deques of all work-groups in three arrays. Each work-group owns one deque. `own` is the
/// scope of the owner's accesses. Thieves (other work-groups) always use device scope.
#[derive(Clone, Copy)]
struct Deques {
    tasks: Array<u32>,
    head: Array<u32>,
    tail: Array<u32>,
    own: Level,
}

impl Deques {
    async fn push(&self, w: &Wave, queue: u64, task: u32) {
        let tail = w.atomic_load(self.tail, queue, relaxed(self.own)).await;
        let head = w.atomic_load(self.head, queue, acquire(self.own)).await;
        if u64::from(tail.wrapping_sub(head)) >= CAPACITY {
            w.fail(format!("deque {queue} is full: {CAPACITY} tasks")).await;
        }
        w.store(self.tasks, queue * CAPACITY + u64::from(tail) % CAPACITY, task).await;
        w.atomic_store(self.tail, queue, tail.wrapping_add(1), release(self.own)).await;
    }

    async fn pop(&self, w: &Wave, queue: u64) -> Option<u32> {
        let tail = w.atomic_load(self.tail, queue, relaxed(self.own)).await.wrapping_sub(1);
        w.atomic_store(self.tail, queue, tail, relaxed(self.own)).await;
        w.fence(seq_cst(self.own)).await;
        let head = w.atomic_load(self.head, queue, relaxed(self.own)).await;
        let left = tail.wrapping_sub(head) as i32;
        if left < 0 {
            w.atomic_store(self.tail, queue, head, relaxed(self.own)).await;
            return None;
        }
        let task = w.load(self.tasks, queue * CAPACITY + u64::from(tail) % CAPACITY).await;
        if left > 0 {
            return Some(task);
        }
        let won = w.compare_exchange(self.head, queue, head, head.wrapping_add(1), seq_cst(self.own)).await;
        w.atomic_store(self.tail, queue, head.wrapping_add(1), relaxed(self.own)).await;
        (won == head).then_some(task)
    }

    async fn steal(&self, w: &Wave, queue: u64) -> Option<u32> {
        let device = Level::Device;
        let head = w.atomic_load(self.head, queue, acquire(device).remote()).await;
        w.fence(seq_cst(device)).await;
        let tail = w.atomic_load(self.tail, queue, acquire(device).remote()).await;
        if (tail.wrapping_sub(head) as i32) <= 0 {
            return None;
        }
        let task = w.load(self.tasks, queue * CAPACITY + u64::from(head) % CAPACITY).await;
        let sem = seq_cst(device).remote();
        let won = w.compare_exchange(self.head, queue, head, head.wrapping_add(1), sem).await;
        (won == head).then_some(task)
    }
}

/// Runs tasks until none is left. A task `n > 1` splits into `n / 2` and
/// `n - n / 2`; a task 1 is a leaf.
async fn worker(w: Wave, deques: Deques, seeds: Array<u32>, done: Array<u32>) {
    let own = u64::from(w.work_group());
    let queues = u64::from(w.work_groups());
    if w.index() == 0 {
        let seed = w.load(seeds, own).await;
        if seed > 0 {
            deques.push(&w, own, seed).await;
        }
    } else {
        return;
    }
    let total = seeds.len();
    let mut victim = own;
    while u64::from(w.atomic_load(done, queues, relaxed(Level::Device)).await) < total {
        let task = match deques.pop(&w, own).await {
            Some(task) => Some(task),
            None => {
                victim = (victim + 1) % queues;
                deques.steal(&w, victim).await
            }
        };
        match task {
            Some(1) => {
                w.fetch_add(done, own, 1, relaxed(Level::Device)).await;
                w.fetch_add(done, queues, 1, relaxed(Level::Device)).await;
            }
            Some(n) => {
                deques.push(&w, own, n / 2).await;
                deques.push(&w, own, n - n / 2).await;
            }
            None => {}
        }
    }
}

#[test]
fn each_task_of_a_work_stealing_deque_is_done_once() {
    const QUEUES: u64 = 4;
    const TASKS: u32 = 200;
    let mut stolen = 0;
    for seed in 0..20 {
        let program = Program::new("stealing", |host| async move {
            let deques = Deques {
                tasks: host.alloc("tasks", QUEUES * CAPACITY),
                head: host.alloc("head", QUEUES),
                tail: host.alloc("tail", QUEUES),
                own: Level::Device,
            };
            let seeds = host.alloc::<u32>("seeds", u64::from(TASKS));
            let done = host.alloc::<u32>("done", QUEUES + 1);
            host.write(seeds, &[TASKS]).await;
            let kernel = Kernel::new("worker", move |w| worker(w, deques, seeds, done));
            host.launch(kernel, Grid::new(QUEUES as u32, 2)).await;
            Answer::new().with_array("done", &host, done).await
        });
        let options = Options { schedule: Schedule::Seeded(seed), ..Options::default() };
        let answer = match reference::run(program, &options) {
            Ok(outcome) => outcome.answer,
            Err(error) => panic!("seed {seed}: {error}"),
        };
        let done = answer.get::<u32>("done").unwrap_or_default();
        assert_eq!(done[QUEUES as usize], TASKS, "seed {seed}");
        assert_eq!(done[..QUEUES as usize].iter().sum::<u32>(), TASKS, "seed {seed}");
        stolen += done[1..QUEUES as usize].iter().sum::<u32>();
    }
    assert!(stolen > 0, "no task was stolen");
}
