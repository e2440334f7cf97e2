//! Streaming over long arrays: copy, add, and reuse across kernels.

use kernel::prelude::*;

use crate::data;
use crate::group::grid_of;
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload, grid_over};
use crate::settings::{Setting, Settings};

const N: Setting = Setting::count("n", 1 << 20, 1, 1 << 28, "number of elements of each array");

pub(crate) static VEC_COPY: Workload = Workload {
    name: "vec-copy",
    summary: "copies an array of 4-byte words",
    origin: "STC paper (TACO 2023), sections 6 and 7",
    room: Room::Dense,
    purpose: Purpose::Benchmark,
    sizes: Sizes { tiny: &[("n", "3000")], small: &[("n", "256k")], paper: &[("n", "16m")] },
    settings: &[N],
    make: |settings, seed| {
        settings.limit_arrays(&["n"], 8 * settings.count("n"))?;
        Ok(vec_copy(settings, seed))
    },
};

pub(crate) static VEC_ADD: Workload = Workload {
    name: "vec-add",
    summary: "adds two arrays of floats",
    origin: "ours",
    room: Room::Dense,
    purpose: Purpose::Benchmark,
    sizes: Sizes { tiny: &[("n", "3000")], small: &[("n", "256k")], paper: &[("n", "16m")] },
    settings: &[N],
    make: |settings, seed| {
        settings.limit_arrays(&["n"], 12 * settings.count("n"))?;
        Ok(vec_add(settings, seed))
    },
};

pub(crate) static CACHE_REUSE: Workload = Workload {
    name: "cache-reuse",
    summary: "runs consecutive kernels that read one array and update another",
    origin: "STC paper (TACO 2023), sections 6 and 7",
    room: Room::Dense,
    purpose: Purpose::Benchmark,
    sizes: Sizes { tiny: &[("n", "1000"), ("kernels", "4")], small: &[], paper: &[("n", "4m")] },
    settings: &[
        Setting::count("n", 1 << 16, 1, 1 << 28, "number of elements of each array"),
        Setting::count("kernels", 10, 1, 1000, "number of consecutive kernels"),
        // As many as 8 compute units with 40 wavefronts each hold. The paper says in section 7.4 that
        // its work-groups do not fill 32 compute units.
        Setting::count("work-groups", 80, 1, 1 << 20, "number of work-groups of a kernel"),
    ],
    make: |settings, seed| {
        settings.limit_arrays(&["n"], 8 * settings.count("n"))?;
        Ok(cache_reuse(settings, seed))
    },
};

async fn copy(w: Wave, from: Array<u32>, to: Array<u32>) {
    let base = w.first_item();
    let w = w.below(base, from.len());
    let values = w.load(from, Unit(base)).await;
    w.store(to, Unit(base), values).await;
}

fn vec_copy(settings: &Settings, seed: u64) -> Instance {
    let n = settings.count("n");
    let program = Program::new("vec-copy", move |host| async move {
        let (from, to) = (host.alloc::<u32>("from", n), host.alloc::<u32>("to", n));
        host.write(from, &data::words_below(seed, n, 1 << 32)).await;
        let kernel = Kernel::new("copy", move |w| copy(w, from, to)).uses([from.read(), to.write()]);
        host.launch(kernel, grid_over(&host.shape(), n)).await;
        Answer::new().with_array("to", &host, to).await
    });
    Instance::new(program, move |answer| answer.expect("to", &data::words_below(seed, n, 1 << 32)))
}

async fn add(w: Wave, a: Array<f32>, b: Array<f32>, sum: Array<f32>) {
    let base = w.first_item();
    let w = w.below(base, sum.len());
    let (x, y) = (w.load(a, Unit(base)), w.load(b, Unit(base)));
    let total = x.await + y.await;
    w.store(sum, Unit(base), total).await;
}

fn vec_add(settings: &Settings, seed: u64) -> Instance {
    let n = settings.count("n");
    let program = Program::new("vec-add", move |host| async move {
        let (a, b) = (host.alloc::<f32>("a", n), host.alloc::<f32>("b", n));
        let sum = host.alloc::<f32>("sum", n);
        host.write(a, &data::floats(seed, n)).await;
        host.write(b, &data::floats(!seed, n)).await;
        let uses = [a.read(), b.read(), sum.write()];
        let kernel = Kernel::new("add", move |w| add(w, a, b, sum)).uses(uses);
        host.launch(kernel, grid_over(&host.shape(), n)).await;
        Answer::new().with_array("sum", &host, sum).await
    });
    Instance::new(program, move |answer| {
        let (a, b) = (data::floats(seed, n), data::floats(!seed, n));
        let sum: Vec<f32> = a.iter().zip(&b).map(|(x, y)| x + y).collect();
        answer.expect("sum", &sum)
    })
}

async fn add_multiple(w: Wave, from: Array<u32>, to: Array<u32>, number: u32) {
    let mut base = w.first_item();
    while base < from.len() {
        let within = w.below(base, from.len());
        let (more, sum) = (within.load(from, Unit(base)), within.load(to, Unit(base)));
        let sum = more.await * number + sum.await;
        within.store(to, Unit(base), sum);
        base += w.items();
    }
}

fn cache_reuse(settings: &Settings, seed: u64) -> Instance {
    let (n, kernels) = (settings.count("n"), settings.count("kernels") as u32);
    let groups = settings.count("work-groups");
    let program = Program::new("cache-reuse", move |host| async move {
        let (from, to) = (host.alloc::<u32>("from", n), host.alloc::<u32>("to", n));
        host.write(from, &data::words_below(seed, n, 1 << 32)).await;
        for number in 1..=kernels {
            let body = move |w| add_multiple(w, from, to, number);
            let kernel = Kernel::new(format!("reuse-{number}"), body).uses([from.read(), to.read_write()]);
            host.launch(kernel, grid_of(&host.shape(), groups, GROUP_ITEMS as u32)).await;
        }
        Answer::new().with_array("to", &host, to).await
    });
    Instance::new(program, move |answer| {
        let from = data::words_below(seed, n, 1 << 32);
        let factor = kernels * (kernels + 1) / 2;
        let to: Vec<u32> = from.iter().map(|v| v.wrapping_mul(factor)).collect();
        answer.expect("to", &to)
    })
}
