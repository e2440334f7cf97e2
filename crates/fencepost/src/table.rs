//! Text tables that a person likes to read, and bars.

pub(crate) use proto::words::{grouped, plural};
use std::io::{self, Write};

/// A number with its noun: "1 run", "2,000 runs".
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{} {}", grouped(count as u64), plural(count as u64, noun))
}

/// No column is made narrower than this.
const NARROWEST: usize = 12;

/// To which side a column leans.
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
}

impl Table {
    /// An empty table with the heading of each column and its side.
    pub(crate) fn new(columns: &[(&str, Side)]) -> Table {
        Table {
            sides: columns.iter().map(|(_, side)| *side).collect(),
            rows: vec![columns.iter().map(|(heading, _)| (*heading).to_owned()).collect()],
        }
    }

    /// Leaves the heading out.
    pub(crate) fn without_heading(mut self) -> Table {
        self.rows.clear();
        self
    }

    /// Adds a row; missing cells are empty.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let mut row: Vec<String> = cells.into_iter().take(self.sides.len()).collect();
        row.resize(self.sides.len(), String::new());
        self.rows.push(row);
    }

    /// Breaks the texts of the widest columns, so that the table is not wider than so
    /// many columns.
    pub(crate) fn within(mut self, columns: usize) -> Table {
        let mut widths = self.widths();
        let gaps = 2 * widths.len().saturating_sub(1);
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
        self
    }

    fn widths(&self) -> Vec<usize> {
        let width = |column: usize| self.rows.iter().map(|row| letters(&row[column])).max().unwrap_or(0);
        (0..self.sides.len()).map(width).collect()
    }

    /// Writes it, two blanks between columns and none at the ends of lines.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let widths = self.widths();
        for row in &self.rows {
            let mut line = String::new();
            for ((cell, side), width) in row.iter().zip(&self.sides).zip(&widths) {
                let padding = " ".repeat(width - letters(cell));
                match side {
                    Side::Left => line.extend([cell, padding.as_str(), "  "]),
                    Side::Right => line.extend([padding.as_str(), cell, "  "]),
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

/// The lines that a text takes in so many columns. A word is never cut.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if letters(line) + 1 + letters(word) <= columns => line.extend([" ", word]),
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A bar of at most `width` letters for a share between zero and one, in
/// eighths of a letter. Never empty for a share above zero.
pub(crate) fn bar(share: f64, width: usize) -> String {
    const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
    if !share.is_finite() || share <= 0.0 {
        return String::new();
    }
    let eighths = ((share.min(1.0) * width as f64 * 8.0).round() as usize).max(1);
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push(EIGHTHS[eighths % 8 - 1]);
    }
    bar
}

/// A size in the unit that leaves one to three digits before the point.
pub(crate) fn bytes(count: u64) -> String {
    scaled(count as f64, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB"])
}

/// An energy in the unit that leaves one to three digits before the point.
pub(crate) fn energy(picojoules: f64) -> String {
    scaled(picojoules, 1000.0, &["pJ", "nJ", "µJ", "mJ", "J"])
}

fn scaled(mut amount: f64, step: f64, units: &[&str]) -> String {
    let mut unit = 0;
    while amount >= step && unit + 1 < units.len() {
        amount /= step;
        unit += 1;
    }
    let decimals = if unit == 0 && amount.fract() == 0.0 { 0 } else { 1 };
    format!("{amount:.decimals$} {}", units[unit])
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
    fn a_wide_table_is_broken_between_words_and_loses_none() {
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
        assert_eq!(wrapped("incomprehensible a", 5), ["incomprehensible", "a"]);
    }

    #[test]
    fn bars_grow_with_their_share_and_never_leave_their_room() {
        assert_eq!(bar(1.0, 4), "████");
        assert_eq!(bar(7.0, 4), "████");
        assert_eq!(bar(0.5, 4), "██");
        assert_eq!(bar(0.001, 4), "▏");
        assert_eq!(bar(0.0, 4) + &bar(f64::NAN, 4) + &bar(-1.0, 4), "");
    }

    #[test]
    fn numbers_are_grouped_and_scaled() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(energy(2_500_000.0), "2.5 µJ");
        assert_eq!(energy(0.5), "0.5 pJ");
    }
}
