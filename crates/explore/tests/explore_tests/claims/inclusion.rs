//! Scope inclusion (HRF paper, section 5.2): protocols with scopes support synchronization
//! between different scopes, one of which includes the other, although their claims do not
//! require it.

use explore::{Bounds, Explorer, Limits, Placement, Requirements, Subject, corpus, show};
use litmus::generate::{Bound, Kind, LevelBound, cycles, programs};
use litmus::hrf::{self, Model, Options, Reading};
use litmus::program::{Instr, Level, Program, Value};
use proto::{Agent, Change, Hosts, PlanKey, Plans, Protocol, SeededFault, Symbol, WritePolicy};
use std::collections::BTreeSet;
use std::sync::OnceLock;
use zoo::hlrc::{Hlrc, HlrcNoprio, HlrcRepaired};
use zoo::quick_release::{QuickReleaseGroups, QuickReleaseSplit};
use zoo::vi::{L1Plans, Step, Vi};

/// A program that is race-free only if scopes may include one another, with its allowed outcomes.
struct InclusionCase {
    name: String,
    program: Program,
    placements: Vec<Placement>,
    allowed: BTreeSet<Vec<Value>>,
    may_block: bool,
    orders_data: bool,
    /// Whether a word of the program is both atomic and data.
    mixes: bool,
}

/// Whether a word of the program is both atomic and data.
fn mixes(program: &Program) -> bool {
    let accesses = program.threads.iter().flat_map(|thread| &thread.code).filter_map(Instr::access);
    let (atomic, data): (Vec<_>, Vec<_>) = accesses.partition(|access| access.order.is_atomic());
    data.iter().any(|access| atomic.iter().any(|other| other.address == access.address))
}

fn inclusion_case(
    name: &str,
    program: Program,
    placements: Vec<Placement>,
    model: Model,
) -> Option<InclusionCase> {
    let options = |reading| Options { first_race_only: true, ..Options::new(reading) };
    let check = |reading| hrf::check(&program, &options(reading)).ok();
    let with = check(Reading::of(model).with_inclusion()).filter(|v| v.is_race_free())?;
    assert_eq!(with.incomplete, None, "{name}");
    if check(Reading::of(model))?.is_race_free() {
        return None;
    }
    Some(InclusionCase {
        name: name.to_owned(),
        placements,
        may_block: with.blocked.is_some(),
        orders_data: with.orders_data(),
        mixes: mixes(&program),
        allowed: with.states,
        program,
    })
}

fn bound(threads: usize, operations: usize, kinds: &[Kind], levels: &[Level]) -> Bound {
    let instances = |level| if level == Level::WorkGroup { threads } else { 1 };
    Bound {
        threads_min: threads,
        kinds: kinds.to_vec(),
        levels: levels.iter().map(|&level| LevelBound { level, instances_max: instances(level) }).collect(),
        compute_units_max: 2,
        ..Bound::new(threads, operations, 2)
    }
}

/// The programs that are race-free under the model only with scope inclusion (synchronization
/// between different scopes, one of which includes the other). They come from the shipped tests,
/// from all programs of two threads with up to three operations, and from the critical cycles of
/// two and of three threads.
fn corpus_of(model: Model) -> Vec<InclusionCase> {
    use Kind::{Await, ConditionalLoad, Exchange, Load, Store, SyncLoad, SyncStore};
    let kinds = [Load, Store, SyncLoad, SyncStore, Await, ConditionalLoad, Exchange];
    let levels = [Level::WorkGroup, Level::Device, Level::System];
    let shipped = corpus::shipped().expect("they are tests").into_iter();
    let shipped = shipped.filter(|test| test.name.starts_with("hrf/")).filter_map(|test| {
        inclusion_case(&test.name, test.program().into_owned(), test.placements.clone(), model)
    });
    let two = programs(&bound(2, 3, &kinds, &levels)).chain(cycles(&bound(2, 4, &kinds, &levels)));
    let of_generator = two.chain(cycles(&bound(3, 5, &kinds[..5], &levels[..2]))).filter_map(|generated| {
        let agents = generated.compute_units.iter().map(|&cu| Agent::Cu(u16::from(cu))).collect();
        let name = generated.to_text();
        inclusion_case(&name, generated.program, vec![Placement::new(agents, generated.lines)], model)
    });
    shipped.chain(of_generator).collect()
}

