//! Writes the code of a test in herd's notation, from which the hash is computed.

use std::collections::BTreeMap;

use crate::parse::cursor::Cursor;
use crate::parse::error::TextError;
use crate::parse::lexer::{self, Kind, Words};
use crate::parse::{c, columns, table};

use super::initial::split;

/// Writes the functions of a C test side by side in columns. The body of a function is copied with
/// its blanks and comments.
pub(super) fn functions(code: &str) -> String {
    let mut columns = Vec::new();
    let mut rest = lexer::skip_comments(code);
    loop {
        if let Some(inner) = rest.strip_prefix('{') {
            let (body, behind) = body(inner);
            columns.push(vec![format!("{{{body}}}\n\n")]);
            rest = lexer::skip_comments(behind);
            continue;
        }
        if let Some(behind) = rest.strip_prefix("void").or_else(|| rest.strip_prefix("static")) {
            rest = lexer::skip_comments(behind);
            continue;
        }
        let Some(thread) = rest.strip_prefix('P') else { break };
        let digits = thread.len() - thread.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, behind) = thread.split_at(digits);
        let behind = lexer::skip_comments(behind);
        let Some((parameters, behind)) = behind.strip_prefix('(').and_then(in_brackets) else { break };
        let Some((_, behind)) = behind.split_once('{') else { break };
        let (body, behind) = body(behind);
        columns.push(vec![format!("P{number}({}) {{\n{body}\n}}\n", parameter_list(parameters))]);
        rest = lexer::skip_comments(behind);
    }
    rows(&columns)
}

/// Splits `text` into the body of a function and the text after the body. `text` begins after the
/// opening brace of the body.
fn body(text: &str) -> (&str, &str) {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return (&text[..at], &text[at + 1..]),
            '}' => depth -= 1,
            _ => {}
        }
    }
    (text, "")
}

