//! Multigrid V-cycles for Poisson's equation on a cube of cells, with zeros at its faces.
//!
//! On the way down, a V-cycle smooths the solution on each level and restricts the residual to the
//! next coarser level. On the way up, it adds the correction of the coarser level to each level and
//! smooths the solution again.

use kernel::prelude::*;

use super::multigrid::{Smoothing, bottom_smoothings, v_cycles};
use crate::data;
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload, grid_over};
use crate::settings::{BadSetting, Setting, Settings};

pub(crate) static HPGMG: Workload = Workload {
    name: "hpgmg",
    summary: "solves Poisson's equation on a cube by multigrid V-cycles",
    origin: "HPGMG-FV (2014), its 7-point operator; STC paper (TACO 2023), section 7.1",
    room: Room::Stencil,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("side", "8")],
        small: &[],
        // The paper gives no size.
        paper: &[("side", "64"), ("cycles", "2")],
    },
    settings: &[
        Setting::count("side", 16, 2, 256, "number of cells on a side of the cube, a power of two"),
        Setting::count("cycles", 1, 1, 1000, "number of V-cycles"),
        Setting::policy(
            "smoother",
            &[
                ("chebyshev", "a Chebyshev polynomial of degree 4"),
                ("gsrb", "Gauss-Seidel on red and black cells, two sweeps of each colour"),
                ("jacobi", "four weighted Jacobi sweeps"),
            ],
            "the smoother",
        ),
    ],
    make: hpgmg,
};

/// The arrays of one level of the multigrid, and its size.
#[derive(Clone, Copy)]
struct Cells {
    x: Array<f64>,
    rhs: Array<f64>,
    temp: Array<f64>,
    /// For each cell, the inverse of the diagonal element of the discrete operator of Poisson's
    /// equation.
    inverse: Array<f64>,
    /// The number of cells along one side of the cube, a power of two.
    side: u32,
}

/// The active lanes of a wavefront, and the cell of each lane.
struct Places {
    w: Wave,
    base: u64,
    item: Lanes<u32>,
    /// The coordinates of each lane's cell along the three axes.
    at: [Lanes<u32>; 3],
}

impl Cells {
    fn alloc(host: &Host, side: u32) -> Cells {
        let n = u64::from(side).pow(3);
        let array = |what: &str| host.alloc(format!("{what}-{side}"), n);
        Cells { x: array("x"), rhs: array("rhs"), temp: array("temp"), inverse: array("inverse"), side }
    }

    fn places(&self, w: &Wave) -> Places {
        let (base, item, bits) = (w.first_item(), w.item(), self.side.trailing_zeros());
        let last = self.side - 1;
        let at = [item & last, (item >> bits) & last, item >> (2 * bits)];
        Places { w: w.below(base, self.x.len()), base, item, at }
    }

    /// The discrete operator of Poisson's equation, applied to `x`: six times the value of a cell
    /// minus the values of its six neighbours, scaled by the square of `side`. Beyond a face, the
    /// value of the neighbour is the negative of the value of the cell.
    async fn applied(&self, p: &Places, x: Array<f64>, own: Lanes<f64>) -> Lanes<f64> {
        let distances = [1, self.side, self.side * self.side];
        let neighbours: [_; 3] = core::array::from_fn(|axis| {
            let (at, distance) = (p.at[axis], distances[axis]);
            let (before, after) = (at.ne(0), at.ne(self.side - 1));
            let left = p.w.when(before).load(x, p.item - distance);
            let right = p.w.when(after).load(x, p.item + distance);
            (before, left, after, right)
        });
        let ghost = -own;
        let mut sum = Lanes::splat(0.0f64);
        for (before, left, after, right) in neighbours {
            sum += Lanes::select(before, left.await, ghost);
            sum += Lanes::select(after, right.await, ghost);
        }
        (own * 6.0 - sum) * f64::from(self.side * self.side)
    }

