//! Tests of `fencepost litmus`: results in the format of herd, JSON, tables of expectations,
//! limits, and unusual files.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::common::scratch;

const STORE_BUFFERING: &str = "C SB
{}
P0(atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_relaxed);
  int r0 = atomic_load_explicit(y, memory_order_relaxed);
}
P1(atomic_int* x, atomic_int* y) {
  atomic_store_explicit(y, 1, memory_order_relaxed);
  int r0 = atomic_load_explicit(x, memory_order_relaxed);
}
exists (0:r0=0 /\\ 1:r0=0)
";

const MESSAGE: &str = "OPENCL message
{ [x]=0; [f]=0; }
P0@wg 0, dev 0 (global int* x, global atomic_int* f) {
  *x = 1;
  atomic_store_explicit(f, 1, memory_order_release, memory_scope_work_group);
}
P1@wg 1, dev 0 (global int* x, global atomic_int* f) {
  int r0 = atomic_load_explicit(f, memory_order_acquire, memory_scope_work_group);
  if (r0 == 1) { int r1 = *x; }
}
exists (1:r0=1)
";

/// A test with a loop of 1000 iterations: more than the maximum number that a check explores.
const COUNTS: &str = "C counts
{}
P0(atomic_int* x) {
  int i = 0;
  while (i < 1000) { atomic_store_explicit(x, i, memory_order_seq_cst); i = i + 1; }
}
exists (x=7)
";

