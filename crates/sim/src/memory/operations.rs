//! The operations that stations (controllers) send to main memory, and the paths of the requests
//! and answers.
//!
//! A memory controller stands beside each bank of the last shared cache and serves the lines of
//! that bank. A bank reaches the memory of its own lines without the network. Every other
//! controller on the chip sends a message to the node of the line's memory and gets one back; both
//! messages take links, time, bytes and energy. The host has a path of its own, with the latency
//! `host.memory_latency_cycles`.

use proto::{
    Addr, ByteMask, Homes, LineAddr, LineData, MemoryAccess, MemoryOp, MemoryReply, MemoryTag, Per, Rmw,
};

use crate::config::System;
use crate::engine::{Engine, Event};
use crate::memory::Memory;
use crate::memory::behind::{Access, Behind, Fills, Ready};
use crate::memory::dram::{ByteLocation, Dram, DramScheduler, DramTraffic};
use crate::memory::scheduler::{Request, Scheduler};
use crate::memory::side::MemorySide;
use crate::network::noc::NocNode;
use crate::network::{Departure, Network};
use crate::queue::Cycle;
use crate::reports::Reports;
use crate::reports::attribution::QueueWaits;
use crate::reports::history::PastMessage;
use crate::reports::probe::Probe;
use crate::slab::Slab;
use crate::stations::fabric::{LevelInfo, StationId, StationInfo};
use crate::stations::timing::StationTiming;

/// An operation on memory that a station (controller) has sent. It is kept until the station reads
/// the answer. [`MainMemory`] stores the bytes of the operation and of the answer in separate
/// lists, because a read has no bytes before memory performs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryTransit {
    /// The station (controller) that sent the operation.
    pub(crate) station: StationId,
    /// The network node at which the memory of the line is attached. `None` if the operation does
    /// not use the network.
    place: Option<NocNode>,
    pub(crate) queue_waits: QueueWaits,
    /// The clock of the sending station (controller) when it sent the operation, in ticks.
    pub(crate) clock: i64,
    pub(crate) line: LineAddr,
    pub(crate) kind: AccessKind,
    tag: MemoryTag,
}

/// The kind of an access to memory, without the bytes that the access carries.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AccessKind {
    Read,
    Write { mask: ByteMask },
    Rmw { rmw: Rmw, mask: ByteMask },
}

impl AccessKind {
    /// The kind of an access, and the bytes that the access carries. `None` if it carries no bytes.
    #[inline]
    fn of(access: &MemoryAccess) -> (AccessKind, Option<&LineData>) {
        match access {
            MemoryAccess::Read => (AccessKind::Read, None),
            MemoryAccess::Write { mask, data } => (AccessKind::Write { mask: *mask }, Some(data)),
            MemoryAccess::Rmw { rmw, mask, data } => (AccessKind::Rmw { rmw: *rmw, mask: *mask }, Some(data)),
        }
    }

    /// The access of this kind with the bytes `data`.
    #[inline]
    fn with(self, data: &LineData) -> MemoryAccess {
        match self {
            AccessKind::Read => MemoryAccess::Read,
            AccessKind::Write { mask } => MemoryAccess::Write { mask, data: *data },
            AccessKind::Rmw { rmw, mask } => MemoryAccess::Rmw { rmw, mask, data: *data },
        }
    }

    /// The name of the message that carries an operation to memory, and its payload in bytes.
    fn request_message(self) -> (&'static str, u32) {
        match self {
            AccessKind::Read => ("MemoryRead", 0),
            AccessKind::Write { mask } => ("MemoryWrite", mask.count()),
            AccessKind::Rmw { mask, .. } => ("MemoryUpdate", mask.count()),
        }
    }

    /// The name of the message that carries memory's answer, and its payload in bytes.
    fn answer_message(self, line_bytes: u32) -> (&'static str, u32) {
        match self {
            AccessKind::Read => ("MemoryData", line_bytes),
            AccessKind::Write { .. } => ("MemoryWritten", 0),
            AccessKind::Rmw { mask, .. } => ("MemoryUpdated", mask.count()),
        }
    }
}

