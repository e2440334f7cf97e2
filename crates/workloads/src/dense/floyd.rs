//! The shortest paths between all vertices of a graph, by the Floyd-Warshall algorithm on a matrix
//! of distances.
//!
//! The naive form launches a kernel for each intermediate vertex. In the kernel for vertex `k`, all
//! work-items read row `k` and column `k`. No work-item writes them, because a path that begins or
//! ends at `k` does not become shorter by a visit to `k`. The blocked form (Katz and Kider, 2008)
//! launches three kernels for each block of vertices: the first for the block on the diagonal, the
//! second for the blocks in its row and its column, the third for all other blocks.

use core::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use kernel::prelude::*;
use kernel::rng::Rng;

use crate::graph::Csr;
use crate::group::{InTile, grid_of, group_at, in_tile};
use crate::instance::{Instance, Purpose, Room, Sizes, Workload};
use crate::settings::{BadSetting, Setting, Settings};

pub(crate) static FW: Workload = Workload {
    name: "fw",
    summary: "computes all shortest paths of a graph from its matrix of distances",
    origin: "Pannotia (2013); Dalmia thesis (2023), Table 5.2; blocked: Katz and Kider (2008)",
    room: Room::Dense,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("vertices", "21"), ("edges", "90")],
        small: &[],
        // Table 5.2 uses the file 512_65536.gr.
        paper: &[("vertices", "512"), ("edges", "64k")],
    },
    settings: &[
        Setting::count("vertices", 96, 1, VERTICES_MAX, "number of vertices of the graph"),
        Setting::count("edges", 1500, 0, 1 << 26, "number of edges of the graph"),
        Setting::policy(
            "form",
            &[("by-pivot", "a kernel for each vertex"), ("blocked", "three kernels for each 16 vertices")],
            "the form of the algorithm",
        ),
    ],
    make: |settings, seed| {
        let (vertices, count) = (settings.count("vertices"), settings.count("edges"));
        Ok(floyd_warshall(edges(seed, vertices, count), vertices, settings))
    },
};

/// The maximum number of vertices. With this number, the matrix of distances has 256 MiB.
const VERTICES_MAX: u64 = 1 << 13;

/// The number of vertices in a block.
const B: u32 = 16;

/// The distance between two vertices without a path. The sum of two such distances fits in 32 bits.
const NO_PATH: u32 = u32::MAX / 4;

/// The length of the longest edge of a generated graph. The shortest edge has length 1.
const LENGTH_MAX: u64 = 100;

#[derive(Clone, Copy)]
struct Paths {
    d: Array<u32>,
    /// The number of rows of the matrix. The number of columns is the same.
    n: u32,
    /// The number of the intermediate vertex, or of the block of intermediate vertices, of this
    /// kernel.
    k: u32,
}

impl Paths {
    async fn pivot(self, w: Wave) {
        let at = in_tile(&w, B);
        let (tile_x, tile_y) = group_at(&w, self.n.div_ceil(B));
        let (x, y) = (at.x + tile_x * B, at.y + tile_y * B);
        let w = w.when(x.lt(self.n) & y.lt(self.n));
        let index = y * self.n + x;
        let to_pivot = w.load(self.d, y * self.n + self.k);
        let from_pivot = w.load(self.d, x + self.k * self.n);
        let direct = w.load(self.d, index);
        let over = to_pivot.await + from_pivot.await;
        let shorter = w.when(over.lt(direct.await));
        shorter.store(self.d, index, over);
    }

    /// The index in the matrix of the element that each lane computes. The element belongs to the
    /// block in column `block_x` and row `block_y` of blocks.
    fn element(&self, at: InTile, block_x: u32, block_y: u32) -> Lanes<u32> {
        (at.y + block_y * B) * self.n + at.x + block_x * B
    }

