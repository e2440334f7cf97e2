//! Toy protocols in which hosts have coherent caches, and in which lines stay dirty in caches when a
//! kernel ends.

mod toy;

use explore::stress::{Options, stress};
use explore::trace::Verdict;
use explore::verify::{Finding, Test};
use explore::{Bounds, Exploration, Explorer, Fault, Limits, Placement, Requirements, Subject, Trace};
use proto::{Agent, Protocol, WritePolicy};
use toy::{BytesLost, Direct, HostBytesLost, Owned, RecallIgnored, SecondOwner};

fn bounds() -> Bounds {
    Bounds { banks: 1, ..Bounds::new(WritePolicy::Combining, WritePolicy::Combining) }
}

/// Small machines: with caches of several lines and of one line, with evictions at any time, and
/// with two banks.
fn machines() -> [Bounds; 4] {
    [bounds(), bounds().tight(), bounds().evicting(), Bounds { banks: 2, ..bounds() }]
}

/// The text of an OpenCL test with two words, made from the bodies of its threads.
fn text(bodies: &[&str], condition: &str) -> String {
    let threads = bodies.iter().enumerate().map(|(number, body)| {
        format!("P{number}@wg {number}, dev 0 (global int* x, global int* y) {{ {body} }}\n")
    });
    format!("OPENCL owned\n{{ }}\n{}\nexists ({condition})\n", threads.collect::<String>())
}

/// The placements of a test with two threads on two compute units, on a compute unit and a host, and
/// on two hosts.
fn placements(test: &Test) -> [Placement; 3] {
    use Agent::{Cu, Host};
    let spread = Placement::spread(&test.program());
    let of = |agents: [Agent; 2]| Placement { agents: agents.to_vec(), ..spread.clone() };
    [of([Cu(0), Cu(1)]), of([Host(0), Cu(0)]), of([Host(0), Host(1)])]
}

fn explore_in<P: Protocol>(test: &Test, placement: &Placement, bounds: Bounds) -> Exploration {
    let program = &*test.program();
    let mut explorer = Explorer::new(&Subject::of::<P>(), bounds, None);
    let found = explorer.explore(program, placement, &Requirements::default(), &mut Limits::default());
    found.expect("the machine has all that the program needs")
}

fn explore<P: Protocol>(text: &str, bounds: Bounds) -> Exploration {
    let test = Test::read("owned", text).expect("it is a test");
    explore_in::<P>(&test, &Placement::spread(&test.program()), bounds)
}

fn outcomes(found: &Exploration) -> Vec<Vec<i64>> {
    assert_eq!(found.violation, None);
    assert_eq!(found.incomplete, None);
    found.outcomes.iter().cloned().collect()
}

fn why(found: Exploration) -> (Fault, String) {
    let violation = found.violation.expect("a fault");
    (violation.fault, violation.why)
}

/// A program whose last write stays dirty in the cache of a compute unit.
fn one_write() -> String {
    text(&["*x = 1;"], "x=1")
}

#[test]
fn final_values_are_the_bytes_that_the_host_reads_although_memory_is_stale() {
    for bounds in machines() {
        assert_eq!(outcomes(&explore::<Owned>(&one_write(), bounds)), [[1]], "{bounds}");
        let two = text(&["*x = 1; *y = 2;", "*y = 2; *x = 1;"], "x=1 /\\ y=2");
        assert_eq!(outcomes(&explore::<Owned>(&two, bounds)), [[1, 2]], "{bounds}");
    }
}

#[test]
fn a_fault_of_a_dirty_line_that_shows_only_after_the_kernel_is_found() {
    // Without the host's reads at the end, nothing recalls the line.
    assert_eq!(outcomes(&explore::<BytesLost>(&one_write(), bounds())), [[0]]);
    let (fault, why) = why(explore::<RecallIgnored>(&one_write(), bounds()));
    assert_eq!(fault, Fault::Unquiet);
    assert_eq!(why, "a request is never answered, although no other request is outstanding");
}

#[test]
fn a_line_that_is_dirty_in_the_cache_of_the_host_reaches_the_next_kernel() {
    let test = Test::read("owned", &one_write()).expect("it is a test");
    let hosted = Placement::spread(&test.program()).hosted();
    for bounds in machines() {
        assert_eq!(outcomes(&explore_in::<Owned>(&test, &hosted, bounds)), [[1]], "{bounds}");
    }
    let (fault, why) = why(explore_in::<HostBytesLost>(&test, &hosted, bounds()));
    assert_eq!((fault, why), (Fault::Unquiet, explore::overwritten(0)));
}

#[test]
fn a_protocol_that_leaves_lines_dirty_may_not_say_that_hosts_access_memory_directly() {
    let (fault, why) = why(explore::<Direct>(&one_write(), bounds()));
    assert_eq!((fault, &*why), (Fault::Unquiet, "a write reaches memory after the end of the kernel"));
}

