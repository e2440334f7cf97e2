//! Trials of mutants (protocols with one seeded fault): the runs of each mutant, and its result.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proto::{OpClass, PlanKey, Reach, TableId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::machine::bounds::Bounds;
use crate::mutants::equivalent;
use crate::mutants::{self, Mutant, Mutants};
use crate::parallel::in_parallel;
use crate::programs::test::Test;
use crate::search::Requirements;
use crate::search::engine::Limits;
use crate::subject::Subject;
use crate::verify::options::{Options, Progress};
use crate::verify::run::{Explorers, Run};

/// A run in which the unchanged protocol has no fault. Mutants are tried on such runs.
pub(crate) struct Witness<'a> {
    pub(crate) run: &'a Run,
    pub(crate) synchronized: bool,
}

impl Witness<'_> {
    /// The kind of the run: 0 if synchronization orders data, 1 if a claim of the protocol promises
    /// something else for the run, 2 for all other runs.
    fn kind(&self) -> usize {
        match (self.synchronized, &self.run.allowed) {
            (true, _) => 0,
            (false, Some(_)) => 1,
            (false, None) => 2,
        }
    }
}

/// The result of the trials of a mutant.
enum MutantStatus {
    /// A run killed the mutant. The fields are the index of the run in the list of witnesses (runs
    /// in which the unchanged protocol has no fault), and the description of the fault.
    Killed(usize, String),
    Survives,
    Unreached,
    Undecided,
}

/// A factor that limits the number of states of a mutant's run. The limit is this factor times the
/// states of the same run of the unchanged protocol, plus 1000. A larger run is abandoned and shows
/// nothing.
const GROWTH_MAX: u64 = 4;
/// The maximum numbers of runs on which the first pass tries each mutant: runs that have killed
/// other mutants (`KILLERS_MAX`), and further runs (`FIRST_MAX`).
const KILLERS_MAX: usize = 64;
const FIRST_MAX: usize = 48;
/// The number of mutants after which the runs that have killed mutants are ranked again by their
/// kills.
const ROUND: usize = 48;
/// The maximum number of runs on which the second pass tries each mutant that has survived the
/// first pass (`TRIALS_MAX`), and the maximum sum of the states of these runs (`STATES_MAX`).
const TRIALS_MAX: usize = 4000;
const STATES_MAX: u64 = 10_000_000;
/// A limit of the second pass, which tries the survivors of the first pass. If the protocol argues
/// that a survivor is equivalent (undetectable), this limit on the sum of the states of its runs
/// replaces `STATES_MAX`.
const ARGUED_STATES_MAX: u64 = 1_000_000;
/// A limit of the second pass, which tries the survivors of the first pass on many runs. Some of
/// these runs have killed other mutants. For each survivor, this is the maximum sum of the states
/// of such runs.
const KILLERS_STATES_MAX: u64 = 1_000_000;
/// The number of runs after which a mutant that has changed no step counts as unreached. Runs that
/// have killed other mutants do not count.
const UNALTERED_MAX: usize = 200;

/// The runs and the options of all trials.
struct Trials<'a> {
    subject: &'a Subject,
    tests: &'a [Arc<Test>],
    witnesses: &'a [Witness<'a>],
    options: &'a Options<'a>,
}

