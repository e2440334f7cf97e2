//! The description of a run as the user typed it (`Question`), and the same description with all
//! names looked up (`Experiment`).

use proto::Info;
use sim::ScopeReplacement;
use sim::config::System;
use workloads::graph::programs::{content_of, program_of, settings_of_graph};
use workloads::stealing::App;
use workloads::{Instance, NamedInput, SettingKind, Settings, Size, Workload, inputs};

use crate::catalog;
use crate::error::{Error, printable};
use crate::input::{GraphInput, INPUT_SEED, NumbersInput, Opened};
use crate::scenario::Scenario;
use crate::systems::{Changes, Systems};

/// The description of a run as the user typed it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// A machine: a name or a file.
    pub system: String,
    /// Changes of machine parameters. Each change is the path of a parameter in the machine file,
    /// and the new value.
    pub machine: Vec<(String, String)>,
    /// A protocol or a scenario of the hLRC paper: `NAME[+POLICY]`.
    pub scenario: String,
    /// The name of a workload.
    pub workload: String,
    /// The input: a graph file, the name of a stand-in (a generated graph), files of numbers
    /// separated by commas, or the name of an input that the workload itself provides.
    pub input: Option<String>,
    /// The scale of a stand-in (a generated graph), such as `1/16` of its full size.
    pub scale: Option<String>,
    /// The size of the workload: `tiny`, `small` or `paper`. A size gives values to some settings.
    /// With `None` all settings have their defaults. The values of a named input and the values in
    /// `settings` override the values of the size.
    pub size: Option<String>,
    /// Settings of the workload: name and value.
    pub settings: Vec<(String, String)>,
    /// The seed of random changes to the order of dispatch and the start of wavefronts. With zero
    /// there are no changes.
    pub seed: u64,
    /// A message to drop as a seeded fault, given by its name and its number among the messages of
    /// this name, counted from 1.
    pub drop: Option<(String, u64)>,
    /// A run is stopped after this many cycles without progress. `None` selects the default.
    pub patience_cycles: Option<u64>,
}

/// A run that was requested with a `Question` (the description of a run as typed), after all names
/// were looked up and all numbers were checked.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The machine on which the program runs, with its changes.
    pub system: System,
    /// The parameters in which the machine differs from its description.
    pub machine: Changes,
    /// The protocol and the policy.
    pub scenario: Scenario,
    /// The workload whose program runs.
    pub workload: &'static Workload,
    /// The input graph. `None` if the program has no input graph.
    pub input: Option<GraphInput>,
    /// The tables of numbers from files that the program works on. `None` if the program has no
    /// such input.
    pub numbers: Option<NumbersInput>,
    /// The input that the user names, if the workload itself provides this input. `None` otherwise.
    pub named: Option<&'static NamedInput>,
    /// The size of the workload that the user names. `None` if the user names no size.
    pub size: Option<Size>,
    /// The settings of the workload. They include the policy.
    pub settings: Settings,
    /// The seed of random changes to dispatch order and wavefront starts. See [`Question::seed`].
    pub seed: u64,
    /// A message to drop as a seeded fault. See [`Question::drop`].
    pub drop: Option<(String, u64)>,
    /// The number of cycles without progress after which the run is stopped. See
    /// [`Question::patience_cycles`].
    pub patience_cycles: Option<u64>,
    /// Changes of scopes: each one replaces the scope of some of the program's operations.
    pub scopes: Vec<ScopeReplacement>,
}

impl Experiment {
    /// Looks up every name of a question (the description of a run as typed).
    ///
    /// # Errors
    /// If a name is unknown, or if a value is not allowed. The error describes the first such
    /// fault.
    pub fn new(systems: &Systems, question: &Question) -> Result<Experiment, Error> {
        Experiment::on(systems, question, &mut Opened::default())
    }

    /// Does the same as [`Experiment::new`], but shares an open input between calls: if `opened`
    /// has the input, the experiment uses it. Otherwise the function opens the input and stores it
    /// in `opened`.
    fn on(systems: &Systems, question: &Question, opened: &mut Opened) -> Result<Experiment, Error> {
        set_once(&question.settings)?;
        let machine = Changes::parse(&question.machine);
        let system = systems.load_changed(&question.system, &machine.0)?;
        Experiment::with_machine((system, machine), question, opened)
    }

