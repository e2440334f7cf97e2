//! Workloads whose numbers come from files: matrices, points and temperatures.
//!
//! A workload lists the files that it reads, and the shape that its settings give to each of them.
//! A file of a different shape is an error. Only the number of points comes from the file itself.

use core::ops::RangeInclusive;
use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use crate::files::numbers::{Expected, FINITE, Table};
use crate::instance::{Instance, Workload};
use crate::settings::{BadSetting, Settings};
use crate::{dense, physics, sorting, stencils};

/// The description of a file from which a workload reads numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberFile {
    /// A word for the content of the file, such as `places`, which reports print.
    pub content: &'static str,
    /// The shape of the table in the file, and the range of its numbers.
    pub expected: Expected,
}

/// A function that makes a program and its check from the tables in the files, the settings and a
/// seed.
pub type OnTables = fn(&[Arc<Table>], &Settings, u64) -> Result<Instance, BadSetting>;

/// A workload in the form that reads its numbers from files, instead of generating them.
#[derive(Clone, Copy)]
pub struct NumberProgram {
    /// The workload that reads the files.
    pub workload: &'static Workload,
    /// Returns the descriptions of the files, in the order in which a user names them.
    pub files: fn(&Settings) -> Vec<NumberFile>,
    /// The names of the settings that have no effect if files are given.
    pub settings: &'static [&'static str],
    /// Makes the program and its check from the tables in the files.
    pub make: OnTables,
}

impl core::fmt::Debug for NumberProgram {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("NumberProgram").field("workload", &self.workload.name).finish_non_exhaustive()
    }
}

/// The workloads that can read their numbers from files.
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

/// The form in which a workload reads its numbers from files, instead of generating them. `None` if
/// the workload has no such form.
#[must_use]
pub fn program_of(workload: &Workload) -> Option<&'static NumberProgram> {
    PROGRAMS.iter().find(|program| program.workload.name == workload.name)
}

/// The workloads that can read their numbers from files.
pub fn workloads() -> impl Iterator<Item = &'static Workload> {
    PROGRAMS.iter().map(|program| program.workload)
}

/// The maximum memory that a reader of a file may use, in bytes.
const MEMORY_BYTES: u64 = 4 << 30;

impl NumberFile {
    /// The description of a file with rows of numbers. `row` is the name of the thing that a row
    /// describes. `columns` has the number of numbers in a row and their names. `rows` is the range
    /// of the number of rows.
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

    /// The description of a file with a matrix. `columns` has the number of columns, and the name
    /// of the setting that determines this number.
    pub(crate) fn matrix(content: &'static str, rows: u64, columns: (u64, &'static str)) -> NumberFile {
        NumberFile::new(content, "row", columns, rows..=rows)
    }

    /// The description of the same file, except that all its numbers must lie in `range`.
    pub(crate) fn within(mut self, range: RangeInclusive<f32>) -> NumberFile {
        self.expected.range = range;
        self
    }

    /// The description of the same file, except that a row may extend over several lines: the end
    /// of a line only separates numbers.
    pub(crate) fn in_any_lines(mut self) -> NumberFile {
        self.expected.row_in_line = false;
        self
    }
}

/// The numbers of a program. They come from a file, or are generated when they are needed.
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
