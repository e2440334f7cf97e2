//! The alignment of two sequences by the algorithm of Needleman and Wunsch. The matrix of scores is
//! computed in tiles, one diagonal of tiles after the other.
//!
//! The tiles of a diagonal depend only on tiles of earlier diagonals, so each diagonal is a launch.
//! One kernel computes the diagonals up to the longest one, and another kernel computes the
//! diagonals after it. The work-items of a tile compute its elements in local memory, also one
//! diagonal after the other.

use kernel::prelude::*;
use kernel::rng::Rng;

use crate::data;
use crate::group::{grid_of, local_item, members};
use crate::instance::{Instance, Purpose, Room, Sizes, Workload};
use crate::settings::{BadSetting, Setting, Settings};

pub(crate) static NW: Workload = Workload {
    name: "nw",
    summary: "aligns two sequences, a launch for each diagonal of tiles",
    origin: "Rodinia (2009); Hechtman thesis (2014), section 4.5.1; Dalmia thesis (2023), Tables 3.3 and 5.2",
    room: Room::Sorting,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("n", "48")],
        small: &[],
        // The size `paper` is smaller than in Table 3.3 and Table 5.2, which have 8192 and take 16
        // times as long.
        paper: &[("n", "2048")],
    },
    settings: &[
        Setting::count("n", 256, 16, 1 << 14, "number of letters of each sequence, a multiple of 16"),
        Setting::count("penalty", 10, 0, 1000, "the penalty of a gap"),
    ],
    make: nw,
};

/// The number of rows of a tile, which is also the number of its columns.
const TILE: u32 = 16;

/// The number of rows of a tile and the row above it. It is also the number of columns of a tile
/// and the column to its left.
const SIDE: u32 = TILE + 1;

/// The number of different letters in the sequences, as in Rodinia.
const LETTERS: u64 = 10;

#[derive(Clone, Copy)]
struct Diagonal {
    scores: Array<i32>,
    /// The similarity of the two letters at each row and column of the matrix.
    similarity: Array<i32>,
    /// The number of rows of each matrix, which is also the number of its columns. It is one more
    /// than the number of letters of a sequence.
    width: u32,
    penalty: i32,
    /// The column and the row of the tile that the first work-group computes. The tile of each
    /// further work-group is one column to the right and one row up.
    first: [u32; 2],
}

impl Diagonal {
    async fn tile(self, w: Wave) {
        let w = members(&w, TILE);
        let (tx, group) = (local_item(&w), w.work_group());
        let (tile_x, tile_y) = (self.first[0] + group, self.first[1] - group);
        let scores = w.lds::<i32>(0, SIDE * SIDE);
        let similarity = w.lds::<i32>(4 * SIDE * SIDE, TILE * TILE);
        let corner = tile_y * TILE * self.width + tile_x * TILE;
        let inner = tx + (corner + self.width + 1);

        for row in 0..TILE {
            let values = w.load(self.similarity, inner + row * self.width).await;
            w.store(similarity, tx + row * TILE, values);
        }
        let above = w.load(self.scores, inner - self.width);
        let left = w.load(self.scores, tx * self.width + (corner + self.width));
        let diagonal = w.load(self.scores, u64::from(corner));
        w.store(scores, tx + 1, above.await);
        w.store(scores, (tx + 1) * SIDE, left.await);
        let diagonal = diagonal.await;
        if w.index() == 0 {
            w.store(scores, 0, diagonal);
        }
        w.barrier().await;

        for step in 0..2 * TILE - 1 {
            // The lanes on the diagonal of the tile. Their number grows up to the longest diagonal,
            // and then shrinks.
            let (active, x, y) = if step < TILE {
                (w.when(tx.le(step)), tx + 1, Lanes::splat(step + 1) - tx)
            } else {
                let end = 2 * TILE - 1 - step;
                (w.when(tx.lt(end)), tx + (step - TILE + 2), Lanes::splat(TILE) - tx)
            };
            let at = y * SIDE + x;
            let (diagonal, left) = (active.load(scores, at - (SIDE + 1)), active.load(scores, at - 1));
            let above = active.load(scores, at - SIDE);
            let similar = active.load(similarity, (y - 1) * TILE + x - 1);
            let (diagonal, gap) = (diagonal.await + similar.await, left.await.max(above.await));
            active.store(scores, at, diagonal.max(gap - self.penalty));
            w.barrier().await;
        }
        for row in 0..TILE {
            let values = w.load(scores, tx + ((row + 1) * SIDE + 1)).await;
            w.store(self.scores, inner + row * self.width, values);
        }
    }
}

