//! The graph files of METIS, which the 10th DIMACS challenge used as well.
//!
//! A header `VERTICES EDGES [FORMAT [VALUES]]`, then one line a vertex with its
//! neighbours, counted from 1. The three digits of the format say whether
//! there are vertex sizes, vertex weights (as many as VALUES) and edge weights.
//! Sizes and weights of vertices are checked and counted, not kept. A line that
//! begins with `%` is a comment; an empty line is a vertex without neighbours.
//! Each edge stands twice: an edge whose reverse is missing, or has another
//! weight, is an error, whatever the options.

use std::io::{self, Write};

use proto::words::counted;

use super::csr::{Csr, Weights};
use super::error::GraphError;
use super::intake::{Intake, Repairs};
use super::options::ReadOptions;
use super::scan::Scanner;

struct Header {
    vertices: u64,
    entries: u64,
    vertex_values: u64,
    weighted: bool,
}

pub(super) fn read(scan: &mut Scanner<'_>, options: &ReadOptions) -> Result<(Csr, Repairs), GraphError> {
    let (header, mut intake) = header(scan, options)?;
    let vertices = header.vertices as u32;
    let mut found = 0;
    let mut lines = Vec::new();
    for vertex in 0..vertices {
        loop {
            match scan.peek()? {
                Some(b'%') => scan.skip_line().map(drop)?,
                Some(_) => break,
                // Some writers leave out the last line if it is empty.
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
        found += vertex_line(scan, &header, vertex, &mut intake)?;
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
        return Err(GraphError::Unexpected { place: scan.here(), found, expected });
    }
    if header.vertex_values > 0 {
        intake.repairs.vertex_values_unused = header.vertices;
    }
    let (graph, repairs) = intake.finish(scan, vertices)?;
    check_mutual(scan, &graph, &lines)?;
    Ok((graph, repairs))
}

fn header<'o>(scan: &mut Scanner<'_>, options: &'o ReadOptions) -> Result<(Header, Intake<'o>), GraphError> {
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
            // The word was taken to see whether it is there.
            let values = scan.last_number("a number of vertex weights")?;
            if values.fract() != 0.0 || !(1.0..=1000.0).contains(&values) {
                return Err(scan.unexpected("a number of vertex weights from 1 to 1000"));
            }
            values as u64
        }
        Some(_) => return Err(scan.unexpected("the end of the line, since vertices have no weights")),
    };
    let mut intake = Intake::new(options, weighted);
    let header = Header { vertices, entries: 2 * edges, vertex_values: u64::from(sizes) + values, weighted };
    intake.announce(place, vertices, header.entries)?;
    scan.end_line("the end of the line after the header")?;
    Ok((header, intake))
}

/// One vertex with its neighbours. Returns how many it has.
fn vertex_line(
    scan: &mut Scanner<'_>,
    header: &Header,
    vertex: u32,
    intake: &mut Intake<'_>,
) -> Result<u64, GraphError> {
    for _ in 0..header.vertex_values {
        scan.signed("a size or weight of the vertex")?;
    }
    let mut found = 0;
    while scan.word()?.is_some() {
        let neighbour = scan.last_whole(1..=header.vertices, "a vertex")? as u32 - 1;
        let column = scan.word_column();
        let weight = if header.weighted { scan.signed("the weight of an edge")? } else { 1.0 };
        intake.arc(scan, (vertex, neighbour), weight, column)?;
        found += 1;
    }
    scan.skip_line()?;
    Ok(found)
}

/// Is each edge there in both directions, with one weight?
fn check_mutual(scan: &Scanner<'_>, graph: &Csr, lines: &[u64]) -> Result<(), GraphError> {
    let reversed = graph.reversed();
    if *graph == reversed {
        return Ok(());
    }
    let mut back = reversed.arcs();
    for (source, target, weight) in graph.arcs() {
        match back.next() {
            Some(arc) if arc == (source, target, weight) => {}
            Some((to, from, other)) if (to, from) == (source, target) => {
                let found = format!("weight {} for the edge to vertex {}", said(weight), target + 1);
                let line = lines[target as usize];
                let expected = format!("{}, its weight on line {line}", said(other));
                let place = scan.place(lines[source as usize], 1);
                return Err(GraphError::Unexpected { place, found, expected });
            }
            // The first difference: the lesser of the two lacks its reverse.
            Some((to, from, _)) if (to, from) < (source, target) => {
                return Err(one_way(scan, lines, from, to));
            }
            _ => return Err(one_way(scan, lines, source, target)),
        }
    }
    Ok(())
}

fn said(weight: Option<f64>) -> f64 {
    weight.unwrap_or(1.0)
}

fn one_way(scan: &Scanner<'_>, lines: &[u64], source: u32, target: u32) -> GraphError {
    GraphError::Unexpected {
        place: scan.place(lines[source as usize], 1),
        found: format!("an edge from vertex {} to vertex {}", source + 1, target + 1),
        expected: format!("its reverse on line {} as well", lines[target as usize]),
    }
}

/// Writes an undirected graph without self loops.
pub(super) fn write(graph: &Csr, out: &mut dyn Write) -> io::Result<()> {
    let refuse = |sentence: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, sentence.to_owned()));
    if graph.reversed() != *graph || graph.arcs().any(|(source, target, _)| source == target) {
        return refuse("a METIS file takes undirected graphs without self loops");
    }
    if matches!(graph.weights, Some(Weights::Real(_))) {
        return refuse("a METIS file takes whole weights");
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
