//! Wavefronts and the SIMD units that they take turns on.

use std::collections::VecDeque;

use kernel::{Class, OpId, Polled, Site, WaveTask, Work};
use proto::Symbol;
use proto::issue::{Issue, IssueId};

use super::Machine;
use crate::config::{Scheduler, System, VectorOpSpec};
use crate::engine::Event;
use crate::queue::Cycle;
use crate::reports::attribution::Cause;
use crate::reports::error::RunError;
use crate::reports::probe::{Probe, WaveAt};

/// What a wavefront is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Nothing is under way at its SIMD unit.
    Idle,
    /// Its arithmetic runs, or waits for the SIMD unit; the operation follows.
    Arithmetic(Option<OpId>),
    /// The issue rule holds the operation back.
    Held(OpId),
}

/// What a wavefront did last, for the case that it goes round in circles.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastOp {
    pub(super) site: Site,
    pub(super) what: &'static str,
    pub(super) address: Option<u64>,
    pub(super) value: Option<u64>,
}

/// A wavefront slot.
#[derive(Debug)]
pub(super) struct Wave {
    pub(super) task: Option<WaveTask>,
    pub(super) at: WaveAt,
    pub(super) group: u32,
    /// Counts dispatched wavefronts: the lower, the older.
    pub(super) age: u64,
    pub(super) stage: Stage,
    pub(super) pending: VecDeque<OpId>,
    pub(super) waits_for: Option<OpId>,
    pub(super) ended: bool,
    /// Arithmetic that no operation followed yet.
    tail: Work,
    pub(super) issue: Issue,
    pub(super) next_issue: u32,
    /// Stores that the issue rule has left behind, with their instructions.
    pub(super) buffered: Vec<(IssueId, u32)>,
    /// Instructions under way.
    pub(super) outstanding: u32,
    pub(super) last: Option<LastOp>,
}

impl Wave {
    pub(super) fn new(system: &System, number: u32) -> Wave {
        let slots = system.cu.wavefront_slots;
        Wave {
            task: None,
            at: WaveAt { cu: number / slots, slot: number % slots, ..WaveAt::default() },
            group: 0,
            age: 0,
            stage: Stage::Idle,
            pending: VecDeque::new(),
            waits_for: None,
            ended: false,
            tail: Work::default(),
            issue: Issue::new(system.issue_rule.into()),
            next_issue: 0,
            buffered: Vec::new(),
            outstanding: 0,
            last: None,
        }
    }
}

/// A SIMD unit.
#[derive(Debug, Default)]
pub(super) struct Simd {
    running: Option<u32>,
    ready: Vec<u32>,
    /// The slot that issued last.
    last_slot: u32,
}

impl Simd {
    /// The wavefront whose arithmetic it does.
    pub(super) fn running(&self) -> Option<u32> {
        self.running
    }

    /// The wavefront whose arithmetic it does goes elsewhere.
    pub(super) fn set_aside(&mut self) {
        self.running = None;
    }

    /// A wavefront comes that has done its arithmetic elsewhere.
    pub(super) fn take_up(&mut self, wave: u32) {
        self.running = Some(wave);
    }

