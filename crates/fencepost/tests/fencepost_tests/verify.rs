//! Tests of the command `fencepost verify`: its output, its files, and interruptions.

use std::fs;

use serde_json::Value;

use crate::common::{fencepost, scratch};

fn verify(args: &[&str]) -> (u8, String, String) {
    fencepost(&[&["verify"], args].concat())
}

/// The path of a file or a folder of the repository.
fn shipped(path: &str) -> String {
    format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))
}

/// The arguments of `fencepost verify` for one shipped test, without generated programs.
fn with_one_test<'a>(test: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    ["--litmus", test, "--operations", "0"].iter().chain(more).copied().collect()
}

#[test]
fn a_record_survives_those_of_other_protocols_and_interrupted_runs() {
    let (test, folder) = (shipped("litmus/caches/told-where.litmus"), scratch("verify-record"));
    let file = folder.join("record.toml");
    let file = file.to_str().unwrap();
    let text = || fs::read_to_string(file).unwrap();
    for protocol in ["vi", "no-l1"] {
        let (code, _, err) = verify(&with_one_test(&test, &[protocol, "--record", file]));
        assert_eq!((code, &*err), (0, ""));
    }
    let full = text();
    assert!(full.contains("protocol = \"vi\"") && full.contains("protocol = \"no-l1\""), "{full}");
    let page = fs::read_to_string(folder.join("record.md")).unwrap();
    assert!(page.contains("[record.toml](record.toml)"), "{page}");
    assert!(page.contains("\n| `vi` | ") && page.contains("\n| `no-l1` | "), "{page}");
    // A run without time keeps all records.
    let cut_off = ["--all", "--timeout", "0.001", "--record", file];
    let (code, out, err) = verify(&with_one_test(&test, &cut_off));
    assert_eq!(code, 1, "{err}");
    assert!(out.starts_with("vi: ") && !out.contains("no-l1: "), "{out}");
    assert!(
        err.contains("there was no time for vi-targeted, ") || err.contains("there was no time for no-l1, "),
        "{err}"
    );
    assert_eq!(text(), full);
    // A run of the same tests and options leaves out the recorded protocols.
    let resumed = ["--all", "--timeout", "0.001", "--record", file, "--resume"];
    let (_, out, _) = verify(&with_one_test(&test, &resumed));
    assert!(out.starts_with(&format!("left out: vi, no-l1 (recorded in {file})\nvi-targeted: ")), "{out}");
    let (_, out, _) = verify(&with_one_test(&test, &[&resumed[..], &["--hosts", "2"]].concat()));
    assert!(out.starts_with("vi: "), "{out}");
    assert_eq!(text(), full);
    // Notes are kept. A file with other keys is refused before anything is
    // explored.
    fs::write(file, format!("notes = [\"my note\"]\n{full}")).unwrap();
    let (code, ..) = verify(&with_one_test(&test, &["vi", "--record", file]));
    assert!(code == 0 && text().contains("my note"), "{}", text());
    fs::write(file, "nothing = 1\n").unwrap();
    let (code, out, err) = verify(&with_one_test(&test, &["vi", "--record", file]));
    assert_eq!((code, &*out), (2, ""));
    assert!(err.contains("record.toml: ") && err.contains("unknown field `nothing`"), "{err}");
    assert_eq!(text(), "nothing = 1\n");
    // The page may not replace the records.
    let page = folder.join("own.md");
    let (code, _, err) = verify(&with_one_test(&test, &["vi", "--record", page.to_str().unwrap()]));
    assert!(code == 2 && err.contains("own.md: the name of a page, expected"), "{err}");
    assert!(!page.exists());
    // A device or a folder is refused, because its text may have no end.
    for no_file in ["/dev/zero", folder.to_str().unwrap()] {
        let (code, out, err) = verify(&with_one_test(&test, &["vi", "--record", no_file]));
        assert_eq!(
            (code, &*out, &*err),
            (2, "", &*format!("fencepost: {no_file}: the path is not a file\n"))
        );
    }
}

