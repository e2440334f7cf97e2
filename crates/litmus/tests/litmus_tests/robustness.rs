//! Tests that no text makes a parser, the interpreter of models or the search panic, hang or
//! overflow the stack.

use litmus::cat::Model;
use litmus::check::{Options, check};

/// A deterministic pseudo-random generator.
struct Random(u64);

impl Random {
    fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides.max(1)
    }
}

const TESTS: [&str; 6] = [
    "OPENCL MP\n{ [x] = 0; [y] = 0; atomic_int z[2] = {0, 1}; 0:r9 = x; }\n\
     P0@wg 0, dev 0 (global int* x, local atomic_int* y) { *x = 1; atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, memory_order_release, memory_scope_work_group); atomic_store_explicit(y, 1, memory_order_relaxed, memory_scope_work_group); barrier(CLK_GLOBAL_MEM_FENCE); }\n\
     P1@wg 0, dev 0 (global int* x, local atomic_int* y, global atomic_int* z) { int r = -1; while (atomic_load(y) == 0 && r != 3) { r = r + 1; } if (r > 0 || *x == 2) { r = *x; } else { r = atomic_fetch_add(z + 1, r); } barrier(CLK_GLOBAL_MEM_FENCE); }\n\
     filter (x = 1) exists (1:r=0 \\/ ~(x=1 /\\ y != 2))",
    "PTX atom\n\"a test\"\n{ x=0; y @ surface aliases x; P0:r0=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n\
     LC00: | st.weak x, 1 ;\n atom.acq_rel.gpu.cas r0, x, 0, 1 | fence.sc.gpu ;\n bne r0, 1, LC00 | fence.proxy.surface ;\n\
     bar.cta.sync 1, 2 | suld.weak r1, y ;\nforall (x == 1 \\/ P1:r1 != 0)",
    "C cas\n{ int *p = &x; }\nP0(atomic_int* x, int* y) { int e = 0; int s = atomic_compare_exchange_strong_explicit(x, &e, 1, memory_order_acq_rel, memory_order_acquire); for (int i = 0; i < 2; i++) { *y = i; } do { e = e - 1; } while (e > 0); }\n\
     P1(atomic_int* x, int* y) { L: if (atomic_load_explicit(x, memory_order_acquire)) { int r = *y; } else { goto L; } }\nlocations [x; 0:e;] ~exists (0:s=0)",
    "LISA scoped\n{ x=0; y=0; 0:r9=y; }\nP0 | P1 ;\nw[release,device] x 1 | r[acquire,device] r0 x ;\nf[sc] | b[] r0 L0 ;\n\
     mov r1 (add r9 0) | w[] y (xor r0 1) ;\nrmw[relaxed] r2 (add r2 1) x | L0: ;\n\
     scopes: (system (device (work_group P0) (work_group P1)))\nexists (1:r0=1)",
    "OPENCL tree\n{}\nP0 (global atomic_int* x) { atomic_store_explicit_remote(x, 1, memory_order_release, memory_scope_device); }\n\
     P1 (global atomic_int* x) { int r = await(x == 1, memory_order_acquire, S); }\n\
     scopeTree (device (work_group P0) (work_group P1))\nnamedScope S (P0 P1)\nexists (1:r=1)",
    "VULKAN mp\n{ x=0; z aliases x; P1:r1=0; }\n{ ssw 0 1; }\nP0@sg 0, wg 0, qf 0 | P1@sg 0, wg 1, qf 0 ;\n\
     st.av.dv.sc0 x, 1 | L: ;\n membar.rel.dv.semsc0.semav | rmw.atom.acq_rel.wg.sc1.semsc0.semvis.add r0, z, 1 ;\n\
     cbar.acq_rel.dv.semsc0 1, 1, 2 | bne r0, 1, L ;\n avdevice | ld.nonpriv.sc0 r1, x ;\nfilter (P1:r0 == 1)",
];

const MODEL: &str = "\"own\"\ninclude \"stdlib.cat\"\nenum t = 'a || 'b\nlet rec hb = po | (hb; rf) and other = hb | co^-1\n\
     let f(x, y) = let z = x; y in (z+ | y*) \\ ~id & (R * W)\nlet rec each g s = match s with || {} -> 0 || e ++ es -> g e | each g es end\n\
     procedure p(x) = empty x as none end\nwith o from linearisations(W, co)\nflag ~empty [W]; f(po, rf); [R]? as found\n\
     forall c in classes(loc) do flag ~empty c as class end\nacyclic po-loc | rf | co | fr as coherence\n\
     irreflexive hb; if \"v\" then po else rf^-1 as odd\nempty rmw & (fre; coe) as atomicity";

