//! The station: a controller together with its parked inputs.
//!
//! Stations are the state of a machine in all drivers (simulator, explorer, random tester). When a
//! station gets an input, it presents this input to the controller. In the same call, it also
//! presents all parked inputs that this input wakes.

mod stepper;
mod views;

use smallvec::SmallVec;

use crate::contract::{
    Cx, Disposition, Input, MemoryReply, Message, Node, Protocol, RequestInput, Time, World,
};
use crate::effects::{Effects, StationEffect};
use crate::held::{HeldRequest, RequestStats};
use crate::line::{LINE_BYTES_MAX, LineAddr, LineData};
use crate::lookup::Lookup;
use crate::node::{Key, NodeId, SetIndex, Slot, TimerClass, Way};
use crate::parked::{Parked, ParkedInputs, has_waiters};
use crate::queue::Queue;
use crate::request::{Op, Request};
use crate::setup::Setup;
use stepper::{Pending, Stepper, count_access, count_request, ordered_by};

/// The parked accesses of one sender to one line, oldest first. All of these accesses share one
/// entry in one list of parked inputs: the list of the key that the oldest access waits for. So the
/// accesses keep their order, and a younger access needs no wake of a key of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct OrderedAccesses<M> {
    messages: Queue<Box<M>>,
    /// The key (the event) that the oldest access waits for.
    key: Key,
}

/// A controller, its parked inputs, and the requests that wait for a fill.
///
/// If the protocol needs FIFO channels, parking keeps the order, too: an access never passes a
/// parked access of the same sender to the same line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Station<P: Protocol> {
    /// The controller of the station.
    pub node: P::Node,
    id: NodeId,
    parked: ParkedInputs<P::Msg>,
    ordered: Lookup<(NodeId, LineAddr), OrderedAccesses<P::Msg>>,
    waiting: Lookup<LineAddr, SmallVec<[Slot; 4]>>,
    held: Lookup<Slot, Box<HeldRequest>>,
    /// The running timers, at most one of each class, sorted by class. Each has the number of ticks
    /// until it expires.
    deadlines: SmallVec<[(TimerClass, u32); 2]>,
}

/// The bytes that a request carries until the controller calls `resume_with` for it: all zero.
static NO_BYTES: LineData = LineData([0; LINE_BYTES_MAX]);

/// The maximum number of steps for one input. More steps mean that parked inputs wake one another
/// forever, which is a fault of the protocol.
const STEPS_PER_INPUT_MAX: u32 = 1 << 20;

impl<P: Protocol> Setup<P> {
    /// All stations (controllers with their parked inputs) in their initial state, kind by kind.
    #[must_use]
    pub fn stations(&self) -> Vec<Station<P>> {
        self.levels.nodes().map(|id| Station::new(id, self)).collect()
    }
}

impl<P: Protocol> Station<P> {
    /// A station (a controller with its parked inputs) in its initial state.
    #[must_use]
    pub fn new(id: NodeId, setup: &Setup<P>) -> Self {
        Station {
            node: P::node(id, &setup.levels, &setup.params),
            id,
            parked: Lookup::default(),
            ordered: Lookup::default(),
            waiting: Lookup::default(),
            held: Lookup::default(),
            deadlines: SmallVec::new(),
        }
    }

    /// Resets the station: the controller becomes a copy of `node`, and no input is parked.
    pub fn reset_to(&mut self, node: &P::Node) {
        self.node.clone_from(node);
        self.parked.clear();
        self.ordered.clear();
        self.waiting.clear();
        self.held.clear();
        self.deadlines.clear();
    }

    /// The identity of the station's controller.
    #[must_use]
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// Calls the function `start` of the controller, before its first input.
    pub fn start(&mut self, world: World<'_, P>, fx: &mut Effects<P::Msg>) {
        self.node.start(&mut Cx { world, me: self.id, stage: 0, fx, parked: &self.parked });
        self.settle(world, fx);
    }

