//! Tests of the command line: the commands, mistakes in arguments, and the exit codes.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use serde_json::Value;

use crate::common::{fencepost, json, refused, scratch, succeed};

const SMALL: [&str; 2] = ["--set", "n=4k"];

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn run<'a>(system: &'a str, protocol: &'a str, workload: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["run", "--system", system, "--protocol", protocol, "--workload", workload];
    args.extend(more);
    args
}

const COMMANDS: [&[&str]; 16] = [
    &["list"],
    &["run"],
    &["compare"],
    &["why"],
    &["reproduce"],
    &["report"],
    &["litmus"],
    &["verify"],
    &["stress"],
    &["race"],
    &["graph"],
    &["graph", "info"],
    &["workload"],
    &["workload", "info"],
    &["completions"],
    &["man"],
];

#[test]
fn every_command_has_help_with_an_example() {
    for command in COMMANDS {
        let help = succeed(&[command, &["--help"]].concat());
        assert!(help.contains("Example"), "{help}");
        assert!(help.contains(&format!("fencepost {}", command.join(" "))), "{help}");
    }
    assert!(succeed(&["--help"]).contains("Exit codes"));
    assert!(succeed(&["--version"]).starts_with("fencepost "));
}

#[test]
fn a_line_of_help_in_a_pipe_breaks_only_where_the_next_word_does_not_fit() {
    const WIDTH: usize = 100;
    let length = |line: &str| line.chars().count();
    let indent = |line: &str| length(line) - length(line.trim_start());
    let mut broken = 0;
    for command in COMMANDS.into_iter().chain([&[][..]]) {
        let mut process = Command::new(env!("CARGO_BIN_EXE_fencepost"));
        process.args(command).arg("--help").env_remove("COLUMNS").stdin(Stdio::null());
        let help = String::from_utf8(process.output().unwrap().stdout).unwrap();
        for (line, next) in help.lines().zip(help.lines().skip(1)) {
            let text = next.trim_start();
            assert!(length(line) <= WIDTH || text.starts_with("fencepost "), "{command:?}: {line}");
            let is_entry = text.starts_with("fencepost ") || text.contains("  ");
            if indent(line) != indent(next) || is_entry || !text.starts_with(char::is_lowercase) {
                continue;
            }
            let word = text.split(' ').next().unwrap_or_default();
            assert!(length(line) + 1 + length(word) > WIDTH, "{command:?} breaks early:\n{line}\n{next}");
            broken += 1;
        }
    }
    assert!(broken > 50, "{broken} lines are broken");
}

#[test]
fn every_list_is_a_table_and_json_with_name_and_summary() {
    for subject in ["systems", "protocols", "scenarios", "workloads", "models", "papers"] {
        let entries = json(&["list", subject, "--json"]);
        let entries = entries.as_array().unwrap();
        let table = succeed(&["list", subject]);
        // The workloads are indented under the lines of their rooms.
        let indent = if subject == "workloads" { 2 } else { 0 };
        let of_item = |line: &&str| line.len() - line.trim_start().len() == indent;
        let heading = usize::from(indent == 0);
        assert_eq!(table.lines().filter(of_item).count(), entries.len() + heading, "{table}");
        assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
        for entry in entries {
            let name = entry["name"].as_str().unwrap();
            assert!(!entry["summary"].as_str().unwrap().is_empty(), "{name}");
            assert!(table.contains(name), "{table}");
        }
    }
    let protocols = json(&["list", "protocols", "--json"]);
    assert!(protocols[0]["claim"].is_string() && protocols[0]["source"].is_string());
}

#[test]
fn every_listed_item_has_details_by_its_name() {
    for subject in ["systems", "protocols", "scenarios", "workloads", "models", "papers"] {
        for entry in json(&["list", subject, "--json"]).as_array().unwrap() {
            let name = entry["name"].as_str().unwrap();
            let shown = succeed(&["list", subject, name]);
            let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains(entry["summary"].as_str().unwrap()), "{shown}");
            let is_file = subject == "systems";
            assert!(is_file || shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
            assert_eq!(json(&["list", subject, name, "--json"])["name"], name);
        }
        let refusal = refused(&["list", subject, "nothing-of-that-name"]);
        assert!(refusal.contains("unknown") && refusal.contains("nothing-of-that-name"), "{refusal}");
    }
}

