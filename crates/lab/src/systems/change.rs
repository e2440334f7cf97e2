//! Changes of single parameters of a machine, such as `l1.bytes=32768`.
//!
//! A change is made in the machine's description. Then the description is read like a machine file,
//! so a changed value is checked exactly like a value in a file.

use core::fmt;

use serde::{Serialize, Serializer};
use sim::config::System;
use workloads::nearest::nearest;

use super::read::{explain, fault, misfit};
use super::{Source, Systems};
use crate::catalog;
use crate::error::{Error, printable};

/// The keys of a machine description that do not affect a run. They cannot be changed.
const DESCRIPTIVE: [&str; 3] = ["name", "summary", "source"];

/// The paths of parameters whose value is a table.
pub(crate) const TABLES: [&str; 1] = ["noc.topology"];

/// A new value for one parameter of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The path of the parameter in the machine file, such as `l1.bytes`. For a parameter of a
    /// cache level other than the L1s and the L2, the path contains `level` and the name of the
    /// level, as in `level.l3.bytes`. For one of a memory-side cache, the path begins with
    /// `memory_side` in the same way.
    pub key: String,
    /// The new value of the parameter.
    pub value: toml::Value,
}

impl Change {
    /// Creates a change from a path and a text. The text is a TOML value, a whole number with the
    /// suffix `k` (times 1024) or `m` (times 1024 * 1024), or a name without quotes.
    #[must_use]
    pub fn parse(key: &str, text: &str) -> Change {
        Change { key: key.to_owned(), value: value_of(text) }
    }

    /// The new value as text. If the value is a name, the text has no quotes.
    #[must_use]
    pub fn value_text(&self) -> String {
        text_of(&self.value)
    }
}

impl fmt::Display for Change {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}={}", printable(&self.key), printable(&self.value_text()))
    }
}

/// The changes of a machine's parameters. In JSON, they are one object: each change is an entry
/// with the path and the new value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes(pub Vec<Change>);

impl Changes {
    /// Creates the changes from pairs of a path and a value, as the user wrote them on the command
    /// line.
    #[must_use]
    pub fn parse(pairs: &[(String, String)]) -> Changes {
        Changes(pairs.iter().map(|(key, text)| Change::parse(key, text)).collect())
    }

    /// Returns true if there are no changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The name of the machine, followed by the changes if there are any. For messages.
    #[must_use]
    pub fn after(&self, system: &str) -> String {
        match self.is_empty() {
            true => system.to_owned(),
            false => format!("{system} with {self}"),
        }
    }
}

impl fmt::Display for Changes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> = self.0.iter().map(Change::to_string).collect();
        out.write_str(&all.join(" "))
    }
}

impl Serialize for Changes {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|change| (&change.key, &change.value)))
    }
}

/// The reason why a machine cannot be loaded with changes.
#[derive(Clone, Debug, PartialEq)]
pub enum ChangeError {
    /// The machine cannot be loaded even without the changes.
    Machine(Error),
    /// A change is impossible, or several changes are impossible together.
    Change {
        /// The index of the change that is at fault. `None` if only several changes together are
        /// impossible.
        at: Option<usize>,
        /// The description of the fault, as a sentence.
        message: String,
    },
}

impl From<ChangeError> for Error {
    fn from(error: ChangeError) -> Error {
        match error {
            ChangeError::Machine(error) => error,
            ChangeError::Change { message, .. } => Error::Impossible(message),
        }
    }
}

