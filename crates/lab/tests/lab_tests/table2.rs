//! Table 2 of the STC paper, with cells that are computed from the protocols. The page of the paper
//! shows the table, and this test compares each cell with the protocols.

use std::fs;
use std::path::{Path, PathBuf};

use lab::systems::Systems;
use proto::{Protocol, Setting};
use sim::config::System;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The rows of the table on the page of the paper, without its head: the cells of each row.
fn rows() -> Vec<Vec<String>> {
    let page = fs::read_to_string(root().join("docs/papers/stc.md")).unwrap();
    let (_, section) = page.split_once("\n## Table 2\n").expect("the page has the section");
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with('|')).skip(2);
    rows.map(|row| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

/// Whether an acquire below system scope, such as the beginning of a kernel, invalidates the L1, as
/// the table of operations on the page of the protocol says.
fn is_software_assisted(protocol: &str) -> bool {
    let page = fs::read_to_string(root().join(format!("docs/protocols/{protocol}.md"))).unwrap();
    let is_acquire = |line: &&str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        matches!(cells[..], ["", "KernelBegin", _, scopes, ..] if scopes.contains("Device"))
    };
    let acquires: Vec<&str> = page.lines().filter(is_acquire).collect();
    assert!(!acquires.is_empty(), "{protocol} has no row of the beginning of a kernel");
    acquires.iter().any(|row| row.contains("Invalidate"))
}

fn default_of(settings: &[Setting], name: &str) -> u32 {
    settings.iter().find(|setting| setting.name == name).unwrap().default as u32
}

/// The bytes that the protocol adds to the lines of the caches and to the miss registers of the L2.
fn metadata(protocol: &str, system: &System) -> u32 {
    let l1 = system.cu.count * system.l1.bytes as u32 / system.l1.line_bytes;
    let l2 = system.l2.bytes as u32 / system.l1.line_bytes;
    // A version and the end of a lease.
    let stamped = |settings: &[Setting]| 2 * default_of(settings, "timestamp_bits") * (l1 + l2) / 8;
    match protocol {
        "gpu-vi" => system.cu.count * l2 / 8,
        "tc-strong" | "tc-weak-repaired" => 4 * (l1 + l2 + system.l2.banks * system.l2.miss_registers),
        "rcc-repaired" => stamped(zoo::lease::RccRepaired::SETTINGS),
        "g-tsc-repaired" => stamped(zoo::lease::GTscRepaired::SETTINGS),
        "vi" | "stc-mb-repaired" => 0,
        other => panic!("the test does not know the metadata of {other}"),
    }
}

#[test]
fn the_table_of_peers_agrees_with_the_protocols() {
    let systems = Systems::with_folder("no such folder");
    let machines = ["stc-8cu", "stc-32cu"].map(|name| systems.load(name).unwrap());
    let yes = |is: bool| if is { "yes" } else { "no" };
    let mut protocols = Vec::new();
    for row in rows() {
        let [_, protocol, assisted, exclusive, few, many, _, atomic] = &row[..] else {
            panic!("expected 8 cells, found {row:?}");
        };
        let protocol = protocol.split('`').nth(1).expect("the name of the protocol");
        let info = zoo::ALL.iter().find(|info| info.name == protocol).unwrap();
        let is_atomic = info.claims.iter().any(|claim| claim.model == "sc");
        assert_eq!(atomic, yes(is_atomic), "{protocol}");
        assert_eq!(assisted, yes(is_software_assisted(protocol)), "{protocol}");
        let bytes = machines.each_ref().map(|machine| metadata(protocol, machine));
        let shown = [few, many].map(|cell| cell.replace(',', "").parse::<u32>().unwrap());
        assert_eq!(shown, bytes, "{protocol}");
        // If the L2 knows of copies, and writes are atomic, a write waits for the end of the copies.
        assert_eq!(exclusive != "no", is_atomic && bytes[0] > 0, "{protocol}");
        protocols.push(protocol.to_owned());
    }
    let all = [
        "gpu-vi",
        "tc-strong",
        "tc-weak-repaired",
        "rcc-repaired",
        "g-tsc-repaired",
        "vi",
        "stc-mb-repaired",
    ];
    assert_eq!(protocols, all);
}
