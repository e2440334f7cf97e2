//! `fencepost sweep`.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use lab::run::Pulse;
use lab::runner::{self, Performed};
use lab::store::Store;
use lab::study::{Chart, ChartPoint, PlannedRun, Study, StudyResults};
use lab::systems::Systems;
use serde_json::json;

use crate::Failure;
use crate::args::SweepArguments;
use crate::output::{AtInterrupt, WholeFile, remove_unfinished, write_json};
use crate::progress::Estimate;
use crate::table::{Side, Table, counted, grouped, plural};

/// The maximum number of rows of a table on the terminal.
const ROWS_SHOWN: usize = 40;

pub(crate) fn sweep(
    arguments: &SweepArguments,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<(), Failure> {
    let preparing = crate::progress::Progress::of_one("checking the combinations");
    let study = Study::load(&arguments.file, &Systems::default())?;
    drop(preparing);
    if arguments.dry_run {
        return if arguments.json { list_json(&study, out) } else { list(&study, out) };
    }
    let folder = match (&arguments.out, arguments.file.file_stem()) {
        (Some(folder), _) => folder.clone(),
        (None, stem) => PathBuf::from("results").join(stem.unwrap_or_default()),
    };
    let store = Store::open(&folder.join("runs"))?;
    // The store keeps other processes out, so these files have no owner.
    remove_unfinished(&folder).map_err(Failure::BadInput)?;
    if !arguments.json {
        writeln!(out, "{}\n{}\n", study.title, size(&study))?;
        out.flush()?;
    }
    let (performed, results) = perform(arguments, &study, &store, &folder)?;
    for notice in &performed.notices {
        writeln!(err, "fencepost: {notice}; its run was repeated")?;
    }
    write_reports(&results, &folder)?;
    drop(store);
    if arguments.json {
        write_json(out, &results)?;
    } else {
        results.charts.iter().try_for_each(|chart| show(chart, out))?;
        let (ran, found) = (counted(performed.ran, "run"), performed.found);
        writeln!(out, "{ran}, {found} found; reports and runs are in {}", folder.display())?;
    }
    let failures: Vec<String> = results.failures().collect();
    match (failures.is_empty(), performed.has_misfit) {
        (true, _) => Ok(()),
        (_, true) => Err(Failure::BadInput(failures.join("\n"))),
        (_, false) => Err(Failure::CheckFailed(failures.join("\n"))),
    }
}

/// The number of runs, and what they are combinations of.
fn size(study: &Study) -> String {
    let mut factors: Vec<String> =
        study.varied().map(|(_, axis)| format!("{} of {}", axis.values.len(), axis.name)).collect();
    if study.seeds.len() > 1 {
        factors.push(counted(study.seeds.len(), "seed"));
    }
    let all = counted(study.runs.len(), "run");
    let mut text = if factors.is_empty() { all } else { format!("{all}: {}", factors.join(", ")) };
    let tasks = study.tasks().len();
    if tasks < study.runs.len() {
        text += &format!("; {} differ", grouped(tasks as u64));
    }
    text
}

/// Lists the runs: the values in which they differ.
fn list(study: &Study, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "{}\n{}\n", study.title, size(study))?;
    let axes: Vec<(usize, &str)> = study.varied().map(|(at, axis)| (at, axis.name.as_str())).collect();
    let mut headings: Vec<(&str, Side)> = axes.iter().map(|(_, name)| (*name, Side::Left)).collect();
    headings.push(("seed", Side::Right));
    let mut table = Table::new(&headings);
    for run in &study.runs {
        let cells = axes.iter().map(|(axis, _)| study.value(run, *axis));
        table.row(cells.chain([run.task.experiment.seed.to_string()]));
    }
    Ok(table.write(out)?)
}

fn list_json(study: &Study, out: &mut dyn Write) -> Result<(), Failure> {
    let run = |run: &PlannedRun| {
        let of = |(at, axis): (usize, &lab::study::StudiedAxis)| {
            let value = run.place[at].map(|at| axis.values[at].clone());
            (axis.name.clone(), value.unwrap_or_default())
        };
        let mut values: serde_json::Map<_, _> = study.axes.iter().enumerate().map(of).collect();
        values.insert("seed".to_owned(), json!(run.task.experiment.seed));
        values
    };
    let runs: Vec<_> = study.runs.iter().map(run).collect();
    write_json(out, &json!({ "study": study.title, "axes": study.axes, "seeds": study.seeds, "runs": runs }))
}

