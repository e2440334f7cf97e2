//! Tests the reproduction of a paper, from its files to the statuses of its claims, with synthetic
//! results of runs and with a simulated machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use lab::paper::claims::{Claims, Kind};
use lab::paper::{Paper, Plan, Request};
use lab::results::{Measured, Results, Row, Status};
use lab::run::Pulse;
use lab::runner::{Outcome, perform};
use lab::store::Store;
use lab::systems::Systems;

fn systems() -> Systems {
    Systems::with_folder("no such folder")
}

fn built_in() -> Paper {
    Paper::load("hlrc", None, &systems()).unwrap()
}

fn plan(request: &Request) -> Plan {
    Plan::new(built_in(), request).unwrap()
}

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::remove_dir_all(&folder).ok();
    folder
}

/// The results of the paper if every quantity were the same in all runs of all scenarios.
fn nothing_matters(plan: &Plan) -> Results {
    let row = |(key, _): (&lab::results::RowKey, _)| {
        let counters = COUNTERS.map(|name| (name.to_owned(), 1000));
        let measured = Measured {
            cycles: 1_000_000,
            answer_ok: true,
            counters: BTreeMap::from(counters),
            ..Measured::default()
        };
        Row { key: key.clone(), system: String::new(), measured }
    };
    plan.evaluate(plan.runs().map(row).collect())
}

/// The counters of the simulator that the paper's experiment files use.
const COUNTERS: [&str; 25] = [
    "load_wait_cycles",
    "store_wait_cycles",
    "acquire_wait_cycles",
    "release_wait_cycles",
    "atomic_load_wait_cycles",
    "atomic_store_wait_cycles",
    "atomic_rmw_wait_cycles",
    "atomic_line_bytes",
    "registered_bytes_peak",
    "l1_accesses",
    "l1_hits",
    "l1_flushes",
    "l1_flushes.remote",
    "l1_flushes.release",
    "l1_flushes.kernel_end",
    "l1_flushes.atomic_out",
    "l1_invalidations",
    "l1_invalidations.remote",
    "l1_invalidations.acquire",
    "l1_invalidations.kernel_start",
    "l1_invalidations.atomic_in",
    "l1_flush_broadcasts",
    "l1_invalidation_broadcasts",
    "sync_accesses",
    "sync_l1_hits",
];

#[test]
fn equal_runs_reproduce_only_claims_of_no_change() {
    let published = Claims::parse(Path::new("hlrc"), include_str!("../../../../claims/hlrc.toml")).unwrap();
    let results = nothing_matters(&plan(&Request::default()));
    let ids = |of: &dyn Fn(Status) -> bool| -> Vec<&str> {
        results.claims.iter().filter(|claim| of(claim.status)).map(|claim| claim.id.as_str()).collect()
    };
    // Every published claim has a measure, and every measure uses existing counters.
    assert_eq!(ids(&|_| true), published.claims.iter().map(|claim| claim.id.as_str()).collect::<Vec<_>>());
    assert_eq!(ids(&|status| status == Status::NotRun), [""; 0]);
    // Two claims say that scenarios are equal, or that one scenario is no worse than another. These
    // two claims hold. All other claims say that something is better, or how often something
    // happens.
    let alike = ["hlrc.va.best-of-both", "hlrc.va.steal-dominant"];
    assert_eq!(ids(&|status| status == Status::Reproduced), alike);
    // One claim is about a number of bytes. In these results the number is synthetic, like all
    // other counts.
    assert_eq!(ids(&|status| status == Status::Direction), ["hlrc.vb.footprint"]);
    let footprint = results.claims.iter().find(|claim| claim.id == "hlrc.vb.footprint").unwrap();
    let note = footprint.note.as_deref().unwrap();
    assert!(note.ends_with("1,963 to 307,708 agree with the published count"), "{note}");
}

