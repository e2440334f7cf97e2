//! Walks (small programs with expected outcomes) of the protocol that registers all written words.

use crate::walks::programs::{Expected, PLAIN, U, X, Y, Z, all, case, host, on};
use crate::walks::registered::{self, wrong};
use crate::walks::walker::{Do, Sync};
use proto::Level::{Device, System, WorkGroup};
use proto::Order::{AcqRel, Acquire, Relaxed, Release};
use zoo::denovo::DenovoB;

const SYNC: Sync = (AcqRel, WorkGroup);
const ACQUIRE: Sync = (Acquire, WorkGroup);
const RELEASE: Sync = (Release, WorkGroup);
const SYS: Sync = (Relaxed, System);

/// Programs on lines with several writers.
pub(crate) fn written() -> Vec<Expected> {
    let mut written = falsely_shared();
    written.extend(filled());
    written.extend(given_up());
    written.extend(joined());
    written.extend(with_the_host());
    written
}

/// Programs with lines that another thread of the compute unit fills or registers while an acquire
/// invalidates them.
fn filled() -> Vec<Expected> {
    let writer = on(0, &[Do::Store(X, 1, PLAIN), Do::Store(Y, 1, RELEASE)]);
    let peer = on(1, &[Do::Load(X, PLAIN)]);
    vec![
        case(
            "a_stale_fill_under_stored_bytes_is_not_kept",
            &[
                writer.clone(),
                on(1, &[Do::Store(Z, 2, PLAIN), Do::Await(Y, 1, ACQUIRE), Do::Load(X, PLAIN)]),
                peer.clone(),
            ],
            &[X, Z],
            &[&[&[], &[1], &[0], &[1, 2]], &[&[], &[1], &[1], &[1, 2]]],
        ),
        case(
            "a_stale_fill_under_bytes_stored_later_is_not_kept",
            &[
                writer.clone(),
                on(1, &[Do::Await(Y, 1, ACQUIRE), Do::Store(Z, 2, PLAIN), Do::Load(X, PLAIN)]),
                peer,
            ],
            &[X, Z],
            &[&[&[], &[1], &[0], &[1, 2]], &[&[], &[1], &[1], &[1, 2]]],
        ),
        case(
            "a_store_into_a_stale_fill_is_released",
            &[
                on(
                    0,
                    &[
                        Do::Store(X, 1, PLAIN),
                        Do::Store(Y, 1, RELEASE),
                        Do::Await(U, 1, ACQUIRE),
                        Do::Load(Z, PLAIN),
                    ],
                ),
                on(1, &[Do::Await(Y, 1, ACQUIRE), Do::Store(Z, 2, PLAIN), Do::Store(U, 1, RELEASE)]),
                on(1, &[Do::Load(X, PLAIN)]),
            ],
            &[X, Z],
            &[&[&[2], &[], &[0], &[1, 2]], &[&[2], &[], &[1], &[1, 2]]],
        ),
        case(
            "an_access_at_system_scope_makes_the_copy_stale",
            &[on(0, &[Do::Load(Z, PLAIN), Do::Store(X, 7, SYS), Do::Load(X, PLAIN)])],
            &[X],
            &[&[&[0, 7], &[7]]],
        ),
        case(
            "a_copy_under_a_registration_is_not_kept_across_an_acquire",
            &[
                writer,
                on(1, &[Do::Load(X, PLAIN), Do::Await(Y, 1, ACQUIRE), Do::Load(X, PLAIN)]),
                on(1, &[Do::Add(Z, 1, (Relaxed, WorkGroup))]),
            ],
            &[X, Z],
            &[&[&[], &[0, 1], &[0], &[1, 1]], &[&[], &[1, 1], &[0], &[1, 1]]],
        ),
    ]
}

