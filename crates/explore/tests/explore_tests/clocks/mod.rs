//! Protocols with clocks, explored, stressed and replayed. Each toy protocol needs one of the
//! guarantees about time that the contract of protocols gives, and a fault in the toy protocol is
//! detected.

#![allow(dead_code, reason = "the simulator's tests use the same toys")]

mod lease;
mod ordered;
mod stamp;
mod station;

use std::collections::BTreeSet;

use explore::stress::{Options, stress};
use explore::verify::Test;
use explore::{
    Bounds, Exploration, Explorer, Fault, Incomplete, Limits, Move, Outcome, Placement, Requirements,
    Subject, Violation,
};
use lease::{guarded, keeping, long, right, sleeping, tagging, timeless};
use proto::{Protocol, WritePolicy};
use stamp::{absolute, forgetful, four_bits, further, rebased, stuck};

/// A program in which the reader has a copy of `x` before the message arrives.
const STALE: &str = "OPENCL stale
{ }

P0@wg 0, dev 0 (global atomic_int* x, global atomic_int* f) {
  atomic_store_explicit(x, 1, memory_order_seq_cst, memory_scope_device);
  atomic_store_explicit(f, 1, memory_order_seq_cst, memory_scope_device);
}

P1@wg 1, dev 0 (global atomic_int* x, global atomic_int* f) {
  int r0 = atomic_load_explicit(x, memory_order_seq_cst, memory_scope_device);
  int r1 = atomic_load_explicit(f, memory_order_seq_cst, memory_scope_device);
  int r2 = atomic_load_explicit(x, memory_order_seq_cst, memory_scope_device);
}

exists (1:r0=0 /\\ 1:r1=1 /\\ 1:r2=0)
";

/// The program `STALE` with ordinary loads of `x`, which caches may answer; the writer reads its
/// own write.
const ORDINARY: &str = "OPENCL ordinary
{ }

P0@wg 0, dev 0 (global atomic_int* x, global atomic_int* f) {
  atomic_store_explicit(x, 1, memory_order_seq_cst, memory_scope_device);
  int r3 = atomic_load_explicit(x, memory_order_seq_cst, memory_scope_device);
  atomic_store_explicit(f, 1, memory_order_seq_cst, memory_scope_device);
}

P1@wg 1, dev 0 (global int* x, global atomic_int* f) {
  int r0 = *x;
  int r1 = atomic_load_explicit(f, memory_order_seq_cst, memory_scope_device);
  int r2 = *x;
}

exists (1:r0=0 /\\ 1:r1=1 /\\ 1:r2=0)
";

/// A program with a lock. The attempts to take the lock are writes, in unlimited number.
const LOCK: &str = "OPENCL lock
{ }

P0@wg 0, dev 0 (global int* x, global atomic_int* l) {
  while (atomic_exchange_explicit(l, 1, memory_order_seq_cst, memory_scope_device)) { }
  int r0 = *x;
  *x = r0 + 1;
  atomic_store_explicit(l, 0, memory_order_seq_cst, memory_scope_device);
}

P1@wg 1, dev 0 (global int* x, global atomic_int* l) {
  while (atomic_exchange_explicit(l, 1, memory_order_seq_cst, memory_scope_device)) { }
  int r0 = *x;
  *x = r0 + 1;
  atomic_store_explicit(l, 0, memory_order_seq_cst, memory_scope_device);
}

exists (x=2)
";

const BOUNDS: Bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);
/// The bounds of a machine with one bank that has one line.
const NARROW: Bounds = Bounds { banks: 1, ..BOUNDS.tight() };

fn explore<P: Protocol>(text: &str, bounds: Bounds, allowed: Option<&BTreeSet<Outcome>>) -> Exploration {
    let test = Test::read("test", text).expect("it is a test");
    let program = &*test.program();
    let mut explorer = Explorer::new(&Subject::of::<P>(), bounds, None);
    let placement = Placement::spread(program);
    let requirements = Requirements { allowed, may_block: false };
    let mut limits = Limits { states_max: 400_000, ..Limits::default() };
    explorer
        .explore(program, &placement, &requirements, &mut limits)
        .expect("the machine has all that it needs")
}

/// The allowed outcomes of `STALE`, as values of `r0 r1 r2`: the outcomes of a single memory.
fn stale() -> BTreeSet<Outcome> {
    let all = [[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1]];
    all.into_iter().map(|outcome| outcome.to_vec()).collect()
}

fn is_right<P: Protocol>(text: &str, bounds: Bounds, outcomes: &BTreeSet<Outcome>) -> Exploration {
    let found = explore::<P>(text, bounds, Some(outcomes));
    assert_eq!(found.violation, None, "{bounds}");
    assert_eq!(found.incomplete, None, "{bounds}");
    assert_eq!(&found.outcomes, outcomes, "{bounds}");
    found
}

fn refuted<P: Protocol>(text: &str, bounds: Bounds, outcomes: &BTreeSet<Outcome>) -> Violation {
    let violation = explore::<P>(text, bounds, Some(outcomes)).violation;
    violation.unwrap_or_else(|| panic!("{bounds}: a stale copy is read"))
}

