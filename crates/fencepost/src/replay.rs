//! `fencepost verify --replay`: a counterexample from a file, made again by the
//! explorer or with the timing.

use std::io::Write;
use std::path::Path;

use explore::trace::{Obstacle, Replayed, Verdict};
use explore::{Replay, Subject, Trace, chart};
use lab::replay::Timed;
use lab::systems::Systems;
use serde_json::{Value, json};

use crate::Failure;
use crate::args::VerifyArguments;
use crate::clock::Deadline;
use crate::output::{Listening, write_json};
use crate::progress::Progress;
use crate::suite::files;
use crate::table::grouped;
use crate::verify::{TEST_BYTES, known};

/// Makes the moves of a file again. The check fails if anything comes out that must
/// not be.
pub(crate) fn replay(path: &Path, arguments: &VerifyArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let text = files::read_text(path).map_err(Failure::BadInput)?;
    let place = |what: String| Failure::BadInput(format!("{}: {what}", path.display()));
    let trace: Trace = text.parse().map_err(|error: explore::trace::TraceError| {
        Failure::BadInput(format!("{}:{}: {}", path.display(), error.line, error.what))
    })?;
    let name = known(&trace.protocol)?;
    let listening = Listening::start();
    let deadline = Deadline::after(arguments.timeout);
    let stop = || listening.interrupted() || deadline.passed();
    let Some(subject) = Subject::named(name) else { return Ok(()) };
    let progress = Progress::of_one(&format!("replaying {}", path.display()));
    let hindered = |obstacle: Obstacle| match obstacle {
        Obstacle::Unfit(why) => place(why),
        Obstacle::Incomplete(why) => {
            Failure::CheckFailed(format!("{name}: not everything was covered: {why}"))
        }
    };
    let mut report = json!({
        "protocol": name,
        "test": trace.test,
        "models": trace.models,
        "why": trace.violation.why,
    });
    let (shown, verdict, end, reasons) = match &arguments.system {
        None => {
            let replayed =
                trace.replay(&subject, arguments.memory.unwrap_or(TEST_BYTES), &stop).map_err(hindered)?;
            let Replayed { replay, verdict, end } = replayed;
            let shown = chart::text(&replay, &trace.title());
            report["chart"] = json!(shown);
            (shown, verdict, end, replay.reasons)
        }
        Some(system) => {
            let system = Systems::default().load(system)?;
            let timed = lab::replay::replay(&trace, &subject, &system, &stop).map_err(hindered)?;
            report["system"] = json!(system.name);
            report["moves"] = moves(&timed);
            (timed_text(&trace, &timed, &system.name), timed.verdict, timed.end, timed.reasons)
        }
    };
    drop(progress);
    let sentence = match verdict {
        Verdict::Same => "The same fault comes out",
        Verdict::Another => "Another fault comes out",
        Verdict::Gone => "No fault comes out any more",
        Verdict::Misfit => return Err(place(end)),
    };
    if arguments.json {
        report["end"] = json!(end);
        report["same"] = json!(verdict == Verdict::Same);
        report["fault"] = json!(verdict != Verdict::Gone);
        report["reasons"] = json!(reasons);
        write_json(out, &report)?;
    } else {
        writeln!(out, "{shown}")?;
        writeln!(out, "{sentence}: {end}")?;
    }
    if verdict != Verdict::Gone {
        return Err(Failure::CheckFailed(format!("{name} fails {}: {end}", trace.test)));
    }
    Ok(())
}

/// Who does what in a move, in words.
fn what(explored: &Replay, at: usize) -> Option<(String, &str)> {
    let step = explored.steps.get(at)?;
    let lane = |lane: usize| explored.lanes.get(lane).map_or("?", String::as_str);
    let place = match step.lanes {
        (from, to) if from == to => lane(from).to_owned(),
        (from, to) => format!("{} -> {}", lane(from), lane(to)),
    };
    Some((place, &step.text))
}

/// The moves with their cycles.
fn moves(timed: &Timed) -> Value {
    let moves = timed.cycles.iter().enumerate().map(|(at, cycle)| {
        let (place, text) = what(&timed.explored, at).unwrap_or_default();
        json!({ "cycle": cycle, "at": place, "what": text })
    });
    moves.collect()
}

fn timed_text(trace: &Trace, timed: &Timed, system: &str) -> String {
    let mut lines = vec![trace.title(), format!("timed, with the latencies of {system}"), String::new()];
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