#[test]
fn speedups_as_published_are_reproduced_and_scaled_inputs_only_indicate() {
    let claims = Claims::parse(Path::new("hlrc"), include_str!("../../../../claims/hlrc.toml")).unwrap();
    let published = |scenario: &str| {
        let id = format!("hlrc.fig4.{scenario}");
        claims.claims.iter().find(|claim| claim.id == id).and_then(|claim| claim.value)
    };
    let figure = Request { figures: vec!["fig4".to_owned()], ..Request::default() };
    let rows = |plan: &Plan| {
        let row = |(key, _): (&lab::results::RowKey, _)| {
            let speedup = published(&key.scenario).unwrap_or(1.0);
            let cycles = (1e9 / speedup) as u64 + key.seed;
            let measured = Measured { cycles, answer_ok: true, ..Measured::default() };
            Row { key: key.clone(), system: String::new(), measured }
        };
        plan.runs().map(row).collect::<Vec<_>>()
    };
    let full = plan(&figure);
    let results = full.evaluate(rows(&full));
    let means: Vec<_> = results
        .claims
        .iter()
        .filter(|claim| claim.kind == Kind::Number.name() && claim.status != Status::NotRun)
        .filter(|claim| claim.measure.starts_with("speedup[") && claim.measure.ends_with(']'))
        .collect();
    assert!(means.len() >= 2);
    for claim in means {
        let expected = if claim.id.ends_with("worst") { Status::Direction } else { Status::Reproduced };
        assert_eq!(claim.status, expected, "{claim:?}");
        let [low, high] = claim.interval.unwrap();
        let measured = claim.measured.as_f64().unwrap();
        assert!(low <= measured && measured <= high && high - low < 1e-6);
    }
    let scaled = plan(&Request { scale: Some("1/16".to_owned()), ..figure });
    let results = scaled.evaluate(rows(&scaled));
    assert!(results.claims.iter().all(|c| matches!(c.status, Status::Indicative | Status::NotRun)));
    let one = results.claims.iter().find(|c| c.would_be == Some(Status::Reproduced)).unwrap();
    assert_eq!(
        one.status_text(),
        "indicative; scaled input; with the published size, these values would score: reproduced"
    );
}

/// The results of the paper if the runs had the cycles that the function gives for the key of a run
/// (variant, scenario, input and seed).
fn with_cycles(request: &Request, cycles: impl Fn(&lab::results::RowKey) -> u64) -> Results {
    let plan = plan(request);
    let row = |(key, _): (&lab::results::RowKey, _)| {
        let measured = Measured { cycles: cycles(key), answer_ok: true, ..Measured::default() };
        Row { key: key.clone(), system: String::new(), measured }
    };
    plan.evaluate(plan.runs().map(row).collect())
}

#[test]
fn an_uncertain_mean_is_inconclusive_and_never_below_zero() {
    let figure = Request { figures: vec!["fig4".to_owned()], seeds: Some(2), ..Request::default() };
    // The paper claims a gain of 29% for hLRC. Here the mean has this gain, but only one of the two
    // seeds has a gain.
    let cycles = |key: &lab::results::RowKey| match (&*key.scenario, key.seed) {
        ("hlrc", 1) => 1000,
        ("hlrc", _) => 633,
        _ => 1000,
    };
    let claim = |results: &Results| {
        results.claims.iter().find(|claim| claim.id == "hlrc.fig4.hlrc").cloned().unwrap()
    };
    let found = claim(&with_cycles(&figure, cycles));
    assert_eq!(found.status, Status::Inconclusive, "{found:?}");
    let [low, high] = found.interval.unwrap();
    assert!(low == 0.0 && high > 4.0, "a speedup is no less than zero: {low} to {high}");
    let scaled = Request { scale: Some("1/16".to_owned()), ..figure.clone() };
    let found = claim(&with_cycles(&scaled, cycles));
    assert_eq!((found.status, found.would_be), (Status::Indicative, Some(Status::Inconclusive)));
    // One seed has no interval.
    let one = claim(&with_cycles(&Request { seeds: Some(1), ..figure }, cycles));
    assert_eq!((one.interval, one.status), (None, Status::Contradicted), "{one:?}");
}

