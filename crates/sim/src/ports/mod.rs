//! The ports through which requests of cores enter the stations (controllers of the protocol).
//!
//! A port passes its line requests to the station in order, up to a fixed number in each cycle. A
//! request that the station cannot answer yet waits inside the station. It does not block the port
//! unless too many requests are outstanding.

use std::collections::VecDeque;

use proto::{ByteMask, LineAddr, Slot, Spending};

use crate::config::System;
use crate::cores::coalesce::LinePart;
use crate::engine::{Engine, Event};
use crate::queue::Cycle;
use crate::reports::attribution::QueueWaits;
use crate::reports::spent::Spent;
use crate::slab::Slab;
use crate::stations::fabric::{LevelInfo, StationId, StationInfo};
use crate::stations::timing::StationTiming;

/// A line request that waits for the port of its station (controller).
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaitingRequest {
    pub(crate) instr: u32,
    pub(crate) since: Cycle,
    pub(crate) part: LinePart,
}

/// A line request that has entered its station (controller) and is not answered yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingRequest {
    pub(crate) instr: u32,
    pub(crate) part: LinePart,
    pub(crate) spent: Spent,
}

/// The port of one station (controller): the requests that wait to enter the station, and the
/// requests that the station has not answered yet.
#[derive(Debug)]
pub(crate) struct Port {
    queue: VecDeque<WaitingRequest>,
    /// The requests that the station (controller) has not answered. The number of a request in this
    /// list is its slot, by which the station identifies the request.
    pending: Slab<PendingRequest>,
    free_at: Cycle,
    is_scheduled: bool,
    /// Whether the port passes no request on because too many are outstanding.
    is_full: bool,
}

impl Port {
    /// The first line request of an instruction that has not entered the station (controller).
    /// `None` if the instruction has no such request.
    pub(crate) fn queued(&self, instr: u32) -> Option<&LinePart> {
        self.queue.iter().find(|waiting| waiting.instr == instr).map(|waiting| &waiting.part)
    }

    /// The slot (number) and the line of an instruction's first request that the station
    /// (controller) has not answered. `None` if the instruction has no such request.
    pub(crate) fn unanswered(&self, instr: u32) -> Option<(Slot, &LinePart)> {
        let pending = self.pending.iter().find(|(_, pending)| pending.instr == instr);
        pending.map(|(slot, pending)| (Slot(slot), &pending.part))
    }

    /// Decides whether to pass requests on in this cycle. If not, and if requests wait, schedules
    /// an event that tries again.
    #[inline]
    fn next(&mut self, engine: &mut Engine, station: StationId) -> bool {
        if self.is_scheduled || self.is_full || self.queue.is_empty() {
            return false;
        }
        if self.free_at > engine.now() {
            self.is_scheduled = true;
            engine.at(self.free_at, Event::Port(station));
            return false;
        }
        true
    }
}

/// The limits of a port: the number of outstanding requests, and the number of requests in each
/// cycle.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// The number of requests that may be outstanding.
    pending: usize,
    /// The number of lines of which requests may enter the station (controller) in one cycle.
    per_cycle: u32,
}

/// The lines that may still enter a station (controller) in one cycle. The requests of one
/// instruction for different sectors of a line enter together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    lines_left: u32,
    /// The logarithm of the number of sectors of a line to base 2.
    sector_bits: u32,
    /// The instruction and the line (a tag, if lines have sectors) that entered last.
    last: Option<(u32, u64)>,
    /// The sectors of this line that have entered, as a bit mask.
    sectors: u32,
}

impl Turn {
    /// The number of the line that a request is for, and the bit of its sector.
    #[inline]
    fn line_of(&self, waiting: &WaitingRequest) -> ((u32, u64), u32) {
        let LineAddr(sector) = waiting.part.line;
        let line = sector >> self.sector_bits;
        ((waiting.instr, line), 1 << (sector - (line << self.sector_bits)))
    }

