//! Reads the text of a machine description. The result is the machine, or an error: one sentence
//! with the first fault and its place.

use core::ops::Range;
use std::path::Path;

use sim::config::System;
use toml::de::{DeTable, DeValue};

use crate::catalog::{self, Declared};
use crate::error::{Error, printable};
use crate::place::Place;
use workloads::nearest::nearest;

/// Reads a machine description. Errors name the file by `path`.
///
/// # Errors
/// If the description has a fault. The error describes the first fault, with its line and column.
pub fn parse(path: &Path, text: &str) -> Result<System, Error> {
    let protocols: Vec<Declared> = catalog::declared();
    parse_for(path, text, &protocols)
}

/// Reads a machine description. The description may contain settings of the protocols in
/// `protocols`.
///
/// # Errors
/// If the description has a fault. The error describes the first fault, with its line and column.
pub fn parse_for(path: &Path, text: &str, protocols: &[Declared]) -> Result<System, Error> {
    let system: System = toml::from_str(text).map_err(|error| {
        let Some(span) = error.span() else {
            return Error::File { place: Place::whole(path), message: explain(error.message()) };
        };
        let place = Place::of_byte(path, text, span.start);
        let message = misfit(text, span, error.message()).unwrap_or_else(|| explain(error.message()));
        Error::File { place, message }
    })?;
    let refuse = |path_in_file: &[String], message: String| {
        let place = match key_offset(text, path_in_file) {
            Some(offset) => Place::of_byte(path, text, offset),
            None => Place::whole(path),
        };
        Err(Error::File { place, message })
    };
    if system.name.trim().is_empty() {
        return refuse(
            &["name".to_owned()],
            "`name`: found an empty name, expected one with letters".to_owned(),
        );
    }
    match fault(&system, protocols) {
        Some((path, message)) => refuse(&path, message),
        None => Ok(system),
    }
}

/// Finds the first fault of a machine: an impossible value, or a wrong setting of a protocol.
/// Returns the path of the faulty parameter in the machine file, and a sentence. `None` if the
/// machine has no fault.
pub(super) fn fault(system: &System, protocols: &[Declared]) -> Option<(Vec<String>, String)> {
    if let Some(problem) = system.problems().into_iter().next() {
        let message = format!("`{}`: {}", problem.key(), problem.message);
        return Some((problem.path, message));
    }
    for (name, given) in &system.protocol {
        let path = |key: &str| ["protocol", name, key].map(str::to_owned).to_vec();
        let Some((_, declared)) = protocols.iter().find(|(known, _)| known == name) else {
            let known: Vec<&str> = protocols.iter().map(|(known, _)| *known).collect();
            return Some((path("")[..2].to_vec(), Error::unknown("protocol", name, &known).to_string()));
        };
        let known: Vec<&str> = declared.iter().map(|setting| setting.name).collect();
        if let Some(wrong) = given.keys().find(|key| !known.contains(&key.as_str())) {
            let message = match known.is_empty() {
                true => format!("unknown key `{}`: protocol `{name}` has no settings", printable(wrong)),
                false => Error::unknown("setting of the protocol", wrong, &known).to_string(),
            };
            return Some((path(wrong), message));
        }
        if let Some(problem) = system.wrong_settings(name, declared).into_iter().next() {
            let message = format!("`{}`: {}", problem.key(), problem.message);
            return Some((problem.path, message));
        }
    }
    None
}

/// The error for a value that must be one of several names or tables. The TOML reader lists the
/// expected names only if it finds a wrong name. So this function replaces the value by a wrong
/// name and runs the reader again. `None` if `message`, the reader's message, reports another kind
/// of error.
pub(super) fn misfit(text: &str, span: Range<usize>, message: &str) -> Option<String> {
    let found = text.get(span.clone())?.trim();
    let complaint = |value: &str| {
        let changed = [&text[..span.start], value, &text[span.end..]].concat();
        toml::from_str::<System>(&changed).err().map(|error| error.message().to_owned())
    };
    let expected = if message == "invalid type: unit variant, expected struct variant" {
        let name = found.trim_matches(['"', '\'']);
        format!("a table as `{}`", example(&format!("{{ {name} = {{"), "} }", &complaint))
    } else if message.contains("expected struct variant") {
        format!("a table as `{}`", example("{", "}", &complaint))
    } else if message.starts_with("wanted ") {
        complaint("\"?\"")?.split_once("expected ")?.1.to_owned()
    } else {
        return None;
    };
    Some(format!("found `{}`, expected {expected}", printable(found)))
}

