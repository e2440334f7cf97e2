//! Programs with interference: fetches that are dropped or written to while under way, and other
//! threads that access a line continuously.

use crate::walks::programs::{DEV, Expected, PLAIN, SYS, U, WG, X, Y, Z, case, host, on, writer};
use crate::walks::walker::Do;
use proto::Level::{Device, System, WorkGroup};
use proto::Order::{Acquire, Release};

pub(crate) fn all() -> Vec<Expected> {
    let mut all = fills();
    all.extend(dropped());
    all.extend(flushed());
    all.extend(pestered_in_the_l1());
    all.extend(pestered_in_the_bank());
    all.extend(locks());
    all
}

/// Programs in which fills reach an L1 late.
fn fills() -> Vec<Expected> {
    let seen: &[&[&[u32]]] = &[&[&[], &[1], &[0], &[1, 2]], &[&[], &[1], &[1], &[1, 2]]];
    let late = on(1, &[Do::Load(X, WG)]);
    let acquire = Do::Await(Y, 1, (Acquire, Device));
    vec![
        case(
            "a_stale_fill_is_not_kept_after_a_store_into_it",
            &[
                on(0, &writer(Device)),
                on(1, &[acquire, Do::Store(Z, 2, PLAIN), Do::Load(X, PLAIN)]),
                late.clone(),
            ],
            &[X, Z],
            seen,
        ),
        case(
            "a_stale_fill_is_not_kept_after_a_release_from_it",
            &[
                on(0, &writer(Device)),
                on(1, &[Do::Store(Z, 2, PLAIN), acquire, Do::Fence((Release, Device)), Do::Load(X, PLAIN)]),
                late,
            ],
            &[X, Z],
            seen,
        ),
        case(
            "a_fill_that_is_not_kept_answers_who_waited",
            &[on(0, &[Do::Store(Z, 2, PLAIN), Do::Fence((Acquire, Device))]), on(0, &[Do::Load(X, PLAIN)])],
            &[X, Z],
            &[&[&[], &[7], &[7, 2]]],
        )
        .beginning_with(&[(X, 7), (Z, 9)]),
        case(
            "a_load_needs_the_rest_of_a_line_in_the_bank",
            &[on(0, &[Do::Store(Z, 1, DEV), Do::Load(X, DEV), Do::Load(Z, PLAIN)])],
            &[X, Z],
            &[&[&[7, 1], &[7, 1]]],
        )
        .beginning_with(&[(X, 7), (Z, 9)]),
    ]
}

/// Programs in which a fetch is dropped, and another access reaches the line before the fetch ends.
/// An addition at system scope makes the fetch stale, and a later access reads the line.
fn dropped() -> Vec<Expected> {
    let fetch = on(0, &[Do::Load(X, DEV)]);
    let passes = on(1, &[Do::Add(X, 1, SYS), Do::Load(X, DEV)]);
    let with = |name, ops: &[Do], regs: &[u32], z: u32| {
        let of = |first: u32| -> Vec<Vec<u32>> { vec![vec![first], vec![7, 8], regs.to_vec(), vec![8, z]] };
        let mut case = case(name, &[fetch.clone(), passes.clone(), on(1, ops)], &[X, Z], &[]);
        case.outcomes = [of(7), of(8)].into();
        case.beginning_with(&[(X, 7), (Z, 9)])
    };
    vec![
        with("a_store_meets_a_stale_fetch", &[Do::Store(Z, 3, DEV)], &[], 3),
        with("an_update_meets_a_stale_fetch", &[Do::Update(Z, 1, DEV)], &[], 10),
        with(
            "an_update_meets_a_store_into_a_stale_fetch",
            &[Do::Store(Z, 3, DEV), Do::Update(Z, 1, DEV)],
            &[],
            4,
        ),
        with("a_second_access_passes_a_stale_fetch", &[Do::Add(Z, 1, SYS)], &[9], 10),
        with(
            "a_second_access_passes_a_store_into_a_stale_fetch",
            &[Do::Store(Z, 3, DEV), Do::Add(Z, 1, SYS)],
            &[3],
            4,
        ),
        with(
            "a_release_meets_a_store_into_a_stale_fetch",
            &[Do::Store(Z, 3, DEV), Do::Fence((Release, System))],
            &[],
            3,
        ),
        with(
            "a_line_is_asked_for_after_a_store_into_a_stale_fetch",
            &[Do::Store(Z, 3, DEV), Do::Load(Z, PLAIN)],
            &[3],
            3,
        ),
        case(
            "bytes_that_were_written_out_are_not_kept_in_a_stale_fetch",
            &[
                fetch.clone(),
                on(1, &[Do::Store(Z, 2, DEV), Do::Add(Z, 1, SYS), Do::Load(Z, DEV)]),
                on(1, &[Do::Store(X, 1, DEV)]),
            ],
            &[X, Z],
            &[&[&[0], &[2, 3], &[], &[1, 3]], &[&[1], &[2, 3], &[], &[1, 3]]],
        ),
    ]
}

