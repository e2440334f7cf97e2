//! Settings of compute units, the host, and the launch of kernels and work-groups.

use kernel::Class;
use serde::{Deserialize, Serialize};

use super::number;

/// The rule that selects which ready wavefront of a SIMD unit issues next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// Select the wavefront that was dispatched first.
    OldestFirst,
    /// Select the first ready wavefront after the one that issued last, in the order of their
    /// slots.
    RoundRobin,
}

/// The scope of the release that ends a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndOfKernel {
    /// Release to the host at the kernel's end: shared levels write out their dirty lines.
    #[default]
    System,
    /// Release to the device at the kernel's end. The release to the host follows when the host
    /// next accesses memory.
    Device,
}

/// The rule that decides which operations of one wavefront may overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum IssueRule {
    /// The rule of a GPU core: independent accesses overlap. No later operation passes an acquire,
    /// and a release waits for all earlier operations.
    Gpu,
    /// One operation at a time, each complete before the next one issues.
    InOrder,
    /// Sequential consistency without a write buffer, under the name of Hechtman's thesis, 3.3.1. It
    /// is the same rule as `InOrder`.
    ScSimple,
    /// Sequential consistency with a write buffer: stores leave the buffer in program order, and
    /// every other operation waits until the buffer is empty.
    #[serde(rename = "sc-wb", alias = "sc-write-buffer")]
    ScWriteBuffer,
    /// Total store order (TSO): a load may pass older stores. It cannot read the write buffer: it
    /// waits until each older store of the same bytes is complete.
    Tso,
    /// The rule is `Tso`, but a load reads from buffered stores of its own core.
    TsoForwarding,
    /// Relaxed memory order (RMO): accesses overlap and complete in any order, up to a fence. Accesses
    /// of the same bytes keep their order if one of them writes.
    Rmo,
    /// The rule is `Rmo`, but stores leave the write buffer in program order.
    RmoFifo,
    /// The rule is `Gpu`, but a load also reads from outstanding stores of its own core.
    RmoForwarding,
}

impl From<IssueRule> for proto::issue::IssueRule {
    fn from(rule: IssueRule) -> Self {
        match rule {
            IssueRule::Gpu => proto::issue::IssueRule::Gpu,
            IssueRule::InOrder | IssueRule::ScSimple => proto::issue::IssueRule::InOrder,
            IssueRule::ScWriteBuffer => proto::issue::IssueRule::ScWriteBuffer,
            IssueRule::Tso => proto::issue::IssueRule::Tso,
            IssueRule::TsoForwarding => proto::issue::IssueRule::TsoForwarding,
            IssueRule::Rmo => proto::issue::IssueRule::Rmo,
            IssueRule::RmoFifo => proto::issue::IssueRule::RmoFifo,
            IssueRule::RmoForwarding => proto::issue::IssueRule::RmoForwarding,
        }
    }
}

/// Settings of the compute units.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CuSpec {
    /// The number of compute units.
    #[serde(deserialize_with = "number::positive_u32")]
    pub count: u32,
    /// The number of SIMD units in each compute unit.
    #[serde(deserialize_with = "number::positive_u32")]
    pub simd_units: u32,
    /// The number of wavefronts that one compute unit holds at a time, over all its SIMD units.
    #[serde(deserialize_with = "number::positive_u32")]
    pub wavefront_slots: u32,
    /// The number of work-groups that one compute unit holds at a time.
    #[serde(deserialize_with = "number::positive_u32")]
    pub work_group_slots: u32,
    /// The number of work-items in a wavefront.
    #[serde(deserialize_with = "number::positive_u32")]
    pub lanes: u32,
    /// The rule that selects which ready wavefront of a SIMD unit issues next.
    pub scheduler: Scheduler,
    /// The maximum number of posted accesses of one wavefront. A posted access is a store, or an
    /// atomic without a result, that is not answered yet although its wavefront has continued. An
    /// issue rule with a write buffer accepts every store, whatever this number is. If a
    /// wavefront has this number of posted accesses, it does not continue after its next store or
    /// atomic without a result, but waits until the first memory level answers that access. If the
    /// limit is 0, the wavefront waits in this way after each of these accesses.
    #[serde(default, skip_serializing_if = "number::is_zero", deserialize_with = "number::whole_u32")]
    pub posted_stores: u32,
    /// The number of stores that the write buffer of a wavefront holds, if the issue rule has one.
    /// The next store of the wavefront waits for room. `None` means that there is always room.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::some_positive_u32"
    )]
    pub write_buffer_entries: Option<u32>,
}