impl Systems {
    /// Loads a machine by its name or its file, and changes some of its parameters.
    ///
    /// # Errors
    /// If the machine cannot be loaded (see [`Systems::load`]), if a parameter is unknown, if a
    /// value is not allowed for its parameter, or if values cannot be combined.
    pub fn load_changed(&self, name: &str, changes: &[Change]) -> Result<System, ChangeError> {
        let Source { path, text } = self.source(name).map_err(ChangeError::Machine)?;
        let system = super::parse(&path, &text).map_err(ChangeError::Machine)?;
        if changes.is_empty() {
            return Ok(system);
        }
        let impossible = |at: Option<usize>, message: String| ChangeError::Change { at, message };
        let table: toml::Table =
            toml::from_str(&text).map_err(|error| impossible(None, explain(error.message())))?;
        let mut all = table.clone();
        for (at, change) in changes.iter().enumerate() {
            if let Some(first) = changes[..at].iter().find(|other| other.key == change.key) {
                let (key, first, second) = (printable(&change.key), first.value_text(), change.value_text());
                let [first, second] = [first, second].map(|text| printable(&text));
                return Err(impossible(
                    Some(at),
                    format!("`{key}` is set twice, to `{first}` and to `{second}`"),
                ));
            }
            // Each change is first checked alone, so that an error is certainly about this change.
            let mut one = table.clone();
            let read = insert(&mut one, &change.key, &change.value).and_then(|()| read(&one, change));
            read.map_err(|error| impossible(Some(at), error.message(&system, change)))?;
            insert(&mut all, &change.key, &change.value)
                .map_err(|error| impossible(Some(at), error.message(&system, change)))?;
        }
        let text = toml::to_string(&all).map_err(|error| impossible(None, error.to_string()))?;
        let changed: System =
            toml::from_str(&text).map_err(|error| impossible(None, explain(error.message())))?;
        match fault(&changed, &catalog::declared()) {
            None => Ok(changed),
            Some((path, message)) => {
                let key = named(&changed, &path);
                let at = changes.iter().position(|change| change.key == key);
                let message = match at {
                    Some(_) => message,
                    None => format!("with {}, {message}", list(changes)),
                };
                Err(impossible(at, message))
            }
        }
    }
}

fn list(changes: &[Change]) -> String {
    changes.iter().map(|change| format!("`{change}`")).collect::<Vec<_>>().join(" and ")
}

/// The reason why one change of a machine parameter is refused.
enum Refusal {
    /// The machine has no such parameter.
    Unknown,
    /// The path names a cache level or a memory-side cache that the machine does not have.
    NoLevel {
        /// The list of tables that the path names: `level` or `memory_side`.
        list: String,
        /// The name of the level or cache.
        name: String,
    },
    /// The path names a table of parameters, not a single parameter.
    Table,
    /// The value is not allowed for the parameter. The field is the error message.
    Value(String),
}

impl Refusal {
    fn message(self, system: &System, change: &Change) -> String {
        let (machine, key) = (printable(&system.name), printable(&change.key));
        match self {
            Refusal::Value(message) => format!("`{change}`: {message}"),
            Refusal::NoLevel { list, name } => {
                let known = names(system, &list);
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                let kind = if list == "level" { "level" } else { "memory-side cache" };
                let name = printable(&name);
                format!("machine `{machine}` has no {kind} `{name}` under `{list}`; it has {known}")
            }
            Refusal::Table => {
                let inside = beside(system, &format!("{}.", change.key));
                format!("`{key}` of machine `{machine}` is a group of parameters, expected one of {inside}")
            }
            Refusal::Unknown => {
                let known = keys(system);
                let near = match nearest(&change.key, &known) {
                    Some(near) => format!(", did you mean `{near}`? There are: "),
                    None => "; there are: ".to_owned(),
                };
                format!("machine `{machine}` has no parameter `{key}`{near}{}", beside(system, &change.key))
            }
        }
    }
}

/// Every single parameter of a machine, in tables at any depth: its path and its value. Keys that
/// only describe the machine are left out.
pub(crate) fn parameters(system: &System) -> Vec<(String, toml::Value)> {
    let mut all = Vec::new();
    if let Ok(toml::Value::Table(table)) = toml::Value::try_from(system) {
        flatten("", table, &mut all);
    }
    all.retain(|(key, _)| !DESCRIPTIVE.contains(&key.as_str()));
    all
}

fn keys(system: &System) -> Vec<String> {
    parameters(system).into_iter().map(|(key, _)| key).collect()
}

