//! A race detector for simulated runs.
//!
//! [`Detector`] is a [`Probe`]. It keeps a vector clock for each wavefront. The clock tells which
//! operations of other threads happened before the wavefront's next operation, because of
//! synchronization at sufficient scope. For each word of global and local memory, the detector
//! keeps the accesses with which a later access may race. Two accesses race if nothing but their
//! timing in this run ordered them. A race is therefore found even if the run's answer is right.
//!
//! * A wavefront is one thread. Its lanes advance together, so its instructions are ordered. Two
//!   lanes that store to one word in the same instruction race.
//! * The beginning and the end of a kernel order all accesses. A barrier orders accesses of local
//!   memory in its work-group, whatever its semantics are.
//! * A release takes effect when it is issued, and an acquire when it completes. No run orders two
//!   accesses that this rule leaves unordered.

mod clock;
mod code;
mod links;
mod report;
mod scope;
mod shadow;
mod words;

use kernel::{Action, Addressing, ArrayInfo, Posted, Space};
use proto::{KernelId, Level, RmwKind};
use rustc_hash::FxHashMap;

use crate::queue::Cycle;
use crate::reports::probe::{Layout, Probe, WaveAt};

use clock::ThreadId;
use code::{Code, CodeId, Codes, OpKind};
use links::{Links, SyncPlace, Thread};
use report::FoundRaces;
use scope::{Instance, Standing};
use shadow::{EPOCHS_MOST, Record, Shadow, THREADS_MOST, WordAt};
use words::CurrentAccess;

pub use code::level_name;
pub use report::{Race, RaceKind, RaceReport, RacingAccess, Usage, WideScope};
pub use scope::{Pairing, RaceModel};

/// The options of a race detector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RaceOptions {
    /// The definition of race freedom that the detector applies.
    pub model: RaceModel,
    /// The releases with which an acquire synchronizes.
    pub pairing: Pairing,
}

/// The maximum number of threads that have ended and are still kept, because operations of other
/// threads are not complete.
const GONE_MOST: usize = 1 << 12;

/// A race detector for one or several runs of one program. It observes the runs as a probe.
#[derive(Debug)]
pub struct Detector {
    links: Links,
    shadow: Shadow,
    codes: Codes,
    /// The names of the kernels in the order of their first launches.
    kernels: Vec<String>,
    kernel_of: FxHashMap<KernelId, (u16, u32)>,
    /// The position in the scope hierarchy of each thread that has run since the machine was last
    /// idle. The host is the first thread.
    standings: Vec<Standing>,
    /// The threads of running wavefronts. The key is the compute unit and the slot of the
    /// wavefront.
    live: FxHashMap<(u32, u32), Thread>,
    /// Threads that ended while an operation of another thread was not complete.
    gone: FxHashMap<u32, Thread>,
    /// The number of issued operations that are recorded at their completion and are not complete
    /// yet.
    late: u32,
    host: Thread,
    /// The number of compute units of each chiplet. `None` if the machine has one chiplet.
    cus_per_chiplet: Option<u32>,
    /// The number of kernels that were launched and have not ended.
    pending: u32,
    found: FoundRaces,
    arrays: Vec<ArrayInfo>,
    accesses: u64,
    /// The number of threads and epochs (times between two releases or barriers of a thread) beyond
    /// the limits of the detector, which may miss races of these threads and epochs.
    unwatched: u64,
}

impl Detector {
    /// A detector for the runs of one program.
    #[must_use]
    pub fn new(options: RaceOptions) -> Detector {
        let host = Standing {
            thread: ThreadId::HOST.0,
            group: None,
            chiplet: None,
            at: WaveAt::default(),
            kernel: u16::MAX,
        };
        Detector {
            links: Links::new(options.model, options.pairing),
            shadow: Shadow::default(),
            codes: Codes::default(),
            kernels: Vec::new(),
            kernel_of: FxHashMap::default(),
            standings: vec![host],
            live: FxHashMap::default(),
            gone: FxHashMap::default(),
            late: 0,
            host: Thread::new(host, 1, 0),
            cus_per_chiplet: None,
            pending: 0,
            found: FoundRaces::default(),
            arrays: Vec::new(),
            accesses: 0,
            unwatched: 0,
        }
    }

    /// Whether no race has been found so far.
    #[must_use]
    pub fn has_no_races(&self) -> bool {
        self.found.is_empty()
    }

    /// The report of all races found.
    #[must_use]
    pub fn finish(self) -> RaceReport {
        report::report(self)
    }

    fn code(&mut self, kernel: Option<u16>, op: &Posted, what: OpKind) -> CodeId {
        self.codes.number(Code { kernel, site: op.site, what, semantics: op.semantics, space: op.space })
    }

