//! Arcs as a reader finds them, and how they become rows.

use proto::words::{counted, grouped, plural};
use serde::Serialize;

use super::csr::{Csr, Offsets, Weights};
use super::error::{GraphError, Place};
use super::options::{Choice, ReadOptions};
use super::scan::Scanner;

/// What a reader did to a graph beyond reading it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Repairs {
    /// Arcs from a vertex to itself that were left out.
    pub self_loops_removed: u64,
    /// Arcs left out because the same one, with the least weight, is kept.
    pub duplicates_merged: u64,
    /// Reverse arcs added, since the file has each edge once.
    pub arcs_mirrored: u64,
    /// Vertices that got another number, since the file leaves numbers out.
    pub vertices_renumbered: u64,
    /// Vertices whose sizes or weights were read and not kept.
    pub vertex_values_unused: u64,
}

impl Repairs {
    /// Each that happened, in words.
    pub fn iter(&self) -> impl Iterator<Item = String> {
        [
            (self.self_loops_removed, "self loop", "left out"),
            (self.duplicates_merged, "duplicate", "merged into the arc of least weight"),
            (self.arcs_mirrored, "reverse arc", "added to edges that stand once"),
            (self.vertices_renumbered, "vertex", "renumbered to leave no gaps"),
            (self.vertex_values_unused, "vertex", "whose weights or sizes are not kept"),
        ]
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, noun, done)| format!("{} {} {done}", grouped(count), plural(count, noun)))
    }
}

/// Line and column of an arc in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Spot(u64);

const COLUMN_BITS: u32 = 24;

impl Spot {
    fn new(line: u64, column: u64) -> Spot {
        Spot(line << COLUMN_BITS | column.min((1 << COLUMN_BITS) - 1))
    }
}

/// Arcs on their way into a graph.
pub(crate) struct Intake<'o> {
    options: &'o ReadOptions,
    pub(crate) repairs: Repairs,
    sources: Vec<u32>,
    targets: Vec<u32>,
    values: Option<Vec<f64>>,
    spots: Option<Vec<Spot>>,
    arcs_max: u64,
    /// Ends of arcs that were left out, if vertices are known by their arcs alone.
    lone: Option<Vec<u32>>,
}

impl<'o> Intake<'o> {
    /// An intake for arcs of which each has a value, or none has.
    pub(crate) fn new(options: &'o ReadOptions, weighted: bool) -> Self {
        let spots = options.duplicates == Choice::Refuse;
        let mut intake = Intake {
            options,
            repairs: Repairs::default(),
            sources: Vec::new(),
            targets: Vec::new(),
            values: weighted.then(Vec::new),
            spots: spots.then(Vec::new),
            arcs_max: 0,
            lone: None,
        };
        intake.arcs_max = options.memory_bytes / intake.arc_bytes();
        intake
    }

    /// The same for a format without a header, whose vertices are those that
    /// an arc names.
    pub(crate) fn of_named_vertices(options: &'o ReadOptions, weighted: bool) -> Self {
        Intake { lone: Some(Vec::new()), ..Intake::new(options, weighted) }
    }

    /// Bytes held at once for each arc: in the list, in the rows, and while
    /// vertices are renumbered or reverse arcs looked for.
    fn arc_bytes(&self) -> u64 {
        let besides = 8 * (u64::from(self.values.is_some()) + u64::from(self.spots.is_some()));
        (8 + besides) + (4 + besides) + 8
    }

    /// Bytes needed to read a graph of this size.
    fn needed_bytes(&self, vertices: u64, arcs: u64) -> u64 {
        const ROW_BYTES: u64 = 32;
        (vertices + 1).saturating_mul(ROW_BYTES).saturating_add(arcs.saturating_mul(self.arc_bytes()))
    }

