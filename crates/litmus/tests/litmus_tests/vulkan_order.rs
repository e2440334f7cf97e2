//! Tests the clauses of the Vulkan memory model on synchronizes-with and happens-before. The
//! comment of each test names the section of the appendix "Memory Model" in the Vulkan
//! specification from which the expected verdicts follow.

use crate::common::passing::{
    ACQUIRE, LEVELS, ONE_QF, ONE_WG, READ, RELEASE, WRITE, is_ordered, lines, orders, run, thread,
};

/// Whether the instructions `release` and `acquire` order a write before a read in another thread
/// (message passing).
#[track_caller]
fn passes(release: &str, acquire: &str) -> bool {
    orders(&thread(&[WRITE, release]), &thread(&[acquire, READ]))
}

/// Section "Synchronizes-With": a release operation synchronizes with an acquire operation. A
/// release barrier before an atomic write, and an acquire barrier after an atomic read, have the
/// same effect.
#[test]
fn atomics_and_barriers_synchronize() {
    let store = "st.atom.dv.sc0 f, 1";
    let load = "ld.atom.dv.sc0 r0, f";
    let before = format!("membar.rel.dv.semsc0; {store}");
    let behind = format!("{load}; membar.acq.dv.semsc0");
    for release in [RELEASE, &before] {
        for acquire in [ACQUIRE, &behind] {
            assert!(passes(release, acquire), "{release}, {acquire}");
        }
    }
    for release in ["st.atom.dv.sc0 f, 1", "st.atom.dv.sc0 f, 1; membar.rel.dv.semsc0"] {
        assert!(!passes(release, ACQUIRE), "{release}");
    }
    for acquire in ["ld.atom.dv.sc0 r0, f", "membar.acq.dv.semsc0; ld.atom.dv.sc0 r0, f"] {
        assert!(!passes(RELEASE, acquire), "{acquire}");
    }
    // An acquire barrier does not release, and a release barrier does not acquire.
    assert!(!passes("membar.acq.dv.semsc0; st.atom.dv.sc0 f, 1", ACQUIRE));
    assert!(!passes(RELEASE, "ld.atom.dv.sc0 r0, f; membar.rel.dv.semsc0"));
}

/// Section "Synchronizes-With": a barrier synchronizes through an atomic only if the barrier's
/// semantics include the storage class of the atomic.
#[test]
fn a_barrier_orders_with_atomics_of_its_classes_only() {
    let write = "st.av.dv.sc1 x, 1";
    let read = "ld.vis.dv.sc1 r1, x";
    let both = "sc0.semsc0.semsc1";
    let release = format!("st.atom.rel.dv.{both} f, 1");
    let acquire = format!("ld.atom.acq.dv.{both} r0, f");
    for (class, expected) in [(1, true), (0, false)] {
        // The operation of the other thread has both storage classes, so only this barrier decides.
        let before = format!("membar.rel.dv.semsc1; st.atom.dv.sc{class} f, 1");
        assert_eq!(orders(&thread(&[write, &before]), &thread(&[&acquire, read])), expected);
        let behind = format!("ld.atom.dv.sc{class} r0, f; membar.acq.dv.semsc1");
        assert_eq!(orders(&thread(&[write, &release]), &thread(&[&behind, read])), expected);
    }
    for class in 0..4 {
        let writer =
            format!("st.av.dv.sc{class} x, 1; membar.rel.dv.semsc{class}; st.atom.dv.sc{class} f, 1");
        let reader =
            format!("ld.atom.dv.sc{class} r0, f; membar.acq.dv.semsc{class}; ld.vis.dv.sc{class} r1, x");
        assert!(orders(&writer, &reader), "sc{class}");
        let other = reader.replace(&format!("semsc{class}"), &format!("semsc{}", (class + 1) % 4));
        assert!(!orders(&writer, &other), "sc{class}");
    }
}

