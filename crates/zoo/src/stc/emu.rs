//! The epoch management unit. A machine has one such unit. It grants epochs to the compute units.
//! In an epoch, the lines of one band (a group of lines) may be written.

use super::tables::{Command, EmuTable, Phase, Signal};
use super::{Grant, Params, Rule, Stc, ToEmu, ToL1};
use crate::parts::FIRST;
use proto::{Condition, Controller, Cx, Disposition, Input, LineAddr, NodeId, Row, TimerClass};

/// The state of the epoch management unit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Emu {
    phase: Phase,
    /// The epochs (times in which certain bands of lines may be written) that are in force, or that
    /// the change of epochs under way will put in force.
    granted: Grant,
    /// The number of the epoch (the time in which one band of lines may be written) that was
    /// granted last. The search for the next epoch begins with the next number.
    last: u32,
    /// The number of compute units that have not yet answered in the current phase of the change of
    /// epochs (of the lines that may be written).
    due: u32,
    /// The epoch request vector. For each epoch (the time in which one band of lines may be
    /// written), it has the line of the write that demanded the epoch, or `None` if no write did.
    /// The vector is empty if epochs are granted without a demand.
    wanted: Vec<Option<LineAddr>>,
    /// The start bit that holds from the next change of epochs on: the lowest bit of a line's
    /// number that selects the band (group of lines) to which the line belongs.
    next_shift: u8,
    /// The number of moves of the start bit since a change of epochs has granted all demands. Stays
    /// zero in the published protocols.
    moves: u32,
}

impl Emu {
    /// The epoch management unit at the start, when epoch 0 is in force: the lines of band 0 may be
    /// written.
    #[must_use]
    pub fn new(params: &Params) -> Self {
        Emu {
            phase: Phase::Idle,
            granted: Grant::first(params),
            last: 0,
            due: 0,
            wanted: if params.variant.skips { vec![None; params.epochs as usize] } else { Vec::new() },
            next_shift: params.least_shift,
            moves: 0,
        }
    }

    /// The epoch request vector (the demands of writes for epochs) at the next change of epochs. If
    /// the start bit (the lowest bit of a line's number that selects the band of the line) changes,
    /// the line of a demand may belong to another band. As published, the demand stays at its
    /// epoch. The repaired unit moves the demand to the epoch of the new band.
    fn wanted_next(&self, params: &Params) -> Vec<Option<LineAddr>> {
        let moves = params.variant.repaired && params.variant.without != Some(Rule::DemandsMove);
        if !moves || self.next_shift == self.granted.shift {
            return self.wanted.clone();
        }
        let next = Grant { shift: self.next_shift, ..self.granted };
        let mut wanted = vec![None; self.wanted.len()];
        for &line in self.wanted.iter().flatten() {
            wanted[next.band(line) as usize].get_or_insert(line);
        }
        wanted
    }

    /// The numbers of the epochs (times in which one band of lines each may be written) to grant
    /// next, in the order of their turns. With epoch skipping, only epochs that a write has
    /// demanded have a turn. Without epoch skipping, each epoch has its turn.
    fn next_epochs(&self, wanted: &[Option<LineAddr>], params: &Params) -> Vec<u32> {
        let turns = (1..=params.epochs).map(|turn| (self.last + turn) % params.epochs);
        let may_be = |&epoch: &u32| match params.variant.without {
            Some(Rule::EveryBandHasAnEpoch) => epoch + 1 != params.epochs,
            Some(Rule::EpochsEnd) => false,
            Some(Rule::EpochsReturn) => epoch > self.last,
            _ => true,
        };
        let is_due = |&epoch: &u32| !params.variant.skips || wanted[epoch as usize].is_some();
        turns.filter(may_be).filter(is_due).take(params.variant.bands).collect()
    }

    /// Chooses the next epochs (the bands of lines that may be written next), and asks all compute
    /// units to prepare for the change of epochs.
    fn prepare<P: Stc>(&mut self, cx: &mut Cx<'_, P>) {
        let params = cx.world.params;
        self.wanted = self.wanted_next(params);
        let epochs = self.next_epochs(&self.wanted, params);
        let set = epochs.iter().fold(0, |set, epoch| set | 1 << epoch);
        for (_, demand) in (0u32..).zip(&mut self.wanted).filter(|(epoch, _)| set >> epoch & 1 == 1) {
            *demand = None;
        }
        if self.wanted.iter().all(Option::is_none) {
            self.moves = 0;
        } else if params.variant.repaired && self.next_shift != self.granted.shift {
            self.moves += 1;
        }
        self.last = epochs.last().copied().unwrap_or(self.last);
        self.granted = Grant { set, shift: self.next_shift, ..self.granted };
        let next = params.variant.repaired.then_some(self.granted);
        let bytes = if next.is_some() { params.variant.grant_bytes() } else { 0 };
        cx.fx.uses.changes_begun += 1;
        self.tell_all(ToL1::PrepareEpochChange { next, bytes }, cx);
    }

