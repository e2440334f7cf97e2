//! The page of results shows the list of all workloads and their statistics, and the page of
//! workloads defines the statistics.
//!
//! `FENCEPOST_BLESS=1 cargo test --test fencepost_tests docs` renders the page again.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::sync::Mutex;
use std::thread;

use lab::catalog::{self, WorkloadEntry};
use lab::experiment::{Experiment, Question};
use lab::info::{Statistics, info};
use lab::systems::Systems;
use serde::Deserialize;

use super::tree;

/// The page that defines the statistics.
const PAGE: &str = "docs/workloads.md";
/// The page with the list of all workloads and their statistics.
const RESULTS: &str = "docs/results/workloads.md";
/// The file with the recorded times of the workloads at the largest size.
const TIMES: &str = "docs/results/workloads.toml";
/// The line that separates the text of the page from the generated part.
const MARK: &str = "<!-- Rendered from the list of workloads: FENCEPOST_BLESS=1 cargo test --test fencepost_tests docs -->\n";
/// The machine whose shape (such as its number of compute units) the programs use.
const SYSTEM: &str = "hlrc-8cu";

/// The share of accesses that are updates at device scope, in Figure 3.1 and section 3.4 of
/// Dalmia's thesis. Each entry has the program in the thesis, our workload, and the share.
const UPDATES_OF_LAB: [(&str, &str, f64); 6] = [
    ("PR", "pagerank-push", 0.72),
    ("CCA", "cca", 0.84),
    ("BC", "bc", 0.05),
    ("SSSP", "sssp-bellman-ford", 0.19),
    ("CLR", "color-max", 0.24),
    ("MIS", "mis", 0.43),
];

/// Our workloads for the programs that have reuse across kernels in Figure 9 of the STC paper.
const REUSED_IN_STC: [&str; 5] = ["lulesh", "hpgmg", "snapc", "bc", "cache-reuse"];

/// The programs of Table 3.2 of Hechtman's thesis, which Figure 3.1 shows, each with our workload.
const IN_TABLE_32: [(&str, &str); 9] = [
    ("barnes-hut", "barnes-hut"),
    ("matrix mult", "matmul"),
    ("dijkstra", "dijkstra"),
    ("2D convolution", "convolution-2d"),
    ("fft", "fft"),
    ("nn", "nn"),
    ("hotspot", "hotspot"),
    ("kmeans", "kmeans"),
    ("bfs", "bfs"),
];

/// The programs that sections 4.3 to 4.5 of Hechtman's thesis name. Each entry has the program in
/// the thesis, our workload, and the amount of reuse in Figure 4.4 according to the text of the
/// thesis.
const REUSED_IN_QR: [(&str, &str, &str); 12] = [
    ("APSP", "apsp", "intermediate"),
    ("backprop", "backprop", "intermediate"),
    ("kmeans", "kmeans", "not said"),
    ("histogram", "histogram", "not said"),
    ("lud", "lud", "not said"),
    ("bfs", "bfs", "at the border"),
    ("matrixmul", "matmul", "at the border"),
    ("dct", "dct", "at the border"),
    ("sort", "radix-sort", "very high or very low"),
    ("sradi", "srad", "very high or very low"),
    ("spmv", "spmv", "very high or very low"),
    ("nw", "nw", "very high or very low"),
];

/// The times of one run of each workload at size `paper`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Times {
    /// The computer that ran the simulations.
    computer: String,
    /// The simulated machine.
    system: String,
    protocol: String,
    /// For each workload, the settings of its run and the CPU time in seconds.
    paper: BTreeMap<String, (String, f64)>,
}

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

/// The settings of a workload at one size that differ from the defaults, as a text.
fn settings(workload: &WorkloadEntry, size: &str) -> String {
    let of_size = workload.sizes.iter().find(|known| known.name == size).unwrap();
    let settings: Vec<String> =
        of_size.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    settings.join(" ")
}

fn as_code(settings: &str) -> String {
    let all: Vec<String> = settings.split_whitespace().map(|setting| format!("`{setting}`")).collect();
    if all.is_empty() { "defaults".to_owned() } else { all.join(" ") }
}

/// The text of a time in seconds. Times below ten seconds have one decimal.
fn seconds(time: f64) -> String {
    if time < 9.95 { format!("{time:.1}") } else { format!("{time:.0}") }
}

/// A table of the workloads of one room (a group of workloads): their origins, their settings at
/// each size, and their times.
fn programs(workloads: &[&WorkloadEntry], times: &Times) -> String {
    let mut text = String::from(
        "| workload | what it does | origin | tiny | small | paper | CPU seconds |\n|---|---|---|---|---|---|--:|\n",
    );
    for workload in workloads {
        let [tiny, small, paper] = ["tiny", "small", "paper"].map(|size| as_code(&settings(workload, size)));
        let time = times.paper.get(workload.name).map_or(String::new(), |(_, time)| seconds(*time));
        let (name, what, origin) = (workload.name, workload.summary, workload.source);
        let _ = writeln!(text, "| `{name}` | {what} | {origin} | {tiny} | {small} | {paper} | {time} |");
    }
    text
}

