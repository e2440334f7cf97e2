//! The command `fencepost verify --replay`, which replays a counterexample from a file, in the
//! explorer or with timing.

use std::io::Write;
use std::path::Path;

use explore::trace::{Obstacle, Verdict};
use explore::{Replay, Trace, chart};
use lab::replay::Timed;
use lab::systems::{Changes, Systems};
use lab::verify::{Replayed, ReplayedRun, protocols};
use serde_json::{Value, json};

use crate::Failure;
use crate::args::VerifyArguments;
use crate::clock::Deadline;
use crate::output::{Listening, write_json};
use crate::progress::Progress;
use crate::suite::files;
use crate::words::grouped;

/// Replays the trace in a file. The check fails if the replay shows a fault.
pub(crate) fn replay(path: &Path, arguments: &VerifyArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let text = files::read_text(path).map_err(Failure::BadInput)?;
    let place = |what: String| Failure::BadInput(format!("{}: {what}", path.display()));
    let trace = Trace::read(&text, subjects::explored)
        .map_err(|error| Failure::BadInput(format!("{}:{}: {}", path.display(), error.line, error.what)))?;
    let name = &*trace.protocol;
    protocols(Some(name)).map_err(Failure::BadInput)?;
    let listening = Listening::start();
    let deadline = Deadline::after(arguments.timeout);
    let stop = || listening.interrupted() || deadline.passed();
    let progress = Progress::of_one(&format!("replaying {}", path.display()));
    let changes = Changes::parse(&arguments.machine);
    let load = |system: &String| Systems::default().load_changed(system, &changes.0);
    let system = arguments.system.as_ref().map(load).transpose().map_err(lab::Error::from)?;
    let replayed = lab::verify::replay(&trace, system.as_ref(), arguments.memory, &stop);
    let replayed = replayed.map_err(|obstacle| match obstacle {
        Obstacle::Unfit(why) => place(why),
        Obstacle::Incomplete(why) => Failure::CheckFailed(format!("{name}: the replay is incomplete: {why}")),
    })?;
    drop(progress);
    let sentence = replayed.sentence().map_err(|end| place(end.to_owned()))?;
    let system = system.map_or_else(String::new, |system| system.name);
    let Replayed { shown, verdict, end, reasons } = &replayed;
    if arguments.json {
        let mut report = json!({
            "protocol": name,
            "test": trace.test,
            "models": trace.models,
            "why": trace.violation.why,
        });
        match shown {
            ReplayedRun::Explored(replay) => report["chart"] = json!(chart::text(replay, &trace.title())),
            ReplayedRun::Timed(timed) => {
                report["system"] = json!(system);
                if !changes.is_empty() {
                    report["machine"] = json!(changes);
                }
                report["moves"] = moves(timed);
            }
        }
        report["end"] = json!(end);
        report["same"] = json!(*verdict == Verdict::Same);
        report["fault"] = json!(*verdict != Verdict::Gone);
        report["reasons"] = json!(reasons);
        write_json(out, &report)?;
    } else {
        match shown {
            ReplayedRun::Explored(replay) => writeln!(out, "{}", chart::text(replay, &trace.title()))?,
            ReplayedRun::Timed(timed) => {
                writeln!(out, "{}", timed_text(&trace, timed, &changes.after(&system)))?
            }
        }
        writeln!(out, "{sentence}: {end}")?;
    }
    match replayed.complaint(&trace) {
        Some(complaint) => Err(Failure::CheckFailed(complaint)),
        None => Ok(()),
    }
}

/// The place and the description of a move (a step of the replayed counterexample), as text. The
/// place is a controller or memory, or the sender and the receiver of a message. `None` if the
/// replay in the explorer has no move with the index `at`.
fn what(explored: &Replay, at: usize) -> Option<(String, &str)> {
    let step = explored.steps.get(at)?;
    let lane = |lane: usize| explored.lanes.get(lane).map_or("?", String::as_str);
    let place = match step.lanes {
        (from, to) if from == to => lane(from).to_owned(),
        (from, to) => format!("{} -> {}", lane(from), lane(to)),
    };
    Some((place, &step.text))
}

/// The moves (steps) of the timed replay as JSON, each with its cycle.
fn moves(timed: &Timed) -> Value {
    let moves = timed.cycles.iter().enumerate().map(|(at, cycle)| {
        let (place, text) = what(&timed.explored, at).unwrap_or_default();
        json!({ "cycle": cycle, "at": place, "what": text })
    });
    moves.collect()
}

fn timed_text(trace: &Trace, timed: &Timed, system: &str) -> String {
    let mut lines = vec![trace.title(), format!("timed, with the latencies of {system}")];
    if timed.placement != trace.placement {
        lines.push(String::from(
            "the timed replay uses words of four bytes; this does not change the outcome of the run",
        ));
    }
    lines.push(String::new());
    for (at, cycle) in timed.cycles.iter().enumerate() {
        let Some(cycle) = cycle else { continue };
        let (place, text) = what(&timed.explored, at).unwrap_or_default();
        let line = format!("{:>3}  cycle {:>8}  {place:<18}  {text}", at + 1, grouped(*cycle));
        lines.push(line.trim_end().to_owned());
    }
    if !timed.reasons.is_empty() {
        lines.push(String::new());
        lines.extend(timed.reasons.iter().cloned());
    }
    lines.join("\n") + "\n"
}
