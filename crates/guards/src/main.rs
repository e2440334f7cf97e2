//! The command line of this crate: it seeds faults into the guards of protocols.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use guards::campaign::{self, Options, PROTOCOLS};
use guards::record;
use guards::schema::Schema;
use guards::trials::Budget;

/// Seed faults into the guards of protocols, and count those that the verifier detects.
///
/// A guard is an expression that decides: a comparison, a mask, a counter, a key. The command
/// copies the crates of the protocols into a folder, seeds all faults into one build of this copy,
/// and tests each fault in processes of its own. If a run is interrupted, the next call continues
/// it.
#[derive(Debug, Parser)]
#[command(name = "guards", version)]
struct Arguments {
    /// A protocol whose cases (programs to try) are run; may be repeated [default: all protocols]
    #[arg(long, value_name = "NAME", value_parser = PROTOCOLS)]
    protocol: Vec<String>,
    /// Try only this number of mutants, drawn from the seed. With --classes, they are added to the
    /// mutants of the classes
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// The seed of the sample
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// Only mutants of this file or folder, or of this line of a file; may be repeated
    #[arg(long, value_name = "FILE[:LINE]")]
    only: Vec<String>,
    /// Try only the mutants that every verification must detect, one for each class of faults; the
    /// command fails if one of them is not killed
    #[arg(long)]
    classes: bool,
    /// List the mutants, and run none
    #[arg(long)]
    list: bool,
    /// Print the report as one JSON object
    #[arg(long)]
    json: bool,
    /// Add the report to this file, which the page of results shows. The report replaces the report
    /// of an earlier run with the same `--only`. The report of a run without `--only` replaces all
    /// others
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sample", "classes", "share"])]
    record: Option<PathBuf>,
    /// The number of processes that run cases (programs to try) at the same time
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,
    /// The maximum number of states for one mutant, summed over all cases (programs to try) of a
    /// protocol. The cases that are tried first, because they have killed other mutants, do not
    /// count
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    states: u64,
    /// The maximum number of states of a case (a program to try). Larger cases are left out
    #[arg(long, value_name = "N", default_value_t = 30_000)]
    case_states: u64,
    /// The maximum number of cases (programs to try) of a protocol for one mutant. The cases that
    /// are tried first, because they have killed other mutants, do not count
    #[arg(long, value_name = "N", default_value_t = 2500)]
    cases: usize,
    /// Use only one of every N cases (programs to try), for a quick look
    #[arg(long, value_name = "N", default_value_t = 1)]
    share: usize,
    /// Try again the mutants that earlier runs did not kill, for example after a change of programs
    #[arg(long)]
    again: bool,
    /// The folder of the rewritten copy of the crates, and of the results
    #[arg(long, value_name = "DIR", default_value = "target/guards")]
    folder: PathBuf,
}

impl Arguments {
    fn options(&self) -> Options {
        let only = |text: &String| match text.rsplit_once(':') {
            Some((file, line)) if line.parse::<usize>().is_ok() => (file.to_owned(), line.parse().ok()),
            _ => (text.clone(), None),
        };
        let protocols = match self.protocol.is_empty() {
            true => PROTOCOLS.iter().map(|&name| name.to_owned()).collect(),
            false => self.protocol.clone(),
        };
        // The child processes run in the rewritten tree, so the path must be absolute.
        let folder = std::path::absolute(&self.folder).unwrap_or_else(|_| self.folder.clone());
        Options {
            root: PathBuf::from("."),
            folder,
            protocols,
            sample: self.sample.map(|count| (count, self.seed)),
            only: self.only.iter().map(only).collect(),
            names: match self.classes {
                true => campaign::classes().map(|(name, _)| name.to_owned()).collect(),
                false => Vec::new(),
            },
            jobs: self.jobs,
            is_again: self.again,
            budget: Budget {
                states_max: self.states,
                case_states_max: self.case_states,
                cases_max: self.cases,
                share_of: self.share,
            },
        }
    }
}

fn main() -> ExitCode {
    match carry_out(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(why) => {
            let _ = writeln!(std::io::stderr(), "guards: {why}");
            ExitCode::from(2)
        }
    }
}

/// Carries out the command. A run of mutants returns true if the trials of all chosen mutants are
/// complete, no mutant survives except mutants that are argued to be equivalent, and no mutant that
/// is argued to be equivalent is killed. With `--classes`, all chosen mutants must also be killed.
fn carry_out(arguments: &Arguments) -> Result<bool, String> {
    let options = arguments.options();
    let mut out = std::io::stdout();
    let failed = |error: std::io::Error| format!("standard output: {error}");
    if arguments.list {
        let schema = Schema::of(&options.root)?;
        let mut text = String::new();
        for mutant in options.choose(&schema) {
            text +=
                &format!("{:5}  crates/{}:{}  {}\n", mutant.number, mutant.file, mutant.line, mutant.name);
        }
        return out.write_all(text.as_bytes()).map_err(failed).map(|()| true);
    }
    // Wrong input is reported before the build of the copy, which takes minutes.
    if options.choose(&Schema::of(&options.root)?).is_empty() {
        return Err(String::from("no mutant is in the files of --only, expected at least one"));
    }
    if let Some(path) = &arguments.record {
        record::read(path)?;
    }
    let report = campaign::run(&options, &|line: &str| {
        let _ = writeln!(std::io::stderr(), "{line}");
    })?;
    let text = match arguments.json {
        true => serde_json::to_string_pretty(&report).map_err(|error| error.to_string())? + "\n",
        false => report.text(),
    };
    out.write_all(text.as_bytes()).map_err(failed)?;
    if let Some(path) = &arguments.record {
        record::add(path, &report)?;
    }
    // The mutant of each class must be killed: it may not survive, and it may not only crash.
    let is_missed = |name: &&str| !report.kills.contains(*name);
    let missed: Vec<&str> = match arguments.classes {
        true => campaign::classes().map(|(name, _)| name).filter(is_missed).collect(),
        false => Vec::new(),
    };
    for name in &missed {
        writeln!(out, "not killed, although it represents a class of faults: {name}").map_err(failed)?;
    }
    Ok(report.is_good() && missed.is_empty())
}
