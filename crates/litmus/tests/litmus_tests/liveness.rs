//! Tests the search for executions that do not terminate, on litmus tests of this project.

use litmus::check::Options;
use litmus::progress::{Report, Scheduler, Witness, liveness};

fn ask(model: &str, scheduler: Scheduler, test: &str) -> Report {
    let model = litmus::cat::shipped(model).expect("it is shipped").expect("it is a model");
    let program = litmus::parse::parse(test).unwrap_or_else(|e| panic!("{e}\n{test}"));
    liveness(&program, &model, scheduler, &mut Options::default()).unwrap_or_else(|e| panic!("{e}\n{test}"))
}

/// The schedulers under which every execution terminates.
fn ends(model: &str, test: &str) -> Vec<&'static str> {
    let ends = |scheduler: &Scheduler| {
        let report = ask(model, *scheduler, test);
        assert_eq!(report.bound, None, "{test}");
        report.verdict
    };
    Scheduler::ALL.into_iter().filter(ends).map(Scheduler::name).collect()
}

#[test]
fn a_loop_without_accesses_does_not_terminate() {
    let test = "PTX endless\n{ x=0; }\nP0@cta 0,gpu 0 ;\nL: ;\ngoto L ;\nexists (x == 0)";
    assert_eq!(ends("ptx-7.5", test), Vec::<&str>::new());
}

#[test]
fn a_failed_compare_and_swap_only_reads() {
    let test = "PTX lock\n{ l=0; P0:r0=9; P1:r0=9; }\nP0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n\
                L: | L: ;\n atom.acquire.gpu.cas r0, l, 0, 1 | atom.acquire.gpu.cas r0, l, 0, 1 ;\n\
                bne r0, 0, L | bne r0, 0, L ;\n\
                atom.release.gpu.exch r1, l, 0 | atom.release.gpu.exch r1, l, 0 ;\nexists (l == 0)";
    // Under HSA the second thread may be stopped while it holds the lock.
    assert_eq!(ends("ptx-7.5", test), ["fair", "obe", "lobe", "hsa-obe"]);
}

#[test]
fn a_thread_that_waits_at_a_barrier_does_not_spin() {
    let test = "VULKAN half\n{ x=0; }\nP0@sg 0, wg 0, qf 0 | P1@sg 1, wg 0, qf 0 ;\n\
                cbar.wg 0, 0, 3 | cbar.wg 0, 0, 3 ;\nexists (x == 0)";
    assert_eq!(ends("vulkan", test), ["fair", "obe", "hsa", "lobe", "hsa-obe"]);
}

#[test]
fn a_thread_passes_a_barrier_only_with_the_others() {
    // The thread that spins after the barrier has met the other thread at the barrier.
    let test = "VULKAN behind\n{ x=0; }\nP0@sg 0, wg 0, qf 0 | P1@sg 1, wg 0, qf 0 ;\n\
                cbar.wg 0 | st.atom.wg.sc0 x, 1 ;\n L: | cbar.wg 0 ;\n\
                ld.atom.wg.sc0 r0, x | ;\n bne r0, 1, L | ;\nexists (x == 1)";
    assert_eq!(ends("vulkan", test), ["fair", "obe", "hsa", "lobe", "hsa-obe"]);
}

#[test]
fn a_weak_execution_may_spin_although_no_interleaving_does() {
    // Each thread waits for the other only if both loads pass both stores.
    let test = "PTX both\n{ x=0; y=0; }\nP0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n\
                st.relaxed.gpu x, 1 | st.relaxed.gpu y, 1 ;\n\
                ld.relaxed.gpu r0, y | ld.relaxed.gpu r0, x ;\n\
                bne r0, 0, E | bne r0, 0, E ;\n L: | L: ;\n\
                ld.relaxed.gpu r1, z | ld.relaxed.gpu r1, w ;\n bne r1, 1, L | bne r1, 1, L ;\n\
                E: | E: ;\n st.relaxed.gpu w, 1 | st.relaxed.gpu z, 1 ;\nexists (x == 1)";
    let report = ask("ptx-7.5", Scheduler::Fair, test);
    let Some(Witness::Execution(_, threads)) = &report.witness else { panic!("{report:?}") };
    assert_eq!(threads, &[0, 1]);
    assert!(ask("sc", Scheduler::Fair, test).verdict, "one of them sees the other's store");
}

