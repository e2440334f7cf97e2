//! A graph colouring by the largest and smallest priorities (the workload `color` of Pannotia).
//!
//! Every vertex has a random priority. A round has two kernels. The first finds, for each
//! uncoloured vertex, the largest and the smallest priority of its uncoloured neighbours. The
//! second colours each vertex whose own priority is larger or smaller than all of these. The host
//! launches rounds until every vertex has a colour.

use std::rc::Rc;

use kernel::prelude::*;

use super::flag::Flag;
use super::input::{Arcs, EDGES, VERTICES, priorities};
use super::on_generated;
use super::rows::Rows;
use crate::graph::Csr;
use crate::graph::reference::{UNCOLOURED, colouring_by_extremes};
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload, grid_over};
use crate::settings::{BadSetting, Setting, Settings};

pub(crate) static COLOR_MAX: Workload = Workload {
    name: "color-max",
    summary: "colours a graph: a round colours the vertices with extreme priorities among their neighbours",
    origin: "Pannotia (2013), color; Dalmia thesis, Tables 3.3 and 5.2",
    room: Room::Graph,
    purpose: Purpose::Benchmark,
    // The size `paper` has the vertices and edges of AK.gr of Table 5.2, a road network of Alaska.
    sizes: Sizes {
        tiny: &[("vertices", "700"), ("edges", "3000")],
        small: &[("vertices", "2k"), ("edges", "6000")],
        paper: &[("vertices", "69k"), ("edges", "153k")],
    },
    settings: &[VERTICES, EDGES, EXTREMES],
    make: |settings, seed| on_generated(on_graph, settings, seed),
};

const EXTREMES: Setting = Setting::policy(
    "extremes",
    &[
        (
            "max-min",
            "a round gives one colour to the local maxima of the priorities, and one to the local minima",
        ),
        ("max", "a round gives one colour to the local maxima of the priorities"),
    ],
    "the vertices that get a colour in a round",
);

#[derive(Clone, Copy, Debug)]
struct Coloring {
    rows: Rows,
    priorities: Array<u32>,
    colors: Array<u32>,
    /// The largest priority of each vertex's uncoloured neighbours, or 0 if there are none.
    largest: Array<u32>,
    /// The smallest priority of each vertex's uncoloured neighbours, or `u32::MAX` if there are
    /// none.
    smallest: Array<u32>,
    more: Flag,
    takes_minima: bool,
}

async fn find_extremes(w: Wave, s: Coloring) {
    let base = w.first_item();
    let w = w.below(base, s.colors.len());
    let color = w.load(s.colors, Unit(base)).await;
    let w = w.when(color.eq(UNCOLOURED));
    if !w.any() {
        return;
    }
    s.more.raise(&w);
    let bounds = s.rows.from(&w, base).await;
    let (mut largest, mut smallest) = (Lanes::splat(0u32), Lanes::splat(u32::MAX));
    let visit = async |w: &Wave, _arc: Lanes<u32>, target: Lanes<u32>| {
        let color = w.load(s.colors, target).await;
        let w = w.when(color.eq(UNCOLOURED));
        let priority = w.load(s.priorities, target).await;
        largest.assign(w.mask(), largest.max(priority));
        smallest.assign(w.mask(), smallest.min(priority));
    };
    s.rows.each_arc(&w, bounds, visit).await;
    w.store(s.largest, Unit(base), largest);
    if s.takes_minima {
        w.store(s.smallest, Unit(base), smallest).await;
    }
}

async fn assign(w: Wave, s: Coloring, first_color: u32) {
    let base = w.first_item();
    let w = w.below(base, s.colors.len());
    let color = w.load(s.colors, Unit(base)).await;
    let w = w.when(color.eq(UNCOLOURED));
    let (priority, largest) = (w.load(s.priorities, Unit(base)), w.load(s.largest, Unit(base)));
    let priority = priority.await;
    let is_maximum = priority.ge(largest.await);
    w.when(is_maximum).store(s.colors, Unit(base), Lanes::splat(first_color)).await;
    if s.takes_minima {
        let w = w.unless(is_maximum);
        let smallest = w.load(s.smallest, Unit(base)).await;
        w.when(priority.le(smallest)).store(s.colors, Unit(base), Lanes::splat(first_color + 1)).await;
    }
}

async fn color(host: &Host, arcs: &Arcs, priorities: &[u32], takes_minima: bool) -> Array<u32> {
    let vertices = arcs.vertices();
    let s = Coloring {
        rows: Rows::load(host, arcs).await,
        priorities: host.alloc("priorities", vertices),
        colors: host.alloc("colors", vertices),
        largest: host.alloc("largest", vertices),
        smallest: host.alloc("smallest", vertices),
        more: Flag::alloc(host, "more"),
        takes_minima,
    };
    host.write(s.priorities, priorities).await;
    host.write(s.colors, &vec![UNCOLOURED; priorities.len()]).await;
    let grid = grid_over(&host.shape(), vertices);
    let mut color = 0;
    loop {
        s.more.clear(host).await;
        let own = [s.largest.write(), s.smallest.write()];
        let kernel = Kernel::new("find-extremes", move |w| find_extremes(w, s))
            .uses(s.rows.uses())
            .uses([s.priorities.read(), s.colors.read(), s.more.raised()])
            .uses(own.map(|used| used.in_parts(GROUP_ITEMS)));
        host.launch(kernel, grid).await;
        let own = [s.priorities.read(), s.largest.read(), s.smallest.read(), s.colors.read_write()];
        let kernel = Kernel::new("assign", move |w| assign(w, s, color));
        host.launch(kernel.uses(own.map(|used| used.in_parts(GROUP_ITEMS))), grid).await;
        if !s.more.is_raised(host).await {
            return s.colors;
        }
        color += 1 + u32::from(takes_minima);
    }
}

pub(super) fn on_graph(graph: &Csr, settings: &Settings, seed: u64) -> Result<Instance, BadSetting> {
    let takes_minima = settings.is("extremes", "max-min");
    let graph = Rc::new(graph.undirected());
    let arcs = Arcs::of((*graph).clone(), settings)?;
    let ranks = Rc::new(priorities(seed, graph.vertices()));
    let of_program = ranks.clone();
    let program = Program::new("color-max", move |host| async move {
        let colors = color(&host, &arcs, &of_program, takes_minima).await;
        Answer::new().with_array("colors", &host, colors).await
    });
    Ok(Instance::new(program, move |answer| {
        answer.expect("colors", &colouring_by_extremes(&graph, &ranks, takes_minima))
    }))
}
