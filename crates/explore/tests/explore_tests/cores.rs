//! Each claim names the kinds of cores for which it holds. The exploration finds the reordering of
//! each kind of core, and a claim is checked only with the cores that it names.

use explore::claim::Claim;
use explore::verify::{self, Options, Status, Test, Verification};
use explore::{Bounds, Explorer, Limits, Outcome, Placement, Requirements, Subject};
use proto::issue::IssueRule;
use proto::{Symbol as _, WritePolicy};
use std::collections::BTreeSet;
use zoo::moesi::Moesi;
use zoo::no_l1::NoL1;

/// The machines of these tests: the subject, and the policy of its caches. Under `no-l1`, each access
/// is performed at memory. Under `moesi`, it is performed at a cache that owns the line. So only the
/// cores reorder accesses.
fn machines() -> [(Subject, WritePolicy); 2] {
    [(Subject::of::<NoL1>(), WritePolicy::Through), (Subject::of::<Moesi>(), WritePolicy::Combining)]
}

/// The order and scope of every access.
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

/// A test in which one thread reads a word twice while another thread writes it.
fn same_address_reads() -> Test {
    test("CoRR", [&["x=1"], &["x", "x"]])
}

/// A test in which a thread writes a word twice, and then reads it.
fn own_stores() -> Test {
    test("CoWWR", [&["x=1", "x=2", "x"], &["x", "x=3"]])
}

fn outcomes(machine: &(Subject, WritePolicy), test: &Test, core: IssueRule) -> BTreeSet<Outcome> {
    let (subject, policy) = machine;
    let program = test.program();
    let placement = Placement::spread(&program);
    let bounds = Bounds::new(*policy, *policy).core(core);
    let mut explorer = Explorer::new(subject, bounds, None);
    let found = explorer.explore(&program, &placement, &Requirements::default(), &mut Limits::default());
    let found = found.expect("supported");
    assert!(found.incomplete.is_none() && found.violation.is_none(), "{}", test.name);
    found.outcomes
}

/// Whether some outcome of the test on this core is forbidden by the model.
fn is_weaker(machine: &(Subject, WritePolicy), test: &Test, core: IssueRule, model: &str) -> bool {
    let promise = Claim::of(model).expect("a model").promise(&test.program(), &mut || false);
    let allowed = promise.expect("it is defined").allowed.expect("the model covers every program");
    !outcomes(machine, test, core).is_subset(&allowed)
}

#[test]
fn each_core_is_as_weak_as_its_model_and_no_weaker() {
    use IssueRule::{Gpu, InOrder, Rmo, RmoFifo, RmoForwarding, ScWriteBuffer, Tso, TsoForwarding};
    let all = [
        store_buffering(),
        message_passing(),
        load_buffering(),
        own_store_first(),
        same_address_reads(),
        own_stores(),
    ];
    let models = [
        ("sc", &[InOrder, ScWriteBuffer] as &[IssueRule]),
        ("tso", &[Tso, TsoForwarding]),
        ("rmo", &[Rmo, RmoFifo, RmoForwarding]),
    ];
    for on in &machines() {
        let case = |test: &Test, core: IssueRule| {
            format!("{} with {} cores under {}", test.name, core.label(), on.0.info.name)
        };
        for test in &all {
            for (model, cores) in models {
                for &core in cores {
                    assert!(!is_weaker(on, test, core, model), "{}", case(test, core));
                }
            }
        }
        for core in [Tso, TsoForwarding] {
            assert!(is_weaker(on, &all[0], core, "sc"), "{}", case(&all[0], core));
            for test in &all[1..3] {
                assert!(!is_weaker(on, test, core, "sc"), "{}", case(test, core));
            }
        }
        for test in &all[..3] {
            for core in [Rmo, RmoFifo, RmoForwarding, Gpu] {
                assert!(is_weaker(on, test, core, "sc"), "{}", case(test, core));
            }
        }
        assert!(is_weaker(on, &message_passing(), Rmo, "tso"), "{}", on.0.info.name);
    }
}

/// A core whose write buffer loads cannot read waits with the load of its own store. A core with
/// relaxed memory order runs past such a load.
#[test]
fn a_thread_that_reads_its_own_store_first_is_reordered_by_these_cores() {
    use IssueRule::{Gpu, InOrder, Rmo, RmoFifo, RmoForwarding, ScWriteBuffer, Tso, TsoForwarding};
    for on in &machines() {
        let reordered = |core| is_weaker(on, &own_store_first(), core, "sc");
        for core in [InOrder, ScWriteBuffer, Tso, Gpu] {
            assert!(!reordered(core), "{} under {}", core.label(), on.0.info.name);
        }
        for core in [TsoForwarding, Rmo, RmoFifo, RmoForwarding] {
            assert!(reordered(core), "{} under {}", core.label(), on.0.info.name);
        }
    }
}

/// The model `rmo` lets two reads of one word swap. The channels, the bank and the caches keep the order
/// of two reads of one word, as a miss register does, so no core shows the swap.
#[test]
fn no_core_reads_one_word_out_of_order() {
    for on in &machines() {
        for &core in IssueRule::ALL {
            let case = format!("{} under {}", core.label(), on.0.info.name);
            assert!(!is_weaker(on, &same_address_reads(), core, "sc"), "{case}");
        }
    }
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
        proto::Claim { model, cores, widening: true, mapping: "each operation as a request" }
    }
    const STRONG: &[IssueRule] = &[IssueRule::InOrder, IssueRule::ScWriteBuffer];
    const TOTAL: &[IssueRule] = &[IssueRule::Tso];
    const RELAXED: &[IssueRule] = &[IssueRule::Rmo, IssueRule::RmoFifo];
    const RIGHT: &[proto::Claim] = &[claim("sc", STRONG), claim("tso", TOTAL), claim("rmo", RELAXED)];
    const WRONG: &[proto::Claim] = &[claim("sc", TOTAL)];
    let right = verified(RIGHT);
    let named = |model: &str, status| (model.to_owned(), status);
    let each = ["sc", "tso", "rmo"].map(|model| named(model, Status::Verified));
    assert_eq!(right.claims, each);
    let wrong = verified(WRONG);
    assert_eq!(wrong.claims, [named("sc", Status::Refuted)]);
    assert!(wrong.findings.iter().all(|finding| finding.bounds.core == IssueRule::Tso));
}
