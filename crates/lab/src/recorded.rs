//! The recorded results of a reproduction: a JSON file, and the page that shows it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::markdown;
use crate::results::Results;

/// The maximum length of a line that contains an object or an array, in bytes.
const WIDTH: usize = 160;

/// The results of a reproduction, without the results of the single runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    /// The command line that made the record.
    pub command: String,
    /// The day on which the record was made (UTC), such as `2026-01-31`.
    pub date: String,
    /// The version of Fencepost that made the record.
    pub version: String,
    /// The number of runs.
    pub runs: usize,
    /// Descriptions of the runs without a right answer, one text for each run.
    pub failures: Vec<String>,
    /// The results of the reproduction. Two parts are left out, so these lists are empty: the rows
    /// (the results of single runs), and the parameters of each variant of a machine.
    pub results: Results,
}

impl Recorded {
    /// The record of the results that the command line `command` made on the day `date`.
    #[must_use]
    pub fn new(mut results: Results, command: String, date: String) -> Recorded {
        let (runs, failures) = (results.rows.len(), results.failures().collect());
        results.rows.clear();
        results.variants.iter_mut().for_each(|variant| variant.parameters.clear());
        Recorded { command, date, version: env!("CARGO_PKG_VERSION").to_owned(), runs, failures, results }
    }

    /// Reads a file of recorded results.
    ///
    /// # Errors
    /// If the text is not the JSON of recorded results. The error has the line.
    pub fn read(text: &str) -> Result<Recorded, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// The text of a JSON file with the record.
    ///
    /// # Errors
    /// If JSON cannot express the record. The error is a sentence.
    pub fn to_json(&self) -> Result<String, String> {
        let value = serde_json::to_value(self).map_err(|error| error.to_string())?;
        let mut text = String::new();
        write(&mut text, &value, 0);
        text.push('\n');
        Ok(text)
    }

    /// The first line below the title of each page that shows a record. `file` is the name of the
    /// file with the record.
    fn mark(file: &str) -> String {
        format!("<!-- Rendered from {file}: FENCEPOST_BLESS=1 cargo test --test fencepost_tests docs -->")
    }

    /// Whether a text is a page that shows a record in the file with the name `file`.
    #[must_use]
    pub fn is_page(text: &str, file: &str) -> bool {
        let first = text.lines().skip(1).find(|line| !line.is_empty());
        first.is_some_and(|line| line == Recorded::mark(file))
    }

    /// The page that shows the record. `file` is the name of the file with the record, in the
    /// folder of the page.
    #[must_use]
    pub fn page(&self, file: &str) -> String {
        let Recorded { command, date, version, results, .. } = self;
        format!(
            "# {}\n\n{}\n\n\
             Fencepost {version} made these results on {date} (UTC) with this command:\n\n    {command}\n\n\
             The file [{file}]({file}) contains the same data.\n\n{}",
            results.title,
            Recorded::mark(file),
            markdown::body(results, self.runs, &self.failures)
        )
    }
}

/// Adds a value as JSON to a text. An object or an array that is too long for one line has one line
/// or more for each of its entries, indented by `depth + 1` spaces.
fn write(text: &mut String, value: &Value, depth: usize) {
    let line = value.to_string();
    let is_short = depth + line.len() <= WIDTH;
    let entries: Vec<(String, &Value)> = match value {
        Value::Object(object) if !is_short => {
            let key = |name: &str| format!("{}: ", Value::from(name));
            object.iter().map(|(name, entry)| (key(name), entry)).collect()
        }
        Value::Array(array) if !is_short => array.iter().map(|entry| (String::new(), entry)).collect(),
        _ => return text.push_str(&line),
    };
    let (open, close) = if value.is_object() { ('{', '}') } else { ('[', ']') };
    text.push(open);
    for (at, (key, entry)) in entries.into_iter().enumerate() {
        text.push_str(if at == 0 { "\n" } else { ",\n" });
        text.push_str(&" ".repeat(depth + 1));
        text.push_str(&key);
        write(text, entry, depth + 1);
    }
    text.push('\n');
    text.push_str(&" ".repeat(depth));
    text.push(close);
}
