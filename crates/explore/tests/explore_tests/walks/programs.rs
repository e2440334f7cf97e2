//! Programs that are race-free, or have determined outcomes for other reasons. Each program is
//! listed with all its outcomes.

use crate::walks::walker::{Do, Outcome, Program, Sync, Thread};
use proto::Level::{Device, System, WorkGroup};
use proto::Order::{AcqRel, Acquire, Plain, Relaxed, Release};
use proto::{Level, WritePolicy};
use std::collections::BTreeSet;

pub(crate) const PLAIN: Sync = (Plain, Device);
pub(crate) const WG: Sync = (Relaxed, WorkGroup);
pub(crate) const DEV: Sync = (Relaxed, Device);
pub(crate) const SYS: Sync = (Relaxed, System);
pub(crate) const POLICIES: [WritePolicy; 3] =
    [WritePolicy::Combining, WritePolicy::Through, WritePolicy::ThroughInvalidate];

/// The words of the programs. Z is on the line of X, and W on the line of Y. X and U share a bank
/// and a set, and so do Y and V. The L1 of the bounded machine has only one set.
pub(crate) const X: u64 = 0;
pub(crate) const Z: u64 = 4;
pub(crate) const Y: u64 = 8;
const W: u64 = 12;
pub(crate) const U: u64 = 16;

/// A program and all its outcomes.
pub(crate) struct Expected {
    pub(crate) program: Program,
    pub(crate) outcomes: BTreeSet<Outcome>,
}

impl Expected {
    /// The same program, but with these words of memory not zero at the beginning.
    pub(crate) fn beginning_with(mut self, words: &[(u64, u32)]) -> Self {
        self.program.initial = words.to_vec();
        self
    }

    /// The same program, but with its threads in stages, which run in sequence: kernels, and steps
    /// of the host. `stages` has the stage of each thread.
    pub(crate) fn in_stages(mut self, stages: &[u8]) -> Self {
        self.program.stages = stages.to_vec();
        self
    }
}

pub(crate) fn on(cu: u16, ops: &[Do]) -> Thread {
    Thread { cu: Some(cu), ops: ops.to_vec() }
}

pub(crate) fn host(ops: &[Do]) -> Thread {
    Thread { cu: None, ops: ops.to_vec() }
}

pub(crate) fn program(name: &'static str, threads: &[Thread], finals: &[u64]) -> Program {
    Program {
        name,
        threads: threads.to_vec(),
        initial: Vec::new(),
        finals: finals.to_vec(),
        stages: Vec::new(),
    }
}

/// The program with this name.
pub(crate) fn expected(name: &str) -> Expected {
    all().into_iter().find(|e| e.program.name == name).unwrap_or_else(|| panic!("no program {name}"))
}

/// All programs of this file and of the file `mishaps`.
pub(crate) fn all() -> Vec<Expected> {
    let mut all = passing();
    all.extend(alone());
    all.extend(shared());
    all.extend(system());
    all.extend(fetches());
    all.extend(crate::walks::mishaps::all());
    all
}

pub(crate) fn case(
    name: &'static str,
    threads: &[Thread],
    finals: &[u64],
    outcomes: &[&[&[u32]]],
) -> Expected {
    let outcomes = outcomes.iter().map(|o| o.iter().map(|r| r.to_vec()).collect()).collect();
    Expected { program: program(name, threads, finals), outcomes }
}

pub(crate) fn writer(level: Level) -> [Do; 2] {
    [Do::Store(X, 1, PLAIN), Do::Store(Y, 1, (Release, level))]
}

/// The operations of a reader that has a stale copy of the data before it acquires.
fn reader(level: Level) -> [Do; 3] {
    [Do::Load(Z, PLAIN), Do::Await(Y, 1, (Acquire, level)), Do::Load(X, PLAIN)]
}

