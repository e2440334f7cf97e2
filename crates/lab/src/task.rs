//! Tasks. A task is a run, with everything that determines its result.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::json;
use workloads::graph::stand_in;
use workloads::graph::stand_in::Scale;
use workloads::{NamedInput, SettingKind};

use crate::digest::{self, TaskId};
use crate::error::{Error, printable};
use crate::experiment::Experiment;

/// The description of a task's input: a graph file, files of numbers, a stand-in (a generated
/// graph) with a scale, or an input that the workload itself provides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputRequest {
    /// The name of the stand-in (a generated graph) or of the workload's input, or the paths of the
    /// files as the user wrote them, separated by commas.
    pub name: String,
    /// The paths of the input files, relative to the working directory or absolute. Empty if the
    /// input does not come from files.
    pub paths: Vec<PathBuf>,
    /// The input, if the workload itself provides it. `None` for files and stand-ins (generated
    /// graphs).
    pub named: Option<&'static NamedInput>,
    /// The scale of a stand-in (a generated graph): its size as a fraction of the size of the
    /// original graph. `None` for other inputs.
    pub scale: Option<Scale>,
    /// The digest of the contents of the input files. `None` if the input does not come from files.
    pub digest: Option<String>,
    /// The estimated size of the input, in units of about one arc of a graph. It is used only to
    /// sort tasks and to estimate the time of runs.
    pub weight: u64,
}

/// The size that is assumed for an input that a workload itself provides. It is also the size of a
/// task that has no input and has all settings at their defaults. The unit is an arc of a graph.
/// The size is used only to sort tasks and to estimate the time of runs.
const USUAL_WEIGHT: u64 = 1 << 17;

impl InputRequest {
    /// The request for an input that the workload itself provides.
    #[must_use]
    pub fn of_workload(named: &'static NamedInput) -> InputRequest {
        let (name, scale, digest) = (named.name.to_owned(), None, None);
        InputRequest { name, paths: Vec::new(), named: Some(named), scale, digest, weight: USUAL_WEIGHT }
    }

    /// The request for a stand-in (a generated graph of the size and kind of a well-known graph).
    /// `scale` is the fraction of its full size.
    ///
    /// # Errors
    /// If no stand-in has this name.
    pub fn stand_in(name: &str, scale: Scale) -> Result<InputRequest, Error> {
        let known = stand_in::find(name).map_err(Error::Impossible)?;
        Ok(InputRequest {
            name: name.to_owned(),
            paths: Vec::new(),
            named: None,
            scale: Some(scale),
            digest: None,
            weight: scale.of(known.arcs + u64::from(known.vertices)),
        })
    }

    /// The request for an input from files: a graph file, or the files of numbers of a workload.
    /// `name` is the text by which the user named the files. The request has a digest of their
    /// contents.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn of_files(name: &str, paths: Vec<PathBuf>) -> Result<InputRequest, Error> {
        let (digest, bytes) = digest_of_files(&paths)?;
        Ok(InputRequest {
            name: name.to_owned(),
            paths,
            named: None,
            scale: None,
            digest: Some(digest),
            weight: bytes / 16,
        })
    }

    /// Checks that the files have not changed since the request was made. Without this check, a
    /// result of changed files would be stored as a result of the original files.
    ///
    /// # Errors
    /// If a file has changed or cannot be read.
    pub(crate) fn check_unchanged(&self) -> Result<(), Error> {
        let Some(digest) = &self.digest else { return Ok(()) };
        match digest_of_files(&self.paths)?.0 == *digest {
            true => Ok(()),
            false => Err(Error::Impossible(format!(
                "the input {} has changed since the command began: repeat the command",
                printable(&self.name)
            ))),
        }
    }
}

/// A digest of the contents of all these files, and the sum of their sizes in bytes.
fn digest_of_files(paths: &[PathBuf]) -> Result<(String, u64), Error> {
    let mut bytes = 0;
    let mut one = |path: &PathBuf| {
        let (digest, length) = digest::of_file(path).map_err(|error| Error::Unreadable {
            path: printable(&path.to_string_lossy()).into(),
            reason: error.to_string(),
        })?;
        bytes += length;
        Ok(digest)
    };
    let digests = paths.iter().map(&mut one).collect::<Result<Vec<String>, Error>>()?;
    let whole = match &digests[..] {
        [one] => one.clone(),
        several => digest::of(several.join(" ").as_bytes()),
    };
    Ok((whole, bytes))
}

/// One run, with everything that determines its result.
#[derive(Clone, Debug)]
pub struct Task {
    /// The name of the task. It is a digest of everything that determines the result.
    pub id: TaskId,
    /// Everything that determines the result, as JSON.
    pub text: String,
    /// The experiment to run. Its input is not loaded yet. The field `input` describes the input.
    pub experiment: Experiment,
    /// The input that the run works on. `None` if the workload generates its input from its
    /// settings.
    pub input: Option<InputRequest>,
}

impl Task {
    /// Creates a task. `input` describes the input of the experiment, which is not loaded yet.
    #[must_use]
    pub fn new(experiment: Experiment, input: Option<InputRequest>) -> Task {
        let all: BTreeMap<&str, String> =
            experiment.settings.iter().map(|(setting, value)| (setting.name, value)).collect();
        let of_input = input.as_ref();
        let text = json!({
            "code": crate::CODE,
            "system": experiment.system,
            "protocol": experiment.scenario.protocol,
            "workload": experiment.workload.name,
            "settings": all,
            "graph": of_input.map(|input| &input.name),
            "scale": of_input.and_then(|input| input.scale).map(|scale| scale.to_string()),
            "graph_digest": of_input.and_then(|input| input.digest.as_ref()),
            "seed": experiment.seed,
        })
        .to_string();
        Task { id: TaskId::of(&text), text, experiment, input }
    }

    /// The estimated size of the task. It is used only to sort tasks and to estimate the time of
    /// runs. For a task with an input, it is the size of the input. For other tasks, it grows with
    /// the numbers in the settings.
    #[must_use]
    pub fn weight(&self) -> u64 {
        if let Some(input) = &self.input {
            return input.weight;
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

    /// The names and values of the settings, without the settings that the input replaces.
    pub fn settings(&self) -> impl Iterator<Item = (&'static str, String)> + '_ {
        self.experiment.settings_beside(self.input.as_ref().is_some_and(|input| input.named.is_none()))
    }

    /// A short description of the task's run, for messages.
    #[must_use]
    pub fn label(&self) -> String {
        let Experiment { system, machine, scenario, workload, seed, .. } = &self.experiment;
        let input = match &self.input {
            Some(input) => format!(", input {}", printable(&input.name)),
            None => String::new(),
        };
        format!("{}{input} on {} under {scenario}, seed {seed}", workload.name, machine.after(&system.name))
    }
}
