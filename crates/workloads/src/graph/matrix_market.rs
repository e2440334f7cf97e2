//! The coordinate format of Matrix Market. A square sparse matrix is a graph: each entry is an arc
//! from its row to its column.
//!
//! Format: "The Matrix Market Exchange Formats: Initial Design" (NIST, 1996). A `symmetric` or
//! `skew-symmetric` file stores only the lower triangle; the reader adds the mirrored entries and
//! counts them. An entry with value zero is an arc too, because the graph consists of the stored
//! entries. The reader refuses the kinds `complex`, `hermitian` and `array`.

use std::io::{self, Write};

use proto::words::counted;

use super::builder::{GraphBuilder, Repairs};
use super::csr::{Csr, Weights};
use super::options::{Direction, ReadOptions};
use crate::files::{FileError, Scanner};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Pattern,
    Integer,
    Real,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Symmetry {
    General,
    Symmetric,
    Skew,
}

pub(super) fn read(scan: &mut Scanner<'_>, options: &ReadOptions) -> Result<(Csr, Repairs), FileError> {
    let (field, symmetry) = header(scan)?;
    if !scan.next_line(b"%")? {
        scan.word()?;
        return Err(scan.unexpected("a line with the numbers of rows, columns and entries"));
    }
    let rows = scan.whole(1..=u64::from(u32::MAX), "a number of rows")?;
    let columns = scan.whole(1..=u64::from(u32::MAX), "a number of columns")?;
    if rows != columns {
        return Err(scan
            .unexpected(&format!("as many columns as rows, {rows}, because only square matrices are read")));
    }
    let entries = scan.whole(0..=u64::MAX / 4, "a number of entries")?;
    let mirrored = match options.direction {
        Direction::AsStated => symmetry != Symmetry::General,
        Direction::BothWays => true,
        Direction::OneWay => false,
    };
    let mut builder = GraphBuilder::new(options, field != Field::Pattern);
    builder.reserve(scan.word_place(), rows, if mirrored { 2 * entries } else { entries })?;
    scan.end_line("the end of the line after rows, columns and entries")?;

    for entry in 1..=entries {
        if !scan.next_line(b"%")? {
            scan.word()?;
            return Err(scan.unexpected(&format!("entry {entry} of {entries}")));
        }
        let row = scan.whole(1..=rows, "a row")? as u32 - 1;
        let place = scan.word_column();
        let column = scan.whole(1..=columns, "a column")? as u32 - 1;
        if symmetry == Symmetry::Symmetric && column > row {
            let expected =
                format!("a column of at most {}, since a symmetric file stores the lower triangle", row + 1);
            return Err(scan.unexpected(&expected));
        }
        if symmetry == Symmetry::Skew && column >= row {
            let expected = format!(
                "a column before {}, since a skew-symmetric file stores entries below the diagonal",
                row + 1
            );
            return Err(scan.unexpected(&expected));
        }
        let value = match field {
            Field::Pattern => 1.0,
            Field::Integer => scan.signed("a value")?,
            Field::Real => scan.number("a value")?,
        };
        if mirrored {
            let mirror = if symmetry == Symmetry::Skew { -value } else { value };
            builder.add_edge(scan, (row, column), (value, mirror), place)?;
        } else {
            builder.add_arc(scan, (row, column), value, place)?;
        }
        scan.end_line("the end of the line after an entry")?;
    }
    if scan.next_line(b"%")? {
        scan.word()?;
        return Err(scan.unexpected(&format!("the end of the file after {}", counted(entries, "entry"))));
    }
    builder.finish(scan, rows as u32)
}

/// Reads the first line: the kind of the values and the symmetry of the matrix.
fn header(scan: &mut Scanner<'_>) -> Result<(Field, Symmetry), FileError> {
    keyword(scan, &[("%%matrixmarket", ())], "`%%MatrixMarket`")?;
    keyword(scan, &[("matrix", ())], "`matrix`")?;
    keyword(scan, &[("coordinate", ())], "`coordinate`, since a dense array is not a graph")?;
    let fields = [
        ("pattern", Field::Pattern),
        ("integer", Field::Integer),
        ("real", Field::Real),
        ("double", Field::Real),
    ];
    let field = keyword(scan, &fields, "`real`, `integer` or `pattern`")?;
    let symmetries = [
        ("general", Symmetry::General),
        ("symmetric", Symmetry::Symmetric),
        ("skew-symmetric", Symmetry::Skew),
    ];
    let symmetry = keyword(scan, &symmetries, "`general`, `symmetric` or `skew-symmetric`")?;
    if field == Field::Pattern && symmetry == Symmetry::Skew {
        return Err(scan.unexpected("`general` or `symmetric`, since a pattern has no signs"));
    }
    scan.end_line("the end of the line after the symmetry")?;
    Ok((field, symmetry))
}

fn keyword<T: Copy>(scan: &mut Scanner<'_>, known: &[(&str, T)], expected: &str) -> Result<T, FileError> {
    let word = scan.word()?.unwrap_or_default();
    match known.iter().find(|(name, _)| word.eq_ignore_ascii_case(name.as_bytes())) {
        Some((_, meaning)) => Ok(*meaning),
        None => Err(scan.unexpected(expected)),
    }
}

/// Writes all arcs of a graph as a Matrix Market file with the symmetry `general`.
pub(super) fn write(graph: &Csr, out: &mut dyn Write) -> io::Result<()> {
    let field = match graph.weights {
        None => "pattern",
        Some(Weights::Whole(_)) => "integer",
        Some(Weights::Real(_)) => "real",
    };
    writeln!(out, "%%MatrixMarket matrix coordinate {field} general")?;
    writeln!(out, "{0} {0} {1}", graph.vertices(), graph.edges())?;
    for (source, target, weight) in graph.arcs() {
        match weight {
            None => writeln!(out, "{} {}", source + 1, target + 1)?,
            Some(weight) => writeln!(out, "{} {} {weight}", source + 1, target + 1)?,
        }
    }
    Ok(())
}
