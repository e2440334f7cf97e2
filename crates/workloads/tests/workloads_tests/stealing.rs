//! Work stealing: each task runs once under every policy, in every order of the wavefronts, and
//! with any number of queues, wavefronts and vertices.

use std::collections::BTreeSet;

use kernel::prelude::*;
use kernel::reference::{self, Options, Schedule};
use proto::{Sharing, Symbol};
use workloads::stealing::order::{Access, Operation, QueueStep, Side, Variable};
use workloads::stealing::{
    App, Layout, Policy, Queues, Refill, SCENARIOS, Scenario, StealOutcome, Stealing, Worker, atomic_bytes,
    for_machine, lds_bytes, scenario,
};
use workloads::{Instance, Settings, find};

use crate::store_buffers;

fn settings(app: App, values: &[(&str, &str)]) -> Settings {
    let mut settings = app.workload().defaults();
    for (name, value) in [("vertices", "600"), ("edges", "3000"), ("chunk", "8")].iter().chain(values) {
        match *name {
            "policy" => settings.set_policy(value),
            name => settings.set(name, value),
        }
        .unwrap_or_else(|error| panic!("{error}"));
    }
    settings
}

fn instance(app: App, values: &[(&str, &str)]) -> Instance {
    app.workload().instance(&settings(app, values), 5).unwrap_or_else(|error| panic!("{error}"))
}

fn options(seed: u64) -> Options {
    Options { schedule: Schedule::Seeded(seed), ..Options::default() }
}

/// Runs an application and checks it. Returns the number of stolen tasks.
fn run(app: App, values: &[(&str, &str)], options: &Options) -> u32 {
    let (program, check) = instance(app, values).into_parts();
    let outcome = reference::run(program, options).unwrap_or_else(|error| panic!("{app:?}: {error}"));
    assert_eq!(check(&outcome.answer), Ok(()), "{app:?} with {values:?}");
    outcome.answer.get::<u32>("stolen").unwrap_or_default().iter().sum()
}

/// All scenarios (policies of work stealing): those in `SCENARIOS`, and the scenarios for machines
/// with remote operations and for machines without scopes.
fn scenarios() -> impl Iterator<Item = Scenario> {
    let machines = [(Sharing::Remote, "with-remote"), (Sharing::Unscoped, "without-scopes")];
    SCENARIOS.into_iter().chain(machines.into_iter().filter_map(|(sharing, name)| for_machine(sharing, name)))
}

#[test]
fn every_scenario_computes_every_answer_to_convergence_and_after_some_sweeps() {
    for app in App::ALL {
        for scenario in scenarios() {
            for (seed, sweeps) in [(1, "0"), (2, "1"), (3, "4")] {
                let stolen = run(app, &[("policy", scenario.policy), ("sweeps", sweeps)], &options(seed));
                let steals = !scenario.policy.contains("no-steal");
                assert_eq!(stolen > 0, steals, "{app:?} in {} stole {stolen}", scenario.name);
            }
        }
    }
}

#[test]
fn any_number_of_queues_wavefronts_and_vertices_per_task_gives_the_same_answer() {
    let shapes = [
        [("queues", "1"), ("waves", "1"), ("chunk", "1"), ("padding", "packed")],
        [("queues", "3"), ("waves", "3"), ("chunk", "64"), ("padding", "padded")],
        // More queues than tasks, and more than fit on the machine at once.
        [("queues", "100"), ("waves", "2"), ("chunk", "65"), ("padding", "packed")],
        [("queues", "7"), ("waves", "1"), ("chunk", "200"), ("padding", "joined")],
    ];
    for app in App::ALL {
        for shape in shapes {
            for lanes in [32, 64] {
                let shape = [shape.as_slice(), &[("sweeps", "3")]].concat();
                let machine = Shape { lanes, ..Shape::default() };
                run(app, &shape, &Options { shape: machine, ..options(1) });
            }
        }
    }
}

