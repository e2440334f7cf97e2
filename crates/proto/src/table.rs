//! Tables as data: states, events and rows.
//!
//! A controller classifies its input first (all guards there), looks one row
//! up, and performs the actions that the row names. Because a row is a value,
//! the same table is executed, printed, counted and mutated.

use crate::contract::RowId;
use crate::plan::{PlanKey, Plans};
use crate::symbols::Symbol;

/// What one (state, event) pair does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row<S: 'static, A: 'static> {
    /// Perform the actions in order, then go to the next state.
    Do {
        /// What is done.
        actions: &'static [A],
        /// The state afterwards; `None` stays.
        next: Option<S>,
        /// What becomes of the input.
        after: After,
    },
    /// Not now, and no effect: present the input again when the line changes.
    Stall,
    /// Cannot happen, because ...
    Impossible(&'static str),
}

/// What becomes of an input when its row is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// It is dealt with.
    Done,
    /// It waits for the coming fill, which answers it.
    Wait,
    /// It is presented again when the line changes.
    Retry,
    /// The request goes on with the next step of its plan.
    Next,
}

impl<S, A> Row<S, A> {
    /// The same row, but the input waits for the coming fill.
    #[must_use]
    pub fn wait(self) -> Self {
        self.with(After::Wait)
    }

    /// The same row, but the input is presented again when the line changes.
    #[must_use]
    pub fn retry(self) -> Self {
        self.with(After::Retry)
    }

    /// The same row, but the request goes on with the next step of its plan.
    #[must_use]
    pub fn next(self) -> Self {
        self.with(After::Next)
    }

    fn with(self, after: After) -> Self {
        match self {
            Row::Do { actions, next, .. } => Row::Do { actions, next, after },
            Row::Stall => Row::Stall,
            Row::Impossible(why) => Row::Impossible(why),
        }
    }
}

/// A row that performs `actions` and goes to `next`.
#[must_use]
pub const fn go<S, A>(next: S, actions: &'static [A]) -> Row<S, A> {
    Row::Do { actions, next: Some(next), after: After::Done }
}

/// A row that performs `actions` and stays.
#[must_use]
pub const fn stay<S, A>(actions: &'static [A]) -> Row<S, A> {
    Row::Do { actions, next: None, after: After::Done }
}

/// A row that must wait.
#[must_use]
pub const fn stall<S, A>() -> Row<S, A> {
    Row::Stall
}

/// A row that cannot happen.
#[must_use]
pub const fn impossible<S, A>(why: &'static str) -> Row<S, A> {
    Row::Impossible(why)
}

/// The identity of a table within its protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableId(pub u8);

/// A total table of one kind of controller.
pub trait Table: 'static {
    /// The states of its subject.
    type State: Symbol;
    /// What can happen to it.
    type Event: Symbol;
    /// What can be done.
    type Action: Symbol;
    /// Its identity, unique in every protocol that uses it.
    const ID: TableId;
    /// Its name on the protocol's page.
    const NAME: &'static str;
    /// States in which a line owns its bytes: dirty ones stay there, whatever
    /// the write policy of the machine says.
    const OWNERS: &'static [Self::State] = &[];
    /// States that only the classification of an input makes, and in which no
    /// line is ever stored: bytes that are asked for are missing, for example.
    const NEVER_STORED: &'static [Self::State] = &[];
    /// The row; the compiler proves that there is one for every pair.
    fn row(state: Self::State, event: Self::Event) -> Row<Self::State, Self::Action>;
}

/// One seeded change of a table or plan, for checking the checker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mutation {
    /// Which table or plan.
    pub table: TableId,
    /// What is changed there.
    pub change: Change,
}

/// What a mutation changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// Leave out one action of a row.
    DropAction {
        /// The row: state index times number of events plus event index.
        row: u16,
        /// Which action.
        action: u8,
    },
    /// Go to another state.
    NextState {
        /// The row.
        row: u16,
        /// The index of the wrong state.
        state: u8,
    },
    /// Do not wait where the row says so, but do what the table has for the event
    /// in another state.
    NoStall {
        /// The row.
        row: u16,
        /// The index of the other state.
        state: u8,
    },
    /// Leave every step of that index out of every plan.
    DropStep {
        /// The index of the step.
        step: u8,
    },
    /// Leave one step out of the plans that are the plan of this key.
    DropStepOf {
        /// The operation and all that its plan depends on.
        plan: PlanKey,
        /// Which step.
        at: u8,
    },
    /// Take one step before the one that it follows, in the plans that are the
    /// plan of this key.
    StepEarly {
        /// The operation and all that its plan depends on.
        plan: PlanKey,
        /// The step that comes too late then.
        at: u8,
    },
    /// Follow another plan where the plan of this key is due: that of a narrower
    /// scope, or of a weaker order.
    PlanAs {
        /// The operation and all that its plan depends on.
        plan: PlanKey,
        /// Whose plan is followed.
        other: PlanKey,
    },
    /// What a row sends forgets the first of its bytes.
    ForgetByte {
        /// The row.
        row: u16,
    },
}

