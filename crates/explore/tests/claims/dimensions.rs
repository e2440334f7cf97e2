//! The dimension programs: every protocol keeps its claims on them.

use explore::claim::Claim;
use explore::verify::{self, Options, Status};
use explore::{Subject, corpus};

/// Of the programs for the protocols with epochs, only one in this number is explored, because a
/// change of epochs can come between any two moves and each program therefore has many states. The
/// first program is `STC_FIRST`.
const STC_STEP: usize = 16;
const STC_FIRST: usize = 1;

#[test]
fn every_protocol_keeps_its_claims_in_every_dimension() {
    // The last two have the same states as `denovo-b` and `hlrc`, because the explorer evicts in every
    // order.
    let left_out = [&zoo::stc::REFUTED[..], &["denovo-rprio", "hlrc-noprio"]].concat();
    for info in zoo::ALL.iter().filter(|info| !left_out.contains(&info.name)) {
        let subject = Subject::named(info.name).expect("a protocol");
        let mut tests = corpus::dimensions(&Claim::all_of(&subject.info).expect("known models"));
        if info.name.starts_with("stc-") {
            tests = tests.into_iter().skip(STC_FIRST).step_by(STC_STEP).collect();
        }
        let options = Options { jobs: 2, ..Options::new(verify::machines_of(&subject.info)) };
        let found = verify::verify(&subject, &tests, &options).expect("known models");
        let is_verified = found.claims.iter().all(|(_, status)| *status == Status::Verified);
        assert!(
            is_verified && found.complete,
            "{}: {:?} {:?} {:?}",
            info.name,
            found.claims,
            found.gaps,
            found.findings.first().map(|f| (&tests[f.test].name, &f.violation.why, f.bounds))
        );
        // A test without a shape of its own runs on every machine.
        let machines = verify::machines_of(&subject.info).len();
        let runs = tests.iter().map(|test| if test.shape.is_some() { 1 } else { machines });
        assert_eq!(found.runs, runs.sum::<usize>(), "{}", info.name);
        assert!(found.states < 10_000_000, "{}: {} states", info.name, found.states);
    }
}
