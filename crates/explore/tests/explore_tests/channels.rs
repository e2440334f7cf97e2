//! Messages overtake one another if the channels of a protocol are unordered.

use crate::claims::is_timed;
use crate::toys;
use std::collections::BTreeSet;

use explore::trace::Verdict;
use explore::verify::{self, Options, Test};
use explore::{Bounds, Explorer, Limits, Placement, Requirements, Subject, Trace};
use proto::parts::Host;
use proto::{Agent, Channels, Info, NodeId, PlanKey, Protocol, Sharing, WritePolicy, protocol_nodes};
use zoo::parts::{ToBank, ToL1};
use zoo::vi::{Bank, L1};

/// `vi` with unordered channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Loose;

protocol_nodes! { Loose: L1(L1, ToL1), Bank(Bank, ToBank), Host(Host) }

impl Protocol for Loose {
    const INFO: Info = Info {
        name: "loose",
        summary: "vi over channels that keep no order",
        channels: Channels::Unordered,
        sharing: Sharing::Scoped,
        ..toys::INFO
    };
    toys::over_banks_of_vi! { |level| L1::new(level, &()) }

    fn entry((): &(), agent: Agent, _: PlanKey) -> NodeId {
        agent.enters(0, 2)
    }
}

/// A program in which one thread makes two stores, each of which is written through.
const TWICE: &str = "OPENCL twice
{ }

P0@wg 0, dev 0 (global int* x) {
  *x = 1;
  *x = 2;
}

exists (x=1)
";

#[test]
fn an_older_store_may_arrive_last_on_unordered_channels() {
    let test = Test::read("twice", TWICE).expect("it is a test");
    let program = &*test.program();
    let placement = Placement::spread(program);
    let bounds = Bounds::new(WritePolicy::Through, WritePolicy::Combining);
    let mut vi = Explorer::new(&Subject::of::<zoo::vi::Vi>(), bounds, None);
    let found =
        vi.explore(program, &placement, &Requirements::default(), &mut Limits::default()).expect("it fits");
    assert_eq!((found.violation, found.outcomes), (None, BTreeSet::from([vec![2]])));
    let mut loose = Explorer::new(&Subject::of::<Loose>(), bounds, None);
    let found = loose
        .explore(program, &placement, &Requirements::default(), &mut Limits::default())
        .expect("it fits");
    assert_eq!((found.violation, found.outcomes), (None, BTreeSet::from([vec![1], vec![2]])));
}

/// The names of tests that together refute each protocol if messages of a channel may overtake one
/// another. The protocols with epochs (periods of time; the variants of STC) or leases (in time or in
/// logical time) are excepted.
const OVERTAKING: [&str; 3] = ["written-then-loaded", "written-then-loaded-remote", "counted-by-two"];

/// A thread tells another one that it has stored a word.
const TOLD: &str = "OPENCL told
{ }

P0@wg 0, dev 0 (global int* x, global atomic_int* f) {
  *x = 1;
  atomic_store_explicit(f, 1, memory_order_release, memory_scope_device);
}

P1@wg 1, dev 0 (global int* x, global atomic_int* f) {
  int r0 = atomic_load_explicit(f, memory_order_acquire, memory_scope_device);
  int r1 = 1;
  if (r0 == 1) {
    r1 = *x;
  }
}

exists (1:r0=1 /\\ 1:r1=0)
";

/// The counterexamples that a protocol has in these tests. If `overtaking` is true, messages of a
/// channel may overtake one another.
fn refuted(protocol: &str, tests: &[Test], overtaking: bool) -> Vec<Trace> {
    let bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining).evicting();
    let options = Options::new(vec![bounds.overtaking(overtaking)]);
    let subject = subjects::explored(protocol).expect("it is a protocol");
    let verification = verify::verify(&subject, tests, &options).expect("its models are known");
    verification.findings.iter().map(|found| Trace::of(protocol, &tests[found.test], found)).collect()
}

#[test]
fn protocols_without_epochs_need_fifo_channels_and_their_counterexamples_name_the_row() {
    let tests = OVERTAKING.map(|name| {
        let path = format!("{}/../../litmus/caches/{name}.litmus", env!("CARGO_MANIFEST_DIR"));
        Test::read(name, &std::fs::read_to_string(path).expect("it is shipped")).expect("it is a test")
    });
    // In QuickRelease, a marker must not overtake the writes before it.
    let told = [Test::read("told", TOLD).expect("it is a test")];
    for info in zoo::ALL {
        let protocol = info.name;
        let tests = if protocol.starts_with("quick-release") { &told[..] } else { &tests[..] };
        let subject = subjects::explored(protocol).expect("it is a protocol");
        assert_eq!(refuted(protocol, tests, false), [], "{protocol}");
        let traces = refuted(protocol, tests, true);
        // No counterexample of the protocols with epochs is known. A core has one pending access to a
        // word, and the epoch management unit awaits an answer to each message. The protocols with
        // leases need larger programs, which the random tester finds.
        if is_timed(protocol) {
            assert_eq!(traces, [], "{protocol}");
            continue;
        }
        assert!(!traces.is_empty(), "{protocol} keeps its claims on channels without order");
        for trace in traces {
            // Another machine numbers its messages anew.
            let read = Trace::read(&trace.to_string(), subjects::explored).expect("it reads back");
            assert_eq!(read, trace);
            let replayed = read.replay(&subject, u64::MAX, &|| false).expect("it fits");
            assert_eq!(replayed.verdict, Verdict::Same, "{protocol}: {trace}");
            let mut notes = replayed.replay.steps.iter().flat_map(|step| &step.notes);
            assert!(notes.any(|note| note.contains(" overtakes ")), "{protocol}: {trace}");
        }
    }
}

/// A program in which one thread waits for a value that another thread stores.
const AWAITED: &str = "OPENCL awaited
{ }

P0@wg 0, dev 0 (global atomic_int* f) {
  atomic_store_explicit(f, 1, memory_order_release, memory_scope_device);
}

P1@wg 0, dev 0 (global atomic_int* f) {
  await(f == 1, memory_order_acquire, memory_scope_device);
}

exists (f=1)
";

#[test]
fn a_fair_run_delivers_a_message_that_others_overtake() {
    let test = Test::read("awaited", AWAITED).expect("it is a test");
    let program = &*test.program();
    // Both threads use one channel: the loads of one can overtake the store of the other for ever.
    let placement = Placement::spread(program);
    let bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining).overtaking(true);
    let mut explorer = Explorer::new(&Subject::of::<zoo::no_l1::NoL1>(), bounds, None);
    let found = explorer
        .explore(program, &placement, &Requirements::default(), &mut Limits::default())
        .expect("it fits");
    assert_eq!(found.violation, None);
    assert!(found.states > 10, "{}", found.states);
}
