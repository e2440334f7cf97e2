//! Tests of the command `fencepost sweep`: its text for readers, its JSON for scripts, and sweeps
//! that are disturbed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use lab::store::Store;
use serde_json::Value;

use crate::common::{self, fencepost, refused, scratch, succeed};

/// A study of twelve short runs.
const SMALL: &str = r#"
title = "Small"
systems = ["hlrc-8cu"]
scenarios = ["vi", "no-l1"]
workloads = ["reduce"]
[machine]
"l1.bytes" = [4096, 8192, 16384]
[set]
n = [1024, 2048]
[[chart]]
x = "l1.bytes"
y = "cycles"
"#;

/// Writes a study into a new folder. Returns the path of the study, and the path of the folder for
/// its results.
fn study(name: &str, text: &str) -> (String, PathBuf) {
    let folder = scratch(name);
    let file = folder.join("study.toml");
    fs::write(&file, text).unwrap();
    (file.to_str().unwrap().to_owned(), folder.join("out"))
}

fn sweep(file: &str, out: &Path, more: &[&str]) -> (u8, String, String) {
    fencepost(&[&["sweep", file, "--out", out.to_str().unwrap()], more].concat())
}

/// Every file of a folder and of the folders in it, with the bytes of the file.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            let inside = files(&entry.path()).into_iter();
            all.extend(inside.map(|(inner, bytes)| (format!("{name}/{inner}"), bytes)));
        } else {
            all.insert(name, fs::read(entry.path()).unwrap());
        }
    }
    all
}

#[test]
fn a_sweep_fills_its_folder_and_a_second_one_only_reports() {
    let (file, out) = study("sweep-whole", SMALL);
    let (code, text, err) = sweep(&file, &out, &[]);
    assert_eq!((code, err.as_str()), (0, ""), "{text}");
    assert!(text.starts_with("Small\n12 runs: 3 of l1.bytes, 2 of n, 2 of scenario\n\n"), "{text}");
    assert!(
        text.contains("n 1,024\nl1.bytes")
            && text.contains("12 runs, 0 of them from earlier sweeps; reports"),
        "{text}"
    );
    let whole = files(&out);
    let names: Vec<&str> =
        whole.keys().map(String::as_str).filter(|name| !name.starts_with("runs/")).collect();
    assert_eq!(names, ["report.html", "report.md", "results.json", "results.parquet"]);
    assert_eq!(whole.keys().filter(|name| name.ends_with(".parquet")).count(), 13);
    let results: Value = serde_json::from_slice(&whole["results.json"]).unwrap();
    let rows = results["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 12);
    assert_eq!(rows[0]["machine"], serde_json::json!({ "l1.bytes": 4096 }));
    let (code, again, _) = sweep(&file, &out, &["--json"]);
    assert_eq!((code, serde_json::from_str::<Value>(&again).unwrap()), (0, results));
    assert!(sweep(&file, &out, &[]).1.contains("12 runs, 12 of them from earlier sweeps; reports"));
    assert!(files(&out) == whole);
    // `report` writes the same page.
    let page = out.with_file_name("again.html");
    succeed(&["report", out.to_str().unwrap(), "--html", page.to_str().unwrap()]);
    assert!(fs::read(page).unwrap() == whole["report.html"]);
}

#[test]
fn the_files_do_not_depend_on_the_number_of_jobs() {
    let (file, one) = study("sweep-jobs", SMALL);
    let two = one.with_file_name("two");
    assert_eq!(sweep(&file, &one, &["--jobs", "1"]).0, 0);
    assert_eq!(sweep(&file, &two, &["--jobs", "2"]).0, 0);
    assert!(files(&one) == files(&two));
}

#[test]
fn a_run_of_a_sweep_has_the_result_that_the_same_run_has_alone() {
    let (file, out) = study("sweep-alone", SMALL);
    let results: Value = serde_json::from_str(&sweep(&file, &out, &["--json"]).1).unwrap();
    for row in results["rows"].as_array().unwrap() {
        let bytes = format!("l1.bytes={}", row["machine"]["l1.bytes"]);
        let n = format!("n={}", row["settings"]["n"].as_str().unwrap());
        let scenario = row["scenario"].as_str().unwrap();
        let alone = ["run", "-s", "hlrc-8cu", "--scenario", scenario, "-w", "reduce", "--machine", &bytes];
        let alone = common::json(&[&alone[..], &["--set", &n, "--json"]].concat());
        for key in ["cycles", "counters", "energy_pj", "machine", "settings"] {
            assert_eq!(row[key], alone[key], "{key}");
        }
    }
}

#[test]
fn a_dry_run_lists_the_runs_and_writes_no_file() {
    let (file, out) = study("sweep-dry", SMALL);
    let (code, text, _) = sweep(&file, &out, &["--dry-run"]);
    assert_eq!(code, 0);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3 + 1 + 12, "{text}");
    let words: Vec<&str> = lines.last().unwrap().split_whitespace().collect();
    assert_eq!(words, ["16384", "2048", "no-l1", "0"]);
    let listed: Value = serde_json::from_str(&sweep(&file, &out, &["--dry-run", "--json"]).1).unwrap();
    let last = listed["runs"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&last["l1.bytes"], &last["workload"], &last["seed"]),
        (&16384.into(), &"reduce".into(), &0.into())
    );
    assert!(!out.exists());
}

