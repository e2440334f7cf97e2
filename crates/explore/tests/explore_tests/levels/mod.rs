//! A toy protocol on three levels, with split caches at the first level, explored and stressed.

mod toy;

use explore::stress::{Options, stress};
use explore::verify::{Spread, Test};
use explore::{Bounds, Exploration, Explorer, Limits, Placement, Requirements, Subject};
use proto::{Change, SeededFault, Symbol as _, TableId, WritePolicy};
use toy::{Split, Step};

/// The text of an OpenCL test with two threads, made from their bodies.
fn program(first: &str, second: &str, condition: &str) -> String {
    let arguments = "(global int* x, global int* y, global atomic_int* f, global atomic_int* g)";
    format!(
        "OPENCL T\n{{ }}\n\nP0@wg 0, dev 0 {arguments} {{\n{first}}}\n\nP1@wg 1, dev 0 {arguments} \
         {{\n{second}}}\n\nexists ({condition})\n"
    )
}

/// A program that sends data in an ordinary word with a flag at device scope. The reader has a copy
/// of the word in its read cache.
fn message() -> String {
    program(
        "  *x = 1;\n  atomic_store_explicit(f, 1, memory_order_release, memory_scope_device);\n",
        "  int r2 = *x;\n  int r0 = atomic_load_explicit(f, memory_order_acquire, memory_scope_device);\n  \
         int r1 = *x;\n",
        "1:r0=1 /\\ 1:r1=0",
    )
}

/// A program in which each thread writes one word and reads the other thread's word.
fn store_buffers() -> String {
    let body = |mine: &str, other: &str| {
        format!(
            "  atomic_store_explicit({mine}, 1, memory_order_seq_cst, memory_scope_device);\n  int r0 = \
             atomic_load_explicit({other}, memory_order_seq_cst, memory_scope_device);\n"
        )
    };
    program(&body("f", "g"), &body("g", "f"), "0:r0=0 /\\ 1:r0=0")
}

/// A program in which a thread reads its own store and a store of another thread in its work-group.
fn own_store() -> String {
    program(
        "  int r0 = *x;\n  *x = 1;\n  int r1 = *x;\n  *x = 2;\n  int r2 = *x;\n",
        "  *y = 1;\n  int r0 = *y;\n",
        "0:r1=1 /\\ 0:r2=2 /\\ 1:r0=1",
    )
}

fn explore(text: &str, bounds: Bounds, seeded_fault: Option<SeededFault>) -> Exploration {
    let test = Test::read("T", text).expect("it is a test");
    let program = &*test.program();
    let mut explorer = Explorer::new(&Subject::of::<Split>(), bounds, seeded_fault);
    let placement = Placement::spread(program);
    let found = explorer.explore(program, &placement, &Requirements::default(), &mut Limits::default());
    found.expect("the machine has all that the program needs")
}

fn bounds() -> Bounds {
    Bounds { banks: 1, ..Bounds::new(WritePolicy::Combining, WritePolicy::Combining) }
}

/// The values of every outcome, thread by thread.
fn outcomes(found: &Exploration) -> Vec<String> {
    assert_eq!(found.violation.as_ref().map(|violation| violation.why.clone()), None);
    assert_eq!(found.incomplete, None);
    found.outcomes.iter().map(|outcome| format!("{outcome:?}")).collect()
}

/// Small machines, with and without evictions at any time.
fn machines() -> [Bounds; 3] {
    let through = Bounds { banks: 1, ..Bounds::new(WritePolicy::Through, WritePolicy::Through) };
    [bounds(), bounds().tight().evicting(), through]
}

#[test]
fn a_message_arrives_whole_although_the_reader_has_the_word_in_its_read_cache() {
    for bounds in machines() {
        // The flag and the data: never the flag without the data.
        assert_eq!(outcomes(&explore(&message(), bounds, None)), ["[0, 0]", "[0, 1]", "[1, 1]"], "{bounds}");
    }
}

#[test]
fn store_buffering_shows_at_least_one_store() {
    for bounds in machines() {
        let found = explore(&store_buffers(), bounds, None);
        assert_eq!(outcomes(&found), ["[0, 1]", "[1, 0]", "[1, 1]"], "{bounds}");
    }
}

#[test]
fn a_thread_reads_its_own_stores_although_loads_enter_another_cache() {
    for bounds in machines() {
        assert_eq!(outcomes(&explore(&own_store(), bounds, None)), ["[1, 2, 1]"], "{bounds}");
    }
}

#[test]
fn each_step_that_keeps_the_levels_coherent_is_needed() {
    let without = |text: &str, step: Step| {
        let change = Change::DropStep { step: step.index() as u8 };
        let seeded_fault = SeededFault { table: TableId(1), change };
        explore(text, bounds(), Some(seeded_fault))
    };
    let kept = |found: &Exploration| found.violation.is_none() && found.outcomes.len() == 3;
    for (step, is_needed) in [
        (Step::DropRead, true),
        (Step::Flush, true),
        // Both compute units share the L2 of their chiplet.
        (Step::FlushL2, false),
        (Step::InvalidateL2, false),
    ] {
        let found = without(&message(), step);
        assert_eq!(!kept(&found), is_needed, "without {}: {:?}", step.name(), found.outcomes);
    }
    let found = without(&own_store(), Step::Claim);
    assert!(found.violation.is_some() || outcomes(&found) != ["[1, 2, 1]"], "{:?}", found.outcomes);
}

