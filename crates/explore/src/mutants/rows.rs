//! Sets of rows of a protocol's tables, and the names of rows.

use core::fmt;
use std::collections::BTreeSet;

use proto::{RowId, RowView, TableView};
use smallvec::SmallVec;

/// The maximum number of rows of a table.
const TABLE_ROWS: usize = 512;

/// A set of rows. It has one bit for each row, to save memory, because a verification keeps such a
/// set for each of very many explorations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowSet(SmallVec<[u64; 2]>);

impl RowSet {
    pub(crate) fn of(rows: &BTreeSet<RowId>) -> RowSet {
        let mut set = RowSet::default();
        for row in rows {
            let at = RowSet::place(*row);
            if set.0.len() <= at / 64 {
                set.0.resize(at / 64 + 1, 0);
            }
            set.0[at / 64] |= 1 << (at % 64);
        }
        set
    }

    fn place(row: RowId) -> usize {
        usize::from(row.table.0) * TABLE_ROWS + usize::from(row.row)
    }

    pub(crate) fn contains(&self, row: RowId) -> bool {
        let at = RowSet::place(row);
        self.0.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    pub(crate) fn add(&mut self, other: &RowSet) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| *mine |= theirs);
    }
}

/// The name of a row, for example `A line in the L1: Load in I`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowName {
    /// The name of the table.
    pub table: &'static str,
    /// The name of the event.
    pub event: &'static str,
    /// The name of the state.
    pub state: &'static str,
}

impl RowName {
    pub(crate) fn of(view: &TableView, row: usize) -> RowName {
        let events = view.events.len();
        RowName { table: view.name, event: view.events[row % events].0, state: view.states[row / events].0 }
    }
}

impl fmt::Display for RowName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} in {}", self.table, self.event, self.state)
    }
}

/// The number of rows that can fire, and the names of those of them that did not fire.
pub(crate) fn of(tables: &[TableView], fired: &RowSet) -> (usize, Vec<RowName>) {
    let mut total = 0;
    let mut unreached = Vec::new();
    for view in tables {
        for (row, what) in view.rows.iter().enumerate() {
            if matches!(what, RowView::Impossible(_)) {
                continue;
            }
            total += 1;
            if !fired.contains(RowId { table: view.id, row: row as u16 }) {
                unreached.push(RowName::of(view, row));
            }
        }
    }
    (total, unreached)
}
