//! Tests the replay with timing of counterexamples of the explorer. The same fault must occur, and
//! a changed file must be refused.

mod crossing;
mod staged;
#[path = "../../../../explore/tests/explore_tests/levels/toy.rs"]
#[allow(dead_code, reason = "some of it is for the tests of levels")]
mod toy;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

use explore::claim::Claim;
use explore::mutants::{self, Mutant};
use explore::trace::Verdict;
use explore::verify::{self, Finding, Options, Test};
use explore::{Bounds, Explorer, Fault, Limits, Requirements, Subject, Trace, corpus, show};
use lab::replay::{Timed, replay};
use lab::systems::Systems;
use proto::issue::IssueRule;
use proto::{Protocol, WritePolicy};
use sim::config::System;
use walk::{is_known, plain};

const COMBINING: Bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);
/// The text of the recorded trace with a counterexample of hLRC.
const KEPT: &str = include_str!("../../../../../docs/findings/hlrc.trace");

fn machine(name: &str) -> System {
    Systems::with_folder("none").load(name).expect("a built-in machine")
}

fn timed(trace: &Trace) -> Result<Timed, String> {
    let subject = subjects::explored(&trace.protocol).expect("a protocol");
    replay(trace, &subject, &machine("hrf-8cu"), &|| false).map_err(|error| error.to_string())
}

/// Asserts that the trace can be written and read again, and that its fault occurs in the timed
/// replay.
fn comes_out(trace: &Trace) {
    let read = Trace::read(&trace.to_string(), subjects::explored)
        .unwrap_or_else(|error| panic!("{error}:\n{trace}"));
    assert_eq!(&read, trace);
    let timed = timed(&read).unwrap_or_else(|why| panic!("{why}:\n{trace}"));
    assert_eq!(timed.verdict, Verdict::Same, "{}:\n{trace}", timed.end);
    let subject = subjects::explored(&trace.protocol).expect("a protocol");
    let explored = read.replay(&subject, u64::MAX, &|| false).expect("it can be explored");
    assert_eq!(explored.verdict, Verdict::Same, "{}:\n{trace}", explored.end);
    // If the recorded fault has another explanation, the replay reports another fault.
    let mut other = read;
    other.violation.why.push('!');
    let other = self::timed(&other).expect("the moves are the same");
    assert_eq!(other.verdict, Verdict::Another, "{}:\n{trace}", other.end);
}

/// Explores the tests, and returns the traces of the counterexamples to the claims of the protocol
/// `P`.
fn found<P: Protocol>(tests: &[Test], bounds: Bounds) -> Vec<Trace> {
    let options = Options::new(vec![bounds]);
    let verification = verify::verify(&Subject::of::<P>(), tests, &options).expect("known models");
    verification.findings.iter().map(|f| Trace::of(P::INFO.name, &tests[f.test], f)).collect()
}

fn shipped(path: &str) -> Test {
    let (path, text) = corpus::SHIPPED.iter().find(|(known, _)| *known == path).expect("shipped");
    Test::read(path, text).expect("a test")
}

/// The trace of a counterexample to a test, if the explorer finds an outcome or a fault that
/// `requirements` forbids.
fn refuted(
    explorer: &mut Explorer,
    protocol: &str,
    test: &Test,
    placement: usize,
    models: &[&str],
    requirements: &Requirements<'_>,
) -> Option<Trace> {
    let mut limits = Limits { states_max: 30_000, ..Limits::default() };
    let found =
        explorer.explore(&test.program(), &test.placements[placement], requirements, &mut limits).ok()?;
    let models = models.iter().map(|&model| model.to_owned()).collect();
    let finding =
        Finding { test: 0, placement, bounds: explorer.bounds(), models, violation: found.violation? };
    Some(Trace::of(protocol, test, &finding))
}

