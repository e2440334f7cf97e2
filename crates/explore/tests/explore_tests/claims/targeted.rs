//! Hardware that flushes only the releasing wavefront's own writes implements HRF-direct, but
//! not HRF-indirect (HRF paper, section 6).

use explore::claim::Claim;
use explore::verify::{self, Options, Status, Test};
use explore::{Bounds, Explorer, Fault, Limits, Placement, Requirements, Subject, corpus, show};
use litmus::program::Program;
use proto::WritePolicy;
use zoo::vi_targeted::ViTargeted;

const COMBINING: Bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);

fn figure_6() -> Program {
    let (_, text) = corpus::SHIPPED.iter().find(|(p, _)| *p == "hrf/fig6.litmus").expect("it is shipped");
    litmus::parse::parse(text).expect("it is a test")
}

/// The outcomes that the model allows for the program of Figure 6 of the HRF paper; `None` if the
/// model finds a race.
fn allowed(model: &str) -> Option<std::collections::BTreeSet<explore::Outcome>> {
    let claim = Claim::of(model).expect("a known model");
    claim.promise(&figure_6(), &mut || false).expect("the model covers it").allowed
}

#[test]
fn figure_6_fails_hrf_indirect() {
    let program = figure_6();
    let placement = Placement::spread(&program);
    let allowed = allowed("hrf-indirect").expect("the chain orders the accesses");
    let requirements = Requirements { allowed: Some(&allowed), may_block: false };
    for bounds in [COMBINING, COMBINING.evicting()] {
        let mut explorer = Explorer::new(&Subject::of::<ViTargeted>(), bounds, None);
        let found =
            explorer.explore(&program, &placement, &requirements, &mut Limits::default()).expect("supported");
        let violation = found.violation.expect("the third work-item misses the store of the first");
        assert_eq!(violation.fault, Fault::Outcome);
        let outcome = found.forbidden.expect("an outcome");
        assert!(!allowed.contains(&outcome), "{}", show(&program, &outcome));
        assert_eq!(outcome, [1, 0], "the second has seen it: {}", show(&program, &outcome));
    }
}

#[test]
fn figure_6_races_under_hrf_direct() {
    assert_eq!(allowed("hrf-direct"), None);
}

/// Checks that the protocol [`ViTargeted`] implements HRF-direct in the shipped tests, and in some
/// of the generated programs with up to three operations.
#[test]
fn hrf_direct_holds() {
    let mut tests: Vec<Test> = corpus::shipped().expect("they are tests");
    let claims = [Claim::of("hrf-direct").expect("a known model")];
    tests.extend(corpus::generated(&claims, true, 3, true, 1, &|| false).into_iter().step_by(21));
    let options = Options {
        jobs: 2,
        memory_bytes: 2 << 30,
        ..Options::new(vec![COMBINING.evicting(), COMBINING.tight()])
    };
    let verification = verify::verify(&Subject::of::<ViTargeted>(), &tests, &options).expect("a known model");
    let statuses: Vec<_> = verification.claims.iter().map(|(model, s)| (model.as_str(), *s)).collect();
    assert_eq!(statuses, [("hrf-direct", Status::Verified)], "{:?}", verification.gaps);
    assert!(verification.synchronized > 3, "{}", verification.synchronized);
}
