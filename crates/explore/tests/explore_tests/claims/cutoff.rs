//! Programs with any number of compute units.

use explore::cutoff::{Closure, Cutoff, Options, cutoffs};
use proto::{Change, Plans as _, SeededFault, Symbol as _};
use zoo::vi::{L1Plans, Step};

/// The results of [`cutoffs`] for a protocol with this seeded fault and this limit of explored
/// states. Each result says whether one program is proved for any number of compute units.
fn cutoffs_of(protocol: &str, seeded_fault: Option<SeededFault>, states_max: usize) -> Vec<Cutoff> {
    let subject = subjects::explored(protocol).unwrap_or_else(|| panic!("there is no {protocol}"));
    let options = Options { states_max, seeded_fault, ..Options::new(2, &|| false) };
    cutoffs(&subject, options).unwrap_or_else(|error| panic!("{protocol}: {}", error.0))
}

/// The programs that are not proved for any number of compute units, each with the reason.
fn open(all: &[Cutoff]) -> Vec<String> {
    let open = all.iter().filter(|one| !one.is_closed());
    open.map(|one| format!("{}, {}, {}: {}", one.machine(), one.program, one.layout, one.closure)).collect()
}

#[test]
fn two_protocols_are_verified_for_any_number_of_compute_units() {
    for protocol in ["vi", "no-l1"] {
        let all = cutoffs_of(protocol, None, 20_000);
        assert!(all.len() >= 24, "{protocol}");
        assert_eq!(open(&all), Vec::<String>::new(), "{protocol}");
    }
}

#[test]
fn the_views_stop_growing_at_the_number_of_the_closure() {
    let mut with_four = 0;
    for one in cutoffs_of("no-l1", None, 200_000) {
        let Closure::Closed { views, .. } = one.closure else { panic!("{}: {}", one.machine(), one.closure) };
        let [two, three, four] = [2, 3, 4].map(|units| one.views(units));
        assert!(two.is_some_and(|two| two < views), "two units already have all {views} views");
        assert!(three.is_none_or(|three| three == views), "{three:?} of {views}");
        assert!(four.is_none_or(|four| four == views), "{four:?} of {views}");
        with_four += usize::from(four.is_some());
    }
    assert!(with_four > 0, "no program was explored with four compute units");
}

#[test]
fn a_protocol_without_flush_or_invalidation_is_refuted() {
    for step in [Step::Flush, Step::Invalidate] {
        let fault = SeededFault { table: L1Plans::ID, change: Change::DropStep { step: step.index() as u8 } };
        let all = cutoffs_of("vi", Some(fault), 20_000);
        let refuted = all.iter().filter(|one| matches!(one.closure, Closure::Refuted { .. })).count();
        assert!(refuted > 0, "without {step:?}: {:?}", open(&all));
    }
}

#[test]
fn a_protocol_that_counts_its_sharers_names_the_obstacle() {
    let all = cutoffs_of("hlrc-repaired", None, 20_000);
    let reasons = open(&all);
    assert!(!reasons.is_empty());
    assert!(reasons.iter().all(|reason| reason.contains("not proved: ")), "{reasons:?}");
}
