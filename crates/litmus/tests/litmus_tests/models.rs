//! Tests each memory model that comes with Fencepost, on litmus tests that separate the model from
//! similar models.

use litmus::check::{Options, Report, check};

/// Checks a litmus test under the memory model of this name that comes with Fencepost, with the
/// given variants of the model.
fn run(model: &str, variants: &[&str], test: &str) -> Report {
    let mut of = litmus::cat::shipped(model).expect("the model is shipped").expect("it is a model");
    of.variants = variants.iter().map(|v| (*v).to_owned()).collect();
    let program = litmus::parse::parse(test).unwrap_or_else(|e| panic!("{e}\n{test}"));
    check(&program, &of, &mut Options::default()).unwrap_or_else(|e| panic!("{e}\n{test}"))
}

fn allows(model: &str, test: &str) -> bool {
    let report = run(model, &[], test);
    assert!(report.complete, "{}", report.herd_block());
    report.verdict
}

#[test]
fn every_shipped_model_is_a_model() {
    for of in litmus::cat::shipped_names() {
        let model = litmus::cat::shipped(of.name).expect("it is shipped");
        model.unwrap_or_else(|e| panic!("{}: {e}", of.name));
    }
}

/// A C11 test of two threads with the code `p0` and `p1`, two atomic locations `x` and `y`, and the
/// condition `ask`.
fn c11(p0: &str, p1: &str, ask: &str) -> String {
    format!(
        "C test\n{{}}\nP0(atomic_int* x, atomic_int* y) {{ {p0} }}\nP1(atomic_int* x, atomic_int* y) {{ {p1} }}\n{ask}"
    )
}

const ST: &str = "atomic_store_explicit";
const LD: &str = "atomic_load_explicit";

fn store_buffering(order: &str, fence: &str) -> String {
    c11(
        &format!("{ST}(x, 1, {order}); {fence} int r = {LD}(y, {order});"),
        &format!("{ST}(y, 1, {order}); {fence} int r = {LD}(x, {order});"),
        "exists (0:r=0 /\\ 1:r=0)",
    )
}

fn message_passing(release: &str, acquire: &str) -> String {
    c11(
        &format!("{ST}(x, 1, memory_order_relaxed); {ST}(y, 1, {release});"),
        &format!("int r0 = {LD}(y, {acquire}); int r1 = {LD}(x, memory_order_relaxed);"),
        "exists (1:r0=1 /\\ 1:r1=0)",
    )
}

fn load_buffering() -> String {
    c11(
        &format!("int r = {LD}(x, memory_order_relaxed); {ST}(y, 1, memory_order_relaxed);"),
        &format!("int r = {LD}(y, memory_order_relaxed); {ST}(x, 1, memory_order_relaxed);"),
        "exists (0:r=1 /\\ 1:r=1)",
    )
}

#[test]
fn store_buffering_separates_sc_from_tso() {
    let relaxed = store_buffering("memory_order_relaxed", "");
    assert!(!allows("sc", &relaxed));
    for model in ["tso", "rmo", "c11", "rc11"] {
        assert!(allows(model, &relaxed), "{model}");
    }
    let fenced = store_buffering("memory_order_relaxed", "atomic_thread_fence(memory_order_seq_cst);");
    for model in ["sc", "tso", "rmo", "c11", "rc11"] {
        assert!(!allows(model, &fenced), "{model}");
    }
    let strong = store_buffering("memory_order_seq_cst", "");
    for model in ["rmo", "c11", "rc11"] {
        assert!(!allows(model, &strong), "{model}");
    }
}

#[test]
fn message_passing_separates_tso_from_rmo() {
    let relaxed = message_passing("memory_order_relaxed", "memory_order_relaxed");
    assert!(!allows("tso", &relaxed));
    for model in ["rmo", "c11", "rc11"] {
        assert!(allows(model, &relaxed), "{model}");
    }
    let ordered = message_passing("memory_order_release", "memory_order_acquire");
    for model in ["sc", "tso", "rmo", "c11", "rc11"] {
        assert!(!allows(model, &ordered), "{model}");
    }
}

#[test]
fn load_buffering_separates_c11_from_rc11() {
    assert!(!allows("tso", &load_buffering()));
    assert!(!allows("rc11", &load_buffering()));
    assert!(allows("rmo", &load_buffering()));
    assert!(allows("c11", &load_buffering()));
}

