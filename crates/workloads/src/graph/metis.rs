//! The graph files of METIS and of the 10th DIMACS challenge.
//!
//! A file has a header `VERTICES EDGES [FORMAT [VALUES]]`, then one line for each vertex with its
//! neighbours, which count from 1. FORMAT has up to three digits: they say whether the file has
//! sizes of vertices, weights of vertices (VALUES of them for each vertex), and weights of edges.
//! The reader checks and counts sizes and weights of vertices, but does not keep them. A line that
//! begins with `%` is a comment. An empty line is a vertex without neighbours. A file lists each
//! edge at both ends. If the file lists it at one end only, or with two weights, the reader refuses
//! the file under all options.

use std::io::{self, Write};

use proto::words::counted;

use super::builder::{GraphBuilder, Repairs};
use super::csr::{Csr, Weights};
use super::options::ReadOptions;
use crate::files::{FileError, Scanner};

struct Header {
    vertices: u64,
    entries: u64,
    vertex_values: u64,
    weighted: bool,
}

pub(super) fn read(scan: &mut Scanner<'_>, options: &ReadOptions) -> Result<(Csr, Repairs), FileError> {
    let (header, mut builder) = header(scan, options)?;
    let vertices = header.vertices as u32;
    let mut found = 0;
    let mut lines = Vec::new();
    for vertex in 0..vertices {
        loop {
            match scan.peek()? {
                Some(b'%') => scan.skip_line().map(drop)?,
                Some(_) => break,
                // Some programs do not write an empty last line.
                None if vertex + 1 == vertices && header.vertex_values == 0 && found == header.entries => {
                    break;
                }
                None => {
                    scan.word()?;
                    return Err(scan.unexpected(&format!("the line of vertex {} of {vertices}", vertex + 1)));
                }
            }
        }
        lines.push(scan.line());
        found += vertex_line(scan, &header, vertex, &mut builder)?;
    }
    if scan.next_line(b"%")? {
        scan.word()?;
        return Err(
            scan.unexpected(&format!("the end of the file after {}", counted(vertices.into(), "vertex")))
        );
    }
    if found != header.entries {
        let found = format!("{} in all", counted(found, "neighbour"));
        let expected = format!("{}, two for each edge of the header", header.entries);
        return Err(FileError::Unexpected { place: scan.here(), found, expected });
    }
    if header.vertex_values > 0 {
        builder.repairs.vertex_values_unused = header.vertices;
    }
    let (graph, repairs) = builder.finish(scan, vertices)?;
    check_mutual(scan, &graph, &lines)?;
    Ok((graph, repairs))
}

fn header<'o>(
    scan: &mut Scanner<'_>,
    options: &'o ReadOptions,
) -> Result<(Header, GraphBuilder<'o>), FileError> {
    if !scan.next_line(b"%")? {
        scan.word()?;
        return Err(scan.unexpected("a header `VERTICES EDGES [FORMAT [VALUES]]`"));
    }
    let vertices = scan.whole(1..=u64::from(u32::MAX), "a number of vertices")?;
    let edges = scan.whole(0..=u64::MAX / 4, "a number of edges")?;
    let place = scan.word_place();
    let digits = match scan.word()? {
        None => [false; 3],
        Some(word) if word.len() <= 3 && word.iter().all(|digit| matches!(digit, b'0' | b'1')) => {
            let mut digits = [false; 3];
            for (digit, &letter) in digits.iter_mut().rev().zip(word.iter().rev()) {
                *digit = letter == b'1';
            }
            digits
        }
        Some(_) => return Err(scan.unexpected("a format of at most three digits 0 or 1")),
    };
    let [sizes, weights, weighted] = digits;
    let values = match scan.word()? {
        None => u64::from(weights),
        Some(_) if weights => {
            // The word was already taken when its presence was checked.
            let values = scan.last_number("a number of vertex weights")?;
            if values.fract() != 0.0 || !(1.0..=1000.0).contains(&values) {
                return Err(scan.unexpected("a number of vertex weights from 1 to 1000"));
            }
            values as u64
        }
        Some(_) => return Err(scan.unexpected("the end of the line, since vertices have no weights")),
    };
    let mut builder = GraphBuilder::new(options, weighted);
    let header = Header { vertices, entries: 2 * edges, vertex_values: u64::from(sizes) + values, weighted };
    builder.reserve(place, vertices, header.entries)?;
    scan.end_line("the end of the line after the header")?;
    Ok((header, builder))
}

