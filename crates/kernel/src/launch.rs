//! The shape of the machine, kernels, and grids of work-groups in which kernels are launched.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use std::rc::Rc;

use proto::{ArrayUse, KernelId, LineAddr};

use crate::array::Use;
use crate::fault::FaultKind;
use crate::op::{OpId, Site};
use crate::{LANES_MAX, Mask, Wave};

/// The parameters of the machine that programs can read. Those about one compute unit are limits: a
/// compute unit never holds more wavefronts, work-groups or local memory than they say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The number of lanes of a wavefront, at most [`LANES_MAX`].
    pub lanes: u32,
    /// The size of a cache line in bytes.
    pub line_bytes: u32,
    /// The number of compute units.
    pub compute_units: u32,
    /// The maximum number of wavefronts in a compute unit.
    pub waves_per_cu: u32,
    /// The maximum number of work-groups in a compute unit.
    pub work_groups_per_cu: u32,
    /// The size of a compute unit's local memory in bytes.
    pub lds_bytes_per_cu: u32,
}

impl Default for Shape {
    /// A small machine for tests: 4 compute units of 8 wavefronts of 64 lanes.
    fn default() -> Self {
        Shape {
            lanes: LANES_MAX as u32,
            line_bytes: 64,
            compute_units: 4,
            waves_per_cu: 8,
            work_groups_per_cu: 4,
            lds_bytes_per_cu: 32 * 1024,
        }
    }
}

impl Shape {
    /// The mask of all lanes of a wavefront.
    #[must_use]
    pub fn full(&self) -> Mask {
        Mask::below(u64::from(self.lanes))
    }

    /// The maximum number of work-groups of this grid that one compute unit can hold at a time.
    #[must_use]
    pub fn resident_per_cu(&self, grid: &Grid) -> u32 {
        let by_lds = self.lds_bytes_per_cu.checked_div(grid.lds_bytes).unwrap_or(u32::MAX);
        let by_waves = self.waves_per_cu.checked_div(grid.waves).unwrap_or(u32::MAX);
        self.work_groups_per_cu.min(by_lds).min(by_waves)
    }
}

/// The rule that places work-groups on compute units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Placement {
    /// Places each work-group on the next compute unit that has room. The compute units take turns.
    #[default]
    Spread,
    /// Places each work-group on the compute unit with the lowest number that has room.
    Pack,
}

/// The size of a launch: the number of work-groups, and the wavefronts and local memory of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grid {
    /// The number of work-groups in the grid.
    pub work_groups: u32,
    /// The number of wavefronts in a work-group.
    pub waves: u32,
    /// The size of a work-group's local memory in bytes.
    pub lds_bytes: u32,
    /// The rule that assigns the work-groups to compute units.
    pub placement: Placement,
}

impl Grid {
    /// A grid whose work-groups have no local memory and are spread over the compute units.
    #[must_use]
    pub const fn new(work_groups: u32, waves: u32) -> Self {
        Grid { work_groups, waves, lds_bytes: 0, placement: Placement::Spread }
    }

    /// Sets the size of a work-group's local memory.
    #[must_use]
    pub const fn lds_bytes(mut self, bytes: u32) -> Self {
        self.lds_bytes = bytes;
        self
    }

    /// Sets the rule that assigns work-groups to compute units.
    #[must_use]
    pub const fn placed(mut self, placement: Placement) -> Self {
        self.placement = placement;
        self
    }
}

type Body = dyn Fn(Wave) -> Pin<Box<dyn Future<Output = ()>>>;

/// A kernel: its name, the code that each wavefront runs, and the arrays that it declares.
#[derive(Clone)]
pub struct Kernel {
    name: String,
    body: Rc<Body>,
    uses: Vec<Use>,
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("name", &self.name).field("uses", &self.uses).finish_non_exhaustive()
    }
}

impl Kernel {
    /// A kernel in which every wavefront runs `body`.
    pub fn new<F>(name: impl Into<String>, body: impl Fn(Wave) -> F + 'static) -> Self
    where
        F: Future<Output = ()> + 'static,
    {
        Kernel { name: name.into(), body: Rc::new(move |wave| Box::pin(body(wave))), uses: Vec::new() }
    }

    /// Declares the arrays that the kernel uses.
    #[must_use]
    pub fn uses(mut self, uses: impl IntoIterator<Item = Use>) -> Self {
        self.uses.extend(uses);
        self
    }

    pub(crate) fn launch(self, kernel: KernelId, grid: Grid, shape: &Shape, site: Site) -> Launch {
        let line = u64::from(shape.line_bytes.max(1));
        let uses = self.uses.iter().filter(|u| u.bytes > 0).map(|u| {
            let first = u.base.0 / line;
            let last = (u.base.0 + u.bytes - 1) / line;
            ArrayUse { array: u.array, first: LineAddr(first), lines: last - first + 1, mode: u.mode }
        });
        Launch {
            kernel,
            name: self.name,
            grid,
            uses: uses.collect(),
            declared: self.uses,
            op: OpId::REFUSED,
            site,
            body: self.body,
        }
    }
}

/// A launch of a kernel by the host.
pub struct Launch {
    /// The number of the launched kernel, in the order of launches.
    pub kernel: KernelId,
    /// The name of the kernel.
    pub name: String,
    /// The number of work-groups, and the wavefronts and local memory of each.
    pub grid: Grid,
    /// The arrays that the kernel declares, as ranges of cache lines.
    pub uses: Vec<ArrayUse>,
    /// The arrays that the kernel declares, as ranges of bytes.
    pub declared: Vec<Use>,
    /// The operation of the host that completes when all wavefronts of the kernel have retired.
    pub op: OpId,
    /// The place in the source at which the host launches the kernel.
    pub site: Site,
    pub(crate) body: Rc<Body>,
}

impl fmt::Debug for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Launch")
            .field("kernel", &self.kernel)
            .field("name", &self.name)
            .field("grid", &self.grid)
            .finish_non_exhaustive()
    }
}

impl Launch {
    /// The fault of a work-group that needs more of some resource than a compute unit has. It names
    /// the first such resource. `None` if the work-group fits.
    pub(crate) fn too_large(&self, shape: &Shape) -> Option<FaultKind> {
        let grid = &self.grid;
        let kernel = || self.name.clone();
        let exceeds = |what, needs: u32, has: u32| {
            let (needs, has) = (u64::from(needs), u64::from(has));
            (needs > has).then(|| FaultKind::DoesNotFit { kernel: kernel(), what, needs, has })
        };
        exceeds("wavefronts", grid.waves, shape.waves_per_cu)
            .or_else(|| exceeds("bytes of local memory", grid.lds_bytes, shape.lds_bytes_per_cu))
            .or_else(|| exceeds("work-group slots", 1, shape.work_groups_per_cu))
    }
}