fn passing() -> Vec<Expected> {
    let seen: &[&[&[u32]]] = &[&[&[], &[0, 1]]];
    let fences = [
        on(0, &[Do::Store(X, 1, PLAIN), Do::Fence((Release, Device)), Do::Store(Y, 1, DEV)]),
        on(1, &[Do::Load(Z, PLAIN), Do::Await(Y, 1, DEV), Do::Fence((Acquire, Device)), Do::Load(X, PLAIN)]),
    ];
    // Figure 6 of the HRF paper: the writer's own release has narrow scope.
    let hops = [
        on(0, &[Do::Store(X, 1, PLAIN), Do::Store(Y, 1, (Release, WorkGroup))]),
        on(0, &[Do::Await(Y, 1, (Acquire, WorkGroup)), Do::Store(W, 1, (Release, Device))]),
        on(1, &[Do::Await(W, 1, (Acquire, Device)), Do::Load(X, PLAIN)]),
    ];
    let to_host = [
        on(0, &[Do::Store(X, 1, PLAIN), Do::Store(Y, 1, (Release, Device))]),
        on(1, &[Do::Await(Y, 1, (Acquire, Device)), Do::Store(W, 1, (Release, System))]),
        host(&[Do::Await(W, 1, (Acquire, System)), Do::Load(X, PLAIN)]),
    ];
    vec![
        case("message_passing_at_device_scope", &[on(0, &writer(Device)), on(1, &reader(Device))], &[], seen),
        case(
            "message_passing_within_a_work_group",
            &[on(0, &writer(WorkGroup)), on(0, &reader(WorkGroup))],
            &[],
            seen,
        ),
        case("message_passing_to_the_host", &[on(0, &writer(System)), host(&reader(System))], &[], seen),
        case("message_passing_from_the_host", &[host(&writer(System)), on(0, &reader(System))], &[], seen),
        case(
            "message_passing_at_system_scope_between_cus",
            &[on(0, &writer(System)), on(1, &reader(System))],
            &[],
            seen,
        ),
        case("fences_order_relaxed_accesses", &fences, &[], seen),
        case("two_hops_carry_what_a_peer_released", &hops, &[], &[&[&[], &[], &[1]]]),
        case("two_levels_carry_a_device_release_to_the_host", &to_host, &[], &[&[&[], &[], &[1]]]),
    ]
}

/// Programs of one thread, or of threads in one work-group, that read their own writes.
fn alone() -> Vec<Expected> {
    vec![
        case(
            "an_update_that_is_not_waited_for_comes_before_a_later_store",
            &[on(0, &[Do::Update(X, 1, DEV), Do::Store(X, 5, PLAIN), Do::Load(X, DEV)])],
            &[X],
            &[&[&[5], &[5]]],
        ),
        case(
            "an_update_that_is_not_waited_for_comes_before_a_later_system_load",
            &[on(0, &[Do::Update(X, 1, DEV), Do::Load(X, SYS), Do::Load(X, PLAIN)])],
            &[X],
            &[&[&[1, 1], &[1]]],
        ),
        case(
            "a_store_that_is_not_waited_for_comes_before_later_accesses_of_every_level",
            &[on(
                0,
                &[
                    Do::Store(U, 3, DEV),
                    Do::Store(X, 1, DEV),
                    Do::Add(X, 1, SYS),
                    Do::Update(X, 1, DEV),
                    Do::Add(X, 1, WG),
                    Do::Load(X, DEV),
                ],
            )],
            &[X, U],
            &[&[&[1, 3, 4], &[4, 3]]],
        ),
        case(
            "a_write_that_waits_for_a_way_is_not_passed",
            &[on(
                0,
                &[
                    Do::Load(U, PLAIN),
                    Do::Store(X, 1, PLAIN),
                    Do::Load(X, SYS),
                    Do::Store(U, 2, PLAIN),
                    Do::Load(U, SYS),
                ],
            )],
            &[X, U],
            &[&[&[0, 1, 2], &[1, 2]]],
        ),
        case(
            "an_evicted_line_is_not_lost_under_a_fill",
            &[
                on(0, &[Do::Store(X, 1, PLAIN), Do::Load(U, PLAIN), Do::Load(X, PLAIN), Do::Load(Z, PLAIN)]),
                on(0, &[Do::Load(Y, PLAIN)]),
            ],
            &[X],
            &[&[&[0, 1, 0], &[0], &[1]]],
        ),
        case(
            "stores_to_many_lines_leave_when_there_is_no_room",
            &[
                on(0, &[Do::Store(X, 1, PLAIN), Do::Store(Y, 2, PLAIN), Do::Fence((Release, Device))]),
                on(0, &[Do::Store(U, 3, PLAIN), Do::Load(Z, PLAIN)]),
            ],
            &[X, Y, U],
            &[&[&[], &[0], &[1, 2, 3]]],
        ),
        case(
            "a_line_is_dropped_while_it_is_filled",
            &[
                on(0, &[Do::Add(X, 1, WG), Do::Store(Z, 4, PLAIN)]),
                on(0, &[Do::Fence((Acquire, Device)), Do::Add(X, 1, DEV)]),
            ],
            &[X, Z],
            &[&[&[0], &[1], &[2, 4]], &[&[1], &[0], &[2, 4]]],
        ),
    ]
}

