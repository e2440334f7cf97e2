//! Wavefront slots and the state of the wavefronts in them.

use std::collections::VecDeque;

use kernel::{OpId, Site, WaveTask, Work};
use proto::issue::{Issue, IssueId};

use crate::config::System;
use crate::reports::probe::WaveAt;

/// The stage of a wavefront's next operation on its way to issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// No arithmetic of the wavefront runs on its SIMD unit or waits for the unit.
    Idle,
    /// Arithmetic of the wavefront runs on its SIMD unit or waits for the unit. The field is the
    /// operation that follows the arithmetic. If it is `None`, the wavefront ends after the
    /// arithmetic.
    Arithmetic(Option<OpId>),
    /// The arithmetic is done, but the issue rule does not let the operation given here issue yet.
    Held(OpId),
}

/// The operation that a wavefront issued last. The diagnosis of a stuck run shows it if the
/// wavefront spins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastOp {
    pub(crate) site: Site,
    pub(crate) what: &'static str,
    pub(crate) address: Option<u64>,
    pub(crate) value: Option<u64>,
}

/// A wavefront slot, with the state of the wavefront in it.
#[derive(Debug)]
pub(crate) struct Wave {
    pub(crate) task: Option<WaveTask>,
    pub(crate) at: WaveAt,
    pub(crate) group: u32,
    /// The number of wavefronts that were dispatched before this one. The oldest wavefront has the
    /// lowest number.
    pub(crate) age: u64,
    pub(crate) stage: Stage,
    pub(crate) pending: VecDeque<OpId>,
    pub(crate) waits_for: Option<OpId>,
    pub(crate) ended: bool,
    /// The arithmetic that the wavefront's code did after its last operation. No SIMD unit has run
    /// it yet. It runs before the next operation, or before the wavefront ends.
    pub(super) tail: Work,
    pub(crate) issue: Issue,
    pub(crate) next_issue: u32,
    /// The instructions of the wavefront that are not complete, each with its number, if the issue
    /// rule buffers stores. Otherwise empty.
    pub(crate) issued: Vec<(IssueId, u32)>,
    /// The number of the wavefront's instructions that are not complete.
    pub(crate) outstanding: u32,
    /// The number of incomplete stores and updates after which the wavefront has continued without
    /// waiting for their answers.
    pub(crate) posted: u32,
    pub(crate) last: Option<LastOp>,
}

impl Wave {
    pub(crate) fn new(system: &System, number: u32) -> Wave {
        let slots = system.cu.wavefront_slots;
        let rule = system.issue_rule.into();
        let entries = system.cu.write_buffer_entries;
        Wave {
            task: None,
            at: WaveAt { cu: number / slots, slot: number % slots, ..WaveAt::default() },
            group: 0,
            age: 0,
            stage: Stage::Idle,
            pending: VecDeque::new(),
            waits_for: None,
            ended: false,
            tail: Work::default(),
            issue: entries.map_or_else(|| Issue::new(rule), |entries| Issue::with_buffer(rule, entries)),
            next_issue: 0,
            issued: Vec::new(),
            outstanding: 0,
            posted: 0,
            last: None,
        }
    }
}

impl Wave {
    /// Whether the slot holds a wavefront that has not retired.
    pub(crate) fn is_live(&self) -> bool {
        self.task.is_some() || self.ended
    }
}