    /// The header was read: is there memory for a graph of this size?
    pub(crate) fn announce(&mut self, place: Place, vertices: u64, arcs: u64) -> Result<(), GraphError> {
        let budget_bytes = self.options.memory_bytes;
        let needed_bytes = self.needed_bytes(vertices, arcs);
        let too_large = GraphError::TooLarge {
            place,
            size: format!("{} and {}", counted(vertices, "vertex"), counted(arcs, "arc")),
            needed_bytes,
            budget_bytes,
        };
        if needed_bytes > budget_bytes {
            return Err(too_large);
        }
        // A header may lie: reserve what a short file can need, and grow from there.
        let reserve = arcs.min(1 << 20) as usize;
        let mut reserved = self.sources.try_reserve(reserve).and(self.targets.try_reserve(reserve));
        if let Some(values) = &mut self.values {
            reserved = reserved.and(values.try_reserve(reserve));
        }
        if let Some(spots) = &mut self.spots {
            reserved = reserved.and(spots.try_reserve(reserve));
        }
        self.arcs_max = (budget_bytes - self.needed_bytes(vertices, 0)) / self.arc_bytes();
        reserved.map_err(|_| too_large)
    }

    /// An arc whose last number is the last word that was read.
    #[inline]
    pub(crate) fn arc(
        &mut self,
        scan: &Scanner<'_>,
        (source, target): (u32, u32),
        value: f64,
        column: u64,
    ) -> Result<(), GraphError> {
        if source == target {
            match self.options.self_loops {
                Choice::Keep => {}
                Choice::Repair => {
                    self.repairs.self_loops_removed += 1;
                    if let Some(lone) = self.lone.as_mut().filter(|lone| lone.last() != Some(&source)) {
                        lone.push(source);
                    }
                    return self.within_memory(scan);
                }
                Choice::Refuse => {
                    return Err(GraphError::Refused {
                        place: scan.place(scan.line(), column),
                        what: "found an arc from a vertex to itself".to_owned(),
                    });
                }
            }
        }
        self.within_memory(scan)?;
        self.sources.push(source);
        self.targets.push(target);
        if let Some(values) = &mut self.values {
            values.push(value);
        }
        if let Some(spots) = &mut self.spots {
            spots.push(Spot::new(scan.line(), column));
        }
        Ok(())
    }

    /// Is there memory for one more?
    #[inline]
    fn within_memory(&self, scan: &Scanner<'_>) -> Result<(), GraphError> {
        let arcs = self.sources.len() as u64 + self.lone.as_ref().map_or(0, |lone| lone.len() as u64);
        if arcs < self.arcs_max {
            return Ok(());
        }
        Err(GraphError::TooLarge {
            place: scan.word_place(),
            size: format!("at least {}", counted(arcs + 1, "arc")),
            needed_bytes: self.needed_bytes(0, arcs + 1),
            budget_bytes: self.options.memory_bytes,
        })
    }

    /// An arc and its reverse, since the file has the edge once.
    pub(crate) fn edge(
        &mut self,
        scan: &Scanner<'_>,
        (source, target): (u32, u32),
        (value, reverse_value): (f64, f64),
        column: u64,
    ) -> Result<(), GraphError> {
        self.arc(scan, (source, target), value, column)?;
        if source != target {
            self.arc(scan, (target, source), reverse_value, column)?;
            self.repairs.arcs_mirrored += 1;
        }
        Ok(())
    }

    /// The numbers of vertices that an arc names, in order.
    pub(crate) fn named_vertices(&self) -> Vec<u32> {
        let lone = self.lone.as_deref().unwrap_or_default();
        let mut named = Vec::with_capacity(2 * self.sources.len() + lone.len());
        named.extend(self.sources.iter().chain(&self.targets).chain(lone));
        named.sort_unstable();
        named.dedup();
        named
    }

    /// Gives these vertices the numbers 0, 1, 2... in their order.
    pub(crate) fn renumber(&mut self, named: &[u32]) {
        let moved = named.iter().zip(0..).filter(|&(&vertex, index)| vertex != index).count();
        self.repairs.vertices_renumbered += moved as u64;
        if moved > 0 {
            for vertex in self.sources.iter_mut().chain(&mut self.targets) {
                *vertex = named.partition_point(|known| known < vertex) as u32;
            }
        }
    }

