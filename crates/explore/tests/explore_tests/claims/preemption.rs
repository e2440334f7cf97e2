//! Preemption of work-groups: a work-group leaves its compute unit after a release, and continues
//! on another compute unit after an acquire. Claims hold for such programs, and a protocol without
//! the release or without the acquire violates them.

use explore::claim::Claim;
use explore::mutants::{self, Mutant};
use explore::trace::Verdict;
use explore::verify::{self, Finding, Options, Status, Test, Verification};
use explore::{
    Bounds, End, Exploration, Explorer, Fault, Limits, Move, Placement, Requirements, Subject, Trace, corpus,
};
use litmus::program::{Instr, Level, Program, ThreadId};
use proto::{Boundary, Change, KernelId, PlanKey, PlansView, SeededFault, WritePolicy};
use std::collections::BTreeSet;

const COMBINING: Bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);

fn shipped(path: &str) -> Test {
    let (_, text) = corpus::SHIPPED.iter().find(|(name, _)| *name == path).expect("a shipped test");
    Test::read(path, text).expect("a test")
}

/// The store-buffering program, with two work-groups at device scope.
const SB: &str = "OPENCL SB+dev
{ }

P0@wg 0, dev 0 (global atomic_int* x, global atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_seq_cst, memory_scope_device);
  int r0 = atomic_load_explicit(y, memory_order_seq_cst, memory_scope_device);
}

P1@wg 1, dev 0 (global atomic_int* x, global atomic_int* y) {
  atomic_store_explicit(y, 1, memory_order_seq_cst, memory_scope_device);
  int r0 = atomic_load_explicit(x, memory_order_seq_cst, memory_scope_device);
}

exists (0:r0=0 /\\ 1:r0=0)
";

/// A program in which a work-group reads its own write, which no other thread overwrites. Another
/// work-group reads the word next to it.
const OWN: &str = "OPENCL own-word
{ }

P0@wg 0, dev 0 (global int* x, global int* z) {
  int r0 = *z;
}

P1@wg 1, dev 0 (global int* x, global int* z) {
  *x = 1;
  int r0 = *x;
}

forall (1:r0=1)
";

fn test(text: &str) -> Test {
    Test::read("test", text).expect("a test")
}

#[test]
fn message_passing_and_store_buffering_hold_with_a_preemption() {
    for info in zoo::ALL.iter().filter(|info| !zoo::reads_stale_copies(info.name)) {
        let subject = subjects::explored(info.name).expect("a protocol");
        let mp = ["opencl/MP+dev.litmus", "opencl/MP+wg.litmus"].map(shipped);
        for test in mp.into_iter().chain([test(SB)]) {
            let [none, one] = [0, 1].map(|preemptions| {
                let machines = verify::machines_of(&subject.info).into_iter();
                let machines = machines.map(|bounds| bounds.preempting(preemptions));
                let options = Options::new(machines.collect());
                verify::verify(&subject, core::slice::from_ref(&test), &options).expect("known models")
            });
            let wrong: Vec<_> = one.findings.iter().map(|f| (f.bounds, &f.violation)).collect();
            assert!(wrong.is_empty(), "{} {}: {wrong:#?}", info.name, test.name);
            assert_eq!(one.claims, none.claims, "{} {}", info.name, test.name);
            assert!(one.claims.iter().any(|(_, status)| *status == Status::Verified), "{:?}", one.claims);
            assert!(one.states > none.states, "{} {}", info.name, test.name);
        }
    }
}

/// The result of exploring `OWN` with both words on one line.
fn own_word(subject: &Subject, preemptions: u8, seeded_fault: Option<SeededFault>) -> Exploration {
    let test = test(OWN);
    let program = &*test.program();
    let claim = Claim::of("drf").expect("a known model");
    let allowed =
        claim.promise(program, &mut || false).expect("the model evaluates it").allowed.expect("no race");
    let requirements = Requirements { allowed: Some(&allowed), may_block: false };
    let placement = Placement::spread(program).paired(program);
    let mut explorer = Explorer::new(subject, COMBINING.preempting(preemptions), seeded_fault);
    explorer.explore(program, &placement, &requirements, &mut Limits::default()).expect("supported")
}

/// The plan key (operation, order, scope and hints) of the requests at a kernel's beginning or end,
/// and the names of the steps of their plan.
fn steps(view: &PlansView, boundary: Boundary) -> (PlanKey, Vec<&'static str>) {
    let key = PlanKey::of(&boundary.request(KernelId(0), false));
    let (_, steps) = view.plans.iter().find(|(other, _)| *other == key).expect("every key has a plan");
    (key, steps.clone())
}

