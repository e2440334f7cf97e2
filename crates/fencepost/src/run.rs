//! The command `fencepost run`, which runs one workload on one machine under one protocol.

use std::io::Write;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use lab::Record;
use lab::experiment::{Experiment, Question};
use lab::run::{Pulse, Timeline};
use lab::series::Series;
use lab::systems::Systems;
use lab::table::Format;
use lab::watch::Watch;
use serde::Serialize;

use crate::Failure;
use crate::args::RunArguments;
use crate::bar::bar;
use crate::clock::Stopwatch;
use crate::output::{WholeFile, write_json};
use crate::progress::Progress;
use crate::table::{Side, Table};
use crate::words::{bytes, counted, energy, grouped, plural};

/// The maximum number of kernels that have a row of their own in the table. All further kernels
/// share one row with their sums.
const KERNELS_SHOWN: usize = 12;

/// The maximum number of intervals that the terminal shows. An output file contains all intervals.
const INTERVALS_SHOWN: usize = 40;
/// The default length of an interval, in cycles.
const EVERY: NonZeroU64 = NonZeroU64::new(1000).unwrap();

/// The data that `--json` prints: the record of a run, and the counters over time if the user
/// requests them.
#[derive(Serialize)]
struct Output<'a> {
    #[serde(flatten)]
    record: &'a Record,
    #[serde(skip_serializing_if = "Option::is_none")]
    series: Option<&'a Series>,
}

pub(crate) fn run(arguments: &RunArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let mut question = arguments.common.question();
    question.workload.clone_from(&arguments.workload);
    question.scenario = scenario(arguments);
    question.drop.clone_from(&arguments.drop);
    let (mut record, series) = perform(arguments, &question)?;
    if let (true, Some(why)) = (record.misfit, &record.error) {
        return Err(Failure::BadInput(why.clone()));
    }
    let failure = record.error.clone().filter(|_| !record.answer_ok);
    if arguments.common.json {
        write_json(out, &Output { record: &record, series: series.as_ref() })?;
    } else if failure.is_none() || !record.counters.is_empty() {
        record.error = None;
        show(&record, out)?;
        if let Some(series) = &series {
            show_series(series, arguments.out.is_some(), out)?;
        }
    }
    failure.map_or(Ok(()), |failure| Err(Failure::CheckFailed(failure)))
}

fn scenario(arguments: &RunArguments) -> String {
    let name = arguments.scenario.as_ref().or(arguments.protocol.as_ref()).cloned().unwrap_or_default();
    match &arguments.policy {
        None => name,
        Some(policy) => format!("{name}+{}", policy.replace(',', "+")),
    }
}

/// Runs the experiment and writes the requested files. The files are written even if the run fails.
fn perform(arguments: &RunArguments, question: &Question) -> Result<(Record, Option<Series>), Failure> {
    let format = arguments.out.as_deref().map(Format::of).transpose()?;
    if arguments.every.is_some() && arguments.counters.is_empty() && arguments.perfetto.is_none() {
        let message = "--every needs --counter or --perfetto";
        return Err(Failure::BadInput(message.to_owned()));
    }
    if arguments.out.is_some() && arguments.out == arguments.perfetto {
        return Err(Failure::BadInput("--out and --perfetto name the same file".to_owned()));
    }
    let preparing = Progress::of_one("reading the input");
    let experiment = Experiment::new(&Systems::default(), question)?;
    drop(preparing);
    let every = arguments.every.unwrap_or(EVERY);
    let series = match &arguments.counters[..] {
        [] => None,
        counters => Some(Series::of(&experiment, every, counters)?),
    };
    let create = |path: &PathBuf| WholeFile::create(path).map_err(Failure::BadInput);
    let table = arguments.out.as_ref().map(create).transpose()?;
    let drawing = arguments.perfetto.as_ref().map(create).transpose()?;
    let timeline = drawing.map(|file| Timeline::with_interval(file, every));
    let mut watch = Watch { pulse: Pulse::default(), timeline, series };
    let record = watched(question, &experiment, &mut watch)?;
    let Watch { timeline, series, .. } = watch;
    if let Some(series) = &series {
        series.check(&record)?;
    }
    if let Some((timeline, path)) = timeline.zip(arguments.perfetto.as_ref()) {
        let file = timeline.finish().map_err(|error| cannot_write(path, &error.to_string()))?;
        file.commit().map_err(Failure::BadInput)?;
    }
    if let (Some(mut file), Some(format), Some(path)) = (table, format, &arguments.out) {
        let columns = match &series {
            Some(series) => series.columns(&record),
            None => record.columns(),
        };
        lab::table::write(format, &columns, &mut file).map_err(|why| cannot_write(path, &why))?;
        file.commit().map_err(Failure::BadInput)?;
    }
    Ok((record, series))
}

