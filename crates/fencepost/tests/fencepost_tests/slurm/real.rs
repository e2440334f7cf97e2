//! A test with a real Slurm: the programs `munged`, `slurmctld` and two `slurmd` on the loopback
//! interface.

use std::ffi::OsString;
use std::io::{Write as _, stderr};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Home, wait_until};
use crate::common::scratch;

/// A study with runs of about a second, so that a node can be killed while it executes a run.
const STUDY: &str = r#"
title = "A killed node"
systems = ["my-gpu.toml"]
scenarios = ["vi", "no-l1"]
workloads = ["reduce"]
[machine]
"l1.bytes" = [8192, 16384]
[set]
n = ["512k", "1m", "2m"]
[[chart]]
x = "n"
y = "cycles"
"#;

/// A Slurm cluster on this computer. It stops at the end of the test.
struct Cluster(PathBuf);

impl Cluster {
    /// Starts a cluster. If this computer cannot run one, prints the reason and returns `None`.
    fn start() -> Option<Cluster> {
        let cluster = Cluster(scratch("slurm-cluster"));
        let output = cluster.script(&["start"], &["2"]).output().unwrap();
        if output.status.success() {
            return Some(cluster);
        }
        // Not by a macro, whose output the test runner hides.
        let why = String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ");
        let sentence = format!("\nskipped: the sweep on a real Slurm: {why}\n");
        stderr().write_all(sentence.as_bytes()).unwrap();
        None
    }

    fn script(&self, before: &[&str], after: &[&str]) -> Command {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/slurm-loopback");
        let mut command = Command::new(path);
        command.args(before).arg(&self.0).args(after);
        command
    }

    fn kill(&self, node: &str) {
        assert!(self.script(&["kill"], &[node]).status().unwrap().success());
    }

    /// The tasks of job arrays that are running: for each, its chunk and its node.
    fn running(&self) -> Vec<(String, String)> {
        let mut command = Command::new("squeue");
        command.args(["--noheader", "--array", "--states=RUNNING", "--format=%K %N"]);
        let output = command.env("SLURM_CONF", self.0.join("slurm.conf")).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let pair = |line: &str| line.split_once(' ').map(|(chunk, node)| (chunk.to_owned(), node.to_owned()));
        text.lines().filter_map(pair).collect()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.script(&["stop"], &[]).status().ok();
    }
}

#[test]
fn a_real_slurm_finishes_with_the_same_bytes_although_a_node_and_the_coordinator_are_killed() {
    let Some(cluster) = Cluster::start() else { return };
    let mut home = Home::new("slurm-real", STUDY);
    let expected = home.expected();
    home.environment = vec![("SLURM_CONF", OsString::from(cluster.0.join("slurm.conf")))];
    // A laptop has begun: the first results are there.
    let mut laptop = home.command(&["--out", "out", "--jobs", "1"]).spawn().unwrap();
    let stored = || std::fs::read_dir(home.folder.join("out/runs")).map_or(0, |all| all.flatten().count());
    wait_until("a first result", || stored() > 1);
    laptop.kill().unwrap();
    laptop.wait().unwrap();

    let first = home.start(&["--chunks", "3"]);
    let worker_of =
        |node: &str| cluster.running().into_iter().find(|(_, on)| on == node).map(|(chunk, _)| chunk);
    let mut on_second = String::new();
    wait_until("a job on the second node", || {
        worker_of("n2").is_some_and(|chunk| {
            on_second = chunk;
            let worker = home.batches().remove(0).join(&on_second).join("0");
            let begun = std::fs::read_dir(worker).into_iter().flatten().flatten();
            begun.filter(|entry| entry.file_name().to_string_lossy().ends_with(".begun")).count() > 0
        })
    });
    // The coordinator dies, and then the node with everything on it.
    let first = first.kill();
    cluster.kill("n2");
    assert!(first.out.contains(" of job 1\n"), "{first:?}");

    let text = home.on_slurm(&["--chunks", "3"]).succeed();
    assert!(text.contains("job 1 of an earlier call goes on with "), "{text}");
    assert!(text.contains(&format!("job 1_{on_second} ended without the result")), "{text}");
    assert!(text.contains(" submitted again\n") && text.contains(" of job "), "{text}");
    home.check(&expected);
}
