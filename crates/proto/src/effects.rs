//! The effects of a controller's step outside the controller. The driver (such as the simulator)
//! carries them out.

use crate::contract::{MemoryAccess, MemoryOp, Message, Protocol, Wrap};
use crate::held::HeldRequest;
use crate::line::{LineAddr, LineData};
use crate::node::{Key, NodeId, SetIndex, Slot, TimerClass, Way};
use crate::table::Coverage;
use crate::uses::{Spending, Uses};

/// An effect of a step that the station (the controller with its parked inputs) carries out itself.
/// The driver (such as the simulator) does not see it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StationEffect {
    ReplyWaiters(LineAddr, LineData),
    Resume(Slot, Option<LineData>),
    Wake(Key),
    /// Arm a timer that expires after this number of ticks.
    Deadline(TimerClass, u32),
}

/// The maximum number of boxes of requests that are kept for reuse.
const SPARE_MAX: usize = 8;

/// All effects of a step outside its controller. The driver (such as the simulator) uses one value
/// of this type again and again, so a step allocates nothing.
#[derive(Debug)]
pub struct Effects<M> {
    /// Messages to send, each with its receiver, in order.
    pub sends: Vec<(NodeId, M)>,
    /// Answers to requests, each with the slot of its request. The bytes are `None` if the issuer
    /// expects no bytes.
    pub replies: Vec<(Slot, Option<LineData>)>,
    /// Operations to send to memory, in order.
    pub memory: Vec<MemoryOp>,
    /// Timers to arm. If a timer of the class already runs, its expiry does not change.
    pub timers: Vec<TimerClass>,
    /// Sets in which the driver (such as the simulator) must evict a way.
    pub needs: Vec<SetIndex>,
    /// Ways that the step used. The driver (such as the simulator) needs them to know how recently
    /// each way was used, because recency decides among victims of equal rank.
    pub touches: Vec<Way>,
    /// Counters of the step, for statistics.
    pub uses: Uses,
    /// Changes of the activity on which requests spend their time, each with the slot of its
    /// request. From now on, the time of the request counts as this activity; see
    /// [`Effects::spend`].
    pub spends: Vec<(Slot, Spending)>,
    /// The number of times that each row (the entry for one state and one event) of the protocol's
    /// tables was used.
    pub coverage: Coverage,
    /// The rule that the protocol violated at the last input: for example, the reason that the
    /// table gives for an impossible row. `None` if there was no violation.
    pub violation: Option<String>,
    pub(crate) inner: Vec<StationEffect>,
    /// A few boxes of requests that no longer wait, kept for reuse.
    #[expect(clippy::vec_box, reason = "boxes move between this list and stations")]
    pub(crate) spare: Vec<Box<HeldRequest>>,
}

impl<M> Default for Effects<M> {
    fn default() -> Self {
        Effects {
            sends: Vec::new(),
            replies: Vec::new(),
            memory: Vec::new(),
            timers: Vec::new(),
            needs: Vec::new(),
            touches: Vec::new(),
            uses: Uses::default(),
            spends: Vec::new(),
            coverage: Coverage::default(),
            violation: None,
            inner: Vec::new(),
            spare: Vec::new(),
        }
    }
}

impl<M> Effects<M> {
    /// Clears all effects except for the coverage, which counts the uses of table rows. Keeps the
    /// boxes for reuse.
    pub fn clear(&mut self) {
        self.sends.clear();
        self.replies.clear();
        self.memory.clear();
        self.timers.clear();
        self.needs.clear();
        self.touches.clear();
        self.uses = Uses::default();
        self.spends.clear();
        self.violation = None;
        self.inner.clear();
    }

    /// A box with this waiting request.
    pub(crate) fn boxed(&mut self, request: HeldRequest) -> Box<HeldRequest> {
        match self.spare.pop() {
            Some(mut boxed) => {
                *boxed = request;
                boxed
            }
            None => Box::new(request),
        }
    }

    /// Keeps a few boxes of requests that no longer wait.
    pub(crate) fn give_back(&mut self, boxed: Option<Box<HeldRequest>>) {
        if self.spare.len() < SPARE_MAX {
            self.spare.extend(boxed);
        }
    }