/// Section "Synchronizes-With": two operations synchronize only if the scope of each operation
/// includes the invocation (the thread) of the other operation.
#[test]
fn scopes_include_one_another() {
    for (level, places) in LEVELS {
        for (wide, _) in LEVELS {
            let message = |release: &str, acquire: &str| {
                let writer = format!("{WRITE}; st.atom.rel.{release}.sc0.semsc0 f, 1");
                let reader = format!("ld.atom.acq.{acquire}.sc0.semsc0 r0, f; {READ}");
                is_ordered(&places, &[&writer, &reader], 1)
            };
            let at = |name: &str| LEVELS.iter().position(|(own, _)| *own == name);
            assert_eq!(message(wide, "dv"), at(wide) >= at(level), "{wide}, {level}");
            assert_eq!(message("dv", wide), at(wide) >= at(level), "{wide}, {level}");
        }
    }
    // The scopes fit at each step of the release sequence, but the scopes of the first and the last
    // operation do not include each other's threads.
    let places = ["sg 0, wg 0, qf 0", "sg 1, wg 0, qf 0", "sg 0, wg 1, qf 0"];
    for (scope, expected) in [("wg", false), ("dv", true)] {
        let writer = format!("{WRITE}; st.atom.rel.{scope}.sc0.semsc0 f, 1");
        let update = "rmw.atom.dv.sc0.add r0, f, 1";
        let reader = thread(&[ACQUIRE, READ]);
        assert_eq!(is_ordered(&places, &[&writer, update, &reader], 2), expected, "{scope}");
    }
}

/// Section "Release Sequence": read-modify-writes continue a release sequence, and atomic stores do
/// not continue it.
#[test]
fn a_release_sequence_consists_of_read_modify_writes() {
    let places = ["sg 0, wg 0, qf 0", "sg 0, wg 1, qf 0", "sg 0, wg 2, qf 0"];
    let ordered = |middle: &str, flag: u32| {
        is_ordered(&places, &[&thread(&[WRITE, RELEASE]), middle, &thread(&[ACQUIRE, READ])], flag)
    };
    assert!(ordered("rmw.atom.dv.sc0.add r0, f, 1", 2));
    assert!(ordered("rmw.atom.dv.sc0.add r0, f, 1; rmw.atom.dv.sc0.add r1, f, 1", 3));
    // The update reads the other write, which heads no release sequence. Both writes come after the
    // release.
    for (middle, flag) in
        [("st.atom.dv.sc0 f, 2", 2), ("st.atom.dv.sc0 f, 5; rmw.atom.dv.sc0.add r0, f, 1", 6)]
    {
        let threads = [lines(&thread(&[WRITE, RELEASE])), lines(middle), lines(&thread(&[ACQUIRE, READ]))];
        let ask = format!("filter (P2:r0 == {flag} /\\ f == {flag}) exists (P2:r1 == 0)");
        let report = run("", &places, &threads, &ask);
        assert!(report.verdict && report.has_race(), "{middle}");
    }
    // A read of an update that read the initial value sees no release.
    assert!(!ordered("rmw.atom.dv.sc0.add r0, f, 7", 7));
}

/// Section "Atomic Operation": two atomics are mutually ordered only if they use the same reference
/// (name) of the location.
#[test]
fn atomics_of_other_references_are_not_mutually_ordered() {
    for (name, expected) in [("f", false), ("g", true)] {
        let load = format!("ld.atom.dv.sc0 r0, {name}");
        let report = run("", &ONE_QF, &[lines("st.atom.dv.sc0 f, 1"), lines(&load)], "exists (P1:r0 == 1)");
        assert_eq!(report.has_race(), expected, "{name}");
    }
    let message = |load: &str| {
        let threads = [lines(&thread(&[WRITE, RELEASE])), lines(&thread(&[load, READ]))];
        run("", &ONE_QF, &threads, "exists (P1:r0 == 1 /\\ P1:r1 == 0)").verdict
    };
    assert!(!message(ACQUIRE));
    assert!(message("ld.atom.acq.dv.sc0.semsc0 r0, g"), "no release is read by its own reference");
}

/// Section "Synchronizes-With": a release barrier before a control barrier synchronizes with an
/// acquire barrier after the control barrier.
#[test]
fn a_control_barrier_synchronizes_barriers() {
    let met = |writer: &str, reader: &str| {
        let threads = [lines(&format!("{WRITE}; {writer}")), lines(&format!("{reader}; {READ}"))];
        let report = run("", &ONE_WG, &threads, "exists (P1:r1 == 0)");
        assert_eq!(report.verdict, report.has_race(), "{writer}, {reader}");
        !report.verdict
    };
    let full = "cbar.acq_rel.wg.semsc0 0";
    let (release, acquire) = ("membar.rel.wg.semsc0; cbar.wg 0", "cbar.wg 0; membar.acq.wg.semsc0");
    for writer in [full, release] {
        for reader in [full, acquire] {
            assert!(met(writer, reader), "{writer}, {reader}");
        }
    }
    assert!(!met("cbar.wg 0", full) && !met(full, "cbar.wg 0"));
    assert!(!met("cbar.wg 0; membar.rel.wg.semsc0", full), "it releases behind the barrier");
    assert!(!met(full, "membar.acq.wg.semsc0; cbar.wg 0"), "it acquires before the barrier");
    // Barriers whose scopes do not hold the other thread.
    assert!(!met(&release.replace("rel.wg", "rel.sg"), acquire));
    assert!(!met(release, &acquire.replace("acq.wg", "acq.sg")));
}

