//! Verifies a protocol: every test, on every machine and in every placement,
//! against every claim.

use core::fmt;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use litmus::generate::{Generated, Skeleton};
use litmus::parse::TextError;
use litmus::program::Program;
use proto::{Mutation, PlanKey};

use crate::bounds::Bounds;
use crate::claim::{Claim, Promise, Silence};
use crate::engine::Limits;
use crate::explorer::{Asked, Fault, Found, Violation};
use crate::mutants::{self, Mutants};
use crate::outcome::Outcome;
use crate::placement::Placement;
use crate::rows::{self, RowSet};
use crate::subject::{Explores, Subject};
use crate::twist::Twist;

/// On which of the machines a test is explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machines {
    /// On every one.
    All,
    /// On one of them, each in turn.
    InTurn,
}

/// A program, or what it is made from.
#[derive(Clone, Debug)]
enum Source {
    Whole { text: String, program: Box<Program> },
    Made { skeleton: Skeleton, twist: Twist },
}

/// A test: a program, and where it is to run.
#[derive(Clone, Debug)]
pub struct Test {
    /// Its name in reports.
    pub name: String,
    source: Source,
    /// The placements in which it is explored.
    pub placements: Vec<Placement>,
    /// The machines on which it is explored.
    pub machines: Machines,
    /// Tests that were made in the same way have one number; zero is for those
    /// that were not.
    pub(crate) group: usize,
}

/// The work-groups of programs of more threads share two compute units, and are
/// explored on one machine.
const APART_THREADS_MAX: usize = 3;

impl Test {
    /// A test in the placements that matter: its work-groups apart and
    /// together, its words on lines of their own, side by side, and all but the
    /// first on one line.
    ///
    /// # Errors
    /// If the text is no test.
    pub fn read(name: &str, text: &str) -> Result<Test, TextError> {
        let program = litmus::parse::parse(text)?;
        let apart = Placement::spread(&program);
        let is_large = program.threads.len() > APART_THREADS_MAX;
        let (apart, machines) =
            if is_large { (apart.folded(), Machines::InTurn) } else { (apart, Machines::All) };
        let mut placements = vec![apart.clone()];
        let more = [
            apart.clone().paired(&program),
            apart.clone().crowded(),
            apart.clone().together(),
            apart.together().paired(&program),
        ];
        for placement in more.into_iter().filter(|_| !is_large) {
            if !placements.contains(&placement) {
                placements.push(placement);
            }
        }
        let source = Source::Whole { text: text.to_owned(), program: Box::new(program) };
        Ok(Test { name: name.to_owned(), source, placements, machines, group: 0 })
    }

    /// A made program as a test, where it was made to run. It is made again when
    /// it is needed: there may be very many.
    #[must_use]
    pub(crate) fn made(
        name: String,
        generated: Generated,
        twist: Twist,
        machines: Machines,
        group: usize,
    ) -> Test {
        let placement = Placement { agents: twist.agents(&generated.compute_units), lines: generated.lines };
        let source = Source::Made { skeleton: generated.skeleton, twist };
        Test { name, source, placements: vec![placement], machines, group }
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> Cow<'_, Program> {
        match &self.source {
            Source::Whole { program, .. } => Cow::Borrowed(program),
            Source::Made { skeleton, twist } => {
                let mut program = skeleton.clone().build(&self.name).program;
                twist.apply(&mut program);
                Cow::Owned(program)
            }
        }
    }

    /// The text, and how the program that it says is changed.
    pub(crate) fn text(&self) -> (String, Twist) {
        match &self.source {
            Source::Whole { text, .. } => (text.clone(), Twist::NONE),
            Source::Made { skeleton, twist } => (skeleton.clone().build(&self.name).to_text(), *twist),
        }
    }
}

/// How a protocol is verified.
pub struct Options<'a> {
    /// The machines.
    pub bounds: Vec<Bounds>,
    /// How many tests are explored at once.
    pub jobs: usize,
    /// The bytes that all of them together may take.
    pub memory_bytes: u64,
    /// Are faults seeded afterwards?
    pub mutants: bool,
    /// Asked now and then, by all jobs; true ends everything.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// Told now and then how many tests, and then how many mutants, are done.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("bounds", &self.bounds)
            .field("jobs", &self.jobs)
            .finish_non_exhaustive()
    }
}

