//! The command `fencepost race`, which detects races in runs of a program, and advises on scopes.

use std::io::Write;

use lab::Record;
use lab::experiment::{Experiment, Question};
use lab::race::{
    Pairing, RaceModel, RaceOptions, Races, RacingAccess, Saving, WideScope, level_name, races, savings,
};
use lab::run::Pulse;
use lab::systems::{Changes, Systems};
use serde::Serialize;

use crate::Failure;
use crate::args::{RaceArguments, RaceFree, SyncOrder};
use crate::output::write_json;
use crate::progress::Progress;
use crate::table::{Side, Table};
use crate::words::{counted, grouped};

/// The data that `fencepost race --json` prints.
#[derive(Serialize)]
struct Printed<'a> {
    system: &'a str,
    #[serde(skip_serializing_if = "Changes::is_empty")]
    machine: &'a Changes,
    protocol: &'a str,
    policy: String,
    workload: &'a str,
    model: &'a str,
    seed: u64,
    #[serde(flatten)]
    races: &'a Races,
    #[serde(skip_serializing_if = "Option::is_none")]
    savings: Option<&'a [Saving]>,
}

pub(crate) fn race(arguments: &RaceArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let scenario = match (&arguments.scenario, &arguments.policy) {
        (Some(scenario), _) => scenario.clone(),
        (None, None) => arguments.protocol.clone(),
        (None, Some(policy)) => format!("{}+{}", arguments.protocol, policy.replace(',', "+")),
    };
    let workload = arguments.workload.clone();
    let question = Question { scenario, workload, ..arguments.common.question() };
    let preparing = Progress::of_one("reading the input");
    let experiment = Experiment::new(&Systems::default(), &question)?;
    drop(preparing);
    let (model, name) = match arguments.model {
        RaceFree::Drf => (RaceModel::Drf, "drf"),
        RaceFree::HrfDirect => (RaceModel::HrfDirect, "hrf-direct"),
        RaceFree::HrfIndirect => (RaceModel::HrfIndirect, "hrf-indirect"),
    };
    let pairing = match arguments.so {
        SyncOrder::AnyLocation => Pairing::AnyLocation,
        SyncOrder::SameLocation => Pairing::SameLocation,
    };
    let options = RaceOptions { model, pairing };
    let found =
        with_progress(arguments.seeds as usize, |each| races(&experiment, options, arguments.seeds, each))?;
    if let Some(misfit) = found.failed.iter().find(|failed| failed.misfit) {
        return Err(Failure::BadInput(misfit.error.clone()));
    }
    let saved = match &found.report.wide_scopes[..] {
        wide if arguments.advise && found.report.races.is_empty() && found.failed.is_empty() => {
            let runs = (1 + wide.len() + usize::from(wide.len() > 1)) * arguments.seeds as usize;
            Some(with_progress(runs, |each| savings(&experiment, options, arguments.seeds, wide, each))?)
        }
        _ => None,
    };
    if arguments.common.json {
        let printed = Printed {
            system: &experiment.system.name,
            machine: &experiment.machine,
            protocol: experiment.scenario.protocol,
            policy: experiment.policy(),
            workload: experiment.workload.name,
            model: name,
            seed: experiment.seed,
            races: &found,
            savings: saved.as_deref(),
        };
        write_json(out, &printed)?;
    } else {
        writeln!(
            out,
            "{} on {} under {}, for {name}",
            experiment.workload.name,
            experiment.machine.after(&experiment.system.name),
            experiment.scenario.protocol
        )?;
        show(&found, out)?;
        if let Some(saved) = &saved {
            show_savings(saved, out)?;
        }
    }
    verdict(&found)
}

fn with_progress<T>(
    runs: usize,
    work: impl FnOnce(&mut dyn FnMut(&Record)) -> Result<T, lab::Error>,
) -> Result<T, Failure> {
    let progress = Progress::of_many(runs, Pulse::default());
    Ok(work(&mut |_| progress.one_more())?)
}