    /// The correction of each lane's cell in one sweep, before it is multiplied by the weight of
    /// the sweep.
    async fn correction(&self, p: &Places, x: Array<f64>, own: Lanes<f64>) -> Lanes<f64> {
        let (rhs, inverse) = (p.w.load(self.rhs, Unit(p.base)), p.w.load(self.inverse, Unit(p.base)));
        let rest = rhs.await - self.applied(p, x, own).await;
        inverse.await * rest
    }

    /// A smoothing sweep from the array `from` to the array `to`. If the momentum is not zero, the
    /// sweep also uses the earlier values in `to`.
    async fn sweep(self, w: Wave, [from, to]: [Array<f64>; 2], momentum: f64, weight: f64) {
        let p = self.places(&w);
        let own = p.w.load(from, Unit(p.base)).await;
        let mut value = own + self.correction(&p, from, own).await * weight;
        if momentum != 0.0 {
            let before = p.w.load(to, Unit(p.base)).await;
            value += (own - before) * momentum;
        }
        p.w.store(to, Unit(p.base), value);
    }

    /// A smoothing sweep in place over the cells of one colour. All neighbours of these cells have
    /// the other colour.
    async fn sweep_colour(self, w: Wave, colour: u32) {
        let mut p = self.places(&w);
        let parity = (p.at[0] ^ p.at[1] ^ p.at[2]) & 1;
        p.w = p.w.when(parity.eq(colour));
        let own = p.w.load(self.x, Unit(p.base)).await;
        let value = own + self.correction(&p, self.x, own).await;
        p.w.store(self.x, Unit(p.base), value);
    }

    async fn residual(self, w: Wave) {
        let p = self.places(&w);
        let (own, rhs) = (p.w.load(self.x, Unit(p.base)), p.w.load(self.rhs, Unit(p.base)));
        let own = own.await;
        let rest = rhs.await - self.applied(&p, self.x, own).await;
        p.w.store(self.temp, Unit(p.base), rest);
    }

    /// Averages groups of eight cells of the finer level `fine` into the right-hand side of this
    /// level.
    async fn restrict(self, w: Wave, fine: Cells) {
        let p = self.places(&w);
        let first = (p.at[2] * (2 * fine.side) + p.at[1] * 2) * fine.side + p.at[0] * 2;
        let loads: [_; 8] = core::array::from_fn(|i| {
            let i = i as u32;
            let offset = ((i >> 2) * fine.side + (i >> 1 & 1)) * fine.side + (i & 1);
            p.w.load(fine.temp, first + offset)
        });
        let mut sum = Lanes::splat(0.0f64);
        for load in loads {
            sum += load.await;
        }
        p.w.store(self.rhs, Unit(p.base), sum * 0.125);
    }

    async fn clear(self, w: Wave) {
        let p = self.places(&w);
        p.w.store(self.x, Unit(p.base), Lanes::splat(0.0));
    }

    /// Adds the correction that the coarser level `coarse` has computed to the solution of this
    /// level.
    async fn prolong(self, w: Wave, coarse: Cells) {
        let p = self.places(&w);
        let [x, y, z] = p.at.map(|at| at >> 1);
        let (own, add) =
            (p.w.load(self.x, Unit(p.base)), p.w.load(coarse.x, (z * coarse.side + y) * coarse.side + x));
        let value = own.await + add.await;
        p.w.store(self.x, Unit(p.base), value);
    }
}

/// Launches the kernels of a V-cycle.
struct Cycle<'a> {
    host: &'a Host,
    smoothing: Smoothing,
}