#[test]
fn an_order_that_fails_once_is_contradicted_and_means_have_a_geometric_one() {
    let figure = Request { figures: vec!["fig4".to_owned()], seeds: Some(1), ..Request::default() };
    // The scenario equals the better one of the two on every input except one.
    for slow in ["SSSP-1", "SSSP-2", "PR-3"] {
        let results = with_cycles(&figure, |key| match (&*key.scenario, &*key.input) {
            ("hlrc", input) if input == slow => 4000,
            _ => 1000,
        });
        let claim = |id: &str| results.claims.iter().find(|claim| claim.id == id).unwrap();
        let order = claim("hlrc.va.best-of-both");
        assert_eq!(order.status, Status::Contradicted, "{slow}: {order:?}");
        let mean = claim("hlrc.fig4.hlrc");
        // Eight inputs have the speedup 1, and one input has the speedup 1/4.
        let geometric = 0.25f64.powf(1.0 / 9.0);
        assert!((mean.geometric.unwrap() - geometric).abs() < 1e-9, "{mean:?}");
        assert!((mean.measured.as_f64().unwrap() - 8.25 / 9.0).abs() < 1e-9, "{mean:?}");
    }
}

#[test]
fn a_wrong_answer_or_a_missing_run_leaves_claims_not_run_with_a_note() {
    let plan = plan(&Request { figures: vec!["fig4".to_owned()], seeds: Some(1), ..Request::default() });
    let row = |(key, _): (&lab::results::RowKey, _)| {
        let answer_ok = key.scenario != "scope-only" || key.input != "color-3";
        let measured = Measured { cycles: 7, answer_ok, ..Measured::default() };
        Row { key: key.clone(), system: String::new(), measured }
    };
    let mut rows: Vec<Row> = plan.runs().map(row).collect();
    rows.retain(|row| row.key.scenario != "steal-only" || row.key.input != "PR-3");
    let results = plan.evaluate(rows);
    let note = |id: &str| {
        let claim = results.claims.iter().find(|claim| claim.id == id).unwrap();
        assert_eq!(claim.status, Status::NotRun);
        claim.note.clone().unwrap()
    };
    assert_eq!(note("hlrc.fig4.scope-only"), "scope-only on color-3, base, seed 1 has no right answer");
    assert_eq!(note("hlrc.fig4.steal-only"), "steal-only on PR-3, base, seed 1 was not run");
    assert_eq!(results.failures().count(), 1);
    let claim = results.claims.iter().find(|claim| claim.id == "hlrc.fig4.scope-only").unwrap();
    assert_eq!(claim.stand_ins, [""; 0], "nothing is measured on a stand-in");
}

#[test]
fn a_wrong_answer_on_a_variant_is_no_missing_variant() {
    let figures = ["fig4", "sensitivity"].map(str::to_owned).into();
    let plan = plan(&Request { figures, seeds: Some(1), ..Request::default() });
    let row = |(key, _): (&lab::results::RowKey, _)| {
        let answer_ok = (&*key.variant, &*key.scenario) != ("drain-4", "hlrc");
        let measured = Measured { cycles: 7, answer_ok, ..Measured::default() };
        Row { key: key.clone(), system: String::new(), measured }
    };
    let results = plan.evaluate(plan.runs().map(row).collect());
    let claim = results.claims.iter().find(|claim| claim.id == "hlrc.fig4.hlrc").unwrap();
    assert_eq!(claim.sensitivity_text(), "drain-4: not-run");
}

