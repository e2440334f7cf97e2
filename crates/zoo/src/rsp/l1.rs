//! The L1 of a compute unit in `rsp`: the cache of `vi`, with remote operations (which synchronize
//! with narrower scopes on other compute units).
//!
//! The L1 of the requester carries out a remote operation: it sends messages to the other L1s and
//! counts their answers. An L1 answers such a message without waiting for a remote operation of
//! another L1. So remote operations cannot deadlock, however many of them are under way.

use super::ToL1;
use super::locks::Locks;
use super::plans::{Remote, Step};
use crate::parts::HasBankMessages;
use crate::vi::{self, Step as Shared};
use core::fmt::Debug;
use core::hash::Hash;
use core::marker::PhantomData;
use proto::parts::{AckCounts, FlushWaiter, peers};
use proto::{
    Cause, Controller, Cx, Disposition, Hit, Homes, Input, Key, KindLevel, Load, NodeId, Op, PlanKey, Plans,
    Protocol, RequestInput, Slot, Spending, Wrap,
};

/// A protocol with messages between L1s for remote operations (which synchronize with narrower
/// scopes on other compute units).
pub trait PromotionProtocol: HasBankMessages + Protocol<Msg: Wrap<ToL1>> {}
impl<P: HasBankMessages + Protocol<Msg: Wrap<ToL1>>> PromotionProtocol for P {}

/// A waiter for a flush of the L1: a request of this compute unit, or a request of another L1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Waiter {
    /// The request of this compute unit in this slot waits for the flush.
    Request(Slot),
    /// A request of another L1 waits for the flush. The fields are the node of this L1 and the slot
    /// of the request.
    Remote(NodeId, Slot),
}

impl From<Slot> for Waiter {
    fn from(slot: Slot) -> Self {
        Waiter::Request(slot)
    }
}

impl<P: PromotionProtocol> FlushWaiter<P> for Waiter {
    fn flushed(self, cx: &mut Cx<'_, P>) -> Option<Self> {
        match self {
            Waiter::Request(slot) => cx.fx.resume(slot),
            Waiter::Remote(node, slot) => cx.fx.send(node, ToL1::Done { slot }),
        }
        None
    }
}

/// The plans (lists of steps) of the operations at an L1 of an `rsp` protocol. The two `rsp`
/// protocols have different plans.
pub trait RspPlansOf: Plans<Step = Step> + Clone + Eq + Hash + Debug {}
impl<T: Plans<Step = Step> + Clone + Eq + Hash + Debug> RspPlansOf for T {}

/// The L1 of an `rsp` protocol. `T` is the type of that protocol's plans (lists of steps).
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct L1<T> {
    cache: vi::L1<Waiter>,
    answers: AckCounts,
    locks: Locks,
    plans: PhantomData<T>,
}

proto::clone_in_place! { [T] L1<T> { cache, answers, locks, plans } }

/// The key that stands for the release of the locks of remote operations. Read-modify-writes wait
/// for this event.
const LOCKED: Key = Key::Other(0);

impl<T: RspPlansOf> L1<T> {
    /// An empty cache without outstanding operations.
    #[must_use]
    pub fn new(level: &KindLevel, (): &()) -> Self {
        L1 {
            cache: vi::L1::new(level, &()),
            answers: AckCounts::default(),
            locks: Locks::default(),
            plans: PhantomData,
        }
    }

    fn perform<P: PromotionProtocol>(
        &mut self,
        step: Step,
        ask: RequestInput<'_>,
        cx: &mut Cx<'_, P>,
    ) -> Option<Disposition> {
        let slot = ask.slot;
        let step = match step {
            // A read-modify-write that meets a lock here has already waited once, or
            // the lock arrived during its fill. It is performed below, as remote
            // operations are.
            Step::Shared(Shared::Here) if matches!(ask.req.op, Op::Rmw(_)) && self.locks.any() => {
                return None;
            }
            Step::Shared(shared) => return self.cache.perform(shared, ask, cx),
            Step::Remote(step) => step,
        };
        if matches!(step, Remote::LockAll | Remote::FlushOthers | Remote::InvalidateOthers) {
            cx.fx.spend(slot, spending::<T>(ask, cx.stage));
        }
        let others = peers(cx.me, cx.level().count);
        match step {
            Remote::Unlocked if self.locks.any() => {
                self.locks.wait();
                cx.stage += 1;
                Some(Disposition::Stall(LOCKED))
            }
            Remote::Unlocked => None,
            Remote::FlushOthers => {
                cx.fx.uses.flush_broadcasts += 1;
                self.answers.tell(slot, others, |slot| ToL1::Flush { slot }, cx)
            }
            Remote::InvalidateOthers => {
                cx.fx.uses.invalidation_broadcasts += 1;
                self.answers.tell(slot, others, |slot| ToL1::Invalidate { slot }, cx)
            }
            Remote::LockAll => {
                cx.fx.uses.lock_broadcasts += 1;
                self.locks.lock(cx.me, slot);
                self.answers.tell(slot, others, |slot| ToL1::Lock { slot }, cx)
            }
            Remote::UnlockAll => {
                others.for_each(|other| cx.fx.send(other, ToL1::Unlock { slot }));
                self.unlock(cx.me, slot, cx);
                None
            }
        }
    }

