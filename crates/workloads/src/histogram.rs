//! A histogram by atomic adds in global memory.

use kernel::prelude::*;

use crate::data;
use crate::instance::{Instance, Purpose, Room, Sizes, Workload, grid_over};
use crate::settings::{Setting, Settings};

pub(crate) static HISTOGRAM: Workload = Workload {
    name: "histogram",
    summary: "counts values into bins by relaxed atomic adds in global memory",
    origin: "ours",
    room: Room::Atomics,
    purpose: Purpose::Benchmark,
    sizes: Sizes { tiny: &[("n", "3000"), ("bins", "19")], small: &[], paper: &[("n", "4m")] },
    settings: &[
        Setting::count("n", 1 << 16, 1, 1 << 28, "values"),
        Setting::count("bins", 256, 1, 1 << 24, "bins"),
    ],
    make: |settings, seed| Ok(histogram(settings, seed)),
};

async fn count(w: Wave, values: Array<u32>, bins: Array<u32>) {
    let base = w.first_item();
    let w = w.below(base, values.len());
    let bin = w.load(values, Unit(base)).await;
    let add = relaxed(Level::Device).commutative();
    w.update(bins, bin, RmwKind::Add, Lanes::splat(1u32), add).await;
}

fn histogram(settings: &Settings, seed: u64) -> Instance {
    let (n, bins) = (settings.count("n"), settings.count("bins"));
    let program = Program::new("histogram", move |host| async move {
        let (values, counts) = (host.alloc::<u32>("values", n), host.alloc::<u32>("bins", bins));
        host.write(values, &data::words_below(seed, n, bins)).await;
        let kernel = Kernel::new("count", move |w| count(w, values, counts));
        let kernel = kernel.uses([values.read(), counts.read_write()]);
        host.launch(kernel, grid_over(&host.shape(), n)).await;
        Answer::new().with("bins", &host.read(counts).await)
    });
    Instance::new(program, move |answer| {
        let mut counts = vec![0u32; bins as usize];
        for value in data::words_below(seed, n, bins) {
            counts[value as usize] += 1;
        }
        answer.expect("bins", &counts)
    })
}
