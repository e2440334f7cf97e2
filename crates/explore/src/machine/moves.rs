//! The moves of the environment: of all that surrounds the controllers, such as threads, channels,
//! memory and clocks. The moves are the choices of a search and the steps of a trace.

use core::fmt;
use core::str::FromStr;

use proto::{Symbol as _, TimerClass};

/// One choice of the environment (of all that surrounds the controllers). Nodes, threads and lines
/// are given by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Move {
    /// A thread issues its next operation.
    Issue {
        /// The thread that issues.
        thread: u8,
    },
    /// A message is delivered.
    Deliver {
        /// The node that sent the message.
        from: u8,
        /// The node that receives the message.
        to: u8,
        /// The index of the message among the messages under way between the two nodes. It is 0 if
        /// channels keep their order.
        nth: u8,
    },
    /// A core's request enters a controller outside the core's part (the state of one node), or the
    /// answer comes back.
    Cross {
        /// The node that the request or answer leaves.
        from: u8,
        /// The node that the request or answer enters.
        to: u8,
        /// The index of the request or answer among the requests and answers under way between the
        /// two nodes.
        nth: u8,
    },
    /// Memory performs the oldest of the operations on a line that are under way from a node. The
    /// reply reaches the node in the same move if no other node accesses the line and
    /// `Bounds::merge_memory` is on.
    Serve {
        /// The node that sent the operation.
        node: u8,
        /// The line that the operation accesses.
        line: u8,
    },
    /// Memory's reply about a line reaches a node.
    Answer {
        /// The node that receives the reply.
        node: u8,
        /// The line of the reply.
        line: u8,
    },
    /// A timer of a node expires.
    Timer {
        /// The node of the timer.
        node: u8,
        /// The index of the timer's class (purpose of the timer).
        class: u8,
    },
    /// A node evicts a way.
    Evict {
        /// The node that evicts.
        node: u8,
        /// The number of the way.
        way: u8,
    },
    /// A tick passes for all nodes.
    Tick,
    /// A tick passes for one node. Such moves exist only on machines whose clocks may differ.
    TickAt {
        /// The node whose clock ticks.
        node: u8,
    },
    /// An agent (a compute unit or the command processor) makes its request at the beginning or end
    /// of a kernel.
    Boundary {
        /// The index of the agent among the agents that make a request in the same step: the number
        /// of a compute unit, or 0 for the command processor, which makes its request alone.
        agent: u8,
    },
    /// The next step of a program of several kernels begins.
    Next,
    /// A work-group is preempted: its compute unit releases, and the work-group leaves that compute
    /// unit.
    Preempt {
        /// The first thread of the work-group.
        thread: u8,
    },
    /// A preempted work-group moves to another compute unit, which acquires first.
    Resume {
        /// The first thread of the work-group.
        thread: u8,
        /// The new compute unit.
        cu: u8,
    },
}

impl Move {
    /// Whether the move is the expiry of a periodic timer.
    #[must_use]
    pub fn is_periodic(self) -> bool {
        match self {
            Move::Timer { class, .. } => {
                TimerClass::ALL.get(usize::from(class)).is_some_and(|class| class.is_periodic())
            }
            _ => false,
        }
    }

    /// Whether the move is a tick of a clock.
    #[must_use]
    pub const fn is_tick(self) -> bool {
        matches!(self, Move::Tick | Move::TickAt { .. })
    }

    /// Whether the move is the issue of an operation by a core.
    #[inline]
    #[must_use]
    pub const fn is_issue(self) -> bool {
        matches!(self, Move::Issue { .. })
    }
}

/// The text of the move in the file of a trace.
impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Move::Issue { thread } => write!(f, "issue {thread}"),
            Move::Deliver { from, to, nth } => write!(f, "deliver {from} {to} {nth}"),
            Move::Cross { from, to, nth } => write!(f, "cross {from} {to} {nth}"),
            Move::Serve { node, line } => write!(f, "serve {node} {line}"),
            Move::Answer { node, line } => write!(f, "answer {node} {line}"),
            Move::Timer { node, class } => write!(f, "timer {node} {class}"),
            Move::Evict { node, way } => write!(f, "evict {node} {way}"),
            Move::Tick => f.write_str("tick"),
            Move::TickAt { node } => write!(f, "tick {node}"),
            Move::Boundary { agent } => write!(f, "boundary {agent}"),
            Move::Next => f.write_str("next"),
            Move::Preempt { thread } => write!(f, "preempt {thread}"),
            Move::Resume { thread, cu } => write!(f, "resume {thread} {cu}"),
        }
    }
}

impl FromStr for Move {
    type Err = String;

    fn from_str(text: &str) -> Result<Move, String> {
        let refuse = || format!("`{text}` is no move, expected for example `issue 0` or `deliver 0 2 0`");
        let mut words = text.split_whitespace();
        let name = words.next().ok_or_else(refuse)?;
        let numbers = words.map(str::parse).collect::<Result<Vec<u8>, _>>().map_err(|_| refuse())?;
        Ok(match (name, &*numbers) {
            ("issue", &[thread]) => Move::Issue { thread },
            ("deliver", &[from, to, nth]) => Move::Deliver { from, to, nth },
            ("cross", &[from, to, nth]) => Move::Cross { from, to, nth },
            ("serve", &[node, line]) => Move::Serve { node, line },
            ("answer", &[node, line]) => Move::Answer { node, line },
            ("timer", &[node, class]) => Move::Timer { node, class },
            ("evict", &[node, way]) => Move::Evict { node, way },
            ("tick", &[]) => Move::Tick,
            ("tick", &[node]) => Move::TickAt { node },
            ("boundary", &[agent]) => Move::Boundary { agent },
            ("next", &[]) => Move::Next,
            ("preempt", &[thread]) => Move::Preempt { thread },
            ("resume", &[thread, cu]) => Move::Resume { thread, cu },
            _ => return Err(refuse()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_reads_back_as_written() {
        let moves = [
            Move::Issue { thread: 3 },
            Move::Deliver { from: 1, to: 2, nth: 4 },
            Move::Cross { from: 2, to: 0, nth: 1 },
            Move::Serve { node: 5, line: 6 },
            Move::Answer { node: 7, line: 8 },
            Move::Timer { node: 9, class: 1 },
            Move::Evict { node: 255, way: 0 },
            Move::Tick,
            Move::TickAt { node: 2 },
            Move::Boundary { agent: 3 },
            Move::Next,
            Move::Preempt { thread: 1 },
            Move::Resume { thread: 1, cu: 2 },
        ];
        for mv in moves {
            assert_eq!(mv.to_string().parse(), Ok(mv));
        }
        let bad = ["", "issue", "issue x", "issue 256", "deliver 1 2", "tick 1 2", "wait 1", "boundary"];
        for bad in bad.into_iter().chain(["next 1", "preempt", "resume 1"]) {
            assert!(bad.parse::<Move>().is_err(), "{bad}");
        }
    }
}