#[test]
fn workloads_are_grouped_by_room() {
    let entries = json(&["list", "workloads", "--json"]);
    let rooms: Vec<&str> =
        entries.as_array().unwrap().iter().map(|entry| entry["room"].as_str().unwrap()).collect();
    let table = succeed(&["list", "workloads"]);
    let names = entries.as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap());
    let mut lines = table.lines();
    let mut before = "";
    for (name, room) in names.zip(&rooms) {
        if *room != before {
            assert!(lines.any(|line| line.starts_with(&format!("{room} "))), "{room}:\n{table}");
        }
        assert!(lines.any(|line| line.starts_with(&format!("  {name} "))), "{name}:\n{table}");
        before = room;
    }
    let mut groups = rooms.clone();
    groups.dedup();
    let count = groups.len();
    groups.sort_unstable();
    groups.dedup();
    assert_eq!(groups.len(), count, "{rooms:?}");
}

#[test]
fn a_size_sets_the_settings_that_the_list_shows() {
    let base = ["run", "-s", "hlrc-8cu", "-p", "vi", "-w", "vec-add", "--json"];
    let with = |more: &[&str]| json(&[&base[..], more].concat());
    let tiny = with(&["--size", "tiny"]);
    assert_eq!((&tiny["size"], &tiny["settings"]["n"]), (&"tiny".into(), &"3000".into()));
    let set = with(&["--size", "tiny", "--set", "n=64"]);
    assert_eq!((&set["size"], &set["settings"]["n"]), (&"tiny".into(), &"64".into()));
    assert!(with(&["--set", "n=64"]).get("size").is_none());
    let sizes = json(&["list", "workloads", "vec-add", "--json"])["sizes"].clone();
    assert_eq!((&sizes[0]["name"], &sizes[0]["settings"]["n"]), (&"tiny".into(), &"3000".into()));
    let why = ["why", "vi", "no-l1", "-s", "hlrc-8cu", "-w", "vec-add", "--size", "tiny"];
    assert!(succeed(&why).contains("vec-add"));
    succeed(&["race", "-s", "hrf-8cu", "-w", "reduce", "--size", "tiny"]);
    succeed(&[
        "compare",
        "-s",
        "hlrc-8cu",
        "--scenarios",
        "vi,no-l1",
        "-w",
        "reduce,vec-add",
        "--size",
        "tiny",
    ]);
    let refusal = refused(&["run", "-s", "hlrc-8cu", "-p", "vi", "-w", "vec-add", "--size", "tine"]);
    assert!(
        refusal.contains("tiny, small, paper") && refusal.contains("similar value exists: 'tiny'"),
        "{refusal}"
    );
}

#[test]
fn the_statistics_of_a_workload_are_a_table_and_json() {
    let info = json(&["workload", "info", "vec-add", "--set", "n=2048", "--json"]);
    assert_eq!((&info["kernels"], &info["loads"], &info["lines"]), (&1.into(), &4096.into(), &384.into()));
    assert_eq!((&info["system"], &info["settings"]["n"]), (&"hlrc-8cu".into(), &"2048".into()));
    assert!(info.get("size").is_none() && info.get("machine").is_none());
    // Wavefronts of half as many lanes.
    let narrow = ["workload", "info", "vec-add", "--set", "n=2048", "--machine", "cu.lanes=32"];
    let halved = json(&[&narrow[..], &["--json"]].concat());
    assert_eq!(halved["machine"], serde_json::json!({ "cu.lanes": 32 }));
    assert_eq!(halved["wavefronts"].as_u64(), info["wavefronts"].as_u64().map(|count| 2 * count));
    assert!(succeed(&narrow).starts_with("vec-add on the compute units of hlrc-8cu with cu.lanes=32\n"));
    let table = succeed(&["workload", "info", "vec-add", "--size", "tiny"]);
    assert!(table.lines().next().unwrap().contains("vec-add") && table.contains("n=3000"), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    let unknown = refused(&["workload", "info", "vec-ad"]);
    assert!(unknown.contains("did you mean `vec-add`?"), "{unknown}");
    assert!(refused(&["workload", "info", "vec-add", "--set", "m=1"]).contains("`m`"));
    let (code, _, err) = fencepost(&["workload", "info", "barrier-skip"]);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("deadlocked"), "{err}");
}

