//! Tests the parsing of litmus tests in herd's style.

use litmus::check::{Options, check};
use litmus::parse::parse;
use litmus::program::{Level, Program, Region};

fn block(text: &str) -> String {
    let model = litmus::cat::shipped("sc").expect("it is shipped").expect("it is a model");
    let program = parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    check(&program, &model, &mut Options::default()).expect("the model fits").herd_block()
}

/// The report, in the format of herd's output, on a test of one thread that ends with `clauses`.
fn ends(clauses: &str) -> String {
    block(&format!(
        "C t\n{{ y = 7; }}\nP0(atomic_int* x, int* y) {{ *x = 1; int r1 = *y; int r0 = 2; }}\n{clauses}"
    ))
}

#[test]
fn the_default_condition_always_holds() {
    let expected = "Test t Required
States 1

Ok
Witnesses
Positive: 1 Negative: 0
Condition forall (true)
Observation t Always 1 0
";
    assert_eq!(ends(""), expected);
    assert!(ends("locations [x; 0:r0;]").contains("\n0:r0=2; [x]=1;\nOk\n"));
}

#[test]
fn registers_come_before_memory_and_locations_need_no_semicolons() {
    for clause in
        ["locations [y x 0:r1 0:r0]", "locations [y; x; 0:r1; 0:r0;]", "locations [y, x, 0:r1, 0:r0]"]
    {
        let text = ends(&format!("{clause} exists (0:r0=2)"));
        assert!(text.contains("\n0:r0=2; 0:r1=7; [x]=1; [y]=7;\n"), "{text}");
    }
}

#[test]
fn conditions_are_written_as_herd_writes_them() {
    for (given, written) in [
        ("exists (x=1)", "exists ([x]=1)"),
        ("exists ([x] <> 2)", "exists (not ([x]=2))"),
        ("exists (x != 2 /\\ ~(y = 1))", "exists (not ([x]=2) /\\ not ([y]=1))"),
        ("forall ((x=1 \\/ y=1) /\\ (y=7 /\\ x=1))", "forall (([x]=1 \\/ [y]=1) /\\ [y]=7 /\\ [x]=1)"),
        ("forall (x=1 /\\ y=7 \\/ x=2)", "forall ([x]=1 /\\ [y]=7 \\/ [x]=2)"),
        ("forall (x=2 => y=1 => y=2)", "forall ([x]=2 => [y]=1 => [y]=2)"),
        ("forall (x=1 /\\ y=7 => (x=1 \\/ x=2))", "forall (([x]=1 /\\ [y]=7) => ([x]=1 \\/ [x]=2))"),
    ] {
        let text = ends(given);
        assert!(text.contains("\nOk\n"), "{text}");
        assert!(text.contains(&format!("\nCondition {written}\n")), "{text}");
    }
}

#[test]
fn a_parameter_holds_an_address() {
    let text = ends("exists (0:x = &x /\\ 0:y = &y)");
    assert!(text.contains("\n0:x=x; 0:y=y;\nOk\n"), "{text}");
}

#[test]
fn an_atomic_pointer_is_a_type() {
    let text = block(
        "C t\n{ _Atomic(int *) p = x; _Atomic(int) z = 3; }
P0(_Atomic(int *) *p, _Atomic(int)* z) {
  int *q = atomic_load_explicit(p, memory_order_relaxed); *q = 5; int r0 = *z;
}\nexists ([x]=5 /\\ 0:r0=3)",
    );
    assert!(text.contains("Observation t Always 1 0"), "{text}");
}

#[test]
fn scope_trees_have_several_roots_and_words_have_regions() {
    let program = parse(
        "LISA t\n{ x = 0; y = 0; }\nP0 | P1 ;\nw[] x 1 | w[] y 1 ;
scopes: (device (work_group P0)) (device (work_group P1))
regions: x: global, y: local
exists (x=1)",
    )
    .expect("a test");
    // Each instance has its threads, and a number within its level.
    let named = |program: &Program| -> Vec<(String, u64)> {
        let outer =
            program.scopes.iter().filter(|(_, s)| s.level > Level::WorkItem && s.level < Level::System);
        let mut named: Vec<_> = outer.map(|(id, s)| (program.scopes.name(id), s.members.0)).collect();
        named.sort();
        named
    };
    let expected = [("device 0", 1), ("device 1", 2), ("work_group 0", 1), ("work_group 1", 2)]
        .map(|(n, m)| (n.to_owned(), m));
    assert_eq!(named(&program), expected);
    let region = |name: &str| program.loc(program.location(name).expect("it is there")).region;
    assert_eq!(region("x"), Region::Global);
    assert_eq!(region("y"), Region::Local);
    let error =
        parse("LISA t\n{ x = 0; }\nP0 ;\nw[] x 1 ;\nregions: z: global\nexists (x=1)").expect_err("no z");
    assert_eq!(error.to_string(), "line 5, column 10: the test has no location `z`");
    let program = parse(
        "OPENCL t\n{}\nP0(global atomic_int* x) { *x = 1; }\nP1(global atomic_int* x) { *x = 1; }
scopeTree (device (work_group P0)) (device (work_group P1))\nexists (x=1)",
    )
    .expect("a test");
    assert_eq!(named(&program), expected);
    let deeper = parse(
        "LISA t\n{ x = 0; }\nP0 | P1 | P2 ;\nw[] x 1 | w[] x 2 | w[] x 3 ;
scopes: (gpu (wg P0 P1)) (gpu (wg P2))\nexists (x=1)",
    )
    .expect("a test");
    let expected = [("gpu 0", 3), ("gpu 1", 4), ("work_group 0", 3), ("work_group 1", 4)];
    assert_eq!(named(&deeper), expected.map(|(n, m)| (n.to_owned(), m)));
    let global = "OPENCL t\n{}\nP0(atomic_int* x, atomic_int* y) { *x = 1; *y = 1; }\nregions: x: global\nexists (x=1)";
    let program = parse(global).expect("a test");
    let region = |name: &str| program.loc(program.location(name).expect("it is there")).region;
    assert_eq!((region("x"), region("y")), (Region::Global, Region::Unqualified));
}

#[test]
fn a_system_of_some_threads_is_a_scope_of_its_own() {
    let test = "LISA t\n{ x = 0; }\nP0 | P1 ;\nw[system] x 1 | w[system] x 2 ;\nscopes: (system P0) (system P1)\nexists (x=1)";
    let program = parse(test).expect("a test");
    let systems = program.scopes.iter().filter(|(_, s)| s.kind == "system").map(|(_, s)| s.members.0);
    assert_eq!(systems.collect::<Vec<_>>(), [3, 1, 2]);
}

#[test]
fn comparisons_are_of_six_kinds() {
    for (holds, fails) in [
        ("y = 7", "y = 6"),
        ("y <> 6", "y <> 7"),
        ("y < 8", "y < 7"),
        ("y <= 7", "y <= 6"),
        ("y > 6", "y > 7"),
        ("y >= 7", "y >= 8"),
    ] {
        assert!(ends(&format!("exists ({holds})")).contains("\nOk\n"), "{holds}");
        assert!(ends(&format!("exists ({fails})")).contains("\nNo\n"), "{fails}");
    }
}
