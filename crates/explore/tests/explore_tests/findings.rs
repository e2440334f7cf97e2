//! Published designs that violate their claims. `docs/findings` has the shortest counterexample of
//! each design, as a trace file (the moves, which can be replayed) and as a chart. A test shows
//! that the repaired variant passes the same program.
//!
//! `FENCEPOST_BLESS=1 cargo test --test explore_tests findings::` writes these files again.

use explore::claim::Claim;
use explore::corpus::SHIPPED;
use explore::trace::Verdict;
use explore::verify::{Finding, Test};
use explore::{Bounds, Exploration, Explorer, Fault, Limits, Placement, Requirements, Subject, Trace, chart};
use litmus::program::Program;
use proto::{Protocol, WritePolicy};
use std::path::{Path, PathBuf};

const BOUNDS: Bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/findings").join(name)
}

fn test(name: &str) -> Test {
    let path = format!("findings/{name}.litmus");
    let (_, text) = SHIPPED.iter().find(|(shipped, _)| *shipped == path).expect("the program is shipped");
    Test::read(&format!("{name}.litmus"), text).expect("it is a test")
}

/// Explores a placed program under a claim of the protocol `P`.
fn explore<P: Protocol>(
    (program, placement): (&Program, &Placement),
    model: &str,
    bounds: Bounds,
) -> Exploration {
    assert!(P::INFO.claims.iter().any(|claim| claim.model == model), "{} claims {model}", P::INFO.name);
    let promise = Claim::of(model).expect("a known model").promise(program, &mut || false);
    let promise = promise.expect("the model covers it");
    let requirements = Requirements { allowed: promise.allowed.as_ref(), may_block: promise.may_block };
    assert!(requirements.allowed.is_some(), "it is free of races");
    let mut explorer = Explorer::new(&Subject::of::<P>(), bounds, None);
    explorer.explore(program, placement, &requirements, &mut Limits::default()).expect("supported")
}

fn is_kept(name: &str, text: &str) {
    let path = file(name);
    if std::env::var_os("FENCEPOST_BLESS").is_some() {
        std::fs::write(&path, text).expect("it can be written");
    }
    let kept = std::fs::read_to_string(&path).expect("the file exists");
    assert_eq!(kept, text, "{}", path.display());
}

/// Checks that the published design shows the forbidden outcome as recorded, and that the repaired
/// design passes, also with evictions at any time.
fn refuted_and_repaired<Published: Protocol, Repaired: Protocol>(model: &str, forbidden: &[i64]) {
    let found = fails_and_is_repaired::<Published, Repaired>(model, (0, BOUNDS), Fault::Outcome);
    let outcome = found.forbidden.expect("by an outcome");
    assert!(outcome.starts_with(forbidden), "{outcome:?}");
}

/// Checks that the published design fails as recorded, and that the repaired design passes, also
/// with evictions at any time. Returns the exploration of the published design.
fn fails_and_is_repaired<Published: Protocol, Repaired: Protocol>(
    model: &str,
    (placement, bounds): (usize, Bounds),
    fault: Fault,
) -> Exploration {
    let name = Published::INFO.name;
    let test = test(name);
    let placed = (&*test.program(), &test.placements[placement]);
    let found = explore::<Published>(placed, model, bounds);
    let violation = found.violation.clone().expect("it is refuted");
    assert_eq!(violation.fault, fault);
    let models = vec![model.to_owned()];
    let finding = Finding { test: 0, placement, bounds, models, violation };
    let trace = Trace::of(name, &test, &finding);
    is_kept(&format!("{name}.trace"), &trace.to_string());
    let kept = Trace::read(&trace.to_string(), subjects::explored).expect("it reads back");
    assert_eq!(kept, trace);

    let replayed = kept.replay(&Subject::of::<Published>(), u64::MAX, &|| false).expect("supported");
    assert_eq!(replayed.verdict, Verdict::Same, "{}", replayed.end);
    let moves = &finding.violation.moves;
    assert_eq!(replayed.replay.steps.len(), moves.len());
    is_kept(&format!("{name}.txt"), &chart::text(&replayed.replay, &trace.title()));
    is_kept(&format!("{name}.svg"), &chart::svg(&replayed.replay, &finding.violation.why));
    // The repaired design behaves differently.
    let repaired = kept.replay(&Subject::of::<Repaired>(), u64::MAX, &|| false).expect("supported");
    assert_ne!(repaired.verdict, Verdict::Same);

    for bounds in [BOUNDS.evicting(), BOUNDS.tight()] {
        let repaired = explore::<Repaired>(placed, model, bounds);
        assert_eq!((repaired.violation, repaired.incomplete), (None, None), "{}", Repaired::INFO.name);
        assert!(!repaired.outcomes.is_empty());
    }
    found
}

