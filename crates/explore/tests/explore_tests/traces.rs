//! Counterexamples from files: each reads back as written and reproduces, and any other file
//! is rejected with a line number.

use std::collections::{BTreeMap, BTreeSet};

use explore::claim::Claim;
use explore::mutants;
use explore::trace::{Obstacle, Verdict};
use explore::verify::{self, Finding, Options, Test};
use explore::{Bounds, End, Explorer, Fault, Limits, Move, Requirements, Subject, Trace, Violation, corpus};
use proto::{Protocol, WritePolicy};
use zoo::hlrc::{Hlrc, HlrcRepaired};
use zoo::vi::Vi;
use zoo::vi_targeted::ViTargeted;

const COMBINING: Bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);

/// The counterexamples that a protocol has to its claims in these tests.
fn found<P: Protocol>(tests: &[Test], bounds: Bounds) -> Vec<Trace> {
    let options = Options::new(vec![bounds]);
    let verification = verify::verify(&Subject::of::<P>(), tests, &options).expect("known models");
    let traces = verification.findings.iter().map(|f| Trace::of(P::INFO.name, &tests[f.test], f));
    traces.collect()
}

fn is_same<P: Protocol>(trace: &Trace) -> bool {
    let read = Trace::read(&trace.to_string(), subjects::explored)
        .unwrap_or_else(|error| panic!("{error}:\n{trace}"));
    assert_eq!(&read, trace);
    read.replay(&Subject::of::<P>(), u64::MAX, &|| false).expect("supported").verdict == Verdict::Same
}

/// The counterexamples of hLRC as published, in generated programs. They include exchanges of every
/// memory order.
fn of_hlrc() -> Vec<Trace> {
    let claims = [Claim::of("drf").expect("a known model")];
    let tests =
        corpus::generated(&claims, corpus::scopes_matter(&Subject::of::<Hlrc>()), 2, true, 1, &|| false);
    found::<Hlrc>(&tests, COMBINING)
}

#[test]
fn counterexamples_reproduce_on_their_protocol_only() {
    let traces = of_hlrc();
    assert!(traces.len() > 3, "{}", traces.len());
    for trace in &traces {
        assert_eq!(trace.violation.fault, Fault::Outcome);
        assert!(is_same::<Hlrc>(trace), "{trace}");
        assert!(!is_same::<HlrcRepaired>(trace), "{trace}");
    }
    assert!(traces.iter().any(|trace| !trace.to_string().contains("changes none")), "none was changed");
}

#[test]
fn other_moves_have_another_end() {
    let trace = Trace::read(GOOD, subjects::explored).expect("the file is correct");
    let with = |change: &dyn Fn(&mut Vec<Move>)| {
        let mut other = trace.clone();
        change(&mut other.violation.moves);
        other.replay(&Subject::of::<Hlrc>(), u64::MAX, &|| false).expect("supported")
    };
    assert_eq!(with(&|_| {}).verdict, Verdict::Same);
    let short = with(&|moves| _ = moves.pop());
    assert_eq!((short.verdict, &short.replay.end), (Verdict::Misfit, &End::Goes));
    assert_eq!(short.end, "the moves end before the program does");
    for mv in [Move::Timer { node: 200, class: 9 }, Move::Deliver { from: 255, to: 254, nth: 7 }, Move::Tick]
    {
        let more = with(&|moves| moves.insert(0, mv));
        assert_eq!(more.verdict, Verdict::Misfit, "{mv}");
        assert_eq!(more.end, format!("move 1, `{mv}`, is not possible here; possible now: `issue 0`"));
        // The trace can always be drawn.
        assert!(explore::chart::svg(&more.replay, "x").contains("</svg>"));
    }
}

/// A program in which one thread waits for another and reads its writes. No byte of any word is
/// ever zero.
const WAITS: &str = "OPENCL waits
{ x = 16843009; }

P0@wg 0, dev 0 (global int* x, global atomic_int* f) {
  *x = 33686018;
  atomic_store_explicit(f, 1, memory_order_release, memory_scope_device);
}

P1@wg 1, dev 0 (global int* x, global atomic_int* f) {
  await(f == 1, memory_order_acquire, memory_scope_device);
  int r0 = *x;
}

forall (1:r0=33686018)
";

