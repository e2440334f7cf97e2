//! Tables as data: states, events and rows.
//!
//! A controller first evaluates all guards (conditions) to turn its input into an event. Then it
//! looks up one row and performs the row's actions. A row is a value, so the same table is
//! executed, printed, counted and changed by seeded faults.

use crate::symbols::Symbol;

/// The actions and the next state for one state and one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row<S: 'static, A: 'static> {
    /// Perform the actions in order, then go to the next state.
    Do {
        /// The actions of the row, in order.
        actions: &'static [A],
        /// The next state of the line, or `None` to keep the state.
        next: Option<S>,
        /// The treatment of the input after the actions: for example, the input is complete, or it
        /// waits and is presented again.
        after: After,
    },
    /// No effect: the input is parked (waits), and is presented again when the line changes.
    Stall,
    /// The pair of state and event cannot happen, for this reason.
    Impossible(&'static str),
}

/// The treatment of an input after the actions of its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// The input is complete.
    Done,
    /// The request waits. The fill of the request's line will answer it.
    Wait,
    /// The input is parked (waits), and is presented again when the line changes.
    Retry,
    /// The request goes on with the next step of its plan (the sequence of steps that performs it).
    Next,
}

impl<S: Copy, A> Row<S, A> {
    /// A copy of this row in which the request, after the actions, waits for the fill of its line.
    #[must_use]
    pub const fn wait(self) -> Self {
        self.with(After::Wait)
    }

    /// A copy of this row in which the input is presented again, after the actions, when the line
    /// changes.
    #[must_use]
    pub const fn retry(self) -> Self {
        self.with(After::Retry)
    }

    /// A copy of this row in which the request, after the actions, goes on with the next step of
    /// its plan (the sequence of steps that performs it).
    #[must_use]
    pub const fn next(self) -> Self {
        self.with(After::Next)
    }

    const fn with(self, after: After) -> Self {
        match self {
            Row::Do { actions, next, .. } => Row::Do { actions, next, after },
            Row::Stall => Row::Stall,
            Row::Impossible(why) => Row::Impossible(why),
        }
    }
}

/// A row that performs `actions` and changes the state to `next`.
#[must_use]
pub const fn go<S, A>(next: S, actions: &'static [A]) -> Row<S, A> {
    Row::Do { actions, next: Some(next), after: After::Done }
}

/// A row that performs `actions` and keeps the state.
#[must_use]
pub const fn stay<S, A>(actions: &'static [A]) -> Row<S, A> {
    Row::Do { actions, next: None, after: After::Done }
}

/// A row that stalls: it has no effect, and the input is presented again later.
#[must_use]
pub const fn stall<S, A>() -> Row<S, A> {
    Row::Stall
}

/// A row for a pair of state and event that cannot happen, with the reason.
#[must_use]
pub const fn impossible<S, A>(why: &'static str) -> Row<S, A> {
    Row::Impossible(why)
}

/// The identity of a table within its protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableId(pub u8);

/// The identity of a row, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId {
    /// The table that contains the row.
    pub table: TableId,
    /// The index of the row in its table.
    pub row: u16,
}

/// The table of one kind of controller, with a row for every pair of state and event.
pub trait Table: 'static {
    /// The type of the states of a line.
    type State: Symbol;
    /// The type of the events of a line.
    type Event: Symbol;
    /// The type of the actions that rows list.
    type Action: Symbol;
    /// The identity of the table, unique in every protocol that uses the table.
    const ID: TableId;
    /// The name of the table on the protocol's page.
    const NAME: &'static str;
    /// The states in which the cache owns the line. The dirty bytes of such a line stay in the
    /// cache under any write policy.
    const OWNERS: &'static [Self::State] = &[];
    /// The states that no line in the cache has. A controller uses such a state only to look up a row
    /// (example: the state of a line whose requested bytes are not valid), or not at all, because the
    /// table shares its states with another table.
    const NEVER_STORED: &'static [Self::State] = &[];
    /// The row for a state and an event. The compiler proves that every such pair has a row.
    fn row(state: Self::State, event: Self::Event) -> Row<Self::State, Self::Action>;
}

