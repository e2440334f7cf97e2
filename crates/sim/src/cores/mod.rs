//! Compute units, the wavefronts on them, and their instructions.

mod barrier;
pub mod coalesce;
mod groups;
pub(crate) mod instr;
mod issuing;
mod lds;
pub(crate) mod operands;
mod running;
mod simd;
mod unit;
pub(crate) mod wave;

pub(crate) use issuing::Issued;
pub(crate) use running::Retired;

use kernel::Session;
use proto::{Agent, Request};

use crate::config::System;
use crate::cores::coalesce::{Coalescer, LinePart};
use crate::cores::instr::{Instr, Owner};
use crate::cores::simd::{Simd, WorkCost};
use crate::cores::unit::{Cu, Group};
use crate::cores::wave::Wave;
use crate::options::ScopeReplacement;
use crate::slab::Slab;

/// The compute units of a machine, and all instructions that are not complete.
#[derive(Debug)]
pub(crate) struct Cores<'a> {
    system: &'a System,
    /// Replacements of scope levels. Each replacement is for the operations that come from one
    /// place in the program's source.
    scopes: &'a [ScopeReplacement],
    units: Vec<Cu>,
    simds: Vec<Simd>,
    /// The wavefront slots with their wavefronts, in the order of their numbers. Slots are numbered
    /// over all compute units.
    waves: Vec<Wave>,
    groups: Slab<Group>,
    instrs: Slab<Instr>,
    coalescer: Coalescer,
    /// The line requests of the operation that was split last, until they are taken.
    parts: Vec<LinePart>,
    work_cost: WorkCost,
}

impl<'a> Cores<'a> {
    /// The compute units of a machine, all idle.
    pub(crate) fn new(system: &'a System, scopes: &'a [ScopeReplacement]) -> Cores<'a> {
        let cus = system.cu.count;
        Cores {
            system,
            scopes,
            units: (0..cus).map(|_| Cu::new(system)).collect(),
            simds: (0..cus * system.cu.simd_units).map(|_| Simd::default()).collect(),
            waves: (0..cus * system.cu.wavefront_slots).map(|i| Wave::new(system, i)).collect(),
            groups: Slab::default(),
            instrs: Slab::default(),
            coalescer: Coalescer::with_sectors(system.l1.line_bytes as usize, system.sector_bytes() as usize),
            parts: Vec::new(),
            work_cost: WorkCost::new(&system.vector_ops),
        }
    }

    /// The number of compute units.
    pub(crate) fn count(&self) -> u32 {
        self.units.len() as u32
    }

    /// The wavefront in the wavefront slot `number`. Slots are numbered over all compute units.
    #[inline]
    pub(crate) fn wave(&self, number: u32) -> &Wave {
        &self.waves[number as usize]
    }

    /// The wavefront in the wavefront slot `number`, as a mutable reference.
    #[inline]
    pub(crate) fn wave_mut(&mut self, number: u32) -> &mut Wave {
        &mut self.waves[number as usize]
    }

    /// All wavefront slots in the order of their numbers. Each comes with its number and the state
    /// of its wavefront.
    pub(crate) fn waves(&self) -> impl Iterator<Item = (u32, &Wave)> {
        (0..).zip(&self.waves)
    }

    /// The wavefront whose arithmetic a SIMD unit runs now. `None` if the unit is free.
    pub(crate) fn running(&self, simd: u32) -> Option<u32> {
        self.simds[simd as usize].running
    }

    /// A work-group on the machine. `None` if no work-group has this number.
    pub(crate) fn group(&self, number: u32) -> Option<&Group> {
        self.groups.get(number)
    }

    /// An instruction that is not complete. `None` if no instruction has this number.
    #[inline]
    pub(crate) fn instr(&self, number: u32) -> Option<&Instr> {
        self.instrs.get(number)
    }

    /// A mutable reference to an instruction that is not complete. `None` if no instruction has
    /// this number.
    #[inline]
    pub(crate) fn instr_mut(&mut self, number: u32) -> Option<&mut Instr> {
        self.instrs.get_mut(number)
    }

    /// The instructions that are not complete, each with its number.
    pub(crate) fn instrs(&self) -> impl Iterator<Item = (u32, &Instr)> {
        self.instrs.iter()
    }

    /// Whether every instruction is complete.
    pub(crate) fn is_idle(&self) -> bool {
        self.instrs.len() == 0
    }

    /// Adds an instruction that belongs to no wavefront. Returns its number.
    pub(crate) fn add(&mut self, instr: Instr) -> u32 {
        self.instrs.insert(instr)
    }

    /// Removes a complete instruction and returns it.
    #[inline]
    pub(crate) fn remove(&mut self, number: u32) -> Option<Instr> {
        self.instrs.remove(number)
    }

    /// Takes the buffer with the line requests of the operation that was split last. The caller
    /// gives the buffer back with [`Cores::reuse_parts`].
    #[inline]
    pub(crate) fn take_parts(&mut self) -> Vec<LinePart> {
        core::mem::take(&mut self.parts)
    }

    /// Gives back the buffer that `take_parts` returned, so that the next operation can reuse it.
    #[inline]
    pub(crate) fn reuse_parts(&mut self, parts: Vec<LinePart>) {
        self.parts = parts;
    }

    /// The agent (a compute unit) that makes the requests of a wavefront.
    #[inline]
    pub(crate) fn agent(&self, wave: u32) -> Agent {
        Agent::Cu(self.waves[wave as usize].at.cu as u16)
    }

    /// The chiplet of the wavefront that owns an instruction. `None` if the owner is not a
    /// wavefront.
    pub(crate) fn chiplet(&self, instr: u32) -> Option<u16> {
        match self.instrs.get(instr)?.owner {
            Owner::Wave(wave) => Some((self.waves[wave as usize].at.cu / self.cus_per_chiplet()) as u16),
            _ => None,
        }
    }

    fn cus_per_chiplet(&self) -> u32 {
        self.system.cu.count / self.system.chiplets
    }

    /// The request for one line of an instruction, with the bytes to store.
    #[inline]
    pub(crate) fn request(&self, session: &Session, instr: &Instr, part: &LinePart) -> Request {
        operands::request(session, instr, part, u64::from(self.system.sector_bytes()))
    }
}
