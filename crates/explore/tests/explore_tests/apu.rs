//! A write-through GPU and hosts with coherent caches over a stateless directory. The races of the
//! directory occur, releases wait for memory, and a directory that lacks one duty loses a write.

use std::collections::BTreeSet;

use explore::verify::{Spread, Test};
use explore::{Bounds, Exploration, Explorer, Limits, Requirements, Subject};
use proto::{Change, Plans, Protocol, SeededFault, Symbol as _, WritePolicy};
use zoo::vi::Step;
use zoo::wt::{ApuNoL1, L1Plans, PortPlans, Wt, lacking};

use crate::claims::flush::TO_THE_HOST;
use crate::moesi::{hosts_are_coherent, name};

const BOUNDS: Bounds = Bounds::new(WritePolicy::Through, WritePolicy::Through);

/// The GPU tells a host that it has stored a word. The store waits for a way if the L2 has one way,
/// with the line of the load.
const WAITING: &str = "OPENCL waiting
{ }

P0 (global int* x, global atomic_int* f, global int* z) {
  int r0 = *z;
  *x = 1;
  atomic_store_explicit(f, 1, memory_order_release, memory_scope_all_svm_devices);
}

P1 (global int* x, global atomic_int* f, global int* z) {
  int r0 = atomic_load_explicit(f, memory_order_acquire, memory_scope_all_svm_devices);
  int r1 = *x;
}

scopeTree (device (work_group P0))

exists (1:r0=1 /\\ 1:r1=0)
";

/// A host tells the GPU that it has stored a word. The GPU has an old copy of it.
pub(crate) const TO_GPU: &str = "OPENCL to-gpu
{ }

P0 (global int* x, global atomic_int* f) {
  *x = 1;
  atomic_store_explicit(f, 1, memory_order_release, memory_scope_all_svm_devices);
}

P1 (global int* x, global atomic_int* f) {
  int r0 = *x;
  int r1 = atomic_load_explicit(f, memory_order_acquire, memory_scope_all_svm_devices);
  int r2 = *x;
}

scopeTree (device (work_group P1))

exists (1:r1=1 /\\ 1:r2=0)
";

/// The GPU and a host write one line, and the host writes it out at any time.
pub(crate) const SHARED: &str = "OPENCL shared
{ }

P0 (global atomic_int* x, global atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_relaxed, memory_scope_all_svm_devices);
  int r0 = atomic_fetch_add_explicit(x, 1, memory_order_relaxed, memory_scope_all_svm_devices);
}

P1 (global atomic_int* x, global atomic_int* y) {
  int r0 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_all_svm_devices);
  int r1 = atomic_fetch_add_explicit(x, 4, memory_order_relaxed, memory_scope_all_svm_devices);
}

scopeTree (device (work_group P1))

exists (x=9)
";

/// Explores a program with as many hosts as it has threads on hosts.
fn explore<P: Protocol>(text: &str, bounds: Bounds, fault: Option<SeededFault>) -> Vec<Exploration> {
    let test = Test::read("test", text).expect("it is a test");
    let test = test.spread(Spread { hosts: 2, ..Spread::default() });
    let program = &*test.program();
    let explored = test.placements.iter().map(|placement| {
        let mut explorer = Explorer::new(&Subject::of::<P>(), bounds, fault);
        let found = explorer.explore(program, placement, &Requirements::default(), &mut Limits::default());
        let found = found.expect("supported");
        assert_eq!(found.incomplete, None);
        found
    });
    explored.collect()
}

/// Whether the program reaches its forbidden outcome: the flag is new, and the word is old.
fn fails<P: Protocol>(text: &str, bounds: Bounds, fault: Option<SeededFault>) -> bool {
    explore::<P>(text, bounds, fault).iter().any(|found| found.outcomes.contains(&vec![1, 0]))
}

/// Explores a program of a protocol without a fault, which must not reach its forbidden outcome.
fn holds<P: Protocol>(text: &str, bounds: Bounds) {
    for found in explore::<P>(text, bounds, None) {
        assert_eq!(found.violation.map(|violation| violation.why), None);
        assert!(!found.outcomes.contains(&vec![1, 0]));
    }
}

/// The seeded fault that leaves a step out of all plans.
fn without<Q: Plans<Step = Step>>(step: Step) -> Option<SeededFault> {
    Some(SeededFault { table: Q::ID, change: Change::DropStep { step: step.index() as u8 } })
}

