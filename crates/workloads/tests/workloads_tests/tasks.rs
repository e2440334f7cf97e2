//! Tests of the task runtime: each task runs once, on any worker (a wavefront that runs tasks).
//! Further tests check the limits of the runtime.

use kernel::prelude::*;
use kernel::reference::{self, Options, Outcome, Schedule};
use workloads::tasks::{Limits, PartialFronts, Plan, Scopes, TaskProgram, TaskTotals, Worker, check_work};
use workloads::{Settings, find};

fn options(seed: u64) -> Options {
    Options { schedule: Schedule::Seeded(seed), ..Options::default() }
}

const PLAN: Plan = Plan {
    partial: PartialFronts::Late,
    scopes: Scopes::INDIRECT,
    groups: 3,
    waves: 2,
    fronts: 1 << 12,
    wave_queue: 256,
    group_queue: 32,
    device_queue: 64,
    group_low: 0,
    device_low: 0,
};

/// A program with tasks of two kinds. Each task makes tasks of the other kind, down to the depth
/// `depth`. A lost or repeated task, or a task in the wrong function, changes the sums.
#[derive(Clone, Copy, Debug)]
struct Turns {
    children: u32,
    depth: u32,
    /// Whether each lane makes its tasks one by one. If false, the tasks are spread over the lanes.
    single: bool,
}

impl TaskProgram<3> for Turns {
    const NAME: &'static str = "turns";
    const FUNCTIONS: &'static [&'static str] = &["even", "odd"];

    async fn run(&self, w: &Wave, function: usize, task: [Lanes<u32>; 3], worker: &mut Worker<3>) {
        let [depth, path, kind] = task;
        assert_eq!(w.when(kind.ne(function as u32)).mask(), Mask::NONE, "a task of another function");
        for lane in w.mask().iter() {
            worker.tally(0, u64::from(path.get(lane)) + 1);
            worker.tally(1 + depth.get(lane) as usize, 1);
        }
        let w = w.when(depth.lt(self.depth));
        let other = 1 - function;
        let child = |w: &Wave, from: &Lanes<u32>, number: &Lanes<u32>| {
            let path = w.shuffle(&path, from) * self.children + *number;
            [w.shuffle(&depth, from) + 1, path, Lanes::splat(other as u32)]
        };
        if self.single {
            for number in 0..self.children {
                let own = w.lane_id();
                let tasks = child(&w, &own, &Lanes::splat(number));
                worker.spawn(&w, other, tasks).await;
            }
        } else {
            worker.spawn_each(&w, other, &Lanes::splat(self.children), child).await;
        }
    }
}

/// The expected tallies (counters of the program) and the expected number of tasks, computed on the
/// host.
fn sums(turns: &Turns) -> (Vec<u64>, u64) {
    let mut tallies = vec![0];
    for depth in 0..=turns.depth {
        let nodes = u64::from(turns.children).pow(depth);
        tallies[0] += nodes * (nodes - 1) / 2 + nodes;
        tallies.push(nodes);
    }
    let tasks = tallies[1..].iter().sum();
    (tallies, tasks)
}

/// Runs a program of tasks. Returns its totals and the outcome of the run, or the text of the
/// error.
fn run<const W: usize, P: TaskProgram<W>>(
    plan: Plan,
    program: P,
    first: Vec<(usize, [u32; W])>,
    options: &Options,
) -> Result<(TaskTotals, Outcome), String> {
    let done = std::rc::Rc::new(std::cell::RefCell::new(TaskTotals::default()));
    let to = done.clone();
    let program = Program::new("tasks", move |host| async move {
        let done = plan.run(&host, program, &first).await;
        to.replace(done.clone());
        done.into_answer(Answer::new())
    });
    let outcome = reference::run(program, options).map_err(|error| error.to_string())?;
    let done = done.borrow().clone();
    Ok((done, outcome))
}

