//! Every protocol is verified within a small bound, or refuted if it is known to be wrong. The
//! tests are the papers' programs, the OpenCL tests, and samples of the tests about caches, of
//! generated programs with up to three operations, of message programs and of larger programs.

use explore::claim::Claim;
use explore::corpus;
use explore::verify::{self, Machines, Options, Status, Verification};

use super::{TIMED_THREADS_MAX, is_timed};

/// The maximum number of threads in the tests about caches that a protocol explores here. A test of
/// three or four threads can take longer than all others together.
const CACHES_THREADS_MAX: usize = 2;

/// The fraction of the tests about caches that each protocol explores: one in this number.
/// Successive protocols explore different tests. Each of these tests runs on one machine. The
/// command `fencepost verify` explores all of them, on all machines.
const CACHES_STEP: usize = 4;

/// The fraction of generated programs that is explored: one in this number.
const GENERATED_STEP: usize = 193;

/// The fraction of all these programs that the protocols with a stateless directory explore, whose
/// directory asks hosts about each access: one in this number.
const LARGE_STEP: usize = 2;

/// The number of larger programs that are drawn for the sample.
const SAMPLE: usize = 12;

/// The maximum number of threads in the programs of the `quick-release` protocols.
const FIFO_THREADS_MAX: usize = 2;

/// The minimum number of programs in which synchronization orders data between compute units or
/// hosts.
const SYNCHRONIZED_MIN: usize = 8;

/// The maximum number of instructions in the programs of the protocols with epochs or leases. With
/// epochs, a program has the most states.
const EPOCHS_LENGTH_MAX: usize = 6;
const LEASES_LENGTH_MAX: usize = 9;

/// The maximum number of states of a protocol with epochs or leases in this test. It bounds the time
/// that one more protocol adds to the tests.
const TIMED_STATES_MAX: u64 = 5_000_000;

/// The number of instructions of a test.
fn length(test: &verify::Test) -> usize {
    test.program().threads.iter().map(|thread| thread.code.len()).sum()
}

/// Whether a thread of a shipped test waits in a loop.
fn spins(test: &verify::Test) -> bool {
    let text = corpus::SHIPPED.iter().find(|(path, _)| *path == test.name);
    text.is_some_and(|(_, text)| ["await(", "while ("].iter().any(|word| text.contains(word)))
}

fn verified(protocol: &str) -> Verification {
    let subject = subjects::explored(protocol).expect("a protocol");
    let claims = Claim::all_of(&subject.info).expect("known models");
    let shipped = corpus::shipped().expect("they are tests");
    let is_of = |test: &verify::Test, folder| test.name.starts_with(folder);
    let turn = zoo::ALL.iter().position(|info| info.name == protocol).expect("a protocol");
    // Without coherent caches of hosts, the programs for several hosts run on compute units, where
    // other programs do the same.
    let has_hosts = subject.info.hosts == proto::Hosts::Cached;
    // In `rcc`, a write can wait for ever beside a thread that polls. The page of the protocol says why.
    let may_poll = protocol != "rcc";
    let about_caches = shipped.iter().filter(|test| {
        is_of(test, "caches/")
            && (has_hosts || !is_of(test, "caches/hosts-"))
            && test.program().threads.len() <= CACHES_THREADS_MAX
            && (may_poll || !spins(test))
    });
    let mut tests: Vec<_> = about_caches.skip(turn % CACHES_STEP).step_by(CACHES_STEP).cloned().collect();
    tests.iter_mut().for_each(|test| test.machines = Machines::InTurn);
    tests.extend(shipped.into_iter().filter(|test| is_of(test, "hrf/") || is_of(test, "opencl/")));
    if is_timed(protocol) {
        let length_max = if protocol.starts_with("stc-") { EPOCHS_LENGTH_MAX } else { LEASES_LENGTH_MAX };
        tests.retain(|test| test.program().threads.len() <= TIMED_THREADS_MAX && length(test) <= length_max);
        // These protocols have many states. So each test runs on one machine, and successive tests on
        // others.
        tests.iter_mut().for_each(|test| test.machines = Machines::InTurn);
        let options = Options::new(verify::machines_of(&subject.info));
        let found = verify::verify(&subject, &tests, &options).expect("known models");
        assert!(found.states < TIMED_STATES_MAX, "{protocol}: {} states", found.states);
        return found;
    }
    tests.extend(corpus::messages(&claims).into_iter().step_by(GENERATED_STEP));
    tests.extend(
        corpus::generated(&claims, corpus::scopes_matter(&subject), 3, true, 1, &|| false)
            .into_iter()
            .step_by(GENERATED_STEP),
    );
    tests.extend(corpus::sampled(&claims, corpus::scopes_matter(&subject), SAMPLE, 0, 1, &|| false).tests);
    // These machines have the most controllers. Those of `quick-release-repaired` and its variants also
    // have the most messages.
    let has_fifos = protocol.starts_with("quick-release");
    let is_large = has_fifos || ["wt", "apu-no-l1"].contains(&protocol);
    if has_fifos {
        tests.retain(|test| test.program().threads.len() <= FIFO_THREADS_MAX);
    }
    if is_large && !has_fifos {
        tests = tests.into_iter().step_by(LARGE_STEP).collect();
    }
    // The caches of `moesi` have no write policy, either, and its claims name five kinds of cores.
    if is_large || protocol == "moesi" {
        tests.iter_mut().for_each(|test| test.machines = Machines::InTurn);
    }
    let options = Options::new(verify::machines_of(&subject.info));
    verify::verify(&subject, &tests, &options).expect("known models")
}

