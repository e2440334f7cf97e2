//! Graph files: round trips, repairs, limits and error messages.

mod errors;
mod limits;
mod repairs;
mod round_trips;

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use workloads::files::FileError;
use workloads::graph::{Csr, DefectPolicy, Format, LoadedGraph, ReadOptions, read_from, write};

fn keep_all(format: Format) -> ReadOptions {
    let format = Some(format);
    ReadOptions {
        format,
        self_loops: DefectPolicy::Keep,
        duplicates: DefectPolicy::Keep,
        ..ReadOptions::default()
    }
}

fn load(bytes: &[u8], options: &ReadOptions) -> Result<LoadedGraph, FileError> {
    read_from(bytes, Path::new("g"), options)
}

fn written(graph: &Csr, format: Format) -> Vec<u8> {
    let mut out = Vec::new();
    write(graph, format, &mut out).expect("a graph that the format can hold");
    out
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}
