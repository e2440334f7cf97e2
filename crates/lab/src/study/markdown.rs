//! Renders the results of a study as Markdown.

use core::fmt::Write as _;

use proto::words::{counted, plural};

use super::results::{Chart, StudyResults, plain};
use crate::markdown::{cell, row, value};
use crate::report::{as_figure, at_text};

/// The report of a study as Markdown.
#[must_use]
pub fn study_report(results: &StudyResults) -> String {
    let mut page = format!("# {}\n\n", cell(&results.study));
    let seeds: Vec<String> = results.seeds.iter().map(u64::to_string).collect();
    let runs = counted(results.rows.len() as u64, "run");
    let word = plural(seeds.len() as u64, "seed");
    // Writing to a string cannot fail.
    writeln!(page, "{runs} with {word} {}, by code `{}`.\n", seeds.join(", "), results.code).ok();
    for chart in &results.charts {
        drawn(&mut page, chart);
    }
    page += "## What was run\n\n| name | values |\n|---|---|\n";
    for axis in &results.axes {
        let values: Vec<String> = axis.values.iter().map(plain).collect();
        page += &row([format!("`{}`", axis.name), values.join(", ")]);
    }
    page += "\n| scenario | protocol | policy |\n|---|---|---|\n";
    for scenario in &results.scenarios {
        page += &row([scenario.name.clone(), scenario.protocol.clone(), scenario.policy.clone()]);
    }
    if !results.inputs.is_empty() {
        page += "\n| input | workload | contents |\n|---|---|---|\n";
        for input in &results.inputs {
            page += &row([input.name.clone(), input.workload.clone(), input.contents.clone()]);
        }
    }
    let failures: Vec<String> = results.failures().collect();
    if !failures.is_empty() {
        page += "\n## Runs without a right answer\n\n";
        for failure in failures {
            writeln!(page, "* {}", cell(&failure)).ok();
        }
    }
    page
}

fn drawn(page: &mut String, chart: &Chart) {
    writeln!(page, "## {}\n\n{}.\n", cell(&chart.title), cell(&chart.unit)).ok();
    for figure in &chart.figures {
        let at = at_text(&figure.at);
        if !at.is_empty() {
            writeln!(page, "### {}\n", cell(&at)).ok();
        }
        let figure = as_figure(chart, figure);
        let mut series: Vec<&str> = Vec::new();
        for bar in figure.groups.iter().flat_map(|group| &group.bars) {
            if !series.contains(&bar.scenario.as_str()) {
                series.push(&bar.scenario);
            }
        }
        let heading = core::iter::once(chart.x.as_str()).chain(series.iter().copied());
        *page += &row(heading.map(str::to_owned));
        writeln!(page, "|{}", "---|".repeat(series.len() + 1)).ok();
        for group in &figure.groups {
            let of = |name: &&str| {
                let bar = group.bars.iter().find(|bar| bar.scenario == *name);
                value(bar.and_then(|bar| bar.values[0]))
            };
            *page += &row(core::iter::once(group.label.clone()).chain(series.iter().map(of)));
        }
        page.push('\n');
    }
}
