//! QuickRelease: the duties of its write caches and markers, the faults of the published protocol, and
//! its repair. Each duty has a test protocol without it, which fails.

use std::collections::BTreeSet;

use explore::verify::{self, Options, Spread, Status, Test};
use explore::{
    Bounds, Exploration, Explorer, Fault, Limits, Placement, Requirements, Subject, Violation, corpus,
};
use proto::issue::IssueRule;
use proto::{Change, Protocol, RowView, SeededFault, WritePolicy};
use zoo::quick_release::{
    QuickRelease, QuickReleaseGroups, QuickReleaseRepaired, QuickReleaseSplit, lacking,
};

use crate::apu::{SHARED, TO_GPU};
use crate::claims::flush::TO_THE_HOST;
use crate::moesi::name;

const BOUNDS: Bounds = Bounds { banks: 1, ..Bounds::new(WritePolicy::Combining, WritePolicy::Combining) };

const TWO_BANKS: Bounds = Bounds { banks: 2, ..BOUNDS };

const L1: &str = "A line in the L1";
const L2: &str = "A line in a bank of the L2";
const DIRECTORY: &str = "A line in the stateless directory";

/// A work-group tells another one that it has stored a word. The other one has an old copy of it.
const TO_A_COPY: &str = "OPENCL to-a-copy
{ }

P0@wg 0, dev 0 (global int* x, global atomic_int* f) {
  *x = 1;
  atomic_store_explicit(f, 1, memory_order_release, memory_scope_device);
}

P1@wg 1, dev 0 (global int* x, global atomic_int* f) {
  int r0 = *x;
  int r1 = atomic_load_explicit(f, memory_order_acquire, memory_scope_device);
  int r2 = *x;
}

exists (1:r1=1 /\\ 1:r2=0)
";

/// Store buffering with sequentially consistent atomics.
const STORE_BUFFERING: &str = "OPENCL store-buffering
{ }

P0@wg 0, dev 0 (global atomic_int* x, global atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_seq_cst, memory_scope_device);
  int r0 = atomic_load_explicit(y, memory_order_seq_cst, memory_scope_device);
}

P1@wg 1, dev 0 (global atomic_int* x, global atomic_int* y) {
  atomic_store_explicit(y, 1, memory_order_seq_cst, memory_scope_device);
  int r0 = atomic_load_explicit(x, memory_order_seq_cst, memory_scope_device);
}

exists (0:r0=0 /\\ 1:r0=0)
";

/// Store buffering in which one thread adds to its word, and the other one stores to its word. There are
/// fewer states than with two stores.
const STORE_AND_ADD: &str = "OPENCL store-and-add
{ }

P0@wg 0, dev 0 (global atomic_int* x, global atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_seq_cst, memory_scope_device);
  int r0 = atomic_load_explicit(y, memory_order_seq_cst, memory_scope_device);
}

P1@wg 1, dev 0 (global atomic_int* x, global atomic_int* y) {
  int r1 = atomic_fetch_add_explicit(y, 1, memory_order_seq_cst, memory_scope_device);
  int r0 = atomic_load_explicit(x, memory_order_seq_cst, memory_scope_device);
}

exists (0:r0=0 /\\ 1:r0=0)
";

/// A thread adds to a word that it has stored.
const OWN_STORE: &str = "OPENCL own-store
{ }

P0@wg 0, dev 0 (global atomic_int* x) {
  atomic_store_explicit(x, 1, memory_order_relaxed, memory_scope_device);
  int r0 = atomic_fetch_add_explicit(x, 1, memory_order_relaxed, memory_scope_device);
  int r1 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_device);
}

exists (0:r0=1 /\\ 0:r1=2)
";

/// A thread reads a word, and its other bytes are in the same line or in another one. Then it reads its
/// own store and the word again.
const PARTS: &str = "OPENCL parts
{ }

