//! The queues that several wavefronts share: those of work-groups and that of the device.
//!
//! A queue is a ring of slots with sequence numbers. The sequence number of a slot permits either
//! the write or the read of one position: see [`free`] and [`full`]. A wavefront that gives an
//! entry gets its position by an increment of the tail. A wavefront that takes an entry gets its
//! position by a compare-exchange of the head. There is no lock.
//!
//! All atomics are relaxed, at the scope of the queue. Two fences at that scope order the tasks.
//! The first is made by the whole giving wavefront, whose lanes wrote the tasks, and the second by
//! the whole taking wavefront, whose lanes read the tasks.
//!
//! In addition to head and tail, a queue has a count of those wavefronts or work-groups that may
//! still make tasks, and the queue of the device a count of the wavefronts that run tasks: see
//! [`super::worker`].

use kernel::prelude::*;
use proto::words::counted;

use super::front::Entry;

const HEAD: u64 = 0;
const TAIL: u64 = 1;
const BUSY: u64 = 2;
const RUNNING: u64 = 3;
/// The number of variables of a ring: head, tail, the count of possible producers of tasks, and the
/// count of running wavefronts.
const VARIABLES: u64 = 4;

/// A shared queue. Kernels may copy this value: all copies share the same arrays in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ring {
    variables: Array<u32>,
    slots: Array<u64>,
    capacity: u32,
    level: Level,
    /// The name of the queue. The error for a full queue shows this name, and the name of the
    /// setting for the queue's capacity.
    name: &'static str,
    setting: &'static str,
}

/// The values of a ring's variables at one time.
#[derive(Clone, Copy, Debug)]
pub(super) struct RingSnapshot {
    head: u32,
    tail: u32,
    /// The count of possible producers: wavefronts or work-groups that may still make tasks.
    pub(super) busy: u32,
    /// The count of wavefronts that run tasks. Only the queue of the device has this count.
    pub(super) running: u32,
}

impl RingSnapshot {
    /// The number of entries in the queue.
    pub(super) fn len(self) -> u32 {
        self.tail.wrapping_sub(self.head)
    }
}

/// Several shared queues. No two of them share a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rings {
    variables: Array<u32>,
    slots: Array<u64>,
    capacity: u32,
    /// The distance in memory from the variables of one ring to those of the next, in elements.
    variables_stride: u64,
    slots_stride: u64,
    level: Level,
    name: &'static str,
    setting: &'static str,
}

/// The sequence number that permits to write the slot of this position. It differs from the
/// sequence number of every full slot, even in a ring of one slot.
fn free(position: u32) -> u32 {
    position.wrapping_mul(2)
}

/// The sequence number that permits to read the slot of this position.
fn full(position: u32) -> u32 {
    free(position) | 1
}

impl Rings {
    /// Allocates empty rings. The error for a full queue shows `name` and `setting`.
    pub(super) async fn alloc(
        host: &Host,
        count: u32,
        capacity: u32,
        level: Level,
        (name, setting): (&'static str, &'static str),
    ) -> Self {
        let line = u64::from(host.shape().line_bytes);
        let variables_stride = (line / 4).max(VARIABLES);
        let slots_stride = u64::from(capacity).next_multiple_of((line / 8).max(1));
        let variables = host.alloc(format!("{name}-variables"), u64::from(count) * variables_stride);
        let slots = host.alloc(format!("{name}-slots"), u64::from(count) * slots_stride);
        let turns: Vec<u64> =
            (0..slots_stride as u32).map(|position| u64::from(free(position)) << 32).collect();
        host.write(slots, &turns.repeat(count as usize)).await;
        Rings { variables, slots, capacity, variables_stride, slots_stride, level, name, setting }
    }

    pub(super) fn uses(&self) -> [kernel::Use; 2] {
        [self.variables.read_write(), self.slots.read_write()]
    }

    pub(super) fn ring(&self, number: u32) -> Ring {
        let part = |stride: u64| u64::from(number) * stride..u64::from(number + 1) * stride;
        Ring {
            variables: self.variables.slice(part(self.variables_stride)),
            slots: self.slots.slice(part(self.slots_stride)),
            capacity: self.capacity,
            level: self.level,
            name: self.name,
            setting: self.setting,
        }
    }
}

impl Ring {
    /// Adds entries before any kernel runs. Each entry also increments the count of possible
    /// producers: wavefronts or work-groups that may still make tasks.
    pub(super) async fn fill(&self, host: &Host, entries: &[Entry]) {
        let Ring { capacity, name, setting, .. } = self;
        let count = entries.len() as u32;
        if count > *capacity {
            host.fail(format!(
                "{name} holds at most {}, but the workload starts with {count}: raise `{setting}`",
                counted((*capacity).into(), "task-front")
            ))
            .await;
        }
        let slot =
            |(position, entry): (u32, &Entry)| u64::from(full(position)) << 32 | u64::from(entry.pack());
        let slots: Vec<u64> = (0..).zip(entries).map(slot).collect();
        host.write(self.slots, &slots).await;
        host.write(self.variables, &[0, count, count, 0]).await;
    }

