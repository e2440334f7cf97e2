//! Writes the HTML page of a study's results.

use core::fmt::Write as _;

use proto::words::{counted, plural};
use serde_json::{Map, Value};

use super::chart;
use super::escape::escape;
use super::html::{Cell, Page, Table, details};
use super::lines::{self, Lines, Point, Series};
use super::number::short;
use super::paper::{INTERVALS, marks_note, show_drawing};
use super::svg::{CROSS, ERROR_BAR, Fill, line_swatch};
use super::view::both;
use crate::results::{Bar, Figure, Group, Interval, Shape};
use crate::study::{AxisKind, Chart, ChartFigure, ChartPoint, StudyResults, plain};

/// The HTML page of a study's results.
#[must_use]
pub fn of_study(results: &StudyResults) -> String {
    let mut page = Page::new(&results.study);
    head(&mut page, results);
    for (at, chart) in results.charts.iter().enumerate() {
        show_chart(&mut page, results, at, chart);
    }
    conditions(&mut page, results);
    page.finish()
}

fn head(page: &mut Page, results: &StudyResults) {
    page.element("h1", &results.study);
    let (runs, seeds) = (results.rows.len() as u64, results.seeds.len() as u64);
    let listed: Vec<String> = results.seeds.iter().map(u64::to_string).collect();
    let lead = format!(
        "{} with {} {}. Program {}.",
        counted(runs, "run"),
        plural(seeds, "seed"),
        listed.join(", "),
        results.code
    );
    page.raw(&format!("<p class=\"lead\">{}</p>\n", escape(&lead)));
    let failures: Vec<String> = results.failures().collect();
    if !failures.is_empty() {
        let text = format!(
            "{} of {} gave no right answer. The figures leave these runs out.",
            failures.len(),
            counted(runs, "run")
        );
        page.raw(&format!("<p class=\"warning\">{}</p>\n", escape(&text)));
        let mut list = String::from("<ul>\n");
        for failure in &failures {
            // Writing to a string cannot fail.
            writeln!(list, "<li>{}</li>", escape(failure)).ok();
        }
        page.raw(&details("Runs without a right answer", &(list + "</ul>\n")));
    }
    page.raw("<nav aria-label=\"Contents\"><ul>\n");
    for (at, chart) in results.charts.iter().enumerate() {
        page.raw(&format!("<li><a href=\"#chart-{}\">{}</a></li>\n", at + 1, escape(&chart.title)));
    }
    page.raw("<li><a href=\"#conditions\">What was run</a></li>\n</ul></nav>\n");
}

/// The names of the series (lines or kinds of bars) of a chart, in the order in which they first
/// appear in a figure. The order determines the colours, so a series has the same colour in all
/// figures.
fn series_of(chart: &Chart) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for point in chart.figures.iter().flat_map(|figure| &figure.points) {
        if !names.contains(&point.series.as_str()) {
            names.push(&point.series);
        }
    }
    names
}

fn show_chart(page: &mut Page, results: &StudyResults, at: usize, chart: &Chart) {
    page.heading(&format!("chart-{}", at + 1), &chart.title);
    let series = series_of(chart);
    for figure in &chart.figures {
        let title = at_text(&figure.at);
        if !title.is_empty() {
            page.element("h3", &title);
        }
        let drawn = as_figure(chart, figure);
        if chart.is_lines {
            show_lines(page, &as_lines(chart, figure, &series), results.seeds.len());
        } else {
            let fills: Vec<(&str, Fill)> = chart::scenarios(&drawn)
                .into_iter()
                .map(|name| (name, chart::fill_of(name, &series)))
                .collect();
            let caption = seeds_note("Bars", results.seeds.len()) + marks_note(&drawn);
            show_drawing(page, &drawn, &series, &fills, &caption);
        }
        page.raw(&details("Numbers", &numbers(chart, &drawn).html()));
    }
}

/// The text of the axis values that all points of a figure have in common: names and values.
pub(crate) fn at_text(at: &Map<String, Value>) -> String {
    let parts: Vec<String> = at.iter().map(|(name, value)| format!("{name} {}", plain(value))).collect();
    parts.join(", ")
}

fn seeds_note(what: &str, seeds: usize) -> String {
    match seeds {
        0 | 1 => format!("One seed: {} have no interval.", what.to_lowercase()),
        seeds => format!("{what} are means over {seeds} seeds; {INTERVALS}."),
    }
}