fn cannot_write(path: &Path, why: &str) -> Failure {
    Failure::BadInput(format!("cannot write {}: {why}", path.display()))
}

/// Runs the experiment and shows a progress line. Only the probes (observers) that the user
/// requests observe the run.
fn watched(
    question: &Question,
    experiment: &Experiment,
    watch: &mut Watch<WholeFile>,
) -> Result<Record, Failure> {
    let title = format!("{} on {}", question.workload, experiment.system.name);
    let stopwatch = Stopwatch::start();
    let progress = Progress::of(title, watch.pulse.clone());
    let mut record = match watch {
        Watch { pulse, timeline: None, series: None } => lab::run::run(experiment, pulse)?,
        watch => lab::run::run(experiment, watch)?,
    };
    drop(progress);
    record.wall_seconds = stopwatch.seconds();
    Ok(record)
}

fn show(record: &Record, out: &mut dyn Write) -> Result<(), Failure> {
    let settings: Vec<String> =
        record.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let machine = record.machine.after(&record.system);
    writeln!(out, "{} on {machine} under {}", record.workload, record.protocol)?;
    if !settings.is_empty() {
        writeln!(out, "{}", settings.join(" "))?;
    }
    if let Some(graph) = &record.graph {
        let vertices = counted(graph.vertices as usize, "vertex");
        let arcs = counted(graph.arcs as usize, "arc");
        writeln!(out, "{}: {vertices}, {arcs}", graph.origin)?;
        for repair in graph.repairs.iter() {
            writeln!(out, "repaired: {repair}")?;
        }
    }
    for table in &record.tables {
        let (rows, columns) = (grouped(table.rows), grouped(table.columns));
        writeln!(out, "{}: {}, {rows} by {columns}", table.content, table.origin)?;
    }
    let answer = if record.answer_ok { "right" } else { "WRONG" };
    writeln!(out)?;
    let mut table = Table::new(&[("answer", Side::Left), (answer, Side::Right)]);
    table.row(["cycles".to_owned(), grouped(record.cycles)]);
    table.row(["traffic".to_owned(), bytes(record.traffic_bytes())]);
    table.row(["energy".to_owned(), energy(record.energy_total_pj())]);
    table.row(["simulated in".to_owned(), format!("{:.2} s", record.wall_seconds)]);
    table.write(out)?;
    show_kernels(record, out)?;
    show_caches(record, out)?;
    show_energy(record, out)
}

fn show_kernels(record: &Record, out: &mut dyn Write) -> Result<(), Failure> {
    let mut table = Table::new(&[("kernel", Side::Left), ("cycles", Side::Right), ("", Side::Left)]);
    let longest = record.kernels.iter().map(|kernel| kernel.until_cycle - kernel.from_cycle).max();
    for kernel in record.kernels.iter().take(KERNELS_SHOWN) {
        let cycles = kernel.until_cycle - kernel.from_cycle;
        let share = cycles as f64 / longest.unwrap_or(1).max(1) as f64;
        table.row([kernel.name.clone(), grouped(cycles), bar(share, 24)]);
    }
    if let Some(rest) = record.kernels.len().checked_sub(KERNELS_SHOWN).filter(|rest| *rest > 0) {
        table.row([format!("and {rest} more")]);
    }
    writeln!(out)?;
    Ok(table.write(out)?)
}

