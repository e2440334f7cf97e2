//! Tests of numbers in the output: comparisons over machines and seeds, tables and time series.

use std::fs;

use serde_json::Value;

use crate::common::{fencepost, json, refused, scratch, succeed};

const COMPARE: [&str; 9] = [
    "compare",
    "--scenarios",
    "vi,no-l1",
    "--workload",
    "reduce,vec-add",
    "--set",
    "n=2k",
    "--system",
    "hlrc-8cu",
];
const RUN: [&str; 9] =
    ["run", "--system", "hlrc-8cu", "--protocol", "vi", "--workload", "histogram", "--set", "n=2k"];

fn with<'a>(base: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [base, more].concat()
}

#[test]
fn several_machines_have_a_table_each_with_its_own_baseline() {
    let mut args = COMPARE;
    args[8] = "hlrc-8cu, titan-v";
    let both = json(&with(&args, &["--json"]));
    let rows = both["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 8);
    for (system, rows) in ["hlrc-8cu", "titan-v"].into_iter().zip(rows.chunks(4)) {
        args[8] = system;
        let alone = json(&with(&args, &["--json"]));
        assert_eq!(alone["rows"].as_array().unwrap(), rows, "{system} does not depend on the other");
        assert!(rows.iter().all(|row| row["system"] == system));
        assert_eq!((&rows[0]["speedup"], &rows[2]["speedup"]), (&Value::from(1.0), &Value::from(1.0)));
    }
    assert_eq!(both["means"].as_array().unwrap().len(), 4);
    args[8] = "hlrc-8cu,titan-v";
    let text = succeed(&args);
    assert!(text.contains("hlrc-8cu, titan-v, seed 0") && text.contains("system"), "{text}");
    args[8] = "hlrc-8cu,hlrc-8cu";
    assert!(refused(&args).contains("`hlrc-8cu` is named twice"));
    args[8] = "hlrc-8cu,titan-w";
    assert!(refused(&args).contains("did you mean `titan-v`?"));
}

#[test]
fn seeds_give_the_means_of_single_runs_and_their_intervals() {
    let three = json(&with(&COMPARE, &["--json", "--seeds", "3"]));
    assert_eq!(three["seeds"], serde_json::json!([1, 2, 3]));
    let single = |seed: &str| json(&with(&COMPARE, &["--json", "--seed", seed]));
    let singles = ["1", "2", "3"].map(single);
    for (at, row) in three["rows"].as_array().unwrap().iter().enumerate() {
        for (key, digits) in [("cycles", 0.5), ("energy_pj", 1e-6), ("traffic_bytes", 0.5)] {
            let values = singles.each_ref().map(|single| single["rows"][at][key].as_f64().unwrap());
            let mean = values.iter().sum::<f64>() / 3.0;
            assert!((row[key].as_f64().unwrap() - mean).abs() <= digits + mean * 1e-12, "{key} of {row}");
            let interval = &row["intervals"][key];
            let spread = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 2.0 / 3.0).sqrt();
            // Student's quantile for two degrees of freedom.
            let high = interval["high"].as_f64().unwrap();
            assert!((high - (mean + 4.303 * spread)).abs() <= 1e-6 * mean.max(1.0), "{key}: {interval}");
        }
        assert!(row["intervals"]["speedup"]["low"].as_f64().unwrap() <= row["speedup"].as_f64().unwrap());
    }
    let text = succeed(&with(&COMPARE, &["--seeds", "3"]));
    assert!(text.contains("means over seeds 1 to 3") && text.contains("95% interval"), "{text}");
    // Each row and each mean has an interval.
    assert_eq!(
        text.lines().filter(|line| line.contains("x  ") && line.contains(" to ")).count(),
        6,
        "{text}"
    );
    assert!(json(&with(&COMPARE, &["--json"]))["rows"][0].get("intervals").is_none());
    assert_eq!(
        json(&with(&COMPARE, &["--json", "--seeds", "2", "--seed", "9"]))["seeds"],
        serde_json::json!([9, 10])
    );
    refused(&with(&COMPARE, &["--seeds", "0"]));
    assert!(
        refused(&with(&COMPARE, &["--seeds", "2", "--seed", "18446744073709551615"]))
            .contains("2 seeds that begin with seed 18446744073709551615 are too many")
    );
}

