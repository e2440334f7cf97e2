//! What a step does to the outside, written down for the driver.

use crate::contract::{MemoryAccess, MemoryOp, Message, Protocol, Wrap};
use crate::line::{LineAddr, LineData};
use crate::node::{Key, NodeId, SetIndex, Slot, TimerClass, Way};
use crate::table::Coverage;
use crate::uses::{Spending, Uses};

/// What the station itself carries out after a step.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Inner {
    ReplyWaiters(LineAddr, LineData),
    Resume(Slot, Option<LineData>),
    Wake(Key),
    /// A timer that runs out when so many ticks have passed.
    Deadline(TimerClass, u32),
}

/// Everything a step does to the outside. Reused: no allocation a step.
#[derive(Debug)]
pub struct Effects<M> {
    /// Messages, in order.
    pub sends: Vec<(NodeId, M)>,
    /// Answers to requests: `None` where the issuer expects no bytes.
    pub replies: Vec<(Slot, Option<LineData>)>,
    /// Operations on memory, in order.
    pub memory: Vec<MemoryOp>,
    /// Timers asked for. Asking for one that runs already changes nothing.
    pub timers: Vec<TimerClass>,
    /// Sets in which the driver must give up a way.
    pub needs: Vec<SetIndex>,
    /// Ways used just now, for recency.
    pub touches: Vec<Way>,
    /// Arrays used.
    pub uses: Uses,
    /// On what requests spend their time from now on; see [`Effects::spend`].
    pub spends: Vec<(Slot, Spending)>,
    /// How often each row fired.
    pub coverage: Coverage,
    /// Broken by the last input: the reason of an impossible row.
    pub violation: Option<String>,
    pub(crate) inner: Vec<Inner>,
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
        }
    }
}

impl<M> Effects<M> {
    /// Forgets all but the coverage.
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

    /// Is there nothing to carry out?
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

    /// Notes what the controller has broken, unless something is noted already.
    pub(crate) fn violate<P: Protocol<Msg = M>>(&mut self, node: NodeId, why: &str) {
        let kind = P::KINDS.get(usize::from(node.kind)).map_or("?", |kind| kind.name);
        self.violation.get_or_insert_with(|| format!("{kind}[{}]: {why}", node.index));
    }

    /// Sends a message.
    #[inline]
    pub fn send<X>(&mut self, to: NodeId, msg: X)
    where
        M: Wrap<X>,
    {
        self.sends.push((to, M::wrap(to.kind, msg)));
    }

    /// Lets whatever carries written bytes forget one, of the messages and the
    /// operations on memory from these on: the checker is being checked.
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
        self.inner.push(Inner::ReplyWaiters(line, data));
    }

    /// Presents the request parked under its own slot again.
    #[inline]
    pub fn resume(&mut self, slot: Slot) {
        self.inner.push(Inner::Resume(slot, None));
    }

    /// Presents the request parked under its own slot again, with bytes that
    /// stay with it.
    #[inline]
    pub fn resume_with(&mut self, slot: Slot, data: LineData) {
        self.inner.push(Inner::Resume(slot, Some(data)));
    }

    /// Presents what is parked under this key again, oldest first, until one
    /// of them must park under the same key.
    #[inline]
    pub fn wake(&mut self, key: Key) {
        self.inner.push(Inner::Wake(key));
    }

    /// Says on what a request spends its time from now on. Until this is said,
    /// an access spends it on itself, the beginning of a kernel on its acquire
    /// and the end on its release. It changes nothing but statistics.
    #[inline]
    pub fn spend(&mut self, slot: Slot, on: Spending) {
        self.spends.push((slot, on));
    }

    /// Asks for a timer. The driver knows how long it runs.
    #[inline]
    pub fn timer(&mut self, class: TimerClass) {
        if class.is_timed() {
            return self.timer_in(class, 1);
        }
        if !self.timers.contains(&class) {
            self.timers.push(class);
        }
    }

    /// Asks for a timer that runs out when so many ticks have passed, at least
    /// one. Of two that are asked for under one class the earlier stays. Only
    /// protocols that look at the clock have any.
    #[inline]
    pub fn timer_in(&mut self, class: TimerClass, ticks: u32) {
        self.inner.push(Inner::Deadline(class, ticks.max(1)));
    }
}