#[test]
fn graphs_without_arcs_and_of_one_vertex_work() {
    for app in App::ALL {
        run(app, &[("edges", "0"), ("sweeps", "0")], &options(1));
        run(app, &[("vertices", "1"), ("edges", "0"), ("sweeps", "0")], &options(1));
        let empty = workloads::graph::Csr::from_edges(0, Vec::new());
        let instance = app.instance(&empty, &settings(app, &[("sweeps", "2")]), 1);
        if app == App::Sssp {
            let message = instance.map(|_| ()).map_err(|error| error.to_string());
            let want = "workload `sssp`: `source` is vertex 0, but the graph has 0 vertices";
            assert_eq!(message, Err(want.to_owned()));
        } else {
            let (program, check) = instance.unwrap_or_else(|error| panic!("{error}")).into_parts();
            let outcome = reference::run(program, &options(1)).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(check(&outcome.answer), Ok(()));
        }
    }
}

#[test]
fn the_seed_determines_the_run() {
    let answer = |seed| {
        let (program, _) = instance(App::Color, &[]).into_parts();
        reference::run(program, &options(seed)).map(|outcome| (outcome.answer, outcome.steps)).ok()
    };
    assert!(answer(1).is_some());
    assert_eq!(answer(1), answer(1));
    assert_ne!(answer(1), answer(2));
}

#[test]
fn a_task_lost_repeated_or_replaced_is_a_wrong_answer() {
    let built = instance(App::Sssp, &[("sweeps", "3")]);
    let (program, check) = built.into_parts();
    let good = reference::run(program, &options(1)).map(|outcome| outcome.answer).unwrap_or_default();
    assert_eq!(check(&good), Ok(()));
    let bad = |part: &str, change: u64| {
        let mut bad = good.clone();
        for p in bad.parts_mut().iter_mut().filter(|p| p.name == part) {
            p.change(1, |bits| bits.wrapping_add(change));
        }
        check(&bad).map_err(|wrong| (wrong.part, wrong.index))
    };
    for (part, change) in [("tasks", 1), ("tasks", u64::MAX), ("fingerprints", 1), ("stolen", 1000)] {
        assert_eq!(bad(part, change), Err((part.to_owned(), 1)), "{part}");
    }
}

/// A program in which tasks make tasks: a task with a number above 1 makes two tasks with the
/// halves of the number, and a task with the number 1 is a leaf. The program counts the leaves that
/// each wavefront runs.
fn splitting(policy: Policy, tasks: u32) -> Program {
    const QUEUES: u32 = 4;
    Program::new("splitting", move |host| async move {
        let queues = Queues::alloc(&host, QUEUES, 2 * tasks, policy, 1);
        queues.fill(&host, &[vec![tasks]]).await;
        let done = host.alloc::<u32>("done", u64::from(QUEUES));
        let kernel = Kernel::new("split", move |w: Wave| async move {
            let mut worker = Worker::new(&w, queues, 1);
            let mut count = 0;
            while let Some(task) = worker.next(&w).await {
                if task == 1 {
                    count += 1;
                } else {
                    worker.push(task / 2).await;
                    worker.push(task - task / 2).await;
                }
            }
            w.store(done, u64::from(w.work_group()), count).await;
        });
        host.launch(kernel, Grid::new(QUEUES, 1).lds_bytes(lds_bytes(1))).await;
        Answer::new().with_array("done", &host, done).await
    })
}

fn policy(stealing: Stealing, published: bool) -> Policy {
    Policy {
        own: Level::WorkGroup,
        stealing,
        layout: Layout::Packed,
        refill: Refill::Owner,
        published,
        attempts: 50,
    }
}

/// Runs the program `splitting`. Returns the number of leaves (tasks that make no tasks) that the
/// owner of the first task runs, and the number of leaves that all other wavefronts run.
fn split(published: bool, buffers: bool, seed: u64) -> (u32, u32) {
    let program = splitting(policy(Stealing::Unscoped, published), 100);
    let (answer, _) = store_buffers::run(program, Shape::default(), buffers, seed);
    let done = answer.get::<u32>("done").unwrap_or_default();
    (done[0], done[1..].iter().sum())
}

