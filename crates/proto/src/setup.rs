//! A protocol on a machine.

use crate::contract::{Protocol, World};
use crate::homes::Homes;
use crate::levels::Levels;
use crate::settings::Settings;
use crate::station::Station;
use crate::topology::Topology;

/// A protocol on a machine: what every step of a run shares and none may change.
#[derive(Clone, Debug)]
pub struct Setup<P: Protocol> {
    /// The levels of the machine.
    pub levels: Levels,
    /// Immutable parameters of the protocol.
    pub params: P::Params,
    /// Where lines live.
    pub homes: Homes,
}

impl<P: Protocol> Setup<P> {
    /// The protocol with its settings as they are on a machine that says nothing,
    /// and pages of one line.
    ///
    /// # Errors
    /// A sentence that says what of the machine the protocol cannot use.
    pub fn new(topology: &Topology) -> Result<Self, String> {
        Setup::with(topology, &Settings::new(P::SETTINGS), Homes::new(topology, 1))
    }

    /// The protocol with these settings, and lines that live there.
    ///
    /// # Errors
    /// A sentence that says what of the machine the protocol cannot use.
    pub fn with(topology: &Topology, settings: &Settings, homes: Homes) -> Result<Self, String> {
        let levels = Levels::fit(P::INFO.name, P::KINDS, topology)?;
        let params = P::params(&levels, settings)?;
        Ok(Setup { levels, params, homes })
    }

    /// What steps see of it, without a kernel or a seeded fault.
    #[inline]
    #[must_use]
    pub fn world(&self) -> World<'_, P> {
        World { params: &self.params, levels: &self.levels, homes: &self.homes, kernels: &[], mutation: None }
    }

    /// All stations, as they are before anything happened, kind by kind.
    #[must_use]
    pub fn stations(&self) -> Vec<Station<P>> {
        self.levels.nodes().map(|id| Station::new(id, self)).collect()
    }
}
