//! Tests the error messages for texts that are not tests. A message names the line, the column, the
//! text found and the text expected.

fn error(text: &str) -> String {
    litmus::parse::parse(text).map(|program| format!("read as {program:?}")).expect_err(text).to_string()
}

fn opencl(body: &str) -> String {
    error(&format!(
        "OPENCL t\n{{ [x] = 0; }}\nP0@wg 0, dev 0 (global atomic_int* x) {{\n  {body}\n}}\nexists (x=1)"
    ))
}

fn ptx(rows: &str) -> String {
    error(&format!("PTX t\n{{ x=0; }}\nP0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n{rows}\nexists (x=1)"))
}

fn vulkan(rows: &str) -> String {
    error(&format!("VULKAN t\n{{ x=0; }}\nP0@sg 0, wg 0, qf 0 | P1@sg 0, wg 0, qf 0 ;\n{rows}\nexists (x=1)"))
}

fn lisa(rows: &str) -> String {
    error(&format!(
        "LISA t\n{{ x=0; }}\nP0 | P1 ;\n{rows}\nscopes: (device (work_group P0) (work_group P1))\nexists (x=1)"
    ))
}

#[test]
fn the_format_and_the_initial_state_come_first() {
    assert_eq!(
        error("SPARC t\n{}\nexists (x=1)"),
        "line 1, column 1: found `SPARC`, expected `OPENCL`, `PTX`, `VULKAN`, `C` or `LISA` to name the format"
    );
    assert_eq!(
        error("C t\nP0(int* x) "),
        "line 2, column 12: found the end of the file, expected `{` to open the initial state"
    );
    assert_eq!(
        error(""),
        "line 1, column 1: found the end of the file, expected `{` to open the initial state"
    );
    assert_eq!(
        error("C t\n\"never closed {}"),
        "line 2, column 1: found the end of the file, expected `\"` to close this text"
    );
    assert_eq!(error("C t\n{ x = ; }"), "line 2, column 7: found `;`, expected a number or a location");
    assert_eq!(error("C t\n{ x 1 }"), "line 2, column 5: found `1`, expected `;` or `}`");
    assert_eq!(error("C t\n{ int x; int x; }"), "line 2, column 14: location `x` is declared twice");
    assert_eq!(
        error("C t\n{ int a[1] = {1, 2}; }"),
        "line 2, column 7: array `a` has 1 element, but 2 initial values"
    );
    assert_eq!(
        error("C t\n{ x = 99999999999999999999; }"),
        "line 2, column 7: found `99999999999999999999`, expected a number of at most 64 bits"
    );
    assert_eq!(
        error("C t\n{ 3:r0 = 1; }\nP0(int* x) {}\nexists (x=1)"),
        "line 2, column 5: the test has no thread P3"
    );
}

#[test]
fn opencl_code_is_checked() {
    assert_eq!(opencl("*x = ;"), "line 4, column 8: found `;`, expected an expression");
    assert_eq!(opencl("*x = 1"), "line 5, column 1: found `}`, expected `;`");
    assert_eq!(opencl("r0 += 1;"), "line 4, column 3: register `r0` has no value yet");
    assert_eq!(
        opencl("int r = y;"),
        "line 4, column 11: `y` is neither a register nor a location of this thread"
    );
    assert_eq!(opencl("x = 1;"), "line 4, column 3: `x` is a pointer: write through it with `*x = ...`");
    assert_eq!(opencl("int x = 1;"), "line 4, column 7: `x` is already a parameter of this thread");
    assert_eq!(
        opencl("frobnicate(x);"),
        "line 4, column 3: found `frobnicate`, expected an atomic operation, a fence, a barrier or `await`"
    );
    assert_eq!(
        opencl("atomic_store_explicit(x, 1, memory_order_strong);"),
        "line 4, column 31: found `memory_order_strong`, expected a memory order such as `memory_order_acquire`"
    );
    assert_eq!(
        opencl("atomic_store_explicit(x, 1, memory_order_release, memory_scope_planet);"),
        "line 4, column 53: found `memory_scope_planet`, expected a memory scope such as `memory_scope_device`"
    );
    assert_eq!(
        opencl("atomic_store_explicit(x, 1, memory_order_release, memory_scope_sub_group);"),
        "line 4, column 53: thread P0 is in no `sub_group`"
    );
    assert_eq!(opencl("atomic_store_explicit(x, 1);"), "line 4, column 29: found `)`, expected `,`");
    assert_eq!(
        opencl("barrier(CLK_MEM);"),
        "line 4, column 11: found `CLK_MEM`, expected `CLK_GLOBAL_MEM_FENCE` or `CLK_LOCAL_MEM_FENCE`"
    );
    assert_eq!(opencl("goto nowhere;"), "line 4, column 8: thread P0 has no label `nowhere`");
    assert_eq!(opencl("if (1 {"), "line 4, column 9: found `{`, expected `)`");
    assert_eq!(
        opencl("await(x, memory_order_acquire);"),
        "line 4, column 10: found `,`, expected a comparison such as `==`"
    );
    assert_eq!(
        error("OPENCL t\n{}\nP0@wg 0, dev 0 (int x) {}\nexists (x=1)"),
        "line 3, column 21: parameter `x` is not a pointer: give its type a `*`"
    );
}

