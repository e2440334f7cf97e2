//! The network: where stations (the controllers of the protocol) are attached, and the messages in
//! transit.

mod departures;
pub(crate) mod held;
pub mod noc;
pub(crate) mod placement;

use proto::LineAddr;

use crate::config::System;
use crate::engine::{Engine, Event};
use crate::options::DropMessage;
use crate::queue::Cycle;
use crate::reports::Reports;
use crate::reports::attribution::QueueWaits;
use crate::reports::history::PastMessage;
use crate::reports::probe::{MessageSeen, Probe};
use crate::slab::Slab;
use crate::stations::fabric::{LevelInfo, MessageId, Sent, StationId, StationInfo};
use departures::Departures;
use noc::{LinkEnds, Noc, NocNode, NocTraffic};
use placement::Placement;

/// A message that was sent and has not arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transit {
    pub(crate) from: StationId,
    pub(crate) to: StationId,
    pub(crate) message: MessageId,
    pub(crate) name: &'static str,
    bytes: u32,
    pub(crate) line: Option<LineAddr>,
    pub(crate) is_access: bool,
    /// Whether sender and receiver are at the same place, so that the message does not use the
    /// network.
    is_beside: bool,
    pub(crate) queue_waits: QueueWaits,
}

/// The sender and the earliest departure time of a message or a memory operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    pub(crate) from: StationId,
    /// The earliest cycle at which the message may leave. It leaves later if an earlier message to
    /// the same destination leaves later.
    pub(crate) at: Cycle,
    /// The clock of the sending station (controller) in ticks. Zero if the protocol has no clocks.
    pub(crate) clock: i64,
    pub(crate) queue_waits: QueueWaits,
}

/// The place at which a station (controller) is attached to the network, and the times at which its
/// last messages left.
#[derive(Debug)]
struct StationPlace {
    place: NocNode,
    /// The number of the place at which the station (controller) is. Stations with the same number
    /// are at the same place and need no network between them.
    site: u32,
    /// The number of the memory level to which the station (controller) belongs.
    level: u8,
    departures: Departures,
}

/// The network and the messages in transit.
#[derive(Debug)]
pub(crate) struct Network {
    noc: Noc,
    placement: Placement,
    header_bytes: u32,
    /// The message to drop as a seeded fault. `None` if no message is dropped.
    drop: Option<DropMessage>,
    /// For each station (controller), its place and the times at which its last messages left.
    places: Vec<StationPlace>,
    transits: Slab<Transit>,
}

impl Network {
    /// A network between these stations (controllers), without messages.
    ///
    /// # Errors
    /// If the machine has more nodes than a network may have.
    pub(crate) fn new(
        system: &System,
        levels: &[LevelInfo],
        stations: &[StationInfo],
        drop: Option<DropMessage>,
    ) -> Result<Network, String> {
        let noc = Noc::of_chiplets(&system.noc, &system.links, system.chiplets)?;
        let placement = Placement::new(system, &noc);
        let place_of = |(station, site): (&StationInfo, u32)| {
            let level = &levels[usize::from(station.level)];
            let place = placement.node(level, station.index);
            let departures = Departures::new(!level.is_bank());
            StationPlace { place, site, level: station.level, departures }
        };
        let places = stations.iter().zip(sites(levels, stations)).map(place_of).collect();
        let header_bytes = system.noc.header_bytes;
        Ok(Network { placement, noc, header_bytes, drop, places, transits: Slab::default() })
    }

    /// The two ends of every link, in the order in which links are numbered.
    pub(crate) fn links(&self) -> impl Iterator<Item = LinkEnds> {
        self.noc.links().map(|(ends, _)| ends)
    }

    /// The traffic of the network since the beginning of the run.
    pub(crate) fn traffic(&self) -> NocTraffic {
        self.noc.traffic()
    }

    /// Returns the links with their traffic. The rest of the network is dropped.
    pub(crate) fn into_noc(self) -> Noc {
        self.noc
    }

    /// The network node at which a station (controller) is attached.
    #[inline]
    pub(crate) fn place(&self, station: StationId) -> NocNode {
        self.places[station as usize].place
    }

