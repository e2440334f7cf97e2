//! Detects races in a program by runs with several seeds, and measures the cycles that narrower
//! scopes save.

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

/// The races found in all runs of an experiment.
#[derive(Clone, Debug, Serialize)]
pub struct Races {
    /// The report of the race detector: the races, and the numbers of accesses that it observed.
    #[serde(flatten)]
    pub report: RaceReport,
    /// The number of runs.
    pub runs: u32,
    /// The runs that did not end with the right answer.
    pub failed: Vec<Failed>,
}

/// A run that did not end with the right answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failed {
    /// The seed of the run.
    pub seed: u64,
    /// The reason why the run failed, as a sentence.
    pub error: String,
    /// Whether the run failed because the settings of the workload do not fit the input or the
    /// machine.
    #[serde(skip)]
    pub misfit: bool,
}

/// Runs an experiment `seeds` times under race detection. The first run has the experiment's seed,
/// and each further run has the next seed. `each` receives the result of every run.
///
/// # Errors
/// If the experiment cannot run. A run with a wrong answer or a run that does not end is not an
/// error: its races are reported.
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

/// A comparison of the cycles of a program before and after the scopes of some operations are
/// narrowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Saving {
    /// The operation with its scope, which is wider than necessary, and the narrower scope that
    /// suffices. `None` if all such operations are narrowed together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site: Option<WideScope>,
    /// The sum of the cycles over all seeds, with the scopes that the program names.
    pub cycles_before: u64,
    /// The sum of the cycles over all seeds, with the narrower scope or scopes.
    pub cycles_after: u64,
    /// Whether every run with the narrower scope has the right answer and no race.
    pub is_safe: bool,
}

/// Measures the cycles that narrower scopes save. `wide` lists the operations whose scope is wider
/// than necessary. The runs are repeated once for each such operation, with only its scope
/// narrowed, and then with the scopes of all these operations narrowed.
///
/// # Errors
/// The errors of [`races`].
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
