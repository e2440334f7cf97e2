//! Generated programs as tests, chosen by a protocol's claims.
//!
//! Most programs race, and a claim promises almost nothing for a racing program. Therefore only the
//! smallest shapes of programs are taken completely. Of the larger shapes, all *synchronized*
//! programs are taken: those that are race-free under a claim and have a data conflict that
//! synchronization orders. Of all other programs, a fixed fraction is taken (`Family::one_in`).

use std::collections::BTreeSet;
use std::sync::Arc;

use litmus::generate::{self, Bound, Generated, Kind, Op, Ordering, ProgramSkeleton};
use litmus::hrf::{self, Options, Reading};
use litmus::program::{Level, Order};

use proto::{PlanKey, PlansView, Sharing};

use crate::programs::claim::Claim;
use crate::programs::message;
use crate::programs::test::{Machines, Test};
use crate::programs::transform::{ScopeChange, Transform};
use crate::programs::{Batch, Chosen, Programs, Stop};
use crate::subject::Subject;

/// A family of generated programs: all programs of one shape under one transformation.
struct Family {
    /// The letter that begins the names of the programs of the family.
    letter: char,
    bound: Bound,
    /// Programs with up to this number of operations are all taken.
    taken_whole: usize,
    /// Of the larger programs that are not synchronized, one in this number is taken. A synchronized
    /// program is race-free and has a data conflict that synchronization orders. The number is
    /// prime, because the last choices of the enumeration (values, scopes, lines) have few variants:
    /// a multiple of their number would always take the same variant.
    one_in: usize,
    /// Whether each synchronized program is explored with every kind of neighbour (`NEIGHBOURS`). If
    /// not, it is explored with one kind in turn.
    every_neighbour: bool,
    /// Of the synchronized programs (race-free with a data conflict that synchronization orders),
    /// one in this number is explored on all machines, with additional threads and with fences.
    whole_one_in: usize,
    transform: Transform,
}

pub(crate) const ALL: [Kind; 9] = [
    Kind::Load,
    Kind::Store,
    Kind::SyncLoad,
    Kind::SyncStore,
    Kind::Await,
    Kind::ConditionalLoad,
    Kind::Exchange,
    Kind::Fence,
    Kind::Barrier,
];

/// The kinds of operation in programs whose exchanges get another memory order.
const EXCHANGING: [Kind; 6] =
    [Kind::Load, Kind::Store, Kind::SyncStore, Kind::Await, Kind::Exchange, Kind::Take];

/// The kinds of operation in one-thread programs whose exchanges get another memory order.
const EXCHANGING_ALONE: [Kind; 3] = [Kind::Load, Kind::Store, Kind::Exchange];

/// The kinds of operation in one-thread programs.
const ALONE: [Kind; 6] =
    [Kind::Load, Kind::Store, Kind::SyncLoad, Kind::SyncStore, Kind::Exchange, Kind::Fence];

/// The changes of exchanges: the new memory order, and whether the old value is used.
const RMWS: [(Order, bool); 6] = [
    (Order::AcqRel, true),
    (Order::Acquire, true),
    (Order::Release, true),
    (Order::AcqRel, false),
    (Order::Acquire, false),
    (Order::Release, false),
];

/// Whether one of the claims covers remote operations.
fn has_remote(claims: &[Claim]) -> bool {
    claims.iter().any(|claim| claim.sharing() == Sharing::Remote)
}

/// Whether scopes are only hints under these claims. If so, an operation orders data even if its
/// scope includes no other thread.
pub(crate) fn scopes_are_hints(claims: &[Claim]) -> bool {
    claims.iter().any(|claim| claim.sharing() == Sharing::Unscoped)
}

/// The changes of device scope to wider scopes or remote operations that these claims allow.
pub(crate) fn scope_changes(claims: &[Claim]) -> impl Iterator<Item = ScopeChange> + use<> {
    let has_remote = has_remote(claims);
    let scope_changes = [
        ScopeChange::Device,
        ScopeChange::System,
        ScopeChange::Host(0),
        ScopeChange::Host(1),
        ScopeChange::Remote,
    ];
    scope_changes.into_iter().filter(move |wide| has_remote || *wide != ScopeChange::Remote)
}

