//! A protocol without flushes fails. Each step that makes a release wait for earlier writes is
//! removed from all plans, one step at a time, and a thread then reads a stale value.

use explore::claim::Claim;
use explore::verify::Test;
use explore::{
    Bounds, Exploration, Explorer, Fault, Limits, Outcome, Placement, Requirements, Subject, corpus,
};
use litmus::program::{Program, Term};
use proto::{Change, SeededFault, WritePolicy};
use std::collections::BTreeSet;

/// The steps in which a release waits, by their names in the protocols' plans (the steps of each
/// operation). `FlushBanks` writes the contents of the L2 to memory, for the host. In `no-l1` no L1
/// holds data, and `Flush` waits for posted stores. In DeNovo nothing is written out, and
/// `RegisterStores` waits for the registration of stores. hLRC flushes at work-group scope when a
/// registration moves; this flush is a row and not a step of a plan.
const WAITS: [&str; 5] = ["Flush", "FlushOthers", "FlushBanks", "RegisterStores", "Release"];

/// A program in which a work-group passes a message to the host.
pub(crate) const TO_THE_HOST: &str = "OPENCL MP+host
{ }

P0@wg 0, dev 0 (global int* x, global atomic_int* f) {
  *x = 1;
  atomic_store_explicit(f, 1, memory_order_release, memory_scope_all_svm_devices);
}

P1@wg 1, dev 1 (global int* x, global atomic_int* f) {
  int r0 = atomic_load_explicit(f, memory_order_acquire, memory_scope_all_svm_devices);
  int r1 = 1;
  if (r0 == 1) {
    r1 = *x;
  }
}

exists (1:r0=1 /\\ 1:r1=0)
";

fn tests() -> Vec<Test> {
    let shipped = corpus::shipped().expect("they are tests").into_iter();
    let host = Test::read("MP+host", TO_THE_HOST).expect("it is a test");
    shipped
        .filter(|test| ["hrf/", "opencl/"].iter().any(|folder| test.name.starts_with(folder)))
        .chain([host])
        .collect()
}

/// The values of registers in an outcome, without the values of memory.
fn read(program: &Program, outcome: &Outcome) -> Outcome {
    let terms = program.state_terms();
    let values = terms.iter().zip(outcome).filter(|(term, _)| matches!(term, Term::Reg(..)));
    values.map(|(_, &value)| value).collect()
}

/// Explores a protocol without one step of its plans (the steps of operations). Returns the name of
/// the first test in which a thread reads a stale value, or `None` if no test shows one.
fn refuting_test<'a>(subject: &Subject, step: &str, tests: &'a [Test]) -> Option<&'a str> {
    let views = (subject.plans)();
    let view = views.iter().find(|view| view.plans.iter().any(|(_, steps)| steps.contains(&step)));
    let view = view.expect("some plan has the step");
    let step = view.steps.iter().position(|(name, _)| *name == step).expect("it is a step") as u8;
    let seeded_fault = SeededFault { table: view.id, change: Change::DropStep { step } };
    let claims: Vec<Claim> =
        subject.info.claims.iter().map(|claim| Claim::of(claim.model).expect("a known model")).collect();
    // A lost flush may be visible only if the flag of a message leaves its cache by itself.
    let combining = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);
    [combining, combining.evicting()].into_iter().find_map(|bounds| {
        let wrong =
            |test: &&Test| claims.iter().any(|claim| reads_wrong(subject, test, claim, bounds, seeded_fault));
        tests.iter().find(wrong).map(|test| test.name.as_str())
    })
}

fn reads_wrong(
    subject: &Subject,
    test: &Test,
    claim: &Claim,
    bounds: Bounds,
    seeded_fault: SeededFault,
) -> bool {
    let program = test.program();
    let Ok(promise) = claim.promise(&program, &mut || false) else { return false };
    let Some(allowed) = &promise.allowed else { return false };
    let readable: BTreeSet<Outcome> = allowed.iter().map(|outcome| read(&program, outcome)).collect();
    let explore =
        |placement: &Placement, seeded_fault, requirements: &Requirements<'_>| -> Option<Exploration> {
            Explorer::new(subject, bounds, seeded_fault)
                .explore(&program, placement, requirements, &mut Limits::default())
                .ok()
        };
    test.placements.iter().any(|placement| {
        let all = Requirements { allowed: None, may_block: promise.may_block };
        let Some(found) = explore(placement, Some(seeded_fault), &all) else { return false };
        let is_wrong = found.outcomes.iter().any(|outcome| !readable.contains(&read(&program, outcome)));
        // The fault alone is the reason: the protocol itself passes, and with the fault a
        // search with the allowed outcomes reports the violation.
        let requirements = Requirements { allowed: Some(allowed), ..all };
        let fault = |seeded_fault| {
            let violation = explore(placement, seeded_fault, &requirements).and_then(|found| found.violation);
            violation.map(|violation| violation.fault)
        };
        is_wrong && fault(None).is_none() && fault(Some(seeded_fault)) == Some(Fault::Outcome)
    })
}

/// The steps in `WAITS` that are in the plans of a protocol.
fn waits(subject: &Subject) -> Vec<&'static str> {
    let plans = (subject.plans)();
    let has = |step: &&str| plans.iter().flat_map(|view| &view.plans).any(|(_, all)| all.contains(step));
    WAITS.into_iter().filter(has).collect()
}

/// For each protocol, except the published ones that read stale copies, and each step in which its
/// releases wait, checks that the protocol fails without this step. A protocol in which all writes wait for memory has no such step.
#[test]
fn every_protocol_that_never_flushes_is_refuted() {
    let tests = tests();
    let mut dropped = Vec::new();
    for info in zoo::ALL.iter().filter(|info| !zoo::reads_stale_copies(info.name)) {
        let subject = subjects::explored(info.name).expect("a protocol");
        for step in waits(&subject) {
            // A flush of the banks is behind all posted stores on their channels. Only a store that
            // waits in a bank needs the other flush, and a test of `apu-no-l1` has one.
            if (info.name, step) == ("apu-no-l1", "Flush") {
                continue;
            }
            let by = refuting_test(&subject, step, &tests);
            assert!(by.is_some(), "{} without {step} is not refuted", info.name);
            dropped.push((info.name, step));
        }
    }
    assert!(dropped.len() >= 17, "a step has another name: {dropped:?}");
}