    fn tell_all<P: Stc>(&mut self, msg: ToL1, cx: &mut Cx<'_, P>) {
        self.due = u32::from(cx.world.levels.cus);
        (0..cx.world.levels.cus).for_each(|index| cx.fx.send(NodeId { kind: FIRST, index }, msg));
    }

    /// Moves the start bit (the lowest bit of a line's number that selects the band of the line)
    /// because of a conflict between a load and a blocked write that demanded the epoch of the
    /// load's band. If the two addresses differ in the bits above the band, the start bit becomes
    /// higher, which can separate the load and the write. Otherwise the start bit becomes lower,
    /// which can also separate them. Only the first conflict since the last change of epochs
    /// counts. The start bit rests if it has moved so often that a demand could wait for ever.
    fn adapt(&mut self, load: LineAddr, params: &Params) {
        let shift = self.granted.shift;
        if self.moves >= params.epochs && params.variant.without != Some(Rule::StartBitRests) {
            return;
        }
        let demand = self.wanted.get(self.granted.band(load) as usize).copied().flatten();
        let Some(write) = demand.filter(|_| self.next_shift == shift) else { return };
        let differ_above = (load.0 ^ write.0) >> shift >> params.epochs.ilog2() != 0;
        let (up, down) = (params.most_shift.min(shift + 1), params.least_shift.max(shift.saturating_sub(1)));
        self.next_shift = if differ_above { up } else { down };
    }

    fn signal<P: Stc>(
        &mut self,
        signal: Signal,
        (from, line): (NodeId, LineAddr),
        cx: &mut Cx<'_, P>,
    ) -> Disposition {
        let looked = cx.row::<EmuTable>(self.phase, signal);
        let (actions, next) = match looked.row {
            Row::Do { actions, next, .. } => (actions, next),
            Row::Stall => return Disposition::Impossible("the epoch management unit never waits"),
            Row::Impossible(why) => return Disposition::Impossible(why),
        };
        for (_, command) in (0u8..).zip(actions).filter(|&(at, _)| looked.skip != Some(at)) {
            match command {
                Command::Rearm => cx.fx.timer(TimerClass::Epoch),
                Command::Prepare => self.prepare(cx),
                Command::Change => {
                    let (next, bytes) = (self.granted, cx.world.params.variant.grant_bytes());
                    self.tell_all(ToL1::ChangeEpoch { next, bytes }, cx);
                }
                Command::Note => {
                    let epoch = self.granted.band(line) as usize;
                    self.wanted[epoch].get_or_insert(line);
                }
                Command::Confirm => cx.fx.send(from, ToL1::EpochDemandAck),
                Command::Adapt => self.adapt(line, cx.world.params),
            }
        }
        cx.fx.uses.changes_ended += u32::from(signal == Signal::LastDone);
        self.phase = next.unwrap_or(self.phase);
        Disposition::Done
    }
}

impl<P: Stc> Controller<P> for Emu {
    type Msg = ToEmu;

    fn start(&mut self, cx: &mut Cx<'_, P>) {
        cx.fx.timer(TimerClass::Epoch);
    }

    fn step(&mut self, input: Input<'_, ToEmu>, cx: &mut Cx<'_, P>) -> Disposition {
        let none = (cx.me, LineAddr(0));
        match input {
            Input::Timer(TimerClass::Epoch) => {
                let params = cx.world.params;
                let is_idle = self.next_epochs(&self.wanted_next(params), params).is_empty();
                self.signal(if is_idle { Signal::IdleWakeup } else { Signal::Wakeup }, none, cx)
            }
            Input::Message { msg: ToEmu::ReadyAck | ToEmu::DoneAck, .. } if self.due == 0 => {
                Disposition::Impossible("no answer of a compute unit is outstanding")
            }
            Input::Message { msg: ToEmu::ReadyAck, .. } => {
                self.due -= 1;
                self.signal(if self.due == 0 { Signal::LastReady } else { Signal::Ready }, none, cx)
            }
            Input::Message { msg: ToEmu::DoneAck, .. } => {
                self.due -= 1;
                self.signal(if self.due == 0 { Signal::LastDone } else { Signal::Done }, none, cx)
            }
            Input::Message { from, msg: &ToEmu::EpochDemand { line, .. } } => {
                self.signal(Signal::Demand, (from, line), cx)
            }
            Input::Message { from, msg: &ToEmu::EpochConflict { line } } => {
                self.signal(Signal::Conflict, (from, line), cx)
            }
            Input::Tick { .. } => Disposition::Done,
            Input::Request(_) | Input::Memory(_) | Input::Evict(_) | Input::Timer(_) => {
                Disposition::Impossible("the epoch management unit has no requests, lines or other timers")
            }
        }
    }

    fn conditions(&self, out: &mut Vec<Condition>) {
        let change = match self.phase {
            Phase::Idle => None,
            Phase::Preparing => Some("writes are completed"),
            Phase::Changing => Some("compute units change"),
        };
        out.extend(change.map(|text| Condition { track: "change", text: text.to_owned() }));
        if self.phase != Phase::Preparing {
            out.push(Condition { track: "epochs", text: self.granted.to_string() });
        }
    }

    fn is_quiet(&self) -> bool {
        self.phase == Phase::Idle
    }
}
