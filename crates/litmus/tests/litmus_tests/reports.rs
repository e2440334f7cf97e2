//! Tests the reports of a check: the text in herd's format, JSON, drawings and explanations.

use litmus::check::{Options, Report, check, dot, explain, refusals};
use litmus::program::Program;

const SB: &str = "C SB
{}
P0(atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_relaxed);
  int r0 = atomic_load_explicit(y, memory_order_relaxed);
}
P1(atomic_int* x, atomic_int* y) {
  atomic_store_explicit(y, 1, memory_order_relaxed);
  int r0 = atomic_load_explicit(x, memory_order_relaxed);
}
exists (0:r0=0 /\\ 1:r0=0)
";

const RACE: &str = "C race
{}
P0(int* x) { *x = 1; }
P1(int* x) { int r = *x; }
exists (1:r=1)
";

fn run(text: &str, model: &str) -> (Program, Report) {
    let model = litmus::cat::shipped(model).expect("it is shipped").expect("it is a model");
    let program = litmus::parse::parse(text).expect("a test");
    let report = check(&program, &model, &mut Options::default()).expect("the model fits");
    (program, report)
}

#[test]
fn the_block_has_herds_format() {
    let (_, report) = run(SB, "tso");
    let expected = "Test SB Allowed
States 4
0:r0=0; 1:r0=0;
0:r0=0; 1:r0=1;
0:r0=1; 1:r0=0;
0:r0=1; 1:r0=1;
Ok
Witnesses
Positive: 1 Negative: 3
Condition exists (0:r0=0 /\\ 1:r0=0)
Observation SB Sometimes 1 3
";
    assert_eq!(report.herd_block(), expected);
}

#[test]
fn json_has_the_promised_keys() {
    let (program, report) = run(SB, "sc");
    let json = report.json(&program, "tests/SB.litmus");
    for key in ["file", "test", "model", "condition", "verdict", "states", "races", "complete", "bound"] {
        assert!(json.get(key).is_some(), "{key}");
    }
    assert_eq!(json["verdict"], false);
    assert_eq!(json["complete"], true);
    assert_eq!(json["states"].as_array().map(Vec::len), Some(3));
    assert_eq!(json["states"][0]["values"]["0:r0"], 0);
}

#[test]
fn a_race_names_both_accesses() {
    let (program, report) = run(RACE, "rc11");
    let json = report.json(&program, "race.litmus");
    let races = json["races"].as_array().expect("a list");
    assert_eq!(races.len(), 1);
    assert_eq!(races[0]["kind"], "data-race");
    assert_eq!(races[0]["location"], "x");
    assert_eq!(races[0]["first"]["thread"], 0);
    assert_eq!(races[0]["second"]["thread"], 1);
    assert_eq!(races[0]["second"]["line"], 4);
}

#[test]
fn a_forbidden_outcome_is_explained_by_the_check_against_it() {
    let (program, report) = run(SB, "sc");
    let model = litmus::cat::shipped("sc").expect("it is shipped").expect("it is a model");
    let found = refusals(&program, &model, &mut Options::default()).expect("the model fits");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].check, "sc-order");
    assert_eq!(found[0].cycle.len(), 4, "po and fr, twice");
    let text = explain(&program, &model, &report, &mut Options::default()).expect("the model fits");
    assert!(text.contains("under sc the condition exists (0:r0=0 /\\ 1:r0=0) is not met"), "{text}");
    assert!(text.contains("refused: c -po-> d -fr-> e -po-> f -fr-> c"), "{text}");
}

#[test]
fn an_allowed_outcome_is_shown_by_an_execution() {
    let (program, report) = run(SB, "tso");
    let model = litmus::cat::shipped("tso").expect("it is shipped").expect("it is a model");
    let text = explain(&program, &model, &report, &mut Options::default()).expect("the model fits");
    assert!(text.contains("This execution ends with 0:r0=0; 1:r0=0;"), "{text}");
    assert!(text.contains("d: P0: R[relaxed] y=0"), "{text}");
    assert!(text.contains("rf: b->d a->f"), "{text}");
}

