//! Files that are damaged, too large, missing or of an unknown format.

use std::path::Path;

use workloads::files::FileError;
use workloads::graph::{Csr, Format, ReadOptions, Weights, read, write};

use super::{gzip, load};

#[test]
fn a_compressed_file_that_ends_early_or_is_damaged_is_named_with_the_line() {
    let text: String = (0..5000).map(|v| format!("{v} {}\n", v * 7919 % 5000 + 1)).collect();
    let options = ReadOptions { format: Some(Format::Snap), ..ReadOptions::default() };
    let packed = gzip(text.as_bytes());
    let error = load(&packed[..packed.len() / 2], &options).expect_err("half a file").to_string();
    let line: u64 = error.split(':').nth(1).and_then(|line| line.parse().ok()).expect("a line");
    assert!(
        (1000..4500).contains(&line) && error.ends_with("from here on, cannot be read: it ends early"),
        "{error}"
    );
    let error = load(&packed[..packed.len() - 1], &options).expect_err("a byte less").to_string();
    assert!(error.starts_with("g:5001:1: ") && error.ends_with("it ends early"), "{error}");
    let mut damaged = packed.clone();
    let checksum = damaged.len() - 8;
    damaged[checksum] ^= 1;
    assert!(matches!(load(&damaged, &options), Err(FileError::BadGzip { .. })));
    let garbage = [&packed[..], b"more"].concat();
    assert!(matches!(load(&garbage, &options), Err(FileError::BadGzip { .. })));
    assert!(matches!(load(&packed[..3], &options), Err(FileError::BadGzip { .. })));
}

#[test]
fn a_small_file_that_decompresses_to_a_large_one_stops_at_the_budget() {
    let packed = gzip("0 1\n".repeat(1 << 20).as_bytes());
    assert!(packed.len() < 1 << 16);
    let options = ReadOptions { format: Some(Format::Snap), memory_bytes: 1 << 20, ..ReadOptions::default() };
    let error = load(&packed, &options).expect_err("too large").to_string();
    let want = ": a graph of at least 52429 arcs needs at least 1.0 MiB of memory to read, but the reader \
                may use at most 1.0 MiB";
    assert!(error.starts_with("g:52429:4") && error.ends_with(want), "{error}");
}

#[test]
fn a_path_that_cannot_be_read_and_an_unknown_format_are_named() {
    let missing = read(Path::new("no/such/file.gr"), &ReadOptions::default());
    assert!(missing.expect_err("no file").to_string().starts_with("cannot read no/such/file.gr: "));
    let folder = read(Path::new(env!("CARGO_MANIFEST_DIR")), &ReadOptions::default());
    assert!(folder.expect_err("a folder").to_string().ends_with("the path is a directory, expected a file"));
    let unknown = load(b"1 2\n", &ReadOptions::default()).expect_err("no format").to_string();
    assert!(
        unknown.starts_with("cannot tell the format of g: expected a name that ends in .mtx"),
        "{unknown}"
    );
}

#[test]
fn writing_fails_for_graphs_outside_the_format() {
    let refused =
        |graph: &Csr, format| write(graph, format, &mut Vec::new()).expect_err("refused").to_string();
    let mut graph = Csr::from_edges(2, vec![(0, 1)]);
    assert_eq!(refused(&graph, Format::Metis), "a METIS file holds undirected graphs without self loops");
    graph.weights = Some(Weights::from_values(vec![0.5]));
    assert_eq!(
        refused(&graph, Format::Dimacs),
        "a .gr file holds whole-number weights from -2^53 to 2^53, found 0.5"
    );
    let mut graph = Csr::from_edges(2, vec![(0, 1), (1, 0)]);
    graph.weights = Some(Weights::from_values(vec![0.5, 0.5]));
    assert_eq!(refused(&graph, Format::Metis), "a METIS file holds whole-number weights only");
}
