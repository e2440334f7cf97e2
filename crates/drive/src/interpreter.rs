//! The inputs of a station, and the handling of its effects.

use crate::nodes::{At, Nodes};
use proto::{
    Effects, LineData, MemoryOp, MemoryReply, Protocol, Request, SetIndex, Slot, Spending, Station,
    TimerClass, Uses, Way,
};

/// An input of a station. A driver writes requests, messages and answers as
/// values, or as numbers of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Told<R, M, A> {
    /// Its first input.
    Start,
    /// A request.
    Ask {
        /// Its name.
        slot: Slot,
        /// What is asked.
        request: R,
    },
    /// A message.
    Message {
        /// Who sent it.
        from: At,
        /// What it says.
        msg: M,
    },
    /// Memory's answer.
    Memory {
        /// The answer.
        reply: A,
    },
    /// A timer has run out.
    Timer(TimerClass),
    /// A way is given up.
    Evict(Way),
    /// So many clock ticks have passed.
    Tick(u32),
}

impl<R, M, A> Told<R, M, A> {
    /// The same, with requests, messages and answers written in another way.
    #[inline]
    pub fn map<R2, M2, A2>(
        self,
        request: impl FnOnce(R) -> R2,
        msg: impl FnOnce(M) -> M2,
        reply: impl FnOnce(A) -> A2,
    ) -> Told<R2, M2, A2> {
        match self {
            Told::Start => Told::Start,
            Told::Ask { slot, request: it } => Told::Ask { slot, request: request(it) },
            Told::Message { from, msg: it } => Told::Message { from, msg: msg(it) },
            Told::Memory { reply: it } => Told::Memory { reply: reply(it) },
            Told::Timer(class) => Told::Timer(class),
            Told::Evict(way) => Told::Evict(way),
            Told::Tick(elapsed) => Told::Tick(elapsed),
        }
    }

    /// The same, borrowed.
    #[inline]
    pub fn as_ref(&self) -> Told<&R, &M, &A> {
        match self {
            Told::Start => Told::Start,
            Told::Ask { slot, request } => Told::Ask { slot: *slot, request },
            Told::Message { from, msg } => Told::Message { from: *from, msg },
            Told::Memory { reply } => Told::Memory { reply },
            Told::Timer(class) => Told::Timer(*class),
            Told::Evict(way) => Told::Evict(*way),
            Told::Tick(elapsed) => Told::Tick(*elapsed),
        }
    }
}

/// What a driver chooses. No method has a default: a driver that forgets one
/// does not compile. A driver takes what it is handed; whatever it leaves in a
/// list is dropped.
pub trait Driver<P: Protocol> {
    /// An input needs a way of a set: which is given up now? `touched` are the
    /// ways used in this step. With `None` the input waits for one.
    fn victim(&mut self, at: At, node: &P::Node, set: SetIndex, touched: &[Way]) -> Option<Way>;
    /// Ways were used, for recency.
    fn touched(&mut self, at: At, ways: &[Way]);
    /// What the step used.
    fn used(&mut self, at: At, uses: &Uses);
    /// A message is sent.
    fn sent(&mut self, from: At, to: At, msg: P::Msg);
    /// Memory is asked, in this order.
    fn asked(&mut self, from: At, ops: &mut Vec<MemoryOp>);
    /// A timer is asked for. One that runs goes on.
    fn armed(&mut self, at: At, class: TimerClass);
    /// An input waits for a way of a set.
    fn blocked(&mut self, at: At, set: SetIndex);
    /// On what requests spend their time from now on.
    fn spent(&mut self, at: At, spends: &[(Slot, Spending)]);
    /// Requests are answered.
    fn answered(&mut self, at: At, answers: &mut Vec<(Slot, Option<LineData>)>);
}

/// Evictions that free no way, again and again, are a fault of the protocol.
const EVICTIONS_PER_INPUT_MAX: u32 = 1 << 16;

