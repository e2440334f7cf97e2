//! Compute units, the host, and the launch of work.

use kernel::Class;
use serde::{Deserialize, Serialize};

use super::number;

/// Which ready wavefront of a SIMD unit issues next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// The wavefront that was dispatched first.
    OldestFirst,
    /// The next wavefront in slot order after the last one that issued.
    RoundRobin,
}

/// The scope of the release at the end of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndOfKernel {
    /// The host, at once: shared levels write out their dirty lines.
    #[default]
    System,
    /// The device. The release to the host follows when the host next accesses
    /// memory.
    Device,
}

/// Which operations of one wavefront may overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum IssueRule {
    /// A GPU core: plain accesses and relaxed atomics overlap until another
    /// operation waits for them.
    Gpu,
    /// One operation at a time.
    InOrder,
    /// Sequential consistency with a write buffer. Loads forward from the buffer.
    ScWriteBuffer,
    /// Total store order.
    Tso,
    /// Relaxed memory order.
    Rmo,
}

impl From<IssueRule> for proto::issue::IssueRule {
    fn from(rule: IssueRule) -> Self {
        match rule {
            IssueRule::Gpu => proto::issue::IssueRule::Gpu,
            IssueRule::InOrder => proto::issue::IssueRule::InOrder,
            IssueRule::ScWriteBuffer => proto::issue::IssueRule::ScWriteBuffer,
            IssueRule::Tso => proto::issue::IssueRule::Tso,
            IssueRule::Rmo => proto::issue::IssueRule::Rmo,
        }
    }
}

/// The compute units.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CuSpec {
    /// The number of compute units.
    #[serde(deserialize_with = "number::positive_u32")]
    pub count: u32,
    /// SIMD units in each compute unit.
    #[serde(deserialize_with = "number::positive_u32")]
    pub simd_units: u32,
    /// Wavefronts that one compute unit holds at a time, over all SIMD units.
    #[serde(deserialize_with = "number::positive_u32")]
    pub wavefront_slots: u32,
    /// Work-groups that one compute unit holds at a time.
    #[serde(deserialize_with = "number::positive_u32")]
    pub work_group_slots: u32,
    /// Work-items in a wavefront.
    #[serde(deserialize_with = "number::positive_u32")]
    pub lanes: u32,
    /// Which ready wavefront issues.
    pub scheduler: Scheduler,
}

/// The cycles for which one vector operation occupies its SIMD unit, by class. An
/// operation on eight-byte lanes counts as two, except in double precision.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct VectorOpSpec {
    /// Integer add, subtract, shift, logic, minimum, maximum, move.
    #[serde(deserialize_with = "number::positive_u32")]
    pub int_cycles: u32,
    /// Integer multiply.
    #[serde(deserialize_with = "number::positive_u32")]
    pub int_mul_cycles: u32,
    /// Integer divide and remainder.
    #[serde(deserialize_with = "number::positive_u32")]
    pub int_div_cycles: u32,
    /// Float add, subtract, negate, minimum, maximum.
    #[serde(deserialize_with = "number::positive_u32")]
    pub float_add_cycles: u32,
    /// Float multiply, fused multiply-add.
    #[serde(deserialize_with = "number::positive_u32")]
    pub float_mul_cycles: u32,
    /// Double-precision add, multiply, fused multiply-add.
    #[serde(deserialize_with = "number::positive_u32")]
    pub double_cycles: u32,
    /// Float divide.
    #[serde(deserialize_with = "number::positive_u32")]
    pub float_div_cycles: u32,
    /// Square root.
    #[serde(deserialize_with = "number::positive_u32")]
    pub float_sqrt_cycles: u32,
    /// Compare into a mask.
    #[serde(deserialize_with = "number::positive_u32")]
    pub compare_cycles: u32,
    /// Choose by a mask.
    #[serde(deserialize_with = "number::positive_u32")]
    pub select_cycles: u32,
    /// Convert between types.
    #[serde(deserialize_with = "number::positive_u32")]
    pub convert_cycles: u32,
    /// Exponential, logarithm, trigonometry.
    #[serde(deserialize_with = "number::positive_u32")]
    pub special_cycles: u32,
    /// Move values between lanes.
    #[serde(deserialize_with = "number::positive_u32")]
    pub shuffle_cycles: u32,
    /// Change the execution mask.
    #[serde(deserialize_with = "number::positive_u32")]
    pub branch_cycles: u32,
}

impl VectorOpSpec {
    /// The cycles of one operation of this class.
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

/// The local memory of one compute unit.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LdsSpec {
    /// Its size.
    #[serde(deserialize_with = "number::positive_u64")]
    pub bytes: u64,
    /// From issue to use, without a bank conflict.
    #[serde(deserialize_with = "number::positive_u32")]
    pub latency_cycles: u32,
    /// Banks of four bytes. Lanes that access the same bank take turns.
    #[serde(deserialize_with = "number::positive_u32")]
    pub banks: u32,
}

/// How kernels and work-groups start.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchSpec {
    /// From the end of one kernel to the first work-group of the next.
    #[serde(deserialize_with = "number::whole_u32")]
    pub kernel_cycles: u32,
    /// Between the starts of two work-groups.
    #[serde(deserialize_with = "number::positive_u32")]
    pub work_group_interval_cycles: u32,
    /// From the dispatch of a wavefront to its first instruction.
    #[serde(deserialize_with = "number::whole_u32")]
    pub wavefront_cycles: u32,
    /// The scope of the release at the end of a kernel.
    #[serde(default)]
    pub end_of_kernel: EndOfKernel,
}

/// The in-order processor beside the GPU. It accesses memory at system scope.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct HostSpec {
    /// The round trip from the host to the GPU's memory, without the memory access
    /// itself.
    #[serde(deserialize_with = "number::positive_u32")]
    pub memory_latency_cycles: u32,
    /// One operation that touches no memory.
    #[serde(deserialize_with = "number::positive_u32")]
    pub operation_cycles: u32,
}
