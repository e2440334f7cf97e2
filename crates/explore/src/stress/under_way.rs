//! Messages and operations under way, and the possible next events.

use super::queues::Queues;
use drive::At;
use proto::{LineData, MemoryOp, SetIndex, Slot, Symbol as _, TimerClass};

/// A possible event. Nodes and wavefronts are numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// A message is delivered: the oldest one, in ordered channels.
    Deliver {
        from: u8,
        to: u8,
    },
    /// Memory performs the oldest operation of a node.
    Memory(u8),
    Timer(u8, TimerClass),
    /// A deadline of a node.
    Deadline(u8),
    /// A node must evict a way of a set.
    Need(u8, SetIndex),
    /// A wavefront may issue.
    Wave(u8),
}

/// Messages and operations under way, and the possible next events.
pub(crate) struct UnderWay {
    /// The number of nodes.
    pub(super) count: usize,
    /// By sender and receiver: the messages under way, with the times of sending.
    pub(super) channels: Queues<(u32, u64)>,
    /// By node: its operations at memory, with the times of sending.
    pub(super) asked: Queues<(MemoryOp, u64)>,
    /// By node: the running timers, one bit for each class.
    pub(super) timers: Vec<u8>,
    pub(super) ready: Vec<Event>,
    /// The number of those events that are deadlines or periodic timers: a wavefront may not
    /// wait for them.
    pub(super) periodic: usize,
    /// The current tick.
    pub(super) now: u64,
    /// By node: its next deadline.
    pub(super) due: Vec<Option<u64>>,
    /// The last answers, until they are processed.
    pub(super) replies: Vec<(Slot, Option<LineData>)>,
}

impl UnderWay {
    /// Nothing under way, among this many nodes.
    pub(super) fn new(count: usize) -> UnderWay {
        UnderWay {
            count,
            channels: Queues::new(count * count),
            asked: Queues::new(count),
            timers: vec![0; count],
            ready: Vec::new(),
            periodic: 0,
            now: 0,
            due: vec![None; count],
            replies: Vec::new(),
        }
    }

    /// Removes all but times and answers.
    pub(super) fn clear(&mut self) {
        self.channels.clear();
        self.asked.clear();
        self.timers.fill(0);
        self.ready.clear();
        self.periodic = 0;
    }

    /// A message is sent.
    #[inline]
    pub(super) fn sent(&mut self, from: At, to: At, msg: u32) {
        self.channels.push(from as usize * self.count + to as usize, (msg, self.now));
        self.ready.push(Event::Deliver { from: from as u8, to: to as u8 });
    }

    /// Operations are sent to memory.
    #[inline]
    pub(super) fn asked(&mut self, from: At, ops: &mut Vec<MemoryOp>) {
        for op in ops.drain(..) {
            self.asked.push(from as usize, (op, self.now));
            self.ready.push(Event::Memory(from as u8));
        }
    }

    /// A timer is started.
    #[inline]
    pub(super) fn armed(&mut self, at: At, class: TimerClass) {
        let (timers, bit) = (&mut self.timers[at as usize], 1 << class.index());
        if *timers & bit == 0 {
            *timers |= bit;
            self.periodic += usize::from(class.is_periodic());
            self.ready.push(Event::Timer(at as u8, class));
        }
    }

    /// An input waits for a way of a set.
    #[inline]
    pub(super) fn needed(&mut self, at: At, set: SetIndex) {
        self.ready.push(Event::Need(at as u8, set));
    }

    /// Sets a deadline of a node.
    pub(super) fn wait_until(&mut self, at: At, time: u64) {
        let due = &mut self.due[at as usize];
        if due.is_none() {
            self.periodic += 1;
            self.ready.push(Event::Deadline(at as u8));
        }
        *due = Some(due.map_or(time, |due| due.min(time)));
    }
}