/// Programs in which an acquire at system scope drops a fetch.
fn flushed() -> Vec<Expected> {
    let fetch = on(0, &[Do::Load(X, DEV)]);
    let acquire = Do::Fence((Acquire, System));
    vec![
        case(
            "a_system_release_carries_a_store_into_a_stale_fetch",
            &[
                fetch.clone(),
                on(1, &[acquire, Do::Store(Z, 3, DEV), Do::Fence((Release, System)), Do::Store(Y, 1, SYS)]),
                host(&[Do::Await(Y, 1, SYS), Do::Load(Z, SYS)]),
            ],
            &[],
            &[&[&[0], &[], &[3]]],
        ),
        case(
            "a_second_system_acquire_meets_a_store_into_a_stale_fetch",
            &[
                fetch,
                on(
                    1,
                    &[
                        acquire,
                        Do::Store(Z, 3, DEV),
                        Do::Await(Y, 1, (Acquire, System)),
                        Do::Load(X, DEV),
                        Do::Load(Z, DEV),
                    ],
                ),
                host(&writer(System)),
            ],
            &[],
            &[&[&[0], &[1, 3], &[]], &[&[1], &[1, 3], &[]]],
        ),
    ]
}

/// Programs in which an update in the work-group completes, however often peers (threads of the
/// same compute unit) access its line. The peers continue until the update is done. They learn of
/// its end from a word of the same line, or of a line in the same bank.
fn pestered_in_the_l1() -> Vec<Expected> {
    let add = Do::Add(X, 1, WG);
    let done = Do::Store(U, 1, (Release, Device));
    let one = |name, mine: &[Do], peer: &[Do]| {
        let mine = [mine, &[done]].concat();
        case(name, &[on(0, &mine), on(0, peer)], &[X], &[&[&[0], &[], &[1]]])
    };
    let stored =
        |name, peer: &[Do]| case(name, &[on(0, &[add]), on(0, peer)], &[X, Z], &[&[&[0], &[], &[1, 3]]]);
    vec![
        one("an_update_is_had_while_peers_acquire", &[add], &[Do::Await(U, 1, (Acquire, Device))]),
        one(
            "an_update_beside_a_store_is_had_while_peers_acquire",
            &[Do::Store(Z, 2, PLAIN), add],
            &[Do::Await(U, 1, (Acquire, Device))],
        ),
        stored(
            "an_update_is_had_while_peers_store_into_its_line",
            &[Do::Store(Z, 3, PLAIN), Do::Until(X, 1, WG, 1)],
        ),
        stored(
            "an_update_is_had_while_peers_release_stores_into_its_line",
            &[Do::Store(Z, 3, PLAIN), Do::Fence((Release, Device)), Do::Until(X, 1, WG, 2)],
        ),
        stored(
            "an_update_is_had_while_peers_store_into_its_line_and_pass_it",
            &[Do::Store(Z, 3, PLAIN), Do::Until(X, 1, DEV, 1)],
        ),
        case(
            "an_update_is_had_while_peers_pass_its_line",
            &[on(0, &[add, Do::Store(Z, 1, DEV)]), on(0, &[Do::Await(Z, 1, DEV)])],
            &[X],
            &[&[&[0], &[], &[1]]],
        ),
        case(
            "an_update_is_had_while_peers_read_its_line",
            &[
                on(0, &[add, Do::Store(Z, 1, (Release, WorkGroup))]),
                on(0, &[Do::Await(Z, 1, (Acquire, WorkGroup))]),
            ],
            &[X],
            &[&[&[0], &[], &[1]]],
        ),
    ]
}

