//! The L1 of a compute unit. Each of its lines has a lease.

use super::tables::{Action, Event, L1Table, State, Step};
use super::{Tc, ToBank, ToL1};
use crate::parts::{self, AccessSite, FirstLevel, ResourceNeeds, answer, first_lines};
use core::fmt::Debug;
use core::hash::Hash;
use core::marker::PhantomData;
use proto::parts::{AckCounts, Countdowns, Lines, Place};
use proto::{
    Controller, Cx, Disposition, Input, Key, KindLevel, LineAddr, LineData, LineView, Order, Plans, Rank,
    RequestInput, SetIndex, Slot, Spending, TimerClass, Way,
};

/// The lines of the L1 with their leases, and the fences that wait for the end of copies in other
/// L1s. `Q` holds the plans (lists of steps) of operations.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct L1<Q> {
    cache: FirstLevel<State>,
    /// The ticks that are left of the lease of each line.
    leases: Countdowns<LineAddr>,
    /// The ticks until no L1 has a copy that is older than a performed write of this compute unit.
    older_copies: u32,
    /// The fences that wait until no L1 has a copy that is older than a write of this compute unit.
    fences: Countdowns<Slot>,
    /// For each acquire that waits for the end of leases at the banks, the number of banks that
    /// have not yet answered.
    banks_due: AckCounts,
    plans: PhantomData<fn() -> Q>,
}

