//! SIMD units, each shared by several wavefronts, and the cost of arithmetic.

use kernel::{Class, Work};
use proto::Symbol;

use crate::config::{Scheduler, VectorOpSpec};
use crate::cores::wave::Wave;

/// A SIMD unit: the wavefront that it runs, and the wavefronts that are ready.
#[derive(Debug, Default)]
pub(crate) struct Simd {
    pub(super) running: Option<u32>,
    pub(super) ready: Vec<u32>,
    /// The wavefront slot whose wavefront issued last.
    last_slot: u32,
}

impl Simd {
    /// Selects one of the ready wavefronts by the scheduler rule, and removes it from them. `None`
    /// if no wavefront is ready.
    pub(super) fn take(&mut self, waves: &[Wave], rule: Scheduler, slots: u32) -> Option<u32> {
        let key = |&wave: &u32| {
            let wave = &waves[wave as usize];
            match rule {
                Scheduler::OldestFirst => wave.age,
                Scheduler::RoundRobin => u64::from((wave.at.slot + slots - self.last_slot - 1) % slots),
            }
        };
        let at = match self.ready.len() {
            0 => return None,
            1 => 0,
            _ => {
                let keys = self.ready.iter().map(key).enumerate();
                keys.min_by_key(|&(_, key)| key).map(|(at, _)| at)?
            }
        };
        let wave = self.ready.swap_remove(at);
        self.last_slot = waves[wave as usize].at.slot;
        Some(wave)
    }
}

/// For each class of arithmetic (such as division of integers), the cycles that one vector
/// operation takes on this machine.
#[derive(Clone, Debug)]
pub(crate) struct WorkCost {
    cycles: [u64; kernel::CLASSES],
}

impl WorkCost {
    pub(crate) fn new(spec: &VectorOpSpec) -> WorkCost {
        let mut cycles = [0; kernel::CLASSES];
        for class in Class::ALL {
            cycles[class.index()] = u64::from(spec.cycles(*class));
        }
        WorkCost { cycles }
    }

    /// The cycles that `work` takes, and the number of its vector operations.
    #[inline]
    pub(super) fn of(&self, work: &Work) -> (u64, u64) {
        let mut cycles = 0;
        let mut ops = 0;
        for (&count, &each) in work.0.iter().zip(&self.cycles) {
            cycles += u64::from(count) * each;
            ops += u64::from(count);
        }
        (cycles, ops)
    }
}
