//! What the protocols share: a private cache or port a compute unit above,
//! banks of a shared cache below, and what passes between them.
//!
//! * [`ToBank`] and [`ToL1`] are the messages that no such protocol is without;
//!   a protocol with more of them keeps these inside its own.
//! * [`Lower`] is the way down: what is under way between a compute unit and
//!   the banks. [`First`] adds the lines of a cache, and what is done to them.
//! * [`Store`] is a bank's lines and what it stands on: memory, or the [`Next`] level.
//! * `first_lines!` and `first_views!` write what a controller passes on to its [`First`].
//! * `protocol!` writes a protocol out from its controllers and tables.
//!
//! Nothing here decides: which of it happens when is said by the tables, plans
//! and guards of a protocol.

mod first;
mod lower;
mod msg;
mod protocol;
mod store;

pub use first::{Carried, First, Needs, performed};
pub(crate) use first::{first_lines, first_views};
pub use lower::{Lower, answer};
pub(crate) use msg::operand_bytes;
pub use msg::{Answer, How, ToBank, ToL1};
pub(crate) use protocol::protocol;
pub use store::{Asked, Base, Memory, Next, Store, answer_bytes, forward, reply};

use proto::issue::IssueRule;
use proto::{Claim, Protocol, Wrap};

/// The index of the first-level kind in the [`Protocol::KINDS`] of `protocol!`.
pub const FIRST: u8 = 0;
/// The index of the banks in them.
pub const BANK: u8 = 1;
/// The index of the host's port in them.
pub const HOST: u8 = 2;

/// Programs without data races, whatever their scopes below the system.
pub const DRF: Claim = Claim {
    model: "drf",
    cores: IssueRule::GPUS,
    mapping: "each operation as a request of the same order, at any scope below the system: they are \
              ignored; sequential consistency for programs without data races",
};

/// OpenCL, as most of them implement it.
pub const OPENCL: Claim = Claim {
    model: "opencl",
    cores: IssueRule::GPUS,
    mapping: "each OpenCL operation as a request of the same order and scope: \
              memory_scope_work_group, memory_scope_device, memory_scope_all_svm_devices as system; \
              a seq_cst access is issued when all before it are complete",
};

/// The model of PTX, as most of them implement it.
pub const PTX: Claim = Claim {
    model: "ptx-7.5",
    cores: IssueRule::GPUS,
    mapping: "each PTX operation as a request of the same order and scope: cta as work_group, gpu as \
              device, sys as system; weak accesses as ordinary ones, fence.sc as a seq_cst fence",
};

/// A protocol some of whose controllers speak to banks below them.
pub trait Descends: Protocol<Msg: Wrap<ToBank>> {}
impl<P: Protocol<Msg: Wrap<ToBank>>> Descends for P {}

/// A protocol whose banks answer controllers above them.
pub trait Ascends: Protocol<Msg: Wrap<ToL1>> {}
impl<P: Protocol<Msg: Wrap<ToL1>>> Ascends for P {}
