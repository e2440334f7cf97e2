//! Sweeps that are disturbed: they finish, and their files have the same bytes as those of an
//! undisturbed sweep.

use std::fs;
use std::process::Stdio;

use super::fake::Fake;
use super::{STUDY, wait_until};

#[test]
fn lost_runs_are_resubmitted_and_begun_runs_alone() {
    let fake = Fake::new("again", STUDY);
    let expected = fake.home.expected();
    // The first job is killed when it has begun its third run: two results and three marks.
    fake.mode_of(
        "case $(cat \"$FAKE/job\") in\n101)\n  sh \"$1\" >>\"$2\" 2>&1\n  cd \"$(dirname \"$1\")/0/0\" || exit\n  \
         n=0\n  for file in *.parquet; do\n    n=$((n + 1))\n    id=${file%%.*}\n    \
         [ $n -le 2 ] || rm \"$file\"\n    [ $n -le 3 ] || rm \"$id.begun\"\n  done ;;\n\
         *) sh \"$1\" >>\"$2\" 2>&1 ;;\nesac\n",
    );
    let text = fake.home.on_slurm(&["--chunks", "1"]).succeed();
    assert!(
        text.contains("job 101_0 ended without the results of 10 runs; these runs are submitted again\n"),
        "{text}"
    );
    assert!(text.contains("submitted 10 runs in 2 tasks of job 102\n"), "{text}");
    fake.home.check(&expected);
}

#[test]
fn an_interrupted_sweep_names_running_jobs_and_resumes_them() {
    let fake = Fake::new("interrupted", STUDY);
    let expected = fake.home.expected();
    fake.set("mode", "hold");
    let started = fake.home.start(&["--chunks", "3"]);
    wait_until("a job", || fake.home.batches().iter().any(|batch| batch.join("job").exists()));
    // The message names the job as soon as its number is known.
    std::thread::sleep(std::time::Duration::from_millis(300));
    let ended = started.interrupt();
    assert_eq!(ended.code, 130);
    assert_eq!(
        ended.err.trim_end(),
        "fencepost: interrupted: the results of 0 of 12 runs are in out. Job 101 goes on; `scancel 101` cancels it. \
         The same command continues the sweep"
    );
    // One chunk runs meanwhile. The others run while the second coordinator watches.
    let batch = fake.home.batches().remove(0);
    let batch = batch.file_name().unwrap().to_str().unwrap();
    assert_eq!(fake.work(batch, "1"), 0);
    let queue = fake.get("queue");
    let others = queue.lines().filter(|line| !line.contains("|1|")).map(|line| format!("{line}\n"));
    fake.set("queue", &others.collect::<String>());
    let mut second = fake.home.start(&["--chunks", "3"]);
    std::thread::sleep(std::time::Duration::from_millis(600));
    assert!(!second.has_ended());
    fake.run_queue();
    let text = second.wait().succeed();
    assert!(text.contains("job 101 of an earlier call goes on with 2 of its tasks\n"), "{text}");
    assert!(text.contains("12 runs, 4 of them from earlier sweeps; "), "{text}");
    assert_eq!(fake.calls(), 1, "nothing is submitted twice");
    fake.home.check(&expected);
}

#[test]
fn a_restarted_coordinator_finds_an_unrecorded_job_by_name() {
    let fake = Fake::new("killed", STUDY);
    let expected = fake.home.expected();
    fake.set("mode", "hold");
    let started = fake.home.start(&["--chunks", "2"]);
    wait_until("a job", || fake.home.batches().iter().any(|batch| batch.join("job").exists()));
    started.kill();
    fs::remove_file(fake.home.batches()[0].join("job")).unwrap();
    // A coordinator that is killed while it writes a batch leaves this folder.
    fs::create_dir_all(fake.home.folder.join("out/slurm/.2-0123abcd.unfinished")).unwrap();
    let second = fake.home.start(&[]);
    wait_until("the number", || fake.home.batches().iter().any(|batch| batch.join("job").exists()));
    fake.run_queue();
    assert!(second.wait().succeed().contains("job 101 of an earlier call goes on with 2 of its tasks\n"));
    assert_eq!(fake.calls(), 1);
    fake.home.check(&expected);
}