#[test]
fn an_acquire_fence_orders_earlier_reads_in_rmo() {
    let fenced = c11(
        &format!(
            "{ST}(x, 1, memory_order_relaxed); atomic_thread_fence(memory_order_release); {ST}(y, 1, memory_order_relaxed);"
        ),
        &format!(
            "int r0 = {LD}(y, memory_order_relaxed); atomic_thread_fence(memory_order_acquire); int r1 = {LD}(x, memory_order_relaxed);"
        ),
        "exists (1:r0=1 /\\ 1:r1=0)",
    );
    for model in ["rmo", "c11", "rc11"] {
        assert!(!allows(model, &fenced), "{model}");
    }
    // An acquire fence does not order an earlier write before a later read.
    let weak = store_buffering("memory_order_relaxed", "atomic_thread_fence(memory_order_acq_rel);");
    for model in ["c11", "rc11"] {
        assert!(allows(model, &weak), "{model}");
    }
}

/// A test of independent reads of independent writes. The writes are releases and the reads are
/// acquires. If `order` is `sc`, they are sequentially consistent instead.
fn iriw(order: &str) -> String {
    let write = |loc: &str| {
        format!(
            "{ST}({loc}, 1, {});",
            if order == "sc" { "memory_order_seq_cst" } else { "memory_order_release" }
        )
    };
    let read = |reg: &str, loc: &str| {
        format!(
            "int {reg} = {LD}({loc}, {});",
            if order == "sc" { "memory_order_seq_cst" } else { "memory_order_acquire" }
        )
    };
    format!(
        "C IRIW\n{{}}\nP0(atomic_int* x, atomic_int* y) {{ {} }}\nP1(atomic_int* x, atomic_int* y) {{ {} }}\n\
         P2(atomic_int* x, atomic_int* y) {{ {} {} }}\nP3(atomic_int* x, atomic_int* y) {{ {} {} }}\n\
         exists (2:a=1 /\\ 2:b=0 /\\ 3:a=1 /\\ 3:b=0)",
        write("x"),
        write("y"),
        read("a", "x"),
        read("b", "y"),
        read("a", "y"),
        read("b", "x")
    )
}

#[test]
fn readers_may_disagree_in_c11_unless_all_is_seq_cst() {
    for model in ["c11", "rc11"] {
        assert!(allows(model, &iriw("ra")), "{model}");
        assert!(!allows(model, &iriw("sc")), "{model}");
    }
    for model in ["sc", "tso", "rmo"] {
        assert!(!allows(model, &iriw("ra")), "{model}");
    }
}

#[test]
fn c11_flags_races_of_plain_accesses_only() {
    let racy = "C race\n{}\nP0(int* x) { *x = 1; }\nP1(int* x) { int r = *x; }\nexists (1:r=1)";
    let atomic = "C fine\n{}\nP0(atomic_int* x) { atomic_store(x, 1); }\nP1(atomic_int* x) { int r = atomic_load(x); }\nexists (1:r=1)";
    for model in ["c11", "rc11"] {
        assert!(run(model, &[], racy).has_race(), "{model}");
        assert!(!run(model, &[], atomic).has_race(), "{model}");
    }
}

/// An OpenCL C test for the programs of the HRF paper. Each entry of `threads` has the placement
/// and the code of a thread. `ask` is the condition.
fn opencl(threads: &[(&str, &str)], ask: &str) -> String {
    let arguments = "global atomic_int* a, global atomic_int* b, global int* x";
    let mut text = "OPENCL test\n{}\n".to_owned();
    for (number, (place, code)) in threads.iter().enumerate() {
        text += &format!("P{number}@{place} ({arguments}) {{ {code} }}\n");
    }
    text + ask
}

const DEV: &str = "memory_order_seq_cst, memory_scope_device";
const WG: &str = "memory_order_seq_cst, memory_scope_work_group";

/// Figures 2 and 6 of the HRF paper: a chain of synchronization through two atomics with the given
/// scopes.
fn chain(first: &str, second: &str) -> String {
    opencl(
        &[
            ("wg 0, dev 0", &format!("*x = 1; {ST}(a, 1, {first});")),
            ("wg 0, dev 0", &format!("await(a == 1, {first}); int r2 = *x; {ST}(b, 1, {second});")),
            ("wg 1, dev 0", &format!("await(b == 1, {second}); int r3 = *x;")),
        ],
        "forall (1:r2=1 /\\ 2:r3=1)",
    )
}

