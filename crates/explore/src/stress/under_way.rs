//! What is under way on a machine, and what can happen next.

use super::queues::Queues;
use drive::At;
use proto::{LineData, MemoryOp, SetIndex, Slot, Symbol as _, TimerClass};

/// What can happen next. Nodes and wavefronts are numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// A message arrives: the oldest, where channels keep order.
    Deliver {
        from: u8,
        to: u8,
    },
    /// Memory does what a node has asked for first.
    Memory(u8),
    Timer(u8, TimerClass),
    /// A node waits for a time.
    Deadline(u8),
    /// A node must give up a way of a set.
    Need(u8, SetIndex),
    /// A wavefront may go on.
    Wave(u8),
}

/// What is under way, and what can happen next.
pub(crate) struct UnderWay {
    /// How many nodes there are.
    pub(super) count: usize,
    /// By sender and receiver: the messages under way.
    pub(super) channels: Queues<(u32, u64)>,
    /// By node: what memory is to do for it. All that is on its way is here with
    /// the time at which it was sent.
    pub(super) asked: Queues<(MemoryOp, u64)>,
    /// By node: the timers that run, a bit a class.
    pub(super) timers: Vec<u8>,
    pub(super) ready: Vec<Event>,
    /// How many of those are deadlines or timers that run for ever: nobody may be
    /// waiting for them.
    pub(super) periodic: usize,
    /// How many ticks have passed.
    pub(super) now: u64,
    /// By node: the time that it waits for, if it waits for one.
    pub(super) due: Vec<Option<u64>>,
    /// The last answers, until they are looked at.
    pub(super) replies: Vec<(Slot, Option<LineData>)>,
}

impl UnderWay {
    /// Nothing, among so many nodes.
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

    /// Forgets everything but times and answers.
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

    /// Memory is asked.
    #[inline]
    pub(super) fn asked(&mut self, from: At, ops: &mut Vec<MemoryOp>) {
        for op in ops.drain(..) {
            self.asked.push(from as usize, (op, self.now));
            self.ready.push(Event::Memory(from as u8));
        }
    }

    /// A timer is asked for.
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

    /// A node must hear of the time then.
    pub(super) fn wait_until(&mut self, at: At, time: u64) {
        let due = &mut self.due[at as usize];
        if due.is_none() {
            self.periodic += 1;
            self.ready.push(Event::Deadline(at as u8));
        }
        *due = Some(due.map_or(time, |due| due.min(time)));
    }
}
