//! Programs with every kind of access to a registered line: relaxed atomics, fences, device and
//! system scope, the host, and words that are both atomics and data.

use super::{ACQUIRE, RELEASE, SYNC, WG};
use crate::walks::programs::{Expected, PLAIN, SYS, X, Y, Z, case, host, on};
use crate::walks::walker::Do;
use proto::Level::{Device, System, WorkGroup};
use proto::Order::{AcqRel, Acquire, Release, SeqCst};

/// Programs with relaxed atomics and fences (section III.C.3 of the hLRC paper).
pub(super) fn relaxed() -> Vec<Expected> {
    let fence = |order| Do::Fence((order, WorkGroup));
    vec![
        case(
            "a_relaxed_addition_is_performed_where_the_word_is",
            &[on(0, &[Do::Add(X, 1, SYNC), Do::Add(X, 1, WG)]), on(1, &[Do::Add(X, 1, WG)])],
            &[X],
            &[&[&[0, 1], &[2], &[3]], &[&[0, 2], &[1], &[3]], &[&[1, 2], &[0], &[3]]],
        ),
        case(
            "relaxed_and_ordered_additions_of_three_caches",
            &[
                on(0, &[Do::Update(X, 1, SYNC)]),
                on(1, &[Do::Update(X, 1, SYNC)]),
                on(2, &[Do::Update(X, 1, WG)]),
            ],
            &[X],
            &[&[&[], &[], &[], &[3]]],
        ),
        case(
            "fences_order_relaxed_accesses_to_a_registered_word",
            &[
                on(0, &[Do::Store(X, 1, PLAIN), fence(Release), Do::Store(Y, 1, WG)]),
                on(1, &[Do::Load(Z, PLAIN), Do::Await(Y, 1, WG), fence(Acquire), Do::Load(X, PLAIN)]),
                on(1, &[Do::Add(Y, 0, SYNC)]),
            ],
            &[],
            &[&[&[], &[0, 1], &[0]], &[&[], &[0, 1], &[1]]],
        ),
        case(
            "a_relaxed_store_ends_the_waiting_of_two_caches",
            &[
                on(0, &[Do::Await(X, 1, ACQUIRE)]),
                on(1, &[Do::Await(X, 1, ACQUIRE)]),
                on(2, &[Do::Store(X, 1, WG)]),
            ],
            &[X],
            &[&[&[], &[], &[], &[1]]],
        ),
    ]
}

/// Programs with scopes as hints (section V.C of the hLRC paper): one thread uses device scope, the
/// other uses work-group scope, and they synchronize as if there were no scopes.
pub(super) fn hinted() -> Vec<Expected> {
    let mut all = Vec::new();
    for (name, release, acquire) in [
        ("a_release_at_device_scope_and_an_acquire_without", (Release, Device), ACQUIRE),
        ("a_release_without_scope_and_an_acquire_at_device_scope", RELEASE, (Acquire, Device)),
    ] {
        all.push(case(
            name,
            &[
                on(0, &[Do::Add(Y + 4, 1, SYNC), Do::Store(X, 1, PLAIN), Do::Store(Y, 1, release)]),
                on(1, &[Do::Load(Z, PLAIN), Do::Await(Y, 1, acquire), Do::Load(X, PLAIN)]),
            ],
            &[],
            &[&[&[0], &[0, 1]]],
        ));
    }
    all.push(case(
        "additions_with_and_without_scope",
        &[on(0, &[Do::Add(X, 1, SYNC), Do::Add(X, 1, (AcqRel, Device))]), on(1, &[Do::Add(X, 1, SYNC)])],
        &[X],
        &[&[&[0, 1], &[2], &[3]], &[&[0, 2], &[1], &[3]], &[&[1, 2], &[0], &[3]]],
    ));
    all.push(case(
        "a_peer_has_registered_what_is_performed_below",
        &[
            on(0, &[Do::Add(X, 1, SYNC)]),
            on(0, &[Do::Add(X, 1, (AcqRel, Device))]),
            on(1, &[Do::Add(X, 1, WG)]),
        ],
        &[X],
        &[
            &[&[0], &[1], &[2], &[3]],
            &[&[0], &[2], &[1], &[3]],
            &[&[1], &[0], &[2], &[3]],
            &[&[1], &[2], &[0], &[3]],
            &[&[2], &[0], &[1], &[3]],
            &[&[2], &[1], &[0], &[3]],
        ],
    ));
    all
}

