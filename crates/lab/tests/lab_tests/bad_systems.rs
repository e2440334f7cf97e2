//! Checks that every mistake in a machine description gives an error of one sentence, with the
//! place of the mistake.

use std::fs;
use std::path::{Path, PathBuf};

use lab::systems::{Systems, parse};
use proptest::prelude::*;

const TEXT: &str = include_str!("../../../../systems/hlrc-8cu.toml");

/// Replaces `from` by `to` in the machine description. Returns the error of reading the result, and
/// the number of the changed line.
fn error_of(from: &str, to: &str) -> (String, usize) {
    let at = TEXT.find(from).unwrap_or_else(|| panic!("the description has `{from}`"));
    let line = TEXT[..at].matches('\n').count() + 1;
    let text = TEXT.replacen(from, to, 1);
    (parse(Path::new("my.toml"), &text).unwrap_err().to_string(), line)
}

fn assert_error(from: &str, to: &str, column: usize, parts: &[&str]) {
    let (error, line) = error_of(from, to);
    assert!(error.starts_with(&format!("my.toml:{line}:{column}: ")), "{error}");
    for part in parts {
        assert!(error.contains(part), "{error:?} lacks {part:?}");
    }
    assert!(!error.contains('\n'), "{error:?} is one line");
}

#[test]
fn a_wrong_key_names_the_nearest_one() {
    assert_error("ways = 16 ", "wayz = 16 ", 1, &["wayz", "did you mean `ways`"]);
    assert_error("simd_units", "unicorns", 1, &["unicorns", "expected one of count, simd_units"]);
    assert_error("[lds]", "[dls]", 2, &["dls", "did you mean `lds`"]);
}

#[test]
fn a_wrong_type_names_the_value_found_and_the_type_expected() {
    assert_error(
        "count = 8 ",
        "count = \"8\" ",
        9,
        &["found the text \"8\", expected a whole number from 1 to 4294967295"],
    );
    assert_error("count = 8 ", "count = 8.5 ", 9, &["found the number `8.5`, expected a whole number"]);
    assert_error("\"oldest-first\"", "\"\\u001b[2J\"", 13, &["unknown value `[2J`"]);
    assert_error("\"oldest-first\"", "\"youngest\"", 13, &["youngest", "oldest-first", "round-robin"]);
}

#[test]
fn a_table_in_place_of_a_name_or_the_reverse_names_the_expected_form() {
    let topology = "{ mesh = { columns = 2, rows = 4 } }";
    let torus = "found `\"torus\"`, expected a table as `{ torus = { columns = 1, rows = 1 } }`";
    assert_error(topology, "\"torus\"", 12, &[torus]);
    assert_error(topology, "'crossbar'", 12, &["expected a table as `{ crossbar = { ports = 1"]);
    let names = "expected one of `mesh`, `torus`, `crossbar`";
    for wrong in ["7", "{}", "[1]", "true", "{ mesh = { columns = 2, rows = 4 }, torus = {} }"] {
        assert_error(topology, wrong, 12, &[&format!("found `{wrong}`, {names}")]);
    }
    assert_error(
        topology,
        "{ torus = 7 }",
        22,
        &["found `7`, expected a table as `{ columns = 1, rows = 1 }`"],
    );
    assert_error("\"oldest-first\"", "7", 13, &["found `7`, expected ", "`round-robin`"]);
    let known = ["found ", "unknown ", "missing ", "`"];
    let own = ["invalid", "variant ", "struct", "wanted", "sequence", "map,", "boolean", "floating"];
    for wrong in ["\"4\"", "4.5", "true", "[4]", "{ a = 1 }", "1979-05-27"] {
        let (error, _) = error_of("simd_units = 4", &format!("simd_units = {wrong}"));
        assert!(known.iter().any(|word| error.contains(word)), "{error}");
        assert!(!own.iter().any(|word| error.contains(word)), "{error} has words of the reader");
    }
}