#[test]
fn a_claim_names_the_variants_on_which_its_status_differs() {
    let figures = ["fig1", "fig4", "sensitivity"].map(str::to_owned).into();
    let request = Request { figures, seeds: Some(1), ..Request::default() };
    // The published gain of hLRC is 29%. Here it has this gain on all machines except one.
    let cycles = |key: &lab::results::RowKey| match (&*key.variant, &*key.scenario) {
        ("edge-banks", "hlrc") => 2000,
        (_, "hlrc") => 775,
        _ => 1000,
    };
    let results = with_cycles(&request, cycles);
    let claim = |id: &str| results.claims.iter().find(|claim| claim.id == id).unwrap();
    let other = |id: &str| claim(id).sensitivity_text();
    assert_eq!(claim("hlrc.fig4.hlrc").status, Status::Reproduced);
    assert_eq!(other("hlrc.fig4.hlrc"), "edge-banks: contradicted");
    let variants: Vec<_> = claim("hlrc.fig4.hlrc").variants.iter().map(|of| of.variant.as_str()).collect();
    assert_eq!(variants, ["invalidate-16", "invalidate-64", "drain-4", "drain-16", "edge-banks"]);
    // The status is the same on all variants.
    assert_eq!(
        (claim("hlrc.fig4.steal-only").status, other("hlrc.fig4.steal-only").as_str()),
        (Status::Contradicted, "-")
    );
    // No variant has runs of these scenarios, and a comparison of variants has no further variant. A
    // run on eight compute units is a run on another machine than that of the paper.
    for id in ["hlrc.fig4.rsp", "hlrc.fig4.scope-only", "hlrc.fig1.scaling"] {
        assert_eq!(other(id), "not run", "{id}");
    }
    let page = lab::markdown::report(&results);
    assert!(page.contains("| reproduced | edge-banks: contradicted |"), "{page}");
    assert!(lab::report::of_results(&results).contains("edge-banks: contradicted</td>"));
    // On scaled inputs, the statuses that the values would give are compared.
    let scaled = with_cycles(&Request { scale: Some("1/16".to_owned()), ..request }, cycles);
    let claim = scaled.claims.iter().find(|claim| claim.id == "hlrc.fig4.hlrc").unwrap();
    assert_eq!(
        (claim.status, claim.sensitivity_text().as_str()),
        (Status::Indicative, "edge-banks: contradicted")
    );
}

#[test]
fn reports_mark_the_results_on_stand_ins() {
    let figure = Request { figures: vec!["fig4".to_owned()], seeds: Some(1), ..Request::default() };
    let stand_ins = |results: &Results| {
        let claim = results.claims.iter().find(|claim| claim.id == "hlrc.va.steal-dominant").unwrap();
        claim.stand_ins.clone()
    };
    let results = with_cycles(&figure, |_| 1000);
    assert_eq!(stand_ins(&results), ["SSSP-3", "color-2", "PR-2", "PR-3"]);
    for page in [lab::markdown::report(&results), lab::report::of_results(&results)] {
        assert!(page.contains("9 of 9 inputs are stand-ins"), "{page}");
        assert!(page.contains("measured on stand-ins: SSSP-3, color-2, PR-2, PR-3"), "{page}");
    }
    let folder = scratch("some-graphs");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("c-68.gr"), "p sp 3 2\na 1 2 5\na 2 3 5\n").unwrap();
    let results = with_cycles(&Request { graphs: Some(folder), ..figure }, |_| 1000);
    assert_eq!(stand_ins(&results), ["color-2", "PR-3"]);
    assert!(lab::markdown::report(&results).contains("7 of 9 inputs are stand-ins"));
}

#[test]
fn the_runs_of_a_figure_are_its_scenarios_inputs_variants_and_seeds() {
    let runs = |figure: &str, seeds: u64| {
        let request = Request { figures: vec![figure.to_owned()], seeds: Some(seeds), ..Request::default() };
        let plan = plan(&request);
        (plan.runs().count(), plan.tasks().len())
    };
    let (one, tasks) = runs("fig4", 1);
    assert_eq!((one % 9, one), (0, tasks));
    assert_eq!(runs("fig4", 3).0, 3 * one);
}

