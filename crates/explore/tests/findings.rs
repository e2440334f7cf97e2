//! Designs that do not keep their claims as published: the shortest
//! counterexample of each is kept under `docs/findings`, and the repaired
//! variant passes the same program.
//!
//! `FENCEPOST_BLESS=1 cargo test -p explore --test findings` writes the charts
//! anew.

use explore::claim::Claim;
use explore::{Asked, Bounds, Explorer, Fault, Found, Limits, Placement, chart};
use litmus::program::Program;
use proto::{Protocol, WritePolicy};
use std::path::{Path, PathBuf};

const BOUNDS: Bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/findings").join(name)
}

fn program(name: &str) -> Program {
    let text = std::fs::read_to_string(file(&format!("{name}.litmus"))).expect("the program is kept");
    litmus::parse::parse(&text).expect("it is a test")
}

/// Explores a program under a claim of the protocol.
fn explore<P: Protocol>(program: &Program, model: &str, bounds: Bounds) -> (Explorer<P>, Found) {
    assert!(P::INFO.claims.iter().any(|claim| claim.model == model), "{} claims {model}", P::INFO.name);
    let promise = Claim::of(model).expect("a known model").promise(program, &mut || false);
    let promise = promise.expect("the model speaks of it");
    let asked = Asked { allowed: promise.allowed.as_ref(), may_block: promise.may_block };
    assert!(asked.allowed.is_some(), "it is free of races");
    let mut explorer = Explorer::<P>::new(bounds, None);
    let placement = Placement::spread(program);
    let found = explorer.explore(program, &placement, &asked, &mut Limits::default()).expect("supported");
    (explorer, found)
}

fn is_kept(name: &str, text: &str) {
    let path = file(name);
    if std::env::var_os("FENCEPOST_BLESS").is_some() {
        std::fs::write(&path, text).expect("it can be written");
    }
    let kept = std::fs::read_to_string(&path).expect("it is kept");
    assert_eq!(kept, text, "{}", path.display());
}

/// The published design fails in the way that is kept, and the repaired one
/// passes, evictions at any time included.
fn refuted_and_repaired<Published: Protocol, Repaired: Protocol>(model: &str, forbidden: &[i64]) {
    let name = Published::INFO.name;
    let program = program(name);
    let (mut explorer, found) = explore::<Published>(&program, model, BOUNDS);
    let violation = found.violation.expect("it is refuted");
    assert_eq!(violation.fault, Fault::Outcome);
    let outcome = found.forbidden.expect("by an outcome");
    assert!(outcome.starts_with(forbidden), "{outcome:?}");
    let replay =
        explorer.replay(&program, &Placement::spread(&program), &violation.moves).expect("supported");
    assert_eq!((&replay.fault, replay.steps.len()), (&None, violation.moves.len()));
    is_kept(&format!("{name}.txt"), &chart::text(&replay, &violation.why));
    is_kept(&format!("{name}.svg"), &chart::svg(&replay, &violation.why));
    let moves: String = violation.moves.iter().map(|mv| format!("{mv}\n")).collect();
    is_kept(&format!("{name}.trace"), &moves);

    for bounds in [BOUNDS.evicting(), BOUNDS.tight()] {
        let (_, found) = explore::<Repaired>(&program, model, bounds);
        assert_eq!((found.violation, found.incomplete), (None, None), "{}", Repaired::INFO.name);
        assert!(!found.outcomes.is_empty());
    }
}

#[test]
fn hlrc_reads_an_old_value_of_a_word_that_is_atomic_and_data() {
    refuted_and_repaired::<zoo::hlrc::Hlrc, zoo::hlrc::HlrcRepaired>("drf", &[0]);
}