impl Change {
    /// The step at a stage, of a plan that may be one that is changed.
    pub(crate) fn step<T: Plans>(self, key: PlanKey, stage: usize) -> Option<T::Step> {
        let plan = T::plan(key);
        let is_it = |other: PlanKey| other.op == key.op && T::plan(other) == plan;
        match self {
            Change::DropStep { step } => {
                plan.iter().filter(|s| s.index() != usize::from(step)).nth(stage).copied()
            }
            Change::DropStepOf { plan: other, at } if is_it(other) => {
                plan.get(stage + usize::from(stage >= usize::from(at))).copied()
            }
            Change::StepEarly { plan: other, at } if is_it(other) => {
                let at = usize::from(at);
                let place = if stage == at || stage == at + 1 { 2 * at + 1 - stage } else { stage };
                plan.get(place).copied()
            }
            Change::PlanAs { plan: from, other } if is_it(from) => T::plan(other).get(stage).copied(),
            _ => plan.get(stage).copied(),
        }
    }
}

/// A row with a mutation applied, if there is one.
#[derive(Clone, Copy, Debug)]
pub struct Looked<S: 'static, A: 'static> {
    /// The row as the table has it.
    pub row: Row<S, A>,
    /// An action that is left out.
    pub skip: Option<u8>,
    /// Does what the row sends forget a byte?
    pub forgets: bool,
}

/// How often each row was used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    counts: Vec<Vec<u64>>,
}

impl Coverage {
    /// Counts one use.
    #[inline]
    pub fn fire(&mut self, table: TableId, row: usize) {
        let table = usize::from(table.0);
        if let Some(count) = self.counts.get_mut(table).and_then(|t| t.get_mut(row)) {
            *count += 1;
            return;
        }
        if self.counts.len() <= table {
            self.counts.resize(table + 1, Vec::new());
        }
        self.counts[table].resize(row + 1, 0);
        self.counts[table][row] += 1;
    }

    /// How often a row was used.
    #[must_use]
    pub fn count(&self, table: TableId, row: usize) -> u64 {
        self.counts.get(usize::from(table.0)).and_then(|t| t.get(row)).copied().unwrap_or(0)
    }

    /// The rows that were used, in order.
    pub fn fired(&self) -> impl Iterator<Item = RowId> {
        let tables = self.counts.iter().enumerate();
        tables.flat_map(|(table, counts)| {
            let used = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            used.map(move |(row, _)| RowId { table: TableId(table as u8), row: row as u16 })
        })
    }

    /// Adds the counts of another run.
    pub fn add(&mut self, other: &Coverage) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), Vec::new());
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            if mine.len() < theirs.len() {
                mine.resize(theirs.len(), 0);
            }
            mine.iter_mut().zip(theirs).for_each(|(a, b)| *a += b);
        }
    }
}

/// A table without its types: what pages, coverage and mutants walk over.
#[derive(Clone, Debug)]
pub struct TableView {
    /// Its identity.
    pub id: TableId,
    /// Its name.
    pub name: &'static str,
    /// State names with their descriptions.
    pub states: Vec<(&'static str, &'static str)>,
    /// The indices of the states that no line is ever stored in.
    pub never_stored: Vec<usize>,
    /// Event names with their descriptions.
    pub events: Vec<(&'static str, &'static str)>,
    /// Action names with their descriptions.
    pub actions: Vec<(&'static str, &'static str)>,
    /// The rows, state by state.
    pub rows: Vec<RowView>,
}

/// A row without its types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowView {
    /// Actions by name, the next state by index, and what becomes of the input.
    Do(Vec<&'static str>, Option<usize>, After),
    /// Must wait.
    Stall,
    /// Cannot happen, because ...
    Impossible(&'static str),
}

pub(crate) fn described<T: Symbol>() -> Vec<(&'static str, &'static str)> {
    T::ALL.iter().map(|s| (s.name(), s.doc())).collect()
}

impl TableView {
    /// The view of a table.
    #[must_use]
    pub fn of<T: Table>() -> Self {
        let view = |row| match row {
            Row::Do { actions, next, after } => {
                let names = actions.iter().map(|a: &T::Action| a.name()).collect();
                RowView::Do(names, next.map(|s: T::State| s.index()), after)
            }
            Row::Stall => RowView::Stall,
            Row::Impossible(why) => RowView::Impossible(why),
        };
        let pairs = T::State::ALL.iter().flat_map(|&s| T::Event::ALL.iter().map(move |&e| (s, e)));
        TableView {
            id: T::ID,
            name: T::NAME,
            states: described::<T::State>(),
            never_stored: T::NEVER_STORED.iter().map(|state| state.index()).collect(),
            events: described::<T::Event>(),
            actions: described::<T::Action>(),
            rows: pairs.map(|(s, e)| view(T::row(s, e))).collect(),
        }
    }
}