    /// Shortens the paths of block `own` by paths over the vertices of the diagonal block. Block
    /// `left` has the distances from the rows of `own` to these vertices. Block `above` has the
    /// distances from these vertices to the columns of `own`. `left`, `above` or both may be the
    /// same block as `own`.
    async fn shorten(w: &Wave, at: InTile, own: Lds<u32>, left: Lds<u32>, above: Lds<u32>) {
        let here = at.y * B + at.x;
        for k in 0..B {
            let (to, from) = (w.load(left, at.y * B + k), w.load(above, at.x + k * B));
            let direct = w.load(own, here);
            let over = to.await + from.await;
            let shorter = w.when(over.lt(direct.await));
            shorter.store(own, here, over);
            w.barrier().await;
        }
    }

    async fn diagonal_block(self, w: Wave) {
        let at = in_tile(&w, B);
        let own = w.lds::<u32>(0, B * B);
        let (index, here) = (self.element(at, self.k, self.k), at.y * B + at.x);
        let values = w.load(self.d, index).await;
        w.store(own, here, values);
        w.barrier().await;
        Self::shorten(&w, at, own, own, own).await;
        let values = w.load(own, here).await;
        w.store(self.d, index, values);
    }

    /// Shortens the paths of the blocks that are in the row or the column of the diagonal block.
    /// The first half of the work-groups computes the row, the second half the column.
    async fn cross_blocks(self, w: Wave) {
        let at = in_tile(&w, B);
        let others = self.n / B - 1;
        let (other, is_column) = (w.work_group() % others, w.work_group() >= others);
        let other = other + u32::from(other >= self.k);
        let (diagonal, own) = (w.lds::<u32>(0, B * B), w.lds::<u32>(4 * B * B, B * B));
        let here = at.y * B + at.x;
        let index = if is_column { self.element(at, self.k, other) } else { self.element(at, other, self.k) };
        let values = w.load(self.d, self.element(at, self.k, self.k));
        let mine = w.load(self.d, index);
        w.store(diagonal, here, values.await);
        w.store(own, here, mine.await);
        w.barrier().await;
        let (left, above) = if is_column { (own, diagonal) } else { (diagonal, own) };
        Self::shorten(&w, at, own, left, above).await;
        let values = w.load(own, here).await;
        w.store(self.d, index, values);
    }

    async fn other_blocks(self, w: Wave) {
        let at = in_tile(&w, B);
        let (x, y) = group_at(&w, self.n / B - 1);
        let (x, y) = (x + u32::from(x >= self.k), y + u32::from(y >= self.k));
        let (left, above) = (w.lds::<u32>(0, B * B), w.lds::<u32>(4 * B * B, B * B));
        let here = at.y * B + at.x;
        let to = w.load(self.d, self.element(at, self.k, y));
        let from = w.load(self.d, self.element(at, x, self.k));
        let index = self.element(at, x, y);
        let own = w.load(self.d, index);
        w.store(left, here, to.await);
        w.store(above, here, from.await);
        w.barrier().await;
        let mut shortest = own.await;
        for k in 0..B {
            let (to, from) = (w.load(left, at.y * B + k), w.load(above, at.x + k * B));
            shortest = shortest.min(to.await + from.await);
        }
        w.store(self.d, index, shortest);
    }

    async fn launch_blocked(self, host: &Host) {
        let shape = host.shape();
        let others = u64::from(self.n / B - 1);
        let bytes = 4 * B * B;
        let kernel = Kernel::new("fw-diagonal", move |w| self.diagonal_block(w));
        let grid = grid_of(&shape, 1, B * B).lds_bytes(bytes);
        host.launch(kernel.uses([self.d.read_write()]), grid).await;
        if others == 0 {
            return;
        }
        let kernel = Kernel::new("fw-cross", move |w| self.cross_blocks(w));
        let grid = grid_of(&shape, 2 * others, B * B).lds_bytes(2 * bytes);
        host.launch(kernel.uses([self.d.read_write()]), grid).await;
        let kernel = Kernel::new("fw-others", move |w| self.other_blocks(w));
        let grid = grid_of(&shape, others * others, B * B).lds_bytes(2 * bytes);
        host.launch(kernel.uses([self.d.read_write()]), grid).await;
    }
}

/// Random edges, each with its source, its target and its length.
fn edges(seed: u64, vertices: u64, count: u64) -> Vec<(u32, u32, u32)> {
    let mut rng = Rng::new(seed);
    let mut edge = || {
        let mut below = |end| rng.below(end) as u32;
        (below(vertices), below(vertices), below(LENGTH_MAX) + 1)
    };
    (0..count).map(|_| edge()).collect()
}

