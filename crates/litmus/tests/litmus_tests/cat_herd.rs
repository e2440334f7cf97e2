//! Tests models in herd's style: every construct of the language in small models. Compares herd's
//! own models with the models of Fencepost.
#![allow(clippy::print_stderr, reason = "a skipped test says so")]

use std::path::{Path, PathBuf};

use litmus::cat::{Model, Prelude, shipped_file};
use litmus::check::{Options, Report, check};
use litmus::parse::{TextError, parse};

/// A test of store buffering: each of two threads writes one word and reads the word of the other
/// thread. Sequential consistency forbids that both reads return zero, and allows the three other
/// outcomes.
const SB: &str = "C SB
{}
P0(atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_release);
  int r0 = atomic_load_explicit(y, memory_order_acquire);
}
P1(atomic_int* x, atomic_int* y) {
  atomic_store_explicit(y, 1, memory_order_release);
  int r0 = atomic_load_explicit(x, memory_order_acquire);
}
exists (0:r0=0 /\\ 1:r0=0)
";

/// A test in which two threads add one to the same word.
const ADDS: &str = "C adds
{}
P0(atomic_int* x) { int r0 = atomic_fetch_add_explicit(x, 1, memory_order_relaxed); }
P1(atomic_int* x) { int r0 = atomic_fetch_add_explicit(x, 1, memory_order_relaxed); }
exists ([x]=1)
";

/// A test with three non-atomic writes and one read.
const PLAIN: &str = "C plain
{}
P0(int* x) { *x = 1; *x = 2; *x = 3; }
exists ([x]=3)
";

const SC: &str = "acyclic po | rf | co | fr as sc";

fn model(text: &str) -> Result<Model, TextError> {
    Model::parse("own", "own.cat", text, &mut shipped_file)
}

fn run(test: &str, model: &Model) -> Result<Report, TextError> {
    check(&parse(test).expect("a test"), model, &mut Options::default())
}

