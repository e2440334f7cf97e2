//! Spatiotemporal coherence (STC): without any one of its repairs, or of its rules against
//! deadlocks, the protocol fails.

use explore::claim::Claim;
use explore::verify::Test;
use explore::{Bounds, Exploration, Explorer, Fault, Limits, Placement, Requirements, Subject};
use proto::{Protocol, WritePolicy};
use zoo::stc::lacking::{AReturn, AnEnd, AnEpoch, Announcement, Sweep};
use zoo::stc::{StcAb, StcAbRepaired, StcEs, StcEsRepaired, StcMb, StcMbRepaired, StcNv, StcNvRepaired};

/// A program that passes a message: the reader may have a copy of `x` when it reads the flag `f`.
/// The words are in successive lines, and successive lines are in different bands (groups of
/// addresses that are written in different epochs, which are periods of time). So the order of the
/// words decides whether `x` and `f` can be written in the same epoch.
fn message(words: &[&str]) -> String {
    let own: Vec<String> = words.iter().map(|word| format!("global atomic_int* {word}")).collect();
    let own = own.join(", ");
    format!(
        "OPENCL message
{{ }}

P0@wg 0, dev 0 ({own}) {{
  atomic_store_explicit(x, 1, memory_order_seq_cst, memory_scope_device);
  atomic_store_explicit(f, 1, memory_order_seq_cst, memory_scope_device);
}}

P1@wg 1, dev 0 ({own}) {{
  int r0 = atomic_load_explicit(x, memory_order_seq_cst, memory_scope_device);
  int r1 = atomic_load_explicit(f, memory_order_seq_cst, memory_scope_device);
  int r2 = atomic_load_explicit(x, memory_order_seq_cst, memory_scope_device);
}}

forall (1:r1=0 \\/ 1:r2=1)
"
    )
}

/// A program with stores to both bands (groups of addresses), and then to the first band again.
const TURNS: &str = "OPENCL turns
{ }

P0@wg 0, dev 0 (global atomic_int* x, global atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_seq_cst, memory_scope_device);
  atomic_store_explicit(y, 1, memory_order_seq_cst, memory_scope_device);
  atomic_store_explicit(x, 2, memory_order_seq_cst, memory_scope_device);
}

forall (x=2 /\\ y=1)
";

/// A program in which a write of `b` is blocked while a thread on the same compute unit loads `d`.
/// Both words are in one band (group of addresses), so the start bit (the lowest address bit that
/// selects the band) moves up. Then `b` is in another band.
const CONFLICT: &str = "OPENCL conflict
{ }

P0@wg 0, dev 0 (global int* a, global int* b, global int* c, global int* d) {
  *b = 1;
}

P1@wg 0, dev 0 (global int* a, global int* b, global int* c, global int* d) {
  int r0 = *d;
}

forall (b=1 /\\ 1:r0=0)
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
fn each_repair_is_needed() {
    let (apart, together) = (message(&["x", "f"]), message(&["x", "y", "f"]));
    // A fill under way for a whole epoch is stale.
    assert_eq!(fault::<StcNv>(&apart), Some(Fault::Outcome));
    assert_eq!(fault::<Announcement>(&apart), None);
    // The reader has not yet changed to the epoch in which both words are written.
    assert_eq!(fault::<StcNv>(&together), Some(Fault::Outcome));
    assert_eq!(fault::<Announcement>(&together), Some(Fault::Outcome));
    for text in [&apart, &together] {
        assert_eq!(fault::<StcNvRepaired>(text), None);
    }
}

/// The sweep compares lines with the epoch that ends. If the register of the current epoch changes
/// first, the reader keeps its copy of `x` beyond the epoch in which `x` is written.
#[test]
fn the_sweep_comes_before_the_change_of_the_register() {
    for text in [&message(&["x", "f"]), &message(&["x", "y", "f"])] {
        assert_eq!(fault::<Sweep>(text), Some(Fault::Outcome));
        assert_eq!(fault::<StcNvRepaired>(text), None);
    }
}

#[test]
fn the_variants_share_the_gaps_and_the_repairs() {
    // Both epochs of the words must be demanded, so the words are not in the first epoch.
    let (apart, together) = (message(&["y", "x", "f"]), message(&["y", "x", "z", "f"]));
    for text in [&apart, &together] {
        assert_eq!(fault::<StcEs>(text), Some(Fault::Outcome));
        assert_eq!(fault::<StcAb>(text), Some(Fault::Outcome));
        assert_eq!(fault::<StcMb>(text), Some(Fault::Outcome));
        assert_eq!(fault::<StcEsRepaired>(text), None);
        assert_eq!(fault::<StcAbRepaired>(text), None);
        assert_eq!(fault::<StcMbRepaired>(text), None);
    }
}

#[test]
fn a_demand_is_lost_when_the_start_bit_moves() {
    assert_eq!(fault::<StcEs>(CONFLICT), None);
    let lost = explore::<StcAb>(CONFLICT).violation.expect("the write waits for ever");
    assert_eq!(lost.fault, Fault::Livelock, "{}", lost.why);
    assert_eq!(fault::<StcAbRepaired>(CONFLICT), None);
    assert_eq!(fault::<StcMbRepaired>(CONFLICT), None);
}

#[test]
fn each_rule_against_deadlocks_is_needed() {
    fn never_ends<P: Protocol>() {
        let violation = explore::<P>(TURNS).violation.expect("a store is never performed");
        assert_eq!(violation.fault, Fault::Livelock, "{}: {}", P::INFO.name, violation.why);
        assert!(violation.why.contains("no path to an end"), "{}: {}", P::INFO.name, violation.why);
    }
    assert_eq!(fault::<StcNvRepaired>(TURNS), None);
    never_ends::<AnEpoch>();
    never_ends::<AnEnd>();
    never_ends::<AReturn>();
}
