//! Lists the machines of a study, each with every combination of the parameter values that the
//! study gives.

use std::collections::{BTreeMap, BTreeSet};

use sim::config::System;

use super::axis::{Axis, Listed, combinations};
use super::read::{Span, with_real_part};
use super::resolver::Resolver;
use super::results::StudiedMachine;
use crate::error::{Error, printable};
use crate::scenario::Scenario;
use crate::systems::{Change, ChangeError, Changes, Systems, is_path, parameters, text_of};

/// A machine with the changes that the study makes to it.
pub(super) struct Machine {
    pub(super) place: Vec<(usize, usize)>,
    /// The index of the variant (a named group of changes) that the machine has. `None` if the
    /// study has no variants.
    pub(super) variant: Option<usize>,
    pub(super) system: System,
    /// The index of the unchanged machine in the list of machines in the study's file.
    pub(super) base: usize,
    pub(super) changes: Changes,
}

impl Resolver<'_> {
    /// Lists every machine in the study's file, with every variant and every combination of the
    /// parameter values that the file gives.
    pub(super) fn machines(&self, systems: &Systems) -> Result<Vec<Machine>, Error> {
        let file = self.file;
        let sizes: Vec<usize> = file.machine.iter().map(|axis| axis.values.len()).collect();
        let points = combinations(&sizes);
        let variants: Vec<Option<usize>> = match file.variants.len() {
            0 => vec![None],
            count => (0..count).map(Some).collect(),
        };
        let (mut machines, mut names) = (Vec::<Machine>::new(), BTreeMap::new());
        for (at, name) in file.systems.iter().enumerate() {
            let sought = self.machine(name.get_ref());
            let loaded = self.at(name.span(), systems.load(&sought))?;
            if let Some(other) = names.insert(loaded.name.clone(), name) {
                let [first, second, both] =
                    [other.get_ref(), name.get_ref(), &loaded.name].map(|text| printable(text));
                let message = format!(
                    "the descriptions of `{first}` and `{second}` both contain the name `{both}`, expected another \
                     `name` in one of them"
                );
                return Err(self.source.error(name.span(), message));
            }
            for &variant in &variants {
                for point in &points {
                    let mut place = vec![(0, at)];
                    place.extend(variant.map(|variant| (1, variant)));
                    let first = place.len();
                    place.extend(point.iter().enumerate().map(|(axis, value)| (first + axis, *value)));
                    let changes = self.changes(variant, point);
                    let system = self.changed(systems, &sought, &changes)?;
                    let changes = Changes(changes.into_iter().map(|(change, _)| change).collect());
                    machines.push(Machine { place, variant, system, base: at, changes });
                }
            }
        }
        Ok(machines)
    }

    /// The name by which [`Systems`] finds a machine that the study names. If the name is a path,
    /// it is relative to the study's folder, and the result is relative to the working directory.
    fn machine(&self, name: &str) -> String {
        match is_path(name) {
            true => self.path(name).to_string_lossy().into_owned(),
            false => name.to_owned(),
        }
    }

    /// The changes that a variant and a combination of parameter values make to a machine. Each
    /// change comes with its place in the study's file.
    fn changes(&self, variant: Option<usize>, point: &[usize]) -> Vec<(Change, Span)> {
        let change = |axis: &Axis, Listed { value, span }: &Listed| {
            (Change { key: axis.name.clone(), value: value.clone() }, span.clone())
        };
        let of_variant = variant.map(|at| &self.file.variants[at].machine).into_iter().flatten();
        let of_variant = of_variant.map(|axis| change(axis, &axis.values[0]));
        let of_point = self.file.machine.iter().zip(point).map(|(axis, &at)| change(axis, &axis.values[at]));
        of_variant.chain(of_point).collect()
    }

    fn changed(&self, systems: &Systems, name: &str, changes: &[(Change, Span)]) -> Result<System, Error> {
        let all: Vec<Change> = changes.iter().map(|(change, _)| change.clone()).collect();
        systems.load_changed(name, &all).map_err(|error| match error {
            ChangeError::Machine(error) => error,
            ChangeError::Change { at, message } => {
                let (_, span) = &changes[at.unwrap_or(changes.len() - 1)];
                self.source.error(span.clone(), with_real_part(self.source, span, message))
            }
        })
    }

    /// Returns the names of the counters that the runs of the study will have, as far as they are
    /// known before the runs. Returns an error if a protocol of `scenarios` cannot use one of
    /// `machines`.
    pub(super) fn counters(
        &self,
        machines: &[Machine],
        scenarios: &[Scenario],
    ) -> Result<BTreeSet<String>, Error> {
        let mut counters = BTreeSet::new();
        for machine in machines {
            let mut checked = BTreeSet::new();
            for (scenario, name) in scenarios.iter().zip(&self.file.scenarios) {
                if !checked.insert(scenario.protocol) {
                    continue;
                }
                let subject =
                    subjects::timed(scenario.protocol).expect("a scenario has a protocol of the list");
                let found = sim::counter_names(&subject, &machine.system).map_err(|error| {
                    let machine = machine.changes.after(&machine.system.name);
                    self.source.error(name.span(), format!("on {machine}: {error}"))
                })?;
                counters.extend(found);
            }
        }
        Ok(counters)
    }
}

/// Descriptions of the machines in the study's list of machines. Each description has only the
/// parameters that no change of the study affects.
pub(super) fn described(machines: &[Machine]) -> Vec<StudiedMachine> {
    let mut known = BTreeSet::new();
    let first = machines.iter().filter(|machine| known.insert(machine.base));
    first
        .map(|machine| {
            let same = machines.iter().filter(|other| other.base == machine.base);
            let changes: Vec<&str> =
                same.flat_map(|other| &other.changes.0).map(|change| change.key.as_str()).collect();
            let is_changed = |key: &str| {
                let inside =
                    |change: &&str| key.strip_prefix(*change).is_some_and(|rest| rest.starts_with('.'));
                changes.iter().any(|change| *change == key || inside(change))
            };
            let fixed = parameters(&machine.system).into_iter().filter(|(key, _)| !is_changed(key));
            StudiedMachine {
                name: machine.system.name.clone(),
                parameters: fixed.map(|(key, value)| (key, text_of(&value))).collect(),
            }
        })
        .collect()
}
