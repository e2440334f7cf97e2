//! Benchmarks of the work that commands of Fencepost do on the computer that runs them.
//!
//! Each benchmark is a command of the release binary. Callgrind counts its instructions, and
//! `benches/baseline.toml` records the counts. A benchmark fails if its count grows by more than
//! 3%. The duration of the command is shown, but does not decide whether the benchmark fails.
//!
//! `cargo bench [-- [--bless] [NAME...]]`

#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

mod baseline;

use core::num::NonZeroU64;
use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};
use std::time::Instant;
use std::{env, fs};

use baseline::{BLESS, Counts};
use proto::words::grouped;
use serde_json::Value;

/// A command to measure.
struct Benchmark {
    name: &'static str,
    command: &'static str,
    /// The place of the amount of work in the JSON output of the command (a JSON pointer), and the
    /// unit of this amount.
    work: Option<(&'static str, &'static str)>,
}

const fn of(
    name: &'static str,
    command: &'static str,
    work: Option<(&'static str, &'static str)>,
) -> Benchmark {
    Benchmark { name, command, work }
}

const LINES: Option<(&str, &str)> = Some(("/counters/l1_accesses", "lines"));

/// A command on `titan-v` with whole lines, whose memory serves accesses in order of arrival. So a
/// change of the machine's description does not change the work of a benchmark.
macro_rules! on_titan {
    ($rest:literal) => {
        concat!(
            "run --system titan-v --machine l1.sector_bytes=128 --machine dram.scheduler=oldest-first ",
            "--machine dram.channel_spread=even --machine dram.row_cycle_cycles=0 ",
            "--machine dram.row_to_row_cycles=0 --machine dram.bank_groups=0 ",
            "--machine dram.group_bytes_per_cycle=0 --machine dram.read_to_write_cycles=0 ",
            "--machine dram.write_to_read_cycles=0 --protocol vi --workload ",
            $rest,
            " --json"
        )
    };
}

/// All benchmarks. The sizes of their inputs are chosen so that each executes 100 to 500 million
/// instructions.
const BENCHMARKS: [Benchmark; 11] = [
    of("vec-add", on_titan!("vec-add --set n=64k"), LINES),
    of(
        "l1-resident",
        "run --system hlrc-128cu --protocol vi --workload l1-resident --set work-groups=128 --set reads=32 --json",
        LINES,
    ),
    of(
        "random-miss",
        "run --system hlrc-128cu --protocol vi --workload random-miss --set work-groups=16 --set reads=4 \
         --set mib=8 --json",
        LINES,
    ),
    of("histogram", on_titan!("histogram --set n=32k"), LINES),
    of("pagerank-push", on_titan!("pagerank-push --set vertices=4k --set edges=24k"), LINES),
    of(
        "launch",
        "run --system hlrc-8cu --protocol vi --workload cache-reuse --set kernels=1000 --set n=64 \
         --set work-groups=1 --json",
        Some(("/counters/kernels", "launches")),
    ),
    // Epochs change all the time, also between kernels.
    of(
        "launch-epochs",
        "run --system stc-8cu --protocol stc-nv --workload square --set launches=200 --set n=1 \
         --set work-groups=1 --json",
        Some(("/counters/kernels", "launches")),
    ),
    of(
        "verify",
        "verify vi-targeted --litmus litmus/c11/IRIW+sc.litmus --operations 0 --jobs 1 --json",
        Some(("/states", "states")),
    ),
    of("stress", "stress vi --episodes 500 --jobs 1 --json", Some(("/episodes", "episodes"))),
    of(
        "litmus",
        "litmus litmus/runtime/pop-steal+scoped.litmus litmus/runtime/lock-counter+device.litmus --model opencl \
         --jobs 1 --json",
        None,
    ),
    of("race", "race --system hrf-8cu --workload stencil --json", Some(("/usage/accesses", "accesses"))),
];

/// The number of runs in which the duration of a command is measured. The shortest duration is
/// shown.
const TIMED_RUNS: u32 = 3;

