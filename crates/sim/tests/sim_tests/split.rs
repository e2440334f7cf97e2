//! Storage that the L1 shares with the local memory (`l1.shared_with_lds_bytes`): each kernel leaves
//! the L1s what its work-groups do not need.

use crate::common::*;
use kernel::prelude::*;
use proto::Info;
use sim::config::{Invalidation, System};
use sim::{Outcome, RunOptions};
use zoo::vi::Vi;

const KB: u32 = 1024;

/// The machine `titan-v` with whole lines, so that a load of a line is one hit or one miss.
fn titan() -> System {
    let mut system = system("titan-v");
    system.l1.sector_bytes = None;
    system
}

/// This machine with 128 KB of storage for the L1 and the local memory of each compute unit.
fn shared() -> System {
    let mut system = titan();
    system.l1.shared_with_lds_bytes = Some(128 << 10);
    system
}

/// A program whose kernels each load `bytes` bytes with one wavefront, `passes` times. There is one
/// kernel for each element of `lds_bytes`, the size of its local memory.
fn loads(bytes: u32, passes: u32, lds_bytes: &'static [u32]) -> Program {
    Program::new("loads", move |host| async move {
        let words = u64::from(bytes) / 4;
        let (data, sum) = (host.alloc::<u32>("data", words), host.alloc::<u32>("sum", 32));
        host.write(data, &vec![3; words as usize]).await;
        for &lds in lds_bytes {
            let kernel = Kernel::new("load", move |w: Wave| async move {
                let mut all = Lanes::from_fn(|_| 0u32);
                for _ in 0..passes {
                    for first in (0..words).step_by(32) {
                        all += w.load(data, Unit(first)).await;
                    }
                }
                w.store(sum, Unit(0), all).await;
            });
            host.launch(kernel, Grid::new(1, 1).lds_bytes(lds).placed(Placement::Pack)).await;
        }
        Answer::new().with_array("sum", &host, sum).await
    })
}

/// The number of loads that hit in an L1.
fn hits(system: &System, program: Program) -> u64 {
    let outcome: Outcome = run(system, program, &RunOptions::default()).unwrap();
    outcome.counters["l1_load_hits"]
}

#[test]
fn an_l1_holds_what_the_local_memory_of_a_kernel_leaves() {
    // The second pass hits if the 96 KB of the first one are still in the L1. With least recently
    // used lines evicted first, it never hits if they do not fit.
    let second = u64::from(96 * KB / 128);
    let of = |lds: &'static [u32]| [titan(), shared()].map(|s| hits(&s, loads(96 * KB, 2, lds)));
    assert_eq!(of(&[0]), [0, second]);
    // 32 KB of local memory leave 96 KB, one byte more leaves 64 KB.
    assert_eq!(of(&[32 * KB]), [0, second]);
    assert_eq!(of(&[32 * KB + 1]), [0, 0]);
    assert_eq!(hits(&shared(), loads(64 * KB, 2, &[32 * KB + 1])), u64::from(64 * KB / 128));
    assert_eq!(hits(&shared(), loads(32 * KB, 2, &[96 * KB])), u64::from(32 * KB / 128));
    assert_eq!(hits(&shared(), loads(33 * KB, 2, &[96 * KB])), hits(&titan(), loads(33 * KB, 2, &[0])));
}

#[test]
fn an_l1_whose_size_changes_loses_its_lines() {
    // Without invalidations, only a change of the size removes lines between kernels.
    let mut system = shared();
    system.l1.invalidation = Invalidation::None;
    let lines = u64::from(16 * KB / 128);
    assert_eq!(hits(&system, loads(16 * KB, 1, &[0, 0, 0])), 2 * lines);
    assert_eq!(hits(&system, loads(16 * KB, 1, &[0, 8 * KB, 1])), lines);
    assert_eq!(hits(&system, loads(16 * KB, 1, &[0, 96 * KB, 0])), 0);
}

