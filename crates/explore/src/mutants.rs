//! Seeded faults: a checker that notices none of them has checked nothing.
//!
//! A mutant is killed by an outcome that a claim forbids, by what the machine
//! must never do, by a run that cannot end: never by a panic.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proto::{
    Change, Level, Mutation, OpClass, Order, PlanKey, PlansView, RowId, RowView, Symbol as _, TableId,
    TableView,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::bounds::Bounds;
use crate::engine::Limits;
use crate::equivalent;
use crate::explorer::Asked;
use crate::parallel::in_parallel;
use crate::rows::RowName;
use crate::run::{Explorers, Run};
use crate::subject::Subject;
use crate::test::Test;
use crate::verify::{Options, Progress};

/// A protocol with one fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// What is changed.
    pub mutation: Mutation,
    /// The row that is changed, if it is one.
    pub row: Option<RowId>,
    /// Whose plan is changed, if it is that of some operations.
    pub plan: Option<PlanKey>,
    /// What is changed, in words.
    pub name: String,
}

/// What became of the mutants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mutants {
    /// Those killed, each with the test that killed it.
    pub killed: Vec<(String, String)>,
    /// Those that no test noticed.
    pub survivors: Vec<String>,
    /// Those that nobody can notice, each with the reason: outside the total.
    pub equivalent: Vec<(String, String)>,
    /// Those that never made a station do anything else than the protocol does:
    /// nothing reached what is changed.
    pub unreached: Vec<String>,
    /// Those that only programs reach of which no claim says anything: such as
    /// change what fences do, where no model that is claimed knows of fences.
    pub unasked: Vec<String>,
    /// Those that are argued to be equivalent, and yet were killed.
    pub misargued: Vec<String>,
    /// Those that were not looked at to the end.
    pub undecided: Vec<String>,
}

impl Mutants {
    /// How many could have been noticed: all but those that are equivalent, those
    /// that nothing reached, and those of which nothing was asked.
    #[must_use]
    pub fn total(&self) -> usize {
        self.killed.len() + self.survivors.len() + self.undecided.len()
    }
}

/// A sound run that may kill mutants.
pub(crate) struct Witness<'a> {
    pub(crate) run: &'a Run,
    pub(crate) synchronized: bool,
}

impl Witness<'_> {
    /// Of those in which synchronization orders data, of others of which a claim
    /// says something, or of the rest.
    fn kind(&self) -> usize {
        match (self.synchronized, &self.run.allowed) {
            (true, _) => 0,
            (false, Some(_)) => 1,
            (false, None) => 2,
        }
    }
}

/// Every fault that can be seeded into the tables and plans of a protocol.
#[must_use]
pub fn all(subject: &Subject) -> Vec<Mutant> {
    let mut all = Vec::new();
    for view in (subject.tables)() {
        for (index, what) in view.rows.iter().enumerate() {
            let name = RowName::of(&view, index);
            let mut add = |change, text: String| {
                all.push(Mutant {
                    mutation: Mutation { table: view.id, change },
                    row: Some(RowId { table: view.id, row: index as u16 }),
                    plan: None,
                    name: format!("{name}, {text}"),
                });
            };
            match what {
                RowView::Do(actions, next, _) => row_faults(&view, index, actions, *next, &mut add),
                RowView::Stall => stall_faults(&view, index, &mut add),
                RowView::Impossible(_) => {}
            }
        }
    }
    for view in (subject.plans)() {
        plan_faults(&view, &mut all);
    }
    all
}

fn row_faults(
    view: &TableView,
    index: usize,
    actions: &[&str],
    next: Option<usize>,
    add: &mut impl FnMut(Change, String),
) {
    let row = index as u16;
    for (at, action) in actions.iter().enumerate() {
        add(Change::DropAction { row, action: at as u8 }, format!("without {action}"));
    }
    for (state, (to, _)) in view.states.iter().enumerate() {
        let stays = next.unwrap_or(index / view.events.len());
        if !view.never_stored.contains(&state) && state != stays {
            add(Change::NextState { row, state: state as u8 }, format!("to {to}"));
        }
    }
    add(Change::ForgetByte { row }, "which forgets a byte that it sends".to_owned());
}

/// What waits does not: it is dealt with as in another state, where that is
/// something else than in those before.
fn stall_faults(view: &TableView, index: usize, add: &mut impl FnMut(Change, String)) {
    let events = view.events.len();
    let mut seen = Vec::new();
    for (state, (name, _)) in view.states.iter().enumerate() {
        let other = &view.rows[state * events + index % events];
        if matches!(other, RowView::Do(..)) && !seen.contains(&other) {
            seen.push(other);
            add(Change::NoStall { row: index as u16, state: state as u8 }, format!("as in {name}"));
        }
    }
}

