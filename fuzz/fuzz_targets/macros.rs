//! Any text is read as a file of macros or refused with a place; a test that calls
//! them is read, or refused, and checked for a moment.
#![no_main]

use libfuzzer_sys::fuzz_target;
use litmus::check::{Options, check};
use litmus::parse::{Macros, hash, parse_with};

fuzz_target!(|text: &str| {
    // What follows a line of dashes is the code of a thread.
    let (text, code) = text.split_once("\n---\n").unwrap_or((text, "A(x); int r0 = B(*x, 1);"));
    let Ok(macros) = Macros::parse(text) else { return };
    let test = format!(
        "C fuzz\n{{}}\nP0(int *x, int *y) {{ {code} }}\nP1(int *x, int *y) {{ A(y); }}\nexists (x=1)"
    );
    let Ok(program) = parse_with(&test, &macros) else { return };
    assert!(!hash(&test, &program).is_empty());
    let Some(Ok(model)) = litmus::cat::shipped("rc11") else { return };
    let mut looks = 0;
    let stop = move || {
        looks += 1;
        looks > 50
    };
    if let Ok(report) = check(&program, &model, &mut Options { unroll: 1, stop: Box::new(stop) }) {
        assert!(report.complete || report.bound.is_some());
    }
});
