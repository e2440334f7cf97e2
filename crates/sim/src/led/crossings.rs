//! Crossings in a machine that follows a script of moves. A station is a controller of the
//! protocol. The plain loads of each core go to one station, its usual station. A crossing is a
//! request from a core to a different station, or the answer to such a request.

use proto::issue::IssueId;
use proto::{Agent, PlanKey};

use crate::cores::instr::{Instr, Owner, Phase};
use crate::engine::Event;
use crate::led::moves::{Move, MoveIssuer};
use crate::machine::Machine;
use crate::queue::Cycle;
use crate::reports::probe::Probe;

/// A crossing: a request from a core to a station (controller) other than its usual station (the
/// receiver of its plain loads), or the answer to such a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossing {
    from: u32,
    to: u32,
    issues: MoveIssuer,
    age: IssueId,
}

/// The list that holds a crossing until a move (a step of the script) names it, with the index in
/// this list. A crossing is a request or answer between a core and a station (controller) that does
/// not receive the core's plain loads.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HeldCrossing {
    /// The crossing is an answer. The field is its index among the held events.
    Answer(usize),
    /// The crossing is a request. The field is its index among the requests that cores hold.
    Request(usize),
}

impl<Pr: Probe> Machine<'_, Pr> {
    /// Three results: the issuer of an instruction, the station (controller) that receives the
    /// plain loads of this issuer, and the station that receives the requests of the instruction.
    /// `None` if the two stations are the same.
    fn crossing_stations(&self, instr: &Instr) -> Option<(MoveIssuer, u32, u32)> {
        if instr.is_forwarded {
            return None;
        }
        let (issues, agent) = match instr.owner {
            Owner::Wave(wave) => {
                let at = self.cores.wave(wave).at;
                (MoveIssuer::Wave { work_group: at.work_group, wave: at.wave }, Agent::Cu(at.cu as u16))
            }
            Owner::Host(_) => (MoveIssuer::Host, Agent::Host(0)),
            Owner::Group(group) => {
                let work_group = self.cores.group(group)?.number;
                (MoveIssuer::Wave { work_group, wave: 0 }, Agent::Cu(self.cores.cu_of(group)? as u16))
            }
            Owner::Kernel(_) | Owner::Release => return None,
        };
        let home = self.stations.entry(agent, PlanKey::PLAIN_LOAD).ok()?;
        let entered = self.stations.entry(agent, instr.head.key()).ok()?;
        (home != entered).then_some((issues, home, entered))
    }

    /// If an event is an answer to a core from a station (controller) that does not receive the
    /// core's plain loads, returns this answer as a crossing. Otherwise returns `None`.
    pub(crate) fn crossing(&self, event: Event) -> Option<Crossing> {
        let Event::Complete(number) = event else { return None };
        let instr = self.cores.instr(number).filter(|instr| instr.phase != Phase::BarrierWait)?;
        let (issues, home, entered) = self.crossing_stations(instr)?;
        Some(Crossing { from: entered, to: home, issues, age: instr.issue })
    }

    /// If the request of an instruction goes to a station (controller) that does not receive the
    /// plain loads of the instruction's core, returns this request as a crossing. Otherwise returns
    /// `None`.
    fn crossing_of_request(&self, number: u32) -> Option<Crossing> {
        let instr = self.cores.instr(number)?;
        let (issues, home, entered) = self.crossing_stations(instr)?;
        Some(Crossing { from: home, to: entered, issues, age: instr.issue })
    }

    /// Holds back the request of an instruction until a move (a step of the script that the run
    /// follows) names this request. Returns false if the request needs no move: the run follows no
    /// script, or the request goes to the station (controller) that receives the plain loads of the
    /// instruction's core.
    pub(crate) fn holds_back(&mut self, number: u32) -> bool {
        if self.script.is_none() || self.crossing_of_request(number).is_none() {
            return false;
        }
        self.script.as_mut().is_some_and(|script| {
            script.held_requests.push(number);
            true
        })
    }

    /// The moves (steps of a script) that let the held crossings happen. A crossing is a request or
    /// answer between a core and a station (controller) that does not receive the core's plain
    /// loads. Crossings of one issuer between the same two stations are numbered by age.
    pub(crate) fn crossings(&self, held: &[Event]) -> Vec<(Move, HeldCrossing)> {
        let Some(script) = &self.script else { return Vec::new() };
        let answers = held.iter().enumerate();
        let answers =
            answers.filter_map(|(at, &event)| Some((self.crossing(event)?, HeldCrossing::Answer(at))));
        let held_requests = script.held_requests.iter().enumerate();
        let held_requests = held_requests
            .filter_map(|(at, &n)| Some((self.crossing_of_request(n)?, HeldCrossing::Request(at))));
        let mut all: Vec<(Crossing, HeldCrossing)> = answers.chain(held_requests).collect();
        all.sort_by_key(|(crossing, _)| crossing.age.0);
        let way = |c: &Crossing| (c.from, c.to, c.issues);
        let moves = all.iter().enumerate().map(|(at, (crossing, held_crossing))| {
            let nth = all[..at].iter().filter(|(other, _)| way(other) == way(crossing)).count() as u32;
            let Crossing { from, to, issues, .. } = *crossing;
            (Move::Cross { from, to, issues, nth }, *held_crossing)
        });
        moves.collect()
    }

    /// Performs the held crossing that a move (a step of the script) names: a request to a station
    /// (controller) other than the core's usual one, or the answer to such a request. Returns
    /// `None` if no held crossing matches the move.
    pub(crate) fn make_cross(&mut self, now: Cycle, mv: Move, held: &mut Vec<Event>) -> Option<&'static str> {
        let (_, held_crossing) = self.crossings(held).into_iter().find(|(other, _)| *other == mv)?;
        match held_crossing {
            HeldCrossing::Answer(at) => {
                let event = held.remove(at);
                self.happen(now, event);
            }
            HeldCrossing::Request(at) => {
                let instr = self.script.as_mut()?.held_requests.remove(at);
                self.send_held(now, instr);
            }
        }
        Some("")
    }
}
