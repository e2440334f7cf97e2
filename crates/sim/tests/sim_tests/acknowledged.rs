//! An L2 that acknowledges a write when memory has it (`l2.acknowledges`).

use crate::common::*;
use kernel::prelude::*;
use proto::Info;
use sim::RunOptions;
use sim::config::{Acknowledges, System, WritePolicy};
use sim::dram::DramUse;
use sim::probe::{MessageSeen, Probe};
use zoo::vi::Vi;

/// The machine `hlrc-8cu`, whose L2 writes through.
fn machine(acknowledges: Acknowledges) -> System {
    let mut system = system("hlrc-8cu");
    system.l2.acknowledges = acknowledges;
    system
}

/// The cycles at which memory has performed writes, and at which acknowledgements leave their banks.
#[derive(Debug, Default)]
struct Times {
    written: Vec<u64>,
    acked: Vec<u64>,
}

impl Times {
    /// Whether memory has performed as many writes as banks have acknowledged, at the time of each
    /// acknowledgement.
    fn are_acks_after_writes(&mut self) -> bool {
        self.written.sort_unstable();
        self.acked.sort_unstable();
        let performed = |acked: &u64| self.written.iter().filter(|&written| written <= acked).count();
        (1..).zip(&self.acked).all(|(acks, acked)| performed(acked) >= acks)
    }
}

impl Probe for Times {
    fn dram(&mut self, access: &DramUse) {
        if access.is_write {
            self.written.push(access.done);
        }
    }

    fn message(&mut self, message: &MessageSeen) {
        if message.name == "WriteAck" {
            self.acked.push(message.sent);
        }
    }
}

/// A program in which a wavefront stores to `lines` lines and then releases.
fn released(lines: u64) -> Program {
    Program::new("released", move |host| async move {
        let (data, flag) = (host.alloc::<u32>("data", 16 * lines), host.alloc::<u32>("flag", 1));
        let kernel = Kernel::new("release", move |w: Wave| async move {
            let w = w.leader();
            let stores: Vec<_> = (0..lines).map(|line| w.store(data, 16 * line, 7)).collect();
            for store in stores {
                store.await;
            }
            w.atomic_store(flag, 0, 1, release(Level::Device)).await;
        });
        host.launch(kernel, Grid::new(1, 1)).await;
        Answer::new().with_array("data", &host, data).await
    })
}

#[test]
fn a_write_is_acknowledged_after_memory_has_it() {
    let run = |acknowledges| {
        let mut times = Times::default();
        let options = RunOptions::default();
        let outcome = sim::run::<Vi, _>(&machine(acknowledges), released(9), &options, &mut times).unwrap();
        let right: Vec<u32> = (0..9 * 16).map(|i| if i % 16 == 0 { 7 } else { 0 }).collect();
        outcome.answer.expect("data", &right).unwrap();
        assert!(times.acked.len() >= 9 && times.written.len() >= 9, "{times:?}");
        (outcome, times.are_acks_after_writes())
    };
    let ((at_l2, early), (at_memory, late)) = (run(Acknowledges::L2), run(Acknowledges::Memory));
    assert!(!early && late);
    // The release waits for the last write: at least for the controller and a row of the DRAM.
    let dram = &machine(Acknowledges::L2).dram;
    let least = u64::from(dram.base_latency_cycles + dram.row_hit_cycles);
    assert!(at_memory.cycles >= at_l2.cycles + least, "{} against {}", at_memory.cycles, at_l2.cycles);
    for what in ["dram_writes", "dram_reads", "noc_messages", "l2_accesses"] {
        assert_eq!(at_l2.counters[what], at_memory.counters[what], "{what}");
    }
}

#[test]
fn every_protocol_computes_right_if_writes_end_at_memory() {
    let mut bins = vec![0u32; 256];
    histogram_values(2000).iter().for_each(|&v| bins[v as usize] += 1);
    for policy in [WritePolicy::Through, WritePolicy::ThroughInvalidate] {
        let mut system = system("stc-8cu");
        (system.l2.write_policy, system.l2.acknowledges) = (policy, Acknowledges::Memory);
        assert_eq!(system.problems(), []);
        for &Info { name, .. } in zoo::ALL {
            if zoo::reads_stale_copies(name) {
                continue;
            }
            let subject = subjects::timed(name).unwrap();
            let on = |system: &System, program| {
                let options = RunOptions { seed: 3, ..RunOptions::default() };
                let outcome = sim::run_subject(&subject, system, program, &options, &mut ());
                outcome.unwrap_or_else(|error| panic!("{name}: {error}"))
            };
            let run = |program| on(&system, program).answer;
            if ["vi", "gpu-vi", "tc-strong"].contains(&name) {
                let mut at_l2 = system.clone();
                at_l2.l2.acknowledges = Acknowledges::L2;
                let [waits, does_not] = [&system, &at_l2].map(|system| on(system, pipeline(1000)).cycles);
                assert!(waits > does_not, "{name}: {waits} against {does_not}");
            }
            let right = [
                run(histogram(2000)).expect("bins", &bins),
                run(pipeline(1000)).expect("b", &pipeline_answer(1000)),
                run(lock_counter(8, 3, Level::Device, Placement::Spread)).expect("counter", &[24u32]),
                run(host_flag(2)).expect("seen", &[42u32, 44]),
            ];
            assert!(right.iter().all(Result::is_ok), "{name}: {right:?}");
        }
    }
}

#[test]
fn acks_wait_for_memory_on_each_chiplet() {
    for chiplets in [2, 4] {
        let run = |acknowledges| {
            let mut system = machine(acknowledges);
            system.chiplets = chiplets;
            assert_eq!(system.problems(), []);
            let mut times = Times::default();
            let options = RunOptions::default();
            let outcome = sim::run::<Vi, _>(&system, pipeline(1000), &options, &mut times).unwrap();
            outcome.answer.expect("b", &pipeline_answer(1000)).unwrap();
            assert!(outcome.counters["link_messages"] > 0 && !times.acked.is_empty(), "{chiplets} chiplets");
            times.are_acks_after_writes()
        };
        let (at_l2, at_memory) = (run(Acknowledges::L2), run(Acknowledges::Memory));
        assert!(!at_l2 && at_memory, "{chiplets} chiplets");
    }
}

#[test]
fn an_l2_that_keeps_writes_cannot_acknowledge_them_at_memory() {
    let problems = |change: fn(&mut System)| {
        let mut system = machine(Acknowledges::Memory);
        change(&mut system);
        system.problems().into_iter().map(|found| (found.key(), found.message)).collect::<Vec<_>>()
    };
    assert_eq!(problems(|_| {}), []);
    let message =
        "`memory` with the write policy `combining`, expected an L2 that passes each write on to memory";
    let expected = [("l2.acknowledges".to_owned(), message.to_owned())];
    assert_eq!(problems(|system| system.l2.write_policy = WritePolicy::Combining), expected);
}
