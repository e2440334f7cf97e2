//! Programs of several kernels, with steps of the host between them. Each program has the outcomes
//! of its stages (kernels and host steps) in sequence, for any order of requests at the kernels'
//! boundaries. A kernel that begins or ends without a step of its plan is detected.

mod family;
mod modes;
mod verified;

use crate::walks::walker::{Program, STATES_MAX, walk, walk_subject};
use explore::{Bounds, End, Explorer, Limits, Move, Placement, Requirements, Subject};
use family::{all, in_turn};
use proto::{Boundary, Change, KernelId, PlanKey, PlansView, SeededFault, WritePolicy};
use std::collections::BTreeSet;

fn machines() -> [Bounds; 3] {
    use WritePolicy::{Combining, Through, ThroughInvalidate};
    let bounds = Bounds::new;
    [
        bounds(Combining, Combining).evicting(),
        bounds(Through, Through),
        bounds(ThroughInvalidate, ThroughInvalidate).tight(),
    ]
}

/// The failure of a protocol on a program, as a sentence, or `None`.
fn wrong(
    subject: &Subject,
    program: &Program,
    bounds: Bounds,
    seeded_fault: Option<SeededFault>,
) -> Option<String> {
    let found = walk_subject(subject, program, bounds, seeded_fault, STATES_MAX);
    let more: Vec<_> = found.outcomes.difference(&in_turn(program)).cloned().collect();
    let wrong = found.violation.or_else(|| (!more.is_empty()).then(|| format!("{more:?}")))?;
    Some(format!("{} on {bounds}, {program:?}: {wrong}", subject.info.name))
}

/// The protocols with the most states. They explore one program in this number, on one machine.
/// Successive programs are on successive machines.
const LARGE: [&str; 5] =
    ["wt", "apu-no-l1", "quick-release-repaired", "quick-release-split", "quick-release-groups"];
const LARGE_STEP: usize = 2;

/// Checks that the protocol with this name fails on no program.
fn holds(name: &str) {
    let subject = subjects::explored(name).expect("a protocol");
    let is_large = LARGE.contains(&name);
    for (at, program) in all().into_iter().enumerate() {
        for (turn, bounds) in machines().into_iter().enumerate() {
            let is_left_out = at % LARGE_STEP != 0 || at / LARGE_STEP % machines().len() != turn;
            if !(is_large && is_left_out) {
                assert_eq!(wrong(&subject, &program, bounds, None), None);
            }
        }
    }
}

macro_rules! holds {
    ($($test:ident: $($name:literal)+;)+) => {
        $(
            #[test]
            fn $test() {
                for name in [$($name),+] {
                    holds(name);
                }
            }
        )+
        #[test]
        fn every_protocol_is_explored() {
            let named = [$($($name),+),+];
            // Some published protocols read stale copies, between kernels as elsewhere.
            // Three have the same states as another protocol.
            let is_left_out = |name: &&str| {
                zoo::reads_stale_copies(name) || ["denovo-rprio", "hlrc-noprio", "rfo"].contains(name)
            };
            let all: BTreeSet<_> =
                zoo::ALL.iter().map(|info| info.name).filter(|name| !is_left_out(name)).collect();
            assert_eq!(all, named.into());
        }
    };
}

holds! {
    kernels_follow_one_another_without_owners: "no-l1" "vi" "vi-targeted";
    kernels_follow_one_another_with_remote_promotion: "rsp" "rsp-repaired";
    kernels_follow_one_another_in_denovo: "denovo-b";
    kernels_follow_one_another_in_hlrc: "hlrc" "hlrc-repaired";
    kernels_follow_one_another_with_a_directory: "gpu-vi";
    kernels_follow_one_another_in_stc: "stc-nv-repaired" "stc-es-repaired";
    kernels_follow_one_another_with_bands: "stc-ab-repaired" "stc-mb-repaired";
    kernels_follow_one_another_with_leases: "tc-strong" "tc-weak-repaired";
    kernels_follow_one_another_in_logical_time: "rcc" "rcc-repaired" "g-tsc-repaired";
    kernels_follow_one_another_with_owned_lines: "moesi";
    kernels_follow_one_another_over_a_stateless_directory: "wt" "apu-no-l1";
    kernels_follow_one_another_with_write_caches:
        "quick-release-repaired" "quick-release-split" "quick-release-groups";
}

