//! Tests of the effort of the search. They measure the effort in search nodes and path combinations
//! instead of time.

use std::ops::ControlFlow;

use crate::cat::{shipped, stage};
use crate::exec::set::Word;
use crate::exec::unfold::{numbers_of, unfold};
use crate::program::{Program, ThreadId};

use super::search::{AllowedExecution, SearchOptions, Visitor, search};
use super::{Gaps, Paths, fence_orders, for_each_skeleton};

/// A visitor that counts executions. If `one_by_one` is true, the search reports each execution.
/// Otherwise the search reports groups of executions.
struct Count {
    executions: u64,
    reported: u64,
    one_by_one: bool,
}

impl Visitor for Count {
    fn execution<W: Word>(&mut self, found: &AllowedExecution<'_, W>) -> ControlFlow<()> {
        self.executions += found.weight;
        self.reported += 1;
        ControlFlow::Continue(())
    }

    fn observes(&self, _: usize) -> bool {
        self.one_by_one
    }

    fn stop(&mut self) -> bool {
        false
    }

    fn wants_flag(&self, _: usize) -> bool {
        true
    }
}

/// Checks a test, and returns three counts: path combinations, search nodes and executions.
fn effort(text: &str, model: &str) -> (u64, u64, u64) {
    let mut count = Count { executions: 0, reported: 0, one_by_one: true };
    let (paths, nodes) = run(text, model, &mut count);
    (paths, nodes, count.executions)
}

/// Checks a test, and returns the numbers of path combinations and of search nodes.
fn run(text: &str, model: &str, count: &mut Count) -> (u64, u64) {
    let program: Program = crate::parse::parse(text).unwrap_or_else(|e| panic!("{e}"));
    let model = shipped(model).expect("it is shipped").expect("it is a model");
    let threads = (0..program.threads.len()).map(|t| ThreadId(t as u8));
    let unfoldings: Vec<_> = threads.map(|thread| unfold(&program, thread, 2, false)).collect();
    let numbers = numbers_of(&program);
    let search_options = SearchOptions {
        file: &model.file,
        partial_coherence: model.partial_coherence,
        numbers: &numbers,
        unchecked: false,
        wide: false,
    };
    let (mut paths, mut nodes) = (0, 0);
    for_each_skeleton(&program, &unfoldings, Paths::Whole, &mut Gaps::default(), &mut |skeleton| {
        let Some(skeleton) = skeleton else { return Ok(true) };
        paths += 1;
        let staged = stage::stage(&model, &skeleton)?;
        let syncs = fence_orders(&skeleton);
        nodes += search(&skeleton, staged, &search_options, &syncs, count).expect("it ends");
        Ok(true)
    })
    .expect("the model fits");
    (paths, nodes)
}

fn c11(threads: &[String]) -> String {
    let mut text = String::from("C test\n{}\n");
    for (number, body) in threads.iter().enumerate() {
        text += &format!("P{number}(atomic_int* x, atomic_int* y, atomic_int* z) {{ {body} }}\n");
    }
    text + "exists (x=1)\n"
}

/// A test with two threads. Each thread makes `k` atomic exchanges of one word.
fn exchanges(k: usize) -> String {
    let mut text = String::from("PTX exchanges\n{ x=0; }\nP0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n");
    for at in 0..k {
        let (a, b) = (1 + at, 1 + k + at);
        text += &format!("atom.relaxed.sys.exch r{at}, x, {a} | atom.relaxed.sys.exch r{at}, x, {b} ;\n");
    }
    text + "exists (x=1)\n"
}

#[test]
fn exchanges_have_few_dead_ends_under_ptx() {
    // Each interleaving is one execution: the binomial coefficient of 2k and k.
    for (k, interleavings) in [(2, 6), (4, 70), (6, 924)] {
        for model in ["ptx-6.0", "ptx-7.5"] {
            let (_, nodes, executions) = effort(&exchanges(k), model);
            assert_eq!(executions, interleavings, "{model}, {k}");
            assert!(nodes <= 3 * executions, "{model}, {k}: {nodes} nodes");
        }
    }
}

