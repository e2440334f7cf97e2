//! A stencil in which each work-group computes several steps by itself before work-groups exchange
//! their borders (Figure 3 of the HRF paper).
//!
//! Each work-group owns a part of a ring of cells. At either end of the part, it has a halo: copies
//! of the neighbours' cells, one for each step between two exchanges. Each step computes one halo
//! cell less on each side. The steps therefore need no other work-group, and some cells are
//! computed twice. After a step, the work-items of a work-group meet at a barrier at work-group
//! scope. After the last step before an exchange, all work-groups meet at a barrier at device
//! scope, and copy the borders of their neighbours.
//!
//! Two wavefronts that communicate use a barrier of the smallest scope that contains both, so the
//! program has no race under HRF-direct.

use kernel::prelude::*;
use proto::words::counted;

use crate::data;
use crate::instance::{Instance, Purpose, Room, Sizes, Workload};
use crate::policy::require_room;
use crate::settings::{BadSetting, Setting, Settings};

const INNER: Setting = Setting::policy(
    "inner",
    &[("inner-work-group", "at work-group scope"), ("inner-device", "at device scope")],
    "the scope of the barrier between two steps within a work-group",
);

pub(crate) static STENCIL: Workload = Workload {
    name: "stencil",
    summary: "a stencil with barriers of two scopes: often in the work-group, rarely on the device",
    origin: "HRF paper (ASPLOS 2014), Figure 3",
    room: Room::Stencil,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("cells", "100"), ("waves", "2"), ("rounds", "2"), ("steps", "3")],
        small: &[],
        paper: &[("cells", "16k"), ("rounds", "16")],
    },
    settings: &[
        Setting::count("cells", 512, 1, 1 << 20, "number of cells of a work-group"),
        Setting::count("work-groups", 0, 0, 1 << 12, "number of work-groups; 0 makes one per compute unit"),
        Setting::count("waves", 4, 1, 64, "number of wavefronts of a work-group"),
        Setting::count("rounds", 4, 1, 1 << 16, "number of exchanges of borders"),
        Setting::count("steps", 8, 1, 1 << 10, "number of steps between two exchanges"),
        INNER,
    ],
    make: |settings, seed| stencil(settings, seed),
};

/// The cells of a work-group: those that it owns, and those of its halo.
#[derive(Clone, Copy, Debug)]
struct Part {
    cells: u64,
    steps: u64,
}

impl Part {
    /// The number of cells of a work-group, including the halo.
    fn width(&self) -> u64 {
        self.cells + 2 * self.steps
    }

    /// The index, in the arrays of cells, of cell `cell` of work-group `group`.
    fn at(&self, group: u64, cell: u64) -> u64 {
        group * self.width() + cell
    }
}

#[derive(Clone, Copy, Debug)]
struct Stencil {
    part: Part,
    /// The cells before a step and those after it. The two arrays change roles in each step.
    cells: [Array<u32>; 2],
    /// The number of arrivals of wavefronts at the barrier of the whole device, so far.
    arrived: Array<u32>,
    rounds: u64,
    inner: Level,
}

/// The value of a cell after a step, from its value and the values of its neighbours.
fn next(left: u32, here: u32, right: u32) -> u32 {
    left.wrapping_add(right).wrapping_add(here.wrapping_mul(3)) ^ (here >> 1)
}

impl Stencil {
    /// A barrier at device scope: waits until every wavefront of the grid has arrived at it `times`
    /// times.
    async fn device_barrier(&self, w: &Wave, times: u64) {
        let all = u64::from(w.work_groups()) * u64::from(w.waves()) * times;
        w.fence(release(Level::Device)).await;
        let leader = w.leader();
        leader.update(self.arrived, 0, RmwKind::Add, 1, relaxed(Level::Device));
        while u64::from(leader.atomic_load(self.arrived, 0, relaxed(Level::Device)).await) < all {}
        w.fence(acquire(Level::Device)).await;
    }

    /// Computes one step for the cells from `first` to `end`.
    async fn step(&self, w: &Wave, (from, to): (Array<u32>, Array<u32>), first: u64, end: u64) {
        let (group, stride) = (u64::from(w.work_group()), u64::from(w.waves() * w.lanes()));
        let mut base = first + u64::from(w.index() * w.lanes());
        while base < end {
            let w = w.below(base, end);
            let at = self.part.at(group, base);
            let (left, here) = (w.load(from, Unit(at - 1)), w.load(from, Unit(at)));
            let (right, left, here) = (w.load(from, Unit(at + 1)), left.await, here.await);
            let value = (left + right.await + here * 3) ^ (here >> 1);
            w.store(to, Unit(at), value);
            base += stride;
        }
    }

