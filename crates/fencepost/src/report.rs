//! `fencepost report`.

use std::fs;
use std::io::Write;

use lab::results::Results;

use crate::Failure;
use crate::args::ReportArguments;
use crate::output::WholeFile;

pub(crate) fn report(arguments: &ReportArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let path = arguments.folder.join("results.json");
    let text = fs::read_to_string(&path)
        .map_err(|error| Failure::BadInput(format!("cannot read {}: {error}", path.display())))?;
    let results: Results = serde_json::from_str(&text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let full = error.to_string();
        let what = full.split(" at line ").next().unwrap_or_default();
        Failure::BadInput(format!(
            "{}:{line}:{column}: not the results of a reproduction: {what}",
            path.display()
        ))
    })?;
    let to = arguments.html.clone().unwrap_or_else(|| arguments.folder.join("report.html"));
    let mut file = WholeFile::create(&to).map_err(Failure::BadInput)?;
    file.write_all(lab::report::of_results(&results).as_bytes())?;
    file.commit().map_err(Failure::BadInput)?;
    Ok(writeln!(out, "{}", to.display())?)
}
