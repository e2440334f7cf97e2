//! Tests the language of models: the meaning of its operators and statements, and the errors for
//! models that have no meaning.

use litmus::cat::Model;
use litmus::check::{Options, Report, check};

/// A test with two threads, two locations, a read-modify-write, and dependencies.
const TEST: &str = "C test
{}
P0(atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_release);
  int r0 = atomic_load_explicit(y, memory_order_acquire);
  atomic_store_explicit(x, r0, memory_order_relaxed);
}
P1(atomic_int* x, atomic_int* y) {
  int r0 = atomic_fetch_add_explicit(x, 1, memory_order_acq_rel);
  atomic_thread_fence(memory_order_seq_cst);
  atomic_store_explicit(y, 1, memory_order_seq_cst);
}
exists (0:r0=1)
";

fn no_files(name: &str) -> Result<String, String> {
    Err(format!("there is no `{name}`"))
}

fn try_run(model: &str, test: &str) -> Result<Report, String> {
    let model = Model::parse("own", "own.cat", model, &mut no_files).map_err(|e| e.to_string())?;
    let program = litmus::parse::parse(test).map_err(|e| e.to_string())?;
    check(&program, &model, &mut Options::default()).map_err(|e| e.to_string())
}

fn run(model: &str) -> Report {
    try_run(model, TEST).unwrap_or_else(|e| panic!("{e}\n{model}"))
}

/// The error message for a model that has no meaning.
fn error(model: &str) -> String {
    try_run(model, TEST).expect_err(model)
}

const COHERENT: &str = "acyclic po-loc | rf | co | fr\n";

/// Whether the expressions `a` and `b` are the same relation on all executions of the test.
/// `before` are statements that precede the two expressions in the model.
fn same(before: &str, a: &str, b: &str) -> bool {
    let flag = |name: &str, a: &str, b: &str| format!("flag ~empty ({a}) \\ ({b}) as {name}\n");
    let report = run(&format!("{COHERENT}{before}\n{}{}", flag("more", a, b), flag("less", b, a)));
    assert!(report.states.len() > 1);
    report.flags.is_empty()
}

fn assert_same(a: &str, b: &str) {
    assert!(same("", a, b), "{a} is {b}");
}

fn assert_differ(a: &str, b: &str) {
    assert!(!same("", a, b), "{a} is not {b}");
}

#[test]
fn operators_bind_as_in_herd() {
    assert_same("po | rf ; co", "po | (rf ; co)");
    assert_differ("po | rf ; co", "(po | rf) ; co");
    assert_same("po ; rf \\ co", "po ; (rf \\ co)");
    assert_same("unv \\ po & ext", "unv \\ (po & ext)");
    assert_differ("unv \\ po & ext", "(unv \\ po) & ext");
    assert_same("po & W * R", "po & (W * R)");
    assert_same("~po & loc", "(~po) & loc");
    assert_same("rf | co ^ -1".replace(" ^ -1", "^-1").as_str(), "rf | (co^-1)");
    assert_same("po \\ po-loc \\ rmw", "(po \\ po-loc) \\ rmw");
    assert_same("po ; rf?", "po ; (rf?)");
    assert_same("rf+ ; co", "(rf+) ; co");
}

#[test]
fn a_star_is_a_product_before_an_operand_and_a_closure_before_anything_else() {
    assert_same("W * R", "[W]; unv; [R]");
    assert_same("(po | rf)* ; co", "co | ((po | rf)+ ; co)");
    assert_same("po^* & unv", "po | id");
    assert_same("[W]; po*; [R]", "[W]; (po | id); [R]");
}

#[test]
fn relations_obey_their_laws() {
    assert_same("fr", "(rf^-1; co) \\ id");
    assert_same("rfe | rfi", "rf");
    assert_same("po-loc", "po & loc");
    assert_same("com", "rf | co | fr");
    assert_same("int | ext", "unv \\ 0");
    assert_same("~(po | rf)", "~po & ~rf");
    assert_same("(po; rf)^-1", "rf^-1; po^-1");
    assert_same("[domain(rf)]", "[W] & (rf; rf^-1)");
    assert_same("[range(rf)]", "[R]");
    assert_same("rmw", "po & (R * W) & rmw");
    assert_same("[M]", "[R] | [W]");
    assert_same("[_]", "id");
    assert_same("~0", "unv");
    assert_same("[FW]", "[W \\ domain(co)]");
    assert!(same("let fences = fencerel(F)", "fences", "po; [F]; po"));
    assert_differ("data", "0");
    assert_same("data & (R * W)", "data");
}