    /// Calls `act` with the detector and the thread of the wavefront at `at`. Does nothing if the
    /// wavefront has no thread.
    fn with(&mut self, at: WaveAt, act: impl FnOnce(&mut Detector, &mut Thread)) {
        let Some(mut thread) = self.live.remove(&(at.cu, at.slot)) else { return };
        act(self, &mut thread);
        self.live.insert((at.cu, at.slot), thread);
    }

    fn new_thread(&mut self, at: WaveAt) -> Option<Thread> {
        let number = self.standings.len() as u32;
        if number > THREADS_MOST {
            self.unwatched += 1;
            return None;
        }
        let (kernel, launched) = self.kernel_of.get(&at.kernel).copied()?;
        let standing = Standing {
            thread: number,
            group: Some(Standing::group_of(&at)),
            chiplet: self.cus_per_chiplet.map(|cus| at.cu / cus),
            at,
            kernel,
        };
        self.standings.push(standing);
        Some(Thread::new(standing, self.host.since, launched))
    }

    /// Begins a new epoch of the thread, because the thread has made a release, a barrier or a
    /// launch. An earlier release does not cover the accesses of the new epoch.
    fn next_epoch(&mut self, thread: &mut Thread) {
        thread.epoch += 1;
        if thread.epoch > EPOCHS_MOST {
            thread.epoch = EPOCHS_MOST;
            self.unwatched += 1;
        }
    }

    fn issue_op(&mut self, thread: &mut Thread, op: &Posted) {
        let kernel = self.kernel_name(thread);
        let code = self.code(kernel, op, OpKind::of(op));
        let it = *self.codes.get(code);
        let scope = scope_of(thread, op);
        let remote = op.semantics.hints.remote;
        match it.what {
            OpKind::Load | OpKind::Store | OpKind::Update | OpKind::Failed => {
                let is_deferred = it.is_atomic() && it.what.reads();
                if is_deferred {
                    thread.in_flight.push((token(op), thread.epoch));
                    self.late += 1;
                } else {
                    self.record(thread, thread.epoch, op, code, |_| true);
                }
                if it.is_atomic() && it.what.writes() {
                    let release = it.releases().then_some((code, scope, remote));
                    let tentative = compares(op).then_some(token(op));
                    for word in words_of(op) {
                        self.links.write(thread, sync_place(thread, op, word), release, tentative);
                    }
                    if it.releases() {
                        self.next_epoch(thread);
                    }
                }
            }
            OpKind::Fence => {
                if it.releases() {
                    self.links.fence_releases(thread, code, scope, remote);
                    self.next_epoch(thread);
                }
            }
            OpKind::Barrier => {
                let at = barrier(thread);
                self.links.arrive(thread, at);
                if it.releases() {
                    for scope in barrier_scopes(thread, scope) {
                        self.links.write(thread, at, Some((code, scope, remote)), None);
                    }
                }
                self.next_epoch(thread);
            }
        }
    }

    fn complete_op(&mut self, thread: &mut Thread, op: &Posted) {
        let kernel = self.kernel_name(thread);
        let code = self.code(kernel, op, OpKind::of(op));
        let it = *self.codes.get(code);
        let scope = scope_of(thread, op);
        let remote = op.semantics.hints.remote;
        let acquire = it.acquires().then_some((code, scope, remote));
        match it.what {
            OpKind::Load | OpKind::Update if it.is_atomic() => {
                for word in words_of(op) {
                    self.links.read(thread, sync_place(thread, op, word), acquire);
                }
                let epoch = match thread.in_flight.iter().position(|(of, _)| *of == token(op)) {
                    Some(at) => thread.in_flight.swap_remove(at).1,
                    None => thread.epoch,
                };
                if !compares(op) {
                    self.record(thread, epoch, op, code, |_| true);
                    return self.one_less_late();
                }
                let failed = self.code(kernel, op, OpKind::Failed);
                self.links.decide(
                    token(op),
                    |at| {
                        let is_there = |lane: &usize| {
                            at.is_none_or(|at| sync_place(thread, op, word_of(op, *lane)) == at)
                        };
                        op.exec.iter().filter(is_there).any(|lane| succeeded(op, lane))
                    },
                    words_of(op).into_iter().map(|word| sync_place(thread, op, word)),
                );
                self.record(thread, epoch, op, code, |lane| succeeded(op, lane));
                self.record(thread, epoch, op, failed, |lane| !succeeded(op, lane));
                self.one_less_late();
            }
            OpKind::Fence if it.acquires() => self.links.fence_acquires(thread, code, scope, remote),
            OpKind::Barrier => {
                let at = barrier(thread);
                thread.barriers += 1;
                self.links.depart(thread, at);
                if let Some((code, ..)) = acquire {
                    for scope in barrier_scopes(thread, scope) {
                        self.links.read(thread, at, Some((code, scope, remote)));
                    }
                }
            }
            _ => {}
        }
    }

