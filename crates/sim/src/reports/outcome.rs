//! What a run gives back.

use std::collections::BTreeMap;

use kernel::Answer;
use proto::Coverage;

use crate::network::noc::{LinkEnds, LinkTraffic};
use crate::queue::Cycle;
use crate::reports::attribution::Attribution;
use crate::reports::energy::Energy;

/// When a kernel ran, launch and end included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelTime {
    /// Its name.
    pub name: String,
    /// When its launch began.
    pub from: Cycle,
    /// When its end was complete.
    pub until: Cycle,
}

/// The result of a run that came to its end and whose books balance.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How long the timed part took.
    pub cycles: Cycle,
    /// What the program computed. Whether it is right is for the caller to say.
    pub answer: Answer,
    /// Everything that was counted, by name; the attribution as `cycles.CAUSE`.
    pub counters: BTreeMap<String, u64>,
    /// Where the cycles went; they add up to [`Outcome::cycles`].
    pub attribution: Attribution,
    /// The energy, in picojoules.
    pub energy: Energy,
    /// How often each row of the protocol's tables fired.
    pub coverage: Coverage,
    /// The kernels, in the order in which they ran.
    pub kernels: Vec<KernelTime>,
    /// What each link of the network carried.
    pub links: Vec<(LinkEnds, LinkTraffic)>,
    /// How many events the simulation took.
    pub events: u64,
}
