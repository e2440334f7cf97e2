//! Temporal coherence: the writes of the strong variant are atomic, and those of the weak variant are
//! not, unless they are repaired.

use explore::claim::Claim;
use explore::verify::{self, Options, Test};
use explore::{Bounds, Exploration, Explorer, Fault, Limits, Placement, Requirements, Subject};
use proto::issue::IssueRule;
use proto::{Protocol, WritePolicy};
use zoo::tc::{TcStrong, TcWeak, TcWeakRepaired};

/// A program in which each thread writes one word and then reads the word that the other thread
/// writes. Each thread also reads that word first, so its cache may have a copy of the word.
const BUFFERING: &str = "OPENCL buffering
{ }

P0@wg 0, dev 0 (global int* x, global int* y) {
  int r0 = *y;
  *x = 1;
  int r1 = *y;
}

P1@wg 1, dev 0 (global int* x, global int* y) {
  int r0 = *x;
  *y = 1;
  int r1 = *x;
}

forall (0:r1=1 \\/ 1:r1=1)
";

/// A program in which a thread passes a message on to a last reader. The last reader may have a
/// copy of `x` from before the store to `x`.
const PASSED_ON: &str = "OPENCL passed-on
{ }

P0@wg 0, dev 0 (global atomic_int* x, global atomic_int* f) {
  atomic_store_explicit(x, 1, memory_order_seq_cst, memory_scope_device);
}

P1@wg 1, dev 0 (global atomic_int* x, global atomic_int* f) {
  int r0 = atomic_load_explicit(x, memory_order_seq_cst, memory_scope_device);
  atomic_store_explicit(f, r0, memory_order_seq_cst, memory_scope_device);
}

P2@wg 2, dev 0 (global atomic_int* x, global atomic_int* f) {
  int r0 = atomic_load_explicit(x, memory_order_seq_cst, memory_scope_device);
  int r1 = atomic_load_explicit(f, memory_order_seq_cst, memory_scope_device);
  int r2 = atomic_load_explicit(x, memory_order_seq_cst, memory_scope_device);
}

forall (2:r1=0 \\/ 2:r2=1)
";

/// A program in which another wavefront of the reader's compute unit may load `x` before the writer
/// stores to `x`. The late fill of that load must not answer the reader's load of `x`, which
/// follows the message (the flag `f`).
const LATE_FILL: &str = "OPENCL late-fill
{ }

P0@wg 0, dev 0 (global int* x, global atomic_int* f) {
  *x = 1;
  atomic_store_explicit(f, 1, memory_order_release, memory_scope_device);
}

P1@wg 1, dev 0 (global int* x, global atomic_int* f) {
  int r0 = *x;
}

P2@wg 1, dev 0 (global int* x, global atomic_int* f) {
  int r0 = atomic_load_explicit(f, memory_order_acquire, memory_scope_device);
  int r1 = *x;
}

forall (2:r0=0 \\/ 2:r1=1)
";

/// A program in which P1 loads two lines of one bank again and again, so that each displaces the other.
/// The acquire of P2 empties the bank. P0 exchanges one of the two lines meanwhile.
pub(crate) const EXCHANGED_BESIDE_TWO_POLLED: &str = "OPENCL exchanged-beside-two-lines-polled

{
[x] = 0;
[f] = 0;
[y] = 0;
}

P0 (global atomic_int* x, global atomic_int* f) {
  int r0 = atomic_exchange_explicit(x, 1, memory_order_relaxed, memory_scope_device);
  atomic_store_explicit(f, 1, memory_order_release, memory_scope_all_svm_devices);
}

P1 (global atomic_int* x, global atomic_int* y) {
  int r0;
  int r1;
  do {
    r1 = atomic_load_explicit(y, memory_order_relaxed, memory_scope_device);
    r0 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_device);
  } while (r0 == 0);
}

P2 (global atomic_int* f) {
  await(f == 1, memory_order_acquire, memory_scope_all_svm_devices);
}

scopeTree (device (work_group P0) (work_group P1) (work_group P2))

forall (x=1)
";

const BOUNDS: Bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);

fn explore<P: Protocol>(text: &str) -> Exploration {
    let test = Test::read("test", text).expect("it is a test");
    let program = &*test.program();
    let claim = Claim::of("sc").expect("a known model");
    let promise = claim.promise(program, &mut || false).expect("the model covers it");
    let requirements = Requirements { allowed: promise.allowed.as_ref(), may_block: false };
    let mut explorer = Explorer::new(&Subject::of::<P>(), BOUNDS, None);
    let placement = Placement::spread(program);
    explorer.explore(program, &placement, &requirements, &mut Limits::default()).expect("supported")
}

fn fault<P: Protocol>(text: &str) -> Option<Fault> {
    let found = explore::<P>(text);
    assert_eq!(found.incomplete, None);
    found.violation.map(|violation| violation.fault)
}

#[test]
fn writes_wait_for_copies_only_in_the_strong_variant() {
    assert_eq!(fault::<TcStrong>(BUFFERING), None);
    assert_eq!(fault::<TcWeak>(BUFFERING), Some(Fault::Outcome));
    assert_eq!(fault::<TcWeakRepaired>(BUFFERING), Some(Fault::Outcome));
}

#[test]
fn a_thread_that_passes_a_message_on_does_not_wait_for_copies() {
    assert_eq!(fault::<TcStrong>(PASSED_ON), None);
    assert_eq!(fault::<TcWeak>(PASSED_ON), Some(Fault::Outcome));
    assert_eq!(fault::<TcWeakRepaired>(PASSED_ON), None);
}

#[test]
fn a_late_fill_answers_only_the_load_that_asked_for_it() {
    assert_eq!(fault::<TcStrong>(LATE_FILL), None);
    assert_eq!(fault::<TcWeakRepaired>(LATE_FILL), None);
}

/// The line of a waiting write may leave the bank before its leases end. A get that passed the write
/// then would take the next lease, and the write would wait for ever.
#[test]
fn a_get_of_a_line_that_has_left_the_bank_does_not_pass_a_waiting_write() {
    let tests = [Test::read("exchanged", EXCHANGED_BESIDE_TWO_POLLED).expect("it is a test")];
    for subject in [Subject::of::<TcStrong>(), Subject::of::<TcWeakRepaired>()] {
        let options = Options::new(vec![BOUNDS.tight().core(IssueRule::Gpu)]);
        let found = verify::verify(&subject, &tests, &options).expect("known models");
        let whys: Vec<_> = found.findings.iter().map(|finding| &finding.violation.why).collect();
        assert!(whys.is_empty() && found.gaps.is_empty(), "{whys:?} {:?}", found.gaps);
    }
}
