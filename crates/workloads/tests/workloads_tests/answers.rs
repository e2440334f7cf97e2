//! Every workload gives its answer under the functional executor, which runs kernels without a
//! model of time.

use kernel::reference::{self, Awaited, Options, RunError, Schedule};
use kernel::{Answer, Placement, Shape};
use workloads::{Purpose, SettingKind, Settings, Size, Workload, all};

/// The settings of the smallest size, with which a run takes milliseconds.
fn tiny(workload: &Workload) -> Settings {
    workload.sized(Size::Tiny).unwrap_or_else(|error| panic!("{error}"))
}

fn options(lanes: u32, schedule: Schedule) -> Options {
    let shape = Shape { lanes, waves_per_cu: 16, ..Shape::default() };
    Options { shape, schedule, idle_steps_max: 50_000, checks_uses: true, ..Options::default() }
}

fn answer(workload: &Workload, settings: &Settings, seed: u64, options: &Options) -> Answer {
    let name = workload.name;
    let instance = workload.instance(settings, seed).unwrap_or_else(|error| panic!("{error}"));
    let (program, check) = instance.into_parts();
    let outcome = reference::run(program, options).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(check(&outcome.answer), Ok(()), "{name} under {options:?}");
    outcome.answer
}

fn terminating() -> impl Iterator<Item = &'static &'static Workload> {
    all().iter().filter(|w| !matches!(w.purpose, Purpose::Diagnosis | Purpose::Race))
}

#[test]
fn every_workload_computes_its_answer_for_any_lane_count_and_schedule() {
    for workload in terminating() {
        for lanes in [32, 64] {
            for schedule in [Schedule::RoundRobin, Schedule::Seeded(1), Schedule::Seeded(2)] {
                answer(workload, &tiny(workload), 9, &options(lanes, schedule));
            }
        }
    }
}

/// Checks the answer of every workload on a machine whose wavefronts have `lanes` lanes. With one
/// lane, a work-group of 256 work-items has 256 wavefronts.
fn all_with_lanes(lanes: u32) {
    let shape = Shape { lanes, waves_per_cu: 256, lds_bytes_per_cu: 1 << 20, ..Shape::default() };
    let options = Options { shape, checks_uses: true, ..Options::default() };
    for workload in terminating() {
        answer(workload, &tiny(workload), 9, &options);
    }
}

#[test]
fn every_workload_computes_its_answer_with_one_lane() {
    all_with_lanes(1);
}

#[test]
fn every_workload_computes_its_answer_with_two_lanes() {
    all_with_lanes(2);
}

#[test]
fn every_workload_computes_its_answer_with_four_lanes() {
    all_with_lanes(4);
}

#[test]
fn every_policy_of_every_workload_is_right_on_a_machine_without_caches() {
    for workload in terminating() {
        for setting in workload.settings {
            let SettingKind::Policy(choices) = setting.kind else { continue };
            for (choice, _) in choices {
                let mut settings = tiny(workload);
                settings.set_policy(choice).unwrap_or_else(|error| panic!("{error}"));
                answer(workload, &settings, 3, &options(64, Schedule::Seeded(5)));
            }
        }
    }
}

/// The machine has no local memory, so it refuses each launch of a kernel that uses local memory.
#[test]
fn programs_with_tiles_in_global_memory_run_without_local_memory() {
    let mut tested = Vec::new();
    for workload in terminating().filter(|w| w.settings.iter().any(|setting| setting.name == "tiles")) {
        let mut settings = tiny(workload);
        for lanes in [8, 64] {
            let shape = Shape { lanes, waves_per_cu: 64, lds_bytes_per_cu: 0, ..Shape::default() };
            let options = Options { shape, checks_uses: true, ..Options::default() };
            assert_eq!(settings.set("tiles", "local"), Ok(()));
            let instance = workload.instance(&settings, 3).unwrap_or_else(|error| panic!("{error}"));
            let error = reference::run(instance.program, &options).err();
            let message = error.map(|e| e.to_string()).unwrap_or_default();
            assert!(message.contains("bytes of local memory"), "{}: {message}", workload.name);
            assert_eq!(settings.set("tiles", "global"), Ok(()));
            answer(workload, &settings, 3, &options);
        }
        tested.push(workload.name);
    }
    assert_eq!(tested, ["matmul", "dgemm", "hotspot", "barnes-hut"]);
}

/// In a launch of three steps, a work-group reads its tile in two of them.
#[test]
fn hotspot_is_right_for_each_number_of_steps_and_tiles_in_both_memories() {
    let hotspot = workloads::find("hotspot").unwrap_or_else(|error| panic!("{error}"));
    for pyramid in ["1", "2", "3", "7"] {
        for tiles in ["local", "global"] {
            let mut settings = tiny(hotspot);
            assert_eq!((settings.set("pyramid", pyramid), settings.set("tiles", tiles)), (Ok(()), Ok(())));
            answer(hotspot, &settings, 3, &options(32, Schedule::Seeded(4)));
        }
    }
}

