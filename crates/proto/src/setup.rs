//! The constants of a protocol on a machine.

use crate::contract::{Protocol, World};
use crate::homes::Homes;
use crate::levels::Levels;
use crate::settings::Settings;
use crate::station::Station;
use crate::topology::Topology;

/// The constants of a protocol on a machine, which all steps of a run share.
#[derive(Clone, Debug)]
pub struct Setup<P: Protocol> {
    /// The levels of the machine.
    pub levels: Levels,
    /// Immutable parameters of the protocol.
    pub params: P::Params,
    /// The home of each line.
    pub homes: Homes,
}

impl<P: Protocol> Setup<P> {
    /// The protocol with default settings and pages of one line.
    ///
    /// # Errors
    /// A sentence that names the property of the machine that the protocol does not
    /// support.
    pub fn new(topology: &Topology) -> Result<Self, String> {
        Setup::with(topology, &Settings::new(P::SETTINGS), Homes::new(topology, 1))
    }

    /// The protocol with these settings and homes.
    ///
    /// # Errors
    /// A sentence that names the property of the machine that the protocol does not
    /// support.
    pub fn with(topology: &Topology, settings: &Settings, homes: Homes) -> Result<Self, String> {
        let levels = Levels::fit(P::INFO.name, P::KINDS, topology)?;
        let params = P::params(&levels, settings)?;
        Ok(Setup { levels, params, homes })
    }

    /// The constants that steps see, without kernels or a seeded fault.
    #[inline]
    #[must_use]
    pub fn world(&self) -> World<'_, P> {
        World { params: &self.params, levels: &self.levels, homes: &self.homes, kernels: &[], mutation: None }
    }

    /// All stations in their initial state, kind by kind.
    #[must_use]
    pub fn stations(&self) -> Vec<Station<P>> {
        self.levels.nodes().map(|id| Station::new(id, self)).collect()
    }
}
