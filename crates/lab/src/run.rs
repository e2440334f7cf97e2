//! Runs experiments: executes the program of a workload on a simulated machine and records the
//! result.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kernel::{FaultKind, Program, WrongAnswer};
use sim::config::System;
use sim::error::RunError;
use sim::probe::{Probe, WaveAt};
use sim::{DropMessage, KernelTime, Outcome, RunOptions};

pub use sim::perfetto::Timeline;

use crate::error::Error;
use crate::experiment::Experiment;
use crate::record::{KernelRecord, Record};

/// The progress of a run: the cycle in which a wavefront retired most recently. Another thread may
/// read it.
#[derive(Clone, Debug, Default)]
pub struct Pulse {
    cycle: Arc<AtomicU64>,
}

impl Pulse {
    /// The simulated cycle in which a wavefront retired most recently.
    #[must_use]
    pub fn cycle(&self) -> u64 {
        self.cycle.load(Ordering::Relaxed)
    }
}

impl Probe for Pulse {
    fn wave_end(&mut self, now: u64, _at: WaveAt) {
        self.cycle.store(now, Ordering::Relaxed);
    }
}

/// Runs an experiment. `probe` observes the run.
///
/// # Errors
/// If the experiment cannot run: the protocol cannot use the machine, or no compute unit can hold a
/// work-group. A wrong answer or a run that does not end is not an error: the record reports it.
pub fn run<Pr: Probe>(experiment: &Experiment, probe: &mut Pr) -> Result<Record, Error> {
    let (program, check) = experiment.instance()?.into_parts();
    let usual = RunOptions::default();
    let options = RunOptions {
        seed: experiment.seed,
        patience_cycles: experiment.patience_cycles.unwrap_or(usual.patience_cycles),
        drop: experiment.drop.clone().map(|(name, nth)| DropMessage { name, nth }),
        scopes: experiment.scopes.clone(),
        ..usual
    };
    match program_on(&experiment.system, experiment.scenario.protocol, program, options, probe) {
        Ok(outcome) => {
            let wrong = check(&outcome.answer).err();
            let counts: Vec<_> = outcome.answer.counts().to_vec();
            let mut record = record(experiment, outcome, wrong.as_ref());
            record.counters.extend(counts.into_iter().map(|(name, n)| (format!("program.{name}"), n)));
            Ok(record)
        }
        Err(RunError::Machine(message)) => Err(Error::Impossible(message)),
        Err(error @ RunError::NothingDropped { .. }) => Err(Error::Impossible(error.to_string())),
        Err(RunError::Fault(fault)) if is_misfit(&fault.kind) => Err(Error::Impossible(fault.to_string())),
        Err(error) => Ok(failed(experiment, &error)),
    }
}

/// Runs a program on a machine under the protocol with the name `protocol`.
///
/// # Errors
/// The errors of [`sim::run_subject`].
///
/// # Panics
/// If no protocol has this name.
pub fn program_on<Pr: Probe>(
    system: &System,
    protocol: &str,
    program: Program,
    options: RunOptions,
    probe: &mut Pr,
) -> Result<Outcome, RunError> {
    let subject = subjects::timed(protocol).expect("`protocol` is in the list of protocols");
    sim::run_subject(&subject, system, program, &options, probe)
}

/// Returns true if a run failed because the user's settings do not fit the input or the machine.
/// Returns false if the program is the cause of the failure.
pub(crate) fn is_misfit(kind: &FaultKind) -> bool {
    matches!(kind, FaultKind::DoesNotFit { .. } | FaultKind::TooMany { .. })
}

fn record(experiment: &Experiment, outcome: Outcome, wrong: Option<&WrongAnswer>) -> Record {
    let kernel = |kernel: KernelTime| KernelRecord {
        name: kernel.name,
        from_cycle: kernel.from,
        until_cycle: kernel.until,
    };
    Record {
        cycles: outcome.cycles,
        answer_ok: wrong.is_none(),
        error: wrong.map(ToString::to_string),
        events: outcome.events,
        counters: outcome.counters,
        energy_pj: outcome.energy.entries().into_iter().collect(),
        kernels: outcome.kernels.into_iter().map(kernel).collect(),
        ..blank(experiment)
    }
}

fn failed(experiment: &Experiment, error: &RunError) -> Record {
    let cycles = match error {
        RunError::Stuck(stuck) => stuck.cycle,
        RunError::Violation { cycle, .. } => *cycle,
        _ => 0,
    };
    let misfit = matches!(error, RunError::Fault(fault) if matches!(fault.kind, FaultKind::Program { .. }));
    Record { cycles, error: Some(error.to_string()), misfit, ..blank(experiment) }
}

fn blank(experiment: &Experiment) -> Record {
    Record {
        system: experiment.system.name.clone(),
        machine: experiment.machine.clone(),
        protocol: experiment.scenario.protocol,
        policy: experiment.policy(),
        workload: experiment.workload.name,
        input: experiment.input_name(),
        graph: experiment.input.as_ref().map(crate::input::GraphInput::record),
        tables: experiment.numbers.as_ref().map_or(Vec::new(), |input| input.records.clone()),
        size: experiment.size.map(workloads::Size::name),
        settings: experiment.settings().collect(),
        seed: experiment.seed,
        cycles: 0,
        answer_ok: false,
        error: None,
        misfit: false,
        wall_seconds: 0.0,
        events: 0,
        counters: Default::default(),
        energy_pj: Default::default(),
        kernels: Vec::new(),
    }
}
