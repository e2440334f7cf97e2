//! Machines and small programs for the tests of the simulator.

use kernel::prelude::*;
use kernel::rng::Rng;
use sim::config::System;
use sim::{Outcome, RunOptions};

/// The machine description of this name in the folder `systems` of this repository.
pub(crate) fn system(name: &str) -> System {
    let path = format!("{}/../../systems/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Runs a program under the protocol `vi` (valid/invalid).
pub(crate) fn run(
    system: &System,
    program: Program,
    options: &RunOptions,
) -> Result<Outcome, sim::error::RunError> {
    sim::run::<zoo::vi::Vi, ()>(system, program, options, &mut ())
}

/// A program that computes `c[i] = a[i] + b[i]`, with one element for each lane.
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
        Answer::new().with_array("c", &host, c).await
    })
}

/// The correct answer of [`vec_add`].
pub(crate) fn vec_add_answer(len: u64) -> Vec<f32> {
    (0..len).map(|i| i as f32 + i as f32 * 0.5).collect()
}

/// A program that counts `len` seeded values in 256 bins, with global atomics.
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
        Answer::new().with_array("bins", &host, bins).await
    })
}

/// The values that [`histogram`] counts.
pub(crate) fn histogram_values(len: u64) -> Vec<u32> {
    let mut rng = Rng::new(7);
    (0..len).map(|_| rng.below(256) as u32).collect()
}

/// A program that sums `len` numbers: in a tree in local memory with barriers, then with one atomic
/// for each work-group.
pub(crate) fn reduce(len: u64) -> Program {
    Program::new("reduce", move |host| async move {
        let (input, total) = (host.alloc::<u32>("input", len), host.alloc::<u32>("total", 1));
        host.write(input, &(0..len as u32).collect::<Vec<_>>()).await;
        let kernel = Kernel::new("reduce", move |w: Wave| async move {
            let waves = w.waves();
            let sums = w.lds::<u32>(0, waves);
            let first = w.first_item();
            let mine = w.below(first, len).load(input, Unit(first)).await;
            let sum = w.reduce(&mine, 0, Class::Int, |a: u32, b| a.wrapping_add(b));
            w.store(sums, u64::from(w.index()), sum).await;
            w.barrier().await;
            if w.index() == 0 {
                let mut all = 0u32;
                for wave in 0..waves {
                    all = all.wrapping_add(w.load(sums, u64::from(wave)).await);
                }
                w.fetch_add(total, 0u64, all, relaxed(Level::Device)).await;
            }
        });
        let waves = len.div_ceil(u64::from(host.shape().lanes)) as u32;
        host.launch(kernel, Grid::new(waves.div_ceil(4), 4).lds_bytes(16)).await;
        Answer::new().with_array("total", &host, total).await
    })
}

/// A program in which each of `groups` work-groups of one wavefront adds one to a counter `rounds`
/// times. A spin lock of scope `scope` protects the counter.
pub(crate) fn lock_counter(groups: u32, rounds: u32, scope: Level, placement: Placement) -> Program {
    Program::new("lock-counter", move |host| async move {
        let (lock, counter) = (host.alloc::<u32>("lock", 1), host.alloc::<u32>("counter", 1));
        let kernel = Kernel::new("count", move |w: Wave| async move {
            for _ in 0..rounds {
                while w.compare_exchange(lock, 0u64, 0, 1, acquire(scope)).await != 0 {}
                let value = w.load(counter, 0u64).await;
                w.store(counter, 0u64, value + 1).await;
                w.atomic_store(lock, 0u64, 0, release(scope)).await;
            }
        });
        host.launch(kernel, Grid::new(groups, 1).placed(placement)).await;
        Answer::new().with_array("counter", &host, counter).await
    })
}

/// A program in which the host sends numbers to a running kernel and receives their doubles.
pub(crate) fn host_flag(rounds: u32) -> Program {
    Program::new("host-flag", move |host| async move {
        let (to, from) = (host.alloc::<u32>("to", 1), host.alloc::<u32>("from", 1));
        let data = host.alloc::<u32>("data", 1);
        let kernel = Kernel::new("double", move |w: Wave| async move {
            for round in 1..=rounds {
                while w.atomic_load(to, 0u64, acquire(Level::System)).await < round {}
                let value = w.load(data, 0u64).await;
                w.store(data, 0u64, value * 2).await;
                w.atomic_store(from, 0u64, round, release(Level::System)).await;
            }
        });
        let running = host.launch(kernel, Grid::new(1, 1));
        let mut seen = Vec::new();
        for round in 1..=rounds {
            host.store(data, 0, round + 20).await;
            host.atomic_store(to, 0, round, Order::Release).await;
            while host.atomic_load(from, 0, Order::Acquire).await < round {}
            seen.push(host.load(data, 0).await);
        }
        running.await;
        Answer::new().with("seen", &seen)
    })
}

/// A program whose kernels read the results of earlier kernels, with a copy by the host between
/// them.
pub(crate) fn pipeline(len: u64) -> Program {
    Program::new("pipeline", move |host| async move {
        let (a, b) = (host.alloc::<u32>("a", len), host.alloc::<u32>("b", len));
        let step = |from: Array<u32>, to: Array<u32>| {
            Kernel::new("step", move |w: Wave| async move {
                let first = w.first_item();
                let w = w.below(first, len);
                let x = w.load(from, Unit(first)).await;
                w.store(to, Unit(first), x * 2u32 + 1u32).await;
            })
            .uses([from.read(), to.write()])
        };
        let grid = Grid::new(len.div_ceil(u64::from(host.shape().lanes)) as u32, 1);
        host.write(a, &(0..len as u32).collect::<Vec<_>>()).await;
        host.launch(step(a, b), grid).await;
        host.launch(step(b, a), grid).await;
        let middle = host.read(a).await;
        host.write(a, &middle.iter().map(|x| x + 1).collect::<Vec<_>>()).await;
        host.launch(step(a, b), grid).await;
        Answer::new().with_array("b", &host, b).await
    })
}

/// The correct answer of [`pipeline`].
pub(crate) fn pipeline_answer(len: u64) -> Vec<u32> {
    (0..len as u32).map(|x| ((x * 2 + 1) * 2 + 1 + 1) * 2 + 1).collect()
}