    /// Whether a request enters with the line that entered last. If a line is one sector, none does.
    #[inline]
    fn joins(&self, waiting: &WaitingRequest) -> bool {
        if self.sector_bits == 0 {
            return false;
        }
        let (line, sector) = self.line_of(waiting);
        self.last == Some(line) && self.sectors & sector == 0
    }

    /// Records that a request enters.
    #[inline]
    fn enter(&mut self, waiting: &WaitingRequest) {
        if self.sector_bits == 0 {
            self.lines_left -= 1;
            return;
        }
        let joins = self.joins(waiting);
        let (line, sector) = self.line_of(waiting);
        if joins {
            self.sectors |= sector;
        } else {
            self.lines_left -= 1;
            (self.last, self.sectors) = (Some(line), sector);
        }
    }
}

/// The number of requests that may be outstanding at an L1, for each of its miss registers.
/// Requests beyond the number of registers wait in the station (controller), where later hits can
/// pass them.
const PENDING_PER_MISS_REGISTER: usize = 4;

/// The ports of all stations (controllers). A port is created when its first request comes.
#[derive(Debug)]
pub(crate) struct Ports {
    of: Vec<Option<Box<Port>>>,
    limits: Vec<Limits>,
    /// The logarithm of the number of sectors of a line to base 2.
    sector_bits: u32,
}

/// The part of an instruction that accesses no line, such as a fence. It stands for the one request
/// of such an instruction.
const NO_PART: LinePart = LinePart { line: LineAddr(0), mask: ByteMask::NONE, lanes: 0, run: None };

impl Ports {
    /// Prepares the ports of these stations (controllers). Only their limits are computed; a port
    /// is created when its first request comes.
    pub(crate) fn new(system: &System, levels: &[LevelInfo], stations: &[StationInfo]) -> Ports {
        let limits = |station: &StationInfo| {
            let level = &levels[usize::from(station.level)];
            // A level that has no miss registers of its own accepts as many requests as an L1.
            let registers = match level.miss_registers {
                0 => system.l1.miss_registers,
                registers => registers,
            };
            let per_cycle = StationTiming::of(system, level.described()).ports;
            Limits { pending: registers as usize * PENDING_PER_MISS_REGISTER, per_cycle }
        };
        Ports {
            of: stations.iter().map(|_| None).collect(),
            limits: stations.iter().map(limits).collect(),
            sector_bits: system.sectors_per_line().trailing_zeros(),
        }
    }

    /// Removes the limit on outstanding requests from all ports.
    pub(crate) fn take_any_number(&mut self) {
        self.limits.iter_mut().for_each(|limits| limits.pending = usize::MAX);
    }

    #[inline]
    fn get_mut(&mut self, station: StationId) -> Option<&mut Port> {
        self.of[station as usize].as_deref_mut()
    }

    #[inline]
    fn open(&mut self, station: StationId) -> &mut Port {
        let new = || {
            let (queue, pending) = (VecDeque::new(), Slab::default());
            Box::new(Port { queue, pending, free_at: 0, is_scheduled: false, is_full: false })
        };
        self.of[station as usize].get_or_insert_with(new)
    }

