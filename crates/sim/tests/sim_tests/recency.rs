//! Tests of the choice of victims: the least recently used way of the lowest rank.

use kernel::prelude::*;
use proto::Protocol;
use sim::RunOptions;
use sim::config::System;
use zoo::denovo::{DenovoB, DenovoRprio};

use crate::common::{run, system};

/// A program in which one wavefront alternates loads of one line with loads of new lines.
fn again(rounds: u64) -> Program {
    Program::new("again", move |host| async move {
        let a = host.alloc::<u32>("a", 16 * (rounds + 1));
        let kernel = Kernel::new("again", move |w: Wave| async move {
            let w = w.below(w.first_item(), 1);
            for round in 1..=rounds {
                w.load(a, Unit(0)).await;
                w.load(a, Unit(16 * round)).await;
            }
        });
        host.launch(kernel, Grid::new(1, 1)).await;
        Answer::new()
    })
}

/// The machine `hrf-8cu` with L1s of one set of two lines.
fn narrow() -> System {
    let mut system = system("hrf-8cu");
    (system.l1.bytes, system.l1.ways) = (128, 2);
    system
}

#[test]
fn a_hit_makes_a_line_recently_used() {
    for steps_hits in [false, true] {
        let options = RunOptions { steps_hits, ..RunOptions::default() };
        let outcome = run(&narrow(), again(10), &options).unwrap();
        assert_eq!(outcome.counters["l1_hits"], 9, "every load of the first line hits, except the first one");
    }
}

/// A program in which one wavefront stores to a line, loads two other lines, then loads the first
/// line again.
fn stored() -> Program {
    Program::new("stored", |host| async move {
        let a = host.alloc::<u32>("a", 48);
        let kernel = Kernel::new("stored", move |w: Wave| async move {
            let w = w.below(w.first_item(), 1);
            w.store(a, Unit(0), Lanes::from_fn(|_| 1u32)).await;
            // The release waits until the line is registered (owned by the L1).
            w.fence(release(Level::Device)).await;
            for line in [1, 2, 0] {
                w.load(a, Unit(16 * line)).await;
            }
        });
        host.launch(kernel, Grid::new(1, 1)).await;
        Answer::new()
    })
}

#[test]
fn a_registered_line_with_a_higher_rank_is_not_evicted() {
    fn hits<P: Protocol>() -> u64 {
        let run = sim::run::<P, ()>(&narrow(), stored(), &RunOptions::default(), &mut ());
        run.expect("it ends").counters["l1_hits"]
    }
    assert_eq!(hits::<DenovoRprio>(), hits::<DenovoB>() + 1);
}