#[test]
fn a_comparison_can_be_a_page() {
    let folder = scratch("compare-html");
    let path = folder.join("compare.html");
    let file = path.to_str().unwrap();
    let mut args = COMPARE;
    args[8] = "hlrc-8cu,titan-v";
    succeed(&with(&args, &["--seeds", "2", "--html", file]));
    let page = fs::read_to_string(&path).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    for text in [
        "Speedup",
        "Traffic",
        "Energy",
        "titan-v",
        "reduce, hlrc-8cu",
        "geometric mean",
        "means, over 2 seeds",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert_eq!(page.matches("<figure>").count(), 3);
    assert!(!page.contains("://") && !page.contains("<script"));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing unfinished is left");
    let absent = folder.join("absent/compare.html");
    assert!(refused(&with(&COMPARE, &["--html", absent.to_str().unwrap()])).contains("cannot write"));
}

#[test]
fn a_run_is_a_row_of_a_table_with_every_counter() {
    let folder = scratch("run-out");
    let record = json(&with(&RUN, &["--json"]));
    let path = folder.join("run.csv");
    succeed(&with(&RUN, &["--out", path.to_str().unwrap()]));
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines.len(), 2);
    let cell = |name: &str| lines[1][lines[0].iter().position(|column| *column == name).expect(name)];
    assert_eq!(cell("cycles"), record["cycles"].to_string());
    assert_eq!((cell("answer_ok"), cell("settings.n"), cell("workload")), ("true", "2048", "histogram"));
    for (name, count) in record["counters"].as_object().unwrap() {
        assert_eq!(cell(&format!("counters.{name}")), count.to_string());
    }
    for (part, picojoules) in record["energy_pj"].as_object().unwrap() {
        assert_eq!(cell(&format!("energy_pj.{part}")).parse::<f64>().unwrap(), picojoules.as_f64().unwrap());
    }
    succeed(&with(&RUN, &["--seed", "7", "--out", path.to_str().unwrap()]));
    let text = fs::read_to_string(&path).unwrap();
    let at = lines[0].iter().position(|column| *column == "seed").unwrap();
    assert_eq!(text.lines().nth(1).unwrap().split(',').nth(at), Some("7"));
    let parquet = folder.join("run.parquet");
    succeed(&with(&RUN, &["--out", parquet.to_str().unwrap()]));
    let bytes = fs::read(&parquet).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
}

#[test]
fn a_counter_over_time_adds_up() {
    let folder = scratch("series");
    let path = folder.join("series.csv");
    let options = [
        "--every",
        "500",
        "--counter",
        "l1.hits",
        "--counter",
        "noc_bytes_sent",
        "--counter",
        "messages.Data",
    ];
    let file = ["--out", path.to_str().unwrap()];
    succeed(&[&RUN[..], &options, &file].concat());
    let text = fs::read_to_string(&path).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("system,protocol,policy,workload,seed,cycle,counter,value,change"));
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let record = json(&with(&RUN, &["--json"]));
    for counter in ["l1_hits", "noc_bytes_sent", "messages.Data"] {
        let of: Vec<_> = rows.iter().filter(|row| row[6] == counter).collect();
        let changes: f64 = of.iter().map(|row| row[8].parse::<f64>().unwrap()).sum();
        let total = record["counters"][counter].as_u64().unwrap();
        assert_eq!((changes, of.last().unwrap()[7]), (total as f64, total.to_string().as_str()), "{counter}");
        let ends: Vec<u64> = of.iter().map(|row| row[5].parse().unwrap()).collect();
        assert!(ends.len() > 3 && ends[..3] == [500, 1000, 1500], "{ends:?}");
    }
    // Without a file the series is shown, and --json contains it.
    let shown = succeed(&with(&RUN, &["--every", "500", "--counter", "l1.hits"]));
    assert!(shown.contains("until cycle") && shown.contains("l1_hits"), "{shown}");
    let series = &json(&[&RUN[..], &options, &["--json"]].concat())["series"];
    assert_eq!(series["counters"], serde_json::json!(["l1_hits", "noc_bytes_sent", "messages.Data"]));
    assert_eq!(series["values"].as_array().unwrap().len(), series["cycles"].as_array().unwrap().len());
}

