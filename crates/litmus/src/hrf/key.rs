//! Fingerprints of states. States with equal fingerprints have the same possible futures.
//!
//! A fingerprint leaves out registers and words that no later operation reads, and accesses that
//! cannot race any more. Its clocks count only accesses that may still race.

use super::fingerprint::Fingerprint;
use super::plan::Plan;
use super::state::{Phase, State, ThreadState};

/// Computes fingerprints of states. Keeps its buffers, so that the next computation can use them
/// again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys {
    /// For each thread, a list indexed by `n`: the number of accesses that may still race among the
    /// thread's first `n` accesses.
    counts: Vec<Vec<u16>>,
}

impl Keys {
    pub(crate) fn of(&mut self, plan: &Plan<'_>, state: &State) -> u128 {
        let mut key = Fingerprint::new();
        for (t, thread) in state.threads.iter().enumerate() {
            add_thread(&mut key, plan, state, t, thread);
        }
        let (mut read, mut acquired) = (plan.observed_locations, 0);
        for (t, thread) in state.threads.iter().enumerate().filter(|&(t, _)| state.is_live(t)) {
            let future = &plan.threads[t].future[usize::from(thread.pc)];
            read |= future.reads;
            acquired |= future.acquires;
        }
        for (loc, &value) in state.memory.iter().enumerate() {
            if read >> (loc % 64) & 1 == 1 {
                key.add(value as u64);
            }
        }
        for meeting in &state.meetings {
            let (group, instance, id) = meeting.which;
            for word in [u64::from(group), instance as u64, id as u64, meeting.arrived, meeting.waiting] {
                key.add(word);
            }
        }
        if self.add_logs(&mut key, plan, state) {
            self.add_clocks(&mut key, plan, state, acquired);
        }
        key.finish()
    }

    /// Adds to the fingerprint the accesses that may still race. Returns false if no access may
    /// still race.
    fn add_logs(&mut self, key: &mut Fingerprint, plan: &Plan<'_>, state: &State) -> bool {
        self.counts.resize(state.threads.len(), Vec::new());
        let mut any = false;
        for (u, thread) in state.threads.iter().enumerate() {
            let counts = &mut self.counts[u];
            counts.clear();
            counts.push(0);
            let mut count = 0;
            for logged in &thread.log {
                let matters = state.threads.iter().enumerate().any(|(t, other)| {
                    t != u && state.is_live(t) && plan.is_relevant(logged.access, t, usize::from(other.pc))
                });
                if matters {
                    count += 1;
                    any = true;
                    key.add(
                        u64::from(logged.access) << 32
                            | u64::from(logged.loc) << 8
                            | u64::from(logged.wrote) << 1
                            | u64::from(logged.failed),
                    );
                }
                counts.push(count);
            }
            key.add(u64::from(count) << 8 | 0xA5);
        }
        any
    }

    fn add_clocks(&self, key: &mut Fingerprint, plan: &Plan<'_>, state: &State, acquired: u64) {
        let add = |key: &mut Fingerprint, clock: &[u16], skip: usize| {
            let mut packed = 0;
            for (u, &time) in clock.iter().enumerate() {
                let counts = &self.counts[u];
                let count = if u == skip { 0 } else { counts[usize::from(time)] };
                packed = packed << 16 | u64::from(count);
                if u % 4 == 3 {
                    key.add(packed);
                    packed = 0;
                }
            }
            key.add(packed);
        };
        for t in (0..state.threads.len()).filter(|&t| state.is_live(t)) {
            for clock in state.clocks.of_thread(t) {
                add(key, clock, t);
            }
        }
        for (c, clock) in state.clocks.of_channels().enumerate() {
            if acquired & plan.scoping.bit_of_number(c) != 0 {
                add(key, clock, usize::MAX);
            }
        }
    }
}

fn add_thread(key: &mut Fingerprint, plan: &Plan<'_>, state: &State, t: usize, thread: &ThreadState) {
    let planned = &plan.threads[t];
    key.add(thread.phase as u64 | u64::from(thread.pc) << 8);
    if matches!(thread.phase, Phase::Cut | Phase::Stuck) {
        return;
    }
    let registers = plan.distinguishing_registers(t, usize::from(thread.pc));
    let count = plan.program.threads[t].registers.len();
    for r in (0..count).filter(|r| registers >> (r % 64) & 1 == 1) {
        key.add(state.registers[planned.registers_base + r] as u64);
    }
    if !planned.has_loops {
        return;
    }
    for &jumps in &thread.jumps {
        key.add(u64::from(jumps));
    }
    if let Some(iteration) = &thread.iteration {
        key.add(u64::from(iteration.head) << 8 | 0x5A);
        let live = planned.live[usize::from(iteration.head)];
        for (r, &value) in iteration.registers.iter().enumerate() {
            if live >> (r % 64) & 1 == 1 {
                key.add(value as u64);
            }
        }
        add_reads(key, &iteration.reads);
    }
    add_reads(key, &thread.spins_on);
}

fn add_reads(key: &mut Fingerprint, reads: &[(u16, i64)]) {
    key.add(reads.len() as u64);
    for &(loc, value) in reads {
        key.add(u64::from(loc));
        key.add(value as u64);
    }
}
