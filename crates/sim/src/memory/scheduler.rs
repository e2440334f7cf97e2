//! The scheduler of memory that prefers open rows: first ready, first come, first served (FR-FCFS).
//!
//! A request waits in the queue of its channel. A bank that is free looks for requests to its open
//! row, and takes the oldest of them. If no request is to its open row, it takes its oldest request,
//! and opens the row of this request. A bank keeps its request until the channel serves it. A channel
//! looks at the banks whose rows are open, and serves the oldest of their requests when the data bus
//! is free. So the data bus serves open rows while other banks open theirs.
//!
//! **Writes.** If the machine says so, writes wait in a second queue. The channel prefers reads until
//! many writes are queued, then it prefers writes until few are left. It also serves writes while no
//! read is queued. So GPGPU-Sim's scheduler does, except for the last rule: without it, the last
//! writes of a program would never be served.
//!
//! **Order of one line.** Requests to one line have one row and one queue, so they are served in
//! order of arrival. If an older request to the line is in the other queue, the request and those
//! behind it do not enter the queues until that request has been taken.
//!
//! **Waits are bounded.** Requests enter the queues in order of arrival. If a request has been queued
//! for longer than the bound, the channel and its bank serve the oldest request first, so requests
//! that come later can no longer overtake it.

use std::collections::VecDeque;

use crate::memory::dram::{Dram, DramSpec, DramUse, Transfer};
use crate::queue::Cycle;

/// A request to memory: the access of an operation that reads, the access that writes, or both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    /// The number of the operation.
    pub(super) number: u32,
    /// The memory channel.
    pub(super) channel: usize,
    /// The bank, counted over all channels.
    pub(super) bank: usize,
    /// The row of the bank.
    pub(super) row: u64,
    /// The address of the line.
    pub(super) address: u64,
    /// The number of bytes to read. `None` if the operation does not read.
    pub(super) read_bytes: Option<u32>,
    /// The number of bytes to write. `None` if the operation does not write.
    pub(super) written_bytes: Option<u32>,
    /// The cycle at which the request arrived.
    pub(super) arrived: Cycle,
}

/// A request that was served.
#[derive(Clone, Copy, Debug)]
pub(super) struct Served {
    /// The number of the operation.
    pub(super) number: u32,
    /// The access that read.
    pub(super) read: Option<DramUse>,
    /// The access that wrote.
    pub(super) write: Option<DramUse>,
    /// The cycle at which the data of the request arrive.
    pub(super) done: Cycle,
    /// The cycles that the request's accesses waited.
    pub(super) waited: u64,
}

/// A request in a queue.
#[derive(Clone, Copy, Debug)]
struct Queued {
    request: Request,
    /// The place of the request in the order of arrival at its channel.
    order: u64,
    /// The cycle at which the request entered the queue.
    since: Cycle,
}

/// A request that a bank has taken.
#[derive(Clone, Copy, Debug)]
struct Taken {
    request: Request,
    order: u64,
    /// The cycle at which the row of the request is open.
    open_at: Cycle,
    /// Whether the bank did not have to open the row.
    is_row_hit: bool,
}

/// A bank: the request that it has taken, and the queued requests in order of arrival.
#[derive(Clone, Debug, Default)]
struct BankQueues {
    taken: Option<Taken>,
    reads: Vec<Queued>,
    writes: Vec<Queued>,
}

impl BankQueues {
    fn queue(&mut self, writes: bool) -> &mut Vec<Queued> {
        if writes { &mut self.writes } else { &mut self.reads }
    }
}

/// The sizes of the queues of a channel.
#[derive(Clone, Copy, Debug)]
struct Limits {
    entries: usize,
    /// `None` if writes share the queue of reads.
    writes: Option<WriteLimits>,
    wait_max_cycles: u64,
}

#[derive(Clone, Copy, Debug)]
struct WriteLimits {
    entries: usize,
    high: usize,
    low: usize,
}

#[derive(Clone, Debug)]
struct Channel {
    /// Requests that have not entered a queue, in order of arrival.
    waiting: VecDeque<Request>,
    banks: Vec<BankQueues>,
    /// The numbers of queued requests of both kinds.
    reads: usize,
    writes: usize,
    /// The number of requests that have entered the queues.
    entered: u64,
    /// Whether the channel prefers writes, because many are queued.
    is_draining: bool,
    /// No queued request is older than the bound before this cycle.
    check_waits_at: Cycle,
    /// The cycle of the next pending event of the channel.
    wake_at: Cycle,
}

/// The requests that wait for memory, on a machine that prefers open rows.
#[derive(Clone, Debug)]
pub(super) struct Scheduler {
    limits: Limits,
    banks_per_channel: usize,
    channels: Vec<Channel>,
}

