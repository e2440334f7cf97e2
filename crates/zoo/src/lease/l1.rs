//! The L1 of a compute unit.

use super::clock::{Clocks, Receiver};
use super::tables::{Action, Event, L1Plans, L1Table, State, Step};
use super::{Lease, Leased, Params, ROLLOVER, ToBank, ToL1, ToRollover};
use crate::parts::{BANK, FirstLevel, ResourceNeeds, answer, first_lines};
use proto::parts::{AckCounts, Lines, Place};
use proto::{
    ByteMask, Cause, Controller, Cx, Disposition, Hit, Homes, Input, Issuer, Key, KindLevel, LineAddr,
    LineData, LineView, Load, Op, Order, PlanKey, Rank, Reach, RequestInput, SetIndex, Slot, Spending, Way,
};
use std::collections::BTreeMap;

/// The operand of an event of a line: the data that the actions of the event's row use.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    /// The request that causes the event.
    Request(RequestInput<'a>),
    /// The bytes that arrive, with a lease unless memory has answered.
    Line(&'a LineData, Option<Lease>),
    /// The renewed lease.
    Lease(Lease),
    /// The event has no operand.
    Nothing,
}

/// The lines of the L1 with their leases, and the clocks of the compute unit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct L1 {
    cache: FirstLevel<State>,
    /// The version and the lease of each line whose bytes are here.
    leases: BTreeMap<LineAddr, Lease>,
    clocks: Clocks,
    /// For each request that has asked the banks for their times, the number of answers that are
    /// due.
    time_requests: AckCounts,
    /// The number of banks that have stopped for the rollover (the restart of all timestamps at
    /// zero) that is under way.
    stopped: u16,
    /// The current epoch, which changes when the times start again at zero.
    epoch: bool,
    /// Whether each wavefront has a clock.
    per_wavefront: bool,
}

impl L1 {
    /// An empty cache, at time zero.
    #[must_use]
    pub fn new(level: &KindLevel, params: &Params) -> Self {
        L1 {
            cache: FirstLevel::new(level, State::I),
            leases: BTreeMap::new(),
            clocks: Clocks::default(),
            per_wavefront: params.variant.per_wavefront,
            time_requests: AckCounts::default(),
            stopped: 0,
            epoch: false,
        }
    }