/// The input of an alignment: the similarities of the letters of two random sequences, and the
/// initial scores. The first row and the first column of the scores have the penalties of gaps at
/// the starts of the sequences.
struct Alignment {
    similarity: Vec<i32>,
    scores: Vec<i32>,
}

/// Draws two sequences, and the similarity of each pair of letters. As in the BLOSUM62 matrix,
/// equal letters have a similarity from 4 to 11, and different letters one from -4 to 3.
fn alignment(seed: u64, n: u64, penalty: i32) -> Alignment {
    let mut rng = Rng::new(seed);
    let letters = LETTERS as usize;
    let mut table = vec![0i32; letters * letters];
    for a in 0..letters {
        for b in 0..=a {
            let draw = rng.below(8) as i32;
            let similarity = if a == b { draw + 4 } else { draw - 4 };
            table[a * letters + b] = similarity;
            table[b * letters + a] = similarity;
        }
    }
    let (rows, columns) = (data::words_below(seed ^ 1, n, LETTERS), data::words_below(seed ^ 2, n, LETTERS));
    let width = n as usize + 1;
    let (mut similarity, mut scores) = (vec![0; width * width], vec![0; width * width]);
    for (i, row) in rows.iter().enumerate() {
        for (j, column) in columns.iter().enumerate() {
            similarity[(i + 1) * width + j + 1] = table[*row as usize * letters + *column as usize];
        }
    }
    for i in 1..width {
        scores[i] = -(i as i32) * penalty;
        scores[i * width] = -(i as i32) * penalty;
    }
    Alignment { similarity, scores }
}

fn nw(settings: &Settings, seed: u64) -> Result<Instance, BadSetting> {
    let (n, penalty) = (settings.count("n"), settings.count("penalty") as i32);
    if !n.is_multiple_of(u64::from(TILE)) {
        return Err(settings.conflict(format!("setting `n` is {n}, but must be a multiple of {TILE}")));
    }
    settings.limit_arrays(&["n"], 8 * (n + 1).pow(2))?;
    let (width, tiles) = (n as u32 + 1, n as u32 / TILE);
    let program = Program::new("nw", move |host| async move {
        let cells = u64::from(width) * u64::from(width);
        let (scores, similarity) = (host.alloc::<i32>("scores", cells), host.alloc("similarity", cells));
        let start = alignment(seed, n, penalty);
        host.write(scores, &start.scores).await;
        host.write(similarity, &start.similarity).await;
        for number in 0..2 * tiles - 1 {
            let is_first_half = number < tiles;
            let first = if is_first_half { [0, number] } else { [number + 1 - tiles, tiles - 1] };
            let count = if is_first_half { number + 1 } else { 2 * tiles - 1 - number };
            let name = if is_first_half { "needle-1" } else { "needle-2" };
            let diagonal = Diagonal { scores, similarity, width, penalty, first };
            let kernel = Kernel::new(name, move |w| diagonal.tile(w));
            let kernel = kernel.uses([similarity.read(), scores.read_write()]);
            let bytes = 4 * (SIDE * SIDE + TILE * TILE);
            host.launch(kernel, grid_of(&host.shape(), u64::from(count), TILE).lds_bytes(bytes)).await;
        }
        Answer::new().with_array("scores", &host, scores).await
    });
    Ok(Instance::new(program, move |answer| {
        let Alignment { similarity, mut scores } = alignment(seed, n, penalty);
        let width = width as usize;
        for i in 1..width {
            for j in 1..width {
                let at = i * width + j;
                let gap = scores[at - 1].max(scores[at - width]) - penalty;
                scores[at] = gap.max(scores[at - width - 1] + similarity[at]);
            }
        }
        answer.expect("scores", &scores)
    }))
}