/// Writes a folder with the files of a small experiment, and returns its path. The function
/// `change` changes the texts of the files.
fn small(name: &str, change: impl Fn(&str) -> String) -> PathBuf {
    let folder = scratch(name);
    fs::create_dir_all(&folder).unwrap();
    let paper = r#"
system = "hlrc-8cu"
seeds = 1
[settings]
sweeps = "2"
[[scenario]]
name = "baseline"
protocol = "vi"
policy = "device,no-steal"
summary = "own queue"
[[scenario]]
name = "steal-only"
protocol = "vi"
policy = "device,steal-device"
summary = "stealing"
[[input]]
name = "SSSP-3"
workload = "sssp"
graph = "c-68"
[[variant]]
name = "slow"
change = { "l1.invalidate_cycles" = 64 }
[[define]]
name = "speedup"
value = "cycles[baseline] / cycles"
"#;
    let figure = r#"
title = "A figure"
scenarios = ["baseline", "steal-only"]
variants = ["base", "slow"]
[chart]
shape = "bars"
groups = "variants"
unit = "speedup"
[[chart.part]]
label = "speedup"
value = "speedup"
[[measure]]
claim = "hlrc.fig4.steal-only"
value = "speedup[steal-only]"
"#;
    fs::write(folder.join("paper.toml"), change(paper)).unwrap();
    fs::write(folder.join("fig4.toml"), change(figure)).unwrap();
    folder
}

fn reproduce(folder: &Path, out: &Path, jobs: usize) -> (Outcome, Results) {
    let paper = Paper::load("hlrc", Some(folder), &systems()).unwrap();
    let request = Request { scale: Some("1/256".to_owned()), ..Request::default() };
    let plan = Plan::new(paper, &request).unwrap();
    let store = Store::open(out).unwrap();
    let seen = Mutex::new(Vec::new());
    let outcome = perform(&plan, &store, jobs, &Pulse::default(), &|progress| {
        seen.lock().unwrap().push(progress.done);
    })
    .unwrap();
    assert_eq!(seen.into_inner().unwrap().last(), Some(&plan.tasks().len()));
    let results = plan.evaluate(outcome.rows.clone());
    (outcome, results)
}

#[test]
fn a_second_run_simulates_nothing_and_gives_the_same_report() {
    let (folder, out) = (small("again", str::to_owned), scratch("again-out"));
    let (first, results) = reproduce(&folder, &out, 3);
    assert_eq!((first.ran, first.found, first.rows.len()), (4, 0, 4));
    assert!(results.rows.iter().all(|row| row.measured.answer_ok), "{results:?}");
    let slow = |row: &&Row| row.key.variant == "slow";
    let cycles = |rows: Vec<&Row>| rows.iter().map(|row| row.measured.cycles).collect::<Vec<_>>();
    let (slow, fast): (Vec<&Row>, Vec<&Row>) = results.rows.iter().partition(slow);
    assert!(cycles(slow).iter().zip(cycles(fast)).all(|(slow, fast)| *slow > fast));
    let (second, again) = reproduce(&folder, &out, 1);
    assert_eq!((second.ran, second.found), (0, 4));
    assert_eq!(again, results);
    let (alone, afresh) = reproduce(&folder, &scratch("again-alone"), 1);
    assert_eq!((alone.ran, afresh), (4, results));
}

#[test]
fn only_missing_damaged_and_incomplete_results_run_again() {
    let (folder, out) = (small("resume", str::to_owned), scratch("resume-out"));
    let (_, results) = reproduce(&folder, &out, 2);
    let files = || {
        let names = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<PathBuf> =
            names.filter(|path| path.extension().is_some_and(|ending| ending == "parquet")).collect();
        files.sort();
        files
    };
    let whole = files();
    assert_eq!(whole.len(), 4);
    fs::remove_file(&whole[0]).unwrap();
    let mut bytes = fs::read(&whole[1]).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&whole[1], &bytes).unwrap();
    let text = fs::read(&whole[2]).unwrap();
    fs::write(&whole[2], &text[..text.len() - 9]).unwrap();
    let unfinished = out.join(".half.parquet.unfinished");
    fs::write(&unfinished, "half").unwrap();
    let (outcome, again) = reproduce(&folder, &out, 2);
    assert_eq!((outcome.ran, outcome.found, outcome.notices.len()), (3, 1, 2));
    assert!(outcome.notices.iter().all(|notice| notice.contains("is damaged")), "{:?}", outcome.notices);
    assert_eq!((files(), again, unfinished.exists()), (whole, results, false));
}

