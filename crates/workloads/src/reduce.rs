//! The sum of a long array. Each work-group sums its part, first in registers and then in local
//! memory. Further launches sum the results of the work-groups, until one number is left.

use kernel::prelude::*;

use crate::data;
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload};
use crate::settings::{Setting, Settings};

pub(crate) static REDUCE: Workload = Workload {
    name: "reduce",
    summary: "sums an array through local memory and barriers",
    origin: "ours",
    room: Room::Sorting,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("n", "20011"), ("per-item", "3")],
        small: &[("n", "256k")],
        paper: &[("n", "16m")],
    },
    settings: &[
        Setting::count("n", 1 << 20, 1, 1 << 28, "number of elements of the array"),
        Setting::count("per-item", 4, 1, 1024, "number of elements that each work-item adds alone"),
    ],
    make: |settings, seed| {
        settings.limit_arrays(&["n"], 8 * settings.count("n"))?;
        Ok(reduce(settings, seed))
    },
};

/// Sums a part of `from` in each work-group, and stores the sum in one element of `to`.
async fn sum_groups(w: Wave, from: Array<u32>, to: Array<u32>, per_item: u64) {
    let items = u64::from(w.waves() * w.lanes());
    let first = u64::from(w.work_group()) * items * per_item + u64::from(w.index() * w.lanes());
    let mut sum = Lanes::splat(0u32);
    for round in 0..per_item {
        let base = first + round * items;
        let within = w.below(base, from.len());
        sum += within.load(from, Unit(base)).await;
    }
    let sums = w.lds::<u32>(0, w.waves() * w.lanes());
    let here = u64::from(w.index() * w.lanes());
    w.store(sums, Unit(here), sum).await;
    w.barrier().await;
    let mut half = w.waves() * w.lanes() / 2;
    while half > 0 {
        let active = w.below(here, u64::from(half));
        let mine = active.load(sums, Unit(here));
        let other = active.load(sums, Unit(here + u64::from(half)));
        let pair = mine.await + other.await;
        active.store(sums, Unit(here), pair).await;
        w.barrier().await;
        half /= 2;
    }
    if w.index() == 0 {
        let total = w.load(sums, 0).await;
        w.store(to, u64::from(w.work_group()), total).await;
    }
}

fn reduce(settings: &Settings, seed: u64) -> Instance {
    let (n, per_item) = (settings.count("n"), settings.count("per-item"));
    let part = per_item * GROUP_ITEMS;
    let program = Program::new("reduce", move |host| async move {
        let mut from = host.alloc::<u32>("values", n);
        host.write(from, &data::words_below(seed, n, 1 << 32)).await;
        let mut parts = None;
        let waves = (GROUP_ITEMS as u32) / host.shape().lanes;
        loop {
            let groups = from.len().div_ceil(part);
            let to = host.alloc::<u32>("sums", groups);
            let grid = Grid::new(groups as u32, waves).lds_bytes(4 * GROUP_ITEMS as u32);
            let kernel = Kernel::new("sum-groups", move |w| sum_groups(w, from, to, per_item));
            host.launch(kernel.uses([from.read(), to.write()]), grid).await;
            parts.get_or_insert(to);
            from = to;
            if groups == 1 {
                break;
            }
        }
        let parts = host.read(parts.unwrap_or(from)).await;
        Answer::new().with("parts", &parts).with_array("sum", &host, from).await
    });
    Instance::new(program, move |answer| {
        let values = data::words_below(seed, n, 1 << 32);
        let sum = |values: &[u32]| values.iter().fold(0u32, |sum, v| sum.wrapping_add(*v));
        let parts: Vec<u32> = values.chunks(part as usize).map(sum).collect();
        answer.expect("parts", &parts)?;
        answer.expect("sum", &[sum(&values)])
    })
}
