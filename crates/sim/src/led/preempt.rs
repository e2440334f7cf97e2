//! Preemption: a move (a step of the script) takes a work-group off its compute unit, and another
//! move resumes it on a different one.
//!
//! When a move preempts a work-group, no request of the work-group is outstanding. The old compute
//! unit makes the release of a kernel's end, at device scope. Before the work-group continues, the
//! new compute unit makes the acquire of a kernel's beginning. The registers and local memory of
//! the work-group do not pass through the caches.

use proto::{Agent, Boundary};

use crate::cores::instr::Owner;
use crate::cores::wave::Stage;
use crate::engine::Event;
use crate::led::moves::Move;
use crate::led::state::{PreemptStage, Preempted};
use crate::machine::Machine;
use crate::queue::Cycle;
use crate::reports::attribution::Cause;
use crate::reports::probe::Probe;

impl<Pr: Probe> Machine<'_, Pr> {
    /// The wavefront of a held event (an event that waits for a move of the script). `None` if the
    /// event concerns no wavefront.
    fn wave_of(&self, event: Event) -> Option<u32> {
        match event {
            Event::Simd(unit) => self.cores.running(unit),
            Event::Complete(number) => match self.cores.instr(number)?.owner {
                Owner::Wave(wave) => Some(wave),
                _ => None,
            },
            _ => None,
        }
    }

    /// Takes a work-group off its compute unit. The compute unit makes a release. Returns `None` if
    /// the work-group cannot be preempted now.
    pub(crate) fn make_preempt(
        &mut self,
        now: Cycle,
        work_group: u32,
        held: &mut Vec<Event>,
    ) -> Option<&'static str> {
        let group = self.cores.group_of(work_group)?;
        let waves = self.cores.waves_of(group);
        let has_ended = |&wave: &u32| self.cores.wave(wave).stage == Stage::Arithmetic(None);
        let is_here = self.script.as_ref()?.preempted.iter().all(|preempted| preempted.group != group);
        let may =
            is_here && !waves.iter().all(has_ended) && waves.iter().all(|&wave| self.cores.is_at_rest(wave));
        if !may || self.is_between_steps() {
            return None;
        }
        let of = |event: &Event| self.wave_of(*event).filter(|wave| waves.contains(wave));
        let events = held.iter().filter_map(|event| Some((of(event)?, *event))).collect();
        let rest = held.iter().filter(|event| of(event).is_none()).copied().collect();
        *held = rest;
        for &(wave, event) in &events {
            if let Event::Simd(unit) = event {
                self.cores.set_aside(unit);
                self.reports.times.spend(now, wave, Cause::Compute);
            }
        }
        self.script.as_mut()?.preempted.push(Preempted { group, stage: PreemptStage::Saving, events });
        self.queue_for_group(now, group, Boundary::EndCus);
        Some("")
    }

    /// The possible moves (steps of a script) that resume preempted work-groups on other compute
    /// units.
    pub(crate) fn resumes(&self) -> Vec<Move> {
        let preempted = self.script.iter().flat_map(|script| &script.preempted);
        let off = preempted.filter(|preempted| preempted.stage == PreemptStage::Off);
        let moves = off.flat_map(|preempted| {
            let from = self.cores.cu_of(preempted.group);
            let work_group = self.cores.group(preempted.group).map_or(0, |group| group.number);
            let cus = (0..self.cores.count()).filter(move |&cu| Some(cu) != from);
            cus.map(move |cu| Move::Resume { work_group, cu })
        });
        moves.collect()
    }

    /// Resumes a preempted work-group on another compute unit. The new compute unit makes an
    /// acquire. Returns `None` if the work-group cannot resume there now.
    pub(crate) fn make_resume(&mut self, now: Cycle, work_group: u32, cu: u32) -> Option<&'static str> {
        if !self.resumes().contains(&Move::Resume { work_group, cu }) {
            return None;
        }
        let group = self.cores.group_of(work_group)?;
        let moved = self.cores.move_group(group, cu)?;
        for moved in &moved {
            self.reports.times.started(now, moved.to);
        }
        let preempted =
            self.script.as_mut()?.preempted.iter_mut().find(|preempted| preempted.group == group)?;
        preempted.stage = PreemptStage::Restoring;
        for (wave, event) in &mut preempted.events {
            let Some(moved) = moved.iter().find(|moved| moved.from == *wave) else { continue };
            *wave = moved.to;
            if let Event::Simd(unit) = event {
                *unit = moved.simd;
            }
        }
        self.queue_for_group(now, group, Boundary::BeginCus);
        Some("")
    }

    /// Sends the acquire or release request that was held for a preempted work-group.
    pub(crate) fn send_for_group(&mut self, now: Cycle, group: u32, instr: u32) {
        if let Some(cu) = self.cores.cu_of(group) {
            self.queue_order(now, Agent::Cu(cu as u16), instr);
        }
    }

    /// Records the answer to the acquire or release of a preempted work-group. After the release,
    /// the work-group may resume on another compute unit. After the acquire, it continues.
    pub(crate) fn group_moved(&mut self, now: Cycle, group: u32) {
        let Some(script) = &mut self.script else { return };
        let Some(at) = script.preempted.iter().position(|preempted| preempted.group == group) else { return };
        if script.preempted[at].stage == PreemptStage::Saving {
            script.preempted[at].stage = PreemptStage::Off;
            return;
        }
        for (wave, event) in script.preempted.remove(at).events {
            if let Event::Simd(unit) = event {
                self.cores.take_up(unit, wave);
            }
            self.engine.put_back(now, event);
        }
    }
}
