//! The verification of a protocol: every test, on every machine and in every placement, against
//! every claim.

pub mod census;
mod families;
mod options;
mod prepared;
pub(crate) mod reason;
pub(crate) mod run;
pub(crate) mod trials;
pub(crate) mod unproved;
mod verdict;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proto::Info;
use proto::issue::IssueRule;

use crate::machine::bounds::Bounds;
use crate::mutants::rows::{self, RowName, RowSet};
use crate::mutants::{self, Mutants};
use crate::parallel::pull;
use crate::programs::claim::Claim;
pub use crate::programs::test::{Machines, Spread, Test, TestSize};
use crate::programs::{Feed, Programs};
use crate::subject::Subject;
pub use census::{Census, Dimensions};
pub use families::Family;
pub use options::{Options, Progress};
pub use prepared::{PreparedExplorers, PreparedRun, prepared};
pub use run::Finding;

use census::Counter;
use families::Ran;
use run::{Explorers, Run, Tested};
use verdict::Verdict;

/// The status of a claim after a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// The claim holds in all tests, within the bounds, and promises something for at least one
    /// test.
    Verified,
    /// The exploration is incomplete, and no counterexample was found.
    Incomplete,
    /// The claim does not hold: a counterexample was found.
    Refuted,
}

impl Status {
    /// The name of the status in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Status::Verified => "verified",
            Status::Incomplete => "incomplete",
            Status::Refuted => "refuted",
        }
    }
}

/// The result of a verification.
#[derive(Clone, Debug)]
pub struct Verification {
    /// The name of the protocol.
    pub protocol: &'static str,
    /// The claimed models, each with its status.
    pub claims: Vec<(String, Status)>,
    /// The number of explored tests.
    pub tests: usize,
    /// The reasons why no machine can run a test, each with the number of tests.
    pub unsupported: BTreeMap<String, usize>,
    /// The number of tests that were explored without preemptions on machines with preemptions,
    /// because their work-groups share a barrier.
    pub unpreempted: usize,
    /// The number of tests whose program is race-free.
    pub race_free: usize,
    /// The number of race-free tests in which synchronization orders a data conflict between
    /// different compute units or hosts.
    pub synchronized: usize,
    /// The number of runs. A run is one test in one placement on one machine.
    pub runs: usize,
    /// The total number of states of all runs.
    pub states: u64,
    /// The total size in bytes of the states of all runs.
    pub state_bytes: u64,
    /// The number of moves between states, in all runs.
    pub transitions: u64,
    /// Whether the exploration is complete.
    pub complete: bool,
    /// The reasons why the exploration is not complete, each with the number of occurrences.
    pub gaps: BTreeMap<String, usize>,
    /// For each claim for which the tests prove nothing, the reason.
    pub unproved: Vec<String>,
    /// The counterexamples, shortest first.
    pub findings: Vec<Finding>,
    /// The number of rows that can fire, and the names of those of them that did not fire.
    pub rows: (usize, Vec<RowName>),
    /// The results of the trials of seeded faults. `None` if no trials were wanted, or if every claim
    /// is refuted.
    pub mutants: Option<Mutants>,
    /// The families of the programs, with the states that each costs and the seeded faults that it
    /// detects.
    pub families: Vec<Family>,
    /// The dimensions (properties of machines and programs) that are explored, and those that are
    /// not.
    pub dimensions: Dimensions,
    /// The numbers of runs and states for each value of each dimension (property in which runs
    /// differ).
    pub census: Census,
}

impl Verification {
    /// Whether every claim is refuted. Then no faults are seeded.
    #[must_use]
    pub fn is_refuted(&self) -> bool {
        !self.claims.is_empty() && self.claims.iter().all(|(_, status)| *status == Status::Refuted)
    }
}

/// The machines on which every test is explored. Together they cover each write policy, ample and
/// minimal resources, cores with and without overlapping operations, and evictions at any time.
#[must_use]
pub fn machines() -> Vec<Bounds> {
    use proto::WritePolicy::{Combining, Through, ThroughInvalidate};
    let gpu = IssueRule::Gpu;
    vec![
        Bounds::new(Combining, Combining).evicting(),
        Bounds::new(Combining, Combining).tight().core(gpu),
        Bounds::new(Through, Through).core(gpu),
        Bounds::new(ThroughInvalidate, ThroughInvalidate).evicting(),
    ]
}