fn show_caches(record: &Record, out: &mut dyn Write) -> Result<(), Failure> {
    let columns = ["accesses", "hits", "misses", "bypasses", "evictions", "flushes", "invalidations"];
    let mut headings = vec![("cache", Side::Left), ("hit rate", Side::Right)];
    headings.extend(columns.iter().map(|column| (*column, Side::Right)));
    let mut table = Table::new(&headings);
    for cache in ["l1", "l2", "l3"] {
        let count = |what: &str| record.counters.get(&format!("{cache}_{what}")).copied();
        let Some(accesses) = count("accesses") else { continue };
        let rate = match (count("hits"), accesses) {
            (Some(hits), 1..) => format!("{:.1}%", 100.0 * hits as f64 / accesses as f64),
            _ => "-".to_owned(),
        };
        let counts = columns.iter().map(|column| grouped(count(column).unwrap_or(0)));
        table.row([cache.to_uppercase(), rate].into_iter().chain(counts));
    }
    writeln!(out)?;
    Ok(table.write(out)?)
}

fn show_energy(record: &Record, out: &mut dyn Write) -> Result<(), Failure> {
    let total = record.energy_total_pj();
    let mut table = Table::new(&[("energy", Side::Left), ("", Side::Right), ("", Side::Left)]);
    for (part, picojoules) in record.energy_pj.iter().filter(|(part, _)| *part != "total") {
        let share = if total > 0.0 { picojoules / total } else { 0.0 };
        table.row([part.clone(), energy(*picojoules), bar(share, 24)]);
    }
    writeln!(out)?;
    table.write(out)?;
    Ok(writeln!(out, "\nAll {} counters: --json", record.counters.len())?)
}

/// Prints counters over time. For a counter that only increases, the table shows the increase in
/// each interval. For a counter that is a level (such as operations in flight), the table shows the
/// value at the end of each interval.
fn show_series(series: &Series, has_file: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let mut columns = vec![("until cycle", Side::Right)];
    columns.extend(series.counters.iter().map(|name| (name.as_str(), Side::Right)));
    // If there is only one counter, its values are also shown as bars.
    let is_alone = series.counters.len() == 1;
    columns.extend(is_alone.then_some(("", Side::Left)));
    let mut table = Table::new(&columns);
    let value = |at: usize, counter: usize| match series.is_level(counter) {
        true => i128::from(series.values[at][counter]),
        false => series.change(at, counter),
    };
    let largest = (0..series.cycles.len()).map(|at| value(at, 0)).max().unwrap_or(0).max(1);
    for (at, cycle) in series.cycles.iter().enumerate().take(INTERVALS_SHOWN) {
        let mut row = vec![grouped(*cycle)];
        row.extend((0..series.counters.len()).map(|counter| {
            let value = value(at, counter);
            let sign = if value < 0 { "-" } else { "" };
            format!("{sign}{}", grouped(u64::try_from(value.unsigned_abs()).unwrap_or(u64::MAX)))
        }));
        row.extend(is_alone.then(|| bar(value(at, 0) as f64 / largest as f64, 24)));
        table.row(row);
    }
    writeln!(out)?;
    table.write(out)?;
    if let Some(rest) = series.cycles.len().checked_sub(INTERVALS_SHOWN).filter(|rest| *rest > 0) {
        let where_to = match has_file {
            true => "the file of --out contains all intervals",
            false => "--out FILE.csv writes all intervals",
        };
        let intervals = plural(rest as u64, "interval");
        writeln!(out, "and {} more {intervals}; {where_to}", grouped(rest as u64))?;
    }
    Ok(())
}
