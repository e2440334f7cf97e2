//! Divides runs into chunks (groups of runs for one job) of about equal expected time.

use std::collections::BTreeSet;

/// The intended time of a chunk (the runs of one job), in seconds. It is long compared with the
/// time to start a job, and short enough that little work is lost if a job dies.
const CHUNK_SECONDS: f64 = 600.0;

/// The minimum number of chunks (groups of runs for one job). If there are fewer runs, the number
/// of runs is the minimum. The minimum applies even if all runs are expected to be short, because
/// the expected times may be wrong, and all nodes of the cluster should have work.
const CHUNKS_USUAL: usize = 32;

/// The properties of a run that decide its chunk (the group of runs that one job executes).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cost {
    /// The expected time of the run, in seconds.
    pub(super) seconds: f64,
    /// Whether the run is alone in its chunk (the group of runs that one job executes), because an
    /// earlier job died during this run.
    pub(super) is_alone: bool,
}

/// The number of chunks (groups of runs for one job) for the runs with these costs. `wanted` is the
/// number of chunks that the user asks for. `most` is the maximum number that the cluster allows.
fn count(costs: &[Cost], wanted: Option<usize>, most: usize) -> usize {
    let seconds: f64 = costs.iter().map(|cost| cost.seconds).sum();
    // A conversion from `f64` that is out of range gives the nearest value of the type.
    let by_time = (seconds / CHUNK_SECONDS).ceil() as usize;
    wanted.unwrap_or(by_time.max(CHUNKS_USUAL)).clamp(1, most.min(costs.len()).max(1))
}

/// Divides runs into chunks (groups of runs for one job). The result has, for each chunk, the
/// indices of its runs, the longest run first. A run with `is_alone` gets a chunk of its own, if
/// the cluster allows enough chunks. The other runs are assigned in order of decreasing time, each
/// to the chunk with the least time so far.
pub(super) fn divide(costs: &[Cost], wanted: Option<usize>, most: usize) -> Vec<Vec<usize>> {
    if costs.is_empty() {
        return Vec::new();
    }
    let mut alone: Vec<usize> = (0..costs.len()).filter(|&run| costs[run].is_alone).collect();
    let mut others: Vec<usize> = (0..costs.len()).filter(|&run| !costs[run].is_alone).collect();
    // If there are runs that may share a chunk, at least one chunk is reserved for them.
    let most = most.max(1);
    let has_room = alone.len() + usize::from(!others.is_empty()) <= most;
    let kept = if has_room { alone.len() } else { most - 1 };
    others.extend(alone.drain(kept..));
    let left = most - kept;
    let mut chunks: Vec<Vec<usize>> = alone.into_iter().map(|run| vec![run]).collect();
    if others.is_empty() {
        return chunks;
    }
    others.sort_by(|&a, &b| costs[b].seconds.total_cmp(&costs[a].seconds).then(a.cmp(&b)));
    let shared: Vec<Cost> = others.iter().map(|&run| costs[run]).collect();
    let count = count(&shared, wanted, left);
    let mut loads: BTreeSet<Load> = (0..count).map(|chunk| Load { seconds: 0.0, runs: 0, chunk }).collect();
    let first = chunks.len();
    chunks.resize(first + count, Vec::new());
    for run in others {
        let Some(least) = loads.pop_first() else { break };
        chunks[first + least.chunk].push(run);
        loads.insert(Load {
            seconds: least.seconds + costs[run].seconds,
            runs: least.runs + 1,
            chunk: least.chunk,
        });
    }
    // The longest chunks come first, because a cluster starts the tasks of an array in order.
    let time = |chunk: &Vec<usize>| chunk.iter().map(|&run| costs[run].seconds).sum::<f64>();
    let mut timed: Vec<(f64, Vec<usize>)> = chunks.into_iter().map(|chunk| (time(&chunk), chunk)).collect();
    timed.sort_by(|(a, of_a), (b, of_b)| b.total_cmp(a).then_with(|| of_a.cmp(of_b)));
    timed.into_iter().map(|(_, chunk)| chunk).collect()
}

