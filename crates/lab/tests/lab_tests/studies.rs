//! Tests studies, from the text of a file to runs, rows and charts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lab::experiment::{Experiment, Question};
use lab::results::Measured;
use lab::run::Pulse;
use lab::runner::perform_tasks;
use lab::store::{Store, Stored, TaskId};
use lab::study::{PlannedRun, Study, StudyResults, columns, study_report};
use lab::systems::{Change, Systems};
use lab::table::Values;
use proptest::prelude::*;

/// A study with an axis of every kind. Its axes are system, variant, two machine parameters,
/// workload, input, two settings and scenario.
const ALL: &str = r#"
title = "All"
systems = ["hlrc-8cu", "hrf-8cu"]
scenarios = ["vi", "no-l1"]
workloads = ["reduce", "uts"]
inputs = { uts = ["T1-small"] }
seeds = [3, 9]

[machine]
l1.latency_cycles = [4, 8]
"l2.latency_cycles" = { from = 20, to = 40, step = 20 }

[set]
n = ["1k", 2048]
per-item = 2

[[variant]]
name = "one"

[[variant]]
name = "fast"
machine = { "dram.row_hit_cycles" = 5 }

[define]
per_hit = "cycles / l2_hits"

[[chart]]
x = "l1.latency_cycles"
y = "cycles"
where = { system = "hlrc-8cu", variant = "one", workload = "reduce", n = 1024 }
"#;

fn parse(text: &str) -> Result<Study, String> {
    let systems = Systems::with_folder("no such folder");
    Study::parse(Path::new("s.toml"), text, &systems).map_err(|error| error.to_string())
}

/// The results of a study if each run had the cycles that the function gives.
fn results(study: &Study, cycles: impl Fn(&PlannedRun) -> u64) -> StudyResults {
    let measured = |run: &PlannedRun| {
        let counters = BTreeMap::from([("l2_hits".to_owned(), 10)]);
        let measured = Measured { cycles: cycles(run), answer_ok: true, counters, ..Measured::default() };
        (run.task.id.clone(), measured)
    };
    let all: BTreeMap<TaskId, Measured> = study.runs.iter().map(measured).collect();
    study.evaluate(&all)
}

#[test]
fn the_runs_are_all_combinations_in_the_order_of_the_file() {
    let study = parse(ALL).unwrap();
    let names: Vec<&str> = study.axes.iter().map(|axis| axis.name.as_str()).collect();
    let expected = [
        "system",
        "variant",
        "l1.latency_cycles",
        "l2.latency_cycles",
        "workload",
        "input",
        "n",
        "per-item",
        "scenario",
    ];
    assert_eq!(names, expected);
    // The factors: two machines, two variants, two values for each of two parameters, the programs
    // (`reduce` with two sizes and `uts` with one input), two scenarios, and two seeds.
    assert_eq!(study.runs.len(), 2 * 2 * 2 * 2 * (2 + 1) * 2 * 2);
    let values = |run: &PlannedRun| (0..names.len()).map(|axis| study.value(run, axis)).collect::<Vec<_>>();
    assert_eq!(values(&study.runs[0]), ["hlrc-8cu", "one", "4", "20", "reduce", "", "1024", "2", "vi"]);
    assert_eq!(values(&study.runs[1]), values(&study.runs[0]), "the seeds of a combination are adjacent");
    let last = study.runs.last().unwrap();
    assert_eq!(values(last), ["hrf-8cu", "fast", "8", "40", "uts", "T1-small", "", "", "no-l1"]);
    let experiment = &last.task.experiment;
    assert_eq!((experiment.seed, experiment.system.l1.latency_cycles), (9, 8));
    assert_eq!(experiment.system.dram.row_hit_cycles, 5);
    assert_eq!(study.runs[0].task.experiment.settings.count("per-item"), 2);
}

