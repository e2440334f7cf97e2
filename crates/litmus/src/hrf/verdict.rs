//! The verdict on a program, in two phases: is it race-free in all
//! sequentially consistent executions, and if so, which outcomes has it?

use core::fmt;
use std::collections::BTreeSet;

use proto::words::counted;

use super::explain::{self, Gap};
use super::plan::{Plan, RaceKind};
use super::search::{self, Effort, Found, Pair};
use super::state::State;
use super::trace::{self, Execution};
use super::{CheckError, Options, Place, Reading};
use crate::program::{LocId, Program, Term, ThreadId, Value};

/// Why a search did not see everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Incomplete {
    /// Some thread took a backward jump as often as it may.
    Unroll(u16),
    /// Some thread made that many accesses, and was going to make more.
    Accesses(usize),
    /// That many states were visited.
    States(u64),
    /// The caller had it stop.
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
            Incomplete::States(bound) => write!(f, "more than {}", counted(*bound, "state")),
            Incomplete::Stopped => f.write_str("it was stopped before the end"),
        }
    }
}

/// Two instructions whose accesses conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Conflicting {
    /// The one of the smaller thread number.
    pub first: Place,
    /// The other.
    pub second: Place,
    /// Why they conflict.
    pub kind: RaceKind,
}

/// A race: two conflicting accesses that nothing orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The pair.
    pub pair: Conflicting,
    /// The word both reach.
    pub location: LocId,
    /// An execution that ends with the race; only what leads to it.
    pub execution: Execution,
    /// The steps of the two accesses in that execution.
    pub steps: (usize, usize),
    /// Why no chain of synchronization leads from one to the other.
    pub gaps: Vec<Gap>,
}

/// What a model says of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The model.
    pub reading: Reading,
    /// The terms whose values make a final state.
    pub terms: Vec<Term>,
    /// The final states of all sequentially consistent executions. If there is
    /// a race, the model allows any other as well.
    pub states: BTreeSet<Vec<Value>>,
    /// Every pair that races in some execution, each once.
    pub races: Vec<Race>,
    /// Every conflicting pair that is ordered by synchronization in some
    /// execution. A race-free program without any tests nothing.
    pub ordered: Vec<Conflicting>,
    /// An execution that cannot end, if there is one.
    pub blocked: Option<Execution>,
    /// Why the verdict is not final, if it is not.
    pub incomplete: Option<Incomplete>,
    /// How much was done.
    pub effort: Effort,
}

impl Verdict {
    /// Was no race found?
    #[must_use]
    pub fn is_race_free(&self) -> bool {
        self.races.is_empty()
    }

    /// Does synchronization order accesses of which one is ordinary data?
    #[must_use]
    pub fn orders_data(&self) -> bool {
        self.ordered.iter().any(|pair| pair.kind == RaceKind::Ordinary)
    }

    /// Has a final state the property that the condition asks about?
    pub(crate) fn satisfies(&self, program: &Program, state: &[Value]) -> bool {
        let mut value = |term| match term {
            Term::Const(value) => value,
            _ => self.terms.iter().position(|&t| t == term).map_or(0, |at| state[at]),
        };
        program.condition.prop.holds(&mut value)
    }

    /// Do the sequentially consistent outcomes meet the condition?
    #[must_use]
    pub fn condition_met(&self, program: &Program) -> bool {
        let holds = |state: &Vec<Value>| self.satisfies(program, state);
        program.condition.verdict(self.states.iter().any(holds), self.states.iter().all(holds))
    }
}

/// The verdict of the model on the program.
///
/// # Errors
/// If the program has what the model does not define, or what has no value.
pub fn check(program: &Program, options: &Options) -> Result<Verdict, CheckError> {
    check_until(program, options, &mut || true)
}

/// The same; stops with what it has when `go_on` says no. It is asked every few
/// thousand states.
///
/// # Errors
/// As [`check`].
pub fn check_until(
    program: &Program,
    options: &Options,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Verdict, CheckError> {
    let (found, accesses) = search::search(program, *options, go_on)?;
    let Found { finals, races, ordered, blocked, incomplete, effort } = found;
    let pair = |(a, b): Pair, kind| {
        let place = |access: u16| {
            let (t, pc) = accesses[usize::from(access)];
            Place::new(program, ThreadId(t), usize::from(pc))
        };
        Conflicting { first: place(a), second: place(b), kind }
    };
    let plan = Plan::new(program, *options)?;
    let races = races.into_iter().map(|(accesses, (kind, path))| {
        let pair = pair(accesses, kind);
        let path = trace::causes(&plan, &path)?;
        let execution = trace::replay(&plan, &path)?;
        Ok(explain::race(program, options.reading, pair, execution))
    });
    Ok(Verdict {
        reading: options.reading,
        terms: plan.terms.clone(),
        states: finals,
        races: races.collect::<Result<Vec<_>, CheckError>>()?,
        ordered: ordered.into_iter().map(|(accesses, kind)| pair(accesses, kind)).collect(),
        blocked: blocked.map(|path| trace::replay(&plan, &path)).transpose()?,
        incomplete,
        effort,
    })
}

/// The value of a term in a state.
pub(crate) fn term_value(plan: &Plan<'_>, state: &State, term: Term) -> Value {
    match term {
        Term::Const(value) => value,
        Term::Loc(loc) => state.memory[super::plan::physical(plan.program, loc)],
        Term::Reg(thread, reg) => {
            let thread = &plan.threads[usize::from(thread.0)];
            state.registers[thread.registers_base + usize::from(reg.0)]
        }
    }
}
