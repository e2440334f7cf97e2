//! Any text is a study whose combinations are possible or one line that says why not.

#![no_main]

use std::path::Path;

use lab::study::{RUNS_MAX, Study};
use lab::systems::Systems;
use libfuzzer_sys::fuzz_target;

/// Returns true if a text may have numbers of more than four digits. The inputs that such numbers
/// describe take long to generate.
fn has_large_numbers(text: &str) -> bool {
    let is_long = |digits: &str| digits.len() > 4;
    let has_suffix = |pair: &[u8]| pair[0].is_ascii_digit() && b"kKmMxob_eE".contains(&pair[1]);
    text.split(|c: char| !c.is_ascii_digit()).any(is_long) || text.as_bytes().windows(2).any(has_suffix)
}

fuzz_target!(|text: &str| {
    if has_large_numbers(text) || text.contains("inputs") {
        return;
    }
    match Study::parse(Path::new("study.toml"), text, &Systems::with_folder("no such folder")) {
        Ok(study) => {
            assert!((1..=RUNS_MAX).contains(&study.runs.len()));
            assert!(study.runs.iter().all(|run| run.place.len() == study.axes.len()));
        }
        Err(error) => {
            let sentence = error.to_string();
            assert!(!sentence.chars().any(char::is_control), "{sentence:?}");
        }
    }
});
