//! The way from a compute unit to the L2 banks: steps and bookkeeping that a
//! first-level cache and a bare port share.

use super::BANK;
use super::msg::{Answer, ToBank, ToL1};
use proto::parts::{AckCounts, Popped, StoreBuffer, Waits};
use proto::{
    Ask, Cause, Cx, Disposition, Effects, Key, LineAddr, NodeId, Order, Protocol, Shape, Slot, Spending,
    symbols,
};

symbols! {
    /// The steps of operations. A protocol's plans use some of them.
    pub enum Step {
        /// Perform the access on the line in this cache, and answer: what follows is for an access that cannot be.
        Here,
        /// Write the line's dirty bytes out and drop it: the access below comes first.
        Pass,
        /// Perform the access at the L2 and wait for it.
        Below,
        /// Perform the access at memory and wait for it.
        BelowSystem,
        /// Send the access to the L2; only a later flush waits for it.
        Post,
        /// Wait until all that was written here has reached the L2.
        Flush,
        /// Wait until all that was written to the L2 has reached memory.
        FlushBanks,
        /// Drop what is clean in this cache.
        Invalidate,
        /// Drop what is clean in the L2.
        InvalidateBanks,
        /// Answer the request.
        AnswerIt,
        /// Wait for the remote operations under way that hold read-modify-writes back.
        Unlocked,
        /// Hold back all read-modify-writes in this and every other L1.
        LockAll,
        /// Let them go on.
        UnlockAll,
        /// Wait until all that was written in every other L1 has reached the L2.
        FlushOthers,
        /// Drop what is clean in every other L1.
        InvalidateOthers,
    }
}

impl Step {
    /// Says on what a request spends its time from this step on.
    pub fn spends<M>(self, ask: Ask<'_>, fx: &mut Effects<M>) {
        if ask.req.order == Order::Plain {
            return;
        }
        match self {
            Step::Flush | Step::FlushBanks => fx.spend(ask.slot, Spending::Release),
            Step::Invalidate | Step::InvalidateBanks => fx.spend(ask.slot, Spending::Acquire),
            Step::Here | Step::Pass | Step::Below | Step::BelowSystem | Step::Post => {
                fx.spend(ask.slot, Spending::Access);
            }
            // The answer leaves when the step before it is done. What is done
            // to other caches belongs to the acquire or to the release.
            Step::AnswerIt
            | Step::Unlocked
            | Step::LockAll
            | Step::UnlockAll
            | Step::FlushOthers
            | Step::InvalidateOthers => {}
        }
    }
}

/// What is under way between a compute unit and the banks. `W` names who may
/// wait for a flush.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lower<W = Slot> {
    /// Lines that must leave, flushes, and writes not yet acknowledged.
    pub buffer: StoreBuffer<W>,
    banks_due: AckCounts,
}

impl<W> Default for Lower<W> {
    fn default() -> Self {
        Lower { buffer: StoreBuffer::default(), banks_due: AckCounts::default() }
    }
}

/// The bank of a line.
pub(super) fn bank<P: Protocol>(cx: &Cx<'_, P>, line: LineAddr) -> NodeId {
    NodeId { kind: BANK, index: cx.world.homes.bank(line) }
}

/// The request has sent for something: it goes on when that has come.
fn go_on_later<P: Protocol>(slot: Slot, cx: &mut Cx<'_, P>) -> Disposition {
    cx.stage += 1;
    Disposition::Stall(Key::Slot(slot))
}

/// [`Step::AnswerIt`].
pub fn answer<P: Protocol>(ask: Ask<'_>, cx: &mut Cx<'_, P>) {
    match ask.req.reads() {
        true => cx.fx.reply(ask.slot, *ask.data),
        false => cx.fx.accept(ask.slot),
    }
}

