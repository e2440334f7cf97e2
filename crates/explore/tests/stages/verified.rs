//! Verification in several kernels: work-groups follow one another, and a claim
//! says of the boundary what it says of synchronization.

use explore::claim::Claim;
use explore::verify::{self, Dimensions, Options, Spread, Status, Test, Verification};
use explore::{Asked, Bounds, Explorer, Explores as _, Fault, Found, Limits, Placement, Programs, Subject};
use proto::{Boundary, Change, Mutation, PlanKey, Protocol as _, WritePolicy};
use zoo::vi::Vi;

/// Nothing but the end of a kernel tells the reader.
const TOLD: &str = "OPENCL told-by-the-end
{ }

P0@wg 0, dev 0 (global int* x) {
  *x = 1;
}

P1@wg 1, dev 0 (global int* x) {
  int r0 = *x;
}

exists (1:r0=0)
";

/// The host writes before the kernel, or reads behind it.
const HOST: &str = "OPENCL beside-the-host
{ }

P0 (global int* x) {
  *x = 1;
}

P1 (global int* x) {
  int r0 = *x;
}

scopeTree (device (work_group P1))

exists (1:r0=0)
";

fn spread(kernels: u8) -> Spread {
    Spread { kernels, ..Spread::default() }
}

fn verified(name: &str, text: &str, kernels: u8) -> Verification {
    let subject = Subject::named(name).expect("a protocol");
    let mut programs = Programs::of([Test::read("told", text).expect("a test")]).spread(spread(kernels));
    let options = Options::new(verify::machines_of(&subject.info));
    verify::verify_programs(&subject, &mut programs, &options).expect("known models")
}

#[test]
fn what_races_in_one_kernel_is_ordered_by_the_end_of_a_kernel() {
    for name in ["vi", "rsp", "hlrc", "denovo-b"] {
        let one = verified(name, TOLD, 1);
        assert_eq!((one.race_free, one.synchronized), (0, 0), "{name}");
        for text in [TOLD, HOST] {
            let two = verified(name, text, 2);
            assert!(two.findings.is_empty(), "{name}: {:?}", two.findings);
            assert!(two.claims.iter().all(|(_, status)| *status == Status::Verified), "{name}: {two:?}");
            assert_eq!((two.race_free, two.synchronized), (1, 1), "{name}");
        }
    }
}

/// `vi` whose compute units do not flush when a kernel ends.
fn without_flush(stages: &[u8], text: &str) -> Found {
    let test = Test::read("told", text).expect("a test");
    let program = &*test.program();
    let placement = Placement { stages: stages.to_vec(), ..Placement::spread(program) };
    let claim = Claim::of("hrf-indirect").expect("a known model");
    let promise = claim.promise(&placement.asked(program), &mut || false).expect("it is asked");
    let asked = Asked { allowed: promise.allowed.as_ref(), may_block: false };
    let plan = PlanKey::of(&Boundary::EndCus.request(proto::KernelId(0), false));
    let view = Vi::plans().into_iter().find(|view| view.plans.iter().any(|(key, _)| *key == plan));
    let view = view.expect("kernels end");
    let (_, steps) = view.plans.iter().find(|(key, _)| *key == plan).expect("it is there");
    let at = steps.iter().position(|step| *step == "Flush").expect("vi flushes") as u8;
    let change = Change::DropStepOf { plan, at };
    let bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);
    let mut explorer = Explorer::<Vi>::new(bounds, Some(Mutation { table: view.id, change }));
    explorer.explore(program, &placement, &asked, &mut Limits::default()).expect("supported")
}

#[test]
fn a_kernel_that_ends_without_a_flush_breaks_the_claim_in_several_kernels_only() {
    assert_eq!(without_flush(&[], TOLD).violation, None);
    let found = without_flush(&[0, 1], TOLD);
    let violation = found.violation.expect("the write stays where it is");
    assert_eq!((violation.fault, found.forbidden), (Fault::Outcome, Some(vec![0])));
    // The other way round nothing is to be flushed before the reader.
    assert_eq!(without_flush(&[1, 0], TOLD).violation, None);
}

#[test]
fn a_test_in_several_kernels_has_its_placements_in_one_kernel_first() {
    let test = Test::read("told", TOLD).expect("a test");
    let one = test.placements.clone();
    let two = test.spread(spread(2));
    assert!(two.placements.starts_with(&one));
    let stages: Vec<_> = two.placements[one.len()..].iter().map(|p| p.stages.clone()).collect();
    assert_eq!(stages.len(), 2 * one.len());
    assert!(stages.iter().all(|stages| *stages == [0, 1] || *stages == [1, 0]), "{stages:?}");
    let said = |kernels| Dimensions::of(&[], spread(kernels), 0);
    assert!(said(1).not_covered.contains(&String::from("several kernels in one program")));
    assert!(said(2).covered.contains(&String::from("several kernels in one program, up to 2")));
}