/// A program of two threads on hosts with separate caches, next to a device that runs a kernel. The
/// reader has a copy of the word in its cache.
fn between_hosts() -> Test {
    let system = "memory_scope_all_svm_devices";
    let text = format!(
        "OPENCL hosts\n{{ }}\n\nP0 (global int* x, global atomic_int* f) {{\n  *x = 1;\n  \
         atomic_store_explicit(f, 1, memory_order_release, {system});\n}}\n\nP1 (global int* x, global \
         atomic_int* f) {{\n  int r2 = *x;\n  int r0 = atomic_load_explicit(f, memory_order_acquire, \
         {system});\n  int r1 = *x;\n}}\n\nP2 (global int* y) {{\n  int r0 = *y;\n}}\n\nscopeTree \
         (device (work_group P2))\n\nexists (1:r0=1 /\\ 1:r1=0)\n"
    );
    Test::read("hosts", &text).expect("it is a test")
}

#[test]
fn a_message_between_two_hosts_with_caches_arrives_whole() {
    let test = between_hosts().spread(Spread { hosts: 2, ..Spread::default() });
    let program = &*test.program();
    let explore = |hosts: u16, seeded_fault| {
        let placement = test.placements.iter().find(|placement| placement.hosts() == hosts);
        let placement = placement.expect("both exist");
        let mut explorer = Explorer::new(&Subject::of::<Split>(), bounds(), seeded_fault);
        let found = explorer.explore(program, placement, &Requirements::default(), &mut Limits::default());
        outcomes(&found.expect("the machine has all that the program needs"))
    };
    let right = ["[0, 0]", "[0, 1]", "[1, 1]"];
    // One host sees its threads' stores in its cache, or where the L3 performs them.
    let change = Change::DropStep { step: zoo::vi::Step::Invalidate.index() as u8 };
    let without = Some(SeededFault { table: TableId(3), change });
    for hosts in [1, 2] {
        assert_eq!(explore(hosts, None), right, "{hosts}");
    }
    assert_eq!(explore(1, without), right, "they share the host's cache");
    assert_eq!(
        explore(2, without),
        ["[0, 0]", "[0, 1]", "[1, 0]", "[1, 1]"],
        "the other host's copy is stale"
    );
    let said = test.placements.iter().map(ToString::to_string).find(|said| said.contains("host 1"));
    assert!(said.is_some_and(|said| said.starts_with("P0 on the host, P1 on host 1, P2 on CU 0")));
}

/// In the toy protocol of these tests, loads of a compute unit enter another controller than its
/// acquires and releases. The answers must also reach a thread whose work-group has moved to
/// another compute unit.
#[test]
fn a_message_arrives_whole_where_work_groups_are_preempted() {
    let found = explore(&message(), bounds().preempting(1), None);
    assert_eq!(outcomes(&found), ["[0, 0]", "[0, 1]", "[1, 1]"]);
    assert!(found.states > explore(&message(), bounds(), None).states);
    let change = Change::DropStep { step: Step::DropRead.index() as u8 };
    let fault = Some(SeededFault { table: TableId(1), change });
    // The other thread has a copy of the line in its read cache.
    let own = program("  *x = 1;\n  int r1 = *x;\n", "  int r0 = *y;\n", "0:r1=1");
    let own = |preemptions: u8, fault| {
        let test = Test::read("own", &own).expect("it is a test");
        let placement = Placement::spread(&test.program()).paired(&test.program());
        let mut explorer = Explorer::new(&Subject::of::<Split>(), bounds().preempting(preemptions), fault);
        let found =
            explorer.explore(&test.program(), &placement, &Requirements::default(), &mut Limits::default());
        outcomes(&found.expect("the machine has all that the program needs"))
    };
    assert_eq!([own(0, fault), own(1, None)], [["[1]"], ["[1]"]]);
    assert_eq!(own(1, fault), ["[0]", "[1]"], "the read cache of the other unit is stale");
}

#[test]
fn episodes_pass_on_three_levels_and_a_seeded_fault_is_found() {
    let stressed = |seeded_fault| {
        let options = Options {
            seed: 1,
            episodes: 60,
            model: None,
            chiplets: 1,
            seeded_fault,
            jobs: 1,
            overtaking: false,
            shrink: true,
            stop: &|| false,
            progress: &|_| {},
        };
        stress(&Subject::of::<Split>(), &options).expect("episodes exist for its claim")
    };
    let sound = stressed(None);
    assert!(sound.failure.is_none(), "{:?}", sound.failure);
    assert!(sound.checked > 0);
    let change = Change::DropStep { step: Step::Flush.index() as u8 };
    assert!(stressed(Some(SeededFault { table: TableId(1), change })).failure.is_some());
}
