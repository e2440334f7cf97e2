//! Converts the results of a study to a table with one row for each run.

use std::collections::BTreeSet;

use serde_json::Value;

use super::results::{StudyResults, StudyRow, plain};
use crate::table::{Column, Values};

/// The columns of the file `results.parquet`. A value is null if the column does not apply to the
/// run, for example if the column is a setting that the run's workload does not have.
#[must_use]
pub fn columns(results: &StudyResults) -> Vec<Column> {
    let rows = &results.rows;
    let text =
        |name: &str, of: &dyn Fn(&StudyRow) -> String| Column::text(name, rows.iter().map(of).collect());
    let mut columns = vec![text("system", &|row| row.system.clone())];
    if rows.iter().any(|row| row.variant.is_some()) {
        columns.push(text("variant", &|row| row.variant.clone().unwrap_or_default()));
    }
    for key in names(rows, |row| row.machine.keys()) {
        let values: Vec<Option<Value>> = rows.iter().map(|row| row.machine.get(key).cloned()).collect();
        columns.push(Column { name: format!("machine.{key}"), values: typed(values) });
    }
    columns.push(text("scenario", &|row| row.scenario.clone()));
    columns.push(text("protocol", &|row| row.protocol.clone()));
    columns.push(text("policy", &|row| row.policy.clone()));
    columns.push(text("workload", &|row| row.workload.clone()));
    if rows.iter().any(|row| row.input.is_some()) {
        columns.push(text("input", &|row| row.input.clone().unwrap_or_default()));
    }
    for name in names(rows, |row| row.settings.keys()) {
        // The values of settings are texts. A text that is a number is converted to a number.
        let value = |text: &String| {
            let whole = text.parse().ok().map(|number: u64| Value::from(number));
            whole.or_else(|| text.parse().ok().map(|real: f64| Value::from(real)))
        };
        let values = rows.iter().map(|row| {
            row.settings.get(name).map(|text| value(text).unwrap_or_else(|| Value::from(text.clone())))
        });
        columns.push(Column { name: format!("settings.{name}"), values: typed(values.collect()) });
    }
    columns.push(Column::count("seed", rows.iter().map(|row| row.seed).collect()));
    columns.push(Column::count("cycles", rows.iter().map(|row| row.measured.cycles).collect()));
    let answers = rows.iter().map(|row| row.measured.answer_ok).collect();
    columns.push(Column { name: "answer_ok".to_owned(), values: Values::Flag(answers) });
    columns.push(text("error", &|row| row.measured.error.clone().unwrap_or_default()));
    for name in names(rows, |row| row.measured.counters.keys()) {
        // A counter that the run lacks but another run has is zero. A run that was stopped has no
        // counters, so its cells are empty.
        let count = |row: &StudyRow| {
            let counters = &row.measured.counters;
            (!counters.is_empty()).then(|| counters.get(name).copied().unwrap_or(0))
        };
        let values = Values::SparseCount(rows.iter().map(count).collect());
        columns.push(Column { name: format!("counters.{name}"), values });
    }
    for part in names(rows, |row| row.measured.energy_pj.keys()) {
        let values = rows.iter().map(|row| row.measured.energy_pj.get(part).copied());
        columns
            .push(Column { name: format!("energy_pj.{part}"), values: Values::SparseReal(values.collect()) });
    }
    columns
}

/// The names that `of` finds in at least one row, in alphabetical order and without duplicates.
fn names<'a, I: Iterator<Item = &'a String>>(
    rows: &'a [StudyRow],
    of: impl Fn(&'a StudyRow) -> I,
) -> BTreeSet<&'a String> {
    rows.iter().flat_map(of).collect()
}

/// Converts the values of a column to one type: whole numbers if all values are whole numbers,
/// otherwise real numbers if all values are numbers, otherwise texts.
fn typed(values: Vec<Option<Value>>) -> Values {
    let all = |fits: fn(&Value) -> bool| values.iter().flatten().all(fits);
    if all(Value::is_u64) {
        Values::SparseCount(values.iter().map(|value| value.as_ref()?.as_u64()).collect())
    } else if all(Value::is_number) {
        Values::SparseReal(values.iter().map(|value| value.as_ref()?.as_f64()).collect())
    } else {
        Values::SparseText(values.iter().map(|value| value.as_ref().map(plain)).collect())
    }
}