#[test]
fn each_task_runs_once_in_its_function_on_any_number_of_workers_under_either_policy() {
    for single in [false, true] {
        let turns = Turns { children: 5, depth: 5, single };
        let (tallies, tasks) = sums(&turns);
        for (seed, groups, waves) in [(1, 1, 1), (2, 4, 3), (3, 7, 2), (4, 1, 8)] {
            for (scopes, partial) in [
                (Scopes::DIRECT, PartialFronts::Late),
                (Scopes::INDIRECT, PartialFronts::Late),
                (Scopes::INDIRECT, PartialFronts::Early),
            ] {
                for lanes in [64, 32, 16] {
                    let plan = Plan { groups, waves, scopes, partial, ..PLAN };
                    let shape = Shape { lanes, ..Shape::default() };
                    let options = Options { shape, ..options(seed) };
                    let (done, outcome) = run(plan, turns, vec![(0, [0; 3])], &options).unwrap();
                    assert_eq!(done.tallies, tallies, "{plan:?} with {lanes} lanes");
                    assert_eq!(check_work(tasks, &outcome.answer), Ok(()));
                }
            }
        }
    }
}

#[test]
fn fronts_are_full_except_in_corner_cases() {
    let turns = Turns { children: 3, depth: 8, single: false };
    let (done, _) = run(PLAN, turns, vec![(0, [0; 3])], &options(1)).unwrap();
    let full = done.counts.fronts - done.counts.partial;
    // A wavefront that does not wait for a full front runs more fronts that are not full.
    let early = Plan { partial: PartialFronts::Early, ..PLAN };
    let (eager, _) = run(early, turns, vec![(0, [0; 3])], &options(1)).unwrap();
    assert!(done.counts.partial < eager.counts.partial, "{:?} {:?}", done.counts, eager.counts);
    assert!(full * 64 > done.counts.tasks / 2, "{:?}", done.counts);
    // The first task is alone in its front. So may be the last ones of six wavefronts.
    assert!(done.counts.partial > 0);
    assert!(done.counts.to_group > 0 && done.counts.to_device > 0, "{:?}", done.counts);
}

#[test]
fn no_tasks_end_at_once_and_many_first_tasks_all_run() {
    let turns = Turns { children: 2, depth: 0, single: false };
    let (done, _) = run(PLAN, turns, vec![], &options(1)).unwrap();
    assert_eq!((done.counts.tasks, done.tallies), (0, vec![]));
    let first: Vec<_> = (0..1000u32).map(|k| ((k % 2) as usize, [0, 0, k % 2])).collect();
    let (done, outcome) = run(PLAN, turns, first, &options(1)).unwrap();
    assert_eq!(done.tallies, [1000, 1000]);
    assert_eq!(check_work(1000, &outcome.answer), Ok(()));
}

/// One task that makes very many tasks.
#[derive(Clone, Copy, Debug)]
struct Burst(u32);

impl TaskProgram<1> for Burst {
    const NAME: &'static str = "burst";
    const FUNCTIONS: &'static [&'static str] = &["burst"];

    async fn run(&self, w: &Wave, _: usize, task: [Lanes<u32>; 1], worker: &mut Worker<1>) {
        worker.tally(0, u64::from(w.mask().count()));
        let first = w.when(task[0].eq(0));
        let make = |_: &Wave, _: &Lanes<u32>, number: &Lanes<u32>| [*number + 1];
        worker.spawn_each(&first, 0, &Lanes::splat(self.0), make).await;
    }
}

#[test]
fn a_task_with_a_million_children_runs_with_enough_capacity() {
    let plan = Plan { fronts: 20_000, wave_queue: 16_384, ..PLAN };
    let (done, outcome) = run(plan, Burst(1_000_000), vec![(0, [0])], &options(1)).unwrap();
    assert_eq!(done.tallies, [1_000_001]);
    assert_eq!(check_work(1_000_001, &outcome.answer), Ok(()));
}