#[test]
fn a_run_equals_the_run_that_the_same_values_give_alone() {
    let study = parse(ALL).unwrap();
    let systems = Systems::with_folder("no such folder");
    for run in &study.runs {
        let experiment = &run.task.experiment;
        let changes = [("l1.latency_cycles", 2), ("l2.latency_cycles", 3)]
            .map(|(key, axis)| Change::parse(key, &study.value(run, axis)));
        let mut changes = changes.to_vec();
        if study.value(run, 1) == "fast" {
            changes.push(Change::parse("dram.row_hit_cycles", "5"));
        }
        let alone = systems.load_changed(&study.value(run, 0), &changes).unwrap();
        assert_eq!(experiment.system, alone);
    }
}

#[test]
fn the_name_of_a_result_depends_on_everything_that_the_result_depends_on() {
    let ids = |text: &str| {
        let study = parse(text).unwrap();
        study.runs.into_iter().map(|run| run.task.id).collect::<std::collections::BTreeSet<_>>()
    };
    let base = ids(ALL);
    assert_eq!(base.len(), 192);
    for (from, to) in [
        ("[4, 8]", "[5, 9]"),
        ("seeds = [3, 9]", "seeds = [4, 10]"),
        ("\"dram.row_hit_cycles\" = 5 }", "\"dram.row_hit_cycles\" = 6 }"),
        ("[\"1k\", 2048]", "[\"1k\", 2049]"),
    ] {
        let changed = ids(&ALL.replace(from, to));
        assert!(changed.len() == base.len() && changed != base, "{to}");
    }
    let longer = ids(&ALL.replace("[4, 8]", "[4, 8, 9]"));
    assert!(longer.is_superset(&base) && longer.len() == 288, "an edited study keeps its results");
}

#[test]
fn a_chart_has_the_means_of_its_runs_with_students_interval() {
    let study = parse(ALL).unwrap();
    // The cycles are 100 or 200, depending on the parameter, plus 10 for the second seed. Without
    // an L1 they are doubled.
    let cycles = |run: &PlannedRun| {
        let experiment = &run.task.experiment;
        let base =
            u64::from(experiment.system.l1.latency_cycles) * 25 + if experiment.seed == 9 { 10 } else { 0 };
        base * if experiment.scenario.protocol == "no-l1" { 2 } else { 1 }
    };
    let text = ALL.to_owned()
        + "[[chart]]\nx = \"scenario\"\ny = \"speedup\"\nseries = [\"l1.latency_cycles\"]\nwhere = { n = 1024, system = \"hrf-8cu\" }\n"
        + "[[chart]]\nx = \"n\"\ny = \"per_hit\"\nunit = \"cycles per hit\"\nshape = \"bars\"\nwhere = { workload = \"reduce\", system = \"hrf-8cu\" }\n";
    let found = results(&parse(&text).unwrap(), cycles);
    let [plain, speedup, hits] = &found.charts[..] else { panic!("{:?}", found.charts) };
    assert!(plain.is_lines && !plain.is_log && plain.series == ["scenario"]);
    // The chart has one figure for each value of the axis that is not the horizontal axis, not a
    // series, and not restricted.
    assert_eq!(plain.figures.len(), 2);
    let points: Vec<_> = plain.figures[0]
        .points
        .iter()
        .map(|point| (point.x.as_u64().unwrap(), point.series.as_str(), point.value.unwrap().mean))
        .collect();
    assert_eq!(points, [(4, "vi", 105.0), (8, "vi", 205.0), (4, "no-l1", 210.0), (8, "no-l1", 410.0)]);
    // For two values that differ by 10, half of the interval is 5 times 12.706.
    let value = plain.figures[0].points[0].value.unwrap();
    assert!((value.high - value.mean - 63.53).abs() < 0.01, "{value:?}");
    assert!(!speedup.is_lines && speedup.unit == "speedup over vi");
    assert!(
        speedup
            .figures
            .iter()
            .flat_map(|figure| &figure.points)
            .all(|point| { point.value.unwrap().mean == if point.x == "vi" { 1.0 } else { 0.5 } })
    );
    assert!(!hits.is_lines, "bars over numbers, as asked");
    assert_eq!(hits.figures[0].points[0].value.unwrap().mean, 10.5);
    let page = study_report(&found);
    assert!(page.contains("| l1.latency_cycles | vi | no-l1 |\n|---|---|---|\n| 4 | 105 ± 63.5"), "{page}");
    assert_eq!(study.runs.len(), found.rows.len());
}

