//! What a program may rely on, shown under the functional executor.

use kernel::prelude::*;
use kernel::reference::{self, Options, Schedule};

fn options(lanes: u32, schedule: Schedule) -> Options {
    let shape = Shape { lanes, ..Shape::default() };
    Options { shape, schedule, idle_steps_max: 10_000, ..Options::default() }
}

/// Runs under both lane counts and several schedules; returns the last answer.
fn everywhere(program: impl Fn() -> Program, check: impl Fn(&Answer, u32)) {
    for lanes in [32, 64] {
        for schedule in [Schedule::RoundRobin, Schedule::Seeded(1), Schedule::Seeded(2)] {
            match reference::run(program(), &options(lanes, schedule)) {
                Ok(outcome) => check(&outcome.answer, lanes),
                Err(error) => panic!("{lanes} lanes, {schedule:?}: {error}"),
            }
        }
    }
}

async fn double(w: Wave, a: Array<u32>, b: Array<u32>) {
    let base = w.first_item();
    let w = w.below(base, a.len());
    let x = w.load(a, Unit(base)).await;
    w.store(b, Unit(base), x + x).await;
}

fn doubling(len: u64, groups: u32) -> Program {
    Program::new("doubling", move |host| async move {
        let a = host.alloc::<u32>("a", len);
        let b = host.alloc::<u32>("b", len);
        let values: Vec<u32> = (0..len as u32).collect();
        host.write(a, &values).await;
        let kernel = Kernel::new("double", move |w| double(w, a, b)).uses([a.read(), b.write()]);
        host.launch(kernel, Grid::new(groups, 2)).await;
        Answer::new().with("b", &host.read(b).await)
    })
}

#[test]
fn a_grid_larger_than_the_machine_runs_to_its_end() {
    everywhere(
        || doubling(5000, 100),
        |answer, _| {
            let want: Vec<u32> = (0..5000).map(|v| 2 * v).collect();
            assert_eq!(answer.expect("b", &want), Ok(()));
        },
    );
}
