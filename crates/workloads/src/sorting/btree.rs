//! Searches in a B+ tree: one work-group for each search, one work-item for each key of a node.

use kernel::prelude::*;
use kernel::rng::Rng;

use super::btree_nodes::{CHILDREN, KEYS, NODE_WORDS, ORDER, Tree};
use crate::data;
use crate::group::{grid_of, local_item, members};
use crate::instance::{Instance, Purpose, Room, Sizes, Workload};
use crate::settings::{Setting, Settings};

pub(crate) static BTREE: Workload = Workload {
    name: "btree",
    summary: "finds keys and ranges of keys in a B+ tree",
    origin: "Rodinia (2011); Dalmia thesis (2023), Tables 3.3 and 5.2",
    room: Room::Sorting,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("keys", "3000"), ("searches", "9"), ("ranges", "6")],
        small: &[],
        // The size `paper` is that of Rodinia: a million keys in mil.txt, and the commands `k
        // 10000` and `j 6000`.
        paper: &[("keys", "1000000"), ("searches", "10000"), ("ranges", "6000")],
    },
    settings: &[
        Setting::count("keys", 100_000, 1, 1 << 22, "number of keys of the tree"),
        Setting::count("searches", 200, 1, 1 << 16, "number of searches for a key"),
        Setting::count("ranges", 120, 1, 1 << 16, "number of searches for a range of keys"),
        Setting::count("range", 3000, 1, 1 << 22, "maximum number of keys of a range"),
    ],
    make: |settings, seed| Ok(btree(settings, seed)),
};

/// The number that a search returns if the tree does not contain the key.
const NOT_FOUND: u32 = u32::MAX;

/// The descents into the tree, one in each work-group: the searched key, and the node that the
/// descent has reached.
#[derive(Clone, Copy)]
struct Descent {
    keys: Array<u32>,
    node: Array<u32>,
    next: Array<u32>,
}

impl Descent {
    fn alloc(host: &Host, names: [&str; 3], n: u64) -> Descent {
        let [keys, node, next] = names.map(|name| host.alloc(name, n));
        Descent { keys, node, next }
    }

    fn uses(&self) -> [kernel::Use; 3] {
        let [node, next] = [self.node, self.next].map(|array| array.read_write().in_parts(1));
        [self.keys.read().in_parts(1), node, next]
    }

    /// Finds the child that leads to the searched key. Each work-item compares the searched key
    /// with one key of the node and the next key. The work-item whose key is the last one that is
    /// not larger than the searched key stores its child in `next`.
    async fn choose(&self, w: &Wave, nodes: Array<u32>) {
        let group = u64::from(w.work_group());
        let (node, key) = (w.load(self.node, group), w.load(self.keys, group));
        let (first, key) = (node.await * NODE_WORDS, key.await);
        let item = local_item(w);
        let (own, after) = (w.load(nodes, item + (first + KEYS)), w.load(nodes, item + (first + KEYS + 1)));
        let found = w.when(own.await.le(key) & after.await.gt(key));
        let child = found.load(nodes, item + (first + CHILDREN)).await;
        if found.any() {
            found.store(self.next, group, found.first(&child));
        }
    }

    /// Moves each descent down to the child in `next`, which becomes its current node.
    async fn follow(&self, w: &Wave) {
        let group = u64::from(w.work_group());
        if w.index() == 0 {
            let child = w.load(self.next, group).await;
            w.store(self.node, group, child);
        }
    }

    /// The wavefront with only those lanes active whose key in the leaf equals the searched key,
    /// and the records of these lanes.
    async fn records(&self, w: &Wave, nodes: Array<u32>) -> (Wave, Lanes<u32>) {
        let group = u64::from(w.work_group());
        let (node, key) = (w.load(self.node, group), w.load(self.keys, group));
        let (first, key) = (node.await * NODE_WORDS, key.await);
        let item = local_item(w);
        let own = w.load(nodes, item + (first + KEYS)).await;
        let found = w.when(own.eq(key));
        let record = found.load(nodes, item + (first + CHILDREN)).await;
        (found, record)
    }
}

/// A kernel that finds, in each work-group, the record of a key and the value of the record.
async fn find_key(
    w: Wave,
    nodes: Array<u32>,
    values: Array<u32>,
    d: Descent,
    answers: Array<u32>,
    height: u32,
) {
    let w = members(&w, ORDER);
    for _ in 0..height {
        d.choose(&w, nodes).await;
        w.barrier().await;
        d.follow(&w).await;
        w.barrier().await;
    }
    let (found, record) = d.records(&w, nodes).await;
    let value = found.load(values, record).await;
    if found.any() {
        found.store(answers, u64::from(w.work_group()), found.first(&value));
    }
}

/// The arrays of the searches for ranges of keys: the descents to the first and to the last key of
/// each range, the first record of each range, and the number of its records.
#[derive(Clone, Copy)]
struct Ranges {
    start: Descent,
    end: Descent,
    first: Array<u32>,
    count: Array<u32>,
}