#[test]
fn a_drawing_has_one_box_per_event_and_one_arrow_per_pair() {
    let (program, report) = run(SB, "tso");
    let example = report.states[0].example.as_deref().expect("an execution");
    let text = dot(&program, example, "SB", &[("race".to_owned(), 2, 5)]);
    assert_eq!(text.matches("[label=\"").count(), 6 + 1, "{text}");
    assert_eq!(text.matches("label=rf").count(), 2, "{text}");
    assert_eq!(text.matches("label=fr").count(), 2, "{text}");
    assert!(text.starts_with("digraph \"SB\" {") && text.ends_with("}\n"));
}

#[test]
fn a_loop_beyond_the_bound_is_reported() {
    let looping = "C loop
{}
P0(atomic_int* x) {
  int i = 0;
  while (atomic_load_explicit(x, memory_order_relaxed) == 0) { i = i + 1; }
}
P1(atomic_int* x) { atomic_store_explicit(x, 1, memory_order_relaxed); }
forall (0:i=0)
";
    let (_, report) = run(looping, "sc");
    assert!(!report.complete && report.decided, "a state with i=1 settles it");
    assert_eq!(report.bound.as_deref(), Some("loops were unrolled 2 times"));
    assert!(report.herd_block().contains("Incomplete loops were unrolled 2 times"));
}

#[test]
fn a_loop_that_only_waits_is_covered_whole() {
    let waiting = "C wait
{}
P0(atomic_int* x, int* y) {
  while (atomic_load_explicit(x, memory_order_acquire) == 0) {}
  int r = *y;
}
P1(atomic_int* x, int* y) { *y = 1; atomic_store_explicit(x, 1, memory_order_release); }
forall (0:r=1)
";
    let (_, report) = run(waiting, "rc11");
    assert!(report.complete && report.verdict && !report.has_race(), "{}", report.herd_block());
}

#[test]
fn a_check_can_be_stopped() {
    let model = litmus::cat::shipped("sc").expect("it is shipped").expect("it is a model");
    let program = litmus::parse::parse(SB).expect("a test");
    let mut options = Options { stop: Box::new(|| true), ..Options::default() };
    let report = check(&program, &model, &mut options).expect("the model fits");
    assert!(!report.complete && !report.decided);
    assert_eq!(report.bound.as_deref(), Some("the search was stopped"));
}

#[test]
fn an_access_outside_of_memory_is_reported() {
    let wild = "C wild
{ int a[2] = {1, 2}; }
P0(int* a, atomic_int* x) { int i = atomic_load_explicit(x, memory_order_relaxed); int r = *(a + i); }
P1(atomic_int* x) { atomic_store_explicit(x, 2, memory_order_relaxed); }
exists (0:r=2)
";
    let (_, report) = run(wild, "sc");
    assert!(!report.verdict);
    assert_eq!(report.states.len(), 1, "{}", report.herd_block());
    assert!(
        report.notes[0].contains("an access outside of the test's memory (line 3)"),
        "{:?}",
        report.notes
    );
}

#[test]
fn a_barrier_that_one_thread_skips_is_reported() {
    let skipped = "OPENCL skip
{}
P0@wg 0, dev 0 (global atomic_int* x) { if (atomic_load(x)) { barrier(CLK_GLOBAL_MEM_FENCE); } }
P1@wg 0, dev 0 (global atomic_int* x) { barrier(CLK_GLOBAL_MEM_FENCE); }
P2@wg 0, dev 0 (global atomic_int* x) { atomic_store(x, 1); }
exists (x=1)
";
    let (_, report) = run(skipped, "opencl");
    assert!(report.notes.iter().any(|n| n.contains("diverge at a barrier")), "{}", report.herd_block());
}

