//! Runs the tasks of a reproduction on several threads, and stores the results. A task is a run
//! with everything that determines its result, so runs with the same task are executed only once.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use workloads::graph::programs::{Content, content_of};
use workloads::graph::stand_in::Scale;
use workloads::inputs::{self, NumberProgram};

use crate::error::Error;
use crate::experiment::Experiment;
use crate::input::{GraphInput, NumbersInput, OpenedNumbers};
use crate::paper::Plan;
use crate::record::Record;
use crate::results::{KernelSpan, Measured, Row, RowKey};
use crate::run::{Pulse, run};
use crate::store::{ResultStore, Store, Stored, TaskId};
use crate::task::{InputRequest, Task};

/// The progress of a reproduction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The number of tasks that have a result already.
    pub done: usize,
    /// The number of all tasks.
    pub tasks: usize,
    /// The total size of the tasks that this reproduction has run, in units of about one arc of a
    /// graph. Tasks whose results were already stored are not included.
    pub weight_run: u64,
    /// The total size of the tasks that remain to be run, in units of about one arc of a graph.
    pub weight_left: u64,
}

/// The results of a reproduction.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The results of the runs, one row for each run of the plan, in the order of the plan. The
    /// plan is the list of all runs.
    pub rows: Vec<Row>,
    /// The number of tasks that this call ran.
    pub ran: usize,
    /// The number of tasks whose results were already stored before this call.
    pub found: usize,
    /// Notices for the user about damaged files with stored results.
    pub notices: Vec<String>,
    /// Whether some run could not execute: its settings did not fit the input or the machine, or
    /// the machine cannot run the program. Results of such runs are not stored.
    pub has_misfit: bool,
}

/// The results of tasks, with the number of tasks that had to be run.
#[derive(Clone, Debug, Default)]
pub struct Performed {
    /// The result of each task.
    pub results: BTreeMap<TaskId, Measured>,
    /// The number of tasks that this call ran.
    pub ran: usize,
    /// The number of tasks whose results were already stored before this call.
    pub found: usize,
    /// Notices for the user about damaged files with stored results.
    pub notices: Vec<String>,
    /// Whether some run could not execute: its settings did not fit the input or the machine, or
    /// the machine cannot run the program. Results of such runs are not stored.
    pub has_misfit: bool,
}

/// Runs the tasks of a reproduction that have no stored result, on `jobs` threads. The function
/// `report` is called with the progress after every task.
///
/// # Errors
/// The errors of [`perform_tasks`].
pub fn perform(
    plan: &Plan,
    store: &Store,
    jobs: usize,
    pulse: &Pulse,
    report: &(dyn Fn(Progress) + Sync),
) -> Result<Outcome, Error> {
    let Performed { results, ran, found, notices, has_misfit } =
        perform_tasks(&plan.tasks(), store, jobs, pulse, report)?;
    let row = |(key, task): (&RowKey, &Task)| {
        let measured = results.get(&task.id)?.clone();
        Some(Row { key: key.clone(), system: task.experiment.system.name.clone(), measured })
    };
    let rows = plan.runs().filter_map(row).collect();
    Ok(Outcome { rows, ran, found, notices, has_misfit })
}

/// Runs the tasks that have no stored result, on `jobs` threads. All tasks must be different. The
/// function `report` is called with the progress after every task.
///
/// If a task cannot run because its settings do not fit the input or the machine, its result says
/// so ([`Measured::is_misfit`]).
///
/// # Errors
/// If an input cannot be opened or a result cannot be stored. The results that are already stored
/// remain.
pub fn perform_tasks(
    tasks: &[&Task],
    store: &dyn ResultStore,
    jobs: usize,
    pulse: &Pulse,
    report: &(dyn Fn(Progress) + Sync),
) -> Result<Performed, Error> {
    let mut performed = Performed::default();
    let mut missing = Vec::new();
    for task in tasks {
        match store.load(task) {
            Stored::Result(measured) => {
                performed.results.insert(task.id.clone(), *measured);
                continue;
            }
            Stored::Damaged(notice) => performed.notices.push(notice),
            Stored::Nothing => {}
        }
        missing.push(*task);
    }
    performed.found = performed.results.len();
    performed.ran = missing.len();
    let state = State {
        missing: &missing,
        store,
        pulse,
        report,
        next: AtomicUsize::new(0),
        stop: AtomicBool::new(false),
        graphs: Mutex::default(),
        numbers: Mutex::default(),
        done: Mutex::new(Completed {
            results: Vec::new(),
            error: None,
            has_misfit: false,
            progress: Progress {
                done: performed.found,
                tasks: tasks.len(),
                weight_run: 0,
                weight_left: missing.iter().map(|task| task.weight()).sum(),
            },
        }),
    };
    report(state.progress());
    std::thread::scope(|scope| {
        for _ in 1..jobs.clamp(1, missing.len().max(1)) {
            scope.spawn(|| state.work());
        }
        state.work();
    });
    let done = state.done.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = done.error {
        return Err(error);
    }
    performed.has_misfit = done.has_misfit;
    performed.results.extend(done.results.into_iter().map(|(id, measured)| (id.clone(), measured)));
    Ok(performed)
}

