//! Inputs of a station (one controller of a protocol with its parked inputs), and the interpreter
//! that hands the effects of each input to a driver.

use crate::nodes::{At, Nodes};
use proto::{
    Effects, LineData, MemoryOp, MemoryReply, Protocol, Request, SetIndex, Slot, Spending, Station,
    TimerClass, Uses, Way,
};

/// An input of a station (one controller of a protocol, such as a cache). A driver represents
/// requests, messages and replies either as values or as indices of stored values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StationInput<R, M, A> {
    /// The initial input, which every station (controller) gets once, before all other inputs.
    Start,
    /// A request from a core, the host or the command processor.
    Request {
        /// The slot that identifies the request.
        slot: Slot,
        /// The request.
        request: R,
    },
    /// A message from another controller.
    Message {
        /// The position of the controller that sent the message.
        from: At,
        /// The message.
        msg: M,
    },
    /// A reply from memory to an earlier operation that this station (controller) requested.
    Memory {
        /// The reply, with the operation that it answers.
        reply: A,
    },
    /// A timer of this class has expired.
    Timer(TimerClass),
    /// The driver evicts the line that this way (one entry of a set) holds.
    Evict(Way),
    /// The clock of the station (controller) advances by this number of ticks.
    Tick(u32),
}

impl<R, M, A> StationInput<R, M, A> {
    /// Converts the requests, messages and replies of an input to another representation, such as
    /// from an index to a stored value.
    #[inline]
    pub fn map<R2, M2, A2>(
        self,
        request: impl FnOnce(R) -> R2,
        msg: impl FnOnce(M) -> M2,
        reply: impl FnOnce(A) -> A2,
    ) -> StationInput<R2, M2, A2> {
        match self {
            StationInput::Start => StationInput::Start,
            StationInput::Request { slot, request: it } => {
                StationInput::Request { slot, request: request(it) }
            }
            StationInput::Message { from, msg: it } => StationInput::Message { from, msg: msg(it) },
            StationInput::Memory { reply: it } => StationInput::Memory { reply: reply(it) },
            StationInput::Timer(class) => StationInput::Timer(class),
            StationInput::Evict(way) => StationInput::Evict(way),
            StationInput::Tick(elapsed) => StationInput::Tick(elapsed),
        }
    }

    /// Borrows the request, message or reply of an input.
    #[inline]
    pub fn as_ref(&self) -> StationInput<&R, &M, &A> {
        match self {
            StationInput::Start => StationInput::Start,
            StationInput::Request { slot, request } => StationInput::Request { slot: *slot, request },
            StationInput::Message { from, msg } => StationInput::Message { from: *from, msg },
            StationInput::Memory { reply } => StationInput::Memory { reply },
            StationInput::Timer(class) => StationInput::Timer(*class),
            StationInput::Evict(way) => StationInput::Evict(*way),
            StationInput::Tick(elapsed) => StationInput::Tick(*elapsed),
        }
    }
}

/// A driver chooses victims and receives the effects of a step of a controller. No method has a
/// default, so that every driver must handle every effect. A method with a `&mut Vec` takes the
/// elements that it needs out of the vector. The caller drops the other elements.
pub trait Driver<P: Protocol> {
    /// Chooses the way to evict now, because an input needs a way of `set`. `touched` holds the
    /// ways that the current step has used. If the result is `None`, the input waits until a way is
    /// free.
    fn victim(&mut self, at: At, node: &P::Node, set: SetIndex, touched: &[Way]) -> Option<Way>;
    /// Receives the ways that a step of a cache used, so that the driver can record that these ways
    /// were used recently.
    fn touched(&mut self, at: At, ways: &[Way]);
    /// Receives the counters of a controller's step, such as accesses and hits.
    fn used(&mut self, at: At, uses: &Uses);
    /// Is called for each message that a node (controller) sends to another node. The driver
    /// transports the message.
    fn sent(&mut self, from: At, to: At, msg: P::Msg);
    /// Receives the operations that a node (controller) requests from memory, in order.
    fn requested(&mut self, from: At, ops: &mut Vec<MemoryOp>);
    /// Receives the class of a timer that a node (controller) starts. If the timer already runs,
    /// the driver leaves it unchanged.
    fn armed(&mut self, at: At, class: TimerClass);
    /// Receives the set of the cache in which an input waits for a free way.
    fn blocked(&mut self, at: At, set: SetIndex);
    /// Receives a list of requests, each given by its slot. Each request comes with the part of its
    /// work (access, acquire or release) to which the driver attributes the request's time from now
    /// on.
    fn spent(&mut self, at: At, spends: &[(Slot, Spending)]);
    /// Receives the answers to requests: the slot of each request, and the bytes if the answer has
    /// any.
    fn answered(&mut self, at: At, answers: &mut Vec<(Slot, Option<LineData>)>);
}

