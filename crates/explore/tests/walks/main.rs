//! The programs that every protocol has been walked with, explored: each shows
//! its expected outcomes, all of them and no other.

#[path = "../../../zoo/tests/walk/mishaps.rs"]
mod mishaps;
#[path = "../../../zoo/tests/walk/programs.rs"]
#[allow(dead_code, reason = "some of it is for other tests of the same programs")]
mod programs;
mod walker;

use explore::{Bounds, Explores as _};
use programs::POLICIES;
use proto::Protocol;
use std::collections::BTreeSet;
use walker::{Do, Outcome, Program, is_kernel, walk};

fn has_kernels(program: &Program) -> bool {
    program.threads.iter().flat_map(|t| &t.ops).any(is_kernel)
}

/// Explores under every pair of write policies, on a machine that has one of
/// everything, and on a roomy one, with evictions if the program is small.
fn outcomes<P: Protocol>(program: &Program) -> BTreeSet<Outcome> {
    let has_l1 = P::tables().len() > 1;
    let loops = program.threads.iter().flat_map(|t| &t.ops).any(|op| matches!(op, Do::Until(..)));
    let is_small = program.threads.len() < 3 && !loops;
    let mut all = BTreeSet::new();
    for l1 in POLICIES {
        for l2 in POLICIES {
            let bounds = Bounds::new(l1, l2);
            let machines = match (l1 == l2, is_small) {
                (true, true) => vec![bounds.evicting(), bounds.tight()],
                (true, false) => vec![bounds, bounds.tight()],
                // Without an L1 its policy does not matter.
                (false, _) if !has_l1 => vec![],
                (false, true) => vec![bounds, bounds.tight()],
                (false, false) => vec![bounds.tight()],
            };
            for bounds in machines {
                let (found, outcomes) = walk::<P>(program, bounds);
                assert_eq!(found.violation, None, "{}, {}: {bounds:?}", P::INFO.name, program.name);
                assert_eq!(found.incomplete, None);
                assert!(!outcomes.is_empty());
                all.extend(outcomes);
            }
        }
    }
    all
}

fn only_expected_outcomes<P: Protocol>() {
    let mut walked = 0;
    for expected in programs::all().iter().filter(|e| !has_kernels(&e.program)) {
        assert_eq!(outcomes::<P>(&expected.program), expected.outcomes, "{}", expected.program.name);
        walked += 1;
    }
    assert!(walked > 50);
}

#[test]
fn a_trace_can_be_made_again_and_drawn() {
    use litmus::program::Program;
    let text = include_str!("../../../../litmus/opencl/MP+wg-apart.litmus");
    let program: Program = litmus::parse::parse(text).expect("a sound test");
    let placement = explore::Placement::spread(&program);
    let combining = proto::WritePolicy::Combining;
    let mut explorer =
        explore::Explorer::<zoo::vi::Vi>::new(Bounds::new(combining, combining).evicting(), None);
    let all = explorer
        .explore(&program, &placement, &explore::Asked::default(), &mut explore::Limits::default())
        .expect("a supported program");
    // Everything but the outcome that the test asks about.
    let allowed: BTreeSet<_> = all.outcomes.iter().filter(|o| ***o != [1, 0]).cloned().collect();
    assert!(allowed.len() < all.outcomes.len(), "a scope that is too narrow shows stale data");
    let asked = explore::Asked { allowed: Some(&allowed), may_block: false };
    let found = explorer.explore(&program, &placement, &asked, &mut explore::Limits::default());
    let violation = found.expect("a supported program").violation.expect("the stale read");
    assert_eq!(violation.fault, explore::Fault::Outcome);
    let replay = explorer.replay(&program, &placement, &violation.moves).expect("a supported program");
    assert!(matches!(replay.end, explore::End::Over(_)), "{:?}", replay.end);
    assert_eq!(replay.steps.len(), violation.moves.len());
    let chart = explore::chart::text(&replay, &violation.why);
    assert!(chart.contains("P1: load x reads 0"), "{chart}");
    assert!(explore::chart::svg(&replay, &violation.why).starts_with("<svg"), "a drawing");
}

#[test]
fn vi_shows_the_expected_outcomes_and_no_other() {
    only_expected_outcomes::<zoo::vi::Vi>();
}

#[test]
fn no_l1_shows_the_expected_outcomes_and_no_other() {
    only_expected_outcomes::<zoo::no_l1::NoL1>();
}