/// Pseudorandom numbers, the same in every run.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

fn start(file: &str, out: &Path) -> std::process::Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fencepost"));
    command.args(["sweep", file, "--out", out.to_str().unwrap(), "--jobs", "2"]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Waits until the folder `out` has `count` results, or the process `child` has ended.
fn wait_for_results(out: &Path, count: usize, child: &mut std::process::Child) {
    let stored = || fs::read_dir(out.join("runs")).map_or(0, |entries| entries.count().saturating_sub(1));
    while stored() < count && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_sweep_that_was_killed_at_any_moment_finishes_with_the_same_files() {
    let text = SMALL.replace("n = [1024, 2048]", "n = [4096, 8192, 16384, 32768]");
    let (file, undisturbed) = study("sweep-killed", &text);
    assert!(start(&file, &undisturbed).wait().unwrap().success());
    let expected = files(&undisturbed);
    for seed in 0..4 {
        let out = undisturbed.with_file_name(format!("killed-{seed}"));
        let (mut draws, mut kills) = (Draws(seed), 0);
        loop {
            let mut child = start(&file, &out);
            match seed % 2 {
                // Early moments hit the start, later ones runs and reports.
                0 => std::thread::sleep(Duration::from_millis(draws.below(120) + 20 * kills)),
                // A moment right after a result was stored.
                _ => wait_for_results(&out, draws.below(6) as usize + 3 * kills as usize, &mut child),
            }
            if child.try_wait().unwrap().is_some_and(|status| status.success()) {
                break;
            }
            child.kill().unwrap();
            let status = child.wait().unwrap();
            assert!(!matches!(status.code(), Some(1 | 2)), "a killed sweep does not spoil the next one");
            kills += 1;
        }
        let found = files(&out);
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{kills} kills");
        assert!(found == expected, "{kills} kills");
    }
}

/// A study whose workloads read numbers from files. `matmul` reads the two factors of a matrix
/// product. `nn` reads the latitudes and longitudes of places. The files are in the folder `data`
/// beside the study.
const ON_NUMBERS: &str = r#"
systems = ["hlrc-8cu"]
scenarios = ["vi", "no-l1"]
workloads = ["matmul", "nn"]
[inputs]
matmul = ["data/a.csv,data/b.f32"]
nn = ["data/places.csv"]
[set.matmul]
m = 2
k = 3
n = 2
[set.nn]
nearest = [1, 2]
"#;

fn study_on_numbers(name: &str, text: &str) -> (String, PathBuf) {
    let (file, out) = study(name, text);
    let data = out.with_file_name("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("a.csv"), "1,2,3\n4,5,6\n").unwrap();
    let right = [1_f32, 2., 3., 4., 5., 6.].map(f32::to_le_bytes);
    fs::write(data.join("b.f32"), right.concat()).unwrap();
    fs::write(data.join("places.csv"), "# places\n30.5, 90.25\n-8, 140\n29, 91\n").unwrap();
    (file, out)
}

#[test]
fn a_study_on_files_of_numbers_runs_describes_them_and_resumes_to_the_same_files() {
    let (file, out) = study_on_numbers("sweep-numbers", ON_NUMBERS);
    let (code, text, err) = sweep(&file, &out, &[]);
    assert_eq!((code, err.as_str()), (0, ""), "{text}");
    let whole = files(&out);
    let results: Value = serde_json::from_slice(&whole["results.json"]).unwrap();
    let inputs = results["inputs"].as_array().unwrap();
    let contents: Vec<&str> = inputs.iter().map(|input| input["contents"].as_str().unwrap()).collect();
    assert_eq!(
        contents,
        [
            "left factor: numbers as text, 2 by 3; right factor: binary single-precision numbers, 3 by 2",
            "places: numbers as text, 3 by 2"
        ]
    );
    assert!(inputs.iter().all(|input| input["digest"].as_str().unwrap().len() == 64));
    for row in results["rows"].as_array().unwrap() {
        assert_eq!(row["answer_ok"], true);
        // The number of places is that of the file.
        assert!(row["workload"] == "matmul" || row["settings"].get("n").is_none(), "{row}");
    }
    for page in ["report.html", "report.md"] {
        let text = String::from_utf8(whole[page].clone()).unwrap();
        assert!(contents.iter().all(|contents| text.contains(contents)), "{page}");
    }
    // The run alone has the same result.
    let places = out.with_file_name("data").join("places.csv");
    let alone = ["run", "-s", "hlrc-8cu", "-p", "vi", "-w", "nn", "--set", "nearest=2", "--json", "--input"];
    let alone = common::json(&[&alone[..], &[places.to_str().unwrap()]].concat());
    let is_same = |row: &&Value| {
        row["workload"] == "nn" && row["scenario"] == "vi" && row["settings"]["nearest"] == "2"
    };
    let row = results["rows"].as_array().unwrap().iter().find(is_same).unwrap();
    assert_eq!((&row["cycles"], &row["settings"]), (&alone["cycles"], &alone["settings"]));
    // Half of the results are lost.
    let is_run = |name: &&String| name.starts_with("runs/") && name.ends_with(".parquet");
    let runs: Vec<&String> = whole.keys().filter(is_run).collect();
    assert_eq!(runs.len(), 6);
    runs.iter().step_by(2).for_each(|name| fs::remove_file(out.join(name)).unwrap());
    assert!(sweep(&file, &out, &[]).1.contains("6 runs, 3 of them from earlier sweeps"));
    assert!(files(&out) == whole);
    // A changed file has other results, and only its runs are repeated.
    fs::write(&places, "30.5, 90.25\n-8, 140\n29, 91\n1, 1\n").unwrap();
    assert!(sweep(&file, &out, &[]).1.contains("6 runs, 2 of them from earlier sweeps"));
    assert!(fs::read_to_string(out.join("report.md")).unwrap().contains("places: numbers as text, 4 by 2"));
}

#[test]
fn a_wrong_file_of_numbers_is_refused_with_its_place_before_anything_is_written() {
    let (file, out) = study_on_numbers("sweep-wrong-numbers", ON_NUMBERS);
    let data = out.with_file_name("data");
    let error = || refused(&["sweep", &file, "--out", out.to_str().unwrap()]);
    fs::write(data.join("a.csv"), "1,2,3\n4,x,6\n").unwrap();
    let wrong = error();
    let place = format!("{}:2:3: found `x`, expected a finite number", data.join("a.csv").display());
    assert!(wrong.starts_with(&format!("fencepost: {file}:6:11: matmul with ")), "{wrong}");
    assert!(wrong.contains(&place), "{wrong}");
    fs::write(data.join("a.csv"), "1,2,3\n4,5,6\n").unwrap();
    fs::remove_file(data.join("places.csv")).unwrap();
    let missing = error();
    let reason = format!("cannot read {}", data.join("places.csv").display());
    assert!(missing.starts_with(&format!("fencepost: {file}:7:7: {reason}")), "{missing}");
    assert!(!out.exists());
}

#[test]
fn a_sweep_removes_partial_files_of_a_killed_sweep() {
    let (file, out) = study("sweep-half", SMALL);
    assert_eq!(sweep(&file, &out, &[]).0, 0);
    let whole = files(&out);
    fs::write(out.join(".results.parquet.123.unfinished"), "half").unwrap();
    fs::write(out.join("runs/.half.parquet.unfinished"), "half").unwrap();
    fs::write(out.join("report.md"), "cut").unwrap();
    assert_eq!(sweep(&file, &out, &[]).0, 0);
    assert!(files(&out) == whole);
}

/// The path of the folder is longer than a short message, and the message still contains the whole
/// path.
#[test]
fn a_result_that_cannot_be_read_or_replaced_is_named_with_its_whole_path() {
    let (file, out) = study(&format!("sweep-unreadable-{}", "long-".repeat(20)), SMALL);
    assert_eq!(sweep(&file, &out, &[]).0, 0);
    let whole = files(&out);
    let result = fs::read_dir(out.join("runs")).unwrap().map(|entry| entry.unwrap().path());
    let result = result.filter(|path| path.extension().is_some()).min().unwrap();
    fs::remove_file(&result).unwrap();
    fs::create_dir(&result).unwrap();
    let (code, _, err) = sweep(&file, &out, &[]);
    assert_eq!(code, 2);
    let refused = format!("fencepost: cannot write to {}: ", result.display());
    assert!(err.starts_with(&refused) && err.lines().count() == 1, "{err}");
    let left = |ending: &str| {
        let names = fs::read_dir(out.join("runs")).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().ends_with(ending)).count()
    };
    assert_eq!((left(".unfinished"), left(".parquet")), (0, 12));
    // A link to nowhere cannot be read, but it can be replaced.
    fs::remove_dir(&result).unwrap();
    std::os::unix::fs::symlink("nowhere", &result).unwrap();
    let (code, text, err) = sweep(&file, &out, &[]);
    assert_eq!(code, 0, "{err}");
    assert!(err.starts_with(&format!("fencepost: {} cannot be read: ", result.display())), "{err}");
    assert!(err.ends_with("; its run was repeated\n"), "{err}");
    assert!(text.contains("12 runs, 11 of them from earlier sweeps; "), "{text}");
    assert!(files(&out) == whole);
}

#[test]
fn a_report_of_an_unfinished_sweep_says_how_to_continue() {
    let (file, out) = study("sweep-unfinished", SMALL);
    assert_eq!(sweep(&file, &out, &[]).0, 0);
    fs::remove_file(out.join("results.json")).unwrap();
    let error = refused(&["report", out.to_str().unwrap()]);
    assert!(error.contains("is unfinished: wait for its end, or repeat its command"), "{error}");
    fs::remove_dir_all(out.join("runs")).unwrap();
    assert!(refused(&["report", out.to_str().unwrap()]).contains("cannot read "));
}

/// A first sweep ends and writes its results. Then the study is extended, and a second sweep is
/// killed before its end. The results of the first sweep are still in the folder.
#[test]
fn a_report_of_a_sweep_that_was_extended_and_not_finished_is_refused() {
    let (file, out) = study("sweep-extended", SMALL);
    assert_eq!(sweep(&file, &out, &[]).0, 0);
    let page = fs::read(out.join("report.html")).unwrap();
    // A run that does not end within the test.
    let longer = SMALL.replace("n = [1024, 2048]", "n = [1024, 2048, \"16m\"]");
    fs::write(&file, longer).unwrap();
    let mut child = start(&file, &out);
    for _ in 0..60_000 {
        if out.join("runs/.ahead").exists() {
            break;
        }
        assert!(child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(1));
    }
    let refusal = || {
        let error = refused(&["report", out.to_str().unwrap()]);
        assert!(
            error.contains("has an old results.json, because the sweep or reproduction in it"),
            "{error}"
        );
    };
    refusal();
    child.kill().unwrap();
    child.wait().unwrap();
    refusal();
    assert!(fs::read(out.join("report.html")).unwrap() == page);
    // The first study again: nothing is missing, and the reports are new.
    fs::write(&file, SMALL).unwrap();
    assert_eq!(sweep(&file, &out, &[]).0, 0);
    succeed(&["report", out.to_str().unwrap()]);
    assert!(fs::read(out.join("report.html")).unwrap() == page);
}

#[test]
fn a_folder_in_use_by_another_process_is_not_changed() {
    let (file, out) = study("sweep-owned", SMALL);
    let owner = Store::open(&out.join("runs")).unwrap();
    fs::write(out.join(".report.md.1.unfinished"), "of the owner").unwrap();
    let (code, text, err) = sweep(&file, &out, &[]);
    assert_eq!((code, text.as_str()), (2, ""));
    assert!(err.contains("another process is writing results into this folder"), "{err}");
    assert!(out.join(".report.md.1.unfinished").exists());
    drop(owner);
    assert_eq!(sweep(&file, &out, &[]).0, 0);
}

#[test]
fn a_stuck_run_fails_the_sweep_after_the_reports_are_written() {
    let text = "systems = 'hlrc-8cu'\nscenarios = 'vi'\nworkloads = ['spin-forever', 'reduce']\n[set]\nn = 1024\n\
                [[chart]]\nx = 'workload'\ny = 'cycles'\n";
    let (file, out) = study("sweep-stuck", text);
    for ran in ["2 runs, 0 of them from", "2 runs, 2 of them from"] {
        let (code, text, err) = sweep(&file, &out, &[]);
        assert_eq!(code, 1, "{err}");
        assert!(text.contains(ran) && text.contains("spin-forever") && text.contains(" -\n"), "{text}");
        assert!(err.starts_with("fencepost: spin-forever on hlrc-8cu under vi, seed 0: "), "{err}");
    }
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("1 of 2 runs gave no right answer"));
}

/// Two kinds of combinations do not fit: those with a work-group that no compute unit can hold, and
/// those whose program stops because of its settings.
#[test]
fn a_combination_that_does_not_fit_is_reported_and_all_others_run() {
    let local = "systems = 'hlrc-8cu'\nscenarios = ['vi', 'no-l1']\nworkloads = ['vec-add', 'dct']\n\
                 machine = { 'lds.bytes' = [65536, 128] }\nset = { vec-add = { n = 1024 } }\n\
                 [[chart]]\nx = 'lds.bytes'\ny = 'cycles'\n";
    let fronts = "systems = 'hlrc-8cu'\nscenarios = 'vi'\nworkloads = 'fib'\n[set]\nfronts = [1, 2, 64]\n\
                  [[chart]]\nx = 'fronts'\ny = 'cycles'\n";
    for (name, text, runs, misfits, why) in [
        ("misfit-local", local, 8, 2, "needs 256 bytes of local memory, but a compute unit has 128"),
        ("misfit-fronts", fronts, 3, 2, "in use: raise `fronts`"),
    ] {
        let (file, out) = study(name, text);
        for _ in 0..2 {
            let (code, text, err) = sweep(&file, &out, &["--jobs", "2"]);
            assert_eq!((code, err.lines().count()), (2, misfits), "{err}");
            for line in err.lines() {
                assert!(line.starts_with("fencepost: ") && line.ends_with(why), "{line}");
                assert!(line.contains(", seed 0: does not fit: "), "{line}");
            }
            assert!(text.contains("  -\n") && text.contains("reports and runs are in"), "{text}");
            assert!(text.contains(": vi with seed 0 does not fit\n"), "{text}");
        }
        let results: Value = serde_json::from_slice(&fs::read(out.join("results.json")).unwrap()).unwrap();
        let rows = results["rows"].as_array().unwrap();
        let right = rows.iter().filter(|row| row["answer_ok"] == true);
        assert_eq!((rows.len(), right.count()), (runs, runs - misfits));
        let [page, markdown] =
            ["report.html", "report.md"].map(|name| fs::read_to_string(out.join(name)).unwrap());
        assert!(page.contains("does not fit: ") && markdown.contains("does not fit: "), "{markdown}");
        assert!(page.contains(&format!("{misfits} of {runs} runs gave no right answer")));
    }
}

#[test]
fn a_value_that_no_division_gives_is_missing_with_its_reason() {
    let (file, out) = study("sweep-division", &SMALL.replace("y = \"cycles\"", "y = \"cycles / 0\""));
    let (code, text, _) = sweep(&file, &out, &[]);
    assert_eq!(code, 0);
    // Two figures of three values under two scenarios.
    assert_eq!(text.matches("no value for 6 points: a division by zero\n").count(), 2, "{text}");
}

/// Runs a process that may write only short files, as on a full disk: a file may have at most
/// `blocks` blocks of 512 bytes. Returns the exit code and the text of standard error.
fn with_short_files(blocks: u32, args: &[&str]) -> (Option<i32>, String) {
    let limit = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &limit, env!("CARGO_BIN_EXE_fencepost")]).args(args);
    let output = command.stdout(Stdio::null()).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_full_disk_is_reported_with_the_file_and_costs_no_result() {
    // The page and the table of results are longer than the buffer of a file.
    let many = SMALL.replace("[machine]", "seeds = 16\n[machine]");
    let (file, out) = study("sweep-full", &many);
    let arguments = ["sweep", &file, "--out", out.to_str().unwrap()];
    let refused = |blocks: u32, start: &str| {
        let (code, err) = with_short_files(blocks, &arguments);
        assert_eq!((code, err.lines().count()), (Some(2), 1), "{err}");
        assert!(err.starts_with(&format!("fencepost: cannot write {start}")), "{err}");
        assert!(err.contains(": File too large"), "{err}");
        assert!(files(&out).keys().all(|name| !name.contains("unfinished")));
    };
    refused(8, &format!("to {}/", out.join("runs").display()));
    // A result has about 28 KB, and the table of all results more.
    let results = out.join("results.parquet");
    refused(80, &results.display().to_string());
    assert!(!results.exists());
    let (code, text, _) = sweep(&file, &out, &[]);
    assert!(code == 0 && text.contains("192 runs, 192 of them from earlier sweeps"), "{text}");
    let page = out.join("report.html");
    let whole = fs::read(&page).unwrap();
    assert!(whole.len() > 1 << 16);
    let (code, err) = with_short_files(80, &["report", out.to_str().unwrap()]);
    assert_eq!(code, Some(2));
    assert!(err.starts_with(&format!("fencepost: cannot write {}: File too large", page.display())), "{err}");
    assert!(fs::read(&page).unwrap() == whole);
}