fn flatten(path: &str, table: toml::Table, into: &mut Vec<(String, toml::Value)>) {
    for (key, value) in table {
        let path = if path.is_empty() { key } else { format!("{path}.{key}") };
        match value {
            toml::Value::Table(inner) => flatten(&path, inner, into),
            toml::Value::Array(tables) => {
                for table in tables {
                    let toml::Value::Table(table) = table else { continue };
                    let name = table.get("name").and_then(toml::Value::as_str).unwrap_or_default();
                    flatten(&format!("{path}.{name}"), table.clone(), into);
                }
            }
            value => into.push((path, value)),
        }
    }
}

/// The paths of the parameters in the table that `key` belongs to, for a message. If the machine
/// has no such table, the names of all tables.
fn beside(system: &System, key: &str) -> String {
    let all = keys(system);
    let table = key.rsplit_once('.').map_or("", |(table, _)| table);
    let inside: Vec<&str> = all
        .iter()
        .filter(|key| !table.is_empty() && key.starts_with(&format!("{table}.")))
        .map(String::as_str)
        .collect();
    if !inside.is_empty() {
        return inside.join(", ");
    }
    let mut tables: Vec<String> = Vec::new();
    for key in &all {
        let shown = key.split_once('.').map_or(key.clone(), |(table, _)| format!("{table}.*"));
        if !tables.contains(&shown) {
            tables.push(shown);
        }
    }
    tables.join(", ")
}

/// Sets the value of the parameter with the path `key` in a machine description. If a table on the
/// path is missing, the function adds the table. The reader of machine files later refuses a table
/// that no machine has.
fn insert(table: &mut toml::Table, key: &str, value: &toml::Value) -> Result<(), Refusal> {
    if DESCRIPTIVE.contains(&key) {
        return Err(Refusal::Unknown);
    }
    let Some((part, rest)) = key.split_once('.') else {
        table.insert(key.to_owned(), value.clone());
        return Ok(());
    };
    let missing = |name: &str| Refusal::NoLevel { list: part.to_owned(), name: name.to_owned() };
    if ["level", "memory_side"].contains(&part) && !table.contains_key(part) {
        return Err(missing(rest.split('.').next().unwrap_or(rest)));
    }
    match table.entry(part).or_insert_with(|| toml::Value::Table(toml::Table::new())) {
        toml::Value::Table(inner) => insert(inner, rest, value),
        // The key selects one of several tables by its name.
        toml::Value::Array(tables) => {
            let (name, rest) = rest.split_once('.').ok_or(Refusal::Unknown)?;
            let is_named =
                |table: &toml::Value| table.get("name").and_then(toml::Value::as_str) == Some(name);
            match tables.iter_mut().find(|table| is_named(table)) {
                Some(toml::Value::Table(inner)) => insert(inner, rest, value),
                _ => Err(missing(name)),
            }
        }
        _ => Err(Refusal::Unknown),
    }
}

/// Checks that a machine description with one change can be read as a machine.
fn read(table: &toml::Table, change: &Change) -> Result<(), Refusal> {
    let text = toml::to_string(table).map_err(|error| Refusal::Value(error.to_string()))?;
    let Err(error) = toml::from_str::<System>(&text) else { return Ok(()) };
    let message = error.message();
    let is_table = table.get(change.key.as_str()).is_some() || change.value.is_table();
    // The key belongs to another form of the parameter. For example, the key is the number of
    // columns of a mesh, but the network is a crossbar.
    let is_other_form = message.starts_with("wanted ") && change.key.matches('.').count() > 1;
    if is_other_form {
        return Err(Refusal::Unknown);
    }
    if message.starts_with("unknown field") {
        // If the new value is a table, the unknown key may be inside it.
        return Err(match change.value.is_table() {
            true => Refusal::Value(explain(message)),
            false => Refusal::Unknown,
        });
    }
    if message.contains("expected struct ") && is_table {
        return Err(Refusal::Table);
    }
    let misfit = error.span().and_then(|span| misfit(&text, span, message));
    Err(Refusal::Value(misfit.unwrap_or_else(|| explain(message))))
}