impl<W: Copy + Eq> Lower<W> {
    /// [`Step::Below`] and [`Step::BelowSystem`].
    pub fn below<P>(&mut self, ask: Ask<'_>, system: bool, cx: &mut Cx<'_, P>) -> Disposition
    where
        P: Protocol<Msg: From<ToBank>>,
    {
        cx.fx.uses.bypasses += 1;
        self.send(ask, system, Answer::Request(ask.slot), cx);
        go_on_later(ask.slot, cx)
    }

    /// [`Step::Post`].
    pub fn post<P>(&mut self, ask: Ask<'_>, cx: &mut Cx<'_, P>)
    where
        P: Protocol<Msg: From<ToBank>>,
    {
        cx.fx.uses.bypasses += 1;
        let parity = self.buffer.acks.sent();
        self.send(ask, false, Answer::Posted { parity }, cx);
    }

    fn send<P>(&mut self, ask: Ask<'_>, system: bool, answer: Answer, cx: &mut Cx<'_, P>)
    where
        P: Protocol<Msg: From<ToBank>>,
    {
        let req = ask.req;
        let to = bank(cx, req.line);
        let access =
            ToBank::Access { line: req.line, mask: req.mask, data: req.data, op: req.op, system, answer };
        cx.fx.send(to, access);
    }

    /// [`Step::Flush`]: `None` if there is nothing to wait for.
    pub fn flush<P: Protocol>(&mut self, ask: Ask<'_>, cx: &mut Cx<'_, P>) -> Option<Disposition>
    where
        W: From<Slot>,
    {
        cx.fx.uses.flushes.count(Cause::of(ask.req));
        if self.buffer.flush(ask.slot.into()) {
            return None;
        }
        Some(go_on_later(ask.slot, cx))
    }

    /// A flush for somebody else, who is told when it is finished: at once, if
    /// there is nothing to wait for.
    pub fn flush_for<P: Protocol>(&mut self, waiter: W, cx: &mut Cx<'_, P>)
    where
        W: Waits<P>,
    {
        cx.fx.uses.flushes.count(Cause::Remote);
        if self.buffer.flush(waiter) {
            waiter.flushed(cx);
        }
    }

    /// [`Step::FlushBanks`] and [`Step::InvalidateBanks`]: the same word to
    /// every bank.
    pub fn tell_banks<P>(
        &mut self,
        slot: Slot,
        shape: &Shape,
        word: impl Fn(Slot) -> ToBank,
        cx: &mut Cx<'_, P>,
    ) -> Option<Disposition>
    where
        P: Protocol<Msg: From<ToBank>>,
    {
        let banks = (0..shape.banks).map(|index| NodeId { kind: BANK, index });
        self.banks_due.tell(slot, banks, word, cx)
    }

    /// A message that is not a fill. `false` means that nothing was due.
    pub fn message<P: Protocol>(&mut self, msg: &ToL1, cx: &mut Cx<'_, P>) -> bool
    where
        W: Waits<P>,
    {
        match *msg {
            ToL1::Data { .. } => false,
            ToL1::WriteAck { parity } => {
                let mut finished = Vec::new();
                let due = self.buffer.acked(parity, &mut finished);
                finished.into_iter().for_each(|waiter: W| waiter.flushed(cx));
                due
            }
            ToL1::Done { slot, data, .. } => {
                cx.fx.resume_with(slot, data);
                true
            }
            ToL1::BankDone { slot } => self.banks_due.answered(slot, cx),
        }
    }

    /// Takes the oldest line out of the buffer; flushes that finish go on.
    pub fn pop<P: Protocol>(&mut self, cx: &mut Cx<'_, P>) -> Option<LineAddr>
    where
        W: Waits<P>,
    {
        let mut finished = Vec::new();
        let popped = self.buffer.pop(&mut finished);
        finished.into_iter().for_each(|waiter: W| waiter.flushed(cx));
        match popped {
            Popped::Line(line) => Some(line),
            Popped::Blocked | Popped::Empty => None,
        }
    }

    /// Is nothing under way?
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.buffer.is_quiet() && self.banks_due.is_idle()
    }

    /// Equal values have one form.
    pub fn canonicalize(&mut self) {
        self.buffer.canonicalize();
    }
}