/// A matrix with `n` rows that holds the lengths of edges as distances.
fn matrix(edges: &[(u32, u32, u32)], n: usize) -> Vec<u32> {
    let mut matrix = vec![NO_PATH; n * n];
    for &(source, target, length) in edges {
        let entry = &mut matrix[source as usize * n + target as usize];
        *entry = length.min(*entry);
    }
    matrix.iter_mut().step_by(n + 1).for_each(|own| *own = 0);
    matrix
}

/// Makes the program and its check for a given graph.
///
/// # Errors
/// If the matrix of the graph is too large, or its paths are too long for 32 bits.
pub(crate) fn on_graph(graph: &Csr, settings: &Settings, _seed: u64) -> Result<Instance, BadSetting> {
    let vertices = u64::from(graph.vertices());
    if vertices == 0 || vertices > VERTICES_MAX {
        let why = format!("the graph has {vertices} vertices, expected 1 to {VERTICES_MAX}");
        return Err(settings.conflict(why));
    }
    let lengths = graph.lengths();
    let longest = lengths.iter().copied().max().unwrap_or(0);
    if u64::from(longest) * vertices >= u64::from(NO_PATH) {
        let why = format!(
            "an edge has the length {longest}, expected less than {NO_PATH} divided by the number of \
             vertices, {vertices}"
        );
        return Err(settings.conflict(why));
    }
    let arcs = graph.arcs().zip(lengths).map(|((source, target, _), length)| (source, target, length));
    Ok(floyd_warshall(arcs.collect(), vertices, settings))
}

fn floyd_warshall(edges: Vec<(u32, u32, u32)>, vertices: u64, settings: &Settings) -> Instance {
    let edges = Rc::new(edges);
    let of_check = edges.clone();
    let is_blocked = settings.is("form", "blocked");
    let program = Program::new("fw", move |host| async move {
        // The matrix has whole blocks. The vertices that are added to fill the last block have no
        // edges.
        let n = if is_blocked { vertices.next_multiple_of(u64::from(B)) } else { vertices };
        let d = host.alloc::<u32>("distances", n * n);
        host.write(d, &matrix(&edges, n as usize)).await;
        let tiles = n.div_ceil(u64::from(B));
        if is_blocked {
            for k in 0..tiles as u32 {
                Paths { d, n: n as u32, k }.launch_blocked(&host).await;
            }
        } else {
            let grid = grid_of(&host.shape(), tiles * tiles, B * B);
            for k in 0..n as u32 {
                let paths = Paths { d, n: n as u32, k };
                let kernel = Kernel::new("fw-pivot", move |w| paths.pivot(w)).uses([d.read_write()]);
                host.launch(kernel, grid).await;
            }
        }
        let padded = host.read(d).await;
        let rows = padded.chunks(n as usize).take(vertices as usize);
        let distances: Vec<u32> = rows.flat_map(|row| row[..vertices as usize].to_vec()).collect();
        Answer::new().with("distances", &distances)
    });
    Instance::new(program, move |answer| answer.expect("distances", &reference(&of_check, vertices as usize)))
}

/// The distances from each vertex to all vertices, computed on the host by Dijkstra's algorithm.
fn reference(edges: &[(u32, u32, u32)], n: usize) -> Vec<u32> {
    let mut outgoing = vec![Vec::new(); n];
    for &(source, target, length) in edges {
        outgoing[source as usize].push((target as usize, length));
    }
    let mut all = Vec::with_capacity(n * n);
    for source in 0..n {
        let mut distances = vec![NO_PATH; n];
        distances[source] = 0;
        let mut queue = BinaryHeap::from([(Reverse(0), source)]);
        while let Some((Reverse(distance), vertex)) = queue.pop() {
            if distance > distances[vertex] {
                continue;
            }
            for &(target, length) in &outgoing[vertex] {
                let over = distance + length;
                if over < distances[target] {
                    distances[target] = over;
                    queue.push((Reverse(over), target));
                }
            }
        }
        all.extend(distances);
    }
    all
}
