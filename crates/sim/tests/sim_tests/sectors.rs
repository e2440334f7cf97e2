//! Tests of lines that consist of sectors (`l1.sector_bytes`).

use crate::common::*;
use kernel::prelude::*;
use proto::Info;
use sim::config::{PagePlacement, System};
use sim::{Outcome, RunOptions};

/// The machine `titan-v`, whose lines have 128 bytes, with sectors of this size. `None` leaves the
/// lines whole.
fn titan(sector_bytes: Option<u32>) -> System {
    let mut system = system("titan-v");
    system.l1.sector_bytes = sector_bytes;
    system
}

/// Runs a program in which one wavefront loads these words of an array, one after the other.
fn loads(system: &System, words: &'static [u64]) -> Outcome {
    let program = Program::new("loads", move |host| async move {
        let a = host.alloc::<u32>("a", 1024);
        let kernel = Kernel::new("loads", move |w: Wave| async move {
            for &word in words {
                w.leader().load(a, Unit(word)).await;
            }
        });
        host.launch(kernel, Grid::new(1, 1)).await;
        Answer::new()
    });
    run(system, program, &RunOptions::default()).unwrap()
}

#[test]
fn a_miss_fetches_one_sector() {
    let count = |sector_bytes| {
        let outcome = loads(&titan(sector_bytes), &[0, 8, 1, 9, 31]);
        ["l1_hits", "dram_reads", "dram_bytes"].map(|name| outcome.counters[name])
    };
    assert_eq!(count(None), [4, 1, 128]);
    assert_eq!(count(Some(32)), [2, 3, 96]);
    assert_eq!(count(Some(64)), [3, 2, 128]);
}

#[test]
fn a_machine_whose_sectors_are_lines_is_the_machine_without_sectors() {
    for program in [|| vec_add(3000), || histogram(3000)] {
        let [none, whole] = [None, Some(128)]
            .map(|sector_bytes| run(&titan(sector_bytes), program(), &RunOptions::default()).unwrap());
        assert_eq!((none.cycles, none.counters), (whole.cycles, whole.counters));
    }
}

#[test]
fn an_eviction_frees_the_tag_of_the_least_recently_used_line() {
    let mut system = titan(Some(32));
    (system.l1.bytes, system.l1.ways) = (256, 2);
    // Two sectors of line 0, then one sector each of lines 1 and 2. The L1 has ways for eight
    // sectors, but tags for two lines.
    let outcome = loads(&system, &[0, 8, 32, 64]);
    assert_eq!((outcome.counters["l1_hits"], outcome.counters["l1_evictions"]), (0, 2));
    let outcome = loads(&system, &[0, 8, 32, 64, 32, 40, 0]);
    // Line 1 keeps its tag, and line 0 takes the tag of line 2.
    assert_eq!((outcome.counters["l1_hits"], outcome.counters["l1_evictions"]), (1, 3));
}

/// The machine with sectors of 32 bytes whose L2 has one set with tags for three lines.
fn three_tags() -> System {
    let mut system = titan(Some(32));
    (system.l2.banks, system.l2.ways, system.l2.bytes) = (1, 3, 3 * 128);
    assert_eq!(system.problems(), []);
    system
}

/// The number of evictions in the L2 while one wavefront accesses all four sectors of lines 0, 1 and
/// 2, then the first sectors of the lines in `again`, and then one sector of line 3. It stores if
/// `stores`, and loads otherwise.
fn l2_evictions(protocol: &str, system: &System, stores: bool, again: &'static [u64]) -> u64 {
    let program = Program::new("evictions", move |host| async move {
        let a = host.alloc::<u32>("a", 128);
        let kernel = Kernel::new("evictions", move |w: Wave| async move {
            let w = w.leader();
            let first = again.iter().map(|line| line * 32);
            for word in (0..96).step_by(8).chain(first).chain([96]) {
                if stores {
                    w.store(a, Unit(word), Lanes::from_fn(|_| 1u32)).await;
                    w.fence(release(Level::Device)).await;
                } else {
                    w.load(a, Unit(word)).await;
                }
            }
        });
        host.launch(kernel, Grid::new(1, 1)).await;
        Answer::new()
    });
    let subject = subjects::timed(protocol).unwrap();
    let outcome = sim::run_subject(&subject, system, program, &RunOptions::default(), &mut ());
    outcome.unwrap_or_else(|why| panic!("{protocol}: {why}")).counters["l2_evictions"]
}

#[test]
fn a_tag_whose_eviction_has_begun_is_emptied_before_another_one() {
    // Under `gpu-vi` and `denovo-b`, the L2 recalls each sector, so each eviction takes several steps.
    for (protocol, stores) in [("vi", false), ("gpu-vi", false), ("denovo-b", true)] {
        assert_eq!(l2_evictions(protocol, &three_tags(), stores, &[]), 4, "{protocol}");
        assert_eq!(l2_evictions(protocol, &three_tags(), stores, &[0]), 4, "{protocol}");
    }
}