#[test]
fn hlrc_reads_an_old_value_of_a_word_that_is_atomic_and_data() {
    refuted_and_repaired::<zoo::hlrc::Hlrc, zoo::hlrc::HlrcRepaired>("drf", &[0]);
}

#[test]
fn stc_reads_a_copy_while_others_write_in_the_next_epoch() {
    refuted_and_repaired::<zoo::stc::StcNv, zoo::stc::StcNvRepaired>("sc", &[1, 0]);
}

#[test]
fn tc_weak_reads_a_copy_after_a_message_that_was_passed_on() {
    refuted_and_repaired::<zoo::tc::TcWeak, zoo::tc::TcWeakRepaired>("drf", &[1, 0]);
}

#[test]
fn g_tsc_reads_a_copy_after_a_bank_has_started_its_times_again() {
    refuted_and_repaired::<zoo::lease::GTsc, zoo::lease::GTscRepaired>("sc", &[1, 0]);
}

#[test]
fn a_write_of_rcc_waits_for_ever_for_a_timestamp() {
    use zoo::lease::{Rcc, RccRepaired};
    // The two words of data share a line.
    fails_and_is_repaired::<Rcc, RccRepaired>("drf", (1, BOUNDS.evicting()), Fault::Livelock);
}

#[test]
fn quick_release_performs_an_atomic_before_an_older_store_of_its_thread() {
    use zoo::quick_release::{QuickRelease, QuickReleaseRepaired};
    refuted_and_repaired::<QuickRelease, QuickReleaseRepaired>("opencl", &[0]);
}

/// A program in which an access releases and a fence acquires.
const MIXED: &str = "OPENCL MP+release-fence

{
[x] = 0;
[f] = 0;
}

P0 (global int* x, global atomic_int* f) {
  *x = 1;
  atomic_store_explicit(f, 1, memory_order_release, memory_scope_work_group);
}

P1 (global int* x, global atomic_int* f) {
  while (!atomic_load_explicit(f, memory_order_relaxed, memory_scope_work_group)) { }
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_work_group);
  int r0 = *x;
}

scopeTree (device (work_group P0 P1))

forall (1:r0=1)
";

/// In `hlrc`, scopes are only hints if accesses synchronize by themselves, or if fences do so on
/// both sides. A fence that pairs with a release access needs the scope that includes both threads.
/// In DeNovo, scopes are only hints in this case too. The same is true of repaired hLRC: the
/// relaxed load before the fence moves the registration of the flag, and this move makes the
/// releasing cache flush its writes.
#[test]
fn scopes_are_not_hints_to_hlrc_if_a_fence_pairs_with_a_release() {
    fn stale<P: Protocol>() -> bool {
        let program = litmus::parse::parse(MIXED).expect("it is a test");
        let claim = Claim::of("opencl").expect("a known model");
        let promise = claim.promise(&program, &mut || false).expect("the model covers it");
        let requirements = Requirements { allowed: promise.allowed.as_ref(), may_block: promise.may_block };
        let apart = Placement {
            agents: vec![proto::Agent::Cu(0), proto::Agent::Cu(1)],
            ..Placement::spread(&program)
        };
        let mut explorer = Explorer::new(&Subject::of::<P>(), BOUNDS, None);
        let found =
            explorer.explore(&program, &apart, &requirements, &mut Limits::default()).expect("supported");
        found.violation.is_some_and(|violation| violation.fault == Fault::Outcome)
    }
    assert!(stale::<zoo::hlrc::Hlrc>() && stale::<zoo::hlrc::HlrcNoprio>());
    assert!(!stale::<zoo::denovo::DenovoB>() && !stale::<zoo::denovo::DenovoRprio>());
    assert!(!stale::<zoo::hlrc::HlrcRepaired>());
}
