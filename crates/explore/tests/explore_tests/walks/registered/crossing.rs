//! Programs in which messages of registration cross: recalls and forwarded atomics reach lines that
//! are no longer registered.

use super::{ACQUIRE, RELEASE, SYNC, WG};
use crate::walks::programs::{Expected, PLAIN, SYS, U, X, Y, Z, case, host, on};
use crate::walks::walker::Do;
use proto::Level::{Device, System};
use proto::Order::{AcqRel, Acquire, Release};

/// Programs in which recalls and forwarded atomics reach lines that are no longer registered, and
/// programs in which other events occur during a recall or an eviction.
pub(super) fn crossing() -> Vec<Expected> {
    let add = Do::Add(X, 1, SYNC);
    // Two lines take the ways; the line returns in another state.
    let leaves = |last: &[Do]| on(0, &[&[add, Do::Load(U, PLAIN), Do::Load(Y, PLAIN)], last].concat());
    let mut all = Vec::new();
    for (names, theirs) in [
        (["a_recall_meets_a_fill", "a_recall_meets_a_store", "a_recall_meets_a_registration"], SYNC),
        (["an_atomic_meets_a_fill", "an_atomic_meets_a_store", "an_atomic_meets_a_registration"], WG),
    ] {
        let other = on(1, &[Do::Add(X, 1, theirs)]);
        let [fill, store, registration] = names;
        let seen: &[&[&[u32]]] = &[&[&[0, 0, 0, 0], &[1], &[2]], &[&[1, 0, 0, 0], &[0], &[2]]];
        all.push(case(fill, &[leaves(&[Do::Load(Z, PLAIN)]), other.clone()], &[X], seen));
        let seen: &[&[&[u32]]] = &[&[&[0, 0, 0], &[1], &[2, 3]], &[&[1, 0, 0], &[0], &[2, 3]]];
        all.push(case(store, &[leaves(&[Do::Store(Z, 3, PLAIN)]), other.clone()], &[X, Z], seen));
        let seen: &[&[&[u32]]] =
            &[&[&[0, 0, 0, 1], &[2], &[3]], &[&[0, 0, 0, 2], &[1], &[3]], &[&[1, 0, 0, 2], &[0], &[3]]];
        all.push(case(registration, &[leaves(&[add]), other], &[X], seen));
    }
    let one = |cu| on(cu, &[Do::Update(X, 1, SYNC)]);
    all.extend([
        case(
            "others_read_a_line_under_recall",
            &[one(0), one(1), on(2, &[Do::Load(Z, PLAIN)])],
            &[X],
            &[&[&[], &[], &[0], &[2]]],
        ),
        case(
            "others_read_a_line_under_eviction",
            &[one(0), on(1, &[Do::Load(U, PLAIN)]), on(2, &[Do::Load(Z, PLAIN)])],
            &[X],
            &[&[&[], &[0], &[0], &[1]]],
        ),
        case(
            "a_peer_reads_and_writes_a_line_under_eviction",
            &[one(0), on(1, &[Do::Update(U, 1, SYNC)]), on(0, &[Do::Store(Z, 3, PLAIN), Do::Load(Z, PLAIN)])],
            &[X, Z, U],
            &[&[&[], &[], &[3], &[1, 3, 1]]],
        ),
        case(
            "others_ask_for_a_line_under_eviction",
            &[one(0), on(1, &[Do::Load(U, PLAIN)]), on(2, &[Do::Update(X, 1, WG)])],
            &[X],
            &[&[&[], &[0], &[], &[2]]],
        ),
        case(
            "data_is_read_while_registration_waits",
            &[one(0), on(0, &[Do::Load(Z, PLAIN)]), on(1, &[Do::Load(U, PLAIN)])],
            &[X],
            &[&[&[], &[0], &[0], &[1]]],
        ),
        case(
            "data_is_read_while_registration_waits_for_the_rest_of_a_line",
            &[
                one(0),
                on(0, &[Do::Load(Z, PLAIN)]),
                on(1, &[Do::Store(Z, 2, PLAIN), Do::Fence((Release, Device))]),
            ],
            &[X, Z],
            &[&[&[], &[0], &[], &[1, 2]], &[&[], &[2], &[], &[1, 2]]],
        ),
        case(
            "an_atomic_below_needs_the_rest_of_a_line",
            &[on(
                0,
                &[
                    Do::Store(Z, 2, PLAIN),
                    Do::Fence((Release, Device)),
                    Do::Add(X, 1, (AcqRel, Device)),
                    Do::Load(Z, PLAIN),
                ],
            )],
            &[X, Z],
            &[&[&[0, 2], &[1, 2]]],
        ),
        case(
            "what_was_only_read_stays_registered",
            &[
                on(0, &[Do::Load(X, ACQUIRE), Do::Fence((Acquire, Device)), Do::Load(X, ACQUIRE)]),
                on(1, &[Do::Add(X, 1, SYNC)]),
            ],
            &[X],
            &[&[&[0, 0], &[0], &[1]], &[&[0, 1], &[0], &[1]], &[&[1, 1], &[0], &[1]]],
        ),
        case(
            "a_peer_acquires_while_registration_is_recalled",
            &[
                on(0, &[Do::Store(Y, 1, PLAIN), Do::Load(X, ACQUIRE)]),
                on(0, &[Do::Fence((Acquire, Device))]),
                one(1),
            ],
            &[X, Y],
            &[&[&[0], &[], &[], &[1, 1]], &[&[1], &[], &[], &[1, 1]]],
        ),
        case(
            "a_peer_passes_while_registration_is_recalled",
            &[on(0, &[Do::Store(Y, 1, PLAIN), Do::Load(X, ACQUIRE)]), on(0, &[Do::Add(X, 1, SYS)]), one(1)],
            &[X, Y],
            &[
                &[&[0], &[0], &[], &[2, 1]],
                &[&[0], &[1], &[], &[2, 1]],
                &[&[1], &[0], &[], &[2, 1]],
                &[&[1], &[1], &[], &[2, 1]],
                &[&[2], &[0], &[], &[2, 1]],
                &[&[2], &[1], &[], &[2, 1]],
            ],
        ),
        case(
            "a_peer_stores_while_registration_is_recalled",
            &[
                on(0, &[Do::Store(Y, 1, PLAIN), Do::Update(X, 1, SYNC)]),
                on(0, &[Do::Store(Z, 2, PLAIN)]),
                one(1),
            ],
            &[X, Y, Z],
            &[&[&[], &[], &[], &[2, 1, 2]]],
        ),
        case(
            "a_system_release_finds_a_line_that_is_registered_again",
            &[
                on(0, &[Do::Store(Z, 3, WG), Do::Fence((Release, System)), Do::Store(Y, 1, SYS)]),
                one(1),
                host(&[Do::Await(Y, 1, SYS), Do::Load(Z, SYS)]),
            ],
            &[],
            &[&[&[], &[], &[3]]],
        ),
        case(
            "a_line_stays_registered_when_a_system_release_finds_it",
            &[
                on(0, &[Do::Store(Z, 3, WG), Do::Fence((Release, System)), Do::Update(X, 1, SYNC)]),
                on(1, &[Do::Update(X, 1, SYNC), Do::Update(X, 1, SYNC)]),
            ],
            &[X, Z],
            &[&[&[], &[], &[3, 3]]],
        ),
        case(
            "registration_waits_for_a_fill_under_a_store",
            &[on(0, &[Do::Store(Z, 2, PLAIN)]), on(0, &[Do::Load(X, PLAIN)]), on(0, &[Do::Add(X, 1, SYNC)])],
            &[X, Z],
            &[&[&[], &[0], &[0], &[1, 2]], &[&[], &[1], &[0], &[1, 2]]],
        ),
        case(
            "a_peer_passes_what_is_dirty_while_registration_is_recalled",
            &[one(0), on(0, &[Do::Update(X, 1, SYS)]), one(1)],
            &[X],
            &[&[&[], &[], &[], &[3]]],
        ),
        case(
            "what_was_dirty_before_registration_leaves_with_a_flush",
            &[
                on(0, &[Do::Store(Z, 3, PLAIN), Do::Update(X, 1, SYNC), Do::Store(Y, 1, RELEASE)]),
                on(1, &[Do::Await(Y, 1, ACQUIRE), Do::Load(Z, PLAIN)]),
            ],
            &[X],
            &[&[&[], &[3], &[1]]],
        ),
        case(
            "what_was_dirty_when_bytes_were_asked_for_anew_leaves_with_a_flush",
            &[
                on(
                    0,
                    &[
                        Do::Update(X, 1, SYNC),
                        Do::Fence((AcqRel, Device)),
                        Do::Store(Z, 3, PLAIN),
                        Do::Update(X, 1, SYNC),
                        Do::Store(Y, 1, RELEASE),
                    ],
                ),
                on(1, &[Do::Await(Y, 1, ACQUIRE), Do::Load(Z, PLAIN)]),
            ],
            &[X],
            &[&[&[], &[3], &[2]]],
        ),
        case(
            "a_relaxed_atomic_asks_for_bytes_anew",
            &[on(
                0,
                &[
                    Do::Update(X, 1, SYNC),
                    Do::Fence((AcqRel, Device)),
                    Do::Store(Z, 3, PLAIN),
                    Do::Update(X, 1, WG),
                    Do::Fence((AcqRel, Device)),
                    Do::Load(Z, PLAIN),
                    Do::Load(X, WG),
                ],
            )],
            &[X, Z],
            &[&[&[3, 2], &[2, 3]]],
        ),
        case(
            "bytes_that_come_with_registration_are_not_kept_across_an_acquire",
            &[
                one(0),
                on(0, &[Do::Await(Y, 1, (Acquire, Device)), Do::Load(Z, PLAIN)]),
                on(1, &[Do::Store(Z, 1, PLAIN), Do::Store(Y, 1, (Release, Device))]),
            ],
            &[X],
            &[&[&[], &[1], &[], &[1]]],
        ),
        case(
            "a_line_that_was_given_back_is_not_registered",
            &[leaves(&[Do::Store(Z, 3, PLAIN), Do::Update(X, 1, SYNC)]), on(1, &[add, add])],
            &[X],
            &[
                &[&[0, 0, 0], &[1, 2], &[4]],
                &[&[0, 0, 0], &[1, 3], &[4]],
                &[&[0, 0, 0], &[2, 3], &[4]],
                &[&[1, 0, 0], &[0, 2], &[4]],
                &[&[1, 0, 0], &[0, 3], &[4]],
                &[&[2, 0, 0], &[0, 1], &[4]],
            ],
        ),
        case(
            "a_system_release_finds_a_line_that_is_fetched_again",
            &[
                on(0, &[Do::Store(Z, 3, PLAIN), Do::Fence((Release, System)), Do::Store(Y, 1, SYS)]),
                on(1, &[Do::Load(X, PLAIN)]),
                host(&[Do::Await(Y, 1, SYS), Do::Load(Z, SYS)]),
            ],
            &[],
            &[&[&[], &[0], &[3]]],
        ),
    ]);
    all
}
