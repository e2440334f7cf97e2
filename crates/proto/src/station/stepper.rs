//! The presentation of one input to a controller. The result says whether the input is complete or
//! why it must wait.

use smallvec::SmallVec;

use crate::contract::{Channels, Cx, Disposition, Input, Message, Node, Protocol, RequestInput, World};
use crate::effects::Effects;
use crate::held::RequestStats;
use crate::line::LineAddr;
use crate::lookup::Lookup;
use crate::node::{Key, NodeId, SetIndex, Slot};
use crate::parked::ParkedInputs;
use crate::request::{Op, Order, Request};

/// The reason why an input is incomplete after a step.
#[derive(Clone, Copy)]
pub(super) enum Pending {
    /// The request waits for the fill of its line.
    Waits,
    /// The input is parked (waits at the station), and is presented again when the event that this
    /// key names happens.
    Parks(Key),
    /// The input is parked (waits at the station), and is presented again when a way of this set is
    /// free.
    NeedsWay(SetIndex),
}

impl Pending {
    /// The key that names the event for which the input waits, or `None` if it waits for a fill.
    /// Requests an eviction if the input needs a way.
    pub(super) fn key<M>(self, fx: &mut Effects<M>) -> Option<Key> {
        match self {
            Pending::Waits => None,
            Pending::Parks(key) => Some(key),
            Pending::NeedsWay(set) => Some(need(fx, set)),
        }
    }
}

/// Takes steps of a controller. It borrows only the parts of the station that a step
/// needs, because the input may be in the station too.
pub(super) struct Stepper<'a, P: Protocol> {
    pub(super) node: &'a mut P::Node,
    pub(super) id: NodeId,
    pub(super) parked: &'a ParkedInputs<P::Msg>,
    pub(super) waiting: &'a mut Lookup<LineAddr, SmallVec<[Slot; 4]>>,
}

impl<P: Protocol> Stepper<'_, P> {
    /// Presents a request to the controller. Returns `None` if the request is complete. Otherwise
    /// returns the reason why the request must wait.
    #[inline]
    pub(super) fn request(
        &mut self,
        ask: RequestInput<'_>,
        stage: &mut u8,
        stats: &mut RequestStats,
        world: World<'_, P>,
        fx: &mut Effects<P::Msg>,
    ) -> Option<Pending> {
        let sent = fx.sends.len() + fx.memory.len();
        let mut cx = Cx { world, me: self.id, stage: *stage, fx, parked: self.parked };
        let disposition = self.node.step(Input::Request(ask), &mut cx);
        *stage = cx.stage;
        stats.below |= fx.sends.len() + fx.memory.len() > sent;
        if ask.req.is_atomic_access() {
            let waits = matches!(disposition, Disposition::Wait(_));
            if waits || disposition == Disposition::Done {
                fx.uses.sync_accesses += 1;
                fx.uses.sync_hits += u32::from(!waits && !stats.below);
            }
        }
        match disposition {
            Disposition::Done => None,
            Disposition::Wait(line) => {
                self.waiting.or_default(line).push(ask.slot);
                Some(Pending::Waits)
            }
            Disposition::Stall(key) => Some(Pending::Parks(key)),
            Disposition::NeedWay(set) => Some(Pending::NeedsWay(set)),
            Disposition::Impossible(why) => {
                fx.violate::<P>(self.id, why);
                None
            }
        }
    }

    /// Presents a message to the controller. Returns `None` if the message is complete. Otherwise
    /// returns the reason why the message must wait.
    #[inline]
    pub(super) fn message(
        &mut self,
        from: NodeId,
        msg: &P::Msg,
        world: World<'_, P>,
        fx: &mut Effects<P::Msg>,
    ) -> Option<Pending> {
        let mut cx = Cx { world, me: self.id, stage: 0, fx, parked: self.parked };
        match self.node.step(Input::Message { from, msg }, &mut cx) {
            Disposition::Done => None,
            Disposition::Stall(key) => Some(Pending::Parks(key)),
            Disposition::NeedWay(set) => Some(Pending::NeedsWay(set)),
            Disposition::Impossible(why) => {
                fx.violate::<P>(self.id, &format!("{} from {from:?}: {why}", msg.name()));
                None
            }
            Disposition::Wait(_) => {
                fx.violate::<P>(self.id, "a message cannot wait for a fill");
                None
            }
        }
    }
}

/// The line for which a message must keep its order: the message must not pass parked accesses of
/// its sender to this line. `None` if the message may pass them, or if the protocol needs no order
/// on its channels.
pub(super) fn ordered_by<P: Protocol>(msg: &P::Msg) -> Option<LineAddr> {
    let ordered = P::INFO.channels == Channels::Fifo && msg.keeps_order();
    ordered.then(|| msg.line()).flatten()
}

fn need<M>(fx: &mut Effects<M>, set: SetIndex) -> Key {
    if !fx.needs.contains(&set) {
        fx.needs.push(set);
    }
    Key::Way(set)
}

/// Counts a request once, as a hit, a miss or a bypass. Returns whether the request has been
/// counted.
///
/// A request that waits for an answer to its own slot is not counted yet, because it has not
/// reached its access. Exception: it counts at once if the controller has already passed it on (a
/// bypass). A request that is not a bypass counts as a hit if it is complete and none of its steps
/// has sent a message or a memory operation. Otherwise it counts as a miss.
pub(super) fn count_request<M>(
    fx: &mut Effects<M>,
    bypasses_before: u32,
    pending: Option<Pending>,
    stats: RequestStats,
    req: &Request,
) -> bool {
    if stats.counted {
        fx.uses.bypasses = bypasses_before;
        return true;
    }
    let waits_for_itself = matches!(pending, Some(Pending::Parks(Key::Slot(_))));
    if waits_for_itself && fx.uses.bypasses == bypasses_before {
        return false;
    }
    let hits = fx.uses.hits;
    count_access(fx, bypasses_before, pending.is_none() && !stats.below);
    if req.op == Op::Load && req.order == Order::Plain {
        fx.uses.load_accesses += 1;
        fx.uses.load_hits += fx.uses.hits - hits;
        fx.uses.load_bypasses += fx.uses.bypasses - bypasses_before;
    }
    true
}

pub(super) fn count_access<M>(fx: &mut Effects<M>, bypasses_before: u32, done: bool) {
    fx.uses.accesses += 1;
    if fx.uses.bypasses != bypasses_before {
        fx.uses.bypasses = bypasses_before + 1;
    } else if done {
        fx.uses.hits += 1;
    } else {
        fx.uses.misses += 1;
    }
}
