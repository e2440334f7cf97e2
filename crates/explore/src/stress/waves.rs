//! The wavefronts of an episode: their issue, the check of their answers, and the check of
//! memory after the end of their kernel.

use super::episode::{self, CUS, FIRST_COUNTER, Kind, Step, WAVES, WORD, WORDS, cu};
use super::fault::{EpisodeFault, fault};
use super::machine::Machine;
use super::order::Program;
use super::wave::UNDER_WAY_MAX;
use drive::StationInput;
use proto::{
    ArrayId, Boundary, ByteMask, Hints, Issuer, KernelId, Level, LineAddr, LineData, Op, Request, Rmw,
    RmwKind, Scope, Slot, Width,
};

/// The rate at which a wavefront polls a flag that is not set, in 256.
const POLL_RATE: u64 = 64;
/// The first slot for requests at the ends of kernels.
const ENDS: usize = WAVES * UNDER_WAY_MAX;

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
        let steps = &program.threads[wave];
        let Some(&step) = steps.get(state.at) else { return Ok(()) };
        // Data accesses to different words overlap; all other steps are in order.
        let waits_for = |&other: &u16| {
            let other = &steps[usize::from(other)];
            !step.is_plain() || !other.is_plain() || step.word == other.word
        };
        let is_held = state.under_way.iter().flatten().any(waits_for);
        let Some(free) = state.under_way.iter().position(Option::is_none).filter(|_| !is_held) else {
            return Ok(()); // An answer wakes it.
        };
        if step.awaits() && self.set[step.flag()] < step.value && !self.draws.chance(POLL_RATE) {
            self.sleeping[step.flag()] |= 1 << wave;
            return Ok(());
        }
        state.under_way[free] = Some(state.at as u16);
        state.at += 1;
        self.ran.operations += 1;
        let request = self.request(wave, step, program);
        let slot = Slot((wave * UNDER_WAY_MAX + free) as u32);
        let node = self.entry(wave, &request)?;
        if step.is_plain() {
            self.wake(wave);
        }
        self.tell(node, &StationInput::Request { slot, request: &request }, program)
    }

    fn request(&self, wave: usize, step: Step, program: &Program) -> Request {
        let rmw = |kind, uses_value| Op::Rmw(Rmw { kind, width: Width::W4, uses_value });
        let (op, operand) = match step.kind {
            Kind::Load | Kind::Await => (Op::Load, 0),
            Kind::Store | Kind::Set => (Op::Store, step.value),
            Kind::Count => (rmw(RmwKind::Add, true), 1),
            Kind::AwaitAdding => (rmw(RmwKind::Add, true), 0),
            Kind::Exchange(_) => (rmw(RmwKind::Exchange, true), step.value),
            Kind::Swap => (rmw(RmwKind::Exchange, false), step.value),
            Kind::Fence => (Op::Fence, 0),
        };
        let group = cu(wave).unwrap_or(CUS) as u32;
        let instance = if step.level == Level::WorkGroup { group } else { 0 };
        let (line, offset) = self.place(usize::from(step.word), program);
        let mut data = LineData::default();
        data.write(offset, Width::W4, u64::from(operand));
        Request {
            op,
            order: step.order,
            scope: Scope { level: step.level, instance },
            issuer: Issuer { work_item: 0, wavefront: (wave / CUS) as u32, work_group: group },
            hints: Hints { remote: step.remote, commutative: matches!(step.kind, Kind::Count) },
            array: ArrayId(0),
            line,
            mask: ByteMask::range(offset, WORD),
            data,
        }
    }

    /// The line of a word, and the word's offset in that line.
    fn place(&self, word: usize, program: &Program) -> (LineAddr, usize) {
        let address = usize::from(program.places[word]) * WORD;
        let line_bytes = usize::from(self.topology().line_bytes);
        (LineAddr((address >> line_bytes.trailing_zeros()) as u64), address & (line_bytes - 1))
    }

    /// Completes the step that an answer belongs to, or repeats the step.
    pub(super) fn answered(
        &mut self,
        slot: Slot,
        data: Option<&LineData>,
        program: &Program,
    ) -> Result<(), EpisodeFault> {
        let slot = slot.0 as usize;
        if slot >= ENDS {
            let bit = 1 << (slot - ENDS);
            let is_awaited = self.ending & bit != 0;
            self.ending &= !bit;
            return if is_awaited {
                Ok(())
            } else {
                Err(fault(String::from("the end of a kernel is answered twice")))
            };
        }
        let (wave, at) = (slot / UNDER_WAY_MAX, slot % UNDER_WAY_MAX);
        let Some(at) = self.waves[wave].under_way[at].take() else {
            return Err(fault(format!("wavefront {wave} is answered without a request")));
        };
        let at = usize::from(at);
        let step = &program.threads[wave][at];
        let fails = |what: String| Err(EpisodeFault { what, at: Some((wave, at)) });
        let (_, offset) = self.place(usize::from(step.word), program);
        let found = data.map(|data| data.read(offset, Width::W4) as u32);
        let reads = !matches!(step.kind, Kind::Store | Kind::Set | Kind::Swap | Kind::Fence);
        if reads != found.is_some() {
            return fails(String::from("the answer has unexpected data, or lacks data"));
        }
        let found = found.unwrap_or_default();
        match step.kind {
            Kind::Load if found != step.value => return fails(format!("found {found}")),
            Kind::Exchange(old) if found != old => return fails(format!("found {found}")),
            Kind::Count => {
                let counted = &mut self.counted[usize::from(step.word) - FIRST_COUNTER];
                if counted.contains(&found) {
                    return fails(format!(
                        "found the counter at {found}, which another addition has already found"
                    ));
                }
                counted.push(found);
            }
            Kind::Await | Kind::AwaitAdding if found < step.value => {
                self.waves[wave].at -= 1;
                if self.set[step.flag()] < step.value && !self.draws.chance(POLL_RATE) {
                    self.sleeping[step.flag()] |= 1 << wave;
                    return Ok(());
                }
            }
            Kind::Set | Kind::Swap => {
                self.set[step.flag()] = step.value;
                let sleeping = core::mem::take(&mut self.sleeping[step.flag()]);
                (0..WAVES)
                    .filter(|sleeper| sleeping >> sleeper & 1 == 1)
                    .for_each(|sleeper| self.wake(sleeper));
            }
            Kind::Load | Kind::Exchange(_) | Kind::Store | Kind::Await | Kind::AwaitAdding | Kind::Fence => {}
        }
        self.wake(wave);
        Ok(())
    }

    /// Ends the kernel on every compute unit and then on the machine, so that memory has all stored
    /// values for the host.
    pub(super) fn end_kernels(&mut self, program: &Program) -> Result<(), EpisodeFault> {
        for step in Boundary::END {
            let requests = self.stations.boundary(step, KernelId(0)).map_err(fault)?;
            for (at, (_, node, request)) in requests.iter().enumerate() {
                self.ending |= 1 << at;
                let slot = Slot((ENDS + at) as u32);
                self.tell(*node, &StationInput::Request { slot, request }, program)?;
            }
            self.run_events(program)?;
        }
        match self.ending {
            0 => Ok(()),
            _ => Err(fault(String::from("all wavefronts are done, but their kernel does not end"))),
        }
    }

    /// Checks that memory has the last stored value of each word.
    pub(super) fn check_memory(&self, program: &Program) -> Result<(), EpisodeFault> {
        for word in 0..WORDS {
            let (line, offset) = self.place(word, program);
            let found = self.memory[line.0 as usize].read(offset, Width::W4) as u32;
            let last = program.last[word];
            if found != last {
                let name = episode::name(word);
                return Err(fault(format!("memory has {found} in {name} at the end, expected {last}")));
            }
        }
        Ok(())
    }
}
