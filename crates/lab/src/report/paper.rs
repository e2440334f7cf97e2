//! Writes the HTML report of a reproduced paper.

use core::fmt::Write;

use proto::words::{counted, plural};

use super::chart::{self, fill_of, with_interval, with_interval_apart};
use super::escape::escape;
use super::html::{Cell, Page, Table, details};
use super::number::{apart, as_published, as_written, short};
use super::svg::{DASHES, ERROR_BAR, Fill, PUBLISHED, swatch};
use super::view::both;
use super::{number, waterfall};
use crate::results::{Bar, Figure, Interval, Results, Row, Scored, Shape, Status};
use crate::why::{Account, Difference};

/// The name of the variant whose machine is the machine of the paper without changes.
const BASE: &str = "base";

/// The whole HTML report of a paper's results.
#[must_use]
pub fn of_results(results: &Results) -> String {
    let mut page = Page::new(&format!("{}: reproduced", results.title));
    head(&mut page, results);
    claims(&mut page, &results.claims);
    let colours: Vec<&str> = results.scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
    for figure in &results.figures {
        show_figure(&mut page, figure, &colours, results.seeds.len());
    }
    differences(&mut page, results);
    conditions(&mut page, results);
    page.finish()
}

fn head(page: &mut Page, results: &Results) {
    page.element("h1", &results.title);
    let seeds: Vec<String> = results.seeds.iter().map(u64::to_string).collect();
    let rows = results.rows.len();
    let failed = results.rows_without_answer().count();
    let mut lead = format!(
        "Reproduced from {} {}; inputs at scale {}, {} {}{}.",
        number::count(rows as u64),
        plural(rows as u64, "run"),
        results.scale,
        plural(seeds.len() as u64, "seed"),
        seeds.join(", "),
        crate::markdown::fewer(seeds.len())
    );
    if !results.code.is_empty() {
        lead.push_str(&format!(" Program {}.", results.code));
    }
    page.raw(&format!("<p class=\"lead\">{}</p>\n", escape(&lead)));
    let is_scaled = !matches!(results.scale.as_str(), "1" | "1/1" | "");
    if is_scaled {
        page.raw("<p class=\"warning\">The inputs are scaled down: the results are indicative and decide no claim.</p>\n");
    }
    if let Some(stand_ins) = results.stand_ins_text() {
        page.raw(&format!("<p class=\"warning\">{}.</p>\n", escape(&stand_ins)));
    }
    if failed > 0 {
        let runs = format!(
            "{failed} of {} gave no right answer. The figures leave these runs out.",
            counted(rows as u64, "run")
        );
        page.raw(&format!("<p class=\"warning\">{}</p>\n", escape(&runs)));
    }
    page.raw("<nav aria-label=\"Contents\"><ul>\n<li><a href=\"#claims\">Claims</a></li>\n");
    for figure in &results.figures {
        let is_alone = results.figures.iter().filter(|other| other.place == figure.place).count() == 1;
        let name = if figure.place.is_empty() || !is_alone { &figure.title } else { &figure.place };
        page.raw(&format!("<li><a href=\"#{}\">{}</a></li>\n", anchor(&figure.id), escape(name)));
    }
    page.raw("<li><a href=\"#why\">Where the cycles went</a></li>\n");
    page.raw("<li><a href=\"#conditions\">What was run</a></li>\n</ul></nav>\n");
}

/// The identifier of a figure in the page, to which links refer.
fn anchor(id: &str) -> String {
    let letters = id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
    format!("figure-{}", letters.collect::<String>())
}

fn status(of: Status) -> (&'static str, &'static str) {
    match of {
        Status::Reproduced => ("\u{2713}", "reproduced"),
        Status::Direction => ("\u{2248}", "direction"),
        Status::Inconclusive => ("?", "inconclusive"),
        Status::Contradicted => ("\u{2717}", "contradicted"),
        Status::Indicative => ("\u{25cb}", "indicative"),
        Status::NotRun => ("\u{2013}", "not run"),
    }
}

