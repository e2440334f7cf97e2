//! The public sample, if the environment says where it lies.
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
    for table in ["PTXv6_0", "PTXv7_5", "OPENCL", "OPENCL-DR"] {
        for (file, _) in tests_of(&root.join(format!("{table}-expected.csv"))) {
            let text = std::fs::read_to_string(root.join(&file)).expect("the test is readable");
            let program = litmus::parse::parse(&text).unwrap_or_else(|e| panic!("{file}: {e}"));
            assert!(!program.threads.is_empty(), "{file} has threads");
            read += 1;
        }
    }
    assert!(read > 100, "the sample has {read} entries");
}
