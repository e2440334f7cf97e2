//! The command `fencepost verify`, which verifies the claims of protocols in every schedule of
//! small programs.

mod cutoff;
mod report;
mod show;

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use explore::verify::{self, Progress as Done, Test};
use explore::{corpus, mutants};
use lab::verify::{Question, ReadyProtocol, Verified, Verifier, protocols};

use crate::Failure;
use crate::args::{TestSize, VerifyArguments};
use crate::clock::{self, Deadline, Stopwatch};
use crate::output::{Listening, WholeFile, write_reports};
use crate::progress::Progress;
use crate::replay;
use crate::suite::files;
use crate::verified;
use report::report;
use show::{show, show_recorded};

pub(crate) fn verify(arguments: &VerifyArguments, out: &mut dyn Write) -> Result<(), Failure> {
    if let Some(path) = &arguments.replay {
        return replay::replay(path, arguments, out);
    }
    // `--system` needs `--replay`. The parser of arguments cannot check that, because `--replay`
    // and the name of a protocol exclude each other.
    if arguments.system.is_some() {
        return Err(Failure::BadInput(String::from("--system applies only with --replay FILE")));
    }
    if arguments.cutoff {
        return cutoff::cutoff(arguments, out);
    }
    if arguments.record.is_some() && arguments.mutants.as_ref().is_some_and(|part| !part.is_empty()) {
        let why = "--record needs all mutants, so it does not go with a text for --mutants";
        return Err(Failure::BadInput(String::from(why)));
    }
    let mut question = question(arguments)?;
    if let (Some(path), true) = (&arguments.record, arguments.resume) {
        let (records, digest) = (verified::read(path)?, question.digest());
        let (recorded, left) = question.protocols.into_iter().partition(|name| records.has(name, &digest));
        question.protocols = left;
        if !arguments.json {
            show_recorded(&recorded, path, out)?;
        }
    }
    let mut verifier = Verifier::new(question);
    let mut results = Vec::new();
    let mut reports = Vec::new();
    // The files are written once before the exploration, so that a file that cannot be written is
    // reported at once.
    if let Some(path) = &arguments.record {
        verified::write(path, &results)?;
    }
    if let Some(folder) = &arguments.charts {
        make_folder(folder)?;
    }
    let listening = Listening::start();
    let deadline = Deadline::after(arguments.timeout);
    let stop = || listening.interrupted() || deadline.passed();
    // An error of writing is reported only after all findings.
    let mut unwritten = None;
    let mut watch = Stopwatch::start();
    while let Some(begun) = verifier.begin(&stop).map_err(Failure::BadInput)? {
        let verified = verify_one(begun, &stop).map_err(Failure::BadInput)?;
        let seconds = watch.seconds();
        if arguments.json {
            reports.push(report(&verified, seconds));
        } else {
            show(&verified, seconds, arguments, out)?;
        }
        // A record is written as soon as its protocol is verified, because the next protocol may
        // take an hour. If the run was interrupted, the record of an earlier run stays.
        if let (Some(path), false) = (&arguments.record, stop()) {
            results.push(verified.record(seconds, clock::today()));
            unwritten = verified::write(path, &results).err();
        }
        if let Some(folder) = &arguments.charts {
            unwritten = unwritten.or(write_charts(folder, &verified).err());
            // An interrupted run may have found less than an earlier run, so the charts of the
            // earlier run stay.
            if unwritten.is_none() && !stop() {
                remove_charts_behind(folder, &verified);
            }
        }
        if unwritten.is_some() {
            break;
        }
        watch = Stopwatch::start();
    }
    if arguments.json {
        write_reports(out, arguments.protocol.is_some(), reports)?;
    }
    if let Some(failure) = unwritten {
        return Err(failure);
    }
    let complaints = verifier.complaints();
    if complaints.is_empty() { Ok(()) } else { Err(Failure::CheckFailed(complaints.join("\n"))) }
}

