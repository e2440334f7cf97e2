//! The model of PTX, for PTX programs and for OpenCL programs that can be mapped to PTX.

use explore::claim::{Claim, NoPromise, Promise};
use explore::{Explorer, Fault, Limits, Placement, Requirements, Subject, corpus, verify};
use litmus::program::Program;
use proto::{Change, Info, Plans as _, Protocol, SeededFault, Symbol as _};
use zoo::gpu_vi::GpuVi;
use zoo::hlrc::{Hlrc, HlrcRepaired};
use zoo::moesi::Moesi;
use zoo::vi::{L1Plans, Step, Vi};
use zoo::wt::Wt;

fn promise_of(program: &Program) -> Result<Promise, NoPromise> {
    Claim::of("ptx-7.5").expect("a known model").promise(program, &mut || false)
}

/// A program in which P0 stores data and sets a flag; P1 loads the data if it has seen the flag.
fn message(order: (&str, &str), scope: &str, suffix: &str) -> Program {
    let (release, acquire) = order;
    let text = format!(
        "OPENCL message
{{ }}

P0 (global int* x, global atomic_int* f) {{
  *x = 1;
  atomic_store_explicit{suffix}(f, 1, memory_order_{release}, {scope});
}}

P1 (global int* x, global atomic_int* f) {{
  int r0 = atomic_load_explicit(f, memory_order_{acquire}, {scope});
  int r1 = *x;
}}

scopeTree (device (work_group P0) (work_group P1))

exists (1:r0=1 /\\ 1:r1=0)
"
    );
    litmus::parse::parse(&text).expect("it is a test")
}

const STALE: [i64; 2] = [1, 0];
const DEVICE: &str = "memory_scope_device";

/// Both programs have a race between the accesses to the data, because the reading thread P1 loads
/// the data whether or not it has seen the flag. OpenCL promises nothing for a race; PTX forbids
/// the old value after the flag.
#[test]
fn opencl_programs_keep_their_meaning_in_ptx() {
    let opencl = Claim::of("opencl").expect("a known model");
    for (scope, forbids) in [(DEVICE, true), ("memory_scope_work_group", false)] {
        let program = message(("release", "acquire"), scope, "");
        let promise = promise_of(&program).expect("PTX has such operations");
        let allowed = promise.allowed.expect("the model covers all programs");
        let is_stale = |outcome: &explore::Outcome| outcome.starts_with(&STALE);
        assert_eq!(!allowed.iter().any(is_stale), forbids, "{scope}: {allowed:?}");
        assert!(allowed.iter().any(|outcome| outcome.starts_with(&[1, 1])), "{scope}");
        assert!(promise.may_block && !promise.race_free, "it knows no races, and no waits");
        assert_eq!(opencl.promise(&program, &mut || false).expect("it is defined").allowed, None);
    }
}

#[test]
fn features_outside_ptx_have_no_promise() {
    for program in [
        message(("seq_cst", "acquire"), DEVICE, ""),
        message(("release", "seq_cst"), DEVICE, ""),
        message(("release", "acquire"), DEVICE, "_remote"),
    ] {
        assert!(matches!(promise_of(&program), Err(NoPromise::Undefined(_))));
    }
    let (_, text) = corpus::SHIPPED.iter().find(|(path, _)| *path == "c11/MP+ra.litmus").expect("shipped");
    let unscoped = litmus::parse::parse(text).expect("it is a test");
    assert!(matches!(promise_of(&unscoped), Err(NoPromise::Undefined(_))));
}

/// The fault that the program shows on any of the machines, or `None`.
fn explored<P: Protocol>(program: &Program, seeded_fault: Option<SeededFault>) -> Option<Fault> {
    let allowed = promise_of(program).expect("PTX covers it").allowed.expect("of all programs");
    let requirements = Requirements { allowed: Some(&allowed), may_block: true };
    let placement = Placement::spread(program);
    verify::machines().into_iter().find_map(|bounds| {
        let mut explorer = Explorer::new(&Subject::of::<P>(), bounds, seeded_fault);
        let found =
            explorer.explore(program, &placement, &requirements, &mut Limits::default()).expect("supported");
        assert_eq!(found.incomplete, None);
        found.violation.map(|violation| violation.fault)
    })
}

#[test]
fn vi_keeps_the_ptx_promise_for_a_race_and_fails_without_flushes() {
    let never_flushes =
        SeededFault { table: L1Plans::ID, change: Change::DropStep { step: Step::Flush.index() as u8 } };
    let (_, text) = corpus::SHIPPED.iter().find(|(path, _)| *path == "ptx/MP+gpu.litmus").expect("shipped");
    let own = litmus::parse::parse(text).expect("it is a test");
    for program in [own, message(("release", "acquire"), DEVICE, "")] {
        assert_eq!(explored::<Vi>(&program, None), None);
        assert_eq!(explored::<Vi>(&program, Some(never_flushes)), Some(Fault::Outcome));
    }
}

