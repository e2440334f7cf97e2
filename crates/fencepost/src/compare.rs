//! The command `fencepost compare`, which compares scenarios: their speedup, traffic and energy
//! relative to the first one.

use std::io::Write;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use lab::experiment::{Experiment, Question};
use lab::results::Interval;
use lab::run::Pulse;
use lab::systems::Systems;
use lab::{Comparison, Error, Record, Row};

use crate::Failure;
use crate::args::CompareArguments;
use crate::bar::bar;
use crate::output::{WholeFile, write_json};
use crate::progress::Progress;
use crate::table::{Side, Table};
use crate::words::{bytes, energy, grouped};

/// The length of the longest bar, in characters.
const BAR_LETTERS: usize = 24;

pub(crate) fn compare(arguments: &CompareArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let trimmed = |texts: &[String]| texts.iter().map(|text| text.trim().to_owned()).collect::<Vec<_>>();
    let (scenarios, workloads) = (trimmed(&arguments.scenarios), trimmed(&arguments.workload));
    let lists = [("--scenarios", &scenarios[..]), ("--workload", &workloads)];
    if let Some((option, _)) = lists.iter().find(|(_, names)| names.iter().any(String::is_empty)) {
        return Err(Failure::BadInput(format!("{option} has an empty name, expected NAME,NAME,...")));
    }
    let seeds = seeds(arguments)?;
    let preparing = Progress::of_one("reading the input");
    let experiments = experiments(arguments, &scenarios, &workloads, &seeds)?;
    drop(preparing);
    let file = arguments.html.as_deref().map(WholeFile::create).transpose().map_err(Failure::BadInput)?;
    let records = perform(&experiments)?;
    let comparison = Comparison::new(&seeds, &scenarios, &records);
    if arguments.common.json {
        write_json(out, &comparison)?;
    } else {
        show(&comparison, out)?;
    }
    if let Some(file) = file {
        file.fill(|file| file.write_all(lab::report::of_comparison(&comparison).as_bytes()))?;
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

/// The failure of a command in which a run has no right answer. The input is at fault if the
/// settings of a run do not fit its input or machine. Otherwise the check has failed.
pub(crate) fn failure(records: &[Record], reasons: Vec<String>) -> Failure {
    let reasons = reasons.join("\n");
    match records.iter().any(|record| record.misfit) {
        true => Failure::BadInput(reasons),
        false => Failure::CheckFailed(reasons),
    }
}

/// The seeds that the user requests.
fn seeds(arguments: &CompareArguments) -> Result<Vec<u64>, Failure> {
    let seed = arguments.common.seed;
    let Some(count) = arguments.seeds else { return Ok(vec![seed]) };
    // With seed 0 the timing of a run is not changed at random, but a mean over seeds needs such
    // changes.
    let first = seed.max(1);
    match first.checked_add(count - 1) {
        Some(last) => Ok((first..=last).collect()),
        None => Err(Failure::BadInput(format!(
            "{count} seeds that begin with seed {first} are too many: the largest seed is {}",
            u64::MAX
        ))),
    }
}

/// The experiments of the command, sorted by machine, workload, scenario and seed.
fn experiments(
    arguments: &CompareArguments,
    scenarios: &[String],
    workloads: &[String],
    seeds: &[u64],
) -> Result<Vec<Experiment>, Failure> {
    let (systems, question) = (Systems::default(), arguments.common.question());
    let mut experiments: Vec<Experiment> = Vec::new();
    for system in question.system.split(',') {
        if system.trim().is_empty() {
            return Err(Failure::BadInput("--system has an empty name, expected NAME,NAME,...".to_owned()));
        }
        let question = Question { system: system.trim().to_owned(), ..question.clone() };
        let grid = Experiment::grid(&systems, &question, scenarios, workloads)?;
        let name = grid.first().map(|experiment| experiment.system.name.clone());
        if let Some(name) = name
            && experiments.iter().any(|experiment| experiment.system.name == name)
        {
            return Err(Failure::BadInput(format!("system `{name}` is named twice")));
        }
        let with_seed = |experiment: Experiment| {
            seeds.iter().map(move |&seed| Experiment { seed, ..experiment.clone() }).collect::<Vec<_>>()
        };
        experiments.extend(grid.into_iter().flat_map(with_seed));
    }
    Ok(experiments)
}

/// Runs all experiments on all cores of the host. A result depends only on its experiment, and not
/// on the order in which experiments run.
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
    let system = comparison.machine.after(&comparison.systems.join(", "));
    match comparison.seeds[..] {
        [seed] => writeln!(out, "{system}, seed {seed}; speedup over {baseline}")?,
        ref seeds => writeln!(
            out,
            "{system}, means over seeds {} to {}; speedup over {baseline} with its 95% interval",
            seeds[0],
            seeds[seeds.len() - 1]
        )?,
    }
    let several = comparison.systems.len() > 1;
    let rows = comparison.rows.iter().filter_map(|row| row.speedup);
    let fastest = rows.chain(comparison.means.iter().map(|mean| mean.speedup)).fold(1.0, f64::max);
    let columns = columns(comparison);
    let mut table = Table::new(&columns);
    let mut last = ("", "");
    for row in &comparison.rows {
        let is_first = last != (row.system.as_str(), row.workload);
        if is_first {
            table.row([]);
        }
        table.row(cells(row, is_first, several, fastest));
        last = (&row.system, row.workload);
    }
    let mut last = "";
    for mean in &comparison.means {
        let is_first = last != mean.system;
        if is_first {
            table.row([]);
        }
        let relative = |ratio: Option<f64>| ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}x"));
        let mut row = vec![if is_first { "geometric mean".to_owned() } else { String::new() }];
        row.extend(several.then(|| if is_first { mean.system.clone() } else { String::new() }));
        row.extend([mean.scenario.clone(), String::new()]);
        row.extend([
            relative(mean.traffic_ratio),
            relative(mean.energy_ratio),
            speedup_in_words(mean.speedup, mean.interval.is_some()),
        ]);
        row.extend(mean.interval.map(in_words));
        row.push(bar(mean.speedup / fastest, BAR_LETTERS));
        table.row(row);
        last = &mean.system;
    }
    Ok(table.write(out)?)
}