impl Scheduler {
    /// A scheduler without requests.
    pub(super) fn new(spec: &DramSpec) -> Scheduler {
        let size = |entries: core::num::NonZeroU32| entries.get() as usize;
        let writes = spec.write_entries.map(|entries| WriteLimits {
            entries: size(entries),
            high: spec.write_high_entries.map_or(usize::MAX, size).min(size(entries)),
            low: spec.write_low_entries.map_or(1, size),
        });
        let limits = Limits {
            entries: spec.queue_entries(),
            writes,
            wait_max_cycles: u64::from(spec.queue_wait_max_cycles()),
        };
        let banks_per_channel = spec.banks_per_channel.get() as usize;
        let channel = Channel {
            waiting: VecDeque::new(),
            banks: vec![BankQueues::default(); banks_per_channel],
            reads: 0,
            writes: 0,
            entered: 0,
            is_draining: false,
            check_waits_at: 0,
            wake_at: Cycle::MAX,
        };
        let channels = vec![channel; spec.channels.get() as usize];
        Scheduler { limits, banks_per_channel, channels }
    }

    /// Adds a request that arrives now.
    pub(super) fn arrive(&mut self, request: Request) {
        self.channels[request.channel].waiting.push_back(request);
    }

    /// Serves the next request of a channel that can be served at cycle `now`.
    pub(super) fn serve(&mut self, dram: &mut Dram, now: Cycle, channel: usize) -> Option<Served> {
        let first = channel * self.banks_per_channel;
        let limits = self.limits;
        let channel = &mut self.channels[channel];
        if channel.wake_at <= now {
            channel.wake_at = Cycle::MAX;
        }
        loop {
            channel.enter(now, &limits);
            // A request that leaves a queue makes room for another one.
            if !channel.take(dram, now, first, &limits) || channel.waiting.is_empty() {
                break;
            }
        }
        channel.serve(dram, now)
    }

    /// The cycle at which the channel can next serve a request, if no event of the channel is pending
    /// at this cycle or before. [`Scheduler::serve`] has returned `None` at cycle `now`.
    pub(super) fn wake(&mut self, dram: &Dram, now: Cycle, number: usize) -> Option<Cycle> {
        let first = number * self.banks_per_channel;
        let channel = &mut self.channels[number];
        if channel.reads + channel.writes == 0 && channel.banks.iter().all(|bank| bank.taken.is_none()) {
            return None;
        }
        let bus = dram.bus_ready_at(number);
        let next = channel.banks.iter().enumerate().filter_map(|(at, bank)| match &bank.taken {
            Some(taken) => Some(taken.open_at.max(bus)),
            None if bank.reads.is_empty() && bank.writes.is_empty() => None,
            None => Some(dram.bank_ready_at(first + at)),
        });
        // A free bank that may not take its requests now waits for another bank.
        let next = next.filter(|&at| at > now).min()?;
        if next >= channel.wake_at {
            return None;
        }
        channel.wake_at = next;
        Some(next)
    }
}

impl Channel {
    /// Lets waiting requests enter the queues, in order of arrival.
    fn enter(&mut self, now: Cycle, limits: &Limits) {
        while let Some(&request) = self.waiting.front() {
            let is_write = self.waits_with_writes(&request, limits);
            let (queued, most) = match &limits.writes {
                Some(writes) if is_write => (self.writes, writes.entries),
                _ => (self.reads, limits.entries),
            };
            if queued >= most || self.follows_other_queue(&request, is_write) {
                return;
            }
            self.waiting.pop_front();
            let order = self.entered;
            self.entered += 1;
            self.check_waits_at = self.check_waits_at.min(now + limits.wait_max_cycles);
            let bank = request.bank % self.banks.len();
            self.banks[bank].queue(is_write).push(Queued { request, order, since: now });
            *self.count(is_write) += 1;
        }
    }

    fn waits_with_writes(&self, request: &Request, limits: &Limits) -> bool {
        limits.writes.is_some() && request.read_bytes.is_none()
    }

    fn count(&mut self, writes: bool) -> &mut usize {
        if writes { &mut self.writes } else { &mut self.reads }
    }

    /// Whether the queue that the request will not enter has an older request to its line.
    fn follows_other_queue(&self, request: &Request, is_write: bool) -> bool {
        let bank = &self.banks[request.bank % self.banks.len()];
        let other = if is_write { &bank.reads } else { &bank.writes };
        other.iter().any(|queued| queued.request.address == request.address)
    }

    /// Whether the banks take writes now, and whether they take the oldest request first because one
    /// has waited for too long.
    fn select(&mut self, now: Cycle, limits: &Limits) -> (bool, bool) {
        let Some(writes) = &limits.writes else { return (false, self.overdue(now, limits).is_some()) };
        if self.writes >= writes.high {
            self.is_draining = true;
        } else if self.writes < writes.low {
            self.is_draining = false;
        }
        if let Some(is_write) = self.overdue(now, limits) {
            return (is_write, true);
        }
        let leads_read = self.waiting.front().is_some_and(|request| {
            !self.waits_with_writes(request, limits) && self.follows_other_queue(request, false)
        });
        (self.writes > 0 && (self.is_draining || self.reads == 0 || leads_read), false)
    }