#[test]
fn the_recorded_counterexample_is_reproduced_on_every_machine() {
    let trace = Trace::read(KEPT, subjects::explored).expect("it is kept");
    let subject = Subject::of::<zoo::hlrc::Hlrc>();
    for name in Systems::with_folder("none").names() {
        let timed = replay(&trace, &subject, &machine(&name), &|| false);
        let timed = timed.unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!(timed.verdict, Verdict::Same, "{name}: {}", timed.end);
        assert_eq!(timed.end, "it ends with 0:r0=0;");
        assert_eq!(timed.reasons[0], "drf forbids 0:r0=0;");
        let cycles: Vec<u64> =
            timed.cycles.iter().copied().collect::<Option<_>>().expect("each has its cycle");
        assert!(cycles.is_sorted() && cycles.len() == 7 && cycles[0] < cycles[6], "{cycles:?}");
    }
    // The repaired protocol does not follow these moves.
    let mut other = trace;
    other.protocol = "hlrc-repaired".to_owned();
    assert!(!timed(&other).is_ok_and(|timed| timed.verdict == Verdict::Same));
}

/// Uses generated programs that have atomic exchanges of every memory order, and that have threads
/// on hosts.
#[test]
fn counterexamples_of_hlrc_are_reproduced() {
    let claims = [Claim::of("drf").expect("a known model")];
    let scopes = corpus::scopes_matter(&Subject::of::<zoo::hlrc::Hlrc>());
    let tests = corpus::generated(&claims, scopes, 2, true, 1, &|| false);
    for bounds in [COMBINING, COMBINING.evicting()] {
        let traces = found::<zoo::hlrc::Hlrc>(&tests, bounds);
        assert!(traces.len() > 3, "{}", traces.len());
        for trace in traces.iter().step_by(4) {
            assert_eq!(trace.violation.fault, Fault::Outcome);
            comes_out(trace);
        }
    }
}

#[test]
fn figure_6_is_reproduced_with_targeted_flushes() {
    let test = shipped("hrf/fig6.litmus");
    let claim = Claim::of("hrf-indirect").expect("a known model");
    let allowed = claim.promise(&test.program(), &mut || false).expect("defined").allowed;
    let requirements = Requirements { allowed: allowed.as_ref(), may_block: false };
    for bounds in [COMBINING, COMBINING.evicting(), COMBINING.core(IssueRule::Gpu)] {
        let mut explorer = Explorer::new(&Subject::of::<zoo::vi_targeted::ViTargeted>(), bounds, None);
        let trace = refuted(&mut explorer, "vi-targeted", &test, 0, &["hrf-indirect"], &requirements)
            .expect("it fails");
        comes_out(&trace);
        assert_eq!(timed(&trace).expect("it can be led").end, "it ends with 1:R2=1; 2:R3=0;");
    }
}

fn mutant(protocol: &str, name: &str) -> Mutant {
    let subject = subjects::explored(protocol).expect("a protocol");
    let found = mutants::all(&subject).into_iter().find(|mutant| mutant.name.ends_with(name));
    found.unwrap_or_else(|| panic!("{protocol} has no mutant {name}"))
}

/// The trace of the first counterexample that shows a seeded fault.
fn first_of(protocol: &str, mutant: &Mutant) -> Trace {
    let subject = subjects::explored(protocol).expect("a protocol");
    for bounds in [COMBINING, COMBINING.evicting()] {
        let mut explorer = Explorer::new(&subject, bounds, Some(mutant.seeded_fault));
        for test in corpus::shipped().expect("they are tests") {
            let model = subject.info.claims[0].model;
            let promise = Claim::of(model).expect("known").promise(&test.program(), &mut || false);
            let Ok(promise) = promise else { continue };
            let requirements = Requirements { allowed: promise.allowed.as_ref(), may_block: true };
            if promise.allowed.is_none() || test.program().threads.len() > 3 {
                continue;
            }
            for placement in 0..test.placements.len() {
                let trace = refuted(&mut explorer, protocol, &test, placement, &[model], &requirements);
                if let Some(trace) = trace.filter(|trace| trace.violation.fault < Fault::Livelock) {
                    return trace.seeded(mutant.clone());
                }
            }
        }
    }
    panic!("{protocol}: {} is not noticed", mutant.name);
}