/// Figures 5 and 7 of the HRF paper: store buffering with an order and a scope for each access.
/// `other` is the placement of the second thread.
fn figure_5(other: &str, scopes: [&str; 4]) -> String {
    let [st_a, ld_b, st_b, ld_a] = scopes;
    opencl(
        &[
            ("wg 0, dev 0", &format!("{ST}(a, 1, {st_a}); int r = {LD}(b, {ld_b});")),
            (other, &format!("{ST}(b, 1, {st_b}); int r = {LD}(a, {ld_a});")),
        ],
        "exists (0:r=0 /\\ 1:r=0)",
    )
}

#[test]
fn figure_2_is_race_free_everywhere() {
    for model in ["drf", "hrf-direct", "hrf-indirect"] {
        let report = run(model, &[], &chain(DEV, DEV));
        assert!(!report.has_race() && report.verdict, "{model}\n{}", report.herd_block());
    }
}

#[test]
fn figure_5_races_in_different_work_groups_only() {
    let scopes = [WG, DEV, DEV, WG];
    for model in ["hrf-direct", "hrf-indirect"] {
        let same = run(model, &[], &figure_5("wg 0, dev 0", scopes));
        assert!(!same.has_race() && !same.verdict, "{model}\n{}", same.herd_block());
        let other = run(model, &[], &figure_5("wg 1, dev 0", scopes));
        assert!(other.has_race(), "{model}\n{}", other.herd_block());
    }
    assert!(!run("drf", &[], &figure_5("wg 1, dev 0", scopes)).has_race());
}

#[test]
fn figure_6_separates_direct_from_indirect() {
    let test = chain(WG, DEV);
    assert!(run("hrf-direct", &[], &test).has_race());
    let indirect = run("hrf-indirect", &[], &test);
    assert!(!indirect.has_race() && indirect.verdict, "{}", indirect.herd_block());
}

#[test]
fn figure_7_needs_scope_inclusion() {
    let test = figure_5("wg 0, dev 0", [DEV, DEV, WG, WG]);
    for model in ["hrf-direct", "hrf-indirect"] {
        assert!(run(model, &[], &test).has_race(), "{model}");
        assert!(!run(model, &["inclusion"], &test).has_race(), "{model}");
    }
}

#[test]
fn a_release_of_another_location_synchronizes_in_the_default_reading_only() {
    // The write for which the other thread waits is an acquire but not a release. The release
    // before this write has another location.
    let test = opencl(
        &[
            (
                "wg 0, dev 0",
                "*x = 1; atomic_store_explicit(b, 1, memory_order_release, memory_scope_device); \
                 atomic_fetch_add_explicit(a, 1, memory_order_acquire, memory_scope_device);",
            ),
            ("wg 1, dev 0", "await(a == 1, memory_order_acquire, memory_scope_device); int r = *x;"),
        ],
        "forall (1:r=1)",
    );
    for model in ["drf", "hrf-direct", "hrf-indirect"] {
        assert!(!run(model, &[], &test).has_race(), "{model}");
        assert!(run(model, &["same-location"], &test).has_race(), "{model}");
    }
}

#[test]
fn a_remote_acquire_pairs_with_a_narrower_release() {
    let test = |acquire: &str| {
        opencl(
            &[
                (
                    "wg 0, dev 0",
                    "*x = 1; atomic_store_explicit(a, 1, memory_order_release, memory_scope_work_group);",
                ),
                (
                    "wg 1, dev 0",
                    &format!(
                        "int r0 = {acquire}(a, memory_order_acquire, memory_scope_device); int r1 = 9; if (r0) r1 = *x;"
                    ),
                ),
            ],
            "exists (1:r0=1 /\\ 1:r1=0)",
        )
    };
    let remote = run("opencl-rsp", &[], &test("atomic_load_explicit_remote"));
    assert!(!remote.verdict && !remote.has_race(), "{}", remote.herd_block());
    let plain = run("opencl-rsp", &[], &test("atomic_load_explicit"));
    assert!(plain.verdict && plain.has_race(), "{}", plain.herd_block());
    assert!(run("opencl", &[], &test("atomic_load_explicit_remote")).has_race());
}

