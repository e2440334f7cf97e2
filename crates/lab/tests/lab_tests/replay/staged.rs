//! Tests the timed replay of programs with several kernels, and of programs whose work-groups are
//! preempted.

use std::collections::BTreeSet;

use explore::claim::Claim;
use explore::mutants::{self, Mutant};
use explore::verify::{Finding, Spread, Test};
use explore::{Bounds, Explorer, Fault, Limits, Move, Placement, Requirements, Trace, corpus};
use proto::issue::IssueRule;
use proto::{Agent, WritePolicy};

use super::walk::{comes_to_its_end, is_known, plain, walk};
use super::{COMBINING, Dice, comes_out, timed};

/// The kinds of the moves (steps) of a trace: the first word of each move.
fn kinds(trace: &Trace) -> BTreeSet<String> {
    let kind = |mv: &Move| mv.to_string().split(' ').next().unwrap_or_default().to_owned();
    trace.violation.moves.iter().map(kind).collect()
}

/// The number of random walks of a protocol. If fewer than [`LED_MIN`] of them can be replayed, more
/// follow.
const WALKS: usize = 12;
/// The minimum number of walks of a protocol that are replayed.
const LED_MIN: usize = 3;

/// Makes random walks (random schedules) of the built-in litmus tests on every protocol, and
/// replays them with timing. Returns the kinds of their moves.
fn walks(
    machines: &[Bounds],
    spread: Spread,
    is_wanted: impl Fn(&Placement) -> bool,
    rare: fn(Move) -> bool,
) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut dice = Dice(7);
    let tests = corpus::shipped().expect("they are tests").into_iter().map(|test| plain(test.spread(spread)));
    let tests: Vec<Test> = tests.filter(|test| test.program().threads.len() <= 3).collect();
    // These published protocols are left out, because the repaired protocols have the same code.
    for info in zoo::ALL.iter().filter(|info| !zoo::reads_stale_copies(info.name)) {
        let subject = subjects::explored(info.name).expect("a protocol");
        let mut led = 0;
        for turn in 0..10 * WALKS {
            if turn >= WALKS && led >= LED_MIN {
                break;
            }
            let test = &tests[dice.roll(tests.len())];
            let fit: Vec<usize> =
                (0..test.placements.len()).filter(|&at| is_wanted(&test.placements[at])).collect();
            if fit.is_empty() {
                continue;
            }
            let placement = fit[dice.roll(fit.len())];
            let mut explorer = Explorer::new(&subject, machines[turn % machines.len()], None);
            let supported = explorer.replay(&test.program(), &test.placements[placement], &[]).is_ok();
            if !supported {
                continue;
            }
            let Some(trace) = walk(&mut explorer, info.name, (test, placement), rare, &mut dice) else {
                continue;
            };
            let timed = timed(&trace);
            if timed.as_ref().is_err_and(|why| is_known(why)) {
                continue;
            }
            comes_to_its_end(&trace, timed);
            led += 1;
            seen.extend(kinds(&trace));
        }
        assert!(led >= LED_MIN, "{}: {led}", info.name);
    }
    seen
}

fn machines() -> [Bounds; 5] {
    let through = Bounds::new(WritePolicy::Through, WritePolicy::Through);
    let drop = Bounds::new(WritePolicy::ThroughInvalidate, WritePolicy::ThroughInvalidate);
    [
        COMBINING.evicting(),
        COMBINING.tight().chiplets(2, (1, 1)),
        COMBINING.core(IssueRule::Gpu),
        through.in_full().core(IssueRule::TsoForwarding),
        drop.evicting().core(IssueRule::RmoForwarding),
    ]
}

#[test]
fn programs_of_several_kernels_reach_their_ends() {
    let spread = Spread { kernels: 3, hosts: 1 };
    let is_staged = |placement: &Placement| !placement.stages.is_empty();
    let seen = walks(&machines(), spread, is_staged, |_| false);
    for kind in ["boundary", "next", "evict", "answer"] {
        assert!(seen.contains(kind), "{kind}: {seen:?}");
    }
}