#[test]
fn l1s_that_keep_their_size_cost_no_cycles() {
    let base = |lds| run(&titan(), loads(16 * KB, 1, lds), &RunOptions::default()).unwrap().cycles;
    let here = |lds| run(&shared(), loads(16 * KB, 1, lds), &RunOptions::default()).unwrap().cycles;
    assert_eq!(here(&[0, 0]), base(&[0, 0]));
    assert_eq!(here(&[96 * KB, 96 * KB]), base(&[96 * KB, 96 * KB]));
}

#[test]
fn an_l1_whose_lines_have_sectors_holds_as_many_lines() {
    let mut system = shared();
    system.l1.sector_bytes = Some(32);
    let sectors = |bytes| u64::from(bytes / 32);
    assert_eq!(hits(&system, loads(96 * KB, 2, &[32 * KB])), sectors(96 * KB));
    assert_eq!(hits(&system, loads(96 * KB, 2, &[32 * KB + 1])), 0);
    assert_eq!(hits(&system, loads(64 * KB, 2, &[32 * KB + 1])), sectors(64 * KB));
    // An L1 of 32 KB has tags for 256 lines, even if each line has only one sector.
    let twice = |lines: u64| {
        Program::new("twice", move |host| async move {
            let data = host.alloc::<u32>("data", lines * 32);
            let kernel = Kernel::new("load", move |w: Wave| async move {
                for line in (0..lines).chain(0..lines) {
                    w.leader().load(data, Unit(line * 32)).await;
                }
            });
            host.launch(kernel, Grid::new(1, 1).lds_bytes(96 * KB)).await;
            Answer::new()
        })
    };
    assert_eq!([256, 512].map(|lines| hits(&system, twice(lines))), [256, 0]);
}

/// A program whose kernels update an array by loads, stores and atomics. Every second kernel uses
/// the whole local memory of a compute unit.
fn updates(len: u64, lds_bytes: u32) -> Program {
    Program::new("updates", move |host| async move {
        let (data, counts) = (host.alloc::<u32>("data", len), host.alloc::<u32>("counts", len));
        let shape = host.shape();
        for round in 0..4u32 {
            let kernel = Kernel::new("update", move |w: Wave| async move {
                let first = w.first_item();
                let w = w.below(first, len);
                let x = w.load(data, Unit(first)).await;
                w.store(data, Unit(first), x * 3u32 + 1u32).await;
                let one = Lanes::from_fn(|_| 1u32);
                w.update(counts, Unit(first), RmwKind::Add, one, relaxed(Level::Device)).await;
            });
            let groups = len.div_ceil(u64::from(shape.lanes)) as u32;
            let lds = if round % 2 == 1 { lds_bytes } else { 0 };
            host.launch(kernel, Grid::new(groups, 1).lds_bytes(lds)).await;
        }
        Answer::new().with_array("data", &host, data).await.with_array("counts", &host, counts).await
    })
}

#[test]
fn every_protocol_computes_right_while_the_size_of_the_l1s_changes() {
    let mut machine = system("stc-8cu");
    machine.l1.bytes = 2048;
    machine.l1.ways = 4;
    machine.l1.shared_with_lds_bytes = Some(machine.lds.bytes + machine.l1.bytes);
    assert_eq!(machine.problems(), []);
    let data = (0..4).fold(0u32, |x, _| x * 3 + 1);
    let mut tried = 0;
    for &Info { name, .. } in zoo::ALL {
        if zoo::reads_stale_copies(name) {
            continue;
        }
        let subject = subjects::timed(name).unwrap();
        let program = updates(1500, u32::try_from(machine.lds.bytes).unwrap());
        let outcome = sim::run_subject(&subject, &machine, program, &RunOptions::default(), &mut ());
        let outcome = outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
        outcome.answer.expect("data", &vec![data; 1500]).unwrap_or_else(|error| panic!("{name}: {error}"));
        outcome.answer.expect("counts", &vec![4u32; 1500]).unwrap_or_else(|error| panic!("{name}: {error}"));
        tried += 1;
    }
    assert!(tried > 10, "{tried} protocols");
}

#[test]
fn a_program_with_local_memory_is_right_on_shared_storage() {
    let outcome = sim::run::<Vi, ()>(&shared(), reduce(4000), &RunOptions::default(), &mut ()).unwrap();
    outcome.answer.expect("total", &[4000u32 * 3999 / 2]).unwrap();
}
