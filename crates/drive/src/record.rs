//! A driver that chooses nothing and writes everything down.

use crate::interpreter::Driver;
use crate::nodes::At;
use proto::{LineData, MemoryOp, Protocol, SetIndex, Slot, Spending, TimerClass, Uses, Way};

/// What a step did. Ways are not given up in it: an input that needs one waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record<P: Protocol> {
    /// Messages and who gets them.
    pub sends: Vec<(At, P::Msg)>,
    /// Operations on memory.
    pub memory: Vec<MemoryOp>,
    /// Timers.
    pub timers: Vec<TimerClass>,
    /// Sets of which inputs wait for a way.
    pub needs: Vec<SetIndex>,
    /// Ways used, in order.
    pub touches: Vec<Way>,
    /// Answers.
    pub replies: Vec<(Slot, Option<LineData>)>,
    /// On what requests spend their time from now on.
    pub spends: Vec<(Slot, Spending)>,
    /// What the step used.
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
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.sends.clear();
        self.memory.clear();
        self.timers.clear();
        self.needs.clear();
        self.touches.clear();
        self.replies.clear();
        self.spends.clear();
    }

    /// Has the step done nothing that others could notice?
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
    fn asked(&mut self, _: At, ops: &mut Vec<MemoryOp>) {
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
