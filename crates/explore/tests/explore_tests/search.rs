//! The results of a search do not depend on the number of workers. A search or a verification that
//! does not cover everything reports the reason.

use explore::verify::{self, Options, Status, Test, Verification};
use explore::{
    Bounds, End, Exploration, Explorer, Fault, Incomplete, Limits, Move, Placement, Requirements, Subject,
    corpus,
};
use litmus::program::Program;
use proto::{Change, OpClass, Plans, Protocol, SeededFault, Symbol, WritePolicy};
use zoo::vi::{L1Plans, Step, Vi};

const COMBINING: Bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);

fn program(path: &str) -> Program {
    let (_, text) = corpus::SHIPPED.iter().find(|(p, _)| *p == path).expect("it is shipped");
    litmus::parse::parse(text).expect("it is a test")
}

fn explore<P: Protocol>(bounds: Bounds, path: &str, limits: &mut Limits<'_>) -> Exploration {
    let program = program(path);
    let placement = Placement::spread(&program).paired(&program);
    let mut explorer = Explorer::new(&Subject::of::<P>(), bounds, None);
    explorer.explore(&program, &placement, &Requirements::default(), limits).expect("a supported program")
}

/// A program in which two work-groups pass two words to one another and back.
const PING_PONG: &str = "OPENCL ping-pong
{ }

P0@wg 0, dev 0 (global int* x, global int* y, global atomic_int* f, global atomic_int* g) {
  *x = 1;
  *y = 1;
  atomic_store_explicit(f, 1, memory_order_release, memory_scope_device);
  await(g == 1, memory_order_acquire, memory_scope_device);
  int r1 = *y;
}

P1@wg 1, dev 0 (global int* x, global int* y, global atomic_int* f, global atomic_int* g) {
  int r0 = *x;
  await(f == 1, memory_order_acquire, memory_scope_device);
  *x = 2;
  *y = 2;
  atomic_store_explicit(g, 1, memory_order_release, memory_scope_device);
}

forall (0:r1=2)
";

#[test]
fn all_results_are_the_same_for_any_number_of_workers() {
    let of = |workers| {
        let mut limits = Limits { workers, ..Limits::default() };
        let program = litmus::parse::parse(PING_PONG).expect("it is a test");
        let placement = Placement::spread(&program).paired(&program);
        let mut explorer = Explorer::new(&Subject::of::<Vi>(), COMBINING.evicting().in_full(), None);
        let requirements = Requirements { allowed: None, may_block: true };
        let found = explorer.explore(&program, &placement, &requirements, &mut limits).expect("supported");
        (found.states, found.transitions, found.depth, found.outcomes, found.rows, found.parts)
    };
    let one = of(1);
    assert!(one.0 > 20_000, "enough states for several workers: {}", one.0);
    assert_eq!(of(2), one);
    assert_eq!(of(3), one);
}

#[test]
fn a_counterexample_is_the_same_for_any_number_of_workers() {
    let of = |workers| {
        let program = program("hrf/fig6.litmus");
        let placement = Placement::spread(&program).paired(&program);
        let mut explorer = Explorer::new(&Subject::of::<Vi>(), COMBINING.evicting(), None);
        let nothing = std::collections::BTreeSet::new();
        let requirements = Requirements { allowed: Some(&nothing), may_block: false };
        let mut limits = Limits { workers, ..Limits::default() };
        let found = explorer.explore(&program, &placement, &requirements, &mut limits).expect("supported");
        found.violation.expect("no outcome is allowed")
    };
    let one = of(1);
    assert_eq!(one.fault, Fault::Outcome);
    assert_eq!(of(2), one);
    assert_eq!(of(5), one);
}

#[test]
fn immediate_answers_of_memory_change_no_verdict() {
    let mut smaller = 0;
    for test in tests("hrf/").into_iter().chain(tests("caches/host-")) {
        for placement in &test.placements {
            for bounds in [COMBINING.tight(), Bounds::new(WritePolicy::Through, WritePolicy::Through)] {
                let of = |bounds| {
                    let mut explorer = Explorer::new(&Subject::of::<Vi>(), bounds, None);
                    let mut limits = Limits::default();
                    explorer.explore(&test.program(), placement, &Requirements::default(), &mut limits)
                };
                let (merged, full) =
                    (of(bounds).expect("supported"), of(bounds.in_full()).expect("supported"));
                assert_eq!(merged.outcomes, full.outcomes, "{}", test.name);
                let fault = |found: &Exploration| found.violation.as_ref().map(|v| v.fault);
                assert_eq!(fault(&merged), fault(&full), "{}", test.name);
                assert!(merged.states <= full.states, "{}", test.name);
                smaller += usize::from(merged.states < full.states);
            }
        }
    }
    assert!(smaller > 20, "{smaller}");
}