/// What is one scope narrower, or several.
const NARROWER: [(Level, Level); 3] =
    [(Level::System, Level::Device), (Level::System, Level::WorkGroup), (Level::Device, Level::WorkGroup)];
/// What is weaker than an order.
const WEAKER: [(Order, Order); 5] = [
    (Order::Acquire, Order::Relaxed),
    (Order::Release, Order::Relaxed),
    (Order::AcqRel, Order::Acquire),
    (Order::AcqRel, Order::Release),
    (Order::SeqCst, Order::Relaxed),
];

/// A key in words.
fn key_name(key: PlanKey) -> String {
    let remote = if key.remote { "remote " } else { "" };
    let commutative = if key.commutative { "commutative " } else { "" };
    format!("{remote}{commutative}{} {} {}", key.op.name(), key.order.name(), key.level.name())
}

/// The names of steps; one that comes again has its number.
fn numbered(steps: &[&str]) -> Vec<String> {
    let number = |at: usize| steps[..=at].iter().filter(|step| **step == steps[at]).count();
    let name = |at: usize| match number(at) {
        1 => steps[at].to_owned(),
        number => format!("{} ({number})", steps[at]),
    };
    (0..steps.len()).map(name).collect()
}

fn plan_faults(view: &PlansView, all: &mut Vec<Mutant>) {
    let mut add = |change, plan: Option<PlanKey>, text: String| {
        let name = format!("{}: {text}", view.name);
        all.push(Mutant { mutation: Mutation { table: view.id, change }, row: None, plan, name });
    };
    for (step, (name, _)) in view.steps.iter().enumerate() {
        if view.plans.iter().any(|(_, steps)| steps.contains(name)) {
            add(Change::DropStep { step: step as u8 }, None, format!("no {name}"));
        }
    }
    let steps_of = |key: PlanKey| view.plans.iter().find(|(k, _)| *k == key).map(|(_, steps)| steps);
    let is_made = |key: &PlanKey| {
        key.op != OpClass::KernelBegin
            && matches!(key.level, Level::WorkGroup | Level::Device | Level::System)
    };
    let mut seen: Vec<(OpClass, &Vec<&str>)> = Vec::new();
    let mut pairs: Vec<(OpClass, &Vec<&str>, &Vec<&str>)> = Vec::new();
    for (key, steps) in view.plans.iter().filter(|(key, _)| is_made(key)) {
        let (key, name) = (*key, key_name(*key));
        if !seen.contains(&(key.op, steps)) {
            seen.push((key.op, steps));
            let steps = &numbered(steps);
            for (at, step) in steps.iter().enumerate() {
                add(
                    Change::DropStepOf { plan: key, at: at as u8 },
                    Some(key),
                    format!("{name}, without {step}"),
                );
            }
            for (at, pair) in steps.windows(2).enumerate() {
                let text = format!("{name}, {} before {}", pair[1], pair[0]);
                add(Change::StepEarly { plan: key, at: at as u8 }, Some(key), text);
            }
        }
        let narrower = NARROWER.iter().filter(|(from, _)| *from == key.level);
        let narrower = narrower.map(|&(_, level)| PlanKey { level, ..key });
        let weaker = WEAKER.iter().filter(|(from, _)| *from == key.order);
        let weaker = weaker.map(|&(_, order)| PlanKey { order, ..key });
        let near = key.remote.then_some(PlanKey { remote: false, ..key });
        let ordered = key.commutative.then_some(PlanKey { commutative: false, ..key });
        for other in narrower.chain(weaker).chain(near).chain(ordered) {
            let Some(others) = steps_of(other).filter(|others| *others != steps) else { continue };
            if !pairs.contains(&(key.op, steps, others)) {
                pairs.push((key.op, steps, others));
                let text = format!("{name} as {}", key_name(other));
                add(Change::PlanAs { plan: key, other }, Some(key), text);
            }
        }
    }
}

/// What is known of a mutant.
enum Fate {
    /// The witness that killed it, and how.
    Killed(usize, String),
    Survives,
    Unreached,
    Undecided,
}