    /// Presents a new request to the controller. No other request at this station may have the same
    /// slot.
    #[inline]
    pub fn request(&mut self, slot: Slot, req: &Request, world: World<'_, P>, fx: &mut Effects<P::Msg>) {
        self.request_choosing(slot, req, world, fx, |_, _, _| None);
    }

    /// Presents a new request. If the request needs a way, `choose` selects a victim at once, so
    /// that the request need not wait. `choose` gets the controller, the set and the ways used in
    /// this step, and may return `None`.
    #[inline]
    pub fn request_choosing(
        &mut self,
        slot: Slot,
        req: &Request,
        world: World<'_, P>,
        fx: &mut Effects<P::Msg>,
        mut choose: impl FnMut(&P::Node, SetIndex, &[Way]) -> Option<Way>,
    ) {
        let (mut stage, data) = (0, &NO_BYTES);
        let bypasses = fx.uses.bypasses;
        let mut stats = RequestStats::default();
        let pending = loop {
            match self.stepper().request(RequestInput { slot, req, data }, &mut stage, &mut stats, world, fx)
            {
                Some(Pending::NeedsWay(set)) if self.evict_chosen(set, world, fx, &mut choose) => {}
                pending => break pending,
            }
        };
        let is_order = matches!(req.op, Op::Fence | Op::KernelBegin(_) | Op::KernelEnd(_));
        stats.counted =
            count_request(fx, bypasses, pending, RequestStats { counted: is_order, ..stats }, req);
        if let Some(key) = pending.and_then(|pending| pending.key(fx)) {
            let under_slot = key == Key::Slot(slot);
            let request = HeldRequest { req: *req, stage, data: *data, under_slot, stats };
            self.held.insert(slot, fx.boxed(request));
            self.list(key, Parked::Request(slot));
        }
        self.settle(world, fx);
    }

    /// Delivers a message to the controller.
    #[inline]
    pub fn message(&mut self, from: NodeId, msg: &P::Msg, world: World<'_, P>, fx: &mut Effects<P::Msg>) {
        self.message_choosing(from, msg, world, fx, |_, _, _| None);
    }

    /// Delivers a message. If the message needs a way, `choose` selects a victim at once, so that
    /// the message need not wait.
    #[inline]
    pub fn message_choosing(
        &mut self,
        from: NodeId,
        msg: &P::Msg,
        world: World<'_, P>,
        fx: &mut Effects<P::Msg>,
        mut choose: impl FnMut(&P::Node, SetIndex, &[Way]) -> Option<Way>,
    ) {
        let bypasses = fx.uses.bypasses;
        let line = ordered_by::<P>(msg);
        if let Some(line) = line
            && let Some(older) = self.ordered.get_mut(&(from, line))
        {
            older.messages.push_back(Box::new(msg.clone()));
            return count_access(fx, bypasses, false);
        }
        let pending = loop {
            match self.stepper().message(from, msg, world, fx) {
                Some(Pending::NeedsWay(set)) if self.evict_chosen(set, world, fx, &mut choose) => {}
                pending => break pending,
            }
        };
        if msg.is_access() {
            count_access(fx, bypasses, pending.is_none());
        }
        if let Some(key) = pending.and_then(|pending| pending.key(fx)) {
            let parked = match line {
                None => Parked::Message(from, Box::new(msg.clone())),
                Some(line) => {
                    let messages = Queue::of(Box::new(msg.clone()));
                    self.ordered.insert((from, line), OrderedAccesses { messages, key });
                    Parked::Turn(from, line)
                }
            };
            self.list(key, parked);
        }
        self.settle(world, fx);
    }

    /// Delivers a reply of memory to the controller.
    pub fn memory(&mut self, reply: &MemoryReply, world: World<'_, P>, fx: &mut Effects<P::Msg>) {
        self.other(Input::Memory(reply), world, fx);
    }

    /// Evicts a way. When the way is free, the controller wakes the inputs that wait for a way of
    /// the set.
    pub fn evict(&mut self, way: Way, world: World<'_, P>, fx: &mut Effects<P::Msg>) {
        fx.uses.evictions += 1;
        self.other(Input::Evict(way), world, fx);
    }

