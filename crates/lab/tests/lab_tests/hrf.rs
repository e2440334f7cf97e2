//! Tests the evaluation of the HRF paper, from its files to the statuses of its claims. The results
//! of runs are synthetic, the litmus tests are real.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lab::paper::{Paper, Plan, Request};
use lab::results::{Measured, Results, Row, RowKey, Scored, Status};
use lab::systems::Systems;

fn systems() -> Systems {
    Systems::with_folder("no such folder")
}

fn plan(figures: &[&str]) -> Plan {
    let figures = figures.iter().map(|figure| (*figure).to_owned()).collect();
    Plan::new(Paper::load("hrf", None, &systems()).unwrap(), &Request { figures, ..Request::default() })
        .unwrap()
}

fn claim<'a>(results: &'a Results, id: &str) -> &'a Scored {
    results.claims.iter().find(|claim| claim.id == id).unwrap()
}

/// The results of the paper if the runs had, for each input, the speedup and the number of
/// donations that the two functions give.
fn with(speedup: impl Fn(&str) -> f64, donations: impl Fn(&str) -> u64) -> Results {
    let plan = plan(&["fig10"]);
    let row = |key: &RowKey| {
        let is_direct = key.scenario == "hrf-direct";
        let speedup = if is_direct { 1.0 } else { speedup(&key.input) };
        let measured = Measured {
            cycles: (1e9 / speedup) as u64 + key.seed,
            answer_ok: true,
            counters: BTreeMap::from([("program.donations".to_owned(), donations(&key.input))]),
            ..Measured::default()
        };
        Row { key: key.clone(), system: String::new(), measured }
    };
    plan.evaluate(plan.runs().map(|(key, _)| row(key)).collect())
}

#[test]
fn speedups_in_the_published_range_on_every_input_are_reproduced() {
    let donations = |input: &str| u64::from(input.as_bytes()[1]);
    let rising = with(|input| 1.02 + 0.013 * f64::from(input.as_bytes()[1] - b'0'), donations);
    assert_eq!(claim(&rising, "hrf.fig10.uts").status, Status::Reproduced);
    let found = claim(&rising, "hrf.fig10.donations");
    assert_eq!((found.status, found.measured.as_f64()), (Status::Reproduced, Some(1.0)));
    // One of the four inputs has no speedup.
    let one_fails = with(|input| if input == "T4" { 1.0 } else { 1.05 }, donations);
    assert_eq!(claim(&one_fails, "hrf.fig10.uts").status, Status::Contradicted);
    let falling = with(|input| 1.09 - 0.01 * f64::from(input.as_bytes()[1] - b'0'), donations);
    assert_eq!(claim(&falling, "hrf.fig10.donations").status, Status::Contradicted);
    // If all values are equal, the rank correlation is undefined.
    let alike = with(|_| 1.05, |_| 7);
    assert_eq!(claim(&alike, "hrf.fig10.donations").status, Status::NotRun);
}

/// The results of the paper if the runs had the speedup that the function gives for an input and a
/// seed.
fn with_seeds(speedup: impl Fn(&str, u64) -> f64) -> Results {
    let plan = plan(&["fig10"]);
    let row = |key: &RowKey| {
        let speedup = if key.scenario == "hrf-direct" { 1.0 } else { speedup(&key.input, key.seed) };
        let donations = u64::from(key.input.as_bytes()[1]);
        let measured = Measured {
            cycles: (1e9 / speedup) as u64,
            answer_ok: true,
            counters: BTreeMap::from([("program.donations".to_owned(), donations)]),
            ..Measured::default()
        };
        Row { key: key.clone(), system: String::new(), measured }
    };
    plan.evaluate(plan.runs().map(|(key, _)| row(key)).collect())
}

#[test]
fn an_uncertain_correlation_is_inconclusive_within_its_range() {
    let falling = |input: &str| 1.09 - 0.01 * f64::from(input.as_bytes()[1] - b'0');
    let noisy = with_seeds(|input, seed| falling(input) + 0.1 * ((seed * 7 % 5) as f64 - 2.0));
    let found = claim(&noisy, "hrf.fig10.donations");
    let [low, high] = found.interval.unwrap();
    assert!(-1.0 <= low && low < high && high <= 1.0, "{found:?}");
    assert_eq!((found.status, found.measured.as_f64()), (Status::Inconclusive, Some(-1.0)));
    let settled = with_seeds(|input, seed| falling(input) + 1e-4 * seed as f64);
    let found = claim(&settled, "hrf.fig10.donations");
    assert_eq!((found.status, found.interval), (Status::Contradicted, Some([-1.0, -1.0])));
}