/// Programs with words of one line that have different writers.
fn falsely_shared() -> Vec<Expected> {
    vec![
        case(
            "two_caches_store_to_words_of_one_line",
            &[
                on(0, &[Do::Store(X, 1, PLAIN), Do::Store(Y, 1, RELEASE)]),
                on(
                    1,
                    &[
                        Do::Store(Z, 2, PLAIN),
                        Do::Await(Y, 1, ACQUIRE),
                        Do::Load(X, PLAIN),
                        Do::Load(Z, PLAIN),
                    ],
                ),
            ],
            &[X, Z],
            &[&[&[], &[1, 2], &[1, 2]]],
        ),
        case(
            "two_caches_register_the_words_of_one_line_in_turn",
            &[
                on(
                    0,
                    &[
                        Do::Store(X, 1, PLAIN),
                        Do::Store(Y, 1, RELEASE),
                        Do::Store(X, 3, PLAIN),
                        Do::Fence((Release, Device)),
                    ],
                ),
                on(1, &[Do::Store(Z, 2, PLAIN), Do::Fence((AcqRel, Device)), Do::Store(Z, 4, PLAIN)]),
            ],
            &[X, Z],
            &[&[&[], &[], &[3, 4]]],
        ),
        case(
            "a_store_that_is_not_registered_survives_an_acquire_beside_a_newer_word",
            &[
                on(0, &[Do::Store(X, 1, PLAIN), Do::Store(Y, 1, RELEASE)]),
                on(
                    1,
                    &[
                        Do::Load(Z, PLAIN),
                        Do::Store(Z, 2, PLAIN),
                        Do::Await(Y, 1, ACQUIRE),
                        Do::Load(X, PLAIN),
                        Do::Store(Z, 3, PLAIN),
                        Do::Load(Z, PLAIN),
                    ],
                ),
            ],
            &[X, Z],
            &[&[&[], &[0, 1, 3], &[1, 3]]],
        ),
        case(
            "an_atomic_and_data_of_others_share_a_line",
            &[
                on(0, &[Do::Add(X, 1, SYNC), Do::Add(X, 1, SYNC)]),
                on(1, &[Do::Store(Z, 2, PLAIN), Do::Add(X, 1, SYNC), Do::Load(Z, PLAIN)]),
            ],
            &[X, Z],
            &[&[&[0, 1], &[2, 2], &[3, 2]], &[&[0, 2], &[1, 2], &[3, 2]], &[&[1, 2], &[0, 2], &[3, 2]]],
        ),
    ]
}

/// Programs with lines that are evicted while other compute units request them.
fn given_up() -> Vec<Expected> {
    let load = |word| Do::Load(word, PLAIN);
    let reader = |cu| on(cu, &[load(Z), Do::Await(Y, 1, ACQUIRE), load(X)]);
    vec![
        case(
            "the_owner_serves_a_load_or_has_given_the_line_back",
            &[on(0, &[Do::Store(X, 1, PLAIN), Do::Store(Y, 1, RELEASE), load(U)]), reader(1)],
            &[X],
            &[&[&[0], &[0, 1], &[1]]],
        ),
        case(
            "the_owner_has_given_the_line_back_and_asks_for_it_again",
            &[
                on(0, &[Do::Store(X, 1, PLAIN), Do::Store(Y, 1, RELEASE), load(U), Do::Store(Z, 5, PLAIN)]),
                on(1, &[Do::Await(Y, 1, ACQUIRE), load(X)]),
            ],
            &[X, Z],
            &[&[&[0], &[1], &[1, 5]]],
        ),
        case(
            "two_caches_load_what_a_third_has_registered",
            &[
                on(0, &[Do::Store(X, 1, PLAIN), Do::Store(Y, 1, RELEASE)]),
                on(1, &[Do::Await(Y, 1, ACQUIRE), load(X)]),
                on(2, &[Do::Await(Y, 1, ACQUIRE), load(X)]),
            ],
            &[],
            &[&[&[], &[1], &[1]]],
        ),
        case(
            "a_dirty_line_leaves_before_it_is_registered",
            &[
                on(0, &[Do::Store(X, 1, PLAIN), load(U), load(X), Do::Store(Y, 1, RELEASE)]),
                on(1, &[Do::Store(Z, 2, PLAIN), Do::Await(Y, 1, ACQUIRE), load(X), load(Z)]),
            ],
            &[X, Z],
            &[&[&[0, 1], &[1, 2], &[1, 2]]],
        ),
        case(
            "registered_data_moves_to_who_writes_next",
            &[
                on(0, &[Do::Store(X, 1, PLAIN), Do::Store(Y, 1, RELEASE), Do::Await(Y, 2, ACQUIRE), load(X)]),
                on(1, &[Do::Await(Y, 1, ACQUIRE), load(X), Do::Store(X, 2, PLAIN), Do::Store(Y, 2, RELEASE)]),
            ],
            &[X],
            &[&[&[2], &[1], &[2]]],
        ),
    ]
}

