//! Every protocol keeps its claims on the dimension programs: programs that differ in the widths of
//! words, in the words of a request, and in the shape of the machine.

use explore::claim::Claim;
use explore::corpus;
use explore::verify::{self, Options, Status};

/// For the protocols with epochs (periods of time) or leases, only one dimension program in this
/// number is explored. In these protocols, an epoch can change or a tick can pass between any two
/// moves, so each program has many states. `TIMED_FIRST` is the index of the first explored
/// program.
const TIMED_STEP: usize = 16;
const TIMED_FIRST: usize = 1;

#[test]
fn every_protocol_keeps_its_claims_in_every_dimension() {
    // The last two have the same states as `denovo-b` and `hlrc`, because the explorer evicts in every
    // order.
    let is_left_out =
        |name: &str| zoo::reads_stale_copies(name) || ["denovo-rprio", "hlrc-noprio"].contains(&name);
    for info in zoo::ALL.iter().filter(|info| !is_left_out(info.name)) {
        let subject = subjects::explored(info.name).expect("a protocol");
        let mut tests = corpus::dimensions(&Claim::all_of(&subject.info).expect("known models"));
        if info.name.starts_with("stc-") || info.name.starts_with("tc-") {
            tests = tests.into_iter().skip(TIMED_FIRST).step_by(TIMED_STEP).collect();
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
