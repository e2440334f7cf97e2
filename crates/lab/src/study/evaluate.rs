//! Computes the rows and the charts of a study from the results of its runs. A row is the result of
//! one run.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::chart::ChartPlan;
use super::results::{AxisKind, Chart, ChartFigure, ChartPoint, StudyResults, StudyRow, plain};
use super::{Place, PlannedRun, Study};
use crate::digest::TaskId;
use crate::paper::expr::{At, Expr, NoValue};
use crate::paper::statistics::{interval, interval_of_amounts};
use crate::results::{Interval, Measured};

impl Study {
    /// Computes the rows (one for each run) and the charts of the study from the results of its
    /// tasks.
    #[must_use]
    pub fn evaluate(&self, results: &BTreeMap<TaskId, Measured>) -> StudyResults {
        let rows = self.runs.iter().map(|run| self.row(run, results)).collect();
        let index = self.runs.iter().enumerate();
        let index = index.map(|(at, run)| ((&run.place[..], run.task.experiment.seed), at)).collect();
        let data = Data { study: self, rows, index };
        let charts = self.charts.iter().map(|chart| data.chart(chart)).collect();
        StudyResults {
            study: self.title.clone(),
            code: crate::CODE.to_owned(),
            seeds: self.seeds.clone(),
            axes: self.axes.clone(),
            machines: self.machines.clone(),
            scenarios: self.scenarios.clone(),
            inputs: self.inputs.clone(),
            charts,
            rows: data.rows,
        }
    }

    fn row(&self, run: &PlannedRun, results: &BTreeMap<TaskId, Measured>) -> StudyRow {
        let experiment = &run.task.experiment;
        let name = |kind: AxisKind| {
            let axis = self.axes.iter().position(|axis| axis.kind == kind)?;
            run.place[axis].map(|at| plain(&self.axes[axis].values[at]))
        };
        let missing = || Measured { error: Some("was not run".to_owned()), ..Measured::default() };
        StudyRow {
            system: experiment.system.name.clone(),
            variant: name(AxisKind::Variant),
            machine: match serde_json::to_value(&experiment.machine) {
                Ok(Value::Object(machine)) => machine,
                _ => Map::new(),
            },
            scenario: name(AxisKind::Scenario).unwrap_or_default(),
            protocol: experiment.scenario.protocol.to_owned(),
            policy: experiment.policy(),
            workload: experiment.workload.name.to_owned(),
            input: name(AxisKind::Input),
            settings: run.task.settings().map(|(name, value)| (name.to_owned(), value)).collect(),
            seed: experiment.seed,
            measured: results.get(&run.task.id).cloned().unwrap_or_else(missing),
        }
    }
}

/// The rows (results of runs) of a study, with an index. The index finds the row for a seed and a
/// combination of values of the study's axes.
struct Data<'a> {
    study: &'a Study,
    rows: Vec<StudyRow>,
    index: BTreeMap<(&'a [Option<usize>], u64), usize>,
}

