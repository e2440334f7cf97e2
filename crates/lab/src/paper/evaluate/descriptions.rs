//! Describes the scenarios, inputs and machine variants of a plan, for the results of a
//! reproduction.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog;
use crate::paper::{Input, NamedScenario, Paper, Plan, Source, Variant};
use crate::results::{InputDescription, ScenarioDescription, VariantDescription};
use crate::systems::{parameters, text_of};

impl Plan {
    pub(super) fn scenario_descriptions(&self) -> Vec<ScenarioDescription> {
        let used: BTreeSet<&String> = self.runs.keys().map(|key| &key.scenario).collect();
        let shown = |s: &NamedScenario| ScenarioDescription {
            name: s.name.clone(),
            protocol: s.scenario.protocol.to_owned(),
            policy: s.scenario.policy.clone().unwrap_or_default(),
            summary: s.summary.clone(),
        };
        self.paper.scenarios.iter().filter(|s| used.contains(&s.name)).map(shown).collect()
    }

    /// Returns true if the input is a stand-in (a generated graph that replaces a published one).
    pub(super) fn is_stand_in(&self, input: &str) -> bool {
        let is_graph = |known: &Input| known.name == input && matches!(known.source, Source::Graph(_));
        let file = self.graphs.get(input).and_then(|graph| graph.digest.as_ref());
        file.is_none() && self.paper.inputs.iter().any(is_graph)
    }

    pub(super) fn input_descriptions(&self) -> Vec<InputDescription> {
        let used: BTreeSet<&String> = self.runs.keys().map(|key| &key.input).collect();
        let shown = |input: &Input| {
            let graph = self.graphs.get(&input.name);
            let source = match (&input.source, graph.and_then(|graph| graph.digest.as_ref())) {
                (Source::Generated(..), _) => "generated",
                (Source::Named(_), _) => "of the workload",
                (Source::Graph(_), Some(_)) => "file",
                (Source::Graph(_), None) => "stand-in",
            };
            let name = match &input.source {
                Source::Generated(_, settings) => settings.clone(),
                _ => graph.map(|graph| graph.name.clone()).unwrap_or_default(),
            };
            InputDescription {
                name: input.name.clone(),
                workload: input.workload.name.to_owned(),
                graph: name,
                stand_in: self.is_stand_in(&input.name),
                source: source.to_owned(),
            }
        };
        self.paper.inputs.iter().filter(|input| used.contains(&input.name)).map(shown).collect()
    }

    pub(super) fn variant_descriptions(&self) -> Vec<VariantDescription> {
        let used: BTreeSet<&String> = self.runs.keys().map(|key| &key.variant).collect();
        let shown = |variant: &Variant| VariantDescription {
            name: variant.name.clone(),
            system: variant.system.name.clone(),
            changes: variant.changes.clone(),
            is_unsound: variant.is_unsound(),
            parameters: variant.parameters(),
        };
        self.paper.variants.iter().filter(|variant| used.contains(&variant.name)).map(shown).collect()
    }
}

impl Variant {
    /// The parameters of the variant's machine: the path in the machine's description, and the
    /// value.
    fn parameters(&self) -> Vec<(String, String)> {
        parameters(&self.system).into_iter().map(|(key, value)| (key, text_of(&value))).collect()
    }

    /// The parameters of the variant's machine that are numbers, by their paths in the machine's
    /// description.
    pub(super) fn numbers(&self) -> BTreeMap<String, f64> {
        let numbers = self.parameters().into_iter();
        numbers.filter_map(|(name, text)| Some((name, text.parse().ok()?))).collect()
    }
}

impl Paper {
    /// The value of a setting of the scenario's protocol on the machine of the variant. `None` if the
    /// protocol has no such setting.
    pub(super) fn protocol_setting(&self, scenario: &str, variant: &str, setting: &str) -> Option<f64> {
        let scenario = self.scenarios.iter().find(|known| known.name == scenario)?;
        let variant = self.variants.iter().find(|known| known.name == variant)?;
        let protocol = scenario.scenario.protocol;
        let (_, declared) = catalog::declared().into_iter().find(|(known, _)| *known == protocol)?;
        let declared = declared.iter().find(|known| known.name == setting)?;
        let given = variant.system.protocol.get(protocol).and_then(|settings| settings.get(setting));
        Some(given.copied().unwrap_or(declared.default) as f64)
    }
}
