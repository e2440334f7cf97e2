//! Checks that the pictures of reports are legible: no text leaves its picture or overlaps other
//! text, neither on a wide page nor on a screen of 400 pixels.

use lab::report::{of_difference, of_results};
use lab::results::*;
use lab::{Difference, Part};

fn figure(id: &str, shape: Shape, labels: &[&str], scenarios: &[&str], value: fn(usize) -> f64) -> Figure {
    let parts = if shape == Shape::Stacks { 3 } else { 1 };
    let bar = |at: usize, scenario: &str| {
        let of = |mean: f64| Some(Interval { mean, low: mean * 0.97, high: mean * 1.03 });
        Bar {
            scenario: scenario.to_owned(),
            values: (0..parts).map(|part| of(value(at) / (part + 1) as f64)).collect(),
            published: if at % 4 == 1 { vec![Some(1.1)] } else { Vec::new() },
            published_range: (at % 4 == 2).then_some([1.03, 1.1]),
            missing: None,
        }
    };
    let group = |(number, label): (usize, &&str)| Group {
        label: (*label).to_owned(),
        is_mean: label.contains("mean"),
        bars: scenarios
            .iter()
            .enumerate()
            .map(|(at, name)| bar(number * scenarios.len() + at, name))
            .collect(),
    };
    Figure {
        id: id.to_owned(),
        title: id.to_owned(),
        place: format!("Fig. {id}"),
        shape,
        unit: "speedup over baseline on the same machine, mean over the inputs".to_owned(),
        parts: ["kernel start", "acquire", "remote"][..parts].iter().map(|part| (*part).to_owned()).collect(),
        groups: labels.iter().enumerate().map(group).collect(),
    }
}

const INPUTS: [&str; 11] = [
    "SSSP-1",
    "SSSP-2",
    "SSSP-3",
    "color-1",
    "color-2",
    "color-3",
    "PR-1",
    "PR-2",
    "PR-3",
    "mean",
    "geometric mean",
];
const MACHINES: [&str; 5] =
    ["hlrc-8cu, 8 CUs", "hlrc-128cu, 128 CUs", "invalidate-16", "a-machine-with-a-very-long-name", "drain 4"];
const SCENARIOS: [&str; 6] = ["baseline", "scope-only", "steal-only", "rsp", "denovo-b", "hlrc-repaired"];

fn page() -> String {
    let like_paper = |at: usize| 0.8 + (at % 7) as f64 * 0.1;
    let results =
        Results {
            title: "A paper".to_owned(),
            scale: "1".to_owned(),
            seeds: vec![1, 2, 3],
            figures: vec![
                figure("4", Shape::Bars, &INPUTS, &SCENARIOS, like_paper),
                figure("1", Shape::Bars, &MACHINES, &SCENARIOS[..4], like_paper),
                figure("large", Shape::Bars, &INPUTS, &SCENARIOS, |at| 1_234_567.0 * (at + 1) as f64),
                figure("cut", Shape::Bars, &INPUTS, &SCENARIOS, |at| {
                    if at.is_multiple_of(6) { 127.0 } else { 1.0 }
                }),
                figure("5", Shape::Stacks, &INPUTS, &SCENARIOS, like_paper),
                figure("many", Shape::Bars, &MACHINES[..1], &[SCENARIOS; 10].concat(), like_paper),
            ],
            ..Results::default()
        };
    of_results(&results) + &differences()
}

/// HTML pages with waterfall charts of the causes of a difference in cycles. The first chart has a
/// large cause and small causes, the second shows almost no difference, and the third has two large
/// causes.
fn differences() -> String {
    let of = |a: &str, cycles: &[i64]| {
        let names = ["queue-dram", "local-memory", "imbalance", "acquire", "load", "host", "issue"];
        let parts = names.iter().zip(cycles).map(|(name, cycles)| Part {
            cause: (*name).to_owned(),
            meaning: (*name).to_owned(),
            cycles: *cycles,
            cycles_a: 1_000_000,
            cycles_b: (1_000_000 + cycles) as u64,
        });
        of_difference(&Difference {
            machine: Default::default(),
            system: "s".to_owned(),
            workload: "w".to_owned(),
            seed: 0,
            a: a.to_owned(),
            b: "vi".to_owned(),
            cycles_a: 7_000_000,
            cycles_b: (7_000_000 + cycles.iter().sum::<i64>()) as u64,
            answer_ok_a: true,
            answer_ok_b: true,
            parts: parts.collect(),
        })
    };
    of("vi+work-group+same-cu+a-policy-with-a-very-long-name", &[-900_000, 3000, -800, 77, 12, -3, 1])
        + &of("no-l1", &[90, -70, 30, -20, 10, 5, 1])
        + &of("rsp", &[6_000_000, -900_000])
}

/// A text in a picture, with its box: left, top, right, bottom.
struct Letters {
    place: [f64; 4],
    text: String,
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let from = tag.find(&format!(" {name}=\""))? + name.len() + 3;
    tag[from..].split('"').next()
}

fn number(tag: &str, name: &str) -> f64 {
    attribute(tag, name).unwrap_or_else(|| panic!("{name} in {tag}")).parse().unwrap()
}

/// An estimate of the width of a text in common sans-serif fonts. On average a letter is a little
/// wider than half of the font's size.
fn estimated_width(text: &str, size: f64) -> f64 {
    size * 0.54 * text.chars().count() as f64
}

