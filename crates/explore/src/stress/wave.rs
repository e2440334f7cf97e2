//! The progress of a wavefront in its part of an episode (a random program).

use super::episode::Step;

/// The maximum number of data accesses of a wavefront under way.
pub(super) const UNDER_WAY_MAX: usize = 4;

/// A wavefront, with its progress.
#[derive(Clone, Debug, Default)]
pub(super) struct Wave {
    pub(super) at: usize,
    /// The indices of the steps that are under way.
    pub(super) under_way: [Option<u16>; UNDER_WAY_MAX],
    /// Whether the issue of the wavefront is in the list of possible events.
    pub(super) is_ready: bool,
}

impl Wave {
    fn is_idle(&self) -> bool {
        self.under_way.iter().all(Option::is_none)
    }

    pub(super) fn is_done(&self, steps: &[Step]) -> bool {
        self.at >= steps.len() && self.is_idle()
    }
}
