//! Tests the verdicts, errors, bounds and advice of the engine for the HRF models.

use litmus::hrf::{
    self, Advice, Change, ChangeSet, CheckError, Incomplete, Model, Options, Reading, RelaxedAs, Verdict,
};
use litmus::parse::parse;
use litmus::program::{Program, ThreadId};

use crate::common;
use crate::common::random::{self, Features, Rng};

const INDIRECT: Reading = Reading::of(Model::HrfIndirect);
const DIRECT: Reading = Reading::of(Model::HrfDirect);

const ST: &str = "atomic_store_explicit";
const LD: &str = "atomic_load_explicit";
const REL_DEV: &str = "memory_order_release, memory_scope_device";
const ACQ_DEV: &str = "memory_order_acquire, memory_scope_device";
const REL_WG: &str = "memory_order_release, memory_scope_work_group";

/// A program of threads in work-groups. Each entry of `threads` has the number of the work-group
/// and the code of the thread. Threads with the same number share a work-group.
fn test(threads: &[(u32, &str)], ending: &str) -> Program {
    let mut text = "OPENCL test\n{ [x]=0; [y]=0; [f]=0; [g]=0; }\n".to_owned();
    for (t, (group, body)) in threads.iter().enumerate() {
        text.push_str(&format!(
            "P{t}@wg {group}, dev 0 (global int* x, global int* y, global atomic_int* f, \
             global atomic_int* g) {{ {body} }}\n"
        ));
    }
    text.push_str(ending);
    parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn judge(program: &Program, reading: Reading) -> Verdict {
    hrf::check(program, &Options::new(reading)).unwrap()
}

fn error(program: &Program, reading: Reading) -> String {
    hrf::check(program, &Options::new(reading)).unwrap_err().to_string()
}

#[test]
fn a_relaxed_atomic_is_an_error_that_names_the_model_and_the_place() {
    let relaxed = "memory_order_relaxed, memory_scope_device";
    let program = test(&[(0, &format!("{ST}(f, 1, {relaxed});")), (1, "")], "exists (true)");
    assert_eq!(
        error(&program, DIRECT),
        "P0, line 3: hrf-direct does not define relaxed atomics; define them with --relaxed-as data, \
         sync or acq-rel"
    );
}

#[test]
fn relaxed_atomics_are_treated_as_configured() {
    let relaxed = "memory_order_relaxed, memory_scope_device";
    let producer = format!("*x = 1; {ST}(f, 1, {relaxed});");
    let consumer = format!("await(f == 1, {relaxed}); int r = *x;");
    let program = test(&[(0, &producer), (1, &consumer)], "exists (true)");
    let races = |relaxed_as| judge(&program, INDIRECT.relaxed_as(relaxed_as)).races.len();
    // If relaxed atomics count as data, the accesses of f race too. If they count as
    // synchronization, only the accesses of x race.
    assert_eq!(races(RelaxedAs::Data), 2);
    assert_eq!(races(RelaxedAs::Sync), 1);
    assert_eq!(races(RelaxedAs::AcqRel), 0);
}

#[test]
fn a_remote_operation_is_an_error_except_where_all_scopes_are_one() {
    let program = test(&[(0, &format!("{LD}_remote(f, {ACQ_DEV});")), (1, "")], "exists (true)");
    assert!(error(&program, INDIRECT).contains("hrf-indirect does not define remote operations"));
    assert!(judge(&program, Reading::of(Model::Drf)).is_race_free());
}

#[test]
fn a_thread_may_not_synchronize_at_a_scope_that_it_is_not_in() {
    let mut program = test(&[(0, &format!("{ST}(f, 1, {REL_WG});")), (1, "")], "exists (true)");
    let other = program.scopes.enclosing(ThreadId(1), litmus::program::Level::WorkGroup).unwrap();
    program.threads[0].code[0].set_scope(other);
    let error = hrf::check(&program, &Options::new(DIRECT)).unwrap_err();
    assert!(matches!(error, CheckError::NotMember { .. }), "{error}");
    assert!(error.to_string().contains("work_group 1, which does not hold P0"), "{error}");
}

#[test]
fn a_fence_that_leaves_out_a_memory_in_use_is_an_error() {
    let fence =
        |flags| format!("atomic_work_item_fence({flags}, memory_order_acq_rel, memory_scope_device);");
    let program = test(&[(0, &fence("CLK_LOCAL_MEM_FENCE")), (1, "")], "exists (true)");
    assert!(error(&program, INDIRECT).contains("a fence that does not order global memory"));
    let program = test(&[(0, &fence("CLK_GLOBAL_MEM_FENCE")), (1, "")], "exists (true)");
    assert!(judge(&program, INDIRECT).is_race_free());
}

#[test]
fn a_loop_that_only_waits_needs_no_bound() {
    let producer = format!("*x = 1; {ST}(f, 3, {REL_DEV});");
    let spin = format!("while ({LD}(f, {ACQ_DEV}) != 3) {{ }} int r = *x;");
    let program = test(&[(0, &producer), (1, &spin)], "forall (P1:r=1)");
    let options = Options { unroll: 0, ..Options::new(INDIRECT) };
    let verdict = hrf::check(&program, &options).unwrap();
    assert_eq!(verdict.incomplete, None);
    assert!(verdict.is_race_free() && verdict.condition_met(&program) && verdict.blocked.is_none());
}

#[test]
fn a_loop_without_its_awaited_write_does_not_terminate() {
    let spin = format!("while ({LD}(f, {ACQ_DEV}) != 3) {{ }}");
    let program = test(&[(0, &format!("{ST}(f, 1, {REL_DEV});")), (1, &spin)], "exists (true)");
    let verdict = judge(&program, INDIRECT);
    assert!(verdict.states.is_empty() && verdict.incomplete.is_none());
    assert_eq!(verdict.blocked.unwrap().steps.last().unwrap().place.thread, ThreadId(1));
}

#[test]
fn a_loop_with_effects_is_cut_at_its_bound() {
    let work = "int i = 0; while (i < 5) { *x = i; i = i + 1; }";
    let program = test(&[(0, work), (1, "")], "forall (x=4)");
    let cut = hrf::check(&program, &Options { unroll: 4, ..Options::new(INDIRECT) }).unwrap();
    assert_eq!(cut.incomplete, Some(Incomplete::Unroll(4)));
    assert!(cut.states.is_empty());
    let whole = hrf::check(&program, &Options { unroll: 5, ..Options::new(INDIRECT) }).unwrap();
    assert_eq!(whole.incomplete, None);
    assert!(whole.condition_met(&program));
}

#[test]
fn an_incomplete_search_is_reported() {
    let add = "int r = atomic_fetch_add_explicit(f, 1, memory_order_acq_rel, memory_scope_device);";
    let body = |n| format!("{ST}(f, {n}, {REL_DEV}); {add} {ST}(g, {n}, {REL_DEV});");
    let bodies: Vec<String> = (1..5).map(body).collect();
    let threads: Vec<(u32, &str)> = (0..4).map(|t| (t as u32, bodies[t].as_str())).collect();
    let program = test(&threads, "exists (P0:r=1 /\\ P1:r=2 /\\ P2:r=3 /\\ P3:r=4)");
    let few = Options { states_max: 10, ..Options::new(INDIRECT) };
    assert_eq!(hrf::check(&program, &few).unwrap().incomplete, Some(Incomplete::States(10)));
    let stopped = hrf::check_until(&program, &Options::new(INDIRECT), &mut || false).unwrap();
    assert_eq!(stopped.incomplete, Some(Incomplete::Stopped));
    assert_eq!(judge(&program, INDIRECT).incomplete, None);
}

#[test]
fn executions_that_the_filter_refuses_neither_count_nor_race() {
    let producer = format!("*x = 1; {ST}(f, 1, {REL_DEV});");
    let consumer = format!("int r0 = {LD}(f, {ACQ_DEV}); int r1 = *x;");
    let threads = [(0, producer.as_str()), (1, consumer.as_str())];
    let open = test(&threads, "exists (P1:r1=0)");
    assert!(!judge(&open, INDIRECT).is_race_free());
    let filtered = test(&threads, "filter (P1:r0=1)\nexists (P1:r1=0)");
    let verdict = judge(&filtered, INDIRECT);
    assert!(verdict.is_race_free() && verdict.orders_data());
    assert!(!verdict.condition_met(&filtered));
}

#[test]
fn a_barrier_orders_threads_within_its_scope() {
    let barrier = "barrier(CLK_GLOBAL_MEM_FENCE);";
    let bodies = [format!("*x = 1; {barrier}"), format!("{barrier} int r = *x;")];
    let program = test(&[(0, &bodies[0]), (0, &bodies[1])], "forall (P1:r=1)");
    let verdict = judge(&program, DIRECT);
    assert!(verdict.is_race_free() && verdict.orders_data() && verdict.condition_met(&program));
}

#[test]
fn a_race_between_scopes_names_both() {
    let producer = format!("*x = 1; {ST}(f, 1, {REL_WG});");
    let consumer = format!("await(f == 1, {ACQ_DEV}); int r = *x;");
    let program = test(&[(0, &producer), (0, &consumer)], "exists (true)");
    let verdict = judge(&program, INDIRECT);
    assert_eq!(verdict.races.len(), 2);
    let text = verdict.races[0].describe(&program, INDIRECT);
    assert!(
        text.contains("the release of step 2 is at work_group 0 and the acquire of step 3 at device 0"),
        "{text}"
    );
    let sync = verdict.races[1].describe(&program, INDIRECT);
    assert!(sync.contains("the two accesses synchronize at different scopes"), "{sync}");
}

#[test]
fn no_scope_change_replaces_missing_synchronization() {
    let program = test(&[(0, "*x = 1;"), (1, "*x = 2;")], "exists (true)");
    let advice = hrf::advise(&program, &Options::new(DIRECT)).unwrap();
    assert!(matches!(advice, Advice::NeedsSynchronization { .. }), "{advice:?}");
    let text = advice.describe(&program, &Options::new(DIRECT));
    assert!(text.starts_with("The program races even if all scopes are treated as one"), "{text}");
}

#[test]
fn advice_prefers_the_narrowest_of_the_smallest_repairs() {
    let producer = format!("*x = 1; {ST}(f, 1, {REL_WG});");
    let consumer = format!("await(f == 1, {ACQ_DEV}); int r = *x;");
    let program = test(&[(0, &producer), (0, &consumer), (1, "")], "exists (true)");
    let advice = hrf::advise(&program, &Options::new(DIRECT)).unwrap();
    let Advice::Widen { sets, complete: true } = &advice else { panic!("{advice:?}") };
    let text: Vec<String> = sets.iter().map(|set| set.describe(&program)).collect();
    assert_eq!(text, ["P1, line 4: device 0 -> work_group 0\n", "P0, line 3: work_group 0 -> device 0\n"]);
}

/// Every set of at most `size` changes of scopes. A change may set the scope of an instruction to
/// any other scope that contains the thread.
fn all_changes(program: &Program, size: usize) -> Vec<ChangeSet> {
    let mut single = Vec::new();
    for (t, thread) in program.threads.iter().enumerate() {
        for (pc, instr) in thread.code.iter().enumerate() {
            let Some(from) = instr.scope() else { continue };
            let place = hrf::InstrPlace { thread: ThreadId(t as u8), pc: pc as u16, line: 0 };
            let others = program.scopes.of_thread(place.thread).into_iter().filter(|&to| to != from);
            single.extend(others.map(|to| Change { place, from, to }));
        }
    }
    let mut sets = vec![ChangeSet::default()];
    for _ in 0..size {
        let larger: Vec<ChangeSet> = sets
            .iter()
            .flat_map(|set| {
                let later = single.iter().filter(|c| set.changes.last().is_none_or(|l| l.place < c.place));
                later.map(|&change| {
                    let mut larger = set.clone();
                    larger.changes.push(change);
                    larger
                })
            })
            .collect();
        sets.extend(larger);
        sets.sort();
        sets.dedup();
    }
    sets
}

#[test]
fn advice_is_right_and_smallest_on_random_programs() {
    let features = Features {
        threads: 3,
        ops: 2,
        locations: 2,
        fences: true,
        barriers: false,
        spins: false,
        named: false,
        relaxed: false,
    };
    let mut rng = Rng(5);
    let (mut repaired, mut shrunk) = (0, 0);
    for n in 0..250 {
        let program = random::program(&mut rng, features);
        let options = Options { first_race_only: true, ..Options::new([DIRECT, INDIRECT][n % 2]) };
        let free = |program: &Program| hrf::check(program, &options).unwrap().is_race_free();
        match hrf::advise(&program, &options).unwrap() {
            Advice::NeedsSynchronization { .. } => {
                let drf = Options { reading: Reading::of(Model::Drf), ..options };
                assert!(!hrf::check(&program, &drf).unwrap().is_race_free());
            }
            Advice::Widen { sets, complete } => {
                assert!(complete && !sets.is_empty() && !free(&program));
                assert!(sets.iter().all(|set| free(&set.apply(&program))));
                let size = sets[0].changes.len();
                if size <= 2 {
                    let smaller = all_changes(&program, size - 1);
                    assert!(
                        smaller.iter().all(|set| !free(&set.apply(&program))),
                        "{}",
                        common::show(&program)
                    );
                    repaired += 1;
                }
            }
            Advice::Shrink { sets, together, complete } => {
                assert!(complete && free(&program));
                assert!(sets.iter().all(|set| free(&set.apply(&program))));
                assert!(free(&together.apply(&program)));
                assert_eq!(sets.is_empty(), together.changes.is_empty());
                shrunk += usize::from(!sets.is_empty());
            }
        }
    }
    assert!(repaired > 10 && shrunk > 10, "{repaired} repaired, {shrunk} shrunk");
}

/// Four threads of three operations have 369,600 interleavings. The number of states that the
/// search enters is a small part of this number.
#[test]
fn the_search_enters_few_of_the_interleavings() {
    let bodies: Vec<String> = (0..4)
        .map(|t| {
            let (mine, other) = if t % 2 == 0 { ("f", "g") } else { ("g", "f") };
            format!("{ST}({mine}, {}, {REL_DEV}); int r0 = {LD}({other}, {ACQ_DEV}); int r1 = {LD}({mine}, {ACQ_DEV});", t + 1)
        })
        .collect();
    let threads: Vec<(u32, &str)> = (0..4).map(|t| (t as u32, bodies[t].as_str())).collect();
    let condition = (0..4).map(|t| format!("P{t}:r0=0 /\\ P{t}:r1=0")).collect::<Vec<_>>().join(" /\\ ");
    let program = test(&threads, &format!("exists ({condition})"));
    let verdict = judge(&program, INDIRECT);
    assert!(verdict.is_race_free());
    assert!(verdict.effort.states < 369_600 / 20, "{:?}", verdict.effort);
    let forgetful = Options { remembered_max: 0, ..Options::new(INDIRECT) };
    let again = hrf::check(&program, &forgetful).unwrap();
    assert_eq!(again.states, verdict.states);
    assert!(again.effort.states > verdict.effort.states);
}

#[test]
fn a_program_of_too_many_instructions_is_refused_with_its_size() {
    let many = "*x = 1;".repeat(3000);
    let program = test(&[(0, &many), (1, "")], "exists (true)");
    assert_eq!(error(&program, DIRECT), "the test has 3000 instructions; expected at most 2048");
}

#[test]
fn a_thread_with_too_many_accesses_is_cut() {
    let program =
        test(&[(0, "int i = 0; while (i < 2000) { *x = i; i = i + 1; }"), (1, "")], "exists (true)");
    let options = Options { unroll: 5000, ..Options::new(INDIRECT) };
    assert_eq!(hrf::check(&program, &options).unwrap().incomplete, Some(Incomplete::Accesses(1000)));
}

/// Checks the tests of the project with some of their words exchanged. Every text that can still be
/// parsed must get a verdict or an error.
#[test]
fn no_program_makes_the_checker_panic_or_hang() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus");
    let mut files: Vec<_> = ["hrf", "opencl", "ptx", "c11"]
        .iter()
        .flat_map(|dir| std::fs::read_dir(folder.join(dir)).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut rng = Rng(3);
    let mut judged = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let words: Vec<&str> = text.split_inclusive([' ', ';', ',', '(', ')']).collect();
        for n in 0..8 {
            let mut mixed = words.clone();
            for _ in 0..n {
                let (a, b) = (rng.below(mixed.len()), rng.below(mixed.len()));
                mixed[a] = words[b];
            }
            let Ok(program) = parse(&mixed.concat()) else { continue };
            for model in Model::ALL {
                let mut options = Options::new(Reading::of(model).relaxed_as(RelaxedAs::Sync));
                (options.states_max, options.unroll) = (20_000, 2);
                judged += usize::from(hrf::check(&program, &options).is_ok());
                if n < 2 {
                    let mut left = 50;
                    let _ = hrf::advise_until(&program, &options, &mut || {
                        left -= 1;
                        left > 0
                    });
                }
            }
        }
    }
    assert!(judged > 200, "only {judged} verdicts");
}
