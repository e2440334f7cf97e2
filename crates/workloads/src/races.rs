//! Small kernels, each with a different kind of race, and the repair of each kernel. A detector
//! must report the race and must not report the repaired kernel.
//!
//! The answers of the kernels may be right in spite of the race: a program has a race independently
//! of the timing of a run.

use kernel::prelude::*;

use crate::instance::{Instance, Purpose, Room, Sizes, Workload};
use crate::locks::{lock, unlock};
use crate::settings::{Setting, Settings};

const REPAIRED: Setting = Setting::policy(
    "repaired",
    &[("no", "the kernel has a race"), ("yes", "the kernel synchronizes, so it has no race")],
    "whether the race of the kernel is repaired",
);

macro_rules! gallery {
    ($($(#[doc = $doc:literal])+ $id:ident = $name:literal, $summary:literal, $origin:literal, $body:ident;)+) => {
        $(
            $(#[doc = $doc])+
            pub(crate) static $id: Workload = Workload {
                name: $name,
                summary: $summary,
                origin: $origin,
                room: Room::Trial,
                purpose: Purpose::Race,
                sizes: Sizes::DEFAULT,
                settings: &[REPAIRED],
                make: |settings, _| Ok(instance($name, settings, $body)),
            };
        )+
    };
}

gallery! {
    /// An atomic flag announces plain data. Nothing orders the accesses to the data.
    MISSING_FENCE = "race-missing-fence",
        "a relaxed flag publishes data, without a fence on either side", "ours", missing_fence;
    /// A release of a flag at work-group scope does not reach the acquire of another work-group.
    NARROW_SCOPE = "race-narrow-scope",
        "a flag is released at work-group scope and acquired by another work-group", "ours", narrow_scope;
    /// One of two work-groups updates a counter without acquiring the lock that protects it.
    UNLOCKED_UPDATE = "race-unlocked-update",
        "one work-group updates a counter under a lock, the other one without it", "ours", unlocked_update;
    /// Work-groups wait for each other at a barrier, but the barrier does not order their data.
    BLOCK_BARRIER = "race-block-barrier",
        "a barrier between work-groups with fences at work-group scope", "HRF paper (ASPLOS 2014), Figure 3, with a fault", block_barrier;
    /// Two work-groups use one lock at different scopes, so both can hold it at the same time.
    TWO_SCOPE_LOCK = "race-two-scope-lock",
        "one work-group takes a lock at device scope, the other one at work-group scope", "ours", two_scope_lock;
    /// Plain loads wait for a flag: the compiler and the cache may keep its first value forever.
    PLAIN_SPIN = "race-plain-spin",
        "waits for a flag with plain loads, a limited number of times", "ours", plain_spin;
    /// A reader sees a flag, but makes no acquire. It may miss the data that the flag announces.
    NO_ACQUIRE = "race-no-acquire",
        "a flag is released, but the reader does not acquire it", "ours", no_acquire;
}

/// The arrays of the kernels. No two arrays share a line.
#[derive(Clone, Copy)]
struct Shared {
    flag: Array<u32>,
    data: Array<u32>,
    seen: Array<u32>,
    /// Whether the kernel synchronizes correctly, so that it has no race.
    repaired: bool,
}

type Body<F> = fn(Wave, Shared) -> F;

/// Makes a program with a kernel of two work-groups. One lane is active in each.
fn instance<F>(name: &'static str, settings: &Settings, body: Body<F>) -> Instance
where
    F: Future<Output = ()> + 'static,
{
    let repaired = settings.is("repaired", "yes");
    let program = Program::new(name, move |host| async move {
        let shared = Shared {
            flag: host.alloc("flag", 1),
            data: host.alloc("data", 2),
            seen: host.alloc("seen", 2),
            repaired,
        };
        let uses = [shared.flag.read_write(), shared.data.read_write(), shared.seen.write()];
        let kernel = Kernel::new(name, move |w: Wave| body(w.leader(), shared)).uses(uses);
        host.launch(kernel, Grid::new(2, 1)).await;
        Answer::new()
    });
    Instance::new(program, |_| Ok(()))
}

const DEVICE: Level = Level::Device;

/// A wait for a flag ends after this many reads, because a race could make the wait endless.
const ATTEMPTS: u32 = 64;

async fn missing_fence(w: Wave, s: Shared) {
    if w.work_group() == 0 {
        w.store(s.data, 0, 1).await;
        if s.repaired {
            w.fence(release(DEVICE)).await;
        }
        w.atomic_store(s.flag, 0, 1, relaxed(DEVICE)).await;
    } else {
        while w.atomic_load(s.flag, 0, relaxed(DEVICE)).await == 0 {}
        if s.repaired {
            w.fence(acquire(DEVICE)).await;
        }
        let data = w.load(s.data, 0).await;
        w.store(s.seen, 0, data).await;
    }
}

async fn narrow_scope(w: Wave, s: Shared) {
    let level = if s.repaired { DEVICE } else { Level::WorkGroup };
    if w.work_group() == 0 {
        w.store(s.data, 0, 1).await;
        w.atomic_store(s.flag, 0, 1, release(level)).await;
    } else {
        // The flag may stay invisible until the kernel ends, so the number of reads is limited.
        for _ in 0..ATTEMPTS {
            if w.atomic_load(s.flag, 0, acquire(DEVICE)).await != 0 {
                let data = w.load(s.data, 0).await;
                w.store(s.seen, 0, data).await;
                return;
            }
        }
    }
}

async fn unlocked_update(w: Wave, s: Shared) {
    let is_locked = w.work_group() == 0 || s.repaired;
    if is_locked {
        lock(&w, s.flag, DEVICE).await;
    }
    let old = w.load(s.data, 0).await;
    w.store(s.data, 0, old + 1).await;
    if is_locked {
        unlock(&w, s.flag, DEVICE).await;
    }
}

async fn block_barrier(w: Wave, s: Shared) {
    let level = if s.repaired { DEVICE } else { Level::WorkGroup };
    let (me, other) = (u64::from(w.work_group()), u64::from(1 - w.work_group()));
    w.store(s.data, me, 1).await;
    w.fence(release(level)).await;
    w.update(s.flag, 0, RmwKind::Add, 1, relaxed(DEVICE)).await;
    while w.atomic_load(s.flag, 0, relaxed(DEVICE)).await != 2 {}
    w.fence(acquire(level)).await;
    let data = w.load(s.data, other).await;
    w.store(s.seen, me, data).await;
}

async fn two_scope_lock(w: Wave, s: Shared) {
    let level = if s.repaired || w.work_group() == 0 { DEVICE } else { Level::WorkGroup };
    for _ in 0..ATTEMPTS {
        if w.compare_exchange(s.flag, 0, 0, 1, acquire(level)).await == 0 {
            let old = w.load(s.data, 0).await;
            w.store(s.data, 0, old + 1).await;
            return unlock(&w, s.flag, level).await;
        }
    }
}

async fn plain_spin(w: Wave, s: Shared) {
    if w.work_group() == 0 {
        w.store(s.data, 0, 1).await;
        w.fence(release(DEVICE)).await;
        if s.repaired {
            w.atomic_store(s.flag, 0, 1, release(DEVICE)).await;
        } else {
            w.store(s.flag, 0, 1).await;
        }
        return;
    }
    for _ in 0..ATTEMPTS {
        let flag = if s.repaired {
            w.atomic_load(s.flag, 0, acquire(DEVICE)).await
        } else {
            w.load(s.flag, 0).await
        };
        if flag != 0 {
            let data = w.load(s.data, 0).await;
            w.store(s.seen, 0, data).await;
            return;
        }
    }
}

async fn no_acquire(w: Wave, s: Shared) {
    let order = if s.repaired { acquire(DEVICE) } else { relaxed(DEVICE) };
    if w.work_group() == 0 {
        w.store(s.data, 0, 1).await;
        w.atomic_store(s.flag, 0, 1, release(DEVICE)).await;
    } else {
        while w.atomic_load(s.flag, 0, order).await == 0 {}
        let data = w.load(s.data, 0).await;
        w.store(s.seen, 0, data).await;
    }
}
