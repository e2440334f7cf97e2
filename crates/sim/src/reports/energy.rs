//! The energy of a run. Each access costs a number of picojoules; the costs are summed at the end
//! of the run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The unit of network use to which the energy `noc_pj` refers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NocUnit {
    /// Each message costs the same, whatever its length and distance.
    Message,
    /// Each flit costs the same, whatever its distance.
    #[default]
    Flit,
    /// Each flit costs energy on each hop.
    FlitHop,
}

/// The energy of one use of each component, in picojoules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnergySpec {
    /// The energy of a vector instruction that does not access memory.
    pub vector_op_pj: f64,
    /// The energy of a read of an L1's data array.
    pub l1_read_pj: f64,
    /// The energy of a write of an L1's data array.
    pub l1_write_pj: f64,
    /// The energy of a read of an L2 bank's data array.
    pub l2_read_pj: f64,
    /// The energy of a write of an L2 bank's data array.
    pub l2_write_pj: f64,
    /// The energy of a use of the network, in the unit that `noc_unit` names.
    pub noc_pj: f64,
    /// The unit of network use to which `noc_pj` refers.
    pub noc_unit: NocUnit,
    /// The energy of a read or write of a line in main memory.
    pub dram_pj: f64,
    /// The energy of an access of a wavefront to local memory.
    pub lds_pj: f64,
}

impl EnergySpec {
    /// The name and value of every setting that is a number.
    #[must_use]
    pub fn numbers(&self) -> [(&'static str, f64); 8] {
        [
            ("vector_op_pj", self.vector_op_pj),
            ("l1_read_pj", self.l1_read_pj),
            ("l1_write_pj", self.l1_write_pj),
            ("l2_read_pj", self.l2_read_pj),
            ("l2_write_pj", self.l2_write_pj),
            ("noc_pj", self.noc_pj),
            ("dram_pj", self.dram_pj),
            ("lds_pj", self.lds_pj),
        ]
    }
}

/// The number of uses of each component that costs energy, in one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EnergyUses {
    /// The number of vector instructions.
    pub vector_ops: u64,
    /// The number of reads of L1 data arrays.
    pub l1_reads: u64,
    /// The number of writes of L1 data arrays.
    pub l1_writes: u64,
    /// The number of reads of L2 data arrays.
    pub l2_reads: u64,
    /// The number of writes of L2 data arrays.
    pub l2_writes: u64,
    /// The number of uses of the network, in the unit that the machine description names.
    pub noc_uses: u64,
    /// The number of lines read from or written to memory.
    pub dram_accesses: u64,
    /// The number of accesses to local memory.
    pub lds_accesses: u64,
}

/// The energy of a run by component, in picojoules.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Energy {
    /// The energy of vector instructions.
    pub core: f64,
    /// The energy of L1 data arrays.
    pub l1: f64,
    /// The energy of L2 data arrays.
    pub l2: f64,
    /// The energy of the on-chip network.
    pub noc: f64,
    /// The energy of the links between chiplets. `None` on a machine with one chiplet.
    #[serde(default)]
    pub links: Option<f64>,
    /// The energy of main memory.
    pub dram: f64,
    /// The energy of local memory.
    pub lds: f64,
    /// The energy of the data arrays of levels other than L1 and L2, and of memory-side caches. The
    /// key is the name of the level or of the cache. A memory-side cache `l2` counts as `l2`.
    #[serde(default)]
    pub levels: BTreeMap<String, f64>,
    /// The sum of all components.
    pub total: f64,
}

impl Energy {
    /// The energy of `uses` at the costs in `spec`. `levels` is the energy of the levels other than
    /// L1 and L2; its key is the name of the level.
    #[must_use]
    pub fn of(spec: &EnergySpec, uses: &EnergyUses, levels: BTreeMap<String, f64>) -> Energy {
        let cost = |count: u64, each: f64| count as f64 * each;
        let mut energy = Energy {
            core: cost(uses.vector_ops, spec.vector_op_pj),
            l1: cost(uses.l1_reads, spec.l1_read_pj) + cost(uses.l1_writes, spec.l1_write_pj),
            l2: cost(uses.l2_reads, spec.l2_read_pj) + cost(uses.l2_writes, spec.l2_write_pj),
            noc: cost(uses.noc_uses, spec.noc_pj),
            links: None,
            dram: cost(uses.dram_accesses, spec.dram_pj),
            lds: cost(uses.lds_accesses, spec.lds_pj),
            levels,
            total: 0.0,
        };
        energy.total = energy.core + energy.l1 + energy.l2 + energy.noc + energy.dram + energy.lds;
        energy.total += energy.levels.values().sum::<f64>();
        energy
    }

    /// Adds the energy of the data array of a memory-side cache.
    pub(crate) fn add_cache(&mut self, name: &str, picojoules: f64) {
        let of_cache = match name {
            "l2" => &mut self.l2,
            _ => self.levels.entry(name.to_owned()).or_default(),
        };
        *of_cache += picojoules;
        self.total += picojoules;
    }

    /// Adds the energy of the links between chiplets, both as a component and to the total.
    #[must_use]
    pub fn with_links(self, picojoules: f64) -> Energy {
        Energy { links: Some(picojoules), total: self.total + picojoules, ..self }
    }

    /// The name and energy of each component and, last, of the total, in a fixed order.
    #[must_use]
    pub fn entries(&self) -> Vec<(String, f64)> {
        let parts = [
            ("core", self.core),
            ("l1", self.l1),
            ("l2", self.l2),
            ("noc", self.noc),
            ("dram", self.dram),
            ("lds", self.lds),
        ];
        let links = self.links.map(|links| ("links", links));
        let parts = parts.into_iter().chain(links).map(|(name, pj)| (name.to_owned(), pj));
        let levels = self.levels.iter().map(|(name, &pj)| (name.clone(), pj));
        parts.chain(levels).chain([("total".to_owned(), self.total)]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_the_sum_of_uses_times_their_price() {
        let spec = EnergySpec {
            vector_op_pj: 3.0,
            l1_read_pj: 1.0,
            l1_write_pj: 2.0,
            l2_read_pj: 10.0,
            l2_write_pj: 20.0,
            noc_pj: 100.0,
            noc_unit: NocUnit::Flit,
            dram_pj: 500.0,
            lds_pj: 0.5,
        };
        let uses = EnergyUses {
            vector_ops: 1,
            l1_reads: 2,
            l1_writes: 3,
            l2_reads: 4,
            l2_writes: 5,
            noc_uses: 6,
            dram_accesses: 7,
            lds_accesses: 8,
        };
        let energy = Energy::of(&spec, &uses, BTreeMap::from([("l3".to_owned(), 7.0)]));
        assert_eq!((energy.core, energy.l1, energy.l2), (3.0, 8.0, 140.0));
        assert_eq!((energy.noc, energy.dram, energy.lds), (600.0, 3500.0, 4.0));
        assert_eq!(energy.total, 4262.0);
        assert_eq!(energy.entries()[6], ("l3".to_owned(), 7.0));
    }
}
