//! The results of verifying a protocol: findings (violations, each with a counterexample), and
//! complaints (sentences for the user).

use std::sync::Arc;

use explore::mutants::Mutants;
use explore::verify::{Status, Test, TestSize, Verification};
use explore::{End, Replay, Subject, Trace, chart};
use proto::words::{grouped, plural};

use super::Record;

/// The results of the verification of one protocol.
#[derive(Debug)]
pub struct Verified<'v> {
    /// The result of the verification, with its findings: the violations found, each with a
    /// counterexample.
    pub verification: Verification,
    /// The tests that were explored. A finding (a violation) has the index of its test in this
    /// list.
    pub tests: &'v [Arc<Test>],
    /// For each finding (a violation), the replay of its counterexample. `None` if the
    /// counterexample could not be replayed.
    pub charts: Vec<Option<Replay>>,
    /// The maximum number of operations of the generated programs.
    pub operations: u8,
    /// The size of the tests.
    pub test_size: TestSize,
    /// The number of larger tests, which were left out.
    pub left_out: usize,
    /// The number of randomly sampled programs, and the seed of the sample.
    pub sample: (usize, u64),
    /// The number of dimension programs (which differ in word widths, requests and machine shapes).
    pub dimensions: usize,
    /// The digest of the question ([`Question::digest`](super::Question::digest)).
    pub digest: &'v str,
}

impl Verified<'_> {
    /// Creates the record of this verification, which took `seconds` seconds and ended on the day
    /// `date`.
    #[must_use]
    pub fn record(&self, seconds: f64, date: String) -> Record {
        let bounds = (self.operations, self.test_size);
        Record::of(&self.verification, bounds, self.sample, (seconds, date), self.digest)
    }

    /// The kinds of cores for which the protocol claims the memory model `model`.
    #[must_use]
    pub fn cores(&self, model: &str) -> Vec<&'static str> {
        let info = zoo::ALL.iter().find(|info| info.name == self.verification.protocol);
        let claim = info.and_then(|info| info.claims.iter().find(|claim| claim.model == model));
        claim.map_or_else(Vec::new, |claim| claim.cores.iter().map(|core| core.label()).collect())
    }

    /// The title of a finding (a violation that was found), in three lines: the test and the
    /// violation, the bounds of the machine, and the placement of the threads and words.
    #[must_use]
    pub fn title(&self, finding: usize) -> String {
        let finding = &self.verification.findings[finding];
        let test = &self.tests[finding.test];
        let placement = &test.placements[finding.placement];
        format!("{}: {}\n{}\n{placement}", test.name, finding.violation.why, finding.bounds)
    }

    /// The chart, as text, of the counterexample of a finding (a violation). `None` if the
    /// counterexample could not be replayed.
    #[must_use]
    pub fn chart(&self, finding: usize) -> Option<String> {
        self.charts[finding].as_ref().map(|replay| chart::text(replay, &self.title(finding)))
    }

    /// The files that describe a finding (a violation that was found): a trace for replay, and a
    /// chart as text and as SVG. Each entry has the extension of the file's name and the contents.
    #[must_use]
    pub fn files(&self, finding: usize) -> Vec<(&'static str, String)> {
        let title = self.title(finding);
        let found = &self.verification.findings[finding];
        let trace = Trace::of(self.verification.protocol, &self.tests[found.test], found);
        let mut files = vec![("trace", trace.to_string())];
        if let Some(replay) = &self.charts[finding] {
            let first = title.lines().next().unwrap_or_default();
            files.extend([("txt", chart::text(replay, &title)), ("svg", chart::svg(replay, first))]);
        }
        files
    }

    /// Complaints (sentences for the user) about the verification. At most one is about the claims:
    /// a claim is not kept, or a part was not covered. At most one is about seeded faults that were
    /// not detected as expected.
    pub(super) fn complaints(&self) -> impl Iterator<Item = String> {
        let of_claims = complaint(&self.verification);
        let mutants = self.verification.mutants.as_ref();
        of_claims
            .into_iter()
            .chain(mutants.and_then(|mutants| unaccounted(self.verification.protocol, mutants)))
    }
}