/// Tries to kill every mutant with the runs.
///
/// A first pass tries each mutant on a few runs: the runs with the most kills so far, and the
/// smallest runs. A second pass tries the survivors on many runs: those that have killed a mutant,
/// and others.
pub(crate) fn kill(
    subject: &Subject,
    tests: &[Arc<Test>],
    witnesses: &[Witness<'_>],
    options: &Options<'_>,
) -> Mutants {
    let trials = Trials { subject, tests, witnesses, options };
    let (mut seeded, mut unseeded) = (Vec::new(), Vec::new());
    for mutant in mutants::all(subject) {
        match trials.why_unseeded(&mutant) {
            Some(why) => unseeded.push((mutant.name, why.to_owned())),
            None => seeded.push(mutant),
        }
    }
    let done = AtomicUsize::new(0);
    let one_more = || {
        let count = done.fetch_add(1, Ordering::Relaxed) + 1;
        (options.progress)(Progress::Mutants(count, seeded.len()));
    };
    let mut statuses: Vec<MutantStatus> = Vec::new();
    let mut kills: FxHashMap<usize, usize> = FxHashMap::default();
    for round in seeded.chunks(ROUND) {
        let killers = by_kills(&kills);
        let of_round = in_parallel(options.jobs, round.len(), || {
            |index: usize| {
                let mutant = &round[index];
                let status = match (options.stop)() {
                    true => MutantStatus::Undecided,
                    false => trials.try_on(mutant, trials.first_pass(mutant, &killers)),
                };
                if !matches!(status, MutantStatus::Survives | MutantStatus::Unreached) {
                    one_more();
                }
                status
            }
        });
        for status in &of_round {
            if let MutantStatus::Killed(witness, _) = status {
                *kills.entry(*witness).or_default() += 1;
            }
        }
        statuses.extend(of_round);
    }
    let left: Vec<usize> = (0..statuses.len())
        .filter(|&at| matches!(statuses[at], MutantStatus::Survives | MutantStatus::Unreached))
        .collect();
    let killers = by_kills(&kills);
    let again = in_parallel(options.jobs, left.len(), || {
        |index: usize| {
            let mutant = &seeded[left[index]];
            let status = match (options.stop)() {
                true => MutantStatus::Undecided,
                false => trials.try_on(mutant, trials.second_pass(mutant, &killers)),
            };
            one_more();
            status
        }
    });
    for (&at, status) in left.iter().zip(again) {
        statuses[at] = match (&statuses[at], status) {
            // The first pass may have reached a change that the second pass does not reach.
            (MutantStatus::Survives, MutantStatus::Unreached) => MutantStatus::Survives,
            (_, status) => status,
        };
    }
    Mutants { unseeded, ..trials.sum_up(seeded, statuses) }
}

impl Trials<'_> {
    /// The reason why a fault is not seeded, or `None` if the fault is seeded. A fault in the plan
    /// (the steps) of a kernel's beginning is not seeded if no run executes this plan. In that
    /// case, the plan is executed only by a check after each program: the next kernel must read the
    /// host's writes. This check makes the requests of the plan in one order only.
    fn why_unseeded(&self, mutant: &Mutant) -> Option<&'static str> {
        let key = mutant.plan.filter(|key| key.op == OpClass::KernelBegin)?;
        let runs = || self.witnesses.iter().map(|witness| witness.run);
        let has_kernels = runs().any(|run| !self.tests[run.test].placements[run.placement].stages.is_empty());
        let is_preempted = runs().any(|run| run.preemptions > 0);
        match (has_kernels, is_preempted, key.reach()) {
            (true, ..) | (_, true, Reach::Device) => None,
            (false, true, _) => Some("no run without a seeded fault has several kernels"),
            (false, false, _) => {
                Some("no run without a seeded fault has several kernels or a resumed work-group")
            }
        }
    }

    fn sum_up(&self, mutants: Vec<Mutant>, statuses: Vec<MutantStatus>) -> Mutants {
        let mut result = Mutants::default();
        for (mutant, status) in mutants.into_iter().zip(statuses) {
            let argued = equivalent::reason(&self.subject.info, &mutant.name);
            match (status, argued) {
                (MutantStatus::Killed(witness, why), argued) => {
                    let test = &self.tests[self.witnesses[witness].run.test].name;
                    if argued.is_some() {
                        result.misargued.push(mutant.name.clone());
                    }
                    result.killed.push((mutant.name, format!("{test}: {why}")));
                }
                (MutantStatus::Survives, _) if !self.has_promise(&mutant) => result.unasked.push(mutant.name),
                (MutantStatus::Survives, Some(reason)) => {
                    result.equivalent.push((mutant.name, reason.to_owned()))
                }
                (MutantStatus::Survives, None) => result.survivors.push(mutant.name),
                (MutantStatus::Unreached, _) => result.unreached.push(mutant.name),
                (MutantStatus::Undecided, _) => result.undecided.push(mutant.name),
            }
        }
        result
    }

    /// Whether a claim promises something for at least one run that reaches the mutant's change.
    fn has_promise(&self, mutant: &Mutant) -> bool {
        self.reaching(mutant).iter().any(|&at| self.witnesses[at].run.allowed.is_some())
    }

    /// The runs that reach the mutant's change, ranked. Runs are grouped by shipped test or group
    /// of generated tests, by the kind of the run (`Witness::kind`) and by machine. First come the
    /// smallest runs of all groups, then the second smallest, and so on.
    fn reaching(&self, mutant: &Mutant) -> Vec<usize> {
        let keys = mutant.plan.map(|key| same_plans(self.subject, mutant.seeded_fault.table, key));
        let reaches = |w: &Witness<'_>| {
            mutant.row.is_none_or(|row| w.run.rows.contains(row))
                && keys.as_ref().is_none_or(|keys| w.run.keys.iter().any(|key| keys.contains(key)))
        };
        let mut reaching: Vec<usize> =
            (0..self.witnesses.len()).filter(|&at| reaches(&self.witnesses[at])).collect();
        let size = |at: usize| (self.witnesses[at].run.states, at);
        reaching.sort_by_key(|&at| size(at));
        let mut ranks: FxHashMap<(usize, Option<usize>, usize, Bounds), usize> = FxHashMap::default();
        let mut ranked: Vec<(usize, usize)> = Vec::new();
        for at in reaching {
            let witness = &self.witnesses[at];
            let group = self.tests[witness.run.test].group;
            // Each shipped test forms a group of its own, because it was written for a purpose.
            let shipped = (group == 0).then_some(witness.run.test);
            let rank = ranks.entry((group, shipped, witness.kind(), witness.run.bounds)).or_default();
            ranked.push((*rank, at));
            *rank += 1;
        }
        ranked.sort_by_key(|&(rank, at)| (rank, size(at)));
        ranked.into_iter().map(|(_, at)| at).collect()
    }

    fn first_pass(&self, mutant: &Mutant, killers: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let (mut killers, mut others) = self.candidates(mutant, killers);
        killers.truncate(KILLERS_MAX);
        others.truncate(FIRST_MAX);
        (killers, others)
    }

    fn second_pass(&self, mutant: &Mutant, killers: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let (mut killers, mut others) = self.candidates(mutant, killers);
        killers.sort_by_key(|&at| (self.witnesses[at].run.states, at));
        self.shorten(&mut killers, KILLERS_STATES_MAX);
        others.truncate(TRIALS_MAX);
        let is_argued = equivalent::reason(&self.subject.info, &mutant.name).is_some();
        self.shorten(&mut others, if is_argued { ARGUED_STATES_MAX } else { STATES_MAX });
        (killers, others)
    }

    /// Keeps each run whose states fit into the rest of the limit `states_max`, in order, and drops
    /// the other runs. Each kept run reduces the rest by its states.
    fn shorten(&self, some: &mut Vec<usize>, states_max: u64) {
        let mut left = states_max;
        some.retain(|&at| {
            let rest = left.checked_sub(self.witnesses[at].run.states);
            left = rest.unwrap_or(left);
            rest.is_some()
        });
    }

    /// The killers (runs that have killed mutants) that reach the mutant's change, and all runs
    /// that reach it.
    fn candidates(&self, mutant: &Mutant, killers: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let reaching = self.reaching(mutant);
        let does_reach: FxHashSet<usize> = reaching.iter().copied().collect();
        (killers.iter().copied().filter(|w| does_reach.contains(w)).collect(), reaching)
    }

    /// Tries the mutant on the killers (runs that have killed mutants), and then on the other runs.
    fn try_on(&self, mutant: &Mutant, (killers, others): (Vec<usize>, Vec<usize>)) -> MutantStatus {
        let mut explorers = Explorers::new(self.subject, Some(mutant.seeded_fault));
        let mut altered = false;
        let unaltered_max = killers.len() + UNALTERED_MAX;
        for (tried, at) in once(killers, others).into_iter().enumerate() {
            if !altered && tried >= unaltered_max {
                break;
            }
            if (self.options.stop)() {
                return MutantStatus::Undecided;
            }
            let run = self.witnesses[at].run;
            let test = &self.tests[run.test];
            let program = &*test.program();
            let requirements = Requirements { allowed: run.allowed.as_deref(), may_block: run.may_block };
            let mut limits = Limits {
                states_max: 1000 + GROWTH_MAX * run.states,
                memory_bytes: self.options.memory_bytes / self.options.jobs.max(1) as u64,
                stop: Box::new(|| (self.options.stop)()),
                ..Limits::default()
            };
            let placement = &test.placements[run.placement];
            let found = explorers.within(run.bounds).explore(program, placement, &requirements, &mut limits);
            let Ok(found) = found else { continue };
            altered |= found.altered;
            if let Some(violation) = found.violation {
                return MutantStatus::Killed(at, violation.why);
            }
        }
        if altered { MutantStatus::Survives } else { MutantStatus::Unreached }
    }
}