/// Whether the plans of the protocol (the steps of operations) depend on scopes within a device.
fn looks_at_scopes<P: Protocol>() -> bool {
    P::plans().iter().any(|view| {
        let of = |key: PlanKey| view.plans.iter().find(|(k, _)| *k == key).map(|(_, steps)| steps);
        view.plans.iter().any(|(key, steps)| {
            key.level == Level::WorkGroup && of(PlanKey { level: Level::Device, ..*key }) != Some(steps)
        })
    })
}

/// The programs of [`corpus_of`] for the model, which are computed once.
fn inclusion_cases(model: Model) -> &'static [InclusionCase] {
    static DIRECT: OnceLock<Vec<InclusionCase>> = OnceLock::new();
    static INDIRECT: OnceLock<Vec<InclusionCase>> = OnceLock::new();
    let cell = if model == Model::HrfDirect { &DIRECT } else { &INDIRECT };
    cell.get_or_init(|| corpus_of(model))
}

/// The names of the programs that have forbidden outcomes on the protocol.
fn wrong<'a, P: Protocol>(
    cases: impl IntoIterator<Item = &'a InclusionCase>,
    seeded_fault: Option<SeededFault>,
) -> Vec<String> {
    let combining = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);
    let mut evicting = Explorer::new(&Subject::of::<P>(), combining.evicting(), seeded_fault);
    let mut tight = Explorer::new(&Subject::of::<P>(), combining.tight(), seeded_fault);
    let mut wrong = Vec::new();
    for case in cases {
        let is_small = case.orders_data && case.program.threads.len() == 2;
        let explorer = if is_small { &mut evicting } else { &mut tight };
        for placement in &case.placements {
            let requirements = Requirements { allowed: Some(&case.allowed), may_block: case.may_block };
            let found = explorer.explore(&case.program, placement, &requirements, &mut Limits::default());
            let found = found.expect("a supported program");
            assert_eq!(found.incomplete, None);
            if let Some(violation) = found.violation {
                let outcome = found.forbidden.map_or(violation.why, |o| show(&case.program, &o));
                wrong.push(format!("{} ({placement}): {outcome}", case.name));
            }
        }
    }
    wrong
}

/// Each protocol explores one program of [`corpus_of`] in this number. Successive protocols explore
/// different programs.
const STEP: usize = 4;

/// A protocol in which hosts have coherent caches has more states. It explores one program of two threads
/// in this number.
const LARGE_STEP: usize = 64;

fn supports_inclusion<P: Protocol>(model: Model, mixed: bool) {
    assert!(looks_at_scopes::<P>());
    let turn = zoo::ALL.iter().position(|info| info.name == P::INFO.name).expect("a protocol");
    let cases = inclusion_cases(model).iter().filter(|case| mixed || !case.mixes);
    let is_large = P::INFO.hosts == Hosts::Cached;
    let cases = cases.filter(|case| !is_large || case.program.threads.len() == 2);
    let step = if is_large { LARGE_STEP } else { STEP };
    let cases: Vec<_> = cases.skip(turn % step).step_by(step).collect();
    assert!(cases.len() > 2, "{}", cases.len());
    let wrong = wrong::<P>(cases, None);
    assert!(wrong.is_empty(), "{}: {}", wrong.len(), wrong[0]);
}

macro_rules! supports_inclusion {
    ($($name:ident: $protocol:ty, $model:ident, mixed: $mixed:literal;)+) => {
        $(
            #[test]
            fn $name() {
                supports_inclusion::<$protocol>(Model::$model, $mixed);
            }
        )+

        #[test]
        fn the_tests_cover_every_protocol_with_scopes() {
            let protocols = [$(<$protocol as Protocol>::INFO.name),+];
            // `hlrc-noprio` has the same states as `hlrc`, because the explorer evicts in every order.
            let scoped = zoo::ALL.iter().map(|info| info.name).filter(|name| *name != "hlrc-noprio");
            let scoped: Vec<&str> =
                scoped.filter(|name| zoo::with(name, LooksAtScopes) == Some(true)).collect();
            assert_eq!(protocols.to_vec(), scoped);
        }
    };
}

