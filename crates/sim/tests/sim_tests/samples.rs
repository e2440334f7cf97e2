//! Tests of samples of counters: they add up to the counters of the run, and do not affect it.

use core::num::NonZeroU64;

use kernel::prelude::*;
use sim::RunOptions;
use sim::perfetto::Timeline;
use sim::probe::Probe;
use sim::sample::{LEVELS, Sample};
use zoo::hlrc::Hlrc;
use zoo::vi::Vi;

use crate::common::{histogram, system};

/// A probe that keeps every sample.
struct Kept {
    every: u64,
    samples: Vec<Sample>,
}

impl Probe for Kept {
    fn sample_every(&self) -> Option<NonZeroU64> {
        NonZeroU64::new(self.every)
    }

    fn sample(&mut self, sample: &Sample) {
        self.samples.push(sample.clone());
    }
}

#[test]
fn samples_come_at_the_end_of_each_interval_and_add_up_to_the_run() {
    let system = system("hlrc-8cu");
    let options = RunOptions::default();
    let plain = sim::run::<Vi, ()>(&system, histogram(2048), &options, &mut ()).unwrap();
    for every in [1, 100, 1000, 10_000_000] {
        let mut kept = Kept { every, samples: Vec::new() };
        let watched = sim::run::<Vi, _>(&system, histogram(2048), &options, &mut kept).unwrap();
        assert_eq!(watched, plain, "a probe does not affect the run");
        let (last, others) = kept.samples.split_last().unwrap();
        let ends: Vec<u64> = others.iter().map(|sample| sample.cycle).collect();
        let expected: Vec<u64> = (1..=others.len() as u64).map(|n| n * every).collect();
        assert_eq!(ends, expected);
        assert!(ends.last().is_none_or(|end| *end < last.cycle), "the last interval is not empty");
        assert!(last.cycle >= plain.cycles && last.cycle <= (others.len() as u64 + 1) * every);
        for (name, total) in &plain.counters {
            if name.starts_with("cycles.") {
                continue;
            }
            assert_eq!(last.count(name), *total, "{name}");
        }
        for pair in kept.samples.windows(2) {
            for (name, before) in pair[0].counters.iter().filter(|(name, _)| !LEVELS.contains(&name.as_str()))
            {
                assert!(pair[1].count(name) >= *before, "{name} falls");
            }
        }
        assert!(
            LEVELS.iter().all(|level| last.count(level) == 0),
            "nothing is under way at the end: {last:?}"
        );
    }
}

#[test]
fn levels_count_items_under_way() {
    let mut kept = Kept { every: 50, samples: Vec::new() };
    sim::run::<Vi, _>(&system("hlrc-8cu"), histogram(2048), &RunOptions::default(), &mut kept).unwrap();
    for level in LEVELS {
        assert!(kept.samples.iter().any(|sample| sample.count(level) > 0), "{level} is never above zero");
    }
}

#[test]
fn each_level_counts_the_items_of_its_name() {
    // One line comes from memory. After it has arrived, every update hits in the L2.
    let program = Program::new("updates", |host| async move {
        let word = host.alloc::<u32>("word", 1);
        let kernel = Kernel::new("add", move |w: Wave| async move {
            for _ in 0..40 {
                w.fetch_add(word, 0u64, 1, relaxed(Level::Device)).await;
            }
        });
        host.launch(kernel, Grid::new(1, 1)).await;
        Answer::new().with_array("word", &host, word).await
    });
    let mut kept = Kept { every: 5, samples: Vec::new() };
    // The L2 of this machine writes dirty lines out only when it must.
    sim::run::<Vi, _>(&system("hrf-8cu"), program, &RunOptions::default(), &mut kept).unwrap();
    let share = |level: &str| kept.samples.iter().filter(|sample| sample.count(level) > 0).count();
    let [requests, messages, memory] = LEVELS.map(share);
    assert!(
        requests > messages && messages > memory && requests > 4 * memory && memory > 0,
        "{requests} {messages} {memory}"
    );
}

#[test]
fn the_names_of_counters_are_known_before_a_run() {
    let system = system("hlrc-8cu");
    let names = sim::counter_names(&sim::Subject::of::<Hlrc>(), &system).unwrap();
    let mut kept = Kept { every: 1000, samples: Vec::new() };
    sim::run::<Hlrc, _>(&system, histogram(2048), &RunOptions::default(), &mut kept).unwrap();
    let counters = &kept.samples.last().unwrap().counters;
    let is_early = |name: &&String| !name.starts_with("message") && !name.starts_with("bytes_sent.");
    let found: Vec<&String> = counters.keys().filter(is_early).collect();
    let mut known: Vec<&String> = names.iter().filter(is_early).collect();
    known.sort_unstable();
    assert_eq!(found, known);
}

