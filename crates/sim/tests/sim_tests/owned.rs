//! Tests of protocols in which hosts have coherent caches: copies of arrays go through the cache of
//! the host.

#[path = "../../../explore/tests/explore_tests/owned/toy.rs"]
mod toy;

use kernel::prelude::*;
use proto::Protocol;
use sim::config::System;
use sim::error::RunError;
use sim::{Outcome, RunOptions};
use toy::{Clocked, HostBytesLost, Owned, RecallIgnored};

use crate::common::{histogram, system, vec_add, vec_add_answer};

/// A machine of this repository, whose host has a cache of this size in bytes.
fn machine(bytes: u32) -> System {
    let base = toml::to_string(&System { levels: Vec::new(), ..system("hrf-8cu") }).unwrap();
    let host = format!(
        "[[level]]\nname = \"host\"\nper = \"host\"\nbelow = \"l2\"\nbytes = {bytes}\nways = 4\n\
         miss_registers = 4\nstore_buffer_entries = 4\nlatency_cycles = 2\n"
    );
    let system: System = toml::from_str(&format!("{base}\n{host}")).unwrap();
    assert_eq!(system.problems(), []);
    system
}

fn run<P: Protocol>(system: &System, program: Program) -> Result<Outcome, RunError> {
    sim::run::<P, ()>(system, program, &RunOptions::default(), &mut ())
}

/// A program in which the host copies to an array, a kernel adds one to each word, and the host
/// copies to a part of the array again, from the middle of a line on. The answer is the array.
fn copies(len: u64) -> Program {
    Program::new("copies", move |host| async move {
        let a = host.alloc::<u32>("a", len);
        let behind = host.alloc_behind::<u32>("b", 5);
        host.write(a, &(0..len as u32).collect::<Vec<_>>()).await;
        host.write(behind, &[7; 5]).await;
        let kernel = Kernel::new("add", move |w: Wave| async move {
            let first = w.first_item();
            let w = w.below(first, len);
            let x = w.load(a, Unit(first)).await;
            w.store(a, Unit(first), x + Lanes::from_fn(|_| 1u32)).await;
        })
        .uses([a.read_write()]);
        let waves = len.div_ceil(u64::from(host.shape().lanes));
        host.launch(kernel, Grid::new(waves.div_ceil(4) as u32, 4)).await;
        host.write(behind, &[8; 3]).await;
        Answer::new().with_array("a", &host, a).await.with_array("b", &host, behind).await
    })
}

#[test]
fn a_copy_reaches_the_kernel_and_a_later_copy_replaces_its_bytes() {
    for bytes in [512, 65_536] {
        let outcome = run::<Owned>(&machine(bytes), copies(1003)).unwrap();
        outcome.answer.expect("a", &(1..=1003).collect::<Vec<u32>>()).unwrap();
        outcome.answer.expect("b", &[8u32, 8, 8, 7, 7]).unwrap();
        let outcome = run::<Owned>(&machine(bytes), vec_add(1000)).unwrap();
        outcome.answer.expect("c", &vec_add_answer(1000)).unwrap();
    }
}

#[test]
fn a_copy_needs_the_coherence_of_the_host_cache() {
    let system = machine(65_536);
    let outcome = run::<HostBytesLost>(&system, vec_add(1000)).unwrap();
    outcome.answer.expect("c", &vec_add_answer(1000)).unwrap_err();
    assert!(matches!(run::<RecallIgnored>(&system, vec_add(1000)), Err(RunError::Stuck(_))));
}

#[test]
fn a_copy_takes_no_time_and_counts_nothing() {
    let program = |copies: u32| {
        Program::new("copies-alone", move |host| async move {
            let a = host.alloc::<u32>("a", 4096);
            for copy in 0..copies {
                host.write(a, &vec![copy; 4096]).await;
            }
            Answer::new().with_array("a", &host, a).await
        })
    };
    let [none, some] = [0, 3].map(|copies| run::<Owned>(&machine(4096), program(copies)).unwrap());
    some.answer.expect("a", &[2u32; 4096]).unwrap();
    assert_eq!((none.cycles, &none.counters), (some.cycles, &some.counters));
}

#[test]
fn a_copy_while_a_kernel_runs_is_an_error_that_names_the_array() {
    let program = Program::new("early-copy", |host| async move {
        let (a, b) = (host.alloc::<u32>("a", 64), host.alloc::<u32>("b", 64));
        let kernel = Kernel::new("read", move |w: Wave| async move {
            for _ in 0..500 {
                w.load(a, Unit(w.first_item())).await;
            }
        });
        let launched = host.launch(kernel, Grid::new(1, 1));
        // The host waits for this access, so the kernel runs when the copy begins.
        host.load(a, 0).await;
        host.write(b, &[1; 64]).await;
        launched.await;
        Answer::new()
    });
    let error = run::<Owned>(&machine(4096), program).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, RunError::Machine(_)), "{text}");
    assert!(
        text.starts_with("the host copies to the array `b` through its cache, but a kernel runs"),
        "{text}"
    );
}

#[test]
fn a_copy_through_controllers_that_read_the_clock_is_an_error() {
    let error = run::<Clocked>(&machine(4096), histogram(64)).unwrap_err().to_string();
    let expected = "the host copies to the array `values` through its cache, but the controllers read the \
                    clock, and a copy takes no time";
    assert_eq!(error, expected);
}
