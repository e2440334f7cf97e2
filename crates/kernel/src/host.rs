//! Programs, and the handle by which their host code uses the machine.

use core::fmt;
use core::future::Future;
use core::marker::PhantomData;
use core::panic::Location;
use core::pin::Pin;
use std::rc::Rc;

use proto::{Addr, ArrayId, KernelId, Level, Order, RmwKind};

use crate::agent::{Accepted, Agent, Loading, Reading, Shared};
use crate::answer::Answer;
use crate::array::{Array, ArrayInfo};
use crate::fault::{FaultKind, Issuer};
use crate::launch::{Grid, Kernel, Shape};
use crate::op::{Action, Addressing, OpId, Semantics, Site};
use crate::{Mask, Word};

/// The alignment of arrays in bytes, so that no two arrays share a line. Arrays that
/// [`Host::alloc_behind`] allocates are the exception: they may share a line with the array before
/// them.
pub const ARRAY_ALIGN_BYTES: u64 = 256;

/// The address of the first array. No array contains address 0.
pub const FIRST_ADDR: u64 = 4096;

/// The maximum number of arrays in a program. It is also the maximum number of kernel launches,
/// because both have 16-bit numbers.
const NUMBERED_MAX: usize = u16::MAX as usize;

type Main = dyn FnOnce(Host) -> Pin<Box<dyn Future<Output = Answer>>>;