P0@wg 0, dev 0 (global int* x, global int* y, global int* z) {
  *x = 1;
  int r0 = *y;
  *z = 1;
  int r1 = *x;
  *y = 2;
  int r2 = *y;
}

exists (0:r0=0 /\\ 0:r1=1 /\\ 0:r2=2)
";

/// A thread tells another one of its work-group, which tells a thread of another work-group.
const IN_TURN: &str = "OPENCL in-turn
{ }

P0@wg 0, dev 0 (global int* x, global atomic_int* f, global atomic_int* g) {
  *x = 1;
  atomic_store_explicit(f, 1, memory_order_release, memory_scope_work_group);
}

P1@wg 0, dev 0 (global int* x, global atomic_int* f, global atomic_int* g) {
  int r0 = atomic_load_explicit(f, memory_order_acquire, memory_scope_work_group);
  if (r0 == 1) {
    atomic_store_explicit(g, 1, memory_order_release, memory_scope_device);
  }
}

P2@wg 1, dev 0 (global int* x, global atomic_int* f, global atomic_int* g) {
  int r1 = atomic_load_explicit(g, memory_order_acquire, memory_scope_device);
  int r2 = *x;
}

exists (2:r1=1 /\\ 2:r2=0)
";

/// A thread passes on a word that it has read.
const PASSED_ON: &str = "OPENCL passed-on
{ }

P0@wg 0, dev 0 (global atomic_int* x, global atomic_int* f) {
  atomic_store_explicit(x, 1, memory_order_relaxed, memory_scope_device);
}

P1@wg 1, dev 0 (global atomic_int* x, global atomic_int* f) {
  int r0 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_device);
  if (r0 == 1) {
    atomic_store_explicit(f, 1, memory_order_release, memory_scope_device);
  }
}

P2@wg 0, dev 0 (global atomic_int* x, global atomic_int* f) {
  int r1 = atomic_load_explicit(f, memory_order_acquire, memory_scope_device);
  int r2 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_device);
}

exists (2:r1=1 /\\ 2:r2=0)
";

/// A thread reads its own store beside an atomic of another thread, whose word may be in the same line.
const BESIDE_AN_ATOMIC: &str = "OPENCL beside-an-atomic
{ }

P0@wg 0, dev 0 (global int* x, global atomic_int* y) {
  *x = 1;
  int r0 = atomic_load_explicit(y, memory_order_relaxed, memory_scope_device);
  int r1 = *x;
}

P1@wg 1, dev 0 (global int* x, global atomic_int* y) {
  int r2 = atomic_fetch_add_explicit(y, 1, memory_order_relaxed, memory_scope_device);
}

exists (0:r1=1)
";

/// A thread stores a word while the fill of its line is under way, if its accesses overlap.
const STORED_WHILE_FETCHED: &str = "OPENCL stored-while-fetched
{ }

P0@wg 0, dev 0 (global int* x, global int* y) {
  int r0 = *y;
  *x = 1;
  int r1 = *x;
}

exists (0:r0=0 /\\ 0:r1=1)
";

/// A thread waits for an atomic of another thread. It has a copy of the word.
const AWAITED: &str = "OPENCL awaited
{ }

P0@wg 0, dev 0 (global atomic_int* f) {
  int r0 = atomic_fetch_add_explicit(f, 1, memory_order_relaxed, memory_scope_device);
}

P1@wg 1, dev 0 (global atomic_int* f) {
  await(f == 1, memory_order_acquire, memory_scope_device);
}

exists (0:r0=0)
";

/// A thread has a copy of a line, stores one word of it and reads the other one.
const PART_OF_A_COPY: &str = "OPENCL part-of-a-copy
{ }

P0@wg 0, dev 0 (global int* x, global int* y) {
  int r0 = *y;
  *x = 1;
  int r1 = *y;
  int r2 = *x;
}

exists (0:r1=0 /\\ 0:r2=1 /\\ x=1)
";