#[test]
fn a_spinning_read_sees_a_last_write() {
    // The store of 1 is overwritten or comes last, so a spinning reader has seen 2.
    let test = "PTX last\n{ x=0; }\nP0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n\
                st.relaxed.gpu x, 1 | L: ;\n st.relaxed.gpu x, 2 | ld.relaxed.gpu r0, x ;\n\
                | bne r0, 2, L ;\nexists (x == 2)";
    assert_eq!(ends("ptx-7.5", test), ["fair", "hsa", "lobe", "hsa-obe"]);
}

#[test]
fn a_run_is_drawn_with_its_cycle() {
    let test = "VULKAN spin\n{ flag=0; x=0; }\nP0@sg 0, wg 0, qf 0 | P1@sg 0, wg 1, qf 0 ;\n\
                st.atom.dv.sc0 x, 1 | ;\nagain: | ;\nld.atom.dv.sc0 r0, flag | st.atom.dv.sc0 flag, 1 ;\n\
                bne r0, 1, again | ;\nforall (P0:r0 == 1)";
    let program = litmus::parse::parse(test).expect("it is a test");
    let report = ask("vulkan", Scheduler::Hsa, test);
    let Some(Witness::Run(run)) = &report.witness else { panic!("it is a run: {report:?}") };
    let drawn = report.dot(&program, "t").expect("there is something to draw");
    let steps = run.prefix.len() + run.round.len();
    assert_eq!(drawn.matches("[label=\"").count() - drawn.matches("for ever").count(), steps, "{drawn}");
    assert_eq!(drawn.matches("lightgrey").count(), run.round.len(), "{drawn}");
    assert!(
        drawn.contains(&format!("  s{} -> s{} [label=\"for ever\"", steps - 1, run.prefix.len())),
        "{drawn}"
    );
    assert!(drawn.contains("line 6") && drawn.contains("cluster_p1"), "{drawn}");
    assert_eq!(ask("vulkan", Scheduler::Fair, test).dot(&program, "t"), None);
}

/// A test of four threads. Two threads `a` and `b` buffer their stores, so that the loads of both
/// may return zero. No interleaving shows this outcome. In this outcome, a thread called the
/// observer spins, if the conditions in its instructions `further` hold. The remaining thread
/// executes `writer`, which ends the spinning. It is the first thread of the test if `writer_first`
/// is true, and the last thread otherwise.
fn spins_on_weak_memory(writer_first: bool, further: &[&str], end: &str, writer: &[&str]) -> String {
    let a = ["st.relaxed.gpu x, 1", "ld.relaxed.gpu r0, y", "beq r0, 1, A", "st.relaxed.gpu a, 1", "A:"];
    let b = ["st.relaxed.gpu y, 1", "ld.relaxed.gpu r0, x", "beq r0, 1, B", "st.relaxed.gpu b, 1", "B:"];
    let mut observer = vec!["ld.relaxed.gpu r0, a", "bne r0, 1, E", "ld.relaxed.gpu r1, b", "bne r1, 1, E"];
    let place = if further.first().is_some_and(|line| line.starts_with("bar")) { 0 } else { observer.len() };
    observer.splice(place..place, further.iter().copied());
    observer.extend(["L:", "ld.relaxed.gpu r2, z", "bne r2, 1, L", "E:", end]);
    let mut columns: Vec<&[&str]> = vec![&a, &b, &observer];
    columns.insert(if writer_first { 0 } else { 3 }, writer);
    let mut text = String::from("PTX weak\n{ x=0; y=0; z=0; a=0; b=0; w=0; q=0; }\n");
    let heads = (0..4).map(|thread| format!("P{thread}@cta 0,gpu 0")).collect::<Vec<_>>();
    text += &format!("{} ;\n", heads.join(" | "));
    for row in 0..columns.iter().map(|column| column.len()).max().unwrap_or(0) {
        let cells: Vec<&str> = columns.iter().map(|c| c.get(row).copied().unwrap_or("")).collect();
        text += &format!("{} ;\n", cells.join(" | "));
    }
    text + "exists (x == 1)"
}

