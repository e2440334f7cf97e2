//! Walks (small programs with expected outcomes) of protocols that register the lines of atomics.
//! Scopes are hints, so every program runs as written and also with work-group scope everywhere.

mod crossing;
pub(crate) mod kinds;
mod moving;

use crate::walks::programs::{self, Expected};
use crate::walks::walker::{Do, Outcome, Program, Sync, walk_at_most};
use explore::Bounds;
use proto::Level::{Device, WorkGroup};
use proto::Order::{AcqRel, Acquire, Relaxed, Release};
use proto::{Protocol, WritePolicy};
use std::collections::BTreeSet;
use zoo::hlrc::{Hlrc, HlrcRepaired};

/// The same program, with work-group scope in place of device scope.
fn narrowed(program: &Program) -> Program {
    let mut narrowed = program.clone();
    for op in narrowed.threads.iter_mut().flat_map(|t| &mut t.ops) {
        let sync: &mut Sync = match op {
            Do::Store(_, _, s)
            | Do::Load(_, s)
            | Do::Await(_, _, s)
            | Do::Until(_, _, s, _)
            | Do::Add(_, _, s)
            | Do::Update(_, _, s)
            | Do::Take(_, s)
            | Do::Fence(s) => s,
            Do::Remote(_) => continue,
        };
        if sync.1 == Device {
            sync.1 = WorkGroup;
        }
    }
    narrowed
}

fn machines(program: &Program) -> Vec<Bounds> {
    use WritePolicy::{Combining, Through, ThroughInvalidate};
    let loops = program.threads.iter().flat_map(|t| &t.ops).any(|op| matches!(op, Do::Until(..)));
    let is_small = program.threads.len() < 3 && !loops;
    let mut machines = vec![
        Bounds::new(Combining, Combining).tight(),
        Bounds::new(Through, ThroughInvalidate).tight(),
        Bounds::new(Through, ThroughInvalidate),
    ];
    if is_small {
        machines.push(Bounds::new(Combining, Combining).evicting());
        machines.push(Bounds::new(Through, Through).evicting());
        machines.push(Bounds::new(ThroughInvalidate, ThroughInvalidate).evicting());
    }
    machines
}

/// The maximum number of states of a program, over all machines. Larger bounds are left to a model
/// checker.
const STATES_MAX: usize = 200_000;

/// All outcomes of a program, on the machines that fit the limit of states.
fn outcomes<P: Protocol>(program: &Program) -> Result<BTreeSet<Outcome>, String> {
    let mut all = BTreeSet::new();
    let mut left = STATES_MAX;
    for bounds in machines(program) {
        let found = walk_at_most::<P>(program, bounds, None, left);
        let is_whole = found.states <= left;
        left = left.saturating_sub(found.states);
        if !is_whole {
            continue;
        }
        if let Some(why) = found.violation {
            return Err(format!("{}, {}: {why} on {bounds:?}", P::INFO.name, program.name));
        }
        all.extend(found.outcomes);
    }
    if all.is_empty() {
        return Err(format!("{}, {}: too large for every machine", P::INFO.name, program.name));
    }
    Ok(all)
}

/// The names of the programs with unexpected outcomes on a protocol.
pub(crate) fn wrong<P: Protocol>(programs: &[Expected], narrow: bool) -> Vec<String> {
    let mut wrong = Vec::new();
    for expected in programs {
        let program = if narrow { narrowed(&expected.program) } else { expected.program.clone() };
        match outcomes::<P>(&program) {
            Err(why) => wrong.push(why),
            Ok(all) if !all.is_subset(&expected.outcomes) => {
                let more: Vec<_> = all.difference(&expected.outcomes).collect();
                wrong.push(format!("{}: {more:?}", program.name));
            }
            Ok(_) => {}
        }
    }
    wrong
}

const WG: Sync = (Relaxed, WorkGroup);
const SYNC: Sync = (AcqRel, WorkGroup);
const ACQUIRE: Sync = (Acquire, WorkGroup);
const RELEASE: Sync = (Release, WorkGroup);

/// All programs on registration in which no word is both data and an atomic.
pub(crate) fn all() -> Vec<Expected> {
    let parts = [
        moving::moving(),
        moving::beside(),
        kinds::relaxed(),
        kinds::hinted(),
        kinds::boundaries(),
        crossing::crossing(),
    ];
    parts.into_iter().flatten().collect()
}

macro_rules! only_expected_outcomes {
    ($($name:ident: $protocol:ty, $programs:expr, $narrow:literal;)+) => {
        $(
            #[test]
            fn $name() {
                let wrong = wrong::<$protocol>(&$programs, $narrow);
                assert!(wrong.is_empty(), "{wrong:#?}");
            }
        )+
    };
}

/// The name of the programs that fail in published hLRC, because a registered word is also data.
const REFUTED: &str = "a_word_is_atomic_and_data";

fn separate() -> Vec<Expected> {
    programs::all().into_iter().filter(|e| e.program.name != REFUTED).collect()
}

only_expected_outcomes! {
    registration_keeps_its_promises_in_hlrc: Hlrc, all(), false;
    registration_keeps_its_promises_in_hlrc_repaired: HlrcRepaired, all(), false;
    words_may_be_atomics_and_data_in_hlrc_repaired: HlrcRepaired, kinds::mixed(), false;
    programs_with_scopes_keep_their_promises_in_hlrc: Hlrc, programs::all(), false;
    programs_with_scopes_keep_their_promises_in_hlrc_repaired: HlrcRepaired, programs::all(), false;
    programs_without_scopes_keep_their_promises_in_hlrc: Hlrc, separate(), true;
    programs_without_scopes_keep_their_promises_in_hlrc_repaired: HlrcRepaired, programs::all(), true;
}

/// Checks that published hLRC has wrong outcomes for programs with a word that is both atomic and
/// data. The first of these programs has only one thread, so reordering cannot be the reason of its
/// failure.
#[test]
fn published_hlrc_fails_for_words_that_are_atomics_and_data() {
    let mixed = kinds::mixed();
    let found = outcomes::<Hlrc>(&mixed[0].program).unwrap();
    assert!(found.contains(&vec![vec![0, 0], vec![1]]), "the load at the L2 does not see the addition");
    let wrong = wrong::<Hlrc>(&mixed, false);
    assert!(wrong.len() > 2, "{wrong:#?}");
    let refuted = programs::expected(REFUTED);
    assert!(!outcomes::<Hlrc>(&narrowed(&refuted.program)).unwrap().is_subset(&refuted.outcomes));
}