#[test]
fn an_unknown_protocol_is_refused_with_the_known_ones() {
    let (code, out, err) = verify(&["no-such-thing"]);
    assert_eq!((code, &*out), (2, ""));
    assert!(err.starts_with("fencepost: there is no protocol 'no-such-thing', expected one of "), "{err}");
    assert!(err.contains("vi, ") && err.contains("hlrc-repaired"), "{err}");
    assert!(verify(&["hlrk"]).2.contains("did you mean 'hlrc'?"));
}

#[test]
fn too_little_memory_is_refused() {
    for memory in ["0", "1", "1023", "much", "99999999999G"] {
        let (code, out, err) = verify(&["vi", "--memory", memory]);
        assert_eq!((code, &*out), (2, ""), "{memory}");
        assert!(err.contains("expected a number of bytes, at least 1K"), "{err}");
    }
}

#[test]
fn the_folder_of_charts_exists_early_and_holds_only_this_run() {
    let (found, folder) = (shipped("litmus/findings/hlrc.litmus"), scratch("verify-charts"));
    let file = folder.join("file");
    fs::write(&file, "mine").unwrap();
    let (code, out, err) = verify(&with_one_test(&found, &["hlrc", "--charts", file.to_str().unwrap()]));
    assert_eq!((code, &*out), (2, ""), "{err}");
    assert!(err.contains("cannot make the folder"), "{err}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    let charts = folder.join("charts");
    let written = || {
        let mut names: Vec<String> = fs::read_dir(&charts)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let run_for = |seconds| {
        let args = ["hlrc", "--timeout", seconds, "--charts", charts.to_str().unwrap()];
        verify(&with_one_test(&found, &args)).0
    };
    let run = || run_for("600");
    assert_eq!(run(), 1);
    let first = written();
    assert!(first.contains(&String::from("hlrc-1.svg")), "{first:?}");
    let beyond = first.len() / 3 + 1;
    for end in ["trace", "txt", "svg"] {
        fs::write(charts.join(format!("hlrc-{beyond}.{end}")), "of an earlier run").unwrap();
    }
    fs::write(charts.join("notes.txt"), "mine").unwrap();
    let all = written();
    assert_eq!(run_for("0.001"), 1);
    assert_eq!(written(), all, "a run that was broken off removes nothing");
    assert_eq!(run(), 1);
    let mut expected = first;
    expected.push(String::from("notes.txt"));
    assert_eq!(written(), expected);
}

/// The output has the verdict on the protocol first, then the findings against the protocol, then
/// the coverage.
#[test]
fn the_verdict_comes_first() {
    let found = shipped("litmus/findings/hlrc.litmus");
    let (code, out, _) = verify(&with_one_test(&found, &["hlrc"]));
    assert_eq!(code, 1);
    let at = |text: &str| out.find(text).unwrap_or_else(|| panic!("no `{text}` in\n{out}"));
    assert_eq!(at("hlrc: drf refuted, opencl refuted\n"), 0);
    let chart = at("L1[0]     L2[0]");
    let order =
        [chart, at("drf forbids"), at("Also found"), at("1 test, "), at("rows fired"), at("not reached: ")];
    assert!(order.is_sorted(), "{order:?}\n{out}");
    assert_eq!(out.matches("L1[0]     L2[0]").count(), 1, "one chart refutes both claims:\n{out}");
    assert_eq!(out.matches("  opencl: ").count(), 2, "the other findings have one line each:\n{out}");
    let (_, json, _) = verify(&with_one_test(&found, &["hlrc", "--json"]));
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["violations"].as_array().unwrap().len(), 3);
    // A state has at least one word.
    assert!(report["state_bytes"].as_u64() >= report["states"].as_u64().map(|states| 4 * states), "{report}");
}

#[test]
fn a_sample_is_called_one_and_is_the_same_for_a_seed() {
    let test = shipped("litmus/caches/told-where.litmus");
    let sampled = |seed| {
        let (code, out, _) =
            verify(&with_one_test(&test, &["vi", "--sample", "10", "--seed", seed, "--json"]));
        let report: Value = serde_json::from_str(&out).unwrap();
        assert_eq!((code, &report["complete"]), (0, &Value::Bool(true)));
        assert_eq!(report["sample"]["programs"], 10);
        assert!(report["tests"].as_u64().unwrap() > 10, "{report}");
        report["states"].as_u64().unwrap()
    };
    assert_eq!(sampled("5"), sampled("5"));
    assert_ne!(sampled("5"), sampled("6"));
    let (code, out, _) = verify(&with_one_test(&test, &["vi", "--sample", "10"]));
    let sampled =
        "10 tests in which synchronization orders data, and some other tests, are random samples from";
    assert!(code == 0 && out.contains(&format!("{sampled} seed 0")), "{out}");
    let (code, _, err) = verify(&with_one_test(&test, &["vi", "--seed", "5"]));
    assert!(code == 2 && err.contains("--sample <N>"), "{err}");
}

#[test]
fn seeded_faults_are_counted_and_survivors_fail_the_check() {
    let test = shipped("litmus/caches/told-where.litmus");
    let (code, out, err) = verify(&with_one_test(&test, &["no-l1", "--mutants", "--json"]));
    assert_eq!(code, 1);
    assert!(err.starts_with("fencepost: no-l1: of its mutants "), "{err}");
    let report: Value = serde_json::from_str(&out).unwrap();
    let mutants = &report["mutants"];
    let count = |key: &str| mutants[key].as_array().unwrap().len();
    assert_eq!(mutants["killed"].as_u64().unwrap() as usize, count("kills"));
    assert_eq!(
        mutants["total"].as_u64().unwrap() as usize,
        count("kills") + count("survivors") + count("undecided")
    );
    assert!(count("kills") > 5 && count("survivors") > 5 && count("undecided") == 0, "{mutants}");
    let kill = mutants["kills"][0]["by"].as_str().unwrap();
    assert!(kill.contains("told-where.litmus: "), "{kill}");
    let named = |options: &[&str]| {
        let (_, out, _) = verify(&with_one_test(&test, &[&["no-l1", "--mutants"], options].concat()));
        out.matches("    unreached: ").count()
    };
    assert_eq!((named(&[]), named(&["--explain"])), (0, count("unreached")));
    assert!(count("unreached") > 0, "{mutants}");
}

#[test]
fn a_text_for_mutants_selects_the_protocols_that_have_such_mutants() {
    let test = shipped("litmus/caches/told-where.litmus");
    let (_, out, _) = verify(&with_one_test(&test, &["--all", "--mutants=Conflict in Idle", "--json"]));
    let reports: Vec<Value> = serde_json::from_str(&out).unwrap();
    let names: Vec<&str> = reports.iter().map(|report| report["protocol"].as_str().unwrap()).collect();
    assert!(names.contains(&"stc-ab") && names.iter().all(|name| name.starts_with("stc-")), "{names:?}");
    for (protocol, of) in [("--all", "any protocol"), ("vi", "vi")] {
        let (code, out, err) = verify(&with_one_test(&test, &[protocol, "--mutants=No Such"]));
        let why = format!("fencepost: no mutant of {of} has a name that contains 'No Such'\n");
        assert_eq!((code, out, err), (2, String::new(), why));
    }
}

#[test]
fn a_search_at_its_limit_is_incomplete() {
    let fig6 = shipped("litmus/hrf/fig6.litmus");
    let (code, out, err) = verify(&with_one_test(&fig6, &["vi", "--memory", "1K"]));
    assert_eq!(code, 1);
    assert!(
        out.starts_with("vi: hrf-indirect incomplete") && out.contains("not covered: the search needs"),
        "{out}"
    );
    assert!(err.contains("vi: the verification is incomplete: "), "{err}");
    for (option, value) in [("--jobs", "0"), ("--jobs", "100000"), ("--memory", "0"), ("--timeout", "-1")] {
        let (code, out, err) = verify(&["vi", &format!("{option}={value}")]);
        assert_eq!((code, &*out), (2, ""), "{option} {value}: {err}");
        assert!(err.contains(option), "{err}");
    }
}

/// After Ctrl-C, the command prints the coverage so far, with the status `incomplete`.
#[cfg(unix)]
#[test]
fn an_interrupt_reports_the_coverage() {
    use std::process::{Command, Stdio};
    use std::time::Duration;

    let mut run = Command::new(env!("CARGO_BIN_EXE_fencepost"));
    run.args(["verify", "--all", "--operations", "4", "--json"]);
    let mut child = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(4));
    assert!(child.try_wait().unwrap().is_none(), "it is explored by then");
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("stopped before the end") && err.contains("there was no time for "), "{err}");
    let reports: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = reports.to_string();
    assert!(text.contains("\"incomplete\"") && !text.contains("\"verified\""), "{text}");
}