/// The first counterexample of each kind of fault other than a forbidden outcome, and
/// counterexamples of seeded faults.
fn of_every_kind() -> BTreeMap<Fault, Trace> {
    let mut kinds = BTreeMap::new();
    let test = Test::read("waits", WAITS).expect("a test");
    for protocol in ["vi", "hlrc-repaired"] {
        let subject = subjects::explored(protocol).expect("a protocol");
        for mutant in mutants::all(&subject) {
            let mut explorer = Explorer::new(&subject, COMBINING, Some(mutant.seeded_fault));
            let mut limits = Limits { states_max: 20_000, ..Limits::default() };
            let program = test.program();
            let found =
                explorer.explore(&program, &test.placements[0], &Requirements::default(), &mut limits);
            let Some(violation) = found.expect("supported").violation else { continue };
            let kind = violation.fault;
            let finding = Finding { test: 0, placement: 0, bounds: COMBINING, models: Vec::new(), violation };
            let trace = || Trace::of(protocol, &test, &finding).seeded(mutant.clone());
            kinds.entry(kind).or_insert_with(trace);
        }
    }
    kinds
}

#[test]
fn every_kind_of_fault_reproduces_and_is_distinguished() {
    let kinds = of_every_kind();
    let all = [Fault::Impossible, Fault::Deadlock, Fault::Unquiet, Fault::Livelock, Fault::ThinAir];
    assert!(kinds.keys().eq(&all), "{:?}", kinds.keys());
    for (kind, trace) in kinds {
        let read = Trace::read(&trace.to_string(), subjects::explored)
            .unwrap_or_else(|error| panic!("{error}:\n{trace}"));
        assert_eq!(read, trace);
        let subject = subjects::explored(&trace.protocol).expect("a protocol");
        let verdict = |trace: &Trace| {
            let replayed = trace.replay(&subject, u64::MAX, &|| false);
            replayed.expect("supported").verdict
        };
        assert_eq!(verdict(&trace), Verdict::Same, "{trace}");
        let mut other = trace.clone();
        other.violation.why.push('!');
        assert_eq!(verdict(&other), Verdict::Another, "{other}");
        // Without the seeded fault there is no such violation.
        let mut sound = trace.clone();
        sound.mutant = None;
        let expected: &[Verdict] = match kind {
            Fault::Livelock | Fault::ThinAir => &[Verdict::Gone],
            _ => &[Verdict::Gone, Verdict::Misfit],
        };
        assert!(expected.contains(&verdict(&sound)), "{sound}");
        // Without memory for the exploration, the replay gives no verdict about all runs.
        if trace.concerns_all_runs() {
            let full = trace.replay(&subject, 0, &|| false).map(|replayed| replayed.end);
            assert!(matches!(&full, Err(Obstacle::Incomplete(_))) || kind == Fault::ThinAir, "{full:?}");
        }
    }
}

/// A thread may read an invalid address. If a model restricts the reads, this is a fault. Otherwise
/// the program counts as unsupported.
#[test]
fn a_read_of_an_invalid_address_is_found_and_reproduces() {
    let subject = subjects::explored("vi").expect("a protocol");
    let shipped = corpus::shipped().expect("they are tests");
    let test =
        shipped.into_iter().find(|test| test.name == "caches/told-where.litmus").expect("it is shipped");
    let mutant = mutants::all(&subject).into_iter().find(|mutant| mutant.name.ends_with("no Flush"));
    let mutant = mutant.expect("it can be seeded");
    let apart = test.placements.iter().position(|placement| placement.agents[0] != placement.agents[1]);
    let (program, placement) = (test.program(), apart.expect("at two caches"));
    let mut explorer = Explorer::new(&subject, COMBINING, Some(mutant.seeded_fault));
    let mut explore = |allowed| {
        let requirements = Requirements { allowed, may_block: false };
        explorer.explore(&program, &test.placements[placement], &requirements, &mut Limits::default())
    };
    let without_model = explore(None).expect_err("any read is allowed");
    assert!(without_model.to_string().contains("outside the program's memory"), "{without_model}");
    let claim = Claim::of("opencl").expect("a known model");
    let allowed = claim.promise(&program, &mut || false).expect("the claim promises something").allowed;
    let violation = explore(allowed.as_ref()).expect("supported").violation.expect("nothing is flushed");
    assert_eq!(violation.fault, Fault::Astray);
    let models = vec![String::from("opencl")];
    let finding = Finding { test: 0, placement, bounds: COMBINING, models, violation };
    let mut trace = Trace::of("vi", &test, &finding).seeded(mutant);
    let read = Trace::read(&trace.to_string(), subjects::explored).expect("it reads back");
    let verdict = |trace: &Trace| trace.replay(&subject, u64::MAX, &|| false).expect("supported").verdict;
    assert_eq!(verdict(&read), Verdict::Same);
    trace.mutant = None;
    assert!(matches!(verdict(&trace), Verdict::Gone | Verdict::Misfit));
}