fn judged(text: &str) -> Report {
    let program = litmus::parse::parse(text).unwrap_or_else(|e| panic!("{e}"));
    let model = litmus::cat::shipped("sc").expect("it is shipped").expect("it is a model");
    check(&program, &model, &mut Options::default()).expect("the model fits")
}

#[test]
fn undefined_values_are_reported_with_their_lines() {
    let of = |expr: &str| {
        judged(&format!(
            "C none\n{{}}\nP0(atomic_int* x) {{\n int r0 = atomic_load(x);\n int r1 = {expr};\n}}\nexists (0:r1=0)"
        ))
    };
    for (expr, what) in [
        ("r0 / 0", "a division by zero (line 5)"),
        ("7 / r0", "a division by zero (line 5)"),
        ("1 % 0", "a division by zero (line 5)"),
        ("1 << 100000", "a shift by less than 0 or more than 63 bits (line 5)"),
        ("1 >> (r0 - 1)", "a shift by less than 0 or more than 63 bits (line 5)"),
    ] {
        let report = of(expr);
        assert!(report.states.is_empty(), "{expr}: {report:?}");
        assert!(report.notes.iter().any(|note| note.contains(what)), "{expr}: {:?}", report.notes);
    }
    for expr in ["r0 / 1", "7 / (r0 + 1)", "r0 << 63"] {
        let report = of(expr);
        assert!(report.states.len() == 1 && report.notes.is_empty(), "{expr}: {report:?}");
    }
    // If the divisor is zero in some executions, the report counts the executions with other
    // divisors.
    let text = "C some\n{}\nP0(atomic_int* x) {\n int r0 = atomic_load(x);\n int r1 = 6 / r0;\n}\n\
                P1(atomic_int* x) { atomic_store(x, 2); }\nexists (0:r1=3)";
    let report = judged(text);
    assert!(report.observation() == "Always" && report.notes.len() == 1, "{report:?}");
}

#[test]
fn a_thread_that_never_terminates_is_reported() {
    let text = "PTX ever\n{ x=0; }\nP0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\nL: | st.weak x, 1 ;\ngoto L | ;\nexists (x=1)";
    let report = judged(text);
    assert!(report.states.is_empty() && report.complete, "{report:?}");
    assert!(report.notes.iter().any(|note| note.starts_with("P0 never terminates")), "{:?}", report.notes);
    let text =
        "PTX end\n{ x=0; }\nP0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\ngoto L | st.weak x, 1 ;\nL: | ;\nexists (x=1)";
    assert!(judged(text).notes.is_empty());
}

#[test]
fn a_verdict_that_may_change_is_undecided() {
    let text = "C lock\n{}\nP0(atomic_int* x) { while (1) { atomic_store(x, 1); } }\nexists (x=2)";
    let report = judged(text);
    assert!(!report.decided);
    let block = report.herd_block();
    assert!(
        block.contains("\nUndecided\nWitnesses") && block.contains("Observation lock Undecided 0 0"),
        "{block}"
    );
    assert_eq!(report.json(&litmus::parse::parse(text).expect("a test"), "lock")["decided"], false);
}

#[test]
fn witnesses_of_a_forbidden_condition_lack_its_property() {
    let block = |model: &str| run(&SB.replace("exists", "~exists"), model).1.herd_block();
    let tso = block("tso");
    assert!(tso.starts_with("Test SB Forbidden\n"), "{tso}");
    let end = "Condition ~exists (0:r0=0 /\\ 1:r0=0)\n";
    assert!(tso.contains("\nNo\nWitnesses\nPositive: 3 Negative: 1\n") && tso.contains(end), "{tso}");
    // The line `Observation` counts the executions with the property of the condition, also for
    // `~exists`.
    assert!(tso.ends_with("Observation SB Sometimes 1 3\n"), "{tso}");
    let sc = block("sc");
    assert!(sc.contains("\nOk\nWitnesses\nPositive: 3 Negative: 0\n"), "{sc}");
    assert!(sc.ends_with("Observation SB Never 0 3\n"), "{sc}");
}

