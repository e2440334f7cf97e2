//! Programs are generated in batches, while earlier programs are explored.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use explore::Programs;
use explore::claim::Claim;
use explore::verify::{self, Options, Progress};

/// The number of programs in a batch of generated programs.
const BATCH: usize = 256;

#[test]
fn the_first_test_is_explored_before_a_second_batch_is_drawn() {
    for protocol in ["vi", "hlrc", "rsp"] {
        let subject = subjects::explored(protocol).expect("a protocol");
        let claims: Vec<Claim> =
            subject.info.claims.iter().map(|claim| Claim::of(claim.model).expect("a known model")).collect();
        let mut programs = Programs::default().and_generated(&claims, true, 6, true);
        let (explored, ended) = (AtomicUsize::new(0), AtomicBool::new(false));
        let progress = |_: Progress| {
            explored.fetch_add(1, Ordering::Relaxed);
            ended.store(true, Ordering::Relaxed);
        };
        let options = Options {
            stop: &|| ended.load(Ordering::Relaxed),
            progress: &progress,
            ..Options::new(verify::machines())
        };
        let found = verify::verify_programs(&subject, &mut programs, &options).expect("known models");
        assert!(found.tests >= 1 && explored.into_inner() >= 1, "{protocol}: {found:?}");
        assert!(programs.drawn() <= BATCH, "{protocol}: {} programs", programs.drawn());
        assert!(!found.complete && programs.not_generated().is_some());
        assert!(found.gaps.keys().any(|gap| gap.contains("up to family 1 of ")), "{:?}", found.gaps);
    }
}
