//! The banks inside a station (a controller of the protocol), which are busy independently of each
//! other.

use proto::LineAddr;

use crate::config::{Per, System};
use crate::queue::Cycle;

/// The banks inside one station (controller). Consecutive lines of the station are in its banks in
/// turn. An input without a line uses all banks.
#[derive(Debug)]
pub(crate) struct InnerBanks {
    /// For each bank, the cycle at which it is free.
    busy_until: Box<[Cycle]>,
    /// The number of lines from a line of the station to the next one: the sectors of a line times
    /// the number of stations among which lines are divided.
    stride: u64,
}

impl InnerBanks {
    /// The banks inside each station of the level with this name. `None` if a station is busy as a
    /// whole: if it has one bank, or is limited only by its ports.
    pub(crate) fn of(system: &System, level: &str) -> Option<InnerBanks> {
        let declared = system.levels.iter().find(|declared| declared.name == level)?;
        let stride = u64::from(system.sectors_per_line()) * u64::from(declared.count);
        (declared.banks > 1 && declared.per != Per::Cu)
            .then(|| InnerBanks { busy_until: vec![0; declared.banks as usize].into(), stride })
    }

    fn of_line(&self, line: LineAddr) -> usize {
        (line.0 / self.stride % self.busy_until.len() as u64) as usize
    }

    /// The cycle at which the bank of a line is free, or all banks if there is no line.
    pub(crate) fn busy_until(&self, line: Option<LineAddr>) -> Cycle {
        match line {
            Some(line) => self.busy_until[self.of_line(line)],
            None => self.busy_until.iter().copied().max().unwrap_or(0),
        }
    }

    /// Occupies the bank of a line until this cycle, or all banks if there is no line.
    pub(crate) fn occupy(&mut self, line: Option<LineAddr>, until: Cycle) {
        match line {
            Some(line) => {
                let bank = self.of_line(line);
                self.busy_until[bank] = self.busy_until[bank].max(until);
            }
            None => self.busy_until.iter_mut().for_each(|busy| *busy = until.max(*busy)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn banks(level: &str) -> Option<InnerBanks> {
        let text = include_str!("../../../../systems/titan-v.toml");
        let system: System = toml::from_str(text).unwrap();
        let level = format!("name = \"l3\"\nper = \"machine\"\nlatency_cycles = 20\n{level}");
        InnerBanks::of(&System { levels: vec![toml::from_str(&level).unwrap()], ..system }, "l3")
    }

    #[test]
    fn a_station_with_one_bank_is_busy_as_a_whole() {
        assert!(banks("").is_none() && banks("banks = 1").is_none());
    }

    #[test]
    fn consecutive_lines_of_a_station_are_in_its_banks_in_turn() {
        let mut banks = banks("banks = 4\ncount = 2").unwrap();
        // A line has four sectors, and every second line belongs to the station.
        banks.occupy(Some(LineAddr(8)), 10);
        let busy: Vec<Cycle> = (0..6).map(|line| banks.busy_until(Some(LineAddr(line * 8 + 3)))).collect();
        assert_eq!((busy, banks.busy_until(None)), (vec![0, 10, 0, 0, 0, 10], 10));
        banks.occupy(None, 7);
        assert_eq!([0, 8].map(|line| banks.busy_until(Some(LineAddr(line)))), [7, 10]);
    }
}