    /// Whether the step left no effect to carry out.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sends.is_empty()
            && self.replies.is_empty()
            && self.memory.is_empty()
            && self.timers.is_empty()
            && self.needs.is_empty()
            && self.violation.is_none()
            && self.inner.is_empty()
    }

    /// Records that the current input violates a rule. If one input causes several violations, only
    /// the first one is kept.
    pub(crate) fn violate<P: Protocol<Msg = M>>(&mut self, node: NodeId, why: &str) {
        let kind = P::KINDS.get(usize::from(node.kind)).map_or("?", |kind| kind.name);
        self.violation.get_or_insert_with(|| format!("{kind}[{}]: {why}", node.index));
    }

    /// Sends a message to a node.
    #[inline]
    pub fn send<X>(&mut self, to: NodeId, msg: X)
    where
        M: Wrap<X>,
    {
        self.sends.push((to, M::wrap(to.kind, msg)));
    }

    /// Drops one written byte of each message and memory operation of a step, for a seeded fault.
    /// The messages of the step begin at index `sends` of all messages. The memory operations of
    /// the step begin at index `memory` of all memory operations.
    pub(crate) fn forget_bytes(&mut self, (sends, memory): (usize, usize))
    where
        M: Message,
    {
        for (_, msg) in &mut self.sends[sends..] {
            msg.forget_byte();
        }
        for op in &mut self.memory[memory..] {
            if let MemoryAccess::Write { mask, .. } = &mut op.access {
                mask.forget_first();
            }
        }
    }

    /// Answers a request with bytes.
    #[inline]
    pub fn reply(&mut self, slot: Slot, data: LineData) {
        self.replies.push((slot, Some(data)));
    }

    /// Answers a request that expects no bytes.
    #[inline]
    pub fn accept(&mut self, slot: Slot) {
        self.replies.push((slot, None));
    }

    /// Answers all requests that wait for the fill of this line.
    #[inline]
    pub fn reply_waiters(&mut self, line: LineAddr, data: LineData) {
        self.inner.push(StationEffect::ReplyWaiters(line, data));
    }

    /// Presents the request in this slot to the controller again. The request must wait for an
    /// answer to its own slot, not for another event.
    #[inline]
    pub fn resume(&mut self, slot: Slot) {
        self.inner.push(StationEffect::Resume(slot, None));
    }

    /// Presents the request in this slot to the controller again, together with `data`. The station
    /// (the controller with its parked inputs) keeps `data` with the request. The request must wait
    /// for an answer to its own slot.
    #[inline]
    pub fn resume_with(&mut self, slot: Slot, data: LineData) {
        self.inner.push(StationEffect::Resume(slot, Some(data)));
    }

    /// Wakes the inputs that are parked under this key: they wait for the event that the key names.
    /// Presents these inputs to the controller again, oldest first, until one of them must wait for
    /// the same key again.
    #[inline]
    pub fn wake(&mut self, key: Key) {
        self.inner.push(StationEffect::Wake(key));
    }

    /// Attributes the time of a request from now on to the activity `on`, such as an acquire.
    /// Without a call, the time of a kernel's beginning counts as acquire, that of a kernel's end
    /// as release, and that of any other request as access. Only statistics depend on this.
    #[inline]
    pub fn spend(&mut self, slot: Slot, on: Spending) {
        self.spends.push((slot, on));
    }

    /// Arms a timer of this class. The driver (such as the simulator) knows its duration.
    /// Exception: a timer of a class whose durations the protocol gives ([`TimerClass::is_timed`])
    /// expires after one tick.
    #[inline]
    pub fn timer(&mut self, class: TimerClass) {
        if class.is_timed() {
            return self.timer_in(class, 1);
        }
        if !self.timers.contains(&class) {
            self.timers.push(class);
        }
    }

    /// Arms a timer that expires after `ticks` ticks (at least one). If a timer of the same class
    /// runs, the timer with the earlier expiry remains. Only clocked protocols have such timers.
    #[inline]
    pub fn timer_in(&mut self, class: TimerClass, ticks: u32) {
        self.inner.push(StationEffect::Deadline(class, ticks.max(1)));
    }
}
