//! A machine that follows a script of moves. Some events, such as the arrival of a message, wait
//! until a move names them. See [`crate::follow`].

use crate::cores::instr::{Owner, Phase};
use crate::cores::wave::Stage;
use crate::engine::Event;
use crate::led::moves::{End, FollowError, MadeMove, Move, MoveIssuer, Script};
use crate::led::state::ScriptState;
use crate::machine::{Finished, Machine};
use crate::queue::Cycle;
use crate::reports::attribution::QueueWaits;
use crate::reports::error::RunError;
use crate::reports::probe::Probe;
use crate::stations::timed::StepInput;

/// The result of a scripted run: the names of the stations (controllers), the moves made, and the
/// state at the end.
pub(crate) struct ScriptResult {
    pub(crate) stations: Vec<String>,
    pub(crate) steps: Vec<MadeMove>,
    pub(crate) end: ScriptEnd,
}

pub(crate) enum ScriptEnd {
    Over(Box<Finished>),
    Early(End),
}

/// The rule that decides when an event of a scripted run happens: by itself, or when a move (a step
/// of the script) names it.
enum Choice {
    /// The event happens by itself, without a move of the script.
    None,
    /// The event waits until this move of the script names it.
    Of(Move),
    /// The event is an answer to a core from a station (controller) that does not receive the
    /// core's plain loads. The event waits until a move of kind [`Move::Cross`] names it.
    Crosses,
    /// The event is the last arithmetic of a wavefront, or the launch of a kernel that the script
    /// does not list. The last arithmetic waits until a move ends the kernel of the wavefront, or
    /// until all moves are made. The launch waits until all moves are made.
    Last,
}

/// The maximum number of timer events before the script's first move. A limit is necessary because
/// some timers never stop.
const TIMERS_MAX: u32 = 10_000;