#[test]
fn a_level_shows_its_value_and_omitted_rows_are_counted() {
    let arguments = with(&RUN, &["--every", "60", "--counter", "requests_in_flight"]);
    let series = &json(&with(&arguments, &["--json"]))["series"];
    let (ends, values) = (series["cycles"].as_array().unwrap(), series["values"].as_array().unwrap());
    assert!(values[..40].iter().any(|value| value[0].as_u64().unwrap() > 0) && ends.len() > 40);
    let shown = succeed(&arguments);
    let (_, table) = shown.split_once("until cycle").unwrap();
    let rows: Vec<Vec<String>> = table
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().take(2).map(|word| word.replace(',', "")).collect())
        .collect();
    let (last, rows) = rows.split_last().unwrap();
    assert_eq!(rows.len(), 40, "{shown}");
    for (row, (end, value)) in rows.iter().zip(ends.iter().zip(values)) {
        assert_eq!(*row, [end.to_string(), value[0].to_string()]);
    }
    assert_eq!(*last, ["and".to_owned(), (ends.len() - 40).to_string()]);
}

#[test]
fn a_time_line_is_the_same_with_a_counter_beside_it() {
    let folder = scratch("time-line-and-counter");
    let trace = |name: &str, more: &[&str]| {
        let path = folder.join(name);
        succeed(&[&RUN[..], &["--every", "500", "--perfetto", path.to_str().unwrap()], more].concat());
        fs::read(path).unwrap()
    };
    let alone = trace("alone", &[]);
    for name in ["memory channel 0", "L1 hit rate"] {
        assert!(alone.windows(name.len()).any(|bytes| bytes == name.as_bytes()), "{name}");
    }
    assert!(trace("beside", &["--counter", "l1.hits"]) == alone, "the traces differ");
}

#[test]
fn a_run_that_is_given_up_has_neither_traffic_nor_energy() {
    let (code, out, err) = fencepost(&[
        "compare",
        "-s",
        "hlrc-8cu",
        "--scenarios",
        "vi",
        "-w",
        "spin-forever",
        "--patience",
        "9000",
    ]);
    assert_eq!(code, 1, "{err}");
    let row: Vec<&str> =
        out.lines().find(|line| line.starts_with("spin-forever")).unwrap().split("  ").collect();
    let cells: Vec<&str> = row.iter().map(|cell| cell.trim()).filter(|cell| !cell.is_empty()).collect();
    assert_eq!(cells[3..], ["-", "-", "-", "no right answer"], "{out}");
}

#[test]
fn an_impossible_table_or_counter_is_refused_before_anything_runs() {
    let folder = scratch("refused-tables");
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    for name in ["run.json", "run", "run.csv.gz"] {
        assert!(refused(&with(&RUN, &["--out", &at(name)])).contains("ends in .csv or .parquet"));
    }
    let csv = at("run.csv");
    let counter = |name: &str| refused(&with(&RUN, &["--counter", name, "--out", &csv]));
    assert!(counter("l1.hit").contains("unknown counter `l1.hit`, did you mean `l1_hits`?"));
    assert!(counter("cycles.load").contains("when the run is over"));
    // A message has a counter only after one was sent.
    assert!(counter("messages.Dat").contains("did you mean `messages.Data`?"));
    let twice = ["--counter", "l1.hits", "--counter", "l1_hits"];
    assert!(refused(&with(&RUN, &twice)).contains("is named twice"));
    assert!(refused(&with(&RUN, &["--every", "100"])).contains("--counter or --perfetto"));
    assert!(refused(&with(&RUN, &["--every", "0", "--counter", "loads"])).contains("from 1 to"));
    assert!(refused(&with(&RUN, &["--out", &csv, "--perfetto", &csv])).contains("the same file"));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}