#[test]
fn an_overflow_is_named_with_its_capacity_and_the_setting_to_raise() {
    let error = |plan: Plan, children, first: usize| {
        run(plan, Burst(children), vec![(0, [0]); first], &options(1)).map(|_| ()).unwrap_err()
    };
    let one = Plan { groups: 1, waves: 1, ..PLAN };
    let wave = error(Plan { wave_queue: 8, ..one }, 100_000, 1);
    assert!(
        wave.contains(
            "queue of wavefront 0 in work-group 0 overflows: it holds at most 8 task-fronts; raise \
             `wave-queue`"
        ),
        "{wave}"
    );
    let fronts = error(Plan { fronts: 100, ..PLAN }, 1_000_000, 1);
    assert!(fronts.contains("all 100 task-fronts are in use: raise `fronts`"), "{fronts}");
    let first = error(Plan { device_queue: 2, ..PLAN }, 0, 200);
    assert!(
        first
            .contains("the queue of the device holds at most 2 task-fronts, but the workload starts with 4: raise `device-queue`"),
        "{first}"
    );
    let memory = error(Plan { fronts: 2, ..PLAN }, 0, 200);
    assert!(
        memory.contains("the first tasks need 4 task-fronts, but only 2 exist: raise `fronts`"),
        "{memory}"
    );
    // Several wavefronts give fronts before one sees that the queue is full.
    let group = Plan { groups: 1, waves: 8, group_queue: 1, device_queue: 1, ..PLAN };
    let errors: Vec<String> = (1..40)
        .filter_map(|seed| {
            let turns = Turns { children: 9, depth: 5, single: false };
            run(group, turns, vec![(0, [0; 3])], &options(seed)).err()
        })
        .collect();
    assert!(!errors.is_empty());
    for error in errors {
        assert!(error.contains("overflows: it holds at most 1 task-front; raise `"), "{error}");
    }
}