    /// The ports that exist, each with its station (controller), in the order of the stations. A
    /// port exists once a request has come to it.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (StationId, &Port)> {
        (0..).zip(&self.of).filter_map(|(station, port)| Some((station, port.as_deref()?)))
    }

    /// Queues the line requests of an instruction at the port of a station (controller). Returns
    /// true if the caller must serve the port now.
    #[inline]
    #[must_use]
    pub(crate) fn queue(
        &mut self,
        engine: &mut Engine,
        station: StationId,
        instr: u32,
        parts: &[LinePart],
    ) -> bool {
        let since = engine.now();
        let port = self.open(station);
        port.queue.extend(parts.iter().map(|&part| WaitingRequest { instr, since, part }));
        port.next(engine, station)
    }

    /// Queues a request without a line, such as a fence, at the port of a station (controller).
    /// Returns true if the caller must serve the port now.
    #[must_use]
    pub(crate) fn queue_order(&mut self, engine: &mut Engine, station: StationId, instr: u32) -> bool {
        self.queue(engine, station, instr, &[NO_PART])
    }

    /// Handles a scheduled event of a port. Returns true if the caller must serve the port now.
    #[must_use]
    pub(crate) fn due(&mut self, engine: &mut Engine, station: StationId) -> bool {
        let Some(port) = self.get_mut(station) else { return false };
        port.is_scheduled = false;
        // An invalidation may have blocked the port since this event was scheduled.
        port.free_at <= engine.now() || port.next(engine, station)
    }

    /// Begins to serve a port in this cycle. Returns the lines that may enter the station
    /// (controller).
    #[inline]
    pub(crate) fn begin(&mut self, now: Cycle, station: StationId) -> Turn {
        self.open(station).free_at = now + 1;
        let lines_left = self.limits[station as usize].per_cycle;
        Turn { lines_left, sector_bits: self.sector_bits, last: None, sectors: 0 }
    }

    /// Takes the next request that waits at the port. `None` if no request waits, if as many lines
    /// as possible have entered in this cycle, or if too many requests are outstanding.
    #[inline]
    pub(crate) fn take(&mut self, station: StationId, turn: &mut Turn) -> Option<WaitingRequest> {
        let pending_max = self.limits[station as usize].pending;
        let port = self.get_mut(station)?;
        if turn.lines_left == 0 && !port.queue.front().is_some_and(|next| turn.joins(next)) {
            return None;
        }
        port.is_full = port.pending.len() >= pending_max;
        if port.is_full {
            return None;
        }
        let next = port.queue.pop_front()?;
        turn.enter(&next);
        Some(next)
    }

    /// Ends the service of a port in this cycle. If requests still wait, schedules an event for the
    /// next cycle in which the port is free.
    #[inline]
    pub(crate) fn end(&mut self, engine: &mut Engine, station: StationId) {
        let Some(port) = self.get_mut(station) else { return };
        if !port.is_full && !port.queue.is_empty() && !port.is_scheduled {
            port.is_scheduled = true;
            engine.at(port.free_at, Event::Port(station));
        }
    }

    /// Records that a request has entered its station (controller). Returns the slot of the
    /// request: the number by which the station identifies it.
    #[inline]
    pub(crate) fn add_pending(&mut self, station: StationId, pending: PendingRequest) -> Slot {
        Slot(self.open(station).pending.insert(pending))
    }

    /// Records the answer to the request in `slot`. The slot (the number of the request) is then
    /// free, and the port may accept further requests.
    #[inline]
    pub(crate) fn answer(
        &mut self,
        engine: &mut Engine,
        station: StationId,
        slot: Slot,
    ) -> Option<PendingRequest> {
        let port = self.get_mut(station)?;
        let pending = port.pending.remove(slot.0)?;
        if port.is_full {
            port.is_full = false;
            port.is_scheduled = true;
            engine.at(port.free_at.max(engine.now()), Event::Port(station));
        }
        Some(pending)
    }

    /// Changes the activity (such as access, acquire or release) to which the time of requests is
    /// attributed from now on. `spends` has the requests, by slot, each with its new activity.
    #[inline(never)]
    pub(crate) fn set_activity(
        &mut self,
        now: Cycle,
        station: StationId,
        queue_waits: QueueWaits,
        spends: impl Iterator<Item = (Slot, Spending)>,
    ) {
        let Some(port) = self.get_mut(station) else { return };
        for (slot, on) in spends {
            if let Some(pending) = port.pending.get_mut(slot.0) {
                pending.spent.set_activity(now, on, queue_waits);
            }
        }
    }

    /// Blocks the port of a station (controller) at least until the cycle `until`.
    pub(crate) fn keep_until(&mut self, station: StationId, until: Cycle) {
        if let Some(port) = self.get_mut(station) {
            port.free_at = port.free_at.max(until);
        }
    }

    /// Blocks the port of a station (controller) for `cycles` further cycles.
    pub(crate) fn delay(&mut self, now: Cycle, station: StationId, cycles: u64) {
        if let Some(port) = self.get_mut(station) {
            port.free_at = port.free_at.max(now) + cycles;
        }
    }
}

