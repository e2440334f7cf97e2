//! Checks a public collection of litmus tests (the sample), if the environment variable
//! `FENCEPOST_LITMUS_SAMPLE` names its folder.
#![allow(clippy::print_stderr, reason = "a skipped test says so")]

use std::path::PathBuf;

fn sample() -> Option<PathBuf> {
    std::env::var_os("FENCEPOST_LITMUS_SAMPLE").map(PathBuf::from)
}

fn tests_of(csv: &std::path::Path) -> Vec<(String, bool)> {
    let text = std::fs::read_to_string(csv).expect("the table of verdicts is readable");
    text.lines()
        .filter_map(|line| line.rsplit_once(','))
        .map(|(file, verdict)| (file.to_owned(), verdict.trim() == "1"))
        .collect()
}

#[test]
fn every_test_of_the_sample_is_read() {
    let Some(root) = sample() else {
        eprintln!("skipped: FENCEPOST_LITMUS_SAMPLE does not name the sample's folder");
        return;
    };
    let mut read = 0;
    for table in ["PTXv6_0", "PTXv7_5", "OPENCL", "OPENCL-DR", "VULKAN", "VULKAN-DR"] {
        for (file, _) in tests_of(&root.join(format!("{table}-expected.csv"))) {
            let text = std::fs::read_to_string(root.join(&file)).expect("the test is readable");
            let program = litmus::parse::parse(&text).unwrap_or_else(|e| panic!("{file}: {e}"));
            assert!(!program.threads.is_empty(), "{file} has threads");
            read += 1;
        }
    }
    assert!(read > 100, "the sample has {read} entries");
}

/// The number of calls of `stop` after which a check ends. Two tests of the sample have tens of
/// thousands of final states. Their verdicts are certain long before the search finds all of these
/// states.
const LOOKS_MAX: u32 = 24;

/// Checks each test of a table. Returns a message for each test whose verdict is wrong or
/// undecided.
fn wrong_verdicts(
    root: &std::path::Path,
    table: &str,
    model: &str,
    races: bool,
    unroll: usize,
) -> Vec<String> {
    let model = litmus::cat::shipped(model).expect("the model is shipped").expect("it is a model");
    let mut wrong = Vec::new();
    for (file, expected) in tests_of(&root.join(format!("{table}-expected.csv"))) {
        let text = std::fs::read_to_string(root.join(&file)).expect("the test is readable");
        let program = litmus::parse::parse(&text).unwrap_or_else(|e| panic!("{file}: {e}"));
        let mut looks = 0;
        let stop = move || {
            looks += 1;
            looks > LOOKS_MAX
        };
        let mut options = litmus::check::Options { unroll, stop: Box::new(stop) };
        let report =
            litmus::check::check(&program, &model, &mut options).unwrap_or_else(|e| panic!("{file}: {e}"));
        let verdict = if races { !report.has_race() } else { report.verdict };
        if verdict != expected {
            wrong.push(format!("{file}: expected {expected}\n{}", report.herd_block()));
        } else if !report.decided {
            wrong.push(format!("{file}: undecided\n{}", report.herd_block()));
        }
    }
    wrong
}

fn assert_table(table: &str, model: &str, races: bool) {
    let Some(root) = sample() else {
        eprintln!("skipped: FENCEPOST_LITMUS_SAMPLE does not name the sample's folder");
        return;
    };
    for unroll in 0..3 {
        let wrong = wrong_verdicts(&root, table, model, races, unroll);
        assert!(wrong.is_empty(), "{} wrong verdicts, {unroll}\n{}", wrong.len(), wrong.join("\n"));
    }
}

#[test]
fn ptx_6_0_gives_the_verdicts_of_the_sample() {
    assert_table("PTXv6_0", "ptx-6.0", false);
}

#[test]
fn ptx_7_5_gives_the_verdicts_of_the_sample() {
    assert_table("PTXv7_5", "ptx-7.5", false);
}

#[test]
fn opencl_gives_the_verdicts_of_the_sample() {
    assert_table("OPENCL", "opencl", false);
}

#[test]
fn opencl_finds_the_races_of_the_sample() {
    assert_table("OPENCL-DR", "opencl", true);
}

#[test]
fn vulkan_gives_the_verdicts_of_the_sample() {
    assert_table("VULKAN", "vulkan", false);
}

#[test]
fn vulkan_finds_the_races_of_the_sample() {
    assert_table("VULKAN-DR", "vulkan", true);
}