#[test]
fn more_queues_than_memory_holds_are_refused() {
    for (name, value) in [("group-queue", "1048576"), ("wave-queue", "1048576"), ("waves", "64")] {
        let mut settings = find("queens").unwrap().defaults();
        settings.set("work-groups", "4096").unwrap();
        settings.set(name, value).unwrap();
        let error = find("queens").unwrap().instance(&settings, 0).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
}

fn settings(workload: &str, values: &[(&str, &str)]) -> Settings {
    let mut settings = find(workload).unwrap().defaults();
    for (name, value) in values {
        settings.set(name, value).unwrap_or_else(|error| panic!("{error}"));
    }
    settings
}

#[test]
fn settings_of_trees_and_queues_that_do_not_fit_are_refused() {
    let uts = find("uts").unwrap();
    let error = |values: &[(&str, &str)]| {
        uts.instance(&settings("uts", values), 1).map(|_| ()).unwrap_err().to_string()
    };
    assert_eq!(
        error(&[("nodes-max", "50")]),
        "workload `uts`: the tree has more than 50 nodes: raise `nodes-max`"
    );
    // The traversal finds the depth first. The whole tree is too large to visit.
    let deep = [("depth", "10000"), ("nodes-max", "4294967296")];
    assert_eq!(error(&deep), "workload `uts`: the tree is deeper than the limit of 4093: lower `depth`");
    assert!(error(&[("group-low", "9"), ("group-queue", "8")]).contains("`group-queue`"));
    let bad = uts.defaults().set("probability", "1.5").unwrap_err().to_string();
    assert_eq!(
        bad,
        "setting `probability` of workload `uts` is `1.5`, but must be a decimal number from 0 to 1"
    );
    for text in ["", "-1", "1e3", "nan", "1.2.3", "."] {
        assert!(uts.defaults().set("branching", text).is_err(), "{text}");
    }
}

#[test]
fn a_task_that_is_lost_or_run_twice_is_a_wrong_answer() {
    let uts = find("uts").unwrap();
    let (program, check) = uts.instance(&uts.defaults(), 1).unwrap().into_parts();
    let good = reference::run(program, &options(1)).unwrap().answer;
    assert_eq!(check(&good), Ok(()));
    for part in ["tasks", "fronts_left", "nodes_at_height", "leaves", "fingerprint"] {
        for change in [1, u64::MAX] {
            let mut bad = good.clone();
            for p in bad.parts_mut().iter_mut().filter(|p| p.name == part) {
                p.change(0, |bits| bits.wrapping_add(change));
            }
            assert_eq!(check(&bad).map_err(|wrong| wrong.part), Err(part.to_owned()));
        }
    }
}

/// The numbers of nodes, the depths and the numbers of leaves of the trees in the documentation of
/// the benchmark.
const PUBLISHED: [(&str, u64, usize, u64); 5] = [
    ("T1", 4_130_071, 10, 3_305_118),
    ("T2", 4_117_769, 81, 2_342_762),
    ("T3", 4_112_897, 1572, 3_599_034),
    ("T4", 4_132_453, 134, 3_108_986),
    ("T5", 4_147_582, 20, 2_181_318),
];

/// For each small tree, its number of nodes, its depth and its number of leaves, counted by another
/// program (with Python's hashlib).
const SMALL: [(&str, u64, usize, u64); 4] = [
    ("T1-small", 125_115, 8, 100_175),
    ("T2-small", 125_766, 61, 73_837),
    ("T4-small", 124_508, 93, 93_767),
    ("T5-small", 125_549, 15, 67_197),
];

fn count(input: &str) -> (u64, usize, u64) {
    let uts = find("uts").unwrap();
    let input = uts.inputs().iter().find(|known| known.name == input).unwrap();
    let tree = workloads::tasks::Tree::of(&settings("uts", input.settings));
    let summary = tree.traverse(Limits { nodes: u64::MAX, depth: u64::MAX }).unwrap();
    (summary.nodes, summary.depth(), summary.leaves)
}

#[test]
fn the_small_trees_have_the_counts_of_another_program() {
    for (name, nodes, depth, leaves) in SMALL {
        assert_eq!(count(name), (nodes, depth, leaves), "{name}");
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "twenty million digests: with --release")]
fn the_trees_of_the_benchmark_have_its_exact_counts() {
    for (name, nodes, depth, leaves) in PUBLISHED {
        assert_eq!(count(name), (nodes, depth, leaves), "{name}");
    }
}

#[test]
fn every_named_input_is_unique_and_states_its_counts() {
    let inputs = find("uts").unwrap().inputs();
    let grouped = |n: u64| {
        let digits = n.to_string();
        let parts: Vec<_> =
            digits.as_bytes().rchunks(3).rev().map(|c| std::str::from_utf8(c).unwrap()).collect();
        parts.join(",")
    };
    let all: Vec<_> = PUBLISHED.iter().chain(&SMALL).collect();
    assert_eq!(
        inputs.iter().map(|i| i.name).collect::<Vec<_>>(),
        all.iter().map(|i| i.0).collect::<Vec<_>>()
    );
    for (input, (_, nodes, depth, leaves)) in inputs.iter().zip(all) {
        let counts = format!("{} nodes, depth {}, {} leaves", grouped(*nodes), depth, grouped(*leaves));
        assert!(input.summary.ends_with(&counts), "{}: {}", input.name, input.summary);
        let _ = settings("uts", input.settings);
    }
}

#[test]
fn trees_of_every_kind_are_searched() {
    let trees: [&[(&str, &str)]; 6] = [
        &[("tree", "geometric"), ("shape", "linear"), ("depth", "6")],
        &[("tree", "geometric"), ("shape", "exponential"), ("depth", "8")],
        &[("tree", "geometric"), ("shape", "cyclic"), ("depth", "4"), ("branching", "3")],
        &[("tree", "binomial"), ("branching", "90.5"), ("probability", "0.2"), ("fan-out", "4")],
        &[("tree", "hybrid"), ("shape", "linear"), ("probability", "0.2"), ("fan-out", "4")],
        // Only a root.
        &[("tree", "geometric"), ("branching", "0")],
    ];
    for tree in trees {
        for policy in ["hrf-direct", "hrf-indirect"] {
            let (program, check) = find("uts")
                .unwrap()
                .instance(&settings("uts", &[tree, &[("scopes", policy)]].concat()), 1)
                .unwrap()
                .into_parts();
            let outcome = reference::run(program, &options(3)).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(check(&outcome.answer), Ok(()), "{tree:?}");
        }
    }
}
