//! Any text is a counterexample or refused with a line; what is one reads back as
//! written, and is made again by the explorer and with the timing, or refused in
//! a sentence.
#![no_main]

use core::cell::Cell;
use std::sync::LazyLock;

use explore::Trace;
use lab::systems::Systems;
use libfuzzer_sys::fuzz_target;
use sim::config::System;

/// The maximum number of bytes of memory that the explorer may use for a replay.
const MEMORY_BYTES: u64 = 64 << 20;

static MACHINE: LazyLock<System> =
    LazyLock::new(|| Systems::with_folder("none").load("hrf-8cu").expect("a built-in machine"));

fuzz_target!(|text: &str| {
    let trace = match Trace::read(text, subjects::explored) {
        Ok(trace) => trace,
        Err(error) => {
            assert!(error.line > 0 && !error.what.is_empty());
            return;
        }
    };
    assert_eq!(Trace::read(&trace.to_string(), subjects::explored), Ok(trace.clone()));
    let Some(subject) = subjects::explored(&trace.protocol) else { return };
    let looks = Cell::new(0);
    let stop = || {
        looks.set(looks.get() + 1);
        looks.get() > 200
    };
    if let Ok(replayed) = trace.replay(&subject, MEMORY_BYTES, &stop) {
        assert!(explore::chart::svg(&replayed.replay, &trace.title()).contains("</svg>"));
    }
    match lab::replay::replay(&trace, &subject, &MACHINE, &stop) {
        Ok(timed) => assert_eq!(timed.cycles.len(), trace.violation.moves.len()),
        Err(why) => assert!(!why.to_string().is_empty()),
    }
});
