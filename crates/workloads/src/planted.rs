//! Faults that tests plant into kernels.

/// A fault of a kernel. Only tests can plant one: they show that the check of
/// an answer finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Planted {
    /// The amount by which an index is wrong.
    pub(crate) shift: u64,
    /// Whether a barrier is missing.
    pub(crate) lacks_barrier: bool,
}

impl Planted {
    /// The kernel is right.
    pub(crate) const NOTHING: Planted = Planted { shift: 0, lacks_barrier: false };

    /// An index is wrong by one.
    #[cfg(test)]
    pub(crate) const WRONG_INDEX: Planted = Planted { shift: 1, lacks_barrier: false };

    /// A barrier is missing.
    #[cfg(test)]
    pub(crate) const NO_BARRIER: Planted = Planted { shift: 0, lacks_barrier: true };
}
