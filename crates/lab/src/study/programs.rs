//! Lists the programs of a study. A program is a workload with an input, settings and a scenario.
//! The list has every combination of them.

use std::collections::BTreeMap;

use serde_json::Value;
use sim::config::System;
use toml::Spanned;
use workloads::graph::programs::program_of;
use workloads::graph::stand_in::{self, Scale};
use workloads::{SettingKind, Size, Workload, inputs};

use super::axis::{Axis, Listed, combinations};
use super::file::{SettingFile, VariantFile};
use super::machines::Machine;
use super::read::{Span, with_real_part};
use super::resolver::{Input, Resolver, json};
use super::results::{AxisKind, StudiedAxis, StudiedInput};
use crate::error::{Error, printable};
use crate::experiment::{Experiment, Question};
use crate::input::{Opened, parse_scale, paths_in};
use crate::scenario::Scenario;
use crate::systems::{Changes, text_of};
use crate::task::InputRequest;

/// A program: a workload with its input, its settings and its scenario. A run adds only the machine
/// and the seed.
pub(super) struct Prepared {
    pub(super) place: Vec<(usize, usize)>,
    pub(super) variant: Option<usize>,
    pub(super) experiment: Experiment,
    pub(super) input: Option<InputRequest>,
}

impl<'a> Resolver<'a> {
    /// Lists the programs: every workload with every combination of its inputs, its settings and
    /// the scenarios. Also returns descriptions of the inputs.
    pub(super) fn programs(
        &self,
        machines: &[Machine],
        scenarios: &[Scenario],
        (workloads, size): (&[&'static Workload], Option<Size>),
        inputs: &[Vec<Input<'a>>],
        axes: &[StudiedAxis],
    ) -> Result<(Vec<Prepared>, Vec<StudiedInput>), Error> {
        let scale = match &self.file.scale {
            Some(scale) => self.at(scale.span(), parse_scale(scale.get_ref()))?,
            None => Scale::FULL,
        };
        let first = (machines[0].system.clone(), Changes::default());
        let variants: Vec<Option<usize>> = match self.file.variants.len() {
            0 => vec![None],
            count => (0..count).map(Some).collect(),
        };
        let (mut programs, mut described) = (Vec::new(), Vec::new());
        let mut requests = BTreeMap::new();
        for (at, workload) in workloads.iter().enumerate() {
            let settings = self.settings_of(workload);
            let sizes: Vec<usize> = settings.iter().map(|axis| axis.values.len()).collect();
            let mut points = Vec::new();
            for &variant in &variants {
                for point in combinations(&sizes) {
                    points.push((variant, self.given(workload, variant, &settings, &point)?, point));
                }
            }
            for &input in &inputs[at] {
                let request =
                    input.map(|name| self.request(workload, name, scale, &mut requests)).transpose()?;
                // The input, which is generated or read once for all combinations.
                let mut opened = Opened { folder: self.folder().to_owned(), ..Opened::default() };
                for (variant, given, point) in &points {
                    for named in scenarios.iter().enumerate() {
                        let place = place(axes, (at, input), settings.iter().copied().zip(point), named.0);
                        let machine = first.clone();
                        let experiment =
                            self.experiment(machine, (workload, size, input), named, given, &mut opened)?;
                        programs.push(Prepared {
                            place,
                            variant: *variant,
                            experiment,
                            input: request.clone(),
                        });
                    }
                }
                described.extend(request.map(|request| StudiedInput::of(workload, &request, &opened)));
            }
        }
        Ok((programs, described))
    }

    /// The request for the input with this name: files, a stand-in (a generated graph), or an input
    /// that the workload itself provides.
    fn request(
        &self,
        workload: &Workload,
        name: &'a Spanned<String>,
        scale: Scale,
        known: &mut BTreeMap<(&'a str, bool), InputRequest>,
    ) -> Result<InputRequest, Error> {
        let takes_numbers = inputs::program_of(workload).is_some();
        if let Some(named) = workload.inputs().iter().find(|input| input.name == name.get_ref()) {
            if let Some(scale) = &self.file.scale {
                let message = format!(
                    "input `{}` of workload `{}` has one size only, so the scale does not apply",
                    named.name, workload.name
                );
                return Err(self.source.error(scale.span(), message));
            }
            return Ok(InputRequest::of_workload(named));
        }
        if let (Some(scale), true) = (&self.file.scale, takes_numbers) {
            let message = format!(
                "the input of workload `{}` is a file of numbers, so the scale does not apply",
                workload.name
            );
            return Err(self.source.error(scale.span(), message));
        }
        let key = (name.get_ref().as_str(), takes_numbers);
        if let Some(known) = known.get(&key) {
            return Ok(known.clone());
        }
        let path = self.path(name.get_ref());
        let found = match stand_in::find(name.get_ref()) {
            _ if takes_numbers => {
                let paths = paths_in(name.get_ref()).map(|path| self.path(path)).collect();
                InputRequest::of_files(name.get_ref(), paths)
            }
            Ok(_) => InputRequest::stand_in(name.get_ref(), scale),
            Err(message) if !path.exists() => {
                let path = printable(&path.to_string_lossy());
                Err(Error::Impossible(format!("there is no file `{path}`, and {message}")))
            }
            Err(_) => InputRequest::of_files(name.get_ref(), vec![path]),
        };
        let found = self.at(name.span(), found)?;
        known.insert(key, found.clone());
        Ok(found)
    }

    /// The name of a workload's input in the form that [`Question::input`] needs. The path of a
    /// graph file becomes relative to the working directory. Paths of number files remain relative
    /// to the folder of the study.
    fn sought(&self, workload: &Workload, name: &str) -> String {
        match program_of(workload).is_some() && workload.inputs().is_empty() && stand_in::find(name).is_err()
        {
            true => self.path(name).to_string_lossy().into_owned(),
            false => name.to_owned(),
        }
    }

    /// The settings that the study gives a run of a workload. Each entry has the name of the
    /// setting, its value, and its place in the file.
    fn given(
        &self,
        workload: &Workload,
        variant: Option<usize>,
        settings: &[&'a Axis],
        point: &[usize],
    ) -> Result<Vec<(String, String, Span)>, Error> {
        let one =
            |axis: &Axis, listed: &Listed| (axis.name.clone(), text_of(&listed.value), listed.span.clone());
        let mut given: Vec<_> =
            settings.iter().zip(point).map(|(axis, &at)| one(axis, &axis.values[at])).collect();
        let Some(VariantFile { settings: of_variant, .. }) = variant.map(|at| &self.file.variants[at]) else {
            return Ok(given);
        };
        for SettingFile { workload: only, axis } in of_variant {
            let applies = match only {
                Some(only) => only.get_ref() == workload.name,
                None => workload.settings.iter().any(|known| known.name == axis.name),
            };
            if !applies {
                continue;
            }
            if given.iter().any(|(name, ..)| *name == axis.name) {
                let message = format!(
                    "`{}` is set twice: here and in another table of the study",
                    printable(&axis.name)
                );
                return Err(self.source.error(axis.span.clone(), message));
            }
            given.push(one(axis, &axis.values[0]));
        }
        Ok(given)
    }

    /// Creates the experiment for one combination of machine, workload, input, scenario and
    /// settings. Checks that the combination is possible.
    fn experiment(
        &self,
        machine: (System, Changes),
        (workload, size, input): (&'static Workload, Option<Size>, Input<'_>),
        (number, scenario): (usize, &Scenario),
        given: &[(String, String, Span)],
        opened: &mut Opened,
    ) -> Result<Experiment, Error> {
        let mut alone = match size {
            Some(size) => workload.sized(size).map_err(|error| Error::Impossible(error.to_string()))?,
            None => workload.defaults(),
        };
        for (name, value, span) in given {
            alone.set(name, value).map_err(|error| {
                let message = with_real_part(self.source, span, error.to_string());
                self.source.error(span.clone(), message)
            })?;
        }
        let is_graph = program_of(workload).is_some();
        let question = Question {
            scenario: scenario.to_string(),
            workload: workload.name.to_owned(),
            input: input.map(|name| self.sought(workload, name.get_ref())),
            scale: self
                .file
                .scale
                .as_ref()
                .filter(|_| input.is_some() && is_graph)
                .map(|s| s.get_ref().clone()),
            size: size.map(|size| size.name().to_owned()),
            settings: given.iter().map(|(name, value, _)| (name.clone(), value.clone())).collect(),
            ..Question::default()
        };
        let name = &self.file.scenarios[number];
        // If the combination is possible without the settings, the error is placed at the settings.
        let is_of_settings = || {
            let question = Question { settings: Vec::new(), ..question.clone() };
            let mut opened = Opened { folder: self.folder().to_owned(), ..Opened::default() };
            Experiment::with_machine(machine.clone(), &question, &mut opened).is_ok()
        };
        let experiment = Experiment::with_machine(machine.clone(), &question, opened).map_err(|error| {
            let span = match given.last() {
                Some((.., span)) if is_of_settings() => span.clone(),
                _ => input.map_or_else(|| name.span(), Spanned::span),
            };
            let given: Vec<String> = given.iter().map(|(name, value, _)| format!("{name}={value}")).collect();
            let with = if given.is_empty() { String::new() } else { format!(" with {}", given.join(" ")) };
            let message = format!("{}{with} under {}: {error}", workload.name, printable(name.get_ref()));
            self.source.error(span, message)
        })?;
        // The policy of a scenario overrides the settings, so the file must not give the same
        // policy another value.
        let pairs = experiment.settings.iter().zip(alone.iter());
        for ((setting, chosen), (_, given_value)) in pairs {
            let is_policy = matches!(setting.kind, SettingKind::Policy(_));
            let of_file = given.iter().find(|(name, ..)| name == setting.name).filter(|_| is_policy);
            if let Some((name, _, span)) = of_file.filter(|_| chosen != given_value) {
                let scenario = printable(self.file.scenarios[number].get_ref());
                let message = format!(
                    "`{name}` is `{given_value}`, but scenario `{scenario}` sets it to `{chosen}`: leave one of them out"
                );
                return Err(self.source.error(span.clone(), message));
            }
        }
        Ok(Experiment { input: None, numbers: None, ..experiment })
    }
}

/// The values of a program on the axes of the study. Each entry has the index of an axis and the
/// index of the program's value on this axis. Axes that do not apply to the program are left out.
fn place<'a>(
    axes: &[StudiedAxis],
    (workload, input): (usize, Input<'_>),
    settings: impl Iterator<Item = (&'a Axis, &'a usize)>,
    scenario: usize,
) -> Vec<(usize, usize)> {
    let axis = |kind, name: &str| axes.iter().position(|axis| axis.kind == kind && axis.name == name);
    let of = |axis: Option<usize>, value: &Value| {
        let axis = axis?;
        Some((axis, axes[axis].values.iter().position(|known| known == value)?))
    };
    let mut place = Vec::new();
    place.extend(axis(AxisKind::Workload, "workload").map(|axis| (axis, workload)));
    if let Some(name) = input {
        place.extend(of(axis(AxisKind::Input, "input"), &Value::from(name.get_ref().clone())));
    }
    for (setting, at) in settings {
        place.extend(of(axis(AxisKind::Setting, &setting.name), &json(&setting.values[*at].value)));
    }
    place.extend(axis(AxisKind::Scenario, "scenario").map(|axis| (axis, scenario)));
    place
}