#[test]
fn a_lock_of_exchanges_has_few_dead_ends_under_ptx() {
    let text = "PTX lock\n{ x=0; }\nP0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 0,gpu 0 ;\nA: | B: | C: ;\n\
                atom.acquire.gpu.exch r0, x, 1 | atom.acquire.gpu.exch r0, x, 1 | atom.acquire.gpu.exch r0, x, 1 ;\n\
                bne r0, 0, A | bne r0, 0, B | bne r0, 0, C ;\n\
                atom.release.gpu.exch r1, x, 0 | atom.release.gpu.exch r1, x, 0 | atom.release.gpu.exch r1, x, 0 ;\n\
                exists (x=1)";
    let (_, nodes, executions) = effort(text, "ptx-7.5");
    assert_eq!(executions, 186);
    assert!(nodes <= 30 * executions, "{nodes} nodes");
}

#[test]
fn a_lock_of_exchanges_is_decided_by_its_values() {
    let body = "int r0 = 1; while (r0 == 1) { r0 = atomic_exchange_explicit(x, 1, memory_order_acquire); } \
                int r1 = atomic_load_explicit(y, memory_order_relaxed); \
                atomic_store_explicit(y, r1 + 1, memory_order_relaxed); \
                atomic_store_explicit(x, 0, memory_order_release);";
    let (_, nodes, executions) = effort(&c11(&vec![body.to_owned(); 3]), "sc");
    assert_eq!(executions, 42);
    assert!(nodes <= 60 * executions, "{nodes} nodes");
}

#[test]
fn contradictory_paths_are_not_combined() {
    let tests: String = (1..=10)
        .map(|k| format!("if (r0 == {k}) {{ atomic_store_explicit(y, {k}, memory_order_relaxed); }} "))
        .collect();
    let body = |own: usize| {
        format!(
            "int r0 = atomic_load_explicit(x, memory_order_relaxed); {tests} \
             atomic_store_explicit(x, {own}, memory_order_relaxed);"
        )
    };
    // The final value of x is 0, 1 or 2, so only three of the 1024 paths of each thread are
    // possible.
    let (paths, ..) = effort(&c11(&[body(1), body(2)]), "sc");
    assert!(paths <= 9, "{paths} paths");
}

/// A test with `threads` threads. Each thread writes one of three words and reads the other two.
fn write_and_reads(threads: usize) -> String {
    let words = ["x", "y", "z"];
    let body = |thread: usize| {
        let [write, first, second] = [0, 1, 2].map(|at| words[(thread + at) % 3]);
        format!(
            "atomic_store_explicit({write}, {}, memory_order_relaxed); \
             int r0 = atomic_load_explicit({first}, memory_order_relaxed); \
             int r1 = atomic_load_explicit({second}, memory_order_relaxed);",
            1 + thread / 3
        )
    };
    c11(&(0..threads).map(body).collect::<Vec<_>>())
}

#[test]
fn free_reads_are_counted_by_products() {
    let text = write_and_reads(4);
    let mut one_by_one = Count { executions: 0, reported: 0, one_by_one: true };
    run(&text, "rc11", &mut one_by_one);
    let mut together = Count { one_by_one: false, executions: 0, reported: 0 };
    run(&text, "rc11", &mut together);
    assert_eq!(together.executions, one_by_one.executions);
    assert_eq!((one_by_one.reported, together.reported), (one_by_one.executions, 2));
    // The orders of the two writes to x give a factor 2. The reads give the other factors: 2
    // threads read x, which has 3 values. 3 threads each read y and z, which have 2 values each.
    assert_eq!(together.executions, 2 * 3u64.pow(2) * 2u64.pow(6));
    // For seven threads, only executions with different coherence orders are reported. The three
    // words have 3, 2 and 2 writes, hence 3! * 2! * 2! orders.
    let mut seven = Count { one_by_one: false, executions: 0, reported: 0 };
    run(&write_and_reads(7), "rc11", &mut seven);
    assert_eq!(seven.reported, 24);
    assert_eq!(seven.executions, 24 * 4u64.pow(4) * 3u64.pow(10));
}
