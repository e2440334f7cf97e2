//! How fast the simulator is: CPU-seconds, cycles and line accesses a second.
//!
//! `cargo bench -p sim --bench throughput [NAME]` prints a table. Nothing is
//! asserted: a time depends on the machine it was taken on.
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a report for a person, with a clock")]

use std::time::Instant;

use kernel::prelude::*;
use kernel::rng::Rng;
use sim::config::System;
use sim::{Outcome, RunOptions};

fn system(name: &str) -> System {
    let path = format!("{}/../../systems/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the machine is part of the repository");
    toml::from_str(&text).expect("the machine is sound")
}

fn vec_add(len: u64) -> Program {
    Program::new("vec-add", move |host| async move {
        let (a, b, c) = (host.alloc("a", len), host.alloc("b", len), host.alloc("c", len));
        let values: Vec<f32> = (0..len).map(|i| i as f32).collect();
        host.write(a, &values).await;
        host.write(b, &values).await;
        let kernel = Kernel::new("add", move |w: Wave| async move {
            let first = w.first_item();
            let w = w.below(first, len);
            let (x, y) = (w.load(a, Unit(first)), w.load(b, Unit(first)));
            let sum = x.await + y.await;
            w.store(c, Unit(first), sum).await;
        });
        let waves = len.div_ceil(u64::from(host.shape().lanes));
        host.launch(kernel, Grid::new(waves.div_ceil(8) as u32, 8)).await;
        Answer::new().with("c", &host.read(c).await)
    })
}

fn histogram(len: u64) -> Program {
    Program::new("histogram", move |host| async move {
        let (values, bins) = (host.alloc::<u32>("values", len), host.alloc::<u32>("bins", 256));
        let mut rng = Rng::new(7);
        let data: Vec<u32> = (0..len).map(|_| rng.below(256) as u32).collect();
        host.write(values, &data).await;
        let kernel = Kernel::new("count", move |w: Wave| async move {
            let first = w.first_item();
            let w = w.below(first, len);
            let bin = w.load(values, Unit(first)).await;
            w.update(bins, bin, RmwKind::Add, Lanes::from_fn(|_| 1u32), relaxed(Level::Device)).await;
        });
        let waves = len.div_ceil(u64::from(host.shape().lanes));
        host.launch(kernel, Grid::new(waves.div_ceil(8) as u32, 8)).await;
        Answer::new().with("bins", &host.read(bins).await)
    })
}

fn pagerank(vertices: u64, edges: u64) -> Program {
    Program::new("pagerank", move |host| async move {
        let (from, to) = (host.alloc::<u32>("from", edges), host.alloc::<u32>("to", edges));
        let (rank, next) = (host.alloc::<f32>("rank", vertices), host.alloc::<f32>("next", vertices));
        let mut rng = Rng::new(3);
        let mut sources: Vec<u32> = (0..edges).map(|_| rng.below(vertices) as u32).collect();
        sources.sort_unstable();
        let targets: Vec<u32> = (0..edges).map(|_| rng.below(vertices) as u32).collect();
        host.write(from, &sources).await;
        host.write(to, &targets).await;
        host.write(rank, &vec![1.0; vertices as usize]).await;
        let kernel = Kernel::new("push", move |w: Wave| async move {
            let first = w.first_item();
            let w = w.below(first, edges);
            let (s, t) = (w.load(from, Unit(first)), w.load(to, Unit(first)));
            let share = w.load(rank, s.await).await * 0.15;
            w.update(next, t.await, RmwKind::AddF, share, relaxed(Level::Device)).await;
        });
        let waves = edges.div_ceil(u64::from(host.shape().lanes));
        host.launch(kernel, Grid::new(waves.div_ceil(8) as u32, 8)).await;
        Answer::new().with("next", &host.read(next).await)
    })
}

/// Every wavefront reads its own few lines again and again.
fn resident(rounds: u32) -> Program {
    Program::new("resident", move |host| async move {
        let shape = host.shape();
        let waves = shape.waves_per_cu * shape.compute_units;
        let data = host.alloc::<u32>("data", u64::from(waves * shape.lanes));
        let kernel = Kernel::new("read", move |w: Wave| async move {
            let first = w.first_item();
            for _ in 0..rounds {
                w.load(data, Unit(first)).await;
            }
        });
        host.launch(kernel, Grid::new(waves, 1)).await;
        Answer::new()
    })
}

/// Every lane of every wavefront misses in 64 MB.
fn random(rounds: u32) -> Program {
    Program::new("random", move |host| async move {
        let shape = host.shape();
        let waves = shape.waves_per_cu * shape.compute_units;
        let words = 64u64 << 18;
        let data = host.alloc::<u32>("data", words);
        let kernel = Kernel::new("read", move |w: Wave| async move {
            let mut rng = Rng::new(w.global_index());
            for _ in 0..rounds {
                let at = Lanes::from_fn(|_| rng.below(words) as u32);
                w.load(data, at).await;
            }
        });
        host.launch(kernel, Grid::new(waves, 1)).await;
        Answer::new()
    })
}

fn measure(name: &str, machine: &str, program: Program) {
    let system = system(machine);
    let start = Instant::now();
    let outcome: Outcome =
        sim::run::<zoo::vi::Vi, ()>(&system, program, &RunOptions::default(), &mut ()).expect("the run ends");
    let seconds = start.elapsed().as_secs_f64();
    let accesses = outcome.counters["line_requests"] as f64;
    println!(
        "{name:<12} {machine:<11} {seconds:>7.3} s {:>10} cycles {:>9.0} cycles/s {:>6.2} M lines/s {:>6.1} ns/event \
         {:>5.1} events/line",
        outcome.cycles,
        outcome.cycles as f64 / seconds,
        accesses / seconds / 1e6,
        seconds * 1e9 / outcome.events as f64,
        outcome.events as f64 / accesses,
    );
}

fn main() {
    let only: Option<String> = std::env::args().skip(1).find(|arg| !arg.starts_with("--"));
    let wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    let run = |name: &str, machine: &str, program: fn() -> Program| {
        if wanted(name) {
            measure(name, machine, program());
        }
    };
    run("vec-add", "titan-v", || vec_add(1 << 20));
    run("histogram", "titan-v", || histogram(65_536));
    run("pagerank", "titan-v", || pagerank(16_384, 100_000));
    run("resident", "hlrc-128cu", || resident(50));
    run("random", "hlrc-128cu", || random(2));
}
