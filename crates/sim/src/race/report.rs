//! Reports of the races that the detector has found.

use kernel::{ArrayInfo, Site, Space};
use proto::Level;
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::Detector;
use super::clock::ThreadId;
use super::code::{Code, CodeId, level_name};
use super::links::{Links, Source, Thread};
use super::scope::{RaceModel, Standing, rank};
use super::shadow::{Record, WordAt};

/// The kind of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RaceKind {
    /// At least one of the two accesses is ordinary (not atomic).
    Ordinary,
    /// Both accesses are atomic, but they name different scope instances.
    Synchronization,
    /// Two lanes of one instruction store to the same bytes.
    Lanes,
}

impl RaceKind {
    /// The kind of the race as text for a report.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            RaceKind::Ordinary => "race",
            RaceKind::Synchronization => "race of two atomics",
            RaceKind::Lanes => "race between lanes",
        }
    }
}

/// One of the two accesses of a race.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RacingAccess {
    /// The name of the kernel that made the access, or `host`.
    pub kernel: String,
    /// The source file of the access.
    pub file: &'static str,
    /// The line in the source file.
    pub line: u32,
    /// The column of the access in that line.
    pub column: u32,
    /// The access as text, such as its kind, order and scope.
    pub operation: String,
    /// The number of the work-group in its grid.
    pub work_group: u32,
    /// The number of the wavefront in its work-group.
    pub wavefront: u32,
    /// The lane of the wavefront that made the access.
    pub lane: u32,
    /// The compute unit on which the wavefront ran.
    pub compute_unit: u32,
}

/// A race: two places in the source whose accesses race.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Race {
    /// The kind of the race.
    pub kind: RaceKind,
    /// The first word on which the race was found, for example `head[3]`.
    pub location: String,
    /// The access that came first in this run.
    pub first: RacingAccess,
    /// The access that came later in this run.
    pub second: RacingAccess,
    /// The scopes of the first and the second access. `-` stands for an ordinary access.
    pub scopes: [String; 2],
    /// The reason why nothing orders the two accesses, and the smallest change that would order
    /// them.
    pub advice: String,
    /// The number of pairs of accesses that raced at these two places in the source.
    pub count: u64,
}

/// An atomic operation or a fence whose scope is wider than necessary: a narrower scope would have
/// been sufficient in all observed runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WideScope {
    /// The name of the kernel that contains the operation, or `host`.
    pub kernel: String,
    /// The source file of the operation.
    pub file: &'static str,
    /// The line in the source file.
    pub line: u32,
    /// The column of the operation in that line.
    pub column: u32,
    /// The operation as text.
    pub operation: String,
    /// The scope level that the operation names.
    #[serde(serialize_with = "by_name")]
    pub scope: Level,
    /// The narrowest scope level that was sufficient in the observed runs.
    #[serde(serialize_with = "by_name")]
    pub enough: Level,
}

fn by_name<S: serde::Serializer>(level: &Level, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(level_name(*level))
}

/// The amount of work that a race detector did, and how near it came to its limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// The number of accesses by lanes that were checked.
    pub accesses: u64,
    /// The number of bytes of memory for which the detector keeps records of accesses. The records
    /// take 16 bytes for each word.
    pub watched_bytes: u64,
    /// The number of times that the records of a word had to move into a list, because there were
    /// more than two.
    pub spilled: u64,
    /// The length of the longest list of records of one word.
    pub longest_list: u64,
    /// The number of wavefronts and releases beyond the limits of the detector, which may miss
    /// races of these wavefronts and releases.
    pub unwatched: u64,
}

/// The result of a race detector, over all observed runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RaceReport {
    /// The races that were found, one for each pair of places in the source.
    pub races: Vec<Race>,
    /// The operations whose scopes are wider than necessary.
    pub wide_scopes: Vec<WideScope>,
    /// The amount of work that the detector did, and how near it came to its limits.
    pub usage: Usage,
}

