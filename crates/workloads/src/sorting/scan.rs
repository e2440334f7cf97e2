//! A scan of an array: for each element, the sum of all elements before it.
//!
//! Each work-group scans a block in local memory, up and down a tree (Blelloch, 1990). The sums of
//! the blocks are scanned in the same way, and then added to the blocks.

use kernel::prelude::*;

use crate::data;
use crate::fault::{Fault, planted};
use crate::group::{first_local, grid_of, local_item};
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload};
use crate::settings::{Setting, Settings};

pub(crate) static SCAN: Workload = Workload {
    name: "scan",
    summary: "computes the exclusive prefix sums of an array, by trees in local memory",
    origin: "GPU Gems 3 (2007), chapter 39; AMD APP SDK sample ScanLargeArrays; SHOC (2010)",
    room: Room::Sorting,
    purpose: Purpose::Benchmark,
    sizes: Sizes { tiny: &[("n", "1700")], small: &[], paper: &[("n", "4m")] },
    settings: &[Setting::count("n", 64 << 10, 1, 1 << 28, "number of elements of the array")],
    make: |settings, seed| {
        settings.limit_arrays(&["n"], 8 * settings.count("n"))?;
        Ok(scan(settings, seed))
    },
};

const GROUP: u32 = GROUP_ITEMS as u32;

/// The number of elements that a work-group scans.
const BLOCK: u32 = 2 * GROUP;

/// Scans a block of `from` into `to` in each work-group. Stores the sum of the block in `sums`,
/// unless there is only one block.
async fn scan_blocks(w: Wave, from: Array<u32>, to: Array<u32>, sums: Option<Array<u32>>) {
    let (item, here) = (local_item(&w), first_local(&w));
    let first = u64::from(w.work_group()) * u64::from(BLOCK) + here;
    let halves = [0, GROUP_ITEMS].map(|half| (w.below(first + half, from.len()), first + half, here + half));
    let tree = w.lds::<u32>(0, BLOCK);
    let loads = halves.each_ref().map(|(w, at, _)| w.load(from, Unit(*at)));
    for (load, (_, _, here)) in loads.into_iter().zip(&halves) {
        w.store(tree, Unit(*here), load.await);
    }
    let mut distance = 1;
    let mut nodes = GROUP;
    while nodes > 0 {
        if !planted(Fault::MissingBarrier) {
            w.barrier().await;
        }
        let active = w.below(here, u64::from(nodes));
        let left = item * (2 * distance) + (distance - 1);
        let right = left + distance;
        let (a, b) = (active.load(tree, left), active.load(tree, right));
        let sum = a.await + b.await;
        active.store(tree, right, sum);
        distance *= 2;
        nodes /= 2;
    }
    w.barrier().await;
    if w.index() == 0 {
        let last = u64::from(BLOCK - 1);
        if let Some(sums) = sums {
            let total = w.load(tree, last).await;
            w.store(sums, u64::from(w.work_group()), total);
        }
        w.store(tree, last, 0);
    }
    nodes = 1;
    while nodes <= GROUP {
        distance /= 2;
        w.barrier().await;
        let active = w.below(here, u64::from(nodes));
        let left = item * (2 * distance) + (distance - 1);
        let right = left + distance;
        let (a, b) = (active.load(tree, left), active.load(tree, right));
        let (a, b) = (a.await, b.await);
        active.store(tree, left, b);
        active.store(tree, right, a + b);
        nodes *= 2;
    }
    w.barrier().await;
    for (within, at, here) in &halves {
        let here = if planted(Fault::WrongIndex) { *here / 2 } else { *here };
        let values = within.load(tree, Unit(here)).await;
        within.store(to, Unit(*at), values);
    }
}

/// Adds to each block the sum of all blocks before it.
async fn add_sums(w: Wave, values: Array<u32>, sums: Array<u32>) {
    let sum = w.load(sums, u64::from(w.work_group())).await;
    let first = u64::from(w.work_group()) * u64::from(BLOCK) + first_local(&w);
    for at in [first, first + GROUP_ITEMS] {
        let w = w.below(at, values.len());
        let value = w.load(values, Unit(at)).await;
        w.store(values, Unit(at), value + sum);
    }
}

/// The arrays of a scan. Each level has an array with the sums of the blocks of the level below.
/// The largest array comes first.
pub(super) struct Scan {
    sums: Vec<Array<u32>>,
}

impl Scan {
    /// Allocates the arrays for a scan of `n` elements.
    pub(super) fn new(host: &Host, n: u64) -> Scan {
        let mut sums = Vec::new();
        let mut blocks = n.div_ceil(u64::from(BLOCK));
        while blocks > 1 {
            sums.push(host.alloc("block-sums", blocks));
            blocks = blocks.div_ceil(u64::from(BLOCK));
        }
        Scan { sums }
    }

    /// Scans the array `from` into the array `to`, which may be the same array.
    pub(super) async fn run(&self, host: &Host, from: Array<u32>, to: Array<u32>) {
        let shape = host.shape();
        let block = u64::from(BLOCK);
        let grid = |n: u64| grid_of(&shape, n.div_ceil(block), GROUP).lds_bytes(4 * BLOCK);
        let mut blocks = vec![to];
        for level in 0..=self.sums.len() {
            let sums = self.sums.get(level).copied();
            let (from, to) = if level == 0 { (from, to) } else { (blocks[level], blocks[level]) };
            let uses = if from.id() == to.id() {
                vec![to.read_write().in_parts(block)]
            } else {
                vec![from.read().in_parts(block), to.write().in_parts(block)]
            };
            let kernel = Kernel::new("scan-blocks", move |w| scan_blocks(w, from, to, sums)).uses(uses);
            let kernel = kernel.uses(sums.map(|sums| sums.write().in_parts(1)));
            host.launch(kernel, grid(from.len())).await;
            blocks.extend(sums);
        }
        for pair in blocks.windows(2).rev() {
            let (values, sums) = (pair[0], pair[1]);
            let kernel = Kernel::new("scan-add", move |w| add_sums(w, values, sums));
            let uses = [values.read_write().in_parts(block), sums.read().in_parts(1)];
            host.launch(kernel.uses(uses), grid(values.len())).await;
        }
    }
}

fn scan(settings: &Settings, seed: u64) -> Instance {
    let n = settings.count("n");
    let program = Program::new("scan", move |host| async move {
        let (from, to) = (host.alloc::<u32>("values", n), host.alloc::<u32>("scanned", n));
        host.write(from, &data::words_below(seed, n, 1 << 32)).await;
        Scan::new(&host, n).run(&host, from, to).await;
        Answer::new().with_array("scanned", &host, to).await
    });
    Instance::new(program, move |answer| {
        let before = |sum: &mut u32, value: u32| {
            let before = *sum;
            *sum = sum.wrapping_add(value);
            Some(before)
        };
        let values = data::words_below(seed, n, 1 << 32);
        let scanned: Vec<u32> = values.into_iter().scan(0, before).collect();
        answer.expect("scanned", &scanned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::finds;

    #[test]
    fn the_check_finds_a_wrong_index_and_a_missing_barrier() {
        assert!(finds(&SCAN, Fault::WrongIndex));
        assert!(finds(&SCAN, Fault::MissingBarrier));
    }
}
