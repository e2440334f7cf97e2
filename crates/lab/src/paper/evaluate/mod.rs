//! From rows to figures and scores.

use std::collections::{BTreeMap, BTreeSet};

use proto::words::{counted, grouped};
use serde_json::{Value, json};
use workloads::graph::stand_in::Scale;

use super::claims::{Claim, Kind};
use super::expr::{At, Comparison, Expr, NoValue};
use super::files::{Fold, Groups};
use super::litmus::Litmus;
use super::plan::Plan;
use super::statistics::{geometric_mean, interval, interval_of_amounts, mean, rank_correlation_of_means};
use super::{FigurePlan, Measure, What, score, shown};
use crate::results::{
    Bar, Figure, Group, InputShown, Interval, Results, Row, RowKey, ScenarioShown, Scored, Shape, Status,
    VariantShown,
};

impl Plan {
    /// Figures and scores of these rows. What is missing in them is missing
    /// there, and said.
    #[must_use]
    pub fn evaluate(&self, rows: Vec<Row>) -> Results {
        let data = Data::new(&rows);
        let evaluation = Evaluation { plan: self, data };
        let drawn = self.paper.figures.iter().filter(|figure| !figure.parts.is_empty());
        let figures = drawn.map(|figure| evaluation.figure(figure)).collect();
        let claims = self.paper.claims.claims.iter().filter(|claim| self.asks_for(claim));
        let claims = claims.map(|claim| evaluation.claim(claim)).collect();
        let mut settings = self.paper.settings.clone();
        settings.extend(self.overrides.iter().cloned());
        Results {
            paper: self.paper.name.clone(),
            title: self.paper.claims.title.clone(),
            scale: self.scale.to_string(),
            seeds: self.seeds.clone(),
            code: crate::CODE.to_owned(),
            settings,
            scenarios: self.scenarios_shown(),
            inputs: self.inputs_shown(),
            variants: self.variants_shown(),
            figures,
            claims,
            rows,
        }
    }

    /// Does a figure that is asked for speak of this claim?
    fn asks_for(&self, claim: &Claim) -> bool {
        self.all_figures
            || self.paper.figures.iter().any(|figure| {
                claim.id.split('.').nth(1) == Some(&figure.id)
                    || figure.measures.iter().any(|measure| measure.claim == claim.id)
                    || figure.litmus.iter().any(|litmus| litmus.claim == claim.id)
            })
    }

    fn scenarios_shown(&self) -> Vec<ScenarioShown> {
        let used: BTreeSet<&String> = self.runs.keys().map(|key| &key.scenario).collect();
        let shown = |s: &super::NamedScenario| ScenarioShown {
            name: s.name.clone(),
            protocol: s.scenario.protocol.to_owned(),
            policy: s.scenario.policy.clone().unwrap_or_default(),
            summary: s.summary.clone(),
        };
        self.paper.scenarios.iter().filter(|s| used.contains(&s.name)).map(shown).collect()
    }

    fn inputs_shown(&self) -> Vec<InputShown> {
        let used: BTreeSet<&String> = self.runs.keys().map(|key| &key.input).collect();
        let shown = |input: &super::Input| {
            let graph = &self.graphs[&input.name];
            InputShown {
                name: input.name.clone(),
                workload: input.workload.name.to_owned(),
                graph: graph.name.clone(),
                stand_in: graph.named.is_none() && graph.digest.is_none(),
                source: match (graph.named, &graph.digest) {
                    (Some(_), _) => "of the workload",
                    (None, Some(_)) => "file",
                    (None, None) => "stand-in",
                }
                .to_owned(),
            }
        };
        self.paper.inputs.iter().filter(|input| used.contains(&input.name)).map(shown).collect()
    }

    fn variants_shown(&self) -> Vec<VariantShown> {
        let used: BTreeSet<&String> = self.runs.keys().map(|key| &key.variant).collect();
        let shown = |variant: &super::Variant| {
            let mut parameters = Vec::new();
            flatten("", &serde_json::to_value(&variant.system).unwrap_or(Value::Null), &mut parameters);
            VariantShown {
                name: variant.name.clone(),
                system: variant.system.name.clone(),
                changes: variant.changes.clone(),
                parameters,
            }
        };
        self.paper.variants.iter().filter(|variant| used.contains(&variant.name)).map(shown).collect()
    }
}

