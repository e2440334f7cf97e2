//! Tests the generation of programs, and the differences between models that generated programs
//! show.

use std::collections::BTreeSet;

use litmus::generate::{
    Bound, Generated, Kind, LevelBound, Ordering, ProgramSkeleton, cycles, programs, sample,
    verdict_if_synchronized,
};
use litmus::hrf::{self, Model, Options, RaceKind, Reading};
use litmus::parse::parse;
use litmus::program::Level;

fn options(reading: Reading) -> Options {
    Options { first_race_only: true, ..Options::new(reading) }
}

fn race_free(generated: &Generated, reading: Reading) -> bool {
    hrf::check(&generated.program, &options(reading)).unwrap().is_race_free()
}

fn everything(threads: usize, operations: usize) -> Bound {
    Bound {
        kinds: vec![
            Kind::Load,
            Kind::Store,
            Kind::SyncLoad,
            Kind::SyncStore,
            Kind::Await,
            Kind::ConditionalLoad,
            Kind::Exchange,
            Kind::Fence,
            Kind::Barrier,
        ],
        ..Bound::new(threads, operations, 2)
    }
}

/// The programs as texts that show only the operations of each thread. The texts leave out the
/// scope trees, the lines of locations and the placements of threads.
fn shapes(generated: impl Iterator<Item = Generated>) -> BTreeSet<String> {
    let letter = |kind: Kind| match kind {
        Kind::Load => 'r',
        Kind::Store => 'w',
        _ => '?',
    };
    let thread = |skeleton: &ProgramSkeleton, t: usize| -> String {
        let ops = skeleton.threads[t].iter();
        ops.map(|op| format!("{}{}", letter(op.kind), op.location)).collect()
    };
    generated
        .map(|generated| {
            let skeleton = &generated.skeleton;
            (0..skeleton.threads.len()).map(|t| thread(skeleton, t)).collect::<Vec<_>>().join("|")
        })
        .collect()
}

#[test]
fn two_threads_and_two_locations_have_the_six_classic_cycles() {
    let bound = Bound {
        levels: vec![LevelBound { level: Level::System, instances_max: 1 }],
        kinds: vec![Kind::Load, Kind::Store],
        ..Bound::new(2, 4, 2)
    };
    // 2+2W, R, SB, MP, S and LB.
    let found = shapes(cycles(&bound));
    assert_eq!(found.len(), 6, "{found:?}");
    for shape in ["w0w1|w1w0", "r0w1|r1w0", "w0r1|w1r0"] {
        assert!(found.contains(shape), "{shape} is not in {found:?}");
    }
}

#[test]
fn three_threads_have_the_chains_of_the_paper() {
    let bound = Bound {
        threads_min: 3,
        levels: vec![LevelBound { level: Level::System, instances_max: 1 }],
        kinds: vec![Kind::Load, Kind::Store],
        ..Bound::new(3, 6, 3)
    };
    let found = shapes(cycles(&bound));
    let normal = |shape: &str| shape.split('|').map(str::len).collect::<Vec<_>>();
    // WRC and RWC have a thread with one access. In ISA2 and 3.SB, every thread has two accesses.
    assert!(found.iter().any(|shape| normal(shape).contains(&2)), "{found:?}");
    let isa2 = found.iter().any(|shape| {
        let threads: Vec<&str> = shape.split('|').collect();
        let kinds = |t: &str| t.chars().filter(|c| c.is_alphabetic()).collect::<String>();
        let mut kinds: Vec<String> = threads.into_iter().map(kinds).collect();
        kinds.sort();
        kinds == ["rr", "rw", "ww"]
    });
    assert!(isa2, "{found:?}");
}