/// The text of a trace of a generated test reads back, because its line of changes (the
/// transformation) fits its program.
#[test]
fn every_generated_test_reads_back() {
    // The claims include remote operations and fences.
    let rsp = subjects::explored("rsp").expect("a protocol");
    let claims = rsp.info.claims.iter().map(|claim| Claim::of(claim.model).expect("a known model"));
    let tests = corpus::generated(&claims.collect::<Vec<_>>(), true, 3, true, 1, &|| false);
    let mut changed = BTreeSet::new();
    let violation = Violation { fault: Fault::Deadlock, why: String::from("x"), moves: Vec::new() };
    for test in tests.iter().step_by(17) {
        let models = Vec::new();
        let finding =
            Finding { test: 0, placement: 0, bounds: COMBINING, models, violation: violation.clone() };
        let trace = Trace::of("vi", test, &finding);
        let text = trace.to_string();
        assert_eq!(Trace::read(&text, subjects::explored), Ok(trace), "{text}");
        changed.extend(text.lines().find_map(|line| line.strip_prefix("changes ").map(str::to_owned)));
    }
    assert!(changed.contains("remote") && changed.contains("host-first single"), "{changed:?}");
}

/// A trace with two stores of one word, from a core that lets them overlap.
const TWO_STORES: &str = "fencepost trace 1
test w.litmus
protocol vi
models hrf-indirect
l1 Through
l2 Through
ways 2 2
misses 2 2
store-buffer 2
banks 1
evictions no
core Gpu
queue 1
merge-memory yes
agents cu0
lines 0
changes none
fault Outcome
why it ends with x=1;
program
| OPENCL w
| { }
| P0@wg 0, dev 0 (global int* x) {
|   *x = 1;
|   *x = 2;
| }
| exists (x=1)
moves
issue 0
";

#[test]
fn a_replay_makes_only_moves_of_a_search() {
    let end = |text: &str| {
        let trace = Trace::read(text, subjects::explored).expect("it is a trace");
        let replayed = trace.replay(&Subject::of::<Vi>(), u64::MAX, &|| false).expect("supported");
        assert_eq!(replayed.verdict, Verdict::Misfit);
        replayed.end
    };
    let wide = TWO_STORES.replace("queue 1", "queue 4");
    // A channel keeps its order.
    assert_eq!(
        end(&(wide.clone() + "timer 0 0\nissue 0\ntimer 0 0\ndeliver 0 1 1\n")),
        "move 5, `deliver 0 1 1`, is not possible here; possible now: `deliver 0 1 0`"
    );
    // No input needs the way.
    let evict = "deliver 0 1 0\nserve 1 0\ndeliver 1 0 0\nevict 1 0\n";
    assert_eq!(
        end(&(wide + "timer 0 0\n" + evict)),
        "move 6, `evict 1 0`, is not possible here; possible now: `issue 0`"
    );
    // There is no room for the store's message.
    assert_eq!(
        end(&(TWO_STORES.to_owned() + "timer 0 0\nissue 0\n")),
        "move 3, `issue 0`, is not possible here; possible now: `deliver 0 1 0`"
    );
}

#[test]
fn the_chart_shows_reads_and_reasons() {
    let fig6 = corpus::SHIPPED.iter().find(|(path, _)| *path == "hrf/fig6.litmus").expect("shipped");
    let tests = [Test::read(fig6.0, fig6.1).expect("a test")];
    // Figure 6 races under the claim of `vi-targeted`, but not under HRF-indirect.
    let claims = [Claim::of("hrf-indirect").expect("a known model")];
    let allowed = claims[0].promise(&tests[0].program(), &mut || false).expect("defined").allowed;
    let requirements = Requirements { allowed: allowed.as_ref(), may_block: false };
    let placement = tests[0].placements[0].clone();
    let mut explorer = Explorer::new(&Subject::of::<ViTargeted>(), COMBINING, None);
    let found = explorer.explore(&tests[0].program(), &placement, &requirements, &mut Limits::default());
    let violation = found.expect("supported").violation.expect("it fails");
    let models = vec![String::from("hrf-indirect")];
    let finding = Finding { test: 0, placement: 0, bounds: COMBINING, models, violation };
    let trace = Trace::of("vi-targeted", &tests[0], &finding);
    let replayed = trace.replay(&Subject::of::<ViTargeted>(), u64::MAX, &|| false).expect("supported");
    assert_eq!(replayed.verdict, Verdict::Same);
    let chart = explore::chart::text(&replayed.replay, &trace.title());
    for part in [
        "P2: load X reads 0",
        "hrf-indirect forbids 1:R2=1; 2:R3=0;",
        "hrf-indirect allows 1:R2=1; 2:R3=1;",
        "P2: R X=0",
        "-fr->",
    ] {
        assert!(chart.contains(part), "{part} in:\n{chart}");
    }
}

/// The text of a correct file of a trace.
const GOOD: &str = include_str!("../../../../docs/findings/hlrc.trace");