/// The leaves of a value, each under its path.
fn flatten(path: &str, value: &Value, into: &mut Vec<(String, String)>) {
    match value {
        Value::Object(inner) => {
            for (key, value) in inner {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                flatten(&path, value, into);
            }
        }
        Value::String(text) => into.push((path.to_owned(), text.clone())),
        other => into.push((path.to_owned(), other.to_string())),
    }
}

/// Rows by their keys.
struct Data<'a> {
    rows: BTreeMap<&'a RowKey, &'a Row>,
    /// What any of them counts.
    counted: BTreeSet<&'a str>,
}

impl<'a> Data<'a> {
    fn new(rows: &'a [Row]) -> Data<'a> {
        Data {
            rows: rows.iter().map(|row| (&row.key, row)).collect(),
            counted: rows.iter().flat_map(|row| row.measured.counters.keys().map(String::as_str)).collect(),
        }
    }

    fn quantity(&self, name: &str, key: &RowKey) -> Result<f64, NoValue> {
        let RowKey { variant, scenario, input, seed } = key;
        let of = || format!("{scenario} on {input}, {variant}, seed {seed}");
        let missing = |what: String| Err(NoValue::Missing(what));
        let Some(row) = self.rows.get(key) else { return missing(format!("{} was not run", of())) };
        let measured = &row.measured;
        if !measured.answer_ok {
            return missing(format!("{} has no right answer", of()));
        }
        if name == "cycles" {
            return Ok(measured.cycles as f64);
        }
        if let Some(part) = name.strip_prefix("energy_pj.") {
            return measured
                .energy_pj
                .get(part)
                .copied()
                .ok_or(NoValue::Missing(format!("no energy `{part}`")));
        }
        match measured.counters.get(name) {
            Some(count) => Ok(*count as f64),
            // What others count did not happen here.
            None if self.counted.contains(name) => Ok(0.0),
            None => missing(format!("no run counts `{name}`")),
        }
    }

    fn value(&self, expr: &Expr, here: &RowKey) -> Result<f64, NoValue> {
        expr.value(&|name, at: &At| {
            let key = RowKey {
                scenario: at.scenario.clone().unwrap_or_else(|| here.scenario.clone()),
                variant: at.variant.clone().unwrap_or_else(|| here.variant.clone()),
                ..here.clone()
            };
            self.quantity(name, &key)
        })
    }
}

/// Scores a claim by the tests that it speaks of: all must be as claimed.
fn litmus_claim<'a>(scored: &mut Scored, tests: impl Iterator<Item = &'a Litmus>) {
    // A test has no seed and no input.
    scored.seeds = 0;
    let (mut found, mut texts, mut holds) = (Vec::new(), Vec::new(), true);
    for litmus in tests {
        texts.push(litmus.text());
        match litmus.check() {
            Ok(all) => {
                holds &= all.iter().all(|found| found.holds);
                found.extend(all.into_iter().map(|one| json!({ "test": one.words, "holds": one.holds })));
            }
            Err(why) => {
                scored.note = Some(why);
                return;
            }
        }
    }
    scored.measure = texts.join("; ");
    scored.measured = json!(found);
    scored.status = if holds { Status::Reproduced } else { Status::Contradicted };
}

pub(super) struct Evaluation<'a> {
    pub(super) plan: &'a Plan,
    data: Data<'a>,
}

