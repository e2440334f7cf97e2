//! The L1 of a compute unit, with its blocked-store queue: the writes that wait for their epoch
//! (the time in which their lines may be written).

use super::tables::{Action, Event, L1Plans, L1Table, State, Step};
use super::{EMU, Grant, Params, Rule, Stc, ToEmu, ToL1};
use crate::parts::{self, AccessSite, FirstLevel, Operand, ResourceNeeds, answer, first_lines};
use proto::parts::{AckCounts, Lines, Place, peers};
use proto::{
    Cause, Controller, Cx, Disposition, Hit, Homes, Input, Key, KindLevel, LineAddr, LineView, Load, NodeId,
    Op, Order, PlanKey, Rank, Reach, RequestInput, SetIndex, Slot, Spending, Way,
};

/// A write or an atomic that is blocked (waits for its epoch, in which its line may be written) or
/// pending (is on its way to the bank). At most one exists for each line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Write {
    line: LineAddr,
    slot: Slot,
    /// Whether the write is on its way to the bank (pending) and not in the blocked-store queue.
    is_issued: bool,
}

/// The state of this compute unit in a change of epochs (of the bands of lines that may be
/// written). `Some` holds the coming epochs, if the epoch management unit has announced them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Change {
    /// No change of epochs is under way, so writes may be issued. An epoch says which lines may be
    /// written.
    None,
    /// The compute unit prepares for the change of epochs (of the lines that may be written): it
    /// issues no write, and waits for the acks of pending writes.
    Prepares(Option<Grant>),
    /// The compute unit is ready for the change of epochs (of the lines that may be written): no
    /// write is pending, and the compute unit has told the epoch management unit so.
    IsReady(Option<Grant>),
}

/// The L1 of a compute unit: its lines, the loads that bypass it, and the writes that are under
/// way. `REPAIRED` selects the repaired protocol.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct L1<const REPAIRED: bool> {
    cache: FirstLevel<State>,
    /// The lines in the state II (a fill is under way whose bytes are not kept), sorted.
    uncached: Vec<LineAddr>,
    /// The writes under way, oldest first. The writes that are not issued form the blocked-store
    /// queue.
    writes: Vec<Write>,
    /// For each set, whether no access has reached it since the epochs changed, so that it may hold
    /// copies of lines that may be written now. The first access to the set removes these copies,
    /// and the sweep at the end of the epochs removes them from the sets without an access.
    stale: Vec<bool>,
    /// The epochs (times in which certain bands of lines may be written) that are in force at this
    /// compute unit.
    granted: Grant,
    change: Change,
    /// The epochs (times in which one band of lines each may be written) that this compute unit has
    /// demanded since the last change of epochs, one bit for each epoch.
    demanded: u32,
    /// Whether this compute unit has reported a conflict (a load from a band, a group of lines, for
    /// which a write is blocked) since the last change of epochs.
    has_conflicted: bool,
    invalidated: AckCounts,
}

impl<const REPAIRED: bool> L1<REPAIRED> {
    /// An empty cache at the start, when epoch 0 is in force: the lines of band 0 may be written.
    #[must_use]
    pub fn new(level: &KindLevel, params: &Params) -> Self {
        L1 {
            cache: FirstLevel::new(level, State::I),
            uncached: Vec::new(),
            writes: Vec::new(),
            stale: vec![false; level.array.sets as usize],
            granted: Grant::first(params),
            change: Change::None,
            demanded: 0,
            has_conflicted: false,
            invalidated: AckCounts::default(),
        }
    }

    /// Whether the epoch of the line's band is in force: the lines of the band may be written, so
    /// that this cache may keep no copy of the line. In the repaired protocol, the coming epochs
    /// also count as soon as this compute unit is ready for them.
    fn is_open(&self, line: LineAddr) -> bool {
        let comes = matches!(self.change, Change::IsReady(Some(next)) if next.contains(line));
        comes || self.granted.contains(line)
    }

    fn write_of(&self, line: LineAddr) -> Option<&Write> {
        self.writes.iter().find(|write| write.line == line)
    }

    /// Whether a load of the line conflicts with a blocked write to the same band (group of lines),
    /// and this compute unit has reported no conflict since the last change of epochs. False if
    /// bands are not adaptive (do not change because of conflicts).
    fn conflicts(&self, line: LineAddr) -> bool {
        let is_of_band =
            |write: &Write| !write.is_issued && self.granted.band(write.line) == self.granted.band(line);
        self.granted.adapts && !self.has_conflicted && self.writes.iter().any(is_of_band)
    }

