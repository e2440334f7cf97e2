//! The charts of a sweep as tables on the terminal.

use std::io::Write;

use lab::study::{Chart, ChartFigure, ChartPoint};
use serde_json::Value;

use crate::Failure;
use crate::table::{Side, Table, counted, grouped, plural};

/// The maximum number of rows of a table.
const ROWS_SHOWN: usize = 40;

/// The maximum number of reasons for missing values below a table.
const REASONS_SHOWN: usize = 5;

/// Prints the numbers of a chart.
pub(super) fn show(chart: &Chart, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "{}: {}", chart.title, chart.unit)?;
    for figure in &chart.figures {
        let at: Vec<String> =
            figure.at.iter().map(|(name, value)| format!("{name} {}", text(value))).collect();
        if !at.is_empty() {
            writeln!(out, "\n{}", at.join(", "))?;
        }
        show_figure(chart, figure, out)?;
    }
    Ok(writeln!(out)?)
}

fn show_figure(chart: &Chart, figure: &ChartFigure, out: &mut dyn Write) -> Result<(), Failure> {
    let series = distinct(figure.points.iter().map(|point| point.series.as_str()));
    let positions = distinct(figure.points.iter().map(|point| &point.x));
    let mut headings = vec![(chart.x.as_str(), if chart.is_lines { Side::Right } else { Side::Left })];
    headings.extend(series.iter().map(|name| (*name, Side::Right)));
    let mut table = Table::new(&headings);
    for x in positions.iter().take(ROWS_SHOWN) {
        let of = |name: &&str| {
            let point = figure.points.iter().find(|point| point.series == *name && point.x == **x);
            point.map_or_else(|| "-".to_owned(), value)
        };
        table.row(std::iter::once(text(x)).chain(series.iter().map(of)));
    }
    table.write(out)?;
    if let Some(rest) = positions.len().checked_sub(ROWS_SHOWN).filter(|rest| *rest > 0) {
        writeln!(out, "and {} more {}", grouped(rest as u64), plural(rest as u64, "row"))?;
    }
    show_reasons(figure, out)
}

/// Prints why values are missing.
fn show_reasons(figure: &ChartFigure, out: &mut dyn Write) -> Result<(), Failure> {
    let missing = || figure.points.iter().filter_map(|point| point.missing.as_deref());
    let reasons = distinct(missing());
    for why in reasons.iter().take(REASONS_SHOWN) {
        let count = missing().filter(|other| other == why).count();
        writeln!(out, "no value for {}: {why}", counted(count, "point"))?;
    }
    if let Some(rest) = reasons.len().checked_sub(REASONS_SHOWN).filter(|rest| *rest > 0) {
        writeln!(out, "and {} more {}", grouped(rest as u64), plural(rest as u64, "reason"))?;
    }
    Ok(())
}

/// The values without repetitions, in the order of their first appearance.
fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut known = Vec::new();
    for one in all {
        if !known.contains(&one) {
            known.push(one);
        }
    }
    known
}

/// A value of an axis as text. A whole number has commas between groups of digits.
fn text(value: &Value) -> String {
    match (value.as_u64(), value) {
        (Some(whole), _) => grouped(whole),
        (None, Value::String(name)) => name.clone(),
        (None, other) => other.to_string(),
    }
}

/// The mean of a point as text. If the point has an interval (from several seeds), the text
/// includes half of the interval's width.
fn value(point: &ChartPoint) -> String {
    let Some(value) = point.value else { return "-".to_owned() };
    let number = |number: f64| match number.abs() {
        size if size >= 1000.0 || number.fract() == 0.0 => grouped_real(number),
        _ => format!("{number:.3}"),
    };
    match value.high > value.low {
        true => format!("{} ± {}", number(value.mean), number(value.high - value.mean)),
        false => number(value.mean),
    }
}

fn grouped_real(number: f64) -> String {
    let sign = if number < -0.5 { "-" } else { "" };
    format!("{sign}{}", grouped(number.abs().round() as u64))
}