#[test]
fn one_workload_is_shown_with_meaning_range_and_choices_of_its_settings() {
    let shown = succeed(&["list", "workloads", "vec-add"]);
    let n = shown.lines().find(|line| line.starts_with("n  ")).unwrap();
    assert!(n.contains("1048576") && n.contains("1 to ") && n.contains("elements"), "{shown}");
    let lock = succeed(&["list", "workloads", "lock-counter"]);
    for (name, meaning) in [
        ("scope", "3 choices"),
        ("work-group ", "the work-group that synchronizes"),
        ("same-cu", "one compute unit"),
    ] {
        assert!(
            lock.lines().any(|line| line.trim_start().starts_with(name) && line.contains(meaning)),
            "{lock}"
        );
    }
    assert!(succeed(&["list", "workloads", "uts"]).contains("T1-small"));
    assert!(shown.contains("\ntiny    n=3000\n") && shown.contains("\nroom     dense\n"), "{shown}");
    assert!(succeed(&["list", "papers", "hlrc"]).contains("hlrc.fig4.hlrc"));
    let system = json(&["list", "systems", "hlrc-8cu", "--json"]);
    assert_eq!(system["parameters"]["cu"]["count"], 8, "{system}");
    let statements = json(&["list", "papers", "hlrc", "--json"])["statements"].clone();
    assert_eq!(statements[0]["id"], "hlrc.fig4.scope-only", "{statements}");
    assert!(succeed(&["list", "models", "drf"]).contains("claimed by  hlrc, "));
    assert!(succeed(&["list", "protocols", "hlrc"]).contains("\nclaims   drf, opencl\n"));
    let file = scratch("listed-system").join("mine.toml");
    fs::write(&file, succeed(&["list", "systems", "hlrc-8cu"])).unwrap();
    let run = run(file.to_str().unwrap(), "vi", "vec-add", &["--json", SMALL[0], SMALL[1]]);
    assert_eq!(json(&run)["answer_ok"], true);
}

#[test]
fn a_run_prints_the_promised_keys_and_its_counters_add_up() {
    let record = json(&run("hlrc-8cu", "vi", "vec-add", &["--json", SMALL[0], SMALL[1], "--seed", "3"]));
    let promised = ["system", "protocol", "policy", "workload", "input", "seed", "cycles", "answer_ok"];
    for key in promised.iter().chain(&["wall_seconds", "counters", "energy_pj"]) {
        assert!(keys(&record).contains(key), "{key} is missing");
    }
    assert_eq!((record["answer_ok"].as_bool(), record["seed"].as_u64()), (Some(true), Some(3)));
    let count = |name: &str| record["counters"][name].as_u64().unwrap_or_else(|| panic!("{name}"));
    assert_eq!(count("l1_hits") + count("l1_misses") + count("l1_bypasses"), count("l1_accesses"));
    assert_eq!(count("l2_hits") + count("l2_misses") + count("l2_bypasses"), count("l2_accesses"));
    assert_eq!(count("noc_bytes_sent"), count("noc_bytes_received"));
    assert!(count("noc_bytes_sent") > 0);
    let energies = record["energy_pj"].as_object().unwrap();
    let parts: f64 =
        energies.iter().filter(|(part, _)| *part != "total").map(|(_, v)| v.as_f64().unwrap()).sum();
    assert!((parts - energies["total"].as_f64().unwrap()).abs() < 1e-6 * parts);
}

#[test]
fn two_runs_with_one_seed_differ_only_in_wall_seconds() {
    let ask = || {
        let mut record =
            json(&run("titan-v", "vi", "histogram", &["--json", SMALL[0], SMALL[1], "--seed", "7"]));
        record.as_object_mut().unwrap().remove("wall_seconds").unwrap();
        record.to_string()
    };
    let beside = std::thread::spawn(ask);
    assert_eq!(ask(), beside.join().unwrap());
}

#[test]
fn a_comparison_prints_the_promised_keys_and_starts_at_one() {
    let scenarios = ["--scenarios", "vi,no-l1", "--workload", "reduce,histogram", SMALL[0], SMALL[1]];
    let args = [&["compare", "--system", "hlrc-8cu"], &scenarios[..]].concat();
    let comparison = json(&[&args[..], &["--json"]].concat());
    let rows = comparison["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    for row in rows {
        for key in ["scenario", "protocol", "policy", "cycles", "speedup", "traffic_bytes", "energy_pj"] {
            assert!(keys(row).contains(&key), "{key} is missing");
        }
    }
    let speedups: Vec<f64> = rows.iter().map(|row| row["speedup"].as_f64().unwrap()).collect();
    assert_eq!((speedups[0], speedups[2]), (1.0, 1.0));
    let expected = rows[0]["cycles"].as_f64().unwrap() / rows[1]["cycles"].as_f64().unwrap();
    assert_eq!(speedups[1], expected);
    let table = succeed(&args);
    for word in ["reduce", "histogram", "no-l1", "geometric mean", "1.00x", "█", "KiB"] {
        assert!(table.contains(word), "{table}");
    }
}

