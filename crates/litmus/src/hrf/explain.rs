//! Explains a race: finds the chains of synchronization that might order the two accesses, and
//! shows where each chain is broken.

use super::scoping::edge_scope;
use super::trace::{Execution, scope_name};
use super::{InstrPlace, Model, RaceKind, Reading, SyncOrder};
use crate::program::{LocId, Program, ScopeId};

/// Two instructions whose accesses conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Conflicting {
    /// The instruction of the thread with the lower number.
    pub first: InstrPlace,
    /// The other instruction, of the thread with the higher number.
    pub second: InstrPlace,
    /// The kind of the conflict.
    pub kind: RaceKind,
}

/// A race: two conflicting accesses that happens-before does not order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The two accesses that race.
    pub pair: Conflicting,
    /// The word that both accesses use.
    pub location: LocId,
    /// The steps of an execution up to the race. The last step makes the second of the two
    /// accesses.
    pub execution: Execution,
    /// The numbers of the two steps of `execution` that make the racing accesses.
    pub steps: (usize, usize),
    /// The reasons why no chain of synchronization orders the accesses.
    pub gaps: Vec<Gap>,
}

/// A release that synchronizes with an acquire. Both are steps of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link {
    /// The number of the step that is the release.
    pub release: usize,
    /// The number of the step that is the acquire.
    pub acquire: usize,
    /// The scope instance at which the release and the acquire pair. In HRF-direct, happens-before
    /// combines this edge (from the release to the acquire) only with edges of the same scope
    /// instance.
    pub scope: ScopeId,
}

/// A reason why one access does not happen before the other. The numbers `release` and `acquire`
/// are positions in the list of the execution's steps.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gap {
    /// No release follows the earlier of the two racing accesses, neither in the thread of that
    /// access nor in another thread that has synchronized with that thread.
    NoRelease,
    /// No acquire precedes the later of the two racing accesses.
    NoAcquire,
    /// A release precedes an acquire, but the two do not pair because of their scopes.
    Scopes {
        /// The number of the step that is the release.
        release: usize,
        /// The number of the step that is the acquire.
        acquire: usize,
    },
    /// A release precedes an acquire, but the two do not pair because they access different
    /// locations.
    Locations {
        /// The number of the step that is the release.
        release: usize,
        /// The number of the step that is the acquire.
        acquire: usize,
    },
    /// An acquire comes before the release with which it could otherwise pair.
    TooEarly {
        /// The number of the step that is the release.
        release: usize,
        /// The number of the step that is the acquire.
        acquire: usize,
    },
    /// A chain of edges of different scopes links the accesses. HRF-direct does not
    /// combine such edges.
    Mixed {
        /// The edges of the chain.
        chain: Vec<Link>,
    },
}

/// The maximum number of gaps of one kind that an explanation shows. A gap is a reason why one
/// access does not happen before the other.
const GAPS_MAX: usize = 3;

/// The happens-before relation of an execution.
struct Order<'a> {
    program: &'a Program,
    reading: Reading,
    execution: &'a Execution,
    links: Vec<Link>,
}

