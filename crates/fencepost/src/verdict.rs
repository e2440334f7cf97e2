//! The report of a verification, as text and as JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::sync::Arc;

use explore::mutants::Mutants;
use explore::verify::{Dimensions, Finding, Test, Verification};
use explore::{Replay, chart};
use serde_json::{Value, json};

use crate::Failure;
use crate::table::{counted, grouped, plural};

/// The head of a finding: its test, its fault, its machine and its placement.
pub(crate) fn title(finding: &Finding, tests: &[Arc<Test>]) -> String {
    let test = &tests[finding.test];
    format!(
        "{}: {}\n{}\n{}",
        test.name, finding.violation.why, finding.bounds, test.placements[finding.placement]
    )
}

/// The verdict first, then what refutes it, then what was covered.
pub(crate) fn show(
    verification: &Verification,
    tests: &[Arc<Test>],
    charts: &[Option<Replay>],
    sample: (usize, u64),
    seconds: f64,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let claims: Vec<String> =
        verification.claims.iter().map(|(model, status)| format!("{model} {}", status.name())).collect();
    writeln!(out, "{}: {}", verification.protocol, claims.join(", "))?;
    for (gap, count) in &verification.gaps {
        writeln!(out, "  not covered: {gap} ({})", counted(*count, "time"))?;
    }
    for why in &verification.unproved {
        writeln!(out, "  not proved: {why}")?;
    }
    show_findings(verification, tests, charts, out)?;
    show_counts(verification, sample, seconds, out)?;
    if let Some(mutants) = &verification.mutants {
        show_mutants(mutants, out)?;
    }
    show_rows(verification, out)
}

/// Draws what refutes a claim, or breaks a basic guarantee, for the first time.
/// The other findings have a line each.
fn show_findings(
    verification: &Verification,
    tests: &[Arc<Test>],
    charts: &[Option<Replay>],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut refuted = BTreeSet::new();
    let mut others = Vec::new();
    for (at, (finding, replay)) in verification.findings.iter().zip(charts).enumerate() {
        let is_new = finding.models.iter().filter(|model| refuted.insert(model.as_str())).count() > 0;
        if at > 0 && !is_new {
            others.push(finding);
            continue;
        }
        writeln!(out)?;
        match replay {
            Some(replay) => write!(out, "{}", chart::text(replay, &title(finding, tests)))?,
            None => writeln!(out, "{}", title(finding, tests))?,
        }
    }
    if !others.is_empty() {
        writeln!(out, "\nAlso found, and drawn by --charts DIR:")?;
    }
    for finding in others {
        let claims = if finding.models.is_empty() {
            String::new()
        } else {
            format!("{}: ", finding.models.join(", "))
        };
        let (test, why) = (&tests[finding.test].name, &finding.violation.why);
        writeln!(out, "  {claims}{test}: {why}\n    {}", finding.bounds)?;
    }
    if !verification.findings.is_empty() {
        writeln!(out)?;
    }
    Ok(())
}

fn show_counts(
    verification: &Verification,
    (sampled, seed): (usize, u64),
    seconds: f64,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let number = |n: usize| grouped(n as u64);
    writeln!(
        out,
        "  {}, {} of them free of races, {} of those with data that synchronization orders between caches",
        counted(verification.tests, "test"),
        number(verification.race_free),
        number(verification.synchronized)
    )?;
    if sampled > 0 {
        writeln!(out, "  {} of them, and some others, sampled from seed {seed}", number(sampled))?;
    }
    writeln!(
        out,
        "  {}, {} {}, {} {}, {seconds:.1} s",
        counted(verification.runs, "run"),
        grouped(verification.states),
        plural(verification.states, "state"),
        grouped(verification.transitions),
        plural(verification.transitions, "move")
    )?;
    let Dimensions { covered, not_covered } = &verification.dimensions;
    writeln!(out, "  dimensions covered: {}", covered.join("; "))?;
    writeln!(out, "  dimensions not covered: {}", not_covered.join("; "))?;
    for (why, count) in &verification.unsupported {
        writeln!(out, "  left out, where no machine can run them: {why} ({})", counted(*count, "test"))?;
    }
    if verification.unpreempted > 0 {
        let tests = counted(verification.unpreempted, "test");
        writeln!(out, "  explored without preemptions: work-groups that meet at a barrier ({tests})")?;
    }
    Ok(())
}