/// Programs with accesses to a line that is being fetched, in an L1 or in a bank.
fn fetches() -> Vec<Expected> {
    let quiet = on(1, &[Do::Load(Z, PLAIN)]);
    let mut all = fills();
    all.extend([
        case(
            "a_fetch_of_a_peer_is_not_kept_across_a_system_acquire",
            &[
                host(&writer(System)),
                on(0, &[Do::Await(Y, 1, (Acquire, System)), Do::Load(X, PLAIN)]),
                quiet.clone(),
            ],
            &[],
            &[&[&[], &[1], &[0]]],
        ),
        case(
            "a_fetch_under_dirty_bytes_is_not_kept_across_a_system_acquire",
            &[
                host(&writer(System)),
                on(0, &[Do::Store(Z, 2, DEV), Do::Await(Y, 1, (Acquire, System)), Do::Load(X, PLAIN)]),
                on(1, &[Do::Load(X, DEV)]),
            ],
            &[Z],
            &[&[&[], &[1], &[0], &[2]], &[&[], &[1], &[1], &[2]]],
        ),
        case(
            "accesses_of_every_kind_meet_a_fetch",
            &[
                on(
                    0,
                    &[
                        Do::Store(X, 1, DEV),
                        Do::Add(X, 1, SYS),
                        Do::Store(X, 5, DEV),
                        Do::Add(X, 1, SYS),
                        Do::Update(X, 1, DEV),
                        Do::Load(X, DEV),
                    ],
                ),
                quiet.clone(),
            ],
            &[X],
            &[&[&[1, 5, 7], &[0], &[7]]],
        ),
        case(
            "system_accesses_meet_a_fetch",
            &[on(0, &[Do::Add(X, 1, SYS), Do::Add(X, 1, SYS), Do::Load(X, PLAIN)]), quiet.clone()],
            &[X],
            &[&[&[0, 1, 2], &[0], &[2]]],
        ),
        case(
            "a_system_fence_meets_a_fetch",
            &[
                on(
                    0,
                    &[
                        Do::Store(X, 1, DEV),
                        Do::Add(X, 1, SYS),
                        Do::Store(X, 3, DEV),
                        Do::Fence((AcqRel, System)),
                        Do::Store(Y, 1, SYS),
                        Do::Load(X, DEV),
                    ],
                ),
                quiet,
                host(&[Do::Await(Y, 1, SYS), Do::Load(X, SYS)]),
            ],
            &[X],
            &[&[&[1, 3], &[0], &[3], &[3]]],
        ),
        case(
            "accesses_of_every_kind_meet_a_fetch_that_is_dropped",
            &[
                on(0, &[Do::Load(X, DEV)]),
                on(1, &[Do::Add(X, 1, SYS)]),
                on(1, &[Do::Store(Z, 3, DEV), Do::Load(Z, DEV), Do::Update(Z, 1, DEV), Do::Load(Z, PLAIN)]),
            ],
            &[X, Z],
            &[&[&[0], &[0], &[3, 4], &[1, 4]], &[&[1], &[0], &[3, 4], &[1, 4]]],
        ),
        case(
            "system_accesses_meet_a_fetch_that_is_dropped",
            &[
                on(0, &[Do::Load(X, DEV)]),
                on(1, &[Do::Add(X, 1, SYS)]),
                on(
                    1,
                    &[
                        Do::Store(Z, 3, DEV),
                        Do::Add(Z, 1, SYS),
                        Do::Fence((AcqRel, System)),
                        Do::Load(Z, DEV),
                    ],
                ),
            ],
            &[X, Z],
            &[&[&[0], &[0], &[3, 4], &[1, 4]], &[&[1], &[0], &[3, 4], &[1, 4]]],
        ),
        case(
            "a_system_fence_meets_a_fetch_that_is_dropped",
            &[
                on(0, &[Do::Load(X, DEV)]),
                on(1, &[Do::Add(X, 1, SYS)]),
                on(1, &[Do::Store(Z, 3, DEV), Do::Fence((AcqRel, System)), Do::Load(Z, SYS)]),
            ],
            &[X, Z],
            &[&[&[0], &[0], &[3], &[1, 3]], &[&[1], &[0], &[3], &[1, 3]]],
        ),
        case(
            "a_line_is_asked_for_while_its_fetch_is_dropped",
            &[
                on(
                    0,
                    &[
                        Do::Store(Z, 2, DEV),
                        Do::Add(X, 1, SYS),
                        Do::Store(Z, 3, DEV),
                        Do::Load(X, PLAIN),
                        Do::Load(Z, PLAIN),
                    ],
                ),
                on(1, &[Do::Load(X, DEV)]),
            ],
            &[X, Z],
            &[&[&[0, 1, 3], &[0], &[1, 3]], &[&[0, 1, 3], &[1], &[1, 3]]],
        ),
    ]);
    all
}

