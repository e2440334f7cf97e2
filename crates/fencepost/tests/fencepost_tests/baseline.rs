//! Tests of the comparison of benchmarks with a baseline. If the count (of instructions or bytes)
//! of a benchmark grows beyond the limit, the benchmark fails, and the failure names it. Any other
//! change of a count is only reported.

#[path = "../../benches/speed/baseline.rs"]
mod comparison;

use core::num::NonZeroU64;

use comparison::{Comparison, Counts};

fn counts(counts: &[(&str, u64)]) -> Counts {
    let count = |&(name, count): &(&str, u64)| (name.to_owned(), NonZeroU64::new(count).unwrap());
    Counts {
        compiler: "rustc 1.95.0".to_owned(),
        target: "x86_64-unknown-linux-gnu".to_owned(),
        counts: counts.iter().map(count).collect(),
    }
}

/// Compares the counts `now` with a baseline in which the benchmarks `race` and `stress` have a
/// million instructions each.
fn compared(now: &[(&str, u64)]) -> Comparison {
    counts(now).compare(&counts(&[("race", 1_000_000), ("stress", 1_000_000)]), |_| true)
}

#[test]
fn growth_beyond_three_percent_fails_with_the_name() {
    let found = compared(&[("race", 1_030_000), ("stress", 1_000_000)]);
    assert!(found.failures.is_empty() && found.notes.is_empty(), "{found:?}");
    let found = compared(&[("race", 1_030_001), ("stress", 1_000_000)]);
    assert_eq!(found.failures, ["race grew by 3.0%, more than 3%"]);
    let found = compared(&[("race", 2_000_000), ("stress", 1_100_000)]);
    assert_eq!(found.failures, ["race grew by 100.0%, more than 3%", "stress grew by 10.0%, more than 3%"]);
}

#[test]
fn a_decrease_is_reported_and_does_not_fail() {
    let found = compared(&[("race", 970_000), ("stress", 969_999)]);
    assert!(found.failures.is_empty(), "{found:?}");
    assert_eq!(found.notes, ["stress fell by 3.0%: `cargo bench -- --bless` keeps that"]);
}

#[test]
fn a_benchmark_on_one_side_only_fails() {
    let found = compared(&[("race", 1_000_000)]);
    assert_eq!(found.failures, ["stress is in the baseline, and was not measured"]);
    let found = compared(&[("race", 1_000_000), ("stress", 1_000_000), ("verify", 7)]);
    assert_eq!(found.failures, ["verify is new: the baseline does not have it"]);
}

#[test]
fn benchmarks_that_were_not_selected_are_ignored() {
    let kept = counts(&[("race", 1_000_000), ("stress", 1_000_000)]);
    let found = counts(&[("race", 1_200_000)]).compare(&kept, |name| name == "race");
    assert_eq!(found.failures, ["race grew by 20.0%, more than 3%"]);
    assert!(!found.table.contains("stress"), "{}", found.table);
}

#[test]
fn another_compiler_is_named_and_given_ten_percent() {
    let kept = Counts { compiler: "rustc 1.94.0".to_owned(), ..counts(&[("race", 1_000_000)]) };
    let found = counts(&[("race", 1_100_000)]).compare(&kept, |_| true);
    assert!(found.failures.is_empty(), "{found:?}");
    assert!(found.notes[0].contains("of rustc 1.94.0, this is rustc 1.95.0"), "{found:?}");
    let found = counts(&[("race", 1_100_001)]).compare(&kept, |_| true);
    assert_eq!(found.failures, ["race grew by 10.0%, more than 10%"]);
}

#[test]
fn counts_of_another_target_are_not_compared() {
    let kept = Counts { target: "aarch64-apple-darwin".to_owned(), ..counts(&[("race", 1)]) };
    let found = counts(&[("race", 1_000_000), ("stress", 1)]).compare(&kept, |_| true);
    assert!(found.failures.is_empty(), "{found:?}");
    assert!(found.notes[0].contains("for aarch64-apple-darwin"), "{found:?}");
}

#[test]
fn the_table_has_a_line_a_benchmark() {
    let found = compared(&[("race", 1_010_000), ("verify", 1234)]);
    let rows: Vec<Vec<&str>> = found.table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[1], ["race", "1,010,000", "1,000,000", "1.0100"]);
    assert_eq!(rows[2], ["stress", "-", "1,000,000", "-"]);
    assert_eq!(rows[3], ["verify", "1,234", "-", "-"]);
}

#[test]
fn a_bad_file_is_refused_with_the_place() {
    let head = "compiler = \"rustc\"\ntarget = \"x\"\n";
    for (text, line, why) in [
        ("compiler = 1\n".to_owned(), "line 1", "expected a string"),
        (format!("{head}[counts]\nrace = 0\n"), "line 4", "expected a nonzero"),
        (format!("{head}[counts]\nrace = -5\n"), "line 4", "expected a nonzero"),
        (format!("{head}[counts]\nrace = 5\nrace = 6\n"), "line 5", "duplicate key"),
        (format!("{head}[count]\nrace = 5\n"), "line 3", "unknown field `count`"),
        (head.to_owned(), "line 1", "missing field `counts`"),
    ] {
        let error = Counts::parse(&text).unwrap_err();
        assert!(error.contains(line) && error.contains(why), "{text}{error}");
    }
}

#[test]
fn counts_survive_their_file_and_the_shipped_file_is_valid() {
    let kept = counts(&[("race", 1_000_000), ("stress", 123)]);
    assert_eq!(Counts::parse(&kept.text()), Ok(kept));
    let shipped = include_str!("../../../../benches/baseline.toml");
    assert_eq!(Counts::parse(shipped).unwrap().text(), shipped);
}
