//! Small programs on bounded machines, explored under every order of issue, delivery, memory,
//! timers and evictions. Each program has its expected outcomes.

mod denovo;
mod mishaps;
mod programs;
mod registered;
mod remote;
mod targeted;
pub(crate) mod walker;

use explore::{Bounds, Explorer, Subject};
use programs::{PLAIN, POLICIES, X, Y, Z, expected, on, program};
use proto::Level::{Device, System, WorkGroup};
use proto::Order::{AcqRel, Relaxed, SeqCst};
use proto::WritePolicy;
use std::collections::BTreeSet;
use walker::{Do, Outcome, Program, Thread, walk, walk_at_most};
use zoo::{no_l1::NoL1, vi::Vi};

/// The maximum number of states of a search in [`outcomes`]. Searches with more states are left out.
/// The other searches must show all expected outcomes.
const STATES_MAX: usize = 400_000;

/// The outcomes of a program under every pair of write policies, on a machine with only one of each
/// cache resource and, for some of the pairs, on a larger machine. If the program is small and both
/// policies are the same, the larger machine may evict lines at any time.
fn outcomes<P: proto::Protocol>(program: &Program) -> BTreeSet<Outcome> {
    let has_l1 = P::tables().len() > 1;
    let loops = program.threads.iter().flat_map(|t| &t.ops).any(|op| matches!(op, Do::Until(..)));
    let is_small = program.threads.len() < 3 && !loops;
    let (mut all, mut completed) = (BTreeSet::new(), 0);
    for l1 in POLICIES {
        for l2 in POLICIES {
            let bounds = Bounds::new(l1, l2);
            let machines = match (l1 == l2, is_small) {
                (true, true) => vec![bounds.evicting(), bounds.tight()],
                (true, false) => vec![bounds, bounds.tight()],
                // Without an L1, the L1's policy has no effect.
                (false, _) if !has_l1 => vec![],
                (false, true) => vec![bounds, bounds.tight()],
                (false, false) => vec![bounds.tight()],
            };
            for bounds in machines {
                let found = walk_at_most::<P>(program, bounds, None, STATES_MAX);
                if found.states > STATES_MAX {
                    continue;
                }
                assert_eq!(found.violation, None, "{}, {}: {bounds:?}", P::INFO.name, program.name);
                assert!(!found.outcomes.is_empty());
                all.extend(found.outcomes);
                completed += 1;
            }
        }
    }
    assert!(completed > 1, "{}, {}: {completed} searches", P::INFO.name, program.name);
    all
}

fn both(threads: &[Thread]) -> BTreeSet<Outcome> {
    let program = program("program", threads, &[]);
    let mut all = outcomes::<NoL1>(&program);
    all.extend(outcomes::<Vi>(&program));
    all
}

fn only_expected_outcomes<P: proto::Protocol>() {
    for expected in programs::all() {
        assert_eq!(outcomes::<P>(&expected.program), expected.outcomes, "{}", expected.program.name);
    }
}

#[test]
fn vi_shows_the_expected_outcomes_and_no_other() {
    only_expected_outcomes::<Vi>();
}

#[test]
fn no_l1_shows_the_expected_outcomes_and_no_other() {
    only_expected_outcomes::<NoL1>();
}

#[test]
fn a_trace_can_be_replayed_and_drawn() {
    use litmus::program::Program;
    let text = include_str!("../../../../../litmus/opencl/MP+wg-apart.litmus");
    let program: Program = litmus::parse::parse(text).expect("a sound test");
    let placement = explore::Placement::spread(&program);
    let combining = WritePolicy::Combining;
    let mut explorer =
        Explorer::new(&Subject::of::<Vi>(), Bounds::new(combining, combining).evicting(), None);
    let all = explorer
        .explore(&program, &placement, &explore::Requirements::default(), &mut explore::Limits::default())
        .expect("a supported program");
    // All values except those in the test's condition.
    let allowed: BTreeSet<_> = all.outcomes.iter().filter(|o| ***o != [1, 0]).cloned().collect();
    assert!(allowed.len() < all.outcomes.len(), "a scope that is too narrow shows stale data");
    let requirements = explore::Requirements { allowed: Some(&allowed), may_block: false };
    let found = explorer.explore(&program, &placement, &requirements, &mut explore::Limits::default());
    let violation = found.expect("a supported program").violation.expect("the stale read");
    assert_eq!(violation.fault, explore::Fault::Outcome);
    let replay = explorer.replay(&program, &placement, &violation.moves).expect("a supported program");
    assert!(matches!(replay.end, explore::End::Over(_)), "{:?}", replay.end);
    assert_eq!(replay.steps.len(), violation.moves.len());
    let chart = explore::chart::text(&replay, &violation.why);
    assert!(chart.contains("P1: load x reads 0"), "{chart}");
    assert!(explore::chart::svg(&replay, &violation.why).starts_with("<svg"), "a drawing");
}

