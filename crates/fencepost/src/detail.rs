//! The command `fencepost list SUBJECT NAME`, which shows all details of one item.

use std::io::Write;

use lab::catalog;
use lab::systems::Systems;
use serde_json::{Value, json};

use crate::Failure;
use crate::args::{ListArguments, Subject};
use crate::output::write_json;
use crate::table::{Side, Table};
use crate::words::grouped;

/// The maximum width of the tables of `fencepost list`, in characters.
pub(crate) const COLUMNS: usize = 100;

/// Prints the details of the item with this name.
pub(crate) fn detail(
    arguments: &ListArguments,
    name: &str,
    entries: &[Value],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let names: Vec<String> = entries.iter().map(|entry| text(&entry["name"])).collect();
    let Some(at) = names.iter().position(|known| known == name) else {
        return Err(lab::Error::unknown(what(arguments.subject), name, &names).into());
    };
    let mut entry = entries[at].clone();
    if arguments.json {
        match arguments.subject {
            Subject::Systems => entry["parameters"] = parameters(name)?,
            Subject::Papers => entry["statements"] = json!(catalog::claims_of(name)?),
            _ => {}
        }
        return write_json(out, &entry);
    }
    // The details of a machine are the text of its file, so that the user can copy and change it.
    if arguments.subject == Subject::Systems {
        return Ok(write!(out, "{}", Systems::default().text(name)?)?);
    }
    let mut head = Table::new(&[("", Side::Left)]).without_heading();
    head.row([format!("{name}: {}", text(&entry["summary"]))]);
    head.within(COLUMNS).write(out)?;
    writeln!(out)?;
    facts(&entry).within(COLUMNS).write(out)?;
    for table in tables(arguments.subject, name, &entry)? {
        writeln!(out)?;
        table.within(COLUMNS).write(out)?;
    }
    Ok(())
}

fn what(subject: Subject) -> &'static str {
    match subject {
        Subject::Systems => "system",
        Subject::Protocols => "protocol",
        Subject::Scenarios => "scenario",
        Subject::Workloads => "workload",
        Subject::Models => "model",
        Subject::Papers => "paper",
    }
}

fn parameters(name: &str) -> Result<Value, Failure> {
    let system = Systems::default().load(name)?;
    Ok(serde_json::to_value(system).unwrap_or(Value::Null))
}

/// A table of those values of an item that are single texts or numbers. Each value has a label.
fn facts(entry: &Value) -> Table {
    const FACTS: [(&str, &str); 9] = [
        ("source", "origin"),
        ("room", "room"),
        ("purpose", "purpose"),
        ("protocol", "protocol"),
        ("policy", "policy"),
        ("scenario", "in full"),
        ("claim", "claims"),
        ("claimed_by", "claimed by"),
        ("claims", "claims"),
    ];
    let mut table = Table::new(&[("", Side::Left), ("", Side::Left)]).without_heading();
    for (key, name) in FACTS {
        let value = entry.get(key).map_or(String::new(), text);
        if !value.is_empty() {
            table.row([name.to_owned(), value]);
        }
    }
    mappings(entry, &mut table);
    if let Some(has) = entry["experiments"].as_bool() {
        let name = text(&entry["name"]);
        let how = if has { format!("fencepost reproduce {name}") } else { "none yet".to_owned() };
        table.row(["experiments".to_owned(), how]);
    }
    table
}

/// Adds a row for each claimed model of a protocol: how operations of the model are mapped to
/// requests of the protocol.
fn mappings(protocol: &Value, table: &mut Table) {
    let mappings = protocol["mappings"].as_array().into_iter().flatten().map(text);
    let claims = text(&protocol["claim"]);
    for (number, (claim, mapping)) in claims.split(", ").zip(mappings).enumerate() {
        let label = if number == 0 { "mapping" } else { "" };
        table.row([label.to_owned(), format!("{claim}: {mapping}")]);
    }
}

fn tables(subject: Subject, name: &str, entry: &Value) -> Result<Vec<Table>, Failure> {
    let list = |key: &str| entry[key].as_array().cloned().unwrap_or_default();
    let mut tables = Vec::new();
    match subject {
        Subject::Workloads => {
            tables.push(settings("--set", &list("settings")));
            tables.push(sizes(&list("sizes")));
            let inputs = list("inputs");
            if !inputs.is_empty() {
                let mut table = Table::new(&[("--input", Side::Left), ("meaning", Side::Left)]);
                inputs.iter().for_each(|input| table.row([text(&input["name"]), text(&input["summary"])]));
                tables.push(table);
            }
        }
        Subject::Protocols => {
            let declared = list("settings");
            tables.extend((!declared.is_empty()).then(|| settings(&format!("[protocol.{name}]"), &declared)));
        }
        Subject::Papers => {
            let mut table = Table::new(&[("claim", Side::Left), ("where", Side::Left), ("says", Side::Left)]);
            catalog::claims_of(name)?.into_iter().for_each(|c| table.row([c.id, c.place, c.says]));
            tables.push(table);
        }
        _ => {}
    }
    Ok(tables)
}

/// A table of the sizes of a workload, with the settings that each size changes.
fn sizes(sizes: &[Value]) -> Table {
    let mut table = Table::new(&[("--size", Side::Left), ("settings", Side::Left)]);
    for size in sizes {
        let settings = size["settings"].as_object().into_iter().flatten();
        let settings: Vec<String> = settings.map(|(name, value)| format!("{name}={}", text(value))).collect();
        let settings = if settings.is_empty() { "the defaults".to_owned() } else { settings.join(" ") };
        table.row([text(&size["name"]), settings]);
    }
    table
}

/// A table of the settings of an item. `place` is the heading above the names. It says where a user
/// gives the settings.
fn settings(place: &str, settings: &[Value]) -> Table {
    let left = Side::Left;
    let columns = [(place, left), ("default", left), ("range or choices", left), ("meaning", left)];
    let mut table = Table::new(&columns);
    for setting in settings {
        let range = setting["range"].as_array().map(|range| {
            range.iter().map(|end| grouped(end.as_u64().unwrap_or(0))).collect::<Vec<_>>().join(" to ")
        });
        let cells = ["name", "default"].map(|key| text(&setting[key]));
        let choices = setting["choices"].as_array().cloned().unwrap_or_default();
        let range = range.unwrap_or_else(|| format!("{} choices:", choices.len()));
        table.row(cells.into_iter().chain([range, text(&setting["meaning"])]));
        for (at, choice) in choices.iter().enumerate() {
            let meaning = text(&setting["choice_meanings"][at]);
            table.row([String::new(), String::new(), text(choice), meaning]);
        }
    }
    if settings.is_empty() {
        table.row(["none".to_owned()]);
    }
    table
}

/// The text of a JSON value for a cell of a table. An array becomes a list with commas, and null an
/// empty text.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(text).collect::<Vec<_>>().join(", "),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