/// The path from a station (controller) to memory.
#[derive(Clone, Copy, Debug)]
struct MemoryPath {
    /// Cycles of the path in each direction, not counting the network.
    cycles: u64,
    start: Start,
}

/// The place from which a station (controller) reaches memory.
#[derive(Clone, Copy, Debug)]
enum Start {
    /// The station (controller) is a bank at this node, where the memory of the bank's own lines is
    /// attached.
    Bank(NocNode),
    /// The station (controller) is at a place on the chip, but is not a bank.
    Chip,
    /// The station (controller) belongs to the host, which reaches memory without the network.
    Host,
}

/// Main memory, and the operations that stations (controllers) have sent to it.
#[derive(Debug)]
pub(crate) struct MainMemory {
    bytes: Memory,
    dram: Dram,
    /// The memory-side caches in front of DRAM. `None` if the machine has none.
    side: Option<Box<MemorySide>>,
    /// The requests that wait for memory. `None` if memory serves them in order of arrival, so that
    /// the end of an access is known when it arrives.
    scheduler: Option<Box<Scheduler>>,
    /// The operations that wait for accesses of memory-side caches, if `side` and `scheduler` exist.
    fills: Fills,
    line_bytes: u32,
    /// For each bank, the network node at which the memory of its lines is attached.
    places: Vec<NocNode>,
    /// For each station (controller), its path to memory.
    paths: Vec<MemoryPath>,
    operations: Slab<MemoryTransit>,
    /// For each operation, the bytes that it carries to memory. The index is the number of the
    /// operation.
    carried: Vec<LineData>,
    /// For each operation, the bytes of memory's answer. The index is the number of the operation.
    answers: Vec<LineData>,
}

impl MainMemory {
    /// A memory for a machine with these stations (controllers), with all bytes zero.
    pub(crate) fn new(
        system: &System,
        levels: &[LevelInfo],
        stations: &[StationInfo],
        network: &Network,
    ) -> MainMemory {
        let path = |(number, station): (StationId, &StationInfo)| {
            let level = &levels[usize::from(station.level)];
            let start = match level.per {
                Per::Host => Start::Host,
                _ if level.is_bank() => Start::Bank(network.place(number)),
                _ => Start::Chip,
            };
            MemoryPath { cycles: StationTiming::of(system, level.described()).memory_path_cycles, start }
        };
        let banks = system.topology().banks();
        MainMemory {
            bytes: Memory::new(system.sector_bytes() as usize),
            dram: match system.sectors_per_line() {
                1 => Dram::new(&system.dram, system.chiplets),
                _ => Dram::new(&system.dram, system.chiplets).with_bursts(system.sector_bytes()),
            },
            side: MemorySide::new(system, levels).map(Box::new),
            scheduler: match system.dram.scheduler {
                DramScheduler::OldestFirst => None,
                DramScheduler::OpenRowFirst => Some(Box::new(Scheduler::new(&system.dram))),
            },
            fills: Fills::default(),
            line_bytes: system.sector_bytes(),
            places: (0..banks).map(|bank| network.memory_place(bank, banks)).collect(),
            paths: (0..).zip(stations).map(path).collect(),
            operations: Slab::default(),
            carried: Vec::new(),
            answers: Vec::new(),
        }
    }

    /// The traffic of memory since the beginning of the run.
    pub(crate) fn traffic(&self) -> DramTraffic {
        self.dram.traffic()
    }

    /// Reads bytes of main memory, without the newer dirty bytes in caches.
    pub(crate) fn read(&self, from: Addr, to: &mut [u8]) {
        self.bytes.read(from, to);
    }

    /// The bytes of memory, for operations that take no simulated time.
    pub(crate) fn bytes_mut(&mut self) -> &mut Memory {
        &mut self.bytes
    }

