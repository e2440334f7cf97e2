//! The graph applications that use work stealing, as workloads.

use std::rc::Rc;

use kernel::prelude::*;

use super::color::{self, Color};
use super::input::InArcs;
use super::pagerank::{self, PageRank};
use super::policy::{ATTEMPTS, ORDERING, PADDING, REFILL, Refill, SCOPE, STEAL};
use super::sssp::{self, Sssp};
use super::sweep::{CHUNK, Plan, QUEUES, SWEEPS, WAVES, check_work};
use super::worker::TASKS_MAX;
use crate::graph::Csr;
use crate::graph::programs::{EDGES, SOURCE, VERTICES, generated, source_of};
use crate::instance::{Instance, Purpose, Room, Sizes, Workload};
use crate::settings::{BadSetting, Settings};

pub(crate) static SSSP: Workload = Workload {
    name: "sssp",
    summary: "computes shortest paths by tasks of vertices, with work stealing",
    origin: "hLRC paper (MICRO 2016), section IV.A",
    room: Room::Graph,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("vertices", "700"), ("edges", "3000"), ("sweeps", "3"), ("chunk", "9")],
        small: &[("vertices", "4k"), ("edges", "12_000")],
        paper: &[("vertices", "64k"), ("edges", "512k")],
    },
    settings: &[
        VERTICES, EDGES, SOURCE, SWEEPS, CHUNK, QUEUES, WAVES, ATTEMPTS, SCOPE, STEAL, PADDING, REFILL,
        ORDERING,
    ],
    make: |settings, seed| App::Sssp.instance(&generated(settings, seed)?, settings, seed),
};

pub(crate) static COLOR: Workload = Workload {
    name: "color",
    summary: "colours a graph by tasks of vertices, with work stealing",
    origin: "hLRC paper (MICRO 2016), section IV.A",
    room: Room::Graph,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("vertices", "700"), ("edges", "3000"), ("sweeps", "3"), ("chunk", "9")],
        small: &[("vertices", "4k"), ("edges", "12_000")],
        paper: &[("vertices", "64k"), ("edges", "512k")],
    },
    settings: &[
        VERTICES, EDGES, SWEEPS, CHUNK, QUEUES, WAVES, ATTEMPTS, SCOPE, STEAL, PADDING, REFILL, ORDERING,
    ],
    make: |settings, seed| App::Color.instance(&generated(settings, seed)?, settings, seed),
};

pub(crate) static PAGERANK: Workload = Workload {
    name: "pagerank",
    summary: "pulls ranks along the edges of a graph by tasks of vertices, with work stealing",
    origin: "hLRC paper (MICRO 2016), section IV.A",
    room: Room::Graph,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("vertices", "700"), ("edges", "3000"), ("sweeps", "3"), ("chunk", "9")],
        small: &[("vertices", "4k"), ("edges", "12_000")],
        paper: &[("vertices", "64k"), ("edges", "512k")],
    },
    settings: &[
        VERTICES, EDGES, SWEEPS, CHUNK, QUEUES, WAVES, ATTEMPTS, SCOPE, STEAL, PADDING, REFILL, ORDERING,
    ],
    make: |settings, seed| App::PageRank.instance(&generated(settings, seed)?, settings, seed),
};

/// A graph application of the work-stealing runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum App {
    /// Shortest paths from one vertex.
    Sssp,
    /// A colouring of the undirected graph.
    Color,
    /// The PageRank of each vertex.
    PageRank,
}

impl App {
    /// All graph applications.
    pub const ALL: [App; 3] = [App::Sssp, App::Color, App::PageRank];

    /// The graph application that a workload runs. `None` if the workload is not a graph
    /// application with work stealing.
    #[must_use]
    pub fn of(workload: &Workload) -> Option<App> {
        App::ALL.into_iter().find(|app| app.workload().name == workload.name)
    }

