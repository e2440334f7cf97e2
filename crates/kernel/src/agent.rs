//! How wavefronts and the host post operations. A posted operation is represented by a future,
//! which the kernel awaits.

use core::cell::{Cell, RefCell};
use core::future::{Future, poll_fn};
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::rc::Rc;

use proto::{ArrayId, Width};

use crate::array::{ArrayInfo, Target};
use crate::fault::{Fault, FaultKind, Issuer};
use crate::launch::Launch;
use crate::op::{Action, Addressing, OpId, Ops, Posted, Semantics, Site, Space};
use crate::place::Place;
use crate::{Mask, Shape, Word};

/// The state that all agents (the host and the wavefronts) of a run share with the driver of the
/// run (the program that executes their operations, such as the simulator).
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) program: String,
    pub(crate) shape: Shape,
    pub(crate) ops: RefCell<Ops>,
    /// The operation for which the agent that is polled now waits. `None` if the agent waits for no
    /// operation.
    pub(crate) waiting: Cell<Option<OpId>>,
    pub(crate) faulted: Cell<bool>,
    pub(crate) fault: RefCell<Option<Fault>>,
    pub(crate) arrays: RefCell<Vec<ArrayInfo>>,
    pub(crate) next_addr: Cell<u64>,
    pub(crate) launches: RefCell<Vec<Rc<Launch>>>,
}

impl Shared {
    /// Records a fault, unless the run already has one. The run keeps its first fault only.
    #[cold]
    pub(crate) fn set_fault(&self, issuer: Issuer, kind: FaultKind, site: Site) {
        if !self.faulted.replace(true) {
            *self.fault.borrow_mut() = Some(Fault { issuer, kind, site });
        }
    }

    fn array_name(&self, id: ArrayId) -> String {
        match usize::from(id.0).checked_sub(1).and_then(|i| self.arrays.borrow().get(i).cloned()) {
            Some(info) => info.name,
            None => "the local memory".to_owned(),
        }
    }
}

/// An agent: the host or a wavefront, which posts operations.
pub(crate) trait Agent {
    fn shared(&self) -> &Rc<Shared>;
    fn issuer(&self) -> Issuer;

    /// Posts an access to `target` by the lanes `exec`. The caller's `fill` writes the operands,
    /// such as the values to store, into the operation.
    #[inline]
    #[allow(clippy::too_many_arguments, reason = "every access goes through this function")]
    fn post_access<T: Word, P: Place>(
        &self,
        exec: Mask,
        target: impl Target<T>,
        place: P,
        action: Action,
        semantics: Semantics,
        site: Site,
        fill: impl FnOnce(&mut Posted, Mask),
    ) -> OpId {
        let lanes = P::lanes(exec);
        if lanes.is_empty() {
            return OpId::EMPTY;
        }
        let shared = self.shared();
        if shared.faulted.get() {
            return OpId::REFUSED;
        }
        let mut ops = shared.ops.borrow_mut();
        let (id, op) = ops.post(site);
        op.exec = lanes;
        op.width = T::WIDTH;
        if let Err(beyond) = place.locate(op, T::WIDTH, target.base(), target.len()) {
            ops.retract();
            drop(ops);
            let array = shared.array_name(target.id());
            let (lane, index, len) = (beyond.lane, beyond.index, target.len());
            shared.set_fault(self.issuer(), FaultKind::OutOfBounds { array, lane, index, len }, site);
            return OpId::REFUSED;
        }
        op.action = action;
        op.space = space(&target);
        op.semantics = semantics;
        op.array = target.id();
        fill(op, lanes);
        id
    }

    /// Posts an operation that is not an access of lanes: a fence, a barrier, a launch, or a copy
    /// of a whole array by the host.
    fn post_other(
        &self,
        action: Action,
        addressing: Addressing,
        semantics: Semantics,
        bulk: Vec<u8>,
        exec: Mask,
        site: Site,
    ) -> OpId {
        let shared = self.shared();
        if shared.faulted.get() {
            return OpId::REFUSED;
        }
        let mut ops = shared.ops.borrow_mut();
        let (id, op) = ops.post(site);
        op.action = action;
        op.space = Space::Global;
        op.width = Width::W1;
        op.exec = exec;
        op.addressing = addressing;
        op.semantics = semantics;
        op.array = ArrayId(0);
        op.bulk = bulk;
        id
    }

