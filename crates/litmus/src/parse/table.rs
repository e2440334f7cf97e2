//! Parses the code of a test as a table. Each thread has one column. A `;` ends a row.

use proto::words::counted;

use super::condition;
use super::cursor::Cursor;
use super::error::{Place, TextError};
use super::init::Locations;
use super::lexer::Kind;
use crate::program::{Instr, LocId, ThreadId};

/// A table of code: the positions, in the list of tokens, of the cells that are not empty. A cell
/// holds an instruction.
pub(super) struct Table {
    /// For each column (one thread), the positions of its cells in the list of tokens.
    pub(super) columns: Vec<Vec<usize>>,
}

/// Finds the cells of a table of `threads` columns. Skips empty cells.
pub(super) fn cells(cursor: &mut Cursor, threads: usize) -> Result<Table, TextError> {
    let mut columns = vec![Vec::new(); threads];
    while !cursor.at_end()
        && !condition::begins(cursor)
        && !cursor.is_word("scopes")
        && !cursor.is_word("regions")
    {
        let mut column = 0;
        loop {
            if column >= threads {
                return Err(
                    cursor.expected(format!("`;`: the test has {}", counted(threads as u64, "thread")))
                );
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

/// Whether the next token ends a cell of the table of code.
pub(super) fn at_cell_end(cursor: &Cursor) -> bool {
    cursor.is("|") || cursor.is(";") || cursor.at_end()
}

/// Fails if the next token does not end a cell of the table of code.
pub(super) fn cell_end(cursor: &Cursor) -> Result<(), TextError> {
    if at_cell_end(cursor) { Ok(()) } else { Err(cursor.expected("`|` or `;`")) }
}

/// The labels of a thread, and the jumps whose targets are not set yet.
#[derive(Default)]
pub(super) struct Labels {
    known: Vec<(String, usize)>,
    jumps: Vec<(String, usize, Place)>,
}

impl Labels {
    /// Reads the labels that precede an instruction. `here` is the position of the instruction in
    /// the code.
    pub(super) fn read(&mut self, cursor: &mut Cursor, here: usize) -> Result<(), TextError> {
        while let (Kind::Word(label), Kind::Mark(":")) = (cursor.peek(), cursor.peek_at(1)) {
            let label = label.clone();
            self.define(&label, here, cursor.place())?;
            cursor.advance();
            cursor.advance();
        }
        Ok(())
    }

    /// Defines a label for the instruction at position `here`.
    pub(super) fn define(&mut self, label: &str, here: usize, place: Place) -> Result<(), TextError> {
        if self.known.iter().any(|(known, _)| known == label) {
            return Err(TextError::meaning(place, format!("label `{label}` is defined twice")));
        }
        self.known.push((label.to_owned(), here));
        Ok(())
    }

    /// The last of the labels that precede the instruction at position `here`.
    pub(super) fn at(&self, here: usize) -> Option<&str> {
        self.known.iter().rfind(|(_, at)| *at == here).map(|(label, _)| label.as_str())
    }

    /// Reads a label as the target of the jump at position `here`.
    pub(super) fn jump(&mut self, cursor: &mut Cursor, here: usize) -> Result<(), TextError> {
        let place = cursor.place();
        self.jumps.push((cursor.word("a label")?, here, place));
        Ok(())
    }

    /// Sets the targets of all jumps of a thread. Fails if a label is not defined.
    pub(super) fn resolve(self, thread: ThreadId, code: &mut [Instr]) -> Result<(), TextError> {
        for (label, at, place) in self.jumps {
            let Some(&(_, to)) = self.known.iter().find(|(name, _)| *name == label) else {
                let sentence = format!("thread P{} has no label `{label}`", thread.0);
                return Err(TextError::meaning(place, sentence));
            };
            if let Instr::Branch { target, .. } | Instr::Jump { target } = &mut code[at] {
                *target = to;
            }
        }
        Ok(())
    }
}

/// The location with this name. Adds the location with the initial value zero if the test has not
/// mentioned it before. Fails if the name looks like a register, such as `r1`.
pub(super) fn new_location(
    locations: &mut Locations,
    thread: ThreadId,
    name: &str,
    place: Place,
) -> Result<LocId, TextError> {
    let number = name.strip_prefix('r').filter(|number| !number.is_empty());
    if number.is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit())) {
        let sentence = format!("thread P{} has no register `{name}` here", thread.0);
        return Err(TextError::meaning(place, sentence));
    }
    locations.find_or_add(name, place)
}