fn letters(svg: &str) -> Vec<Letters> {
    let tags = svg.lines().filter(|line| line.starts_with("<text"));
    let of = |tag: &str| {
        let text = tag.split('>').nth(1).unwrap().split('<').next().unwrap().replace("&amp;", "&");
        let size = number(tag, "font-size");
        let width = estimated_width(&text, size);
        let (before, after) = match attribute(tag, "text-anchor").unwrap() {
            "start" => (0.0, width),
            "middle" => (width / 2.0, width / 2.0),
            _ => (width, 0.0),
        };
        // Letters are lower than the font's size.
        let (above, below) = (size * 0.75, size * 0.2);
        let place = match attribute(tag, "transform") {
            None => {
                let (x, y) = (number(tag, "x"), number(tag, "y"));
                [x - before, y - above, x + after, y + below]
            }
            Some(turned) => {
                assert!(turned.ends_with("rotate(-90)"), "{turned}");
                let inside = turned.split(['(', ')']).nth(1).unwrap();
                let (x, y) = inside.split_once(' ').unwrap();
                let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
                [x - above, y - after, x + below, y + before]
            }
        };
        Letters { place, text }
    };
    tags.map(of).collect()
}

/// The SVG text of every picture on the page, with its width and height. Small symbols are left
/// out.
fn pictures(page: &str) -> Vec<([f64; 2], &str)> {
    let starts = page.match_indices("<svg viewBox=\"0 0 ");
    let of = |(at, start): (usize, &str)| {
        let svg = &page[at..at + page[at..].find("</svg>").unwrap()];
        let size = svg[start.len()..].split('"').next().unwrap();
        let (width, height) = size.split_once(' ').unwrap();
        ([width.parse().unwrap(), height.parse().unwrap()], svg)
    };
    starts.map(of).filter(|([width, _], _)| *width > 20.0).collect()
}

#[test]
fn texts_stay_within_their_picture_and_do_not_overlap() {
    let page = page();
    let pictures = pictures(&page);
    assert_eq!(pictures.len(), 2 * (6 + 3));
    for ([width, height], svg) in pictures {
        let all = letters(svg);
        assert!(all.len() > 5, "{svg}");
        for (at, here) in all.iter().enumerate() {
            let [left, top, right, bottom] = here.place;
            let is_inside = left >= -0.5 && top >= -0.5 && right <= width + 0.5 && bottom <= height + 0.5;
            assert!(is_inside, "`{}` at {:?} leaves {width} x {height}:\n{svg}", here.text, here.place);
            for other in &all[at + 1..] {
                let o = other.place;
                let is_apart = right <= o[0] || o[2] <= left || bottom <= o[1] || o[3] <= top;
                assert!(
                    is_apart,
                    "`{}` at {:?} and `{}` at {o:?} meet in a picture of {width}:\n{svg}",
                    here.text, here.place, other.text
                );
            }
        }
    }
}

#[test]
fn a_screen_of_400_pixels_has_its_own_pictures_with_text_of_full_size() {
    let page = page();
    // The page leaves 0.9rem beside the text on both sides of such a screen.
    let room = 400.0 - 2.0 * 0.9 * 16.0;
    let slim: Vec<_> = pictures(&page).into_iter().filter(|([width, _], _)| *width < 500.0).collect();
    assert_eq!(slim.len(), 9);
    for ([width, _], svg) in slim {
        for tag in svg.lines().filter(|line| line.starts_with("<text")) {
            assert!(number(tag, "font-size") * room / width >= 10.0, "{tag}");
        }
    }
    assert_eq!(page.matches("<div class=\"slim\">").count(), page.matches("<div class=\"broad\">").count());
    for rule in
        [".slim { display: none; }", "(max-width: 52rem)", ".broad { display: none; }", "attr(data-label)"]
    {
        assert!(page.contains(rule), "{rule}");
    }
}

#[test]
fn marks_are_explained_only_beside_figures_that_have_them() {
    let page = page();
    let section = |id: &str| {
        let from = page.find(&format!("<h2 id=\"figure-{id}\"")).unwrap();
        &page[from..from + page[from..].find("</figure>").unwrap()]
    };
    let bars = section("4");
    assert!(bars.contains("95% interval</li>") && bars.contains("published</li>"), "{bars}");
    assert!(
        bars.contains("means over 3 seeds")
            && bars.contains("Student")
            && bars.contains("Diamonds that are joined"),
        "{bars}"
    );
    assert!(bars.contains("1.03 to 1.10 published"), "a range is two diamonds");
    assert!(!section("5").contains("95% interval</li>"), "stacks have no error bars");
    assert!(section("cut").contains("A number with an arrow") && !bars.contains("A number with an arrow"));
    let mut plain = Results { seeds: vec![1], ..Results::default() };
    let mut without = figure("plain", Shape::Bars, &["A"], &["B"], |_| 1.0);
    without.groups[0].bars[0].values[0] = Some(Interval { mean: 1.0, low: 1.0, high: 1.0 });
    plain.figures = vec![without];
    let page = of_results(&plain);
    assert!(page.contains("One seed: bars have no interval.") && !page.contains("95% interval</li>"));
    assert!(!page.contains("published</li>") && !page.contains("Diamonds"));
}
