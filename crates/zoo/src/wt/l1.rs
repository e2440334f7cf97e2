//! The L1 of a compute unit in `wt`.

use super::plans::L1Plans;
use crate::parts::{HasBankMessages, ToL1};
use crate::vi::{self, Step};
use proto::{Controller, Cx, Disposition, Hit, Homes, Input, KindLevel, Load};

/// The L1 of a compute unit: the cache of [`crate::vi`] with the plans of `wt`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct L1(vi::L1);

impl L1 {
    /// An empty cache without outstanding operations.
    #[must_use]
    pub fn new(level: &KindLevel) -> Self {
        L1(vi::L1::new(level, &()))
    }
}

impl<P: HasBankMessages> Controller<P> for L1 {
    type Msg = ToL1;

    fn step(&mut self, input: Input<'_, ToL1>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Request(ask) => {
                let disposition = cx.follow::<L1Plans>(ask, |step, cx| self.0.perform(step, ask, cx));
                self.0.drain_if_due(cx);
                disposition
            }
            other => self.0.step(other, cx),
        }
    }

    #[inline]
    fn hit(&self, load: &Load, homes: &Homes) -> Option<Hit<'_>> {
        self.0.hit::<L1Plans>(load, homes, Step::Here)
    }

    proto::delegate! { 0: victims, occupied, limit_ways, lines, is_quiet, miscount, canonicalize }
}
