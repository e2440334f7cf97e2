//! The history of each line of memory: its last writer, the copies of compute units, and the way in
//! which compute units share the line.

/// The size of a word in bytes, for the detection of false sharing. A line is falsely shared if
/// several compute units access the line and at least one of them writes it, but no word is both
/// written and accessed by several compute units.
const WORD_BYTES: u64 = 4;

/// Special values for a field that otherwise holds the number of a compute unit: `NOBODY` means no
/// compute unit, `SEVERAL` means several compute units, and `HOST` means the host.
const NOBODY: u32 = u32::MAX;
const SEVERAL: u32 = u32::MAX - 1;
const HOST: u32 = u32::MAX - 2;

/// The last access of one compute unit to a line, after which the compute unit has a copy of the
/// line.
#[derive(Clone, Copy, Debug)]
struct Copy {
    cu: u32,
    launch: u32,
    /// The version of the line (the number of changes of its last writer) when the compute unit
    /// accessed the line.
    version: u32,
}

/// The accesses of compute units to one word in the current launch of a kernel.
#[derive(Clone, Copy, Debug)]
struct WordUse {
    accessor: u32,
    is_written: bool,
}

const UNUSED: WordUse = WordUse { accessor: NOBODY, is_written: false };

/// The way in which compute units share a line within one launch of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sharing {
    /// Only one compute unit accesses the line.
    #[default]
    Private,
    /// Several compute units read the line, and no compute unit writes it.
    Read,
    /// Several compute units access the line and at least one of them writes it, but no word is
    /// both written and accessed by several compute units.
    False,
    /// A word of the line is written by one compute unit, and accessed by another compute unit.
    True,
}

#[derive(Clone, Debug)]
struct Line {
    /// The last writer of the line: the number of a compute unit, `HOST` for the host, or `NOBODY`.
    writer: u32,
    /// The number of times that the last writer changed. A copy with an older version is stale.
    version: u32,
    copies: Vec<Copy>,
    /// The number of the kernel launch whose accesses are recorded in `words`.
    launch: u32,
    words: Vec<WordUse>,
    /// The greatest value of [`Sharing`] that the line has reached in a launch so far.
    sharing: Sharing,
}

impl Line {
    fn new(words: usize) -> Line {
        let sharing = Sharing::Private;
        Line {
            writer: NOBODY,
            version: 0,
            copies: Vec::new(),
            launch: 0,
            words: vec![UNUSED; words],
            sharing,
        }
    }

    /// Ends the kernel launch whose accesses are recorded in `words`: updates `sharing`, and clears
    /// `words`.
    fn end_launch(&mut self) {
        let is_written = self.words.iter().any(|word| word.is_written);
        let of_units = self.words.iter().filter(|word| word.accessor != NOBODY);
        let one = of_units.clone().map(|word| word.accessor).reduce(|a, b| if a == b { a } else { SEVERAL });
        let sharing = match one {
            Some(SEVERAL) if of_units.clone().any(|word| word.is_written && word.accessor == SEVERAL) => {
                Sharing::True
            }
            Some(SEVERAL) if is_written => Sharing::False,
            Some(SEVERAL) => Sharing::Read,
            _ => Sharing::Private,
        };
        self.sharing = self.sharing.max(sharing);
        self.words.fill(UNUSED);
    }
}

/// The result of a search for a valid copy of a line at a compute unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValidCopy {
    /// The compute unit has no valid copy.
    Absent,
    /// The compute unit has a valid copy, from an access in the same launch of a kernel.
    SameLaunch,
    /// The compute unit has a valid copy, from an access in an earlier launch of a kernel.
    EarlierLaunch,
}

/// The histories of all lines of memory.
#[derive(Debug)]
pub(super) struct Lines {
    line_bytes: u64,
    lines: Vec<Option<Box<Line>>>,
}

impl Lines {
    pub(super) fn new(line_bytes: u32) -> Lines {
        Lines { line_bytes: u64::from(line_bytes.max(4)), lines: Vec::new() }
    }

    /// The number of the line that contains an address.
    pub(super) fn line_of(&self, addr: u64) -> u64 {
        addr / self.line_bytes
    }

    fn line(&mut self, number: u64) -> &mut Line {
        let (at, words) = (number as usize, (self.line_bytes / WORD_BYTES) as usize);
        if self.lines.len() <= at {
            self.lines.resize(at + 1, None);
        }
        self.lines[at].get_or_insert_with(|| Box::new(Line::new(words)))
    }

