//! Suites of tests: a [`Judge`] judges any test under one model, and a table lists the
//! expected answers.
//!
//! A line of a table is `file,1` or `file,0`. `file` is the path of a test, relative to the table.
//! The answer (1 for yes, 0 for no) says whether the test's condition is met, or whether the test
//! is race-free. Each table answers one of these two questions.

mod answer;
mod judge;

pub use answer::Answer;
pub use judge::{Judge, Method};

use crate::parse::{Place, TextError};

/// One line of a table of expected answers: a test and its expected answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// The path of the test, relative to the table.
    pub file: String,
    /// The expected answer.
    pub expected: bool,
    /// The number of the line in the table.
    pub line: u32,
}

/// The question that all answers of one table answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Whether the test's condition is met.
    Verdict,
    /// Whether the test is race-free.
    RaceFree,
}

/// The result of comparing an answer with the expected answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// The answer is equal to the expected answer.
    Match,
    /// The answer differs from the expected answer.
    Mismatch,
    /// The search was incomplete, so the answer is not certain.
    Undecided,
}

/// Reads a table of expected answers. Skips empty lines, lines that begin with `#`, and a first
/// line of titles.
///
/// # Errors
/// Returns an error for the first line that does not consist of a file and an answer.
pub fn expectations(table: &str) -> Result<Vec<Expectation>, TextError> {
    let mut list = Vec::new();
    for (index, line) in table.lines().enumerate() {
        let number = index as u32 + 1;
        let line = line.trim();
        let title = index == 0 && line.to_ascii_lowercase().replace(' ', "").starts_with("file,");
        if line.is_empty() || line.starts_with('#') || title {
            continue;
        }
        let place = Place { line: number, column: 1 };
        let Some((file, answer)) = line.rsplit_once(',') else {
            return Err(TextError::expected(place, format!("`{line}`"), "a file, a comma and `1` or `0`"));
        };
        let column = file.chars().count() as u32 + 2;
        let expected = match answer.trim().to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" => true,
            "0" | "false" | "no" => false,
            other => {
                let place = Place { line: number, column };
                return Err(TextError::expected(place, format!("`{other}`"), "`1` or `0`"));
            }
        };
        let file = file.trim().trim_matches('"').to_owned();
        list.push(Expectation { file, expected, line: number });
    }
    Ok(list)
}

/// Compares an answer with the expected one.
#[must_use]
pub fn compare(answer: &Answer<'_>, question: Question, expected: bool) -> Comparison {
    let (found, decided) = match question {
        Question::Verdict => (answer.verdict(), answer.is_decided()),
        // If an incomplete search has found a race, a complete search finds it too.
        Question::RaceFree => (!answer.has_race(), answer.is_complete() || answer.has_race()),
    };
    match (decided, found == expected) {
        (true, true) => Comparison::Match,
        (true, false) => Comparison::Mismatch,
        (false, _) => Comparison::Undecided,
    }
}

/// Whether `name` is the file name of a litmus test: it ends in `.litmus`.
#[must_use]
pub fn is_test_file(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && end.eq_ignore_ascii_case("litmus"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_line_by_line() {
        let list = expectations("file,verdict\n# SB\na/SB.litmus,1\n\n\"MP,2.litmus\",0\n").expect("a table");
        let lines: Vec<_> = list.iter().map(|e| (e.file.as_str(), e.expected, e.line)).collect();
        assert_eq!(lines, [("a/SB.litmus", true, 3), ("MP,2.litmus", false, 5)]);
    }

    #[test]
    fn a_bad_line_is_named_with_its_column() {
        let error = expectations("a.litmus,1\nb.litmus,maybe\n").expect_err("not an answer");
        assert_eq!(error.to_string(), "line 2, column 10: found `maybe`, expected `1` or `0`");
        let error = expectations("a.litmus").expect_err("no answer");
        assert_eq!(
            error.to_string(),
            "line 1, column 1: found `a.litmus`, expected a file, a comma and `1` or `0`"
        );
    }

    #[test]
    fn only_litmus_files_are_tests() {
        assert!(is_test_file("SB.litmus") && is_test_file("dir/x.LITMUS"));
        assert!(!is_test_file(".litmus") && !is_test_file("SB.cat") && !is_test_file("litmus"));
    }
}
