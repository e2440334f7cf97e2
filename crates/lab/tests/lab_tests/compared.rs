//! Checks that the HTML page of a comparison has each number in the right column and an error bar
//! at each bar.

use lab::report::of_comparison;
use lab::results::Interval;
use lab::{Comparison, Intervals, Row};

fn interval(mean: f64) -> Interval {
    Interval { mean, low: mean * 0.5, high: mean * 1.5 }
}

/// A row of a comparison in which all numbers are different.
fn row(scenario: &str, factor: f64, answer_ok: bool) -> Row {
    let intervals = Intervals {
        cycles: interval(1000.0 * factor),
        speedup: Some(interval(3.0 * factor)),
        traffic_bytes: interval(50_000.0 * factor),
        energy_pj: interval(7e6 * factor),
    };
    Row {
        system: "s".to_owned(),
        workload: "reduce",
        scenario: scenario.to_owned(),
        protocol: "vi",
        policy: String::new(),
        cycles: (1000.0 * factor) as u64,
        speedup: answer_ok.then_some(3.0 * factor),
        traffic_bytes: (50_000.0 * factor) as u64,
        energy_pj: 7e6 * factor,
        answer_ok,
        error: (!answer_ok).then(|| "wrong answer".to_owned()),
        intervals: Some(Intervals { speedup: intervals.speedup.filter(|_| answer_ok), ..intervals }),
        relative: [Some(interval(11.37 * factor)), Some(interval(13.91 * factor))]
            .map(|of| of.filter(|_| answer_ok)),
        is_counted: true,
    }
}

fn page(rows: Vec<Row>) -> String {
    of_comparison(&Comparison {
        machine: Default::default(),
        system: "s".to_owned(),
        systems: vec!["s".to_owned()],
        seed: 1,
        seeds: vec![1, 2],
        rows,
        means: Vec::new(),
    })
}

/// The texts of the cells in the last table of a page, row by row, without the first cell of each
/// row.
fn table(page: &str) -> Vec<Vec<String>> {
    let (_, table) = page.rsplit_once("<table").unwrap();
    let plain = |cell: &str| {
        let text = cell.split_once('>').map_or("", |(_, text)| text);
        text.split("</").next().unwrap_or_default().trim().to_owned()
    };
    let rows = table.split("<tr").skip(1).filter(|row| row.contains("<td"));
    // The first cell of a row is a heading (`<th>`), so it is not in the list.
    rows.map(|row| row.split("<td").skip(1).map(plain).collect()).collect()
}

#[test]
fn every_number_is_in_its_column_with_its_interval() {
    let page = page(vec![row("vi", 1.0, true), row("no-l1", 2.0, true)]);
    let rows = table(&page);
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert_eq!(rows[0][..2], ["s", "vi"]);
    let numbers =
        ["1,000 (500 to 1,500)", "50,000 (25,000 to 75,000)", "7,000", "3.00 (1.50 to 4.50)", "right"];
    assert_eq!(rows[0][2..], numbers);
    assert!(!page.contains("WRONG") && !page.contains("no right answer"));
}

#[test]
fn each_figure_has_its_own_quotients_and_their_intervals() {
    let page = page(vec![row("vi", 1.0, true), row("no-l1", 2.0, true)]);
    let figures = page.split("<figure").skip(1).filter_map(|rest| rest.split("</figure>").next());
    let figures: Vec<&str> = figures.collect();
    assert_eq!(figures.len(), 3);
    // The speedup, the traffic and the energy: each value with the ends of its confidence interval.
    let numbers = ["6.00 (3.00 to 9.00)", "22.7 (11.4 to 34.1)", "27.8 (13.9 to 41.7)"];
    for (at, figure) in figures.iter().enumerate() {
        let shown = numbers.map(|numbers| figure.contains(numbers));
        assert_eq!(shown, [at == 0, at == 1, at == 2], "{figure}");
    }
}

#[test]
fn a_wrong_answer_is_reported_above_the_figures_and_in_its_row() {
    let page = page(vec![row("vi", 1.0, true), row("no-l1", 2.0, false)]);
    assert!(page.contains("1 of 2 rows have no right answer, so they have no bar."), "{page}");
    let rows = table(&page);
    assert_eq!((&*rows[0][6], &*rows[1][6], &*rows[1][5]), ("right", "WRONG", "-"));
}

#[test]
fn a_run_that_was_given_up_has_no_traffic_and_no_energy() {
    let given_up = Row { is_counted: false, traffic_bytes: 0, energy_pj: 0.0, ..row("no-l1", 2.0, false) };
    let rows = table(&page(vec![row("vi", 1.0, true), given_up]));
    assert_eq!((&*rows[1][3], &*rows[1][4]), ("-", "-"), "{rows:?}");
}
