//! Any text is read as a litmus test or refused with a place; what is read is
//! checked for a moment.
#![no_main]

use libfuzzer_sys::fuzz_target;
use litmus::check::{Options, check};

fuzz_target!(|text: &str| {
    let Ok(program) = litmus::parse::parse(text) else { return };
    let Some(Ok(model)) = litmus::cat::shipped("opencl") else { return };
    let mut looks = 0;
    let stop = move || {
        looks += 1;
        looks > 50
    };
    let mut options = Options { unroll: 1, stop: Box::new(stop) };
    if let Ok(report) = check(&program, &model, &mut options) {
        assert!(report.complete || report.bound.is_some());
    }
});