/// Checks the replay of walks with preemptions in placements on so many kernels.
fn preempted(kernels: u8) {
    let machines = machines().map(|bounds| bounds.preempting(2));
    let is_preempt = |mv: Move| matches!(mv, Move::Preempt { .. } | Move::Resume { .. });
    let is_wanted = |placement: &Placement| placement.stages.is_empty() == (kernels == 1);
    let seen = walks(&machines, Spread { kernels, hosts: 1 }, is_wanted, is_preempt);
    assert!(seen.contains("preempt") && seen.contains("resume"), "{seen:?}");
}

#[test]
fn preempted_programs_reach_their_ends() {
    preempted(1);
}

#[test]
fn preempted_programs_of_two_kernels_reach_their_ends() {
    preempted(2);
}

/// A litmus test: a word is read on one compute unit, written on another compute unit, and read
/// again on the first compute unit.
const HANDED_ON: &str = "OPENCL handed-on
{ }

P0@wg 0, dev 0 (global int* x) {
  int r0 = *x;
}

P1@wg 1, dev 0 (global int* x) {
  *x = 1;
}

P2@wg 2, dev 0 (global int* x) {
  int r0 = *x;
}

exists (2:r0=0)
";

/// A litmus test in which two compute units read a word. The host reads the word at the end.
const READ: &str = "OPENCL read
{ }

P0@wg 0, dev 0 (global int* x) {
  int r0 = *x;
}

P1@wg 1, dev 0 (global int* x) {
  int r0 = *x;
}

exists (0:r0=0 /\\ x=0)
";

/// The traces of a program's counterexamples on mutants of a protocol. The function `is_it` selects
/// the mutants (protocols with one seeded fault).
fn seeded(
    protocol: &str,
    (text, placement): (&str, &dyn Fn(Placement) -> Placement),
    is_it: impl Fn(&Mutant) -> bool,
    bounds: Bounds,
) -> Vec<Trace> {
    let subject = subjects::explored(protocol).expect("a protocol");
    let mut test = Test::read("seeded", text).expect("a test");
    let spread = Placement::spread(&test.program());
    test.placements = vec![placement(spread)];
    let (program, placement) = (test.program().into_owned(), test.placements[0].clone());
    let claim = Claim::of("drf").expect("a known model");
    let for_models = placement.for_models(&program).into_owned();
    let allowed = claim.promise(&for_models, &mut || false).expect("it is asked").allowed.expect("no race");
    let requirements = Requirements { allowed: Some(&allowed), may_block: false };
    let models = vec![String::from("drf")];
    let mut traces = Vec::new();
    for mutant in mutants::all(&subject).into_iter().filter(is_it) {
        let mut explorer = Explorer::new(&subject, bounds, Some(mutant.seeded_fault));
        let found = explorer.explore(&program, &placement, &requirements, &mut Limits::default());
        let Some(violation) = found.expect("supported").violation else { continue };
        let finding = Finding { test: 0, placement: 0, bounds, models: models.clone(), violation };
        traces.push(Trace::of(protocol, &test, &finding).seeded(mutant));
    }
    traces
}

fn handed_on(placement: Placement) -> Placement {
    Placement { agents: vec![Agent::Cu(0), Agent::Cu(1), Agent::Cu(0)], stages: vec![0, 1, 2], ..placement }
}

/// Parts of the names of seeded faults. The first entry selects faults at the end of a kernel. The
/// second entry selects faults at the beginning of a kernel, which is the only acquire in the
/// litmus tests of this file.
const FAULTS: [&[&str]; 2] = [&["KernelEnd", ", without "], &[": no Invalidate"]];

fn is_of(mutant: &Mutant, fault: &[&str]) -> bool {
    fault.iter().all(|part| mutant.name.contains(part))
}

/// The seeded faults are a kernel that ends without a flush, and a kernel that begins without an
/// invalidation.
#[test]
fn faults_of_kernel_boundaries_are_reproduced() {
    for protocol in ["vi", "rsp", "hlrc-repaired", "denovo-b"] {
        for fault in FAULTS {
            let is_it = |mutant: &Mutant| is_of(mutant, fault);
            let traces = seeded(protocol, (HANDED_ON, &handed_on), is_it, COMBINING);
            let outcomes = traces.iter().filter(|trace| trace.violation.fault == Fault::Outcome);
            assert!(outcomes.count() > 0, "{protocol}: nothing comes of {fault:?}");
            for trace in &traces {
                assert!(kinds(trace).contains("boundary") && kinds(trace).contains("next"), "{trace}");
                comes_out(trace);
            }
        }
    }
}