fn show_mutants(mutants: &Mutants, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(
        out,
        "  {} of {} mutants killed, {} survive, {} undecided; nothing reaches {} more, no claim speaks of {}, \
         and {} are equivalent",
        mutants.killed.len(),
        mutants.total(),
        mutants.survivors.len(),
        mutants.undecided.len(),
        mutants.unreached.len(),
        mutants.unasked.len(),
        mutants.equivalent.len()
    )?;
    let mut unseeded: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, why) in &mutants.unseeded {
        *unseeded.entry(why).or_default() += 1;
    }
    for (why, count) in unseeded {
        writeln!(
            out,
            "    not seeded: {} of the beginnings of kernels, because {why}",
            counted(count, "fault")
        )?;
    }
    for name in &mutants.survivors {
        writeln!(out, "    survives: {name}")?;
    }
    for name in &mutants.misargued {
        writeln!(out, "    argued to be equivalent, and killed: {name}")?;
    }
    Ok(())
}

fn show_rows(verification: &Verification, out: &mut dyn Write) -> Result<(), Failure> {
    let (total, unreached) = &verification.rows;
    writeln!(out, "  {} of {total} rows fired", total - unreached.len())?;
    for rows in unreached.chunk_by(|row, next| (row.table, row.state) == (next.table, next.state)) {
        let events: Vec<&str> = rows.iter().map(|row| row.event).collect();
        writeln!(out, "    not reached: {} in {}: {}", rows[0].table, rows[0].state, events.join(", "))?;
    }
    Ok(())
}

/// The report as JSON.
pub(crate) fn report(
    verification: &Verification,
    tests: &[Arc<Test>],
    charts: &[Option<Replay>],
    operations: u8,
    (sampled, seed): (usize, u64),
    seconds: f64,
) -> Value {
    let (total, unreached) = &verification.rows;
    let names: Vec<String> = unreached.iter().map(ToString::to_string).collect();
    let violations = verification.findings.iter().zip(charts).map(|(finding, replay)| {
        let moves: Vec<String> = finding.violation.moves.iter().map(ToString::to_string).collect();
        json!({
            "test": tests[finding.test].name,
            "models": finding.models,
            "why": finding.violation.why,
            "machine": finding.bounds.to_string(),
            "placement": tests[finding.test].placements[finding.placement].to_string(),
            "moves": moves,
            "chart": replay.as_ref().map(|replay| chart::text(replay, &title(finding, tests))),
        })
    });
    let claims = verification.claims.iter();
    let mutants = verification.mutants.as_ref().map(|mutants| {
        let killed = mutants.killed.iter().map(|(name, by)| json!({ "mutant": name, "by": by }));
        json!({
            "total": mutants.total(),
            "killed": mutants.killed.len(),
            "survivors": mutants.survivors,
            "equivalent": mutants.equivalent.iter().map(|(m, why)| json!({ "mutant": m, "why": why })).collect::<Vec<_>>(),
            "misargued": mutants.misargued,
            "unreached": mutants.unreached,
            "unasked": mutants.unasked,
            "undecided": mutants.undecided,
            "unseeded": mutants.unseeded.iter().map(|(m, why)| json!({ "mutant": m, "why": why })).collect::<Vec<_>>(),
            "kills": killed.collect::<Vec<_>>(),
        })
    });
    json!({
        "protocol": verification.protocol,
        "claims": claims.map(|(m, s)| json!({ "model": m, "cores": cores_of(verification.protocol, m), "status": s.name() })).collect::<Vec<_>>(),
        "tests": verification.tests,
        "operations": operations,
        "sample": { "programs": sampled, "seed": seed },
        "race_free": verification.race_free,
        "synchronized": verification.synchronized,
        "unsupported": verification.unsupported,
        "unpreempted": verification.unpreempted,
        "runs": verification.runs,
        "states": verification.states,
        "transitions": verification.transitions,
        "complete": verification.complete,
        "gaps": verification.gaps,
        "unproved": verification.unproved,
        "violations": violations.collect::<Vec<_>>(),
        "rows": { "fired": total - unreached.len(), "total": total, "unreached": names },
        "mutants": mutants,
        "dimensions": {
            "covered": verification.dimensions.covered,
            "not_covered": verification.dimensions.not_covered,
        },
        "wall_seconds": seconds,
    })
}

/// The cores with which a protocol claims a model.
fn cores_of(protocol: &str, model: &str) -> Vec<&'static str> {
    let info = zoo::ALL.iter().find(|info| info.name == protocol);
    let claim = info.and_then(|info| info.claims.iter().find(|claim| claim.model == model));
    claim.map_or_else(Vec::new, |claim| claim.cores.iter().map(|core| core.label()).collect())
}