/// The seeded faults of the requests by which a protocol saves and resumes work-groups, each with
/// its name.
fn faults(subject: &Subject) -> Vec<(String, SeededFault)> {
    let mut faults = Vec::new();
    for view in (subject.plans)() {
        for boundary in [Boundary::EndCus, Boundary::BeginCus] {
            let (plan, steps) = steps(&view, boundary);
            for (at, step) in steps.iter().enumerate() {
                let change = Change::DropStepOf { plan, at: at as u8 };
                faults.push((format!("{boundary:?} without {step}"), SeededFault { table: view.id, change }));
            }
        }
    }
    faults
}

#[test]
fn a_save_without_release_and_a_resume_without_acquire_are_detected() {
    let mut noticed: BTreeSet<(&str, String)> = BTreeSet::new();
    for name in ["vi", "rsp", "hlrc", "denovo-b"] {
        let subject = subjects::explored(name).expect("a protocol");
        assert_eq!(own_word(&subject, 1, None).violation, None, "{name}");
        for (fault, seeded_fault) in faults(&subject) {
            let before = own_word(&subject, 0, Some(seeded_fault)).violation;
            assert_eq!(before, None, "{name}, {fault}: it needs no preemption");
            let found = own_word(&subject, 1, Some(seeded_fault));
            let Some(violation) = found.violation else { continue };
            let moves = &violation.moves;
            assert!(moves.iter().any(|mv| matches!(mv, Move::Preempt { .. })), "{name}: {violation:?}");
            // A request without an answer is a deadlock.
            if violation.fault == Fault::Outcome {
                assert!(moves.iter().any(|mv| matches!(mv, Move::Resume { .. })), "{name}: {violation:?}");
                noticed.insert((name, fault));
            }
        }
    }
    let release = |name| if name == "denovo-b" { "RegisterStores" } else { "Flush" };
    let all = ["vi", "rsp", "hlrc", "denovo-b"].into_iter().flat_map(|name| {
        let save = format!("EndCus without {}", release(name));
        [(name, save), (name, String::from("BeginCus without Invalidate"))]
    });
    assert_eq!(noticed, all.collect());
}

/// The counterexample of `vi` without the release at the end of kernels.
fn without_release() -> Trace {
    let subject = subjects::explored("vi").expect("a protocol");
    let is_it = |mutant: &Mutant| mutant.name.contains("KernelEnd") && mutant.name.ends_with("without Flush");
    let mutants = mutants::all(&subject).into_iter().filter(is_it);
    let mut found = mutants.filter_map(|mutant| {
        let violation = own_word(&subject, 1, Some(mutant.seeded_fault)).violation?;
        let mut test = test(OWN);
        test.placements = vec![Placement::spread(&test.program()).paired(&test.program())];
        let bounds = COMBINING.preempting(1);
        let finding =
            Finding { test: 0, placement: 0, bounds, models: vec![String::from("hrf-indirect")], violation };
        Some(Trace::of("vi", &test, &finding).seeded(mutant))
    });
    found.next().expect("a fault of a kernel's end is detected")
}

#[test]
fn a_trace_with_a_preemption_reproduces() {
    let trace = without_release();
    let text = trace.to_string();
    assert!(text.contains("\npreemptions 1\n") && text.contains("\npreempt 1\nresume 1 0\n"), "{text}");
    let read = Trace::read(&text, subjects::explored).expect("it reads back");
    assert_eq!(read, trace);
    assert!(trace.title().contains("up to 1 preemption"), "{}", trace.title());
    let subject = subjects::explored("vi").expect("a protocol");
    let replayed = read.replay(&subject, u64::MAX, &|| false).expect("supported");
    assert_eq!(replayed.verdict, Verdict::Same, "{}", replayed.end);
    let at = |mv: Move| replayed.replay.steps.iter().find(|step| step.mv == mv).expect("a move of it");
    let (leaves, comes) = (at(Move::Preempt { thread: 1 }), at(Move::Resume { thread: 1, cu: 0 }));
    assert_eq!((leaves.text.as_str(), leaves.lanes), ("P1: preempted", (1, 1)));
    assert_eq!((comes.text.as_str(), comes.lanes), ("P1: resumed on CU 0", (1, 0)));
    assert!(comes.notes.contains(&String::from("P1: acquire of its compute unit is done")), "{comes:?}");
}

fn replay(program: &Program, moves: &[Move]) -> End {
    let subject = subjects::explored("vi").expect("a protocol");
    let placement = Placement::spread(program);
    let mut explorer = Explorer::new(&subject, COMBINING.preempting(1), None);
    explorer.replay(program, &placement, moves).expect("supported").end
}

