//! Errors of `fencepost sweep --on slurm`: each error is one sentence, with the exit code for bad
//! input.

use std::fs;

use super::STUDY;
use super::fake::Fake;

#[test]
fn a_computer_without_slurm_is_named() {
    let mut fake = Fake::new("without", STUDY);
    fake.home.environment = vec![("PATH", "/nowhere".into())];
    let sentence = fake.home.on_slurm(&[]).fail();
    assert_eq!(
        sentence,
        "cannot run sbatch: no folder of the PATH has this program; `--on slurm` needs sbatch, squeue and \
         scancel on this computer"
    );
}

#[test]
fn errors_of_sbatch_are_quoted_and_no_files_remain() {
    let fake = Fake::new("refuses", STUDY);
    fake.set(
        "refuse",
        "sbatch: error: invalid partition specified: lnog\nsbatch: error: Batch job submission failed\n",
    );
    let sentence = fake.home.on_slurm(&["--", "--partition=lnog"]).fail();
    assert_eq!(
        sentence,
        "sbatch refuses the jobs: sbatch: error: invalid partition specified: lnog; sbatch: error: Batch job \
         submission failed"
    );
    assert_eq!(fake.home.batches().len(), 0);
    // The same command continues once the cause is gone.
    fake.remove("refuse");
    fake.home.on_slurm(&[]).succeed();
}

#[test]
fn sbatch_options_that_sweep_sets_are_refused_before_submission() {
    let fake = Fake::new("own-options", STUDY);
    let sentence = fake.home.on_slurm(&["--", "--array=1-3"]).fail();
    assert_eq!(sentence, "`--array=1-3` cannot be passed to sbatch, because sweep sets --array itself");
    let refused = |arguments: &[&str]| fake.home.sweep(arguments).fail();
    assert!(refused(&["--", "--partition=long"]).contains("--on"));
    assert!(refused(&["--chunks", "3"]).contains("--on"));
    assert!(refused(&["--on", "slrum"]).contains("'slurm'"));
    assert!(refused(&["--on", "slurm", "--dry-run"]).contains("--dry-run"));
    assert_eq!(fake.calls(), 0);
}

#[test]
fn a_wrong_key_is_an_error_with_its_place_before_anything_is_submitted() {
    let fake = Fake::new("wrong-key", &STUDY.replace("title", "titel"));
    let sentence = fake.home.on_slurm(&[]).fail();
    assert_eq!(sentence, "study.toml:2:1: unknown key `titel`, did you mean `title`?");
    assert_eq!(fake.calls(), 0);
    assert!(!fake.home.folder.join("out").exists());
}

#[test]
fn jobs_that_leave_no_trace_are_submitted_three_times() {
    let fake = Fake::new("lost", STUDY);
    fake.set("mode", "lose");
    let sentence = fake.home.on_slurm(&["--chunks", "2"]).fail();
    let folder = fake.home.folder.join("out").canonicalize().unwrap();
    let end = format!(
        ": 3 jobs ended without the result of this run, the last one was job 103_0; this job left nothing in {}: \
         check that the nodes of the cluster see this folder",
        folder.display()
    );
    assert!(
        sentence.starts_with("reduce on hlrc-8cu with l1.bytes=") && sentence.ends_with(&end),
        "{sentence}"
    );
    assert_eq!(fake.calls(), 3);
}

#[test]
fn the_log_of_a_job_that_dies_each_time_is_quoted() {
    let fake = Fake::new("dies", STUDY);
    fake.set("mode", "die");
    let sentence = fake.home.on_slurm(&["--chunks", "2"]).fail();
    assert!(sentence.contains("the last one was job 103_") && sentence.contains("the log /"), "{sentence}");
    assert!(sentence.ends_with("ends with: slurmstepd: error: Detected 1 oom-kill event"), "{sentence}");
    // The next call begins anew.
    fake.set("mode", "run");
    let expected = fake.home.expected();
    assert!(fake.home.on_slurm(&[]).succeed().contains("12 runs, 0 of them from earlier sweeps"));
    fake.home.check(&expected);
}

#[test]
fn a_program_that_the_nodes_cannot_start_is_quoted() {
    let fake = Fake::new("cannot-start", STUDY);
    fake.mode_of("sed 's,^exec .* sweep,exec /nowhere/fencepost sweep,' \"$1\" | sh >>\"$2\" 2>&1\n");
    let sentence = fake.home.on_slurm(&["--chunks", "1"]).fail();
    assert!(sentence.contains("/nowhere/fencepost") && sentence.contains("not found"), "{sentence}");
}

