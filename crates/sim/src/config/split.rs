//! The division of the storage that the L1 of a compute unit shares with its local memory (LDS).

use kernel::Grid;

use super::{System, sets};

/// The sizes that the local memory of a compute unit may have in storage that it shares with the
/// L1: those of NVIDIA's Volta, from 0 to 96 KB.
const CARVE_OUTS_BYTES: [u64; 6] = [0, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 96 << 10];

impl System {
    /// The number of sets of an L1. It does not depend on the kernel.
    pub(crate) fn l1_sets(&self) -> u32 {
        sets(self.l1.bytes, self.l1.ways, self.l1.line_bytes)
    }

    /// The maximum number of lines in a set of an L1, over all kernels.
    pub(crate) fn l1_ways_max(&self) -> u32 {
        self.l1_ways_beside(0)
    }

    /// The number of lines that a set of an L1 may hold while a kernel with this grid runs.
    pub(crate) fn l1_ways(&self, grid: &Grid) -> u32 {
        self.l1_ways_beside(self.lds_carve_out(grid))
    }

    /// The number of lines in a set of an L1 that leaves `lds_bytes` of the shared storage to the
    /// local memory. Without shared storage, the number is always the same.
    fn l1_ways_beside(&self, lds_bytes: u64) -> u32 {
        let Some(shared) = self.l1.shared_with_lds_bytes else { return self.l1.ways };
        let way_bytes = u64::from(self.l1_sets()) * u64::from(self.l1.line_bytes);
        let ways = shared.saturating_sub(lds_bytes) / way_bytes.max(1);
        u32::try_from(ways).unwrap_or(u32::MAX).max(self.l1.ways)
    }

    /// The size of the local memory of a compute unit while a kernel with this grid runs: the
    /// smallest carve-out that holds the local memory of all work-groups that can be resident, but
    /// at most `lds.bytes`. If no carve-out does, `lds.bytes`.
    fn lds_carve_out(&self, grid: &Grid) -> u64 {
        let used = self.lds_bytes_of(grid);
        let fits = CARVE_OUTS_BYTES.into_iter().find(|&bytes| bytes >= used);
        fits.unwrap_or(self.lds.bytes).min(self.lds.bytes)
    }

    /// The bytes of local memory that the work-groups of a grid can use on one compute unit at a
    /// time.
    fn lds_bytes_of(&self, grid: &Grid) -> u64 {
        let each = u64::from(grid.lds_bytes);
        if each == 0 {
            return 0;
        }
        let (cu, waves) = (&self.cu, grid.waves.max(1));
        let by_slots = u64::from(cu.work_group_slots.min(cu.wavefront_slots / waves));
        each * by_slots.min(self.lds.bytes / each).min(u64::from(grid.work_groups))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titan_v(shared: Option<u64>) -> System {
        let mut system: System = toml::from_str(include_str!("../../../../systems/titan-v.toml")).unwrap();
        system.l1.shared_with_lds_bytes = shared;
        system
    }

    #[test]
    fn an_l1_has_what_the_carve_out_of_the_local_memory_leaves() {
        let system = titan_v(Some(128 << 10));
        assert_eq!(system.problems(), []);
        let kilobytes = |work_groups, waves, lds_bytes| {
            let ways = system.l1_ways(&Grid::new(work_groups, waves).lds_bytes(lds_bytes));
            (u64::from(ways * system.l1_sets()) * u64::from(system.l1.line_bytes)) >> 10
        };
        assert_eq!(kilobytes(1000, 8, 0), 128);
        // A byte needs a carve-out. 32 work-groups are resident if their wavefronts fit.
        assert_eq!(kilobytes(1, 1, 1), 120);
        assert_eq!(kilobytes(1000, 2, 256), 120);
        assert_eq!(kilobytes(1000, 2, 257), 112);
        let mut small = titan_v(Some(128 << 10));
        small.lds.bytes = 48 << 10;
        assert_eq!(small.lds_carve_out(&Grid::new(1, 1).lds_bytes(40 << 10)), 48 << 10);
        // 64 wavefront slots hold 8 work-groups of 8.
        assert_eq!(kilobytes(1000, 8, 4096), 96);
        assert_eq!(kilobytes(1000, 8, 4097), 64);
        assert_eq!(kilobytes(3, 8, 4097), 112);
        // Two work-groups of 40 KB fit into 96 KB.
        assert_eq!(kilobytes(1000, 8, 40 << 10), 32);
        assert_eq!(kilobytes(1, 1, 96 << 10), 32);
        assert_eq!(system.l1_ways_max(), 256);
    }

    #[test]
    fn an_l1_without_shared_storage_has_one_size() {
        let system = titan_v(None);
        assert_eq!([0, 96 << 10].map(|lds| system.l1_ways(&Grid::new(9, 1).lds_bytes(lds))), [64, 64]);
        assert_eq!(system.l1_ways_max(), 64);
    }

    #[test]
    fn shared_storage_that_cannot_hold_both_is_reported() {
        let key = |shared| {
            let found = titan_v(Some(shared)).problems();
            found.iter().map(|found| (found.key(), found.message.clone())).collect::<Vec<_>>()
        };
        let name = || "l1.shared_with_lds_bytes".to_owned();
        let small = "131071 bytes, expected at least the sum of `l1.bytes` and `lds.bytes`, 131072 bytes";
        assert_eq!(key(128 * 1024 - 1), [(name(), small.to_owned())]);
        let large = "67108865 bytes, expected at most 64 MiB";
        assert_eq!(key((64 << 20) + 1), [(name(), large.to_owned())]);
    }
}