#[cfg(test)]
mod tests {
    use proto::{Op, Per};

    use super::*;

    /// The port of a single station (controller) with one miss register.
    fn ports() -> Ports {
        let system: System = toml::from_str(include_str!("../../../../systems/hlrc-8cu.toml")).unwrap();
        let level = LevelInfo {
            name: "l1".to_owned(),
            per: Per::Cu,
            count: 1,
            has_lines: true,
            miss_registers: 1,
            height: 1,
            beside: None,
            like: None,
        };
        let station = StationInfo { name: "L1[0]".to_owned(), level: 0, index: 0 };
        Ports::new(&system, &[level], &[station])
    }

    #[test]
    fn a_full_port_takes_the_next_request_after_an_answer() {
        let (mut ports, mut engine) = (ports(), Engine::new(0));
        for instr in 0..5 {
            assert!(ports.queue_order(&mut engine, 0, instr), "the port is free");
        }
        let mut slots = Vec::new();
        while let Some(WaitingRequest { instr, part, .. }) = {
            let mut turn = ports.begin(0, 0);
            ports.take(0, &mut turn)
        } {
            slots.push(
                ports.add_pending(0, PendingRequest { instr, part, spent: Spent::new(0, Op::Fence, 0) }),
            );
        }
        assert_eq!(slots.len(), PENDING_PER_MISS_REGISTER);
        ports.end(&mut engine, 0);
        assert!(engine.is_quiet(), "only an answer makes room");
        assert!(!ports.queue_order(&mut engine, 0, 5), "requests keep their order");
        assert_eq!(ports.answer(&mut engine, 0, slots[1]).map(|pending| pending.instr), Some(1));
        assert!(ports.answer(&mut engine, 0, slots[1]).is_none(), "it is answered once");
        assert!(matches!(engine.next(), Some((1, Event::Port(0)))));
        assert!(ports.due(&mut engine, 0));
        let mut turn = ports.begin(1, 0);
        assert_eq!(ports.take(0, &mut turn).map(|waiting| waiting.instr), Some(4));
    }

    #[test]
    fn the_sectors_of_a_line_enter_together_and_a_sector_enters_once() {
        let taken = |sectors_per_line: u32, lines_left, sectors: &[(u32, u64)]| {
            let (mut ports, mut engine) = (ports(), Engine::new(0));
            (ports.sector_bits, ports.limits[0]) =
                (sectors_per_line.trailing_zeros(), Limits { pending: 99, per_cycle: lines_left });
            for &(instr, sector) in sectors {
                let part = LinePart { line: LineAddr(sector), lanes: 1, ..NO_PART };
                let _ = ports.queue(&mut engine, 0, instr, &[part]);
            }
            let mut turn = ports.begin(0, 0);
            core::iter::from_fn(|| ports.take(0, &mut turn)).count()
        };
        let line = [(0, 4), (0, 5), (0, 7), (0, 8)];
        assert_eq!((taken(4, 1, &line), taken(4, 2, &line), taken(1, 1, &line)), (3, 4, 1));
        assert_eq!(taken(4, 1, &[(0, 4), (0, 5), (0, 4)]), 2, "a second atomic on a sector");
        assert_eq!(taken(4, 1, &[(0, 4), (1, 5)]), 1, "another instruction");
    }

    #[test]
    fn a_station_takes_no_request_while_it_invalidates_lines() {
        let (mut ports, mut engine) = (ports(), Engine::new(0));
        assert!(ports.queue_order(&mut engine, 0, 0));
        ports.delay(0, 0, 30);
        assert!(!ports.due(&mut engine, 0));
        assert!(matches!(engine.next(), Some((30, Event::Port(0)))));
        assert!(ports.due(&mut engine, 0));
    }
}