/// Section "Inter-Thread-Happens-Before": a release and an acquire order two accesses if the
/// semantics of both operations include the storage classes of both accesses.
#[test]
fn operations_order_accesses_of_their_classes() {
    let message = |write: u32, semantics: [&str; 2], read: u32| {
        let writer = format!("st.av.dv.sc{write} x, 1; st.atom.rel.dv.sc0.{} f, 1", semantics[0]);
        let reader = format!("ld.atom.acq.dv.sc0.{} r0, f; ld.vis.dv.sc{read} r1, x", semantics[1]);
        orders(&writer, &reader)
    };
    for a in 0..4 {
        for b in 0..4 {
            let name = |class: u32| format!("semsc{class}");
            let both = if a == b { name(a) } else { format!("{}.{}", name(a), name(b)) };
            assert!(message(a, [&both, &both], b), "{a}, {b}");
            if a != b {
                // One operation lacks one of the classes.
                assert!(!message(a, [&name(a), &both], b), "{a}, {b}");
                assert!(!message(a, [&both, &name(b)], b), "{a}, {b}");
                assert!(!message(a, [&name(a), &name(b)], b), "{a}, {b}");
                assert!(!message(a, [&name(b), &name(b)], b), "{a}, {b}");
                assert!(!message(b, [&name(b), &name(b)], a), "{a}, {b}");
            }
        }
    }
    // The semantics may include further storage classes, but must include the classes of both
    // accesses.
    assert!(message(0, ["semsc0.semsc1.semsc2", "semsc0.semsc2"], 2));
    assert!(message(1, ["semsc1.semsc3", "semsc0.semsc1.semsc2.semsc3"], 3));
}

/// Section "Inter-Thread-Happens-Before": the relation is transitive only through operations whose
/// semantics include the storage classes of the ordered accesses.
#[test]
fn a_chain_of_operations_keeps_its_classes() {
    let places = ["sg 0, wg 0, qf 0", "sg 0, wg 1, qf 0", "sg 0, wg 2, qf 0"];
    for (semantics, expected) in [("semsc0.semsc1", true), ("semsc1", false)] {
        // The barrier in between orders both atomics, which have class 1.
        let middle = format!("ld.atom.dv.sc1 r0, h; membar.acq_rel.dv.{semantics}; st.atom.dv.sc1 f, 1");
        let writer = format!("{WRITE}; membar.rel.dv.semsc0.semsc1; st.atom.dv.sc1 h, 1");
        let reader = format!("ld.atom.dv.sc1 r0, f; membar.acq.dv.semsc0.semsc1; {READ}");
        let threads = [lines(&writer), lines(&middle), lines(&reader)];
        let ask = "filter (P1:r0 == 1 /\\ P2:r0 == 1) exists (P2:r1 == 0)";
        let report = run("", &places, &threads, ask);
        assert_eq!((report.verdict, report.has_race()), (!expected, !expected), "{semantics}");
    }
    // The writer has a barrier with availability before a release through an atomic of another
    // storage class.
    let release = "st.atom.rel.dv.sc1.semsc0.semsc1 f, 1";
    let acquire = "ld.atom.acq.dv.sc1.semsc0.semsc1 r0, f";
    let writer = thread(&["st.nonpriv.sc0 x, 1", "membar.rel.dv.semsc0.semav", release]);
    assert!(orders(&writer, &thread(&[acquire, READ])));
    // A barrier with availability or visibility for accesses of class 1, next to a release and an
    // acquire of class 0. The barrier must have both classes.
    for (semantics, expected) in [("semsc0.semsc1", true), ("semsc1", false)] {
        let barrier = format!("membar.acq_rel.dv.{semantics}");
        let reader = format!("{ACQUIRE}; {barrier}.semvis; ld.nonpriv.sc1 r1, x");
        assert_eq!(orders(&thread(&[WRITE, RELEASE]), &reader), expected, "{semantics}");
        let writer = format!("st.nonpriv.sc1 x, 1; {barrier}.semav; {RELEASE}");
        assert_eq!(orders(&writer, &thread(&[ACQUIRE, READ])), expected, "{semantics}");
    }
}
