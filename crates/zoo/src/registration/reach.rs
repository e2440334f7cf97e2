//! The way from a first-level cache that registers lines to the banks: what is
//! under way, and flushes for requests and for registrations that go.

use super::msg::{How, ToBank, ToL1};
use crate::vi::{Answer, BANK};
use proto::parts::{AckCounts, Popped, StoreBuffer};
use proto::{Ask, Cause, Cx, Disposition, Key, LineAddr, NodeId, Op, Protocol, Shape, Slot};

/// Who waits for a flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Waiter {
    /// A request of this compute unit.
    Request(Slot),
    /// The registration of a line, which is given back after it.
    Return(LineAddr),
}

/// What is under way between a first-level cache and the banks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Reach {
    /// Lines that must leave, flushes, and writes not yet acknowledged.
    pub buffer: StoreBuffer<Waiter>,
    banks_due: AckCounts,
    /// Flushed within this step, and not yet given back.
    flushed: Vec<LineAddr>,
}

/// The bank of a line.
#[must_use]
pub fn bank<P: Protocol>(cx: &Cx<'_, P>, line: LineAddr) -> NodeId {
    NodeId { kind: BANK, index: cx.world.homes.bank(line) }
}

/// The request has sent for something: it goes on when that has come.
pub fn go_on_later<P: Protocol>(slot: Slot, cx: &mut Cx<'_, P>) -> Disposition {
    cx.stage += 1;
    Disposition::Stall(Key::Slot(slot))
}

impl Reach {
    /// Has the access performed below, and waits for it.
    pub fn below<P>(&mut self, ask: Ask<'_>, how: How, cx: &mut Cx<'_, P>) -> Disposition
    where
        P: Protocol<Msg: From<ToBank>>,
    {
        send(ask, how, Answer::Request(ask.slot), cx);
        go_on_later(ask.slot, cx)
    }

    /// Has a store of data performed at the L2: only a later flush waits for it.
    pub fn post<P>(&mut self, ask: Ask<'_>, cx: &mut Cx<'_, P>)
    where
        P: Protocol<Msg: From<ToBank>>,
    {
        let parity = self.buffer.acks.sent();
        send(ask, How::Data, Answer::Posted { parity }, cx);
    }

    /// A flush for a request: `None` if there is nothing to wait for.
    pub fn flush<P: Protocol>(&mut self, ask: Ask<'_>, cx: &mut Cx<'_, P>) -> Option<Disposition> {
        cx.fx.uses.flushes.count(Cause::of(ask.req));
        if self.buffer.flush(Waiter::Request(ask.slot)) {
            return None;
        }
        Some(go_on_later(ask.slot, cx))
    }

    /// A flush before the registration of a line is given back.
    pub fn flush_for<P: Protocol>(&mut self, line: LineAddr, cx: &mut Cx<'_, P>) {
        cx.fx.uses.flushes.count(Cause::Atomic);
        if self.buffer.flush(Waiter::Return(line)) {
            self.flushed.push(line);
        }
    }

    /// The next line whose registration may be given back now.
    pub fn flushed(&mut self) -> Option<LineAddr> {
        self.flushed.pop()
    }

    /// What a flush may wait for has happened. `false` means that nothing was due.
    pub fn acked<P: Protocol>(&mut self, parity: bool, cx: &mut Cx<'_, P>) -> bool {
        let mut finished = Vec::new();
        let due = self.buffer.acked(parity, &mut finished);
        self.finish(finished, cx);
        due
    }

    fn finish<P: Protocol>(&mut self, finished: Vec<Waiter>, cx: &mut Cx<'_, P>) {
        for waiter in finished {
            match waiter {
                Waiter::Request(slot) => cx.fx.resume(slot),
                Waiter::Return(line) => self.flushed.push(line),
            }
        }
    }

    /// The same word to every bank; the request goes on when all have answered.
    pub fn tell_banks<P>(
        &mut self,
        slot: Slot,
        shape: &Shape,
        word: impl Fn(Slot) -> ToBank,
        cx: &mut Cx<'_, P>,
    ) -> Disposition
    where
        P: Protocol<Msg: From<ToBank>>,
    {
        for index in 0..shape.banks {
            cx.fx.send(NodeId { kind: BANK, index }, word(slot));
        }
        self.banks_due.expect(slot, u32::from(shape.banks));
        go_on_later(slot, cx)
    }

    /// A message that is about no line. `false` means that nothing was due.
    pub fn message<P: Protocol>(&mut self, msg: &ToL1, cx: &mut Cx<'_, P>) -> bool {
        match *msg {
            ToL1::WriteAck { parity } => self.acked(parity, cx),
            ToL1::Done { slot, data, .. } => {
                cx.fx.resume_with(slot, data);
                true
            }
            ToL1::BankDone { slot } => {
                let last = self.banks_due.acked(slot);
                if last == Some(true) {
                    cx.fx.resume(slot);
                }
                last.is_some()
            }
            ToL1::Data { .. }
            | ToL1::Grant { .. }
            | ToL1::Recall { .. }
            | ToL1::Forward { .. }
            | ToL1::Serve { .. } => false,
        }
    }

    /// Takes the oldest line out of the buffer, if it is ready; flushes that
    /// finish go on.
    pub fn pop<P: Protocol>(
        &mut self,
        ready: impl Fn(LineAddr) -> bool,
        cx: &mut Cx<'_, P>,
    ) -> Option<LineAddr> {
        let mut finished = Vec::new();
        let popped = self.buffer.pop_if(&mut finished, ready);
        self.finish(finished, cx);
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

fn send<P>(ask: Ask<'_>, how: How, answer: Answer, cx: &mut Cx<'_, P>)
where
    P: Protocol<Msg: From<ToBank>>,
{
    let req = ask.req;
    let (op, asker) = (req.op, cx.me);
    cx.fx.uses.bypasses += 1;
    let access = ToBank::Access { line: req.line, mask: req.mask, data: req.data, op, how, answer, asker };
    cx.fx.send(bank(cx, req.line), access);
}

/// How many bytes the answer to an access carries.
#[must_use]
pub fn answer_bytes(op: Op, mask: proto::ByteMask) -> u8 {
    match op {
        Op::Load => mask.count() as u8,
        Op::Rmw(rmw) if rmw.uses_value => mask.count() as u8,
        _ => 0,
    }
}
