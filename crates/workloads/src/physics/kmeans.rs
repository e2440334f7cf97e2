//! Clustering by k-means (Lloyd's iteration).
//!
//! The kernel `swap` transposes the features, so that consecutive work-items read consecutive
//! words. Each iteration assigns every point to its nearest centre, and computes the means of the
//! clusters. With the default policy, the host computes the means from the copied assignment, as in
//! Rodinia. With the policy `device-update`, kernels compute the means by atomic additions. The
//! host decides whether another iteration follows.
//!
//! Features are multiples of 1/256, so that all sums are exact and their order does not matter. If
//! the points come from a file, each feature is shifted and scaled to the range from 0 to 1, and
//! rounded to such multiples.

use std::borrow::Cow;
use std::sync::Arc;

use kernel::prelude::*;
use kernel::rng::Rng;

use super::grid_of;
use crate::files::numbers::Table;
use crate::inputs::{NumberFile, NumberProgram, Numbers};
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload};
use crate::settings::{BadSetting, Setting, Settings};

pub(crate) static KMEANS: Workload = Workload {
    name: "kmeans",
    summary: "clusters points by k-means: each iteration assigns points and computes means",
    origin: "Rodinia (IISWC 2009), kmeans; Hechtman's thesis (2014), Table 3.2; Dalmia's thesis (2023)",
    room: Room::Physics,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("points", "700"), ("features", "3"), ("iterations", "4")],
        small: &[],
        // The size `paper` has the features and clusters of the data set kdd_cup, and an eighth of
        // its points.
        paper: &[("points", "64k"), ("features", "34"), ("iterations", "20")],
    },
    settings: &[
        Setting::count("points", 4096, 1, 1 << 22, "number of points"),
        Setting::count("features", 8, 1, 256, "number of features of a point"),
        Setting::count("clusters", 5, 1, 256, "number of clusters"),
        Setting::count("iterations", 5, 1, 500, "maximum number of iterations"),
        Setting::count(
            "threshold",
            0,
            0,
            1 << 22,
            "the iterations end when at most this number of points change their cluster",
        ),
        Setting::policy(
            "means",
            &[
                ("host-update", "the host computes the means from the memberships"),
                ("device-update", "kernels compute the means by atomic additions"),
            ],
            "where the means are computed",
        ),
    ],
    make: |settings, seed| kmeans(settings, seed),
};

/// The number of steps into which the range of a feature, from 0 to 1, is divided.
const STEPS: u64 = 256;

/// The numbers of points, features and clusters of a problem.
#[derive(Clone, Copy, Debug)]
struct Problem {
    points: u64,
    features: u64,
    clusters: u64,
    iterations: u64,
    threshold: u64,
}

impl Problem {
    /// Random points near random centres. All features of a point are adjacent.
    fn points(&self, seed: u64) -> Vec<f32> {
        let mut rng = Rng::new(seed);
        let centres: Vec<u64> = (0..self.clusters * self.features).map(|_| rng.below(STEPS)).collect();
        let mut points = Vec::new();
        for _ in 0..self.points {
            let first = (rng.below(self.clusters) * self.features) as usize;
            for centre in &centres[first..first + self.features as usize] {
                let step = (centre + rng.below(STEPS / 2)) % STEPS;
                points.push(step as f32 / STEPS as f32);
            }
        }
        points
    }

    /// The points in a file, after each feature is scaled to the range from 0 to 1 and rounded.
    fn scaled(table: &Table) -> Vec<f32> {
        let features = table.columns() as usize;
        let range = |feature: usize| {
            let column = || table.column(feature).map(f64::from);
            let least = column().fold(f64::INFINITY, f64::min);
            (least, column().fold(f64::NEG_INFINITY, f64::max) - least)
        };
        let ranges: Vec<(f64, f64)> = (0..features).map(range).collect();
        let scaled = |(at, value): (usize, &f32)| {
            let (least, width) = ranges[at % features];
            let share = if width > 0.0 { (f64::from(*value) - least) / width } else { 0.0 };
            (share * STEPS as f64).round() as f32 / STEPS as f32
        };
        table.numbers().iter().enumerate().map(scaled).collect()
    }