fn holds(protocol: &str) {
    let verification = verified(protocol);
    assert!(verification.findings.is_empty(), "{:?}", verification.findings.first());
    assert!(verification.complete, "{:?}", verification.gaps);
    assert!(verification.claims.iter().all(|(_, status)| *status == Status::Verified));
    assert!(verification.synchronized >= SYNCHRONIZED_MIN, "{}", verification.synchronized);
}

fn fails(protocol: &str) {
    let verification = verified(protocol);
    assert!(verification.claims.iter().any(|(_, status)| *status == Status::Refuted));
    // The claim fails only by outcomes: no livelock and no impossible event occurs.
    assert!(verification.complete, "{:?}", verification.gaps);
    let faults = verification.findings.iter().map(|finding| finding.violation.fault);
    assert!(faults.into_iter().all(|fault| fault == explore::Fault::Outcome));
}

macro_rules! verdicts {
    ($($name:ident: $verdict:ident $protocol:literal;)+) => {
        $(
            #[test]
            fn $name() {
                $verdict($protocol);
            }
        )+
    };
}

// `denovo-rprio` and `hlrc-noprio` prefer other victims than `denovo-b` and `hlrc`. The explorer evicts
// in every order, so these pairs have the same states. `rfo` is `moesi` for another machine.
verdicts! {
    vi_holds: holds "vi";
    vi_targeted_holds: holds "vi-targeted";
    no_l1_holds: holds "no-l1";
    rsp_holds: holds "rsp";
    rsp_repaired_holds: holds "rsp-repaired";
    denovo_b_holds: holds "denovo-b";
    hlrc_repaired_holds: holds "hlrc-repaired";
    hlrc_fails: fails "hlrc";
    gpu_vi_holds: holds "gpu-vi";
    stc_nv_repaired_holds: holds "stc-nv-repaired";
    stc_es_repaired_holds: holds "stc-es-repaired";
    stc_ab_repaired_holds: holds "stc-ab-repaired";
    stc_mb_repaired_holds: holds "stc-mb-repaired";
    tc_strong_holds: holds "tc-strong";
    tc_weak_repaired_holds: holds "tc-weak-repaired";
    rcc_holds: holds "rcc";
    rcc_repaired_holds: holds "rcc-repaired";
    g_tsc_repaired_holds: holds "g-tsc-repaired";
    moesi_holds: holds "moesi";
    wt_holds: holds "wt";
    apu_no_l1_holds: holds "apu-no-l1";
    quick_release_repaired_holds: holds "quick-release-repaired";
    quick_release_split_holds: holds "quick-release-split";
    quick_release_groups_holds: holds "quick-release-groups";
}

#[test]
fn a_protocol_with_other_preferred_victims_or_another_machine_has_the_same_states() {
    // The number is the fraction of tests that a pair explores. The last two explore fewer tests,
    // because each of their claims has cores of its own.
    let pairs = [("denovo-b", "denovo-rprio", 8), ("hlrc", "hlrc-noprio", 8), ("moesi", "rfo", 32)];
    for (one, other, step) in pairs {
        let [one, other] = [one, other].map(|protocol| {
            let subject = subjects::explored(protocol).expect("a protocol");
            let about_caches = corpus::shipped().expect("they are tests").into_iter();
            let about_caches = about_caches.filter(|test| {
                test.name.starts_with("caches/") && test.program().threads.len() <= CACHES_THREADS_MAX
            });
            let mut tests: Vec<_> = about_caches.step_by(step).collect();
            tests.iter_mut().for_each(|test| test.machines = Machines::InTurn);
            let options = Options::new(verify::machines_of(&subject.info));
            let found = verify::verify(&subject, &tests, &options).expect("known models");
            (found.states, found.transitions, found.runs)
        });
        assert_eq!(one, other);
    }
}