#[test]
fn ordinary_accesses_of_hosts_and_compute_units_are_sequentially_consistent() {
    let buffers = text(&["*x = 1; int r0 = *y;", "*y = 1; int r0 = *x;"], "0:r0=0 /\\ 1:r0=0");
    let test = Test::read("buffers", &buffers).expect("it is a test");
    for placement in &placements(&test) {
        for bounds in [bounds(), bounds().evicting()] {
            let found = outcomes(&explore_in::<Owned>(&test, placement, bounds));
            assert_eq!(found, [[0, 1], [1, 0], [1, 1]], "{placement} on {bounds}");
        }
    }
}

/// A program that only reads, so that a second owner changes no outcome.
fn two_reads() -> String {
    text(&["int r0 = *x;", "int r0 = *x;"], "0:r0=0 /\\ 1:r0=0")
}

#[test]
fn a_second_owner_is_found_with_the_shortest_trace() {
    for bounds in machines() {
        assert_eq!(outcomes(&explore::<Owned>(&two_reads(), bounds)), [[0, 0]], "{bounds}");
    }
    let test = Test::read("two-reads", &two_reads()).expect("it is a test");
    let placement = Placement::spread(&test.program());
    let violation = explore::<SecondOwner>(&two_reads(), bounds()).violation.expect("a second owner");
    assert_eq!(violation.fault, Fault::Disagreement);
    assert!(violation.why.ends_with("own LineAddr(0)"), "{}", violation.why);
    // Each cache needs an issue, a request, a read of memory and an answer.
    assert_eq!(violation.moves.len(), 8, "{:?}", violation.moves);
    let mut explorer = Explorer::new(&Subject::of::<SecondOwner>(), bounds(), None);
    for count in 0..=violation.moves.len() {
        let replay = explorer.replay(&test.program(), &placement, &violation.moves[..count]);
        let disagreement = replay.expect("the moves are possible").disagreement;
        let expected = (count == violation.moves.len()).then(|| violation.why.clone());
        assert_eq!(disagreement, expected, "after {count} moves");
    }
}

#[test]
fn a_trace_of_a_second_owner_reproduces_until_the_protocol_is_right() {
    let test = Test::read("two-reads", &two_reads()).expect("it is a test");
    let violation = explore::<SecondOwner>(&two_reads(), bounds()).violation.expect("a second owner");
    let models = vec![String::from("sc")];
    let finding = Finding { test: 0, placement: 0, bounds: bounds(), models, violation };
    let trace = Trace::of("second_owner", &test, &finding);
    let known = |name: &str| (name == "second_owner").then(Subject::of::<SecondOwner>);
    assert_eq!(Trace::read(&trace.to_string(), known).as_ref(), Ok(&trace));
    let replayed = |trace: &Trace, subject: Subject| {
        let replayed = trace.replay(&subject, u64::MAX, &|| false).expect("supported");
        (replayed.verdict, replayed.end)
    };
    let second_owner = Subject::of::<SecondOwner>();
    assert_eq!(replayed(&trace, second_owner), (Verdict::Same, trace.violation.why.clone()));
    let mut short = trace.clone();
    short.violation.moves.pop();
    let right = "the lines of the controllers violate no rule of the protocol";
    assert_eq!(replayed(&short, second_owner), (Verdict::Gone, right.to_owned()));
    // The right protocol recalls the line, so memory is not asked for it again.
    assert_eq!(replayed(&trace, Subject::of::<Owned>()).0, Verdict::Misfit);
    let mut other = trace;
    other.violation.why = String::from("another rule");
    assert_eq!(replayed(&other, second_owner).0, Verdict::Another);
}

#[test]
fn episodes_read_their_final_values_through_the_cache_of_the_host() {
    let stressed = |subject: &Subject| {
        let options = Options {
            seed: 1,
            episodes: 40,
            model: Some("drf"),
            chiplets: 1,
            seeded_fault: None,
            jobs: 1,
            overtaking: false,
            shrink: false,
            stop: &|| false,
            progress: &|_| {},
        };
        stress(subject, &options).expect("episodes exist for its claim")
    };
    let sound = stressed(&Subject::of::<Owned>());
    assert!(sound.failure.is_none(), "{:?}", sound.failure);
    assert!(sound.checked > 0);
    // Memory is stale, so the same protocol fails if memory is read.
    let failure = stressed(&Subject::of::<Direct>()).failure.expect("memory is stale");
    assert!(format!("{failure:?}").contains("memory has"), "{failure:?}");
    assert!(stressed(&Subject::of::<BytesLost>()).failure.is_some());
}
