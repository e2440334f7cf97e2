//! A controller together with what is parked at it.
//!
//! This is what "the state" of a machine consists of, shared by every driver.
//! An input is carried out together with everything it wakes, at once.

mod stepper;
mod views;

use smallvec::SmallVec;

use crate::contract::{Ask, Cx, Disposition, Input, MemoryReply, Message, Node, Protocol, Time, World};
use crate::effects::{Effects, Inner};
use crate::line::{LINE_BYTES_MAX, LineAddr, LineData};
use crate::lookup::Lookup;
use crate::node::{Key, NodeId, SetIndex, Slot, TimerClass, Way};
use crate::queue::Queue;
use crate::request::{Op, Request};
use crate::setup::Setup;
use stepper::{Pending, RequestStats, Stepper, count_access, count_request, ordered_by};

/// A request that must be presented again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Held {
    req: Request,
    stage: u8,
    data: LineData,
    /// It is parked under its own slot, and stands in no list.
    own: bool,
    stats: RequestStats,
}

/// An input that waits for a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Parked<M> {
    Request(Slot),
    // A message is large, and lists of what is parked are moved about.
    Message(NodeId, Box<M>),
    /// The accesses of this sender to this line that are parked.
    Turn(NodeId, LineAddr),
}

/// What is parked, by what it waits for.
pub(crate) type ParkedInputs<M> = Lookup<Key, Queue<Parked<M>>>;

/// The accesses of one sender to one line that are parked, oldest first. They
/// have one turn together, in the list of the key that the oldest waits for: so
/// they keep their order, and none waits for a key that nobody will wake.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Line<M> {
    messages: Queue<Box<M>>,
    /// The key under which the oldest is parked.
    key: Key,
}

/// A controller, its parked inputs, and the requests that wait for a fill.
///
/// Where channels keep their order, it holds up to the controller: an access
/// of one sender never passes an earlier one to the same line that is parked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Station<P: Protocol> {
    /// The controller.
    pub node: P::Node,
    id: NodeId,
    parked: ParkedInputs<P::Msg>,
    ordered: Lookup<(NodeId, LineAddr), Line<P::Msg>>,
    waiting: Lookup<LineAddr, SmallVec<[Slot; 4]>>,
    held: Lookup<Slot, Box<Held>>,
    /// Timers that run out when so many ticks have passed, one a class, sorted.
    deadlines: SmallVec<[(TimerClass, u32); 2]>,
}

/// The bytes that a new request has found out.
static NO_BYTES: LineData = LineData([0; LINE_BYTES_MAX]);

/// A wake that never ends is a fault of the protocol, not of the run.
const STEPS_PER_INPUT_MAX: u32 = 1 << 20;

impl<P: Protocol> Station<P> {
    /// A station before anything happened.
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

    /// Nothing has happened here: the controller is as it was made, and nothing
    /// is parked.
    pub fn begin_anew(&mut self, node: &P::Node) {
        self.node.clone_from(node);
        self.parked.clear();
        self.ordered.clear();
        self.waiting.clear();
        self.held.clear();
        self.deadlines.clear();
    }

    /// Which node this is.
    #[must_use]
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// The first input of every controller.
    pub fn start(&mut self, world: World<'_, P>, fx: &mut Effects<P::Msg>) {
        self.node.start(&mut Cx { world, me: self.id, stage: 0, fx, parked: &self.parked });
        self.settle(world, fx);
    }

    /// Presents a new request. Its slot must not be in use here.
    #[inline]
    pub fn request(&mut self, slot: Slot, req: &Request, world: World<'_, P>, fx: &mut Effects<P::Msg>) {
        self.request_choosing(slot, req, world, fx, |_, _, _| None);
    }