#[test]
fn a_test_that_races_under_a_claim_is_reported_as_no_evidence() {
    let test = shipped("litmus/c11/SB.litmus");
    let (code, out, err) = verify(&with_one_test(&test, &["vi"]));
    assert_eq!(code, 1, "{out}");
    let why = "the test races under hrf-indirect, which does not define relaxed atomics (here they are read as \
               data), so the test proves nothing for hrf-indirect";
    assert!(out.starts_with("vi: hrf-indirect incomplete, "), "{out}");
    assert!(out.contains(&format!("  not proved: {why}\n")), "{out}");
    assert!(err.starts_with(&format!("fencepost: vi: {why}")), "{err}");
    assert!(!err.contains("the verification is incomplete"), "{err}");
    let (code, out, _) = verify(&with_one_test(&test, &["vi", "--json"]));
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &report["complete"]), (1, &Value::Bool(false)));
    assert_eq!(report["claims"][0]["status"], "incomplete");
    assert_eq!(report["unproved"][0], why);
    let (_, out, _) = verify(&with_one_test(&test, &["vi", "--chiplets", "2", "--json"]));
    let on_two: Value = serde_json::from_str(&out).unwrap();
    let covers = |report: &Value, what: &str| {
        report["dimensions"]["covered"].as_array().unwrap().iter().any(|covered| covered == what)
    };
    assert!(covers(&report, "1 chiplet") && covers(&on_two, "2 chiplets"));
    assert!(!report["dimensions"]["not_covered"].as_array().unwrap().is_empty());
    assert!(on_two["runs"].as_u64() > report["runs"].as_u64());
}