#[test]
fn no_sequentially_consistent_execution_closes_a_cycle() {
    let mut count = 0;
    for generated in cycles(&Bound::new(3, 6, 3)).step_by(53) {
        let verdict = hrf::check(&generated.program, &Options::new(Reading::of(Model::Drf))).unwrap();
        assert!(!verdict.condition_met(&generated.program), "{}", generated.to_text());
        count += 1;
    }
    assert!(count > 100);
    // If all accesses are relaxed, the model allows the outcome of nearly every shape of a cycle of
    // two threads.
    let relaxed = Bound {
        levels: vec![LevelBound { level: Level::System, instances_max: 1 }],
        kinds: vec![Kind::SyncLoad, Kind::SyncStore],
        orderings: vec![Ordering::Relaxed],
        ..Bound::new(2, 4, 2)
    };
    let model = litmus::cat::shipped("rc11").unwrap().unwrap();
    let opens: Vec<bool> = cycles(&relaxed)
        .map(|generated| {
            litmus::check::check(&generated.program, &model, &mut Default::default()).unwrap().verdict
        })
        .collect();
    // All shapes except load buffering, which RC11 forbids.
    assert_eq!(opens.iter().filter(|&&open| open).count(), 5);
    assert_eq!(opens.len(), 6);
}

/// Compares the numbers of generated programs with known numbers. A different number means that
/// programs are missing or are generated twice.
#[test]
fn the_number_of_programs_of_a_bound_is_known() {
    // In one work-group there are 3 writes and 5 reads: 6 pairs of writes, and 15 pairs of a write
    // and a read. In two work-groups, with the device scope only, there are 3 pairs of writes and 6
    // pairs of a write and a read.
    assert_eq!(programs(&Bound::new(2, 2, 1)).count(), 21 + 9);
    assert_eq!(programs(&everything(2, 3)).count(), 1555);
    let texts: BTreeSet<String> =
        programs(&everything(2, 3)).map(|m| m.skeleton.build("P").to_text()).collect();
    assert_eq!(texts.len(), 1555);
}

#[test]
fn the_text_of_a_program_is_the_program() {
    let mut bound = Bound { orderings: vec![Ordering::AcquireRelease, Ordering::SeqCst], ..everything(2, 3) };
    bound.kinds.push(Kind::Take);
    let chosen = programs(&bound).step_by(17).chain(cycles(&Bound::new(3, 6, 2)).step_by(97).take(200));
    for generated in chosen {
        let text = generated.to_text();
        let read = parse(&text).unwrap_or_else(|error| panic!("{error} in {text}"));
        for reading in [Reading::of(Model::HrfDirect), Reading::of(Model::HrfIndirect).same_location()] {
            let ours = hrf::check(&generated.program, &Options::new(reading)).unwrap();
            let theirs = hrf::check(&read, &Options::new(reading)).unwrap();
            assert_eq!(ours.states, theirs.states, "{text}");
            assert_eq!(ours.races.len(), theirs.races.len(), "{text}");
        }
    }
}

#[test]
fn the_same_bound_and_seed_make_the_same_programs() {
    let bound = Bound::new(4, 10, 3);
    let first: Vec<String> = sample(&bound, 7).take(50).map(|generated| generated.to_text()).collect();
    let again: Vec<String> = sample(&bound, 7).take(50).map(|generated| generated.to_text()).collect();
    let other: Vec<String> = sample(&bound, 8).take(50).map(|generated| generated.to_text()).collect();
    assert_eq!(first, again);
    assert_ne!(first, other);
}

#[test]
fn a_sample_keeps_within_its_bound() {
    let bound = Bound { compute_units_max: 2, words_of_line_max: 2, ..Bound::new(4, 9, 3) };
    let mut largest = 0;
    for generated in sample(&bound, 1).take(300) {
        largest = largest.max(generated.operations());
        assert!(
            generated.operations() <= 9 && generated.program.threads.len() <= 4,
            "{}",
            generated.to_text()
        );
        assert!(
            generated.program.locations.len() <= 3
                && generated.lines.len() == generated.program.locations.len()
        );
        assert!(generated.compute_units.iter().all(|&unit| unit < 2));
        for line in &generated.lines {
            assert!(generated.lines.iter().filter(|l| *l == line).count() <= 2);
        }
    }
    assert_eq!(largest, 9);
}

