//! Tests the replay with timing of counterexamples of protocols that read the clock.

#[path = "../../../explore/tests/explore_tests/clocks/lease.rs"]
#[allow(dead_code, reason = "only what is refuted is made again")]
mod lease;
#[path = "../../../explore/tests/explore_tests/clocks/stamp.rs"]
#[allow(dead_code, reason = "only what is refuted is made again")]
mod stamp;

use std::collections::BTreeSet;

use explore::trace::Verdict;
use explore::verify::{Finding, Test};
use explore::{Bounds, Explorer, Fault, Limits, Move, Placement, Requirements, Subject, Trace};
use lab::replay::replay_as;
use lab::systems::Systems;
use proto::{Protocol, WritePolicy};

const BOUNDS: Bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);

/// A litmus test in which a thread passes a message to a reader that may have an old copy of the
/// word. The reader's load replaces `LOAD`.
const MESSAGE: &str = "OPENCL message
{ }

P0@wg 0, dev 0 (global atomic_int* x, global atomic_int* f) {
  atomic_store_explicit(x, 1, memory_order_seq_cst, memory_scope_device);
  int r3 = atomic_load_explicit(x, memory_order_seq_cst, memory_scope_device);
  atomic_store_explicit(f, 1, memory_order_seq_cst, memory_scope_device);
}

P1@wg 1, dev 0 (global atomic_int* x, global atomic_int* f) {
  int r0 = LOAD;
  int r1 = atomic_load_explicit(f, memory_order_seq_cst, memory_scope_device);
  int r2 = LOAD;
}

exists (1:r0=0 /\\ 1:r1=1 /\\ 1:r2=0)
";

/// Explores the litmus test [`MESSAGE`] with `load` as the load of its reader, replays the
/// counterexample with timing, and checks that the timed machine reads the same stale copy. Returns
/// the trace.
fn comes_out<P: Protocol>(load: &str, bounds: Bounds) -> Trace {
    let test = Test::read("message", &MESSAGE.replace("LOAD", load)).expect("it is a test");
    let program = &*test.program();
    let placement = Placement::spread(program);
    let one_memory = [[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1]];
    let allowed: BTreeSet<_> = one_memory.into_iter().map(|outcome| outcome.to_vec()).collect();
    let requirements = Requirements { allowed: Some(&allowed), may_block: false };
    let mut explorer = Explorer::new(&Subject::of::<P>(), bounds, None);
    let found = explorer.explore(program, &placement, &requirements, &mut Limits::default());
    let violation =
        found.expect("the machine has all that it needs").violation.expect("a stale copy is read");
    assert_eq!(violation.fault, Fault::Outcome);
    let models = vec![String::from("sc")];
    let mut test = test;
    test.placements = vec![placement];
    let trace = Trace::of("toy", &test, &Finding { test: 0, placement: 0, bounds, models, violation });
    let read = Trace::read(&trace.to_string(), subjects::explored)
        .unwrap_or_else(|error| panic!("{error}:\n{trace}"));
    assert_eq!(read, trace);
    let system = Systems::with_folder("none").load("hrf-8cu").expect("a built-in machine");
    let timed = replay_as::<P>(&trace, &system, &|| false).unwrap_or_else(|why| panic!("{why}:\n{trace}"));
    assert_eq!(timed.verdict, Verdict::Same, "{}:\n{trace}", timed.end);
    assert!(timed.cycles.iter().all(Option::is_some), "each move has its cycle");
    trace
}

const ORDINARY: &str = "*x";
const SYNCHRONIZING: &str = "atomic_load_explicit(x, memory_order_seq_cst, memory_scope_device)";

#[test]
fn leases_that_do_not_age_fail_with_timing() {
    for bounds in [BOUNDS, BOUNDS.in_full()] {
        let trace = comes_out::<lease::keeping::AnswerKeeps>(SYNCHRONIZING, bounds);
        assert!(trace.violation.moves.contains(&Move::Tick));
        comes_out::<lease::tagging::TagKeeps>(SYNCHRONIZING, bounds);
    }
}

#[test]
fn clocks_that_differ_fail_with_timing() {
    let trace = comes_out::<lease::right::Lease>(SYNCHRONIZING, BOUNDS.skewed(1));
    assert!(trace.violation.moves.iter().any(|mv| matches!(mv, Move::TickAt { .. })));
}

#[test]
fn stamp_faults_fail_with_timing() {
    comes_out::<stamp::stuck::NoAdvance>(ORDINARY, BOUNDS);
    comes_out::<stamp::forgetful::KeepsLines>(ORDINARY, BOUNDS);
}