/// An atomic may acquire what a thread has released at a narrower scope, and release it at once. The
/// caches were flushed before the atomic. The page of findings names these protocols.
#[test]
fn an_atomic_does_not_pass_on_what_it_acquires_from_a_narrower_scope() {
    let shipped = |name: &str| {
        let (_, text) = corpus::SHIPPED.iter().find(|(path, _)| *path == name).expect("shipped");
        litmus::parse::parse(text).expect("it is a test")
    };
    let of_group = shipped("ptx/passed-on-by-update.litmus");
    assert_eq!(explored::<Vi>(&of_group, None), Some(Fault::Outcome));
    // Here, a scope below the system makes no difference.
    assert_eq!(explored::<GpuVi>(&of_group, None), None);
    let of_device = shipped("ptx/passed-on-by-update-system.litmus");
    for subject in [explored::<GpuVi>, explored::<HlrcRepaired>] {
        assert_eq!(subject(&of_device, None), Some(Fault::Outcome));
    }
    assert_eq!((explored::<Moesi>(&of_group, None), explored::<Moesi>(&of_device, None)), (None, None));
}

/// The claims of `vi` leave out an atomic that widens, and nothing else. Those of `wt` leave out
/// nothing.
#[test]
fn a_claim_may_leave_out_atomics_that_widen() {
    let program = |release: &str, atomic: &str| {
        let text = format!(
            "PTX update\n{{ f=0; }}\n P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n {release} | {atomic} ;\nexists (f=2)\n"
        );
        litmus::parse::parse(&text).expect("it is a test")
    };
    let is_covered = |info: &Info, program: &Program| {
        let mut claims = Claim::all_of(info).expect("known models");
        claims.retain(|claim| claim.model == "ptx-7.5");
        claims[0].promise(program, &mut || false).is_ok()
    };
    const TO_CTA: &str = "st.release.cta f, 1";
    const FENCED: &str = "fence.acq_rel.cta";
    const SWAPPED: &str = "atom.acq_rel.gpu.cas r0, f, 0, 1";
    for (release, atomic, widens) in [
        (TO_CTA, "atom.acq_rel.gpu.add r0, f, 1", true),
        (TO_CTA, "atom.acq_rel.sys.add r0, f, 1", true),
        (FENCED, "atom.acq_rel.gpu.add r0, f, 1", true),
        (TO_CTA, SWAPPED, true),
        (SWAPPED, "atom.acq_rel.sys.exch r0, f, 1", true),
        (TO_CTA, "atom.acq_rel.cta.add r0, f, 1", false),
        ("st.relaxed.cta f, 1", "atom.acq_rel.gpu.add r0, f, 1", false),
        (TO_CTA, "atom.acquire.gpu.add r0, f, 1", false),
        (TO_CTA, "atom.release.gpu.add r0, f, 1", false),
        (TO_CTA, "st.release.gpu f, 1", false),
    ] {
        let program = program(release, atomic);
        assert_eq!(is_covered(&Vi::INFO, &program), !widens, "{release} | {atomic}");
        assert!(is_covered(&Wt::INFO, &program), "{release} | {atomic}");
    }
}

/// A program that published hLRC executes wrongly, because a registration does not wait for stores
/// of data that race with it. P0 takes the registration from P1, and its exchange then reads the
/// value from before P0's own store.
const RACED: &str = "OPENCL raced
{ }

P0 (global atomic_int* x) {
  *x = 1;
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
  int r0 = atomic_exchange_explicit(x, 2, memory_order_relaxed, memory_scope_device);
}

P1 (global atomic_int* x) {
  int r0 = atomic_load_explicit(x, memory_order_acquire, memory_scope_work_group);
  int r1 = atomic_load_explicit(x, memory_order_acquire, memory_scope_work_group);
}

scopeTree (device (work_group P0) (work_group P1))

exists (0:r0=0)
";

#[test]
fn published_hlrc_violates_ptx_for_mixed_races_and_repaired_hlrc_does_not() {
    let program = litmus::parse::parse(RACED).expect("it is a test");
    let opencl = Claim::of("opencl").expect("a known model");
    assert_eq!(opencl.promise(&program, &mut || false).expect("it is defined").allowed, None, "it races");
    assert_eq!(explored::<Hlrc>(&program, None), Some(Fault::Outcome));
    assert_eq!(explored::<HlrcRepaired>(&program, None), None);
    assert_eq!(explored::<Vi>(&program, None), None);
}
