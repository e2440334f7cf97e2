//! Gives advice on scopes. For a program with a race: the smallest changes of scopes that make it
//! race-free. For a race-free program: the scopes that can be narrower.
//!
//! Scopes decide which executions race, but not which executions exist. So the advisor first tries
//! a change on the executions in which earlier changes had a race. This costs little. If no race
//! occurs in these executions, the advisor tests the change by a full search.

use core::fmt;

use super::explain::Race;
use super::plan::Plan;
use super::scoping::is_narrower;
use super::search;
use super::state::Choice;
use super::trace::{self, scope_name};
use super::verdict::check_until;
use super::{CheckError, InstrPlace, Model, Options};
use crate::program::{Level, Program, ScopeId, ThreadId};

/// A change of the scope of one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Change {
    /// The instruction whose scope changes.
    pub place: InstrPlace,
    /// The scope of the instruction in the program.
    pub from: ScopeId,
    /// The scope that the change gives the instruction.
    pub to: ScopeId,
}

/// A set of changes to apply together.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChangeSet {
    /// The changes, at most one for each instruction.
    pub changes: Vec<Change>,
}

impl ChangeSet {
    /// Returns a copy of the program with the changes applied.
    #[must_use]
    pub fn apply(&self, program: &Program) -> Program {
        let mut changed = program.clone();
        for change in &self.changes {
            let thread = &mut changed.threads[usize::from(change.place.thread.0)];
            thread.code[usize::from(change.place.pc)].set_scope(change.to);
        }
        changed
    }

    /// Describes the changes in words, one line for each change.
    #[must_use]
    pub fn describe(&self, program: &Program) -> String {
        let lines = self.changes.iter().map(|change| {
            let (from, to) = (scope_name(program, change.from), scope_name(program, change.to));
            format!("{}: {from} -> {to}\n", change.place)
        });
        lines.collect()
    }

    /// The total number of threads in the scopes that the changes give the instructions. A smaller
    /// number means narrower scopes, which are cheaper.
    fn width(&self, program: &Program) -> u32 {
        self.changes.iter().map(|change| program.scopes.get(change.to).members.count()).sum()
    }
}

/// Advice on the scopes of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advice {
    /// The program races even if all scopes are treated as one. The program needs more
    /// synchronization; a change of scopes is not sufficient.
    NeedsSynchronization {
        /// A race that occurs even if all scopes are treated as one.
        race: Box<Race>,
    },
    /// The program races, and a change of its scopes may prevent the races.
    Widen {
        /// The smallest sets of changes that make the program race-free. The sets with the
        /// narrowest scopes come first. For each set, the search has proved that the changed
        /// program is race-free.
        sets: Vec<ChangeSet>,
        /// Whether the search tried every smaller set of changes, and every set with the same
        /// number of changes as the sets in `sets`.
        complete: bool,
    },
    /// The program is race-free. Some of its scopes may be wider than necessary.
    Shrink {
        /// Sets of changes to narrower scopes. For each set, the search has proved that the program
        /// stays race-free if only the changes of this set are made. If the changes of two sets are
        /// made together, the program may race. No set contains another set.
        sets: Vec<ChangeSet>,
        /// A set of changes to narrower scopes that can all be made at the same time. The search
        /// has proved that the program with these changes is race-free. The search has found no
        /// further change that narrows one scope, two scopes, or the scopes of a group (several
        /// instructions with the same scope).
        together: ChangeSet,
        /// Whether the search tried to narrow every single scope, every pair of scopes, and the
        /// scopes of every group (several instructions with the same scope).
        complete: bool,
    },
}

/// The maximum number of candidates that the advisor tries. A candidate is the program with one set
/// of changes applied.
const CANDIDATES_MAX: u64 = 200_000;
/// The maximum number of sets of changes that are reported.
const SETS_MAX: usize = 16;

/// Gives advice on the scopes of the program under the model that `options` selects.
///
/// # Errors
/// The errors of [`super::check`].
pub fn advise(program: &Program, options: &Options) -> Result<Advice, CheckError> {
    advise_until(program, options, &mut || true)
}

