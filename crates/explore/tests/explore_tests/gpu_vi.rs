//! Invalidations by a directory. Without any one of its duties (to record, to invalidate and to
//! await all sharers), the protocol fails. The races of the directory occur.

use crate::tc::EXCHANGED_BESIDE_TWO_POLLED;
use explore::claim::Claim;
use explore::verify::{self, Options, Test};
use explore::{Bounds, Exploration, Explorer, Fault, Limits, Placement, Requirements, Subject};
use proto::issue::IssueRule;
use proto::{Protocol, RowId, WritePolicy};
use zoo::gpu_vi::GpuVi;
use zoo::gpu_vi::lacking::{ASecondSharer, ASingleCount, AnInvalidation};

/// A message to two readers. Each may have a copy of `x` when the message in `f` arrives.
const MESSAGE: &str = "OPENCL message
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

P2@wg 2, dev 0 (global atomic_int* x, global atomic_int* f) {
  int r0 = atomic_load_explicit(x, memory_order_seq_cst, memory_scope_device);
  int r1 = atomic_load_explicit(f, memory_order_seq_cst, memory_scope_device);
  int r2 = atomic_load_explicit(x, memory_order_seq_cst, memory_scope_device);
}

forall ((1:r1=0 \\/ 1:r2=1) /\\ (2:r1=0 \\/ 2:r2=1))
";

/// A program in which two threads load `f` again and again, each from its own copy, until the third
/// thread stores a new value to `f`.
const SPIN: &str = "OPENCL spin
{ }

P0@wg 0, dev 0 (global atomic_int* f) {
  atomic_store_explicit(f, 1, memory_order_relaxed, memory_scope_device);
}

P1@wg 1, dev 0 (global atomic_int* f) {
  await(f == 1, memory_order_relaxed, memory_scope_device);
}

P2@wg 2, dev 0 (global atomic_int* f) {
  await(f == 1, memory_order_relaxed, memory_scope_device);
}

exists (f=1)
";

/// Two writers and a reader of one line, with evictions at any time.
const WRITERS: &str = "OPENCL writers
{ }

P0@wg 0, dev 0 (global atomic_int* x) {
  int r0 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_device);
  atomic_store_explicit(x, 1, memory_order_relaxed, memory_scope_device);
}

P1@wg 1, dev 0 (global atomic_int* x) {
  int r0 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_device);
  int r1 = atomic_fetch_add_explicit(x, 2, memory_order_relaxed, memory_scope_device);
}

P2@wg 2, dev 0 (global atomic_int* x) {
  int r0 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_device);
  int r1 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_device);
}

exists (x=3)
";

/// Loads and a store of one compute unit, which can be under way together.
const OWN: &str = "OPENCL own
{ }

P0@wg 0, dev 0 (global atomic_int* x) {
  int r0 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_device);
}

P1@wg 0, dev 0 (global atomic_int* x) {
  int r0 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_device);
}

P2@wg 0, dev 0 (global atomic_int* x) {
  atomic_store_explicit(x, 1, memory_order_relaxed, memory_scope_device);
}

P3@wg 1, dev 0 (global atomic_int* x) {
  atomic_store_explicit(x, 2, memory_order_relaxed, memory_scope_device);
}

exists (x=1)
";

const BOUNDS: Bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);

fn explore<P: Protocol>(text: &str) -> Exploration {
    explore_within::<P>(text, BOUNDS)
}

fn explore_within<P: Protocol>(text: &str, bounds: Bounds) -> Exploration {
    let test = Test::read("test", text).expect("it is a test");
    let program = &*test.program();
    let promise = Claim::of("sc").expect("a known model").promise(program, &mut || false);
    let promise = promise.expect("the model covers it");
    let requirements = Requirements { allowed: promise.allowed.as_ref(), may_block: false };
    let mut explorer = Explorer::new(&Subject::of::<P>(), bounds, None);
    let placement = Placement::spread(program);
    explorer.explore(program, &placement, &requirements, &mut Limits::default()).expect("supported")
}

fn fault<P: Protocol>(text: &str) -> Option<Fault> {
    let found = explore::<P>(text);
    assert_eq!(found.incomplete, None);
    found.violation.map(|violation| violation.fault)
}

#[test]
fn all_sharers_are_recorded_invalidated_and_awaited() {
    assert_eq!(fault::<GpuVi>(MESSAGE), None);
    assert_eq!(fault::<AnInvalidation>(MESSAGE), Some(Fault::Outcome));
    assert_eq!(fault::<ASecondSharer>(MESSAGE), Some(Fault::Outcome));
    // The ack that was counted before it came arrives when none is due.
    let early = explore::<ASingleCount>(MESSAGE).violation.expect("a write is performed too early");
    assert!(early.why.ends_with("no ack is due"), "{}", early.why);
}