/// Reads the line of one vertex. Returns the number of neighbours that the line lists.
fn vertex_line(
    scan: &mut Scanner<'_>,
    header: &Header,
    vertex: u32,
    builder: &mut GraphBuilder<'_>,
) -> Result<u64, FileError> {
    for _ in 0..header.vertex_values {
        scan.signed("a size or weight of the vertex")?;
    }
    let mut found = 0;
    while scan.word()?.is_some() {
        let neighbour = scan.last_whole(1..=header.vertices, "a vertex")? as u32 - 1;
        let column = scan.word_column();
        let weight = if header.weighted { scan.signed("the weight of an edge")? } else { 1.0 };
        builder.add_arc(scan, (vertex, neighbour), weight, column)?;
        found += 1;
    }
    scan.skip_line()?;
    Ok(found)
}

/// Checks that each edge is listed at both ends, with the same weight.
fn check_mutual(scan: &Scanner<'_>, graph: &Csr, lines: &[u64]) -> Result<(), FileError> {
    let reversed = graph.reversed();
    if *graph == reversed {
        return Ok(());
    }
    let mut back = reversed.arcs();
    for (source, target, weight) in graph.arcs() {
        match back.next() {
            Some(arc) if arc == (source, target, weight) => {}
            Some((to, from, other)) if (to, from) == (source, target) => {
                let found = format!("weight {} for the edge to vertex {}", weight_or_one(weight), target + 1);
                let line = lines[target as usize];
                let expected = format!("{}, the weight of this edge on line {line}", weight_or_one(other));
                let place = scan.place(lines[source as usize], 1);
                return Err(FileError::Unexpected { place, found, expected });
            }
            // The arcs of both lists are sorted. At the first difference, the smaller arc has no
            // reverse arc.
            Some((to, from, _)) if (to, from) < (source, target) => {
                return Err(one_way(scan, lines, from, to));
            }
            _ => return Err(one_way(scan, lines, source, target)),
        }
    }
    Ok(())
}

fn weight_or_one(weight: Option<f64>) -> f64 {
    weight.unwrap_or(1.0)
}

fn one_way(scan: &Scanner<'_>, lines: &[u64], source: u32, target: u32) -> FileError {
    FileError::Unexpected {
        place: scan.place(lines[source as usize], 1),
        found: format!("an edge from vertex {} to vertex {}", source + 1, target + 1),
        expected: format!("the reverse edge on line {}", lines[target as usize]),
    }
}

/// Writes an undirected graph without self loops as a METIS file.
pub(super) fn write(graph: &Csr, out: &mut dyn Write) -> io::Result<()> {
    let refuse = |sentence: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, sentence.to_owned()));
    if graph.reversed() != *graph || graph.arcs().any(|(source, target, _)| source == target) {
        return refuse("a METIS file holds undirected graphs without self loops");
    }
    if matches!(graph.weights, Some(Weights::Real(_))) {
        return refuse("a METIS file holds whole-number weights only");
    }
    let format = if graph.weights.is_some() { " 001" } else { "" };
    writeln!(out, "{} {}{format}", graph.vertices(), graph.edges() / 2)?;
    for v in 0..graph.vertices() {
        for (nth, index) in graph.row(v).enumerate() {
            let blank = if nth > 0 { " " } else { "" };
            write!(out, "{blank}{}", graph.targets[index] + 1)?;
            if let Some(weights) = &graph.weights {
                write!(out, " {}", weights.at(index))?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}