/// The number of executions of `test` with the property of its condition, and the number of
/// executions without this property, under the model `text`.
#[track_caller]
fn counts(test: &str, text: &str) -> (u64, u64) {
    let model = model(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let report = run(test, &model).unwrap_or_else(|e| panic!("{e}\n{text}"));
    (report.positive, report.negative)
}

#[test]
fn titles_are_words_texts_or_both() {
    for title in ["", "SC\n", "X86 SC\n", "\"a title\"\n", "C \"a title\"\n", "SC withco\n"] {
        assert_eq!(counts(SB, &format!("{title}{SC}")), (0, 3), "{title}");
    }
    let titled = |title: &str| model(&format!("{title}\n{SC}")).expect("a model").title;
    assert_eq!(titled("C \"a title\"").as_deref(), Some("a title"));
    assert_eq!(titled("X86 TSO").as_deref(), Some("TSO"));
}

#[test]
fn comments_are_of_five_kinds() {
    for comment in [
        "# a (* b",
        "// a (* b",
        "/* a \n (* b */",
        "(* a (* b *) c *)",
        "(* é \u{fc} *)",
        "(* r = (*x) + 1\n*)",
    ] {
        assert_eq!(counts(SB, &format!("{comment}\n{SC}")), (0, 3), "{comment}");
    }
    let error = model("let a = po\n(* no end").expect_err("the comment is open");
    assert!(error.to_string().starts_with("own.cat:2:1: "), "{error}");
}

#[test]
fn a_variant_chooses_among_steps_and_expressions() {
    let texts = [
        "if \"weak\" acyclic rf else acyclic po | rf | co | fr end",
        "if not \"weak\" then acyclic po | rf | co | fr end",
        "if ~\"weak\" && (~\"x\" || \"y\") acyclic po | rf | co | fr else empty 0 end",
        "let order = if \"weak\" then 0 else po acyclic order | rf | co | fr",
        "if \"weak\" include \"nowhere.cat\" else acyclic po | rf | co | fr end",
    ];
    for (number, text) in texts.iter().enumerate() {
        assert_eq!(counts(SB, text), (0, 3), "{text}");
        let mut weak = model(text).expect("a model");
        weak.variants.insert("weak".to_owned());
        let found = run(SB, &weak).map(|report| (report.positive, report.negative));
        if number == 4 {
            let error = found.expect_err("the file is not there").to_string();
            assert!(error.starts_with("own.cat:1:11: cannot include `nowhere.cat`"), "{error}");
        } else {
            assert_eq!(found.expect("a report"), (1, 3), "{text}");
        }
    }
}

#[test]
fn definitions_may_have_herds_forms() {
    for text in [
        "let order = po | rf | co | fr in acyclic order",
        "let order, others = po, rf | co | fr acyclic order | others",
        "let (order, others) = (po, rf | co | fr) acyclic order | others",
        "let back = (rf) ^ -1 let reads = back^-1 acyclic po | reads | co | fr",
        "let rec all = po | rf | co | fr | (all; all) when irreflexive all acyclic all",
        "procedure check(r) = acyclic r | po end call check(rf | co | fr) as mine",
        "procedure rec check r = acyclic r end call check (po | rf | co | fr)",
        "debug po show po | rf as mine unshow mine acyclic po | rf | co | fr",
        "let pick = fun (a, _) -> a acyclic pick (po, 0) | rf | co | fr",
        "enum Kinds = 'strong || 'weak
         let order kind = match kind with || 'strong -> po || _ -> 0 end
         acyclic order 'strong | rf | co | fr",
        "enum Kinds = 'strong || 'weak
         forall kind in Kinds do
           match kind with || 'strong -> acyclic po | rf | co | fr || _ -> empty 0 end
         end",
    ] {
        assert_eq!(counts(SB, text), (0, 3), "{text}");
    }
}

#[test]
fn sets_are_taken_apart_event_by_event() {
    for text in [
        // The union of `{e} * R` for each write, one by one.
        "let rec pick set = match set with || {} -> 0 || e ++ rest -> (({e} * R) & po) | pick rest end
         acyclic pick(W) | rf | co | fr",
        // The same relation, with a `match` that takes the middle element of the set.
        "let rec pick set = match set with
           || {} -> 0
           || before | e ++ after -> pick before | (({e} * R) & po) | pick after end
         acyclic pick(W) | rf | co | fr",
        // A function that takes a relation apart pair by pair, and builds it again.
        "let rec copy r = match r with || {} -> 0 || p ++ rest -> p ++ copy rest end
         acyclic copy(po) | rf | co | fr",
        "forall e in W & ~I do let after = ({e} * R) & po acyclic after | (po \\ after) | rf | co | fr end",
        "let mine = map (fun e -> ({e} * R) & po) W let rec join s = match s with
           || {} -> 0 || r ++ rest -> r | join rest end
         acyclic join mine | rf | co | fr",
        "let one e = if e in W then ({e} * _) & po else 0
         let rec join s = match s with || {} -> 0 || e ++ rest -> one e | join rest end
         acyclic join _ | rf | co | fr",
    ] {
        let text = text.replace("join _", "join (R | W)");
        assert_eq!(counts(SB, &text), (0, 3), "{text}");
    }
}

#[test]
fn models_can_request_coherence_orders() {
    // The model requests all orders of the writes. They are equal to the orders of `co`.
    let model = "include \"cross.cat\"\nwith ws from generate_cos(co0)
                 let read = rf^-1; ws acyclic po | rf | ws | (read \\ id)";
    assert_eq!(counts(SB, model), (0, 3));
    // Orders of the writes that do not extend program order are left out.
    assert_eq!(counts(PLAIN, "with mo from generate_orders(W, po) empty 0"), (1, 0));
    // For the writes that the model does not order, executions differ only in the choice of the
    // last write.
    assert_eq!(counts(PLAIN, "with mo from generate_orders(W & A, co0) empty 0"), (1, 2));
    assert_eq!(counts(PLAIN, "let order = co empty 0"), (2, 4));
    // The definition of coherence orders in herd's library.
    let by_hand =
        "let rec each s = match s with || {} -> {} || w ++ ws -> linearisations(w, po) ++ each ws end
                   with mo from cross (each (classes-loc W)) acyclic po | mo";
    assert_eq!(counts(PLAIN, by_hand), (1, 0));
}

#[test]
fn cross_tries_every_combination() {
    // `cross` tries each relation of a single family, and each pair of relations of two families.
    for wanted in ["po", "ext"] {
        let text = format!("with r from cross ((ext ++ (po ++ {{}})) ++ {{}}) empty {wanted} \\ r");
        assert_eq!(counts(SB, &text), (1, 3), "{text}");
    }
    let two = "with r from cross ((ext ++ (po ++ {})) ++ ((id ++ (loc ++ {})) ++ {})) empty (po | loc) \\ r";
    assert_eq!(counts(SB, two), (1, 3));
    assert_eq!(counts(SB, &two.replace("po | loc", "po | ext")), (0, 0));
}

/// Tests the predefined function `cross`, which combines orders, on orders of events that are not
/// writes, and on orders of writes that extend different relations.
#[test]
fn cross_combines_orders_of_any_events() {
    let test =
        "LISA two\n{ x = 0; y = 0; }\nP0 | P1 ;\nr[] r0 x | w[] x 1 ;\nr[] r1 x | w[] y 1 ;\nexists (0:r0=0)";
    // Two reads have two orders, one of them against program order.
    let reads = "with order from cross (linearisations(R, 0) ++ {})";
    let some = counts(test, &format!("{reads} empty (po & R * R) \\ order"));
    assert_eq!(some, counts(test, "empty 0"));
    assert_eq!(some, counts(test, &format!("{reads} empty order \\ (po^-1 & R * R)")));
    let extends = "with order from cross (linearisations(R, po) ++ {}) empty order \\ (po^-1 & R * R)";
    assert_eq!(counts(test, extends), (0, 0));
    // The writes to x and the writes to y are ordered independently, one group by program order and
    // the other group against it.
    let three =
        "LISA words\n{ x = 0; y = 0; }\nP0 ;\nw[] x 1 ;\nw[] x 2 ;\nw[] y 1 ;\nw[] y 2 ;\nexists (x=1)";
    let both = |x: &str, y: &str| {
        format!(
            "let of-x = loc2events('x) & W \\ IW let of-y = loc2events('y) & W \\ IW
             with order from cross (linearisations(of-x, {x}) ++ (linearisations(of-y, {y}) ++ {{}}))
             empty (order & po) \\ (of-y * of-y) empty (order \\ po) \\ (of-x * of-x) empty 0"
        )
    };
    let total = |counts: (u64, u64)| counts.0 + counts.1;
    assert!(total(counts(three, &both("po^-1", "po"))) > 0);
    assert_eq!(total(counts(three, &both("po", "po"))), 0);
    assert_eq!(total(counts(three, &both("po^-1", "po^-1"))), 0);
}

#[test]
fn generated_orders_lie_among_their_writes() {
    let outside = "with mo from generate_orders(W & A, co0) empty mo \\ ((W & A) * (W & A))";
    let mixed = "C mixed\n{}\nP0(atomic_int* x) { *x = 1; }\nP1(int* x) { *x = 2; }\nexists ([x]=1)";
    let (all, none) = (counts(mixed, outside), counts(mixed, "empty 0"));
    assert!(all.0 > 0 && all.1 > 0 && none.0 + none.1 >= all.0 + all.1);
}

#[test]
fn a_compare_and_swap_depends_on_its_expected_value() {
    let test = "C swap\n{}\nP0(atomic_int* x, int* e) { *e = 0; atomic_compare_exchange_strong_explicit(x, e, 1, memory_order_relaxed, memory_order_relaxed); }\nexists ([x]=1)";
    assert_eq!(counts(test, "acyclic po | rf | co | fr empty rmw \\ ctrl"), (1, 0));
    // An exchange writes its operand.
    let test = "C swap\n{}\nP0(atomic_int* x) { int r0 = atomic_exchange_explicit(x, 1, memory_order_relaxed); }\nexists ([x]=1)";
    assert_eq!(counts(test, "acyclic po | rf | co | fr empty rmw & data"), (1, 0));
    assert_eq!(
        counts(&test.replace("exchange", "fetch_add"), "acyclic po | rf | co | fr empty rmw \\ data"),
        (1, 0)
    );
}

#[test]
fn a_set_is_split_around_its_middle() {
    let deep = "let rec depth set = match set with
           || {} -> 0 || before | e ++ after -> (depth before; po?) | (depth after; po?) | ({e} * R) end
         acyclic (depth(W) & po) | rf | co | fr";
    assert_eq!(counts(SB, deep), (0, 3));
}

/// Models with the title PTX, and models with the option `partialco`, may leave writes to one word
/// unordered in coherence order.
#[test]
fn a_title_makes_the_coherence_order_partial() {
    let coherence = "acyclic po-loc | rf | co | fr empty 0";
    let two = "C two\n{}\nP0(atomic_int* x) { *x = 1; }\nP1(atomic_int* x) { *x = 2; }\nexists ([x]=1)";
    assert_eq!(counts(two, coherence), (1, 1));
    for title in ["PTX", "\"PTX\"", "OWN partialco", "PTX \"own\""] {
        // The writes are ordered in one of the two directions, or are unordered and one of them is
        // chosen as the last write.
        assert_eq!(counts(two, &format!("{title}\n{coherence}")), (2, 2), "{title}");
    }
}

#[test]
fn a_definition_may_mix_sets_and_relations() {
    // As in the kernel's model, which pairs critical sections: paired events are
    // excluded from later pairs.
    let text = "let opens = W and closes = R
        let rec open = opens \\ domain(pairs)
        and shut = closes \\ range(pairs)
        and left = open | shut
        and steps = ([left]; po; [left])
        and across = [open]; po; [shut]
        and pairs = pairs | (across \\ (steps; steps))
        empty (po & (W * R)) \\ pairs as all-paired
        acyclic pairs | rf | co | fr as sc";
    assert_eq!(counts(SB, text), (0, 3));
    // This definition depends on reads-from.
    let text = "let rec seen = W | range([seen]; rf) and reach = po | ([seen]; rf) | (reach; reach)
        irreflexive reach; (co | fr)? acyclic reach | co | fr";
    assert_eq!(counts(SB, text), (0, 3));
}

#[test]
fn an_update_is_one_event_for_models_without_halves() {
    // Coherence alone keeps read-modify-writes apart if they are single events.
    assert_eq!(counts(ADDS, "acyclic po | rf | co | fr"), (0, 2));
    assert_eq!(counts(ADDS, "irreflexive rf | (co; co; rf^-1) | (co; rf)"), (0, 2));
    assert_eq!(counts(ADDS, "empty (rf; [RMW]) \\ (co \\ (co; co))"), (0, 2));
    // A model that uses both events must require atomicity itself.
    let halves = "empty rmw & 0 acyclic po | rf | co | fr";
    assert!(counts(ADDS, halves).0 > 0);
    assert_eq!(counts(ADDS, "empty rmw & (fre; coe) acyclic po | rf | co | fr"), (0, 2));
}

#[test]
fn undefined_behaviour_is_reported_as_in_herd() {
    let race = "C race
{}
P0(int* x) { *x = 1; }
P1(int* x) { int r0 = *x; }
~exists (1:r0=1)
";
    let text = "let dr = ((W * M) | (M * W)) & loc & ext & ~(I * _) & ~(_ * I)
        undefined_unless empty dr as Dr flag ~empty R as zz flag ~empty W as aa";
    let model = model(text).expect("a model");
    assert!(model.defines_races());
    let report = run(race, &model).expect("a report");
    assert!(report.has_race());
    let expected = "Test race Forbidden
States 2
1:r0=0;
1:r0=1;
Undef
Witnesses
Positive: 1 Negative: 1
Flag *undef*
Flag aa
Flag zz
Condition ~exists (1:r0=1)
Observation race Sometimes 1 1
";
    assert_eq!(report.herd_block(), expected);
}

#[test]
fn fences_are_found_between_events() {
    let test = "LISA fences
{ x = 0; y = 0; }
P0 | P1 ;
w[once] x 1 | w[once] y 1 ;
f[mb] | f[mb] ;
r[once] r0 y | r[once] r0 x ;
exists (0:r0=0 /\\ 1:r0=0)
";
    for order in ["tag2fenced('mb)", "fromto(Mb)", "fromto(tag2instrs('mb))", "fencerel(tag2events('mb))"] {
        assert_eq!(counts(test, &format!("acyclic {order} | rf | co | fr")), (0, 3), "{order}");
    }
    assert_eq!(counts(test, "acyclic (loc2events('x) * loc2events('y)) & po | rf | co | fr"), (1, 3));
    let bell = Prelude {
        file: "own.bell",
        text: "enum Accesses = 'once instructions R[{'once}] instructions W[Accesses]
               enum Fences = 'mb instructions F[Fences] let strong = fencerel(Mb)",
    };
    let model =
        Model::parse_after(&[bell], "own", "own.cat", "acyclic strong | rf | co | fr", &mut shipped_file)
            .expect("a model");
    let report = run(test, &model).expect("a report");
    assert_eq!((report.positive, report.negative), (0, 3));
}

#[test]
fn tests_of_the_kernel_run_under_a_model_of_its_kind() {
    let test = |fence: &str| {
        format!(
            "C kernel
{{}}
P0(int *x, int *y, spinlock_t *l) {{
  int r0;
  WRITE_ONCE(*x, 1);
  {fence}
  r0 = READ_ONCE(*y);
  spin_lock(l);
  spin_unlock(l);
}}
P1(int *x, int *y, atomic_t *a) {{
  smp_store_release(y, 1);
  {fence}
  int r0 = smp_load_acquire(x);
  int r1 = xchg_relaxed(a, 2);
  int r2 = cmpxchg(a, 2, 3);
  int r3 = atomic_add_return(1, a);
  atomic_inc(a);
}}
exists (0:r0=0 /\\ 1:r0=0 /\\ 1:r1=0 /\\ 1:r2=2 /\\ 1:r3=4 /\\ a=5)
"
        )
    };
    let bell = Prelude {
        file: "own.bell",
        text: "enum Accesses = 'ONCE || 'RELEASE || 'ACQUIRE || 'MB || 'NORETURN
            instructions R[Accesses] instructions W[Accesses] instructions RMW[Accesses]
            enum Barriers = 'mb || 'rmb || 'wmb || 'rcu-lock || 'rcu-unlock || 'sync-rcu instructions F[Barriers]
            let rec free-locks = Rcu-lock \\ domain(critical)
            and free-unlocks = Rcu-unlock \\ range(critical)
            and free = free-locks | free-unlocks
            and free-po = ([free]; po; [free])
            and next = [free-locks]; po; [free-unlocks]
            and critical = critical | (next \\ (free-po; free-po))
            flag ~empty Rcu-lock \\ domain(critical) as unbalanced",
    };
    let text = "let strong = fencerel(Mb) let gp = po; [Sync-rcu]; po
        empty rmw & (fre; coe) acyclic po-loc | rf | co | fr acyclic strong | gp | rfe | co | fr";
    let model = Model::parse_after(&[bell], "own", "own.cat", text, &mut shipped_file).expect("a model");
    for (fence, allowed) in [
        ("smp_mb();", false),
        ("synchronize_rcu();", false),
        ("rcu_read_lock(); rcu_read_unlock();", true),
        ("smp_rmb();", true),
    ] {
        let report = run(&test(fence), &model).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(report.positive > 0, allowed, "{fence}\n{}", report.herd_block());
        assert!(report.flags.is_empty(), "{fence}");
    }
    let open = run(&test("rcu_read_lock();"), &model).expect("a report");
    assert_eq!(open.flags[0].name, "unbalanced");
}

#[test]
fn files_that_include_themselves_are_refused() {
    let again = "include \"again.cat\" include \"again.cat\" include \"again.cat\"";
    let mut include = |_: &str| Ok(again.to_owned());
    let error = Model::parse("own", "again.cat", again, &mut include).expect_err("it never ends");
    assert!(error.to_string().contains("again.cat:1:"), "{error}");
}

/// A model may require atomicity of a pair of an event and itself, or of a pair with a fence. This
/// adds no restriction, because no write comes between the two events of such a pair.
#[test]
fn models_may_require_atomicity_of_any_pairs() {
    let thread = |number: usize| {
        format!(
            "P{number}(atomic_int* x) {{ int r = atomic_fetch_add_explicit(x, 1, memory_order_seq_cst); atomic_thread_fence(memory_order_seq_cst); }}\n"
        )
    };
    let test = format!("C updates\n{{}}\n{}{}{}exists (x=3)", thread(0), thread(1), thread(2));
    for pairs in ["rmw", "[RMW] | rmw", "[F] | rmw", "(F * W) | rmw", "(rmw & ext) | rmw | id"] {
        let model = format!(
            "let pairs = {pairs}\nacyclic po-loc | rf | co | fr\nempty pairs & (fr; co) as atomicity"
        );
        assert_eq!(counts(&test, &model), (6, 0), "{pairs}");
    }
}

fn herd_models() -> Option<PathBuf> {
    let folder = std::env::var_os("FENCEPOST_HERD_MODELS").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: FENCEPOST_HERD_MODELS names no folder of herd's models");
    }
    folder
}