    /// Takes the next of the ready wavefronts.
    fn take(&mut self, waves: &[Wave], rule: Scheduler, slots: u32) -> Option<u32> {
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

/// What arithmetic costs on this machine.
#[derive(Clone, Debug)]
pub(super) struct WorkCost {
    cycles: [u64; kernel::CLASSES],
}

impl WorkCost {
    pub(super) fn new(spec: &VectorOpSpec) -> WorkCost {
        let mut cycles = [0; kernel::CLASSES];
        for class in Class::ALL {
            cycles[class.index()] = u64::from(spec.cycles(*class));
        }
        WorkCost { cycles }
    }

    /// Cycles, and how many vector operations.
    #[inline]
    fn of(&self, work: &Work) -> (u64, u64) {
        let mut cycles = 0;
        let mut ops = 0;
        for (&count, &each) in work.0.iter().zip(&self.cycles) {
            cycles += u64::from(count) * each;
            ops += u64::from(count);
        }
        (cycles, ops)
    }
}

impl<Pr: Probe> Machine<'_, Pr> {
    #[inline(never)]
    pub(super) fn start_wave(&mut self, now: Cycle, wave: u32) {
        self.reports.probe.wave_start(now, self.waves[wave as usize].at);
        self.reports.watch.progress(now);
        self.reports.times.started(now, wave);
        self.poll_wave(now, wave);
    }

    /// Lets the wavefront's program run until it waits.
    #[inline(never)]
    pub(super) fn poll_wave(&mut self, now: Cycle, number: u32) {
        let wave = &mut self.waves[number as usize];
        let Some(task) = &mut wave.task else { return };
        let polled = task.poll();
        let mut ops = self.session.ops();
        wave.pending.extend(ops.posted());
        ops.clear_posted();
        drop(ops);
        for (tail, more) in wave.tail.0.iter_mut().zip(&task.tail_work().0) {
            *tail = tail.saturating_add(*more);
        }
        match polled {
            Polled::Waiting(op) => wave.waits_for = Some(op),
            Polled::Ended => {
                wave.waits_for = None;
                wave.ended = true;
                wave.task = None;
            }
            Polled::Faulted(fault) => return self.engine.fail(RunError::Fault(fault)),
        }
        self.next_instruction(now, number);
    }

    /// Gives the wavefront's next arithmetic to its SIMD unit.
    pub(super) fn next_instruction(&mut self, now: Cycle, number: u32) {
        let wave = &mut self.waves[number as usize];
        if wave.stage != Stage::Idle {
            return;
        }
        if let Some(op) = wave.pending.pop_front() {
            wave.stage = Stage::Arithmetic(Some(op));
        } else if !wave.ended {
            return;
        } else if wave.tail != Work::default() {
            wave.stage = Stage::Arithmetic(None);
        } else {
            if wave.outstanding == 0 {
                self.retire(now, number);
            }
            return;
        }
        let units = self.system.cu.simd_units;
        let simd = wave.at.cu * units + wave.at.slot % units;
        self.simds[simd as usize].ready.push(number);
        self.simd_next(now, simd);
    }

    /// Starts the arithmetic of the next ready wavefront, if the unit is free.
    fn simd_next(&mut self, now: Cycle, number: u32) {
        let simd = &mut self.simds[number as usize];
        if simd.running.is_some() {
            return;
        }
        let rule = self.system.cu.scheduler;
        let Some(next) = simd.take(&self.waves, rule, self.system.cu.wavefront_slots) else { return };
        simd.running = Some(next);
        self.reports.times.spend(now, next, Cause::Issue);
        let wave = &mut self.waves[next as usize];
        let (mut cycles, mut ops) = (0, 0);
        if wave.tail != Work::default() {
            (cycles, ops) = self.work_cost.of(&wave.tail);
            wave.tail = Work::default();
        }
        if let Stage::Arithmetic(Some(op)) = wave.stage {
            let (more_cycles, more_ops) = self.work_cost.of(&self.session.ops().get(op).work);
            // An operation on memory takes an issue cycle of its own.
            cycles += more_cycles + 1;
            ops += more_ops;
        }
        let counts = &mut self.reports.tally.counts;
        counts.vector_ops += ops;
        counts.simd_busy_cycles += cycles;
        self.reports.watch.busy(now, next, cycles);
        self.reports.probe.arithmetic(wave.at, now, now + cycles);
        self.engine.at(now + cycles, Event::Simd(number));
    }

    #[inline(never)]
    pub(super) fn simd_done(&mut self, now: Cycle, number: u32) {
        let Some(wave) = self.simds[number as usize].running.take() else { return };
        self.reports.times.spend(now, wave, Cause::Compute);
        let stage = core::mem::replace(&mut self.waves[wave as usize].stage, Stage::Idle);
        if let Stage::Arithmetic(Some(op)) = stage {
            self.offer(now, wave, op);
        }
        self.next_instruction(now, wave);
        self.simd_next(now, number);
    }

    /// The wavefront has done everything.
    fn retire(&mut self, now: Cycle, number: u32) {
        let wave = &mut self.waves[number as usize];
        let (at, group) = (wave.at, wave.group);
        wave.ended = false;
        wave.last = None;
        self.reports.tally.counts.wavefronts += 1;
        self.reports.watch.progress(now);
        self.reports.probe.wave_end(now, at);
        self.wave_left(now, at, group);
    }
}