/// A race at one pair of places in the source, with the first pair of accesses that showed it.
#[derive(Debug)]
struct RacePair {
    kind: RaceKind,
    at: WordAt,
    first: (Record, Standing),
    second: (Record, Standing),
    advice: String,
    count: u64,
}

/// All races found so far. The key is the pair of their places in the source.
#[derive(Debug, Default)]
pub(super) struct FoundRaces {
    pairs: Vec<RacePair>,
    numbers: FxHashMap<(RaceKind, RaceSite, RaceSite), usize>,
}

/// A place in the source: the number of the kernel's name (`None` for the host), and the address of
/// the place's description.
type RaceSite = (Option<u16>, usize);

impl FoundRaces {
    pub(super) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }
}

impl Detector {
    /// Records a race between two accesses, or counts it if the same pair of places has raced
    /// before.
    #[cold]
    pub(super) fn race(
        &mut self,
        thread: &Thread,
        kind: RaceKind,
        first: Record,
        second: Record,
        at: WordAt,
    ) {
        let side = |record: Record| {
            let code = self.codes.get(record.code());
            (code.kernel, core::ptr::from_ref(code.site).addr())
        };
        let (a, b) = (side(first).min(side(second)), side(first).max(side(second)));
        if let Some(&number) = self.found.numbers.get(&(kind, a, b)) {
            self.found.pairs[number].count += 1;
            return;
        }
        let pair = RacePair {
            kind,
            at,
            first: (first, *self.standing(first.thread())),
            second: (second, thread.standing),
            advice: self.advise(thread, kind, first, second),
            count: 1,
        };
        self.found.numbers.insert((kind, a, b), self.found.pairs.len());
        self.found.pairs.push(pair);
    }

    fn advise(&self, thread: &Thread, kind: RaceKind, first: Record, second: Record) -> String {
        if kind == RaceKind::Lanes {
            return "lanes of one wavefront store to the same bytes in one instruction; \
                    let only one lane store, or make the store atomic"
                .to_owned();
        }
        let theirs = *self.standing(first.thread());
        let level = level_name(theirs.common(&thread.standing));
        if kind == RaceKind::Synchronization {
            return format!("both operations need the same scope, one that contains both threads: {level}");
        }
        if !self.would_order(thread, first.thread(), first.epoch()) {
            let atomics = [first, second].map(|record| self.codes.get(record.code()).is_atomic());
            let plain = if atomics == [true, false] || atomics == [false, true] {
                "; one of the two is an ordinary access, the other one atomic"
            } else {
                ""
            };
            return format!(
                "no chain of a release and an acquire leads from the first operation to the second{plain}; \
                 such a chain would need the {level} scope"
            );
        }
        match self.links.cut(thread, first.thread(), first.epoch()) {
            Some(cut) => self.widen(cut.release, cut.acquire),
            None => format!(
                "the chain of releases and acquires between the two operations changes its scope, which {} \
                 does not allow; use the {level} scope in the whole chain",
                model_name(self.links.model)
            ),
        }
    }

    fn would_order(&self, thread: &Thread, first: ThreadId, epoch: u32) -> bool {
        self.links.model != RaceModel::Drf && thread.would_know(first, epoch)
    }

    /// The advice for a release and an acquire that did not synchronize because of their scopes:
    /// the change of scopes that would let them synchronize.
    fn widen(&self, release: Source, acquire: Source) -> String {
        let enough = release.standing.common(&acquire.standing);
        let side = |source: Source| {
            let code = self.codes.get(source.code);
            let scope = scope_of(code, &source.standing);
            let is_short = rank(code.semantics.level) < rank(enough);
            (format!("the {} at {} ({scope} scope)", code.describe(), place(code.site)), is_short)
        };
        let ((from, from_is_short), (to, to_is_short)) = (side(release), side(acquire));
        let what = match (from_is_short, to_is_short) {
            (true, false) => "widen the release",
            (false, true) => "widen the acquire",
            (true, true) => "widen both",
            (false, false) => "set both",
        };
        let enough = level_name(enough);
        format!("{from} does not reach {to}: {what} to {enough} scope")
    }
}

