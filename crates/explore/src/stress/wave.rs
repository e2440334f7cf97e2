//! How far a wavefront has come in its program.

use super::episode::Step;

/// Data accesses of a wavefront that may be under way at once.
pub(super) const UNDER_WAY_MAX: usize = 4;

/// A wavefront.
#[derive(Clone, Debug, Default)]
pub(super) struct Wave {
    pub(super) at: usize,
    /// The places of the steps under way in its program.
    pub(super) under_way: [Option<u16>; UNDER_WAY_MAX],
    /// Is it in the list of what can happen?
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
