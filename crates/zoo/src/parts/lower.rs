//! The way from a compute unit down to the banks: what is under way there.
//!
//! What a plan asks of it answers as a step does: `None` goes on with the next
//! step, anything else parks the request.

use super::{Answer, Descends, How, ToBank, ToL1};
use proto::parts::{AckCounts, Popped, StoreBuffer, Waits};
use proto::{Ask, Cause, Cx, Disposition, Key, LineAddr, Protocol, Slot, TimerClass, WritePolicy};

/// What is under way between a compute unit and the banks. `W` names who may
/// wait for a flush.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Lower<W = Slot> {
    /// Lines that must leave, flushes, and writes not yet acknowledged.
    pub buffer: StoreBuffer<W>,
    banks_due: AckCounts,
    /// For whom the controller must do something now that they are flushed.
    flushed: Vec<W>,
}

proto::clone_in_place! { [W: Clone] Lower<W> { buffer, banks_due, flushed } }

impl<W> Default for Lower<W> {
    fn default() -> Self {
        Lower { buffer: StoreBuffer::default(), banks_due: AckCounts::default(), flushed: Vec::new() }
    }
}

/// Answers a request whose plan is done.
pub fn answer<P: Protocol>(ask: Ask<'_>, cx: &mut Cx<'_, P>) -> Option<Disposition> {
    match ask.req.reads() {
        true => cx.fx.reply(ask.slot, *ask.data),
        false => cx.fx.accept(ask.slot),
    }
    None
}

/// The request has sent for something: it goes on when that has come.
fn go_on_later<P: Protocol>(slot: Slot, cx: &mut Cx<'_, P>) -> Option<Disposition> {
    cx.stage += 1;
    Some(Disposition::Stall(Key::Slot(slot)))
}

fn send<P: Descends>(ask: Ask<'_>, how: How, answer: Answer, cx: &mut Cx<'_, P>) {
    let req = ask.req;
    let (op, asker) = (req.op, cx.me);
    cx.fx.uses.bypasses += 1;
    let access = ToBank::Access { line: req.line, mask: req.mask, data: req.data, op, how, answer, asker };
    cx.fx.send(cx.below(req.line), access);
}

impl<W: Copy + Eq> Lower<W> {
    /// Has the access performed below, and waits for it.
    pub fn below<P: Descends>(&mut self, ask: Ask<'_>, how: How, cx: &mut Cx<'_, P>) -> Option<Disposition> {
        send(ask, how, Answer::Request(ask.slot), cx);
        go_on_later(ask.slot, cx)
    }

    /// Has the access performed at the L2: only a later flush waits for it.
    pub fn post<P: Descends>(&mut self, ask: Ask<'_>, cx: &mut Cx<'_, P>) -> Option<Disposition> {
        let parity = self.buffer.acks.sent();
        send(ask, How::Here, Answer::Posted { parity }, cx);
        None
    }

    /// A flush for a request.
    pub fn flush<P: Protocol>(&mut self, ask: Ask<'_>, cx: &mut Cx<'_, P>) -> Option<Disposition>
    where
        W: From<Slot>,
    {
        cx.fx.uses.flushes.count(Cause::of(ask.req));
        if self.buffer.flush(ask.slot.into()) { None } else { go_on_later(ask.slot, cx) }
    }

    /// A flush for a request, of those lines only that `is_own` selects.
    pub fn flush_of<P: Protocol>(
        &mut self,
        ask: Ask<'_>,
        is_own: impl Fn(LineAddr) -> bool,
        cx: &mut Cx<'_, P>,
    ) -> Option<Disposition>
    where
        W: From<Slot>,
    {
        cx.fx.uses.flushes.count(Cause::of(ask.req));
        if self.buffer.flush_of(ask.slot.into(), is_own) { None } else { go_on_later(ask.slot, cx) }
    }

    /// A flush for somebody else, who is told when it is finished: at once, if
    /// there is nothing to wait for.
    pub fn flush_for<P: Protocol>(&mut self, waiter: W, cause: Cause, cx: &mut Cx<'_, P>)
    where
        W: Waits<P>,
    {
        cx.fx.uses.flushes.count(cause);
        if self.buffer.flush(waiter) {
            self.flushed.extend(waiter.flushed(cx));
        }
    }

    /// Waits until all that was written to the banks has reached memory.
    pub fn flush_banks<P: Descends>(&mut self, slot: Slot, cx: &mut Cx<'_, P>) -> Option<Disposition> {
        self.tell_banks(slot, |slot| ToBank::Flush { slot }, cx)
    }

    /// Drops what is clean in the banks, and waits for that.
    pub fn invalidate_banks<P: Descends>(&mut self, slot: Slot, cx: &mut Cx<'_, P>) -> Option<Disposition> {
        self.tell_banks(slot, |slot| ToBank::Invalidate { slot }, cx)
    }

    fn tell_banks<P: Descends>(
        &mut self,
        slot: Slot,
        word: impl Fn(Slot) -> ToBank,
        cx: &mut Cx<'_, P>,
    ) -> Option<Disposition> {
        let banks = cx.world.levels.all_below(cx.me);
        self.banks_due.tell(slot, banks, word, cx)
    }

    /// A message that is not a fill.
    pub fn message<P: Protocol>(&mut self, msg: &ToL1, cx: &mut Cx<'_, P>) -> Disposition
    where
        W: Waits<P>,
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
        if due { Disposition::Done } else { Disposition::Impossible("nothing was due") }
    }

    /// What a flush may wait for has happened. `false` if nothing was due.
    pub fn acked<P: Protocol>(&mut self, parity: bool, cx: &mut Cx<'_, P>) -> bool
    where
        W: Waits<P>,
    {
        let mut finished = Vec::new();
        let due = self.buffer.acked(parity, &mut finished);
        self.finish(finished, cx);
        due
    }

    /// Takes the oldest line out of the buffer, if it is ready; flushes that
    /// finish go on.
    pub fn pop<P: Protocol>(
        &mut self,
        ready: impl Fn(LineAddr) -> bool,
        cx: &mut Cx<'_, P>,
    ) -> Option<LineAddr>
    where
        W: Waits<P>,
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
        W: Waits<P>,
    {
        self.flushed.extend(finished.into_iter().filter_map(|waiter| waiter.flushed(cx)));
    }

    /// The next waiter for whom the controller itself must do something.
    pub fn flushed(&mut self) -> Option<W> {
        self.flushed.pop()
    }

    /// Keeps the buffer draining for as long as a policy or a flush asks for it.
    pub fn drain_if_due<P: Protocol>(&self, policy: WritePolicy, cx: &mut Cx<'_, P>) {
        let is_eager = policy != WritePolicy::Combining && self.buffer.lines() > 0;
        if (is_eager || self.buffer.has_flush()) && !self.buffer.is_blocked() {
            cx.fx.timer(TimerClass::Drain);
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