/// Settings of the C library. They stop the library from using instructions that not every
/// processor has. They also stop it from copying with a single instruction, which callgrind would
/// count once for each byte.
const TUNABLES: &str = "glibc.cpu.hwcaps=-AVX512F,-AVX2,-AVX2_Usable,-ERMS";

fn main() -> ExitCode {
    match measure() {
        Ok(code) => code,
        Err(why) => {
            writeln!(io::stderr(), "{why}").ok();
            ExitCode::FAILURE
        }
    }
}

fn measure() -> Result<ExitCode, String> {
    let mut is_blessed = env::var_os("FENCEPOST_BLESS").is_some();
    let mut names = Vec::new();
    for word in env::args().skip(1) {
        match word.as_str() {
            // Cargo passes this argument.
            "--bench" => {}
            "--bless" => is_blessed = true,
            name if BENCHMARKS.iter().any(|benchmark| benchmark.name == name) => names.push(word),
            _ => {
                let all = BENCHMARKS.map(|benchmark| benchmark.name).join(", ");
                return Err(format!("'{word}' is none of --bless, {all}"));
            }
        }
    }
    if is_blessed && !names.is_empty() {
        return Err("--bless writes the counts of all benchmarks: name none".to_owned());
    }
    let is_chosen = |name: &str| {
        names.is_empty() || names.iter().any(|chosen| chosen == name || bytes_of(chosen) == name)
    };

    let stage = Stage::find()?;
    let can_count = Command::new("valgrind").arg("--version").output().is_ok();
    let mut counts = BTreeMap::new();
    let mut seconds = String::new();
    for benchmark in BENCHMARKS.iter().filter(|benchmark| is_chosen(benchmark.name)) {
        let (line, state_bytes) = stage.time(benchmark)?;
        seconds.push_str(&line);
        if can_count {
            counts.insert(benchmark.name.to_owned(), stage.count(benchmark)?);
            counts.extend(state_bytes.map(|bytes| (bytes_of(benchmark.name), bytes)));
        }
    }
    say(&format!("the best of {TIMED_RUNS} runs on this machine, compared with nothing\n{seconds}"));
    if !can_count {
        say("instructions: skipped, valgrind is not installed");
        return if is_blessed {
            Err("there are no counts to write".to_owned())
        } else {
            Ok(ExitCode::SUCCESS)
        };
    }
    let (compiler, target) = compiler()?;
    let counts = Counts { compiler, target, counts };
    conclude(&counts, &stage.root.join("benches/baseline.toml"), is_blessed, is_chosen)
}

/// Prints a comparison of the counts with the baseline file at `path`. If `is_blessed` is true,
/// writes the counts to this file; otherwise fails if a benchmark fails.
fn conclude(
    counts: &Counts,
    path: &Path,
    is_blessed: bool,
    is_chosen: impl Fn(&str) -> bool,
) -> Result<ExitCode, String> {
    let named = |error: String| format!("{}: {error}", path.display());
    let text = fs::read_to_string(path).map_err(|error| error.to_string());
    let kept = text.and_then(|text| Counts::parse(&text)).map_err(named);
    // A missing or faulty file is rewritten too.
    let kept = if is_blessed { kept.unwrap_or_else(|_| counts.clone()) } else { kept? };
    let found = counts.compare(&kept, is_chosen);
    say("instructions, counted by callgrind");
    say(&found.table);
    if is_blessed {
        fs::write(path, counts.text()).map_err(|error| named(error.to_string()))?;
        say(&format!("written to {}", path.display()));
        return Ok(ExitCode::SUCCESS);
    }
    found.notes.iter().chain(&found.failures).for_each(|line| say(line));
    if found.failures.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    say(&format!("where this is meant, {BLESS} writes the baseline anew, and the commit says why"));
    Ok(ExitCode::FAILURE)
}

/// The environment in which the commands of benchmarks run: the root of the repository and the path
/// of the program.
struct Stage {
    root: PathBuf,
    binary: PathBuf,
}

