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
#[derive(Clone)]
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
/// The passes. Each pass tries every mutant that no earlier pass has killed on further runs. The
/// number is the maximum sum of the states of these runs, without those that have killed other
/// mutants. Most mutants are killed by small runs, so large runs are tried only on the few mutants
/// that are left.
///
/// The last pass may have more states: as many as all runs without a fault together, and at least
/// [`LAST_PASS_STATES`], divided by the number of the mutants left that have changed a step. So the
/// trials of a few mutants do not end long before the largest runs, and those of many mutants do not
/// take for ever.
const PASSES: [u64; 4] = [20_000, 200_000, 1_000_000, 10_000_000];
/// A number of states that the last pass may have for all mutants together.
const LAST_PASS_STATES: u64 = 300_000_000;
/// The number of passes for a mutant that the protocol argues to be equivalent (undetectable).
const ARGUED_PASSES: usize = 3;
/// The maximum sum of the states of the runs of a pass that have killed other mutants. The limit of
/// the pass, divided by `KILLERS_PART`, is another maximum. Such runs are tried first.
const KILLERS_STATES_MAX: u64 = 1_000_000;
const KILLERS_PART: u64 = 2;
/// The maximum number of runs of a pass, without those that have killed other mutants.
const RUNS_MAX: usize = 4000;
/// The number of mutants after which the runs that have killed mutants are ranked again.
const ROUND: usize = 48;
/// The number of runs after which a mutant that has changed no step counts as unreached. Runs that
/// have killed other mutants do not count.
const UNALTERED_MAX: usize = 200;

/// The runs and the options of all trials.
struct Trials<'a> {
    subject: &'a Subject,
    tests: &'a [Arc<Test>],
    witnesses: &'a [Witness<'a>],
    /// The indices of the witnesses, those with the fewest states first.
    by_size: Vec<usize>,
    options: &'a Options<'a>,
}

/// The trials of one mutant so far.
#[derive(Clone, Default)]
struct Trial {
    tried: FxHashSet<usize>,
    /// The number of the tried runs that had not killed other mutants.
    others: usize,
    /// Whether the change of the mutant has changed a step in a run.
    altered: bool,
    /// The result, or `None` if further passes try the mutant.
    status: Option<MutantStatus>,
}

