//! The operations on a queue as data. Each step has a variable, a memory order, the side (owner or
//! thief) that makes it, and a reason.
//!
//! The kernel takes the memory order and scope of every step from this table. A litmus test that is
//! generated from the table therefore has the same steps as the program that runs.
//!
//! # Reasons for the orders
//!
//! Each queue has a head, a tail, and slots with tasks. The owner pushes and
//! pops at the tail; thieves take at the head. Task `i` is in the queue while
//! `head <= i < tail`.
//! The owner sets the tail to 0 when it finds the queue empty: the queue is closed. A push opens it
//! again.
//!
//! * **The last task.** The owner and a thief each make two accesses that decide who gets the last
//!   task. The owner writes the tail and then reads the head. A thief reads the head,
//!   reads the tail, and then moves the head. If the owner's read passes its write, or the thief's second
//!   read passes its first, both take the task. Acquire and release do not forbid that, so these
//!   accesses are sequentially consistent.
//! * **The content of a task.** The owner writes it before the tail that publishes it, and a thief
//!   reads it after that tail. The write of the tail is a release, and its read an acquire.
//! * **The read of a slot.** A thread reads a slot after it has won the slot. (The code that
//!   Cederman and Tsigas published reads the slot before.) No slot below the tail is written again
//!   until the owner refills the queue for the next kernel, so no plain access of a slot races with
//!   another one.
//! * **No relaxed accesses.** If a step needs no order, its load acquires or its store releases all
//!   the same. The race-free models of the hLRC paper (SC for DRF and for HRF, section II) have no
//!   relaxed atomics, and Table 3 of that paper has no rows for such atomics.
//! * **No fences.** In every model, a fence acts on whole caches. A sequentially consistent access
//!   names its variable, so a protocol that tracks variables can see that the variable has not
//!   moved to another cache.
//!
//! The published code of Cederman and Tsigas orders accesses only by its atomic compare-exchange.
//! The column `published` shows the orders of that code.

use proto::Order::{Acquire, Plain, Relaxed, Release, SeqCst};
use proto::{Order, Symbol};

proto::symbols! {
    /// An operation on a queue.
    pub enum Operation {
        /// The owner adds a task at the tail.
        Push,
        /// The owner takes a task from the tail.
        Pop,
        /// A thief takes a task from the head.
        Steal,
        /// The owner prepares the queue for the next kernel.
        Refill,
    }
}

proto::symbols! {
    /// The kind of variable that a step accesses.
    pub enum Variable {
        /// The position of the oldest task.
        Head,
        /// The position after the newest task.
        Tail,
        /// A place for a task.
        Slot,
    }
}

proto::symbols! {
    /// The kind of access that a step makes.
    pub enum Access {
        /// Reads the variable.
        Load,
        /// Writes the variable.
        Store,
        /// Replaces the value of the variable if the variable has the expected value.
        CompareExchange,
    }
}

proto::symbols! {
    /// The work-group that makes a step.
    pub enum Side {
        /// The work-group that owns the queue.
        Owner,
        /// Any other work-group.
        Thief,
    }
}

proto::symbols! {
    /// The steps of the operations, in program order.
    pub enum QueueStep {
        /// Push: reads the tail.
        PushTail,
        /// Push: reads the head, if the tail is 0. The new task has the position of the head.
        PushHead,
        /// Push: writes the task.
        PushSlot,
        /// Push: increments the tail.
        PushPublish,
        /// Pop: reads the tail.
        PopTail,
        /// Pop: decrements the tail.
        PopClaim,
        /// Pop: reads the head, to see whether a task is left.
        PopHead,
        /// Pop: competes for the last task.
        PopLast,
        /// Pop: sets the tail of an empty queue to 0.
        PopClose,
        /// Pop: reads the task.
        PopSlot,
        /// Steal: reads the tail. If the tail is 0, the queue is empty, and no further step follows.
        StealLook,
        /// Steal: reads the head.
        StealHead,
        /// Steal: reads the tail, to see whether a task is left.
        StealTail,
        /// Steal: competes for the oldest task.
        StealTake,
        /// Steal: reads the task.
        StealSlot,
        /// Refill: resets the head.
        RefillHead,
        /// Refill: sets the tail to the number of tasks.
        RefillTail,
    }
}

/// One row of the table of steps: the access that a step makes, its memory order, and why
/// it needs this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueRow {
    /// The step that the row describes.
    pub step: QueueStep,
    /// The operation of which the step is a part.
    pub operation: Operation,
    /// The variable that the step accesses.
    pub variable: Variable,
    /// The access that the step makes.
    pub access: Access,
    /// The work-group that makes the step: the owner of the queue or a thief.
    pub side: Side,
    /// The memory order of the access.
    pub order: Order,
    /// The memory order that the access has in the code that Cederman and Tsigas published.
    pub published: Order,
    /// The reason for the memory order, as text.
    pub reason: &'static str,
}

