//! The observer that counts the operations of a program in a run without time and without caches.

use std::collections::BTreeMap;

use kernel::reference::{Issue, Observer as Watches};
use kernel::{Action, Launch, Posted, Shape, Space, Work};
use proto::{Level, Order};
use serde::Serialize;
use sim::race::level_name;

use super::lines::{Lines, ValidCopy};

/// The statistics of a run. The field names are keys of the JSON output. A wavefront executes a
/// memory operation with several lanes. The access of one of these lanes is called a lane access.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Statistics {
    /// The number of kernels launched.
    pub kernels: u64,
    /// The number of work-groups dispatched.
    pub work_groups: u64,
    /// The number of wavefronts run.
    pub wavefronts: u64,
    /// The number of lane accesses of ordinary loads.
    pub loads: u64,
    /// The number of lane accesses of ordinary stores.
    pub stores: u64,
    /// The number of lane accesses of atomic loads, atomic stores and read-modify-writes.
    pub atomics: u64,
    /// The number of ordinary loads divided by the number of ordinary stores. `None` if there are
    /// no stores.
    pub loads_per_store: Option<f64>,
    /// The number of lane accesses of atomics divided by the number of all lane accesses to global
    /// memory: from 0 to 1.
    pub atomic_share: f64,
    /// The number of lane accesses of read-modify-writes at device or system scope, divided by the
    /// number of all lane accesses to global memory: from 0 to 1.
    pub device_atomic_share: f64,
    /// The numbers of atomics, grouped by operation, order and scope.
    pub atomics_by_kind: Vec<AtomicKind>,
    /// The number of fences that wavefronts execute.
    pub fences: u64,
    /// The number of arrivals of wavefronts at barriers.
    pub barriers: u64,
    /// The number of lane accesses to the local memory of work-groups.
    pub lds_accesses: u64,
    /// The amount of arithmetic: the number of vector operations, multiplied by the number of lanes
    /// of a wavefront.
    pub lane_operations: u64,
    /// The bytes of all lane accesses to global memory.
    pub global_bytes: u64,
    /// The field `lane_operations` divided by the field `global_bytes`: arithmetic per byte of
    /// global memory accessed.
    pub operations_per_byte: f64,
    /// The number of line reads. When a wavefront executes an ordinary load, this counts as one
    /// read of each different line that its lanes access.
    pub line_reads: u64,
    /// The fraction of the line reads for which the compute unit has a valid copy of the line from
    /// the same launch of a kernel. A copy is valid until another compute unit or the host writes
    /// the line. Copies are never evicted.
    pub reuse_within: f64,
    /// The fraction of the line reads for which the compute unit has a valid copy of the line from
    /// an earlier launch of a kernel.
    pub reuse_across: f64,
    /// The fraction of the line reads for which the compute unit has a valid copy of the line, and
    /// the same compute unit was the last writer of the line.
    pub read_after_write: f64,
    /// The number of different lines accessed.
    pub lines: u64,
    /// The number of different lines that a compute unit accesses: the mean over all compute units.
    pub lines_per_cu_mean: f64,
    /// The number of different lines that a compute unit accesses: the maximum over all compute
    /// units.
    pub lines_per_cu_max: u64,
    /// The number of lines that several compute units read in one launch of a kernel. Lines that
    /// `true_shared_lines` or `false_shared_lines` counts are not included.
    pub read_shared_lines: u64,
    /// The number of lines that have a word of 4 bytes that one compute unit writes and another
    /// compute unit accesses in the same launch of a kernel.
    pub true_shared_lines: u64,
    /// The number of falsely shared lines: one compute unit writes the line and another compute
    /// unit accesses the line in the same launch of a kernel, but they access different words of 4
    /// bytes. Lines that `true_shared_lines` counts are not included.
    pub false_shared_lines: u64,
    /// The imbalance between compute units. For each launch of a kernel, take the number of vector
    /// operations of the busiest compute unit (the maximum), and the mean number over all compute
    /// units. The imbalance is the sum of the maxima over all launches, divided by the sum of the
    /// means. Memory operations and arithmetic both count as vector operations. The value 1 means
    /// balance.
    pub imbalance: f64,
}