/// A thread releases a word of a line, and a thread of another work-group reads the other one.
const PART_AT_THE_L2: &str = "OPENCL part-at-the-l2
{ }

P0@wg 0, dev 0 (global int* x, global int* y, global atomic_int* f) {
  *x = 1;
  atomic_store_explicit(f, 1, memory_order_release, memory_scope_device);
}

P1@wg 1, dev 0 (global int* x, global int* y, global atomic_int* f) {
  int r0 = *y;
}

exists (1:r0=0 /\\ x=1)
";

/// A host and the GPU each store one word of a line.
const BESIDE_A_HOST: &str = "OPENCL beside-a-host
{ }

P0 (global int* x, global int* y) {
  *y = 1;
}

P1 (global int* x, global int* y) {
  *x = 1;
}

scopeTree (device (work_group P1))

exists (x=1 /\\ y=1)
";

/// Explores a program in its placements, or only in the one with this number, with a seeded fault if one
/// is given.
fn explore_with<P: Protocol>(
    text: &str,
    bounds: Bounds,
    only: Option<usize>,
    seeded_fault: Option<SeededFault>,
) -> Vec<Exploration> {
    let test = Test::read("test", text).expect("it is a test");
    let test = test.spread(Spread { hosts: 1, ..Spread::default() });
    let program = &*test.program();
    let placements = test.placements.iter().enumerate().filter(|(at, _)| only.is_none_or(|only| only == *at));
    let explored = placements.map(|(_, placement)| {
        let mut explorer = Explorer::new(&Subject::of::<P>(), bounds, seeded_fault);
        let found = explorer.explore(program, placement, &Requirements::default(), &mut Limits::default());
        let found = found.expect("supported");
        assert_eq!(found.incomplete, None);
        assert_eq!(found.violation.as_ref().map(|violation| &violation.why), None, "{placement:?}");
        found
    });
    explored.collect()
}

/// Explores a program in all its placements.
fn explore<P: Protocol>(text: &str, bounds: Bounds) -> Vec<Exploration> {
    explore_with::<P>(text, bounds, None, None)
}

/// Whether the program reaches the outcome in a placement.
fn reaches<P: Protocol>(text: &str, bounds: Bounds, outcome: &[i64]) -> bool {
    explore::<P>(text, bounds).iter().any(|found| found.outcomes.contains(outcome))
}

/// Whether the program reaches the outcome in the placement with this number.
fn reaches_in<P: Protocol>(text: &str, bounds: Bounds, placement: usize, outcome: &[i64]) -> bool {
    explore_with::<P>(text, bounds, Some(placement), None)
        .iter()
        .any(|found| found.outcomes.contains(outcome))
}

/// Whether the outcome is the only one of the program.
fn only<P: Protocol>(text: &str, bounds: Bounds, outcome: &[i64]) -> bool {
    explore::<P>(text, bounds).iter().all(|found| found.outcomes.iter().all(|other| other == outcome))
}

/// The first fault of a program whose threads may read any value.
fn fault<P: Protocol>(text: &str) -> Option<Violation> {
    let test = Test::read("test", text).expect("it is a test");
    let program = &*test.program();
    let mut explorer = Explorer::new(&Subject::of::<P>(), BOUNDS, None);
    let placement = Placement::spread(program);
    let found = explorer.explore(program, &placement, &Requirements::default(), &mut Limits::default());
    let found = found.expect("supported");
    assert_eq!(found.incomplete, None);
    found.violation
}

/// The seeded fault that leaves an action out of a row of the directory.
fn without(state: &str, event: &str, action: &str) -> SeededFault {
    let at = |all: &[(&str, &str)], name: &str| all.iter().position(|(n, _)| *n == name).expect("it exists");
    let view = QuickReleaseRepaired::tables().into_iter().find(|view| view.name == DIRECTORY);
    let view = view.expect("it exists");
    let row = at(&view.states, state) * view.events.len() + at(&view.events, event);
    let RowView::Do(actions, ..) = &view.rows[row] else { panic!("{event} in {state} does something") };
    let action = actions.iter().position(|name| *name == action).expect("an action of the row") as u8;
    SeededFault { table: view.id, change: Change::DropAction { row: row as u16, action } }
}