    fn one_less_late(&mut self) {
        self.late = self.late.saturating_sub(1);
        if self.late == 0 {
            self.gone.clear();
        }
    }

    fn kernel_name(&self, thread: &Thread) -> Option<u16> {
        thread.standing.group.map(|_| thread.standing.kernel)
    }

    /// Records an access of `thread`. Only the lanes for which `takes` returns true take part.
    fn record(
        &mut self,
        thread: &Thread,
        epoch: u32,
        op: &Posted,
        code: CodeId,
        takes: impl Fn(usize) -> bool,
    ) {
        let current = CurrentAccess::new(thread, &self.codes, code);
        let width = op.width.bytes() as u64;
        let group = thread.standing.group.unwrap_or(u64::MAX);
        if current.writes && !current.is_atomic && matches!(op.addressing, Addressing::Gather) {
            self.find_lanes_that_collide(thread, op, code);
        }
        for lane in op.exec.iter().filter(|&lane| takes(lane)) {
            let address = op.addr(lane).0;
            self.accesses += 1;
            let (mut byte, end) = (address, address + width);
            while byte < end {
                let word = byte / 4;
                let stop = end.min((word + 1) * 4);
                let mask = mask_of(word, byte, stop);
                let at = match op.space {
                    Space::Global => WordAt::Global(word),
                    Space::Lds => WordAt::Local { group, word: word as u32 },
                };
                let record = Record::new(ThreadId(thread.standing.thread), epoch, code, lane as u32, mask);
                self.touch(&current, at, record);
                byte = stop;
            }
        }
    }

    /// Reports a race if two lanes of one instruction store to the same bytes.
    fn find_lanes_that_collide(&mut self, thread: &Thread, op: &Posted, code: CodeId) {
        let mut all = [(0u64, 0usize); kernel::LANES_MAX];
        let mut count = 0;
        for lane in op.exec.iter() {
            all[count] = (op.addr(lane).0, lane);
            count += 1;
        }
        let all = &mut all[..count];
        all.sort_unstable();
        for pair in all.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
            let record = |lane: usize| {
                Record::new(ThreadId(thread.standing.thread), thread.epoch, code, lane as u32, 15)
            };
            let at = match op.space {
                Space::Global => WordAt::Global(pair[0].0 / 4),
                Space::Lds => {
                    let group = thread.standing.group.unwrap_or(u64::MAX);
                    WordAt::Local { group, word: (pair[0].0 / 4) as u32 }
                }
            };
            self.race(thread, RaceKind::Lanes, record(pair[0].1), record(pair[1].1), at);
        }
    }

    /// Removes all records. The machine is idle, so later accesses are ordered after all earlier
    /// ones.
    fn nothing_runs(&mut self) {
        self.standings.truncate(1);
        self.shadow.forget();
        self.links.forget();
        self.kernel_of.clear();
        self.gone.clear();
        self.late = 0;
        self.host = Thread::new(self.standings[0], 1, 0);
    }

    /// Whether no kernel runs, so that the host is the only thread.
    fn is_idle(&self) -> bool {
        self.pending == 0
    }

    fn with_host(&mut self, act: impl FnOnce(&mut Detector, &mut Thread)) {
        if self.is_idle() {
            return;
        }
        let nobody = Thread::new(self.host.standing, 0, 0);
        let mut host = core::mem::replace(&mut self.host, nobody);
        act(self, &mut host);
        self.host = host;
    }

    /// Records an access by the host to the bytes that it copies while a kernel runs.
    fn copy(&mut self, host: &Thread, op: &Posted) {
        let code = self.code(None, op, OpKind::of(op));
        let current = CurrentAccess::new(host, &self.codes, code);
        let (first, bytes) = (op.base().0, op.bulk.len() as u64);
        for word in first / 4..(first + bytes).div_ceil(4) {
            let mask = mask_of(word, first, first + bytes);
            let record = Record::new(ThreadId::HOST, host.epoch, code, 0, mask);
            self.touch(&current, WordAt::Global(word), record);
        }
    }
}

/// A mask of the bytes of a word that lie from `first` up to, but not including, `end`. It has four
/// bits, one for each byte.
fn mask_of(word: u64, first: u64, end: u64) -> u8 {
    let [from, to] = [first, end].map(|byte| byte.saturating_sub(word * 4).min(4));
    (1 << to) - (1 << from)
}

/// A number that identifies an operation until it is complete.
fn token(op: &Posted) -> usize {
    core::ptr::from_ref(op).addr()
}

