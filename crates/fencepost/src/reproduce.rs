//! The command `fencepost reproduce`, which runs the experiments of a paper and compares the
//! paper's claims with the results.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use lab::paper::{Paper, Plan, Request};
use lab::results::Results;
use lab::run::Pulse;
use lab::runner::{self, Outcome};
use lab::store::Store;
use lab::systems::Systems;

use crate::Failure;
use crate::args::ReproduceArguments;
use crate::output::{AtInterrupt, WholeFile, one_a_line, remove_unfinished, write_json};
use crate::progress::Estimate;
use crate::table::{Side, Table, counted, grouped};

/// The folder in which the user may have experiment files. They replace the built-in ones.
const OWN_EXPERIMENTS: &str = "experiments";

pub(crate) fn reproduce(
    arguments: &ReproduceArguments,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<(), Failure> {
    let own = Path::new(OWN_EXPERIMENTS).join(&arguments.paper);
    let folder = arguments.experiments.clone().or_else(|| own.is_dir().then_some(own));
    let paper = Paper::load(&arguments.paper, folder.as_deref(), &Systems::default())?;
    let request = Request {
        figures: arguments.figures.clone(),
        scale: arguments.scale.clone(),
        seeds: arguments.seeds,
        settings: arguments.parameters.clone(),
        graphs: arguments.graphs.clone(),
    };
    let plan = Plan::new(paper, &request)?;
    let folder = arguments.out.clone().unwrap_or_else(|| PathBuf::from("results").join(&arguments.paper));
    let store = Store::open(&folder.join("runs"))?;
    // The store keeps other processes out, so these files have no owner.
    remove_unfinished(&folder).map_err(Failure::BadInput)?;
    store.begin()?;
    let (outcome, results) = perform(arguments, &plan, &store, &folder)?;
    for notice in &outcome.notices {
        writeln!(err, "fencepost: {notice}; its run was repeated")?;
    }
    write_reports(&results, &folder)?;
    store.reports_written()?;
    drop(store);
    if arguments.json {
        write_json(out, &results)?;
    } else {
        show(&results, out)?;
        let (all, found) = (outcome.ran + outcome.found, grouped(outcome.found as u64));
        let (all, folder) = (counted(all, "run"), folder.display());
        writeln!(
            out,
            "\n{all}, {found} of them from earlier reproductions; reports and runs are in {folder}"
        )?;
    }
    let failures: Vec<String> = results.failures().collect();
    match (failures.is_empty(), outcome.has_misfit) {
        (true, _) => Ok(()),
        (_, true) => Err(Failure::BadInput(one_a_line(&failures))),
        (_, false) => Err(Failure::CheckFailed(one_a_line(&failures))),
    }
}

/// Runs those tasks of a plan (the runs of a reproduction) that have no stored result. If a signal
/// ends the process, the process prints how the user can continue.
fn perform(
    arguments: &ReproduceArguments,
    plan: &Plan,
    store: &Store,
    folder: &Path,
) -> Result<(Outcome, Results), Failure> {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let jobs = arguments.jobs.map_or(cores, NonZeroUsize::get);
    let pulse = Pulse::default();
    let estimate = Estimate::new(pulse.clone());
    let _at_interrupt = AtInterrupt::continues(estimate.state(), folder);
    let mut outcome = runner::perform(plan, store, jobs, &pulse, &|progress| estimate.update(progress))?;
    let results = plan.evaluate(std::mem::take(&mut outcome.rows));
    Ok((outcome, results))
}

fn write_reports(results: &Results, folder: &Path) -> Result<(), Failure> {
    let create = |name: &str| WholeFile::create(&folder.join(name)).map_err(Failure::BadInput);
    create("results.json")?.fill_json(results)?;
    create("report.html")?.fill(|file| file.write_all(lab::report::of_results(results).as_bytes()))?;
    create("report.md")?.fill(|file| file.write_all(lab::markdown::report(results).as_bytes()))
}

fn show(results: &Results, out: &mut dyn Write) -> Result<(), Failure> {
    let seeds = results.seeds.len();
    let mut what = vec![format!("scale {}", results.scale), counted(seeds, "seed")];
    what.extend(results.settings.iter().map(|(name, value)| format!("{name}={value}")));
    writeln!(out, "{}\n{}\n", results.title, what.join(", "))?;
    if results.claims.is_empty() {
        return Ok(writeln!(out, "The paper makes no claim about the selected figures.")?);
    }
    let mut table = Table::new(&[
        ("claim", Side::Left),
        ("published", Side::Right),
        ("measured", Side::Right),
        ("status", Side::Left),
    ]);
    for claim in &results.claims {
        let published = match &claim.published {
            serde_json::Value::String(_) => claim.kind.clone(),
            _ => claim.published_text(),
        };
        table.row([claim.id.clone(), published, claim.measured_text(), claim.status_text()]);
    }
    Ok(table.write(out)?)
}
