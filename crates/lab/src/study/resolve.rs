//! Looks up every name in a study's file, and checks that every combination of its values can be
//! run.

use serde_json::Value;
use toml::Spanned;
use workloads::graph::programs::program_of;
use workloads::{Size, Workload, inputs};

use super::axis::Axis;
use super::file::{File, SettingFile};
use super::machines::{Machine, described};
use super::programs::Prepared;
use super::resolver::{Input, Resolver, json};
use super::results::{AxisKind, StudiedAxis, StudiedScenario};
use super::{PlannedRun, RUNS_MAX, Study, chart};
use crate::catalog;
use crate::error::Error;
use crate::experiment::Experiment;
use crate::scenario::Scenario;
use crate::source::Source;
use crate::systems::Systems;
use crate::task::Task;

/// Parses the file of a study, looks up its names and checks every combination.
pub(super) fn study(source: &Source, systems: &Systems) -> Result<Study, Error> {
    let file = File::parse(source)?;
    let resolver = Resolver { source, file: &file };
    let scenarios = resolver.scenarios()?;
    let workloads = resolver.workloads()?;
    let inputs = resolver.inputs(&workloads)?;
    let size = resolver.size()?;
    resolver.check_settings(&workloads)?;
    let axes = resolver.axes();
    resolver.check_size(&workloads, &inputs)?;
    let machines = resolver.machines(systems)?;
    let counters = resolver.counters(&machines, &scenarios)?;
    let (programs, inputs) = resolver.programs(&machines, &scenarios, (&workloads, size), &inputs, &axes)?;
    let runs = runs(&machines, &programs, &file.seeds, scenarios.len());
    let mut study = Study {
        title: file.title.clone(),
        axes,
        seeds: file.seeds.clone(),
        runs,
        charts: Vec::new(),
        machines: described(&machines),
        inputs,
        text: source.text.clone(),
        scenarios: scenarios
            .iter()
            .zip(&file.scenarios)
            .map(|(scenario, name)| StudiedScenario {
                name: name.get_ref().clone(),
                protocol: scenario.protocol.to_owned(),
                policy: scenario.policy.clone().or(scenario.stealing.map(str::to_owned)).unwrap_or_default(),
            })
            .collect(),
    };
    study.charts = chart::plans(source, &file, &study, &counters)?;
    Ok(study)
}

impl<'a> Resolver<'a> {
    fn scenarios(&self) -> Result<Vec<Scenario>, Error> {
        let scenario = |name: &Spanned<String>| self.at(name.span(), Scenario::parse(name.get_ref()));
        self.file.scenarios.iter().map(scenario).collect()
    }

