//! After the end of every program, the host writes and another kernel begins. That kernel must read
//! the host's writes.

use explore::verify::Test;
use explore::{Bounds, Exploration, Explorer, Limits, Placement, Requirements, Subject};
use proto::{Boundary, Change, KernelId, PlanKey, PlansView, Protocol, SeededFault, WritePolicy};

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

fn explore<P: Protocol>(seeded_fault: Option<SeededFault>) -> Exploration {
    let test = Test::read("read", READ).expect("it is a test");
    let program = &*test.program();
    let bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);
    let mut explorer = Explorer::new(&Subject::of::<P>(), bounds, seeded_fault);
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

#[test]
fn a_kernel_begin_without_invalidation_is_detected_on_every_protocol() {
    struct Begins;
    impl zoo::Visit for Begins {
        type Output = usize;
        fn visit<P: Protocol>(self) -> usize {
            let name = P::INFO.name;
            assert_eq!(explore::<P>(None).violation.map(|v| v.why), None, "{name}");
            let mut noticed = 0;
            for view in P::plans() {
                let levels =
                    [(Boundary::BeginMachine, "InvalidateBanks"), (Boundary::BeginCus, "Invalidate")];
                for (boundary, dropped) in levels {
                    let (plan, steps) = steps(&view, boundary);
                    let Some(at) = steps.iter().position(|step| *step == dropped) else { continue };
                    let change = Change::DropStepOf { plan, at: at as u8 };
                    let found = explore::<P>(Some(SeededFault { table: view.id, change }));
                    let violation = found.violation.unwrap_or_else(|| panic!("{name} without {dropped}"));
                    assert!(violation.why.contains("the beginning of a kernel"), "{name}: {}", violation.why);
                    noticed += 1;
                }
            }
            noticed
        }
    }
    for info in zoo::ALL {
        let noticed = zoo::with(info.name, Begins).expect("a protocol");
        assert!(noticed > 0, "{} acquires nothing when a kernel begins", info.name);
    }
}