#[test]
fn a_folder_belongs_to_one_process_at_a_time() {
    let out = scratch("owned");
    let first = Store::open(&out).unwrap();
    assert!(Store::open(&out).unwrap_err().to_string().contains("another process"));
    drop(first);
    assert!(Store::open(&out).is_ok());
}

#[test]
fn results_of_other_seeds_settings_or_machines_are_not_reused() {
    let ids = |request: &Request| {
        let plan = plan(&Request { figures: vec!["fig1".to_owned()], seeds: Some(1), ..request.clone() });
        plan.tasks().into_iter().map(|task| task.id.clone()).collect::<std::collections::BTreeSet<_>>()
    };
    let base = ids(&Request::default());
    let scaled = ids(&Request { scale: Some("1/2".to_owned()), ..Request::default() });
    let settings = vec![("sweeps".to_owned(), "3".to_owned())];
    let shorter = ids(&Request { settings, ..Request::default() });
    assert_eq!(base.len() % 18, 0, "two machines, nine inputs");
    assert!(base.is_disjoint(&scaled) && base.is_disjoint(&shorter) && scaled.is_disjoint(&shorter));
}

#[test]
fn every_mistake_in_a_file_is_named_with_its_place() {
    let wrong = |name: &str, from: &str, to: &str| {
        let folder = small(&format!("wrong-{name}"), |text| text.replace(from, to));
        Paper::load("hlrc", Some(&folder), &systems()).unwrap_err().to_string()
    };
    let mut others = Vec::new();
    for (name, from, to, place, what) in [
        ("protocol", "protocol = \"vi\"", "protocol = \"vii\"", "paper.toml:8:12", "did you mean `vi`?"),
        ("policy", "no-steal", "no-steel", "paper.toml:9:10", "did you mean `no-steal`?"),
        ("system", "\"hlrc-8cu\"", "\"hlrc-9cu\"", "paper.toml:2:10", "did you mean `hlrc-8cu`?"),
        ("graph", "\"c-68\"", "\"c-69\"", "paper.toml:19:9", "did you mean `c-68`?"),
        (
            "workload",
            "\"sssp\"",
            "\"reduce\"",
            "paper.toml:18:12",
            "expected the key `size` alone for an input of `reduce`",
        ),
        ("setting", "sweeps =", "sweep =", "paper.toml:5:9", "no workload has the setting `sweep`"),
        ("change", "l1.invalidate_cycles", "l1.invalidat_cycles", "paper.toml:22:36", "did you mean"),
        ("value", "= 64", "= -1", "paper.toml:22:37", "`-1`, expected a whole number"),
        ("define", "/ cycles\"", "/ (cycles\"", "paper.toml:25:36", "expected `)`"),
        ("key", "summary", "sumary", "paper.toml:10:1", "did you mean `summary`?"),
        ("seeds", "seeds = 1", "seeds = 0", "paper.toml:3:9", "1 to 1000 seeds"),
        ("toml", "[settings]", "[settings", "paper.toml:4:10", ""),
        (
            "scenario",
            "[\"baseline\", \"steal",
            "[\"baseline\", \"steel",
            "fig4.toml:3:26",
            "did you mean `steal-only`?",
        ),
        ("variant", "\"slow\"]", "\"slov\"]", "fig4.toml:4:21", "did you mean `slow`?"),
        ("claim", "hlrc.fig4.steal-only", "hlrc.fig4.steal-olny", "fig4.toml:13:9", "did you mean"),
        (
            "kind",
            "hlrc.fig4.steal-only",
            "hlrc.va.best-of-both",
            "fig4.toml:13:9",
            "expected the key `holds`",
        ),
        (
            "reference",
            "speedup[steal-only]",
            "speedup[rsp]",
            "fig4.toml:14:9",
            "unknown scenario of this figure",
        ),
        ("shape", "shape = \"bars\"", "shape = \"pie\"", "fig4.toml:6:9", "bars"),
        (
            "shown",
            "groups = \"variants\"",
            "groups = \"variants\"\nvariants = [\"fast\"]",
            "fig4.toml:8:13",
            "unknown variant of this figure `fast`",
        ),
    ] {
        let message = wrong(name, from, to);
        if !message.contains(&format!("{place}: ")) || !message.contains(what) {
            others.push(format!("{name}: {message}"));
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
    let too_long = ": found more than 1000 terms, expected a shorter formula";
    let sum = format!("value = \"{}\"", vec!["cycles"; 40_000].join("+"));
    let define = wrong("long", "value = \"cycles[baseline] / cycles\"", &sum);
    assert!(define.ends_with(&format!("paper.toml:25:7010{too_long}")), "{define}");
    // Each `speedup` has two terms.
    let sum = format!("value = \"{}\"", vec!["speedup"; 501].join("+"));
    let part = wrong("long-part", "value = \"speedup\"", &sum);
    assert!(part.ends_with(&format!("fig4.toml:11:4010{too_long}")), "{part}");
    let folder = scratch("wrong-empty");
    fs::create_dir_all(&folder).unwrap();
    let none = Paper::load("hlrc", Some(&folder), &systems()).unwrap_err().to_string();
    assert!(none.contains("paper.toml: there is no such file"), "{none}");
    assert!(Paper::load("hlcr", None, &systems()).unwrap_err().to_string().contains("did you mean `hlrc`?"));
}

#[test]
fn a_request_that_does_not_fit_is_refused() {
    let refused = |request: Request| Plan::new(built_in(), &request).unwrap_err().to_string();
    let unknown = refused(Request { figures: vec!["fig44".to_owned()], ..Request::default() });
    assert!(unknown.contains("did you mean `fig4`?"), "{unknown}");
    assert!(
        refused(Request { scale: Some("2".to_owned()), ..Request::default() })
            .contains("found the scale `2`")
    );
    let settings = vec![("speed".to_owned(), "9".to_owned())];
    assert!(
        refused(Request { settings, ..Request::default() }).contains("no workload has the setting `speed`")
    );
    let graphs = Some(PathBuf::from("no such folder"));
    assert!(refused(Request { graphs, ..Request::default() }).contains("the path is not a folder"));
}

#[test]
fn a_graph_file_replaces_its_stand_in() {
    let folder = scratch("graphs");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("c-68.gr"), "p sp 3 2\na 1 2 5\na 2 3 5\n").unwrap();
    let request = Request {
        figures: vec!["fig4".to_owned()],
        seeds: Some(1),
        graphs: Some(folder.clone()),
        ..Request::default()
    };
    let plan_of = || plan(&request).runs().map(|(key, task)| (key.clone(), task.clone())).collect::<Vec<_>>();
    let before = plan_of();
    let (_, task) = before.iter().find(|(key, _)| key.input == "SSSP-3").unwrap();
    let graph = task.input.as_ref().unwrap();
    assert!(graph.name.ends_with("c-68.gr") && graph.scale.is_none());
    fs::write(folder.join("c-68.gr"), "p sp 3 2\na 1 2 5\na 2 3 6\n").unwrap();
    let changed = plan_of().iter().zip(&before).filter(|(a, b)| a.1.id != b.1.id).count();
    assert_eq!(
        changed,
        before.iter().filter(|(key, _)| matches!(key.input.as_str(), "SSSP-3" | "PR-2")).count()
    );
    let scaled = Request { scale: Some("1/2".to_owned()), ..request };
    let message = Plan::new(built_in(), &scaled).unwrap_err().to_string();
    assert!(message.contains("c-68.gr is a file and has no scale 1/2"), "{message}");
}
