//! Tests of the commands `fencepost verify --charts` and `fencepost verify --replay`.

use std::path::{Path, PathBuf};

use crate::common::fencepost;

fn finding(end: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/findings/hlrc").with_extension(end)
}

/// Makes a folder for the files of one test. Returns the path of the folder.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("it can be made");
    folder
}

#[test]
fn the_recorded_counterexample_fails_again() {
    let file = finding("trace");
    let file = file.to_str().expect("a plain name");
    let (code, out, err) = fencepost(&["verify", "--replay", file]);
    assert_eq!((code, &*err), (1, "fencepost: hlrc fails hlrc.litmus: it ends with 0:r0=0;\n"));
    let chart = std::fs::read_to_string(finding("txt")).expect("it is kept");
    assert_eq!(out, format!("{chart}\nThe same fault comes out: it ends with 0:r0=0;\n"));
    let (code, out, _) = fencepost(&["verify", "--replay", file, "--json"]);
    let value: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, &value["same"], &value["protocol"]), (1, &true.into(), &"hlrc".into()));
}

#[test]
fn the_recorded_counterexample_fails_again_with_timing() {
    let file = finding("trace");
    let file = file.to_str().expect("a plain name");
    let (code, out, err) = fencepost(&["verify", "--replay", file, "--system", "hrf-8cu"]);
    assert_eq!((code, &*err), (1, "fencepost: hlrc fails hlrc.litmus: it ends with 0:r0=0;\n"));
    for part in [
        "timed, with the latencies of hrf-8cu",
        "L2[0] -> L1[0]      Grant [x]",
        "drf forbids 0:r0=0;",
        "The same fault comes out: it ends with 0:r0=0;",
    ] {
        assert!(out.contains(part), "{part} in:\n{out}");
    }
    let (code, out, _) = fencepost(&["verify", "--replay", file, "--system", "hrf-8cu", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, &value["same"], &value["system"]), (1, &true.into(), &"hrf-8cu".into()));
    let moves = value["moves"].as_array().expect("a list");
    assert_eq!((moves.len(), &moves[1]["what"]), (7, &"Register [x]".into()));
    assert!(moves.iter().all(|mv| mv["cycle"].is_u64()), "{moves:?}");
    // A machine is accepted only with --replay, and must exist.
    let (code, _, err) = fencepost(&["verify", "vi", "--system", "hrf-8cu"]);
    assert_eq!(code, 2, "{err}");
    let (code, _, err) = fencepost(&["verify", "--replay", file, "--system", "hrf-9cu"]);
    assert!(code == 2 && err.contains("hrf-8cu"), "{err}");
}

#[test]
fn a_changed_file_is_refused_with_the_move() {
    let good = std::fs::read_to_string(finding("trace")).expect("it is kept");
    let file = folder("changed").join("changed.trace");
    std::fs::write(&file, good.replacen("serve 1 0", "serve 2 0", 1)).expect("it can be written");
    let path = file.to_str().expect("a plain name");
    let (code, out, err) = fencepost(&["verify", "--replay", path, "--system", "hrf-8cu"]);
    let why = "move 3, `serve 2 0`, is not possible on the timed machine; possible: `serve 1 0`";
    assert_eq!((code, &*out, err), (2, "", format!("fencepost: {path}: {why}\n")));
}

#[test]
fn traces_of_verify_can_be_replayed() {
    let charts = folder("charts");
    let litmus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../litmus/findings/hlrc.litmus");
    let written = charts.to_str().expect("a plain name");
    let verify =
        ["verify", "hlrc", "--litmus", litmus, "--operations", "0", "--jobs", "1", "--charts", written];
    let (code, out, err) = fencepost(&verify);
    assert_eq!(code, 1, "{err}");
    assert!(out.contains("drf forbids 0:r0=0;"), "{out}");
    let file = charts.join("hlrc-1.trace");
    let (code, out, err) = fencepost(&["verify", "--replay", file.to_str().expect("a plain name")]);
    assert_eq!(code, 1, "{err}");
    assert!(out.contains("The same fault comes out"), "{out}");
    // The repaired protocol ends before the moves do. Up to there nothing
    // fails.
    let text = std::fs::read_to_string(&file).expect("it was written");
    let text = text.replace("protocol hlrc", "protocol hlrc-repaired");
    let other = charts.join("repaired.trace");
    let path = other.to_str().expect("a plain name");
    std::fs::write(&other, &text).expect("it can be written");
    let (code, out, err) = fencepost(&["verify", "--replay", path]);
    let why = "move 6, `deliver 0 1 0`, is not possible here; no move is possible";
    assert_eq!((code, &*out, err), (2, "", format!("fencepost: {path}: {why}\n")));
    let (head, moves) = text.split_once("\nmoves\n").expect("it has moves");
    let moves: Vec<&str> = moves.lines().take(5).collect();
    std::fs::write(&other, format!("{head}\nmoves\n{}\n", moves.join("\n"))).expect("it can be written");
    let (code, out, err) = fencepost(&["verify", "--replay", path]);
    assert_eq!((code, &*err), (0, ""), "{out}");
    assert!(out.contains("The counterexample no longer reproduces"), "{out}");
}

