//! Reads and judges one test, compares it with the expectations, and formats
//! the result.

use std::time::Duration;

use litmus::parse::{Macros, hash, parse_with};
use litmus::suite::{Answer, Comparison, Judge, Question, compare};
use serde_json::{Value, json};

use super::files::{Expected, Test, read_text};
use crate::args::LitmusArguments;
use crate::clock::Deadline;

/// The result of a test for printing, and its contribution to the summary.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// The result of the test. It is either JSON, or text in the format of herd, followed by
    /// explanations if there are any.
    pub(super) text: String,
    /// An execution of the test as a graph in the DOT language. `None` if the user does not request
    /// it.
    pub(super) dot: Option<String>,
    /// The reason why the test could not be checked. `None` if it was checked.
    pub(super) broken: Option<String>,
    /// The reason why the check of the test is incomplete. `None` if the check covered all
    /// executions.
    pub(super) incomplete: Option<String>,
    /// Messages about differences between the results and the expected answers, one for each
    /// difference.
    pub(super) unexpected: Vec<String>,
    /// The number of answers that the tables of expectations give for this test.
    pub(super) expectations: usize,
    /// Whether the test's condition is met, or, for liveness, whether all its executions end.
    /// `None` if the check was not able to decide.
    pub(super) verdict: Option<bool>,
    pub(super) race: bool,
}

/// The conditions that end a check early.
pub(super) struct Limits<'a> {
    pub(super) timeout: Option<Duration>,
    pub(super) interrupted: &'a (dyn Fn() -> bool + Sync),
}

/// Checks a test. If `single` is true, the result shows the first race of the test even without
/// `--explain`.
pub(super) fn check(
    test: &Test,
    judge: &Judge,
    macros: &Macros,
    arguments: &LitmusArguments,
    limits: &Limits<'_>,
    single: bool,
) -> Outcome {
    let file = test.path.display().to_string();
    if (limits.interrupted)() {
        return not_begun(&file, judge, arguments.json);
    }
    let deadline = Deadline::after(limits.timeout);
    let mut stop = || (limits.interrupted)() || deadline.passed();
    let mut found = match examine(test, &file, judge, macros, arguments, &mut stop, single) {
        Ok(found) => found,
        Err(reason) => return broken(&file, judge, arguments.json, reason),
    };
    if found.stopped {
        let cause = match limits.timeout {
            Some(limit) if !(limits.interrupted)() => format!("the limit of {} s", limit.as_secs_f64()),
            _ => String::from("interrupted"),
        };
        found.outcome.incomplete.iter_mut().for_each(|bound| *bound = format!("{bound} ({cause})"));
        found.block.push_str(&format!("Stopped {cause}\n"));
        if let (Value::Object(entry), Some(bound)) = (&mut found.json, &found.outcome.incomplete) {
            entry.insert(String::from("bound"), Value::from(bound.as_str()));
        }
    }
    let incomplete = &mut found.outcome.incomplete;
    *incomplete = incomplete.take().map(|bound| format!("{file}: the check is incomplete: {bound}"));
    found.outcome.text = if arguments.json { pretty(&found.json) } else { found.block + &found.explanation };
    found.outcome
}

/// The results of a check, before the program considers whether the check was stopped early.
struct Findings {
    outcome: Outcome,
    block: String,
    explanation: String,
    json: Value,
    stopped: bool,
}