    /// Does the same as [`Experiment::new`], but for a machine that is already loaded, and with an
    /// input that several calls share through `opened`. The fields `system` and `machine` of
    /// `question` are ignored.
    pub(crate) fn with_machine(
        (system, machine): (System, Changes),
        question: &Question,
        opened: &mut Opened,
    ) -> Result<Experiment, Error> {
        let scenario = Scenario::parse(&question.scenario)?;
        let workload = workload(&question.workload)?;
        let named = named_input(workload, question)?;
        if named.is_none() {
            check_input(workload, question)?;
        }
        let size = question.size.as_deref().map(size).transpose()?;
        let mut settings = match size {
            Some(size) => workload.sized(size).map_err(|error| Error::Impossible(error.to_string()))?,
            None => workload.defaults(),
        };
        if let Some(policy) = stealing(&scenario, workload)? {
            settings.set_policy(policy).map_err(|error| Error::Impossible(error.to_string()))?;
        }
        let of_input = named.map_or(&[][..], |input| input.settings).iter();
        let of_input = of_input.map(|(name, value)| (*name, *value));
        let of_question = question.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in of_input.chain(of_question) {
            settings.set(name, value).map_err(|error| Error::Impossible(error.to_string()))?;
        }
        if let Some(policy) = &scenario.policy {
            settings.set_policy(policy).map_err(|error| Error::Impossible(error.to_string()))?;
        }
        let is_graph = named.is_none() && program_of(workload).is_some();
        if let (true, None, Some(name)) = (is_graph, &opened.graph, &question.input) {
            opened.graph = Some(GraphInput::open(name, question.scale.as_deref(), content_of(workload))?);
        }
        let numbers = match (named, inputs::program_of(workload), &question.input) {
            (None, Some(program), Some(name)) => Some(opened.numbers(name, program, &settings)?),
            _ => None,
        };
        let experiment = Experiment {
            system,
            machine,
            scenario,
            workload,
            input: if is_graph { opened.graph.clone() } else { None },
            numbers,
            named,
            size,
            settings,
            seed: question.seed,
            drop: question.drop.clone(),
            patience_cycles: question.patience_cycles,
            scopes: Vec::new(),
        };
        experiment.instance()?;
        Ok(experiment)
    }

