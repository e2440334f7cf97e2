//! Rounds of a bank: joint executions of acquires and releases at system scope. Requests that
//! arrive during a round join the next round.
//!
//! A round first waits for the outstanding fetches, and then recalls every registration. In this
//! time no fetch begins, and during the recalls no registration is granted. Then acquires
//! invalidate clean bytes, and releases write dirty lines out, line by line.
//! `gpu-vi` has the same rounds: it recalls copies in place of registrations, and only for acquires.

use crate::parts::{HasL1Messages, ToL1};
use proto::{Cx, NodeId, Slot, Way};

/// A request (an acquire or a release at system scope) that takes part in a round (a joint
/// execution of such requests).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RoundRequest {
    pub(crate) node: NodeId,
    pub(crate) slot: Slot,
    pub(crate) flush: bool,
}

/// The phase of a round (a joint execution of acquires and releases at system scope).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Phase {
    /// No round (joint execution of acquires and releases at system scope) is under way.
    #[default]
    Idle,
    /// The round (joint execution of acquires and releases at system scope) waits for outstanding
    /// fetches. No new fetch begins.
    Fetches,
    /// The round (joint execution of acquires and releases at system scope) waits for recalls of
    /// registrations or, in `gpu-vi`, of copies. No new fetch begins, and no registration is
    /// granted.
    Recalls,
    /// The round (joint execution of acquires and releases at system scope) writes dirty lines out.
    /// It continues its search for dirty lines at this way.
    Walk(Way),
    /// The round (joint execution of acquires and releases at system scope) waits for memory's acks
    /// of its writes.
    Writes,
}

#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Round {
    pub(crate) now: Vec<RoundRequest>,
    pub(crate) next: Vec<RoundRequest>,
    pub(crate) phase: Phase,
}

proto::clone_in_place! { [] Round { now, next, phase } }

impl Round {
    /// Whether new fetches must wait for the round (the joint execution of acquires and releases at
    /// system scope).
    pub(crate) fn holds_fetches(&self) -> bool {
        matches!(self.phase, Phase::Fetches | Phase::Recalls)
    }

    /// Whether grants of registration must wait for the round (the joint execution of acquires and
    /// releases at system scope).
    pub(crate) fn holds_grants(&self) -> bool {
        self.phase == Phase::Recalls
    }

    /// Whether a request of this round is a release (`flush`) or an acquire (not `flush`).
    pub(crate) fn has(&self, flush: bool) -> bool {
        self.now.iter().any(|request| request.flush == flush)
    }

    /// Answers the releases (`flush`) or the acquires (not `flush`) of this round, and removes them.
    pub(crate) fn answer<P: HasL1Messages>(&mut self, flush: bool, cx: &mut Cx<'_, P>) {
        self.now.retain(|&RoundRequest { node, slot, flush: flushes }| {
            if flushes == flush {
                cx.fx.send(node, ToL1::BankDone { slot });
            }
            flushes != flush
        });
    }
}
