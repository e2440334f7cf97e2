//! Task-fronts. A task-front is a group of tasks, as many as a wavefront has lanes. All its tasks
//! call the same function.
//!
//! A task-front has a fixed place in memory, and queues pass its number. Word `k` of the task in
//! slot `s` is at `k * lanes + s`. The lanes of a wavefront therefore access consecutive words of a
//! task-front.

use kernel::prelude::*;
use proto::words::counted;

/// An entry of a queue: the number of a task-front, its function and its number of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) front: u32,
    pub(super) function: u32,
    /// The number of tasks in the task-front (group of tasks), from 1 to 64.
    pub(super) tasks: u32,
}

/// The maximum number of task-fronts (groups of tasks). An entry of a queue has 20 bits for the
/// number of a task-front.
pub(super) const FRONTS_MAX: u64 = 1 << 20;
/// The maximum number of functions. An entry of a queue has 6 bits for the number of a function.
pub(super) const FUNCTIONS_MAX: usize = 1 << 6;

impl Entry {
    pub(super) fn pack(self) -> u32 {
        self.front | self.function << 20 | (self.tasks - 1) << 26
    }

    pub(super) fn unpack(bits: u32) -> Entry {
        Entry { front: bits & 0xf_ffff, function: bits >> 20 & 0x3f, tasks: (bits >> 26) + 1 }
    }
}

/// The arrays that hold all task-fronts (groups of tasks).
#[derive(Clone, Copy, Debug)]
pub(super) struct Fronts<const WORDS: usize> {
    words: Array<u32>,
    /// The number of task-fronts (groups of tasks) that have been allocated so far.
    taken: Array<u32>,
    count: u32,
    lanes: u32,
}

impl<const WORDS: usize> Fronts<WORDS> {
    pub(super) fn alloc(host: &Host, count: u32) -> Self {
        let lanes = host.shape().lanes;
        let words = host.alloc("task-fronts", u64::from(count) * u64::from(lanes) * WORDS as u64);
        Fronts { words, taken: host.alloc("task-fronts-taken", 1), count, lanes }
    }

    pub(super) fn uses(&self) -> [kernel::Use; 2] {
        [self.words.read_write(), self.taken.read_write()]
    }

    fn place(&self, front: u32, word: usize) -> u64 {
        let lanes = u64::from(self.lanes);
        u64::from(front) * lanes * WORDS as u64 + word as u64 * lanes
    }

    /// Puts tasks into the first task-fronts (groups of tasks) before any kernel runs. All tasks of
    /// a task-front call the same function. Returns a queue entry for each of these task-fronts.
    pub(super) async fn fill(&self, host: &Host, tasks: &[(usize, [u32; WORDS])]) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut words = Vec::new();
        let mut functions: Vec<usize> = tasks.iter().map(|task| task.0).collect();
        functions.sort_unstable();
        functions.dedup();
        for function in functions {
            let of: Vec<_> = tasks.iter().filter(|task| task.0 == function).map(|task| task.1).collect();
            for tasks in of.chunks(self.lanes as usize) {
                let front = entries.len() as u32;
                entries.push(Entry { front, function: function as u32, tasks: tasks.len() as u32 });
                for word in 0..WORDS {
                    let of = |slot: usize| tasks.get(slot).map_or(0, |task| task[word]);
                    words.extend((0..self.lanes as usize).map(of));
                }
            }
        }
        if entries.len() > self.count as usize {
            let (needed, count) = (entries.len(), self.count);
            host.fail(format!(
                "the first tasks need {}, but only {count} exist: raise `fronts`",
                counted(needed as u64, "task-front")
            ))
            .await;
        }
        host.write(self.words, &words).await;
        host.write(self.taken, &[entries.len() as u32]).await;
        entries
    }

    /// Allocates a task-front (a group of tasks) that was never used. Returns its number.
    async fn alloc_front(&self, w: &Wave) -> u32 {
        let front = w.leader().fetch_add(self.taken, 0, 1, relaxed(Level::Device)).await;
        if front >= self.count {
            let all = match self.count {
                1 => String::from("the only task-front is"),
                count => format!("all {count} task-fronts are"),
            };
            w.fail(format!("{all} in use: raise `fronts`")).await;
        }
        front
    }

    /// Writes the task of each active lane into consecutive slots of a task-front (a group of
    /// tasks), from slot `first`. The active lanes of `w` must be the lowest ones.
    pub(super) fn write(&self, w: &Wave, front: u32, first: u32, tasks: &[Lanes<u32>; WORDS]) {
        for (word, values) in tasks.iter().enumerate() {
            w.store(self.words, Unit(self.place(front, word) + u64::from(first)), *values);
        }
    }

    /// Writes the task of each active lane into a slot of the task-front `front` (a group of
    /// tasks). `slots` has the number of the slot for each lane.
    pub(super) fn scatter(&self, w: &Wave, front: u32, slots: &Lanes<u32>, tasks: &[Lanes<u32>; WORDS]) {
        for (word, values) in tasks.iter().enumerate() {
            let at = *slots + self.place(front, word) as u32;
            w.store(self.words, at, *values);
        }
    }

    /// Reads the tasks of a task-front (a group of tasks), one into each active lane.
    pub(super) async fn read(&self, w: &Wave, front: u32) -> [Lanes<u32>; WORDS] {
        let loading: [_; WORDS] =
            core::array::from_fn(|word| w.load(self.words, Unit(self.place(front, word))));
        let mut tasks = [Lanes::default(); WORDS];
        for (to, from) in tasks.iter_mut().zip(loading) {
            *to = from.await;
        }
        tasks
    }
}

/// The empty task-fronts (groups of tasks) that a wavefront can use again. They form a list: each
/// of them holds the number of the next one. No other wavefront accesses them.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpareFronts {
    first: Option<u32>,
}

/// The number that ends the list of empty task-fronts (groups of tasks).
const NO_FRONT: u32 = u32::MAX;

impl SpareFronts {
    pub(super) const NONE: SpareFronts = SpareFronts { first: None };

    pub(super) fn give<const WORDS: usize>(&mut self, w: &Wave, fronts: &Fronts<WORDS>, front: u32) {
        let next = self.first.unwrap_or(NO_FRONT);
        w.store(fronts.words, fronts.place(front, 0), next);
        self.first = Some(front);
    }

    pub(super) async fn take<const WORDS: usize>(&mut self, w: &Wave, fronts: &Fronts<WORDS>) -> u32 {
        let Some(front) = self.first else { return fronts.alloc_front(w).await };
        let next = w.load(fronts.words, fronts.place(front, 0)).await;
        self.first = (next != NO_FRONT).then_some(next);
        front
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_packed_without_loss_up_to_its_bounds() {
        let last = FRONTS_MAX as u32 - 1;
        for (front, function, tasks) in [(0, 0, 1), (last, FUNCTIONS_MAX as u32 - 1, 64), (77, 3, 9)] {
            let entry = Entry { front, function, tasks };
            assert_eq!(Entry::unpack(entry.pack()), entry);
        }
    }
}