/// The number of atomics with one operation, one memory order and one scope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AtomicKind {
    /// The operation: `load`, `store` or `update`. An `update` is a read-modify-write.
    pub operation: &'static str,
    /// The memory order of the atomics, such as `acquire`.
    pub order: &'static str,
    /// The scope of the atomics, such as a work-group.
    pub scope: &'static str,
    /// The number of lane accesses of the atomics with this combination of operation, order and
    /// scope.
    pub accesses: u64,
}

/// The index in `OPERATIONS` of the operation's name: load, store or update.
fn operation(action: Action) -> usize {
    match action {
        Action::Load => 0,
        Action::Store => 1,
        _ => 2,
    }
}

const OPERATIONS: [&str; 3] = ["load", "store", "update"];

fn order_name(order: Order) -> &'static str {
    match order {
        Order::Plain => "plain",
        Order::Relaxed => "relaxed",
        Order::Acquire => "acquire",
        Order::Release => "release",
        Order::AcqRel => "acq-rel",
        Order::SeqCst => "seq-cst",
    }
}

/// Observes a run and counts its operations.
#[derive(Debug)]
pub(super) struct Observer {
    lanes: u64,
    compute_units: u32,
    statistics: Statistics,
    atomics: BTreeMap<(usize, Order, Level), u64>,
    device_updates: u64,
    reused: [u64; 3],
    lines: Lines,
    /// For each launch of a kernel, the number of vector operations of each compute unit.
    busy: Vec<Vec<u64>>,
    /// The lines that the current operation accesses. The list is kept so that its memory is
    /// reused.
    of_operation: Vec<u64>,
}

impl Observer {
    pub(super) fn new(shape: &Shape) -> Observer {
        Observer {
            lanes: u64::from(shape.lanes),
            compute_units: shape.compute_units,
            statistics: Statistics::default(),
            atomics: BTreeMap::new(),
            device_updates: 0,
            reused: [0; 3],
            lines: Lines::new(shape.line_bytes),
            busy: Vec::new(),
            of_operation: Vec::new(),
        }
    }

    fn works(&mut self, issue: Issue, work: &Work, operations: u64) {
        let arithmetic: u64 = work.0.iter().map(|count| u64::from(*count)).sum();
        self.statistics.lane_operations += arithmetic * self.lanes;
        self.busy[usize::from(issue.kernel.0)][issue.at.compute_unit as usize] += arithmetic + operations;
    }

    fn access(&mut self, issue: Issue, op: &Posted) {
        let accesses = u64::from(op.exec.count());
        let bytes = op.width.bytes() as u64;
        self.statistics.global_bytes += accesses * bytes;
        let semantics = op.semantics;
        let is_update = matches!(op.action, Action::Rmw { .. });
        let is_plain = semantics.order == Order::Plain && !is_update;
        match op.action {
            Action::Load if is_plain => self.statistics.loads += accesses,
            Action::Store if is_plain => self.statistics.stores += accesses,
            _ => {
                self.statistics.atomics += accesses;
                let kind = (operation(op.action), semantics.order, semantics.level);
                *self.atomics.entry(kind).or_default() += accesses;
                if is_update && matches!(semantics.level, Level::Device | Level::System) {
                    self.device_updates += accesses;
                }
            }
        }
        let writes = op.action != Action::Load;
        let (cu, launch) = (issue.at.compute_unit, u32::from(issue.kernel.0) + 1);
        let mut lines = core::mem::take(&mut self.of_operation);
        lines.clear();
        lines.extend(op.exec.iter().map(|lane| self.lines.line_of(op.addr(lane).0)));
        lines.sort_unstable();
        lines.dedup();
        for line in &lines {
            let (valid_copy, is_own) = self.lines.touch(*line, cu, launch, writes);
            if is_plain && !writes {
                self.statistics.line_reads += 1;
                self.reused[0] += u64::from(valid_copy == ValidCopy::SameLaunch);
                self.reused[1] += u64::from(valid_copy == ValidCopy::EarlierLaunch);
                self.reused[2] += u64::from(is_own);
            }
        }
        self.of_operation = lines;
        for lane in op.exec.iter() {
            self.lines.word(op.addr(lane).0, bytes, cu, writes);
        }
    }

