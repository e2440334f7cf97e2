//! The reader and the writer of graph files. Files may be compressed.

use std::io::{self, Read, Write};
use std::path::Path;

use super::builder::Repairs;
use super::csr::Csr;
use super::options::{Format, ReadOptions};
use super::{dimacs, matrix_market, metis, snap};
use crate::files::{FileError, Scanner, Stream, open, unpacked};

/// A graph that was read from a file, with its repairs.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedGraph {
    /// The graph in the file, after the repairs.
    pub graph: Csr,
    /// The format that the file has.
    pub format: Format,
    /// The numbers of changes that the reader made to the graph.
    pub repairs: Repairs,
}

/// Reads a graph file as a stream. A file with the magic number of gzip is
/// decompressed, whatever its name.
///
/// # Errors
/// If the file cannot be read, is not a graph, has a defect that the options
/// refuse, or exceeds the memory budget.
pub fn read(path: &Path, options: &ReadOptions) -> Result<LoadedGraph, FileError> {
    read_from(open(path)?, path, options)
}

/// Reads a graph from a stream. Error messages name `path`. The name may also show the format of
/// the file.
///
/// # Errors
/// The errors of [`read`].
pub fn read_from<'a>(
    input: impl Read + 'a,
    path: &Path,
    options: &ReadOptions,
) -> Result<LoadedGraph, FileError> {
    let Stream { input, compressed } = unpacked(input, path)?;
    let mut scan = Scanner::new(path, input, compressed);
    let format = match options.format {
        Some(format) => format,
        None => {
            detect(path, scan.head()?).ok_or_else(|| FileError::UnknownFormat { path: path.to_owned() })?
        }
    };
    let (graph, repairs) = match format {
        Format::MatrixMarket => matrix_market::read(&mut scan, options),
        Format::Dimacs => dimacs::read(&mut scan, options),
        Format::Metis => metis::read(&mut scan, options),
        Format::Snap => snap::read(&mut scan, options),
    }?;
    Ok(LoadedGraph { graph, format, repairs })
}

/// Detects a format: first by the first bytes of the file, then by its name.
fn detect(path: &Path, head: &[u8]) -> Option<Format> {
    const BANNER: &[u8] = b"%%matrixmarket";
    if head.get(..BANNER.len()).is_some_and(|head| head.eq_ignore_ascii_case(BANNER)) {
        return Some(Format::MatrixMarket);
    }
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("mtx" | "mm") => Some(Format::MatrixMarket),
        Some("gr") => Some(Format::Dimacs),
        Some("graph" | "metis") => Some(Format::Metis),
        Some("txt" | "el" | "edges" | "snap") => Some(Format::Snap),
        _ => match head {
            [b'c', b' ' | b'\t' | b'\r' | b'\n', ..] => Some(Format::Dimacs),
            [b'p', b' ' | b'\t', b's', b'p', ..] => Some(Format::Dimacs),
            [b'#', ..] => Some(Format::Snap),
            _ => None,
        },
    }
}

/// Writes a graph in a file format.
///
/// # Errors
/// If the stream fails, or the format cannot hold the graph. METIS holds
/// undirected graphs without self loops. METIS and DIMACS hold whole weights.
pub fn write(graph: &Csr, format: Format, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::MatrixMarket => matrix_market::write(graph, out),
        Format::Dimacs => dimacs::write(graph, out),
        Format::Metis => metis::write(graph, out),
        Format::Snap => snap::write(graph, out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_banner_precedes_the_name_and_the_name_precedes_other_content() {
        let found = |name: &str, head: &str| detect(Path::new(name), head.as_bytes());
        assert_eq!(found("a.txt", "%%MatrixMarket matrix"), Some(Format::MatrixMarket));
        assert_eq!(found("a/b.GR.gz", "# x"), Some(Format::Dimacs));
        assert_eq!(found("a.metis", "3 2"), Some(Format::Metis));
        assert_eq!(found("a.el", ""), Some(Format::Snap));
        assert_eq!(found("a", "c x"), Some(Format::Dimacs));
        assert_eq!(found("a.dat", "p sp 1 0"), Some(Format::Dimacs));
        assert_eq!(found("a", "# x"), Some(Format::Snap));
        assert_eq!(found("a", "1 2"), None);
        assert_eq!(found("", ""), None);
    }
}
