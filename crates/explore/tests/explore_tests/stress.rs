//! Episodes (random programs) on large machines: correct protocols pass, and faulty protocols fail.

use explore::Subject;
use explore::stress::{Failure, Options, StressReport, stress};
use proto::{Change, Level, OpClass, Order, PlanKey, Plans, Protocol, RowView, SeededFault, Symbol as _};
use zoo::vi::{L1Plans, Step, Vi};
use zoo::vi_targeted::ViTargeted;

const EPISODES: u64 = 400;

fn options(seeded_fault: Option<SeededFault>) -> Options<'static> {
    Options { seed: 1, episodes: EPISODES, seeded_fault, jobs: 2, ..Options::default() }
}

fn without(step: Step) -> SeededFault {
    SeededFault { table: L1Plans::ID, change: Change::DropStep { step: step.index() as u8 } }
}

/// The mutant without the flush in the plan (the steps of the operation `op`) of a release or of a
/// kernel's end at device scope.
fn without_flush_of(op: OpClass) -> SeededFault {
    let plan = PlanKey { op, order: Order::Release, level: Level::Device, remote: false, commutative: false };
    let at = L1Plans::plan(plan).iter().position(|step| *step == Step::Flush).expect("it flushes") as u8;
    SeededFault { table: L1Plans::ID, change: Change::DropStepOf { plan, at } }
}

/// The mutant that lacks one action of one row of a table. The table, the event and the state of
/// the row, and the action are given by name.
fn without_action(table: &str, event: &str, state: &str, action: &str) -> SeededFault {
    let at = |all: &[(&str, &str)], name: &str| all.iter().position(|(n, _)| *n == name).expect("it exists");
    let view = Vi::tables().into_iter().find(|view| view.name == table).expect("it exists");
    let row = at(&view.states, state) * view.events.len() + at(&view.events, event);
    let RowView::Do(actions, ..) = &view.rows[row] else { panic!("{event} in {state} does something") };
    let action = actions.iter().position(|name| *name == action).expect("the protocol has the step") as u8;
    SeededFault { table: view.id, change: Change::DropAction { row: row as u16, action } }
}

/// Whether a controller of the protocol can evict a way.
fn evicts(subject: &Subject) -> bool {
    let tables = (subject.tables)();
    tables.iter().flat_map(|table| &table.events).any(|(name, _)| name.starts_with("Evict"))
}

#[test]
fn every_protocol_passes() {
    for info in zoo::ALL.iter().filter(|info| !zoo::reads_stale_copies(info.name)) {
        let subject = subjects::explored(info.name).expect("it is registered");
        let found = stress(&subject, &options(None)).expect("episodes exist for its claim");
        if let Some(failure) = found.failure {
            panic!("{}: {failure}", info.name);
        }
        assert_eq!(found.episodes, EPISODES);
        assert!(found.checked >= 64 * found.episodes, "{}: {}", info.name, found.checked);
        assert!(found.kernels > found.episodes && found.preemptions > 20, "{}: {found:?}", info.name);
        assert!(!evicts(&subject) || found.evictions > found.episodes, "{}: {}", info.name, found.evictions);
    }
}

#[test]
fn every_protocol_passes_on_several_chiplets() {
    for info in zoo::ALL.iter().filter(|info| !zoo::reads_stale_copies(info.name)) {
        let subject = subjects::explored(info.name).expect("it is registered");
        for chiplets in [2, 8] {
            let options = Options { episodes: 64, chiplets, ..options(None) };
            let found = stress(&subject, &options).expect("episodes exist for its claim");
            assert!(found.failure.is_none(), "{}, {chiplets} chiplets: {:?}", info.name, found.failure);
            assert!(found.checked >= 64 * found.episodes, "{}: {}", info.name, found.checked);
        }
    }
}

#[test]
fn a_missing_flush_is_found_reproducibly_on_four_chiplets() {
    let options = Options { chiplets: 4, ..options(Some(without_flush_of(OpClass::Store))) };
    let found = failure::<Vi>(&options).expect("a thread misses a store");
    let again = failure::<Vi>(&Options { seed: found.seed, episodes: 1, ..options });
    assert_eq!(again.as_ref(), Some(&found));
}

