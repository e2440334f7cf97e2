//! `fencepost stress`.

use std::io::Write;
use std::num::NonZeroUsize;

use explore::stress::{self, Options, Stressed};
use serde_json::{Value, json};

use crate::Failure;
use crate::args::StressArguments;
use crate::clock::{Deadline, Stopwatch};
use crate::output::{Listening, write_reports};
use crate::progress::Progress;
use crate::table::{counted, grouped};
use crate::verify::known;

pub(crate) fn stress(arguments: &StressArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let names: Vec<&str> = match &arguments.protocol {
        Some(name) => vec![known(name)?],
        None => zoo::ALL.iter().map(|info| info.name).collect(),
    };
    let listening = Listening::start();
    let deadline = Deadline::after(arguments.timeout);
    let stop = || listening.interrupted() || deadline.passed();
    let mut reports = Vec::new();
    let mut complaints = Vec::new();
    for name in names {
        let watch = Stopwatch::start();
        let Some(stressed) = zoo::with(name, Stress { arguments, stop: &stop }) else { continue };
        let stressed = stressed.map_err(|why| Failure::BadInput(format!("{name}: {why}")))?;
        complaints.extend(complaint(name, &stressed, arguments.episodes));
        if arguments.json {
            reports.push(report(name, &stressed, watch.seconds()));
        } else {
            show(name, &stressed, watch.seconds(), out)?;
        }
    }
    if arguments.json {
        write_reports(out, arguments.protocol.is_some(), reports)?;
    }
    if complaints.is_empty() { Ok(()) } else { Err(Failure::CheckFailed(complaints.join("\n"))) }
}

struct Stress<'a> {
    arguments: &'a StressArguments,
    stop: &'a (dyn Fn() -> bool + Sync),
}

impl zoo::Visit for Stress<'_> {
    type Output = Result<Stressed, String>;

    fn visit<P: proto::Protocol>(self) -> Self::Output {
        let episodes = usize::try_from(self.arguments.episodes).unwrap_or(usize::MAX);
        let progress = Progress::counting(episodes, &format!("episodes of {}", P::INFO.name));
        let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        stress::stress::<P>(&Options {
            seed: self.arguments.seed,
            episodes: self.arguments.episodes,
            model: self.arguments.model.as_deref(),
            mutation: None,
            chiplets: self.arguments.chiplets,
            jobs: self.arguments.jobs.map_or_else(cores, NonZeroUsize::get),
            stop: self.stop,
            progress: &|episodes| progress.more(episodes as usize),
        })
    }
}

fn complaint(name: &str, stressed: &Stressed, wanted: u64) -> Option<String> {
    match &stressed.failure {
        Some(failure) => {
            Some(format!("{name} fails with --seed {} --episodes 1: {}", failure.seed, failure.what))
        }
        None if stressed.episodes < wanted => Some(format!(
            "{name}: stopped after {} of {}",
            grouped(stressed.episodes),
            counted(wanted as usize, "episode")
        )),
        None => None,
    }
}

fn show(name: &str, stressed: &Stressed, seconds: f64, out: &mut dyn Write) -> Result<(), Failure> {
    let Stressed { episodes, checked, operations, evictions, failure } = stressed;
    let counted = |count: u64, noun: &str| counted(count as usize, noun);
    writeln!(
        out,
        "{name}: {}, {} checked, {}, {}, {seconds:.1} s",
        counted(*episodes, "episode"),
        counted(*checked, "loaded value"),
        counted(*operations, "operation"),
        counted(*evictions, "eviction")
    )?;
    if let Some(failure) = failure {
        write!(out, "\n{failure}\n")?;
    }
    Ok(())
}

fn report(name: &str, stressed: &Stressed, seconds: f64) -> Value {
    let failure = stressed.failure.as_ref().map(|failure| {
        let program =
            failure.program.iter().map(|(thread, steps)| json!({ "thread": thread, "operations": steps }));
        json!({
            "seed": failure.seed,
            "what": failure.what,
            "machine": failure.machine,
            "program": program.collect::<Vec<_>>(),
            "program_what": failure.small_what,
        })
    });
    json!({
        "protocol": name,
        "episodes": stressed.episodes,
        "checked": stressed.checked,
        "operations": stressed.operations,
        "evictions": stressed.evictions,
        "failure": failure,
        "wall_seconds": seconds,
    })
}
