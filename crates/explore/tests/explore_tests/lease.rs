//! Leases in logical time: the writes of the strong forms (RCC and repaired G-TSC) are atomic,
//! although copies with older bytes remain readable.

use explore::claim::Claim;
use explore::verify::Test;
use explore::{Bounds, Exploration, Explorer, Fault, Limits, Placement, Requirements, Subject};
use proto::{Protocol, WritePolicy};
use zoo::lease::{GTscRepaired, Rcc};

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
fn writes_are_atomic_in_logical_time() {
    for text in [BUFFERING, PASSED_ON] {
        assert_eq!(fault::<Rcc>(text), None);
        assert_eq!(fault::<GTscRepaired>(text), None);
    }
}
