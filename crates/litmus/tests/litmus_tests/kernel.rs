//! Tests the dialect of the Linux kernel: macros, annotations, locks and read-copy-update. The
//! models are small models in the style of the kernel's memory model.

use std::collections::BTreeSet;

use litmus::cat::{Model, Prelude};
use litmus::check::{Options, Report, check};
use litmus::parse::{Macros, TextError, parse, parse_with};

/// The `.bell` file of a small model in the style of the Linux kernel's memory model. It declares
/// the annotations that tests may use.
const BELL: &str = r#""small"
enum Accesses = 'once || 'release || 'acquire || 'noreturn
instructions R[{'once, 'acquire, 'noreturn}]
instructions W[{'once, 'release}]
instructions RMW[{'once, 'acquire, 'release}]
enum Barriers = 'wmb || 'rmb || 'mb || 'rcu-lock || 'rcu-unlock || 'sync-rcu
instructions F[Barriers]
enum SRCU = 'srcu-lock || 'srcu-unlock || 'sync-srcu
instructions SRCU[SRCU]
let rcu-rscs = ([Rcu-lock] ; po ; [Rcu-unlock]) \ (po ; [Rcu-unlock] ; po)
let srcu-rscs = ([Srcu-lock] ; data ; [Srcu-unlock]) & loc
let Marked = (~M) | IW | Once | Release | Acquire | domain(rmw) | range(rmw) | LKR | LKW | UL
let Plain = M \ Marked
flag ~empty Rcu-lock \ domain(rcu-rscs) as unbalanced-rcu-locking
flag ~empty Srcu-lock \ domain(srcu-rscs) as unbalanced-srcu-locking
"#;

/// A small model in the style of the Linux kernel's memory model. It has checks for coherence,
/// atomicity, propagation over full fences, and grace periods of read-copy-update.
const CAT: &str = r#""small"
include "lock.cat"
acyclic po-loc | rf | co | fr as coherence
empty rmw & (fre ; coe) as atomic
let gp = po ; [Sync-rcu | Sync-srcu] ; po?
let mb = ([M] ; fencerel(Mb) ; [M]) | gp
let ppo = mb | ([Acquire] ; po) | (po ; [Release]) | ([R] ; fencerel(Rmb) ; [R]) | ([W] ; fencerel(Wmb) ; [W])
let hb = ppo | rfe | (((fre | coe) ; (mb | rfe | (po ; [Release])))) 
acyclic hb as happens-before
let link = po? ; (rfe | fre | coe) ; po
let rscs-in = rcu-rscs^-1
irreflexive (([Sync-rcu] ; link ; rscs-in) | (rscs-in ; link ; [Sync-rcu])) ; link as rcu
let s-in = srcu-rscs^-1
irreflexive ((([Sync-srcu] ; link ; s-in) & loc) | ((s-in ; link ; [Sync-srcu]) & loc)) ; link as srcu
flag ~empty (Plain * Plain) & loc & ext & ((W * M) | (M * W)) as data-race
"#;

fn model() -> Model {
    let bell = Prelude { file: "small.bell", text: BELL };
    let mut include = |file: &str| Err(format!("no {file}"));
    Model::parse_after(&[bell], "small", "small.cat", CAT, &mut include).unwrap_or_else(|e| panic!("{e}"))
}

fn run(text: &str) -> Result<Report, TextError> {
    let program = parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    check(&program, &model(), &mut Options::default())
}

#[track_caller]
fn states(text: &str) -> BTreeSet<String> {
    let report = run(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert!(report.complete, "{text}");
    report.states.iter().map(ToString::to_string).collect()
}

fn test(threads: &[&str], condition: &str) -> String {
    let mut text = String::from("C t\n{}\n");
    for (number, body) in threads.iter().enumerate() {
        text += &format!("P{number}(int *x, int *y, int *l) {{ {body} }}\n");
    }
    text + condition
}

#[test]
fn a_full_exchange_orders_like_two_fences() {
    let sb = |kind: &str| {
        let body = |own: &str, other: &str| {
            format!("WRITE_ONCE(*{own}, 1); int r1 = xchg{kind}(l, 1); int r0 = READ_ONCE(*{other});")
        };
        let (first, second) =
            (body("x", "y"), body("y", "x").replace("(l,", "(y,").replace("*y, 1", "*y, 2"));
        states(&test(&[&first, &second], "exists (0:r0=0 /\\ 1:r0=0)"))
    };
    assert!(!sb("").iter().any(|s| s.starts_with("0:r0=0; 1:r0=0")), "{:?}", sb(""));
    assert!(sb("_relaxed").iter().any(|s| s.starts_with("0:r0=0; 1:r0=0")), "{:?}", sb("_relaxed"));
}

#[test]
fn the_read_acquires_and_the_write_releases() {
    // Message passing with a read-modify-write of each kind as the release.
    let passes = |write: &str, read: &str| {
        let first = format!("WRITE_ONCE(*x, 1); {write}");
        let second = format!("{read} int r1 = READ_ONCE(*x);");
        let all = states(&test(&[&first, &second], "exists (1:r0=1 /\\ 1:r1=0)"));
        !all.iter().any(|state| state.starts_with("1:r0=1; 1:r1=0"))
    };
    let acquire = "int r0 = smp_load_acquire(y);";
    assert!(passes("int r2 = xchg_release(y, 1);", acquire));
    assert!(!passes("int r2 = xchg_acquire(y, 1);", acquire));
    assert!(!passes("atomic_inc(y);", acquire));
    let release = "smp_store_release(y, 1);";
    assert!(passes(release, "int r0 = xchg_acquire(y, 5);"));
    assert!(!passes(release, "int r0 = xchg_release(y, 5);"));
    // A failed compare-and-swap orders nothing, regardless of its kind.
    assert!(passes(release, "int r0 = cmpxchg(y, 1, 5);"));
    assert!(!passes(release, "int r0 = cmpxchg(y, 7, 5);"));
}

#[test]
fn sections_of_a_lock_do_not_overlap() {
    let body = "spin_lock(l); int r0 = READ_ONCE(*x); WRITE_ONCE(*x, r0 + 1); spin_unlock(l);";
    assert_eq!(states(&test(&[body, body], "exists (x=1)")), BTreeSet::from(["[x]=2;".to_owned()]));
    let without = "int r0 = READ_ONCE(*x); WRITE_ONCE(*x, r0 + 1);";
    assert_eq!(states(&test(&[without, without], "exists (x=1)")).len(), 2);
    let tries = "int r1 = spin_trylock(l); int r2 = spin_is_locked(l);";
    let all = states(&test(&[tries, "spin_lock(l);"], "locations [0:r1; 0:r2]"));
    // The other thread takes the lock and never releases it; otherwise this thread
    // would wait for ever.
    assert_eq!(all, BTreeSet::from(["0:r1=0; 0:r2=1;".to_owned()]));
    let gives = states(&test(&[tries, "spin_lock(l); spin_unlock(l);"], "locations [0:r1; 0:r2]"));
    // A thread that takes the lock reads it as taken.
    assert_eq!(gives, ["0:r1=0; 0:r2=0;", "0:r1=0; 0:r2=1;", "0:r1=1; 0:r2=1;"].map(str::to_owned).into());
}

#[test]
fn a_grace_period_does_not_lie_within_a_section() {
    let reader = "rcu_read_lock(); int r0 = READ_ONCE(*x); int r1 = READ_ONCE(*y); rcu_read_unlock();";
    let writer = "WRITE_ONCE(*y, 1); synchronize_rcu(); WRITE_ONCE(*x, 1);";
    let forbidden = |all: &BTreeSet<String>| !all.iter().any(|state| state == "0:r0=1; 0:r1=0;");
    assert!(forbidden(&states(&test(&[reader, writer], "exists (0:r0=1 /\\ 0:r1=0)"))));
    let unlocked = reader.replace("rcu_read_lock();", "").replace("rcu_read_unlock();", "");
    assert!(!forbidden(&states(&test(&[&unlocked, writer], "exists (0:r0=1 /\\ 0:r1=0)"))));
}

#[test]
fn a_sleepable_section_is_matched_by_its_key_and_its_word() {
    let reader =
        "int k = srcu_read_lock(l); int r0 = READ_ONCE(*x); int r1 = READ_ONCE(*y); srcu_read_unlock(l, k);";
    let writer = "WRITE_ONCE(*y, 1); synchronize_srcu(l); WRITE_ONCE(*x, 1);";
    let forbidden = |reader: &str, writer: &str| {
        let report = run(&test(&[reader, writer], "exists (0:r0=1 /\\ 0:r1=0)")).expect("it fits");
        (!report.states.iter().any(|s| s.to_string() == "0:r0=1; 0:r1=0;"), report.flags.len())
    };
    assert_eq!(forbidden(reader, writer), (true, 0));
    let typed =
        test(&[reader, writer], "exists (0:r0=1 /\\ 0:r1=0)").replace("int *l", "struct srcu_struct *l");
    let report = run(&typed.replace("{}", "{ struct srcu_struct l; }")).expect("it fits");
    assert!(report.complete && !report.verdict, "{report:?}");
    // A grace period of another word does not wait for the critical section.
    assert_eq!(forbidden(reader, &writer.replace("srcu(l)", "srcu(x)")), (false, 0));
    // An unlock with another key does not end this critical section.
    assert_eq!(forbidden(&reader.replace("(l, k)", "(l, 0)"), writer), (false, 1));
}

#[test]
fn an_annotation_that_is_not_declared_is_an_error_with_its_line() {
    let error = |text: &str| run(text).expect_err(text).to_string();
    let text = test(&["int r0 = 0;\n smp_mb__before_atomic();"], "exists (x=1)");
    let message = error(&text);
    assert!(message.starts_with("line 4, column 1: "), "{message}");
    assert!(message.contains("`before-atomic`") && message.contains("`small.bell`"), "{message}");
    assert!(message.contains("`F`") && message.contains("`rcu-unlock`"), "{message}");
    let lisa = "LISA t\n{ x=0; }\n P0 ;\n w[once] x 1 ;\n r[release] r0 x ;\nexists (0:r0=1)";
    assert!(error(lisa).contains("annotation `release` is not declared for `R`"), "{}", error(lisa));
    let dashed =
        "LISA t\n{ x=0; }\n P0 ;\n f[rcu-lock] ;\n f[rcu-unlock] ;\n r[once] r0 x ;\nexists (0:r0=1)";
    run(dashed).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_file_of_macros_replaces_the_kernels_functions() {
    let text = "// mine\nPUT(X, V) { __store{release}(*X, V); }\nGET(X) __load{acquire}(*X)\n\
                TWICE(X) GET(X) + GET(X)\nBOTH(X) { PUT(X, 1); PUT(X, TWICE(X) * 2); }\n";
    let macros = Macros::parse(text).expect("they are macros");
    let program = parse_with(&test(&["BOTH(x); int r0 = GET(x) + 1;"], "exists (0:r0=5)"), &macros);
    let report = check(&program.expect("it is a test"), &model(), &mut Options::default()).expect("it fits");
    assert_eq!(report.states.iter().map(ToString::to_string).collect::<Vec<_>>(), ["0:r0=5;"]);
    let error = |body: &str| parse_with(&test(&[body], "exists (x=1)"), &macros).expect_err(body).to_string();
    assert!(error("smp_mb();").contains("`smp_mb`"));
    assert!(error("PUT(x);").contains("macro `PUT` takes 2 arguments, found 1"), "{}", error("PUT(x);"));
}

#[test]
fn recursive_macros_are_refused() {
    for text in ["A() A()", "A() { B(); }\nB() { A(); }", "A(X) A(X + X)"] {
        let macros = Macros::parse(text).expect("they are macros");
        let call = if text.starts_with("A(X") { "A(1);" } else { "A();" };
        let error = parse_with(&test(&[call], "exists (x=1)"), &macros).expect_err(text).to_string();
        assert!(error.contains("levels of nesting") || error.contains("tokens"), "{error}");
    }
}

#[test]
fn states_are_sorted_by_numbers_and_then_by_names() {
    let text = "C t\n{ int *p = x; }\nP0(int **p, int *x, int *y) { int r0 = READ_ONCE(*p); }\n\
                P1(int **p, int *x, int *y) { WRITE_ONCE(*p, y); }\nP2(int **p, int *x, int *y) { WRITE_ONCE(*p, 0); }\n\
                P3(int **p, int *a) { WRITE_ONCE(*p, a); }\nexists (0:r0=0)";
    let report = run(text).unwrap_or_else(|error| panic!("{error}"));
    let states: Vec<String> = report.states.iter().map(ToString::to_string).collect();
    assert_eq!(states, ["0:r0=0;", "0:r0=a;", "0:r0=x;", "0:r0=y;"]);
}

#[test]
fn a_thread_that_waits_for_a_lock_mixes_no_accesses() {
    let body = "spin_lock(l); WRITE_ONCE(*x, 1); spin_unlock(l);";
    let report = run(&test(&[body, body], "exists (x=1)")).expect("it fits");
    assert!(report.flags.is_empty(), "{:?}", report.flags);
    let mixed = run(&test(&[body, "int r0 = READ_ONCE(*l);"], "exists (x=1)")).expect("it fits");
    assert_eq!(mixed.flags.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["mixed-lock-accesses"]);
}

/// Tests which annotations the declarations `instructions` of a model allow, on a small test.
#[test]
fn declarations_of_one_kind_add_up() {
    let judged = |bell: &str, body: &str| {
        let bell = Prelude { file: "own.bell", text: bell };
        let mut include = |file: &str| Err(format!("no {file}"));
        let text = "acyclic po | rf | co | fr";
        let model = Model::parse_after(&[bell], "own", "own.cat", text, &mut include).expect("a model");
        let program = parse(&test(&[body], "exists (x=1)")).unwrap_or_else(|e| panic!("{e}"));
        check(&program, &model, &mut Options::default()).map(|_| ()).map_err(|error| error.to_string())
    };
    let load = "int r0 = smp_load_acquire(x);";
    for (bell, allowed) in [
        ("instructions R[{'once}]", false),
        ("instructions R[{'once}] instructions R[{'acquire}]", true),
        ("if \"never\" instructions R[{'acquire}] end instructions R[{'once}]", true),
        ("instructions W[{'once}]", true),
        ("enum A = 'once instructions R[A]", false),
        ("enum A = 'once || 'acquire instructions R[A]", true),
        ("let A = {'once} instructions R[A]", true),
        ("instructions R[{'once} | {'acquire}]", true),
    ] {
        assert_eq!(judged(bell, load).is_ok(), allowed, "{bell}");
    }
    // A full exchange is a plain exchange between two fences.
    let exchange = "int r0 = xchg(x, 1);";
    for (bell, allowed) in [
        ("instructions RMW[{'once}] instructions F[{'mb}]", true),
        ("instructions RMW[{'once}] instructions F[{'rmb}]", false),
        ("instructions RMW[{'acquire}] instructions F[{'mb}]", false),
        ("instructions RMW[{'mb}]", true),
    ] {
        assert_eq!(judged(bell, exchange).is_ok(), allowed, "{bell}");
    }
    let section = "int r0 = srcu_read_lock(l); srcu_read_unlock(l, r0);";
    assert!(judged("instructions F[{'mb}]", section).is_ok());
    let refused = judged("instructions SRCU[{'srcu-lock}]", section).expect_err("it is not declared");
    assert!(refused.contains("`srcu-unlock`"), "{refused}");
    assert!(
        judged("instructions R[{'once}] instructions W[{'once}]", "spin_lock(l); spin_unlock(l);").is_ok()
    );
}

/// The write of a read-modify-write that is an acquire has the annotation `once` instead of
/// `acquire`. The read of a read-modify-write that is a release has the annotation `once` instead
/// of `release`.
#[test]
fn only_one_event_of_an_update_has_the_annotation() {
    let halves = |call: &str, wanted: &str| {
        let tags = "enum Tags = 'once || 'acquire || 'release || 'mb";
        let text = format!("{tags} empty {wanted} empty rmw \\ po");
        let model = Model::parse("own", "own.cat", &text, &mut |_| Err("none".into())).expect("a model");
        let program = parse(&test(&[call], "exists (x=1)")).unwrap_or_else(|e| panic!("{e}"));
        check(&program, &model, &mut Options::default()).expect("it fits").states.is_empty()
    };
    let acquire = "int r0 = xchg_acquire(x, 1);";
    assert_eq!(
        ["Acquire & R", "Once & W", "Acquire & W"].map(|set| halves(acquire, set)),
        [true, true, false]
    );
    let release = "int r0 = xchg_release(x, 1);";
    assert!(halves(release, "Release & W") && halves(release, "Once & R") && !halves(release, "Release & R"));
    let full = "int r0 = xchg(x, 1);";
    assert!(halves(full, "[Mb & F]; po; [R]") && halves(full, "[W \\ IW]; po; [Mb & F]"));
}

#[test]
fn a_failed_update_only_reads() {
    let passes = |read: &str| {
        let second = format!("{read} int r1 = READ_ONCE(*x);");
        let all = states(&test(
            &["WRITE_ONCE(*x, 1); smp_store_release(y, 1);", &second],
            "exists (1:r0=1 /\\ 1:r1=0)",
        ));
        !all.iter().any(|state| state.starts_with("1:r0=1; 1:r1=0"))
    };
    assert!(passes("int r0 = cmpxchg_acquire(y, 1, 5);"));
    assert!(!passes("int r0 = cmpxchg_acquire(y, 7, 5);"));
}

/// If a model includes `lock.cat`, Fencepost uses its own file, and does not read a file with this
/// name beside the model.
#[test]
fn a_file_of_locks_beside_the_model_is_not_read() {
    let mut include = |_: &str| Ok("this is no model (".to_owned());
    Model::parse("own", "own.cat", "include \"lock.cat\" acyclic po | rf", &mut include).expect("a model");
}

#[test]
fn an_addition_may_be_forbidden_by_a_value() {
    let add = "int r0 = atomic_add_unless(x, 2, 4);";
    let all = states(&test(&[add, add], "locations [0:r0; 1:r0; x]"));
    // Both threads add, one after the other. No addition is lost.
    assert_eq!(all, BTreeSet::from(["0:r0=1; 1:r0=1; [x]=4;".to_owned()]));
    let all =
        states(&test(&["WRITE_ONCE(*x, 4); int r0 = atomic_add_unless(x, 2, 4);"], "locations [0:r0; x]"));
    assert_eq!(all, BTreeSet::from(["0:r0=0; [x]=4;".to_owned()]));
    let old = states(&test(&["int r0 = __atomic_add_unless(x, 2, 0 - 1);"], "locations [0:r0; x]"));
    assert_eq!(old, BTreeSet::from(["0:r0=0; [x]=2;".to_owned()]));
    // An addition that writes is fully ordered. An addition that does not write orders nothing.
    let buffered = |unless: u32| {
        let body = |own: &str, other: &str| {
            format!(
                "WRITE_ONCE(*{own}, 1); int r1 = atomic_add_unless(l, 1, {unless}); int r0 = READ_ONCE(*{other});"
            )
        };
        let second = body("y", "x").replace("(l,", "(z,").replace("r1 =", "r2 =");
        let text = test(&[&body("x", "y"), &second], "exists (0:r0=0 /\\ 1:r0=0)")
            .replace("int *l", "int *l, int *z");
        run(&text).unwrap_or_else(|e| panic!("{e}\n{text}")).verdict
    };
    assert!(!buffered(7) && buffered(0));
    let text = test(&["int r0 = READ_ONCE(*x);\n int r1 = atomic_add_unless(x, 1, r0);"], "exists (x=1)");
    let error = parse(&text).expect_err("it is no number").to_string();
    assert!(error.starts_with("line 4, column") && error.contains("expected a constant"), "{error}");
}

#[test]
fn fetching_updates_have_an_order_in_their_names() {
    let passes = |write: &str| {
        let first = format!("WRITE_ONCE(*x, 1); {write}");
        let second = "int r0 = smp_load_acquire(y); int r1 = READ_ONCE(*x);";
        let all = states(&test(&[&first, second], "exists (1:r0=1 /\\ 1:r1=0)"));
        !all.iter().any(|state| state.starts_with("1:r0=1; 1:r1=0"))
    };
    assert!(passes("int r2 = atomic_fetch_add_release(1, y);") && passes("int r2 = atomic_fetch_inc(y);"));
    assert!(!passes("int r2 = atomic_fetch_inc_relaxed(y);"));
    let down = states(&test(&["int r0 = atomic_fetch_dec_acquire(x);"], "locations [0:r0; x]"));
    assert_eq!(down, BTreeSet::from(["0:r0=0; [x]=-1;".to_owned()]));
}
