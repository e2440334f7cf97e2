//! The operations of the queue as data: what each step touches, in which
//! order, on whose side, and why.
//!
//! The kernel takes the semantics of every step from this table, so a litmus
//! program made from it is the program that runs.
//!
//! # Why these orders
//!
//! Each queue has a head, a tail, and slots that hold tasks. The owner pushes
//! and pops at the tail; thieves take at the head. A task `i` is in the queue
//! while `head <= i < tail`.
//!
//! * **Who gets the last task** is decided by two accesses on each side: the
//!   owner writes the tail and then reads the head, a thief reads the head and
//!   then the tail, and moves the head. If the owner's read may pass its write,
//!   or a thief's second read its first, both take the same task. Neither
//!   acquire nor release forbids that: the four are sequentially consistent.
//! * **What a task says** is written before the tail that shows it, and read
//!   after the tail that showed it: release and acquire.
//! * **A slot is read after it was won**, not before as in the published code.
//!   A slot below the tail is not written again before the queue is refilled,
//!   so that no plain access of a slot races with another one.
//! * **Nothing is relaxed.** Where nothing else is needed, a load acquires and a
//!   store releases: race-free models (SC for DRF and for HRF, section II of the
//!   paper) have no other atomics, and Table 3 no rows for them.
//! * There is **no fence**. Stand-alone fences act on whole caches in every
//!   model; the sequentially consistent accesses name the one variable that
//!   matters, so that a protocol that tracks variables can see that they stay.
//!
//! The published code has no ordering at all but the atomicity of its
//! compare-exchange: that is the `published` column.

use proto::Order::{Acquire, Plain, Relaxed, Release, SeqCst};
use proto::{Order, Symbol};

proto::symbols! {
    /// What is done with a queue.
    pub enum Operation {
        /// The owner adds a task at the tail.
        Push,
        /// The owner takes a task from the tail.
        Pop,
        /// Somebody else takes a task from the head.
        Steal,
        /// The owner sets the queue up for the next kernel.
        Refill,
    }
}

proto::symbols! {
    /// What a step touches.
    pub enum Variable {
        /// The first task that is left.
        Head,
        /// The task behind the last one.
        Tail,
        /// A task.
        Slot,
    }
}

proto::symbols! {
    /// What a step does to its variable.
    pub enum Access {
        /// Reads it.
        Load,
        /// Writes it.
        Store,
        /// Replaces it if it is as expected.
        CompareExchange,
    }
}

proto::symbols! {
    /// Who takes a step.
    pub enum Side {
        /// The work-group whose queue it is.
        Owner,
        /// Any other.
        Thief,
    }
}

proto::symbols! {
    /// The steps of the operations, in program order.
    pub enum Step {
        /// Push: where the tail is.
        PushTail,
        /// Push: the task.
        PushSlot,
        /// Push: the tail moves up.
        PushPublish,
        /// Pop: where the tail is.
        PopTail,
        /// Pop: the tail moves down.
        PopClaim,
        /// Pop: is anything left?
        PopHead,
        /// Pop: the last task is fought for.
        PopLast,
        /// Pop: the tail moves back, for the queue is empty.
        PopRestore,
        /// Pop: the task.
        PopSlot,
        /// Steal: which task is first.
        StealHead,
        /// Steal: is anything left?
        StealTail,
        /// Steal: the first task is fought for.
        StealTake,
        /// Steal: the task.
        StealSlot,
        /// Refill: nothing is taken yet.
        RefillHead,
        /// Refill: so many tasks.
        RefillTail,
    }
}

/// A step of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Which one.
    pub step: Step,
    /// The operation it belongs to.
    pub operation: Operation,
    /// What it touches.
    pub variable: Variable,
    /// What it does to it.
    pub access: Access,
    /// Who takes it.
    pub side: Side,
    /// Its order.
    pub order: Order,
    /// Its order in the published code.
    pub published: Order,
    /// Why it has its order.
    pub reason: &'static str,
}

const fn row(
    step: Step,
    (operation, side): (Operation, Side),
    (variable, access): (Variable, Access),
    (order, published): (Order, Order),
    reason: &'static str,
) -> Row {
    Row { step, operation, variable, access, side, order, published, reason }
}

const PUSH: (Operation, Side) = (Operation::Push, Side::Owner);
const POP: (Operation, Side) = (Operation::Pop, Side::Owner);
const STEAL: (Operation, Side) = (Operation::Steal, Side::Thief);
const REFILL: (Operation, Side) = (Operation::Refill, Side::Owner);
const LOAD_HEAD: (Variable, Access) = (Variable::Head, Access::Load);
const LOAD_TAIL: (Variable, Access) = (Variable::Tail, Access::Load);
const LOAD_SLOT: (Variable, Access) = (Variable::Slot, Access::Load);
const STORE_HEAD: (Variable, Access) = (Variable::Head, Access::Store);
const STORE_TAIL: (Variable, Access) = (Variable::Tail, Access::Store);
const STORE_SLOT: (Variable, Access) = (Variable::Slot, Access::Store);
const TAKE_HEAD: (Variable, Access) = (Variable::Head, Access::CompareExchange);

