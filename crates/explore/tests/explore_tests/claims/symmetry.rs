//! One generated program stands for all programs that differ from it only in names. Under any names
//! of threads, words, lines, compute units and work-groups, these programs have the same number of
//! states, the same outcomes up to names, and the same verdict.

use explore::claim::Claim;
use explore::{Bounds, Explorer, Fault, Limits, Placement, Requirements, Subject};
use litmus::generate::{Bound, Generated, Kind, Op, ProgramSkeleton, programs};
use litmus::program::{Term, Value};
use proto::{Agent, Change, Plans, Protocol, SeededFault, Symbol, WritePolicy};
use std::collections::{BTreeMap, BTreeSet};
use zoo::vi::{L1Plans, Step, Vi};

/// The number that stands for memory in place of a thread.
const MEMORY: usize = usize::MAX;

/// A renaming of the threads, locations and values of a skeleton (a generated program without
/// names).
struct Renaming {
    /// The new place of each thread.
    threads: Vec<usize>,
    locations: Vec<u8>,
    /// For each old location, the new value of each old value. The value of each write is its
    /// number among the writes to the location.
    values: Vec<Vec<u8>>,
}

/// The blocks (such as lines or compute units) with new numbers, which count in the order of first
/// use.
fn as_they_come(blocks: &[u8]) -> Vec<u8> {
    let mut seen: Vec<u8> = Vec::new();
    let number = |block: &u8| {
        let at = seen.iter().position(|b| b == block).unwrap_or_else(|| {
            seen.push(*block);
            seen.len() - 1
        });
        at as u8
    };
    blocks.iter().map(number).collect()
}

/// The elements of a list in the order of their new places.
fn moved<T: Clone>(things: &[T], places: impl Fn(usize) -> usize) -> Vec<T> {
    let mut order: Vec<usize> = (0..things.len()).collect();
    order.sort_by_key(|&old| places(old));
    order.into_iter().map(|old| things[old].clone()).collect()
}

/// The writes to a location, in the order in which a generated program counts their values. Each
/// write is given by its thread and its position in the thread.
fn writes(threads: &[Vec<Op>], location: u8) -> Vec<(usize, usize)> {
    let ops = threads
        .iter()
        .enumerate()
        .flat_map(|(t, ops)| ops.iter().enumerate().map(move |(at, op)| (t, at, op)).collect::<Vec<_>>());
    ops.filter(|(.., op)| op.kind.writes() && op.location == location).map(|(t, at, _)| (t, at)).collect()
}

impl Renaming {
    fn new(skeleton: &ProgramSkeleton, threads: &[usize], locations: &[u8]) -> Renaming {
        let values = (0..skeleton.locations() as u8).map(|location| {
            let old = writes(&skeleton.threads, location);
            let mut new: Vec<(usize, usize)> = old.iter().map(|&(t, at)| (threads[t], at)).collect();
            new.sort_unstable();
            let place = |&(t, at): &(usize, usize)| new.iter().position(|&w| w == (threads[t], at));
            let numbers = old.iter().filter_map(place).map(|place| place as u8 + 1);
            [0].into_iter().chain(numbers).collect()
        });
        Renaming { threads: threads.to_vec(), locations: locations.to_vec(), values: values.collect() }
    }

    fn skeleton(&self, skeleton: &ProgramSkeleton) -> ProgramSkeleton {
        let thread = |t: usize| self.threads[t];
        let op = |op: &Op| match op.kind.accesses() {
            true => Op {
                location: self.locations[usize::from(op.location)],
                value: self.values[usize::from(op.location)][usize::from(op.value)],
                ..*op
            },
            false => *op,
        };
        let threads: Vec<Vec<Op>> = skeleton.threads.iter().map(|ops| ops.iter().map(op).collect()).collect();
        ProgramSkeleton {
            threads: moved(&threads, thread),
            levels: skeleton.levels.clone(),
            tree: skeleton.tree.iter().map(|row| as_they_come(&moved(row, thread))).collect(),
            lines: as_they_come(&moved(&skeleton.lines, |l| usize::from(self.locations[l]))),
            compute_units: as_they_come(&moved(&skeleton.compute_units, thread)),
        }
    }

    /// An outcome after the renaming, with the new names of its terms (registers and locations) and
    /// their new values.
    fn outcome(&self, generated: &Generated, outcome: &[Value]) -> BTreeMap<(usize, u8), Value> {
        let value = |location: u8, value: Value| {
            let known = usize::try_from(value).ok().and_then(|v| self.values[usize::from(location)].get(v));
            known.map_or(Value::MAX, |&v| v.into())
        };
        let reads = |t: usize| {
            generated.skeleton.threads[t].iter().filter(|op| op.kind.reads() && op.kind != Kind::Await)
        };
        let named = generated.program.observed.iter().zip(outcome).map(|(term, &old)| match *term {
            Term::Reg(thread, reg) => {
                let t = usize::from(thread.0);
                let read = reads(t).nth(usize::from(reg.0)).expect("a register for each read");
                ((self.threads[t], reg.0 as u8), value(read.location, old))
            }
            Term::Loc(loc) => ((MEMORY, self.locations[usize::from(loc.0)]), value(loc.0 as u8, old)),
            Term::Const(_) => panic!("no constant is observed"),
        });
        named.collect()
    }
}

