//! Errors of a program at run time, with their places.

use core::fmt;

use proto::words::counted;

use crate::op::Site;

/// An error of a program at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The host or the wavefront that issued the faulty operation.
    pub issuer: Issuer,
    /// The kind of the error, such as an index out of bounds.
    pub kind: FaultKind,
    /// The place in the source from which the faulty operation was issued.
    pub site: Site,
}

/// The agent that issued an operation: the host, or a wavefront of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Issuer {
    /// The host program issued the operation.
    Host {
        /// The name of the program.
        program: String,
    },
    /// A wavefront of a kernel issued the operation.
    Wave {
        /// The name of the kernel.
        kernel: String,
        /// The number of the work-group in the grid.
        work_group: u32,
        /// The number of the wavefront in its work-group.
        wave: u32,
    },
}

/// The kind of an error that a program makes at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// An index is beyond the end of an array.
    OutOfBounds {
        /// The name of the array.
        array: String,
        /// The lowest of the lanes that used an index out of bounds.
        lane: usize,
        /// The index that the lane used.
        index: u64,
        /// The number of elements in the array.
        len: u64,
    },
    /// A slice is not within its array or its local memory.
    BadSlice {
        /// The name of the array.
        array: String,
        /// The first element of the slice.
        first: u64,
        /// The number of elements of the slice.
        count: u64,
        /// The number of elements in the array.
        len: u64,
    },
    /// A work-group of a grid needs more of a resource than a compute unit has.
    DoesNotFit {
        /// The name of the kernel.
        kernel: String,
        /// The exceeded resource, for example "wavefronts".
        what: &'static str,
        /// The amount that a work-group needs.
        needs: u64,
        /// The amount that a compute unit has.
        has: u64,
    },
    /// The program exceeds a limit of the code that runs programs, such as the number of arrays.
    TooMany {
        /// The plural name of the things whose number is limited, for example "arrays".
        what: &'static str,
        /// The limit that is exceeded.
        max: u64,
    },
    /// A kernel makes an access to an array that it has not declared.
    Undeclared {
        /// The name of the array.
        array: String,
        /// The lowest lane that makes the access.
        lane: usize,
        /// The index of the element that the lane accesses.
        index: u64,
        /// A verb for the access, for example "reads".
        access: &'static str,
    },
    /// The program ends the run with an error of its own, such as a failed check.
    Program {
        /// The message of the program.
        message: String,
    },
}

impl fmt::Display for Issuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Issuer::Host { program } => write!(f, "host program `{program}`"),
            Issuer::Wave { kernel, work_group, wave } => {
                write!(f, "kernel `{kernel}`, work-group {work_group}, wavefront {wave}")
            }
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::OutOfBounds { array, lane, index, len } => {
                let len = counted(*len, "element");
                write!(f, "lane {lane} accesses element {index} of `{array}`, which has {len}")
            }
            FaultKind::BadSlice { array, first, count, len } => {
                let (count, len) = (counted(*count, "element"), counted(*len, "element"));
                write!(f, "a slice of {count} from element {first} is not within `{array}`, which has {len}")
            }
            FaultKind::DoesNotFit { kernel, what, needs, has } => write!(
                f,
                "a work-group of kernel `{kernel}` needs {needs} {what}, but a compute unit has {has}"
            ),
            FaultKind::TooMany { what, max } => write!(f, "the program has more than {max} {what}"),
            FaultKind::Undeclared { array, lane, index, access } => {
                write!(
                    f,
                    "lane {lane} {access} element {index} of `{array}`, which the kernel does not declare"
                )
            }
            FaultKind::Program { message } => f.write_str(message),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.site, self.issuer, self.kind)
    }
}

impl core::error::Error for Fault {}
