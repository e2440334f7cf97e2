//! What memory holds for someone who looks from outside: its own bytes, and
//! over them the dirty bytes that stand in caches.

use proto::{Addr, LineAddr, LineData, LineView};

use super::Machine;
use crate::reports::probe::Probe;

impl<Pr: Probe> Machine<'_, Pr> {
    /// Reads bytes as they would be if every cache had been written out: first
    /// the levels next to memory, then those above, whose dirty bytes are newer.
    pub(super) fn read_bytes(&self, from: Addr, to: &mut [u8]) {
        self.memory.read(from, to);
        let line_bytes = u64::from(self.system.l1.line_bytes);
        let end = from.0 + to.len() as u64;
        let (first, last) = (LineAddr(from.0 / line_bytes), LineAddr(end.div_ceil(line_bytes)));
        let mut order: Vec<usize> = (0..self.stations.len()).collect();
        order.sort_by_key(|&s| self.levels[usize::from(self.stations[s].level)].height);
        let mut views = Vec::new();
        for station in order {
            views.clear();
            self.fabric.lines(station as u32, &mut views);
            let touches = |view: &&LineView| !view.dirty.is_empty() && (first..last).contains(&view.line);
            for view in views.iter().filter(touches) {
                overlay(from.0, to, view.line.0 * line_bytes, view, line_bytes as usize);
            }
        }
    }
}

/// Copies the dirty bytes of a line, which starts at `base`, over `to`, which
/// starts at `from`.
fn overlay(from: u64, to: &mut [u8], base: u64, view: &LineView, line_bytes: usize) {
    let LineData(bytes) = &view.data;
    for (i, &byte) in bytes.iter().enumerate().take(line_bytes) {
        let dirty = view.dirty.0 >> i & 1 == 1;
        let at = (base + i as u64).checked_sub(from).map(|at| at as usize);
        if let (true, Some(place)) = (dirty, at.and_then(|at| to.get_mut(at))) {
            *place = byte;
        }
    }
}