    /// Combines every workload with every scenario. The result is sorted by workload. A setting
    /// that the user gives applies only to the workloads that have this setting. At least one
    /// workload must have the setting.
    ///
    /// # Errors
    /// If a workload or a scenario is named twice. Also the errors of [`Experiment::new`] for each
    /// combination.
    pub fn grid(
        systems: &Systems,
        question: &Question,
        scenarios: &[String],
        workloads: &[String],
    ) -> Result<Vec<Experiment>, Error> {
        let named = workloads.iter().map(|name| workload(name)).collect::<Result<Vec<_>, _>>()?;
        named_once("workload", workloads)?;
        named_once("scenario", scenarios)?;
        let has = |workload: &Workload, name: &str| workload.settings.iter().any(|known| known.name == name);
        let (mut experiments, mut opened) = (Vec::new(), Opened::default());
        let mut content = None;
        for workload in &named {
            // A matrix and a graph are read from a file with different options, so an open graph is
            // not shared between workloads with different contents.
            if content.replace(content_of(workload)) != Some(content_of(workload)) {
                opened.graph = None;
            }
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
                experiments.push(Experiment::on(systems, &question, &mut opened)?);
            }
        }
        Ok(experiments)
    }

    /// The program of the workload, with the check of its answer.
    ///
    /// # Errors
    /// If values of the settings conflict with each other.
    pub fn instance(&self) -> Result<Instance, Error> {
        let on_graph = self.input.as_ref().zip(program_of(self.workload));
        let on_numbers = self.numbers.as_ref().zip(inputs::program_of(self.workload));
        let instance = match (on_graph, on_numbers) {
            (Some((input, program)), _) => program(&input.opened.graph, &self.settings, INPUT_SEED),
            (None, Some((input, program))) => (program.make)(&input.tables, &self.settings, INPUT_SEED),
            (None, None) => self.workload.instance(&self.settings, INPUT_SEED),
        };
        instance.map_err(|error| Error::Impossible(error.to_string()))
    }

    /// The description of the protocol, with its claims.
    #[must_use]
    pub fn protocol(&self) -> &'static Info {
        let named = zoo::ALL.iter().find(|info| info.name == self.scenario.protocol);
        named.expect("the protocol of a scenario is in the list of protocols")
    }

    /// The values of the settings, by name. Settings that the user's graph or numbers replace are
    /// left out.
    pub fn settings(&self) -> impl Iterator<Item = (&'static str, String)> + '_ {
        self.settings_beside(self.input.is_some() || self.numbers.is_some())
    }

    /// The names and values of the settings. If `has_input` is true, the settings that the user's
    /// input replaces are left out.
    pub(crate) fn settings_beside(
        &self,
        has_input: bool,
    ) -> impl Iterator<Item = (&'static str, String)> + '_ {
        let replaced = if has_input { settings_of_input(self.workload) } else { &[] };
        let says = move |name: &str| !replaced.contains(&name);
        let settings = self.settings.iter().map(|(setting, value)| (setting.name, value));
        settings.filter(move |(name, _)| says(name))
    }

    /// The name of the workload's input. `None` if the user names no input.
    #[must_use]
    pub fn input_name(&self) -> Option<String> {
        let graph = self.input.as_ref().map(|input| input.name.clone());
        let numbers = || self.numbers.as_ref().map(|input| input.name.clone());
        graph.or_else(numbers).or_else(|| self.named.map(|input| input.name.to_owned()))
    }

    /// The policies that the run uses, joined by commas. Empty if the workload has no policy.
    #[must_use]
    pub fn policy(&self) -> String {
        let choices =
            self.settings.iter().filter(|(setting, _)| matches!(setting.kind, SettingKind::Policy(_)));
        choices.map(|(_, value)| value).collect::<Vec<_>>().join(",")
    }
}

/// Checks that no setting is given more than once.
pub(crate) fn set_once(settings: &[(String, String)]) -> Result<(), Error> {
    for (at, (name, second)) in settings.iter().enumerate() {
        if let Some((_, first)) = settings[..at].iter().find(|(other, _)| other == name) {
            let [name, first, second] = [name, first, second].map(|text| printable(text));
            return Err(Error::Impossible(format!("`{name}` is set twice, to `{first}` and to `{second}`")));
        }
    }
    Ok(())
}

/// Checks that no name occurs twice in a list. In the error, `what` is the kind of thing that the
/// names denote.
pub(crate) fn named_once(what: &str, names: &[String]) -> Result<(), Error> {
    let twice = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name));
    match twice {
        Some((_, name)) => Err(Error::Impossible(format!("{what} `{}` is named twice", printable(name)))),
        None => Ok(()),
    }
}

/// The input that the workload itself provides under the name that the user gives in `question`.
/// `None` if the user names no input, or if the workload provides no inputs of its own.
fn named_input(workload: &Workload, question: &Question) -> Result<Option<&'static NamedInput>, Error> {
    let (inputs, Some(name)) = (workload.inputs(), &question.input) else { return Ok(None) };
    if inputs.is_empty() {
        return Ok(None);
    }
    let names: Vec<&str> = inputs.iter().map(|input| input.name).collect();
    match (inputs.iter().find(|input| input.name == name), &question.scale) {
        (None, _) => Err(Error::unknown("input", name, &names)),
        (Some(input), Some(scale)) => Err(Error::Impossible(format!(
            "input `{}` of workload `{}` has one size only, so the scale `{}` does not apply",
            input.name,
            workload.name,
            printable(scale)
        ))),
        (found, None) => Ok(found),
    }
}

/// Checks that the workload accepts the input and the scale that the user names in `question`, and
/// that the user sets no setting that this input replaces.
fn check_input(workload: &Workload, question: &Question) -> Result<(), Error> {
    let Some(input) = &question.input else {
        return match &question.scale {
            Some(scale) => Err(Error::Impossible(format!(
                "the scale `{}` needs an input, but the command names no input",
                printable(scale)
            ))),
            None => Ok(()),
        };
    };
    let is_graph = program_of(workload).is_some();
    if !is_graph && inputs::program_of(workload).is_none() {
        return Err(Error::unknown_input(workload.name, input));
    }
    if let (false, Some(scale)) = (is_graph, &question.scale) {
        return Err(Error::Impossible(format!(
            "the input of workload `{}` is a file, so the scale `{}` does not apply",
            workload.name,
            printable(scale)
        )));
    }
    let replaced = settings_of_input(workload);
    match question.settings.iter().find(|(name, _)| replaced.contains(&name.as_str())) {
        Some((name, value)) => Err(Error::Impossible(format!(
            "`{name}={}` cannot be set, because the input is {}{}",
            printable(value),
            if is_graph { "the graph " } else { "" },
            printable(input)
        ))),
        None => Ok(()),
    }
}

