//! The command `fencepost stress`, which runs random race-free programs on a protocol.

use std::io::Write;
use std::num::NonZeroUsize;

use explore::stress::{Options, StressReport};
use lab::stress::complaint;
use lab::verify::protocols;
use serde_json::{Value, json};

use crate::Failure;
use crate::args::StressArguments;
use crate::clock::{Deadline, Stopwatch};
use crate::output::{Listening, write_reports};
use crate::progress::Progress;
use crate::verify::cores;
use crate::words::counted;

pub(crate) fn stress(arguments: &StressArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let names = protocols(arguments.protocol.as_deref()).map_err(Failure::BadInput)?;
    let listening = Listening::start();
    let deadline = Deadline::after(arguments.timeout);
    let stop = || listening.interrupted() || deadline.passed();
    let mut reports = Vec::new();
    let mut complaints = Vec::new();
    for name in names {
        let watch = Stopwatch::start();
        let stressed = stress_one(name, arguments, &stop).map_err(Failure::BadInput)?;
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

/// Runs the stress test of one protocol, with a progress bar.
fn stress_one(
    name: &str,
    arguments: &StressArguments,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<StressReport, String> {
    let episodes = usize::try_from(arguments.episodes).unwrap_or(usize::MAX);
    let bar = Progress::counting(episodes, &format!("episodes of {name}"));
    let options = Options {
        seed: arguments.seed,
        episodes: arguments.episodes,
        model: arguments.model.as_deref(),
        seeded_fault: None,
        chiplets: arguments.chiplets,
        overtaking: arguments.unordered,
        shrink: true,
        jobs: arguments.jobs.map_or_else(cores, NonZeroUsize::get),
        stop,
        progress: &|episodes| bar.more(episodes as usize),
    };
    lab::stress::stress(name, &options)
}

fn show(name: &str, stressed: &StressReport, seconds: f64, out: &mut dyn Write) -> Result<(), Failure> {
    let StressReport { episodes, checked, operations, evictions, kernels, preemptions, failure } = stressed;
    let counted = |count: u64, noun: &str| counted(count as usize, noun);
    writeln!(
        out,
        "{name}: {}, {} checked, {}, {}, {}, {}, {seconds:.1} s",
        counted(*episodes, "episode"),
        counted(*checked, "loaded value"),
        counted(*operations, "operation"),
        counted(*evictions, "eviction"),
        counted(*kernels, "kernel"),
        counted(*preemptions, "preemption")
    )?;
    if let Some(failure) = failure {
        write!(out, "\n{failure}\n")?;
    }
    Ok(())
}

fn report(name: &str, stressed: &StressReport, seconds: f64) -> Value {
    let failure = stressed.failure.as_ref().map(|failure| {
        let program =
            failure.program.iter().map(|(thread, steps)| json!({ "thread": thread, "operations": steps }));
        json!({
            "seed": failure.seed,
            "what": failure.what,
            "machine": failure.machine,
            "program": program.collect::<Vec<_>>(),
            "words": failure.words,
            "program_what": failure.small_what,
        })
    });
    json!({
        "protocol": name,
        "episodes": stressed.episodes,
        "checked": stressed.checked,
        "operations": stressed.operations,
        "evictions": stressed.evictions,
        "kernels": stressed.kernels,
        "preemptions": stressed.preemptions,
        "failure": failure,
        "wall_seconds": seconds,
    })
}