#[test]
fn threads_and_placements_fit_together() {
    assert_eq!(
        error("C t\n{}\nP1(int* x) {}\nexists (x=1)"),
        "line 3, column 1: found `P1`, expected `P0`: threads are numbered in order"
    );
    assert_eq!(
        error("OPENCL t\n{}\nP0@wg 0, dev 0 (global int* x) {}\nP1 (global int* x) {}\nexists (x=1)"),
        "line 2, column 1: thread P1 has no placement, although others have one"
    );
    assert_eq!(
        error("OPENCL t\n{}\nP0@wg -1 (global int* x) {}\nexists (x=1)"),
        "line 3, column 7: found `-1`, expected a number from 0 to 4294967295"
    );
    assert_eq!(
        error("PTX t\n{ x=0; }\nP0@cta 99999999999,gpu 0 ;\nst.weak x, 1 ;\nexists (x=1)"),
        "line 3, column 8: found `99999999999`, expected a number from 0 to 4294967295"
    );
    assert_eq!(
        error("OPENCL t\n{}\nP0 (global int* x) {}\nscopeTree (device (work_group P0 P7))\nexists (x=1)"),
        "line 2, column 1: scope `device` holds a thread that the test does not have"
    );
    assert_eq!(
        error("OPENCL t\n{}\nP0 (global int* x) {}\nscopeTree (device (work_group P0 x))\nexists (x=1)"),
        "line 4, column 34: found `x`, expected a thread such as `P0`, or `)`"
    );
}

#[test]
fn ptx_code_is_checked() {
    assert_eq!(ptx("st.weak x, r0 | ;"), "line 4, column 12: thread P0 has no register `r0` here");
    assert_eq!(
        ptx("ld.fast r0, x | ;"),
        "line 4, column 1: found `.fast`, expected an order and a scope after `ld`"
    );
    assert_eq!(
        ptx("ld.relaxed r0, x | ;"),
        "line 4, column 1: found `ld` without a scope, expected a scope: `.cta`, `.cluster`, `.gpu` or `.sys`"
    );
    assert_eq!(ptx("ld.release.gpu r0, x | ;"), "line 4, column 1: `ld` cannot have this memory order");
    assert_eq!(ptx("st.weak.gpu x, 1 | ;"), "line 4, column 1: a weak `st` takes no scope, found `.gpu`");
    assert_eq!(ptx("ld.relaxed.cluster r0, x | ;"), "line 4, column 1: thread P0 is in no `cluster`");
    assert_eq!(
        ptx("nop | ;"),
        "line 4, column 1: found `nop`, expected an instruction such as `ld`, `st`, `atom`, `red`, `fence` or `bar`"
    );
    assert_eq!(
        ptx("atom.relaxed.gpu.nand r0, x, 1 | ;"),
        "line 4, column 1: found `.nand`, expected an operation such as `.add`, `.exch` or `.cas`"
    );
    assert_eq!(ptx("beq 1, 1, LC9 | ;"), "line 4, column 11: thread P0 has no label `LC9`");
    assert_eq!(
        ptx("st.weak x, 1 | st.weak x, 2 | st.weak x, 3 ;"),
        "line 4, column 31: found `st.weak`, expected `;`: the test has 2 threads"
    );
    assert_eq!(ptx("st.weak x, 1 2 | ;"), "line 4, column 14: found `2`, expected `|` or `;`");
    assert_eq!(
        ptx("st.weak x, 1 |"),
        "line 6, column 1: found the end of the file, expected `|` or `;`"
            .replace("6, column 1", "5, column 13")
            .as_str()
    );
    assert_eq!(
        error("PTX t\n{ y @ magic aliases x; }"),
        "line 2, column 7: found `magic`, expected `generic`, `texture`, `surface` or `constant`"
    );
    assert_eq!(error("PTX t\n{ y @ generic aliases x; }"), "line 2, column 23: the test has no location `x`");
}