/// The first skeleton (generated program without names) in order among all that differ from this
/// one only in names, and the renamings that lead to it.
fn first(skeleton: &ProgramSkeleton) -> (ProgramSkeleton, Vec<Renaming>) {
    let locations: &[&[u8]] = if skeleton.locations() == 2 { &[&[0, 1], &[1, 0]] } else { &[&[0]] };
    let mut all: Vec<(ProgramSkeleton, Renaming)> = Vec::new();
    for threads in [[0, 1], [1, 0]] {
        for locations in locations {
            let renaming = Renaming::new(skeleton, &threads, locations);
            all.push((renaming.skeleton(skeleton), renaming));
        }
    }
    let first = all.iter().map(|(image, _)| image).min().expect("its own image").clone();
    let renamings = all.into_iter().filter(|(image, _)| *image == first).map(|(_, renaming)| renaming);
    (first.clone(), renamings.collect())
}

fn bound(symmetry: bool) -> Bound {
    use Kind::{Await, ConditionalLoad, Exchange, Load, Store, SyncLoad, SyncStore};
    Bound {
        kinds: vec![Load, Store, SyncLoad, SyncStore, Await, ConditionalLoad, Exchange],
        words_of_line_max: 2,
        compute_units_max: 2,
        symmetry,
        ..Bound::new(2, 3, 2)
    }
}

/// The results of a search that do not depend on names.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    states: u64,
    outcomes: BTreeSet<BTreeMap<(usize, u8), Value>>,
    race_free: bool,
    /// The kind of the fault, if any, and the number of moves to it.
    verdict: Option<(Fault, usize)>,
}

/// The fraction of programs that is compared, under all of their names: one in this number.
const ONE_IN: usize = 3;

/// Explores some of the programs under all of their names. Returns the numbers of programs, of
/// names, and of failures.
fn names_do_not_matter<P: Protocol>(model: &str, seeded_fault: Option<SeededFault>) -> (usize, usize, usize) {
    let chosen: Vec<ProgramSkeleton> =
        programs(&bound(true)).step_by(ONE_IN).map(|generated| first(&generated.skeleton).0).collect();
    let chosen: BTreeSet<ProgramSkeleton> = chosen.into_iter().collect();
    let claim = Claim::of(model).expect("a known model");
    let bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);
    let mut explorers =
        [bounds.evicting(), bounds.tight()].map(|b| Explorer::new(&Subject::of::<P>(), b, seeded_fault));
    let mut seen: BTreeMap<ProgramSkeleton, Vec<Seen>> = BTreeMap::new();
    let mut names = 0;
    for generated in programs(&bound(false)) {
        let (first, renamings) = first(&generated.skeleton);
        if !chosen.contains(&first) {
            continue;
        }
        names += 1;
        let agents = generated.compute_units.iter().map(|&cu| Agent::Cu(u16::from(cu)));
        let placement = Placement::new(agents.collect(), generated.lines.clone());
        let promise = claim.promise(&generated.program, &mut || false).expect("the model covers it");
        let requirements = Requirements { allowed: None, may_block: promise.may_block };
        let of = explorers.iter_mut().map(|explorer| {
            let mut explore = |requirements: &Requirements<'_>| {
                let found =
                    explorer.explore(&generated.program, &placement, requirements, &mut Limits::default());
                found.expect("a supported program")
            };
            let all = explore(&requirements);
            let judged = explore(&Requirements { allowed: promise.allowed.as_ref(), ..requirements });
            // If a program races, two caches may hold a word at the end. They are flushed in
            // the order of their numbers, which depends on names.
            let named = |outcome: &Vec<Value>| {
                let mut named = renamings[0].outcome(&generated, outcome);
                named.retain(|&(thread, _), _| promise.race_free || thread != MEMORY);
                named
            };
            // A search that a fault ends has found outcomes in an order that depends on names.
            let is_whole = all.violation.is_none();
            Seen {
                states: all.states,
                outcomes: all.outcomes.iter().filter(|_| is_whole).map(named).collect(),
                race_free: promise.race_free,
                verdict: judged.violation.map(|v| (v.fault, v.moves.len())),
            }
        });
        let of: Vec<Seen> = of.collect();
        // A renaming that maps a program to itself maps its outcomes to themselves, so any of
        // the renamings can be used.
        assert_eq!(seen.entry(first).or_insert_with(|| of.clone()), &of, "{}", generated.to_text());
    }
    assert_eq!(seen.len(), chosen.len(), "each program by some name");
    let failing = seen.values().flatten().filter(|seen| seen.verdict.is_some()).count();
    (seen.len(), names, failing)
}

#[test]
fn names_do_not_matter_on_vi() {
    let (programs, names, failing) = names_do_not_matter::<Vi>("hrf-indirect", None);
    assert!(programs > 50 && names > 3 * programs, "{programs} {names}");
    assert_eq!(failing, 0);
}

#[test]
fn names_do_not_matter_on_vi_that_never_flushes() {
    let change = Change::DropStep { step: Step::Flush.index() as u8 };
    let seeded_fault = SeededFault { table: L1Plans::ID, change };
    let (.., failing) = names_do_not_matter::<Vi>("hrf-indirect", Some(seeded_fault));
    assert!(failing > 3, "{failing}");
}

#[test]
fn names_do_not_matter_on_hlrc_which_is_refuted() {
    let (.., failing) = names_do_not_matter::<zoo::hlrc::Hlrc>("drf", None);
    assert!(failing > 0, "{failing}");
}

#[test]
fn one_program_stands_for_all_that_differ_only_in_names() {
    let reduced: Vec<ProgramSkeleton> =
        programs(&bound(true)).map(|generated| first(&generated.skeleton).0).collect();
    let all: BTreeSet<ProgramSkeleton> =
        programs(&bound(false)).map(|generated| first(&generated.skeleton).0).collect();
    assert_eq!(reduced.len(), all.len());
    assert_eq!(reduced.into_iter().collect::<BTreeSet<_>>(), all);
}
