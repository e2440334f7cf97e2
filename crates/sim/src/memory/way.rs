//! Operations on memory: their way there, memory itself, and the way back.
//!
//! A memory controller stands beside each bank of the last shared cache, and
//! serves the lines of that bank. A bank that sends an operation for a line of its
//! own reaches memory without the network. Every other controller on the chip
//! sends a message to the place of the line's memory and gets one back: each
//! takes links, time, bytes and energy. The host has a way of its own, which
//! `host.memory_latency_cycles` prices.

use proto::{LineAddr, LineData, MemoryAccess, MemoryOp, MemoryReply, Per};

use super::Machine;
use super::travel::Origin;
use crate::engine::Event;
use crate::memory::dram::Located;
use crate::network::noc::NocNode;
use crate::queue::Cycle;
use crate::reports::attribution::Trail;
use crate::reports::history::Past;
use crate::reports::probe::Probe;
use crate::stations::fabric::StationId;

/// An operation on memory under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemoryTransit {
    /// Who sent it.
    pub(super) station: StationId,
    /// Where the line's memory stands, if the network leads there.
    place: Option<NocNode>,
    trail: Trail,
    /// The sender's clock when it was sent.
    sent: i64,
    pub(super) reply: MemoryReply,
}

/// The name and the payload of the message that takes an operation to memory.
fn request_message(access: &MemoryAccess) -> (&'static str, u32) {
    match access {
        MemoryAccess::Read => ("MemoryRead", 0),
        MemoryAccess::Write { mask, .. } => ("MemoryWrite", mask.count()),
        MemoryAccess::Rmw { mask, .. } => ("MemoryUpdate", mask.count()),
    }
}

/// The name and the payload of the message that brings memory's answer.
fn answer_message(access: &MemoryAccess, line_bytes: u32) -> (&'static str, u32) {
    match access {
        MemoryAccess::Read => ("MemoryData", line_bytes),
        MemoryAccess::Write { .. } => ("MemoryWritten", 0),
        MemoryAccess::Rmw { mask, .. } => ("MemoryUpdated", mask.count()),
    }
}

