//! The queues that several wavefronts share: those of work-groups and of the
//! device.
//!
//! A ring of slots, each with a sequence number that says whose turn it is:
//! position `p` may be written when the slot says `p`, and read when it says
//! `p + 1`. A giver draws its position from the tail; a taker wins its own by a
//! compare-exchange of the head. So nobody waits for a lock.
//!
//! The atomics are relaxed and all at the scope of the queue. What orders the
//! tasks are two fences of the whole wavefront at the same scope: its lanes
//! wrote them, and those of the taker read them.
//!
//! Beside head and tail stands a count of who may still make tasks: see
//! [`super::worker`].

use kernel::prelude::*;
use proto::words::counted;

use super::front::Entry;

const HEAD: u64 = 0;
const TAIL: u64 = 1;
const BUSY: u64 = 2;
/// Variables of a ring.
const VARIABLES: u64 = 3;

/// One queue. A value that kernels carry along freely.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ring {
    variables: Array<u32>,
    slots: Array<u64>,
    capacity: u32,
    level: Level,
    /// Its name, and the setting of its capacity, for the error of an overflow.
    name: &'static str,
    setting: &'static str,
}

/// The variables of a ring as they were at one time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    head: u32,
    tail: u32,
    /// Who may still make tasks.
    pub(super) busy: u32,
}

impl Seen {
    /// How many entries there were.
    pub(super) fn len(self) -> u32 {
        self.tail.wrapping_sub(self.head)
    }
}

/// Several rings, in lines of their own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rings {
    variables: Array<u32>,
    slots: Array<u64>,
    capacity: u32,
    /// Elements from one ring to the next.
    variables_stride: u64,
    slots_stride: u64,
    level: Level,
    name: &'static str,
    setting: &'static str,
}

/// The turn of a slot that the giver of this position may write. It differs
/// from that of every full slot, also where a ring has one.
fn free(position: u32) -> u32 {
    position.wrapping_mul(2)
}

/// The turn of a slot that the taker of this position may read.
fn full(position: u32) -> u32 {
    free(position) | 1
}

impl Rings {
    /// Empty rings. `name` and `setting` appear in the error of an overflow.
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
    /// Puts entries in, before any kernel runs. Each is counted as busy.
    pub(super) async fn fill(&self, host: &Host, entries: &[Entry]) {
        let Ring { capacity, name, setting, .. } = self;
        let count = entries.len() as u32;
        if count > *capacity {
            host.fail(format!(
                "{name} holds {}, but starts with {count}: raise `{setting}`",
                counted((*capacity).into(), "task-front")
            ))
            .await;
        }
        let slot =
            |(position, entry): (u32, &Entry)| u64::from(full(position)) << 32 | u64::from(entry.pack());
        let slots: Vec<u64> = (0..).zip(entries).map(slot).collect();
        host.write(self.slots, &slots).await;
        host.write(self.variables, &[0, count, count]).await;
    }

    fn slot(&self, position: u32) -> u64 {
        u64::from(position % self.capacity)
    }

    /// Looks at its variables, by one access.
    pub(super) fn look(&self, w: &Wave) -> impl Future<Output = Seen> + use<> {
        let values = w.below(0, VARIABLES).atomic_load(self.variables, Unit(0), relaxed(self.level));
        async move {
            let values = values.await;
            let of = |variable: u64| values.get(variable as usize);
            Seen { head: of(HEAD), tail: of(TAIL), busy: of(BUSY) }
        }
    }

    /// Adds an entry. All that the wavefront has done so far comes before what
    /// its taker does.
    pub(super) async fn give(&self, w: &Wave, entry: Entry) {
        w.fence(release(self.level)).await;
        let (leader, order) = (w.leader(), relaxed(self.level));
        let tail = leader.fetch_add(self.variables, TAIL, 1, order).await;
        while (leader.atomic_load(self.slots, self.slot(tail), order).await >> 32) as u32 != free(tail) {
            // Its last taker may not have said yet that it is free.
            let head = self.look(w).await.head;
            if tail.wrapping_sub(head) >= self.capacity {
                let Ring { capacity, name, setting, .. } = self;
                let holds = counted((*capacity).into(), "task-front");
                w.fail(format!("{name} overflows: it holds {holds}; raise `{setting}`")).await;
            }
        }
        let turn = u64::from(full(tail)) << 32;
        leader.atomic_store(self.slots, self.slot(tail), turn | u64::from(entry.pack()), order).await;
    }

    /// Takes the oldest entry, if there is one.
    pub(super) async fn take(&self, w: &Wave, seen: Seen) -> Option<Entry> {
        let (leader, order) = (w.leader(), relaxed(self.level));
        let Seen { mut head, tail, .. } = seen;
        loop {
            if tail.wrapping_sub(head) as i32 <= 0 {
                return None;
            }
            let slot = leader.atomic_load(self.slots, self.slot(head), order).await;
            let next = head.wrapping_add(1);
            if (slot >> 32) as u32 != full(head) {
                // Not written yet, or somebody else has taken it.
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

    /// One more may make tasks; were there any before?
    pub(super) async fn join(&self, w: &Wave) -> bool {
        w.leader().fetch_add(self.variables, BUSY, 1, relaxed(self.level)).await > 0
    }

    /// One less may make tasks; was it the last?
    pub(super) async fn leave(&self, w: &Wave) -> bool {
        w.leader().fetch_add(self.variables, BUSY, u32::MAX, relaxed(self.level)).await == 1
    }

    /// One more or one less, where nobody asks.
    pub(super) fn count(&self, w: &Wave, change: i32) {
        w.leader().update(self.variables, BUSY, RmwKind::Add, change as u32, relaxed(self.level));
    }
}