#[test]
fn jobs_that_ended_without_a_coordinator_are_collected_or_resubmitted() {
    let fake = Fake::new("unwatched", STUDY);
    let expected = fake.home.expected();
    fake.set("mode", "hold");
    let started = fake.home.start(&["--chunks", "3"]);
    wait_until("a job", || fake.home.batches().iter().any(|batch| batch.join("job").exists()));
    started.kill();
    let batch = fake.home.batches().remove(0);
    assert_eq!(fake.work(batch.file_name().unwrap().to_str().unwrap(), "2"), 0);
    fake.set("queue", "");
    fake.set("mode", "run");
    let text = fake.home.on_slurm(&["--chunks", "3"]).succeed();
    assert!(text.contains("submitted 8 runs in 3 tasks of job 102\n"), "{text}");
    fake.home.check(&expected);
}

#[test]
fn several_workers_of_one_chunk_do_not_disturb_each_other() {
    let fake = Fake::new("workers", STUDY);
    let expected = fake.home.expected();
    fake.set("mode", "hold");
    let started = fake.home.start(&["--chunks", "1"]);
    wait_until("a job", || fake.home.batches().iter().any(|batch| batch.join("job").exists()));
    let batch = fake.home.batches().remove(0);
    let chunk = format!("{}/0", batch.file_name().unwrap().to_str().unwrap());
    let worker = || {
        let mut command = fake.home.command(&["--out", "out", "--chunk", &chunk, "--jobs", "2"]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    // The coordinator moves results away while workers look for them; one worker is killed.
    fake.set("queue", &fake.get("queue").replace("PENDING", "RUNNING"));
    let mut workers: Vec<_> = (0..4).map(|_| worker()).collect();
    workers[2].kill().unwrap();
    for (at, worker) in workers.iter_mut().enumerate() {
        let code = worker.wait().unwrap().code();
        assert!(at == 2 || code == Some(0), "{code:?}");
    }
    fake.set("queue", "");
    assert!(started.wait().succeed().contains("12 runs, 0 of them from earlier sweeps"));
    assert_eq!(fake.calls(), 1);
    fake.home.check(&expected);
}

#[test]
fn two_coordinators_do_not_share_a_folder() {
    let fake = Fake::new("two", STUDY);
    fake.set("mode", "hold");
    let started = fake.home.start(&["--chunks", "1"]);
    wait_until("a job", || fake.home.batches().iter().any(|batch| batch.join("job").exists()));
    let second = fake.home.on_slurm(&[]).fail();
    assert!(second.contains("another process is writing results into this folder"), "{second}");
    assert_eq!(fake.calls(), 1);
    fake.run_queue();
    started.wait().succeed();
}

#[test]
fn a_damaged_result_of_a_worker_is_not_taken() {
    let fake = Fake::new("damaged", STUDY);
    let expected = fake.home.expected();
    // The first job loses the end of a file, as a full disk may do to it.
    fake.mode_of(
        "sh \"$1\" >>\"$2\" 2>&1\n[ \"$(cat \"$FAKE/job\")\" = 101 ] || exit 0\n\
         for file in \"$(dirname \"$1\")\"/0/0/*.parquet; do\n  head -c 1000 \"$file\" >cut; cat cut >\"$file\"\n  \
         break\ndone\nrm cut\n",
    );
    let text = fake.home.on_slurm(&["--chunks", "1"]).succeed();
    assert!(
        text.contains("job 101_0 ended without the results of 1 run; this run is submitted again\n"),
        "{text}"
    );
    fake.home.check(&expected);
}
