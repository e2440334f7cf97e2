//! Tables of text, with optional bars.

use std::io::{self, Write};

use crate::bar::{bar, eighths_of, is_bar};
use crate::output;

/// The minimum width to which a column is reduced, in characters. Texts that are wider than the
/// reduced column are wrapped.
const NARROWEST: usize = 12;

/// The minimum length to which a bar is shortened, in characters. A shorter bar keeps its length.
const SHORTEST_BAR: usize = 4;

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// Rows of cells under a heading.
#[derive(Debug)]
pub(crate) struct Table {
    sides: Vec<Side>,
    rows: Vec<Vec<String>>,
    /// The number of blanks between columns.
    gap: usize,
}

impl Table {
    /// An empty table with the heading and alignment of each column.
    pub(crate) fn new(columns: &[(&str, Side)]) -> Table {
        Table {
            sides: columns.iter().map(|(_, side)| *side).collect(),
            rows: vec![columns.iter().map(|(heading, _)| (*heading).to_owned()).collect()],
            gap: 2,
        }
    }

    /// Removes the heading of the table.
    pub(crate) fn without_heading(mut self) -> Table {
        self.rows.clear();
        self
    }

    /// Adds a row. Missing cells are empty.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let mut row: Vec<String> = cells.into_iter().take(self.sides.len()).collect();
        row.resize(self.sides.len(), String::new());
        self.rows.push(row);
    }

    /// Makes the table narrower until it fits into `columns` characters and into the terminal:
    /// wraps the texts of the widest columns.
    pub(crate) fn within(mut self, columns: usize) -> Table {
        self.fit(columns.min(output::columns()));
        self
    }

    fn widths(&self) -> Vec<usize> {
        let width = |column: usize| self.rows.iter().map(|row| letters(&row[column])).max().unwrap_or(0);
        (0..self.sides.len()).map(width).collect()
    }

    /// The width of the table in characters, including the blanks between columns.
    fn width(&self) -> usize {
        self.widths().iter().sum::<usize>() + self.gap * self.sides.len().saturating_sub(1)
    }

    /// Makes the table narrower until it fits into `columns` characters, or as narrow as possible.
    /// First shortens bars, then wraps texts, then reduces the gap between columns.
    fn fit(&mut self, columns: usize) {
        for column in 0..self.sides.len() {
            let too_wide = self.width().saturating_sub(columns);
            self.shorten_bars(column, too_wide);
        }
        if self.width() > columns {
            self.break_texts(columns);
        }
        if self.width() > columns {
            self.gap = 1;
        }
    }

    /// Shortens the longest bar of a column by this many characters, but to no less than
    /// [`SHORTEST_BAR`] characters. The other bars of the column become shorter in proportion.
    fn shorten_bars(&mut self, column: usize, letters_less: usize) {
        let bars = || self.rows.iter().map(|row| &row[column]).filter(|cell| is_bar(cell));
        let longest = bars().map(|bar| letters(bar)).max().unwrap_or(0);
        let width = longest.saturating_sub(letters_less).max(SHORTEST_BAR);
        if width >= longest {
            return;
        }
        for row in &mut self.rows {
            if is_bar(&row[column]) {
                row[column] = bar(eighths_of(&row[column]) as f64 / (8 * longest) as f64, width);
            }
        }
    }

    fn break_texts(&mut self, columns: usize) {
        let mut widths = self.widths();
        let gaps = self.gap * widths.len().saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > columns {
            let Some(widest) = widths.iter_mut().max() else { break };
            match widest.checked_sub(1) {
                Some(width @ NARROWEST..) => *widest = width,
                _ => break,
            }
        }
        let broken = self.rows.iter().flat_map(|row| {
            let cells: Vec<Vec<String>> =
                row.iter().zip(&widths).map(|(cell, width)| wrapped(cell, *width)).collect();
            let lines = cells.iter().map(Vec::len).max().unwrap_or(1);
            let line = move |at| cells.iter().map(|cell| cell.get(at).cloned().unwrap_or_default()).collect();
            (0..lines).map(line).collect::<Vec<Vec<String>>>()
        });
        self.rows = broken.collect();
    }

    /// Splits a table that is wider than `columns` characters into several tables. Each has the
    /// first column, and as many of the other columns as fit, but at least one.
    pub(crate) fn blocks(self, columns: usize) -> Vec<Table> {
        let widths = self.widths();
        if widths.len() < 2 {
            return vec![self];
        }
        let (mut groups, mut width) = (Vec::<Vec<usize>>::new(), 0);
        for (column, own) in widths.iter().enumerate().skip(1) {
            let more = self.gap + own;
            match groups.last_mut() {
                Some(group) if width + more <= columns => {
                    group.push(column);
                    width += more;
                }
                _ => {
                    groups.push(vec![0, column]);
                    width = widths[0] + more;
                }
            }
        }
        let part = |group: &Vec<usize>| Table {
            sides: group.iter().map(|column| self.sides[*column]).collect(),
            rows: self.rows.iter().map(|row| group.iter().map(|at| row[*at].clone()).collect()).collect(),
            gap: self.gap,
        };
        groups.iter().map(part).collect()
    }

    /// Writes the table. Lines have no blanks at their ends.
    pub(crate) fn write(mut self, out: &mut dyn Write) -> io::Result<()> {
        self.fit(output::columns());
        let widths = self.widths();
        let gap = " ".repeat(self.gap);
        for row in &self.rows {
            let mut line = String::new();
            for ((cell, side), width) in row.iter().zip(&self.sides).zip(&widths) {
                let padding = " ".repeat(width - letters(cell));
                match side {
                    Side::Left => line.extend([cell, padding.as_str(), &gap]),
                    Side::Right => line.extend([padding.as_str(), cell, &gap]),
                }
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

fn letters(cell: &str) -> usize {
    cell.chars().count()
}

/// Wraps a text to lines of at most `columns` characters. Words are not cut. Blanks at the
/// beginning of the text are kept.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let words = text.trim_start_matches(' ');
    let mut lines = vec![text[..text.len() - words.len()].to_owned()];
    for word in words.split(' ') {
        match lines.last_mut() {
            Some(line) if line.trim_start().is_empty() => line.push_str(word),
            Some(line) if letters(line) + 1 + letters(word) <= columns => line.extend([" ", word]),
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_on_their_side() {
        let mut table = Table::new(&[("name", Side::Left), ("n", Side::Right), ("", Side::Left)]);
        table.row(["a".to_owned(), "1,000".to_owned(), "█".to_owned()]);
        table.row(["µµµµµ".to_owned(), "7".to_owned()]);
        let mut out = Vec::new();
        table.write(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "name       n\na      1,000  █\nµµµµµ      7\n");
    }

    #[test]
    fn a_wide_table_breaks_between_words_and_keeps_all_words() {
        let mut table = Table::new(&[("name", Side::Left), ("what it is", Side::Left)]);
        let text = "one two three four five six seven eight nine ten";
        table.row(["x".to_owned(), text.to_owned()]);
        let mut out = Vec::new();
        table.within(30).write(&mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert!(out.lines().all(|line| line.chars().count() <= 30), "{out}");
        let words: Vec<&str> = out.split_whitespace().skip(5).collect();
        assert_eq!(words.join(" "), text);
        assert_eq!(wrapped("", 5), [""]);
        assert_eq!(wrapped("  ab c", 4), ["  ab", "c"]);
        assert_eq!(wrapped("incomprehensible a", 5), ["incomprehensible", "a"]);
    }

    #[test]
    fn a_table_with_bars_is_narrowed_by_its_bars_first_and_their_shares_stay() {
        let table = |columns: usize| {
            let heading =
                [("cause", Side::Left), ("cycles", Side::Right), ("", Side::Left), ("meaning", Side::Left)];
            let mut table = Table::new(&heading);
            for (share, meaning) in
                [(1.0, "waits for all others"), (0.5, "waits for memory"), (0.001, "issues")]
            {
                table.row(["load".to_owned(), "1,000".to_owned(), bar(share, 24), meaning.to_owned()]);
            }
            let mut out = Vec::new();
            table.within(columns).write(&mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let bars = |text: &str| -> Vec<usize> {
            let words = text.split_whitespace().filter(|word| is_bar(word));
            words.map(eighths_of).collect()
        };
        assert_eq!(bars(&table(80)), [192, 96, 1]);
        // Two columns need 11 characters, the last column needs 20, and the gaps need 6.
        let narrow = table(49);
        assert_eq!(bars(&narrow), [96, 48, 1], "{narrow}");
        assert_eq!(narrow.lines().map(|line| line.chars().count()).max(), Some(49), "{narrow}");
        assert!(narrow.contains("waits for all others"), "{narrow}");
        // The bars have their minimum length, and a text is wrapped to two lines.
        let narrower = table(34);
        assert_eq!(bars(&narrower), [32, 16, 1], "{narrower}");
        assert!(narrower.lines().all(|line| line.chars().count() <= 34), "{narrower}");
        assert!(narrower.contains("waits for all\n"), "{narrower}");
    }

    #[test]
    fn columns_move_closer_only_as_a_last_resort() {
        let mut table =
            Table::new(&[("accesses", Side::Right), ("hits", Side::Right), ("misses", Side::Right)]);
        table.row(["1,000", "7", "993"].map(str::to_owned));
        let mut out = Vec::new();
        table.within(20).write(&mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "accesses hits misses\n   1,000    7    993\n");
    }
}