/// A thread that has not begun may never get a step if the scheduler does not guarantee its
/// progress. The expected answers follow from the definitions of the schedulers.
#[test]
fn a_thread_that_has_not_begun_may_be_stopped() {
    let test = |first| spins_on_weak_memory(first, &[], "", &["st.relaxed.gpu z, 1"]);
    // The writer is the last thread: only the fair scheduler guarantees that it begins.
    assert_eq!(ends("ptx-7.5", &test(false)), ["fair"]);
    // The writer is the first thread: schedulers that prefer low numbers also guarantee
    // that it begins.
    assert_eq!(ends("ptx-7.5", &test(true)), ["fair", "hsa", "lobe", "hsa-obe"]);
}

/// The scheduler HSA guarantees steps only to the unfinished thread with the lowest number, so
/// every other thread may stop at any point.
#[test]
fn hsa_may_stop_a_thread_after_any_step() {
    let others = ["fair", "obe", "lobe", "hsa-obe"];
    // HSA may stop the writer after a write that the spinning thread has seen.
    let seen = ["ld.relaxed.gpu r3, w", "bne r3, 1, E"];
    let writes = ["st.relaxed.gpu w, 1", "st.relaxed.gpu z, 1"];
    assert_eq!(ends("ptx-7.5", &spins_on_weak_memory(false, &seen, "", &writes)), others);
    // HSA may stop the writer after a barrier that both threads have passed.
    let meets = ["bar.cta.sync 1, 1, 2", "st.relaxed.gpu z, 1"];
    assert_eq!(ends("ptx-7.5", &spins_on_weak_memory(false, &["bar.cta.sync 1, 1, 2"], "", &meets)), others);
    // A stop of the writer has no effect after a write that it executes only after the spinning
    // thread has ended.
    let guarded =
        ["ld.relaxed.gpu r0, q", "bne r0, 5, W", "st.relaxed.gpu w, 1", "st.relaxed.gpu z, 1", "W:"];
    let all = ["fair", "obe", "hsa", "lobe", "hsa-obe"];
    let test = spins_on_weak_memory(false, &seen, "st.relaxed.gpu q, 5", &guarded);
    assert_eq!(ends("ptx-7.5", &test), all);
}

#[test]
fn an_await_spins_on_an_unexpected_last_write() {
    let test = "PTX await\n{ x=0; }\nP0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n\
                st.relaxed.gpu x, 1 | await.acquire.gpu r0, x, 2 ;\n st.relaxed.gpu x, 2 | ;\nexists (x == 2)";
    assert_eq!(ends("ptx-7.5", test), ["fair", "hsa", "lobe", "hsa-obe"]);
    let wanted = "PTX await\n{ x=0; }\nP0@cta 0,gpu 0 ;\nawait.acquire.gpu r0, x, 0 ;\nexists (x == 0)";
    assert_eq!(ends("ptx-7.5", wanted), ["fair", "obe", "hsa", "lobe", "hsa-obe"]);
    assert_eq!(ends("ptx-7.5", &wanted.replace("x, 0 ;", "x, 1 ;")), Vec::<&str>::new());
}

#[test]
fn a_thread_that_waits_at_a_barrier_is_guaranteed_no_step() {
    let places = "P0@sg 0, wg 0, qf 0 | P1@sg 1, wg 0, qf 0 ;";
    let spins = format!(
        "VULKAN spins\n{{ x=0; }}\n{places}\nL: | cbar.wg 0, 0, 2 ;\nld.atom.wg.sc0 r0, x | ;\nbne r0, 1, L | ;\nexists (x == 0)"
    );
    assert_eq!(ends("vulkan", &spins), Vec::<&str>::new());
    // Two threads do not complete a barrier for three, after which one of them would
    // spin.
    let waits = format!(
        "VULKAN waits\n{{ x=0; }}\n{places}\ncbar.wg 0, 0, 3 | cbar.wg 0, 0, 3 ;\nL: | ;\nld.atom.wg.sc0 r0, x | ;\nbne r0, 1, L | ;\nexists (x == 0)"
    );
    assert_eq!(ends("vulkan", &waits), ["fair", "obe", "hsa", "lobe", "hsa-obe"]);
}
