//! The command `fencepost verify --cutoff`, which checks programs with any number of compute units.

use std::io::Write;
use std::num::NonZeroUsize;

use explore::cutoff::{Closure, Cutoff, Options, UNITS_MAX};
use lab::verify::{cutoffs, protocols};
use serde_json::{Value, json};

use super::cores;
use crate::Failure;
use crate::args::VerifyArguments;
use crate::clock::{Deadline, Stopwatch};
use crate::output::{Listening, write_reports};
use crate::table::{Side, Table};
use crate::words::{counted, grouped};

/// Checks the programs of each protocol with a growing number of compute units, and prints the
/// results.
pub(super) fn cutoff(arguments: &VerifyArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let protocols = protocols(arguments.protocol.as_deref()).map_err(Failure::BadInput)?;
    let jobs = arguments.jobs.map_or_else(cores, NonZeroUsize::get);
    let listening = Listening::start();
    let deadline = Deadline::after(arguments.timeout);
    let stop = || listening.interrupted() || deadline.passed();
    let (mut reports, mut complaints) = (Vec::new(), Vec::new());
    for (at, protocol) in protocols.iter().enumerate() {
        if at > 0 && stop() {
            complaints.push(format!("there was no time for {}", protocols[at..].join(", ")));
            break;
        }
        let watch = Stopwatch::start();
        let all = cutoffs(protocol, Options::new(jobs, &stop)).map_err(Failure::BadInput)?;
        let seconds = watch.seconds();
        if arguments.json {
            reports.push(report(protocol, &all, seconds));
        } else {
            show(protocol, &all, seconds, out)?;
        }
        let open = all.iter().filter(|one| !one.is_closed()).count();
        if open > 0 {
            let programs = counted(all.len(), "program");
            complaints.push(format!(
                "{protocol}: {open} of {programs} not verified for an arbitrary number of compute units"
            ));
        }
    }
    if arguments.json {
        write_reports(out, arguments.protocol.is_some(), reports)?;
    }
    if complaints.is_empty() { Ok(()) } else { Err(Failure::CheckFailed(complaints.join("\n"))) }
}

/// Prints the verdict on a protocol, then a table of its programs for each machine.
fn show(protocol: &str, all: &[Cutoff], seconds: f64, out: &mut dyn Write) -> Result<(), Failure> {
    let closed = all.iter().filter(|one| one.is_closed()).count();
    writeln!(
        out,
        "{protocol}: {closed} of {} verified for any number of compute units ({seconds:.1} s)",
        counted(all.len(), "program")
    )?;
    for machine in all.chunk_by(|one, next| (one.bounds, one.scope) == (next.bounds, next.scope)) {
        writeln!(out, "\n{}", machine[0].machine())?;
        let units = (2..=UNITS_MAX).map(|units| format!("{units} units"));
        let headings: Vec<String> = units.chain([String::from("any number")]).collect();
        let numbers = headings.iter().map(|heading| (heading.as_str(), Side::Right));
        let columns = [("flag", Side::Left), ("listeners write", Side::Left)].into_iter().chain(numbers);
        let mut table = Table::new(&columns.collect::<Vec<_>>());
        for one in machine {
            let names = [one.program, one.layout].map(str::to_owned);
            let grown = (2..=UNITS_MAX).map(|units| match one.views(units) {
                Some(views) => grouped(views as u64),
                None => String::from("-"),
            });
            let any = match &one.closure {
                Closure::Closed { views, .. } => grouped(*views as u64),
                _ => String::from("open"),
            };
            table.row(names.into_iter().chain(grown).chain([any]));
        }
        table.within(100).write(out)?;
        for one in machine.iter().filter(|one| !one.is_closed()) {
            writeln!(out, "  {}, {}: {}", one.program, one.layout, one.closure)?;
        }
    }
    Ok(())
}

fn report(protocol: &str, all: &[Cutoff], seconds: f64) -> Value {
    let programs = all.iter().map(|one| {
        let growth = one.growth.iter().map(
            |growth| json!({ "units": growth.listeners + 1, "states": growth.states, "views": growth.views }),
        );
        let (views, shared) = match one.closure {
            Closure::Closed { views, shared } => (Some(views), Some(shared)),
            _ => (None, None),
        };
        json!({
            "flag": one.program,
            "listeners_write": one.layout,
            "machine": one.machine(),
            "growth": growth.collect::<Vec<_>>(),
            "closed": one.is_closed(),
            "views": views,
            "shared": shared,
            "why": (!one.is_closed()).then(|| one.closure.to_string()),
        })
    });
    json!({
        "protocol": protocol,
        "verified": all.iter().all(Cutoff::is_closed),
        "programs": programs.collect::<Vec<_>>(),
        "wall_seconds": seconds,
    })
}