/// Replays the counterexample of each finding (a violation), for a chart. If `stop` returns true, a
/// replay may lack the reasons why its final state is forbidden.
pub(super) fn charts(
    subject: &Subject,
    tests: &[Arc<Test>],
    verification: &Verification,
    stop: &dyn Fn() -> bool,
) -> Vec<Option<Replay>> {
    let charts = verification.findings.iter().map(|finding| {
        let trace = Trace::of(subject.info.name, &tests[finding.test], finding);
        let mut replay = trace.draw(subject).ok()?;
        if let End::Over(outcomes) = &replay.end {
            replay.reasons = trace.reasons(outcomes, subject.info.hosts, stop).unwrap_or_default();
        }
        Some(replay)
    });
    charts.collect()
}

fn complaint(verification: &Verification) -> Option<String> {
    let status = verification.claims.iter().map(|(_, status)| *status).max()?;
    match status {
        Status::Verified if verification.findings.is_empty() => None,
        Status::Verified => {
            Some(format!("{} has a fault in a program that none of its claims covers", verification.protocol))
        }
        Status::Refuted => {
            let refuted = verification.claims.iter().filter(|(_, s)| *s == Status::Refuted);
            let models: Vec<&str> = refuted.map(|(model, _)| model.as_str()).collect();
            Some(format!("{} does not keep its claim: {}", verification.protocol, models.join(", ")))
        }
        Status::Incomplete => {
            let times = |count: usize| format!("{} {}", grouped(count as u64), plural(count as u64, "time"));
            let gaps = verification.gaps.iter().map(|(gap, count)| format!("{gap} ({})", times(*count)));
            let gaps = gaps.collect::<Vec<_>>().join("; ");
            let mut whys = verification.unproved.clone();
            if !gaps.is_empty() {
                whys.insert(0, format!("the verification is incomplete: {gaps}"));
            }
            Some(format!("{}: {}", verification.protocol, whys.join("; ")))
        }
    }
}

/// A complaint about mutants that survived, are undecided, or were killed although they are argued
/// to be equivalent. `None` if there is no such mutant.
fn unaccounted(protocol: &str, mutants: &Mutants) -> Option<String> {
    let kinds = [
        (&mutants.survivors, "survive"),
        (&mutants.undecided, "are undecided"),
        (&mutants.misargued, "are argued to be equivalent to the protocol, but were killed"),
    ];
    let counts = kinds.iter().filter(|(names, _)| !names.is_empty());
    let counts: Vec<String> = counts.map(|(names, what)| format!("{} {what}", names.len())).collect();
    (!counts.is_empty()).then(|| format!("{protocol}: of its mutants {}", counts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use explore::Programs;
    use explore::verify::{self, Options};

    #[test]
    fn findings_make_files_even_without_time_left() {
        let text = include_str!("../../../../litmus/findings/hlrc.litmus");
        let mut programs = Programs::of([Test::read("hlrc.litmus", text).expect("a test")]);
        let subject = subjects::explored("hlrc").expect("a protocol");
        let found = verify::verify_programs(&subject, &mut programs, &Options::new(verify::machines()));
        let tests = programs.tests();
        let verification = found.expect("known models");
        let drawn = charts(&subject, tests, &verification, &|| true);
        assert!(!drawn.is_empty());
        assert!(drawn.iter().flatten().all(|chart| chart.reasons.is_empty() && !chart.steps.is_empty()));
        // The last finding has no replay, as if it could not be drawn.
        let charts: Vec<Option<Replay>> = drawn.into_iter().skip(1).chain([None]).collect();
        let last = charts.len() - 1;
        let verified = Verified {
            verification,
            tests,
            charts,
            operations: 0,
            test_size: TestSize::All,
            left_out: 0,
            sample: (0, 0),
            dimensions: 0,
            digest: "0123abcd",
        };
        for finding in 0..=last {
            let files = verified.files(finding);
            let (ending, trace) = &files[0];
            assert_eq!(*ending, "trace");
            Trace::read(trace, subjects::explored).expect("it is a trace");
            assert_eq!(files.len() == 3, finding < last);
        }
    }
}
