//! Compares the model `vulkan` with the Vulkan model of another tool on random tests, if an
//! environment variable names the folder with the file of the other model.
#![allow(clippy::print_stderr, reason = "a skipped test says so")]

use std::collections::BTreeSet;
use std::path::PathBuf;

use litmus::cat::Model;
use litmus::check::{Options, Report, check};

use crate::common::vulkan;

/// Parses the model of the other tool, without its title and comments.
fn other(text: &str) -> Model {
    let lines = text.lines().skip(1).map(|line| line.split("//").next().unwrap_or(""));
    let text = lines.collect::<Vec<_>>().join("\n");
    Model::parse("other", "other.cat", &text, &mut |file| Err(format!("no {file}"))).expect("a model")
}

/// The final register values, and whether there is a race.
fn answer(report: &Report) -> (BTreeSet<String>, bool) {
    assert!(report.complete, "{}", report.herd_block());
    (report.states.iter().map(ToString::to_string).collect(), !report.flags.is_empty())
}

#[test]
fn another_tools_model_of_vulkan_agrees() {
    let Some(folder) = std::env::var_os("FENCEPOST_HERD_MODELS").map(PathBuf::from) else {
        eprintln!("skipped: FENCEPOST_HERD_MODELS does not name the folder of models");
        return;
    };
    let text = std::fs::read_to_string(folder.join("vulkan.cat")).expect("the model is readable");
    let other = other(&text);
    let own = litmus::cat::shipped("vulkan").expect("it is shipped").expect("it is a model");
    let (mut racy, mut several) = (0, 0);
    for seed in 0..250 {
        let text = vulkan::test(seed);
        let program = litmus::parse::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let [ours, theirs] = [&own, &other].map(|model| {
            let report = check(&program, model, &mut Options::default());
            answer(&report.unwrap_or_else(|e| panic!("{e}\n{text}")))
        });
        assert_eq!(ours, theirs, "{text}");
        racy += usize::from(ours.1);
        several += usize::from(ours.0.len() > 1);
    }
    assert!((40..240).contains(&racy) && several > 50, "{racy} race, {several} have several outcomes");
}
