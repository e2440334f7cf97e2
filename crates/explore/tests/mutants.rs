//! Seeded faults meet their end by the right means: noticed, argued, or never
//! reached.

use explore::verify::{self, Options, Test};
use explore::{Subject, corpus};

/// Few tests, which reach most of a small protocol.
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
fn faults_of_no_l1_are_noticed_and_no_argument_is_wrong() {
    let subject = Subject::named("no-l1").expect("a protocol");
    let options = Options { mutants: true, ..Options::new(verify::machines_of(&subject.info)) };
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
    // Each is in one list; those that are argued and killed are in two.
    let all = mutants.total() + mutants.equivalent.len() + mutants.unreached.len() + mutants.unasked.len();
    let seeded = explore::mutants::all(&subject).len();
    assert!(all == seeded && mutants.killed.len() > seeded / 4, "{all} of {seeded}: {mutants:?}");
}
