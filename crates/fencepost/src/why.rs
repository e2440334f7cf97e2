//! The command `fencepost why`, which explains the difference in cycles between two scenarios.

use std::io::Write;

use lab::experiment::{Experiment, Question};
use lab::systems::Systems;
use lab::{Account, Difference, report};

use crate::Failure;
use crate::args::WhyArguments;
use crate::bar::bar;
use crate::compare::{failure, perform};
use crate::output::{WholeFile, write_json};
use crate::progress::Progress;
use crate::table::{Side, Table};
use crate::words::{counted, grouped};

/// The length of the longest bar, in characters.
const BAR_LETTERS: usize = 24;

pub(crate) fn why(arguments: &WhyArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let names = [&arguments.first, &arguments.second].map(|name| match &arguments.policy {
        None => name.trim().to_owned(),
        Some(policy) => format!("{}+{}", name.trim(), policy.replace(',', "+")),
    });
    let systems = Systems::default();
    let question = Question {
        workload: arguments.workload.clone(),
        drop: arguments.drop.clone(),
        ..arguments.common.question()
    };
    let experiments = names.iter().map(|name| {
        let scenario = name.clone();
        Experiment::new(&systems, &Question { scenario, ..question.clone() })
    });
    let preparing = Progress::of_one("reading the input");
    let experiments = experiments.collect::<Result<Vec<_>, _>>()?;
    drop(preparing);
    let file = arguments.html.as_deref().map(WholeFile::create).transpose().map_err(Failure::BadInput)?;
    let records = perform(&experiments)?;
    let [a, b] = &records[..] else { return Ok(()) };
    let [first, second] = [Account::of(&names[0], a), Account::of(&names[1], b)];
    let difference = Difference::new(&a.system, a.workload, a.seed, first, second);
    let mut difference = difference.map_err(|why| failure(&records, vec![why]))?;
    difference.machine.clone_from(&a.machine);
    if arguments.common.json {
        write_json(out, &difference)?;
    } else {
        show(&difference, out)?;
    }
    if let Some(file) = file {
        file.fill(|file| file.write_all(report::of_difference(&difference).as_bytes()))?;
    }
    let wrong = names.iter().zip(&records).filter(|(_, record)| !record.answer_ok);
    let reasons = wrong.map(|(name, record)| {
        let reason = record.error.as_deref().and_then(|error| error.lines().next()).unwrap_or("wrong answer");
        format!("{} under {name}: {reason}", record.workload)
    });
    match reasons.collect::<Vec<_>>() {
        reasons if reasons.is_empty() => Ok(()),
        reasons => Err(failure(&records, reasons)),
    }
}

fn show(difference: &Difference, out: &mut dyn Write) -> Result<(), Failure> {
    let cycles = |count: u64| counted(count as usize, "cycle");
    let Difference { system, machine, workload, seed, a, b, cycles_a, cycles_b, .. } = difference;
    writeln!(out, "{workload} on {}, seed {seed}", machine.after(system))?;
    writeln!(out, "{a}: {}; {b}: {}\n", cycles(*cycles_a), cycles(*cycles_b))?;
    let ranked = difference.ranked();
    let largest = ranked.first().map_or(0, |part| part.cycles.unsigned_abs()).max(1);
    let mut table = Table::new(&[
        ("cause", Side::Left),
        (a, Side::Right),
        (b, Side::Right),
        ("difference", Side::Right),
        ("", Side::Left),
        ("meaning", Side::Left),
    ]);
    for part in ranked {
        let share = part.cycles.unsigned_abs() as f64 / largest as f64;
        table.row([
            part.cause.clone(),
            grouped(part.cycles_a),
            grouped(part.cycles_b),
            change(part.cycles),
            bar(share, BAR_LETTERS),
            part.meaning.clone(),
        ]);
    }
    let all = difference.parts.iter().map(|part| part.cycles).sum();
    table.row([String::from("all"), grouped(*cycles_a), grouped(*cycles_b), change(all)]);
    Ok(table.write(out)?)
}

/// The text of a number with its sign and with commas between groups of three digits.
fn change(cycles: i64) -> String {
    let sign = match cycles {
        0 => "",
        1.. => "+",
        _ => "-",
    };
    format!("{sign}{}", grouped(cycles.unsigned_abs()))
}
