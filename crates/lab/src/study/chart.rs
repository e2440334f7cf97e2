//! Looks up the names in the charts that the file of a study describes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use toml::Spanned;

use super::file::{ChartFile, File};
use super::resolver::json;
use super::results::{AxisKind, StudiedAxis, plain};
use super::{PlannedRun, Study};
use crate::error::{Error, printable};
use crate::paper::expr::{At, Definitions, Expr, ExprError};
use crate::source::Source;

/// The maximum number of figures of one chart.
const FIGURES_MAX: usize = 100;

/// The maximum number of series (lines or kinds of bars) of one chart.
const SERIES_MAX: usize = 24;

/// The prefixes of the names of counters that are not known before a run.
const LATE: [&str; 5] = ["messages.", "message_bytes.", "bytes_sent.", "cycles.", "program."];

/// The parts into which the energy of every machine is divided.
const ENERGY: [&str; 8] = ["core", "l1", "l2", "noc", "dram", "lds", "links", "total"];

/// A chart of a study, after all names in its description were looked up.
#[derive(Clone, Debug)]
pub(super) struct ChartPlan {
    pub(super) title: String,
    /// The axis of the study (such as a parameter or the scenarios) that the horizontal axis of the
    /// chart shows. It is an index in the list of the study's axes.
    pub(super) x: usize,
    pub(super) y: Expr,
    pub(super) y_text: String,
    pub(super) unit: String,
    /// The axes of the study whose values are the series (lines or kinds of bars) of the chart.
    /// They are indices in the list of the study's axes.
    pub(super) series: Vec<usize>,
    /// The axes of the study that are neither the horizontal axis nor series. The chart has one
    /// figure for each combination of values of these axes. The axes are given as indices in the
    /// list of the study's axes.
    pub(super) others: Vec<usize>,
    /// The restriction of the chart to some values. The key is the index of a restricted axis of
    /// the study, and the value has the indices of the axis values that the chart shows.
    pub(super) filter: BTreeMap<usize, BTreeSet<usize>>,
    pub(super) is_lines: bool,
    pub(super) is_log: bool,
}

impl ChartPlan {
    /// Returns true if the chart shows this run.
    pub(super) fn shows(&self, run: &PlannedRun) -> bool {
        self.filter.iter().all(|(axis, values)| run.place[*axis].is_some_and(|at| values.contains(&at)))
    }
}

/// Looks up the names in the charts that a study's file describes, and returns the charts.
pub(super) fn plans(
    source: &Source,
    file: &File,
    study: &Study,
    counters: &BTreeSet<String>,
) -> Result<Vec<ChartPlan>, Error> {
    let mut quantities: Vec<String> = counters.iter().cloned().collect();
    quantities.push("cycles".to_owned());
    quantities.extend(ENERGY.map(|part| format!("energy_pj.{part}")));
    let levels = study.machines.iter().flat_map(|machine| &machine.parameters);
    let levels = levels.filter_map(|(key, _)| {
        let path = key.strip_prefix("level.").or_else(|| key.strip_prefix("memory_side."));
        path?.split('.').next()
    });
    quantities.extend(levels.map(|level| format!("energy_pj.{level}")));
    let mut planner = Planner { source, study, quantities, definitions: Definitions::new() };
    planner.define(file)?;
    file.charts.iter().map(|chart| planner.plan(chart)).collect()
}

struct Planner<'a> {
    source: &'a Source,
    study: &'a Study,
    /// The names of all quantities (cycles, counters, energies) that are known before the runs.
    quantities: Vec<String>,
    definitions: Definitions,
}

