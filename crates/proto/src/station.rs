//! A controller together with what is parked at it.
//!
//! This is what "the state" of a machine consists of, shared by every driver.
//! An input is carried out together with everything it wakes, at once.

use crate::contract::{
    Ask, Cx, Disposition, Effects, Inner, Input, MemoryReply, Message, Node, Protocol, World,
};
use crate::line::{LineAddr, LineData};
use crate::node::{Key, NodeId, SetIndex, Slot, TimerClass, Way};
use crate::request::{Op, Request};
use smallvec::SmallVec;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

/// A request that must be presented again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Held {
    req: Request,
    stage: u8,
    data: LineData,
    /// It is parked under its own slot, and stands in no list.
    own: bool,
}

/// An input that waits for a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Parked<M> {
    Request(Slot),
    // A message is large, and lists of what is parked are moved about.
    Message(NodeId, Box<M>),
}

/// What became of a request that is not dealt with.
enum Found {
    /// It waits for the coming fill of its line.
    Waits,
    /// It is to be presented again when the key is woken.
    Parks(Key),
}

/// A controller, its parked inputs, and the requests that wait for a fill.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Station<P: Protocol> {
    /// The controller.
    pub node: P::Node,
    id: NodeId,
    parked: BTreeMap<Key, VecDeque<Parked<P::Msg>>>,
    waiting: BTreeMap<LineAddr, SmallVec<[Slot; 4]>>,
    held: BTreeMap<Slot, Box<Held>>,
}

/// A wake that never ends is a fault of the protocol, not of the run.
const STEPS_PER_INPUT_MAX: u32 = 1 << 20;

impl<P: Protocol> Station<P> {
    /// A station before anything happened.
    #[must_use]
    pub fn new(id: NodeId, params: &P::Params) -> Self {
        Station {
            node: P::node(id, params),
            id,
            parked: BTreeMap::new(),
            waiting: BTreeMap::new(),
            held: BTreeMap::new(),
        }
    }

    /// Which node this is.
    #[must_use]
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// Presents a new request. Its slot must not be in use here.
    #[inline]
    pub fn request(&mut self, slot: Slot, req: &Request, world: World<'_, P>, fx: &mut Effects<P::Msg>) {
        let bypasses = fx.uses.bypasses;
        let mut stage = 0;
        let data = LineData::default();
        let found = self.step_request(slot, req, &mut stage, &data, world, fx);
        if let Some(Found::Parks(key)) = found {
            self.park(slot, key, Box::new(Held { req: *req, stage, data, own: false }));
        }
        if !matches!(req.op, Op::Fence | Op::KernelBegin(_) | Op::KernelEnd(_)) {
            count_access(fx, bypasses, found.is_none());
        }
        self.settle(world, fx);
    }

    /// Delivers a message.
    #[inline]
    pub fn message(&mut self, from: NodeId, msg: P::Msg, world: World<'_, P>, fx: &mut Effects<P::Msg>) {
        let bypasses = fx.uses.bypasses;
        let is_access = msg.is_access();
        let done = self.deliver(from, msg, world, fx).is_none();
        if is_access {
            count_access(fx, bypasses, done);
        }
        self.settle(world, fx);
    }

    /// Delivers memory's answer.
    pub fn memory(&mut self, reply: &MemoryReply, world: World<'_, P>, fx: &mut Effects<P::Msg>) {
        self.other(Input::Memory(reply), world, fx);
    }

    /// Gives up a way, and presents what waited for one in `set`.
    pub fn evict(&mut self, set: SetIndex, way: Way, world: World<'_, P>, fx: &mut Effects<P::Msg>) {
        fx.uses.evictions += 1;
        fx.wake(Key::Way(set));
        self.other(Input::Evict(way), world, fx);
    }

    /// A timer has run out.
    pub fn timer(&mut self, class: TimerClass, world: World<'_, P>, fx: &mut Effects<P::Msg>) {
        self.other(Input::Timer(class), world, fx);
    }

    /// Time has passed.
    pub fn tick(&mut self, elapsed: u32, world: World<'_, P>, fx: &mut Effects<P::Msg>) {
        self.other(Input::Tick { elapsed }, world, fx);
    }

