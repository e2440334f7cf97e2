//! From the text of a machine description to a machine, or to the one
//! sentence that says what is wrong with it and where.

use std::path::Path;

use sim::config::{Problem, System};
use toml::de::{DeTable, DeValue};

use crate::error::{Error, printable};
use crate::place::Place;
use workloads::nearest::nearest;

/// Reads a machine. `path` is only for what an error says.
///
/// # Errors
/// The first thing that is wrong, with its line and column.
pub fn parse(path: &Path, text: &str) -> Result<System, Error> {
    let system: System = toml::from_str(text).map_err(|error| {
        let place = match error.span() {
            Some(span) => Place::of_byte(path, text, span.start),
            None => Place::whole(path),
        };
        Error::File { place, message: explain(error.message()) }
    })?;
    match system.problems().into_iter().next() {
        None => Ok(system),
        Some(problem) => {
            let place = match key_offset(text, &problem) {
                Some(offset) => Place::of_byte(path, text, offset),
                None => Place::whole(path),
            };
            let key =
                problem.key.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(".");
            Err(Error::File { place, message: format!("`{key}`: {}", problem.message) })
        }
    }
}

/// A description with another value under a key, as `l1.invalidate_cycles`.
/// The key must be there: a slip is no new parameter.
pub(crate) fn changed(text: &str, key: &str, value: &toml::Value) -> Result<String, String> {
    let mut table: toml::Table = toml::from_str(text).map_err(|error| explain(error.message()))?;
    replace(&mut table, key, value)?;
    toml::to_string(&table).map_err(|error| error.to_string())
}

fn replace(table: &mut toml::Table, key: &str, value: &toml::Value) -> Result<(), String> {
    let (part, rest) = key.split_once('.').map_or((key, None), |(part, rest)| (part, Some(rest)));
    let Some(old) = table.get_mut(part) else {
        let known: Vec<&String> = table.keys().collect();
        return Err(Error::unknown("parameter of the system", part, &known).to_string());
    };
    match (old, rest) {
        (toml::Value::Table(inner), Some(rest)) => replace(inner, rest, value),
        (toml::Value::Table(_), None) => Err(format!("`{part}` is a table, expected one of its values")),
        (_, Some(_)) => Err(format!("`{part}` is a value, expected a table")),
        (old, None) => {
            *old = value.clone();
            Ok(())
        }
    }
}

/// Where a problem's value stands.
fn key_offset(text: &str, problem: &Problem) -> Option<usize> {
    let document = DeTable::parse(text).ok()?;
    let mut table = document.into_inner();
    let (last, outer) = problem.key.split_last()?;
    for key in outer.iter().filter(|key| !key.is_empty()) {
        let DeValue::Table(inner) = table.remove(*key)?.into_inner() else { return None };
        table = inner;
    }
    table.get(*last).map(|value| value.span().start)
}

/// The reader's message as one printable line in the words of this program,
/// with the nearest key for a wrong one.
pub(crate) fn explain(message: &str) -> String {
    const CHARACTERS_MAX: usize = 1000;
    let line = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(", ");
    let line: String = line.chars().filter(|c| !c.is_control()).take(CHARACTERS_MAX).collect();
    let line = line
        .replace(" as i128", "")
        .replace("expected a nonzero u32", "expected a whole number from 1 to 4294967295")
        .replace("expected u32", "expected a whole number from 0 to 4294967295");
    let Some(rest) = line.strip_prefix("unknown field `") else { return line };
    let Some((wrong, known)) = rest.split_once("`, expected ") else { return line };
    let known: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
    match nearest(wrong, &known) {
        Some(near) => format!("unknown key `{}`, did you mean `{near}`?", printable(wrong)),
        None => format!("unknown key `{}`, expected one of {}", printable(wrong), known.join(", ")),
    }
}