/// The bound on the sizes of generated programs, for programs with this change of scopes. If the
/// change places one of the two threads on the host, the bound allows one compute unit only,
/// because only the other thread needs a compute unit.
pub(crate) fn placed(wide: ScopeChange, bound: Bound) -> Bound {
    match wide {
        ScopeChange::Host(_) => Bound { compute_units_max: 1, ..bound },
        _ => bound,
    }
}

/// The families (sets of programs of one shape) with up to this many operations in a program.
fn families(claims: &[Claim], operations_max: usize) -> Vec<Family> {
    let pair = |operations: usize, each: usize, orderings: &[Ordering]| Bound {
        operations_of_thread_max: each,
        words_of_line_max: 2,
        compute_units_max: 2,
        orderings: orderings.to_vec(),
        ..Bound::new(2, operations.min(operations_max), 2)
    };
    let smallest = |orderings: &[Ordering], single_thread_scopes| Bound {
        kinds: ALL.to_vec(),
        single_thread_scopes,
        ..pair(4, 2, orderings)
    };
    let accesses = |bound: Bound| Bound { kinds: ALL[..7].to_vec(), ..bound };
    use Ordering::{AcquireRelease, Relaxed, SeqCst};
    let family = |letter, bound, one_in| Family {
        letter,
        bound,
        taken_whole: 0,
        one_in,
        every_neighbour: false,
        whole_one_in: 1,
        transform: Transform::NONE,
    };
    let mut all = vec![
        Family {
            taken_whole: 3,
            every_neighbour: true,
            ..family('A', smallest(&[AcquireRelease], true), 17)
        },
        family('S', smallest(&[SeqCst], false), 17),
        family('R', smallest(&[Relaxed], false), 17),
    ];
    for (letter, wide) in
        [('Y', ScopeChange::System), ('H', ScopeChange::Host(0)), ('H', ScopeChange::Host(1))]
    {
        let transform = Transform { wide, ..Transform::NONE };
        let bound = placed(wide, smallest(&[AcquireRelease], false));
        all.push(Family { transform, ..family(letter, bound, 61) });
    }
    let single_thread_scopes = scopes_are_hints(claims);
    for wide in scope_changes(claims) {
        for rmw in RMWS {
            let bound =
                Bound { kinds: EXCHANGING.to_vec(), single_thread_scopes, ..pair(4, 2, &[AcquireRelease]) };
            let transform = Transform { wide, rmw: Some(rmw), ..Transform::NONE };
            all.push(Family { transform, ..family('V', placed(wide, bound), 61) });
        }
    }
    for wide in scope_changes(claims).filter(|wide| !matches!(wide, ScopeChange::Host(_))) {
        let alone = |locations, orderings: &[Ordering]| Bound {
            threads_min: 1,
            threads_max: 1,
            kinds: ALONE.to_vec(),
            single_thread_scopes: true,
            words_of_line_max: 2,
            compute_units_max: 1,
            orderings: orderings.to_vec(),
            ..Bound::new(1, 3.min(operations_max), locations)
        };
        let transform = Transform { wide, ..Transform::NONE };
        all.push(Family {
            transform,
            taken_whole: 2,
            ..family('O', alone(2, &[AcquireRelease, Relaxed]), 17)
        });
        for rmw in RMWS {
            let transform = Transform { wide, rmw: Some(rmw), ..Transform::NONE };
            let bound = Bound { kinds: EXCHANGING_ALONE.to_vec(), ..alone(2, &[AcquireRelease]) };
            all.push(Family { transform, taken_whole: 2, ..family('O', bound, 17) });
        }
    }
    if has_remote(claims) {
        let bound = Bound { single_thread_scopes: true, ..accesses(pair(4, 2, &[AcquireRelease, SeqCst])) };
        let transform = Transform { wide: ScopeChange::Remote, ..Transform::NONE };
        // Most programs of this family are synchronized.
        all.push(Family { transform, whole_one_in: 7, ..family('P', bound, 61) });
    }
    if operations_max > 4 {
        all.push(family('T', accesses(pair(6, 3, &[AcquireRelease])), 509));
    }
    if operations_max > 5 {
        let threes =
            Bound { threads_min: 3, threads_max: 3, words_of_line_max: 1, ..pair(6, 2, &[AcquireRelease]) };
        all.push(family('U', accesses(Bound { levels: Bound::new(3, 0, 2).levels, ..threes }), 2039));
    }
    all
}