fn model_name(model: RaceModel) -> &'static str {
    RaceModel::ALL.iter().find(|(_, other)| *other == model).map_or("", |(name, _)| name)
}

fn place(site: Site) -> String {
    format!("{}:{}:{}", site.file(), site.line(), site.column())
}

fn scope_of(code: &Code, standing: &Standing) -> String {
    if !code.is_atomic() {
        return "-".to_owned();
    }
    match (code.semantics.level, standing.group) {
        (Level::WorkGroup, Some(_)) => format!("work-group {}", standing.at.work_group),
        (Level::Named, _) => format!("named {}", code.semantics.named),
        (level, _) => level_name(level).to_owned(),
    }
}

/// The name of a word in a report: the array and the element with which the word begins, such as
/// `head[3]`.
fn name(arrays: &[ArrayInfo], at: WordAt) -> String {
    match at {
        WordAt::Local { word, .. } => format!("local memory, byte {}", word * 4),
        WordAt::Global(word) => {
            let address = word * 4;
            let holds = |a: &&ArrayInfo| a.base.0 < address + 4 && address < a.base.0 + a.bytes;
            match arrays.iter().find(holds) {
                Some(array) => {
                    let each = array.bytes / array.len.max(1);
                    let index = address.saturating_sub(array.base.0) / each.max(1);
                    format!("{}[{index}]", array.name)
                }
                None => format!("address {address:#x}"),
            }
        }
    }
}

pub(super) fn report(detector: Detector) -> RaceReport {
    let Detector { found, codes, kernels, arrays, links, shadow, accesses, unwatched, .. } = detector;
    let kernel = |code: &Code| match code.kernel {
        Some(number) => kernels[usize::from(number)].clone(),
        None => "host".to_owned(),
    };
    let party = |(record, standing): (Record, Standing)| {
        let code = codes.get(record.code());
        RacingAccess {
            kernel: kernel(code),
            file: code.site.file(),
            line: code.site.line(),
            column: code.site.column(),
            operation: code.describe(),
            work_group: standing.at.work_group,
            wavefront: standing.at.wave,
            lane: record.lane(),
            compute_unit: standing.at.cu,
        }
    };
    let scope = |(record, standing): (Record, Standing)| scope_of(codes.get(record.code()), &standing);
    let races = found.pairs.into_iter().map(|pair| Race {
        kind: pair.kind,
        location: name(&arrays, pair.at),
        scopes: [scope(pair.first), scope(pair.second)],
        first: party(pair.first),
        second: party(pair.second),
        advice: pair.advice,
        count: pair.count,
    });
    RaceReport {
        races: races.collect(),
        wide_scopes: wide_scopes(&links, |number| {
            let code = codes.get(number);
            (*code, kernel(code))
        }),
        usage: Usage {
            accesses,
            watched_bytes: shadow.usage.pages * 4096,
            spilled: shadow.usage.spilled,
            longest_list: shadow.usage.longest,
            unwatched: unwatched + codes.overflowed,
        },
    }
}

fn wide_scopes(links: &Links, code: impl Fn(CodeId) -> (Code, String)) -> Vec<WideScope> {
    let mut needed: Vec<_> = links.needed.iter().map(|(code, level)| (*code, *level)).collect();
    needed.sort_unstable_by_key(|(code, _)| *code);
    let wide = |(number, level): (CodeId, Level)| {
        let (code, kernel) = code(number);
        let scope = code.semantics.level;
        // A scope narrower than a work-group costs as much as work-group scope. The report
        // therefore never recommends a narrower scope.
        let enough = if rank(level) < rank(Level::WorkGroup) { Level::WorkGroup } else { level };
        let is_wide = code.is_atomic() && code.space == Space::Global && rank(scope) > rank(enough);
        is_wide.then(|| WideScope {
            kernel,
            file: code.site.file(),
            line: code.site.line(),
            column: code.site.column(),
            operation: code.describe(),
            scope,
            enough,
        })
    };
    needed.into_iter().filter_map(wide).collect()
}
