//! The plan of a reproduction: the runs that are needed for the figures and claims of a paper. Each
//! run has everything that determines its result.

use core::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use workloads::Settings;
use workloads::graph::stand_in::Scale;

use super::{Input, NamedScenario, Paper, Source, Variant};
use crate::digest::TaskId;
use crate::error::{Error, printable};
use crate::experiment::{Experiment, named_once, set_once};
use crate::input::parse_scale;
use crate::results::RowKey;
use crate::systems::Changes;
use crate::task::{InputRequest, Task};

/// A user's request: the part of a paper to reproduce, and the options.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The names of the requested figures. Empty means all figures.
    pub figures: Vec<String>,
    /// The scale of the stand-ins (generated graphs), as a fraction of their full size. `None`
    /// means full size.
    pub scale: Option<String>,
    /// The number of seeds. `None` means the number in the paper's experiment file.
    pub seeds: Option<u64>,
    /// Settings of workloads: name and value. They override the settings in the paper's experiment
    /// files.
    pub settings: Vec<(String, String)>,
    /// A folder with graph files. They replace the stand-ins (generated graphs) of the same names.
    pub graphs: Option<PathBuf>,
}

/// The runs of a reproduction.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) paper: Paper,
    pub(super) scale: Scale,
    pub(super) seeds: Vec<u64>,
    pub(super) overrides: Vec<(String, String)>,
    /// The inputs that a workload does not generate from its settings: graphs, and inputs that the
    /// workload itself provides. The key is the name of the input.
    pub(super) graphs: BTreeMap<String, InputRequest>,
    /// Whether the user requested all figures of the paper.
    pub(super) all_figures: bool,
    /// The task of each run, by the key of the run (variant, scenario, input and seed). Runs with
    /// different keys may have equal tasks. Equal tasks run only once.
    pub(super) runs: BTreeMap<RowKey, Task>,
}

impl Paper {
    /// The settings of the workload in a run. They are computed from the defaults of the workload.
    /// The defaults are changed by these sources, in this order: the input, the paper, the variant,
    /// the user's `overrides`, the policy of the scenario, and the policy of the variant.
    pub(super) fn settings(
        &self,
        scenario: &NamedScenario,
        input: &Input,
        variant: &Variant,
        overrides: &[(String, String)],
    ) -> Result<Settings, Error> {
        let mut settings = input.workload.defaults();
        let impossible = |error: workloads::BadSetting| Error::Impossible(error.to_string());
        match &input.source {
            Source::Graph(_) => {}
            Source::Named(named) => {
                for (name, value) in named.settings {
                    settings.set(name, value).map_err(impossible)?;
                }
            }
            Source::Generated(own, _) => settings = own.clone(),
        }
        let given = self.settings.iter().chain(&variant.settings);
        for (name, value) in given.chain(overrides.iter().map(|(name, value)| (name, value))) {
            if input.workload.settings.iter().any(|known| known.name == name) {
                settings.set(name, value).map_err(impossible)?;
            }
        }
        for policy in scenario.scenario.policy.iter().chain(&variant.policy) {
            settings.set_policy(policy).map_err(impossible)?;
        }
        Ok(settings)
    }
}

impl Plan {
    /// Creates the plan for a request: lists the runs that the requested figures need.
    ///
    /// # Errors
    /// If a figure is unknown, if the scale is not allowed, or if no workload has a given setting.
    pub fn new(mut paper: Paper, request: &Request) -> Result<Plan, Error> {
        set_once(&request.settings)?;
        named_once("figure", &request.figures)?;
        let known: Vec<String> = paper.figures.iter().map(|figure| figure.id.clone()).collect();
        if let Some(unknown) = request.figures.iter().find(|id| !known.contains(id)) {
            return Err(Error::unknown("figure", unknown, &known));
        }
        let all_figures = request.figures.is_empty();
        if !all_figures {
            paper.figures.retain(|figure| request.figures.contains(&figure.id));
        }
        let scale = request.scale.as_deref().map_or(Ok(Scale::FULL), parse_scale)?;
        for (name, _) in &request.settings {
            let has = |input: &Input| input.workload.settings.iter().any(|known| known.name == name);
            if !paper.inputs.iter().any(has) {
                return Err(Error::Impossible(format!("no workload has the setting `{}`", printable(name))));
            }
        }
        let seeds: Vec<u64> = (1..=request.seeds.unwrap_or(paper.seeds)).collect();
        let graphs = graphs(&paper, scale, request.graphs.as_deref())?;
        let mut plan = Plan {
            paper,
            scale,
            seeds,
            overrides: request.settings.clone(),
            graphs,
            all_figures,
            runs: BTreeMap::new(),
        };
        plan.runs = plan.list()?;
        Ok(plan)
    }