/// Gives advice like [`advise`], but stops with the results so far when `keep_going` returns false.
///
/// # Errors
/// The errors of [`super::check`].
pub fn advise_until(
    program: &Program,
    options: &Options,
    keep_going: &mut dyn FnMut() -> bool,
) -> Result<Advice, CheckError> {
    let options = Options { first_race_only: true, ..*options };
    let mut advisor = Advisor {
        program,
        options,
        witnesses: Vec::new(),
        candidates: 0,
        complete: true,
        sites: sites(program),
        keep_going,
    };
    if advisor.proves(program)? {
        return advisor.shrink();
    }
    if advisor.witnesses.is_empty() {
        // The search found no race, but it was incomplete.
        let together = ChangeSet::default();
        return Ok(Advice::Shrink { sets: Vec::new(), together, complete: false });
    }
    let mut drf = options;
    drf.reading.model = Model::Drf;
    let mut verdict = check_until(program, &drf, advisor.keep_going)?;
    if let Some(race) = verdict.races.pop() {
        return Ok(Advice::NeedsSynchronization { race: Box::new(race) });
    }
    advisor.widen()
}

/// An instruction that has a scope, with this scope.
#[derive(Clone, Copy, Debug)]
struct Site {
    place: InstrPlace,
    scope: ScopeId,
}

fn sites(program: &Program) -> Vec<Site> {
    let mut sites = Vec::new();
    for (t, thread) in program.threads.iter().enumerate() {
        for (pc, instr) in thread.code.iter().enumerate() {
            if let Some(scope) = instr.scope() {
                sites.push(Site { place: InstrPlace::new(program, ThreadId(t as u8), pc), scope });
            }
        }
    }
    sites
}

struct Advisor<'a, 's> {
    program: &'a Program,
    options: Options,
    /// Executions in which an earlier candidate had a race. A candidate is the program with one set
    /// of changes applied.
    witnesses: Vec<Vec<Choice>>,
    candidates: u64,
    complete: bool,
    sites: Vec<Site>,
    keep_going: &'s mut dyn FnMut() -> bool,
}

impl Advisor<'_, '_> {
    /// Whether the search proves that the candidate (the program with one set of changes applied)
    /// is race-free.
    fn proves(&mut self, candidate: &Program) -> Result<bool, CheckError> {
        let plan = Plan::new(candidate, self.options)?;
        for i in (0..self.witnesses.len()).rev() {
            if trace::has_race(&plan, &self.witnesses[i])? {
                // This execution moves to the end, where it is tried first: it is likely to refute
                // the next candidate too.
                let witness = self.witnesses.remove(i);
                self.witnesses.push(witness);
                return Ok(false);
            }
        }
        let (found, _) = search::search(candidate, self.options, self.keep_going)?;
        if let Some((_, path)) = found.races.into_values().next() {
            let path = trace::causes(&plan, &path)?;
            self.witnesses.push(path);
            return Ok(false);
        }
        if found.incomplete.is_some() {
            self.complete = false;
        }
        Ok(found.incomplete.is_none())
    }

    fn try_set(&mut self, set: &ChangeSet) -> Result<bool, CheckError> {
        self.candidates += 1;
        if self.candidates > CANDIDATES_MAX || !(self.keep_going)() {
            self.complete = false;
            return Ok(false);
        }
        self.proves(&set.apply(self.program))
    }

    fn gives_up(&self) -> bool {
        self.candidates > CANDIDATES_MAX || !self.complete
    }

    /// The scopes that a repair (a set of changes that removes the races) may give to the site (an
    /// instruction with a scope). Of several scopes with the same threads, the result has the
    /// scopes that the program uses. If the program uses none of them, the result has only one of
    /// them: a repair that uses two different scopes with the same threads synchronizes less than a
    /// repair that uses only one of them.
    fn repairs(&self, site: Site) -> Vec<ScopeId> {
        let scopes = &self.program.scopes;
        let used = |id: ScopeId| self.sites.iter().any(|s| s.scope == id);
        let all = scopes.of_thread(site.place.thread);
        let mut repairs: Vec<ScopeId> = Vec::new();
        for &id in &all {
            let members = scopes.get(id).members;
            let double = |other: &ScopeId| scopes.get(*other).members == members;
            let better = all.iter().any(|other| double(other) && used(*other)) || repairs.iter().any(double);
            if id != site.scope && members.count() > 1 && (used(id) || !better) {
                repairs.push(id);
            }
        }
        repairs
    }

