//! Computes the figures of a paper from the results of runs. A figure has groups of bars. Each bar
//! has a measured value, and a published value if the paper gives one.

use super::{Evaluation, interval_of};
use crate::paper::files::Groups;
use crate::paper::statistics::{geometric_mean, mean};
use crate::paper::{FigurePlan, labels};
use crate::results::{Bar, Figure, Group, Shape};

/// A function that combines the values of several inputs into one value, such as a mean.
type Fold = fn(&[f64]) -> Option<f64>;

impl Evaluation<'_> {
    pub(super) fn figure(&self, plan: &FigurePlan) -> Figure {
        let mut groups = Vec::new();
        for variant in &plan.shown_variants {
            let label = |of: &str| match plan.shown_variants.len() {
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
            for (over, inputs) in &plan.means {
                let folds = [("mean", mean as Fold), ("geometric mean", geometric_mean as Fold)];
                for (name, fold) in folds {
                    let label = label(&format!("{name} of {over}"));
                    groups.push(self.group(plan, label, variant, inputs, fold));
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

    fn group(&self, plan: &FigurePlan, label: String, variant: &str, inputs: &[String], fold: Fold) -> Group {
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
            self.publish(plan, &labels::BarPlace { variant, scenario: &scenario, inputs }, bar);
        }
    }

    fn print_published(&self, plan: &FigurePlan, input: &str, group: &mut Group) {
        let table = plan.published.as_ref().and_then(|name| self.plan.paper.claims.tables.get(name));
        let Some(row) = table.and_then(|table| table.rows.get(input)) else { return };
        for bar in &mut group.bars {
            bar.published = (0..plan.parts.len()).map(|at| row.get(at).copied()).collect();
        }
    }
}
