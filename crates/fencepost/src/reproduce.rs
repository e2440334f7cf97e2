//! The command `fencepost reproduce`, which runs the experiments of a paper and compares the
//! paper's claims with the results.

use std::borrow::Cow;
use std::fmt::Display;
use std::fs;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use lab::Recorded;
use lab::paper::{Paper, Plan, Request};
use lab::results::Results;
use lab::run::Pulse;
use lab::runner::{self, Outcome};
use lab::store::Store;
use lab::systems::Systems;

use crate::Failure;
use crate::args::ReproduceArguments;
use crate::clock;
use crate::output::{AtInterrupt, WholeFile, one_a_line, remove_unfinished, write_json};
use crate::progress::Estimate;
use crate::table::{Side, Table};
use crate::words::{counted, grouped};

/// The folder in which the user may have experiment files. They replace the built-in ones.
const OWN_EXPERIMENTS: &str = "experiments";

pub(crate) fn reproduce(
    arguments: &ReproduceArguments,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<(), Failure> {
    let own = Path::new(OWN_EXPERIMENTS).join(&arguments.paper);
    let experiments = arguments.experiments.clone().or_else(|| own.is_dir().then_some(own));
    let experiments = experiments.as_deref();
    let paper = Paper::load(&arguments.paper, experiments, &Systems::default())?;
    let request = Request {
        figures: arguments.figures.clone(),
        scale: arguments.scale.clone(),
        seeds: arguments.seeds,
        settings: arguments.parameters.clone(),
        graphs: arguments.graphs.clone(),
    };
    let plan = Plan::new(paper, &request)?;
    let folder = arguments.out.clone().unwrap_or_else(|| PathBuf::from("results").join(&arguments.paper));
    if let Some(record) = &arguments.record {
        check_record(record, &folder)?;
    }
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
    if let Some(record) = &arguments.record {
        let command = command(arguments, experiments, record);
        write_record(&Recorded::new(results.clone(), command, clock::today()), record)?;
    }
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
        if let Some(record) = &arguments.record {
            writeln!(out, "the record is {}; its page is {}", record.display(), page_of(record).display())?;
        }
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

/// Checks before the first run that the two files of a record can be written: the results as JSON,
/// and a page that shows them. They may not be in `folder` or below it, where they could replace
/// reports and runs. They may not replace a page that shows something else.
fn check_record(record: &Path, folder: &Path) -> Result<(), Failure> {
    let page = page_of(record);
    let refuse = |file: &Path, why: &str| {
        let file = file.display();
        Err(Failure::BadInput(format!("cannot write {file}: {why}")))
    };
    for file in [record, &page] {
        if is_below(file, folder) {
            let folder = folder.display();
            let why = format!("the folder {folder} is for runs and reports; choose another folder");
            return refuse(file, &why);
        }
        WholeFile::create(file).map_err(Failure::BadInput)?;
    }
    let name = name_of(record);
    match fs::read(&page) {
        Ok(text) if Recorded::is_page(&String::from_utf8_lossy(&text), &name) => Ok(()),
        Ok(_) => refuse(&page, &format!("the page exists, and does not show {name}; choose another name")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => refuse(&page, &format!("cannot read it: {error}")),
    }
}

/// Whether a file, or the file that it links to, is in a folder or below it. The file need not
/// exist. A folder that does not exist contains no file.
fn is_below(file: &Path, folder: &Path) -> bool {
    let Ok(folder) = fs::canonicalize(folder) else { return false };
    let file = Path::new(".").join(file);
    let is_there = |path: &Path| fs::canonicalize(path).is_ok_and(|path| path.starts_with(&folder));
    is_there(&file) || file.parent().is_some_and(is_there)
}

fn write_record(recorded: &Recorded, record: &Path) -> Result<(), Failure> {
    let bad = |what: String| Failure::BadInput(format!("{}: {what}", record.display()));
    let (name, page) = (name_of(record), page_of(record));
    let json = recorded.to_json().map_err(bad)?;
    // The page is made from the text of the file, so that both agree to the last digit.
    let recorded = Recorded::read(&json).map_err(bad)?;
    for (path, text) in [(record, &json), (&page, &recorded.page(&name))] {
        let file = WholeFile::create(path).map_err(Failure::BadInput)?;
        file.fill(|file| file.write_all(text.as_bytes()))?;
    }
    Ok(())
}

/// The name of the file with a record, without its folder.
fn name_of(record: &Path) -> Cow<'_, str> {
    record.file_name().unwrap_or_default().to_string_lossy()
}

/// The path of the page that shows the record of a reproduction (its results as a JSON file).
fn page_of(record: &Path) -> PathBuf {
    record.with_extension("md")
}

/// The command line that makes the record of a reproduction (its results as a JSON file), without
/// the options that have no effect on the record. `experiments` is the folder of experiment files
/// that replaced the built-in ones.
fn command(arguments: &ReproduceArguments, experiments: Option<&Path>, record: &Path) -> String {
    let mut words = format!("fencepost reproduce {}", quoted(&arguments.paper));
    let mut add = |option: &str, value: &dyn Display| {
        words.push_str(&format!(" {option} {}", quoted(&value.to_string())));
    };
    arguments.figures.iter().for_each(|figure| add("--figure", figure));
    arguments.scale.iter().for_each(|scale| add("--scale", scale));
    arguments.seeds.iter().for_each(|seeds| add("--seeds", seeds));
    arguments.parameters.iter().for_each(|(name, value)| add("--set", &format!("{name}={value}")));
    arguments.graphs.iter().for_each(|folder| add("--graphs", &folder.display()));
    experiments.iter().for_each(|folder| add("--experiments", &folder.display()));
    add("--record", &record.display());
    words
}

/// A word of a command line, in quotes if a shell could read the text in another way.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./=:,+@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn show(results: &Results, out: &mut dyn Write) -> Result<(), Failure> {
    let seeds = results.seeds.len();
    let mut what = vec![format!("scale {}", results.scale), counted(seeds, "seed")];
    what.extend(results.settings.iter().map(|(name, value)| format!("{name}={value}")));
    what.extend(results.stand_ins_text());
    writeln!(out, "{}\n{}\n", results.title, what.join(", "))?;
    if results.claims.is_empty() {
        return Ok(writeln!(out, "The paper makes no claim about the selected figures.")?);
    }
    let mut table = Table::new(&[
        ("claim", Side::Left),
        ("published", Side::Right),
        ("measured", Side::Right),
        ("status", Side::Left),
        ("other status on", Side::Left),
    ]);
    for claim in &results.claims {
        let published = match &claim.published {
            serde_json::Value::String(_) => claim.kind.clone(),
            _ => claim.published_text(),
        };
        let sensitivity = claim.sensitivity_text();
        table.row([claim.id.clone(), published, claim.measured_text(), claim.status_text(), sensitivity]);
    }
    Ok(table.write(out)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_a_shell_could_split_has_quotes() {
        assert_eq!(quoted("docs/results/hrf-1.json"), "docs/results/hrf-1.json");
        assert_eq!(quoted("scale=1/16"), "scale=1/16");
        assert_eq!(quoted("my results"), "'my results'");
        assert_eq!(quoted("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(quoted(""), "''");
    }
}