#[test]
fn a_protocol_without_flushes_fails_with_timing() {
    let protocols = [
        ("vi", "no Flush"),
        ("rsp", "no FlushOthers"),
        ("rsp", "no LockAll"),
        ("denovo-b", "no RegisterStores"),
    ];
    for (protocol, fault) in protocols {
        let trace = first_of(protocol, &mutant(protocol, fault));
        assert!(trace.to_string().contains(&format!("protocol {protocol}\nseeded ")), "{trace}");
        comes_out(&trace);
        // Without the seeded fault, the replay does not show the same fault.
        let mut sound = trace;
        sound.mutant = None;
        assert!(!timed(&sound).is_ok_and(|timed| timed.verdict == Verdict::Same));
    }
}

/// The trace of the shortest schedule that leads to the last outcome in the sorted list of all
/// outcomes of a test. `None` if the explorer does not find all outcomes.
fn last_end(protocol: &str, test: &Test, placement: usize, bounds: Bounds) -> Option<Trace> {
    let mut explorer = Explorer::new(&subjects::explored(protocol)?, bounds, None);
    let mut limits = Limits { states_max: 5_000, ..Limits::default() };
    let any = Requirements { allowed: None, may_block: true };
    let program = test.program();
    let found = explorer.explore(&program, &test.placements[placement], &any, &mut limits).ok()?;
    if found.incomplete.is_some() || found.violation.is_some() {
        return None;
    }
    let mut others = found.outcomes;
    let last = others.pop_last()?;
    let requirements = Requirements { allowed: Some(&others), may_block: true };
    let trace = refuted(&mut explorer, protocol, test, placement, &[], &requirements)?;
    assert_eq!(trace.violation.why, format!("it ends with {}", show(&program, &last)));
    Some(trace)
}

/// The kinds of the moves in schedules without preemptions: the first word of each move.
const KINDS: [&str; 7] = ["answer", "deliver", "evict", "issue", "serve", "tick", "timer"];

/// Checks that the timed machine can follow schedules of the explorer, with various protocols,
/// placements, write policies, kinds of cores, evictions and hosts.
#[test]
fn the_machine_follows_every_walk_of_the_explorer() {
    let through = Bounds::new(WritePolicy::Through, WritePolicy::Through);
    let drop = Bounds::new(WritePolicy::ThroughInvalidate, WritePolicy::ThroughInvalidate);
    let machines = [
        COMBINING.evicting(),
        COMBINING.chiplets(2, (1, 0)),
        COMBINING.tight().chiplets(2, (1, 1)),
        COMBINING.tight().core(IssueRule::Gpu),
        through.core(IssueRule::Tso),
        drop.evicting().core(IssueRule::Rmo),
        through.in_full().core(IssueRule::ScWriteBuffer),
    ];
    let tests: Vec<Test> = corpus::shipped().expect("they are tests").into_iter().map(plain).collect();
    let mut kinds = BTreeMap::<&str, usize>::new();
    let mut turn = 0;
    // These published protocols are left out, because the repaired protocols have the same code.
    for info in zoo::ALL.iter().filter(|info| !zoo::reads_stale_copies(info.name)) {
        let mut led = 0;
        for test in &tests {
            turn += 1;
            let placement = turn / 7 % test.placements.len().max(1);
            if turn % 3 != 0 || test.placements.is_empty() || test.program().threads.len() > 3 {
                continue;
            }
            let Some(trace) = last_end(info.name, test, placement, machines[turn % machines.len()]) else {
                continue;
            };
            match timed(&trace) {
                Ok(timed) => assert_eq!(timed.end, trace.violation.why, "{trace}"),
                Err(why) => {
                    assert!(is_known(&why), "{why}:\n{trace}");
                    continue;
                }
            }
            led += 1;
            for mv in &trace.violation.moves {
                let text = mv.to_string();
                *kinds
                    .entry(KINDS.into_iter().find(|kind| text.starts_with(kind)).expect("a kind of move"))
                    .or_default() += 1;
            }
        }
        assert!(led > 5, "{}: {led}", info.name);
    }
    let seen: BTreeSet<&str> = kinds.keys().copied().collect();
    assert_eq!(seen, BTreeSet::from(KINDS), "{kinds:?}");
}

