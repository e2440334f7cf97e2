//! Messages and operations under way, and the possible next events.

use super::queues::Queues;
use drive::At;
use proto::{LineData, MemoryOp, SetIndex, Slot, Symbol as _, TimerClass};

/// An event that can occur next. Nodes and wavefronts are given by number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// A message is delivered. In ordered channels, it is the oldest message of the channel.
    Deliver {
        from: u8,
        to: u8,
    },
    /// Memory performs the oldest operation of a node.
    Memory(u8),
    Timer(u8, TimerClass),
    /// A deadline of a node passes: the node gets the ticks up to this time.
    Deadline(u8),
    /// A node must evict a way of a set.
    Need(u8, SetIndex),
    /// A wavefront may issue its next step.
    Wave(u8),
}

/// Messages and operations under way, and the possible next events.
pub(crate) struct UnderWay {
    /// The number of nodes of the machine.
    pub(super) count: usize,
    /// The messages under way from each sender to each receiver, with the times of sending.
    pub(super) channels: Queues<(u32, u64)>,
    /// The operations under way from each node to memory, with the times of sending.
    pub(super) memory_ops: Queues<(MemoryOp, u64)>,
    /// The running timers of each node, one bit for each class of timers.
    pub(super) timers: Vec<u8>,
    pub(super) ready: Vec<Event>,
    /// The number of possible events that are deadlines or periodic timers. If only such events are
    /// left, and nothing waits for them, the run has come to rest.
    pub(super) periodic: usize,
    /// The current time in ticks.
    pub(super) now: u64,
    /// The time of the next deadline of each node, or `None`.
    pub(super) due: Vec<Option<u64>>,
    /// The answers of the last step, until they are processed.
    pub(super) replies: Vec<(Slot, Option<LineData>)>,
}

impl UnderWay {
    /// The record for this number of nodes, with nothing under way.
    pub(super) fn new(count: usize) -> UnderWay {
        UnderWay {
            count,
            channels: Queues::new(count * count),
            memory_ops: Queues::new(count),
            timers: vec![0; count],
            ready: Vec::new(),
            periodic: 0,
            now: 0,
            due: vec![None; count],
            replies: Vec::new(),
        }
    }

    /// Removes all messages, operations, timers and possible events. Keeps the times and the
    /// answers.
    pub(super) fn clear(&mut self) {
        self.channels.clear();
        self.memory_ops.clear();
        self.timers.fill(0);
        self.ready.clear();
        self.periodic = 0;
    }

    /// Records that a message is sent.
    #[inline]
    pub(super) fn sent(&mut self, from: At, to: At, msg: u32) {
        self.channels.push(from as usize * self.count + to as usize, (msg, self.now));
        self.ready.push(Event::Deliver { from: from as u8, to: to as u8 });
    }

    /// Records that operations are sent to memory.
    #[inline]
    pub(super) fn requested(&mut self, from: At, ops: &mut Vec<MemoryOp>) {
        for op in ops.drain(..) {
            self.memory_ops.push(from as usize, (op, self.now));
            self.ready.push(Event::Memory(from as u8));
        }
    }

    /// Records that a timer of a node is started.
    #[inline]
    pub(super) fn armed(&mut self, at: At, class: TimerClass) {
        let (timers, bit) = (&mut self.timers[at as usize], 1 << class.index());
        if *timers & bit == 0 {
            *timers |= bit;
            self.periodic += usize::from(class.is_periodic());
            self.ready.push(Event::Timer(at as u8, class));
        }
    }

    /// Records that an input waits for a way of a set.
    #[inline]
    pub(super) fn needed(&mut self, at: At, set: SetIndex) {
        self.ready.push(Event::Need(at as u8, set));
    }

    /// Sets the next deadline of a node.
    pub(super) fn wait_until(&mut self, at: At, time: u64) {
        let due = &mut self.due[at as usize];
        if due.is_none() {
            self.periodic += 1;
            self.ready.push(Event::Deadline(at as u8));
        }
        *due = Some(due.map_or(time, |due| due.min(time)));
    }
}