    /// Performs a step of a request's plan (list of steps). Returns `None` if the request continues
    /// with the next step.
    fn perform<P: Stc>(
        &mut self,
        step: Step,
        ask: RequestInput<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Option<Disposition> {
        let line = ask.req.line;
        if ask.req.order != Order::Plain || matches!(step, Step::Await | Step::Below) {
            cx.fx.spend(ask.slot, step.spends(self.change));
        }
        match step {
            Step::Here => Some(self.load(ask, cx)),
            // The access in memory must come after an older write of the line.
            Step::Pass if self.write_of(line).is_some() => Some(Disposition::Stall(Key::Line(line))),
            Step::Pass => self.event(line, Event::Drop, Operand::Nothing, cx).unless_done(),
            Step::BelowSystem if ask.req.op == Op::Load => {
                self.cache.lower.below(ask, AccessSite::System, cx)
            }
            Step::Await => self.await_epoch(ask, cx),
            Step::Below | Step::BelowSystem => Some(self.write(ask, cx)),
            Step::FlushBanks => self.cache.lower.flush_banks(ask.slot, cx),
            Step::InvalidateBanks => self.cache.lower.invalidate_banks(ask.slot, cx),
            Step::InvalidateL1s => {
                let own = self.invalidate_all(Cause::of(ask.req), Event::Drop, Operand::Nothing, cx);
                own.unless_done().or_else(|| {
                    cx.fx.uses.invalidation_broadcasts += 1;
                    let reaches_all = cx.world.params.variant.without != Some(Rule::AcquiresReachAll);
                    let others = peers(cx.me, cx.level().count).filter(|_| reaches_all);
                    self.invalidated.tell(ask.slot, others, |slot| ToL1::Invalidate { slot }, cx)
                })
            }
            Step::AnswerIt => answer(ask, cx),
        }
    }

    fn load<P: Stc>(&mut self, ask: RequestInput<'_>, cx: &mut Cx<'_, P>) -> Disposition {
        let line = ask.req.line;
        if self.write_of(line).is_some() {
            return Disposition::Stall(Key::Line(line));
        }
        let place = self.cache.array.place(line, cx.world.homes);
        let event = if self.is_open(line) { Event::LoadU } else { Event::Load };
        let (state, _) = Lines::<P>::classify(self, place, event, Operand::Nothing);
        let fetches = state == State::I || state == State::V && event == Event::LoadU;
        let leaving = self.leaving(place);
        let way = fetches && event == Event::Load;
        let needs = ResourceNeeds { entry: false, register: fetches, way };
        let before = ResourceNeeds { way: way && leaving.is_empty(), ..needs };
        if let Some(lacks) = self.cache.lacks(place, before, cx) {
            return lacks;
        }
        // A load that waits for a fill under way does not reach the set.
        if matches!(state, State::I | State::V) {
            let touched = self.touch(place.set, &leaving, cx).unless_done();
            if let Some(other) = touched.or_else(|| self.cache.lacks(place, needs, cx)) {
                return other;
            }
        }
        let disposition = self.transition(place, state, event, Operand::Request(ask), cx);
        if event == Event::LoadU && matches!(disposition, Disposition::Wait(_)) {
            cx.fx.uses.bypasses += 1;
        }
        if matches!(disposition, Disposition::Done | Disposition::Wait(_)) && self.conflicts(line) {
            self.has_conflicted = true;
            cx.fx.send(EMU, ToEmu::EpochConflict { line });
        }
        disposition
    }

    /// Lets a write go on if the epoch of its band is in force (the lines of the band may be
    /// written) and no change of epochs is under way. If not, the write joins the blocked-store
    /// queue. In both cases, the write first waits for an older write of its line, and for room in
    /// the coalescing buffer. A write that joins the queue also waits for room in the queue.
    fn await_epoch<P: Stc>(&mut self, ask: RequestInput<'_>, cx: &mut Cx<'_, P>) -> Option<Disposition> {
        let line = ask.req.line;
        let may_go = self.may_write(line);
        if self.write_of(line).is_some() {
            return Some(Disposition::Stall(Key::Line(line)));
        }
        if self.is_full(may_go, cx) {
            return Some(Disposition::Stall(Key::StoreBuffer));
        }
        let event = if may_go { Event::Write } else { Event::Blocked };
        match self.event(line, event, Operand::Request(ask), cx) {
            Disposition::Done if may_go => None,
            Disposition::Done => {
                cx.stage += 1;
                Some(Disposition::Stall(Key::Slot(ask.slot)))
            }
            other => Some(other),
        }
    }

    /// Sends a write to the bank.
    fn write<P: Stc>(&mut self, ask: RequestInput<'_>, cx: &mut Cx<'_, P>) -> Disposition {
        let place = self.cache.array.place(ask.req.line, cx.world.homes);
        let leaving = self.leaving(place);
        if let Some(other) = self.touch(place.set, &leaving, cx).unless_done() {
            return other;
        }
        match self.event(ask.req.line, Event::Store, Operand::Request(ask), cx) {
            Disposition::Done => Disposition::Stall(Key::Slot(ask.slot)),
            other => other,
        }
    }

    /// The number of writes in the blocked-store queue: those that wait for their epoch.
    fn blocked(&self) -> usize {
        self.writes.iter().filter(|write| !write.is_issued).count()
    }

    fn may_write(&self, line: LineAddr) -> bool {
        self.change == Change::None && self.granted.contains(line)
    }

    /// Whether there is no room for another write. The coalescing buffer holds the bytes of all
    /// writes under way. The blocked-store queue matters only if the write may not go on (`may_go`
    /// is false).
    fn is_full<P: Stc>(&self, may_go: bool, cx: &Cx<'_, P>) -> bool {
        self.writes.len() >= cx.level().array.store_buffer_entries as usize
            || !may_go && self.blocked() >= cx.world.params.queue
    }

    /// Demands the epoch of a blocked write (the time in which the band of its line may be
    /// written), unless this compute unit has demanded this epoch since the last change of epochs.
    /// If epochs are granted without demands, no epoch is demanded. If bands are not adaptive (do
    /// not change because of conflicts), only the band of the write matters, so the demand names
    /// the first line of the band.
    fn demand<P: Stc>(&mut self, line: LineAddr, cx: &mut Cx<'_, P>) {
        let bit = self.granted.bit(line);
        if !cx.world.params.variant.skips || self.demanded & bit != 0 {
            return;
        }
        self.demanded |= bit;
        let adapts = self.granted.adapts;
        let line = if adapts { line } else { self.granted.first_line(line) };
        cx.fx.send(EMU, ToEmu::EpochDemand { line, adapts });
    }

    /// The lines that the first access to a set in these epochs removes: those that may be written
    /// now. The line of the access itself is not among them, because the row of the access removes
    /// it. Empty if an earlier access has reached the set.
    fn leaving(&self, place: Place) -> Vec<LineAddr> {
        if !self.stale[place.set.0 as usize] {
            return Vec::new();
        }
        let array = &self.cache.array;
        let ways = array.in_set(place.set).filter(|&way| REPAIRED || array.state(way) == State::V);
        let lines = ways.filter_map(|way| array.line(way));
        lines.filter(|&line| line != place.line && self.is_open(line)).collect()
    }

    /// Removes these lines from a set that an access reaches.
    fn touch<P: Stc>(&mut self, set: SetIndex, leaving: &[LineAddr], cx: &mut Cx<'_, P>) -> Disposition {
        self.stale[set.0 as usize] = false;
        self.remove(leaving, cx)
    }

    fn remove<P: Stc>(&mut self, lines: &[LineAddr], cx: &mut Cx<'_, P>) -> Disposition {
        let mut removed = lines.iter().map(|&line| self.event(line, Event::Epoch, Operand::Nothing, cx));
        removed.find(|disposition| *disposition != Disposition::Done).unwrap_or(Disposition::Done)
    }

    /// Ends the epochs in force for the copies in the cache. The sweep removes the copies of lines
    /// of these epochs from the sets that no access has reached. Then the sets await the first
    /// access in the epochs `next`.
    fn sweep<P: Stc>(&mut self, next: Grant, cx: &mut Cx<'_, P>) -> Disposition {
        // A sweep that compares lines with the coming epochs spares the lines of the ended epochs.
        let is_late = cx.world.params.variant.without == Some(Rule::SweepComesFirst);
        let ended = if is_late { next } else { self.granted };
        let array = &self.cache.array;
        let mut left = Vec::new();
        for line in array.occupied(Way(0)).filter_map(|way| array.line(way)) {
            let set = array.set(line, cx.world.homes);
            if ended.contains(line) && self.stale[set.0 as usize] {
                left.push(line);
            }
            // An access that waits for a way can now remove this line and take its way.
            if next.contains(line) && cx.has_way_waiter(set) {
                cx.fx.wake(Key::Way(set));
            }
        }
        self.stale.fill(true);
        self.remove(&left, cx)
    }

    /// If this compute unit prepares for a change of epochs (of the bands of lines that may be
    /// written) and its last pending write is complete, tells the epoch management unit that it is
    /// ready. From then on, loads of lines whose epochs the epoch management unit has announced do
    /// not use their copies.
    fn ready_if_due<P: Stc>(&mut self, cx: &mut Cx<'_, P>) -> Disposition {
        let Change::Prepares(next) = self.change else { return Disposition::Done };
        if self.writes.iter().any(|write| write.is_issued) {
            return Disposition::Done;
        }
        self.change = Change::IsReady(next);
        cx.fx.send(EMU, ToEmu::ReadyAck);
        next.map_or(Disposition::Done, |next| self.sweep(next, cx))
    }

    /// Changes to the new epochs `next`, and issues those blocked writes whose lines may be written
    /// in these epochs.
    fn change<P: Stc>(&mut self, next: Grant, cx: &mut Cx<'_, P>) -> Disposition {
        if !matches!(self.change, Change::IsReady(_)) {
            return Disposition::Impossible(
                "this compute unit has not reported that it is ready for a change of epochs",
            );
        }
        if let Change::IsReady(None) = self.change
            && let Some(other) = self.sweep(next, cx).unless_done()
        {
            return other;
        }
        (self.granted, self.change) = (next, Change::None);
        (self.demanded, self.has_conflicted) = (0, false);
        cx.fx.uses.blocked_at_change += self.blocked() as u32;
        cx.fx.send(EMU, ToEmu::DoneAck);
        for write in self.writes.clone() {
            cx.fx.spend(write.slot, Spending::Epoch);
            if next.contains(write.line) {
                cx.fx.resume(write.slot);
            } else if REPAIRED && cx.world.params.variant.without != Some(Rule::DemandsAreRepeated) {
                // If the start bit of bands has moved, an earlier demand may have been for a band
                // to which the write no longer belongs.
                self.demand(write.line, cx);
            }
        }
        Disposition::Done
    }

    fn message<P: Stc>(&mut self, from: NodeId, msg: &ToL1, cx: &mut Cx<'_, P>) -> Disposition {
        match *msg {
            ToL1::Bank(parts::ToL1::Data { line, ref data }) => {
                let event = if self.is_open(line) { Event::DataE } else { Event::Data };
                self.event(line, event, Operand::Fill(data), cx)
            }
            ToL1::Bank(ref msg @ parts::ToL1::Done { slot, .. }) => {
                let answered = self.cache.lower.message(msg, cx);
                match self.writes.iter().find(|write| write.slot == slot) {
                    None => answered,
                    Some(&Write { line, .. }) => self.event(line, Event::Ack, Operand::Nothing, cx),
                }
            }
            ToL1::Bank(ref msg) => self.cache.lower.message(msg, cx),
            ToL1::PrepareEpochChange { next, .. } => {
                self.change = Change::Prepares(next);
                let blocked = self.writes.iter().filter(|write| !write.is_issued);
                blocked.for_each(|write| cx.fx.spend(write.slot, Spending::Handshake));
                self.ready_if_due(cx)
            }
            ToL1::ChangeEpoch { next, .. } => self.change(next, cx),
            ToL1::EpochDemandAck => Disposition::Done,
            ToL1::Invalidate { slot } => {
                cx.fx.send(from, ToL1::Invalidated { slot });
                self.invalidate_all(Cause::Remote, Event::Drop, Operand::Nothing, cx)
            }
            ToL1::Invalidated { slot } => match self.invalidated.answered(slot, cx) {
                true => Disposition::Done,
                false => Disposition::Impossible("no invalidation is outstanding"),
            },
        }
    }
}

impl Step {
    /// The part of a request (the access, the acquire or the release) to which the time from this
    /// step on is attributed, for statistics. `change` says whether a change of epochs (of the lines
    /// that may be written) is under way.
    fn spends(self, change: Change) -> Spending {
        match self {
            Step::Here | Step::Pass | Step::Below | Step::BelowSystem | Step::AnswerIt => Spending::Access,
            Step::Await if change == Change::None => Spending::Epoch,
            Step::Await => Spending::Handshake,
            Step::FlushBanks => Spending::Release,
            Step::InvalidateBanks | Step::InvalidateL1s => Spending::Acquire,
        }
    }
}

impl<P: Stc, const REPAIRED: bool> Lines<P> for L1<REPAIRED> {
    type Operand<'a> = Operand<'a>;

