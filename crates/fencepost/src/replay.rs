//! `fencepost verify --replay`: a counterexample from a file, made again.

use std::io::Write;
use std::path::Path;

use explore::trace::Replayed;
use explore::{Subject, Trace, chart};
use serde_json::json;

use crate::Failure;
use crate::args::VerifyArguments;
use crate::clock::Deadline;
use crate::output::{Listening, write_json};
use crate::suite::files;
use crate::verify::known;

/// Makes the moves of a file again. The check fails if the fault is still there.
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
    let Replayed { replay, is_same, end } = match trace.replay(&subject, &stop) {
        Err(why) if stop() => return Err(Failure::CheckFailed(format!("stopped before the end: {why}"))),
        replayed => replayed.map_err(place)?,
    };
    let shown = chart::text(&replay, &trace.title());
    if arguments.json {
        write_json(
            out,
            &json!({
                "protocol": name,
                "test": trace.test,
                "models": trace.models,
                "why": trace.violation.why,
                "end": end,
                "same": is_same,
                "reasons": replay.reasons,
                "chart": shown,
            }),
        )?;
    } else {
        writeln!(out, "{shown}")?;
        let verdict = if is_same { "The same fault comes out" } else { "Another end" };
        writeln!(out, "{verdict}: {end}")?;
    }
    // Another outcome that is forbidden is no better.
    if is_same || !replay.reasons.is_empty() {
        return Err(Failure::CheckFailed(format!("{name} fails {}: {end}", trace.test)));
    }
    Ok(())
}