impl<'a> Order<'a> {
    fn new(program: &'a Program, reading: Reading, execution: &'a Execution) -> Order<'a> {
        let mut order = Order { program, reading, execution, links: Vec::new() };
        for acquire in 0..execution.steps.len() {
            for release in 0..acquire {
                if let Some(scope) = order.pairs(release, acquire).filter(|_| order.meets(release, acquire)) {
                    order.links.push(Link { release, acquire, scope });
                }
            }
        }
        order
    }

    /// The scope at which the release and the acquire pair, if their locations are ignored. `None`
    /// if they do not pair.
    fn pairs(&self, release: usize, acquire: usize) -> Option<ScopeId> {
        let (r, a) = (&self.execution.steps[release], &self.execution.steps[acquire]);
        if !r.role.releases || !a.role.acquires || r.place.thread == a.place.thread {
            return None;
        }
        let (released, acquired) = (r.role.scope?, a.role.scope?);
        edge_scope(self.program, self.reading, (r.place.thread, released), (a.place.thread, acquired))
    }

    /// Whether the release and the acquire may pair as far as their locations are concerned.
    fn meets(&self, release: usize, acquire: usize) -> bool {
        let word = |step: usize| self.execution.steps[step].word(self.program);
        self.reading.so == SyncOrder::AnyLocation
            || word(release).is_none()
            || word(acquire).is_none()
            || word(release) == word(acquire)
    }

    /// For each step, says whether and how a happens-before path from `from` reaches it. If no path
    /// reaches the step, the entry is `None`. Otherwise the entry has the previous step on the
    /// path. If that previous step is in another thread, the entry also has the synchronization
    /// edge between the two steps. `only` restricts the edges of the path to one scope.
    fn reach(&self, from: usize, only: Option<ScopeId>) -> Vec<Option<(usize, Option<Link>)>> {
        let steps = &self.execution.steps;
        let mut reached = vec![None; steps.len()];
        reached[from] = Some((from, None));
        for to in from + 1..steps.len() {
            let after = |&i: &usize| steps[i].place.thread == steps[to].place.thread;
            let before = (from..to).rev().find(|i| after(i) && reached[*i].is_some());
            if let Some(before) = before {
                reached[to] = Some((before, None));
                continue;
            }
            reached[to] = self
                .links
                .iter()
                .filter(|link| link.acquire == to && only.is_none_or(|scope| link.scope == scope))
                .find(|link| link.release >= from && reached[link.release].is_some())
                .map(|link| (link.release, Some(*link)));
        }
        reached
    }

    /// For each step, whether it happens before `to`. The path between the two steps may use edges
    /// of all scopes.
    fn reaching(&self, to: usize) -> Vec<bool> {
        let steps = &self.execution.steps;
        let mut reaching = vec![false; steps.len()];
        reaching[to] = true;
        for from in (0..to).rev() {
            reaching[from] = (from + 1..=to)
                .any(|i| reaching[i] && steps[i].place.thread == steps[from].place.thread)
                || self.links.iter().any(|link| link.release == from && reaching[link.acquire]);
        }
        reaching
    }

    /// Whether `first` happens before `second`.
    fn is_ordered(&self, first: usize, second: usize) -> bool {
        if self.reading.model != Model::HrfDirect {
            return self.reach(first, None)[second].is_some();
        }
        let same = self.execution.steps[first].place.thread == self.execution.steps[second].place.thread;
        same || self.links.iter().any(|link| self.reach(first, Some(link.scope))[second].is_some())
    }

    fn gaps(&self, first: usize, second: usize) -> Vec<Gap> {
        let reached = self.reach(first, None);
        if reached[second].is_some() {
            let mut chain = Vec::new();
            let mut at = second;
            while let Some((before, link)) = reached[at].filter(|&(before, _)| before != at) {
                chain.extend(link);
                at = before;
            }
            chain.reverse();
            return vec![Gap::Mixed { chain }];
        }
        let reaching = self.reaching(second);
        let steps = &self.execution.steps;
        let all = 0..steps.len();
        let releases: Vec<usize> =
            all.clone().filter(|&i| steps[i].role.releases && reached[i].is_some()).collect();
        let acquires: Vec<usize> = all.filter(|&i| steps[i].role.acquires && reaching[i]).collect();
        if releases.is_empty() {
            return vec![Gap::NoRelease];
        }
        if acquires.is_empty() {
            return vec![Gap::NoAcquire];
        }
        let (mut scopes, mut locations, mut early) = (Vec::new(), Vec::new(), Vec::new());
        for &release in &releases {
            for &acquire in &acquires {
                if steps[release].place.thread == steps[acquire].place.thread {
                    continue;
                }
                match (self.pairs(release, acquire), acquire < release) {
                    (Some(_), true) => early.push(Gap::TooEarly { release, acquire }),
                    (Some(_), false) => locations.push(Gap::Locations { release, acquire }),
                    (None, true) => {}
                    (None, false) => scopes.push(Gap::Scopes { release, acquire }),
                }
            }
        }
        for gaps in [&mut scopes, &mut locations, &mut early] {
            gaps.truncate(GAPS_MAX);
        }
        let gaps: Vec<Gap> = [scopes, locations].concat();
        match (gaps.is_empty(), early.is_empty()) {
            (false, _) => gaps,
            (true, false) => early,
            (true, true) => vec![Gap::NoAcquire],
        }
    }
}

