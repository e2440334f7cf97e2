//! A controller together with what is parked at it.
//!
//! This is what "the state" of a machine consists of, shared by every driver.
//! An input is carried out together with everything it wakes, at once.

use crate::contract::{
    Ask, Channels, Cx, Disposition, Effects, Inner, Input, MemoryReply, Message, Node, Protocol, World,
};
use crate::line::{LineAddr, LineData};
use crate::node::{Key, NodeId, SetIndex, Slot, TimerClass, Way};
use crate::request::{Op, Request};
use std::collections::{BTreeMap, VecDeque};

/// A request that must be presented again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Held {
    req: Request,
    stage: u8,
    data: LineData,
    /// Is it known whether it hits, misses or passes on?
    counted: bool,
}

/// An input that waits for a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Parked<M> {
    Request(Slot),
    Message(NodeId, M),
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
    parked: BTreeMap<Key, VecDeque<Parked<P::Msg>>>,
    /// For each sender and line with an access that is parked: those behind it.
    behind: BTreeMap<(NodeId, LineAddr), VecDeque<P::Msg>>,
    waiting: BTreeMap<LineAddr, Vec<Slot>>,
    held: BTreeMap<Slot, Held>,
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
            behind: BTreeMap::new(),
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
        let counted = matches!(req.op, Op::Fence | Op::KernelBegin(_) | Op::KernelEnd(_));
        let ask = Ask { slot, req, data: &LineData::default() };
        self.present(ask, 0, counted, world, fx);
        self.settle(world, fx);
    }

    /// Delivers a message.
    #[inline]
    pub fn message(&mut self, from: NodeId, msg: P::Msg, world: World<'_, P>, fx: &mut Effects<P::Msg>) {
        let line = ordered_by::<P>(&msg);
        if let Some(behind) = line.and_then(|line| self.behind.get_mut(&(from, line))) {
            behind.push_back(msg);
            count_access(fx, fx.uses.bypasses, false);
            return;
        }
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
        self.parked.get(&key).map_or(0, VecDeque::len)
    }

    /// The keys under which something is parked, with how many inputs.
    pub fn parked_keys(&self) -> impl Iterator<Item = (Key, usize)> {
        self.parked.iter().map(|(&key, list)| (key, list.len()))
    }

    /// The requests that are parked, with what they wait for.
    pub fn parked_requests(&self) -> impl Iterator<Item = (Key, Slot)> {
        self.parked.iter().flat_map(|(&key, list)| {
            list.iter().filter_map(move |p| match p {
                Parked::Request(slot) => Some((key, *slot)),
                Parked::Message(..) => None,
            })
        })
    }

    /// The messages that are parked, with what they wait for.
    pub fn parked_messages(&self) -> impl Iterator<Item = (Key, NodeId, &P::Msg)> {
        let parked = self.parked.iter().flat_map(|(&key, list)| {
            list.iter().filter_map(move |p| match p {
                Parked::Message(from, msg) => Some((key, *from, msg)),
                Parked::Request(_) => None,
            })
        });
        let behind = self
            .behind
            .iter()
            .flat_map(|(&(from, line), list)| list.iter().map(move |msg| (Key::Line(line), from, msg)));
        parked.chain(behind)
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

    /// Presents a request. Returns the key under which it parked, if it did;
    /// a request that waits for a fill counts as parked under its line.
    #[inline]
    fn present(
        &mut self,
        ask: Ask<'_>,
        stage: u8,
        mut counted: bool,
        world: World<'_, P>,
        fx: &mut Effects<P::Msg>,
    ) -> Option<Key> {
        let bypasses = fx.uses.bypasses;
        let mut cx = Cx { world, me: self.id, stage, fx };
        let disposition = self.node.step(Input::Request(ask), &mut cx);
        let stage = cx.stage;
        let key = match disposition {
            Disposition::Done => None,
            Disposition::Wait(line) => Some(Key::Line(line)),
            Disposition::Stall(key) => Some(key),
            Disposition::NeedWay(set) => Some(need(fx, set)),
            Disposition::Impossible(why) => {
                self.violate(fx, why);
                return None;
            }
        };
        // A request that waits for word about itself, and was not passed on,
        // has not come to its access yet.
        if counted {
            fx.uses.bypasses = bypasses;
        } else if fx.uses.bypasses != bypasses || key != Some(Key::Slot(ask.slot)) {
            count_access(fx, bypasses, key.is_none());
            counted = true;
        }
        let key = key?;
        if let Disposition::Wait(line) = disposition {
            self.waiting.entry(line).or_default().push(ask.slot);
        } else {
            self.held.insert(ask.slot, Held { req: *ask.req, stage, data: *ask.data, counted });
            self.parked.entry(key).or_default().push_back(Parked::Request(ask.slot));
        }
        Some(key)
    }

    fn present_again(
        &mut self,
        slot: Slot,
        held: &Held,
        world: World<'_, P>,
        fx: &mut Effects<P::Msg>,
    ) -> Option<Key> {
        let ask = Ask { slot, req: &held.req, data: &held.data };
        self.present(ask, held.stage, held.counted, world, fx)
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
        if let Some(line) = ordered_by::<P>(&msg) {
            self.behind.entry((from, line)).or_default();
        }
        self.parked.entry(key).or_default().push_back(Parked::Message(from, msg));
        Some(key)
    }

    /// Presents a message that was parked. When it is dealt with, those that
    /// had to stay behind it follow, until one of them must park.
    fn deliver_again(
        &mut self,
        from: NodeId,
        msg: P::Msg,
        world: World<'_, P>,
        fx: &mut Effects<P::Msg>,
    ) -> Option<Key> {
        let bypasses = fx.uses.bypasses;
        let line = ordered_by::<P>(&msg);
        let again = self.deliver(from, msg, world, fx);
        if let (Some(line), None) = (line, again) {
            let mut behind = self.behind.remove(&(from, line)).unwrap_or_default();
            while let Some(msg) = behind.pop_front() {
                if self.deliver(from, msg, world, fx).is_some() {
                    self.behind.insert((from, line), behind);
                    break;
                }
            }
        }
        fx.uses.bypasses = bypasses;
        again
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
        let key = Key::Slot(slot);
        let parked = self.parked.remove(&key).is_some();
        let Some(mut held) = self.held.remove(&slot).filter(|_| parked) else {
            self.violate(fx, &format!("{slot:?} is resumed, but nothing is parked under it"));
            return;
        };
        held.data = data.unwrap_or(held.data);
        self.present_again(slot, &held, world, fx);
    }

    fn wake(&mut self, key: Key, world: World<'_, P>, fx: &mut Effects<P::Msg>) -> u32 {
        let Some(mut list) = self.parked.remove(&key) else { return 0 };
        let mut steps = 0;
        while let Some(parked) = list.pop_front() {
            steps += 1;
            let again = match parked {
                Parked::Request(slot) => {
                    let Some(held) = self.held.remove(&slot) else { continue };
                    self.present_again(slot, &held, world, fx)
                }
                Parked::Message(from, msg) => self.deliver_again(from, msg, world, fx),
            };
            if again == Some(key) && self.parked.contains_key(&key) {
                // Blocked once more: it stays the first in line.
                break;
            }
        }
        if !list.is_empty() {
            self.parked.entry(key).or_default().append(&mut list);
        }
        steps
    }

    fn violate(&self, fx: &mut Effects<P::Msg>, why: &str) {
        let kind = P::KINDS.get(usize::from(self.id.kind)).map_or("?", |k| k.name);
        fx.violation.get_or_insert_with(|| format!("{kind}[{}]: {why}", self.id.index));
    }
}

/// The line whose accesses this message must not pass, if its channel keeps
/// order.
fn ordered_by<P: Protocol>(msg: &P::Msg) -> Option<LineAddr> {
    let ordered = P::INFO.channels == Channels::Fifo && msg.is_access();
    ordered.then(|| msg.line()).flatten()
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
