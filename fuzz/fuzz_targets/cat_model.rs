//! Any text is read as a model or refused with a place; what is read is
//! applied to a small test for a moment.
#![no_main]

use libfuzzer_sys::fuzz_target;
use litmus::cat::{Model, Prelude};
use litmus::check::{Options, check};

const TEST: &str = "C SB\n{}\nP0(atomic_int* x, atomic_int* y) { atomic_store(x, 1); int r = atomic_load(y); }\n\
     P1(atomic_int* x, atomic_int* y) { atomic_store(y, 1); int r = atomic_load(x); }\nexists (0:r=0 /\\ 1:r=0)";

fuzz_target!(|text: &str| {
    // What follows a line of dashes is read first, as a `.bell` file is; the model
    // may include it, too.
    let (text, bell) = text.split_once("\n---\n").unwrap_or((text, ""));
    let mut files = |_: &str| Ok(bell.to_owned());
    let preludes = [Prelude { file: "fuzz.bell", text: bell }];
    let Ok(mut model) = Model::parse_after(&preludes, "fuzz", "fuzz.cat", text, &mut files) else { return };
    model.variants.insert("fuzz".to_owned());
    let Ok(program) = litmus::parse::parse(TEST) else { return };
    let mut looks = 0;
    let stop = move || {
        looks += 1;
        looks > 50
    };
    let _ = check(&program, &model, &mut Options { unroll: 1, stop: Box::new(stop) });
});