fn fills() -> Vec<Expected> {
    let peer = on(0, &[Do::Load(Z, PLAIN)]);
    vec![
        case(
            "a_stale_fill_of_a_peer_is_not_kept",
            &[
                on(0, &writer(Device)),
                on(1, &[Do::Await(Y, 1, (Acquire, Device)), Do::Load(X, PLAIN)]),
                on(1, &[Do::Load(Z, PLAIN)]),
            ],
            &[],
            &[&[&[], &[1], &[0]]],
        ),
        case(
            "a_stale_fill_under_dirty_bytes_is_not_kept",
            &[
                on(0, &writer(Device)),
                on(1, &[Do::Store(Z, 2, PLAIN), Do::Await(Y, 1, (Acquire, Device)), Do::Load(X, PLAIN)]),
                on(1, &[Do::Load(X, WG)]),
            ],
            &[X, Z],
            &[&[&[], &[1], &[0], &[1, 2]], &[&[], &[1], &[1], &[1, 2]]],
        ),
        case(
            "a_release_carries_a_store_into_a_line_that_is_filled",
            &[
                on(0, &writer(Device)),
                peer.clone(),
                on(1, &[Do::Await(Y, 1, (Acquire, Device)), Do::Load(X, PLAIN)]),
            ],
            &[],
            &[&[&[], &[0], &[1]]],
        ),
        case(
            "accesses_of_two_levels_meet_a_fill",
            &[
                on(0, &[Do::Store(X, 1, PLAIN), Do::Load(X, DEV), Do::Store(X, 2, PLAIN), Do::Load(X, DEV)]),
                peer.clone(),
            ],
            &[X],
            &[&[&[1, 2], &[0], &[2]]],
        ),
        case(
            "acquires_and_stores_meet_a_fill",
            &[
                on(
                    0,
                    &[
                        Do::Fence((Acquire, Device)),
                        Do::Store(X, 1, PLAIN),
                        Do::Fence((AcqRel, Device)),
                        Do::Store(X, 2, PLAIN),
                        Do::Fence((Acquire, Device)),
                        Do::Load(X, PLAIN),
                    ],
                ),
                peer.clone(),
            ],
            &[X],
            &[&[&[2], &[0], &[2]]],
        ),
        case(
            "an_update_below_meets_a_fill",
            &[on(0, &[Do::Store(X, 1, PLAIN), Do::Add(X, 1, DEV), Do::Load(X, PLAIN)]), peer.clone()],
            &[X],
            &[&[&[1, 2], &[0], &[2]]],
        ),
        case(
            "an_update_below_meets_a_fill_that_is_dropped",
            &[
                on(0, &[Do::Store(X, 1, PLAIN), Do::Add(X, 1, DEV), Do::Load(X, PLAIN)]),
                on(0, &[Do::Fence((Acquire, Device))]),
                peer.clone(),
            ],
            &[X],
            &[&[&[1, 2], &[], &[0], &[2]]],
        ),
        case(
            "an_access_below_makes_the_copy_stale",
            &[on(0, &[Do::Load(Z, PLAIN), Do::Store(X, 7, DEV), Do::Load(X, PLAIN)])],
            &[X],
            &[&[&[0, 7], &[7]]],
        ),
        case(
            "an_access_below_makes_dirty_bytes_stale",
            &[on(0, &[Do::Store(X, 1, PLAIN), Do::Store(X, 7, DEV), Do::Load(X, PLAIN)])],
            &[X],
            &[&[&[7], &[7]]],
        ),
        case("two_loads_wait_for_one_fill", &[on(0, &[Do::Load(X, PLAIN)]), peer], &[], &[&[&[0], &[0]]]),
        case(
            "an_update_needs_the_rest_of_a_line",
            &[on(0, &[Do::Store(Z, 1, PLAIN), Do::Add(X, 1, WG), Do::Load(Z, PLAIN)])],
            &[X, Z],
            &[&[&[0, 1], &[1, 1]]],
        ),
        case(
            "an_update_needs_the_rest_of_a_line_in_the_bank",
            &[on(0, &[Do::Store(Z, 1, DEV), Do::Add(X, 1, DEV), Do::Load(Z, PLAIN)])],
            &[X, Z],
            &[&[&[0, 1], &[1, 1]]],
        ),
    ]
}