#[test]
fn a_release_waits_until_memory_has_the_writes() {
    holds::<Wt>(TO_THE_HOST, BOUNDS.evicting());
    holds::<ApuNoL1>(TO_THE_HOST, BOUNDS.evicting());
    assert!(fails::<Wt>(TO_THE_HOST, BOUNDS, without::<L1Plans>(Step::Flush)));
    assert!(fails::<Wt>(TO_THE_HOST, BOUNDS, without::<L1Plans>(Step::FlushBanks)));
    assert!(fails::<ApuNoL1>(TO_THE_HOST, BOUNDS, without::<PortPlans>(Step::FlushBanks)));
    let narrow = Bounds { banks: 1, ..BOUNDS.tight() };
    holds::<ApuNoL1>(WAITING, narrow);
    assert!(fails::<ApuNoL1>(WAITING, narrow, without::<PortPlans>(Step::Flush)));
}

#[test]
fn an_acquire_invalidates_the_l1_and_a_write_of_a_host_the_l2() {
    holds::<Wt>(TO_GPU, BOUNDS.evicting());
    holds::<ApuNoL1>(TO_GPU, BOUNDS.evicting());
    assert!(fails::<Wt>(TO_GPU, BOUNDS, without::<L1Plans>(Step::Invalidate)));
}

#[test]
fn a_directory_that_drops_the_bytes_of_a_host_makes_the_gpu_read_old_ones() {
    assert!(fails::<lacking::Hold>(TO_GPU, BOUNDS.evicting(), None));
}

const DIRECTORY: &str = "A line in the stateless directory";
const CACHE: &str = "A line in the cache of a host";

/// The rows that races reach: the table, the state and the event of each.
const RACES: [(&str, &str, &str); 14] = [
    // A host evicts the line, and the directory asks it for the line or invalidates it.
    (DIRECTORY, "PF", "Put"),
    (DIRECTORY, "P", "Put"),
    (DIRECTORY, "FX", "Put"),
    (CACHE, "I", "Inv"),
    (CACHE, "I", "Share"),
    (CACHE, "IM", "Inv"),
    (CACHE, "IM", "Share"),
    // The bytes of memory come before the answer of the host, or after it.
    (DIRECTORY, "PF", "Fill"),
    (DIRECTORY, "FX", "Fill"),
    (DIRECTORY, "F", "Fill"),
    // Another write comes before an upgrade, or none does.
    (CACHE, "SU", "Inv"),
    (CACHE, "SU", "DataM"),
    (CACHE, "OU", "Inv"),
    (CACHE, "OU", "DataM"),
];

/// A host writes its copy of a line that the GPU reads and writes.
const UPGRADED: &str = "OPENCL upgraded
{ }

P0 (global atomic_int* x) {
  int r0 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_all_svm_devices);
  atomic_store_explicit(x, 1, memory_order_relaxed, memory_scope_all_svm_devices);
  atomic_store_explicit(x, 2, memory_order_relaxed, memory_scope_all_svm_devices);
}

P1 (global atomic_int* x) {
  int r0 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_all_svm_devices);
  atomic_store_explicit(x, 4, memory_order_relaxed, memory_scope_all_svm_devices);
}

scopeTree (device (work_group P1))

exists (x=9)
";

#[test]
fn the_races_of_the_stateless_directory_occur() {
    let mut fired = BTreeSet::new();
    for text in [TO_THE_HOST, TO_GPU, SHARED, UPGRADED] {
        for found in explore::<Wt>(text, BOUNDS.evicting(), None) {
            assert_eq!(found.violation.map(|violation| violation.why), None);
            fired.extend(found.rows.iter().map(name::<Wt>));
        }
    }
    let missed: Vec<_> = RACES.iter().filter(|race| !fired.contains(race)).collect();
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn a_directory_of_one_entry_never_blocks() {
    let tight = Bounds { banks: 1, ..BOUNDS.tight() };
    for text in [TO_THE_HOST, TO_GPU, SHARED, UPGRADED] {
        for found in explore::<Wt>(text, tight, None) {
            assert_eq!(found.violation.map(|violation| violation.why), None);
        }
    }
}

#[test]
fn two_hosts_and_a_gpu_are_coherent() {
    hosts_are_coherent::<Wt>();
    hosts_are_coherent::<ApuNoL1>();
}
