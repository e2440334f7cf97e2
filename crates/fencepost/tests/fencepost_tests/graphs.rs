//! Tests of graphs as input: statistics and error messages.

use std::fs;
use std::path::Path;

use crate::common::{fencepost, json, refused};

fn file(name: &str, text: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

const RUN: [&str; 5] = ["run", "--system", "hlrc-8cu", "--protocol", "vi"];

#[test]
fn help_of_the_graph_command_has_examples() {
    for args in [&["graph", "--help"][..], &["graph", "info", "--help"]] {
        let (code, out, _) = fencepost(args);
        assert_eq!(code, 0);
        assert!(out.contains("fencepost graph info USA-road-d.BAY"), "{out}");
    }
}

#[test]
fn the_statistics_of_a_stand_in_and_of_a_file_are_the_same_in_text_and_json() {
    let info = json(&["graph", "info", "OPF_10000", "--scale", "1/16", "--json"]);
    assert_eq!((info["vertices"].as_u64(), info["symmetric"].as_bool()), (Some(2743), Some(true)));
    let (_, text, _) = fencepost(&["graph", "info", "OPF_10000", "--scale", "1/16"]);
    assert!(text.contains("vertices    2,743") && text.contains("scale 1/16"), "{text}");
    let path = file("three.gr", "p sp 3 4\na 1 2 5\na 2 3 1\na 3 3 1\na 1 2 7\n");
    let info = json(&["graph", "info", &path, "--json"]);
    assert_eq!((info["vertices"].as_u64(), info["arcs"].as_u64()), (Some(3), Some(2)));
    assert_eq!(info["repairs"]["self_loops_removed"], 1);
    assert_eq!(info["repairs"]["duplicates_merged"], 1);
}

#[test]
fn each_application_runs_on_a_stand_in_and_says_which_and_how_many_sweeps() {
    for (workload, input) in [("sssp", "c-68"), ("color", "dictionary28"), ("pagerank", "OPF_10000")] {
        let mut args = RUN.to_vec();
        args.extend(["--workload", workload, "--input", input, "--scale", "1/256", "--set", "sweeps=2"]);
        let (_, text, _) = fencepost(&args);
        assert!(text.contains("sweeps=2") && text.contains(&format!("stand-in for {input}")), "{text}");
        args.push("--json");
        let record = json(&args);
        assert_eq!((record["input"].as_str(), record["answer_ok"].as_bool()), (Some(input), Some(true)));
        assert_eq!(record["settings"]["sweeps"], "2");
        assert!(record["settings"].get("vertices").is_none());
    }
}

#[test]
fn a_graph_file_runs_and_its_repairs_are_printed() {
    let path = file("star.txt", "# Undirected graph\n0 1\n0 2\n0 3\n3 3\n");
    let mut args = RUN.to_vec();
    args.extend(["--workload", "sssp", "--input", &path, "--set", "sweeps=0"]);
    let (code, text, _) = fencepost(&args);
    assert_eq!(code, 0);
    assert!(text.contains("4 vertices, 6 arcs") && text.contains("1 self loop removed"), "{text}");
}

#[test]
fn a_wrong_input_is_refused_with_its_place() {
    let with = |more: &[&str]| {
        let mut args = RUN.to_vec();
        args.extend(more);
        refused(&args)
    };
    let bad = file("bad.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 9\n");
    assert!(with(&["--workload", "sssp", "--input", &bad]).contains("bad.mtx:3:3: found"));
    assert!(refused(&["graph", "info", &bad]).contains("bad.mtx:3:3: found"));
    assert!(refused(&["graph", "info", "ecology2"]).contains("did you mean `ecology1`?"));
    assert!(refused(&["graph", "info", "ecology1", "--scale", "3"]).contains("found the scale `3`"));
    assert!(with(&["--workload", "color", "--scale", "1/16"]).contains("--input"));
    assert!(with(&["--workload", "vec-add", "--input", "c-68"]).contains("sssp, color, pagerank"));
}
