//! Wavefronts.

use std::collections::VecDeque;

use kernel::{OpId, Site, WaveTask, Work};
use proto::issue::{Issue, IssueId};

use crate::config::System;
use crate::reports::probe::WaveAt;

/// What a wavefront is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Nothing is under way at its SIMD unit.
    Idle,
    /// Its arithmetic runs, or waits for the SIMD unit; the operation follows.
    Arithmetic(Option<OpId>),
    /// The issue rule holds the operation back.
    Held(OpId),
}

/// What a wavefront did last, for the case that it goes round in circles.
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
    /// Counts dispatched wavefronts: the lower, the older.
    pub(crate) age: u64,
    pub(crate) stage: Stage,
    pub(crate) pending: VecDeque<OpId>,
    pub(crate) waits_for: Option<OpId>,
    pub(crate) ended: bool,
    /// Arithmetic that no operation followed yet.
    pub(super) tail: Work,
    pub(crate) issue: Issue,
    pub(crate) next_issue: u32,
    /// Stores that the issue rule has left behind, with their instructions.
    pub(crate) buffered: Vec<(IssueId, u32)>,
    /// Instructions under way.
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
    /// Is a program on it that has not retired?
    pub(crate) fn is_live(&self) -> bool {
        self.task.is_some() || self.ended
    }
}