struct LooksAtScopes;

impl zoo::Visit for LooksAtScopes {
    type Output = bool;
    fn visit<P: Protocol>(self) -> bool {
        looks_at_scopes::<P>()
    }
}

supports_inclusion! {
    vi_supports_inclusion: Vi, HrfIndirect, mixed: true;
    vi_targeted_supports_inclusion: zoo::vi_targeted::ViTargeted, HrfDirect, mixed: true;
    no_l1_supports_inclusion: zoo::no_l1::NoL1, HrfIndirect, mixed: true;
    rsp_supports_inclusion: zoo::rsp::Rsp, HrfIndirect, mixed: true;
    rsp_repaired_supports_inclusion: zoo::rsp::RspRepaired, HrfIndirect, mixed: true;
    hlrc_supports_inclusion_of_atomics: Hlrc, HrfIndirect, mixed: false;
    hlrc_repaired_supports_inclusion: HlrcRepaired, HrfIndirect, mixed: true;
    quick_release_split_supports_inclusion: QuickReleaseSplit, HrfDirect, mixed: true;
    quick_release_groups_supports_inclusion: QuickReleaseGroups, HrfIndirect, mixed: true;
}

/// A program that shows the fault of `hlrc` with inclusion as well: a thread reads an old value of
/// a word that is atomic and data.
const MIXED: &str = "OPENCL mixed
{ }

P0@wg 0, dev 0 (global atomic_int* x) {
  atomic_store_explicit(x, 1, memory_order_release, memory_scope_work_group);
  int r0 = *x;
}

P1@wg 0, dev 0 (global atomic_int* x) {
  int r0 = atomic_load_explicit(x, memory_order_acquire, memory_scope_device);
}

exists (0:r0=0)
";

/// The expected number of programs that fail on published hLRC. In each of them, a thread releases
/// a word by a store or an exchange of the word, and then loads the word as data, while another
/// thread acquires the word.
const MIXED_WRONG: usize = 8;

#[test]
fn hlrc_fails_if_a_word_is_both_atomic_and_data() {
    let program = litmus::parse::parse(MIXED).expect("it is a test");
    let placement = Placement::spread(&program);
    let case = inclusion_case("mixed", program, vec![placement], Model::HrfIndirect)
        .expect("the program needs inclusion");
    assert!(case.mixes);
    assert_eq!(wrong::<Hlrc>([&case], None).len(), 1);
    assert_eq!(wrong::<HlrcNoprio>([&case], None).len(), 1);
    assert_eq!(wrong::<HlrcRepaired>([&case], None).len(), 0);
    let mixed = || inclusion_cases(Model::HrfIndirect).iter().filter(|case| case.mixes);
    assert_eq!(wrong::<Hlrc>(mixed(), None).len(), MIXED_WRONG);
}

#[test]
fn the_corpus_is_not_empty() {
    for model in [Model::HrfDirect, Model::HrfIndirect] {
        let cases = inclusion_cases(model);
        let of_data = |case: &&InclusionCase| case.orders_data;
        assert!(cases.iter().filter(of_data).count() > 100, "{model:?}");
        assert!(cases.iter().any(|case| case.name == "hrf/fig7.litmus"));
    }
}

/// In `vi`, one step lets scopes of one compute unit include one another: before an access of a
/// wider scope, the L1 writes the line through. Without this step, a program fails.
#[test]
fn vi_without_its_pass_does_not_support_inclusion() {
    let seeded_fault =
        SeededFault { table: L1Plans::ID, change: Change::DropStep { step: Step::Pass.index() as u8 } };
    let wrong = wrong::<Vi>(inclusion_cases(Model::HrfIndirect), Some(seeded_fault));
    assert!(wrong.iter().any(|program| program.starts_with("hrf/least-inclusion-data")), "{wrong:?}");
}