    /// Every run of the plan: its key (variant, scenario, input and seed) and its task.
    pub fn runs(&self) -> impl Iterator<Item = (&RowKey, &Task)> {
        self.runs.iter()
    }

    /// The tasks of the plan, each only once, sorted by decreasing size of their inputs. A task is
    /// a run with everything that determines its result.
    #[must_use]
    pub fn tasks(&self) -> Vec<&Task> {
        let by_id: BTreeMap<&TaskId, &Task> = self.runs.values().map(|task| (&task.id, task)).collect();
        let mut tasks: Vec<&Task> = by_id.into_values().collect();
        tasks.sort_by_key(|task| Reverse(task.weight()));
        tasks
    }

    fn list(&self) -> Result<BTreeMap<RowKey, Task>, Error> {
        let mut runs = BTreeMap::new();
        for figure in &self.paper.figures {
            let of = |names: &[String], name: &str| names.iter().any(|known| known == name);
            for variant in self.paper.variants.iter().filter(|v| of(&figure.variants, &v.name)) {
                for scenario in self.paper.scenarios.iter().filter(|s| of(&figure.scenarios, &s.name)) {
                    for input in self.paper.inputs.iter().filter(|i| of(&figure.inputs, &i.name)) {
                        for seed in &self.seeds {
                            let key = RowKey {
                                variant: variant.name.clone(),
                                scenario: scenario.name.clone(),
                                input: input.name.clone(),
                                seed: *seed,
                            };
                            runs.insert(key, self.task(scenario, input, variant, *seed)?);
                        }
                    }
                }
            }
        }
        Ok(runs)
    }

    fn task(
        &self,
        scenario: &NamedScenario,
        input: &Input,
        variant: &Variant,
        seed: u64,
    ) -> Result<Task, Error> {
        let settings = self.paper.settings(scenario, input, variant, &self.overrides)?;
        let graph = self.graphs.get(&input.name).cloned();
        // Settings of other protocols do not matter. Without them, runs that differ only in such a
        // setting have equal tasks.
        let mut system = variant.system.clone();
        system.protocol.retain(|protocol, _| protocol == scenario.scenario.protocol);
        let experiment = Experiment {
            system,
            machine: Changes::default(),
            scenario: scenario.scenario.clone(),
            workload: input.workload,
            input: None,
            numbers: None,
            named: graph.as_ref().and_then(|graph| graph.named),
            size: None,
            settings,
            seed,
            drop: None,
            patience_cycles: None,
            scopes: Vec::new(),
        };
        Ok(Task::new(experiment, graph))
    }
}

/// The request for each input of the paper that its workload does not generate. The request for a
/// graph names the file in `folder` that has the name of the graph. If there is no such file, the
/// request names a stand-in (a generated graph).
fn graphs(
    paper: &Paper,
    scale: Scale,
    folder: Option<&Path>,
) -> Result<BTreeMap<String, InputRequest>, Error> {
    let mut graphs = BTreeMap::new();
    if scale != Scale::FULL && !paper.inputs.iter().any(|input| matches!(input.source, Source::Graph(_))) {
        let name = &paper.name;
        return Err(Error::Impossible(format!(
            "the inputs of `{name}` have one size only, so they cannot be scaled to {scale}"
        )));
    }
    for input in &paper.inputs {
        let graph = match &input.source {
            Source::Graph(graph) => graph,
            Source::Generated(..) => continue,
            Source::Named(named) => {
                graphs.insert(input.name.clone(), InputRequest::of_workload(named));
                continue;
            }
        };
        let file = match folder {
            Some(folder) => graph_file(folder, graph)?,
            None => None,
        };
        let input_request = match file {
            Some(path) if scale != Scale::FULL => {
                let name = printable(&path.to_string_lossy());
                let message = format!("{name} is a file and has no scale {scale}, expected scale 1");
                return Err(Error::Impossible(message));
            }
            Some(path) => InputRequest::of_files(&path.to_string_lossy(), vec![path.clone()])?,
            None => InputRequest::stand_in(graph, scale)?,
        };
        graphs.insert(input.name.clone(), input_request);
    }
    Ok(graphs)
}

fn graph_file(folder: &Path, graph: &str) -> Result<Option<PathBuf>, Error> {
    const ENDINGS: [&str; 4] = ["mtx", "gr", "graph", "txt"];
    if !folder.is_dir() {
        let path = printable(&folder.to_string_lossy()).into();
        return Err(Error::Unreadable { path, reason: "the path is not a folder".to_owned() });
    }
    let names = ENDINGS.iter().flat_map(|e| [format!("{graph}.{e}"), format!("{graph}.{e}.gz")]);
    Ok(names.map(|name| folder.join(name)).find(|path| path.is_file()))
}
