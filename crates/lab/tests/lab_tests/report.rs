//! Checks that HTML reports are self-contained, show every number, and escape every name.

use lab::report::{of_difference, of_results};
use lab::results::*;
use lab::{Difference, Part};

const HOSTILE: &str = "</title></svg></script><script>alert(1)</script><img src=x onerror='a'>\"&\u{0}";

fn interval(mean: f64) -> Option<Interval> {
    Some(Interval { mean, low: mean * 0.9, high: mean * 1.1 })
}

fn figure(name: &str, shape: Shape) -> Figure {
    let parts =
        if shape == Shape::Bars { vec![name.to_owned()] } else { vec![name.to_owned(), "second".to_owned()] };
    let bar = |scenario: &str, values: Vec<Option<Interval>>| Bar {
        scenario: scenario.to_owned(),
        published_range: None,
        published: if shape == Shape::Table { vec![Some(95.5), None] } else { Vec::new() },
        missing: values.contains(&None).then(|| name.to_owned()),
        values,
    };
    let group = |label: &str, is_mean| Group {
        label: label.to_owned(),
        is_mean,
        bars: vec![
            bar(name, parts.iter().map(|_| interval(1.25)).collect()),
            bar("other", parts.iter().map(|_| interval(0.5)).collect()),
            bar("gone", parts.iter().map(|_| None).collect()),
        ],
    };
    Figure {
        id: name.to_owned(),
        title: name.to_owned(),
        place: name.to_owned(),
        shape,
        unit: format!("speedup over {name}"),
        groups: vec![group(name, false), group("mean", true)],
        parts,
    }
}

fn row(scenario: &str, cycles: u64) -> Row {
    let mut counters: std::collections::BTreeMap<String, u64> =
        sim_causes().into_iter().map(|cause| (format!("cycles.{cause}"), 0)).collect();
    counters.insert("cycles.load".to_owned(), cycles);
    let key = RowKey {
        variant: "base".to_owned(),
        scenario: scenario.to_owned(),
        input: "SSSP-1".to_owned(),
        seed: 1,
    };
    let measured = Measured { cycles, answer_ok: true, counters, ..Measured::default() };
    Row { key, system: "hlrc-8cu".to_owned(), measured }
}

fn sim_causes() -> Vec<&'static str> {
    use proto::Symbol as _;
    sim::attribution::Cause::ALL.iter().map(|cause| cause.key()).collect()
}

fn results(name: &str) -> Results {
    let owned = || name.to_owned();
    Results {
        paper: owned(),
        title: owned(),
        scale: "1/16".to_owned(),
        seeds: vec![1],
        code: owned(),
        settings: [(owned(), owned())].into(),
        scenarios: ["first", name]
            .map(|name| ScenarioDescription {
                name: name.to_owned(),
                protocol: owned(),
                policy: owned(),
                summary: owned(),
            })
            .into(),
        inputs: vec![InputDescription {
            name: "SSSP-1".to_owned(),
            workload: owned(),
            graph: owned(),
            stand_in: true,
            source: owned(),
        }],
        variants: vec![VariantDescription {
            name: owned(),
            system: owned(),
            changes: Vec::new(),
            is_unsound: false,
            parameters: vec![(owned(), owned())],
        }],
        rows: vec![row("first", 2000), row(name, 1500)],
        figures: [Shape::Bars, Shape::Stacks, Shape::Table].map(|shape| figure(name, shape)).into(),
        claims: vec![Scored {
            id: owned(),
            kind: "number".to_owned(),
            published: serde_json::json!(1.29),
            measured: serde_json::json!(name),
            status: Status::Direction,
            would_be: None,
            place: owned(),
            says: owned(),
            measure: owned(),
            interval: Some([1.2, 1.4]),
            geometric: Some(1.27),
            worst_input: None,
            stand_ins: vec!["SSSP-1".to_owned()],
            seeds: 1,
            note: Some(owned()),
            variants: vec![VariantStatus { variant: owned(), status: Status::Contradicted }],
        }],
    }
}

fn difference(name: &str) -> Difference {
    Difference {
        machine: Default::default(),
        system: name.to_owned(),
        workload: name.to_owned(),
        seed: 0,
        a: name.to_owned(),
        b: "B".to_owned(),
        cycles_a: 10,
        cycles_b: 30,
        answer_ok_a: true,
        answer_ok_b: true,
        parts: vec![Part {
            cause: name.to_owned(),
            meaning: name.to_owned(),
            cycles: 20,
            cycles_a: 10,
            cycles_b: 30,
        }],
    }
}

/// The texts of all HTML tags of a page, with their attributes.
fn tags(page: &str) -> Vec<String> {
    let starts = page.match_indices('<').map(|(at, _)| &page[at..]);
    starts.map(|rest| rest[..=rest.find('>').unwrap()].to_owned()).collect()
}

