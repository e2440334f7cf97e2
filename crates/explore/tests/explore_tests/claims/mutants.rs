//! Seeded faults are killed, argued to be equivalent, or unreached.

use std::collections::BTreeSet;

use explore::mutants::{self, Mutants};
use explore::verify::{self, Options, Spread, Test};
use explore::{Programs, corpus};

/// A few tests that together reach most of a small protocol.
const TESTS: [&str; 5] = [
    "caches/dirty-line.litmus",
    "caches/dropped-fetch-flushed.litmus",
    "caches/host-line.litmus",
    "caches/host-reads.litmus",
    "caches/late-fill.litmus",
];

fn tests() -> Vec<Test> {
    let shipped = corpus::shipped().expect("they are tests");
    shipped.into_iter().filter(|test| TESTS.contains(&test.name.as_str())).collect()
}

#[test]
fn arguments_name_only_existing_faults() {
    for info in zoo::ALL {
        let subject = subjects::explored(info.name).expect("a protocol");
        let faults: BTreeSet<String> = mutants::all(&subject).into_iter().map(|fault| fault.name).collect();
        for line in info.equivalent.iter().flat_map(|text| text.lines()) {
            let (name, reason) = line.split_once(" # ").expect("a name, ` # ` and a reason");
            assert!(faults.iter().any(|fault| mutants::is_named(name, fault)), "{}: {name}", info.name);
            assert!(!reason.is_empty());
        }
    }
}

#[test]
fn faults_of_no_l1_are_killed_and_no_argument_is_wrong() {
    let subject = subjects::explored("no-l1").expect("a protocol");
    let options = Options { mutants: Some(""), ..Options::new(verify::machines_of(&subject.info)) };
    let tests = tests();
    assert_eq!(tests.len(), TESTS.len());
    let mutants = verify::verify(&subject, &tests, &options).expect("known models").mutants.expect("seeded");
    assert_eq!(mutants.undecided, [""; 0]);
    assert_eq!(mutants.misargued, [""; 0]);
    let is_killed = |name: &str| mutants.killed.iter().any(|(killed, _)| killed == name);
    for name in [
        "A line in an L2 bank: Flush in V, without WriteOut",
        "A line in an L2 bank: EvictDirty in V, which forgets a byte that it sends",
        "A line in an L2 bank: Fill in IV, without Wake",
        "Operations at the port: no Flush",
        "Operations at the port: Load Acquire System, InvalidateBanks before BelowSystem",
    ] {
        assert!(is_killed(name), "{name}: {mutants:?}");
    }
    // Each is in one list; an argued fault that is killed is in two.
    let counted = [mutants.equivalent.len(), mutants.unreached.len(), mutants.unasked.len()];
    let all = mutants.total() + counted.iter().sum::<usize>() + mutants.unseeded.len();
    let seeded = mutants::all(&subject).len();
    assert!(all == seeded && mutants.killed.len() > seeded / 4, "{all} of {seeded}: {mutants:?}");
}

/// Programs with a work-group's own word, with a write of the host between two kernels, and with a
/// write between two reads on one compute unit. In the last program, the first and the third of
/// four work-groups share a compute unit.
const BETWEEN: [&str; 3] = [
    "OPENCL between-kernels
{ }

P0@wg 0, dev 0 (global int* x) {
  int r0 = *x;
}

P1@wg 1, dev 0 (global int* x) {
  *x = 1;
  int r0 = *x;
}

exists (0:r0=0 /\\ 1:r0=1)
",
    "OPENCL behind-the-host
{ }

P0 (global int* x, global int* y) {
  int r0 = *y;
}

P1 (global int* x, global int* y) {
  *x = 1;
}

P2 (global int* x, global int* y) {
  int r0 = *x;
}

scopeTree (device (work_group P0) (work_group P2))

exists (0:r0=0 /\\ 2:r0=1)
",
    "OPENCL read-again
{ }

P0@wg 0, dev 0 (global int* x) {
  int r0 = *x;
}

P1@wg 1, dev 0 (global int* x) {
  *x = 1;
}

P2@wg 2, dev 0 (global int* x) {
  int r0 = *x;
}

P3@wg 2, dev 0 (global int* x) {
}

exists (0:r0=0 /\\ 2:r0=1)
",
];

/// Runs all mutants of `vi` on the programs of [`BETWEEN`] and returns the results. Each program is
/// spread over `kernels` kernels, and its work-groups are preempted up to `preemptions` times.
fn seeded(kernels: u8, preemptions: u8) -> Mutants {
    let subject = subjects::explored("vi").expect("a protocol");
    let machines = verify::machines_of(&subject.info).into_iter().map(|b| b.preempting(preemptions));
    let options = Options { mutants: Some(""), ..Options::new(machines.collect()) };
    let tests =
        BETWEEN.iter().enumerate().map(|(at, text)| Test::read(&format!("{at}"), text).expect("a test"));
    let mut programs = Programs::of(tests).spread(Spread { kernels, ..Spread::default() });
    let found = verify::verify_programs(&subject, &mut programs, &options).expect("known models");
    assert!(found.findings.is_empty(), "{:?}", found.findings);
    found.mutants.expect("seeded")
}

const BEGINNING: &str = "Operations at the L1: KernelBegin Plain";

#[test]
fn faults_of_kernel_begin_are_seeded_if_kernels_begin() {
    let [plain, preempted, in_kernels] = [(1, 0), (1, 1), (3, 0)].map(|(kernels, preemptions)| {
        let mutants = seeded(kernels, preemptions);
        let is_killed =
            |name: &str| mutants.killed.iter().any(|(killed, _)| *killed == format!("{BEGINNING} {name}"));
        let killed = ["WorkGroup, without Invalidate", "System, without InvalidateBanks"].map(is_killed);
        let whys: Vec<&str> = mutants.unseeded.iter().map(|(_, why)| why.as_str()).collect();
        assert!(mutants.unseeded.iter().all(|(name, _)| name.starts_with(BEGINNING)), "{mutants:?}");
        (killed, whys.len(), whys.first().is_some_and(|why| why.contains("resumed work-group")))
    });
    assert!(plain.1 > preempted.1 && preempted.1 > 0, "{plain:?} {preempted:?}");
    assert_eq!((plain.0, plain.2), ([false; 2], true));
    assert_eq!((preempted.0, preempted.2), ([true, false], false));
    assert_eq!(in_kernels, ([true; 2], 0, false));
}

#[test]
fn the_tests_that_were_written_for_a_protocol_are_tried_first() {
    let fault = "A line in an L2 bank: Fill in IV, without Wake";
    for own in &TESTS {
        let mut subject = subjects::explored("no-l1").expect("a protocol");
        subject.own_tests = core::slice::from_ref(own);
        let options = Options { mutants: Some(fault), ..Options::new(verify::machines_of(&subject.info)) };
        let found = verify::verify(&subject, &tests(), &options).expect("known models");
        let (_, why) = &found.mutants.expect("it was tried").killed[0];
        assert!(why.starts_with(*own), "{own}: {why}");
    }
}
