//! Spin locks, which protect a shared counter or a shared ledger.

use kernel::prelude::*;

use crate::instance::{Instance, Purpose, Room, Sizes, Workload};
use crate::policy::{CUS, SCOPE, level, placement, require_room};
use crate::settings::{Setting, Settings};

pub(crate) static LOCK_COUNTER: Workload = Workload {
    name: "lock-counter",
    summary: "increments a counter behind a spin lock; the sum is wrong if the scope is too narrow",
    origin: "ours",
    room: Room::Synchronization,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("waves", "2"), ("increments", "5")],
        small: &[],
        paper: &[("increments", "256")],
    },
    settings: &[
        Setting::count("work-groups", 4, 1, 1 << 16, "number of work-groups"),
        Setting::count("waves", 1, 1, 64, "number of wavefronts of a work-group"),
        Setting::count("increments", 16, 1, 1 << 20, "number of increments by each wavefront"),
        SCOPE,
        CUS,
    ],
    make: |settings, _| Ok(lock_counter(settings)),
};

pub(crate) static FG_SHARE: Workload = Workload {
    name: "fg-share",
    summary: "all work-groups contend for a lock and update a shared ledger in place",
    origin: "STC paper (TACO 2023), sections 6 and 7",
    room: Room::Synchronization,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("work-groups", "20"), ("words", "100"), ("updates", "2")],
        small: &[],
        paper: &[("updates", "16")],
    },
    settings: &[
        Setting::count("work-groups", 64, 1, 1 << 16, "number of work-groups"),
        Setting::count("words", 256, 1, 1 << 20, "number of words of the ledger"),
        Setting::count("updates", 1, 1, 1 << 16, "number of updates by each work-group"),
        SCOPE,
    ],
    make: |settings, _| Ok(fg_share(settings)),
};

/// Acquires a spin lock by compare-exchange. After each failure, loads the lock until it is free.
pub(crate) async fn lock(w: &Wave, lock: Array<u32>, level: Level) {
    loop {
        if w.compare_exchange(lock, 0, 0, 1, acquire(level)).await == 0 {
            return;
        }
        while w.atomic_load(lock, 0, relaxed(level)).await != 0 {}
    }
}

/// Releases a spin lock by a release store.
pub(crate) async fn unlock(w: &Wave, lock: Array<u32>, level: Level) {
    w.atomic_store(lock, 0, 0, release(level)).await;
}

/// The arrays of the workload `lock-counter`. No two arrays share a line.
#[derive(Clone, Copy)]
struct SharedCounter {
    lock: Array<u32>,
    counter: Array<u32>,
    ready: Array<u32>,
    level: Level,
}

/// Waits until all wavefronts of the grid have arrived. The wait is relaxed: it orders no other
/// access.
async fn grid_barrier(w: &Wave, ready: Array<u32>) {
    let all = w.work_groups() * w.waves();
    let device = relaxed(Level::Device);
    w.update(ready, 0, RmwKind::Add, 1, device).await;
    while w.atomic_load(ready, 0, device).await < all {}
}

async fn increment(w: Wave, c: SharedCounter, times: u64) {
    let w = w.leader();
    // All wavefronts read the lock before any of them acquires it. Contention then starts at once,
    // and a machine with stale copies has copies of a free lock.
    let _free = w.atomic_load(c.lock, 0, relaxed(c.level)).await;
    grid_barrier(&w, c.ready).await;
    for _ in 0..times {
        lock(&w, c.lock, c.level).await;
        let old = w.load(c.counter, 0).await;
        w.store(c.counter, 0, old + 1).await;
        unlock(&w, c.lock, c.level).await;
    }
}

fn lock_counter(settings: &Settings) -> Instance {
    let (groups, waves) = (settings.count("work-groups") as u32, settings.count("waves") as u32);
    let times = settings.count("increments");
    let (level, placement) = (level(settings), placement(settings));
    let program = Program::new("lock-counter", move |host| async move {
        let c = SharedCounter {
            lock: host.alloc("lock", 1),
            counter: host.alloc("counter", 1),
            ready: host.alloc("ready", 1),
            level,
        };
        let grid = Grid::new(groups, waves).placed(placement);
        require_room(&host, &grid).await;
        let uses = [c.lock.read_write(), c.counter.read_write(), c.ready.read_write()];
        let kernel = Kernel::new("increment", move |w| increment(w, c, times)).uses(uses);
        host.launch(kernel, grid).await;
        Answer::new().with_array("counter", &host, c.counter).await
    });
    let sum = (u64::from(groups) * u64::from(waves) * times) as u32;
    Instance::new(program, move |answer| answer.expect("counter", &[sum]))
}

/// The amount that one update by a work-group adds to word `i` of the ledger.
fn amount(work_group: u32, i: u32) -> u32 {
    (work_group + 1).wrapping_mul(2 * i + 1)
}

async fn enter(w: Wave, gate: Array<u32>, ledger: Array<u32>, level: Level, updates: u64) {
    for _ in 0..updates {
        lock(&w, gate, level).await;
        let mut base = 0;
        while base < ledger.len() {
            let part = w.below(base, ledger.len());
            let old = part.load(ledger, Unit(base)).await;
            let add = Lanes::from_fn(|lane| amount(w.work_group(), base as u32 + lane as u32));
            part.store(ledger, Unit(base), old + add).await;
            base += u64::from(w.lanes());
        }
        unlock(&w, gate, level).await;
    }
}

fn fg_share(settings: &Settings) -> Instance {
    let (groups, words) = (settings.count("work-groups") as u32, settings.count("words"));
    let (updates, level) = (settings.count("updates"), level(settings));
    let program = Program::new("fg-share", move |host| async move {
        let (gate, ledger) = (host.alloc::<u32>("lock", 1), host.alloc::<u32>("ledger", words));
        let uses = [gate.read_write(), ledger.read_write()];
        let kernel = Kernel::new("enter", move |w| enter(w, gate, ledger, level, updates)).uses(uses);
        host.launch(kernel, Grid::new(groups, 1)).await;
        Answer::new().with_array("ledger", &host, ledger).await
    });
    Instance::new(program, move |answer| {
        let all = |i| (0..groups).fold(0u32, |sum, group| sum.wrapping_add(amount(group, i)));
        let ledger: Vec<u32> = (0..words as u32).map(|i| all(i).wrapping_mul(updates as u32)).collect();
        answer.expect("ledger", &ledger)
    })
}
