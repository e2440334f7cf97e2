//! From an operation of a wavefront to requests for lines.

use kernel::{Action, Addressing, LANES_MAX, Mask, OpId, Packed, Posted, Space};
use proto::issue::{IssueId, IssueKind, IssueOp, Verdict};
use proto::{
    Agent, ArrayId, Hints, Issuer, Level, LineData, Op, Order, PlanKey, Request, RmwKind, Scope, Width,
};

use super::spent::Beside;
use super::wave::{LastOp, Stage};
use super::{Machine, Owner};
use crate::coalesce::LinePart;
use crate::probe::{Probe, WaveAt};
use crate::queue::Cycle;

/// What an instruction is, beyond the access of its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// An access, a fence or a kernel boundary: complete when it is answered.
    Simple,
    /// The release in front of a barrier.
    BarrierRelease,
    /// At the barrier.
    BarrierWait,
    /// The acquire behind a barrier.
    BarrierAcquire,
    /// An access to local memory.
    Lds,
}

/// An operation under way.
#[derive(Debug)]
pub(super) struct Instr {
    pub(super) owner: Owner,
    /// The posted operation, unless the issue rule let its issuer go on.
    pub(super) op: Option<OpId>,
    pub(super) issue: IssueId,
    pub(super) phase: Phase,
    /// Line requests not yet answered.
    pub(super) left: u32,
    /// When the latest answer is there.
    pub(super) done_at: Cycle,
    pub(super) issued_at: Cycle,
    pub(super) ask: AskHead,
    /// What it spent beside its access in earlier phases, and in this one.
    pub(super) spent: Beside,
    pub(super) spent_now: Beside,
    /// The operands of a store whose issuer has gone on.
    pub(super) kept: Option<Box<Kept>>,
}

/// What all line requests of an instruction have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct AskHead {
    pub(super) op: Op,
    pub(super) order: Order,
    pub(super) scope: Scope,
    pub(super) hints: Hints,
    pub(super) array: ArrayId,
    pub(super) width: Width,
    pub(super) wavefront: u32,
    pub(super) work_group: u32,
}

/// The operands of a store that outlive its operation.
#[derive(Debug)]
pub(super) struct Kept {
    exec: Mask,
    data: Packed,
    addresses: [u64; LANES_MAX],
    parts: Vec<LinePart>,
}

/// The words that describe an operation.
pub(super) fn describe(op: &Posted) -> &'static str {
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

impl AskHead {
    pub(super) fn of(op: &Posted, at: WaveAt, slots: u32, lanes: u32, cus_per_chiplet: u32) -> AskHead {
        let first = op.exec.first().unwrap_or(0) as u32;
        let wave = at.cu * slots + at.slot;
        let instance = match op.semantics.level {
            Level::WorkItem => wave * lanes + first,
            Level::SubGroup => wave,
            Level::WorkGroup => at.work_group,
            Level::Chiplet => at.cu / cus_per_chiplet.max(1),
            Level::Device | Level::System => 0,
            Level::Named => op.semantics.named,
        };
        let action = match op.action {
            Action::Load => Op::Load,
            Action::Store => Op::Store,
            Action::Rmw { .. } => op.rmw(first as usize).map_or(Op::Fence, Op::Rmw),
            _ => Op::Fence,
        };
        AskHead {
            op: action,
            order: op.semantics.order,
            scope: Scope { level: op.semantics.level, instance },
            hints: op.semantics.hints,
            array: op.array,
            width: op.width,
            wavefront: at.slot,
            work_group: at.work_group,
        }
    }

    /// What decides where it enters.
    pub(super) fn key(&self) -> PlanKey {
        PlanKey::new(self.op, self.order, self.scope.level, self.hints)
    }

    /// The request for one line, without operands.
    #[inline]
    pub(super) fn request(&self, part: &LinePart) -> Request {
        Request {
            op: self.op,
            order: self.order,
            scope: self.scope,
            issuer: Issuer {
                work_item: part.lanes.trailing_zeros() & 63,
                wavefront: self.wavefront,
                work_group: self.work_group,
            },
            hints: self.hints,
            array: self.array,
            line: part.line,
            mask: part.mask,
            data: LineData::default(),
        }
    }
}