/// The machines for the tests of a protocol: the machines for all protocols, and two more machines
/// for each kind of core that a claim of the protocol names and these machines lack.
#[must_use]
pub fn machines_of(info: &Info) -> Vec<Bounds> {
    use proto::WritePolicy::{Combining, Through};
    let mut all = machines();
    for &core in info.claims.iter().flat_map(|claim| claim.cores) {
        if all.iter().all(|bounds| bounds.core != core) {
            all.push(Bounds::new(Combining, Combining).evicting().core(core));
            all.push(Bounds::new(Through, Through).core(core));
        }
    }
    all
}

/// These machines on `chiplets` chiplets. If there are several chiplets, each machine occurs with
/// every placement of the first two pages.
#[must_use]
pub fn on_chiplets(machines: Vec<Bounds>, chiplets: u16) -> Vec<Bounds> {
    if chiplets == 1 {
        return machines;
    }
    machines.into_iter().flat_map(|machine| machine.on_chiplets(chiplets)).collect()
}

/// The maximum number of counterexamples in a report.
const REPORTED_MAX: usize = 20;

/// The reason that an incomplete verification gives if it ended early ([`Verdict`]).
const REFUTED: &str = "the other tests, because every claim is refuted and the report is full";

/// Verifies the protocol with these tests.
///
/// # Errors
/// If the protocol claims an unknown model.
pub fn verify(subject: &Subject, tests: &[Test], options: &Options<'_>) -> Result<Verification, String> {
    verify_programs(subject, &mut Programs::of(tests.iter().cloned()), options)
}

