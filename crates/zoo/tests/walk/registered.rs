//! Walks of protocols that register the lines of atomics: scopes are hints, so
//! every program is walked as it is and with work-group scope everywhere.

use crate::programs::{self, Expected, PLAIN, SYS, U, X, Y, Z, case, host, on};
use crate::walker::{Bounds, Do, Outcome, Program, Sync, walk_at_most};
use proto::Level::{Device, System, WorkGroup};
use proto::Order::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use proto::{Protocol, WritePolicy};
use std::collections::BTreeSet;
use zoo::hlrc::{Hlrc, HlrcNoprio, HlrcRepaired};

/// The same program, with work-group scope in the place of device scope.
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
            Do::KernelBegin(_) | Do::KernelEnd(_) | Do::Remote(_) => continue,
        };
        if sync.1 == Device {
            sync.1 = WorkGroup;
        }
    }
    narrowed
}

/// The same program, with data where it has relaxed accesses of a work-group.
fn plain(program: &Program) -> Program {
    let mut plain = program.clone();
    for op in plain.threads.iter_mut().flat_map(|t| &mut t.ops) {
        if let Do::Store(_, _, s) | Do::Load(_, s) | Do::Until(_, _, s, _) = op
            && *s == WG
        {
            *s = PLAIN;
        }
    }
    plain
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

/// How many states of a program are walked, over all machines. Larger bounds
/// are a matter for a checker.
const STATES_MAX: usize = 200_000;

/// All outcomes of a program, on the machines for which the states suffice.
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

/// Says of which programs a protocol shows anything but what is expected.
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

/// Programs on registration, with no word that is data and an atomic.
pub(crate) fn all() -> Vec<Expected> {
    let mut all = moving();
    all.extend(beside());
    all.extend(relaxed());
    all.extend(hinted());
    all.extend(boundaries());
    all.extend(crossing());
    all
}

/// Registration moves between caches.
fn moving() -> Vec<Expected> {
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

/// Data beside atomics in one line.
fn beside() -> Vec<Expected> {
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

/// Relaxed atomics and fences (III.C.3).
fn relaxed() -> Vec<Expected> {
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

/// Scopes as hints (V.C): device scope here, none there.
fn hinted() -> Vec<Expected> {
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

/// Recalls and forwarded atomics meet lines that are no longer registered, and
/// other things come between a recall and its end.
fn crossing() -> Vec<Expected> {
    let add = Do::Add(X, 1, SYNC);
    // Two lines take the ways; the line comes back in another state.
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
                on(0, &[Do::Store(Z, 3, WG), Do::KernelEnd(System), Do::Store(Y, 1, SYS)]),
                one(1),
                host(&[Do::Await(Y, 1, SYS), Do::Load(Z, SYS)]),
            ],
            &[],
            &[&[&[], &[], &[3]]],
        ),
        case(
            "a_line_stays_registered_when_a_system_release_finds_it",
            &[
                on(0, &[Do::Store(Z, 3, WG), Do::KernelEnd(System), Do::Update(X, 1, SYNC)]),
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
                on(0, &[Do::Store(Z, 3, PLAIN), Do::KernelEnd(System), Do::Store(Y, 1, SYS)]),
                on(1, &[Do::Load(X, PLAIN)]),
                host(&[Do::Await(Y, 1, SYS), Do::Load(Z, SYS)]),
            ],
            &[],
            &[&[&[], &[0], &[3]]],
        ),
    ]);
    all
}

/// System scope, the host, and the ends of kernels.
fn boundaries() -> Vec<Expected> {
    vec![
        case(
            "the_host_sees_registered_words_when_the_kernel_has_ended",
            &[
                on(
                    0,
                    &[
                        Do::KernelBegin(Device),
                        Do::Update(X, 1, SYNC),
                        Do::KernelEnd(Device),
                        Do::KernelEnd(System),
                        Do::Store(Y, 1, (Release, System)),
                    ],
                ),
                host(&[Do::Await(Y, 1, (Acquire, System)), Do::Load(X, PLAIN)]),
            ],
            &[X],
            &[&[&[], &[1], &[1]]],
        ),
        case(
            "registered_words_are_seen_anew_when_the_host_has_written",
            &[
                on(
                    0,
                    &[
                        Do::Add(X, 1, SYNC),
                        Do::KernelEnd(System),
                        Do::Store(Y, 1, SYS),
                        Do::Await(Y, 2, SYS),
                        Do::KernelBegin(System),
                        Do::Add(X, 1, SYNC),
                    ],
                ),
                host(&[Do::Await(Y, 1, SYS), Do::Store(X, 7, PLAIN), Do::Store(Y, 2, SYS)]),
            ],
            &[X],
            &[&[&[0, 7], &[], &[8]]],
        ),
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

/// Words that are atomics and data (the bypass as published reads what was
/// there before an atomic).
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

/// What shows that registered words cannot be data as published.
const REFUTED: &str = "a_word_is_atomic_and_data";

fn separate() -> Vec<Expected> {
    programs::all().into_iter().filter(|e| e.program.name != REFUTED).collect()
}

/// All programs that keep data and atomics apart, and those with scopes also
/// without.
pub(crate) fn unmixed() -> Vec<Expected> {
    let mut unmixed = all();
    unmixed.extend(programs::all());
    unmixed.extend(separate().into_iter().map(|mut expected| {
        expected.program = narrowed(&expected.program);
        expected
    }));
    unmixed.extend(programs::all().into_iter().map(|mut expected| {
        expected.program = plain(&expected.program);
        expected
    }));
    unmixed
}

/// These, and those that do not.
pub(crate) fn every() -> Vec<Expected> {
    let mut every = unmixed();
    every.extend(mixed());
    every
}

only_expected_outcomes! {
    registration_keeps_its_promises_in_hlrc: Hlrc, all(), false;
    registration_keeps_its_promises_in_hlrc_noprio: HlrcNoprio, all(), false;
    registration_keeps_its_promises_in_hlrc_repaired: HlrcRepaired, all(), false;
    words_may_be_atomics_and_data_in_hlrc_repaired: HlrcRepaired, mixed(), false;
    programs_with_scopes_keep_their_promises_in_hlrc: Hlrc, programs::all(), false;
    programs_with_scopes_keep_their_promises_in_hlrc_repaired: HlrcRepaired, programs::all(), false;
    programs_without_scopes_keep_their_promises_in_hlrc: Hlrc, separate(), true;
    programs_without_scopes_keep_their_promises_in_hlrc_repaired: HlrcRepaired, programs::all(), true;
}

/// The first program is one thread: no order of anything can be to blame.
#[test]
fn words_that_are_atomics_and_data_break_hlrc_as_published() {
    let mixed = mixed();
    let found = outcomes::<Hlrc>(&mixed[0].program).unwrap();
    assert!(found.contains(&vec![vec![0, 0], vec![1]]), "the load at the L2 does not see the addition");
    let wrong = wrong::<Hlrc>(&mixed, false);
    assert!(wrong.len() > 2, "{wrong:#?}");
    let refuted = programs::expected(REFUTED);
    assert!(!outcomes::<Hlrc>(&narrowed(&refuted.program)).unwrap().is_subset(&refuted.outcomes));
}
