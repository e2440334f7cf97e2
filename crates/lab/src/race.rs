//! Detects races in a program, over several seeds.

use serde::Serialize;
use sim::ScopeReplacement;

use crate::error::Error;
use crate::experiment::Experiment;
use crate::record::Record;
use crate::run;

pub use sim::race::{
    Detector, Pairing, Race, RaceKind, RaceModel, RaceOptions, RaceReport, RacingAccess, Usage, WideScope,
    level_name,
};

/// The findings of all runs together.
#[derive(Clone, Debug, Serialize)]
pub struct Races {
    /// The races, and the size of the search.
    #[serde(flatten)]
    pub report: RaceReport,
    /// The number of runs.
    pub runs: u32,
    /// Runs that did not end with the right answer.
    pub failed: Vec<Failed>,
}

/// A run that did not end with the right answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failed {
    /// The seed of the run.
    pub seed: u64,
    /// The error, as a sentence.
    pub error: String,
    /// Whether the settings do not fit the input or the machine.
    #[serde(skip)]
    pub misfit: bool,
}

/// Runs an experiment under race detection with `seeds` consecutive seeds, the
/// first its own. `each` receives the result of every run.
///
/// # Errors
/// An experiment that cannot run. A wrong answer and a run that does not end
/// are results, and their races are reported.
pub fn races(
    experiment: &Experiment,
    options: RaceOptions,
    seeds: u32,
    mut each: impl FnMut(&Record),
) -> Result<Races, Error> {
    let mut detector = Detector::new(options);
    let mut failed = Vec::new();
    for seed in (0..u64::from(seeds)).map(|n| experiment.seed.wrapping_add(n)) {
        let record = run::run(&Experiment { seed, ..experiment.clone() }, &mut detector)?;
        if let Some(error) = &record.error {
            failed.push(Failed { seed, error: error.clone(), misfit: record.misfit });
        }
        each(&record);
    }
    Ok(Races { report: detector.finish(), runs: seeds, failed })
}

/// The savings of a narrower scope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Saving {
    /// The operation, its scope, and the narrower one. `None` for all of them
    /// together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site: Option<WideScope>,
    /// Cycles with the scopes that the program names, over all seeds.
    pub cycles_before: u64,
    /// Cycles with the narrower scope.
    pub cycles_after: u64,
    /// Whether every run with it has the right answer and no race.
    pub is_safe: bool,
}

/// Runs again with each narrower scope alone, and with all of them together.
///
/// # Errors
/// As [`races`].
pub fn savings(
    experiment: &Experiment,
    options: RaceOptions,
    seeds: u32,
    wide: &[WideScope],
    mut each: impl FnMut(&Record),
) -> Result<Vec<Saving>, Error> {
    let mut measure = |scopes: Vec<ScopeReplacement>| {
        let mut cycles = 0;
        let experiment = Experiment { scopes, ..experiment.clone() };
        let found = races(&experiment, options, seeds, |record| {
            cycles += record.cycles;
            each(record);
        })?;
        Ok::<_, Error>((cycles, found.failed.is_empty() && found.report.races.is_empty()))
    };
    let (cycles_before, _) = measure(Vec::new())?;
    let mut savings = Vec::new();
    for site in wide {
        let (cycles_after, is_safe) = measure(vec![narrower(site)])?;
        savings.push(Saving { site: Some(site.clone()), cycles_before, cycles_after, is_safe });
    }
    if wide.len() > 1 {
        let (cycles_after, is_safe) = measure(wide.iter().map(narrower).collect())?;
        savings.push(Saving { site: None, cycles_before, cycles_after, is_safe });
    }
    Ok(savings)
}

fn narrower(site: &WideScope) -> ScopeReplacement {
    ScopeReplacement {
        file: site.file.to_owned(),
        line: site.line,
        column: site.column,
        from: site.scope,
        to: site.enough,
    }
}
