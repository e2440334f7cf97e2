//! Acquires and releases at system scope, in rounds: those that come during
//! one join the next.
//!
//! A round lets fetches that are under way end and recalls every registration,
//! while nothing new of either begins. Then acquires drop what is clean, and
//! releases write out what is dirty, line by line.

use proto::{NodeId, Slot, Way};

/// Who asked for a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Wish {
    pub(super) node: NodeId,
    pub(super) slot: Slot,
    pub(super) flush: bool,
}

/// How far a round is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// There is none.
    #[default]
    Idle,
    /// Waits for fetches; none begins.
    Fetches,
    /// Waits for registrations; none is granted.
    Recalls,
    /// Writes dirty lines out, from this way on.
    Walk(Way),
    /// Waits for memory.
    Writes,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Round {
    pub(super) now: Vec<Wish>,
    pub(super) next: Vec<Wish>,
    pub(super) phase: Phase,
}

impl Round {
    /// May no fetch begin?
    pub(super) fn holds_fetches(&self) -> bool {
        matches!(self.phase, Phase::Fetches | Phase::Recalls)
    }

    /// May no registration be granted?
    pub(super) fn holds_grants(&self) -> bool {
        self.phase == Phase::Recalls
    }

    /// Those of this round who flush, or those who do not, are done.
    pub(super) fn take(&mut self, flush: bool) -> Vec<Wish> {
        let (done, rest) = self.now.drain(..).partition(|wish| wish.flush == flush);
        self.now = rest;
        done
    }
}