fn read(path: &Path) -> String {
    let bytes = std::fs::read(path).expect("the file is readable");
    String::from_utf8(bytes).unwrap_or_else(|e| e.as_bytes().iter().map(|&b| char::from(b)).collect())
}

fn herds(folder: &Path, file: &str) -> Model {
    let mut include = |name: &str| {
        let beside = folder.join(name);
        if beside.exists() { Ok(read(&beside)) } else { shipped_file(name) }
    };
    Model::parse(file, file, &read(&folder.join(file)), &mut include).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn every_model_of_herds_loads() {
    let Some(folder) = herd_models() else { return };
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).expect("the folder is readable") {
        let name = entry.expect("an entry").file_name().into_string().expect("a plain name");
        if name.ends_with(".cat") {
            herds(&folder, &name);
            count += 1;
        }
    }
    assert!(count > 0, "the folder has models");
}

#[test]
fn herds_models_agree_with_those_of_the_tool() {
    let Some(folder) = herd_models() else { return };
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus");
    for (file, own, tests) in [
        ("sc.cat", "sc", "c11"),
        ("tso.cat", "tso", "c11"),
        ("x86tso.cat", "tso", "c11"),
        ("rc11.cat", "rc11", "c11"),
        ("c11_simp.cat", "c11", "c11"),
        ("sc.cat", "sc", "opencl"),
        // This model has the scoped axiom.
        ("opencl.cat", "opencl-scoped", "opencl"),
        ("ptx-v7.5.cat", "ptx-7.5", "ptx"),
    ] {
        let (herds, own) =
            (herds(&folder, file), litmus::cat::shipped(own).expect("shipped").expect("a model"));
        let mut count = 0;
        for entry in std::fs::read_dir(corpus.join(tests)).expect("the folder is readable") {
            let path = entry.expect("an entry").path();
            let test = read(&path);
            let (found, expected) = match (run(&test, &herds), run(&test, &own)) {
                (Ok(found), Ok(expected)) => (found, expected),
                (found, expected) => panic!("{file}, {}: {found:?}, {expected:?}", path.display()),
            };
            let states = |report: &Report| {
                report.states.iter().map(|s| (s.values.clone(), s.satisfies)).collect::<Vec<_>>()
            };
            let outcome = (found.observation(), states(&found));
            assert_eq!(outcome, (expected.observation(), states(&expected)), "{file}, {}", path.display());
            count += 1;
        }
        assert!(count >= 5, "{tests} has tests");
    }
}