/// How far a verification has come.
#[derive(Clone, Copy, Debug)]
pub enum Progress {
    /// So many tests of so many.
    Tests(usize, usize),
    /// So many mutants of so many.
    Mutants(usize, usize),
}

/// What is known of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// It holds in all tests, within the bounds.
    Verified,
    /// Not everything was covered, and nothing speaks against it.
    Incomplete,
    /// It does not hold.
    Refuted,
}

impl Status {
    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Status::Verified => "verified",
            Status::Incomplete => "incomplete",
            Status::Refuted => "refuted",
        }
    }
}

/// Something that must not be, with all that is needed to make it again.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The index of the test.
    pub test: usize,
    /// The index of its placement.
    pub placement: usize,
    /// The machine.
    pub bounds: Bounds,
    /// The claims that it is against.
    pub models: Vec<String>,
    /// What it is.
    pub violation: Violation,
}

/// What is known of a protocol.
#[derive(Clone, Debug)]
pub struct Verification {
    /// Its name.
    pub protocol: &'static str,
    /// Its claims.
    pub claims: Vec<(String, Status)>,
    /// How many tests were explored.
    pub tests: usize,
    /// How many of them are free of races.
    pub race_free: usize,
    /// How many of those order a data conflict between caches.
    pub synchronized: usize,
    /// How many runs there were: tests on machines in placements.
    pub runs: usize,
    /// How many states all of them have.
    pub states: u64,
    /// How many moves lead from one to another.
    pub transitions: u64,
    /// Was everything covered?
    pub complete: bool,
    /// What was not, each reason with how often.
    pub gaps: BTreeMap<String, usize>,
    /// What must not be, the shortest first.
    pub findings: Vec<Finding>,
    /// The rows that can fire, and the names of those that never did.
    pub rows: (usize, Vec<String>),
    /// What became of seeded faults.
    pub mutants: Option<Mutants>,
}

/// A test on a machine in a placement, as it went.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) test: usize,
    pub(crate) placement: usize,
    pub(crate) bounds: usize,
    pub(crate) states: u64,
    pub(crate) transitions: u64,
    pub(crate) rows: RowSet,
    pub(crate) keys: Box<[PlanKey]>,
    pub(crate) is_sound: bool,
    /// The outcomes that were allowed.
    pub(crate) allowed: Option<Arc<BTreeSet<Outcome>>>,
}

/// What became of one test.
#[derive(Debug, Default)]
struct Tested {
    may_block: bool,
    race_free: bool,
    synchronized: bool,
    runs: Vec<Run>,
    findings: Vec<Finding>,
    gaps: Vec<String>,
}

/// The machines that every test is explored on: each write policy, plenty and
/// one of everything, cores that overlap and cores that do not, with evictions
/// at any time.
#[must_use]
pub fn machines() -> Vec<Bounds> {
    use proto::WritePolicy::{Combining, Through, ThroughInvalidate};
    let gpu = proto::issue::IssueRule::Gpu;
    vec![
        Bounds::new(Combining, Combining).evicting(),
        Bounds::new(Combining, Combining).tight().core(gpu),
        Bounds::new(Through, Through).core(gpu),
        Bounds::new(ThroughInvalidate, ThroughInvalidate).evicting(),
    ]
}

/// What is not covered when somebody has it end.
const STOPPED: &str = "stopped before the end";

/// The most findings that are kept of a test.
const FINDINGS_MAX: usize = 3;
/// The most findings that are reported.
const REPORTED_MAX: usize = 20;

