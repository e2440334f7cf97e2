//! The places that are nearest to a given place. A kernel computes all distances, and the host
//! picks the smallest ones.

use kernel::prelude::*;

use crate::data;
use crate::inputs::{NumberFile, NumberProgram, Numbers};
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload, grid_over};
use crate::settings::{BadSetting, Setting, Settings};

pub(crate) static NN: Workload = Workload {
    name: "nn",
    summary: "finds the nearest of many places by their latitudes and longitudes",
    origin: "Rodinia (2009); Hechtman thesis (2014), Table 3.2; Dalmia thesis (2023), Table 3.3",
    room: Room::Sorting,
    purpose: Purpose::Benchmark,
    // The size `paper` is that of Rodinia's list of hurricanes, which has 42764 places.
    sizes: Sizes { tiny: &[("n", "1000")], small: &[], paper: &[("n", "42764")] },
    settings: &[
        Setting::count("n", 42_764, 1, 1 << 26, "number of places"),
        Setting::count("nearest", 10, 1, 1 << 10, "number of nearest places to find"),
    ],
    make: nn,
};

/// The given place, to which the nearest places are searched: latitude 30 and longitude 90, as in
/// Table 3.3 of the Dalmia thesis.
const CENTRE: [f32; 2] = [30.0, 90.0];

/// Computes the distance from the given place to each place. The two coordinates of a place are
/// adjacent in memory.
async fn distances(w: Wave, places: Array<f32>, distances: Array<f32>) {
    let base = w.first_item();
    let at = w.item() * 2;
    let w = w.below(base, distances.len());
    let (latitude, longitude) = (w.load(places, at), w.load(places, at + 1));
    let (y, x) = (-latitude.await + CENTRE[0], -longitude.await + CENTRE[1]);
    w.store(distances, Unit(base), x.mul_add(x, y * y).sqrt());
}

/// Random places, with latitudes from 0 to 60 and longitudes from 0 to 180.
fn places(seed: u64, n: u64) -> Vec<f32> {
    let pairs = data::floats(seed, 2 * n).into_iter().enumerate();
    pairs.map(|(i, x)| (x + 1.0) * if i % 2 == 0 { 30.0 } else { 90.0 }).collect()
}

fn nn(settings: &Settings, seed: u64) -> Result<Instance, BadSetting> {
    let n = settings.count("n");
    nearest(n, Numbers::generated(move || places(seed, n)), settings)
}

/// The form of the workload that reads its places from a file.
pub(crate) const NN_ON_FILES: NumberProgram = NumberProgram {
    workload: &NN,
    files: |settings| {
        let rows = settings.count("nearest")..=1 << 26;
        let file = NumberFile::new("places", "place", (2, "latitude and longitude"), rows);
        vec![file.within(-FARTHEST..=FARTHEST)]
    },
    settings: &["n"],
    make: |tables, settings, _| nearest(tables[0].rows(), Numbers::Given(tables[0].clone()), settings),
};

/// The maximum magnitude of a coordinate in a file.
const FARTHEST: f32 = 1e9;

fn nearest(n: u64, places: Numbers, settings: &Settings) -> Result<Instance, BadSetting> {
    let wanted = settings.count("nearest");
    if wanted > n {
        return Err(
            settings.conflict(format!("`nearest` is {wanted}, expected at most the number of places, {n}"))
        );
    }
    let of_check = places.clone();
    let program = Program::new("nn", move |host| async move {
        let (all, to) = (host.alloc::<f32>("places", 2 * n), host.alloc::<f32>("distances", n));
        host.write(all, &places.get()).await;
        let kernel = Kernel::new("nn-distances", move |w| distances(w, all, to));
        let uses = [all.read().in_parts(2 * GROUP_ITEMS), to.write().in_parts(GROUP_ITEMS)];
        host.launch(kernel.uses(uses), grid_over(&host.shape(), n)).await;
        let mut distances = host.read(to).await;
        let answer = Answer::new().with("distances", &distances);
        // As in Rodinia, each of the nearest places is found by a pass over all distances.
        let mut nearest = Vec::new();
        for _ in 0..wanted {
            let least = (0..distances.len()).min_by(|&a, &b| distances[a].total_cmp(&distances[b]));
            let least = least.unwrap_or(0);
            nearest.push(least as u32);
            distances[least] = f32::INFINITY;
        }
        answer.with("nearest", &nearest)
    });
    Ok(Instance::new(program, move |answer| {
        let places = of_check.get();
        let distance = |place: &[f32]| {
            let (y, x) = (CENTRE[0] - place[0], CENTRE[1] - place[1]);
            x.mul_add(x, y * y).sqrt()
        };
        let distances: Vec<f32> = places.chunks(2).map(distance).collect();
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_by(|&a, &b| distances[a as usize].total_cmp(&distances[b as usize]));
        answer.expect("distances", &distances)?;
        answer.expect("nearest", &order[..wanted as usize])
    }))
}