impl<Pr: Probe> Machine<'_, Pr> {
    /// Where a line's memory stands, if a station reaches it over the network.
    fn memory_place(&self, station: StationId, line: LineAddr) -> Option<NocNode> {
        let place = self.memory_places[usize::from(self.fabric.homes().bank(line))];
        let level = &self.levels[usize::from(self.stations[station as usize].level)];
        let is_there = level.is_bank() && self.places[station as usize] == place;
        (level.per != Per::Host && !is_there).then_some(place)
    }

    pub(super) fn send_to_memory(
        &mut self,
        now: Cycle,
        leave: Cycle,
        station: StationId,
        op: MemoryOp,
        trail: Trail,
    ) {
        let memory = self.stations.len() as StationId;
        let way = self.stations[station as usize].timing.memory_way_cycles;
        let leave = self.in_order(leave + way, station, memory);
        let place = self.memory_place(station, op.line);
        if place.is_some() {
            let (name, payload) = request_message(&op.access);
            let past = Past { from: station, to: memory, ..Past::of(now, name, op.line) };
            if self.count_message(past, self.system.noc.header_bytes + payload) {
                return;
            }
        }
        self.reports.tally.counts.memory_ops += 1;
        let reply = MemoryReply { op, data: LineData::default() };
        let sent = if self.clocked { self.fabric.clock(station) } else { 0 };
        let number = self.memory_ops.insert(MemoryTransit { station, place, trail, sent, reply });
        let event = if place.is_some() { Event::MemoryDepart(number) } else { Event::MemoryStart(number) };
        self.engine.at(leave, event);
    }

    /// An operation enters the network.
    #[inline(never)]
    pub(super) fn memory_depart(&mut self, now: Cycle, number: u32) {
        let Some(transit) = self.memory_ops.get(number) else { return };
        let Some(place) = transit.place else { return };
        let from = self.places[transit.station as usize];
        let bytes = self.system.noc.header_bytes + request_message(&transit.reply.op.access).1;
        let arrives = self.cross(now, number, (from, place), bytes);
        self.engine.at(arrives, Event::MemoryStart(number));
    }

    /// Memory performs an operation, and answers when the data have come over
    /// its channel.
    #[inline(never)]
    pub(super) fn memory_start(&mut self, now: Cycle, number: u32) {
        let line_bytes = self.system.l1.line_bytes;
        let Some(transit) = self.memory_ops.get_mut(number) else { return };
        if transit.place.is_some() {
            let bytes = self.system.noc.header_bytes + request_message(&transit.reply.op.access).1;
            self.noc.delivered(bytes);
        }
        let queued = self.dram.traffic().queue_cycles;
        let reply = &mut transit.reply;
        let line = reply.op.line;
        let (chiplet, local) = self.fabric.homes().local(line);
        let bytes = u64::from(line_bytes);
        let located = Located { address: line.0 * bytes, chiplet, local: local * bytes };
        let probe = &mut *self.reports.probe;
        let mut serve = |bytes: u32, is_write: bool| {
            let served = self.dram.access(now, located, bytes, is_write);
            probe.dram(&served);
            served.done
        };
        let (done, changed) = match &reply.op.access {
            MemoryAccess::Read => {
                reply.data = self.memory.read_line(line);
                (serve(line_bytes, false), false)
            }
            MemoryAccess::Write { mask, data } => {
                let changed = self.memory.write_line(line, *mask, data);
                (serve(mask.count(), true), changed)
            }
            MemoryAccess::Rmw { rmw, mask, data } => {
                let mut bytes = self.memory.read_line(line);
                reply.data = rmw.perform(&mut bytes, data, *mask);
                let changed = self.memory.write_line(line, *mask, &bytes);
                serve(line_bytes, false);
                (serve(mask.count(), true), changed)
            }
        };
        transit.trail = transit.trail.at_dram(self.dram.traffic().queue_cycles - queued);
        let way = self.stations[transit.station as usize].timing.memory_way_cycles;
        let event = match transit.place {
            Some(_) => Event::MemoryReturn(number),
            None => Event::MemoryDone(number),
        };
        if changed {
            self.reports.watch.progress(now);
        }
        self.engine.at(done + way, event);
    }

    /// Memory's answer enters the network.
    #[inline(never)]
    pub(super) fn memory_return(&mut self, now: Cycle, number: u32) {
        let Some(&MemoryTransit { station, place: Some(place), reply, .. }) = self.memory_ops.get(number)
        else {
            return;
        };
        let memory = self.stations.len() as StationId;
        let (name, payload) = answer_message(&reply.op.access, self.system.l1.line_bytes);
        let past = Past { from: memory, to: station, ..Past::of(now, name, reply.op.line) };
        let bytes = self.system.noc.header_bytes + payload;
        if self.count_message(past, bytes) {
            // Memory has answered; the network has lost it.
            self.memory_ops.remove(number);
            self.reports.tally.counts.memory_answers += 1;
            return;
        }
        let arrives = self.cross(now, number, (place, self.places[station as usize]), bytes);
        self.engine.at(arrives, Event::MemoryDone(number));
    }

    /// Memory's answer reaches the station.
    #[inline(never)]
    pub(super) fn memory_done(&mut self, now: Cycle, number: u32) {
        let Some(transit) = self.memory_ops.get(number) else { return };
        let (station, trail, line) = (transit.station, transit.trail, transit.reply.op.line);
        if transit.place.is_some() {
            let (_, payload) = answer_message(&transit.reply.op.access, self.system.l1.line_bytes);
            self.noc.delivered(self.system.noc.header_bytes + payload);
        }
        self.reports.tally.counts.memory_answers += 1;
        self.catch_up(now, station);
        // Answers are large: this one is read where it lies.
        let Some(transit) = self.memory_ops.get(number) else { return };
        self.fabric.memory(station, &transit.reply, transit.sent, self.out.get_or_insert_default());
        self.memory_ops.free(number);
        self.carry_out(now, station, Origin::Memory { line }, trail);
    }

    /// Takes an operation or its answer over the network. Returns when it arrives.
    fn cross(&mut self, now: Cycle, number: u32, (from, to): (NocNode, NocNode), bytes: u32) -> Cycle {
        let probe = &mut *self.reports.probe;
        let queued = self.noc.traffic().queue_cycles;
        let arrives = self.noc.send(now, from, to, bytes, |link| probe.link(link));
        let queued = self.noc.traffic().queue_cycles - queued;
        if let Some(transit) = self.memory_ops.get_mut(number) {
            transit.trail = transit.trail.at_noc(queued);
        }
        arrives
    }
}