impl Planner<'_> {
    /// Adds the definitions that every study has (such as `speedup`), and the definitions in the
    /// study's file.
    fn define(&mut self, file: &File) -> Result<(), Error> {
        let first = At { scenario: Some(file.scenarios[0].get_ref().clone()), variant: None };
        let cycles = |at: At| Box::new(Expr::Quantity("cycles".to_owned(), at));
        let speedup = Expr::Binary('/', cycles(first), cycles(At::default()));
        let quantity = |name: &str| Expr::Quantity(name.to_owned(), At::default());
        self.definitions.insert("speedup".to_owned(), speedup);
        self.definitions.insert("energy".to_owned(), quantity("energy_pj.total"));
        self.definitions.insert("traffic".to_owned(), quantity("noc_bytes_sent"));
        for (name, value) in &file.definitions {
            let text = name.get_ref();
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if !text.starts_with(|c: char| c.is_ascii_alphabetic()) || !text.chars().all(is_name) {
                let message = format!(
                    "found the name `{}`, expected a letter, then letters, digits and `_`",
                    printable(text)
                );
                return Err(self.source.error(name.span(), message));
            }
            if ["max", "min"].contains(&text.as_str()) || self.quantities.contains(text) {
                let message = format!(
                    "`{text}` is already the name of a function or of a measured value, expected another name"
                );
                return Err(self.source.error(name.span(), message));
            }
            let value = self.expression(value)?;
            self.definitions.insert(text.clone(), value);
        }
        Ok(())
    }

    /// Parses an expression and checks that the quantities, scenarios and variants that it names
    /// exist.
    fn expression(&self, text: &Spanned<String>) -> Result<Expr, Error> {
        let misfit = |wrong: &ExprError| {
            let at = text.span().start + 1 + wrong.offset;
            self.source.error(at..at, wrong.message.clone())
        };
        let expr = Expr::parse(text.get_ref(), &self.definitions).map_err(|wrong| misfit(&wrong))?;
        let mut fault = None;
        expr.quantities(&mut |name, at| {
            let found = self.check(name, at);
            fault = fault.take().or(found.err());
        });
        match fault {
            Some(fault) => Err(self.source.error(text.span(), fault)),
            None => Ok(expr.renamed(&|name| self.quantity(name))),
        }
    }

    /// The name of a quantity in the spelling of the results. For example, `l1.hits` becomes
    /// `l1_hits` if only `l1_hits` exists.
    fn quantity(&self, name: &str) -> String {
        let other = name.replace('.', "_");
        match !self.quantities.iter().any(|known| known == name) && self.quantities.contains(&other) {
            true => other,
            false => name.to_owned(),
        }
    }

    fn check(&self, name: &str, at: &At) -> Result<(), String> {
        let is_late = LATE.iter().any(|prefix| name.starts_with(prefix) && name.len() > prefix.len());
        if !is_late && !self.quantities.contains(&self.quantity(name)) {
            let mut known = self.quantities.clone();
            known.extend(self.definitions.keys().cloned());
            return Err(Error::unknown("quantity", name, &known).to_string());
        }
        for (axis, value) in [("scenario", &at.scenario), ("variant", &at.variant)] {
            let Some(value) = value else { continue };
            let axis = self.study.axes.iter().find(|known| known.name == axis);
            let known: Vec<String> =
                axis.into_iter().flat_map(|axis| axis.values.iter().map(plain)).collect();
            if !known.contains(value) {
                return Err(Error::unknown("scenario or variant of this study", value, &known).to_string());
            }
        }
        Ok(())
    }

    fn axis(&self, name: &Spanned<String>) -> Result<usize, Error> {
        let known: Vec<&str> = self.study.axes.iter().map(|axis| axis.name.as_str()).collect();
        let at = known.iter().position(|known| known == name.get_ref());
        at.ok_or_else(|| self.source.unknown("axis of this study", name, &known))
    }

    fn plan(&self, file: &ChartFile) -> Result<ChartPlan, Error> {
        let axes = &self.study.axes;
        let x = self.axis(&file.x)?;
        let y = self.expression(&file.y)?;
        let filter = self.filter(file)?;
        let shown = |axis: usize| filter.get(&axis).map_or(axes[axis].values.len(), BTreeSet::len);
        let several: Vec<usize> = (0..axes.len()).filter(|axis| *axis != x && shown(*axis) > 1).collect();
        let series = match &file.series {
            Some(names) => names.iter().map(|name| self.axis(name)).collect::<Result<Vec<_>, _>>()?,
            None => several.iter().copied().filter(|axis| axes[*axis].kind == AxisKind::Scenario).collect(),
        };
        if let Some(name) = file.series.iter().flatten().find(|name| name.get_ref() == file.x.get_ref()) {
            let message = format!(
                "`{}` is already the axis `x` of the chart, expected another axis",
                printable(name.get_ref())
            );
            return Err(self.source.error(name.span(), message));
        }
        let others: Vec<usize> = several.into_iter().filter(|axis| !series.contains(axis)).collect();
        let (is_lines, is_log) = self.shape(file, &axes[x])?;
        let (y_text, first) = (printable(file.y.get_ref()), plain(&self.first_scenario()));
        let unit = file.unit.clone().unwrap_or_else(|| match y_text.as_str() {
            "speedup" => format!("speedup over {first}"),
            "energy" => "energy, pJ".to_owned(),
            "traffic" => "bytes on the network".to_owned(),
            text => text.to_owned(),
        });
        let title = file.title.clone().unwrap_or_else(|| format!("{y_text} by {}", axes[x].name));
        let plan = ChartPlan { title, x, y, y_text, unit, series, others, filter, is_lines, is_log };
        self.check_runs(file, &plan)?;
        Ok(plan)
    }

    fn first_scenario(&self) -> Value {
        let scenarios = self.study.axes.iter().find(|axis| axis.kind == AxisKind::Scenario);
        scenarios.and_then(|axis| axis.values.first()).cloned().unwrap_or_default()
    }

    fn filter(&self, file: &ChartFile) -> Result<BTreeMap<usize, BTreeSet<usize>>, Error> {
        let mut filter = BTreeMap::new();
        for wanted in &file.filter {
            let axis = self.axis(&Spanned::new(wanted.span.clone(), wanted.name.clone()))?;
            let known = &self.study.axes[axis].values;
            let mut values = BTreeSet::new();
            for listed in &wanted.values {
                let value = json(&listed.value);
                let Some(at) = known.iter().position(|known| *known == value) else {
                    let names: Vec<String> = known.iter().map(plain).collect();
                    let (value, names) = (printable(&plain(&value)), names.join(", "));
                    let name = printable(&wanted.name);
                    let message =
                        format!("`{name}` is never `{value}` in this study, expected one of {names}");
                    return Err(self.source.error(listed.span.clone(), message));
                };
                values.insert(at);
            }
            filter.insert(axis, values);
        }
        Ok(filter)
    }

    /// Decides the shape of the chart. Returns two values: whether the chart has lines, and whether
    /// its horizontal axis is logarithmic.
    fn shape(&self, file: &ChartFile, x: &StudiedAxis) -> Result<(bool, bool), Error> {
        let numbers: Option<Vec<f64>> = x.values.iter().map(Value::as_f64).collect();
        let choose = |text: &Option<Spanned<String>>, known: [&str; 2]| match text {
            None => Ok(None),
            Some(text) => match known.iter().position(|known| known == text.get_ref()) {
                Some(at) => Ok(Some(at)),
                None => Err(self.source.unknown("choice", text, &known)),
            },
        };
        let shape = choose(&file.shape, ["lines", "bars"])?;
        let scale = choose(&file.scale, ["linear", "log"])?;
        let is_lines = match (shape, &numbers) {
            (Some(0), None) => {
                let message = format!(
                    "lines need an axis with numbers, but `{}` has names, expected `bars`",
                    printable(&x.name)
                );
                return Err(self.source.error(file.x.span(), message));
            }
            (shape, numbers) => shape.unwrap_or(1 - usize::from(numbers.is_some())) == 0,
        };
        if let (false, Some(text)) = (is_lines, &file.scale) {
            let message = match numbers {
                None => {
                    format!("`x_scale` needs numbers on the axis, but `{}` has names", printable(&x.name))
                }
                Some(_) => "`x_scale` is for lines, but the chart has bars".to_owned(),
            };
            return Err(self.source.error(text.span(), message));
        }
        let numbers = numbers.unwrap_or_default();
        let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let most = numbers.iter().copied().fold(0.0, f64::max);
        if scale == Some(1) && least <= 0.0 {
            let message =
                format!("`{}` is {least}, expected numbers above zero for `log`", printable(&x.name));
            return Err(self.source.error(file.x.span(), message));
        }
        // If the values of the axis grow by factors, only a logarithmic axis keeps them apart.
        let is_log = scale.map_or(numbers.len() > 2 && least > 0.0 && most >= 8.0 * least, |at| at == 1);
        Ok((is_lines, is_log && is_lines))
    }

    /// Checks that the chart shows at least one run, that each shown run has a value on the
    /// horizontal axis, and that there are not too many figures or series.
    fn check_runs(&self, file: &ChartFile, plan: &ChartPlan) -> Result<(), Error> {
        let (mut figures, mut series, mut is_empty) = (BTreeSet::new(), BTreeSet::new(), true);
        let place =
            |run: &PlannedRun, axes: &[usize]| axes.iter().map(|axis| run.place[*axis]).collect::<Vec<_>>();
        for run in self.study.runs.iter().filter(|run| plan.shows(run)) {
            is_empty = false;
            if run.place[plan.x].is_none() {
                let workload = run.task.experiment.workload.name;
                let message = format!(
                    "`{}` does not apply to workload `{workload}`: restrict the chart by `where`, such as \
                     `where = {{ workload = \"NAME\" }}`",
                    printable(file.x.get_ref())
                );
                return Err(self.source.error(file.x.span(), message));
            }
            figures.insert(place(run, &plan.others));
            series.insert(place(run, &plan.series));
        }
        let names = |axes: &[usize]| {
            let names: Vec<&str> = axes.iter().map(|axis| self.study.axes[*axis].name.as_str()).collect();
            names.join(", ")
        };
        let message = if is_empty {
            "no run of the study fits `where`".to_owned()
        } else if figures.len() > FIGURES_MAX {
            let (count, names) = (figures.len(), names(&plan.others));
            format!(
                "the chart has {count} figures, expected at most {FIGURES_MAX}: restrict {names} by `where`"
            )
        } else if series.len() > SERIES_MAX {
            let (count, names) = (series.len(), names(&plan.series));
            format!(
                "the chart has {count} series, expected at most {SERIES_MAX}: restrict {names} by `where`"
            )
        } else {
            return Ok(());
        };
        Err(self.source.error(file.span.clone(), message))
    }
}