#[test]
fn a_search_reports_the_limit_that_ended_it() {
    let bounds = COMBINING.evicting();
    let full = explore::<Vi>(bounds, "hrf/fig6.litmus", &mut Limits::default());
    assert_eq!(full.incomplete, None);
    let mut limits = Limits { memory_bytes: full.bytes.0 / 4, ..Limits::default() };
    let found = explore::<Vi>(bounds, "hrf/fig6.litmus", &mut limits);
    assert_eq!(found.incomplete, Some(Incomplete::Memory(full.bytes.0 / 4)));
    assert!(found.states < full.states);
    let mut limits = Limits { states_max: 1000, ..Limits::default() };
    let found = explore::<Vi>(bounds, "hrf/fig6.litmus", &mut limits);
    assert_eq!(found.incomplete, Some(Incomplete::States(1000)));
    let mut calls = 0;
    let stop = || {
        calls += 1;
        calls > 20
    };
    let mut limits = Limits { stop: Box::new(stop), ..Limits::default() };
    let found = explore::<Vi>(bounds, "hrf/fig6.litmus", &mut limits);
    assert_eq!(found.incomplete, Some(Incomplete::Stopped));
}

fn options(stop: &(dyn Fn() -> bool + Sync)) -> Options<'_> {
    Options {
        bounds: vec![COMBINING.evicting()],
        jobs: 2,
        memory_bytes: 1 << 30,
        states_max: u64::MAX,
        mutants: None,
        stop,
        progress: &|_| {},
    }
}

fn tests(folder: &str) -> Vec<Test> {
    let all = corpus::shipped().expect("they are tests");
    all.into_iter().filter(|test| test.name.starts_with(folder)).collect()
}

#[test]
fn a_verification_that_is_stopped_is_incomplete_and_never_a_success() {
    let verification =
        verify::verify(&Subject::of::<Vi>(), &tests("hrf/"), &options(&|| true)).expect("known models");
    assert!(!verification.complete);
    assert!(verification.claims.iter().all(|(_, status)| *status == Status::Incomplete));
}

#[test]
fn a_claim_without_a_run_is_not_verified() {
    let of = |text: &str| {
        let tests = [Test::read("x", text).expect("a test")];
        verify::verify(&Subject::of::<Vi>(), &tests, &options(&|| false)).expect("known models")
    };
    let statuses = |of: &Verification| of.claims.iter().map(|(_, status)| *status).collect::<Vec<_>>();
    // No machine has local memory.
    let none = of("OPENCL x\n{ }\nP0@wg 0, dev 0 (local int* x) { *x = 1; }\nforall (x=1)\n");
    assert_eq!((none.runs, none.complete), (0, false));
    assert_eq!(statuses(&none), [Status::Incomplete; 3]);
    let why = |model: &str| format!("no machine can run any of the tests, so nothing is proved for {model}");
    assert_eq!(none.unproved, ["hrf-indirect", "opencl", "ptx-7.5"].map(why));
    // PTX has no sequentially consistent accesses.
    let two =
        of("OPENCL x\n{ }\nP0@wg 0, dev 0 (global atomic_int* x) { atomic_store(x, 1); }\nforall (x=1)\n");
    assert!(two.runs > 0 && !two.complete);
    assert_eq!(statuses(&two), [Status::Verified, Status::Verified, Status::Incomplete]);
    let why = "ptx-7.5 promises nothing for the test, so the test proves nothing for ptx-7.5: PTX has no sequentially \
               consistent accesses and no remote operations";
    assert_eq!(two.unproved, [why]);
    assert!(two.gaps.is_empty(), "{:?}", two.gaps);
}