/// Makes `changes` to the text of the recorded trace, and replays the changed trace. Returns the
/// exit code, the standard output and the standard error.
fn changed(name: &str, changes: &[(&str, &str)], more: &[&str]) -> (u8, String, String) {
    let good = std::fs::read_to_string(finding("trace")).expect("it is kept");
    let text = changes.iter().fold(good, |text, (from, to)| {
        assert!(text.contains(from), "{from} in:\n{text}");
        text.replacen(from, to, 1)
    });
    let file = folder("moves").join(name);
    std::fs::write(&file, text).expect("it can be written");
    let path = file.to_str().expect("a plain name");
    let (code, out, err) = fencepost(&[&["verify", "--replay", path], more].concat());
    (code, out, err.replace(path, "FILE"))
}

#[test]
fn moves_that_do_not_fit_are_bad_input() {
    let refused = [("serve 1 0", "serve 2 0")];
    let timed = ["--system", "hrf-8cu"];
    let not_open = "fencepost: FILE: move 3, `serve 2 0`, is not possible here; possible now: `serve 1 0`\n";
    assert_eq!(changed("refused", &refused, &[]), (2, String::new(), not_open.to_owned()));
    let (code, out, _) = changed("refused", &refused, &timed);
    assert_eq!((code, &*out), (2, ""));
    let good = std::fs::read_to_string(finding("trace")).expect("it is kept");
    let (head, _) = good.split_once("moves\n").expect("it has moves");
    let short = [(&*good, &*format!("{head}moves\nissue 0\n"))];
    let (code, out, err) = changed("short", &short, &[]);
    assert_eq!((code, &*out, &*err), (2, "", "fencepost: FILE: the moves end before the program does\n"));
    let (code, out, err) = changed("short", &short, &timed);
    let goes_on =
        "fencepost: FILE: the timed run has not ended after the last move; possible now: `deliver 0 1 0`\n";
    assert_eq!((code, &*out, &*err), (2, "", goes_on));
}

#[test]
fn a_fault_of_another_kind_is_a_fault() {
    // The moves lead to a forbidden outcome, but the file names a deadlock.
    let (code, out, err) = changed("other", &[("fault Outcome", "fault Deadlock")], &[]);
    assert_eq!((code, &*err), (1, "fencepost: hlrc fails hlrc.litmus: it ends with 0:r0=0;\n"));
    assert!(out.contains("Another fault comes out: it ends with 0:r0=0;"), "{out}");
}

#[test]
fn all_runs_are_explored_within_the_memory_limit() {
    let (code, out, err) = changed("live", &[("fault Outcome", "fault Livelock")], &["--memory", "1K"]);
    assert_eq!((code, &*out), (1, ""), "{err}");
    assert!(err.contains("the replay is incomplete") && err.contains("1024 bytes"), "{err}");
    let (code, _, err) = changed("live", &[("fault Outcome", "fault Livelock")], &["--system", "hrf-8cu"]);
    assert!(code == 2 && err.contains("a finding about all runs"), "{err}");
    for more in [&["--operations", "2"][..], &["--no-symmetry"], &["--jobs", "2"]] {
        let (code, out, err) = changed("meaningless", &[], more);
        assert!(code == 2 && out.is_empty() && err.contains("cannot be used with"), "{err}");
    }
}

#[test]
fn a_file_that_is_no_trace_is_bad_input_with_its_line() {
    let good = std::fs::read_to_string(finding("trace")).expect("it is kept");
    let file = folder("bad").join("bad.trace");
    let path = file.to_str().expect("a plain name");
    let cases = [
        (
            "fencepost trace 1",
            "fencepost trace 9",
            ":1: found `fencepost trace 9`, expected `fencepost trace 1`",
        ),
        ("protocol hlrc", "protocol hlrx", "there is no protocol 'hlrx', did you mean 'hlrc'?"),
        ("models drf", "models drv", "there is no model `drv`"),
        (
            "agents cu0",
            "agents cu0 cu1",
            "the placement does not fit the program: it has another number of threads, locations or widths",
        ),
        ("issue 0", "issue now", "`issue now` is no move"),
    ];
    for (from, to, what) in cases {
        std::fs::write(&file, good.replacen(from, to, 1)).expect("it can be written");
        let (code, out, err) = fencepost(&["verify", "--replay", path]);
        assert_eq!((code, &*out), (2, ""), "{err}");
        assert!(err.contains(what) && err.lines().count() == 1, "{err}");
    }
    let (code, _, err) = fencepost(&["verify", "--replay", "no-such-file.trace"]);
    assert_eq!(code, 2);
    assert!(err.contains("cannot read no-such-file.trace"), "{err}");
}