fn failure<P: Protocol>(options: &Options<'_>) -> Option<Failure> {
    stress(&Subject::of::<P>(), options).expect("episodes exist for it").failure
}

#[test]
fn a_missing_flush_is_shown_by_a_small_program() {
    let options = options(Some(without_flush_of(OpClass::Store)));
    let found = failure::<Vi>(&options).expect("a thread misses a store");
    let (stores, loads) = (found.count("store"), found.count("load"));
    assert!((stores, loads) == (1, 1) && found.operations() <= 8, "{found}");
    let again = failure::<Vi>(&Options { seed: found.seed, episodes: 1, ..options });
    assert_eq!(again, Some(found), "its seed alone makes it fail");
}

#[test]
fn a_write_lost_at_the_end_of_a_kernel_is_shown_by_one_store() {
    let found = failure::<Vi>(&options(Some(without_flush_of(OpClass::KernelEnd))));
    let found = found.expect("memory lacks a stored value");
    assert!(found.small_what.starts_with("memory has 147 in d19 at the end, expected 1"), "{found}");
    assert_eq!((found.count("store"), found.operations()), (1, 1), "{found}");
}

/// Counts the operations of the small program (the shrunk episode) whose text begins with a given
/// word.
trait Count {
    fn count(&self, word: &str) -> usize;
}

impl Count for Failure {
    fn count(&self, word: &str) -> usize {
        let steps = self.program.iter().flat_map(|(_, steps)| steps);
        steps.filter(|step| step.split_whitespace().next() == Some(word)).count()
    }
}

#[test]
fn faults_of_every_kind_are_found() {
    let (l1, l2) = ("A line in the L1", "A line in an L2 bank");
    for seeded_fault in [
        without(Step::Flush),
        without(Step::Invalidate),
        without(Step::FlushBanks),
        without(Step::InvalidateBanks),
        without(Step::AnswerIt),
        // Faults that lose bytes, in a cache or under way.
        without_action(l1, "EvictDirty", "V", "WriteOut"),
        without_action(l1, "PassDirty", "V", "WriteOut"),
        without_action(l2, "EvictDirty", "V", "WriteOut"),
        without_action(l2, "Write", "V", "Merge"),
        // Faults that keep stale bytes.
        without_action(l1, "InvDirty", "V", "KeepDirty"),
        // A fault by which a request is never answered.
        without_action(l1, "Data", "IV", "Answer"),
        without_action(l1, "Data", "IV", "Wake"),
        without_action(l2, "Write", "V", "Ack"),
    ] {
        let options = Options { episodes: 4_000, ..options(Some(seeded_fault)) };
        assert!(failure::<Vi>(&options).is_some(), "{seeded_fault:?}");
    }
}

/// A release that flushes only the releasing wavefront's own writes is correct if threads with
/// conflicting accesses synchronize directly. It is wrong if they synchronize through a chain of
/// other threads.
#[test]
fn the_rules_of_the_model_decide_correctness() {
    let found =
        failure::<ViTargeted>(&Options { model: Some("hrf-indirect"), episodes: 20_000, ..options(None) });
    let found = found.expect("a chain through a peer");
    assert!(found.program.len() >= 3, "{found}");
    let refused = stress(&Subject::of::<Vi>(), &Options { model: Some("ptx-7.5"), ..options(None) });
    let expected = "expected one of hrf-direct, hrf-indirect, opencl, opencl-rsp, drf";
    assert_eq!(
        refused,
        Err(format!("the random tester makes no programs for the model `ptx-7.5`, {expected}"))
    );
}

#[test]
fn results_do_not_depend_on_the_number_of_jobs() {
    for seeded_fault in [None, Some(without(Step::Flush))] {
        let of = |jobs| stress(&Subject::of::<Vi>(), &Options { jobs, ..options(seeded_fault) });
        assert_eq!(of(1), of(3));
    }
}

#[test]
fn a_stopped_run_reports_its_progress() {
    let found = stress(&Subject::of::<Vi>(), &Options { stop: &|| true, ..options(None) }).expect("known");
    assert_eq!(found, StressReport::default());
}
