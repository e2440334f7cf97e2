//! Lists of the protocols, scenarios, workloads, models and papers that exist.

use std::collections::BTreeMap;

use proto::{Info, Protocol};
use serde::{Deserialize, Serialize};
use workloads::{Purpose, Setting, SettingKind, Size, Workload, stealing};
use zoo::Visit;

use crate::error::Error;
use crate::origin;
use crate::paper::built_in::{self, PAPERS};
use crate::place::Place;
use crate::scenario::Scenario;

/// The properties of a protocol that the command `list protocols` shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProtocolEntry {
    /// The name of the protocol.
    pub name: &'static str,
    /// A summary of the protocol, in one line.
    pub summary: &'static str,
    /// The names of the memory models that the protocol claims to implement, separated by commas.
    pub claim: String,
    /// For each memory model that the protocol claims to implement, a text that maps the operations
    /// of the model to requests of the protocol.
    pub mappings: Vec<&'static str>,
    /// The source of the protocol: a paper, or this project.
    pub source: &'static str,
    /// The settings that a machine file may give under `[protocol.NAME]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<SettingEntry>,
}

/// All protocols, with the properties that the command `list protocols` shows.
#[must_use]
pub fn protocols() -> Vec<ProtocolEntry> {
    let entry = |(info, (_, settings)): (&Info, Declared)| ProtocolEntry {
        name: info.name,
        summary: info.summary,
        claim: info.claims.iter().map(|claim| claim.model).collect::<Vec<_>>().join(", "),
        mappings: info.claims.iter().map(|claim| claim.mapping).collect(),
        source: info.source,
        settings: settings.iter().map(protocol_setting).collect(),
    };
    zoo::ALL.iter().zip(declared()).map(entry).collect()
}

fn protocol_setting(setting: &proto::Setting) -> SettingEntry {
    SettingEntry {
        name: setting.name,
        meaning: setting.about,
        default: setting.default.to_string(),
        unit: Some(setting.unit),
        choices: Vec::new(),
        choice_meanings: Vec::new(),
        range: Some([setting.least, setting.most]),
    }
}

/// The names of all protocols.
#[must_use]
pub fn protocol_names() -> Vec<&'static str> {
    zoo::ALL.iter().map(|info| info.name).collect()
}

/// The properties of a scenario that the command `list scenarios` shows. A scenario is a protocol
/// together with a policy of the program. The scenarios are those of the hLRC paper, and repaired
/// versions of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ScenarioEntry {
    /// The name of the scenario.
    pub name: &'static str,
    /// The meaning of the scenario's policy, in one line.
    pub summary: &'static str,
    /// The protocol of the scenario.
    pub protocol: &'static str,
    /// The policy (a variant of the program) that the scenario prescribes for programs that steal
    /// work.
    pub policy: &'static str,
    /// The protocol and the policy in one text, in the form that the option `--scenario` accepts.
    pub scenario: String,
    /// The source of the scenario: a paper, or this project.
    pub source: &'static str,
}

/// The name of a protocol, with the settings that it declares.
pub type Declared = (&'static str, &'static [proto::Setting]);

/// The names of all protocols, each with the settings that the protocol declares.
#[must_use]
pub fn declared() -> Vec<Declared> {
    struct Settings;
    impl Visit for Settings {
        type Output = &'static [proto::Setting];
        fn visit<P: Protocol>(self) -> &'static [proto::Setting] {
            P::SETTINGS
        }
    }
    zoo::ALL.iter().map(|info| (info.name, zoo::with(info.name, Settings).unwrap_or(&[]))).collect()
}

/// The scenarios that combine a protocol with a policy, with the properties that the command `list
/// scenarios` shows.
#[must_use]
pub fn scenarios() -> Vec<ScenarioEntry> {
    let entry = |scenario: Scenario| {
        let protocol = scenario.protocol;
        let of_protocol = zoo::ALL.iter().find(|info| info.name == scenario.name);
        let stealing::Scenario { name, policy, summary } = match of_protocol {
            Some(info) => stealing::for_machine(info.sharing, info.name),
            None => stealing::scenario(scenario.name),
        }?;
        let in_full = Scenario { name: protocol, policy: Some(policy.to_owned()), ..scenario };
        // A protocol whose name has this ending is a repaired version that this project has made.
        // Its scenarios also come from this project.
        let source = match protocol.ends_with("-repaired") {
            true => "ours, a repaired scenario of the hLRC paper (MICRO 2016)",
            false => "hLRC paper (MICRO 2016), section IV",
        };
        Some(ScenarioEntry { name, summary, protocol, policy, scenario: in_full.to_string(), source })
    };
    Scenario::all().into_iter().filter_map(entry).collect()
}

