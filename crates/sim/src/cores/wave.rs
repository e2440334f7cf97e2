//! Wavefronts.

use std::collections::VecDeque;

use kernel::{OpId, Site, WaveTask, Work};
use proto::issue::{Issue, IssueId};

use crate::config::System;
use crate::reports::probe::WaveAt;

/// The stage of a wavefront's next operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Its SIMD unit has no work for it.
    Idle,
    /// Its arithmetic runs or waits for the SIMD unit. The operation follows.
    Arithmetic(Option<OpId>),
    /// The issue rule holds the operation.
    Held(OpId),
}

/// The last operation of a wavefront, for the diagnosis of a spinning wavefront.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastOp {
    pub(crate) site: Site,
    pub(crate) what: &'static str,
    pub(crate) address: Option<u64>,
    pub(crate) value: Option<u64>,
}

/// A wavefront slot.
#[derive(Debug)]
pub(crate) struct Wave {
    pub(crate) task: Option<WaveTask>,
    pub(crate) at: WaveAt,
    pub(crate) group: u32,
    /// The number of wavefronts dispatched earlier. The oldest has the lowest.
    pub(crate) age: u64,
    pub(crate) stage: Stage,
    pub(crate) pending: VecDeque<OpId>,
    pub(crate) waits_for: Option<OpId>,
    pub(crate) ended: bool,
    /// Arithmetic that no operation has followed yet.
    pub(super) tail: Work,
    pub(crate) issue: Issue,
    pub(crate) next_issue: u32,
    /// Stores in the issue rule's buffer, with their instructions.
    pub(crate) buffered: Vec<(IssueId, u32)>,
    /// The number of instructions under way.
    pub(crate) outstanding: u32,
    pub(crate) last: Option<LastOp>,
}

impl Wave {
    pub(crate) fn new(system: &System, number: u32) -> Wave {
        let slots = system.cu.wavefront_slots;
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
            issue: Issue::new(system.issue_rule.into()),
            next_issue: 0,
            buffered: Vec::new(),
            outstanding: 0,
            last: None,
        }
    }
}

impl Wave {
    /// Whether the slot has a program that has not retired.
    pub(crate) fn is_live(&self) -> bool {
        self.task.is_some() || self.ended
    }
}