    /// Returns the statistics at the end of the run.
    pub(super) fn finish(mut self) -> Statistics {
        let share = |part: u64, of: u64| if of == 0 { 0.0 } else { part as f64 / of as f64 };
        let mut statistics = core::mem::take(&mut self.statistics);
        let accesses = statistics.loads + statistics.stores + statistics.atomics;
        statistics.loads_per_store =
            (statistics.stores > 0).then(|| share(statistics.loads, statistics.stores));
        statistics.atomic_share = share(statistics.atomics, accesses);
        statistics.device_atomic_share = share(self.device_updates, accesses);
        let kind = |((operation, order, level), accesses): (&(usize, Order, Level), &u64)| AtomicKind {
            operation: OPERATIONS[*operation],
            order: order_name(*order),
            scope: level_name(*level),
            accesses: *accesses,
        };
        statistics.atomics_by_kind = self.atomics.iter().map(kind).collect();
        statistics.operations_per_byte = share(statistics.lane_operations, statistics.global_bytes);
        [statistics.reuse_within, statistics.reuse_across, statistics.read_after_write] =
            self.reused.map(|reads| share(reads, statistics.line_reads));
        let [private, read, by_words, truly] = self.lines.count();
        statistics.lines = private + read + by_words + truly;
        (statistics.read_shared_lines, statistics.false_shared_lines, statistics.true_shared_lines) =
            (read, by_words, truly);
        let per_cu = self.lines.per_cu(self.compute_units);
        statistics.lines_per_cu_max = per_cu.iter().copied().max().unwrap_or(0);
        statistics.lines_per_cu_mean = share(per_cu.iter().sum(), per_cu.len() as u64);
        let busiest: u64 = self.busy.iter().filter_map(|units| units.iter().max()).sum();
        let all: u64 = self.busy.iter().flatten().sum();
        statistics.imbalance = share(busiest * u64::from(self.compute_units), all);
        statistics
    }
}

impl Watches for Observer {
    fn launch(&mut self, launch: &Launch) {
        self.statistics.kernels += 1;
        let groups = u64::from(launch.grid.work_groups);
        self.statistics.work_groups += groups;
        self.statistics.wavefronts += groups * u64::from(launch.grid.waves);
        let known = self.busy.len().max(usize::from(launch.kernel.0) + 1);
        self.busy.resize(known, vec![0; self.compute_units as usize]);
    }

    fn issue(&mut self, issue: Option<Issue>, op: &Posted) {
        let Some(issue) = issue else {
            let bytes = match op.action {
                Action::HostWrite => op.bulk.len() as u64,
                Action::Store | Action::Rmw { .. } => op.width.bytes() as u64,
                _ => return,
            };
            return self.lines.host_writes(op.base().0, bytes);
        };
        self.works(issue, &op.work, 1);
        match (op.action, op.space) {
            (Action::Fence, _) => self.statistics.fences += 1,
            (Action::Barrier, _) => self.statistics.barriers += 1,
            (_, Space::Lds) => self.statistics.lds_accesses += u64::from(op.exec.count()),
            _ if op.is_access() => self.access(issue, op),
            _ => {}
        }
    }

    fn tail(&mut self, issue: Issue, work: &Work) {
        self.works(issue, work, 0);
    }
}
