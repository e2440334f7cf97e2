//! The command `fencepost report`, which writes the HTML report of a reproduction or a sweep from
//! its results.

use std::io::Write;

use lab::results::Results;
use lab::store::Store;
use lab::study::StudyResults;
use serde::Deserialize;

use crate::Failure;
use crate::args::ReportArguments;
use crate::output::WholeFile;
use crate::suite::files;

/// The part of a results file that shows its kind. The results of a sweep have the key `study`, and
/// the results of a reproduction do not have it.
#[derive(Deserialize)]
struct Kind {
    study: Option<serde::de::IgnoredAny>,
}

pub(crate) fn report(arguments: &ReportArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let path = arguments.folder.join("results.json");
    let runs = arguments.folder.join("runs");
    let what = match path.exists() {
        false if runs.is_dir() => Some("no results.json"),
        true if Store::is_ahead_of_reports(&runs) => Some("an old results.json"),
        _ => None,
    };
    if let Some(what) = what {
        return Err(Failure::BadInput(format!(
            "{} has {what}, because the sweep or reproduction in it is unfinished: wait for its end, or repeat its \
             command, which continues with the missing runs",
            arguments.folder.display()
        )));
    }
    let text = files::read_table(&path).map_err(Failure::BadInput)?;
    let unreadable = |error: serde_json::Error| {
        let (line, column) = (error.line(), error.column());
        let full = error.to_string();
        let what = full.split(" at line ").next().unwrap_or_default();
        Failure::BadInput(format!(
            "{}:{line}:{column}: the file does not contain the results of a reproduction or a sweep: {what}",
            path.display()
        ))
    };
    let Kind { study } = serde_json::from_str(&text).map_err(unreadable)?;
    let page = match study {
        Some(_) => lab::report::of_study(&serde_json::from_str::<StudyResults>(&text).map_err(unreadable)?),
        None => lab::report::of_results(&serde_json::from_str::<Results>(&text).map_err(unreadable)?),
    };
    let to = arguments.html.clone().unwrap_or_else(|| arguments.folder.join("report.html"));
    let file = WholeFile::create(&to).map_err(Failure::BadInput)?;
    file.fill(|file| file.write_all(page.as_bytes()))?;
    Ok(writeln!(out, "{}", to.display())?)
}