#[test]
fn leases_age_wherever_they_are() {
    for bounds in [BOUNDS, BOUNDS.in_full(), NARROW, NARROW.in_full()] {
        is_right::<right::Lease>(STALE, bounds, &stale());
    }
}

#[test]
fn an_answer_without_ageing_leaves_a_stale_copy() {
    for bounds in [BOUNDS, BOUNDS.in_full()] {
        assert_eq!(refuted::<keeping::AnswerKeeps>(STALE, bounds, &stale()).fault, Fault::Outcome);
    }
}

#[test]
fn immediate_answers_of_memory_are_sound_with_leases() {
    for bounds in [BOUNDS, BOUNDS.in_full()] {
        assert_eq!(refuted::<tagging::TagKeeps>(STALE, bounds, &stale()).fault, Fault::Outcome);
    }
}

#[test]
fn a_write_that_waits_for_a_lease_without_a_deadline_is_found() {
    let violation = refuted::<sleeping::NoDeadline>(STALE, BOUNDS, &stale());
    assert!(matches!(violation.fault, Fault::Deadlock | Fault::Livelock), "{violation:?}");
}

#[test]
fn clocks_apart_need_a_guard() {
    let apart = BOUNDS.skewed(1);
    let violation = refuted::<right::Lease>(STALE, apart, &stale());
    assert_eq!(violation.fault, Fault::Outcome);
    assert!(violation.moves.iter().any(|mv| matches!(mv, Move::TickAt { .. })));
    assert!(!violation.moves.contains(&Move::Tick));
    is_right::<guarded::GuardedLease>(STALE, apart, &stale());
    is_right::<guarded::GuardedLease>(STALE, apart.in_full(), &stale());
    // The guard covers only a limited number of ticks.
    assert_eq!(refuted::<guarded::GuardedLease>(STALE, BOUNDS.skewed(2), &stale()).fault, Fault::Outcome);
}

/// The only allowed outcome of `LOCK`: every increment counts.
fn counted() -> BTreeSet<Outcome> {
    [vec![2]].into()
}

#[test]
fn logical_times_are_rebased_over_the_whole_state() {
    is_right::<rebased::Rebased>(ORDINARY, BOUNDS.evicting(), &stale());
    let found = is_right::<rebased::Rebased>(LOCK, BOUNDS, &counted());
    let further = is_right::<further::FurtherApart>(LOCK, BOUNDS, &counted());
    // The behaviour is the same, with more of the times in between.
    assert!(found.states < further.states, "{} and {} states", found.states, further.states);
    // Without rebasing, more different times occur than a search can visit.
    let endless = explore::<absolute::Absolute>(LOCK, BOUNDS, Some(&counted()));
    assert!(matches!(endless.incomplete, Some(Incomplete::States(_))), "{} states", endless.states);
    // A program without a loop has finitely many times, and the outcomes are the same.
    is_right::<absolute::Absolute>(ORDINARY, BOUNDS.evicting(), &stale());
}

#[test]
fn a_write_that_does_not_pass_the_leases_leaves_a_stale_copy() {
    assert_eq!(refuted::<stuck::NoAdvance>(ORDINARY, BOUNDS, &stale()).fault, Fault::Outcome);
}

#[test]
fn clocks_of_four_bits_roll_over() {
    is_right::<four_bits::FourBits>(ORDINARY, BOUNDS.evicting(), &stale());
    is_right::<four_bits::FourBits>(LOCK, BOUNDS, &counted());
    assert_eq!(refuted::<forgetful::KeepsLines>(ORDINARY, BOUNDS, &stale()).fault, Fault::Outcome);
}

#[test]
fn a_deadline_of_a_protocol_without_a_clock_is_refused() {
    let violation = refuted::<timeless::NoClock>(STALE, BOUNDS, &stale());
    assert_eq!(violation.fault, Fault::Impossible);
    assert!(violation.why.contains("does not use clocks"), "{}", violation.why);
}

fn stressed<P: Protocol>() -> explore::stress::StressReport {
    let options = Options {
        seed: 1,
        episodes: 60,
        chiplets: 1,
        model: None,
        seeded_fault: None,
        jobs: 1,
        overtaking: false,
        shrink: true,
        stop: &|| false,
        progress: &|_| {},
    };
    stress(&Subject::of::<P>(), &options).expect("episodes exist for its claim")
}

#[test]
fn stress_ages_messages_under_way() {
    let leases = [stressed::<right::Lease>(), stressed::<long::LongLease>()];
    let stamps = [stressed::<four_bits::FourBits>(), stressed::<absolute::Absolute>()];
    for stressed in leases.into_iter().chain(stamps) {
        assert!(stressed.failure.is_none(), "{:?}", stressed.failure);
        assert!(stressed.checked > 0);
    }
    assert!(stressed::<keeping::AnswerKeeps>().failure.is_some(), "stale copies are read");
    assert!(stressed::<sleeping::NoDeadline>().failure.is_some(), "its writes are never performed");
}
