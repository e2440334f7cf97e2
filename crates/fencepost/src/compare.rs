//! `fencepost compare`.

use std::io::Write;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use lab::experiment::Experiment;
use lab::run::Pulse;
use lab::systems::Systems;
use lab::{Comparison, Error, Record, Row};

use crate::Failure;
use crate::args::CompareArguments;
use crate::output::write_json;
use crate::progress::Progress;
use crate::table::{Side, Table, bar, bytes, energy, grouped};

/// Letters of the longest bar.
const BAR_LETTERS: usize = 24;

pub(crate) fn compare(arguments: &CompareArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let trimmed = |texts: &[String]| texts.iter().map(|text| text.trim().to_owned()).collect::<Vec<_>>();
    let (scenarios, workloads) = (trimmed(&arguments.scenarios), trimmed(&arguments.workload));
    let question = arguments.common.question();
    let preparing = Progress::of_one("reading the input");
    let experiments = Experiment::grid(&Systems::default(), &question, &scenarios, &workloads)?;
    drop(preparing);
    let name = experiments.first().map_or(String::new(), |experiment| experiment.system.name.clone());
    let records = perform(&experiments)?;
    let by_workload: Vec<Vec<Record>> =
        records.chunks(scenarios.len().max(1)).map(<[Record]>::to_vec).collect();
    let comparison = Comparison::new(&name, arguments.common.seed, &scenarios, &by_workload);
    if arguments.common.json {
        write_json(out, &comparison)?;
    } else {
        show(&comparison, out)?;
    }
    if comparison.is_sound() {
        return Ok(());
    }
    let failed = comparison.rows.iter().filter(|row| !row.answer_ok);
    let reasons = failed.map(|row| {
        let reason = row.error.as_deref().and_then(|error| error.lines().next()).unwrap_or("wrong answer");
        format!("{} under {}: {reason}", row.workload, row.scenario)
    });
    Err(failure(&records, reasons.collect()))
}

/// What a command says of runs without a right answer. Settings that do not fit are
/// bad input.
pub(crate) fn failure(records: &[Record], reasons: Vec<String>) -> Failure {
    let reasons = reasons.join("\n");
    match records.iter().any(|record| record.misfit) {
        true => Failure::BadInput(reasons),
        false => Failure::CheckFailed(reasons),
    }
}

/// Runs all experiments on as many threads as the machine has cores. A run
/// depends on nothing but its experiment, so the order does not matter.
pub(crate) fn perform(experiments: &[Experiment]) -> Result<Vec<Record>, Error> {
    let pulse = Pulse::default();
    let progress = Progress::of_many(experiments.len(), pulse.clone());
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Result<Record, Error>)>> = Mutex::new(Vec::new());
    let work = || {
        while let Some((at, experiment)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            experiments.get(at).map(|experiment| (at, experiment))
        } {
            let result = lab::run::run(experiment, &mut pulse.clone());
            progress.one_more();
            done.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min(experiments.len());
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

fn show(comparison: &Comparison, out: &mut dyn Write) -> Result<(), Failure> {
    let baseline = comparison.rows.first().map_or("", |row| row.scenario.as_str());
    writeln!(out, "{}, seed {}; speedup over {baseline}", comparison.system, comparison.seed)?;
    let fastest = comparison.rows.iter().filter_map(|row| row.speedup).fold(1.0, f64::max);
    let mut table = Table::new(&[
        ("workload", Side::Left),
        ("scenario", Side::Left),
        ("cycles", Side::Right),
        ("traffic", Side::Right),
        ("energy", Side::Right),
        ("speedup", Side::Right),
        ("", Side::Left),
    ]);
    let mut last = "";
    for row in &comparison.rows {
        if row.workload != last {
            table.row([]);
        }
        table.row(cells(row, row.workload != last, fastest));
        last = row.workload;
    }
    if !comparison.means.is_empty() {
        table.row([]);
    }
    for (at, mean) in comparison.means.iter().enumerate() {
        let relative = |ratio: Option<f64>| ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}x"));
        table.row([
            if at == 0 { "geometric mean".to_owned() } else { String::new() },
            mean.scenario.clone(),
            String::new(),
            relative(mean.traffic_ratio),
            relative(mean.energy_ratio),
            format!("{:.2}x", mean.speedup),
            bar(mean.speedup / fastest, BAR_LETTERS),
        ]);
    }
    Ok(table.write(out)?)
}

fn cells(row: &Row, is_first: bool, fastest: f64) -> [String; 7] {
    let (speedup, bar) = match row.speedup {
        Some(speedup) => (format!("{speedup:.2}x"), bar(speedup / fastest, BAR_LETTERS)),
        None if row.answer_ok => ("-".to_owned(), "the baseline has no right answer".to_owned()),
        None => ("-".to_owned(), "no right answer".to_owned()),
    };
    [
        if is_first { row.workload.to_owned() } else { String::new() },
        row.scenario.clone(),
        grouped(row.cycles),
        bytes(row.traffic_bytes),
        energy(row.energy_pj),
        speedup,
        bar,
    ]
}