    /// Performs one step in the plan (list of steps) of a request. If the result is `None`, the
    /// request continues with the next step.
    fn perform<P: Leased>(
        &mut self,
        step: Step,
        ask: RequestInput<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Option<Disposition> {
        step.spends(ask, cx);
        match step {
            Step::Here => Some(self.load(ask, cx)),
            Step::Below | Step::BelowSystem => {
                if ask.req.op == Op::Load {
                    self.send(ask, cx);
                } else if let Some(other) =
                    self.event(ask.req.line, Event::Write, Operand::Request(ask), cx).unless_done()
                {
                    return Some(other);
                }
                cx.stage += 1;
                Some(Disposition::Stall(Key::Slot(ask.slot)))
            }
            Step::Join => {
                self.clocks.join(ask, cx.world.params);
                None
            }
            Step::FlushBanks => self.cache.lower.flush_banks(ask.slot, cx),
            Step::AskBanks => self.ask_banks(ask.slot, false, cx),
            Step::InvalidateBanks => self.ask_banks(ask.slot, true, cx),
            Step::AnswerIt => answer(ask, cx),
        }
    }

    fn ask_banks<P: Leased>(
        &mut self,
        slot: Slot,
        invalidates: bool,
        cx: &mut Cx<'_, P>,
    ) -> Option<Disposition> {
        let banks = cx.world.levels.all_below(cx.me);
        self.time_requests.tell(slot, banks, |slot| ToBank::Ask { slot, invalidates }, cx)
    }

    fn load<P: Leased>(&mut self, ask: RequestInput<'_>, cx: &mut Cx<'_, P>) -> Disposition {
        let place = self.cache.array.place(ask.req.line, cx.world.homes);
        let (state, event) = Lines::<P>::classify(self, place, Event::Load, Operand::Request(ask));
        let fetches = state == State::I || (state, event) == (State::V, Event::Expired);
        let needs = ResourceNeeds { entry: false, register: fetches, way: fetches };
        match self.cache.lacks(place, needs, cx) {
            Some(lacks) => lacks,
            None => self.transition(place, state, event, Operand::Request(ask), cx),
        }
    }

    /// Sends an access to the bank.
    fn send<P: Leased>(&mut self, ask: RequestInput<'_>, cx: &mut Cx<'_, P>) {
        let (req, params) = (ask.req, cx.world.params);
        let key = PlanKey::of(req);
        let clock = self.clocks.of(req.issuer);
        let now = if req.op == Op::Load { clock.read } else { clock.write };
        self.clocks.expect_answer(Receiver::Slot(ask.slot), ask, params);
        cx.fx.uses.bypasses += 1;
        cx.fx.send(
            cx.below(req.line),
            ToBank::Access {
                line: req.line,
                mask: req.mask,
                data: req.data,
                op: req.op,
                is_remote: key.reach() == Reach::System && !key.is_plain(),
                slot: ask.slot,
                now,
                epoch: self.epoch,
                bytes: params.stamp_bytes,
            },
        );
    }

    fn get<P: Leased>(&self, line: LineAddr, now: u32, version: Option<u32>, cx: &mut Cx<'_, P>) {
        let bytes = 2 * cx.world.params.stamp_bytes;
        cx.fx.send(cx.below(line), ToBank::Get { line, now, version, epoch: self.epoch, bytes });
    }

    fn message<P: Leased>(&mut self, msg: &ToL1, cx: &mut Cx<'_, P>) -> Disposition {
        let params = cx.world.params;
        match *msg {
            ToL1::Shared(ref msg) => self.cache.lower.message(msg, cx),
            ToL1::Data { line, ref data, lease, .. } => {
                self.clocks.answered(Receiver::Line(line), lease.version, false, params);
                self.event(line, Event::Data, Operand::Line(data, Some(lease)), cx)
            }
            ToL1::Bare { line, ref data, time, epoch, .. } => {
                let time = self.current(time, epoch);
                self.clocks.answered(Receiver::Line(line), time, false, params);
                self.event(line, Event::Bare, Operand::Line(data, None), cx)
            }
            ToL1::Renewed { line, .. } if !self.leases.contains_key(&line) => {
                self.event(line, Event::Lost, Operand::Nothing, cx)
            }
            ToL1::Renewed { line, lease, .. } => {
                self.clocks.answered(Receiver::Line(line), lease.version, false, params);
                self.event(line, Event::Renewed, Operand::Lease(lease), cx)
            }
            ToL1::Done { slot, ref data, time, epoch, is_write, .. } => {
                let time = self.current(time, epoch);
                self.clocks.answered(Receiver::Slot(slot), time, is_write, params);
                cx.fx.resume_with(slot, *data);
                Disposition::Done
            }
            ToL1::Time { slot, time, .. } => {
                self.clocks.advance_all(time);
                match self.time_requests.answered(slot, cx) {
                    true => Disposition::Done,
                    false => Disposition::Impossible("no bank was asked for its time"),
                }
            }
            ToL1::Stopped => self.stopped(cx),
            ToL1::Reset => self.restart(cx),
        }
    }

    /// A time of an answer, as a time of the current epoch. A bank that has stopped passes answers of
    /// memory on, whose old times have no meaning after the restart of this cache.
    fn current(&self, time: u32, epoch: bool) -> u32 {
        if epoch == self.epoch { time } else { 0 }
    }

    /// Drops every line and begins again at time zero.
    fn restart<P: Leased>(&mut self, cx: &mut Cx<'_, P>) -> Disposition {
        self.clocks.reset();
        self.epoch ^= cx.world.params.variant.carries_epochs;
        self.invalidate_all(Cause::Remote, Event::Reset, Operand::Nothing, cx)
    }

    /// Counts a bank that has stopped for a rollover (a restart of all timestamps at zero). When
    /// all banks have stopped, no lease that they have granted is on its way. The L1 then drops its lines
    /// and starts again at time zero.
    fn stopped<P: Leased>(&mut self, cx: &mut Cx<'_, P>) -> Disposition {
        self.stopped += 1;
        if self.stopped < cx.world.levels.of(BANK).count {
            return Disposition::Done;
        }
        self.stopped = 0;
        cx.fx.send(ROLLOVER, ToRollover::Emptied);
        self.restart(cx)
    }
}

impl Step {
    /// For statistics: from this step on, the time of the request counts as time of an access, of
    /// an acquire or of a release, whichever the request is.
    fn spends<P: Leased>(self, ask: RequestInput<'_>, cx: &mut Cx<'_, P>) {
        if ask.req.order == Order::Plain {
            return;
        }
        match self {
            Step::FlushBanks => cx.fx.spend(ask.slot, Spending::Release),
            Step::AskBanks | Step::InvalidateBanks => cx.fx.spend(ask.slot, Spending::Acquire),
            Step::Here | Step::Below | Step::BelowSystem => cx.fx.spend(ask.slot, Spending::Access),
            // These take no time after the previous step.
            Step::Join | Step::AnswerIt => {}
        }
    }
}

impl<P: Leased> Lines<P> for L1 {
    type Operand<'a> = Operand<'a>;

    first_lines! { cache: L1Table, absent: State::I }

