//! Tests the clauses of the Vulkan memory model on availability, visibility and their consequences.
//! The comment of each test names the section of the appendix "Memory Model" in the Vulkan
//! specification from which the expected verdicts follow.

use crate::common::passing::{
    ACQUIRE, LEVELS, ONE_DV, ONE_QF, ONE_SG, READ, RELEASE, WRITE, is_ordered, lines, orders, run, thread,
};

/// Section "Availability and Visibility": a write is ordered before a read in another thread only
/// if the write is made available and visible. An availability or visibility operation affects the
/// memory domain of its scope.
#[test]
fn writes_are_made_available_and_visible_to_a_shared_domain() {
    for (at, (level, places)) in LEVELS.into_iter().enumerate() {
        let message = |write: &str, read: &str| {
            let writer = format!("st.{write}.sc0 x, 1; {RELEASE}");
            let reader = format!("{ACQUIRE}; ld.{read}.sc0 r1, x");
            is_ordered(&places, &[&writer, &reader], 1)
        };
        for (other, (scope, _)) in LEVELS.into_iter().enumerate() {
            let (write, read) = (format!("av.{scope}"), format!("vis.{scope}"));
            assert_eq!(message(&write, "vis.dv"), other >= at, "{scope}, {level}");
            assert_eq!(message("av.dv", &read), other >= at, "{scope}, {level}");
            assert_eq!(message(&write, &read), other >= at, "{scope}, {level}");
        }
        assert!(!message("nonpriv", "vis.dv") && !message("av.dv", "nonpriv"), "{level}");
        // Atomic accesses are available and visible.
        assert!(message("atom.dv", "vis.dv") && message("av.dv", "atom.dv"), "{level}");
    }
    // An access without a storage class has class 0.
    assert!(orders(&thread(&["st.av.dv x, 1", RELEASE]), &thread(&[ACQUIRE, "ld.vis.dv r1, x"])));
}

/// Section "Availability and Visibility Semantics": the availability semantics of a barrier cover
/// the earlier accesses to the barrier's storage classes. The visibility semantics of a barrier
/// cover the later accesses to these classes.
#[test]
fn semantics_make_accesses_of_their_classes_available_and_visible() {
    let make = "membar.rel.dv.semsc0.semav; st.atom.dv.sc0 f, 1";
    let see = "ld.atom.dv.sc0 r0, f; membar.acq.dv.semsc0.semvis";
    let (write, read) = ("st.nonpriv.sc0 x, 1", "ld.nonpriv.sc0 r1, x");
    assert!(orders(&thread(&[write, make]), &thread(&[see, read])));
    assert!(!orders(&thread(&[write, &make.replace(".semav", "")]), &thread(&[see, read])));
    assert!(!orders(&thread(&[write, make]), &thread(&[&see.replace(".semvis", ""), read])));
    assert!(orders(&thread(&[write, "st.atom.rel.dv.sc0.semsc0.semav f, 1"]), &thread(&[see, read])));
    assert!(orders(&thread(&[write, make]), &thread(&["ld.atom.acq.dv.sc0.semsc0.semvis r0, f", read])));
    // Private accesses are not ordered.
    assert!(!orders(&thread(&["st.sc0 x, 1", make]), &thread(&[see, read])));
    assert!(!orders(&thread(&[write, make]), &thread(&[see, "ld.sc0 r1, x"])));
    // The release and the acquire order accesses of both storage classes. The availability
    // operation covers only one class.
    let release = "st.atom.rel.dv.sc0.semsc0.semsc1 f, 1";
    let acquire = "ld.atom.acq.dv.sc0.semsc0.semsc1 r0, f";
    for (class, expected) in [(1, true), (0, false)] {
        let write = format!("st.nonpriv.sc{class} x, 1");
        let writer = thread(&[&write, "membar.rel.dv.semsc1.semav", release]);
        assert_eq!(orders(&writer, &thread(&[acquire, "ld.vis.dv.sc1 r1, x"])), expected, "{class}");
        let read = format!("ld.nonpriv.sc{class} r1, x");
        let reader = thread(&[acquire, "membar.acq.dv.semsc1.semvis", &read]);
        assert_eq!(orders(&thread(&["st.av.dv.sc1 x, 1", release]), &reader), expected, "{class}");
    }
}