#[test]
fn vulkan_code_is_checked() {
    for (row, wanted) in [
        (
            "ld.atom.sc0 r0, x | ;",
            "column 1: found `ld` without a scope, expected a scope: `.sg`, `.wg`, `.qf` or `.dv`",
        ),
        (
            "st.av.sc0 x, 1 | ;",
            "column 1: found `st` without a scope, expected a scope: `.sg`, `.wg`, `.qf` or `.dv`",
        ),
        ("st.vis.wg.sc0 x, 1 | ;", "column 1: `st` takes no `.vis`"),
        ("ld.atom.rel.wg.sc0 r0, x | ;", "column 1: `ld` cannot have this memory order"),
        ("| rmw.wg.sc0 r0, x, 1 ;", "column 3: found `rmw` without `.atom`, expected `rmw.atom`"),
        (
            "rmw.atom.wg.sc0.twice r0, x, 1 | ;",
            "column 1: found `.twice`, expected an operation such as `.add`, `.exch` or `.cas`",
        ),
        ("ld.sc0.sc1 r0, x | ;", "column 1: found two storage classes, expected one of `.sc0` to `.sc3`"),
        (
            "membar.wg.semsc0 | ;",
            "column 1: found `membar` without an order, expected `.acq`, `.rel` or `.acq_rel`",
        ),
        (
            "cbar.acq_rel.wg.sc0 1 | ;",
            "column 1: found `.sc0`, expected semantics of `cbar` such as `.semsc0`",
        ),
        ("avdevice.wg | ;", "column 1: found `avdevice` with a modifier, expected none"),
        (
            "ld.wg.dv.sc0 r0, x | ;",
            "column 1: found `.dv` in `ld.wg.dv.sc0`, expected at most one order, at most one scope, and no modifier twice",
        ),
        (
            "fence.wg | ;",
            "column 1: found `fence.wg`, expected an instruction such as `ld`, `st`, `rmw`, `membar` or `cbar`",
        ),
        ("bne r0, 1, L | ;", "column 5: thread P0 has no register `r0` here"),
    ] {
        assert_eq!(vulkan(row), format!("line 4, {wanted}"), "{row}");
    }
    assert_eq!(
        error("VULKAN t\n{ x=0; }\n{ ssw 0 3; }\nP0@sg 0, wg 0, qf 0 ;\nst.sc0 x, 1 ;\nexists (x=1)"),
        "line 3, column 9: the test has no thread P3"
    );
    assert_eq!(
        error("VULKAN t\n{ y aliases x; }\nP0@sg 0, wg 0, qf 0 ;\nst.sc0 x, 1 ;\nexists (x=1)"),
        "line 2, column 13: the test has no location `x`"
    );
}