/// The faults are deadlocks, uses of table rows that the protocol declares impossible, and
/// unfinished work at the end of a run.
#[test]
fn faults_other_than_outcomes_are_reproduced() {
    let mut seen = BTreeMap::<Fault, usize>::new();
    let test = shipped("hrf/fig6.litmus");
    for protocol in ["vi", "hlrc-repaired"] {
        let subject = subjects::explored(protocol).expect("a protocol");
        // The mutant with this name leaves unfinished work at the end of a run. Most other mutants
        // fail before the end, because they count wrong.
        let is_wanted =
            |at: usize, mutant: &Mutant| at.is_multiple_of(11) || mutant.name.ends_with("Sync in R, to V");
        for (at, mutant) in mutants::all(&subject).into_iter().enumerate() {
            if !is_wanted(at, &mutant) {
                continue;
            }
            let mut explorer = Explorer::new(&subject, COMBINING.evicting(), Some(mutant.seeded_fault));
            let requirements = Requirements { allowed: None, may_block: false };
            let Some(trace) = refuted(&mut explorer, protocol, &test, 0, &[], &requirements) else {
                continue;
            };
            let trace = trace.seeded(mutant);
            match trace.violation.fault {
                // The explorer checks this condition of a step outside of the
                // tables.
                Fault::Impossible if trace.violation.why.starts_with("NodeId") => continue,
                Fault::Impossible | Fault::Deadlock | Fault::Unquiet => {}
                Fault::Outcome | Fault::Livelock | Fault::ThinAir | Fault::Astray | Fault::Disagreement => {
                    continue;
                }
            }
            *seen.entry(trace.violation.fault).or_default() += 1;
            comes_out(&trace);
        }
    }
    assert!(seen.len() == 3, "{seen:?}");
}

#[test]
fn an_impossible_move_is_named_with_the_possible_ones() {
    let cases = [
        (
            "deliver 0 1 0\nserve",
            "deliver 0 2 0\nserve",
            "move 2, `deliver 0 2 0`, is not possible on the timed machine; possible: `deliver 0 1 0`",
        ),
        (
            "serve 1 0",
            "serve 1 1",
            "move 3, `serve 1 1`, is not possible on the timed machine; possible: `serve 1 0`",
        ),
        ("serve 1 0", "evict 200 9", "move 3, `evict 200 9`, is not possible"),
        ("serve 1 0", "issue 0", "move 3, `issue 0`, is not possible"),
        ("serve 1 0", "issue 7", "move 3, `issue 7`, names a thread that does not exist"),
        ("serve 1 0", "timer 0 9", "move 3, `timer 0 9`, names a timer that does not exist"),
        ("serve 1 0", "deliver 1 0 3", "move 3, `deliver 1 0 3`, lets a message overtake another"),
    ];
    for (from, to, what) in cases {
        let trace = Trace::read(&KEPT.replacen(from, to, 1), subjects::explored).expect("it is one still");
        let why = timed(&trace).map(|timed| timed.end).expect_err(to);
        assert!(why.starts_with(what) && why.lines().count() == 1, "{why}");
    }
    // Without its last move, the run has not ended.
    let mut short = Trace::read(KEPT, subjects::explored).expect("it is kept");
    short.violation.moves.pop();
    let timed = timed(&short).expect("it can be led");
    assert_eq!(
        (timed.verdict, &*timed.end),
        (Verdict::Misfit, "the timed run has not ended after the last move; possible now: `deliver 1 0 0`")
    );
}