fn question(arguments: &VerifyArguments) -> Result<Question, Failure> {
    let mut names = protocols(arguments.protocol.as_deref()).map_err(Failure::BadInput)?;
    if let (None, Some(part)) = (&arguments.protocol, &arguments.mutants) {
        names.retain(|name| has_mutant(name, part));
        if names.is_empty() {
            let why = format!("no mutant of any protocol has a name that contains '{part}'");
            return Err(Failure::BadInput(why));
        }
    }
    Ok(Question {
        protocols: names,
        tests: tests(arguments)?,
        operations: arguments.operations,
        test_size: arguments.test_size.map(|size| match size {
            TestSize::All => verify::TestSize::All,
            TestSize::Short => verify::TestSize::Short,
            TestSize::Small => verify::TestSize::Small,
        }),
        symmetry: !arguments.no_symmetry,
        sample: arguments.sample as usize,
        seed: arguments.seed,
        kernels: arguments.kernels,
        hosts: arguments.hosts,
        chiplets: arguments.chiplets,
        preemptions: arguments.preemptions,
        overtaking: arguments.unordered,
        mutants: arguments.mutants.clone(),
        jobs: arguments.jobs.map_or_else(cores, NonZeroUsize::get),
        memory_bytes: arguments.memory,
    })
}

/// Whether the protocol has a mutant whose name contains `part`.
fn has_mutant(protocol: &str, part: &str) -> bool {
    subjects::explored(protocol)
        .is_some_and(|subject| mutants::all(&subject).iter().any(|mutant| mutant.name.contains(part)))
}

/// The number of processor cores that this process may use.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// The tests in the paths that `--litmus` gives. Without such a path, the shipped tests.
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

/// Verifies one protocol, with a progress bar.
fn verify_one<'v>(
    begun: ReadyProtocol<'v>,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Verified<'v>, String> {
    let name = begun.protocol();
    let bar = Progress::of_tests(begun.tests(), name);
    let in_mutants = AtomicBool::new(false);
    let progress = |done: Done| match done {
        Done::Tests(_, known) => bar.one_more_of(known),
        Done::Mutants(_, of) => {
            if !in_mutants.swap(true, Ordering::Relaxed) {
                bar.begin_again(of, &format!("mutants of {name}"));
            }
            bar.one_more();
        }
    };
    begun.verify(stop, &progress)
}

fn make_folder(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::BadInput(format!("cannot make the folder {}: {error}", folder.display())))
}

/// Writes the charts and the trace of each finding (counterexample) into the folder.
fn write_charts(folder: &Path, verified: &Verified<'_>) -> Result<(), Failure> {
    make_folder(folder)?;
    for at in 0..verified.verification.findings.len() {
        for (end, text) in verified.files(at) {
            let path = chart_file(folder, verified, at, end);
            let mut file = WholeFile::create(&path).map_err(Failure::BadInput)?;
            file.write_all(text.as_bytes())
                .map_err(|error| Failure::BadInput(format!("cannot write {}: {error}", path.display())))?;
            file.commit().map_err(Failure::BadInput)?;
        }
    }
    Ok(())
}

/// Removes old chart files from the folder. The number of a chart file is the number of its finding
/// (counterexample). The files of an earlier run are removed if their numbers are above the number
/// of findings of this run. Files that cannot be removed are ignored.
fn remove_charts_behind(folder: &Path, verified: &Verified<'_>) {
    for at in verified.verification.findings.len().. {
        // Each chart has a trace file, and the charts have consecutive numbers. So the first number
        // without a trace file is the end.
        if std::fs::remove_file(chart_file(folder, verified, at, "trace")).is_err() {
            return;
        }
        for end in ["txt", "svg"] {
            let _ = std::fs::remove_file(chart_file(folder, verified, at, end));
        }
    }
}

/// The path of the file with the extension `end` for the finding (counterexample) with the index
/// `at`. File names count findings from one.
fn chart_file(folder: &Path, verified: &Verified<'_>, at: usize, end: &str) -> PathBuf {
    folder.join(format!("{}-{}.{end}", verified.verification.protocol, at + 1))
}
