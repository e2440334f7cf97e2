//! A place in a text file.

use core::fmt;
use std::path::{Path, PathBuf};

/// A file, or a position in a file. A position is a line and a column, both counted from one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The path of the file.
    pub path: PathBuf,
    /// The line and the column. `None` if the place is the whole file.
    pub at: Option<(usize, usize)>,
}

impl Place {
    /// The line and column of the byte at `offset` in `text`, the contents of the file `path`.
    /// Columns count characters.
    #[must_use]
    pub fn of_byte(path: &Path, text: &str, offset: usize) -> Place {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count() + 1;
        let column = before[line_start..].chars().count() + 1;
        Place { path: path.to_owned(), at: Some((line, column)) }
    }

    /// The place that means the whole file.
    #[must_use]
    pub fn whole(path: &Path) -> Place {
        Place { path: path.to_owned(), at: None }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.path.display())?;
        match self.at {
            Some((line, column)) => write!(out, ":{line}:{column}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_in_characters() {
        let text = "ab\nä = 1\n";
        let at = |offset| Place::of_byte(Path::new("f"), text, offset).to_string();
        assert_eq!(at(0), "f:1:1");
        assert_eq!(at(3), "f:2:1");
        assert_eq!(at(4), "f:2:1", "inside of a letter");
        assert_eq!(at(5), "f:2:2");
        assert_eq!(at(9999), "f:3:1");
    }
}