fn examine(
    test: &Test,
    file: &str,
    judge: &Judge,
    macros: &Macros,
    arguments: &LitmusArguments,
    stop: &mut dyn FnMut() -> bool,
    single: bool,
) -> Result<Findings, String> {
    if let Some(trouble) = &test.trouble {
        return Err(trouble.clone());
    }
    let text = match &test.text {
        Some(text) => text.clone(),
        None => read_text(&test.path)?,
    };
    let program = parse_with(&text, macros).map_err(|error| error.in_file(file).to_string())?;
    // If the error is in a file of the model, it already names this file.
    let misfit = |error: litmus::parse::TextError| match &error.file {
        Some(model) if model != file => format!("{file}: {error}"),
        _ => error.in_file(file).to_string(),
    };
    let mut stopped = false;
    let mut stop = || {
        stopped = stopped || stop();
        stopped
    };
    let answer = judge.judge(&program, &text, &mut stop).map_err(misfit)?;
    let mut outcome = Outcome {
        verdict: Some(answer.verdict()),
        race: answer.has_race(),
        incomplete: answer.bound(),
        ..Outcome::default()
    };
    expect(&mut outcome, &answer, test.expected, file);
    let mut json = if arguments.json { answer.json(file) } else { Value::Null };
    let mut add = |key: &str, value: Value| {
        if let Value::Object(entry) = &mut json {
            entry.insert(key.to_owned(), value);
        }
    };
    if let Some(expected) = test.expected.verdict {
        add("expected", Value::from(expected));
    }
    if let Some(expected) = test.expected.race_free {
        add("expected_race_free", Value::from(expected));
    }
    let mut explanation = String::new();
    if arguments.explain {
        explanation = answer.explanation(&mut stop).map_err(misfit)?;
    } else if single {
        explanation = answer.races();
    }
    add("explanation", Value::from(explanation.as_str()));
    if arguments.advise
        && let Some((words, value, complete)) =
            answer.advice(&mut stop).map_err(|error| format!("{file}: {error}"))?
    {
        add("advice", value);
        explanation.push_str(&words);
        if !complete {
            outcome.incomplete.get_or_insert_with(|| String::from("the search for scope advice was stopped"));
        }
    }
    if arguments.dot.is_some() {
        outcome.dot = Some(answer.dot(&mut stop).map_err(misfit)?);
    }
    if stopped {
        outcome.incomplete.get_or_insert_with(|| String::from("the check was stopped before the end"));
        add("complete", Value::from(false));
    }
    if !explanation.is_empty() {
        explanation.insert(0, '\n');
    }
    let hash = hash(&text, &program);
    add("hash", Value::from(hash.as_str()));
    Ok(Findings {
        block: format!("{}Hash={hash}\n", answer.herd_block()),
        outcome,
        explanation,
        json,
        stopped,
    })
}

/// Compares the answer about a test with the answers that the tables of expectations give.
fn expect(outcome: &mut Outcome, answer: &Answer<'_>, expected: Expected, file: &str) {
    let mut compare = |question: Question, expected: Option<bool>, words: [&str; 2]| {
        let Some(expected) = expected else { return };
        outcome.expectations += 1;
        let [yes, no] = if expected { words } else { [words[1], words[0]] };
        match compare(answer, question, expected) {
            Comparison::Match => {}
            Comparison::Mismatch => outcome.unexpected.push(format!("{file}: expected {yes}, found {no}")),
            Comparison::Undecided => outcome.unexpected.push(format!(
                "{file}: expected {yes}, but the check did not decide it: {}",
                answer.bound().unwrap_or_default()
            )),
        }
    };
    let words = if answer.is_liveness() {
        ["that all executions end", "an execution that goes on for ever"]
    } else {
        ["that the condition is met", "that the condition is not met"]
    };
    compare(Question::Verdict, expected.verdict, words);
    compare(Question::RaceFree, expected.race_free, ["no race", "a race"]);
    // If the check decided all expected answers, it does not matter that the check is incomplete.
    if outcome.expectations > 0 && outcome.unexpected.is_empty() {
        outcome.incomplete = None;
    }
}

fn broken(file: &str, judge: &Judge, json: bool, reason: String) -> Outcome {
    let text = if json {
        let mut entry = blank(file, judge, "the test could not be checked");
        entry["error"] = Value::from(reason.as_str());
        pretty(&entry)
    } else {
        String::new()
    };
    Outcome { text, broken: Some(reason), ..Outcome::default() }
}

fn not_begun(file: &str, judge: &Judge, json: bool) -> Outcome {
    let bound = "the check was not started, because of an interrupt";
    let text = if json { pretty(&blank(file, judge, bound)) } else { String::new() };
    Outcome { text, ..Outcome::default() }
}

/// The JSON object for a test without a verdict. It has the same keys as the object for a test with
/// a verdict.
fn blank(file: &str, judge: &Judge, bound: &str) -> Value {
    json!({
        "file": file,
        "test": null,
        "model": judge.name(),
        "condition": null,
        "verdict": null,
        "states": [],
        "races": [],
        "complete": false,
        "bound": bound,
    })
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