fn columns(comparison: &Comparison) -> Vec<(&'static str, Side)> {
    let mut columns = vec![("workload", Side::Left)];
    columns.extend((comparison.systems.len() > 1).then_some(("system", Side::Left)));
    columns.push(("scenario", Side::Left));
    columns.extend(["cycles", "traffic", "energy", "speedup"].map(|heading| (heading, Side::Right)));
    columns.extend((comparison.seeds.len() > 1).then_some(("95% interval", Side::Left)));
    columns.push(("", Side::Left));
    columns
}

fn cells(row: &Row, is_first: bool, several: bool, fastest: f64) -> Vec<String> {
    let (speedup, bar) = match row.speedup {
        Some(speedup) => {
            (speedup_in_words(speedup, row.intervals.is_some()), bar(speedup / fastest, BAR_LETTERS))
        }
        None if row.answer_ok => ("-".to_owned(), "the baseline has no right answer".to_owned()),
        None => ("-".to_owned(), "no right answer".to_owned()),
    };
    let counted = |text: String| if row.is_counted { text } else { "-".to_owned() };
    let mut cells = vec![if is_first { row.workload.to_owned() } else { String::new() }];
    cells.extend(several.then(|| if is_first { row.system.clone() } else { String::new() }));
    cells.extend([
        row.scenario.clone(),
        grouped(row.cycles),
        counted(bytes(row.traffic_bytes)),
        counted(energy(row.energy_pj)),
    ]);
    cells.push(speedup);
    cells.extend(row.intervals.map(|intervals| intervals.speedup.map_or("-".to_owned(), in_words)));
    cells.push(bar);
    cells
}

/// The text of a speedup: with three decimals if its confidence interval is shown beside it, and
/// with two decimals otherwise.
fn speedup_in_words(speedup: f64, has_interval: bool) -> String {
    if has_interval { format!("{speedup:.3}x") } else { format!("{speedup:.2}x") }
}

/// The two ends of the confidence interval of a quotient, as a text with three decimals.
fn in_words(interval: Interval) -> String {
    format!("{:.3} to {:.3}", interval.low, interval.high)
}
