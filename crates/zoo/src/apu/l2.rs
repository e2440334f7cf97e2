//! A bank of the GPU's L2, over a stateless directory.

use super::{Stateless, ToDirectory, ToL2};
use crate::parts::{HasBankMessages, NextLevel, ToL1};
use crate::vi::Bank;
use proto::{Controller, Cx, Disposition, Input, KindLevel, Wrap};

/// A bank of the GPU's L2: the bank of [`crate::vi`] over the directory. The directory invalidates a
/// line before a host writes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct L2(Bank<NextLevel>);

impl L2 {
    /// An empty bank without outstanding operations.
    #[must_use]
    pub fn new(level: &KindLevel) -> Self {
        L2(Bank::new(level, &()))
    }
}

impl<P: Stateless + HasBankMessages + proto::Protocol<Msg: Wrap<ToDirectory>>> Controller<P> for L2 {
    type Msg = ToL2;

    fn step(&mut self, input: Input<'_, ToL2>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Message { from, msg: ToL2::Above(msg) } => self.0.step(Input::Message { from, msg }, cx),
            Input::Message { msg: ToL2::Below(ToL1::Data { line, data }), .. } => {
                self.0.filled(*line, data, cx)
            }
            Input::Message { msg: ToL2::Below(ToL1::WriteAck { parity }), .. } => self.0.written(*parity, cx),
            Input::Message { msg: ToL2::Below(ToL1::Done { .. } | ToL1::BankDone { .. }), .. } => {
                Disposition::Impossible("the answer is for a compute unit")
            }
            Input::Message { from, msg: &ToL2::Invalidate { line } } => {
                let disposition = self.0.invalidate_line(line, cx);
                if disposition == Disposition::Done {
                    cx.fx.send(from, ToDirectory::Invalidated { line });
                }
                disposition
            }
            Input::Evict(way) => self.0.step(Input::Evict(way), cx),
            Input::Timer(class) => self.0.step(Input::Timer(class), cx),
            Input::Memory(_) => Disposition::Impossible("the directory is below an L2, not memory"),
            Input::Request(_) => Disposition::Impossible("cores send no requests to an L2"),
            Input::Tick { .. } => Disposition::Done,
        }
    }

    proto::delegate! { 0: victims, occupied, lines, is_quiet, miscount, canonicalize }
}