async fn find_range(w: Wave, nodes: Array<u32>, r: Ranges, height: u32) {
    let w = members(&w, ORDER);
    let group = u64::from(w.work_group());
    for _ in 0..height {
        r.start.choose(&w, nodes).await;
        r.end.choose(&w, nodes).await;
        w.barrier().await;
        r.start.follow(&w).await;
        r.end.follow(&w).await;
        w.barrier().await;
    }
    let (found, record) = r.start.records(&w, nodes).await;
    if found.any() {
        found.store(r.first, group, found.first(&record));
    }
    w.barrier().await;
    let (found, record) = r.end.records(&w, nodes).await;
    if found.any() {
        let first = found.load(r.first, group).await;
        found.store(r.count, group, found.first(&record) - first + 1);
    }
}

/// The key that belongs to a record. All keys are odd, so a search for an even key finds nothing.
fn key(record: u32) -> u32 {
    2 * record + 1
}

/// The keys for which the program searches. About a quarter of them is not in the tree.
fn searched(seed: u64, keys: u64, count: u64) -> Vec<u32> {
    let mut rng = Rng::new(seed);
    let mut draw = || key(rng.below(keys) as u32) + u32::from(rng.below(4) == 0);
    (0..count).map(|_| draw()).collect()
}

/// For each range, the number of its first record and of its last record.
fn ranges(seed: u64, keys: u64, count: u64, length_max: u64) -> (Vec<u32>, Vec<u32>) {
    let mut rng = Rng::new(seed);
    let mut draw = || {
        let first = rng.below(keys);
        (first as u32, (first + rng.below(length_max)).min(keys - 1) as u32)
    };
    (0..count).map(|_| draw()).unzip()
}

fn btree(settings: &Settings, seed: u64) -> Instance {
    let (keys, searches) = (settings.count("keys"), settings.count("searches"));
    let (range_count, length_max) = (settings.count("ranges"), settings.count("range"));
    let values_of = move || data::words_below(seed ^ 1, keys, u64::from(NOT_FOUND));
    let program = Program::new("btree", move |host| async move {
        let tree = Tree::new(keys as u32, key);
        let nodes = host.alloc::<u32>("nodes", tree.words.len() as u64);
        let values = host.alloc::<u32>("values", keys);
        host.write(nodes, &tree.words).await;
        host.write(values, &values_of()).await;
        let (shape, height) = (host.shape(), tree.height);

        let d = Descent::alloc(&host, ["keys", "node", "next"], searches);
        let answers = host.alloc::<u32>("answers", searches);
        host.write(d.keys, &searched(seed, keys, searches)).await;
        host.write(answers, &vec![NOT_FOUND; searches as usize]).await;
        let kernel = Kernel::new("find-key", move |w| find_key(w, nodes, values, d, answers, height));
        let kernel = kernel.uses([nodes.read(), values.read(), answers.write().in_parts(1)]).uses(d.uses());
        host.launch(kernel, grid_of(&shape, searches, ORDER)).await;

        let r = Ranges {
            start: Descent::alloc(&host, ["starts", "start-node", "start-next"], range_count),
            end: Descent::alloc(&host, ["ends", "end-node", "end-next"], range_count),
            first: host.alloc("first-records", range_count),
            count: host.alloc("record-counts", range_count),
        };
        let (firsts, lasts) = ranges(!seed, keys, range_count, length_max);
        host.write(r.start.keys, &firsts.into_iter().map(key).collect::<Vec<_>>()).await;
        host.write(r.end.keys, &lasts.into_iter().map(key).collect::<Vec<_>>()).await;
        let kernel = Kernel::new("find-range", move |w| find_range(w, nodes, r, height));
        let kernel =
            kernel.uses([nodes.read(), r.first.read_write().in_parts(1), r.count.write().in_parts(1)]);
        let kernel = kernel.uses(r.start.uses()).uses(r.end.uses());
        host.launch(kernel, grid_of(&shape, range_count, ORDER)).await;
        let answer = Answer::new().with_array("answers", &host, answers).await;
        answer.with_array("first", &host, r.first).await.with_array("count", &host, r.count).await
    });
    Instance::new(program, move |answer| {
        let values = values_of();
        let of = |key: u32| if key % 2 == 1 { values[(key / 2) as usize] } else { NOT_FOUND };
        let answers: Vec<u32> = searched(seed, keys, searches).into_iter().map(of).collect();
        let (firsts, lasts) = ranges(!seed, keys, range_count, length_max);
        let counts: Vec<u32> = firsts.iter().zip(lasts).map(|(first, last)| last - first + 1).collect();
        answer.expect("answers", &answers)?;
        answer.expect("first", &firsts)?;
        answer.expect("count", &counts)
    })
}