/// Section "Availability and Visibility Semantics": a write with availability also makes earlier
/// writes by the same reference (name of the word) available. A read with visibility also makes
/// writes visible to later reads by the same reference.
#[test]
fn an_access_includes_those_of_its_reference() {
    for (name, expected) in [("x", false), ("z", true)] {
        let writer = format!("st.nonpriv.sc0 {name}, 1; st.av.dv.sc0 x, 2; {RELEASE}");
        let threads = [lines(&writer), lines(&thread(&[ACQUIRE, READ]))];
        let report = run("", &ONE_QF, &threads, "filter (P1:r0 == 1) exists (P1:r1 == 0)");
        assert_eq!(report.has_race(), expected, "{name}");
        let reader = format!("{ACQUIRE}; ld.vis.dv.sc0 r2, x; ld.nonpriv.sc0 r1, {name}");
        let threads = [lines(&thread(&[WRITE, RELEASE])), lines(&reader)];
        let report = run("", &ONE_QF, &threads, "filter (P1:r0 == 1) exists (P1:r1 == 0)");
        // The first read is ordered, and the second one follows it.
        assert_eq!((report.has_race(), report.verdict), (expected, false), "{name}");
    }
    assert!(!orders(&thread(&[WRITE, RELEASE]), &thread(&[ACQUIRE, "ld.vis.dv.sc0 r1, z"])));
    for (name, expected) in [("x", true), ("z", false)] {
        let writer = format!("st.nonpriv.sc0 z, 1; st.av.dv.sc0 {name}, 2; {RELEASE}");
        let threads = [lines(&writer), lines(&thread(&[ACQUIRE, "ld.vis.dv.sc0 r1, z"]))];
        let report = run("", &ONE_QF, &threads, "filter (P1:r0 == 1) exists (P1:r1 == 0)");
        assert_eq!(report.verdict, expected, "{name}");
    }
    // A read makes nothing available, and a write makes nothing visible.
    let races = |writer: &str, reader: &str| {
        let threads = [lines(writer), lines(reader)];
        run("", &ONE_SG, &threads, "filter (P1:r0 == 1) exists (P1:r1 == 0)").has_race()
    };
    assert!(races(
        &format!("st.nonpriv.sc0 x, 1; ld.vis.dv.sc0 r2, x; {RELEASE}"),
        &thread(&[ACQUIRE, READ])
    ));
    let writes = format!("{ACQUIRE}; st.av.dv.sc0 x, 5; ld.nonpriv.sc0 r1, x");
    assert!(races(&thread(&[WRITE, RELEASE]), &writes));
    assert!(!races(&thread(&[WRITE, RELEASE]), &writes.replace("; ld", "; ld.vis.dv.sc0 r2, x; ld")));
}

/// Section "Availability and Visibility": a thread in a narrow memory domain can pass a write on
/// from this domain to a broader domain, or from a broader domain to this domain.
#[test]
fn availability_and_visibility_are_chained_through_domains() {
    // A third thread shares the scope with both others, but no smaller scope.
    let third = ["", "sg 2, wg 0, qf 0", "sg 0, wg 2, qf 0", "sg 0, wg 0, qf 2"];
    let first = "sg 0, wg 0, qf 0";
    for broad in 1..LEVELS.len() {
        for (narrow, (near, _)) in LEVELS.into_iter().enumerate().take(broad) {
            let wide = LEVELS[broad].0;
            // The middle thread is in the narrow domain, or just outside of it.
            for (level, expected) in [(narrow, true), (narrow + 1, false)] {
                let middle = LEVELS[level].1[1];
                let carry = format!(
                    "ld.atom.acq.dv.sc0.semsc0 r0, h; membar.acq_rel.{wide}.semsc0.semav.semvis; {RELEASE}"
                );
                let carried = |places: [&str; 3], write: &str, read: &str| {
                    let writer = format!("st.av.{write}.sc0 x, 1; st.atom.rel.dv.sc0.semsc0 h, 1");
                    let reader = format!("{ACQUIRE}; ld.vis.{read}.sc0 r1, x");
                    let ask = "filter (P1:r0 == 1 /\\ P2:r0 == 1) exists (P2:r1 == 0)";
                    let report = run("", &places, &[lines(&writer), lines(&carry), lines(&reader)], ask);
                    (report.verdict, report.has_race())
                };
                let answer = (!expected, !expected);
                assert_eq!(carried([first, middle, third[broad]], near, wide), answer, "{near}, {wide}");
                // A reader sees a write that its neighbour has made visible.
                assert_eq!(carried([third[broad], middle, first], wide, near), answer, "{wide}, {near}");
            }
        }
    }
}

