//! Tests the timed replay of a protocol whose compute units have one cache for loads and another
//! cache for stores. In a trace, each request to the cache for stores is a move (step) `cross`, and
//! so is each answer.

use std::collections::BTreeSet;

use explore::verify::Test;
use explore::{Bounds, Explorer, Move, Subject};
use lab::replay::replay_as;
use proto::WritePolicy;
use proto::issue::IssueRule;
use sim::config::System;

use super::toy::Split;
use super::walk::{comes_to_its_end, plain, walk};
use super::{Dice, machine};

const LEVEL: &str =
    "latency_cycles = 20\nbytes = 4096\nways = 4\nmiss_registers = 16\nstore_buffer_entries = 16\n";

/// A built-in machine with the cache levels that the test protocol needs.
fn levelled() -> System {
    let mut system = System { levels: Vec::new(), ..machine("hrf-8cu") };
    system.l2.below = Some(String::from("l3"));
    let text = toml::to_string(&system).expect("it can be written");
    let level = |name: &str, rest: &str| format!("[[level]]\nname = \"{name}\"\n{rest}\n{LEVEL}");
    let levels = [
        level("read", "per = \"cu\"\nbelow = \"l2\""),
        level("write", "per = \"cu\"\nbelow = \"l2\"\nbeside = \"read\""),
        level("l3", "per = \"machine\"\ncount = 4"),
        level("host", "per = \"host\"\nbelow = \"l3\""),
    ];
    toml::from_str(&format!("{text}\n{}", levels.concat())).expect("a machine")
}

/// A litmus test in which several stores and loads of one thread are in progress at the same time.
const BUSY: &str = "OPENCL busy
{ }

P0@wg 0, dev 0 (global int* x, global int* y, global atomic_int* f) {
  *x = 1;
  *y = 1;
  int r0 = *y;
  atomic_store_explicit(f, 1, memory_order_release, memory_scope_device);
  int r1 = *x;
}

P1@wg 1, dev 0 (global int* x, global int* y, global atomic_int* f) {
  int r0 = atomic_load_explicit(f, memory_order_acquire, memory_scope_device);
  int r1 = atomic_fetch_add_explicit(f, 2, memory_order_relaxed, memory_scope_device);
  atomic_store_explicit(f, 7, memory_order_relaxed, memory_scope_device);
}

exists (0:r0=0 /\\ 0:r1=0 /\\ 1:r0=0 /\\ 1:r1=0 /\\ f=7 /\\ x=1)
";

#[test]
fn a_machine_with_split_caches_can_follow_a_trace() {
    let system = levelled();
    let test = plain(Test::read("busy", BUSY).expect("a test"));
    let through = Bounds { banks: 1, ..Bounds::new(WritePolicy::Through, WritePolicy::Through) };
    let combining = Bounds { banks: 1, ..super::COMBINING };
    let mut dice = Dice(3);
    let (mut led, mut ways, mut younger) = (0, BTreeSet::new(), 0);
    for turn in 0..60 {
        let core = IssueRule::GPUS[turn % IssueRule::GPUS.len()];
        let bounds = if turn % 2 == 0 { through } else { combining.tight().evicting() };
        let bounds = bounds.core(core).preempting(u8::from(turn % 3 == 0));
        let mut explorer = Explorer::new(&Subject::of::<Split>(), bounds, None);
        let is_rare =
            |mv: Move| matches!(mv, Move::Preempt { .. } | Move::Resume { .. } | Move::Issue { .. });
        let placement = turn % test.placements.len();
        let walked = walk(&mut explorer, "split", (&test, placement), is_rare, &mut dice);
        let Some(trace) = walked else { continue };
        let timed = replay_as::<Split>(&trace, &system, &|| false).map_err(|error| error.to_string());
        let steps = timed.as_ref().map(|timed| timed.explored.steps.clone()).unwrap_or_default();
        comes_to_its_end(&trace, timed);
        led += 1;
        for step in steps {
            if let (Move::Cross { .. }, Some(crosser)) = (step.mv, step.crosses) {
                // The step is the crossing of a delayed request, or of an answer.
                ways.insert(step.text == "an answer");
                younger += usize::from(crosser.nth > 0);
            }
        }
    }
    assert!(led > 30, "{led}");
    assert_eq!(ways, BTreeSet::from([false, true]));
    assert!(younger > 0, "no answer overtakes an older one of its thread");
}
