//! Every protocol keeps its claims on dimension programs: programs that differ in the widths of words,
//! in the words of a request, and in the shape of the machine. Two protocols explore all of these
//! programs, and the others a part of them.

use explore::claim::Claim;
use explore::corpus;
use explore::verify::{self, Options, Status};

use super::is_timed;
use crate::claims::census::all_pairs_are_covered;

/// The protocols that explore all dimension programs.
const WHOLE: [&str; 2] = ["vi", "denovo-b"];

/// The other protocols explore one dimension program in this number. Successive protocols explore
/// different programs.
const STEP: usize = 4;

/// The protocols with epochs or leases have more states, and so do `ASKS_HOSTS`, whose directory asks
/// hosts about each access. They explore one dimension program in this number, without the programs that
/// have more threads than this.
const LARGE_STEP: usize = 8;
const LARGE_THREADS_MAX: usize = 2;
const ASKS_HOSTS: [&str; 2] = ["wt", "apu-no-l1"];

/// The maximum numbers of states of a protocol in this test, for the protocols with many states and for
/// the others. They bound the time that one more protocol adds to the tests.
const LARGE_STATES_MAX: u64 = 2_000_000;
const STATES_MAX: u64 = 10_000_000;

#[test]
fn protocols_keep_their_claims_on_all_or_a_part_of_the_dimension_programs() {
    // The first three have the same states as `denovo-b`, `hlrc` and `moesi`, because the explorer evicts
    // in every order and has machines of its own. In `rcc`, a write can wait for ever beside a loop. The
    // others explore too few of these programs within the bounds of this test.
    let some = ["denovo-rprio", "hlrc-noprio", "rfo", "rcc"];
    let is_left_out = |name: &str| {
        zoo::reads_stale_copies(name) || some.contains(&name) || name.starts_with("quick-release")
    };
    for (turn, info) in zoo::ALL.iter().enumerate().filter(|(_, info)| !is_left_out(info.name)) {
        let subject = subjects::explored(info.name).expect("a protocol");
        let mut tests = corpus::dimensions(&Claim::all_of(&subject.info).expect("known models"));
        let has_many_states = is_timed(info.name) || ASKS_HOSTS.contains(&info.name);
        if has_many_states {
            tests.retain(|test| test.program().threads.len() <= LARGE_THREADS_MAX);
        }
        let is_whole = !has_many_states && WHOLE.contains(&info.name);
        if !is_whole {
            let step = if has_many_states { LARGE_STEP } else { STEP };
            tests = tests.into_iter().skip(turn % step).step_by(step).collect();
        }
        let options = Options { jobs: 2, ..Options::new(verify::machines_of(&subject.info)) };
        let found = verify::verify(&subject, &tests, &options).expect("known models");
        // A claim stays incomplete if no explored program is in its domain.
        let is_kept =
            |status: &Status| *status == Status::Verified || (!is_whole && *status == Status::Incomplete);
        assert!(
            found.findings.is_empty()
                && found.gaps.is_empty()
                && found.claims.iter().any(|(_, status)| *status == Status::Verified)
                && found.claims.iter().all(|(_, status)| is_kept(status)),
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
        let states_max = if has_many_states { LARGE_STATES_MAX } else { STATES_MAX };
        assert!(found.states < states_max, "{}: {} states", info.name, found.states);
        if info.name == "vi" {
            all_pairs_are_covered(&found.census);
        }
    }
}