    /// Whether the oldest queued request is a write, if that request has waited for too long.
    fn overdue(&mut self, now: Cycle, limits: &Limits) -> Option<bool> {
        if now < self.check_waits_at {
            return None;
        }
        let reads = self.banks.iter().filter_map(|bank| bank.reads.first().map(|queued| (queued, false)));
        let writes = self.banks.iter().filter_map(|bank| bank.writes.first().map(|queued| (queued, true)));
        let oldest = reads.chain(writes).min_by_key(|(queued, _)| queued.order);
        let (until, is_write) =
            oldest.map_or((Cycle::MAX, false), |(q, write)| (q.since + limits.wait_max_cycles, write));
        self.check_waits_at = until;
        (until <= now).then_some(is_write)
    }

    /// Lets free banks take queued requests. Returns whether one did.
    fn take(&mut self, dram: &mut Dram, now: Cycle, first: usize, limits: &Limits) -> bool {
        let mut has_taken = false;
        for at in 0..self.banks.len() {
            let bank = &self.banks[at];
            let is_idle = bank.taken.is_none() && !(bank.reads.is_empty() && bank.writes.is_empty());
            if !is_idle || dram.bank_ready_at(first + at) > now {
                continue;
            }
            let (writes, oldest_first) = self.select(now, limits);
            let queue = self.banks[at].queue(writes);
            if queue.is_empty() {
                continue;
            }
            let hit = queue.iter().position(|queued| dram.is_open(first + at, queued.request.row));
            let Queued { request, order, .. } = queue.remove(if oldest_first { 0 } else { hit.unwrap_or(0) });
            *self.count(writes) -= 1;
            let is_row_hit = dram.is_open(first + at, request.row);
            let open_at = if is_row_hit { now } else { dram.open(now, first + at, request.row) };
            self.banks[at].taken = Some(Taken { request, order, open_at, is_row_hit });
            has_taken = true;
        }
        has_taken
    }

    /// Serves the oldest request whose row is open, if its data find the data bus free.
    fn serve(&mut self, dram: &mut Dram, now: Cycle) -> Option<Served> {
        let open = self.banks.iter_mut().filter(|bank| bank.taken.is_some_and(|t| t.open_at <= now));
        let oldest = open.min_by_key(|bank| bank.taken.map(|taken| taken.order))?;
        let request = oldest.taken?.request;
        if dram.bus_ready_at(request.channel) > now {
            return None;
        }
        let Taken { is_row_hit, .. } = oldest.taken.take()?;
        let Request { number, channel, bank, address, arrived, .. } = request;
        let queued = dram.traffic().queue_cycles;
        let mut access = |bytes, is_write, is_row_hit| {
            dram.serve_open(now, arrived, Transfer { channel, bank, address, bytes, is_write, is_row_hit })
        };
        let read = request.read_bytes.map(|bytes| access(bytes, false, is_row_hit));
        // The write of an operation that also reads finds the row open.
        let write = request.written_bytes.map(|bytes| access(bytes, true, is_row_hit || read.is_some()));
        let done = write.or(read).map_or(now, |last| last.done);
        Some(Served { number, read, write, done, waited: dram.traffic().queue_cycles - queued })
    }
}

#[cfg(test)]
mod tests {
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
        dram: Dram,
    }

    impl Run {
        fn numbers(&self) -> Vec<u32> {
            self.served.iter().map(|served| served.number).collect()
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
        let mut served = Vec::new();
        let mut wakes = std::collections::BTreeSet::new();
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
            for channel in channels {
                while let Some(next) = scheduler.serve(&mut dram, now, channel) {
                    served.push(next);
                }
                wakes.extend(scheduler.wake(&dram, now, channel));
            }
            assert!(wakes.first().is_none_or(|&at| at > now));
        }
        Run { served, dram }
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

    proptest! {
        #[test]
        fn all_requests_are_served_once_and_those_of_a_line_in_order(
            steps in prop::collection::vec((0u64..12, 0u64..96, kinds()), 1..200),
            entries in 1u32..9,
            writes in prop::option::of((1u32..9, 1u32..9, 1u32..9)),
            wait_max in prop_oneof![Just(0u32), 1u32..200, Just(10_000)],
        ) {
            let spec = match writes {
                Some((size, high, low)) => with_writes(size, high.min(size), low.min(high).min(size)),
                None => open_rows(),
            };
            let spec = DramSpec {
                channels: n(2),
                queue_entries: Some(n(entries)),
                queue_wait_max_cycles: Some(wait_max),
                ..spec
            };
            let mut now = 0;
            let arrivals: Vec<Arrival> = steps
                .iter()
                .map(|&(wait, line, kind)| {
                    now += wait;
                    // Lines of few rows, so that banks have hits and conflicts.
                    (now, line * 37 % 512, kind)
                })
                .collect();
            let run = serve(&spec, &arrivals);
            let mut numbers = run.numbers();
            numbers.sort_unstable();
            prop_assert_eq!(numbers, (0..arrivals.len() as u32).collect::<Vec<_>>());
            let mut last = std::collections::BTreeMap::new();
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
    }
}
