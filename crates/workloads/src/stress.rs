//! Programs that load one part of a machine as much as possible.

use kernel::prelude::*;

use crate::data::{self, mix};
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload};
use crate::settings::{Setting, Settings};

pub(crate) static L1_RESIDENT: Workload = Workload {
    name: "l1-resident",
    summary: "reads a small array repeatedly with unit stride: all loads hit in the L1 after the first pass",
    origin: "ours",
    room: Room::Trial,
    purpose: Purpose::Stress,
    sizes: Sizes {
        tiny: &[("kib", "3"), ("reads", "10"), ("work-groups", "6")],
        small: &[("work-groups", "128")],
        paper: &[],
    },
    settings: &[
        Setting::count("kib", 8, 1, 1 << 16, "size of the array in KiB"),
        Setting::count(
            "reads",
            256,
            4,
            1 << 24,
            "number of loads by each wavefront, rounded up to a multiple of 4",
        ),
        Setting::count("work-groups", 512, 1, 1 << 16, "number of work-groups of 256 work-items"),
    ],
    make: |settings, seed| Ok(l1_resident(settings, seed)),
};

pub(crate) static RANDOM_MISS: Workload = Workload {
    name: "random-miss",
    summary: "every lane loads at random from a large array: almost all loads miss in the L1",
    origin: "ours",
    room: Room::Trial,
    purpose: Purpose::Stress,
    sizes: Sizes {
        tiny: &[("mib", "1"), ("reads", "4"), ("work-groups", "3")],
        small: &[("mib", "16"), ("reads", "4"), ("work-groups", "128")],
        paper: &[],
    },
    settings: &[
        Setting::count("mib", 64, 1, 1 << 10, "size of the array in MiB"),
        Setting::count("reads", 16, 1, 1 << 20, "number of loads by each work-item"),
        Setting::count("work-groups", 512, 1, 1 << 16, "number of work-groups of 256 work-items"),
    ],
    make: |settings, seed| Ok(random_miss(settings, seed)),
};

/// The distance between two consecutive loads of a wavefront, in elements. It is a multiple of
/// every possible number of lanes, and so small that the loads of all wavefronts together touch
/// every line of the array.
const STRIDE: u64 = 64;

async fn read_resident(w: Wave, from: Array<u32>, sums: Array<u32>, fours: u64) {
    let (first, len) = (w.first_item() % from.len(), from.len());
    let at = |read: u64| Unit((first + read * STRIDE) % len);
    let mut sum = Lanes::splat(0u32);
    for four in 0..fours {
        let read = 4 * four;
        let (a, b) = (w.load(from, at(read)), w.load(from, at(read + 1)));
        let (c, d) = (w.load(from, at(read + 2)), w.load(from, at(read + 3)));
        sum = sum + a.await + b.await + c.await + d.await;
    }
    w.store(sums, Unit(w.first_item()), sum).await;
}

fn l1_resident(settings: &Settings, seed: u64) -> Instance {
    let (len, groups) = (settings.count("kib") * 256, settings.count("work-groups"));
    let fours = settings.count("reads").div_ceil(4);
    let items = groups * GROUP_ITEMS;
    let program = Program::new("l1-resident", move |host| async move {
        let (from, sums) = (host.alloc::<u32>("values", len), host.alloc::<u32>("sums", items));
        host.write(from, &data::words_below(seed, len, 1 << 32)).await;
        let kernel = Kernel::new("read", move |w| read_resident(w, from, sums, fours));
        let grid = crate::grid_over(&host.shape(), items);
        host.launch(kernel.uses([from.read(), sums.write()]), grid).await;
        Answer::new().with_array("sums", &host, sums).await
    });
    Instance::new(program, move |answer| {
        let values = data::words_below(seed, len, 1 << 32);
        // The sum of a work-item depends only on the element at which it starts.
        let start = |item: u64| {
            let at = |read: u64| values[((item + read * STRIDE) % len) as usize];
            (0..4 * fours).fold(0u32, |sum, read| sum.wrapping_add(at(read)))
        };
        let starts: Vec<u32> = (0..len.min(items)).map(start).collect();
        let sums: Vec<u32> = (0..items).map(|item| starts[(item % len) as usize]).collect();
        answer.expect("sums", &sums)
    })
}

/// The value of the element `index` in the array of the workload `random-miss`.
fn value(seed: u64, index: u64) -> u32 {
    mix(index as u32 ^ seed as u32)
}

/// The index of the element that a work-item loads after the element `index`.
const fn next(index: u32) -> u32 {
    mix(index.wrapping_add(0x9e37_79b9))
}

async fn read_random(w: Wave, from: Array<u32>, sums: Array<u32>, reads: u64) {
    let mut state = w.item();
    let mut sum = Lanes::splat(0u32);
    for _ in 0..reads {
        // The hash takes two multiplications and six cheap operations.
        kernel::charge(Class::IntMul, 1);
        kernel::charge(Class::Int, 6);
        state = state.map(Class::IntMul, next);
        sum += w.load(from, state % (from.len() as u32)).await;
    }
    w.store(sums, Unit(w.first_item()), sum).await;
}

fn random_miss(settings: &Settings, seed: u64) -> Instance {
    let (len, groups) = (settings.count("mib") << 18, settings.count("work-groups"));
    let (reads, items) = (settings.count("reads"), groups * GROUP_ITEMS);
    let program = Program::new("random-miss", move |host| async move {
        let (from, sums) = (host.alloc::<u32>("values", len), host.alloc::<u32>("sums", items));
        data::fill(&host, from, |index| value(seed, index)).await;
        let kernel = Kernel::new("read", move |w| read_random(w, from, sums, reads));
        let grid = crate::grid_over(&host.shape(), items);
        host.launch(kernel.uses([from.read(), sums.write()]), grid).await;
        Answer::new().with_array("sums", &host, sums).await
    });
    Instance::new(program, move |answer| {
        let sum = |item: u64| {
            let mut state = item as u32;
            (0..reads).fold(0u32, |sum, _| {
                state = next(state);
                sum.wrapping_add(value(seed, u64::from(state) % len))
            })
        };
        answer.expect("sums", &(0..items).map(sum).collect::<Vec<_>>())
    })
}