#[test]
fn mistakes_are_refused_before_anything_is_written() {
    let (file, out) = study("sweep-refused", &SMALL.replace("no-l1", "nol1"));
    let error = refused(&["sweep", &file, "--out", out.to_str().unwrap()]);
    assert_eq!(error, format!("fencepost: {file}:4:20: unknown protocol `nol1`, did you mean `no-l1`?"));
    assert!(!out.exists());
    let (key, _) = study("sweep-key", &SMALL.replace("scenarios", "scenario"));
    let error = refused(&["sweep", &key]);
    assert_eq!(error, format!("fencepost: {key}:4:1: unknown key `scenario`, did you mean `scenarios`?"));
    let (key, _) = study("sweep-chart-key", &SMALL.replace("x = \"l1.bytes\"", ""));
    assert_eq!(refused(&["sweep", &key]), format!("fencepost: {key}:10:1: missing key `x`"));
    assert!(refused(&["sweep", "nowhere.toml"]).contains("cannot read nowhere.toml"));
    assert!(refused(&["sweep"]).contains("<FILE.toml>"));
    assert!(refused(&["sweep", &file, "--jobs", "0"]).contains("from 1 to 1024"));
    let (file, out) = study("sweep-in-a-file", SMALL);
    fs::write(&out, "").unwrap();
    assert!(refused(&["sweep", &file, "--out", out.to_str().unwrap()]).contains("cannot write to"));
}