#[test]
fn kernels_hosts_and_preemptions_are_dimensions_of_a_verification() {
    let test = shipped("litmus/c11/MP+ra.litmus");
    let report = |more: &[&str]| -> Value {
        let (_, out, _) = verify(&with_one_test(&test, &[&["vi", "--json"], more].concat()));
        serde_json::from_str(&out).unwrap()
    };
    let names = |report: &Value, which: &str| -> Vec<String> {
        let names = report["dimensions"][which].as_array().unwrap().iter();
        names.map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    let plain = report(&[]);
    for (option, name) in [
        ("--kernels", "several kernels in one program"),
        ("--hosts", "several hosts"),
        ("--preemptions", "preemption of work-groups"),
    ] {
        let two = report(&[option, "2"]);
        assert!(names(&plain, "not_covered").contains(&name.to_owned()), "{plain}");
        assert!(names(&two, "covered").contains(&format!("{name}, up to 2")), "{two}");
        assert_eq!(two["violations"].as_array().unwrap().len(), 0, "{two}");
        assert!(two["states"].as_u64() > plain["states"].as_u64(), "{option}");
    }
}

#[test]
fn a_protocol_that_needs_fifo_channels_is_refuted_without_them() {
    let test = shipped("litmus/caches/written-then-loaded.litmus");
    let (code, out, err) = verify(&with_one_test(&test, &["vi"]));
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("not covered: ") && out.contains("; channels without order"), "{out}");
    let (code, out, err) = verify(&with_one_test(&test, &["vi", "--unordered"]));
    assert_eq!(code, 1, "{out}{err}");
    assert!(
        out.contains("Access overtakes Write [x] and reaches L2[0], which does not hold the line"),
        "{out}"
    );
    assert!(out.contains("evictions at any time; channels without order"), "{out}");
}

#[test]
fn a_vulkan_test_is_omitted_and_refutes_no_claim() {
    let test = shipped("litmus/vulkan/barrier-bare.litmus");
    let (code, out, err) = verify(&with_one_test(&test, &["vi"]));
    assert_eq!(code, 1, "{out}");
    assert!(
        out.contains("tests left out, because no machine can run them: no protocol makes writes available"),
        "{out}"
    );
    assert!(!out.contains("refuted") && !out.contains("verified"), "{out}{err}");
}
