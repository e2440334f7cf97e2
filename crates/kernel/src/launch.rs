//! The machine's shape, kernels, grids and launches.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use std::rc::Rc;

use proto::{ArrayUse, KernelId, LineAddr};

use crate::array::Use;
use crate::fault::FaultKind;
use crate::op::{OpId, Site};
use crate::{LANES_MAX, Mask, Wave};

/// What a program may know of the machine it runs on, and what a driver must
/// hold to: no compute unit ever holds more than this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Lanes of a wavefront: at most [`LANES_MAX`].
    pub lanes: u32,
    /// Bytes of a cache line.
    pub line_bytes: u32,
    /// How many compute units.
    pub compute_units: u32,
    /// How many wavefronts a compute unit holds.
    pub waves_per_cu: u32,
    /// How many work-groups a compute unit holds.
    pub work_groups_per_cu: u32,
    /// Bytes of local data share of a compute unit.
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
    /// All lanes of a wavefront.
    #[must_use]
    pub fn full(&self) -> Mask {
        Mask::below(u64::from(self.lanes))
    }

    /// How many work-groups of this grid one compute unit holds at a time.
    #[must_use]
    pub fn resident_per_cu(&self, grid: &Grid) -> u32 {
        let by_lds = self.lds_bytes_per_cu.checked_div(grid.lds_bytes).unwrap_or(u32::MAX);
        let by_waves = self.waves_per_cu.checked_div(grid.waves).unwrap_or(u32::MAX);
        self.work_groups_per_cu.min(by_lds).min(by_waves)
    }
}

/// Where the work-groups of a grid are placed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Placement {
    /// Each on the next compute unit that has room, in turn.
    #[default]
    Spread,
    /// Each on the lowest-numbered compute unit that has room.
    Pack,
}

/// How much of a kernel runs: work-groups of wavefronts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grid {
    /// How many work-groups.
    pub work_groups: u32,
    /// How many wavefronts in each.
    pub waves: u32,
    /// How many bytes of local data share each uses.
    pub lds_bytes: u32,
    /// Where they are placed.
    pub placement: Placement,
}

impl Grid {
    /// Work-groups of so many wavefronts, spread, without local data share.
    #[must_use]
    pub const fn new(work_groups: u32, waves: u32) -> Self {
        Grid { work_groups, waves, lds_bytes: 0, placement: Placement::Spread }
    }

    /// The same with bytes of local data share for each work-group.
    #[must_use]
    pub const fn lds_bytes(mut self, bytes: u32) -> Self {
        self.lds_bytes = bytes;
        self
    }

    /// The same with another placement.
    #[must_use]
    pub const fn placed(mut self, placement: Placement) -> Self {
        self.placement = placement;
        self
    }
}

type Body = dyn Fn(Wave) -> Pin<Box<dyn Future<Output = ()>>>;

/// A kernel: a name, what each wavefront runs, and the arrays it uses.
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
    /// A kernel whose every wavefront runs `body`.
    pub fn new<F>(name: impl Into<String>, body: impl Fn(Wave) -> F + 'static) -> Self
    where
        F: Future<Output = ()> + 'static,
    {
        Kernel { name: name.into(), body: Rc::new(move |wave| Box::pin(body(wave))), uses: Vec::new() }
    }

    /// The same kernel, said to use these arrays as well.
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
            op: OpId::REFUSED,
            site,
            body: self.body,
        }
    }
}

/// A kernel that was launched.
pub struct Launch {
    /// Its number, in the order of launches.
    pub kernel: KernelId,
    /// The kernel's name.
    pub name: String,
    /// How much of it runs.
    pub grid: Grid,
    /// The arrays it says that it uses, in lines.
    pub uses: Vec<ArrayUse>,
    /// The operation to complete when all of its wavefronts have retired.
    pub op: OpId,
    /// Where it was launched.
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
    /// What no compute unit of this shape has enough of for one work-group.
    pub(crate) fn too_large(&self, shape: &Shape) -> Option<FaultKind> {
        let grid = &self.grid;
        let kernel = || self.name.clone();
        let exceeds = |what, needs: u32, has: u32| {
            let (needs, has) = (u64::from(needs), u64::from(has));
            (needs > has).then(|| FaultKind::DoesNotFit { kernel: kernel(), what, needs, has })
        };
        exceeds("wavefronts", grid.waves, shape.waves_per_cu)
            .or_else(|| exceeds("bytes of local data share", grid.lds_bytes, shape.lds_bytes_per_cu))
            .or_else(|| exceeds("work-group slots", 1, shape.work_groups_per_cu))
    }
}
