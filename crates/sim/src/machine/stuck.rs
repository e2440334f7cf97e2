//! The diagnosis of a machine that does not finish: the event for which the host and each wavefront
//! wait.

use std::collections::BTreeSet;

use kernel::OpId;
use proto::words::counted;
use proto::{LineAddr, Slot};

use super::Machine;
use crate::cores::instr::{Instr, Owner, Phase};
use crate::cores::operands::describe;
use crate::cores::wave::{Stage, Wave};
use crate::reports::error::{Awaited, Cause, RunError, Stuck, Wait};
use crate::reports::history::PastMessage;
use crate::reports::probe::{Probe, WaveAt};
use crate::reports::stuck::LineHistory;
use crate::stations::fabric::Parked;

/// The number of lines, and the number of messages for each line, that a diagnosis shows.
const LINES_SHOWN: usize = 4;
const MESSAGES_SHOWN: usize = 8;

impl<Pr: Probe> Machine<'_, Pr> {
    /// The error that ends a stuck run, with a diagnosis of the machine's current state.
    pub(super) fn stuck(&self, cause: Cause) -> RunError {
        let mut lines = BTreeSet::new();
        let mut waits = Vec::new();
        waits.extend(self.host_waits(&mut lines));
        for (number, wave) in self.cores.waves() {
            waits.extend(self.wave_waits(number, wave, cause, &mut lines));
        }
        RunError::Stuck(Box::new(Stuck {
            cause,
            cycle: self.engine.now(),
            seed: self.options.seed,
            waits,
            kernels: self.kernel_waits(),
            parked: self.parked_in_words(),
            lines: lines.into_iter().take(LINES_SHOWN).map(|line| self.line_history(line)).collect(),
        }))
    }

    fn host_waits(&self, lines: &mut BTreeSet<LineAddr>) -> Option<Wait> {
        let id = self.host.waits_for()?;
        let ops = self.session.ops();
        let op = ops.get(id);
        let site = op.site.to_string();
        let what = match op.action {
            kernel::Action::Launch(kernel) => Awaited::Kernel(self.session.launch(kernel).name.clone()),
            _ => {
                let owner = Owner::Host(id);
                match self.cores.instrs().find(|(_, instr)| instr.owner == owner) {
                    Some((number, instr)) => self.answer_waits(number, instr, describe(op), lines),
                    None => Awaited::Turn,
                }
            }
        };
        Some(Wait { who: format!("host program `{}`", self.session.program()), what, site })
    }

    fn wave_waits(
        &self,
        number: u32,
        wave: &Wave,
        cause: Cause,
        lines: &mut BTreeSet<LineAddr>,
    ) -> Option<Wait> {
        if !wave.is_live() {
            return None;
        }
        let who = self.wave_in_words(wave.at);
        let awaited: Option<OpId> = match wave.stage {
            Stage::Held(op) => Some(op),
            _ => wave.waits_for,
        };
        let mine = |instr: &&(u32, &Instr)| instr.1.owner == Owner::Wave(number);
        let of_op = self.cores.instrs().filter(|i| mine(&i)).find(|(_, instr)| instr.op == awaited);
        let oldest = || self.cores.instrs().filter(|i| mine(&i)).min_by_key(|(_, instr)| instr.issued_at);
        let ops = self.session.ops();
        let site = awaited
            .map(|id| ops.get(id).site.to_string())
            .or_else(|| wave.last.map(|last| last.site.to_string()))
            .unwrap_or_else(|| "its first step".to_owned());
        let found = of_op.or_else(oldest);
        if let Some((_, instr)) = found
            && instr.phase == Phase::BarrierWait
        {
            let group = self.cores.group(wave.group)?;
            let arrived = group.at_barrier.len() as u32;
            let what = Awaited::Barrier { arrived, ended: group.ended, waves: group.waves };
            return Some(Wait { who, what, site });
        }
        let is_long = |instr: &Instr| {
            cause == Cause::NothingMoves || instr.issued_at <= self.reports.watch.last_progress()
        };
        let what = match (found, wave.last) {
            // The answer to the oldest instruction is late, or will never come.
            (Some((number, instr)), last) if is_long(instr) || last.is_none() => {
                let what = instr.op.map_or("store", |id| describe(ops.get(id)));
                self.answer_waits(number, instr, what, lines)
            }
            (_, Some(last)) => {
                let line_bytes = u64::from(self.system.sector_bytes());
                lines.extend(last.address.map(|at| LineAddr(at / line_bytes)));
                let place = last.address.map_or(String::new(), |at| self.place_in_words(at));
                Awaited::Spins { what: last.what, place, value: last.value }
            }
            _ => Awaited::Turn,
        };
        Some(Wait { who, what, site })
    }

    /// A description of the wait for the answers to an instruction: the name of the operation, and
    /// the address and current place of the first unanswered request.
    fn answer_waits(
        &self,
        number: u32,
        instr: &Instr,
        what: &'static str,
        lines: &mut BTreeSet<LineAddr>,
    ) -> Awaited {
        let mut place = String::new();
        let mut at = "the requests of this operation wait to enter a controller".to_owned();
        for (station, port) in self.ports.iter() {
            if let Some((slot, part)) = port.unanswered(number) {
                let name = self.stations.name(station);
                at = format!("{name} has not answered; {}", self.slot_in_words(station, slot));
                place = self.part_in_words(part, lines);
                break;
            }
            if let Some(part) = port.queued(number) {
                place = self.part_in_words(part, lines);
            }
        }
        Awaited::Answer { what, place, since: instr.issued_at, at }
    }

    fn part_in_words(
        &self,
        part: &crate::cores::coalesce::LinePart,
        lines: &mut BTreeSet<LineAddr>,
    ) -> String {
        if part.lanes == 0 {
            return String::new();
        }
        lines.insert(part.line);
        let offset = part.mask.first().unwrap_or(0) as u64;
        self.place_in_words(part.line.0 * u64::from(self.system.sector_bytes()) + offset)
    }

    fn slot_in_words(&self, station: u32, slot: Slot) -> String {
        for parked in self.stations.fabric().parked(station) {
            match parked {
                Parked::Request { key, slot: s } if s == slot => {
                    return format!("the request is parked for {key}");
                }
                Parked::Waiting { line, slot: s } if s == slot => {
                    return format!("the request waits for the fill of line {:#x}", line.0);
                }
                _ => {}
            }
        }
        "the protocol is handling the request".to_owned()
    }

    fn wave_in_words(&self, at: WaveAt) -> String {
        let kernel = &self.session.launch(at.kernel).name;
        let WaveAt { cu, slot, work_group, wave, .. } = at;
        format!("kernel `{kernel}`, work-group {work_group}, wavefront {wave} (CU[{cu}], slot {slot})")
    }

    /// The address as the end of a sentence: the array and the element, if they are known. Example:
    /// ``of `array[3]` at 0x1234``, with a space in front.
    fn place_in_words(&self, address: u64) -> String {
        let arrays = self.session.arrays();
        let holds = |a: &&kernel::ArrayInfo| (a.base.0..a.base.0 + a.bytes).contains(&address);
        match arrays.iter().find(holds) {
            Some(array) => {
                let each = (array.bytes / array.len.max(1)).max(1);
                format!(" of `{}[{}]` at {address:#x}", array.name, (address - array.base.0) / each)
            }
            None => format!(" at {address:#x}"),
        }
    }

    fn kernel_waits(&self) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(current) = self.kernels.current() {
            let grid = current.launch.grid;
            let name = &current.launch.name;
            words.push(format!("kernel `{name}` {}", current.describe()));
            let left = current.groups_left();
            if left > 0 {
                words.push(format!(
                    "kernel `{name}` waits for room on a compute unit: of {}, {left} not yet dispatched",
                    counted(u64::from(grid.work_groups), "work-group")
                ));
            }
        }
        for launch in self.kernels.waiting() {
            words.push(format!("kernel `{}` waits for the kernel before it", launch.name));
        }
        words
    }

    fn parked_in_words(&self) -> Vec<String> {
        let mut words = Vec::new();
        for station in self.stations.numbers() {
            let name = self.stations.name(station);
            for parked in self.stations.fabric().parked(station) {
                words.push(match parked {
                    Parked::Request { key, slot } => {
                        format!("{name}: request {} is parked for {key}", slot.0)
                    }
                    Parked::Waiting { line, slot } => {
                        format!("{name}: request {} waits for the fill of line {:#x}", slot.0, line.0)
                    }
                    Parked::Message { key, from, name: message, line } => {
                        let about = line.map_or(String::new(), |line| format!(" about line {:#x}", line.0));
                        format!("{name}: {message} from {from}{about} is parked for {key}")
                    }
                });
            }
        }
        for (bank, sent) in self.held.iter().flat_map(|held| held.messages()) {
            let [bank, to] = [bank, sent.to].map(|at| self.stations.name(at));
            words.push(format!("{bank}: {} to {to} waits for memory's answers to earlier writes", sent.name));
        }
        words
    }

    fn line_history(&self, line: LineAddr) -> LineHistory {
        let place = self.place_in_words(line.0 * u64::from(self.system.sector_bytes()));
        let name = |station: u32| {
            if station == self.network.memory() { "memory" } else { self.stations.name(station) }
        };
        let messages =
            self.reports.history.of_line(line, MESSAGES_SHOWN).into_iter().map(|past: PastMessage| {
                let lost = if past.dropped { ", lost on purpose" } else { "" };
                format!("{:>10} {} -> {}: {}{lost}", past.at, name(past.from), name(past.to), past.name)
            });
        LineHistory { line: format!("line {:#x}{place}", line.0), messages: messages.collect() }
    }
}
