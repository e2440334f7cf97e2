//! The counters of memory-side caches.

/// The traffic of a memory-side cache, since the beginning of the run. A read-modify-write in memory
/// is two accesses: a read and a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SideTraffic {
    /// The number of accesses: the sum of `hits`, `misses` and `bypasses`.
    pub(crate) accesses: u64,
    /// The number of reads whose bytes were in the cache, and of writes whose bytes stay in it.
    pub(crate) hits: u64,
    /// The number of reads that needed bytes from the next cache or from DRAM.
    pub(crate) misses: u64,
    /// The number of writes that went on to the next cache or to DRAM.
    pub(crate) bypasses: u64,
    /// The number of copies that writes invalidated.
    pub(crate) lines_invalidated: u64,
    /// The number of lines that left because another line needed their way.
    pub(crate) evictions: u64,
    /// The number of evicted lines with dirty bytes, which were written to the next cache or to
    /// DRAM.
    pub(crate) lines_written_out: u64,
    /// The number of reads of the data array.
    pub(crate) data_reads: u64,
    /// The number of writes of the data array.
    pub(crate) data_writes: u64,
    /// The cycles that accesses waited for a busy part of the cache, summed over all accesses.
    pub(crate) queue_cycles: u64,
}

impl SideTraffic {
    /// The counters of the cache with this name.
    pub(crate) fn entries(&self, name: &str) -> Vec<(String, u64)> {
        let entries = [
            ("accesses", self.accesses),
            ("hits", self.hits),
            ("misses", self.misses),
            ("bypasses", self.bypasses),
            ("lines_invalidated", self.lines_invalidated),
            ("evictions", self.evictions),
            ("lines_written_out", self.lines_written_out),
            ("data_reads", self.data_reads),
            ("data_writes", self.data_writes),
            ("queue_cycles", self.queue_cycles),
        ];
        entries.map(|(counter, value)| (format!("{name}_{counter}"), value)).into()
    }

    /// Checks the counters of the cache with this name. `below` has the number of accesses of the
    /// next cache or of DRAM, with a name for the error.
    pub(crate) fn check(&self, name: &str, below: (&str, u64)) -> Result<(), String> {
        let found = self.hits + self.misses + self.bypasses;
        if found != self.accesses {
            return Err(format!(
                "{name} hits, misses and bypasses ({found}) do not add up to accesses ({})",
                self.accesses
            ));
        }
        let (what, expected) = below;
        let found = self.misses + self.bypasses + self.lines_written_out;
        if found != expected {
            return Err(format!(
                "{name} misses, bypasses and lines written out ({found}) do not add up to {what} behind it \
                 ({expected})"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consistent_counters_pass_and_each_inconsistency_is_named() {
        let counted = SideTraffic {
            accesses: 9,
            hits: 4,
            misses: 3,
            bypasses: 2,
            lines_written_out: 1,
            ..SideTraffic::default()
        };
        let check = |traffic: SideTraffic, below| traffic.check("l3", ("accesses of memory", below));
        assert_eq!(check(counted, 6), Ok(()));
        let why = check(SideTraffic { hits: 5, ..counted }, 6).unwrap_err();
        assert_eq!(why, "l3 hits, misses and bypasses (10) do not add up to accesses (9)");
        let why = check(counted, 7).unwrap_err();
        assert!(why.starts_with("l3 misses, bypasses and lines written out (6) do not add up to"), "{why}");
        assert!(why.ends_with("accesses of memory behind it (7)"), "{why}");
    }
}