#[test]
fn a_work_group_is_preempted_once_and_only_without_requests_under_way() {
    let test = test(OWN);
    let program = &*test.program();
    let issue = Move::Issue { thread: 1 };
    let load = Move::Issue { thread: 0 };
    let [preempt, resume] = [Move::Preempt { thread: 1 }, Move::Resume { thread: 1, cu: 0 }];
    assert_eq!(replay(program, &[preempt, resume, issue]), End::Goes);
    let leaves = Move::Preempt { thread: 0 };
    assert_eq!(replay(program, &[leaves]), End::Goes);
    let End::Closed(why) = replay(program, &[load, leaves]) else { panic!("a load is under way") };
    assert!(why.contains("move 2, `preempt 0`, is not possible here"), "{why}");
    for moves in [[preempt, issue], [preempt, preempt]] {
        let End::Closed(why) = replay(program, &moves) else { panic!("it has left: {moves:?}") };
        assert!(why.contains("move 2") && why.contains("`resume 1 0`"), "{why}");
    }
    let End::Closed(why) = replay(program, &[preempt, resume, preempt]) else {
        panic!("it was preempted once")
    };
    assert!(why.contains("move 3"), "{why}");
    let other = Move::Preempt { thread: 0 };
    let End::Closed(why) = replay(program, &[preempt, other]) else { panic!("a run has one preemption") };
    assert!(why.contains("move 2, `preempt 0`, is not possible here"), "{why}");
}

#[test]
fn the_threads_of_a_work_group_are_preempted_together() {
    let test = shipped("opencl/barrier.litmus");
    let program = &*test.program();
    let placement = Placement::spread(program);
    let subject = subjects::explored("vi").expect("a protocol");
    let mut explorer = Explorer::new(&subject, COMBINING.evicting().preempting(2), None);
    let drawn = explorer.replay(program, &placement, &[Move::Preempt { thread: 0 }]).expect("supported");
    assert_eq!(drawn.steps[0].text, "P0 and P1: preempted");
    let found = explorer.explore(program, &placement, &Requirements::default(), &mut Limits::default());
    let found = found.expect("supported");
    assert_eq!((found.violation, found.outcomes), (None, [vec![1]].into()));
}

#[test]
fn work_groups_with_a_common_barrier_are_not_preempted() {
    let mut program = test(OWN).program().into_owned();
    let device = program.scopes.enclosing(ThreadId(0), Level::Device).expect("a device");
    let barrier = shipped("opencl/barrier.litmus").program().threads[1].code[0].clone();
    let Instr::Barrier(mut barrier) = barrier else { panic!("a barrier comes first") };
    barrier.group = device;
    for thread in &mut program.threads {
        thread.code.insert(0, Instr::Barrier(barrier.clone()));
        thread.lines.insert(0, 0);
    }
    let placement = Placement::spread(&program).together();
    let subject = subjects::explored("vi").expect("a protocol");
    let explore = |preemptions: u8| {
        let mut explorer = Explorer::new(&subject, COMBINING.preempting(preemptions), None);
        explorer.explore(&program, &placement, &Requirements::default(), &mut Limits::default())
    };
    assert_eq!(explore(0).expect("they share a compute unit").violation, None);
    let why = explore(1).expect_err("they would be apart").to_string();
    assert!(why.contains("P0 has a barrier with P1 of another work-group"), "{why}");
}

/// A program in which two work-groups meet at a barrier of a sub-group: in the program's scope
/// tree, the sub-group contains both work-groups.
const MEET: &str = "OPENCL meet
{ }

P0 (global int* x) {
  *x = 1;
  sub_group_barrier(CLK_GLOBAL_MEM_FENCE);
}

P1 (global int* x) {
  sub_group_barrier(CLK_GLOBAL_MEM_FENCE);
  int r0 = *x;
}

scopeTree (device (sub_group (work_group P0) (work_group P1)))

forall (1:r0=1)
";

/// A program in which only the host has operations, and the work-group has none.
const HOST: &str = "OPENCL host-alone
{ }

P0 (global int* x) {
  *x = 1;
  int r0 = *x;
}

P1 (global int* x) {
}

scopeTree (device (work_group P1))

forall (0:r0=1)
";

fn verified(text: &str, preemptions: u8) -> Verification {
    let subject = subjects::explored("vi").expect("a protocol");
    let options = Options::new(vec![COMBINING.preempting(preemptions)]);
    verify::verify(&subject, &[test(text)], &options).expect("known models")
}

#[test]
fn programs_with_a_barrier_between_work_groups_are_explored_without_preemptions() {
    let [none, two] = [0, 2].map(|preemptions| verified(MEET, preemptions));
    assert_eq!((two.unpreempted, none.unpreempted), (1, 0));
    assert!(two.runs > 0 && two.states == none.states, "{two:?}");
    assert_eq!((two.findings.len(), &two.claims), (0, &none.claims));
    assert_eq!(verified(OWN, 2).unpreempted, 0);
}

#[test]
fn the_dimensions_say_how_often_work_groups_are_preempted() {
    let name = String::from("preemption of work-groups");
    for (text, preemptions) in [(OWN, 0), (MEET, 2), (HOST, 2)] {
        let dimensions = verified(text, preemptions).dimensions;
        assert!(dimensions.not_covered.contains(&name), "{text}: {dimensions:?}");
    }
    let dimensions = verified(OWN, 2).dimensions;
    assert!(dimensions.covered.contains(&format!("{name}, up to 2")), "{dimensions:?}");
}
