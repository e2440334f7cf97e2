//! The constants of a run of one protocol on one machine: the parameters, the levels, and the home
//! of each line.

use crate::contract::{Protocol, World};
use crate::homes::Homes;
use crate::levels::Levels;
use crate::settings::Settings;
use crate::topology::Topology;

/// The constants of a protocol on a machine, which all steps of a run share.
#[derive(Clone, Debug)]
pub struct Setup<P: Protocol> {
    /// The levels of the machine, matched with the protocol's kinds of controller.
    pub levels: Levels,
    /// Parameters of the protocol, which do not change in a run.
    pub params: P::Params,
    /// The map from each line to its home: the chiplet and the bank that serve the line.
    pub homes: Homes,
}

impl<P: Protocol> Setup<P> {
    /// The constants of the protocol on this machine, with default settings and pages of one line.
    ///
    /// # Errors
    /// A sentence that names the property of the machine that the protocol does not support.
    pub fn new(topology: &Topology) -> Result<Self, String> {
        Setup::with(topology, &Settings::new(P::SETTINGS), Homes::new(topology, 1))
    }

    /// The constants of the protocol on this machine, with these settings and homes.
    ///
    /// # Errors
    /// A sentence that names the property of the machine that the protocol does not support.
    pub fn with(topology: &Topology, settings: &Settings, homes: Homes) -> Result<Self, String> {
        let levels = Levels::fit(P::INFO.name, P::KINDS, topology)?;
        let params = P::params(&levels, settings)?;
        Ok(Setup { levels, params, homes })
    }

    /// The constants in the form that a step of a controller receives. The list of kernels is
    /// empty, and no fault is seeded.
    #[inline]
    #[must_use]
    pub fn world(&self) -> World<'_, P> {
        World {
            params: &self.params,
            levels: &self.levels,
            homes: &self.homes,
            kernels: &[],
            seeded_fault: None,
        }
    }
}

impl Settings {
    /// The settings of the small machines on which the explorer (the program that tries every
    /// schedule) runs the protocol `P`; see [`Protocol::EXPLORED`].
    #[must_use]
    pub fn explored<P: Protocol>() -> Settings {
        P::EXPLORED.iter().fold(Settings::new(P::SETTINGS), |all, &(name, value)| all.with(name, value))
    }

    /// The settings of the machine of the random tester with this number, for the protocol `P`; see
    /// [`Protocol::TESTED`].
    #[must_use]
    pub fn tested<P: Protocol>(machine: usize) -> Settings {
        let value = |values: &[u64]| values.get(machine % values.len().max(1)).copied();
        let values = P::TESTED.iter().filter_map(|&(name, values)| Some((name, value(values)?)));
        values.fold(Settings::explored::<P>(), |all, (name, value)| all.with(name, value))
    }
}