    /// The graph of these arcs, which are all below `vertices`.
    pub(crate) fn finish(mut self, scan: &Scanner<'_>, vertices: u32) -> Result<(Csr, Repairs), GraphError> {
        let mut offsets = vec![0u64; vertices as usize + 1];
        for &source in &self.sources {
            offsets[source as usize + 1] += 1;
        }
        for v in 0..vertices as usize {
            offsets[v + 1] += offsets[v];
        }
        let mut rows = self.scatter(&offsets);
        self.sort_rows(scan, &mut offsets, &mut rows)?;
        let weights = rows.values.map(Weights::from_values);
        let csr = Csr { offsets: Offsets::new(offsets), targets: rows.targets, weights };
        Ok((csr, self.repairs))
    }

    /// Puts each arc into the row of its source, in the order of the file.
    fn scatter(&mut self, offsets: &[u64]) -> Rows {
        let count = self.sources.len();
        let (sources, targets) = (core::mem::take(&mut self.sources), core::mem::take(&mut self.targets));
        let (values, spots) = (self.values.take(), self.spots.take());
        let mut rows = Rows {
            targets: vec![0; count],
            values: values.as_ref().map(|_| vec![0.0; count]),
            spots: spots.as_ref().map(|_| vec![Spot(0); count]),
        };
        let mut next = offsets.to_vec();
        for (index, (&source, &target)) in sources.iter().zip(&targets).enumerate() {
            let slot = next[source as usize] as usize;
            next[source as usize] += 1;
            rows.targets[slot] = target;
            if let (Some(to), Some(from)) = (&mut rows.values, &values) {
                to[slot] = from[index];
            }
            if let (Some(to), Some(from)) = (&mut rows.spots, &spots) {
                to[slot] = from[index];
            }
        }
        rows
    }

    /// Sorts each row and merges, keeps or refuses what stands in it twice.
    fn sort_rows(
        &mut self,
        scan: &Scanner<'_>,
        offsets: &mut [u64],
        rows: &mut Rows,
    ) -> Result<(), GraphError> {
        let mut scratch: Vec<(u32, f64, Spot)> = Vec::new();
        let mut write = 0;
        let mut first = 0;
        for (source, offset) in (0..).zip(&mut offsets[1..]) {
            let end = *offset as usize;
            scratch.clear();
            scratch.extend((first..end).map(|index| rows.entry(index)));
            first = end;
            scratch.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
            let begin = write;
            for &(target, value, spot) in &scratch {
                if write > begin && rows.targets[write - 1] == target {
                    match self.options.duplicates {
                        Choice::Keep => {}
                        Choice::Repair => {
                            self.repairs.duplicates_merged += 1;
                            continue;
                        }
                        Choice::Refuse => {
                            let other = rows.entry(write - 1).2;
                            return Err(self.twice(scan, (source, target), spot.max(other), spot.min(other)));
                        }
                    }
                }
                rows.set(write, target, value, spot);
                write += 1;
            }
            *offset = write as u64;
        }
        rows.truncate(write);
        Ok(())
    }

    fn twice(&self, scan: &Scanner<'_>, (source, target): (u32, u32), spot: Spot, first: Spot) -> GraphError {
        let place = scan.place(spot.0 >> COLUMN_BITS, spot.0 & ((1 << COLUMN_BITS) - 1));
        let what = format!(
            "found the arc from vertex {source} to vertex {target} (counted from 0) a second time, the first \
             is on line {}",
            first.0 >> COLUMN_BITS
        );
        GraphError::Refused { place, what }
    }
}

/// Arcs in the order of their sources.
struct Rows {
    targets: Vec<u32>,
    values: Option<Vec<f64>>,
    spots: Option<Vec<Spot>>,
}

impl Rows {
    #[inline]
    fn entry(&self, index: usize) -> (u32, f64, Spot) {
        let value = self.values.as_ref().map_or(0.0, |values| values[index]);
        let spot = self.spots.as_ref().map_or(Spot(0), |spots| spots[index]);
        (self.targets[index], value, spot)
    }

    #[inline]
    fn set(&mut self, index: usize, target: u32, value: f64, spot: Spot) {
        self.targets[index] = target;
        if let Some(values) = &mut self.values {
            values[index] = value;
        }
        if let Some(spots) = &mut self.spots {
            spots[index] = spot;
        }
    }

    fn truncate(&mut self, count: usize) {
        self.targets.truncate(count);
        if let Some(values) = &mut self.values {
            values.truncate(count);
        }
    }
}