fn claims(page: &mut Page, claims: &[Scored]) {
    page.heading("claims", "The claims of the paper and the measured values");
    page.raw("<ul class=\"counts\">\n");
    for of in Status::ALL {
        let count = claims.iter().filter(|claim| claim.status == of).count();
        let (sign, name) = status(of);
        page.raw(&format!("<li><span class=\"status\">{sign} {count}</span> {name}</li>\n"));
    }
    page.raw("</ul>\n");
    let row = |claim: &Scored| {
        let (sign, name) = status(claim.status);
        let mut verdict = format!("<span class=\"status\">{sign} {name}</span>");
        if let Some(other) = claim.would_be {
            let text = format!(
                "scaled input; with the published size, these values would score: {}",
                status(other).1
            );
            write!(verdict, "<div class=\"note\">{}</div>", escape(&text)).ok();
        }
        let ours = measured(claim);
        let mut says = escape(&claim.says);
        write!(says, "<div class=\"note\">{}</div>", escape(&claim.measure)).ok();
        for note in claim.note.iter().chain(&claim.stand_ins_text()) {
            write!(says, "<div class=\"note\">{}</div>", escape(note)).ok();
        }
        vec![
            Cell::Text(claim.place.clone()),
            Cell::Html(says),
            Cell::Text(published(&claim.published)),
            Cell::Text(ours),
            Cell::Html(verdict),
            Cell::Text(claim.sensitivity_text()),
        ]
    };
    let headings =
        ["where", "the claim, and what was computed", "published", "ours", "status", "other status on"];
    page.table(&Table {
        headings: headings.map(str::to_owned).into(),
        rows: claims.iter().map(row).collect(),
        is_cards: true,
        ..Table::default()
    });
    page.raw(
        "<p class=\"note\">In parentheses: the 95% interval of the mean over the seeds. Other status on: the \
         variants of the machine or of the programs on which the claim has another status. The text \
         - means that there are none. The text not run means that no other variant has the runs of the \
         claim.</p>\n",
    );
}

/// The text of the measured value of a claim, with its confidence interval and its geometric mean
/// if it has them.
fn measured(claim: &Scored) -> String {
    let Some(value) = claim.measured.as_f64() else {
        return match &claim.measured {
            serde_json::Value::Null => "-".to_owned(),
            serde_json::Value::String(text) => text.clone(),
            _ => claim.measured_text(),
        };
    };
    let interval = claim.interval.filter(|[low, high]| high > low);
    if interval.is_none() && claim.geometric.is_none() && value.fract() == 0.0 && claim.kind == "exact" {
        return as_published(&[value]).remove(0);
    }
    let numbers: Vec<f64> = std::iter::once(value).chain(claim.geometric).collect();
    // The text of a measured number must differ from the text of every threshold that the number
    // does not equal.
    let thresholds = thresholds(&claim.published);
    let mut text = match interval {
        Some([low, high]) => with_interval_apart(&Interval { mean: value, low, high }, &thresholds),
        None => apart(&numbers, &thresholds).swap_remove(0),
    };
    if let Some(geometric) = claim.geometric {
        write!(
            text,
            "; geometric {}",
            apart(&numbers, &thresholds).pop().unwrap_or_else(|| short(geometric))
        )
        .ok();
    }
    text
}

/// The numbers that decide the status of a claim: the published number or the two ends of the
/// published range, and the values that mean no change (0 for a relative change, 1 for a ratio).
fn thresholds(published: &serde_json::Value) -> Vec<f64> {
    let published = match published {
        serde_json::Value::Array(ends) => ends.iter().filter_map(serde_json::Value::as_f64).collect(),
        one => one.as_f64().into_iter().collect::<Vec<_>>(),
    };
    [0.0, 1.0].into_iter().chain(published).collect()
}

