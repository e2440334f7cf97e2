//! Several chiplets in the bounded machine.

use explore::verify::{self, Options, Status, Test, Verification};
use explore::{Bounds, Fault, Trace, corpus};
use proto::{LineAddr, WritePolicy};

use super::{TIMED_THREADS_MAX, is_timed};

const COMBINING: Bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);

/// The tests: the programs of the HRF paper, and the program that refutes `hlrc`.
///
/// The protocols with epochs or leases have many states. They explore the programs with at most two
/// threads, and one of them also explores a program with three threads.
fn tests(protocol: &str) -> Vec<Test> {
    let shipped = corpus::shipped().expect("they are tests");
    let mut tests: Vec<_> = shipped.into_iter().filter(|test| test.name.starts_with("hrf/")).collect();
    let refuting = include_str!("../../../../../litmus/findings/hlrc.litmus");
    tests.push(Test::read("hlrc.litmus", refuting).expect("a test"));
    if is_timed(protocol) {
        let is_explored = |test: &Test| protocol == "stc-ab-repaired" && test.name.starts_with("hrf/fig2");
        tests.retain(|test| test.program().threads.len() <= TIMED_THREADS_MAX || is_explored(test));
    }
    tests
}

fn verified(protocol: &str, bounds: Vec<Bounds>) -> Verification {
    let subject = subjects::explored(protocol).expect("a protocol");
    let options = Options { jobs: 2, ..Options::new(bounds) };
    verify::verify(&subject, &tests(protocol), &options).expect("known models")
}

#[test]
fn claims_hold_on_two_chiplets_as_on_one() {
    for info in zoo::ALL.iter().filter(|info| !zoo::reads_stale_copies(info.name)) {
        let mut bounds: Vec<_> = COMBINING.tight().on_chiplets(2).collect();
        assert_eq!(bounds.len(), 4);
        if is_timed(info.name) {
            // Most programs have two lines. If the two chiplets change places, each of the other two
            // placements of two lines becomes one of these.
            bounds = [(1, 0), (1, 1)].map(|pages| COMBINING.tight().chiplets(2, pages)).to_vec();
        }
        let verification = verified(info.name, bounds);
        assert!(verification.gaps.is_empty(), "{}: {:?}", info.name, verification.gaps);
        let refuted = verification.claims.iter().any(|(_, status)| *status == Status::Refuted);
        assert_eq!(refuted, ["hlrc", "hlrc-noprio"].contains(&info.name), "{}", info.name);
        let faults = verification.findings.iter().map(|finding| finding.violation.fault);
        assert!(faults.into_iter().all(|fault| fault == Fault::Outcome), "{}", info.name);
    }
}

#[test]
fn lines_have_their_homes_as_the_bounds_say() {
    let banks = |bounds: Bounds| {
        let homes = bounds.homes(&bounds.topology(3, 8));
        [0, 1, 2, 3].map(|line| homes.bank(LineAddr(line)))
    };
    assert_eq!(banks(COMBINING), [0, 1, 0, 1]);
    assert_eq!(banks(COMBINING.chiplets(2, (0, 1))), [0, 1, 0, 1]);
    assert_eq!(banks(COMBINING.chiplets(2, (1, 1))), [1, 1, 0, 1]);
    assert_eq!(banks(COMBINING.chiplets(3, (2, 0))), [2, 0, 2, 0]);
    let topology = COMBINING.chiplets(2, (0, 0)).topology(3, 8);
    assert_eq!((topology.cus, topology.banks(), topology.check()), (4, 2, Ok(())));
}

#[test]
fn lines_in_one_bank_behave_differently_from_lines_apart() {
    let states = |pages| verified("vi", vec![COMBINING.tight().chiplets(2, pages)]).states;
    assert_ne!(states((0, 1)), states((0, 0)));
}

#[test]
fn a_trace_with_chiplets_reproduces() {
    let bounds = COMBINING.chiplets(2, (1, 0));
    let tests = tests("hlrc");
    let subject = subjects::explored("hlrc").expect("a protocol");
    let verification = verify::verify(&subject, &tests, &Options::new(vec![bounds])).expect("known models");
    let finding = verification.findings.first().expect("it is refuted");
    let trace = Trace::of("hlrc", &tests[finding.test], finding);
    let text = trace.to_string();
    assert!(text.contains("chiplets 2\npages 1 0\n"), "{text}");
    let read = Trace::read(&text, subjects::explored).expect("it is a trace");
    assert_eq!((read.bounds.chiplets, read.bounds.pages), (2, (1, 0)));
    assert_eq!(read.draw(&subject).expect("it runs").end.fault(), Some(Fault::Outcome));
    for (wrong, expected) in [
        ("pages 1 2", "two chiplets, each from 0 to 1"),
        ("chiplets 3", "a divisor of the number of banks, 2"),
    ] {
        let key = wrong.split_once(' ').map(|(key, _)| key).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(key)).expect("it exists");
        let error =
            Trace::read(&text.replacen(line, wrong, 1), subjects::explored).expect_err(wrong).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn the_dimensions_say_how_many_chiplets_were_explored() {
    let subject = subjects::explored("vi").expect("a protocol");
    let test = &tests("vi")[..1];
    let [one, two] = [1, 2].map(|chiplets| {
        let options = Options::new(verify::on_chiplets(verify::machines(), chiplets));
        verify::verify(&subject, test, &options).expect("known models").dimensions
    });
    let pages = String::from("several chiplets with every placement of two pages of one line");
    assert!(one.covered.contains(&String::from("1 chiplet")) && one.not_covered.contains(&pages));
    assert!(two.covered.contains(&String::from("2 chiplets")) && two.covered.contains(&pages));
}
