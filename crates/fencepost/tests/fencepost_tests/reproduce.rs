//! Tests of the command `fencepost reproduce`: its text for readers, its JSON for scripts, and its
//! errors.

use std::fs;

use serde_json::Value;

use crate::common::{fencepost, scratch};

const SMALL: [&str; 10] =
    ["reproduce", "hlrc", "--figure", "fig4", "--scale", "1/1024", "--seeds", "1", "--set", "sweeps=1"];

#[test]
fn a_figure_is_reproduced_into_a_folder_and_a_second_time_only_reported() {
    let folder = scratch("fig4");
    let mut args = SMALL.to_vec();
    args.extend(["--out", folder.to_str().unwrap()]);
    let (code, text, err) = fencepost(&args);
    assert_eq!((code, err.as_str()), (0, ""), "{text}");
    assert!(
        text.contains("scale 1/1024, 1 seed, sweeps=1") && text.contains("runs, 0 of them from"),
        "{text}"
    );
    let json: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("results.json")).unwrap()).unwrap();
    let claims = json["claims"].as_array().unwrap();
    for claim in claims {
        let status = claim["status"].as_str().unwrap();
        assert!(["indicative", "not-run"].contains(&status), "{claim}");
        assert!(
            ["id", "kind", "published", "measured"].iter().all(|key| claim.get(key).is_some()),
            "{claim}"
        );
    }
    assert!(claims.iter().any(|claim| claim["measured"].is_number()));
    let page = fs::read_to_string(folder.join("report.md")).unwrap();
    assert!(page.contains("| `hlrc.fig4.scope-only`:") && page.contains("## fig4:"), "{page}");
    args.push("--json");
    let (code, again, _) = fencepost(&args);
    assert_eq!((code, serde_json::from_str::<Value>(&again).unwrap()), (0, json));
    args.pop();
    let (_, text, _) = fencepost(&args);
    // All runs are from the first call.
    let line = text.lines().find(|line| line.contains(" of them from earlier reproductions")).unwrap();
    let mut numbers = line.split(|c: char| !c.is_ascii_digit()).filter(|word| !word.is_empty());
    assert_eq!(numbers.next(), numbers.next(), "{line}");
}

#[test]
fn a_record_has_a_page_with_the_report() {
    let (folder, records) = (scratch("recorded"), scratch("records"));
    let record = records.join("litmus.json");
    let out = folder.to_str().unwrap();
    let args =
        ["reproduce", "hrf", "--figure", "litmus", "--seeds", "1", "--jobs", "1", "--out", out, "--record"];
    let (code, text, err) = fencepost(&[&args[..], &[record.to_str().unwrap()]].concat());
    assert_eq!((code, err.as_str()), (0, ""), "{text}");
    let page = records.join("litmus.md");
    let said = format!("\nthe record is {}; its page is {}\n", record.display(), page.display());
    assert!(text.ends_with(&said), "{text}");
    let data: Value = serde_json::from_str(&fs::read_to_string(&record).unwrap()).unwrap();
    let command = format!("fencepost reproduce hrf --figure litmus --seeds 1 --record {}", record.display());
    assert_eq!(data["command"], command.as_str());
    let whole: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("results.json")).unwrap()).unwrap();
    assert_eq!(data["runs"], whole["rows"].as_array().unwrap().len());
    assert_eq!(data["results"]["claims"], whole["claims"]);
    assert_eq!(data["results"]["rows"].as_array().unwrap().len(), 0);
    let page = fs::read_to_string(page).unwrap();
    let report = fs::read_to_string(folder.join("report.md")).unwrap();
    let (title, body) = report.split_once("\n\n").unwrap();
    assert!(page.starts_with(title) && page.ends_with(body), "{page}");
    assert!(page.contains(&format!("\n    {command}\n")) && page.contains("](litmus.json)"), "{page}");
    // The page of a record may be replaced by a newer one.
    let (code, text, err) = fencepost(&[&args[..], &[record.to_str().unwrap()]].concat());
    assert_eq!((code, err.as_str()), (0, ""), "{text}");
    // Reports and records have folders of their own.
    for inside in ["results.json", "runs/record.json", "../recorded/record.json"] {
        let inside = folder.join(inside);
        let (code, text, err) = fencepost(&[&args[..], &[inside.to_str().unwrap()]].concat());
        assert!(code == 2 && text.is_empty() && err.contains("choose another folder"), "{err}");
    }
    let here = ["reproduce", "hrf", "--figure", "litmus", "--out", ".", "--record", "results.json"];
    let (code, text, err) = fencepost(&here);
    assert!(code == 2 && text.is_empty() && err.contains("choose another folder"), "{err}");
    // A page that shows something else stays.
    let (own, page) = (records.join("own.json"), records.join("own.md"));
    fs::write(&page, "# My page\n\nMy text.\n").unwrap();
    let (code, text, err) = fencepost(&[&args[..], &[own.to_str().unwrap()]].concat());
    assert!(code == 2 && text.is_empty() && err.contains("does not show own.json"), "{err}");
    assert!(!own.exists() && fs::read_to_string(&page).unwrap().ends_with("My text.\n"));
}

