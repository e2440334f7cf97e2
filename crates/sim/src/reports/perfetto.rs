//! A timeline of a run in the trace format of the Perfetto UI.
//!
//! The timeline has one track for each wavefront slot, L1, L2 bank, link and memory channel, and
//! counters for each interval of cycles. Times are those of the machine's clock, rounded to
//! nanoseconds. A slice is an interval on a track; each slice has its first cycle as a note.
//! Packets are written immediately, so memory use does not grow with the run.

mod intervals;
mod packet;

use core::num::NonZeroU64;
use std::collections::BTreeMap;
use std::io::{self, Write};

use kernel::{Action, Posted, Space};
use proto::{Condition, LineAddr};

use crate::memory::dram::DramUse;
use crate::network::noc::{LinkEnds, LinkUse};
use crate::queue::Cycle;
use crate::reports::probe::{Layout, Probe, WaveAt};
use crate::reports::sample::Sample;
use intervals::{Intervals, Value};
use packet::{Annotation, CounterDescriptor, EventName, InternedData, Packet, TrackDescriptor, TrackEvent};

const SLICE_BEGIN: i32 = 1;
const SLICE_END: i32 = 2;
const COUNTER: i32 = 4;
const STATE_CLEARED: u32 = 1;
const NEEDS_STATE: u32 = 2;
/// The identifier of the packet sequence to which all packets belong.
const SEQUENCE: u32 = 1;

