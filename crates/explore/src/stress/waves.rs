//! The wavefronts of an episode (a random program): their issue, and the check of their answers.

use super::fault::{EpisodeFault, fault};
use super::kernels::value_text;
use super::layout::{FIRST_COUNTER, GROUPS_MAX, WAVES, repeated};
use super::machine::Machine;
use super::order::Program;
use super::slots::Sender;
use super::step::{Kind, WaveStep};
use drive::{At, StationInput};
use proto::{
    ArrayId, ByteMask, Hints, Issuer, Level, LineAddr, LineData, Op, Request, Rmw, RmwKind, Scope, Slot,
    Width,
};

/// The probability, in units of 1/256, that a wavefront polls a flag that is not set. Otherwise the
/// wavefront sleeps.
const POLL_RATE: u64 = 64;

/// The place of a word: its line, its offset in that line, and its width.
type Place = (LineAddr, usize, Width);

impl Machine {
    pub(super) fn wake(&mut self, wave: usize) {
        if !self.waves[wave].is_ready {
            self.waves[wave].is_ready = true;
            self.make_ready(wave);
        }
    }

    /// Issues the next step of a wavefront, if the wavefront can issue.
    pub(super) fn issue(&mut self, wave: usize, program: &Program) -> Result<(), EpisodeFault> {
        let state = &mut self.waves[wave];
        state.is_ready = false;
        if state.at >= state.end || self.residencies.is_stopped(wave) {
            return Ok(());
        }
        let steps = &program.threads[wave];
        let step = &steps[usize::from(state.at)];
        // Data accesses to different words overlap; all other steps are in order.
        let waits_for = |&other: &u16| {
            let other = &steps[usize::from(other)];
            !step.is_plain() || !other.is_plain() || step.words & other.words != 0
        };
        let is_held = state.under_way.iter().flatten().any(waits_for);
        let Some(free) = state.under_way.iter().position(Option::is_none).filter(|_| !is_held) else {
            return Ok(()); // An answer to a step wakes the wavefront.
        };
        if step.awaits() && self.set[step.flag()] < step.value && !self.draws.chance(POLL_RATE) {
            self.sleeping[step.flag()] |= 1 << wave;
            return Ok(());
        }
        state.under_way[free] = Some(state.at);
        state.at += 1;
        self.ran.operations += 1;
        let request = self.request(wave, step, program);
        let node = self.entry(wave, &request)?;
        let slot = self.slot(node, Sender::Wave(wave as u8, free as u8))?;
        if step.is_plain() {
            self.wake(wave);
        }
        self.deliver(node, &StationInput::Request { slot, request: &request }, program)
    }

    fn request(&self, wave: usize, step: &WaveStep, program: &Program) -> Request {
        let (line, offset, width) = self.place(usize::from(step.word), program);
        let rmw = |kind, uses_value| Op::Rmw(Rmw { kind, width, uses_value });
        let (op, operand) = match step.kind {
            Kind::Load | Kind::Await => (Op::Load, 0),
            Kind::Store => (Op::Store, 0),
            Kind::Set => (Op::Store, step.value),
            Kind::Update(function) => (rmw(function.kind(), true), 0),
            Kind::CompareSwap(expected) => {
                let expected = repeated(expected, width);
                (rmw(RmwKind::CompareExchange { expected }, true), 0)
            }
            Kind::Count => (rmw(RmwKind::Add, true), 1),
            Kind::AwaitAdding => (rmw(RmwKind::Add, true), 0),
            Kind::Swap => (rmw(RmwKind::Exchange, false), step.value),
            Kind::SetIf(old) => (rmw(RmwKind::CompareExchange { expected: old.into() }, true), step.value),
            Kind::Fence => (Op::Fence, 0),
        };
        let group = self.residencies.group(wave).unwrap_or(GROUPS_MAX) as u32;
        let instance = match step.level {
            Level::WorkGroup => group,
            Level::Chiplet => self.residencies.chiplet(wave).unwrap_or_default() as u32,
            // All wavefronts are in the named scope 0.
            _ => 0,
        };
        let (mut mask, mut data) = (ByteMask::NONE, LineData::default());
        if step.words == 0 {
            mask = ByteMask::range(offset, width.bytes());
            data.write(offset, width, u64::from(operand));
        }
        for (lane, word) in step.lanes() {
            let (_, offset, width) = self.place(word, program);
            mask = mask.union(ByteMask::range(offset, width.bytes()));
            let (old, given) = (step.old[lane], step.given[lane]);
            let operand = match step.kind {
                Kind::Update(function) => function.operand(old, given, width),
                _ => repeated(given, width),
            };
            data.write(offset, width, operand);
        }
        Request {
            op,
            order: step.order,
            scope: Scope { level: step.level, instance },
            issuer: Issuer { work_item: 0, wavefront: self.residencies.wavefront(wave), work_group: group },
            hints: Hints { remote: step.remote, commutative: step.kind == Kind::Count && !step.remote },
            array: ArrayId(0),
            line,
            mask,
            data,
        }
    }