#[test]
fn every_example_runs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/example");
    // Each example, with smaller numbers.
    let smaller: [(&str, &[(&str, &str)]); 4] = [
        (
            "l1-size",
            &[
                ("\"32k\"", "\"2k\""),
                ("reads = 128", "reads = 4"),
                ("groups = 64", "groups = 8"),
                ("= 3", "= 2"),
            ],
        ),
        ("contention", &[("\"16k\"", "512"), ("1024", "16")]),
        ("stealing", &[("1/256", "1/1024"), ("seeds = 3", "seeds = 1"), ("sweeps = 3", "sweeps = 1")]),
        ("machines", &[("\"small\"", "\"tiny\"")]),
    ];
    for (name, changes) in smaller {
        let mut text = fs::read_to_string(folder.join(format!("{name}.toml"))).unwrap();
        for (from, to) in changes {
            assert!(text.contains(from), "{name} has {from}");
            text = text.replacen(from, to, 1);
        }
        let (file, out) = study(&format!("example-{name}"), &text);
        let (code, text, err) = sweep(&file, &out, &[]);
        assert_eq!((code, err.as_str()), (0, ""), "{name}: {text}");
        let results: Value = serde_json::from_slice(&fs::read(out.join("results.json")).unwrap()).unwrap();
        for chart in results["charts"].as_array().unwrap() {
            let points = chart["figures"].as_array().unwrap().iter();
            let mut points = points.flat_map(|figure| figure["points"].as_array().unwrap());
            assert!(points.all(|point| point["value"]["mean"].is_number()), "{name}: {chart}");
        }
    }
}

