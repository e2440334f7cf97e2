//! `fencepost verify`.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use explore::claim::Claim;
use explore::mutants::Mutants;
use explore::results::Line;
use explore::verify::{self, Options, Progress as Done, Spread, Status, Test, Verification};
use explore::{End, Programs, Replay, Subject, Trace, chart, corpus};

use crate::Failure;
use crate::args::VerifyArguments;
use crate::clock::{Deadline, Stopwatch};
use crate::output::{Listening, WholeFile, write_reports};
use crate::progress::Progress;
use crate::replay;
use crate::suite::files;
use crate::table::counted;
use crate::verdict::{report, show, title};
use crate::verified;

pub(crate) fn verify(arguments: &VerifyArguments, out: &mut dyn Write) -> Result<(), Failure> {
    if let Some(path) = &arguments.replay {
        return replay::replay(path, arguments, out);
    }
    // The parser lets it pass beside a protocol, which stands in the way of --replay.
    if arguments.system.is_some() {
        return Err(Failure::BadInput(String::from("--system goes with --replay FILE only")));
    }
    let names: Vec<&str> = match &arguments.protocol {
        Some(name) => vec![known(name)?],
        None => zoo::ALL.iter().map(|info| info.name).collect(),
    };
    let named = tests(arguments)?;
    let mut made: Made<'_> = None;
    let mut results = Vec::new();
    let mut reports = Vec::new();
    let mut complaints = Vec::new();
    // What cannot be written is known before anything is explored.
    if let Some(path) = &arguments.table {
        verified::write(path, &results)?;
    }
    if let Some(folder) = &arguments.charts {
        make_folder(folder)?;
    }
    let listening = Listening::start();
    let deadline = Deadline::after(arguments.timeout);
    let stop = || listening.interrupted() || deadline.passed();
    // What could not be written after all is said behind all that was found.
    let mut unwritten = None;
    for (at, &name) in names.iter().enumerate() {
        if at > 0 && stop() {
            complaints.push(format!("there was no time for {}", names[at..].join(", ")));
            break;
        }
        let watch = Stopwatch::start();
        let Some(subject) = Subject::named(name) else { continue };
        let programs = programs(&named, &mut made, &subject, arguments)?;
        let verified = verify_one(&subject, programs, arguments, &stop);
        let (verification, charts) = verified.map_err(Failure::BadInput)?;
        let (tests, sampled) = (programs.tests(), programs.sampled());
        complaints.extend(complaint(&verification));
        complaints.extend(verification.mutants.as_ref().and_then(|mutants| unnoticed(name, mutants)));
        let (operations, sample) = (arguments.operations, (sampled, arguments.seed));
        let seconds = watch.seconds();
        if arguments.json {
            reports.push(report(&verification, tests, &charts, operations, sample, seconds));
        } else {
            show(&verification, tests, &charts, sample, seconds, out)?;
        }
        // As soon as it is known, for the next protocol may take an hour; but the
        // row of an earlier run is better than one that was broken off.
        if let (Some(path), false) = (&arguments.table, stop()) {
            results.push(Line { verification: verification.clone(), operations, sample, seconds });
            unwritten = verified::write(path, &results).err();
        }
        if let Some(folder) = &arguments.charts {
            unwritten = unwritten.or(write_charts(folder, &verification, tests, &charts).err());
            // A run that was broken off may have found less than an earlier one.
            if unwritten.is_none() && !stop() {
                remove_charts_behind(folder, &verification);
            }
        }
        if unwritten.is_some() {
            break;
        }
    }
    if arguments.json {
        write_reports(out, arguments.protocol.is_some(), reports)?;
    }
    if let Some(failure) = unwritten {
        return Err(failure);
    }
    if complaints.is_empty() { Ok(()) } else { Err(Failure::CheckFailed(complaints.join("\n"))) }
}

/// The name of a protocol that there is.
pub(crate) fn known(name: &str) -> Result<&'static str, Failure> {
    let all: Vec<String> = zoo::ALL.iter().map(|info| info.name.to_owned()).collect();
    let found = zoo::ALL.iter().find(|info| info.name == name).map(|info| info.name);
    found.ok_or_else(|| {
        let meant = match lab::nearest(name, &all) {
            Some(near) => format!("did you mean '{near}'?"),
            None => format!("expected one of {}", all.join(", ")),
        };
        Failure::BadInput(format!("there is no protocol '{name}', {meant}"))
    })
}