/// A program: its name and its host code, which launches kernels.
pub struct Program {
    pub(crate) name: String,
    pub(crate) main: Box<Main>,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Program {
    /// A program whose host code is `main`. `main` returns the answer of the program.
    pub fn new<F>(name: impl Into<String>, main: impl FnOnce(Host) -> F + 'static) -> Self
    where
        F: Future<Output = Answer> + 'static,
    {
        Program { name: name.into(), main: Box::new(|host| Box::pin(main(host))) }
    }

    /// The name of the program.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// The handle by which host code uses the machine: it allocates arrays, launches kernels and
/// accesses memory.
#[derive(Clone, Debug)]
pub struct Host {
    core: Rc<HostCore>,
}

#[derive(Debug)]
struct HostCore {
    shared: Rc<Shared>,
}

impl Agent for HostCore {
    fn shared(&self) -> &Rc<Shared> {
        &self.shared
    }

    fn issuer(&self) -> Issuer {
        Issuer::Host { program: self.shared.program.clone() }
    }
}

impl Host {
    pub(crate) fn new(shared: Rc<Shared>) -> Self {
        Host { core: Rc::new(HostCore { shared }) }
    }

    /// The parameters of the machine that programs may read, such as the number of lanes.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.core.shared.shape
    }

    /// Allocates an array of `len` elements, all zero. The name appears in reports.
    #[track_caller]
    #[must_use]
    pub fn alloc<T: Word>(&self, name: impl Into<String>, len: u64) -> Array<T> {
        self.place(name.into(), len, ARRAY_ALIGN_BYTES, Location::caller())
    }

    /// Allocates an array directly after the array that was allocated last, without alignment to a
    /// line. Programs use this method to choose which words share a line.
    #[track_caller]
    #[must_use]
    pub fn alloc_behind<T: Word>(&self, name: impl Into<String>, len: u64) -> Array<T> {
        self.place(name.into(), len, T::WIDTH.bytes() as u64, Location::caller())
    }

    fn place<T: Word>(&self, name: String, len: u64, align: u64, site: Site) -> Array<T> {
        let shared = &self.core.shared;
        let mut arrays = shared.arrays.borrow_mut();
        let base = shared.next_addr.get().max(FIRST_ADDR).next_multiple_of(align);
        let bytes = len.saturating_mul(T::WIDTH.bytes() as u64);
        let end = base.checked_add(bytes).filter(|&end| end <= 1 << 48);
        let what = if arrays.len() >= NUMBERED_MAX { "arrays" } else { "bytes of memory" };
        let (Some(end), true) = (end, arrays.len() < NUMBERED_MAX) else {
            let max = if what == "arrays" { NUMBERED_MAX as u64 } else { 1 << 48 };
            self.core.refuse(FaultKind::TooMany { what, max }, site);
            return Array::new(Addr(base), 0, ArrayId(0));
        };
        shared.next_addr.set(end);
        let id = ArrayId(arrays.len() as u16 + 1);
        arrays.push(ArrayInfo { id, name, base: Addr(base), bytes, len, word: T::NAME });
        Array::new(Addr(base), len, id)
    }

    /// Copies `values` to the start of the array `to`. The copy takes no simulated time.
    #[track_caller]
    pub fn write<T: Word>(&self, to: Array<T>, values: &[T]) -> Accepted {
        let site = Location::caller();
        let (count, len) = (values.len() as u64, to.len());
        let id = if count > len {
            let array = self.name(to.id());
            self.core.refuse(FaultKind::BadSlice { array, first: 0, count, len }, site)
        } else if values.is_empty() {
            OpId::EMPTY
        } else {
            let (addressing, bytes) = (Addressing::Single(to.base()), T::to_bytes(values));
            self.core.post_other(Action::HostWrite, addressing, Semantics::PLAIN, bytes, Mask::lane(0), site)
        };
        self.core.accepted(id)
    }

    /// Copies a whole array to the host. The copy takes no simulated time.
    #[track_caller]
    pub fn read<T: Word>(&self, from: Array<T>) -> Reading<T> {
        let id = if from.is_empty() {
            OpId::EMPTY
        } else {
            let (addressing, bytes) = (Addressing::Single(from.base()), vec![0; from.bytes() as usize]);
            let (action, site) = (Action::HostRead, Location::caller());
            self.core.post_other(action, addressing, Semantics::PLAIN, bytes, Mask::lane(0), site)
        };
        Reading { accepted: self.core.accepted(id), word: PhantomData }
    }

    /// Launches a kernel. The launch is posted at once, and the returned future is ready at the end
    /// of the kernel. Until the host code awaits the future, it can continue and launch further
    /// kernels.
    #[track_caller]
    pub fn launch(&self, kernel: Kernel, grid: Grid) -> Accepted {
        let site = Location::caller();
        let shared = &self.core.shared;
        let number = shared.launches.borrow().len();
        if number >= NUMBERED_MAX {
            let kind = FaultKind::TooMany { what: "kernel launches", max: NUMBERED_MAX as u64 };
            return self.core.accepted(self.core.refuse(kind, site));
        }
        let id = KernelId(number as u16);
        let mut launch = kernel.launch(id, grid, &shared.shape, site);
        if let Some(kind) = launch.too_large(&shared.shape) {
            return self.core.accepted(self.core.refuse(kind, site));
        }
        let (action, addressing) = (Action::Launch(id), Addressing::None);
        let op = self.core.post_other(action, addressing, Semantics::PLAIN, Vec::new(), Mask::lane(0), site);
        launch.op = op;
        shared.launches.borrow_mut().push(Rc::new(launch));
        self.core.accepted(op)
    }

    /// Ends the run with an error of the program, whose text is `message`. The future never
    /// completes.
    #[track_caller]
    pub fn fail(&self, message: impl Into<String>) -> Accepted {
        let message = message.into();
        self.core.accepted(self.core.refuse(FaultKind::Program { message }, Location::caller()))
    }

    fn name(&self, id: ArrayId) -> String {
        let arrays = self.core.shared.arrays.borrow();
        let index = usize::from(id.0).checked_sub(1);
        index.and_then(|i| arrays.get(i)).map_or_else(String::new, |info| info.name.clone())
    }
}

impl Answer {
    /// Reads a whole array to the host, and adds its elements as a vector with a name. The elements
    /// are copied only once.
    #[track_caller]
    pub fn with_array<T: Word>(
        self,
        name: impl Into<String>,
        host: &Host,
        from: Array<T>,
    ) -> impl Future<Output = Self> {
        let (name, reading) = (name.into(), host.read(from));
        async move {
            let bytes = reading.bytes().await;
            self.with_bytes::<T>(name, bytes)
        }
    }
}

/// Accesses of the host that take simulated time. Those that synchronize do so at system scope.
impl Host {
    const LANE: Mask = Mask::lane(0);

    /// Loads one element of an array, without synchronization.
    #[track_caller]
    pub fn load<T: Word>(&self, from: Array<T>, index: u64) -> Loading<u64, T> {
        self.atomic_load(from, index, Order::Plain)
    }

    /// Stores one element of an array, without synchronization.
    #[track_caller]
    pub fn store<T: Word>(&self, to: Array<T>, index: u64, value: T) -> Accepted {
        self.atomic_store(to, index, value, Order::Plain)
    }

    /// Loads one element of an array atomically.
    #[track_caller]
    pub fn atomic_load<T: Word>(&self, from: Array<T>, index: u64, order: Order) -> Loading<u64, T> {
        let (semantics, site) = (Semantics::new(order, Level::System), Location::caller());
        let id = self.core.post_access(Self::LANE, from, index, Action::Load, semantics, site, |_, _| ());
        self.core.loading(id)
    }

    /// Stores one element of an array atomically.
    #[track_caller]
    pub fn atomic_store<T: Word>(&self, to: Array<T>, index: u64, value: T, order: Order) -> Accepted {
        let (semantics, site) = (Semantics::new(order, Level::System), Location::caller());
        let post = |op: &mut crate::Posted, _| op.data.set(0, T::WIDTH, value.to_bits());
        let id = self.core.post_access(Self::LANE, to, index, Action::Store, semantics, site, post);
        self.core.accepted(id)
    }

    /// Performs a read-modify-write of one element. The value of the future is the element's old
    /// value.
    #[track_caller]
    pub fn rmw<T: Word>(
        &self,
        at: Array<T>,
        index: u64,
        kind: RmwKind,
        operand: T,
        order: Order,
    ) -> Loading<u64, T> {
        let (semantics, site) = (Semantics::new(order, Level::System), Location::caller());
        let expected = match kind {
            RmwKind::CompareExchange { expected } => expected,
            _ => 0,
        };
        let action = Action::Rmw { kind, uses_value: true };
        let id = self.core.post_access(Self::LANE, at, index, action, semantics, site, |op, _| {
            op.data.set(0, T::WIDTH, operand.to_bits());
            op.expected_mut().set(0, T::WIDTH, expected);
        });
        self.core.loading(id)
    }

    /// Orders accesses of the host before the fence and accesses after it, at system scope.
    #[track_caller]
    pub fn fence(&self, order: Order) -> Accepted {
        let (semantics, site) = (Semantics::new(order, Level::System), Location::caller());
        let addressing = Addressing::None;
        let id = self.core.post_other(Action::Fence, addressing, semantics, Vec::new(), Self::LANE, site);
        self.core.accepted(id)
    }
}
