//! Tests of `fencepost sweep --on slurm`, with commands that imitate Slurm, and with a real Slurm
//! on the loopback interface.
#![cfg(unix)]

mod disturbed;
mod fake;
mod real;
mod refused;
mod whole;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use crate::common::scratch;

/// A study of twelve short runs on a machine of the user's own, which the study names by a relative
/// path.
pub(crate) const STUDY: &str = r#"
title = "Small"
systems = ["my-gpu.toml"]
scenarios = ["vi", "no-l1"]
workloads = ["reduce"]
[machine]
"l1.bytes" = [4096, 8192, 16384]
[set]
n = [1024, 2048]
[[chart]]
x = "l1.bytes"
y = "cycles"
"#;

/// A user's folder with `study.toml` and `my-gpu.toml`, and the environment of the user's commands.
pub(crate) struct Home {
    pub(crate) folder: PathBuf,
    pub(crate) environment: Vec<(&'static str, OsString)>,
}

impl Home {
    pub(crate) fn new(name: &str, study: &str) -> Home {
        let folder = scratch(name);
        fs::write(folder.join("study.toml"), study).unwrap();
        let machine = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../systems/hlrc-8cu.toml");
        fs::copy(machine, folder.join("my-gpu.toml")).unwrap();
        Home { folder, environment: Vec::new() }
    }

    /// The command `fencepost sweep study.toml`, followed by `arguments`.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fencepost"));
        command.args(["sweep", "study.toml"]).args(arguments).current_dir(&self.folder);
        command.envs(self.environment.iter().cloned()).stdin(Stdio::null());
        command
    }

    pub(crate) fn sweep(&self, arguments: &[&str]) -> Ended {
        Ended::of(&self.command(arguments).output().unwrap())
    }

    /// Starts the coordinator (the command that submits the jobs) with results in the folder `out`.
    /// Returns while the coordinator is running.
    pub(crate) fn start(&self, arguments: &[&str]) -> Started {
        let mut command =
            self.command(&[&["--out", "out", "--on", "slurm", "--poll", "0.2"], arguments].concat());
        Started(Some(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()))
    }

    /// Runs the coordinator (the command that submits the jobs) to its end, with results in the
    /// folder `out`.
    pub(crate) fn on_slurm(&self, arguments: &[&str]) -> Ended {
        self.start(arguments).wait()
    }

    /// The files that an undisturbed sweep on this computer writes.
    pub(crate) fn expected(&self) -> BTreeMap<String, Vec<u8>> {
        let ended = self.sweep(&["--out", "expected"]);
        assert_eq!((ended.code, ended.err.as_str()), (0, ""));
        files(&self.folder.join("expected"))
    }

    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        files(&self.folder.join("out"))
    }

    /// Checks that the folder `out` has the files of an undisturbed sweep, byte by byte, and no
    /// other file.
    pub(crate) fn check(&self, expected: &BTreeMap<String, Vec<u8>>) {
        let found = self.files();
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        assert!(found == *expected, "the bytes differ");
    }

    /// The folders of all batches of jobs in the folder `out`.
    pub(crate) fn batches(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.folder.join("out/slurm")).into_iter().flatten();
        let mut batches: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        batches.sort();
        batches
    }
}

/// A process that has ended: its exit code, or -1 after a signal, and its outputs.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    fn of(output: &Output) -> Ended {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ended {
            code: output.status.code().unwrap_or(-1),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }

    /// Checks that the process succeeded and printed no complaint. Returns its standard output.
    pub(crate) fn succeed(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        self.out
    }

    /// Checks that the process refused bad input with one sentence. Returns this sentence.
    pub(crate) fn fail(self) -> String {
        assert_eq!(self.code, 2, "{self:?}");
        let sentence = self.err.strip_prefix("fencepost: ").expect("a sentence").trim_end().to_owned();
        assert!(!sentence.contains('\n'), "{sentence}");
        sentence
    }
}

/// A process that runs. It is killed if the test fails.
pub(crate) struct Started(Option<Child>);

impl Started {
    pub(crate) fn wait(mut self) -> Ended {
        Ended::of(&self.0.take().unwrap().wait_with_output().unwrap())
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.0.as_mut().unwrap().try_wait().unwrap().is_some()
    }

    /// Ends the process at once, as a power failure does.
    pub(crate) fn kill(mut self) -> Ended {
        let mut child = self.0.take().unwrap();
        child.kill().unwrap();
        Ended::of(&child.wait_with_output().unwrap())
    }

    /// Sends the signal of Ctrl-C to the process, and waits for its end.
    pub(crate) fn interrupt(self) -> Ended {
        let child = self.0.as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args(["-INT", &child]).status().unwrap().success());
        self.wait()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            child.kill().ok();
            child.wait().ok();
        }
    }
}

/// Waits until the condition `holds` is true. Fails after a minute; `what` describes the condition.
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    const PAUSE: Duration = Duration::from_millis(20);
    for _ in 0..3000 {
        if holds() {
            return;
        }
        std::thread::sleep(PAUSE);
    }
    panic!("a minute has passed without {what}");
}

/// Every file of a folder and of the folders in it, with the bytes of the file.
pub(crate) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            let inside = files(&entry.path()).into_iter();
            all.extend(inside.map(|(inner, bytes)| (format!("{name}/{inner}"), bytes)));
            all.insert(name + "/", Vec::new());
        } else {
            all.insert(name, fs::read(entry.path()).unwrap());
        }
    }
    all
}