    fn unlock<P: Protocol>(&mut self, node: NodeId, slot: Slot, cx: &mut Cx<'_, P>) {
        if self.locks.unlock(node, slot) {
            cx.fx.wake(LOCKED);
        }
    }

    fn message<P: PromotionProtocol>(&mut self, from: NodeId, msg: &ToL1, cx: &mut Cx<'_, P>) -> Disposition {
        match *msg {
            ToL1::Bank(ref msg) => return self.cache.step(Input::Message { from, msg }, cx),
            ToL1::Flush { slot } => self.cache.flush_for(Waiter::Remote(from, slot), cx),
            ToL1::Invalidate { slot } => {
                let disposition = self.cache.invalidate(Cause::Remote, cx);
                if disposition != Disposition::Done {
                    return disposition;
                }
                cx.fx.send(from, ToL1::Done { slot });
            }
            ToL1::Lock { slot } => {
                cx.fx.uses.locks += 1;
                self.locks.lock(from, slot);
                cx.fx.send(from, ToL1::Done { slot });
            }
            ToL1::Unlock { slot } => self.unlock(from, slot, cx),
            ToL1::Done { slot } if self.answers.answered(slot, cx) => {}
            ToL1::Done { .. } => return Disposition::Impossible("no answer is outstanding at the receiver"),
        }
        Disposition::Done
    }
}

/// The part of a request, release or acquire, to which the time of its messages to other L1s is
/// attributed. For a store, this is always the release. For a load, and for a read-modify-write or
/// fence that does not release, it is always the acquire. For any other request, a message before
/// the access belongs to the release, and a message after the access to the acquire. `stage` is the
/// number of steps of the plan that are done; the access is over if it is one of them.
fn spending<T: RspPlansOf>(ask: RequestInput<'_>, stage: u8) -> Spending {
    let plan = T::plan(PlanKey::of(ask.req));
    let is_access = |step: &Step| matches!(step, Step::Shared(Shared::Below | Shared::BelowSystem));
    let is_behind = plan.iter().take(usize::from(stage)).any(is_access);
    match ask.req.op {
        Op::Store => Spending::Release,
        Op::Load => Spending::Acquire,
        _ if is_behind || !ask.req.releases() => Spending::Acquire,
        _ => Spending::Release,
    }
}

impl<P: PromotionProtocol, T: RspPlansOf> Controller<P> for L1<T> {
    type Msg = ToL1;

    fn step(&mut self, input: Input<'_, ToL1>, cx: &mut Cx<'_, P>) -> Disposition {
        let disposition = match input {
            Input::Request(ask) => cx.follow::<T>(ask, |step, cx| self.perform(step, ask, cx)),
            Input::Message { from, msg } => self.message(from, msg, cx),
            Input::Memory(reply) => self.cache.step(Input::Memory(reply), cx),
            Input::Evict(way) => self.cache.step(Input::Evict(way), cx),
            Input::Timer(class) => self.cache.step(Input::Timer(class), cx),
            Input::Tick { elapsed } => self.cache.step(Input::Tick { elapsed }, cx),
        };
        self.cache.drain_if_due(cx);
        disposition
    }

    #[inline]
    fn hit(&self, load: &Load, homes: &Homes) -> Option<Hit<'_>> {
        self.cache.hit::<T>(load, homes, Step::Shared(Shared::Here))
    }

    fn is_quiet(&self) -> bool {
        self.answers.is_idle() && !self.locks.any() && Controller::<P>::is_quiet(&self.cache)
    }

    proto::delegate! { cache: victims, occupied, limit_ways, lines, miscount, canonicalize }
}
