//! Conversions of operations: to text, to address ranges for the issue rule, and to line requests
//! with their operands.

use kernel::{Action, Addressing, LANES_MAX, Packed, Posted, Session, Space};
use proto::issue::{IssueId, IssueKind, IssueOp};
use proto::{LineData, Op, Request, RmwKind, Width};

use crate::cores::coalesce::{Coalescer, LinePart};
use crate::cores::instr::Instr;
use crate::queue::Cycle;
use crate::reports::progress::Watch;

/// The name of an operation in the diagnosis of a stuck run.
pub(crate) fn describe(op: &Posted) -> &'static str {
    match (op.action, op.space) {
        (Action::Load, Space::Global) => "load",
        (Action::Store, Space::Global) => "store",
        (Action::Rmw { .. }, Space::Global) => "atomic",
        (Action::Load, Space::Lds) => "local load",
        (Action::Store, Space::Lds) => "local store",
        (Action::Rmw { .. }, Space::Lds) => "local atomic",
        (Action::Fence, _) => "fence",
        (Action::Barrier, _) => "barrier",
        (Action::HostWrite | Action::HostRead, _) => "copy",
        (Action::Launch(_), _) => "launch",
    }
}

/// Copies the operand of each lane of a part to the lane's address in the line. A part is the
/// portion of an instruction that concerns one line.
#[inline]
pub(crate) fn gather_operands(
    data: &Packed,
    address: impl Fn(usize) -> u64,
    width: Width,
    part: &LinePart,
    line_bytes: u64,
    to: &mut LineData,
) {
    let bytes = width.bytes();
    if let Some(offset) = part.run {
        let (first, count) = (part.lanes.trailing_zeros() as usize, part.lanes.count_ones() as usize);
        let offset = usize::from(offset);
        to.0[offset..offset + count * bytes].copy_from_slice(&data.0[first * bytes..(first + count) * bytes]);
        return;
    }
    let mut left = part.lanes;
    while left != 0 {
        let lane = left.trailing_zeros() as usize;
        left &= left - 1;
        let offset = (address(lane) & (line_bytes - 1)) as usize;
        to.0[offset..offset + bytes].copy_from_slice(&data.0[lane * bytes..(lane + 1) * bytes]);
    }
}

/// Copies bytes of a line to the values of the lanes of `part`, the portion of an instruction that
/// concerns this line.
#[inline]
pub(crate) fn scatter_values(op: &mut Posted, part: &LinePart, line_bytes: u64, from: &[u8]) {
    let bytes = op.width.bytes();
    if let Some(offset) = part.run {
        let (first, count) = (part.lanes.trailing_zeros() as usize, part.lanes.count_ones() as usize);
        let offset = usize::from(offset);
        op.data.0[first * bytes..(first + count) * bytes]
            .copy_from_slice(&from[offset..offset + count * bytes]);
        return;
    }
    let mut left = part.lanes;
    while left != 0 {
        let lane = left.trailing_zeros() as usize;
        left &= left - 1;
        let offset = (op.addr(lane).0 & (line_bytes - 1)) as usize;
        op.data.0[lane * bytes..(lane + 1) * bytes].copy_from_slice(&from[offset..offset + bytes]);
    }
}

/// The first and last byte that an operation may touch. Addresses of local memory are mapped above
/// every global address.
fn extent(op: &Posted) -> (u64, u64) {
    let bytes = op.width.bytes() as u64;
    let (first, last) = match op.addressing {
        Addressing::None => return (0, 0),
        Addressing::Single(at) => (at.0, at.0),
        Addressing::Unit(base) => {
            let lane = |lane: Option<usize>| base.0 + lane.unwrap_or(0) as u64 * bytes;
            (lane(op.exec.first()), lane(op.exec.last()))
        }
        Addressing::Gather => {
            let mut range = (u64::MAX, 0);
            for (lane, &address) in op.addrs().iter().enumerate() {
                if op.exec.has(lane) {
                    range = (range.0.min(address), range.1.max(address));
                }
            }
            range
        }
    };
    let space = if op.space == Space::Lds { 1 << 63 } else { 0 };
    (first | space, (last + bytes - 1) | space)
}

pub(crate) fn issue_op(op: &Posted, id: IssueId) -> IssueOp {
    let kind = match op.action {
        Action::Load => IssueKind::Load,
        Action::Store => IssueKind::Store,
        Action::Rmw { .. } => IssueKind::Rmw,
        _ => IssueKind::Fence,
    };
    let (first, last) = extent(op);
    IssueOp { id, kind, order: op.semantics.order, first, last }
}

/// The request for one line of an instruction, with the bytes to store.
pub(super) fn request(session: &Session, instr: &Instr, part: &LinePart, line_bytes: u64) -> Request {
    let mut request = instr.head.request(part);
    if matches!(request.op, Op::Store | Op::Rmw(_)) {
        let width = instr.head.width;
        if let Some(id) = instr.op {
            let ops = session.ops();
            let op = ops.get(id);
            let address = |lane: usize| op.addr(lane).0;
            gather_operands(&op.data, address, width, part, line_bytes, &mut request.data);
            if let Op::Rmw(rmw) = &mut request.op
                && matches!(rmw.kind, RmwKind::CompareExchange { .. })
            {
                *rmw = op.rmw(part.lanes.trailing_zeros() as usize).unwrap_or(*rmw);
            }
        }
    }
    request
}