fn compares(op: &Posted) -> bool {
    matches!(op.action, Action::Rmw { kind: RmwKind::CompareExchange { .. }, .. })
}

fn succeeded(op: &Posted, lane: usize) -> bool {
    match op.rmw(lane).map(|rmw| rmw.kind) {
        Some(RmwKind::CompareExchange { expected }) => op.value(lane) == expected,
        _ => true,
    }
}

fn word_of(op: &Posted, lane: usize) -> u64 {
    let local = if op.space == Space::Lds { 1 << 63 } else { 0 };
    (op.addr(lane).0 / 4) | local
}

/// The distinct words that the lanes of an atomic access address.
fn words_of(op: &Posted) -> Vec<u64> {
    let mut words: Vec<u64> = op.exec.iter().map(|lane| word_of(op, lane)).collect();
    words.sort_unstable();
    words.dedup();
    words
}

fn sync_place(thread: &Thread, op: &Posted, word: u64) -> SyncPlace {
    match op.space {
        Space::Global => SyncPlace::Word(word),
        Space::Lds => SyncPlace::Local { group: thread.standing.group.unwrap_or(u64::MAX), word },
    }
}

/// The scope that an operation names. An operation on local memory always has work-group scope.
fn scope_of(thread: &Thread, op: &Posted) -> Instance {
    match op.space {
        Space::Lds => thread.standing.instance(&kernel::acq_rel(Level::WorkGroup)),
        Space::Global => thread.standing.instance(&op.semantics),
    }
}

fn barrier(thread: &Thread) -> SyncPlace {
    SyncPlace::Barrier { group: thread.standing.group.unwrap_or(u64::MAX), nth: thread.barriers }
}

/// The scopes that a barrier orders: its work-group, and the scope `named` by its semantics if that
/// is a different one.
fn barrier_scopes(thread: &Thread, named: Instance) -> impl Iterator<Item = Instance> + use<> {
    let own = kernel::acq_rel(Level::WorkGroup);
    let group = thread.standing.instance(&own);
    core::iter::once(group).chain((named != group).then_some(named))
}

impl Probe for Detector {
    fn begin(&mut self, layout: &Layout) {
        self.live.clear();
        self.pending = 0;
        self.nothing_runs();
        self.cus_per_chiplet = (layout.chiplets > 1).then_some(layout.compute_units / layout.chiplets.max(1));
    }

    fn launch(&mut self, _now: Cycle, kernel: KernelId, name: &str) {
        let known = self.kernels.iter().position(|other| other == name);
        let number = known.unwrap_or_else(|| {
            self.kernels.push(name.to_owned());
            self.kernels.len() - 1
        });
        let mut host = core::mem::replace(&mut self.host, Thread::new(self.standings[0], 0, 0));
        self.kernel_of.insert(kernel, (number as u16, host.epoch));
        self.next_epoch(&mut host);
        self.host = host;
        self.pending += 1;
    }

    fn kernel(&mut self, _name: &str, _from: Cycle, _until: Cycle) {
        self.pending = self.pending.saturating_sub(1);
        self.host.since = self.standings.len() as u32;
        if self.is_idle() {
            self.nothing_runs();
        }
    }

    fn wave_start(&mut self, _now: Cycle, at: WaveAt) {
        if let Some(thread) = self.new_thread(at) {
            self.live.insert((at.cu, at.slot), thread);
        }
    }

    fn wave_end(&mut self, _now: Cycle, at: WaveAt) {
        if let Some(thread) = self.live.remove(&(at.cu, at.slot))
            && self.late > 0
            && self.gone.len() < GONE_MOST
        {
            self.gone.insert(thread.standing.thread, thread);
        }
    }

    fn issue(&mut self, _now: Cycle, at: WaveAt, op: &Posted) {
        self.with(at, |detector, thread| detector.issue_op(thread, op));
    }

    fn complete(&mut self, at: WaveAt, op: &Posted, _issued: Cycle, _until: Cycle) {
        self.with(at, |detector, thread| detector.complete_op(thread, op));
    }

    fn host_issue(&mut self, _now: Cycle, op: &Posted) {
        self.with_host(|detector, host| match op.action {
            Action::HostRead | Action::HostWrite => detector.copy(host, op),
            _ => detector.issue_op(host, op),
        });
    }

    fn host_complete(&mut self, _now: Cycle, op: &Posted) {
        if !matches!(op.action, Action::HostRead | Action::HostWrite | Action::Launch(_)) {
            self.with_host(|detector, host| detector.complete_op(host, op));
        }
    }

    fn arrays(&mut self, arrays: &[ArrayInfo]) {
        self.arrays = arrays.to_vec();
    }
}