#[test]
fn zero_negative_and_overflowing_values_are_refused() {
    assert_error("count = 8 ", "count = 0 ", 9, &["`0`", "1 to 4294967295"]);
    assert_error("count = 8 ", "count = -8 ", 9, &["`-8`", "1 to 4294967295"]);
    assert_error("count = 8 ", "count = 4294967296 ", 9, &["`4294967296`", "1 to 4294967295"]);
    assert_error("count = 8 ", "count = 99999999999999999999 ", 9, &["`99999999999999999999`,"]);
    assert_error("channels = 4 ", "channels = 0 ", 12, &["`0`", "1 to 4294967295"]);
    assert_error("row_hit_cycles = 22", "row_hit_cycles = -1", 18, &["`-1`", "0 to 4294967295"]);
    assert_error("vector_op_pj = 3.7", "vector_op_pj = -1", 16, &["energy.vector_op_pj", "-1"]);
    assert_error("vector_op_pj = 3.7", "vector_op_pj = inf", 16, &["energy.vector_op_pj", "inf"]);
}

#[test]
fn impossible_combinations_are_refused_with_their_place() {
    assert_error("bytes = 16384", "bytes = 32", 9, &["l1.bytes", "32 bytes", "one line of 64 bytes"]);
    assert_error(
        "chiplets = 1 ",
        "chiplets = 3 ",
        12,
        &["expected a divisor of the number of compute units, 8"],
    );
    assert_error("rows = 4", "rows = 2", 12, &["4 nodes", "at least 8", "compute unit"]);
    assert_error("bytes = 1048576", "bytes = 1048577", 9, &["l2.bytes", "4 banks"]);
}

#[test]
fn impossible_links_and_pages_are_refused_with_their_place() {
    let refused = |table: &str, column, parts: &[&str]| {
        assert_error("chiplets = 1 ", &format!("{table}\nchiplets = 1 "), column, parts);
    };
    refused("links = { byte_pj = -1.0 }", 21, &["links.byte_pj", "-1", "zero or above"]);
    refused("links = { bytes_per_cycle = 0 }", 29, &["`0`", "1 to 4294967295"]);
    refused("links = { latency_cycles = -1 }", 28, &["`-1`", "0 to 4294967295"]);
    refused("pages = { bytes = 100 }", 19, &["pages.bytes", "100 bytes", "64 bytes"]);
    refused("pages = { placement = \"nearest\" }", 23, &["nearest", "interleaved", "first-touch"]);
}

#[test]
fn impossible_queues_of_memory_are_refused_with_their_place() {
    let refused = |keys: &str, column, parts: &[&str]| {
        let (from, keys) = ("channels = 4 ", format!("{keys}\nchannels = 4 "));
        assert_error(from, &keys, column, parts);
    };
    refused("scheduler = \"fr-fcfs\"", 13, &["fr-fcfs", "oldest-first", "open-row-first"]);
    refused("queue_entries = 0", 17, &["`0`", "1 to 4294967295"]);
    refused("queue_entries = 70000", 17, &["dram.queue_entries", "70000 entries", "at most 65536"]);
    refused("queue_wait_max_cycles = -1", 25, &["`-1`", "0 to 4294967295"]);
    refused("write_entries = 8", 17, &["8 entries", "`dram.write_high_entries`", "`dram.write_low_entries`"]);
    let inline = "write_high_entries = 9\nwrite_low_entries = 2\nwrite_entries = 8";
    refused(inline, 22, &["dram.write_high_entries", "9 entries", "at most", "8"]);
}

#[test]
fn impossible_minimum_times_of_memory_are_refused_with_their_place() {
    let refused = |keys: &str, column, parts: &[&str]| {
        let (from, keys) = ("channels = 4 ", format!("{keys}\nchannels = 4 "));
        assert_error(from, &keys, column, parts);
    };
    let keys = [
        "row_cycle_cycles",
        "row_to_row_cycles",
        "bank_groups",
        "group_bytes_per_cycle",
        "read_to_write_cycles",
        "write_to_read_cycles",
    ];
    for key in keys {
        let of_key = format!("dram.{key}");
        let column = key.len() + 4;
        // The first key that is at fault is reported.
        refused(&format!("{key} = 2"), column, &[&of_key, "2, expected 0", "`open-row-first`"]);
        refused(&format!("{key} = -1"), column, &["`-1`", "0 to 4294967295"]);
        let large = format!("{key} = 1048577\nscheduler = \"open-row-first\"");
        refused(&large, column, &[&of_key, "1048577, expected at most 1048576"]);
    }
    let ordered = |keys: &str, column, parts: &[&str]| {
        refused(&format!("{keys}\nscheduler = \"open-row-first\""), column, parts);
    };
    ordered("bank_groups = 3", 15, &["dram.bank_groups", "3, expected a divisor", "8"]);
    ordered("group_bytes_per_cycle = 8", 25, &["8 without `dram.bank_groups`"]);
    ordered("group_bytes_per_cycle = 0\nbank_groups = 4", 25, &["0 with 4 `dram.bank_groups`"]);
    let wide = "group_bytes_per_cycle = 65\nbank_groups = 4";
    ordered(wide, 25, &["65, expected at most `dram.channel_bytes_per_cycle`"]);
}

