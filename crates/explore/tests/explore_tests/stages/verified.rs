//! Verification in several kernels: work-groups run in sequence, and a protocol's claim (a memory
//! model) treats the end of a kernel and the beginning of the next as synchronization.

use explore::claim::Claim;
use explore::verify::{self, Options, Spread, Status, Test, Verification};
use explore::{Bounds, Exploration, Explorer, Fault, Limits, Placement, Programs, Requirements, Subject};
use proto::{Boundary, Change, PlanKey, Protocol as _, SeededFault, WritePolicy};
use zoo::vi::Vi;

/// A program in which only the end of a kernel synchronizes with the reader.
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

/// A program in which the host writes before the kernel, or reads after it.
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
    let subject = subjects::explored(name).expect("a protocol");
    let mut programs = Programs::of([Test::read("told", text).expect("a test")]).spread(spread(kernels));
    let options = Options::new(verify::machines_of(&subject.info));
    verify::verify_programs(&subject, &mut programs, &options).expect("known models")
}

#[test]
fn the_end_of_a_kernel_orders_accesses_that_race_in_one_kernel() {
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

/// A program in which two threads write one word each, and a third thread reads both words.
const TWO_WRITERS: &str = "OPENCL two-writers
{ }

P0@wg 0, dev 0 (global int* x, global int* y) {
  *x = 1;
}

P1@wg 1, dev 0 (global int* x, global int* y) {
  *y = 1;
}

P2@wg 2, dev 0 (global int* x, global int* y) {
  int r0 = *x;
  int r1 = *y;
}

exists (2:r0=1 /\\ 2:r1=1)
";

/// A program in which one thread reads `z` before another thread writes `x` in the same line. A
/// third thread, on the compute unit of the first, then reads the written value of `x`.
const STALE: &str = "OPENCL stale-line
{ }

P0@wg 0, dev 0 (global int* x, global int* z) {
  int r0 = *z;
}

P1@wg 1, dev 0 (global int* x, global int* z) {
  *x = 1;
}

P2@wg 2, dev 0 (global int* x, global int* z) {
  int r0 = *x;
}

exists (0:r0=0 /\\ 2:r0=1)
";

/// The result of exploring `vi` on a program whose first and last thread share a compute unit and
/// whose words share a line. If `without` names a step of the plan for the beginning or end of a
/// kernel, the plan lacks this step.
fn explored(text: &str, stages: &[u8], without: Option<(Boundary, &str)>) -> Exploration {
    let test = Test::read("staged", text).expect("a test");
    let program = &*test.program();
    let spread = Placement::spread(program).paired(program);
    let mut agents = spread.agents.clone();
    if let [first, _, last] = &mut agents[..] {
        *last = *first;
    }
    let placement = Placement { agents, stages: stages.to_vec(), ..spread };
    let claim = Claim::of("hrf-indirect").expect("a known model");
    let promise =
        claim.promise(&placement.for_models(program), &mut || false).expect("the model evaluates it");
    let requirements = Requirements { allowed: promise.allowed.as_ref(), may_block: false };
    let seeded_fault = without.map(|(boundary, step)| {
        let plan = PlanKey::of(&boundary.request(proto::KernelId(0), false));
        let view = Vi::plans().into_iter().find(|view| view.plans.iter().any(|(key, _)| *key == plan));
        let view = view.expect("boundaries have plans");
        let (_, steps) = view.plans.iter().find(|(key, _)| *key == plan).expect("it exists");
        let at = steps.iter().position(|other| *other == step).expect("the plan has the step") as u8;
        SeededFault { table: view.id, change: Change::DropStepOf { plan, at } }
    });
    let bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);
    let mut explorer = Explorer::new(&Subject::of::<Vi>(), bounds, seeded_fault);
    explorer.explore(program, &placement, &requirements, &mut Limits::default()).expect("supported")
}

const NO_FLUSH: Option<(Boundary, &str)> = Some((Boundary::EndCus, "Flush"));
const NO_INVALIDATION: Option<(Boundary, &str)> = Some((Boundary::BeginCus, "Invalidate"));

#[test]
fn a_kernel_that_ends_without_a_flush_breaks_the_claim_in_several_kernels_only() {
    assert_eq!(explored(TOLD, &[], NO_FLUSH).violation, None);
    let found = explored(TOLD, &[0, 1], NO_FLUSH);
    let violation = found.violation.expect("the write stays where it is");
    assert_eq!((violation.fault, found.forbidden), (Fault::Outcome, Some(vec![0])));
    // In the other order nothing needs a flush before the reader.
    assert_eq!(explored(TOLD, &[1, 0], NO_FLUSH).violation, None);
}

#[test]
fn a_boundary_fault_is_detected_after_two_threads_and_after_two_kernels() {
    for stages in [[0, 0, 1], [0, 1, 2]] {
        for (text, without, outcome) in
            [(TWO_WRITERS, NO_FLUSH, vec![1, 1]), (STALE, NO_INVALIDATION, vec![0, 1])]
        {
            let right = explored(text, &stages, None);
            assert_eq!((right.violation, right.outcomes), (None, [outcome].into()), "{stages:?}");
            let wrong = explored(text, &stages, without);
            let fault = wrong.violation.map(|violation| violation.fault);
            assert_eq!(fault, Some(Fault::Outcome), "{text} in {stages:?} without {without:?}");
        }
    }
}

#[test]
fn every_model_orders_all_threads_of_a_kernel_before_the_next_one() {
    let test = Test::read("staged", TWO_WRITERS).expect("a test");
    let program = &*test.program();
    for model in zoo::ALL.iter().flat_map(|info| info.claims).map(|claim| claim.model) {
        let claim = Claim::of(model).expect("a known model");
        for (stages, is_ordered) in
            [([0, 0, 1], true), ([0, 1, 2], true), ([0, 1, 1], false), ([1, 0, 1], false)]
        {
            let placement = Placement { stages: stages.to_vec(), ..Placement::spread(program) };
            let promise =
                claim.promise(&placement.for_models(program), &mut || false).expect("the model evaluates it");
            let is_one = promise.allowed == Some([vec![1, 1]].into());
            assert_eq!(is_one, is_ordered, "{model} in {stages:?}: {:?}", promise.allowed);
        }
    }
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
    let subject = subjects::explored("vi").expect("a protocol");
    let said = |kernels| {
        let test = Test::read("told", TOLD).expect("a test").spread(spread(kernels));
        verify::verify(&subject, &[test], &Options::new(verify::machines())).expect("known models").dimensions
    };
    assert!(said(1).not_covered.contains(&String::from("several kernels in one program")));
    assert!(said(2).covered.contains(&String::from("several kernels in one program, up to 2")));
}
