//! Code in columns: one thread a column, rows closed by semicolons.

use super::condition;
use super::cursor::Cursor;
use super::error::TextError;

/// Where each instruction of each thread stands.
pub(super) struct Table {
    /// For each column its cells, as positions of the cursor.
    pub(super) columns: Vec<Vec<usize>>,
}

/// Finds the cells of a table of `threads` columns. Empty cells are left out.
pub(super) fn cells(cursor: &mut Cursor, threads: usize) -> Result<Table, TextError> {
    let mut columns = vec![Vec::new(); threads];
    while !cursor.at_end() && !condition::begins(cursor) && !cursor.is_word("scopes") {
        let mut column = 0;
        loop {
            if column >= threads {
                return Err(cursor.expected(format!("`;`, for the test has {threads} threads")));
            }
            if !cursor.is("|") && !cursor.is(";") {
                columns[column].push(cursor.position());
            }
            skip_cell(cursor)?;
            if cursor.eat(";") {
                break;
            }
            cursor.expect("|")?;
            column += 1;
        }
    }
    Ok(Table { columns })
}

fn skip_cell(cursor: &mut Cursor) -> Result<(), TextError> {
    while !cursor.is("|") && !cursor.is(";") {
        if cursor.at_end() {
            return Err(cursor.expected("`|` or `;`"));
        }
        cursor.advance();
    }
    Ok(())
}

/// Is the cell at its end?
pub(super) fn at_cell_end(cursor: &Cursor) -> bool {
    cursor.is("|") || cursor.is(";") || cursor.at_end()
}
