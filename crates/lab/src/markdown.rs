//! Renders the results of a reproduction (the experiments of a paper, run again) as Markdown.

use core::fmt::Write as _;

use proto::words::{counted, plural};
use serde_json::Value;

use crate::results::{Bar, Figure, Group, Interval, Results, Row, Scored, Shape, Status};

impl Status {
    /// All statuses that a claim can have. The best status is first.
    pub const ALL: [Status; 6] = [
        Status::Reproduced,
        Status::Direction,
        Status::Inconclusive,
        Status::Contradicted,
        Status::Indicative,
        Status::NotRun,
    ];

    /// The name of the status. The file `claims/README.md` says what each status means.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Status::Reproduced => "reproduced",
            Status::Direction => "direction",
            Status::Inconclusive => "inconclusive",
            Status::Contradicted => "contradicted",
            Status::Indicative => "indicative",
            Status::NotRun => "not-run",
        }
    }
}

impl Scored {
    /// The measured value of the claim as a short text for a table.
    #[must_use]
    pub fn measured_text(&self) -> String {
        match &self.measured {
            Value::Null => "-".to_owned(),
            Value::Array(found) => {
                let holding = found.iter().filter(|one| one["holds"] == true).count();
                format!("{holding} of {} hold", found.len())
            }
            Value::Number(number) => {
                let mut text = figure(number.as_f64().unwrap_or(f64::NAN));
                if let Some([low, high]) = self.interval {
                    text += &format!(" ({} to {})", figure(low), figure(high));
                }
                if let Some(input) = &self.worst_input {
                    text += &format!(" on {input}, the worst input");
                }
                text
            }
            other => other.to_string(),
        }
    }