    /// The network node at which the memory of a bank's lines is attached.
    pub(crate) fn memory_place(&self, bank: u32, banks: u32) -> NocNode {
        self.placement.memory(bank, banks)
    }

    /// The number that stands for memory as a sender or receiver in the message history. It equals
    /// the count of stations (controllers), so no station has it.
    pub(crate) fn memory(&self) -> StationId {
        self.places.len() as StationId
    }

    /// The size of a message with this payload: the payload and the header.
    #[inline]
    pub(crate) fn bytes_of(&self, payload_bytes: u32) -> u32 {
        self.header_bytes + payload_bytes
    }

    /// A message in transit. `None` if no message has this number.
    pub(crate) fn transit(&self, number: u32) -> Option<&Transit> {
        self.transits.get(number)
    }

    /// The cycle at which a message leaves for its destination. The message never leaves before an
    /// earlier message to the same destination.
    #[inline]
    pub(crate) fn in_order(&mut self, now: Cycle, departure: &Departure, to: StationId) -> Cycle {
        let last = self.places[departure.from as usize].departures.last(to, now);
        *last = departure.at.max(*last);
        *last
    }

    /// Sends a message from a station (controller). Returns true if a seeded fault drops the
    /// message.
    #[must_use]
    pub(crate) fn send<Pr: Probe>(
        &mut self,
        engine: &mut Engine,
        reports: &mut Reports<'_, Pr>,
        departure: &Departure,
        sent: &Sent,
    ) -> bool {
        let Departure { from, queue_waits, .. } = *departure;
        let &Sent { to, message, name, payload_bytes, line, is_access } = sent;
        let (sender, receiver) = (&self.places[from as usize], &self.places[to as usize]);
        let is_beside = sender.site == receiver.site && from != to;
        let bytes = self.bytes_of(payload_bytes);
        reports.tally.message_between(sender.level, receiver.level, bytes);
        let past = PastMessage { at: engine.now(), from, to, name, line, dropped: false };
        if is_beside {
            reports.tally.beside_messages += 1;
            reports.history.sent(past);
        } else if self.count(reports, past, bytes) {
            return true;
        }
        let leave = self.in_order(engine.now(), departure, to);
        let transit = Transit { from, to, message, name, bytes, line, is_access, is_beside, queue_waits };
        let number = self.transits.insert(transit);
        engine.at(leave, if is_beside { Event::Arrive(number) } else { Event::Depart(number) });
        false
    }

    /// Counts a sent message and adds it to the message history. Returns true if a seeded fault
    /// drops it.
    #[must_use]
    pub(crate) fn count<Pr>(&self, reports: &mut Reports<'_, Pr>, past: PastMessage, bytes: u32) -> bool {
        reports.tally.message(past.name, bytes);
        let drop = self.drop.as_ref();
        let dropped = drop
            .is_some_and(|drop| drop.name == past.name && reports.tally.messages_of(past.name) == drop.nth);
        reports.history.sent(PastMessage { dropped, ..past });
        if dropped {
            reports.tally.counts.dropped_messages += 1;
            reports.tally.counts.dropped_bytes += u64::from(bytes);
        }
        dropped
    }

    /// Sends a message, which has left its station (controller), through the network.
    #[inline(never)]
    pub(crate) fn depart<Pr: Probe>(
        &mut self,
        engine: &mut Engine,
        reports: &mut Reports<'_, Pr>,
        number: u32,
    ) {
        let Some(transit) = self.transits.get_mut(number) else { return };
        let Transit { from, to, name, line, bytes, .. } = *transit;
        let places = (self.places[from as usize].place, self.places[to as usize].place);
        let sent = engine.now();
        let (arrives, queued) = cross(&mut self.noc, sent, places, bytes, reports.probe);
        transit.queue_waits = transit.queue_waits.at_noc(queued);
        reports.probe.message(&MessageSeen { name, from, to, line, bytes, sent, arrives });
        engine.at(arrives, Event::Arrive(number));
    }

