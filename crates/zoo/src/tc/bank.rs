//! A bank of the L2: a bank of `vi` with a record of leases.

use super::tables::{Deed, Lease, LeaseTable, Use};
use super::{Tc, ToBank, ToL1};
use crate::parts::{self, AccessSite};
use crate::vi::{self, BankState};
use proto::parts::Countdowns;
use proto::{
    Controller, Cx, Disposition, Input, Key, KindLevel, LineAddr, LineView, NodeId, Rank, Row, RowLookup,
    SetIndex, Slot, TimerClass, Way,
};
use std::collections::BTreeMap;

/// The leases of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Leases {
    state: Lease,
    /// The L1 that got the first of the leases.
    first: NodeId,
}

/// A bank, the leases of lines, and the acquires that wait for the end of leases.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bank {
    bank: vi::Bank,
    leases: BTreeMap<LineAddr, Leases>,
    /// The ticks until the last lease of each line ends.
    ends: Countdowns<LineAddr>,
    waits: Countdowns<(NodeId, Slot)>,
}

impl Bank {
    /// An empty bank without leases.
    #[must_use]
    pub fn new(level: &KindLevel) -> Self {
        Bank {
            bank: vi::Bank::new(level, &()),
            leases: BTreeMap::new(),
            ends: Countdowns::default(),
            waits: Countdowns::default(),
        }
    }

    /// Arms the timer for the next end of a lease or of an acquire's wait for leases, whichever is
    /// earlier.
    fn arm<P: Tc>(&self, cx: &mut Cx<'_, P>) {
        if let Some(ticks) = self.ends.first().into_iter().chain(self.waits.first()).min() {
            cx.fx.timer_in(TimerClass::Lease, ticks);
        }
    }

    /// The leases of a line. If no lease runs, the first lease will be that of `user`.
    fn leases_of(&self, line: LineAddr, user: NodeId) -> Leases {
        self.leases.get(&line).copied().unwrap_or(Leases { state: Lease::Free, first: user })
    }

    /// The state of a line's leases, and the event that a use of the line by `user` causes. They
    /// select a row of the table.
    fn classify<P: Tc>(
        &self,
        line: LineAddr,
        leases: Leases,
        used: Use,
        user: NodeId,
        cx: &Cx<'_, P>,
    ) -> (Lease, Use) {
        let is_own = leases.state == Lease::Private && leases.first == user;
        let is_wanted = cx.has_way_waiter(self.bank.set(line, cx));
        let is_awaited = is_wanted || cx.has_line_waiter(line);
        match used {
            used if is_wanted && leases.state == Lease::Free => (Lease::Wanted, used),
            used if is_awaited && leases.state != Lease::Free => (Lease::Awaited, used),
            Use::Get if is_own => (leases.state, Use::OwnGet),
            Use::Write if is_own => (leases.state, Use::OwnWrite),
            used => (leases.state, used),
        }
    }

    /// Carries out the table row for an event of a line's leases.
    fn carry_out<P: Tc>(
        &mut self,
        line: LineAddr,
        (leases, looked): (Leases, RowLookup<Lease, Deed>),
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        let (actions, next) = match looked.row {
            Row::Do { actions, next, .. } => (actions, next),
            Row::Stall => return Disposition::Stall(Key::Line(line)),
            Row::Impossible(why) => return Disposition::Impossible(why),
        };
        for (_, deed) in (0u8..).zip(actions).filter(|&(at, _)| looked.skip != Some(at)) {
            match deed {
                Deed::Grant => {
                    self.ends.start(line, cx.world.params.lease_ticks);
                    self.arm(cx);
                }
                // No way of the set is wanted, or else the leases would be awaited.
                Deed::Release => self.ends.remove(line),
                Deed::WakeLine => {
                    cx.fx.wake(Key::Line(line));
                    cx.fx.wake(Key::Way(self.bank.set(line, cx)));
                }
            }
        }
        match next {
            Some(Lease::Free) => drop(self.leases.remove(&line)),
            Some(state) => drop(self.leases.insert(line, Leases { state, ..leases })),
            None => {}
        }
        Disposition::Done
    }

    /// Serves a deadline: ends the leases whose time has passed, answers the acquires whose wait
    /// for leases is over, and sets the next deadline.
    fn deadline<P: Tc>(&mut self, cx: &mut Cx<'_, P>) -> Disposition {
        for line in self.ends.take_ended() {
            let leases = self.leases_of(line, cx.me);
            let looked = cx.row::<LeaseTable>(leases.state, Use::End);
            let disposition = self.carry_out(line, (leases, looked), cx);
            if disposition != Disposition::Done {
                return disposition;
            }
        }
        for (node, slot) in self.waits.take_ended() {
            cx.fx.send(node, ToL1::LeasesEnded { slot });
        }
        self.arm(cx);
        Disposition::Done
    }