/// The text of the published value of a claim: a number, a range with the word `to` between its
/// ends, or a statement. Numbers have the format of [`as_published`]. The text is `-` if the paper
/// publishes no value.
fn published(of: &serde_json::Value) -> String {
    let numbers = match of {
        serde_json::Value::Array(values) => values.iter().map(serde_json::Value::as_f64).collect(),
        single => single.as_f64().map(|value| vec![value]),
    };
    match (numbers, of) {
        (Some(numbers), _) => as_published(&numbers).join(" to "),
        (None, serde_json::Value::Null) => "-".to_owned(),
        (None, serde_json::Value::String(text)) => text.clone(),
        (None, other) => other.to_string(),
    }
}

fn show_figure(page: &mut Page, figure: &Figure, colours: &[&str], seeds: usize) {
    let place = if figure.place.is_empty() { String::new() } else { format!("{}. ", figure.place) };
    page.heading(&anchor(&figure.id), &format!("{place}{}", figure.title));
    if figure.shape == Shape::Table {
        page.table(&numbers(figure));
        return;
    }
    let series: Vec<(&str, Fill)> = match figure.shape {
        Shape::Stacks => {
            figure.parts.iter().enumerate().map(|(at, part)| (part.as_str(), Fill(at))).collect()
        }
        _ => chart::scenarios(figure).into_iter().map(|name| (name, fill_of(name, colours))).collect(),
    };
    show_drawing(page, figure, colours, &series, &results_note(figure, seeds));
    page.raw(&details("Numbers", &numbers(figure).html()));
}

/// Adds a figure with its legend. The legend explains only the marks that the
/// figure has.
pub(super) fn show_drawing(
    page: &mut Page,
    figure: &Figure,
    colours: &[&str],
    series: &[(&str, Fill)],
    caption: &str,
) {
    page.raw("<ul class=\"legend\">\n");
    for (name, fill) in series {
        page.raw(&format!("<li>{}{}</li>\n", swatch(*fill), escape(name)));
    }
    let marks = [
        (has_intervals(figure), ERROR_BAR, "95% interval"),
        (has_published(figure), PUBLISHED, "published"),
        (chart::has_unity(figure), DASHES, "1: no change"),
    ];
    for (_, sign, name) in marks.iter().filter(|(is_there, ..)| *is_there) {
        page.raw(&format!("<li>{sign}{}</li>\n", escape(name)));
    }
    page.raw("</ul>\n<figure>\n");
    page.raw(&both(|view| chart::draw(figure, colours, view)));
    page.raw(&format!("<figcaption>{}</figcaption>\n</figure>\n", escape(caption)));
}

fn bars(figure: &Figure) -> impl Iterator<Item = &Bar> {
    figure.groups.iter().flat_map(|group| &group.bars)
}

/// Returns true if the figure shows confidence intervals. Stacked bars show no intervals.
fn has_intervals(figure: &Figure) -> bool {
    let has = |bar: &Bar| bar.values.iter().flatten().any(|value| value.high > value.low);
    figure.shape == Shape::Bars && bars(figure).any(has)
}

fn has_published(figure: &Figure) -> bool {
    bars(figure).any(|bar| bar.published_range.is_some() || bar.published.iter().any(Option::is_some))
}

/// A note below a figure. It says over how many seeds the bars are means, and explains the marks in
/// the figure.
fn results_note(figure: &Figure, seeds: usize) -> String {
    let mut text = match (figure.shape, seeds) {
        (_, 0 | 1) => String::from("One seed: bars have no interval."),
        (Shape::Bars, seeds) => format!("Bars are means over {seeds} seeds; {INTERVALS}."),
        (_, seeds) => {
            format!(
                "Bars are means over {seeds} seeds; the table of the numbers shows the 95% interval of each \
                 segment of a bar."
            )
        }
    };
    text += marks_note(figure);
    if bars(figure).any(|bar| bar.published_range.is_some()) {
        text += " Diamonds that are joined are the ends of a published range.";
    } else if has_published(figure) {
        text += " Diamonds are published values.";
    }
    text
}

