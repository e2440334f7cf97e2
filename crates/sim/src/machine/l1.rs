//! The ports in front of the stations that take requests.
//!
//! Each serves its line requests in the order in which they came, so many a
//! cycle. A request that its station cannot answer yet waits inside the
//! station; it does not block the port, until too many wait.

use std::collections::VecDeque;

use proto::{Agent, ByteMask, LineAddr, LineData, Load, Op, Slot, Uses};

use super::access::{Instr, scatter_values};
use super::travel::Origin;
use super::{Machine, Owner};
use crate::cores::coalesce::LinePart;
use crate::engine::Event;
use crate::queue::Cycle;
use crate::reports::attribution::Trail;
use crate::reports::probe::Probe;
use crate::reports::spent::Spent;
use crate::slab::Slab;
use crate::stations::fabric::{Out, StationId};

/// A line request that waits for the port.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineAsk {
    pub(super) instr: u32,
    since: Cycle,
    pub(super) part: LinePart,
}

/// A line request that its station has not answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    pub(super) instr: u32,
    pub(super) part: LinePart,
    pub(super) spent: Spent,
}

/// The way into one station.
#[derive(Debug)]
pub(super) struct Port {
    pub(super) queue: VecDeque<LineAsk>,
    /// Requests under way; their numbers are the station's slots.
    pub(super) flights: Slab<Flight>,
    pub(super) free_at: Cycle,
    is_scheduled: bool,
    /// Served no request because so many were under way.
    is_full: bool,
}

/// Requests under way at an L1, for each of its miss registers. Those that
/// wait for a register wait in the station, so that hits behind them pass.
pub(super) const FLIGHTS_PER_MISS_REGISTER: usize = 4;

/// The ports by station. A port is made when the first request enters there.
#[derive(Debug)]
pub(super) struct Ports {
    of: Vec<Option<Box<Port>>>,
}

impl Ports {
    pub(super) fn new(stations: usize) -> Ports {
        Ports { of: (0..stations).map(|_| None).collect() }
    }

    #[inline]
    pub(super) fn get_mut(&mut self, station: StationId) -> Option<&mut Port> {
        self.of[station as usize].as_deref_mut()
    }

    #[inline]
    fn open(&mut self, station: StationId) -> &mut Port {
        let new = || {
            let (queue, flights) = (VecDeque::new(), Slab::default());
            Box::new(Port { queue, flights, free_at: 0, is_scheduled: false, is_full: false })
        };
        self.of[station as usize].get_or_insert_with(new)
    }

    /// The ports that requests have entered, by station.
    pub(super) fn iter(&self) -> impl Iterator<Item = (StationId, &Port)> {
        (0..).zip(&self.of).filter_map(|(station, port)| Some((station, port.as_deref()?)))
    }
}

/// The part of a request without a line.
const NO_PART: LinePart = LinePart { line: LineAddr(0), mask: ByteMask::NONE, lanes: 0, run: None };

