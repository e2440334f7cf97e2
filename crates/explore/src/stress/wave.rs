//! The progress of a wavefront in its part of an episode (a random program).

/// The maximum number of data accesses of a wavefront under way.
pub(super) const UNDER_WAY_MAX: usize = 4;

/// A wavefront, with its progress.
#[derive(Clone, Debug, Default)]
pub(super) struct Wave {
    pub(super) at: u16,
    /// The number of steps of the wavefront up to the end of the current stage (kernel or step of
    /// the host).
    pub(super) end: u16,
    /// The indices of the wavefront's steps that are under way.
    pub(super) under_way: [Option<u16>; UNDER_WAY_MAX],
    /// Whether the list of possible events contains the issue of this wavefront's next step.
    pub(super) is_ready: bool,
}

impl Wave {
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.under_way.iter().all(Option::is_none)
    }

    /// Whether the wavefront has completed its steps of the current stage (kernel or step of the
    /// host).
    #[inline]
    pub(super) fn is_done(&self) -> bool {
        self.at >= self.end && self.is_idle()
    }
}