#[test]
fn every_check_finds_the_first_element_that_is_wrong() {
    for workload in terminating() {
        let settings = tiny(workload);
        let good = answer(workload, &settings, 9, &options(64, Schedule::RoundRobin));
        let instance = workload.instance(&settings, 9).unwrap_or_else(|error| panic!("{error}"));
        assert!(!good.parts().is_empty(), "{} has no answer", workload.name);
        for (part, values) in good.parts().iter().enumerate() {
            let count = values.len();
            for index in [0, count / 2, count - 1] {
                let mut bad = good.clone();
                bad.parts_mut()[part].change(index, |bits| bits ^ 1 << 22);
                bad.parts_mut()[part].change(count - 1, |bits| bits ^ 1 << 21);
                let wrong = instance.check(&bad).map_err(|wrong| (wrong.part, wrong.index));
                assert_eq!(wrong, Err((values.name.clone(), index as u64)), "{}", workload.name);
            }
            let mut short = good.clone();
            short.parts_mut()[part].pop();
            let wrong = instance.check(&short).map_err(|wrong| (wrong.index, wrong.found));
            assert_eq!(wrong, Err((count as u64 - 1, "nothing".to_owned())), "{}", workload.name);
        }
    }
}

#[test]
fn the_seed_changes_the_answer_of_random_inputs() {
    let drawn = [
        "vec-copy",
        "vec-add",
        "cache-reuse",
        "reduce",
        "histogram",
        "pagerank-push",
        "random-miss",
        "sssp",
        "color",
        "pagerank",
        "bfs",
        "sssp-bellman-ford",
        "color-max",
        "pagerank-pull",
        "bc",
        "cc",
        "cca",
        "mis",
        "apsp",
        "dijkstra",
        "backprop",
        "cnn",
        "conv-backward",
        "rnn-gru",
        "rnn-lstm",
        "square",
        "babel-stream",
        "matmul",
        "dgemm",
        "convolution-2d",
        "dct",
        "lud",
        "gaussian",
        "fw",
        "fft",
        "dwt2d",
        "hotspot",
        "hotspot3d",
        "srad",
        "pathfinder",
        "hpgmg",
        "radix-sort",
        "scan",
        "btree",
        "nn",
        "nw",
    ];
    for workload in terminating().filter(|w| drawn.contains(&w.name)) {
        let run = |seed| answer(workload, &tiny(workload), seed, &options(64, Schedule::RoundRobin));
        assert_eq!(run(1), run(1), "{}", workload.name);
        assert_ne!(run(1), run(2), "{}", workload.name);
    }
}

#[test]
fn each_diagnosis_program_is_stuck_for_its_reason() {
    for workload in all().iter().filter(|w| w.purpose == Purpose::Diagnosis) {
        let instance = workload.instance(&workload.defaults(), 0).unwrap_or_else(|error| panic!("{error}"));
        let stuck = match reference::run(instance.program, &options(64, Schedule::RoundRobin)) {
            Err(RunError::Stuck(stuck)) => stuck,
            other => panic!("{}: expected a stuck run, found {other:?}", workload.name),
        };
        let spins = stuck.waits.iter().filter(|w| w.what == Awaited::Spins).count();
        let at_barrier = stuck.waits.len() - 1 - spins;
        let left: u32 = stuck.undispatched.iter().map(|(_, count)| count).sum();
        let want = match workload.name {
            "spin-forever" => (2, 0, 0),
            "barrier-skip" => (0, 3, 0),
            // Four compute units with room for four work-groups each.
            _ => (16, 0, 1),
        };
        assert_eq!((spins, at_barrier, left), want, "{}", workload.name);
    }
}

#[test]
fn work_groups_that_wait_for_each_other_must_fit_on_the_machine() {
    let lock = workloads::find("lock-counter").unwrap_or_else(|error| panic!("{error}"));
    for (groups, policy, room) in
        [("5", "same-cu", "one compute unit has room for only 4"), ("17", "device", "room for only 16")]
    {
        let mut settings = tiny(lock);
        assert_eq!(settings.set("work-groups", groups), Ok(()));
        assert_eq!(settings.set_policy(policy), Ok(()));
        let instance = lock.instance(&settings, 0).unwrap_or_else(|error| panic!("{error}"));
        let error = reference::run(instance.program, &options(64, Schedule::RoundRobin)).err();
        let message = error.map(|e| e.to_string()).unwrap_or_default();
        assert!(message.contains(room), "{message}");
    }
}

#[test]
fn a_work_group_with_more_wavefronts_than_a_compute_unit_holds_is_named() {
    let lock = workloads::find("lock-counter").unwrap_or_else(|error| panic!("{error}"));
    let mut settings = tiny(lock);
    assert_eq!((settings.set("waves", "64"), settings.set("work-groups", "2")), (Ok(()), Ok(())));
    let instance = lock.instance(&settings, 0).unwrap_or_else(|error| panic!("{error}"));
    let error = reference::run(instance.program, &options(64, Schedule::RoundRobin)).err();
    let message = error.map(|e| e.to_string()).unwrap_or_default();
    let want = "one work-group of 64 wavefronts does not fit on a compute unit with 16 slots";
    assert!(message.contains(want), "{message}");
}

