//! The result of a run.

use std::collections::BTreeMap;

use kernel::Answer;
use proto::Coverage;

use crate::network::noc::{LinkEnds, LinkTraffic};
use crate::queue::Cycle;
use crate::reports::attribution::Attribution;
use crate::reports::energy::Energy;

/// The time of a kernel, including its launch and its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelTime {
    /// The name of the kernel.
    pub name: String,
    /// The cycle at which its launch began.
    pub from: Cycle,
    /// The cycle at which its end was complete.
    pub until: Cycle,
}

/// The result of a run that finished with consistent counters.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The cycles of the timed part.
    pub cycles: Cycle,
    /// The program's answer. The caller checks it.
    pub answer: Answer,
    /// Every counter by name. The attribution is included as `cycles.CAUSE`.
    pub counters: BTreeMap<String, u64>,
    /// The cycles by cause. They add up to [`Outcome::cycles`].
    pub attribution: Attribution,
    /// The energy, in picojoules.
    pub energy: Energy,
    /// The number of times that each row of the protocol's tables fired.
    pub coverage: Coverage,
    /// The kernels in the order in which they ran.
    pub kernels: Vec<KernelTime>,
    /// The traffic of each link of the network.
    pub links: Vec<(LinkEnds, LinkTraffic)>,
    /// The number of events of the simulation.
    pub events: u64,
}