#[test]
fn a_load_that_spins_on_its_copy_ends_when_the_copy_is_invalidated() {
    assert_eq!(fault::<GpuVi>(SPIN), None);
    // A copy that is not invalidated also outlives the run, and the search reports this first.
    assert_eq!(fault::<AnInvalidation>(SPIN), Some(Fault::Unquiet));
    assert_eq!(fault::<ASecondSharer>(SPIN), Some(Fault::Unquiet));
}

/// The rows that races reach: the table, the state and the event of each.
const RACES: [(&str, &str, &str); 12] = [
    ("A line in the L1", "I", "Inv"),
    ("A line in the L1", "IV", "Inv"),
    ("A line in the L1", "IX", "Inv"),
    ("A line in the L1", "IV", "Pass"),
    ("A line in the L1", "IX", "Data"),
    ("A line in the L1", "IX", "Load"),
    ("A line in an L2 bank", "S", "Evict"),
    ("A line in an L2 bank", "SV", "Get"),
    ("A line in an L2 bank", "SV", "Write"),
    ("A line in an L2 bank", "SI", "Get"),
    ("A line in an L2 bank", "SI", "Write"),
    ("A line in an L2 bank", "SI", "LastAck"),
];

/// Each row that fires in a test, with evictions at any time: the table, the state and the event.
fn fired(text: &str) -> Vec<(&'static str, &'static str, &'static str)> {
    let found = explore_within::<GpuVi>(text, BOUNDS.evicting());
    assert_eq!(found.incomplete, None);
    assert!(found.violation.is_none(), "{:?}", found.violation);
    let tables = GpuVi::tables();
    let name = |id: &RowId| {
        let table = tables.iter().find(|table| table.id == id.table).expect("the row is of a table");
        let (row, events) = (usize::from(id.row), table.events.len());
        (table.name, table.states[row / events].0, table.events[row % events].0)
    };
    found.rows.iter().map(name).collect()
}

#[test]
fn the_races_of_the_directory_occur() {
    let fired = [WRITERS, OWN].map(fired).concat();
    for race in RACES {
        assert!(fired.contains(&race), "{race:?}");
    }
}

/// Two threads each load two lines of a set in turn, and a third thread exchanges a word of one of
/// these sets.
const EXCHANGED_BESIDE_TWO_SETS_POLLED: &str = "OPENCL exchanged-beside-two-sets-polled

{
[x] = 0;
[z] = 0;
[y] = 0;
[w] = 0;
[v] = 0;
}

P0 (global atomic_int* x, global atomic_int* w, global atomic_int* v) {
  int r0 = atomic_exchange_explicit(x, 1, memory_order_relaxed, memory_scope_device);
  atomic_store_explicit(v, 1, memory_order_relaxed, memory_scope_device);
  atomic_store_explicit(w, 1, memory_order_relaxed, memory_scope_device);
}

P1 (global atomic_int* y, global atomic_int* v) {
  int r0;
  int r1;
  do {
    r1 = atomic_load_explicit(y, memory_order_relaxed, memory_scope_device);
    r0 = atomic_load_explicit(v, memory_order_relaxed, memory_scope_device);
  } while (r0 == 0);
}

P2 (global atomic_int* z, global atomic_int* w) {
  int r0;
  int r1;
  do {
    r1 = atomic_load_explicit(z, memory_order_relaxed, memory_scope_device);
    r0 = atomic_load_explicit(w, memory_order_relaxed, memory_scope_device);
  } while (r0 == 0);
}

scopeTree (device (work_group P0) (work_group P1) (work_group P2))

forall (x=1)
";

/// An access waits behind inputs that wait for a way of its set, also if it lacks a register.
#[test]
fn an_exchange_ends_beside_two_sets_of_polled_lines() {
    let tests = [Test::read("exchanged", EXCHANGED_BESIDE_TWO_SETS_POLLED).expect("it is a test")];
    let bounds = Bounds { banks: 1, sets: (1, 2), ..BOUNDS.tight().core(IssueRule::Gpu) };
    let options = Options::new(vec![bounds]);
    let found = verify::verify(&Subject::of::<GpuVi>(), &tests, &options).expect("known models");
    let whys: Vec<_> = found.findings.iter().map(|finding| &finding.violation.why).collect();
    assert!(whys.is_empty() && found.gaps.is_empty(), "{whys:?} {:?}", found.gaps);
}

/// Accesses wait for a miss register before they wait for a round. In the other order, the exchange
/// could wait for ever.
#[test]
fn an_exchange_ends_beside_acquires_and_polled_lines() {
    let tests = [Test::read("exchanged", EXCHANGED_BESIDE_TWO_POLLED).expect("it is a test")];
    let options = Options::new(vec![BOUNDS.tight().core(IssueRule::Gpu)]);
    let found = verify::verify(&Subject::of::<GpuVi>(), &tests, &options).expect("known models");
    let whys: Vec<_> = found.findings.iter().map(|finding| &finding.violation.why).collect();
    assert!(whys.is_empty() && found.gaps.is_empty(), "{whys:?} {:?}", found.gaps);
}
