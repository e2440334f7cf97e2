//! A driver that evicts no line and records all effects of a step of a controller.

use crate::interpreter::Driver;
use crate::nodes::At;
use proto::{LineData, MemoryOp, Protocol, SetIndex, Slot, Spending, TimerClass, Uses, Way};

/// A driver that records the effects of one step of a controller. The driver evicts no line, so an
/// input that needs a way of a full set keeps waiting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record<P: Protocol> {
    /// The messages that the controller's step sent, each with the position of its receiver.
    pub sends: Vec<(At, P::Msg)>,
    /// The operations that the controller's step requested from memory.
    pub memory: Vec<MemoryOp>,
    /// The classes (purposes) of the timers that the controller's step started.
    pub timers: Vec<TimerClass>,
    /// The cache sets in which inputs wait for a free way.
    pub needs: Vec<SetIndex>,
    /// The ways of the cache that the controller's step used, in order. From this list, a driver
    /// knows how recently each way was used.
    pub touches: Vec<Way>,
    /// The answers to requests: the slot of each request, and the bytes if there are any.
    pub replies: Vec<(Slot, Option<LineData>)>,
    /// The requests whose time is attributed to another part of their work from now on. Each
    /// request is given by its slot, with this part (access, acquire or release).
    pub spends: Vec<(Slot, Spending)>,
    /// The counters of the controller's step, such as accesses and hits.
    pub uses: Uses,
}

impl<P: Protocol> Default for Record<P> {
    fn default() -> Self {
        Record {
            sends: Vec::new(),
            memory: Vec::new(),
            timers: Vec::new(),
            needs: Vec::new(),
            touches: Vec::new(),
            replies: Vec::new(),
            spends: Vec::new(),
            uses: Uses::default(),
        }
    }
}

impl<P: Protocol> Record<P> {
    /// Clears all lists, so that the next step can be recorded. The counters keep their values.
    pub fn clear(&mut self) {
        self.sends.clear();
        self.memory.clear();
        self.timers.clear();
        self.needs.clear();
        self.touches.clear();
        self.replies.clear();
        self.spends.clear();
    }

    /// Whether the step had no effect outside its station (the controller that made the step).
    /// Three kinds of records do not count as effects: counters, used ways, and the attribution of
    /// time.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.sends.is_empty()
            && self.memory.is_empty()
            && self.timers.is_empty()
            && self.needs.is_empty()
            && self.replies.is_empty()
    }
}

impl<P: Protocol> Driver<P> for Record<P> {
    fn victim(&mut self, _: At, _: &P::Node, _: SetIndex, _: &[Way]) -> Option<Way> {
        None
    }
    fn touched(&mut self, _: At, ways: &[Way]) {
        self.touches.extend_from_slice(ways);
    }
    fn used(&mut self, _: At, uses: &Uses) {
        self.uses = *uses;
    }
    fn sent(&mut self, _: At, to: At, msg: P::Msg) {
        self.sends.push((to, msg));
    }
    fn requested(&mut self, _: At, ops: &mut Vec<MemoryOp>) {
        self.memory.append(ops);
    }
    fn armed(&mut self, _: At, class: TimerClass) {
        self.timers.push(class);
    }
    fn blocked(&mut self, _: At, set: SetIndex) {
        self.needs.push(set);
    }
    fn spent(&mut self, _: At, spends: &[(Slot, Spending)]) {
        self.spends.extend_from_slice(spends);
    }
    fn answered(&mut self, _: At, answers: &mut Vec<(Slot, Option<LineData>)>) {
        self.replies.append(answers);
    }
}