    fn widen(mut self) -> Result<Advice, CheckError> {
        let choices: Vec<Vec<ScopeId>> = self.sites.iter().map(|&site| self.repairs(site)).collect();
        let mut sets = Vec::new();
        for size in 1..=self.sites.len() {
            self.try_all(size, &choices, &mut sets)?;
            if !sets.is_empty() || self.gives_up() {
                break;
            }
        }
        sets.sort_by_cached_key(|set: &ChangeSet| (set.width(self.program), set.clone()));
        sets.truncate(SETS_MAX);
        Ok(Advice::Widen { sets, complete: self.complete })
    }

    /// Tries every set of `size` changes. Adds a set to `kept` if the search proves that the
    /// program with these changes is race-free, and if the set contains no set that is already in
    /// `kept`.
    fn try_all(
        &mut self,
        size: usize,
        choices: &[Vec<ScopeId>],
        kept: &mut Vec<ChangeSet>,
    ) -> Result<(), CheckError> {
        let mut open: Vec<(usize, ChangeSet)> = vec![(0, ChangeSet::default())];
        let before = kept.len();
        while let Some((next, set)) = open.pop() {
            if self.gives_up() {
                return Ok(());
            }
            let missing = size - set.changes.len();
            if missing == 0 {
                let contained =
                    kept[..before].iter().any(|k| k.changes.iter().all(|c| set.changes.contains(c)));
                if !contained && self.try_set(&set)? {
                    kept.push(set);
                }
                continue;
            }
            let last = (self.sites.len() + 1).saturating_sub(missing);
            for (at, choices) in choices.iter().enumerate().take(last).skip(next) {
                let Site { place, scope } = self.sites[at];
                for &to in choices {
                    let mut larger = set.clone();
                    larger.changes.push(Change { place, from: scope, to });
                    open.push((at + 1, larger));
                }
            }
        }
        Ok(())
    }

    fn shrink(mut self) -> Result<Advice, CheckError> {
        let sets = self.shrinking_sets()?;
        let complete = self.complete;
        let mut together = ChangeSet::default();
        let original = self.program;
        let mut smaller = original.clone();
        let mut open = sets.clone();
        // Each round narrows further scopes of a program that is proved race-free. In the last
        // round no set of changes is possible.
        while !open.is_empty() {
            for set in &open {
                let candidate = set.apply(&smaller);
                let fits = set.changes.iter().all(|c| {
                    let code = &smaller.threads[usize::from(c.place.thread.0)].code;
                    code[usize::from(c.place.pc)].scope() == Some(c.from)
                });
                if fits && self.proves(&candidate)? {
                    smaller = candidate;
                }
            }
            let mut next = Advisor {
                program: &smaller,
                options: self.options,
                witnesses: core::mem::take(&mut self.witnesses),
                candidates: self.candidates,
                complete: self.complete,
                sites: sites(&smaller),
                keep_going: &mut *self.keep_going,
            };
            open = next.shrinking_sets()?;
            (self.witnesses, self.candidates) = (next.witnesses, next.candidates);
            self.complete = next.complete;
        }
        for (before, after) in sites(original).iter().zip(sites(&smaller)) {
            if before.scope != after.scope {
                let change = Change { place: before.place, from: before.scope, to: after.scope };
                together.changes.push(change);
            }
        }
        let complete = complete && self.complete;
        let mut sets = sets;
        sets.truncate(SETS_MAX);
        Ok(Advice::Shrink { sets, together, complete })
    }