/// A table in Markdown with the name, the policy and the meaning of the policy of each scenario.
#[must_use]
pub fn scenarios_page() -> String {
    let mut page = "| scenario | policy | meaning of the policy |\n|---|---|---|\n".to_owned();
    for ScenarioEntry { name, policy, summary, .. } in scenarios() {
        page += &format!("| `{name}` | `{policy}` | {summary} |\n");
    }
    page
}

/// The properties of a workload that the command `list workloads` shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WorkloadEntry {
    /// The name of the workload.
    pub name: &'static str,
    /// A summary of the workload, in one line.
    pub summary: &'static str,
    /// The name of the workload's room: a group of workloads of one kind, such as stencils. `list
    /// workloads` groups the workloads by room.
    pub room: &'static str,
    /// A summary of the workload's room (its group of workloads), in one line.
    #[serde(skip)]
    pub room_summary: &'static str,
    /// The purpose of the workload: `benchmark`, `stress`, `diagnosis` or `race`.
    pub purpose: &'static str,
    /// The source of the workload: a paper, or this project.
    pub source: &'static str,
    /// The sizes of the workload that the option `--size NAME` accepts, the smallest first.
    pub sizes: Vec<SizeEntry>,
    /// The settings of the workload that the option `--set NAME=VALUE` accepts.
    pub settings: Vec<SettingEntry>,
    /// The inputs that the workload itself provides and the option `--input NAME` selects. If the
    /// workload accepts graphs, `--input` also accepts graphs, which are not in this list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<InputEntry>,
}

/// A named size of a workload, which stands for values of its settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SizeEntry {
    /// The name of the size.
    pub name: &'static str,
    /// The settings that the size changes, with their values.
    pub settings: BTreeMap<&'static str, &'static str>,
}

/// An input that a workload itself provides under a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputEntry {
    /// The name of the input.
    pub name: &'static str,
    /// A summary of the input, in one line.
    pub summary: &'static str,
}

/// A setting of a workload or of a protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SettingEntry {
    /// The name of the setting.
    pub name: &'static str,
    /// The meaning of the setting.
    pub meaning: &'static str,
    /// The value of the setting if the user gives no value.
    pub default: String,
    /// The unit of the setting's value, if it is a number with a unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<&'static str>,
    /// The names of the values that the setting may have, if the setting is a policy. Empty for
    /// other settings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<&'static str>,
    /// The meaning of each entry of `choices`, in the same order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choice_meanings: Vec<&'static str>,
    /// The smallest and the largest value, if the setting is a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[u64; 2]>,
}

/// All workloads, sorted so that those of one `room` (a group of workloads of one kind) are
/// together.
fn by_room() -> Vec<&'static Workload> {
    let mut all = workloads::all().to_vec();
    all.sort_by_key(|workload| workload.room);
    all
}

/// All workloads, with the properties that the command `list workloads` shows. They are grouped by
/// `room` (a group of workloads of one kind).
#[must_use]
pub fn workloads() -> Vec<WorkloadEntry> {
    let sizes = |workload: &Workload| {
        let entry = |size: Size| SizeEntry {
            name: size.name(),
            settings: workload.sizes.of(size).iter().copied().collect(),
        };
        Size::ALL.into_iter().map(entry).collect()
    };
    let entry = |workload: &'static Workload| WorkloadEntry {
        name: workload.name,
        summary: workload.summary,
        room: workload.room.name(),
        room_summary: workload.room.summary(),
        sizes: sizes(workload),
        purpose: match workload.purpose {
            Purpose::Benchmark => "benchmark",
            Purpose::Stress => "stress",
            Purpose::Diagnosis => "diagnosis",
            Purpose::Race => "race",
        },
        source: workload.origin,
        settings: workload
            .defaults()
            .iter()
            .map(|(setting, default)| setting_entry(setting, default))
            .collect(),
        inputs: workload
            .inputs()
            .iter()
            .map(|input| InputEntry { name: input.name, summary: input.summary })
            .collect(),
    };
    by_room().into_iter().map(entry).collect()
}

fn setting_entry(setting: &'static Setting, default: String) -> SettingEntry {
    let (choices, range) = match setting.kind {
        SettingKind::Count { min, max, .. } => (&[][..], Some([min, max])),
        SettingKind::Decimal { min, max, .. } => (&[][..], Some([min, max].map(u64::from))),
        SettingKind::Policy(choices) => (choices, None),
    };
    let (choices, choice_meanings) = choices.iter().copied().unzip();
    let (name, meaning, unit) = (setting.name, setting.meaning, None);
    SettingEntry { name, meaning, default, unit, choices, choice_meanings, range }
}

/// The names that a size of a workload can have, the smallest size first.
#[must_use]
pub fn size_names() -> Vec<&'static str> {
    Size::ALL.map(Size::name).to_vec()
}

/// The names of all workloads.
#[must_use]
pub fn workload_names() -> Vec<&'static str> {
    workloads::all().iter().map(|workload| workload.name).collect()
}

