//! A histogram by atomic adds, in one of two forms. In the first form, all adds go to global
//! memory. In the second form, they go to local memory; then each work-group adds the count of each
//! bin to global memory.

use kernel::prelude::*;

use crate::data;
use crate::fault::{Fault, planted};
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload};
use crate::settings::{Setting, Settings};

pub(crate) static HISTOGRAM: Workload = Workload {
    name: "histogram",
    summary: "counts values into bins by relaxed atomic adds in global or local memory",
    origin: "CUB; Dalmia thesis, Listing 3.1, Table 3.3 and section 3.5",
    room: Room::Atomics,
    purpose: Purpose::Benchmark,
    // The thesis counts the 531 million pixels of an image into 256 bins, and in section 3.5 into
    // 8192 bins. The size `paper` has fewer values, so that a run takes minutes.
    sizes: Sizes {
        tiny: &[("n", "3000"), ("bins", "19")],
        small: &[],
        paper: &[("n", "4m"), ("per-item", "16")],
    },
    settings: &[
        Setting::count("n", 1 << 16, 1, 1 << 28, "number of values"),
        Setting::count("bins", 256, 1, 1 << 24, "number of bins"),
        Setting::count("per-item", 1, 1, 1 << 12, "number of values that each work-item counts"),
        Setting::policy(
            "memory",
            &[
                ("global", "work-items count in global memory"),
                ("local", "work-groups count in local memory and add their counts to global memory"),
            ],
            "the memory with the bins that work-items count in",
        ),
    ],
    make: |settings, seed| {
        settings.limit_arrays(&["n", "bins"], 4 * (settings.count("n") + settings.count("bins")))?;
        Ok(histogram(settings, seed))
    },
};

#[derive(Clone, Copy, Debug)]
struct Counting {
    values: Array<u32>,
    bins: Array<u32>,
    /// The number of values that each work-item counts.
    per_item: u64,
}

impl Counting {
    /// A wavefront counts its values in rounds, one value in each lane. For each round, the
    /// function gives the index of the value that lane 0 counts.
    fn rounds(&self, w: &Wave) -> impl Iterator<Item = u64> + use<> {
        let items = u64::from(w.waves() * w.lanes());
        let first = u64::from(w.work_group()) * items * self.per_item + u64::from(w.index() * w.lanes());
        (0..self.per_item).map(move |round| first + round * items)
    }
}

async fn count(w: Wave, s: Counting) {
    let add = relaxed(Level::Device).commutative();
    for base in s.rounds(&w) {
        let w = w.below(base, s.values.len());
        let bin = w.load(s.values, Unit(base)).await;
        w.update(s.bins, bin, RmwKind::Add, Lanes::splat(1u32), add).await;
    }
}

async fn count_locally(w: Wave, s: Counting) {
    let local = w.lds::<u32>(0, s.bins.len() as u32);
    let items = (w.waves() * w.lanes()) as usize;
    let own_bins = || (u64::from(w.index() * w.lanes())..s.bins.len()).step_by(items);
    for base in own_bins() {
        w.below(base, s.bins.len()).store(local, Unit(base), Lanes::splat(0)).await;
    }
    w.barrier().await;
    for base in s.rounds(&w) {
        let w = w.below(base, s.values.len());
        let bin = w.load(s.values, Unit(base)).await;
        w.update(local, bin, RmwKind::Add, Lanes::splat(1u32), relaxed(Level::WorkGroup)).await;
    }
    if !planted(Fault::MissingBarrier) {
        w.barrier().await;
    }
    for base in own_bins() {
        let w = w.below(base, s.bins.len());
        let bin = if planted(Fault::WrongIndex) { base.saturating_sub(1) } else { base };
        let count = w.load(local, Unit(bin)).await;
        let add = relaxed(Level::Device).commutative();
        w.when(count.ne(0)).update(s.bins, Unit(base), RmwKind::Add, count, add).await;
    }
}

fn histogram(settings: &Settings, seed: u64) -> Instance {
    let (n, bins) = (settings.count("n"), settings.count("bins"));
    let (per_item, is_local) = (settings.count("per-item"), settings.is("memory", "local"));
    let program = Program::new("histogram", move |host| async move {
        let s = Counting { values: host.alloc("values", n), bins: host.alloc("bins", bins), per_item };
        host.write(s.values, &data::words_below(seed, n, bins)).await;
        let part = GROUP_ITEMS * per_item;
        let waves = (GROUP_ITEMS as u32).div_ceil(host.shape().lanes);
        let grid = Grid::new(n.div_ceil(part) as u32, waves);
        let uses = [s.values.read().in_parts(part), s.bins.read_write()];
        if is_local {
            let kernel = Kernel::new("count-locally", move |w| count_locally(w, s));
            // If the bins exceed the local memory of every machine, the launch ends with an error.
            let bytes = u32::try_from(4 * bins).unwrap_or(u32::MAX);
            host.launch(kernel.uses(uses), grid.lds_bytes(bytes)).await;
        } else {
            host.launch(Kernel::new("count", move |w| count(w, s)).uses(uses), grid).await;
        }
        Answer::new().with_array("bins", &host, s.bins).await
    });
    Instance::new(program, move |answer| {
        let mut counts = vec![0u32; bins as usize];
        for value in data::words_below(seed, n, bins) {
            counts[value as usize] += 1;
        }
        answer.expect("bins", &counts)
    })
}

#[cfg(test)]
mod tests {
    use kernel::reference::{self, Options};

    use super::*;
    use crate::fault::finds_with;

    #[test]
    fn an_index_that_is_wrong_by_one_and_a_missing_barrier_give_wrong_counts() {
        for fault in [Fault::WrongIndex, Fault::MissingBarrier] {
            assert!(finds_with(&HISTOGRAM, &[("bins", "256"), ("memory", "local")], fault), "{fault:?}");
        }
    }

    #[test]
    fn eight_thousand_bins_fit_in_local_memory_and_more_are_refused() {
        let run = |bins: &str| {
            let mut settings = HISTOGRAM.defaults();
            settings.set("bins", bins).and_then(|()| settings.set_policy("local")).unwrap();
            settings.set("n", "2000").and_then(|()| settings.set("per-item", "3")).unwrap();
            let (program, check) = histogram(&settings, 5).into_parts();
            let outcome = reference::run(program, &Options::default()).map_err(|error| error.to_string())?;
            check(&outcome.answer).map_err(|error| error.to_string())
        };
        assert_eq!(run("8192"), Ok(()));
        assert!(run("8193").unwrap_err().contains("bytes of local memory"));
    }
}