/// Programs in which threads of one compute unit join a registration under way.
fn joined() -> Vec<Expected> {
    let load = |word| Do::Load(word, PLAIN);
    vec![
        case(
            "a_store_joins_the_registration_of_a_peer_and_is_released",
            &[
                on(0, &[Do::Update(X, 1, (Relaxed, WorkGroup))]),
                on(0, &[Do::Store(Z, 5, PLAIN), Do::Store(Y, 1, RELEASE)]),
                on(1, &[Do::Await(Y, 1, ACQUIRE), load(Z)]),
            ],
            &[X],
            &[&[&[], &[], &[5], &[1]]],
        ),
        case(
            "a_release_covers_the_stores_of_peers_before_it",
            &[
                on(0, &[Do::Store(X, 1, PLAIN), Do::Store(Y, 1, RELEASE)]),
                on(0, &[Do::Await(Y, 1, ACQUIRE), Do::Store(U, 1, RELEASE)]),
                on(1, &[Do::Await(U, 1, ACQUIRE), load(X)]),
            ],
            &[],
            &[&[&[], &[], &[1]]],
        ),
        case(
            "a_load_waits_for_the_bytes_that_come_with_a_registration",
            &[
                on(0, &[Do::Store(Z, 3, PLAIN), Do::Fence((Release, Device))]),
                on(0, &[load(X), Do::Fence((Acquire, Device)), load(X)]),
            ],
            &[X, Z],
            &[&[&[], &[7, 7], &[7, 3]]],
        )
        .beginning_with(&[(X, 7)]),
        case(
            "a_peer_acquires_while_a_line_is_registered",
            &[
                on(0, &[load(Z), Do::Store(Z, 3, PLAIN), Do::Fence((Release, Device))]),
                on(0, &[Do::Await(Y, 1, ACQUIRE), load(X)]),
                on(1, &[Do::Store(X, 1, PLAIN), Do::Store(Y, 1, RELEASE)]),
            ],
            &[X, Z],
            &[&[&[0], &[1], &[], &[1, 3]]],
        ),
    ]
}

/// Programs in which the host writes to registered lines.
fn with_the_host() -> Vec<Expected> {
    vec![
        case(
            "the_host_writes_beside_what_is_registered",
            &[on(0, &[Do::Store(X, 1, PLAIN)]), host(&[Do::Store(Z, 7, PLAIN)])],
            &[X, Z],
            &[&[&[], &[], &[1, 7]]],
        ),
        case(
            "the_host_reads_what_two_caches_have_written",
            &[
                on(0, &[Do::Store(X, 1, PLAIN), Do::Store(Y, 1, (Release, System))]),
                host(&[Do::Await(Y, 1, (Acquire, System)), Do::Load(X, PLAIN)]),
                on(1, &[Do::Store(Z, 2, PLAIN), Do::Fence((Release, Device))]),
            ],
            &[X, Z],
            &[&[&[], &[1], &[], &[1, 2]]],
        ),
        case(
            "own_stores_come_before_a_system_access_to_their_word",
            &[on(0, &[Do::Store(X, 5, PLAIN), Do::Add(X, 1, SYS), Do::Load(X, PLAIN), Do::Add(X, 1, SYNC)])],
            &[X],
            &[&[&[5, 6, 6], &[7]]],
        ),
    ]
}

macro_rules! only_expected_outcomes {
    ($($name:ident: $protocol:ty, $programs:expr;)+) => {
        $(
            #[test]
            fn $name() {
                let wrong = wrong::<$protocol>(&$programs, false);
                assert!(wrong.is_empty(), "{wrong:#?}");
            }
        )+
    };
}

only_expected_outcomes! {
    written_lines_keep_their_promises_in_denovo_b: DenovoB, written();
    registration_keeps_its_promises_in_denovo_b: DenovoB, registered::all();
    words_may_be_atomics_and_data_in_denovo_b: DenovoB, registered::kinds::mixed();
    programs_with_scopes_keep_their_promises_in_denovo_b: DenovoB, all();
}
