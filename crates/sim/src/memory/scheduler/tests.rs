//! Tests of the scheduler that prefers open rows.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::memory::dram::DramScheduler;
use crate::memory::dram::tests::{n, spec};
use proptest::prelude::*;

/// A memory with one channel whose banks have rows of 1024 bytes.
fn open_rows() -> DramSpec {
    DramSpec { channels: n(1), scheduler: DramScheduler::OpenRowFirst, ..spec() }
}

fn with_writes(entries: u32, high: u32, low: u32) -> DramSpec {
    DramSpec {
        write_entries: Some(n(entries)),
        write_high_entries: Some(n(high)),
        write_low_entries: Some(n(low)),
        ..open_rows()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    Update,
}

/// A request to a line of 64 bytes, which arrives at a cycle.
type Arrival = (Cycle, u64, Kind);

struct Run {
    /// For each request, in the order in which they were served: its number and its time.
    served: Vec<Served>,
    /// The cycles at which banks began to open rows.
    openings: Vec<(Cycle, usize)>,
    dram: Dram,
}

impl Run {
    fn numbers(&self) -> Vec<u32> {
        self.served.iter().map(|served| served.number).collect()
    }

    /// The accesses of each request, in the order in which they were served.
    fn accesses(&self) -> Vec<DramUse> {
        self.served.iter().flat_map(|served| served.read.into_iter().chain(served.write)).collect()
    }

    fn done(&self, number: u32) -> Cycle {
        self.served.iter().find(|served| served.number == number).unwrap().done
    }
}

/// Serves requests, which arrive in this order, as the machine does: at each arrival, and at the
/// events for which the scheduler asks.
fn serve(spec: &DramSpec, arrivals: &[Arrival]) -> Run {
    let mut dram = Dram::new(spec, 1);
    let mut scheduler = Scheduler::new(spec);
    let (mut served, mut openings) = (Vec::new(), Vec::new());
    let mut wakes = BTreeSet::new();
    let rows: BTreeSet<(usize, u64)> = arrivals
        .iter()
        .map(|&(_, line, _)| {
            let (_, bank, row) = dram.place(line * 64);
            (bank, row)
        })
        .collect();
    let open = |dram: &Dram| -> BTreeSet<(usize, u64)> {
        rows.iter().copied().filter(|&(bank, row)| dram.is_open(bank, row)).collect()
    };
    let mut arrivals = (0..).zip(arrivals).peekable();
    loop {
        let next = arrivals.peek().map(|&(_, &(at, ..))| at);
        let Some(now) = next.into_iter().chain(wakes.first().copied()).min() else { break };
        let channels: Vec<usize> = if wakes.remove(&now) {
            (0..spec.channels.get() as usize).collect()
        } else {
            let (number, &(_, line, kind)) = arrivals.next().unwrap();
            let (channel, bank, row) = dram.place(line * 64);
            let (reads, writes) = (kind != Kind::Write, kind != Kind::Read);
            scheduler.arrive(Request {
                number,
                channel,
                bank,
                row,
                address: line * 64,
                read_bytes: reads.then_some(64),
                written_bytes: writes.then_some(64),
                arrived: now,
            });
            vec![channel]
        };
        let before = open(&dram);
        for channel in channels {
            while let Some(next) = scheduler.serve(&mut dram, now, channel) {
                served.push(next);
            }
            wakes.extend(scheduler.wake(&dram, now, channel));
        }
        openings.extend(open(&dram).difference(&before).map(|&(bank, _)| (now, bank)));
        assert!(wakes.first().is_none_or(|&at| at > now));
    }
    Run { served, openings, dram }
}

/// Lines of the first bank that lie on two rows, four of each.
fn two_rows() -> ([u64; 4], [u64; 4]) {
    let dram = Dram::new(&open_rows(), 1);
    let (_, bank, row) = dram.place(0u64);
    let other = (0..1 << 16).find(|line| {
        let (_, at, of) = dram.place(line * 64);
        at == bank && of != row
    });
    let other = other.unwrap();
    assert!((0..4).all(|i| dram.place((other + i) * 64).1 == bank));
    ([0, 1, 2, 3], [other, other + 1, other + 2, other + 3])
}

#[test]
fn requests_to_the_open_row_overtake_an_older_request_to_another_row() {
    let (a, b) = two_rows();
    let arrivals = [(0, a[0]), (1, b[0]), (2, a[1]), (3, b[1]), (4, a[2])];
    let arrivals = arrivals.map(|(at, line)| (at, line, Kind::Read));
    let run = serve(&open_rows(), &arrivals);
    assert_eq!(run.numbers(), [0, 2, 4, 1, 3]);
    let t = run.dram.traffic();
    assert_eq!((t.reads, t.row_misses, t.row_hits, t.bytes), (5, 2, 3, 5 * 64));
    // A miss takes 30 cycles, the bus 4 for each line, and the way back 50.
    assert_eq!([0, 2, 4].map(|number| run.done(number)), [84, 88, 92]);
    // The bank can open the other row 10 cycles (a hit) before the bus is free.
    assert_eq!([1, 3].map(|number| run.done(number)), [32 + 30 + 4 + 50, 32 + 30 + 8 + 50]);
    let mut oldest_first = Dram::new(&DramSpec { channels: n(1), ..spec() }, 1);
    for (at, line, _) in arrivals {
        oldest_first.access(at, line * 64, 64, false);
    }
    assert_eq!(oldest_first.traffic().row_misses, 5);
}

#[test]
fn the_bus_serves_open_rows_while_another_bank_opens_its_row() {
    let (a, _) = two_rows();
    let dram = Dram::new(&open_rows(), 1);
    let other = (0..1 << 16).find(|line| dram.place(line * 64).1 != dram.place(0u64).1).unwrap();
    let arrivals = [(0, a[0]), (100, other), (101, a[1]), (102, a[2])];
    let run = serve(&open_rows(), &arrivals.map(|(at, line)| (at, line, Kind::Read)));
    assert_eq!(run.numbers(), [0, 2, 3, 1]);
    assert_eq!([1, 2].map(|number| run.done(number)), [100 + 30 + 4 + 50, 101 + 10 + 4 + 50]);
}

#[test]
fn a_full_queue_makes_requests_wait_in_order() {
    let (a, b) = two_rows();
    let arrivals = [(0, a[0]), (1, b[0]), (2, b[1]), (3, a[1])];
    let arrivals = arrivals.map(|(at, line)| (at, line, Kind::Read));
    let queue = |entries| DramSpec { queue_entries: Some(n(entries)), ..open_rows() };
    // The bank takes request 0 at once. The queue has room for requests 1 and 2 only, so the
    // bank does not see request 3 when it selects.
    assert_eq!(serve(&queue(2), &arrivals).numbers(), [0, 1, 2, 3]);
    assert_eq!(serve(&queue(3), &arrivals).numbers(), [0, 3, 1, 2]);
    let wait = |entries| serve(&queue(entries), &arrivals).done(3);
    assert!(wait(2) > wait(3));
}

#[test]
fn writes_wait_until_many_are_queued_or_no_read_is() {
    let (a, b) = two_rows();
    let reads = |from: Cycle| (0..40).map(move |i| (from + i, a[i as usize % 4], Kind::Read));
    let write = |at, i: usize| (at, b[i], Kind::Write);
    // Reads are queued all the time, and two writes are not many.
    let arrivals: Vec<Arrival> = [write(0, 0), write(0, 1)].into_iter().chain(reads(0)).collect();
    let run = serve(&with_writes(8, 3, 1), &arrivals);
    assert_eq!(run.numbers().iter().position(|&number| number == 1), Some(41));
    // The bank takes the first write at once, and three more are many.
    let arrivals: Vec<Arrival> = (0..4).map(|i| write(0, i)).chain(reads(0)).collect();
    let run = serve(&with_writes(8, 3, 1), &arrivals);
    let at = |number| run.numbers().iter().position(|&served| served == number).unwrap();
    assert!((0..4).all(|write| at(write) < at(20)), "{:?}", run.numbers());
    // Without a queue for writes, they take their turns among the reads.
    let run = serve(&open_rows(), &arrivals);
    assert_eq!(run.numbers()[..3], [0, 1, 2]);
}

#[test]
fn a_read_does_not_overtake_a_queued_write_of_its_line_nor_the_reverse() {
    let (a, b) = two_rows();
    let arrivals = [
        (0, a[0], Kind::Read),
        (1, b[0], Kind::Write),
        (2, a[1], Kind::Read),
        (3, b[0], Kind::Read),
        (4, a[2], Kind::Read),
    ];
    let run = serve(&with_writes(8, 8, 1), &arrivals);
    assert!(run.done(1) < run.done(3), "{:?}", run.numbers());
    let arrivals = [(0, a[0], Kind::Read), (1, b[0], Kind::Update), (2, b[0], Kind::Write)];
    let run = serve(&with_writes(1, 1, 1), &arrivals);
    assert_eq!(run.numbers(), [0, 1, 2]);
    let t = run.dram.traffic();
    assert_eq!((t.reads, t.writes, t.row_misses), (2, 2, 2));
}

#[test]
fn no_request_waits_much_longer_than_the_bound() {
    let (a, b) = two_rows();
    let bound = |cycles| DramSpec { queue_wait_max_cycles: Some(cycles), ..with_writes(8, 8, 1) };
    // A read comes each cycle, so the open row is never without a request.
    let reads = |from: Cycle| (from..5000).map(move |at| (at, a[at as usize % 4], Kind::Read));
    for kind in [Kind::Read, Kind::Write] {
        let arrivals: Vec<Arrival> = reads(0).take(4).chain([(4, b[0], kind)]).chain(reads(5)).collect();
        let done = |cycles| serve(&bound(cycles), &arrivals).done(4);
        // After the bound, the bank may finish one read, and then opens the row.
        assert!((304..304 + 120).contains(&done(300)), "{kind:?}: {}", done(300));
        assert!(done(1_000_000) > 5000, "{kind:?}");
    }
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop_oneof![Just(Kind::Read), Just(Kind::Write), Just(Kind::Update)]
}

/// The first lines of rows that lie in these banks of the first channel, in this order. Lines that
/// follow these by up to three are on the same rows.
fn lines_of(spec: &DramSpec, banks: &[usize]) -> Vec<u64> {
    let dram = Dram::new(spec, 1);
    let mut rows = BTreeSet::new();
    let mut next = |bank: usize| {
        let lines = (0..1u64 << 20).step_by(4).map(|line| (line, dram.place(line * 64)));
        let mut found = lines.filter(|(_, (channel, at, _))| (*channel, *at) == (0, bank));
        found.find(|&(_, (_, bank, row))| rows.insert((bank, row))).unwrap().0
    };
    banks.iter().map(|&bank| next(bank)).collect()
}

fn reads<const N: usize>(arrivals: [(Cycle, u64); N]) -> [Arrival; N] {
    arrivals.map(|(at, line)| (at, line, Kind::Read))
}

#[test]
fn openings_of_one_bank_are_a_row_cycle_apart() {
    let (a, b) = two_rows();
    let row_cycle = |row_cycle_cycles| DramSpec { row_cycle_cycles, ..open_rows() };
    let arrivals = reads([(0, a[0]), (1, b[0]), (2, a[1]), (3, b[1])]);
    let cycles = |spec: &DramSpec| serve(spec, &arrivals).openings.iter().map(|o| o.0).collect::<Vec<_>>();
    // Without a minimum, the bank opens the other row when the data bus has moved the second line.
    assert_eq!(cycles(&row_cycle(0)), [0, 28]);
    assert_eq!(cycles(&row_cycle(28)), [0, 28]);
    assert_eq!(cycles(&row_cycle(29)), [0, 29]);
    assert_eq!(cycles(&row_cycle(200)), [0, 200]);
    let run = serve(&row_cycle(200), &arrivals);
    assert_eq!(run.numbers(), [0, 2, 1, 3]);
    assert_eq!([1, 3].map(|number| run.done(number)), [200 + 30 + 4 + 50, 200 + 30 + 8 + 50]);
    // The request waits in its bank from its arrival on.
    assert_eq!(run.served[2].waited, 199);
}

#[test]
fn a_bank_that_waits_for_its_row_cycle_delays_no_other_bank() {
    let spec = DramSpec { row_cycle_cycles: 1000, row_to_row_cycles: 7, ..open_rows() };
    let lines = lines_of(&spec, &[0, 0, 1, 2, 3]);
    let first = (0, lines[0], Kind::Read);
    let waiting = (40, lines[1], Kind::Read);
    let others = reads([(41, lines[2]), (42, lines[3]), (60, lines[3] + 1), (300, lines[4])]);
    let with: Vec<Arrival> = [first, waiting].into_iter().chain(others).collect();
    let without: Vec<Arrival> = [first].into_iter().chain(others).collect();
    let (with, without) = (serve(&spec, &with), serve(&spec, &without));
    assert_eq!([2, 3, 4, 5].map(|number| with.done(number)), [1, 2, 3, 4].map(|number| without.done(number)));
    assert_eq!(with.openings, [(0, 0), (41, 1), (48, 2), (300, 3), (1000, 0)]);
}

#[test]
fn openings_of_a_channel_are_apart_and_the_oldest_request_opens_first() {
    let spec = DramSpec { row_to_row_cycles: 7, ..open_rows() };
    let lines = lines_of(&spec, &[3, 6, 1, 2]);
    let run = serve(&spec, &reads([(0, lines[0]), (1, lines[1]), (2, lines[2]), (3, lines[3])]));
    assert_eq!(run.openings, [(0, 3), (7, 6), (14, 1), (21, 2)]);
    assert_eq!([0, 1, 2, 3].map(|number| run.done(number)), [84, 91, 98, 105]);
    // An access to an open row opens none.
    let arrivals = [(0, lines[0]), (1, lines[1]), (2, lines[0] + 1), (3, lines[2])];
    assert_eq!(serve(&spec, &reads(arrivals)).openings, [(0, 3), (7, 6), (14, 1)]);
    // Each channel has its own distance.
    let spec = DramSpec { channels: n(2), ..spec };
    let dram = Dram::new(&spec, 1);
    let of_channel = |channel| (0..).find(|line| dram.place(line * 64).0 == channel).unwrap();
    let run = serve(&spec, &reads([(0, of_channel(0)), (0, of_channel(1))]));
    assert_eq!(run.openings.iter().map(|opening| opening.0).collect::<Vec<_>>(), [0, 0]);
}

#[test]
fn banks_of_one_group_move_data_slower_than_banks_of_several_groups() {
    // A line takes 4 cycles of the bus and 12 cycles of a group.
    let with_groups = |bank_groups| DramSpec { bank_groups, group_bytes_per_cycle: 5, ..open_rows() };
    let from = |spec: &DramSpec, banks: [usize; 4]| {
        let lines = lines_of(spec, &banks);
        let run = serve(spec, &[0, 1, 2, 3].map(|at| (0, lines[at], Kind::Read)));
        assert_eq!(run.numbers(), [0, 1, 2, 3]);
        [0, 1, 2, 3].map(|at| run.accesses()[at].from)
    };
    assert_eq!(from(&open_rows(), [0, 2, 4, 6]), [30, 34, 38, 42]);
    // Banks 0, 2, 4 and 6 are one of two groups. The rest of a cycle is not lost: 64 / 5 = 12.8.
    assert_eq!(from(&with_groups(2), [0, 2, 4, 6]), [30, 42, 55, 68]);
    assert_eq!(from(&with_groups(2), [0, 1, 2, 3]), [30, 34, 42, 46]);
    assert_eq!(from(&with_groups(4), [0, 1, 2, 3]), [30, 34, 38, 42]);
    assert_eq!(from(&with_groups(4), [0, 1, 4, 5]), [30, 34, 42, 46]);
}

#[test]
fn a_group_that_is_busy_lets_the_other_groups_pass() {
    let spec = DramSpec { bank_groups: 2, group_bytes_per_cycle: 4, ..open_rows() };
    let lines = lines_of(&spec, &[0, 2, 1, 3]);
    let run = serve(&spec, &[0, 1, 2, 3].map(|at| (0, lines[at], Kind::Read)));
    assert_eq!(run.numbers(), [0, 2, 1, 3]);
    assert_eq!(run.accesses().iter().map(|access| access.from).collect::<Vec<_>>(), [30, 34, 46, 50]);
}

#[test]
fn the_data_bus_is_idle_between_reads_and_writes() {
    let spec = DramSpec { read_to_write_cycles: 17, write_to_read_cycles: 7, ..open_rows() };
    let (a, _) = two_rows();
    let from = |kinds: [Kind; 4]| {
        let run = serve(&spec, &[0, 1, 2, 3].map(|at| (0, a[at], kinds[at])));
        assert_eq!(run.numbers(), [0, 1, 2, 3]);
        run.accesses().iter().map(|access| access.from).collect::<Vec<_>>()
    };
    let (read, write) = (Kind::Read, Kind::Write);
    assert_eq!(from([read, read, read, read]), [30, 34, 38, 42]);
    assert_eq!(from([write, write, write, write]), [30, 34, 38, 42]);
    assert_eq!(from([read, write, write, read]), [30, 30 + 4 + 17, 55, 55 + 4 + 7]);
    // An atomic reads, and then writes.
    assert_eq!(from([Kind::Update, read, read, read]), [30, 51, 62, 66, 70]);
    // The time passes while the bus has nothing to do.
    let run = serve(&spec, &[(0, a[0], read), (60, a[1], write)]);
    assert_eq!(run.accesses()[1].from, 70);
}

#[test]
fn reads_pass_a_write_that_waits_for_the_data_bus_but_not_longer_than_the_bound() {
    let spec = |queue_wait_max_cycles| DramSpec {
        read_to_write_cycles: 17,
        write_to_read_cycles: 7,
        queue_wait_max_cycles: Some(queue_wait_max_cycles),
        ..open_rows()
    };
    let lines = lines_of(&spec(0), &[0, 1]);
    // A read comes every four cycles, so the data bus always has a read to move.
    let reads = (0..1000u64).map(|at| (4 * at, lines[0] + at % 4, Kind::Read));
    let mut arrivals: Vec<Arrival> = reads.collect();
    arrivals.insert(20, (76, lines[1], Kind::Write));
    let at = |bound| serve(&spec(bound), &arrivals).accesses().iter().find(|a| a.is_write).unwrap().from;
    assert!((106..150).contains(&at(0)), "{}", at(0));
    assert!((576..650).contains(&at(500)), "{}", at(500));
    assert!(at(100_000) > 4000, "{}", at(100_000));
}

/// Requests to lines of few rows, so that banks have hits and conflicts.
fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    prop::collection::vec((0u64..12, 0u64..96, kinds()), 1..200).prop_map(|steps| {
        let mut now = 0;
        let arrival = |(wait, line, kind)| {
            now += wait;
            (now, line * 37 % 512, kind)
        };
        steps.into_iter().map(arrival).collect()
    })
}