#[test]
fn tasks_that_make_tasks_run_once_with_store_buffers() {
    let mut others = 0;
    for seed in 0..200 {
        let (own, stolen) = split(false, true, seed);
        assert_eq!(own + stolen, 100, "seed {seed}");
        others += stolen;
    }
    assert!(others > 1000, "only {others} tasks were done by thieves");
}

#[test]
fn the_published_orders_repeat_tasks_with_store_buffers() {
    let total = |buffers| (0..200).map(move |seed| split(true, buffers, seed)).map(|(a, b)| a + b);
    assert!(total(false).all(|sum| sum == 100), "wrong even without buffers");
    assert!(total(true).any(|sum| sum > 100), "never a task too many");
}

#[test]
fn the_check_of_a_sweep_detects_the_published_orders() {
    let wrong = |ordering, seed| {
        let built = instance(App::PageRank, &[("ordering", ordering), ("sweeps", "2"), ("chunk", "4")]);
        let (program, check) = built.into_parts();
        let (answer, _) = store_buffers::run(program, Shape::default(), true, seed);
        check(&answer).map_err(|wrong| wrong.part)
    };
    for seed in 0..20 {
        assert_eq!(wrong("ordered", seed), Ok(()), "seed {seed}");
    }
    assert!((0..20).any(|seed| wrong("as-published", seed) == Err("tasks".to_owned())));
}