/// The fields of Perfetto's public schema that this test reads. The test declares them a second
/// time, so it does not find a field that is written under another number.
mod schema {
    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Trace {
        #[prost(message, repeated, tag = "1")]
        pub(super) packet: Vec<Packet>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Packet {
        #[prost(uint64, tag = "8")]
        pub(super) timestamp: u64,
        #[prost(message, optional, tag = "11")]
        pub(super) event: Option<Event>,
        #[prost(message, optional, tag = "60")]
        pub(super) track: Option<Track>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Event {
        #[prost(int32, tag = "9")]
        pub(super) kind: i32,
        #[prost(uint64, tag = "11")]
        pub(super) track: u64,
        #[prost(double, tag = "44")]
        pub(super) value: f64,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Track {
        #[prost(uint64, tag = "1")]
        pub(super) uuid: u64,
        #[prost(string, tag = "2")]
        pub(super) name: String,
        #[prost(uint64, tag = "5")]
        pub(super) parent: u64,
        #[prost(message, optional, tag = "8")]
        pub(super) counter: Option<Counter>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Counter {
        #[prost(string, tag = "6")]
        pub(super) unit: String,
    }
}

#[test]
fn a_trace_has_the_clock_the_counters_and_the_channels_of_the_machine() {
    let mut system = system("titan-v");
    let trace = |system: &sim::config::System| {
        let mut timeline = Timeline::new(Vec::new());
        let outcome =
            sim::run::<Vi, _>(system, histogram(2048), &RunOptions::default(), &mut timeline).unwrap();
        let trace: schema::Trace = prost::Message::decode(timeline.finish().unwrap().as_slice()).unwrap();
        (outcome, trace)
    };
    let end = |trace: &schema::Trace| trace.packet.iter().map(|packet| packet.timestamp).max().unwrap();
    let (outcome, at_1200) = trace(&system);
    system.clock_mhz = 600;
    let (_, at_600) = trace(&system);
    assert!(end(&at_600).abs_diff(2 * end(&at_1200)) <= 1, "half the clock takes twice the time");
    assert!(end(&at_600) >= outcome.cycles * 1000 / 600);

    let tracks: Vec<&schema::Track> =
        at_1200.packet.iter().filter_map(|packet| packet.track.as_ref()).collect();
    let named =
        |name: &str| *tracks.iter().find(|t| t.name == name).unwrap_or_else(|| panic!("no track {name}"));
    let (counters, dram) = (named("Counters").uuid, named("DRAM").uuid);
    let channels =
        tracks.iter().filter(|track| track.parent == dram && track.name.starts_with("memory channel "));
    assert!(channels.count() > 1);
    let values = |name: &str, unit: &str| {
        let track = named(name);
        assert_eq!((track.parent, track.counter.as_ref().unwrap().unit.as_str()), (counters, unit), "{name}");
        let events = at_1200.packet.iter().filter_map(|packet| packet.event.as_ref());
        events.filter(|e| e.track == track.uuid && e.kind == 4).map(|e| e.value).collect::<Vec<_>>()
    };
    for (name, unit) in [
        ("L1 hit rate", "%"),
        ("L2 hit rate", "%"),
        ("links busy", "%"),
        ("busiest link", "%"),
        ("DRAM busy", "%"),
        ("queue: L1 ports", "waiting"),
        ("queue: links", "waiting"),
        ("queue: banks", "waiting"),
        ("queue: DRAM", "waiting"),
        ("requests in flight", "in flight"),
        ("messages in flight", "in flight"),
        ("memory operations in flight", "in flight"),
        ("DRAM bandwidth", "GB/s"),
    ] {
        let values = values(name, unit);
        assert!(
            !values.is_empty() && values.iter().all(|value| value.is_finite() && *value >= 0.0),
            "{name}"
        );
        assert!(unit != "%" || values.iter().all(|value| *value <= 100.0 + 1e-9), "{name}: {values:?}");
    }
    // The bandwidth counter covers all bytes of memory. Intervals have 1000 cycles, except for the
    // last one.
    let bandwidth = values("DRAM bandwidth", "GB/s");
    let whole: f64 = bandwidth[..bandwidth.len() - 1].iter().map(|value| value / 1.2 * 1000.0).sum();
    let bytes = outcome.counters["dram_bytes"] as f64;
    let last = outcome.cycles as f64 % 1000.0 + 1000.0;
    let rest = bandwidth[bandwidth.len() - 1] / 1.2 * last;
    assert!(whole <= bytes + 1e-6 && whole + rest >= bytes * 0.98, "{whole} and {rest} of {bytes}");
}
