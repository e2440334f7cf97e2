//! The ports in front of the stations that take requests.
//!
//! Each serves its line requests in the order in which they came, so many a
//! cycle. A request that its station cannot answer yet waits inside the
//! station; it does not block the port, until too many wait.

use std::collections::VecDeque;

use proto::{Agent, ByteMask, LineAddr, LineData, Load, Op, Slot, Uses};

use super::access::{Instr, scatter_values};
use super::spent::Spent;
use super::travel::Origin;
use super::{Event, Machine, Owner};
use crate::attribution::Trail;
use crate::coalesce::LinePart;
use crate::fabric::{Fabric, StationId};
use crate::probe::Probe;
use crate::queue::Cycle;
use crate::slab::Slab;

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
    pub(super) entry: StationId,
    pub(super) queue: VecDeque<LineAsk>,
    /// Requests under way; their numbers are the station's slots.
    pub(super) flights: Slab<Flight>,
    pub(super) free_at: Cycle,
    is_scheduled: bool,
    /// How many requests may be under way.
    flights_max: usize,
    /// How many requests enter in one cycle.
    ports: u32,
    /// Served no request because so many were under way.
    is_full: bool,
}

/// Requests under way at an L1, for each of its miss registers. Those that
/// wait for a register wait in the station, so that hits behind them pass.
pub(super) const FLIGHTS_PER_MISS_REGISTER: usize = 4;

impl Port {
    fn new(entry: StationId, flights_max: usize, ports: u32) -> Port {
        Port {
            entry,
            queue: VecDeque::new(),
            flights: Slab::default(),
            free_at: 0,
            is_scheduled: false,
            flights_max,
            ports,
            is_full: false,
        }
    }

    /// However many requests are under way, it takes the next one.
    pub(super) fn let_all_in(&mut self) {
        self.flights_max = usize::MAX;
    }
}

/// Where the requests of an agent enter.
#[derive(Clone, Copy, Debug)]
pub(super) enum Entry {
    /// All of them at this port.
    One(u32),
    /// The protocol says where, for each operation of this agent.
    ByOperation(Agent),
}

/// No requests enter the station.
const NO_PORT: u32 = u32::MAX;

/// The ports of a machine, as they are made.
pub(super) struct Doors<'a> {
    fabric: &'a dyn Fabric,
    /// By station: how many requests may be under way, and enter in one cycle.
    room: Vec<(usize, u32)>,
    pub(super) ports: Vec<Port>,
    /// By station: the number of its port, or [`NO_PORT`].
    pub(super) port_of: Vec<u32>,
}