/// Whether the program is a twin: the family also has a program that differs only in scopes, or in
/// work-items that share a work-group. A twin need not be explored if the protocol's plans (the
/// steps of operations) do not depend on scopes within the device.
pub(crate) fn is_twin(skeleton: &ProgramSkeleton, wide: ScopeChange) -> bool {
    // If device scope is changed to system scope, a program with work-group scope is no twin,
    // because work-group scope then stands for all narrower scopes.
    let mut ops = skeleton.threads.iter().flatten().filter(|_| wide != ScopeChange::System);
    let Some(groups) = skeleton.tree.first() else { return false };
    let shares = (1..groups.len()).any(|t| groups[..t].contains(&groups[t]));
    let meets = skeleton.threads.iter().flatten().any(|op| op.kind == Kind::Barrier);
    ops.any(|op| op.kind.synchronizes() && op.level == 0) || shares && !meets
}

/// The race-free models (such as DRF) that the claims name. If the definition of a model leaves a
/// point open, the reading says how it is decided. A program is checked for races under these
/// models before its claims are checked. If no claim has such a model, the result is DRF. DRF ignores
/// scopes, so a program that races under DRF races under every model, whatever its scopes are.
pub(crate) fn readings(claims: &[Claim]) -> Vec<Reading> {
    let mut readings: Vec<Reading> = claims.iter().filter_map(Claim::reading).collect();
    if readings.is_empty() {
        readings.push(Reading::of(hrf::Model::Drf));
    }
    readings
}

/// Whether the program is race-free, with a data conflict that synchronization orders.
pub(crate) fn is_synchronized(generated: &Generated, readings: &[Reading]) -> bool {
    readings.iter().any(|&reading| {
        let verdict = generate::verdict_if_synchronized(generated, &Options::new(reading));
        verdict.is_ok_and(|verdict| verdict.is_some())
    })
}

/// The number of groups of tests of one family: one of the unchanged programs, three with a
/// neighbour (an additional thread; one group for each element of [`NEIGHBOURS`]), and four with
/// fences (see [`with_fences`]).
const GROUPS: usize = 8;

/// The operations of each kind of neighbour. A neighbour is a thread that is added to a program.
const NEIGHBOURS: [&[Kind]; 3] = [&[Kind::Load], &[Kind::Store], &[Kind::Load, Kind::Store]];

/// The tests of the program with one more thread, called a neighbour. The neighbour runs on a
/// compute unit in use, and loads and stores its own words in a line in use. Therefore the line is
/// filled, evicted and written while the program runs.
fn with_neighbours(
    generated: &Generated,
    transform: Transform,
    name: &str,
    kinds: &[&[Kind]],
    group: usize,
) -> Vec<Test> {
    let skeleton = &generated.skeleton;
    let threads = skeleton.threads.len();
    let has_host = matches!(transform.wide, ScopeChange::Host(_));
    let units: BTreeSet<u8> = skeleton.compute_units.iter().copied().collect();
    if threads > 1 && units.len() == 1 && !has_host {
        return Vec::new();
    }
    let lines: BTreeSet<u8> = skeleton.lines.iter().copied().collect();
    let places = units.iter().flat_map(|unit| lines.iter().map(move |line| (*unit, *line)));
    let mut all = Vec::new();
    let mut seen = BTreeSet::new();
    for ((unit, line), (at, kinds)) in
        places.flat_map(|place| kinds.iter().enumerate().map(move |k| (place, k)))
    {
        let mut more = skeleton.clone();
        let first = skeleton.locations() as u8;
        let op = |(kind, location): (&Kind, u8)| Op {
            kind: *kind,
            location,
            level: 0,
            value: 1,
            ordering: Ordering::Relaxed,
        };
        more.threads.push(kinds.iter().zip(first..).map(op).collect());
        more.lines.extend(kinds.iter().map(|_| line));
        for instances in &mut more.tree {
            let next = instances.iter().max().map_or(0, |last| last + 1);
            instances.push(next);
        }
        if let Some(device) = more.levels.iter().position(|&level| level == Level::Device) {
            more.tree[device][threads] = 0;
        }
        more.compute_units.push(unit);
        if transform.is_symmetric() && !seen.insert(generate::signature(&more)) {
            continue;
        }
        let name = format!("{name}+{}", all.len() + 1);
        let neighboured = more.build(&name);
        all.push(Test::from_generated(name, neighboured, transform, Machines::InTurn, group + at));
    }
    all
}

