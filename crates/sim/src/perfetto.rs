//! A time line of a run as a Perfetto trace: it opens in the Perfetto UI.
//!
//! One track for each wavefront slot, L1, L2 bank and link; one nanosecond of
//! the trace is one cycle. Packets are written as they come, so that a long
//! run needs no memory. The messages below are the few of Perfetto's public
//! `trace.proto` that this needs, with its field numbers.

use std::collections::BTreeMap;
use std::io::{self, Write};

use kernel::{Action, Posted, Space};
use proto::LineAddr;

use crate::noc::{LinkEnds, LinkUse};
use crate::probe::{Layout, Probe, WaveAt};
use crate::queue::Cycle;

#[derive(Clone, PartialEq, prost::Message)]
struct Packet {
    #[prost(uint64, optional, tag = "8")]
    timestamp: Option<u64>,
    #[prost(uint32, tag = "10")]
    trusted_packet_sequence_id: u32,
    #[prost(message, optional, tag = "11")]
    track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "12")]
    interned_data: Option<InternedData>,
    #[prost(uint32, tag = "13")]
    sequence_flags: u32,
    #[prost(message, optional, tag = "60")]
    track_descriptor: Option<TrackDescriptor>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct TrackDescriptor {
    #[prost(uint64, tag = "1")]
    uuid: u64,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(uint64, optional, tag = "5")]
    parent_uuid: Option<u64>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct TrackEvent {
    #[prost(int32, tag = "9")]
    kind: i32,
    #[prost(uint64, optional, tag = "10")]
    name_iid: Option<u64>,
    #[prost(uint64, tag = "11")]
    track_uuid: u64,
    #[prost(message, repeated, tag = "4")]
    annotations: Vec<Annotation>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Annotation {
    #[prost(uint64, optional, tag = "3")]
    uint_value: Option<u64>,
    #[prost(string, tag = "10")]
    name: String,
}

#[derive(Clone, PartialEq, prost::Message)]
struct InternedData {
    #[prost(message, repeated, tag = "2")]
    event_names: Vec<EventName>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct EventName {
    #[prost(uint64, tag = "1")]
    iid: u64,
    #[prost(string, tag = "2")]
    name: String,
}

const SLICE_BEGIN: i32 = 1;
const SLICE_END: i32 = 2;
const STATE_CLEARED: u32 = 1;
const NEEDS_STATE: u32 = 2;
/// All packets are of one sequence.
const SEQUENCE: u32 = 1;

/// What a track stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Track {
    /// A heading with tracks below it.
    Group(&'static str),
    Kernels,
    Wave {
        cu: u32,
        slot: u32,
    },
    Station(u32),
    Link(u32),
}

/// A track that was declared.
#[derive(Clone, Copy, Debug)]
struct Open {
    uuid: u64,
    /// Where its last slice ended: slices of a track do not overlap.
    end: Cycle,
}

/// Writes a time line while the run goes on.
#[derive(Debug)]
pub struct Timeline<W: Write> {
    out: W,
    layout: Layout,
    tracks: BTreeMap<Track, Open>,
    names: BTreeMap<String, u64>,
    has_begun: bool,
    failed: Option<io::Error>,
    bytes: Vec<u8>,
}

impl<W: Write> Timeline<W> {
    /// A time line that is written to `out`. Wrap a file in a `BufWriter`.
    pub fn new(out: W) -> Timeline<W> {
        Timeline {
            out,
            layout: Layout::default(),
            tracks: BTreeMap::new(),
            names: BTreeMap::new(),
            has_begun: false,
            failed: None,
            bytes: Vec::new(),
        }
    }

    /// Ends the trace and gives the writer back.
    ///
    /// # Errors
    /// The first error that writing met.
    pub fn finish(mut self) -> io::Result<W> {
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
        // Field 1 of `Trace`, length-delimited.
        self.bytes.push(0x0a);
        let encoded = prost::Message::encode_length_delimited(&packet, &mut self.bytes);
        let written = encoded.map_err(io::Error::other).and_then(|()| self.out.write_all(&self.bytes));
        self.failed = written.err();
    }

    /// The track, which is declared at its first use.
    fn track(&mut self, track: Track) -> Open {
        if let Some(&open) = self.tracks.get(&track) {
            return open;
        }
        let (name, parent) = self.name_of(track);
        let parent = parent.map(|group| self.track(Track::Group(group)).uuid);
        let open = Open { uuid: self.tracks.len() as u64 + 1, end: 0 };
        self.tracks.insert(track, open);
        let descriptor = TrackDescriptor { uuid: open.uuid, name, parent_uuid: parent };
        self.write(Packet { track_descriptor: Some(descriptor), ..Packet::default() });
        open
    }

    fn name_of(&self, track: Track) -> (String, Option<&'static str>) {
        match track {
            Track::Group(name) => (name.to_owned(), None),
            Track::Kernels => ("Kernels".to_owned(), None),
            Track::Wave { cu, slot } => (format!("CU[{cu}] slot {slot}"), Some("Wavefronts")),
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
                    None => format!("link {number}"),
                };
                (name, Some("Links"))
            }
        }
    }

    /// Draws a slice; what overlaps the track's last slice is cut off.
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
        self.write(Packet {
            timestamp: Some(from),
            interned_data: interned,
            track_event: Some(TrackEvent {
                kind: SLICE_BEGIN,
                name_iid: Some(iid),
                track_uuid: open.uuid,
                annotations: notes.iter().map(annotation).collect(),
            }),
            ..Packet::default()
        });
        self.write(Packet {
            timestamp: Some(until),
            track_event: Some(TrackEvent {
                kind: SLICE_END,
                name_iid: None,
                track_uuid: open.uuid,
                annotations: Vec::new(),
            }),
            ..Packet::default()
        });
    }

    /// The number of a name, which is written out at its first use.
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
        for group in ["Wavefronts", "L1", "L2", "Links"] {
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

    fn link(&mut self, link: LinkUse) {
        self.slice(Track::Link(link.link as u32), "flits", link.from, link.until, &[]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noc::NocNode;

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
    fn a_name_is_written_once_and_the_first_packet_clears_the_state() {
        let trace = drawn();
        let names: Vec<_> =
            trace.packet.iter().flat_map(|p| p.interned_data.iter().flat_map(|d| &d.event_names)).collect();
        assert_eq!(names.iter().filter(|n| n.name == "arithmetic").count(), 1);
        assert_eq!(trace.packet[0].sequence_flags, STATE_CLEARED);
        assert!(trace.packet[1..].iter().all(|p| p.sequence_flags == NEEDS_STATE));
    }

    #[test]
    fn an_error_of_the_writer_comes_out_at_the_end() {
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