    /// Writes bytes of memory at once, without simulated time.
    pub(crate) fn write(&mut self, to: Addr, from: &[u8]) {
        self.bytes.write(to, from);
    }

    /// An operation that is not complete. `None` if no operation has this number.
    #[inline]
    pub(crate) fn operation(&self, number: u32) -> Option<&MemoryTransit> {
        self.operations.get(number)
    }

    /// The network node at which the memory of a bank's lines is attached. `None` if the station
    /// (controller) reaches that memory without the network.
    #[inline]
    fn place(&self, station: StationId, bank: u16) -> Option<NocNode> {
        let place = self.places[usize::from(bank)];
        match self.paths[station as usize].start {
            Start::Host => None,
            Start::Bank(own) if own == place => None,
            Start::Bank(_) | Start::Chip => Some(place),
        }
    }

    /// Sends an operation from a station (controller) to memory. `departure` gives the earliest
    /// cycle at which the step of the station lets the operation leave. Returns the number of the
    /// operation, or `None` if a seeded fault drops it.
    pub(crate) fn send<Pr: Probe>(
        &mut self,
        engine: &mut Engine,
        reports: &mut Reports<'_, Pr>,
        network: &mut Network,
        homes: &Homes,
        departure: &Departure,
        op: &MemoryOp,
    ) -> Option<u32> {
        let (now, station, memory) = (engine.now(), departure.from, network.memory());
        let path = self.paths[station as usize].cycles;
        let delayed = Departure { at: departure.at + path, ..*departure };
        let leave = network.in_order(now, &delayed, memory);
        let place = self.place(station, homes.bank(op.line));
        let (kind, carried) = AccessKind::of(&op.access);
        if place.is_some() {
            let (name, payload) = kind.request_message();
            let past = PastMessage { from: station, to: memory, ..PastMessage::of(now, name, op.line) };
            if network.count(reports, past, network.bytes_of(payload)) {
                return None;
            }
        }
        reports.tally.counts.memory_ops += 1;
        let Departure { queue_waits, clock, .. } = *departure;
        let transit = MemoryTransit { station, place, queue_waits, clock, line: op.line, kind, tag: op.tag };
        let number = self.operations.insert(transit);
        if number as usize >= self.answers.len() {
            self.carried.resize(number as usize + 1, LineData::default());
            self.answers.resize(number as usize + 1, LineData::default());
        }
        if let Some(carried) = carried {
            self.carried[number as usize] = *carried;
        }
        let event = if place.is_some() { Event::MemoryDepart(number) } else { Event::MemoryStart(number) };
        engine.at(leave, event);
        Some(number)
    }

    /// Sends an operation, which has left its station (controller), through the network to memory.
    #[inline(never)]
    pub(crate) fn depart<Pr: Probe>(
        &mut self,
        engine: &mut Engine,
        reports: &mut Reports<'_, Pr>,
        network: &mut Network,
        number: u32,
    ) {
        let Some(transit) = self.operations.get_mut(number) else { return };
        let Some(place) = transit.place else { return };
        let bytes = network.bytes_of(transit.kind.request_message().1);
        let from = network.place(transit.station);
        let (arrives, queued) = network.cross(engine.now(), (from, place), bytes, reports.probe);
        transit.queue_waits = transit.queue_waits.at_noc(queued);
        engine.at(arrives, Event::MemoryStart(number));
    }