/// A table of the statistics of the workloads of one room (a group of workloads). `size` is 0 for
/// `tiny` and 1 for `small`.
fn numbers(entries: &[&WorkloadStatistics<'_>], size: usize) -> String {
    let mut text = String::from(
        "| workload | kernels | loads | stores | atomics | updates | ops/B | within | across | own | lines | per CU \
         | read | true | false | imbalance |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for entry in entries {
        let s = &entry.statistics[size];
        let cells = [
            format!("`{}`", entry.workload.name),
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

/// A workload with its statistics at the sizes `tiny` and `small`.
struct WorkloadStatistics<'a> {
    workload: &'a WorkloadEntry,
    statistics: [Statistics; 2],
}

/// The statistics of all workloads except those for diagnosis and those with races. They are
/// computed on all cores of the computer.
fn all_statistics(all: &[WorkloadEntry]) -> Vec<WorkloadStatistics<'_>> {
    let ends = |workload: &&WorkloadEntry| !matches!(workload.purpose, "diagnosis" | "race");
    let (waiting, entries) = (Mutex::new(all.iter().filter(ends).enumerate()), Mutex::new(BTreeMap::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some((at, workload)) = waiting.lock().unwrap().next() else { break };
                    let statistics = ["tiny", "small"].map(|size| statistics(workload, size));
                    entries.lock().unwrap().insert(at, WorkloadStatistics { workload, statistics });
                }
            });
        }
    });
    entries.into_inner().unwrap().into_values().collect()
}

