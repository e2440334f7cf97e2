//! Writes the HTML page of the command `fencepost compare`.

use proto::words::{counted, plural};

use super::chart::{self, fill_of};
use super::escape::escape;
use super::html::{Cell, Page, Table};
use super::number::{count, short};
use super::paper::{INTERVALS, marks_note, show_drawing};
use crate::comparison::{Comparison, Row};
use crate::results::{Bar, Figure, Group, Interval, Shape};

/// The figures on the HTML page of a comparison. Each entry has the title of a figure and the
/// beginning of the text that describes its unit.
const DRAWN: [(&str, &str); 3] = [
    ("Speedup", "speedup over"),
    ("Traffic", "bytes on the network, relative to"),
    ("Energy", "energy, relative to"),
];

/// The HTML page of a comparison of scenarios.
#[must_use]
pub fn of_comparison(comparison: &Comparison) -> String {
    let mut scenarios: Vec<&str> = Vec::new();
    for row in &comparison.rows {
        if !scenarios.contains(&row.scenario.as_str()) {
            scenarios.push(&row.scenario);
        }
    }
    let title = scenarios.join(", ");
    let mut page = Page::new(&title);
    page.element("h1", &title);
    let seeds: Vec<String> = comparison.seeds.iter().map(u64::to_string).collect();
    let word = plural(seeds.len() as u64, "seed");
    let lead = format!(
        "On {}, {word} {}.",
        comparison.machine.after(&comparison.systems.join(", ")),
        seeds.join(", ")
    );
    page.raw(&format!("<p class=\"lead\">{}</p>\n", escape(&lead)));
    let failed = comparison.rows.iter().filter(|row| !row.answer_ok).count();
    if failed > 0 {
        let rows = counted(comparison.rows.len() as u64, "row");
        let text = format!("{failed} of {rows} have no right answer, so they have no bar.");
        page.raw(&format!("<p class=\"warning\">{}</p>\n", escape(&text)));
    }
    for at in 0..DRAWN.len() {
        let figure = figure(comparison, &scenarios, at);
        page.heading(&figure.id, &figure.title);
        let series: Vec<_> =
            chart::scenarios(&figure).into_iter().map(|name| (name, fill_of(name, &scenarios))).collect();
        show_drawing(&mut page, &figure, &scenarios, &series, &caption(comparison, &figure));
    }
    page.heading("numbers", "Numbers");
    page.table(&numbers(comparison));
    page.finish()
}

fn caption(comparison: &Comparison, figure: &Figure) -> String {
    let text = match comparison.seeds.len() {
        0 | 1 => String::from("One seed: bars have no interval."),
        seeds => format!(
            "Bars are means, over {seeds} seeds, of the quotient of two runs with the same seed; {INTERVALS}."
        ),
    };
    text + marks_note(figure)
}

fn figure(comparison: &Comparison, scenarios: &[&str], at: usize) -> Figure {
    let (title, unit) = DRAWN[at];
    let several = comparison.systems.len() > 1;
    let label = |of: &str, system: &str| if several { format!("{of}, {system}") } else { of.to_owned() };
    let pick = |speedup: Option<Interval>, relative: [Option<Interval>; 2]| match at {
        0 => speedup,
        at => relative[at - 1],
    };
    let bar = |scenario: &str, value: Option<Interval>, missing: &dyn Fn() -> String| Bar {
        scenario: scenario.to_owned(),
        values: vec![value],
        published: Vec::new(),
        published_range: None,
        missing: value.is_none().then(missing),
    };
    let of_row = |row: &Row| {
        let one = |value: f64| Interval { mean: value, low: value, high: value };
        let speedup = row.intervals.map_or(row.speedup.map(one), |intervals| intervals.speedup);
        let why = || row.error.clone().unwrap_or_else(|| "the baseline lacks this value".to_owned());
        bar(&row.scenario, pick(speedup, row.relative), &why)
    };
    let mut groups: Vec<Group> = Vec::new();
    for rows in comparison.rows.chunks(scenarios.len().max(1)) {
        let label = label(rows[0].workload, &rows[0].system);
        groups.push(Group { label, is_mean: false, bars: rows.iter().map(of_row).collect() });
    }
    for system in &comparison.systems {
        let means: Vec<_> = comparison.means.iter().filter(|mean| mean.system == *system).collect();
        let bars = means.iter().map(|mean| {
            let one = Interval { mean: mean.speedup, low: mean.speedup, high: mean.speedup };
            bar(&mean.scenario, pick(Some(mean.interval.unwrap_or(one)), mean.relative), &String::new)
        });
        if !means.is_empty() {
            groups.push(Group {
                label: label("geometric mean", system),
                is_mean: true,
                bars: bars.collect(),
            });
        }
    }
    let first = scenarios.first().copied().unwrap_or_default();
    let same = if several { " on the same machine" } else { "" };
    Figure {
        id: title.to_lowercase(),
        title: title.to_owned(),
        place: String::new(),
        shape: Shape::Bars,
        unit: format!("{unit} {first}{same}"),
        parts: vec![title.to_owned()],
        groups,
    }
}

/// The table with all numbers of the comparison.
fn numbers(comparison: &Comparison) -> Table {
    let with = |text: String, interval: Option<Interval>| match interval.filter(|i| i.high > i.low) {
        Some(interval) => Cell::Number(chart::with_interval(&interval)),
        None => Cell::Number(text),
    };
    let row = |row: &Row| {
        let intervals = row.intervals.filter(|_| row.is_counted);
        let counted = |text: String| if row.is_counted { text } else { "-".to_owned() };
        vec![
            Cell::from(row.workload),
            Cell::from(row.system.as_str()),
            Cell::from(row.scenario.as_str()),
            with(count(row.cycles), row.intervals.map(|i| i.cycles)),
            with(counted(count(row.traffic_bytes)), intervals.map(|i| i.traffic_bytes)),
            with(counted(short(row.energy_pj / 1000.0)), None),
            with(row.speedup.map_or_else(|| "-".to_owned(), short), row.intervals.and_then(|i| i.speedup)),
            Cell::from(if row.answer_ok { "right" } else { "WRONG" }),
        ]
    };
    let headings =
        ["workload", "machine", "scenario", "cycles", "traffic, bytes", "energy, nJ", "speedup", "answer"];
    let is_mean =
        if comparison.seeds.len() > 1 { "means over the seeds; 95% intervals in parentheses" } else { "" };
    Table {
        caption: is_mean.to_owned(),
        headings: headings.map(str::to_owned).into(),
        rows: comparison.rows.iter().map(row).collect(),
        is_cards: true,
    }
}
