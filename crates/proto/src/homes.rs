//! Where lines live.

use crate::divisor::Divisor;
use crate::line::LineAddr;
use crate::topology::Topology;
use std::collections::BTreeMap;

/// Where lines live. The driver decides; protocols only ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Homes {
    chiplets: u16,
    banks_per_chiplet: Divisor,
    lines_per_page: u64,
    pages: BTreeMap<u64, u16>,
}

impl Homes {
    /// Lines interleaved over the banks; pages of `lines_per_page` lines.
    #[must_use]
    pub fn new(topology: &Topology, lines_per_page: u64) -> Self {
        Homes {
            chiplets: topology.chiplets,
            banks_per_chiplet: Divisor::new((topology.banks() / u32::from(topology.chiplets)).max(1)),
            lines_per_page: lines_per_page.max(1),
            pages: BTreeMap::new(),
        }
    }

    /// Puts the page of `line` on a chiplet.
    pub fn place(&mut self, line: LineAddr, chiplet: u16) {
        self.pages.insert(line.0 / self.lines_per_page, chiplet);
    }

    /// The chiplet of a line's page; pages are interleaved until placed.
    #[must_use]
    pub fn chiplet(&self, line: LineAddr) -> u16 {
        if self.chiplets == 1 {
            return 0;
        }
        let page = line.0 / self.lines_per_page;
        self.pages.get(&page).copied().unwrap_or((page % u64::from(self.chiplets)) as u16)
    }

    /// The bank of a line, over all chiplets.
    #[inline]
    #[must_use]
    pub fn bank(&self, line: LineAddr) -> u16 {
        let (_, within) = self.banks_per_chiplet.divide(line.0);
        self.chiplet(line) * self.banks_per_chiplet.number() as u16 + within as u16
    }
}
