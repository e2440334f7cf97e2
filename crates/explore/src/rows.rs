//! The rows of a protocol's tables by their names.

use std::collections::BTreeSet;

use proto::{Protocol, RowId, RowView, TableView};

/// The name of a row: `A line in the L1: Load in I`.
pub(crate) fn name(view: &TableView, row: usize) -> String {
    let events = view.events.len();
    format!("{}: {} in {}", view.name, view.events[row % events].0, view.states[row / events].0)
}

/// How many rows can fire, and the names of those that did not.
pub(crate) fn of<P: Protocol>(fired: &BTreeSet<RowId>) -> (usize, Vec<String>) {
    let mut total = 0;
    let mut unreached = Vec::new();
    for view in P::tables() {
        for (row, what) in view.rows.iter().enumerate() {
            if matches!(what, RowView::Impossible(_)) {
                continue;
            }
            total += 1;
            if !fired.contains(&RowId { table: view.id, row: row as u16 }) {
                unreached.push(name(&view, row));
            }
        }
    }
    (total, unreached)
}