/// The shipped tests and the made ones, or those of the folders that are named.
fn tests(arguments: &VerifyArguments) -> Result<Vec<Test>, Failure> {
    let mut tests = Vec::new();
    if arguments.litmus.is_empty() {
        tests = corpus::shipped().map_err(Failure::BadInput)?;
    }
    for path in &arguments.litmus {
        for file in files::in_or_below(path)? {
            let text = files::read_text(&file).map_err(Failure::BadInput)?;
            let name = file.display().to_string();
            let test = Test::read(&name, &text);
            tests.push(test.map_err(|error| Failure::BadInput(error.in_file(&name).to_string()))?);
        }
    }
    Ok(tests)
}

/// The programs of the last protocol, and what they were made for: the models that
/// are claimed, and whether scopes matter.
type Made<'a> = Option<((Vec<&'a str>, bool), Programs)>;

/// The tests, and the programs that are made for the claims of a protocol.
/// Protocols with the same claims share them.
fn programs<'m>(
    named: &[Test],
    made: &'m mut Made<'_>,
    subject: &Subject,
    arguments: &VerifyArguments,
) -> Result<&'m mut Programs, Failure> {
    let models: Vec<&str> = subject.info.claims.iter().map(|claim| claim.model).collect();
    let scopes_matter = corpus::scopes_matter(subject);
    let key = (models, scopes_matter);
    // One set is kept at a time: there may be very many.
    if made.as_ref().is_some_and(|(of, _)| *of != key) {
        *made = None;
    }
    let programs = match made.take() {
        Some((_, programs)) => programs,
        None => {
            let claims = key.0.iter().map(|model| Claim::of(model));
            let claims = claims.collect::<Result<Vec<_>, _>>().map_err(Failure::BadInput)?;
            let mut programs = Programs::of(named.iter().cloned());
            if arguments.operations > 0 {
                let (operations, symmetry) = (usize::from(arguments.operations), !arguments.no_symmetry);
                programs = programs.and_messages(&claims);
                programs = programs.and_made(&claims, scopes_matter, operations, symmetry);
            }
            let programs =
                programs.and_sampled(&claims, scopes_matter, arguments.sample as usize, arguments.seed);
            programs.spread(Spread { kernels: arguments.kernels, hosts: arguments.hosts })
        }
    };
    Ok(&mut made.insert((key, programs)).1)
}

/// What a test may take that is explored, if nobody says what all of them may.
pub(crate) const TEST_BYTES: u64 = 2 << 30;

fn jobs(arguments: &VerifyArguments) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    arguments.jobs.map_or_else(cores, NonZeroUsize::get)
}

/// Verifies one protocol, and draws what was found.
fn verify_one(
    subject: &Subject,
    programs: &mut Programs,
    arguments: &VerifyArguments,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<(Verification, Vec<Option<Replay>>), String> {
    let bar = Progress::of_tests(programs.tests().len(), subject.info.name);
    let in_mutants = AtomicBool::new(false);
    let progress = |done: Done| match done {
        Done::Tests(_, known) => bar.one_more_of(known),
        Done::Mutants(_, of) => {
            if !in_mutants.swap(true, Ordering::Relaxed) {
                bar.begin_again(of, &format!("mutants of {}", subject.info.name));
            }
            bar.one_more();
        }
    };
    let machines = verify::on_chiplets(verify::machines_of(&subject.info), arguments.chiplets);
    let options = Options {
        bounds: machines.into_iter().map(|bounds| bounds.preempting(arguments.preemptions)).collect(),
        jobs: jobs(arguments),
        memory_bytes: arguments.memory.unwrap_or(jobs(arguments) as u64 * TEST_BYTES),
        mutants: arguments.mutants,
        stop,
        progress: &progress,
    };
    let verification = verify::verify_programs(subject, programs, &options)?;
    let charts = charts(subject, programs.tests(), &verification, stop);
    Ok((verification, charts))
}

/// What was found, drawn: without the reasons where there is no time left to ask
/// for them.
fn charts(
    subject: &Subject,
    tests: &[Arc<Test>],
    verification: &Verification,
    stop: &dyn Fn() -> bool,
) -> Vec<Option<Replay>> {
    let charts = verification.findings.iter().map(|finding| {
        let trace = Trace::of(subject.info.name, &tests[finding.test], finding);
        let mut replay = trace.draw(subject).ok()?;
        if let End::Over(outcomes) = &replay.end {
            replay.reasons = trace.reasons(outcomes, stop).unwrap_or_default();
        }
        Some(replay)
    });
    charts.collect()
}

fn complaint(verification: &Verification) -> Option<String> {
    let status = verification.claims.iter().map(|(_, status)| *status).max()?;
    match status {
        Status::Verified if verification.findings.is_empty() => None,
        Status::Verified => Some(format!(
            "{} violates a basic guarantee in programs outside its claims",
            verification.protocol
        )),
        Status::Refuted => {
            let refuted = verification.claims.iter().filter(|(_, s)| *s == Status::Refuted);
            let models: Vec<&str> = refuted.map(|(model, _)| model.as_str()).collect();
            Some(format!("{} does not keep its claim: {}", verification.protocol, models.join(", ")))
        }
        Status::Incomplete => {
            let gaps =
                verification.gaps.iter().map(|(gap, count)| format!("{gap} ({})", counted(*count, "time")));
            let gaps = gaps.collect::<Vec<_>>().join("; ");
            let mut whys = verification.unproved.clone();
            if !gaps.is_empty() {
                whys.insert(0, format!("not everything was covered: {gaps}"));
            }
            Some(format!("{}: {}", verification.protocol, whys.join("; ")))
        }
    }
}

/// Seeded faults that are not accounted for.
fn unnoticed(protocol: &str, mutants: &Mutants) -> Option<String> {
    let kinds = [
        (&mutants.survivors, "survive"),
        (&mutants.undecided, "are undecided"),
        (&mutants.misargued, "are argued to be equivalent, and were killed"),
    ];
    let counts = kinds.iter().filter(|(names, _)| !names.is_empty());
    let counts: Vec<String> = counts.map(|(names, what)| format!("{} {what}", names.len())).collect();
    (!counts.is_empty()).then(|| format!("{protocol}: of its mutants {}", counts.join(", ")))
}

fn make_folder(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::BadInput(format!("cannot make the folder {}: {error}", folder.display())))
}