    first_lines! { cache: L1Table<REPAIRED>, absent: State::I }

    fn occupies(state: State) -> bool {
        matches!(state, State::V | State::IV)
    }

    fn classify(&self, place: Place, event: Event, _: Operand<'_>) -> (State, Event) {
        let state = match place.way {
            Some(way) => self.cache.array.state(way),
            None if self.uncached.contains(&place.line) => State::II,
            None => State::I,
        };
        (state, event)
    }

    fn act(&mut self, action: Action, place: Place, operand: Operand<'_>, cx: &mut Cx<'_, P>) {
        let Place { line, way, .. } = place;
        match (action, way, operand) {
            (Action::SendGet, ..) => self.cache.get(line, cx),
            (Action::Uncache, ..) => {
                self.uncached.push(line);
                self.uncached.sort_unstable();
            }
            (Action::Reply, Some(way), Operand::Request(ask)) => self.cache.reply(way, ask, cx),
            (Action::Fill, Some(way), Operand::Fill(data)) => self.cache.fill(way, data, cx),
            (Action::Answer, _, Operand::Fill(data)) => cx.fx.reply_waiters(line, *data),
            (Action::Wake, ..) => {
                self.uncached.retain(|&other| other != line);
                self.cache.end_get(place, cx);
            }
            (Action::Issue, _, Operand::Request(ask)) => {
                let (slot, is_issued) = (ask.slot, true);
                match self.writes.iter_mut().find(|write| write.line == line) {
                    Some(blocked) => {
                        blocked.is_issued = true;
                        cx.fx.wake(Key::StoreBuffer);
                    }
                    None => self.writes.push(Write { line, slot, is_issued }),
                }
                let key = PlanKey::of(ask.req);
                let is_wide = key.reach() == Reach::System && !key.is_plain();
                let site = if is_wide { AccessSite::System } else { AccessSite::Here };
                self.cache.lower.below(ask, site, cx);
            }
            (Action::Queue, _, Operand::Request(ask)) => {
                self.writes.push(Write { line, slot: ask.slot, is_issued: false });
                cx.fx.uses.writes_blocked += 1;
                cx.fx.uses.blocked_now = self.blocked() as u32;
                self.demand(line, cx);
            }
            (Action::Complete, ..) => {
                self.writes.retain(|write| write.line != line);
                cx.fx.wake(Key::Line(line));
                cx.fx.wake(Key::StoreBuffer);
            }
            (Action::Reply | Action::Fill | Action::Answer | Action::Issue | Action::Queue, ..) => {
                cx.lacks_operand(action);
            }
        }
    }
}

impl<P: Stc, const REPAIRED: bool> Controller<P> for L1<REPAIRED> {
    type Msg = ToL1;

