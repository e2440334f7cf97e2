//! Describes the scenarios, inputs and variants of a plan for the results.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::paper::{Input, NamedScenario, Plan, Variant};
use crate::results::{InputDescription, ScenarioDescription, VariantDescription};

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

    pub(super) fn input_descriptions(&self) -> Vec<InputDescription> {
        let used: BTreeSet<&String> = self.runs.keys().map(|key| &key.input).collect();
        let shown = |input: &Input| {
            let graph = &self.graphs[&input.name];
            InputDescription {
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

    pub(super) fn variant_descriptions(&self) -> Vec<VariantDescription> {
        let used: BTreeSet<&String> = self.runs.keys().map(|key| &key.variant).collect();
        let shown = |variant: &Variant| {
            let mut parameters = Vec::new();
            flatten("", &serde_json::to_value(&variant.system).unwrap_or(Value::Null), &mut parameters);
            VariantDescription {
                name: variant.name.clone(),
                system: variant.system.name.clone(),
                changes: variant.changes.clone(),
                parameters,
            }
        };
        self.paper.variants.iter().filter(|variant| used.contains(&variant.name)).map(shown).collect()
    }
}

/// Appends the values in a nested JSON object to `into`. Each value gets its path, such as
/// `l1.bytes`.
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