/// Describes the race between the last step of `execution` and an earlier step.
pub(crate) fn race(program: &Program, reading: Reading, pair: Conflicting, execution: Execution) -> Race {
    let second = execution.steps.len() - 1;
    let order = Order::new(program, reading, &execution);
    let last = &execution.steps[second];
    let is = |place: InstrPlace| place.thread == last.place.thread && place.pc == last.place.pc;
    let other = if is(pair.first) { pair.second } else { pair.first };
    let first = (0..second)
        .rev()
        .find(|&i| {
            let step = &execution.steps[i];
            (step.place.thread, step.place.pc) == (other.thread, other.pc)
                && step.word(program) == last.word(program)
                && !order.is_ordered(i, second)
        })
        .unwrap_or(0);
    let gaps = order.gaps(first, second);
    let location = last.location.unwrap_or(LocId(0));
    Race { pair, location, execution, steps: (first, second), gaps }
}

/// The synchronization edges of the execution that a drawing shows. An edge is left out if other
/// edges imply it.
pub(crate) fn links(program: &Program, reading: Reading, execution: &Execution) -> Vec<Link> {
    let order = Order::new(program, reading, execution);
    let steps = &execution.steps;
    let thread = |i: usize| steps[i].place.thread;
    let implied = |a: &Link| {
        order.links.iter().any(|b| {
            a != b
                && a.scope == b.scope
                && thread(a.release) == thread(b.release)
                && thread(a.acquire) == thread(b.acquire)
                && a.release <= b.release
                && b.acquire <= a.acquire
        })
    };
    order.links.iter().copied().filter(|link| !implied(link)).collect()
}

impl Gap {
    /// Describes the gap (a reason why one access does not happen before the other) in words.
    #[must_use]
    pub fn describe(&self, program: &Program, race: &Race) -> String {
        let steps = &race.execution.steps;
        let number = |step: usize| step + 1;
        let scope = |step: usize| match steps[step].role.scope {
            Some(scope) => scope_name(program, scope),
            None => "no scope".to_owned(),
        };
        let location = |step: usize| match steps[step].location {
            Some(loc) => program.loc(loc).name.clone(),
            None => "no location".to_owned(),
        };
        let (first, second) = race.steps;
        match self {
            Gap::NoRelease => format!(
                "no release follows step {0}, neither in P{1} nor in a thread that has synchronized with \
                 P{1}",
                number(first),
                steps[first].place.thread.0
            ),
            Gap::NoAcquire => format!(
                "before step {}, P{} acquires no release of another thread",
                number(second),
                steps[second].place.thread.0
            ),
            Gap::Scopes { release, acquire } => format!(
                "the release of step {} is at {} and the acquire of step {} at {}: they do not pair",
                number(*release),
                scope(*release),
                number(*acquire),
                scope(*acquire)
            ),
            Gap::Locations { release, acquire } => format!(
                "the release of step {} is on {} and the acquire of step {} is on {}: with \
                 `same-location` they do not pair",
                number(*release),
                location(*release),
                number(*acquire),
                location(*acquire)
            ),
            Gap::TooEarly { release, acquire } => format!(
                "the acquire of step {} comes before the release of step {}",
                number(*acquire),
                number(*release)
            ),
            Gap::Mixed { chain } => {
                let links: Vec<String> = chain
                    .iter()
                    .map(|link| {
                        let scope = scope_name(program, link.scope);
                        format!("{} to {} at {scope}", number(link.release), number(link.acquire))
                    })
                    .collect();
                format!(
                    "a chain of releases and acquires leads from the first access to the second (steps {}), \
                     but hrf-direct does not join links of different scopes",
                    links.join(", ")
                )
            }
        }
    }
}

impl Race {
    /// Describes the race in words: the two accesses, the execution, and the reasons why no
    /// synchronization orders the two accesses.
    #[must_use]
    pub fn describe(&self, program: &Program, reading: Reading) -> String {
        let steps = &self.execution.steps;
        let (first, second) = (&steps[self.steps.0], &steps[self.steps.1]);
        let why = match self.pair.kind {
            RaceKind::Ordinary => "one of the two accesses is an ordinary data access",
            RaceKind::Synchronization => "the two accesses synchronize at different scopes",
        };
        let mut text = format!(
            "{} ({}) and {} ({}) race on {} under {reading}: {why}, and neither happens before the other.\n\
             In this execution:\n{}",
            first.place,
            first.describe(program),
            second.place,
            second.describe(program),
            program.loc(self.location).name,
            self.execution.describe(program),
        );
        for gap in &self.gaps {
            text.push_str("  - ");
            text.push_str(&gap.describe(program, self));
            text.push('\n');
        }
        text
    }
}
