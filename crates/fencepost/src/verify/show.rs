//! Formats the results of the verification of a protocol as text.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;

use explore::mutants::Mutants;
use explore::verify::{Census, Dimensions, TestSize, Verification};
use lab::verify::{Guards, Verified};

use crate::Failure;
use crate::args::VerifyArguments;
use crate::table::{Side, Table};
use crate::words::{counted, grouped, plural};

/// Prints the verdict, then the findings (counterexamples), then the coverage.
///
/// With `explain`, the coverage names the mutants that no run has reached, the number of programs of
/// the family `dimensions` follows, and then two tables.
/// The first table has the families of programs. The second table has the dimensions of programs and
/// machines and, for each value of a dimension, the number of runs and the number of states with
/// this value.
pub(super) fn show(
    verified: &Verified<'_>,
    seconds: f64,
    arguments: &VerifyArguments,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let verification = &verified.verification;
    let claims: Vec<String> =
        verification.claims.iter().map(|(model, status)| format!("{model} {}", status.name())).collect();
    writeln!(out, "{}: {}", verification.protocol, claims.join(", "))?;
    for (gap, count) in &verification.gaps {
        writeln!(out, "  not covered: {gap} ({})", counted(*count, "time"))?;
    }
    for why in &verification.unproved {
        writeln!(out, "  not proved: {why}")?;
    }
    show_findings(verified, out)?;
    show_counts(verified, seconds, out)?;
    if let Some(mutants) = &verification.mutants {
        show_mutants(verification.protocol, mutants, arguments.explain, out)?;
    } else if arguments.mutants.is_some() {
        writeln!(out, "  no faults are seeded, because every claim is refuted")?;
    }
    show_rows(verification, out)?;
    if !arguments.explain {
        return Ok(());
    }
    if verified.dimensions > 0 {
        writeln!(out, "  {} of the family `dimensions`", counted(verified.dimensions, "program"))?;
    }
    show_families(verification, out)?;
    show_census(&verification.census, out)
}

/// Prints the names of the protocols that are left out, because the file `path` has their records.
pub(super) fn show_recorded(names: &[&str], path: &Path, out: &mut dyn Write) -> Result<(), Failure> {
    if !names.is_empty() {
        writeln!(out, "left out: {} (recorded in {})", names.join(", "), path.display())?;
    }
    Ok(())
}

/// Prints a table of the families of programs: the programs and states of each, and after trials of
/// mutants also the mutants that it killed.
fn show_families(verification: &Verification, out: &mut dyn Write) -> Result<(), Failure> {
    let mut columns = vec![("family", Side::Left)];
    columns.extend(["tests", "synchronized", "states"].map(|heading| (heading, Side::Right)));
    let has_mutants = verification.mutants.is_some();
    if has_mutants {
        columns.extend(["mutants killed", "for a million states"].map(|heading| (heading, Side::Right)));
    }
    let mut table = Table::new(&columns);
    for family in &verification.families {
        let counts = [family.tests as u64, family.synchronized as u64, family.states];
        let mut cells = vec![family.name.clone()];
        cells.extend(counts.map(grouped));
        if has_mutants {
            let for_a_million = family.kills as f64 * 1e6 / family.states.max(1) as f64;
            cells.extend([grouped(family.kills as u64), format!("{for_a_million:.2}")]);
        }
        table.row(cells);
    }
    writeln!(out)?;
    table.write(out)?;
    Ok(())
}