/// The tests of the program with fences around relaxed operations, in place of acquires and
/// releases, in one or more of its threads. Either every fence both acquires and releases, or each
/// fence does only what the accesses next to it need. If all threads have fences and one thread
/// waits for a value, the result includes the program with a neighbour thread as well.
fn with_fences(generated: &Generated, transform: Transform, name: &str, group: usize) -> Vec<Test> {
    if transform.rmw.is_some() {
        return Vec::new();
    }
    let mut all = Vec::new();
    let mut seen = BTreeSet::new();
    for which in 1..1usize << generated.skeleton.threads.len() {
        let mut skeleton = generated.skeleton.clone();
        for (_, ops) in skeleton.threads.iter_mut().enumerate().filter(|(t, _)| which >> t & 1 == 1) {
            *ops = fenced(ops);
        }
        if skeleton == generated.skeleton
            || transform.is_symmetric() && !seen.insert(generate::signature(&skeleton))
        {
            continue;
        }
        let has_all = which + 1 == 1 << skeleton.threads.len();
        let waits = skeleton.threads.iter().flatten().any(|op| op.kind == Kind::Await);
        for single in [false, true] {
            let (transform, group) = (Transform { single, ..transform }, group + 2 * usize::from(single));
            let name = format!("{name}~{}", all.len() + 1);
            let program = skeleton.clone().build(&name);
            if waits && has_all {
                all.extend(with_neighbours(&program, transform, &name, &NEIGHBOURS[..1], group + 1));
            }
            all.push(Test::from_generated(name, program, transform, Machines::InTurn, group));
        }
    }
    all
}

/// The operations of a thread with fences. A relaxed access replaces each synchronizing access,
/// with a fence before the access if it writes, and a fence after the access if it reads.
fn fenced(ops: &[Op]) -> Vec<Op> {
    let fenced = |op: &Op| {
        let fence = Op { kind: Kind::Fence, location: 0, value: 0, ..*op };
        let relaxed = Op { ordering: Ordering::Relaxed, ..*op };
        match (op.kind.accesses() && op.kind.synchronizes(), op.kind.writes(), op.kind.reads()) {
            (false, ..) => vec![*op],
            (true, true, false) => vec![fence, relaxed],
            (true, false, _) => vec![relaxed, fence],
            (true, true, true) => vec![fence, relaxed, fence],
        }
    };
    ops.iter().flat_map(fenced).collect()
}

/// Whether the protocol's plans (the steps of operations) depend on scopes within the device. If
/// not, programs that differ only in these scopes are equivalent.
#[must_use]
pub fn scopes_matter(subject: &Subject) -> bool {
    let of_view = |view: &PlansView| {
        let steps_of = |key: PlanKey| view.plans.iter().find(|(k, _)| *k == key).map(|(_, steps)| steps);
        view.plans.iter().any(|(key, steps)| {
            key.level == Level::WorkGroup && steps_of(PlanKey { level: Level::Device, ..*key }) != Some(steps)
        })
    };
    (subject.plans)().iter().any(of_view)
}

/// The message programs (one thread releases, another acquires) for these claims.
#[must_use]
pub fn messages(claims: &[Claim]) -> Vec<Test> {
    message::all(has_remote(claims), scopes_are_hints(claims))
}

/// The message programs (one thread releases, another acquires) for these claims. Each batch has
/// the programs with the same scopes and the same third thread.
pub(crate) fn messages_in_batches(claims: &[Claim]) -> Box<dyn Iterator<Item = Batch> + Send> {
    let groups = message::groups(has_remote(claims), scopes_are_hints(claims));
    let batch = |group: message::Group| Batch {
        drawn: 0,
        choose: Box::new(move |_| {
            let chosen = Chosen { tests: group.tests(), sampled: 0 };
            Box::new(move || chosen)
        }),
    };
    Box::new(groups.map(batch))
}

/// The maximum number of programs in a batch.
const BATCH: usize = 256; // The test `claims/batches.rs` has the same number.

/// The generated programs with up to `operations_max` operations for these claims. With `symmetry`,
/// one program stands for all programs that differ only in the names of threads, words, lines,
/// compute units and work-groups.
pub fn generated(
    claims: &[Claim],
    scopes_matter: bool,
    operations_max: usize,
    symmetry: bool,
    jobs: usize,
    stop: &(dyn Fn() -> bool + Sync),
) -> Vec<Test> {
    let programs = Programs::default().and_generated(claims, scopes_matter, operations_max, symmetry);
    programs.make_all(jobs, stop).0
}

