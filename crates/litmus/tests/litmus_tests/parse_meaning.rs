//! Tests the meaning of the test formats: which program the parser returns for a text.

use litmus::program::{
    BinaryOp, Expr, Instr, Level, Order, Program, Prop, Proxy, Quantifier, Region, RmwOp, Term, ThreadId,
};

fn parse(text: &str) -> Program {
    litmus::parse::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn scope_name(program: &Program, thread: u8, at: usize) -> String {
    let scope = program.thread(ThreadId(thread)).code[at].scope().expect("a scope");
    program.scopes.name(scope)
}

#[test]
fn both_ways_to_name_a_register_mean_the_same() {
    let test = |ask: &str| parse(&format!("C t\n{{}}\nP0(int* x) {{ int r1 = *x; }}\n{ask}")).condition;
    let long = test("exists (P0:r1=1)");
    assert_eq!(long, test("exists (0:r1 == 1)"));
    assert_eq!(long.quantifier, Quantifier::Exists);
    let Prop::Compare(Term::Reg(ThreadId(0), _), BinaryOp::Eq, Term::Const(1)) = long.prop else {
        panic!("{long:?}")
    };
    assert_eq!(test("~exists (0:r1=1)").quantifier, Quantifier::NotExists);
    assert_eq!(test("forall (0:r1=1)").quantifier, Quantifier::Forall);
}

#[test]
fn placements_nest() {
    let program = parse(
        "OPENCL t\n{}\nP0@wg 0, dev 0 (global atomic_int* x) { atomic_store_explicit(x, 1, memory_order_release, memory_scope_work_group); }\n\
         P1@wg 0, dev 1 (global atomic_int* x) { atomic_store(x, 2); }\n\
         P2@wg 0, dev 0 (global atomic_int* x) { atomic_store_explicit(x, 3, memory_order_release, memory_scope_all_svm_devices); }\nexists (x=1)",
    );
    let members = |thread: u8, level: Level| {
        let scope = program.scopes.enclosing(ThreadId(thread), level).expect("it is placed");
        program.scopes.get(scope).members.0
    };
    // Work-group 0 of device 1 is not work-group 0 of device 0.
    assert_eq!(members(0, Level::WorkGroup), 0b101);
    assert_eq!(members(1, Level::WorkGroup), 0b010);
    assert_eq!(members(0, Level::Device), 0b101);
    assert_eq!(members(0, Level::System), 0b111);
    assert_eq!(scope_name(&program, 0, 0), "work_group 0");
    assert_eq!(scope_name(&program, 1, 0), "device 1", "the device is the default");
    assert_eq!(scope_name(&program, 2, 0), "system");
}

#[test]
fn trees_of_any_depth_and_named_sets_are_placements_too() {
    let program = parse(
        "OPENCL t\n{}\nP0 (global atomic_int* x) { atomic_store_explicit(x, 1, memory_order_release, S01); }\n\
         P1 (global atomic_int* x) { int r = atomic_load_explicit(x, memory_order_acquire, memory_scope_S01); }\n\
         P2 (global atomic_int* x) { int r = atomic_load(x); }\n\
         scopeTree (device (work_group (sub_group P0) (sub_group P1)) (work_group P2))\n\
         namedScope S01 (P0 P1)\nexists (1:r=1)",
    );
    let level = |thread: u8, level| program.scopes.enclosing(ThreadId(thread), level);
    assert_ne!(level(0, Level::SubGroup), level(1, Level::SubGroup));
    assert_eq!(level(0, Level::WorkGroup), level(1, Level::WorkGroup));
    assert_ne!(level(0, Level::WorkGroup), level(2, Level::WorkGroup));
    assert_eq!(level(2, Level::SubGroup), None);
    assert_eq!(scope_name(&program, 0, 0), "S01");
    assert_eq!(scope_name(&program, 1, 0), "S01");
}

#[test]
fn remote_operations_and_awaits_are_read() {
    let program = parse(
        "OPENCL t\n{}\nP0@wg 0, dev 0 (global atomic_int* x) { int r = atomic_load_explicit_remote(x, memory_order_acquire, memory_scope_device); \
         await(*x != 3, memory_order_acquire, memory_scope_device); atomic_fetch_add_explicit_remote(x, 1, memory_order_acq_rel, memory_scope_device); }\nexists (x=1)",
    );
    let code = &program.thread(ThreadId(0)).code;
    assert!(
        matches!(&code[0], Instr::Load { access, .. } if access.remote && access.order == Order::Acquire)
    );
    assert!(
        matches!(&code[1], Instr::Await { access, cmp: BinaryOp::Ne, value: Expr::Const(3), .. } if !access.remote)
    );
    assert!(matches!(&code[2], Instr::Rmw { access, op: RmwOp::Add, .. } if access.remote));
}

#[test]
fn regions_and_atomic_types_are_kept() {
    let program = parse(
        "OPENCL t\n{ [x] = 1; }\nP0@wg 0, dev 0 (global atomic_int* x, local int* y, int* z) { *y = 1; }\n\
         P1@wg 0, dev 0 (global int* x, local atomic_int* y, int* z) { *z = 1; }\nexists (x=1)",
    );
    let loc = |name: &str| program.loc(program.location(name).expect("it is there")).clone();
    assert_eq!((loc("x").region, loc("x").atomic, loc("x").init), (Region::Global, true, 1));
    assert_eq!((loc("y").region, loc("y").atomic), (Region::Local, true), "atomic if anybody says so");
    assert_eq!((loc("z").region, loc("z").atomic), (Region::Unqualified, false));
}

#[test]
fn structured_code_becomes_jumps_that_join() {
    let program = parse(
        "C t\n{}\nP0(int* x) { int r = *x; if (r == 1) { *x = 2; } else { *x = 3; } while (r) { r = r - 1; } return; *x = 9; }\nexists (x=1)",
    );
    let code = &program.thread(ThreadId(0)).code;
    let shape: Vec<String> = code
        .iter()
        .map(|instr| match instr {
            Instr::Branch { target, join, .. } => format!("branch {target} {join:?}"),
            Instr::Jump { target } => format!("jump {target}"),
            Instr::Load { .. } => "load".to_owned(),
            Instr::Store { .. } => "store".to_owned(),
            _ => "other".to_owned(),
        })
        .collect();
    assert_eq!(
        shape,
        [
            "load",
            "branch 4 Some(5)",
            "store",
            "jump 5",
            "store",
            "branch 8 Some(8)",
            "other",
            "jump 5",
            "jump 10",
            "store"
        ]
    );
}

#[test]
fn the_operands_of_a_sum_are_unsequenced() {
    let program = parse("C t\n{}\nP0(int* x, int* y) { int r = *x + *y; int s = *x; }\nexists (0:r=1)");
    assert_eq!(program.thread(ThreadId(0)).unsequenced, [(0, 1, 2)]);
    let logical = parse("C t\n{}\nP0(int* x, int* y) { int r = *x && *y; }\nexists (0:r=1)");
    assert!(logical.thread(ThreadId(0)).unsequenced.is_empty(), "&& is sequenced");
}

#[test]
fn a_failed_exchange_writes_the_expected_value_back() {
    let program = parse(
        "C t\n{}\nP0(atomic_int* x, int* e) { int s = atomic_compare_exchange_strong(x, e, 5); }\nexists (0:s=1)",
    );
    let code = &program.thread(ThreadId(0)).code;
    assert!(matches!(&code[0], Instr::Load { access, .. } if access.order == Order::Plain));
    assert!(matches!(&code[1], Instr::Cas(cas) if !cas.weak && cas.access.order == Order::SeqCst));
    assert!(matches!(&code[2], Instr::Branch { target: 4, .. }));
    assert!(matches!(&code[3], Instr::Store { access, .. } if access.order == Order::Plain));
}

#[test]
fn ptx_names_proxies_aliases_and_barriers() {
    let program = parse(
        "PTX t\n{ x = 7; y @ generic aliases x; s @ surface aliases x; t @ texture aliases y; }\n\
         P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\nsust.weak s, 1 | ld.volatile r0, x ;\nmembar.gl | bar.cta.arrive 1, r0, 2 ;\n\
         red.relaxed.gpu.add x, 2 | tld.weak r1, t ;\nexists (P1:r0 == 7)",
    );
    let loc = |name: &str| program.loc(program.location(name).expect("it is there")).clone();
    let x = program.location("x").expect("it is there");
    for name in ["y", "s", "t"] {
        assert_eq!((loc(name).physical, loc(name).init), (x, 7), "{name}");
    }
    assert_eq!(loc("s").generic, x);
    assert_eq!(Some(loc("y").generic), program.location("y"));
    assert_eq!(Some(loc("t").generic), program.location("y"));
    let p0 = &program.thread(ThreadId(0)).code;
    assert!(matches!(&p0[0], Instr::Store { access, .. } if access.proxy == Proxy::Surface));
    assert!(matches!(&p0[1], Instr::Fence(f) if f.order == Order::SeqCst));
    assert_eq!(scope_name(&program, 0, 1), "gpu 0");
    assert!(matches!(&p0[2], Instr::Rmw { dst: None, access, .. } if access.order == Order::Relaxed));
    let p1 = &program.thread(ThreadId(1)).code;
    assert!(matches!(&p1[0], Instr::Load { access, .. } if access.order == Order::Relaxed));
    assert_eq!(scope_name(&program, 1, 0), "system");
    assert!(
        matches!(&p1[1], Instr::Barrier(b) if b.arrive && b.instance == 1 && b.quorum == Some(Expr::Const(2)))
    );
    assert!(matches!(&p1[2], Instr::Load { access, .. } if access.proxy == Proxy::Texture));
}

#[test]
fn lisa_annotations_are_orders_scopes_and_sets() {
    let program = parse(
        "LISA t\n{ x=0; 1:r9=x; }\nP0 | P1 ;\nw[release,work_group,mine] x 1 | r[acquire,device] r0 r9 ;\n\
         f[sc,device] | rmw[acq_rel] r1 (add r1 2) x ;\nscopes: (system (device (work_group P0) (work_group P1)))\nexists (1:r0=1)",
    );
    let p0 = &program.thread(ThreadId(0)).code;
    let Instr::Store { access, .. } = &p0[0] else { panic!("{p0:?}") };
    assert_eq!(
        (access.order, access.tags.as_slice()),
        (Order::Release, ["release", "work_group", "mine"].map(str::to_owned).as_slice())
    );
    assert_eq!(scope_name(&program, 0, 0), "work_group 0");
    let p1 = &program.thread(ThreadId(1)).code;
    assert_eq!(scope_name(&program, 1, 0), "device 0");
    assert!(matches!(&p1[1], Instr::Rmw { op: RmwOp::Add, operand: Expr::Const(2), .. }));
}

#[test]
fn comments_descriptions_and_blank_cells_have_no_meaning() {
    let program = parse(
        "PTX  name with blanks  \n\"a { brace in a text\"\n(* { a comment *)\nKey=Value\n{ x=0; (* here *) y=1; // and here\n }\n\
         P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n | st.weak x, 1 ;\n | ;\nexists (y == 1) // done",
    );
    assert_eq!(program.name, "name with blanks");
    assert_eq!(program.thread(ThreadId(0)).code.len(), 0);
    assert_eq!(program.thread(ThreadId(1)).lines, [8]);
}

#[test]
fn only_updates_can_be_marked_commutative_in_both_dialects() {
    let c = |call: &str| {
        format!("OPENCL t\n{{}}\nP0@wg 0, dev 0 (global atomic_int* x) {{ {call}; }}\nexists (x=1)")
    };
    let update = "atomic_fetch_add_explicit_commutative(x, 1, memory_order_relaxed, memory_scope_device)";
    let lisa = "LISA t\n{}\nP0 ;\nrmw[commutative,rlx] r0 (add r0 1) x ;\nexists (x=1)";
    for text in [&c(update), lisa] {
        let program = litmus::parse::parse(text).expect("it is a test");
        let commutative = |instr: &Instr| instr.access().is_some_and(|access| access.commutative);
        assert!(program.threads[0].code.iter().any(commutative), "{text}");
    }
    let swap = "atomic_exchange_explicit_commutative(x, 1, memory_order_relaxed, memory_scope_device)";
    let error = litmus::parse::parse(&c(swap)).expect_err("an exchange does not commute").to_string();
    assert!(error.contains("`atomic_exchange_explicit_commutative`"), "{error}");
}