    /// The published value of the claim as a short text for a table.
    #[must_use]
    pub fn published_text(&self) -> String {
        match &self.published {
            Value::Number(number) => figure(number.as_f64().unwrap_or(f64::NAN)),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }

    /// The status of the claim as a text for a table. If inputs were scaled down, the text also
    /// names the status that the same measured values would give with inputs of the published size.
    #[must_use]
    pub fn status_text(&self) -> String {
        match self.would_be {
            Some(status) => {
                format!(
                    "{}; scaled input; with the published size, these values would score: {}",
                    self.status.name(),
                    status.name()
                )
            }
            None => self.status.name().to_owned(),
        }
    }

    /// The variants of the machine or of the programs on which the claim has another status, each
    /// with this status. The text is `-` if the status is the same on all variants with runs, and
    /// `not run` if no further variant has the runs. Litmus tests do not run on a machine.
    #[must_use]
    pub fn sensitivity_text(&self) -> String {
        let own = self.would_be.unwrap_or(self.status);
        let is_litmus = self.seeds == 0;
        if own == Status::NotRun || self.variants.is_empty() && !is_litmus {
            return "not run".to_owned();
        }
        let others = self.variants.iter().filter(|of| of.status != own);
        let others: Vec<String> = others.map(|of| format!("{}: {}", of.variant, of.status.name())).collect();
        if others.is_empty() { "-".to_owned() } else { others.join(", ") }
    }

    /// The inputs of the measured value that are stand-ins, as a short text. `None` if no input is a
    /// stand-in.
    #[must_use]
    pub fn stand_ins_text(&self) -> Option<String> {
        let (count, names) = (self.stand_ins.len() as u64, self.stand_ins.join(", "));
        (count > 0).then(|| format!("measured on {}: {names}", plural(count, "stand-in")))
    }
}

impl Results {
    /// A sentence that says how many inputs are stand-ins. `None` if no input is a stand-in.
    #[must_use]
    pub fn stand_ins_text(&self) -> Option<String> {
        let count = self.inputs.iter().filter(|input| input.stand_in).count();
        let all = counted(self.inputs.len() as u64, "input");
        let are = if count == 1 { "is a stand-in" } else { "are stand-ins" };
        (count > 0).then(|| format!("{count} of {all} {are} (generated graphs)"))
    }
}

/// A number with a suitable number of decimals.
fn figure(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e15 {
        return format!("{number:.0}");
    }
    let decimals = if number.abs() >= 1000.0 { 0 } else { 3 };
    format!("{number:.decimals$}")
}

/// The whole report of a paper's results as Markdown.
#[must_use]
pub fn report(results: &Results) -> String {
    let failures: Vec<String> = results.failures().collect();
    format!("# {}\n\n{}", results.title, body(results, results.rows.len(), &failures))
}

/// The report without its title. `runs` is the number of runs, and `failed` describes the runs
/// without a right answer, so the body does not need the rows of the results.
pub(crate) fn body(results: &Results, runs: usize, failed: &[String]) -> String {
    let seeds: Vec<String> = results.seeds.iter().map(u64::to_string).collect();
    let mut settings: Vec<String> =
        results.settings.iter().map(|(name, value)| format!("`{name}={value}`")).collect();
    if settings.is_empty() {
        settings.push("as they are".to_owned());
    }
    let stand_ins = results.stand_ins_text().map_or(String::new(), |text| format!("; {text}"));
    let lines = [
        format!("* Scale of the inputs: {}{stand_ins}.", results.scale),
        format!("* Seeds: {}{}; parameters: {}.", seeds.join(", "), fewer(seeds.len()), settings.join(", ")),
        format!("* Runs: {runs}, by code `{}`.", results.code),
    ];
    let mut page = lines.join("\n") + "\n\n";
    page += &claims(&results.claims);
    for shown in &results.figures {
        page += &drawn(shown);
    }
    page += &scenarios(results);
    page += &failures(failed);
    page
}

/// The usual number of seeds for a mean. A page with fewer seeds has a note about it.
const USUAL_SEEDS: usize = 5;

/// The note that a mean has fewer seeds than usual. Empty if the number of seeds is at least the
/// usual number.
pub(crate) fn fewer(seeds: usize) -> String {
    match seeds {
        0 | USUAL_SEEDS.. => String::new(),
        1 => " (1 seed: no interval)".to_owned(),
        few => format!(" ({few} seeds instead of the usual {USUAL_SEEDS})"),
    }
}

/// Returns `text` for a cell of a Markdown table. Characters that would end the cell are replaced.
pub(crate) fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

pub(crate) fn row(cells: impl IntoIterator<Item = String>) -> String {
    let cells: Vec<String> = cells.into_iter().map(|text| cell(&text)).collect();
    format!("| {} |\n", cells.join(" | "))
}

fn claims(all: &[Scored]) -> String {
    let mut page = "## Claims\n\n".to_owned();
    let count = |status: Status| all.iter().filter(|claim| claim.status == status).count();
    let counts: Vec<String> = Status::ALL
        .into_iter()
        .filter(|status| count(*status) > 0)
        .map(|status| format!("{} {}", count(status), status.name()))
        .collect();
    page += &format!(
        "{}: {}. The rules are those of `claims/README.md`. An indicative claim is measured on a scaled \
         input, so it is neither reproduced nor contradicted. The table also names the status that the \
         measured values would have if the input had the published size. The column *other status on* \
         names the variants of the machine or of the programs on which the claim has another status. The \
         text `-` means that there are none. The text `not run` means that no other variant has the runs \
         of the claim.\n\n",
        counted(all.len() as u64, "claim"),
        counts.join(", ")
    );
    page += "| claim | where | published | measured | status | other status on | note |\n";
    page += "|---|---|---|---|---|---|---|\n";
    for claim in all {
        let geometric = claim.geometric.map(|mean| format!("geometric mean {}", figure(mean)));
        let notes: Vec<String> =
            geometric.into_iter().chain(claim.note.clone()).chain(claim.stand_ins_text()).collect();
        page += &row([
            format!("`{}`: {}", claim.id, claim.says),
            claim.place.clone(),
            claim.published_text(),
            claim.measured_text(),
            claim.status_text(),
            claim.sensitivity_text(),
            notes.join("; "),
        ]);
    }
    page + "\n"
}

pub(crate) fn value(interval: Option<Interval>) -> String {
    match interval {
        None => "-".to_owned(),
        Some(Interval { mean, low, high }) if low == high => figure(mean),
        Some(Interval { mean, high, .. }) => format!("{} ± {}", figure(mean), figure(high - mean)),
    }
}

fn drawn(figure: &Figure) -> String {
    let place = if figure.place.is_empty() { String::new() } else { format!(" ({})", figure.place) };
    let mut page = format!("## {}: {}{place}\n\n{}.\n\n", figure.id, figure.title, figure.unit);
    let scenarios: Vec<&str> = figure
        .groups
        .first()
        .map_or(Vec::new(), |group| group.bars.iter().map(|bar| bar.scenario.as_str()).collect());
    let one_part = figure.parts.len() == 1 && figure.shape == Shape::Bars;
    let mut heading = vec![String::new()];
    if one_part {
        heading.extend(scenarios.iter().map(|name| (*name).to_owned()));
    } else {
        heading.push("scenario".to_owned());
        heading.extend(figure.parts.clone());
        heading.extend((figure.shape == Shape::Stacks).then(|| "all".to_owned()));
    }
    page += &row(heading.clone());
    page += &format!("|{}\n", "---|".repeat(heading.len()));
    for group in &figure.groups {
        if one_part {
            let values = group.bars.iter().map(|bar| value(bar.values.first().copied().flatten()));
            page += &row(core::iter::once(group.label.clone()).chain(values));
            page += &published_row(group);
            continue;
        }
        for bar in &group.bars {
            let mut cells = vec![group.label.clone(), bar.scenario.clone()];
            cells.extend(bar.values.iter().map(|part| value(*part)));
            cells.extend((figure.shape == Shape::Stacks).then(|| total(bar)));
            page += &row(cells);
            if !bar.published.is_empty() {
                let published = bar.published.iter().map(|value| value.map_or("-".to_owned(), self::figure));
                page += &row([String::new(), "published".to_owned()].into_iter().chain(published));
            }
        }
    }
    let mut missing: Vec<&str> =
        figure.groups.iter().flat_map(|g| g.bars.iter().filter_map(|bar| bar.missing.as_deref())).collect();
    missing.dedup();
    for why in missing.iter().take(3) {
        writeln!(page, "\nMissing: {}.", cell(why)).ok();
    }
    page + "\n"
}

/// The table row with the published values for the bars of a group in a chart. Empty if no bar has
/// a published value.
fn published_row(group: &Group) -> String {
    let has = |bar: &Bar| bar.published_range.is_some() || bar.published.iter().any(Option::is_some);
    if !group.bars.iter().any(has) {
        return String::new();
    }
    let cells =
        group.bars.iter().map(|bar| match (bar.published.first().copied().flatten(), bar.published_range) {
            (Some(value), _) => figure(value),
            (None, Some([low, high])) => format!("{} to {}", figure(low), figure(high)),
            (None, None) => String::new(),
        });
    row(core::iter::once(format!("{}, published", group.label)).chain(cells))
}

fn total(bar: &Bar) -> String {
    let parts: Option<Vec<f64>> = bar.values.iter().map(|part| part.map(|part| part.mean)).collect();
    parts.map_or("-".to_owned(), |parts| figure(parts.iter().sum()))
}

fn scenarios(results: &Results) -> String {
    let mut page =
        "## Scenarios and machines\n\n| scenario | protocol | policy | meaning of the policy |\n|---|---|---|---|\n"
            .to_owned();
    for s in &results.scenarios {
        page +=
            &row([s.name.clone(), format!("`{}`", s.protocol), format!("`{}`", s.policy), s.summary.clone()]);
    }
    page += "\n| variant | machine | changed |\n|---|---|---|\n";
    for variant in &results.variants {
        page += &row([variant.name.clone(), variant.system.clone(), variant.changes.join(", ")]);
    }
    page += "\n| input | workload | graph | |\n|---|---|---|---|\n";
    for input in &results.inputs {
        let what = &input.source;
        page += &row([input.name.clone(), input.workload.clone(), input.graph.clone(), what.clone()]);
    }
    page + "\n"
}

fn failures(failed: &[String]) -> String {
    if failed.is_empty() {
        return String::new();
    }
    let mut page = "## Runs without a right answer\n\n".to_owned();
    for failure in failed {
        writeln!(page, "* {}", cell(failure)).ok();
    }
    page + "\n"
}

impl Results {
    /// The runs without a right answer. A run on a machine that ignores acquires is left out if it
    /// ended, because its answer is expected to be wrong.
    pub(crate) fn rows_without_answer(&self) -> impl Iterator<Item = &Row> {
        let is_unsound = |row: &Row| {
            let variant = self.variants.iter().find(|variant| variant.name == row.key.variant);
            variant.is_some_and(|variant| variant.is_unsound) && row.measured.has_ended()
        };
        self.rows.iter().filter(move |row| !row.measured.answer_ok && !is_unsound(row))
    }

    /// Descriptions of the runs without a right answer, one text for each run.
    pub fn failures(&self) -> impl Iterator<Item = String> + '_ {
        self.rows_without_answer().map(|row| {
            let why = row
                .measured
                .error
                .as_deref()
                .and_then(|error| error.lines().next())
                .unwrap_or("wrong answer");
            let key = &row.key;
            format!("{} on {}, {}, seed {}: {why}", key.scenario, key.input, key.variant, key.seed)
        })
    }
}
