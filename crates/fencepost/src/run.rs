//! `fencepost run`.

use std::io::Write;
use std::path::Path;

use lab::Record;
use lab::experiment::{Experiment, Question};
use lab::run::{Pulse, Timeline};
use lab::systems::Systems;

use crate::Failure;
use crate::args::RunArguments;
use crate::clock::Stopwatch;
use crate::output::{WholeFile, write_json};
use crate::progress::Progress;
use crate::table::{Side, Table, bar, bytes, counted, energy, grouped};

/// Kernels shown one by one; more are summed up.
const KERNELS_SHOWN: usize = 12;

pub(crate) fn run(arguments: &RunArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let mut question = arguments.common.question();
    question.workload.clone_from(&arguments.workload);
    question.scenario = scenario(arguments);
    question.drop.clone_from(&arguments.drop);
    let mut record = perform(arguments, &question)?;
    if let (true, Some(why)) = (record.misfit, &record.error) {
        return Err(Failure::BadInput(why.clone()));
    }
    let failure = record.error.clone().filter(|_| !record.answer_ok);
    if arguments.common.json {
        write_json(out, &record)?;
    } else if failure.is_none() || !record.counters.is_empty() {
        record.error = None;
        show(&record, out)?;
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

fn perform(arguments: &RunArguments, question: &Question) -> Result<Record, Failure> {
    let preparing = Progress::of_one("reading the input");
    let experiment = Experiment::new(&Systems::default(), question)?;
    drop(preparing);
    let title = format!("{} on {}", question.workload, experiment.system.name);
    let watch = Stopwatch::start();
    let pulse = Pulse::default();
    let progress = Progress::of(title, pulse.clone());
    let mut record = match &arguments.perfetto {
        None => lab::run::run(&experiment, &mut pulse.clone())?,
        Some(path) => draw(&experiment, path)?,
    };
    drop(progress);
    record.wall_seconds = watch.seconds();
    Ok(record)
}

/// Runs with a time line, which is drawn of a failed run too.
fn draw(experiment: &Experiment, path: &Path) -> Result<Record, Failure> {
    let file = WholeFile::create(path).map_err(Failure::BadInput)?;
    let mut timeline = Timeline::new(file);
    let record = lab::run::run(experiment, &mut timeline)?;
    let file = timeline
        .finish()
        .map_err(|error| Failure::BadInput(format!("cannot write {}: {error}", path.display())))?;
    file.commit().map_err(Failure::BadInput)?;
    Ok(record)
}

fn show(record: &Record, out: &mut dyn Write) -> Result<(), Failure> {
    let settings: Vec<String> =
        record.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    writeln!(out, "{} on {} under {}", record.workload, record.system, record.protocol)?;
    if !settings.is_empty() {
        writeln!(out, "{}", settings.join(" "))?;
    }
    if let Some(graph) = &record.graph {
        let vertices = counted(graph.vertices as usize, "vertex");
        let arcs = counted(graph.arcs as usize, "arc");
        writeln!(out, "{}: {vertices}, {arcs}", graph.origin)?;
        for (count, what) in graph.repairs.iter() {
            writeln!(out, "repaired: {} {what}", grouped(count))?;
        }
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
    for (part, picojoules) in record.energy_pj.iter().filter(|(part, _)| **part != "total") {
        let share = if total > 0.0 { picojoules / total } else { 0.0 };
        table.row([(*part).to_owned(), energy(*picojoules), bar(share, 24)]);
    }
    writeln!(out)?;
    table.write(out)?;
    Ok(writeln!(out, "\nAll {} counters: --json", record.counters.len())?)
}