fn verdict(found: &Races) -> Result<(), Failure> {
    let mut reasons = Vec::new();
    match found.report.races.len() {
        0 => {}
        1 => reasons.push("one pair of places races".to_owned()),
        many => reasons.push(format!("{many} pairs of places race")),
    }
    for failed in &found.failed {
        let error = failed.error.lines().next().unwrap_or("wrong answer");
        reasons.push(format!("seed {}: {error}", failed.seed));
    }
    if reasons.is_empty() { Ok(()) } else { Err(Failure::CheckFailed(reasons.join("\n"))) }
}

fn show(found: &Races, out: &mut dyn Write) -> Result<(), Failure> {
    for race in &found.report.races {
        let times = if race.count == 1 { "once".to_owned() } else { counted(race.count as usize, "time") };
        writeln!(out, "\n{} on {}, {times}", race.kind.describe(), race.location)?;
        let sides = [("first ", &race.first, &race.scopes[0]), ("second", &race.second, &race.scopes[1])];
        for (which, side, scope) in sides {
            let scope = if scope == "-" { String::new() } else { format!(" at {scope} scope") };
            let RacingAccess { operation, file, line, column, .. } = side;
            writeln!(out, "  {which}  {operation}{scope}, {file}:{line}:{column}")?;
            writeln!(out, "          in {}", who(side))?;
        }
        writeln!(out, "  {}", race.advice)?;
    }
    let usage = &found.report.usage;
    let seen = [(u64::from(found.runs), "run"), (usage.accesses, "access")];
    let [runs, accesses] = seen.map(|(count, noun)| counted(count as usize, noun));
    if found.report.races.is_empty() {
        writeln!(out, "\nNo race in {runs} with {accesses}.")?;
    } else {
        writeln!(out, "\n{runs}, {accesses}.")?;
    }
    if usage.unwatched > 0 {
        let unwatched = grouped(usage.unwatched);
        writeln!(
            out,
            "The race detector reached its limits: it did not follow {unwatched} wavefronts and releases. \
             Races may be missing."
        )?;
    }
    Ok(())
}

fn who(side: &RacingAccess) -> String {
    if side.kernel == "host" {
        return "the host".to_owned();
    }
    let RacingAccess { kernel, work_group, wavefront, lane, compute_unit, .. } = side;
    format!("{kernel}, work-group {work_group}, wavefront {wavefront}, lane {lane}, CU {compute_unit}")
}

fn show_savings(saved: &[Saving], out: &mut dyn Write) -> Result<(), Failure> {
    if saved.is_empty() {
        return Ok(writeln!(out, "No scope was wider than the communication in these runs needs.")?);
    }
    writeln!(out, "\nScopes wider than the communication in these runs needs:\n")?;
    let mut table = Table::new(&[
        ("operation", Side::Left),
        ("place", Side::Left),
        ("scope", Side::Left),
        ("enough", Side::Left),
        ("cycles saved", Side::Right),
        ("", Side::Left),
    ]);
    for Saving { site, cycles_before, cycles_after, is_safe } in saved {
        let change = *cycles_before as i64 - *cycles_after as i64;
        let share = 100.0 * change as f64 / (*cycles_before).max(1) as f64;
        let note = if *is_safe { String::new() } else { "not safe alone".to_owned() };
        let saved = format!("{change} ({share:.1}%)");
        match site {
            Some(site) => {
                let WideScope { operation, file, line, column, scope, enough, .. } = site;
                let place = format!("{file}:{line}:{column}");
                let [scope, enough] = [*scope, *enough].map(|level| level_name(level).to_owned());
                table.row([operation.clone(), place, scope, enough, saved, note]);
            }
            None => {
                let note = if *is_safe { "" } else { "not safe" };
                let blank = String::new;
                table.row(["all together".to_owned(), blank(), blank(), blank(), saved, note.to_owned()]);
            }
        }
    }
    table.write(out)?;
    writeln!(out, "\nWith another input, the program may need the wider scopes.")?;
    Ok(())
}
