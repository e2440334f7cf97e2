//! The scheduler of memory that prefers open rows: first ready, first come, first served (FR-FCFS).
//!
//! A request waits in the queue of its channel. A bank that is free looks for requests to its open
//! row, and takes the oldest of them. If no request is to its open row, it takes its oldest request,
//! and opens the row of this request as soon as the bank and the channel can open another row. If
//! several banks wait for the channel, the one with the oldest request opens its row first. A bank
//! keeps its request until the channel serves it. A channel looks at the banks whose rows are open,
//! and serves the oldest of their requests whose data find the data bus and their group of banks free.
//! So the data bus serves open rows while other banks open theirs.
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
    since: Cycle,
    /// The cycle at which the row of the request is open. `None` if the bank has not begun to open it.
    open_at: Option<Cycle>,
    /// Whether the bank did not have to open the row.
    is_row_hit: bool,
}

impl Taken {
    /// The first cycle at which the data of the request find the data bus and their group free.
    fn can_transfer_at(&self, dram: &Dram) -> Cycle {
        let Request { channel, bank, read_bytes, .. } = self.request;
        dram.can_transfer_at(channel, bank, read_bytes.is_none())
    }
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
        channel.open_rows(dram, now, first);
        channel.serve(dram, now, &limits)
    }

    /// The cycle at which the channel can next serve a request, if no event of the channel is pending
    /// at this cycle or before. [`Scheduler::serve`] has returned `None` at cycle `now`.
    pub(super) fn wake(&mut self, dram: &Dram, now: Cycle, number: usize) -> Option<Cycle> {
        let first = number * self.banks_per_channel;
        let channel = &mut self.channels[number];
        if channel.reads + channel.writes == 0 && channel.banks.iter().all(|bank| bank.taken.is_none()) {
            return None;
        }
        let next = channel.banks.iter().enumerate().filter_map(|(at, bank)| match &bank.taken {
            Some(taken) => Some(match taken.open_at {
                Some(open_at) => open_at.max(taken.can_transfer_at(dram)),
                None => dram.can_open_at(first + at),
            }),
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
    fn take(&mut self, dram: &Dram, now: Cycle, first: usize, limits: &Limits) -> bool {
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
            let Queued { request, order, since } =
                queue.remove(if oldest_first { 0 } else { hit.unwrap_or(0) });
            *self.count(writes) -= 1;
            let is_row_hit = dram.is_open(first + at, request.row);
            let open_at = is_row_hit.then_some(now);
            self.banks[at].taken = Some(Taken { request, order, since, open_at, is_row_hit });
            has_taken = true;
        }
        has_taken
    }

    /// Begins to open the rows of requests that banks have taken, in the banks that can do so now. If
    /// they cannot all begin, the bank with the oldest request begins.
    fn open_rows(&mut self, dram: &mut Dram, now: Cycle, first: usize) {
        loop {
            let closed = self.banks.iter_mut().zip(first..).filter_map(|(bank, number)| {
                let taken = bank.taken.as_mut().filter(|taken| taken.open_at.is_none())?;
                (dram.can_open_at(number) <= now).then_some((number, taken))
            });
            let Some((number, taken)) = closed.min_by_key(|(_, taken)| taken.order) else { return };
            taken.open_at = Some(dram.open(now, number, taken.request.row));
        }
    }

    /// The bank whose request the channel serves now. `None` if the channel can serve none.
    ///
    /// A request that finds the data bus or its group busy lets younger ones pass, because reads may go
    /// on while a write waits for the data bus to turn around. It does not let them pass for longer
    /// than the bound of the wait.
    fn served_next(&self, dram: &Dram, now: Cycle, limits: &Limits) -> Option<usize> {
        let open = self.banks.iter().enumerate().filter_map(|(at, bank)| {
            let taken = bank.taken.as_ref()?;
            taken.open_at.is_some_and(|open_at| open_at <= now).then_some((at, taken))
        });
        let (_, oldest) = open.clone().min_by_key(|(_, taken)| taken.order)?;
        let is_overdue = now >= oldest.since + limits.wait_max_cycles;
        let ready = open.filter(|(_, taken)| {
            taken.can_transfer_at(dram) <= now && (!is_overdue || taken.order == oldest.order)
        });
        ready.min_by_key(|(_, taken)| taken.order).map(|(at, _)| at)
    }

    /// Serves the oldest request whose row is open and whose data find the data bus and their group
    /// free.
    fn serve(&mut self, dram: &mut Dram, now: Cycle, limits: &Limits) -> Option<Served> {
        let at = self.served_next(dram, now, limits)?;
        let Taken { request, is_row_hit, .. } = self.banks[at].taken.take()?;
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
mod tests;
