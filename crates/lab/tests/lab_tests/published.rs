//! Checks that figures show published values beside the measured values, and that a figure that
//! compares machines labels each group of bars with the name of its machine.

use std::collections::BTreeMap;
use std::path::Path;

use lab::paper::{Paper, Plan, Request};
use lab::results::{Bar, Figure, Measured, Results, Row};
use lab::systems::Systems;

/// The figures of a paper, computed as if every run took the same time.
fn figures(paper: &str) -> Vec<Figure> {
    results(paper).figures
}

fn results(paper: &str) -> Results {
    let systems = Systems::with_folder("no such folder");
    let paper = Paper::load(paper, None, &systems).unwrap();
    let plan = Plan::new(paper, &Request { seeds: Some(1), ..Request::default() }).unwrap();
    let measured =
        Measured { cycles: 1000, answer_ok: true, counters: BTreeMap::new(), ..Measured::default() };
    let rows = plan.runs().map(|(key, _)| Row {
        key: key.clone(),
        system: String::new(),
        measured: measured.clone(),
    });
    plan.evaluate(rows.collect())
}

fn figure<'a>(figures: &'a [Figure], id: &str) -> &'a Figure {
    figures.iter().find(|figure| figure.id == id).unwrap()
}

fn bar<'a>(figure: &'a Figure, group: &str, scenario: &str) -> &'a Bar {
    let group =
        figure.groups.iter().find(|g| g.label == group).unwrap_or_else(|| panic!("{:?}", figure.groups));
    group.bars.iter().find(|bar| bar.scenario == scenario).unwrap()
}

/// The number under the key `key` of a claim in the claims file of a paper. `None` if the claim has
/// no such number.
fn claimed(paper: &str, id: &str, key: &str) -> Option<f64> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../claims/{paper}.toml"));
    let file: toml::Table = std::fs::read_to_string(path).unwrap().parse().unwrap();
    let claims = file["claim"].as_array().unwrap();
    let claim = claims.iter().find(|claim| claim["id"].as_str() == Some(id)).unwrap();
    claim.get(key)?.as_float()
}

#[test]
fn a_bar_shows_the_published_value_of_its_claim() {
    let figures = figures("hlrc");
    let fig4 = figure(&figures, "fig4");
    for scenario in ["scope-only", "steal-only", "rsp", "denovo-b", "hlrc"] {
        let value = claimed("hlrc", &format!("hlrc.fig4.{scenario}"), "value");
        assert!(value.is_some());
        assert_eq!(bar(fig4, "mean", scenario).published, [value], "{scenario}");
        // The published mean appears at no other bar: not at an input, not at
        // the geometric mean.
        assert!(bar(fig4, "SSSP-1", scenario).published.is_empty());
        assert!(bar(fig4, "geometric mean", scenario).published.is_empty());
    }
    assert!(bar(fig4, "mean", "baseline").published.is_empty());
    let noprio = claimed("hlrc", "hlrc.fig9.hlrc-noprio", "value");
    assert_eq!(bar(figure(&figures, "fig9"), "mean", "hlrc-noprio").published, [noprio]);
}

/// The readings compare variants in their columns, so the figure has no rows for each variant.
#[test]
fn a_chart_shows_only_the_variants_that_it_names() {
    let figures = figures("hrf");
    let readings = figure(&figures, "readings");
    let labels: Vec<&str> = readings.groups.iter().map(|group| group.label.as_str()).collect();
    assert_eq!(labels, ["T1", "T2", "T4", "T5", "mean"]);
    assert!(readings.groups.iter().all(|group| group.bars.len() == 1));
    let sensitivity = figure(&figures, "sensitivity");
    assert_eq!(sensitivity.groups.len(), 5);
}

#[test]
fn a_range_is_shown_at_each_claimed_input() {
    let figures = figures("hrf");
    let fig10 = figure(&figures, "fig10");
    let ends = ["low", "high"].map(|end| claimed("hrf", "hrf.fig10.uts", end).unwrap());
    for input in ["T1", "T2", "T4", "T5"] {
        assert_eq!(bar(fig10, input, "hrf-indirect").published_range, Some(ends));
        assert_eq!(bar(fig10, input, "hrf-direct").published_range, None);
    }
    assert_eq!(bar(fig10, "mean", "hrf-indirect").published_range, None);
}

#[test]
fn compared_machines_are_labelled_by_name() {
    let labels = |figure: &Figure| figure.groups.iter().map(|group| group.label.clone()).collect::<Vec<_>>();
    let figures = figures("hlrc");
    assert_eq!(labels(figure(&figures, "fig1")), ["hlrc-8cu, 8 CUs", "hlrc-128cu, 128 CUs"]);
    // A changed machine is labelled with the change.
    let labels = labels(figure(&figures, "sensitivity"));
    assert_eq!(labels[..2], ["unchanged", "invalidate-16"]);
}

#[test]
fn both_reports_print_published_values() {
    for (paper, published) in [("hlrc", "1.29"), ("hrf", "1.03 to 1.10")] {
        let results = results(paper);
        let page = lab::report::of_results(&results);
        assert!(
            page.contains("published</li>") && page.contains(&format!("{published} published")),
            "{paper}"
        );
        assert!(page.contains(&format!("[{published}]")), "{paper}: among the numbers");
    }
    let text = lab::markdown::report(&results("hlrc"));
    let row = text.lines().find(|line| line.starts_with("| mean, published")).unwrap();
    assert!(row.contains("| 1.070 |") && row.contains("| 1.290 |"), "{row}");
}
