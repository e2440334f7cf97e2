//! Tests programs with many events. A check decides programs with at most as many events as the
//! bound, and leaves larger programs undecided.

use std::fmt::Write as _;

use litmus::check::{Options, Report, check};

/// The maximum number of events of an execution that a check can handle, as the documentation gives
/// it.
const BOUND: usize = 128;

fn report(text: &str, model: &str) -> Report {
    let program = litmus::parse::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let model = litmus::cat::shipped(model).expect("it is shipped").expect("it is a model");
    check(&program, &model, &mut Options::default()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// A test in which one thread writes the values from 1 to `stores` to a word, and another thread
/// reads this word twice. The test has `stores + 3` events, including the initial write.
fn coherence(stores: usize, how: &str) -> String {
    let mut text = String::from("PTX CoRR\n{ x=0; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n");
    for value in 1..=stores {
        let load = match value {
            1 | 2 => format!("ld.{how} r{}, x", value - 1),
            _ => String::new(),
        };
        let _ = writeln!(text, " st.{how} x, {value} | {load} ;");
    }
    let _ = write!(text, "exists (P1:r0 == {stores} /\\ P1:r1 == 1)");
    text
}

/// A test in which one thread writes `words` words in ascending order, and another thread reads
/// these words in the order `order`. The test has `3 * words` events, including the initial writes.
fn message_passing(words: usize, order: &[usize], condition: &str) -> String {
    let mut text = String::from("C MP\n{}\nP0(");
    let names: Vec<String> = (0..words).map(|word| format!("atomic_int* x{word}")).collect();
    let _ = write!(text, "{}) {{", names.join(", "));
    for word in 0..words {
        let _ = write!(text, " atomic_store_explicit(x{word}, 1, memory_order_relaxed);");
    }
    let _ = write!(text, " }}\nP1({}) {{", names.join(", "));
    for word in order {
        let _ = write!(text, " int r{word} = atomic_load_explicit(x{word}, memory_order_relaxed);");
    }
    let _ = write!(text, " }}\nexists ({condition})");
    text
}

#[test]
fn reads_of_a_word_that_is_written_eighty_times_do_not_go_back() {
    let strong = report(&coherence(80, "relaxed.gpu"), "ptx-6.0");
    assert!(strong.complete && strong.decided && !strong.verdict);
    // The second read is never older than the first one: 81 + 80 + ... + 1 states.
    assert_eq!(strong.states.len(), 81 * 82 / 2);
}

#[test]
fn weak_reads_of_a_word_that_is_written_eighty_times_may_go_back() {
    let weak = report(&coherence(80, "weak"), "ptx-6.0");
    assert!(weak.decided && weak.verdict);
}

#[test]
fn a_long_message_arrives_in_order_under_sequential_consistency() {
    let backwards: Vec<usize> = (0..32).rev().collect();
    let sc = report(&message_passing(32, &backwards, "1:r31=1 /\\ 1:r0=0"), "sc");
    assert!(sc.complete && sc.decided && !sc.verdict);
    // Three of the four states are allowed. The reader reads the value 0 from some words and then
    // the value 1 from all further words. So the number of zeros determines the execution.
    assert_eq!((sc.states.len(), sc.positive + sc.negative), (3, 33));
    let sc = report(&message_passing(32, &backwards, "1:r31=0 /\\ 1:r30=1"), "sc");
    assert!(sc.complete && sc.decided && sc.verdict);
}

#[test]
fn a_program_at_the_bound_is_decided() {
    let at_bound = report(&coherence(BOUND - 3, "relaxed.gpu"), "ptx-6.0");
    assert!(at_bound.complete && at_bound.decided && !at_bound.verdict);
    assert_eq!(at_bound.states.len(), (BOUND - 2) * (BOUND - 1) / 2);
}

#[test]
fn one_event_beyond_the_bound_is_undecided() {
    for beyond in [BOUND - 2, 3 * BOUND] {
        let report = report(&coherence(beyond, "relaxed.gpu"), "ptx-6.0");
        assert!(!report.complete && !report.decided, "{beyond} stores");
        let block = report.herd_block();
        assert!(block.contains("Undecided"), "{block}");
        assert!(block.contains(&format!("more than {BOUND} events")), "{block}");
    }
}

/// A test in which one thread writes 1 to a word, and each of `readers` other threads reads this
/// word once. Each register is 0 or 1 at the end.
fn readers(readers: usize) -> String {
    let mut text = String::from(
        "C readers\n{}\nP0(atomic_int* x) { atomic_store_explicit(x, 1, memory_order_relaxed); }\n",
    );
    let mut conditions = Vec::new();
    for thread in 1..=readers {
        let _ = writeln!(
            text,
            "P{thread}(atomic_int* x) {{ int r0 = atomic_load_explicit(x, memory_order_relaxed); }}"
        );
        conditions.push(format!("{thread}:r0=1"));
    }
    let _ = write!(text, "exists ({})", conditions.join(" /\\ "));
    text
}

#[test]
fn the_values_of_all_states_are_bounded() {
    let few = report(&readers(10), "rc11");
    assert!(few.complete && few.verdict);
    assert_eq!((few.states.len(), few.positive, few.negative), (1 << 10, 1, (1 << 10) - 1));
    // The bound is two million values; each state has 20.
    let many = report(&readers(20), "rc11");
    assert_eq!(many.states.len(), 100_000);
    assert!(!many.complete && !many.decided, "{:?}", many.bound);
}