#[test]
fn states_that_differ_only_in_filter_terms_count_once() {
    let (_, report) =
        run(&SB.replace("exists (0:r0=0 /\\ 1:r0=0)", "filter (1:r0 >= 0) exists (0:r0=0)"), "tso");
    let states: Vec<String> = report.states.iter().map(ToString::to_string).collect();
    assert_eq!(states, ["0:r0=0;", "0:r0=1;"]);
    assert_eq!(report.states.iter().map(|s| s.count).collect::<Vec<_>>(), [2, 2]);
    let (_, report) =
        run(&SB.replace("exists (0:r0=0 /\\ 1:r0=0)", "filter (1:r0 = 1) exists (0:r0=0)"), "tso");
    assert_eq!((report.positive, report.negative), (1, 1), "what the filter refuses is not counted");
}

#[test]
fn a_test_that_only_filters_asks_whether_a_state_passes() {
    for (filter, verdict) in [("0:r0=0 /\\ 1:r0=0", false), ("0:r0=1 /\\ 1:r0=0", true)] {
        let test = SB.replace("exists (0:r0=0 /\\ 1:r0=0)", &format!("filter ({filter})"));
        let (program, report) = run(&test, "sc");
        assert_eq!(report.verdict, verdict, "{filter}");
        assert_eq!(program.condition.quantifier, litmus::program::Quantifier::Exists);
    }
}

#[test]
fn threads_that_wait_for_ever_pass_no_filter() {
    let test = |filter: &str| {
        format!(
            "OPENCL t\n{{}}\nP0@wg 0, dev 0 (global int* x, global atomic_int* f) {{ *x = 1; }}\n\
             P1@wg 0, dev 0 (global int* x, global atomic_int* f) {{ *x = 2; await(f == 1); }}\n{filter}exists (x=1)"
        )
    };
    assert!(run(&test(""), "opencl").1.has_race());
    assert!(!run(&test("filter (x=1) "), "opencl").1.has_race());
}

#[test]
fn a_flag_of_several_checks_is_printed_once() {
    let text = "flag ~empty R as mine flag ~empty W as mine";
    let model =
        litmus::cat::Model::parse("own", "own.cat", text, &mut litmus::cat::shipped_file).expect("a model");
    let program = litmus::parse::parse(SB).expect("a test");
    let block = check(&program, &model, &mut Options::default()).expect("the model fits").herd_block();
    assert_eq!(block.matches("Flag mine\n").count(), 1, "{block}");
}

#[test]
fn aliases_of_a_word_have_one_value() {
    let test = "PTX alias\n{ x=0; y @ generic aliases x; }\nP0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n\
                st.weak x, 1 | st.weak x, 2 ;\nlocations [x; y;]\nforall (x == y)";
    let (_, report) = run(test, "ptx-7.5");
    let states: Vec<String> = report.states.iter().map(ToString::to_string).collect();
    assert_eq!(states, ["[x]=1; [y]=1;", "[x]=2; [y]=2;"]);
}

#[test]
fn paths_with_too_many_events_leave_the_answer_undecided() {
    // One of two paths has too many events. The other path neither meets nor refutes the condition.
    let many = "atomic_store_explicit(y, 1, memory_order_relaxed); ".repeat(130);
    let test = |ask: &str| {
        format!(
            "C wide\n{{}}\nP0(atomic_int* x, atomic_int* y) {{ int r0 = atomic_load(x); if (r0) {{ {many} }} }}\n\
             P1(atomic_int* x) {{ atomic_store(x, 1); }}\n{ask}"
        )
    };
    for (ask, word) in
        [("exists (0:r0=1)", "Undecided"), ("~exists (0:r0=0)", "No"), ("forall (0:r0=0)", "Undecided")]
    {
        let (_, report) = run(&test(ask), "sc");
        assert!(!report.complete && report.verdict_word() == word, "{ask}: {}", report.herd_block());
    }
}
