//! How much the search decides until it is done: counts, not times.

use std::ops::ControlFlow;

use crate::cat::{shipped, stage};
use crate::exec::unfold::{numbers_of, unfold};
use crate::program::{Program, ThreadId};

use super::search::{Found, Search, Setting, Visitor};
use super::{Gaps, Ways, fence_orders, for_each_skeleton};

/// Counts executions.
struct Count(u64);

impl Visitor for Count {
    fn execution(&mut self, _: &Found<'_>) -> ControlFlow<()> {
        self.0 += 1;
        ControlFlow::Continue(())
    }

    fn stop(&mut self) -> bool {
        false
    }

    fn wants_flag(&self, _: usize) -> bool {
        true
    }
}

/// The ways put together, the nodes of the search, the executions.
fn effort(text: &str, model: &str) -> (u64, u64, u64) {
    let program: Program = crate::parse::parse(text).unwrap_or_else(|e| panic!("{e}"));
    let model = shipped(model).expect("it is shipped").expect("it is a model");
    let threads = (0..program.threads.len()).map(|t| ThreadId(t as u8));
    let unfoldings: Vec<_> = threads.map(|thread| unfold(&program, thread, 2, false)).collect();
    let numbers = numbers_of(&program);
    let setting = Setting {
        file: &model.file,
        partial_coherence: model.partial_coherence,
        numbers: &numbers,
        unchecked: false,
    };
    let (mut ways, mut nodes, mut count) = (0, 0, Count(0));
    for_each_skeleton(&program, &unfoldings, Ways::Whole, &mut Gaps::default(), &mut |skeleton| {
        let Some(skeleton) = skeleton else { return Ok(true) };
        ways += 1;
        let staged = stage::stage(&model, &skeleton)?;
        let syncs = fence_orders(&skeleton);
        let mut search = Search::new(&skeleton, staged, &setting, &mut count);
        search.run(&syncs).expect("it ends");
        nodes += search.nodes;
        Ok(true)
    })
    .expect("the model fits");
    (ways, nodes, count.0)
}

fn c11(threads: &[String]) -> String {
    let mut text = String::from("C test\n{}\n");
    for (number, body) in threads.iter().enumerate() {
        text += &format!("P{number}(atomic_int* x, atomic_int* y, atomic_int* z) {{ {body} }}\n");
    }
    text + "exists (x=1)\n"
}

/// Two threads of `k` exchanges of one word.
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
    // One execution for each interleaving: the binomial of 2k over k.
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
fn ways_that_exclude_each_other_are_not_put_together() {
    let tests: String = (1..=10)
        .map(|k| format!("if (r0 == {k}) {{ atomic_store_explicit(y, {k}, memory_order_relaxed); }} "))
        .collect();
    let body = |own: usize| {
        format!(
            "int r0 = atomic_load_explicit(x, memory_order_relaxed); {tests} \
             atomic_store_explicit(x, {own}, memory_order_relaxed);"
        )
    };
    // x is 0, 1 or 2, so each thread has three ways of its 1024.
    let (ways, ..) = effort(&c11(&[body(1), body(2)]), "sc");
    assert!(ways <= 9, "{ways} ways");
}
