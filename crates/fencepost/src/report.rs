//! `fencepost report`.

use std::io::Write;

use lab::results::Results;

use crate::Failure;
use crate::args::ReportArguments;
use crate::output::WholeFile;
use crate::suite::files;

pub(crate) fn report(arguments: &ReportArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let path = arguments.folder.join("results.json");
    let text = files::read_table(&path).map_err(Failure::BadInput)?;
    let results: Results = serde_json::from_str(&text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let full = error.to_string();
        let what = full.split(" at line ").next().unwrap_or_default();
        Failure::BadInput(format!(
            "{}:{line}:{column}: the file does not contain the results of a reproduction: {what}",
            path.display()
        ))
    })?;
    let to = arguments.html.clone().unwrap_or_else(|| arguments.folder.join("report.html"));
    let mut file = WholeFile::create(&to).map_err(Failure::BadInput)?;
    file.write_all(lab::report::of_results(&results).as_bytes())?;
    file.commit().map_err(Failure::BadInput)?;
    Ok(writeln!(out, "{}", to.display())?)
}