impl Cycle<'_> {
    async fn launch(&self, kernel: Kernel, cells: &Cells) {
        self.host.launch(kernel, grid_over(&self.host.shape(), cells.x.len())).await;
    }

    async fn smooth(&self, cells: Cells) {
        let tiled = [cells.rhs.read(), cells.inverse.read()].map(|used| used.in_parts(GROUP_ITEMS));
        let halo = u64::from(cells.side).pow(2);
        match self.smoothing {
            Smoothing::Colours => {
                for colour in [0, 1, 0, 1] {
                    let kernel = Kernel::new("smooth-colour", move |w| cells.sweep_colour(w, colour));
                    // A work-group reads its own cells and the cells around them. It writes some of
                    // its own cells.
                    let x = cells.x.read_write().in_parts_with_halo(GROUP_ITEMS, halo);
                    self.launch(kernel.uses(tiled).uses([x]), &cells).await;
                }
            }
            Smoothing::Sweeps(factors) => {
                let (mut from, mut to) = (cells.x, cells.temp);
                for (momentum, weight) in factors {
                    let arrays = [from, to];
                    let kernel = Kernel::new("smooth", move |w| cells.sweep(w, arrays, momentum, weight));
                    let read = from.read().in_parts_with_halo(GROUP_ITEMS, halo);
                    let written = if momentum == 0.0 { to.write() } else { to.read_write() };
                    let uses = [read, written.in_parts(GROUP_ITEMS)];
                    self.launch(kernel.uses(tiled).uses(uses), &cells).await;
                    (from, to) = (to, from);
                }
            }
        }
    }

    async fn descend(&self, fine: Cells, coarse: Cells) {
        let halo = u64::from(fine.side).pow(2);
        let kernel = Kernel::new("residual", move |w| fine.residual(w));
        let kernel = kernel.uses([
            fine.x.read().in_parts_with_halo(GROUP_ITEMS, halo),
            fine.rhs.read().in_parts(GROUP_ITEMS),
            fine.temp.write().in_parts(GROUP_ITEMS),
        ]);
        self.launch(kernel, &fine).await;
        let kernel = Kernel::new("restrict", move |w| coarse.restrict(w, fine));
        let kernel = kernel.uses([fine.temp.read(), coarse.rhs.write().in_parts(GROUP_ITEMS)]);
        self.launch(kernel, &coarse).await;
        let kernel = Kernel::new("clear", move |w| coarse.clear(w));
        self.launch(kernel.uses([coarse.x.write().in_parts(GROUP_ITEMS)]), &coarse).await;
    }

    async fn ascend(&self, fine: Cells, coarse: Cells) {
        let kernel = Kernel::new("prolong", move |w| fine.prolong(w, coarse));
        let kernel = kernel.uses([coarse.x.read(), fine.x.read_write().in_parts(GROUP_ITEMS)]);
        self.launch(kernel, &fine).await;
    }

    async fn run(&self, levels: &[Cells]) {
        for pair in levels.windows(2) {
            self.smooth(pair[0]).await;
            self.descend(pair[0], pair[1]).await;
        }
        if let Some(&coarsest) = levels.last() {
            for _ in 0..bottom_smoothings() {
                self.smooth(coarsest).await;
            }
        }
        for pair in levels.windows(2).rev() {
            self.ascend(pair[0], pair[1]).await;
            self.smooth(pair[0]).await;
        }
    }
}

fn rhs(seed: u64, side: u64) -> Vec<f64> {
    data::floats(seed, side.pow(3)).into_iter().map(f64::from).collect()
}

fn hpgmg(settings: &Settings, seed: u64) -> Result<Instance, BadSetting> {
    let (side, cycles) = (settings.count("side"), settings.count("cycles"));
    let smoothing = Smoothing::of(settings);
    if !side.is_power_of_two() {
        return Err(settings.conflict(format!("setting `side` is {side}, but must be a power of two")));
    }
    let program = Program::new("hpgmg", move |host| async move {
        let mut levels = Vec::new();
        let mut n = side as u32;
        while n >= 2 {
            let cells = Cells::alloc(&host, n);
            host.write(cells.inverse, &super::multigrid::inverse_diagonal(n as usize)).await;
            levels.push(cells);
            n /= 2;
        }
        host.write(levels[0].rhs, &rhs(seed, side)).await;
        for _ in 0..cycles {
            Cycle { host: &host, smoothing }.run(&levels).await;
        }
        Answer::new().with_array("x", &host, levels[0].x).await
    });
    Ok(Instance::new(program, move |answer| {
        answer.expect("x", &v_cycles(smoothing, &rhs(seed, side), side as usize, cycles))
    }))
}
