//! Any bytes are a sound graph of the memory allowed, or one line that says
//! why not; and a graph that was read is the same after writing and reading.
//!
//! The first byte chooses the format and what is refused, the rest is the file.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use workloads::graph::{DefectPolicy, Direction, Format, LoadedGraph, ReadOptions, read_from, write};

fn options(byte: u8) -> ReadOptions {
    const CHOICES: [DefectPolicy; 4] =
        [DefectPolicy::Repair, DefectPolicy::Keep, DefectPolicy::Refuse, DefectPolicy::Keep];
    const DIRECTIONS: [Direction; 4] =
        [Direction::AsStated, Direction::BothWays, Direction::OneWay, Direction::AsStated];
    ReadOptions {
        format: Format::ALL.get(usize::from(byte & 7)).copied(),
        self_loops: CHOICES[usize::from(byte >> 3 & 3)],
        duplicates: CHOICES[usize::from(byte >> 5 & 3)],
        direction: DIRECTIONS[usize::from(byte >> 6)],
        memory_bytes: 1 << 22,
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, file)) = bytes.split_first() else { return };
    match read_from(file, Path::new("g.bin"), &options(first)) {
        Ok(loaded) => check(&loaded),
        Err(error) => {
            let sentence = error.to_string();
            assert!(sentence.contains("g.bin") && !sentence.chars().any(char::is_control), "{sentence}");
        }
    }
});

fn check(loaded: &LoadedGraph) {
    let graph = &loaded.graph;
    assert_eq!(graph.offsets.at(graph.vertices() as usize), graph.edges());
    for v in 0..graph.vertices() {
        assert!(graph.neighbours(v).is_sorted());
    }
    assert!(graph.targets.iter().all(|&target| target < graph.vertices()));
    let mut written = Vec::new();
    if graph.edges() > 0 && write(graph, Format::MatrixMarket, &mut written).is_ok() {
        let keep = ReadOptions {
            self_loops: DefectPolicy::Keep,
            duplicates: DefectPolicy::Keep,
            ..ReadOptions::default()
        };
        let again = read_from(&written[..], Path::new("g.mtx"), &keep).expect("what was written");
        assert_eq!(again.graph, *graph);
    }
}
