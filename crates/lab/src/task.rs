//! Tasks. A task is a run, with everything that determines its result.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::json;
use workloads::graph::stand_in;
use workloads::graph::stand_in::Scale;
use workloads::{NamedInput, SettingKind};

use crate::digest::{self, TaskId};
use crate::error::{Error, printable};
use crate::experiment::Experiment;

/// The input of a task: a file, a stand-in with a scale, or an input that the workload itself
/// provides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphRequest {
    /// The name of the stand-in or of the input that the workload provides. For a file, its path as
    /// the user wrote it.
    pub name: String,
    /// The path of the graph file from the working directory. `None` if the input is not a file.
    pub path: Option<PathBuf>,
    /// The input that the workload itself provides. `None` for a file or a stand-in.
    pub named: Option<&'static NamedInput>,
    /// The scale of a stand-in: its size as a fraction of the size of the original graph. `None`
    /// for other inputs.
    pub scale: Option<Scale>,
    /// The digest of the graph file. `None` if the input is not a file.
    pub digest: Option<String>,
    /// The size of the input: the arcs of a graph, or a similar number. It serves to sort tasks and
    /// to estimate time.
    pub weight: u64,
}

/// The assumed size of an input that a workload itself provides, and of a workload with default
/// settings, in arcs of a graph. It serves only to sort tasks and to estimate time.
const USUAL_WEIGHT: u64 = 1 << 17;

impl GraphRequest {
    /// The request for an input that the workload itself provides.
    #[must_use]
    pub fn of_workload(named: &'static NamedInput) -> GraphRequest {
        let (name, scale, digest) = (named.name.to_owned(), None, None);
        GraphRequest { name, path: None, named: Some(named), scale, digest, weight: USUAL_WEIGHT }
    }

    /// The request for a stand-in, scaled to a fraction of its full size.
    ///
    /// # Errors
    /// An unknown name.
    pub fn stand_in(name: &str, scale: Scale) -> Result<GraphRequest, Error> {
        let known = stand_in::find(name).map_err(Error::Impossible)?;
        Ok(GraphRequest {
            name: name.to_owned(),
            path: None,
            named: None,
            scale: Some(scale),
            digest: None,
            weight: scale.of(known.arcs + u64::from(known.vertices)),
        })
    }

    /// The request for a graph file that the user calls `name`. The digest of the file represents
    /// its contents.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn of_file(name: &str, path: &Path) -> Result<GraphRequest, Error> {
        let unreadable = |error: std::io::Error| Error::Unreadable {
            path: printable(&path.to_string_lossy()).into(),
            reason: error.to_string(),
        };
        let bytes = std::fs::read(path).map_err(unreadable)?;
        Ok(GraphRequest {
            name: name.to_owned(),
            path: Some(path.to_owned()),
            named: None,
            scale: None,
            digest: Some(digest::of(&bytes)),
            weight: bytes.len() as u64 / 16,
        })
    }
}

/// One run, with everything that determines its result.
#[derive(Clone, Debug)]
pub struct Task {
    /// The name of the task. It is a digest of everything that determines the result.
    pub id: TaskId,
    /// Everything that determines the result, as JSON.
    pub text: String,
    /// The experiment. Its graph is not loaded; the field `graph` describes the graph.
    pub experiment: Experiment,
    /// The input that the run works on: a graph, or an input that the workload itself provides.
    /// `None` if the workload generates its input from its settings.
    pub graph: Option<GraphRequest>,
}

impl Task {
    /// Creates a task. `graph` describes the graph of the experiment, which is not loaded yet.
    #[must_use]
    pub fn new(experiment: Experiment, graph: Option<GraphRequest>) -> Task {
        let all: BTreeMap<&str, String> =
            experiment.settings.iter().map(|(setting, value)| (setting.name, value)).collect();
        let of_graph = graph.as_ref();
        let text = json!({
            "code": crate::CODE,
            "system": experiment.system,
            "protocol": experiment.scenario.protocol,
            "workload": experiment.workload.name,
            "settings": all,
            "graph": of_graph.map(|graph| &graph.name),
            "scale": of_graph.and_then(|graph| graph.scale).map(|scale| scale.to_string()),
            "graph_digest": of_graph.and_then(|graph| graph.digest.as_ref()),
            "seed": experiment.seed,
        })
        .to_string();
        Task { id: TaskId::of(&text), text, experiment, graph }
    }

    /// The size of the task. It serves to sort tasks and to estimate time. For a task without an
    /// input, it grows with the numbers in the settings.
    #[must_use]
    pub fn weight(&self) -> u64 {
        if let Some(graph) = &self.graph {
            return graph.weight;
        }
        let settings = self.experiment.settings.iter();
        let growth = settings.filter_map(|(setting, value)| match setting.kind {
            SettingKind::Count { default: default @ 1.., .. } => {
                value.parse().ok().map(|value: u64| value as f64 / default as f64)
            }
            _ => None,
        });
        let weight = USUAL_WEIGHT as f64 * growth.product::<f64>();
        weight.clamp(1.0, (1_u64 << 48) as f64) as u64
    }

    /// A short description of the run.
    #[must_use]
    pub fn label(&self) -> String {
        let Experiment { system, machine, scenario, workload, seed, .. } = &self.experiment;
        let input = match &self.graph {
            Some(graph) => format!(", input {}", printable(&graph.name)),
            None => String::new(),
        };
        format!("{}{input} on {} under {scenario}, seed {seed}", workload.name, machine.after(&system.name))
    }
}