#[test]
fn a_violation_of_a_rule_about_several_controllers_is_not_replayed_with_timing() {
    let text = KEPT.replacen("fault Outcome", "fault Disagreement", 1);
    let trace = Trace::read(&text, subjects::explored).expect("it is one still");
    let why = timed(&trace).map(|timed| timed.end).expect_err("the rule is not checked");
    assert!(why.ends_with("because the timed machine does not check the rule"), "{why}");
}

#[test]
fn findings_about_all_runs_are_not_replayed_with_timing() {
    for (fault, what) in [
        ("Livelock", "that a program never ends"),
        ("ThinAir", "that a load returned a byte that no run writes there"),
    ] {
        let text = KEPT.replacen("fault Outcome", &format!("fault {fault}"), 1);
        let trace = Trace::read(&text, subjects::explored).expect("it is one still");
        let why = timed(&trace).map(|timed| timed.end).expect_err(fault);
        assert_eq!(why, format!("{what} is a finding about all runs, but a timed replay shows one run"));
    }
}

#[test]
fn a_thread_that_never_waits_posts_a_limited_number_of_operations() {
    let text = KEPT.replacen("|   int r0 = *x;", "|   while (1) { *x = 1; }\n|   int r0 = *x;", 1);
    let mut trace = Trace::read(&text, subjects::explored).expect("it is a test still");
    trace.violation.moves.truncate(1);
    let timed = timed(&trace).expect("it can be led");
    assert_eq!(timed.end, "the timed run has not ended after the last move; possible now: `deliver 0 1 0`");
}

#[test]
fn features_that_no_timed_machine_has_are_named() {
    let with = |from: &str, to: &str| {
        let text = KEPT.replacen(from, to, 1);
        assert_ne!(text, KEPT);
        match Trace::read(&text, subjects::explored) {
            Ok(trace) => timed(&trace).map(|timed| timed.end).expect_err(to),
            Err(error) => error.to_string(),
        }
    };
    assert!(with("agents cu0", "agents command-processor").contains("command processor"));
    assert!(with("lines 0", "lines 200").contains("a line number below"));
    assert!(with("protocol hlrc\n", "protocol hlrc\nseeded none\n").contains("found `none`"));
}

/// A small random generator with a fixed seed, so that all choices can be repeated.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides.max(1)
    }
}

#[test]
fn any_damaged_file_is_read_or_refused() {
    const WORDS: [&str; 14] = [
        "0", "1", "255", "64", "3", "yes", "host", "cu1", "Gpu", "Livelock", "issue", "Through", "acq_rel",
        "|",
    ];
    let machine = machine("hrf-8cu");
    let mut dice = Dice(1);
    let (mut refused, mut ended) = (0, 0);
    for _ in 0..1000 {
        let mut lines: Vec<Vec<&str>> = KEPT.lines().map(|line| line.split(' ').collect()).collect();
        for _ in 0..1 + dice.roll(3) {
            let (at, other) = (dice.roll(lines.len()), dice.roll(lines.len()));
            let word = dice.roll(lines[at].len());
            match dice.roll(5) {
                0..=2 => lines[at][word] = WORDS[dice.roll(WORDS.len())],
                3 => lines.swap(at, other),
                _ => lines.insert(at, lines[other].clone()),
            }
        }
        let text: String = lines.iter().map(|line| line.join(" ") + "\n").collect();
        let Ok(trace) = Trace::read(&text, subjects::explored) else { continue };
        let Some(subject) = subjects::explored(&trace.protocol) else { continue };
        match replay(&trace, &subject, &machine, &|| false) {
            Ok(_) => ended += 1,
            Err(why) => {
                let why = why.to_string();
                refused += 1;
                assert!(!why.is_empty() && why.lines().count() == 1, "{why}");
            }
        }
    }
    assert!(ended > 10 && refused > 10, "{ended} came to an end, {refused} were refused");
}