/// The part of a sentence that explains error bars.
pub(super) const INTERVALS: &str = "error bars are the 95% intervals of the means, by Student's distribution";

/// The note that explains numbers with an arrow. Such a number is the value of a bar that is drawn
/// cut, because the bar is higher than the axis. Empty if the figure has no cut bar.
pub(super) fn marks_note(figure: &Figure) -> &'static str {
    match chart::is_cut(figure) {
        true => " A number with an arrow is the value of a bar that is higher than the axis.",
        false => "",
    }
}

/// The table of all numbers of a figure. For bars that are not divided into parts, each scenario
/// has a column. For other figures, each scenario has a row.
fn numbers(figure: &Figure) -> Table {
    if figure.shape == Shape::Bars {
        return beside(figure);
    }
    let mut headings = vec!["".to_owned(), "scenario".to_owned()];
    headings.extend(figure.parts.iter().cloned());
    let is_stack = figure.shape == Shape::Stacks;
    if is_stack {
        headings.push("all".to_owned());
    }
    let row = |label: &str, bar: &Bar| {
        let mut cells: Vec<Cell> = vec![label.into(), Cell::Text(bar.scenario.clone())];
        for (number, value) in bar.values.iter().enumerate() {
            let mut text = match value {
                Some(value) => with_interval(value),
                None => bar.missing.clone().unwrap_or_else(|| "-".to_owned()),
            };
            text += &in_brackets(figure, bar, number);
            cells.push(Cell::Number(text));
        }
        if is_stack {
            let all = bar.values.iter().map(|value| value.map(|value| value.mean)).sum::<Option<f64>>();
            cells.push(Cell::Number(all.map_or_else(|| "-".to_owned(), short)));
        }
        cells
    };
    let groups = figure.groups.iter().flat_map(|group| group.bars.iter().map(|bar| row(&group.label, bar)));
    Table { caption: caption(figure), headings, rows: groups.collect(), is_cards: true }
}

fn caption(figure: &Figure) -> String {
    let published = if has_published(figure) { "; published in brackets" } else { "" };
    let intervals =
        if bars(figure).flat_map(|bar| bar.values.iter().flatten()).any(|value| value.high > value.low) {
            "; 95% intervals in parentheses"
        } else {
            ""
        };
    format!("{}{intervals}{published}", figure.unit)
}

/// The text of the published value of a part of a bar, in brackets. Empty if the paper publishes no
/// value.
fn in_brackets(figure: &Figure, bar: &Bar, part: usize) -> String {
    let range = bar.published_range.filter(|_| part == 0);
    let published = match (bar.published.get(part).copied().flatten(), range) {
        (Some(value), _) if figure.shape == Shape::Table => vec![as_written(value)],
        (Some(value), _) => as_published(&[value]),
        (None, Some(range)) => as_published(&range),
        (None, None) => return String::new(),
    };
    format!(" [{}]", published.join(" to "))
}

/// The table of the numbers of a figure whose bars are not divided into parts. It has a row for
/// each group of bars and a column for each scenario.
fn beside(figure: &Figure) -> Table {
    let scenarios = chart::scenarios(figure);
    let mut rows = Vec::new();
    for group in &figure.groups {
        let mut cells = vec![Cell::from(group.label.as_str())];
        for scenario in &scenarios {
            let bar = group.bars.iter().find(|bar| bar.scenario == *scenario);
            let mut text = match bar.and_then(|bar| bar.values.first().copied().flatten()) {
                Some(value) => with_interval(&value),
                None => bar.and_then(|bar| bar.missing.clone()).unwrap_or_else(|| "-".to_owned()),
            };
            text += &bar.map(|bar| in_brackets(figure, bar, 0)).unwrap_or_default();
            cells.push(Cell::Number(text));
        }
        rows.push(cells);
    }
    let mut headings = vec![String::new()];
    headings.extend(scenarios.into_iter().map(str::to_owned));
    Table { caption: caption(figure), headings, rows, is_cards: true }
}

