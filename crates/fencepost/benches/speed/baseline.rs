//! Compares instruction counts with those in `benches/baseline.toml`.

use core::fmt::Write as _;
use core::num::NonZeroU64;
use std::collections::{BTreeMap, BTreeSet};

use proto::words::grouped;
use serde::{Deserialize, Serialize};

/// A benchmark fails if its count (of instructions or of bytes) is above that of the baseline by
/// more than this many percent.
const GROWTH_PERCENT: u64 = 3;

/// If another compiler built the baseline, a benchmark fails if its count is above that of the
/// baseline by more than this many percent. The counts of two releases of rustc differ by several
/// percent.
const OTHER_COMPILER_GROWTH_PERCENT: u64 = 10;

/// The command that writes the current counts into the baseline file.
pub(crate) const BLESS: &str = "`cargo bench -- --bless`";

/// The counts (of instructions and of bytes) of all benchmarks, with the compiler and the target on
/// which the counts depend.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Counts {
    /// The version line of the compiler that built the program.
    pub(crate) compiler: String,
    /// The target platform for which the program is built.
    pub(crate) target: String,
    /// The count (of instructions or of bytes) of each benchmark, by the name of the benchmark.
    pub(crate) counts: BTreeMap<String, NonZeroU64>,
}

/// The result of the comparison of new counts with the baseline.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    /// One line for each benchmark, below a heading.
    pub(crate) table: String,
    /// Remarks to print. They do not make the comparison fail.
    pub(crate) notes: Vec<String>,
    /// Descriptions of failures, each with the name of its benchmark.
    pub(crate) failures: Vec<String>,
}

impl Counts {
    /// Reads counts from the text of the baseline file.
    pub(crate) fn parse(text: &str) -> Result<Counts, String> {
        toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())
    }

    /// The text of the baseline file that holds these counts.
    pub(crate) fn text(&self) -> String {
        let counts = toml::to_string(self).expect("names and numbers");
        format!("# Instructions and bytes of each benchmark. Written by {BLESS}.\n\n{counts}")
    }

    /// Compares these counts with the recorded counts `kept`. The comparison ignores recorded
    /// counts of benchmarks that `is_chosen` rejects.
    pub(crate) fn compare(&self, kept: &Counts, is_chosen: impl Fn(&str) -> bool) -> Comparison {
        let mut found = Comparison::default();
        let limit_percent = if self.compiler == kept.compiler {
            GROWTH_PERCENT
        } else {
            found.notes.push(format!(
                "the baseline is of {}, this is {}: only growth by more than \
                 {OTHER_COMPILER_GROWTH_PERCENT}% fails; {BLESS} writes a baseline of this compiler",
                kept.compiler, self.compiler
            ));
            OTHER_COMPILER_GROWTH_PERCENT
        };
        let is_comparable = self.target == kept.target;
        if !is_comparable {
            found.notes.push(format!(
                "nothing is compared: the baseline is for {}, and this is {}",
                kept.target, self.target
            ));
        }
        let title = ("benchmark", "count", "baseline", "ratio");
        let _ = writeln!(found.table, "{:<22} {:>14} {:>14} {:>7}", title.0, title.1, title.2, title.3);
        let names: BTreeSet<&String> =
            self.counts.keys().chain(kept.counts.keys().filter(|name| is_chosen(name))).collect();
        for name in names {
            let [now, then] = [self, kept].map(|counts| counts.counts.get(name).copied().map(u64::from));
            let show = |count: Option<u64>| count.map_or("-".to_owned(), grouped);
            let ratio = now.zip(then).map(|(now, then)| now as f64 / then as f64);
            let shown = ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.4}"));
            let _ = writeln!(found.table, "{name:<22} {:>14} {:>14} {shown:>7}", show(now), show(then));
            if is_comparable {
                found.judge(name, now, then, limit_percent);
            }
        }
        found
    }
}

impl Comparison {
    fn judge(&mut self, name: &str, now: Option<u64>, kept: Option<u64>, limit_percent: u64) {
        let (now, kept) = match (now, kept) {
            (Some(now), Some(kept)) => (now, kept),
            (Some(_), None) => {
                self.failures.push(format!("{name} is new: the baseline does not have it"));
                return;
            }
            (None, _) => {
                self.failures.push(format!("{name} is in the baseline, and was not measured"));
                return;
            }
        };
        let percent = 100.0 * (now as f64 / kept as f64 - 1.0);
        let is_beyond = now.abs_diff(kept) as u128 * 100 > kept as u128 * u128::from(limit_percent);
        if is_beyond && now > kept {
            self.failures.push(format!("{name} grew by {percent:.1}%, more than {limit_percent}%"));
        } else if is_beyond {
            self.notes.push(format!("{name} fell by {:.1}%: {BLESS} keeps that", -percent));
        }
    }
}