    /// The same, with a driver that chooses at once which way is given up: it
    /// is shown the controller, the set and the ways used in this step. The
    /// request then need not be parked for one.
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
            match self.stepper().request(Ask { slot, req, data }, &mut stage, &mut stats, world, fx) {
                Some(Pending::NeedsWay(set)) if self.gives_up(set, world, fx, &mut choose) => {}
                pending => break pending,
            }
        };
        let is_order = matches!(req.op, Op::Fence | Op::KernelBegin(_) | Op::KernelEnd(_));
        stats.counted = count_request(fx, bypasses, pending, RequestStats { counted: is_order, ..stats });
        if let Some(key) = pending.and_then(|pending| pending.key(fx)) {
            let own = key == Key::Slot(slot);
            self.held.insert(slot, Box::new(Held { req: *req, stage, data: *data, own, stats }));
            self.list(key, Parked::Request(slot));
        }
        self.settle(world, fx);
    }

    /// Delivers a message.
    #[inline]
    pub fn message(&mut self, from: NodeId, msg: &P::Msg, world: World<'_, P>, fx: &mut Effects<P::Msg>) {
        self.message_choosing(from, msg, world, fx, |_, _, _| None);
    }

    /// The same, with a driver that chooses at once which way is given up.
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
                Some(Pending::NeedsWay(set)) if self.gives_up(set, world, fx, &mut choose) => {}
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
                    self.ordered.insert((from, line), Line { messages, key });
                    Parked::Turn(from, line)
                }
            };
            self.list(key, parked);
        }
        self.settle(world, fx);
    }

    /// Delivers memory's answer.
    pub fn memory(&mut self, reply: &MemoryReply, world: World<'_, P>, fx: &mut Effects<P::Msg>) {
        self.other(Input::Memory(reply), world, fx);
    }

    /// Gives up a way. The controller wakes what waits for one of its set as
    /// soon as it is free.
    pub fn evict(&mut self, way: Way, world: World<'_, P>, fx: &mut Effects<P::Msg>) {
        fx.uses.evictions += 1;
        self.other(Input::Evict(way), world, fx);
    }

    /// A timer has run out.
    pub fn timer(&mut self, class: TimerClass, world: World<'_, P>, fx: &mut Effects<P::Msg>) {
        self.other(Input::Timer(class), world, fx);
    }

    /// Time has passed. What is parked ages before the controller hears of it,
    /// and it hears of each deadline at the tick that was asked for.
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

    /// In how many ticks the next deadline is, if there is one.
    #[must_use]
    pub fn next_deadline(&self) -> Option<u32> {
        self.deadlines.iter().map(|&(_, due)| due).min()
    }

    fn age_parked(&mut self, elapsed: i32) {
        self.parked_mut().for_each(|msg| msg.age(elapsed));
    }

    /// Shows every logical time of the controller and of what is parked.
    pub fn times(&mut self, visit: &mut dyn FnMut(&mut Time)) {
        self.node.times(visit);
        self.parked_mut().for_each(|msg| msg.times(visit));
    }

    /// The messages that are parked. Requests carry no times.
    fn parked_mut(&mut self) -> impl Iterator<Item = &mut P::Msg> {
        let unordered = self.parked.values_mut().flat_map(Queue::iter_mut).filter_map(|p| match p {
            Parked::Message(_, msg) => Some(&mut **msg),
            Parked::Request(_) | Parked::Turn(..) => None,
        });
        let ordered = self.ordered.values_mut().flat_map(|line| line.messages.iter_mut());
        unordered.chain(ordered.map(|msg| &mut **msg))
    }

    /// Of two deadlines of a class the earlier stays.
    fn arm(&mut self, class: TimerClass, ticks: u32, fx: &mut Effects<P::Msg>) {
        if !P::CLOCKED {
            return self.violate(fx, "it asks for a time, and its protocol does not look at the clock");
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
            other => self.violate(fx, &format!("only requests and messages may wait, not {other:?}")),
        }
        self.settle(world, fx);
    }

    /// Gives up a way of the set that the driver chooses, if it chooses one and
    /// nobody waits for one already.
    fn gives_up(
        &mut self,
        set: SetIndex,
        world: World<'_, P>,
        fx: &mut Effects<P::Msg>,
        choose: &mut impl FnMut(&P::Node, SetIndex, &[Way]) -> Option<Way>,
    ) -> bool {
        if self.parked.contains_key(&Key::Way(set)) {
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
                self.violate(fx, &format!("an eviction cannot wait: {other:?}"));
                false
            }
        }
    }

    /// What a step works on, apart from the inputs that are presented again.
    #[inline]
    fn stepper(&mut self) -> Stepper<'_, P> {
        Stepper { node: &mut self.node, id: self.id, parked: &self.parked, waiting: &mut self.waiting }
    }

    /// Lists an input under the key it waits for, unless that is its own slot.
    fn list(&mut self, key: Key, parked: Parked<P::Msg>) {
        if !matches!(key, Key::Slot(_)) {
            self.parked.or_default(key).push_back(parked);
        }
    }

    /// Presents a request once more. Returns the key that it waits for, if it does.
    fn present_again(&mut self, slot: Slot, world: World<'_, P>, fx: &mut Effects<P::Msg>) -> Option<Key> {
        let held = self.held.get_mut(&slot)?;
        let ask = Ask { slot, req: &held.req, data: &held.data };
        let bypasses = fx.uses.bypasses;
        let (node, parked, waiting) = (&mut self.node, &self.parked, &mut self.waiting);
        let mut stepper = Stepper { node, id: self.id, parked, waiting };
        let pending = stepper.request(ask, &mut held.stage, &mut held.stats, world, fx);
        held.stats.counted = count_request(fx, bypasses, pending, held.stats);
        let key = pending.and_then(|pending| pending.key(fx));
        match key {
            Some(key) => held.own = key == Key::Slot(slot),
            None => drop(self.held.remove(&slot)),
        }
        key
    }

    /// Presents a message that was parked. It was counted as a miss when it
    /// first came, whatever it does now.
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

    /// Presents the oldest access of a sender to a line.
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

    /// Carries out what the last step set off, until nothing is left.
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
                Inner::ReplyWaiters(line, data) => {
                    for slot in self.waiting.remove(&line).unwrap_or_default() {
                        fx.reply(slot, data);
                    }
                }
                Inner::Resume(slot, data) => self.resume(slot, data, world, fx),
                Inner::Wake(key) => steps += self.wake(key, world, fx),
                Inner::Deadline(class, ticks) => self.arm(class, ticks, fx),
            }
            next += 1;
            if steps > STEPS_PER_INPUT_MAX {
                self.violate(fx, "inputs wake one another without end");
            }
        }
        fx.inner.clear();
    }

    fn resume(&mut self, slot: Slot, data: Option<LineData>, world: World<'_, P>, fx: &mut Effects<P::Msg>) {
        let Some(held) = self.held.get_mut(&slot).filter(|held| held.own) else {
            self.violate(fx, &format!("{slot:?} is resumed, but nothing is parked under it"));
            return;
        };
        if let Some(data) = data {
            held.data = data;
        }
        if let Some(key) = self.present_again(slot, world, fx) {
            self.list(key, Parked::Request(slot));
        }
    }

    /// Presents what is parked under a key, the oldest first, until one waits for the
    /// key again: it stays the first in line.
    fn wake(&mut self, key: Key, world: World<'_, P>, fx: &mut Effects<P::Msg>) -> u32 {
        if let Key::Slot(slot) = key {
            if self.parked_count(key) > 0 {
                self.resume(slot, None, world, fx);
            }
            return 1;
        }
        let Some(mut list) = self.parked.remove(&key) else { return 0 };
        let mut steps = 0;
        while let Some(parked) = list.pop_front() {
            steps += 1;
            let again = match &parked {
                Parked::Request(slot) => self.present_again(*slot, world, fx),
                Parked::Message(from, msg) => self.deliver_again(*from, msg, world, fx),
                Parked::Turn(from, line) => self.take_turn(*from, *line, world, fx),
            };
            match (again, parked) {
                (Some(again), parked) if again == key => {
                    list.push_front(parked);
                    break;
                }
                (Some(again), parked) => self.list(again, parked),
                (None, Parked::Turn(from, line)) => {
                    // The next of this sender comes behind what others ask.
                    if let Some(rest) = self.ordered.get_mut(&(from, line)) {
                        rest.key = key;
                        list.push_back(Parked::Turn(from, line));
                    }
                }
                (None, _) => {}
            }
        }
        if !list.is_empty() {
            self.parked.insert(key, list);
        }
        steps
    }

    fn violate(&self, fx: &mut Effects<P::Msg>, why: &str) {
        fx.violate::<P>(self.id, why);
    }
}
