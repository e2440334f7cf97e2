//! Prints the charts of a sweep as tables on the terminal.

use std::io::Write;

use lab::results::Interval;
use lab::study::{Chart, ChartFigure, ChartPoint};
use serde_json::Value;

use crate::Failure;
use crate::output;
use crate::table::{Side, Table};
use crate::words::{counted, grouped, plural};

/// The maximum number of rows of a table that are printed.
const ROWS_SHOWN: usize = 40;

/// The maximum number of reasons for missing values that are printed below a table.
const REASONS_SHOWN: usize = 5;

/// The maximum number of decimals of a value.
const DECIMALS_MAX: usize = 12;

/// Prints the numbers of a chart. `has_intervals` says that the values are means over several
/// seeds.
pub(super) fn show(chart: &Chart, has_intervals: bool, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "{}: {}", chart.title, chart.unit)?;
    for figure in &chart.figures {
        let at: Vec<String> =
            figure.at.iter().map(|(name, value)| format!("{name} {}", text(value))).collect();
        if !at.is_empty() {
            writeln!(out, "\n{}", at.join(", "))?;
        }
        show_figure(chart, figure, (has_intervals, output::columns()), out)?;
    }
    Ok(writeln!(out)?)
}

/// Prints a figure as a table with a row for each horizontal position and a column for each series.
/// A table wider than `columns` characters is split into several tables, each with some of the
/// series.
fn show_figure(
    chart: &Chart,
    figure: &ChartFigure,
    (has_intervals, columns): (bool, usize),
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let series = distinct(figure.points.iter().map(|point| point.series.as_str()));
    let positions = distinct(figure.points.iter().map(|point| &point.x));
    let mut headings = vec![(chart.x.as_str(), if chart.is_lines { Side::Right } else { Side::Left })];
    headings.extend(series.iter().map(|name| (*name, Side::Right)));
    let mut table = Table::new(&headings);
    let shown = &positions[..positions.len().min(ROWS_SHOWN)];
    let cells = |name: &&str| {
        let at = |x: &&Value| figure.points.iter().find(|point| point.series == *name && point.x == **x);
        column(&shown.iter().map(at).collect::<Vec<_>>(), has_intervals)
    };
    let cells: Vec<Vec<String>> = series.iter().map(cells).collect();
    for (row, x) in shown.iter().enumerate() {
        table.row(std::iter::once(text(x)).chain(cells.iter().map(|column| column[row].clone())));
    }
    for (at, block) in table.blocks(columns).into_iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        block.write(out)?;
    }
    if let Some(rest) = positions.len().checked_sub(ROWS_SHOWN).filter(|rest| *rest > 0) {
        writeln!(out, "and {} more {}", grouped(rest as u64), plural(rest as u64, "row"))?;
    }
    show_reasons(figure, out)
}

/// Prints the reasons why values of a figure are missing.
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

/// The values without duplicates, in the order of their first appearance.
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

/// The means of one series as texts with the same number of decimals. With intervals (from several
/// seeds), each text includes half of the interval's width.
fn column(points: &[Option<&ChartPoint>], has_intervals: bool) -> Vec<String> {
    let values = || points.iter().flatten().filter_map(|point| point.value);
    let decimals = decimals(values(), has_intervals);
    let cell = |point: &Option<&ChartPoint>| match point.and_then(|point| point.value) {
        None => "-".to_owned(),
        Some(Interval { mean, high, .. }) if has_intervals => {
            format!("{} ± {}", fixed(mean, decimals), fixed(high - mean, decimals))
        }
        Some(Interval { mean, .. }) => fixed(mean, decimals),
    };
    points.iter().map(cell).collect()
}

