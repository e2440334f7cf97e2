//! The early end of a verification: when every claim is refuted and the report has all the
//! counterexamples that it shows, further tests change nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use super::REPORTED_MAX;
use super::run::Tested;

/// The results of the tests so far, as far as the end of the verification depends on them. It depends
/// on the order of the tests and not on the order in which workers finish them, so it is the same for
/// any number of workers.
#[derive(Debug)]
pub(super) struct Verdict {
    claims: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The results of tests that an earlier test has to precede: the refuted models and the number
    /// of counterexamples. The key is the position of the test in the order of exploration.
    early: BTreeMap<usize, (BTreeSet<String>, usize)>,
    /// The number of tests whose results are counted.
    counted: usize,
    refuted: BTreeSet<String>,
    findings: usize,
    /// The position of the last test of the verification, once it is known.
    last: Option<usize>,
}

impl Verdict {
    /// The verdict on so many claims, before the first test.
    pub(super) fn new(claims: usize) -> Verdict {
        Verdict { claims, state: Mutex::default() }
    }

    /// The position of the last test of the verification, if a test after it changes nothing.
    pub(super) fn last(&self) -> Option<usize> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).last
    }

    /// Takes the result of the test at this position in the order of exploration.
    pub(super) fn take(&self, position: usize, tested: &Tested) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { early, counted, refuted, findings, last } = &mut *state;
        early.insert(position, (tested.refuted.clone(), tested.findings.len()));
        while last.is_none()
            && let Some((models, count)) = early.remove(counted)
        {
            refuted.extend(models);
            *findings += count;
            if self.claims > 0 && refuted.len() == self.claims && *findings >= REPORTED_MAX {
                *last = Some(*counted);
            }
            *counted += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{Fault, Violation};
    use crate::verify::{Finding, machines};

    /// Gives the verdict the result of a test that refutes these models.
    fn refuting(models: &[&str], verdict: &Verdict, position: usize, findings: usize) {
        let violation = Violation { fault: Fault::Outcome, why: String::new(), moves: Vec::new() };
        let finding = Finding { test: 0, placement: 0, bounds: machines()[0], models: Vec::new(), violation };
        let refuted = models.iter().map(|&model| model.to_owned()).collect();
        let tested = Tested { refuted, findings: vec![finding; findings], ..Tested::default() };
        verdict.take(position, &tested);
    }

    #[test]
    fn the_end_depends_on_the_order_of_the_tests_and_not_on_that_of_the_results() {
        let results: [(&[&str], usize); 5] =
            [(&["sc"], 3), (&[], 0), (&["drf"], REPORTED_MAX), (&["sc", "drf"], 3), (&["drf"], 1)];
        for order in [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 4, 1, 3]] {
            let verdict = Verdict::new(2);
            for position in order {
                let (models, findings) = results[position];
                refuting(models, &verdict, position, findings);
            }
            assert_eq!(verdict.last(), Some(2), "{order:?}");
        }
    }

    #[test]
    fn a_verification_goes_on_if_a_claim_is_kept_or_the_report_has_room() {
        let (kept, room) = (Verdict::new(2), Verdict::new(1));
        refuting(&["sc"], &kept, 0, REPORTED_MAX);
        refuting(&["sc"], &room, 0, REPORTED_MAX - 1);
        assert_eq!((kept.last(), room.last()), (None, None));
        refuting(&[], &room, 1, 1);
        assert_eq!(room.last(), Some(1));
        let without_claims = Verdict::new(0);
        refuting(&[], &without_claims, 0, REPORTED_MAX);
        assert_eq!(without_claims.last(), None);
    }
}