/// The criteria for the choice of the generated programs that are explored.
struct Choice {
    readings: Vec<Reading>,
    /// Whether the model of at least one claim is written in the language cat. Such a model depends
    /// on the memory order of fences.
    has_clauses: bool,
    scopes_matter: bool,
}

/// The families (sets of programs of one shape), each as a sequence of batches of programs.
pub(crate) fn in_batches(
    claims: &[Claim],
    scopes_matter: bool,
    operations_max: usize,
    symmetry: bool,
) -> Vec<Box<dyn Iterator<Item = Batch> + Send>> {
    let has_clauses = claims.iter().any(|claim| claim.reading().is_none());
    let choice = Arc::new(Choice { readings: readings(claims), has_clauses, scopes_matter });
    let families = families(claims, operations_max).into_iter().enumerate();
    let in_batches = families.map(|(index, mut family)| {
        family.bound.symmetry = symmetry;
        let (choice, family) = (Arc::clone(&choice), Arc::new(family));
        let of = Arc::clone(&family);
        // Nothing is enumerated before the first program is requested.
        let programs = core::iter::once_with(move || generate::programs(&of.bound)).flatten();
        let mut programs = programs.enumerate();
        let next = move || {
            let drawn: Vec<(usize, Generated)> = programs.by_ref().take(BATCH).collect();
            let (choice, family) = (Arc::clone(&choice), Arc::clone(&family));
            (!drawn.is_empty()).then(|| Batch {
                drawn: drawn.len(),
                choose: Box::new(move |stop| {
                    let chosen = choice.choose(index, &family, drawn, stop);
                    Box::new(move || chosen)
                }),
            })
        };
        Box::new(core::iter::from_fn(next)) as Box<dyn Iterator<Item = Batch> + Send>
    });
    in_batches.collect()
}

impl Choice {
    /// Chooses the synchronized programs of a batch (race-free with a data conflict that
    /// synchronization orders), and some of the other programs. Returns the tests of the chosen
    /// programs.
    fn choose(
        &self,
        index: usize,
        family: &Family,
        drawn: Vec<(usize, Generated)>,
        stop: Stop<'_>,
    ) -> Chosen {
        let mut chosen = Chosen::default();
        for (number, generated) in drawn {
            if stop() {
                break;
            }
            self.add(index, family, number, generated, &mut chosen.tests);
        }
        chosen
    }

    /// Adds the tests of a program, also in variants with an additional thread or with fences, if
    /// the program is chosen.
    fn add(
        &self,
        index: usize,
        family: &Family,
        number: usize,
        mut generated: Generated,
        tests: &mut Vec<Test>,
    ) {
        let transform = family.transform;
        if !transform.apply(&mut generated.program)
            || !self.scopes_matter && is_twin(&generated.skeleton, transform.wide)
        {
            return;
        }
        let is_synchronized = is_synchronized(&generated, &self.readings);
        let is_taken_whole = generated.operations() <= family.taken_whole;
        if !is_synchronized && !is_taken_whole && !number.is_multiple_of(family.one_in) {
            return;
        }
        let name = format!("{}{}-{index}.{number}", family.letter, generated.operations());
        let is_whole =
            is_synchronized && generated.operations() <= 4 && number.is_multiple_of(family.whole_one_in);
        let machines = if is_whole { Machines::All } else { Machines::InTurn };
        let group = 1 + GROUPS * index;
        // If scopes do not matter or no claim has fences, there are fewer programs, and those of these
        // families have few states.
        let is_cheap = (!self.scopes_matter || !self.has_clauses) && matches!(family.letter, 'S' | 'H');
        // There are many programs of one thread, so each gets only one kind of neighbour.
        let neighbours = match (generated.skeleton.threads.len(), is_whole) {
            (1, _) => 0..1,
            (_, true) if family.every_neighbour || is_cheap => 0..NEIGHBOURS.len(),
            (_, true) => number % NEIGHBOURS.len()..number % NEIGHBOURS.len() + 1,
            (_, false) => 0..0,
        };
        let first = group + 1 + neighbours.start;
        tests.extend(with_neighbours(&generated, transform, &name, &NEIGHBOURS[neighbours], first));
        if is_whole && self.has_clauses {
            tests.extend(with_fences(&generated, transform, &name, group + 4));
        }
        tests.push(Test::from_generated(name, generated, transform, machines, group));
    }
}