/// Runs the tasks without stored results. If a signal ends the process, it prints how to continue.
fn perform(
    arguments: &SweepArguments,
    study: &Study,
    store: &Store,
    folder: &Path,
) -> Result<(Performed, StudyResults), Failure> {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let jobs = arguments.jobs.map_or(cores, NonZeroUsize::get);
    let pulse = Pulse::default();
    let estimate = Estimate::new(pulse.clone());
    let _at_interrupt = AtInterrupt::continues(estimate.state(), folder);
    let tasks = study.tasks();
    let performed = runner::perform_tasks(&tasks, store, jobs, &pulse, &|progress| estimate.tell(progress))?;
    let results = study.evaluate(&performed.results);
    Ok((performed, results))
}

fn write_reports(results: &StudyResults, folder: &Path) -> Result<(), Failure> {
    let write = |name: &str, fill: &dyn Fn(&mut WholeFile) -> Result<(), Failure>| {
        let mut file = WholeFile::create(&folder.join(name)).map_err(Failure::BadInput)?;
        fill(&mut file)?;
        file.commit().map_err(Failure::BadInput)
    };
    write("results.parquet", &|file| {
        let columns = lab::study::columns(results);
        lab::table::write(lab::table::Format::Parquet, &columns, file)
            .map_err(|why| Failure::BadInput(format!("cannot write {}: {why}", folder.display())))
    })?;
    write("results.json", &|file| write_json(file, results))?;
    write("report.html", &|file| Ok(file.write_all(lab::report::of_study(results).as_bytes())?))?;
    write("report.md", &|file| Ok(file.write_all(lab::study::study_report(results).as_bytes())?))
}

/// Prints the numbers of a chart.
fn show(chart: &Chart, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "{}: {}", chart.title, chart.unit)?;
    for figure in chart.figures.iter() {
        let at: Vec<String> =
            figure.at.iter().map(|(name, value)| format!("{name} {}", text(value))).collect();
        if !at.is_empty() {
            writeln!(out, "\n{}", at.join(", "))?;
        }
        let mut series: Vec<&str> = Vec::new();
        let mut positions: Vec<&serde_json::Value> = Vec::new();
        for point in &figure.points {
            if !series.contains(&point.series.as_str()) {
                series.push(&point.series);
            }
            if !positions.contains(&&point.x) {
                positions.push(&point.x);
            }
        }
        let mut headings = vec![(chart.x.as_str(), if chart.is_lines { Side::Right } else { Side::Left })];
        headings.extend(series.iter().map(|name| (*name, Side::Right)));
        let mut table = Table::new(&headings);
        for x in positions.iter().take(ROWS_SHOWN) {
            let of = |name: &&str| {
                let point = figure.points.iter().find(|point| point.series == *name && point.x == **x);
                point.map_or_else(|| "-".to_owned(), value)
            };
            table.row(std::iter::once(text(x)).chain(series.iter().map(of)));
        }
        table.write(out)?;
        if let Some(rest) = positions.len().checked_sub(ROWS_SHOWN).filter(|rest| *rest > 0) {
            writeln!(out, "and {} more {}", grouped(rest as u64), plural(rest as u64, "row"))?;
        }
    }
    Ok(writeln!(out)?)
}

/// A value of an axis: whole numbers with commas.
fn text(value: &serde_json::Value) -> String {
    match (value.as_u64(), value) {
        (Some(whole), _) => grouped(whole),
        (None, serde_json::Value::String(name)) => name.clone(),
        (None, other) => other.to_string(),
    }
}

/// The mean of a point, with half of its interval if there are several seeds.
fn value(point: &ChartPoint) -> String {
    let Some(value) = point.value else { return "-".to_owned() };
    let number = |number: f64| match number.abs() {
        size if size >= 1000.0 || number.fract() == 0.0 => grouped_real(number),
        _ => format!("{number:.3}"),
    };
    match value.high > value.low {
        true => format!("{} ± {}", number(value.mean), number(value.high - value.mean)),
        false => number(value.mean),
    }
}

fn grouped_real(number: f64) -> String {
    let sign = if number < -0.5 { "-" } else { "" };
    format!("{sign}{}", grouped(number.abs().round() as u64))
}