/// The path of a faulty parameter as text. Machine files have a list of the cache levels other than
/// the L1s and the L2, and a list of memory-side caches, so `path` may have an index in such a list.
/// The text has the name of the level or cache instead.
fn named(system: &System, path: &[String]) -> String {
    let mut path = path.to_vec();
    if let [first, at, ..] = &mut path[..]
        && let Some(name) = at.parse().ok().and_then(|at: usize| names(system, first).into_iter().nth(at))
    {
        name.clone_into(at);
    }
    path.join(".")
}

/// The names of the tables in a list of a machine description: cache levels or memory-side caches.
/// Empty for other paths.
fn names<'a>(system: &'a System, list: &str) -> Vec<&'a str> {
    match list {
        "level" => system.levels.iter().map(|level| level.name.as_str()).collect(),
        "memory_side" => system.memory_side.iter().map(|cache| cache.name.as_str()).collect(),
        _ => Vec::new(),
    }
}

/// The number that a text such as `32k` denotes. The suffix is `k` (1024) or `m` (1024 * 1024).
/// `None` for other texts.
pub(crate) fn suffixed(text: &str) -> Option<toml::Value> {
    let (digits, factor) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1 << 10),
        None => (text.strip_suffix(['m', 'M'])?, 1 << 20),
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    let number: i64 = digits.replace('_', "").parse().ok().filter(|_| is_number)?;
    number.checked_mul(factor).map(toml::Value::Integer)
}

/// The TOML value that a text from the command line denotes.
fn value_of(text: &str) -> toml::Value {
    let text = text.trim();
    if let Some(number) = suffixed(text) {
        return number;
    }
    let name = || toml::Value::String(text.to_owned());
    if text.contains(['\n', '\r']) {
        return name();
    }
    match toml::from_str::<toml::Table>(&format!("value = {text}")) {
        Ok(mut table) if table.len() == 1 => table.remove("value").unwrap_or_else(name),
        _ => name(),
    }
}