/// Splits an access into line requests, which it appends to `parts`.
pub(crate) fn split(coalescer: &mut Coalescer, op: &Posted, parts: &mut Vec<LinePart>) {
    let lanes = op.exec.0;
    let is_rmw = matches!(op.action, Action::Rmw { .. });
    let compares = matches!(op.action, Action::Rmw { kind: RmwKind::CompareExchange { .. }, .. });
    match op.addressing {
        Addressing::None => {}
        Addressing::Single(at) => coalescer.unit_stride(
            at.0.wrapping_sub((lanes.trailing_zeros() as usize * op.width.bytes()) as u64),
            lanes & lanes.wrapping_neg(),
            op.width,
            parts,
        ),
        Addressing::Unit(base) if !compares && is_run(lanes) => {
            coalescer.unit_stride(base.0, lanes, op.width, parts);
        }
        Addressing::Gather if !is_rmw => coalescer.gather(op.addrs(), lanes, op.width, parts),
        Addressing::Unit(_) | Addressing::Gather => {
            let addresses = core::array::from_fn(|lane| op.addr(lane).0);
            if !is_rmw {
                return coalescer.gather(&addresses, lanes, op.width, parts);
            }
            let expected = |lane| match op.rmw(lane).map(|rmw| rmw.kind) {
                Some(RmwKind::CompareExchange { expected }) => expected,
                _ => 0,
            };
            let tags: Option<[u64; LANES_MAX]> = compares.then(|| core::array::from_fn(expected));
            coalescer.words(&addresses, lanes, op.width, tags.as_ref(), parts);
        }
    }
}

/// Whether the active lanes have consecutive numbers.
#[inline]
fn is_run(lanes: u64) -> bool {
    let run = lanes >> (lanes.trailing_zeros() & 63);
    run & run.wrapping_add(1) == 0
}

/// The values that a load reads from an older store of its wavefront, one value for each lane.
/// `None` if the store does not write every word that the load reads.
pub(super) fn forwarded(ops: &kernel::Ops, store: &Instr, load: &Posted) -> Option<[u64; LANES_MAX]> {
    let from = ops.get(store.op?);
    if from.width != load.width {
        return None;
    }
    let mut values = [0; LANES_MAX];
    for lane in load.exec.iter() {
        let address = load.addr(lane).0;
        let storing = (0..LANES_MAX).rev().find(|&l| from.exec.has(l) && from.addr(l).0 == address)?;
        values[lane] = from.value(storing);
    }
    Some(values)
}

/// Whether two accesses of one wavefront share a byte, in any of their lanes.
pub(super) fn shares_byte(first: &Posted, second: &Posted) -> bool {
    let (first_bytes, second_bytes) = (first.width.bytes() as u64, second.width.bytes() as u64);
    let mut starts = [0; LANES_MAX];
    let mut count = 0;
    for lane in second.exec.iter() {
        starts[count] = second.addr(lane).0;
        count += 1;
    }
    let starts = &mut starts[..count];
    starts.sort_unstable();
    first.space == second.space
        && first.exec.iter().any(|lane| {
            let start = first.addr(lane).0;
            let next = starts.partition_point(|&other| other + second_bytes <= start);
            starts.get(next).is_some_and(|&other| other < start + first_bytes)
        })
}

/// Reports an operation to the watch, which detects wavefronts that repeat the same operations.
pub(super) fn examine(watch: &mut Watch, now: Cycle, wave: u32, op: &Posted) {
    let operand = |lane| match op.action {
        Action::Store | Action::Rmw { .. } => op.value(lane),
        _ => 0,
    };
    let site = (op.site.line(), op.site.column());
    match op.action {
        Action::Load | Action::Store | Action::Rmw { .. } => {
            for lane in op.exec.iter() {
                watch.examine(now, (wave, site, op.addr(lane).0, operand(lane)));
            }
        }
        _ => watch.examine(now, (wave, site)),
    }
}

/// Whether a read-modify-write changes any word of its line. `old` has the bytes of the line before
/// the operation. `op` must still hold the operands, which the old values later replace.
pub(crate) fn changes(instr: &Instr, op: &Posted, part: &LinePart, old: &LineData, line_bytes: u64) -> bool {
    if !matches!(instr.head.op, Op::Rmw(_)) {
        return false;
    }
    let lanes = kernel::Mask(part.lanes);
    lanes.iter().any(|lane| {
        let Some(rmw) = op.rmw(lane) else { return false };
        let old = old.read((op.addr(lane).0 & (line_bytes - 1)) as usize, op.width);
        rmw.apply(old, op.value(lane)) != old
    })
}
