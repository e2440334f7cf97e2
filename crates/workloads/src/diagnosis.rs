//! Programs that never end. A machine must stop them with a diagnosis.

use kernel::prelude::*;

use crate::instance::{Instance, Purpose, Room, Sizes, Workload};
use crate::settings::Setting;

pub(crate) static SPIN_FOREVER: Workload = Workload {
    name: "spin-forever",
    summary: "spins on a flag that is never set",
    origin: "ours",
    room: Room::Trial,
    purpose: Purpose::Diagnosis,
    sizes: Sizes::DEFAULT,
    settings: &[Setting::count("work-groups", 2, 1, 1 << 16, "number of one-wavefront work-groups")],
    make: |settings, _| Ok(program("spin-forever", settings.count("work-groups") as u32, 1, spin_forever)),
};

pub(crate) static BARRIER_SKIP: Workload = Workload {
    name: "barrier-skip",
    summary: "one wavefront ends while the others of its work-group wait at a barrier",
    origin: "ours",
    room: Room::Trial,
    purpose: Purpose::Diagnosis,
    sizes: Sizes::DEFAULT,
    settings: &[Setting::count("waves", 4, 2, 64, "number of wavefronts of the work-group")],
    make: |settings, _| Ok(program("barrier-skip", 1, settings.count("waves") as u32, barrier_skip)),
};

pub(crate) static SPIN_UNDISPATCHED: Workload = Workload {
    name: "spin-undispatched",
    summary: "all resident work-groups wait for a work-group that is never dispatched",
    origin: "ours",
    room: Room::Trial,
    purpose: Purpose::Diagnosis,
    sizes: Sizes::DEFAULT,
    settings: &[],
    make: |_, _| Ok(undispatched()),
};

type Body<F> = fn(Wave, Array<u32>) -> F;

fn program<F>(name: &'static str, groups: u32, waves: u32, body: Body<F>) -> Instance
where
    F: Future<Output = ()> + 'static,
{
    let program = Program::new(name, move |host| async move {
        let flag = host.alloc::<u32>("flag", 1);
        let kernel = Kernel::new(name, move |w| body(w, flag)).uses([flag.read_write()]);
        host.launch(kernel, Grid::new(groups, waves)).await;
        Answer::new()
    });
    Instance::new(program, |_| Ok(()))
}

async fn spin_forever(w: Wave, flag: Array<u32>) {
    while w.atomic_load(flag, 0, acquire(Level::Device)).await == 0 {}
}

async fn barrier_skip(w: Wave, _flag: Array<u32>) {
    if w.index() != 0 {
        w.barrier().await;
    }
}

/// Waits for a flag that only the last work-group of the grid sets.
async fn wait_for_last(w: Wave, flag: Array<u32>) {
    if w.work_group() + 1 == w.work_groups() {
        w.atomic_store(flag, 0, 1, release(Level::Device)).await;
    }
    while w.atomic_load(flag, 0, acquire(Level::Device)).await == 0 {}
}

fn undispatched() -> Instance {
    let program = Program::new("spin-undispatched", |host| async move {
        let flag = host.alloc::<u32>("flag", 1);
        let shape = host.shape();
        let room = shape.compute_units * shape.resident_per_cu(&Grid::new(1, 1));
        let kernel = Kernel::new("spin-undispatched", move |w| wait_for_last(w, flag));
        host.launch(kernel.uses([flag.read_write()]), Grid::new(room + 1, 1)).await;
        Answer::new()
    });
    Instance::new(program, |_| Ok(()))
}
