//! After the end of every program, the host writes and another kernel begins. That kernel must read
//! the host's writes.

use explore::verify::Test;
use explore::{Bounds, Exploration, Explorer, Limits, Placement, Requirements, Subject};
use proto::{Boundary, Change, KernelId, PlanKey, PlansView, SeededFault, WritePolicy};

/// A program that leaves copies of its line in all caches of the protocol. The requests of the
/// command processor enter the cache of the first compute unit, so the program needs a second
/// compute unit.
const READ: &str = "OPENCL read
{ }

P0@wg 0, dev 0 (global int* x) {
  int r0 = *x;
}

P1@wg 1, dev 0 (global int* x) {
  int r0 = *x;
}

exists (0:r0=0 /\\ x=0)
";

fn explore(subject: &Subject, seeded_fault: Option<SeededFault>) -> Exploration {
    let test = Test::read("read", READ).expect("it is a test");
    let program = &*test.program();
    let bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);
    let mut explorer = Explorer::new(subject, bounds, seeded_fault);
    let placement = Placement::spread(program);
    let found = explorer.explore(program, &placement, &Requirements::default(), &mut Limits::default());
    found.expect("the machine has all that the program needs")
}

/// The plan key (operation, order, scope and hints) of the requests at a kernel's beginning or end,
/// and the names of the steps of their plan.
fn steps(view: &PlansView, boundary: Boundary) -> (PlanKey, Vec<&'static str>) {
    let key = PlanKey::of(&boundary.request(KernelId(0), true));
    let (_, steps) = view.plans.iter().find(|(other, _)| *other == key).expect("every key has a plan");
    (key, steps.clone())
}

/// Explores the protocol as it is, and without the invalidations at the beginning of a kernel.
/// Checks that only the faulty protocol fails, and returns the number of invalidations.
fn invalidations(subject: &Subject) -> usize {
    let name = subject.info.name;
    assert_eq!(explore(subject, None).violation.map(|v| v.why), None, "{name}");
    let mut noticed = 0;
    for view in (subject.plans)() {
        let levels = [(Boundary::BeginMachine, "InvalidateBanks"), (Boundary::BeginCus, "Invalidate")];
        for (boundary, dropped) in levels {
            let (plan, steps) = steps(&view, boundary);
            let Some(at) = steps.iter().position(|step| *step == dropped) else { continue };
            let change = Change::DropStepOf { plan, at: at as u8 };
            let found = explore(subject, Some(SeededFault { table: view.id, change }));
            let violation = found.violation.unwrap_or_else(|| panic!("{name} without {dropped}"));
            assert!(violation.why.contains("the beginning of a kernel"), "{name}: {}", violation.why);
            noticed += 1;
        }
    }
    noticed
}

#[test]
fn a_kernel_begin_without_invalidation_is_detected_on_every_protocol() {
    for info in zoo::ALL {
        let noticed = invalidations(&subjects::explored(info.name).expect("a protocol"));
        // Where no copy is ever stale, or no compute unit has lines, the beginning of a kernel has
        // nothing to do.
        let has_nothing = ["moesi", "rfo", "apu-no-l1"].contains(&info.name);
        let acquires = !has_nothing && !info.name.starts_with("quick-release");
        assert_eq!(noticed > 0, acquires, "{} acquires when a kernel begins", info.name);
    }
}
