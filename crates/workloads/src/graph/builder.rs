//! The builder of a graph: it collects arcs in the order of a file and sorts them into rows.

use proto::words::{counted, grouped, plural};
use serde::Serialize;

use super::csr::{Csr, Offsets, Weights};
use super::options::{DefectPolicy, ReadOptions};
use crate::files::{FileError, FilePosition, Scanner};

/// The numbers of changes that a reader made to repair a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Repairs {
    /// The number of self loops that were removed.
    pub self_loops_removed: u64,
    /// The number of duplicate arcs that were removed. Of several arcs between two vertices, the
    /// one of least weight is kept.
    pub duplicates_merged: u64,
    /// The number of reverse arcs that were added, because the file lists each edge only once.
    pub arcs_mirrored: u64,
    /// The number of vertices that were renumbered, because the file skips numbers.
    pub vertices_renumbered: u64,
    /// The number of vertices whose sizes or weights the reader did not use.
    pub vertex_values_unused: u64,
}

impl Repairs {
    /// Iterates over the numbers of changes that are not zero. Each item is a text for a report.
    pub fn iter(&self) -> impl Iterator<Item = String> {
        [
            (self.self_loops_removed, "self loop", "removed"),
            (self.duplicates_merged, "duplicate", "merged into the arc of least weight"),
            (self.arcs_mirrored, "reverse arc", "added to edges listed once"),
            (self.vertices_renumbered, "vertex", "renumbered to leave no gaps"),
            (self.vertex_values_unused, "vertex", "with dropped weights or sizes"),
        ]
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, noun, done)| format!("{} {} {done}", grouped(count), plural(count, noun)))
    }
}

/// The line and the column of an arc in its file, packed into one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PackedPosition(u64);

const COLUMN_BITS: u32 = 24;

impl PackedPosition {
    fn new(line: u64, column: u64) -> PackedPosition {
        PackedPosition(line << COLUMN_BITS | column.min((1 << COLUMN_BITS) - 1))
    }
}

/// The builder of a graph from the arcs of a file.
pub(crate) struct GraphBuilder<'o> {
    options: &'o ReadOptions,
    pub(crate) repairs: Repairs,
    sources: Vec<u32>,
    targets: Vec<u32>,
    values: Option<Vec<f64>>,
    positions: Option<Vec<PackedPosition>>,
    arcs_max: u64,
    /// The vertices whose self loops were removed. The builder has this list only if the file
    /// defines its vertices by arcs alone.
    isolated: Option<Vec<u32>>,
}

impl<'o> GraphBuilder<'o> {
    /// Makes a builder. If `weighted` is true, all arcs have a value; otherwise no arc has one.
    pub(crate) fn new(options: &'o ReadOptions, weighted: bool) -> Self {
        let positions = options.duplicates == DefectPolicy::Refuse;
        let mut builder = GraphBuilder {
            options,
            repairs: Repairs::default(),
            sources: Vec::new(),
            targets: Vec::new(),
            values: weighted.then(Vec::new),
            positions: positions.then(Vec::new),
            arcs_max: 0,
            isolated: None,
        };
        builder.arcs_max = options.memory_bytes / builder.arc_bytes();
        builder
    }

    /// Makes a builder for a file format without a header, in which arcs alone define the vertices.
    pub(crate) fn of_named_vertices(options: &'o ReadOptions, weighted: bool) -> Self {
        GraphBuilder { isolated: Some(Vec::new()), ..GraphBuilder::new(options, weighted) }
    }

    /// The maximum memory for each arc: in the list of arcs, in the rows, and during renumbering or
    /// the search for reverse arcs.
    fn arc_bytes(&self) -> u64 {
        let besides = 8 * (u64::from(self.values.is_some()) + u64::from(self.positions.is_some()));
        (8 + besides) + (4 + besides) + 8
    }

    /// The memory needed to read a graph with these numbers of vertices and arcs.
    fn needed_bytes(&self, vertices: u64, arcs: u64) -> u64 {
        const ROW_BYTES: u64 = 32;
        (vertices + 1).saturating_mul(ROW_BYTES).saturating_add(arcs.saturating_mul(self.arc_bytes()))
    }