    /// Performs an operation on memory, which has arrived. The bytes change at once, so operations
    /// take effect in the order of their arrival. The answer leaves when the channel has transferred
    /// the data.
    #[inline(never)]
    pub(crate) fn start<Pr: Probe>(
        &mut self,
        engine: &mut Engine,
        reports: &mut Reports<'_, Pr>,
        network: &mut Network,
        homes: &Homes,
        number: u32,
    ) {
        let (now, line_bytes) = (engine.now(), self.line_bytes);
        let Some(transit) = self.operations.get_mut(number) else { return };
        if transit.place.is_some() {
            network.delivered(network.bytes_of(transit.kind.request_message().1));
        }
        let (carried, answer) = (&self.carried[number as usize], &mut self.answers[number as usize]);
        let line = transit.line;
        let (read_bytes, written, changed) = match transit.kind {
            AccessKind::Read => {
                *answer = self.bytes.read_line(line);
                (Some(line_bytes), None, false)
            }
            AccessKind::Write { mask } => {
                let changed = self.bytes.write_line(line, mask, carried);
                (None, Some(mask), changed)
            }
            AccessKind::Rmw { rmw, mask } => {
                let mut bytes = self.bytes.read_line(line);
                *answer = rmw.perform(&mut bytes, carried, mask);
                let changed = self.bytes.write_line(line, mask, &bytes);
                (Some(line_bytes), Some(mask), changed)
            }
        };
        if changed {
            reports.watch.progress(now);
        }
        if let (Some(scheduler), None) = (&mut self.scheduler, &self.side) {
            let located = ByteLocation::of(line, homes, line_bytes);
            let (channel, bank, row) = self.dram.place(located);
            let written_bytes = written.map(ByteMask::count);
            let (address, arrived) = (located.address, now);
            scheduler.arrive(Request {
                number,
                channel,
                bank,
                row,
                address,
                read_bytes,
                written_bytes,
                arrived,
            });
            self.serve(engine, reports, channel as u32);
            return;
        }
        let (dram, probe) = (&mut self.dram, &mut *reports.probe);
        let deferred = self.scheduler.as_ref().map(|_| Vec::new());
        let mut behind = Behind { dram, homes, line_bytes, probe, deferred, dram_wait: 0, side_wait: 0 };
        let traffic = &mut reports.tally.memory_side;
        let mut serve = |access: Access| match &mut self.side {
            None => behind.access(now, line, access),
            Some(side) => side.access(now, line, access, traffic, &mut behind),
        };
        let reads = if written.is_some() { Access::ReadForUpdate } else { Access::Read };
        let read = read_bytes.map_or(now, |_| serve(reads));
        let done = written.map_or(read, |mask| serve(Access::Write(mask)).max(read));
        let waits = (behind.dram_wait, behind.side_wait);
        let Some(deferred) = behind.deferred else { return self.answer_at(engine, number, done, waits) };
        transit.queue_waits = transit.queue_waits.at_side(waits.1);
        for (access, at) in self.fills.begin(line, number, done, &deferred) {
            engine.at(at, Event::MemoryFill(access));
        }
        self.answer_filled(engine, line);
    }

    /// Gives an access of a memory-side cache to its memory channel.
    #[inline(never)]
    pub(crate) fn fill<Pr: Probe>(
        &mut self,
        engine: &mut Engine,
        reports: &mut Reports<'_, Pr>,
        access: u32,
    ) {
        let (Some(scheduler), Some(request)) = (&mut self.scheduler, self.fills.request(access)) else {
            return;
        };
        scheduler.arrive(request);
        self.serve(engine, reports, request.channel as u32);
    }

    /// Records that the data of an access of a memory-side cache have arrived.
    #[inline(never)]
    pub(crate) fn filled(&mut self, engine: &mut Engine, access: u32) {
        if let Some(line) = self.fills.arrived(access) {
            self.answer_filled(engine, line);
        }
    }

    /// Schedules the answers to the operations on a line that wait for no access of a memory-side cache
    /// and for no earlier operation.
    fn answer_filled(&mut self, engine: &mut Engine, line: LineAddr) {
        while let Some(Ready { number, at, dram_wait }) = self.fills.answer(engine.now(), line) {
            self.answer_at(engine, number, at, (dram_wait, 0));
        }
    }

