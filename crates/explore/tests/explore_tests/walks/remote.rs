//! Walks (small programs with expected outcomes) of remote-scope promotion: remote operations, with
//! accesses of work-group scope on other compute units.

use crate::walks::programs::{self, Expected, PLAIN, POLICIES, U, X, Y, Z, case, on, program};
use crate::walks::walker::{Do, Outcome, Sync, walk, walk_at_most};
use explore::Bounds;
use proto::Level::{Device, System, WorkGroup};
use proto::Order::{AcqRel, Acquire, Release, SeqCst};
use proto::{Change, Plans as _, Protocol, SeededFault, Symbol as _, WritePolicy};
use std::collections::BTreeSet;
use zoo::rsp::{Remote, Step};
use zoo::rsp::{Rsp, RspPlans, RspRepaired};

const ADD: Sync = (AcqRel, WorkGroup);
const REMOTE_ADD: Do = Do::Remote(&Do::Add(X, 1, (AcqRel, Device)));
const TAKE: Do = Do::Take(X, (AcqRel, WorkGroup));
const GIVE: Do = Do::Store(X, 0, (Release, WorkGroup));
const REMOTE_TAKE: Do = Do::Remote(&Do::Take(X, (AcqRel, Device)));
const REMOTE_GIVE: Do = Do::Remote(&Do::Store(X, 0, (Release, Device)));
/// The operation that releases a lock by a read-modify-write: it subtracts one.
const GIVE_BY_ADDING: Do = Do::Add(X, u32::MAX, ADD);

/// Programs with remote operations.
pub(crate) fn all() -> Vec<Expected> {
    let mut all = passing();
    all.extend(updates());
    all.extend(locks());
    all
}

fn passing() -> Vec<Expected> {
    let seen: &[&[&[u32]]] = &[&[&[], &[0, 1]]];
    vec![
        case(
            "a_remote_acquire_sees_what_a_work_group_released",
            &[
                on(0, &[Do::Store(X, 1, PLAIN), Do::Store(Y, 1, (Release, WorkGroup))]),
                on(
                    1,
                    &[
                        Do::Load(Z, PLAIN),
                        Do::Remote(&Do::Await(Y, 1, (Acquire, Device))),
                        Do::Load(X, PLAIN),
                    ],
                ),
            ],
            &[],
            seen,
        ),
        case(
            "a_work_group_acquires_what_was_released_remotely",
            &[
                on(0, &[Do::Store(X, 1, PLAIN), Do::Remote(&Do::Store(Y, 1, (Release, Device)))]),
                on(1, &[Do::Load(Z, PLAIN), Do::Await(Y, 1, (Acquire, WorkGroup)), Do::Load(X, PLAIN)]),
            ],
            &[],
            seen,
        ),
        case(
            "a_work_group_acquires_what_a_remote_update_released",
            &[
                on(0, &[Do::Store(X, 1, PLAIN), Do::Remote(&Do::Update(Y, 1, (AcqRel, Device)))]),
                on(1, &[Do::Load(Z, PLAIN), Do::Await(Y, 1, (Acquire, WorkGroup)), Do::Load(X, PLAIN)]),
            ],
            &[],
            seen,
        ),
        case(
            "a_remote_update_acquires_what_a_work_group_released",
            &[
                on(0, &[Do::Store(X, 1, PLAIN), Do::Store(Y, 1, (Release, WorkGroup))]),
                on(
                    1,
                    &[Do::Load(Z, PLAIN), Do::Remote(&Do::Add(Y, 2, (AcqRel, Device))), Do::Load(X, PLAIN)],
                ),
            ],
            &[Y],
            // If the remote operation was first, it acquires nothing.
            &[&[&[], &[0, 1, 1], &[3]], &[&[], &[0, 0, 0], &[1]], &[&[], &[0, 0, 1], &[1]]],
        ),
        case(
            "remote_fences_reach_across_work_groups",
            &[
                on(0, &[Do::Store(X, 1, PLAIN), Do::Store(Y, 1, (Release, WorkGroup))]),
                on(
                    1,
                    &[
                        Do::Load(Z, PLAIN),
                        Do::Remote(&Do::Await(Y, 1, (proto::Order::Relaxed, Device))),
                        Do::Remote(&Do::Fence((Acquire, Device))),
                        Do::Load(X, PLAIN),
                    ],
                ),
            ],
            &[],
            seen,
        ),
        case(
            "a_remote_acquire_at_system_scope_sees_what_a_work_group_released",
            &[
                on(0, &[Do::Store(X, 1, PLAIN), Do::Store(Y, 1, (Release, WorkGroup))]),
                on(
                    1,
                    &[
                        Do::Load(Z, PLAIN),
                        Do::Remote(&Do::Await(Y, 1, (Acquire, System))),
                        Do::Load(X, PLAIN),
                    ],
                ),
            ],
            &[],
            seen,
        ),
    ]
}

