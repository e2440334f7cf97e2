//! `fencepost verify --charts` and `--replay` as a person types them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

fn run(arguments: &[&str]) -> (u8, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let arguments = std::iter::once("fencepost").chain(arguments.iter().copied()).map(OsString::from);
    let code = fencepost::run(arguments, &mut out, &mut err);
    (code, String::from_utf8(out).expect("text"), String::from_utf8(err).expect("text"))
}

fn finding(end: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/findings/hlrc").with_extension(end)
}

/// A folder of its own for a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("it can be made");
    folder
}

#[test]
fn the_kept_counterexample_fails_again() {
    let file = finding("trace");
    let file = file.to_str().expect("a plain name");
    let (code, out, err) = run(&["verify", "--replay", file]);
    assert_eq!((code, &*err), (1, "fencepost: hlrc fails hlrc.litmus: it ends with 0:r0=0;\n"));
    let chart = std::fs::read_to_string(finding("txt")).expect("it is kept");
    assert_eq!(out, format!("{chart}\nThe same fault comes out: it ends with 0:r0=0;\n"));
    let (code, out, _) = run(&["verify", "--replay", file, "--json"]);
    let value: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, &value["same"], &value["protocol"]), (1, &true.into(), &"hlrc".into()));
}

#[test]
fn the_kept_counterexample_fails_again_with_the_timing() {
    let file = finding("trace");
    let file = file.to_str().expect("a plain name");
    let (code, out, err) = run(&["verify", "--replay", file, "--system", "hrf-8cu"]);
    assert_eq!((code, &*err), (1, "fencepost: hlrc fails hlrc.litmus: it ends with 0:r0=0;\n"));
    for part in [
        "timed, with the latencies of hrf-8cu",
        "L2[0] -> L1[0]      Grant [x]",
        "drf forbids 0:r0=0;",
        "The same fault comes out: it ends with 0:r0=0;",
    ] {
        assert!(out.contains(part), "{part} in:\n{out}");
    }
    let (code, out, _) = run(&["verify", "--replay", file, "--system", "hrf-8cu", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((code, &value["same"], &value["system"]), (1, &true.into(), &"hrf-8cu".into()));
    let moves = value["moves"].as_array().expect("a list");
    assert_eq!((moves.len(), &moves[1]["what"]), (7, &"Register [x]".into()));
    assert!(moves.iter().all(|mv| mv["cycle"].is_u64()), "{moves:?}");
    // A machine is for replaying only, and must be one.
    let (code, _, err) = run(&["verify", "vi", "--system", "hrf-8cu"]);
    assert_eq!(code, 2, "{err}");
    let (code, _, err) = run(&["verify", "--replay", file, "--system", "hrf-9cu"]);
    assert!(code == 2 && err.contains("hrf-8cu"), "{err}");
}

#[test]
fn a_changed_file_is_refused_with_the_move() {
    let good = std::fs::read_to_string(finding("trace")).expect("it is kept");
    let file = folder("changed").join("changed.trace");
    std::fs::write(&file, good.replacen("serve 1 0", "serve 2 0", 1)).expect("it can be written");
    let path = file.to_str().expect("a plain name");
    let (code, out, err) = run(&["verify", "--replay", path, "--system", "hrf-8cu"]);
    let why = "move 3, `serve 2 0`, cannot be made by the timed machine; open is `serve 1 0`";
    assert_eq!((code, &*out, err), (2, "", format!("fencepost: {path}: {why}\n")));
}

#[test]
fn what_verify_writes_can_be_replayed() {
    let charts = folder("charts");
    let litmus = finding("litmus");
    let litmus = litmus.to_str().expect("a plain name");
    let written = charts.to_str().expect("a plain name");
    let verify =
        ["verify", "hlrc", "--litmus", litmus, "--operations", "0", "--jobs", "1", "--charts", written];
    let (code, out, err) = run(&verify);
    assert_eq!(code, 1, "{err}");
    assert!(out.contains("drf forbids 0:r0=0;"), "{out}");
    let file = charts.join("hlrc-1.trace");
    let (code, out, err) = run(&["verify", "--replay", file.to_str().expect("a plain name")]);
    assert_eq!(code, 1, "{err}");
    assert!(out.contains("The same fault comes out"), "{out}");
    // The repaired protocol does not fail in that way.
    let text = std::fs::read_to_string(&file).expect("it was written");
    let other = charts.join("repaired.trace");
    std::fs::write(&other, text.replace("protocol hlrc", "protocol hlrc-repaired"))
        .expect("it can be written");
    let (code, out, err) = run(&["verify", "--replay", other.to_str().expect("a plain name")]);
    assert_eq!((code, &*err), (0, ""), "{out}");
    assert!(out.contains("Another end"), "{out}");
}

#[test]
fn a_file_that_is_none_is_bad_input_with_its_line() {
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
        ("agents cu0", "agents cu0 cu1", "the placement is of another program"),
        ("issue 0", "issue now", "`issue now` is no move"),
    ];
    for (from, to, what) in cases {
        std::fs::write(&file, good.replacen(from, to, 1)).expect("it can be written");
        let (code, out, err) = run(&["verify", "--replay", path]);
        assert_eq!((code, &*out), (2, ""), "{err}");
        assert!(err.contains(what) && err.lines().count() == 1, "{err}");
    }
    let (code, _, err) = run(&["verify", "--replay", "no-such-file.trace"]);
    assert_eq!(code, 2);
    assert!(err.contains("cannot read no-such-file.trace"), "{err}");
}