#[test]
fn a_tag_with_a_sector_that_cannot_leave_keeps_its_other_sectors() {
    // When line 3 needs a tag, each tag has a sector with a lease, which must stay until the lease
    // ends. Other leases have ended.
    let mut system = three_tags();
    system.protocol.entry("tc-strong".to_owned()).or_default().insert("lease_ticks".to_owned(), 1000);
    assert_eq!(l2_evictions("tc-strong", &system, false, &[0, 1, 2]), 4);
}

#[test]
fn an_atomic_that_a_fill_wakes_occupies_the_bank() {
    let program = || {
        Program::new("cold", move |host| async move {
            let a = host.alloc::<u32>("a", 8);
            let kernel = Kernel::new("cold", move |w: Wave| async move {
                let one = Lanes::from_fn(|_| 1u32);
                w.leader()
                    .update(a, Lanes::from_fn(|_| 0u32), RmwKind::Add, one, relaxed(Level::Device))
                    .await;
            });
            host.launch(kernel, Grid::new(8, 1)).await;
            Answer::new().with_array("a", &host, a).await
        })
    };
    let cycles = |atomic_occupancy_cycles| {
        let mut system = titan(Some(32));
        system.l2.atomic_occupancy_cycles = atomic_occupancy_cycles;
        let outcome = run(&system, program(), &RunOptions::default()).unwrap();
        outcome.answer.expect("a", &[8u32, 0, 0, 0, 0, 0, 0, 0]).unwrap();
        outcome.cycles
    };
    // All eight atomics wait for the fill of their sector.
    assert_eq!(cycles(Some(102)) - cycles(Some(2)), 7 * 100);
    assert!(cycles(None) < cycles(Some(102)));
}

#[test]
fn programs_are_right_with_sectors_on_chiplets() {
    for placement in [PagePlacement::Interleaved, PagePlacement::Hash, PagePlacement::FirstTouch] {
        let mut system = system("hrf-8cu");
        (system.l1.sector_bytes, system.chiplets, system.pages.placement) = (Some(32), 2, placement);
        assert_eq!(system.problems(), []);
        let outcome = run(&system, vec_add(5000), &RunOptions::default()).unwrap();
        outcome.answer.expect("c", &vec_add_answer(5000)).unwrap();
        // The lines of a page are on one chiplet, and each sector is fetched once.
        assert_eq!(outcome.counters["dram_reads"], 2 * 5000u64.div_ceil(8), "{placement:?}");
        let mut bins = vec![0u32; 256];
        histogram_values(700).iter().for_each(|&value| bins[value as usize] += 1);
        let outcome = run(&system, histogram(700), &RunOptions::default()).unwrap();
        outcome.answer.expect("bins", &bins).unwrap();
    }
}

/// Runs a program in which each lane of one wavefront updates a word. The words are `stride` words
/// apart.
fn updates(system: &System, stride: u64) -> Outcome {
    let program = Program::new("updates", move |host| async move {
        let a = host.alloc::<u32>("a", 1024);
        let kernel = Kernel::new("updates", move |w: Wave| async move {
            let word = Lanes::from_fn(|lane| (lane as u64 * stride) as u32);
            let one = Lanes::from_fn(|_| 1u32);
            w.update(a, word, RmwKind::Add, one, relaxed(Level::Device)).await;
        });
        host.launch(kernel, Grid::new(1, 1)).await;
        Answer::new().with_array("a", &host, a).await
    });
    run(system, program, &RunOptions::default()).unwrap()
}

#[test]
fn each_sector_of_an_atomic_is_a_request_and_an_answer() {
    let requests = |sector_bytes, stride| {
        let outcome = updates(&titan(sector_bytes), stride);
        let right: Vec<u32> = (0..1024).map(|i| u32::from(i % stride == 0 && i < 32 * stride)).collect();
        outcome.answer.expect("a", &right).unwrap();
        outcome.counters["atomic_requests"]
    };
    assert_eq!([1, 2, 8, 32].map(|stride| requests(None, stride)), [1, 2, 8, 32]);
    assert_eq!([1, 2, 8, 32].map(|stride| requests(Some(32), stride)), [4, 8, 32, 32]);
}

#[test]
fn programs_are_right_with_sectors_in_small_caches_under_every_protocol() {
    let mut system = titan(Some(32));
    system.cu.count = 8;
    system.l2.banks = 2;
    (system.l1.bytes, system.l1.ways) = (512, 2);
    (system.l2.bytes, system.l2.ways) = (2048, 4);
    let mut bins = vec![0u32; 256];
    histogram_values(700).iter().for_each(|&value| bins[value as usize] += 1);
    for &Info { name, .. } in zoo::ALL {
        let subject = subjects::timed(name).unwrap();
        let on = |program| {
            let outcome = sim::run_subject(&subject, &system, program, &RunOptions::default(), &mut ());
            outcome.unwrap_or_else(|why| panic!("{name}: {why}")).answer
        };
        on(vec_add(700)).expect("c", &vec_add_answer(700)).unwrap();
        on(pipeline(700)).expect("b", &pipeline_answer(700)).unwrap();
        on(histogram(700)).expect("bins", &bins).unwrap();
    }
}
