//! The outstanding operations of a compute unit at the banks.
//!
//! Some methods carry out a step in the plan of a request. Such a method returns `None` if the
//! request goes on with its next step at once. It returns a disposition if the request is parked
//! (must wait).

use super::{AccessSite, Answer, HasBankMessages, ToBank, ToL1};
use proto::parts::{AckCounts, FlushWaiter, Popped, StoreBuffer};
use proto::{Cause, Cx, Disposition, Key, LineAddr, Protocol, RequestInput, Slot, TimerClass, WritePolicy};

/// The outstanding operations of a compute unit at the banks. A value of the type `W` identifies a
/// waiter for a flush.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct LowerLevel<W = Slot> {
    /// The store buffer: the dirty lines, the flushes under way, and the outstanding writes.
    pub buffer: StoreBuffer<W>,
    banks_due: AckCounts,
    /// Waiters whose flush is complete. The controller itself must act for each of them.
    flushed: Vec<W>,
}

proto::clone_in_place! { [W: Clone] LowerLevel<W> { buffer, banks_due, flushed } }

impl<W> Default for LowerLevel<W> {
    fn default() -> Self {
        LowerLevel { buffer: StoreBuffer::default(), banks_due: AckCounts::default(), flushed: Vec::new() }
    }
}

/// Answers a request at the end of its plan (list of steps).
pub fn answer<P: Protocol>(ask: RequestInput<'_>, cx: &mut Cx<'_, P>) -> Option<Disposition> {
    match ask.req.reads() {
        true => cx.fx.reply(ask.slot, *ask.data),
        false => cx.fx.accept(ask.slot),
    }
    None
}

/// Parks a request (makes it wait) until an answer arrives. The request then goes on with the next
/// step of its plan.
fn park<P: Protocol>(slot: Slot, cx: &mut Cx<'_, P>) -> Option<Disposition> {
    cx.stage += 1;
    Some(Disposition::Stall(Key::Slot(slot)))
}

fn send<P: HasBankMessages>(ask: RequestInput<'_>, site: AccessSite, answer: Answer, cx: &mut Cx<'_, P>) {
    let req = ask.req;
    let (op, requester) = (req.op, cx.me);
    cx.fx.uses.bypasses += 1;
    let access =
        ToBank::Access { line: req.line, mask: req.mask, data: req.data, op, site, answer, requester };
    cx.fx.send(cx.below(req.line), access);
}

impl<W: Copy + Eq> LowerLevel<W> {
    /// Sends the access of a request to a bank. The request waits for the answer.
    pub fn below<P: HasBankMessages>(
        &mut self,
        ask: RequestInput<'_>,
        site: AccessSite,
        cx: &mut Cx<'_, P>,
    ) -> Option<Disposition> {
        send(ask, site, Answer::Request(ask.slot), cx);
        park(ask.slot, cx)
    }