    /// Records that an operation of the compute unit `cu` accesses a line. Returns two values. The
    /// first value says whether the compute unit had a valid copy of the line before the access.
    /// The second value is true if the compute unit had a valid copy and is the last writer of the
    /// line after this access.
    pub(super) fn touch(&mut self, number: u64, cu: u32, launch: u32, writes: bool) -> (ValidCopy, bool) {
        let line = self.line(number);
        if line.launch != launch {
            line.end_launch();
            line.launch = launch;
        }
        if writes && line.writer != cu {
            line.writer = cu;
            line.version += 1;
            // This write makes all other copies stale. The copy of the writer stays valid, if it
            // was valid before.
            if let Some(copy) =
                line.copies.iter_mut().find(|copy| copy.cu == cu && copy.version + 1 == line.version)
            {
                copy.version = line.version;
            }
        }
        let is_own = line.writer == cu;
        let version = line.version;
        let fresh = Copy { cu, launch, version };
        let valid_copy = match line.copies.iter_mut().find(|copy| copy.cu == cu) {
            Some(copy) => {
                let before = core::mem::replace(copy, fresh);
                match (before.version == version, before.launch == launch) {
                    (false, _) => ValidCopy::Absent,
                    (true, true) => ValidCopy::SameLaunch,
                    (true, false) => ValidCopy::EarlierLaunch,
                }
            }
            None => {
                line.copies.push(fresh);
                ValidCopy::Absent
            }
        };
        (valid_copy, is_own && valid_copy != ValidCopy::Absent)
    }

    /// Records the access of one lane to a word. The caller must have called `touch` for the line
    /// of the word.
    pub(super) fn word(&mut self, addr: u64, bytes: u64, cu: u32, writes: bool) {
        let (number, first) = (self.line_of(addr), addr % self.line_bytes / WORD_BYTES);
        let last = (addr % self.line_bytes + bytes - 1) / WORD_BYTES;
        for word in &mut self.line(number).words[first as usize..=last as usize] {
            word.accessor = if word.accessor == NOBODY || word.accessor == cu { cu } else { SEVERAL };
            word.is_written |= writes;
        }
    }

    /// Records that the host writes `bytes` bytes at the address `addr`.
    pub(super) fn host_writes(&mut self, addr: u64, bytes: u64) {
        for number in self.line_of(addr)..=self.line_of(addr + bytes.max(1) - 1) {
            // A line that no compute unit has accessed needs no record.
            if let Some(Some(line)) = self.lines.get_mut(number as usize) {
                line.writer = HOST;
                line.version += 1;
            }
        }
    }

    /// The number of accessed lines for each kind of sharing, in the order of [`Sharing`]. Ends the
    /// current launch.
    pub(super) fn count(&mut self) -> [u64; 4] {
        let mut counts = [0; 4];
        for line in self.lines.iter_mut().flatten() {
            line.end_launch();
            counts[line.sharing as usize] += 1;
        }
        counts
    }

    /// For each of `cus` compute units, the number of lines that it accessed.
    pub(super) fn per_cu(&self, cus: u32) -> Vec<u64> {
        let mut counts = vec![0; cus as usize];
        for copy in self.lines.iter().flatten().flat_map(|line| &line.copies) {
            counts[copy.cu as usize] += 1;
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_valid_until_another_unit_or_the_host_writes() {
        let mut lines = Lines::new(64);
        assert_eq!(lines.touch(7, 0, 0, false), (ValidCopy::Absent, false));
        assert_eq!(lines.touch(7, 0, 0, false), (ValidCopy::SameLaunch, false));
        assert_eq!(lines.touch(7, 0, 1, true), (ValidCopy::EarlierLaunch, true));
        assert_eq!(lines.touch(7, 0, 1, false), (ValidCopy::SameLaunch, true));
        assert_eq!(lines.touch(7, 1, 1, true), (ValidCopy::Absent, false));
        assert_eq!(lines.touch(7, 0, 2, false), (ValidCopy::Absent, false));
        lines.host_writes(7 * 64, 4);
        assert_eq!(lines.touch(7, 0, 2, false), (ValidCopy::Absent, false));
        assert_eq!(lines.per_cu(2), [1, 1]);
    }

    #[test]
    fn words_distinguish_true_from_false_sharing() {
        let sharing = |accesses: &[(u64, u32, bool)]| {
            let mut lines = Lines::new(64);
            for (word, cu, writes) in accesses {
                lines.touch(0, *cu, 3, *writes);
                lines.word(4 * word, 4, *cu, *writes);
            }
            lines.count()
        };
        assert_eq!(sharing(&[(0, 0, true), (0, 0, false)]), [1, 0, 0, 0]);
        assert_eq!(sharing(&[(0, 0, false), (0, 1, false)]), [0, 1, 0, 0]);
        assert_eq!(sharing(&[(0, 0, true), (1, 1, false)]), [0, 0, 1, 0]);
        assert_eq!(sharing(&[(0, 0, true), (0, 1, false), (1, 1, false)]), [0, 0, 0, 1]);
    }

    #[test]
    fn sharing_counts_within_one_launch_only() {
        let mut lines = Lines::new(64);
        for launch in 0..2 {
            lines.touch(0, launch, launch, true);
            lines.word(0, 8, launch, true);
        }
        assert_eq!(lines.count(), [1, 0, 0, 0]);
    }
}
