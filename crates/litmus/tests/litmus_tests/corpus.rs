//! Compares the answers on the project's litmus tests with the tables of expected answers.

use std::path::{Path, PathBuf};

use litmus::hrf::{Model, Reading};
use litmus::progress::Scheduler;
use litmus::suite::{Comparison, Judge, Method, Question, compare, expectations};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus")
}

/// Compares the answer on every test of a table with the expected answer. Returns the number of
/// tests.
fn assert_table(table: &str, model: &str, question: Question) -> usize {
    let method = match model.parse::<Model>() {
        Ok(model) => Method::Explored(Reading::of(model)),
        Err(_) => {
            let model = litmus::cat::shipped(model).expect("it is shipped").expect("it is a model");
            Method::Clauses(Box::new(model))
        }
    };
    assert_judged(table, &Judge { method, unroll: None }, question)
}

fn assert_judged(table: &str, judge: &Judge, question: Question) -> usize {
    let text = std::fs::read_to_string(corpus().join(table)).expect("the table is readable");
    let list = expectations(&text).expect("a table");
    for line in &list {
        let text = std::fs::read_to_string(corpus().join(&line.file)).expect("the test is readable");
        let program = litmus::parse::parse(&text).unwrap_or_else(|e| panic!("{}: {e}", line.file));
        let answer = judge.judge(&program, &text, &mut || false).expect("the model fits");
        let comparison = compare(&answer, question, line.expected);
        assert_eq!(
            comparison,
            Comparison::Match,
            "{table}, {}: expected {}\n{}",
            line.file,
            line.expected,
            answer.herd_block()
        );
    }
    list.len()
}

#[test]
fn verdicts_agree_with_the_tables() {
    for model in [
        "sc",
        "tso",
        "rmo",
        "c11",
        "rc11",
        "opencl",
        "opencl-scoped",
        "opencl-rsp",
        "ptx-6.0",
        "ptx-7.5",
        "vulkan",
        "drf",
        "hrf-direct",
        "hrf-indirect",
    ] {
        let count = assert_table(&format!("{model}-expected.csv"), model, Question::Verdict);
        assert!(count >= 10, "{model} has {count} tests");
    }
}

#[test]
fn races_agree_with_the_tables() {
    for model in [
        "c11",
        "rc11",
        "opencl",
        "opencl-scoped",
        "opencl-rsp",
        "vulkan",
        "drf",
        "hrf-direct",
        "hrf-indirect",
    ] {
        let count = assert_table(&format!("{model}-race-free.csv"), model, Question::RaceFree);
        assert!(count >= 10, "{model} has {count} tests");
    }
}

#[test]
fn termination_agrees_with_the_tables() {
    for scheduler in Scheduler::ALL {
        let model = litmus::cat::shipped("vulkan").expect("it is shipped").expect("it is a model");
        let judge = Judge { method: Method::Liveness(Box::new(model), scheduler), unroll: None };
        let count = assert_judged(&format!("vulkan-liveness-{scheduler}.csv"), &judge, Question::Verdict);
        assert!(count >= 4, "{scheduler} has {count} tests");
    }
}

#[test]
fn every_test_with_a_verdict_is_in_some_table() {
    let mut listed = Vec::new();
    for entry in std::fs::read_dir(corpus()).expect("the folder is readable") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|e| e == "csv") {
            let text = std::fs::read_to_string(&path).expect("the table is readable");
            listed.extend(expectations(&text).expect("a table").into_iter().map(|e| e.file));
        }
    }
    for folder in ["c11", "opencl", "ptx", "vulkan"] {
        for entry in std::fs::read_dir(corpus().join(folder)).expect("the folder is readable") {
            let name = entry.expect("an entry").file_name().into_string().expect("a plain name");
            assert!(listed.contains(&format!("{folder}/{name}")), "{folder}/{name} is in a table");
        }
    }
}
