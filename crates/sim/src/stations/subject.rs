//! A protocol as a value, so that the code that runs it is compiled once.

use proto::{Homes, Protocol};

use crate::config::System;
use crate::options::RunOptions;
use crate::reports::error::RunError;
use crate::stations::fabric::{Fabric, Stations};

/// A function that makes the stations of a protocol for a machine.
type Make = fn(&System, &RunOptions) -> Result<Box<dyn Fabric>, RunError>;

/// A protocol as the simulator uses it.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    pub(crate) stations: Make,
}

impl Subject {
    /// The value for protocol `P`.
    #[must_use]
    pub fn of<P: Protocol>() -> Subject {
        Subject { stations: stations::<P> }
    }
}

fn stations<P: Protocol>(system: &System, options: &RunOptions) -> Result<Box<dyn Fabric>, RunError> {
    let settings = system.settings::<P>().map_err(RunError::Machine)?;
    let stations = Stations::<P>::new(&system.topology(), &settings, homes(system), options);
    Ok(Box::new(stations.map_err(RunError::Machine)?))
}

/// The homes of lines.
fn homes(system: &System) -> Homes {
    let lines_per_page = system.pages.bytes / system.l1.line_bytes.max(1);
    Homes::new(&system.topology(), lines_per_page).with_policy(system.pages.placement.into())
}