/// Section "Location-Ordered": two accesses of one thread by the same reference are ordered by
/// program order, even if they are private. A read is ordered before a write if happens-before
/// orders them and both are non-private.
#[test]
fn reads_and_one_thread_need_no_availability() {
    let own = |read: &str| {
        let code = format!("st.sc0 x, 1; ld.sc0 r1, {read}");
        let report = run("", &["sg 0, wg 0, qf 0"], &[lines(&code)], "exists (P0:r1 == 0)");
        (report.verdict, report.has_race())
    };
    assert_eq!(own("x"), (false, false));
    assert_eq!(own("z"), (true, true), "another reference");
    let later = |read: &str, write: &str| {
        let threads =
            [lines(&format!("{read} r1, x; {RELEASE}")), lines(&format!("{ACQUIRE}; {write} x, 1"))];
        let report = run("", &ONE_QF, &threads, "filter (P1:r0 == 1) exists (P0:r1 == 1)");
        (report.verdict, report.has_race())
    };
    assert_eq!(later("ld.nonpriv.sc0", "st.nonpriv.sc0"), (false, false));
    assert!(later("ld.sc0", "st.nonpriv.sc0").1 && later("ld.nonpriv.sc0", "st.sc0").1);
}

/// Section "Location-Ordered": a write is ordered before another write if the first write is made
/// available. Section "Acyclicity": the last write of the word follows this order.
#[test]
fn writes_are_ordered_by_availability() {
    let both = |first: &str, ask: &str| {
        let threads =
            [lines(&format!("{first} x, 1; {RELEASE}")), lines(&format!("{ACQUIRE}; st.nonpriv.sc0 x, 2"))];
        let report = run("", &ONE_QF, &threads, ask);
        (report.verdict, report.has_race())
    };
    let first_is_last = "filter (P1:r0 == 1) exists (x == 1)";
    assert_eq!(both("st.av.dv.sc0", first_is_last), (false, false));
    assert_eq!(both("st.nonpriv.sc0", first_is_last), (true, true));
}

