//! Preemption: a work-group leaves its compute unit, and goes on on another one,
//! where whoever leads the machine says so.
//!
//! None of its requests is under way then. The compute unit that is left makes the
//! request of a kernel's end at device scope; the other one makes that of a
//! beginning before the work-group goes on. The state itself takes no way through
//! the caches.

use proto::{Agent, Boundary};

use super::access::Phase;
use super::wave::{Stage, Wave};
use super::{Machine, Owner};
use crate::engine::Event;
use crate::follow::Move;
use crate::queue::Cycle;
use crate::reports::attribution::Cause;
use crate::reports::probe::Probe;

/// A work-group that is not at work.
#[derive(Debug)]
pub(super) struct Away {
    group: u32,
    stay: Stay,
    /// What its wavefronts are at, by the number of the wavefront.
    events: Vec<(u32, Event)>,
}

/// How a work-group stands to its compute unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stay {
    /// The compute unit releases.
    Saves,
    /// The work-group may go on elsewhere.
    Off,
    /// The next compute unit acquires.
    Restores,
}

impl<Pr: Probe> Machine<'_, Pr> {
    /// The compute unit of a work-group.
    pub(super) fn cu_of(&self, group: u32) -> Option<u32> {
        self.waves_of(group).first().map(|&wave| self.waves[wave as usize].at.cu)
    }

    /// The wavefronts of a work-group that have not retired, in order.
    fn waves_of(&self, group: u32) -> Vec<u32> {
        let is_of = |wave: &&Wave| wave.group == group && (wave.task.is_some() || wave.ended);
        let waves = (0..).zip(&self.waves).filter(|(_, wave)| is_of(wave));
        let mut waves: Vec<u32> = waves.map(|(number, _)| number).collect();
        waves.sort_by_key(|&number| self.waves[number as usize].at.wave);
        waves
    }

    fn group_of(&self, work_group: u32) -> Option<u32> {
        self.groups.iter().find(|(_, group)| group.number == work_group).map(|(group, _)| group)
    }

    /// Has a wavefront nothing under way but its wait at a barrier?
    fn is_at_rest(&self, number: u32) -> bool {
        let wave = &self.waves[number as usize];
        let of_wave = self.instrs.iter().filter(|(_, instr)| instr.owner == Owner::Wave(number));
        let mut under_way = of_wave.filter(|(_, instr)| instr.phase != Phase::BarrierWait);
        under_way.next().is_none() && !matches!(wave.stage, Stage::Held(_))
    }

    /// The wavefront that an event is of, if it waits for a move or for the end.
    fn wave_of(&self, event: Event) -> Option<u32> {
        match event {
            Event::Simd(unit) => self.simds[unit as usize].running(),
            Event::Complete(number) => match self.instrs.get(number)?.owner {
                Owner::Wave(wave) => Some(wave),
                _ => None,
            },
            _ => None,
        }
    }

    /// Takes a work-group off its compute unit, which releases.
    pub(super) fn make_preempt(
        &mut self,
        now: Cycle,
        work_group: u32,
        held: &mut Vec<Event>,
    ) -> Option<&'static str> {
        let group = self.group_of(work_group)?;
        let waves = self.waves_of(group);
        let has_ended = |&wave: &u32| self.waves[wave as usize].stage == Stage::Arithmetic(None);
        let is_here = self.leader.as_ref()?.away.iter().all(|away| away.group != group);
        let may = is_here && !waves.iter().all(has_ended) && waves.iter().all(|&wave| self.is_at_rest(wave));
        if !may || self.turns() {
            return None;
        }
        let of = |event: &Event| self.wave_of(*event).filter(|wave| waves.contains(wave));
        let events = held.iter().filter_map(|event| Some((of(event)?, *event))).collect();
        let rest = held.iter().filter(|event| of(event).is_none()).copied().collect();
        *held = rest;
        for &(wave, event) in &events {
            if let Event::Simd(unit) = event {
                self.simds[unit as usize].set_aside();
                self.reports.times.spend(now, wave, Cause::Compute);
            }
        }
        self.leader.as_mut()?.away.push(Away { group, stay: Stay::Saves, events });
        self.ask_for_group(now, group, Boundary::EndCus);
        Some("")
    }

    /// The moves by which work-groups come to other compute units.
    pub(super) fn resumes(&self) -> Vec<Move> {
        let away = self.leader.iter().flat_map(|leader| &leader.away);
        let off = away.filter(|away| away.stay == Stay::Off);
        let moves = off.flat_map(|away| {
            let from = self.cu_of(away.group);
            let work_group = self.groups.get(away.group).map_or(0, |group| group.number);
            let cus = (0..self.cus.len() as u32).filter(move |&cu| Some(cu) != from);
            cus.map(move |cu| Move::Resume { work_group, cu })
        });
        moves.collect()
    }

    /// Brings a work-group to another compute unit, which acquires.
    pub(super) fn make_resume(&mut self, now: Cycle, work_group: u32, cu: u32) -> Option<&'static str> {
        if !self.resumes().contains(&Move::Resume { work_group, cu }) {
            return None;
        }
        let group = self.group_of(work_group)?;
        let (from, waves) = (self.cu_of(group)?, self.waves_of(group));
        if self.cus[cu as usize].free_slots.len() < waves.len() {
            return None;
        }
        let lds_bytes = self.groups.get(group)?.lds.len() as u64;
        for (cu, comes) in [(from, false), (cu, true)] {
            let unit = &mut self.cus[cu as usize];
            unit.groups = if comes { unit.groups + 1 } else { unit.groups - 1 };
            unit.lds_bytes = if comes { unit.lds_bytes + lds_bytes } else { unit.lds_bytes - lds_bytes };
        }
        for wave in waves {
            self.move_wave(now, wave, cu);
        }
        let away = self.leader.as_mut()?.away.iter_mut().find(|away| away.group == group)?;
        away.stay = Stay::Restores;
        self.ask_for_group(now, group, Boundary::BeginCus);
        Some("")
    }

    /// Puts a wavefront into the lowest free slot of a compute unit.
    fn move_wave(&mut self, now: Cycle, from: u32, cu: u32) {
        let Some(slot) = self.cus[cu as usize].free_slots.pop() else { return };
        let to = cu * self.system.cu.wavefront_slots + slot;
        let left = self.waves[from as usize].at;
        self.cus[left.cu as usize].free(left.slot);
        self.waves.swap(from as usize, to as usize);
        for (at, (cu, slot)) in [(from, (left.cu, left.slot)), (to, (cu, slot))] {
            let at = &mut self.waves[at as usize].at;
            (at.cu, at.slot) = (cu, slot);
        }
        self.reports.times.started(now, to);
        let numbers: Vec<u32> = self.instrs.iter().map(|(number, _)| number).collect();
        for number in numbers {
            if let Some(instr) = self.instrs.get_mut(number)
                && instr.owner == Owner::Wave(from)
            {
                instr.owner = Owner::Wave(to);
            }
        }
        let units = self.system.cu.simd_units;
        let away = self.leader.iter_mut().flat_map(|leader| &mut leader.away);
        for (wave, event) in away.flat_map(|away| &mut away.events).filter(|(wave, _)| *wave == from) {
            *wave = to;
            if let Event::Simd(unit) = event {
                *unit = cu * units + slot % units;
            }
        }
    }

    /// Sends the request that a work-group's compute unit has kept back.
    pub(super) fn send_for_group(&mut self, now: Cycle, group: u32, instr: u32) {
        if let Some(cu) = self.cu_of(group) {
            self.ask_order(now, Agent::Cu(cu as u16), instr);
        }
    }

    /// The request for a work-group is answered.
    pub(super) fn group_moved(&mut self, now: Cycle, group: u32) {
        let Some(leader) = &mut self.leader else { return };
        let Some(at) = leader.away.iter().position(|away| away.group == group) else { return };
        if leader.away[at].stay == Stay::Saves {
            leader.away[at].stay = Stay::Off;
            return;
        }
        for (wave, event) in leader.away.remove(at).events {
            if let Event::Simd(unit) = event {
                self.simds[unit as usize].take_up(wave);
            }
            self.engine.put_back(now, event);
        }
    }
}