impl Stage {
    fn find() -> Result<Stage, String> {
        let root = fs::canonicalize(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let root = root.map_err(|error| format!("the repository: {error}"))?;
        let binary = Path::new(env!("CARGO_BIN_EXE_fencepost"));
        // A path of another length moves the data behind it in memory, and copies
        // then take more or fewer instructions.
        let binary = binary.strip_prefix(&root).unwrap_or(binary).to_owned();
        Ok(Stage { root, binary })
    }

    /// Runs a program in the repository, without the user's settings.
    fn run(&self, program: &Path, arguments: &[&str], benchmark: &Benchmark) -> Result<Output, String> {
        let path = env::var_os("PATH").unwrap_or_default();
        let mut command = Command::new(program);
        command.args(arguments).args(benchmark.command.split_whitespace());
        command.current_dir(&self.root).env_clear().env("PATH", path).env("GLIBC_TUNABLES", TUNABLES);
        let output = command.output().map_err(|error| format!("{}: {error}", program.display()))?;
        if output.status.success() {
            return Ok(output);
        }
        let why = String::from_utf8_lossy(&output.stderr);
        Err(format!("{}: `fencepost {}`: {}\n{why}", benchmark.name, benchmark.command, output.status))
    }

    /// Measures the duration of the command. Returns a line with the duration, and the number of
    /// bytes of the explored states, if the command reports this number.
    fn time(&self, benchmark: &Benchmark) -> Result<(String, Option<NonZeroU64>), String> {
        let (mut seconds, mut report) = (f64::INFINITY, Value::Null);
        for _ in 0..TIMED_RUNS {
            let start = Instant::now();
            let output = self.run(&self.root.join(&self.binary), &[], benchmark)?;
            seconds = seconds.min(start.elapsed().as_secs_f64());
            report = serde_json::from_slice(&output.stdout)
                .map_err(|error| format!("{}: {error}", benchmark.name))?;
        }
        let number = |at: &str| report.pointer(at).and_then(Value::as_u64);
        let mut line = format!("{:<22} {:>8.0} ms", benchmark.name, 1e3 * seconds);
        if let Some((at, noun)) = benchmark.work {
            let work = number(at).ok_or_else(|| format!("{}: the JSON has no {at}", benchmark.name))?;
            line += &format!(" {:>12} {noun} a second", grouped((work as f64 / seconds) as u64));
        }
        let state_bytes = number("/state_bytes").and_then(NonZeroU64::new);
        if let (Some(bytes), Some(states)) = (state_bytes, number("/states")) {
            line += &format!(", {:.1} bytes a state", bytes.get() as f64 / states as f64);
        }
        Ok((line + "\n", state_bytes))
    }

    /// The number of instructions that the command executes, counted by callgrind. The number
    /// varies by a few dozen between runs.
    fn count(&self, benchmark: &Benchmark) -> Result<NonZeroU64, String> {
        let binary = self.binary.to_string_lossy();
        let arguments = ["--tool=callgrind", "--callgrind-out-file=/dev/null", &*binary];
        let output = self.run(Path::new("valgrind"), &arguments, benchmark)?;
        let text = String::from_utf8_lossy(&output.stderr);
        let count = text.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
        count.ok_or_else(|| format!("{}: valgrind counted nothing:\n{text}", benchmark.name))
    }
}

/// The name under which the baseline file has the number of bytes of the states that a benchmark
/// explores. `name` is the name of the benchmark.
fn bytes_of(name: &str) -> String {
    format!("{name}-state-bytes")
}

/// The version line of the installed compiler, and its target platform.
fn compiler() -> Result<(String, String), String> {
    let output = Command::new("rustc").arg("-vV").output().map_err(|error| format!("rustc: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let target = text.lines().find_map(|line| line.strip_prefix("host: "));
    match (text.lines().next(), target) {
        (Some(compiler), Some(target)) => Ok((compiler.to_owned(), target.to_owned())),
        _ => Err("rustc -vV does not name the compiler and its target".to_owned()),
    }
}

fn say(text: &str) {
    // A reader that closed the output needs no more of it.
    writeln!(io::stdout(), "{text}").ok();
}