    fn workloads(&self) -> Result<Vec<&'static Workload>, Error> {
        let workload = |name: &Spanned<String>| {
            let found = workloads::all().iter().find(|workload| workload.name == name.get_ref()).copied();
            found.ok_or_else(|| self.source.unknown("workload", name, &catalog::workload_names()))
        };
        self.file.workloads.iter().map(workload).collect()
    }

    /// Looks up a workload of the study by its name. Returns the index of the workload in the list
    /// of workloads in the study's file.
    fn studied(&self, name: &Spanned<String>) -> Result<usize, Error> {
        let known: Vec<&str> = self.file.workloads.iter().map(|known| known.get_ref().as_str()).collect();
        let at = known.iter().position(|known| known == name.get_ref());
        at.ok_or_else(|| self.source.unknown("workload of this study", name, &known))
    }

    /// Lists the inputs of each workload. If the file gives no input for a workload, the list of
    /// this workload has the single entry `None`.
    fn inputs(&self, workloads: &[&'static Workload]) -> Result<Vec<Vec<Input<'a>>>, Error> {
        let mut all: Vec<Vec<Input<'a>>> = vec![Vec::new(); workloads.len()];
        for inputs in &self.file.inputs {
            let named = match &inputs.workload {
                Some(name) => vec![self.studied(name)?],
                None => (0..workloads.len()).collect(),
            };
            for at in named {
                for name in &inputs.names {
                    self.check_input(workloads[at], name)?;
                }
                all[at].extend(inputs.names.iter().map(Some));
            }
        }
        if let (Some(scale), true) = (&self.file.scale, self.file.inputs.is_empty()) {
            let message = "`scale` needs `inputs`, because only stand-ins have a scale";
            return Err(self.source.error(scale.span(), message));
        }
        all.iter_mut().filter(|inputs| inputs.is_empty()).for_each(|inputs| inputs.push(None));
        Ok(all)
    }

    fn check_input(&self, workload: &Workload, name: &Spanned<String>) -> Result<(), Error> {
        let named = workload.inputs();
        let takes_files = program_of(workload).is_some() || inputs::program_of(workload).is_some();
        if named.is_empty() && !takes_files {
            let error = Error::unknown_input(workload.name, name.get_ref()).to_string();
            let hint = "To give inputs to one workload only, write `[inputs]` with a list for each workload";
            return Err(self.source.error(name.span(), format!("{error}. {hint}")));
        }
        if !named.is_empty() && named.iter().all(|input| input.name != name.get_ref()) {
            let known: Vec<&str> = named.iter().map(|input| input.name).collect();
            return Err(self.source.unknown("input", name, &known));
        }
        Ok(())
    }

    fn size(&self) -> Result<Option<Size>, Error> {
        let Some(name) = &self.file.size else { return Ok(None) };
        let found = Size::find(name.get_ref());
        found.map(Some).ok_or_else(|| self.source.unknown("size", name, &catalog::size_names()))
    }

    fn all_settings(&self) -> impl Iterator<Item = &'a SettingFile> {
        let of_variants = self.file.variants.iter().flat_map(|variant| &variant.settings);
        self.file.settings.iter().chain(of_variants)
    }

    /// Checks that each setting in the file exists: a setting for one workload must be a setting of
    /// this workload, and a setting for all workloads must be a setting of at least one of them.
    fn check_settings(&self, workloads: &[&'static Workload]) -> Result<(), Error> {
        let has = |workload: &Workload, name: &str| workload.settings.iter().any(|known| known.name == name);
        for SettingFile { workload, axis } in self.all_settings() {
            let of = match workload {
                Some(name) => &workloads[self.studied(name)?..][..1],
                None => workloads,
            };
            if of.iter().any(|workload| has(workload, &axis.name)) {
                continue;
            }
            let mut known: Vec<&str> = Vec::new();
            for setting in of.iter().flat_map(|workload| workload.settings) {
                if !known.contains(&setting.name) {
                    known.push(setting.name);
                }
            }
            let name = Spanned::new(axis.span.clone(), axis.name.clone());
            return Err(self.source.unknown("setting of the workloads", &name, &known));
        }
        Ok(())
    }

    fn axes(&self) -> Vec<StudiedAxis> {
        let file = self.file;
        let names = |name: &str, kind, values: &mut dyn Iterator<Item = &'a String>| {
            let mut axis = StudiedAxis { name: name.to_owned(), kind, values: Vec::new() };
            values.for_each(|value| add(&mut axis, Value::from(value.clone())));
            axis
        };
        let mut axes =
            vec![names("system", AxisKind::System, &mut file.systems.iter().map(Spanned::get_ref))];
        if !file.variants.is_empty() {
            let variants = &mut file.variants.iter().map(|variant| variant.name.get_ref());
            axes.push(names("variant", AxisKind::Variant, variants));
        }
        for axis in &file.machine {
            axes.push(parameter(axis, AxisKind::Machine));
        }
        axes.push(names("workload", AxisKind::Workload, &mut file.workloads.iter().map(Spanned::get_ref)));
        if !file.inputs.is_empty() {
            let inputs = file.inputs.iter().flat_map(|inputs| &inputs.names);
            axes.push(names("input", AxisKind::Input, &mut inputs.map(Spanned::get_ref)));
        }
        for SettingFile { axis, .. } in &file.settings {
            let known =
                axes.iter_mut().find(|known| known.kind == AxisKind::Setting && known.name == axis.name);
            match known {
                Some(known) => axis.values.iter().for_each(|listed| add(known, json(&listed.value))),
                None => axes.push(parameter(axis, AxisKind::Setting)),
            }
        }
        axes.push(names("scenario", AxisKind::Scenario, &mut file.scenarios.iter().map(Spanned::get_ref)));
        axes
    }

    fn check_size(&self, workloads: &[&'static Workload], inputs: &[Vec<Input<'a>>]) -> Result<(), Error> {
        let product = |sizes: Vec<usize>| {
            sizes.into_iter().try_fold(1_usize, |product, size| product.checked_mul(size))
        };
        let lengths = |axes: &[&Axis]| axes.iter().map(|axis| axis.values.len()).collect::<Vec<_>>();
        let file = self.file;
        let of_workload = |(workload, inputs): (&&'static Workload, &Vec<Input<'a>>)| {
            product(lengths(&self.settings_of(workload)))?.checked_mul(inputs.len())
        };
        let mut sums = workloads.iter().zip(inputs).map(of_workload);
        let of_workloads = sums.try_fold(0_usize, |sum, runs| sum.checked_add(runs?));
        let mut sizes = lengths(&file.machine.iter().collect::<Vec<_>>());
        sizes.extend([
            file.systems.len(),
            file.variants.len().max(1),
            file.scenarios.len(),
            file.seeds.len(),
        ]);
        let all = of_workloads.and_then(|runs| {
            sizes.push(runs);
            product(sizes)
        });
        match all {
            Some(runs) if runs <= RUNS_MAX => Ok(()),
            _ => Err(self.source.error(0..0, format!("the study has more than {RUNS_MAX} runs"))),
        }
    }
}

/// Adds a value to an axis unless the axis already has the value.
fn add(axis: &mut StudiedAxis, value: Value) {
    if !axis.values.contains(&value) {
        axis.values.push(value);
    }
}

fn parameter(axis: &Axis, kind: AxisKind) -> StudiedAxis {
    let values = axis.values.iter().map(|listed| json(&listed.value)).collect();
    StudiedAxis { name: axis.name.clone(), kind, values }
}

/// Combines every machine with every program that fits it, and with every seed.
fn runs(machines: &[Machine], programs: &[Prepared], seeds: &[u64], scenarios: usize) -> Vec<PlannedRun> {
    let axes = 1 + machines
        .iter()
        .flat_map(|machine| &machine.place)
        .chain(programs.iter().flat_map(|program| &program.place))
        .map(|(axis, _)| *axis)
        .max()
        .unwrap_or(0);
    let mut runs = Vec::new();
    for machine in machines {
        let fitting = programs.iter().filter(|program| program.variant == machine.variant);
        for program in fitting {
            let mut place = vec![None; axes];
            for &(axis, at) in machine.place.iter().chain(&program.place) {
                place[axis] = Some(at);
            }
            for &seed in seeds {
                let experiment = Experiment {
                    system: machine.system.clone(),
                    machine: machine.changes.clone(),
                    seed,
                    ..program.experiment.clone()
                };
                let task = Task::new(experiment, program.input.clone());
                runs.push(PlannedRun { place: place.clone(), task });
            }
        }
    }
    debug_assert_eq!(runs.len() % (scenarios * seeds.len()), 0, "every scenario has every seed");
    runs
}