    /// Processes a message that the bank of `vi` knows. An access waits until the leases of its line
    /// permit it.
    fn message<P: Tc>(&mut self, from: NodeId, msg: &parts::ToBank, cx: &mut Cx<'_, P>) -> Disposition {
        let (line, used, user, is_at_once) = match *msg {
            // From the state IX, memory answers a get, without a lease. A get of a line that is not present
            // looks at the leases, too: the line may have left the bank before they end, and the get
            // must not pass a write that waits for their end.
            parts::ToBank::Get { line } if self.bank.state(line, cx) != BankState::IX => {
                (line, Use::Get, from, false)
            }
            parts::ToBank::Access { line, site, requester, .. } => {
                // From the state IX, memory performs an update, and does not know the leases.
                let is_at_once = site == AccessSite::Here && self.bank.state(line, cx) != BankState::IX;
                (line, Use::Write, requester, is_at_once)
            }
            _ => return self.bank.step(Input::Message { from, msg }, cx),
        };
        let leases = self.leases_of(line, user);
        let (state, event) = self.classify(line, leases, used, user, cx);
        // A write that does not wait leaves the leases of other compute units as they are.
        let looked = (!is_at_once || event == Use::OwnWrite).then(|| cx.row::<LeaseTable>(state, event));
        let may_wait = looked.filter(|looked| !matches!(looked.row, Row::Do { .. }));
        if let Some(looked) = may_wait {
            return self.carry_out(line, (leases, looked), cx);
        }
        let sent = cx.fx.sends.len();
        match self.bank.step(Input::Message { from, msg }, cx) {
            Disposition::Done => {}
            other => return other,
        }
        let disposition =
            looked.map_or(Disposition::Done, |looked| self.carry_out(line, (leases, looked), cx));
        if used == Use::Get || is_at_once {
            let ticks = self.ends.left(line);
            cx.fx.sends[sent..].iter_mut().for_each(|(_, msg)| P::stamp(msg, ticks));
        }
        disposition
    }
}

impl<P: Tc> Controller<P> for Bank {
    type Msg = ToBank;

    fn step(&mut self, input: Input<'_, ToBank>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Message { from, msg: &ToBank::Get { line } } => {
                self.message(from, &parts::ToBank::Get { line }, cx)
            }
            Input::Message { from, msg: ToBank::Shared(msg) } => self.message(from, msg, cx),
            Input::Message { from, msg: &ToBank::AwaitLeases { slot } } => {
                match self.ends.last() {
                    None => cx.fx.send(from, ToL1::LeasesEnded { slot }),
                    // The timer is armed for these leases, or for earlier ones.
                    Some(ticks) => self.waits.start((from, slot), ticks),
                }
                Disposition::Done
            }
            Input::Tick { elapsed } => {
                self.ends.pass(elapsed);
                self.waits.pass(elapsed);
                Disposition::Done
            }
            Input::Timer(TimerClass::Lease) => self.deadline(cx),
            Input::Timer(class) => self.bank.step(Input::Timer(class), cx),
            Input::Memory(reply) => self.bank.step(Input::Memory(reply), cx),
            Input::Evict(way) => self.bank.step(Input::Evict(way), cx),
            Input::Request(ask) => self.bank.step(Input::Request(ask), cx),
        }
    }

    /// Appends the ways of a set whose lines may be evicted. The L2 is inclusive, so a line with a
    /// lease is not among them.
    fn victims(&self, set: SetIndex, out: &mut Vec<(Way, Rank)>) {
        Controller::<P>::victims(&self.bank, set, out);
        out.retain(|&(way, _)| self.bank.line(way).is_none_or(|line| !self.leases.contains_key(&line)));
    }

    fn occupied(&self, set: SetIndex, out: &mut Vec<Way>) {
        Controller::<P>::occupied(&self.bank, set, out);
    }

    fn lines(&self, out: &mut Vec<LineView>) {
        Controller::<P>::lines(&self.bank, out);
    }

    fn is_quiet(&self) -> bool {
        Controller::<P>::is_quiet(&self.bank) && self.waits.is_empty()
    }

    fn miscount(&self) -> Option<&'static str> {
        let right = self.leases.keys().all(|&line| self.ends.left(line) > 0);
        if right { Controller::<P>::miscount(&self.bank) } else { Some("a line has a lease that has ended") }
    }

    fn canonicalize(&mut self) {
        Controller::<P>::canonicalize(&mut self.bank);
        self.ends.canonicalize();
        self.waits.canonicalize();
    }
}
