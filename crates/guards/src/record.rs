//! The file with the reports of runs, which the page of results shows. A run of all source files takes
//! hours. So a run of some files adds its report to the file.

use std::path::Path;

use toml::{Table, Value};

use crate::report::Report;

/// The key of the list of reports.
const RUNS: &str = "runs";

/// Reads the reports in the file `path`. If the file does not exist, the list is empty.
///
/// # Errors
/// If the file cannot be read, or has another format.
pub fn read(path: &Path) -> Result<Vec<Value>, String> {
    match std::fs::read_to_string(path) {
        Ok(text) => runs(&text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error.to_string()),
    }
    .map_err(|why| format!("{}: {why}", path.display()))
}

/// The reports in the text of a file.
fn runs(text: &str) -> Result<Vec<Value>, String> {
    let mut file: Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let runs = file.remove(RUNS).unwrap_or_else(|| Value::Array(Vec::new()));
    match (runs, file.keys().next()) {
        (_, Some(key)) => Err(format!("unknown key `{key}`, expected only `{RUNS}`")),
        (Value::Array(runs), None) => Ok(runs),
        (_, None) => Err(format!("`{RUNS}` is not a list, expected a list of reports")),
    }
}

/// Adds a report to the file `path`, and creates the file if necessary. The report replaces the
/// report of the same files. A report of all files replaces all reports.
///
/// # Errors
/// If the file cannot be read or written, or has another format.
pub fn add(path: &Path, report: &Report) -> Result<(), String> {
    let refuse = |why: String| format!("{}: {why}", path.display());
    let text = with(read(path)?, report).map_err(refuse)?;
    // The new text is written to another file, which is then renamed. So the file is never
    // incomplete.
    let half = path.with_extension("part");
    std::fs::write(&half, text)
        .and_then(|()| std::fs::rename(&half, path))
        .map_err(|error| refuse(error.to_string()))
}

/// The text of a file with the reports `runs` and the added report.
fn with(mut runs: Vec<Value>, report: &Report) -> Result<String, String> {
    let added = Value::try_from(report).map_err(|error| error.to_string())?;
    let only = added.get("only").cloned();
    runs.retain(|run| !report.only.is_empty() && run.get("only") != only.as_ref());
    runs.push(added);
    let file: Table = [(RUNS.to_owned(), Value::Array(runs))].into_iter().collect();
    toml::to_string(&file).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(only: &[&str], tree: &str) -> Report {
        let only = only.iter().map(|&name| name.to_owned()).collect();
        Report { only, tree: tree.to_owned(), ..Report::default() }
    }

    /// The files and the tree of each report.
    fn summary(text: &str) -> Vec<(String, String)> {
        let runs = runs(text).expect("it is a record");
        runs.iter().map(|run| (run["only"].to_string(), run["tree"].to_string())).collect()
    }

    #[test]
    fn a_report_replaces_that_of_the_same_files() {
        let mut text = String::new();
        for (only, tree) in [(&["a"][..], "1"), (&["b", "c"], "2"), (&["a"], "3")] {
            text = with(runs(&text).expect("a record"), &report(only, tree)).expect("it is added");
        }
        let pair = |only: &str, tree: &str| (only.to_owned(), format!("\"{tree}\""));
        assert_eq!(summary(&text), [pair("[\"b\", \"c\"]", "2"), pair("[\"a\"]", "3")]);
        text = with(runs(&text).expect("a record"), &report(&[], "4")).expect("it is added");
        assert_eq!(summary(&text), [pair("[]", "4")]);
    }

    #[test]
    fn a_file_of_another_format_is_refused() {
        for bad in ["runs = 1", "runs = [", "digest = \"\"\n[[runs]]\n"] {
            assert!(runs(bad).is_err(), "{bad}");
        }
    }
}