    /// The workload that runs the application on a generated graph.
    #[must_use]
    pub fn workload(self) -> &'static Workload {
        match self {
            App::Sssp => &SSSP,
            App::Color => &COLOR,
            App::PageRank => &PAGERANK,
        }
    }

    /// Makes the program and its check for this graph. The settings are those of [`App::workload`];
    /// those that describe a generated graph have no effect. The seed determines the queues from
    /// which tasks are stolen, and the priorities of a colouring.
    ///
    /// # Errors
    /// If the settings contradict each other, or do not fit the graph.
    pub fn instance(self, graph: &Csr, settings: &Settings, seed: u64) -> Result<Instance, BadSetting> {
        let plan = Plan::of(settings, graph.vertices(), seed);
        if u64::from(plan.tasks()) >= TASKS_MAX {
            let tasks = plan.tasks();
            return Err(settings.conflict(format!("{tasks} tasks, expected fewer than {TASKS_MAX}")));
        }
        if plan.policy.refill == Refill::Host && plan.sweeps == 0 {
            let why =
                "the policy is `host-refill` and `sweeps` is 0, expected at least 1 sweep with this policy";
            return Err(settings.conflict(why.to_owned()));
        }
        if plan.policy.refill == Refill::Host {
            settings.limit_arrays(&["sweeps", "queues"], plan.queue_bytes_max())?;
        }
        let arcs = match self {
            App::Color => InArcs::of(&graph.undirected()),
            App::Sssp | App::PageRank => InArcs::of(graph),
        };
        let Some(arcs) = arcs else {
            let why = "the graph has 4294967296 arcs or more, but the kernels count arcs in 32 bits";
            return Err(settings.conflict(why.to_owned()));
        };
        match self {
            App::Sssp => shortest(arcs, plan, settings),
            App::Color => Ok(colored(arcs, plan, seed)),
            App::PageRank => Ok(ranked(arcs, plan)),
        }
    }
}

fn shortest(arcs: InArcs, plan: Plan, settings: &Settings) -> Result<Instance, BadSetting> {
    let from = source_of(settings, arcs.vertices())?;
    let arcs = Rc::new(arcs);
    let reference = arcs.clone();
    let program = Program::new("sssp", move |host| async move {
        let app = Sssp::load(&host, &arcs, from).await;
        let done = plan.run(&host, app).await;
        let result = app.result(done.sweeps());
        done.into_answer(Answer::new().with_array("distances", &host, result).await)
    });
    Ok(Instance::new(program, move |answer| {
        let (distances, sweeps) = sssp::reference(&reference, from, plan.sweeps);
        check_work(&plan, sweeps, answer)?;
        answer.expect("distances", &distances)?;
        match plan.sweeps {
            0 => answer.expect("distances", &sssp::dijkstra(&reference, from)),
            _ => Ok(()),
        }
    }))
}

fn colored(arcs: InArcs, plan: Plan, seed: u64) -> Instance {
    let arcs = Rc::new(arcs);
    let reference = arcs.clone();
    let program = Program::new("color", move |host| async move {
        let app = Color::load(&host, &arcs, seed).await;
        let done = plan.run(&host, app).await;
        let result = app.result(done.sweeps());
        done.into_answer(Answer::new().with_array("colors", &host, result).await)
    });
    Instance::new(program, move |answer| {
        let (colors, sweeps) = color::reference(&reference, seed, plan.sweeps);
        check_work(&plan, sweeps, answer)?;
        answer.expect("colors", &colors)?;
        let found = answer.get::<u32>("colors").unwrap_or_default();
        match color::first_clash(&reference, &found, plan.sweeps == 0) {
            None => Ok(()),
            Some((v, u)) => Err(WrongAnswer {
                part: "colors".to_owned(),
                index: v as u64,
                expected: format!("a colour other than that of vertex {u}"),
                found: found[v].to_string(),
            }),
        }
    })
}

fn ranked(arcs: InArcs, plan: Plan) -> Instance {
    let arcs = Rc::new(arcs);
    let reference = arcs.clone();
    let program = Program::new("pagerank", move |host| async move {
        let app = PageRank::load(&host, &arcs).await;
        let done = plan.run(&host, app).await;
        done.into_answer(Answer::new().with_array("ranks", &host, app.result()).await)
    });
    Instance::new(program, move |answer| {
        let sweeps = if plan.sweeps == 0 { pagerank::sweeps_needed(&reference) } else { plan.sweeps };
        check_work(&plan, sweeps, answer)?;
        let ranks: Vec<f32> = pagerank::reference(&reference, sweeps).iter().map(|&r| r as f32).collect();
        let close = |want: f32, have: f32| {
            let (want, have) = (f64::from(want), f64::from(have));
            (want - have).abs() <= want * pagerank::TOLERANCE
        };
        answer.compare("ranks", &ranks, close)
    })
}