#[test]
fn a_narrow_order_between_cus_shows_stale_data_on_vi() {
    let threads = [
        on(0, &[Do::Store(X, 1, PLAIN), Do::Store(Y, 1, (Relaxed, Device))]),
        on(1, &[Do::Load(Z, PLAIN), Do::Await(Y, 1, (Relaxed, Device)), Do::Load(X, PLAIN)]),
    ];
    let found = outcomes::<Vi>(&program("relaxed flag", &threads, &[]));
    assert!(found.contains(&vec![vec![], vec![0, 0]]));
}

#[test]
fn store_buffering_is_forbidden_among_seq_cst_accesses_of_one_scope_and_of_two() {
    for (a, b, cu) in [(Device, Device, 1), (WorkGroup, Device, 0), (WorkGroup, WorkGroup, 0)] {
        let threads = [
            on(0, &[Do::Store(X, 1, (SeqCst, a)), Do::Load(Y, (SeqCst, b))]),
            on(cu, &[Do::Store(Y, 1, (SeqCst, b)), Do::Load(X, (SeqCst, a))]),
        ];
        let all = both(&threads);
        assert!(!all.contains(&vec![vec![0], vec![0]]), "{a:?} {b:?}");
        assert!(all.len() == 3, "the other three are all seen: {all:?}");
    }
}

#[test]
fn store_buffering_is_forbidden_by_seq_cst_fences() {
    let thread = |cu, mine, other| {
        on(
            cu,
            &[
                Do::Store(mine, 1, (Relaxed, Device)),
                Do::Fence((SeqCst, Device)),
                Do::Load(other, (Relaxed, Device)),
            ],
        )
    };
    let all = both(&[thread(0, X, Y), thread(1, Y, X)]);
    assert!(!all.contains(&vec![vec![0], vec![0]]) && all.len() == 3, "{all:?}");
}

#[test]
fn atomic_additions_of_one_scope_are_never_lost() {
    for (level, cu) in [(WorkGroup, 0), (Device, 0), (Device, 1), (System, 1)] {
        let add = Do::Add(X, 1, (AcqRel, level));
        let all = both(&[on(0, &[add, add]), on(cu, &[add])]);
        let want: BTreeSet<Outcome> =
            [vec![vec![0, 1], vec![2]], vec![vec![0, 2], vec![1]], vec![vec![1, 2], vec![0]]].into();
        assert_eq!(all, want, "{level:?}");
    }
}

#[test]
fn work_group_atomics_on_different_cus_lose_updates_on_vi_and_not_without_an_l1() {
    let add = Do::Add(X, 1, (AcqRel, WorkGroup));
    let program = program("narrow additions", &[on(0, &[add]), on(1, &[add])], &[]);
    assert!(outcomes::<Vi>(&program).contains(&vec![vec![0], vec![0]]));
    let want: BTreeSet<Outcome> = [vec![vec![0], vec![1]], vec![vec![1], vec![0]]].into();
    assert_eq!(outcomes::<NoL1>(&program), want);
}

#[test]
fn a_thread_sees_its_own_writes_at_every_level() {
    let levels = [PLAIN, (Relaxed, WorkGroup), (Relaxed, Device), (Relaxed, System)];
    for first in levels {
        for second in levels {
            for write in [Do::Store(X, 7, first), Do::Update(X, 7, first), Do::Add(X, 7, first)] {
                let all = both(&[on(0, &[Do::Load(Z, PLAIN), write, Do::Load(X, second)])]);
                let regs = if matches!(write, Do::Add(..)) { vec![0, 0, 7] } else { vec![0, 7] };
                assert_eq!(all, [vec![regs]].into(), "{write:?} then a load {second:?}");
            }
        }
    }
}

#[test]
fn later_loads_of_a_word_never_see_older_values() {
    let device = (Relaxed, Device);
    for (second, third) in [(device, (Relaxed, WorkGroup)), ((Relaxed, System), device), (device, PLAIN)] {
        let all = both(&[
            on(0, &[Do::Store(X, 1, second)]),
            on(1, &[Do::Load(Z, PLAIN), Do::Load(X, second), Do::Load(X, third)]),
            on(1, &[Do::Load(Z, PLAIN)]),
        ]);
        assert!(all.iter().all(|o| o[1][1] <= o[1][2]), "{second:?} {third:?}: {all:?}");
    }
}

#[test]
fn a_retry_has_actions_and_a_next_state() {
    for view in <Vi as proto::Protocol>::tables() {
        for row in view.rows {
            if let proto::RowView::Do(actions, next, proto::After::Retry) = row {
                assert!(!actions.is_empty() && next.is_some());
            }
        }
    }
}

#[test]
fn a_plan_without_its_flush_or_invalidation_is_detected() {
    use proto::{Change, Plans, SeededFault, Symbol};
    let passing = expected("message_passing_at_device_scope");
    let bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);
    for step in [zoo::vi::Step::Flush, zoo::vi::Step::Invalidate] {
        let change = Change::DropStep { step: step.index() as u8 };
        let fault = Some(SeededFault { table: zoo::vi::L1Plans::ID, change });
        let found = walk::<Vi>(&passing.program, bounds, fault);
        assert!(
            found.violation.is_some() || !found.outcomes.is_subset(&passing.outcomes),
            "{} is left out and nobody notices",
            step.name()
        );
    }
}
