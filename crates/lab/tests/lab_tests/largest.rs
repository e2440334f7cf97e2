//! Tests of claims that a value is larger on some inputs than on all others, with synthetic results of
//! runs.

use std::fs;
use std::path::{Path, PathBuf};

use lab::paper::{Paper, Plan, Request};
use lab::results::{Measured, Row, RowKey, Status};
use lab::systems::Systems;

const PAPER: &str = r#"
system = "hlrc-8cu"
seeds = 3
[[scenario]]
name = "vi"
protocol = "vi"
summary = "software coherence"
"#;

const FIGURE: &str = r#"
title = "Cycles"
scenarios = ["vi"]
[chart]
shape = "bars"
unit = "cycles"
[[chart.part]]
label = "cycles"
value = "cycles"
[[measure]]
claim = "mttop.fig34.rmo"
"#;

/// A folder with the experiment files of a paper: four inputs, and one measure of a claim.
fn folder(name: &str, measure: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("largest-{name}"));
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(&folder).unwrap();
    let input =
        |name: &str| format!("[[input]]\nname = \"{name}\"\nworkload = \"vec-add\"\nsize = \"tiny\"\n");
    let paper = PAPER.to_owned() + &["a", "b", "c", "d"].map(input).concat();
    fs::write(folder.join("paper.toml"), paper).unwrap();
    let figure = FIGURE.to_owned() + measure + "\n";
    fs::write(folder.join("fig34.toml"), figure).unwrap();
    folder
}

fn load(name: &str, measure: &str) -> Result<Paper, String> {
    let systems = Systems::with_folder("no such folder");
    Paper::load("mttop", Some(&folder(name, measure)), &systems).map_err(|error| error.to_string())
}

/// The status of the claim that the cycles are largest on `a` and `b`.
fn status(name: &str, cycles: impl Fn(&RowKey) -> u64) -> Status {
    let paper = load(name, "largest = \"cycles\"\ninputs = [\"a\", \"b\"]").unwrap();
    let plan = Plan::new(paper, &Request::default()).unwrap();
    let row = |(key, _): (&RowKey, _)| {
        let measured = Measured { cycles: cycles(key), answer_ok: true, ..Measured::default() };
        Row { key: key.clone(), system: String::new(), measured }
    };
    let results = plan.evaluate(plan.runs().map(row).collect());
    results.claims.iter().find(|claim| claim.id == "mttop.fig34.rmo").unwrap().status
}

#[test]
fn each_named_input_must_be_above_all_others() {
    let of = |large: &[&str], key: &RowKey| if large.contains(&key.input.as_str()) { 2000 } else { 1000 };
    assert_eq!(status("above", |key| of(&["a", "b"], key)), Status::Reproduced);
    // One of the named inputs is not above the others, or another input is above a named one.
    assert_eq!(status("one", |key| of(&["a"], key)), Status::Contradicted);
    assert_eq!(status("other", |key| of(&["a", "b", "c"], key)), Status::Contradicted);
    assert_eq!(status("below", |key| of(&["c", "d"], key)), Status::Contradicted);
    // The seeds do not agree.
    let mixed = |key: &RowKey| if key.seed % 2 == 1 { of(&["c"], key) } else { of(&["a", "b"], key) };
    assert_eq!(status("mixed", mixed), Status::Inconclusive);
}

#[test]
fn a_claim_of_the_largest_needs_other_inputs_and_no_other_measure() {
    let needs = "`largest` needs the kind `order` and some of the inputs of the figure";
    for (name, measure) in [
        ("all", "largest = \"cycles\""),
        ("holds", "largest = \"cycles\"\nholds = \"cycles > 1\"\ninputs = [\"a\"]"),
        ("rises", "largest = \"cycles\"\nrises = [\"cycles\", \"cycles\"]\ninputs = [\"a\"]"),
        ("fold", "largest = \"cycles\"\nfold = \"max\"\ninputs = [\"a\"]"),
    ] {
        let error = load(name, measure).unwrap_err();
        assert!(error.contains(needs) && error.contains("fig34.toml"), "{name}: {error}");
    }
}