/// Prints the findings (counterexamples). The first finding of all is drawn, and so is the first
/// finding against each claim (memory model). Every other finding has one line.
fn show_findings(verified: &Verified<'_>, out: &mut dyn Write) -> Result<(), Failure> {
    let findings = &verified.verification.findings;
    let mut refuted = BTreeSet::new();
    let mut others = Vec::new();
    for (at, finding) in findings.iter().enumerate() {
        let is_new = finding.models.iter().filter(|model| refuted.insert(model.as_str())).count() > 0;
        if at > 0 && !is_new {
            others.push(finding);
            continue;
        }
        writeln!(out)?;
        match verified.chart(at) {
            Some(chart) => write!(out, "{chart}")?,
            None => writeln!(out, "{}", verified.title(at))?,
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
        let (test, why) = (&verified.tests[finding.test].name, &finding.violation.why);
        writeln!(out, "  {claims}{test}: {why}\n    {}", finding.bounds)?;
    }
    if !findings.is_empty() {
        writeln!(out)?;
    }
    Ok(())
}

fn show_counts(verified: &Verified<'_>, seconds: f64, out: &mut dyn Write) -> Result<(), Failure> {
    let Verified { verification, sample: (sampled, seed), .. } = verified;
    let number = |n: usize| grouped(n as u64);
    writeln!(
        out,
        "  {}, {} of them race-free; in {} of the race-free tests, synchronization orders data between caches",
        counted(verification.tests, "test"),
        number(verification.race_free),
        number(verification.synchronized)
    )?;
    let larger = match verified.test_size {
        TestSize::All => None,
        TestSize::Short => Some("eight instructions"),
        TestSize::Small => Some("two threads, or of more than eight instructions"),
    };
    if let Some(larger) = larger {
        writeln!(out, "  left out: {} of more than {larger}", counted(verified.left_out, "test"))?;
    }
    if *sampled > 0 {
        writeln!(
            out,
            "  {} in which synchronization orders data, and some other tests, are random samples from seed \
             {seed}",
            counted(*sampled, "test")
        )?;
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
        writeln!(
            out,
            "  tests left out, because no machine can run them: {why} ({})",
            counted(*count, "test")
        )?;
    }
    if verification.unpreempted > 0 {
        let tests = counted(verification.unpreempted, "test");
        writeln!(out, "  explored without preemptions: work-groups that meet at a barrier ({tests})")?;
    }
    Ok(())
}

fn show_mutants(
    protocol: &str,
    mutants: &Mutants,
    explain: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    writeln!(
        out,
        "  {} of {} mutants killed, {} survive, {} undecided; not in the total: {} unreached, {} outside every claim, \
         {} equivalent",
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
        let faults = counted(count, "fault");
        writeln!(
            out,
            "    not seeded: {faults} in the plans (lists of steps) for the beginning of a kernel, because {why}"
        )?;
    }
    // An unreadable record is left out here. A test checks that it can be read.
    for run in Guards::recorded().unwrap_or_default().of(protocol) {
        writeln!(out, "  {}", run.sentence())?;
    }
    for name in &mutants.survivors {
        writeln!(out, "    survives: {name}")?;
    }
    for name in mutants.unreached.iter().filter(|_| explain) {
        writeln!(out, "    unreached: {name}")?;
    }
    for name in &mutants.misargued {
        writeln!(out, "    argued to be equivalent to the protocol, but killed by a test: {name}")?;
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

/// Prints a table of the dimensions of programs and machines. For each value of a dimension, the
/// table has the number of runs and the number of states with this value. Then prints the pairs of
/// values that occur together in no run.
fn show_census(census: &Census, out: &mut dyn Write) -> Result<(), Failure> {
    let columns = [("dimension", Side::Left), ("value", Side::Left), ("runs", Side::Right)];
    let mut table = Table::new(&[&columns[..], &[("states", Side::Right)]].concat());
    let mut last = None;
    for share in &census.shares {
        let title =
            if last.replace(share.dimension) == Some(share.dimension) { "" } else { share.dimension.title() };
        let states = if share.runs == 0 { String::from("not covered") } else { grouped(share.states) };
        table.row([title.to_owned(), share.value.clone(), grouped(share.runs), states]);
    }
    writeln!(out)?;
    table.write(out)?;
    let all = census.together + census.apart.len();
    writeln!(
        out,
        "\n{} of {} pairs of values of two dimensions occur together in a run. These pairs do not:",
        grouped(census.together as u64),
        grouped(all as u64)
    )?;
    for pairs in census.apart.chunk_by(|one, next| one.0 == next.0) {
        let name =
            |at: usize| format!("{}: {}", census.shares[at].dimension.title(), census.shares[at].value);
        let others: Vec<String> = pairs.iter().map(|&(_, other)| name(other)).collect();
        writeln!(out, "  {} with {}", name(pairs[0].0), others.join("; "))?;
    }
    Ok(())
}