    /// Reserves memory for a graph of the size that the header of the file states. Fails if the
    /// memory budget is too small.
    pub(crate) fn reserve(&mut self, place: FilePosition, vertices: u64, arcs: u64) -> Result<(), FileError> {
        let budget_bytes = self.options.memory_bytes;
        let needed_bytes = self.needed_bytes(vertices, arcs);
        let too_large = FileError::TooLarge {
            place,
            size: format!("a graph of {} and {}", counted(vertices, "vertex"), counted(arcs, "arc")),
            needed_bytes,
            budget_bytes,
        };
        if needed_bytes > budget_bytes {
            return Err(too_large);
        }
        // A header may be wrong. Memory for a short file is reserved now, and more memory when the
        // arcs are read.
        let reserve = arcs.min(1 << 20) as usize;
        let mut reserved = self.sources.try_reserve(reserve).and(self.targets.try_reserve(reserve));
        if let Some(values) = &mut self.values {
            reserved = reserved.and(values.try_reserve(reserve));
        }
        if let Some(positions) = &mut self.positions {
            reserved = reserved.and(positions.try_reserve(reserve));
        }
        self.arcs_max = (budget_bytes - self.needed_bytes(vertices, 0)) / self.arc_bytes();
        reserved.map_err(|_| too_large)
    }