    fn refuse(&self, kind: FaultKind, site: Site) -> OpId {
        self.shared().set_fault(self.issuer(), kind, site);
        OpId::REFUSED
    }

    fn accepted(&self, id: OpId) -> Accepted {
        Accepted { pending: PendingOp { shared: self.shared().clone(), id } }
    }

    fn loading<P: Place, T: Word>(&self, id: OpId) -> Loading<P, T> {
        Loading { pending: PendingOp { shared: self.shared().clone(), id }, value: PhantomData }
    }
}

/// The part that all futures of operations have in common: the number of an operation in flight,
/// and the state in which the operation is stored.
#[derive(Debug)]
struct PendingOp {
    shared: Rc<Shared>,
    id: OpId,
}

impl PendingOp {
    /// Returns the value of `take` once the issuer may continue. `take` is called at most once.
    /// If the operation accesses nothing, returns `nothing` at once.
    #[inline]
    fn poll<R>(&mut self, nothing: R, take: impl FnOnce(&mut Posted) -> R) -> Poll<R> {
        if self.id == OpId::EMPTY {
            return Poll::Ready(nothing);
        }
        if self.id != OpId::REFUSED {
            let mut ops = self.shared.ops.borrow_mut();
            if ops.is_ready(self.id) {
                let value = take(ops.get_mut(self.id));
                ops.abandon(self.id);
                self.id = OpId::EMPTY;
                return Poll::Ready(value);
            }
        }
        self.shared.waiting.set(Some(self.id));
        Poll::Pending
    }
}

impl Drop for PendingOp {
    #[inline]
    fn drop(&mut self) {
        if self.id != OpId::EMPTY && self.id != OpId::REFUSED {
            self.shared.ops.borrow_mut().abandon(self.id);
        }
    }
}

/// The future of a load or a read-modify-write. The operation is posted before the future exists,
/// so several loads can be in flight at a time. The value of the future has, for each lane, the
/// loaded value or the old value of the updated word.
#[derive(Debug)]
#[must_use = "a load does nothing useful unless its values are awaited"]
pub struct Loading<P, T> {
    pending: PendingOp,
    value: PhantomData<fn() -> (P, T)>,
}

impl<P: Place, T: Word> Future for Loading<P, T> {
    type Output = P::Of<T>;

    #[inline]
    fn poll(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.get_mut().pending.poll(P::nothing(), |op| P::unpack(&op.data, op.exec))
    }
}

/// The future of an operation that returns no value. The operation takes place even if no one
/// awaits the future. For a store or an update, the future is ready when the driver (such as the
/// simulator) accepts the operation and so allows the issuer to continue. For a fence or a barrier,
/// the future is ready when the operation is complete.
#[derive(Debug)]
pub struct Accepted {
    pending: PendingOp,
}

impl Future for Accepted {
    type Output = ();

    #[inline]
    fn poll(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<()> {
        self.get_mut().pending.poll((), |_| ())
    }
}

/// The future of a read of a whole array by the host. Its value has the elements of the array.
#[derive(Debug)]
#[must_use = "a read does nothing useful unless it is awaited"]
pub struct Reading<T> {
    pub(crate) accepted: Accepted,
    pub(crate) word: PhantomData<fn() -> T>,
}

impl<T> Reading<T> {
    /// The little-endian bytes of the elements.
    pub(crate) async fn bytes(mut self) -> Vec<u8> {
        poll_fn(|_| self.accepted.pending.poll(Vec::new(), |op| core::mem::take(&mut op.bulk))).await
    }
}

impl<T: Word> Future for Reading<T> {
    type Output = Vec<T>;

    fn poll(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Vec<T>> {
        let pending = &mut self.get_mut().accepted.pending;
        pending.poll(Vec::new(), |op| T::from_bytes(&core::mem::take(&mut op.bulk)))
    }
}

#[inline]
fn space<T: Word, A: Target<T>>(_target: &A) -> Space {
    A::SPACE
}