#[test]
fn a_comparison_agrees_with_single_runs() {
    let rows = json(&[
        "compare",
        "-s",
        "hrf-8cu",
        "--scenarios",
        "vi,no-l1",
        "-w",
        "reduce",
        "--json",
        "--set",
        "n=4k",
    ]);
    for (row, protocol) in rows["rows"].as_array().unwrap().iter().zip(["vi", "no-l1"]) {
        let single = json(&run("hrf-8cu", protocol, "reduce", &["--json", "--set", "n=4k"]));
        assert_eq!(row["cycles"], single["cycles"]);
        assert_eq!(row["traffic_bytes"], single["counters"]["noc_bytes_sent"]);
        assert_eq!(row["energy_pj"], single["energy_pj"]["total"]);
    }
}

#[test]
fn why_prints_the_promised_keys_and_its_parts_add_up_to_the_difference() {
    let why = ["why", "vi+work-group+same-cu", "vi", "--system", "hlrc-8cu", "--workload", "lock-counter"];
    let all = json(&[&why[..], &["--seed", "3", "--set", "increments=8", "--json"]].concat());
    let [a, b] = ["cycles_a", "cycles_b"].map(|key| all[key].as_i64().unwrap());
    assert_ne!(a, b);
    let parts = all["parts"].as_array().unwrap();
    assert_eq!(parts.iter().map(|part| part["cycles"].as_i64().unwrap()).sum::<i64>(), b - a);
    let causes: Vec<_> = parts.iter().map(|part| part["cause"].as_str().unwrap()).collect();
    for cause in ["acquire", "release", "atomic", "load", "store", "queue-noc", "imbalance", "launch"] {
        assert!(causes.contains(&cause), "{causes:?}");
    }
    // The runs are the same as those of `run`.
    let single = run("hlrc-8cu", "vi", "lock-counter", &["--seed", "3", "--set", "increments=8", "--json"]);
    assert_eq!(json(&single)["cycles"].as_i64().unwrap(), b);

    let page = scratch("why").join("why.html");
    let table = succeed(&[&why[..], &["--html", page.to_str().unwrap()]].concat());
    assert!(table.contains("difference") && table.lines().last().unwrap().starts_with("all"), "{table}");
    assert!(fs::read_to_string(page).unwrap().contains("<svg"));

    let refusal = refused(&["why", "vi", "vii", "--system", "hlrc-8cu", "--workload", "lock-counter"]);
    assert!(refusal.contains("did you mean"), "{refusal}");
    let (code, _, err) = fencepost(&[&why[..], &["--drop", "Done", "--patience", "20000"]].concat());
    assert_eq!(code, 1);
    assert!(err.contains("lock-counter under"), "{err}");
}

#[test]
fn a_report_is_made_from_results_only() {
    let folder = scratch("report");
    let text = folder.to_str().unwrap();
    assert!(refused(&["report", text]).contains("cannot read"));
    fs::write(folder.join("results.json"), "{\n  \"paper\": 7\n}").unwrap();
    let refusal = refused(&["report", text]);
    assert!(refusal.contains("results.json:2:12: the file does not contain the results"), "{refusal}");
    assert!(!folder.join("report.html").exists());
}

#[test]
fn unknown_names_suggest_the_nearest_and_exit_with_2() {
    let suggests = |args: &[&str], name: &str| {
        let sentence = refused(args);
        assert!(sentence.contains(&format!("did you mean `{name}`")), "{sentence}");
        assert_eq!(sentence.lines().count(), 1, "{sentence}");
    };
    suggests(&run("hlrc8cu", "vi", "reduce", &[]), "hlrc-8cu");
    suggests(&run("hlrc-8cu", "vii", "reduce", &[]), "vi");
    suggests(&run("hlrc-8cu", "vi", "reduze", &[]), "reduce");
    suggests(&run("hlrc-8cu", "vi", "histogram", &["--set", "bin=4"]), "bins");
    suggests(&run("hlrc-8cu", "vi", "lock-counter", &["--policy", "workgroup"]), "work-group");
    suggests(&["compare", "-s", "hlrc-8cu", "--scenarios", "vi,nol1", "-w", "reduce"], "no-l1");
    assert!(refused(&["list", "protocol"]).contains("protocols"));
    assert!(refused(&["rnu"]).contains("run"));
    assert!(refused(&["run", "--sistem", "x"]).contains("--system"));
}