#[test]
fn a_wrong_answer_is_missing_from_its_chart_and_named_in_the_reports() {
    let text = "systems = 'hlrc-8cu'\nscenarios = ['vi', 'no-l1']\nworkloads = 'reduce'\n[set]\nn = [1, 2, 16]\n\
                [[chart]]\nx = 'n'\ny = 'speedup'\n";
    let study = parse(text).unwrap();
    let mut all = BTreeMap::new();
    for run in &study.runs {
        let is_wrong = run.task.experiment.settings.count("n") == 2 && run.place.last() == Some(&Some(0));
        let error = is_wrong.then(|| "element 7 is 1, expected 2\nmore".to_owned());
        let measured = Measured { cycles: 100, answer_ok: !is_wrong, error, ..Measured::default() };
        all.insert(run.task.id.clone(), measured);
    }
    let results = study.evaluate(&all);
    let chart = &results.charts[0];
    assert!(chart.is_log);
    let missing: Vec<_> = chart.figures[0].points.iter().filter(|point| point.value.is_none()).collect();
    assert_eq!(missing.len(), 2, "the baseline is wrong, so no scenario has a speedup");
    assert!(missing[0].missing.as_deref().unwrap().contains("vi with seed 0 has no right answer"));
    let failure = "reduce on hlrc-8cu under vi, seed 0: element 7 is 1, expected 2";
    assert_eq!(results.failures().collect::<Vec<_>>(), [failure]);
    let (page, html) = (study_report(&results), lab::report::of_study(&results));
    assert!(
        page.contains(failure) && html.contains(failure) && html.contains("1 of 6 runs gave no right"),
        "{page}"
    );
    assert_eq!(html.matches("<svg viewBox=\"0 0 1000").count(), 1, "drawn for a wide screen");
    assert_eq!(html.matches("<svg viewBox=\"0 0 350").count(), 1, "and for a narrow one");
    assert!(!html.contains("<script") && !html.contains("http://") && !html.contains("https://"));
}

#[test]
fn the_table_has_a_row_for_each_run_and_typed_columns() {
    let study = parse(ALL).unwrap();
    let columns = columns(&results(&study, |run| run.task.experiment.seed));
    let find = |name: &str| &columns.iter().find(|column| column.name == name).unwrap().values;
    let Values::SparseCount(n) = find("settings.n") else { panic!("a column of numbers") };
    assert_eq!((n.len(), n[0], n.iter().filter(|n| n.is_none()).count()), (192, Some(1024), 64));
    let Values::SparseCount(latency) = find("machine.l1.latency_cycles") else { panic!("numbers") };
    assert!(latency.iter().all(|cycles| matches!(cycles, Some(4 | 8))));
    let Values::SparseCount(hit) = find("machine.dram.row_hit_cycles") else { panic!("numbers") };
    assert_eq!(hit.iter().filter(|cycles| **cycles == Some(5)).count(), 96);
    assert!(matches!(find("input"), Values::Text(_)) && matches!(find("cycles"), Values::Count(_)));
    assert!(
        matches!(find("counters.l2_hits"), Values::SparseCount(hits) if hits.iter().all(|n| *n == Some(10)))
    );
}

#[test]
fn results_survive_json() {
    let study = parse(ALL).unwrap();
    let found = results(&study, |run| run.task.experiment.seed + 1);
    let text = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<StudyResults>(&text).unwrap(), found);
}

