//! Questions, and the experiments that they ask for.

use proto::Info;
use sim::config::System;
use workloads::{Instance, Kind, Settings, Workload};

use crate::catalog;
use crate::error::Error;
use crate::scenario::Scenario;
use crate::systems::Systems;

/// The seed of a workload's input. The seed of a run perturbs the machine and
/// leaves the input as it is.
const INPUT_SEED: u64 = 1;

/// What is asked, as it was typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// A machine: a name or a file.
    pub system: String,
    /// `PROTOCOL[+POLICY]`.
    pub scenario: String,
    /// A workload's name.
    pub workload: String,
    /// One of the workload's inputs.
    pub input: Option<String>,
    /// Settings of the workload, name and value.
    pub settings: Vec<(String, String)>,
    /// Perturbs the order of dispatch and the start of wavefronts; zero
    /// perturbs nothing.
    pub seed: u64,
    /// A message to lose on purpose: its name and which one, from 1.
    pub drop: Option<(String, u64)>,
    /// For how many cycles a run may go on without progress, if not for as
    /// long as usual.
    pub patience_cycles: Option<u64>,
}

/// A question whose every name is known and whose every number fits.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The machine.
    pub system: System,
    /// The protocol and the policy.
    pub scenario: Scenario,
    /// The program.
    pub workload: &'static Workload,
    /// Its settings, the policy's included.
    pub settings: Settings,
    /// See [`Question::seed`].
    pub seed: u64,
    /// See [`Question::drop`].
    pub drop: Option<(String, u64)>,
    /// See [`Question::patience_cycles`].
    pub patience_cycles: Option<u64>,
}

impl Experiment {
    /// Looks up every name of a question.
    ///
    /// # Errors
    /// The first name that is unknown, or the first thing that does not fit.
    pub fn new(systems: &Systems, question: &Question) -> Result<Experiment, Error> {
        let system = systems.load(&question.system)?;
        let scenario = Scenario::parse(&question.scenario)?;
        let workload = workload(&question.workload)?;
        if let Some(input) = &question.input {
            return Err(Error::unknown_input(workload.name, input));
        }
        let mut settings = workload.defaults();
        for (name, value) in &question.settings {
            settings.set(name, value).map_err(|error| Error::Impossible(error.to_string()))?;
        }
        if let Some(policy) = &scenario.policy {
            settings.set_policy(policy).map_err(|error| Error::Impossible(error.to_string()))?;
        }
        let experiment = Experiment {
            system,
            scenario,
            workload,
            settings,
            seed: question.seed,
            drop: question.drop.clone(),
            patience_cycles: question.patience_cycles,
        };
        experiment.instance()?;
        Ok(experiment)
    }

    /// Every scenario on every workload, workload by workload. A setting goes
    /// to the workloads that have it; at least one must.
    ///
    /// # Errors
    /// As for a single question.
    pub fn grid(
        systems: &Systems,
        question: &Question,
        scenarios: &[String],
        workloads: &[String],
    ) -> Result<Vec<Experiment>, Error> {
        let named = workloads.iter().map(|name| workload(name)).collect::<Result<Vec<_>, _>>()?;
        let has = |workload: &Workload, name: &str| workload.settings.iter().any(|known| known.name == name);
        let mut experiments = Vec::new();
        for workload in &named {
            let known_elsewhere = |name: &str| named.iter().any(|other| has(other, name));
            let mut settings = question.settings.clone();
            settings.retain(|(name, _)| has(workload, name) || !known_elsewhere(name));
            for scenario in scenarios {
                let question = Question {
                    workload: workload.name.to_owned(),
                    scenario: scenario.clone(),
                    settings: settings.clone(),
                    ..question.clone()
                };
                experiments.push(Experiment::new(systems, &question)?);
            }
        }
        Ok(experiments)
    }

    /// The program and the check of its answer.
    ///
    /// # Errors
    /// Settings that do not go together.
    pub fn instance(&self) -> Result<Instance, Error> {
        let made = self.workload.instance(&self.settings, INPUT_SEED);
        made.map_err(|error| Error::Impossible(error.to_string()))
    }

