//! The `.gr` files of the 9th DIMACS implementation challenge (shortest paths).
//!
//! A file has comments, which begin with `c`, one line `p sp VERTICES ARCS`, and a line `a FROM TO
//! WEIGHT` for each arc. Weights are signed whole numbers. Vertices count from 1.

use std::io::{self, Write};

use proto::words::counted;

use super::builder::{GraphBuilder, Repairs};
use super::csr::{Csr, Weights};
use super::options::{Direction, ReadOptions};
use crate::files::{FileError, Scanner};

pub(super) fn read(scan: &mut Scanner<'_>, options: &ReadOptions) -> Result<(Csr, Repairs), FileError> {
    let (vertices, arcs, mut builder) = problem(scan, options)?;
    let mut found = 0;
    while line(scan, b"a", "an arc `a FROM TO WEIGHT` or a comment `c`")? {
        found += 1;
        if found > arcs {
            return Err(scan.unexpected(&format!("the end of the file after {}", counted(arcs, "arc"))));
        }
        let source = scan.whole(1..=vertices, "a vertex")? as u32 - 1;
        let column = scan.word_column();
        let target = scan.whole(1..=vertices, "a vertex")? as u32 - 1;
        let weight = scan.signed("a weight")?;
        match options.direction {
            Direction::BothWays => builder.add_edge(scan, (source, target), (weight, weight), column)?,
            _ => builder.add_arc(scan, (source, target), weight, column)?,
        }
        scan.end_line("the end of the line after an arc")?;
    }
    if found < arcs {
        return Err(scan.unexpected(&format!("arc {} of {arcs}", found + 1)));
    }
    builder.finish(scan, vertices as u32)
}

/// Reads the line `p sp VERTICES ARCS`. Returns both numbers, and a builder with reserved memory.
fn problem<'o>(
    scan: &mut Scanner<'_>,
    options: &'o ReadOptions,
) -> Result<(u64, u64, GraphBuilder<'o>), FileError> {
    const EXPECTED: &str = "the problem line `p sp VERTICES ARCS`";
    if !line(scan, b"p", EXPECTED)? {
        return Err(scan.unexpected(EXPECTED));
    }
    if scan.word()? != Some(b"sp") {
        return Err(scan.unexpected("`sp`, the shortest path problem"));
    }
    let vertices = scan.whole(1..=u64::from(u32::MAX), "a number of vertices")?;
    let arcs = scan.whole(0..=u64::MAX / 4, "a number of arcs")?;
    let mut builder = GraphBuilder::new(options, true);
    let ways = if options.direction == Direction::BothWays { 2 } else { 1 };
    builder.reserve(scan.word_place(), vertices, ways * arcs)?;
    scan.end_line("the end of the line after the number of arcs")?;
    Ok((vertices, arcs, builder))
}

/// Skips lines of comments, and takes the first word of the next line. This word must be `kind`.
/// Returns false at the end of the file.
fn line(scan: &mut Scanner<'_>, kind: &[u8], expected: &str) -> Result<bool, FileError> {
    while scan.next_line(b"")? {
        let word = scan.word()?.unwrap_or_default();
        if word == b"c" {
            scan.skip_line()?;
        } else if word == kind {
            return Ok(true);
        } else {
            return Err(scan.unexpected(expected));
        }
    }
    scan.word()?;
    Ok(false)
}

/// Writes a graph as a DIMACS file. If the graph has no weights, each arc has weight 1.
pub(super) fn write(graph: &Csr, out: &mut dyn Write) -> io::Result<()> {
    if let Some(Weights::Real(values)) = &graph.weights {
        let whole = |value: &f64| value.fract() == 0.0 && value.abs() <= (1u64 << 53) as f64;
        if let Some(value) = values.iter().find(|value| !whole(value)) {
            let sentence = format!("a .gr file holds whole-number weights from -2^53 to 2^53, found {value}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, sentence));
        }
    }
    writeln!(out, "p sp {} {}", graph.vertices(), graph.edges())?;
    for (source, target, weight) in graph.arcs() {
        writeln!(out, "a {} {} {}", source + 1, target + 1, weight.unwrap_or(1.0))?;
    }
    Ok(())
}
