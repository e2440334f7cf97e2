//! Seeded faults that a recorded verification does not detect, each with a program that detects it.

use explore::verify::{self, Options, Spread, Test};

/// The words x and y are on one line, which the load of z displaces. P0 and P2 are on one host, and
/// P1 is on the other. P0 asks to write while P1 reads again.
const READ_BESIDE_UPGRADE: &str = "OPENCL read-beside-upgrade

{
[z] = 0;
[x] = 0;
[y] = 0;
}

P0 (global int* x) {
  *x = 1;
}

P1 (global int* z, global atomic_int* y) {
  int r0 = atomic_load_explicit(y, memory_order_relaxed, memory_scope_all_svm_devices);
  int r3 = *z;
  int r1 = atomic_load_explicit(y, memory_order_relaxed, memory_scope_all_svm_devices);
}

P2 (global atomic_int* y) {
  atomic_store_explicit(y, 1, memory_order_relaxed, memory_scope_all_svm_devices);
  int r2 = atomic_load_explicit(y, memory_order_relaxed, memory_scope_all_svm_devices);
}


scopeTree (system P0 P1 P2)

exists (1:r0=1 /\\ 1:r1=0)
";

/// The words w, x and y are on one line. P0 asks to write x while P2, on the same host, writes y, and
/// P1, on the other host, writes w.
const STORED_BESIDE_UPGRADE: &str = "OPENCL stored-beside-upgrade

{
[z] = 0;
[w] = 0;
[x] = 0;
[y] = 0;
}

P0 (global int* x) {
  int r0 = *x;
  *x = 1;
}

P1 (global int* z, global int* w) {
  *w = 1;
  int r1 = *z;
}

P2 (global int* y) {
  *y = 1;
}

scopeTree (system P0 P1 P2)

forall (w=1 /\\ x=1 /\\ y=1)
";

/// The words w, x and y are on one line. P1 reads y and P2 updates w while P0 stores and updates x.
const UPDATED_BESIDE_FETCH: &str = "OPENCL updated-beside-fetch

{
[z] = 0;
[w] = 0;
[x] = 0;
[y] = 0;
}

P0 (global atomic_int* x) {
  *x = 1;
  int r1 = atomic_fetch_add_explicit(x, 1, memory_order_acquire, memory_scope_device);
}

P1 (global int* y) {
  int r2 = *y;
}

P2 (global atomic_int* w, global int* z) {
  int r0 = atomic_fetch_add_explicit(w, 1, memory_order_acquire, memory_scope_device);
  int r3 = *z;
}

scopeTree (device (work_group P0) (work_group P1) (work_group P2))

exists (0:r1=0)
";

/// The words w, x and y are on one line. P1 reads y and P2 updates w while P0 stores x and releases it.
const RELEASED_BESIDE_FETCH: &str = "OPENCL released-beside-fetch

{
[f] = 0;
[w] = 0;
[x] = 0;
[y] = 0;
}

P0 (global atomic_int* f, global int* x) {
  *x = 1;
  atomic_store_explicit(f, 1, memory_order_release, memory_scope_device);
}

P1 (global atomic_int* f, global int* x, global int* y) {
  int r2 = *y;
  int r3 = atomic_load_explicit(f, memory_order_acquire, memory_scope_device);
  int r4 = 1;
  if (r3 == 1) {
    r4 = *x;
  }
}

P2 (global atomic_int* w) {
  int r0 = atomic_fetch_add_explicit(w, 1, memory_order_acquire, memory_scope_device);
}

scopeTree (device (work_group P0) (work_group P1) (work_group P2))

exists (1:r3=1 /\\ 1:r4=0)
";

/// The words w, x and y are on one line. P1 reads y while P2 updates w and the host stores x.
const HOST_BESIDE_FETCH: &str = "OPENCL host-beside-fetch

{
[z] = 0;
[w] = 0;
[x] = 0;
[y] = 0;
}

P0 (global int* x, global int* z) {
  *x = 1;
  int r1 = *z;
}

P1 (global int* y) {
  int r2 = *y;
}

P2 (global atomic_int* w) {
  int r0 = atomic_fetch_add_explicit(w, 1, memory_order_acquire, memory_scope_device);
  int r3 = *w;
}

scopeTree (device (work_group P1) (work_group P2))

exists (2:r3=0)
";

/// The tables of the mutants.
const HOST: &str = "A line in the cache of a host: ";
const L2: &str = "A line in a bank of the L2: ";

/// Checks that the protocol keeps its claims in the program, and that the program detects the fault.
fn detects(protocol: &str, text: &str, table: &str, fault: &str) {
    let subject = subjects::explored(protocol).expect("a protocol");
    let spread = Spread { kernels: 1, hosts: Spread::hosts_of(&subject.info) };
    let tests = [Test::read("own.litmus", text).expect("it is a test").spread(spread)];
    let fault = format!("{table}{fault}");
    let options = Options { mutants: Some(&fault), ..Options::new(verify::machines()) };
    let found = verify::verify(&subject, &tests, &options).expect("known models");
    assert!(found.findings.is_empty(), "{protocol}: {:?}", found.findings.first());
    let mutants = found.mutants.expect("it was tried");
    let killed: Vec<&String> = mutants.killed.iter().map(|(name, _)| name).collect();
    assert_eq!(killed, [&fault], "{protocol}: {mutants:?}");
}

#[test]
fn a_host_that_asks_to_write_remains_the_owner_after_a_load() {
    for protocol in ["quick-release-groups", "apu-no-l1"] {
        for fault in ["Load in OU, to IM", "Load in OU, to SU"] {
            detects(protocol, READ_BESIDE_UPGRADE, HOST, fault);
        }
    }
}

#[test]
fn a_host_that_asks_to_write_does_not_write_yet() {
    detects("quick-release-split", STORED_BESIDE_UPGRADE, HOST, "Store in SU, as in M");
}

#[test]
fn an_atomic_beside_a_useless_fetch_is_after_the_bytes_that_are_written_here() {
    let fault = "Atomic in IX, without WriteOut";
    detects("quick-release-split", UPDATED_BESIDE_FETCH, L2, fault);
}

#[test]
fn a_useless_fetch_stays_useless() {
    detects("quick-release-split", RELEASED_BESIDE_FETCH, L2, "Leave in IX, to IV");
    detects("quick-release-split", HOST_BESIDE_FETCH, L2, "Inv in IX, to IV");
}