#[test]
fn every_mistake_in_a_file_is_named_with_its_place() {
    let mut others = Vec::new();
    for (from, to, place, what) in [
        ("systems = [\"hlrc-8cu\"", "systems = [\"hlrc-9cu\"", "3:12", "did you mean `hlrc-8cu`?"),
        ("systems = [\"hlrc-8cu\", \"hrf-8cu\"]", "systems = []", "3:11", "found an empty list"),
        (
            "systems = [\"hlrc-8cu\", \"hrf-8cu\"]",
            "systems = 7",
            "3:11",
            "found `7`, expected a list of texts",
        ),
        ("systems =", "sistems =", "3:1", "unknown key `sistems`, did you mean `systems`?"),
        ("title =", "titel =", "2:1", "did you mean `title`?"),
        ("title = \"All\"", "title = 3", "2:9", "found `3`, expected a text in quotes"),
        ("\"hrf-8cu\"]", "\"hlrc-8cu\"]", "3:24", "`hlrc-8cu` is named twice"),
        ("\"vi\"", "\"vii\"", "4:14", "did you mean `vi`?"),
        ("\"vi\"", "\"vi+\"", "4:14", "empty policy"),
        ("\"vi\"", "\"vi+device\"", "4:14", "policy `device`"),
        ("\"reduce\", ", "\"redcue\", ", "5:14", "did you mean `reduce`?"),
        ("{ uts =", "{ tus =", "6:12", "workload of this study `tus`"),
        ("{ uts = [\"T1-small\"] }", "[\"T1-small\"]", "6:11", "no input `T1-small`"),
        ("\"T1-small\"", "\"T1-smal\"", "6:19", "did you mean `T1-small`?"),
        ("seeds = [3, 9]", "seeds = 0", "7:9", "from 1 to 1000"),
        ("seeds = [3, 9]", "seeds = [3, 3]", "7:13", "seed 3 is listed twice"),
        ("seeds = [3, 9]", "seeds = [3, -1]", "7:13", "found `-1`"),
        ("seeds = [3, 9]", "scale = \"1/2\"", "7:9", "one size only"),
        (
            "l1.latency_cycles = [4, 8]",
            "l1.latency_cicles = [4, 8]",
            "10:22",
            "did you mean `l1.latency_cycles`?",
        ),
        ("= [4, 8]", "= [4, -8]", "10:25", "`-8`, expected a whole number from 1"),
        ("= [4, 8]", "= [4, 'many']", "10:25", "found the text \"many\""),
        ("\"l2.latency_cycles\"", "\"l1.latency_cycles.x\"", "11:", "no parameter `l1.latency_cycles.x`"),
        ("step = 20", "step = 0", "11:", "a step above zero"),
        ("to = 40", "to = inf", "11:", "found `inf`, expected a finite number"),
        (
            "step = 20",
            "factor = 1.5",
            "11:",
            "found the number `20.0`, expected a whole number from 1 to 4294967295; `factor = 1.5` makes the values of \
             the range real numbers",
        ),
        (
            "n = [\"1k\", 2048]",
            "n = { from = 1, to = 8, factor = 1.5 }",
            "14:5",
            "must be a whole number from 1 to 268435456; `factor = 1.5` makes the values of the range real numbers",
        ),
        ("\nn = [", "\nm = [", "14:1", "unknown setting of the workloads `m`"),
        ("\"1k\"", "-1", "14:6", "must be a whole number from 1"),
        ("[set]", "[set.reduc]", "13:6", "did you mean `reduce`?"),
        ("name = \"fast\"", "name = \"one\"", "21:8", "variant `one` is named twice"),
        ("name = \"fast\"", "name = \" \"", "21:8", "found an empty name"),
        (
            "x = \"l1.latency_cycles\"",
            "x = \"system\"\nx_scale = \"log\"",
            "29:11",
            "`x_scale` needs numbers on the axis, but `system` has names",
        ),
        (
            "n = 1024 }",
            "n = 1024 }\nshape = \"bars\"\nx_scale = \"linear\"",
            "32:11",
            "`x_scale` is for lines, but the chart has bars",
        ),
        ("cycles\" = 5", "cycles\" = [5, 6]", "22:", "several values, expected one in a variant"),
        ("dram.row_hit_cycles", "l1.latency_cycles", "10:22", "`l1.latency_cycles` is set twice"),
        ("/ l2_hits", "/ l2_hist", "25:11", "did you mean `l2_hits`?"),
        ("/ l2_hits", "/ (l2_hits", "25:", "expected `)`"),
        ("per_hit =", "cycles =", "25:1", "is already the name of a function"),
        ("[[chart]]", "[chart]", "27:", "tables that begin with `[[chart]]`"),
        ("x = \"l1", "x = \"l3", "28:5", "axis of this study"),
        ("y = \"cycles\"", "y = \"cycles[hlrc]\"", "29:5", "scenario or variant of this study `hlrc`"),
        ("y = \"cycles\"", "y = \"cycels\"", "29:5", "did you mean `cycles`?"),
        ("y = \"cycles\"", "", "27:", "missing key `y`"),
        ("n = 1024", "n = 1025", "30:", "`n` is never `1025` in this study, expected one of 1024, 2048"),
        ("n = 1024 }", "n = 1024 }\nshape = \"pie\"", "31:9", "expected one of lines, bars"),
        (
            "x = \"l1.latency_cycles\"",
            "x = \"system\"\nshape = \"lines\"",
            "28:5",
            "lines need an axis with numbers",
        ),
        ("workload = \"reduce\", n = 1024", "workload = \"uts\"", "", ""),
        ("x = \"l1.latency_cycles\"", "x = \"input\"", "28:5", "does not apply to workload `reduce`"),
        (
            "n = 1024 }",
            "n = 1024 }\nseries = [\"l1.latency_cycles\"]",
            "31:11",
            "is already the axis `x` of the chart",
        ),
        ("n = 1024 }", "n = 1024, input = \"T1-small\" }", "27:", "no run of the study fits `where`"),
    ] {
        assert!(ALL.contains(from), "the study has {from}");
        let text = ALL.replacen(from, to, 1);
        match parse(&text) {
            Ok(_) if what.is_empty() => {}
            Ok(_) => others.push(format!("{to}: no error")),
            Err(message) => {
                let sound = message.starts_with(&format!("s.toml:{place}")) && message.contains(what);
                if !sound || message.chars().any(char::is_control) {
                    others.push(format!("{to}: {message}"));
                }
            }
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
}

/// The machine file and the graph file are not in the working directory of the test, so they are
/// found only from the study's folder.
#[test]
fn the_files_of_a_study_are_found_from_its_folder_and_its_path_does_not_change_the_results() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("study-folder");
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(folder.join("inner")).unwrap();
    let systems = Systems::with_folder("no such folder");
    let own = systems.text("hlrc-8cu").unwrap().replace("\"hlrc-8cu\"", "\"own\"");
    fs::write(folder.join("own.toml"), own).unwrap();
    let graph = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n";
    fs::write(folder.join("inner/path.mtx"), graph).unwrap();
    let study = |path: PathBuf, text: &str| {
        fs::write(&path, text).unwrap();
        Study::load(&path, &systems).map_err(|error| error.to_string())
    };
    let text = "systems = ['./own.toml']\nscenarios = 'vi'\nworkloads = 'sssp'\ninputs = 'inner/path.mtx'\n\
                machine = { 'l1.latency_cycles' = [4, 5] }\n";
    let straight = study(folder.join("study.toml"), text).unwrap();
    let around = study(folder.join("inner/../study.toml"), text).unwrap();
    let ids = |study: &Study| study.runs.iter().map(|run| run.task.id.clone()).collect::<Vec<_>>();
    assert_eq!((ids(&straight).len(), ids(&straight)), (2, ids(&around)));
    let run = &straight.runs[1];
    assert_eq!(
        (straight.value(run, 0).as_str(), run.task.experiment.system.name.as_str()),
        ("./own.toml", "own")
    );
    assert_eq!(run.task.input.as_ref().unwrap().name, "inner/path.mtx");
    let missing = |from: &str, to: &str, looked_at: &str| {
        let error = study(folder.join("missing.toml"), &text.replace(from, to)).unwrap_err();
        assert!(error.contains(folder.join(looked_at).to_str().unwrap()), "{error}");
    };
    missing("./own.toml", "./other.toml", "other.toml");
    missing("inner/path.mtx", "path.mtx", "path.mtx");
    let copy = fs::read_to_string(folder.join("own.toml")).unwrap();
    fs::write(folder.join("copy.toml"), copy).unwrap();
    let twice =
        study(folder.join("twice.toml"), &text.replace("['./own.toml']", "['./own.toml', 'copy.toml']"));
    let twice = twice.unwrap_err();
    assert!(
        twice.ends_with(
            "twice.toml:1:26: the descriptions of `./own.toml` and `copy.toml` both contain the name `own`, expected \
             another `name` in one of them"
        ),
        "{twice}"
    );
}

#[test]
fn an_input_that_changes_during_a_sweep_ends_it_and_no_result_is_stored() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("study-changed");
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(&folder).unwrap();
    let systems = Systems::with_folder("no such folder");
    let text = "systems = 'hlrc-8cu'\nscenarios = 'vi'\nworkloads = ['bfs', 'nn']\n\
                [inputs]\nbfs = 'graph.gr'\nnn = 'places.csv'\n[set.nn]\nnearest = 1\n";
    let study = || Study::parse(&folder.join("study.toml"), text, &systems).unwrap();
    for (changed, text) in [("graph.gr", "p sp 3 2\na 1 2 5\na 2 3 7\n"), ("places.csv", "1 2\n3 5\n")] {
        fs::write(folder.join("graph.gr"), "p sp 3 2\na 1 2 5\na 2 3 6\n").unwrap();
        fs::write(folder.join("places.csv"), "1 2\n3 4\n").unwrap();
        let study = study();
        fs::write(folder.join(changed), text).unwrap();
        let task = study.tasks().into_iter().find(|task| task.input.as_ref().unwrap().name == changed);
        let store = Store::open(&folder.join(format!("runs-{changed}"))).unwrap();
        let error = perform_tasks(&[task.unwrap()], &store, 1, &Pulse::default(), &|_| {}).unwrap_err();
        let want = format!("the input {changed} has changed since the command began: repeat the command");
        assert_eq!(error.to_string(), want);
        assert!(matches!(store.load(task.unwrap()), Stored::Nothing));
    }
}

