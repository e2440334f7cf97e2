//! Records of the cases of a protocol. A recording run executes each case without a mutant, and
//! notes the size of the case and the mutants that it may kill.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::switch::NUMBER_MAX;
use crate::tree::Tree;

/// A recording run executes all cases (programs on a machine) of a protocol without a mutant. This
/// is the number of parts into which the cases are divided. A later run does not repeat a part that
/// is complete.
const PARTS: usize = 32;

/// The cases of the groups of programs are tried in batches, one batch of each group in turn.
/// This is the number of cases in a batch of message programs (letter `m`: one thread releases,
/// another acquires) or of enumerated programs (letter `g`) on one machine.
const GENERATED: usize = 16;

/// The record of one case of a protocol. A case is a program in one placement on one machine, or a
/// few episodes (random programs).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseRecord {
    /// The name of the case, for example `s17.2.0`.
    pub name: String,
    /// The number of states that the explorer visits in the case, without a mutant.
    pub states: u64,
    /// The fuel that the case uses without a mutant: the number of calls of the switch, which is
    /// the code that selects a mutant.
    pub fuel: u64,
    /// One bit for each mutant, by number: whether the case may kill the mutant.
    seen: Vec<u64>,
}

impl CaseRecord {
    pub(crate) fn read(line: &str) -> Option<CaseRecord> {
        let [name, states, fuel, numbers] = *line.split(' ').collect::<Vec<_>>() else { return None };
        let mut seen = vec![0; (NUMBER_MAX as usize + 1) / 64];
        for number in numbers.split(',').filter(|number| !number.is_empty()) {
            let number: usize = number.parse().ok()?;
            *seen.get_mut(number / 64)? |= 1 << (number % 64);
        }
        Some(CaseRecord {
            name: name.to_owned(),
            states: states.parse().ok()?,
            fuel: fuel.parse().ok()?,
            seen,
        })
    }

    /// Whether the case may kill the mutant with this number: in the recording run of the case, the
    /// mutant would have changed the value of an expression.
    #[must_use]
    pub fn sees(&self, number: u32) -> bool {
        self.seen.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// Whether the case consists of a few episodes (random programs). Such a case takes less time
    /// than the exploration of any program.
    pub(crate) fn is_short_test(&self) -> bool {
        matches!(self.program(), "r0" | "r1")
    }

    /// Whether the program of the case is a test that was written for the protocol.
    pub(crate) fn is_own_test(&self) -> bool {
        self.name.starts_with('o')
    }

    /// The number of the program, with the letter of its group: the name of the case without the
    /// placement and the machine, such as `s17`.
    #[must_use]
    pub fn program(&self) -> &str {
        self.name.split('.').next().unwrap_or_default()
    }

    /// The key of the case's group, and the number of cases in a batch of the group. One batch of
    /// every group is tried, then the next batch of every group, and so on. The key of a message
    /// program (letter `m`) or an enumerated program (letter `g`) consists of the letter of the
    /// program and the number of the machine. Every other program forms a group of its own: its key
    /// is the program and an empty text.
    pub(crate) fn group(&self) -> (&str, &str, usize) {
        let program = self.program();
        match program.chars().next() {
            Some('g' | 'm') => (&program[..1], self.name.rsplit('.').next().unwrap_or_default(), GENERATED),
            _ => (program, "", 1),
        }
    }
}

/// Returns the records of a protocol's cases. They come from the files of earlier runs, or from a
/// new run of the cases. `jobs` processes run at the same time, one case in `share_of` is used, and
/// only if it has at most `states_max` states. If `is_again` is true, all cases run again.
///
/// # Errors
/// If a child process cannot be started or fails, or a file cannot be written.
pub fn of(
    tree: &Tree,
    folder: &Path,
    digest: &str,
    protocol: &str,
    (jobs, share_of, states_max): (usize, usize, u64),
    is_again: bool,
) -> Result<Vec<CaseRecord>, String> {
    let next = AtomicUsize::new(0);
    // Case 0 is in part 0, case 1 in part 1, and so on: each part has cases of all groups.
    let parts = (PARTS / share_of.max(1)).max(1);
    let work = || {
        loop {
            let part = next.fetch_add(1, Ordering::Relaxed);
            if part >= parts {
                return Ok(());
            }
            share(tree, folder, digest, (protocol, states_max, part), is_again)?;
        }
    };
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(work)).collect();
        let mut results = handles.into_iter().map(|handle| handle.join());
        results.try_for_each(|result| result.unwrap_or_else(|_| Err(String::from("a worker panicked"))))
    })?;
    let mut all = Vec::new();
    for part in 0..parts {
        let text = crate::schema::read(&folder.join(file(digest, (protocol, states_max, part))))?;
        for line in text.lines() {
            all.push(CaseRecord::read(line).ok_or_else(|| format!("`{line}` is no record of a case"))?);
        }
    }
    Ok(all)
}

fn file(digest: &str, (protocol, states_max, part): (&str, u64, usize)) -> String {
    format!("record-{digest}-{protocol}-{states_max}-{part}.txt")
}

fn share(
    tree: &Tree,
    folder: &Path,
    digest: &str,
    (protocol, states_max, part): (&str, u64, usize),
    is_again: bool,
) -> Result<(), String> {
    let path = folder.join(file(digest, (protocol, states_max, part)));
    if path.exists() && !is_again {
        return Ok(());
    }
    let output = Command::new(&tree.trial)
        .args(["record", protocol, &states_max.to_string(), &part.to_string(), &PARTS.to_string()])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("{}: {error}", tree.trial.display()))?;
    if !output.status.success() {
        return Err(format!("the recording run of `{protocol}` failed: {}", output.status));
    }
    // The records are written to another file, which is then renamed. A file of records is
    // therefore complete or absent.
    let half = path.with_extension("part");
    let error = |error: std::io::Error| format!("{}: {error}", path.display());
    std::fs::write(&half, &output.stdout).map_err(error)?;
    std::fs::rename(&half, &path).map_err(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_its_numbers() {
        let record = CaseRecord::read("s17.2.0 500 9 1,64,70").expect("a record");
        assert_eq!((record.states, record.fuel, record.program()), (500, 9, "s17"));
        assert_eq!((0..100).filter(|&number| record.sees(number)).collect::<Vec<_>>(), [1, 64, 70]);
        assert_eq!(CaseRecord::read("s17.2.0 x 9 1"), None);
        assert!(!CaseRecord::read("s17.2.0 5 9 ").expect("a record").sees(1));
    }
}
