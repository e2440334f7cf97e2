//! Any text is read as a litmus test or refused with a place; what is read is
//! checked for a moment, under a model of its format and by exploration.
#![no_main]

use libfuzzer_sys::fuzz_target;
use litmus::check::{Options, check};
use litmus::hrf::{self, Model, Reading, RelaxedAs};
use litmus::program::Dialect;

fuzz_target!(|text: &str| {
    let Ok(program) = litmus::parse::parse(text) else { return };
    assert!(!litmus::parse::hash(text, &program).is_empty());
    let name = match program.dialect {
        Dialect::OpenCl => "opencl-rsp",
        Dialect::Ptx => "ptx-7.5",
        Dialect::C11 => "rc11",
        Dialect::Lisa => "hrf-direct",
        Dialect::Vulkan => "vulkan",
    };
    let Some(Ok(model)) = litmus::cat::shipped(name) else { return };
    let mut looks = 0;
    let stop = move || {
        looks += 1;
        looks > 50
    };
    let mut options = Options { unroll: 1, stop: Box::new(stop) };
    if let Ok(report) = check(&program, &model, &mut options) {
        assert!(report.complete || report.bound.is_some());
        let _ = (report.herd_block(), report.json(&program, "file"));
    }
    let reading = Reading::of(Model::HrfDirect).with_inclusion().relaxed_as(RelaxedAs::Sync);
    let options = hrf::Options { states_max: 2000, unroll: 1, ..hrf::Options::new(reading) };
    if let Ok(verdict) = hrf::check(&program, &options) {
        assert!(verdict.is_race_free() || verdict.races.iter().all(|race| !race.gaps.is_empty()));
    }
});