/// The statistics of one workload at the sizes `tiny` and `small`.
fn of<'a>(entries: &'a [WorkloadStatistics<'_>], name: &str) -> &'a [Statistics; 2] {
    &entries.iter().find(|entry| entry.workload.name == name).unwrap().statistics
}

/// The part of the page with tables that compare our numbers with figures of papers. The figures
/// are pictures without numbers, so the tables show what the texts of the papers say about them.
fn beside_papers(entries: &[WorkloadStatistics<'_>]) -> String {
    let mut text = String::from("## Beside the papers\n\n");
    text += "Figures 3.1, 4.3 and 4.4 of Hechtman's thesis are pictures without numbers. So the next two\n\
             tables show our numbers at size `small`, beside what the text of the thesis says.\n\n\
             Figure 3.1 of Hechtman's thesis shows the number of loads for each store of the programs in\n\
             its Table 3.2. The text says that stencils and linear algebra load more than they store\n\
             (section 3.2.6).\n\n\
             | program in the thesis | workload | loads per store |\n\
             |---|---|--:|\n";
    for (paper, name) in IN_TABLE_32 {
        let ratio = of(entries, name)[1].loads_per_store;
        let ratio = ratio.map_or("no store".to_owned(), |ratio| format!("{ratio:.2}"));
        let _ = writeln!(text, "| {paper} | `{name}` | {ratio} |");
    }
    text += "\nFigure 4.4 of Hechtman's thesis shows the reads that hit an L1 under read for ownership.\n\
             Figure 4.3 shows the reads that hit a line which the same L1 has written. The text says that\n\
             several programs never read a written line again, and that lud reads written lines most often\n\
             (sections 4.3.2 and 4.5.1). Our `lud` is the program of Rodinia. It reads a block into local\n\
             memory and later writes the block from there, so it does not have the largest share in the\n\
             column *own*. For our numbers, each cache has room for all lines.\n\n\
             | program in the thesis | workload | reuse in the text | ours: within or across | ours: own |\n\
             |---|---|---|--:|--:|\n";
    for (paper, name, said) in REUSED_IN_QR {
        let s = &of(entries, name)[1];
        let reuse = percent(s.reuse_within + s.reuse_across);
        let _ = writeln!(text, "| {paper} | `{name}` | {said} | {reuse} | {} |", percent(s.read_after_write));
    }
    text += "\nFigure 3.1 and section 3.4 of Dalmia's thesis give the share of device-scope atomics in all\n\
             global accesses, measured on large graphs. In the thesis, PR is a program of Pannotia, and\n\
             CCA, SSSP, CLR and MIS are programs of a study of push and pull (reference 199 of the thesis).\n\
             Our `sssp-bellman-ford`, `color-max` and `mis` follow Pannotia: their kernels pull values from\n\
             neighbours, and use atomics only for flags. Atomic loads, which our `cca` makes, count as\n\
             atomics and not as updates.\n\n\
             | program in the thesis | workload | share in the thesis | ours: updates, tiny | \
             ours: updates, small | ours: all atomics, small |\n\
             |---|---|--:|--:|--:|--:|\n";
    for (paper, name, share) in UPDATES_OF_LAB {
        let [tiny, small] = of(entries, name);
        let updates = [tiny, small].map(|s| percent(s.device_atomic_share)).join(" | ");
        let atomics = percent(small.atomic_share);
        let _ = writeln!(text, "| {paper} | `{name}` | {:.0}% | {updates} | {atomics} |", 100.0 * share);
    }
    text += "\nFigure 9 of the STC paper names programs whose hit rates rise without acquires, because they\n\
             read lines again in later kernels. The table shows the share of such reads in our programs. It\n\
             has no values for the size `tiny`: at this size a launch may have a single work-group, which\n\
             runs on another compute unit in each launch.\n\n\
             | workload | share of line reads with reuse across kernels, size `small` |\n\
             |---|--:|\n";
    for name in REUSED_IN_STC {
        let _ = writeln!(text, "| `{name}` | {} |", percent(of(entries, name)[1].reuse_across));
    }
    text
}

/// Reads the recorded times at size `paper`. Checks that each time was measured with the settings
/// that this size has now.
fn times(all: &[WorkloadEntry]) -> Times {
    let text = fs::read_to_string(tree::root().join(TIMES)).unwrap();
    let times: Times = toml::from_str(&text).unwrap_or_else(|error| panic!("{TIMES}: {error}"));
    for workload in all.iter().filter(|workload| !matches!(workload.purpose, "diagnosis" | "race")) {
        let (measured, _) = times
            .paper
            .get(workload.name)
            .unwrap_or_else(|| panic!("{TIMES} has no time of `{}` at size paper", workload.name));
        let settings = settings(workload, "paper");
        assert_eq!(*measured, settings, "{TIMES}: `{}` was measured with other settings", workload.name);
    }
    for name in times.paper.keys() {
        assert!(all.iter().any(|workload| workload.name == name), "{TIMES}: no workload `{name}`");
    }
    times
}

#[test]
fn the_page_of_results_shows_every_workload_and_its_statistics() {
    let all = catalog::workloads();
    let (entries, times) = (all_statistics(&all), times(&all));
    let mut generated = format!(
        "The column *CPU seconds* is the time of one simulation at size `paper`, on the machine `{}` under \
         `{}`.\nIt was measured once for each workload, on {}.\n[workloads.toml](workloads.toml) contains \
         these times.\n\n",
        times.system, times.protocol, times.computer
    );
    for room in all.chunk_by(|a, b| a.room == b.room) {
        let title = room[0].room;
        let _ = writeln!(generated, "## Room {title}: {}\n", room[0].room_summary);
        generated += &programs(&room.iter().collect::<Vec<_>>(), &times);
        let here: Vec<_> = entries.iter().filter(|entry| entry.workload.room == title).collect();
        for (size, name) in ["tiny", "small"].into_iter().enumerate().filter(|_| !here.is_empty()) {
            let _ = write!(
                generated,
                "\nThe statistics at size `{name}` ([columns](../workloads.md#statistics)):\n\n{}",
                numbers(&here, size)
            );
        }
        generated.push('\n');
    }
    generated += &beside_papers(&entries);
    let path = tree::root().join(RESULTS);
    let page = fs::read_to_string(&path).unwrap();
    let (text, shown) = page.split_once(MARK).unwrap_or_else(|| panic!("{RESULTS} has no line {MARK}"));
    if env::var_os("FENCEPOST_BLESS").is_some() {
        fs::write(&path, format!("{text}{MARK}\n{generated}")).unwrap();
        return;
    }
    let shown = shown.trim_start_matches('\n');
    assert!(
        shown == generated,
        "{RESULTS} is old; `FENCEPOST_BLESS=1 cargo test --test fencepost_tests docs` renders it"
    );
}

/// The help text of `workload info` says that the page defines every statistic.
#[test]
fn the_page_defines_every_statistic_that_the_command_prints() {
    let text = fs::read_to_string(tree::root().join(PAGE)).unwrap();
    let Ok(serde_json::Value::Object(keys)) = serde_json::to_value(Statistics::default()) else {
        panic!("statistics are an object")
    };
    let missing: Vec<&String> = keys.keys().filter(|key| !text.contains(&format!("`{key}`"))).collect();
    assert!(keys.len() > 20 && missing.is_empty(), "{PAGE} does not define {missing:?}");
}

/// The workloads that the STC paper names have reuse across kernels, and `vec-copy` has none. So
/// this test fails if the definition of reuse across kernels is reversed. The page of results shows
/// the reuse of these workloads under the heading `Beside the papers`.
#[test]
fn programs_that_stc_names_are_reused_across_kernels() {
    let all = catalog::workloads();
    for workload in all.iter().filter(|workload| REUSED_IN_STC.contains(&workload.name)) {
        let measured = statistics(workload, "small");
        assert!(measured.reuse_across > 0.05, "{}: {measured:?}", workload.name);
    }
    let streams = all.iter().find(|workload| workload.name == "vec-copy").unwrap();
    assert_eq!(statistics(streams, "small").reuse_across, 0.0);
}