    fn slot(&self, position: u32) -> u64 {
        u64::from(position % self.capacity)
    }

    /// Reads the variables of the ring: by one access, or by several if a wavefront has fewer lanes
    /// than there are variables. The values need not be of the same time. This is safe, because a
    /// wavefront that takes an entry checks the head and the slot again, and a count of zero stays
    /// zero.
    pub(super) fn look(&self, w: &Wave) -> impl Future<Output = RingSnapshot> + use<> {
        let (lanes, order) = (u64::from(w.lanes()), relaxed(self.level));
        let load = |base: u64| w.below(base, VARIABLES).atomic_load(self.variables, Unit(base), order);
        let parts: Vec<_> = (0..VARIABLES).step_by(lanes as usize).map(load).collect();
        async move {
            let mut values = [0; VARIABLES as usize];
            for (words, part) in values.chunks_mut(lanes as usize).zip(parts) {
                let part = part.await;
                words.iter_mut().enumerate().for_each(|(lane, word)| *word = part.get(lane));
            }
            let of = |variable: u64| values[variable as usize];
            RingSnapshot { head: of(HEAD), tail: of(TAIL), busy: of(BUSY), running: of(RUNNING) }
        }
    }

    /// Adds an entry. All earlier accesses of this wavefront are ordered before the accesses of the
    /// wavefront that takes the entry.
    pub(super) async fn give(&self, w: &Wave, entry: Entry) {
        w.fence(release(self.level)).await;
        let (leader, order) = (w.leader(), relaxed(self.level));
        let tail = leader.fetch_add(self.variables, TAIL, 1, order).await;
        while (leader.atomic_load(self.slots, self.slot(tail), order).await >> 32) as u32 != free(tail) {
            // The wavefront that took the last entry of this slot may not have freed the slot yet.
            let head = self.look(w).await.head;
            if tail.wrapping_sub(head) >= self.capacity {
                let Ring { capacity, name, setting, .. } = self;
                let holds = counted((*capacity).into(), "task-front");
                w.fail(format!("{name} overflows: it holds at most {holds}; raise `{setting}`")).await;
            }
        }
        let turn = u64::from(full(tail)) << 32;
        leader.atomic_store(self.slots, self.slot(tail), turn | u64::from(entry.pack()), order).await;
    }

    /// Takes the oldest entry. `None` if the queue is empty, or if the oldest entry cannot be taken
    /// now.
    pub(super) async fn take(&self, w: &Wave, seen: RingSnapshot) -> Option<Entry> {
        let (leader, order) = (w.leader(), relaxed(self.level));
        let RingSnapshot { mut head, tail, .. } = seen;
        loop {
            if tail.wrapping_sub(head) as i32 <= 0 {
                return None;
            }
            let slot = leader.atomic_load(self.slots, self.slot(head), order).await;
            let next = head.wrapping_add(1);
            if (slot >> 32) as u32 != full(head) {
                // The slot is not written yet, or another wavefront has taken it.
                return None;
            }
            let found = leader.compare_exchange(self.variables, HEAD, head, next, order).await;
            if found == head {
                w.fence(acquire(self.level)).await;
                let turn = u64::from(free(head.wrapping_add(self.capacity))) << 32;
                leader.atomic_store(self.slots, self.slot(head), turn, order).await;
                return Some(Entry::unpack(slot as u32));
            }
            head = found;
        }
    }

    /// Increments the count of possible producers, which are the wavefronts or work-groups that may
    /// still make tasks. Returns whether the count was nonzero before.
    pub(super) async fn join(&self, w: &Wave) -> bool {
        w.leader().fetch_add(self.variables, BUSY, 1, relaxed(self.level)).await > 0
    }

    /// Decrements the count of possible producers, which are the wavefronts or work-groups that may
    /// still make tasks. Returns whether the count is now zero.
    pub(super) async fn leave(&self, w: &Wave) -> bool {
        w.leader().fetch_add(self.variables, BUSY, u32::MAX, relaxed(self.level)).await == 1
    }

    /// Adds `change` to the count of possible producers: wavefronts or work-groups that may still
    /// make tasks.
    pub(super) fn count(&self, w: &Wave, change: i32) {
        w.leader().update(self.variables, BUSY, RmwKind::Add, change as u32, relaxed(self.level));
    }

    /// Changes the count of the wavefronts that run tasks.
    pub(super) fn count_running(&self, w: &Wave, change: i32) {
        w.leader().update(self.variables, RUNNING, RmwKind::Add, change as u32, relaxed(self.level));
    }
}