/// All steps, in the order of [`Step`].
pub static STEPS: [Row; 15] = [
    row(
        Step::PushTail,
        PUSH,
        LOAD_TAIL,
        (Acquire, Relaxed),
        "only the owner writes the tail: it reads its own last value",
    ),
    row(Step::PushSlot, PUSH, STORE_SLOT, (Plain, Plain), "nobody looks at a slot beyond the tail"),
    row(
        Step::PushPublish,
        PUSH,
        STORE_TAIL,
        (Release, Relaxed),
        "a reader of the tail sees the task; a thief that sees it late finds less, not wrong",
    ),
    row(
        Step::PopTail,
        POP,
        LOAD_TAIL,
        (Acquire, Relaxed),
        "only the owner writes the tail: it reads its own last value",
    ),
    row(
        Step::PopClaim,
        POP,
        STORE_TAIL,
        (SeqCst, Relaxed),
        "stays before the read of the head, or a thief and the owner take the same task",
    ),
    row(
        Step::PopHead,
        POP,
        LOAD_HEAD,
        (SeqCst, Relaxed),
        "stays behind the claim, and sees every thief that saw the tail from before it",
    ),
    row(
        Step::PopLast,
        POP,
        TAKE_HEAD,
        (SeqCst, Relaxed),
        "one of the owner and the thieves gets the last task; in one order with the reads of the head",
    ),
    row(
        Step::PopRestore,
        POP,
        STORE_TAIL,
        (Release, Relaxed),
        "says that the queue is empty, which the head says already",
    ),
    row(Step::PopSlot, POP, LOAD_SLOT, (Plain, Plain), "the owner wrote it, or a kernel before this one"),
    row(
        Step::StealHead,
        STEAL,
        LOAD_HEAD,
        (SeqCst, Relaxed),
        "stays before the read of the tail: a tail older than the head would show a task that is gone",
    ),
    row(
        Step::StealTail,
        STEAL,
        LOAD_TAIL,
        (SeqCst, Relaxed),
        "sees every claim of an owner that read the head from before the theft; acquires the task",
    ),
    row(
        Step::StealTake,
        STEAL,
        TAKE_HEAD,
        (SeqCst, Relaxed),
        "one of the owner and the thieves gets the task; an owner that reads the head later sees it",
    ),
    row(Step::StealSlot, STEAL, LOAD_SLOT, (Plain, Plain), "written before the tail that was acquired"),
    row(
        Step::RefillHead,
        REFILL,
        STORE_HEAD,
        (Release, Relaxed),
        "used by the next kernel only: the end of this one publishes it",
    ),
    row(
        Step::RefillTail,
        REFILL,
        STORE_TAIL,
        (Release, Relaxed),
        "used by the next kernel only: the end of this one publishes it",
    ),
];

impl Step {
    /// What stands in the table about it.
    #[inline]
    #[must_use]
    pub fn row(self) -> &'static Row {
        &STEPS[self as usize]
    }

    /// The steps of an operation, in program order. Which of them are taken
    /// depends on what is read.
    pub fn of(operation: Operation) -> impl Iterator<Item = &'static Row> {
        STEPS.iter().filter(move |row| row.operation == operation)
    }
}

/// The table as Markdown.
#[must_use]
pub fn page() -> String {
    let mut page =
        "| step | touches | by | order | as published | why |\n|---|---|---|---|---|---|\n".to_owned();
    for row in &STEPS {
        let (step, side) = (row.step.name(), row.side.name().to_lowercase());
        let (access, variable) = (row.access.name(), row.variable.name().to_lowercase());
        let (order, published, why) = (row.order.name(), row.published.name(), row.reason);
        page += &format!("| {step} | {access} {variable} | {side} | {order} | {published} | {why} |\n");
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_stands_in_the_table_at_its_place_with_a_reason() {
        assert_eq!(STEPS.len(), Step::ALL.len());
        for (row, step) in STEPS.iter().zip(Step::ALL) {
            assert_eq!((row.step, step.row()), (*step, row));
            assert!(row.reason.len() > 20, "{step:?}");
            // Slots are data, the others are never accessed but atomically.
            assert_eq!(row.variable == Variable::Slot, !row.order.is_atomic(), "{step:?}");
            assert_eq!(row.variable == Variable::Slot, !row.published.is_atomic(), "{step:?}");
        }
        for operation in Operation::ALL {
            assert!(Step::of(*operation).count() >= 2, "{operation:?}");
        }
    }

    #[test]
    fn the_four_accesses_that_decide_the_last_task_are_sequentially_consistent() {
        for step in [Step::PopClaim, Step::PopHead, Step::StealHead, Step::StealTail] {
            assert_eq!(step.row().order, SeqCst, "{step:?}");
            assert_eq!(step.row().published, Relaxed, "{step:?}");
        }
        // All that replace a value are, too: they take part in the same decision.
        assert!(STEPS.iter().filter(|r| r.access == Access::CompareExchange).all(|r| r.order == SeqCst));
    }

    #[test]
    fn the_page_shows_the_table() {
        let shown = include_str!("../../../../docs/work-stealing.md");
        assert!(shown.contains(&page()), "docs/work-stealing.md is to have this table:\n{}", page());
    }

    #[test]
    fn only_the_owner_writes_the_tail() {
        let writes = |r: &&Row| r.variable == Variable::Tail && r.access != Access::Load;
        assert!(STEPS.iter().filter(writes).all(|r| r.side == Side::Owner));
        assert_eq!(STEPS.iter().filter(writes).count(), 4);
    }
}
