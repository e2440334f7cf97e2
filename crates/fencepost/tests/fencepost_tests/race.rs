//! Tests of the command `fencepost race`.

use serde_json::Value;

use crate::common;

fn run(arguments: &str) -> (u8, String, String) {
    common::fencepost(&arguments.split_whitespace().collect::<Vec<_>>())
}

#[test]
fn a_race_is_reported_with_both_accesses_and_advice() {
    let (code, out, err) = run("race --system hrf-8cu --workload race-block-barrier");
    assert_eq!(code, 1, "{err}");
    assert!(out.contains("race on data[1]"), "{out}");
    assert!(out.contains("crates/workloads/src/races.rs:"), "{out}");
    assert!(out.contains("widen both to device scope"), "{out}");
    assert_eq!(err, "fencepost: one pair of places races\n");
}

#[test]
fn json_has_the_promised_keys() {
    let (code, out, _) = run("race --system hrf-8cu --workload race-no-acquire --seeds 2 --json");
    assert_eq!(code, 1);
    let value: Value = serde_json::from_str(&out).expect("JSON");
    let race = &value["races"][0];
    for key in ["kind", "location", "first", "second", "scopes", "advice", "count"] {
        assert!(!race[key].is_null(), "{key} is missing: {out}");
    }
    assert_eq!(race["kind"], "ordinary");
    assert_eq!(race["location"], "data[0]");
    assert_eq!(value["runs"], 2);
    let (code, out, _) = run("race --system hrf-8cu --workload vec-add --set n=1k --json");
    let value: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, &value["races"]), (0, &Value::Array(Vec::new())));
}

#[test]
fn a_narrow_scope_races_under_hrf_and_not_under_drf() {
    let command = "race --system hrf-8cu --workload race-narrow-scope --model";
    assert_eq!(run(&format!("{command} hrf-indirect")).0, 1);
    assert_eq!(run(&format!("{command} hrf-direct")).0, 1);
    let (code, out, err) = run(&format!("{command} drf"));
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("No race in 1 run with "), "{out}");
}

#[test]
fn advice_names_the_sufficient_scope_and_its_savings() {
    let (code, out, err) =
        run("race --system hrf-8cu --scenario baseline --workload sssp --set vertices=512 \
                                --set edges=2k --set sweeps=2 --set chunk=16 --advise");
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("Scopes wider than the communication in these runs"), "{out}");
    assert!(out.contains("device  work-group"), "{out}");
    assert!(out.contains("all together"), "{out}");
}

#[test]
fn a_fault_in_the_question_is_one_sentence() {
    for (arguments, sentence) in [
        ("race --system hrf-8cu --workload race-missing-fense", "did you mean `race-missing-fence`?"),
        ("race --system hrf-9cu --workload vec-add", "did you mean `hrf-8cu`?"),
        ("race --system hrf-8cu --workload vec-add --model hrf", "invalid value 'hrf'"),
        ("race --system hrf-8cu --workload vec-add --seeds 0", "expected a whole number from 1 to 1000"),
    ] {
        let (code, out, err) = run(arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{arguments}");
        assert!(err.contains(sentence) && err.lines().count() == 1, "{arguments}: {err}");
    }
}
