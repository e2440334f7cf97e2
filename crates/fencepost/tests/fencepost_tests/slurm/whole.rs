//! Sweeps on a cluster that finish: their files have the same bytes as those of a sweep on one
//! computer.

use std::fs;

use super::STUDY;
use super::fake::Fake;

#[test]
fn a_sweep_on_a_cluster_writes_the_bytes_of_a_local_one() {
    let fake = Fake::new("whole", STUDY);
    let expected = fake.home.expected();
    let text = fake.home.on_slurm(&[]).succeed();
    assert!(text.contains("\nsubmitted 12 runs in 12 tasks of job 101\n"), "{text}");
    assert!(
        text.ends_with("12 runs, 0 of them from earlier sweeps; reports and runs are in out\n"),
        "{text}"
    );
    fake.home.check(&expected);
    // A second one finds everything and needs no cluster.
    fake.set("refuse", "no");
    assert!(fake.home.on_slurm(&[]).succeed().contains("12 runs, 12 of them from earlier sweeps; "));
    assert_eq!((fake.calls(), fake.get("cancelled").as_str()), (1, ""));
    fake.home.check(&expected);
}

#[test]
fn chunks_and_options_reach_sbatch() {
    let fake = Fake::new("options", STUDY);
    let expected = fake.home.expected();
    fake.home
        .on_slurm(&["--chunks", "5", "--jobs", "3", "--", "--partition=long", "-t", "2:00:00"])
        .succeed();
    let call = fake.get("calls");
    for word in ["--array=0-4 ", " --cpus-per-task=3 --partition=long -t 2:00:00 /", " --parsable "] {
        assert!(format!(" {call}").contains(word), "{call}");
    }
    assert!(call.contains(&format!("--chdir={} ", fake.home.folder.canonicalize().unwrap().display())));
    fake.home.check(&expected);
}

#[test]
fn an_array_has_no_more_tasks_than_the_cluster_allows() {
    let fake = Fake::new("most", STUDY);
    fake.set("most", "4");
    fake.home.on_slurm(&["--chunks", "9"]).succeed();
    assert!(fake.get("calls").contains("--array=0-3 "), "{}", fake.get("calls"));
}

#[test]
fn a_sweep_begun_on_a_laptop_is_finished_on_the_cluster_and_the_other_way_round() {
    let fake = Fake::new("begun", STUDY);
    let expected = fake.home.expected();
    let keep_some = |count: usize| {
        let runs = fake.home.folder.join("out/runs");
        let all = fs::read_dir(&runs).unwrap().map(|entry| entry.unwrap().path());
        let results = all.filter(|path| path.extension().is_some_and(|ending| ending == "parquet"));
        results.skip(count).for_each(|path| fs::remove_file(path).unwrap());
    };
    assert_eq!(fake.home.sweep(&["--out", "out"]).code, 0);
    keep_some(5);
    let text = fake.home.on_slurm(&[]).succeed();
    assert!(
        text.contains("submitted 7 runs in 7 tasks")
            && text.contains("12 runs, 5 of them from earlier sweeps"),
        "{text}"
    );
    fake.home.check(&expected);
    // Jobs that were left with results and jobs in the queue: the laptop takes the former, and
    // cancels the latter when all is there.
    keep_some(0);
    fake.set("mode", "hold");
    let mut started = fake.home.start(&["--chunks", "3"]);
    super::wait_until("jobs", || fake.get("queue").lines().count() == 3);
    assert!(!started.has_ended());
    started.kill();
    let batch = fake.home.batches().remove(0);
    assert_eq!(fake.work(batch.file_name().unwrap().to_str().unwrap(), "1"), 0);
    let text = fake.home.sweep(&["--out", "out"]).succeed();
    assert!(text.contains("12 runs, 4 of them from earlier sweeps; "), "{text}");
    assert_eq!(fake.get("cancelled"), "--quiet 102\n");
    fake.home.check(&expected);
}

#[test]
fn results_that_are_not_right_are_reported_as_by_a_local_sweep() {
    let stuck = STUDY.replace("\"reduce\"", "\"spin-forever\", \"reduce\"");
    let misfit = "systems = 'hlrc-8cu'\nscenarios = 'vi'\nworkloads = 'uts'\n[set]\nfronts = 1\n";
    let impossible = STUDY.replace("[machine]", "[machine]\nlds.bytes = 64");
    for (name, study, code) in
        [("stuck", stuck.as_str(), 1), ("misfit", misfit, 2), ("cannot", &impossible, 2)]
    {
        let fake = Fake::new(name, study);
        for _ in 0..2 {
            let local = fake.home.sweep(&["--out", "local", "--jobs", "1"]);
            let found = fake.home.on_slurm(&["--chunks", "1"]);
            assert_eq!((local.code, found.code), (code, code), "{found:?}");
            let sentence = local.err.trim_end();
            assert!(sentence.len() > 20 && found.err.starts_with(sentence), "{sentence}\n{}", found.err);
        }
    }
}

#[test]
fn the_option_json_prints_only_json() {
    let fake = Fake::new("json", STUDY);
    let local = fake.home.sweep(&["--out", "expected", "--json"]).succeed();
    assert_eq!(fake.home.on_slurm(&["--json"]).succeed(), local);
}
