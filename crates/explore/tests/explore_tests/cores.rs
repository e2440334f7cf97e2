//! Each claim names the kinds of cores for which it holds. The exploration finds the reordering of
//! each kind of core, and a claim is checked only with the cores that it names.

use explore::claim::Claim;
use explore::verify::{self, Options, Status, Test, Verification};
use explore::{Bounds, Explorer, Limits, Outcome, Placement, Requirements, Subject};
use proto::WritePolicy;
use proto::issue::IssueRule;
use std::collections::BTreeSet;
use zoo::no_l1::NoL1;

/// The order and scope of every access. With this order and scope, each access is performed at
/// memory, so only the cores reorder accesses.
const HOW: &str = "memory_order_relaxed, memory_scope_all_svm_devices";

fn test(name: &str, threads: [&[&str]; 2]) -> Test {
    let code = |calls: &[&str]| {
        let line = |(at, call): (usize, &&str)| match call.split_once('=') {
            Some((word, value)) => format!("  atomic_store_explicit({word}, {value}, {HOW});\n"),
            None => format!("  int r{at} = atomic_load_explicit({call}, {HOW});\n"),
        };
        calls.iter().enumerate().map(line).collect::<String>()
    };
    let words = "(global atomic_int* x, global atomic_int* y)";
    // An outcome contains the registers of the condition.
    let loads = |thread: usize| {
        let loads = threads[thread].iter().enumerate().filter(|(_, call)| !call.contains('='));
        loads.map(move |(at, _)| format!("{thread}:r{at}=9"))
    };
    let conditions: Vec<String> = loads(0).chain(loads(1)).collect();
    let text = format!(
        "OPENCL {name}\n\n{{ x = 0; y = 0; }}\n\nP0@wg 0, dev 0 {words} {{\n{}}}\n\n\
         P1@wg 1, dev 0 {words} {{\n{}}}\n\nexists ({})\n",
        code(threads[0]),
        code(threads[1]),
        conditions.join(" \\/ ")
    );
    Test::read(name, &text).expect("it is a test")
}

fn store_buffering() -> Test {
    test("SB", [&["x=1", "y"], &["y=1", "x"]])
}

fn message_passing() -> Test {
    test("MP", [&["x=1", "y=1"], &["y", "x"]])
}

fn load_buffering() -> Test {
    test("LB", [&["x", "y=1"], &["y", "x=1"]])
}

/// A test in which each thread first reads its own store.
fn own_store_first() -> Test {
    test("SB+own", [&["x=1", "x", "y"], &["y=1", "y", "x"]])
}

fn outcomes(test: &Test, core: IssueRule) -> BTreeSet<Outcome> {
    let program = test.program();
    let placement = Placement::spread(&program);
    let bounds = Bounds::new(WritePolicy::Through, WritePolicy::Through).core(core);
    let mut explorer = Explorer::new(&Subject::of::<NoL1>(), bounds, None);
    let found = explorer.explore(&program, &placement, &Requirements::default(), &mut Limits::default());
    let found = found.expect("supported");
    assert!(found.incomplete.is_none() && found.violation.is_none(), "{}", test.name);
    found.outcomes
}

/// Whether some outcome of the test on this core is forbidden by the model.
fn is_weaker(test: &Test, core: IssueRule, model: &str) -> bool {
    let promise = Claim::of(model).expect("a model").promise(&test.program(), &mut || false);
    let allowed = promise.expect("it is defined").allowed.expect("the model covers every program");
    !outcomes(test, core).is_subset(&allowed)
}

#[test]
fn each_core_is_as_weak_as_its_model_and_no_weaker() {
    use IssueRule::{Gpu, InOrder, Rmo, ScWriteBuffer, Tso};
    let all = [store_buffering(), message_passing(), load_buffering(), own_store_first()];
    for test in &all {
        for (core, model) in [(InOrder, "sc"), (ScWriteBuffer, "sc"), (Tso, "tso"), (Rmo, "rmo")] {
            assert!(!is_weaker(test, core, model), "{} with {} cores", test.name, core.label());
        }
    }
    assert!(is_weaker(&store_buffering(), Tso, "sc"));
    assert!(!is_weaker(&message_passing(), Tso, "sc"));
    assert!(!is_weaker(&load_buffering(), Tso, "sc"));
    for test in &all[..3] {
        for core in [Rmo, Gpu] {
            assert!(is_weaker(test, core, "sc"), "{} with {} cores", test.name, core.label());
        }
    }
    assert!(is_weaker(&message_passing(), Rmo, "tso"));
}

fn verified(claims: &'static [proto::Claim]) -> Verification {
    let mut subject = Subject::of::<NoL1>();
    subject.info.claims = claims;
    let tests = [store_buffering(), message_passing(), load_buffering(), own_store_first()];
    let options = Options::new(verify::machines_of(&subject.info));
    verify::verify(&subject, &tests, &options).expect("known models")
}

#[test]
fn a_claim_is_verified_with_its_own_cores_and_refuted_with_weaker_ones() {
    const fn claim(model: &'static str, cores: &'static [IssueRule]) -> proto::Claim {
        proto::Claim { model, cores, mapping: "each operation as a request" }
    }
    const STRONG: &[IssueRule] = &[IssueRule::InOrder, IssueRule::ScWriteBuffer];
    const TOTAL: &[IssueRule] = &[IssueRule::Tso];
    const RIGHT: &[proto::Claim] = &[claim("sc", STRONG), claim("tso", TOTAL)];
    const WRONG: &[proto::Claim] = &[claim("sc", TOTAL)];
    let right = verified(RIGHT);
    let named = |model: &str, status| (model.to_owned(), status);
    assert_eq!(right.claims, [named("sc", Status::Verified), named("tso", Status::Verified)]);
    let wrong = verified(WRONG);
    assert_eq!(wrong.claims, [named("sc", Status::Refuted)]);
    assert!(wrong.findings.iter().all(|finding| finding.bounds.core == IssueRule::Tso));
}