/// Implements [`Table::row`] by a list of all rows, which the compiler computes from a
/// `const fn(State, Event) -> Row<State, Action>`. To read a list is faster than to evaluate a
/// `match`, whose jumps a processor seldom predicts.
///
/// ```
/// use proto::{Row, Table, TableId, go, impossible, stay};
///
/// proto::symbols! {
///     /// The states of a line.
///     pub enum State {
///         /// Not present.
///         I,
///         /// Valid.
///         V,
///     }
///     /// The events of a line.
///     pub enum Event {
///         /// A fill arrives.
///         Fill,
///         /// The line is evicted.
///         Evict,
///     }
///     /// The actions of rows.
///     pub enum Action {
///         /// Keep the bytes of the fill.
///         Keep,
///     }
/// }
///
/// struct Lines;
///
/// impl Table for Lines {
///     type State = State;
///     type Event = Event;
///     type Action = Action;
///     const ID: TableId = TableId(0);
///     const NAME: &'static str = "A line";
///     proto::listed_rows! { Lines::rule: (State, Event) -> Action }
/// }
///
/// impl Lines {
///     const fn rule(state: State, event: Event) -> Row<State, Action> {
///         match (state, event) {
///             (State::I, Event::Fill) => go(State::V, &[Action::Keep]),
///             (State::V, Event::Fill) => stay(&[]),
///             (State::V, Event::Evict) => go(State::I, &[]),
///             (State::I, Event::Evict) => impossible("there is no line"),
///         }
///     }
/// }
///
/// assert_eq!(Lines::row(State::V, Event::Evict), go(State::I, &[]));
/// ```
#[macro_export]
macro_rules! listed_rows {
    ($rule:path: ($state:ty, $event:ty) -> $action:ty) => {
        #[inline]
        fn row(state: $state, event: $event) -> $crate::Row<$state, $action> {
            const STATES: &[$state] = <$state as $crate::Symbol>::ALL;
            const EVENTS: &[$event] = <$event as $crate::Symbol>::ALL;
            static ROWS: [$crate::Row<$state, $action>; STATES.len() * EVENTS.len()] = {
                let mut rows = [$crate::stall(); STATES.len() * EVENTS.len()];
                let mut at = 0;
                while at < rows.len() {
                    rows[at] = $rule(STATES[at / EVENTS.len()], EVENTS[at % EVENTS.len()]);
                    at += 1;
                }
                rows
            };
            ROWS[$crate::Symbol::index(state) * EVENTS.len() + $crate::Symbol::index(event)]
        }
    };
}

/// The number of uses of each row of a protocol's tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    counts: Vec<Vec<u64>>,
}

impl Coverage {
    /// Counts one use of a row.
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

    /// The number of times that a row was used.
    #[must_use]
    pub fn count(&self, table: TableId, row: usize) -> u64 {
        self.counts.get(usize::from(table.0)).and_then(|t| t.get(row)).copied().unwrap_or(0)
    }

    /// The rows that were used at least once, ordered by table and row.
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

/// A table in which states, events and actions are names instead of Rust types. Protocol pages,
/// coverage and mutants (protocols with a seeded fault) use it.
#[derive(Clone, Debug)]
pub struct TableView {
    /// The identity of the table.
    pub id: TableId,
    /// The name of the table.
    pub name: &'static str,
    /// The name and the description of each state.
    pub states: Vec<(&'static str, &'static str)>,
    /// The indices of the states that no line in the cache ever has.
    pub never_stored: Vec<usize>,
    /// The name and the description of each event.
    pub events: Vec<(&'static str, &'static str)>,
    /// The name and the description of each action.
    pub actions: Vec<(&'static str, &'static str)>,
    /// The rows of the table: all rows of the first state in the order of the events, then the rows
    /// of the next state, and so on.
    pub rows: Vec<RowView>,
}

/// A row in which states and actions are names or indices instead of Rust types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowView {
    /// The names of the actions, the index of the next state (`None` to keep the state), and the
    /// treatment of the input after the actions.
    Do(Vec<&'static str>, Option<usize>, After),
    /// The row stalls: the input waits and is presented again.
    Stall,
    /// The pair of state and event cannot happen, for this reason.
    Impossible(&'static str),
}

pub(crate) fn described<T: Symbol>() -> Vec<(&'static str, &'static str)> {
    T::ALL.iter().map(|s| (s.name(), s.doc())).collect()
}

impl TableView {
    /// The table `T` as a [`TableView`], with names instead of Rust types.
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