/// Programs of threads on one or two compute units.
fn shared() -> Vec<Expected> {
    let add = |level| Do::Add(X, 1, (AcqRel, level));
    vec![
        case(
            "words_of_a_line_are_written_side_by_side",
            &[
                on(0, &[Do::Store(X, 1, PLAIN), Do::Store(Y, 1, (Release, Device))]),
                on(
                    1,
                    &[
                        Do::Store(Z, 2, PLAIN),
                        Do::Await(Y, 1, (Acquire, Device)),
                        Do::Load(X, PLAIN),
                        Do::Load(Z, PLAIN),
                    ],
                ),
            ],
            &[X, Z],
            &[&[&[], &[1, 2], &[1, 2]]],
        ),
        case(
            "a_word_is_atomic_and_data",
            &[
                on(0, &[Do::Store(X, 5, PLAIN), Do::Add(X, 1, (Release, Device))]),
                on(1, &[Do::Await(X, 6, (Acquire, Device)), Do::Store(X, 9, PLAIN), Do::Load(X, DEV)]),
            ],
            &[X],
            &[&[&[5], &[9], &[9]]],
        ),
        case(
            "an_acquire_keeps_the_bytes_of_a_peer",
            &[
                on(0, &[Do::Store(X, 1, PLAIN), Do::Load(X, PLAIN), Do::Load(Z, PLAIN)]),
                on(0, &[Do::Fence((Acquire, Device))]),
                on(1, &[Do::Store(U, 2, PLAIN)]),
            ],
            &[X, U],
            &[&[&[1, 0], &[], &[], &[1, 2]]],
        ),
        case(
            "additions_of_mixed_scopes_in_one_work_group",
            &[on(0, &[add(WorkGroup)]), on(0, &[add(Device)])],
            &[X],
            &[&[&[0], &[1], &[2]], &[&[1], &[0], &[2]]],
        ),
        case(
            "additions_at_device_and_system_scope",
            &[on(0, &[Do::Add(X, 1, DEV)]), on(1, &[Do::Add(X, 1, SYS)])],
            &[X],
            &[&[&[0], &[1], &[2]], &[&[1], &[0], &[2]]],
        ),
        case(
            "updates_are_counted_when_the_kernel_has_ended",
            &[on(0, &[Do::Update(X, 1, DEV)]), host(&[Do::Load(X, PLAIN)])],
            &[X],
            &[&[&[], &[1], &[1]]],
        )
        .in_stages(&[0, 1]),
    ]
}

fn system() -> Vec<Expected> {
    vec![
        case(
            "system_releases_of_two_cus_at_once",
            &[
                on(0, &[Do::Store(X, 1, PLAIN), Do::Fence((Release, System)), Do::Store(Y, 1, SYS)]),
                on(1, &[Do::Store(U, 2, PLAIN), Do::Fence((Release, System)), Do::Store(W, 1, SYS)]),
                host(&[Do::Await(W, 1, SYS), Do::Load(U, SYS), Do::Await(Y, 1, SYS), Do::Load(X, SYS)]),
            ],
            &[],
            &[&[&[], &[], &[2, 1]]],
        ),
        case(
            "system_acquire_meets_dirty_bytes",
            &[
                on(
                    0,
                    &[
                        Do::Store(X, 1, PLAIN),
                        Do::Fence((Release, Device)),
                        Do::Await(Y, 1, (Acquire, System)),
                        Do::Load(X, PLAIN),
                        Do::Load(Z, PLAIN),
                    ],
                ),
                host(&[Do::Store(Z, 2, PLAIN), Do::Store(Y, 1, (Release, System))]),
            ],
            &[X, Z],
            &[&[&[1, 2], &[], &[1, 2]]],
        ),
        case(
            "the_host_and_the_gpu_write_one_line",
            &[
                on(0, &[Do::Load(Z, PLAIN), Do::Store(X, 1, PLAIN), Do::Fence((Release, System))]),
                host(&[Do::Store(Z, 2, PLAIN), Do::Load(Z, PLAIN)]),
            ],
            &[X, Z],
            &[&[&[0], &[2], &[1, 2]], &[&[2], &[2], &[1, 2]]],
        ),
    ]
}
