//! The path of requests through ports to their stations (the controllers of the protocol), and the
//! return of the answers.

use proto::{Agent, LineData, Load, Op, Slot};

use super::Machine;
use crate::cores::coalesce::LinePart;
use crate::cores::operands::{changes, scatter_values};
use crate::engine::Event;
use crate::ports::{PendingRequest, WaitingRequest};
use crate::queue::Cycle;
use crate::reports::attribution::QueueWaits;
use crate::reports::probe::Probe;
use crate::reports::spent::Spent;
use crate::stations::fabric::StationId;
use crate::stations::timed::StepInput;

impl<Pr: Probe> Machine<'_, Pr> {
    /// Queues the line requests of an instruction at the port of the station (controller) that the
    /// protocol chooses.
    pub(crate) fn queue_lines(&mut self, now: Cycle, agent: Agent, instr: u32, parts: &[LinePart]) {
        let Some(station) = self.entry(agent, instr) else { return };
        if self.places_pages {
            self.touch(instr, parts);
        }
        if self.ports.queue(&mut self.engine, station, instr, parts) {
            self.serve(now, station);
        }
    }

    /// Places the pages of lines that are touched for the first time. If a wavefront makes the
    /// access, its page goes to the chiplet of the wavefront's compute unit. If the host makes the
    /// access, the page goes to the chiplet that interleaving gives.
    #[cold]
    fn touch(&mut self, instr: u32, parts: &[LinePart]) {
        let chiplet = self.cores.chiplet(instr);
        for part in parts {
            let chiplet = chiplet.unwrap_or_else(|| self.stations.homes().interleaved_chiplet(part.line));
            self.stations.fabric_mut().touch(part.line, chiplet);
        }
    }

    /// Queues a request that accesses no line: a request of a fence, or of the beginning or end of
    /// a kernel.
    pub(crate) fn queue_order(&mut self, now: Cycle, agent: Agent, instr: u32) {
        let Some(station) = self.entry(agent, instr) else { return };
        if self.ports.queue_order(&mut self.engine, station, instr) {
            self.serve(now, station);
        }
    }

    /// The station (controller) that receives the requests of an agent's instruction. The protocol
    /// chooses the station. If it chooses no station, the run ends with an error, and the result is
    /// `None`.
    #[inline]
    fn entry(&mut self, agent: Agent, instr: u32) -> Option<StationId> {
        let key = self.cores.instr(instr)?.head.key();
        let entry = self.stations.entry(agent, key);
        entry.map_err(|why| self.engine.violate(why)).ok()
    }

    #[inline(never)]
    pub(super) fn port_due(&mut self, now: Cycle, station: StationId) {
        if self.ports.due(&mut self.engine, station) {
            self.serve(now, station);
        }
    }

    /// Passes requests from the port of a station (controller) to the station, of as many lines as
    /// the port accepts in one cycle.
    #[inline(never)]
    fn serve(&mut self, now: Cycle, station: StationId) {
        let mut turn = self.ports.begin(now, station);
        while let Some(waiting) = self.ports.take(station, &mut turn) {
            self.reports.tally.counts.l1_port_wait_cycles += now - waiting.since;
            self.present(now, station, waiting);
        }
        self.ports.end(&mut self.engine, station);
    }

    /// Gives one request to its station (controller), and carries out the effects of the station's
    /// step.
    #[inline(never)]
    fn present(&mut self, now: Cycle, station: StationId, waiting: WaitingRequest) {
        let Some(instr) = self.cores.instr(waiting.instr) else { return };
        if instr.head.op == Op::Load
            && !instr.head.order.is_atomic()
            && self.answer_hit(now, station, &waiting)
        {
            return;
        }
        let Some(instr) = self.cores.instr(waiting.instr) else { return };
        let request = self.cores.request(&self.session, instr, &waiting.part);
        if request.is_atomic_access() {
            self.reports.tally.atomic_request(request.line);
        }
        let spent = Spent::new(now, request.op, now - waiting.since);
        let counts = &mut self.reports.tally.counts;
        match request.op {
            Op::Load | Op::Store | Op::Rmw(_) => counts.line_requests += 1,
            Op::Fence | Op::KernelBegin(_) | Op::KernelEnd(_) => counts.order_requests += 1,
        }
        let slot = self
            .ports
            .add_pending(station, PendingRequest { instr: waiting.instr, part: waiting.part, spent });
        self.catch_up(now, station);
        self.stations.request(station, slot, &request);
        let line = (waiting.part.lanes != 0).then_some(request.line);
        self.carry_out(now, station, StepInput::Request { line }, QueueWaits::default());
    }

    /// Answers a load hit without a step of the station (controller). The effect is the same as
    /// that of [`Machine::present`], [`Machine::carry_out`] and [`Machine::answer`]. Returns false
    /// if the load needs a step.
    #[inline]
    fn answer_hit(&mut self, now: Cycle, station: StationId, waiting: &WaitingRequest) -> bool {
        let Some(instr) = self.cores.instr_mut(waiting.instr) else { return false };
        let load = Load { key: instr.head.key(), line: waiting.part.line, mask: waiting.part.mask };
        let hit = self.stations.hit(now, &mut self.reports, station, &load);
        let Some((bytes, at)) = hit else { return false };
        self.reports.tally.counts.line_requests += 1;
        self.reports.tally.counts.answers += 1;
        instr
            .answered(at, || Spent::new(now, Op::Load, now - waiting.since).until(at, QueueWaits::default()));
        if let Some(op) = instr.op {
            let line_bytes = u64::from(self.system.sector_bytes());
            scatter_values(self.session.ops().get_mut(op), &waiting.part, line_bytes, bytes);
        }
        if instr.left == 0 {
            self.engine.at(instr.done_at, Event::Complete(waiting.instr));
        }
        true
    }

    /// Records the answer to a request. The bytes of the answer arrive at cycle `at`.
    #[inline(never)]
    pub(super) fn answer(
        &mut self,
        now: Cycle,
        at: Cycle,
        queue_waits: QueueWaits,
        station: StationId,
        slot: Slot,
        data: Option<&LineData>,
    ) {
        let Some(pending) = self.ports.answer(&mut self.engine, station, slot) else {
            let name = self.stations.name(station);
            let why = format!("{name} answered request {}, which is not outstanding", slot.0);
            return self.engine.violate(why);
        };
        self.reports.tally.counts.answers += 1;
        let Some(instr) = self.cores.instr_mut(pending.instr) else { return };
        instr.answered(at, || pending.spent.until(at, queue_waits));
        if let (Some(data), Some(op)) = (data, instr.op) {
            let mut ops = self.session.ops();
            let op = ops.get_mut(op);
            let line_bytes = u64::from(self.system.sector_bytes());
            if op.reads() {
                let watch = &mut self.reports.watch;
                if watch.is_examining() && changes(instr, op, &pending.part, data, line_bytes) {
                    watch.progress(now);
                }
                scatter_values(op, &pending.part, line_bytes, &data.0);
            }
        }
        if instr.left == 0 {
            self.engine.at(instr.done_at, Event::Complete(pending.instr));
        }
    }
}