/// Verifies the protocol with these programs, which are generated during the verification. It ends
/// early if every claim is refuted and the report is full.
///
/// # Errors
/// If the protocol claims an unknown model, or if no mutant has the chosen name.
pub fn verify_programs(
    subject: &Subject,
    programs: &mut Programs,
    options: &Options<'_>,
) -> Result<Verification, String> {
    let claims = Claim::all_of(&subject.info)?;
    if let Some(part) = options.mutants
        && !mutants::all(subject).iter().any(|mutant| mutant.name.contains(part))
    {
        return Err(format!("no mutant of {} has a name that contains '{part}'", subject.info.name));
    }
    let done = AtomicUsize::new(0);
    let verdict = Verdict::new(claims.len());
    let position = programs.positions();
    let feed = Feed::new(programs, options.stop);
    let explored = pull(
        options.jobs,
        || if verdict.last().is_some() { None } else { feed.next() },
        || {
            let mut explorers = Explorers::new(subject, None);
            let (done, claims, feed, verdict, position) = (&done, &claims, &feed, &verdict, &position);
            move |index, test: Arc<Test>| {
                let tested = run::test(&mut explorers, claims, &test, index, options);
                verdict.take(position(index), &tested);
                let count = done.fetch_add(1, Ordering::Relaxed) + 1;
                (options.progress)(Progress::Tests(count, feed.known()));
                (index, tested)
            }
        },
    );
    let tests = programs.tests();
    let last = verdict.last();
    let mut tested: Vec<Tested> = core::iter::repeat_with(Tested::default).take(tests.len()).collect();
    for (index, result) in explored {
        if last.is_none_or(|last| position(index) <= last) {
            tested[index] = result;
        }
    }
    let mut findings: Vec<Finding> = tested.iter().flat_map(|t| t.findings.iter().cloned()).collect();
    // Of equally short counterexamples, those with words of four bytes come first, because only
    // they can be replayed with timing.
    let is_mixed = |f: &Finding| !tests[f.test].placements[f.placement].is_plain();
    findings.sort_by_key(|f| (f.violation.moves.len(), is_mixed(f), f.test, f.placement));
    let mut gaps: BTreeMap<String, usize> = BTreeMap::new();
    for gap in tested.iter().flat_map(|t| &t.gaps) {
        *gaps.entry(gap.clone()).or_default() += 1;
    }
    match last {
        Some(_) => gaps.extend([(REFUTED.to_owned(), 1)]),
        None => gaps.extend(programs.not_generated().map(|gap| (gap, 1))),
    }
    let is_covered = gaps.is_empty();
    let is_refuted = |claim: &Claim| tested.iter().any(|t| t.refuted.contains(&claim.model));
    let is_tested = |at: usize| tested.iter().any(|t| t.spoken >> at & 1 == 1);
    let unproved = claims.iter().enumerate().filter(|&(at, claim)| !is_tested(at) && !is_refuted(claim));
    let unproved: Vec<String> = unproved
        .map(|(at, claim)| {
            let racing: Vec<bool> = tested.iter().map(|t| t.racing >> at & 1 == 1).collect();
            match tested.iter().any(|t| !t.runs.is_empty()) || !is_covered {
                true => unproved::why(claim, tests, &racing, is_covered),
                false => {
                    format!("no machine can run any of the tests, so nothing is proved for {}", claim.model)
                }
            }
        })
        .collect();
    // Only tests that a machine can run count.
    let ran = || tested.iter().filter(|t| !t.runs.is_empty());
    let mut unsupported: BTreeMap<String, usize> = BTreeMap::new();
    for why in tested.iter().filter_map(|t| t.unsupported.as_ref()) {
        *unsupported.entry(why.clone()).or_default() += 1;
    }
    let status = |(at, claim): (usize, &Claim)| match (is_refuted(claim), is_covered && is_tested(at)) {
        (true, _) => Status::Refuted,
        (false, true) => Status::Verified,
        (false, false) => Status::Incomplete,
    };
    let statuses = claims.iter().enumerate().map(|claim| (claim.1.model.clone(), status(claim)));
    let runs: Vec<&Run> = tested.iter().flat_map(|t| &t.runs).collect();
    let mut counter = Counter::default();
    runs.iter().for_each(|run| counter.add(run.features, run.bounds, run.preemptions, run.states));
    let census = counter.census();
    let mut fired = RowSet::default();
    runs.iter().for_each(|run| fired.add(&run.rows));
    let mut verification = Verification {
        protocol: subject.info.name,
        claims: statuses.collect(),
        tests: ran().count(),
        unpreempted: ran().filter(|t| t.unpreempted).count(),
        race_free: ran().filter(|t| t.race_free).count(),
        synchronized: ran().filter(|t| t.synchronized).count(),
        unsupported,
        runs: runs.len(),
        states: runs.iter().map(|r| r.states).sum(),
        state_bytes: runs.iter().map(|r| r.state_bytes).sum(),
        transitions: runs.iter().map(|r| r.transitions).sum(),
        complete: is_covered && unproved.is_empty(),
        gaps,
        unproved,
        findings,
        rows: rows::of(&(subject.tables)(), &fired),
        mutants: None,
        families: Vec::new(),
        dimensions: Dimensions::of(&census),
        census,
    };
    if !subject.settings.is_empty() {
        let settings = subject.settings.iter().map(|(name, value)| format!("{name} {value}"));
        let text = format!("settings {}", settings.collect::<Vec<_>>().join(", "));
        verification.dimensions.covered.push(text);
    }
    // What a program detects in a protocol without a valid claim says nothing about a claim.
    if let Some(part) = options.mutants.filter(|_| !verification.is_refuted()) {
        let sound = runs.iter().copied().filter(|run| run.is_sound).map(|run| {
            let test = &tested[run.test];
            trials::Witness { run, synchronized: test.synchronized }
        });
        verification.mutants = Some(trials::kill(subject, part, tests, &sound.collect::<Vec<_>>(), options));
    }
    let ran = tested.iter().enumerate().filter(|(_, t)| !t.runs.is_empty()).map(|(at, t)| Ran {
        name: &tests[at].name,
        synchronized: t.synchronized,
        states: t.runs.iter().map(|run| run.states).sum(),
    });
    verification.families = families::families(ran, verification.mutants.as_ref());
    verification.findings.truncate(REPORTED_MAX);
    Ok(verification)
}