/// Makes an instance of the workload with the settings in `names` at their maximum. Returns the
/// error text if the workload refuses these settings.
fn refusal_at_the_maximum(workload: &Workload, names: &[&str]) -> Option<String> {
    let mut settings = workload.defaults();
    for setting in workload.settings.iter().filter(|setting| names.contains(&setting.name)) {
        let SettingKind::Count { max, .. } = setting.kind else { panic!("{} is no count", setting.name) };
        assert_eq!(settings.set(setting.name, &max.to_string()), Ok(()));
    }
    workload.instance(&settings, 0).err().map(|error| error.to_string())
}

#[test]
fn arrays_beyond_the_common_limit_are_refused_with_the_settings_that_cause_them() {
    let large: [(&str, &[&str], u64); 23] = [
        ("matmul", &["m", "n", "k"], 3 << 30),
        ("dgemm", &["m", "n", "k"], 6 << 30),
        ("hotspot", &["rows", "columns"], 3 << 30),
        ("hotspot3d", &["side", "layers"], 12 << 30),
        ("srad", &["rows", "columns", "region"], 2 << 30),
        ("pathfinder", &["columns", "rows"], (4 << 30) + (4 << 20)),
        ("nw", &["n"], 8 * 16385 * 16385),
        ("babel-stream", &["n"], 6 << 30),
        ("vec-copy", &["n"], 2 << 30),
        ("vec-add", &["n"], 3 << 30),
        ("cache-reuse", &["n"], 2 << 30),
        ("square", &["n"], 2 << 30),
        ("reduce", &["n"], 2 << 30),
        ("scan", &["n"], 2 << 30),
        ("histogram", &["n", "bins"], (1 << 30) + (64 << 20)),
        ("convolution-2d", &["width", "height"], 4 * (16388 * 16388 + 16384 * 16388 + 16384 * 16384)),
        ("dct", &["width", "height"], 2 << 30),
        ("dwt2d", &["width", "height"], 7 << 28),
        ("spmv", &["rows", "per-row"], (8 << 36) + (12 << 24)),
        ("kmeans", &["points", "features"], (8 << 30) + (4 << 22)),
        ("snapc", &["cells", "layers", "groups", "angles"], 1 << 39),
        ("bfs", &["vertices", "edges"], (4 << 26) + 4 + (8 << 28)),
        ("pagerank-push", &["vertices", "edges"], (12 << 26) + (8 << 28)),
    ];
    for (name, names, bytes) in large {
        let workload = workloads::find(name).unwrap_or_else(|error| panic!("{error}"));
        let message = refusal_at_the_maximum(workload, names).unwrap_or_default();
        assert!(names.iter().all(|name| message.contains(&format!("`{name}`="))), "{name}: {message}");
        let end = format!(" have {bytes} bytes, expected at most 1073741824");
        assert!(message.ends_with(&end), "{name}: {message}");
    }
}

#[test]
fn an_opening_angle_too_small_to_be_used_is_refused() {
    let workload = workloads::find("barnes-hut").unwrap_or_else(|error| panic!("{error}"));
    let refusal = |angle: &str| {
        let mut settings = tiny(workload);
        assert_eq!(settings.set("angle", angle), Ok(()));
        workload.instance(&settings, 0).map(|_| ()).map_err(|error| error.to_string())
    };
    let want =
        |angle| format!("workload `barnes-hut`: setting `angle` is {angle}, but must be at least 0.01");
    assert_eq!(refusal("0"), Err(want("0")));
    assert_eq!(refusal("0.009"), Err(want("0.009")));
    assert_eq!(refusal("0.01"), Ok(()));
}

#[test]
fn contradictory_settings_are_refused() {
    let messages = workloads::find("message-passing").unwrap_or_else(|error| panic!("{error}"));
    let mut settings = messages.defaults();
    assert_eq!(settings.set("words", "1m"), Ok(()));
    assert_eq!(settings.set("rounds", "60k"), Ok(()));
    let error = messages.instance(&settings, 0).map(|_| ()).map_err(|e| e.to_string());
    let want = "workload `message-passing`: 1048576 words in 61440 rounds exceed 268435456 words";
    assert_eq!(error, Err(want.to_owned()));
}

#[test]
fn the_list_is_complete_and_its_names_are_unique() {
    let mut names: Vec<_> = all().iter().map(|w| w.name).collect();
    for workload in all() {
        assert!(!workload.summary.is_empty() && !workload.summary.ends_with('.'), "{}", workload.name);
        for setting in workload.settings {
            assert!(!setting.meaning.is_empty(), "{} of {}", setting.name, workload.name);
        }
        assert!(!workload.origin.is_empty(), "{}", workload.name);
        for size in Size::ALL {
            let settings = workload.sized(size);
            let settings =
                settings.unwrap_or_else(|error| panic!("{} {}: {error}", workload.name, size.name()));
            if size != Size::Paper {
                assert!(workload.instance(&settings, 0).is_ok(), "{} {}", workload.name, size.name());
            }
        }
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all().len());
    assert_eq!(Placement::default(), Placement::Spread);
}