    /// The centres before the first iteration. They are the first points, as in Rodinia.
    fn first_centres(&self, points: &[f32]) -> Vec<f32> {
        points.iter().copied().cycle().take((self.clusters * self.features) as usize).collect()
    }

    /// Replaces each centre by the mean of its cluster. The centre of an empty cluster stays.
    fn update(&self, points: &[f32], membership: &[u32], centres: &mut [f32]) {
        let features = self.features as usize;
        let mut sums = vec![0_u32; centres.len()];
        let mut counts = vec![0_u32; self.clusters as usize];
        for (point, cluster) in points.chunks(features).zip(membership) {
            let first = *cluster as usize * features;
            counts[*cluster as usize] += 1;
            for (sum, feature) in sums[first..].iter_mut().zip(point) {
                *sum += (feature * STEPS as f32) as u32;
            }
        }
        for (at, centre) in centres.iter_mut().enumerate() {
            let count = counts[at / features];
            if count > 0 {
                *centre = sums[at] as f32 / (count as f32 * STEPS as f32);
            }
        }
    }
}

#[derive(Clone, Copy)]
struct Arrays {
    /// The features. All features of one point are adjacent, as in a file.
    by_point: Array<f32>,
    /// The features. The values of one feature for all points are adjacent.
    by_feature: Array<f32>,
    centres: Array<f32>,
    membership: Array<u32>,
    /// The number of points whose cluster changed in the current iteration.
    changed: Array<u32>,
    /// The sums of the features of each cluster, in units of 1/256. The next array, `counts`, has
    /// the number of points of each cluster.
    sums: Array<u32>,
    counts: Array<u32>,
}

/// Copies the features from `by_point` to `by_feature`.
async fn swap(w: Wave, a: Arrays, features: u64) {
    let base = w.first_item();
    let w = w.below(base, a.membership.len());
    for feature in 0..features {
        let from = w.item() * (features as u32) + feature as u32;
        let value = w.load(a.by_point, from).await;
        w.store(a.by_feature, Unit(feature * a.membership.len() + base), value).await;
    }
}

/// Finds the nearest centre of each point, and counts the points whose cluster changes.
async fn assign(w: Wave, a: Arrays, features: u64, clusters: u64) {
    let base = w.first_item();
    let w = w.below(base, a.membership.len());
    let mut nearest = Lanes::splat(0_u32);
    let mut least = Lanes::splat(f32::MAX);
    for cluster in 0..clusters {
        let mut distance = Lanes::splat(0.0_f32);
        for feature in 0..features {
            let value = w.load(a.by_feature, Unit(feature * a.membership.len() + base));
            let centre = w.load(a.centres, cluster * features + feature).await;
            let apart = value.await - centre;
            distance += apart * apart;
        }
        let nearer = distance.lt(least);
        least = Lanes::select(nearer, distance, least);
        nearest = Lanes::select(nearer, cluster as u32, nearest);
    }
    let before = w.load(a.membership, Unit(base)).await;
    let moved = w.when(before.ne(nearest));
    w.store(a.membership, Unit(base), nearest);
    w.update(a.changed, 0, RmwKind::Add, moved.mask().count(), relaxed(Level::Device).commutative()).await;
}

/// Adds the features of each point to the sums of the point's cluster.
async fn accumulate(w: Wave, a: Arrays, features: u64) {
    let base = w.first_item();
    let w = w.below(base, a.membership.len());
    let adds = relaxed(Level::Device).commutative();
    let cluster = w.load(a.membership, Unit(base)).await;
    w.update(a.counts, cluster, RmwKind::Add, Lanes::splat(1), adds);
    for feature in 0..features {
        let value = w.load(a.by_feature, Unit(feature * a.membership.len() + base)).await;
        let steps = (value * STEPS as f32).to_u32();
        w.update(a.sums, cluster * (features as u32) + feature as u32, RmwKind::Add, steps, adds).await;
    }
}

