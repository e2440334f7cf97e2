//! A protocol as a value, so that code that handles any protocol is compiled only once.

use proto::{Homes, Protocol, Settings};

use crate::config::System;
use crate::options::RunOptions;
use crate::reports::error::RunError;
use crate::stations::fabric::{Fabric, Stations};

/// A function that builds the stations (controllers) of a protocol for a machine.
type Make = fn(&System, &RunOptions) -> Result<Box<dyn Fabric>, RunError>;

/// A protocol in the form that the simulator uses.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    pub(crate) stations: Make,
}

impl Subject {
    /// The protocol `P` as a value.
    #[must_use]
    pub fn of<P: Protocol>() -> Subject {
        Subject { stations: stations::<P> }
    }
}

fn stations<P: Protocol>(system: &System, options: &RunOptions) -> Result<Box<dyn Fabric>, RunError> {
    let settings = match options.explored_settings {
        true => Settings::explored::<P>(),
        false => system.settings::<P>().map_err(RunError::Machine)?,
    };
    let stations = Stations::<P>::new(&system.topology(), &settings, homes(system), options);
    Ok(Box::new(stations.map_err(RunError::Machine)?))
}

/// The rule that gives each line of a machine its home, which is a chiplet and a bank.
fn homes(system: &System) -> Homes {
    let lines_per_page = system.pages.bytes / system.sector_bytes().max(1);
    Homes::new(&system.topology(), lines_per_page).with_policy(system.pages.placement.into())
}