const fn row(
    step: QueueStep,
    (operation, side): (Operation, Side),
    (variable, access): (Variable, Access),
    (order, published): (Order, Order),
    reason: &'static str,
) -> QueueRow {
    QueueRow { step, operation, variable, access, side, order, published, reason }
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

/// All steps, in the order of [`QueueStep`].
pub static STEPS: [QueueRow; 17] = [
    row(
        QueueStep::PushTail,
        PUSH,
        LOAD_TAIL,
        (Acquire, Relaxed),
        "only the owner writes the tail: it reads its own last value",
    ),
    row(
        QueueStep::PushHead,
        PUSH,
        LOAD_HEAD,
        (Acquire, Relaxed),
        "the owner has seen this head when it closed the queue; no thief moves the head of a closed queue",
    ),
    row(QueueStep::PushSlot, PUSH, STORE_SLOT, (Plain, Plain), "no thread reads a slot beyond the tail"),
    row(
        QueueStep::PushPublish,
        PUSH,
        STORE_TAIL,
        (Release, Relaxed),
        "a thread that reads the tail sees the task; a thief that reads an old tail misses it, which is harmless",
    ),
    row(
        QueueStep::PopTail,
        POP,
        LOAD_TAIL,
        (Acquire, Relaxed),
        "only the owner writes the tail: it reads its own last value",
    ),
    row(
        QueueStep::PopClaim,
        POP,
        STORE_TAIL,
        (SeqCst, Relaxed),
        "this store must precede PopHead; otherwise a thief and the owner may take the same task",
    ),
    row(
        QueueStep::PopHead,
        POP,
        LOAD_HEAD,
        (SeqCst, Relaxed),
        "this load must follow PopClaim, so that it sees the theft of every thief that read the tail \
         before PopClaim",
    ),
    row(
        QueueStep::PopLast,
        POP,
        TAKE_HEAD,
        (SeqCst, Relaxed),
        "exactly one thread gets the last task; the order relates this operation to all reads of the head",
    ),
    row(
        QueueStep::PopClose,
        POP,
        STORE_TAIL,
        (Release, Relaxed),
        "this store shows that the queue is empty; a thread that still reads the old tail \
         learns the same from the head",
    ),
    row(
        QueueStep::PopSlot,
        POP,
        LOAD_SLOT,
        (Plain, Plain),
        "the owner or an earlier kernel has written the slot",
    ),
    row(
        QueueStep::StealLook,
        STEAL,
        LOAD_TAIL,
        (Acquire, Relaxed),
        "a thief that reads an old tail makes the next steps in vain, or misses a task, which is harmless",
    ),
    row(
        QueueStep::StealHead,
        STEAL,
        LOAD_HEAD,
        (SeqCst, Relaxed),
        "this load must precede StealTail: with a tail that is older than the head, the thief sees a task \
         that is already taken",
    ),
    row(
        QueueStep::StealTail,
        STEAL,
        LOAD_TAIL,
        (SeqCst, Relaxed),
        "if PopHead precedes this load, the load sees the store of PopClaim; the load also acquires the task",
    ),
    row(
        QueueStep::StealTake,
        STEAL,
        TAKE_HEAD,
        (SeqCst, Relaxed),
        "exactly one thread gets the task; an owner that reads the head after this operation sees the theft",
    ),
    row(
        QueueStep::StealSlot,
        STEAL,
        LOAD_SLOT,
        (Plain, Plain),
        "the slot is written before the tail that the thief has acquired",
    ),
    row(
        QueueStep::RefillHead,
        REFILL,
        STORE_HEAD,
        (Release, Relaxed),
        "only the next kernel uses the stored value: the end of this kernel publishes it",
    ),
    row(
        QueueStep::RefillTail,
        REFILL,
        STORE_TAIL,
        (Release, Relaxed),
        "only the next kernel uses the stored value: the end of this kernel publishes it",
    ),
];

impl QueueStep {
    /// The row of this step in the table of steps.
    #[inline]
    #[must_use]
    pub fn row(self) -> &'static QueueRow {
        &STEPS[self as usize]
    }

    /// The steps of an operation, in program order. A run of the operation may leave out some of
    /// them, depending on the values that it reads.
    pub fn of(operation: Operation) -> impl Iterator<Item = &'static QueueRow> {
        STEPS.iter().filter(move |row| row.operation == operation)
    }
}

/// The table of steps as Markdown text.
#[must_use]
pub fn page() -> String {
    let mut page = String::from(
        "| step | access | thread | order | order as published | reason for the order |\n\
         |---|---|---|---|---|---|\n",
    );
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
    fn every_step_has_its_row_with_a_reason() {
        assert_eq!(STEPS.len(), QueueStep::ALL.len());
        for (row, step) in STEPS.iter().zip(QueueStep::ALL) {
            assert_eq!((row.step, step.row()), (*step, row));
            assert!(row.reason.len() > 20, "{step:?}");
            // Slots hold data and are accessed by plain accesses. All accesses of heads and tails
            // are atomic.
            assert_eq!(row.variable == Variable::Slot, !row.order.is_atomic(), "{step:?}");
            assert_eq!(row.variable == Variable::Slot, !row.published.is_atomic(), "{step:?}");
        }
        for operation in Operation::ALL {
            assert!(QueueStep::of(*operation).count() >= 2, "{operation:?}");
        }
    }

    #[test]
    fn the_four_accesses_that_decide_the_last_task_are_sequentially_consistent() {
        for step in [QueueStep::PopClaim, QueueStep::PopHead, QueueStep::StealHead, QueueStep::StealTail] {
            assert_eq!(step.row().order, SeqCst, "{step:?}");
            assert_eq!(step.row().published, Relaxed, "{step:?}");
        }
        // All compare-exchanges are sequentially consistent too: they take part in the same
        // decision.
        assert!(STEPS.iter().filter(|r| r.access == Access::CompareExchange).all(|r| r.order == SeqCst));
    }

    #[test]
    fn the_page_shows_the_table() {
        let shown = include_str!("../../../../docs/work-stealing.md");
        assert!(shown.contains(&page()), "expected this table in docs/work-stealing.md:\n{}", page());
    }

    #[test]
    fn only_the_owner_writes_the_tail() {
        let writes = |r: &&QueueRow| r.variable == Variable::Tail && r.access != Access::Load;
        assert!(STEPS.iter().filter(writes).all(|r| r.side == Side::Owner));
        assert_eq!(STEPS.iter().filter(writes).count(), 4);
    }
}
