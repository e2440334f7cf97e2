//! Walks every interleaving of small programs over bounded machines: the same
//! controllers that are timed, under every order of issue, delivery, memory,
//! timers and evictions.

mod denovo;
mod graph;
mod machine;
mod mishaps;
mod programs;
mod registered;
mod remote;
mod targeted;
mod walker;

use programs::{PLAIN, POLICIES, X, Y, Z, expected, on, program};
use proto::Level::{Device, System, WorkGroup};
use proto::Order::{AcqRel, Relaxed, SeqCst};
use proto::WritePolicy;
use std::collections::BTreeSet;
use walker::{Bounds, Do, Outcome, Program, Thread, walk};
use zoo::{no_l1::NoL1, vi::Vi};

/// Walks under every pair of write policies, on a machine that has one of
/// everything, and on a roomy one, with evictions if the program is small.
fn outcomes<P: proto::Protocol>(program: &Program) -> BTreeSet<Outcome> {
    let has_l1 = P::tables().len() > 1;
    let loops = program.threads.iter().flat_map(|t| &t.ops).any(|op| matches!(op, Do::Until(..)));
    let is_small = program.threads.len() < 3 && !loops;
    let mut all = BTreeSet::new();
    for l1 in POLICIES {
        for l2 in POLICIES {
            let bounds = Bounds::new(l1, l2);
            let machines = match (l1 == l2, is_small) {
                (true, true) => vec![bounds.evicting(), bounds.tight()],
                (true, false) => vec![bounds, bounds.tight()],
                // Without an L1 its policy does not matter.
                (false, _) if !has_l1 => vec![],
                (false, true) => vec![bounds, bounds.tight()],
                (false, false) => vec![bounds.tight()],
            };
            for bounds in machines {
                let found = walk::<P>(program, bounds, None);
                assert_eq!(found.violation, None, "{}, {}: {bounds:?}", P::INFO.name, program.name);
                assert!(!found.outcomes.is_empty());
                all.extend(found.outcomes);
            }
        }
    }
    all
}

fn both(threads: &[Thread]) -> BTreeSet<Outcome> {
    let program = program("program", threads, &[]);
    let mut all = outcomes::<NoL1>(&program);
    all.extend(outcomes::<Vi>(&program));
    all
}

/// One test a program, so that they run side by side.
macro_rules! only_expected_outcomes {
    ($($name:ident)+) => {
        $(
            #[test]
            fn $name() {
                let found = expected(stringify!($name));
                for (protocol, all) in [
                    ("vi", outcomes::<Vi>(&found.program)),
                    ("no-l1", outcomes::<NoL1>(&found.program)),
                ] {
                    assert_eq!(all, found.outcomes, "{protocol}");
                }
            }
        )+
        #[test]
        fn every_program_is_walked() {
            let named: BTreeSet<_> = [$(stringify!($name)),+].into();
            let all: BTreeSet<_> = programs::all().iter().map(|e| e.program.name).collect();
            assert_eq!(named, all);
        }
    };
}

