//! The rollover unit, one for the machine. It restarts all timestamps at zero when the largest one
//! is exceeded.

use super::tables::{Command, Phase, RolloverTable, Signal};
use super::{Leased, ToBank, ToRollover};
use crate::parts::{BANK, FIRST};
use proto::{Condition, Controller, Cx, Disposition, Input, NodeId, Row};

/// The state of the rollover unit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rollover {
    phase: Phase,
    /// The number of banks that have not yet stopped and of L1s that have not yet dropped their
    /// lines, for the rollover under way.
    due: u32,
}

impl Default for Rollover {
    fn default() -> Self {
        Rollover { phase: Phase::Idle, due: 0 }
    }
}

impl Rollover {
    fn tell_banks<P: Leased>(msg: ToBank, cx: &mut Cx<'_, P>) {
        let banks = cx.world.levels.of(BANK).count;
        (0..banks).for_each(|index| cx.fx.send(NodeId { kind: BANK, index }, msg));
    }

    fn signal<P: Leased>(&mut self, signal: Signal, cx: &mut Cx<'_, P>) -> Disposition {
        let looked = cx.row::<RolloverTable>(self.phase, signal);
        let (actions, next) = match looked.row {
            Row::Do { actions, next, .. } => (actions, next),
            Row::Stall => return Disposition::Impossible("the unit never waits"),
            Row::Impossible(why) => return Disposition::Impossible(why),
        };
        for (_, command) in (0u8..).zip(actions).filter(|&(at, _)| looked.skip != Some(at)) {
            match command {
                Command::StopBanks => {
                    let levels = cx.world.levels;
                    self.due = u32::from(levels.of(BANK).count) + u32::from(levels.of(FIRST).count);
                    Self::tell_banks(ToBank::Stop, cx);
                }
                Command::StartBanks => Self::tell_banks(ToBank::Start, cx),
            }
        }
        self.phase = next.unwrap_or(self.phase);
        Disposition::Done
    }
}

impl<P: Leased> Controller<P> for Rollover {
    type Msg = ToRollover;

    fn step(&mut self, input: Input<'_, ToRollover>, cx: &mut Cx<'_, P>) -> Disposition {
        match input {
            Input::Message { msg: ToRollover::Overflow, .. } => self.signal(Signal::Overflow, cx),
            Input::Message { msg: ToRollover::Stopped | ToRollover::Emptied, .. } => {
                self.due = self.due.saturating_sub(1);
                self.signal(if self.due == 0 { Signal::LastAnswer } else { Signal::Answer }, cx)
            }
            Input::Tick { .. } => Disposition::Done,
            Input::Request(_) | Input::Memory(_) | Input::Evict(_) | Input::Timer(_) => {
                Disposition::Impossible("the rollover unit has no requests, lines or timers")
            }
        }
    }

    fn conditions(&self, out: &mut Vec<Condition>) {
        if self.phase == Phase::Stopping {
            out.push(Condition { track: "rollover", text: String::from("timestamps start again") });
        }
    }

    fn is_quiet(&self) -> bool {
        self.phase == Phase::Idle
    }
}