/// Programs with system scope, the host, and the ends of kernels.
pub(super) fn boundaries() -> Vec<Expected> {
    vec![
        case(
            "the_host_sees_registered_words_when_the_kernel_has_ended",
            &[on(0, &[Do::Update(X, 1, SYNC)]), host(&[Do::Load(X, PLAIN)])],
            &[X],
            &[&[&[], &[1], &[1]]],
        )
        .in_stages(&[0, 1]),
        case(
            "registered_words_are_seen_anew_when_the_host_has_written",
            &[on(0, &[Do::Add(X, 1, SYNC)]), host(&[Do::Store(X, 7, PLAIN)]), on(0, &[Do::Add(X, 1, SYNC)])],
            &[X],
            &[&[&[0], &[], &[7], &[8]]],
        )
        .in_stages(&[0, 1, 2]),
        case(
            "registered_and_system_additions",
            &[on(0, &[Do::Add(X, 1, SYNC)]), on(1, &[Do::Add(X, 1, (SeqCst, System))])],
            &[X],
            &[&[&[0], &[1], &[2]], &[&[1], &[0], &[2]]],
        ),
        case(
            "registration_is_had_while_others_acquire_at_system_scope",
            &[
                on(0, &[Do::Add(X, 1, SYNC), Do::Store(Y, 1, SYS)]),
                on(1, &[Do::Await(Y, 1, (Acquire, System))]),
            ],
            &[X],
            &[&[&[0], &[], &[1]]],
        ),
        case(
            "two_system_acquires_and_a_registration",
            &[
                on(0, &[Do::Fence((AcqRel, System)), Do::Add(X, 1, SYNC)]),
                on(1, &[Do::Add(X, 1, SYNC), Do::Fence((AcqRel, System))]),
            ],
            &[X],
            &[&[&[0], &[1], &[2]], &[&[1], &[0], &[2]]],
        ),
    ]
}

/// Programs with words that are both atomics and data. In published hLRC, a load that bypasses the
/// L1 reads the value from before an atomic.
pub(crate) fn mixed() -> Vec<Expected> {
    vec![
        case(
            "an_atomic_is_read_as_data",
            &[on(0, &[Do::Add(X, 1, SYNC), Do::Load(X, PLAIN)])],
            &[X],
            &[&[&[0, 1], &[1]]],
        ),
        case(
            "data_is_added_to_and_read",
            &[on(
                0,
                &[
                    Do::Store(X, 5, PLAIN),
                    Do::Add(X, 1, SYNC),
                    Do::Load(X, PLAIN),
                    Do::Store(X, 9, PLAIN),
                    Do::Add(X, 1, SYNC),
                ],
            )],
            &[X],
            &[&[&[5, 6, 9], &[10]]],
        ),
        case(
            "an_atomic_is_data_when_another_has_acquired",
            &[
                on(0, &[Do::Add(X, 1, SYNC), Do::Store(Y, 1, RELEASE)]),
                on(
                    1,
                    &[
                        Do::Load(Z, PLAIN),
                        Do::Await(Y, 1, ACQUIRE),
                        Do::Load(X, PLAIN),
                        Do::Store(X, 5, PLAIN),
                        Do::Load(X, SYNC),
                    ],
                ),
            ],
            &[X],
            &[&[&[0], &[0, 1, 5], &[5]]],
        ),
        case(
            "data_is_an_atomic_when_another_has_acquired",
            &[
                on(
                    0,
                    &[
                        Do::Add(X, 1, SYNC),
                        Do::Store(Y, 1, RELEASE),
                        Do::Await(Y, 2, ACQUIRE),
                        Do::Add(X, 1, SYNC),
                    ],
                ),
                on(1, &[Do::Await(Y, 1, ACQUIRE), Do::Store(X, 7, PLAIN), Do::Store(Y, 2, RELEASE)]),
            ],
            &[X],
            &[&[&[0, 7], &[], &[8]]],
        ),
        case(
            "a_peer_acquires_while_bytes_are_asked_for_anew",
            &[
                on(
                    0,
                    &[
                        Do::Add(X, 1, SYNC),
                        Do::Fence((AcqRel, WorkGroup)),
                        Do::Add(X, 1, SYNC),
                        Do::Load(Z, PLAIN),
                    ],
                ),
                on(0, &[Do::Fence((AcqRel, WorkGroup))]),
                on(1, &[Do::Update(X, 1, SYNC)]),
            ],
            &[X],
            &[&[&[0, 1, 0], &[], &[], &[3]], &[&[0, 2, 0], &[], &[], &[3]], &[&[1, 2, 0], &[], &[], &[3]]],
        ),
    ]
}