/// The elements of both lists in order, without duplicates.
fn once(first: Vec<usize>, then: Vec<usize>) -> Vec<usize> {
    let mut seen = FxHashSet::default();
    first.into_iter().chain(then).filter(|w| seen.insert(*w)).collect()
}

/// The runs that have killed mutants, those with the most kills first.
fn by_kills(kills: &FxHashMap<usize, usize>) -> Vec<usize> {
    let mut killers: Vec<(usize, usize)> = kills.iter().map(|(&w, &count)| (count, w)).collect();
    killers.sort_by_key(|&(count, w)| (core::cmp::Reverse(count), w));
    killers.into_iter().map(|(_, w)| w).collect()
}

/// All plan keys (operation, order, scope and hints) with the operation of `key` whose plans have
/// the same steps as the plan of `key`.
fn same_plans(subject: &Subject, table: TableId, key: PlanKey) -> Vec<PlanKey> {
    let views = (subject.plans)();
    let Some(view) = views.iter().find(|view| view.id == table) else { return Vec::new() };
    let of = view.plans.iter().find(|(other, _)| *other == key).map(|(_, steps)| steps);
    let same = view.plans.iter().filter(|(other, steps)| other.op == key.op && Some(steps) == of);
    same.map(|(other, _)| *other).collect()
}
