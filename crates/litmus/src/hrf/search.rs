//! Searches all sequentially consistent executions of a program.
//!
//! The search visits states depth first. Three reductions make it faster. None of them loses a
//! final state, a racing pair of accesses, or an ordered pair of accesses:
//!
//! * **Persistent sets.** If the next steps of some threads commute with all future steps of the
//!   other threads, the search tries only those threads.
//! * **Sleep sets.** If the search has already tried step A in a state, and then tries a step B
//!   that commutes with A, the search does not try A directly after B. Step A is then called
//!   asleep.
//! * **Remembered states.** The search does not explore a state again if it has visited a state
//!   with the same future, except for steps that were asleep at the earlier visit and are not
//!   asleep now. The number of remembered states is bounded. A state that is not remembered costs
//!   time but changes no result.
//!
//! Two steps commute if both of these conditions hold:
//!
//! * They access different words, or both only read.
//! * They are not a release and an acquire of one scope. In the paper's definition the order of
//!   these two steps decides happens-before, even if their words differ.

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};

use proto::words::counted;
use rustc_hash::FxHashMap;

use super::footprint::Footprint;
use super::key::Keys;
use super::plan::{Plan, RaceKind};
use super::state::{ACCESSES_MAX, Choice, Conflict, Phase, State, term_value};
use super::{CheckError, Options};
use crate::program::{Program, Value};

/// Two accesses, given by their numbers. The smaller number comes first.
pub(crate) type Pair = (u16, u16);

/// The effort of a search: its numbers of states and steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// The number of states that the search entered.
    pub states: u64,
    /// The number of steps that the search took.
    pub steps: u64,
    /// The number of times that the search reached a visited state again and did not explore it.
    pub revisits: u64,
}

/// The reason why a search is incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Incomplete {
    /// A thread has taken the same backward jump this number of times, which is the limit, and has
    /// not ended.
    Unroll(u16),
    /// A thread has made this many accesses, which is the limit, and has not ended.
    Accesses(usize),
    /// The search has visited this many states, which is the limit.
    States(u64),
    /// The caller stopped the search.
    Stopped,
}

impl Incomplete {
    pub(crate) const fn ends_search(self) -> bool {
        !matches!(self, Incomplete::Unroll(_) | Incomplete::Accesses(_))
    }
}

impl fmt::Display for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Incomplete::Unroll(bound) => {
                write!(f, "some loop runs more than {}", counted(u64::from(*bound), "time"))
            }
            Incomplete::Accesses(bound) => {
                write!(f, "some thread makes more than {}", counted(*bound as u64, "access"))
            }
            Incomplete::States(bound) => write!(f, "the search has more than {}", counted(*bound, "state")),
            Incomplete::Stopped => f.write_str("the search was stopped"),
        }
    }
}

/// The results of a search.
#[derive(Clone, Debug, Default)]
pub(crate) struct SearchResult {
    pub(crate) finals: BTreeSet<Vec<Value>>,
    /// The pairs of accesses that race. Each pair comes with the kind of its race, and with the
    /// steps of an execution that ends with the race.
    pub(crate) races: BTreeMap<Pair, (RaceKind, Vec<Choice>)>,
    /// The conflicting pairs of accesses that happens-before orders in some execution.
    pub(crate) ordered: BTreeMap<Pair, RaceKind>,
    pub(crate) blocked: Option<Vec<Choice>>,
    pub(crate) incomplete: Option<Incomplete>,
    pub(crate) effort: Effort,
}

struct Frame {
    state: State,
    footprints: Vec<Footprint>,
    todo: u64,
    sleep: u64,
    /// The thread whose step has a second choice that the search still has to try. `None` if there
    /// is no such thread.
    second: Option<u8>,
    key: u128,
    /// Whether some execution that continues from this state ends in a final state that the filter
    /// of the test accepts.
    passes: bool,
    /// The conflicting pairs of accesses that the step to this state has made. If the test has a
    /// filter, the search reports them only when an execution that continues from this state passes
    /// the filter.
    pending: Vec<Conflict>,
}

#[derive(Clone, Copy)]
struct Remembered {
    sleep: u64,
    passes: bool,
}

struct Search<'p, 'a, 's> {
    plan: &'p Plan<'a>,
    frames: Vec<Frame>,
    depth: usize,
    path: Vec<Choice>,
    remembered: FxHashMap<u128, Remembered>,
    keys: Keys,
    found: SearchResult,
    keep_going: &'s mut dyn FnMut() -> bool,
}

