//! Computes the figures of a paper and the statuses of its claims from rows. A row is the result of
//! one run.

mod descriptions;
mod figures;
mod scores;

use std::collections::{BTreeMap, BTreeSet};

use super::claims::Claim;
use super::expr::{At, Expr, NoValue};
use super::plan::Plan;
use super::statistics::{interval, interval_of_amounts};
use super::{BASE, FigurePlan};
use crate::results::{Interval, Results, Row, RowKey};

impl Plan {
    /// Computes the figures and the statuses of the claims from `rows`, the results of the runs. If
    /// a value needs a run without a row, the value is missing in the results, with a note that
    /// gives the reason.
    #[must_use]
    pub fn evaluate(&self, rows: Vec<Row>) -> Results {
        let data = Data::new(self, &rows);
        let evaluation = Evaluation { plan: self, data: &data, base: BASE };
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
            scenarios: self.scenario_descriptions(),
            inputs: self.input_descriptions(),
            variants: self.variant_descriptions(),
            figures,
            claims,
            rows,
        }
    }

    /// Returns true if the claim belongs to one of the requested figures.
    fn asks_for(&self, claim: &Claim) -> bool {
        self.all_figures
            || self.paper.figures.iter().any(|figure| {
                claim.id.split('.').nth(1) == Some(&figure.id)
                    || figure.measures.iter().any(|measure| measure.claim == claim.id)
                    || figure.litmus.iter().any(|litmus| litmus.claim == claim.id)
                    || figure.verified.iter().any(|verified| verified.claim == claim.id)
                    || figure.tested.iter().any(|(tested, _)| *tested == claim.id)
            })
    }
}

/// The rows (results of runs), by the keys of the runs (variant, scenario, input and seed).
struct Data<'a> {
    plan: &'a Plan,
    rows: BTreeMap<&'a RowKey, &'a Row>,
    /// The names of all counters that at least one row has.
    counted: BTreeSet<&'a str>,
    /// The variants whose machine ignores acquires. The runs of these variants count even if their
    /// answer is wrong.
    unsound: BTreeSet<&'a str>,
    /// For each variant, the parameters of its machine that are numbers, by their paths in the
    /// machine's description.
    parameters: BTreeMap<&'a str, BTreeMap<String, f64>>,
}

impl<'a> Data<'a> {
    fn new(plan: &'a Plan, rows: &'a [Row]) -> Data<'a> {
        let variants = plan.paper.variants.iter();
        Data {
            plan,
            parameters: plan.paper.variants.iter().map(|v| (v.name.as_str(), v.numbers())).collect(),
            unsound: variants.filter(|variant| variant.is_unsound()).map(|v| v.name.as_str()).collect(),
            rows: rows.iter().map(|row| (&row.key, row)).collect(),
            counted: rows.iter().flat_map(|row| row.measured.counters.keys().map(String::as_str)).collect(),
        }
    }

    fn quantity(&self, name: &str, key: &RowKey) -> Result<f64, NoValue> {
        let RowKey { variant, scenario, input, seed } = key;
        let of = || format!("{scenario} on {input}, {variant}, seed {seed}");
        let missing = |what: String| Err(NoValue::Missing(what));
        let Some(row) = self.rows.get(key) else { return Err(NoValue::NotRun(of())) };
        let measured = &row.measured;
        let counts = measured.answer_ok || measured.has_ended() && self.unsound.contains(variant.as_str());
        if !counts {
            return missing(format!("{} has no right answer", of()));
        }
        if let Some(parameter) = name.strip_prefix("machine.") {
            let number = self.parameters.get(variant.as_str()).and_then(|all| all.get(parameter));
            return number.copied().ok_or(NoValue::Missing(format!("no machine parameter `{parameter}`")));
        }
        if let Some(setting) = name.strip_prefix("setting.") {
            let value = self.plan.paper.protocol_setting(scenario, variant, setting);
            return value
                .ok_or(NoValue::Missing(format!("no setting `{setting}` of the protocol of {scenario}")));
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
            // A counter that this row lacks but another row has is zero in this row.
            None if self.counted.contains(name) => Ok(0.0),
            None => missing(format!("no run has a counter `{name}`")),
        }
    }

    /// The value of an expression. The runs of the variant `base` take the place of those of the
    /// machine of the paper.
    fn value(&self, expr: &Expr, here: &RowKey, base: &str) -> Result<f64, NoValue> {
        expr.value(&|name, at: &At| {
            let variant = at.variant.as_ref().unwrap_or(&here.variant);
            let key = RowKey {
                scenario: at.scenario.clone().unwrap_or_else(|| here.scenario.clone()),
                variant: if variant == BASE { base.to_owned() } else { variant.clone() },
                ..here.clone()
            };
            self.quantity(name, &key)
        })
    }
}

#[derive(Clone, Copy)]
pub(super) struct Evaluation<'a> {
    pub(super) plan: &'a Plan,
    data: &'a Data<'a>,
    /// The variant whose runs take the place of those of the machine of the paper. Usually it is
    /// this machine itself.
    base: &'a str,
}

impl Evaluation<'_> {
    fn seeds(&self) -> &[u64] {
        &self.plan.seeds
    }

    /// The values of an expression, one for each seed. For each seed, the function `fold` combines
    /// the values of all inputs into one value.
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
                let key = RowKey { variant, scenario, input: input.clone(), seed: *seed };
                self.data.value(expr, &key, self.base)
            };
            let values = inputs.iter().map(of_input).collect::<Result<Vec<_>, _>>()?;
            fold(&values).ok_or(NoValue::Undefined)
        };
        self.seeds().iter().map(of_seed).collect()
    }
}

/// The mean of the values of an expression with its 95% confidence interval. If the expression is
/// never negative, the interval does not extend below zero.
fn interval_of(expr: &Expr, values: &[f64]) -> Option<Interval> {
    if expr.is_amount() { interval_of_amounts(values) } else { interval(values) }
}

/// The variant and the scenario for a measure (the value of a claim) that names no variant or no
/// scenario: the first variant and the first scenario of the figure.
pub(super) fn place(figure: &FigurePlan) -> (&str, &str) {
    (figure.variants.first().map_or("", String::as_str), figure.scenarios.first().map_or("", String::as_str))
}
