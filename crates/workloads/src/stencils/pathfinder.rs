//! The cheapest paths down a grid. Each launch goes down several rows. A work-group keeps a part of
//! a row in local memory; with each row, one more column at either end of this part is left out.

use kernel::prelude::*;

use crate::data;
use crate::group::{first_local, grid_of, local_item};
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload};
use crate::settings::{Setting, Settings};

pub(crate) static PATHFINDER: Workload = Workload {
    name: "pathfinder",
    summary: "finds the cheapest paths down a grid, several rows at a time in local memory",
    origin: "Rodinia (2009); Dalmia thesis (2023), Tables 3.3 and 5.2",
    room: Room::Stencil,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("columns", "700"), ("rows", "12"), ("pyramid", "5")],
        small: &[],
        // The size is that of Table 5.2. Table 3.3 has five times as many columns.
        paper: &[("columns", "200000"), ("rows", "100")],
    },
    settings: &[
        Setting::count("columns", 16 << 10, 1, 1 << 20, "number of columns of the grid"),
        Setting::count("rows", 41, 2, 1 << 10, "number of rows of the grid"),
        Setting::count("pyramid", 20, 1, 100, "number of rows that one launch computes"),
    ],
    make: |settings, seed| {
        settings.limit_arrays(
            &["columns", "rows"],
            4 * settings.count("columns") * (settings.count("rows") + 1),
        )?;
        Ok(pathfinder(settings, seed))
    },
};

const GROUP: u32 = GROUP_ITEMS as u32;

/// All costs are below this number.
const COST_END: u64 = 10;

#[derive(Clone, Copy)]
struct Descent {
    /// The cost of each element in all rows except the first one.
    wall: Array<u32>,
    from: Array<u32>,
    to: Array<u32>,
    columns: u32,
    /// The number of the first row that this launch handles. The next field is the number of its
    /// rows.
    first: u32,
    count: u32,
}

impl Descent {
    /// The number of columns for which a work-group stores results.
    fn inner(&self) -> u32 {
        GROUP - 2 * self.count
    }

    async fn rows(self, w: Wave) {
        let item = local_item(&w);
        let here = Unit(first_local(&w));
        // In the first work-group, a column before the edge of the grid has a negative number,
        // which wraps around to a large number.
        let column = item + (w.work_group() * self.inner()).wrapping_sub(self.count);
        let on_grid = column.lt(self.columns);
        let costs = w.lds::<u32>(0, GROUP);
        let mut own = w.when(on_grid).load(self.from, column).await;
        w.store(costs, here, own);
        w.barrier().await;
        // At an edge of the grid, a column is its own neighbour.
        let left = Lanes::select(column.eq(0), item, item - 1);
        let right = Lanes::select(column.eq(self.columns - 1), item, item + 1);
        let mut inner = on_grid;
        for row in 0..self.count {
            inner = inner & item.gt(row) & item.lt(GROUP - 1 - row);
            let active = w.when(inner);
            let cost = active.load(self.wall, column + (self.first + row) * self.columns);
            let (to_left, to_right) = (active.load(costs, left), active.load(costs, right));
            let shortest = own.min(to_left.await).min(to_right.await);
            own = Lanes::select(inner, shortest + cost.await, own);
            if row + 1 < self.count {
                w.barrier().await;
                active.store(costs, here, own);
                w.barrier().await;
            }
        }
        w.when(inner).store(self.to, column, own);
    }
}

fn pathfinder(settings: &Settings, seed: u64) -> Instance {
    let (columns, rows) = (settings.count("columns"), settings.count("rows"));
    let pyramid = settings.count("pyramid");
    let grid_of_costs = move || data::words_below(seed, columns * rows, COST_END);
    let program = Program::new("pathfinder", move |host| async move {
        let wall = host.alloc::<u32>("wall", columns * (rows - 1));
        let (mut from, mut to) = (host.alloc("costs", columns), host.alloc("costs-after", columns));
        let costs = grid_of_costs();
        let (first, others) = costs.split_at(columns as usize);
        host.write(from, first).await;
        host.write(wall, others).await;
        for first in (0..rows - 1).step_by(pyramid as usize) {
            let count = (rows - 1 - first).min(pyramid);
            let columns = columns as u32;
            let d = Descent { wall, from, to, columns, first: first as u32, count: count as u32 };
            let grid = grid_of(&host.shape(), u64::from(columns.div_ceil(d.inner())), GROUP);
            let kernel = Kernel::new("pathfinder", move |w| d.rows(w));
            let used = first * u64::from(columns)..(first + count) * u64::from(columns);
            let inner = u64::from(d.inner());
            let uses = [
                wall.slice(used).read(),
                from.read().in_parts_with_halo(inner, count),
                to.write().in_parts(inner),
            ];
            host.launch(kernel.uses(uses), grid.lds_bytes(4 * GROUP)).await;
            (from, to) = (to, from);
        }
        Answer::new().with_array("costs", &host, from).await
    });
    Instance::new(program, move |answer| {
        let costs = grid_of_costs();
        let mut rows = costs.chunks(columns as usize);
        let mut best = rows.next().unwrap_or_default().to_vec();
        for row in rows {
            let around = |i: usize| best[i.saturating_sub(1)..best.len().min(i + 2)].iter().min();
            best = row.iter().enumerate().map(|(i, cost)| cost + around(i).unwrap_or(&0)).collect();
        }
        answer.expect("costs", &best)
    })
}