/// The load of a chunk (a group of runs for one job): the total expected time and the number of the
/// runs that are assigned to the chunk so far.
#[derive(Clone, Copy, Debug)]
struct Load {
    seconds: f64,
    runs: usize,
    chunk: usize,
}

impl Load {
    fn order(&self, other: &Load) -> std::cmp::Ordering {
        let by_time = self.seconds.total_cmp(&other.seconds);
        by_time.then_with(|| (self.runs, self.chunk).cmp(&(other.runs, other.chunk)))
    }
}

impl PartialEq for Load {
    fn eq(&self, other: &Load) -> bool {
        self.order(other).is_eq()
    }
}

impl Eq for Load {}

impl PartialOrd for Load {
    fn partial_cmp(&self, other: &Load) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Load {
    fn cmp(&self, other: &Load) -> std::cmp::Ordering {
        self.order(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn costs() -> impl Strategy<Value = Vec<Cost>> {
        let cost = (0.0..5000.0_f64, prop::bool::weighted(0.1));
        let cost = cost.prop_map(|(seconds, is_alone)| Cost { seconds, is_alone });
        prop::collection::vec(cost, 1..200)
    }

    proptest! {
        #[test]
        fn every_run_is_in_one_chunk_and_no_chunk_is_empty(
            costs in costs(),
            wanted in prop::option::of(1..300_usize),
            most in 1..100_usize,
        ) {
            let chunks = divide(&costs, wanted, most);
            let mut all: Vec<usize> = chunks.iter().flatten().copied().collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..costs.len()).collect::<Vec<_>>());
            prop_assert!(chunks.iter().all(|chunk| !chunk.is_empty()));
            prop_assert!(chunks.len() <= most, "{} chunks", chunks.len());
            prop_assert_eq!(&chunks, &divide(&costs, wanted, most), "the division is deterministic");
        }

        #[test]
        fn a_chunk_exceeds_the_mean_by_less_than_one_run(
            costs in costs(),
            wanted in 1..50_usize,
        ) {
            let costs: Vec<Cost> = costs.into_iter().map(|cost| Cost { is_alone: false, ..cost }).collect();
            let chunks = divide(&costs, Some(wanted), 1000);
            prop_assert_eq!(chunks.len(), wanted.min(costs.len()));
            let seconds = |chunk: &Vec<usize>| chunk.iter().map(|&run| costs[run].seconds).sum::<f64>();
            let mean = costs.iter().map(|cost| cost.seconds).sum::<f64>() / chunks.len() as f64;
            let longest = costs.iter().map(|cost| cost.seconds).fold(0.0, f64::max);
            for chunk in &chunks {
                prop_assert!(seconds(chunk) <= mean + longest + 1e-6);
            }
        }

        #[test]
        fn runs_of_equal_time_give_chunks_of_equal_size(
            runs in 1..500_usize,
            wanted in 1..50_usize,
            seconds in 0.0..100.0_f64,
        ) {
            let chunks = divide(&vec![Cost { seconds, is_alone: false }; runs], Some(wanted), 1000);
            let sizes: Vec<usize> = chunks.iter().map(Vec::len).collect();
            prop_assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1, "{:?}", sizes);
        }

        #[test]
        fn a_run_that_killed_its_job_gets_its_own_chunk_if_possible(costs in costs()) {
            let chunks = divide(&costs, Some(3), 1000);
            for chunk in chunks {
                prop_assert!(chunk.len() == 1 || chunk.iter().all(|&run| !costs[run].is_alone));
            }
        }
    }

    #[test]
    fn the_number_of_chunks_follows_the_expected_time() {
        let of = |runs: usize, seconds: f64, most| {
            divide(&vec![Cost { seconds, is_alone: false }; runs], None, most).len()
        };
        assert_eq!(of(0, 1.0, 1001), 0);
        assert_eq!(of(10, 1.0, 1001), 10, "short runs still share the nodes");
        assert_eq!(of(500, 1.0, 1001), CHUNKS_USUAL);
        assert_eq!(of(1000, 60.0, 1001), 100, "ten minutes each");
        assert_eq!(of(1000, 6000.0, 40), 40, "no more than the cluster allows");
        assert_eq!(of(1000, f64::MAX, 1001), 1000);
    }
}