/// The operand of an event of a line: the data that the actions of the event's row use.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    /// The request that causes the event.
    Request(RequestInput<'a>),
    /// The bytes of the fill that causes the event, and the ticks of its lease.
    Fill(&'a LineData, u32),
    /// The event has no operand.
    Nothing,
}

impl<Q: Plans<Step = Step>> L1<Q> {
    /// An empty cache.
    #[must_use]
    pub fn new(level: &KindLevel) -> Self {
        L1 {
            cache: FirstLevel::new(level, State::I),
            leases: Countdowns::default(),
            older_copies: 0,
            fences: Countdowns::default(),
            banks_due: AckCounts::default(),
            plans: PhantomData,
        }
    }

    /// Performs one step in the plan (list of steps) of a request. If the result is `None`, the
    /// request continues with the next step.
    fn perform<P: Tc>(
        &mut self,
        step: Step,
        ask: RequestInput<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Option<Disposition> {
        if ask.req.order != Order::Plain {
            cx.fx.spend(ask.slot, step.spends());
        }
        let lower = &mut self.cache.lower;
        match step {
            Step::Here => Some(self.load(ask, cx)),
            Step::Pass => self.event(ask.req.line, Event::Pass, Operand::Nothing, cx).unless_done(),
            Step::Below => lower.below(ask, AccessSite::Unregistered, cx),
            Step::BelowAtOnce => lower.below(ask, AccessSite::Here, cx),
            Step::BelowSystem => lower.below(ask, AccessSite::System, cx),
            Step::AwaitCopies if self.older_copies == 0 => None,
            Step::AwaitCopies => {
                self.fences.start(ask.slot, self.older_copies);
                self.arm(cx);
                cx.stage += 1;
                Some(Disposition::Stall(Key::Slot(ask.slot)))
            }
            Step::FlushBanks => lower.flush_banks(ask.slot, cx),
            Step::InvalidateBanks => lower.invalidate_banks(ask.slot, cx),
            Step::AwaitLeases => {
                let banks = cx.world.levels.all_below(cx.me);
                self.banks_due.tell(ask.slot, banks, |slot| ToBank::AwaitLeases { slot }, cx)
            }
            Step::AnswerIt => answer(ask, cx),
        }
    }

    fn load<P: Tc>(&mut self, ask: RequestInput<'_>, cx: &mut Cx<'_, P>) -> Disposition {
        let place = self.cache.array.place(ask.req.line, cx.world.homes);
        let needs = ResourceNeeds { entry: false, register: place.way.is_none(), way: true };
        match self.cache.lacks(place, needs, cx) {
            Some(lacks) => lacks,
            None => self.event(ask.req.line, Event::Load, Operand::Request(ask), cx),
        }
    }

    /// Arms the timer for the time at which the first fence stops waiting for older copies in other
    /// L1s.
    fn arm<P: Tc>(&self, cx: &mut Cx<'_, P>) {
        if let Some(ticks) = self.fences.first() {
            cx.fx.timer_in(TimerClass::Lease, ticks);
        }
    }

    /// Lets time pass: leases end. Nothing waits for these ends, so they need no deadline.
    fn pass<P: Tc>(&mut self, elapsed: u32, cx: &mut Cx<'_, P>) -> Disposition {
        self.older_copies = self.older_copies.saturating_sub(elapsed);
        self.fences.pass(elapsed);
        self.leases.pass(elapsed);
        for line in self.leases.take_ended() {
            let disposition = self.event(line, Event::End, Operand::Nothing, cx);
            if disposition != Disposition::Done {
                return disposition;
            }
        }
        Disposition::Done
    }

    fn filled<P: Tc>(
        &mut self,
        line: LineAddr,
        (data, lease): (&LineData, u32),
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        let event = if lease > 0 { Event::Data } else { Event::DataEnded };
        self.event(line, event, Operand::Fill(data, lease), cx)
    }

    fn message<P: Tc>(&mut self, msg: &ToL1, cx: &mut Cx<'_, P>) -> Disposition {
        match *msg {
            ToL1::Leased { line, ref data, lease } => self.filled(line, (data, lease), cx),
            ToL1::Bank(parts::ToL1::Data { line, ref data }) => self.filled(line, (data, 0), cx),
            ToL1::Performed { slot, data, older_copies, .. } => {
                self.older_copies = self.older_copies.max(older_copies);
                cx.fx.resume_with(slot, data);
                Disposition::Done
            }
            ToL1::Bank(ref msg) => self.cache.lower.message(msg, cx),
            ToL1::LeasesEnded { slot } => match self.banks_due.answered(slot, cx) {
                true => Disposition::Done,
                false => Disposition::Impossible("nothing waited for the end of leases"),
            },
        }
    }
}

impl Step {
    /// The part of a request (the access, the acquire or the release) to which the time from this
    /// step on is attributed, for statistics.
    fn spends(self) -> Spending {
        match self {
            Step::AwaitCopies | Step::AwaitLeases => Spending::Lease,
            Step::FlushBanks => Spending::Release,
            Step::InvalidateBanks => Spending::Acquire,
            Step::Here
            | Step::Pass
            | Step::Below
            | Step::BelowAtOnce
            | Step::BelowSystem
            | Step::AnswerIt => Spending::Access,
        }
    }
}

impl<P: Tc, Q: Plans<Step = Step>> Lines<P> for L1<Q> {
    type Operand<'a> = Operand<'a>;

    first_lines! { cache: L1Table, absent: State::I }

    fn classify(&self, place: Place, event: Event, _: Operand<'_>) -> (State, Event) {
        (place.way.map_or(State::I, |way| self.cache.array.state(way)), event)
    }

    fn act(&mut self, action: Action, place: Place, operand: Operand<'_>, cx: &mut Cx<'_, P>) {
        let Place { line, way: Some(way), .. } = place else { return cx.lacks_operand(action) };
        match (action, operand) {
            (Action::SendGet, _) => {
                self.cache.begin_fill(cx);
                cx.fx.send(cx.below(line), ToBank::Get { line });
            }
            (Action::Reply, Operand::Request(ask)) => self.cache.reply(way, ask, cx),
            (Action::Fill, Operand::Fill(data, lease)) => {
                self.cache.fill(way, data, cx);
                self.leases.start(line, lease);
            }
            (Action::Answer, Operand::Fill(data, _)) => cx.fx.reply_waiters(line, *data),
            (Action::Forget, _) => self.leases.remove(line),
            (Action::Wake, _) => self.cache.end_get(place, cx),
            (Action::Reply | Action::Fill | Action::Answer, _) => cx.lacks_operand(action),
        }
    }
}

impl<P: Tc, Q: Plans<Step = Step> + Clone + Debug + Eq + Hash> Controller<P> for L1<Q> {
    type Msg = ToL1;

    fn step(&mut self, input: Input<'_, ToL1>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Request(ask) => cx.follow::<Q>(ask, |step, cx| self.perform(step, ask, cx)),
            Input::Message { msg, .. } => self.message(msg, cx),
            Input::Evict(way) => self.event_in(way, Event::Evict, Operand::Nothing, cx),
            Input::Tick { elapsed } => self.pass(elapsed, cx),
            Input::Timer(TimerClass::Lease) => {
                self.fences.take_ended().into_iter().for_each(|slot| cx.fx.resume(slot));
                self.arm(cx);
                Disposition::Done
            }
            Input::Timer(_) | Input::Memory(_) => {
                Disposition::Impossible("an L1 gets neither this timer nor an answer of memory")
            }
        }
    }

    fn miscount(&self) -> Option<&'static str> {
        let fills = self.cache.array.count_where(|state| matches!(state, State::IV | State::IX));
        self.cache.miscount(fills..=fills, |_| true)
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
        self.cache.is_quiet() && self.fences.is_empty() && self.banks_due.is_idle()
    }

    fn canonicalize(&mut self) {
        self.cache.canonicalize();
        self.leases.canonicalize();
        self.fences.canonicalize();
    }
}