#[test]
fn duplicate_names_are_refused() {
    let reduce = |more: &[&str]| refused(&run("hlrc-8cu", "vi", "reduce", more));
    assert!(reduce(&["--set", "n=5", "--set", "n=6"]).contains("`n` is set twice, to `5` and to `6`"));
    let compare = |scenarios: &str, workloads: &str| {
        refused(&["compare", "-s", "hlrc-8cu", "--scenarios", scenarios, "-w", workloads])
    };
    assert!(compare("vi,vi", "reduce").contains("scenario `vi` is named twice"));
    assert!(compare("vi,no-l1", "reduce,reduce").contains("workload `reduce` is named twice"));
}

#[test]
fn an_unknown_machine_or_model_may_be_a_file_name() {
    let machine = refused(&run("my-gpu", "vi", "reduce", &[]));
    assert!(machine.contains("unknown system `my-gpu`") && machine.contains("`./my-gpu.toml`"), "{machine}");
    for name in ["", ".", "my gpu"] {
        let sentence = refused(&run(name, "vi", "reduce", &[]));
        assert!(sentence.ends_with("for example `./my-gpu.toml`"), "{sentence}");
    }
    let litmus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../litmus/c11/SB.litmus");
    let model = refused(&["litmus", litmus, "--model", "mine"]);
    assert!(model.contains(". To use your own model, give the path of a .cat file"), "{model}");
}