#[test]
fn threads_of_a_work_group_share_a_compute_unit() {
    let bound = Bound { compute_units_max: 2, ..Bound::new(3, 3, 1) };
    let mut shared = 0;
    for generated in programs(&bound) {
        let groups = &generated.skeleton.tree[0];
        for t in 0..groups.len() {
            for u in 0..t {
                let same = generated.compute_units[t] == generated.compute_units[u];
                assert!(groups[t] != groups[u] || same, "{:?}", generated.skeleton);
                shared += usize::from(groups[t] != groups[u] && same);
            }
        }
    }
    assert!(shared > 0);
}

#[test]
fn some_programs_test_synchronization_and_straight_lines_do_not() {
    let straight = Bound {
        kinds: vec![Kind::Load, Kind::Store, Kind::SyncLoad, Kind::SyncStore],
        ..Bound::new(2, 4, 2)
    };
    let reading = Reading::of(Model::HrfIndirect);
    let is_synchronized =
        |generated: &Generated| verdict_if_synchronized(generated, &Options::new(reading)).unwrap().is_some();
    assert_eq!(programs(&straight).filter(is_synchronized).count(), 0);
    let waiting = Bound { kinds: vec![Kind::Store, Kind::SyncStore, Kind::Await], ..Bound::new(2, 4, 2) };
    assert!(programs(&waiting).filter(is_synchronized).count() > 0);
    let conditional = Bound {
        kinds: vec![Kind::Load, Kind::Store, Kind::SyncStore, Kind::ConditionalLoad],
        ..Bound::new(2, 4, 2)
    };
    assert!(programs(&conditional).filter(is_synchronized).count() > 0);
}

/// The claim `hrf.sec4.compat`: a program that is race-free under HRF-direct is race-free under
/// HRF-indirect.
#[test]
fn programs_race_free_under_direct_are_race_free_under_indirect() {
    let direct = Reading::of(Model::HrfDirect);
    let indirect = Reading::of(Model::HrfIndirect);
    let mut free = 0;
    let generated = programs(&everything(2, 3)).chain(cycles(&Bound::new(3, 6, 3)).step_by(11));
    for generated in generated.chain(sample(&Bound::new(4, 8, 3), 1).take(300)) {
        for (direct, indirect) in [
            (direct, indirect),
            (direct.same_location(), indirect.same_location()),
            (direct.with_inclusion(), indirect.with_inclusion()),
        ] {
            if race_free(&generated, direct) {
                free += 1;
                assert!(race_free(&generated, indirect), "{}", generated.to_text());
            }
        }
    }
    assert!(free > 100, "only {free} race-free");
}

/// The claim `hrf.sec51.drf`: in programs with system scope only, all races are ordinary races, and
/// all HRF models give the same answers on the race-free programs.
#[test]
fn programs_of_system_scope_without_ordinary_race_are_race_free_under_both() {
    let bound =
        Bound { levels: vec![LevelBound { level: Level::System, instances_max: 1 }], ..everything(3, 3) };
    let mut free = 0;
    for generated in programs(&bound) {
        let drf = hrf::check(&generated.program, &Options::new(Reading::of(Model::Drf))).unwrap();
        assert!(drf.races.iter().all(|race| race.pair.kind == RaceKind::Ordinary));
        if !drf.is_race_free() {
            continue;
        }
        free += 1;
        for model in [Model::HrfDirect, Model::HrfIndirect] {
            let verdict = hrf::check(&generated.program, &Options::new(Reading::of(model))).unwrap();
            assert!(verdict.is_race_free(), "{model}: {}", generated.to_text());
            assert_eq!(verdict.states, drf.states, "{model}: {}", generated.to_text());
        }
    }
    assert!(free > 100, "only {free} race-free");
}