impl<Pr: Probe> Machine<'_, Pr> {
    /// Makes the moves of a script one after the other. Returns the moves made and the state after
    /// them.
    pub(crate) fn follow(mut self, script: &Script<'_>) -> Result<ScriptResult, FollowError> {
        // A port must accept a request even if many requests are outstanding, because a move may
        // name it.
        self.ports.take_any_number();
        let mut held = Vec::new();
        self.stations.hold_time();
        self.script = Some(ScriptState::new(script.kernels));
        self.give_first_inputs();
        self.poll_host();
        // If moves order the requests at kernel boundaries, there is no setup: moves also begin the
        // steps before the first operation.
        self.go_on(&mut held, script.kernels.is_none())?;
        if let Some(failure) = self.engine.take_failure() {
            return Err(failure.into());
        }
        self.set_between_steps(false);
        self.stations.fabric_mut().hold_ways(true);
        let mut steps = Vec::new();
        let mut impossible = None;
        for (at, &mv) in script.moves.iter().enumerate() {
            let Some(step) = self.make(mv, &mut held)? else {
                return Err(FollowError::NotOpen { at, open: self.open(&held) });
            };
            steps.push(step);
            impossible = self.impossible()?;
            if impossible.is_some() {
                break;
            }
        }
        let stations = self.stations.names().map(str::to_owned).collect();
        let end = match impossible {
            Some(why) => ScriptEnd::Early(End::Impossible(why)),
            None => self.close(held)?,
        };
        Ok(ScriptResult { stations, steps, end })
    }

    /// Processes the events that need no move (step of the script). In the setup before the first
    /// move (`is_setup`), these are all events except the issue of operations by wavefronts and the
    /// host.
    fn go_on(&mut self, held: &mut Vec<Event>, is_setup: bool) -> Result<(), RunError> {
        let mut timers = 0;
        while !self.engine.has_failed()
            && let Some((now, event)) = self.engine.next()
        {
            let is_by_itself = match self.choice(event) {
                Choice::None => true,
                Choice::Last | Choice::Crosses | Choice::Of(Move::Issue(_)) => false,
                Choice::Of(Move::Timer { .. }) => {
                    timers += 1;
                    is_setup && timers <= TIMERS_MAX
                }
                Choice::Of(_) => is_setup,
            };
            match is_by_itself {
                true => self.happen(now, event),
                false => held.push(event),
            }
        }
        match self.engine.take_failure() {
            Some(failure) if is_setup => Err(failure),
            Some(failure) => {
                self.engine.fail(failure);
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn choice(&self, event: Event) -> Choice {
        match event {
            Event::Simd(unit) => match self.cores.running(unit) {
                Some(wave) => self.choice_of_wave(wave),
                None => Choice::None,
            },
            Event::Complete(number) => match self.cores.instr(number) {
                Some(instr) if instr.phase == Phase::BarrierWait => match (instr.owner, instr.op) {
                    (Owner::Wave(wave), Some(op))
                        if self.session.ops().get(op).semantics.order.acquires() =>
                    {
                        self.issues(wave)
                    }
                    _ => Choice::None,
                },
                _ if self.crossing(event).is_some() => Choice::Crosses,
                _ => Choice::None,
            },
            Event::Launch if self.is_after_script() => Choice::Last,
            Event::Host => Choice::Of(Move::Issue(MoveIssuer::Host)),
            Event::Arrive(number) => match self.network.transit(number) {
                Some(transit) => Choice::Of(Move::Deliver { from: transit.from, to: transit.to }),
                None => Choice::None,
            },
            Event::MemoryStart(number) => match self.memory.operation(number) {
                Some(op) => Choice::Of(Move::Serve { station: op.station, line: op.line, answers: false }),
                None => Choice::None,
            },
            Event::MemoryDone(number) => match self.memory.operation(number) {
                Some(op) => Choice::Of(Move::Answer { station: op.station, line: op.line }),
                None => Choice::None,
            },
            Event::Timer(station, class) => Choice::Of(Move::Timer { station, class }),
            Event::WaveStart(_)
            | Event::Deadline(_)
            | Event::Port(_)
            | Event::Depart(_)
            | Event::MemoryDepart(_)
            | Event::MemoryServe(_)
            | Event::MemoryFill(_)
            | Event::MemoryFilled(_)
            | Event::MemoryReturn(_)
            | Event::Launch
            | Event::Dispatch => Choice::None,
        }
    }

    fn choice_of_wave(&self, wave: u32) -> Choice {
        let Stage::Arithmetic(Some(op)) = self.cores.wave(wave).stage else { return Choice::Last };
        let ops = self.session.ops();
        let op = ops.get(op);
        // When a wavefront reaches a barrier that makes no release, it sends no request.
        let is_silent = op.action == kernel::Action::Barrier && !op.semantics.order.releases();
        if is_silent { Choice::None } else { self.issues(wave) }
    }

    pub(crate) fn is_last(&self, event: Event) -> bool {
        matches!(self.choice(event), Choice::Last)
    }

    fn issues(&self, wave: u32) -> Choice {
        let at = self.cores.wave(wave).at;
        Choice::Of(Move::Issue(MoveIssuer::Wave { work_group: at.work_group, wave: at.wave }))
    }

    /// The move (a step of the script) that names this event, if the event may happen now. `None`
    /// if no move names the event, or if the event must wait for other events first.
    fn is_open(&self, event: Event) -> Option<Move> {
        let Choice::Of(mv) = self.choice(event) else { return None };
        if matches!(mv, Move::Issue(_)) && !self.may_issue() {
            return None;
        }
        if let Event::Simd(unit) = event
            && let Some(wave) = self.cores.running(unit)
        {
            let Stage::Arithmetic(Some(op)) = self.cores.wave(wave).stage else { return None };
            if !self.cores.may_issue(&self.session, wave, op) {
                return None;
            }
        }
        Some(mv)
    }

    /// The index in `held` of the first event that the move (a step of the script) names.
    fn find(&self, mv: Move, held: &[Event]) -> Option<usize> {
        let mv = match mv {
            Move::Serve { station, line, .. } => Move::Serve { station, line, answers: false },
            other => other,
        };
        held.iter().position(|&event| self.is_open(event) == Some(mv))
    }

    /// Makes a move (a step of the script), and then processes the events that need no move.
    /// Returns `None` if the move is not possible.
    fn make(&mut self, mv: Move, held: &mut Vec<Event>) -> Result<Option<MadeMove>, RunError> {
        let cycle = self.engine.now();
        let what = match mv {
            Move::Evict { station, way } => {
                if !self.evict(station, way) {
                    return Ok(None);
                }
                ""
            }
            Move::Tick { station } => {
                let stations = self.stations.numbers();
                if !self.stations.is_clocked() || station.is_some_and(|station| !stations.contains(&station))
                {
                    return Ok(None);
                }
                let all = station.map_or(stations, |station| station..station + 1);
                all.for_each(|station| self.pass(cycle, station, 1));
                ""
            }
            _ => match self.make_led(cycle, mv, held) {
                Some(what) => what,
                None => return Ok(None),
            },
        };
        self.go_on(held, false)?;
        self.stations.fabric_mut().sort_ways();
        if let Move::Serve { station, line, answers: true } = mv
            && !self.engine.has_failed()
        {
            return Ok(self.make(Move::Answer { station, line }, held)?.map(|_| MadeMove { cycle, what }));
        }
        Ok(Some(MadeMove { cycle, what }))
    }

    /// Makes a move (a step of the script) that names a held event, a held request or a work-group.
    /// Returns `None` if the move is not possible.
    fn make_led(&mut self, cycle: Cycle, mv: Move, held: &mut Vec<Event>) -> Option<&'static str> {
        match mv {
            Move::Boundary { agent } => self.make_boundary(cycle, agent),
            Move::Next => self.make_next(cycle, held),
            Move::Cross { .. } => self.make_cross(cycle, mv, held),
            Move::Preempt { work_group } => self.make_preempt(cycle, work_group, held),
            Move::Resume { work_group, cu } => self.make_resume(cycle, work_group, cu),
            _ => {
                let event = held.remove(self.find(mv, held)?);
                let what = self.what(event);
                self.happen(cycle, event);
                Some(what)
            }
        }
    }

    fn what(&self, event: Event) -> &'static str {
        use crate::memory::operations::AccessKind::{Read, Rmw, Write};
        match event {
            Event::Arrive(number) => self.network.transit(number).map_or("", |transit| transit.name),
            Event::MemoryStart(number) => self.memory.operation(number).map_or("", |op| match op.kind {
                Read => "reads",
                Write { .. } => "writes",
                Rmw { .. } => "updates",
            }),
            _ => "",
        }
    }

    fn evict(&mut self, station: u32, way: proto::Way) -> bool {
        if !self.stations.numbers().contains(&station)
            || !self.stations.fabric_mut().ways(station).victims.contains(&way)
        {
            return false;
        }
        self.stations.evict(station, way);
        self.carry_out(self.engine.now(), station, StepInput::Timer, QueueWaits::default());
        true
    }

    /// The message of a fault in the last move (a step of the script), or `None` if it had no
    /// fault. The move is at fault if it led to a row that the protocol's tables call impossible.
    /// It is also at fault if a station (a controller with its parked inputs) now has a wrong
    /// count, or a parked input that should have been presented again.
    fn impossible(&mut self) -> Result<Option<String>, RunError> {
        match self.engine.take_failure() {
            None => Ok(self.stations.numbers().find_map(|at| self.stations.fabric().fault(at))),
            Some(RunError::Violation { why, .. }) => Ok(Some(why)),
            Some(other) => Err(other),
        }
    }

    /// All moves (steps of a script) that are possible now.
    fn open(&mut self, held: &[Event]) -> Vec<Move> {
        let mut open: Vec<Move> = Vec::new();
        for &event in held {
            open.extend(self.is_open(event).filter(|mv| !open.contains(mv)));
        }
        open.extend(self.crossings(held).into_iter().map(|(mv, _)| mv));
        open.extend(self.open_without_events());
        for station in self.stations.numbers() {
            let ways = self.stations.fabric_mut().ways(station);
            if ways.is_needed {
                open.extend(ways.victims.into_iter().map(|way| Move::Evict { station, way }));
            }
        }
        open
    }

    /// The state of the run after the last move of the script. If all threads have ended, the
    /// kernel is first allowed to end, and the host to continue.
    fn close(mut self, held: Vec<Event>) -> Result<ScriptEnd, RunError> {
        let open = self.open(&held);
        // A program can end while a periodic timer runs.
        let is_over = self.is_program_over();
        let may_end = |mv: &Move| matches!(mv, Move::Timer { class, .. } if is_over && class.is_periodic());
        if !open.iter().all(may_end) {
            return Ok(ScriptEnd::Early(End::Unfinished(open)));
        }
        if !is_over {
            return Ok(ScriptEnd::Early(End::Stuck));
        }
        let mut unrest = self.stations.numbers().filter_map(|at| self.stations.fabric_mut().ways(at).unrest);
        if let Some(why) = unrest.next() {
            return Ok(ScriptEnd::Early(End::NotAtRest(why)));
        }
        drop(unrest);
        self.stations.fabric_mut().hold_ways(false);
        let now = self.engine.now();
        self.script = None;
        self.stations.release_time(&mut self.engine, &mut self.reports.watch);
        held.into_iter().for_each(|event| self.engine.put_back(now, event));
        self.reports.watch.progress(now);
        let cycles = match self.run_to_end() {
            Err(RunError::Violation { why, .. }) => return Ok(ScriptEnd::Early(End::NotAtRest(why))),
            Err(RunError::Stuck(_)) => {
                let why = "the program has ended, but the end of its kernel does not complete";
                return Ok(ScriptEnd::Early(End::NotAtRest(why.to_owned())));
            }
            ended => ended?,
        };
        Ok(ScriptEnd::Over(Box::new(self.finish(cycles)?)))
    }
}