/// Verifies the protocol.
///
/// # Errors
/// If the protocol claims a model that there is not.
pub fn verify(subject: &Subject, tests: &[Test], options: &Options<'_>) -> Result<Verification, String> {
    let claims =
        subject.info.claims.iter().map(|claim| Claim::of(claim.model)).collect::<Result<Vec<_>, _>>()?;
    let done = AtomicUsize::new(0);
    let tested = in_parallel(options.jobs, tests.len(), || {
        let mut explorers = explorers(subject, &options.bounds, None);
        let done = &done;
        let claims = &claims;
        move |index| {
            let tested = test(&mut explorers, claims, tests, index, options);
            let count = done.fetch_add(1, Ordering::Relaxed) + 1;
            (options.progress)(Progress::Tests(count, tests.len()));
            tested
        }
    });
    let mut findings: Vec<Finding> = tested.iter().flat_map(|t| t.findings.iter().cloned()).collect();
    findings.sort_by_key(|f| (f.violation.moves.len(), f.test, f.placement));
    let mut gaps: BTreeMap<String, usize> = BTreeMap::new();
    for gap in tested.iter().flat_map(|t| &t.gaps) {
        *gaps.entry(gap.clone()).or_default() += 1;
    }
    let complete = gaps.is_empty();
    let status = |claim: &Claim| {
        let is_refuted = findings.iter().any(|f| f.models.contains(&claim.model));
        match (is_refuted, complete) {
            (true, _) => Status::Refuted,
            (false, true) => Status::Verified,
            (false, false) => Status::Incomplete,
        }
    };
    let runs: Vec<&Run> = tested.iter().flat_map(|t| &t.runs).collect();
    let mut fired = RowSet::default();
    runs.iter().for_each(|run| fired.add(&run.rows));
    let mut verification = Verification {
        protocol: subject.info.name,
        claims: claims.iter().map(|claim| (claim.model.clone(), status(claim))).collect(),
        tests: tests.len(),
        race_free: tested.iter().filter(|t| t.race_free).count(),
        synchronized: tested.iter().filter(|t| t.synchronized).count(),
        runs: runs.len(),
        states: runs.iter().map(|r| r.states).sum(),
        transitions: runs.iter().map(|r| r.transitions).sum(),
        complete,
        gaps,
        findings,
        rows: rows::of(&(subject.tables)(), &fired),
        mutants: None,
    };
    if options.mutants {
        let sound = runs.iter().copied().filter(|run| run.is_sound).map(|run| {
            let test = &tested[run.test];
            mutants::Witness { run, may_block: test.may_block, synchronized: test.synchronized }
        });
        verification.mutants = Some(mutants::kill(subject, tests, &sound.collect::<Vec<_>>(), options));
    }
    verification.findings.truncate(REPORTED_MAX);
    Ok(verification)
}

/// Programs of more threads or instructions than that lose a line only when its
/// way is needed: machines have one way a cache for that.
const EVICTED_AT_ANY_TIME_THREADS_MAX: usize = 2;
const EVICTED_AT_ANY_TIME_INSTRUCTIONS_MAX: usize = 8;

/// An explorer of each machine, and of the same without evictions at any time.
pub(crate) type Explorers = Vec<[Box<dyn Explores>; 2]>;

pub(crate) fn explorers(subject: &Subject, bounds: &[Bounds], mutation: Option<Mutation>) -> Explorers {
    let both = |&bounds: &Bounds| {
        [bounds, Bounds { evictions: false, ..bounds }].map(|bounds| subject.explorer(bounds, mutation))
    };
    bounds.iter().map(both).collect()
}

/// Which of the two explores a program.
pub(crate) fn explorer_of(program: &Program) -> usize {
    let instructions: usize = program.threads.iter().map(|thread| thread.code.len()).sum();
    let is_large = program.threads.len() > EVICTED_AT_ANY_TIME_THREADS_MAX
        || instructions > EVICTED_AT_ANY_TIME_INSTRUCTIONS_MAX;
    usize::from(is_large)
}