/// The component of the machine that a track shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Track {
    /// A heading, with other tracks below it.
    Group(&'static str),
    Kernels,
    Wave {
        cu: u32,
        slot: u32,
    },
    Station(u32),
    /// The conditions of the station (controller) with this number that have the same track name. A
    /// condition is a state that lasts, such as a granted epoch.
    Conditions(u32, &'static str),
    Link(u32),
    Channel(u32),
    Counter(&'static str, &'static str),
}

/// The default length of the intervals of the counters, in cycles.
const EVERY: NonZeroU64 = NonZeroU64::new(1000).unwrap();

/// The clock frequency of the machine, or 1 GHz if the layout does not contain it.
fn clock_mhz(layout: &Layout) -> u32 {
    if layout.clock_mhz == 0 { 1000 } else { layout.clock_mhz }
}

/// A track that has been declared in the trace.
#[derive(Clone, Copy, Debug)]
struct TrackState {
    uuid: u64,
    /// The cycle at which the track's last slice ends. Slices (intervals) of a track do not
    /// overlap.
    end: Cycle,
}

/// A probe (an observer of a run) that writes a timeline during the run.
#[derive(Debug)]
pub struct Timeline<W: Write> {
    out: W,
    layout: Layout,
    tracks: BTreeMap<Track, TrackState>,
    names: BTreeMap<String, u64>,
    /// The conditions that have not ended, by station (controller) and track name, each with its
    /// first cycle. A condition is a state that lasts, such as a granted epoch.
    conditions: BTreeMap<(u32, &'static str), (String, Cycle)>,
    /// The cycle at which a condition of any station (controller) changed last. A condition is a
    /// state that lasts, such as a granted epoch.
    latest: Cycle,
    intervals: Intervals,
    has_begun: bool,
    failed: Option<io::Error>,
    bytes: Vec<u8>,
}

impl<W: Write> Timeline<W> {
    /// A timeline that is written to `out`, with the default interval of counters. If `out` is a
    /// file, the caller should wrap it in a `BufWriter`.
    pub fn new(out: W) -> Timeline<W> {
        Timeline::with_interval(out, EVERY)
    }

    /// A timeline that is written to `out`, with a value of each counter every `every` cycles.
    pub fn with_interval(out: W, every: NonZeroU64) -> Timeline<W> {
        Timeline {
            out,
            layout: Layout::default(),
            tracks: BTreeMap::new(),
            names: BTreeMap::new(),
            conditions: BTreeMap::new(),
            latest: 0,
            intervals: Intervals::new(every),
            has_begun: false,
            failed: None,
            bytes: Vec::new(),
        }
    }

    /// Ends the trace and returns the writer.
    ///
    /// # Errors
    /// The first error of the writer.
    pub fn finish(mut self) -> io::Result<W> {
        for ((station, track), (text, from)) in core::mem::take(&mut self.conditions) {
            self.slice(Track::Conditions(station, track), &text, from, self.latest, &[]);
        }
        match self.failed {
            Some(error) => Err(error),
            None => self.out.flush().map(|()| self.out),
        }
    }

    /// Writes one packet of the trace.
    fn write(&mut self, mut packet: Packet) {
        if self.failed.is_some() {
            return;
        }
        packet.trusted_packet_sequence_id = SEQUENCE;
        packet.sequence_flags = if self.has_begun { NEEDS_STATE } else { STATE_CLEARED };
        self.has_begun = true;
        self.bytes.clear();
        // The tag of field 1 of `Trace`, which is length-delimited.
        self.bytes.push(0x0a);
        let encoded = prost::Message::encode_length_delimited(&packet, &mut self.bytes);
        let written = encoded.map_err(io::Error::other).and_then(|()| self.out.write_all(&self.bytes));
        self.failed = written.err();
    }

    /// The state of a track. Declares the track in the trace at its first use.
    fn track(&mut self, track: Track) -> TrackState {
        if let Some(&open) = self.tracks.get(&track) {
            return open;
        }
        let (name, parent) = self.name_of(track);
        let parent = parent.map(|group| self.track(Track::Group(group)).uuid);
        let open = TrackState { uuid: self.tracks.len() as u64 + 1, end: 0 };
        self.tracks.insert(track, open);
        let counter = match track {
            Track::Counter(_, unit) => Some(CounterDescriptor { unit_name: unit.to_owned() }),
            _ => None,
        };
        let descriptor = TrackDescriptor { uuid: open.uuid, name, parent_uuid: parent, counter };
        self.write(Packet { track_descriptor: Some(descriptor), ..Packet::default() });
        open
    }

    fn name_of(&self, track: Track) -> (String, Option<&'static str>) {
        match track {
            Track::Group(name) => (name.to_owned(), None),
            Track::Kernels => ("Kernels".to_owned(), None),
            Track::Wave { cu, slot } => (format!("CU[{cu}] slot {slot}"), Some("Wavefronts")),
            Track::Conditions(station, track) => {
                let (name, group) = self.name_of(Track::Station(station));
                (format!("{name} {track}"), group)
            }
            Track::Station(number) => {
                let name = self.layout.stations.get(number as usize).cloned().unwrap_or_default();
                let group = match name.split('[').next() {
                    Some("L1") => "L1",
                    Some("L2") => "L2",
                    _ => "Other controllers",
                };
                (name, Some(group))
            }
            Track::Link(number) => {
                let name = match self.layout.links.get(number as usize) {
                    Some(LinkEnds::Inject(node)) => format!("node {} in", node.0),
                    Some(LinkEnds::Eject(node)) => format!("node {} out", node.0),
                    Some(LinkEnds::Hop(from, to)) => format!("link {} to {}", from.0, to.0),
                    Some(LinkEnds::Chiplets(from, to)) => format!("chiplet {from} to chiplet {to}"),
                    None => format!("link {number}"),
                };
                (name, Some("Links"))
            }
            Track::Channel(number) => (format!("memory channel {number}"), Some("DRAM")),
            Track::Counter(name, _) => (name.to_owned(), Some("Counters")),
        }
    }

    /// Writes a slice (an interval on a track). If the slice overlaps the track's last slice, it
    /// begins at the end of that slice.
    fn slice(&mut self, track: Track, name: &str, from: Cycle, until: Cycle, notes: &[(&str, u64)]) {
        let open = self.track(track);
        let from = from.max(open.end);
        if until <= from {
            return;
        }
        if let Some(open) = self.tracks.get_mut(&track) {
            open.end = until;
        }
        let (iid, interned) = self.intern(name);
        let annotation =
            |&(name, value): &(&str, u64)| Annotation { name: name.to_owned(), uint_value: Some(value) };
        let notes =
            notes.iter().chain(&[("cycle", from), ("cycles", until - from)]).map(annotation).collect();
        self.write(Packet {
            timestamp: Some(self.nanoseconds(from)),
            interned_data: interned,
            track_event: Some(TrackEvent {
                kind: SLICE_BEGIN,
                name_iid: Some(iid),
                track_uuid: open.uuid,
                annotations: notes,
                ..TrackEvent::default()
            }),
            ..Packet::default()
        });
        self.write(Packet {
            timestamp: Some(self.nanoseconds(until)),
            track_event: Some(TrackEvent { kind: SLICE_END, track_uuid: open.uuid, ..TrackEvent::default() }),
            ..Packet::default()
        });
    }

    /// Writes the condition of a station (controller) that ends now on a track, and begins the next
    /// condition on this track. A condition is a state that lasts, such as a granted epoch.
    fn condition(&mut self, now: Cycle, at: (u32, &'static str), next: Option<String>) {
        self.latest = now;
        if let Some((text, from)) = self.conditions.remove(&at) {
            self.slice(Track::Conditions(at.0, at.1), &text, from, now, &[]);
        }
        self.conditions.extend(next.map(|text| (at, (text, now))));
    }

    /// Writes a value of a track that shows a counter.
    fn value(&mut self, value: Value) {
        let open = self.track(Track::Counter(value.name, value.unit));
        self.write(Packet {
            timestamp: Some(self.nanoseconds(value.at)),
            track_event: Some(TrackEvent {
                kind: COUNTER,
                track_uuid: open.uuid,
                counter_value: Some(value.value),
                ..TrackEvent::default()
            }),
            ..Packet::default()
        });
    }

    /// The time in nanoseconds at which a cycle begins, by the clock of the machine.
    fn nanoseconds(&self, cycle: Cycle) -> u64 {
        let clock = u128::from(clock_mhz(&self.layout));
        u64::try_from((u128::from(cycle) * 1000 + clock / 2) / clock).unwrap_or(u64::MAX)
    }

    /// The number that stands for a name in the trace. If the name is used for the first time, also
    /// the packet data that declare the number.
    fn intern(&mut self, name: &str) -> (u64, Option<InternedData>) {
        if let Some(&iid) = self.names.get(name) {
            return (iid, None);
        }
        let iid = self.names.len() as u64 + 1;
        self.names.insert(name.to_owned(), iid);
        (iid, Some(InternedData { event_names: vec![EventName { iid, name: name.to_owned() }] }))
    }
}

fn wave_track(at: WaveAt) -> Track {
    Track::Wave { cu: at.cu, slot: at.slot }
}

fn operation_name(op: &Posted) -> &'static str {
    match (op.action, op.space) {
        (Action::Load, Space::Global) => "load",
        (Action::Store, Space::Global) => "store",
        (Action::Rmw { .. }, Space::Global) => "atomic",
        (_, Space::Lds) => "local memory",
        (Action::Barrier, _) => "barrier",
        _ => "fence",
    }
}

impl<W: Write> Probe for Timeline<W> {
    fn begin(&mut self, layout: &Layout) {
        self.layout = layout.clone();
        for group in ["Counters", "Wavefronts", "L1", "L2", "Links", "DRAM"] {
            self.track(Track::Group(group));
        }
    }

    fn kernel(&mut self, name: &str, from: Cycle, until: Cycle) {
        self.slice(Track::Kernels, name, from, until, &[]);
    }

    fn arithmetic(&mut self, at: WaveAt, from: Cycle, until: Cycle) {
        let notes = [("work-group", u64::from(at.work_group)), ("wavefront", u64::from(at.wave))];
        self.slice(wave_track(at), "arithmetic", from, until, &notes);
    }

    fn complete(&mut self, at: WaveAt, op: &Posted, issued: Cycle, until: Cycle) {
        let lane = op.exec.first().unwrap_or(0);
        let notes = [
            ("work-group", u64::from(at.work_group)),
            ("wavefront", u64::from(at.wave)),
            ("address", op.addr(lane).0),
            ("line of source", u64::from(op.site.line())),
        ];
        self.slice(wave_track(at), operation_name(op), issued, until, &notes);
    }

    fn serve(&mut self, station: u32, what: &'static str, line: Option<LineAddr>, from: Cycle, until: Cycle) {
        match line {
            Some(line) => self.slice(Track::Station(station), what, from, until, &[("line", line.0)]),
            None => self.slice(Track::Station(station), what, from, until, &[]),
        }
    }

    fn draws(&self) -> bool {
        true
    }

    fn conditions(&mut self, now: Cycle, station: u32, conditions: Vec<Condition>) {
        let open = self.conditions.range((station, "")..(station + 1, "")).map(|(&(_, track), _)| track);
        let ended = open.filter(|track| conditions.iter().all(|condition| condition.track != *track));
        for track in ended.collect::<Vec<_>>() {
            self.condition(now, (station, track), None);
        }
        for Condition { track, text } in conditions {
            if self.conditions.get(&(station, track)).is_none_or(|(open, _)| *open != text) {
                self.condition(now, (station, track), Some(text));
            }
        }
    }

    fn end(&mut self, now: Cycle) {
        self.latest = now;
    }

    fn link(&mut self, link: LinkUse) {
        self.intervals.link(link);
        self.slice(Track::Link(link.link as u32), "flits", link.from, link.until, &[]);
    }

    fn dram(&mut self, access: &DramUse) {
        self.intervals.dram(access);
        let name = match (access.is_write, access.is_row_hit) {
            (false, true) => "read, row hit",
            (false, false) => "read, row miss",
            (true, true) => "write, row hit",
            (true, false) => "write, row miss",
        };
        let notes =
            [("address", access.address), ("bytes", u64::from(access.bytes)), ("bank", access.bank as u64)];
        self.slice(Track::Channel(access.channel as u32), name, access.from, access.until, &notes);
    }

    fn sample_every(&self) -> Option<NonZeroU64> {
        Some(self.intervals.every())
    }

    fn sample(&mut self, sample: &Sample) {
        for value in self.intervals.close(sample, &self.layout) {
            self.value(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::noc::NocNode;

    #[derive(Clone, PartialEq, prost::Message)]
    struct Trace {
        #[prost(message, repeated, tag = "1")]
        packet: Vec<Packet>,
    }

    fn layout() -> Layout {
        Layout {
            stations: vec!["L1[0]".to_owned(), "L2[0]".to_owned()],
            links: vec![LinkEnds::Hop(NocNode(0), NocNode(1))],
            ..Layout::default()
        }
    }

    fn drawn() -> Trace {
        let mut timeline = Timeline::new(Vec::new());
        timeline.begin(&layout());
        let at = WaveAt { cu: 3, slot: 2, ..WaveAt::default() };
        timeline.arithmetic(at, 10, 14);
        timeline.arithmetic(at, 12, 20);
        timeline.arithmetic(at, 15, 18);
        timeline.serve(1, "Get", Some(LineAddr(9)), 30, 32);
        timeline.link(LinkUse { link: 0, from: 5, until: 6 });
        timeline.kernel("add", 0, 40);
        prost::Message::decode(timeline.finish().unwrap().as_slice()).unwrap()
    }

    #[test]
    fn tracks_are_declared_before_they_are_used_and_below_their_group() {
        let mut declared = BTreeMap::new();
        for packet in drawn().packet {
            if let Some(track) = packet.track_descriptor {
                assert!(track.parent_uuid.is_none_or(|parent| declared.contains_key(&parent)));
                declared.insert(track.uuid, track.name);
            }
            if let Some(event) = packet.track_event {
                assert!(declared.contains_key(&event.track_uuid));
            }
        }
        let names: Vec<_> = declared.into_values().collect();
        for name in ["Wavefronts", "CU[3] slot 2", "L2[0]", "link 0 to 1", "Kernels"] {
            assert!(names.iter().any(|n| n == name), "{name} in {names:?}");
        }
    }

    #[test]
    fn slices_of_a_track_do_not_overlap_and_each_begin_has_its_end() {
        let mut slices: BTreeMap<u64, Vec<(i32, u64)>> = BTreeMap::new();
        for packet in drawn().packet {
            if let Some(event) = packet.track_event {
                slices.entry(event.track_uuid).or_default().push((event.kind, packet.timestamp.unwrap()));
            }
        }
        let waves = slices.values().find(|s| s.len() == 4).unwrap();
        assert_eq!(waves, &[(1, 10), (2, 14), (1, 14), (2, 20)]);
        assert!(slices.values().all(|s| s.chunks(2).all(|pair| pair[0].0 == 1 && pair[1].0 == 2)));
    }

    #[test]
    fn a_condition_is_a_slice_from_its_first_to_its_last_cycle() {
        let mut timeline = Timeline::new(Vec::new());
        timeline.begin(&layout());
        let conditions = |texts: &[(&'static str, &str)]| -> Vec<Condition> {
            let one = |&(track, text): &(&'static str, &str)| Condition { track, text: text.to_owned() };
            texts.iter().map(one).collect()
        };
        timeline.conditions(0, 1, conditions(&[("epochs", "epoch 0")]));
        timeline.conditions(5, 1, conditions(&[("epochs", "epoch 0")]));
        timeline.conditions(7, 1, conditions(&[("change", "writes"), ("epochs", "epoch 0")]));
        timeline.conditions(8, 0, conditions(&[]));
        timeline.conditions(9, 1, conditions(&[("epochs", "epoch 3")]));
        timeline.end(20);
        let trace: Trace = prost::Message::decode(timeline.finish().unwrap().as_slice()).unwrap();
        let mut names = BTreeMap::new();
        let mut tracks = BTreeMap::new();
        let mut slices = Vec::new();
        for packet in trace.packet {
            let more = packet.interned_data.iter().flat_map(|data| &data.event_names);
            names.extend(more.map(|name| (name.iid, name.name.clone())));
            if let Some(track) = packet.track_descriptor {
                tracks.insert(track.uuid, track.name);
            }
            if let Some(event) = packet.track_event {
                match event.name_iid {
                    Some(iid) => slices.push((
                        tracks[&event.track_uuid].clone(),
                        names[&iid].clone(),
                        packet.timestamp.unwrap(),
                        0,
                    )),
                    None => slices.last_mut().unwrap().3 = packet.timestamp.unwrap(),
                }
            }
        }
        let slice = |track: &str, name: &str, from, until| (track.to_owned(), name.to_owned(), from, until);
        let expected = [
            slice("L2[0] change", "writes", 7, 9),
            slice("L2[0] epochs", "epoch 0", 0, 9),
            slice("L2[0] epochs", "epoch 3", 9, 20),
        ];
        assert_eq!(slices, expected);
    }

    #[test]
    fn timestamps_follow_the_clock_and_each_slice_keeps_its_cycle() {
        let mut timeline = Timeline::new(Vec::new());
        timeline.begin(&Layout { clock_mhz: 1200, ..layout() });
        timeline.serve(0, "Get", None, 1200, 1203);
        timeline.dram(&DramUse {
            channel: 5,
            bank: 40,
            address: 4096,
            bytes: 32,
            is_write: true,
            is_row_hit: false,
            from: 2400,
            until: 2406,
            done: 2500,
        });
        timeline.sample(&Sample { cycle: 1200, ..Sample::default() });
        let trace: Trace = prost::Message::decode(timeline.finish().unwrap().as_slice()).unwrap();
        let of_kind = |kind: i32| {
            let packets =
                trace.packet.iter().filter(move |p| p.track_event.as_ref().is_some_and(|e| e.kind == kind));
            packets.map(|p| p.timestamp.unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(of_kind(SLICE_BEGIN), [1000, 2000]);
        assert_eq!(of_kind(SLICE_END), [1003, 2005]);
        // The gauges in `LEVELS` are written at the end of their interval, other counters at its
        // beginning.
        assert!(of_kind(COUNTER).iter().all(|at| *at == 0 || *at == 1000), "{:?}", of_kind(COUNTER));
        let cycles: Vec<_> = trace
            .packet
            .iter()
            .flat_map(|p| p.track_event.iter().flat_map(|e| &e.annotations))
            .filter(|note| note.name == "cycle")
            .map(|note| note.uint_value.unwrap())
            .collect();
        assert_eq!(cycles, [1200, 2400]);
        let tracks = |unit: &str| {
            let tracks = trace.packet.iter().filter_map(|p| p.track_descriptor.as_ref());
            let of_unit = tracks.filter(|t| t.counter.as_ref().is_some_and(|c| c.unit_name == unit));
            of_unit.map(|t| t.name.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(tracks("GB/s"), ["DRAM bandwidth"]);
        assert_eq!(tracks("%"), ["links busy", "busiest link", "DRAM busy"]);
    }

    #[test]
    fn a_name_is_written_once_and_the_first_packet_clears_the_state() {
        let trace = drawn();
        let names: Vec<_> =
            trace.packet.iter().flat_map(|p| p.interned_data.iter().flat_map(|d| &d.event_names)).collect();
        assert_eq!(names.iter().filter(|n| n.name == "arithmetic").count(), 1);
        assert_eq!(trace.packet[0].sequence_flags, STATE_CLEARED);
        assert!(trace.packet[1..].iter().all(|p| p.sequence_flags == NEEDS_STATE));
    }

    #[test]
    fn finish_returns_an_error_of_the_writer() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::Error::other("disk full"))
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut timeline = Timeline::new(Full);
        timeline.begin(&layout());
        timeline.kernel("add", 0, 1);
        assert_eq!(timeline.finish().err().unwrap().to_string(), "disk full");
    }
}
