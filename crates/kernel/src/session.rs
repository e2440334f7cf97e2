//! A running program, as its driver sees it. A driver is a program such as the simulator.
//!
//! A driver starts a [`Session`], polls the host, and takes posted operations from
//! [`Session::ops`]. For each [`Action::Launch`](crate::Action::Launch) it dispatches work-groups,
//! and spawns and polls their wavefronts. When its machine has performed an operation, the driver
//! completes the operation. A poll that returns [`Polled::Waiting`] names an operation; when this
//! operation is complete, the driver polls the host or the wavefront again.
//!
//! The example is a minimal driver. It runs one wavefront. Its memory contains only zeros.
//!
//! ```
//! use kernel::prelude::*;
//! use kernel::{Action, Coords, Polled, Session};
//!
//! async fn body(w: Wave, a: Array<u32>) {
//!     let values = w.load(a, Unit(0)).await;
//!     w.store(a, Unit(0), values + 1).await;
//! }
//!
//! let program = Program::new("tiny", |host| async move {
//!     let a = host.alloc::<u32>("a", 64);
//!     let kernel = Kernel::new("body", move |w| body(w, a)).uses([a.read_write()]);
//!     host.launch(kernel, Grid::new(1, 1)).await;
//!     Answer::new()
//! });
//! let mut session = Session::new(program, Shape::default());
//! let Polled::Waiting(launch) = session.poll_host() else { panic!("the host did not wait") };
//! let Action::Launch(kernel) = session.ops().get(launch).action else { panic!("it launches") };
//! session.ops().clear_posted();
//!
//! let mut wave = session.spawn(kernel, Coords { work_group: 0, wave: 0, compute_unit: 0 });
//! let mut performed = Vec::new();
//! while let Polled::Waiting(_) = wave.poll() {
//!     let mut ops = session.ops();
//!     for id in ops.posted().to_vec() {
//!         let op = ops.get_mut(id);
//!         performed.push((op.action, op.value(3), op.work.of(Class::Int)));
//!         if op.action == Action::Load {
//!             op.exec.iter().for_each(|lane| op.set_value(lane, 0));
//!         }
//!         ops.complete(id);
//!     }
//!     ops.clear_posted();
//! }
//! // A load, then a store of ones after one vector addition.
//! assert_eq!(performed, [(Action::Load, 0, 0), (Action::Store, 1, 1)]);
//! session.ops().complete(launch);
//! assert_eq!(session.poll_host(), Polled::Ended);
//! ```

use core::cell::{Cell, Ref, RefCell, RefMut};
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::rc::Rc;

use proto::KernelId;

use crate::agent::Shared;
use crate::answer::Answer;
use crate::array::ArrayInfo;
use crate::fault::Fault;
use crate::host::{Host, Program};
use crate::launch::{Launch, Shape};
use crate::op::{OpId, Ops};
use crate::wave::{Coords, Wave, WaveCore};
use crate::work::{self, Work};

/// The result of a poll of a task. A task is the host code or a wavefront.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Polled {
    /// The task waits for this operation. The driver (such as the simulator) polls the task again
    /// when the operation is complete.
    Waiting(OpId),
    /// The task has ended. Its operations may still be in flight.
    Ended,
    /// The program has an error. The run is over.
    Faulted(Box<Fault>),
}

/// A running program, which its driver (such as the simulator) executes step by step.
pub struct Session {
    shared: Rc<Shared>,
    host: Option<Pin<Box<dyn Future<Output = Answer>>>>,
    answer: Option<Answer>,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("program", &self.shared.program).finish_non_exhaustive()
    }
}

impl Session {
    /// Starts a program on a machine of this shape. No code of the program runs before the first
    /// call of [`Session::poll_host`].
    #[must_use]
    pub fn new(program: Program, shape: Shape) -> Self {
        let shared = Rc::new(Shared {
            program: program.name,
            shape,
            ops: RefCell::default(),
            waiting: Cell::new(None),
            faulted: Cell::new(false),
            fault: RefCell::new(None),
            arrays: RefCell::default(),
            next_addr: Cell::new(0),
            launches: RefCell::default(),
        });
        let host = (program.main)(Host::new(shared.clone()));
        Session { shared, host: Some(host), answer: None }
    }

    /// The name of the running program.
    #[must_use]
    pub fn program(&self) -> &str {
        &self.shared.program
    }