/// Section "System-Synchronizes-With": this relation orders a write before a read of another thread
/// if an availability operation of the whole device follows the write, and a visibility operation
/// of the whole device precedes the read.
#[test]
fn the_system_synchronizes_through_device_operations() {
    let message = |order: &str, writer: &str, reader: &str| {
        let threads = [lines(&format!("st.sc0 x, 1; {writer}")), lines(&format!("{reader}; ld.sc0 r1, x"))];
        let report = run(order, &ONE_DV, &threads, "exists (P1:r1 == 0)");
        assert_eq!(report.verdict, report.has_race(), "{writer}, {reader}");
        !report.verdict
    };
    assert!(message("{ ssw 0 1; }", "avdevice", "visdevice"));
    assert!(!message("", "avdevice", "visdevice"));
    assert!(!message("{ ssw 0 1; }", "", "visdevice") && !message("{ ssw 0 1; }", "avdevice", ""));
    // In the opposite direction, the read comes first.
    let threads = [lines("st.sc0 x, 1; avdevice"), lines("visdevice; ld.sc0 r1, x")];
    let report = run("{ ssw 1 0; }", &ONE_DV, &threads, "exists (P1:r1 == 1)");
    assert!(!report.verdict && !report.has_race());
    // The operations are in the wrong order.
    let threads = [lines("avdevice; st.sc0 x, 1"), lines("visdevice; ld.sc0 r1, x")];
    assert!(run("{ ssw 0 1; }", &ONE_DV, &threads, "exists (P1:r1 == 0)").has_race());
    let threads = [lines("st.sc0 x, 1; avdevice"), lines("ld.sc0 r1, x; visdevice")];
    assert!(run("{ ssw 0 1; }", &ONE_DV, &threads, "exists (P1:r1 == 0)").has_race());
    // A write is made available to the domain of the device only by the availability operation of
    // the device.
    for (make, expected) in [("avdevice", false), ("st.av.dv.sc0 x, 2", true)] {
        let threads = [lines(&format!("st.sc0 x, 1; {make}")), lines("visdevice; ld.sc0 r1, x")];
        assert_eq!(run("{ ssw 0 1; }", &ONE_DV, &threads, "exists (P1:r1 == 0)").verdict, expected, "{make}");
    }
    // A write that is ordered after another write needs no visibility. A read that is ordered
    // before a write needs neither availability nor visibility.
    let writes = |first: &str| {
        let threads = [lines(first), lines("st.sc0 x, 2")];
        run("{ ssw 0 1; }", &ONE_DV, &threads, "exists (x == 1)").has_race()
    };
    assert!(!writes("st.sc0 x, 1; avdevice") && writes("st.sc0 x, 1") && !writes("ld.sc0 r1, x"));
}

/// Section "Acyclicity": atomic reads by one reference return writes in modification order. A read
/// that is ordered after two ordered writes does not return the first of these writes.
#[test]
fn reads_follow_the_order_of_writes() {
    let pair = |reader: &str| {
        let threads = [lines("st.atom.dv.sc0 f, 1; st.atom.dv.sc0 f, 2"), lines(reader)];
        run("", &ONE_QF, &threads, "exists (P1:r0 == 2 /\\ P1:r1 == 1)").verdict
    };
    assert!(!pair("ld.atom.dv.sc0 r0, f; ld.atom.dv.sc0 r1, f"));
    // Writes of different threads: the two readers agree on their order.
    let places = ["sg 0, wg 0, qf 0", "sg 0, wg 1, qf 0", "sg 0, wg 2, qf 0", "sg 0, wg 3, qf 0"];
    let reader = lines("ld.atom.dv.sc0 r0, f; ld.atom.dv.sc0 r1, f");
    let threads = [lines("st.atom.dv.sc0 f, 1"), lines("st.atom.dv.sc0 f, 2"), reader.clone(), reader];
    let apart = "exists (P2:r0 == 1 /\\ P2:r1 == 2 /\\ P3:r0 == 2 /\\ P3:r1 == 1)";
    assert!(!run("", &places, &threads, apart).verdict);
    // A write after a read is after the write that was read.
    let threads = [lines("st.atom.dv.sc0 f, 1"), lines("ld.atom.dv.sc0 r0, f; st.atom.dv.sc0 f, 2")];
    assert!(!run("", &ONE_QF, &threads, "exists (P1:r0 == 1 /\\ f == 1)").verdict);
    // A thread does not read its own later write.
    let threads = [lines("ld.atom.dv.sc0 r0, f; st.atom.dv.sc0 f, 1"), lines("ld.atom.dv.sc0 r0, f")];
    assert!(!run("", &ONE_QF, &threads, "exists (P0:r0 == 1)").verdict);
    // Of two ordered writes, the first one is hidden from an ordered read.
    let writer = format!("st.av.dv.sc0 x, 1; st.av.dv.sc0 x, 2; {RELEASE}");
    let threads = [lines(&writer), lines(&thread(&[ACQUIRE, READ]))];
    let report = run("", &ONE_QF, &threads, "filter (P1:r0 == 1) exists (P1:r1 == 1)");
    assert!(!report.verdict && !report.has_race());
}

