//! Faults that tests plant in kernels, to show that the checks of answers find them.
//!
//! Outside of tests, no fault is planted, and [`planted`] always returns false.

/// A mistake that a test can plant in a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// One access uses a wrong index.
    WrongIndex,
    /// One barrier is missing.
    MissingBarrier,
    /// One atomic update is replaced by a load and a store.
    SplitUpdate,
}

/// Whether a test has planted this fault.
#[cfg(not(test))]
#[inline]
pub(crate) const fn planted(_fault: Fault) -> bool {
    false
}

#[cfg(test)]
pub(crate) use planting::{finds, finds_with, planted};

#[cfg(test)]
mod planting {
    use core::cell::Cell;

    use kernel::Shape;
    use kernel::reference::{Options, Schedule, run};

    use super::Fault;
    use crate::{Size, Workload};

    thread_local! {
        static PLANTED: Cell<Option<Fault>> = const { Cell::new(None) };
    }

    pub(crate) fn planted(fault: Fault) -> bool {
        PLANTED.get() == Some(fault)
    }

    /// Whether the check of the workload's answer, at size `tiny`, finds this fault in one of ten
    /// schedules. The function also makes sure that, without the fault, three schedules give a
    /// right answer.
    pub(crate) fn finds(workload: &Workload, fault: Fault) -> bool {
        finds_with(workload, &[], fault)
    }

    /// The same as [`finds`], for a workload whose settings differ from those of size `tiny` by
    /// `changes`.
    pub(crate) fn finds_with(workload: &Workload, changes: &[(&str, &str)], fault: Fault) -> bool {
        let is_wrong = |seed| {
            let mut settings = workload.sized(Size::Tiny).unwrap_or_else(|error| panic!("{error}"));
            for (name, value) in changes {
                settings.set(name, value).unwrap_or_else(|error| panic!("{error}"));
            }
            let (program, check) =
                workload.instance(&settings, 9).unwrap_or_else(|error| panic!("{error}")).into_parts();
            let shape = Shape { lanes: 32, waves_per_cu: 16, ..Shape::default() };
            let options = Options { shape, schedule: Schedule::Seeded(seed), ..Options::default() };
            let outcome = run(program, &options).unwrap_or_else(|error| panic!("{error}"));
            check(&outcome.answer).is_err()
        };
        assert!(!(0..3).any(is_wrong), "{} is wrong without a fault", workload.name);
        PLANTED.set(Some(fault));
        let found = (0..10).any(is_wrong);
        PLANTED.set(None);
        found
    }
}