/// Puts the operands of a part's lanes where they belong in the line.
#[inline]
pub(super) fn gather_operands(
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

/// Puts the bytes of a line where the part's lanes expect them.
#[inline]
pub(super) fn scatter_values(op: &mut Posted, part: &LinePart, line_bytes: u64, from: &[u8]) {
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

/// The first and last byte that an operation may touch. Local memory lies
/// beyond every global address.
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

pub(super) fn issue_op(op: &Posted, id: IssueId) -> IssueOp {
    let kind = match op.action {
        Action::Load => IssueKind::Load,
        Action::Store => IssueKind::Store,
        Action::Rmw { .. } => IssueKind::Rmw,
        _ => IssueKind::Fence,
    };
    let (first, last) = extent(op);
    IssueOp { id, kind, order: op.semantics.order, first, last }
}

impl<Pr: Probe> Machine<'_, Pr> {
    /// Offers an operation, whose arithmetic is done, to the issue rule.
    #[inline(never)]
    pub(super) fn offer(&mut self, now: Cycle, number: u32, id: OpId) {
        let wave = &mut self.waves[number as usize];
        let issue = IssueId(wave.next_issue);
        let mut ops = self.session.ops();
        for other in &self.options.scopes {
            other.apply(ops.get_mut(id));
        }
        let op = ops.get(id);
        let verdict = wave.issue.offer(issue_op(op, issue));
        if verdict == Verdict::Hold {
            wave.stage = Stage::Held(id);
            return;
        }
        wave.next_issue = wave.next_issue.wrapping_add(1);
        let lane = op.exec.first().unwrap_or(0);
        let address = (op.is_access() && op.space == Space::Global).then(|| op.addr(lane).0);
        let again = wave.last.filter(|last| last.site == op.site && last.address == address);
        let value = again.and_then(|last| last.value);
        wave.last = Some(LastOp { site: op.site, what: describe(op), address, value });
        let at = wave.at;
        self.probe.issue(now, at, op);
        drop(ops);
        match verdict {
            Verdict::Send | Verdict::Hold => self.start(now, number, id, issue, true),
            Verdict::Buffer => self.start(now, number, id, issue, false),
            Verdict::Forward(from) => self.forward(now, number, id, issue, from),
        }
    }

    /// Starts an operation; one that is not `sent` only joins the stores that
    /// its wavefront has left behind.
    fn start(&mut self, now: Cycle, number: u32, id: OpId, issue: IssueId, sent: bool) {
        let at = self.waves[number as usize].at;
        let ops = self.session.ops();
        let op = ops.get(id);
        let cu = &self.system.cu;
        let per_chiplet = cu.count / self.system.chiplets;
        let ask = AskHead::of(op, at, cu.wavefront_slots, cu.lanes, per_chiplet);
        let (action, space, order) = (op.action, op.space, op.semantics.order);
        let mut instr = Instr {
            owner: Owner::Wave(number),
            op: Some(id),
            issue,
            phase: Phase::Simple,
            left: 1,
            done_at: now,
            issued_at: now,
            ask,
            kept: None,
            spent: Beside::default(),
            spent_now: Beside::default(),
        };
        if self.watch.is_examining() {
            examine(&mut self.watch, now, number, op);
        }
        let counts = &mut self.tally.counts;
        match (action, space) {
            (Action::Load | Action::Store | Action::Rmw { .. }, Space::Lds) => {
                drop(ops);
                instr.phase = Phase::Lds;
                let instr = self.add_instr(number, instr);
                return self.local_access(now, number, id, instr);
            }
            (Action::Load, Space::Global) => counts.loads += 1,
            (Action::Store, Space::Global) => counts.stores += 1,
            (Action::Rmw { .. }, Space::Global) => counts.atomics += 1,
            (Action::Barrier, _) => {
                drop(ops);
                let instr = self.add_instr(number, instr);
                return self.reach_barrier(now, number, instr, order);
            }
            _ => {
                counts.fences += 1;
                drop(ops);
                let instr = self.add_instr(number, instr);
                return self.ask_order(now, Agent::Cu(at.cu as u16), instr);
            }
        }
        let mut parts = core::mem::take(&mut self.parts);
        parts.clear();
        split(&mut self.coalescer, op, &mut parts);
        instr.left = parts.len() as u32;
        if !sent {
            let addresses = core::array::from_fn(|lane| op.addr(lane).0);
            instr.kept =
                Some(Box::new(Kept { exec: op.exec, data: op.data, addresses, parts: parts.clone() }));
            instr.op = None;
        }
        drop(ops);
        let instr = self.add_instr(number, instr);
        if sent {
            self.ask_lines(now, Agent::Cu(at.cu as u16), instr, &parts);
        } else {
            self.waves[number as usize].buffered.push((issue, instr));
            self.accept_early(now, number, id);
        }
        self.parts = parts;
    }

    fn add_instr(&mut self, wave: u32, instr: Instr) -> u32 {
        self.waves[wave as usize].outstanding += 1;
        self.instrs.insert(instr)
    }

    /// Sends a store that waited in its wavefront's buffer.
    pub(super) fn send_buffered(&mut self, now: Cycle, number: u32, issue: IssueId) {
        let wave = &mut self.waves[number as usize];
        let Some(at) = wave.buffered.iter().position(|&(id, _)| id == issue) else { return };
        let (_, instr) = wave.buffered.remove(at);
        if !self.keeps_back(instr) {
            self.send_kept(now, instr);
        }
    }

    /// Sends what a core has kept back.
    pub(super) fn send_kept(&mut self, now: Cycle, instr: u32) {
        let cu = match self.instrs.get(instr).map(|instr| instr.owner) {
            Some(Owner::Wave(wave)) => self.waves[wave as usize].at.cu as u16,
            Some(Owner::Group(group)) => return self.send_for_group(now, group, instr),
            _ => return,
        };
        let parts = match self.instrs.get_mut(instr).and_then(|i| i.kept.as_mut()) {
            Some(kept) => core::mem::take(&mut kept.parts),
            None => return,
        };
        self.ask_lines(now, Agent::Cu(cu), instr, &parts);
    }

    /// A load takes its bytes from an older store of its own wavefront.
    fn forward(&mut self, now: Cycle, number: u32, id: OpId, issue: IssueId, from: IssueId) {
        let store =
            self.instrs.iter().map(|(_, instr)| instr).find(|instr| {
                instr.owner == Owner::Wave(number) && instr.issue == from && instr.op != Some(id)
            });
        let values = {
            let ops = self.session.ops();
            store.and_then(|store| forwarded(&ops, store, ops.get(id)))
        };
        let Some(values) = values else {
            // The store covers the range, but not every word of it.
            self.waves[number as usize].stage = Stage::Held(id);
            return;
        };
        let mut ops = self.session.ops();
        let op = ops.get_mut(id);
        for lane in op.exec.iter() {
            op.set_value(lane, values[lane]);
        }
        drop(ops);
        let ask = {
            let ops = self.session.ops();
            let at = self.waves[number as usize].at;
            let cu = &self.system.cu;
            AskHead::of(ops.get(id), at, cu.wavefront_slots, cu.lanes, cu.count)
        };
        // It comes from no station: where a leader looks, it crosses nothing.
        let order = if self.leader.is_some() { Order::Plain } else { ask.order };
        let ask = AskHead { order, ..ask };
        self.tally.counts.loads += 1;
        let instr = Instr {
            owner: Owner::Wave(number),
            op: Some(id),
            issue,
            phase: Phase::Simple,
            left: 0,
            done_at: now + 1,
            issued_at: now,
            ask,
            kept: None,
            spent: Beside::default(),
            spent_now: Beside::default(),
        };
        let instr = self.add_instr(number, instr);
        self.at(now + 1, super::Event::Complete(instr));
    }

    /// The request for one line of an instruction, with its operands.
    pub(super) fn build_request(&self, instr: &Instr, part: &LinePart) -> Request {
        let mut request = instr.ask.request(part);
        if matches!(request.op, Op::Store | Op::Rmw(_)) {
            let line_bytes = u64::from(self.system.l1.line_bytes);
            let width = instr.ask.width;
            if let Some(kept) = &instr.kept {
                let address = |lane: usize| kept.addresses[lane];
                gather_operands(&kept.data, address, width, part, line_bytes, &mut request.data);
            } else if let Some(id) = instr.op {
                let ops = self.session.ops();
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
}

/// Splits an access into line requests.
pub(super) fn split(coalescer: &mut crate::coalesce::Coalescer, op: &Posted, parts: &mut Vec<LinePart>) {
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

/// Are the lanes without gap?
#[inline]
fn is_run(lanes: u64) -> bool {
    let run = lanes >> (lanes.trailing_zeros() & 63);
    run & run.wrapping_add(1) == 0
}

/// The values that a load takes from a store, if the store writes every word.
fn forwarded(ops: &kernel::Ops, store: &Instr, load: &Posted) -> Option<[u64; LANES_MAX]> {
    let mut values = [0; LANES_MAX];
    for lane in load.exec.iter() {
        let address = load.addr(lane).0;
        values[lane] = match (&store.kept, store.op) {
            (Some(kept), _) if store.ask.width == load.width => {
                let mut lanes = (0..LANES_MAX).rev();
                let lane = lanes.find(|&l| kept.exec.has(l) && kept.addresses[l] == address)?;
                kept.data.get(lane, load.width)
            }
            (None, Some(id)) if store.ask.width == load.width => {
                let from = ops.get(id);
                let lanes = (0..LANES_MAX).rev().find(|&l| from.exec.has(l) && from.addr(l).0 == address)?;
                from.value(lanes)
            }
            _ => return None,
        };
    }
    Some(values)
}

/// Does the wavefront do what it did before?
fn examine(watch: &mut crate::progress::Watch, now: Cycle, wave: u32, op: &Posted) {
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