#[test]
fn a_release_completes_when_memory_has_the_writes_and_no_l1_an_old_copy() {
    assert!(!reaches::<QuickReleaseRepaired>(TO_A_COPY, BOUNDS, &[1, 0]));
    assert!(!reaches::<QuickReleaseRepaired>(TO_THE_HOST, BOUNDS, &[1, 0]));
    assert!(!reaches::<QuickRelease>(TO_THE_HOST, BOUNDS, &[1, 0]));
    assert!(reaches::<lacking::MarkerOrder>(TO_THE_HOST, BOUNDS, &[1, 0]));
    assert!(reaches::<lacking::AnL1>(TO_A_COPY, BOUNDS, &[1, 0]));
    // A bank sends its bytes behind its invalidations, so the words must be in different banks.
    assert!(!reaches_in::<QuickReleaseRepaired>(TO_A_COPY, TWO_BANKS, 0, &[1, 0]));
    assert!(reaches_in::<lacking::Acks>(TO_A_COPY, TWO_BANKS, 0, &[1, 0]));
}

#[test]
fn a_write_of_a_host_invalidates_the_copies_of_l1s() {
    assert!(!reaches::<QuickReleaseRepaired>(TO_GPU, BOUNDS.evicting(), &[1, 0]));
    assert!(reaches::<lacking::PassedInvalidation>(TO_GPU, BOUNDS.evicting(), &[1, 0]));
    // As published, the invalidation is applied lazily, and the acquire does nothing.
    assert!(reaches::<QuickRelease>(TO_GPU, TWO_BANKS, &[1, 0]));
}

#[test]
fn sequentially_consistent_atomics_are_one_sequence() {
    assert!(!reaches::<QuickReleaseRepaired>(STORE_BUFFERING, BOUNDS, &[0, 0]));
    assert!(!reaches_in::<QuickReleaseRepaired>(STORE_AND_ADD, BOUNDS, 0, &[0, 0]));
    assert!(reaches_in::<QuickRelease>(STORE_AND_ADD, BOUNDS, 0, &[0, 0]));
    // In the other reading of the thesis, too, a store-release is complete before its store is visible.
    assert!(reaches_in::<lacking::EarlyStore>(STORE_AND_ADD, BOUNDS, 0, &[0, 0]));
}

#[test]
fn an_atomic_follows_the_stores_before_it() {
    assert!(only::<QuickReleaseRepaired>(OWN_STORE, BOUNDS, &[1, 2]));
    assert!(!only::<QuickRelease>(OWN_STORE, BOUNDS, &[1, 2]));
}

#[test]
fn a_thread_reads_its_own_stores() {
    assert!(only::<QuickReleaseRepaired>(PARTS, BOUNDS.evicting(), &[0, 1, 2]));
    assert!(only::<QuickRelease>(PARTS, BOUNDS.evicting(), &[0, 1, 2]));
    assert!(only::<QuickReleaseRepaired>(BESIDE_AN_ATOMIC, BOUNDS, &[1]));
}

#[test]
fn a_fill_that_arrives_after_an_own_store_does_not_hide_it() {
    let overlapping = BOUNDS.core(IssueRule::Gpu);
    assert!(only::<QuickReleaseRepaired>(STORED_WHILE_FETCHED, overlapping, &[0, 1]));
    // As published, the written bit of the line is clear after the fill.
    assert!(reaches::<QuickRelease>(STORED_WHILE_FETCHED, overlapping, &[0, 0]));
    // On a core that waits for each access, no fill is under way at a store.
    assert!(only::<QuickRelease>(STORED_WHILE_FETCHED, BOUNDS, &[0, 1]));
}

