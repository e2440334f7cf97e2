//! The result of a run that finished.

use std::collections::BTreeMap;

use kernel::Answer;
use proto::Coverage;

use crate::network::noc::{LinkEnds, LinkTraffic};
use crate::queue::Cycle;
use crate::reports::attribution::Attribution;
use crate::reports::energy::Energy;

/// The time of a kernel, from the beginning of its launch to the end of its release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelTime {
    /// The name of the kernel.
    pub name: String,
    /// The cycle at which the launch of the kernel began.
    pub from: Cycle,
    /// The cycle at which the release at the kernel's end was complete.
    pub until: Cycle,
}

/// The result of a run that finished with consistent counters.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The number of cycles of the run. Waits before untimed copies of the host are not counted.
    pub cycles: Cycle,
    /// The answer that the program computed. The caller checks it.
    pub answer: Answer,
    /// The value of every counter. The key is the name of the counter. The counter `cycles.CAUSE`
    /// has the cycles that are attributed to the cause `CAUSE`.
    pub counters: BTreeMap<String, u64>,
    /// The number of cycles that each cause took. They add up to [`Outcome::cycles`].
    pub attribution: Attribution,
    /// The energy of the run by component, in picojoules.
    pub energy: Energy,
    /// The number of times that each row of the protocol's tables was used.
    pub coverage: Coverage,
    /// The times of the kernels, in the order in which they ran.
    pub kernels: Vec<KernelTime>,
    /// The traffic of each link of the network.
    pub links: Vec<(LinkEnds, LinkTraffic)>,
    /// The number of events that the simulator scheduled.
    pub events: u64,
}