    /// Delivers the expiry of a timer to the controller.
    pub fn timer(&mut self, class: TimerClass, world: World<'_, P>, fx: &mut Effects<P::Msg>) {
        self.other(Input::Timer(class), world, fx);
    }

    /// Lets `elapsed` ticks pass. First shortens the relative times in parked messages, and then
    /// gives the tick to the controller. A timer that expires within these ticks reaches the
    /// controller at the tick at which it expires.
    pub fn tick(&mut self, elapsed: u32, world: World<'_, P>, fx: &mut Effects<P::Msg>) {
        let mut left = elapsed;
        while left > 0 && fx.violation.is_none() {
            let elapsed = self.next_deadline().map_or(left, |due| due.min(left));
            left -= elapsed;
            self.age_parked(i32::try_from(elapsed).unwrap_or(i32::MAX));
            self.deadlines.iter_mut().for_each(|(_, due)| *due -= elapsed);
            self.other(Input::Tick { elapsed }, world, fx);
            while let Some(at) = self.deadlines.iter().position(|&(_, due)| due == 0) {
                let (class, _) = self.deadlines.remove(at);
                self.other(Input::Timer(class), world, fx);
            }
        }
    }

    /// The ticks until the next timer of this station expires, or `None` if no timer runs.
    #[must_use]
    pub fn next_deadline(&self) -> Option<u32> {
        self.deadlines.iter().map(|&(_, due)| due).min()
    }

    /// Drops the parked inputs that come from this sender.
    pub fn forget(&mut self, sender: NodeId) {
        self.parked.retain(|_, list| {
            list.retain(|parked| match parked {
                Parked::Message(from, _) | Parked::Turn(from, _) => *from != sender,
                Parked::Request(_) => true,
            });
            !list.is_empty()
        });
        self.ordered.retain(|(from, _), _| *from != sender);
    }

    fn age_parked(&mut self, elapsed: i32) {
        self.visit_parked(&mut |msg| msg.age(elapsed));
    }

    /// Calls `visit` for every logical time of the controller and of parked messages.
    pub fn times(&mut self, visit: &mut dyn FnMut(&mut Time)) {
        self.node.times(visit);
        self.visit_parked(&mut |msg| msg.times(visit));
    }

    /// Calls `visit` for every parked message. Parked requests are left out, because they have no
    /// logical times.
    fn visit_parked(&mut self, visit: &mut dyn FnMut(&mut P::Msg)) {
        for list in self.parked.values_mut() {
            for parked in list.iter_mut() {
                if let Parked::Message(_, msg) = parked {
                    visit(msg);
                }
            }
        }
        for line in self.ordered.values_mut() {
            for msg in line.messages.iter_mut() {
                visit(msg);
            }
        }
    }

    /// Arms a timer that expires after `ticks` ticks. If a timer of the same class runs, the timer
    /// with the earlier expiry remains.
    fn arm(&mut self, class: TimerClass, ticks: u32, fx: &mut Effects<P::Msg>) {
        if !P::CLOCKED {
            return self.violate(fx, "a timer has a duration, but the protocol does not use clocks");
        }
        match self.deadlines.binary_search_by_key(&class, |&(class, _)| class) {
            Ok(at) => self.deadlines[at].1 = self.deadlines[at].1.min(ticks),
            Err(at) => self.deadlines.insert(at, (class, ticks)),
        }
    }

    fn other(&mut self, input: Input<'_, P::Msg>, world: World<'_, P>, fx: &mut Effects<P::Msg>) {
        let mut cx = Cx { world, me: self.id, stage: 0, fx, parked: &self.parked };
        match self.node.step(input, &mut cx) {
            Disposition::Done => {}
            Disposition::Impossible(why) => self.violate(fx, why),
            other => self.violate(
                fx,
                &format!(
                    "an input that is neither a request nor a message waits: its step returned {other:?}"
                ),
            ),
        }
        self.settle(world, fx);
    }