    fn step(&mut self, input: Input<'_, ToL1>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Request(ask) => cx.follow::<L1Plans>(ask, |step, cx| self.perform(step, ask, cx)),
            Input::Message { from, msg } => match self.message(from, msg, cx) {
                Disposition::Done => self.ready_if_due(cx),
                other => other,
            },
            Input::Evict(way) => self.event_in(way, Event::Evict, Operand::Nothing, cx),
            Input::Timer(_) | Input::Memory(_) => Disposition::Impossible("an L1 has no timer"),
            Input::Tick { .. } => Disposition::Done,
        }
    }

    fn hit(&self, load: &Load, homes: &Homes) -> Option<Hit<'_>> {
        let is_held_back = self.write_of(load.line).is_some() || self.conflicts(load.line);
        let is_stale = || self.stale[self.cache.array.set(load.line, homes).0 as usize];
        if is_held_back || self.is_open(load.line) || is_stale() {
            return None;
        }
        self.cache.hit::<L1Table<REPAIRED>, L1Plans>(load, homes, Step::Here, (Event::Load, Action::Reply))
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
        self.cache.array.views::<L1Table<REPAIRED>>(out);
    }

    fn is_quiet(&self) -> bool {
        self.cache.is_quiet()
            && self.writes.is_empty()
            && self.invalidated.is_idle()
            && self.change == Change::None
    }

    fn canonicalize(&mut self) {
        self.cache.canonicalize();
    }
}