#[test]
fn unfit_settings_are_bad_input_even_if_found_during_the_run() {
    let of =
        |command: &[&'static str]| [command, &["-s", "hlrc-8cu", "-w", "uts", "--set", "fronts=1"]].concat();
    for args in [
        of(&["run", "-p", "vi"]),
        of(&["compare", "--scenarios", "vi,no-l1"]),
        of(&["why", "vi", "no-l1"]),
        of(&["race", "--seeds", "2", "--advise"]),
        of(&["race", "--json"]),
    ] {
        let (code, _, err) = fencepost(&args);
        assert_eq!(code, 2, "{err}");
        assert!(err.contains("the only task-front is in use: raise `fronts`"), "{err}");
    }
    let nodes = ["--set", "depth=10000", "--set", "nodes-max=4294967296"];
    assert!(refused(&run("hlrc-8cu", "vi", "uts", &nodes)).contains("deeper than the limit of 4093"));
    let broad = refused(&run("hlrc-8cu", "vi", "uts", &["--set", "branching=100", "--set", "depth=6"]));
    let sentence = "about 1.1e11 nodes, expected at most 16777216: lower `branching` or `depth`";
    assert!(broad.contains(sentence), "{broad}");
}

#[test]
fn a_single_item_has_no_plural() {
    let stress = succeed(&["stress", "vi", "--episodes", "1"]);
    assert!(stress.contains("vi: 1 episode, "), "{stress}");
    let folder = scratch("one-arc");
    let graph = folder.join("one.gr");
    fs::write(&graph, "p sp 2 1\na 1 2 3\n").unwrap();
    let shown = succeed(&run("hlrc-8cu", "vi", "sssp", &["--input", graph.to_str().unwrap()]));
    assert!(shown.contains("2 vertices, 1 arc\n"), "{shown}");
    fs::write(&graph, "p sp 2 2\na 1 2 3\na 1 1 3\n").unwrap();
    for command in ["run -s hlrc-8cu -p vi -w sssp --input", "graph info"] {
        let mut words: Vec<&str> = command.split(' ').collect();
        words.push(graph.to_str().unwrap());
        let shown = succeed(&words);
        assert!(shown.contains(" 1 self loop removed\n"), "{shown}");
    }
    let race = succeed(&["race", "-s", "hlrc-8cu", "-w", "vec-add", "--set", "n=1"]);
    assert!(race.contains("No race in 1 run with "), "{race}");
    let test = concat!(env!("CARGO_MANIFEST_DIR"), "/../../litmus/c11/SB.litmus");
    let (_, verified, _) =
        fencepost(&["verify", "vi", "--litmus", test, "--operations", "0", "--memory", "1K", "--jobs", "1"]);
    assert!(verified.contains("  1 test, "), "{verified}");
    let times = verified.lines().filter(|line| line.starts_with("  not covered: ")).count();
    assert!(times > 0 && !verified.contains("(1 times)"), "{verified}");
}

#[test]
fn invalid_values_are_refused_with_the_expected_ones() {
    let setting = |value: &str| refused(&run("hlrc-8cu", "vi", "histogram", &["--set", value]));
    for value in ["n=0", "n=-1", "n=many", "n=99999999999999999999"] {
        assert!(setting(value).contains("whole number from 1 to"), "{value}");
    }
    assert!(setting("n").contains("KEY=VALUE"));
    let policy = refused(&run("hlrc-8cu", "vi", "reduce", &["--policy", ""]));
    assert!(policy.contains("scenario `vi+` has an empty policy, expected NAME or NAME+POLICY"), "{policy}");
    let model = refused(&["stress", "vi", "--model", "sc"]);
    assert!(model.contains("model `sc`, expected one of hrf-direct, "), "{model}");
    for command in [
        "run -s hlrc-8cu -p vi -w reduce --patience",
        "compare -s hlrc-8cu --scenarios vi -w reduce --seeds",
        "race -s hlrc-8cu -w reduce --seeds",
        "reproduce hlrc --seeds",
        "verify vi --jobs",
        "verify vi --operations",
        "stress vi --episodes",
        "litmus litmus/c11 --model tso --unroll",
    ] {
        for value in ["-1", "x", "99999999999999999999"] {
            let words: Vec<&str> = command.split(' ').chain([value]).collect();
            let sentence = refused(&words);
            assert!(sentence.contains(&format!("`{value}`")) || sentence.contains(&format!("'{value}'")));
            assert!(sentence.contains("expected a whole number from "), "{sentence}");
        }
    }
    for list in [["--scenarios", ","], ["-w", "reduce,"], ["-s", "hlrc-8cu,,titan-v"]] {
        let usual = ["compare", "-s", "hlrc-8cu", "--scenarios", "vi", "-w", "reduce"];
        let mut args = usual.to_vec();
        let at = usual.iter().position(|word| *word == list[0]).unwrap();
        args[at + 1] = list[1];
        assert!(refused(&args).contains(" has an empty name, expected NAME,NAME,..."), "{list:?}");
    }
    assert!(refused(&run("hlrc-8cu", "vi", "reduce", &["--seed", "-1"])).contains("whole number from 0"));
    assert!(refused(&run("hlrc-8cu", "vi", "reduce", &["--input", "T1"])).contains("T1"));
    assert!(refused(&run("hlrc-8cu", "vi", "reduce", &["--drop", "Data:0"])).contains("MESSAGE:N"));
    assert!(
        refused(&run("hlrc-8cu", "vi", "reduce", &["--drop", "Nope", "--set", "n=4k"])).contains("`Nope`")
    );
}

/// Writes a machine file of the user: the file of a small machine, in which `to` replaces `from`.
/// Returns the path of the file.
fn own_system(folder: &Path, from: &str, to: &str) -> String {
    let text = include_str!("../../../../systems/hlrc-8cu.toml");
    assert!(text.contains(from), "{from}");
    let path = folder.join("mine.toml");
    fs::write(&path, text.replacen(from, to, 1)).unwrap();
    path.display().to_string()
}

#[test]
fn a_machine_of_the_users_own_runs_and_its_mistakes_have_a_place() {
    let folder = scratch("own-system");
    let good = own_system(&folder, "name = \"hlrc-8cu\"", "name = \"mine\"");
    let record = json(&run(&good, "vi", "vec-add", &["--json", SMALL[0], SMALL[1]]));
    assert_eq!(record["system"], "mine");
    let bad = own_system(&folder, "simd_units = 4", "simd_units = 0");
    let sentence = refused(&run(&bad, "vi", "vec-add", &[]));
    assert!(sentence.contains("mine.toml:19:14: ") && sentence.contains("`0`"), "{sentence}");
    let nameless = own_system(&folder, "name = \"hlrc-8cu\"", "name = \" \"");
    let sentence = refused(&run(&nameless, "vi", "vec-add", &[]));
    assert!(
        sentence.contains("mine.toml:10:") && sentence.contains("`name`: found an empty name"),
        "{sentence}"
    );
    let small = own_system(&folder, "bytes = 16384", "bytes = 32");
    assert!(
        refused(&run(&small, "vi", "vec-add", &[]))
            .contains("an L1 of 32 bytes, expected at least one line of 64 bytes")
    );
}

#[test]
fn a_work_group_that_no_compute_unit_holds_is_bad_input() {
    let folder = scratch("misfit");
    let text = include_str!("../../../../systems/hlrc-8cu.toml");
    let text = text.replacen("wavefront_slots = 40 ", "wavefront_slots = 2 ", 1);
    let text = text.replacen("work_group_slots = 40 ", "work_group_slots = 2 ", 1);
    let text = text.replacen("simd_units = 4 ", "simd_units = 2 ", 1);
    let path = folder.join("mine.toml");
    fs::write(&path, text).unwrap();
    let sentence = refused(&run(path.to_str().unwrap(), "vi", "vec-add", &[SMALL[0], SMALL[1]]));
    assert!(
        sentence.contains("wavefronts") && sentence.contains('4') && sentence.contains('2'),
        "{sentence}"
    );
}

#[test]
fn a_run_without_progress_names_the_waiters_and_exits_with_1() {
    let stuck = |args: &[&str], words: &[&str]| {
        let (code, out, err) = fencepost(&[args, &["--patience", "20000"]].concat());
        assert_eq!((code, out.as_str()), (1, ""), "{args:?}");
        for word in words {
            assert!(err.contains(word), "{args:?}: {err}");
        }
    };
    stuck(&run("hlrc-8cu", "vi", "spin-forever", &[]), &["flag[0]", "work-group 0", "seed 0"]);
    stuck(&run("hlrc-8cu", "vi", "barrier-skip", &[]), &["barrier", "work-group 0"]);
    stuck(&run("hlrc-8cu", "vi", "spin-undispatched", &[]), &["flag[0]", "work-group"]);
    let dropped = run("hlrc-8cu", "vi", "vec-add", &["--drop", "Data:3", SMALL[0], SMALL[1]]);
    stuck(&dropped, &["has not answered", "Data", "lost on purpose"]);
    let (code, out, _) = fencepost(&[&dropped[..], &["--json"]].concat());
    let record: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, record["answer_ok"].as_bool()), (1, Some(false)));
    assert!(record["error"].as_str().unwrap().contains("lost on purpose"));
}

