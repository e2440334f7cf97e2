//! The labels of figures: the names of groups of bars, and the published values of bars.

use super::claims::{Claim, Kind};
use super::evaluate::Evaluation;
use super::expr::{At, Expr};
use super::files::{Fold, Groups};
use super::{BASE, FigurePlan, Measure, Metric};
use crate::results::{Bar, Shape};

/// The runs whose result a bar of a chart shows: the runs of one variant and one scenario, on one
/// or several inputs.
pub(super) struct BarPlace<'a> {
    pub(super) variant: &'a str,
    pub(super) scenario: &'a str,
    pub(super) inputs: &'a [String],
}

impl Evaluation<'_> {
    /// The label of the group of bars of a variant. If the figure compares variants on different
    /// machines, the label begins with the name of the variant's machine.
    pub(super) fn variant_label(&self, plan: &FigurePlan, name: &str) -> String {
        let variants = &self.plan.paper.variants;
        let of = |name: &str| variants.iter().find(|variant| variant.name == name);
        let Some(variant) = of(name).filter(|_| plan.groups == Groups::Variants) else {
            return name.to_owned();
        };
        let system = &variant.system;
        let is_alone = plan.variants.iter().filter_map(|name| of(name)).all(|v| v.system.name == system.name);
        match (is_alone, name) {
            (true, BASE) => String::from("unchanged"),
            (true, name) => name.to_owned(),
            (false, _) => {
                let mut label = format!("{}, {} CUs", system.name, system.cu.count);
                if !(variant.changes.is_empty() && variant.settings.is_empty() && variant.policy.is_none()) {
                    label += &format!(", {name}");
                }
                label
            }
        }
    }

    /// Adds the published value to a bar that is not divided into parts, if a claim of the
    /// paper gives a value for this bar.
    pub(super) fn publish(&self, plan: &FigurePlan, place: &BarPlace<'_>, bar: &mut Bar) {
        let Some((_, part)) = plan.parts.first().filter(|_| plan.shape == Shape::Bars) else { return };
        let shown = part.placed(&at(place.scenario, place.variant));
        let paper = &self.plan.paper;
        for claim in paper.claims.claims.iter().filter(|claim| claim.kind == Kind::Number) {
            let measures =
                paper.figures.iter().flat_map(|figure| figure.measures.iter().map(move |m| (figure, m)));
            let mut of_claim = measures.filter(|(_, measure)| measure.claim == claim.id);
            if of_claim.any(|(figure, measure)| measures_bar(figure, measure, &shown, place.inputs)) {
                note(claim, bar);
                return;
            }
        }
    }
}

fn at(scenario: &str, variant: &str) -> At {
    At { scenario: Some(scenario.to_owned()), variant: Some(variant.to_owned()) }
}

/// Returns true if the measure of a claim computes the value that a bar shows. `shown` is the
/// expression of the bar, and `inputs` are its inputs.
fn measures_bar(figure: &FigurePlan, measure: &Measure, shown: &Expr, inputs: &[String]) -> bool {
    let Metric::Value(expr) = &measure.what else { return false };
    let (variant, scenario) = super::evaluate::place(figure);
    let is_over_them = match measure.fold {
        Fold::Mean => measure.inputs == inputs,
        Fold::Each => inputs.len() == 1 && measure.inputs.contains(&inputs[0]),
        Fold::Geomean | Fold::Min | Fold::Max | Fold::Sum => false,
    };
    is_over_them && expr.placed(&at(scenario, variant)) == *shown
}

fn note(claim: &Claim, bar: &mut Bar) {
    match (claim.value, claim.low, claim.high) {
        (Some(value), ..) => bar.published = vec![Some(value)],
        (None, Some(low), Some(high)) => bar.published_range = Some([low, high]),
        _ => {}
    }
}
