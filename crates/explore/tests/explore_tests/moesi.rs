//! Caches that own the lines they write, under a directory of all copies. The races of the directory
//! occur, and a protocol that lacks one duty of the directory fails.

use explore::claim::Claim;
use explore::verify::{Spread, Test};
use explore::{Bounds, Exploration, Explorer, Fault, Limits, Placement, Requirements, Subject};
use proto::{Protocol, RowId, WritePolicy};
use zoo::moesi::Moesi;
use zoo::moesi::lacking::{AForgottenOwner, AnInvalidation, RecalledBytes};

const BOUNDS: Bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);

/// The text of an OpenCL test of threads on different compute units, made from their accesses. An
/// access is a load (`x`), a store (`x=1`) or an addition (`x+1`).
fn program(name: &str, threads: &[&str]) -> String {
    let how = "memory_order_relaxed, memory_scope_device";
    let access = |(at, text): (usize, &str)| match text.split_at(1) {
        (word, "") => format!("  int r{at} = atomic_load_explicit({word}, {how});\n"),
        (word, value) if value.starts_with('=') => {
            format!("  atomic_store_explicit({word}, {}, {how});\n", &value[1..])
        }
        (word, value) => {
            format!("  int r{at} = atomic_fetch_add_explicit({word}, {}, {how});\n", &value[1..])
        }
    };
    let words = "(global atomic_int* x, global atomic_int* y, global atomic_int* z)";
    let thread = |(at, accesses): (usize, &&str)| {
        let body: String = accesses.split(' ').enumerate().map(access).collect();
        format!("P{at}@wg {at}, dev 0 {words} {{\n{body}}}\n\n")
    };
    let bodies: String = threads.iter().enumerate().map(thread).collect();
    format!("OPENCL {name}\n{{ }}\n\n{bodies}exists (x=9)\n")
}

/// Explores a program on a machine. Every outcome must be sequentially consistent.
fn explore<P: Protocol>(text: &str, bounds: Bounds) -> Exploration {
    let test = Test::read("test", text).expect("it is a test");
    let program = &*test.program();
    let promise = Claim::of("sc").expect("a known model").promise(program, &mut || false);
    let promise = promise.expect("the model covers it");
    assert!(promise.allowed.is_some());
    let requirements = Requirements { allowed: promise.allowed.as_ref(), may_block: false };
    let mut explorer = Explorer::new(&Subject::of::<P>(), bounds, None);
    let placement = Placement::spread(program);
    let found = explorer.explore(program, &placement, &requirements, &mut Limits::default());
    let found = found.expect("supported");
    assert_eq!(found.incomplete, None);
    found
}

fn holds(text: &str, bounds: Bounds) -> Exploration {
    let found = explore::<Moesi>(text, bounds);
    assert!(found.violation.is_none(), "{bounds}: {:?}", found.violation);
    found
}

/// Programs with one line, whose caches and directory evict at any time.
const RACING: [&[&str]; 5] = [
    &["x x", "x"],
    &["x x=1 x", "x x=2"],
    &["x=1 x=3", "x x=2"],
    &["x=1 x=2", "x", "x"],
    &["x x=1", "x x+2", "x"],
];

/// The rows that races reach: the table, the state and the event of each.
const RACES: [(&str, &str, &str); 26] = [
    // An owner evicts the line, and the directory asks it for the line or invalidates it.
    ("A line in a cache", "I", "Inv"),
    ("A line in a cache", "IS", "Inv"),
    ("A line in a cache", "IM", "Inv"),
    ("A line in a cache", "I", "Share"),
    ("A line in a cache", "IS", "Share"),
    ("A line in a cache", "IM", "Share"),
    ("A line in the directory", "D", "Put"),
    ("A line in the directory", "D", "PutAlone"),
    ("A line in the directory", "A", "Put"),
    ("A line in the directory", "A", "PutAlone"),
    ("A line in the directory", "R", "Put"),
    ("A line in the directory", "R", "PutAlone"),
    ("A line in the directory", "D", "Gone"),
    ("A line in the directory", "A", "LastBare"),
    ("A line in the directory", "R", "LastBare"),
    // A write of another cache, or a recall, comes before an upgrade.
    ("A line in a cache", "SU", "Inv"),
    ("A line in a cache", "OU", "Inv"),
    ("A line in a cache", "OU", "Share"),
    ("A line in the directory", "A", "Up"),
    ("A line in the directory", "R", "Up"),
    ("A line in the directory", "R", "UpAlone"),
    ("A line in the directory", "FS", "UpAlone"),
    // The owner of a clean line has evicted it silently, and asks for it again.
    ("A line in the directory", "X", "GetSOwn"),
    ("A line in the directory", "X", "GetMAlone"),
    ("A line in the directory", "D", "GetSOwn"),
    ("A line in the directory", "R", "GetSOwn"),
];

/// The table, the state and the event of a row.
pub(crate) fn name<P: Protocol>(id: &RowId) -> (&'static str, &'static str, &'static str) {
    let tables = P::tables();
    let table = tables.iter().find(|table| table.id == id.table).expect("the row is of a table");
    let (row, events) = (usize::from(id.row), table.events.len());
    (table.name, table.states[row / events].0, table.events[row % events].0)
}