/// Splits `text` into a list in brackets and the text after the list. `text` begins after the
/// opening bracket of the list.
fn in_brackets(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return Some((&text[..at], &text[at + 1..])),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn parameter_list(text: &str) -> String {
    let words = split(text);
    let mut written = Vec::new();
    let mut depth = 0usize;
    let inner = |word: &String| {
        match word.as_str() {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        word == "," && depth == 0
    };
    for parameter in words.split(inner) {
        if let Some((name, kind)) = parameter.split_last() {
            written.push(format!("{} {name}", Type::read(&mut kind.iter().map(String::as_str)).text));
        }
    }
    written.join(", ")
}

/// A C type in herd's notation.
struct Type {
    text: String,
    /// Whether the type is a base type: it has no qualifiers and no stars.
    base: bool,
}

impl Type {
    fn read(words: &mut dyn Iterator<Item = &str>) -> Type {
        let mut before = Vec::new();
        let mut kind = Type { text: String::new(), base: true };
        while let Some(word) = words.next() {
            match word {
                "volatile" | "const" | "_Atomic" if kind.text.is_empty() => before.push(word),
                "(" => {
                    kind = Type::read(words);
                    kind.qualify(&mut before);
                }
                ")" => break,
                "*" => {
                    kind.qualify(&mut before);
                    kind = Type { text: kind.text + "*", base: false };
                }
                "volatile" | "const" => {
                    kind.qualify(&mut before);
                    kind.qualify(&mut vec![word]);
                }
                "atomic_int" => {
                    kind = Type { text: String::from("_Atomic int"), base: false };
                }
                word => {
                    if !kind.text.is_empty() {
                        kind.text.push(' ');
                    }
                    kind.text.push_str(word);
                }
            }
        }
        kind.qualify(&mut before);
        kind
    }

    /// Moves the qualifiers in `before` (such as `const`) to the type. The last word of `before` is
    /// added first.
    fn qualify(&mut self, before: &mut Vec<&str>) {
        while let Some(word) = before.pop() {
            self.text = match word {
                "const" => format!("{} const", self.text),
                "volatile" if !self.base => format!("{} volatile", self.text),
                "_Atomic" if !self.base => format!("_Atomic ({})", self.text),
                word => format!("{word} {}", self.text),
            };
            self.base = false;
        }
    }
}

/// Writes the columns of a LISA test. Labels get new names, in the order of their old names. Each
/// label is written in a separate row.
pub(super) fn columns(text: &str) -> Result<String, TextError> {
    let mut cursor = Cursor::new(lexer::lex(text, |_| Words::Dotted)?.tokens);
    cursor.expect("{")?;
    let mut depth = 1usize;
    while depth > 0 && !cursor.at_end() {
        depth = if cursor.is("{") { depth + 1 } else { depth - usize::from(cursor.is("}")) };
        cursor.advance();
    }
    c::skip_placement(&mut cursor)?;
    let (_, count) = columns::header(&mut cursor)?;
    let cells = table::cells(&mut cursor, count)?;
    let mut labels = BTreeMap::new();
    let mut columns: Vec<Vec<Cell>> = (0..count).map(|_| Vec::new()).collect();
    for (column, cells) in columns.iter_mut().zip(&cells.columns) {
        for &cell in cells {
            cursor.seek(cell);
            while let (Kind::Word(label), Kind::Mark(":")) = (cursor.peek(), cursor.peek_at(1)) {
                labels.insert(label.clone(), String::new());
                column.push(Cell::Label(label.clone()));
                cursor.advance();
                cursor.advance();
            }
            if !table::at_cell_end(&cursor) {
                let (text, to) = instruction(&mut cursor);
                labels.extend(to.iter().map(|label| (label.clone(), String::new())));
                column.push(Cell::Instruction(text, to));
            }
        }
    }
    for (number, name) in labels.values_mut().enumerate() {
        *name = format!("L{number:02}");
    }
    let written = |cell: &Cell| match cell {
        Cell::Label(label) => format!("{}:", labels[label]),
        Cell::Instruction(text, None) => text.clone(),
        Cell::Instruction(text, Some(to)) => format!("{text} {}", labels[to]),
    };
    let columns: Vec<Vec<String>> = columns.iter().map(|cells| cells.iter().map(written).collect()).collect();
    Ok(rows(&columns))
}

enum Cell {
    Label(String),
    /// The text of an instruction, and the label to which the instruction jumps. `None` if the
    /// instruction does not jump.
    Instruction(String, Option<String>),
}

/// Reads an instruction, such as `w[release] x 1`, and returns its normalized text and the label to
/// which it jumps. In the text, the operands of a calculation are in brackets.
fn instruction(cursor: &mut Cursor) -> (String, Option<String>) {
    let branch = cursor.is_word("b");
    let mut words: Vec<String> = Vec::new();
    // True if no blank precedes the next token.
    let mut close = true;
    let mut marks = false;
    while !table::at_cell_end(cursor) {
        let token = match cursor.peek() {
            Kind::Word(word) | Kind::Text(word) => word.clone(),
            Kind::Number(number) => number.to_string(),
            Kind::Mark(mark) => (*mark).to_owned(),
            Kind::End => break,
        };
        let last = words.last_mut();
        match (token.as_str(), last) {
            // Only the first word of an instruction can have annotations.
            ("[", Some(last)) if close => {
                last.push('[');
                marks = true;
            }
            ("]", Some(last)) if marks => {
                last.push(']');
                (marks, close) = (false, false);
            }
            ("[" | "]", _) => {}
            ("," | "-" | "+", Some(last)) => {
                last.push_str(&token);
                close = true;
            }
            (")", Some(last)) => {
                last.push(')');
                close = false;
            }
            (_, Some(last)) if marks || (close && last.ends_with(['(', '+', '-'])) => {
                last.push_str(&token);
                close = false;
            }
            _ => {
                close = words.is_empty() || token == "(";
                words.push(token);
            }
        }
        cursor.advance();
    }
    let to = if branch { words.pop() } else { None };
    (words.join(" "), to)
}

/// Writes the cells of each row side by side. A cell is padded to the width of its column.
fn rows(columns: &[Vec<String>]) -> String {
    let widths: Vec<usize> =
        columns.iter().map(|cells| cells.iter().map(String::len).max().unwrap_or(0)).collect();
    let count = columns.iter().map(Vec::len).max().unwrap_or(0);
    let mut written = String::new();
    for row in 0..count {
        let cells = columns.iter().zip(&widths).map(|(cells, &width)| {
            let cell = cells.get(row).map_or("", String::as_str);
            // The width of a column and the length of a cell are numbers of bytes.
            format!(" {cell}{} ", " ".repeat(width - cell.len()))
        });
        written.push_str(&cells.collect::<Vec<_>>().join("|"));
        written.push_str(";\n");
    }
    written
}

#[cfg(test)]
mod tests {
    use super::{columns, functions, parameter_list};

    #[test]
    fn types_are_written_in_herds_order() {
        for (given, expected) in [
            ("int *x, atomic_int* y", "int* x, _Atomic int* y"),
            ("const int* x, volatile int *y", "int const* x, volatile int* y"),
            ("volatile atomic_int* x, int volatile *y", "_Atomic int volatile* x, volatile int* y"),
            ("_Atomic(int *)* x, struct srcu_struct *s", "_Atomic (int*)* x, struct srcu_struct* s"),
            ("int** x, _Atomic int*y", "int** x, _Atomic int* y"),
            ("", ""),
        ] {
            assert_eq!(parameter_list(given), expected);
        }
    }

    #[test]
    fn functions_are_side_by_side_with_unchanged_bodies() {
        let code = "\n(* c *) P0(int *x) { /* } */ }\n// d\nvoid P1 () {\n  { *x = 1; }\n}\nexists (x=1)";
        assert_eq!(functions(code), " P0(int* x) {\n /* \n}\n ;\n");
        let code = "P0(int *x) { a; }\nvoid P1 () {\n  { b; }\n}\nexists (x=1)";
        assert_eq!(functions(code), " P0(int* x) {\n a; \n}\n | P1() {\n\n  { b; }\n\n}\n ;\n");
    }

    #[test]
    fn columns_are_padded_and_labels_renamed() {
        let text = "LISA t\n{ x = 0; }\n P0 | P1 ;\n Lb: r[once] r0 x | mov r1 (add r2 1) ;\n b[] r0 Lb | f[a, b] ;\n | La: rmw[c] r1 (add r1 2) [x] ;\n | b[] La ;\nexists (x=1)";
        let expected = " L01:          | mov r1 (add r2 1)     ;\n r[once] r0 x  | f[a,b]                ;\n b[] r0 L01    | L00:                  ;\n               | rmw[c] r1 (add r1 2) x ;\n               | b[] L00               ;\n";
        let found = columns(text).expect("it is a test");
        let trimmed = |text: &str| {
            text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
        };
        assert_eq!(trimmed(&found), trimmed(expected));
        assert!(found.lines().all(|line| line.len() == found.lines().next().map_or(0, str::len)));
    }
}