    /// Serves the requests of a memory channel that can be served now. If others wait, schedules the
    /// next event of the channel.
    #[inline(never)]
    pub(crate) fn serve<Pr: Probe>(
        &mut self,
        engine: &mut Engine,
        reports: &mut Reports<'_, Pr>,
        channel: u32,
    ) {
        let now = engine.now();
        while let Some(scheduler) = &mut self.scheduler {
            let Some(served) = scheduler.serve(&mut self.dram, now, channel as usize) else {
                let next = scheduler.wake(&self.dram, now, channel as usize);
                return next.into_iter().for_each(|at| engine.at(at, Event::MemoryServe(channel)));
            };
            served.read.iter().chain(&served.write).for_each(|access| reports.probe.dram(access));
            if self.side.is_none() {
                self.answer_at(engine, served.number, served.done, (served.waited, 0));
            } else if self.fills.served(served.number, served.waited) {
                engine.at(served.done, Event::MemoryFilled(served.number));
            }
        }
    }

    /// Schedules memory's answer to an operation, whose data arrive at cycle `done`. Its accesses
    /// waited for DRAM and for memory-side caches for these cycles.
    #[inline]
    fn answer_at(&mut self, engine: &mut Engine, number: u32, done: Cycle, (dram, side): (u64, u64)) {
        let Some(transit) = self.operations.get_mut(number) else { return };
        transit.queue_waits = transit.queue_waits.at_dram(dram).at_side(side);
        let path = self.paths[transit.station as usize].cycles;
        let event = match transit.place {
            Some(_) => Event::MemoryReturn(number),
            None => Event::MemoryDone(number),
        };
        engine.at(done + path, event);
    }

    /// Sends memory's answer through the network to the station (controller).
    #[inline(never)]
    pub(crate) fn send_answer<Pr: Probe>(
        &mut self,
        engine: &mut Engine,
        reports: &mut Reports<'_, Pr>,
        network: &mut Network,
        number: u32,
    ) {
        let Some(transit) = self.operations.get_mut(number) else { return };
        let Some(place) = transit.place else { return };
        let (now, station, line) = (engine.now(), transit.station, transit.line);
        let (name, payload) = transit.kind.answer_message(self.line_bytes);
        let past = PastMessage { from: network.memory(), to: station, ..PastMessage::of(now, name, line) };
        let bytes = network.bytes_of(payload);
        if network.count(reports, past, bytes) {
            // Memory has answered, but the network drops the message.
            self.operations.free(number);
            reports.tally.counts.memory_answers += 1;
            return;
        }
        let to = network.place(station);
        let (arrives, queued) = network.cross(now, (place, to), bytes, reports.probe);
        transit.queue_waits = transit.queue_waits.at_noc(queued);
        engine.at(arrives, Event::MemoryDone(number));
    }

    /// Records that memory's answer has arrived at its station (controller). The station then takes
    /// it with [`MainMemory::take_answer`].
    #[inline]
    pub(crate) fn arrive<Pr>(
        &mut self,
        reports: &mut Reports<'_, Pr>,
        network: &mut Network,
        number: u32,
    ) -> Option<(StationId, LineAddr, QueueWaits)> {
        let transit = self.operations.get(number)?;
        if transit.place.is_some() {
            let (_, payload) = transit.kind.answer_message(self.line_bytes);
            network.delivered(network.bytes_of(payload));
        }
        reports.tally.counts.memory_answers += 1;
        Some((transit.station, transit.line, transit.queue_waits))
    }

    /// Removes an operation. Returns memory's answer, and the clock of the station (controller) at
    /// the time when it sent the operation.
    #[inline]
    pub(crate) fn take_answer(&mut self, number: u32) -> Option<(MemoryReply, i64)> {
        let MemoryTransit { line, kind, tag, clock, .. } = self.operations.remove(number)?;
        let data = match kind {
            AccessKind::Read | AccessKind::Rmw { .. } => self.answers[number as usize],
            AccessKind::Write { .. } => LineData::default(),
        };
        let access = kind.with(&self.carried[number as usize]);
        Some((MemoryReply { op: MemoryOp { line, access, tag }, data }, clock))
    }
}