/// Explores the sequentially consistent executions of the program. The search calls `keep_going` at
/// intervals, and stops if `keep_going` returns false.
pub(crate) fn search(
    program: &Program,
    options: Options,
    keep_going: &mut dyn FnMut() -> bool,
) -> Result<(SearchResult, Vec<(u8, u16)>), CheckError> {
    let plan = Plan::new(program, options)?;
    let mut search = Search {
        plan: &plan,
        frames: Vec::new(),
        depth: 0,
        path: Vec::new(),
        remembered: FxHashMap::default(),
        keys: Keys::default(),
        found: SearchResult::default(),
        keep_going,
    };
    search.run()?;
    let found = search.found;
    Ok((found, plan.accesses))
}

impl Search<'_, '_, '_> {
    fn filtered(&self) -> bool {
        self.plan.program.filter.is_some()
    }

    fn run(&mut self) -> Result<(), CheckError> {
        let start = State::start(self.plan)?;
        self.frames.push(Frame {
            state: start,
            footprints: Vec::new(),
            todo: 0,
            sleep: 0,
            second: None,
            key: 0,
            passes: false,
            pending: Vec::new(),
        });
        self.enter()?;
        loop {
            if self.found.incomplete.is_some_and(Incomplete::ends_search) {
                return Ok(());
            }
            if self.plan.options.first_race_only && !self.found.races.is_empty() {
                return Ok(());
            }
            let frame = &mut self.frames[self.depth];
            let choice = if let Some(thread) = frame.second.take() {
                Choice { thread, fails: true }
            } else if frame.todo != 0 {
                let thread = frame.todo.trailing_zeros() as u8;
                frame.todo &= frame.todo - 1;
                if frame.state.has_choice(self.plan, usize::from(thread))? {
                    frame.second = Some(thread);
                }
                Choice { thread, fails: false }
            } else if self.depth == 0 {
                self.leave();
                return Ok(());
            } else {
                self.leave();
                continue;
            };
            self.descend(choice)?;
        }
    }

    /// Takes a step and enters the next state.
    fn descend(&mut self, choice: Choice) -> Result<(), CheckError> {
        if self.frames.len() == self.depth + 1 {
            let frame = &self.frames[self.depth];
            let (state, footprints) = (frame.state.clone(), frame.footprints.clone());
            self.frames.push(Frame {
                state,
                footprints,
                todo: 0,
                sleep: 0,
                second: None,
                key: 0,
                passes: false,
                pending: Vec::new(),
            });
        }
        let t = usize::from(choice.thread);
        let (above, below) = self.frames.split_at_mut(self.depth + 1);
        let (from, to) = (&mut above[self.depth], &mut below[0]);
        to.state.clone_from(&from.state);
        to.pending.clear();
        to.state.step(self.plan, t, choice.fails, &mut to.pending)?;
        let taken = from.footprints[t];
        to.sleep = 0;
        for u in bits(from.sleep) {
            if !taken.depends(&from.footprints[u]) {
                to.sleep |= 1 << u;
            }
        }
        // If the step has a second choice, it is finished only after that choice.
        if from.second.is_none() {
            from.sleep |= 1 << t;
        }
        self.found.effort.steps += 1;
        self.path.push(choice);
        self.depth += 1;
        if !self.filtered() {
            self.report_pending();
        }
        self.enter()
    }

    fn report_pending(&mut self) {
        let frame = &mut self.frames[self.depth];
        for conflict in frame.pending.drain(..) {
            let (a, b) = (conflict.first.1.access, conflict.second.access);
            let pair = (a.min(b), a.max(b));
            if conflict.ordered {
                self.found.ordered.entry(pair).or_insert(conflict.kind);
            } else {
                let path = &self.path;
                self.found.races.entry(pair).or_insert_with(|| (conflict.kind, path.clone()));
            }
        }
    }

    /// Enters the state on top of the stack: decides which threads to try from it. Records the
    /// results of a final state.
    fn enter(&mut self) -> Result<(), CheckError> {
        self.found.effort.states += 1;
        if self.found.effort.states.is_multiple_of(4096) && !(self.keep_going)() {
            self.found.incomplete = Some(Incomplete::Stopped);
        }
        if self.found.effort.states > self.plan.options.states_max {
            self.found.incomplete = Some(Incomplete::States(self.plan.options.states_max));
        }
        let filtered = self.filtered();
        let frame = &mut self.frames[self.depth];
        (frame.todo, frame.second, frame.passes) = (0, None, false);
        if filtered {
            frame.sleep = 0;
        }
        if let Some(cut) = frame.state.threads.iter().find(|t| t.phase == Phase::Cut) {
            self.found.incomplete.get_or_insert(match cut.log.len() {
                ACCESSES_MAX.. => Incomplete::Accesses(ACCESSES_MAX),
                _ => Incomplete::Unroll(self.plan.options.unroll),
            });
        }
        if frame.state.is_final() {
            self.record_final();
            return Ok(());
        }
        frame.key = self.keys.of(self.plan, &frame.state);
        let before = self.remembered.get(&frame.key).copied();
        if let Some(before) = before.filter(|before| before.sleep & !frame.sleep == 0) {
            self.found.effort.revisits += 1;
            frame.passes = before.passes;
            return Ok(());
        }
        let (persistent, any) = find_persistent(self.plan, frame)?;
        if !any {
            let cut = frame.state.threads.iter().any(|t| t.phase == Phase::Cut);
            if !cut && self.found.blocked.is_none() {
                self.found.blocked = Some(self.path.clone());
            }
            return Ok(());
        }
        frame.todo = persistent & !frame.sleep;
        if let Some(before) = before {
            frame.todo &= before.sleep;
            frame.sleep &= before.sleep;
        }
        let entry = Remembered { sleep: frame.sleep, passes: false };
        if before.is_some() || self.remembered.len() < self.plan.options.remembered_max {
            self.remembered.insert(frame.key, entry);
        }
        Ok(())
    }

    fn record_final(&mut self) {
        let plan = self.plan;
        let frame = &mut self.frames[self.depth];
        let state = &frame.state;
        let mut value = |term| term_value(plan, state, term);
        frame.passes = plan.program.filter.as_ref().is_none_or(|filter| filter.holds(&mut value));
        if frame.passes {
            let values: Vec<Value> = plan.terms.iter().map(|&term| value(term)).collect();
            self.found.finals.insert(values);
        }
    }

    /// Leaves the state on top of the stack (the old state), and returns to the state before it. If
    /// the test has a filter, and some execution that continues from the old state passes the
    /// filter, reports the conflicts that were recorded for the old state.
    fn leave(&mut self) {
        let frame = &self.frames[self.depth];
        let passes = frame.passes;
        if self.filtered() {
            if passes {
                if let Some(entry) = self.remembered.get_mut(&frame.key) {
                    entry.passes = true;
                }
                self.report_pending();
            } else {
                self.frames[self.depth].pending.clear();
            }
        }
        if self.depth > 0 {
            self.depth -= 1;
            self.path.pop();
            self.frames[self.depth].passes |= passes;
        }
    }
}

