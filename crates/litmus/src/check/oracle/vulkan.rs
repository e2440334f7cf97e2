//! Compares the search with the oracle on Vulkan programs, some of which have read-modify-writes
//! and barriers.

use super::{compare, size};
use crate::cat::shipped;
use crate::parse::parse;

#[path = "../../../tests/litmus_tests/common/vulkan.rs"]
mod random;

#[test]
fn pruning_loses_and_invents_no_execution_of_vulkan() {
    let model = shipped("vulkan").expect("it is shipped").expect("it is a model");
    let (mut candidates, mut allowed, mut exchanges, mut barriers) = (0, 0, 0, 0);
    for seed in 0..4000 {
        let text = random::test(seed);
        let program = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        if size(&program) > 400 || candidates > 60_000 {
            continue;
        }
        let (c, a) = compare(&model, &program);
        candidates += c;
        allowed += a;
        exchanges += usize::from(text.contains("rmw"));
        barriers += usize::from(text.matches("cbar.acq_rel").count() > 1);
    }
    assert!(allowed > 100 && allowed < candidates, "{allowed} of {candidates}");
    assert!(exchanges > 100 && barriers > 10, "{exchanges} with exchanges, {barriers} with barriers");
}