    /// Is nothing parked, waiting or under way?
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.parked.is_empty() && self.waiting.is_empty() && self.held.is_empty() && self.node.is_quiet()
    }

    /// How many inputs are parked under a key.
    #[must_use]
    pub fn parked_count(&self, key: Key) -> usize {
        match key {
            Key::Slot(slot) => usize::from(self.held.get(&slot).is_some_and(|held| held.own)),
            _ => self.parked.get(&key).map_or(0, VecDeque::len),
        }
    }

    /// The keys under which something is parked, with how many inputs.
    pub fn parked_keys(&self) -> impl Iterator<Item = (Key, usize)> {
        let own = self.held.iter().filter(|(_, held)| held.own).map(|(&slot, _)| (Key::Slot(slot), 1));
        self.parked.iter().map(|(&key, list)| (key, list.len())).chain(own)
    }

    /// The requests that are parked, with what they wait for.
    pub fn parked_requests(&self) -> impl Iterator<Item = (Key, Slot)> {
        let own = self.held.iter().filter(|(_, held)| held.own).map(|(&slot, _)| (Key::Slot(slot), slot));
        let listed = self.parked.iter().flat_map(|(&key, list)| {
            list.iter().filter_map(move |p| match p {
                Parked::Request(slot) => Some((key, *slot)),
                Parked::Message(..) => None,
            })
        });
        listed.chain(own)
    }

    /// The messages that are parked, with what they wait for.
    pub fn parked_messages(&self) -> impl Iterator<Item = (Key, NodeId, &P::Msg)> {
        self.parked.iter().flat_map(|(&key, list)| {
            list.iter().filter_map(move |p| match p {
                Parked::Message(from, msg) => Some((key, *from, &**msg)),
                Parked::Request(_) => None,
            })
        })
    }

    /// The requests that wait for a fill, with the line.
    pub fn waiting_requests(&self) -> impl Iterator<Item = (LineAddr, Slot)> {
        self.waiting.iter().flat_map(|(&line, slots)| slots.iter().map(move |&slot| (line, slot)))
    }

    fn other(&mut self, input: Input<'_, P::Msg>, world: World<'_, P>, fx: &mut Effects<P::Msg>) {
        let mut cx = Cx { world, me: self.id, stage: 0, fx };
        match self.node.step(input, &mut cx) {
            Disposition::Done => {}
            Disposition::Impossible(why) => self.violate(fx, why),
            other => self.violate(fx, &format!("only requests and messages may wait, not {other:?}")),
        }
        self.settle(world, fx);
    }

    /// Presents a request and says what became of it, unless it is dealt with.
    #[inline]
    fn step_request(
        &mut self,
        slot: Slot,
        req: &Request,
        stage: &mut u8,
        data: &LineData,
        world: World<'_, P>,
        fx: &mut Effects<P::Msg>,
    ) -> Option<Found> {
        let mut cx = Cx { world, me: self.id, stage: *stage, fx };
        let disposition = self.node.step(Input::Request(Ask { slot, req, data }), &mut cx);
        *stage = cx.stage;
        match disposition {
            Disposition::Done => None,
            Disposition::Wait(line) => {
                self.waiting.entry(line).or_default().push(slot);
                Some(Found::Waits)
            }
            Disposition::Stall(key) => Some(Found::Parks(key)),
            Disposition::NeedWay(set) => Some(Found::Parks(need(fx, set))),
            Disposition::Impossible(why) => {
                self.violate(fx, why);
                None
            }
        }
    }

    fn park(&mut self, slot: Slot, key: Key, mut held: Box<Held>) {
        held.own = key == Key::Slot(slot);
        if !held.own {
            self.parked.entry(key).or_default().push_back(Parked::Request(slot));
        }
        self.held.insert(slot, held);
    }

    /// Presents a request once more. Returns the key under which it parked.
    fn present_again(
        &mut self,
        slot: Slot,
        mut held: Box<Held>,
        world: World<'_, P>,
        fx: &mut Effects<P::Msg>,
    ) -> Option<Key> {
        let mut stage = held.stage;
        // It was counted as a miss when it first came, whatever it does now.
        let bypasses = fx.uses.bypasses;
        let found = self.step_request(slot, &held.req, &mut stage, &held.data, world, fx);
        fx.uses.bypasses = bypasses;
        match found {
            Some(Found::Parks(key)) => {
                held.stage = stage;
                self.park(slot, key, held);
                Some(key)
            }
            Some(Found::Waits) | None => None,
        }
    }

    fn deliver(
        &mut self,
        from: NodeId,
        msg: P::Msg,
        world: World<'_, P>,
        fx: &mut Effects<P::Msg>,
    ) -> Option<Key> {
        let mut cx = Cx { world, me: self.id, stage: 0, fx };
        let key = match self.node.step(Input::Message { from, msg: &msg }, &mut cx) {
            Disposition::Done => return None,
            Disposition::Stall(key) => key,
            Disposition::NeedWay(set) => need(fx, set),
            Disposition::Impossible(why) => {
                self.violate(fx, &format!("{} from {from:?}: {why}", msg.name()));
                return None;
            }
            Disposition::Wait(_) => {
                self.violate(fx, "a message cannot wait for a fill");
                return None;
            }
        };
        self.parked.entry(key).or_default().push_back(Parked::Message(from, Box::new(msg)));
        Some(key)
    }

    /// Carries out what the last step set off, until nothing is left.
    fn settle(&mut self, world: World<'_, P>, fx: &mut Effects<P::Msg>) {
        let mut next = 0;
        let mut steps = 0;
        while next < fx.inner.len() && fx.violation.is_none() {
            let inner = fx.inner[next];
            next += 1;
            match inner {
                Inner::ReplyWaiters(line, data) => {
                    for slot in self.waiting.remove(&line).unwrap_or_default() {
                        fx.reply(slot, data);
                    }
                }
                Inner::Resume(slot, data) => self.resume(slot, data, world, fx),
                Inner::Wake(key) => steps += self.wake(key, world, fx),
            }
            if steps > STEPS_PER_INPUT_MAX {
                self.violate(fx, "inputs wake one another without end");
            }
        }
        fx.inner.clear();
    }

    fn resume(&mut self, slot: Slot, data: Option<LineData>, world: World<'_, P>, fx: &mut Effects<P::Msg>) {
        let is_own = self.held.get(&slot).is_some_and(|held| held.own);
        let Some(mut held) = self.held.remove(&slot).filter(|_| is_own) else {
            self.violate(fx, &format!("{slot:?} is resumed, but nothing is parked under it"));
            return;
        };
        if let Some(data) = data {
            held.data = data;
        }
        self.present_again(slot, held, world, fx);
    }

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
            let again = match parked {
                Parked::Request(slot) => {
                    let Some(held) = self.held.remove(&slot) else { continue };
                    self.present_again(slot, held, world, fx)
                }
                Parked::Message(from, msg) => {
                    let bypasses = fx.uses.bypasses;
                    let key = self.deliver(from, *msg, world, fx);
                    fx.uses.bypasses = bypasses;
                    key
                }
            };
            if again == Some(key)
                && let Some(mut blocked) = self.parked.remove(&key)
            {
                // Blocked once more: it stays the first in line.
                while let Some(last) = blocked.pop_back() {
                    list.push_front(last);
                }
                break;
            }
        }
        match self.parked.entry(key) {
            _ if list.is_empty() => {}
            Entry::Vacant(place) => {
                place.insert(list);
            }
            Entry::Occupied(mut place) => place.get_mut().append(&mut list),
        }
        steps
    }

    fn violate(&self, fx: &mut Effects<P::Msg>, why: &str) {
        let kind = P::KINDS.get(usize::from(self.id.kind)).map_or("?", |k| k.name);
        fx.violation.get_or_insert_with(|| format!("{kind}[{}]: {why}", self.id.index));
    }
}

fn need<M>(fx: &mut Effects<M>, set: SetIndex) -> Key {
    if !fx.needs.contains(&set) {
        fx.needs.push(set);
    }
    Key::Way(set)
}

fn count_access<M>(fx: &mut Effects<M>, bypasses_before: u32, done: bool) {
    fx.uses.accesses += 1;
    if fx.uses.bypasses != bypasses_before {
        fx.uses.bypasses = bypasses_before + 1;
    } else if done {
        fx.uses.hits += 1;
    } else {
        fx.uses.misses += 1;
    }
}