    fn classify(&self, place: Place, event: Event, operand: Operand<'_>) -> (State, Event) {
        let state = place.way.map_or(State::I, |way| self.cache.array.state(way));
        let event = match (event, operand, self.leases.get(&place.line)) {
            (Event::Load, Operand::Request(ask), Some(lease))
                if lease.end < self.clocks.of(ask.req.issuer).read =>
            {
                Event::Expired
            }
            _ => event,
        };
        (state, event)
    }

    fn act(&mut self, action: Action, place: Place, operand: Operand<'_>, cx: &mut Cx<'_, P>) {
        let params = cx.world.params;
        let Place { line, way, .. } = place;
        match (action, way, operand) {
            (Action::SendGet, _, Operand::Request(ask)) => {
                self.cache.begin_fill(cx);
                self.clocks.expect_answer(Receiver::Line(line), ask, params);
                let version = self.leases.get(&line).map(|lease| lease.version);
                self.get(line, self.clocks.of(ask.req.issuer).read, version, cx);
            }
            // Time has started again since the load was issued.
            (Action::AskAgain, ..) => self.get(line, 0, None, cx),
            (Action::SendWrite, _, Operand::Request(ask)) => self.send(ask, cx),
            (Action::Reply, Some(way), Operand::Request(ask)) => {
                if let Some(lease) = self.leases.get(&line) {
                    self.clocks.read(ask, lease.version, params);
                }
                self.cache.reply(way, ask, cx);
            }
            (Action::Fill, Some(way), Operand::Line(data, Some(lease))) => {
                cx.fx.uses.data_writes += 1;
                let all = ByteMask::full(usize::from(cx.level().line_bytes));
                self.cache.array.write_clean(way, data, all);
                self.leases.insert(line, lease);
            }
            (Action::Extend, _, Operand::Lease(lease)) => {
                self.leases.insert(line, lease);
            }
            (Action::Answer, _, Operand::Line(data, _)) => cx.fx.reply_waiters(line, *data),
            (Action::Answer, Some(way), _) => cx.fx.reply_waiters(line, self.cache.array.read(way)),
            (Action::Forget, Some(way), _) => {
                self.cache.array.keep_dirty(way);
                self.leases.remove(&line);
            }
            (Action::Wake, ..) => self.cache.end_get(place, cx),
            (
                Action::SendGet
                | Action::SendWrite
                | Action::Reply
                | Action::Fill
                | Action::Extend
                | Action::Answer
                | Action::Forget,
                ..,
            ) => cx.lacks_operand(action),
        }
    }
}

impl<P: Leased> Controller<P> for L1 {
    type Msg = ToL1;

    fn step(&mut self, input: Input<'_, ToL1>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Request(ask) => cx.follow::<L1Plans>(ask, |step, cx| self.perform(step, ask, cx)),
            Input::Message { msg, .. } => self.message(msg, cx),
            Input::Evict(way) => self.event_in(way, Event::Evict, Operand::Nothing, cx),
            Input::Timer(_) | Input::Memory(_) => Disposition::Impossible("an L1 has no timer"),
            Input::Tick { .. } => Disposition::Done,
        }
    }

    fn hit(&self, load: &Load, homes: &Homes) -> Option<Hit<'_>> {
        // A load does not say whose it is, and a hit may advance the clock of a wavefront.
        if self.per_wavefront {
            return None;
        }
        let now = self.clocks.of(Issuer::default()).read;
        self.leases.get(&load.line).filter(|lease| now <= lease.end)?;
        self.cache.hit::<L1Table, L1Plans>(load, homes, Step::Here, (Event::Load, Action::Reply))
    }

    fn victims(&self, set: SetIndex, out: &mut Vec<(Way, Rank)>) {
        self.cache.array.victims(set, State::V, out);
    }

    fn occupied(&self, set: SetIndex, out: &mut Vec<Way>) {
        out.extend(self.cache.array.in_set(set));
    }

    fn limit_ways(&mut self, ways: u32) -> bool {
        self.cache.array.limit_ways(ways);
        true
    }

    fn lines(&self, out: &mut Vec<LineView>) {
        self.cache.array.views::<L1Table>(out);
    }

    fn is_quiet(&self) -> bool {
        self.cache.is_quiet() && self.time_requests.is_idle() && self.stopped == 0
    }

    fn miscount(&self) -> Option<&'static str> {
        let array = &self.cache.array;
        let fills = array.count_where(|state| matches!(state, State::IV | State::RV | State::IX));
        let has_bytes = |way| !array.valid(way).is_empty();
        let with_bytes = array.occupied(Way(0)).filter(|&way| has_bytes(way));
        let leased = with_bytes.filter(|&way| array.line(way).is_some_and(|l| self.leases.contains_key(&l)));
        if leased.count() != self.leases.len() {
            return Some("a lease belongs to a line of which the L1 has no bytes");
        }
        self.cache.miscount(fills..=fills, |_| true)
    }

    fn canonicalize(&mut self) {
        self.cache.canonicalize();
    }
}