/// The cycles for which one vector operation occupies its SIMD unit, for each class of operation.
/// An operation on eight-byte lanes counts as two operations, except in double precision.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct VectorOpSpec {
    /// Cycles of an integer addition, subtraction, shift, logic operation, minimum, maximum or move.
    #[serde(deserialize_with = "number::positive_u32")]
    pub int_cycles: u32,
    /// Cycles of an integer multiplication.
    #[serde(deserialize_with = "number::positive_u32")]
    pub int_mul_cycles: u32,
    /// Cycles of an integer division or remainder.
    #[serde(deserialize_with = "number::positive_u32")]
    pub int_div_cycles: u32,
    /// Cycles of a single-precision addition, subtraction, negation, minimum or maximum.
    #[serde(deserialize_with = "number::positive_u32")]
    pub float_add_cycles: u32,
    /// Cycles of a single-precision multiplication or fused multiply-add.
    #[serde(deserialize_with = "number::positive_u32")]
    pub float_mul_cycles: u32,
    /// Cycles of a double-precision addition, multiplication or fused multiply-add.
    #[serde(deserialize_with = "number::positive_u32")]
    pub double_cycles: u32,
    /// Cycles of a floating-point division.
    #[serde(deserialize_with = "number::positive_u32")]
    pub float_div_cycles: u32,
    /// Cycles of a square root.
    #[serde(deserialize_with = "number::positive_u32")]
    pub float_sqrt_cycles: u32,
    /// Cycles of a comparison whose result is a mask.
    #[serde(deserialize_with = "number::positive_u32")]
    pub compare_cycles: u32,
    /// Cycles of a selection between two values by a mask.
    #[serde(deserialize_with = "number::positive_u32")]
    pub select_cycles: u32,
    /// Cycles of a conversion between types.
    #[serde(deserialize_with = "number::positive_u32")]
    pub convert_cycles: u32,
    /// Cycles of an exponential, a logarithm or a trigonometric function.
    #[serde(deserialize_with = "number::positive_u32")]
    pub special_cycles: u32,
    /// Cycles of a move of values between lanes.
    #[serde(deserialize_with = "number::positive_u32")]
    pub shuffle_cycles: u32,
    /// Cycles of a change of the execution mask, which selects the active lanes.
    #[serde(deserialize_with = "number::positive_u32")]
    pub branch_cycles: u32,
}

impl VectorOpSpec {
    /// The number of cycles for which one operation of this class occupies its SIMD unit.
    #[must_use]
    pub fn cycles(&self, class: Class) -> u32 {
        match class {
            Class::Int => self.int_cycles,
            Class::IntMul => self.int_mul_cycles,
            Class::IntDiv => self.int_div_cycles,
            Class::FloatAdd => self.float_add_cycles,
            Class::FloatMul => self.float_mul_cycles,
            Class::Double => self.double_cycles,
            Class::FloatDiv => self.float_div_cycles,
            Class::FloatSqrt => self.float_sqrt_cycles,
            Class::Compare => self.compare_cycles,
            Class::Select => self.select_cycles,
            Class::Convert => self.convert_cycles,
            Class::Special => self.special_cycles,
            Class::Shuffle => self.shuffle_cycles,
            Class::Branch => self.branch_cycles,
        }
    }
}

/// Settings of the local memory of each compute unit.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LdsSpec {
    /// The size of the local memory of one compute unit.
    #[serde(deserialize_with = "number::positive_u64")]
    pub bytes: u64,
    /// The cycles from the issue of an access to the use of its result, without a bank conflict.
    #[serde(deserialize_with = "number::positive_u32")]
    pub latency_cycles: u32,
    /// The number of banks, each four bytes wide. Lanes that access the same bank take turns.
    #[serde(deserialize_with = "number::positive_u32")]
    pub banks: u32,
}

/// Times of kernel and work-group launches, and the scope of the release at a kernel's end.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchSpec {
    /// Cycles from the end of one kernel to the first work-group of the next kernel.
    #[serde(deserialize_with = "number::whole_u32")]
    pub kernel_cycles: u32,
    /// Cycles between the starts of two work-groups.
    #[serde(deserialize_with = "number::positive_u32")]
    pub work_group_interval_cycles: u32,
    /// Cycles from the dispatch of a wavefront to its first instruction.
    #[serde(deserialize_with = "number::whole_u32")]
    pub wavefront_cycles: u32,
    /// The scope of the release that ends a kernel.
    #[serde(default)]
    pub end_of_kernel: EndOfKernel,
}

/// Settings of the host, the in-order processor beside the GPU. The host accesses memory at system
/// scope.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct HostSpec {
    /// Cycles of the round trip from the host to the GPU's memory, without the memory access
    /// itself.
    #[serde(deserialize_with = "number::positive_u32")]
    pub memory_latency_cycles: u32,
    /// Cycles of one host operation that accesses no memory.
    #[serde(deserialize_with = "number::positive_u32")]
    pub operation_cycles: u32,
}