/// Seeds faults into a protocol. Each fault removes one step of a plan for the beginning or the end
/// of kernels. Returns the number of faults that at least one program of this test shows, and the
/// faults that no program shows.
fn faults(subject: &Subject) -> (usize, Vec<String>) {
    let combining = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);
    let (mut killed, mut left) = (0, Vec::new());
    let programs = all();
    for view in (subject.plans)() {
        for boundary in [Boundary::BEGIN, Boundary::END].concat() {
            let (plan, steps) = steps(&view, boundary);
            for (at, step) in steps.iter().enumerate() {
                let change = Change::DropStepOf { plan, at: at as u8 };
                let seeded_fault = Some(SeededFault { table: view.id, change });
                match programs
                    .iter()
                    .any(|program| wrong(subject, program, combining, seeded_fault).is_some())
                {
                    true => killed += 1,
                    false => left.push(format!("{boundary:?} of {} without {step}", view.name)),
                }
            }
        }
    }
    (killed, left)
}

/// The plan key (operation, order, scope and hints) of the requests at a kernel's beginning or end,
/// and the names of the steps of their plan.
fn steps(view: &PlansView, boundary: Boundary) -> (PlanKey, Vec<&'static str>) {
    let key = PlanKey::of(&boundary.request(KernelId(0), true));
    let (_, steps) = view.plans.iter().find(|(other, _)| *other == key).expect("every key has a plan");
    (key, steps.clone())
}

/// Checks that the programs show each missing step, except for the steps in `DONE_TWICE`. The
/// command processor's requests enter the cache of the first compute unit, and the requests of that
/// unit repeat their effects. So no program can show that one of the repeated steps is missing.
#[test]
fn a_boundary_without_a_step_of_its_plan_is_detected() {
    let mut wrong = Vec::new();
    for name in ["vi", "rsp", "denovo-b", "hlrc-repaired"] {
        let (killed, mut left) = faults(&subjects::explored(name).expect("a protocol"));
        assert!(killed >= 3, "{name}: {killed} are noticed");
        left.retain(|fault| {
            !DONE_TWICE.iter().any(|(at, step)| fault.starts_with(at) && fault.ends_with(step))
        });
        wrong.extend(left.into_iter().map(|fault| format!("{name}: {fault}")));
    }
    assert!(wrong.is_empty(), "not noticed: {wrong:#?}");
}

const DONE_TWICE: [(&str, &str); 3] = [
    ("BeginMachine", "without Invalidate"),
    ("EndMachine", "without Flush"),
    ("EndMachine", "without RegisterStores"),
];

/// A program of two threads on separate compute units, and an explorer.
fn two_threads() -> (litmus::program::Program, Explorer) {
    let text = include_str!("../../../../../litmus/opencl/MP+wg-apart.litmus");
    let program = litmus::parse::parse(text).expect("a sound test");
    (
        program,
        Explorer::new(
            &Subject::of::<zoo::vi::Vi>(),
            Bounds::new(WritePolicy::Combining, WritePolicy::Combining),
            None,
        ),
    )
}

#[test]
fn boundaries_are_moves_of_a_trace_in_order() {
    let (program, mut explorer) = two_threads();
    let placement = Placement { stages: vec![0, 1], ..Placement::spread(&program) };
    let mut replay = |moves: &[Move]| explorer.replay(&program, &placement, moves).expect("a sound program");
    let machine = Move::Boundary { agent: 0 };
    let begun = replay(&[machine]);
    assert_eq!(begun.end, End::Goes);
    assert_eq!(begun.steps[0].text, "agent 0: kernel 0 begins on the machine");
    for (moves, open) in [
        (vec![Move::Next], "possible now: `boundary 0`"),
        (vec![Move::Issue { thread: 0 }], "possible now: `boundary 0`"),
        (vec![machine, machine], "move 2, `boundary 0`, is not possible here"),
    ] {
        let End::Closed(why) = replay(&moves).end else { panic!("{moves:?}") };
        assert!(why.contains(open), "{why}");
    }
}

#[test]
fn unsupported_stages_are_rejected() {
    let (program, mut explorer) = two_threads();
    for stages in [vec![0], vec![0, 1, 2]] {
        let placement = Placement { stages, ..Placement::spread(&program) };
        let found = explorer.explore(&program, &placement, &Requirements::default(), &mut Limits::default());
        let why = found.expect_err("the stages are of other threads").to_string();
        assert!(why.contains("stages") && why.contains("2 threads"), "{why}");
    }
}

/// A program of one stage (one kernel) is like a program without stages, except for the requests at
/// the beginning of the kernel.
#[test]
fn a_program_of_one_stage_has_the_outcomes_of_one_without_stages() {
    for mut program in all().into_iter().filter(|program| program.threads.len() == 1) {
        let bounds = machines()[0];
        let staged = walk::<zoo::vi::Vi>(&program, bounds, None);
        program.stages.clear();
        let plain = walk::<zoo::vi::Vi>(&program, bounds, None);
        assert_eq!((staged.violation, &staged.outcomes), (None, &plain.outcomes));
        assert!(staged.states > plain.states, "the boundary before it is explored");
    }
}