/// A TOML value as text. If the value is a name, the text has no quotes.
pub(crate) fn text_of(value: &toml::Value) -> String {
    match value {
        toml::Value::String(name) => name.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(changes: &[(&str, &str)]) -> Result<System, String> {
        let changes: Vec<Change> = changes.iter().map(|(key, text)| Change::parse(key, text)).collect();
        let systems = Systems::with_folder("no such folder");
        systems.load_changed("hlrc-8cu", &changes).map_err(|error| Error::from(error).to_string())
    }

    #[test]
    fn a_changed_parameter_has_the_value_that_a_file_would_give_it() {
        let text = include_str!("../../../../systems/hlrc-8cu.toml");
        let file = |from: &str, to: &str| {
            super::super::parse("f".as_ref(), &text.replacen(from, to, 1)).map_err(|e| e.to_string())
        };
        for text in ["32768", "32k", " 32_768 ", "0x8000"] {
            assert_eq!(load(&[("l1.bytes", text)]), file("bytes = 16384", "bytes = 32768"));
        }
        assert_eq!(load(&[("cu.scheduler", "round-robin")]), file("\"oldest-first\"", "\"round-robin\""));
        assert_eq!(load(&[("energy.lds_pj", "0.5")]), file("lds_pj = 2.8194", "lds_pj = 0.5"));
        let torus = "{ torus = { columns = 2, rows = 4 } }";
        assert_eq!(load(&[("noc.topology", torus)]), file("{ mesh = { columns = 2, rows = 4 } }", torus));
        assert_eq!(load(&[("noc.topology.mesh.rows", "8")]), file("rows = 4", "rows = 8"));
        // The changed parameter is one that the file leaves out.
        assert_eq!(load(&[("pages.bytes", "64k")]), file("[cu]", "[pages]\nbytes = 65536\n[cu]"));
        assert_eq!(load(&[]), file("name", "name"));
    }

    #[test]
    fn values_are_checked_together() {
        let mesh = "{ mesh = { columns = 4, rows = 4 } }";
        assert_eq!(load(&[("cu.count", "16"), ("noc.topology", mesh)]).unwrap().cu.count, 16);
        let alone = load(&[("cu.count", "16")]).unwrap_err();
        assert_eq!(
            alone,
            "with `cu.count=16`, `noc.topology`: a network of 8 nodes, expected at least 16, one for each \
             compute unit"
        );
        assert!(load(&[("l1.bytes", "100")]).unwrap_err().starts_with("`l1.bytes`: an L1 of 100 bytes"));
        assert!(load(&[("l1.bytes", "1k"), ("l1.ways", "16")]).is_ok());
    }

    #[test]
    fn an_unknown_parameter_names_the_nearest_one_and_those_of_its_table() {
        let error = load(&[("l1.byts", "5")]).unwrap_err();
        assert!(
            error.starts_with(
                "machine `hlrc-8cu` has no parameter `l1.byts`, did you mean `l1.bytes`? There are: l1.bytes, "
            ) && error.contains("l1.ways") && !error.contains("l2.ways"),
            "{error}"
        );
        let error = load(&[("turbo", "1")]).unwrap_err();
        assert!(error.contains("no parameter `turbo`; there are: chiplets, clock_mhz, cu.*, "), "{error}");
        assert!(load(&[("clock_mhz.x", "1")]).unwrap_err().contains("no parameter `clock_mhz.x`"));
        assert!(load(&[("name", "mine")]).unwrap_err().contains("no parameter `name`"));
        assert!(load(&[("", "1")]).unwrap_err().contains("no parameter ``"));
        let level = load(&[("level.l4.bytes", "64")]).unwrap_err();
        assert!(level.contains("no level `l4` under `level`; it has none"), "{level}");
        let cache = load(&[("memory_side.l3.bytes", "64")]).unwrap_err();
        assert!(cache.contains("no memory-side cache `l3` under `memory_side`; it has none"), "{cache}");
        let ports = load(&[("noc.topology.crossbar.ports", "8")]).unwrap_err();
        assert!(ports.contains("no parameter `noc.topology.crossbar.ports`"), "{ports}");
        let table = load(&[("l1", "5")]).unwrap_err();
        assert!(
            table
                .starts_with("`l1` of machine `hlrc-8cu` is a group of parameters, expected one of l1.bytes")
        );
    }

    #[test]
    fn a_memory_side_cache_is_changed_by_its_name() {
        let load = |key: &str, text: &str| {
            let systems = Systems::with_folder("no such folder");
            let changed = systems.load_changed("mttop", &[Change::parse(key, text)]);
            changed.map_err(|error| Error::from(error).to_string())
        };
        assert_eq!(load("memory_side.l2.bytes", "0").unwrap().memory_side[0].bytes, 0);
        assert_eq!(load("level.directory.lines", "2048").unwrap().levels[0].lines, Some(2048));
        let error = load("memory_side.l2.bytes", "1000").unwrap_err();
        assert!(
            error.contains("`memory_side.l2.bytes=1000`") || error.contains("`memory_side.0.bytes`"),
            "{error}"
        );
        let error = load("memory_side.l9.bytes", "0").unwrap_err();
        assert_eq!(error, "machine `mttop` has no memory-side cache `l9` under `memory_side`; it has l2");
    }

    #[test]
    fn a_value_of_a_wrong_type_or_range_is_named_with_the_expected_one() {
        let error = |key, text| load(&[(key, text)]).unwrap_err();
        assert_eq!(
            error("cu.count", "many"),
            "`cu.count=many`: found the text \"many\", expected a whole number from 1 to 4294967295"
        );
        assert!(error("cu.count", "0").contains("`cu.count=0`: found the number `0`, expected a whole"));
        assert!(error("l1.write_policy", "thru").contains("unknown value `thru`"));
        assert!(error("noc.topology", "torus").contains("expected a table as `{ torus = {"));
        assert!(error("protocol.vii.x", "1").contains("did you mean `vi`?"));
        let hostile = error("cu.count", "\"a\nb\u{1b}[2J\"");
        assert!(!hostile.chars().any(char::is_control), "{hostile:?}");
    }

    #[test]
    fn a_parameter_is_changed_once() {
        let error = load(&[("l1.ways", "8"), ("l1.ways", "4")]).unwrap_err();
        assert_eq!(error, "`l1.ways` is set twice, to `8` and to `4`");
    }
}