/// Applies random changes to a text, so that parsers get texts that are almost correct.
fn mutate(random: &mut Random, text: &str) -> String {
    const PIECES: [&str; 34] = [
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ";",
        ",",
        "|",
        "&",
        "*",
        "~",
        "=",
        "==",
        "->",
        "0",
        "1",
        "-1",
        "99999999999999999999",
        "0x7fffffffffffffff",
        "P0",
        "P9",
        "x",
        "r0",
        "exists",
        "let rec",
        "(*",
        "\"",
        "'",
        "while (1) {",
        "acyclic",
        "\u{e9}",
        "\n",
        "goto L;",
    ];
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
        } else {
            words.push(core::mem::take(&mut word));
            words.push(c.to_string());
        }
    }
    words.push(word);
    words.retain(|w| !w.is_empty());
    for _ in 0..1 + random.below(4) {
        let at = random.below(words.len());
        match random.below(6) {
            0 => words[at] = PIECES[random.below(PIECES.len())].to_owned(),
            1 => words.insert(at, PIECES[random.below(PIECES.len())].to_owned()),
            2 => {
                words.remove(at);
            }
            3 => {
                let other = random.below(words.len());
                words.swap(at, other);
            }
            4 => {
                let copy = words[random.below(words.len())].clone();
                words.insert(at, copy);
            }
            _ => words.truncate(at.max(1)),
        }
        if words.is_empty() {
            words.push(String::new());
        }
    }
    words.concat()
}

/// Checks a program with a bound on the work, so that the test is fast.
fn check_shortly(program: &litmus::program::Program, model: &Model) {
    let mut looks = 0;
    let stop = move || {
        looks += 1;
        looks > 60
    };
    let mut options = Options { unroll: 1, stop: Box::new(stop) };
    if let Ok(report) = check(program, model, &mut options) {
        assert!(report.complete || report.bound.is_some(), "what is not covered is said");
        let _ = (report.herd_block(), report.json(program, "file"));
    }
}

#[test]
fn the_seeds_are_tests_and_models() {
    let mut files = |_: &str| Err("none".to_owned());
    Model::parse("own", "own.cat", MODEL, &mut files).expect("a model");
    for test in TESTS {
        litmus::parse::parse(test).unwrap_or_else(|e| panic!("{e}\n{test}"));
    }
}

#[test]
fn mutated_tests_are_read_or_refused() {
    let models: Vec<Model> = ["sc", "rc11", "opencl", "ptx-7.5", "hrf-direct"]
        .iter()
        .map(|name| litmus::cat::shipped(name).expect("it is shipped").expect("it is a model"))
        .collect();
    let mut random = Random(7);
    let (mut read, mut refused) = (0, 0);
    for round in 0..3000 {
        let text = mutate(&mut random, TESTS[round % TESTS.len()]);
        match litmus::parse::parse(&text) {
            Ok(program) => {
                read += 1;
                if round % 7 == 0 {
                    check_shortly(&program, &models[random.below(models.len())]);
                }
            }
            Err(error) => {
                refused += 1;
                assert!(error.place.line >= 1 && error.place.column >= 1, "{error}\n{text}");
            }
        }
    }
    assert!(read > 100 && refused > 100, "{read} read, {refused} refused");
}

#[test]
fn mutated_models_are_applied_or_refused() {
    let program = litmus::parse::parse(TESTS[2]).expect("a test");
    let mut random = Random(11);
    let (mut read, mut refused) = (0, 0);
    for _ in 0..2000 {
        let text = mutate(&mut random, MODEL);
        let mut files = |_: &str| Err("none".to_owned());
        match Model::parse("own", "own.cat", &text, &mut files) {
            Ok(model) => {
                read += 1;
                if random.below(6) == 0 {
                    check_shortly(&program, &model);
                }
            }
            Err(error) => {
                refused += 1;
                assert!(error.place.line >= 1, "{error}\n{text}");
            }
        }
    }
    assert!(read > 100 && refused > 100, "{read} read, {refused} refused");
}

/// A model that uses many constructs of herd's language, for a test that changes the model at
/// random.
const HERDS: &str = "C \"a title\"
# comment
include \"cross.cat\" /* and another */
enum Kinds = 'a || 'b instructions R[{'a, 'b}]
let WW(r) = r & (W * W) and back, forth = (rf) ^ -1, rf
with ws from generate_cos(WW(po-loc) | co0)
let rec join s = match s with || {} -> 0 || before | e ++ after -> ({e} * _) | join before | join after end
let rec left = W \\ domain(pairs) and pairs = pairs | ([left]; po; [R]) \\ (po; po) when irreflexive pairs
forall e in R & A do let mine = e ++ {} irreflexive [mine]; join mine end
forall k in Kinds do match k with || 'a -> empty tag2events k || _ -> empty 0 end end
procedure rec check (r, s) = acyclic r | s as own end call check (po, back; ws | ws | forth) as mine
if \"weak\" && ~(\"x\" || \"y\") include \"nowhere.cat\" else undefined_unless empty join W as dr end
with S from linearisations(W, ws) show back, forth debug S acyclic S | fromto(M)";

