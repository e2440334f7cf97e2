//! The stages of a run: kernels, the host's accesses between kernels, and the check of the values
//! that the host reads after the last kernel.

use super::fault::{EpisodeFault, fault, unfinished};
use super::layout::{DATA, WORDS, name, repeated};
use super::machine::Machine;
use super::order::{Program, Stage};
use super::slots::Sender;
use drive::StationInput;
use proto::{
    Agent, ArrayId, Boundary, ByteMask, Hints, Issuer, LineData, Op, Order, PlanKey, Request, Scope,
};

impl Machine {
    /// Runs one stage of a program: a kernel, or the host's accesses between kernels.
    pub(super) fn run_stage(
        &mut self,
        stage: &Stage,
        is_first: bool,
        program: &Program,
    ) -> Result<(), EpisodeFault> {
        if stage.is_kernel() && !is_first {
            for step in Boundary::BEGIN {
                self.pass_boundary((step, stage.host_has_written), program)?;
            }
        }
        for (wave, &end) in stage.ends.iter().enumerate() {
            if self.waves[wave].at < end {
                self.waves[wave].end = end;
                self.wake(wave);
            }
        }
        self.is_preemptive = stage.is_kernel() && self.residencies.left > 0;
        self.run_events(program)?;
        self.is_preemptive = false;
        if !self.waves.iter().all(|wave| wave.is_done()) {
            return Err(unfinished(&self.waves, "no event is left"));
        }
        if self.residencies.is_moving() {
            return Err(fault(String::from(
                "no event is left, but a work-group has not arrived at its new CU",
            )));
        }
        if stage.is_kernel() {
            self.pass_boundary((Boundary::EndCus, false), program)?;
            if stage.is_released {
                self.pass_boundary((Boundary::EndMachine, false), program)?;
            }
            self.kernel.0 += 1;
        }
        Ok(())
    }

    /// Makes the requests of all agents (compute units and the command processor) for one step at
    /// the beginning or the end of a kernel. Runs until all these requests are answered.
    fn pass_boundary(
        &mut self,
        (step, written): (Boundary, bool),
        program: &Program,
    ) -> Result<(), EpisodeFault> {
        let count = self.boundaries.of(step, written).len();
        self.ending = (1 << count) - 1;
        for agent in 0..count {
            self.ask_boundary((step, written), agent, Sender::Boundary(agent as u8), program)?;
        }
        self.run_events(program)?;
        match self.ending {
            0 => Ok(()),
            _ => {
                let what = match step {
                    Boundary::BeginMachine | Boundary::BeginCus => "begin",
                    Boundary::EndCus | Boundary::EndMachine => "end",
                };
                Err(fault(format!(
                    "no event is left, but a kernel does not {what}: a request at its boundary has no answer"
                )))
            }
        }
    }

    /// Makes the request of one agent (a compute unit or the command processor) for one step at the
    /// beginning or the end of a kernel.
    pub(super) fn ask_boundary(
        &mut self,
        (step, written): (Boundary, bool),
        agent: usize,
        sender: Sender,
        program: &Program,
    ) -> Result<(), EpisodeFault> {
        let (node, request) = &self.boundaries.of(step, written)[agent];
        let (node, request) = (*node, Request { op: step.op(self.kernel), ..*request });
        let slot = self.slot(node, sender)?;
        self.deliver(node, &StationInput::Request { slot, request: &request }, program)
    }

    /// Lets the hosts read the lines of memory through their own controllers, one line after the
    /// other. If there are several hosts, they read successive lines in turn.
    pub(super) fn let_host_read(&mut self, program: &Program) -> Result<(), EpisodeFault> {
        self.seen.clear();
        self.seen.resize(self.memory.len(), LineData::default());
        let line_bytes = usize::from(self.stations.topology().line_bytes);
        let bytes = self.layouts[usize::from(program.layout)].initial.len();
        for line in 0..bytes.div_ceil(line_bytes) {
            let request = Request {
                op: Op::Load,
                order: Order::Plain,
                scope: Scope::DEVICE,
                issuer: Issuer::default(),
                hints: Hints::default(),
                array: ArrayId(0),
                line: self.lines.at(line),
                mask: ByteMask::full(line_bytes),
                data: LineData::default(),
            };
            self.ending = 1;
            let host = Agent::Host((line % usize::from(self.topology().hosts)) as u16);
            let node = self.stations.entry(host, PlanKey::of(&request)).map_err(fault)?;
            let slot = self.slot(node, Sender::Reader(line as u8))?;
            self.deliver(node, &StationInput::Request { slot, request: &request }, program)?;
            self.run_events(program)?;
            if self.ending != 0 {
                return Err(fault(format!(
                    "no event is left, but a load of the host from line {line} after the last kernel has no answer"
                )));
            }
        }
        Ok(())
    }

    /// Keeps the bytes of a line that the host has read after the last kernel.
    pub(super) fn host_has_read(&mut self, line: usize, data: Option<&LineData>) -> Result<(), EpisodeFault> {
        let Some(data) = data else {
            return Err(fault(format!("the answer to a load of the host from line {line} has no bytes")));
        };
        self.ending = 0;
        self.seen[line] = *data;
        Ok(())
    }

    /// Checks that memory has the last stored value of each word, and that no other byte has
    /// changed. If hosts have caches, checks the bytes that the host has read instead.
    pub(super) fn check_final_values(&mut self, program: &Program) -> Result<(), EpisodeFault> {
        let has_cached_hosts = self.has_cached_hosts();
        let layout = &self.layouts[usize::from(program.layout)];
        let expected = &mut self.expected;
        expected.clone_from(&layout.initial);
        for (word, (&place, &width)) in layout.places.iter().zip(&layout.widths).enumerate() {
            let last = program.last[word];
            let value = if word < DATA { repeated(last as u8, width) } else { u64::from(last) };
            let bytes = width.bytes();
            expected[usize::from(place)..][..bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
        }
        let line_bytes = usize::from(self.stations.topology().line_bytes);
        let (reader, lines) = match has_cached_hosts {
            true => ("the host reads", &self.seen),
            false => ("memory has", &self.memory),
        };
        let lines = || expected.chunks(line_bytes).zip(lines);
        if lines().all(|(expected, line)| line.0[..expected.len()] == *expected) {
            return Ok(());
        }
        let found: Vec<u8> = lines().flat_map(|(expected, line)| line.0[..expected.len()].to_vec()).collect();
        let word = (0..WORDS).find_map(|word| {
            let (place, width) = (usize::from(layout.places[word]), layout.widths[word]);
            let at = |bytes: &[u8]| value_text(word, &bytes[place..][..width.bytes()]);
            let (found, expected) = (at(&found), at(expected));
            let name = name(word);
            (found != expected).then(|| format!("{reader} {found} in {name} at the end, expected {expected}"))
        });
        let byte = || {
            let at = found.iter().zip(&*expected).position(|(found, expected)| found != expected);
            format!("byte {} of memory, which belongs to no word, has changed", at.unwrap_or_default())
        };
        Err(fault(word.unwrap_or_else(byte)))
    }
}

/// The text of a word's value in a report. If all bytes of a data word are equal, the text shows
/// the value of one byte.
pub(super) fn value_text(word: usize, bytes: &[u8]) -> String {
    let value = bytes.iter().rev().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
    match bytes {
        [first, rest @ ..] if word < DATA && rest.iter().all(|byte| byte == first) => first.to_string(),
        _ if word < DATA => format!("{value:#0width$x}", width = 2 + 2 * bytes.len()),
        _ => value.to_string(),
    }
}