/// Adds to the page, for each scenario after the first, the causes of its difference in cycles to
/// the first scenario. The cycles are sums over all inputs.
fn differences(page: &mut Page, results: &Results) {
    page.heading("why", "Causes of the difference in cycles between two scenarios");
    let Some(first) = results.scenarios.first() else { return };
    let seed = results.seeds.first().copied().unwrap_or(0);
    let text = format!(
        "The difference in cycles between {} and every other scenario, for all inputs together, with seed {seed}. Every cycle has exactly one cause, so the differences of the causes add up to the whole difference.",
        first.name
    );
    page.element("p", &text);
    for scenario in results.scenarios.iter().skip(1) {
        let between = |input: &str| {
            let row = |scenario: &str| {
                results.rows.iter().find(|row| {
                    let key = &row.key;
                    key.variant == BASE && key.scenario == scenario && key.input == input && key.seed == seed
                })
            };
            let (a, b) = (row(&first.name)?, row(&scenario.name)?);
            let sound = a.measured.answer_ok && b.measured.answer_ok;
            sound.then(|| Difference::new(&a.system, input, seed, account(a), account(b)).ok()).flatten()
        };
        let each: Vec<Difference> = results.inputs.iter().filter_map(|input| between(&input.name)).collect();
        let Some((start, others)) = each.split_first() else { continue };
        let mut all = start.clone();
        others.iter().for_each(|other| all.add(other));
        all.workload = match others.len() {
            0 => start.workload.clone(),
            more => format!("{} inputs", more + 1),
        };
        page.element("h3", &format!("{} to {}", first.name, scenario.name));
        page.raw(&waterfall::figure(&all));
        if !others.is_empty() {
            let mut inside = String::new();
            for difference in &each {
                let drawn = both(|view| waterfall::draw(difference, view));
                write!(inside, "<h4>{}</h4>\n<figure>{drawn}</figure>\n", escape(&difference.workload)).ok();
            }
            page.raw(&details("Each input", &inside));
        }
    }
}

fn account(row: &Row) -> Account<'_> {
    let measured = &row.measured;
    Account {
        name: &row.key.scenario,
        cycles: measured.cycles,
        answer_ok: measured.answer_ok,
        error: measured.error.as_deref(),
        counters: &measured.counters,
    }
}

fn conditions(page: &mut Page, results: &Results) {
    page.heading("conditions", "What was run");
    let text = |texts: &[&str]| texts.iter().map(|text| Cell::from(*text)).collect::<Vec<_>>();
    let headings = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    page.table(&Table {
        caption: "Scenarios".to_owned(),
        headings: headings(&["scenario", "protocol", "policy", "what it is"]),
        rows: results
            .scenarios
            .iter()
            .map(|s| text(&[&s.name, &s.protocol, &s.policy, &s.summary]))
            .collect(),
        ..Table::default()
    });
    page.table(&Table {
        caption: "Inputs".to_owned(),
        headings: headings(&["input", "workload", "graph", "source"]),
        rows: results.inputs.iter().map(|i| text(&[&i.name, &i.workload, &i.graph, &i.source])).collect(),
        ..Table::default()
    });
    page.table(&Table {
        caption: "Settings of the workloads".to_owned(),
        headings: headings(&["setting", "value"]),
        rows: results.settings.iter().map(|(name, value)| text(&[name, value])).collect(),
        ..Table::default()
    });
    page.table(&Table {
        caption: "Machines".to_owned(),
        headings: headings(&["name", "machine", "what is changed"]),
        rows: results.variants.iter().map(|v| text(&[&v.name, &v.system, &v.changes.join(", ")])).collect(),
        ..Table::default()
    });
    for variant in results.variants.iter().filter(|variant| variant.changes.is_empty()) {
        let table = Table {
            headings: headings(&["parameter", "value"]),
            rows: variant.parameters.iter().map(|(name, value)| text(&[name, value])).collect(),
            ..Table::default()
        };
        page.raw(&details(&format!("Every parameter of {}", variant.system), &table.html()));
    }
}