#[test]
fn inputs_of_numbers_are_checked_with_the_study() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("study, of numbers");
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("a.csv"), "1 2\n3 4\n").unwrap();
    let systems = Systems::with_folder("no such folder");
    let start = "systems = 'hlrc-8cu'\nscenarios = ['vi', 'no-l1']\n";
    let study = |rest: &str| {
        let study = Study::parse(&folder.join("s.toml"), &format!("{start}{rest}"), &systems);
        study.map_err(|error| error.to_string())
    };
    let good = study(
        "workloads = ['matmul', 'nn']\n[inputs]\nmatmul = 'a.csv,a.csv'\nnn = 'a.csv'\n[set.matmul]\nn = 2\n\
         m = 2\nk = 2\n[set.nn]\nnearest = 1\n",
    );
    let good = good.unwrap();
    let tasks = good.tasks();
    assert_eq!(tasks.len(), 4);
    for task in tasks {
        let input = task.input.as_ref().unwrap();
        let is_product = task.experiment.workload.name == "matmul";
        assert_eq!((input.paths.len(), input.scale), (1 + usize::from(is_product), None));
        assert!(task.text.contains(input.digest.as_ref().unwrap()));
        assert!(task.experiment.numbers.is_none(), "the tables are read again when the run begins");
    }
    let error = |rest: &str| study(rest).unwrap_err();
    let one = error("workloads = 'matmul'\ninputs = 'a.csv'\n");
    assert!(one.contains("s.toml:4:10: matmul under vi: workload `matmul` takes 2 files"), "{one}");
    let sizes = "set = { m = 2, k = 2, n = [2, 3] }\n";
    let shape = error(&format!("workloads = 'matmul'\ninputs = 'a.csv,a.csv'\n{sizes}"));
    let combination = "s.toml:4:10: matmul with m=2 k=2 n=3 under vi: ";
    assert!(shape.contains(combination) && shape.contains("a.csv:1:"), "{shape}");
    let setting = error("workloads = 'nn'\ninputs = 'a.csv'\nset = { nearest = [1, 3] }\n");
    let few = "s.toml:4:10: nn with nearest=3 under vi: ";
    assert!(setting.contains(few) && setting.contains("a.csv:3:1: the file ends here"), "{setting}");
    let replaced = error("workloads = 'nn'\ninputs = 'a.csv'\nset = { n = 4 }\n");
    assert!(replaced.contains("s.toml:4:10: nn with n=4 under vi: `n=4` cannot be set"), "{replaced}");
    let scale = error("workloads = 'nn'\ninputs = 'a.csv'\nscale = '1/2'\n");
    assert!(scale.ends_with(
        "s.toml:5:9: the input of workload `nn` is a file of numbers, so the scale does not apply"
    ));
    let device = error("workloads = 'nn'\ninputs = '/dev/zero'\n");
    assert!(
        device.ends_with("s.toml:4:10: cannot read /dev/zero: the path is not a regular file"),
        "{device}"
    );
    let none = error("workloads = 'vec-add'\ninputs = 'a.csv'\n");
    assert!(none.contains("s.toml:4:10: workload `vec-add` has no input `a.csv`"), "{none}");
}