    /// Runs the host code until it waits for an operation, ends, or has an error.
    pub fn poll_host(&mut self) -> Polled {
        let Some(host) = &mut self.host else { return Polled::Ended };
        let (polled, answer, _) = poll(&self.shared, host.as_mut(), || "the host program".to_owned());
        if let Some(answer) = answer {
            self.answer = Some(answer);
            self.host = None;
        }
        polled
    }

    /// The operations in flight. The caller must drop this borrow before it polls again.
    #[inline]
    pub fn ops(&self) -> RefMut<'_, Ops> {
        self.shared.ops.borrow_mut()
    }

    /// All arrays that the program has allocated. The array with number `n` has the index `n - 1`.
    #[must_use]
    pub fn arrays(&self) -> Ref<'_, [ArrayInfo]> {
        Ref::map(self.shared.arrays.borrow(), Vec::as_slice)
    }

    /// The launch with this number.
    ///
    /// # Panics
    /// If no launched kernel has this number.
    #[must_use]
    pub fn launch(&self, kernel: KernelId) -> Rc<Launch> {
        self.shared.launches.borrow()[usize::from(kernel.0)].clone()
    }

    /// Creates the wavefront at these coordinates of a launched kernel.
    ///
    /// # Panics
    /// If no launched kernel has this number.
    #[must_use]
    pub fn spawn(&self, kernel: KernelId, at: Coords) -> WaveTask {
        let launch = self.launch(kernel);
        let core = WaveCore { shared: self.shared.clone(), kernel, grid: launch.grid, at };
        let future = (launch.body)(Wave::new(core));
        WaveTask { future, shared: self.shared.clone(), kernel, at, tail: Work::default() }
    }

    /// The answer of the program. `None` until the host code has ended.
    #[must_use]
    pub fn answer(&self) -> Option<&Answer> {
        self.answer.as_ref()
    }

    /// Ends the program. Returns its answer, or `None` if the host code has not ended.
    #[must_use]
    pub fn into_answer(self) -> Option<Answer> {
        self.answer
    }
}

/// A running wavefront, which the driver (such as the simulator) executes step by step.
pub struct WaveTask {
    future: Pin<Box<dyn Future<Output = ()>>>,
    shared: Rc<Shared>,
    kernel: KernelId,
    at: Coords,
    tail: Work,
}

impl fmt::Debug for WaveTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaveTask").field("kernel", &self.kernel).field("at", &self.at).finish_non_exhaustive()
    }
}

impl WaveTask {
    /// Runs the wavefront until it waits for an operation, ends, or has an error.
    ///
    /// # Panics
    /// If the kernel awaits a future that does not stand for an operation of this crate.
    pub fn poll(&mut self) -> Polled {
        let (kernel, at) = (self.kernel, self.at);
        let name = || format!("wavefront {} of work-group {} of {kernel:?}", at.wave, at.work_group);
        let (polled, _, tail) = poll(&self.shared, self.future.as_mut(), name);
        self.tail = tail;
        polled
    }

    /// The arithmetic that the wavefront did in its last poll after the last operation that it
    /// posted. If that poll posted no operation, all arithmetic of the poll.
    #[must_use]
    pub fn tail_work(&self) -> &Work {
        &self.tail
    }

    /// The number of the kernel that the wavefront runs.
    #[must_use]
    pub fn kernel(&self) -> KernelId {
        self.kernel
    }

    /// The coordinates of the wavefront: its work-group, its number in the work-group, and its
    /// compute unit.
    #[must_use]
    pub fn at(&self) -> Coords {
        self.at
    }
}

/// Polls the future of a task once. The waker does nothing, because the driver (the program that
/// executes the operations) knows when to poll again. No other executor is necessary.
#[inline]
fn poll<R>(
    shared: &Shared,
    future: Pin<&mut dyn Future<Output = R>>,
    name: impl FnOnce() -> String,
) -> (Polled, Option<R>, Work) {
    shared.waiting.set(None);
    work::take();
    let polled = future.poll(&mut Context::from_waker(Waker::noop()));
    let tail = work::take().unwrap_or_default();
    if shared.faulted.get() {
        let fault = shared.fault.borrow().clone();
        if let Some(fault) = fault {
            return (Polled::Faulted(Box::new(fault)), None, tail);
        }
    }
    match polled {
        Poll::Ready(value) => (Polled::Ended, Some(value), tail),
        Poll::Pending => match shared.waiting.take() {
            Some(id) => (Polled::Waiting(id), None, tail),
            None => panic!("{} awaits a future that is not an operation of its handle", name()),
        },
    }
}