/// Divides the sums of each cluster by its number of points, which gives the new centre. Clears the
/// sums.
async fn divide(w: Wave, a: Arrays, features: u64) {
    let base = w.first_item();
    let w = w.below(base, a.centres.len());
    let count = w.load(a.counts, w.item() / (features as u32)).await;
    let sum = w.load(a.sums, Unit(base)).await;
    w.store(a.sums, Unit(base), Lanes::splat(0));
    let mean = sum.to_f32() / (count.to_f32() * STEPS as f32);
    w.when(count.ne(0)).store(a.centres, Unit(base), mean).await;
}

impl Problem {
    fn arrays(&self, host: &Host) -> Arrays {
        Arrays {
            by_point: host.alloc("points", self.points * self.features),
            by_feature: host.alloc("features", self.points * self.features),
            centres: host.alloc("centres", self.clusters * self.features),
            membership: host.alloc("membership", self.points),
            changed: host.alloc("changed", 1),
            sums: host.alloc("sums", self.clusters * self.features),
            counts: host.alloc("counts", self.clusters),
        }
    }

    /// Computes the means of the clusters by kernels.
    async fn update_on_device(self, host: &Host, a: Arrays) {
        let (shape, features) = (host.shape(), self.features);
        host.write(a.counts, &vec![0; self.clusters as usize]).await;
        let uses = [
            a.membership.read().in_parts(GROUP_ITEMS),
            a.by_feature.read(),
            a.counts.read_write(),
            a.sums.read_write(),
        ];
        let kernel = Kernel::new("accumulate", move |w| accumulate(w, a, features)).uses(uses);
        host.launch(kernel, grid_of(&shape, self.points, GROUP_ITEMS)).await;
        let uses = [a.counts.read(), a.sums.read_write(), a.centres.write()];
        let kernel = Kernel::new("divide", move |w| divide(w, a, features)).uses(uses);
        host.launch(kernel, grid_of(&shape, a.centres.len(), GROUP_ITEMS)).await;
    }

    async fn run(self, host: Host, points: Cow<'_, [f32]>, on_host: bool) -> Answer {
        let a = self.arrays(&host);
        let (features, clusters) = (self.features, self.clusters);
        let mut centres = self.first_centres(&points);
        host.write(a.by_point, &points).await;
        host.write(a.centres, &centres).await;
        host.write(a.membership, &vec![u32::MAX; self.points as usize]).await;
        let grid = grid_of(&host.shape(), self.points, GROUP_ITEMS);
        let uses = [a.by_point.read().in_parts(GROUP_ITEMS * features), a.by_feature.write()];
        host.launch(Kernel::new("swap", move |w| swap(w, a, features)).uses(uses), grid).await;
        for _ in 0..self.iterations {
            host.write(a.changed, &[0]).await;
            let uses = [
                a.by_feature.read(),
                a.centres.read(),
                a.membership.read_write().in_parts(GROUP_ITEMS),
                a.changed.read_write(),
            ];
            let kernel = Kernel::new("assign", move |w| assign(w, a, features, clusters));
            host.launch(kernel.uses(uses), grid).await;
            let changed = host.read(a.changed).await.first().copied().unwrap_or(0);
            if on_host {
                self.update(&points, &host.read(a.membership).await, &mut centres);
                host.write(a.centres, &centres).await;
            } else {
                self.update_on_device(&host, a).await;
            }
            if u64::from(changed) <= self.threshold {
                break;
            }
        }
        Answer::new()
            .with_array("membership", &host, a.membership)
            .await
            .with_array("centres", &host, a.centres)
            .await
    }