#[test]
fn broken_toml_and_missing_keys_have_a_place() {
    assert_error("count = 8 ", "count = = 8 ", 9, &[]);
    let twice = TEXT.replacen("name = ", "name = \"again\"\nname = ", 1);
    let error = parse(Path::new("my.toml"), &twice).unwrap_err().to_string();
    let second = TEXT[..TEXT.find("name = ").unwrap()].matches('\n').count() + 2;
    assert_eq!(error, format!("my.toml:{second}:1: duplicate key"));
    let error = parse(Path::new("my.toml"), "").unwrap_err().to_string();
    assert!(error.starts_with("my.toml:1:1: missing key `name`"), "{error}");
}

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn a_file_of_the_user_replaces_a_built_in_machine() {
    let folder = scratch("override");
    fs::write(folder.join("titan-v.toml"), TEXT.replacen("count = 8 ", "count = 4 ", 1)).unwrap();
    fs::write(folder.join("broken.toml"), "name = 3").unwrap();
    let systems = Systems::with_folder(&folder);
    assert_eq!(systems.load("titan-v").unwrap().cu.count, 4);
    assert_eq!(systems.load("hlrc-8cu").unwrap().cu.count, 8);
    assert_eq!(systems.load(folder.join("titan-v.toml").to_str().unwrap()).unwrap().cu.count, 4);
    let listed = systems.list();
    let broken = listed.iter().find(|listed| listed.name == "broken").unwrap();
    assert!(broken.summary.contains("broken.toml:1:8"), "{}", broken.summary);
    assert_eq!(listed.iter().filter(|listed| listed.name == "titan-v").count(), 1);
}

#[test]
fn a_file_without_text_is_refused_in_a_sentence() {
    let folder = scratch("no-text");
    fs::write(folder.join("bytes.toml"), [0xff, 0xfe, 0]).unwrap();
    fs::write(folder.join("long.toml"), vec![b'#'; (1 << 20) + 1]).unwrap();
    let systems = Systems::with_folder(&folder);
    let error = |name: &str| systems.load(folder.join(name).to_str().unwrap()).unwrap_err().to_string();
    assert!(error("bytes.toml").contains("byte 0 is not UTF-8"));
    assert!(error("long.toml").contains("longer than"));
    assert!(error("absent.toml").contains("absent.toml"));
    assert!(error("").contains("not a file"));
    #[cfg(unix)]
    assert!(systems.load("/dev/zero").unwrap_err().to_string().contains("not a file"));
}

/// Valid machine descriptions with random damage in one line.
fn damaged() -> impl Strategy<Value = String> {
    let lines = TEXT.lines().count();
    (0..lines, "\\PC{0,20}", 0..4u8).prop_map(|(at, junk, how)| {
        let mut lines: Vec<String> = TEXT.lines().map(str::to_owned).collect();
        match how {
            0 => drop(lines.remove(at)),
            1 => lines[at] = junk,
            2 => lines[at] = lines[at].split('=').next().unwrap_or("").to_owned() + "= " + &junk,
            _ => lines.insert(at, junk),
        }
        lines.join("\n")
    })
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic_and_every_error_is_one_line(text in damaged()) {
        if let Err(error) = parse(Path::new("my.toml"), &text) {
            let sentence = error.to_string();
            prop_assert!(sentence.starts_with("my.toml:"), "{}", sentence);
            prop_assert!(!sentence.contains('\n'), "{}", sentence);
        }
    }

    #[test]
    fn any_whole_number_in_any_place_is_read_or_refused(value in any::<i64>(), at in 0..60usize) {
        let numbers: Vec<usize> = TEXT.match_indices(" = ").map(|(at, _)| at + 3).collect();
        let start = numbers[at % numbers.len()];
        let end = start + TEXT[start..].find([' ', '\n']).unwrap();
        let text = format!("{}{value}{}", &TEXT[..start], &TEXT[end..]);
        if let Ok(system) = parse(Path::new("my.toml"), &text) {
            prop_assert!(system.problems().is_empty());
        }
    }
}