#[test]
fn a_worker_of_another_version_reports_it_and_is_not_retried() {
    let fake = Fake::new("version", STUDY);
    fake.mode_of(
        "file=$(dirname \"$1\")/batch.json\nsed -i 's/\"code\": \".*\"/\"code\": \"0123\"/' \"$file\"\n\
         sh \"$1\" >>\"$2\" 2>&1\n",
    );
    let sentence = fake.home.on_slurm(&["--chunks", "2"]).fail();
    let version = env!("CARGO_PKG_VERSION");
    assert!(sentence.starts_with(&format!("this is Fencepost {version} with code ")), "{sentence}");
    assert!(sentence.contains("with code 0123 (found by job 101_"), "{sentence}");
    assert_eq!(fake.calls(), 1);
}

#[test]
fn a_machine_that_has_changed_since_the_submission_is_an_error() {
    let fake = Fake::new("changed", STUDY);
    fake.mode_of(
        "sed -i 's/^latency_cycles = .*/latency_cycles = 77/' my-gpu.toml\nsh \"$1\" >>\"$2\" 2>&1\n",
    );
    let sentence = fake.home.on_slurm(&["--chunks", "1"]).fail();
    assert!(sentence.contains("a machine file or an input has changed since the batch"), "{sentence}");
    // An edit of the study itself does not matter, because the batch has a copy.
    let fake = Fake::new("edited", STUDY);
    let expected = fake.home.expected();
    fake.mode_of("echo nonsense >study.toml\nsh \"$1\" >>\"$2\" 2>&1\n");
    fake.home.on_slurm(&["--chunks", "3"]).succeed();
    fake.home.check(&expected);
}

#[test]
fn files_of_numbers_reach_the_jobs_and_one_that_has_changed_since_the_submission_is_an_error() {
    let study = "systems = 'my-gpu.toml'\nscenarios = ['vi', 'no-l1']\nworkloads = 'nn'\n\
                 inputs = 'places.csv'\nset = { nearest = 1 }\n";
    for (name, edit) in [("numbers", ""), ("numbers-changed", "echo 5 6 >>places.csv\n")] {
        let fake = Fake::new(name, study);
        fs::write(fake.home.folder.join("places.csv"), "1 2\n3 4\n").unwrap();
        let expected = fake.home.expected();
        fake.mode_of(&format!("{edit}sh \"$1\" >>\"$2\" 2>&1\n"));
        let ended = fake.home.on_slurm(&["--chunks", "1"]);
        if edit.is_empty() {
            ended.succeed();
            fake.home.check(&expected);
        } else {
            let sentence = ended.fail();
            let want = "a machine file or an input has changed since the batch";
            assert!(sentence.contains(want), "{sentence}");
        }
    }
}

#[test]
fn a_queue_that_stays_silent_is_an_error_that_names_the_jobs() {
    let fake = Fake::new("silent", STUDY);
    fake.mode_of(": >\"$FAKE/down\"\n");
    let ended = fake.home.sweep(&["--out", "out", "--on", "slurm", "--poll", "0.05"]);
    assert!(
        ended.out.contains("Unable to contact slurm controller; the sweep waits for Slurm\n"),
        "{ended:?}"
    );
    let sentence = ended.fail();
    assert_eq!(
        sentence,
        "squeue fails: slurm_load_jobs error: Unable to contact slurm controller. Job 101 goes on; `scancel 101` \
         cancels it"
    );
}

#[test]
fn a_worker_needs_a_chunk_that_exists() {
    let fake = Fake::new("chunk", STUDY);
    let work = |chunk: &str| fake.home.sweep(&["--out", "out", "--chunk", chunk]).fail();
    assert_eq!(work("3"), "found the chunk `3`, expected BATCH/NUMBER");
    assert!(work("1-0123abcd/0").contains("cannot write to out/slurm/1-0123abcd/0/0"));
    fs::create_dir_all(fake.home.folder.join("out/slurm/1-0123abcd/0")).unwrap();
    assert_eq!(work("1-0123abcd/0"), "batch 1-0123abcd has no chunk 0");
}
