//! Workloads whose numbers come from files: matrices, points and temperatures.
//!
//! A workload lists its files with the shape that its settings give them. A file
//! of another shape is an error. The number of points is that of the file.

use core::ops::RangeInclusive;
use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use crate::files::numbers::{Expected, FINITE, Table};
use crate::instance::{Instance, Workload};
use crate::settings::{BadSetting, Settings};
use crate::{dense, physics, sorting, stencils};

/// A file of a workload.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberFile {
    /// The content of the file, such as `places`.
    pub content: &'static str,
    /// The shape and the range of its numbers.
    pub expected: Expected,
}

/// Makes an instance from the tables of the files, the settings and a seed.
pub type OnTables = fn(&[Arc<Table>], &Settings, u64) -> Result<Instance, BadSetting>;

/// A workload that takes its numbers from files.
#[derive(Clone, Copy)]
pub struct NumberProgram {
    /// The workload.
    pub workload: &'static Workload,
    /// The files, in the order in which a user names them.
    pub files: fn(&Settings) -> Vec<NumberFile>,
    /// The settings that the files replace.
    pub settings: &'static [&'static str],
    /// Makes an instance.
    pub make: OnTables,
}

impl core::fmt::Debug for NumberProgram {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("NumberProgram").field("workload", &self.workload.name).finish_non_exhaustive()
    }
}

/// The workloads that take their numbers from files.
static PROGRAMS: [NumberProgram; 9] = [
    dense::MATMUL_ON_FILES,
    dense::DGEMM_ON_FILES,
    dense::LUD_ON_FILES,
    dense::GAUSSIAN_ON_FILES,
    stencils::HOTSPOT_ON_FILES,
    sorting::NN_ON_FILES,
    physics::KMEANS_ON_FILES,
    physics::BARNES_HUT_ON_FILES,
    physics::HACC_ON_FILES,
];

/// The program of a workload on numbers from files, or `None` if the workload
/// takes none.
#[must_use]
pub fn program_of(workload: &Workload) -> Option<&'static NumberProgram> {
    PROGRAMS.iter().find(|program| program.workload.name == workload.name)
}

/// The workloads that take numbers from files.
pub fn workloads() -> impl Iterator<Item = &'static Workload> {
    PROGRAMS.iter().map(|program| program.workload)
}

/// The memory budget of a reader.
const MEMORY_BYTES: u64 = 4 << 30;

impl NumberFile {
    /// A file with rows of numbers: the name of a row, the numbers of a row with their names, and
    /// the range of the number of rows.
    pub(crate) fn new(
        content: &'static str,
        row: &'static str,
        columns: (u64, &'static str),
        rows: RangeInclusive<u64>,
    ) -> NumberFile {
        let (range, memory_bytes) = (FINITE, MEMORY_BYTES);
        NumberFile {
            content,
            expected: Expected { row, columns, rows, range, row_in_line: true, memory_bytes },
        }
    }

    /// A file with a matrix: its rows, and its columns with the setting that says how many there are.
    pub(crate) fn matrix(content: &'static str, rows: u64, columns: (u64, &'static str)) -> NumberFile {
        NumberFile::new(content, "row", columns, rows..=rows)
    }

    /// The same file, whose numbers are all in a range.
    pub(crate) fn within(mut self, range: RangeInclusive<f32>) -> NumberFile {
        self.expected.range = range;
        self
    }

    /// The same file, in which line ends are blanks.
    pub(crate) fn in_any_lines(mut self) -> NumberFile {
        self.expected.row_in_line = false;
        self
    }
}

/// The numbers of a program: those of a file, or generated when they are needed.
#[derive(Clone)]
pub(crate) enum Numbers {
    Given(Arc<Table>),
    Generated(Rc<dyn Fn() -> Vec<f32>>),
}

impl Numbers {
    pub(crate) fn generated(make: impl Fn() -> Vec<f32> + 'static) -> Numbers {
        Numbers::Generated(Rc::new(make))
    }

    pub(crate) fn get(&self) -> Cow<'_, [f32]> {
        match self {
            Numbers::Given(table) => Cow::Borrowed(table.numbers()),
            Numbers::Generated(make) => Cow::Owned(make()),
        }
    }
}
