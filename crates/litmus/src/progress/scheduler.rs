//! The progress guarantees of schedulers.

use core::fmt;
use core::str::FromStr;

/// A scheduler, given by the threads that it guarantees to make progress. The forward-progress
/// models are those of T. Sorensen, H. Evrard and A. F. Donaldson (CONCUR 2018) and of T. Sorensen
/// and others (OOPSLA 2021). Thread numbers define the order of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheduler {
    /// Every thread makes progress.
    Fair,
    /// Occupancy-bound: a thread that has taken a step makes progress.
    Obe,
    /// HSA: the unfinished thread with the lowest number makes progress.
    Hsa,
    /// Linear occupancy-bound: a thread makes progress if this thread or a thread with a higher
    /// number has taken a step.
    Lobe,
    /// HSA and occupancy-bound together: a thread makes progress if at least one of these two
    /// schedulers guarantees that it makes progress.
    HsaObe,
}

impl Scheduler {
    /// All schedulers.
    pub const ALL: [Scheduler; 5] =
        [Scheduler::Fair, Scheduler::Obe, Scheduler::Hsa, Scheduler::Lobe, Scheduler::HsaObe];

    /// The word that selects the scheduler on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Scheduler::Fair => "fair",
            Scheduler::Obe => "obe",
            Scheduler::Hsa => "hsa",
            Scheduler::Lobe => "lobe",
            Scheduler::HsaObe => "hsa-obe",
        }
    }

    /// The threads that the scheduler guarantees to make progress. `unfinished` are the threads
    /// that have not ended, and `stepped` are the threads that have taken a step. In each set, bit
    /// `i` stands for thread `i`.
    #[must_use]
    pub const fn guaranteed(self, unfinished: u64, stepped: u64) -> u64 {
        let lowest = unfinished & unfinished.wrapping_neg();
        match self {
            Scheduler::Fair => unfinished,
            Scheduler::Obe => unfinished & stepped,
            Scheduler::Hsa => lowest,
            Scheduler::Lobe if stepped == 0 => 0,
            Scheduler::Lobe => unfinished & (u64::MAX >> stepped.leading_zeros()),
            Scheduler::HsaObe => lowest | (unfinished & stepped),
        }
    }
}

impl fmt::Display for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scheduler {
    type Err = String;

    fn from_str(name: &str) -> Result<Scheduler, String> {
        let known = Scheduler::ALL.into_iter().find(|scheduler| scheduler.name() == name);
        known.ok_or_else(|| {
            let names: Vec<_> = Scheduler::ALL.iter().map(|s| s.name()).collect();
            format!("unknown scheduler `{name}`, expected one of {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Scheduler::{Fair, Hsa, HsaObe, Lobe, Obe};

    #[test]
    fn each_scheduler_gives_the_guarantees_of_its_paper() {
        // In this state, threads 1, 2 and 3 have not ended, and threads 0 and 2 have taken a step.
        let (unfinished, stepped) = (0b1110, 0b0101);
        assert_eq!(Fair.guaranteed(unfinished, stepped), 0b1110);
        assert_eq!(Obe.guaranteed(unfinished, stepped), 0b0100);
        assert_eq!(Hsa.guaranteed(unfinished, stepped), 0b0010);
        assert_eq!(Lobe.guaranteed(unfinished, stepped), 0b0110);
        assert_eq!(HsaObe.guaranteed(unfinished, stepped), 0b0110);
    }

    #[test]
    fn before_the_first_step_only_some_schedulers_guarantee_progress() {
        let promises = [Fair, Obe, Hsa, Lobe, HsaObe].map(|s| s.guaranteed(0b11, 0));
        assert_eq!(promises, [0b11, 0, 0b01, 0, 0b01]);
        assert_eq!(Lobe.guaranteed(u64::MAX, 1 << 63), u64::MAX);
    }
}