#[test]
fn a_formula_of_more_than_a_thousand_terms_is_refused_with_its_place() {
    let start = "systems = 'hlrc-8cu'\nscenarios = 'vi'\nworkloads = 'reduce'\n";
    let sum = vec!["cycles"; 40_000].join("+");
    let error = parse(&format!("{start}[[chart]]\nx = 'scenario'\ny = '{sum}'\n")).unwrap_err();
    // The error is at term 1001, after 1000 terms of seven letters each.
    assert_eq!(error, "s.toml:6:7006: found more than 1000 terms, expected a shorter formula");
    let doubled: Vec<String> = (1..25).map(|at| format!("a{at} = 'a{0}+a{0}'\n", at - 1)).collect();
    let error = parse(&format!("{start}[define]\na0 = 'cycles'\n{}", doubled.concat())).unwrap_err();
    // The definitions with 2, 4, ..., 512 terms are not too long.
    assert_eq!(error, "s.toml:15:11: found more than 1000 terms, expected a shorter formula");
    let many: String = (0..1001).map(|at| format!("a{at} = '1'\n")).collect();
    let error = parse(&format!("{start}[define]\n{many}")).unwrap_err();
    assert_eq!(error, "s.toml:4:2: found 1001 definitions, expected at most 1000");
    let charts = "[[chart]]\nx = 'scenario'\ny = 'cycles'\n".repeat(1001);
    let error = parse(&format!("{start}{charts}")).unwrap_err();
    assert!(error.ends_with(": found 1001 charts, expected at most 1000"), "{error}");
}