#[test]
fn an_atomic_ends_the_wait_of_a_thread_that_has_a_copy_of_the_word() {
    fn never_ends<P: Protocol>() {
        let violation = fault::<P>(AWAITED).expect("the copy stays");
        assert_eq!(violation.fault, Fault::Livelock, "{}: {}", P::INFO.name, violation.why);
        assert!(violation.why.contains("no path to an end"), "{}: {}", P::INFO.name, violation.why);
    }
    assert_eq!(fault::<QuickReleaseRepaired>(AWAITED), None);
    never_ends::<QuickRelease>();
    never_ends::<lacking::AnL1>();
}

/// The bytes of a write cache go down before the read of the line, and the next level finds them.
#[test]
fn a_read_of_more_bytes_than_a_write_cache_has_follows_these_bytes() {
    fn fires<P: Protocol>(text: &str, outcome: &[i64], rows: &[(&'static str, &'static str, &'static str)]) {
        let found = explore::<P>(text, BOUNDS);
        assert!(found.iter().all(|found| found.outcomes == BTreeSet::from([outcome.to_vec()])));
        let fired: BTreeSet<_> = found.iter().flat_map(|found| found.rows.iter().map(name::<P>)).collect();
        for row in rows {
            assert!(fired.contains(row), "{}: {row:?}", P::INFO.name);
        }
    }
    fn check<P: Protocol>() {
        fires::<P>(PARTS, &[0, 1, 2], &[(L1, "I", "LoadPart"), (L2, "I", "GetPart")]);
        fires::<P>(PART_OF_A_COPY, &[0, 1, 1], &[(L1, "W", "LoadPart"), (L2, "W", "GetPart")]);
        fires::<P>(PART_AT_THE_L2, &[0, 1], &[(L2, "I", "GetPart")]);
    }
    check::<QuickRelease>();
    check::<QuickReleaseRepaired>();
}

#[test]
fn a_word_that_was_read_and_passed_on_is_read_by_the_next_thread() {
    assert!(!reaches_in::<QuickReleaseRepaired>(PASSED_ON, BOUNDS, 0, &[1, 0]));
}

#[test]
fn a_store_release_that_does_not_wait_can_pass_its_writes() {
    assert!(!reaches_in::<QuickRelease>(READ_BESIDE, BOUNDS, 2, &[1, 0]));
    assert!(reaches_in::<lacking::EarlyStore>(READ_BESIDE, BOUNDS, 2, &[1, 0]));
}

#[test]
fn bytes_of_a_host_reach_memory_before_those_of_the_gpu() {
    let sums = |found: Vec<Exploration>| found.iter().all(|found| found.outcomes.iter().all(|o| o == &[6]));
    assert!(sums(explore::<QuickReleaseRepaired>(SUM, BOUNDS)));
    assert!(!sums(explore::<lacking::HostOrder>(SUM, BOUNDS)));
}

#[test]
fn a_write_of_the_directory_keeps_the_words_that_a_host_has_written_beside_it() {
    assert!(only::<QuickReleaseRepaired>(BESIDE_A_HOST, BOUNDS, &[1, 1]));
    assert!(only::<QuickRelease>(BESIDE_A_HOST, BOUNDS, &[1, 1]));
    // The line of the host is written last, with an old word of the GPU.
    assert!(reaches::<lacking::HostOrder>(BESIDE_A_HOST, BOUNDS, &[0, 1]));
    let lost = Some(without("P", "LastWrite", "WriteHost"));
    let found = explore_with::<QuickReleaseRepaired>(BESIDE_A_HOST, BOUNDS, None, lost);
    assert!(found.iter().any(|found| found.outcomes.contains(&vec![1, 0])));
}

/// Verifies a protocol with a shipped test on the first machine of every verification. Returns the status
/// of each claim.
fn verified<P: Protocol>(name: &str) -> Vec<Status> {
    let mut tests = corpus::shipped().expect("they are tests");
    tests.retain(|test| test.name == name);
    assert_eq!(tests.len(), 1, "{name}");
    let options = Options::new(verify::machines().into_iter().take(1).collect());
    let found = verify::verify(&Subject::of::<P>(), &tests, &options).expect("known models");
    found.claims.into_iter().map(|(_, status)| status).collect()
}

/// A shipped test for each duty.
const FOR_MARKER_ORDER: &str = "opencl/MP+dev.litmus";
const FOR_AN_L1: &str = "c11/MP+spin.litmus";
const FOR_PASSED_INVALIDATION: &str = "caches/host-wrote-line-read.litmus";
const FOR_HOST_ORDER: &str = "caches/counted-with-host.litmus";

#[test]
fn shipped_tests_refute_the_protocols_that_lack_a_duty() {
    fn is_refuted<P: Protocol>(name: &str) {
        assert!(verified::<P>(name).contains(&Status::Refuted), "{}: {name}", P::INFO.name);
    }
    is_refuted::<lacking::MarkerOrder>(FOR_MARKER_ORDER);
    is_refuted::<lacking::AnL1>(FOR_AN_L1);
    is_refuted::<lacking::PassedInvalidation>(FOR_PASSED_INVALIDATION);
    is_refuted::<lacking::HostOrder>(FOR_HOST_ORDER);
}

#[test]
fn the_repaired_protocol_keeps_its_claims_in_these_shipped_tests() {
    for name in [FOR_MARKER_ORDER, FOR_AN_L1, FOR_PASSED_INVALIDATION, FOR_HOST_ORDER] {
        let statuses = verified::<QuickReleaseRepaired>(name);
        assert!(!statuses.contains(&Status::Refuted), "{name}: {statuses:?}");
        assert!(statuses.contains(&Status::Verified), "{name}: {statuses:?}");
    }
}

/// A store-release and its writes, and a load of another word. In the placement with the words `f` and
/// `y` in one line, the load takes the line of the store-release out of the write cache.
const READ_BESIDE: &str = "OPENCL read-beside
{ }

P0@wg 0, dev 0 (global int* x, global atomic_int* f, global int* y) {
  *x = 1;
  atomic_store_explicit(f, 1, memory_order_release, memory_scope_device);
  int r2 = *y;
}

P1@wg 1, dev 0 (global int* x, global atomic_int* f, global int* y) {
  int r0 = atomic_load_explicit(f, memory_order_acquire, memory_scope_device);
  int r1 = *x;
}

exists (1:r0=1 /\\ 1:r1=0)
";

/// A host and the GPU add to a word.
const SUM: &str = "OPENCL sum
{ }

P0 (global atomic_int* x) {
  int r0 = atomic_fetch_add_explicit(x, 2, memory_order_relaxed, memory_scope_all_svm_devices);
}

P1 (global atomic_int* x) {
  int r0 = atomic_fetch_add_explicit(x, 4, memory_order_relaxed, memory_scope_all_svm_devices);
}

scopeTree (device (work_group P1))

exists (x=6)
";

#[test]
fn only_one_fifo_for_all_wavefronts_keeps_synchronization_transitive() {
    assert!(!reaches::<QuickReleaseGroups>(IN_TURN, BOUNDS, &[1, 0]));
    assert!(reaches_in::<QuickReleaseSplit>(IN_TURN, BOUNDS, 0, &[1, 0]));
}

#[test]
fn a_directory_of_one_entry_never_blocks() {
    let tight = Bounds { banks: 1, ..BOUNDS.tight() };
    for text in [TO_THE_HOST, TO_GPU, SHARED] {
        explore::<QuickReleaseRepaired>(text, tight);
        explore::<QuickRelease>(text, tight);
    }
}
