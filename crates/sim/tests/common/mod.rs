//! Machines and small programs for the tests of the simulator.
#![allow(dead_code, reason = "each test uses a part")]

use kernel::prelude::*;
use kernel::rng::Rng;
use sim::config::System;
use sim::{Outcome, RunOptions};

/// A machine of this repository.
pub(crate) fn system(name: &str) -> System {
    let path = format!("{}/../../systems/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Runs on `vi`.
pub(crate) fn run(
    system: &System,
    program: Program,
    options: &RunOptions,
) -> Result<Outcome, sim::error::RunError> {
    sim::run::<zoo::vi::Vi, ()>(system, program, options, &mut ())
}

/// `c[i] = a[i] + b[i]`, one element a lane.
pub(crate) fn vec_add(len: u64) -> Program {
    Program::new("vec-add", move |host| async move {
        let (a, b, c) = (host.alloc("a", len), host.alloc("b", len), host.alloc("c", len));
        let values = |k: f32| (0..len).map(|i| i as f32 * k).collect::<Vec<f32>>();
        host.write(a, &values(1.0)).await;
        host.write(b, &values(0.5)).await;
        let shape = host.shape();
        let kernel = Kernel::new("add", move |w: Wave| async move {
            let first = w.first_item();
            let w = w.below(first, len);
            let (x, y) = (w.load(a, Unit(first)), w.load(b, Unit(first)));
            let sum = x.await + y.await;
            w.store(c, Unit(first), sum).await;
        })
        .uses([a.read(), b.read(), c.write()]);
        let waves = len.div_ceil(u64::from(shape.lanes));
        host.launch(kernel, Grid::new(waves.div_ceil(4) as u32, 4)).await;
        Answer::new().with("c", &host.read(c).await)
    })
}

/// The answer of [`vec_add`].
pub(crate) fn vec_add_answer(len: u64) -> Vec<f32> {
    (0..len).map(|i| i as f32 + i as f32 * 0.5).collect()
}

/// Counts `len` seeded values in 256 bins with global atomics.
pub(crate) fn histogram(len: u64) -> Program {
    Program::new("histogram", move |host| async move {
        let (values, bins) = (host.alloc::<u32>("values", len), host.alloc::<u32>("bins", 256));
        host.write(values, &histogram_values(len)).await;
        let kernel = Kernel::new("count", move |w: Wave| async move {
            let first = w.first_item();
            let w = w.below(first, len);
            let bin = w.load(values, Unit(first)).await;
            let one = Lanes::from_fn(|_| 1u32);
            w.update(bins, bin, RmwKind::Add, one, relaxed(Level::Device)).await;
        });
        let waves = len.div_ceil(u64::from(host.shape().lanes));
        host.launch(kernel, Grid::new(waves.div_ceil(4) as u32, 4)).await;
        Answer::new().with("bins", &host.read(bins).await)
    })
}

/// The values that [`histogram`] counts.
pub(crate) fn histogram_values(len: u64) -> Vec<u32> {
    let mut rng = Rng::new(7);
    (0..len).map(|_| rng.below(256) as u32).collect()
}
