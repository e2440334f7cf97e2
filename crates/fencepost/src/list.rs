//! The command `fencepost list`, which prints a table of all items of one kind.

use std::io::Write;

use lab::catalog;
use lab::systems::Systems;
use serde::Serialize;
use serde_json::{Value, json};

use crate::Failure;
use crate::args::{ListArguments, Subject};
use crate::detail::{COLUMNS, detail, text};
use crate::output::write_json;
use crate::table::{Side, Table};
use crate::words::counted;

pub(crate) fn list(arguments: &ListArguments, out: &mut dyn Write) -> Result<(), Failure> {
    if let (Subject::Workloads, None, false) = (arguments.subject, &arguments.name, arguments.json) {
        return Ok(workloads().within(COLUMNS).write(out)?);
    }
    let entries = match arguments.subject {
        Subject::Systems => systems(),
        Subject::Protocols => values(&catalog::protocols()),
        Subject::Scenarios => values(&catalog::scenarios()),
        Subject::Workloads => values(&catalog::workloads()),
        Subject::Models => values(&catalog::models()),
        Subject::Papers => values(&catalog::papers()?),
    };
    if let Some(name) = &arguments.name {
        return detail(arguments, name, &entries, out);
    }
    if arguments.json {
        return write_json(out, &entries);
    }
    let heading = if arguments.subject == Subject::Papers { "claims" } else { "origin" };
    let mut table = Table::new(&[("name", Side::Left), ("summary", Side::Left), (heading, Side::Left)]);
    for entry in &entries {
        table.row([text(&entry["name"]), text(&entry["summary"]), origin(entry)]);
    }
    Ok(table.within(COLUMNS).write(out)?)
}

/// A table of the workloads, grouped by subject (`room`). Each subject has a line of its own,
/// followed by the indented lines of its workloads.
fn workloads() -> Table {
    let mut table = Table::new(&[("name", Side::Left), ("summary", Side::Left), ("origin", Side::Left)]);
    let mut room = "";
    for workload in catalog::workloads() {
        if workload.room != room {
            room = workload.room;
            table.row([room.to_owned(), format!("{}:", workload.room_summary)]);
        }
        let name = format!("  {}", workload.name);
        table.row([name, workload.summary.to_owned(), first_part(workload.source)]);
    }
    table
}

fn systems() -> Vec<Value> {
    let entry = |listed: lab::systems::SystemEntry| {
        let path = listed.path.map_or("built in".to_owned(), |path| path.display().to_string());
        json!({ "name": listed.name, "summary": listed.summary, "source": listed.source, "path": path })
    };
    Systems::default().list().into_iter().map(entry).collect()
}

fn values<T: Serialize>(entries: &[T]) -> Vec<Value> {
    entries.iter().map(|entry| serde_json::to_value(entry).unwrap_or(Value::Null)).collect()
}

/// The source of an item, in a few words. For an item from a user's file, the source is the path of
/// the file. For a paper, the text is the number of the paper's claims instead.
fn origin(entry: &Value) -> String {
    if let Some(claims) = entry["claims"].as_u64() {
        let experiments = if entry["experiments"] == true { ", with experiments" } else { "" };
        return counted(claims as usize, "claim") + experiments;
    }
    match entry["path"].as_str() {
        Some(path) if path != "built in" => path.to_owned(),
        _ => first_part(&text(&entry["source"])),
    }
}

/// The first part of the text `source`: everything before the first comma, semicolon or bracket.
fn first_part(source: &str) -> String {
    source.split([',', ';', '(']).next().unwrap_or_default().trim().to_owned()
}