/// The text of an example table with all keys that the TOML reader requires. The function
/// `complaint` runs the reader on the text of a table and returns the error of the reader.
fn example(open: &str, close: &str, complaint: &dyn Fn(&str) -> Option<String>) -> String {
    const KEYS_MAX: usize = 8;
    let mut keys: Vec<String> = Vec::new();
    loop {
        let table = format!("{open} {} {close}", keys.join(", "));
        let missing = complaint(&table).filter(|_| keys.len() < KEYS_MAX);
        let key = missing.as_deref().and_then(|text| text.strip_prefix("missing field `"));
        match key {
            Some(key) => keys.push(format!("{} = 1", key.trim_end_matches('`'))),
            None => return table,
        }
    }
}

/// The offset, in bytes, of a faulty parameter in `text`. `path` lists the keys from the outermost
/// table to the parameter. `None` if `text` has no such parameter.
fn key_offset(text: &str, path: &[String]) -> Option<usize> {
    let document = DeTable::parse(text).ok()?;
    let mut table = document.into_inner();
    let (last, outer) = path.split_last()?;
    let mut outer = outer.iter();
    while let Some(key) = outer.next() {
        let mut value = table.remove(key.as_str())?.into_inner();
        if let DeValue::Array(items) = value {
            let at: usize = outer.next()?.parse().ok()?;
            value = items.into_iter().nth(at)?.into_inner();
        }
        let DeValue::Table(inner) = value else { return None };
        table = inner;
    }
    table.get(last.as_str()).map(|value| value.span().start)
}

/// The message of the TOML reader as one printable line, in the words of this program. For an
/// unknown key it names the nearest known key.
pub(crate) fn explain(message: &str) -> String {
    const CHARACTERS_MAX: usize = 1000;
    let line = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(", ");
    let line: String = line.chars().filter(|c| !c.is_control()).take(CHARACTERS_MAX).collect();
    let line = WORDS.iter().fold(line, |line, (theirs, ours)| line.replace(theirs, ours));
    let (wrong, known) = if let Some(rest) = line.strip_prefix("unknown field `") {
        let Some((wrong, known)) = rest.split_once("`, expected ") else { return line };
        (wrong, known.split('`').skip(1).step_by(2).collect::<Vec<_>>())
    } else if let Some(rest) = line.strip_prefix("unexpected keys in table: ") {
        let Some((wrong, known)) = rest.split_once(", available keys: ") else { return line };
        (wrong, known.split(", ").collect())
    } else {
        return line;
    };
    match nearest(wrong, &known) {
        Some(near) => format!("unknown key `{}`, did you mean `{near}`?", printable(wrong)),
        None => format!("unknown key `{}`, expected one of {}", printable(wrong), known.join(", ")),
    }
}

/// Phrases in the messages of the TOML reader, each with the phrase that replaces it. The
/// replacements are made in this order.
const WORDS: [(&str, &str); 15] = [
    (" as i128", ""),
    ("expected a nonzero u32", "expected a whole number from 1 to 4294967295"),
    ("expected u32", "expected a whole number from 0 to 4294967295"),
    ("invalid type: ", "found "),
    ("invalid value: ", "found "),
    ("found string \"", "found the text \""),
    ("found integer `", "found the number `"),
    ("found floating point `", "found the number `"),
    ("found boolean `", "found `"),
    ("found sequence,", "found a list,"),
    ("found map,", "found a table,"),
    ("expected a string", "expected a text in quotes"),
    ("expected a sequence", "expected a list"),
    ("missing field `", "missing key `"),
    ("unknown variant `", "unknown value `"),
];