fn updates() -> Vec<Expected> {
    let add = Do::Add(X, 1, ADD);
    let either: &[&[&[u32]]] = &[&[&[0], &[1], &[2]], &[&[1], &[0], &[2]]];
    vec![
        case("a_remote_update_and_a_narrow_one", &[on(0, &[add]), on(1, &[REMOTE_ADD])], &[X], either),
        case("two_remote_updates", &[on(0, &[REMOTE_ADD]), on(1, &[REMOTE_ADD])], &[X], either),
        case(
            "a_remote_update_beside_one_of_its_own_work_group",
            &[on(0, &[add]), on(0, &[REMOTE_ADD])],
            &[X],
            either,
        ),
        case(
            "two_narrow_updates_around_a_remote_one",
            &[on(0, &[add, add]), on(1, &[REMOTE_ADD])],
            &[X],
            &[&[&[0, 1], &[2], &[3]], &[&[0, 2], &[1], &[3]], &[&[1, 2], &[0], &[3]]],
        ),
        case(
            "a_remote_update_while_bytes_beside_it_are_dirty",
            &[on(0, &[Do::Store(Z, 5, PLAIN), add]), on(1, &[REMOTE_ADD])],
            &[X, Z],
            &[&[&[0], &[1], &[2, 5]], &[&[1], &[0], &[2, 5]]],
        ),
        case(
            "a_remote_store_and_a_narrow_update",
            &[on(0, &[add]), on(1, &[Do::Remote(&Do::Store(X, 5, (Release, Device)))])],
            &[X],
            &[&[&[0], &[], &[5]], &[&[5], &[], &[6]]],
        ),
        case(
            "remote_updates_at_device_and_system_scope",
            &[on(0, &[add]), on(1, &[Do::Remote(&Do::Add(X, 1, (AcqRel, System)))])],
            &[X],
            either,
        ),
    ]
}

fn locks() -> Vec<Expected> {
    let visit = Do::Add(U, 1, PLAIN);
    vec![
        case(
            "a_lock_that_is_taken_narrowly_and_remotely",
            &[on(0, &[TAKE, visit, GIVE]), on(1, &[REMOTE_TAKE, visit, REMOTE_GIVE])],
            &[X, U],
            &[&[&[0], &[1], &[0, 2]], &[&[1], &[0], &[0, 2]]],
        ),
        case(
            "who_spins_remotely_does_not_starve_the_owner",
            &[
                on(0, &[GIVE_BY_ADDING]),
                on(1, &[REMOTE_TAKE]),
                on(1, &[Do::Remote(&Do::Await(X, 1, (Acquire, Device)))]),
            ],
            &[X],
            &[&[&[1], &[], &[], &[1]]],
        )
        .beginning_with(&[(X, 1)]),
        case(
            "two_that_spin_remotely_do_not_starve_the_owner",
            &[
                on(0, &[GIVE_BY_ADDING]),
                on(1, &[REMOTE_TAKE, REMOTE_GIVE]),
                on(1, &[REMOTE_TAKE, REMOTE_GIVE]),
            ],
            &[X],
            &[&[&[1], &[], &[], &[0]]],
        )
        .beginning_with(&[(X, 1)]),
    ]
}

/// The maximum number of states of one exploration. A larger exploration, such as that of a lock
/// under a write policy that drains all the time, is left out.
const STATES_MAX: usize = 400_000;

/// Generates one test for each program, so that the tests run in parallel. Each test explores the
/// program under every write policy of the L1s, on a large and on a minimal machine, with evictions
/// if the program is small.
macro_rules! only_expected_outcomes {
    ($($name:ident)+) => {
        $(
            #[test]
            fn $name() {
                let expected = find(stringify!($name));
                is_as_expected::<Rsp>(&expected);
                is_as_expected::<RspRepaired>(&expected);
            }
        )+
        #[test]
        fn every_program_is_walked() {
            let named: BTreeSet<_> = [$(stringify!($name)),+].into();
            assert_eq!(named, all().iter().map(|e| e.program.name).collect());
        }
    };
}

only_expected_outcomes! {
    a_remote_acquire_sees_what_a_work_group_released
    a_work_group_acquires_what_was_released_remotely
    a_work_group_acquires_what_a_remote_update_released
    a_remote_update_acquires_what_a_work_group_released
    remote_fences_reach_across_work_groups
    a_remote_acquire_at_system_scope_sees_what_a_work_group_released
    a_remote_update_and_a_narrow_one
    two_remote_updates
    a_remote_update_beside_one_of_its_own_work_group
    two_narrow_updates_around_a_remote_one
    a_remote_update_while_bytes_beside_it_are_dirty
    a_remote_store_and_a_narrow_update
    remote_updates_at_device_and_system_scope
    a_lock_that_is_taken_narrowly_and_remotely
    who_spins_remotely_does_not_starve_the_owner
    two_that_spin_remotely_do_not_starve_the_owner
}