    /// Evicts the way of the set that `choose` selects. Returns false if `choose` selects none, if
    /// an input already waits for a way of the set, or if the eviction is a violation.
    fn evict_chosen(
        &mut self,
        set: SetIndex,
        world: World<'_, P>,
        fx: &mut Effects<P::Msg>,
        choose: &mut impl FnMut(&P::Node, SetIndex, &[Way]) -> Option<Way>,
    ) -> bool {
        if has_waiters(&self.parked, Key::Way(set)) {
            return false;
        }
        let Some(way) = choose(&self.node, set, &fx.touches) else { return false };
        fx.uses.evictions += 1;
        let mut cx = Cx { world, me: self.id, stage: 0, fx, parked: &self.parked };
        match self.node.step(Input::Evict(way), &mut cx) {
            Disposition::Done => true,
            Disposition::Impossible(why) => {
                self.violate(fx, why);
                false
            }
            other => {
                self.violate(fx, &format!("an eviction cannot wait, but the controller answered {other:?}"));
                false
            }
        }
    }

    /// Borrows the parts of the station that a step needs, to present a new input to the
    /// controller.
    #[inline]
    fn stepper(&mut self) -> Stepper<'_, P> {
        Stepper { node: &mut self.node, id: self.id, parked: &self.parked, waiting: &mut self.waiting }
    }

    /// Appends a parked input to the list of its key (the event that the input waits for). Does
    /// nothing for a request that waits for an answer to its own slot, because such a request is in
    /// no list.
    fn list(&mut self, key: Key, parked: Parked<P::Msg>) {
        if !matches!(key, Key::Slot(_)) {
            self.parked.or_default(key).push_back(parked);
        }
    }

    /// Presents a parked input again. Returns the key (the event) that the input must still wait
    /// for. `None` if the input is complete or waits for a fill.
    #[inline]
    fn present_parked(
        &mut self,
        parked: &Parked<P::Msg>,
        world: World<'_, P>,
        fx: &mut Effects<P::Msg>,
    ) -> Option<Key> {
        match parked {
            Parked::Request(slot) => self.present_again(*slot, world, fx),
            Parked::Message(from, msg) => self.deliver_again(*from, msg, world, fx),
            Parked::Turn(from, line) => self.take_turn(*from, *line, world, fx),
        }
    }

    /// Presents a parked request again. Returns the key (the event) that the request must still
    /// wait for. `None` if the request is complete or waits for a fill.
    fn present_again(&mut self, slot: Slot, world: World<'_, P>, fx: &mut Effects<P::Msg>) -> Option<Key> {
        let held = self.held.get_mut(&slot)?;
        let ask = RequestInput { slot, req: &held.req, data: &held.data };
        let bypasses = fx.uses.bypasses;
        let (node, parked, waiting) = (&mut self.node, &self.parked, &mut self.waiting);
        let mut stepper = Stepper { node, id: self.id, parked, waiting };
        let pending = stepper.request(ask, &mut held.stage, &mut held.stats, world, fx);
        held.stats.counted = count_request(fx, bypasses, pending, held.stats, &held.req);
        let key = pending.and_then(|pending| pending.key(fx));
        match key {
            Some(key) => held.under_slot = key == Key::Slot(slot),
            None => fx.give_back(self.held.remove(&slot)),
        }
        key
    }

    /// Presents a parked message again. Returns the key (the event) that the message must still
    /// wait for. `None` if the message is complete. The first presentation counted the message as
    /// an access, so this function does not count the message again.
    fn deliver_again(
        &mut self,
        from: NodeId,
        msg: &P::Msg,
        world: World<'_, P>,
        fx: &mut Effects<P::Msg>,
    ) -> Option<Key> {
        let bypasses = fx.uses.bypasses;
        let pending = self.stepper().message(from, msg, world, fx);
        fx.uses.bypasses = bypasses;
        pending.and_then(|pending| pending.key(fx))
    }

    /// Presents the oldest parked access of a sender to a line. Returns the key (the event) that
    /// the access must still wait for. `None` if the access is complete.
    fn take_turn(
        &mut self,
        from: NodeId,
        line: LineAddr,
        world: World<'_, P>,
        fx: &mut Effects<P::Msg>,
    ) -> Option<Key> {
        let turns = self.ordered.get_mut(&(from, line))?;
        let msg: &P::Msg = turns.messages.front()?;
        let bypasses = fx.uses.bypasses;
        let (node, parked, waiting) = (&mut self.node, &self.parked, &mut self.waiting);
        let pending = Stepper { node, id: self.id, parked, waiting }.message(from, msg, world, fx);
        fx.uses.bypasses = bypasses;
        let again = pending.and_then(|pending| pending.key(fx));
        match again {
            Some(key) => turns.key = key,
            None => {
                turns.messages.pop_front();
                if turns.messages.is_empty() {
                    self.ordered.remove(&(from, line));
                }
            }
        }
        again
    }

    /// Carries out those effects of the last step that concern the station itself, such as wakes.
    /// These effects can cause further steps. The function returns when no such effect is left.
    #[inline]
    fn settle(&mut self, world: World<'_, P>, fx: &mut Effects<P::Msg>) {
        if !fx.inner.is_empty() {
            self.carry_out(world, fx);
        }
    }

    fn carry_out(&mut self, world: World<'_, P>, fx: &mut Effects<P::Msg>) {
        let mut next = 0;
        let mut steps = 0;
        while next < fx.inner.len() && fx.violation.is_none() {
            match fx.inner[next] {
                StationEffect::ReplyWaiters(line, data) => {
                    for slot in self.waiting.remove(&line).unwrap_or_default() {
                        fx.reply(slot, data);
                    }
                }
                StationEffect::Resume(slot, data) => self.resume(slot, data, world, fx),
                StationEffect::Wake(key) => steps += self.wake(key, world, fx),
                StationEffect::Deadline(class, ticks) => self.arm(class, ticks, fx),
            }
            next += 1;
            if steps > STEPS_PER_INPUT_MAX {
                self.violate(fx, "parked inputs wake one another forever");
            }
        }
        fx.inner.clear();
    }

    fn resume(&mut self, slot: Slot, data: Option<LineData>, world: World<'_, P>, fx: &mut Effects<P::Msg>) {
        let Some(held) = self.held.get_mut(&slot).filter(|held| held.under_slot) else {
            self.violate(
                fx,
                &format!("the request in {slot:?} is resumed, but no request is parked in this slot"),
            );
            return;
        };
        if let Some(data) = data {
            held.data = data;
        }
        if let Some(key) = self.present_again(slot, world, fx) {
            self.list(key, Parked::Request(slot));
        }
    }

    /// Presents the inputs that wait for a key (an event), oldest first, until one of them must
    /// wait for the same key again. That input stays at the head of the list. Returns the number of
    /// steps.
    fn wake(&mut self, key: Key, world: World<'_, P>, fx: &mut Effects<P::Msg>) -> u32 {
        if let Key::Slot(slot) = key {
            if self.parked_count(key) > 0 {
                self.resume(slot, None, world, fx);
            }
            return 1;
        }
        // While the inputs are presented, the key keeps an empty list in the map. So most wakes do
        // not change the map.
        let Some(mut list) = self.parked.get_mut(&key).map(core::mem::take) else { return 0 };
        let mut steps = 0;
        while let Some(parked) = list.pop_front() {
            steps += 1;
            let again = self.present_parked(&parked, world, fx);
            match (again, parked) {
                (Some(again), parked) if again == key => {
                    list.push_front(parked);
                    break;
                }
                (Some(again), parked) => self.list(again, parked),
                (None, Parked::Turn(from, line)) => {
                    // The next access of the same sender waits behind the inputs of other senders.
                    if let Some(rest) = self.ordered.get_mut(&(from, line)) {
                        rest.key = key;
                        list.push_back(Parked::Turn(from, line));
                    }
                }
                (None, _) => {}
            }
        }
        match self.parked.get_mut(&key) {
            Some(emptied) if !list.is_empty() => *emptied = list,
            _ => drop(self.parked.remove(&key)),
        }
        steps
    }

    fn violate(&self, fx: &mut Effects<P::Msg>, why: &str) {
        fx.violate::<P>(self.id, why);
    }
}