/// The key of a graph that several tasks may share: its name or path, its scale, and the kind of
/// its content (a graph or a matrix).
type GraphKey = (String, Option<String>, Content);

struct State<'a> {
    missing: &'a [&'a Task],
    store: &'a dyn ResultStore,
    pulse: &'a Pulse,
    report: &'a (dyn Fn(Progress) + Sync),
    next: AtomicUsize,
    stop: AtomicBool,
    graphs: Mutex<BTreeMap<GraphKey, GraphInput>>,
    numbers: Mutex<BTreeMap<Vec<PathBuf>, OpenedNumbers>>,
    done: Mutex<Completed<'a>>,
}

struct Completed<'a> {
    results: Vec<(&'a TaskId, Measured)>,
    error: Option<Error>,
    has_misfit: bool,
    progress: Progress,
}

impl State<'_> {
    fn progress(&self) -> Progress {
        self.done.lock().unwrap_or_else(PoisonError::into_inner).progress
    }

    fn work(&self) {
        while !self.stop.load(Ordering::Relaxed) {
            let Some(task) = self.missing.get(self.next.fetch_add(1, Ordering::Relaxed)) else { return };
            let result = self.measure(task);
            let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
            match result {
                Ok((measured, is_misfit)) => {
                    done.has_misfit |= is_misfit;
                    done.results.push((&task.id, measured));
                    done.progress.done += 1;
                    done.progress.weight_run += task.weight();
                    done.progress.weight_left -= task.weight();
                    (self.report)(done.progress);
                }
                Err(error) => {
                    self.stop.store(true, Ordering::Relaxed);
                    done.error.get_or_insert(error);
                }
            }
        }
    }

    fn measure(&self, task: &Task) -> Result<(Measured, bool), Error> {
        self.store.begin(task)?;
        let mut experiment = task.experiment.clone();
        if let Some(input) = task.input.as_ref().filter(|input| input.named.is_none()) {
            match inputs::program_of(experiment.workload) {
                Some(program) => experiment.numbers = Some(self.numbers(input, program, &experiment)?),
                None => experiment.input = Some(self.graph(input, content_of(experiment.workload))?),
            }
        }
        let (measured, is_misfit) = match run(&experiment, &mut self.pulse.clone()) {
            Ok(record) if !record.misfit => (Measured::from(record), false),
            Ok(record) => (Measured::misfit(record.error.as_deref().unwrap_or_default()), true),
            // Only this task cannot run. The other tasks continue.
            Err(Error::Impossible(why)) => (Measured::misfit(&why), true),
            Err(other) => return Err(other),
        };
        self.store.save(task, &measured, is_misfit)?;
        Ok((measured, is_misfit))
    }

    /// The input graph of a task. It is read or generated once for all tasks that use it.
    fn graph(&self, input: &InputRequest, content: Content) -> Result<GraphInput, Error> {
        let scale = input.scale.filter(|scale| *scale != Scale::FULL).map(|scale| scale.to_string());
        let path = input.paths.first().map(|path| path.to_string_lossy().into_owned());
        let key = (path.unwrap_or_else(|| input.name.clone()), scale, content);
        let mut graphs = self.graphs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(graph) = graphs.get(&key) {
            return Ok(graph.clone());
        }
        let graph = GraphInput::open(&key.0, key.1.as_deref(), content)?;
        input.check_unchanged()?;
        graphs.insert(key, graph.clone());
        Ok(graph)
    }

    /// The tables of numbers of a task. They are read once for all tasks that expect tables of the
    /// same shape.
    fn numbers(
        &self,
        input: &InputRequest,
        program: &NumberProgram,
        experiment: &Experiment,
    ) -> Result<NumbersInput, Error> {
        let mut all = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let numbers = all.entry(input.paths.clone()).or_default();
        let known = numbers.all().count();
        let opened = numbers.get((&input.name, &input.paths), program, &experiment.settings)?;
        if numbers.all().count() > known {
            input.check_unchanged()?;
        }
        Ok(opened)
    }
}

impl From<Record> for Measured {
    fn from(record: Record) -> Measured {
        let kernel = |kernel: crate::KernelRecord| KernelSpan {
            name: kernel.name,
            from_cycle: kernel.from_cycle,
            until_cycle: kernel.until_cycle,
        };
        Measured {
            cycles: record.cycles,
            answer_ok: record.answer_ok,
            error: record.error,
            counters: record.counters,
            energy_pj: record.energy_pj,
            kernels: record.kernels.into_iter().map(kernel).collect(),
        }
    }
}
