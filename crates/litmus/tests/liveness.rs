//! Executions that go on for ever, on tests of our own.

use litmus::check::Options;
use litmus::progress::{Report, Scheduler, Witness, liveness};

fn ask(model: &str, scheduler: Scheduler, test: &str) -> Report {
    let model = litmus::cat::shipped(model).expect("it is shipped").expect("it is a model");
    let program = litmus::parse::parse(test).unwrap_or_else(|e| panic!("{e}\n{test}"));
    liveness(&program, &model, scheduler, &mut Options::default()).unwrap_or_else(|e| panic!("{e}\n{test}"))
}

/// Under which schedulers every execution ends.
fn ends(model: &str, test: &str) -> Vec<&'static str> {
    let ends = |scheduler: &Scheduler| {
        let report = ask(model, *scheduler, test);
        assert_eq!(report.bound, None, "{test}");
        report.verdict
    };
    Scheduler::ALL.into_iter().filter(ends).map(Scheduler::name).collect()
}

#[test]
fn a_loop_without_memory_goes_on_for_ever() {
    let test = "PTX endless\n{ x=0; }\nP0@cta 0,gpu 0 ;\nL: ;\ngoto L ;\nexists (x == 0)";
    assert_eq!(ends("ptx-7.5", test), Vec::<&str>::new());
}

#[test]
fn a_failed_compare_and_swap_only_reads() {
    let test = "PTX lock\n{ l=0; P0:r0=9; P1:r0=9; }\nP0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n\
                L: | L: ;\n atom.acquire.gpu.cas r0, l, 0, 1 | atom.acquire.gpu.cas r0, l, 0, 1 ;\n\
                bne r0, 0, L | bne r0, 0, L ;\n\
                atom.release.gpu.exch r1, l, 0 | atom.release.gpu.exch r1, l, 0 ;\nexists (l == 0)";
    // Under HSA the second thread may stay behind with the lock.
    assert_eq!(ends("ptx-7.5", test), ["fair", "obe", "lobe", "hsa-obe"]);
}

#[test]
fn a_thread_that_waits_at_a_barrier_does_not_spin() {
    let test = "VULKAN half\n{ x=0; }\nP0@sg 0, wg 0, qf 0 | P1@sg 1, wg 0, qf 0 ;\n\
                cbar.wg 0, 0, 3 | cbar.wg 0, 0, 3 ;\nexists (x == 0)";
    assert_eq!(ends("vulkan", test), ["fair", "obe", "hsa", "lobe", "hsa-obe"]);
}

#[test]
fn a_barrier_lets_nobody_pass_alone() {
    // Who spins behind the barrier has been there with the other thread.
    let test = "VULKAN behind\n{ x=0; }\nP0@sg 0, wg 0, qf 0 | P1@sg 1, wg 0, qf 0 ;\n\
                cbar.wg 0 | st.atom.wg.sc0 x, 1 ;\n L: | cbar.wg 0 ;\n\
                ld.atom.wg.sc0 r0, x | ;\n bne r0, 1, L | ;\nexists (x == 1)";
    assert_eq!(ends("vulkan", test), ["fair", "obe", "hsa", "lobe", "hsa-obe"]);
}

#[test]
fn an_execution_of_the_model_alone_spins() {
    // Only where both loads pass both stores does each thread wait for the other.
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
fn what_is_read_at_the_end_is_a_last_write() {
    // The store of 1 is overwritten or comes last: a reader that spins has seen 2.
    let test = "PTX last\n{ x=0; }\nP0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n\
                st.relaxed.gpu x, 1 | L: ;\n st.relaxed.gpu x, 2 | ld.relaxed.gpu r0, x ;\n\
                | bne r0, 2, L ;\nexists (x == 2)";
    assert_eq!(ends("ptx-7.5", test), ["fair", "hsa", "lobe", "hsa-obe"]);
}

#[test]
fn a_run_is_drawn_with_the_steps_that_it_takes_for_ever() {
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