impl<Pr: Probe> Machine<'_, Pr> {
    /// Queues the line requests of an instruction.
    pub(super) fn ask_lines(&mut self, now: Cycle, agent: Agent, instr: u32, parts: &[LinePart]) {
        let Some(station) = self.entry(agent, instr) else { return };
        if self.places_pages {
            self.touch(instr, parts);
        }
        let queue = &mut self.ports.open(station).queue;
        queue.extend(parts.iter().map(|&part| LineAsk { instr, since: now, part }));
        self.port_next(now, station);
    }

    /// Places the pages of lines that are touched for the first time: on the chiplet
    /// of the compute unit, or, if it is the host, as if pages were interleaved.
    #[cold]
    fn touch(&mut self, instr: u32, parts: &[LinePart]) {
        let Some(owner) = self.instrs.get(instr).map(|instr| instr.owner) else { return };
        let cus_per_chiplet = self.system.cu.count / self.system.chiplets;
        let chiplet = match owner {
            Owner::Wave(wave) => Some((self.waves[wave as usize].at.cu / cus_per_chiplet) as u16),
            _ => None,
        };
        for part in parts {
            let chiplet = chiplet.unwrap_or_else(|| self.fabric.homes().in_turn(part.line));
            self.fabric.touch(part.line, chiplet);
        }
    }

    /// Queues a request that has no line.
    pub(super) fn ask_order(&mut self, now: Cycle, agent: Agent, instr: u32) {
        let Some(station) = self.entry(agent, instr) else { return };
        self.ports.open(station).queue.push_back(LineAsk { instr, since: now, part: NO_PART });
        self.port_next(now, station);
    }

    /// Where an instruction of an agent enters: the protocol says so.
    #[inline]
    fn entry(&mut self, agent: Agent, instr: u32) -> Option<StationId> {
        let key = self.instrs.get(instr)?.ask.key();
        match self.fabric.entry(agent, key) {
            Ok(station) => Some(station),
            Err(why) => {
                self.engine.violate(why);
                None
            }
        }
    }

    /// Serves the port now if it is free, or sees to it that it will be served.
    #[inline]
    fn port_next(&mut self, now: Cycle, station: StationId) {
        let Some(port) = self.ports.get_mut(station) else { return };
        if port.is_scheduled || port.is_full || port.queue.is_empty() {
            return;
        }
        if port.free_at > now {
            port.is_scheduled = true;
            let when = port.free_at;
            return self.engine.at(when, Event::Port(station));
        }
        self.serve(now, station);
    }

    #[inline(never)]
    pub(super) fn port_due(&mut self, now: Cycle, station: StationId) {
        let Some(port) = self.ports.get_mut(station) else { return };
        port.is_scheduled = false;
        if port.free_at > now {
            // An invalidation has kept the cache meanwhile.
            return self.port_next(now, station);
        }
        self.serve(now, station);
    }

    /// Presents what one cycle can take.
    #[inline(never)]
    fn serve(&mut self, now: Cycle, station: StationId) {
        self.ports.open(station).free_at = now + 1;
        let state = &self.stations[station as usize];
        let (flights_max, per_cycle) = (state.flights_max, state.timing.ports);
        for _ in 0..per_cycle {
            let port = self.ports.open(station);
            if port.flights.len() >= flights_max {
                port.is_full = true;
                return;
            }
            let Some(ask) = port.queue.pop_front() else { break };
            self.reports.tally.counts.l1_port_wait_cycles += now - ask.since;
            self.present(now, station, ask);
        }
        let port = self.ports.open(station);
        if !port.queue.is_empty() && !port.is_scheduled {
            port.is_scheduled = true;
            let when = port.free_at;
            self.engine.at(when, Event::Port(station));
        }
    }

    /// Presents a request to its station.
    #[inline(never)]
    fn present(&mut self, now: Cycle, station: StationId, ask: LineAsk) {
        let Some(instr) = self.instrs.get(ask.instr) else { return };
        if instr.ask.op == Op::Load && !instr.ask.order.is_atomic() && self.answer_hit(now, station, &ask) {
            return;
        }
        let Some(instr) = self.instrs.get(ask.instr) else { return };
        let request = self.build_request(instr, &ask.part);
        if request.is_atomic_access() {
            self.reports.tally.atomic_request(request.line);
        }
        let spent = Spent::new(now, request.op, now - ask.since);
        let counts = &mut self.reports.tally.counts;
        match request.op {
            Op::Load | Op::Store | Op::Rmw(_) => counts.line_requests += 1,
            Op::Fence | Op::KernelBegin(_) | Op::KernelEnd(_) => counts.order_requests += 1,
        }
        let flights = &mut self.ports.open(station).flights;
        let slot = flights.insert(Flight { instr: ask.instr, part: ask.part, spent });
        self.catch_up(now, station);
        self.fabric.request(station, Slot(slot), &request, self.out.get_or_insert_default());
        let line = (ask.part.lanes != 0).then_some(request.line);
        self.carry_out(now, station, Origin::Request { line }, Trail::default());
    }

    /// Answers a load whose step would do nothing but that: what [`Machine::present`],
    /// [`Machine::carry_out`] and [`Machine::answer`] do for it.
    #[inline]
    fn answer_hit(&mut self, now: Cycle, station: StationId, ask: &LineAsk) -> bool {
        let Some(instr) = self.instrs.get_mut(ask.instr) else { return false };
        let load = Load { key: instr.ask.key(), line: ask.part.line, mask: ask.part.mask };
        let Some(bytes) = self.fabric.hit(station, &load) else { return false };
        let state = &self.stations[station as usize];
        self.reports.tally.hit(state.level);
        self.reports.tally.counts.line_requests += 1;
        self.reports.tally.counts.answers += 1;
        self.reports.probe.serve(station, "request", Some(load.line), now, now + 1);
        let at = now + state.timing.latency_cycles;
        instr.answered(at, || Spent::new(now, Op::Load, now - ask.since).until(at, Trail::default()));
        if let Some(op) = instr.op {
            let line_bytes = u64::from(self.system.l1.line_bytes);
            scatter_values(self.session.ops().get_mut(op), &ask.part, line_bytes, bytes);
        }
        if instr.left == 0 {
            let when = instr.done_at;
            self.engine.at(when, Event::Complete(ask.instr));
        }
        true
    }

    /// A request is answered; its bytes are there at `at`.
    #[inline(never)]
    pub(super) fn answer(
        &mut self,
        now: Cycle,
        at: Cycle,
        trail: Trail,
        station: StationId,
        slot: Slot,
        data: Option<&LineData>,
    ) {
        let port = self.ports.get_mut(station);
        let Some((port, flight)) = port.and_then(|port| port.flights.remove(slot.0).map(|it| (port, it)))
        else {
            let name = &self.stations[station as usize].name;
            let why = format!("{name} answers request {}, which is not under way", slot.0);
            return self.engine.violate(why);
        };
        self.reports.tally.counts.answers += 1;
        if port.is_full {
            port.is_full = false;
            port.is_scheduled = true;
            let when = port.free_at.max(now);
            self.engine.at(when, Event::Port(station));
        }
        let Some(instr) = self.instrs.get_mut(flight.instr) else { return };
        instr.answered(at, || flight.spent.until(at, trail));
        if let (Some(data), Some(op)) = (data, instr.op) {
            let mut ops = self.session.ops();
            let op = ops.get_mut(op);
            let line_bytes = u64::from(self.system.l1.line_bytes);
            if op.reads() {
                if self.reports.watch.is_examining() && changes(instr, op, &flight.part, data, line_bytes) {
                    self.reports.watch.progress(now);
                }
                scatter_values(op, &flight.part, line_bytes, &data.0);
            }
        }
        if instr.left == 0 {
            let when = instr.done_at;
            self.engine.at(when, Event::Complete(flight.instr));
        }
    }

    /// Requests turn to something else.
    #[inline(never)]
    pub(super) fn spend_all(&mut self, now: Cycle, station: StationId, trail: Trail, out: &mut Out) {
        let mut port = self.ports.get_mut(station);
        for (slot, on) in out.spends.drain(..) {
            if let Some(flight) = port.as_mut().and_then(|port| port.flights.get_mut(slot.0)) {
                flight.spent.turn(now, on, trail);
            }
        }
    }

    /// Keeps a cache from serving requests while it invalidates its lines.
    #[inline]
    pub(super) fn invalidation_cycles(&self, station: StationId, uses: &Uses) -> u64 {
        let times = uses.invalidations.total();
        if times == 0 {
            return 0;
        }
        let timing = &self.stations[station as usize].timing;
        u64::from(if timing.is_walked { uses.lines_invalidated } else { times }) * timing.invalidate_cycles
    }
}

/// Did a read-modify-write with these old bytes change any word? The operands
/// still stand where the old values will go.
fn changes(instr: &Instr, op: &kernel::Posted, part: &LinePart, old: &LineData, line_bytes: u64) -> bool {
    if !matches!(instr.ask.op, Op::Rmw(_)) {
        return false;
    }
    let lanes = kernel::Mask(part.lanes);
    lanes.iter().any(|lane| {
        let Some(rmw) = op.rmw(lane) else { return false };
        let old = old.read((op.addr(lane).0 & (line_bytes - 1)) as usize, op.width);
        rmw.apply(old, op.value(lane)) != old
    })
}
