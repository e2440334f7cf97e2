//! Entry points of the simulator: they run a program on a machine under a protocol.

use kernel::Program;
use proto::Protocol;

use crate::config::System;
use crate::machine::{Finished, Machine};
use crate::memory::dram::DramTraffic;
use crate::memory::side::present;
use crate::network::noc::NocTraffic;
use crate::options::RunOptions;
use crate::reports::counters::{LevelUses, Tally};
use crate::reports::energy::{Energy, EnergyUses, NocUnit};
use crate::reports::error::RunError;
use crate::reports::outcome::Outcome;
use crate::reports::probe::Probe;
use crate::stations::subject::Subject;

/// Runs `program` on `system` under the protocol `P`, observed by `probe`. See [`run_subject`].
///
/// # Errors
/// The errors of [`run_subject`].
pub fn run<P: Protocol, Pr: Probe>(
    system: &System,
    program: Program,
    options: &RunOptions,
    probe: &mut Pr,
) -> Result<Outcome, RunError> {
    run_subject(&Subject::of::<P>(), system, program, options, probe)
}

/// Runs `program` on `system` under the protocol `subject`, observed by `probe`.
///
/// The result depends only on these arguments. The caller must check [`Outcome::answer`] against a
/// reference.
///
/// # Errors
/// If the machine cannot be built, the protocol cannot run on it, the program makes an error or
/// does not finish, the protocol violates a rule (such as a row that its tables call impossible),
/// or the counters of the run are inconsistent.
pub fn run_subject<Pr: Probe>(
    subject: &Subject,
    system: &System,
    program: Program,
    options: &RunOptions,
    probe: &mut Pr,
) -> Result<Outcome, RunError> {
    let stations = (subject.stations)(system, options)?;
    let machine = Machine::new(system, program, options, probe, stations)?;
    Ok(outcome(system, machine.run()?))
}

/// The names of the counters in a sample (the values of all counters at one time) of a run on this
/// machine. The names of counters that exist only if a message was sent (`messages.NAME`,
/// `message_bytes.NAME` and `bytes_sent.LEVEL.LEVEL`) are left out.
///
/// # Errors
/// If the protocol cannot run on the machine.
pub fn counter_names(subject: &Subject, system: &System) -> Result<Vec<String>, RunError> {
    let stations = (subject.stations)(system, &RunOptions::default())?;
    let levels = stations.levels();
    let memory_side = present(system, &levels).map(|cache| cache.name.clone());
    let tally = Tally::new(levels.iter().map(|level| level.name.clone())).with_memory_side(memory_side);
    let counters = tally.entries(&NocTraffic::default(), &DramTraffic::default()).into_keys();
    Ok(counters.chain(crate::reports::sample::LEVELS.map(str::to_owned)).collect())
}

pub(crate) fn outcome(system: &System, finished: Finished) -> Outcome {
    let noc = finished.noc.traffic();
    let mut counters = finished.tally.entries(&noc, &finished.dram);
    for (cause, cycles) in finished.attribution.entries() {
        counters.insert(format!("cycles.{cause}"), cycles);
    }
    Outcome {
        cycles: finished.cycles,
        answer: finished.answer,
        counters,
        attribution: finished.attribution,
        energy: energy(system, &finished.tally, &noc, finished.dram.reads + finished.dram.writes),
        coverage: finished.coverage,
        kernels: finished.kernels,
        links: finished.noc.links().collect(),
        events: finished.events,
    }
}

fn energy(system: &System, tally: &Tally, noc: &NocTraffic, dram_accesses: u64) -> Energy {
    let sum = |name: &str, of: fn(&LevelUses) -> u64| -> u64 {
        tally.levels().iter().filter(|(level, _)| level == name).map(|(_, uses)| of(uses)).sum()
    };
    let uses = EnergyUses {
        vector_ops: tally.counts.vector_ops,
        l1_reads: sum("l1", |r| r.data_reads),
        l1_writes: sum("l1", |r| r.data_writes),
        l2_reads: sum("l2", |r| r.data_reads),
        l2_writes: sum("l2", |r| r.data_writes),
        noc_uses: match system.energy.noc_unit {
            NocUnit::Message => noc.messages,
            NocUnit::Flit => noc.flits,
            NocUnit::FlitHop => noc.flit_hops,
        },
        dram_accesses,
        lds_accesses: tally.counts.lds_accesses,
    };
    let levels = system.levels.iter().filter(|level| level.keeps_lines());
    let levels = levels.map(|level| {
        let cost = sum(&level.name, |uses| uses.data_reads) as f64 * level.read_pj
            + sum(&level.name, |uses| uses.data_writes) as f64 * level.write_pj;
        (level.name.clone(), cost)
    });
    let mut energy = Energy::of(&system.energy, &uses, levels.collect());
    for (name, traffic) in &tally.memory_side {
        let Some(spec) = system.memory_side.iter().find(|spec| spec.name == *name) else { continue };
        let (reads, writes) = (traffic.data_reads as f64, traffic.data_writes as f64);
        energy.add_cache(name, reads * spec.read_pj + writes * spec.write_pj);
    }
    if system.chiplets == 1 {
        return energy;
    }
    energy.with_links(noc.link_bytes as f64 * system.links.byte_pj)
}