impl<P: Protocol> Nodes<P> {
    /// Tells a station something and hands what it does to the driver: what it
    /// used, messages, operations on memory, timers, ways it waits for, answers.
    ///
    /// # Errors
    /// The rule that the protocol violates. The driver then gets no further effects.
    // A driver tells most inputs from a place of their own: only that is compiled there.
    #[inline(always)]
    pub fn tell(
        &self,
        station: &mut Station<P>,
        at: At,
        told: &Told<&Request, &P::Msg, &MemoryReply>,
        fx: &mut Effects<P::Msg>,
        driver: &mut impl Driver<P>,
    ) -> Result<(), String> {
        fx.clear();
        let world = self.world();
        match *told {
            Told::Start => station.start(world, fx),
            Told::Ask { slot, request } => {
                station.request_choosing(slot, request, world, fx, |node, set, touched| {
                    driver.victim(at, node, set, touched)
                });
            }
            Told::Message { from, msg } => {
                let from = self.ids()[from as usize];
                station.message_choosing(from, msg, world, fx, |node, set, touched| {
                    driver.victim(at, node, set, touched)
                });
            }
            Told::Memory { reply } => station.memory(reply, world, fx),
            Told::Timer(class) => station.timer(class, world, fx),
            Told::Evict(way) => station.evict(way, world, fx),
            Told::Tick(elapsed) => station.tick(elapsed, world, fx),
        }
        if !fx.touches.is_empty() {
            driver.touched(at, &fx.touches);
            fx.touches.clear();
        }
        if !fx.needs.is_empty() {
            self.make_room(station, at, fx, driver);
        }
        self.hand_out(at, fx, driver)
    }

    /// Gives up ways where inputs are parked for one. Without a victim an input
    /// stays parked until a way comes free: its set stays in the list.
    fn make_room(
        &self,
        station: &mut Station<P>,
        at: At,
        fx: &mut Effects<P::Msg>,
        driver: &mut impl Driver<P>,
    ) {
        let mut evictions = 0;
        let (mut needs, mut blocked) = (Vec::new(), Vec::new());
        while !fx.needs.is_empty() && fx.violation.is_none() {
            needs.append(&mut fx.needs);
            for set in needs.drain(..) {
                let Some(way) = driver.victim(at, &station.node, set, &fx.touches) else {
                    blocked.push(set);
                    continue;
                };
                fx.touches.clear();
                evictions += 1;
                station.evict(way, self.world(), fx);
            }
            if evictions > EVICTIONS_PER_INPUT_MAX {
                fx.violation.get_or_insert_with(|| format!("{}: evictions free no way", self.name(at)));
            }
        }
        fx.needs = blocked;
        if !fx.touches.is_empty() {
            driver.touched(at, &fx.touches);
            fx.touches.clear();
        }
    }

    #[inline]
    fn hand_out(&self, at: At, fx: &mut Effects<P::Msg>, driver: &mut impl Driver<P>) -> Result<(), String> {
        let uses = &fx.uses;
        if fx.violation.is_some() || uses.accesses != uses.hits + uses.misses + uses.bypasses {
            return Err(self.broken(at, fx));
        }
        driver.used(at, uses);
        if !fx.sends.is_empty() {
            for (id, msg) in fx.sends.drain(..) {
                match self.position(id) {
                    Some(to) => driver.sent(at, to, msg),
                    None => return Err(format!("{} sends to {id:?}, which is not there", self.name(at))),
                }
            }
        }
        if !fx.memory.is_empty() {
            driver.asked(at, &mut fx.memory);
        }
        if !fx.timers.is_empty() {
            fx.timers.drain(..).for_each(|class| driver.armed(at, class));
        }
        if !fx.needs.is_empty() {
            fx.needs.drain(..).for_each(|set| driver.blocked(at, set));
        }
        if !fx.spends.is_empty() {
            driver.spent(at, &fx.spends);
        }
        if !fx.replies.is_empty() {
            driver.answered(at, &mut fx.replies);
        }
        Ok(())
    }

    #[cold]
    fn broken(&self, at: At, fx: &mut Effects<P::Msg>) -> String {
        let uses = &fx.uses;
        let (accesses, counted) = (uses.accesses, uses.hits + uses.misses + uses.bypasses);
        fx.violation.take().unwrap_or_else(|| {
            format!("{}: {accesses} accesses, but {counted} hits, misses and bypasses", self.name(at))
        })
    }
}