/// After the program, the host overwrites all words. The fault is that the next kernel still reads
/// old values.
#[test]
fn a_stale_copy_after_the_program_is_reproduced() {
    for protocol in ["vi", "rsp", "hlrc-repaired", "denovo-b"] {
        let is_it = |mutant: &Mutant| is_of(mutant, FAULTS[1]);
        let traces = seeded(protocol, (READ, &|placement| placement), is_it, COMBINING);
        let unquiet: Vec<_> =
            traces.iter().filter(|trace| trace.violation.why.contains("overwritten")).collect();
        assert!(!unquiet.is_empty(), "{protocol}");
        unquiet.into_iter().for_each(comes_out);
    }
}

/// A litmus test in which a work-group reads the word that it has written. Another work-group reads
/// the next word in the same line.
const OWN: &str = "OPENCL own-word
{ }

P0@wg 0, dev 0 (global int* x, global int* z) {
  int r0 = *z;
}

P1@wg 1, dev 0 (global int* x, global int* z) {
  *x = 1;
  int r0 = *x;
}

forall (1:r0=1)
";

fn paired(placement: Placement) -> Placement {
    Placement { lines: vec![0, 0], ..placement }
}

/// The seeded faults are a preemption of a work-group without a flush, and a resumption without an
/// invalidation.
#[test]
fn faults_of_preemptions_are_reproduced() {
    for protocol in ["vi", "rsp", "hlrc", "denovo-b"] {
        for fault in FAULTS {
            let is_it = |mutant: &Mutant| is_of(mutant, fault);
            let traces = seeded(protocol, (OWN, &paired), is_it, COMBINING.preempting(1));
            let moved = |trace: &&Trace| kinds(trace).contains("preempt");
            assert!(traces.iter().filter(moved).count() > 0, "{protocol}: {fault:?}");
            traces.iter().filter(moved).for_each(comes_out);
        }
    }
}

/// Checks that the timed machine refuses traces whose kernel boundaries or preemptions are in a
/// wrong order, as the explorer does.
#[test]
fn boundaries_and_preemptions_out_of_order_are_refused() {
    let is_it = |mutant: &Mutant| is_of(mutant, FAULTS[0]);
    let staged = seeded("vi", (HANDED_ON, &handed_on), is_it, COMBINING).remove(0).to_string();
    let preempted = seeded("vi", (OWN, &paired), is_it, COMBINING.preempting(1));
    let preempted =
        preempted.into_iter().find(|trace| kinds(trace).contains("resume")).expect("there is one");
    let preempted = preempted.to_string();
    let begin = "moves\nboundary 0\nnext\nboundary 1\nboundary 0\nnext\nissue 0\n";
    let cases = [
        (&staged, begin, "moves\nnext\n", "move 1, `next`,", "possible: `boundary 0`"),
        (&staged, begin, "moves\nboundary 0\nboundary 1\n", "move 2, `boundary 1`,", "possible: `next`"),
        (
            &staged,
            begin,
            "moves\nboundary 0\nnext\nboundary 1\nnext\n",
            "move 4, `next`,",
            "possible: `boundary 0`",
        ),
        (
            &staged,
            begin,
            "moves\nboundary 0\nnext\nissue 0\n",
            "move 3, `issue 0`,",
            "possible: `boundary 0` or `boundary 1`",
        ),
        (&preempted, "\nresume 1 0\n", "\nissue 1\n", "`issue 1`,", "`resume 1 0`"),
        (&preempted, "\nresume 1 0\n", "\nresume 1 1\n", "`resume 1 1`,", "`resume 1 0`"),
        (&preempted, "\nresume 1 0\n", "\npreempt 1\n", "`preempt 1`,", "`resume 1 0`"),
    ];
    for (text, from, to, refused, open) in cases {
        assert!(text.contains(from), "{text}");
        let trace = Trace::read(&text.replacen(from, to, 1), subjects::explored).expect("it is one still");
        let why = timed(&trace).map(|timed| timed.end).expect_err(to);
        let said = format!("{refused} is not possible on the timed machine; possible: ");
        assert!(why.contains(&said) && why.contains(open), "{why}");
    }
}
