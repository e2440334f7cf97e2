//! Commands that imitate Slurm. The imitated `sbatch` runs the tasks of a job array at once, or
//! treats them in another way that the test selects.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::Home;

/// The script that imitates `sbatch`. The word in the file `mode` says what it does with the tasks
/// of a job array:
///
/// * `run`: all tasks run at once, one after the other;
/// * `hold`: they wait in the queue;
/// * `lose`: they leave the queue without a trace;
/// * `die`: they end with a line in the log;
/// * a path: the script at this path runs instead of the job, with the path of the job's script and
///   the path of the log as arguments.
const SBATCH: &str = r#"#!/bin/sh
[ ! -e "$FAKE/refuse" ] || { cat "$FAKE/refuse" >&2; exit 1; }
printf '%s\n' "$*" >>"$FAKE/calls"
for word; do
    case $word in
    --array=0-*) last=${word#--array=0-} ;;
    --job-name=*) name=${word#--job-name=} ;;
    --output=*) log=${word#--output=} ;;
    esac
done
job=$(($(cat "$FAKE/job") + 1))
echo "$job" >"$FAKE/job"
task=0
while [ "$task" -le "$last" ]; do
    file=$(printf '%s' "$log" | sed "s/%a/$task/; s/%%/%/g")
    export SLURM_ARRAY_TASK_ID="$task"
    mode=$(cat "$FAKE/mode")
    case $mode in
    run) sh "$word" >>"$file" 2>&1 ;;
    hold) echo "$name|$job|$task|PENDING" >>"$FAKE/queue" ;;
    lose) ;;
    die) printf '\nslurmstepd: error: Detected 1 oom-kill event\n' >>"$file" ;;
    *) sh "$mode" "$word" "$file" ;;
    esac
    task=$((task + 1))
done
echo "$job"
"#;

const SQUEUE: &str = r#"#!/bin/sh
[ ! -e "$FAKE/down" ] || { echo "slurm_load_jobs error: Unable to contact slurm controller" >&2; exit 1; }
cat "$FAKE/queue"
"#;

const SCANCEL: &str = r#"#!/bin/sh
printf '%s\n' "$*" >>"$FAKE/cancelled"
: >"$FAKE/queue"
"#;

const SCONTROL: &str = r#"#!/bin/sh
echo "MaxArraySize            = $(cat "$FAKE/most")"
"#;

/// A user's folder, and shell scripts that imitate the commands of Slurm.
pub(crate) struct Fake {
    pub(crate) home: Home,
    state: PathBuf,
}

impl Fake {
    pub(crate) fn new(name: &str, study: &str) -> Fake {
        let mut home = Home::new(&format!("slurm-{name}"), study);
        let (bin, state) = (home.folder.join("bin"), home.folder.join("fake"));
        fs::create_dir_all(&bin).unwrap();
        fs::create_dir_all(&state).unwrap();
        for (name, text) in
            [("sbatch", SBATCH), ("squeue", SQUEUE), ("scancel", SCANCEL), ("scontrol", SCONTROL)]
        {
            fs::write(bin.join(name), text).unwrap();
            fs::set_permissions(bin.join(name), PermissionsExt::from_mode(0o755)).unwrap();
        }
        let others = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths([bin].into_iter().chain(env::split_paths(&others))).unwrap();
        home.environment = vec![("PATH", path), ("FAKE", state.clone().into())];
        let fake = Fake { home, state };
        for (name, text) in [("job", "100"), ("mode", "run"), ("queue", ""), ("most", "1001"), ("calls", "")]
        {
            fake.set(name, text);
        }
        fake
    }

    /// Writes `text` to the file `name`, which is a part of the state of the imitated Slurm.
    pub(crate) fn set(&self, name: &str, text: &str) {
        fs::write(self.state.join(name), text).unwrap();
    }

    pub(crate) fn get(&self, name: &str) -> String {
        fs::read_to_string(self.state.join(name)).unwrap_or_default()
    }

    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.state.join(name)).unwrap();
    }

    /// The number of calls of the imitated `sbatch` so far.
    pub(crate) fn calls(&self) -> usize {
        self.get("calls").lines().count()
    }

    /// Sets a mode in which this script runs instead of each task. The script gets the path of the
    /// job's script as `$1`, and the path of the task's log as `$2`.
    pub(crate) fn mode_of(&self, script: &str) {
        self.set("script", script);
        self.set("mode", self.state.join("script").to_str().unwrap());
    }

    /// Runs the tasks that wait in the queue, and empties it.
    pub(crate) fn run_queue(&self) {
        for line in self.get("queue").lines() {
            let words: Vec<&str> = line.split('|').collect();
            let batch = words[0].strip_prefix("fencepost-").unwrap();
            self.work(batch, words[2]);
        }
        self.set("queue", "");
    }

    /// Runs one chunk (some of the runs) of a batch, as a job does. Returns the exit code.
    pub(crate) fn work(&self, batch: &str, chunk: &str) -> i32 {
        let script = self.home.folder.join("out/slurm").join(batch).join("job.sh");
        let mut command = std::process::Command::new("sh");
        command.arg(script).current_dir(&self.home.folder).env("SLURM_ARRAY_TASK_ID", chunk);
        command.output().unwrap().status.code().unwrap_or(-1)
    }
}