/// Programs in which an update in a bank completes, however often other compute units access its
/// line.
fn pestered_in_the_bank() -> Vec<Expected> {
    let done = Do::Store(Y, 1, SYS);
    let one = |name, mine: &[Do], peer: &[Do]| {
        let mine = [mine, &[Do::Load(X, DEV), done]].concat();
        case(name, &[on(0, &mine), on(1, peer)], &[], &[&[&[0], &[]]])
    };
    vec![
        one("a_load_is_had_while_others_acquire", &[], &[Do::Await(Y, 1, (Acquire, System))]),
        one(
            "a_load_beside_a_store_is_had_while_others_acquire",
            &[Do::Store(Z, 2, DEV)],
            &[Do::Await(Y, 1, (Acquire, System))],
        ),
        one(
            "a_load_is_had_while_others_store_into_its_line",
            &[],
            &[Do::Store(Z, 5, DEV), Do::Until(Y, 1, SYS, 1)],
        ),
        one(
            "a_load_is_had_while_others_release_stores_into_its_line",
            &[],
            &[Do::Store(Z, 5, DEV), Do::Fence((Release, System)), Do::Until(Y, 1, SYS, 2)],
        ),
        case(
            "a_load_is_had_while_others_pass_its_line",
            &[on(0, &[Do::Load(X, DEV), Do::Store(Z, 1, SYS)]), on(1, &[Do::Await(Z, 1, SYS)])],
            &[],
            &[&[&[0], &[]]],
        ),
        case(
            "a_load_is_had_while_others_store_into_its_line_and_pass_it",
            &[
                on(0, &[Do::Load(X, DEV), Do::Store(Z, 1, SYS)]),
                on(1, &[Do::Store(X, 5, DEV), Do::Until(Z, 1, SYS, 1)]),
            ],
            &[],
            &[&[&[0], &[]], &[&[5], &[]]],
        ),
    ]
}

/// Programs in which threads spin on a lock. The spinning threads do not prevent the owner of the
/// lock from releasing it, or from first updating another word of the lock's line.
fn locks() -> Vec<Expected> {
    let take = |level| Do::Take(X, (Acquire, level));
    let give = |level| Do::Store(X, 0, (Release, level));
    let user = |cu, level| on(cu, &[take(level), give(level)]);
    vec![
        case(
            "peers_that_spin_on_a_lock_do_not_starve_its_owner_on_another_cu",
            &[on(1, &[give(Device)]), user(0, Device), user(0, Device)],
            &[X],
            &[&[&[], &[], &[], &[0]]],
        )
        .beginning_with(&[(X, 1)]),
        case(
            "peers_that_spin_on_a_lock_do_not_starve_an_update_beside_it",
            &[on(1, &[Do::Add(Z, 1, DEV), give(Device)]), user(0, Device), user(0, Device)],
            &[X, Z],
            &[&[&[0], &[], &[], &[0, 1]]],
        )
        .beginning_with(&[(X, 1)]),
        case(
            "peers_that_spin_on_a_lock_do_not_starve_a_peer",
            &[on(0, &[give(WorkGroup)]), user(0, WorkGroup), user(0, WorkGroup)],
            &[X],
            &[&[&[], &[], &[], &[0]]],
        )
        .beginning_with(&[(X, 1)]),
        case(
            "who_spins_at_system_scope_does_not_starve_the_host",
            &[host(&[give(System)]), user(0, System), user(1, System)],
            &[X],
            &[&[&[], &[], &[], &[0]]],
        )
        .beginning_with(&[(X, 1)]),
    ]
}