#[test]
fn tests_that_race_under_a_claim_are_reported_as_no_proof() {
    let mut all = corpus::shipped().expect("they are tests");
    let racy = "OPENCL x\n{ }\nP0@wg 0, dev 0 (global int* x) { *x = 1; }\n\
                P1@wg 1, dev 0 (global int* x) { int r0 = *x; }\nforall (x=1)\n";
    all.push(Test::read("racy", racy).expect("a test"));
    let of = |names: &[&str]| {
        let some: Vec<Test> =
            all.iter().filter(|test| names.contains(&test.name.as_str())).cloned().collect();
        assert_eq!(some.len(), names.len());
        verify::verify(&Subject::of::<Vi>(), &some, &options(&|| false)).expect("known models")
    };
    let first = |of: &Verification| of.unproved.first().cloned().unwrap_or_default();
    let races = of(&["racy"]);
    assert_eq!(
        first(&races),
        "the test races under hrf-indirect, so the test proves nothing for hrf-indirect"
    );
    assert_eq!(races.claims[0], ("hrf-indirect".to_owned(), Status::Incomplete));
    assert!(!races.complete && races.gaps.is_empty() && races.findings.is_empty());
    let relaxed = of(&["c11/SB.litmus"]);
    assert!(first(&relaxed).starts_with("the test races under hrf-indirect, which does not define relaxed "));
    let two = of(&["racy", "c11/SB.litmus"]);
    assert!(
        first(&two)
            .starts_with("hrf-indirect promises nothing for any of the 2 tests, 1 of which races; for ")
    );
    // One test without a race is enough.
    let three = of(&["c11/SB.litmus", "hrf/fig6.litmus"]);
    assert!(!three.unproved.iter().any(|why| why.contains("hrf-indirect")), "{:?}", three.unproved);
}

#[test]
fn the_papers_programs_hold_on_vi_and_some_of_them_are_synchronized() {
    let verification =
        verify::verify(&Subject::of::<Vi>(), &tests("hrf/"), &options(&|| false)).expect("known models");
    let statuses: Vec<_> = verification.claims.iter().map(|(model, s)| (model.as_str(), *s)).collect();
    assert_eq!(
        statuses,
        [("hrf-indirect", Status::Verified), ("opencl", Status::Verified), ("ptx-7.5", Status::Verified)]
    );
    assert!(verification.race_free > 3 && verification.synchronized > 3, "{verification:?}");
}

#[test]
fn a_protocol_that_never_flushes_fails() {
    let program = program("hrf/fig6.litmus");
    let placement = Placement::spread(&program);
    let good = Explorer::new(&Subject::of::<Vi>(), COMBINING, None)
        .explore(&program, &placement, &Requirements::default(), &mut Limits::default())
        .expect("a supported program");
    let change = Change::DropStep { step: Step::Flush.index() as u8 };
    let mut explorer =
        Explorer::new(&Subject::of::<Vi>(), COMBINING, Some(SeededFault { table: L1Plans::ID, change }));
    let requirements = Requirements { allowed: Some(&good.outcomes), may_block: false };
    let found = explorer
        .explore(&program, &placement, &requirements, &mut Limits::default())
        .expect("a supported program");
    let violation = found.violation.expect("a test detects it");
    assert_eq!(violation.fault, Fault::Outcome);
    let replay = explorer.replay(&program, &placement, &violation.moves).expect("supported");
    assert!(matches!(replay.end, End::Over(_)), "{:?}", replay.end);
    assert_eq!(replay.steps.len(), violation.moves.len());
}

#[test]
fn a_move_that_is_not_offered_is_rejected_by_name() {
    let program = program("hrf/fig6.litmus");
    let placement = Placement::spread(&program);
    let mut explorer = Explorer::new(&Subject::of::<Vi>(), COMBINING, None);
    let moves = [Move::Deliver { from: 0, to: 2, nth: 0 }];
    let replay = explorer.replay(&program, &placement, &moves).expect("a supported program");
    let why = "move 1, `deliver 0 2 0`, is not possible here; possible now: `issue 0`";
    assert!(matches!(&replay.end, End::Closed(end) if end.starts_with(why)), "{:?}", replay.end);
}

#[test]
fn the_commutative_hint_reaches_the_plans_of_a_protocol() {
    let text = |suffix: &str| {
        format!(
            "OPENCL count\n{{ }}\n\nP0@wg 0, dev 0 (global atomic_int* x) {{\n  \
             atomic_fetch_add_explicit{suffix}(x, 1, memory_order_relaxed, memory_scope_device);\n}}\n\n\
             forall (x=1)\n"
        )
    };
    for (suffix, commutative) in [("", false), ("_commutative", true)] {
        let program = litmus::parse::parse(&text(suffix)).expect("it is a test");
        let placement = Placement::spread(&program).paired(&program);
        let mut explorer = Explorer::new(&Subject::of::<Vi>(), COMBINING, None);
        let found = explorer.explore(&program, &placement, &Requirements::default(), &mut Limits::default());
        let keys = found.expect("supported").keys;
        assert!(keys.iter().any(|key| key.op == OpClass::Update && key.commutative == commutative));
        assert!(keys.iter().all(|key| key.op != OpClass::Update || key.commutative == commutative));
    }
}