/// The settings that have no effect if the user gives an input, because the input replaces them.
fn settings_of_input(workload: &Workload) -> &'static [&'static str] {
    match inputs::program_of(workload) {
        Some(program) => program.settings,
        None => settings_of_graph(workload),
    }
}

/// The policy for work stealing that the scenario prescribes. `None` if the scenario prescribes no
/// such policy, or if the scenario is only a protocol and the workload does not steal work.
fn stealing(scenario: &Scenario, workload: &Workload) -> Result<Option<&'static str>, Error> {
    if scenario.stealing.is_none() || App::of(workload).is_some() {
        return Ok(scenario.stealing);
    }
    let Scenario { name, protocol, .. } = scenario;
    if name == protocol {
        return Ok(None);
    }
    let workload = workload.name;
    Err(Error::Impossible(format!(
        "scenario `{name}` chooses a way to steal work, but workload `{workload}` steals no work: use protocol \
         `{protocol}` instead"
    )))
}

fn workload(name: &str) -> Result<&'static Workload, Error> {
    let known = workloads::all().iter().find(|workload| workload.name == name);
    known.copied().ok_or_else(|| Error::unknown("workload", name, &catalog::workload_names()))
}

fn size(name: &str) -> Result<Size, Error> {
    Size::find(name).ok_or_else(|| Error::unknown("size", name, &catalog::size_names()))
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
    fn a_question_selects_settings_protocol_and_policy() {
        let settings = vec![("n".to_owned(), "64k".to_owned())];
        let experiment = ask(&Question { settings, ..question() }).unwrap();
        assert_eq!(experiment.settings.count("n"), 65536);
        assert_eq!((experiment.protocol().name, experiment.policy().as_str()), ("vi", ""));
        let scenario = "no-l1+work-group".to_owned();
        let lock = Question { scenario, workload: "lock-counter".to_owned(), ..question() };
        assert!(ask(&lock).unwrap().policy().contains("work-group"));
    }

    #[test]
    fn a_size_gives_the_settings_and_single_settings_win() {
        let tiny = Question { size: Some("tiny".to_owned()), ..question() };
        assert_eq!(ask(&tiny).unwrap().settings.count("n"), 3000);
        let paper = Question { size: Some("paper".to_owned()), ..question() };
        assert_eq!(ask(&paper).unwrap().settings.count("n"), 16 << 20);
        let set = Question { settings: vec![("n".to_owned(), "7".to_owned())], ..tiny.clone() };
        let set = ask(&set).unwrap();
        assert_eq!((set.settings.count("n"), set.size), (7, Some(Size::Tiny)));
        // The input determines the tree, although the size also gives settings for the tree.
        let uts = Question { workload: "uts".to_owned(), input: Some("T1-small".to_owned()), ..question() };
        let sized = Question { size: Some("tiny".to_owned()), ..uts.clone() };
        let tree = |question: &Question| {
            let of_input = ask(question).unwrap().named.unwrap().settings;
            let settings: Vec<_> = ask(question).unwrap().settings().collect();
            settings
                .into_iter()
                .filter(|(name, _)| of_input.iter().any(|(of, _)| of == name))
                .collect::<Vec<_>>()
        };
        assert_eq!(tree(&sized), tree(&uts));
        let unknown = Question { size: Some("tine".to_owned()), ..question() };
        assert_eq!(ask(&unknown).unwrap_err(), "unknown size `tine`, did you mean `tiny`?");
        let far = Question { size: Some("enormous".to_owned()), ..question() };
        assert_eq!(ask(&far).unwrap_err(), "unknown size `enormous`, expected one of tiny, small, paper");
    }

    #[test]
    fn a_scenario_of_the_paper_sets_the_policy_of_programs_that_steal() {
        let with = |scenario: &str, workload: &str| {
            let (scenario, workload) = (scenario.to_owned(), workload.to_owned());
            ask(&Question { scenario, workload, ..question() }).map(|e| (e.scenario.protocol, e.policy()))
        };
        let (protocol, policy) = with("rsp", "sssp").unwrap();
        assert_eq!(protocol, "rsp");
        assert!(policy.starts_with("work-group,steal-remote,padded"), "{policy}");
        assert!(with("rsp+packed", "sssp").unwrap().1.starts_with("work-group,steal-remote,packed"));
        assert!(with("baseline", "color").unwrap().1.starts_with("device,no-steal"));
        assert_eq!(with("rsp", "vec-add").unwrap(), ("rsp", String::new()));
        assert!(with("steal-only", "vec-add").unwrap_err().contains("use protocol `vi` instead"));
    }

    #[test]
    fn a_grid_gives_each_workload_its_settings() {
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
    fn duplicate_names_and_settings_are_refused() {
        let twice = vec![("n".to_owned(), "5".to_owned()), ("n".to_owned(), "6".to_owned())];
        let error = ask(&Question { settings: twice, ..question() }).unwrap_err();
        assert_eq!(error, "`n` is set twice, to `5` and to `6`");
        let grid = |scenarios: &[&str], workloads: &[&str]| {
            let [scenarios, workloads] = [scenarios, workloads]
                .map(|all| all.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
            let systems = Systems::with_folder("no such folder");
            Experiment::grid(&systems, &question(), &scenarios, &workloads).map_err(|error| error.to_string())
        };
        assert_eq!(grid(&["vi", "vi"], &["reduce"]).unwrap_err(), "scenario `vi` is named twice");
        assert_eq!(grid(&["vi"], &["reduce", "reduce"]).unwrap_err(), "workload `reduce` is named twice");
        assert_eq!(grid(&["vi", "no-l1"], &["reduce", "vec-add"]).map(|all| all.len()), Ok(4));
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
        assert!(
            error(|q| q.scale = Some("1/2".to_owned())).contains("`1/2` needs an input, but the command")
        );
        assert!(error(|q| q.settings = vec![("m".to_owned(), "1".to_owned())]).contains("`m`"));
        assert!(error(|q| q.settings = vec![("n".to_owned(), "-1".to_owned())]).contains("`-1`"));
    }

    #[test]
    fn an_application_takes_a_fitting_stand_in_or_file() {
        let on = |input: &str, scale: Option<&str>, setting: Option<(&str, &str)>| {
            let settings = setting.map(|(name, value)| (name.to_owned(), value.to_owned()));
            ask(&Question {
                workload: "sssp".to_owned(),
                input: Some(input.to_owned()),
                scale: scale.map(str::to_owned),
                settings: settings.into_iter().collect(),
                ..question()
            })
        };
        let experiment = on("dictionary28", Some("1/256"), Some(("sweeps", "3"))).unwrap();
        let graph = &experiment.input.as_ref().unwrap().opened.graph;
        assert_eq!(graph.vertices(), 206);
        let settings: Vec<_> = experiment.settings().collect();
        assert!(settings.contains(&("sweeps", "3".to_owned())));
        assert!(settings.iter().all(|(name, _)| *name != "vertices"));
        let error = |input: &str, scale, setting| on(input, scale, setting).unwrap_err();
        assert!(error("dictionary82", None, None).contains("did you mean `dictionary28`?"));
        assert!(error("c-68", Some("2"), None).contains("found the scale `2`"));
        assert!(error("Cargo.toml", Some("1/2"), None).contains("is a file"));
        assert!(error("Cargo.toml", None, None).contains("cannot tell the format"));
        assert!(error("c-68", None, Some(("edges", "7"))).contains("`edges=7` cannot be set"));
        assert!(error("c-68", Some("1/1024"), Some(("source", "63"))).contains("`source` is vertex 63"));
    }

    #[test]
    fn every_graph_workload_takes_a_stand_in() {
        for workload in workloads::graph::programs::workloads() {
            let (input, scale) = (Some("c-68".to_owned()), Some("1/256".to_owned()));
            let workload = workload.name.to_owned();
            let experiment = ask(&Question { workload, input, scale, ..question() }).unwrap();
            assert_eq!(experiment.input_name().as_deref(), Some("c-68"));
            assert!(experiment.settings().all(|(name, _)| name != "vertices"));
        }
    }
}
