//! Checks the liveness tables (tests with the expected answers about termination) of a public
//! collection of litmus tests, if the environment variable `FENCEPOST_LITMUS_SAMPLE` names its
//! folder.
#![allow(clippy::print_stderr, reason = "a skipped test says so")]

use std::path::{Path, PathBuf};

use litmus::progress::Scheduler;
use litmus::suite::{Comparison, Judge, Method, Question, compare, expectations};

fn assert_table(table: &str, model: &str, scheduler: Scheduler) {
    let Some(root) = std::env::var_os("FENCEPOST_LITMUS_SAMPLE").map(PathBuf::from) else {
        eprintln!("skipped: FENCEPOST_LITMUS_SAMPLE does not name the sample's folder");
        return;
    };
    let model = litmus::cat::shipped(model).expect("it is shipped").expect("it is a model");
    let judge = Judge { method: Method::Liveness(Box::new(model), scheduler), unroll: None };
    let read = |path: &Path| std::fs::read_to_string(path).expect("the file is readable");
    let list = expectations(&read(&root.join(format!("{table}-expected.csv")))).expect("a table");
    let mut wrong = Vec::new();
    for line in &list {
        let text = read(&root.join(&line.file));
        let program = litmus::parse::parse(&text).unwrap_or_else(|e| panic!("{}: {e}", line.file));
        let answer = judge.judge(&program, &text, &mut || false).expect("the model fits");
        if compare(&answer, Question::Verdict, line.expected) != Comparison::Match {
            wrong.push(format!("{}: expected {}\n{}", line.file, line.expected, answer.herd_block()));
        }
    }
    assert!(wrong.is_empty(), "{table}: {} of {} wrong\n{}", wrong.len(), list.len(), wrong.join("\n"));
}

#[test]
fn ptx_termination_matches_the_sample() {
    assert_table("PTXv6_0-Liveness", "ptx-6.0", Scheduler::Fair);
    assert_table("PTXv7_5-Liveness", "ptx-7.5", Scheduler::Fair);
}

#[test]
fn vulkan_termination_matches_the_sample() {
    assert_table("VULKAN-Liveness-Fair", "vulkan", Scheduler::Fair);
    assert_table("VULKAN-Liveness-OBE", "vulkan", Scheduler::Obe);
    assert_table("VULKAN-Liveness-HSA", "vulkan", Scheduler::Hsa);
    assert_table("VULKAN-Liveness-LOBE", "vulkan", Scheduler::Lobe);
    assert_table("VULKAN-Liveness-HSA_OBE", "vulkan", Scheduler::HsaObe);
}