#[test]
fn a_hostile_name_stays_text_and_fetches_no_resource() {
    for page in [of_results(&results(HOSTILE)), of_difference(&difference(HOSTILE))] {
        assert!(!page.contains('\u{0}'));
        for tag in tags(&page) {
            // A name of the test may be the value of an attribute. So text between quotes does not
            // count as a part of the tag.
            let names: String = tag.split('"').step_by(2).collect();
            for forbidden in
                ["<script", "</script", "<img", "<link", "<iframe", "<object", " src=", " onerror"]
            {
                assert!(!names.contains(forbidden), "{tag}");
            }
            if let Some((_, target)) = tag.split_once("href=\"") {
                assert!(target.starts_with('#'), "{tag}");
            }
            if let Some((_, target)) = tag.split_once("url(") {
                assert!(target.starts_with('#'), "{tag}");
            }
        }
        assert!(!page.contains("://") && !page.contains("@import"));
        let opened = page.matches("<svg").count();
        assert!(opened > 1 && opened == page.matches("</svg>").count());
    }
}

#[test]
fn a_claim_keeps_the_digits_that_decide_and_a_scaled_one_gives_no_verdict_at_full_size() {
    let mut results = results("plain");
    let claim = &mut results.claims[0];
    claim.measured = serde_json::json!(1.003);
    claim.published = serde_json::json!([1.03, 1.1]);
    claim.interval = Some([0.9996, 1.0298]);
    (claim.status, claim.would_be) = (Status::Indicative, Some(Status::Inconclusive));
    let page = of_results(&results);
    assert!(page.contains("1.0030 (0.9996 to 1.0298)"), "{page}");
    assert!(
        page.contains(
            "indicative</span><div class=\"note\">scaled input; with the published size, these values would score: incon"
        ),
        "{page}"
    );
    assert!(!page.contains("full size"), "{page}");
}

#[test]
fn every_link_of_a_report_leads_somewhere_in_it() {
    let page = of_results(&results("plain"));
    let links: Vec<_> = tags(&page)
        .iter()
        .filter_map(|tag| Some(tag.split_once("href=\"#")?.1.split('"').next()?.to_owned()))
        .collect();
    assert!(links.len() >= 6);
    for link in links {
        assert!(page.contains(&format!("id=\"{link}\"")), "{link}");
    }
}

#[test]
fn titles_distinguish_figures_of_one_place() {
    let mut results = results("plain");
    let first = results.figures[0].clone();
    results.figures.push(Figure { id: "second".to_owned(), title: "Second".to_owned(), ..first.clone() });
    let page = of_results(&results);
    let contents = page.split("<nav").nth(1).unwrap().split("</nav>").next().unwrap();
    assert!(contents.contains(">Second</a>"), "{contents}");
    assert!(contents.contains(&format!(">{}</a>", first.title)), "{contents}");
}

#[test]
fn numbers_stand_below_the_figures_and_claims_beside_ours() {
    let mut plain = results("plain");
    plain.claims[0].measured = serde_json::json!(1.3);
    let page = of_results(&plain);
    // The texts are the value 1.25 with its interval, a bar with two parts, the published share,
    // and the claim.
    for text in [
        "1.25 (1.12 to 1.38)",
        ">2.50<",
        "[95.5]",
        ">1.29<",
        ">1.30 (1.20 to 1.40); geometric 1.27<",
        "direction",
    ] {
        assert!(page.contains(text), "{text}");
    }
    // The page has the waterfall chart of the difference between the first scenario and the other
    // scenario.
    assert!(page.contains("first to plain") && page.contains("\u{2212}500"));
    assert!(page.contains("scaled down"));
    assert!(!of_results(&Results { scale: "1".to_owned(), ..results("plain") }).contains("scaled down"));
}

#[test]
fn an_order_says_how_many_of_its_comparisons_hold() {
    let mut results = results("x");
    let compared = |holds: bool| serde_json::json!({ "comparison": "a < b", "input": "x", "holds": holds });
    results.claims[0].measured = serde_json::json!([compared(true), compared(false), compared(true)]);
    results.claims[0].interval = None;
    let page = of_results(&results);
    assert!(page.contains(">2 of 3 hold") && !page.contains("comparison&quot;"), "{page}");
}

#[test]
fn a_report_can_be_rebuilt_from_its_results_as_json() {
    let before = results("plain");
    let text = serde_json::to_string(&before).unwrap();
    let after: Results = serde_json::from_str(&text).unwrap();
    assert_eq!(before, after);
    assert_eq!(of_results(&before), of_results(&after));
}

#[test]
fn an_empty_reproduction_has_a_report_too() {
    assert!(of_results(&Results::default()).ends_with("</html>\n"));
}