    /// Posts the access of a request to the L2: the request does not wait for the ack of the
    /// access. Only a later flush waits for this ack.
    pub fn post<P: HasBankMessages>(
        &mut self,
        ask: RequestInput<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Option<Disposition> {
        let parity = self.buffer.acks.sent();
        send(ask, AccessSite::Here, Answer::Posted { parity }, cx);
        None
    }

    /// Begins a flush of this compute unit's dirty lines on behalf of a request. The request waits
    /// for the end of the flush.
    pub fn flush<P: Protocol>(&mut self, ask: RequestInput<'_>, cx: &mut Cx<'_, P>) -> Option<Disposition>
    where
        W: From<Slot>,
    {
        cx.fx.uses.flushes.count(Cause::of(ask.req));
        if self.buffer.flush(ask.slot.into()) { None } else { park(ask.slot, cx) }
    }

    /// Begins a flush of only those lines that `is_own` selects, on behalf of a request. The
    /// request waits for the end of the flush.
    pub fn flush_of<P: Protocol>(
        &mut self,
        ask: RequestInput<'_>,
        is_own: impl Fn(LineAddr) -> bool,
        cx: &mut Cx<'_, P>,
    ) -> Option<Disposition>
    where
        W: From<Slot>,
    {
        cx.fx.uses.flushes.count(Cause::of(ask.req));
        if self.buffer.flush_of(ask.slot.into(), is_own) { None } else { park(ask.slot, cx) }
    }

    /// Begins a flush for a waiter that is not a request of this compute unit. When the flush
    /// completes, the waiter is answered, or the controller acts for the waiter.
    pub fn flush_for<P: Protocol>(&mut self, waiter: W, cause: Cause, cx: &mut Cx<'_, P>)
    where
        W: FlushWaiter<P>,
    {
        cx.fx.uses.flushes.count(cause);
        if self.buffer.flush(waiter) {
            self.flushed.extend(waiter.flushed(cx));
        }
    }

    /// Asks all banks to flush. The request in `slot` waits until the dirty bytes of the banks have
    /// reached memory.
    pub fn flush_banks<P: HasBankMessages>(&mut self, slot: Slot, cx: &mut Cx<'_, P>) -> Option<Disposition> {
        self.send_to_banks(slot, |slot| ToBank::Flush { slot }, cx)
    }

    /// Asks all banks to invalidate their clean bytes. The request in `slot` waits for the acks.
    pub fn invalidate_banks<P: HasBankMessages>(
        &mut self,
        slot: Slot,
        cx: &mut Cx<'_, P>,
    ) -> Option<Disposition> {
        self.send_to_banks(slot, |slot| ToBank::Invalidate { slot }, cx)
    }

    fn send_to_banks<P: HasBankMessages>(
        &mut self,
        slot: Slot,
        msg: impl Fn(Slot) -> ToBank,
        cx: &mut Cx<'_, P>,
    ) -> Option<Disposition> {
        let banks = cx.world.levels.all_below(cx.me);
        self.banks_due.tell(slot, banks, msg, cx)
    }

    /// Processes an ack or an answer of a bank. A fill ([`ToL1::Data`]) must not be passed to this
    /// method.
    pub fn message<P: Protocol>(&mut self, msg: &ToL1, cx: &mut Cx<'_, P>) -> Disposition
    where
        W: FlushWaiter<P>,
    {
        let due = match *msg {
            ToL1::Data { .. } => false,
            ToL1::WriteAck { parity } => self.acked(parity, cx),
            ToL1::Done { slot, data, .. } => {
                cx.fx.resume_with(slot, data);
                true
            }
            ToL1::BankDone { slot } => self.banks_due.answered(slot, cx),
        };
        if due {
            Disposition::Done
        } else {
            Disposition::Impossible("no ack or answer is outstanding at the receiver")
        }
    }

    /// Counts an ack of a write with this parity (the bit that distinguishes writes before a flush
    /// from later writes). If this is the last ack for which a flush waits, completes the flush.
    /// Returns false if no write with this parity was outstanding.
    pub fn acked<P: Protocol>(&mut self, parity: bool, cx: &mut Cx<'_, P>) -> bool
    where
        W: FlushWaiter<P>,
    {
        let mut finished = Vec::new();
        let due = self.buffer.acked(parity, &mut finished);
        self.finish(finished, cx);
        due
    }

    /// Removes the oldest line of the store buffer and returns it, if `ready` accepts the line.
    /// Before that, removes the markers of flushes at the head of the buffer. Such a flush
    /// completes when the acks of all earlier writes have arrived.
    pub fn pop<P: Protocol>(
        &mut self,
        ready: impl Fn(LineAddr) -> bool,
        cx: &mut Cx<'_, P>,
    ) -> Option<LineAddr>
    where
        W: FlushWaiter<P>,
    {
        let mut finished = Vec::new();
        let popped = self.buffer.pop_if(&mut finished, ready);
        self.finish(finished, cx);
        match popped {
            Popped::Line(line) => Some(line),
            Popped::Blocked | Popped::Empty => None,
        }
    }

    fn finish<P: Protocol>(&mut self, finished: Vec<W>, cx: &mut Cx<'_, P>)
    where
        W: FlushWaiter<P>,
    {
        self.flushed.extend(finished.into_iter().filter_map(|waiter| waiter.flushed(cx)));
    }

    /// Removes and returns a waiter whose flush is complete, and for which the controller itself
    /// must act.
    pub fn flushed(&mut self) -> Option<W> {
        self.flushed.pop()
    }

    /// Arms the drain timer if the write policy or a flush requires that entries leave the store
    /// buffer.
    pub fn drain_if_due<P: Protocol>(&self, policy: WritePolicy, cx: &mut Cx<'_, P>) {
        let is_eager = policy != WritePolicy::Combining && self.buffer.lines() > 0;
        if (is_eager || self.buffer.has_flush()) && !self.buffer.is_blocked() {
            cx.fx.timer(TimerClass::Drain);
        }
    }

    /// Whether no operation and no flush is under way.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.buffer.is_quiet() && self.banks_due.is_idle()
    }

    /// Changes the representation to one canonical form, so that equivalent states of the
    /// outstanding operations become equal.
    pub fn canonicalize(&mut self) {
        self.buffer.canonicalize();
    }
}