#[test]
fn lisa_code_is_checked() {
    assert_eq!(lisa("w[] x r1 | ;"), "line 4, column 7: thread P0 has no register `r1` here");
    assert_eq!(lisa("r[acquire r0 x | ;"), "line 4, column 11: found `r0`, expected `,`");
    assert_eq!(
        lisa("x[] r0 x | ;"),
        "line 4, column 1: found `x`, expected an instruction: `r`, `w`, `f`, `rmw`, `mov`, `b` or `await`"
    );
    assert_eq!(lisa("b[] r0 L | ;"), "line 4, column 5: thread P0 has no register `r0` here");
    assert_eq!(
        lisa("rmw[] r0 (mix r0 1) x | ;"),
        "line 4, column 10: found `mix`, expected `add`, `sub`, `and`, `or`, `xor`, `xchg` or `cas`"
    );
}

#[test]
fn conditions_are_checked() {
    let ask = |condition: &str| error(&format!("C t\n{{}}\nP0(int* x) {{ int r0 = *x; }}\n{condition}"));
    assert_eq!(ask("exists (0:r1=1)"), "line 4, column 11: thread P0 has no register `r1`");
    assert_eq!(ask("exists (1:r0=1)"), "line 4, column 9: the test has no thread P1");
    assert_eq!(ask("exists (y=1)"), "line 4, column 9: the test has no location `y`");
    assert_eq!(
        ask("exists (x 1)"),
        "line 4, column 11: found `1`, expected a comparison such as `==` or `!=`"
    );
    assert_eq!(ask("exists (x=1"), "line 4, column 12: found the end of the file, expected `)`");
    assert_eq!(
        ask("exists (x=1) forall (x=1)"),
        "line 4, column 14: found `forall`, expected the end of the file: a test has one condition"
    );
    assert_eq!(
        ask("maybe (x=1)"),
        "line 4, column 1: found `maybe`, expected `exists`, `~exists`, `forall`, `filter` or `locations`"
    );
}

#[test]
fn a_barrier_is_for_one_thread_at_least() {
    for count in ["0", "-1"] {
        let expected =
            format!("column 22: found `{count}`, expected a number of threads, 1 or more, or a register");
        assert_eq!(
            ptx(&format!("bar.cta.sync 1, 1, {count} | ;")),
            format!("line 4, {}", expected.replace("22", "20"))
        );
        assert_eq!(
            vulkan(&format!("cbar.wg 1, 1, {count} | ;")),
            format!("line 4, {}", expected.replace("22", "15"))
        );
    }
}

#[test]
fn control_characters_are_escaped() {
    assert_eq!(
        error("C t\n{}\nP0(int* x) { *x\0= 1; }\nexists (x=1)"),
        "line 3, column 16: found `\\0`, expected a word, a number or punctuation"
    );
    assert_eq!(
        error("C t\n{}\nP0(int* x) { \u{7f}*x = 1; }\nexists (x=1)"),
        "line 3, column 14: found `\\u{7f}`, expected a word, a number or punctuation"
    );
}

#[test]
fn characters_count_and_not_bytes() {
    assert_eq!(
        error("C t\n{ }\nP0(int* x) { /* \u{e9}\u{e9}\u{e9} */ @ }\nexists (x=1)"),
        "line 3, column 24: found `@`, expected an expression"
    );
    assert_eq!(
        error("C t\n{ \u{e9} = 1; }"),
        "line 2, column 3: found `\u{e9}`, expected a word, a number or punctuation"
    );
}

#[test]
fn a_label_is_defined_once() {
    let twice = "line 5, column 1: label `L` is defined twice";
    assert_eq!(opencl("L: *x = 1;\nL: *x = 2;"), twice);
    assert_eq!(ptx("L: st.weak x, 1 | ;\nL: st.weak x, 2 | ;"), twice);
    assert_eq!(lisa("L: w[] x 1 | ;\nL: w[] x 2 | ;"), twice);
}

#[test]
fn a_fence_of_ptx_is_full_or_sequentially_consistent() {
    for order in ["acquire", "release", "relaxed", "weak"] {
        let text = ptx(&format!("fence.{order}.gpu | ;"));
        assert_eq!(text, "line 4, column 1: found `fence` of another order, expected `.sc` or `.acq_rel`");
    }
}