#[test]
fn mutated_models_in_herds_manner_are_applied_or_refused() {
    let program = litmus::parse::parse(TESTS[2]).expect("a test");
    let mut random = Random(23);
    let (mut read, mut refused) = (0, 0);
    for round in 0..1500 {
        let text = if round == 0 { HERDS.to_owned() } else { mutate(&mut random, HERDS) };
        let mut files = |_: &str| Err("none".to_owned());
        match Model::parse("own", "own.cat", &text, &mut files) {
            Ok(model) => {
                read += 1;
                if random.below(4) == 0 {
                    check_shortly(&program, &model);
                }
            }
            Err(error) => {
                assert!(round > 0 && error.place.line >= 1, "{error}\n{text}");
                refused += 1;
            }
        }
    }
    assert!(read > 100 && refused > 100, "{read} read, {refused} refused");
}

#[test]
fn deep_and_long_tests_are_refused_or_read() {
    let deep_expression = format!(
        "C deep\n{{}}\nP0(int* x) {{ int r = {}1{}; }}\nexists (0:r=1)",
        "(".repeat(9000),
        ")".repeat(9000)
    );
    assert!(litmus::parse::parse(&deep_expression).is_err());
    let deep_block =
        format!("C deep\n{{}}\nP0(int* x) {{ {}{} }}\nexists (x=1)", "{".repeat(9000), "}".repeat(9000));
    assert!(litmus::parse::parse(&deep_block).is_err());
    let deep_condition =
        format!("C deep\n{{}}\nP0(int* x) {{}}\nexists {}x=1{}", "(".repeat(9000), ")".repeat(9000));
    assert!(litmus::parse::parse(&deep_condition).is_err());
    let deep_tree = format!(
        "OPENCL deep\n{{}}\nP0(global int* x) {{}}\nscopeTree {}\nexists (x=1)",
        "(device ".repeat(9000)
    );
    assert!(litmus::parse::parse(&deep_tree).is_err());
    let sum = format!("C sum\n{{}}\nP0(int* x) {{ int r = {}1; }}\nexists (0:r=1)", "1 + ".repeat(9000));
    assert!(litmus::parse::parse(&sum).is_err(), "an expression of that depth is refused");
    // A long thread is parsed, and its size reported.
    let long = format!("C long\n{{}}\nP0(int* x) {{ {} }}\nexists (x=1)", "*x = 1; ".repeat(3000));
    let program = litmus::parse::parse(&long).expect("a test");
    let model = litmus::cat::shipped("sc").expect("it is shipped").expect("it is a model");
    let report = check(&program, &model, &mut Options::default()).expect("it fits");
    assert!(!report.complete && report.bound.is_some_and(|b| b.contains("128 events")));
}

#[test]
fn endless_and_wide_programs_end() {
    let model = litmus::cat::shipped("sc").expect("it is shipped").expect("it is a model");
    let endless = "C endless\n{}\nP0(atomic_int* x) { while (1) { atomic_store(x, 1); } }\nexists (x=1)";
    let program = litmus::parse::parse(endless).expect("a test");
    let report = check(&program, &model, &mut Options::default()).expect("it fits");
    assert!(!report.complete && !report.decided);
    let spin = "C spin\n{}\nP0(atomic_int* x) { int i = 0; while (1) { i = i + 1; } }\nexists (x=1)";
    let program = litmus::parse::parse(spin).expect("a test");
    let report = check(&program, &model, &mut Options::default()).expect("it fits");
    assert!(!report.complete);
    // Twenty decisions give a million paths.
    let wide = format!(
        "C wide\n{{}}\nP0(atomic_int* x, int* y) {{ int r = atomic_load(x); {} }}\nP1(atomic_int* x) {{ atomic_store(x, 1); }}\nexists (y=1)",
        "if (atomic_load(x)) { r = r + 1; } ".repeat(20)
    );
    let program = litmus::parse::parse(&wide).expect("a test");
    let mut looks = 0;
    let stop = move || {
        looks += 1;
        looks > 20
    };
    let mut options = Options { unroll: 1, stop: Box::new(stop) };
    let report = check(&program, &model, &mut options).expect("it fits");
    assert!(!report.complete);
}

#[test]
fn the_time_limit_holds_where_no_path_is_possible() {
    // No thread writes 7, so almost no combination of paths is possible.
    let thread = |number: usize| {
        let code = "if (atomic_load(x) == 7) { atomic_store(y, 1); } ".repeat(10);
        format!("P{number}(atomic_int* x, atomic_int* y) {{ {code} }}\n")
    };
    // A write to an unknown location keeps the values of x unknown while a thread is
    // unfolded.
    let open = "P3(atomic_int* x, int* a) { int r = atomic_load(x); a[r] = 1; }\n";
    let text = format!(
        "C none\n{{ int a[2] = {{0, 0}}; }}\n{}{}{}{open}exists (y=1)",
        thread(0),
        thread(1),
        thread(2)
    );
    let program = litmus::parse::parse(&text).expect("a test");
    let model = litmus::cat::shipped("sc").expect("it is shipped").expect("it is a model");
    let mut looks = 0;
    let stop = move || {
        looks += 1;
        looks > 20
    };
    let mut options = Options { unroll: 1, stop: Box::new(stop) };
    let report = check(&program, &model, &mut options).expect("it fits");
    assert!(!report.complete, "{}", report.herd_block());
    assert!(report.bound.as_ref().is_some_and(|b| b.contains("stopped")), "{}", report.herd_block());
}