    /// The place of a word in the layout of this program.
    #[inline]
    fn place(&self, word: usize, program: &Program) -> Place {
        let layout = &self.layouts[usize::from(program.layout)];
        let place = usize::from(layout.places[word]);
        let offset = place & ((1 << self.line_shift) - 1);
        (self.lines.at(place >> self.line_shift), offset, layout.widths[word])
    }

    /// Handles an answer from a node. If a step of a wavefront is answered, the step completes, but
    /// a step that waits for a flag is repeated if it read a value that is too low. If a request at
    /// the beginning or the end of a kernel is answered, the request completes. If a request for a
    /// preempted work-group is answered, the preemption continues. If a load of the host after the
    /// last kernel is answered, its bytes are kept.
    pub(super) fn answered(
        &mut self,
        (node, slot): (At, Slot),
        data: Option<&LineData>,
        program: &Program,
    ) -> Result<(), EpisodeFault> {
        match self.slots.free(node, slot) {
            Some(Sender::Wave(wave, at)) => {
                self.completed(usize::from(wave), usize::from(at), data, program)?;
                match self.residencies.is_stopped(wave.into()) {
                    true => self.stopped(wave.into(), program),
                    false => Ok(()),
                }
            }
            Some(Sender::Boundary(agent)) => {
                self.ending &= !(1 << agent);
                Ok(())
            }
            Some(Sender::Group(group)) => self.moved(group.into(), program),
            Some(Sender::Reader(line)) => self.host_has_read(line.into(), data),
            None => Err(fault(format!("{} answers without a request", self.stations.node_name(node)))),
        }
    }

    /// Handles the answer to a step of a wavefront. `at` is the position of the step in the
    /// wavefront's `under_way`. The wavefront issues the step again if the step waits for a flag
    /// and read a value that is too low. Otherwise the step completes.
    fn completed(
        &mut self,
        wave: usize,
        at: usize,
        data: Option<&LineData>,
        program: &Program,
    ) -> Result<(), EpisodeFault> {
        let Some(at) = self.waves[wave].under_way[at].take() else {
            return Err(fault(format!(
                "wavefront {wave} gets an answer to a request that is not outstanding"
            )));
        };
        let at = usize::from(at);
        let step = &program.threads[wave][at];
        let fails = |what: String| Err(EpisodeFault { at: Some((wave, at)), ..fault(what) });
        if step.reads() != data.is_some() {
            return fails(String::from("the answer has unexpected data, or lacks data"));
        }
        let empty = LineData::default();
        let data = data.unwrap_or(&empty);
        if step.words != 0 {
            if step.reads()
                && let Some(what) = self.difference(step, data, program)
            {
                return fails(what);
            }
            self.wake(wave);
            return Ok(());
        }
        let (_, offset, width) = self.place(usize::from(step.word), program);
        let found = data.read(offset, width);
        match step.kind {
            Kind::Count => {
                let counted = &mut self.counted[usize::from(step.word) - FIRST_COUNTER];
                let bit = u32::try_from(found).ok().and_then(|found| 1u64.checked_shl(found)).unwrap_or(0);
                if *counted & bit != 0 || bit == 0 {
                    let why = match bit {
                        0 => "no addition leads to this value",
                        _ => "another addition has found this value before",
                    };
                    return fails(format!("found the counter at {found}: {why}"));
                }
                *counted |= bit;
            }
            Kind::SetIf(old) if found != u64::from(old) => return fails(format!("found {found}")),
            Kind::Await | Kind::AwaitAdding if found < u64::from(step.value) => {
                self.waves[wave].at -= 1;
                if self.set[step.flag()] < step.value && !self.draws.chance(POLL_RATE) {
                    self.sleeping[step.flag()] |= 1 << wave;
                    return Ok(());
                }
            }
            Kind::Set | Kind::Swap | Kind::SetIf(_) => {
                self.set[step.flag()] = step.value;
                let sleeping = core::mem::take(&mut self.sleeping[step.flag()]);
                if sleeping != 0 {
                    (0..WAVES)
                        .filter(|sleeper| sleeping >> sleeper & 1 == 1)
                        .for_each(|sleeper| self.wake(sleeper));
                }
            }
            Kind::Load
            | Kind::Store
            | Kind::Update(_)
            | Kind::CompareSwap(_)
            | Kind::Await
            | Kind::AwaitAdding
            | Kind::Fence => {}
        }
        self.wake(wave);
        Ok(())
    }

    /// A description of the first loaded value that is wrong, or `None` if all loaded values are
    /// right.
    #[inline]
    fn difference(&self, step: &WaveStep, data: &LineData, program: &Program) -> Option<String> {
        for (lane, word) in step.lanes() {
            let (_, offset, width) = self.place(word, program);
            if data.read(offset, width) != repeated(step.old[lane], width) {
                let found = value_text(word, &data.0[offset..offset + width.bytes()]);
                return Some(match step.words.is_power_of_two() {
                    true => format!("found {found}"),
                    false => format!("found {found} in {}", super::layout::name(word)),
                });
            }
        }
        None
    }
}