#[test]
fn an_opencl_barrier_orders_its_region() {
    let test = |flags: &str, ask: &str| {
        format!(
            "OPENCL barrier\n{{ [x] = 0; }}\nP0@wg 0, dev 0 (global int* x) {{ *x = 1; barrier({flags}); }}\n\
             P1@wg 0, dev 0 (global int* x) {{ barrier({flags}); int r = *x; }}\n{ask}"
        )
    };
    let global = run("opencl", &[], &test("CLK_GLOBAL_MEM_FENCE", "forall (1:r=1)"));
    assert!(global.verdict && !global.has_race(), "{}", global.herd_block());
    let local = run("opencl", &[], &test("CLK_LOCAL_MEM_FENCE", "forall (1:r=1)"));
    assert!(local.has_race(), "{}", local.herd_block());
}

#[test]
fn ptx_fences_of_too_small_a_scope_do_not_order() {
    let test = |scope: &str| {
        format!(
            "PTX SB\n{{ x=0; y=0; }}\nP0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\nst.weak x, 1 | st.weak y, 1 ;\n\
             fence.sc.{scope} | fence.sc.{scope} ;\nld.weak r0, y | ld.weak r0, x ;\nexists (P0:r0 == 0 /\\ P1:r0 == 0)"
        )
    };
    for model in ["ptx-6.0", "ptx-7.5"] {
        assert!(allows(model, &test("cta")), "{model}");
        assert!(!allows(model, &test("gpu")), "{model}");
        assert!(!allows(model, &test("sys")), "{model}");
    }
}

#[test]
fn fences_of_ptx_order_where_each_holds_the_other() {
    let test = "PTX SB\n{ x=0; y=0; }\nP0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\nst.weak x, 1 | st.weak y, 1 ;\n\
                fence.sc.gpu | fence.sc.cta ;\nld.weak r0, y | ld.weak r0, x ;\nexists (P0:r0 == 0 /\\ P1:r0 == 0)";
    for model in ["ptx-6.0", "ptx-7.5"] {
        assert!(allows(model, test), "{model}");
    }
}

#[test]
fn a_failed_compare_and_swap_has_the_order_of_a_failure() {
    let test = |failure: &str| {
        let read = format!(
            "int e = 7; atomic_compare_exchange_strong_explicit(y, &e, 9, memory_order_acquire, {failure}); \
             int r1 = {LD}(x, memory_order_relaxed);"
        );
        let write = format!("{ST}(x, 1, memory_order_relaxed); {ST}(y, 1, memory_order_release);");
        c11(&write, &read, "exists (1:e=1 /\\ 1:r1=0)")
    };
    for model in ["c11", "rc11"] {
        assert!(allows(model, &test("memory_order_relaxed")), "{model}");
        assert!(!allows(model, &test("memory_order_acquire")), "{model}");
    }
}

#[test]
fn ptx_coherence_leaves_weak_writes_of_other_threads_apart() {
    // Either write may be last, and a reader may see them in either order.
    let test = "PTX apart\n{ x=0; }\nP0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\nst.weak x, 1 | st.weak x, 2 ;\nforall (x == 1 \\/ x == 2)";
    for model in ["ptx-6.0", "ptx-7.5"] {
        let report = run(model, &[], test);
        assert!(report.verdict, "{}", report.herd_block());
        // The writes are ordered in one of the two directions, or are unordered and one of them is
        // chosen as the last write.
        assert_eq!(report.states.iter().map(|s| s.count).collect::<Vec<_>>(), [2, 2]);
    }
}

#[test]
fn values_out_of_thin_air_need_a_cycle_of_reads() {
    let copy = "C lb\n{}\nP0(atomic_int* x, atomic_int* y) { int r = atomic_load_explicit(x, memory_order_relaxed); atomic_store_explicit(y, r, memory_order_relaxed); }\n\
         P1(atomic_int* x, atomic_int* y) { int r = atomic_load_explicit(y, memory_order_relaxed); atomic_store_explicit(x, r, memory_order_relaxed); }\nexists (0:r=42)";
    assert!(allows("c11", copy), "C11 does not rule them out");
    assert!(!allows("rc11", copy));
}