/// The properties of a memory model that the command `list models` shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModelEntry {
    /// The name of the model.
    pub name: &'static str,
    /// A summary of the model, in one line.
    pub summary: &'static str,
    /// The publication that defines the model.
    pub source: &'static str,
    /// The names of the protocols that claim to implement the model.
    pub claimed_by: Vec<&'static str>,
}

/// All memory models, with the properties that the command `list models` shows. A litmus test can
/// be checked under each of these models.
#[must_use]
pub fn models() -> Vec<ModelEntry> {
    let entry = |model: &litmus::cat::Shipped| ModelEntry {
        name: model.name,
        summary: model.summary,
        source: origin::of_model(model.name),
        claimed_by: zoo::ALL
            .iter()
            .filter(|info| info.claims.iter().any(|claim| claim.model == model.name))
            .map(|info| info.name)
            .collect(),
    };
    litmus::cat::shipped_names().iter().map(entry).collect()
}

/// The names of all memory models.
#[must_use]
pub fn model_names() -> Vec<&'static str> {
    litmus::cat::shipped_names().iter().map(|model| model.name).collect()
}

/// The properties of a paper that the command `list papers` shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PaperEntry {
    /// The name of the paper.
    pub name: &'static str,
    /// The title of the paper and its venue.
    pub summary: String,
    /// The number of the paper's claims that its claims file records.
    pub claims: usize,
    /// Whether the command `reproduce` can run the experiments of the paper.
    pub experiments: bool,
}

#[derive(Deserialize)]
struct PaperFile {
    paper: String,
    claim: Vec<ClaimFile>,
}

#[derive(Deserialize)]
struct ClaimFile {
    id: String,
    says: String,
    #[serde(rename = "where")]
    place: String,
}

/// The properties of a paper's claim that the command `list papers NAME` shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClaimEntry {
    /// The name of the claim.
    pub id: String,
    /// The text of the claim.
    pub says: String,
    /// The place of the claim in the paper, such as a section or a figure.
    #[serde(rename = "where")]
    pub place: String,
}

/// The claims of a paper. An empty list if the paper is unknown.
///
/// # Errors
/// If a built-in file cannot be read. A test checks that every built-in file can be read.
pub fn claims_of(paper: &str) -> Result<Vec<ClaimEntry>, Error> {
    let Some((name, text)) = PAPERS.iter().find(|(name, _)| *name == paper) else { return Ok(Vec::new()) };
    let entry = |ClaimFile { id, says, place }| ClaimEntry { id, says, place };
    Ok(paper_file(name, text)?.claim.into_iter().map(entry).collect())
}

fn paper_file(name: &str, text: &str) -> Result<PaperFile, Error> {
    toml::from_str(text).map_err(|error| Error::File {
        place: Place::whole(format!("<built-in>/{name}.toml").as_ref()),
        message: error.message().to_owned(),
    })
}

/// All papers, with the properties that the command `list papers` shows.
///
/// # Errors
/// If a built-in file cannot be read. A test checks that every built-in file can be read.
pub fn papers() -> Result<Vec<PaperEntry>, Error> {
    let entry = |(name, text): &(&'static str, &'static str)| {
        let file = paper_file(name, text)?;
        let experiments = built_in::names().contains(name);
        Ok(PaperEntry { name, summary: file.paper, claims: file.claim.len(), experiments })
    };
    PAPERS.iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_protocol_claims_models_that_exist() {
        for info in zoo::ALL {
            assert!(!info.claims.is_empty(), "{}", info.name);
            for claim in info.claims {
                assert!(model_names().contains(&claim.model), "{} claims {}", info.name, claim.model);
            }
        }
        assert!(models().iter().any(|model| !model.claimed_by.is_empty()));
    }

    #[test]
    fn the_full_form_of_a_scenario_means_the_same() {
        let scenarios = scenarios();
        let machines = zoo::ALL.iter().filter(|info| info.sharing != proto::Sharing::Scoped);
        assert_eq!(scenarios.len(), stealing::SCENARIOS.len() + machines.count());
        for entry in scenarios {
            let [short, full] = [entry.name, &entry.scenario].map(|text| Scenario::parse(text).unwrap());
            assert_eq!(short.protocol, full.protocol);
            assert_eq!(short.stealing.map(str::to_owned), full.policy);
        }
    }

    #[test]
    fn the_page_shows_the_scenarios() {
        let shown = include_str!("../../../docs/work-stealing.md");
        assert!(shown.contains(&scenarios_page()), "docs/work-stealing.md is to have:\n{}", scenarios_page());
    }

    #[test]
    fn every_paper_has_claims() {
        let papers = papers().unwrap();
        assert_eq!(papers.len(), 7);
        assert!(papers.iter().all(|paper| paper.claims > 0 && !paper.summary.is_empty()));
    }
}