fn find(name: &str) -> Expected {
    all().into_iter().find(|e| e.program.name == name).unwrap_or_else(|| panic!("no program {name}"))
}

fn is_as_expected<P: Protocol>(expected: &Expected) {
    let is_small = expected.program.threads.len() < 3 && !expected.program.name.contains("lock");
    let (mut outcomes, mut walked) = (BTreeSet::new(), 0);
    for policy in POLICIES {
        let bounds = Bounds::new(policy, policy);
        let roomy = if is_small { bounds.evicting() } else { bounds };
        for bounds in [roomy, bounds.tight()] {
            let found = walk_at_most::<P>(&expected.program, bounds, None, STATES_MAX);
            if found.states > STATES_MAX {
                continue;
            }
            assert_eq!(found.violation, None, "{}, {}: {bounds:?}", P::INFO.name, expected.program.name);
            outcomes.extend(found.outcomes);
            walked += 1;
        }
    }
    assert!(walked > 1, "{}: {walked} walks", expected.program.name);
    assert_eq!(outcomes, expected.outcomes, "{}, {}", P::INFO.name, expected.program.name);
}

/// For programs without remote operations, `rsp` has only the outcomes that are expected of `vi`.
#[test]
fn programs_without_remote_operations_have_their_expected_outcomes() {
    for expected in programs::all() {
        let bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining).tight();
        let found = walk::<Rsp>(&expected.program, bounds, None);
        assert_eq!(found.violation, None, "{}", expected.program.name);
        assert!(found.outcomes.is_subset(&expected.outcomes), "{}", expected.program.name);
    }
}

fn without(step: Step) -> SeededFault {
    SeededFault { table: RspPlans::ID, change: Change::DropStep { step: step.index() as u8 } }
}

/// The lock in rows a9, a14, a19 and a25 of Table 3 of the hLRC paper has a purpose: without the
/// lock, an update is lost.
#[test]
fn without_the_lock_an_update_is_lost() {
    let expected = find("a_remote_update_and_a_narrow_one");
    let bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);
    let found = walk::<Rsp>(&expected.program, bounds, Some(without(Step::Remote(Remote::LockAll))));
    let lost: Outcome = vec![vec![0], vec![0], vec![1]];
    assert_eq!(found.violation, None);
    assert!(found.outcomes.contains(&lost), "{:?}", found.outcomes);
}

/// The outcomes of the store-buffering program: each of two threads stores one word and then loads
/// the word of the other thread. One thread uses work-group scope, the other thread uses remote
/// operations. Both loads can read the initial values if the remote load does not see the contents
/// of the L1 of the other work-group.
fn store_buffering<P: Protocol>(level: proto::Level) -> BTreeSet<Outcome> {
    let wide = |op| on(1, &[Do::Remote(op), Do::Remote(LOAD[usize::from(level == System)])]);
    let (narrow, store) = ((SeqCst, WorkGroup), STORE[usize::from(level == System)]);
    let threads = [on(0, &[Do::Store(X, 1, narrow), Do::Load(Y, narrow)]), wide(store)];
    let mut outcomes = BTreeSet::new();
    for policy in POLICIES {
        let bounds = Bounds::new(policy, policy);
        for bounds in [bounds.evicting(), bounds.tight()] {
            let found = walk::<P>(&program("store buffering", &threads, &[]), bounds, None);
            assert_eq!(found.violation, None);
            outcomes.extend(found.outcomes);
        }
    }
    outcomes
}

const STORE: [&Do; 2] = [&Do::Store(Y, 1, (SeqCst, Device)), &Do::Store(Y, 1, (SeqCst, System))];
const LOAD: [&Do; 2] = [&Do::Load(X, (SeqCst, Device)), &Do::Load(X, (SeqCst, System))];

/// In Table 3 of the hLRC paper, the remote load (row a3) comes before the flush of the other L1s
/// (row a4). So the load can be performed at the L2 while a store of the other work-group is still
/// in an L1, although the store precedes the load in the total order of sequentially consistent
/// accesses.
#[test]
fn a_published_remote_load_may_miss_a_sequentially_consistent_store() {
    for level in [Device, System] {
        let outcomes = store_buffering::<Rsp>(level);
        assert!(outcomes.contains(&vec![vec![0], vec![0]]), "{level:?}: {outcomes:?}");
    }
}

#[test]
fn a_repaired_remote_load_misses_no_sequentially_consistent_store() {
    for level in [Device, System] {
        let wanted = [[0, 1], [1, 0], [1, 1]].map(|[a, b]| vec![vec![a], vec![b]]);
        assert_eq!(store_buffering::<RspRepaired>(level), wanted.into(), "{level:?}");
    }
}