/// A test with too many exchanges for an exhaustive search.
fn endless() -> String {
    let threads = (0..5).map(|t| {
        let ops = (0..5).map(|n| {
            let word = ["x", "y"][(t + n) % 2];
            format!(
                "  int r{n} = atomic_exchange_explicit({word}, {}, memory_order_relaxed);\n",
                t * 5 + n + 1
            )
        });
        format!("P{t}(atomic_int* x, atomic_int* y) {{\n{}}}\n", ops.collect::<String>())
    });
    format!("C endless\n{{}}\n{}exists (0:r0=1)\n", threads.collect::<String>())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn ours(test: &str) -> String {
    root().join("litmus").join(test).to_str().unwrap().to_owned()
}

fn put(folder: &Path, name: &str, text: impl AsRef<[u8]>) -> String {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Runs `fencepost litmus`. Returns the exit code, the standard output and the standard error.
fn litmus(args: &[&str]) -> (u8, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let all = ["fencepost", "litmus"].iter().chain(args).map(OsString::from);
    let code = fencepost::run(all, &mut out, &mut err);
    (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

fn succeed(args: &[&str]) -> String {
    let (code, out, err) = litmus(args);
    assert_eq!((code, err.as_str()), (0, ""), "{args:?}");
    out
}

fn json(args: &[&str]) -> (u8, Vec<Value>) {
    let (code, out, _) = litmus(&[args, &["--json"]].concat());
    let value: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"));
    (code, value.as_array().unwrap().clone())
}

/// Runs `fencepost litmus` and checks that it refuses bad input and prints nothing else. Returns
/// the error message.
fn refused(args: &[&str]) -> String {
    let (code, out, err) = litmus(args);
    assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
    err.trim_end().to_owned()
}

#[test]
fn the_block_equals_that_of_herd() {
    let folder = scratch("litmus/block");
    let test = put(&folder, "SB.litmus", STORE_BUFFERING);
    let tso = "Test SB Allowed
States 4
0:r0=0; 1:r0=0;
0:r0=0; 1:r0=1;
0:r0=1; 1:r0=0;
0:r0=1; 1:r0=1;
Ok
Witnesses
Positive: 1 Negative: 3
Condition exists (0:r0=0 /\\ 1:r0=0)
Observation SB Sometimes 1 3
";
    // Herd prints the time and the hash after the block.
    let block = |model: &str| {
        let text = succeed(&[&test, "--model", model]);
        let (block, hash) = text.trim_end().rsplit_once('\n').unwrap();
        let digest = hash.strip_prefix("Hash=").unwrap_or_else(|| panic!("{hash}"));
        assert!(digest.len() == 32 && digest.bytes().all(|b| b.is_ascii_hexdigit()), "{hash}");
        format!("{block}\n")
    };
    assert_eq!(block("tso"), tso);
    let sc = "Test SB Allowed
States 3
0:r0=0; 1:r0=1;
0:r0=1; 1:r0=0;
0:r0=1; 1:r0=1;
No
Witnesses
Positive: 0 Negative: 3
Condition exists (0:r0=0 /\\ 1:r0=0)
Observation SB Never 0 3
";
    assert_eq!(block("sc"), sc);
}

#[test]
fn the_hash_is_that_of_the_header_or_of_the_code() {
    let folder = scratch("litmus/hash");
    let hash = |name: &str, text: &str| {
        let test = put(&folder, name, text);
        let text = succeed(&[&test, "--model", "sc"]);
        text.lines().find_map(|line| line.strip_prefix("Hash=")).unwrap().to_owned()
    };
    let own = hash("SB.litmus", STORE_BUFFERING);
    let (first, rest) = STORE_BUFFERING.split_once('\n').unwrap();
    assert_eq!(hash("given.litmus", &format!("{first}\nHash=0123456789abcdef\n{rest}")), "0123456789abcdef");
    // The description, blank lines and the condition do not affect the hash;
    // code does.
    assert_eq!(hash("blanks.litmus", &format!("{first}\n\"text\"\n\n{rest}")), own);
    assert_eq!(hash("asked.litmus", &STORE_BUFFERING.replace("exists", "~exists")), own);
    assert_ne!(hash("code.litmus", &STORE_BUFFERING.replace(", 1", ", 2")), own);
}

#[test]
fn tests_come_from_lists_and_from_standard_input() {
    let folder = scratch("litmus/lists");
    put(&folder, "SB.litmus", STORE_BUFFERING);
    put(&folder, "other", "# all of them\n\nSB.litmus\n");
    let list = put(&folder, "all", "SB.litmus\n@other\n");
    let out = succeed(&[&format!("@{list}"), "--model", "sc"]);
    assert_eq!(out.lines().filter(|line| line.starts_with("Observation SB ")).count(), 2, "{out}");
    let mut latin = STORE_BUFFERING.replacen("{}", "(* caf? *)\n{}", 1).into_bytes();
    latin.iter_mut().filter(|byte| **byte == b'?').for_each(|byte| *byte = 0xe9);
    let latin = put(&folder, "latin.litmus", latin);
    assert!(succeed(&[&latin, "--model", "sc"]).contains("Observation SB Never 0 3"));
    put(&folder, "round", "@round\n");
    let error = refused(&[&format!("@{}/round", folder.display()), "--model", "sc"]);
    assert!(error.contains("lists are nested"), "{error}");
    let error = refused(&["@nowhere/all", "--model", "sc"]);
    assert!(error.contains("nowhere/all"), "{error}");
}

#[test]
fn models_find_their_files_variants_and_bells() {
    let folder = scratch("litmus/own");
    let test = put(&folder, "SB.litmus", STORE_BUFFERING);
    fs::create_dir_all(folder.join("lib")).unwrap();
    fs::write(folder.join("lib/order.cat"), b"(* \xe9 *) let order = po").unwrap();
    let text = "include \"order.cat\" if \"weak\" empty 0 else acyclic order | others end";
    let model = put(&folder, "own.cat", text);
    let bell = put(&folder, "own.bell", "let others = rf | co | fr");
    let lib = folder.join("lib").display().to_string();
    let base = [test.as_str(), "--model", &model, "--bell", &bell];
    let error = refused(&base);
    assert!(error.contains("own.cat:1:1: cannot include `order.cat`"), "{error}");
    let sc = succeed(&[&base[..], &["-I", &lib]].concat());
    assert!(sc.contains("Observation SB Never 0 3"), "{sc}");
    let weak = succeed(&[&base[..], &["-I", &lib, "--variant", "weak"]].concat());
    assert!(weak.contains("Observation SB Sometimes 1 3"), "{weak}");
    for option in [["-I", "lib"], ["--variant", "weak"], ["--bell", "own.bell"]] {
        let error = refused(&[&[test.as_str(), "--model", "drf"][..], &option].concat());
        assert!(error.contains(option[0]), "{error}");
    }
}

#[test]
fn macros_of_a_file_replace_the_kernels_functions() {
    let folder = scratch("litmus/macros");
    let test = put(&folder, "t.litmus", "C t\n{}\nP0(int *x) { PUT(x, 3); }\nexists (x=3)\n");
    let base = [test.as_str(), "--model", "sc"];
    let error = refused(&base);
    assert!(error.contains("`PUT`"), "{error}");
    let macros = put(&folder, "own.def", "PUT(X, V) { __store{once}(*X, V); }\n");
    let block = succeed(&[&base[..], &["--macros", &macros]].concat());
    assert!(block.contains("Observation t Always 1 0"), "{block}");
    let broken = put(&folder, "broken.def", "PUT(X, V) {\n");
    let error = refused(&[&base[..], &["--macros", &broken]].concat());
    assert!(error.contains("broken.def:2:1"), "{error}");
}

#[test]
fn an_infinite_run_is_drawn() {
    let folder = scratch("litmus/run");
    let test = "VULKAN spin\n{ flag=0; }\nP0@sg 0, wg 0, qf 0 | P1@sg 0, wg 1, qf 0 ;\nagain: | ;\n\
                ld.atom.dv.sc0 r0, flag | st.atom.dv.sc0 flag, 1 ;\nbne r0, 1, again | ;\nforall (P0:r0 == 1)\n";
    let test = put(&folder, "spin.litmus", test);
    let graph = folder.join("spin.dot");
    let file = graph.display().to_string();
    let options = ["--model", "vulkan", "--property", "liveness", "--scheduler", "hsa", "--dot", &file];
    succeed(&[&[test.as_str()][..], &options].concat());
    let drawn = fs::read_to_string(graph).unwrap();
    assert!(drawn.contains("for ever") && !drawn.contains("no execution"), "{drawn}");
}

#[test]
fn witnesses_of_a_forbidden_outcome_lack_the_outcome() {
    let folder = scratch("litmus/forbidden");
    let test = put(&folder, "SB.litmus", STORE_BUFFERING.replace("exists", "~exists"));
    for model in ["tso", "sc"] {
        let out = succeed(&[&test, "--model", model]);
        let (witnesses, seen) = if model == "tso" {
            ("Positive: 3 Negative: 1", "Sometimes 1 3")
        } else {
            ("Positive: 3 Negative: 0", "Never 0 3")
        };
        assert!(out.contains(witnesses) && out.contains(&format!("Observation SB {seen}")), "{out}");
        let (_, entries) = json(&[&test, "--model", model]);
        assert_eq!(entries[0]["positive"], 3);
    }
}

#[test]
fn liveness_depends_on_the_scheduler() {
    let spin = ours("vulkan/spin.litmus");
    let ask = ["--model", "vulkan", "--property", "liveness"];
    let fair = succeed(&[&[spin.as_str()], &ask[..]].concat());
    let block = |text: String| -> String {
        text.lines().filter(|line| !line.starts_with("Hash=")).map(|line| format!("{line}\n")).collect()
    };
    assert_eq!(block(fair), "Test spin Liveness\nScheduler fair\nOk\nObservation spin Ends\n");
    let hsa = succeed(&[&[spin.as_str()], &ask[..], &["--scheduler", "hsa"]].concat());
    assert_eq!(
        block(hsa),
        "Test spin Liveness\nScheduler hsa\nNo\nObservation spin Spins\n\nFirst:\n  P0: line 6\nThen for ever:\n  P0: line 6\n"
    );
    let (code, entries) = json(&[&[spin.as_str()], &ask[..], &["--scheduler", "obe"]].concat());
    assert_eq!(code, 0);
    assert_eq!((&entries[0]["property"], &entries[0]["scheduler"]), (&"liveness".into(), &"obe".into()));
    assert_eq!(entries[0]["verdict"], false);
    for (scheduler, expected) in [("lobe", 0), ("fair", 1)] {
        let table = ours("vulkan-liveness-lobe.csv");
        let args = [&ask[..], &["--scheduler", scheduler, "--expect", &table, "--quiet"]].concat();
        let (code, out, _) = litmus(&args);
        assert_eq!(code, expected, "{out}");
    }
    let refusal = refused(&[&spin, "--model", "vulkan", "--scheduler", "hsa"]);
    assert!(refusal.contains("--scheduler applies only with --property liveness"), "{refusal}");
    let refusal = refused(&[&spin, "--model", "drf", "--property", "liveness"]);
    assert!(refusal.contains("--property liveness needs a model"), "{refusal}");
}

#[test]
fn json_has_the_promised_keys_for_every_model() {
    let keys = ["file", "test", "model", "condition", "verdict", "states", "races", "complete", "bound"];
    let models = litmus::cat::shipped_names();
    assert_eq!(models.len(), 14);
    for model in models {
        let test = match model.name {
            "ptx-6.0" | "ptx-7.5" => ours("ptx/MP+cta.litmus"),
            "vulkan" => ours("vulkan/MP+wg.litmus"),
            "opencl" | "opencl-scoped" | "opencl-rsp" => ours("opencl/MP+wg.litmus"),
            _ => ours("c11/SB+sc.litmus"),
        };
        let (code, entries) = json(&[&test, "--model", model.name]);
        assert_eq!((code, entries.len()), (0, 1), "{}", model.name);
        for key in keys {
            assert!(entries[0].get(key).is_some(), "{}: {key}", model.name);
        }
        assert_eq!(entries[0]["file"], test.as_str());
        assert_eq!(entries[0]["model"], model.name);
        assert_eq!((&entries[0]["complete"], &entries[0]["bound"]), (&Value::from(true), &Value::Null));
        // Of these models, only TSO and RMO let loads pass stores.
        let allowed = matches!(model.name, "tso" | "rmo") && model.name != "rmo";
        assert_eq!(entries[0]["verdict"], allowed, "{}", model.name);
    }
}

#[test]
fn the_race_of_a_single_test_is_reported_and_advice_repairs_it() {
    let folder = scratch("litmus/race");
    let test = put(&folder, "message.litmus", MESSAGE);
    let out = succeed(&[&test, "--model", "hrf-indirect"]);
    for words in ["Flag heterogeneous-race", "Racy: hrf-indirect promises nothing", "line 4", "line 9"] {
        assert!(out.contains(words), "{words}: {out}");
    }
    // Device scope at both ends makes the test race-free.
    let (_, entries) = json(&[&test, "--model", "hrf-indirect", "--advise"]);
    assert_eq!(entries[0]["race_free"], false);
    assert_eq!(entries[0]["advice"]["advice"], "change");
    let sets = entries[0]["advice"]["sets"].as_array().unwrap();
    assert!(!sets.is_empty() && sets.iter().all(|set| set.as_array().unwrap().len() == 2), "{sets:?}");
    let mended = put(&folder, "mended.litmus", MESSAGE.replace("scope_work_group", "scope_device"));
    let out = succeed(&[&mended, "--model", "hrf-indirect", "--advise"]);
    assert!(out.contains("Race-free under hrf-indirect") && out.contains("No scope can be smaller"), "{out}");
    // A model in cat reports races too, with the execution.
    let out = succeed(&[&ours("c11/MP+plain-racy.litmus"), "--model", "rc11"]);
    assert!(out.contains("race") && out.contains("between"), "{out}");
}

#[test]
fn an_explanation_names_the_failed_check_or_shows_the_outcome() {
    let folder = scratch("litmus/explain");
    let test = put(&folder, "SB.litmus", STORE_BUFFERING);
    let out = succeed(&[&test, "--model", "sc", "--explain"]);
    assert!(out.contains("is not met") && out.contains("-fr->") && out.contains("-po->"), "{out}");
    let out = succeed(&[&test, "--model", "tso", "--explain"]);
    assert!(out.contains("This execution ends with 0:r0=0; 1:r0=0;"), "{out}");
    // A race-free test under HRF shows its execution as well.
    let out = succeed(&[&ours("hrf/fig2.litmus"), "--model", "hrf-direct", "--explain"]);
    assert!(out.contains("Race-free") && out.contains("This execution ends with"), "{out}");
    let (_, entries) = json(&[&test, "--model", "sc", "--explain"]);
    assert!(entries[0]["explanation"].as_str().unwrap().contains("is not met"));
}

#[test]
fn a_drawing_has_one_graph_for_each_test_under_every_model() {
    let folder = scratch("litmus/dot");
    let sb = put(&folder, "SB.litmus", STORE_BUFFERING);
    let message = put(&folder, "message.litmus", MESSAGE);
    let drawing = folder.join("out.dot");
    let draw = |args: &[&str]| {
        succeed(&[args, &["--dot", drawing.to_str().unwrap()]].concat());
        fs::read_to_string(&drawing).unwrap()
    };
    let graph = draw(&[&sb, "--model", "sc"]);
    assert!(graph.contains("refused by") && graph.contains("label=fr"), "{graph}");
    let graph = draw(&[&sb, "--model", "tso"]);
    assert!(graph.contains("0:r0=0; 1:r0=0;") && !graph.contains("refused"), "{graph}");
    let graph = draw(&[&message, "--model", "hrf-direct"]);
    assert!(graph.contains("label=\"race\""), "{graph}");
    let graph = draw(&[&ours("hrf/fig2.litmus"), "--model", "hrf-direct"]);
    assert!(graph.contains("label=rf"), "{graph}");
    let graphs = draw(&[&ours("hrf"), "--model", "hrf-direct", "--quiet"]);
    assert_eq!(graphs.matches("digraph").count(), 15, "one for each test");
    assert_eq!(graphs.matches('{').count(), graphs.matches('}').count());
    let sentence = refused(&[&sb, "--model", "sc", "--dot", folder.to_str().unwrap()]);
    assert!(sentence.contains("the path is a folder"), "{sentence}");
}

#[test]
fn a_folder_prints_the_same_whatever_the_number_of_jobs() {
    let one = succeed(&[&ours("c11"), "--model", "rc11", "--jobs", "1"]);
    let many = succeed(&[&ours("c11"), "--model", "rc11", "--jobs", "7"]);
    assert_eq!(one, many);
    let tests: Vec<&str> = one.lines().filter_map(|line| line.strip_prefix("Test ")).collect();
    assert_eq!(tests.len(), 26);
    let (_, entries) = json(&[&ours("c11"), "--model", "rc11"]);
    let files: Vec<&str> = entries.iter().map(|entry| entry["file"].as_str().unwrap()).collect();
    assert!(files.is_sorted() && files[0].ends_with("c11/2+2W+rel.litmus"), "{files:?}");
    assert_eq!(one.lines().filter(|line| line.starts_with("Observation ")).count(), 26);
    let summary = one.lines().last().unwrap();
    assert!(summary.starts_with("26 tests under rc11: "), "{summary}");
}

#[test]
fn broken_files_in_a_folder_are_reported_and_the_others_still_run() {
    let folder = scratch("litmus/mixed");
    put(&folder, "a/SB.litmus", STORE_BUFFERING);
    put(&folder, "b/cut.litmus", &STORE_BUFFERING[..80]);
    put(&folder, "b/empty.litmus", "");
    put(&folder, "c/binary.litmus", b"C x\n\xff\xfe\x00");
    put(&folder, "d/notes.txt", "no test");
    put(&folder, "e/strange.litmus", "X86 SB\n{}\n");
    put(&folder, "z.litmus", STORE_BUFFERING.replace("C SB", "C Z"));
    let args = [folder.to_str().unwrap(), "--model", "sc"];
    let (code, out, err) = litmus(&args);
    assert_eq!(code, 2);
    assert!(out.contains("Test SB Allowed") && out.contains("Test Z Allowed"), "{out}");
    assert!(out.ends_with("6 tests under sc: 0 met, 2 not met, 4 not checked\n"), "{out}");
    for (place, found) in [
        ("b/cut.litmus:4:", "expected"),
        ("b/empty.litmus:1:1:", "expected"),
        ("c/binary.litmus:2:1:", "0xff"),
        ("e/strange.litmus:1:1:", "found `X86`, expected"),
    ] {
        assert!(err.lines().any(|line| line.contains(place) && line.contains(found)), "{place} in {err}");
    }
    let (code, entries) = json(&args);
    assert_eq!((code, entries.len()), (2, 6));
    assert_eq!(entries[0]["verdict"], false);
    for entry in &entries[1..5] {
        assert!(entry["verdict"].is_null() && entry["complete"] == false && entry["error"].is_string());
    }
}

#[test]
fn bad_input_is_refused_with_its_place_and_the_expected_text() {
    let folder = scratch("litmus/bad");
    let sb = put(&folder, "SB.litmus", STORE_BUFFERING);
    let cases: &[(&[&str], &[&str])] = &[
        (&[&sb, "--model", "rc1"], &["rc1", "did you mean `rc11`"]),
        (&[&sb, "--model", "power"], &["power", "expected one of", ".cat"]),
        (&[&sb, "--model", "none.cat"], &["cannot read none.cat"]),
        (&["nowhere.litmus", "--model", "sc"], &["cannot read nowhere.litmus"]),
        (&[folder.to_str().unwrap(), "--model", "sc", "--so", "all"], &["--so applies to", "`sc`"]),
        (&[&sb, "--model", "rc11", "--advise"], &["--advise applies to"]),
        (&[&sb, "--model", "hrf-direct"], &["SB.litmus:4:3: ", "relaxed", "--relaxed-as"]),
        (&[&sb, "--model", "sc", "--unroll", "0"], &["--unroll"]),
        (&[&sb, "--model", "sc", "--timeout", "soon"], &["expected a number of seconds"]),
        (&[&sb, "--model", "sc", "--timeout", "-1"], &["-1"]),
        (&[&sb, "--model", "sc", "--jobs", "0"], &["--jobs"]),
        (&[&sb, "--model", "sc", "--expect-race-free", "t.csv"], &["defines no races"]),
        (&[&sb, "--model", "sc", "--expect", "none.csv"], &["cannot read none.csv"]),
        (&[&sb], &["--model"]),
        (&["--model", "sc"], &["FILE|DIR"]),
    ];
    for (args, words) in cases {
        let sentence = refused(args);
        for word in *words {
            assert!(sentence.contains(word), "{word} in {sentence}");
        }
    }
    fs::create_dir(folder.join("empty")).unwrap();
    let sentence = refused(&[folder.join("empty").to_str().unwrap(), "--model", "sc"]);
    assert!(sentence.contains("no *.litmus file"), "{sentence}");
}

#[test]
fn a_user_model_may_include_files_and_its_errors_have_a_place() {
    let folder = scratch("litmus/model");
    let sb = put(&folder, "SB.litmus", STORE_BUFFERING);
    put(&folder, "part.cat", "let through = rf | co | fr\n");
    let model = put(&folder, "mine.cat", "\"mine\"\ninclude \"part.cat\"\nacyclic po | through as order\n");
    let out = succeed(&[&sb, "--model", &model]);
    assert!(out.contains("Observation SB Never 0 3"), "{out}");
    let weak = put(&folder, "weak.cat", "\"weak\"\nacyclic rf | co as order\n");
    assert!(succeed(&[&sb, "--model", &weak]).contains("Observation SB Sometimes 1 3"));
    // A built-in model can be included.
    let more = put(&folder, "more.cat", "\"more\"\ninclude \"sc.cat\"\n");
    assert!(succeed(&[&sb, "--model", &more]).contains("Observation SB Never 0 3"));
    for (text, place, words) in [
        ("\"m\"\nacyclic po |\n", "bad.cat:3:1", "expected"),
        ("\"m\"\nlet a = 1\n", "bad.cat:2:9", "not defined"),
        ("\"m\"\nacyclic nothing as a\n", "bad.cat:2:9", "nothing"),
        ("\"m\"\nacyclic sync_barrier as a\n", "bad.cat:2:9", "sync_barrier"),
        ("\"m\"\nlet rec r = ~r\nacyclic r as a\n", "bad.cat:2:", "r"),
        ("\"m\"\ninclude \"gone.cat\"\n", "bad.cat:2:", "gone.cat"),
    ] {
        let bad = put(&folder, "bad.cat", text);
        let sentence = refused(&[&sb, "--model", &bad]);
        assert!(sentence.contains(place) && sentence.contains(words), "{text}: {sentence}");
    }
}

#[test]
fn expectations_that_do_not_hold_are_named_and_exit_with_1() {
    let folder = scratch("litmus/expect");
    put(&folder, "tests/SB.litmus", STORE_BUFFERING);
    put(&folder, "tests/message.litmus", MESSAGE);
    put(&folder, "tests/other.litmus", STORE_BUFFERING);
    let right = put(&folder, "right.csv", "file,verdict\ntests/SB.litmus,0\ntests/message.litmus,1\n");
    let out = succeed(&["--model", "sc", "--expect", &right, "--quiet"]);
    assert_eq!(out, "2 tests under sc: 1 met, 1 not met\n2 as expected, 0 not\n");
    let wrong = put(&folder, "wrong.csv", "tests/SB.litmus,1\ntests/message.litmus,1\n");
    let (code, out, err) = litmus(&["--model", "sc", "--expect", &wrong, "--quiet"]);
    assert_eq!(code, 1);
    assert!(out.ends_with("1 as expected, 1 not\n"), "{out}");
    let sentence = "expected that the condition is met, found that the condition is not met";
    assert!(err.contains("SB.litmus") && err.contains(sentence) && !err.contains("message"), "{err}");
    let (code, entries) = json(&["--model", "sc", "--expect", &wrong]);
    assert_eq!((code, &entries[0]["expected"], &entries[0]["verdict"]), (1, &true.into(), &false.into()));
    // Races have their own table. Both tables may be given.
    let free = put(&folder, "free.csv", "tests/message.litmus,1\n");
    let (code, _, err) = litmus(&["--model", "drf", "--expect-race-free", &free]);
    assert_eq!((code, err.as_str()), (0, ""));
    let (code, _, err) = litmus(&["--model", "hrf-direct", "--expect-race-free", &free]);
    assert!(code == 1 && err.contains("expected no race, found a race"), "{err}");
    // A folder with a table gives the tests in the table. The number of other
    // tests is reported.
    let tests = folder.join("tests");
    let out = succeed(&[tests.to_str().unwrap(), "--model", "sc", "--expect", &right]);
    assert!(
        out.contains("left out, absent from the table of expectations: 1 test of the folders")
            && !out.contains("Test other"),
        "{out}"
    );
    let out = succeed(&[tests.join("SB.litmus").to_str().unwrap(), "--model", "sc", "--expect", &right]);
    assert!(
        out.contains("1 as expected, 0 not") && out.contains("left out, absent from the folders: "),
        "{out}"
    );
    let sentence = refused(&[&ours("hrf"), "--model", "sc", "--expect", &right]);
    assert!(sentence.contains("names no test in"), "{sentence}");
}

#[test]
fn invalid_tables_are_refused_with_their_line() {
    let folder = scratch("litmus/tables");
    put(&folder, "SB.litmus", STORE_BUFFERING);
    for (text, words) in [
        ("SB.litmus,0\nSB.litmus,maybe\n", ":2:11: found `maybe`, expected `1` or `0`"),
        ("SB.litmus\n", ":1:1: found `SB.litmus`"),
        ("SB.litmus,0\n./SB.litmus,1\n", ":2:1: "),
        ("", "names no test"),
    ] {
        let table = put(&folder, "table.csv", text);
        let sentence = refused(&["--model", "sc", "--expect", &table]);
        assert!(sentence.contains(words), "{text}: {sentence}");
    }
    // A missing test is counted, and the others are checked.
    let table = put(&folder, "table.csv", "gone.litmus,0\nSB.litmus,0\n");
    let (code, out, err) = litmus(&["--model", "sc", "--expect", &table]);
    assert_eq!(code, 2);
    assert!(err.contains("table.csv:1:1: cannot read") && err.contains("gone.litmus"), "{err}");
    assert!(out.contains("Test SB") && out.contains("1 as expected, 0 not"), "{out}");
}

#[test]
fn incomplete_coverage_is_reported_and_exits_with_1() {
    let folder = scratch("litmus/bounds");
    let test = put(&folder, "counts.litmus", COUNTS);
    for model in ["sc", "hrf-indirect"] {
        let (code, out, err) = litmus(&[&test, "--model", model, "--unroll", "3"]);
        assert_eq!(code, 1, "{model}");
        assert!(out.contains("\nIncomplete ") && err.contains("the check is incomplete"), "{out}{err}");
        let (code, entries) = json(&[&test, "--model", model, "--unroll", "3"]);
        assert_eq!((code, &entries[0]["complete"]), (1, &Value::from(false)));
        assert!(entries[0]["bound"].as_str().unwrap().contains('3'), "{}", entries[0]["bound"]);
    }
    // No execution shows the condition, so it is undecided.
    let table = put(&folder, "table.csv", "counts.litmus,0\n");
    let (code, _, err) = litmus(&["--model", "sc", "--expect", &table]);
    assert!(code == 1 && err.contains("did not decide"), "{err}");
}

#[test]
fn a_time_limit_keeps_results_and_later_tests_are_checked() {
    let folder = scratch("litmus/timeout");
    put(&folder, "a.litmus", endless());
    put(&folder, "b.litmus", STORE_BUFFERING);
    for (model, more) in [("sc", &[][..]), ("rc11", &[]), ("hrf-direct", &["--relaxed-as", "acq-rel"])] {
        let args = [&[folder.to_str().unwrap(), "--model", model, "--timeout", "0.5"], more].concat();
        let (code, entries) = json(&args);
        assert_eq!((code, entries.len()), (1, 2), "{model}");
        assert_eq!(entries[0]["complete"], false, "{model}");
        assert!(entries[0]["bound"].as_str().unwrap().contains("0.5 s"), "{}", entries[0]["bound"]);
        assert!(!entries[0]["states"].as_array().unwrap().is_empty(), "{model} found nothing");
        assert_eq!(entries[1]["complete"], true, "{model}");
    }
    let (code, out, err) = litmus(&[folder.to_str().unwrap(), "--model", "sc", "--timeout", "0.5"]);
    assert_eq!(code, 1);
    assert!(out.contains("Stopped the limit of 0.5 s") && err.contains("a.litmus"), "{out}{err}");
}

#[test]
fn a_time_limit_holds_even_if_no_path_of_the_threads_ends() {
    let folder = scratch("litmus/ways");
    let ops = (0..13).map(|n| {
        format!(
            "int r{n} = atomic_load_explicit(y, memory_order_relaxed);\n\
             if (r{n} == {n}) {{ atomic_store_explicit(y, {n}, memory_order_relaxed); }}\n"
        )
    });
    let body: String = ops.collect();
    let threads = (0..3).map(|t| format!("P{t}(atomic_int* x, atomic_int* y) {{\n{body}}}\n"));
    let text = format!("C ways\n{{}}\n{}exists (x=1)\n", threads.collect::<String>());
    let test = put(&folder, "ways.litmus", text);
    let (code, entries) = json(&[&test, "--model", "sc", "--timeout", "0.1", "--explain"]);
    assert_eq!((code, &entries[0]["complete"]), (1, &Value::from(false)));
}

/// Each round of a loop takes one of two branches, and neither branch ends the loop.
#[test]
fn paths_that_double_forever_are_cut() {
    let folder = scratch("litmus/doubling");
    let body = "while (1) { int r = atomic_load_explicit(x, memory_order_seq_cst);
      if (r) { atomic_store_explicit(x, 0, memory_order_seq_cst); }
      else { atomic_store_explicit(x, 1, memory_order_seq_cst); } }";
    let threads = (0..2).map(|t| format!("P{t}(atomic_int* x) {{ {body} }}\n"));
    let text = format!("C doubling\n{{}}\n{}exists (x=1)\n", threads.collect::<String>());
    let test = put(&folder, "doubling.litmus", text);
    for model in ["sc", "hrf-indirect"] {
        let (code, entries) = json(&[&test, "--model", model, "--unroll", "65535", "--timeout", "0.5"]);
        assert_eq!((code, &entries[0]["complete"]), (1, &Value::from(false)), "{model}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_prints_results_and_tests_that_did_not_begin() {
    use std::io::Read as _;

    let folder = scratch("litmus/interrupt");
    put(&folder, "a.litmus", STORE_BUFFERING);
    put(&folder, "b.litmus", endless());
    put(&folder, "c.litmus", endless());
    let mut child = Command::new(env!("CARGO_BIN_EXE_fencepost"))
        .args(["litmus", folder.to_str().unwrap(), "--model", "sc", "--jobs", "1"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // The first block shows that the other tests have started.
    let mut stdout = child.stdout.take().unwrap();
    let mut out = vec![0];
    stdout.read_exact(&mut out).unwrap();
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    stdout.read_to_end(&mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{out}{err}");
    assert!(out.contains("Test SB Allowed") && out.contains("3 tests under sc"), "{out}");
    assert!(out.contains("not started") && err.contains("interrupted"), "{out}{err}");
}

#[test]
fn hostile_files_are_refused_or_checked_but_end() {
    let folder = scratch("litmus/hostile");
    let deep = |open: &str, close: &str| {
        let nested = format!("{}1{}", open.repeat(50_000), close.repeat(50_000));
        format!("C deep\n{{}}\nP0(int* x) {{ *x = {nested}; }}\nexists (x=1)\n")
    };
    put(&folder, "parens.litmus", deep("(", ")"));
    put(&folder, "nots.litmus", deep("!", ""));
    let blocks =
        format!("C b\n{{}}\nP0(int* x) {{ {} {} }}\nexists (x=1)", "{".repeat(50_000), "}".repeat(50_000));
    put(&folder, "blocks.litmus", blocks);
    let condition = format!("{}\nexists {}x=1", "C c\n{}\nP0(int* x) { *x = 1; }", "~(".repeat(50_000));
    put(&folder, "condition.litmus", condition);
    put(&folder, "huge.litmus", "a".repeat(2 << 20));
    put(&folder, "zeros.litmus", [0u8; 4096]);
    put(&folder, "crlf.litmus", STORE_BUFFERING.replace('\n', "\r\n"));
    put(&folder, "mark.litmus", format!("\u{feff}{STORE_BUFFERING}"));
    fs::create_dir(folder.join("folder.litmus")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&folder, folder.join("loop")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("nowhere", folder.join("dangling.litmus")).unwrap();
    for model in ["sc", "opencl", "hrf-direct"] {
        let (code, out, err) = litmus(&[folder.to_str().unwrap(), "--model", model, "--timeout", "5"]);
        assert_eq!(code, 2, "{model}: {out}{err}");
        assert!(!err.contains("folder.litmus"), "{err}");
        assert!(err.contains("huge.litmus: the input is larger than 1 MiB"), "{err}");
    }
    let crlf = folder.join("crlf.litmus");
    assert!(succeed(&[crlf.to_str().unwrap(), "--model", "sc"]).contains("Observation SB Never 0 3"));
    for text in ["(", "let x = ", "\"m\"\nlet f x = f x\nacyclic f po", "include \"bad.cat\""] {
        let sb = put(&folder, "sb/SB.litmus", STORE_BUFFERING);
        let deep = put(&folder, "bad.cat", text.to_owned() + &"(".repeat(50_000));
        let sentence = refused(&[&sb, "--model", &deep]);
        assert!(sentence.contains("bad.cat"), "{sentence}");
    }
}

#[test]
fn the_public_sample_agrees_with_its_tables() {
    let Some(sample) = std::env::var_os("FENCEPOST_LITMUS_SAMPLE").map(PathBuf::from) else {
        let note = "skipped: FENCEPOST_LITMUS_SAMPLE does not name the sample's folder";
        std::io::Write::write_all(&mut std::io::stderr(), note.as_bytes()).ok();
        return;
    };
    for (model, option, table, count) in [
        ("ptx-6.0", "--expect", "PTXv6_0", 30),
        ("ptx-7.5", "--expect", "PTXv7_5", 70),
        ("opencl", "--expect", "OPENCL", 50),
        ("opencl", "--expect-race-free", "OPENCL-DR", 15),
    ] {
        let table = sample.join(format!("{table}-expected.csv"));
        let out = succeed(&["--model", model, option, table.to_str().unwrap(), "--quiet"]);
        let checked: usize = out.split(' ').next().and_then(|number| number.parse().ok()).unwrap();
        assert!(checked >= count && out.ends_with("as expected, 0 not\n"), "{out}");
    }
}
