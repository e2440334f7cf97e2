//! No thread starves, although other threads again and again use the resource for which it waits:
//! the way of an L1 of one line, the way of a bank of one line, or a dirty line in the store
//! buffer.

use explore::{Bounds, Explorer, Limits, Placement, Requirements, Subject};
use litmus::program::Program;
use proto::{Protocol, WritePolicy};

/// A program in which a store needs the way that holds a flag, which a peer (a thread of the same
/// compute unit) polls. The peer makes the flag dirty at each poll, so that the flag's eviction
/// takes time.
const L1: &str = "OPENCL one-way-of-an-l1
{ }

P0@wg 0, dev 0 (global int* x, global atomic_int* f) {
  *x = 1;
  atomic_store_explicit(f, 1, memory_order_release, memory_scope_work_group);
}

P1@wg 0, dev 0 (global int* x, global atomic_int* f) {
  int r0;
  do { r0 = atomic_fetch_add_explicit(f, 0, memory_order_acq_rel, memory_scope_work_group); } while (r0 == 0);
}

exists (1:r0=1)
";

/// A program in which a load needs the way of the bank, while two compute units take a flag from
/// one another.
const BANK: &str = "OPENCL one-way-of-a-bank
{ }

P0@wg 0, dev 0 (global int* x, global atomic_int* f) {
  int r0 = *x;
  atomic_store_explicit(f, 1, memory_order_release, memory_scope_device);
}

P1@wg 1, dev 0 (global atomic_int* f) {
  int r0;
  do { r0 = atomic_load_explicit(f, memory_order_acquire, memory_scope_work_group); } while (r0 == 0);
}

P2@wg 2, dev 0 (global atomic_int* f) {
  int r0;
  do { r0 = atomic_load_explicit(f, memory_order_acquire, memory_scope_work_group); } while (r0 == 0);
}

exists (1:r0=1)
";

/// The program `BANK`, but one of the two compute units polls by loads that do not register the
/// line of the flag.
fn bank_program_with_unregistered_polls() -> String {
    let (first, second) = BANK.split_once("P2@").expect("three threads");
    let unregistered = second.replace(
        "memory_order_acquire, memory_scope_work_group",
        "memory_order_relaxed, memory_scope_device",
    );
    assert_ne!(unregistered, second);
    format!("{first}P2@{unregistered}")
}

fn every_thread_ends<P: Protocol>(program: &Program, placement: &Placement, bounds: Bounds) {
    let mut explorer = Explorer::new(&Subject::of::<P>(), bounds, None);
    let found = explorer.explore(program, placement, &Requirements::default(), &mut Limits::default());
    let found = found.expect("supported");
    assert_eq!(
        (found.violation, found.incomplete),
        (None, None),
        "{}: {}, {placement:?}",
        P::INFO.name,
        program.name
    );
}

fn every_thread_gets_its_way<P: Protocol>(text: &str) {
    let program = litmus::parse::parse(text).expect("it is a test");
    let combining = Bounds::new(WritePolicy::Combining, WritePolicy::Combining).tight();
    every_thread_ends::<P>(&program, &Placement::spread(&program), Bounds { banks: 1, ..combining });
}

#[test]
fn threads_get_their_ways_in_an_l1() {
    every_thread_gets_its_way::<zoo::vi::Vi>(L1);
    every_thread_gets_its_way::<zoo::rsp::Rsp>(L1);
    every_thread_gets_its_way::<zoo::denovo::DenovoB>(L1);
    every_thread_gets_its_way::<zoo::hlrc::Hlrc>(L1);
    every_thread_gets_its_way::<zoo::hlrc::HlrcRepaired>(L1);
}

/// Checks that a load gets the only way of a bank, although other compute units use the way again
/// and again. The protocols of this test treat scopes as hints. In other protocols, the polling
/// threads, which use work-group scope, may wait for ever.
#[test]
fn threads_get_their_ways_in_a_bank() {
    every_thread_gets_its_way::<zoo::denovo::DenovoB>(BANK);
    every_thread_gets_its_way::<zoo::hlrc::Hlrc>(BANK);
    every_thread_gets_its_way::<zoo::hlrc::HlrcRepaired>(BANK);
    let unregistered = bank_program_with_unregistered_polls();
    every_thread_gets_its_way::<zoo::denovo::DenovoB>(&unregistered);
    every_thread_gets_its_way::<zoo::hlrc::Hlrc>(&unregistered);
    every_thread_gets_its_way::<zoo::hlrc::HlrcRepaired>(&unregistered);
}

/// The release of one thread completes, although its peer fetches a dirty line of the store buffer
/// at each poll.
#[test]
fn a_release_completes_while_a_peer_polls_a_dirty_line() {
    let text = include_str!("../../../../litmus/caches/polled-beside-written.litmus");
    let program = litmus::parse::parse(text).expect("it is a test");
    for policy in [WritePolicy::Combining, WritePolicy::Through] {
        for lines in [vec![0, 1, 2, 2], vec![0, 1, 1, 1]] {
            let placement = Placement { lines, ..Placement::spread(&program) };
            every_thread_ends::<zoo::denovo::DenovoB>(&program, &placement, Bounds::new(policy, policy));
        }
    }
}