#[test]
fn a_figure_shows_its_own_claims_only() {
    let folder = scratch("own-claims");
    let args = ["reproduce", "hrf", "--figure", "litmus", "--out", folder.to_str().unwrap(), "--json"];
    let (code, text, err) = fencepost(&args);
    assert_eq!(code, 0, "{err}");
    let results: Value = serde_json::from_str(&text).unwrap();
    let claims = results["claims"].as_array().unwrap();
    assert!(!claims.is_empty());
    assert!(claims.iter().all(|claim| claim["status"] != "not-run"), "{text}");
}

#[test]
fn a_paper_without_experiments_is_not_called_unknown() {
    let (code, _, err) = fencepost(&["reproduce", "dalmia"]);
    assert_eq!(code, 2);
    assert!(
        err.contains("paper `dalmia` has claims, but no experiments") && err.contains("hlrc, hrf, stc"),
        "{err}"
    );
    assert!(fencepost(&["reproduce", "nothing"]).2.contains("unknown paper `nothing`"));
    let twice = fencepost(&["reproduce", "hrf", "--figure", "litmus", "--figure", "litmus"]);
    assert!(twice.0 == 2 && twice.2.contains("figure `litmus` is named twice"), "{}", twice.2);
}

#[test]
fn a_damaged_result_is_reported_and_computed_again() {
    let folder = scratch("damaged");
    let mut args = SMALL.to_vec();
    args.extend(["--out", folder.to_str().unwrap()]);
    assert_eq!(fencepost(&args).0, 0);
    let runs = fs::read_dir(folder.join("runs")).unwrap().map(|entry| entry.unwrap().path());
    let runs: Vec<_> = runs.filter(|path| path.extension().is_some_and(|e| e == "parquet")).collect();
    fs::write(runs.iter().min().unwrap(), "PAR1").unwrap();
    let (code, text, err) = fencepost(&args);
    assert_eq!(code, 0);
    assert!(err.contains("is damaged: the 4 bytes of the file do not match"), "{err}");
    let (all, kept) = (runs.len(), runs.len() - 1);
    assert!(text.contains(&format!("\n{all} runs, {kept} of them from earlier reproductions; ")), "{text}");
}

#[test]
fn a_report_of_an_unfinished_reproduction_is_refused() {
    let folder = scratch("reproduce-unfinished");
    let args = [&SMALL[..], &["--out", folder.to_str().unwrap()]].concat();
    assert_eq!(fencepost(&args).0, 0);
    assert_eq!(fencepost(&["report", folder.to_str().unwrap()]).0, 0);
    // What a killed process leaves.
    fs::write(folder.join("runs/.ahead"), "").unwrap();
    fs::write(folder.join(".report.md.1.unfinished"), "half").unwrap();
    let (code, text, err) = fencepost(&["report", folder.to_str().unwrap()]);
    assert!(code == 2 && text.is_empty() && err.contains("has an old results.json"), "{err}");
    assert_eq!(fencepost(&args).0, 0);
    assert!(!folder.join(".report.md.1.unfinished").exists());
    assert_eq!(fencepost(&["report", folder.to_str().unwrap()]).0, 0);
}

#[test]
fn settings_that_do_not_fit_are_bad_input_each_time() {
    let folder = scratch("reproduce-misfit");
    let out = folder.to_str().unwrap();
    let args = ["reproduce", "hrf", "--figure", "fig10", "--seeds", "1", "--set", "fronts=1", "--out", out];
    for _ in 0..2 {
        let (code, text, err) = fencepost(&args);
        assert_eq!(code, 2, "{err}");
        assert!(err.contains("the only task-front is in use: raise `fronts`"), "{err}");
        // A run that does not fit is repeated.
        assert!(text.contains(" runs, 0 of them from earlier "), "{text}");
    }
}

#[test]
fn mistakes_are_refused_before_anything_is_written() {
    let folder = scratch("reproduce-refused").join("results");
    let out = folder.to_str().unwrap();
    for (args, what) in [
        (vec!["reproduce", "hlcr"], "did you mean `hlrc`?"),
        (vec!["reproduce", "hlrc", "--figure", "fig44"], "did you mean `fig4`?"),
        (vec!["reproduce", "hlrc", "--scale", "17"], "found the scale `17`"),
        (vec!["reproduce", "hlrc", "--seeds", "0"], "from 1 to 1000"),
        (vec!["reproduce", "hlrc", "--jobs", "0"], "--jobs"),
        (vec!["reproduce", "hlrc", "--set", "x=1"], "no workload has the setting `x`"),
        (vec!["reproduce", "hlrc", "--experiments", "nowhere"], "cannot read nowhere"),
        (vec!["reproduce", "hlrc", "--record", "record.md"], "ends in .json"),
        (vec!["reproduce", "hlrc", "--record", "nowhere/record.json"], "cannot write nowhere/record.json"),
    ] {
        let (code, text, err) = fencepost(&[args.as_slice(), &["--out", out]].concat());
        assert_eq!((code, text.as_str()), (2, ""), "{err}");
        assert!(err.contains(what), "{err}");
    }
    assert!(!folder.exists());
    let file = scratch("results-in-a-file").join("file");
    fs::write(&file, "").unwrap();
    let (code, _, err) = fencepost(&[&SMALL[..], &["--out", file.to_str().unwrap()]].concat());
    assert!(code == 2 && err.contains("cannot write to"), "{err}");
}
