//! Programs in which registration moves between caches, and data lies next to atomics.

use super::{ACQUIRE, RELEASE, SYNC};
use crate::walks::programs::{Expected, PLAIN, U, X, Y, Z, case, on};
use crate::walks::walker::Do;
use proto::Level::Device;
use proto::Order::Acquire;

/// Programs in which registration moves between caches.
pub(super) fn moving() -> Vec<Expected> {
    let add = |word| Do::Add(word, 1, SYNC);
    let user = |cu, value| {
        on(
            cu,
            &[Do::Take(X, ACQUIRE), Do::Load(Y, PLAIN), Do::Store(Y, value, PLAIN), Do::Store(X, 0, RELEASE)],
        )
    };
    let hops = [
        on(0, &[Do::Store(X, 1, PLAIN), Do::Store(Y, 1, RELEASE)]),
        on(1, &[Do::Load(Z, PLAIN), Do::Await(Y, 1, ACQUIRE), Do::Store(U, 1, RELEASE)]),
        on(2, &[Do::Load(Z, PLAIN), Do::Await(U, 1, ACQUIRE), Do::Load(X, PLAIN)]),
    ];
    vec![
        case(
            "registered_additions_are_never_lost",
            &[on(0, &[add(X), add(X)]), on(1, &[add(X)])],
            &[X],
            &[&[&[0, 1], &[2], &[3]], &[&[0, 2], &[1], &[3]], &[&[1, 2], &[0], &[3]]],
        ),
        case(
            "registered_additions_of_peers_and_of_others_are_never_lost",
            &[
                on(0, &[Do::Update(X, 1, SYNC)]),
                on(0, &[Do::Update(X, 1, SYNC)]),
                on(1, &[Do::Update(X, 1, SYNC)]),
            ],
            &[X],
            &[&[&[], &[], &[], &[3]]],
        ),
        case(
            "two_registered_words_of_a_line_are_kept_apart",
            &[on(0, &[add(X), Do::Load(Z, SYNC)]), on(1, &[add(Z), Do::Load(X, SYNC)])],
            &[X, Z],
            &[&[&[0, 0], &[0, 1], &[1, 1]], &[&[0, 1], &[0, 0], &[1, 1]], &[&[0, 1], &[0, 1], &[1, 1]]],
        ),
        case(
            "two_caches_take_registration_from_each_other",
            &[on(0, &[add(X), add(Y)]), on(1, &[add(Y), add(X)])],
            &[X, Y],
            &[
                &[&[0, 0], &[1, 1], &[2, 2]],
                &[&[0, 1], &[0, 1], &[2, 2]],
                &[&[1, 1], &[0, 0], &[2, 2]],
                &[&[1, 0], &[1, 0], &[2, 2]],
            ],
        ),
        case(
            "more_registered_lines_than_ways",
            &[on(0, &[add(X), add(U), add(X)]), on(1, &[Do::Add(U, 1, SYNC)])],
            &[X, U],
            &[&[&[0, 0, 1], &[1], &[2, 2]], &[&[0, 1, 1], &[0], &[2, 2]]],
        ),
        case(
            "a_lock_guards_what_is_beside_it_in_the_other_bank",
            &[user(0, 1), user(1, 2)],
            &[X, Y],
            &[&[&[0], &[1], &[0, 2]], &[&[2], &[0], &[0, 1]]],
        ),
        case("registration_carries_what_others_released", &hops, &[], &[&[&[], &[0], &[0, 1]]]),
        case(
            "a_peer_releases_while_registration_is_recalled",
            &[
                on(0, &[Do::Store(Y, 1, PLAIN), Do::Store(X, 1, RELEASE)]),
                on(0, &[Do::Add(X, 0, SYNC)]),
                on(1, &[Do::Load(Y + 4, PLAIN), Do::Await(X, 1, ACQUIRE), Do::Load(Y, PLAIN)]),
            ],
            &[],
            &[&[&[], &[0], &[0, 1]], &[&[], &[1], &[0, 1]]],
        ),
    ]
}

/// Programs with data next to atomics in one line.
pub(super) fn beside() -> Vec<Expected> {
    let user = |cu, value| {
        on(
            cu,
            &[Do::Take(X, ACQUIRE), Do::Load(Z, PLAIN), Do::Store(Z, value, PLAIN), Do::Store(X, 0, RELEASE)],
        )
    };
    vec![
        case(
            "a_lock_guards_what_is_beside_it_in_its_line",
            &[user(0, 1), user(1, 2)],
            &[X, Z],
            &[&[&[0], &[1], &[0, 2]], &[&[2], &[0], &[0, 1]]],
        ),
        case(
            "dirty_bytes_leave_before_their_line_is_registered",
            &[on(
                0,
                &[
                    Do::Store(Z, 3, PLAIN),
                    Do::Add(X, 1, SYNC),
                    Do::Load(Z, PLAIN),
                    Do::Store(Z, 4, PLAIN),
                    Do::Load(Z, PLAIN),
                ],
            )],
            &[X, Z],
            &[&[&[0, 3, 4], &[1, 4]]],
        ),
        case(
            "a_store_past_registration_is_kept_when_it_goes",
            &[
                on(0, &[Do::Add(X, 1, SYNC), Do::Store(Z, 5, PLAIN), Do::Store(Y, 1, RELEASE)]),
                on(1, &[Do::Add(X, 1, SYNC), Do::Await(Y, 1, ACQUIRE), Do::Load(Z, PLAIN)]),
            ],
            &[X, Z],
            &[&[&[0], &[1, 5], &[2, 5]], &[&[1], &[0, 5], &[2, 5]]],
        ),
        case(
            "others_write_data_of_a_line_that_is_registered",
            &[
                on(
                    0,
                    &[Do::Add(X, 1, SYNC), Do::Await(Y, 1, ACQUIRE), Do::Load(Z, PLAIN), Do::Add(X, 1, SYNC)],
                ),
                on(1, &[Do::Store(Z, 7, PLAIN), Do::Store(Y, 1, RELEASE)]),
            ],
            &[X, Z],
            &[&[&[0, 7, 1], &[], &[2, 7]]],
        ),
        case(
            "a_peer_stores_while_registration_is_asked_for",
            &[
                on(0, &[Do::Add(X, 1, SYNC)]),
                on(0, &[Do::Store(Z, 2, PLAIN), Do::Load(Z, PLAIN)]),
                on(1, &[Do::Add(X, 1, SYNC)]),
            ],
            &[X, Z],
            &[&[&[0], &[2], &[1], &[2, 2]], &[&[1], &[2], &[0], &[2, 2]]],
        ),
        case(
            "what_is_registered_is_read_after_an_acquire_of_another_word",
            &[
                on(
                    0,
                    &[
                        Do::Add(X, 1, SYNC),
                        Do::Load(Z, PLAIN),
                        Do::Await(Y, 1, ACQUIRE),
                        Do::Load(Z, PLAIN),
                        Do::Load(X, SYNC),
                    ],
                ),
                on(1, &[Do::Store(U, 1, PLAIN), Do::Store(Y, 1, RELEASE)]),
            ],
            &[X],
            &[&[&[0, 0, 0, 1], &[], &[1]]],
        ),
        case(
            "a_fill_is_under_way_when_registration_is_asked_for",
            &[
                on(0, &[Do::Load(Z, PLAIN)]),
                on(0, &[Do::Add(X, 1, SYNC), Do::Load(Z, PLAIN)]),
                on(0, &[Do::Fence((Acquire, Device))]),
            ],
            &[X],
            &[&[&[0], &[0, 0], &[], &[1]]],
        ),
    ]
}