fn show_lines(page: &mut Page, lines: &Lines, seeds: usize) {
    page.raw("<ul class=\"legend\">\n");
    for series in &lines.series {
        page.raw(&format!("<li>{}{}</li>\n", line_swatch(series.fill), escape(&series.name)));
    }
    let marks =
        [(lines.has_intervals(), ERROR_BAR, "95% interval"), (lines.has_missing(), CROSS, "no right answer")];
    for (_, sign, name) in marks.iter().filter(|(is_there, ..)| *is_there) {
        page.raw(&format!("<li>{sign}{}</li>\n", escape(name)));
    }
    page.raw("</ul>\n<figure>\n");
    page.raw(&both(|view| lines::draw(lines, view)));
    let caption = seeds_note("Points", seeds) + &lines.about_axis();
    page.raw(&format!("<figcaption>{}</figcaption>\n</figure>\n", escape(&caption)));
}

fn as_lines(chart: &Chart, figure: &ChartFigure, series: &[&str]) -> Lines {
    let point = |point: &ChartPoint| Point {
        x: point.x.as_f64().unwrap_or(0.0),
        label: number(&chart.x, &point.x),
        value: point.value,
        missing: point.missing.clone().unwrap_or_default(),
    };
    let one = |(at, name): (usize, &&str)| {
        let points: Vec<Point> =
            figure.points.iter().filter(|point| point.series == **name).map(point).collect();
        (!points.is_empty()).then(|| Series { name: (*name).to_owned(), fill: Fill(at), points })
    };
    let at = at_text(&figure.at);
    let title = if at.is_empty() { chart.title.clone() } else { format!("{}, {at}", chart.title) };
    Lines {
        title,
        x: chart.x.clone(),
        unit: chart.unit.clone(),
        is_log: chart.is_log,
        series: series.iter().enumerate().filter_map(one).collect(),
    }
}

/// The text of a value of a study's axis. Whole numbers of bytes get the unit KiB or MiB if they
/// are multiples of it. Other whole numbers get commas.
pub(crate) fn number(axis: &str, value: &Value) -> String {
    let Some(whole) = value.as_u64() else { return plain(value) };
    let is_bytes = axis.rsplit('.').next().is_some_and(|name| name == "bytes" || name.ends_with("_bytes"));
    match whole {
        1.. if is_bytes && whole.is_multiple_of(1 << 20) => format!("{} MiB", whole >> 20),
        1.. if is_bytes && whole.is_multiple_of(1 << 10) => format!("{} KiB", whole >> 10),
        _ => super::number::count(whole),
    }
}

/// Converts a figure of a study to groups of bars, one group for each horizontal position.
pub(crate) fn as_figure(chart: &Chart, figure: &ChartFigure) -> Figure {
    let mut groups: Vec<(Value, Group)> = Vec::new();
    for point in &figure.points {
        let bar = Bar {
            scenario: point.series.clone(),
            values: vec![point.value],
            published: Vec::new(),
            published_range: None,
            missing: point.missing.clone(),
        };
        match groups.iter_mut().find(|(x, _)| *x == point.x) {
            Some((_, group)) => group.bars.push(bar),
            None => {
                let label = number(&chart.x, &point.x);
                groups.push((point.x.clone(), Group { label, is_mean: false, bars: vec![bar] }));
            }
        }
    }
    Figure {
        id: String::new(),
        title: chart.title.clone(),
        place: String::new(),
        shape: Shape::Bars,
        unit: chart.unit.clone(),
        parts: vec![chart.y.clone()],
        groups: groups.into_iter().map(|(_, group)| group).collect(),
    }
}

/// The table with the numbers of a figure. The table has a row for each position on the horizontal
/// axis and a column for each series.
fn numbers(chart: &Chart, figure: &Figure) -> Table {
    let series = chart::scenarios(figure);
    let row = |group: &Group| {
        let mut cells = vec![Cell::from(group.label.as_str())];
        for name in &series {
            let bar = group.bars.iter().find(|bar| bar.scenario == *name);
            let text = match bar.and_then(|bar| bar.values[0]) {
                Some(value) => chart::with_interval(&value),
                None => bar.and_then(|bar| bar.missing.clone()).unwrap_or_else(|| "-".to_owned()),
            };
            cells.push(Cell::Number(text));
        }
        cells
    };
    let is_interval = |value: &Interval| value.high > value.low;
    let has_intervals = figure
        .groups
        .iter()
        .flat_map(|group| &group.bars)
        .filter_map(|bar| bar.values[0])
        .any(|v| is_interval(&v));
    let intervals = if has_intervals { "; 95% intervals in parentheses" } else { "" };
    let mut headings = vec![chart.x.clone()];
    headings.extend(series.iter().map(|name| (*name).to_owned()));
    let rows = figure.groups.iter().map(row).collect();
    Table { caption: format!("{}{intervals}", chart.unit), headings, rows, is_cards: true }
}