#[test]
fn functions_tuples_and_let_in_are_evaluated() {
    assert!(same("let f(a, b) = a; b", "f(po, rf)", "po; rf"));
    assert!(same("let f a b = a; b", "f po rf", "po; rf"));
    assert!(same("let twice = fun f -> fun x -> f(f(x))\nlet inv(r) = r^-1", "twice inv po", "po"));
    assert!(same("let (a, b) = (po, rf)", "a; b", "po; rf"));
    assert!(same("", "let a = po in let b = rf in a; b", "po; rf"));
    // A function uses the names that are in scope at its definition, not the names in scope at its
    // call.
    assert!(same("let a = po\nlet f(x) = a; x\nlet a = co", "f(rf)", "po; rf"));
}

#[test]
fn recursion_finds_the_least_solution() {
    assert!(same("let rec hb = po | rf | (hb; hb)", "hb", "(po | rf)+"));
    assert!(same("let rec a = (po; b) | po and b = (rf; a) | rf", "a", "po; (rf; po)* | (po; rf)+ | po"));
    assert!(same("let rec s = W | range([s]; po)", "[s]", "[W | range([W]; po)]"));
    assert!(same("let rec none = none; none", "none", "0"));
}

#[test]
fn sets_of_sets_are_matched_folded_and_mapped() {
    let over = "let rec over f s = match s with || {} -> 0 || e ++ es -> f e | over f es end\n";
    assert!(same(over, "over (fun c -> c * c) (classes(loc))", "loc"));
    assert!(same("", "big-union(map (fun c -> c * c) (classes(loc)))", "loc"));
    assert!(same(
        "let sum(pair) = let (c, rest) = pair in (c * c) | rest",
        "fold sum (classes(loc), 0)",
        "loc"
    ));
    // The functions `partition` and `classes-loc` divide a set of accesses by location.
    assert!(same("", "big-union(map (fun c -> c * c) (partition(M)))", "loc"));
    assert!(same("", "big-union(map (fun c -> c * c) (classes-loc(W)))", "loc & (W * W)"));
    assert!(same("", "big-union({po, rf} | {co})", "po | rf | co"));
    assert!(same("", "big-union({po, rf} \\ {rf})", "po"));
    assert!(same("", "if po in {po, rf} then po else rf", "po"));
    assert!(same("", "if po-loc subset po then po else rf", "po"));
    assert!(same("", "if {} = 0 then po else rf", "rf") || same("", "if 0 = 0 then po else rf", "po"));
}

#[test]
fn tags_are_matched() {
    let pick = "enum orders = 'relaxed || 'strong\n\
                let pick t = match t with || 'relaxed -> RLX || 'strong -> SC || _ -> emptyset end\n";
    assert!(same(pick, "[pick 'strong]", "[SC]"));
    assert!(same(pick, "[pick 'other]", "0"));
    let all = format!(
        "{pick}let rec every s = match s with || {{}} -> emptyset || t ++ ts -> pick t | every ts end\n"
    );
    assert!(same(&all, "[every orders]", "[RLX | SC]"));
}

#[test]
fn procedures_and_forall_make_checks() {
    let report = run(&format!(
        "{COHERENT}procedure no(r) = flag ~empty r as found end\ncall no(po)\n\
         forall c in classes(loc) do flag ~empty c as class end"
    ));
    let names: Vec<_> = report.flags.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["found", "class", "class"]);
}

#[test]
fn a_linearisation_is_chosen_so_that_the_checks_pass() {
    // In every execution, some order of the writes agrees with coherence. No order puts each of two
    // writes before the other.
    let report =
        run(&format!("{COHERENT}with t from linearisations(W, co)\nempty t \\ (t & ~id)\nempty t & t^-1"));
    assert_eq!(report.positive + report.negative, run(COHERENT).positive + run(COHERENT).negative);
    let report = run(&format!("{COHERENT}with t from linearisations(W, 0)\nempty t & ext"));
    assert_eq!(report.positive + report.negative, 0);
    let report = run(&format!("{COHERENT}with t from {{po, 0}}\nempty t"));
    assert_eq!(report.positive + report.negative, run(COHERENT).positive + run(COHERENT).negative);
}

#[test]
fn checks_may_be_negated() {
    assert_eq!(run("~empty po").states, run("empty 0").states);
    assert_eq!(run("~acyclic po").positive, 0);
    let (some, all) = (run(&format!("{COHERENT}~empty [SC]; rf")), run(COHERENT));
    assert!(some.positive + some.negative < all.positive + all.negative);
    let none = run(&format!("{COHERENT}empty [SC]; rf"));
    assert_eq!(some.positive + some.negative + none.positive + none.negative, all.positive + all.negative);
}

#[test]
fn a_try_takes_its_first_defined_branch_and_variants_are_off_by_default() {
    assert!(same("", "try unheard with po", "po"));
    assert!(same("", "if \"special\" then rf else po", "po"));
    assert!(same("", "if not \"special\" && po = po then rf else po", "rf"));
}