#[test]
fn a_combination_that_a_workload_or_machine_refuses_is_an_error() {
    let study = |rest: &str| {
        parse(&format!("systems = 'hlrc-8cu'\nscenarios = ['vi', 'no-l1']\nworkloads = 'sssp'\n{rest}"))
    };
    let error = |rest: &str| study(rest).unwrap_err();
    assert!(
        error("inputs = 'nowhere.mtx'").starts_with("s.toml:4:10: "),
        "{}",
        error("inputs = 'nowhere.mtx'")
    );
    assert!(error("scale = '1/16'").contains("s.toml:4:9: `scale` needs `inputs`"));
    assert!(error("inputs = 'c-68'\nscale = '7'").contains("s.toml:5:9: found the scale `7`"));
    let of_graph = error("inputs = 'c-68'\nscale = '1/1024'\n[set]\nvertices = 9");
    assert!(of_graph.starts_with("s.toml:7:12: sssp with vertices=9 under vi: "), "{of_graph}");
    let source = error("inputs = 'c-68'\nscale = '1/1024'\n[set]\nsource = [0, 6300]");
    assert!(source.starts_with("s.toml:7:14: ") && source.contains("`source` is vertex 6300"), "{source}");
    let nodes = error("[machine]\n'cu.count' = [4, 16]");
    assert!(
        nodes.starts_with("s.toml:5:18: with `cu.count=16`, `noc.topology`: a network of 8 nodes"),
        "{nodes}"
    );
    let policy = parse(
        "systems = 'hlrc-8cu'\nscenarios = 'vi+device'\nworkloads = 'sssp'\n[set]\nscope = 'work-group'",
    );
    let policy = policy.unwrap_err();
    assert!(
        policy.contains("s.toml:5:9: `scope` is `work-group`, but scenario `vi+device` sets it"),
        "{policy}"
    );
    let many = error("seeds = 1000\n[set]\nsweeps = { from = 1, to = 60, step = 1 }");
    assert!(many.contains("more than 50000 runs"), "{many}");
}