    /// Copies the borders of the neighbouring work-groups into the halo.
    async fn exchange(&self, w: &Wave, cells: Array<u32>) {
        let Part { cells: own, steps } = self.part;
        let (group, groups) = (u64::from(w.work_group()), u64::from(w.work_groups()));
        let stride = u64::from(w.waves() * w.lanes());
        let mut base = u64::from(w.index() * w.lanes());
        while base < 2 * steps {
            let w = w.below(base, 2 * steps);
            // For a lane, the cell of the ring that it copies, and the index of the copy.
            let copy = |lane: usize| {
                let k = base + lane as u64;
                if k < steps { k } else { k + own }
            };
            let source = |lane: usize| {
                let cell = (group * own + copy(lane) + groups * own * steps - steps) % (groups * own);
                self.part.at(cell / own, steps + cell % own) as u32
            };
            let to = Lanes::from_fn(|lane| self.part.at(group, copy(lane)) as u32);
            let values = w.load(cells, Lanes::from_fn(source)).await;
            w.store(cells, to, values);
            base += stride;
        }
    }

    async fn all_steps(self, w: Wave) {
        let (Part { steps, .. }, width) = (self.part, self.part.width());
        let mut before = 0;
        for round in 0..self.rounds {
            for step in 1..=steps {
                let arrays = (self.cells[before], self.cells[1 - before]);
                self.step(&w, arrays, step, width - step).await;
                w.barrier_with(acq_rel(self.inner)).await;
                before = 1 - before;
            }
            // All cells must be computed before any halo is copied.
            self.device_barrier(&w, 2 * round + 1).await;
            self.exchange(&w, self.cells[before]).await;
            self.device_barrier(&w, 2 * round + 2).await;
        }
    }
}

/// The cells of the ring after `steps` steps, computed on the host.
fn reference(mut ring: Vec<u32>, steps: u64) -> Vec<u32> {
    for _ in 0..steps {
        let n = ring.len();
        ring = (0..n).map(|i| next(ring[(i + n - 1) % n], ring[i], ring[(i + 1) % n])).collect();
    }
    ring
}

fn stencil(settings: &Settings, seed: u64) -> Result<Instance, BadSetting> {
    let part = Part { cells: settings.count("cells"), steps: settings.count("steps") };
    let (groups, waves) = (settings.count("work-groups") as u32, settings.count("waves") as u32);
    let rounds = settings.count("rounds");
    let inner = if settings.is("inner", "inner-device") { Level::Device } else { Level::WorkGroup };
    let arrivals = u64::from(groups.max(1 << 12)) * u64::from(waves) * 2 * rounds;
    if arrivals > u64::from(u32::MAX) {
        return Err(settings.conflict(format!(
            "{} of {} overflow the barrier's 32-bit counter",
            counted(rounds, "round"),
            counted(u64::from(waves), "wavefront")
        )));
    }
    let bytes = 8 * u64::from(groups) * part.width();
    settings.limit_arrays(&["cells", "work-groups", "steps"], bytes)?;
    let program = Program::new("stencil", move |host| async move {
        let groups = if groups == 0 { host.shape().compute_units } else { groups };
        let length = u64::from(groups) * part.width();
        let stencil = Stencil {
            part,
            cells: [host.alloc("cells", length), host.alloc("cells-after", length)],
            arrived: host.alloc("arrived", 1),
            rounds,
            inner,
        };
        let grid = Grid::new(groups, waves);
        require_room(&host, &grid).await;
        let ring = data::words_below(seed, u64::from(groups) * part.cells, 1 << 32);
        host.write(stencil.cells[0], &with_halos(&ring, &part)).await;
        let uses = stencil.cells.map(|array| array.read_write());
        let kernel = Kernel::new("stencil", move |w| stencil.all_steps(w)).uses(uses);
        host.launch(kernel.uses([stencil.arrived.read_write()]), grid).await;
        let last = stencil.cells[(rounds * part.steps % 2) as usize];
        let cells = host.read(last).await;
        let own = cells.chunks(part.width() as usize).flat_map(|group| {
            let first = part.steps as usize;
            group[first..first + part.cells as usize].iter().copied()
        });
        Answer::new().with("cells", &own.collect::<Vec<_>>())
    });
    Ok(Instance::new(program, move |answer| {
        let found = answer.get::<u32>("cells").unwrap_or_default();
        // The number of work-groups, at least one, follows from the size of the answer.
        let cells = (found.len() as u64).next_multiple_of(part.cells).max(part.cells);
        answer.expect("cells", &reference(data::words_below(seed, cells, 1 << 32), rounds * part.steps))
    }))
}

/// The cells of all work-groups, each with its halo, from the cells of the ring.
fn with_halos(ring: &[u32], part: &Part) -> Vec<u32> {
    let (n, own) = (ring.len() as u64, part.cells);
    let cell =
        |group: u64, cell: u64| ring[((group * own + cell + n * part.steps - part.steps) % n) as usize];
    (0..n / own).flat_map(|group| (0..part.width()).map(move |at| cell(group, at))).collect()
}