/// A chart in text, a drawing and a file that can be replayed, for each finding.
fn write_charts(
    folder: &Path,
    verification: &Verification,
    tests: &[Arc<Test>],
    charts: &[Option<Replay>],
) -> Result<(), Failure> {
    make_folder(folder)?;
    for (at, (finding, replay)) in verification.findings.iter().zip(charts).enumerate() {
        let title = title(finding, tests);
        let trace = Trace::of(verification.protocol, &tests[finding.test], finding).to_string();
        let name = |end: &str| folder.join(format!("{}-{}.{end}", verification.protocol, at + 1));
        let first = title.lines().next().unwrap_or_default();
        let mut files = vec![("trace", trace)];
        if let Some(replay) = replay {
            files.extend([("txt", chart::text(replay, &title)), ("svg", chart::svg(replay, first))]);
        }
        for (end, text) in files {
            let path = name(end);
            let mut file = WholeFile::create(&path).map_err(Failure::BadInput)?;
            file.write_all(text.as_bytes())
                .map_err(|error| Failure::BadInput(format!("cannot write {}: {error}", path.display())))?;
            file.commit().map_err(Failure::BadInput)?;
        }
    }
    Ok(())
}

/// Those of an earlier run that found more go. What cannot be removed stays.
fn remove_charts_behind(folder: &Path, verification: &Verification) {
    for at in verification.findings.len() + 1.. {
        let name = |end: &str| folder.join(format!("{}-{at}.{end}", verification.protocol));
        // Each that we wrote has a trace, and they are numbered without a gap.
        if std::fs::remove_file(name("trace")).is_err() {
            return;
        }
        for end in ["txt", "svg"] {
            let _ = std::fs::remove_file(name(end));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_written_when_there_is_no_time_left() {
        let beside = std::env::current_exe().expect("a test has a file");
        let folder = beside.with_extension("charts");
        let text = include_str!("../../../docs/findings/hlrc.litmus");
        let mut programs = Programs::of([Test::read("hlrc.litmus", text).expect("a test")]);
        let subject = Subject::named("hlrc").expect("a protocol");
        let found = verify::verify_programs(&subject, &mut programs, &Options::new(verify::machines()));
        let tests = programs.tests();
        let verification = found.expect("known models");
        let charts = charts(&subject, tests, &verification, &|| true);
        assert!(!charts.is_empty());
        assert!(charts.iter().flatten().all(|chart| chart.reasons.is_empty() && !chart.steps.is_empty()));
        // One that could not be drawn at all.
        let undrawn: Vec<Option<Replay>> = charts.into_iter().skip(1).chain([None]).collect();
        write_charts(&folder, &verification, tests, &undrawn).expect("they are written");
        for at in 1..=undrawn.len() {
            let trace =
                std::fs::read_to_string(folder.join(format!("hlrc-{at}.trace"))).expect("it is there");
            trace.parse::<Trace>().expect("it is a trace");
            let is_drawn = folder.join(format!("hlrc-{at}.txt")).exists();
            assert_eq!(is_drawn, at < undrawn.len());
        }
        std::fs::remove_dir_all(&folder).expect("it is there");
    }
}
