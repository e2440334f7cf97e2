//! A toy protocol, explored and stressed. In this protocol, each store waits for the next epoch: a
//! period of time that a manager begins.

mod toy;

use explore::stress::{Options, stress};
use explore::verify::Test;
use explore::{Bounds, Exploration, Explorer, Limits, Placement, Requirements, Subject};
use proto::{Protocol, WritePolicy};
use toy::{forgetful::Forgetful, sound::Epochs};

const MESSAGE: &str = "OPENCL MP
{ }

P0@wg 0, dev 0 (global atomic_int* x, global atomic_int* f) {
  atomic_store_explicit(x, 1, memory_order_release, memory_scope_device);
  atomic_store_explicit(f, 1, memory_order_release, memory_scope_device);
}

P1@wg 1, dev 0 (global atomic_int* x, global atomic_int* f) {
  int r0 = atomic_load_explicit(f, memory_order_acquire, memory_scope_device);
  int r1 = atomic_load_explicit(x, memory_order_acquire, memory_scope_device);
}

exists (1:r0=1 /\\ 1:r1=0 /\\ x=1)
";

fn explore<P: Protocol>() -> Exploration {
    let test = Test::read("MP", MESSAGE).expect("it is a test");
    let program = &*test.program();
    let bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);
    let mut explorer = Explorer::new(&Subject::of::<P>(), bounds, None);
    let placement = Placement::spread(program);
    let found = explorer.explore(program, &placement, &Requirements::default(), &mut Limits::default());
    found.expect("the machine has all that the program needs")
}

#[test]
fn a_periodic_timer_does_not_keep_a_machine_from_rest() {
    let found = explore::<Epochs>();
    assert_eq!(found.violation, None);
    assert_eq!(found.incomplete, None);
    // Each register is 0 or 1, and a reader that sees the flag sees all earlier stores.
    assert_eq!(found.outcomes.len(), 3, "{:?}", found.outcomes);
}

#[test]
fn a_store_that_waits_for_an_epoch_that_never_changes_is_found() {
    let violation = explore::<Forgetful>().violation.expect("the store is never performed");
    assert!(violation.why.contains("no path to an end"), "{}", violation.why);
}

#[test]
fn episodes_end_with_a_periodic_timer() {
    let options = Options {
        seed: 1,
        episodes: 20,
        model: None,
        seeded_fault: None,
        chiplets: 1,
        jobs: 1,
        overtaking: false,
        shrink: true,
        stop: &|| false,
        progress: &|_| {},
    };
    let stressed = stress(&Subject::of::<Epochs>(), &options).expect("episodes exist for its claim");
    assert!(stressed.failure.is_none(), "{:?}", stressed.failure);
    assert!(stressed.checked > 0);
    let stressed = stress(&Subject::of::<Forgetful>(), &options).expect("episodes exist for its claim");
    assert!(stressed.failure.is_some(), "its stores are never performed");
}