impl Evaluation<'_> {
    fn seeds(&self) -> &[u64] {
        &self.plan.seeds
    }

    /// The value for each seed, folded over the inputs.
    fn folded(
        &self,
        expr: &Expr,
        (variant, scenario): (&str, &str),
        inputs: &[String],
        fold: fn(&[f64]) -> Option<f64>,
    ) -> Result<Vec<f64>, NoValue> {
        let of_seed = |seed: &u64| {
            let of_input = |input: &String| {
                let (variant, scenario) = (variant.to_owned(), scenario.to_owned());
                self.data.value(expr, &RowKey { variant, scenario, input: input.clone(), seed: *seed })
            };
            let values = inputs.iter().map(of_input).collect::<Result<Vec<_>, _>>()?;
            fold(&values).ok_or(NoValue::Undefined)
        };
        self.seeds().iter().map(of_seed).collect()
    }

    fn figure(&self, plan: &FigurePlan) -> Figure {
        let mut groups = Vec::new();
        for variant in &plan.variants {
            let label = |of: &str| match plan.variants.len() {
                1 => of.to_owned(),
                _ => format!("{of}, {variant}"),
            };
            if plan.groups == Groups::Inputs {
                for input in &plan.inputs {
                    let mut group =
                        self.group(plan, label(input), variant, core::slice::from_ref(input), mean);
                    group.is_mean = false;
                    self.publish_all(plan, variant, core::slice::from_ref(input), &mut group);
                    self.print_published(plan, input, &mut group);
                    groups.push(group);
                }
            }
            let by_variant = plan.groups == Groups::Variants;
            if by_variant || plan.inputs.len() > 1 {
                let name = if by_variant { self.variant_label(plan, variant) } else { label("mean") };
                let mut group = self.group(plan, name, variant, &plan.inputs, mean);
                self.publish_all(plan, variant, &plan.inputs, &mut group);
                groups.push(group);
            }
            if !by_variant && plan.inputs.len() > 1 && plan.shape == Shape::Bars {
                let name = label("geometric mean");
                groups.push(self.group(plan, name, variant, &plan.inputs, geometric_mean));
            }
        }
        Figure {
            id: plan.id.clone(),
            title: plan.title.clone(),
            place: plan.place.clone(),
            shape: plan.shape,
            unit: plan.unit.clone(),
            parts: plan.parts.iter().map(|(label, _)| label.clone()).collect(),
            groups,
        }
    }

    fn group(
        &self,
        plan: &FigurePlan,
        label: String,
        variant: &str,
        inputs: &[String],
        fold: fn(&[f64]) -> Option<f64>,
    ) -> Group {
        let bar = |scenario: &String| {
            let mut missing = None;
            let values = plan.parts.iter().map(|(_, expr)| {
                match self.folded(expr, (variant, scenario), inputs, fold) {
                    Ok(values) => interval_of(expr, &values),
                    Err(why) => {
                        missing.get_or_insert(why.to_string());
                        None
                    }
                }
            });
            let values = values.collect();
            Bar { scenario: scenario.clone(), values, published: Vec::new(), published_range: None, missing }
        };
        Group { label, is_mean: true, bars: plan.shown.iter().map(bar).collect() }
    }

    fn publish_all(&self, plan: &FigurePlan, variant: &str, inputs: &[String], group: &mut Group) {
        for bar in &mut group.bars {
            let scenario = bar.scenario.clone();
            self.publish(plan, &shown::Place { variant, scenario: &scenario, inputs }, bar);
        }
    }

    fn print_published(&self, plan: &FigurePlan, input: &str, group: &mut Group) {
        let table = plan.published.as_ref().and_then(|name| self.plan.paper.claims.tables.get(name));
        let Some(row) = table.and_then(|table| table.rows.get(input)) else { return };
        for bar in &mut group.bars {
            bar.published = (0..plan.parts.len()).map(|at| row.get(at).copied()).collect();
        }
    }

    fn claim(&self, claim: &Claim) -> Scored {
        let measures = self.plan.paper.figures.iter().flat_map(|f| f.measures.iter().map(move |m| (f, m)));
        let mut scored = Scored {
            id: claim.id.clone(),
            kind: claim.kind.name().to_owned(),
            published: match (claim.value, claim.low, claim.high) {
                (Some(value), ..) => json!(value),
                (None, Some(low), Some(high)) => json!([low, high]),
                _ => json!(claim.metric),
            },
            measured: Value::Null,
            status: Status::NotRun,
            would_be: None,
            place: claim.place.clone(),
            says: claim.says.clone(),
            measure: String::new(),
            interval: None,
            geometric: None,
            worst_input: None,
            seeds: self.seeds().len(),
            note: None,
        };
        let litmus: Vec<&Litmus> = self.plan.paper.figures.iter().flat_map(|f| &f.litmus).collect();
        if litmus.iter().any(|litmus| litmus.claim == claim.id) {
            litmus_claim(&mut scored, litmus.into_iter().filter(|litmus| litmus.claim == claim.id));
            return scored;
        }
        let mut measures = measures.filter(|(_, measure)| measure.claim == claim.id);
        let Some((figure, measure)) = measures.next() else {
            scored.note = Some("no experiment that was asked for measures it".to_owned());
            return scored;
        };
        scored.measure.clone_from(&measure.text);
        let outcome = match &measure.what {
            What::Value(expr) => self.figure_claim(&mut scored, claim, figure, measure, expr),
            What::Order(order) => self.order_claim(&mut scored, figure, measure, order),
            What::Rises(rising, with) => self.rises_claim(&mut scored, figure, measure, [rising, with]),
        };
        match outcome {
            Ok(status) if self.plan.scale == Scale::FULL => scored.status = status,
            Ok(status) => {
                scored.status = Status::Indicative;
                scored.would_be = Some(status);
            }
            Err(why) => scored.note = Some(why.to_string()),
        }
        scored
    }

    fn figure_claim(
        &self,
        scored: &mut Scored,
        claim: &Claim,
        figure: &FigurePlan,
        measure: &Measure,
        expr: &Expr,
    ) -> Result<Status, NoValue> {
        let here = place(figure);
        if claim.kind == Kind::Exact || measure.fold == Fold::Each {
            return self.each_figure(scored, claim, here, measure, expr);
        }
        let fold: fn(&[f64]) -> Option<f64> = match measure.fold {
            Fold::Mean | Fold::Each => mean,
            Fold::Min => |values| values.iter().copied().reduce(f64::min),
            Fold::Max => |values| values.iter().copied().reduce(f64::max),
        };
        let values = self.folded(expr, here, &measure.inputs, fold)?;
        let found = interval_of(expr, &values).ok_or(NoValue::Undefined)?;
        scored.measured = json!(found.mean);
        scored.interval = Some([found.low, found.high]).filter(|_| values.len() > 1);
        if measure.fold == Fold::Mean && measure.inputs.len() > 1 {
            let geometric = self.folded(expr, here, &measure.inputs, geometric_mean).ok();
            scored.geometric = geometric.and_then(|values| mean(&values));
        }
        scored.note = score::close_counts(claim).map(|ends| {
            let [low, high] = ends.map(|end| grouped(end as u64));
            format!("a count is scored by its logarithm: from {low} to {high} is as published")
        });
        Ok(score::mean_figure(claim, found))
    }

    /// A figure that must be right on each input: the worst input counts. An exact
    /// figure must be right in each run. Where a quotient has no value there is
    /// nothing to be right; but it must have one somewhere.
    fn each_figure(
        &self,
        scored: &mut Scored,
        claim: &Claim,
        here: (&str, &str),
        measure: &Measure,
        expr: &Expr,
    ) -> Result<Status, NoValue> {
        let mut found: Vec<OfInput> = Vec::new();
        for input in &measure.inputs {
            let values = match self.folded(expr, here, core::slice::from_ref(input), mean) {
                Err(NoValue::Undefined) => continue,
                values => values?,
            };
            found.push(self.of_input(claim, expr, input, &values).ok_or(NoValue::Undefined)?);
        }
        // The first of the worst.
        let worst = found.iter().rev().max_by_key(|of| of.status).ok_or(NoValue::Undefined)?;
        scored.measured = json!(worst.shown.mean);
        scored.interval = Some([worst.shown.low, worst.shown.high]).filter(|_| worst.is_mean);
        if found.len() > 1 || worst.status != Status::Reproduced {
            let right = found.iter().filter(|of| of.status == Status::Reproduced).count();
            let all: Vec<&str> = found.iter().map(|of| of.text.as_str()).collect();
            let what = if claim.kind == Kind::Exact { "right" } else { "as published" };
            let head = format!("shown is the worst input, {}", worst.input);
            scored.worst_input = Some(worst.input.clone()).filter(|_| found.len() > 1);
            scored.note = Some(format!("{head}; {right} of {} are {what}: {}", found.len(), all.join(", ")));
        }
        Ok(worst.status)
    }

    /// How a figure is on one input: its mean over the seeds, or if it must be exact
    /// the first one that is wrong.
    fn of_input(&self, claim: &Claim, expr: &Expr, input: &str, values: &[f64]) -> Option<OfInput> {
        let rounded = |value: f64| (value * 10_000.0).round() / 10_000.0;
        let range = || {
            let (low, high) =
                (values.iter().copied().reduce(f64::min)?, values.iter().copied().reduce(f64::max)?);
            Some((rounded(low), rounded(high))).filter(|_| values.len() > 1)
        };
        let input = input.to_owned();
        if claim.kind == Kind::Exact {
            let is_wrong = |value: &&f64| score::figure(claim, **value) != Status::Reproduced;
            let shown = *values.iter().find(is_wrong).or(values.first())?;
            let seeds = self.seeds().iter().zip(values).filter(|(_, value)| is_wrong(value));
            let seeds: Vec<String> = seeds.map(|(seed, _)| seed.to_string()).collect();
            let wrong = match seeds.len() {
                0 => String::new(),
                1 => format!(" with seed {}", seeds[0]),
                _ => format!(" with seeds {}", seeds.join(", ")),
            };
            let text = format!("{input} {}{wrong}", rounded(shown));
            let shown = Interval { mean: shown, low: shown, high: shown };
            return Some(OfInput {
                status: score::figure(claim, shown.mean),
                input,
                is_mean: false,
                shown,
                text,
            });
        }
        let shown = interval_of(expr, values)?;
        let text = match range() {
            Some((low, high)) => {
                let [mean, low, high] = to_one_decimal([rounded(shown.mean), low, high]);
                format!("{input} {mean} (seeds {low} to {high})")
            }
            None => format!("{input} {}", rounded(shown.mean)),
        };
        let status = score::mean_figure(claim, shown);
        Some(OfInput { status, input, is_mean: values.len() > 1, shown, text })
    }

    /// Do two values rise together over the inputs, by the correlation of
    /// the ranks of their means?
    fn rises_claim(
        &self,
        scored: &mut Scored,
        figure: &FigurePlan,
        measure: &Measure,
        values: [&Expr; 2],
    ) -> Result<Status, NoValue> {
        let each = |expr: &Expr| {
            let of = |input| self.folded(expr, place(figure), core::slice::from_ref(input), mean);
            measure.inputs.iter().map(of).collect::<Result<Vec<_>, _>>()
        };
        let [rising, with] = values;
        let found = rank_correlation_of_means(&each(rising)?, &each(with)?).ok_or(NoValue::Undefined)?;
        scored.measured = json!(found.mean);
        scored.interval = Some([found.low, found.high]).filter(|_| self.seeds().len() > 1);
        Ok(score::positive(found))
    }

    fn order_claim(
        &self,
        scored: &mut Scored,
        figure: &FigurePlan,
        measure: &Measure,
        order: &[Comparison],
    ) -> Result<Status, NoValue> {
        let here = place(figure);
        let each: Vec<&[String]> = match measure.fold {
            Fold::Each => measure.inputs.iter().map(core::slice::from_ref).collect(),
            _ => vec![&measure.inputs],
        };
        let (mut found, mut fails, mut status) = (Vec::new(), Vec::new(), Status::Reproduced);
        for inputs in each {
            for comparison in order {
                let side = |expr: &Expr| -> Result<Interval, NoValue> {
                    interval_of(expr, &self.folded(expr, here, inputs, mean)?).ok_or(NoValue::Undefined)
                };
                let (left, right) = (side(&comparison.left)?, side(&comparison.right)?);
                let outcome = score::compare(left, comparison.relation, right);
                let holds = outcome == Status::Reproduced;
                status = status.max(outcome);
                let input = if inputs.len() == 1 { inputs[0].as_str() } else { "mean" };
                found.push(json!({
                    "comparison": comparison.text, "input": input,
                    "left": left.mean, "right": right.mean, "holds": holds, "status": outcome.name(),
                }));
                if !holds {
                    let decimals = if right.mean.abs() < 1000.0 { 4 } else { 0 };
                    let open = if outcome == Status::Inconclusive { ", intervals overlap" } else { "" };
                    fails.push(format!(
                        "{input}: {:.decimals$} against {:.decimals$}{open}",
                        left.mean, right.mean
                    ));
                }
            }
        }
        let all = found.len();
        scored.measured = Value::Array(found);
        if !fails.is_empty() {
            let holding = all - fails.len();
            scored.note = Some(format!(
                "{holding} of {} hold; not on {}",
                counted(all as u64, "comparison"),
                fails.join(", ")
            ));
        }
        Ok(status)
    }
}

/// The interval of the values of an expression.
fn interval_of(expr: &Expr, values: &[f64]) -> Option<Interval> {
    if expr.is_amount() { interval_of_amounts(values) } else { interval(values) }
}

/// A figure on one input.
struct OfInput {
    input: String,
    status: Status,
    /// A mean with its interval, or one value.
    shown: Interval,
    is_mean: bool,
    text: String,
}

/// Where a measure that names no scenario and no variant is at.
pub(super) fn place(figure: &FigurePlan) -> (&str, &str) {
    (figure.variants.first().map_or("", String::as_str), figure.scenarios.first().map_or("", String::as_str))
}

/// Numbers with as many decimals as the longest of them has.
fn to_one_decimal<const N: usize>(numbers: [f64; N]) -> [String; N] {
    let decimals = |number: &f64| number.to_string().split_once('.').map_or(0, |(_, rest)| rest.len());
    let most = numbers.iter().map(decimals).max().unwrap_or(0);
    numbers.map(|number| format!("{number:.most$}"))
}
