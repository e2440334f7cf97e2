//! Checks that the timed machine produces only outcomes of litmus tests that the explorer finds for
//! the same protocol. Also checks that the explorer finds weak outcomes: those that sequential
//! consistency forbids.

use std::collections::BTreeSet;

use explore::{Bounds, Explorer, Limits, Placement, Requirements, Subject};
use lab::litmus::{LOCATIONS, REGISTERS, program};
use lab::run::program_on;
use lab::systems::Systems;
use litmus::program::{Program, Term, Value};
use proto::issue::IssueRule;
use proto::{Agent, Protocol, WritePolicy};
use sim::RunOptions;
use sim::config::System;

fn test(path: &str) -> Program {
    let (_, text) = explore::corpus::SHIPPED.iter().find(|(known, _)| *known == path).expect("it is shipped");
    litmus::parse::parse(text).expect("it is a test")
}

/// The outcomes of a test in `seeds` runs with different seeds on a timed machine.
fn timed<P: Protocol>(system: &System, test: &Program, seeds: u64) -> BTreeSet<Vec<Value>> {
    let run = |seed: u64| {
        let delay = [0, 20, 200, 600][(seed % 4) as usize];
        let program = program(test, delay, seed).expect("made to run");
        let options = RunOptions { seed, patience_cycles: 20_000, ..RunOptions::default() };
        // A program with a loop that waits may never end.
        let outcome = match program_on(system, P::INFO.name, program, options, &mut ()) {
            Ok(outcome) => outcome,
            Err(error) => {
                assert!(test.may_wait(), "{}: {error}", test.name);
                return None;
            }
        };
        let part = |name: &str| outcome.answer.get::<u64>(name).expect("it is in the answer");
        let value = |term: Term| match term {
            Term::Reg(thread, reg) => part(&format!("{REGISTERS}{}", thread.0))[usize::from(reg.0)] as Value,
            Term::Loc(loc) => part(LOCATIONS)[usize::from(test.loc(loc).physical.0)] as Value,
            Term::Const(value) => value,
        };
        Some(test.state_terms().into_iter().map(value).collect())
    };
    (0..seeds).filter_map(run).collect()
}

/// All outcomes of a test in the explorer. `None` if the explored machine lacks a feature, or if
/// there are too many states to explore here.
fn explored<P: Protocol>(test: &Program) -> Option<BTreeSet<Vec<Value>>> {
    let combining = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);
    let bounds = Bounds { core: IssueRule::Gpu, ..combining };
    let mut explorer = Explorer::new(&Subject::of::<P>(), bounds, None);
    let requirements = Requirements { allowed: None, may_block: true };
    let mut limits = Limits { states_max: 300_000, ..Limits::default() };
    let found = explorer.explore(test, &Placement::spread(test), &requirements, &mut limits).ok()?;
    found.incomplete.is_none().then_some(found.outcomes)
}

#[test]
fn a_thread_that_never_reaches_memory_ends_the_run() {
    let text = "OPENCL x\n{ }\nP0@wg 0, dev 0 (global int* x) { while (1) { } *x = 1; }\nforall (x=1)\n";
    let test = litmus::parse::parse(text).expect("it is a test");
    let system = Systems::with_folder("none").load("hrf-8cu").expect("a built-in machine");
    let program = program(&test, 0, 0).expect("made to run");
    let error =
        program_on(&system, "vi", program, RunOptions::default(), &mut ()).expect_err("it never ends");
    assert!(error.to_string().contains("P0 runs forever without an access to memory"), "{error}");
}

fn bridge<P: Protocol>() {
    let system = Systems::with_folder("none").load("hrf-8cu").expect("a built-in machine");
    let (mut compared, mut seen) = (0, 0);
    for (path, _) in explore::corpus::SHIPPED {
        let test = test(path);
        let has_host = Placement::spread(&test).agents.contains(&Agent::Host(0));
        if test.threads.len() > 3 || has_host || program(&test, 0, 0).is_err() {
            continue;
        }
        let Some(explored) = explored::<P>(&test) else { continue };
        let timed = timed::<P>(&system, &test, 24);
        let beyond: Vec<_> = timed.difference(&explored).collect();
        assert!(beyond.is_empty(), "{path} under {}: only timed {beyond:?}, of {explored:?}", P::INFO.name);
        compared += 1;
        seen += timed.len();
    }
    assert!(compared >= 25 && seen > compared, "{}: {compared} tests, {seen} outcomes", P::INFO.name);
}

/// A litmus test: a thread reads a word, sees a flag that was set after the word was written, and
/// reads the word again.
const STALE: &str = "C stale
{ }

P0(int* x, atomic_int* y) {
  *x = 1;
  atomic_store_explicit(y, 1, memory_order_release);
}

P1(int* x, atomic_int* y) {
  int r2 = *x;
  int r0 = atomic_load_explicit(y, memory_order_relaxed);
  int r1 = *x;
}

exists (1:r0=1 /\\ 1:r1=0)
";

/// Checks that the explorer finds weak outcomes (those that sequential consistency forbids) under
/// the protocol `P`, because `P` lets relaxed atomics and ordinary accesses be seen out of order.
/// Without weak outcomes, the other tests of this file would test nothing.
fn weak<P: Protocol>() {
    let stale = litmus::parse::parse(STALE).expect("it is a test");
    for (test, outcome) in [(test("c11/SB.litmus"), vec![0, 0]), (stale, vec![1, 0])] {
        let explored = explored::<P>(&test).expect("a small test");
        assert!(explored.contains(&outcome), "{} under {}: {explored:?}", test.name, P::INFO.name);
    }
}

macro_rules! protocols {
    ($($name:ident: $protocol:ty;)+) => {
        $(
            mod $name {
                #[test]
                fn timed_outcomes_are_among_the_explored_ones() {
                    super::bridge::<$protocol>();
                }

                #[test]
                fn weak_outcomes_are_found() {
                    super::weak::<$protocol>();
                }
            }
        )+
    };
}

protocols! {
    vi: zoo::vi::Vi;
    rsp: zoo::rsp::Rsp;
    hlrc: zoo::hlrc::Hlrc;
    denovo_b: zoo::denovo::DenovoB;
}