#[test]
fn includes_are_put_in_place() {
    let mut files = |name: &str| match name {
        "a.cat" => Ok("\"A\"\nlet a = po\ninclude \"b.cat\"".to_owned()),
        "b.cat" => Ok("let b = a; rf".to_owned()),
        other => Err(format!("no {other}")),
    };
    let text = "include \"a.cat\"\nflag ~empty (b \\ (po; rf)) | ((po; rf) \\ b) as wrong";
    let model = Model::parse("own", "own.cat", text, &mut files).expect("a model");
    let program = litmus::parse::parse(TEST).expect("a test");
    assert!(check(&program, &model, &mut Options::default()).expect("it fits").flags.is_empty());
    // The tool accepts `include` statements for herd's own files, which add nothing.
    run("include \"stdlib.cat\"\ninclude \"cos.cat\"\nwith co from generate_cos(co0)\nacyclic po | com");
}

#[test]
fn an_error_names_its_file() {
    let mut files = |name: &str| match name {
        "a.cat" => Ok("let f(r) = r; W\nprocedure none(r) =\n  empty [r]\nend\n".to_owned()),
        other => Err(format!("no {other}")),
    };
    let mut error = |text: &str| {
        let text = format!("include \"a.cat\"\n{text}");
        let model = Model::parse("own", "own.cat", &text, &mut files).expect("a model");
        let program = litmus::parse::parse(TEST).expect("a test");
        check(&program, &model, &mut Options::default()).expect_err("it means nothing").to_string()
    };
    let sentence = "found a set of events, expected a relation";
    assert_eq!(error("acyclic f(po)"), format!("a.cat:1:15: {sentence}"));
    let sentence = "found a relation, expected a set of events";
    assert_eq!(error("call none(po)"), format!("a.cat:3:10: {sentence}"));
    assert_eq!(error("let a = try f(po) with po\nempty [a]"), format!("own.cat:3:8: {sentence}"));
}

#[test]
fn herds_library_is_defined() {
    assert!(same("", "toid(W)", "[W]"));
    assert!(same("", "ctrlcfence(F)", "ctrl & (_ * F); po"));
    assert!(same("", "imply(po, rf)", "~po | rf"));
    assert!(same("", "nodetour(co, co, co)", "co \\ (co; co)"));
    assert!(same("", "singlestep(po)+", "po"));
    let flags = |model: &str| {
        let report = run(&format!("{COHERENT}{model}"));
        report.flags.iter().map(|f| f.name.clone()).collect::<Vec<_>>()
    };
    // A flag is raised if its check holds. `assert` and `undefined_unless` are raised
    // if the check fails.
    assert_eq!(flags("flag empty po as a\nflag ~empty po as b"), ["b"]);
    assert_eq!(flags("undefined_unless empty po as a\nundefined_unless ~empty po as b"), ["a"]);
    assert_eq!(flags("assert acyclic po as a\nassert ~acyclic po as b"), ["b"]);
    assert!(run(&format!("{COHERENT}call subseteq(W, M)\ncall inclusion(rfe, rf)")).states.len() > 1);
    assert!(run("call total(po, M)").states.is_empty());
}

