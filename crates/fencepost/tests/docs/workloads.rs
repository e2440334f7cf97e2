//! The page of the workloads shows what the list and the statistics say.
//!
//! `FENCEPOST_BLESS=1 cargo test --test docs` renders the page again.

use std::env;
use std::fmt::Write as _;
use std::fs;

use lab::catalog::{self, WorkloadEntry};
use lab::experiment::{Experiment, Question};
use lab::info::{Statistics, info};
use lab::systems::Systems;

use crate::tree;

const PAGE: &str = "docs/workloads.md";
/// The line that separates the text of the page from the generated part.
const MARK: &str = "<!-- Rendered from the list of workloads: FENCEPOST_BLESS=1 cargo test --test docs -->\n";
/// The machine whose shape the programs see.
const SYSTEM: &str = "hlrc-8cu";

/// The share of accesses that are updates at device scope, in Figure 3.1 and section 3.4 of Dalmia's
/// thesis.
const UPDATES_OF_LAB: [(&str, &str, f64); 6] = [
    ("PR", "pagerank-push", 0.72),
    ("CCA", "cca", 0.84),
    ("BC", "bc", 0.05),
    ("SSSP", "sssp-bellman-ford", 0.19),
    ("CLR", "color-max", 0.24),
    ("MIS", "mis", 0.43),
];

/// The programs with reuse across kernels in Figure 9 of the STC paper.
const REUSED_IN_STC: [&str; 5] = ["lulesh", "hpgmg", "snapc", "bc", "cache-reuse"];

fn statistics(workload: &WorkloadEntry, size: &str) -> Statistics {
    let question = Question {
        system: SYSTEM.to_owned(),
        scenario: "vi".to_owned(),
        workload: workload.name.to_owned(),
        size: Some(size.to_owned()),
        ..Question::default()
    };
    let experiment = Experiment::new(&Systems::with_folder("none"), &question).unwrap();
    info(&experiment).unwrap_or_else(|why| panic!("{}: {why:?}", workload.name)).statistics
}

fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

/// The programs of one room: their origins and sizes.
fn programs(workloads: &[&WorkloadEntry]) -> String {
    let mut text = String::from(
        "| workload | what it does | origin | tiny | small | paper |\n|---|---|---|---|---|---|\n",
    );
    for workload in workloads {
        let sizes = workload.sizes.iter().map(|size| {
            let settings: Vec<String> =
                size.settings.iter().map(|(name, value)| format!("`{name}={value}`")).collect();
            if settings.is_empty() { "defaults".to_owned() } else { settings.join(" ") }
        });
        let cells: Vec<String> =
            [format!("`{}`", workload.name), workload.summary.to_owned(), workload.source.to_owned()]
                .into_iter()
                .chain(sizes)
                .collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

/// The statistics of the programs of one room.
fn numbers(found: &[(&WorkloadEntry, Statistics)]) -> String {
    let mut text = String::from(
        "| workload | kernels | loads | stores | atomics | updates | ops/B | within | across | own | lines | per CU \
         | read | true | false | imbalance |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for (workload, s) in found {
        let cells = [
            format!("`{}`", workload.name),
            s.kernels.to_string(),
            s.loads.to_string(),
            s.stores.to_string(),
            percent(s.atomic_share),
            percent(s.device_atomic_share),
            format!("{:.2}", s.operations_per_byte),
            percent(s.reuse_within),
            percent(s.reuse_across),
            percent(s.read_after_write),
            s.lines.to_string(),
            format!("{:.1}", s.lines_per_cu_mean),
            s.read_shared_lines.to_string(),
            s.true_shared_lines.to_string(),
            s.false_shared_lines.to_string(),
            format!("{:.2}", s.imbalance),
        ];
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

/// The tables beside the figures of papers.
fn beside_papers(found: &[(&WorkloadEntry, Statistics)]) -> String {
    let of = |name: &str| found.iter().find(|(workload, _)| workload.name == name).map(|(_, s)| s);
    let mut text = String::from(
        "## Beside the papers\n\nFigure 3.1 and section 3.4 of Dalmia's thesis give the share of device-scope atomics in all global \
         accesses. Its inputs are large graphs; ours are tiny.\n\n| in the thesis | workload | thesis | ours, tiny \
         |\n|---|---|--:|--:|\n",
    );
    for (paper, name, share) in UPDATES_OF_LAB {
        if let Some(ours) = of(name) {
            let ours = percent(ours.device_atomic_share);
            let _ = writeln!(text, "| {paper} | `{name}` | {:.0}% | {ours} |", 100.0 * share);
        }
    }
    text += "\nFigure 9 of the STC paper names the programs with read reuse across kernels. At size `tiny` a launch may\
             \nhave one work-group, which runs on another compute unit each time.\n\n\
             | workload | reuse across kernels, small |\n|---|--:|\n";
    for (workload, _) in found.iter().filter(|(workload, _)| REUSED_IN_STC.contains(&workload.name)) {
        let ours = percent(statistics(workload, "small").reuse_across);
        let _ = writeln!(text, "| `{}` | {ours} |", workload.name);
    }
    text
}

#[test]
fn the_page_of_workloads_shows_every_workload_and_its_statistics() {
    let all = catalog::workloads();
    let ends = |workload: &&WorkloadEntry| !matches!(workload.purpose, "diagnosis" | "race");
    let found: Vec<(&WorkloadEntry, Statistics)> =
        all.iter().filter(ends).map(|workload| (workload, statistics(workload, "tiny"))).collect();
    let mut generated = String::new();
    for room in all.chunk_by(|a, b| a.room == b.room) {
        let title = room[0].room;
        let _ = writeln!(generated, "## Room {title}: {}\n", room[0].room_summary);
        generated += &programs(&room.iter().collect::<Vec<_>>());
        let here: Vec<_> = found.iter().filter(|(workload, _)| workload.room == title).cloned().collect();
        if !here.is_empty() {
            let _ = write!(generated, "\nAt size `tiny`:\n\n{}", numbers(&here));
        }
        generated.push('\n');
    }
    generated += &beside_papers(&found);
    let path = tree::root().join(PAGE);
    let page = fs::read_to_string(&path).unwrap();
    let (text, shown) = page.split_once(MARK).unwrap_or_else(|| panic!("{PAGE} has no line {MARK}"));
    if env::var_os("FENCEPOST_BLESS").is_some() {
        fs::write(&path, format!("{text}{MARK}\n{generated}")).unwrap();
        return;
    }
    let shown = shown.trim_start_matches('\n');
    assert!(shown == generated, "{PAGE} is old; `FENCEPOST_BLESS=1 cargo test --test docs` renders it");
}

/// The page names the columns that papers print; a reversed definition would show here.
#[test]
fn programs_that_stc_names_are_reused_across_kernels() {
    let all = catalog::workloads();
    for workload in all.iter().filter(|workload| REUSED_IN_STC.contains(&workload.name)) {
        let found = statistics(workload, "small");
        assert!(found.reuse_across > 0.05, "{}: {found:?}", workload.name);
    }
    let streams = all.iter().find(|workload| workload.name == "vec-copy").unwrap();
    assert_eq!(statistics(streams, "small").reuse_across, 0.0);
}
