//! Finds the status of each claim of a paper: computes the measured values and compares them with
//! the published values.

use proto::words::{counted, grouped};
use serde_json::{Value, json};
use workloads::graph::stand_in::Scale;

use super::{Evaluation, interval_of, place};
use crate::paper::claims::{Claim, Kind};
use crate::paper::expr::{Comparison, Expr, NoValue, Relation};
use crate::paper::files::Fold;
use crate::paper::litmus::ModelResult;
use crate::paper::statistics::{
    geometric_mean, interval, interval_of_amounts, mean, rank_correlation_of_means,
};
use crate::paper::{BASE, FigurePlan, Measure, Metric, Variant, score};
use crate::results::{Interval, Scored, Status, VariantStatus};
use crate::verify::Records;

impl Evaluation<'_> {
    pub(super) fn claim(&self, claim: &Claim) -> Scored {
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
            stand_ins: Vec::new(),
            seeds: self.seeds().len(),
            note: None,
            variants: Vec::new(),
        };
        let figures = || self.plan.paper.figures.iter();
        let litmus = figures().flat_map(|f| &f.litmus).filter(|litmus| litmus.claim == claim.id);
        let mut without_runs: Vec<_> = litmus.map(|litmus| (litmus.text(), litmus.check())).collect();
        let verified = figures().flat_map(|f| &f.verified).filter(|verified| verified.claim == claim.id);
        without_runs.extend(verified.map(|verified| {
            let records = Records::recorded();
            (verified.text(), records.and_then(|records| verified.check(&records)))
        }));
        if !without_runs.is_empty() {
            claim_without_runs(&mut scored, without_runs);
            return scored;
        }
        if let Some((_, test)) = figures().flat_map(|f| &f.tested).find(|(tested, _)| *tested == claim.id) {
            scored.note = Some(format!("a test of the project checks the claim: `{test}`"));
            return scored;
        }
        let mut measures = measures.filter(|(_, measure)| measure.claim == claim.id);
        let Some((figure, measure)) = measures.next() else {
            scored.note = Some("no requested experiment measures the claim".to_owned());
            return scored;
        };
        scored.measure.clone_from(&measure.text);
        scored.variants = self.on_variants(&scored, claim, figure, measure);
        match self.outcome(&mut scored, claim, figure, measure) {
            Ok(status) if self.plan.scale == Scale::FULL => scored.status = status,
            Ok(status) => {
                scored.status = Status::Indicative;
                scored.would_be = Some(status);
            }
            Err(why) => scored.note = Some(why.to_string()),
        }
        if scored.status != Status::NotRun {
            let is_stand_in = |input: &&String| self.plan.is_stand_in(input);
            scored.stand_ins = measure.inputs.iter().filter(is_stand_in).cloned().collect();
        }
        scored
    }

    /// Writes the measured value of a claim into `scored`, and returns the status that this value
    /// gives with inputs of the published size.
    fn outcome(
        &self,
        scored: &mut Scored,
        claim: &Claim,
        figure: &FigurePlan,
        measure: &Measure,
    ) -> Result<Status, NoValue> {
        match &measure.what {
            Metric::Value(expr) => self.figure_claim(scored, claim, figure, measure, expr),
            Metric::Order(order) => self.order_claim(scored, figure, measure, order),
            Metric::Rises(rising, with) => self.rises_claim(scored, figure, measure, [rising, with]),
            Metric::Spread(values) => self.spread_claim(scored, claim, figure, measure, values),
            Metric::Largest(expr) => self.largest_claim(scored, figure, measure, expr),
        }
    }

    /// The status of a claim on each variant of the paper's machine or programs that has all runs of
    /// the measure. It is `NotRun` if one of these runs has no right answer. A measure that compares
    /// variants has no status on further variants.
    fn on_variants(
        &self,
        scored: &Scored,
        claim: &Claim,
        figure: &FigurePlan,
        measure: &Measure,
    ) -> Vec<VariantStatus> {
        let variants = &self.plan.paper.variants;
        if !measure.is_only_on(BASE, place(figure).0) {
            return Vec::new();
        }
        let is_of_paper = |variant: &&Variant| {
            let base = variants.iter().find(|variant| variant.name == BASE);
            variant.name != BASE
                && !variant.is_unsound()
                && base.is_some_and(|base| base.system.name == variant.system.name)
        };
        let status = |variant: &Variant| {
            let there = Evaluation { base: &variant.name, ..*self };
            let status = match there.outcome(&mut scored.clone(), claim, figure, measure) {
                Ok(status) => status,
                Err(NoValue::NotRun(_)) => return None,
                Err(_) => Status::NotRun,
            };
            Some(VariantStatus { variant: variant.name.clone(), status })
        };
        variants.iter().filter(is_of_paper).filter_map(status).collect()
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
            Fold::Geomean => geometric_mean,
            Fold::Min => |values| values.iter().copied().reduce(f64::min),
            Fold::Max => |values| values.iter().copied().reduce(f64::max),
            Fold::Sum => |values| Some(values.iter().sum()),
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
            format!("a count is scored by its logarithm: {low} to {high} agree with the published count")
        });
        Ok(score::mean_figure(claim, found))
    }

    /// Finds the status of a claim that must hold for each input. It is the worst status of an
    /// input. A claim of the kind `exact` must hold in each run. An input for which the expression
    /// divides by zero is left out, but at least one input must remain.
    fn each_figure(
        &self,
        scored: &mut Scored,
        claim: &Claim,
        here: (&str, &str),
        measure: &Measure,
        expr: &Expr,
    ) -> Result<Status, NoValue> {
        let mut found: Vec<InputScore> = Vec::new();
        for input in &measure.inputs {
            let values = match self.folded(expr, here, core::slice::from_ref(input), mean) {
                Err(NoValue::Undefined) => continue,
                values => values?,
            };
            found.push(self.of_input(claim, expr, input, &values).ok_or(NoValue::Undefined)?);
        }
        // The score is that of the input with the worst status, and among several of them, of the one
        // farthest from the published value.
        let order = |a: &&InputScore, b: &&InputScore| {
            let distance = |of: &InputScore| score::distance(claim, of.shown.mean);
            a.status.cmp(&b.status).then(distance(a).total_cmp(&distance(b)))
        };
        let worst = found.iter().rev().max_by(order).ok_or(NoValue::Undefined)?;
        scored.measured = json!(worst.shown.mean);
        scored.interval = Some([worst.shown.low, worst.shown.high]).filter(|_| worst.is_mean);
        if found.len() > 1 || worst.status != Status::Reproduced {
            let right = found.iter().filter(|of| of.status == Status::Reproduced).count();
            let all: Vec<&str> = found.iter().map(|of| of.text.as_str()).collect();
            let what = if claim.kind == Kind::Exact { "right" } else { "as published" };
            let head = format!("the measured value is from the worst input, {}", worst.input);
            scored.worst_input = Some(worst.input.clone()).filter(|_| found.len() > 1);
            scored.note = Some(format!("{head}; {right} of {} are {what}: {}", found.len(), all.join(", ")));
        }
        Ok(worst.status)
    }

    /// The status of a claim on one input, with the measured value. The status is computed from the
    /// mean over the seeds. For a claim of the kind `exact`, it is computed from the first value
    /// that does not agree with the claim, or from the first value if all agree.
    fn of_input(&self, claim: &Claim, expr: &Expr, input: &str, values: &[f64]) -> Option<InputScore> {
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
            return Some(InputScore {
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
        Some(InputScore { status, input, is_mean: values.len() > 1, shown, text })
    }

    /// Finds the status of the claim that two values rise together: if the first value is larger
    /// for one input than for another input, the second value is larger too. The status depends on
    /// the rank correlation of the means over the seeds.
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

    /// Finds the status of the claim that several values are similar. For each seed, it computes
    /// the mean of each value over the inputs. The measured number is the largest of these means
    /// divided by the smallest, minus one.
    fn spread_claim(
        &self,
        scored: &mut Scored,
        claim: &Claim,
        figure: &FigurePlan,
        measure: &Measure,
        values: &[Expr],
    ) -> Result<Status, NoValue> {
        let means = |expr: &Expr| self.folded(expr, place(figure), &measure.inputs, mean);
        let means = values.iter().map(means).collect::<Result<Vec<_>, _>>()?;
        let spread = |seed: usize| {
            let of_seed = || means.iter().map(|of_value| of_value[seed]);
            let (low, high) = (of_seed().reduce(f64::min)?, of_seed().reduce(f64::max)?);
            Some(high / low - 1.0).filter(|_| low > 0.0)
        };
        let spreads = (0..self.seeds().len()).map(spread).collect::<Option<Vec<f64>>>();
        let spreads = spreads.ok_or(NoValue::Undefined)?;
        let found = interval_of_amounts(&spreads).ok_or(NoValue::Undefined)?;
        scored.measured = json!(found.mean);
        scored.interval = Some([found.low, found.high]).filter(|_| spreads.len() > 1);
        Ok(score::mean_figure(claim, found))
    }

    /// Finds the status of the claim that a value is larger for each input of the measure than for
    /// each other input of the figure. For each seed, it compares the smallest value of the first
    /// inputs with the largest value of the others.
    fn largest_claim(
        &self,
        scored: &mut Scored,
        figure: &FigurePlan,
        measure: &Measure,
        value: &Expr,
    ) -> Result<Status, NoValue> {
        let is_other = |input: &&String| !measure.inputs.contains(input);
        let others: Vec<String> = figure.inputs.iter().filter(is_other).cloned().collect();
        let least = |values: &[f64]| values.iter().copied().reduce(f64::min);
        let greatest = |values: &[f64]| values.iter().copied().reduce(f64::max);
        let named = self.folded(value, place(figure), &measure.inputs, least)?;
        let rest = self.folded(value, place(figure), &others, greatest)?;
        let compared = Compared::new(&named, Relation::Greater, &rest)?;
        scored.measured = json!([compared.json(&measure.text, "smallest against largest of the others")]);
        if compared.status != Status::Reproduced {
            scored.note = Some(compared.note("smallest against largest of the others"));
        }
        Ok(compared.status)
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
                let side = |expr: &Expr| self.folded(expr, here, inputs, mean);
                let (lefts, rights) = (side(&comparison.left)?, side(&comparison.right)?);
                let compared = Compared::new(&lefts, comparison.relation, &rights)?;
                let input = if inputs.len() == 1 { inputs[0].as_str() } else { "mean" };
                status = status.max(compared.status);
                found.push(compared.json(&comparison.text, input));
                if compared.status != Status::Reproduced {
                    fails.push(compared.note(input));
                }
            }
        }
        let all = found.len();
        scored.measured = Value::Array(found);
        if !fails.is_empty() {
            let holding = all - fails.len();
            scored.note = Some(format!(
                "{holding} of {} hold; exceptions: {}",
                counted(all as u64, "comparison"),
                fails.join(", ")
            ));
        }
        Ok(status)
    }
}