#[test]
fn the_worst_input_is_named_with_the_range_of_its_seeds() {
    let close = |input: &str, seed: u64| if input == "T4" { 1.001 + 0.001 * seed as f64 } else { 1.05 };
    let results = with_seeds(close);
    let found = claim(&results, "hrf.fig10.uts");
    // The expected value is the mean over the seeds 1 to 5. No single seed has this value.
    assert!((found.measured.as_f64().unwrap() - 1.004).abs() < 1e-6, "{found:?}");
    assert_eq!(found.status, Status::Contradicted, "the interval ends at 1.00596: too little to be close");
    let note = found.note.as_deref().unwrap();
    assert!(
        note.starts_with("the measured value is from the worst input, T4; 3 of 4 are as published: "),
        "{note}"
    );
    assert!(note.contains("T4 1.004 (seeds 1.002 to 1.006)"), "{note}");
    assert!(found.measured_text().ends_with(") on T4, the worst input"), "{}", found.measured_text());
    let [low, high] = found.interval.unwrap();
    assert!(low < 1.004 && 1.004 < high);
    // Of two inputs with the same status, the one farther from the published range is the worst.
    let farther = with_seeds(|input, _| match input {
        "T2" => 1.001,
        "T5" => 0.9,
        _ => 1.05,
    });
    let found = claim(&farther, "hrf.fig10.uts");
    assert!(found.note.as_deref().unwrap().contains("worst input, T5; 2 of 4"), "{found:?}");
    // A zero at the end of a number is kept.
    let zero = with_seeds(|input, seed| if input == "T4" { 1.0009 + 0.0011 * seed as f64 } else { 1.05 });
    let note = claim(&zero, "hrf.fig10.uts").note.as_deref().unwrap();
    assert!(note.contains("T4 1.0042 (seeds 1.0020 to 1.0064)"), "{note}");
    // The seeds give speedups both below and above one.
    let noisy = with_seeds(|input, seed| if input == "T4" { 0.96 + 0.025 * seed as f64 } else { 1.05 });
    assert_eq!(claim(&noisy, "hrf.fig10.uts").status, Status::Inconclusive);
}

#[test]
fn equal_runs_reproduce_no_claim_about_runs() {
    let results = with(|_| 1.0, |_| 1000);
    let of_runs = ["hrf.fig10.uts", "hrf.fig10.donations"].map(|id| claim(&results, id).status);
    assert_eq!(of_runs, [Status::Contradicted, Status::NotRun]);
}

#[test]
fn the_examples_of_the_models_come_out_as_claimed_without_any_run() {
    let plan = plan(&["litmus"]);
    assert_eq!(plan.runs().count(), 0);
    let results = plan.evaluate(Vec::new());
    assert!(results.figures.is_empty());
    for id in ["hrf.fig2", "hrf.fig5.same-wg", "hrf.fig5.other-wg", "hrf.fig6", "hrf.fig7"] {
        assert_eq!(claim(&results, id).status, Status::Reproduced, "{:?}", claim(&results, id));
    }
    assert!(results.claims.iter().all(|claim| !claim.id.starts_with("hrf.fig10")), "they were not asked for");
}

fn own(name: &str, litmus: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(&folder).unwrap();
    let paper = include_str!("../../../../experiments/hrf/paper.toml");
    fs::write(folder.join("paper.toml"), paper).unwrap();
    fs::write(folder.join("litmus.toml"), litmus).unwrap();
    folder
}

#[test]
fn a_litmus_test_with_another_result_contradicts_and_an_unknown_name_has_its_place() {
    let text = |claim: &str, test: &str, model: &str, races: bool| {
        format!(
            "title = \"t\"\n[[litmus]]\nclaim = \"{claim}\"\ntest = \"{test}\"\nmodels = [\"{model}\"]\nraces = {races}\n"
        )
    };
    let load = |name: &str, text: &str| Paper::load("hrf", Some(&own(name, text)), &systems());
    let wrong = load("litmus-races", &text("hrf.fig6", "hrf/fig6", "hrf-indirect", true)).unwrap();
    let results = Plan::new(wrong, &Request::default()).unwrap().evaluate(Vec::new());
    assert_eq!(claim(&results, "hrf.fig6").status, Status::Contradicted);
    let error = |name: &str, text: &str| load(name, text).map(|_| ()).unwrap_err().to_string();
    let near = "did you mean";
    assert!(error("litmus-claim", &text("hrf.fig66", "hrf/fig6", "drf", true)).contains(near));
    let test = error("litmus-test", &text("hrf.fig6", "hrf/fig66", "drf", true));
    assert!(test.contains("litmus.toml:4:") && test.contains(near), "{test}");
    assert!(error("litmus-model", &text("hrf.fig6", "hrf/fig6", "hrf-direkt", true)).contains("hrf-direkt"));
    assert!(error("litmus-none", "title = \"t\"\n").contains("a figure needs `[chart]`"));
}

#[test]
fn inputs_that_have_one_size_only_have_no_scale() {
    let request = Request { scale: Some("1/16".to_owned()), ..Request::default() };
    let error = Plan::new(Paper::load("hrf", None, &systems()).unwrap(), &request).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("one size only"), "{error}");
}