/// Memory with two channels, and with random queues and minimum times between accesses.
fn specs() -> impl Strategy<Value = DramSpec> {
    let writes = prop::option::of((1u32..9, 1u32..9, 1u32..9));
    let wait_max = prop_oneof![Just(0u32), 1u32..200, Just(10_000)];
    let groups = prop_oneof![Just((0, 0)), (prop::sample::select(vec![1u32, 2, 4, 8]), 1u32..17)];
    let times = (0u32..200, 0u32..30, 0u32..40, 0u32..40);
    (1u32..9, writes, wait_max, groups, times).prop_map(|(entries, writes, wait_max, groups, times)| {
        let spec = match writes {
            Some((size, high, low)) => with_writes(size, high.min(size), low.min(high).min(size)),
            None => open_rows(),
        };
        DramSpec {
            channels: n(2),
            queue_entries: Some(n(entries)),
            queue_wait_max_cycles: Some(wait_max),
            row_cycle_cycles: times.0,
            row_to_row_cycles: times.1,
            bank_groups: groups.0,
            group_bytes_per_cycle: groups.1,
            read_to_write_cycles: times.2,
            write_to_read_cycles: times.3,
            ..spec
        }
    })
}

proptest! {
    #[test]
    fn all_requests_are_served_once_and_those_of_a_line_in_order(spec in specs(), arrivals in arrivals()) {
        let run = serve(&spec, &arrivals);
        let mut numbers = run.numbers();
        numbers.sort_unstable();
        prop_assert_eq!(numbers, (0..arrivals.len() as u32).collect::<Vec<_>>());
        let mut last = BTreeMap::new();
        for (number, &(at, line, _)) in (0..).zip(&arrivals) {
            let done = run.done(number);
            prop_assert!(done > at);
            prop_assert!(done > last.insert(line, done).unwrap_or(0), "line {}", line);
        }
        let count = |with: Kind| arrivals.iter().filter(|&&(.., kind)| kind == with).count() as u64;
        let t = run.dram.traffic();
        prop_assert_eq!(t.reads, count(Kind::Read) + count(Kind::Update));
        prop_assert_eq!(t.writes, count(Kind::Write) + count(Kind::Update));
        prop_assert_eq!(t.row_hits + t.row_misses, t.reads + t.writes);
        prop_assert_eq!(t.bytes, 64 * (t.reads + t.writes));
        prop_assert_eq!(t.queue_cycles, run.served.iter().map(|served| served.waited).sum::<u64>());
    }
    #[test]
    fn every_minimum_time_is_kept(spec in specs(), arrivals in arrivals()) {
        let run = serve(&spec, &arrivals);
        let banks = spec.banks_per_channel.get() as usize;
        let misses = run.accesses().iter().filter(|access| !access.is_row_hit).count();
        prop_assert_eq!(run.openings.len(), misses);
        for (at, &(cycle, bank)) in run.openings.iter().enumerate() {
            for &(before, other) in &run.openings[..at] {
                let apart = cycle - before;
                prop_assert!(other != bank || apart >= u64::from(spec.row_cycle_cycles));
                prop_assert!(other / banks != bank / banks || apart >= u64::from(spec.row_to_row_cycles));
            }
        }
        let bytes_per_cycle = u64::from(spec.group_bytes_per_cycle);
        let group = |access: &DramUse| (access.channel, access.bank % banks % spec.bank_groups.max(1) as usize);
        for channel in 0..2 {
            let accesses: Vec<DramUse> =
                run.accesses().into_iter().filter(|access| access.channel == channel).collect();
            for pair in accesses.windows(2) {
                let idle = match (pair[0].is_write, pair[1].is_write) {
                    (false, true) => spec.read_to_write_cycles,
                    (true, false) => spec.write_to_read_cycles,
                    _ => 0,
                };
                prop_assert!(pair[1].from >= pair[0].until + u64::from(idle), "{:?}", pair);
            }
            for (at, first) in accesses.iter().enumerate().filter(|_| spec.bank_groups > 0) {
                let mut bytes = 0;
                for access in accesses[at..].iter().filter(|access| group(access) == group(first)) {
                    // The earlier bytes of the group fit into the cycles up to the first one of this access.
                    prop_assert!((access.from - first.from + 1) * bytes_per_cycle > bytes, "{:?}", access);
                    bytes += u64::from(access.bytes);
                }
            }
        }
    }

    #[test]
    fn a_later_request_changes_nothing_before_it_arrives(
        spec in specs(), arrivals in arrivals(), cut in 0usize..200,
    ) {
        let cut = cut.min(arrivals.len() - 1);
        let (all, some) = (serve(&spec, &arrivals), serve(&spec, &arrivals[..cut]));
        let end = arrivals[cut].0;
        let hit = u64::from(spec.row_hit_cycles);
        let before = |run: &Run| -> Vec<(u32, Cycle)> {
            let served = run.served.iter().map(|served| {
                let first = served.read.or(served.write).unwrap();
                (served.number, first.from, served.done)
            });
            // The channel selects an access at least the time of a hit before its data move.
            served.filter(|(_, from, _)| from - hit < end).map(|(number, _, done)| (number, done)).collect()
        };
        prop_assert_eq!(before(&all), before(&some));
        let opened = |run: &Run| -> Vec<(Cycle, usize)> {
            run.openings.iter().copied().filter(|opening| opening.0 < end).collect()
        };
        prop_assert_eq!(opened(&all), opened(&some));
    }
}
