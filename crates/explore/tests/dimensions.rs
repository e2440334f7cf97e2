//! The dimension programs: every protocol keeps its claims on them.

use explore::claim::Claim;
use explore::verify::{self, Options, Status};
use explore::{Subject, corpus};

#[test]
fn every_protocol_keeps_its_claims_in_every_dimension() {
    for info in zoo::ALL {
        let subject = Subject::named(info.name).expect("a protocol");
        let tests = corpus::dimensions(&Claim::all_of(&subject.info).expect("known models"));
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