impl<'a> Doors<'a> {
    pub(super) fn new(fabric: &'a dyn Fabric, room: Vec<(usize, u32)>) -> Doors<'a> {
        let port_of = vec![NO_PORT; room.len()];
        Doors { fabric, room, ports: Vec::new(), port_of }
    }

    /// Where an agent's requests enter, with ports there.
    ///
    /// # Errors
    /// If the machine has no such station.
    pub(super) fn entry(&mut self, agent: Agent) -> Result<Entry, String> {
        let stations = self.fabric.entries(agent)?;
        for &station in &stations {
            self.port(station);
        }
        Ok(match stations[..] {
            [station] => Entry::One(self.port(station)),
            _ => Entry::ByOperation(agent),
        })
    }

    fn port(&mut self, station: StationId) -> u32 {
        let port = &mut self.port_of[station as usize];
        if *port == NO_PORT {
            *port = self.ports.len() as u32;
            let (flights_max, ports) = self.room[station as usize];
            self.ports.push(Port::new(station, flights_max, ports));
        }
        *port
    }
}

/// The part of a request without a line.
const NO_PART: LinePart = LinePart { line: LineAddr(0), mask: ByteMask::NONE, lanes: 0, run: None };

impl<Pr: Probe> Machine<'_, Pr> {
    /// Queues the line requests of an instruction.
    pub(super) fn ask_lines(&mut self, now: Cycle, entry: Entry, instr: u32, parts: &[LinePart]) {
        let port = self.port_of_instr(entry, instr);
        if self.places_pages {
            self.touch(instr, parts);
        }
        let queue = &mut self.ports[port as usize].queue;
        queue.extend(parts.iter().map(|&part| LineAsk { instr, since: now, part }));
        self.port_next(now, port);
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
    pub(super) fn ask_order(&mut self, now: Cycle, entry: Entry, instr: u32) {
        let port = self.port_of_instr(entry, instr);
        self.ports[port as usize].queue.push_back(LineAsk { instr, since: now, part: NO_PART });
        self.port_next(now, port);
    }

    /// Serves the port now if it is free, or sees to it that it will be served.
    #[inline]
    fn port_next(&mut self, now: Cycle, number: u32) {
        let port = &mut self.ports[number as usize];
        if port.is_scheduled || port.is_full || port.queue.is_empty() {
            return;
        }
        if port.free_at > now {
            port.is_scheduled = true;
            let when = port.free_at;
            return self.at(when, Event::Port(number));
        }
        self.serve(now, number);
    }

    #[inline(never)]
    pub(super) fn port_due(&mut self, now: Cycle, number: u32) {
        let port = &mut self.ports[number as usize];
        port.is_scheduled = false;
        if port.free_at > now {
            // An invalidation has kept the cache meanwhile.
            return self.port_next(now, number);
        }
        self.serve(now, number);
    }

    /// Presents what one cycle can take.
    #[inline(never)]
    fn serve(&mut self, now: Cycle, number: u32) {
        self.ports[number as usize].free_at = now + 1;
        for _ in 0..self.ports[number as usize].ports {
            let port = &mut self.ports[number as usize];
            if port.flights.len() >= port.flights_max {
                port.is_full = true;
                return;
            }
            let Some(ask) = port.queue.pop_front() else { break };
            self.tally.counts.l1_port_wait_cycles += now - ask.since;
            self.present(now, number, ask);
        }
        let port = &mut self.ports[number as usize];
        if !port.queue.is_empty() && !port.is_scheduled {
            port.is_scheduled = true;
            let when = port.free_at;
            self.at(when, Event::Port(number));
        }
    }

    /// Presents a request to its station.
    #[inline(never)]
    fn present(&mut self, now: Cycle, number: u32, ask: LineAsk) {
        let Some(instr) = self.instrs.get(ask.instr) else { return };
        if instr.ask.op == Op::Load && !instr.ask.order.is_atomic() && self.answer_hit(now, number, &ask) {
            return;
        }
        let Some(instr) = self.instrs.get(ask.instr) else { return };
        let request = self.build_request(instr, &ask.part);
        if request.is_atomic_access() {
            self.tally.atomic_request(request.line);
        }
        let spent = Spent::new(now, request.op, now - ask.since);
        let counts = &mut self.tally.counts;
        match request.op {
            Op::Load | Op::Store | Op::Rmw(_) => counts.line_requests += 1,
            Op::Fence | Op::KernelBegin(_) | Op::KernelEnd(_) => counts.order_requests += 1,
        }
        let port = &mut self.ports[number as usize];
        let slot = port.flights.insert(Flight { instr: ask.instr, part: ask.part, spent });
        let entry = port.entry;
        self.catch_up(now, entry);
        self.fabric.request(entry, Slot(slot), &request, self.out.get_or_insert_default());
        let line = (ask.part.lanes != 0).then_some(request.line);
        self.carry_out(now, entry, Origin::Request { line }, Trail::default());
    }

    /// Answers a load whose step would do nothing but that: what [`Machine::present`],
    /// [`Machine::carry_out`] and [`Machine::answer`] do for it.
    #[inline]
    fn answer_hit(&mut self, now: Cycle, number: u32, ask: &LineAsk) -> bool {
        let entry = self.ports[number as usize].entry;
        let Some(instr) = self.instrs.get_mut(ask.instr) else { return false };
        let load = Load { key: instr.ask.key(), line: ask.part.line, mask: ask.part.mask };
        let Some(bytes) = self.fabric.hit(entry, &load) else { return false };
        let state = &self.stations[entry as usize];
        self.tally.hit(state.level);
        self.tally.counts.line_requests += 1;
        self.tally.counts.answers += 1;
        self.probe.serve(entry, "request", Some(load.line), now, now + 1);
        let at = now + state.timing.latency_cycles;
        instr.answered(at, || Spent::new(now, Op::Load, now - ask.since).until(at, Trail::default()));
        if let Some(op) = instr.op {
            let line_bytes = u64::from(self.system.l1.line_bytes);
            scatter_values(self.session.ops().get_mut(op), &ask.part, line_bytes, bytes);
        }
        if instr.left == 0 {
            let when = instr.done_at;
            self.at(when, Event::Complete(ask.instr));
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
        port: u32,
        slot: Slot,
        data: Option<&LineData>,
    ) {
        let Some(flight) = self.ports[port as usize].flights.remove(slot.0) else {
            let port = &self.ports[port as usize];
            let name = &self.stations[port.entry as usize].name;
            let why = format!("{name} answers request {} twice", slot.0);
            return self.violate(now, why);
        };
        self.tally.counts.answers += 1;
        let entrance = &mut self.ports[port as usize];
        if entrance.is_full {
            entrance.is_full = false;
            entrance.is_scheduled = true;
            let when = entrance.free_at.max(now);
            self.at(when, Event::Port(port));
        }
        let Some(instr) = self.instrs.get_mut(flight.instr) else { return };
        instr.answered(at, || flight.spent.until(at, trail));
        if let (Some(data), Some(op)) = (data, instr.op) {
            let mut ops = self.session.ops();
            let op = ops.get_mut(op);
            let line_bytes = u64::from(self.system.l1.line_bytes);
            if op.reads() {
                if self.watch.is_examining() && changes(instr, op, &flight.part, data, line_bytes) {
                    self.watch.progress(now);
                }
                scatter_values(op, &flight.part, line_bytes, &data.0);
            }
        }
        if instr.left == 0 {
            let when = instr.done_at;
            self.at(when, Event::Complete(flight.instr));
        }
    }

    /// The port into a station, if requests enter there.
    #[inline]
    pub(super) fn port_of(&self, station: StationId) -> Option<u32> {
        Some(self.port_of[station as usize]).filter(|&port| port != NO_PORT)
    }

    /// The port that an instruction enters.
    #[inline]
    fn port_of_instr(&self, entry: Entry, instr: u32) -> u32 {
        let agent = match entry {
            Entry::One(port) => return port,
            Entry::ByOperation(agent) => agent,
        };
        // Every entry of the agent was found when the machine was made.
        let key = self.instrs.get(instr).map(|instr| instr.ask.key());
        let station = key.and_then(|key| self.fabric.entry(agent, key).ok());
        station.map_or(0, |station| self.port_of[station as usize])
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