/// Finds the status of a claim that litmus tests or recorded verifications decide: `all` has the
/// parts of the claim in words, each with its results. The claim is reproduced only if every part has
/// the claimed result.
fn claim_without_runs(scored: &mut Scored, all: Vec<(String, Result<Vec<ModelResult>, String>)>) {
    // There is no seed and no input.
    scored.seeds = 0;
    let (mut found, mut texts, mut holds) = (Vec::new(), Vec::new(), true);
    for (text, results) in all {
        texts.push(text);
        match results {
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

/// The result of a comparison of two values over all seeds.
struct Compared {
    left: f64,
    right: f64,
    /// The left value minus the right value.
    difference: Interval,
    status: Status,
}

impl Compared {
    /// Compares the values of each seed.
    fn new(lefts: &[f64], relation: Relation, rights: &[f64]) -> Result<Compared, NoValue> {
        let differences: Vec<f64> = lefts.iter().zip(rights).map(|(left, right)| left - right).collect();
        let difference = interval(&differences).ok_or(NoValue::Undefined)?;
        let of = |values: &[f64]| mean(values).ok_or(NoValue::Undefined);
        let (left, right) = (of(lefts)?, of(rights)?);
        let status = score::compare(difference, relation, left.abs().max(right.abs()));
        Ok(Compared { left, right, difference, status })
    }

    fn json(&self, comparison: &str, input: &str) -> Value {
        let Compared { left, right, difference, status } = self;
        json!({
            "comparison": comparison, "input": input,
            "left": left, "right": right, "difference": [difference.low, difference.high],
            "holds": *status == Status::Reproduced, "status": status.name(),
        })
    }

    /// The two values and what they say, for a comparison that does not hold.
    fn note(&self, input: &str) -> String {
        let (left, right) = (self.left, self.right);
        let decimals = if right.abs() < 1000.0 { 4 } else { 0 };
        let open = if self.status == Status::Inconclusive { ", the seeds do not decide" } else { "" };
        format!("{input}: {left:.decimals$} against {right:.decimals$}{open}")
    }
}

/// The status of a claim on one input, and the measured value that determines the status.
struct InputScore {
    input: String,
    status: Status,
    /// The mean over the seeds with its 95% confidence interval. For a claim of the kind `exact`,
    /// both ends and the mean are the single value that determines the status.
    shown: Interval,
    is_mean: bool,
    text: String,
}

/// Writes the numbers as texts with the same number of decimals. This number is the largest number
/// of decimals that one of the numbers needs.
fn to_one_decimal<const N: usize>(numbers: [f64; N]) -> [String; N] {
    let decimals = |number: &f64| number.to_string().split_once('.').map_or(0, |(_, rest)| rest.len());
    let most = numbers.iter().map(decimals).max().unwrap_or(0);
    numbers.map(|number| format!("{number:.most$}"))
}