impl Data<'_> {
    fn chart(&self, plan: &ChartPlan) -> Chart {
        let axes = &self.study.axes;
        // Figures, and the series in each figure, are in the order of their first runs.
        let mut figures: Vec<(Place, Vec<Place>)> = Vec::new();
        for run in self.study.runs.iter().filter(|run| plan.shows(run)) {
            if Some(&run.task.experiment.seed) != self.study.seeds.first() {
                continue;
            }
            let of: Place = plan.others.iter().map(|axis| run.place[*axis]).collect();
            match figures.iter_mut().find(|(known, _)| *known == of) {
                Some((_, places)) => places.push(run.place.clone()),
                None => figures.push((of, vec![run.place.clone()])),
            }
        }
        let figure = |(of, places): (Place, Vec<Place>)| {
            let shown =
                plan.others.iter().zip(of).filter_map(|(axis, at)| {
                    Some((axes[*axis].name.clone(), axes[*axis].values[at?].clone()))
                });
            ChartFigure { at: shown.collect(), points: self.points(plan, places) }
        };
        Chart {
            title: plan.title.clone(),
            x: axes[plan.x].name.clone(),
            y: plan.y_text.clone(),
            unit: plan.unit.clone(),
            series: plan.series.iter().map(|axis| axes[*axis].name.clone()).collect(),
            is_lines: plan.is_lines,
            is_log: plan.is_log,
            figures: figures.into_iter().map(figure).collect(),
        }
    }

    fn points(&self, plan: &ChartPlan, mut places: Vec<Place>) -> Vec<ChartPoint> {
        let axes = &self.study.axes;
        let series =
            |place: &[Option<usize>]| -> Place { plan.series.iter().map(|axis| place[*axis]).collect() };
        places.sort_by_key(|place| (series(place), place[plan.x]));
        let point = |place: Place| {
            let names = plan.series.iter().filter_map(|at| {
                let axis = &axes[*at];
                let value = plain(&axis.values[place[*at]?]);
                // In a legend, the number of a parameter means nothing without the parameter's
                // name.
                let is_parameter = matches!(axis.kind, AxisKind::Machine | AxisKind::Setting);
                Some(if is_parameter { format!("{} {value}", axis.name) } else { value })
            });
            let names: Vec<String> = names.collect();
            let (value, missing) = match self.mean(&plan.y, &place) {
                Ok(value) => (Some(value), None),
                Err(why) => (None, Some(why.to_string())),
            };
            ChartPoint {
                x: place[plan.x].map(|at| axes[plan.x].values[at].clone()).unwrap_or_default(),
                series: if names.is_empty() { plan.y_text.clone() } else { names.join(", ") },
                value,
                missing,
            }
        };
        places.into_iter().map(point).collect()
    }

    /// The mean of an expression over the seeds with its confidence interval, for the combination
    /// `place` of values of the study's axes.
    fn mean(&self, expr: &Expr, place: &[Option<usize>]) -> Result<Interval, NoValue> {
        let of_seed = |seed: &u64| expr.value(&|name, at: &At| self.quantity(name, at, place, *seed));
        let values = self.study.seeds.iter().map(of_seed).collect::<Result<Vec<f64>, _>>()?;
        let mean = if expr.is_amount() { interval_of_amounts(&values) } else { interval(&values) };
        mean.ok_or(NoValue::Undefined)
    }

    fn quantity(&self, name: &str, at: &At, place: &[Option<usize>], seed: u64) -> Result<f64, NoValue> {
        let mut place = place.to_vec();
        for (kind, wanted) in [(AxisKind::Scenario, &at.scenario), (AxisKind::Variant, &at.variant)] {
            let Some(wanted) = wanted else { continue };
            let axis = self.study.axes.iter().position(|axis| axis.kind == kind);
            if let Some(axis) = axis {
                place[axis] = self.study.axes[axis].values.iter().position(|value| plain(value) == *wanted);
            }
        }
        let missing = |why: String| NoValue::Missing(why);
        let Some(row) = self.index.get(&(&place[..], seed)).map(|at| &self.rows[*at]) else {
            return Err(missing("the study has no run with these values".to_owned()));
        };
        let Measured { cycles, answer_ok, counters, energy_pj, .. } = &row.measured;
        if !answer_ok {
            let what = if row.measured.is_misfit() { "does not fit" } else { "has no right answer" };
            return Err(missing(format!("{} with seed {seed} {what}", row.scenario)));
        }
        if name == "cycles" {
            return Ok(*cycles as f64);
        }
        if let Some(part) = name.strip_prefix("energy_pj.") {
            let energy = energy_pj.get(part).copied();
            return energy.ok_or_else(|| missing(format!("no energy `{part}`")));
        }
        match counters.get(name) {
            Some(count) => Ok(*count as f64),
            // A counter that this run lacks but another run has is zero in this run.
            None if self.rows.iter().any(|row| row.measured.counters.contains_key(name)) => Ok(0.0),
            None => Err(missing(format!("no run has a counter `{name}`"))),
        }
    }
}