    /// Sends bytes from one node to another. Returns the cycle at which they arrive, and the cycles
    /// for which they waited for busy links.
    #[inline]
    pub(crate) fn cross(
        &mut self,
        now: Cycle,
        places: (NocNode, NocNode),
        bytes: u32,
        probe: &mut impl Probe,
    ) -> (Cycle, u64) {
        cross(&mut self.noc, now, places, bytes, probe)
    }

    /// Removes a message that has arrived, and returns it. `None` if no message has this number.
    #[inline]
    pub(crate) fn arrive<Pr>(&mut self, reports: &mut Reports<'_, Pr>, number: u32) -> Option<Transit> {
        let transit = self.transits.remove(number)?;
        if !transit.is_beside {
            self.delivered(transit.bytes);
        }
        reports.tally.counts.access_messages += u64::from(transit.is_access);
        Some(transit)
    }

    /// Counts a message of `bytes` bytes as delivered.
    #[inline]
    pub(crate) fn delivered(&mut self, bytes: u32) {
        self.noc.delivered(bytes);
    }
}

#[inline]
fn cross(
    noc: &mut Noc,
    now: Cycle,
    (from, to): (NocNode, NocNode),
    bytes: u32,
    probe: &mut impl Probe,
) -> (Cycle, u64) {
    let queued = noc.traffic().queue_cycles;
    let arrives = noc.send(now, from, to, bytes, |link| probe.link(link));
    (arrives, noc.traffic().queue_cycles - queued)
}

/// For each station (controller), the number of the first station at the same place.
fn sites(levels: &[LevelInfo], stations: &[StationInfo]) -> Vec<u32> {
    let site = |station: &StationInfo| levels[usize::from(station.level)].site(station.index);
    let mut first = std::collections::BTreeMap::new();
    let sites = (0..).zip(stations).map(|(at, station)| *first.entry(site(station)).or_insert(at));
    sites.collect()
}

#[cfg(test)]
mod tests {
    use proto::Per;

    use super::*;
    use crate::memory::dram::DramTraffic;
    use crate::reports::counters::Tally;
    use crate::reports::progress::Watch;

    #[test]
    fn messages_of_a_station_leave_in_order_except_the_dropped_one() {
        let system: System = toml::from_str(include_str!("../../../../systems/hlrc-8cu.toml")).unwrap();
        let level = LevelInfo {
            name: "l1".to_owned(),
            per: Per::Cu,
            count: 8,
            has_lines: true,
            miss_registers: 0,
            height: 1,
            beside: None,
            like: None,
        };
        let station = |index| StationInfo { name: format!("L1[{index}]"), level: 0, index };
        let drop = DropMessage { name: "Get".to_owned(), nth: 2 };
        let stations: Vec<_> = (0..8).map(station).collect();
        let mut network = Network::new(&system, &[level], &stations, Some(drop)).unwrap();
        let (mut engine, mut probe) = (Engine::new(0), ());
        let tally = Tally::new(["l1".to_owned()].into_iter());
        let mut reports = Reports::new(&mut probe, tally, Watch::new(1), 0, 64);
        let mut send = |name, to, at| {
            let sent = Sent { to, message: 0, name, payload_bytes: 4, line: None, is_access: false };
            let departure = Departure { from: 0, at, clock: 0, queue_waits: QueueWaits::default() };
            network.send(&mut engine, &mut reports, &departure, &sent)
        };
        let lost = [send("Get", 1, 10), send("Get", 1, 20), send("Put", 2, 5), send("Get", 1, 12)];
        assert_eq!(lost, [false, true, false, false]);
        let events = core::iter::from_fn(|| engine.next()).map(|(when, _)| when);
        assert_eq!(events.collect::<Vec<_>>(), [10, 10, 12]);
        let entries = reports.tally.entries(&NocTraffic::default(), &DramTraffic::default());
        assert_eq!(entries["bytes_sent.l1.l1"], 4 * u64::from(network.bytes_of(4)));
        let counts = &reports.tally.counts;
        assert_eq!((counts.dropped_messages, counts.dropped_bytes), (1, u64::from(network.bytes_of(4))));
    }
}