fn test(
    explorers: &mut Explorers,
    claims: &[Claim],
    tests: &[Test],
    index: usize,
    options: &Options<'_>,
) -> Tested {
    let mut tested = Tested::default();
    // There may be very many tests left when somebody has it end.
    if (options.stop)() {
        tested.gaps.push(String::from(STOPPED));
        return tested;
    }
    let test = &tests[index];
    let program = &*test.program();
    let mut promises: Vec<(&str, Promise)> = Vec::new();
    for claim in claims {
        match claim.promise(program, &mut || (options.stop)()) {
            Ok(promise) => promises.push((&claim.model, promise)),
            Err(Silence::Undefined(_)) => {}
            Err(Silence::Incomplete(why)) => tested.gaps.push(format!("{}: {why}", claim.model)),
        }
    }
    tested.race_free = promises.iter().any(|(_, p)| p.race_free && p.allowed.is_some());
    let of_race_free = || promises.iter().filter(|(_, p)| p.race_free);
    tested.synchronized =
        test.placements.iter().any(|placement| of_race_free().any(|(_, p)| p.is_synchronized(placement)));
    // One model that knows of no endless wait is enough.
    tested.may_block = promises.iter().all(|(_, p)| p.may_block);
    let turn = index % explorers.len().max(1);
    let which = explorer_of(program);
    for (at, both) in explorers.iter_mut().enumerate() {
        if test.machines == Machines::InTurn && at != turn {
            continue;
        }
        let explorer = &mut both[which];
        for (number, placement) in test.placements.iter().enumerate() {
            if (options.stop)() {
                tested.gaps.push(String::from(STOPPED));
                return tested;
            }
            let bounds = explorer.bounds();
            // Claims that are not made of this core, and those that have failed.
            let made = |model: &str| {
                let claim = claims.iter().find(|claim| claim.model == model);
                claim.is_some_and(|claim| claim.is_made(program, bounds.core))
            };
            let mut without: Vec<&str> =
                promises.iter().map(|(model, _)| *model).filter(|model| !made(model)).collect();
            let unmade = without.len();
            loop {
                let allowed = allowed(&promises, &without).map(Arc::new);
                let asked = Asked { allowed: allowed.as_deref(), may_block: tested.may_block };
                let mut limits = Limits {
                    memory_bytes: options.memory_bytes / options.jobs.max(1) as u64,
                    stop: Box::new(|| (options.stop)()),
                    ..Limits::default()
                };
                // What no machine can do is no gap in what is said of this one.
                let Ok(found) = explorer.explore(program, placement, &asked, &mut limits) else {
                    break;
                };
                let place = (index, number, at, bounds);
                let is_first = without.len() == unmade;
                let Some(violated) =
                    note(&mut tested, found, &promises, &without, (is_first, allowed), place)
                else {
                    break;
                };
                without.extend(violated);
            }
        }
    }
    tested
}

/// Takes down what was found. Returns the claims that an outcome is against, if
/// the others are still to be looked at.
fn note<'a>(
    tested: &mut Tested,
    found: Found,
    promises: &[(&'a str, Promise)],
    without: &[&str],
    (is_first, allowed): (bool, Option<Arc<BTreeSet<Outcome>>>),
    (test, placement, machine, bounds): (usize, usize, usize, Bounds),
) -> Option<Vec<&'a str>> {
    if let Some(incomplete) = found.incomplete {
        tested.gaps.push(incomplete.to_string());
    }
    let is_sound = found.violation.is_none() && found.incomplete.is_none() && is_first;
    tested.runs.push(Run {
        test,
        placement,
        bounds: machine,
        states: found.states,
        transitions: found.transitions,
        rows: RowSet::of(&found.rows),
        keys: found.keys.into(),
        is_sound,
        allowed,
    });
    let violation = found.violation?;
    let against: Vec<&'a str> = match &found.forbidden {
        Some(outcome) => {
            let open = promises.iter().filter(|(model, _)| !without.contains(model));
            open.filter(|(_, p)| p.allowed.as_ref().is_some_and(|a| !a.contains(outcome)))
                .map(|(model, _)| *model)
                .collect()
        }
        // What the machine must never do is against whatever was claimed of it.
        None => promises.iter().map(|(model, _)| *model).collect(),
    };
    let is_outcome = violation.fault == Fault::Outcome;
    let models = against.iter().map(|model| (*model).to_owned()).collect();
    if tested.findings.len() < FINDINGS_MAX {
        tested.findings.push(Finding { test, placement, bounds, models, violation });
    }
    (is_outcome && !against.is_empty()).then_some(against)
}

/// The outcomes that all claims allow, but for those that are left out.
fn allowed(promises: &[(&str, Promise)], without: &[&str]) -> Option<BTreeSet<Outcome>> {
    let of =
        promises.iter().filter(|(model, _)| !without.contains(model)).filter_map(|(_, p)| p.allowed.as_ref());
    of.fold(None, |all: Option<BTreeSet<Outcome>>, allowed| match all {
        None => Some(allowed.clone()),
        Some(all) => Some(all.intersection(allowed).cloned().collect()),
    })
}

/// Does something for every number below `count`, several at once. `worker`
/// makes what each of those who do it needs. Results come in order.
pub(crate) fn in_parallel<T: Send, W: FnMut(usize) -> T>(
    jobs: usize,
    count: usize,
    worker: impl Fn() -> W + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let mut all: Vec<(usize, T)> = std::thread::scope(|scope| {
        let work = || {
            let mut worker = worker();
            let mut own = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= count {
                    return own;
                }
                own.push((index, worker(index)));
            }
        };
        let handles: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(work)).collect();
        // A worker that panicked has found a broken invariant: so have we.
        handles.into_iter().flat_map(|handle| handle.join().expect("a worker ends")).collect()
    });
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, result)| result).collect()
}