    /// What the protocol says of itself.
    #[must_use]
    pub fn protocol(&self) -> &'static Info {
        let named = zoo::ALL.iter().find(|info| info.name == self.scenario.protocol);
        named.expect("a scenario holds a name of the list")
    }

    /// The choices of the workload's policies, joined by commas; empty where
    /// it has none.
    #[must_use]
    pub fn policy(&self) -> String {
        let choices = self.settings.iter().filter(|(setting, _)| matches!(setting.kind, Kind::Policy(_)));
        choices.map(|(_, value)| value).collect::<Vec<_>>().join(",")
    }
}

fn workload(name: &str) -> Result<&'static Workload, Error> {
    let known = workloads::all().iter().find(|workload| workload.name == name);
    known.copied().ok_or_else(|| Error::unknown("workload", name, &catalog::workload_names()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> Question {
        Question {
            system: "hlrc-8cu".to_owned(),
            scenario: "vi".to_owned(),
            workload: "vec-add".to_owned(),
            ..Question::default()
        }
    }

    fn ask(question: &Question) -> Result<Experiment, String> {
        Experiment::new(&Systems::with_folder("no such folder"), question).map_err(|error| error.to_string())
    }

    #[test]
    fn a_question_is_looked_up_with_settings_and_policy() {
        let settings = vec![("n".to_owned(), "64k".to_owned())];
        let experiment = ask(&Question { settings, ..question() }).unwrap();
        assert_eq!(experiment.settings.count("n"), 65536);
        assert_eq!((experiment.protocol().name, experiment.policy().as_str()), ("vi", ""));
        let scenario = "no-l1+work-group".to_owned();
        let lock = Question { scenario, workload: "lock-counter".to_owned(), ..question() };
        assert!(ask(&lock).unwrap().policy().contains("work-group"));
    }

    #[test]
    fn a_grid_gives_each_workload_the_settings_that_it_has() {
        let [scenarios, workloads] =
            [["vi", "no-l1"], ["reduce", "histogram"]].map(|names| names.map(str::to_owned));
        let grid = |settings: &[(&str, &str)]| {
            let settings =
                settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            let question = Question { settings, ..question() };
            let systems = Systems::with_folder("no such folder");
            Experiment::grid(&systems, &question, &scenarios, &workloads).map_err(|error| error.to_string())
        };
        let four = grid(&[("n", "100"), ("bins", "7")]).unwrap();
        let names: Vec<_> =
            four.iter().map(|e| (e.workload.name, e.scenario.protocol, e.settings.count("n"))).collect();
        let expected = [("reduce", "vi"), ("reduce", "no-l1"), ("histogram", "vi"), ("histogram", "no-l1")];
        assert_eq!(names, expected.map(|(workload, protocol)| (workload, protocol, 100)));
        assert_eq!(four[3].settings.count("bins"), 7);
        assert!(grid(&[("binz", "7")]).unwrap_err().contains("`binz`"));
    }

    #[test]
    fn every_wrong_part_of_a_question_is_named() {
        let error = |change: fn(&mut Question)| {
            let mut question = question();
            change(&mut question);
            ask(&question).unwrap_err()
        };
        let near = "did you mean";
        assert!(error(|q| q.system = "hlrc8cu".to_owned()).contains(near));
        assert!(error(|q| q.scenario = "vii".to_owned()).contains(near));
        assert!(error(|q| q.workload = "vecadd".to_owned()).contains(near));
        assert!(error(|q| q.scenario = "vi+sideways".to_owned()).contains("`sideways`"));
        assert!(error(|q| q.input = Some("T1".to_owned())).contains("`T1`"));
        assert!(error(|q| q.settings = vec![("m".to_owned(), "1".to_owned())]).contains("`m`"));
        assert!(error(|q| q.settings = vec![("n".to_owned(), "-1".to_owned())]).contains("`-1`"));
    }
}