    /// Adds an arc. The word that the scanner has read last is the end of the arc's entry in the
    /// file.
    #[inline]
    pub(crate) fn add_arc(
        &mut self,
        scan: &Scanner<'_>,
        (source, target): (u32, u32),
        value: f64,
        column: u64,
    ) -> Result<(), FileError> {
        if source == target {
            match self.options.self_loops {
                DefectPolicy::Keep => {}
                DefectPolicy::Repair => {
                    self.repairs.self_loops_removed += 1;
                    if let Some(isolated) =
                        self.isolated.as_mut().filter(|isolated| isolated.last() != Some(&source))
                    {
                        isolated.push(source);
                    }
                    return self.within_memory(scan);
                }
                DefectPolicy::Refuse => {
                    return Err(FileError::Refused {
                        place: scan.place(scan.line(), column),
                        what: "found a self loop".to_owned(),
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
        if let Some(positions) = &mut self.positions {
            positions.push(PackedPosition::new(scan.line(), column));
        }
        Ok(())
    }

    /// Fails if one more arc would exceed the memory budget.
    #[inline]
    fn within_memory(&self, scan: &Scanner<'_>) -> Result<(), FileError> {
        let arcs =
            self.sources.len() as u64 + self.isolated.as_ref().map_or(0, |isolated| isolated.len() as u64);
        if arcs < self.arcs_max {
            return Ok(());
        }
        Err(FileError::TooLarge {
            place: scan.word_place(),
            size: format!("a graph of at least {}", counted(arcs + 1, "arc")),
            needed_bytes: self.needed_bytes(0, arcs + 1),
            budget_bytes: self.options.memory_bytes,
        })
    }

    /// Adds an arc and its reverse arc, because the file lists the edge only once.
    pub(crate) fn add_edge(
        &mut self,
        scan: &Scanner<'_>,
        (source, target): (u32, u32),
        (value, reverse_value): (f64, f64),
        column: u64,
    ) -> Result<(), FileError> {
        self.add_arc(scan, (source, target), value, column)?;
        if source != target {
            self.add_arc(scan, (target, source), reverse_value, column)?;
            self.repairs.arcs_mirrored += 1;
        }
        Ok(())
    }

    /// All vertices that arcs name, in ascending order.
    pub(crate) fn named_vertices(&self) -> Vec<u32> {
        let isolated = self.isolated.as_deref().unwrap_or_default();
        let mut named = Vec::with_capacity(2 * self.sources.len() + isolated.len());
        named.extend(self.sources.iter().chain(&self.targets).chain(isolated));
        named.sort_unstable();
        named.dedup();
        named
    }

    /// Gives the vertices in `named` the numbers 0, 1, 2 and so on, in their order.
    pub(crate) fn renumber(&mut self, named: &[u32]) {
        let moved = named.iter().zip(0..).filter(|&(&vertex, index)| vertex != index).count();
        self.repairs.vertices_renumbered += moved as u64;
        if moved > 0 {
            for vertex in self.sources.iter_mut().chain(&mut self.targets) {
                *vertex = named.partition_point(|known| known < vertex) as u32;
            }
        }
    }

    /// Makes the graph from all arcs. The numbers of their vertices are below `vertices`.
    pub(crate) fn finish(mut self, scan: &Scanner<'_>, vertices: u32) -> Result<(Csr, Repairs), FileError> {
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

    /// Moves each arc into the row of its source. Arcs of one row stay in the order of the file.
    fn scatter(&mut self, offsets: &[u64]) -> Rows {
        let count = self.sources.len();
        let (sources, targets) = (core::mem::take(&mut self.sources), core::mem::take(&mut self.targets));
        let (values, positions) = (self.values.take(), self.positions.take());
        let mut rows = Rows {
            targets: vec![0; count],
            values: values.as_ref().map(|_| vec![0.0; count]),
            positions: positions.as_ref().map(|_| vec![PackedPosition(0); count]),
        };
        let mut next = offsets.to_vec();
        for (index, (&source, &target)) in sources.iter().zip(&targets).enumerate() {
            let slot = next[source as usize] as usize;
            next[source as usize] += 1;
            rows.targets[slot] = target;
            if let (Some(to), Some(from)) = (&mut rows.values, &values) {
                to[slot] = from[index];
            }
            if let (Some(to), Some(from)) = (&mut rows.positions, &positions) {
                to[slot] = from[index];
            }
        }
        rows
    }

    /// Sorts the arcs of each row. Merges, keeps or refuses duplicate arcs, as the options say.
    fn sort_rows(
        &mut self,
        scan: &Scanner<'_>,
        offsets: &mut [u64],
        rows: &mut Rows,
    ) -> Result<(), FileError> {
        let mut scratch: Vec<(u32, f64, PackedPosition)> = Vec::new();
        let mut write = 0;
        let mut first = 0;
        for (source, offset) in (0..).zip(&mut offsets[1..]) {
            let end = *offset as usize;
            scratch.clear();
            scratch.extend((first..end).map(|index| rows.entry(index)));
            first = end;
            scratch.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
            let begin = write;
            for &(target, value, position) in &scratch {
                if write > begin && rows.targets[write - 1] == target {
                    match self.options.duplicates {
                        DefectPolicy::Keep => {}
                        DefectPolicy::Repair => {
                            self.repairs.duplicates_merged += 1;
                            continue;
                        }
                        DefectPolicy::Refuse => {
                            let other = rows.entry(write - 1).2;
                            return Err(self.duplicate(
                                scan,
                                (source, target),
                                position.max(other),
                                position.min(other),
                            ));
                        }
                    }
                }
                rows.set(write, target, value, position);
                write += 1;
            }
            *offset = write as u64;
        }
        rows.truncate(write);
        Ok(())
    }

    fn duplicate(
        &self,
        scan: &Scanner<'_>,
        (source, target): (u32, u32),
        position: PackedPosition,
        first: PackedPosition,
    ) -> FileError {
        let place = scan.place(position.0 >> COLUMN_BITS, position.0 & ((1 << COLUMN_BITS) - 1));
        let what = format!(
            "found a duplicate of the arc from vertex {source} to vertex {target} (counted from 0) \
             on line {}",
            first.0 >> COLUMN_BITS
        );
        FileError::Refused { place, what }
    }
}

/// The arcs in rows: those with the same source are adjacent.
struct Rows {
    targets: Vec<u32>,
    values: Option<Vec<f64>>,
    positions: Option<Vec<PackedPosition>>,
}

impl Rows {
    #[inline]
    fn entry(&self, index: usize) -> (u32, f64, PackedPosition) {
        let value = self.values.as_ref().map_or(0.0, |values| values[index]);
        let position = self.positions.as_ref().map_or(PackedPosition(0), |positions| positions[index]);
        (self.targets[index], value, position)
    }

    #[inline]
    fn set(&mut self, index: usize, target: u32, value: f64, position: PackedPosition) {
        self.targets[index] = target;
        if let Some(values) = &mut self.values {
            values[index] = value;
        }
        if let Some(positions) = &mut self.positions {
            positions[index] = position;
        }
    }

    fn truncate(&mut self, count: usize) {
        self.targets.truncate(count);
        if let Some(values) = &mut self.values {
            values.truncate(count);
        }
    }
}