#[test]
fn a_queue_that_overflows_is_named() {
    let small = |capacity: u32, tasks: u32, push: bool| {
        let program = Program::new("small", move |host| async move {
            let queues = Queues::alloc(&host, 2, capacity, policy(Stealing::None, false), 1);
            queues.fill(&host, &[vec![], (0..tasks).collect()]).await;
            let kernel = Kernel::new("push", move |w: Wave| async move {
                if push && w.work_group() == 1 {
                    queues.push(&w.leader(), 1, 7).await;
                }
            });
            host.launch(kernel, Grid::new(2, 1)).await;
            Answer::new()
        });
        reference::run(program, &options(1)).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(small(3, 2, true), Ok(()));
    let full = small(3, 3, true).err().unwrap_or_default();
    assert!(full.contains("queue 1 overflows: it holds at most 3 tasks between two refills"), "{full}");
    let many = small(3, 4, false).err().unwrap_or_default();
    assert!(
        many.contains("queue 1 has 3 slots, but the workload puts 4 tasks into it at the start"),
        "{many}"
    );
}

const LAYOUTS: [(&str, Layout); 3] =
    [("padded", Layout::Padded), ("joined", Layout::Joined), ("packed", Layout::Packed)];

/// An atomic access in the terms of the table of queue steps ([`QueueStep`]).
type Use = (Variable, Access, Side, Semantics);

/// The atomic accesses of a run, each with the number of its kernel. `padding` is the layout of the
/// queues of the run.
fn uses(machine: &store_buffers::Machine, padding: &str) -> Vec<(u16, Use)> {
    let (queue, role) = match padding {
        "packed" => (16, 8),
        "joined" => (64, 8),
        _ => (128, 64),
    };
    let base = machine.atomics.iter().map(|a| a.addr).min().unwrap_or(0) / 64 * 64;
    let of = |a: &store_buffers::Atomic| {
        let offset = a.addr - base;
        let is_owner = offset / queue == u64::from(a.at.work_group);
        let access = match a.action {
            kernel::Action::Load => Access::Load,
            kernel::Action::Store => Access::Store,
            _ => Access::CompareExchange,
        };
        let variable = if offset % queue < role { Variable::Head } else { Variable::Tail };
        (a.kernel, (variable, access, if is_owner { Side::Owner } else { Side::Thief }, a.semantics))
    };
    machine.atomics.iter().map(of).collect()
}

/// The atomic accesses of two sweeps, each with the number of its kernel, and the total size in
/// bytes of the lines that they access.
fn recorded(values: &[(&str, &str)]) -> (Vec<(u16, Use)>, u64) {
    let built = instance(App::PageRank, &[values, &[("sweeps", "2")]].concat());
    let (_, machine) = store_buffers::run(built.into_parts().0, Shape::default(), false, 3);
    let lines: BTreeSet<u64> = machine.atomics.iter().map(|a| a.addr / 64).collect();
    let padding = values.iter().find(|(name, _)| *name == "padding").map_or("padded", |(_, value)| value);
    (uses(&machine, padding), lines.len() as u64 * 64)
}

/// The accesses of these operations to heads and tails, according to the table of queue steps.
fn tabled(operations: &[Operation], policy: Policy) -> BTreeSet<String> {
    let steps = operations.iter().flat_map(|&operation| QueueStep::of(operation));
    let steps = steps.filter(|row| row.variable != Variable::Slot);
    let steps = steps.filter(|row| policy.stealing != Stealing::None || row.side == Side::Owner);
    steps.map(|row| show((row.variable, row.access, row.side, policy.semantics(row.step)))).collect()
}

fn show(what: Use) -> String {
    format!("{what:?}")
}

#[test]
fn the_kernel_performs_exactly_the_accesses_of_the_table() {
    let all = |uses: &[(u16, Use)]| uses.iter().map(|(_, what)| show(*what)).collect::<BTreeSet<_>>();
    for scenario in scenarios() {
        let (found, _) = recorded(&[("policy", scenario.policy)]);
        let own = if scenario.policy.starts_with("device") { Level::Device } else { Level::WorkGroup };
        let stealing = match scenario.policy.split(',').nth(1) {
            Some("no-steal") => Stealing::None,
            Some("steal-remote") => Stealing::Remote,
            Some("steal-unscoped") => Stealing::Unscoped,
            _ => Stealing::Device,
        };
        let operations = [Operation::Pop, Operation::Steal, Operation::Refill];
        let table = tabled(&operations, Policy { own, ..policy(stealing, false) });
        assert_eq!(all(&found), table, "{}", scenario.name);
    }
    for published in [false, true] {
        let policy = policy(Stealing::Remote, published);
        let (_, machine) = store_buffers::run(splitting(policy, 100), Shape::default(), false, 3);
        let operations = [Operation::Push, Operation::Pop, Operation::Steal];
        assert_eq!(all(&uses(&machine, "packed")), tabled(&operations, policy), "published: {published}");
    }
}

#[test]
fn scopes_and_remote_operations_are_those_of_the_scenario() {
    let semantics = |name: &str, side: Side| {
        let policy = scenarios().find(|s| s.name == name).map_or("", |s| s.policy);
        let (uses, _) = recorded(&[("policy", policy)]);
        let of_side = uses.iter().filter(|(_, u)| u.2 == side);
        of_side.map(|(_, u)| (u.3.level, u.3.hints.remote)).collect::<BTreeSet<_>>()
    };
    let only = |level, remote| BTreeSet::from([(level, remote)]);
    for name in ["baseline", "steal-only"] {
        assert_eq!(semantics(name, Side::Owner), only(Level::Device, false), "{name}");
    }
    for name in ["scope-only", "with-remote", "without-scopes", "hlrc-scoped"] {
        assert_eq!(semantics(name, Side::Owner), only(Level::WorkGroup, false), "{name}");
    }
    assert_eq!(semantics("steal-only", Side::Thief), only(Level::Device, false));
    assert_eq!(semantics("hlrc-scoped", Side::Thief), only(Level::Device, false));
    assert_eq!(semantics("with-remote", Side::Thief), only(Level::Device, true));
    assert_eq!(semantics("without-scopes", Side::Thief), only(Level::WorkGroup, false));
    assert!(semantics("baseline", Side::Thief).is_empty() && semantics("scope-only", Side::Thief).is_empty());
}

fn with(layout: Layout) -> Policy {
    Policy { layout, ..policy(Stealing::None, false) }
}

#[test]
fn atomics_use_two_lines_or_one_line_or_sixteen_bytes_per_queue() {
    for (padding, layout) in LAYOUTS {
        let (_, bytes) = recorded(&[("padding", padding)]);
        assert_eq!(bytes, atomic_bytes(4, &with(layout), 64), "{padding}");
    }
    // 128 queues: the paper counts 24 KB.
    assert_eq!(
        LAYOUTS.map(|(_, layout)| atomic_bytes(128, &with(layout), 64)),
        [16 * 1024, 8 * 1024, 2 * 1024]
    );
}

#[test]
fn the_host_can_fill_the_queues_of_all_sweeps() {
    for padding in ["padded", "joined", "packed"] {
        for app in App::ALL {
            let policy = format!("device,steal-device,{padding},host-refill");
            assert!(run(app, &[("policy", &policy), ("sweeps", "3")], &options(1)) > 0, "{policy}");
        }
        // Two sweeps use two sets of lines.
        let (_, bytes) = recorded(&[("padding", padding)]);
        let (uses, host) = recorded(&[("padding", padding), ("refill", "host-refill")]);
        assert_eq!(host, 2 * bytes.next_multiple_of(64), "{padding}");
        assert!(uses.iter().all(|(_, what)| (what.0, what.1) != (Variable::Head, Access::Store)));
    }
    let settings = settings(App::Color, &[("refill", "host-refill"), ("sweeps", "0")]);
    let refused = App::Color.workload().instance(&settings, 1).map(|_| ()).map_err(|error| error.to_string());
    let want = "workload `color`: the policy is `host-refill` and `sweeps` is 0, expected at least 1 sweep with \
                this policy";
    assert_eq!(refused, Err(want.to_owned()));
}

#[test]
fn each_sweep_starts_with_full_queues() {
    let (uses, _) = recorded(&[]);
    for kernel in [0, 1] {
        let refills = uses
            .iter()
            .filter(|(k, u)| *k == kernel && u.1 == Access::Store && u.0 == Variable::Head)
            .count();
        assert_eq!(refills, 4, "kernel {kernel}");
    }
}

#[test]
fn every_scenario_is_a_policy_of_every_application() {
    let names = SCENARIOS.map(|s| s.name);
    assert_eq!(names, ["baseline", "scope-only", "steal-only", "hlrc-scoped"]);
    assert_eq!(for_machine(Sharing::Scoped, "scoped"), None, "such a machine has several scenarios");
    for app in App::ALL {
        for scenario in scenarios() {
            assert_eq!(app.workload().defaults().set_policy(scenario.policy), Ok(()), "{}", scenario.name);
        }
        assert_eq!(find(app.workload().name).map(|w| w.name), Ok(app.workload().name));
    }
    assert!(scenario("baselin").is_none());
    assert_eq!(Operation::ALL.len(), 4);
}

#[test]
fn a_thief_finds_the_oldest_task_and_an_owner_the_newest() {
    let program = Program::new("ends", |host| async move {
        let queues = Queues::alloc(&host, 2, 4, policy(Stealing::Unscoped, false), 1);
        queues.fill(&host, &[vec![10, 11, 12]]).await;
        let found = host.alloc::<u32>("found", 4);
        let kernel = Kernel::new("ends", move |w: Wave| async move {
            let w = w.leader();
            let stolen = queues.steal(&w, 0).await;
            let popped = queues.pop(&w, 0).await;
            let last = queues.pop(&w, 0).await;
            let ends = (queues.pop(&w, 0).await, queues.steal(&w, 0).await);
            let task = |theft| if let StealOutcome::Task(task) = theft { task } else { 0 };
            w.store(found, 0, task(stolen)).await;
            w.store(found, 1, popped.unwrap_or(0)).await;
            w.store(found, 2, last.unwrap_or(0)).await;
            w.store(found, 3, u32::from(ends == (None, StealOutcome::Empty))).await;
        });
        host.launch(kernel, Grid::new(1, 1)).await;
        Answer::new().with_array("found", &host, found).await
    });
    let answer = reference::run(program, &options(1)).map(|outcome| outcome.answer).unwrap_or_default();
    assert_eq!(answer.get::<u32>("found"), Some(vec![10, 12, 11, 1]));
}