#[test]
fn the_races_of_the_directory_occur() {
    let mut fired = Vec::new();
    for threads in RACING {
        let found = holds(&program("racing", threads), BOUNDS.evicting());
        fired.extend(found.rows.iter().map(name::<Moesi>));
    }
    let missed: Vec<_> = RACES.iter().filter(|race| !fired.contains(race)).collect();
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn a_directory_of_one_way_and_one_register_never_blocks() {
    let tight = Bounds { banks: 1, ..BOUNDS.tight() };
    // The lines of each program compete for one way of each cache and of the directory.
    for threads in [["x=1 y=1 x", "y=2 x=2 y"], ["x y=1 z", "z=2 x+1 y"], ["x=1 x", "y=1 x+1"]] {
        holds(&program("storm", &threads), tight);
    }
    let shared = Bounds { banks: 1, misses: (1, 1), ..BOUNDS };
    holds(&program("storm", &["x=1 y", "y=1 x", "x y"]), shared);
}

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

#[test]
fn a_load_that_spins_on_its_copy_ends() {
    holds(SPIN, BOUNDS);
    holds(SPIN, BOUNDS.tight());
    assert!(explore::<AnInvalidation>(SPIN, BOUNDS).violation.is_some());
}

#[test]
fn a_store_that_waits_for_a_register_is_performed_while_others_spin() {
    // The two threads that spin lose their copies again and again, and the directory has one register.
    let stored_first =
        SPIN.replacen("  atomic_store", "  atomic_store_explicit(y, 1, RELAXED);\n  atomic_store", 1);
    let program = stored_first
        .replace("RELAXED", "memory_order_relaxed, memory_scope_device")
        .replace("atomic_int* f)", "atomic_int* f, global atomic_int* y)");
    holds(&program, Bounds { banks: 1, misses: (1, 1), ..BOUNDS }.evicting());
}

#[test]
fn the_explorer_checks_the_rule_of_the_protocol() {
    assert!(Subject::of::<Moesi>().disagreement.is_some());
}

fn fault<P: Protocol>(threads: &[&str], bounds: Bounds) -> Option<(Fault, String)> {
    let found = explore::<P>(&program("faulty", threads), bounds);
    found.violation.map(|violation| (violation.fault, violation.why.to_string()))
}

#[test]
fn each_duty_of_the_directory_is_needed() {
    let evicting = BOUNDS.evicting();
    // A sharer keeps its old copy.
    let stale: &[&str] = &["x=1 y=1", "x y x", "x y x"];
    assert_eq!(fault::<Moesi>(stale, BOUNDS), None);
    // The copy also outlives the run, and the search reports this first.
    let (_, why) = fault::<AnInvalidation>(stale, BOUNDS).expect("a copy is stale");
    assert!(why.ends_with("reads a value that the host has overwritten"), "{why}");
    // The record of a line with sharers names an owner that has evicted the line.
    let owned: &[&str] = &["x=1", "x"];
    assert_eq!(fault::<Moesi>(owned, evicting), None);
    let (_, why) = fault::<AForgottenOwner>(owned, evicting).expect("the owner stays recorded");
    assert!(why.contains("the record of an entry does not fit its state"), "{why}");
    // A recall brings the only current bytes.
    let recalled: &[&str] = &["x=1 x"];
    assert_eq!(fault::<Moesi>(recalled, evicting), None);
    assert!(fault::<RecalledBytes>(recalled, evicting).is_some(), "a write is lost");
}

/// A program in which two hosts and a compute unit share words, without any kernel boundary between
/// their accesses.
const HOSTS: &str = "OPENCL hosts
{ }

P0 (global atomic_int* x, global atomic_int* f) {
  atomic_store_explicit(x, 1, memory_order_relaxed, memory_scope_all_svm_devices);
  atomic_store_explicit(f, 1, memory_order_release, memory_scope_all_svm_devices);
}

P1 (global atomic_int* x, global atomic_int* f) {
  int r0 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_all_svm_devices);
  int r1 = atomic_fetch_add_explicit(f, 2, memory_order_acq_rel, memory_scope_all_svm_devices);
  int r2 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_all_svm_devices);
}

P2 (global atomic_int* x, global atomic_int* f) {
  int r0 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_all_svm_devices);
  int r1 = atomic_load_explicit(f, memory_order_acquire, memory_scope_all_svm_devices);
  int r2 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_all_svm_devices);
}

scopeTree (device (work_group P2))

exists ((1:r1=1 /\\ 1:r2=0) \\/ (2:r1=1 /\\ 2:r2=0) \\/ (2:r1=3 /\\ 2:r2=0))
";

/// Checks that the two hosts and the compute unit of [`HOSTS`] read no old value after a new one.
pub(crate) fn hosts_are_coherent<P: Protocol>() {
    let test = Test::read("hosts", HOSTS).expect("it is a test");
    let test = test.spread(Spread { hosts: 2, ..Spread::default() });
    let program = &*test.program();
    let witness = |outcome: &Vec<i64>| {
        // The registers of the condition, thread by thread.
        let [r1, r2, s1, s2] = outcome[..] else { panic!("{outcome:?}") };
        r1 == 1 && r2 == 0 || (s1 == 1 || s1 == 3) && s2 == 0
    };
    for placement in &test.placements {
        let mut explorer = Explorer::new(&Subject::of::<P>(), BOUNDS, None);
        let found = explorer.explore(program, placement, &Requirements::default(), &mut Limits::default());
        let found = found.expect("supported");
        assert!(found.incomplete.is_none() && found.violation.is_none(), "{:?}", found.violation);
        assert!(found.outcomes.len() > 3 && !found.outcomes.iter().any(witness), "{:?}", found.outcomes);
    }
}

#[test]
fn the_caches_of_hosts_are_coherent() {
    hosts_are_coherent::<Moesi>();
}