/// Tries to kill every mutant whose name contains `part` with the runs, in several passes.
pub(crate) fn kill(
    subject: &Subject,
    part: &str,
    tests: &[Arc<Test>],
    witnesses: &[Witness<'_>],
    options: &Options<'_>,
) -> Mutants {
    let mut by_size: Vec<usize> = (0..witnesses.len()).collect();
    by_size.sort_by_key(|&at| witnesses[at].run.states);
    let trials = Trials { subject, tests, witnesses, by_size, options };
    let (mut seeded, mut unseeded) = (Vec::new(), Vec::new());
    for mutant in mutants::all(subject).into_iter().filter(|mutant| mutant.name.contains(part)) {
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
    let mut all = vec![Trial::default(); seeded.len()];
    let mut kills: FxHashMap<usize, u64> = FxHashMap::default();
    for (pass, mut states_max) in PASSES.into_iter().enumerate() {
        let open: Vec<usize> = (0..all.len()).filter(|&at| all[at].status.is_none()).collect();
        if pass + 1 == PASSES.len() {
            let of_all: u64 = witnesses.iter().map(|witness| witness.run.states).sum();
            let left = open.iter().filter(|&&at| all[at].altered).count();
            states_max = states_max.max(of_all.max(LAST_PASS_STATES) / left.max(1) as u64);
        }
        for round in open.chunks(ROUND) {
            let killers = trials.killers(&kills);
            let of_round = in_parallel(options.jobs, round.len(), || {
                |index: usize| {
                    let (mutant, mut trial) = (&seeded[round[index]], all[round[index]].clone());
                    trials.go_on(&mut trial, mutant, (pass, states_max), &killers);
                    if trial.status.is_some() {
                        one_more();
                    }
                    trial
                }
            });
            for (&at, trial) in round.iter().zip(of_round) {
                if let Some(MutantStatus::Killed(witness, _)) = &trial.status {
                    *kills.entry(*witness).or_default() += 1;
                }
                all[at] = trial;
            }
        }
    }
    let statuses = all.into_iter().map(|trial| trial.status.unwrap_or(MutantStatus::Survives)).collect();
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
    /// smallest runs of all groups, then the second smallest, and so on. Of each of these, the tests
    /// that were written for the protocol come first.
    fn reaching(&self, mutant: &Mutant) -> Vec<usize> {
        let keys = mutant.plan.map(|key| same_plans(self.subject, mutant.seeded_fault.table, key));
        let reaches = |w: &Witness<'_>| {
            mutant.row.is_none_or(|row| w.run.rows.contains(row))
                && keys.as_ref().is_none_or(|keys| w.run.keys.iter().any(|key| keys.contains(key)))
        };
        let reaching = self.by_size.iter().copied().filter(|&at| reaches(&self.witnesses[at]));
        let mut ranks: FxHashMap<(usize, Option<usize>, usize, Bounds), usize> = FxHashMap::default();
        let mut ranked: Vec<(usize, bool, usize)> = Vec::new();
        for at in reaching {
            let witness = &self.witnesses[at];
            let Test { name, group, .. } = &*self.tests[witness.run.test];
            let group = *group;
            // Each shipped test forms a group of its own, because it was written for a purpose.
            let shipped = (group == 0).then_some(witness.run.test);
            let rank = ranks.entry((group, shipped, witness.kind(), witness.run.bounds)).or_default();
            ranked.push((*rank, !self.subject.own_tests.contains(&name.as_str()), at));
            *rank += 1;
        }
        ranked.sort_by_key(|&(rank, is_other, _)| (rank, is_other));
        ranked.into_iter().map(|(.., at)| at).collect()
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

    /// The runs that have killed mutants. First come those with the most kills for their states.
    fn killers(&self, kills: &FxHashMap<usize, u64>) -> Vec<usize> {
        let mut killers: Vec<usize> = kills.keys().copied().collect();
        // The cost of one kill. A small run costs little, whether it kills or not.
        let cost = |at: usize| (self.witnesses[at].run.states + 1000) / kills[&at];
        killers.sort_by_key(|&at| (cost(at), at));
        killers
    }

    /// The runs of a pass for a mutant, without those of earlier passes: first the killers (runs
    /// that have killed mutants), and then others. Each run has a flag that says whether it is a
    /// killer.
    fn choose(
        &self,
        tried: &FxHashSet<usize>,
        mutant: &Mutant,
        states_max: u64,
        killers: &[usize],
    ) -> Vec<(usize, bool)> {
        let reaching = self.reaching(mutant);
        let does_reach: FxHashSet<usize> = reaching.iter().copied().collect();
        let is_new = |at: &usize| does_reach.contains(at) && !tried.contains(at);
        let mut first: Vec<usize> = killers.iter().copied().filter(is_new).collect();
        self.shorten(&mut first, KILLERS_STATES_MAX.min(states_max / KILLERS_PART));
        let is_first: FxHashSet<usize> = first.iter().copied().collect();
        let is_other = |at: &usize| !is_first.contains(at) && !tried.contains(at);
        let mut others: Vec<usize> = reaching.into_iter().filter(is_other).collect();
        others.truncate(RUNS_MAX);
        self.shorten(&mut others, states_max);
        first.into_iter().map(|at| (at, true)).chain(others.into_iter().map(|at| (at, false))).collect()
    }

    /// Carries out one pass for a mutant.
    fn go_on(&self, trial: &mut Trial, mutant: &Mutant, (pass, states_max): (usize, u64), killers: &[usize]) {
        let mut explorers = Explorers::new(self.subject, Some(mutant.seeded_fault));
        for (at, is_killer) in self.choose(&trial.tried, mutant, states_max, killers) {
            if !trial.altered && trial.others >= UNALTERED_MAX {
                break;
            }
            if (self.options.stop)() {
                trial.status = Some(MutantStatus::Undecided);
                return;
            }
            trial.tried.insert(at);
            trial.others += usize::from(!is_killer);
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
            trial.altered |= found.altered;
            if let Some(violation) = found.violation {
                trial.status = Some(MutantStatus::Killed(at, violation.why));
                return;
            }
        }
        // The last run may have been cut.
        if (self.options.stop)() {
            trial.status = Some(MutantStatus::Undecided);
            return;
        }
        let is_unreached = !trial.altered && trial.others >= UNALTERED_MAX;
        let is_argued = equivalent::reason(&self.subject.info, &mutant.name).is_some();
        if is_unreached || pass + 1 == if is_argued { ARGUED_PASSES } else { PASSES.len() } {
            let status = if trial.altered { MutantStatus::Survives } else { MutantStatus::Unreached };
            trial.status = Some(status);
        }
    }
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