/// The number of decimals with which the smallest value shows at least three significant digits.
/// The number is 0 if all values are whole numbers.
fn decimals(values: impl Iterator<Item = Interval> + Clone, has_intervals: bool) -> usize {
    let is_whole = |Interval { mean, high, .. }: Interval| {
        mean.fract() == 0.0 && (!has_intervals || (high - mean).fract() == 0.0)
    };
    if values.clone().all(is_whole) {
        return 0;
    }
    let means = values.map(|value| value.mean.abs()).filter(|mean| *mean > 0.0 && mean.is_finite());
    match means.fold(f64::INFINITY, f64::min) {
        least if least >= 0.1 => [(1000.0, 0), (100.0, 1), (10.0, 2)]
            .into_iter()
            .find(|(bound, _)| least >= *bound)
            .map_or(3, |(_, decimals)| decimals),
        least => (2.0 - least.log10().floor()).min(DECIMALS_MAX as f64) as usize,
    }
}

/// The text of a number with this many decimals, and with commas between groups of three digits.
fn fixed(number: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", number.abs());
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, format!(".{fraction}")),
        None => (text.as_str(), String::new()),
    };
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), grouped);
    let is_zero = text.chars().all(|c| c == '0' || c == '.');
    let sign = if number < 0.0 && !is_zero { "-" } else { "" };
    format!("{sign}{whole}{fraction}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn point(x: u64, series: &str, mean: f64, half: f64) -> ChartPoint {
        let value = Some(Interval { mean, low: mean - half, high: mean + half });
        ChartPoint { x: json!(x), series: series.to_owned(), value, missing: None }
    }

    fn shown(points: Vec<ChartPoint>, has_intervals: bool, columns: usize) -> String {
        let chart = Chart {
            title: "title".to_owned(),
            x: "n".to_owned(),
            y: "y".to_owned(),
            unit: "y".to_owned(),
            series: vec!["scenario".to_owned()],
            is_lines: true,
            is_log: false,
            figures: Vec::new(),
        };
        let figure = ChartFigure { at: Default::default(), points };
        let mut out = Vec::new();
        show_figure(&chart, &figure, (has_intervals, columns), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_column_has_one_number_of_decimals_and_every_mean_of_seeds_its_interval() {
        let points = vec![
            point(1, "a", 1.0, 0.0),
            point(2, "a", 0.991, 0.002),
            point(1, "b", 1500.0, 3.0),
            point(2, "b", 2000.25, 0.0),
        ];
        let expected = "n              a          b\n\
                        1  1.000 ± 0.000  1,500 ± 3\n\
                        2  0.991 ± 0.002  2,000 ± 0\n";
        assert_eq!(shown(points.clone(), true, 80), expected);
        assert_eq!(shown(points, false, 80), "n      a      b\n1  1.000  1,500\n2  0.991  2,000\n");
    }

    #[test]
    fn the_smallest_value_of_a_column_has_three_digits() {
        let text = |means: &[f64]| {
            let points: Vec<ChartPoint> = means.iter().map(|mean| point(1, "a", *mean, 0.0)).collect();
            column(&points.iter().map(Some).collect::<Vec<_>>(), false).join(" ")
        };
        assert_eq!(text(&[7.0, 12_345_678.0]), "7 12,345,678");
        assert_eq!(text(&[0.5, 1234.5]), "0.500 1,234.500");
        assert_eq!(text(&[0.0, 0.0123, 2.0]), "0.0000 0.0123 2.0000");
        assert_eq!(text(&[-12.34, 150.0]), "-12.34 150.00");
        assert_eq!(text(&[-0.000_01, 150.5]), "-0.0000100 150.5000000");
        assert_eq!(text(&[123.4, -2000.0]), "123.4 -2,000.0");
    }

    #[test]
    fn a_table_wider_than_the_terminal_is_split_by_series_and_loses_no_value() {
        let points = ["first", "second", "third"].map(|name| point(1, name, 1.5, 0.5)).to_vec();
        let expected = "n          first         second\n1  1.500 ± 0.500  1.500 ± 0.500\n\n\
                        n          third\n1  1.500 ± 0.500\n";
        assert_eq!(shown(points.clone(), true, 31), expected);
        assert_eq!(shown(points.clone(), true, 46).matches("\n\n").count(), 0);
        // Each of the tables has at least one series, even if the terminal is narrower than that.
        assert_eq!(shown(points, true, 5).matches("1.500 ± 0.500").count(), 3);
    }
}
