//! How much work the simulator is for its host.
//!
//! Two reports: instructions that callgrind counts on small runs (the same on
//! every machine, so they show a change of one percent), and the throughput of
//! large runs (which depends on the machine, so nothing is asserted).
//!
//! `cargo bench -p fencepost`, or with `-- instructions` or `-- throughput`
//! for one of them.

#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use lab::Record;
use lab::experiment::{Experiment, Question};
use lab::systems::Systems;

/// A run to measure: system, workload, settings.
type Case = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const SMALL: [Case; 6] = [
    ("titan-v", "vec-add", &[("n", "16k")]),
    ("titan-v", "histogram", &[("n", "8k"), ("bins", "256")]),
    ("titan-v", "pagerank-push", &[("vertices", "2k"), ("edges", "12k")]),
    ("hlrc-8cu", "reduce", &[("n", "16k")]),
    ("hlrc-128cu", "l1-resident", &[("work-groups", "128"), ("reads", "64")]),
    ("hlrc-128cu", "random-miss", &[("work-groups", "32"), ("reads", "4"), ("mib", "8")]),
];

const LARGE: [Case; 5] = [
    ("titan-v", "vec-add", &[("n", "1m")]),
    ("titan-v", "histogram", &[("n", "64k"), ("bins", "256")]),
    ("titan-v", "pagerank-push", &[("vertices", "16k"), ("edges", "100000")]),
    ("hlrc-128cu", "l1-resident", &[]),
    ("hlrc-128cu", "random-miss", &[]),
];

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    if let [word, case] = &words[..]
        && word == "measured"
    {
        let case = case.parse().ok().and_then(|case: usize| SMALL.get(case));
        let experiment = prepare(case.ok_or(io::ErrorKind::InvalidInput)?);
        measured(&experiment);
        return Ok(());
    }
    let asked = |name: &str| words.is_empty() || words.iter().any(|word| word == name);
    if asked("instructions") {
        instructions()?;
    }
    if asked("throughput") {
        throughput()?;
    }
    Ok(())
}

fn prepare((system, workload, settings): &Case) -> Experiment {
    let question = Question {
        system: (*system).to_owned(),
        scenario: "vi".to_owned(),
        workload: (*workload).to_owned(),
        settings: settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        ..Question::default()
    };
    let systems = Systems::with_folder("none but the built-in ones");
    Experiment::new(&systems, &question).unwrap_or_else(|error| panic!("{error}"))
}

/// The part that callgrind counts.
#[inline(never)]
fn measured(experiment: &Experiment) -> Record {
    let record = lab::run::run(experiment, &mut ()).unwrap_or_else(|error| panic!("{error}"));
    assert!(record.answer_ok, "{}: {:?}", record.workload, record.error);
    record
}

fn instructions() -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "instructions, by callgrind")?;
    if Command::new("valgrind").arg("--version").output().is_err() {
        return writeln!(out, "  skipped: valgrind is not installed\n");
    }
    writeln!(
        out,
        "  {:<12} {:<14} {:>14} {:>10} {:>12} {:>10}",
        "system", "workload", "instructions", "events", "an event", "a cycle"
    )?;
    let itself = std::env::current_exe()?;
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir_all(&folder)?;
    for (at, case) in SMALL.iter().enumerate() {
        let record = measured(&prepare(case));
        let report = folder.join(format!("callgrind.{at}"));
        let run = Command::new("valgrind")
            .args(["--tool=callgrind", "--toggle-collect=speed::measured", "--quiet"])
            .arg(format!("--callgrind-out-file={}", report.display()))
            .arg(&itself)
            .args(["measured", &at.to_string()])
            .output()?;
        let text = fs::read_to_string(&report).unwrap_or_default();
        let total = text.lines().find_map(|line| line.strip_prefix("totals: ")?.trim().parse::<u64>().ok());
        let (system, workload, _) = case;
        match total {
            Some(total) => writeln!(
                out,
                "  {system:<12} {workload:<14} {total:>14} {:>10} {:>12.0} {:>10.0}",
                record.events,
                total as f64 / record.events as f64,
                total as f64 / record.cycles as f64
            )?,
            None => {
                let reason = String::from_utf8_lossy(&run.stderr).lines().last().unwrap_or("").to_owned();
                writeln!(out, "  {system:<12} {workload:<14} not counted: {reason}")?;
            }
        }
    }
    writeln!(out)
}

fn throughput() -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "throughput on this machine (nothing is asserted)")?;
    writeln!(
        out,
        "  {:<12} {:<14} {:>8} {:>10} {:>12} {:>14} {:>12} {:>9}",
        "system", "workload", "CPU s", "cycles", "cycles/s", "L1 lines/s", "ns an event", "peak MiB"
    )?;
    for case in &LARGE {
        let experiment = prepare(case);
        let (cpu, wall) = (cpu_seconds(), Instant::now());
        let record = measured(&experiment);
        let seconds = match (cpu, cpu_seconds()) {
            (Some(from), Some(until)) => until - from,
            _ => wall.elapsed().as_secs_f64(),
        };
        let lines = record.counters.get("l1_accesses").copied().unwrap_or(0);
        let (system, workload, _) = case;
        writeln!(
            out,
            "  {system:<12} {workload:<14} {seconds:>8.3} {:>10} {:>12.0} {:>14.0} {:>12.1} {:>9}",
            record.cycles,
            record.cycles as f64 / seconds,
            lines as f64 / seconds,
            1e9 * seconds / record.events as f64,
            peak_mib().map_or("-".to_owned(), |mib| mib.to_string())
        )?;
    }
    writeln!(out)
}

/// The processor time of this thread, where the system tells.
fn cpu_seconds() -> Option<f64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}

/// The most memory this process ever held, where the system tells.
fn peak_mib() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib / 1024)
}