    /// The sets of changes to narrower scopes for which the search proves that the program stays
    /// race-free. A set changes a single site (an instruction with a scope), a pair of sites, or a
    /// group of sites with the same scope.
    fn shrinking_sets(&mut self) -> Result<Vec<ChangeSet>, CheckError> {
        let choices: Vec<Vec<ScopeId>> = self
            .sites
            .iter()
            .map(|site| {
                let all = self.program.scopes.of_thread(site.place.thread);
                all.into_iter().filter(|&to| is_narrower(self.program, to, site.scope)).collect()
            })
            .collect();
        let mut sets = Vec::new();
        for size in 1..=2.min(self.sites.len()) {
            self.try_all(size, &choices, &mut sets)?;
        }
        for group in self.groups() {
            let contained = sets.iter().any(|set| set.changes.iter().all(|c| group.changes.contains(c)));
            if !contained && !self.gives_up() && self.try_set(&group)? {
                sets.push(group);
            }
        }
        Ok(sets)
    }

    /// The sets of changes that narrow the scopes of a group of sites (instructions with a scope)
    /// together. The sites of a group have the same scope, and in some groups also the same
    /// location. A set of changes narrows all scopes of the group to instances of one level, or to
    /// one named scope.
    fn groups(&self) -> Vec<ChangeSet> {
        let mut groups: Vec<ChangeSet> = Vec::new();
        let location = |site: &Site| {
            let code = &self.program.threads[usize::from(site.place.thread.0)].code;
            code[usize::from(site.place.pc)].access().and_then(|access| access.address.as_location())
        };
        for seed in &self.sites {
            for same_location in [true, false] {
                let members: Vec<&Site> = self
                    .sites
                    .iter()
                    .filter(|s| s.scope == seed.scope && (!same_location || location(s) == location(seed)))
                    .collect();
                for level in
                    [Level::WorkItem, Level::SubGroup, Level::WorkGroup, Level::Chiplet, Level::Device]
                {
                    groups.extend(
                        self.group(&members, |_, site| {
                            self.program.scopes.enclosing(site.place.thread, level)
                        }),
                    );
                }
                let named = self.program.scopes.iter().filter(|(_, s)| s.level == Level::Named);
                for (id, instance) in named {
                    groups.extend(self.group(&members, |_, site| {
                        instance.members.contains(site.place.thread).then_some(id)
                    }));
                }
            }
        }
        groups.sort();
        groups.dedup();
        groups.sort_by_key(|group| group.changes.len());
        groups
    }

    fn group(&self, members: &[&Site], to: impl Fn(&Self, &Site) -> Option<ScopeId>) -> Option<ChangeSet> {
        let changes = members.iter().map(|site| {
            let to = to(self, site).filter(|&to| is_narrower(self.program, to, site.scope))?;
            Some(Change { place: site.place, from: site.scope, to })
        });
        let changes: Vec<Change> = changes.collect::<Option<_>>()?;
        (changes.len() > 2).then_some(ChangeSet { changes })
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: scope {} -> {}", self.place, self.from.0, self.to.0)
    }
}

impl Advice {
    /// Describes the advice in words.
    #[must_use]
    pub fn describe(&self, program: &Program, options: &Options) -> String {
        let cut = "The search for changes was cut short: there may be others.\n";
        let mut text = String::new();
        match self {
            Advice::NeedsSynchronization { race } => {
                text.push_str(
                    "The program races even if all scopes are treated as one: no change of scope helps.\n",
                );
                let mut reading = options.reading;
                reading.model = Model::Drf;
                text.push_str(&race.describe(program, reading));
            }
            Advice::Widen { sets, complete } => {
                text.push_str("Smallest changes of scope that make the program race-free:\n");
                text.push_str(&list(program, sets));
                text.push_str(if *complete { "" } else { cut });
            }
            Advice::Shrink { sets, together, complete } => {
                if sets.is_empty() {
                    text.push_str("No scope can be smaller.\n");
                } else {
                    text.push_str(
                        "Sets of scopes that can be smaller; each set is possible without the others:\n",
                    );
                    text.push_str(&list(program, sets));
                    text.push_str("All together:\n");
                    text.push_str(&together.describe(program));
                }
                text.push_str(if *complete { "" } else { cut });
            }
        }
        text
    }
}

fn list(program: &Program, sets: &[ChangeSet]) -> String {
    let mut text = String::new();
    for (i, set) in sets.iter().enumerate() {
        text.push_str(&format!("({})\n{}", i + 1, set.describe(program)));
    }
    text
}
