//! What a program did wrong, with the place.

use core::fmt;

use proto::words::counted;

use crate::op::Site;

/// An error of the program that runs, found while it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Who did it.
    pub who: Who,
    /// What it did.
    pub kind: FaultKind,
    /// Where in the source.
    pub site: Site,
}

/// Who runs: the host, or a wavefront of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// The host program.
    Host {
        /// The program's name.
        program: String,
    },
    /// A wavefront.
    Wave {
        /// The kernel's name.
        kernel: String,
        /// Its work-group in the grid.
        work_group: u32,
        /// The wavefront in its work-group.
        wave: u32,
    },
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// An index beyond the end of an array.
    OutOfBounds {
        /// The array's name.
        array: String,
        /// The lowest lane that did it.
        lane: usize,
        /// Its index.
        index: u64,
        /// How many elements there are.
        len: u64,
    },
    /// A part of an array, or of the LDS, that is not within it.
    BadSlice {
        /// The array's name.
        array: String,
        /// The first element asked for.
        first: u64,
        /// How many were asked for.
        count: u64,
        /// How many there are.
        len: u64,
    },
    /// A grid that the machine can never hold.
    DoesNotFit {
        /// The kernel's name.
        kernel: String,
        /// What is exceeded, for example "wavefronts".
        what: &'static str,
        /// How many a work-group needs.
        needs: u64,
        /// How many a compute unit has.
        has: u64,
    },
    /// More of something than can be numbered.
    TooMany {
        /// What, for example "arrays".
        what: &'static str,
        /// How many there may be.
        max: u64,
    },
    /// The program itself found that it cannot go on.
    Program {
        /// Its words.
        message: String,
    },
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Who::Host { program } => write!(f, "host program `{program}`"),
            Who::Wave { kernel, work_group, wave } => {
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
                write!(
                    f,
                    "a slice of {count} from element {first} on is not within `{array}`, which has {len}"
                )
            }
            FaultKind::DoesNotFit { kernel, what, needs, has } => write!(
                f,
                "a work-group of kernel `{kernel}` needs {needs} {what}, but a compute unit has {has}"
            ),
            FaultKind::TooMany { what, max } => write!(f, "more than {max} {what}"),
            FaultKind::Program { message } => f.write_str(message),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.site, self.who, self.kind)
    }
}

impl core::error::Error for Fault {}