only_expected_outcomes! {
    message_passing_at_device_scope
    message_passing_within_a_work_group
    message_passing_to_the_host
    message_passing_from_the_host
    message_passing_at_system_scope_between_cus
    fences_order_relaxed_accesses
    two_hops_carry_what_a_peer_released
    two_levels_carry_a_device_release_to_the_host
    an_update_that_is_not_waited_for_comes_before_a_later_store
    an_update_that_is_not_waited_for_comes_before_a_later_system_load
    a_store_that_is_not_waited_for_comes_before_later_accesses_of_every_level
    a_write_that_waits_for_a_way_is_not_passed
    an_evicted_line_is_not_lost_under_a_fill
    stores_to_many_lines_leave_when_there_is_no_room
    a_line_is_dropped_while_it_is_filled
    a_fetch_of_a_peer_is_not_kept_across_a_system_acquire
    a_fetch_under_dirty_bytes_is_not_kept_across_a_system_acquire
    accesses_of_every_kind_meet_a_fetch
    system_accesses_meet_a_fetch
    a_system_fence_meets_a_fetch
    accesses_of_every_kind_meet_a_fetch_that_is_dropped
    system_accesses_meet_a_fetch_that_is_dropped
    a_system_fence_meets_a_fetch_that_is_dropped
    a_line_is_asked_for_while_its_fetch_is_dropped
    a_stale_fill_of_a_peer_is_not_kept
    a_stale_fill_under_dirty_bytes_is_not_kept
    a_release_carries_a_store_into_a_line_that_is_filled
    accesses_of_two_levels_meet_a_fill
    acquires_and_stores_meet_a_fill
    an_update_below_meets_a_fill
    an_update_below_meets_a_fill_that_is_dropped
    an_access_below_makes_the_copy_stale
    an_access_below_makes_dirty_bytes_stale
    two_loads_wait_for_one_fill
    an_update_needs_the_rest_of_a_line
    an_update_needs_the_rest_of_a_line_in_the_bank
    words_of_a_line_are_written_side_by_side
    a_word_is_atomic_and_data
    an_acquire_keeps_the_bytes_of_a_peer
    additions_of_mixed_scopes_in_one_work_group
    additions_at_device_and_system_scope
    updates_are_counted_when_the_kernel_has_ended
    system_releases_of_two_cus_at_once
    system_acquire_meets_dirty_bytes
    the_host_and_the_gpu_write_one_line
    a_stale_fill_is_not_kept_after_a_store_into_it
    a_stale_fill_is_not_kept_after_a_release_from_it
    a_fill_that_is_not_kept_answers_who_waited
    a_load_needs_the_rest_of_a_line_in_the_bank
    a_store_meets_a_stale_fetch
    an_update_meets_a_stale_fetch
    an_update_meets_a_store_into_a_stale_fetch
    a_second_access_passes_a_stale_fetch
    a_second_access_passes_a_store_into_a_stale_fetch
    a_release_meets_a_store_into_a_stale_fetch
    a_line_is_asked_for_after_a_store_into_a_stale_fetch
    bytes_that_were_written_out_are_not_kept_in_a_stale_fetch
    a_system_release_carries_a_store_into_a_stale_fetch
    a_second_system_acquire_meets_a_store_into_a_stale_fetch
    an_update_is_had_while_peers_acquire
    an_update_beside_a_store_is_had_while_peers_acquire
    an_update_is_had_while_peers_store_into_its_line
    an_update_is_had_while_peers_release_stores_into_its_line
    an_update_is_had_while_peers_pass_its_line
    an_update_is_had_while_peers_store_into_its_line_and_pass_it
    an_update_is_had_while_peers_read_its_line
    a_load_is_had_while_others_acquire
    a_load_beside_a_store_is_had_while_others_acquire
    a_load_is_had_while_others_store_into_its_line
    a_load_is_had_while_others_release_stores_into_its_line
    a_load_is_had_while_others_pass_its_line
    a_load_is_had_while_others_store_into_its_line_and_pass_it
    peers_that_spin_on_a_lock_do_not_starve_its_owner_on_another_cu
    peers_that_spin_on_a_lock_do_not_starve_an_update_beside_it
    peers_that_spin_on_a_lock_do_not_starve_a_peer
    who_spins_at_system_scope_does_not_starve_the_host
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
fn a_retry_always_does_something_first_or_it_would_spin() {
    for view in <Vi as proto::Protocol>::tables() {
        for row in view.rows {
            if let proto::RowView::Do(actions, next, proto::After::Retry) = row {
                assert!(!actions.is_empty() && next.is_some());
            }
        }
    }
}

#[test]
fn a_plan_without_its_flush_or_its_invalidation_is_caught() {
    use proto::{Change, Mutation, Plans, Symbol};
    let passing = expected("message_passing_at_device_scope");
    let bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);
    for step in [zoo::vi::Step::Flush, zoo::vi::Step::Invalidate] {
        let change = Change::DropStep { step: step.index() as u8 };
        let fault = Some(Mutation { table: zoo::vi::L1Plans::ID, change });
        let found = walk::<Vi>(&passing.program, bounds, fault);
        assert!(
            found.violation.is_some() || !found.outcomes.is_subset(&passing.outcomes),
            "{} is left out and nobody notices",
            step.name()
        );
    }
}