/// The maximum number of evictions for one input. If an input still waits for a way after this many
/// evictions, the protocol is at fault.
const EVICTIONS_PER_INPUT_MAX: u32 = 1 << 16;

impl<P: Protocol> Nodes<P> {
    /// Gives one input to a station (a controller and its parked inputs), and hands the effects to
    /// the driver in this order: counters, messages, operations on memory, timers, sets in which an
    /// input waits for a free way, the parts (access, acquire or release) to which the times of
    /// requests are attributed, answers.
    ///
    /// # Errors
    /// The rule that the protocol violates. The driver then gets no further effects.
    // Most call sites pass a constant kind of input. Inlining reduces the match below to the code
    // for that kind.
    #[inline(always)]
    pub fn deliver(
        &self,
        station: &mut Station<P>,
        at: At,
        input: &StationInput<&Request, &P::Msg, &MemoryReply>,
        fx: &mut Effects<P::Msg>,
        driver: &mut impl Driver<P>,
    ) -> Result<(), String> {
        fx.clear();
        let world = self.world();
        match *input {
            StationInput::Start => station.start(world, fx),
            StationInput::Request { slot, request } => {
                station.request_choosing(slot, request, world, fx, |node, set, touched| {
                    driver.victim(at, node, set, touched)
                });
            }
            StationInput::Message { from, msg } => {
                let from = self.ids()[from as usize];
                station.message_choosing(from, msg, world, fx, |node, set, touched| {
                    driver.victim(at, node, set, touched)
                });
            }
            StationInput::Memory { reply } => station.memory(reply, world, fx),
            StationInput::Timer(class) => station.timer(class, world, fx),
            StationInput::Evict(way) => station.evict(way, world, fx),
            StationInput::Tick(elapsed) => station.tick(elapsed, world, fx),
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

    /// Evicts a way in each set in which an input waits for a free way. If the driver chooses no
    /// victim for a set, the input stays parked until a way is free, and `fx.needs` still lists the
    /// set.
    fn make_room(
        &self,
        station: &mut Station<P>,
        at: At,
        fx: &mut Effects<P::Msg>,
        driver: &mut impl Driver<P>,
    ) {
        let mut evictions = 0;
        let mut blocked = Vec::new();
        while !fx.needs.is_empty() && fx.violation.is_none() {
            let mut needs = core::mem::take(&mut fx.needs);
            needs.retain(|&set| {
                let Some(way) = driver.victim(at, &station.node, set, &fx.touches) else { return true };
                fx.touches.clear();
                evictions += 1;
                station.evict(way, self.world(), fx);
                false
            });
            // A list that is kept allocates no memory.
            match blocked.is_empty() {
                true => blocked = needs,
                false => blocked.append(&mut needs),
            }
            if evictions > EVICTIONS_PER_INPUT_MAX {
                fx.violation.get_or_insert_with(|| {
                    format!("{}: no eviction frees a way for the waiting input", self.name(at))
                });
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
                    None => return Err(format!("{} sends to {id:?}, which does not exist", self.name(at))),
                }
            }
        }
        if !fx.memory.is_empty() {
            driver.requested(at, &mut fx.memory);
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
            format!(
                "{}: a step counts {accesses} accesses, but {counted} hits, misses and bypasses together",
                self.name(at)
            )
        })
    }
}