/// Section "Acyclicity": let a read return the value of a write W. Then the read comes before the
/// writes that are ordered after W, unless the read races with W.
#[test]
fn an_ordered_read_comes_before_later_writes() {
    // The last read is private, so the other thread's write is not ordered before it.
    // The read before it has seen that write.
    let last = format!("{ACQUIRE}; ld.vis.dv.sc0 r2, x; ld.sc0 r1, x");
    let seen = "exists (P1:r2 == 2 /\\ P1:r1 == 1)";
    let own = format!("st.av.dv.sc0 x, 1; st.atom.rel.dv.sc0.semsc0 h, 1; {last}");
    let other = format!("ld.atom.acq.dv.sc0.semsc0 r0, h; st.av.dv.sc0 x, 2; {RELEASE}");
    let ask = format!("filter (P0:r0 == 1 /\\ P1:r0 == 1) {seen}");
    assert!(!run("", &ONE_QF, &[lines(&other), lines(&own)], &ask).verdict);
    let both = format!("st.sc0 x, 1; st.av.dv.sc0 x, 2; {RELEASE}");
    assert!(run("", &ONE_QF, &[lines(&both), lines(&last)], &format!("filter (P1:r0 == 1) {seen}")).verdict);
}

/// Section "Visible-To": let a write be ordered before a second write, and the second write before
/// a read. Then the first write is hidden from the read, unless the read is atomic.
#[test]
fn a_hidden_write_is_read_by_atomics_only() {
    for (read, expected) in [("ld.vis.dv.sc0", false), ("ld.atom.dv.sc0", true)] {
        // The first write is private, so it is not ordered before the read itself.
        let writer = format!("st.sc0 x, 1; st.av.dv.sc0 x, 2; {RELEASE}");
        let reader = format!("{ACQUIRE}; {read} r1, x");
        let report =
            run("", &ONE_QF, &[lines(&writer), lines(&reader)], "filter (P1:r0 == 1) exists (P1:r1 == 1)");
        assert_eq!(report.verdict, expected, "{read}");
    }
}

/// Section "Atomic Operation": no mutually ordered write comes between the read and the write of a
/// read-modify-write.
#[test]
fn updates_are_atomic_for_mutually_ordered_writes() {
    let lost = |update: &str| {
        let threads = [lines("rmw.atom.dv.sc0.add r0, f, 1"), lines(update)];
        run("", &ONE_QF, &threads, "exists (P0:r0 == 0 /\\ P1:r0 == 0)").verdict
    };
    assert!(!lost("rmw.atom.dv.sc0.add r0, f, 1"));
    assert!(!lost("rmw.atom.dv.sc0.cas r0, f, 0, 3"));
    assert!(lost("rmw.atom.dv.sc0.add r0, g, 1"), "another reference");
    assert!(lost("rmw.atom.wg.sc0.add r0, f, 1"), "its scope does not hold the other thread");
}

/// Section "Data Race": two conflicting accesses race if they are neither mutually ordered nor
/// location-ordered.
#[test]
fn a_race_needs_a_write_and_no_order() {
    let races = |first: &str, second: &str| {
        let threads = [lines(first), lines(second)];
        run("", &ONE_QF, &threads, "exists (x == 0)").has_race()
    };
    assert!(!races("ld.sc0 r0, x", "ld.sc0 r0, x"));
    assert!(races("ld.sc0 r0, x", "st.sc0 x, 1") && races("st.sc0 x, 1", "ld.sc0 r0, x"));
    assert!(races("st.sc0 x, 1", "st.sc0 x, 2"));
    assert!(!races("st.atom.dv.sc0 x, 1", "rmw.atom.dv.sc0 r0, x, 2"));
    assert!(races("st.atom.wg.sc0 x, 1", "st.atom.dv.sc0 x, 2"));
    assert!(!races("st.sc0 x, 1", "st.sc0 f, 1"));
}
