//! Every protocol is verified within a small bound, or refuted as it is known
//! to be: the papers' programs, the OpenCL tests, and every program of two
//! threads with three operations.

use explore::claim::Claim;
use explore::corpus;
use explore::verify::{self, Options, Status, Verification};
use proto::Protocol;

/// More than this many programs have synchronization that orders data between
/// caches.
const SYNCHRONIZED_MIN: usize = 10;

fn verified<P: Protocol>() -> Verification {
    let claims = P::INFO.claims.iter().map(|claim| Claim::of(claim.model));
    let claims: Vec<Claim> = claims.collect::<Result<_, _>>().expect("known models");
    let shipped = corpus::shipped().expect("they are tests");
    let folders = ["hrf/", "opencl/"];
    let mut tests: Vec<_> =
        shipped.into_iter().filter(|test| folders.iter().any(|f| test.name.starts_with(f))).collect();
    tests.extend(corpus::made(&claims, corpus::scopes_matter::<P>(), 3, true, 1, &|| false));
    let options = Options {
        bounds: verify::machines(),
        jobs: 1,
        memory_bytes: 1 << 30,
        mutants: false,
        stop: &|| false,
        progress: &|_| {},
    };
    verify::verify::<P>(&tests, &options).expect("known models")
}

fn holds<P: Protocol>() {
    let verification = verified::<P>();
    assert!(verification.findings.is_empty(), "{:?}", verification.findings.first());
    assert!(verification.complete, "{:?}", verification.gaps);
    assert!(verification.claims.iter().all(|(_, status)| *status == Status::Verified));
    assert!(verification.synchronized > SYNCHRONIZED_MIN, "{}", verification.synchronized);
}

fn fails<P: Protocol>() {
    let verification = verified::<P>();
    assert!(verification.claims.iter().any(|(_, status)| *status == Status::Refuted));
    // Only by outcomes: nothing waits for ever, and nothing impossible happens.
    let faults = verification.findings.iter().map(|finding| finding.violation.fault);
    assert!(faults.into_iter().all(|fault| fault == explore::Fault::Outcome));
}

/// Nothing but this: where an L1 has room for one line, threads that share it
/// may take it from one another for ever.
fn starves<P: Protocol>() {
    let verification = verified::<P>();
    assert!(!verification.findings.is_empty());
    for finding in &verification.findings {
        let starves = finding.violation.fault == explore::Fault::Livelock;
        assert!(starves && finding.bounds.ways.0 == 1, "{finding:?}");
    }
}

macro_rules! verdicts {
    ($($name:ident: $verdict:ident $protocol:ty;)+) => {
        $(
            #[test]
            fn $name() {
                $verdict::<$protocol>();
            }
        )+
    };
}

verdicts! {
    vi_holds: holds zoo::vi::Vi;
    vi_targeted_holds: holds zoo::vi_targeted::ViTargeted;
    no_l1_holds: holds zoo::no_l1::NoL1;
    rsp_repaired_holds: holds zoo::rsp::RspRepaired;
    denovo_b_holds: holds zoo::denovo::DenovoB;
    denovo_rprio_holds: holds zoo::denovo::DenovoRprio;
    hlrc_repaired_starves_in_an_l1_of_one_line: starves zoo::hlrc::HlrcRepaired;
    hlrc_fails: fails zoo::hlrc::Hlrc;
    hlrc_noprio_fails: fails zoo::hlrc::HlrcNoprio;
}
