//! Kernels as plain async Rust, and the programs around them.
//!
//! A kernel is an `async fn` that gets a [`Wave`]. It uses vectors with one value for each lane
//! ([`Lanes`]) under an execution mask, loads, stores, atomics, fences, barriers and local memory.
//! The program that drives the kernel, such as a simulator, executes it operation by operation.
//! Spin locks and work queues therefore react to the timing of the machine, which a recorded trace
//! of a kernel would not do. Host code is an `async fn` that gets a [`Host`].
//!
//! * Write kernels and programs with the items of [`prelude`].
//! * Drive a program through [`Session`]: poll its host code and its wavefronts, take the
//!   operations that they post, perform these operations, and complete them.
//! * Run a program without a machine through [`reference::run`], on one flat, sequentially
//!   consistent memory without time.
//!
//! This crate models neither time nor a protocol.

pub mod reference;
pub mod rng;

mod agent;
mod answer;
mod array;
mod fault;
mod host;
mod lanes;
mod launch;
mod mask;
mod op;
mod place;
pub mod session;
mod wave;
mod word;
mod work;

pub use agent::{Accepted, Loading, Reading};
pub use answer::{Answer, AnswerPart, WrongAnswer};
pub use array::{Array, ArrayInfo, GroupPart, Lds, Target, Use};
pub use fault::{Fault, FaultKind, Issuer};
pub use host::{ARRAY_ALIGN_BYTES, FIRST_ADDR, Host, Program};
pub use lanes::{Lanes, Operand};
pub use launch::{Grid, Kernel, Launch, Placement, Shape};
pub use mask::Mask;
pub use op::{
    Action, Addressing, OPS_PER_POLL_MAX, OpId, Ops, Posted, Semantics, Site, Space, acq_rel, acquire,
    relaxed, release, seq_cst,
};
pub use place::{Place, Unit};
pub use session::{Polled, Session, WaveTask};
pub use wave::{Coords, Wave};
pub use word::{Integer, LANES_MAX, Packed, Word};
pub use work::{CLASSES, Class, Work, charge};

/// The items for kernels and programs.
pub mod prelude {
    pub use crate::{
        Answer, Array, Class, Grid, Host, Kernel, Lanes, Lds, Mask, Placement, Program, Semantics, Shape,
        Unit, Wave, Word, WrongAnswer, acq_rel, acquire, relaxed, release, seq_cst,
    };
    pub use proto::{Level, Order, RmwKind};
}
