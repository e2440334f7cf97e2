//! Tests of the race detector, with small kernels that have known races or no races.

use kernel::prelude::*;
use sim::RunOptions;
use sim::config::System;
use sim::race::{Detector, Pairing, RaceModel, RaceOptions};
use zoo::vi::Vi;

const DEVICE: Level = Level::Device;
const GROUP: Level = Level::WorkGroup;

#[derive(Clone, Copy)]
struct Shared {
    flag: Array<u32>,
    data: Array<u32>,
}

/// The locations of the races that the detector finds in three runs of a kernel with this many
/// work-groups.
fn races<F>(options: RaceOptions, groups: u32, body: fn(Wave, Shared) -> F) -> Vec<String>
where
    F: Future<Output = ()> + 'static,
{
    let system: System = toml::from_str(include_str!("../../../../systems/hrf-8cu.toml")).expect("a machine");
    let mut detector = Detector::new(options);
    for seed in 0..3 {
        let program = Program::new("races", move |host| async move {
            let shared = Shared { flag: host.alloc("flag", 64 * 64), data: host.alloc("data", 64) };
            let uses = [shared.flag.read_write(), shared.data.read_write()];
            let kernel = Kernel::new("body", move |w: Wave| body(w, shared)).uses(uses);
            host.launch(kernel, Grid::new(groups, 1)).await;
            Answer::new()
        });
        let run = RunOptions { seed, ..RunOptions::default() };
        sim::run::<Vi, Detector>(&system, program, &run, &mut detector).expect("it ends");
    }
    detector.finish().races.into_iter().map(|race| race.location).collect()
}

fn all() -> Vec<RaceOptions> {
    let models = [RaceModel::Drf, RaceModel::HrfDirect, RaceModel::HrfIndirect];
    let pairings = [Pairing::SameLocation, Pairing::AnyLocation];
    models.iter().flat_map(|&model| pairings.map(|pairing| RaceOptions { model, pairing })).collect()
}

/// Many lanes make an atomic exchange on one word. The wavefront that sees the first exchange
/// continues before the last exchange.
#[test]
fn an_atomic_does_not_race_with_accesses_that_acquired_it() {
    async fn body(w: Wave, s: Shared) {
        if w.work_group() == 0 {
            let lines = w.lane_id() * 64;
            w.rmw(s.flag, lines, RmwKind::Exchange, Lanes::splat(1), release(DEVICE)).await;
            return;
        }
        let w = w.leader();
        while w.atomic_load(s.flag, 0, acquire(DEVICE)).await == 0 {}
        w.store(s.flag, 0, 2).await;
    }
    for options in all() {
        assert_eq!(races(options, 2, body), [""; 0], "{options:?}");
    }
}

/// The compare-exchange of the first lane fails and that of the second lane releases. No acquire
/// happens in between.
#[test]
fn a_release_by_one_lane_survives_the_failure_of_another() {
    async fn body(w: Wave, s: Shared) {
        if w.work_group() == 0 {
            w.leader().store(s.data, 0, 1).await;
            let two = w.below(0, 2);
            let expected = Lanes::from_fn(|lane| if lane == 0 { 7 } else { 0 });
            two.compare_exchange(s.flag, Lanes::splat(0), expected, Lanes::splat(1), release(DEVICE)).await;
            return;
        }
        let w = w.leader();
        while w.atomic_load(s.flag, 0, relaxed(DEVICE)).await == 0 {}
        let _late = (0..2000).fold(Lanes::splat(0u32), |sum, _| sum + 1);
        while w.atomic_load(s.flag, 0, acquire(DEVICE)).await == 0 {}
        w.store(s.data, 0, 2).await;
    }
    for options in all() {
        assert_eq!(races(options, 2, body), [""; 0], "{options:?}");
    }
}

/// A fence whose scope is too narrow to acquire a release does not prevent a later, wider fence
/// from acquiring it.
#[test]
fn a_wider_fence_acquires_what_an_earlier_narrow_one_did_not() {
    async fn body(w: Wave, s: Shared) {
        let w = w.leader();
        if w.work_group() == 0 {
            w.store(s.data, 0, 1).await;
            w.fence(release(DEVICE)).await;
            w.atomic_store(s.flag, 0, 1, relaxed(DEVICE)).await;
            return;
        }
        while w.atomic_load(s.flag, 0, relaxed(DEVICE)).await == 0 {}
        w.fence(acquire(GROUP)).await;
        w.fence(acquire(DEVICE)).await;
        w.store(s.data, 0, 2).await;
    }
    for options in all() {
        assert_eq!(races(options, 2, body), [""; 0], "{options:?}");
    }
}

/// A remote access synchronizes with an earlier access of narrower scope; an ordinary atomic does
/// not.
#[test]
fn a_remote_atomic_does_not_hide_a_narrow_one() {
    async fn body(w: Wave, s: Shared) {
        let w = w.leader();
        let wait = |rounds: u32| {
            let _late = (0..rounds).fold(Lanes::splat(0u32), |sum, _| sum + 1);
        };
        match w.work_group() {
            0 => w.atomic_store(s.flag, 0, 1, release(GROUP)).await,
            1 => {
                wait(2000);
                w.rmw(s.flag, 0, RmwKind::Add, 1, acq_rel(DEVICE).remote()).await;
            }
            _ => {
                wait(6000);
                w.rmw(s.flag, 0, RmwKind::Add, 1, acq_rel(DEVICE)).await;
            }
        }
    }
    for model in [RaceModel::HrfDirect, RaceModel::HrfIndirect] {
        let found = races(RaceOptions { model, ..RaceOptions::default() }, 3, body);
        assert_eq!(found, ["flag[0]"], "{model:?}");
    }
}
