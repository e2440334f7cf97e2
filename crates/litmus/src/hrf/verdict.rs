//! The verdict of an HRF model on a program: whether the program is race-free in all sequentially
//! consistent executions, and the outcomes of the program.

use std::collections::BTreeSet;

use super::explain::{self, Conflicting, Race};
use super::plan::{Plan, RaceKind};
use super::search::{self, Effort, Incomplete, Pair, SearchResult};
use super::trace::{self, Execution};
use super::{CheckError, InstrPlace, Options, Reading};
use crate::program::{Program, Term, ThreadId, Value};

/// The verdict of an HRF model on a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The reading (interpretation) of the model: the model, and a decision for each question that
    /// the paper leaves open.
    pub reading: Reading,
    /// The registers and locations (terms) whose values form a final state.
    pub terms: Vec<Term>,
    /// The final states of all sequentially consistent executions. If there is a race,
    /// the model also allows all other states.
    pub states: BTreeSet<Vec<Value>>,
    /// The pairs of instructions that race in some execution. Each pair occurs once.
    pub races: Vec<Race>,
    /// The pairs of instructions whose accesses conflict and are ordered by synchronization in some
    /// execution. If a race-free program has no such pair, it does not test synchronization.
    pub ordered: Vec<Conflicting>,
    /// An execution that ends with a thread that waits for ever. `None` if there is no such
    /// execution.
    pub blocked: Option<Execution>,
    /// The reason why the search is incomplete. `None` if it is complete.
    pub incomplete: Option<Incomplete>,
    /// The effort of the search.
    pub effort: Effort,
}

impl Verdict {
    /// Whether no race was found.
    #[must_use]
    pub fn is_race_free(&self) -> bool {
        self.races.is_empty()
    }

    /// Whether, in some execution, synchronization orders a conflict that involves an ordinary data
    /// access.
    #[must_use]
    pub fn orders_data(&self) -> bool {
        self.ordered.iter().any(|pair| pair.kind == RaceKind::Ordinary)
    }

    /// Whether a final state has the property of the program's condition.
    pub(crate) fn satisfies(&self, program: &Program, state: &[Value]) -> bool {
        let mut value = |term| match term {
            Term::Const(value) => value,
            _ => self.terms.iter().position(|&t| t == term).map_or(0, |at| state[at]),
        };
        program.condition.prop.holds(&mut value)
    }

    /// Whether the outcomes of the sequentially consistent executions meet the program's condition.
    #[must_use]
    pub fn condition_met(&self, program: &Program) -> bool {
        let holds = |state: &Vec<Value>| self.satisfies(program, state);
        program.condition.verdict(self.states.iter().any(holds), self.states.iter().all(holds))
    }
}

/// Checks the program against the model that `options` selects, and returns the verdict.
///
/// # Errors
/// If the program has a construct that the model does not define, or an expression
/// without a value.
pub fn check(program: &Program, options: &Options) -> Result<Verdict, CheckError> {
    check_until(program, options, &mut || true)
}

/// Checks a program like [`check`], but stops with the results so far if `keep_going` returns
/// false. The search calls `keep_going` every few thousand states.
///
/// # Errors
/// The errors of [`check`].
pub fn check_until(
    program: &Program,
    options: &Options,
    keep_going: &mut dyn FnMut() -> bool,
) -> Result<Verdict, CheckError> {
    let (found, accesses) = search::search(program, *options, keep_going)?;
    let SearchResult { finals, races, ordered, blocked, incomplete, effort } = found;
    let pair = |(a, b): Pair, kind| {
        let place = |access: u16| {
            let (t, pc) = accesses[usize::from(access)];
            InstrPlace::new(program, ThreadId(t), usize::from(pc))
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
