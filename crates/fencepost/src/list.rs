//! `fencepost list`.

use std::io::Write;

use lab::catalog;
use lab::systems::Systems;
use serde::Serialize;
use serde_json::{Value, json};

use crate::Failure;
use crate::args::{ListArguments, Subject};
use crate::output::write_json;
use crate::table::{Side, Table};

pub(crate) fn list(arguments: &ListArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let entries = match arguments.subject {
        Subject::Systems => systems(),
        Subject::Protocols => values(&catalog::protocols()),
        Subject::Scenarios => values(&catalog::scenarios()),
        Subject::Workloads => values(&catalog::workloads()),
        Subject::Models => values(&catalog::models()),
        Subject::Papers => values(&catalog::papers()?),
    };
    if arguments.json {
        return write_json(out, &entries);
    }
    let extra = match arguments.subject {
        Subject::Systems => ("file", "path"),
        Subject::Protocols => ("claims", "claim"),
        Subject::Scenarios => ("in full", "scenario"),
        Subject::Workloads => ("settings", "settings"),
        Subject::Models => ("claimed by", "claimed_by"),
        Subject::Papers => ("claims", "claims"),
    };
    let mut table = Table::new(&[("name", Side::Left), (extra.0, Side::Left), ("summary", Side::Left)]);
    for entry in &entries {
        table.row([text(&entry["name"]), text(&entry[extra.1]), text(&entry["summary"])]);
    }
    Ok(table.write(out)?)
}

fn systems() -> Vec<Value> {
    let entry = |listed: lab::systems::Listed| {
        let path = listed.path.map_or("built in".to_owned(), |path| path.display().to_string());
        json!({ "name": listed.name, "summary": listed.summary, "path": path })
    };
    Systems::default().list().into_iter().map(entry).collect()
}

fn values<T: Serialize>(entries: &[T]) -> Vec<Value> {
    entries.iter().map(|entry| serde_json::to_value(entry).unwrap_or(Value::Null)).collect()
}

/// A value as a cell.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(text).collect::<Vec<_>>().join(", "),
        // A setting of a workload.
        Value::Object(entry) => {
            let [name, default] = ["name", "default"].map(|key| entry.get(key).map_or(String::new(), text));
            format!("{name}={default}")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