/// The path and the text of an example study in the repository.
fn example(name: &str) -> (PathBuf, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/example").join(name);
    let text = fs::read_to_string(&path).unwrap();
    (path, text)
}

#[test]
fn every_example_of_the_repository_is_valid() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/example");
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["contention.toml", "l1-size.toml", "machines.toml", "stealing.toml"]);
    for name in names {
        let (path, text) = example(&name);
        let study = Study::parse(&path, &text, &Systems::with_folder("no such folder"));
        let study = study.unwrap_or_else(|error| panic!("{error}"));
        assert!(!study.runs.is_empty() && study.runs.len() < 100, "{name}: {}", study.runs.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_text_makes_the_reader_panic_and_every_error_is_one_line(
        at in 0..ALL.lines().count(),
        junk in "\\PC{0,20}",
        how in 0..4u8,
    ) {
        let mut lines: Vec<String> = ALL.lines().map(str::to_owned).collect();
        match how {
            0 => drop(lines.remove(at)),
            1 => lines[at] = junk,
            2 => lines[at] = lines[at].split('=').next().unwrap_or("").to_owned() + "= " + &junk,
            _ => lines.insert(at, junk),
        }
        if let Err(message) = parse(&lines.join("\n")) {
            prop_assert!(message.starts_with("s.toml:") && !message.contains('\n'), "{}", message);
        }
    }
}

#[test]
fn a_size_gives_each_workload_the_settings_of_a_run_with_this_size_and_single_settings_win() {
    let with = |lines: &str| {
        let start = "systems = 'hlrc-8cu'\nscenarios = 'vi'\nworkloads = ['reduce', 'histogram']\n";
        parse(&format!("{start}{lines}"))
    };
    let settings = |study: &Study| -> Vec<Vec<(&'static str, String)>> {
        study.runs.iter().map(|run| run.task.experiment.settings().collect()).collect()
    };
    let alone = |workload: &str, size: Option<&str>| -> Vec<(&'static str, String)> {
        let question = Question {
            system: "hlrc-8cu".to_owned(),
            scenario: "vi".to_owned(),
            workload: workload.to_owned(),
            size: size.map(str::to_owned),
            ..Question::default()
        };
        let systems = Systems::with_folder("no such folder");
        Experiment::new(&systems, &question).unwrap().settings().collect()
    };
    for size in ["tiny", "small", "paper"] {
        let expected = ["reduce", "histogram"].map(|workload| alone(workload, Some(size)));
        assert_eq!(settings(&with(&format!("size = '{size}'\n")).unwrap()), expected, "{size}");
    }
    let without = ["reduce", "histogram"].map(|workload| alone(workload, None));
    assert_eq!(settings(&with("").unwrap()), without);
    let set = with("size = 'tiny'\nset = { n = 77 }\n").unwrap();
    for (found, tiny) in settings(&set).iter().zip(["reduce", "histogram"]) {
        let mut expected = alone(tiny, Some("tiny"));
        expected.iter_mut().filter(|(name, _)| *name == "n").for_each(|(_, value)| *value = "77".to_owned());
        assert_eq!(*found, expected);
    }
    assert_eq!(with("size = 'tine'\n").unwrap_err(), "s.toml:4:8: unknown size `tine`, did you mean `tiny`?");
    assert_eq!(with("size = 7\n").unwrap_err(), "s.toml:4:8: found `7`, expected a text in quotes");
}
