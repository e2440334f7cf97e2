//! Tests of files of numbers as input: results, records and error messages.

use std::fs;
use std::path::Path;

use crate::common::{fencepost, json, refused};

fn file(name: &str, bytes: &[u8]) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("inputs");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(name), bytes).unwrap();
    folder.join(name).to_str().unwrap().to_owned()
}

fn run<'a>(workload: &'a str, input: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let args = ["run", "--system", "hlrc-8cu", "--protocol", "vi", "--workload", workload, "--input", input];
    args.iter().chain(more).copied().collect()
}

#[test]
fn places_as_text_and_as_binary_numbers_give_the_same_run() {
    let places = [30.5_f32, 90.25, -8.0, 140.0, 29.0, 91.0];
    let bytes: Vec<u8> = places.iter().flat_map(|number| number.to_le_bytes()).collect();
    let text = file("places.csv", b"# places\n30.5, 90.25\n-8, 140\n29, 91\n");
    let binary = file("places.f32", &bytes);
    let records = [&text, &binary].map(|input| json(&run("nn", input, &["--set", "nearest=2", "--json"])));
    for (record, input) in records.iter().zip([&text, &binary]) {
        assert_eq!((record["input"].as_str(), record["answer_ok"].as_bool()), (Some(&**input), Some(true)));
        assert_eq!(
            (record["tables"][0]["rows"].as_u64(), record["tables"][0]["columns"].as_u64()),
            (Some(3), Some(2))
        );
        assert!(record["settings"].get("n").is_none());
    }
    assert_eq!(records[0]["cycles"], records[1]["cycles"]);
    let (_, shown, _) = fencepost(&run("nn", &text, &["--set", "nearest=2"]));
    assert!(shown.contains("places.csv, numbers as text, 3 by 2"), "{shown}");
}

#[test]
fn a_sparse_matrix_keeps_its_diagonal() {
    let text = "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 0.5\n2 2 -1\n3 3 2\n1 2 0.25\n";
    let matrix = file("diagonal.mtx", text.as_bytes());
    let record = json(&run("spmv", &matrix, &["--json"]));
    assert_eq!((record["answer_ok"].as_bool(), record["graph"]["arcs"].as_u64()), (Some(true), Some(4)));
    assert!(record["settings"].get("per-row").is_none());
    let both = [
        "compare",
        "--system",
        "hlrc-8cu",
        "--scenarios",
        "vi",
        "--workload",
        "spmv,bfs",
        "--input",
        &matrix,
    ];
    assert_eq!(fencepost(&both).0, 0);
}

#[test]
fn two_files_are_the_factors_of_a_product() {
    let (a, b) = (file("a.csv", b"1,2,3\n4,5,6\n"), file("b.csv", b"1 2\n3 4\n5 6\n"));
    let shape = ["--set", "m=2", "--set", "k=3", "--set", "n=2", "--json"];
    let record = json(&run("matmul", &format!("{a},{b}"), &shape));
    assert_eq!((record["answer_ok"].as_bool(), record["tables"][1]["rows"].as_u64()), (Some(true), Some(3)));
    let one = refused(&run("matmul", &a, &shape));
    assert!(one.contains("takes 2 files, separated by commas (left factor, right factor)"), "{one}");
    let wide =
        refused(&run("matmul", &format!("{a},{b}"), &["--set", "m=2", "--set", "k=2", "--set", "n=2"]));
    let want = "a.csv:1:4: found `,`, expected the end of the line after 2 numbers (the setting `k`)";
    assert!(wide.contains(want), "{wide}");
}

#[test]
fn wrong_numbers_are_refused_with_their_place() {
    let bad = file("bad.csv", b"1 2\n3 nan\n");
    assert!(refused(&run("nn", &bad, &[])).contains("bad.csv:2:3: found `nan`, expected a number from"));
    let short = file("short.bin", &[0; 10]);
    assert!(refused(&run("nn", &short, &[])).contains("short.bin, byte 10: found a file of 10 bytes"));
    let outside = file("outside.csv", b"0 0.5 1\n0 2 0\n");
    let want = "outside.csv:2:3: found `2`, expected a number from 0 to 1";
    assert!(refused(&run("hacc", &outside, &[])).contains(want));
    let good = file("good.csv", b"1 2\n3 4\n");
    let scaled = refused(&run("nn", &good, &["--scale", "1/2"]));
    assert!(scaled.contains("the input of workload `nn` is a file"), "{scaled}");
    let set = refused(&run("nn", &good, &["--set", "n=5"]));
    assert!(set.contains("`n=5` cannot be set, because the input is"), "{set}");
    let missing = refused(&run("nn", "no-such.csv", &[]));
    assert!(missing.contains("cannot read no-such.csv"), "{missing}");
    let none = refused(&run("vec-add", &good, &[]));
    assert!(none.contains("numbers are the input of matmul, dgemm"), "{none}");
}