#[test]
fn a_narrow_scope_gives_a_wrong_sum_and_a_message() {
    let count = |protocol: &str, policy: &str| {
        let (code, out, err) =
            fencepost(&run("hlrc-8cu", protocol, "lock-counter", &["--policy", policy, "--json"]));
        let record: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(record["answer_ok"].as_bool(), Some(code == 0));
        (code, err)
    };
    let (code, err) = count("vi", "work-group,different-cus");
    assert_eq!(code, 1);
    assert!(err.contains("wrong answer: element 0 of `counter`: expected"), "{err}");
    assert_eq!(count("vi", "work-group,same-cu"), (0, String::new()));
    assert_eq!(count("no-l1", "work-group,different-cus"), (0, String::new()));
    assert_eq!(count("vi", "device,different-cus"), (0, String::new()));
}

#[test]
fn a_time_line_is_written_whole_and_draws_a_failed_run_too() {
    let folder = scratch("perfetto");
    let path = folder.join("run.perfetto-trace");
    let file = path.to_str().unwrap();
    let args = run("hlrc-8cu", "vi", "vec-add", &["--perfetto", file, SMALL[0], SMALL[1]]);
    succeed(&args);
    let trace = fs::read(&path).unwrap();
    for name in ["L1[0]", "L2[0]", "CU[0]"] {
        assert!(trace.windows(name.len()).any(|bytes| bytes == name.as_bytes()), "{name} is drawn");
    }
    succeed(&args);
    assert_eq!(fs::read(&path).unwrap(), trace, "the same run draws the same line");
    fs::remove_file(&path).unwrap();
    let (code, ..) = fencepost(&[&args[..], &["--drop", "Data:3"]].concat());
    assert_eq!((code, path.exists()), (1, true));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn an_output_that_cannot_be_written_is_refused_and_leaves_no_file() {
    let folder = scratch("unwritable");
    let refused_at = |path: &Path| {
        let file = path.to_str().unwrap();
        let sentence = refused(&run("hlrc-8cu", "vi", "vec-add", &["--perfetto", file, SMALL[0], SMALL[1]]));
        assert!(sentence.starts_with(&format!("fencepost: cannot write {file}: ")), "{sentence}");
        assert_eq!(sentence.lines().count(), 1);
    };
    refused_at(&folder);
    refused_at(&folder.join("absent/trace"));
    #[cfg(target_os = "linux")]
    refused_at(Path::new("/proc/trace"));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    // Bad input is refused before anything is written.
    let path = folder.join("trace");
    let file = path.to_str().unwrap();
    refused(&run("hlrc-8cu", "vi", "vec-add", &["--perfetto", file, "--drop", "Nope", SMALL[0], SMALL[1]]));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_no_partial_file() {
    let folder = scratch("interrupted");
    let path = folder.join("trace");
    let mut child = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args(["run", "-s", "hlrc-8cu", "-p", "vi", "-w", "vec-add", "--set", "n=16m"])
        .args(["--perfetto", path.to_str().unwrap()])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // The unfinished file shows that the run has started.
    while fs::read_dir(&folder).unwrap().count() == 0 {
        assert!(child.try_wait().unwrap().is_none(), "the run is long");
        std::thread::yield_now();
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn manual_pages_are_written_whole_or_not_at_all() {
    let folder = scratch("man");
    succeed(&["man", "--dir", folder.to_str().unwrap()]);
    let mut pages: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    pages.sort();
    let help = succeed(&["--help"]);
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names =
        commands.take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
    let mut expected: Vec<String> =
        names.filter(|name| *name != "help").map(|name| format!("fencepost-{name}.1")).collect();
    assert!(expected.contains(&"fencepost-run.1".to_owned()), "{help}");
    expected.push("fencepost.1".to_owned());
    expected.sort();
    assert_eq!(pages, expected);
    assert!(succeed(&["man"]).contains(".TH fencepost"));
    let new = folder.join("new/man1");
    succeed(&["man", "--dir", new.to_str().unwrap()]);
    assert_eq!(fs::read_dir(&new).unwrap().count(), pages.len());
    let no_folder = new.join("fencepost.1");
    let sentence = refused(&["man", "--dir", no_folder.to_str().unwrap()]);
    assert!(sentence.contains("cannot") && sentence.contains("fencepost.1"), "{sentence}");
    assert_eq!(fs::read_dir(&new).unwrap().count(), pages.len());
}

#[test]
fn completions_exist_for_every_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = succeed(&["completions", shell]);
        assert!(script.contains("fencepost") && script.contains("compare"), "{shell}");
        assert!(script.contains("litmus") && script.contains("expect-race-free"), "{shell}");
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args(["completions", "zsh"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""));
}

#[test]
fn help_names_the_least_time_before_patience_ends() {
    let (code, out, _) = fencepost(&["run", "--help"]);
    let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(code, 0);
    assert!(words.contains("never stops before 16 round trips to memory"), "{out}");
}

#[test]
fn the_process_hands_on_the_exit_code_and_is_quiet_in_a_pipe() {
    let run = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_fencepost")).args(args).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let args = ["run", "-s", "hlrc-8cu", "-p", "vi", "-w", "vec-add", "--set", "n=4k"];
    assert_eq!(run(&args), (Some(0), String::new()));
    assert_eq!(
        run(&["run", "-s", "hlrc-8cu", "-p", "vi", "-w", "spin-forever", "--patience", "9000"]).0,
        Some(1)
    );
    assert_eq!(run(&["run", "-s", "x", "-p", "vi", "-w", "vec-add"]).0, Some(2));
}

/// Lists of random words for a command line: words that reach deep into the argument parser, and
/// junk. No word is the name of a workload, so no simulation runs.
fn words() -> impl Strategy<Value = Vec<String>> {
    let known = prop::sample::select(vec![
        "run",
        "compare",
        "list",
        "systems",
        "--system",
        "-s",
        "hlrc-8cu",
        "--protocol",
        "vi",
        "--scenarios",
        "vi,no-l1",
        "vi+",
        "+",
        "--workload",
        "-w",
        "nothing",
        "--set",
        "n=1",
        "=",
        "--seed",
        "7",
        "--json",
        "--drop",
        "Data:1",
        "--input",
        "--policy",
        "/dev/null",
        "--",
        "-",
        "",
    ]);
    let word = prop_oneof![4 => known.prop_map(str::to_owned), 1 => "\\PC{0,12}", 1 => "--\\PC{0,8}"];
    prop::collection::vec(word, 0..10)
}

proptest! {
    #[test]
    fn no_arguments_make_the_program_panic_and_every_refusal_has_a_reason(words in words()) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (code, out, err) = fencepost(&words);
        match code {
            0 => prop_assert!(err.is_empty() && !out.is_empty()),
            code => prop_assert!(code == 2 && out.is_empty() && !err.is_empty(), "{} {}", code, err),
        }
    }
}