#[test]
fn a_race_in_an_iteration_that_only_waits_is_found() {
    // A read while the flag is still zero races. The register is dead.
    let test = |read: &str| {
        format!(
            "C idle\n{{}}\nP0(int* data, atomic_int* f) {{ *data = 1; {ST}(f, 1, memory_order_release); }}\n\
             P1(int* data, atomic_int* f) {{ while ({LD}(f, memory_order_acquire) == 0) {{ {read} }} int r = *data; }}\nexists (1:r=0)"
        )
    };
    for model in ["c11", "rc11"] {
        let report = run(model, &[], &test("int dead = *data;"));
        assert!(report.has_race() && report.complete, "{model}\n{}", report.herd_block());
        // The program has the same states, each with the same count, as the program that only
        // waits.
        let only_waits = run(model, &[], &test(""));
        assert!(!only_waits.has_race() && only_waits.complete, "{model}\n{}", only_waits.herd_block());
        let states = |report: &Report| report.states.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(states(&report), states(&only_waits));
        assert_eq!(report.negative, only_waits.negative);
        assert!(!report.verdict && report.negative == 1);
    }
}

#[test]
fn a_race_in_an_execution_that_waits_for_ever_is_found() {
    // No thread writes 2, so no execution terminates.
    let test = |order: &str| {
        format!(
            "OPENCL stuck\n{{}}\nP0@wg 0, dev 0 (global int* x, global atomic_int* f) {{ *x = 1; {ST}(f, 1, {order}, memory_scope_device); await(f == 2); }}\n\
             P1@wg 0, dev 0 (global int* x, global atomic_int* f) {{ await(f == 1, memory_order_acquire, memory_scope_device); int r = *x; await(f == 2); }}\nexists (1:r=1)"
        )
    };
    for (order, races) in [("memory_order_relaxed", true), ("memory_order_release", false)] {
        let report = run("opencl", &[], &test(order));
        assert_eq!(report.has_race(), races, "{}", report.herd_block());
        assert!(report.states.is_empty() && report.complete);
    }
    for model in ["drf", "hrf-direct", "hrf-indirect"] {
        assert!(!run(model, &[], &test("memory_order_release")).has_race(), "{model}");
        let racy = test("memory_order_release").replace("await(f == 1", "await(f == 0");
        assert!(run(model, &[], &racy).has_race(), "{model}");
    }
}

#[test]
fn executions_that_the_filter_refuses_do_not_race() {
    let test = |filter: &str| {
        let code = [
            "*x = 1; atomic_store_explicit(f, 1, memory_order_release, memory_scope_device);",
            "int r0 = atomic_load_explicit(f, memory_order_acquire, memory_scope_device); int r1 = *x;",
        ];
        let argument = "(global int* x, global atomic_int* f)";
        format!(
            "OPENCL filter\n{{}}\nP0@wg 0, dev 0 {argument} {{ {} }}\nP1@wg 1, dev 0 {argument} {{ {} }}\n{filter}\nexists (1:r1=0)",
            code[0], code[1]
        )
    };
    for model in ["opencl", "drf", "hrf-direct", "hrf-indirect"] {
        assert!(run(model, &[], &test("")).has_race(), "{model}");
        let report = run(model, &[], &test("filter (1:r0=1)"));
        assert!(!report.has_race() && !report.verdict && report.negative > 0, "{model}");
        assert!(run(model, &[], &test("filter (1:r0=0)")).has_race(), "{model}");
    }
}

#[test]
fn a_write_that_is_not_made_available_races_in_vulkan() {
    let report = |store: &str| {
        let text = format!(
            "VULKAN MP\n{{ data=0; flag=0; }}\n P0@sg 0, wg 0, qf 0 | P1@sg 1, wg 0, qf 0 ;\n \
             {store} data, 1 | ld.atom.acq.wg.sc0.semsc0 r0, flag ;\n \
             st.atom.rel.wg.sc0.semsc0 flag, 1 | ld.vis.wg.sc0 r1, data ;\n\
             filter (P1:r0 == 1) exists (P1:r1 == 0)"
        );
        let program = litmus::parse::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let model = litmus::cat::shipped("vulkan").expect("it is shipped").expect("it is a model");
        let mut options = Options::default();
        check(&program, &model, &mut options).unwrap_or_else(|e| panic!("{e}\n{text}"))
    };
    let (available, hidden) = (report("st.av.wg.sc0"), report("st.nonpriv.sc0"));
    assert!(!available.verdict && !available.has_race(), "{available:?}");
    assert!(hidden.verdict && hidden.has_race(), "{hidden:?}");
}