/// How many more states a mutant may have than the protocol, before its run is
/// given up: that shows nothing.
const GROWTH_MAX: u64 = 4;
/// A mutant is first tried on so many runs that have killed others, and on so
/// many more of each kind.
const KILLERS_MAX: usize = 64;
const FIRST_MAX: usize = 48;
/// So many mutants are tried before it is counted anew which runs kill most.
const ROUND: usize = 48;
/// Then, on how many runs in all, and with how many states together.
const TRIALS_MAX: usize = 4000;
const STATES_MAX: u64 = 30_000_000;
/// One that is argued to be equivalent has fewer.
const ARGUED_STATES_MAX: u64 = 1_000_000;
/// Before that, with how many states on those that have killed any.
const KILLERS_STATES_MAX: u64 = 1_000_000;
/// One that has made no difference in so many runs, beside those that have
/// killed others, is taken to make none.
const UNALTERED_MAX: usize = 200;

/// All that mutants are tried on.
struct Trials<'a> {
    subject: &'a Subject,
    tests: &'a [Arc<Test>],
    witnesses: &'a [Witness<'a>],
    options: &'a Options<'a>,
}

/// Tries to kill every mutant with the runs.
///
/// First each is tried on few: on those that have killed most of the others
/// before it, and on the smallest. Few are left, and tried on all that have
/// killed any, and on many more.
pub(crate) fn kill(
    subject: &Subject,
    tests: &[Arc<Test>],
    witnesses: &[Witness<'_>],
    options: &Options<'_>,
) -> Mutants {
    let trials = Trials { subject, tests, witnesses, options };
    let mutants = all(subject);
    let done = AtomicUsize::new(0);
    let one_more = || {
        let count = done.fetch_add(1, Ordering::Relaxed) + 1;
        (options.progress)(Progress::Mutants(count, mutants.len()));
    };
    let mut fates: Vec<Fate> = Vec::new();
    let mut kills: FxHashMap<usize, usize> = FxHashMap::default();
    for round in mutants.chunks(ROUND) {
        let killers = by_kills(&kills);
        let of_round = in_parallel(options.jobs, round.len(), || {
            |index: usize| {
                let mutant = &round[index];
                let fate = match (options.stop)() {
                    true => Fate::Undecided,
                    false => trials.fate(mutant, trials.few(mutant, &killers)),
                };
                if !matches!(fate, Fate::Survives | Fate::Unreached) {
                    one_more();
                }
                fate
            }
        });
        for fate in &of_round {
            if let Fate::Killed(witness, _) = fate {
                *kills.entry(*witness).or_default() += 1;
            }
        }
        fates.extend(of_round);
    }
    let left: Vec<usize> =
        (0..fates.len()).filter(|&at| matches!(fates[at], Fate::Survives | Fate::Unreached)).collect();
    let killers = by_kills(&kills);
    let again = in_parallel(options.jobs, left.len(), || {
        |index: usize| {
            let mutant = &mutants[left[index]];
            let fate = match (options.stop)() {
                true => Fate::Undecided,
                false => trials.fate(mutant, trials.many(mutant, &killers)),
            };
            one_more();
            fate
        }
    });
    for (&at, fate) in left.iter().zip(again) {
        fates[at] = match (&fates[at], fate) {
            // The few may have reached what the many do not.
            (Fate::Survives, Fate::Unreached) => Fate::Survives,
            (_, fate) => fate,
        };
    }
    trials.sum_up(mutants, fates)
}

impl Trials<'_> {
    fn sum_up(&self, mutants: Vec<Mutant>, fates: Vec<Fate>) -> Mutants {
        let mut result = Mutants::default();
        for (mutant, fate) in mutants.into_iter().zip(fates) {
            let argued = equivalent::reason(&self.subject.info, &mutant.name);
            match (fate, argued) {
                (Fate::Killed(witness, why), argued) => {
                    let test = &self.tests[self.witnesses[witness].run.test].name;
                    if argued.is_some() {
                        result.misargued.push(mutant.name.clone());
                    }
                    result.killed.push((mutant.name, format!("{test}: {why}")));
                }
                (Fate::Survives, _) if !self.is_asked(&mutant) => result.unasked.push(mutant.name),
                (Fate::Survives, Some(reason)) => result.equivalent.push((mutant.name, reason.to_owned())),
                (Fate::Survives, None) => result.survivors.push(mutant.name),
                (Fate::Unreached, _) => result.unreached.push(mutant.name),
                (Fate::Undecided, _) => result.undecided.push(mutant.name),
            }
        }
        result
    }

    /// Does a claim say something of a run that reaches what the mutant changes?
    fn is_asked(&self, mutant: &Mutant) -> bool {
        self.reaching(mutant).iter().any(|&at| self.witnesses[at].run.allowed.is_some())
    }

    /// The runs that reach what the mutant changes: first the smallest of each
    /// shipped test and of each group of made ones, of each kind and on each
    /// machine, then the next of each, ...
    fn reaching(&self, mutant: &Mutant) -> Vec<usize> {
        let keys = mutant.plan.map(|key| same_plans(self.subject, mutant.mutation.table, key));
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
            // Those that were not made have been thought about, each of them.
            let shipped = (group == 0).then_some(witness.run.test);
            let rank = ranks.entry((group, shipped, witness.kind(), witness.run.bounds)).or_default();
            ranked.push((*rank, at));
            *rank += 1;
        }
        ranked.sort_by_key(|&(rank, at)| (rank, size(at)));
        ranked.into_iter().map(|(_, at)| at).collect()
    }

    fn few(&self, mutant: &Mutant, killers: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let (mut killers, mut others) = self.of_them(mutant, killers);
        killers.truncate(KILLERS_MAX);
        others.truncate(FIRST_MAX);
        (killers, others)
    }

    fn many(&self, mutant: &Mutant, killers: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let (mut killers, mut others) = self.of_them(mutant, killers);
        killers.sort_by_key(|&at| (self.witnesses[at].run.states, at));
        self.shorten(&mut killers, KILLERS_STATES_MAX);
        others.truncate(TRIALS_MAX);
        let is_argued = equivalent::reason(&self.subject.info, &mutant.name).is_some();
        self.shorten(&mut others, if is_argued { ARGUED_STATES_MAX } else { STATES_MAX });
        (killers, others)
    }

    /// Leaves out those with which they have too many states together.
    fn shorten(&self, some: &mut Vec<usize>, states_max: u64) {
        let mut left = states_max;
        some.retain(|&at| {
            let rest = left.checked_sub(self.witnesses[at].run.states);
            left = rest.unwrap_or(left);
            rest.is_some()
        });
    }

    /// The killers that reach what the mutant changes, and all that do.
    fn of_them(&self, mutant: &Mutant, killers: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let reaching = self.reaching(mutant);
        let does_reach: FxHashSet<usize> = reaching.iter().copied().collect();
        (killers.iter().copied().filter(|w| does_reach.contains(w)).collect(), reaching)
    }

    /// What becomes of it in those that have killed, and then in the others.
    fn fate(&self, mutant: &Mutant, (killers, others): (Vec<usize>, Vec<usize>)) -> Fate {
        let mut explorers = Explorers::new(self.subject, Some(mutant.mutation));
        let mut altered = false;
        let unaltered_max = killers.len() + UNALTERED_MAX;
        for (tried, at) in once(killers, others).into_iter().enumerate() {
            if !altered && tried >= unaltered_max {
                break;
            }
            if (self.options.stop)() {
                return Fate::Undecided;
            }
            let run = self.witnesses[at].run;
            let test = &self.tests[run.test];
            let program = &*test.program();
            let asked = Asked { allowed: run.allowed.as_deref(), may_block: run.may_block };
            let mut limits = Limits {
                states_max: 1000 + GROWTH_MAX * run.states,
                memory_bytes: self.options.memory_bytes / self.options.jobs.max(1) as u64,
                stop: Box::new(|| (self.options.stop)()),
                ..Limits::default()
            };
            let placement = &test.placements[run.placement];
            let found = explorers.within(run.bounds).explore(program, placement, &asked, &mut limits);
            let Ok(found) = found else { continue };
            altered |= found.altered;
            if let Some(violation) = found.violation {
                return Fate::Killed(at, violation.why);
            }
        }
        if altered { Fate::Survives } else { Fate::Unreached }
    }
}

/// First the ones, then the others, each of them once.
fn once(first: Vec<usize>, then: Vec<usize>) -> Vec<usize> {
    let mut seen = FxHashSet::default();
    first.into_iter().chain(then).filter(|w| seen.insert(*w)).collect()
}

/// The runs that have killed, those that have killed most first.
fn by_kills(kills: &FxHashMap<usize, usize>) -> Vec<usize> {
    let mut killers: Vec<(usize, usize)> = kills.iter().map(|(&w, &count)| (count, w)).collect();
    killers.sort_by_key(|&(count, w)| (core::cmp::Reverse(count), w));
    killers.into_iter().map(|(_, w)| w).collect()
}

/// The keys that have the plan of this one.
fn same_plans(subject: &Subject, table: TableId, key: PlanKey) -> Vec<PlanKey> {
    let views = (subject.plans)();
    let Some(view) = views.iter().find(|view| view.id == table) else { return Vec::new() };
    let of = view.plans.iter().find(|(other, _)| *other == key).map(|(_, steps)| steps);
    let same = view.plans.iter().filter(|(other, steps)| other.op == key.op && Some(steps) == of);
    same.map(|(other, _)| *other).collect()
}
