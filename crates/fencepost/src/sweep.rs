//! The command `fencepost sweep`, which runs a study: every combination of the values in the user's
//! file.

mod charts;
mod cluster;

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lab::run::Pulse;
use lab::runner::{self, Performed};
use lab::store::Store;
use lab::study::{PlannedRun, Study, StudyResults};
use lab::systems::Systems;
use serde_json::json;

use crate::Failure;
use crate::args::{ClusterKind, SweepArguments};
use crate::output::{AtInterrupt, WholeFile, one_a_line, remove_unfinished, write_json};
use crate::progress::Estimate;
use crate::table::{Side, Table};
use crate::words::{counted, grouped};

/// The time between two looks at the cluster's queue while the command waits for jobs that are
/// about to end.
const PAUSE: Duration = Duration::from_millis(200);

pub(crate) fn sweep(
    arguments: &SweepArguments,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<(), Failure> {
    if let Some(chunk) = &arguments.chunk {
        return cluster::work(arguments, chunk, out);
    }
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
    // The store keeps other processes out of the folder, so no running process is writing these
    // files.
    remove_unfinished(&folder).map_err(Failure::BadInput)?;
    store.begin()?;
    if !arguments.json {
        writeln!(out, "{}\n{}\n", study.title, size(&study))?;
        out.flush()?;
    }
    let performed = match arguments.on {
        Some(ClusterKind::Slurm) => cluster::perform(arguments, &study, &store, &folder, out)?,
        None => perform(arguments, &study, &store, &folder)?,
    };
    let results = study.evaluate(&performed.results);
    for notice in &performed.notices {
        writeln!(err, "fencepost: {notice}; its run was repeated")?;
    }
    write_reports(&results, &folder)?;
    store.reports_written()?;
    // All results exist, so the jobs that remain are not needed.
    if !lab::cluster::finish(&folder, PAUSE) {
        let rest = "the jobs of an earlier `--on slurm` may still run, and Slurm does not answer here";
        writeln!(
            err,
            "fencepost: {rest}; to cancel these jobs, run the same sweep with `--on slurm` on the cluster"
        )?;
    }
    drop(store);
    if arguments.json {
        write_json(out, &results)?;
    } else {
        let has_intervals = results.seeds.len() > 1;
        results.charts.iter().try_for_each(|chart| charts::show(chart, has_intervals, out))?;
        let (all, found) = (performed.ran + performed.found, grouped(performed.found as u64));
        let (all, folder) = (counted(all, "run"), folder.display());
        writeln!(out, "{all}, {found} of them from earlier sweeps; reports and runs are in {folder}")?;
    }
    let failures: Vec<String> = results.failures().collect();
    match (failures.is_empty(), performed.has_misfit) {
        (true, _) => Ok(()),
        (_, true) => Err(Failure::BadInput(one_a_line(&failures))),
        (_, false) => Err(Failure::CheckFailed(one_a_line(&failures))),
    }
}

/// A text with the number of runs of a study. A run is a combination of a value of each axis
/// (varied parameter) and a seed. The text also has the number of values of each axis and the
/// number of seeds.
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

/// Prints a list of the runs of a study. The list has only those axes (parameters of the study) on
/// which the runs differ.
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

/// Runs the tasks that have no stored result on this computer. If a signal ends the process, the
/// process prints how the user can continue.
fn perform(
    arguments: &SweepArguments,
    study: &Study,
    store: &Store,
    folder: &Path,
) -> Result<Performed, Failure> {
    // Jobs of a cluster may have written results for this folder. They are moved into the store.
    lab::cluster::adopt(folder, store)?;
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let jobs = arguments.jobs.map_or(cores, NonZeroUsize::get);
    let pulse = Pulse::default();
    let estimate = Estimate::new(pulse.clone());
    let _at_interrupt = AtInterrupt::continues(estimate.state(), folder);
    let tasks = study.tasks();
    Ok(runner::perform_tasks(&tasks, store, jobs, &pulse, &|progress| estimate.update(progress))?)
}

fn write_reports(results: &StudyResults, folder: &Path) -> Result<(), Failure> {
    let create = |name: &str| WholeFile::create(&folder.join(name)).map_err(Failure::BadInput);
    let columns = lab::study::columns(results);
    create("results.parquet")?.fill(|file| {
        lab::table::write(lab::table::Format::Parquet, &columns, file).map_err(io::Error::other)
    })?;
    create("results.json")?.fill_json(results)?;
    create("report.html")?.fill(|file| file.write_all(lab::report::of_study(results).as_bytes()))?;
    create("report.md")?.fill(|file| file.write_all(lab::study::study_report(results).as_bytes()))
}