    /// The clusters of all points and the centres, computed on the host point by point.
    fn reference(&self, points: &[f32]) -> (Vec<u32>, Vec<f32>) {
        let features = self.features as usize;
        let mut centres = self.first_centres(points);
        let mut membership = vec![u32::MAX; self.points as usize];
        for _ in 0..self.iterations {
            let mut changed = 0;
            for (point, cluster) in points.chunks(features).zip(&mut membership) {
                let distance = |centre: &[f32]| {
                    let apart = point.iter().zip(centre).map(|(a, b)| a - b);
                    apart.fold(0.0_f32, |sum, apart| sum + apart * apart)
                };
                let distances: Vec<f32> = centres.chunks(features).map(distance).collect();
                let nearest =
                    (0..distances.len()).min_by(|a, b| distances[*a].total_cmp(&distances[*b])).unwrap_or(0);
                changed += u64::from(*cluster != nearest as u32);
                *cluster = nearest as u32;
            }
            self.update(points, &membership, &mut centres);
            if changed <= self.threshold {
                break;
            }
        }
        (membership, centres)
    }
}

impl Problem {
    fn of(settings: &Settings) -> Problem {
        let count = |name| settings.count(name);
        Problem {
            points: count("points"),
            features: count("features"),
            clusters: count("clusters"),
            iterations: count("iterations"),
            threshold: count("threshold"),
        }
    }
}

fn kmeans(settings: &Settings, seed: u64) -> Result<Instance, BadSetting> {
    let problem = Problem::of(settings);
    // The arrays are the features in both orders, and the cluster of each point.
    settings.limit_arrays(&["points", "features"], 4 * problem.points * (2 * problem.features + 1))?;
    clustering(problem, Numbers::generated(move || problem.points(seed)), settings)
}

/// The form of the workload that reads its points from a file.
pub(crate) const KMEANS_ON_FILES: NumberProgram = NumberProgram {
    workload: &KMEANS,
    files: |settings| {
        let features = (settings.count("features"), "the setting `features`");
        vec![NumberFile::new("points", "point", features, settings.count("clusters")..=1 << 22)]
    },
    settings: &["points"],
    make: |tables, settings, _| {
        let problem = Problem { points: tables[0].rows(), ..Problem::of(settings) };
        let scaled = Table::new(problem.features, Problem::scaled(&tables[0]));
        clustering(problem, Numbers::Given(Arc::new(scaled)), settings)
    },
};

fn clustering(problem: Problem, points: Numbers, settings: &Settings) -> Result<Instance, BadSetting> {
    if problem.clusters > problem.points {
        let (clusters, points) = (problem.clusters, problem.points);
        return Err(
            settings.conflict(format!("{clusters} clusters need at least as many points, not {points}"))
        );
    }
    let on_host = settings.is("means", "host-update");
    let of_program = points.clone();
    let program =
        Program::new("kmeans", move |host| async move { problem.run(host, of_program.get(), on_host).await });
    Ok(Instance::new(program, move |answer| {
        let (membership, centres) = problem.reference(&points.get());
        answer.expect("membership", &membership)?;
        answer.expect("centres", &centres)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_clusters_on_a_line_are_found() {
        let problem = Problem { points: 4, features: 1, clusters: 2, iterations: 10, threshold: 0 };
        // The first centres are 0 and 0.25. The third and the fourth point belong to the second
        // cluster and move its centre away.
        let (membership, centres) = problem.reference(&[0.0, 0.25, 0.75, 0.875]);
        assert_eq!(membership, [0, 0, 1, 1]);
        assert_eq!(centres, [0.125, 0.8125]);
    }

    #[test]
    fn features_of_a_file_are_scaled_to_steps_from_0_to_1() {
        let table = Table::new(2, vec![10.0, 5.0, 30.0, 5.0, 15.0, 5.0]);
        assert_eq!(Problem::scaled(&table), [0.0, 0.0, 1.0, 0.0, 0.25, 0.0]);
        let wide = Table::new(1, vec![f32::MIN, f32::MAX, 0.0]);
        assert_eq!(Problem::scaled(&wide), [0.0, 1.0, 0.5]);
    }

    #[test]
    fn more_clusters_than_points_are_refused() {
        let mut settings = KMEANS.defaults();
        assert_eq!(settings.set("points", "3"), Ok(()));
        let error = KMEANS.instance(&settings, 0).map(|_| ()).map_err(|error| error.to_string());
        assert_eq!(
            error,
            Err("workload `kmeans`: 5 clusters need at least as many points, not 3".to_owned())
        );
    }
}