#[test]
fn errors_in_a_file_name_the_line() {
    let cases = [
        ("fencepost trace 1", "fencepost trace 2", 1, "expected `fencepost trace 1`"),
        ("l1 Combining", "l1 Combine", 5, "found `Combine`, expected one of Combining, Through"),
        ("ways 2 2", "ways 2", 7, "expected two numbers"),
        ("ways 2 2", "ways 0 2", 7, "expected a number from 1 to 64"),
        ("banks 2", "banks 99999999999", 10, "expected a number from 1 to 64"),
        ("evictions no", "evictions maybe", 11, "found `maybe`, expected `yes` or `no`"),
        ("core InOrder\n", "", 12, "expected `core` and its value"),
        ("agents cu0", "agents cu0 cu64", 15, "found `cu64`"),
        ("lines 0", "lines x", 16, "expected a line's number"),
        ("changes none", "changes device Strong used", 17, "expected a change of the program such as `none`"),
        ("changes none", "changes remote", 17, "the change `remote` does not apply to the program"),
        (
            "protocol hlrc\n",
            "protocol hlrx\nseeded none\n",
            3,
            "found `hlrx`, expected the name of a protocol",
        ),
        ("protocol hlrc\n", "protocol hlrc\nseeded none\n", 4, "found `none`, expected a fault"),
        ("fault Outcome", "fault Bad", 18, "expected one of Impossible, Deadlock"),
        ("atomic_fetch_add_explicit", "atomic_fetch_more", 26, "in the program, line 6, column 3"),
        ("moves\n", "", 31, "expected `moves` and its value"),
        ("deliver 0 1 0", "deliver 0 1", 33, "`deliver 0 1` is no move"),
    ];
    assert!(Trace::read(GOOD, subjects::explored).is_ok());
    for (from, to, line, what) in cases {
        let bad = GOOD.replacen(from, to, 1);
        assert_ne!(bad, GOOD, "{from}");
        let error = Trace::read(&bad, subjects::explored).expect_err(to);
        assert_eq!(error.line, line, "{error}");
        assert!(error.to_string().contains(what), "{error}");
    }
    let staged = GOOD.replacen("\nchanges", "\nstages 1 0\nchanges", 1);
    assert_eq!(Trace::read(&staged, subjects::explored).map(|trace| trace.to_string()), Ok(staged.clone()));
    let error = Trace::read(&staged.replacen("stages 1 0", "stages 1 x", 1), subjects::explored)
        .expect_err("no stage");
    assert_eq!(error.to_string(), "line 17: found `x`, expected a stage's number");
    let error = Trace::read("fencepost trace 1\ntest x\n", subjects::explored).expect_err("it ends");
    assert_eq!(error.to_string(), "line 3: the text ends, expected `protocol`");
}

/// A small pseudorandom generator.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides.max(1)
    }
}

/// Changes some words and lines of a file.
fn changed(dice: &mut Dice, text: &str) -> String {
    const WORDS: [&str; 16] = [
        "0", "1", "255", "64", "-1", "yes", "host", "cu1", "Gpu", "Livelock", "issue", "tick", "drf", "|",
        "\u{e9}", "",
    ];
    let mut lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(' ').collect()).collect();
    for _ in 0..1 + dice.roll(4) {
        let (at, other) = (dice.roll(lines.len()), dice.roll(lines.len()));
        let word = dice.roll(lines[at].len());
        match dice.roll(6) {
            0 | 1 => lines[at][word] = WORDS[dice.roll(WORDS.len())],
            2 => lines[at].insert(word, WORDS[dice.roll(WORDS.len())]),
            3 => lines.swap(at, other),
            4 => lines.insert(at, lines[other].clone()),
            _ => _ = lines.remove(at),
        }
        if lines.is_empty() {
            lines.push(vec![""]);
        }
    }
    lines.iter().map(|line| line.join(" ") + "\n").collect()
}

#[test]
fn a_damaged_file_is_rejected_without_a_panic() {
    let mut dice = Dice(1);
    let (mut read, mut played) = (0, 0);
    for _ in 0..4000 {
        let text = changed(&mut dice, GOOD);
        let Ok(trace) = Trace::read(&text, subjects::explored) else { continue };
        read += 1;
        assert_eq!(Trace::read(&trace.to_string(), subjects::explored), Ok(trace.clone()), "{text}");
        let replayed = trace.replay(&Subject::of::<Hlrc>(), u64::MAX, &|| false);
        if let Ok(replayed) = replayed {
            played += 1;
            assert!(explore::chart::text(&replayed.replay, &trace.title()).len() > 10);
        }
    }
    assert!(read > 100 && played > 90, "{read} were read, {played} played");
}