#[test]
fn annotations_and_scopes_are_reached_by_their_tags() {
    let test = "LISA tags\n{}\nP0 | P1 | P2 ;\nw[mine, release, device] x 1 | r[acquire, device] r0 x | r[] r0 x ;\n\
                scopes: (system (device (work_group P0 P1)) (device (work_group P2)))\nexists (1:r0=1)";
    let flags = |model: &str| {
        let report = try_run(&format!("{COHERENT}{model}"), test).unwrap_or_else(|e| panic!("{e}\n{model}"));
        report.flags.iter().map(|f| f.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(flags("flag ~empty Mine & W as a\nflag ~empty tag2events('mine) & R as b"), ["a"]);
    assert_eq!(flags("flag ~empty Release & W as a\nflag ~empty (Acquire \\ R) as b"), ["a"]);
    let across = "(M \\ IW) * (M \\ IW) & ext";
    for level in ["work_group", "device", "wg"] {
        let apart = format!("({across}) \\ tag2scope('{level})");
        let model = format!("flag ~empty ({across}) & tag2scope('{level}) as a\nflag ~empty {apart} as b");
        assert_eq!(flags(&model), ["a", "b"], "{level}");
    }
    assert_eq!(flags(&format!("flag ~empty ({across}) \\ tag2scope('system) as b")), [""; 0]);
    // A tag declared in an enumeration is defined, at least as the empty set.
    assert_eq!(flags("enum kinds = 'mine || 'other\nflag ~empty Mine as a\nflag ~empty Other as b"), ["a"]);
    let error = |model: &str| try_run(model, test).expect_err(model);
    assert_eq!(error("empty [Other]"), "own.cat:1:8: `Other` is not defined");
    assert_eq!(error("empty tag2scope('cluster)"), "own.cat:1:7: the test has no scope `cluster`");
    assert_eq!(error("empty tag2events(po)"), "own.cat:1:7: found a relation, expected a tag");
}

#[test]
fn errors_name_the_place() {
    assert_eq!(error("let a = "), "own.cat:1:9: found the end of the file, expected an expression");
    assert_eq!(error("acyclic po | | rf"), "own.cat:1:14: found `|`, expected an expression");
    assert_eq!(error("acyclic (po"), "own.cat:1:12: found the end of the file, expected `,` or `)`");
    assert_eq!(
        error("acyclic po as a\nfoo bar"),
        "own.cat:2:1: found `foo`, expected `let`, `acyclic`, `irreflexive`, `empty`, `flag` or another statement"
    );
    assert_eq!(
        error("(* never closed"),
        "own.cat:1:1: found the end of the file, expected `*)` to close this comment"
    );
    assert_eq!(
        error("acyclic po as"),
        "own.cat:1:14: found the end of the file, expected a name for the check"
    );
    assert_eq!(error("acyclic po ; %"), "own.cat:1:14: found `%`, expected a name, an operator or a keyword");
    assert_eq!(
        error("include \"none.cat\""),
        "own.cat:1:1: cannot include `none.cat`: there is no `none.cat`"
    );
}

#[test]
fn undefined_names_are_reported() {
    assert_eq!(error("acyclic po | hbb"), "own.cat:1:14: `hbb` is not defined");
    assert_eq!(
        error("acyclic po & sr\nempty [GEN]; po"),
        "own.cat:2:8: the model uses `GEN`, which C tests do not define"
    );
    assert_eq!(error("empty [po]"), "own.cat:1:8: found a relation, expected a set of events");
    assert_eq!(error("acyclic W"), "own.cat:1:9: found a set of events, expected a relation");
    assert_eq!(error("acyclic W ; po"), "own.cat:1:9: found a set of events, expected a relation");
    assert_eq!(error("acyclic po(rf)"), "own.cat:1:9: found a relation, expected a function");
    assert_eq!(
        error("let f(a, b) = a; b\nacyclic f(po)"),
        "own.cat:2:9: found a relation, expected a tuple of 2 values"
    );
    assert_eq!(error("call nothing(po)"), "own.cat:1:1: `nothing` is not a procedure");
    assert_eq!(
        error("let t x = match x with || 'a -> po end\nacyclic t 'b"),
        "own.cat:1:17: no arm of this `match` fits a tag"
    );
    assert_eq!(
        error("empty classes(rf)"),
        "own.cat:1:7: the classes of this relation depend on reads-from or coherence, expected a relation \
         that does not depend on them"
    );
}

#[test]
fn a_definition_that_does_not_converge_is_reported() {
    let sentence = "does not converge: it uses itself after `\\` or `~`";
    assert!(error("let rec a = po \\ a\nacyclic a").contains(sentence));
    assert!(error("let rec a = rf \\ a\nacyclic a").contains(sentence));
    assert!(error("let rec a = ~(a; unv)\nacyclic a").contains(sentence));
    // Other negations are allowed.
    run("let rec a = (po \\ rf) | (a; a)\nacyclic a");
}

#[test]
fn a_function_that_does_not_terminate_is_stopped() {
    assert_eq!(error("let rec f x = f x\nacyclic f po"), "own.cat:1:15: more than 100 nested function calls");
    let wide = "let rec f x = f x | f x\nacyclic f po";
    assert!(error(wide).contains("more than 100 nested function calls"));
    // Each level doubles the work, but does not increase the depth.
    let doubling: String =
        (0..40).map(|i| format!("let f{} x = f{i} (x; po) | f{i} (po; x)\n", i + 1)).collect();
    let doubling = format!("let f0 x = x\n{doubling}acyclic f40 po");
    assert!(error(&doubling).contains("the model is too large, or one of its functions does not terminate"));
}

#[test]
fn deep_nesting_is_refused_and_long_chains_are_not() {
    let deep = format!("acyclic {}po{}", "(".repeat(5000), ")".repeat(5000));
    assert!(error(&deep).contains("at most 120 levels of nesting"), "{}", error(&deep));
    let tilde = format!("acyclic {}po", "~".repeat(5000));
    assert!(error(&tilde).contains("at most 120 levels of nesting"));
    let comments = format!("{}{}acyclic po", "(*".repeat(2000), "*)".repeat(2000));
    run(&comments);
    let chain = format!("acyclic {}", vec!["po"; 5000].join(" | "));
    run(&chain);
    let lets: String = (0..2000).map(|i| format!("let a{i} = po\n")).collect();
    run(&format!("{lets}acyclic a1999"));
}
