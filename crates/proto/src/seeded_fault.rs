//! Seeded faults: changes of tables and of plans (the sequences of steps that perform operations).

use crate::plan::{PlanKey, Plans};
use crate::symbols::Symbol;
use crate::table::{Row, Table, TableId};

/// A seeded fault: one change of a table or of plans (the sequences of steps that perform
/// operations).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SeededFault {
    /// The identity of the changed table, or of the changed plans (sequences of steps).
    pub table: TableId,
    /// The change that the fault makes to the table, or to the plans (sequences of steps).
    pub change: Change,
}

/// A change that a seeded fault makes to a table or to plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// Leave out one action of one row (the entry for one state and one event) of the table.
    DropAction {
        /// The number of the row: state index times number of events plus event index.
        row: u16,
        /// The index, in the row, of the action that is left out.
        action: u8,
    },
    /// Let one row of the table change the state of the line to a wrong state.
    NextState {
        /// The number of the row: state index times number of events plus event index.
        row: u16,
        /// The index of the wrong state.
        state: u8,
    },
    /// Replace a row that stalls by a row that does not stall: the row of the same event in another
    /// state.
    NoStall {
        /// The number of the row that stalls: state index times number of events plus event index.
        row: u16,
        /// The index of the state whose row replaces the stalling row.
        state: u8,
    },
    /// Leave one step out of every plan (the sequence of steps that performs an operation).
    DropStep {
        /// The index, in the enumeration of all steps, of the step that is left out.
        step: u8,
    },
    /// Leave one step out of the plan (the sequence of steps) of this key (operation, order, scope
    /// level and hints). The plans of other keys change in the same way if they are equal to this
    /// plan and their keys have the same kind of operation, such as a load.
    DropStepOf {
        /// The key (operation, order, scope level and hints) of the plan that changes.
        plan: PlanKey,
        /// The position, in the plan, of the step that is left out.
        at: u8,
    },
    /// Exchange two neighbouring steps in the plan (the sequence of steps) of this key (operation,
    /// order, scope level and hints). The plans of other keys change in the same way if they are
    /// equal to this plan and their keys have the same kind of operation, such as a load.
    StepEarly {
        /// The key (operation, order, scope level and hints) of the plan that changes.
        plan: PlanKey,
        /// The position, in the plan, of the first of the two exchanged steps.
        at: u8,
    },
    /// Replace the plan (the sequence of steps) of one key by the plan of another key, with a
    /// narrower scope or a weaker order. The plans of other keys are replaced in the same way if
    /// they are equal to the replaced plan and their keys have the same kind of operation, such as
    /// a load.
    PlanAs {
        /// The key (operation, order, scope level and hints) of the replaced plan.
        plan: PlanKey,
        /// The key (operation, order, scope level and hints) of the plan that takes the place of
        /// the replaced plan.
        other: PlanKey,
    },
    /// Drop the first written byte from each message and each memory operation that a row of the
    /// table sends.
    ForgetByte {
        /// The number of the row: state index times number of events plus event index.
        row: u16,
    },
}

impl Change {
    /// The step at index `stage` of the plan (the sequence of steps) that `key` selects, with this
    /// change if the change applies to that plan. `None` if the plan has no step at this index.
    pub(crate) fn step<T: Plans>(self, key: PlanKey, stage: usize) -> Option<T::Step> {
        let plan = T::plan(key);
        let is_changed = |other: PlanKey| other.op == key.op && T::plan(other) == plan;
        match self {
            Change::DropStep { step } => {
                plan.iter().filter(|s| s.index() != usize::from(step)).nth(stage).copied()
            }
            Change::DropStepOf { plan: other, at } if is_changed(other) => {
                plan.get(stage + usize::from(stage >= usize::from(at))).copied()
            }
            Change::StepEarly { plan: other, at } if is_changed(other) => {
                let at = usize::from(at);
                let place = if stage == at || stage == at + 1 { 2 * at + 1 - stage } else { stage };
                plan.get(place).copied()
            }
            Change::PlanAs { plan: from, other } if is_changed(from) => T::plan(other).get(stage).copied(),
            _ => plan.get(stage).copied(),
        }
    }

    /// The result of the lookup of a row, with this change. `looked` is the result without the
    /// change, and `index` is the number of the row. If the change is for another row, the result
    /// is `looked`.
    pub(crate) fn row<T: Table>(
        self,
        looked: RowLookup<T::State, T::Action>,
        index: usize,
    ) -> RowLookup<T::State, T::Action> {
        match (self, looked.row) {
            (Change::DropAction { row, action }, _) if usize::from(row) == index => {
                RowLookup { skip: Some(action), ..looked }
            }
            (Change::NextState { row, state }, Row::Do { actions, after, .. })
                if usize::from(row) == index =>
            {
                let next = T::State::ALL.get(usize::from(state)).copied();
                RowLookup { row: Row::Do { actions, next, after }, ..looked }
            }
            (Change::NoStall { row, state }, Row::Stall) if usize::from(row) == index => {
                let event = T::Event::ALL[index % T::Event::ALL.len()];
                RowLookup { row: T::row(T::State::ALL[usize::from(state)], event), ..looked }
            }
            (Change::ForgetByte { row }, _) if usize::from(row) == index => {
                RowLookup { forgets: true, ..looked }
            }
            _ => looked,
        }
    }
}

/// The result of the lookup of a row, with the seeded fault of that row, if any.
#[derive(Clone, Copy, Debug)]
pub struct RowLookup<S: 'static, A: 'static> {
    /// The row of the table for the given state and event.
    pub row: Row<S, A>,
    /// The index of the action that a seeded fault leaves out, if any.
    pub skip: Option<u8>,
    /// Whether a seeded fault drops a byte from the messages and writes of the row.
    pub forgets: bool,
}