fn conditions(page: &mut Page, results: &StudyResults) {
    page.heading("conditions", "What was run");
    let headings = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let axis = |axis: &crate::study::StudiedAxis| {
        let values: Vec<String> = axis.values.iter().map(plain).collect();
        let kind = match axis.kind {
            AxisKind::Machine => "parameter of the machine",
            AxisKind::Setting => "setting of the workload",
            AxisKind::System => "machine",
            AxisKind::Variant => "group of changes",
            AxisKind::Workload => "workload",
            AxisKind::Input => "input",
            AxisKind::Scenario => "scenario",
        };
        vec![Cell::from(axis.name.as_str()), Cell::from(kind), Cell::Text(values.join(", "))]
    };
    page.table(&Table {
        caption: "Every combination of these values was run with every seed".to_owned(),
        headings: headings(&["name", "what it is", "values"]),
        rows: results.axes.iter().map(axis).collect(),
        ..Table::default()
    });
    let text = |texts: [&str; 3]| texts.map(Cell::from).into();
    page.table(&Table {
        caption: "Scenarios".to_owned(),
        headings: headings(&["scenario", "protocol", "policy"]),
        rows: results.scenarios.iter().map(|s| text([&s.name, &s.protocol, &s.policy])).collect(),
        ..Table::default()
    });
    if !results.inputs.is_empty() {
        page.table(&Table {
            caption: "Inputs".to_owned(),
            headings: headings(&["input", "workload", "contents"]),
            rows: results.inputs.iter().map(|i| text([&i.name, &i.workload, &i.contents])).collect(),
            ..Table::default()
        });
    }
    page.raw(&details("All runs", &runs(results).html()));
    for machine in &results.machines {
        let table = Table {
            headings: headings(&["parameter", "value"]),
            rows: machine
                .parameters
                .iter()
                .map(|(name, value)| vec![Cell::from(name.as_str()), Cell::from(value.as_str())])
                .collect(),
            ..Table::default()
        };
        page.raw(&details(&format!("Parameters of {} that do not vary", machine.name), &table.html()));
    }
}

/// The maximum number of runs that the HTML page of a study lists.
const RUNS_SHOWN: usize = 2000;

fn runs(results: &StudyResults) -> Table {
    let row = |row: &crate::study::StudyRow| {
        let pairs: Vec<String> =
            row.machine.iter().map(|(name, value)| format!("{name}={}", plain(value))).collect();
        let settings: Vec<String> =
            row.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let energy = row.measured.energy_pj.get("total").copied();
        let answer = match (row.measured.answer_ok, row.measured.is_misfit()) {
            (true, _) => "right",
            (false, true) => "does not fit",
            (false, false) => "WRONG",
        };
        vec![
            Cell::from(row.workload.as_str()),
            Cell::from(row.input.as_deref().unwrap_or_default()),
            Cell::from(row.system.as_str()),
            Cell::Text(pairs.join(" ")),
            Cell::from(row.scenario.as_str()),
            Cell::Text(settings.join(" ")),
            Cell::Number(row.seed.to_string()),
            Cell::Number(super::number::count(row.measured.cycles)),
            Cell::Number(energy.map_or_else(|| "-".to_owned(), |energy| short(energy / 1000.0))),
            Cell::from(answer),
        ]
    };
    let headings = [
        "workload",
        "input",
        "machine",
        "changed",
        "scenario",
        "settings",
        "seed",
        "cycles",
        "energy, nJ",
        "answer",
    ];
    let more = results.rows.len().saturating_sub(RUNS_SHOWN);
    let caption = match more {
        0 => String::new(),
        more => format!("the first {RUNS_SHOWN} runs; results.parquet has {more} more"),
    };
    Table {
        caption,
        headings: headings.map(str::to_owned).into(),
        rows: results.rows.iter().take(RUNS_SHOWN).map(row).collect(),
        is_cards: true,
    }
}