fn bits(set: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |&i| set >> i & 1 == 1)
}

/// Finds a smallest set of threads whose next steps commute with all future steps of the other
/// threads. Returns the enabled threads of this set, and whether any thread is enabled. Also
/// computes the footprint (the used resources) of each thread's next step.
fn find_persistent(plan: &Plan<'_>, frame: &mut Frame) -> Result<(u64, bool), CheckError> {
    let state = &frame.state;
    let threads = state.threads.len();
    frame.footprints.clear();
    frame.footprints.resize(threads, Footprint::default());
    let (mut live, mut enabled) = (0u64, 0u64);
    for t in (0..threads).filter(|&t| state.is_live(t)) {
        live |= 1 << t;
        frame.footprints[t] = state.next_footprint(plan, t)?;
        if state.is_enabled(plan, t)? {
            enabled |= 1 << t;
        }
    }
    let mut best = enabled;
    for t in bits(enabled) {
        let mut set = 1u64 << t;
        let mut open = set;
        while open != 0 {
            let member = open.trailing_zeros() as usize;
            open &= open - 1;
            for u in bits(live & !set) {
                let future = &plan.threads[u].future[usize::from(state.threads[u].pc)];
                if frame.footprints[member].depends(future) {
                    set |= 1 << u;
                    open |= 1 << u;
                }
            }
        }
        if (set & enabled).count_ones() < best.count_ones() {
            best = set & enabled;
        }
        if best.count_ones() == 1 {
            break;
        }
    }
    Ok((best, enabled != 0))
}
