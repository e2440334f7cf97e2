//! Edge lists of the Stanford Network Analysis Project. Each arc has a line `FROM TO`, optionally
//! with a weight. Comments begin with `#`.
//!
//! Vertices count from 0, and a file may skip numbers. Only the edges define the vertices. The
//! reader renumbers the vertices to close gaps, and counts the renumbered vertices. A comment `#
//! Nodes: N Edges: M` announces the size. The edges must match this size, so that a truncated file
//! is an error. If all vertex numbers are below N, the reader keeps them. A comment `# Undirected
//! graph` before the edges means that the file lists each edge only once.

use std::io::{self, Write};

use proto::words::counted;

use super::builder::{GraphBuilder, Repairs};
use super::csr::{Csr, Weights};
use super::options::{Direction, ReadOptions};
use crate::files::{FileError, FilePosition, Scanner};

/// The declarations that the comments of a file make.
#[derive(Default)]
struct Comments {
    undirected: bool,
    announced: Option<(u64, u64, FilePosition)>,
}

pub(super) fn read(scan: &mut Scanner<'_>, options: &ReadOptions) -> Result<(Csr, Repairs), FileError> {
    let mut comments = Comments::default();
    let mut edges = 0;
    let mut list: Option<(GraphBuilder<'_>, bool)> = None;
    while let Some(letter) = next(scan)? {
        if letter == b'#' {
            let announced = comments.take(scan, options, edges > 0)?;
            if let Some((place, vertices, arcs)) = announced {
                // The reader does not know yet whether there are weights, so this is a lower bound
                // of the memory.
                GraphBuilder::of_named_vertices(options, false).reserve(place, vertices, arcs)?;
            }
            continue;
        }
        let source = scan.whole(0..=u64::from(u32::MAX) - 1, "a vertex")? as u32;
        let column = scan.word_column();
        let target = scan.whole(0..=u64::from(u32::MAX) - 1, "a vertex")? as u32;
        let weight = scan.word()?.is_some();
        let (builder, weighted) =
            list.get_or_insert_with(|| (GraphBuilder::of_named_vertices(options, weight), weight));
        if weight != *weighted {
            let expected =
                if *weighted { "a weight, as on the first line" } else { "no weight, as on the first line" };
            return Err(scan.unexpected(expected));
        }
        let value = if weight { scan.last_number("a weight")? } else { 1.0 };
        let mirrored = match options.direction {
            Direction::AsStated => comments.undirected,
            Direction::BothWays => true,
            Direction::OneWay => false,
        };
        if mirrored {
            builder.add_edge(scan, (source, target), (value, value), column)?;
        } else {
            builder.add_arc(scan, (source, target), value, column)?;
        }
        edges += 1;
        scan.end_line("the end of the line after an edge")?;
    }
    finish(scan, comments, edges, list.map(|(builder, _)| builder))
}

fn next(scan: &mut Scanner<'_>) -> Result<Option<u8>, FileError> {
    Ok(if scan.next_line(b"")? { scan.peek()? } else { None })
}

fn finish(
    scan: &mut Scanner<'_>,
    comments: Comments,
    edges: u64,
    builder: Option<GraphBuilder<'_>>,
) -> Result<(Csr, Repairs), FileError> {
    if let Some((_, announced, place)) = &comments.announced
        && edges != *announced
    {
        let end = scan.here();
        if edges < *announced {
            let expected = format!("edge {} of {announced}, as line {} announces", edges + 1, place.line);
            return Err(FileError::Truncated { place: end, expected });
        }
        let (found, expected) =
            (counted(edges, "edge"), format!("{announced}, as line {} announces", place.line));
        return Err(FileError::Unexpected { place: end, found, expected });
    }
    let Some(mut builder) = builder else {
        scan.word()?;
        return Err(scan.unexpected("an edge `FROM TO`"));
    };
    let named = builder.named_vertices();
    let used = named.len() as u64;
    let vertices = match &comments.announced {
        Some((nodes, _, place)) if *nodes < used => {
            let expected = format!("{nodes}, as line {} announces", place.line);
            return Err(FileError::Unexpected {
                place: scan.here(),
                found: counted(used, "vertex"),
                expected,
            });
        }
        Some((nodes, ..)) if named.last().is_none_or(|&last| u64::from(last) < *nodes) => *nodes,
        // Vertices without edges come last.
        Some((nodes, ..)) => {
            builder.renumber(&named);
            *nodes
        }
        None => {
            builder.renumber(&named);
            used
        }
    };
    builder.finish(scan, vertices as u32)
}

impl Comments {
    /// Reads a comment. Returns the numbers of vertices and edges, if the comment announces them.
    fn take(
        &mut self,
        scan: &mut Scanner<'_>,
        options: &ReadOptions,
        late: bool,
    ) -> Result<Option<(FilePosition, u64, u64)>, FileError> {
        const COMMENT_BYTES_MAX: usize = 256;
        let place = scan.here();
        let text = scan.rest_of_line(COMMENT_BYTES_MAX)?.to_ascii_lowercase();
        self.undirected |= !late && text.trim_start_matches(['#', ' ', '\t']).starts_with("undirected graph");
        let number = |name: &str| {
            let (_, rest) = text.split_once(name)?;
            rest.split_whitespace().next()?.parse::<u64>().ok()
        };
        let (Some(nodes), Some(edges)) = (number("nodes:"), number("edges:")) else { return Ok(None) };
        if nodes > u64::from(u32::MAX) {
            let (found, expected) = (format!("{nodes} nodes"), format!("at most {}", u32::MAX));
            return Err(FileError::Unexpected { place, found, expected });
        }
        self.announced = Some((nodes, edges, place.clone()));
        let ways = match options.direction {
            Direction::AsStated => 1 + u64::from(self.undirected),
            Direction::BothWays => 2,
            Direction::OneWay => 1,
        };
        Ok(Some((place, nodes, edges.saturating_mul(ways))))
    }
}

/// Writes a graph as a SNAP edge list. A comment announces the number of vertices.
pub(super) fn write(graph: &Csr, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# Directed graph")?;
    writeln!(out, "# Nodes: {} Edges: {}", graph.vertices(), graph.edges())?;
    for (source, target, weight) in graph.arcs() {
        match (&graph.weights, weight) {
            (Some(Weights::Whole(_) | Weights::Real(_)), Some(weight)) => {
                writeln!(out, "{source}\t{target}\t{weight}")?
            }
            _ => writeln!(out, "{source}\t{target}")?,
        }
    }
    Ok(())
}