#[test]
fn a_changed_machine_is_shown_in_every_output_and_changes_the_result() {
    let base = ["run", "-s", "hlrc-8cu", "-p", "vi", "-w", "l1-resident", "--set", "reads=64"];
    let changed =
        [&base[..], &["--machine", "l1.bytes=1k", "--machine", "cu.scheduler=round-robin"]].concat();
    assert!(
        succeed(&changed)
            .starts_with("l1-resident on hlrc-8cu with l1.bytes=1024 cu.scheduler=round-robin under vi\n")
    );
    let [plain, other] = [&base[..], &changed].map(|args| common::json(&[args, &["--json"]].concat()));
    assert!(plain.get("machine").is_none());
    assert_eq!(other["machine"], serde_json::json!({ "l1.bytes": 1024, "cu.scheduler": "round-robin" }));
    assert!(other["cycles"].as_u64() > plain["cycles"].as_u64());
    let small = ["--machine", "l1.bytes=1k", "--set", "n=1k"];
    let compare = ["compare", "-s", "hlrc-8cu", "--scenarios", "vi,no-l1", "-w", "reduce"];
    assert!(succeed(&[&compare[..], &small].concat()).starts_with("hlrc-8cu with l1.bytes=1024, seed 0;"));
    let why = ["why", "vi", "no-l1", "-s", "hlrc-8cu", "-w", "reduce"];
    assert!(
        succeed(&[&why[..], &small].concat()).starts_with("reduce on hlrc-8cu with l1.bytes=1024, seed 0")
    );
    let race = ["race", "-s", "hlrc-8cu", "-w", "reduce", "--json"];
    let race = common::json(&[&race[..], &small].concat());
    assert_eq!(race["machine"]["l1.bytes"], 1024);
    let table = scratch("machine-table").join("run.csv");
    succeed(&[&changed[..], &["--out", table.to_str().unwrap()]].concat());
    assert!(fs::read_to_string(table).unwrap().contains(",machine.l1.bytes,machine.cu.scheduler,"));
}

#[test]
fn a_wrong_machine_change_is_refused_with_the_parameters() {
    let run =
        |change: &str| refused(&["run", "-s", "hlrc-8cu", "-p", "vi", "-w", "reduce", "--machine", change]);
    assert!(
        run("l1.byts=1").contains("no parameter `l1.byts`, did you mean `l1.bytes`? There are: l1.bytes, ")
    );
    assert!(run("l1.bytes=big").contains("`l1.bytes=big`: found the text \"big\", expected a whole number"));
    assert!(run("l1.bytes=100").contains("`l1.bytes`: an L1 of 100 bytes, expected a multiple"));
    assert!(run("l1.bytes").contains("expected KEY=VALUE, for example l1.bytes=32k"));
    assert!(run("l1.bytes=").contains("expected KEY=VALUE"));
    let replay = ["verify", "--replay", "x.trace", "--machine", "l1.bytes=1k"];
    assert!(refused(&replay).contains("--system"));
}
